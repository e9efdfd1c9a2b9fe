/* SPDX-License-Identifier: BSD-3-Clause */
/* REJ, sent and received: what it says, and for how long it is held. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/cm_net.h"

Test(cm_reject, r_conn_04_reject_with_private_data)
{
	static const uint32_t sizes[] = {0, 1, ROCE_CM_REJ_PRIV};
	uint8_t data[ROCE_CM_REJ_PRIV];

	memset(data, 0x5a, sizeof(data));
	for (unsigned i = 0; i < 3; i++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
		const struct roce_cm_event *ev;

		p->hold_requests = true;
		cm_net_connect(net, NULL, 0);
		cm_net_run(net, MS(10));
		cr_assert(roce_cm_reject(p->cm, net->now_ns, p->conn, 28, data, sizes[i]));
		roce_cm_destroy(p->cm, net->now_ns, p->conn);
		cm_net_settle(net);
		ev = cm_net_only_event(a, ROCE_CM_EV_REJECTED);
		cr_expect_eq(ev->reason, 28);
		cr_expect_eq(ev->priv_bytes, ROCE_CM_REJ_PRIV);
		cr_expect_arr_eq(ev->priv, data, sizes[i]);
		cr_expect_eq(p->n_log, 1, "no event follows a reject");
		cm_net_assert_empty(net);
		cm_net_free(net);
	}
}

/* checks W-CM-32 */
Test(cm_reject, t_cm_7_mtu_that_the_port_has_not)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

	p->hold_requests = true;
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(10));
	cr_assert(roce_cm_reject_mtu(p->cm, net->now_ns, p->conn, 2));
	roce_cm_destroy(p->cm, net->now_ns, p->conn);
	cm_net_settle(net);
	cr_expect_eq(cm_net_only_event(a, ROCE_CM_EV_REJECTED)->reason, 26);
	cr_expect_eq(p->last[ATTR(CM_ATTR_REJ)].ari_bytes, 1);
	cr_expect_eq(p->last[ATTR(CM_ATTR_REJ)].ari[0], 0x20, "W-CM-32");
	cm_net_assert_empty(net);
	cm_net_free(net);
}

/* A REJ that is lost: the repeated REQ is no new request, and gets the same REJ. */
Test(cm_reject, lost_rej_is_repeated)
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
Test(cm_reject, each_repeated_rej_renews_the_memory)
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
Test(cm_reject, r_conn_12_reject_after_reply)
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

/* Refused peers may fill a part of the table only. */
Test(cm_reject, held_refusals_are_bounded)
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
