/* SPDX-License-Identifier: BSD-3-Clause */
/* Replay slots: what READs and atomics of the peer are answered from, again if need be. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rigs/lone_shard.h"
#include "roce/qp/qp.h"
#include "roce/responder/replay.h"
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
