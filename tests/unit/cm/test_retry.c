/* SPDX-License-Identifier: BSD-3-Clause */
/* Retransmission, and the patience that an MRA asks for. */
#include <criterion/criterion.h>

#include "rigs/cm_net.h"

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
