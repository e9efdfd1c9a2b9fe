/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a case runs, and by which clock. */
#include <stdlib.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "engine.h"

#define TURN_NS 10000u /* of the clock that counts turns: about what one takes */

uint64_t
bench_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t
cycles(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	return bench_clock_ns();
#endif
}

static unsigned
turn(struct bench_world *w)
{
	if (w->c->kind == BENCH_CM)
		return bench_cm_turn(w->cm, w->c->depth);
	return w->c->kind == BENCH_FLOOR ? bench_floor(w) : bench_turn(w);
}

static uint64_t
run_for(struct bench_world *w, uint64_t ns)
{
	uint64_t t0 = bench_clock_ns(), begin_ns = w->now_ns, done = 0;

	do {
		done += turn(w);
		w->now_ns = begin_ns + (bench_clock_ns() - t0);
	} while (w->now_ns - begin_ns < ns);
	return done;
}

static int
by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct bench_result
bench_measure(const struct bench_case *c, uint64_t us)
{
	struct bench_world *w = bench_world_new(c);
	uint64_t ns = us * 1000 / BENCH_SLICES;
	double cyc[BENCH_SLICES];
	struct bench_result r = {0};

	run_for(w, us * 1000 / 4); /* caches are warm, and timers run out as they come */
	for (unsigned i = 0; i < BENCH_SLICES; i++) {
		uint64_t t0 = bench_clock_ns(), c0 = cycles(), done = run_for(w, ns);
		double rate;

		cyc[i] = (double)(cycles() - c0) / (double)done;
		rate = (double)done * 1e9 / (double)(bench_clock_ns() - t0);
		if (rate > r.rate)
			r.rate = rate;
	}
	bench_world_free(w);
	qsort(cyc, BENCH_SLICES, sizeof(cyc[0]), by_value);
	r.best = cyc[0];
	r.median = (cyc[BENCH_SLICES / 2 - 1] + cyc[BENCH_SLICES / 2]) / 2;
	return r;
}

__attribute__((noinline)) uint64_t
bench_counted(struct bench_world *w, uint64_t messages)
{
	uint64_t done = 0;

	while (done < messages) {
		done += turn(w);
		w->now_ns += TURN_NS;
	}
	return done;
}

uint64_t
bench_count(const struct bench_case *c, uint64_t messages)
{
	struct bench_world *w = bench_world_new(c);
	uint64_t done;

	bench_counted(w, messages);
	done = bench_counted(w, messages);
	bench_world_free(w);
	return done;
}
