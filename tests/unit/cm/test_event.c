/* SPDX-License-Identifier: BSD-3-Clause */
/* Events for the host: their order, and those that are withdrawn. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/cm_at.h"
#include "cm/event.h"
#include "cm/listener.h"

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

/* The events of one connection that the host has not taken come in the order in which they can
 * happen, whichever came first on the wire. */
Test(cm_event, established_comes_before_the_end)
{
	struct cm_at_bench b = cm_at_bring(P_REP_SENT);
	struct roce_cm_event ev;

	cm_at_inject(&b, RTU);
	cm_at_inject(&b, DREQ);
	cr_assert(roce_cm_event(b.cm, &ev));
	cr_expect_eq(ev.type, ROCE_CM_EV_ESTABLISHED);
	cr_expect_not(ev.by_peer, "says nothing of the end");
	cr_assert(roce_cm_event(b.cm, &ev));
	cr_expect_eq(ev.type, ROCE_CM_EV_DISCONNECTED);
	cr_expect(ev.by_peer);
	cr_expect_not(roce_cm_event(b.cm, &ev));
	cm_net_free(b.net);
}

/* A reply that the peer took back before the host saw it: there is nothing to complete. */
Test(cm_event, an_end_withdraws_the_reply)
{
	struct cm_at_bench b = cm_at_bring(A_REQ_SENT);
	struct roce_cm_event ev;

	cm_at_inject(&b, REP_FIRST);
	cm_at_inject(&b, REJ_REP);
	cr_assert(roce_cm_event(b.cm, &ev));
	cr_expect_eq(ev.type, ROCE_CM_EV_REJECTED);
	cr_expect_eq(ev.reason, ROCE_CM_REASON_CONSUMER);
	cr_expect_not(roce_cm_event(b.cm, &ev));
	cr_expect_not(roce_cm_complete(b.cm, 0, b.conn));
	cm_net_free(b.net);
}

/* Connections take turns by the first event that waits; one that is destroyed has none any more. */
Test(cm_event, connections_in_the_order_of_their_events)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];
	struct roce_cm_conn *conns[6];
	struct roce_cm_event ev;

	for (unsigned i = 0; i < 6; i++)
		conns[i] = cm_net_connect(net, NULL, 0);
	cm_event_raise(a->cm, conns[4], ROCE_CM_EV_REJECTED);
	cm_event_raise(a->cm, conns[1], ROCE_CM_EV_DISCONNECTED);
	cm_event_raise(a->cm, conns[5], ROCE_CM_EV_REJECTED);
	cm_event_raise(a->cm, conns[4], ROCE_CM_EV_ESTABLISHED);
	cm_event_raise(a->cm, conns[0], ROCE_CM_EV_UNREACHABLE);
	roce_cm_destroy(a->cm, 0, conns[5]);
	cr_assert(roce_cm_event(a->cm, &ev));
	cr_expect(ev.conn == conns[4] && ev.type == ROCE_CM_EV_ESTABLISHED);
	cr_assert(roce_cm_event(a->cm, &ev));
	cr_expect(ev.conn == conns[4] && ev.type == ROCE_CM_EV_REJECTED);
	cr_assert(roce_cm_event(a->cm, &ev));
	cr_expect(ev.conn == conns[1] && ev.type == ROCE_CM_EV_DISCONNECTED);
	cr_assert(roce_cm_event(a->cm, &ev));
	cr_expect(ev.conn == conns[0] && ev.type == ROCE_CM_EV_UNREACHABLE);
	cr_expect_not(roce_cm_event(a->cm, &ev));
	cm_net_free(net);
}

/* Events name the listener's owner first, then the one that was set for the request, and from the
 * accept on that of the connection. */
Test(cm_event, whose_an_event_is)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	int request_owner;

	p->hold_requests = true;
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(10));
	cr_expect_eq(cm_net_only_event(p, ROCE_CM_EV_REQUEST)->owner, net);
	roce_cm_set_owner(p->conn, &request_owner);
	roce_cm_destroy(a->cm, net->now_ns, a->conn);
	cm_net_run(net, MS(10));
	cr_expect_eq(cm_net_only_event(p, ROCE_CM_EV_REJECTED)->owner, &request_owner);
	p->hold_requests = false;
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(10));
	cr_expect_eq(cm_net_only_event(p, ROCE_CM_EV_ESTABLISHED)->owner, p);
	cr_expect_eq(cm_net_only_event(a, ROCE_CM_EV_REPLY)->owner, a);
	cm_net_free(net);
}

/* Private data stand in the events that have some, and never those of an earlier message. */
Test(cm_event, private_data_by_type)
{
	struct cm_at_bench b = cm_at_bring(A_REQ_SENT);
	struct cm_mad rep = cm_at_mad(&b, REP_FIRST);
	struct roce_cm_event ev;

	memset(rep.priv, 0x5a, ROCE_CM_REP_PRIV);
	cm_net_inject(b.net, CM_NET_P, &rep);
	cr_assert(roce_cm_event(b.cm, &ev));
	cr_expect_eq(ev.priv_bytes, ROCE_CM_REP_PRIV);
	cr_expect_eq(ev.priv[ROCE_CM_REP_PRIV - 1], 0x5a);
	cr_assert(roce_cm_complete(b.cm, 0, b.conn));
	cm_at_inject(&b, DREQ);
	cr_assert(roce_cm_event(b.cm, &ev));
	cr_expect_eq(ev.type, ROCE_CM_EV_DISCONNECTED);
	cr_expect_eq(ev.priv_bytes, 0);
	cr_expect_eq(ev.priv[0], 0);
	cm_net_free(b.net);
}

/* What ended a connection, and the private data of its last message, are told by the events that
 * are about them, and by no other. */
Test(cm_event, what_an_event_tells_by_its_type)
{
	static const struct {
		bool reason, by_peer, timed_out, priv, undelivered;
	} tells[] = {
		[ROCE_CM_EV_REQUEST] = {.priv = true},
		[ROCE_CM_EV_REPLY] = {.priv = true},
		[ROCE_CM_EV_ESTABLISHED] = {0},
		[ROCE_CM_EV_REJECTED] = {.reason = true, .priv = true},
		[ROCE_CM_EV_UNREACHABLE] = {.undelivered = true},
		[ROCE_CM_EV_DISCONNECTED] = {.by_peer = true, .timed_out = true},
		[ROCE_CM_EV_SIDR_REQUEST] = {.priv = true},
		[ROCE_CM_EV_SIDR_REPLY] = {.reason = true,
			.timed_out = true,
			.priv = true,
			.undelivered = true},
		[ROCE_CM_EV_SIDR_GONE] = {0},
	};

	for (enum roce_cm_event_type type = 0; type <= ROCE_CM_EV_SIDR_GONE; type++) {
		struct cm_net *net = cm_net_new(false);
		struct roce_cm *cm = net->host[CM_NET_A].cm;
		struct roce_cm_conn *c = cm_net_connect(net, NULL, 0);
		const struct roce_cm_addr all = {.port = 1};
		struct roce_cm_event ev;

		c->ev_reason = ROCE_CM_REASON_CONSUMER;
		c->ev_timed_out = true;
		c->ev_undelivered = ROCE_CM_NO_WAY;
		c->ev_by_peer = tells[type].by_peer;
		cm_set_in_priv(c, (const uint8_t[]){0x5a, 0x5b}, 2);
		c->ack_timeout = 18;
		c->reply_ack_timeout = 19;
		cm_event_raise(cm, c, type);
		if (type == ROCE_CM_EV_REQUEST || type == ROCE_CM_EV_SIDR_REQUEST)
			cm_listener_add(roce_cm_listen(cm, &all, 0, 0, NULL, NULL), c);
		cr_assert(roce_cm_event(cm, &ev));
		cr_expect_eq(ev.type, type);
		cr_expect_eq(ev.reason, tells[type].reason ? ROCE_CM_REASON_CONSUMER : 0, "type %d",
			type);
		cr_expect_eq(ev.by_peer, tells[type].by_peer, "type %d", type);
		cr_expect_eq(ev.timed_out, tells[type].timed_out, "type %d", type);
		cr_expect_eq(ev.undelivered, tells[type].undelivered ? ROCE_CM_NO_WAY : 0,
			"type %d", type);
		cr_expect_eq(ev.priv_bytes, tells[type].priv ? 2 : 0, "type %d", type);
		cr_expect_eq(ev.priv[1], tells[type].priv ? 0x5b : 0, "type %d", type);
		cr_expect_eq(ev.ack_timeout, type == ROCE_CM_EV_REPLY ? 19 : 18, "type %d", type);
		cm_net_free(net);
	}
}
