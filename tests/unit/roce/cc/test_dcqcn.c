/* SPDX-License-Identifier: BSD-3-Clause */
/* The rate of a sender beside DCQCN in floating point (rigs/dcqcn.h), through random times. */
#include <criterion/criterion.h>
#include <math.h>

#include "rigs/dcqcn.h"
#include "rigs/faults.h"
#include "roce/cc/rate.h"

#define US    UINT64_C(1000)
#define MS    UINT64_C(1000000)
#define STEPS 600u

struct sender {
	struct roce_rate r;
	struct dcqcn m;
	uint64_t now_ns, dice;
};

static uint64_t
below(struct sender *s, uint64_t n)
{
	return fault_dice(&s->dice) % n;
}

/* A moment, a few periods, or long; now and then to the very end of a period, or just before. */
static void
wait_some(struct sender *s)
{
	switch (below(s, 16)) {
	case 0:
		s->now_ns += below(s, 20 * MS);
		break;
	case 1:
	case 2:
		if (s->r.now != 0 && s->r.period_ns > s->now_ns)
			s->now_ns = s->r.period_ns - below(s, 2);
		break;
	case 3:
		s->now_ns += 50 * US - 1 + below(s, 2);
		break;
	default:
		s->now_ns += below(s, 150 * US);
	}
}

static void
congested(struct sender *s, uint64_t number)
{
	static const uint64_t rtt_ns[] = {0, 10 * US, 54999, 55000, 55001, 300 * US};
	uint64_t rtt = rtt_ns[below(s, sizeof(rtt_ns) / sizeof(rtt_ns[0]))];
	uint32_t most = below(s, 3) == 0 ? 1 + (uint32_t)below(s, 2000000) : ROCE_RATE_MAX;
	bool cut = roce_rate_cut(&s->r, s->now_ns, most, rtt);

	cr_assert_eq(cut, dcqcn_cut(&s->m, s->now_ns, most, rtt), "sender %lu", number);
}

static void
sends(struct sender *s)
{
	uint32_t bytes = below(s, 3) == 0 ? (uint32_t)below(s, 4000000) : 4096;
	double ns = bytes * 1e6 / s->m.rate;

	if (s->r.now == 0)
		return;
	cr_assert_leq(fabs((double)roce_rate_sent(&s->r, bytes) - ns),
		2 + ns / 500 + ns * 16 / s->m.rate);
	dcqcn_sent(&s->m, bytes);
}

/* False: one of the two has no limit any more, and the other is about to have none. */
static bool
same(struct sender *s, uint64_t number, unsigned step)
{
	bool limited = roce_rate_recover(&s->r, s->now_ns);

	dcqcn_recover(&s->m, s->now_ns);
	if (limited != s->m.limited) {
		double rate = limited ? s->r.now : s->m.rate;

		/* After a long time the engine is there at once, DCQCN in a few periods. */
		cr_assert_geq(rate, DCQCN_LINE_RATE * 0.97, "sender %lu, step %u", number, step);
		return false;
	}
	if (limited) {
		cr_assert_leq(fabs(s->r.now - s->m.rate), s->m.rate / 500 + 16,
			"sender %lu, step %u: %u, not %.0f", number, step, s->r.now, s->m.rate);
		cr_assert_leq(fabs(s->r.target - s->m.target), s->m.target / 500 + 16,
			"sender %lu, step %u: to %u, not %.0f", number, step, s->r.target,
			s->m.target);
	}
	return true;
}

/* Whatever it is told, sends and waits. checks W-CC-04 */
Test(cc_rate, as_dcqcn_was_published)
{
	for (uint64_t number = 0; number < 1500; number++) {
		struct sender s = {.now_ns = 1000 * MS, .dice = number};
		/* Some are told seldom, and come far; some send much. */
		uint64_t seldom = 1 + below(&s, 60), much = 1 + below(&s, 8);
		bool hasty = number % 4 == 0; /* whose bytes raise it more often than time does */

		for (unsigned step = 0; step < STEPS && same(&s, number, step); step++) {
			if (below(&s, seldom) == 0)
				congested(&s, number);
			for (uint64_t n = below(&s, much); n > 0; n--)
				sends(&s);
			if (hasty)
				s.now_ns += below(&s, 4 * US);
			else
				wait_some(&s);
		}
	}
}
