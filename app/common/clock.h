/* SPDX-License-Identifier: BSD-3-Clause */
/* Time and patience of the programs. */
#ifndef APP_CLOCK_H
#define APP_CLOCK_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define APP_NS_PER_S  1000000000ull
#define APP_NS_PER_MS 1000000ull

static inline uint64_t
app_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * APP_NS_PER_S + (uint64_t)ts.tv_nsec;
}

/*
 * What a polling loop does after looks that found nothing: look on for a moment, then give way, which
 * costs a third of a microsecond when nobody wants the core. Machines with fewer cores than
 * pollers (two daemons, a client and a server on two cores) are normal: a loop that never gives way
 * keeps the daemon it waits for off the core until the scheduler's slice ends.
 */
#define APP_SPIN_NS 1000u

struct app_idle {
	uint32_t empty;	   /* looks in a row that found nothing */
	uint64_t since_ns; /* the first of them */
};

static inline void
app_idle_reset(struct app_idle *idle)
{
	idle->empty = 0;
	idle->since_ns = 0;
}

/* Is it too early to give way? */
static inline bool
app_idle_spinning(struct app_idle *idle)
{
	uint64_t now = app_now_ns();

	if (idle->since_ns == 0)
		idle->since_ns = now;
	return now - idle->since_ns < APP_SPIN_NS;
}

static inline void
app_idle_wait(struct app_idle *idle)
{
	idle->empty++;
	if (!app_idle_spinning(idle))
		sched_yield();
}

#endif
