/* SPDX-License-Identifier: BSD-3-Clause */
/* Payloads in the descriptor itself: what stands there, and which daemons are sent them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "ndclient/cq/cq.h"
#include "ndclient/mem/pd.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "rigs/daemon_rig.h"

/* ---- the ring ---- */

struct ring {
	void *block;
	struct ndsh_sq client, daemon;
};

/* With an inline area full of bytes that must not be read. */
static struct ring
make_ring(uint32_t inline_bytes)
{
	const struct ndsh_qp_dims d = {4, 4, 2, 1, inline_bytes};
	struct ndsh_qp_layout l;
	struct ring r;

	cr_assert(ndsh_qp_layout(&d, &l));
	r.block = aligned_alloc(NDSH_CACHE_LINE, l.total_bytes);
	memset(r.block, 0, l.total_bytes);
	ndsh_sq_view(&r.client, r.block, &d);
	ndsh_sq_view(&r.daemon, r.block, &d);
	memset(r.client.inl, 0xee, l.total_bytes - l.inline_off);
	return r;
}

Test(short, every_length_comes_back_as_posted_over_many_laps)
{
	struct ring r = make_ring(100);
	uint8_t data[NDSH_SHORT_MAX];
	struct ndsh_send out;

	for (uint32_t i = 0; i < 3 * (NDSH_SHORT_MAX + 1); i++) {
		uint32_t bytes = i % (NDSH_SHORT_MAX + 1), flags = NDSH_WRF_INLINE | NDSH_WRF_SHORT;
		struct ndsh_swr wr = {.context = i,
			.raddr = ~0ull - i,
			.rkey = 7 * i,
			.imm = ~i,
			.inline_bytes = bytes,
			.ctrl = NDSH_CTRL(NDSH_OP_WRITE_IMM, 0, flags, 0)};

		for (uint32_t k = 0; k < sizeof(data); k++)
			data[k] = (uint8_t)(i * 31 + k + 1);
		memcpy(wr.data, data, bytes);
		ndsh_sq_push(&r.client, &wr, NULL, NULL);
		cr_assert(ndsh_sq_ready(&r.daemon));
		cr_assert(eq(int, ndsh_sq_fetch(&r.daemon, &out), NDSH_FETCH_OK));
		cr_expect(eq(u64, out.context, wr.context));
		cr_expect(eq(u64, out.raddr, wr.raddr));
		cr_expect(eq(u32, out.rkey, wr.rkey));
		cr_expect(eq(u32, out.imm, wr.imm));
		cr_expect(eq(u32, out.bytes, bytes));
		cr_expect(zero(int, out.num_sge));
		cr_expect(zero(int, memcmp(out.inl, data, bytes)), "%u bytes", bytes);
	}
	cr_expect(eq(int, r.client.inl[0], 0xee), "the inline area is not written");
	free(r.block);
}

/* The one before it in the same slot had all its words: nothing of it is left in those behind. */
Test(short, descriptors_of_all_kinds_follow_each_other)
{
	struct ring r = make_ring(100);
	const struct ndsh_sge sge = {0x1000, 8, 5};
	const uint8_t area[40] = "in the area";
	struct ndsh_swr wr = {.data = {1, 2, 3, 4},
		.inline_bytes = 32,
		.ctrl = NDSH_CTRL(NDSH_OP_SEND, 0, NDSH_WRF_INLINE | NDSH_WRF_SHORT, 0)};
	struct ndsh_send out;

	for (uint32_t i = 0; i < 4; i++) {
		ndsh_sq_push(&r.client, &wr, NULL, NULL);
		cr_assert(eq(int, ndsh_sq_fetch(&r.daemon, &out), NDSH_FETCH_OK));
	}
	wr = (struct ndsh_swr){.arg = {7, 8}, .ctrl = NDSH_CTRL(NDSH_OP_CMP_SWAP, 1, 0, 0)};
	ndsh_sq_push(&r.client, &wr, &sge, NULL);
	cr_assert(eq(int, ndsh_sq_fetch(&r.daemon, &out), NDSH_FETCH_OK));
	cr_expect(zero(int, memcmp(out.sge, &sge, sizeof(sge))));
	cr_expect(eq(u64, out.arg[0], 7));
	cr_expect(eq(u64, out.arg[1], 8));
	wr = (struct ndsh_swr){.inline_bytes = sizeof(area),
		.ctrl = NDSH_CTRL(NDSH_OP_SEND, 0, NDSH_WRF_INLINE, 0)};
	ndsh_sq_push(&r.client, &wr, NULL, area);
	cr_assert(eq(int, ndsh_sq_fetch(&r.daemon, &out), NDSH_FETCH_OK));
	cr_expect(zero(int, memcmp(out.inl, area, sizeof(area))));
	free(r.block);
}

/* A client that writes this breaks the contract, and the index stays. */
static void
expect_broken(uint32_t room, uint32_t bytes, enum ndsh_op op, uint32_t flags)
{
	struct ring r = make_ring(room);
	struct ndsh_send out;

	r.client.ring[0] = (struct ndsh_swr){
		.inline_bytes = bytes, .data = {8, 8, 8, 8}, .ctrl = NDSH_CTRL(op, 0, flags, 1)};
	cr_expect(eq(int, ndsh_sq_fetch(&r.daemon, &out), NDSH_FETCH_BROKEN),
		"room %u, %u bytes, operation %u, flags %x", room, bytes, op, flags);
	cr_expect(zero(u32, r.daemon.next));
	free(r.block);
}

Test(short, what_breaks_the_contract_is_refused)
{
	const uint32_t both = NDSH_WRF_INLINE | NDSH_WRF_SHORT;

	expect_broken(100, NDSH_SHORT_MAX + 1, NDSH_OP_SEND, both);
	expect_broken(100, 100, NDSH_OP_WRITE, both);
	expect_broken(100, UINT32_MAX, NDSH_OP_WRITE, both);
	expect_broken(8, 9, NDSH_OP_SEND, both); /* more than the queue pair was given */
	expect_broken(0, 1, NDSH_OP_SEND, both);
	expect_broken(100, 8, NDSH_OP_SEND, NDSH_WRF_SHORT);
	for (uint32_t op = NDSH_OP_READ; op <= NDSH_OP_FAST_REGISTER; op++) {
		expect_broken(100, 8, op, both);
		expect_broken(100, 8, op, NDSH_WRF_SHORT);
	}
}

/* ---- the library ---- */

/* Flags of the descriptor that a request of so many bytes becomes, with a daemon of that age. */
static uint32_t
posted(uint32_t minor, uint32_t bytes, uint32_t nd_flags)
{
	static struct daemon_rig rig;
	struct nd_qp_options opt = {.receive_depth = 4, .initiator_depth = 4, .inline_bytes = 64};
	uint8_t data[64] = "so and so many bytes, of which some are in the descriptor itself";
	struct nd_sge sge[2] = {{data, bytes / 2, 0}, {data + bytes / 2, bytes - bytes / 2, 0}};
	struct ndsh_sq daemon;
	struct ndsh_send out;
	struct nd_adapter *a;
	struct nd_cq *cq;
	struct nd_pd *pd;
	struct nd_qp *qp;
	uint32_t ctrl;

	daemon_rig_start(&rig);
	a = daemon_rig_open(&rig);
	a->abi_minor = minor;
	cr_assert(eq(i32, nd_pd_create(a, &pd), ND_SUCCESS));
	cr_assert(eq(i32, nd_cq_create(a, 8, &cq), ND_SUCCESS));
	opt.receive_cq = opt.initiator_cq = cq;
	cr_assert(eq(i32, nd_qp_create(pd, &opt, &qp), ND_SUCCESS));
	qp->state = ND_QP_CONNECTED;
	cr_assert(eq(i32, nd_qp_send(qp, NULL, sge, 2, nd_flags), ND_SUCCESS));
	ctrl = qp->sq.ring[0].ctrl;
	daemon = qp->sq;
	daemon.next = 0;
	cr_assert(eq(int, ndsh_sq_fetch(&daemon, &out), NDSH_FETCH_OK));
	cr_expect(eq(u32, out.bytes, bytes));
	if (nd_flags & ND_OP_FLAG_INLINE)
		cr_expect(zero(int, memcmp(out.inl, data, bytes)));
	nd_qp_close(qp);
	nd_cq_close(cq);
	nd_pd_close(pd);
	nd_adapter_close(a);
	daemon_rig_stop(&rig);
	return NDSH_CTRL_FLAGS(ctrl);
}

/* checks R-POST-09 */
Test(short, what_is_short_goes_into_the_descriptor_unless_the_daemon_is_older)
{
	const uint32_t both = NDSH_WRF_INLINE | NDSH_WRF_SHORT;

	cr_expect(eq(u32, posted(NDSH_ABI_MINOR, 8, ND_OP_FLAG_INLINE), both));
	cr_expect(eq(u32, posted(NDSH_ABI_MINOR, 0, ND_OP_FLAG_INLINE), both));
	cr_expect(eq(u32, posted(NDSH_ABI_MINOR, NDSH_SHORT_MAX, ND_OP_FLAG_INLINE), both));
	cr_expect(eq(u32, posted(NDSH_ABI_MINOR, NDSH_SHORT_MAX + 1, ND_OP_FLAG_INLINE),
		NDSH_WRF_INLINE));
	cr_expect(eq(u32, posted(NDSH_ABI_MINOR, 8, 0), 0));
	cr_expect(eq(u32, posted(NDSH_MINOR_SHORT - 1, 8, ND_OP_FLAG_INLINE), NDSH_WRF_INLINE));
	cr_expect(eq(u32, posted(NDSH_MINOR_SHORT - 1, 0, ND_OP_FLAG_INLINE), NDSH_WRF_INLINE));
}
