/* SPDX-License-Identifier: BSD-3-Clause */
/* Single bounds and fields; each test fails with a mutant that all others let pass. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "shm/ndsh_fetch.h"
#include "shm/ndsh_mover.h"
#include "shm/ndsh_ring.h"
#include "shm/ndsh_shared.h"

Test(shm_details, the_largest_dimensions)
{
	const struct ndsh_qp_dims most = {NDSH_DEPTH_MAX, NDSH_DEPTH_MAX, NDSH_SGE_MAX,
					  NDSH_SGE_MAX, NDSH_INLINE_MAX},
				  least = {1, 1, 1, 1, 0};
	struct ndsh_qp_layout l;

	cr_assert(ndsh_qp_layout(&most, &l));
	cr_assert(ndsh_qp_layout(&least, &l));
	cr_expect_eq(l.sq_sge_off, l.rq_sge_off, "one SGE is in its descriptor");
	cr_expect_eq(l.rq_sge_off, l.inline_off);
	cr_expect_eq(l.total_bytes, sizeof(struct ndsh_qp_page) + 64 + 64);
}

/* So many words, and not the one behind them, on either side. */
Test(shm_details, words_that_are_copied)
{
	static const uint64_t from[4] = {1, 2, 3, 4};

	for (uint32_t words = 0; words < 4; words++) {
		uint64_t in[4] = {0}, out[4] = {0};

		ndsh_copy_in(in, from, words);
		ndsh_copy_out(out, from, words);
		for (uint32_t i = 0; i < 4; i++) {
			cr_expect_eq(in[i], i < words ? from[i] : 0);
			cr_expect_eq(out[i], i < words ? from[i] : 0);
		}
	}
}

static void
expect_depth(uint32_t depth)
{
	const bool power = __builtin_popcount(depth) == 1;
	const bool is = power && depth <= NDSH_DEPTH_MAX;
	const struct ndsh_qp_dims sends = {depth, 1, 1, 1, 0}, receives = {1, depth, 1, 1, 0};
	struct ndsh_qp_layout l;

	cr_assert_eq(ndsh_cq_bytes(depth) != 0, power && depth >= 2 && depth <= NDSH_CQ_DEPTH_MAX,
		"%u", depth);
	cr_assert_eq(ndsh_srq_bytes(depth, 1) != 0, is, "%u", depth);
	cr_assert_eq(ndsh_qp_layout(&sends, &l), is, "%u", depth);
	cr_assert_eq(ndsh_qp_layout(&receives, &l), is, "%u", depth);
	cr_assert_eq(
		ndsh_admin_bytes(depth) != 0, power && depth <= NDSH_ADMIN_DEPTH_MAX, "%u", depth);
}

/* Depths are powers of two: of all small numbers, and of those around each power, these and no
 * others. */
Test(shm_details, depths_of_all_rings)
{
	for (uint32_t depth = 0; depth <= 2 * NDSH_DEPTH_BEFORE; depth++)
		expect_depth(depth);
	for (uint32_t bit = 13; bit < 32; bit++)
		for (int by = -1; by <= 1; by++)
			expect_depth((1u << bit) + (uint32_t)by);
}

/* Of each operation one answer: those that the daemon asks for. */
Test(shm_details, kinds_of_operations)
{
	static const struct {
		uint32_t op;
		bool atomic, fetch, local, data, arguments;
	} rows[] = {
		{NDSH_OP_SEND, false, false, false, true, false},
		{NDSH_OP_SEND_INV, false, false, false, true, false},
		{NDSH_OP_SEND_IMM, false, false, false, true, false},
		{NDSH_OP_WRITE, false, false, false, true, false},
		{NDSH_OP_WRITE_IMM, false, false, false, true, false},
		{NDSH_OP_READ, false, true, false, false, false},
		{NDSH_OP_CMP_SWAP, true, true, false, false, true},
		{NDSH_OP_FETCH_ADD, true, true, false, false, true},
		{NDSH_OP_BIND, false, false, true, false, true},
		{NDSH_OP_INVALIDATE, false, false, true, false, true},
		{NDSH_OP_FAST_REGISTER, false, false, true, false, true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect_eq(ndsh_op_is_atomic(rows[i].op), rows[i].atomic, "row %zu", i);
		cr_expect_eq(ndsh_op_is_fetch(rows[i].op), rows[i].fetch, "row %zu", i);
		cr_expect_eq(ndsh_op_is_local(rows[i].op), rows[i].local, "row %zu", i);
		cr_expect_eq(ndsh_op_is_data(rows[i].op), rows[i].data, "row %zu", i);
		cr_expect_eq(ndsh_op_has_arguments(rows[i].op), rows[i].arguments, "row %zu", i);
	}
	cr_expect_not(ndsh_op_is_atomic(NDSH_OP_RECV));
	cr_expect_not(ndsh_op_is_fetch(NDSH_OP_RECV));
	cr_expect_not(ndsh_op_is_local(NDSH_OP_RECV));
}

Test(shm_details, rings_of_requests_to_the_daemon)
{
	cr_expect_eq(ndsh_admin_bytes(0), 0);
	cr_expect_eq(ndsh_admin_bytes(3), 0);
	cr_expect_eq(ndsh_admin_bytes(NDSH_ADMIN_DEPTH_MAX + 1), 0);
	cr_expect_eq(ndsh_admin_bytes(NDSH_ADMIN_DEPTH_MAX * 2), 0);
	for (uint32_t depth = 1; depth <= NDSH_ADMIN_DEPTH_MAX; depth *= 2)
		cr_expect_eq(ndsh_admin_bytes(depth), depth * sizeof(struct ndsh_admin_request));
}

Test(shm_details, blocks_of_shared_receive_queues)
{
	const uint32_t page = sizeof(struct ndsh_srq_page);

	cr_expect_eq(ndsh_srq_bytes(0, 1), 0);
	cr_expect_eq(ndsh_srq_bytes(3, 1), 0);
	cr_expect_eq(ndsh_srq_bytes(NDSH_DEPTH_MAX * 2, 1), 0);
	cr_expect_eq(ndsh_srq_bytes(4, 0), 0);
	cr_expect_eq(ndsh_srq_bytes(4, NDSH_SGE_MAX + 1), 0);
	cr_expect_eq(ndsh_srq_bytes(1, 1), page + 64);
	cr_expect_eq(ndsh_srq_bytes(4, 1), page + 4 * sizeof(struct ndsh_rwr));
	cr_expect_eq(ndsh_srq_bytes(NDSH_DEPTH_MAX, NDSH_SGE_MAX),
		page + NDSH_DEPTH_MAX *
				(sizeof(struct ndsh_rwr) + NDSH_SGE_MAX * sizeof(struct ndsh_sge)));
}

/* Ring and side array behind the page, in this order, and not one upon the other. */
Test(shm_details, parts_of_a_shared_receive_queue)
{
	uint8_t *block = aligned_alloc(64, ndsh_srq_bytes(4, 3));
	struct ndsh_rq rq;

	ndsh_srq_view(&rq, block, 4, 3);
	cr_expect_eq((uint8_t *)rq.ring, block + sizeof(struct ndsh_srq_page));
	cr_expect_eq((uint8_t *)rq.sge, (uint8_t *)(rq.ring + 4));
	cr_expect_eq((uint8_t *)(rq.sge + 4 * 3), block + ndsh_srq_bytes(4, 3));
	cr_expect_eq(rq.depth, 4);
	cr_expect_eq(rq.sge_max, 3);
	cr_expect_eq(rq.next, 0);
	free(block);
}

/* From slot to slot whole words of 16 bytes, and at most as many as were agreed. */
Test(shm_details, inline_areas)
{
	for (uint32_t bytes = 0; bytes <= NDSH_INLINE_MAX; bytes++) {
		const struct ndsh_qp_dims d = {4, 1, 1, 1, bytes};
		struct ndsh_qp_layout l;

		cr_assert(ndsh_qp_layout(&d, &l));
		cr_expect_eq(l.total_bytes - l.inline_off, (bytes + 15) / 16 * 64);
	}
}

/* checks R-MW-06: neither the token of the bind before nor 0, where a draw makes one of them. */
Test(shm_details, r_mw_06_draws_that_do_not_fit)
{
	const uint32_t mask = (1u << NDSH_TOKEN_KEY_BITS) - 1;
	uint32_t last = 0;

	for (uint32_t g = 0; g < 2000000; g++) {
		uint32_t key = ndsh_window_token(0, 0x1234567, g) & mask;

		cr_assert_neq(key, 0, "%u", g);
		cr_assert_neq(key, last, "%u", g);
		last = key;
	}
}

/* The last bytes of what is placed are stored last; whatever their number and place, all are. */
Test(shm_details, r_ord_07_every_length_is_placed)
{
	uint8_t from[64], to[64];

	for (uint32_t i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)(i + 1);
	for (uint32_t at = 0; at < 16; at++)
		for (uint32_t bytes = 0; bytes <= 40; bytes++) {
			memset(to, 0, sizeof(to));
			ndsh_place(to + at, from, bytes);
			for (uint32_t i = 0; i < sizeof(to); i++)
				cr_assert_eq(to[i], i >= at && i < at + bytes ? from[i - at] : 0,
					"%u %u", at, bytes);
		}
}

/* A payload in the descriptor is of 32 bytes at most, and is inline as well. */
Test(shm_details, short_payloads)
{
	const struct ndsh_qp_dims d = {4, 1, 4, 1, 100};
	static const struct {
		uint32_t bytes, flags;
		enum ndsh_fetch got;
	} rows[] = {
		{NDSH_SHORT_MAX, NDSH_WRF_INLINE | NDSH_WRF_SHORT, NDSH_FETCH_OK},
		{NDSH_SHORT_MAX + 1, NDSH_WRF_INLINE | NDSH_WRF_SHORT, NDSH_FETCH_BROKEN},
		{NDSH_SHORT_MAX, NDSH_WRF_SHORT, NDSH_FETCH_BROKEN},
		{100, NDSH_WRF_INLINE, NDSH_FETCH_OK},
		{101, NDSH_WRF_INLINE, NDSH_FETCH_BROKEN},
	};
	struct ndsh_qp_layout l;
	struct ndsh_send out;

	cr_assert(ndsh_qp_layout(&d, &l));
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		void *block = aligned_alloc(64, l.total_bytes);
		struct ndsh_sq sq;

		memset(block, 0, l.total_bytes);
		ndsh_sq_view(&sq, block, &d);
		sq.ring[0].inline_bytes = rows[i].bytes;
		sq.ring[0].ctrl = NDSH_CTRL(NDSH_OP_SEND, 3, rows[i].flags, 1);
		cr_expect_eq(ndsh_sq_fetch(&sq, &out), rows[i].got, "row %u", i);
		if (rows[i].got == NDSH_FETCH_OK)
			cr_expect_eq(out.num_sge, 0, "row %u: what is inline has no SGEs", i);
		free(block);
	}
}

/* Of requests that were pushed hidden the daemon finds none, and then all; over many laps, after
 * some were taken back. */
Test(shm_sq, hidden_requests_are_shown_together)
{
	const struct ndsh_qp_dims d = {4, 1, 1, 1, 0};
	struct ndsh_swr wr = {.ctrl = NDSH_CTRL(NDSH_OP_SEND, 0, 0, 1)};
	struct ndsh_qp_layout l;
	struct ndsh_sq client, daemon;
	struct ndsh_send out;
	void *block;

	cr_assert(ndsh_qp_layout(&d, &l));
	block = aligned_alloc(64, (l.total_bytes + 63) & ~63u);
	memset(block, 0, l.total_bytes);
	ndsh_sq_view(&client, block, &d);
	ndsh_sq_view(&daemon, block, &d);
	for (uint32_t lap = 0; lap < 30; lap++) {
		uint32_t n = 1 + lap % 4;

		for (uint32_t i = 0; i < 4; i++)
			ndsh_sq_push(&client, &wr, NULL, NULL);
		cr_assert_not(ndsh_sq_ready(&daemon));
		client.next -= 4;
		for (uint32_t i = 0; i < n; i++) {
			wr.context = 10 * lap + i;
			ndsh_sq_push(&client, &wr, NULL, NULL);
			cr_assert_not(ndsh_sq_ready(&daemon));
		}
		ndsh_sq_show(&client, n);
		for (uint32_t i = 0; i < n; i++) {
			cr_assert_eq(ndsh_sq_fetch(&daemon, &out), NDSH_FETCH_OK);
			cr_expect_eq(out.context, 10 * lap + i);
			cr_expect_eq(out.op, NDSH_OP_SEND);
		}
		cr_assert_not(ndsh_sq_ready(&daemon));
	}
	free(block);
}
