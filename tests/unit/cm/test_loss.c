/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections over a network that loses, doubles and delays. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/cm_net.h"

/* Connect, disconnect from one side or both, and see that both sides had a whole life. */
static void
whole_life(struct cm_net *net, bool a_ends, bool p_ends)
{
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

	cm_net_connect(net, "x", 1);
	cm_net_run(net, MS(9000));
	cr_assert_eq(cm_net_events(p, ROCE_CM_EV_REQUEST), 1);
	cr_assert_eq(cm_net_events(a, ROCE_CM_EV_REPLY), 1);
	cr_assert_eq(cm_net_events(p, ROCE_CM_EV_ESTABLISHED), 1);
	if (a_ends)
		roce_cm_disconnect(a->cm, net->now_ns, a->conn);
	if (p_ends)
		roce_cm_disconnect(p->cm, net->now_ns, p->conn);
	cm_net_settle(net);
	cr_assert_eq(cm_net_events(a, ROCE_CM_EV_DISCONNECTED), 1);
	cr_assert_eq(cm_net_events(p, ROCE_CM_EV_DISCONNECTED), 1);
	cr_assert_eq(a->n_log, 2);
	cr_assert_eq(p->n_log, 3);
	cm_net_assert_empty(net);
}

/* Each message that a connection needs, and who sends it. */
static const struct {
	unsigned host;
	uint32_t attr;
	const char *name;
} messages[] = {
	{CM_NET_A, CM_ATTR_REQ, "REQ"},
	{CM_NET_P, CM_ATTR_REP, "REP"},
	{CM_NET_A, CM_ATTR_RTU, "RTU"},
	{CM_NET_A, CM_ATTR_DREQ, "DREQ"},
	{CM_NET_P, CM_ATTR_DREP, "DREP"},
};
#define MESSAGES (sizeof(messages) / sizeof(messages[0]))

/* checks W-CM-03 */
Test(cm_loss, t_cm_2_first_n_copies_of_each_message_lost)
{
	for (unsigned i = 0; i < MESSAGES; i++) {
		for (unsigned n = 0; n <= 4; n++) {
			struct cm_net *net = cm_net_new(n % 2 == 1);
			struct cm_net_host *h = &net->host[messages[i].host];

			h->drop[ATTR(messages[i].attr)] = n;
			whole_life(net, true, false);
			cr_expect_eq(h->sent[ATTR(messages[i].attr)], n + 1, "%s, %u lost: %u sent",
				messages[i].name, n, h->sent[ATTR(messages[i].attr)]);
			cm_net_free(net);
		}
	}
}

Test(cm_loss, t_cm_3_each_message_doubled)
{
	for (unsigned i = 0; i < MESSAGES; i++) {
		struct cm_net *net = cm_net_new(false);

		net->host[messages[i].host].duplicate[ATTR(messages[i].attr)] = 5;
		whole_life(net, true, false);
		cm_net_free(net);
	}
}

/* A first copy that arrives when its retransmissions, and what followed from them, are long
 * through. */
Test(cm_loss, t_cm_3_each_message_late)
{
	static const unsigned delays_ms[] = {3, 150, 250, 700, 2500};

	for (unsigned i = 0; i < MESSAGES; i++) {
		for (unsigned d = 0; d < sizeof(delays_ms) / sizeof(delays_ms[0]); d++) {
			struct cm_net *net = cm_net_new(false);

			net->host[messages[i].host].delay_ns[ATTR(messages[i].attr)] =
				MS(delays_ms[d]);
			whole_life(net, true, false);
			cm_net_free(net);
		}
	}
}

Test(cm_loss, simultaneous_disconnect)
{
	static const uint32_t lost[] = {0, CM_ATTR_DREQ, CM_ATTR_DREP};

	for (unsigned i = 0; i < 9; i++) {
		struct cm_net *net = cm_net_new(false);

		if (lost[i / 3] != 0)
			net->host[CM_NET_A].drop[ATTR(lost[i / 3])] = 2;
		if (lost[i % 3] != 0)
			net->host[CM_NET_P].drop[ATTR(lost[i % 3])] = 2;
		whole_life(net, true, true);
		cm_net_free(net);
	}
}

Test(cm_loss, dreq_overtakes_rtu)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

	a->delay_ns[ATTR(CM_ATTR_RTU)] = MS(50);
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(5));
	roce_cm_disconnect(a->cm, net->now_ns, a->conn);
	cm_net_settle(net);
	cr_assert_eq(p->n_log, 3);
	cr_expect_eq(p->log[1].type, ROCE_CM_EV_ESTABLISHED);
	cr_expect_eq(p->log[2].type, ROCE_CM_EV_DISCONNECTED);
	cm_net_assert_empty(net);
	cm_net_free(net);
}

/* A REJ that is lost: the repeated REQ is no new request, and gets the same REJ. */
Test(cm_loss, lost_rej_is_repeated)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

	p->reject_reason = 28;
	p->drop[ATTR(CM_ATTR_REJ)] = 3;
	cm_net_connect(net, NULL, 0);
	cm_net_settle(net);
	cr_assert_eq(cm_net_events(p, ROCE_CM_EV_REQUEST), 1);
	cr_assert_eq(cm_net_events(a, ROCE_CM_EV_REJECTED), 1);
	cr_expect_arr_eq(cm_net_event(a, ROCE_CM_EV_REJECTED, 0)->priv, "no", 2);
	cm_net_assert_empty(net);
	cm_net_free(net);
}

/* However long the peer asks, as Linux may for 74 s. */
Test(cm_loss, each_repeated_rej_renews_the_memory)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

	a->cfg.give_up_ns = MS(60000);
	cm_net_restart(net, CM_NET_A);
	p->reject_reason = 28;
	p->drop[ATTR(CM_ATTR_REJ)] = 12;
	cm_net_connect(net, NULL, 0);
	cm_net_settle(net);
	cr_expect_eq(cm_net_events(p, ROCE_CM_EV_REQUEST), 1);
	cr_expect_eq(cm_net_events(a, ROCE_CM_EV_REJECTED), 1);
	cm_net_assert_empty(net);
	cm_net_free(net);
}

/* R-CONN-12: the active side refuses the REP, and its REJ is lost. */
Test(cm_loss, r_conn_12_reject_after_reply)
{
	for (unsigned lost = 0; lost < 4; lost++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

		a->hold_replies = true;
		a->drop[ATTR(CM_ATTR_REJ)] = lost;
		cm_net_connect(net, NULL, 0);
		cm_net_run(net, MS(10));
		cr_assert(roce_cm_reject(a->cm, net->now_ns, a->conn, 28, "bye", 4));
		roce_cm_destroy(a->cm, net->now_ns, a->conn);
		cm_net_settle(net);
		cr_assert_eq(cm_net_events(p, ROCE_CM_EV_REJECTED), 1);
		cr_expect_arr_eq(cm_net_event(p, ROCE_CM_EV_REJECTED, 0)->priv, "bye", 4);
		cr_expect_eq(p->last[ATTR(CM_ATTR_REJ)].attr, 0, "it does not answer a REJ");
		cm_net_assert_empty(net);
		cm_net_free(net);
	}
}

/* The host goes away while its REQ is on the way; whatever is lost, the peer learns it. */
Test(cm_loss, r_conn_14_active_vanishes)
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
			/* It accepts what nobody waits for any more, and is told. */
			cm_net_accept(net, p->conn, NULL, 0);
		}
		cm_net_settle(net);
		cr_assert_eq(cm_net_events(p, ROCE_CM_EV_REJECTED), 1);
		cr_expect_eq(cm_net_event(p, ROCE_CM_EV_REJECTED, 0)->reason, 4);
		cm_net_assert_empty(net);
		cm_net_free(net);
	}
}

/* A request that ended before the host saw it is none. */
Test(cm_loss, request_withdrawn_before_the_host_looked)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	struct roce_cm_event ev;

	cm_net_connect(net, NULL, 0);
	a->drop[ATTR(CM_ATTR_REQ)] = a->drop[ATTR(CM_ATTR_REJ)] = 1;
	cm_net_run(net, 0);
	cm_net_inject(net, CM_NET_A, &a->last[ATTR(CM_ATTR_REQ)]);
	roce_cm_destroy(a->cm, net->now_ns, a->conn);
	{
		struct roce_cm_tx tx;
		struct cm_mad rej;

		cr_assert(roce_cm_tx(a->cm, &tx));
		cr_assert_eq(cm_mad_decode(&rej, tx.mad), CM_DECODE_OK);
		cm_net_inject(net, CM_NET_A, &rej);
	}
	cr_expect_not(roce_cm_event(p->cm, &ev));
	cm_net_settle(net);
	cm_net_assert_empty(net);
	cm_net_free(net);
}
