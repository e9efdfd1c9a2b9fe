/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection manager with live connections in every state, listeners, and SIDR, with a peer that
 * sends any message (cm_peer.h). The host makes any call on the handles that it has.
 */
#include "cm/check.h"
#include "cm/cm.h"
#include "cm/sidr.h"
#include "cm_peer.h"

#define ACTIONS_MAX 250u
#define CONNS	    16u
#define LISTENERS   4u
#define HANDLES	    (CONNS + 8u)
#define PEERS	    (sizeof(peers) / sizeof(peers[0]))
#define NIC	    7u
#define LONG_NS	    UINT64_C(3600000000000)

struct cm_world {
	struct roce_cm *cm;
	uint64_t now_ns;
	struct fuzz_in in;
	struct {
		struct roce_cm_conn *conn; /* the host's own: not yet destroyed */
		bool sidr;
	} handle[HANDLES];
	struct roce_cm_listener *listener[LISTENERS];
	struct cm_peer peer;
	uint32_t qpn;
};

static const struct roce_gid peers[] = {
	{{[10] = 0xff, 0xff, 192, 0, 2, 2}},
	{{[10] = 0xff, 0xff, 192, 0, 2, 3}},
	{{0xfd, 1, [15] = 2}},
};

/* ---- the host -------------------------------------------------------------------------------- */

static void
conn_keep(struct cm_world *w, struct roce_cm_conn *conn, bool sidr)
{
	if (conn == NULL)
		return;
	for (unsigned i = 0; i < HANDLES; i++) {
		if (w->handle[i].conn == NULL) {
			w->handle[i].conn = conn;
			w->handle[i].sidr = sidr;
			return;
		}
	}
	roce_cm_destroy(w->cm, w->now_ns, conn);
}

static void
host_connects(struct cm_world *w)
{
	const struct roce_gid *peer = &peers[fuzz_below(&w->in, PEERS)];
	struct roce_cm_connect c = {.local = {*cm_peer_to(&w->peer, peer), 40000},
		.remote = {*peer, CM_PEER_SERVICE},
		.port = NIC,
		.qp = {.qpn = w->qpn++, .psn = 5, .responder_resources = 4, .retry_count = 7},
		.mtu_code = 3,
		.priv = "hello",
		.priv_bytes = fuzz_below(&w->in, 6)};

	conn_keep(w, roce_cm_connect(w->cm, w->now_ns, &c), false);
}

static void
host_queries(struct cm_world *w)
{
	const struct roce_gid *peer = &peers[fuzz_below(&w->in, PEERS)];
	struct roce_cm_sidr_query q = {.local = {*cm_peer_to(&w->peer, peer), 40000},
		.remote = {*peer, CM_PEER_SERVICE},
		.port = NIC,
		.priv = "who",
		.priv_bytes = fuzz_below(&w->in, 4)};

	conn_keep(w, roce_cm_sidr_query(w->cm, w->now_ns, &q), true);
}

static void
host_listens(struct cm_world *w)
{
	struct roce_cm_listener **l = &w->listener[fuzz_below(&w->in, LISTENERS)];
	const struct roce_cm_addr any = {
		.port = (uint16_t)(CM_PEER_SERVICE + fuzz_below(&w->in, 2))};
	unsigned how = fuzz_below(&w->in, 8);
	const char *why = NULL;

	if (*l != NULL && how < 4) {
		roce_cm_listener_pause(*l, how & 1);
	} else if (*l != NULL) {
		roce_cm_unlisten(w->cm, w->now_ns, *l);
		*l = NULL;
	} else {
		*l = (how & 1) ? roce_cm_sidr_listen(w->cm, &any, NIC, how >> 1, w, &why)
			       : roce_cm_listen(w->cm, &any, NIC, how >> 1, w, &why);
		fuzz_need(*l != NULL || why != NULL, "refused without a word");
	}
}

static void
host_calls(struct cm_world *w)
{
	const struct roce_cm_qp_params qp = {.qpn = w->qpn, .psn = 9, .responder_resources = 255};
	const struct roce_cm_sidr_reply answer = {.status = fuzz_below(&w->in, 4), .qpn = 0x900};
	unsigned which = fuzz_below(&w->in, HANDLES);
	struct roce_cm_conn **c = &w->handle[which].conn;

	if (*c == NULL)
		return;
	switch (fuzz_below(&w->in, 9)) {
	case 0:
		w->qpn += roce_cm_accept(w->cm, w->now_ns, *c, &qp, "yes", 3, w);
		break;
	case 1:
		(void)roce_cm_complete(w->cm, w->now_ns, *c);
		break;
	case 2:
		(void)roce_cm_reject(w->cm, w->now_ns, *c, 28, "no", 2);
		break;
	case 3:
		(void)roce_cm_reject_mtu(w->cm, w->now_ns, *c, 3);
		break;
	case 4:
		roce_cm_established(w->cm, w->now_ns, *c);
		break;
	case 5:
		if (!w->handle[which].sidr)
			roce_cm_disconnect(w->cm, w->now_ns, *c);
		break;
	case 6:
		if (roce_cm_sidr_reply(w->cm, w->now_ns, *c, &answer))
			*c = NULL; /* the CM's again */
		break;
	case 7:
		roce_cm_set_owner(*c, w);
		(void)roce_cm_qpn_resting(w->cm, w->qpn - 1);
		break;
	default:
		roce_cm_destroy(w->cm, w->now_ns, *c);
		*c = NULL;
	}
}

/* Events name connections that the host has, or a new one. */
static void
host_is_told(struct cm_world *w)
{
	struct roce_cm_event ev;

	while (roce_cm_event(w->cm, &ev)) {
		bool known = false;

		fuzz_need(ev.priv_bytes <= ROCE_CM_PRIV_MAX, "%u bytes", ev.priv_bytes);
		for (unsigned i = 0; i < HANDLES; i++)
			known |= w->handle[i].conn == ev.conn;
		if (ev.type == ROCE_CM_EV_REQUEST || ev.type == ROCE_CM_EV_SIDR_REQUEST) {
			fuzz_need(!known, "a request by a connection that the host has");
			conn_keep(w, ev.conn, ev.type == ROCE_CM_EV_SIDR_REQUEST);
		} else {
			fuzz_need(known, "event %d of a connection that the host has not", ev.type);
		}
	}
}

/* ---- a life ---------------------------------------------------------------------------------- */

static void
peer_speaks(struct cm_world *w)
{
	cm_peer_speaks(&w->peer, &w->in, w->cm, w->now_ns, &peers[fuzz_below(&w->in, PEERS)], NIC);
}

static void
time_passes(struct cm_world *w)
{
	w->now_ns += fuzz_time(&w->in, 12, 22);
	roce_cm_tick(w->cm, w->now_ns);
}

static void
world_is_sound(struct cm_world *w)
{
	const char *why;

	cm_peer_hears(&w->peer, w->cm);
	host_is_told(w);
	why = roce_cm_check(w->cm);
	fuzz_need(why == NULL, "%s", why);
}

static void
world_ends(struct cm_world *w)
{
	struct roce_cm_usage u;

	for (unsigned i = 0; i < LISTENERS; i++)
		if (w->listener[i] != NULL)
			roce_cm_unlisten(w->cm, w->now_ns, w->listener[i]);
	for (unsigned i = 0; i < HANDLES; i++) {
		if (w->handle[i].conn != NULL)
			roce_cm_destroy(w->cm, w->now_ns, w->handle[i].conn);
		w->handle[i].conn = NULL;
	}
	for (unsigned i = 0; i < 8; i++) {
		world_is_sound(w);
		w->now_ns += LONG_NS;
		roce_cm_tick(w->cm, w->now_ns);
	}
	roce_cm_usage(w->cm, &u);
	fuzz_need(u.conns == 0 && u.listeners == 0, "%u connections, %u listeners are left",
		u.conns, u.listeners);
	fuzz_need(roce_cm_next_deadline(w->cm) == UINT64_MAX, "a deadline is left");
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static void (*const actions[])(struct cm_world *) = {peer_speaks, peer_speaks, peer_speaks,
		host_calls, host_calls, host_connects, host_queries, host_listens, time_passes};
	const struct roce_cm_cfg cfg = {.max_active = CONNS,
		.max_passive = CONNS,
		.max_listeners = LISTENERS,
		.secret = {1, 2},
		.ca_guid = 0x55,
		.max_retries = 15};
	struct cm_world w = {.in = {bytes, bytes + n},
		.now_ns = 1000000000,
		.qpn = 0x100,
		.peer = {.me = {{[10] = 0xff, 0xff, 192, 0, 2, 1}}, .me6 = {{0xfd, 1, [15] = 1}}}};
	void *mem = fuzz_zeroed(roce_cm_bytes(&cfg));

	w.cm = roce_cm_init(mem, &cfg);
	fuzz_need(w.cm != NULL, "no CM");
	for (unsigned i = 0; i < ACTIONS_MAX && fuzz_left(&w.in) > 0; i++) {
		actions[fuzz_below(&w.in, sizeof(actions) / sizeof(actions[0]))](&w);
		world_is_sound(&w);
	}
	world_ends(&w);
	free(mem);
	return 0;
}
