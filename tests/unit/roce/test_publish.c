/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a turn: what lies in a queue when its waiter is woken, and queues that fail. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/engine_pair.h"
#include "roce/queue/cq.h"

/* checks R-CQ-17[2]: a flush of both queues: a client that sees the event finds every entry. */
Test(publish, R_CQ_17_the_whole_flush_is_there_when_it_notifies)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct ndsh_cqe e;

	for (unsigned i = 0; i < 100; i++)
		pair_recv(p, 0, 0, i, 0, 8);
	pair_turn(p, 0);
	pair_arm(p, 0, NDSH_ARM_SOLICITED);
	roce_qp_modify(p->side[0].shard, p->side[0].q[0].qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
	for (unsigned i = 0; pair_armed(p, 0); i++) {
		cr_assert_lt(i, 10);
		pair_turn(p, 0);
	}
	for (unsigned i = 0; i < 100; i++) {
		cr_assert(pair_poll(p, 0, &e));
		cr_expect_eq(e.context, i);
		cr_expect_eq(e.status, NDSH_WC_FLUSH_ERR);
	}
	cr_expect_not(pair_poll(p, 0, &e));
	pair_free(p);
}

/*
 * checks R-CQ-17[2], R-FL-05[1,2]: two queue pairs at one queue, one of them deep: the waiter is
 * woken once, when all that is to be cancelled can be taken, and not before.
 */
Test(publish, R_CQ_17_R_FL_05_all_cancelled_entries_before_the_word_of_it)
{
	static const enum ndsh_arm types[] = {NDSH_ARM_ANY, NDSH_ARM_SOLICITED};

	for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
		struct pair *p = pair_new(
			&(struct pair_opts){.qps = 2, .rq_depth = 4096, .cq_depth = 16384});
		struct pair_side *d = &p->side[0];
		struct roce_cq *fired;
		struct ndsh_cqe c;
		unsigned turns = 0, got = 0;

		for (unsigned i = 0; i < 4096; i++)
			pair_recv(p, 0, 0, i, 0, 8);
		pair_recv(p, 0, 1, 0, 0, 8);
		cr_assert_eq(ndsh_cq_arm(&d->reader, types[t], NULL), NDSH_ARMED);
		for (unsigned i = 0; i < 2; i++)
			roce_qp_modify(d->shard, d->q[i].qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
		do {
			roce_shard_publish(d->shard);
			fired = roce_shard_fired_cq(d->shard, p->now_ns);
			roce_shard_poll_rings(d->shard, p->now_ns, 64);
		} while (fired == NULL && turns++ < 100);
		cr_assert_eq(fired, d->cq);
		cr_assert_gt(turns, 2, "a turn has a bound");
		while (pair_poll(p, 0, &c))
			got++;
		cr_assert_eq(got, 4096 + 1);
		cr_assert_null(roce_shard_fired_cq(d->shard, p->now_ns));
		pair_free(p);
	}
}

/* checks W-EVT-03[1,2,3] */
Test(publish, W_EVT_03_overrun_fails_the_queue_pairs)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 2, .cq_depth = 4});
	struct ndsh_cqe c;
	unsigned n = 0;

	for (unsigned i = 0; i < 8; i++)
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
	pair_run(p, 100000000);
	while (pair_poll(p, 0, &c))
		cr_assert_eq(c.context, n++);
	cr_assert_eq(n, 4);
	cr_assert_eq(p->side[0].reader.page->fault, NDSH_CQ_OVERRUN);
	cr_assert(p->side[0].events & 1u << ROCE_EV_CQ_ERROR);
	for (unsigned i = 0; i < 2; i++) /* the one that had nothing to do with it, too */
		cr_assert_eq(roce_qp_reason(p->side[0].q[i].qp), ROCE_REASON_CQ_OVERRUN);
	pair_free(p);
}

/* checks R-CQ-32: whatever it is armed for it fires once; what was made stays, nothing follows */
Test(publish, R_CQ_32_a_queue_that_fails_ends_its_queue_pairs)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 2});
	struct pair_side *side = &p->side[0];
	struct ndsh_cqe c;

	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_run(p, 1000000);
	pair_recv(p, 0, 1, 2, 0, 64);
	cr_assert_eq(ndsh_cq_arm(&side->reader, NDSH_ARM_ERRORS, NULL), NDSH_ARMED);
	roce_cq_fail(side->shard, side->cq);
	roce_cq_fail(side->shard, side->cq);
	cr_assert_eq(side->reader.page->fault, NDSH_CQ_OK, "not in the middle of a turn");
	pair_run(p, 100000000);
	cr_assert_eq(side->reader.page->fault, NDSH_CQ_FATAL);
	cr_assert_eq(ndsh_cq_armed(&side->reader), NDSH_ARM_NONE);
	cr_assert_eq(side->fired, 1);
	cr_assert(side->events & 1u << ROCE_EV_CQ_ERROR);
	for (unsigned i = 0; i < 2; i++)
		cr_assert_eq(roce_qp_reason(side->q[i].qp), ROCE_REASON_CQ_FATAL);
	cr_assert(pair_poll(p, 0, &c));
	cr_assert_eq(c.context, 1);
	cr_assert_not(pair_poll(p, 0, &c), "not even what was cancelled by it");
	cr_assert_eq(ndsh_cq_arm(&side->reader, NDSH_ARM_ANY, NULL), NDSH_ARM_FAULT, "it stays");
	pair_free(p);
}

/* Those of another queue are none of its business. checks W-EVT-03[2] */
Test(publish, W_EVT_03_queue_pairs_of_another_queue_go_on)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 1});
	struct pair_side *d = &p->side[0];
	void *mem = aligned_alloc(64, (ndsh_cq_bytes(16) + 63) & ~63u);
	struct roce_cq *other;

	memset(mem, 0, ndsh_cq_bytes(16));
	other = roce_cq_create(d->shard, NULL, mem, 16, &mem);
	cr_assert_not_null(other);
	cr_assert_eq(roce_cq_owner(other), &mem);
	roce_cq_fail(d->shard, other);
	cr_assert_not(pair_run(p, 1000000) && d->events == 0);
	cr_assert_eq(d->last_event.type, ROCE_EV_CQ_ERROR);
	cr_assert_eq(d->last_event.cq, other);
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect_alive(p, 0, 0);
	cr_assert(roce_cq_destroy(d->shard, other));
	free(mem);
	pair_free(p);
}

/* Which entry fires which arm: what is solicited or failed fires both, anything else one of them.
 * One arm is one notification, whatever follows; and an arm that finds an entry which is newer than
 * that fires by itself. checks W-EVT-04[1,2,3,4,5], W-RESP-16[2] */
Test(publish, W_EVT_04_a_notification_is_for_one_arm)
{
	static const struct {
		uint8_t status, flags;
		bool fires[2]; /* an arm for solicited entries; for any */
	} of[] = {{NDSH_WC_SUCCESS, 0, {false, true}},
		{NDSH_WC_SUCCESS, NDSH_CQEF_IMM | NDSH_CQEF_WRITE | NDSH_CQEF_INV, {false, true}},
		{NDSH_WC_SUCCESS, NDSH_CQEF_SOLICITED, {true, true}},
		{NDSH_WC_FLUSH_ERR, 0, {true, true}}, {NDSH_WC_LOC_LEN_ERR, 0, {true, true}}};

	for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		for (unsigned any = 0; any < 2; any++) {
			const struct ndsh_cqe e = {.status = of[i].status, .flags = of[i].flags};
			const enum ndsh_arm type = any ? NDSH_ARM_ANY : NDSH_ARM_SOLICITED;
			struct pair *p = pair_new(&(struct pair_opts){0});
			struct pair_side *d = &p->side[0];
			struct ndsh_cqe c;

			pair_arm(p, 0, type);
			roce_cq_push(d->shard, d->cq, &e);
			roce_shard_publish(d->shard);
			cr_assert_eq(roce_shard_fired_cq(d->shard, p->now_ns) == d->cq,
				of[i].fires[any], "entry %u, any %u", i, any);
			cr_assert_eq(
				pair_armed(p, 0), !of[i].fires[any], "it waits for another one");
			if (of[i].fires[any]) {
				roce_cq_push(d->shard, d->cq, &e);
				roce_shard_publish(d->shard);
				cr_assert_null(roce_shard_fired_cq(d->shard, p->now_ns), "one arm");
				cr_assert_eq(ndsh_cq_arm(&d->reader, type, NULL), NDSH_ARM_FIRED,
					"the second entry is newer");
				cr_assert_eq(ndsh_cq_arm(&d->reader, type, NULL), NDSH_ARMED,
					"and was told of by that");
			}
			while (pair_poll(p, 0, &c))
				;
			pair_free(p);
		}
}

/* The entries of a turn wake the waiter at its end and not before, once. */
Test(publish, the_waiter_is_woken_at_the_end_of_the_turn)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct pair_side *d = &p->side[0];
	struct ndsh_cqe c;

	pair_arm(p, 0, NDSH_ARM_ANY);
	for (unsigned i = 0; i < 3; i++)
		roce_cq_push(d->shard, d->cq, &(struct ndsh_cqe){.context = i});
	cr_expect(pair_armed(p, 0));
	cr_expect_null(roce_shard_fired_cq(d->shard, p->now_ns));
	roce_shard_publish(d->shard);
	cr_expect_not(pair_armed(p, 0));
	for (unsigned i = 0; i < 3; i++) {
		cr_assert(pair_poll(p, 0, &c));
		cr_expect_eq(c.context, i);
	}
	cr_expect_eq(roce_shard_fired_cq(d->shard, p->now_ns), d->cq);
	cr_expect_null(roce_shard_fired_cq(d->shard, p->now_ns));
	roce_shard_publish(d->shard);
	cr_expect_null(roce_shard_fired_cq(d->shard, p->now_ns));
	pair_free(p);
}

/* ---- queues for sends and queues for receives ---------------------------------------------- */

/* Another queue of side 0, in memory of the test. */
static struct roce_cq *
another_queue(struct pair *p, uint32_t depth, void **mem)
{
	uint32_t bytes = (ndsh_cq_bytes(depth) + 63) & ~63u;
	struct roce_cq *cq;

	*mem = aligned_alloc(64, bytes);
	memset(*mem, 0, bytes);
	cq = roce_cq_create(p->side[0].shard, NULL, *mem, depth, *mem);
	cr_assert_not_null(cq);
	return cq;
}

/* Queue pair 0 of side 0 is made anew with these. */
static void
use_queues(struct pair *p, struct roce_cq *send, struct roce_cq *recv)
{
	struct pair_side *d = &p->side[0];
	const struct roce_qp_cfg cfg = {.pd = d->pd,
		.send_cq = send,
		.recv_cq = recv,
		.shared = d->q[0].block,
		.dims = d->dims,
		.owner = &d->q[0]};

	roce_qp_destroy(d->shard, d->q[0].qp);
	d->q[0].qp = roce_qp_create(d->shard, &cfg);
	cr_assert_not_null(d->q[0].qp);
	for (unsigned side = 0; side < 2; side++) {
		cr_assert_eq(roce_qp_modify(p->side[side].shard, p->side[side].q[0].qp, p->now_ns,
				     ROCE_QPS_RESET, 0, NULL),
			ROCE_MODIFY_OK);
		pair_connect(p, side, 0);
	}
}

static void
queue_free(struct pair *p, struct roce_cq *cq, void *mem)
{
	use_queues(p, p->side[0].cq, p->side[0].cq);
	cr_assert(roce_cq_destroy(p->side[0].shard, cq));
	free(mem);
}

/* checks W-EVT-03[2]: it does not matter whether its sends or its receives go through the queue */
Test(publish, W_EVT_03_a_queue_of_sends_or_of_receives_alone)
{
	for (unsigned recv = 0; recv < 2; recv++) {
		struct pair *p = pair_new(&(struct pair_opts){.qps = 2});
		struct pair_side *d = &p->side[0];
		struct roce_cq *other;
		void *mem;

		other = another_queue(p, 16, &mem);
		use_queues(p, recv ? d->cq : other, recv ? other : d->cq);
		roce_cq_fail(d->shard, other);
		pair_turn(p, 0);
		pair_expect_dead(p, 0, 0, ROCE_REASON_CQ_FATAL);
		cr_assert_eq(d->last_event.syndrome, 0, "it is no answer of the peer");
		pair_expect_alive(p, 0, 1);
		queue_free(p, other, mem);
		pair_free(p);
	}
}

/* checks R-CQ-17[2]: of receives alone, of one queue pair */
Test(publish, R_CQ_17_a_flush_of_receives_alone)
{
	enum { DEPTH = 4096 };
	struct pair *p = pair_new(&(struct pair_opts){.rq_depth = DEPTH});
	struct pair_side *d = &p->side[0];
	struct ndsh_cq_reader reader;
	struct ndsh_cqe c;
	struct roce_cq *other;
	unsigned turns = 0;
	void *mem;

	other = another_queue(p, DEPTH, &mem);
	ndsh_cq_reader_view(&reader, mem, DEPTH);
	use_queues(p, d->cq, other);
	for (unsigned i = 0; i < DEPTH; i++)
		pair_recv(p, 0, 0, i, 0, 8);
	cr_assert_eq(ndsh_cq_arm(&reader, NDSH_ARM_ANY, NULL), NDSH_ARMED);
	roce_qp_modify(d->shard, d->q[0].qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
	while (ndsh_cq_armed(&reader) != NDSH_ARM_NONE) {
		cr_assert_lt(turns++, 100);
		pair_turn(p, 0);
	}
	cr_assert_gt(turns, 2, "a turn has a bound");
	for (unsigned i = 0; i < DEPTH; i++)
		cr_assert_eq(ndsh_cq_poll(&reader, &c, 1), 1, "%u of %u", i, DEPTH);
	queue_free(p, other, mem);
	pair_free(p);
}

/* A queue that got an entry costs nothing in later turns: its page is the client's alone. */
Test(publish, a_turn_leaves_queues_alone_that_got_nothing)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct pair_side *d = &p->side[0];
	struct ndsh_cqe c;

	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	d->reader.page->produced = 77;
	pair_turn(p, 0);
	cr_assert_eq(d->reader.page->produced, 77);
	cr_assert_not(pair_poll(p, 0, &c));
	pair_free(p);
}
