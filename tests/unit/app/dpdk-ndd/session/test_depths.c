/* SPDX-License-Identifier: BSD-3-Clause */
/* How deep the queues of a session may be: what OPEN tells, by the memory that there is. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "rigs/ndd_rig.h"
#include "rigs/net_rig.h"
#include "session/depths.h"
#include "shm/ndsh_ring.h"

#define MIB (1ull << 20)

union reply {
	struct ndsh_open_reply open;
	uint8_t bytes[NDSH_MSG_BYTES];
};

/* The daemon's word to a client of that minor version. */
static struct ndsh_open_reply
told(struct ndd_rig *r, uint16_t minor)
{
	const struct net_ip ip = net_rig_ip(NDD_RIG_IP);
	struct ndsh_open open = {.h.type = NDSH_MSG_OPEN, .placement = NDSH_PLACE_ANY};
	struct ndsh_hello hello;
	struct ndd_session *s;
	union reply reply;
	int client = ndd_rig_connect(r, &s);

	ndsh_hello_fill(&hello);
	hello.abi_minor = minor;
	cr_assert(eq(i32, ndd_rig_ask(r, client, &hello, &reply), NDSH_OK));
	memcpy(open.addr.ip, ip.b, 16);
	cr_assert(eq(i32, ndd_rig_ask(r, client, &open, &reply), NDSH_OK));
	return reply.open;
}

static struct ndsh_open_reply
told_with(uint64_t session_bytes, uint64_t total_bytes)
{
	struct ndd_rig *r = ndd_rig_new();

	r->cfg.max_memory_bytes = session_bytes;
	r->cfg.total_memory_bytes = total_bytes;
	ndd_rig_principals(r);
	return told(r, NDSH_ABI_MINOR);
}

/* Depths from the least that each session is told to the most that a ring can have. */
Test(depths, follow_from_the_memory_of_a_session)
{
	static const struct {
		uint64_t mib;
		uint32_t depth, cq_depth;
	} rows[] = {
		{2, 4096, 16384},
		{16, 4096, 65536},
		{64, 8192, 262144},
		{1024, 131072, 4194304},
		{8192, 1048576, 33554432},
		{65536, NDSH_DEPTH_MAX, NDSH_CQ_DEPTH_MAX},
		{1048576, NDSH_DEPTH_MAX, NDSH_CQ_DEPTH_MAX},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct ndsh_open_reply o = told_with(rows[i].mib * MIB, 16777216ull * MIB);

		cr_expect(eq(u32, o.max_depth, rows[i].depth), "row %zu", i);
		cr_expect(eq(u32, o.max_srq_depth, rows[i].depth), "row %zu", i);
		cr_expect(eq(u32, o.max_cq_depth, rows[i].cq_depth), "row %zu", i);
	}
}

/* An eighth of the memory holds a queue pair with the deepest queues and all else at its most, and
 * so does it the deepest ring of a completion queue; the next power of two would be too much. */
Test(depths, what_is_told_can_be_had)
{
	for (uint64_t mib = 64; mib <= 32768; mib *= 2) {
		const struct ndsh_open_reply o = told_with(mib * MIB, 16777216ull * MIB);
		struct ndsh_qp_dims d = {
			o.max_depth, o.max_depth, o.max_sge, o.max_sge, o.max_inline};
		struct ndsh_qp_layout l;

		cr_assert(ndsh_qp_layout(&d, &l));
		cr_expect(le(u64, l.total_bytes, mib * MIB / 8));
		d.sq_depth = d.rq_depth = 2 * o.max_depth;
		if (ndsh_qp_layout(&d, &l))
			cr_expect(lt(u64, mib * MIB / 8, l.total_bytes));
		cr_expect(le(u64, ndsh_cq_ring_bytes(o.max_cq_depth), mib * MIB / 8));
		cr_expect(ge(u32, o.max_cq_depth, 4 * o.max_depth));
	}
}

/* All sessions of a principal together may have less than one session. */
Test(depths, follow_from_the_share_of_a_principal)
{
	struct ndd_rig *r;

	cr_expect(eq(u32, told_with(1024 * MIB, 64 * MIB).max_depth, 8192),
		"seven eighths of 64 MiB, and an eighth of these");
	cr_expect(eq(u32, told_with(1024 * MIB, 128 * MIB).max_depth, 16384));
	r = ndd_rig_new();
	r->cfg.max_memory_bytes = 8192 * MIB;
	r->cfg.total_memory_bytes = 65536 * MIB;
	r->cfg.principals = 1;
	strcpy(r->cfg.principal[0].name, "red");
	r->cfg.principal[0].weight = 1;
	r->cfg.principal[0].allow = true;
	r->cfg.principal[0].has_limit[CONFIG_SHARE_memory_mb] = true;
	r->cfg.principal[0].limit[CONFIG_SHARE_memory_mb] = 1024;
	ndd_rig_principals(r);
	cr_expect(eq(u32, told(r, NDSH_ABI_MINOR).max_depth, 131072));
}

/* Its library computes layouts, and finds none for a deeper ring. */
Test(depths, an_older_client_is_told_what_its_rings_carry)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndsh_open_reply o;

	r->cfg.max_memory_bytes = 1024 * MIB;
	r->cfg.total_memory_bytes = 65536 * MIB;
	ndd_rig_principals(r);
	o = told(r, NDSH_MINOR_DEEP_QUEUES - 1);
	cr_expect(eq(u32, o.max_depth, 4096));
	cr_expect(eq(u32, o.max_srq_depth, 4096));
	cr_expect(eq(u32, o.max_cq_depth, 65536));
	o = told(r, NDSH_MINOR_DEEP_QUEUES);
	cr_expect(eq(u32, o.max_depth, 131072));
}

/* ---- queue pairs ---- */

static uint32_t
queue_pairs_told(uint32_t configured, uint16_t minor)
{
	struct ndd_rig *r = ndd_rig_new();

	r->cfg.max_qps = configured;
	return told(r, minor).max_qps;
}

/* A library that gives each queue pair a doorbell of its own has no more than there are. */
Test(depths, an_old_library_has_a_doorbell_for_each_queue_pair)
{
	const uint16_t many = NDSH_MINOR_MANY_QPS, before = NDSH_MINOR_MANY_QPS - 1;

	cr_expect(eq(u32, queue_pairs_told(NDSH_QP_PER_SESSION_MAX, many), 16380));
	cr_expect(eq(u32, queue_pairs_told(NDSH_QP_PER_SESSION_MAX, before), 4095));
	cr_expect(eq(u32, queue_pairs_told(4096, before), 4095));
	cr_expect(eq(u32, queue_pairs_told(1000, before), 1000));
}
