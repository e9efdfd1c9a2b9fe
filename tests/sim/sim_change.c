/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What changes under traffic. A host gets another MAC address; until its peers hear of that, what
 * they send is lost. A queue pair that rests gets another path or other attributes, and only
 * when it is drained (W-QP-03). One is reset with requests in flight, and set up again (W-QP-01).
 */
#include <string.h>

#include "sim.h"
#include "sim_change.h"
#include "sim_kind.h"

#define CHANGES_MAX 4u
#define PAUSE_NS    (3 * SIM_MS)
#define LEARN_NS    (1 * SIM_MS)

void
sim_change_plan(struct sim_world *w)
{
	w->change_ns = SIM_NEVER;
	if (!sim_chance(w, w->profile->changes))
		return;
	w->changes = 1 + (unsigned)sim_below(w, CHANGES_MAX);
	w->change_ns = sim_below(w, PAUSE_NS);
}

/* ---- MAC addresses ---- */

static void
set_macs(struct sim_ep *ep)
{
	roce_qp_set_macs(ep->qp, ep->client->shard->host->mac, ep->attr.path.dmac);
}

static void
change_mac(struct sim_world *w)
{
	struct sim_host *h = &w->hosts[sim_below(w, w->n_hosts)];

	h->mac[5]++;
	w->moved_macs = true;
	sim_note(w, "host %u has another MAC address", h->number);
	sim_kind(SIM_KIND_new_macs);
	for (unsigned i = 0; i < 2 * w->n_conns; i++) {
		struct sim_ep *ep = &w->conns[i / 2].ep[i % 2];

		if (!ep->connected || ep->gone)
			continue;
		if (ep->client->shard->host == h)
			set_macs(ep);
		if (ep->peer->client->shard->host == h)
			ep->learn_ns = w->now_ns + sim_below(w, LEARN_NS);
	}
}

static uint64_t
learn(struct sim_ep *ep)
{
	if (ep->learn_ns == 0 || ep->gone)
		return SIM_NEVER;
	if (ep->w->now_ns < ep->learn_ns)
		return ep->learn_ns;
	ep->learn_ns = 0;
	memcpy(ep->attr.path.dmac, ep->peer->client->shard->host->mac, 6);
	set_macs(ep);
	return SIM_NEVER;
}

uint64_t
sim_change_step(struct sim_world *w)
{
	uint64_t next;

	if (w->changes > 0 && w->now_ns >= w->change_ns) {
		change_mac(w);
		w->change_ns = --w->changes > 0 ? w->now_ns + sim_below(w, PAUSE_NS) : SIM_NEVER;
	}
	next = w->change_ns;
	for (unsigned i = 0; i < 2 * w->n_conns && w->moved_macs; i++)
		next = sim_earlier(next, learn(&w->conns[i / 2].ep[i % 2]));
	return next;
}

/* ---- attributes ---- */

/* Longer than eight of the longest outages, or requests would rightly give up; where something may
 * be lost, not hours. */
uint8_t
sim_change_timeout(struct sim_world *w)
{
	const struct sim_profile *p = w->profile;

	if (!p->outages && p->dialects == 0 && sim_chance(w, 3000))
		return (uint8_t)(1 + sim_below(w, sim_is_lossy(w) ? 18 : 31));
	return (uint8_t)((p->outages ? 14 : 9) + sim_below(w, 4));
}

void
sim_change_attributes(struct sim_ep *ep)
{
	static const uint32_t bits[] = {ROCE_QPA_PATH, ROCE_QPA_TIMEOUT, ROCE_QPA_RETRY,
		ROCE_QPA_RNR_RETRY, ROCE_QPA_MIN_RNR, ROCE_QPA_MAX_RD};
	struct sim_world *w = ep->w;
	struct roce_qp_attr attr;
	bool draining = roce_qp_query(ep->qp, &attr);
	uint32_t mask = bits[sim_below(w, 6)] | bits[sim_below(w, 6)];
	enum roce_modify r;

	if (ep->attr.path.udp_sport != 0 && (mask & ROCE_QPA_PATH) && !draining)
		ep->attr.path.udp_sport = (uint16_t)(0xc000 | sim_below(w, 0x4000));
	attr.path = ep->attr.path;
	attr.port = (uint16_t)ep->client->shard->host->number;
	attr.timeout_code = sim_change_timeout(w);
	attr.min_rnr_code = (uint8_t)sim_below(w, 14);
	if (attr.max_rd > 0)
		attr.max_rd = 1 + (uint8_t)sim_below(w, attr.max_rd);
	r = roce_qp_modify(ep->client->shard->s, ep->qp, w->now_ns, ROCE_QPS_SQD, mask, &attr);
	sim_check(w, r == (draining ? ROCE_MODIFY_DRAINING : ROCE_MODIFY_OK),
		"conn %u%s: attributes %x in SQD, %s: %d", ep->conn->number, ep->name, mask,
		draining ? "draining" : "drained", r);
	sim_note(w, "conn %u%s: attributes %x in SQD%s", ep->conn->number, ep->name, mask,
		draining ? ", refused" : "");
	sim_kind(draining		? SIM_KIND_early_attributes
		 : mask & ROCE_QPA_PATH ? SIM_KIND_new_paths
					: SIM_KIND_new_attributes);
}

/* ---- reset ---- */

void
sim_change_reset(struct sim_ep *ep)
{
	const struct roce_qp_attr attr = {.path = ep->attr.path,
		.mtu_bytes = ep->conn->mtu,
		.dest_qpn = ep->peer->qpn,
		.rq_psn = (ep->psn + 1000) & ROCE_PSN_MASK,
		.timeout_code = 14,
		.retry = 7,
		.rnr_retry = 7};

	if (!ep->connected || !sim_chance(ep->w, 2000))
		return;
	sim_note(ep->w, "conn %u%s: reset", ep->conn->number, ep->name);
	sim_ep_modify(ep, ROCE_QPS_RESET, 0, NULL);
	sim_ep_modify(ep, ROCE_QPS_INIT, ROCE_QPA_ACCESS, &attr);
	sim_ep_modify(ep, ROCE_QPS_RTR, SIM_QPA_RTR, &attr);
	sim_ep_modify(ep, ROCE_QPS_RTS, SIM_QPA_RTS, &attr);
	sim_kind(SIM_KIND_resets);
}
