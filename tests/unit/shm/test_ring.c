/* SPDX-License-Identifier: BSD-3-Clause */
/* Rings of the shared-memory ABI: round trips, laps, and every way to break a descriptor. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "shm/ndsh_ring.h"

struct rings {
	void *block;
	struct ndsh_sq client_sq, daemon_sq;
	struct ndsh_rq client_rq, daemon_rq;
};

static struct rings
make_rings(struct ndsh_qp_dims d)
{
	struct ndsh_qp_layout l;
	struct rings r;

	cr_assert(ndsh_qp_layout(&d, &l));
	r.block = aligned_alloc(64, l.total_bytes);
	memset(r.block, 0, l.total_bytes);
	ndsh_sq_view(&r.client_sq, r.block, &d);
	ndsh_sq_view(&r.daemon_sq, r.block, &d);
	ndsh_rq_view(&r.client_rq, r.block, &d);
	ndsh_rq_view(&r.daemon_rq, r.block, &d);
	return r;
}

static const struct ndsh_qp_dims usual = {
	.sq_depth = 4, .rq_depth = 8, .sq_sge = 4, .rq_sge = 3, .inline_bytes = 100};

Test(shm_layout, parts_are_aligned_and_disjoint)
{
	struct ndsh_qp_dims d = {4096, 4096, 16, 16, 256};
	struct ndsh_qp_layout l;

	cr_assert(ndsh_qp_layout(&d, &l));
	cr_assert(eq(u32, l.sq_off, sizeof(struct ndsh_qp_page)));
	cr_assert(ge(u32, l.rq_off, l.sq_off + 4096 * 64));
	cr_assert(ge(u32, l.sq_sge_off, l.rq_off + 4096 * 32));
	cr_assert(ge(u32, l.rq_sge_off, l.sq_sge_off + 4096 * 16 * 16));
	cr_assert(ge(u32, l.inline_off, l.rq_sge_off + 4096 * 16 * 16));
	cr_assert(ge(u32, l.total_bytes, l.inline_off + 4096 * 256));
	cr_assert(zero(u32, (l.rq_off | l.sq_sge_off | l.rq_sge_off | l.inline_off) % 64));
}

Test(shm_layout, dimensions_out_of_range_are_refused)
{
	const struct ndsh_qp_dims bad[] = {{0, 4, 1, 1, 0}, {4, 0, 1, 1, 0}, {3, 4, 1, 1, 0},
		{4, 6, 1, 1, 0}, {2 * NDSH_DEPTH_MAX, 4, 1, 1, 0}, {4, 2 * NDSH_DEPTH_MAX, 1, 1, 0},
		{4, 4, 0, 1, 0}, {4, 4, 1, 0, 0}, {4, 4, 17, 1, 0}, {4, 4, 1, 17, 0},
		{4, 4, 1, 1, 257}, {0x80000000u, 4, 1, 1, 0}, {4, 4, 1, 1, UINT32_MAX}};
	struct ndsh_qp_layout l;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		cr_expect(not(ndsh_qp_layout(&bad[i], &l)), "row %zu", i);
	cr_expect(zero(u32, ndsh_cq_bytes(0)));
	cr_expect(zero(u32, ndsh_cq_bytes(1)));
	cr_expect(zero(u32, ndsh_cq_bytes(3)));
	cr_expect(zero(u32, ndsh_cq_bytes(2 * NDSH_CQ_DEPTH_MAX)));
	cr_expect(eq(u32, ndsh_cq_bytes(2), 192 + 64));
	cr_expect(eq(u32, ndsh_cq_bytes(65536), 192 + 65536 * 32));
}

Test(shm_sq, descriptors_come_back_as_posted_over_many_laps)
{
	struct rings r = make_rings(usual);
	struct ndsh_send out;

	for (uint32_t i = 0; i < 50; i++) {
		uint32_t n = i % 5;
		struct ndsh_sge sge[4];
		struct ndsh_swr wr = {.context = 1000 + i,
			.raddr = 0x123456789abcull + i,
			.rkey = 7 * i,
			.imm = 9 * i,
			.ctrl = NDSH_CTRL(NDSH_OP_WRITE, n, i % 4, 0)};

		for (uint32_t k = 0; k < n; k++)
			sge[k] = (struct ndsh_sge){.addr = i * 100 + k, .len = i + k, .key = ~k};
		cr_assert(not(ndsh_sq_ready(&r.daemon_sq)));
		cr_assert(eq(int, ndsh_sq_fetch(&r.daemon_sq, &out), NDSH_FETCH_EMPTY));
		ndsh_sq_push(&r.client_sq, &wr, sge, NULL);
		cr_assert(ndsh_sq_ready(&r.daemon_sq));
		cr_assert(eq(int, ndsh_sq_fetch(&r.daemon_sq, &out), NDSH_FETCH_OK));
		cr_expect(eq(u64, out.context, wr.context));
		cr_expect(eq(u64, out.raddr, wr.raddr));
		cr_expect(eq(u32, out.rkey, wr.rkey));
		cr_expect(eq(u32, out.imm, wr.imm));
		cr_expect(eq(int, out.op, NDSH_OP_WRITE));
		cr_expect(eq(int, out.flags, i % 4));
		cr_expect(eq(int, out.num_sge, n));
		cr_expect(eq(u32, out.bytes, n * i + n * (n - 1) / 2 * (n > 0)));
		cr_expect(zero(int, memcmp(out.sge, sge, n * sizeof(*sge))));
	}
	free(r.block);
}

Test(shm_sq, a_full_ring_is_read_in_order)
{
	struct rings r = make_rings(usual);
	struct ndsh_send out;

	for (uint32_t i = 0; i < 4; i++)
		ndsh_sq_push(&r.client_sq,
			&(struct ndsh_swr){.context = i, .ctrl = NDSH_CTRL(NDSH_OP_SEND, 0, 0, 0)},
			NULL, NULL);
	for (uint32_t i = 0; i < 4; i++) {
		cr_assert(eq(int, ndsh_sq_fetch(&r.daemon_sq, &out), NDSH_FETCH_OK));
		cr_expect(eq(u64, out.context, i));
	}
	cr_expect(eq(int, ndsh_sq_fetch(&r.daemon_sq, &out), NDSH_FETCH_EMPTY));
	free(r.block);
}

Test(shm_sq, inline_bytes_of_every_length)
{
	struct rings r = make_rings(usual);
	uint8_t data[100];
	struct ndsh_send out;

	for (uint32_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 31 + 7);
	for (uint32_t bytes = 0; bytes <= sizeof(data); bytes++) {
		struct ndsh_swr wr = {.inline_bytes = bytes,
			.ctrl = NDSH_CTRL(NDSH_OP_SEND, 0, NDSH_WRF_INLINE, 0)};

		ndsh_sq_push(&r.client_sq, &wr, NULL, data);
		cr_assert(eq(int, ndsh_sq_fetch(&r.daemon_sq, &out), NDSH_FETCH_OK));
		cr_expect(eq(u32, out.bytes, bytes));
		cr_expect(zero(int, out.num_sge));
		cr_expect(zero(int, memcmp(out.inl, data, bytes)));
	}
	free(r.block);
}

/* A client that writes this descriptor breaks the contract, and the index stays. */
static void
expect_broken(const char *what, struct ndsh_swr wr, const struct ndsh_sge *sge, uint32_t n)
{
	struct rings r = make_rings(usual);
	struct ndsh_send out;

	if (n == 1)
		wr.sge0 = sge[0];
	else if (n > 1)
		memcpy(r.client_sq.sge, sge, n * sizeof(*sge));
	r.client_sq.ring[0] = wr;
	cr_expect(eq(int, ndsh_sq_fetch(&r.daemon_sq, &out), NDSH_FETCH_BROKEN), "%s", what);
	cr_expect(zero(u32, r.daemon_sq.next), "%s", what);
	free(r.block);
}

/* checks W-MEM-05[9] */
Test(shm_sq, every_corruption_is_refused)
{
	const struct ndsh_sge huge[4] = {{0, 0x80000000u, 1}, {0, 1, 1}, {0, 0, 0}, {0, 0, 0}};
	const struct ndsh_sge wraps[4] = {
		{0, UINT32_MAX, 1}, {0, UINT32_MAX, 1}, {0, 3, 1}, {0, 0, 0}}; /* mod 2^32: 1 */

	for (uint32_t op = 0; op < 256; op++)
		if (op < NDSH_OP_SEND || op > NDSH_OP_FAST_REGISTER)
			expect_broken("operation",
				(struct ndsh_swr){.ctrl = NDSH_CTRL(op, 0, 0, 1)}, NULL, 0);
	for (uint32_t bit = 4; bit < 15; bit++)
		expect_broken("flag",
			(struct ndsh_swr){.ctrl = NDSH_CTRL(NDSH_OP_SEND, 0, 1u << bit, 1)}, NULL,
			0);
	for (uint32_t n = 5; n < 256; n++) /* beyond this queue's 4 */
		expect_broken("count of SGEs",
			(struct ndsh_swr){.ctrl = NDSH_CTRL(NDSH_OP_SEND, n, 0, 1)}, NULL, 0);
	expect_broken("one byte too long",
		(struct ndsh_swr){.ctrl = NDSH_CTRL(NDSH_OP_READ, 2, 0, 1)}, huge, 2);
	expect_broken("2^32 - 1 in one",
		(struct ndsh_swr){.ctrl = NDSH_CTRL(NDSH_OP_READ, 1, 0, 1)}, wraps, 1);
	expect_broken("a sum that wraps",
		(struct ndsh_swr){.ctrl = NDSH_CTRL(NDSH_OP_WRITE, 3, 0, 1)}, wraps, 3);
	for (uint32_t k = 0; k < 32; k++) {
		uint32_t bytes = k == 0 ? 101 : 101u << k | 1u << k;

		if (bytes > 100)
			expect_broken("inline bytes",
				(struct ndsh_swr){.inline_bytes = bytes,
					.ctrl = NDSH_CTRL(NDSH_OP_SEND, 0, NDSH_WRF_INLINE, 1)},
				NULL, 0);
	}
	for (uint32_t op = NDSH_OP_READ; op <= NDSH_OP_FAST_REGISTER; op++)
		expect_broken("inline with an operation that sends no payload",
			(struct ndsh_swr){.ctrl = NDSH_CTRL(op, 0, NDSH_WRF_INLINE, 1)}, NULL, 0);
	for (uint32_t op = NDSH_OP_BIND; op <= NDSH_OP_FAST_REGISTER; op++) {
		expect_broken("an SGE where none belongs",
			(struct ndsh_swr){.ctrl = NDSH_CTRL(op, 1, 0, 1)}, huge + 1, 1);
		expect_broken("SOLICIT where nothing is sent",
			(struct ndsh_swr){.ctrl = NDSH_CTRL(op, 0, NDSH_WRF_SOLICIT, 1)}, NULL, 0);
	}
	expect_broken("an SGE beside arguments that are right",
		(struct ndsh_swr){.raddr = 0x7000,
			.arg = {1, NDSH_FRMR_ARG(NDSH_ACCESS_LOCAL_WRITE, 0, 1)},
			.ctrl = NDSH_CTRL(NDSH_OP_FAST_REGISTER, 1, 0, 1)},
		huge + 1, 1);
	for (uint32_t op = NDSH_OP_CMP_SWAP; op <= NDSH_OP_FETCH_ADD; op++) {
		const struct ndsh_sge seven[2] = {{0, 7, 1}, {0, 1, 1}}, nine = {0, 9, 1},
				      eight = {0, 8, 1};

		expect_broken("no SGE", (struct ndsh_swr){.ctrl = NDSH_CTRL(op, 0, 0, 1)}, NULL, 0);
		expect_broken("8 bytes in two", (struct ndsh_swr){.ctrl = NDSH_CTRL(op, 2, 0, 1)},
			seven, 2);
		expect_broken(
			"7 bytes", (struct ndsh_swr){.ctrl = NDSH_CTRL(op, 1, 0, 1)}, seven, 1);
		expect_broken(
			"9 bytes", (struct ndsh_swr){.ctrl = NDSH_CTRL(op, 1, 0, 1)}, &nine, 1);
		expect_broken("SOLICIT of an atomic",
			(struct ndsh_swr){.ctrl = NDSH_CTRL(op, 1, NDSH_WRF_SOLICIT, 1)}, &eight,
			1);
	}
	for (uint32_t bit = 0; bit < 32; bit++)
		if (!((NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE |
			      NDSH_ACCESS_REMOTE_ATOMIC) >>
				    bit &
			    1))
			expect_broken("a right that no window grants",
				(struct ndsh_swr){.arg[1] = 1ull << bit,
					.ctrl = NDSH_CTRL(NDSH_OP_BIND, 0, 0, 1)},
				NULL, 0);
}

Test(shm_sq, binds_come_back_as_posted)
{
	struct rings r = make_rings(usual);
	const struct ndsh_swr wr = {.context = 1,
		.raddr = 0x7f0000001000,
		.rkey = 0x12345678,
		.imm = 0xffffffff,
		.arg = {UINT64_MAX,
			(NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE) | 0xabcdef01ull << 32},
		.ctrl = NDSH_CTRL(NDSH_OP_BIND, 0, NDSH_WRF_SILENT | NDSH_WRF_FENCE, 0)};
	struct ndsh_send out;

	ndsh_sq_push(&r.client_sq, &wr, NULL, NULL);
	cr_assert(eq(int, ndsh_sq_fetch(&r.daemon_sq, &out), NDSH_FETCH_OK));
	cr_expect(eq(int, out.op, NDSH_OP_BIND));
	cr_expect(eq(int, out.flags, NDSH_WRF_SILENT | NDSH_WRF_FENCE));
	cr_expect(eq(u64, out.raddr, wr.raddr));
	cr_expect(eq(u32, out.rkey, wr.rkey));
	cr_expect(eq(u32, out.imm, wr.imm));
	cr_expect(eq(u64, out.arg[0], wr.arg[0]));
	cr_expect(eq(u64, out.arg[1], wr.arg[1]));
	cr_expect(zero(u32, out.bytes), "no payload");
	free(r.block);
}

Test(shm_sq, atomics_come_back_as_posted)
{
	struct rings r = make_rings(usual);
	const struct ndsh_sge sge = {.addr = 0x7f0000001000, .len = 8, .key = 5};
	const struct ndsh_swr wr = {.raddr = 0x7f0000002000,
		.rkey = 6,
		.arg = {0x0123456789abcdef, UINT64_MAX},
		.ctrl = NDSH_CTRL(NDSH_OP_CMP_SWAP, 1, NDSH_WRF_FENCE, 0)};
	struct ndsh_send out;

	ndsh_sq_push(&r.client_sq, &wr, &sge, NULL);
	cr_assert(eq(int, ndsh_sq_fetch(&r.daemon_sq, &out), NDSH_FETCH_OK));
	cr_expect(eq(int, out.op, NDSH_OP_CMP_SWAP));
	cr_expect(eq(u32, out.bytes, 8));
	cr_expect(eq(u64, out.arg[0], wr.arg[0]));
	cr_expect(eq(u64, out.arg[1], wr.arg[1]));
	cr_expect(zero(int, memcmp(out.sge, &sge, sizeof(sge))));
	free(r.block);
}

/* What the daemon may count on when it goes through the page list. */
Test(shm_sq, fast_registrations_are_judged)
{
	enum { LW = NDSH_ACCESS_LOCAL_WRITE, RW = NDSH_ACCESS_REMOTE_WRITE };
	static const struct {
		uint64_t base, bytes, arg;
		bool ok;
	} rows[] = {
		{0x7000, 1, NDSH_FRMR_ARG(0, 0, 1), true},
		{0x7000, 4096, NDSH_FRMR_ARG(LW | RW | NDSH_ACCESS_REMOTE_READ, 3, 1), true},
		{0x7fff, 1, NDSH_FRMR_ARG(LW, 0, 1), true},
		{0x7fff, 512 * 4096 - 4095, NDSH_FRMR_ARG(LW, 0, 512), true},
		{0, 4096, NDSH_FRMR_ARG(LW, 0, 1), true},
		{UINT64_MAX - 4096, 4096, NDSH_FRMR_ARG(LW, 0, 2), true},
		{0x7000, 0, NDSH_FRMR_ARG(LW, 0, 1), false},
		{0x7000, 4097, NDSH_FRMR_ARG(LW, 0, 1), false},
		{0x7001, 4096, NDSH_FRMR_ARG(LW, 0, 1), false},
		{0x7fff, 512 * 4096 - 4094, NDSH_FRMR_ARG(LW, 0, 512), false},
		{0x7000, UINT64_MAX, NDSH_FRMR_ARG(LW, 0, 512), false},
		{UINT64_MAX - 4096, 4097, NDSH_FRMR_ARG(LW, 0, 2), false},
		{0x7000, 1, NDSH_FRMR_ARG(LW, 0, 0), false},
		{0x7000, 1, NDSH_FRMR_ARG(LW, 0, 513), false},
		{0x7000, 1, NDSH_FRMR_ARG(LW, 0, 0x10001), false},
		{0x7000, 1, NDSH_FRMR_ARG(LW, 4, 1), false},
		{0x7000, 1, NDSH_FRMR_ARG(RW, 0, 1), false},
		{0x7000, 1, NDSH_FRMR_ARG(NDSH_ACCESS_WINDOW_BIND, 0, 1), false},
		{0x7000, 1, NDSH_FRMR_ARG(NDSH_ACCESS_REMOTE_ATOMIC | LW, 0, 1), false},
		{0x7000, 1, NDSH_FRMR_ARG(LW, 0, 1) | 1ull << 40, false},
		{0x7000, 1, NDSH_FRMR_ARG(LW, 0, 1) | 1ull << 48, false},
		{0x7000, 1, NDSH_FRMR_ARG(LW, 0, 1) | 1ull << 63, false},
		{0x7001, 1, NDSH_FRMR_ARG(LW, 0, 0), false}, /* nor less than no page */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rings r = make_rings(usual);
		const struct ndsh_swr wr = {.raddr = rows[i].base,
			.arg = {rows[i].bytes, rows[i].arg},
			.ctrl = NDSH_CTRL(NDSH_OP_FAST_REGISTER, 0, 0, 0)};
		struct ndsh_send out;

		ndsh_sq_push(&r.client_sq, &wr, NULL, NULL);
		cr_expect(eq(int, ndsh_sq_fetch(&r.daemon_sq, &out),
				  rows[i].ok ? NDSH_FETCH_OK : NDSH_FETCH_BROKEN),
			"row %zu", i);
		free(r.block);
	}
}

Test(shm_sq, the_longest_message_is_accepted)
{
	struct rings r = make_rings(usual);
	const struct ndsh_sge sge[2] = {{0, 0x7fffffffu, 1}, {0, 1, 1}};
	struct ndsh_send out;

	ndsh_sq_push(&r.client_sq, &(struct ndsh_swr){.ctrl = NDSH_CTRL(NDSH_OP_READ, 2, 0, 0)},
		sge, NULL);
	cr_assert(eq(int, ndsh_sq_fetch(&r.daemon_sq, &out), NDSH_FETCH_OK));
	cr_expect(eq(u32, out.bytes, 0x80000000u));
	free(r.block);
}

Test(shm_rq, receives_come_back_as_posted_over_many_laps)
{
	struct rings r = make_rings(usual);
	struct ndsh_recv out;

	for (uint32_t i = 0; i < 50; i++) {
		uint32_t n = i % 4;
		struct ndsh_sge sge[3];

		for (uint32_t k = 0; k < n; k++)
			sge[k] = (struct ndsh_sge){.addr = i, .len = i + k, .key = k};
		cr_assert(not(ndsh_rq_ready(&r.daemon_rq)));
		ndsh_rq_push(&r.client_rq, i, sge, n);
		cr_assert(ndsh_rq_ready(&r.daemon_rq));
		cr_assert(eq(int, ndsh_rq_fetch(&r.daemon_rq, &out), NDSH_FETCH_OK));
		cr_expect(eq(u64, out.context, i));
		cr_expect(eq(int, out.num_sge, n));
		cr_expect(eq(u32, out.bytes, n * i + n * (n - 1) / 2 * (n > 0)));
		cr_expect(zero(int, memcmp(out.sge, sge, n * sizeof(*sge))));
		cr_expect(eq(int, ndsh_rq_fetch(&r.daemon_rq, &out), NDSH_FETCH_EMPTY));
	}
	free(r.block);
}

Test(shm_rq, corruptions_are_refused_and_room_is_capped)
{
	const uint32_t bad[] = {NDSH_CTRL(1, 0, 0, 1), NDSH_CTRL(0, 4, 0, 1),
		NDSH_CTRL(0, 255, 0, 1), NDSH_CTRL(0, 0, 1, 1), NDSH_CTRL(0, 0, 0x4000, 1)};
	const struct ndsh_sge big[2] = {{0, UINT32_MAX, 0}, {0, UINT32_MAX, 0}};
	struct ndsh_recv out;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct rings r = make_rings(usual);

		r.client_rq.ring[0].ctrl = bad[i];
		cr_expect(eq(int, ndsh_rq_fetch(&r.daemon_rq, &out), NDSH_FETCH_BROKEN), "row %zu",
			i);
		free(r.block);
	}
	struct rings r = make_rings(usual);

	ndsh_rq_push(&r.client_rq, 0, big, 2);
	cr_assert(eq(int, ndsh_rq_fetch(&r.daemon_rq, &out), NDSH_FETCH_OK));
	cr_expect(eq(u32, out.bytes, UINT32_MAX));
	ndsh_rq_push(&r.client_rq, 0, (const struct ndsh_sge[]){{0, UINT32_MAX, 0}, {0, 1, 0}}, 2);
	cr_assert(eq(int, ndsh_rq_fetch(&r.daemon_rq, &out), NDSH_FETCH_OK));
	cr_expect(eq(u32, out.bytes, UINT32_MAX), "2^32 bytes are not none");
	free(r.block);
}

struct queue {
	void *block;
	struct ndsh_cq daemon;
	struct ndsh_cq_reader client;
};

static struct queue
make_cq(uint32_t depth)
{
	struct queue q;

	q.block = aligned_alloc(64, ndsh_cq_bytes(depth));
	memset(q.block, 0, ndsh_cq_bytes(depth));
	ndsh_cq_view(&q.daemon, q.block, depth);
	ndsh_cq_reader_view(&q.client, q.block, depth);
	return q;
}

Test(shm_cq, entries_come_back_over_many_laps)
{
	struct queue q = make_cq(4);
	struct ndsh_cqe out[4];

	for (uint32_t i = 0; i < 60; i += 3) {
		for (uint32_t k = 0; k < 3; k++)
			cr_assert(ndsh_cq_push(
				&q.daemon, &(struct ndsh_cqe){.context = i + k,
						   .qp = 1,
						   .bytes = i,
						   .data = 3 * k,
						   .slot_count = 4,
						   .syndrome = 5,
						   .status = 6,
						   .op = 7,
						   .flags = NDSH_CQEF_IMM | NDSH_CQEF_PHASE}));
		cr_assert(eq(u32, ndsh_cq_poll(&q.client, out, 4), 3));
		for (uint32_t k = 0; k < 3; k++) {
			cr_expect(eq(u64, out[k].context, i + k));
			cr_expect(eq(u32, out[k].bytes, i));
			cr_expect(eq(u32, out[k].data, 3 * k));
			cr_expect(eq(u32, out[k].syndrome, 5));
			cr_expect(eq(int, out[k].op, 7));
			cr_expect(eq(int, out[k].flags &NDSH_CQEF_IMM, NDSH_CQEF_IMM));
		}
		cr_assert(zero(u32, ndsh_cq_poll(&q.client, out, 4)));
	}
	free(q.block);
}

/* checks R-CQ-31[5,6] */
Test(shm_cq, R_CQ_31_overrun_writes_nothing_and_keeps_the_entries_before_it)
{
	struct queue q = make_cq(4);
	struct ndsh_cqe e = {0}, out[8];

	for (e.context = 0; e.context < 4; e.context++)
		cr_assert(ndsh_cq_push(&q.daemon, &e));
	cr_assert(not(ndsh_cq_push(&q.daemon, &e)));
	cr_expect(eq(u32, q.daemon.fault, NDSH_CQ_OVERRUN));
	ndsh_cq_publish(&q.daemon);
	cr_expect(eq(u32, ndsh_cq_poll(&q.client, out, 8), 4));
	for (uint32_t i = 0; i < 4; i++)
		cr_expect(eq(u64, out[i].context, i));
	cr_assert(not(ndsh_cq_push(&q.daemon, &e)), "dead for good");
	cr_expect(zero(u32, ndsh_cq_poll(&q.client, out, 8)));
	free(q.block);
}

Test(shm_cq, a_lie_about_consumer_hurts_the_liar_only)
{
	struct queue q = make_cq(4);
	struct ndsh_cqe e = {0};

	for (int i = 0; i < 4; i++)
		cr_assert(ndsh_cq_push(&q.daemon, &e));
	q.client.page->consumer = 1000; /* never made */
	cr_assert(not(ndsh_cq_push(&q.daemon, &e)));
	cr_expect(eq(u32, q.daemon.fault, NDSH_CQ_OVERRUN));
	free(q.block);
}

/* What the owner says of a queue stays, with room and without. checks R-CQ-08[2] */
Test(shm_cq, R_CQ_08_a_fatal_queue_takes_nothing_more)
{
	for (unsigned filled = 0; filled <= 4; filled++) {
		struct queue q = make_cq(4);
		struct ndsh_cqe e = {0}, out[4];

		for (unsigned i = 0; i < filled; i++)
			cr_assert(ndsh_cq_push(&q.daemon, &e));
		q.daemon.fault = NDSH_CQ_FATAL;
		cr_expect(not(ndsh_cq_push(&q.daemon, &e)), "%u", filled);
		cr_expect(eq(u32, q.daemon.fault, NDSH_CQ_FATAL), "%u", filled);
		cr_expect(eq(u32, ndsh_cq_poll(&q.client, out, 4), filled));
		free(q.block);
	}
}

/* Taken entries do not count, although they still stand in their slots. */
Test(shm_cq, failed_entries_are_found_until_they_are_taken)
{
	struct queue q = make_cq(4);
	struct ndsh_cqe e = {0}, failed = {.status = NDSH_WC_FLUSH_ERR};

	cr_assert(ndsh_cq_push(&q.daemon, &failed));
	cr_assert(ndsh_cq_push(&q.daemon, &e));
	cr_assert(ndsh_cq_push(&q.daemon, &failed));
	cr_expect(ndsh_cq_has_failed(&q.client, 0, 2));
	cr_expect(not(ndsh_cq_has_failed(&q.client, 1, 2)));
	cr_expect(ndsh_cq_has_failed(&q.client, 1, 3));
	cr_assert(eq(u32, ndsh_cq_poll(&q.client, &e, 1), 1));
	cr_expect(not(ndsh_cq_has_failed(&q.client, 0, 2)));
	cr_expect(ndsh_cq_has_failed(&q.client, 0, 3));
	free(q.block);
}

Test(shm_doorbell, bits_are_taken_once_and_a_turn_is_bounded)
{
	static struct ndsh_session_page s;
	static struct ndsh_qp_page qp;
	uint64_t summary, bits;
	uint32_t word;

	cr_assert(zero(u64, ndsh_doorbell_begin(&s)));
	cr_expect(not(ndsh_doorbell_ring(&s, &qp, 0)));
	cr_expect(not(ndsh_doorbell_ring(&s, &qp, 5)));
	cr_expect(not(ndsh_doorbell_ring(&s, &qp, 4095)));
	summary = ndsh_doorbell_begin(&s);
	cr_assert(ndsh_doorbell_take(&s, &summary, &word, &bits));
	cr_expect(zero(u32, word));
	cr_expect(eq(u64, bits, 0x21));
	ndsh_doorbell_ring(&s, &qp, 6); /* behind the look: for the next turn */
	cr_assert(ndsh_doorbell_take(&s, &summary, &word, &bits));
	cr_expect(eq(u32, word, 63));
	cr_expect(eq(u64, bits, 1ull << 63));
	cr_assert(not(ndsh_doorbell_take(&s, &summary, &word, &bits)));
	summary = ndsh_doorbell_begin(&s);
	cr_assert(ndsh_doorbell_take(&s, &summary, &word, &bits));
	cr_expect(eq(u64, bits, 0x40));
}

/* The second 4,095 queue pairs have the doorbells of the first, and so on; the admin ring's is
 * its own. */
Test(shm_doorbell, queue_pairs_beyond_the_doorbells_share_them)
{
	static const uint32_t rows[][2] = {{0, 0}, {4094, 4094}, {4095, 0}, {4096, 1}, {8189, 4094},
		{8190, 0}, {NDSH_QP_PER_SESSION_MAX - 1, 4094}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect(eq(u32, ndsh_doorbell_of(rows[i][0]), rows[i][1]), "row %zu", i);
	for (uint32_t i = 0; i < NDSH_QP_PER_SESSION_MAX; i++)
		cr_assert(ne(u32, ndsh_doorbell_of(i), NDSH_ADMIN_DOORBELL));
}

/* A summary without bits, from a client that writes what it likes, costs a look at each word. */
Test(shm_doorbell, words_without_bits_are_passed_over)
{
	static struct ndsh_session_page s = {.summary = UINT64_MAX};
	uint64_t summary, bits;
	uint32_t word;

	s.bitmap[62] = 8;
	summary = ndsh_doorbell_begin(&s);
	cr_assert(ndsh_doorbell_take(&s, &summary, &word, &bits));
	cr_expect(eq(u32, word, 62));
	cr_expect(eq(u64, bits, 8));
	cr_expect(not(ndsh_doorbell_take(&s, &summary, &word, &bits)));
}

Test(shm_doorbell, the_admin_rings_bell)
{
	static struct ndsh_session_page s;
	uint64_t summary, bits;
	uint32_t word;

	cr_expect(not(ndsh_doorbell_ring_admin(&s)), "the daemon is awake");
	summary = ndsh_doorbell_begin(&s);
	cr_assert(ndsh_doorbell_take(&s, &summary, &word, &bits));
	cr_expect(eq(u32, word, NDSH_ADMIN_DOORBELL / 64));
	cr_expect(eq(u64, bits, 1ull << NDSH_ADMIN_DOORBELL % 64));
	cr_assert(ndsh_doorbell_sleep(&s));
	cr_expect(ndsh_doorbell_ring_admin(&s));
}

Test(shm_doorbell, asleep_asks_for_the_wake_fd_and_polled_for_nothing)
{
	static struct ndsh_session_page s;
	struct rings r = make_rings(usual);
	struct ndsh_qp_page *qp = r.block;

	cr_assert(ndsh_doorbell_sleep(&s));
	cr_expect(ndsh_doorbell_ring(&s, qp, 1));
	ndsh_doorbell_awake(&s);
	cr_expect(not(ndsh_doorbell_sleep(&s)), "a bit is set: stay awake");
	cr_expect(not(ndsh_doorbell_ring(&s, qp, 1)));
	(void)ndsh_doorbell_begin(&s);

	qp->sq_polled = 1;
	cr_expect(not(ndsh_doorbell_ring(&s, qp, 2)));
	cr_expect(zero(u64, ndsh_doorbell_begin(&s)), "polled: no bit");
	qp->sq_polled = 0;
	ndsh_doorbell_ring(&s, qp, 2);
	cr_expect(ne(u64, ndsh_doorbell_begin(&s), 0));
	free(r.block);
}
