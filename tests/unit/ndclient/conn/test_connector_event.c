/* SPDX-License-Identifier: BSD-3-Clause */
/* Connectors: what the daemon's events do to them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "ndclient/conn/connector.h"
#include "ndclient/conn/connector_event.h"
#include "ndclient/conn/listener.h"
#include "ndclient/mem/mover.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/overlapped.h"
#include "rigs/conn_bench.h"

/* checks R-CONN-12[1,2]: the active side gave up before it completed: each profile has its word. */
Test(ndclient_conn_event, both_profiles_of_accept)
{
	static const nd_status wanted[] = {
		[ND_PROFILE_TEST] = ND_CONNECTION_REFUSED,
		[ND_PROFILE_DOC] = ND_CONNECTION_ABORTED,
	};

	for (uint32_t profile = 0; profile < 2; profile++) {
		struct nd_adapter *a = conn_bench_new();
		struct nd_overlapped ov = {0};
		struct ndsh_ev_conn ev =
			conn_bench_event(NDSH_EV_CONN_ESTABLISHED, ND_CONNECTION_REFUSED, 300);

		a->profile = profile;
		(void)conn_bench_under_way(a, conn_bench_qp(a), ND_CONN_REP_SENT, 300, &ov);
		nd_conn_event(a, &ev);
		cr_expect(eq(i32, nd_overlapped_status(&ov), wanted[profile]));
		conn_bench_drop(a);
	}
}

/* checks R-CONN-01[1], R-CONN-08[4,5], R-CONN-11[1,3] */
Test(ndclient_conn_event, R_CONN_01_a_reply_completes_connect_and_tells_the_peers_values)
{
	struct nd_adapter *a = conn_bench_new();
	struct nd_qp *qp = conn_bench_qp(a);
	struct nd_overlapped ov = {0};
	struct nd_connector *c = conn_bench_under_way(a, qp, ND_CONN_CONNECTING, 300, &ov);
	struct ndsh_ev_conn other =
		conn_bench_event(NDSH_EV_CONN_REPLY, ND_SUCCESS, 300 + ND_CONN_BUCKETS);
	struct ndsh_ev_conn ev = conn_bench_event(NDSH_EV_CONN_REPLY, ND_SUCCESS, 300);
	uint32_t in, out, bytes = 3;
	char priv[8] = "";

	cr_expect(eq(i32, nd_connector_read_limits(c, &in, &out), ND_CONNECTION_INVALID));
	nd_conn_event(a, &other);
	cr_expect(eq(i32, nd_overlapped_status(&ov), ND_PENDING), "another connection's");
	nd_conn_event(a, &ev);
	cr_expect(eq(i32, nd_overlapped_status(&ov), ND_SUCCESS));
	cr_expect(eq(int, c->state, ND_CONN_REP_RECEIVED));
	cr_expect(eq(u32, qp->state, ND_QP_UNCONNECTED), "not before it is completed");
	cr_expect(eq(i32, nd_connector_read_limits(c, &in, &out), ND_SUCCESS));
	cr_expect(eq(u32, in, 3));
	cr_expect(eq(u32, out, 4));
	/* R-CONN-08 */
	cr_expect(eq(i32, nd_connector_private_data(c, priv, &bytes), ND_BUFFER_OVERFLOW));
	cr_expect(eq(u32, bytes, 196));
	cr_expect(eq(str, priv, "hel"));
	conn_bench_drop(a);
}

/*
 * checks R-CONN-26[1,2]: the queue pair of a Connect or Accept is closed; the daemon calls it an
 * abort, and so it is if the queue pair is there.
 */
Test(ndclient_conn_event, R_CONN_26_a_queue_pair_that_is_closed_cancels)
{
	for (unsigned i = 0; i < 8; i++) {
		const bool accept = i & 1, closed = i & 2;
		struct nd_adapter *a = conn_bench_new();
		struct nd_qp *qp = conn_bench_qp(a);
		struct nd_overlapped ov = {0};
		struct nd_connector *c = conn_bench_under_way(
			a, qp, accept ? ND_CONN_REP_SENT : ND_CONN_CONNECTING, 300, &ov);
		const struct ndsh_ev_conn ev =
			conn_bench_event(accept ? NDSH_EV_CONN_ESTABLISHED : NDSH_EV_CONN_REPLY,
				ND_CONNECTION_ABORTED, 300);

		a->profile = i & 4 ? ND_PROFILE_DOC : ND_PROFILE_TEST;
		if (closed) { /* as qp_destroy() does */
			c->qp = NULL;
			qp->connector = NULL;
		}
		nd_conn_event(a, &ev);
		cr_expect(eq(i32, nd_overlapped_status(&ov),
				  closed ? ND_CANCELED : ND_CONNECTION_ABORTED),
			"%u", i);
		cr_expect(eq(int, c->state, ND_CONN_DISCONNECTED));
		conn_bench_drop(a);
	}
}

/* checks R-CONN-12[4]: between Connect's completion and CompleteConnect cancel abandons it, though
 * nothing pends. */
Test(ndclient_conn_event, R_CONN_12_cancel_instead_of_completing)
{
	struct nd_adapter *a = conn_bench_new();
	struct nd_qp *qp = conn_bench_qp(a);
	struct nd_connector *c = conn_bench_connector(a, ND_CONN_REP_RECEIVED);
	struct nd_overlapped ov = {0};

	c->qp = qp;
	qp->connector = c;
	cr_expect(eq(i32, nd_connector_cancel(c), ND_SUCCESS));
	cr_expect(eq(int, c->state, ND_CONN_DISCONNECTED));
	cr_expect(eq(ptr, qp->connector, NULL));
	cr_expect(eq(u32, qp->state, ND_QP_DISCONNECTED));
	cr_expect(eq(i32, nd_connector_complete_connect(c, &ov), ND_CONNECTION_ABORTED));
	conn_bench_drop(a);
}

/* checks R-CONN-03[2,3] */
Test(ndclient_conn_event, R_CONN_03_a_failed_connect_gives_the_queue_pair_back)
{
	const nd_status retry[] = {ND_CONNECTION_REFUSED, ND_NETWORK_UNREACHABLE,
		ND_HOST_UNREACHABLE, ND_IO_TIMEOUT, ND_INSUFFICIENT_RESOURCES};

	for (uint32_t i = 0; i < 5; i++) {
		struct nd_adapter *a = conn_bench_new();
		struct nd_qp *qp = conn_bench_qp(a);
		struct nd_overlapped ov = {0};
		struct nd_connector *c = conn_bench_under_way(a, qp, ND_CONN_CONNECTING, i, &ov);
		struct ndsh_ev_conn ev = conn_bench_event(NDSH_EV_CONN_REPLY, retry[i], i);

		nd_conn_event(a, &ev);
		cr_expect(eq(i32, nd_overlapped_status(&ov), retry[i]));
		cr_expect(eq(ptr, qp->connector, NULL));
		cr_expect(eq(u32, qp->state, ND_QP_UNCONNECTED));
		cr_expect(eq(int, c->state, i < 4 ? ND_CONN_IDLE : ND_CONN_DISCONNECTED));
		cr_expect(eq(u32, nd_connector_reject_reason(c), i == 0 ? 28 : 0));
		conn_bench_drop(a);
	}
}

Test(ndclient_conn_event, accept_completes_and_sends_become_legal)
{
	struct nd_adapter *a = conn_bench_new();
	struct nd_qp *qp = conn_bench_qp(a);
	struct nd_overlapped ov = {0};
	struct nd_connector *c = conn_bench_under_way(a, qp, ND_CONN_REP_SENT, 7, &ov);
	struct ndsh_ev_conn ev = conn_bench_event(NDSH_EV_CONN_ESTABLISHED, ND_SUCCESS, 7);

	nd_conn_event(a, &ev);
	cr_expect(eq(i32, nd_overlapped_status(&ov), ND_SUCCESS));
	cr_expect(eq(int, c->state, ND_CONN_CONNECTED));
	cr_expect(eq(u32, qp->state, ND_QP_CONNECTED));
	conn_bench_drop(a);
}

/* checks R-DISC-05[1] */
Test(ndclient_conn_event, R_DISC_05_the_peers_disconnect_is_told_once_to_all_who_asked)
{
	struct nd_adapter *a = conn_bench_new();
	struct nd_qp *qp = conn_bench_qp(a);
	struct nd_overlapped ov = {0}, o1 = {0}, o2 = {0};
	struct nd_connector *c = conn_bench_under_way(a, qp, ND_CONN_CONNECTED, 7, &ov);
	struct ndsh_ev_conn ev =
		conn_bench_event(NDSH_EV_CONN_DISCONNECTED, ND_CONNECTION_ABORTED, 7);

	c->op = NULL;
	cr_expect(eq(i32, nd_connector_notify_disconnect(c, &o1), ND_PENDING));
	cr_expect(eq(i32, nd_connector_notify_disconnect(c, &o2), ND_PENDING));
	nd_conn_event(a, &ev);
	cr_expect(eq(i32, nd_overlapped_status(&o1), ND_SUCCESS));
	cr_expect(eq(i32, nd_overlapped_status(&o2), ND_SUCCESS));
	cr_expect(eq(int, c->state, ND_CONN_PASSIVE_DISC));
	nd_conn_event(a, &ev);
	cr_expect(eq(int, c->state, ND_CONN_PASSIVE_DISC));
	conn_bench_drop(a);
}

/*
 * checks R-CONN-21[1-3]: known when the request is taken, before that, and when Accept has said
 * so.
 */
Test(ndclient_conn_event, R_CONN_21_a_request_whose_peer_has_vanished)
{
	const struct ndsh_ev_conn ev =
		conn_bench_event(NDSH_EV_CONN_DISCONNECTED, ND_CONNECTION_ABORTED, 7);

	for (int early = 0; early < 2; early++) {
		struct nd_adapter *a = conn_bench_new();
		struct ndsh_ev_conn req = conn_bench_event(NDSH_EV_CONN_REQUEST, ND_SUCCESS, 7),
				    other = conn_bench_event(NDSH_EV_CONN_REQUEST, ND_SUCCESS, 8);
		struct nd_connector *c = conn_bench_connector(a, ND_CONN_IDLE),
				    *d = conn_bench_connector(a, ND_CONN_IDLE);
		struct nd_overlapped get[2] = {0}, ov = {0};
		struct nd_listener *l;
		uint32_t bytes = 0;

		cr_assert(eq(i32, nd_listener_create(a, &l), ND_SUCCESS));
		l->at.on = true;
		l->at.id = req.listener = other.listener = 3;
		nd_listener_request(a, &req);
		nd_listener_request(a, &other);
		if (early)
			nd_conn_event(a, &ev);
		cr_assert(eq(i32, nd_listener_get_request(l, c, &get[0]), ND_PENDING));
		cr_assert(eq(i32, nd_listener_get_request(l, d, &get[1]), ND_PENDING));
		cr_expect(eq(i32, nd_overlapped_status(&get[0]), ND_SUCCESS));
		if (!early) {
			cr_expect(eq(i32, nd_connector_private_data(c, NULL, &bytes),
				ND_BUFFER_OVERFLOW));
			nd_conn_event(a, &ev);
		}
		cr_expect(
			eq(i32, nd_connector_private_data(c, NULL, &bytes), ND_CONNECTION_ABORTED));
		cr_expect(eq(i32, nd_connector_reject(c, NULL, 0), ND_CONNECTION_ABORTED));
		cr_expect(eq(i32, nd_connector_accept(c, conn_bench_qp(a), 1, 1, NULL, 0, &ov),
			ND_CONNECTION_ABORTED));
		cr_expect(eq(int, d->state, ND_CONN_REQ_RECEIVED), "another request");
		cr_expect(eq(i32, nd_connector_private_data(d, NULL, &bytes), ND_BUFFER_OVERFLOW));
		conn_bench_drop(a);
	}
}

/* checks R-DISC-04[3] */
Test(ndclient_conn_event, R_DISC_04_our_disconnect_ends_as_the_daemon_says)
{
	const nd_status told[] = {ND_SUCCESS, ND_TIMEOUT, ND_CONNECTION_ABORTED};
	const nd_status wanted[] = {ND_SUCCESS, ND_TIMEOUT, ND_SUCCESS};

	for (uint32_t i = 0; i < 3; i++) {
		struct nd_adapter *a = conn_bench_new();
		struct nd_overlapped ov = {0};
		struct nd_connector *c =
			conn_bench_under_way(a, conn_bench_qp(a), ND_CONN_ACTIVE_DISC, i, &ov);
		struct ndsh_ev_conn ev = conn_bench_event(NDSH_EV_CONN_DISCONNECTED, told[i], i);

		nd_conn_event(a, &ev);
		cr_expect(eq(i32, nd_overlapped_status(&ov), wanted[i]));
		cr_expect(eq(int, c->state, ND_CONN_DISCONNECTED));
		conn_bench_drop(a);
	}
}

/* A mover whose thread does nothing for now, and the daemon's end of it. */
struct idle_mover {
	struct nd_mover m;
	struct ndsh_cq daemon;
	struct ndsh_session_page page;
	void *block;
};

static void
idle_mover_make(struct idle_mover *i, struct nd_adapter *a)
{
	const size_t bytes = (ndsh_mover_bytes(true) + 63) & ~63u;

	memset(i, 0, sizeof(*i));
	i->block = aligned_alloc(64, bytes);
	memset(i->block, 0, bytes);
	i->m.adapter = a;
	nd_copier_init(&i->m.copier);
	pthread_mutex_init(&i->m.lock, NULL);
	ndsh_cq_view(&i->daemon, i->block, NDSH_MOVER_DEPTH);
	ndsh_mover_view(&i->m.commands, i->block, true);
	a->mover = &i->m;
	a->page = &i->page;
}

static void
idle_mover_free(struct idle_mover *i)
{
	nd_copier_fini(&i->m.copier);
	pthread_mutex_destroy(&i->m.lock);
	free(i->block);
}

/* checks R-DISC-02[2]: what the peer wrote before the queue pair ended is in its place when the
 * disconnect is over, and not later, when the memory may be another's. */
Test(ndclient_conn_event, R_DISC_02_memory_is_left_alone_when_a_disconnect_is_over)
{
	struct nd_adapter *a = conn_bench_new();
	struct nd_overlapped ov = {0};
	const struct ndsh_ev_conn ev = conn_bench_event(NDSH_EV_CONN_DISCONNECTED, ND_SUCCESS, 300);
	static char memory[8];
	struct idle_mover i;

	idle_mover_make(&i, a);
	(void)conn_bench_under_way(a, conn_bench_qp(a), ND_CONN_ACTIVE_DISC, 300, &ov);
	memcpy(i.m.commands.staging, "written", 8);
	cr_assert(ndsh_cq_push(&i.daemon,
		&(struct ndsh_cqe){.context = (uintptr_t)memory, .bytes = 8, .op = NDSH_MOVE_IN}));
	nd_conn_event(a, &ev);
	cr_expect(eq(i32, nd_overlapped_status(&ov), ND_SUCCESS));
	cr_expect(eq(str, memory, "written"));
	idle_mover_free(&i);
	conn_bench_drop(a);
}
