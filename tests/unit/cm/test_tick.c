/* SPDX-License-Identifier: BSD-3-Clause */
/* What a deadline does, by the state in which it finds the connection. */
#include <criterion/criterion.h>

#include "rigs/cm_net.h"

/* W-CM-50: proactively after a second, before the peer has a reason to ask. */
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

/* checks R-DISC-04 */
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

	a->cfg.max_conns = N;
	cm_net_restart(net, CM_NET_A);
	for (unsigned i = 0; i < N; i++) {
		c.qp.qpn = 2 + i;
		cr_assert_not_null(roce_cm_connect(a->cm, MS(i * 7919 % 1000), &c));
	}
	cr_assert_null(roce_cm_connect(a->cm, 0, &c), "no more room");
	for (uint64_t now = 0; now <= MS(25000); now += MS(50)) {
		roce_cm_tick(a->cm, now);
		cr_assert_gt(roce_cm_next_deadline(a->cm), now);
		while (roce_cm_tx(a->cm, &tx)) {
			cr_assert_eq(cm_mad_decode(&m, tx.mad), CM_DECODE_OK);
			reqs += m.attr == CM_ATTR_REQ;
			rejs += m.attr == CM_ATTR_REJ;
		}
		while (roce_cm_event(a->cm, &ev)) {
			cr_assert_eq(ev.type, ROCE_CM_EV_UNREACHABLE);
			cr_assert(now >= MS(10000) && now <= MS(11100));
			roce_cm_destroy(a->cm, now, ev.conn);
			unreachable++;
		}
	}
	cr_expect_eq(reqs, 6 * N);
	cr_expect_eq(rejs, N);
	cr_expect_eq(unreachable, N);
	roce_cm_usage(a->cm, &u);
	cr_expect_eq(u.conns, 0);
	cm_net_free(net);
}
