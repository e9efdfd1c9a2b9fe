/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a turn that are no packets: polled rings, movers, timers, and when to look again. */
#include <criterion/criterion.h>

#include "rigs/dropped.h"
#include "rigs/engine_pair.h"
#include "rigs/faults.h"
#include "roce/mem/mover.h"
#include "roce/qp/error.h"
#include "roce/qp/qp.h"
#include "roce/shard/pool.h"
#include "roce/shard/line.h"
#include "roce/shard/shard.h"
#include "roce/shard/timer.h"
#include "roce/tx.h"

/* The next deadline is the first of both wheels, of timers and of paced queue pairs, and of
 * principals that rest. */
Test(turn, the_next_deadline_is_the_first_of_both_wheels)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_shard *s = p->side[0].shard;
	const uint64_t t = 5000000000, tick = UINT64_C(1) << ROCE_WHEEL_SHIFT;
	uint64_t timer;

	cr_assert_eq(roce_shard_next_deadline(s), UINT64_MAX);
	s->now_ns = t;
	roce_timer_set(s, p->side[0].q[0].qp, t + 1000000);
	timer = roce_shard_next_deadline(s);
	cr_assert(timer >= t + 1000000 && timer <= t + 1000000 + tick);
	for (unsigned later = 0; later < 2; later++) {
		const uint64_t paced = t + (later ? 0 : 400000);

		s->pace.tick = (paced >> ROCE_PACE_SHIFT) - 1;
		s->pace.map = UINT64_C(1) << (s->pace.tick + 1) % ROCE_PACE_SLOTS;
		cr_expect_eq(roce_shard_next_deadline(s), (s->pace.tick + 1) << ROCE_PACE_SHIFT);
	}
	s->pace.tick = (t + 100000000) >> ROCE_PACE_SHIFT;
	s->pace.map = UINT64_C(1) << (s->pace.tick + 1) % ROCE_PACE_SLOTS;
	cr_expect_eq(roce_shard_next_deadline(s), timer);
	base_list_append(&s->resting, &s->own.line[ROCE_LINE_FIRED].link);
	s->own.wakeups.until_ns = t;
	cr_expect_eq(roce_shard_next_deadline(s), t);
	s->own.wakeups.until_ns = timer + 1;
	cr_expect_eq(roce_shard_next_deadline(s), timer);
	base_list_remove(&s->own.line[ROCE_LINE_FIRED].link);
	s->pace.map = 0;
	pair_free(p);
}

/* Each of the lists that wants to send, and none of them when all is quiet. */
Test(turn, what_is_waiting_to_be_sent)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_shard *s = p->side[0].shard;
	struct roce_qp *qp = p->side[0].q[0].qp;
	struct base_link link = {0};
	struct base_link *const lists[] = {&s->acks_owed, &s->own_client.senders, &s->cnps};
	int32_t shared = s->pool[ROCE_POOL_WQES].shared;

	cr_assert(pair_run(p, 1000000));
	cr_assert_not(roce_shard_tx_pending(s, p->now_ns));
	for (unsigned i = 0; i < 3; i++) {
		base_list_append(lists[i], &link);
		cr_expect(roce_shard_tx_pending(s, p->now_ns), "list %u", i);
		base_list_remove(&link);
		cr_expect_not(roce_shard_tx_pending(s, p->now_ns), "list %u", i);
	}
	/* Those without a roce_wqe, as soon as there is one. */
	base_list_append(&s->own.starved[ROCE_POOL_WQES], &link);
	base_list_append(&s->starving, &s->own.starving);
	cr_expect(roce_shard_tx_pending(s, p->now_ns));
	s->pool[ROCE_POOL_WQES].shared = 0;
	cr_expect_not(roce_shard_tx_pending(s, p->now_ns));
	s->pool[ROCE_POOL_WQES].shared = shared;
	base_list_remove(&link);
	base_list_remove(&s->own.starving);
	/* A paced one when its time has come. */
	s->pace.tick = 100;
	s->pace.map = UINT64_C(1) << 101 % ROCE_PACE_SLOTS;
	cr_expect_not(roce_shard_tx_pending(s, (UINT64_C(101) << ROCE_PACE_SHIFT) - 1));
	cr_expect(roce_shard_tx_pending(s, UINT64_C(101) << ROCE_PACE_SHIFT));
	s->pace.map = 0;
	roce_qp_doorbell(s, NULL, qp);
	cr_expect(roce_shard_tx_pending(s, p->now_ns), "a doorbell");
	cr_assert(pair_run(p, 1000000));
	cr_expect_not(roce_shard_tx_pending(s, p->now_ns));
	pair_free(p);
}

/* Both calls that every turn makes flush, so that no queue pair waits for packets to be flushed. */
Test(turn, rings_and_timers_flush)
{
	for (unsigned timers = 0; timers < 2; timers++) {
		struct pair *p = pair_new(&(struct pair_opts){0});
		struct roce_shard *s = p->side[0].shard;

		pair_recv(p, 0, 0, 7, 0, 8);
		roce_qp_error(s, p->side[0].q[0].qp, ROCE_REASON_MODIFY, 0);
		cr_assert_not_null(roce_line_next(s, ROCE_LINE_FLUSH));
		if (timers)
			cr_expect_eq(roce_shard_timers(s, p->now_ns, 8), 0);
		else
			cr_expect_gt(roce_shard_poll_rings(s, p->now_ns, 8), 0, "that was work");
		cr_expect_null(roce_line_next(s, ROCE_LINE_FLUSH));
		roce_shard_publish(s);
		pair_expect(p, 0, 7, NDSH_WC_FLUSH_ERR);
		pair_free(p);
	}
}

/* A queue pair whose deadline moved forward comes back to the wheel, and its timeout is not run. */
Test(turn, a_deadline_that_moved_is_put_back)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_shard *s = p->side[0].shard;
	struct roce_qp *qp = p->side[0].q[0].qp;
	const uint64_t t = 5000000000;

	s->now_ns = t;
	roce_timer_set(s, qp, t + 1000000);
	qp->deadline_ns = t + 9000000;
	cr_expect_eq(roce_shard_timers(s, t + 2000000, 8), 1);
	cr_expect_eq(qp->deadline_ns, t + 9000000);
	cr_expect(base_linked(&qp->timer_link));
	cr_expect_geq(roce_shard_next_deadline(s), t + 9000000);
	cr_expect_eq(roce_shard_timers(s, t + 10000000, 8), 1);
	cr_expect_eq(qp->deadline_ns, 0);
	cr_expect_not(base_linked(&qp->timer_link));
	pair_free(p);
}

/* A timeout says when the next one is. */
Test(turn, a_timeout_sets_the_next_deadline)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_shard *s = p->side[0].shard;
	struct roce_qp *qp = p->side[0].q[0].qp;
	unsigned mute = 0;
	uint64_t due_ns;

	p->tap = fault_tap_mute;
	p->tap_ctx = &mute;
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_turn(p, 0);
	due_ns = qp->deadline_ns;
	cr_assert_neq(due_ns, 0);
	cr_expect_eq(roce_shard_timers(s, roce_shard_next_deadline(s), 8), 1);
	cr_expect_eq(s->count.timeouts, 1);
	cr_expect_gt(qp->deadline_ns, due_ns);
	pair_free(p);
}

/* What the budget of a call leaves is due still, at the same time. */
Test(turn, timers_beyond_the_budget_are_due_at_once)
{
	const unsigned n = 6;
	struct pair *p = pair_new(&(struct pair_opts){.qps = n});
	struct roce_shard *s = p->side[0].shard;
	uint64_t due_ns;

	s->now_ns = 5000000000;
	for (unsigned i = 0; i < n; i++)
		roce_timer_set(s, p->side[0].q[i].qp, s->now_ns + 1000000);
	due_ns = roce_shard_next_deadline(s);
	cr_expect_eq(roce_shard_timers(s, due_ns - 1, 2), 0);
	for (unsigned i = 0; i < n; i += 2)
		cr_expect_eq(roce_shard_timers(s, due_ns, 2), 2);
	cr_expect_eq(roce_shard_timers(s, due_ns, 2), 0);
	pair_free(p);
}

/* A mover is looked at while commands are under way, and leaves the list when all are done. */
Test(turn, movers_with_nothing_under_way_are_not_looked_at)
{
	struct pair *p = pair_new(&(struct pair_opts){.moved = true});
	struct roce_shard *s = p->side[1].shard;
	unsigned turns = 0;

	cr_assert_eq(s->movers, 0);
	cr_expect_eq(roce_shard_movers(s, p->now_ns), 0);
	p->side[1].stalled = true;
	pair_write_by_key(p, 1, (uintptr_t)p->side[1].moved, p->side[1].moved_key, 64);
	pair_run(p, 100000);
	cr_assert_eq(s->movers, 1, "its command waits for the client");
	cr_expect_eq(roce_shard_movers(s, p->now_ns), 0, "which did nothing");
	cr_assert_eq(s->movers, 1);
	p->side[1].stalled = false;
	while (s->movers > 0) {
		cr_assert_lt(turns++, 100);
		pair_run(p, 100000);
	}
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	cr_expect_eq(roce_shard_movers(s, p->now_ns), 0);
	pair_free(p);
}

/* A turn serves only so many queue pairs that wait for a client, however many do. */
Test(turn, movers_leave_time_for_the_rest_of_a_turn)
{
	const unsigned n = 500;
	struct pair *p = pair_new(&(struct pair_opts){.qps = n, .moved = true});
	struct pair_side *d = &p->side[0];

	d->stalled = true;
	for (unsigned i = 0; i < n; i++) {
		const struct ndsh_sge sge = pair_moved_sge(p, 0, 0, 64);

		pair_post_sge(p, 0, i, i, NDSH_OP_WRITE, 0, &sge);
	}
	(void)pair_run(p, 100000);
	cr_assert_gt(d->mover->waiters, n / 2);
	(void)pair_client_moves(p, 0, UINT32_MAX);
	cr_assert_eq(roce_shard_movers(d->shard, p->now_ns), 1);
	cr_assert_gt(d->mover->waiters, n / 4);
	d->stalled = false;
	cr_assert(pair_run(p, PAIR_LONG));
	for (unsigned i = 0; i < n; i++) {
		struct ndsh_cqe c;

		cr_assert(pair_poll(p, 0, &c));
		cr_assert_eq(c.status, NDSH_WC_SUCCESS);
	}
	pair_free(p);
}

/* What a ring brought, and what was flushed: a host that finds neither may rest. */
Test(turn, polled_rings_and_flushed_requests_are_work)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 2});
	struct roce_shard *s = p->side[0].shard;
	const struct ndsh_qp_page *page = p->side[0].q[0].block;

	for (unsigned i = 0; i < 2; i++) {
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
		pair_turn(p, 0);
	}
	cr_assert_eq(page->sq_polled, 1);
	cr_assert_eq(roce_shard_poll_rings(s, p->now_ns, 8), 0);
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	pair_recv(p, 0, 1, 7, 0, 8);
	roce_qp_error(s, p->side[0].q[1].qp, ROCE_REASON_MODIFY, 0);
	cr_expect_eq(roce_shard_poll_rings(s, p->now_ns, 8), 2);
	cr_expect_eq(roce_shard_poll_rings(s, p->now_ns, 8), 0);
	pair_free(p);
}

/* So are requests that are freed: those of a queue pair that is gone, beside those of another one
 * that are flushed. */
Test(turn, freed_requests_are_work)
{
	struct pair *p = pair_new(&(struct pair_opts){.max_wqes = 2048});
	struct roce_shard *s = p->side[0].shard;

	drop_requests(s, 1000);
	pair_recv(p, 0, 0, 7, 0, 8);
	roce_qp_error(s, p->side[0].q[0].qp, ROCE_REASON_MODIFY, 0);
	cr_expect_eq(roce_shard_poll_rings(s, p->now_ns, 8), 2);
	cr_expect_eq(roce_shard_poll_rings(s, p->now_ns, 8), 1);
	while (roce_shard_poll_rings(s, p->now_ns, 8) > 0)
		;
	cr_expect_eq(roce_wqes_in_use(s), 0);
	pair_free(p);
}

/* When an old tick comes right in front of the deadline, or with it. */
Test(turn, a_deadline_is_met_when_it_has_come)
{
	const uint64_t t = UINT64_C(1000) << ROCE_WHEEL_SHIFT, tick = 1u << ROCE_WHEEL_SHIFT;

	for (unsigned early = 0; early < 2; early++) {
		struct pair *p = pair_new(&(struct pair_opts){0});
		struct roce_shard *s = p->side[0].shard;
		struct roce_qp *qp = p->side[0].q[0].qp;

		s->now_ns = t;
		roce_timer_set(s, qp, t + tick / 2);
		roce_timer_set(s, qp, t + tick + tick / 2);
		cr_expect_eq(roce_shard_timers(s, t + tick + tick / 2 - early, 8), 1);
		cr_expect_eq(qp->deadline_ns == 0, !early);
		pair_free(p);
	}
}

/* A queue pair without a timeout sends nothing again by itself, though its keepalive has a timer.
 * checks W-TMR-01[2] */
Test(turn, W_TMR_01_a_keepalive_is_no_timeout)
{
	struct pair *p = pair_new(&(struct pair_opts){.timeout_code = 255});
	const struct roce_qp_attr a = {.keepalive_ms = 10};
	unsigned mute = 0;

	cr_assert_eq(roce_qp_modify(p->side[0].shard, p->side[0].q[0].qp, p->now_ns, ROCE_QPS_RTS,
			     ROCE_QPA_KEEPALIVE, &a),
		ROCE_MODIFY_OK);
	p->tap = fault_tap_mute;
	p->tap_ctx = &mute;
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	(void)pair_run(p, UINT64_C(1000000000));
	cr_expect_eq(p->sent[0], 1);
	cr_expect_eq(pair_count(p, 0)->timeouts, 0);
	pair_expect_none(p, 0);
	pair_free(p);
}
