/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What principals may have under way while several are busy (shard/flight.h), and the queue pairs
 * that are held back for it. The peer answers when a test says so. Principal 0 has the many
 * connections, principal 1 has one.
 */
#include <criterion/criterion.h>

#include "rigs/crowd.h"
#include "roce/check.h"
#include "roce/held.h"
#include "roce/qp/qp.h"
#include "roce/shard/flight.h"
#include "shm/ndsh_op.h"
#include "wire/headers.h"
#include "wire/psn.h"

#define WINDOW 128u
#define MANY   100u
#define LARGE  (4096u * 1000) /* more than any window */

static struct roce_shard *
shard_of(const struct crowd *c)
{
	return c->p->side[0].shard;
}

static void
check(const struct crowd *c)
{
	cr_assert_null(roce_shard_check(shard_of(c)), "%s", roce_shard_check(shard_of(c)));
}

/* Principal 0 with so many queue pairs, and principal 1 with one. */
static struct crowd *
many_and_one(unsigned many, uint8_t timeout_code)
{
	struct crowd *c = crowd_new_with(4096, WINDOW, timeout_code);

	crowd_add_qps(c, crowd_add_client(c, 0, 1), many);
	crowd_add_qps(c, crowd_add_client(c, 1, 1), 1);
	return c;
}

/* The peer has acknowledged all that queue pair i has sent. */
static void
acknowledge(struct crowd *c, unsigned i)
{
	crowd_answer(c, i, roce_psn_add(c->qp[i]->snd_max, ROCE_PSN_MASK), ROCE_SYN_ACK);
}

/* Each may have what the others have on average, and an eighth of a window more: the one has its
 * window. A queue pair may send one packet beyond that which asks for an acknowledgement. */
Test(held, a_hundred_connections_have_no_more_under_way_than_one)
{
	struct crowd *c = many_and_one(MANY, 255);

	crowd_post(c, 1, 1, LARGE);
	crowd_post(c, 0, 1, LARGE);
	crowd_send_all(c);
	cr_expect_eq(
		c->frames[1], WINDOW, "the one has its window: %lu", (unsigned long)c->frames[1]);
	cr_expect_geq(c->frames[0], WINDOW / 4, "%lu", (unsigned long)c->frames[0]);
	cr_expect_leq(c->frames[0], WINDOW + WINDOW / 8 + MANY, "%lu", (unsigned long)c->frames[0]);
	cr_expect_geq(shard_of(c)->count.tx_held, MANY, "each was held back");
	check(c);
	crowd_free(c);
}

Test(held, a_principal_alone_has_all_its_windows)
{
	struct crowd *c = many_and_one(MANY, 255);

	crowd_post(c, 0, 1, LARGE);
	crowd_send_all(c);
	cr_expect_eq(c->frames[0], MANY * WINDOW, "%lu", (unsigned long)c->frames[0]);
	cr_expect_eq(shard_of(c)->count.tx_held, 0);
	crowd_free(c);
}

/* One that has a packet under way now and then, as pings do, takes nothing from others. */
Test(held, little_under_way_holds_nobody_back)
{
	struct crowd *c = many_and_one(MANY, 255);

	crowd_post(c, 1, WINDOW / 4 - 1, 8);
	crowd_post(c, 0, 1, LARGE);
	crowd_send_all(c);
	cr_expect_eq(c->frames[0], MANY * WINDOW, "%lu", (unsigned long)c->frames[0]);
	crowd_free(c);
}

/* Whatever waits when all that may be sent is sent, an answer to each packet will come: there is no
 * timer here that would help. */
Test(held, all_that_is_under_way_is_asked_for)
{
	struct crowd *c = many_and_one(MANY, 255);

	crowd_post(c, 1, 1, LARGE);
	crowd_post(c, 0, 1, LARGE);
	crowd_send_all(c);
	for (unsigned i = 0; i < MANY; i++)
		cr_expect(c->of_qp[i] == 0 || c->asked[i], "queue pair %u", i);
	crowd_free(c);
}

/* As what was under way is acknowledged, all is sent in the end, each queue pair in its turn. */
Test(held, acknowledgements_make_room)
{
	const uint32_t message = 4096u * 40;
	struct crowd *c = many_and_one(MANY, 255);

	crowd_post(c, 1, 1, LARGE);
	crowd_post(c, 0, 1, message);
	for (unsigned round = 0; round < 1000 && c->frames[0] < 40 * MANY; round++) {
		uint64_t least = UINT64_MAX, most = 0;

		crowd_send_all(c);
		check(c);
		for (unsigned i = 0; i < MANY; i++) {
			least = c->of_qp[i] < least ? c->of_qp[i] : least;
			most = c->of_qp[i] > most ? c->of_qp[i] : most;
		}
		cr_assert_leq(most - least, 2 * 16, "all stand in one line");
		for (unsigned i = 0; i < MANY; i++)
			if (c->qp[i]->una_psn != c->qp[i]->snd_max)
				acknowledge(c, i);
	}
	cr_expect_eq(c->frames[0], 40 * MANY, "%lu", (unsigned long)c->frames[0]);
	crowd_free(c);
}

/* The share ends 4 ms after the other was busy last, and what was held back goes on. */
Test(held, when_the_other_rests_all_go_on)
{
	struct crowd *c = many_and_one(MANY, 255);

	crowd_post(c, 1, 1, 4096 * 40);
	crowd_post(c, 0, 1, LARGE);
	crowd_send_all(c);
	cr_assert_lt(c->frames[0], MANY * WINDOW);
	acknowledge(c, MANY);
	c->p->now_ns += ROCE_BUSY_NS - 1000;
	crowd_send_all(c);
	cr_expect_lt(c->frames[0], MANY * WINDOW, "it may go on at any moment");
	cr_expect_not(base_list_empty(&shard_of(c)->holding));
	c->p->now_ns += 2000 + ROCE_BUSY_NS / 4;
	crowd_send_all(c);
	cr_expect_eq(c->frames[0], MANY * WINDOW, "%lu", (unsigned long)c->frames[0]);
	cr_expect_not(shard_of(c)->is_shared);
	check(c);
	crowd_free(c);
}

/* By weight: one of weight 2 may have twice as much for each that the other has. */
static uint64_t
sent_by_weight(uint32_t many, uint32_t one)
{
	struct crowd *c = crowd_new_with(4096, WINDOW, 255);
	uint64_t sent;

	crowd_add_qps(c, crowd_add_client(c, 0, many), MANY);
	crowd_add_qps(c, crowd_add_client(c, 1, one), 1);
	crowd_post(c, 1, 1, LARGE);
	crowd_post(c, 0, 1, LARGE);
	crowd_send_all(c);
	check(c);
	sent = c->frames[0];
	crowd_free(c);
	return sent;
}

Test(held, by_weight)
{
	uint64_t twice = sent_by_weight(2, 1), half = sent_by_weight(1, 2);

	cr_expect_geq(twice, 2 * WINDOW, "%lu", (unsigned long)twice);
	cr_expect_leq(twice, 2 * (WINDOW + WINDOW / 8) + MANY, "%lu", (unsigned long)twice);
	cr_expect_geq(half, WINDOW / 2, "%lu", (unsigned long)half);
	cr_expect_leq(half, WINDOW / 2 + WINDOW / 8 + MANY, "%lu", (unsigned long)half);
}

/* Of three, the average of the two others counts, not their sum. */
Test(held, as_the_others_on_average)
{
	struct crowd *c = crowd_new_with(4096, WINDOW, 255);

	crowd_add_qps(c, crowd_add_client(c, 0, 1), 4);
	crowd_add_qps(c, crowd_add_client(c, 1, 1), 1);
	crowd_add_qps(c, crowd_add_client(c, 2, 1), 1);
	crowd_post(c, 1, 1, LARGE);
	crowd_post(c, 2, 1, LARGE);
	crowd_send_all(c);
	crowd_post(c, 0, 1, LARGE);
	crowd_send_all(c);
	cr_expect_geq(c->frames[0], WINDOW, "%lu", (unsigned long)c->frames[0]);
	cr_expect_leq(c->frames[0], WINDOW + WINDOW / 8 + 4, "%lu", (unsigned long)c->frames[0]);
	check(c);
	crowd_free(c);
}

/* A packet for each that is acknowledged would cost an acknowledgement each: a quarter of the share
 * has to be free. */
Test(held, they_go_on_in_quarters)
{
	struct crowd *c = many_and_one(2, 255);
	uint64_t before;

	crowd_post(c, 1, 1, LARGE);
	crowd_send_all(c);
	crowd_post(c, 0, 1, LARGE);
	crowd_send_all(c);
	before = c->frames[0];
	for (unsigned i = 0; i < 2; i++)
		crowd_answer(c, i, roce_psn_add(c->qp[i]->una_psn, 11), ROCE_SYN_ACK);
	cr_expect_eq(crowd_send_all(c), 0, "24 of 144");
	crowd_answer(c, 0, roce_psn_add(c->qp[0]->una_psn, 15), ROCE_SYN_ACK);
	crowd_send_all(c);
	cr_expect_geq(c->frames[0] - before, 36, "40 of 144: %lu",
		(unsigned long)(c->frames[0] - before));
	cr_expect_leq(c->frames[0] - before, 42, "%lu", (unsigned long)(c->frames[0] - before));
	crowd_free(c);
}

/* How many of its share principal 0 has free. */
static uint32_t
free_of(const struct crowd *c)
{
	return roce_flight_room(shard_of(c), &c->principal[0]);
}

/* The peer acknowledges the first n packets that queue pair 0 has under way. */
static void
acknowledge_some(struct crowd *c, uint32_t n)
{
	crowd_answer(c, 0, roce_psn_add(c->qp[0]->una_psn, n - 1), ROCE_SYN_ACK);
}

/* A quarter is enough, and one packet less is not. */
Test(held, they_go_on_at_a_quarter)
{
	struct crowd *c = many_and_one(2, 255);
	uint32_t quarter, over;

	crowd_post(c, 1, 1, LARGE);
	crowd_send_all(c);
	crowd_post(c, 0, 1, LARGE);
	crowd_send_all(c);
	quarter = roce_flight_share(shard_of(c), &c->principal[0]) / 4;
	over = c->principal[0].flight - 4 * quarter;
	cr_assert_eq(quarter, 36, "of 144: %u", quarter);
	cr_assert_geq(c->principal[0].flight, 4 * quarter);
	acknowledge_some(c, over + quarter - 1);
	cr_assert_eq(free_of(c), quarter - 1);
	cr_expect_eq(crowd_send_all(c), 0);
	cr_expect_not(roce_held_may_go_on(shard_of(c)));
	acknowledge_some(c, 1);
	cr_assert_eq(free_of(c), quarter);
	cr_expect(roce_held_may_go_on(shard_of(c)));
	cr_expect_geq(crowd_send_all(c), quarter);
	check(c);
	crowd_free(c);
}

/* Beside one that has just rested a share is a quarter of the window, and a quarter of that is one
 * packet here. */
Test(held, room_for_one_packet_is_room)
{
	enum { SMALL = 16 };
	struct crowd *c = crowd_new_with(4096, SMALL, 255);

	crowd_add_qps(c, crowd_add_client(c, 0, 1), 2);
	crowd_add_qps(c, crowd_add_client(c, 1, 1), 1);
	crowd_post(c, 1, 1, 4096 * SMALL);
	crowd_send_all(c);
	acknowledge(c, 2);
	crowd_post(c, 0, 1, LARGE);
	crowd_send_all(c);
	cr_assert_eq(roce_flight_share(shard_of(c), &c->principal[0]), SMALL / 4);
	cr_assert_eq(free_of(c), 0);
	crowd_add_qps(c, 0, 1); /* to which nobody answers: it stands in line alone */
	crowd_post(c, 0, 1, LARGE);
	crowd_send_all(c);
	cr_assert_eq(c->principal[0].flight, 8, "4 of each of the two");
	acknowledge(c, 0);
	crowd_answer(c, 1, c->qp[1]->una_psn, ROCE_SYN_ACK);
	cr_assert_eq(free_of(c), 1);
	cr_expect(roce_held_may_go_on(shard_of(c)));
	cr_expect_gt(crowd_send_all(c), 0);
	check(c);
	crowd_free(c);
}

/* Turns are for those that can send: while there is no room none is needed, and if there is one for
 * another reason they stay in line. */
Test(held, those_without_room_get_no_turn)
{
	struct crowd *c = many_and_one(MANY, 255);
	uint64_t times;

	crowd_post(c, 1, 1, LARGE);
	crowd_post(c, 0, 1, LARGE);
	crowd_send_all(c);
	times = shard_of(c)->count.tx_held;
	cr_expect_not(roce_shard_tx_pending(shard_of(c), c->p->now_ns));
	cr_expect_eq(crowd_send_all(c), 0);
	cr_expect_eq(shard_of(c)->count.tx_held, times);
	check(c);
	crowd_free(c);
}

/* Until a turn looks at it, a principal whose queue pairs have left the line is still in that of
 * the shard. */
Test(held, a_line_that_all_have_left_needs_no_turn)
{
	struct crowd *c = many_and_one(MANY, 255);

	crowd_post(c, 1, 1, LARGE);
	crowd_post(c, 0, 1, LARGE);
	crowd_send_all(c);
	cr_assert_not(base_list_empty(&c->principal[0].held));
	for (unsigned i = 0; i < MANY; i++)
		cr_assert_eq(roce_qp_modify(shard_of(c), c->qp[i], 0, ROCE_QPS_ERR, 0,
				     &(const struct roce_qp_attr){0}),
			ROCE_MODIFY_OK);
	cr_assert(base_list_empty(&c->principal[0].held));
	cr_assert_gt(free_of(c), 0);
	cr_assert(base_linked(&c->principal[0].holding));
	cr_expect_not(roce_held_may_go_on(shard_of(c)));
	crowd_send_all(c);
	cr_expect_not(base_linked(&c->principal[0].holding));
	check(c);
	crowd_free(c);
}

/* Two with many connections both get more than a window, step by step. */
Test(held, two_that_want_more_get_more)
{
	struct crowd *c = crowd_new_with(4096, WINDOW, 255);

	crowd_add_qps(c, crowd_add_client(c, 0, 1), 8);
	crowd_add_qps(c, crowd_add_client(c, 1, 1), 8);
	crowd_post(c, 0, 1, LARGE);
	crowd_post(c, 1, 1, LARGE);
	for (unsigned i = 0; i < 100; i++)
		crowd_send_all(c);
	cr_expect_eq(c->frames[0], 8 * WINDOW, "%lu", (unsigned long)c->frames[0]);
	cr_expect_eq(c->frames[1], 8 * WINDOW, "%lu", (unsigned long)c->frames[1]);
	crowd_free(c);
}

/* A packet counts, not its bytes. */
Test(held, small_packets_count_as_well)
{
	struct crowd *c = many_and_one(MANY, 255);

	crowd_post(c, 1, 1, LARGE);
	crowd_send_all(c);
	crowd_post(c, 0, 60, 8);
	crowd_send_all(c);
	cr_expect_geq(c->frames[0], WINDOW, "%lu", (unsigned long)c->frames[0]);
	cr_expect_leq(c->frames[0], WINDOW + WINDOW / 8, "%lu", (unsigned long)c->frames[0]);
	crowd_free(c);
}

/* A READ is one packet, and counts with all of its responses. */
Test(held, reads_count_with_their_responses)
{
	struct crowd *c = many_and_one(MANY, 255);

	crowd_post(c, 1, 1, LARGE);
	crowd_send_all(c);
	crowd_post_op(c, 0, 1, NDSH_OP_READ, 4096 * 100);
	crowd_send_all(c);
	cr_expect_eq(c->frames[0], 2, "100 packets, below the share; then 200: %lu",
		(unsigned long)c->frames[0]);
	crowd_free(c);
}

/* Responses leave at once: the peer may be one that is held back itself, until they come. */
Test(held, responses_do_not_wait)
{
	struct crowd *c = many_and_one(MANY, 255);
	uint64_t before;
	unsigned i = 0;

	crowd_post(c, 1, 1, LARGE);
	crowd_post(c, 0, 1, LARGE);
	crowd_send_all(c);
	while (!(c->qp[i]->tx_bits & ROCE_TXB_STARVED))
		i++;
	before = c->of_qp[i];
	crowd_hear(c, i,
		(struct roce_pkt){.opcode = ROCE_READ_REQUEST,
			.psn = c->qp[i]->recv_psn,
			.va = PAIR_VA,
			.rkey = c->p->side[0].key,
			.dma_bytes = 4096 * 40});
	crowd_send_all(c);
	cr_expect_eq(c->of_qp[i] - before, 40, "%lu", (unsigned long)(c->of_qp[i] - before));
	check(c);
	crowd_free(c);
}

/* A peer that is gone holds up its own connection: after one timeout the packets to it don't
 * count. */
Test(held, a_dead_peer_holds_up_its_own_connection)
{
	struct crowd *c = many_and_one(2, 12);

	crowd_post(c, 1, 1, LARGE);
	crowd_send_all(c);
	crowd_post(c, 0, 1, LARGE);
	crowd_send_all(c);
	cr_expect_geq(c->qp[0]->flight, 4);
	for (unsigned i = 0; i < 100 && !(c->qp[0]->tx_bits & ROCE_TXB_LATE); i++) {
		c->p->now_ns += 1000000;
		acknowledge(c, 1);
		acknowledge(c, 2);
		roce_shard_timers(shard_of(c), c->p->now_ns, 64);
		crowd_send_all(c);
		check(c);
	}
	cr_assert(c->qp[0]->tx_bits & ROCE_TXB_LATE, "its timer ran out");
	cr_expect_eq(c->qp[0]->flight, 0);
	crowd_free(c);
}

/* A peer without receives asked for a pause: nothing is under way to it. */
Test(held, a_peer_that_asks_for_a_pause_holds_up_its_own_connection)
{
	struct crowd *c = many_and_one(2, 12);

	crowd_post(c, 1, 1, LARGE);
	crowd_post(c, 0, 1, LARGE);
	crowd_send_all(c);
	cr_assert_gt(c->qp[0]->flight, 0);
	crowd_answer(c, 0, c->qp[0]->una_psn, ROCE_SYN_RNR | 14);
	cr_expect_eq(c->qp[0]->flight, 0);
	check(c);
	crowd_free(c);
}

/* What a queue pair had under way ends with it. */
Test(held, an_end_makes_room)
{
	struct crowd *c = many_and_one(2, 255);

	crowd_post(c, 1, 1, LARGE);
	crowd_post(c, 0, 1, LARGE);
	crowd_send_all(c);
	cr_assert_gt(c->principal[0].flight, 0);
	crowd_answer(c, 0, c->qp[0]->una_psn, ROCE_SYN_NAK_INV_REQ);
	cr_expect_eq(c->qp[0]->state, ROCE_QPS_ERR);
	cr_expect_eq(c->qp[0]->flight, 0);
	cr_expect_eq(c->principal[0].flight, c->qp[1]->flight);
	check(c);
	crowd_free(c);
}
