/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs of verbs poll without a pause: there, a NIC works beside them. Here a lcore may want the
 * CPU that the program polls on, and would have it at the end of the program's time slice,
 * milliseconds later. So a thread that has polled in vain for a microsecond yields. If that let no
 * other thread run, it waits twice as long before the next time: with CPUs enough, a poll in
 * thousands is a system call.
 */
#include "ndverbs/idle.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define SPIN_NS	    1000u    /* before the first yield */
#define SPIN_MAX_NS 1000000u /* before one, when those before were in vain */
#define VAIN_NS	    1000u    /* a yield that took less let nobody run */
#define FREE_POLLS  8u	     /* in which the clock is not read: that costs more than they do */

static __thread struct {
	uint32_t empty;	   /* polls in a row */
	bool yielding;	   /* the last yield let another thread run */
	uint64_t since_ns; /* of the first of them, or the last yield; 0: not read yet */
	uint64_t spin_ns;
} idle = {.spin_ns = SPIN_NS};

static uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void
yield_once(uint64_t begin)
{
	sched_yield();
	idle.since_ns = now_ns();
	idle.yielding = idle.since_ns - begin >= VAIN_NS;
	if (idle.yielding)
		idle.spin_ns = SPIN_NS;
	else if (idle.spin_ns < SPIN_MAX_NS)
		idle.spin_ns *= 2;
}

void
ndv_idle_wait(void)
{
	uint64_t now;

	if (!idle.yielding && ++idle.empty % FREE_POLLS != 0)
		return;
	now = now_ns();
	if (idle.since_ns == 0)
		idle.since_ns = now;
	if (idle.yielding || now - idle.since_ns >= idle.spin_ns)
		yield_once(now);
}

void
ndv_idle_end(void)
{
	idle.empty = 0;
	idle.yielding = false;
	idle.since_ns = 0;
}
