/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of completion queues and shared receive queues: what is refused, and what is left of a
 * queue that is destroyed. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/lone_shard.h"
#include "roce/check.h"
#include "roce/queue/cq.h"

#define QUEUES 3u
#define DEPTH  16u
#define ROOM   4096u /* bytes, more than any queue here has */

static struct roce_shard *
shard_new(void)
{
	struct roce_shard_cfg cfg = lone_config();

	cfg.max_cqs = QUEUES;
	cfg.max_srqs = QUEUES;
	return lone_shard_new(&cfg);
}

static void *
room_new(void)
{
	return memset(aligned_alloc(64, ROOM), 0, ROOM);
}

/* ---- completion queues ---- */

/* A depth out of range takes none of the table. */
Test(queue_tables, completion_queues_run_out_and_come_back)
{
	static const uint32_t bad[] = {0, 3, 1u << 31};
	struct roce_shard *s = shard_new();
	struct roce_cq *cq[QUEUES];
	void *mem[QUEUES];

	for (unsigned i = 0; i < QUEUES; i++)
		mem[i] = room_new();
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
			cr_assert_null(roce_cq_create(s, NULL, mem[0], bad[i], NULL), "%u", bad[i]);
		for (unsigned i = 0; i < QUEUES; i++) {
			cq[i] = roce_cq_create(s, NULL, mem[i], DEPTH, &mem[i]);
			cr_assert_not_null(cq[i], "%u of %u", i, QUEUES);
		}
		cr_assert_null(roce_cq_create(s, NULL, mem[0], DEPTH, NULL));
		for (unsigned i = 0; i < QUEUES; i++) {
			cr_assert_eq(roce_cq_owner(cq[i]), &mem[i], "%u is another one's", i);
			cr_assert(roce_cq_destroy(s, cq[i]));
		}
		cr_assert_null(roce_shard_check(s), "%s", roce_shard_check(s));
	}
	for (unsigned i = 0; i < QUEUES; i++)
		free(mem[i]);
	free(s);
}

Test(queue_tables, a_completion_queue_that_one_side_uses_stays)
{
	const struct ndsh_qp_dims dims = {4, 4, 1, 1, 0};
	struct roce_shard *s = shard_new();
	void *mem[3] = {room_new(), room_new(), room_new()};
	struct roce_cq *send = roce_cq_create(s, NULL, mem[0], DEPTH, NULL);
	struct roce_cq *recv = roce_cq_create(s, NULL, mem[1], DEPTH, NULL);
	struct roce_qp *qp = roce_qp_create(s, &(struct roce_qp_cfg){.pd = roce_pd_create(s),
						       .send_cq = send,
						       .recv_cq = recv,
						       .shared = mem[2],
						       .dims = dims});

	cr_assert_not_null(qp);
	cr_assert_not(roce_cq_destroy(s, send));
	cr_assert_not(roce_cq_destroy(s, recv));
	roce_qp_destroy(s, qp);
	cr_assert(roce_cq_destroy(s, send));
	cr_assert(roce_cq_destroy(s, recv));
	for (unsigned i = 0; i < 3; i++)
		free(mem[i]);
	free(s);
}

/* In the middle of a turn, with an entry that is not published, whether it has failed or not. Its
 * memory is its client's again, no event tells of it, and the next queue in its place is a new
 * one. */
Test(queue_tables, nothing_is_left_of_a_destroyed_completion_queue)
{
	struct roce_shard *s = shard_new();
	uint8_t *old = room_new(), *mem = room_new(), *was = malloc(ROOM);

	for (unsigned failed = 0; failed < 2; failed++) {
		struct roce_cq *cq = roce_cq_create(s, NULL, old, DEPTH, NULL);
		struct ndsh_cq_reader reader;
		struct roce_event ev;
		struct ndsh_cqe c;

		roce_cq_push(s, cq, &(struct ndsh_cqe){.context = 1});
		if (failed)
			roce_cq_fail(s, cq);
		cr_assert(roce_cq_destroy(s, cq));
		memcpy(was, old, ROOM);
		memset(mem, 0, ROOM);
		cq = roce_cq_create(s, NULL, mem, DEPTH, NULL);
		roce_shard_publish(s);
		cr_assert_arr_eq(was, old, ROOM);
		cr_assert_not(roce_shard_event(s, &ev));
		roce_cq_push(s, cq, &(struct ndsh_cqe){.context = 2});
		roce_shard_publish(s);
		ndsh_cq_reader_view(&reader, mem, DEPTH);
		cr_assert_eq(reader.page->produced, 1);
		cr_assert(ndsh_cq_poll(&reader, &c, 1) == 1 && c.context == 2);
		cr_assert_null(roce_shard_check(s), "%s", roce_shard_check(s));
		cr_assert(roce_cq_destroy(s, cq));
		memset(old, 0, ROOM);
	}
	free(old);
	free(mem);
	free(was);
	free(s);
}

/* ---- shared receive queues ---- */

/* What is out of range takes none of the table. */
Test(queue_tables, shared_receive_queues_run_out_and_come_back)
{
	struct roce_shard *s = shard_new();
	uint32_t pd = roce_pd_create(s);
	struct roce_srq *srq[QUEUES];
	void *mem[QUEUES];

	for (unsigned i = 0; i < QUEUES; i++)
		mem[i] = room_new();
	for (unsigned round = 0; round < 3; round++) {
		cr_assert_null(roce_srq_create(s, NULL, pd, mem[0], 3, 1, NULL));
		cr_assert_null(roce_srq_create(s, NULL, pd, mem[0], DEPTH, NDSH_SGE_MAX + 1, NULL));
		cr_assert_null(roce_srq_create(s, NULL, pd + 1, mem[0], DEPTH, 1, NULL));
		for (unsigned i = 0; i < QUEUES; i++) {
			srq[i] = roce_srq_create(s, NULL, pd, mem[i], DEPTH, 1, NULL);
			cr_assert_not_null(srq[i], "%u of %u", i, QUEUES);
			for (unsigned other = 0; other < i; other++)
				cr_assert_neq(srq[i], srq[other]);
		}
		cr_assert_null(roce_srq_create(s, NULL, pd, mem[0], DEPTH, 1, NULL));
		cr_assert_null(roce_shard_check(s), "%s", roce_shard_check(s));
		for (unsigned i = 0; i < QUEUES; i++)
			cr_assert(roce_srq_destroy(s, srq[i]));
		cr_assert_null(roce_shard_check(s), "%s", roce_shard_check(s));
	}
	cr_assert(roce_pd_destroy(s, pd), "none of them is in it any more");
	for (unsigned i = 0; i < QUEUES; i++)
		free(mem[i]);
	free(s);
}

/* Its limit was reached, and the host has not been told yet. */
Test(queue_tables, a_destroyed_shared_receive_queue_tells_nothing)
{
	struct roce_shard *s = shard_new();
	uint32_t pd = roce_pd_create(s);
	void *mem = room_new();
	struct roce_srq *srq = roce_srq_create(s, NULL, pd, mem, DEPTH, 1, NULL);
	struct roce_event ev;

	roce_srq_arm(s, srq, 1);
	cr_assert(roce_srq_destroy(s, srq));
	cr_assert_not(roce_shard_event(s, &ev));
	free(mem);
	free(s);
}
