/* SPDX-License-Identifier: BSD-3-Clause */
/* Time and patience of the programs. */
#ifndef APP_CLOCK_H
#define APP_CLOCK_H

#include <sched.h>
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
 * What a polling loop does after a poll that found nothing. Machines with fewer cores than pollers
 * (two daemons, a client and a server on two cores) are normal: a loop that never yields would keep
 * the daemon it waits for off the core until the scheduler's slice ends.
 */
#define APP_IDLE_SPINS 64u

struct app_idle {
	uint32_t empty; /* polls in a row that found nothing */
};

static inline void
app_idle_reset(struct app_idle *idle)
{
	idle->empty = 0;
}

static inline void
app_idle_wait(struct app_idle *idle)
{
	if (++idle->empty > APP_IDLE_SPINS)
		sched_yield();
}

#endif
