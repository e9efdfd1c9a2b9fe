/* SPDX-License-Identifier: BSD-3-Clause */
/* The passive side: which REQs are requests, what the host learns of them, REP and RTU. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/cm_net.h"
#include "cm/check.h"
#include "rigs/pcap.h"

/* The reason of the REJ that a spoilt REQ gets. */
static uint32_t
reason_for(void (*spoil)(struct cm_mad *m), bool v6)
{
	struct cm_net *net = cm_net_new(v6);
	struct cm_net_host *p = &net->host[CM_NET_P];
	struct cm_mad m = cm_net_take_req(net);
	uint32_t reason;

	spoil(&m);
	cm_net_inject(net, CM_NET_A, &m);
	cm_net_run(net, 0);
	reason = p->sent[ATTR(CM_ATTR_REJ)] ? p->last[ATTR(CM_ATTR_REJ)].reason : 0;
	cr_expect_eq(reason != 0, cm_net_events(p, ROCE_CM_EV_REQUEST) == 0);
	if (reason == 12) {
		cr_expect_eq(p->last[ATTR(CM_ATTR_REJ)].ari_bytes, 16);
		cr_expect_arr_eq(p->last[ATTR(CM_ATTR_REJ)].ari, p->gid.raw, 16);
	}
	cm_net_free(net);
	return reason;
}

static void
spoil_nothing(struct cm_mad *m)
{
	(void)m;
}

static void
spoil_header_version(struct cm_mad *m)
{
	m->priv[0] = 0x10;
}

static void
spoil_ip_version_5(struct cm_mad *m)
{
	m->priv[1] = 0x50;
}

static void
spoil_ip_version_0(struct cm_mad *m)
{
	m->priv[1] = 0;
}

/* What the GIDs say, too, and yet it is no IPv6. */
static void
spoil_mapped(struct cm_mad *m)
{
	m->priv[1] = 0x60;
	memcpy(m->priv + 4, m->sgid.raw, 16);
	memcpy(m->priv + 20, m->dgid.raw, 16);
}

static void
spoil_header_source(struct cm_mad *m)
{
	m->priv[19] ^= 1;
}

static void
spoil_header_destination(struct cm_mad *m)
{
	m->priv[35] ^= 1;
}

static void
spoil_local_gid(struct cm_mad *m)
{
	m->sgid.raw[15] ^= 1;
}

static void
spoil_remote_gid(struct cm_mad *m)
{
	m->dgid.raw[15] ^= 1;
}

static void
spoil_pkey(struct cm_mad *m)
{
	m->pkey = 0x8001;
}

static void
spoil_transport(struct cm_mad *m)
{
	m->transport = 1; /* UC */
}

static void
spoil_extended_transport(struct cm_mad *m)
{
	m->ext_transport = 1; /* XRC */
}

static void
spoil_mtu_0(struct cm_mad *m)
{
	m->mtu = 0;
}

static void
spoil_mtu_1(struct cm_mad *m)
{
	m->mtu = 1;
}

static void
spoil_mtu_5(struct cm_mad *m)
{
	m->mtu = 5;
}

static void
spoil_mtu_6(struct cm_mad *m)
{
	m->mtu = 6;
}

static void
spoil_port_space(struct cm_mad *m)
{
	m->service_id ^= 0x00170000; /* RDMA_PS_UDP */
}

static void
spoil_service_prefix(struct cm_mad *m)
{
	m->service_id |= 1ull << 40;
}

static void
spoil_hop_limit(struct cm_mad *m)
{
	m->hop_limit = 0;
	m->ack_timeout = 0;
	m->subnet_local = 1;
	m->slid = m->dlid = 0;
}

/* checks W-CM-06[1,2], W-CM-07[3], W-CM-08[1-4] */
Test(cm_passive, w_cm_08_reqs_that_contradict_themselves)
{
	for (unsigned v6 = 0; v6 < 2; v6++) {
		cr_expect_eq(reason_for(spoil_nothing, v6), 0);
		cr_expect_eq(reason_for(spoil_header_version, v6), 28, "W-CM-06");
		cr_expect_eq(reason_for(spoil_ip_version_5, v6), 28, "W-CM-06");
		cr_expect_eq(reason_for(spoil_ip_version_0, v6), 28, "W-CM-06");
		cr_expect_eq(reason_for(spoil_mapped, v6), v6 ? 0 : 28, "W-CM-07");
		cr_expect_eq(reason_for(spoil_header_source, v6), 28);
		cr_expect_eq(reason_for(spoil_header_destination, v6), 28);
		cr_expect_eq(reason_for(spoil_local_gid, v6), 28);
		cr_expect_eq(reason_for(spoil_remote_gid, v6), 12);
		cr_expect_eq(reason_for(spoil_pkey, v6), 12);
		cr_expect_eq(reason_for(spoil_transport, v6), 9);
		cr_expect_eq(reason_for(spoil_extended_transport, v6), 9);
		cr_expect_eq(reason_for(spoil_mtu_0, v6), 26);
		cr_expect_eq(reason_for(spoil_mtu_1, v6), 0, "256 bytes");
		cr_expect_eq(reason_for(spoil_mtu_5, v6), 0, "4096 bytes");
		cr_expect_eq(reason_for(spoil_mtu_6, v6), 26);
		cr_expect_eq(reason_for(spoil_port_space, v6), 8);
		cr_expect_eq(reason_for(spoil_service_prefix, v6), 8);
		cr_expect_eq(reason_for(spoil_hop_limit, v6), 0, "T-CM-7");
	}
}

/* checks W-CM-74[2] */
Test(cm_passive, t_cm_7_hop_limit_and_ack_timeout_0)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_mad m = cm_net_take_req(net);
	const struct roce_cm_event *ev;

	spoil_hop_limit(&m);
	cm_net_inject(net, CM_NET_A, &m);
	cm_net_run(net, MS(10));
	ev = cm_net_only_event(&net->host[CM_NET_P], ROCE_CM_EV_REQUEST);
	cr_expect_eq(ev->hop_limit, 64, "W-CM-74: never 0");
	cr_expect_eq(ev->ack_timeout, 0);
	cm_net_free(net);
}

/*
 * checks W-CM-73[1,3,5]: the REQ's class, in what P's CM sends from then on, too; but not its
 * ECN bits. A host that sends ECT must slow down when the network marks.
 */
Test(cm_passive, w_cm_73_the_class_of_the_req_at_both_ends_without_ecn)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	struct roce_cm_connect c = cm_net_connect_params(net);

	c.tos = 0x6a; /* as adapters do: DSCP 26, ECT(0) */
	a->conn = roce_cm_connect(a->cm, net->now_ns, &c);
	cm_net_run(net, MS(100));
	cr_expect_eq(a->last[ATTR(CM_ATTR_REQ)].tclass, 0x6a);
	cr_expect_eq(cm_net_only_event(p, ROCE_CM_EV_REQUEST)->tos, 0x68);
	cr_expect_eq(p->last_tos[ATTR(CM_ATTR_REP)], 0x68);
	roce_cm_disconnect(p->cm, net->now_ns, p->conn);
	cm_net_settle(net);
	cr_expect_eq(p->last_tos[ATTR(CM_ATTR_DREQ)], 0x68);
	cm_net_assert_empty(net);
	cm_net_free(net);
}

/* Every REQ that a Linux peer sent in a capture makes a request of ours; returns how many. */
static unsigned
feed_reqs(const char *path)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *p = &net->host[CM_NET_P];
	const uint8_t *frame;
	struct pcap_file f;
	unsigned n = 0;
	size_t bytes;

	pcap_open(&f, path);
	while ((frame = pcap_next(&f, &bytes)) != NULL) {
		struct roce_cm_addr addr = {0};
		struct roce_cm_event ev;
		struct roce_pkt pkt;
		struct cm_mad m;

		if (roce_wire_parse(frame, bytes, &pkt) != ROCE_WIRE_OK || !roce_gsi_is_mad(&pkt) ||
			cm_mad_decode(&m, pkt.payload) != CM_DECODE_OK || m.attr != CM_ATTR_REQ)
			continue;
		addr.port = (uint16_t)m.service_id;
		roce_cm_listen(
			p->cm, &addr, CM_NET_PORT, 0, NULL, NULL); /* in use: the one before */
		roce_cm_rx(p->cm, net->now_ns, &pkt, CM_NET_PORT);
		cr_assert(roce_cm_event(p->cm, &ev), "%s: refused", path);
		cr_expect_eq(ev.type, ROCE_CM_EV_REQUEST);
		cr_expect_eq(ev.peer.qpn, m.qpn);
		cr_expect(roce_gid_equal(&ev.remote.gid, &m.sgid));
		cr_expect_eq(ev.flow_label, roce_cm_flow_label(ev.remote.port, ev.local.port),
			"%s: W-CM-70", path);
		n++;
	}
	pcap_close(&f);
	cm_net_free(net);
	return n;
}

Test(cm_passive, t_ts_4_takes_the_reqs_of_linux)
{
	cr_expect_eq(feed_reqs("rxe/rping.pcap"), 1);
	cr_expect_eq(feed_reqs("rxe/rping6.pcap"), 1);
	cr_expect_eq(feed_reqs("rxe/ucmatose.pcap"), 1);
	cr_expect_geq(feed_reqs("rxe/cmtime.pcap"), 3);
	cr_expect_geq(feed_reqs("rxe/send-cm.pcap"), 1);
}

Test(cm_passive, t_cm_4_unknown_service)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	struct roce_cm_connect c = cm_net_connect_params(net);

	c.remote.port = 1;
	roce_cm_connect(a->cm, 0, &c);
	cm_net_settle(net);
	cr_expect_eq(cm_net_only_event(a, ROCE_CM_EV_REJECTED)->reason, 8);
	cr_expect_eq(p->last[ATTR(CM_ATTR_REJ)].local_id, 0);
	cr_expect_eq(p->last_tos[ATTR(CM_ATTR_REJ)], 0x68, "in the class of the REQ");
	cr_expect_eq(p->last[ATTR(CM_ATTR_REJ)].tid, a->last[ATTR(CM_ATTR_REQ)].tid);
	cr_expect_eq(roce_cm_counters(p->cm)->rejected_no_listener, 1);
	cm_net_assert_empty(net);
	cm_net_free(net);
}

/* checks W-CM-42[1] */
Test(cm_passive, w_cm_42_late_req_is_no_ghost)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	struct cm_mad req;

	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(10));
	req = a->last[ATTR(CM_ATTR_REQ)];
	roce_cm_disconnect(a->cm, net->now_ns, a->conn);
	cm_net_run(net, MS(10));
	cm_net_inject(net, CM_NET_A, &req);
	cm_net_run(net, MS(10));
	cr_expect_eq(p->sent[ATTR(CM_ATTR_REJ)], 1);
	cr_expect_eq(p->last[ATTR(CM_ATTR_REJ)].reason, 10);
	cm_net_settle(net);
	cr_expect_eq(cm_net_events(p, ROCE_CM_EV_REQUEST), 1);
	cm_net_assert_empty(net);
	cm_net_free(net);
}

/* checks R-CONN-13[1], W-CM-35[4], W-CM-61[2] */
Test(cm_passive, t_cm_9_first_data_stands_for_rtu)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

	a->drop[ATTR(CM_ATTR_RTU)] = 1;
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(10));
	cr_expect_eq(cm_net_events(p, ROCE_CM_EV_ESTABLISHED), 0);
	roce_cm_established(p->cm, net->now_ns, p->conn);
	cm_net_run(net, MS(5000));
	cr_expect_eq(cm_net_events(p, ROCE_CM_EV_ESTABLISHED), 1);
	cr_expect_eq(p->sent[ATTR(CM_ATTR_REP)], 1, "no more REPs");
	cm_net_free(net);
}

/*
 * checks W-CM-30[1,2]: what P serves is at most what A wants to issue, and the other way round;
 * the host asks for less where it wants less.
 */
Test(cm_passive, w_cm_30_depths_are_only_lowered)
{
	static const uint8_t depths[] = {0, 1, 7, 8, 9, 15, 16, 17, 255};

	for (unsigned i = 0; i < sizeof(depths); i++) {
		for (unsigned k = 0; k < sizeof(depths); k++) {
			struct cm_net *net = cm_net_new(false);
			struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
			const struct roce_cm_qp_params qp = {.qpn = 0x2000,
				.responder_resources = depths[i],
				.initiator_depth = depths[k]};
			const struct roce_cm_event *ev;

			p->hold_requests = true;
			cm_net_connect(net, NULL, 0); /* serves 16, issues 8 */
			cm_net_run(net, MS(10));
			cr_assert(roce_cm_accept(p->cm, net->now_ns, p->conn, &qp, NULL, 0, p));
			cm_net_run(net, MS(10));
			ev = cm_net_only_event(a, ROCE_CM_EV_REPLY);
			cr_expect_eq(ev->peer.responder_resources, depths[i] < 8 ? depths[i] : 8);
			cr_expect_eq(ev->peer.initiator_depth, depths[k] < 16 ? depths[k] : 16);
			cm_net_free(net);
		}
	}
}

/* checks W-CM-44[2]: each further RTU is a duplicate, one of no connection is dropped. */
Test(cm_passive, w_cm_44_rtus_that_establish_nothing)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	const struct roce_cm_counters *n = roce_cm_counters(p->cm);
	struct cm_mad rtu;

	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(10));
	rtu = a->last[ATTR(CM_ATTR_RTU)];
	cm_net_inject(net, CM_NET_A, &rtu);
	cr_expect_eq(n->rx_duplicate, 1);
	rtu.remote_id++;
	cm_net_inject(net, CM_NET_A, &rtu);
	cr_expect_eq(n->rx_dropped, 1);
	cm_net_run(net, MS(10));
	cm_net_only_event(p, ROCE_CM_EV_ESTABLISHED);
	cm_net_free(net);
}

/* checks W-CM-74[2]: 0 and 1 are "the same subnet", and become 64; the others stay. */
Test(cm_passive, w_cm_74_hop_limit_of_a_request)
{
	static const uint8_t said[] = {0, 1, 2, 64, 255}, taken[] = {64, 64, 2, 64, 255};

	for (unsigned i = 0; i < sizeof(said); i++) {
		struct cm_net *net = cm_net_new(true);
		struct cm_mad m = cm_net_take_req(net);

		m.hop_limit = said[i];
		cm_net_inject(net, CM_NET_A, &m);
		cm_net_run(net, MS(10));
		cr_expect_eq(cm_net_only_event(&net->host[CM_NET_P], ROCE_CM_EV_REQUEST)->hop_limit,
			taken[i]);
		cm_net_free(net);
	}
}

/* checks W-CM-74[2]: whatever the REQ says of it, each message of the passive side has a hop limit
 * that leaves the host. */
Test(cm_passive, w_cm_74_no_message_leaves_with_hop_limit_0)
{
	for (uint32_t said = 0; said < 2; said++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_net_host *p = &net->host[CM_NET_P];
		struct cm_mad m = cm_net_take_req(net);
		struct roce_cm_event ev;
		struct roce_cm_tx tx;
		unsigned messages = 0;

		m.hop_limit = said;
		cm_net_inject(net, CM_NET_A, &m);
		cr_assert(roce_cm_event(p->cm, &ev));
		cm_net_inject(net, CM_NET_A, &m); /* an MRA */
		for (; roce_cm_tx(p->cm, &tx); messages++)
			cr_expect_eq(tx.hop_limit, 64);
		cm_net_accept(net, ev.conn, NULL, 0); /* a REP */
		for (; roce_cm_tx(p->cm, &tx); messages++)
			cr_expect_eq(tx.hop_limit, 64);
		roce_cm_destroy(p->cm, 0, ev.conn); /* a REJ */
		for (; roce_cm_tx(p->cm, &tx); messages++)
			cr_expect_eq(tx.hop_limit, 64);
		m.qpn++; /* of no connection */
		m.local_id++;
		m.service_id++;
		cm_net_inject(net, CM_NET_A, &m); /* a REJ that no connection stands for */
		for (; roce_cm_tx(p->cm, &tx); messages++)
			cr_expect_eq(tx.hop_limit, 64);
		cr_expect_eq(messages, 4);
		cm_net_free(net);
	}
}

/* checks W-CM-53: a queue pair of an old connection is stale even without a listener, or where
 * the request would be refused for another reason. */
Test(cm_passive, w_cm_53_stale_comes_before_any_other_reason)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	struct cm_mad req;

	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(10));
	req = a->last[ATTR(CM_ATTR_REQ)];
	req.local_id++;
	req.service_id = cm_service_id(1);
	spoil_transport(&req);
	cm_net_inject(net, CM_NET_A, &req);
	cm_net_run(net, 0);
	cr_expect_eq(p->last[ATTR(CM_ATTR_REJ)].reason, ROCE_CM_REASON_STALE_CONN);
	cr_expect_eq(roce_cm_counters(p->cm)->stale, 1);
	cr_expect_eq(roce_cm_counters(p->cm)->rejected_no_listener, 0);
	cr_expect_eq(p->sent[ATTR(CM_ATTR_DREQ)], 1, "the old one ends");
	cm_net_free(net);
}

/* checks W-CM-63[1,2,3,4]: a peer that asks and is not heard of again, and a program that does not
 * decide: what was asked ends, and there is room for another. */
Test(cm_passive, w_cm_63_an_undecided_request_ends)
{
	for (unsigned taken = 0; taken < 2; taken++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_net_host *p = &net->host[CM_NET_P];
		const struct roce_cm_addr addr = {.port = 99};
		struct roce_cm_listener *l =
			roce_cm_listen(p->cm, &addr, CM_NET_PORT, 1, NULL, NULL);
		struct cm_mad m = cm_net_take_req(net);
		struct roce_cm_event ev;

		cr_assert_not_null(l);
		p->hold_requests = true;
		cm_net_mute(net, CM_NET_A);
		m.service_id = cm_service_id(99);
		cm_net_inject(net, CM_NET_A, &m);
		if (taken)
			cr_assert(roce_cm_event(p->cm, &ev));
		roce_cm_tick(p->cm, net->now_ns + MS(1000));
		roce_cm_tick(p->cm, net->now_ns + MS(150999));
		cr_expect_eq(roce_cm_counters(p->cm)->timeouts, 0);
		while (cm_net_next_attr(p->cm) != 0)
			;
		roce_cm_tick(p->cm, net->now_ns + MS(151000));
		cr_expect_eq(roce_cm_counters(p->cm)->timeouts, 1);
		cr_expect_eq(cm_net_next_attr(p->cm), CM_ATTR_REJ);
		cr_expect_eq(roce_cm_event(p->cm, &ev), taken);
		if (taken)
			cr_expect_eq(ev.type, ROCE_CM_EV_UNREACHABLE);
		m.local_id++;
		m.qpn++;
		cm_net_inject(net, CM_NET_A, &m);
		cr_expect_eq(roce_cm_counters(p->cm)->rejected_backlog, 0);
		cr_expect_null(roce_cm_check(p->cm));
		cm_net_free(net);
	}
}

/* checks W-CM-63[5] */
Test(cm_passive, w_cm_63_a_peer_that_asks_again_is_alive)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *p = &net->host[CM_NET_P];
	struct cm_mad m = cm_net_take_req(net);

	p->hold_requests = true;
	cm_net_mute(net, CM_NET_A);
	for (unsigned i = 0; i < 5; i++) {
		cm_net_inject(net, CM_NET_A, &m);
		cm_net_run(net, MS(149000));
	}
	cr_expect_eq(roce_cm_counters(p->cm)->timeouts, 0);
	cm_net_run(net, MS(3000));
	cr_expect_eq(roce_cm_counters(p->cm)->timeouts, 1);
	cm_net_free(net);
}
