/* SPDX-License-Identifier: BSD-3-Clause */
/* In which order the messages of connections and the answers to strangers leave. */
#include <criterion/criterion.h>

#include "rigs/cm_net.h"
#include "cm/conn.h"
#include "cm/outbox.h"

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
	cr_assert_eq(cm_net_next_attr(a->cm), CM_ATTR_RTU);
	cr_assert_eq(cm_net_next_attr(a->cm), CM_ATTR_DREQ);
	cr_assert_eq(cm_net_next_attr(a->cm), 0);
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
	cr_assert_eq(cm_net_next_attr(a->cm), CM_ATTR_REQ);
	cr_assert_eq(cm_net_next_attr(a->cm), CM_ATTR_DREP);
	cr_assert_eq(cm_net_next_attr(a->cm), 0);
	cm_net_free(net);
}

/* Were they all to wait, the messages of a connection leave in this order: what the peer must know
 * first comes first, and answers come before a REJ. */
Test(cm_send, every_message_in_its_order)
{
	static const uint32_t order[] = {CM_ATTR_REQ, CM_ATTR_MRA, CM_ATTR_REP, CM_ATTR_RTU,
		CM_ATTR_DREQ, CM_ATTR_DREP, CM_ATTR_REJ, CM_ATTR_SIDR_REQ};
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];

	cm_send(a->cm, cm_net_connect(net, NULL, 0), 0xff);
	for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		cr_expect_eq(cm_net_next_attr(a->cm), order[i], "place %u", i);
	cr_expect_eq(cm_net_next_attr(a->cm), 0);
	cr_expect_eq(roce_cm_counters(a->cm)->tx_mads, 8);
	cm_net_free(net);
}

/* Where a MAD of a connection goes: between its addresses, by its port, in its class. */
Test(cm_send, the_path_of_a_connection)
{
	struct cm_net *net = cm_net_new(true);
	struct cm_net_host *a = &net->host[CM_NET_A];
	struct roce_cm_connect c = cm_net_connect_params(net);
	struct roce_cm_tx tx;

	c.port = 0x77;
	c.tos = 0x20;
	c.hop_limit = 9;
	cr_assert_not_null(roce_cm_connect(a->cm, 0, &c));
	cr_assert(roce_cm_tx(a->cm, &tx));
	cr_expect(roce_gid_equal(&tx.sgid, &a->gid));
	cr_expect(roce_gid_equal(&tx.dgid, &net->host[CM_NET_P].gid));
	cr_expect_eq(tx.port, 0x77);
	cr_expect_eq(tx.tos, 0x20);
	cr_expect_eq(tx.hop_limit, 9);
	cm_net_free(net);
}

/* There is work until the last MAD, answer and event is taken. A MAD tells whether it is of a
 * connection that began here. */
Test(cm_send, work_is_there_until_it_is_taken)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	const struct cm_mad dreq = {.attr = CM_ATTR_DREQ, .local_id = 1, .remote_id = 1};
	const struct cm_mad req = cm_net_take_req(net);
	struct roce_cm_event ev;
	struct roce_cm_tx tx;

	cr_expect_not(roce_cm_has_work(a->cm));
	cr_assert_not_null(cm_net_connect(net, NULL, 0));
	cr_expect(roce_cm_has_work(a->cm));
	tx.ours = false;
	cr_assert(roce_cm_tx(a->cm, &tx));
	cr_expect(tx.ours);
	cr_expect_not(roce_cm_has_work(a->cm));
	cm_net_inject(net, CM_NET_A, &dreq);
	cr_expect(roce_cm_has_work(p->cm));
	tx.ours = true;
	cr_assert(roce_cm_tx(p->cm, &tx));
	cr_expect_not(tx.ours, "an answer");
	cr_expect_not(roce_cm_has_work(p->cm));
	cm_net_inject(net, CM_NET_A, &req);
	cr_expect(roce_cm_has_work(p->cm));
	cr_assert(roce_cm_event(p->cm, &ev));
	cr_expect_not(roce_cm_has_work(p->cm));
	cm_net_accept(net, ev.conn, NULL, 0);
	tx.ours = true;
	cr_assert(roce_cm_tx(p->cm, &tx));
	cr_expect_not(tx.ours, "of a peer's connection");
	cm_net_free(net);
}
