/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends that the host asks for, in every state. */
#include <criterion/criterion.h>

#include "rigs/cm_at.h"

/* The host goes away while its REQ is on the way; whatever is lost, the peer learns it. */
Test(cm_end, r_conn_14_active_vanishes)
{
	for (unsigned lost = 0; lost < 2; lost++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

		p->hold_requests = true;
		a->drop[ATTR(CM_ATTR_REJ)] = lost;
		cm_net_connect(net, NULL, 0);
		cm_net_run(net, MS(10));
		roce_cm_destroy(a->cm, net->now_ns, a->conn);
		cm_net_run(net, MS(10));
		cr_assert_eq(cm_net_events(p, ROCE_CM_EV_REJECTED), 1 - lost);
		if (lost > 0) {
			/* It accepts what its peer waits for no more, and is told. */
			cm_net_accept(net, p->conn, NULL, 0);
		}
		cm_net_settle(net);
		cr_assert_eq(cm_net_events(p, ROCE_CM_EV_REJECTED), 1);
		cr_expect_eq(cm_net_event(p, ROCE_CM_EV_REJECTED, 0)->reason, 4);
		cm_net_assert_empty(net);
		cm_net_free(net);
	}
}

/* From every state the host may leave, and the CM gives everything back in the end. */
Test(cm_end, destroy_in_every_state)
{
	for (enum cm_at at = 0; at < AT_COUNT; at++) {
		struct cm_at_bench b = cm_at_bring(at);
		struct roce_cm_usage u;

		roce_cm_destroy(b.cm, 0, b.conn);
		for (uint64_t now = 0; now < MS(60000); now += MS(100)) {
			roce_cm_tick(b.cm, now);
			cm_at_drain(&b);
		}
		roce_cm_usage(b.cm, &u);
		cr_expect_eq(u.conns, 0, "%s", cm_at_names[at]);
		cr_expect_eq(u.timewait, 0, "%s", cm_at_names[at]);
		cr_expect_not(roce_cm_qpn_resting(b.cm, CM_AT_MY_QPN), "%s", cm_at_names[at]);
		cm_net_free(b.net);
	}
}

/* What destroy tells the peer, by state; checks W-CM-48[1-4], W-CM-49[1,3]. */
Test(cm_end, w_cm_48_what_destroy_sends)
{
	static const struct {
		enum cm_at at;
		uint32_t attr, which, reason;
		bool local_id;
	} cases[] = {
		{A_REQ_SENT, CM_ATTR_REJ, CM_WHICH_OTHER, ROCE_CM_REASON_TIMEOUT, true},
		{A_MRA_REQ_RCVD, CM_ATTR_REJ, CM_WHICH_OTHER, ROCE_CM_REASON_TIMEOUT, true},
		{A_REP_RCVD, CM_ATTR_REJ, CM_WHICH_REP, ROCE_CM_REASON_CONSUMER, true},
		{A_MRA_REP_SENT, CM_ATTR_REJ, CM_WHICH_REP, ROCE_CM_REASON_CONSUMER, true},
		{A_ESTABLISHED, CM_ATTR_DREQ, 0, 0, true},
		{P_REQ_RCVD, CM_ATTR_REJ, CM_WHICH_REQ, ROCE_CM_REASON_CONSUMER, false},
		{P_MRA_REQ_SENT, CM_ATTR_REJ, CM_WHICH_REQ, ROCE_CM_REASON_CONSUMER, true},
		{P_REP_SENT, CM_ATTR_REJ, CM_WHICH_OTHER, ROCE_CM_REASON_CONSUMER, true},
		{P_MRA_REP_RCVD, CM_ATTR_REJ, CM_WHICH_OTHER, ROCE_CM_REASON_CONSUMER, true},
		{P_ESTABLISHED, CM_ATTR_DREQ, 0, 0, true},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cm_at_bench b = cm_at_bring(cases[i].at);
		const char *name = cm_at_names[cases[i].at];
		const uint32_t local_id = b.conn->local_id;
		struct roce_cm_tx tx;
		struct cm_mad m;

		roce_cm_destroy(b.cm, 0, b.conn);
		cr_assert(roce_cm_tx(b.cm, &tx), "%s", name);
		cr_assert_eq(cm_mad_decode(&m, tx.mad), CM_DECODE_OK);
		cr_expect_eq(m.attr, cases[i].attr, "%s", name);
		cr_expect_eq(m.which, cases[i].which, "%s", name);
		cr_expect_eq(m.reason, cases[i].reason, "%s", name);
		cr_expect_eq(m.local_id, cases[i].local_id ? local_id : 0, "%s", name);
		cr_expect_eq(m.ari_bytes, m.reason == ROCE_CM_REASON_TIMEOUT ? 8 : 0, "%s", name);
		cr_expect_not(roce_cm_tx(b.cm, &tx), "%s", name);
		cm_net_free(b.net);
	}
}

/* checks W-CM-51[4]: that of a client that died is sent as often as any other. */
Test(cm_end, w_cm_51_the_dreq_of_a_destroyed_connection_is_repeated)
{
	static const unsigned at_ms[] = {0, 200, 600, 1400, 3000, 6200};
	static const enum cm_at at[] = {A_ESTABLISHED, P_ESTABLISHED};

	for (unsigned i = 0; i < 2; i++) {
		struct cm_at_bench b = cm_at_bring(at[i]);

		roce_cm_destroy(b.cm, 0, b.conn);
		cr_expect_eq(cm_net_next_attr(b.cm), CM_ATTR_DREQ);
		for (unsigned n = 1; n < sizeof(at_ms) / sizeof(at_ms[0]); n++) {
			roce_cm_tick(b.cm, MS(at_ms[n]) - 1);
			cr_expect_eq(cm_net_next_attr(b.cm), 0, "before %u ms", at_ms[n]);
			roce_cm_tick(b.cm, MS(at_ms[n]));
			cr_expect_eq(cm_net_next_attr(b.cm), CM_ATTR_DREQ, "%u ms", at_ms[n]);
		}
		roce_cm_tick(b.cm, MS(10000));
		cr_expect_eq(cm_net_next_attr(b.cm), 0);
		cm_net_free(b.net);
	}
}

/*
 * What a disconnect does in each state: before the connection is up it gives the attempt up, and
 * the event follows at once; after the end it does nothing. checks W-CM-49[4]
 */
Test(cm_end, w_cm_49_disconnect_in_every_state)
{
	static const struct {
		uint32_t attr;
		enum cm_state next;
	} want[AT_COUNT] = {
		[A_REQ_SENT] = {CM_ATTR_REJ, CM_TIMEWAIT},
		[A_MRA_REQ_RCVD] = {CM_ATTR_REJ, CM_TIMEWAIT},
		[A_REP_RCVD] = {CM_ATTR_REJ, CM_TIMEWAIT},
		[A_MRA_REP_SENT] = {CM_ATTR_REJ, CM_TIMEWAIT},
		[A_ESTABLISHED] = {CM_ATTR_DREQ, CM_DREQ_SENT},
		[A_DREQ_SENT] = {0, CM_DREQ_SENT},
		[A_TIMEWAIT] = {0, CM_TIMEWAIT},
		[A_REFUSED] = {0, CM_TIMEWAIT},
		[A_ABANDONED] = {0, CM_TIMEWAIT},
		[A_DEAD] = {0, CM_DEAD},
		[P_REQ_RCVD] = {CM_ATTR_REJ, CM_TIMEWAIT},
		[P_MRA_REQ_SENT] = {CM_ATTR_REJ, CM_TIMEWAIT},
		[P_REP_SENT] = {CM_ATTR_REJ, CM_TIMEWAIT},
		[P_MRA_REP_RCVD] = {CM_ATTR_REJ, CM_TIMEWAIT},
		[P_ESTABLISHED] = {CM_ATTR_DREQ, CM_DREQ_SENT},
		[P_DREQ_SENT] = {0, CM_DREQ_SENT},
		[P_TIMEWAIT] = {0, CM_TIMEWAIT},
		[P_REFUSED] = {0, CM_TIMEWAIT},
	};

	for (enum cm_at at = 0; at < AT_COUNT; at++) {
		struct cm_at_bench b = cm_at_bring(at);
		const char *name = cm_at_names[at];
		struct cm_mad m = {0};
		struct roce_cm_event ev;
		struct roce_cm_tx tx;

		roce_cm_disconnect(b.cm, 0, b.conn);
		cr_expect_eq(b.conn->state, want[at].next, "%s", name);
		if (roce_cm_tx(b.cm, &tx))
			cr_assert_eq(cm_mad_decode(&m, tx.mad), CM_DECODE_OK);
		cr_expect_eq(m.attr, want[at].attr, "%s", name);
		cr_expect_not(roce_cm_tx(b.cm, &tx), "%s", name);
		cr_expect_eq(roce_cm_event(b.cm, &ev), want[at].attr == CM_ATTR_REJ, "%s", name);
		if (want[at].attr == CM_ATTR_REJ) {
			cr_expect_eq(ev.type, ROCE_CM_EV_DISCONNECTED, "%s", name);
			cr_expect_not(ev.by_peer);
		}
		cm_net_free(b.net);
	}
}

/* A listener that goes leaves the requests to the host that took them, and they live on. */
Test(cm_end, unlisten_leaves_requests_that_were_taken)
{
	static const enum cm_at at[] = {P_REQ_RCVD, P_MRA_REQ_SENT};

	for (unsigned i = 0; i < 2; i++) {
		struct cm_at_bench b = cm_at_bring(at[i]);
		const struct roce_cm_qp_params qp = {.qpn = CM_AT_MY_QPN};
		struct roce_cm_usage u;
		struct roce_cm_tx tx;

		roce_cm_unlisten(b.cm, 0, b.conn->listener);
		cr_expect_null(b.conn->listener);
		cr_expect_eq(b.conn->state, cm_at_states[at[i]]);
		cr_expect_not(roce_cm_tx(b.cm, &tx));
		roce_cm_usage(b.cm, &u);
		cr_expect_eq(u.listeners, 0);
		cr_expect(roce_cm_accept(b.cm, 0, b.conn, &qp, NULL, 0, NULL));
		cr_expect_eq(b.conn->state, CM_REP_SENT);
		cm_net_free(b.net);
	}
}
