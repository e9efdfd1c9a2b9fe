/* SPDX-License-Identifier: BSD-3-Clause */
/* MADs of the CM as bytes: where they go, and what stands between the fields. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/cm_net.h"

#define MSG 24u /* a message begins behind the header of its MAD */

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

/* P has more addresses than one, and ports; strangers ask at any of them. */
Test(cm_wire, W_CM_02_answers_go_back_the_way_that_the_question_came)
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
			struct cm_net *net = cm_net_new(false);
			struct roce_gid from_gid, to_gid;
			uint8_t mad[ROCE_MAD_BYTES];
			struct roce_cm_tx tx;
			struct cm_mad m;

			roce_gid_from_v4(&from_gid, (const uint8_t[4]){198, 51, 100, 9});
			roce_gid_from_v4(&to_gid, (const uint8_t[4]){203, 0, 113, to});
			m = a_mad(of[i].attr, &from_gid, &to_gid, of[i].service);
			cm_mad_encode(mad, &m);
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

/* Where vendors put the signs of their extensions: in a REQ, in a REP. */
static void
expect_no_extension(const uint8_t mad[ROCE_MAD_BYTES], enum cm_attr attr)
{
	static const uint8_t in_req[] = {5, 6, 7}, in_rep[] = {15, 19, 23};

	cr_assert_arr_eq(mad + 20, "\0\0\0\0", 4, "options");
	for (unsigned i = 0; i < 3; i++)
		cr_assert_eq(mad[MSG + (attr == CM_ATTR_REQ ? in_req : in_rep)[i]], 0, "vendor");
}

Test(cm_wire, W_CM_80_a_REQ_names_no_vendor)
{
	struct cm_net *net = cm_net_new(false);
	struct roce_cm_connect c = cm_net_connect_params(net);
	struct roce_cm_tx tx;

	cr_assert_not_null(roce_cm_connect(net->host[CM_NET_A].cm, net->now_ns, &c));
	cr_assert(roce_cm_tx(net->host[CM_NET_A].cm, &tx));
	expect_no_extension(tx.mad, CM_ATTR_REQ);
	cm_net_free(net);
}

/* 0 would be 8 us to a Linux peer: who asks for it gets what Linux takes. */
Test(cm_wire, W_CM_33_the_ack_timeout_of_a_REQ_is_never_0)
{
	for (uint8_t code = 0; code < 32; code++) {
		struct cm_net *net = cm_net_new(false);
		struct roce_cm_connect c = cm_net_connect_params(net);
		struct roce_cm_tx tx;

		c.ack_timeout = code;
		cr_assert_not_null(roce_cm_connect(net->host[CM_NET_A].cm, net->now_ns, &c));
		cr_assert(roce_cm_tx(net->host[CM_NET_A].cm, &tx));
		cr_assert_eq(tx.mad[MSG + 95] >> 3, code != 0 ? code : 17);
		cm_net_free(net);
	}
}

/* Whatever the REQ says: checks W-CM-80. */
Test(cm_wire, W_CM_81_a_REP_names_no_vendor_to_anybody)
{
	static const uint32_t vendors[] = {0, 0x15b3, 1, 0xffffff};

	for (unsigned i = 0; i < 4; i++) {
		struct cm_net *net = cm_net_new(false);
		const struct roce_gid *a = &net->host[CM_NET_A].gid, *p = &net->host[CM_NET_P].gid;
		struct cm_mad m = a_mad(CM_ATTR_REQ, a, p, CM_NET_SERVICE);
		uint8_t mad[ROCE_MAD_BYTES];
		struct roce_cm_tx tx;

		cm_mad_encode(mad, &m);
		for (unsigned k = 0; k < 3; k++)
			mad[MSG + 5 + k] = (uint8_t)(vendors[i] >> (16 - 8 * k));
		mad[23] = vendors[i] != 0; /* options */
		cr_assert(ask(net, a, p, 7, mad, &tx));
		cr_assert_eq(cm_mad_decode(&m, tx.mad), CM_DECODE_OK);
		cr_assert_eq(m.attr, CM_ATTR_REP);
		expect_no_extension(tx.mad, CM_ATTR_REP);
		cm_net_free(net);
	}
}

static bool
take_rep(struct cm_net *net, unsigned from, const struct cm_mad *mad)
{
	uint8_t *rep = net->tap_arg;

	if (from != CM_NET_P || mad->attr != CM_ATTR_REP || rep == NULL)
		return false;
	cm_mad_encode(rep, mad);
	net->tap_arg = NULL;
	return true;
}

/*
 * Some peers send back whatever vendor a REQ names, with its options: in our REQs there is nothing
 * to send back, and nothing that a REP says of vendors makes the connection another one.
 */
Test(cm_wire, W_CM_82_an_echo_in_a_REP_changes_nothing)
{
	static const uint32_t vendors[] = {0, 1, 0x15b3, 0xffffff}, options[] = {0, 1, ~0u};
	struct roce_cm_event plain = {0};

	for (unsigned i = 0; i < 12; i++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_net_host *a = &net->host[CM_NET_A];
		const struct roce_cm_event *ev;
		uint8_t rep[ROCE_MAD_BYTES];

		net->tap = take_rep;
		net->tap_arg = rep;
		cm_net_connect(net, NULL, 0);
		cm_net_run(net, MS(20));
		cr_assert_null(net->tap_arg, "no REP came");
		for (unsigned k = 0; k < 3; k++)
			rep[MSG + 15 + 4 * k] = (uint8_t)(vendors[i % 4] >> (16 - 8 * k));
		memcpy(rep + 20, &options[i / 4], 4);
		cm_net_inject_raw(net, CM_NET_P, rep);
		cm_net_run(net, MS(20));
		ev = cm_net_only_event(a, ROCE_CM_EV_REPLY);
		if (i == 0)
			plain = *ev;
		cr_assert_eq(ev->peer.qpn, plain.peer.qpn);
		cr_assert_eq(ev->peer.psn, plain.peer.psn);
		cr_assert_eq(ev->peer.responder_resources, plain.peer.responder_resources);
		cr_assert_eq(ev->peer.initiator_depth, plain.peer.initiator_depth);
		cr_assert_eq(ev->peer.rnr_retry, plain.peer.rnr_retry);
		cr_assert_eq(ev->ack_timeout, plain.ack_timeout);
		cr_assert_eq(ev->mtu_code, plain.mtu_code);
		cr_assert_arr_eq(ev->priv, plain.priv, sizeof(plain.priv));
		cm_net_only_event(&net->host[CM_NET_P], ROCE_CM_EV_ESTABLISHED); /* our RTU came */
		cm_net_free(net);
	}
}
