/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More questions at once than a connection manager keeps answers for, from one host: it gets its
 * share of them, and every connection goes on. And, in worlds that are made for it, more requests
 * for connections than a table has places, from hosts that do not exist: the connections of those
 * that do exist are established all the same.
 */
#include <string.h>

#include "cm/codec.h"
#include "cm/source.h"
#include "cm/stateless.h"
#include "sim.h"
#include "sim_kind.h"
#include "rigs/cm_crowd.h"

#define QUESTIONS    (CM_STATELESS + 50u)
#define SHARE	     (CM_STATELESS / 2)
#define STRANGERS    4u
#define REQUESTS_MAX 400u
#define FLOODS_MAX   20u

/* What a stranger's REQ has in the place of a connection's number. */
static const uint32_t stranger = UINT32_MAX;

/* The end of a connection that is not there, or a look-up of a service that nothing offers. */
static struct cm_mad
question(struct sim_world *w)
{
	return (struct cm_mad){
		.attr = sim_chance(w, 5000) ? CM_ATTR_SIDR_REQ : CM_ATTR_DREQ,
		.tid = sim_rand(w),
		.local_id = (uint32_t)sim_rand(w),
		.remote_id = (uint32_t)sim_rand(w),
		.service_id = sim_rand(w) | 1, /* not the one that is offered */
		.qpn = (uint32_t)sim_rand(w) & ROCE_QPN_MASK,
		.pkey = ROCE_PKEY_DEFAULT,
	};
}

static void
ask(struct sim_host *h, const struct roce_path *path)
{
	const struct cm_mad m = question(h->w);
	uint8_t mad[ROCE_MAD_BYTES], frame[ROCE_GSI_FRAME_MAX];
	struct roce_pkt pkt;
	uint32_t bytes;

	cm_mad_encode(mad, &m);
	bytes = roce_gsi_build(frame, path, 0, mad);
	sim_check(h->w, roce_wire_parse(frame, bytes, &pkt) == ROCE_WIRE_OK, "no frame");
	sim_full_rx(h, &pkt);
}

static void
flood_questions(struct sim_host *h)
{
	struct sim_world *w = h->w;
	struct roce_path path;
	uint64_t dropped;

	if (!sim_chance(w, 10))
		return;
	path = sim_path(&w->hosts[sim_below(w, w->n_hosts)], h, sim_chance(w, 5000));
	dropped = roce_cm_counters(h->cm)->tx_dropped;
	for (unsigned i = 0; i < QUESTIONS; i++)
		ask(h, &path);
	dropped = roce_cm_counters(h->cm)->tx_dropped - dropped;
	sim_check(w, dropped == QUESTIONS - SHARE, "host %u: %lu answers dropped", h->number,
		(unsigned long)dropped);
	sim_kind(SIM_KIND_full_answers);
}

/* One in some thousand strangers has the place of a host, and with it its share. */
static bool
shares_a_place(const struct sim_host *h, const struct roce_gid *gid)
{
	const struct cm_origin o = cm_origin_of(h->cm, gid);

	for (unsigned i = 0; i < 2 * h->w->n_hosts; i++) {
		const struct cm_origin other =
			cm_origin_of(h->cm, sim_gid(&h->w->hosts[i / 2], i % 2));

		if (o.at[CM_ADDRESS] == other.at[CM_ADDRESS] ||
			o.at[CM_SUBNET] == other.at[CM_SUBNET])
			return true;
	}
	return false;
}

/* Requests for connections from a few hosts that do not exist: none is ever established. */
static void
flood_requests(struct sim_host *h)
{
	struct sim_world *w = h->w;
	const struct roce_gid from = cm_crowd_v4((uint32_t)sim_below(w, STRANGERS));
	const uint64_t n = 1 + sim_below(w, REQUESTS_MAX);

	if (shares_a_place(h, &from))
		return;
	h->floods++;
	for (uint64_t i = 0; i < n; i++) {
		struct cm_mad m = cm_crowd_req(&from, &h->gid4, (uint32_t)sim_rand(w), SIM_PORT);

		memcpy(m.priv + CM_IP_HDR_BYTES, &stranger, sizeof(stranger));
		cm_crowd_send(h->cm, w->now_ns, &from, &h->gid4, 0, &m);
	}
	if (roce_cm_counters(h->cm)->rejected_source > 0)
		sim_kind(SIM_KIND_flooded);
}

void
sim_flood(struct sim_host *h)
{
	flood_questions(h);
	if (h->w->profile->flood > 0 && h->floods < FLOODS_MAX && h->w->now_ns < SIM_S &&
		sim_chance(h->w, h->w->profile->flood))
		flood_requests(h);
}

bool
sim_flood_is_request(const struct roce_cm_event *ev)
{
	return memcmp(ev->priv, &stranger, sizeof(stranger)) == 0;
}

void
sim_flood_on_request(struct sim_host *h, const struct roce_cm_event *ev)
{
	roce_cm_destroy(h->cm, h->w->now_ns, ev->conn); /* rejects it */
}
