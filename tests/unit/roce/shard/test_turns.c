/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of sending: by principals and their weights, then by clients, then by queue pairs,
 * counted in bytes of frames with the price of each.
 */
#include <criterion/criterion.h>

#include "rigs/crowd.h"
#include "roce/qp/qp.h"
#include "roce/shard/turns.h"

/* With a path MTU of 4096 a round's credit is for one frame, so that each costs a look, too. */
static uint64_t
paid(const struct crowd *c, unsigned client)
{
	uint64_t looks = c->p->opts.mtu == 4096 ? c->frames[client] : 0;

	return c->bytes[client] + c->frames[client] * ROCE_PRICE_OF_FRAME +
	       looks * ROCE_PRICE_OF_LOOK;
}

/* What they paid is as their weights say, but for the credit of a round and a frame. */
static void
expect_shares(const struct crowd *c, unsigned a, unsigned b, uint64_t weight_a, uint64_t weight_b)
{
	int64_t by_a = (int64_t)(paid(c, a) / weight_a), by_b = (int64_t)(paid(c, b) / weight_b);
	int64_t off = by_a > by_b ? by_a - by_b : by_b - by_a;

	cr_expect_lt(off, by_a / 12 + 2 * ROCE_TURN_BYTES + 4 * 4600, "%ld and %ld", (long)by_a,
		(long)by_b);
}

/* 1,000 queue pairs of one principal against one of another: half for each. */
Test(turns, a_thousand_queue_pairs_against_one)
{
	struct crowd *c = crowd_new(1024);

	crowd_add_qps(c, crowd_add_client(c, 0, 1), 1000);
	crowd_add_qps(c, crowd_add_client(c, 1, 1), 1);
	crowd_post(c, 0, 8, 1024);
	crowd_post(c, 1, 1, 1024 * 4000);
	crowd_send(c, 4000);
	expect_shares(c, 0, 1, 1, 1);
	cr_expect_geq(c->frames[1], 1900, "%lu", (unsigned long)c->frames[1]);
	cr_expect_leq(c->frames[1], 2100);
	crowd_free(c);
}

Test(turns, by_weight)
{
	static const uint32_t weights[][2] = {{1, 1}, {3, 1}, {1, 3}, {32, 1}};

	for (unsigned i = 0; i < sizeof(weights) / sizeof(weights[0]); i++) {
		struct crowd *c = crowd_new(1024);

		crowd_add_qps(c, crowd_add_client(c, 0, weights[i][0]), 3);
		crowd_add_qps(c, crowd_add_client(c, 1, weights[i][1]), 30);
		crowd_post(c, 0, 2, 4000 * 1024);
		crowd_post(c, 1, 2, 4000 * 1024);
		crowd_send(c, 3960);
		expect_shares(c, 0, 1, weights[i][0], weights[i][1]);
		crowd_free(c);
	}
}

/* Small frames cost more than their bytes: a client that sends them gets more frames, but not as
 * many as by bytes alone. */
Test(turns, by_bytes_and_by_frames)
{
	struct crowd *c = crowd_new(4096);

	crowd_add_qps(c, crowd_add_client(c, 0, 1), 64);
	crowd_add_qps(c, crowd_add_client(c, 1, 1), 1);
	crowd_post(c, 0, 60, 8);
	crowd_post(c, 1, 1, 4096 * 1000);
	crowd_send(c, 2000);
	expect_shares(c, 0, 1, 1, 1);
	cr_expect_gt(c->frames[0], 5 * c->frames[1]);
	cr_expect_lt(c->frames[0], 16 * c->frames[1], "it would be 54 by bytes");
	crowd_free(c);
}

/* Three clients of one principal have together what the one of another has; among them each has as
 * much as the others, however many queue pairs it has. */
Test(turns, clients_share_what_their_principal_has)
{
	struct crowd *c = crowd_new(1024);

	crowd_add_qps(c, crowd_add_client(c, 0, 1), 100);
	crowd_add_qps(c, crowd_add_client(c, 0, 0), 10);
	crowd_add_qps(c, crowd_add_client(c, 0, 0), 1);
	crowd_add_qps(c, crowd_add_client(c, 1, 1), 1);
	for (unsigned i = 0; i < 4; i++)
		crowd_post(c, i, 1, 4000 * 1024);
	crowd_send(c, 3600);
	expect_shares(c, 0, 1, 1, 1);
	expect_shares(c, 1, 2, 1, 1);
	expect_shares(c, 3, 0, 3, 1);
	crowd_free(c);
}

/* Within a client, each queue pair has its turn. */
Test(turns, queue_pairs_of_a_client)
{
	struct crowd *c = crowd_new(1024);

	crowd_add_qps(c, crowd_add_client(c, 0, 1), 10);
	crowd_add_qps(c, crowd_add_client(c, 1, 1), 1);
	crowd_post(c, 0, 1, 1000 * 1024);
	crowd_post(c, 1, 1, 4000 * 1024);
	crowd_send(c, 2000);
	for (unsigned i = 1; i < 10; i++)
		cr_expect(c->of_qp[i] + 16 > c->of_qp[0] && c->of_qp[i] < c->of_qp[0] + 16, "%lu",
			(unsigned long)c->of_qp[i]);
	crowd_free(c);
}

/* Doorbells of one client, as many as it likes, don't stand before another's; a look at a queue
 * pair that has nothing to send is charged, so that it does not delay others. */
Test(turns, doorbells_for_nothing)
{
	struct crowd *c = crowd_new(1024);

	crowd_add_qps(c, crowd_add_client(c, 0, 1), 1000);
	crowd_add_qps(c, crowd_add_client(c, 1, 1), 1);
	for (unsigned round = 0; round < 4; round++) {
		for (unsigned i = 0; i < 1000; i++)
			roce_qp_doorbell(c->p->side[0].shard, &c->client[0], c->qp[i]);
		crowd_post(c, 1, 1, 8);
		crowd_send(c, 1);
		cr_expect_eq(c->frames[1], round + 1, "in the first call");
	}
	crowd_free(c);
}

/* A client that comes back after a pause has saved up nothing, and still owes what it owed. */
Test(turns, a_pause_changes_nothing)
{
	struct crowd *c = crowd_new(4096);

	crowd_add_qps(c, crowd_add_client(c, 0, 1), 1);
	crowd_add_qps(c, crowd_add_client(c, 1, 1), 1);
	crowd_post(c, 1, 60, 4096 * 100);
	for (unsigned i = 0; i < 400; i++) { /* one frame, and nothing until it has left */
		crowd_post(c, 0, i < 60, 4096);
		crowd_send(c, 4);
	}
	cr_expect_eq(c->frames[0], 60);
	for (unsigned i = 0; i < CROWD_CLIENTS; i++) {
		cr_expect_leq(c->client[i].turn.credit, ROCE_TURN_BYTES);
		cr_expect_geq(c->client[i].turn.credit, -4600);
	}
	crowd_free(c);
}
