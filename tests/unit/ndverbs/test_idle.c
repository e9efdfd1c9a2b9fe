/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that poll in vain, with a sched_yield() of ours. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "ndverbs/idle.h"

static unsigned yields;
static bool somebody_runs;

static uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int
sched_yield(void)
{
	uint64_t end = now_ns() + (somebody_runs ? 2000 : 0);

	yields++;
	while (now_ns() < end)
		;
	return 0;
}

static void
poll_in_vain(uint64_t ns)
{
	for (uint64_t end = now_ns() + ns; now_ns() < end;)
		ndv_idle_wait();
}

/* From then on it gives way at each poll, until one finds something. */
Test(ndverbs_idle, where_others_want_the_cpu)
{
	unsigned before;

	somebody_runs = true;
	poll_in_vain(10000000);
	before = yields;
	cr_expect(ne(uint, before, 0));
	for (unsigned i = 0; i < 10; i++)
		ndv_idle_wait();
	cr_expect(eq(uint, yields, before + 10));
	ndv_idle_end();
	ndv_idle_wait();
	cr_expect(eq(uint, yields, before + 10));
}

/* Yields become rare: they are system calls. A stall of this process may look as if one had let
 * others run, which begins anew. */
Test(ndverbs_idle, where_nobody_wants_it)
{
	poll_in_vain(300000000);
	cr_expect(ne(uint, yields, 0));
	cr_expect(lt(uint, yields, 3000), "%u in 0.3 s", yields);
}
