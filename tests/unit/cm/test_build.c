/* SPDX-License-Identifier: BSD-3-Clause */
/* The MADs of a connection, field by field. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/cm_net.h"
#include "rigs/pcap.h"
#include "cm/build.h"
#include "cm/manager.h"
#include "cm/sidr.h"

#define MSG 24u /* a message begins behind the header of its MAD */

/* What Linux writes into a REQ (3.2), the capture of rping being the model; checks W-CM-36[1]. */
Test(cm_build, t_ts_4_req_like_linux)
{
	struct cm_net *net = cm_net_new(false);
	const struct cm_mad *m = &net->host[CM_NET_A].last[ATTR(CM_ATTR_REQ)];
	struct cm_ip_hdr ip;

	cm_net_connect(net, NULL, 0);
	cm_net_run(net, 0);
	cr_expect_eq((uint32_t)m->tid, m->local_id);
	cr_expect_eq(m->service_id, cm_service_id(CM_NET_SERVICE));
	cr_expect_eq(m->ca_guid, net->host[CM_NET_A].cfg.ca_guid);
	cr_expect_eq(m->remote_resp_timeout, 20);
	cr_expect_eq(m->local_resp_timeout, 20);
	cr_expect_eq(m->max_retries, 15);
	cr_expect_eq(m->transport, 0);
	cr_expect_eq(m->flow_control, 0);
	cr_expect_eq(m->pkey, 0xffff);
	cr_expect_eq(m->slid, 0xffff);
	cr_expect_eq(m->dlid, 0xffff);
	cr_expect_eq(m->subnet_local, 0);
	cr_assert(cm_ip_hdr_decode(&ip, m->priv));
	cr_expect_eq(ip.src_port, 40000);
	cr_expect(roce_gid_equal(&ip.src, &m->sgid));
	cr_expect(roce_gid_equal(&ip.dst, &m->dgid));
	cm_net_settle(net);
	cm_net_free(net);
}

/* checks W-CM-73[6]: the SL that the host gives, each of the sixteen, is that of the REQ. */
Test(cm_build, w_cm_73_the_sl_of_a_req)
{
	for (uint8_t sl = 0; sl < 16; sl++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_net_host *a = &net->host[CM_NET_A];
		struct roce_cm_connect c = cm_net_connect_params(net);

		c.sl = sl;
		cr_assert_not_null(roce_cm_connect(a->cm, 0, &c));
		cm_net_run(net, 0);
		cr_expect_eq(a->last[ATTR(CM_ATTR_REQ)].sl, sl);
		cm_net_free(net);
	}
}

/* checks W-CM-06[3,4]: in the bytes of both messages that have the header of 36 bytes in front; the
 * first, the last, and the whole field. */
Test(cm_build, w_cm_06_where_the_users_data_begin)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];
	struct roce_cm_connect c = cm_net_connect_params(net);
	struct roce_cm_sidr_query q = {.local = c.local, .remote = c.remote};
	uint8_t data[181];
	struct roce_cm_tx tx;

	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i + 1);
	c.priv = q.priv = data;
	c.priv_bytes = 57;
	cr_expect_null(roce_cm_connect(a->cm, 0, &c));
	c.priv_bytes = 56;
	cr_assert_not_null(roce_cm_connect(a->cm, 0, &c));
	cr_assert(roce_cm_tx(a->cm, &tx));
	cr_expect_arr_eq(tx.mad + 200, data, 56);
	cr_expect_arr_eq(tx.mad + 196, c.remote.gid.raw + 12, 4);
	q.priv_bytes = 181;
	cr_expect_null(roce_cm_sidr_query(a->cm, 0, &q));
	q.priv_bytes = 180;
	cr_assert_not_null(roce_cm_sidr_query(a->cm, 0, &q));
	cr_assert(roce_cm_tx(a->cm, &tx));
	cr_expect_arr_eq(tx.mad + MSG + 16 + 36, data, 180);
	cr_expect_arr_eq(tx.mad + MSG + 16 + 32, c.remote.gid.raw + 12, 4);
	cm_net_free(net);
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

/* checks W-CM-80[1] */
Test(cm_build, W_CM_80_a_REQ_names_no_vendor)
{
	struct cm_net *net = cm_net_new(false);
	struct roce_cm_connect c = cm_net_connect_params(net);
	struct roce_cm_tx tx;

	cr_assert_not_null(roce_cm_connect(net->host[CM_NET_A].cm, net->now_ns, &c));
	cr_assert(roce_cm_tx(net->host[CM_NET_A].cm, &tx));
	expect_no_extension(tx.mad, CM_ATTR_REQ);
	cm_net_free(net);
}

/* checks W-CM-80[1]: Linux's SIDR_REP has the vendor in bytes 6, 7 and 11. */
Test(cm_build, w_cm_80_nor_does_a_sidr_rep)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *p = &net->host[CM_NET_P];
	struct roce_cm_conn *request = cm_net_sidr_request(net, 99);
	struct roce_cm_tx tx;

	cr_assert(roce_cm_sidr_reply(p->cm, net->now_ns, request,
		&(struct roce_cm_sidr_reply){.qpn = 0x123456, .q_key = ~0u}));
	cr_assert(roce_cm_tx(p->cm, &tx));
	cr_expect_arr_eq(tx.mad + 20, "\0\0\0\0", 4, "options");
	cr_expect_arr_eq(tx.mad + MSG + 6, "\0\0\x12\x34\x56\0", 6, "vendor, QPN, vendor");
	cm_net_free(net);
}

/* A REP of P to a REQ of A that the test wrote. */
static void
answer(struct cm_net *net, const uint8_t req[ROCE_MAD_BYTES], struct roce_cm_tx *tx)
{
	struct roce_cm_event ev;

	cm_net_inject_raw(net, CM_NET_A, req);
	cr_assert(roce_cm_event(net->host[CM_NET_P].cm, &ev));
	cr_assert_eq(ev.type, ROCE_CM_EV_REQUEST);
	cm_net_accept(net, ev.conn, NULL, 0);
	cr_assert(roce_cm_tx(net->host[CM_NET_P].cm, tx));
}

/* Whatever the REQ says: checks W-CM-80[1,2], W-NEG-02[2]. */
Test(cm_build, W_CM_81_a_REP_names_no_vendor_to_anybody)
{
	static const uint32_t vendors[] = {0, 0x15b3, 1, 0xffffff};

	for (unsigned i = 0; i < 4; i++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_mad m = cm_net_take_req(net);
		uint8_t mad[ROCE_MAD_BYTES];
		struct roce_cm_tx tx;

		cm_mad_encode(mad, &m);
		for (unsigned k = 0; k < 3; k++)
			mad[MSG + 5 + k] = (uint8_t)(vendors[i] >> (16 - 8 * k));
		mad[23] = vendors[i] != 0; /* options */
		answer(net, mad, &tx);
		cr_assert_eq(cm_mad_decode(&m, tx.mad), CM_DECODE_OK);
		cr_assert_eq(m.attr, CM_ATTR_REP);
		expect_no_extension(tx.mad, CM_ATTR_REP);
		cm_net_free(net);
	}
}

/* checks W-CM-36[1]: our REQ asks for no end-to-end credits, and our REP agrees to none. */
Test(cm_build, w_cm_36_no_credits_even_when_asked)
{
	for (unsigned asked = 0; asked < 2; asked++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_mad m = cm_net_take_req(net);
		uint8_t mad[ROCE_MAD_BYTES];
		struct roce_cm_tx tx;

		cm_mad_encode(mad, &m);
		cr_expect_eq(mad[MSG + 43] & 1, 0);
		mad[MSG + 43] |= (uint8_t)asked;
		answer(net, mad, &tx);
		cr_assert_eq(tx.mad[17], CM_ATTR_REP);
		cr_expect_eq(tx.mad[MSG + 26] & 1, 0, "asked: %u", asked);
		cm_net_free(net);
	}
}

/* The connection whose MAD this would be, and that MAD of ours. */
static void
build_like(const struct cm_mad *m, uint8_t mad[ROCE_MAD_BYTES])
{
	static const uint32_t what[] = {
		CM_TX_REQ, CM_TX_MRA, CM_TX_REJ, CM_TX_REP, CM_TX_RTU, CM_TX_DREQ, CM_TX_DREP};
	const struct roce_cm cm = {.cfg.ca_guid = m->ca_guid};
	const bool req = m->attr == CM_ATTR_REQ;
	struct roce_cm_conn c = {
		.tid = m->tid,
		.dreq_tid = m->tid,
		.drep_tid = m->tid,
		.local_id = m->local_id,
		.remote_id = m->remote_id,
		.local.gid = m->sgid,
		.remote = {m->dgid, (uint16_t)m->service_id},
		.qp = {.qpn = m->qpn,
			.psn = m->psn,
			.responder_resources = (uint8_t)m->responder_resources,
			.initiator_depth = (uint8_t)m->initiator_depth,
			.retry_count = (uint8_t)m->retry_count,
			.rnr_retry = (uint8_t)m->rnr_retry,
			.srq = m->srq != 0},
		.peer.qpn = m->qpn,
		.max_retries = (uint8_t)m->max_retries,
		.mtu_code = (uint8_t)m->mtu,
		.ack_timeout = (uint8_t)m->ack_timeout,
		.tos = (uint8_t)m->tclass,
		.hop_limit = (uint8_t)m->hop_limit,
		.sl = (uint8_t)m->sl,
		.flow_label = m->flow_label,
		.rej_which = (uint8_t)m->which,
		.rej_reason = (uint16_t)m->reason,
		.ari_bytes = (uint8_t)m->ari_bytes,
	};
	struct cm_ip_hdr ip = {0};
	struct cm_mad ours;

	if (req) {
		cr_assert(cm_ip_hdr_decode(&ip, m->priv));
		c.local.port = ip.src_port;
	}
	memcpy(c.ari, m->ari, sizeof(c.ari));
	memcpy(c.out_priv, m->priv + (req ? CM_IP_HDR_BYTES : 0),
		req ? ROCE_CM_REQ_PRIV : sizeof(c.out_priv));
	cm_build_mad(&cm, &c, what[m->attr - CM_ATTR_REQ], &ours);
	cm_mad_encode(mad, &ours);
}

/* Every MAD of a capture, built from the same values: not one byte is another. Adds up what was
 * seen, by attribute. */
static void
compare_capture(const char *path, unsigned seen[CM_NET_ATTRS])
{
	const uint8_t *frame;
	struct pcap_file f;
	size_t bytes;

	pcap_open(&f, path);
	while ((frame = pcap_next(&f, &bytes)) != NULL) {
		uint8_t mad[ROCE_MAD_BYTES];
		struct roce_pkt pkt;
		struct cm_mad m;

		if (roce_wire_parse(frame, bytes, &pkt) != ROCE_WIRE_OK || !roce_gsi_is_mad(&pkt) ||
			cm_mad_decode(&m, pkt.payload) != CM_DECODE_OK || m.attr > CM_ATTR_DREP)
			continue;
		build_like(&m, mad);
		for (unsigned i = 0; i < ROCE_MAD_BYTES; i++)
			cr_expect_eq(mad[i], pkt.payload[i],
				"%s, attribute %x, byte %u: %x, not %x", path, m.attr, i, mad[i],
				pkt.payload[i]);
		seen[ATTR(m.attr)]++;
	}
	pcap_close(&f);
}

/* checks W-CM-07[1,2], W-CM-09[1], W-CM-33[4], W-CM-40[2] */
Test(cm_build, t_ts_4_the_mads_of_linux_byte_for_byte)
{
	unsigned seen[CM_NET_ATTRS] = {0};

	compare_capture("rxe/rping.pcap", seen);
	compare_capture("rxe/rping6.pcap", seen);
	compare_capture("rxe/rping-reject-nolistener.pcap", seen);
	compare_capture("rxe/ucmatose.pcap", seen);
	compare_capture("rxe/cmtime.pcap", seen);
	compare_capture("rxe/send-cm.pcap", seen);
	for (enum cm_attr attr = CM_ATTR_REQ; attr <= CM_ATTR_DREP; attr++)
		cr_expect(attr == CM_ATTR_MRA || seen[ATTR(attr)] > 0, "attribute %x", attr);
}

/*
 * checks W-CM-40[2-4]: one transaction ID for the handshake, another one for its end, on both
 * sides.
 */
Test(cm_build, w_cm_40_transaction_ids_by_exchange)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	uint64_t tid;

	p->hold_requests = a->hold_replies = true;
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(1100));
	tid = a->last[ATTR(CM_ATTR_REQ)].tid;
	cr_assert_neq(p->sent[ATTR(CM_ATTR_MRA)], 0);
	cr_expect_eq(p->last[ATTR(CM_ATTR_MRA)].tid, tid);
	cm_net_accept(net, p->conn, NULL, 0);
	cm_net_run(net, MS(300));
	cr_expect_eq(p->last[ATTR(CM_ATTR_REP)].tid, tid);
	cr_expect_eq(a->last[ATTR(CM_ATTR_MRA)].tid, tid);
	cr_expect_eq(a->last[ATTR(CM_ATTR_MRA)].which, CM_WHICH_REP);
	cr_assert(roce_cm_complete(a->cm, net->now_ns, a->conn));
	cm_net_run(net, MS(10));
	cr_expect_eq(a->last[ATTR(CM_ATTR_RTU)].tid, tid);
	roce_cm_disconnect(p->cm, net->now_ns, p->conn);
	cm_net_run(net, MS(10));
	cr_expect_neq(p->last[ATTR(CM_ATTR_DREQ)].tid, tid);
	cr_expect_eq(p->last[ATTR(CM_ATTR_DREQ)].qpn, 0x1000, "the receiver's");
	cr_expect_eq(a->last[ATTR(CM_ATTR_DREP)].tid, p->last[ATTR(CM_ATTR_DREQ)].tid);
	cm_net_free(net);
}

/* checks W-CM-74[1]: what a REQ says of its path, within a subnet and beyond. */
Test(cm_build, w_cm_74_routed_and_subnet_local_paths)
{
	static const uint8_t hop_limits[] = {1, 2, 64, 255};

	for (unsigned i = 0; i < sizeof(hop_limits); i++) {
		const struct roce_cm cm = {0};
		const struct roce_cm_conn c = {.hop_limit = hop_limits[i]};
		const bool routed = hop_limits[i] > 1;
		struct cm_mad m;

		cm_build_mad(&cm, &c, CM_TX_REQ, &m);
		cr_expect_eq(m.hop_limit, hop_limits[i]);
		cr_expect_eq(m.slid, routed ? 0xffff : 0);
		cr_expect_eq(m.dlid, routed ? 0xffff : 0);
		cr_expect_eq(m.subnet_local, !routed);
	}
}
