/* SPDX-License-Identifier: BSD-3-Clause */
/* RESET: what a queue pair forgets in each state of its rings, and that it serves again. */
#include <criterion/criterion.h>

#include "rigs/engine_pair.h"
#include "rigs/faults.h"
#include "roce/check.h"
#include "roce/shard/pool.h"

#define DEPTH 8u

static void
reset(struct pair *p, unsigned side)
{
	struct pair_side *d = &p->side[side];

	cr_assert_eq(roce_qp_modify(d->shard, d->q[0].qp, p->now_ns, ROCE_QPS_RESET, 0, NULL),
		ROCE_MODIFY_OK);
}

/* As deep as the rings are. */
static void
post_all(struct pair *p, uint64_t context)
{
	for (unsigned i = 0; i < DEPTH; i++) {
		pair_write(p, 0, 0, context + i, 0, 0, 8, 0);
		pair_recv(p, 1, 0, context + i, 0, 64);
	}
}

/* Rings that are full and were never read: their slots are free again, and all of them serve the
 * next life. checks W-QP-01[1] */
Test(qp_reset, W_QP_01_full_rings_are_empty_again)
{
	struct pair *p = pair_new(&(struct pair_opts){.sq_depth = DEPTH, .rq_depth = DEPTH});
	const struct ndsh_qp_page *page[2] = {p->side[0].q[0].block, p->side[1].q[0].block};

	for (unsigned life = 0; life < 3; life++) {
		reset(p, 0);
		reset(p, 1);
		post_all(p, 100);
		reset(p, 0);
		reset(p, 1);
		cr_assert_eq(page[0]->sq_done, (2 * life + 1) * DEPTH);
		cr_assert_eq(page[1]->rq_done, (2 * life + 1) * DEPTH);
		pair_connect(p, 0, 0);
		pair_connect(p, 1, 0);
		p->sent[0] = 0;
		cr_assert(pair_run(p, PAIR_LONG));
		cr_assert_eq(p->sent[0], 0, "of the rings as they were nothing is sent");
		for (unsigned i = 0; i < DEPTH; i++) {
			pair_recv(p, 1, 0, i, 0, 64);
			pair_send(p, 0, 0, i, 0, 8, 0);
		}
		cr_assert(pair_run(p, PAIR_LONG));
		for (unsigned i = 0; i < DEPTH; i++) {
			pair_expect(p, 0, i, NDSH_WC_SUCCESS);
			pair_expect(p, 1, i, NDSH_WC_SUCCESS);
		}
		pair_expect_none(p, 0);
		pair_expect_none(p, 1);
	}
	pair_free(p);
}

/* A client that sees that its queue pair is dead rings for each receive that it posts: after RESET
 * it need not. checks W-QP-01[1] */
Test(qp_reset, W_QP_01_the_dead_live_again)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	const struct ndsh_qp_page *page = p->side[0].q[0].block;

	cr_assert_eq(page->dead, 0);
	roce_qp_modify(p->side[0].shard, p->side[0].q[0].qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
	cr_assert_eq(page->dead, 1);
	cr_assert_eq(roce_qp_reason(p->side[0].q[0].qp), ROCE_REASON_MODIFY);
	reset(p, 0);
	cr_assert_eq(page->dead, 0);
	cr_assert_eq(roce_qp_reason(p->side[0].q[0].qp), ROCE_REASON_NONE);
	pair_connect(p, 0, 0);
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect_alive(p, 0, 0);
	pair_free(p);
}

/* More receives than one call flushes: RESET ends the flush, and the rest completes no more.
 * checks W-QP-01[1] */
Test(qp_reset, W_QP_01_a_flush_under_way_ends)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 2, .rq_depth = 2048});
	struct roce_shard *s = p->side[0].shard;
	struct ndsh_cqe c;
	unsigned told = 0;

	for (unsigned i = 0; i < 2000; i++)
		pair_recv(p, 0, 0, i, 0, 64);
	roce_qp_modify(s, p->side[0].q[0].qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
	reset(p, 0);
	roce_shard_publish(s);
	while (pair_poll(p, 0, &c)) {
		cr_assert_eq(c.context, told++);
		cr_assert_eq(c.status, NDSH_WC_FLUSH_ERR);
	}
	cr_assert_lt(told, 2000);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect_none(p, 0);
	/* The other queue pair of the same queue is flushed as ever. */
	pair_recv(p, 0, 1, 7, 0, 64);
	roce_qp_modify(s, p->side[0].q[1].qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 7, NDSH_WC_FLUSH_ERR);
	pair_expect_none(p, 0);
	pair_free(p);
}

/* However many requests stand in the rings, wherever these begin: exactly those are gone. */
Test(qp_reset, W_QP_01_any_number_of_requests)
{
	struct pair *p = pair_new(&(struct pair_opts){.sq_depth = DEPTH, .rq_depth = DEPTH});
	const struct ndsh_qp_page *page[2] = {p->side[0].q[0].block, p->side[1].q[0].block};
	uint32_t posted = 0;

	reset(p, 0);
	reset(p, 1);
	for (unsigned life = 0; life < 5; life++)
		for (unsigned n = 0; n <= DEPTH; n++) {
			for (unsigned i = 0; i < n; i++) {
				pair_write(p, 0, 0, i, 0, 0, 8, 0);
				pair_recv(p, 1, 0, i, 0, 64);
			}
			reset(p, 0);
			reset(p, 1);
			posted += n;
			cr_assert_eq(page[0]->sq_done, posted, "%u", n);
			cr_assert_eq(page[1]->rq_done, posted, "%u", n);
		}
	pair_free(p);
}

/* A deep queue in flight: the call frees a part of it, and the turns that follow the rest. The
 * queue pair need not wait for that; the slots are in use until then. */
Test(qp_reset, a_deep_queue_is_freed_little_by_little)
{
	enum { DEEP = 2048, AT_ONCE = 256 };
	struct pair *p = pair_new(
		&(struct pair_opts){.sq_depth = DEEP, .window = 4096, .max_wqes = 2 * DEEP});
	struct roce_shard *s = p->side[0].shard;
	unsigned mute = 0, calls = 0;

	p->tap = fault_tap_mute;
	p->tap_ctx = &mute;
	for (unsigned i = 0; i < DEEP; i++)
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
	while (pair_turn(p, 0) > 0)
		;
	cr_assert_eq(roce_wqes_in_use(s), DEEP);
	reset(p, 0);
	cr_assert_eq(roce_wqes_in_use(s), DEEP - AT_ONCE);
	cr_assert_null(roce_shard_check(s), "%s", roce_shard_check(s));
	cr_assert_not(roce_shard_rest(s), "there is something to do");
	reset(p, 1);
	p->tap = NULL;
	pair_connect(p, 0, 0);
	pair_connect(p, 1, 0);
	pair_write(p, 0, 0, 7, 0, 0, 8, 0);
	while (roce_wqes_in_use(s) > 0 && calls++ < 100)
		roce_shard_poll_rings(s, p->now_ns, 0);
	cr_assert_eq(calls, DEEP / AT_ONCE - 1);
	cr_assert_null(roce_shard_check(s), "%s", roce_shard_check(s));
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 7, NDSH_WC_SUCCESS);
	pair_free(p);
}
