/* SPDX-License-Identifier: BSD-3-Clause */
/* Replay slots: what READs and atomics of the peer are answered from, again if need be. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rigs/engine_pair.h"
#include "rigs/lone_shard.h"
#include "roce/qp/qp.h"
#include "roce/qp/replay.h"
#include "roce/shard/shard.h"

/*
 * A client does not answer: it moves nothing of its memory. Its queue pairs hold the READs of
 * their peers for as long as that lasts, however many they are; the others are read as ever.
 * checks W-ATOM-01[5], W-READ-03[5]
 */
Test(replay, W_READ_03_stuck_responses_deny_no_other_queue_pair)
{
	const unsigned qps = 64, stuck = qps - 1;
	struct pair *p =
		pair_new(&(struct pair_opts){.qps = qps, .moved = true, .timeout_code = 20});
	const struct ndsh_swr wr = {.ctrl = NDSH_CTRL(NDSH_OP_READ, 1, 0, 0),
		.raddr = (uintptr_t)p->side[1].moved,
		.rkey = p->side[1].moved_key};
	const struct ndsh_sge sge = pair_sge(p, 0, 0, 64);

	p->side[1].stalled = true;
	for (unsigned i = 0; i < stuck; i++)
		pair_post(p, 0, i, &wr, &sge, NULL);
	pair_run(p, 3000000000);
	pair_expect_none(p, 0);
	for (unsigned k = 0; k < 20; k++) {
		pair_read(p, 0, stuck, k, 64, 64, 64, 0);
		pair_run(p, 1000000);
		pair_expect(p, 0, k, NDSH_WC_SUCCESS);
	}
	cr_assert_eq(pair_count(p, 0)->rx_rnr, 0);
	cr_assert_eq(pair_count(p, 1)->rx_duplicate, pair_count(p, 0)->retransmitted_packets);
	p->side[1].stalled = false;
	pair_run(p, 3000000000);
	for (unsigned i = 0; i < stuck; i++)
		pair_expect_alive(p, 0, i);
	pair_free(p);
}

/* Nothing of the READs of a queue pair is left for the one that comes to its place. */
Test(replay, W_DUP_03_a_block_begins_anew)
{
	const struct roce_shard_cfg cfg = lone_config();
	struct roce_shard *s = lone_shard_new(&cfg);
	uint32_t pd = roce_pd_create(s);
	void *cq_mem = calloc(1, ndsh_cq_bytes(16) + 64), *block;
	struct roce_cq *cq = roce_cq_create(s, NULL, cq_mem, 16, NULL);

	for (unsigned round = 0; round < 2 * LONE_QPS; round++) {
		struct roce_qp *qp = lone_qp_new(s, pd, cq, &block);
		struct roce_read_block *b;

		cr_assert_null(qp->reads);
		roce_reads_use(s, qp);
		b = qp->reads;
		roce_reads_use(s, qp);
		cr_assert_eq(qp->reads, b, "it keeps it");
		cr_assert_eq(qp->rd_next + qp->rd_cur, 0);
		for (unsigned k = 0; k < ROCE_RD_ATOMIC_MAX; k++) {
			cr_assert(b->slot[k].npsn == 0 && b->slot[k].old == 0 &&
				  b->slot[k].rkey == 0 && !b->slot[k].pending);
			b->slot[k] = (struct roce_read_slot){.npsn = 5, .rkey = k, .old = k};
		}
		qp->rd_next = qp->rd_cur = 7;
		roce_reads_forget(s, qp);
		cr_assert_null(qp->reads);
		roce_reads_use(s, qp);
		cr_assert_eq(b->slot[3].npsn + qp->rd_next + qp->rd_cur, 0, "a reset");
		b->slot[3].npsn = 5;
		roce_qp_destroy(s, qp);
		free(block);
	}
	free(cq_mem);
	free(s);
}

/* Any set of slots that wait: done one after the other, the turn goes to the next that waits,
 * around the end; the last one leaves it where it is. */
Test(replay, the_next_that_waits)
{
	for (uint32_t set = 1; set < 1u << ROCE_RD_ATOMIC_MAX; set++) {
		struct roce_read_block b = {0};
		struct roce_qp qp = {.reads = &b};
		uint32_t left = set;

		for (uint32_t i = 0; i < ROCE_RD_ATOMIC_MAX; i++) {
			b.slot[i].pending = set >> i & 1;
			qp.rd_pending += b.slot[i].pending;
		}
		qp.rd_cur = (uint8_t)(31 - __builtin_clz(set)); /* so that the end is passed */
		while (left != 0) {
			uint32_t cur = qp.rd_cur;

			cr_assert(left & 1u << cur, "set %x", set);
			left &= ~(1u << cur);
			roce_read_done(&qp, cur);
			cr_assert_eq(qp.rd_pending, __builtin_popcount(left));
			cr_assert_not(b.slot[cur].pending);
			for (uint32_t i = cur + 1; left != 0 && i % ROCE_RD_ATOMIC_MAX != qp.rd_cur;
				i++)
				cr_assert_not(left & 1u << i % ROCE_RD_ATOMIC_MAX, "set %x", set);
		}
	}
}
