/* SPDX-License-Identifier: BSD-3-Clause */
/* Retransmission, and the patience that an MRA asks for. */
#include <criterion/criterion.h>

#include "rigs/cm_net.h"
#include "cm/conn.h"

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

/* A peer that asked for patience and then died: patience ends, and the retries begin anew. */
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
	cr_expect_eq(a->sent[ATTR(CM_ATTR_REQ)], sent + 5, "0, 0.4, 1.2, 2.8 and 6 s after");
	cr_expect_eq(cm_net_events(a, ROCE_CM_EV_UNREACHABLE), 1);
	cm_net_free(net);
}

Test(cm_retry, w_cm_60_unreachable_after_ten_seconds)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];

	a->drop[ATTR(CM_ATTR_REQ)] = 1000;
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(9990));
	cr_expect_eq(a->sent[ATTR(CM_ATTR_REQ)], 6, "at 0, 0.2, 0.6, 1.4, 3.0 and 6.2 s");
	cr_expect_eq(a->last_sent_ns[ATTR(CM_ATTR_REQ)], MS(6200));
	cr_expect_eq(a->n_log, 0);
	cm_net_run(net, MS(20));
	cr_expect_eq(cm_net_events(a, ROCE_CM_EV_UNREACHABLE), 1);
	cr_expect_eq(a->last[ATTR(CM_ATTR_REJ)].reason, 4, "W-CM-49");
	cm_net_settle(net);
	cm_net_assert_empty(net);
	cm_net_free(net);
}

Test(cm_retry, w_cm_60_retries_are_bounded_by_number_too)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];

	a->cfg.max_retries = 2;
	cm_net_restart(net, CM_NET_A);
	a->drop[ATTR(CM_ATTR_REQ)] = 1000;
	cm_net_connect(net, NULL, 0);
	cm_net_settle(net);
	cr_expect_eq(a->sent[ATTR(CM_ATTR_REQ)], 3);
	cr_expect_eq(cm_net_events(a, ROCE_CM_EV_UNREACHABLE), 1);
	cm_net_free(net);
}

/* A host that slept for a minute must not take its own absence for the peer's. */
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

/* checks W-CM-60: doubling from the first interval on, and at most 4 s apart. */
Test(cm_retry, w_cm_60_intervals_double_up_to_four_seconds)
{
	static const unsigned at_ms[] = {0, 200, 600, 1400, 3000, 6200, 10200, 14200, 18200};
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];

	a->cfg.give_up_ns = MS(60000);
	cm_net_restart(net, CM_NET_A);
	a->drop[ATTR(CM_ATTR_REQ)] = 1000;
	cm_net_connect(net, NULL, 0);
	for (unsigned i = 0; i < sizeof(at_ms) / sizeof(at_ms[0]); i++) {
		cm_net_run(net, MS(at_ms[i]) - net->now_ns);
		cr_expect_eq(a->sent[ATTR(CM_ATTR_REQ)], i + 1, "%u ms", at_ms[i]);
		cr_expect_eq(a->last_sent_ns[ATTR(CM_ATTR_REQ)], MS(at_ms[i]));
	}
	cr_expect_eq(roce_cm_counters(a->cm)->tx_retries, 8);
	cm_net_free(net);
}

/* A first interval of the configuration that is longer than the longest is kept; those after it
 * are not longer. */
Test(cm_retry, a_long_first_interval_is_followed_by_short_ones)
{
	static const unsigned at_ms[] = {0, 5000, 9000, 13000};
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];

	a->cfg.req_first_retry_ns = MS(5000);
	a->cfg.give_up_ns = MS(30000);
	cm_net_restart(net, CM_NET_A);
	a->drop[ATTR(CM_ATTR_REQ)] = 1000;
	cm_net_connect(net, NULL, 0);
	for (unsigned i = 0; i < sizeof(at_ms) / sizeof(at_ms[0]); i++) {
		cm_net_run(net, MS(at_ms[i]) - net->now_ns);
		cr_expect_eq(a->last_sent_ns[ATTR(CM_ATTR_REQ)], MS(at_ms[i]));
	}
	cm_net_free(net);
}

/* checks W-CM-50: both codes of the wait as Linux rounds them, and 24 for what is above 24. */
Test(cm_retry, w_cm_50_how_long_an_mra_makes_us_wait)
{
	static const struct {
		uint8_t service, ack;
		uint64_t wait_ms;
	} cases[] = {{8, 17, 1 + 512}, {0, 17, 1 + 512}, {14, 17, 64 + 512}, {20, 17, 4096 + 512},
		{20, 20, 4096 + 4096}, {24, 17, 65536 + 512}, {25, 17, 65536 + 512},
		{31, 17, 65536 + 512}};

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
		cm_net_run(net, MS(cases[i].wait_ms) + MS(9990));
		cr_expect_eq(a->sent[ATTR(CM_ATTR_REQ)], 4 + 5);
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
