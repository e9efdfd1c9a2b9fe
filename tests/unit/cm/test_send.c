/* SPDX-License-Identifier: BSD-3-Clause */
/* In which order the messages of connections and the answers to strangers leave. */
#include <criterion/criterion.h>

#include "rigs/cm_net.h"

static uint32_t
next_attr(struct roce_cm *cm)
{
	struct roce_cm_tx tx;
	struct cm_mad m;

	if (!roce_cm_tx(cm, &tx))
		return 0;
	cr_assert_eq(cm_mad_decode(&m, tx.mad), CM_DECODE_OK);
	return m.attr;
}

/* An RTU that is still waiting leaves before the DREQ: the peer must learn that it was
 * connected. */
Test(cm_send, rtu_before_dreq)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];

	a->hold_replies = true;
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(10));
	cr_assert(roce_cm_complete(a->cm, net->now_ns, a->conn));
	roce_cm_disconnect(a->cm, net->now_ns, a->conn);
	cr_assert_eq(next_attr(a->cm), CM_ATTR_RTU);
	cr_assert_eq(next_attr(a->cm), CM_ATTR_DREQ);
	cr_assert_eq(next_attr(a->cm), 0);
	cm_net_free(net);
}

/* Answers to strangers leave behind those of connections, oldest first. */
Test(cm_send, connections_before_strangers)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];
	struct cm_mad m = {.attr = CM_ATTR_DREQ, .local_id = 1, .remote_id = 2, .qpn = 5};

	cm_net_inject(net, CM_NET_P, &m);
	cm_net_connect(net, NULL, 0);
	cr_assert_eq(next_attr(a->cm), CM_ATTR_REQ);
	cr_assert_eq(next_attr(a->cm), CM_ATTR_DREP);
	cr_assert_eq(next_attr(a->cm), 0);
	cm_net_free(net);
}
