/* SPDX-License-Identifier: BSD-3-Clause */
/* Monotonic nanoseconds from the CPU's constant-rate counter: one read and one multiplication. */
#ifndef NDD_CLOCK_H
#define NDD_CLOCK_H

#include <stdint.h>
#include <time.h>

#include <rte_cycles.h>

#define NDD_US 1000ull
#define NDD_MS 1000000ull
#define NDD_S  1000000000ull

extern uint64_t
	ndd_clock_mult; /* ns per tick, 32.32 fixed point; constant after ndd_clock_init() */

/* After EAL has measured the counter's rate. */
void ndd_clock_init(void);

static inline uint64_t
ndd_now_ns(void)
{
	return (uint64_t)(((unsigned __int128)rte_rdtsc() * ndd_clock_mult) >> 32);
}

/* What the calling thread has had of CPUs; a system call. */
static inline uint64_t
ndd_thread_used_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * NDD_S + (uint64_t)ts.tv_nsec;
}

/* now_ns may have been read before since_ns was, as that of a turn: nothing has elapsed then. */
static inline uint64_t
ndd_elapsed_ns(uint64_t now_ns, uint64_t since_ns)
{
	return now_ns > since_ns ? now_ns - since_ns : 0;
}

#endif
