/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections over both sides, from the first value to the last: no file of lib/cm alone. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/cm_net.h"
#include "rigs/mad_pkt.h"

/* checks W-CM-09[2], W-CM-30[1,2], W-CM-37[1], W-CM-70[2] */
static void
check_values(bool v6)
{
	struct cm_net *net = cm_net_new(v6);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	const struct roce_cm_event *req, *rep;

	cm_net_connect(net, "hello", 6);
	cm_net_run(net, MS(100));
	req = cm_net_only_event(p, ROCE_CM_EV_REQUEST);
	cr_expect_eq(req->owner, net, "the listener's");
	cr_expect(roce_gid_equal(&req->local.gid, &p->gid));
	cr_expect(roce_gid_equal(&req->remote.gid, &a->gid));
	cr_expect_eq(req->local.port, CM_NET_SERVICE);
	cr_expect_eq(req->remote.port, 40000);
	cr_expect_eq(req->port, CM_NET_PORT, "the port that the MAD came in on");
	cr_expect_eq(req->peer.qpn, 0x1000);
	cr_expect_eq(req->peer.psn, 0x123456);
	cr_expect_eq(req->peer.responder_resources, 16);
	cr_expect_eq(req->peer.initiator_depth, 8);
	cr_expect_eq(req->peer.retry_count, 7);
	cr_expect_eq(req->peer.rnr_retry, 6);
	cr_expect_eq(req->mtu_code, 3);
	cr_expect_eq(req->ack_timeout, 17);
	cr_expect_eq(req->tos, 0x68);
	cr_expect_eq(req->hop_limit, 64);
	cr_expect_eq(req->flow_label, 0x54321);
	cr_expect_eq(req->priv_bytes, ROCE_CM_REQ_PRIV);
	cr_expect_arr_eq(req->priv, "hello\0\0\0", 8);

	rep = cm_net_only_event(a, ROCE_CM_EV_REPLY);
	cr_expect_eq(rep->owner, a);
	cr_expect_eq(rep->port, 3);
	cr_expect_eq(rep->peer.qpn, 0x2000);
	cr_expect_eq(rep->peer.psn, 0xabcdef);
	cr_expect_eq(rep->peer.responder_resources, 4, "what it serves");
	cr_expect_eq(rep->peer.initiator_depth, 16, "W-CM-30: lowered from 200 to our offer");
	cr_expect_eq(rep->peer.retry_count, 7, "our own");
	cr_expect_eq(rep->peer.rnr_retry, 5);
	cr_expect(rep->peer.srq);
	cr_expect_eq(rep->ack_timeout, 17, "W-CM-33");
	cr_expect_eq(rep->priv_bytes, ROCE_CM_REP_PRIV);
	cr_expect_arr_eq(rep->priv, "welcome\0", 8);
	cr_expect_eq(cm_net_only_event(p, ROCE_CM_EV_ESTABLISHED)->owner, p);

	roce_cm_disconnect(a->cm, net->now_ns, a->conn);
	cm_net_settle(net);
	cr_expect_not(cm_net_only_event(a, ROCE_CM_EV_DISCONNECTED)->by_peer);
	cr_expect(cm_net_only_event(p, ROCE_CM_EV_DISCONNECTED)->by_peer);
	cm_net_assert_empty(net);
	cm_net_free(net);
}

Test(cm, w_cm_30_values_cross_over_v4)
{
	check_values(false);
}

Test(cm, w_cm_30_values_cross_over_v6)
{
	check_values(true);
}

/* checks R-CONN-18[1]: one connection manager talks to itself. */
Test(cm, r_conn_18_loopback)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *p = &net->host[CM_NET_P];
	struct roce_cm_connect c = cm_net_connect_params(net);
	unsigned established = 0, disconnected = 0;
	uint8_t l3[ROCE_IPV4_BYTES];
	struct roce_cm_conn *conn;
	struct roce_cm_event ev;
	struct roce_cm_tx tx;
	uint64_t now = 0;

	c.local.gid = c.remote.gid = p->gid;
	conn = roce_cm_connect(p->cm, 0, &c);
	while (now < MS(20000)) {
		while (roce_cm_tx(p->cm, &tx)) {
			const struct roce_pkt pkt = mad_pkt(tx.mad, &p->gid, &p->gid, l3);

			roce_cm_rx(p->cm, now, &pkt, CM_NET_PORT);
		}
		while (roce_cm_event(p->cm, &ev)) {
			if (ev.type == ROCE_CM_EV_REQUEST)
				cm_net_accept(net, ev.conn, NULL, 0);
			else if (ev.type == ROCE_CM_EV_REPLY)
				cr_assert(roce_cm_complete(p->cm, now, ev.conn));
			else if (ev.type == ROCE_CM_EV_ESTABLISHED && ++established)
				roce_cm_disconnect(p->cm, now, conn);
			else if (ev.type == ROCE_CM_EV_DISCONNECTED && ++disconnected)
				roce_cm_destroy(p->cm, now, ev.conn);
		}
		now += MS(10);
		roce_cm_tick(p->cm, now);
	}
	cr_expect_eq(established, 1);
	cr_expect_eq(disconnected, 2);
	cm_net_assert_empty(net);
	cm_net_free(net);
}

/* checks W-CM-53[1,3] */
Test(cm, t_cm_6_restart_and_reconnect)
{
	for (unsigned who = 0; who < 2; who++) {
		struct cm_net *net = cm_net_new(true);
		struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

		cm_net_connect(net, NULL, 0);
		cm_net_run(net, MS(10));
		cm_net_restart(net, who);
		cm_net_connect(net, NULL, 0);
		cm_net_run(net, MS(100));
		cr_assert_eq(cm_net_events(p, ROCE_CM_EV_ESTABLISHED), 2);
		roce_cm_disconnect(a->cm, net->now_ns, a->conn);
		/* The survivor's half of the old one ends with a DREP of the host that forgot. */
		if (who == CM_NET_A)
			roce_cm_disconnect(
				p->cm, net->now_ns, cm_net_event(p, ROCE_CM_EV_REQUEST, 0)->conn);
		else
			roce_cm_disconnect(
				a->cm, net->now_ns, cm_net_event(a, ROCE_CM_EV_REPLY, 0)->conn);
		cm_net_settle(net);
		cr_expect_eq(cm_net_events(&net->host[!who], ROCE_CM_EV_DISCONNECTED), 2);
		cm_net_assert_empty(net);
		cm_net_free(net);
	}
}
