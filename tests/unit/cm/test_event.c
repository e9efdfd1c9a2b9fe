/* SPDX-License-Identifier: BSD-3-Clause */
/* Events for the host: their order, and those that are withdrawn. */
#include <criterion/criterion.h>

#include "rigs/cm_net.h"

/* A request that ended before the host saw it is none. */
Test(cm_event, request_withdrawn_before_the_host_looked)
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
