/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connection managers with small tables: a REQ that finds its part of one full is refused for want
 * of resources, as is one of a peer that has its share; one that finds the listener's backlog full
 * is refused as the application would, and no other is. A connection that its own host has no room
 * for is tried again until there is some.
 */
#include "sim.h"
#include "sim_kind.h"
#include "sim_pair.h"

#define PAUSE_NS (5 * SIM_MS)

void
sim_full_plan(struct sim_host *h)
{
	struct sim_world *w = h->w;

	h->max_conns = w->profile->flood > 0 ? 1024 : 64;
	if (!sim_chance(w, w->profile->narrow))
		return;
	h->max_conns = 1 + (uint32_t)sim_below(w, 6);
	h->backlog = (uint32_t)sim_below(w, 3);
}

/* Requests at the listener that are neither accepted nor rejected, as far as the application knows;
 * one whose peer gave up may be among them. */
static unsigned
undecided(const struct sim_host *h)
{
	const struct sim_world *w = h->w;
	unsigned n = h->untold;

	for (unsigned i = 0; i < w->n_conns; i++) {
		const struct sim_ep *ep = &w->conns[i].ep[1];

		n += ep->client->shard->host == h && w->conns[i].accept_ns != 0;
	}
	return n;
}

/* Connections in the part of the table that is for those that peers ask for. */
static uint32_t
passive(const struct roce_cm_usage *u)
{
	return u->conns - u->active;
}

/* A message comes to the control thread. */
void
sim_full_rx(struct sim_host *h, const struct roce_pkt *pkt)
{
	const struct roce_cm_counters *now = roce_cm_counters(h->cm);
	const uint64_t refused = now->no_resources, backlog = now->rejected_backlog;
	const uint64_t share = now->rejected_source;
	struct roce_cm_usage before, after;

	sim_pair_cm_met(h->cm, pkt);
	roce_cm_usage(h->cm, &before);
	roce_cm_rx(h->cm, h->w->now_ns, pkt, 0);
	roce_cm_usage(h->cm, &after);
	sim_check(h->w, passive(&after) <= h->max_conns, "host %u has %u connections of %u",
		h->number, passive(&after), h->max_conns);
	sim_check(h->w, now->no_resources == refused || passive(&before) == h->max_conns,
		"host %u refuses for want of room with %u connections of %u", h->number,
		passive(&before), h->max_conns);
	sim_check(h->w, now->rejected_source == share || 2 * passive(&before) >= h->max_conns,
		"host %u: a source has its share, with %u connections of %u", h->number,
		passive(&before), h->max_conns);
	sim_check(h->w,
		now->rejected_backlog == backlog || (h->backlog > 0 && undecided(h) >= h->backlog),
		"host %u: a full backlog of %u, %u are undecided", h->number, h->backlog,
		undecided(h));
	h->untold += after.conns > before.conns;
	if (now->no_resources != refused)
		sim_kind(SIM_KIND_full_cm);
	if (now->rejected_source != share)
		sim_kind(SIM_KIND_full_share);
	if (now->rejected_backlog != backlog)
		sim_kind(SIM_KIND_full_backlog);
}

/* Its own host has no room for the connection. */
void
sim_full_wait(struct sim_conn *c)
{
	struct sim_host *h = c->ep[0].client->shard->host;
	struct roce_cm_usage u;

	roce_cm_usage(h->cm, &u);
	sim_check(h->w, u.active == h->max_conns, "roce_cm_connect() with %u of %u", u.active,
		h->max_conns);
	c->start_ns = h->w->now_ns + PAUSE_NS;
	sim_kind(SIM_KIND_full_at_home);
}

/* May the host of ep have refused with this reason? Not what its application has heard of. */
bool
sim_full_refuses(const struct sim_ep *ep, uint16_t reason)
{
	const struct roce_cm_counters *c = roce_cm_counters(ep->client->shard->host->cm);

	if (ep->cm != NULL || ep->w->profile->flood > 0) /* none but strangers are refused */
		return false;
	return (reason == ROCE_CM_REASON_NO_RESOURCES &&
		       c->no_resources + c->rejected_source > 0) ||
	       (reason == ROCE_CM_REASON_CONSUMER && c->rejected_backlog > 0);
}
