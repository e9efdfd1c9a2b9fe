/* SPDX-License-Identifier: BSD-3-Clause */
/* Replay slots: what READs and atomics of the peer are answered from, again if need be. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rigs/lone_shard.h"
#include "roce/qp/qp.h"
#include "roce/qp/replay.h"
#include "roce/shard/shard.h"

Test(replay, replay_blocks_go_from_the_one_longest_at_rest)
{
	const struct roce_shard_cfg cfg = lone_config();
	struct roce_shard *s = lone_shard_new(&cfg);
	const uint32_t blocks = LONE_QPS / 4 + 16;
	uint32_t pd = roce_pd_create(s);
	void *cq_mem = calloc(1, ndsh_cq_bytes(16) + 64), *block[LONE_QPS];
	struct roce_cq *cq = roce_cq_create(s, cq_mem, 16, NULL);
	struct roce_qp *qp[LONE_QPS];

	s->now_ns = 5000000000;
	for (unsigned i = 0; i < LONE_QPS; i++)
		qp[i] = lone_qp_new(s, pd, cq, &block[i]);
	for (unsigned i = 0; i < blocks; i++)
		cr_assert_not_null(roce_reads_get(s, qp[i]));
	cr_assert_null(roce_reads_get(s, qp[blocks]), "all were used just now");
	s->now_ns += 2000000000;
	roce_reads_get(s, qp[0]);
	cr_assert_not_null(roce_reads_get(s, qp[blocks]));
	cr_assert_not_null(qp[0]->reads, "used again meanwhile");
	cr_assert_null(qp[1]->reads);
	qp[2]->rd_pending = 1;
	cr_assert_null(roce_reads_get(s, qp[1]), "the next one still answers");
	qp[2]->rd_pending = 0;
	cr_assert_not_null(roce_reads_get(s, qp[1]));
	cr_assert_null(qp[2]->reads);
	for (unsigned i = 0; i < LONE_QPS; i++) {
		roce_qp_destroy(s, qp[i]);
		free(block[i]);
	}
	cr_assert(base_list_empty(&s->reads_lru));
	free(cq_mem);
	free(s);
}

/* A block holds nothing of the queue pair that had it before: neither sees the other's READs. */
Test(replay, W_DUP_03_a_block_begins_anew)
{
	const struct roce_shard_cfg cfg = lone_config();
	struct roce_shard *s = lone_shard_new(&cfg);
	const uint32_t blocks = LONE_QPS / 4 + 16;
	uint32_t pd = roce_pd_create(s);
	void *cq_mem = calloc(1, ndsh_cq_bytes(16) + 64), *block[LONE_QPS];
	struct roce_cq *cq = roce_cq_create(s, cq_mem, 16, NULL);
	struct roce_qp *qp[LONE_QPS];
	struct roce_read_block *b;

	s->now_ns = 5000000000;
	for (unsigned i = 0; i < LONE_QPS; i++)
		qp[i] = lone_qp_new(s, pd, cq, &block[i]);
	for (unsigned i = 0; i < blocks; i++) {
		b = roce_reads_get(s, qp[i]);
		cr_assert_eq(roce_reads_get(s, qp[i]), b, "it keeps it");
		for (unsigned k = 0; k < ROCE_RD_ATOMIC_MAX; k++)
			b->slot[k] = (struct roce_read_slot){.npsn = 5, .rkey = i, .old = i};
		qp[i]->rd_next = qp[i]->rd_cur = 7;
	}
	s->now_ns += 2000000000;
	for (unsigned i = blocks; i < LONE_QPS; i++) {
		b = roce_reads_get(s, qp[i]);
		cr_assert_not_null(b);
		cr_assert_eq(b->qp, qp[i]);
		cr_assert_null(qp[i - blocks]->reads);
		cr_assert_eq(qp[i]->rd_next + qp[i]->rd_cur, 0);
		for (unsigned k = 0; k < ROCE_RD_ATOMIC_MAX; k++)
			cr_assert(b->slot[k].npsn == 0 && b->slot[k].old == 0 &&
				  b->slot[k].rkey == 0 && !b->slot[k].pending);
	}
	for (unsigned i = 0; i < LONE_QPS; i++) {
		roce_qp_destroy(s, qp[i]);
		free(block[i]);
	}
	cr_assert(base_list_empty(&s->reads_lru));
	free(cq_mem);
	free(s);
}

/* Any set of slots that wait: done one after the other, the turn goes to the next that waits,
 * around the end; the last one leaves it where it is. */
Test(replay, the_next_that_waits)
{
	for (uint32_t set = 1; set < 1u << ROCE_RD_ATOMIC_MAX; set++) {
		struct roce_read_block b = {.qp = NULL};
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
