/* SPDX-License-Identifier: BSD-3-Clause */
/* What waits to be sent: one copy of each message. */
#include <criterion/criterion.h>

#include "rigs/cm_net.h"
#include "cm/conn.h"
#include "cm/outbox.h"

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

/* A host that takes nothing for a while finds one copy, not all retransmissions (W-CM-60). */
Test(cm_outbox, w_cm_60_copies_that_wait_are_one)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];

	cm_net_connect(net, NULL, 0);
	for (uint64_t now = 0; now < MS(5000); now += MS(100))
		roce_cm_tick(a->cm, now);
	cr_assert_geq(roce_cm_counters(a->cm)->tx_retries, 3);
	cr_assert_eq(next_attr(a->cm), CM_ATTR_REQ);
	cr_assert_eq(next_attr(a->cm), 0);
	cr_assert_eq(roce_cm_counters(a->cm)->tx_mads, 1);
	cm_net_free(net);
}

/* A message that makes no sense in a new state is withdrawn: here the REQ of an attempt given
 * up. */
Test(cm_outbox, w_cm_49_a_req_given_up_leaves_no_more)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];

	cm_net_connect(net, NULL, 0);
	roce_cm_destroy(a->cm, 0, a->conn);
	cr_assert_eq(next_attr(a->cm), CM_ATTR_REJ);
	cr_assert_eq(next_attr(a->cm), 0);
	cm_net_free(net);
}
