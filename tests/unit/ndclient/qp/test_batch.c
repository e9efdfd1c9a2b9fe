/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that the daemon sees together or not at all. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ndclient/qp/batch.h"
#include "ndclient/qp/post.h"
#include "rigs/posting.h"

#define DEPTH 4u

static nd_status
post_held(struct posting *b, uint64_t context, uint32_t flags)
{
	struct nd_sge sge = {(void *)0x1000, 10, 5};
	struct ndsh_swr wr = {.context = context};

	return nd_post_request(&b->qp, NDSH_OP_WRITE, &wr, &sge, 1, flags | ND_POST_HELD);
}

static void
expect_request(struct posting *b, uint64_t context)
{
	struct ndsh_send s;

	cr_assert(eq(int, ndsh_sq_fetch(&b->daemon_sq, &s), NDSH_FETCH_OK));
	cr_expect(eq(u64, s.context, context));
	cr_expect(eq(int, s.op, NDSH_OP_WRITE));
	cr_expect(eq(u32, s.bytes, 10));
	cr_expect(zero(int, s.flags));
}

static bool
is_rung(struct posting *b)
{
	return ndsh_doorbell_begin(&b->page) != 0;
}

Test(ndclient_batch, is_seen_when_it_is_shown_and_told_of_once)
{
	struct posting *b = posting_new(DEPTH);
	struct nd_batch batch;

	nd_batch_begin(&b->qp, &batch);
	for (uint64_t i = 0; i < 3; i++)
		cr_assert(eq(i32, post_held(b, i, 0), ND_SUCCESS));
	cr_expect(not(ndsh_sq_ready(&b->daemon_sq)));
	cr_expect(not(is_rung(b)));
	nd_batch_show(&b->qp, &batch);
	cr_expect(is_rung(b));
	for (uint64_t i = 0; i < 3; i++)
		expect_request(b, i);
	cr_expect(not(ndsh_sq_ready(&b->daemon_sq)));
	posting_free(b);
}

Test(ndclient_batch, nothing_is_told_of_an_empty_one)
{
	struct posting *b = posting_new(DEPTH);
	struct nd_batch batch;

	nd_batch_begin(&b->qp, &batch);
	nd_batch_show(&b->qp, &batch);
	cr_expect(not(is_rung(b)));
	posting_free(b);
}

/* The slots are free again, all of them, and what is posted next comes first. */
Test(ndclient_batch, of_one_that_is_dropped_nothing_is_left)
{
	struct posting *b = posting_new(DEPTH);
	struct nd_sge sge = {(void *)0x1000, 10, 5};
	struct nd_batch batch;

	for (uint64_t lap = 0; lap < 10; lap++) {
		nd_batch_begin(&b->qp, &batch);
		for (uint64_t i = 0; i < DEPTH; i++)
			cr_assert(eq(i32, post_held(b, 99, 0), ND_SUCCESS));
		cr_expect(eq(i32, post_held(b, 99, 0), ND_NO_MORE_ENTRIES));
		nd_batch_drop(&b->qp, &batch);
		cr_expect(not(ndsh_sq_ready(&b->daemon_sq)));
		cr_assert(eq(i32, nd_qp_write(&b->qp, (void *)lap, &sge, 1, 1, 2, 0), ND_SUCCESS));
		expect_request(b, lap);
		cr_expect(not(ndsh_sq_ready(&b->daemon_sq)));
		b->qp.page->sq_done++;
	}
	posting_free(b);
}

/* Requests behind one that was never posted wait for no fence; those behind an older one do. */
Test(ndclient_batch, a_fence_goes_with_its_request)
{
	struct posting *b = posting_new(DEPTH);
	struct nd_sge sge = {(void *)0x1000, 10, 5};
	struct nd_batch batch;

	nd_batch_begin(&b->qp, &batch);
	cr_assert(eq(i32, post_held(b, 1, NDSH_WRF_FENCE), ND_SUCCESS));
	cr_expect(b->qp.fenced);
	nd_batch_drop(&b->qp, &batch);
	cr_expect(not(b->qp.fenced));
	cr_assert(eq(
		i32, nd_qp_write(&b->qp, NULL, &sge, 1, 1, 2, ND_OP_FLAG_READ_FENCE), ND_SUCCESS));
	nd_batch_begin(&b->qp, &batch);
	cr_assert(eq(i32, post_held(b, 1, NDSH_WRF_FENCE), ND_SUCCESS));
	nd_batch_drop(&b->qp, &batch);
	cr_expect(b->qp.fenced);
	cr_expect(zero(u32, b->qp.fence));
	posting_free(b);
}
