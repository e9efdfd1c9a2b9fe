/* SPDX-License-Identifier: BSD-3-Clause */
/* What waits to be sent: one copy of each message. */
#include <criterion/criterion.h>

#include "rigs/cm_net.h"
#include "cm/conn.h"
#include "cm/outbox.h"

/* A host that takes nothing for a while finds one copy, not all retransmissions (W-CM-60). */
Test(cm_outbox, w_cm_60_copies_that_wait_are_one)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];

	cm_net_connect(net, NULL, 0);
	for (uint64_t now = 0; now < MS(5000); now += MS(100))
		roce_cm_tick(a->cm, now);
	cr_assert_geq(roce_cm_counters(a->cm)->tx_retries, 3);
	cr_assert_eq(cm_net_next_attr(a->cm), CM_ATTR_REQ);
	cr_assert_eq(cm_net_next_attr(a->cm), 0);
	cr_assert_eq(roce_cm_counters(a->cm)->tx_mads, 1);
	cm_net_free(net);
}

/*
 * checks W-CM-49[1]: a message that makes no sense in a new state is withdrawn: here the REQ of
 * an attempt given up.
 */
Test(cm_outbox, w_cm_49_a_req_given_up_leaves_no_more)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];

	cm_net_connect(net, NULL, 0);
	roce_cm_destroy(a->cm, 0, a->conn);
	cr_assert_eq(cm_net_next_attr(a->cm), CM_ATTR_REJ);
	cr_assert_eq(cm_net_next_attr(a->cm), 0);
	cm_net_free(net);
}

/* Connections leave in the order in which their first message began to wait; one with more to send
 * keeps its place, one whose messages were withdrawn has none. */
Test(cm_outbox, connections_in_the_order_of_their_messages)
{
	struct cm_net *net = cm_net_new(false);
	struct roce_cm *cm = net->host[CM_NET_A].cm;
	struct roce_cm_conn *conns[4];

	for (unsigned i = 0; i < 4; i++) {
		conns[i] = cm_net_connect(net, NULL, 0);
		cm_tx_set(cm, conns[i], 0);
		cr_assert_eq(conns[i]->tx, 0);
	}
	cr_assert_eq(cm_net_next_attr(cm), 0);
	cm_send(cm, conns[2], CM_TX_RTU);
	cm_send(cm, conns[0], CM_TX_MRA);
	cm_send(cm, conns[1], CM_TX_DREP);
	cm_send(cm, conns[3], CM_TX_REJ);
	cm_send(cm, conns[2], CM_TX_REQ);
	cm_tx_set(cm, conns[0], 0);
	cm_send(cm, conns[0], CM_TX_DREQ);
	cm_tx_set(cm, conns[3], CM_TX_REP);
	cr_expect_eq(cm_net_next_attr(cm), CM_ATTR_REQ);
	cr_expect_eq(cm_net_next_attr(cm), CM_ATTR_RTU);
	cr_expect_eq(cm_net_next_attr(cm), CM_ATTR_DREP);
	cr_expect_eq(cm_net_next_attr(cm), CM_ATTR_REP);
	cr_expect_eq(cm_net_next_attr(cm), CM_ATTR_DREQ);
	cr_expect_eq(cm_net_next_attr(cm), 0);
	cm_net_free(net);
}
