/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers to MADs that belong to no connection. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/cm_net.h"
#include "cm/message.h"
#include "cm/stateless.h"

/* A MAD from one address to another, which comes in at a port; what P answers at once. */
static bool
ask(struct cm_net *net, const struct roce_gid *from, const struct roce_gid *to, uint32_t port,
	const uint8_t mad[ROCE_MAD_BYTES], struct roce_cm_tx *tx)
{
	struct roce_path path = {.sgid = *from, .dgid = *to, .ttl = 64};
	uint8_t frame[ROCE_GSI_FRAME_MAX];
	struct roce_pkt pkt;
	struct roce_cm_event ev;

	cr_assert_eq(
		roce_wire_parse(frame, roce_gsi_build(frame, &path, 1, mad), &pkt), ROCE_WIRE_OK);
	roce_cm_rx(net->host[CM_NET_P].cm, net->now_ns, &pkt, port);
	if (roce_cm_event(net->host[CM_NET_P].cm, &ev)) {
		cr_assert_eq(ev.type, ROCE_CM_EV_REQUEST);
		cm_net_accept(net, ev.conn, NULL, 0);
	}
	return roce_cm_tx(net->host[CM_NET_P].cm, tx);
}

/* The first MAD of a kind that A would send to the address to of P, were it the host from. */
static struct cm_mad
a_mad(enum cm_attr attr, const struct roce_gid *from, const struct roce_gid *to, uint16_t service)
{
	struct cm_mad m = {.attr = attr, .tid = 77, .local_id = 0x1234};
	const struct cm_ip_hdr ip = {.src = *from, .dst = *to, .src_port = 40000};

	m.qpn = 0x99;
	if (attr == CM_ATTR_SIDR_REQ)
		m.service_id = cm_service_id(service);
	if (attr != CM_ATTR_REQ)
		return m;
	m.service_id = cm_service_id(service);
	m.ca_guid = 5;
	m.psn = 7;
	m.remote_resp_timeout = m.local_resp_timeout = 20;
	m.max_retries = 15;
	m.pkey = 0xffff;
	m.mtu = 3;
	m.slid = m.dlid = 0xffff;
	m.sgid = *from;
	m.dgid = *to;
	m.hop_limit = 64;
	m.ack_timeout = 17;
	cm_ip_hdr_encode(m.priv, &ip);
	return m;
}

/*
 * checks R-LSN-01[3], W-CM-02[1,3]: P has more addresses than one, and ports; strangers ask at
 * any of them.
 */
Test(cm_stateless, W_CM_02_answers_go_back_the_way_that_the_question_came)
{
	static const struct {
		enum cm_attr attr, answer;
		uint16_t service;
	} of[] = {
		{CM_ATTR_REQ, CM_ATTR_REP, CM_NET_SERVICE},
		{CM_ATTR_REQ, CM_ATTR_REJ, CM_NET_SERVICE + 1},
		{CM_ATTR_DREQ, CM_ATTR_DREP, 0},
		{CM_ATTR_SIDR_REQ, CM_ATTR_SIDR_REP, CM_NET_SERVICE},
	};

	for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		for (uint8_t to = 1; to < 4; to++) {
			const struct roce_cm_addr any = {.port = CM_NET_SERVICE};
			struct cm_net *net = cm_net_new(false);
			struct roce_gid from_gid, to_gid;
			uint8_t mad[ROCE_MAD_BYTES];
			struct roce_cm_tx tx;
			struct cm_mad m;

			roce_gid_from_v4(&from_gid, (const uint8_t[4]){198, 51, 100, 9});
			roce_gid_from_v4(&to_gid, (const uint8_t[4]){203, 0, 113, to});
			m = a_mad(of[i].attr, &from_gid, &to_gid, of[i].service);
			cm_mad_encode(mad, &m);
			roce_cm_listen(net->host[CM_NET_P].cm, &any, 10u + to, 0, NULL, NULL);
			cr_assert(ask(net, &from_gid, &to_gid, 10u + to, mad, &tx));
			cr_assert_eq(cm_mad_decode(&m, tx.mad), CM_DECODE_OK);
			cr_assert_eq(m.attr, of[i].answer);
			cr_assert(roce_gid_equal(&tx.sgid, &to_gid));
			cr_assert(roce_gid_equal(&tx.dgid, &from_gid));
			cr_assert_eq(tx.port, 10u + to);
			cm_net_free(net);
		}
	}
}

Test(cm_stateless, datagram_services_do_not_exist_here)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *p = &net->host[CM_NET_P];
	const struct cm_mad m = {.attr = CM_ATTR_SIDR_REQ,
		.tid = 9,
		.local_id = 0x1020304,
		.service_id = 0x1111388,
		.pkey = 0xffff};

	cm_net_inject(net, CM_NET_A, &m);
	cm_net_run(net, 0);
	cr_expect_eq(p->sent[ATTR(CM_ATTR_SIDR_REP)], 1);
	cr_expect_eq(p->last[ATTR(CM_ATTR_SIDR_REP)].status, ROCE_CM_SIDR_UNSUPPORTED);
	cr_expect_eq(p->last[ATTR(CM_ATTR_SIDR_REP)].local_id, 0x1020304);
	cr_expect_eq(p->last[ATTR(CM_ATTR_SIDR_REP)].tid, 9);
	cr_expect_eq(p->last[ATTR(CM_ATTR_SIDR_REP)].service_id, 0x1111388, "W-CM-09");
	cm_net_free(net);
}

/* checks W-CM-45[1], W-CM-53[3] */
Test(cm_stateless, t_cm_10_unknown_dreq)
{
	struct cm_net *net = cm_net_new(true);
	struct cm_net_host *p = &net->host[CM_NET_P];
	const struct cm_mad m = {
		.attr = CM_ATTR_DREQ, .tid = 77, .local_id = 0xaaaa, .remote_id = 0xbbbb, .qpn = 4};

	cm_net_inject(net, CM_NET_A, &m);
	cm_net_run(net, 0);
	cr_assert_eq(p->sent[ATTR(CM_ATTR_DREP)], 1);
	cr_expect_eq(p->last[ATTR(CM_ATTR_DREP)].local_id, 0xbbbb);
	cr_expect_eq(p->last[ATTR(CM_ATTR_DREP)].remote_id, 0xaaaa);
	cr_expect_eq(p->last[ATTR(CM_ATTR_DREP)].tid, 77);
	cm_net_free(net);
}

Test(cm_stateless, a_flood_of_strangers_is_bounded_and_counted)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *p = &net->host[CM_NET_P];
	struct cm_mad m = {.attr = CM_ATTR_DREQ};
	struct roce_cm_tx tx;
	unsigned n = 0;

	for (m.local_id = 1; m.local_id <= 1000; m.local_id++)
		cm_net_inject(net, CM_NET_A, &m);
	while (roce_cm_tx(p->cm, &tx))
		n++;
	cr_expect_gt(n, 0);
	cr_expect_lt(n, 1000);
	cr_expect_eq(n + roce_cm_counters(p->cm)->tx_dropped, 1000);
	/* And then it works as before. */
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(10));
	cm_net_only_event(p, ROCE_CM_EV_ESTABLISHED);
	cm_net_free(net);
}

/*
 * checks W-CM-40[2], W-CM-48[1]: a refused REQ is answered without an ID of ours, with the
 * transaction ID and to the ID of the REQ, in the class of the packet that it came in.
 */
Test(cm_stateless, w_cm_48_a_rej_by_no_connection)
{
	struct cm_net *net = cm_net_new(true);
	struct roce_cm *cm = net->host[CM_NET_P].cm;
	const struct cm_in in = {.port = 4,
		.tos = 0x68,
		.local = net->host[CM_NET_P].gid,
		.remote = net->host[CM_NET_A].gid,
		.mad = {.attr = CM_ATTR_REQ, .tid = 0x1122334455667788, .local_id = 0xabcd}};
	struct roce_cm_tx tx;
	struct cm_mad m;

	cm_answer_rej(cm, &in, ROCE_CM_REASON_NO_RESOURCES);
	cm_answer_rej(cm, &in, ROCE_CM_REASON_INVALID_GID);
	cr_assert(roce_cm_tx(cm, &tx));
	cr_expect_eq(tx.port, 4);
	cr_expect_eq(tx.tos, 0x68);
	cr_expect_eq(tx.hop_limit, 64);
	cr_assert_eq(cm_mad_decode(&m, tx.mad), CM_DECODE_OK);
	cr_expect_eq(m.attr, CM_ATTR_REJ);
	cr_expect_eq(m.tid, in.mad.tid);
	cr_expect_eq(m.local_id, 0);
	cr_expect_eq(m.remote_id, 0xabcd);
	cr_expect_eq(m.which, CM_WHICH_REQ);
	cr_expect_eq(m.reason, ROCE_CM_REASON_NO_RESOURCES);
	cr_expect_eq(m.ari_bytes, 0);
	cr_assert(roce_cm_tx(cm, &tx));
	cr_assert_eq(cm_mad_decode(&m, tx.mad), CM_DECODE_OK);
	cr_expect_eq(m.ari_bytes, 16, "the GID that would do");
	cr_expect_arr_eq(m.ari, in.local.raw, 16);
	cr_expect_not(roce_cm_tx(cm, &tx));
	for (uint16_t reason = 1; reason < 40; reason++) {
		cm_answer_rej(cm, &in, reason);
		cr_assert(roce_cm_tx(cm, &tx));
		cr_assert_eq(cm_mad_decode(&m, tx.mad), CM_DECODE_OK);
		cr_expect_eq(m.reason, reason);
		cr_expect_eq(m.ari_bytes, reason == ROCE_CM_REASON_INVALID_GID ? 16 : 0,
			"reason %u", reason);
	}
	cm_net_free(net);
}

/* Oldest first, over the end of the ring too; what finds no room is counted. One host has a half of
 * the ring. */
Test(cm_stateless, answers_leave_in_the_order_of_the_questions)
{
	struct cm_net *net = cm_net_new(false);
	struct roce_cm *cm = net->host[CM_NET_P].cm;
	struct cm_mad m = {.attr = CM_ATTR_DREQ, .remote_id = 1}, drep;
	uint32_t asked = 0, answered = 0;
	struct roce_cm_tx tx;

	for (unsigned round = 0; round < 5; round++) {
		while (asked - answered < CM_STATELESS / 2) {
			m.local_id = ++asked;
			cm_net_inject(net, CM_NET_A, &m);
		}
		m.local_id = 0xdead;
		cm_net_inject(net, CM_NET_A, &m);
		cr_expect_eq(roce_cm_counters(cm)->tx_dropped, round + 1);
		for (unsigned i = 0; i < 50; i++) {
			cr_assert(roce_cm_tx(cm, &tx));
			cr_assert_eq(cm_mad_decode(&drep, tx.mad), CM_DECODE_OK);
			cr_assert_eq(drep.remote_id, ++answered);
		}
	}
	cm_net_free(net);
}
