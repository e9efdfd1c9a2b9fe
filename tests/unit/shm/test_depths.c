/* SPDX-License-Identifier: BSD-3-Clause */
/* Deep rings: how much a block holds at most, slots and phases around their ends, and receives that
 * are carried over to a longer ring. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "shm/ndsh_ring.h"

#define DEEP	65536u
#define CQ_DEEP (4 * DEEP)
#define LAPS	3u
/* An index at which a zeroed ring is empty, and from which 32 bits overflow within the laps. */
#define BEFORE_OVERFLOW (0u - 2 * DEEP)

static void *
block_new(size_t bytes)
{
	void *block = aligned_alloc(64, (bytes + 63) & ~(size_t)63);

	cr_assert_not_null(block);
	return memset(block, 0, bytes);
}

/* In 64 bits, from the sizes of the structures alone. */
Test(shm_depths, the_largest_blocks_have_32_bit_offsets)
{
	const struct ndsh_qp_dims most = {
		NDSH_DEPTH_MAX, NDSH_DEPTH_MAX, NDSH_SGE_MAX, NDSH_SGE_MAX, NDSH_INLINE_MAX};
	const uint64_t each = sizeof(struct ndsh_swr) + sizeof(struct ndsh_rwr) +
			      2 * NDSH_SGE_MAX * sizeof(struct ndsh_sge) + NDSH_INLINE_MAX;
	struct ndsh_qp_layout l;

	cr_assert(ndsh_qp_layout(&most, &l));
	cr_expect(eq(u64, l.total_bytes, sizeof(struct ndsh_qp_page) + NDSH_DEPTH_MAX * each));
	cr_expect(
		eq(u64, l.inline_off, l.total_bytes - (uint64_t)NDSH_DEPTH_MAX * NDSH_INLINE_MAX));
	cr_expect(eq(u64, ndsh_cq_bytes(NDSH_CQ_DEPTH_MAX),
		sizeof(struct ndsh_cq_page) +
			(uint64_t)NDSH_CQ_DEPTH_MAX * sizeof(struct ndsh_cqe)));
	cr_expect(eq(u64, ndsh_srq_bytes(NDSH_DEPTH_MAX, NDSH_SGE_MAX),
		sizeof(struct ndsh_srq_page) +
			(uint64_t)NDSH_DEPTH_MAX *
				(sizeof(struct ndsh_rwr) +
					NDSH_SGE_MAX * sizeof(struct ndsh_sge))));
}

/* Full, to the last slot, and empty again, several times around; each receive as it was posted. */
Test(shm_depths, a_deep_receive_ring)
{
	void *block = block_new(ndsh_srq_bytes(DEEP, 2));
	struct ndsh_rq client, daemon;
	struct ndsh_recv out;

	ndsh_srq_view(&client, block, DEEP, 2);
	ndsh_srq_view(&daemon, block, DEEP, 2);
	client.next = daemon.next = BEFORE_OVERFLOW;
	for (uint32_t lap = 0; lap < LAPS; lap++) {
		cr_assert(not(ndsh_rq_ready(&daemon)));
		for (uint32_t i = 0; i < DEEP; i++) {
			const struct ndsh_sge sge[2] = {{i, lap, 1}, {i + 1, lap, 2}};

			ndsh_rq_push(&client, (uint64_t)lap << 32 | i, sge, 2);
		}
		cr_assert(ndsh_rq_holds(&daemon, DEEP));
		cr_assert(not(ndsh_rq_holds(&daemon, DEEP + 1)));
		for (uint32_t i = 0; i < DEEP; i++) {
			cr_assert_eq(ndsh_rq_fetch(&daemon, &out), NDSH_FETCH_OK);
			cr_assert_eq(out.context, (uint64_t)lap << 32 | i);
			cr_assert_eq(out.sge[1].addr, i + 1);
			cr_assert_eq(out.bytes, 2 * lap);
		}
	}
	cr_expect(eq(u32, daemon.next, BEFORE_OVERFLOW + LAPS * DEEP));
	free(block);
}

/* The same of requests; what is left is passed over at once, however much that is. */
Test(shm_depths, a_deep_send_ring)
{
	const struct ndsh_qp_dims d = {DEEP, 1, 1, 1, 0};
	struct ndsh_qp_layout l;
	struct ndsh_sq client, daemon;
	struct ndsh_send out;
	void *block;

	cr_assert(ndsh_qp_layout(&d, &l));
	block = block_new(l.total_bytes);
	ndsh_sq_view(&client, block, &d);
	ndsh_sq_view(&daemon, block, &d);
	client.next = daemon.next = BEFORE_OVERFLOW;
	for (uint32_t lap = 0; lap < LAPS; lap++) {
		for (uint32_t i = 0; i < DEEP - lap; i++)
			ndsh_sq_push(&client,
				&(struct ndsh_swr){
					.context = i, .ctrl = NDSH_CTRL(NDSH_OP_SEND, 0, 0, 0)},
				NULL, NULL);
		for (uint32_t i = 0; i < lap * DEEP / 4; i++) {
			cr_assert_eq(ndsh_sq_fetch(&daemon, &out), NDSH_FETCH_OK);
			cr_assert_eq(out.context, i);
		}
		ndsh_sq_skip(&daemon);
		cr_assert(eq(u32, daemon.next, client.next));
		cr_assert(not(ndsh_sq_ready(&daemon)));
	}
	free(block);
}

Test(shm_depths, a_deep_completion_queue)
{
	void *block = block_new(ndsh_cq_bytes(CQ_DEEP));
	struct ndsh_cq_reader reader;
	struct ndsh_cq cq;
	struct ndsh_cqe e;

	ndsh_cq_view(&cq, block, CQ_DEEP);
	ndsh_cq_reader_view(&reader, block, CQ_DEEP);
	for (uint64_t lap = 0; lap < LAPS; lap++) {
		for (uint64_t i = 0; i < CQ_DEEP; i++)
			cr_assert(ndsh_cq_push(&cq, &(struct ndsh_cqe){.context = lap << 32 | i}));
		for (uint64_t i = 0; i < CQ_DEEP; i++) {
			cr_assert(ndsh_cq_take(&reader, &e));
			cr_assert_eq(e.context, lap << 32 | i);
		}
		cr_assert(not(ndsh_cq_take(&reader, &e)));
		ndsh_cq_taken(&reader);
	}
	for (uint64_t i = 0; i < CQ_DEEP; i++)
		cr_assert(ndsh_cq_push(&cq, &(struct ndsh_cqe){.context = i}));
	cr_expect(not(ndsh_cq_push(&cq, &(struct ndsh_cqe){.context = 0})), "one too many");
	cr_expect(eq(u32, cq.fault, NDSH_CQ_OVERRUN));
	free(block);
}

/* ---- from one ring to another ---------------------------------------------------------------- */

struct moving {
	struct ndsh_rq client, daemon;
	uint64_t posted, taken; /* contexts */
	void *block;
};

static void
moving_post(struct moving *m)
{
	const uint64_t i = m->posted++;
	const struct ndsh_sge sge[3] = {{i, 1, 7}, {i + 1, 2, 8}, {i + 2, 3, 9}};

	ndsh_rq_push(&m->client, i, sge, i % 4);
}

static void
moving_take(struct moving *m)
{
	const uint64_t i = m->taken++;
	struct ndsh_recv out;

	cr_assert_eq(ndsh_rq_fetch(&m->daemon, &out), NDSH_FETCH_OK, "receive %lu", i);
	cr_assert_eq(out.context, i);
	cr_assert_eq(out.num_sge, i % 4);
	for (uint32_t k = 0; k < out.num_sge; k++) {
		cr_assert_eq(out.sge[k].addr, i + k);
		cr_assert_eq(out.sge[k].len, k + 1);
	}
}

/* The daemon takes more meanwhile, from the ring before. */
static void
moving_to(struct moving *m, uint32_t depth, uint32_t meanwhile)
{
	void *block = block_new(ndsh_srq_bytes(depth, 3));
	struct ndsh_rq to;

	ndsh_srq_view(&to, block, depth, 3);
	ndsh_rq_carry(&to, &m->client, m->daemon.next);
	for (; meanwhile > 0 && m->taken < m->posted; meanwhile--)
		moving_take(m);
	m->client = to;
	ndsh_rq_exchange(&m->daemon, block, depth);
	memset(m->block, 0xa5, 64);
	free(m->block);
	m->block = block;
	for (uint32_t n = 1; n <= depth; n++) /* what was not carried over is empty */
		cr_assert_eq(ndsh_rq_holds(&m->daemon, n), n <= m->posted - m->taken);
}

/* From a ring of each depth to one of another, with every number of receives in it that fits, at
 * each place of either ring; then twice around the new one. */
Test(shm_depths, receives_are_carried_over)
{
	for (uint32_t from = 1; from <= 8; from *= 2)
		for (uint32_t to = 1; to <= 32; to *= 2)
			for (uint32_t at = 0; at < 40; at++)
				for (uint32_t n = 0; n <= from && n <= to; n++) {
					struct moving m = {
						.block = block_new(ndsh_srq_bytes(from, 3))};

					ndsh_srq_view(&m.client, m.block, from, 3);
					ndsh_srq_view(&m.daemon, m.block, from, 3);
					for (uint32_t i = 0; i < at; i++) {
						moving_post(&m);
						moving_take(&m);
					}
					for (uint32_t i = 0; i < n; i++)
						moving_post(&m);
					moving_to(&m, to, at % 3);
					for (uint32_t lap = 0; lap < 2; lap++) {
						while (m.posted - m.taken < to)
							moving_post(&m);
						cr_assert(ndsh_rq_holds(&m.daemon, to));
						while (m.taken < m.posted)
							moving_take(&m);
						cr_assert(not(ndsh_rq_ready(&m.daemon)));
					}
					free(m.block);
				}
}
