/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <math.h>

#include "ndperf/stats.h"

static bool
near(double a, double b)
{
	return fabs(a - b) < 1e-9 * (1.0 + fabs(b));
}

Test(ndperf_stats, latency_of_one_to_thousand)
{
	struct latency l;
	struct latency_summary s;

	cr_assert(latency_init(&l, 1000));
	for (uint32_t i = 1; i <= 1000; i++)
		latency_add(&l, (1001 - i) * 1000);
	latency_summarise(&l, 1.0, &s);
	cr_assert(near(s.min, 1.0) && near(s.max, 1000.0));
	cr_assert(near(s.typical, 500.0));
	cr_assert(near(s.average, 500.5));
	cr_assert(near(s.p99, 990.0) && near(s.p999, 999.0));
	cr_assert(fabs(s.stdev - sqrt(1000.0 * 1001.0 / 12.0)) < 1e-6);
	latency_free(&l);
}

Test(ndperf_stats, half_round_trip_scales_everything)
{
	struct latency l;
	struct latency_summary s;

	cr_assert(latency_init(&l, 8));
	latency_add(&l, 1000);
	latency_add(&l, 3000);
	latency_summarise(&l, 0.5, &s);
	cr_assert(near(s.min, 0.5) && near(s.max, 1.5) && near(s.average, 1.0));
	cr_assert(near(s.stdev, sqrt(2.0) / 2));
	latency_free(&l);
}

Test(ndperf_stats, no_samples_and_one_sample)
{
	struct latency l;
	struct latency_summary s;

	cr_assert(latency_init(&l, 4));
	latency_summarise(&l, 1.0, &s);
	cr_assert(s.min == 0.0 && s.max == 0.0 && s.p999 == 0.0);
	latency_add(&l, 2000);
	latency_summarise(&l, 1.0, &s);
	cr_assert(near(s.min, 2.0) && near(s.p999, 2.0) && s.stdev == 0.0);
	latency_free(&l);
}

/* More samples than room: exact extremes and mean, percentiles of a fair choice. */
Test(ndperf_stats, reservoir_keeps_a_fair_choice)
{
	struct latency l;
	struct latency_summary s;

	cr_assert(latency_init(&l, 1024));
	for (uint32_t i = 0; i < 100000; i++)
		latency_add(&l, 1000 + i);
	latency_summarise(&l, 1.0, &s);
	cr_assert_eq(l.count, 100000);
	cr_assert(near(s.min, 1.0) && near(s.max, 100.999));
	cr_assert(fabs(s.average - 50.9995) < 1e-6);
	cr_assert(fabs(s.typical - 51.0) < 5.0, "median %f", s.typical);
	cr_assert(fabs(s.p99 - 100.0) < 1.5, "p99 %f", s.p99);
	latency_free(&l);
}

Test(ndperf_stats, a_long_pause_saturates)
{
	struct latency l;

	cr_assert(latency_init(&l, 1));
	latency_add(&l, UINT64_MAX);
	cr_assert_eq(l.max_ns, UINT32_MAX);
	latency_free(&l);
}

Test(ndperf_stats, rate_average_and_peak)
{
	struct rate r;
	struct rate_summary s;

	rate_start(&r, 0);
	rate_add(&r, 2 * RATE_WINDOW_NS, 10, 1000);  /* 2 ms: 500 kB/s */
	rate_add(&r, 3 * RATE_WINDOW_NS, 40, 4000);  /* 1 ms: 4 MB/s */
	rate_add(&r, 10 * RATE_WINDOW_NS, 50, 5000); /* 7 ms */
	rate_summarise(&r, &s);
	cr_assert(near(s.seconds, 0.01));
	cr_assert(near(s.average, 1e6));
	cr_assert(near(s.peak, 4e6));
	cr_assert(near(s.messages, 1e4));
}

/* Completions that come together must not make a peak out of no time. */
Test(ndperf_stats, rate_of_a_short_run_has_no_peak_of_its_own)
{
	struct rate r;
	struct rate_summary s;

	rate_start(&r, 100);
	rate_summarise(&r, &s);
	cr_assert(s.average == 0.0 && s.peak == 0.0);
	rate_add(&r, 100 + RATE_WINDOW_NS / 2, 1, 500);
	rate_add(&r, 101 + RATE_WINDOW_NS / 2, 1, 500);
	rate_summarise(&r, &s);
	cr_assert(near(s.peak, s.average));
}
