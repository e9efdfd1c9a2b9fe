/* SPDX-License-Identifier: BSD-3-Clause */
/* What arrives and is no message of the CM is counted and dropped. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/cm_net.h"
#include "rigs/mad_pkt.h"

#define MSG 24u /* a message begins behind the header of its MAD */

/* checks W-CM-01[1,2,9-11], W-CM-04[1] */
Test(cm_recv, t_cm_8_garbage_is_counted_and_dropped)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *p = &net->host[CM_NET_P];
	struct cm_mad m = cm_net_take_req(net);
	const struct roce_cm_counters *n = roce_cm_counters(p->cm);
	uint8_t mad[ROCE_MAD_BYTES];

	cm_mad_encode(mad, &m);
	mad[0] = 2;
	cm_net_inject_raw(net, CM_NET_A, mad);
	cm_mad_encode(mad, &m);
	mad[3] = 0x81;
	cm_net_inject_raw(net, CM_NET_A, mad);
	memset(mad, 0xff, sizeof(mad));
	cm_net_inject_raw(net, CM_NET_A, mad);
	m.qpn = 1;
	cm_net_inject(net, CM_NET_A, &m);
	m.qpn = 5;
	m.local_id = 0;
	cm_net_inject(net, CM_NET_A, &m);
	cr_expect_eq(n->rx_malformed, 5);
	cm_mad_encode(mad, &m);
	mad[1] = 4; /* performance management */
	cm_net_inject_raw(net, CM_NET_A, mad);
	cr_expect_eq(n->rx_dropped, 1);
	cm_net_run(net, MS(10));
	cr_expect_eq(p->n_log, 0);
	cr_expect_eq(n->tx_mads, 0);
	cm_net_free(net);
}

/* What of a good message of its kind is spoilt: bytes of the MAD. */
static const struct spoilt {
	const char *what;
	enum cm_attr attr;
	uint8_t at, bytes, value[4];
} spoilt[] = {
	{"base version", CM_ATTR_REQ, 0, 1, {2}},
	{"method Get", CM_ATTR_REQ, 3, 1, {0x01}},
	{"method GetResp", CM_ATTR_REQ, 3, 1, {0x81}},
	{"method Send, response bit", CM_ATTR_REQ, 3, 1, {0x83}},
	{"class version 1", CM_ATTR_REQ, 2, 1, {1}},
	{"class version 3", CM_ATTR_REQ, 2, 1, {3}},
	{"attribute 0x000f", CM_ATTR_REQ, 16, 2, {0x00, 0x0f}},
	{"attribute 0x001b", CM_ATTR_REQ, 16, 2, {0x00, 0x1b}},
	{"attribute 0x0110", CM_ATTR_REQ, 16, 2, {0x01, 0x10}},
	{"Send of ClassPortInfo", CM_ATTR_REQ, 16, 2, {0x00, 0x01}},
	{"ARI of 73 bytes", CM_ATTR_REJ, MSG + 9, 1, {73 << 1}},
	{"ID 0 in a REQ", CM_ATTR_REQ, MSG, 4, {0}},
	{"ID 0 in a REP", CM_ATTR_REP, MSG, 4, {0}},
	{"QPN 0 in a REQ", CM_ATTR_REQ, MSG + 32, 3, {0}},
	{"QPN 1 in a REQ", CM_ATTR_REQ, MSG + 32, 3, {0, 0, 1}},
	{"QPN 0 in a REP", CM_ATTR_REP, MSG + 12, 3, {0}},
	{"QPN 1 in a REP", CM_ATTR_REP, MSG + 12, 3, {0, 0, 1}},
	{"nothing", CM_ATTR_REQ, 0, 0, {0}},
	{"nothing", CM_ATTR_REP, 0, 0, {0}},
	{"nothing", CM_ATTR_REJ, 0, 0, {0}},
};

/* checks W-CM-01[1,2,4-6,8-11]: each of these alone, without an answer or an event. */
Test(cm_recv, w_cm_01_what_is_malformed)
{
	for (unsigned i = 0; i < sizeof(spoilt) / sizeof(spoilt[0]); i++) {
		const struct spoilt *s = &spoilt[i];
		struct cm_net *net = cm_net_new(false);
		struct roce_cm *cm = net->host[CM_NET_P].cm;
		struct cm_mad m = cm_net_take_req(net);
		uint8_t mad[ROCE_MAD_BYTES];
		struct roce_cm_event ev;
		struct roce_cm_tx tx;

		m.attr = s->attr;
		cm_mad_encode(mad, &m);
		memcpy(mad + s->at, s->value, s->bytes);
		cm_net_inject_raw(net, CM_NET_A, mad);
		cr_expect_eq(roce_cm_counters(cm)->rx_malformed, s->bytes != 0, "%s", s->what);
		cr_expect_eq(roce_cm_event(cm, &ev), s->bytes == 0 && s->attr == CM_ATTR_REQ, "%s",
			s->what);
		cr_expect_not(roce_cm_tx(cm, &tx), "%s", s->what);
		cm_net_free(net);
	}
}

/* checks W-CM-01[3,7,11]: a payload of anything but 256 bytes, which would be a MAD otherwise. */
Test(cm_recv, w_cm_01_payloads_of_another_length)
{
	static const uint16_t bytes[] = {0, 252, 255, 257, 260, 512, 256};
	struct cm_net *net = cm_net_new(false);
	const struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	const struct cm_mad m = cm_net_take_req(net);
	uint8_t payload[512] = {0}, l3[ROCE_IPV4_BYTES];
	struct roce_pkt pkt = mad_pkt(payload, &a->gid, &p->gid, l3);
	struct roce_cm_event ev;

	cm_mad_encode(payload, &m);
	for (unsigned i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		pkt.payload_bytes = bytes[i];
		roce_cm_rx(p->cm, 0, &pkt, CM_NET_PORT);
		cr_expect_eq(roce_cm_event(p->cm, &ev), bytes[i] == 256, "%u bytes", bytes[i]);
	}
	cr_expect_eq(roce_cm_counters(p->cm)->rx_malformed, 6);
	cm_net_free(net);
}

/* checks W-CM-08[5] */
Test(cm_recv, answers_only_to_unicast_addresses)
{
	static const uint8_t bad[][4] = {
		{0, 0, 0, 0}, {127, 0, 0, 1}, {224, 0, 0, 1}, {255, 255, 255, 255}};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct cm_net *net = cm_net_new(false);
		const struct cm_mad m = cm_net_take_req(net);

		roce_gid_from_v4(&net->host[CM_NET_A].gid, bad[i]);
		cm_net_inject(net, CM_NET_A, &m);
		cr_expect_eq(roce_cm_counters(net->host[CM_NET_P].cm)->rx_dropped, 1);
		cr_expect_eq(roce_cm_counters(net->host[CM_NET_P].cm)->tx_mads, 0);
		cm_net_free(net);
	}
}

/* Two hosts of one machine. checks W-CM-08[5] */
Test(cm_recv, loopback_answers_to_loopback)
{
	static const uint8_t one[4] = {127, 0, 0, 2}, other[4] = {127, 0, 0, 3};
	struct cm_net *net = cm_net_new(false);
	struct cm_mad m;

	roce_gid_from_v4(&net->host[CM_NET_A].gid, one);
	roce_gid_from_v4(&net->host[CM_NET_P].gid, other);
	m = cm_net_take_req(net);
	cm_net_inject(net, CM_NET_A, &m);
	cr_expect_eq(roce_cm_counters(net->host[CM_NET_P].cm)->rx_dropped, 0);
	cr_expect_eq(roce_cm_counters(net->host[CM_NET_P].cm)->rx_req, 1);
	cm_net_free(net);
}

/* Each message by its own counter, and by no other. */
Test(cm_recv, messages_are_counted_by_kind)
{
	for (enum cm_attr attr = CM_ATTR_REQ; attr <= CM_ATTR_SIDR_REP; attr++) {
		struct cm_net *net = cm_net_new(false);
		const struct roce_cm_counters *n = roce_cm_counters(net->host[CM_NET_P].cm);
		const uint64_t *const of[] = {&n->rx_req, &n->rx_mra, &n->rx_rej, &n->rx_rep,
			&n->rx_rtu, &n->rx_dreq, &n->rx_drep, &n->rx_sidr_req, &n->rx_sidr_rep};
		const struct cm_mad m = {.attr = attr, .local_id = 3, .remote_id = 4, .qpn = 5};

		cm_net_inject(net, CM_NET_A, &m);
		cm_net_inject(net, CM_NET_A, &m);
		for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++)
			cr_expect_eq(*of[i], i == attr - CM_ATTR_REQ ? 2 : 0, "%x in counter %u",
				attr, i);
		cm_net_free(net);
	}
}

/* checks W-CM-01[3,11], W-CM-05[1]: LAP and APR, and packets that are no MAD to QP 1. */
Test(cm_recv, w_cm_05_what_is_ignored_in_silence)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	const struct roce_cm_counters *n = roce_cm_counters(p->cm);
	uint8_t mad[ROCE_MAD_BYTES], l3[ROCE_IPV4_BYTES];
	const struct cm_mad req = cm_net_take_req(net);
	struct roce_pkt pkt = mad_pkt(mad, &a->gid, &p->gid, l3);
	struct roce_cm_event ev;
	struct roce_cm_tx tx;

	for (uint8_t attr = 0x19; attr <= 0x1a; attr++) {
		cm_mad_encode(mad, &req);
		mad[17] = attr; /* LAP, APR */
		cm_net_inject_raw(net, CM_NET_A, mad);
		cr_expect_eq(n->rx_dropped, attr - 0x18);
	}
	cm_mad_encode(mad, &req);
	pkt.payload_bytes = ROCE_MAD_BYTES - 4;
	roce_cm_rx(p->cm, 0, &pkt, 0);
	pkt.payload_bytes = ROCE_MAD_BYTES;
	pkt.qkey++;
	roce_cm_rx(p->cm, 0, &pkt, 0);
	pkt.qkey--;
	pkt.opcode = ROCE_SEND_ONLY;
	roce_cm_rx(p->cm, 0, &pkt, 0);
	cr_expect_eq(n->rx_malformed, 3);
	cr_expect_eq(n->rx_req, 0);
	cr_expect_not(roce_cm_event(p->cm, &ev));
	cr_expect_not(roce_cm_tx(p->cm, &tx));
	pkt.opcode = ROCE_UD_SEND_ONLY;
	roce_cm_rx(p->cm, 0, &pkt, CM_NET_PORT);
	cr_expect(roce_cm_event(p->cm, &ev), "as it should be");
	cm_net_free(net);
}

/*
 * checks W-CM-08[5]: iPv6 as well: nothing comes from, or is for, a group, the loopback address,
 * or none at all.
 */
Test(cm_recv, answers_only_to_unicast_addresses_v6)
{
	static const struct roce_gid bad[] = {{{0}}, {{[15] = 1}}, {{0xff, 2, [15] = 1}}};

	for (unsigned host = 0; host < 2; host++) {
		for (unsigned i = 0; i < 3; i++) {
			struct cm_net *net = cm_net_new(true);
			const struct cm_mad m = cm_net_take_req(net);
			const struct roce_cm_counters *n = roce_cm_counters(net->host[CM_NET_P].cm);

			net->host[host].gid = bad[i];
			cm_net_inject(net, CM_NET_A, &m);
			cr_expect_eq(n->rx_dropped, 1, "host %u, address %u", host, i);
			cr_expect_eq(n->rx_req, 0);
			cm_net_free(net);
		}
	}
}

/*
 * checks W-CM-73[3]: the ECN bits of a packet are the network's, and no part of the answer's
 * class.
 */
Test(cm_recv, w_cm_73_the_class_of_an_answer_is_without_ecn)
{
	for (unsigned ecn = 0; ecn < 4; ecn++) {
		struct cm_net *net = cm_net_new(false);
		const struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
		const struct cm_mad m = {.attr = CM_ATTR_DREQ, .local_id = 3, .remote_id = 4};
		uint8_t mad[ROCE_MAD_BYTES], l3[ROCE_IPV4_BYTES];
		struct roce_pkt pkt = mad_pkt(mad, &a->gid, &p->gid, l3);
		struct roce_cm_tx tx;

		cm_mad_encode(mad, &m);
		pkt.tos = (uint8_t)(0x68 | ecn);
		roce_cm_rx(p->cm, 0, &pkt, 0);
		cr_assert(roce_cm_tx(p->cm, &tx));
		cr_expect_eq(tx.tos, 0x68);
		cm_net_free(net);
	}
}
