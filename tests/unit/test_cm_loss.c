/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections over a network that loses, doubles and delays; slow hosts, dead hosts, restarts. */
#include <criterion/criterion.h>
#include <string.h>

#include "cm_net.h"

/* Connect, disconnect from one side or both, and see that both sides had a whole life. */
static void
whole_life(struct net *net, bool a_ends, bool p_ends)
{
	struct net_host *a = &net->host[NET_A], *p = &net->host[NET_P];

	net_connect(net, "x", 1);
	net_run(net, MS(9000));
	cr_assert_eq(net_events(p, ROCE_CM_EV_REQUEST), 1);
	cr_assert_eq(net_events(a, ROCE_CM_EV_REPLY), 1);
	cr_assert_eq(net_events(p, ROCE_CM_EV_ESTABLISHED), 1);
	if (a_ends)
		roce_cm_disconnect(a->cm, net->now_ns, a->conn);
	if (p_ends)
		roce_cm_disconnect(p->cm, net->now_ns, p->conn);
	net_settle(net);
	cr_assert_eq(net_events(a, ROCE_CM_EV_DISCONNECTED), 1);
	cr_assert_eq(net_events(p, ROCE_CM_EV_DISCONNECTED), 1);
	cr_assert_eq(a->n_log, 2);
	cr_assert_eq(p->n_log, 3);
	net_assert_empty(net);
}

/* Each message that a connection needs, and who sends it. */
static const struct {
	unsigned host;
	uint32_t attr;
	const char *name;
} messages[] = {
	{NET_A, CM_ATTR_REQ, "REQ"},
	{NET_P, CM_ATTR_REP, "REP"},
	{NET_A, CM_ATTR_RTU, "RTU"},
	{NET_A, CM_ATTR_DREQ, "DREQ"},
	{NET_P, CM_ATTR_DREP, "DREP"},
};
#define MESSAGES (sizeof(messages) / sizeof(messages[0]))

/* checks W-CM-03 */
Test(cm_loss, t_cm_2_first_n_copies_of_each_message_lost)
{
	for (unsigned i = 0; i < MESSAGES; i++) {
		for (unsigned n = 0; n <= 4; n++) {
			struct net *net = net_new(n % 2 == 1);
			struct net_host *h = &net->host[messages[i].host];

			h->drop[ATTR(messages[i].attr)] = n;
			whole_life(net, true, false);
			cr_expect_eq(h->sent[ATTR(messages[i].attr)], n + 1, "%s, %u lost: %u sent",
				messages[i].name, n, h->sent[ATTR(messages[i].attr)]);
			net_free(net);
		}
	}
}

Test(cm_loss, t_cm_3_each_message_doubled)
{
	for (unsigned i = 0; i < MESSAGES; i++) {
		struct net *net = net_new(false);

		net->host[messages[i].host].duplicate[ATTR(messages[i].attr)] = 5;
		whole_life(net, true, false);
		net_free(net);
	}
}

/* A first copy that arrives when its retransmissions, and what followed from them, are long
 * through. */
Test(cm_loss, t_cm_3_each_message_late)
{
	static const unsigned delays_ms[] = {3, 150, 250, 700, 2500};

	for (unsigned i = 0; i < MESSAGES; i++) {
		for (unsigned d = 0; d < sizeof(delays_ms) / sizeof(delays_ms[0]); d++) {
			struct net *net = net_new(false);

			net->host[messages[i].host].delay_ns[ATTR(messages[i].attr)] =
				MS(delays_ms[d]);
			whole_life(net, true, false);
			net_free(net);
		}
	}
}

Test(cm_loss, simultaneous_disconnect)
{
	static const uint32_t lost[] = {0, CM_ATTR_DREQ, CM_ATTR_DREP};

	for (unsigned i = 0; i < 9; i++) {
		struct net *net = net_new(false);

		if (lost[i / 3] != 0)
			net->host[NET_A].drop[ATTR(lost[i / 3])] = 2;
		if (lost[i % 3] != 0)
			net->host[NET_P].drop[ATTR(lost[i % 3])] = 2;
		whole_life(net, true, true);
		net_free(net);
	}
}

Test(cm_loss, dreq_overtakes_rtu)
{
	struct net *net = net_new(false);
	struct net_host *a = &net->host[NET_A], *p = &net->host[NET_P];

	a->delay_ns[ATTR(CM_ATTR_RTU)] = MS(50);
	net_connect(net, NULL, 0);
	net_run(net, MS(5));
	roce_cm_disconnect(a->cm, net->now_ns, a->conn);
	net_settle(net);
	cr_assert_eq(p->n_log, 3);
	cr_expect_eq(p->log[1].type, ROCE_CM_EV_ESTABLISHED);
	cr_expect_eq(p->log[2].type, ROCE_CM_EV_DISCONNECTED);
	net_assert_empty(net);
	net_free(net);
}

/* A REJ that is lost: the repeated REQ is no new request, and gets the same REJ. */
Test(cm_loss, lost_rej_is_repeated)
{
	struct net *net = net_new(false);
	struct net_host *a = &net->host[NET_A], *p = &net->host[NET_P];

	p->reject_reason = 28;
	p->drop[ATTR(CM_ATTR_REJ)] = 3;
	net_connect(net, NULL, 0);
	net_settle(net);
	cr_assert_eq(net_events(p, ROCE_CM_EV_REQUEST), 1);
	cr_assert_eq(net_events(a, ROCE_CM_EV_REJECTED), 1);
	cr_expect_arr_eq(net_event(a, ROCE_CM_EV_REJECTED, 0)->priv, "no", 2);
	net_assert_empty(net);
	net_free(net);
}

/* However long the peer asks, as Linux may for 74 s. */
Test(cm_loss, each_repeated_rej_renews_the_memory)
{
	struct net *net = net_new(false);
	struct net_host *a = &net->host[NET_A], *p = &net->host[NET_P];

	a->cfg.give_up_ns = MS(60000);
	net_restart(net, NET_A);
	p->reject_reason = 28;
	p->drop[ATTR(CM_ATTR_REJ)] = 12;
	net_connect(net, NULL, 0);
	net_settle(net);
	cr_expect_eq(net_events(p, ROCE_CM_EV_REQUEST), 1);
	cr_expect_eq(net_events(a, ROCE_CM_EV_REJECTED), 1);
	net_assert_empty(net);
	net_free(net);
}

/* R-CONN-12: the active side refuses the REP, and its REJ is lost. */
Test(cm_loss, r_conn_12_reject_after_reply)
{
	for (unsigned lost = 0; lost < 4; lost++) {
		struct net *net = net_new(false);
		struct net_host *a = &net->host[NET_A], *p = &net->host[NET_P];

		a->hold_replies = true;
		a->drop[ATTR(CM_ATTR_REJ)] = lost;
		net_connect(net, NULL, 0);
		net_run(net, MS(10));
		cr_assert(roce_cm_reject(a->cm, net->now_ns, a->conn, 28, "bye", 4));
		roce_cm_destroy(a->cm, net->now_ns, a->conn);
		net_settle(net);
		cr_assert_eq(net_events(p, ROCE_CM_EV_REJECTED), 1);
		cr_expect_arr_eq(net_event(p, ROCE_CM_EV_REJECTED, 0)->priv, "bye", 4);
		cr_expect_eq(p->last[ATTR(CM_ATTR_REJ)].attr, 0, "it does not answer a REJ");
		net_assert_empty(net);
		net_free(net);
	}
}

/* The host goes away while its REQ is on the way; whatever is lost, the peer learns it. */
Test(cm_loss, r_conn_14_active_vanishes)
{
	for (unsigned lost = 0; lost < 2; lost++) {
		struct net *net = net_new(false);
		struct net_host *a = &net->host[NET_A], *p = &net->host[NET_P];

		p->hold_requests = true;
		a->drop[ATTR(CM_ATTR_REJ)] = lost;
		net_connect(net, NULL, 0);
		net_run(net, MS(10));
		roce_cm_destroy(a->cm, net->now_ns, a->conn);
		net_run(net, MS(10));
		cr_assert_eq(net_events(p, ROCE_CM_EV_REJECTED), 1 - lost);
		if (lost > 0) {
			/* It accepts what nobody waits for any more, and is told. */
			net_accept(net, p->conn, NULL, 0);
		}
		net_settle(net);
		cr_assert_eq(net_events(p, ROCE_CM_EV_REJECTED), 1);
		cr_expect_eq(net_event(p, ROCE_CM_EV_REJECTED, 0)->reason, 4);
		net_assert_empty(net);
		net_free(net);
	}
}

/* A request that ended before the host saw it is none. */
Test(cm_loss, request_withdrawn_before_the_host_looked)
{
	struct net *net = net_new(false);
	struct net_host *a = &net->host[NET_A], *p = &net->host[NET_P];
	struct roce_cm_event ev;

	net_connect(net, NULL, 0);
	a->drop[ATTR(CM_ATTR_REQ)] = a->drop[ATTR(CM_ATTR_REJ)] = 1;
	net_run(net, 0);
	net_inject(net, NET_A, &a->last[ATTR(CM_ATTR_REQ)]);
	roce_cm_destroy(a->cm, net->now_ns, a->conn);
	{
		struct roce_cm_tx tx;
		struct cm_mad rej;

		cr_assert(roce_cm_tx(a->cm, &tx));
		cr_assert_eq(cm_mad_decode(&rej, tx.mad), CM_DECODE_OK);
		net_inject(net, NET_A, &rej);
	}
	cr_expect_not(roce_cm_event(p->cm, &ev));
	net_settle(net);
	net_assert_empty(net);
	net_free(net);
}

/* ---- slow and dead ---- */

Test(cm_loss, r_conn_06_slow_accept)
{
	static const unsigned waits_s[] = {2, 6, 20, 100, 400};

	for (unsigned i = 0; i < sizeof(waits_s) / sizeof(waits_s[0]); i++) {
		for (unsigned lost = 0; lost < 3; lost++) {
			struct net *net = net_new(false);
			struct net_host *a = &net->host[NET_A], *p = &net->host[NET_P];

			p->hold_requests = true;
			p->drop[ATTR(CM_ATTR_MRA)] = lost;
			net_connect(net, NULL, 0);
			net_run(net, MS(waits_s[i] * 1000));
			cr_assert_eq(net_events(a, ROCE_CM_EV_UNREACHABLE), 0);
			cr_assert_eq(p->n_log, 1);
			net_accept(net, p->conn, NULL, 0);
			net_run(net, MS(100));
			cr_assert_eq(net_events(p, ROCE_CM_EV_ESTABLISHED), 1);
			roce_cm_destroy(a->cm, net->now_ns, a->conn);
			net_settle(net);
			net_assert_empty(net);
			net_free(net);
		}
	}
}

Test(cm_loss, r_conn_06_slow_complete)
{
	static const unsigned waits_s[] = {1, 6, 20, 100, 400};

	for (unsigned i = 0; i < sizeof(waits_s) / sizeof(waits_s[0]); i++) {
		for (unsigned lost = 0; lost < 3; lost++) {
			struct net *net = net_new(false);
			struct net_host *a = &net->host[NET_A], *p = &net->host[NET_P];

			a->hold_replies = true;
			a->drop[ATTR(CM_ATTR_MRA)] = lost;
			net_connect(net, NULL, 0);
			net_run(net, MS(waits_s[i] * 1000));
			cr_assert_eq(net_events(p, ROCE_CM_EV_UNREACHABLE), 0);
			cr_assert(roce_cm_complete(a->cm, net->now_ns, a->conn));
			net_run(net, MS(100));
			cr_assert_eq(net_events(p, ROCE_CM_EV_ESTABLISHED), 1);
			roce_cm_destroy(p->cm, net->now_ns, p->conn);
			net_settle(net);
			net_assert_empty(net);
			net_free(net);
		}
	}
}

/* W-CM-50: proactively after a second, before the peer has a reason to ask. */
Test(cm_loss, w_cm_50_mra_after_a_second)
{
	struct net *net = net_new(false);
	struct net_host *a = &net->host[NET_A], *p = &net->host[NET_P];

	a->cfg.req_first_retry_ns = MS(4000);
	net_restart(net, NET_A);
	p->hold_requests = true;
	net_connect(net, NULL, 0);
	net_run(net, MS(990));
	cr_expect_eq(p->sent[ATTR(CM_ATTR_MRA)], 0);
	net_run(net, MS(20));
	cr_expect_eq(p->sent[ATTR(CM_ATTR_MRA)], 1);
	cr_expect_eq(p->last[ATTR(CM_ATTR_MRA)].service_timeout, 24);
	net_run(net, MS(60000));
	cr_expect_eq(a->sent[ATTR(CM_ATTR_REQ)], 1, "the MRA keeps it quiet");
	net_free(net);
}

/* A peer that asked for patience and then died: patience ends, and the retries begin anew. */
Test(cm_loss, w_cm_50_dead_after_mra)
{
	struct net *net = net_new(false);
	struct net_host *a = &net->host[NET_A], *p = &net->host[NET_P];
	unsigned sent;

	p->hold_requests = true;
	net_connect(net, NULL, 0);
	net_run(net, MS(2000));
	cr_assert_geq(p->sent[ATTR(CM_ATTR_MRA)], 1);
	sent = a->sent[ATTR(CM_ATTR_REQ)];
	a->drop[ATTR(CM_ATTR_REQ)] = 1000;
	net_run(net, MS(60000));
	cr_expect_eq(a->sent[ATTR(CM_ATTR_REQ)], sent);
	cr_expect_eq(a->n_log, 0);
	net_run(net, MS(20000));
	cr_expect_eq(a->sent[ATTR(CM_ATTR_REQ)], sent + 5, "0, 0.4, 1.2, 2.8 and 6 s after");
	cr_expect_eq(net_events(a, ROCE_CM_EV_UNREACHABLE), 1);
	net_free(net);
}

Test(cm_loss, w_cm_60_unreachable_after_ten_seconds)
{
	struct net *net = net_new(false);
	struct net_host *a = &net->host[NET_A];

	a->drop[ATTR(CM_ATTR_REQ)] = 1000;
	net_connect(net, NULL, 0);
	net_run(net, MS(9990));
	cr_expect_eq(a->sent[ATTR(CM_ATTR_REQ)], 6, "at 0, 0.2, 0.6, 1.4, 3.0 and 6.2 s");
	cr_expect_eq(a->last_sent_ns[ATTR(CM_ATTR_REQ)], MS(6200));
	cr_expect_eq(a->n_log, 0);
	net_run(net, MS(20));
	cr_expect_eq(net_events(a, ROCE_CM_EV_UNREACHABLE), 1);
	cr_expect_eq(a->last[ATTR(CM_ATTR_REJ)].reason, 4, "W-CM-49");
	net_settle(net);
	net_assert_empty(net);
	net_free(net);
}

Test(cm_loss, w_cm_60_retries_are_bounded_by_number_too)
{
	struct net *net = net_new(false);
	struct net_host *a = &net->host[NET_A];

	a->cfg.max_retries = 2;
	net_restart(net, NET_A);
	a->drop[ATTR(CM_ATTR_REQ)] = 1000;
	net_connect(net, NULL, 0);
	net_settle(net);
	cr_expect_eq(a->sent[ATTR(CM_ATTR_REQ)], 3);
	cr_expect_eq(net_events(a, ROCE_CM_EV_UNREACHABLE), 1);
	net_free(net);
}

Test(cm_loss, w_cm_61_passive_unreachable)
{
	struct net *net = net_new(false);
	struct net_host *a = &net->host[NET_A], *p = &net->host[NET_P];

	a->drop[ATTR(CM_ATTR_RTU)] = 1000;
	a->drop[ATTR(CM_ATTR_DREP)] = 1000;
	net_connect(net, NULL, 0);
	net_settle(net);
	cr_expect_eq(net_events(p, ROCE_CM_EV_UNREACHABLE), 1);
	cr_expect_eq(net_events(a, ROCE_CM_EV_DISCONNECTED), 1, "the REJ told it");
	net_assert_empty(net);
	net_free(net);
}

/* A host that slept for a minute must not take its own absence for the peer's. */
Test(cm_loss, late_ticks_are_no_reason_to_give_up)
{
	struct net *net = net_new(false);
	struct net_host *a = &net->host[NET_A];

	a->drop[ATTR(CM_ATTR_REQ)] = 1;
	net_connect(net, NULL, 0);
	net_run(net, 0);
	net->now_ns += MS(60000);
	net_run(net, MS(1000));
	cr_expect_eq(net_events(a, ROCE_CM_EV_UNREACHABLE), 0);
	cr_expect_eq(net_events(a, ROCE_CM_EV_REPLY), 1);
	net_free(net);
}

/* checks R-DISC-04 */
Test(cm_loss, w_cm_46_disconnect_from_a_dead_peer)
{
	struct net *net = net_new(false);
	struct net_host *a = &net->host[NET_A], *p = &net->host[NET_P];

	net_connect(net, NULL, 0);
	net_run(net, MS(100));
	a->drop[ATTR(CM_ATTR_DREQ)] = 1000;
	roce_cm_disconnect(a->cm, net->now_ns, a->conn);
	net_settle(net);
	cr_assert_eq(net_events(a, ROCE_CM_EV_DISCONNECTED), 1);
	cr_expect(net_event(a, ROCE_CM_EV_DISCONNECTED, 0)->timed_out);
	cr_expect_eq(net_events(p, ROCE_CM_EV_DISCONNECTED), 0);
	cr_expect_eq(a->sent[ATTR(CM_ATTR_DREQ)], 6);
	net_free(net);
}

/* ---- ghosts, stale connections, restarts ---- */

Test(cm_loss, w_cm_42_late_req_is_no_ghost)
{
	struct net *net = net_new(false);
	struct net_host *a = &net->host[NET_A], *p = &net->host[NET_P];
	struct cm_mad req;

	net_connect(net, NULL, 0);
	net_run(net, MS(10));
	req = a->last[ATTR(CM_ATTR_REQ)];
	roce_cm_disconnect(a->cm, net->now_ns, a->conn);
	net_run(net, MS(10));
	net_inject(net, NET_A, &req);
	net_run(net, MS(10));
	cr_expect_eq(p->sent[ATTR(CM_ATTR_REJ)], 1);
	cr_expect_eq(p->last[ATTR(CM_ATTR_REJ)].reason, 10);
	net_settle(net);
	cr_expect_eq(net_events(p, ROCE_CM_EV_REQUEST), 1);
	net_assert_empty(net);
	net_free(net);
}

Test(cm_loss, w_cm_52_time_wait)
{
	struct net *net = net_new(false);
	struct net_host *a = &net->host[NET_A];
	struct roce_cm_usage u;

	net_connect(net, NULL, 0);
	net_run(net, MS(10));
	cr_expect(roce_cm_qpn_resting(a->cm, 0x1000));
	cr_expect_not(roce_cm_qpn_resting(a->cm, 0x1001));
	roce_cm_disconnect(a->cm, net->now_ns, a->conn);
	net_run(net, MS(500)); /* ACK timeout 17: 512 ms */
	roce_cm_usage(a->cm, &u);
	cr_expect_eq(u.timewait, 1);
	cr_expect_eq(u.conns, 1);
	cr_expect(roce_cm_qpn_resting(a->cm, 0x1000));
	net_run(net, MS(20));
	cr_expect_not(roce_cm_qpn_resting(a->cm, 0x1000));
	net_assert_empty(net);
	net_free(net);
}

/* checks W-CM-47, W-CM-53 */
Test(cm_loss, t_cm_5_stale_connection)
{
	struct net *net = net_new(false);
	struct net_host *a = &net->host[NET_A], *p = &net->host[NET_P];

	net_connect(net, NULL, 0);
	net_run(net, MS(10));
	net_restart(net, NET_A); /* and the same QPN again */
	a->qpn = 0x1000;
	net_connect(net, NULL, 0);
	net_run(net, MS(100));
	cr_assert_eq(net_events(a, ROCE_CM_EV_REJECTED), 1);
	cr_expect_eq(net_event(a, ROCE_CM_EV_REJECTED, 0)->reason, 10);
	cr_assert_eq(net_events(p, ROCE_CM_EV_DISCONNECTED), 1, "the old one, by DREQ and DREP");
	cr_expect(net_event(p, ROCE_CM_EV_DISCONNECTED, 0)->by_peer, "not by our host's wish");
	cr_expect_eq(a->sent[ATTR(CM_ATTR_DREP)], 1);
	cr_expect(roce_cm_qpn_resting(a->cm, 0x1000), "W-CM-47");
	/* Another QPN, at once (W-CM-53). */
	net_connect(net, NULL, 0);
	net_run(net, MS(100));
	cr_expect_eq(net_events(p, ROCE_CM_EV_ESTABLISHED), 2);
	net_free(net);
}

/* checks W-CM-53 */
Test(cm_loss, t_cm_6_restart_and_reconnect)
{
	for (unsigned who = 0; who < 2; who++) {
		struct net *net = net_new(true);
		struct net_host *a = &net->host[NET_A], *p = &net->host[NET_P];

		net_connect(net, NULL, 0);
		net_run(net, MS(10));
		net_restart(net, who);
		net_connect(net, NULL, 0);
		net_run(net, MS(100));
		cr_assert_eq(net_events(p, ROCE_CM_EV_ESTABLISHED), 2);
		roce_cm_disconnect(a->cm, net->now_ns, a->conn);
		/* The survivor's half of the old connection ends with a DREP from who forgot it. */
		if (who == NET_A)
			roce_cm_disconnect(
				p->cm, net->now_ns, net_event(p, ROCE_CM_EV_REQUEST, 0)->conn);
		else
			roce_cm_disconnect(
				a->cm, net->now_ns, net_event(a, ROCE_CM_EV_REPLY, 0)->conn);
		net_settle(net);
		cr_expect_eq(net_events(&net->host[!who], ROCE_CM_EV_DISCONNECTED), 2);
		net_assert_empty(net);
		net_free(net);
	}
}

/* W-CM-43: the REP names a QPN of the peer that another connection of ours still has. */
Test(cm_loss, w_cm_43_stale_rep)
{
	struct net *net = net_new(false);
	struct net_host *a = &net->host[NET_A], *p = &net->host[NET_P];

	net_connect(net, NULL, 0);
	net_run(net, MS(10));
	net_restart(net, NET_P);
	p->qpn = 0x2000;
	net_connect(net, NULL, 0);
	net_run(net, MS(1000));
	cr_expect_eq(net_events(a, ROCE_CM_EV_REJECTED), 1);
	cr_expect_eq(net_event(a, ROCE_CM_EV_REJECTED, 0)->reason, 10);
	cr_expect_eq(net_events(a, ROCE_CM_EV_DISCONNECTED), 1);
	cr_expect_eq(net_events(p, ROCE_CM_EV_REJECTED), 1);
	cr_expect_eq(a->last[ATTR(CM_ATTR_REJ)].which, CM_WHICH_REP);
	net_settle(net);
	net_assert_empty(net);
	net_free(net);
}

/* checks R-CONN-13, W-CM-61 */
Test(cm_loss, t_cm_9_first_data_stands_for_rtu)
{
	struct net *net = net_new(false);
	struct net_host *a = &net->host[NET_A], *p = &net->host[NET_P];

	a->drop[ATTR(CM_ATTR_RTU)] = 1;
	net_connect(net, NULL, 0);
	net_run(net, MS(10));
	cr_expect_eq(net_events(p, ROCE_CM_EV_ESTABLISHED), 0);
	roce_cm_established(p->cm, net->now_ns, p->conn);
	net_run(net, MS(5000));
	cr_expect_eq(net_events(p, ROCE_CM_EV_ESTABLISHED), 1);
	cr_expect_eq(p->sent[ATTR(CM_ATTR_REP)], 1, "no more REPs");
	net_free(net);
}

/* Refused peers may fill a part of the table only. */
Test(cm_loss, held_refusals_are_bounded)
{
	struct net *net = net_new(false);
	struct net_host *p = &net->host[NET_P];
	struct roce_cm_usage u;

	p->reject_reason = 28;
	for (unsigned i = 0; i < 60; i++) {
		net_connect(net, NULL, 0);
		net_run(net, MS(5));
	}
	net_run(net, MS(1000));
	roce_cm_usage(p->cm, &u);
	cr_expect_eq(u.conns, 16);
	net_settle(net);
	net_assert_empty(net);
	net_free(net);
}

/* A table of thousands: every timer fires, in its turn, and every connection comes back. */
Test(cm_loss, w_cm_60_four_thousand_dead_peers)
{
	enum { N = 4096 };
	struct net *net = net_new(false);
	struct net_host *a = &net->host[NET_A];
	struct roce_cm_connect c = net_connect_params(net);
	unsigned reqs = 0, rejs = 0, unreachable = 0;
	struct roce_cm_event ev;
	struct roce_cm_tx tx;
	struct roce_cm_usage u;
	struct cm_mad m;

	a->cfg.max_conns = N;
	net_restart(net, NET_A);
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
	net_free(net);
}
