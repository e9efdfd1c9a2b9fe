/* SPDX-License-Identifier: BSD-3-Clause */
/* Retransmission, and the patience that an MRA asks for. */
#include <criterion/criterion.h>

#include "rigs/cm_at.h"
#include "cm/manager.h"
#include "cm/retry.h"

/* checks R-CONN-06[1,4] */
Test(cm_retry, r_conn_06_slow_accept)
{
	static const unsigned waits_s[] = {2, 6, 20, 100, 400};

	for (unsigned i = 0; i < sizeof(waits_s) / sizeof(waits_s[0]); i++) {
		for (unsigned lost = 0; lost < 3; lost++) {
			struct cm_net *net = cm_net_new(false);
			struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

			p->hold_requests = true;
			p->drop[ATTR(CM_ATTR_MRA)] = lost;
			cm_net_connect(net, NULL, 0);
			cm_net_run(net, MS(waits_s[i] * 1000));
			cr_assert_eq(cm_net_events(a, ROCE_CM_EV_UNREACHABLE), 0);
			cr_assert_eq(p->n_log, 1);
			cm_net_accept(net, p->conn, NULL, 0);
			cm_net_run(net, MS(100));
			cr_assert_eq(cm_net_events(p, ROCE_CM_EV_ESTABLISHED), 1);
			roce_cm_destroy(a->cm, net->now_ns, a->conn);
			cm_net_settle(net);
			cm_net_assert_empty(net);
			cm_net_free(net);
		}
	}
}

/* checks R-CONN-06[2,4] */
Test(cm_retry, r_conn_06_slow_complete)
{
	static const unsigned waits_s[] = {1, 6, 20, 100, 400};

	for (unsigned i = 0; i < sizeof(waits_s) / sizeof(waits_s[0]); i++) {
		for (unsigned lost = 0; lost < 3; lost++) {
			struct cm_net *net = cm_net_new(false);
			struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

			a->hold_replies = true;
			a->drop[ATTR(CM_ATTR_MRA)] = lost;
			cm_net_connect(net, NULL, 0);
			cm_net_run(net, MS(waits_s[i] * 1000));
			cr_assert_eq(cm_net_events(p, ROCE_CM_EV_UNREACHABLE), 0);
			cr_assert(roce_cm_complete(a->cm, net->now_ns, a->conn));
			cm_net_run(net, MS(100));
			cr_assert_eq(cm_net_events(p, ROCE_CM_EV_ESTABLISHED), 1);
			roce_cm_destroy(p->cm, net->now_ns, p->conn);
			cm_net_settle(net);
			cm_net_assert_empty(net);
			cm_net_free(net);
		}
	}
}

/* checks W-CM-62[8]: a peer that asked for patience and then died: patience ends, and the retries
 * begin anew. */
Test(cm_retry, w_cm_50_dead_after_mra)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	unsigned sent;

	p->hold_requests = true;
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(2000));
	cr_assert_geq(p->sent[ATTR(CM_ATTR_MRA)], 1);
	sent = a->sent[ATTR(CM_ATTR_REQ)];
	a->drop[ATTR(CM_ATTR_REQ)] = 1000;
	cm_net_run(net, MS(60000));
	cr_expect_eq(a->sent[ATTR(CM_ATTR_REQ)], sent);
	cr_expect_eq(a->n_log, 0);
	cm_net_run(net, MS(20000));
	cr_expect_eq(
		a->sent[ATTR(CM_ATTR_REQ)], sent + 7, "0, 0.4, 1.2, 2.8, 6, 10 and 15 s after");
	cr_expect_eq(a->n_log, 0);
	cm_net_run(net, MS(60000));
	cr_expect_eq(a->sent[ATTR(CM_ATTR_REQ)], sent + 15);
	cr_expect_eq(cm_net_events(a, ROCE_CM_EV_UNREACHABLE), 1);
	cm_net_free(net);
}

/* checks R-CONN-06[1,2], W-CM-62[1,3]: the peer's application is slow, and its CM has no MRA:
 * neither a late Accept nor a late CompleteConnect fails a connection. 15 x 4.3 s is what Windows'
 * providers count on. */
Test(cm_retry, r_conn_06_a_slow_peer_without_mra)
{
	for (unsigned slow = CM_NET_A; slow <= CM_NET_P; slow++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

		a->hold_replies = slow == CM_NET_A;
		p->hold_requests = slow == CM_NET_P;
		net->host[slow].drop[ATTR(CM_ATTR_MRA)] = 1000;
		cm_net_connect(net, NULL, 0);
		cm_net_run(net, MS(15 * 4300));
		cr_assert_eq(cm_net_events(a, ROCE_CM_EV_UNREACHABLE), 0);
		cr_assert_eq(cm_net_events(p, ROCE_CM_EV_UNREACHABLE), 0);
		if (slow == CM_NET_P)
			cm_net_accept(net, p->conn, NULL, 0);
		else
			cr_assert(roce_cm_complete(a->cm, net->now_ns, a->conn));
		cm_net_run(net, MS(100));
		cr_expect_eq(cm_net_events(p, ROCE_CM_EV_ESTABLISHED), 1, "slow side %u", slow);
		cm_net_free(net);
	}
}

/*
 * checks R-CONN-06[3], W-CM-60[1,3], W-CM-62[1,2]: the copies of a REQ that the peer does not
 * answer, and the end.
 */
Test(cm_retry, w_cm_62_a_dead_peer_is_found_after_74_seconds)
{
	static const unsigned at_ms[] = {0, 200, 600, 1400, 3000, 6200, 10808, 15416, 20024, 24632,
		29240, 33848, 38456, 43064, 47672, 52280};
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];

	a->drop[ATTR(CM_ATTR_REQ)] = 1000;
	cm_net_connect(net, NULL, 0);
	for (unsigned i = 0; i < sizeof(at_ms) / sizeof(at_ms[0]); i++) {
		cm_net_run(net, MS(at_ms[i]) - net->now_ns);
		cr_expect_eq(a->sent[ATTR(CM_ATTR_REQ)], i + 1, "%u ms", at_ms[i]);
		cr_expect_eq(a->last_sent_ns[ATTR(CM_ATTR_REQ)], MS(at_ms[i]));
	}
	cm_net_run(net, MS(73727) - net->now_ns);
	cr_expect_eq(a->sent[ATTR(CM_ATTR_REQ)], 16);
	cr_expect_eq(a->n_log, 0);
	cm_net_run(net, MS(1));
	cr_expect_eq(cm_net_events(a, ROCE_CM_EV_UNREACHABLE), 1);
	cr_expect_eq(a->last[ATTR(CM_ATTR_REJ)].reason, 4, "W-CM-49");
	cm_net_settle(net);
	cm_net_assert_empty(net);
	cm_net_free(net);
}

/* checks W-CM-62[1,2]: fewer retries of the configuration are said in the REQ, bind us, and make a
 * dead peer known sooner. */
Test(cm_retry, w_cm_62_our_own_retries_bind_both)
{
	static const struct {
		unsigned retries, end_ms;
	} cases[] = {{0, 4608}, {1, 2 * 4608}, {2, 3 * 4608}, {15, 16 * 4608}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_net_host *a = &net->host[CM_NET_A];

		a->cfg.max_retries = (uint8_t)cases[i].retries;
		cm_net_restart(net, CM_NET_A);
		a->drop[ATTR(CM_ATTR_REQ)] = 1000;
		cm_net_connect(net, NULL, 0);
		cm_net_run(net, MS(cases[i].end_ms - 1));
		cr_expect_eq(a->last[ATTR(CM_ATTR_REQ)].max_retries, cases[i].retries);
		cr_expect_eq(a->last[ATTR(CM_ATTR_REQ)].remote_resp_timeout, 20);
		cr_expect_eq(a->last[ATTR(CM_ATTR_REQ)].local_resp_timeout, 20);
		cr_expect_eq(a->sent[ATTR(CM_ATTR_REQ)], 1 + cases[i].retries);
		cr_expect_eq(a->n_log, 0, "%u retries", cases[i].retries);
		cm_net_run(net, MS(1));
		cr_expect_eq(cm_net_events(a, ROCE_CM_EV_UNREACHABLE), 1);
		cm_net_free(net);
	}
}

/*
 * checks W-CM-60[2], W-CM-61[1,3], W-CM-62[3-5]: what the peer's REQ says of itself is how long
 * its RTU may take, but not less than 10 s and not more than 300; and how many copies of the REP
 * it gets, but at least four.
 */
Test(cm_retry, w_cm_62_the_peers_req_says_how_long_its_rtu_may_take)
{
	static const struct {
		uint32_t timeout, retries;
		unsigned end_ms, copies;
	} cases[] = {
		{20, 15, 16 * 4096, 16},
		{20, 4, 5 * 4096, 5},
		{20, 3, 4 * 4096, 4},
		{21, 7, 8 * 8192, 8},
		{19, 15, 16 * 2048, 12}, /* 6.2 s for five, then each 4 s */
		{22, 15, 16 * 16384, 16},
		{18, 4, 10000, 5},
		{20, 0, 4 * 4096, 4},
		{0, 0, 10000, 4},
		{0, 15, 10000, 6},
		{24, 15, 300000, 16},
		{31, 15, 300000, 16},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_net_host *p = &net->host[CM_NET_P];
		struct cm_mad req = cm_net_take_req(net);

		req.local_resp_timeout = cases[i].timeout;
		req.max_retries = cases[i].retries;
		p->drop[ATTR(CM_ATTR_REP)] = 1000;
		cm_net_mute(net, CM_NET_A);
		cm_net_inject(net, CM_NET_A, &req);
		cm_net_run(net, MS(cases[i].end_ms - 1));
		cr_expect_eq(cm_net_events(p, ROCE_CM_EV_UNREACHABLE), 0, "%u, %u",
			cases[i].timeout, cases[i].retries);
		cr_expect_eq(p->sent[ATTR(CM_ATTR_REP)], cases[i].copies, "%u, %u: %u copies",
			cases[i].timeout, cases[i].retries, p->sent[ATTR(CM_ATTR_REP)]);
		cm_net_run(net, MS(1));
		cr_expect_eq(cm_net_events(p, ROCE_CM_EV_UNREACHABLE), 1, "%u, %u",
			cases[i].timeout, cases[i].retries);
		cr_expect_eq(p->sent[ATTR(CM_ATTR_REP)], cases[i].copies);
		cm_net_free(net);
	}
}

/* checks W-CM-60[4], W-CM-62[7]: a DREQ asks no application; 10 s, whatever the REQ said. */
Test(cm_retry, w_cm_62_a_dreq_is_given_up_after_ten_seconds)
{
	for (unsigned side = CM_NET_A; side <= CM_NET_P; side++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_net_host *h = &net->host[side];
		struct roce_cm_conn *conn;

		cm_net_connect(net, NULL, 0);
		cm_net_run(net, MS(100));
		conn = h->conn;
		h->drop[ATTR(CM_ATTR_DREQ)] = 1000;
		roce_cm_disconnect(h->cm, net->now_ns, conn);
		cm_net_run(net, MS(9999));
		cr_expect_eq(cm_net_events(h, ROCE_CM_EV_DISCONNECTED), 0);
		cr_expect_eq(h->sent[ATTR(CM_ATTR_DREQ)], 6, "at 0, 0.2, 0.6, 1.4, 3.0 and 6.2 s");
		cm_net_run(net, MS(1));
		cr_expect(cm_net_only_event(h, ROCE_CM_EV_DISCONNECTED)->timed_out);
		cm_net_free(net);
	}
}

/* checks W-CM-62[9]: a host that slept for a minute must not take its own absence for the peer's.
 */
Test(cm_retry, late_ticks_are_no_reason_to_give_up)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];

	a->drop[ATTR(CM_ATTR_REQ)] = 1;
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, 0);
	net->now_ns += MS(60000);
	cm_net_run(net, MS(1000));
	cr_expect_eq(cm_net_events(a, ROCE_CM_EV_UNREACHABLE), 0);
	cr_expect_eq(cm_net_events(a, ROCE_CM_EV_REPLY), 1);
	cm_net_free(net);
}

/*
 * checks W-CM-60[3]: a first interval of the configuration that is longer than the longest is
 * kept; those after it are not longer.
 */
Test(cm_retry, a_long_first_interval_is_followed_by_short_ones)
{
	static const unsigned at_ms[] = {0, 5000, 9608, 14216};
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];

	a->cfg.req_first_retry_ns = MS(5000);
	cm_net_restart(net, CM_NET_A);
	a->drop[ATTR(CM_ATTR_REQ)] = 1000;
	cm_net_connect(net, NULL, 0);
	for (unsigned i = 0; i < sizeof(at_ms) / sizeof(at_ms[0]); i++) {
		cm_net_run(net, MS(at_ms[i]) - net->now_ns);
		cr_expect_eq(a->last_sent_ns[ATTR(CM_ATTR_REQ)], MS(at_ms[i]));
	}
	cm_net_free(net);
}

/*
 * checks W-CM-50[1,2,6]: both codes of the wait as Linux rounds them, and 24 for what is above
 * 24.
 */
Test(cm_retry, w_cm_50_how_long_an_mra_makes_us_wait)
{
	static const struct {
		uint8_t service, ack;
		uint64_t wait_ms;
	} cases[] = {{8, 17, 1 + 512}, {9, 17, 2 + 512}, {0, 17, 1 + 512}, {14, 17, 64 + 512},
		{20, 17, 4096 + 512}, {20, 20, 4096 + 4096}, {24, 17, 65536 + 512},
		{25, 17, 65536 + 512}, {31, 17, 65536 + 512}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_net_host *a = &net->host[CM_NET_A];
		struct roce_cm_connect c = cm_net_connect_params(net);
		struct cm_mad m = {.attr = CM_ATTR_MRA, .which = CM_WHICH_REQ, .local_id = 9};

		c.ack_timeout = cases[i].ack;
		cr_assert_not_null(roce_cm_connect(a->cm, 0, &c));
		a->drop[ATTR(CM_ATTR_REQ)] = 100;
		cm_net_run(net, MS(1500));
		cr_assert_eq(a->sent[ATTR(CM_ATTR_REQ)], 4);
		m.remote_id = a->last[ATTR(CM_ATTR_REQ)].local_id;
		m.service_timeout = cases[i].service;
		cm_net_inject(net, CM_NET_P, &m);
		cr_expect_eq(roce_cm_next_deadline(a->cm), MS(1500 + cases[i].wait_ms),
			"service timeout %u, ACK timeout %u", cases[i].service, cases[i].ack);
		/* The retries that were used up count no more. */
		cm_net_run(net, MS(cases[i].wait_ms) + MS(73720));
		cr_expect_eq(a->sent[ATTR(CM_ATTR_REQ)], 4 + 15);
		cr_expect_eq(a->n_log, 0);
		cm_net_free(net);
	}
}

/* An MRA of what was not sent is counted and changes nothing: of a REP by the passive side, of
 * neither REQ nor REP, and one for a connection that is up. */
Test(cm_retry, an_mra_of_anything_else_is_dropped)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	const struct roce_cm_counters *n = roce_cm_counters(a->cm);
	struct cm_mad m = {.attr = CM_ATTR_MRA, .local_id = 9, .service_timeout = 24};
	uint64_t deadline;

	cm_net_connect(net, NULL, 0);
	m.remote_id = a->conn->local_id;
	m.which = CM_WHICH_REP;
	cm_net_inject(net, CM_NET_P, &m);
	m.which = CM_WHICH_OTHER;
	cm_net_inject(net, CM_NET_P, &m);
	cr_expect_eq(n->rx_dropped, 2);
	cr_expect_eq(roce_cm_next_deadline(a->cm), MS(200));
	cm_net_run(net, MS(10));
	cm_net_only_event(a, ROCE_CM_EV_REPLY);
	m.local_id = a->conn->remote_id;
	for (m.which = CM_WHICH_REQ; m.which <= CM_WHICH_OTHER; m.which++)
		cm_net_inject(net, CM_NET_P, &m);
	cr_expect_eq(n->rx_dropped, 2 + 3);
	cr_expect_eq(roce_cm_next_deadline(a->cm), UINT64_MAX);
	/* Of the passive side, whose REP has no answer yet: an MRA that is of no REP. */
	p->hold_requests = a->hold_replies = true;
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(10));
	cm_net_accept(net, p->conn, NULL, 0);
	deadline = roce_cm_next_deadline(p->cm);
	m.local_id = p->conn->remote_id;
	m.remote_id = p->conn->local_id;
	m.which = CM_WHICH_OTHER;
	cm_net_inject(net, CM_NET_A, &m);
	cr_expect_eq(p->conn->state, CM_REP_SENT);
	cr_expect_eq(roce_cm_next_deadline(p->cm), deadline);
	cm_net_free(net);
}

/* checks W-CM-62[9]: on either side of the time to give up, and of the three copies before it. A
 * wait that has an end ends there, and one that is past it lasts its full length. */
Test(cm_retry, w_cm_62_when_a_message_is_given_up)
{
	static const uint64_t end = MS(74000);
	static const struct {
		uint8_t most, sent;
		uint64_t now;
		bool again, copy;
		uint64_t next; /* deadline */
	} rows[] = {
		{15, 5, end - MS(400) - 1, true, true, end - 1},
		{15, 5, end - MS(400), true, true, end},
		{15, 5, end - MS(400) + 1, true, true, end},
		{15, 5, end - 1, true, true, end},
		{15, 15, end - 1, true, false, end},
		{15, 15, end, false, false, 0},
		{15, 3, end, false, false, 0},
		{15, 2, end, true, true, end + MS(400)},
		{15, 0, end + MS(9999), true, true, end + MS(9999 + 400)},
		{2, 2, end, false, false, 0},
		{2, 1, end, true, true, end + MS(400)},
		{0, 0, end, false, false, 0},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cm_at_bench b = cm_at_bring(A_REQ_SENT);

		b.conn->max_retries = rows[i].most;
		b.conn->retries = rows[i].sent;
		b.conn->retry_ns = MS(200);
		b.conn->give_up_ns = end;
		cr_expect_eq(
			cm_retry(b.cm, rows[i].now, b.conn, CM_TX_REQ), rows[i].again, "row %u", i);
		cr_expect_eq(cm_net_next_attr(b.cm), rows[i].copy ? CM_ATTR_REQ : 0, "row %u", i);
		cr_expect_eq(b.conn->retries, rows[i].sent + rows[i].copy, "row %u", i);
		cr_expect_eq(roce_cm_counters(b.cm)->timeouts, !rows[i].again, "row %u", i);
		if (rows[i].again)
			cr_expect_eq(roce_cm_next_deadline(b.cm), rows[i].next, "row %u", i);
		cm_net_free(b.net);
	}
}

/* checks W-CM-62[3,4,7]: how long a peer may be silent, with another least wait than 10 s in the
 * configuration: the RTU's sender has at least that, and a DREP that; an MRA changes neither. */
Test(cm_retry, w_cm_62_the_least_wait_of_the_configuration)
{
	static const enum cm_at at[] = {P_REP_SENT, P_MRA_REP_RCVD};
	struct roce_cm_cfg cfg = {
		.max_active = 1, .max_listeners = 1, .max_retries = 15, .give_up_ns = MS(3000)};
	struct cm_net *net = cm_net_new(false);

	net->host[CM_NET_A].cfg.give_up_ns = MS(3000);
	cm_net_restart(net, CM_NET_A);
	cr_expect_eq(net->host[CM_NET_A].cm->cfg.give_up_ns, cfg.give_up_ns);
	cm_net_free(net);
	for (unsigned i = 0; i < 2; i++) {
		struct cm_at_bench b = cm_at_bring(at[i]);
		const uint64_t asked = MS(6 * 2048);

		b.conn->max_retries = 5;
		b.conn->resp_timeout = 19;
		b.cm->cfg.give_up_ns = asked - 1;
		cr_expect_eq(cm_retry_patience_ns(b.cm, b.conn), asked, "%s", cm_at_names[at[i]]);
		b.cm->cfg.give_up_ns = asked + 1;
		cr_expect_eq(
			cm_retry_patience_ns(b.cm, b.conn), asked + 1, "%s", cm_at_names[at[i]]);
		b.conn->state = CM_DREQ_SENT;
		cr_expect_eq(
			cm_retry_patience_ns(b.cm, b.conn), asked + 1, "%s", cm_at_names[at[i]]);
		cm_net_free(b.net);
	}
}
