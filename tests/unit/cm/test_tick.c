/* SPDX-License-Identifier: BSD-3-Clause */
/* What a deadline does, by the state in which it finds the connection. */
#include <criterion/criterion.h>

#include "rigs/cm_at.h"

/* checks W-CM-50[3,4]: w-CM-50: proactively after a second, before the peer has a reason to ask. */
Test(cm_tick, w_cm_50_mra_after_a_second)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

	a->cfg.req_first_retry_ns = MS(4000);
	cm_net_restart(net, CM_NET_A);
	p->hold_requests = true;
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(990));
	cr_expect_eq(p->sent[ATTR(CM_ATTR_MRA)], 0);
	cm_net_run(net, MS(20));
	cr_expect_eq(p->sent[ATTR(CM_ATTR_MRA)], 1);
	cr_expect_eq(p->last[ATTR(CM_ATTR_MRA)].service_timeout, 24);
	cm_net_run(net, MS(60000));
	cr_expect_eq(a->sent[ATTR(CM_ATTR_REQ)], 1, "the MRA keeps it quiet");
	cm_net_free(net);
}

/*
 * checks W-CM-50[4], W-CM-62[6]: it leaves in half of the time in which the peer may expect an
 * answer, and after a second at the latest.
 */
Test(cm_tick, w_cm_62_mra_in_half_of_the_peers_response_timeout)
{
	static const struct {
		uint32_t timeout;
		uint64_t at_us;
	} cases[] = {{20, 1000000}, {31, 1000000}, {19, 1000000}, {18, 512000}, {17, 256000},
		{12, 8000}, {8, 500}, {0, 500}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_net_host *p = &net->host[CM_NET_P];
		struct cm_mad req = cm_net_take_req(net);

		p->hold_requests = true;
		req.remote_resp_timeout = cases[i].timeout;
		cm_net_mute(net, CM_NET_A);
		cm_net_inject(net, CM_NET_A, &req);
		cm_net_run(net, cases[i].at_us * 1000 - 1);
		cr_expect_eq(p->sent[ATTR(CM_ATTR_MRA)], 0, "code %u", cases[i].timeout);
		cm_net_run(net, 1);
		cr_expect_eq(p->sent[ATTR(CM_ATTR_MRA)], 1, "code %u", cases[i].timeout);
		cm_net_free(net);
	}
}

/* checks W-CM-61[1] */
Test(cm_tick, w_cm_61_passive_unreachable)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

	a->drop[ATTR(CM_ATTR_RTU)] = 1000;
	a->drop[ATTR(CM_ATTR_DREP)] = 1000;
	cm_net_connect(net, NULL, 0);
	cm_net_settle(net);
	cr_expect_eq(cm_net_events(p, ROCE_CM_EV_UNREACHABLE), 1);
	cr_expect_eq(cm_net_events(a, ROCE_CM_EV_DISCONNECTED), 1, "the REJ told it");
	cm_net_assert_empty(net);
	cm_net_free(net);
}

/* checks R-DISC-04[1] */
Test(cm_tick, w_cm_46_disconnect_from_a_dead_peer)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(100));
	a->drop[ATTR(CM_ATTR_DREQ)] = 1000;
	roce_cm_disconnect(a->cm, net->now_ns, a->conn);
	cm_net_settle(net);
	cr_assert_eq(cm_net_events(a, ROCE_CM_EV_DISCONNECTED), 1);
	cr_expect(cm_net_event(a, ROCE_CM_EV_DISCONNECTED, 0)->timed_out);
	cr_expect_eq(cm_net_events(p, ROCE_CM_EV_DISCONNECTED), 0);
	cr_expect_eq(a->sent[ATTR(CM_ATTR_DREQ)], 6);
	cm_net_free(net);
}

/* A table of thousands: every timer fires, in its turn, and every connection comes back. */
Test(cm_tick, w_cm_60_four_thousand_dead_peers)
{
	enum { N = 4096 };
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];
	struct roce_cm_connect c = cm_net_connect_params(net);
	unsigned reqs = 0, rejs = 0, unreachable = 0;
	struct roce_cm_event ev;
	struct roce_cm_tx tx;
	struct roce_cm_usage u;
	struct cm_mad m;

	a->cfg.max_active = N;
	cm_net_restart(net, CM_NET_A);
	for (unsigned i = 0; i < N; i++) {
		c.qp.qpn = 2 + i;
		cr_assert_not_null(roce_cm_connect(a->cm, MS(i * 7919 % 1000), &c));
	}
	cr_assert_null(roce_cm_connect(a->cm, 0, &c), "no more room");
	for (uint64_t now = 0; now <= MS(90000); now += MS(50)) {
		roce_cm_tick(a->cm, now);
		cr_assert_gt(roce_cm_next_deadline(a->cm), now);
		while (roce_cm_tx(a->cm, &tx)) {
			cr_assert_eq(cm_mad_decode(&m, tx.mad), CM_DECODE_OK);
			reqs += m.attr == CM_ATTR_REQ;
			rejs += m.attr == CM_ATTR_REJ;
		}
		while (roce_cm_event(a->cm, &ev)) {
			cr_assert_eq(ev.type, ROCE_CM_EV_UNREACHABLE);
			cr_assert(now >= MS(73728) && now <= MS(74800));
			roce_cm_destroy(a->cm, now, ev.conn);
			unreachable++;
		}
	}
	cr_expect_eq(reqs, 16 * N);
	cr_expect_eq(rejs, N);
	cr_expect_eq(unreachable, N);
	roce_cm_usage(a->cm, &u);
	cr_expect_eq(u.conns, 0);
	cm_net_free(net);
}

/* When a connection's deadline comes in each state, and what leaves then. */
static const struct {
	uint64_t at_ms; /* 0: no deadline */
	uint32_t attr;
	enum cm_state next;
} deadlines[AT_COUNT] = {
	[A_REQ_SENT] = {200, CM_ATTR_REQ, CM_REQ_SENT},
	[A_MRA_REQ_RCVD] = {4096 + 512, CM_ATTR_REQ, CM_MRA_REQ_RCVD},
	[A_DREQ_SENT] = {200, CM_ATTR_DREQ, CM_DREQ_SENT},
	[A_TIMEWAIT] = {512, 0, CM_DEAD},
	[A_REFUSED] = {10000, 0, CM_DEAD},
	[A_ABANDONED] = {10000, 0, CM_DEAD},
	[P_REQ_RCVD] = {1000, CM_ATTR_MRA, CM_MRA_REQ_SENT},
	[P_MRA_REQ_SENT] = {150000, CM_ATTR_REJ, CM_TIMEWAIT},
	[P_REP_SENT] = {200, CM_ATTR_REP, CM_REP_SENT},
	[P_MRA_REP_RCVD] = {4096 + 512, CM_ATTR_REP, CM_MRA_REP_RCVD},
	[P_DREQ_SENT] = {200, CM_ATTR_DREQ, CM_DREQ_SENT},
	[P_TIMEWAIT] = {512, 0, CM_DEAD},
	[P_REFUSED] = {10000, 0, CM_DEAD},
};

/* checks W-CM-50, W-CM-52[1], W-CM-60[1,4], W-CM-61[1,3] */
Test(cm_tick, w_cm_60_the_deadline_of_each_state)
{
	for (enum cm_at at = 0; at < AT_COUNT; at++) {
		struct cm_at_bench b = cm_at_bring(at);
		const uint64_t deadline =
			deadlines[at].at_ms != 0 ? MS(deadlines[at].at_ms) : UINT64_MAX;
		struct roce_cm_tx tx;
		struct cm_mad m = {0};

		cr_expect_eq(roce_cm_next_deadline(b.cm), deadline, "%s", cm_at_names[at]);
		if (deadlines[at].at_ms == 0) {
			cm_net_free(b.net);
			continue;
		}
		roce_cm_tick(b.cm, deadline - 1);
		cr_expect_not(roce_cm_tx(b.cm, &tx), "%s", cm_at_names[at]);
		cr_expect_eq(b.conn->state, cm_at_states[at], "%s", cm_at_names[at]);
		roce_cm_tick(b.cm, deadline);
		cr_expect_eq(b.conn->state, deadlines[at].next, "%s", cm_at_names[at]);
		if (roce_cm_tx(b.cm, &tx))
			cr_assert_eq(cm_mad_decode(&m, tx.mad), CM_DECODE_OK);
		cr_expect_eq(m.attr, deadlines[at].attr, "%s", cm_at_names[at]);
		cm_net_free(b.net);
	}
}

/*
 * How it ends when no answer comes: the event, the REJ and the state; checks W-CM-46[2],
 * W-CM-48[4], W-CM-49[1,2,5].
 */
Test(cm_tick, w_cm_49_the_end_of_all_retries_in_each_state)
{
	static const struct {
		enum cm_at at;
		enum roce_cm_event_type event;
		uint32_t rej_reason; /* 0: no REJ */
	} cases[] = {
		{A_REQ_SENT, ROCE_CM_EV_UNREACHABLE, ROCE_CM_REASON_TIMEOUT},
		{A_MRA_REQ_RCVD, ROCE_CM_EV_UNREACHABLE, ROCE_CM_REASON_TIMEOUT},
		{P_REP_SENT, ROCE_CM_EV_UNREACHABLE, ROCE_CM_REASON_TIMEOUT},
		{P_MRA_REP_RCVD, ROCE_CM_EV_UNREACHABLE, ROCE_CM_REASON_TIMEOUT},
		{A_DREQ_SENT, ROCE_CM_EV_DISCONNECTED, 0},
		{P_DREQ_SENT, ROCE_CM_EV_DISCONNECTED, 0},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cm_at_bench b = cm_at_bring(cases[i].at);
		const char *name = cm_at_names[cases[i].at];
		struct cm_mad m = {0};
		struct roce_cm_event ev;
		struct roce_cm_tx tx;

		while (!roce_cm_event(b.cm, &ev)) {
			while (roce_cm_tx(b.cm, &tx))
				;
			cr_assert_lt(roce_cm_next_deadline(b.cm), MS(80000), "%s", name);
			roce_cm_tick(b.cm, roce_cm_next_deadline(b.cm));
		}
		cr_expect_eq(ev.type, cases[i].event, "%s", name);
		cr_expect_eq(ev.timed_out, ev.type == ROCE_CM_EV_DISCONNECTED, "%s", name);
		cr_expect_not(ev.by_peer);
		cr_expect_eq(roce_cm_counters(b.cm)->timeouts, 1, "%s", name);
		cr_expect_eq(b.conn->state, CM_TIMEWAIT, "%s", name);
		while (roce_cm_tx(b.cm, &tx))
			cr_assert_eq(cm_mad_decode(&m, tx.mad), CM_DECODE_OK);
		cr_expect_eq(m.reason, cases[i].rej_reason, "%s", name);
		if (cases[i].rej_reason != 0) {
			cr_expect_eq(m.attr, CM_ATTR_REJ);
			cr_expect_eq(m.which, CM_WHICH_OTHER, "%s", name);
			cr_expect_eq(m.ari_bytes, 8);
			cr_expect_arr_eq(m.ari, "\x02\0\0\xff\xfe\0\0\x01", 8, "our GUID");
		}
		cm_net_free(b.net);
	}
}

/* All that is due, in the order of the deadlines and not of the connections. */
Test(cm_tick, one_tick_serves_all_deadlines_that_have_come)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];
	struct roce_cm_connect c = cm_net_connect_params(net);
	struct roce_cm_tx tx;
	unsigned n = 0;
	struct cm_mad m;

	for (unsigned i = 0; i < 10; i++) {
		c.qp.qpn = 100 + i;
		cr_assert_not_null(roce_cm_connect(a->cm, MS(10 - i), &c));
	}
	while (roce_cm_tx(a->cm, &tx))
		;
	roce_cm_tick(a->cm, MS(204));
	while (roce_cm_tx(a->cm, &tx)) {
		cr_assert_eq(cm_mad_decode(&m, tx.mad), CM_DECODE_OK);
		cr_expect_eq(m.qpn, 109 - n);
		n++;
	}
	cr_expect_eq(n, 4);
	cr_expect_eq(roce_cm_next_deadline(a->cm), MS(205));
	cm_net_free(net);
}

/* However many deadlines have come, a tick takes a part of them, and the next one goes on. */
Test(cm_tick, a_tick_has_a_budget)
{
	enum { BUDGET = 512, N = 4 * BUDGET };
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];
	struct roce_cm_connect c = cm_net_connect_params(net);
	unsigned ticks = 0;

	a->cfg.max_active = N;
	cm_net_restart(net, CM_NET_A);
	for (unsigned i = 0; i < N; i++) {
		c.qp.qpn = 2 + i;
		cr_assert_not_null(roce_cm_connect(a->cm, 0, &c));
	}
	while (roce_cm_next_deadline(a->cm) <= MS(200)) {
		const uint64_t before = roce_cm_counters(a->cm)->tx_retries;

		roce_cm_tick(a->cm, MS(200));
		cr_expect_leq(roce_cm_counters(a->cm)->tx_retries - before, BUDGET);
		ticks++;
	}
	cr_expect_eq(ticks, 4);
	cr_expect_eq(roce_cm_counters(a->cm)->tx_retries, N);
	cm_net_free(net);
}
