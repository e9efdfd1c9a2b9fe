/* SPDX-License-Identifier: BSD-3-Clause */
/* The timer wheel: when deadlines are met, and what it does when there are many of them. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/many_qps.h"
#include "roce/qp/qp.h"
#include "roce/shard/shard.h"
#include "roce/shard/timer.h"

static void
fire_at(uint64_t start, uint64_t in_ns)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_shard *s = p->side[0].shard;
	struct roce_qp *qp = p->side[0].q[0].qp;

	s->now_ns = start;
	roce_timer_set(s, qp, start + in_ns);
	cr_assert_leq(roce_shard_next_deadline(s), start + in_ns + (1u << ROCE_WHEEL_SHIFT));
	/* As a host does it: look when the wheel says so. */
	for (unsigned looks = 0; qp->deadline_ns != 0; looks++) {
		uint64_t t = roce_shard_next_deadline(s);

		cr_assert_lt(looks, 1000);
		t = t > s->now_ns ? t : s->now_ns + 1;
		cr_assert_leq(t, start + in_ns + (1u << ROCE_WHEEL_SHIFT), "late");
		roce_shard_timers(s, t, 8);
		cr_assert(qp->deadline_ns != 0 || t >= start + in_ns, "early");
	}
	cr_assert_eq(roce_shard_next_deadline(s), UINT64_MAX);
	pair_free(p);
}

Test(timer, never_early_and_at_most_one_tick_late)
{
	static const uint64_t in[] = {1, 10000, 32767, 32768, 32769, 1000000, 134217727, 134217728,
		134217729, 500000000, 10000000000};

	for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++) {
		fire_at(1000000000, in[i]);
		fire_at(1000000000 + 32767, in[i]);
	}
}

Test(timer, a_deadline_moves_forward_lazily_and_back_at_once)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_shard *s = p->side[0].shard;
	struct roce_qp *qp = p->side[0].q[0].qp;
	uint64_t t = 5000000000;

	s->now_ns = t;
	roce_timer_set(s, qp, t + 1000000);
	roce_timer_set(s, qp, t + 9000000);
	roce_shard_timers(s, t + 8000000, 8);
	cr_assert_neq(qp->deadline_ns, 0);
	roce_timer_set(s, qp, t + 8500000);
	roce_shard_timers(s, t + 8600000, 8);
	cr_assert_eq(qp->deadline_ns, 0);
	roce_timer_set(s, qp, t + 100000000);
	roce_timer_set(s, qp, t + 10000000);
	roce_shard_timers(s, t + 11000000, 8);
	cr_assert_eq(qp->deadline_ns, 0, "moved back");
	pair_free(p);
}

Test(timer, the_budget_holds)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 8});
	struct roce_shard *s = p->side[0].shard;
	unsigned ran = 0;

	s->now_ns = 1000000000;
	for (unsigned i = 0; i < 8; i++)
		roce_timer_set(s, p->side[0].q[i].qp, 1001000000);
	for (unsigned i = 0; i < 4; i++) {
		unsigned n = roce_shard_timers(s, 2000000000, 2);

		cr_assert_eq(n, 2);
		ran += n;
	}
	cr_assert_eq(ran, 8);
	cr_assert_eq(roce_shard_timers(s, 2000000000, 2), 0);
	pair_free(p);
}

/* ---- many queue pairs ---- */

#define RTO_NS UINT64_C(1000000) /* at least */

static uint32_t
timers(const struct pair *p)
{
	struct roce_usage u;

	roce_shard_usage(p->side[0].shard, &u);
	return u.timers;
}

Test(timer, timers_leave_with_what_they_waited_for)
{
	struct pair *p = many_new();

	many_write(p);
	while (p->sent[0] < MANY_QPS)
		pair_turn(p, 0);
	cr_assert_eq(timers(p), MANY_QPS);
	many_go_on(p, RTO_NS / 2);
	cr_assert_eq(many_completions(p), MANY_QPS);
	cr_assert_lt(timers(p), MANY_QPS, "all of them wait for nothing");
	cr_assert(pair_run(p, 10 * RTO_NS));
	cr_assert_eq(timers(p), 0);
	pair_free(p);
}

/* The first copy of each request is lost, when none has a timer, and when some have. */
static unsigned
lose_first(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	(void)pkt;
	(void)late_ns;
	return from != 0 || p->sent[0] > *(uint64_t *)ctx + MANY_QPS;
}

Test(timer, what_is_lost_of_each_is_sent_again)
{
	struct pair *p = many_new();
	uint64_t before = 0;

	p->tap = lose_first;
	p->tap_ctx = &before;
	for (unsigned round = 0; round < 3; round++) {
		before = p->sent[0];
		many_write(p);
		many_go_on(p, RTO_NS / 2);
		cr_assert_eq(many_completions(p), 0);
		cr_assert_eq(timers(p), MANY_QPS);
		many_go_on(p, 20 * RTO_NS);
		cr_assert_eq(many_completions(p), MANY_QPS);
	}
	cr_assert_eq(roce_shard_counters(p->side[0].shard)->timeouts, 3 * MANY_QPS);
	pair_free(p);
}

/* ---- many deadlines ---- */

#define WHEEL_NS ((uint64_t)ROCE_WHEEL_SLOTS << ROCE_WHEEL_SHIFT) /* once round */

/* Deadlines as far ahead as several rounds of the wheel, moved back and forth, looked at now and
 * then: each comes when it has passed, at the first look behind its tick. */
Test(timer, deadlines_at_random)
{
	enum { N = 32 };
	struct pair *p = pair_new(&(struct pair_opts){.qps = N});
	struct roce_shard *s = p->side[0].shard;
	uint64_t due[N] = {0}, now = 7 * WHEEL_NS - 12345, dice = 1;
	unsigned met = 0;

	for (unsigned step = 0; step < 200000; step++) {
		dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407;
		unsigned i = dice >> 59, what = dice >> 55 & 15;
		struct roce_qp *qp = p->side[0].q[i].qp;

		s->now_ns = now;
		if (what < 6) {
			uint64_t ahead = (dice >> 20 & 0xffffff) << (dice >> 45 & 7);

			due[i] = now + 1 + ahead;
			roce_timer_set(s, qp, due[i]);
		} else if (what == 6) {
			due[i] = 0;
			roce_timer_remove(s, qp);
		} else if (what == 7) {
			due[i] = 0;
			roce_timer_rest(s, qp);
		} else {
			uint64_t next = roce_shard_next_deadline(s);

			for (unsigned k = 0; k < N; k++)
				cr_assert(due[k] == 0 || next <= due[k] + (2u << ROCE_WHEEL_SHIFT),
					"told of %lu, %lu is before", next, due[k]);
			now += dice >> 24 & (what < 14		 ? 0x1ffff
						    : what == 14 ? 0x1ffffff
								 : 0x3fffffff);
			while (roce_shard_timers(s, now, 5) == 5)
				;
			for (unsigned k = 0; k < N; k++) {
				uint64_t set = p->side[0].q[k].qp->deadline_ns;

				if (due[k] == 0)
					continue;
				cr_assert(set == due[k] || set == 0);
				if (due[k] > now)
					cr_assert_eq(set, due[k], "early");
				else if (due[k] + (1u << ROCE_WHEEL_SHIFT) <= now)
					cr_assert_eq(set, 0, "late by %lu", now - due[k]);
				if (set == 0) {
					due[k] = 0;
					met++;
				}
			}
		}
	}
	cr_assert_gt(met, 1000);
	for (unsigned i = 0; i < N; i++)
		roce_timer_remove(s, p->side[0].q[i].qp);
	cr_assert_eq(roce_shard_next_deadline(s), UINT64_MAX);
	pair_free(p);
}

/* An entry with nothing to wait for stays for its tick; among many it leaves at once, unless the
 * keepalive needs it. */
Test(timer, entries_at_rest)
{
	struct pair *p = many_new();
	struct roce_shard *s = p->side[0].shard;
	const unsigned lazy = 512;

	s->now_ns = 1000000000;
	for (unsigned i = 0; i <= lazy; i++)
		roce_timer_set(s, p->side[0].q[i].qp, 1001000000);
	cr_assert_eq(timers(p), lazy + 1);
	p->side[0].q[1].qp->tx_bits |= ROCE_TXB_KEEPALIVE;
	roce_timer_rest(s, p->side[0].q[1].qp);
	cr_assert_eq(timers(p), lazy + 1, "its keepalive is looked at then");
	roce_tx_clear(p->side[0].q[1].qp, ROCE_TXB_KEEPALIVE);
	roce_timer_rest(s, p->side[0].q[0].qp);
	cr_assert_eq(timers(p), lazy);
	roce_timer_rest(s, p->side[0].q[2].qp);
	cr_assert_eq(timers(p), lazy, "few enough: it stays");
	while (roce_shard_timers(s, 2000000000, 64) > 0)
		;
	cr_assert_eq(timers(p), 0);
	pair_free(p);
}

/* An lcore without timers looks all the same: months at once pass in no time, though it takes
 * minutes to look at each round of the wheel. */
Test(timer, time_without_timers_is_passed_over)
{
	const uint64_t month = UINT64_C(30) * 86400 * 1000000000;
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_shard *s = p->side[0].shard;

	for (unsigned i = 1; i <= 100; i++)
		cr_assert_eq(roce_shard_timers(s, i * month, 8), 0);
	pair_free(p);
}

static uint64_t
roll(uint64_t *dice)
{
	*dice = *dice * UINT64_C(6364136223846793005) + 1442695040888963407;
	return *dice >> 33;
}

/* From less than a tick to more than a round of the wheel, each magnitude as often. */
static uint64_t
span(uint64_t *dice)
{
	return roll(dice) >> roll(dice) % 24;
}

/* After timers have been run at now: none is early, and none is later than its tick. */
static void
check_met(const struct pair *p, uint64_t *due, unsigned n, uint64_t now)
{
	for (unsigned i = 0; i < n; i++) {
		uint64_t set = p->side[0].q[i].qp->deadline_ns;

		if (due[i] == 0)
			continue;
		cr_assert(set == due[i] || set == 0);
		if (due[i] > now)
			cr_assert_eq(set, due[i], "early by %lu", due[i] - now);
		else if (due[i] >> ROCE_WHEEL_SHIFT < now >> ROCE_WHEEL_SHIFT)
			cr_assert_eq(set, 0, "late by %lu", now - due[i]);
		due[i] = set;
	}
}

/* The same while the host is late: time passes between one call and the next, queue pairs are
 * watched for their keepalive, and some or all of them have a deadline. */
Test(timer, deadlines_near_and_far_and_a_host_that_is_late)
{
	enum { N = 8 };
	struct pair *p = pair_new(&(struct pair_opts){.qps = N});
	struct roce_shard *s = p->side[0].shard;
	uint64_t due[N] = {0}, now = 3 * WHEEL_NS - 1, dice = 7;

	for (unsigned step = 0; step < 300000; step++) {
		unsigned i = roll(&dice) % N, what = roll(&dice) % 8;
		struct roce_qp *qp = p->side[0].q[i].qp;

		now += span(&dice) >> 8;
		s->now_ns = now;
		if (what < 3) {
			due[i] = now + 1 + span(&dice);
			roce_timer_set(s, qp, due[i]);
		} else if (what == 3) {
			due[i] = 0;
			roce_timer_rest(s, qp);
		} else if (what == 4 && due[i] == 0) {
			roce_timer_watch(s, qp, now + span(&dice));
		} else if (what == 5 && roll(&dice) % 8 == 0) {
			for (i = 0; i < N; i++)
				roce_timer_remove(s, p->side[0].q[i].qp);
			memset(due, 0, sizeof(due));
		} else if (what > 5) {
			while (roce_shard_timers(s, now, 3) == 3)
				;
			check_met(p, due, N, now);
		}
	}
	pair_free(p);
}
