/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections of slow hosts, dead hosts and those that start anew. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/cm_net.h"

/* ---- slow and dead ---- */

Test(cm_dead, r_conn_06_slow_accept)
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

Test(cm_dead, r_conn_06_slow_complete)
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

/* W-CM-50: proactively after a second, before the peer has a reason to ask. */
Test(cm_dead, w_cm_50_mra_after_a_second)
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

/* A peer that asked for patience and then died: patience ends, and the retries begin anew. */
Test(cm_dead, w_cm_50_dead_after_mra)
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

Test(cm_dead, w_cm_60_unreachable_after_ten_seconds)
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

Test(cm_dead, w_cm_60_retries_are_bounded_by_number_too)
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

Test(cm_dead, w_cm_61_passive_unreachable)
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

/* A host that slept for a minute must not take its own absence for the peer's. */
Test(cm_dead, late_ticks_are_no_reason_to_give_up)
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

/* checks R-DISC-04 */
Test(cm_dead, w_cm_46_disconnect_from_a_dead_peer)
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

/* ---- ghosts, stale connections, restarts ---- */

Test(cm_dead, w_cm_42_late_req_is_no_ghost)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	struct cm_mad req;

	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(10));
	req = a->last[ATTR(CM_ATTR_REQ)];
	roce_cm_disconnect(a->cm, net->now_ns, a->conn);
	cm_net_run(net, MS(10));
	cm_net_inject(net, CM_NET_A, &req);
	cm_net_run(net, MS(10));
	cr_expect_eq(p->sent[ATTR(CM_ATTR_REJ)], 1);
	cr_expect_eq(p->last[ATTR(CM_ATTR_REJ)].reason, 10);
	cm_net_settle(net);
	cr_expect_eq(cm_net_events(p, ROCE_CM_EV_REQUEST), 1);
	cm_net_assert_empty(net);
	cm_net_free(net);
}

Test(cm_dead, w_cm_52_time_wait)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];
	struct roce_cm_usage u;

	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(10));
	cr_expect(roce_cm_qpn_resting(a->cm, 0x1000));
	cr_expect_not(roce_cm_qpn_resting(a->cm, 0x1001));
	roce_cm_disconnect(a->cm, net->now_ns, a->conn);
	cm_net_run(net, MS(500)); /* ACK timeout 17: 512 ms */
	roce_cm_usage(a->cm, &u);
	cr_expect_eq(u.timewait, 1);
	cr_expect_eq(u.conns, 1);
	cr_expect(roce_cm_qpn_resting(a->cm, 0x1000));
	cm_net_run(net, MS(20));
	cr_expect_not(roce_cm_qpn_resting(a->cm, 0x1000));
	cm_net_assert_empty(net);
	cm_net_free(net);
}

/* checks W-CM-47, W-CM-53 */
Test(cm_dead, t_cm_5_stale_connection)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(10));
	cm_net_restart(net, CM_NET_A); /* and the same QPN again */
	a->qpn = 0x1000;
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(100));
	cr_assert_eq(cm_net_events(a, ROCE_CM_EV_REJECTED), 1);
	cr_expect_eq(cm_net_event(a, ROCE_CM_EV_REJECTED, 0)->reason, 10);
	cr_assert_eq(cm_net_events(p, ROCE_CM_EV_DISCONNECTED), 1, "the old one, by DREQ and DREP");
	cr_expect(cm_net_event(p, ROCE_CM_EV_DISCONNECTED, 0)->by_peer, "not by our host's wish");
	cr_expect_eq(a->sent[ATTR(CM_ATTR_DREP)], 1);
	cr_expect(roce_cm_qpn_resting(a->cm, 0x1000), "W-CM-47");
	/* Another QPN, at once (W-CM-53). */
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(100));
	cr_expect_eq(cm_net_events(p, ROCE_CM_EV_ESTABLISHED), 2);
	cm_net_free(net);
}

/* checks W-CM-53 */
Test(cm_dead, t_cm_6_restart_and_reconnect)
{
	for (unsigned who = 0; who < 2; who++) {
		struct cm_net *net = cm_net_new(true);
		struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

		cm_net_connect(net, NULL, 0);
		cm_net_run(net, MS(10));
		cm_net_restart(net, who);
		cm_net_connect(net, NULL, 0);
		cm_net_run(net, MS(100));
		cr_assert_eq(cm_net_events(p, ROCE_CM_EV_ESTABLISHED), 2);
		roce_cm_disconnect(a->cm, net->now_ns, a->conn);
		/* The survivor's half of the old connection ends with a DREP from who forgot it. */
		if (who == CM_NET_A)
			roce_cm_disconnect(
				p->cm, net->now_ns, cm_net_event(p, ROCE_CM_EV_REQUEST, 0)->conn);
		else
			roce_cm_disconnect(
				a->cm, net->now_ns, cm_net_event(a, ROCE_CM_EV_REPLY, 0)->conn);
		cm_net_settle(net);
		cr_expect_eq(cm_net_events(&net->host[!who], ROCE_CM_EV_DISCONNECTED), 2);
		cm_net_assert_empty(net);
		cm_net_free(net);
	}
}

/* W-CM-43: the REP names a QPN of the peer that another connection of ours still has. */
Test(cm_dead, w_cm_43_stale_rep)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(10));
	cm_net_restart(net, CM_NET_P);
	p->qpn = 0x2000;
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(1000));
	cr_expect_eq(cm_net_events(a, ROCE_CM_EV_REJECTED), 1);
	cr_expect_eq(cm_net_event(a, ROCE_CM_EV_REJECTED, 0)->reason, 10);
	cr_expect_eq(cm_net_events(a, ROCE_CM_EV_DISCONNECTED), 1);
	cr_expect_eq(cm_net_events(p, ROCE_CM_EV_REJECTED), 1);
	cr_expect_eq(a->last[ATTR(CM_ATTR_REJ)].which, CM_WHICH_REP);
	cm_net_settle(net);
	cm_net_assert_empty(net);
	cm_net_free(net);
}

/* checks R-CONN-13, W-CM-61 */
Test(cm_dead, t_cm_9_first_data_stands_for_rtu)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

	a->drop[ATTR(CM_ATTR_RTU)] = 1;
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(10));
	cr_expect_eq(cm_net_events(p, ROCE_CM_EV_ESTABLISHED), 0);
	roce_cm_established(p->cm, net->now_ns, p->conn);
	cm_net_run(net, MS(5000));
	cr_expect_eq(cm_net_events(p, ROCE_CM_EV_ESTABLISHED), 1);
	cr_expect_eq(p->sent[ATTR(CM_ATTR_REP)], 1, "no more REPs");
	cm_net_free(net);
}

/* Refused peers may fill a part of the table only. */
Test(cm_dead, held_refusals_are_bounded)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *p = &net->host[CM_NET_P];
	struct roce_cm_usage u;

	p->reject_reason = 28;
	for (unsigned i = 0; i < 60; i++) {
		cm_net_connect(net, NULL, 0);
		cm_net_run(net, MS(5));
	}
	cm_net_run(net, MS(1000));
	roce_cm_usage(p->cm, &u);
	cr_expect_eq(u.conns, 16);
	cm_net_settle(net);
	cm_net_assert_empty(net);
	cm_net_free(net);
}

/* A table of thousands: every timer fires, in its turn, and every connection comes back. */
Test(cm_dead, w_cm_60_four_thousand_dead_peers)
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
