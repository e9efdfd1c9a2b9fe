/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections over both sides, and a network that loses, doubles and delays: no file of lib/cm
 * alone. */
#include <criterion/criterion.h>

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

/* Each message that a connection needs, and the host that sends it. */
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

/* checks W-CM-03[2] */
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

/* checks W-CM-03[2] */
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
