/* SPDX-License-Identifier: BSD-3-Clause */
#include "rigs/numbers_bench.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "object/qp.h"
#include "rigs/net_rig.h"
#include "rigs/peer_mads.h"

#define SEGMENT_BYTES (1u << 20)

const struct net_nexthop numbers_next_hop = {
	.port = 0, .smac = {2, 1}, .dmac = {2, 2}, .mtu = 1500};

enum ndsh_status
numbers_ask(const struct numbers_bench *b, const void *msg, union numbers_reply *reply)
{
	return ndd_rig_ask(b->r, b->client, msg, reply);
}

uint32_t
numbers_made(const struct numbers_bench *b, const void *msg)
{
	union numbers_reply reply;

	cr_assert(eq(i32, numbers_ask(b, msg, &reply), NDSH_OK));
	return reply.id.id;
}

static uint32_t
make_qp(struct numbers_bench *b, bool datagrams)
{
	struct ndsh_ud_qp_create ud;
	struct ndsh_qp_create m = {.h.type = datagrams ? NDSH_MSG_UD_QP_CREATE : NDSH_MSG_QP_CREATE,
		.sq_depth = 4,
		.rq_depth = 4,
		.sq_sge = 1,
		.rq_sge = 1,
		.offset = 131072};

	(void)ndd_rig_segment(b->r, b->client, SEGMENT_BYTES, &m.segment);
	m.pd = numbers_made(b, &(struct ndsh_id_msg){.h.type = NDSH_MSG_PD_CREATE});
	m.send_cq = m.recv_cq =
		numbers_made(b, &(struct ndsh_cq_create){.h.type = NDSH_MSG_CQ_CREATE,
					.segment = m.segment,
					.depth = 64,
					.offset = 65536}); /* behind the session page */
	ud = (struct ndsh_ud_qp_create){.q = m, .q_key = NUMBERS_Q_KEY};
	return numbers_made(b, datagrams ? (const void *)&ud : &m);
}

struct numbers_bench
numbers_bench_of(struct ndd_rig *r, bool datagrams)
{
	struct numbers_bench b = {.r = r};
	union numbers_reply reply;
	uint32_t id;

	b.client = ndd_rig_open(r, &b.s);
	id = make_qp(&b, datagrams);
	b.qp = ndd_slots_get(&b.s->qps, id);
	cr_assert(eq(i32,
		numbers_ask(
			&b, &(struct ndsh_id_msg){.h.type = NDSH_MSG_CM_PERMIT, .id = id}, &reply),
		NDSH_OK));
	b.permit = reply.permit.permit;
	return b;
}

struct numbers_bench
numbers_bench_in(struct ndd_rig *r)
{
	return numbers_bench_of(r, false);
}

uint32_t
numbers_bound(const struct numbers_bench *b, enum ndsh_msg_type space, uint16_t port)
{
	struct ndsh_bind m = {.h.type = (uint16_t)space, .addr.port = port};
	union numbers_reply reply;

	memcpy(m.addr.ip, net_rig_gid(NDD_RIG_IP).raw, 16);
	cr_assert(eq(i32, numbers_ask(b, &m, &reply), NDSH_OK));
	return reply.bind.id;
}

struct cm_mad
numbers_mad(const struct numbers_bench *b)
{
	struct roce_cm_tx tx;

	return peer_gets(b->r, &tx);
}

struct roce_cm_event
numbers_hear(const struct numbers_bench *b, const struct cm_mad *m)
{
	return peer_sends(b->r, NUMBERS_PEER_IP, m);
}

struct ndsh_ev_cm
numbers_told(const struct numbers_bench *b, uint32_t kind)
{
	union numbers_reply m;

	cr_assert(eq(long, ndd_rig_take(b->client, &m, NULL), (long)sizeof(m.cm)));
	cr_assert(eq(u16, m.cm.h.type, NDSH_EV_CM));
	cr_assert(eq(u32, m.cm.kind, kind));
	return m.cm;
}
