/* SPDX-License-Identifier: BSD-3-Clause */
#include "rigs/handshake.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "conn/active.h"
#include "object/qp.h"
#include "platform/clock.h"
#include "rigs/net_rig.h"
#include "rigs/peer_mads.h"

#define SEGMENT_BYTES (1u << 20)

uint32_t
handshake_ask(struct handshake *b, const void *msg)
{
	union handshake_told reply;

	cr_assert(eq(i32, ndd_rig_ask(b->r, b->client, msg, &reply), NDSH_OK));
	return reply.id.id;
}

struct handshake
handshake_at(struct ndd_rig *r, bool has_srq)
{
	struct handshake b = {.r = r};
	struct ndsh_qp_create m = {.h.type = NDSH_MSG_QP_CREATE,
		.has_srq = has_srq,
		.sq_depth = 4,
		.rq_depth = 4,
		.sq_sge = 1,
		.rq_sge = 1};
	uint64_t at = 65536; /* behind the session page */

	b.r->cfg.timeout_code = 18;
	b.r->cfg.retry_count = 5;
	b.r->cfg.rnr_retry = 3;
	b.r->cfg.rnr_give_up_ms = 2000;
	b.client = ndd_rig_open(b.r, &b.s);
	(void)ndd_rig_segment(b.r, b.client, SEGMENT_BYTES, &m.segment);
	m.pd = handshake_ask(&b, &(struct ndsh_id_msg){.h.type = NDSH_MSG_PD_CREATE});
	m.send_cq = m.recv_cq =
		handshake_ask(&b, &(struct ndsh_cq_create){.h.type = NDSH_MSG_CQ_CREATE,
					  .segment = m.segment,
					  .depth = 64,
					  .offset = at});
	m.offset = at += 65536;
	if (has_srq)
		m.srq = handshake_ask(&b, &(struct ndsh_srq_create){.h.type = NDSH_MSG_SRQ_CREATE,
						  .pd = m.pd,
						  .segment = m.segment,
						  .offset = m.offset,
						  .depth = 16,
						  .sge = 1});
	m.offset = at + 65536;
	b.qp_id = handshake_ask(&b, &m);
	b.qp = ndd_slots_get(&b.s->qps, b.qp_id);
	cr_assert(ne(ptr, b.qp, NULL));
	return b;
}

struct handshake
handshake_new(bool has_srq)
{
	return handshake_at(ndd_rig_new(), has_srq);
}

struct cm_mad
handshake_mad(struct handshake *b, struct roce_cm_tx *tx)
{
	return peer_gets(b->r, tx);
}

struct roce_cm_event
handshake_hear(struct handshake *b, const struct cm_mad *m)
{
	return peer_sends(b->r, PEER_IP, m);
}

struct ndd_conn *
handshake_connect(struct handshake *b, uint8_t tos, const struct net_nexthop *hop)
{
	struct ndsh_connect m = {.h.type = NDSH_MSG_CONNECT,
		.qp = b->qp_id,
		.remote.port = SERVICE,
		.local.port = PEER_PORT,
		.inbound_reads = 7,
		.outbound_reads = 5,
		.tos = tos};
	struct ndd_conn *c;

	memcpy(m.remote.ip, net_rig_gid(PEER_IP).raw, 16);
	memcpy(m.local.ip, net_rig_gid(NDD_RIG_IP).raw, 16);
	c = ndd_slots_get(&b->s->conns, handshake_ask(b, &m));
	cr_assert(ne(ptr, c, NULL));
	c->hop = *hop;
	ndd_conn_send_request(c, ndd_now_ns());
	return c;
}

/* checks W-CM-31[1], W-CM-33[1,3], W-CM-70[1], W-CM-73[1,4]: what a REQ says. */
void
handshake_reply(struct handshake *b, struct ndd_conn *c, bool srq)
{
	struct roce_cm_tx tx;
	const struct cm_mad req = handshake_mad(b, &tx);
	const struct cm_mad rep = {.attr = CM_ATTR_REP,
		.local_id = 0x99,
		.remote_id = req.local_id,
		.qpn = PEER_QPN,
		.psn = PEER_PSN,
		.responder_resources = 4,
		.initiator_depth = 3,
		.target_ack_delay = 17,
		.rnr_retry = 6,
		.srq = srq};
	const struct roce_cm_event ev = handshake_hear(b, &rep);
	union handshake_told told;

	cr_assert(eq(int, ev.type, ROCE_CM_EV_REPLY));
	cr_assert(eq(ptr, ev.owner, c));
	ndd_conn_on_reply(&b->r->d, &ev);
	cr_assert_gt(ndd_rig_take(b->client, &told, NULL), 0);
	cr_assert(eq(u16, told.conn.h.type, NDSH_EV_CONN_REPLY));
}
