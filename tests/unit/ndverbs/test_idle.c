/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that poll in vain, with a clock and a sched_yield() of ours: what a yield takes is what
 * the tests say, whatever else the machine does. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ndverbs/idle.h"

#define POLL_NS	 100u
#define QUICK_NS 300u  /* a yield that lets nobody run */
#define LONG_NS	 2000u /* one that does */

static unsigned yields;
static uint64_t yield_ns;
static uint64_t now_ns; /* 0: the machine's clock, which Criterion asks for, too */

int
clock_gettime(clockid_t id, struct timespec *t)
{
	if (now_ns == 0)
		return (int)syscall(SYS_clock_gettime, id, t);
	*t = (struct timespec){
		.tv_sec = (time_t)(now_ns / 1000000000u),
		.tv_nsec = (long)(now_ns % 1000000000u),
	};
	return 0;
}

int
sched_yield(void)
{
	yields++;
	now_ns += yield_ns;
	return 0;
}

static void
begin(uint64_t takes_ns)
{
	now_ns = 1;
	yield_ns = takes_ns;
}

static void
end(void)
{
	now_ns = 0;
}

static void
poll_in_vain(uint64_t ns)
{
	for (uint64_t until = now_ns + ns; now_ns < until; now_ns += POLL_NS)
		ndv_idle_wait();
}

/* The first yield comes after a microsecond, and eight polls. From then on it gives way at each
 * poll, until one finds something. */
Test(ndverbs_idle, where_others_want_the_cpu)
{
	begin(LONG_NS);
	poll_in_vain(1000);
	cr_expect(zero(uint, yields));
	poll_in_vain(2000);
	cr_expect(ne(uint, yields, 0));
	yields = 0;
	for (unsigned i = 0; i < 10; i++)
		ndv_idle_wait();
	cr_expect(eq(uint, yields, 10));
	ndv_idle_end();
	ndv_idle_wait();
	cr_expect(eq(uint, yields, 10));
	end();
}

/* Yields become rare: they are system calls. Ten times the wait doubles, to a millisecond. */
Test(ndverbs_idle, where_nobody_wants_it)
{
	begin(QUICK_NS);
	poll_in_vain(2100000);
	cr_expect(
		all(ge(uint, yields, 10), le(uint, yields, 11)), "%u in the first 2.1 ms", yields);
	yields = 0;
	poll_in_vain(300000000);
	cr_expect(all(ge(uint, yields, 290), le(uint, yields, 300)), "%u in 0.3 s", yields);
	end();
}

/* And often again from the first that lets another thread run, as it may need the CPU again. */
Test(ndverbs_idle, where_somebody_comes_to_want_it)
{
	begin(QUICK_NS);
	poll_in_vain(10000000);
	yield_ns = LONG_NS;
	for (yields = 0; yields == 0; now_ns += POLL_NS)
		ndv_idle_wait();
	for (unsigned i = 0; i < 100; i++)
		ndv_idle_wait();
	cr_expect(eq(uint, yields, 101));
	yield_ns = QUICK_NS;
	ndv_idle_wait();
	yields = 0;
	poll_in_vain(2500);
	cr_expect(ge(uint, yields, 1), "a microsecond is the first wait again");
	end();
}
