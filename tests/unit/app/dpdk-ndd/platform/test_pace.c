/* SPDX-License-Identifier: BSD-3-Clause */
/* When threads beside lcores rest, and for how long. Times are the test's. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "platform/pace.h"

#define START_NS 1000000000u

Test(pace, a_thread_that_takes_all_of_a_cpu_gets_a_third_of_it)
{
	struct ndd_pace p = {.since_ns = START_NS};
	uint64_t now_ns = START_NS, used_ns = 0;

	for (int i = 0; i < 1000; i++) {
		uint64_t rest_ns;

		now_ns += NDD_PACE_PIECE_NS;
		used_ns += NDD_PACE_PIECE_NS;
		rest_ns = ndd_pace_rest_ns(&p, now_ns, used_ns, true);
		cr_expect(eq(u64, rest_ns, 2 * NDD_PACE_PIECE_NS));
		now_ns += rest_ns;
	}
	cr_expect(eq(u64, (now_ns - START_NS) / used_ns, NDD_PACE_SHARE));
	cr_expect(eq(u64, p.rests, 1000));
}

Test(pace, where_it_is_not_crowded_it_goes_on)
{
	struct ndd_pace p = {.since_ns = START_NS};
	const uint64_t used_ns = 100 * NDD_PACE_PIECE_NS;

	cr_expect(eq(u64, ndd_pace_rest_ns(&p, START_NS + used_ns, used_ns, false), 0));
	cr_expect(eq(u64, p.rests, 0));
	/* ... and has no debt of that when it becomes so. */
	cr_expect(eq(u64, p.since_ns, START_NS + used_ns));
	cr_expect(eq(u64, p.used_ns, used_ns));
}

Test(pace, what_it_waited_for_others_is_its_rest)
{
	struct ndd_pace p = {.since_ns = START_NS};

	cr_expect(eq(u64, ndd_pace_rest_ns(&p, START_NS + 3 * 70 * NDD_US, 70 * NDD_US, true), 0));
	cr_expect(eq(u64,
		ndd_pace_rest_ns(&p, START_NS + (3 * 70 + 100) * NDD_US, (70 + 60) * NDD_US, true),
		80 * NDD_US));
}

Test(pace, a_short_piece_goes_on)
{
	struct ndd_pace p = {.since_ns = START_NS};
	const uint64_t ns = NDD_PACE_PIECE_NS;

	cr_expect(eq(u64, ndd_pace_rest_ns(&p, START_NS + ns - 1, ns - 1, true), 0));
	cr_expect(eq(u64, p.since_ns, START_NS));
	cr_expect(eq(u64, ndd_pace_rest_ns(&p, START_NS + ns, ns, true), 2 * ns));
}

Test(pace, no_rest_is_long)
{
	struct ndd_pace p = {.since_ns = START_NS};
	const uint64_t ns = 50 * NDD_MS; /* it was kept busy by one call */

	cr_expect(eq(u64, ndd_pace_rest_ns(&p, START_NS + ns, ns, true), NDD_PACE_REST_NS));
	/* Its next piece begins behind it, without a debt. */
	cr_expect(eq(u64, p.since_ns, START_NS + ns + NDD_PACE_REST_NS));
	cr_expect(eq(u64, p.used_ns, ns));
}

Test(crowd, is_where_an_lcore_was_away)
{
	struct ndd_crowd c = {0};

	cr_expect_not(ndd_crowd_is(&c, START_NS));
	cr_expect_not(ndd_crowd_notice(&c, START_NS, START_NS + NDD_CROWD_NS));
	cr_expect_not(ndd_crowd_is(&c, START_NS + NDD_CROWD_NS));
	cr_expect(ndd_crowd_notice(&c, START_NS, START_NS + NDD_CROWD_NS + 1));
	cr_expect(ndd_crowd_is(&c, START_NS + NDD_CROWD_NS + NDD_CROWD_LASTS_NS));
	cr_expect_not(ndd_crowd_is(&c, START_NS + NDD_CROWD_NS + 1 + NDD_CROWD_LASTS_NS));
	cr_expect(ndd_crowd_is(&c, START_NS), "another thread's clock may have been read before");
}
