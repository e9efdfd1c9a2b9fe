/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How often a client may be woken. In some worlds its principal has a limit: what must hold is that
 * there are never more wake-ups than that, and that each still comes, in time.
 */
#include "sim.h"
#include "sim_kind.h"

#define QUEUES 16u /* that have their turn before one, of a client that has many */

uint32_t
sim_wakeups_limit(struct sim_client *c)
{
	if (sim_chance(c->w, 1000))
		c->wakeups.limit = 5 + (uint32_t)sim_below(c->w, 200);
	c->wakeups.began_ns = c->w->now_ns;
	return c->wakeups.limit;
}

void
sim_wakeups_count(struct sim_client *c)
{
	const struct sim_wakeups *k = &c->wakeups;
	const uint64_t passed_ns = c->w->now_ns - k->began_ns;

	c->wakeups.count++;
	sim_check(c->w, k->limit == 0 || k->count <= k->limit + k->limit * passed_ns / SIM_S,
		"%lu wake-ups, of %u in a second", (unsigned long)k->count, k->limit);
}

static uint64_t
late_max(const struct sim_client *c)
{
	return QUEUES * SIM_S / c->wakeups.limit + 10 * SIM_MS;
}

bool
sim_wakeups_late(struct sim_cq *cq)
{
	const struct sim_client *c = cq->client;

	if (cq->owed_ns == 0)
		cq->owed_ns = c->w->now_ns;
	if (c->wakeups.limit == 0 || c->w->now_ns - cq->owed_ns > late_max(c))
		return true;
	sim_kind(SIM_KIND_late_wakeups);
	return false;
}
