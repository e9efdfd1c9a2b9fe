/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections: two connection managers, set one up and end it again. What is measured is what the
 * daemon's control thread does for the CM itself, of both ends: five MADs, each in a frame with its
 * ICRC. Queue pairs are numbers here.
 */
#include <stdlib.h>

#include "engine.h"
#include "cm/cm.h"
#include "wire/gsi.h"
#include "wire/icrc.h"
#include "wire/packet.h"

#define SERVICE	  7174u
#define CONNS_MAX 8192u /* of a daemon by default: twice limits.shard_qps */
#define ASKED_MAX 16384u
/* By its own clock, 100 us for a connection: two thirds of the table are in time-wait then, which
 * bounds a daemon's rate in the long run. */
#define CONN_NS 100000u

struct bench_cm {
	struct roce_cm *end[2]; /* active side, passive side */
	uint64_t now_ns;
	uint32_t qpn, psn;
	unsigned ended; /* both of its ends */
};

static struct roce_gid
gid_of(unsigned end)
{
	const uint8_t ip[4] = {10, 0, 0, (uint8_t)(1 + end)};
	struct roce_gid gid;

	roce_gid_from_v4(&gid, ip);
	return gid;
}

struct bench_cm *
bench_cm_new(struct bench_world *w)
{
	struct bench_cm *cm = calloc(1, sizeof(*cm));
	const struct roce_cm_addr any = {.port = SERVICE};

	bench_need(cm != NULL, "out of memory");
	for (unsigned i = 0; i < 2; i++) {
		const struct roce_cm_cfg cfg = {.max_active = CONNS_MAX,
			.max_passive = ASKED_MAX,
			.max_listeners = 16,
			.secret = {3, 4 + i},
			.ca_guid = 0x020000fffe000001 + i,
			.max_retries = 15,
			.source_rate = 1000000,
			.source_burst = 1000000};

		cm->end[i] = roce_cm_init(bench_map(&w->side[i], roce_cm_bytes(&cfg), false), &cfg);
		bench_need(cm->end[i] != NULL, "connection manager");
	}
	bench_need(roce_cm_listen(cm->end[1], &any, 0, 0, NULL, NULL) != NULL, "listen");
	return cm;
}

static struct roce_cm_qp_params
next_qp(struct bench_cm *cm)
{
	cm->qpn = (cm->qpn + 1) & ROCE_QPN_MASK;
	return (struct roce_cm_qp_params){.qpn = cm->qpn < 2 ? cm->qpn = 2 : cm->qpn,
		.psn = 7,
		.responder_resources = 16,
		.initiator_depth = 16,
		.retry_count = 7,
		.rnr_retry = 7};
}

static void
begin(struct bench_cm *cm)
{
	const struct roce_cm_connect c = {.local = {gid_of(0), 40000},
		.remote = {gid_of(1), SERVICE},
		.qp = next_qp(cm),
		.mtu_code = 5};

	bench_need(roce_cm_connect(cm->end[0], cm->now_ns, &c) != NULL, "connect");
}

/* The listener's end takes every request, and says good-bye as soon as it is established. */
static void
handle(struct bench_cm *cm, unsigned i, const struct roce_cm_event *ev)
{
	struct roce_cm_qp_params qp;

	switch (ev->type) {
	case ROCE_CM_EV_REQUEST:
		qp = next_qp(cm);
		bench_need(roce_cm_accept(cm->end[i], cm->now_ns, ev->conn, &qp, NULL, 0, NULL),
			"accept");
		break;
	case ROCE_CM_EV_REPLY:
		bench_need(roce_cm_complete(cm->end[i], cm->now_ns, ev->conn), "complete");
		break;
	case ROCE_CM_EV_ESTABLISHED:
		roce_cm_disconnect(cm->end[i], cm->now_ns, ev->conn);
		break;
	case ROCE_CM_EV_DISCONNECTED:
		bench_need(!ev->timed_out, "a disconnect was not answered");
		roce_cm_destroy(cm->end[i], cm->now_ns, ev->conn);
		cm->ended++;
		break;
	default:
		bench_need(false, "a connection failed");
	}
}

static void
carry(struct bench_cm *cm, unsigned from, const struct roce_cm_tx *tx)
{
	const struct roce_path path = {
		.sgid = tx->sgid, .dgid = tx->dgid, .tos = tx->tos, .ttl = tx->hop_limit};
	uint8_t frame[ROCE_GSI_FRAME_MAX];
	uint32_t bytes = roce_gsi_build(frame, &path, cm->psn++ & ROCE_PSN_MASK, tx->mad);
	struct roce_pkt pkt;

	bench_need(roce_wire_parse(frame, bytes, &pkt) == ROCE_WIRE_OK && roce_gsi_is_mad(&pkt) &&
			   roce_icrc_ok(&pkt),
		"a MAD's frame");
	roce_cm_rx(cm->end[!from], cm->now_ns, &pkt, 0);
}

/* True: there was something to do. */
static bool
serve(struct bench_cm *cm, unsigned i)
{
	struct roce_cm_event ev;
	struct roce_cm_tx tx;
	bool any = false;

	for (; roce_cm_event(cm->end[i], &ev); any = true)
		handle(cm, i, &ev);
	for (; roce_cm_tx(cm->end[i], &tx); any = true)
		carry(cm, i, &tx);
	return any;
}

unsigned
bench_cm_turn(struct bench_cm *cm, uint32_t conns)
{
	bool any = true;

	cm->ended = 0;
	for (uint32_t i = 0; i < conns; i++)
		begin(cm);
	while (any) {
		any = serve(cm, 0);
		any |= serve(cm, 1);
	}
	bench_need(cm->ended == 2 * conns, "a connection did not end");
	cm->now_ns += (uint64_t)conns * CONN_NS;
	roce_cm_tick(cm->end[0], cm->now_ns);
	roce_cm_tick(cm->end[1], cm->now_ns);
	return conns;
}
