/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hosts that die, with all their processes, and come back with nothing but their addresses; the
 * numbers of their queue pairs may be the same as before (W-CM-53). To the simulator the one that
 * comes back is another host, its successor. What the dead host held is no longer checked.
 */
#include <string.h>

#include "sim.h"

#define DOWN_SHORT (2 * SIM_MS)
#define DOWN_LONG  (1 * SIM_S)

void
sim_host_dies(struct sim_host *h, uint64_t at_ns)
{
	struct sim_world *w = h->w;

	if (h->dead || h->die_ns != SIM_NEVER || SIM_ADDRESSES + w->dying == SIM_HOSTS_MAX)
		return;
	h->die_ns = at_ns;
	w->dying++;
}

/* Its connections that have begun are lost; the others will be its successor's. */
static void
die(struct sim_host *h)
{
	struct sim_world *w = h->w;

	w->deaths++;
	sim_note(w, "host %u dies", h->number);
	for (unsigned i = 0; i < 2 * w->n_conns; i++) {
		struct sim_ep *ep = &w->conns[i / 2].ep[i % 2];

		if (ep->client->shard->host != h || ep->conn->state == SIM_CONN_WAIT ||
			ep->conn->state == SIM_CONN_OVER || ep->gone)
			continue;
		ep->conn->dying = true;
		sim_ep_vanish(ep);
	}
	sim_ud_host_died(h);
	sim_sidr_host_died(h);
	h->dead = true;
	h->die_ns = h->next_ns = SIM_NEVER;
	sim_host_free(h);
	h->restart_ns = w->now_ns + sim_below(w, sim_chance(w, 5000) ? DOWN_SHORT : DOWN_LONG);
}

static void
restart(struct sim_host *h)
{
	struct sim_world *w = h->w;

	sim_check(w, w->n_hosts < SIM_HOSTS_MAX, "no room for another host");
	h->restart_ns = SIM_NEVER;
	h->successor = &w->hosts[w->n_hosts];
	sim_host_init(w, w->n_hosts, h);
	w->n_hosts++;
	sim_note(w, "host %u is back as %u", h->number, h->successor->number);
}

void
sim_death_run(struct sim_host *h)
{
	if (h->die_ns <= h->w->now_ns)
		die(h);
	if (h->restart_ns <= h->w->now_ns)
		restart(h);
}

/* Is the host there of a connection that has not begun? It begins on the host that came back. */
bool
sim_death_host_is_up(struct sim_client **c)
{
	while ((*c)->shard->host->dead) {
		struct sim_host *next = (*c)->shard->host->successor;

		if (next == NULL)
			return false;
		*c = &next->shard[(*c)->shard->number % next->n_shards].client;
	}
	return true;
}

/* May the peer take ep's queue pair for one that it knew before the host died? */
bool
sim_death_made_stale(const struct sim_ep *ep)
{
	const struct sim_world *w = ep->w;
	const struct sim_host *h = ep->client->shard->host;

	for (unsigned i = 0; i < 2 * w->n_conns; i++) {
		const struct sim_ep *old = &w->conns[i / 2].ep[i % 2];
		const struct sim_host *of = old->client->shard->host;

		if (of->dead && of->address == h->address && old->qpn == ep->qpn)
			return true;
	}
	return false;
}
