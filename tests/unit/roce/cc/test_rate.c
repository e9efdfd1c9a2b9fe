/* SPDX-License-Identifier: BSD-3-Clause */
/* The rate of a sender that was told of congestion, in virtual time. */
#include <criterion/criterion.h>

#include "roce/cc/rate.h"

#define US	  UINT64_C(1000)
#define MS	  UINT64_C(1000000)
#define PERIOD_NS (55 * US)
#define GBIT	  125000u /* bytes in a millisecond */
#define BEGIN	  (1000 * MS)

static uint32_t
at(struct roce_rate *r, uint64_t now_ns)
{
	return roce_rate_recover(r, now_ns) ? r->now : ROCE_RATE_MAX;
}

/* Told of congestion without a pause for so long. */
static uint64_t
congested(struct roce_rate *r, uint64_t now_ns, uint64_t ns)
{
	uint64_t end = now_ns + ns;

	for (; now_ns < end; now_ns += 50 * US)
		roce_rate_cut(r, now_ns, ROCE_RATE_MAX, 0);
	return now_ns;
}

Test(cc_rate, the_first_cut_takes_half_of_what_was_possible)
{
	struct roce_rate r = {0};

	cr_expect_not(roce_rate_recover(&r, BEGIN), "no limit before");
	cr_assert(roce_rate_cut(&r, BEGIN, 8 * GBIT, 0));
	cr_expect_leq(r.now, 4 * GBIT + 100);
	cr_expect_geq(r.now, 4 * GBIT);
	cr_expect_eq(r.target, 8 * GBIT);
	r = (struct roce_rate){0};
	cr_assert(roce_rate_cut(&r, BEGIN, UINT32_MAX, 0));
	cr_expect_eq(r.target, ROCE_RATE_MAX);
}

/* checks W-CC-04, the other side of it: many notifications of one moment are one. */
Test(cc_rate, w_cc_04_one_cut_in_an_interval)
{
	struct roce_rate r = {0};
	unsigned cuts = 0;

	for (uint64_t t = 0; t < 1000 * US; t += US)
		cuts += roce_rate_cut(&r, BEGIN + t, ROCE_RATE_MAX, 0);
	cr_expect_geq(cuts, 18);
	cr_expect_leq(cuts, 20);
}

Test(cc_rate, lasting_congestion_leads_to_the_floor_and_no_further)
{
	struct roce_rate r = {0};
	uint64_t now = congested(&r, BEGIN, MS);

	cr_expect_eq(r.now, ROCE_RATE_MIN);
	congested(&r, now, 100 * MS);
	cr_expect_eq(r.now, ROCE_RATE_MIN);
	cr_assert(roce_rate_cut(&r, now + 200 * MS, 1, 0), "not even when it was slower than that");
	cr_expect_eq(r.now, ROCE_RATE_MIN);
}

/* Half the way back five times, then beyond in steps, and on to where there is no limit. */
Test(cc_rate, a_rate_recovers)
{
	struct roce_rate r = {0};
	uint64_t now = BEGIN;
	uint32_t before, last;

	roce_rate_cut(&r, now, 8 * GBIT, 0);
	for (unsigned i = 0; i < 4; i++) {
		before = r.now;
		now += PERIOD_NS;
		cr_expect_eq(at(&r, now), before + (8 * GBIT - before + 1) / 2, "%u", i);
		cr_expect_eq(at(&r, now + PERIOD_NS - 1), r.now, "only at the end of the period");
	}
	cr_expect_lt(r.now, 8 * GBIT);
	cr_expect_eq(r.target, 8 * GBIT);
	last = r.now;
	for (unsigned i = 0; i < 100; i++) {
		now += PERIOD_NS;
		cr_assert_gt(at(&r, now), last);
		cr_assert_leq(r.now - last, 1250 + 8 * GBIT / 16, "no leap without a volume");
		last = r.now;
	}
	cr_expect_gt(r.now, 8 * GBIT);
	cr_expect_lt(r.now, 9 * GBIT, "10 Mb/s a period");
	while (roce_rate_recover(&r, now))
		now += PERIOD_NS;
	cr_expect_geq(now - BEGIN, 400 * MS);
	cr_expect_leq(now - BEGIN, 600 * MS);
	cr_expect_eq(r.now, 0);
	cr_expect_eq(r.alpha, 0, "all is forgotten");
}

/* The rate of a busy sender goes up in leaps; that of one that was slow for as long does not. */
Test(cc_rate, volume_makes_leaps)
{
	struct roce_rate idle = {0}, busy = {0};
	uint64_t now = BEGIN;

	roce_rate_cut(&idle, now, 8 * GBIT, 0);
	roce_rate_cut(&busy, now, 8 * GBIT, 0);
	for (unsigned i = 0; i < 20; i++) {
		now += PERIOD_NS;
		cr_assert(roce_rate_recover(&idle, now));
		cr_assert(roce_rate_recover(&busy, now));
		roce_rate_sent(&busy, 10000000);
	}
	cr_expect_gt(busy.now, 2 * idle.now);
}

/* The time that bytes take is that of the rate. */
Test(cc_rate, time_of_bytes)
{
	struct roce_rate r = {.now = GBIT, .target = GBIT, .period_ns = BEGIN};

	cr_expect_eq(roce_rate_sent(&r, 125), US);
	cr_expect_eq(roce_rate_sent(&r, 0), 0);
	cr_expect_eq(roce_rate_sent(&r, 125000), MS);
}

/* Nothing is known of what a cut did before a round trip is over: neither another one, nor a raise,
 * before. */
Test(cc_rate, a_cut_has_its_round_trip)
{
	struct roce_rate r = {0};
	uint32_t cut;

	cr_assert(roce_rate_cut(&r, BEGIN, 8 * GBIT, MS));
	cut = r.now;
	for (uint64_t t = BEGIN; t < BEGIN + MS - 5 * US; t += US) {
		cr_assert_not(roce_rate_cut(&r, t, 8 * GBIT, MS));
		cr_assert_eq(r.now, cut);
	}
	cr_expect_gt(at(&r, BEGIN + MS), cut);
	cr_assert(roce_rate_cut(&r, BEGIN + MS, 8 * GBIT, MS));
	cr_expect_lt(r.now, cut);
}

/* Each volume since the cut raises the rate, with its last byte; what went before it does not
 * count. */
Test(cc_rate, a_volume_is_full_with_its_last_byte)
{
	const uint32_t volume = 10000000;
	struct roce_rate r = {0};
	uint32_t before;

	roce_rate_cut(&r, BEGIN, 8 * GBIT, 0);
	(void)roce_rate_sent(&r, volume / 2);
	cr_assert(roce_rate_cut(&r, BEGIN + MS, 8 * GBIT, 0));
	for (unsigned i = 0; i < 3; i++) {
		before = r.now;
		(void)roce_rate_sent(&r, volume - 1);
		cr_assert_eq(r.now, before, "volume %u", i);
		(void)roce_rate_sent(&r, 1);
		cr_assert_gt(r.now, before, "volume %u", i);
	}
}

/* From whatever was possible: never below the lowest rate, nor aiming at less. */
Test(cc_rate, no_cut_goes_below_the_floor)
{
	for (uint32_t most = 0; most < 4 * ROCE_RATE_MIN; most++) {
		struct roce_rate r = {0};

		cr_assert(roce_rate_cut(&r, BEGIN, most, 0));
		cr_assert_geq(r.now, ROCE_RATE_MIN, "%u", most);
		cr_assert_eq(r.target, most > ROCE_RATE_MIN ? most : ROCE_RATE_MIN, "%u", most);
	}
}

/* One leap short of the highest rate there is none any more; the target stops at that one. */
Test(cc_rate, the_end_of_a_limit)
{
	const uint32_t leap = 12500, max = ROCE_RATE_MAX;
	struct roce_rate r = {.now = max - leap - 1, .target = max - leap - 1, .period_ns = BEGIN};

	cr_assert(roce_rate_recover(&r, BEGIN - 1));
	r.now++;
	cr_assert_not(roce_rate_recover(&r, BEGIN - 1));

	for (uint32_t short_of = 0; short_of < 3; short_of++) {
		r = (struct roce_rate){.now = max / 2,
			.target = max - leap - short_of,
			.times = 5,
			.volumes = 6,
			.period_ns = BEGIN};
		cr_assert(roce_rate_recover(&r, BEGIN));
		cr_expect_eq(r.target, max - short_of);
	}
	r = (struct roce_rate){0};
	cr_assert(roce_rate_cut(&r, BEGIN, max - 1, 0));
	cr_expect_eq(r.target, max - 1, "nor is it above what was possible");
}

/* Looked at now and then, or once at the end: it is nearly the same rate. */
Test(cc_rate, who_asks_late_finds_what_others_saw)
{
	for (unsigned leaps = 0; leaps < 2; leaps++) {
		struct roce_rate often = {0}, late;
		uint64_t now = congested(&often, BEGIN, MS / 2);

		often.volumes = leaps ? 8 : 0;
		late = often;
		for (unsigned i = 0; i < 200; i++)
			cr_assert(roce_rate_recover(&often, now += PERIOD_NS));
		cr_assert(roce_rate_recover(&late, now));
		cr_expect_eq(late.period_ns, often.period_ns);
		cr_expect_eq(late.target, often.target);
		cr_expect_geq(late.now, often.now - 2);
		cr_expect_leq(late.now, often.now + 2);
	}
}

/* Congestion now and then, long after each other, costs little; all the time, a lot. */
Test(cc_rate, alpha_remembers_the_last_milliseconds)
{
	struct roce_rate r = {0};
	uint64_t now = BEGIN;
	uint32_t before;

	congested(&r, now, 200 * US);
	now += 10 * MS;
	before = at(&r, now);
	cr_assert(roce_rate_cut(&r, now, ROCE_RATE_MAX, 0));
	cr_expect_gt(r.now, before / 100 * 95, "a lone mark");
	for (unsigned i = 0; i < 40; i++)
		roce_rate_cut(&r, now += 50 * US, ROCE_RATE_MAX, 0);
	cr_expect_gt(r.alpha, 55000, "the next would take nearly half");
}

/* However long the rate was not asked for: a sixteenth of alpha goes with each period. */
Test(cc_rate, alpha_fades_period_by_period)
{
	double alpha = 1;

	for (unsigned periods = 0; periods < 300; periods++, alpha *= 15.0 / 16) {
		struct roce_rate r = {0};

		cr_assert(roce_rate_cut(&r, BEGIN, ROCE_RATE_MIN * 8, 0));
		(void)roce_rate_recover(&r, BEGIN + periods * PERIOD_NS);
		cr_assert_float_eq(
			r.alpha / 65536.0, alpha, 1.0 / 2048, "%u periods: %u", periods, r.alpha);
		cr_assert_eq(r.period_ns, BEGIN + (periods + 1) * PERIOD_NS, "the one under way");
	}
}

/* An hour later nothing is left, and its periods are not counted one by one. */
Test(cc_rate, an_idle_hour, .timeout = 10)
{
	for (unsigned i = 0; i < 1000; i++) {
		struct roce_rate r = {0};
		uint64_t now = congested(&r, BEGIN, MS);

		cr_assert_not(roce_rate_recover(&r, now + 3600 * 1000 * MS));
		cr_assert_eq(r.now, 0);
	}
}
