/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion queues: what the engine's completions do to an armed queue, what lies there when it
 * fires, and what becomes of a queue that overruns or is lost.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/engine_pair.h"
#include "roce/queue/cq.h"

#define LONG UINT64_C(1000000000)

/* Both ends armed for anything. */
Test(cq, R_CQ_07_a_silent_request_notifies_nobody)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct ndsh_cqe e;

	pair_arm(p, 0, NDSH_ARM_ANY);
	pair_arm(p, 1, NDSH_ARM_ANY);
	for (unsigned i = 0; i < 10; i++)
		pair_write(p, 0, 0, i, 0, 0, 8, NDSH_WRF_SILENT);
	cr_assert(pair_run(p, LONG));
	cr_expect(pair_armed(p, 0) && pair_armed(p, 1));
	pair_write(p, 0, 0, 10, 0, 0, 8, 0);
	cr_assert(pair_run(p, LONG));
	cr_expect_not(pair_armed(p, 0));
	cr_expect(pair_armed(p, 1), "nor does a write where it lands");
	cr_assert(pair_poll(p, 0, &e));
	cr_expect_eq(e.context, 10);
	pair_free(p);
}

/*
 * checks R-CQ-06[1-3]: writes, plain sends and good initiator entries pass; the marked send does
 * not.
 */
Test(cq, R_CQ_06_R_CQ_04_only_the_marked_send_fires_solicited)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct ndsh_cqe e;

	pair_arm(p, 0, NDSH_ARM_SOLICITED);
	pair_arm(p, 1, NDSH_ARM_SOLICITED);
	for (unsigned i = 0; i < 2; i++)
		pair_recv(p, 1, 0, 100 + i, 64, 8);
	pair_write(p, 0, 0, 1, 0, 0, 8, NDSH_WRF_SOLICIT);
	pair_send(p, 0, 0, 2, 0, 8, 0);
	cr_assert(pair_run(p, LONG));
	cr_expect(pair_armed(p, 0) && pair_armed(p, 1));
	pair_send(p, 0, 0, 3, 0, 8, NDSH_WRF_SOLICIT);
	for (unsigned i = 0; pair_armed(p, 1); i++) {
		cr_assert_lt(i, 1000);
		(void)pair_run(p, 1000); /* so as to look early */
	}
	cr_assert(pair_poll(p, 1, &e));
	cr_expect_eq(e.context, 100);
	cr_assert(pair_poll(p, 1, &e), "what fired it is there");
	cr_expect_eq(e.context, 101);
	cr_expect(pair_armed(p, 0));
	pair_free(p);
}

/* An overrun in the same turn was first. */
Test(cq, a_queue_that_overran_does_not_fail_again)
{
	struct pair *p = pair_new(&(struct pair_opts){.cq_depth = 4});

	for (unsigned i = 0; i < 8; i++)
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
	pair_run(p, 100000000);
	roce_cq_fail(p->side[0].shard, p->side[0].cq);
	pair_run(p, 1000000);
	cr_assert_eq(p->side[0].reader.page->fault, NDSH_CQ_OVERRUN);
	pair_free(p);
}

/* ---- overruns, to the entry ---- */

/*
 * checks R-CQ-31[1,3,5,6], W-EVT-03[2,3]: as many as it is deep are no overrun, one more is,
 * wherever in the ring it begins.
 */
Test(cq, W_EVT_03_one_more_than_there_is_room_for)
{
	for (unsigned taken = 0; taken < 9; taken++)
		for (unsigned more = 0; more < 2; more++) {
			struct pair *p = pair_new(&(struct pair_opts){.cq_depth = 4});
			struct ndsh_cqe c;

			for (unsigned i = 0; i < taken; i++) {
				pair_write(p, 0, 0, i, 0, 0, 8, 0);
				cr_assert(pair_run(p, PAIR_LONG));
				pair_expect(p, 0, i, NDSH_WC_SUCCESS);
			}
			for (unsigned i = 0; i < 4 + more; i++)
				pair_write(p, 0, 0, 100 + i, 0, 0, 8, 0);
			(void)pair_run(p, 100000000);
			for (unsigned i = 0; i < 4; i++)
				pair_expect(p, 0, 100 + i, NDSH_WC_SUCCESS);
			cr_assert_not(pair_poll(p, 0, &c));
			cr_assert_eq(
				p->side[0].reader.page->fault, more ? NDSH_CQ_OVERRUN : NDSH_CQ_OK);
			cr_assert_eq(roce_qp_state_get(p->side[0].q[0].qp),
				more ? ROCE_QPS_ERR : ROCE_QPS_RTS);
			cr_assert_eq(pair_count(p, 0)->cq_overruns, more);
			pair_free(p);
		}
}

/* checks W-EVT-03[1]: however many entries more come to a queue that overran, it did so once: by
 * those that its queue pairs are flushed with, too. */
Test(cq, W_EVT_03_an_overrun_is_told_once)
{
	struct pair *p = pair_new(&(struct pair_opts){.cq_depth = 4});

	for (unsigned i = 0; i < 20; i++)
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
	for (unsigned i = 0; i < 20; i++)
		pair_recv(p, 0, 0, i, 0, 8);
	while (!(p->side[0].events & 1u << ROCE_EV_CQ_ERROR)) {
		cr_assert_eq(pair_count(p, 0)->cq_overruns, 0);
		(void)pair_run(p, 1000);
	}
	p->side[0].events = 0;
	roce_qp_doorbell(p->side[0].shard, NULL, p->side[0].q[0].qp);
	(void)pair_run(p, LONG);
	cr_assert_not(p->side[0].events & 1u << ROCE_EV_CQ_ERROR);
	cr_assert_eq(pair_count(p, 0)->cq_overruns, 1);
	pair_free(p);
}

/* ---- queues whose waiters are to be woken ---- */

/* One that is not taken is there in the next turn; one that is destroyed is not. */
Test(cq, fired_queues_wait_to_be_taken)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct pair_side *d = &p->side[0];
	void *mem = aligned_alloc(64, (ndsh_cq_bytes(16) + 63) & ~63u);
	struct ndsh_cq_reader reader;
	struct roce_cq *cq;

	for (unsigned destroy = 0; destroy < 2; destroy++) {
		memset(mem, 0, ndsh_cq_bytes(16));
		cq = roce_cq_create(d->shard, NULL, mem, 16, NULL);
		ndsh_cq_reader_view(&reader, mem, 16);
		cr_assert_eq(ndsh_cq_arm(&reader, NDSH_ARM_ERRORS, NULL), NDSH_ARMED);
		roce_cq_fail(d->shard, cq);
		for (unsigned turn = 0; turn < 3; turn++)
			roce_shard_publish(d->shard);
		if (!destroy) {
			cr_assert_eq(roce_shard_fired_cq(d->shard, p->now_ns), cq);
			cr_assert_null(roce_shard_fired_cq(d->shard, p->now_ns));
		}
		cr_assert(roce_cq_destroy(d->shard, cq));
		cr_assert_null(roce_shard_fired_cq(d->shard, p->now_ns));
	}
	free(mem);
	pair_free(p);
}

/* To the byte. */
Test(cq, which_memory_its_entries_are_in)
{
	struct pair *p = pair_new(&(struct pair_opts){.cq_depth = 16});
	const struct roce_cq *cq = p->side[0].cq;
	uintptr_t low = (uintptr_t)p->side[0].reader.ring;
	uintptr_t high = low + 16 * sizeof(struct ndsh_cqe);

	cr_assert(roce_cq_keeps_entries_at(cq, low, high));
	cr_assert(roce_cq_keeps_entries_at(cq, low + 1, low + 2));
	cr_assert(roce_cq_keeps_entries_at(cq, high - 1, high));
	cr_assert_not(roce_cq_keeps_entries_at(cq, low - 1, low + 1));
	cr_assert_not(roce_cq_keeps_entries_at(cq, high - 1, high + 1));
	cr_assert_not(roce_cq_keeps_entries_at(cq, high, high + 8));
	cr_assert_not(roce_cq_keeps_entries_at(cq, low - 8, low - 1));
	pair_free(p);
}
