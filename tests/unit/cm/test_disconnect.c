/* SPDX-License-Identifier: BSD-3-Clause */
/* DREQ and DREP, and connections that turn out to be stale. */
#include <criterion/criterion.h>

#include "rigs/cm_net.h"

Test(cm_disconnect, dreq_overtakes_rtu)
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

/* checks W-CM-47, W-CM-53 */
Test(cm_disconnect, t_cm_5_stale_connection)
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
