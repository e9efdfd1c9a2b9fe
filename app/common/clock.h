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
 * What a polling loop does after polls that found nothing: poll on for a moment, then yield.
 * Machines with fewer cores than pollers (two daemons, a client and a server on two cores) are
 * normal: a loop that never yields keeps the daemon it waits for off the core until the scheduler's
 * slice ends. If no other thread wants the core, a yield costs a third of a microsecond in which
 * nothing is polled: after a yield in vain the loop polls for longer the next time.
 */
#define APP_SPIN_NS	1000u
#define APP_SPIN_MAX_NS 8000u
#define APP_VAIN_NS	1000u /* it took less: no other thread ran */
/* A loop that may sleep does so only after this: to wake it costs the daemon's lcore some
 * microseconds, as much as ten small messages and more. */
#define APP_STAY_NS 20000u

#define APP_FREE_LOOKS 8u /* so many are cheaper than one at the clock */

struct app_idle {
	uint32_t empty;	   /* polls in a row that found nothing */
	bool tired;	   /* each of them yields */
	uint64_t since_ns; /* the first of them */
	uint32_t spin_ns;  /* to poll on before; kept from wait to wait, 0: APP_SPIN_NS */
};

static inline void
app_idle_reset(struct app_idle *idle)
{
	idle->empty = 0;
	idle->tired = false;
	idle->since_ns = 0;
}

/* Is it too early to give way? */
static inline bool
app_idle_spinning(struct app_idle *idle)
{
	uint64_t now = app_now_ns();

	if (idle->since_ns == 0)
		idle->since_ns = now;
	return now - idle->since_ns < (idle->spin_ns > 0 ? idle->spin_ns : APP_SPIN_NS);
}

static inline void
app_idle_give_way(struct app_idle *idle)
{
	uint64_t begin = app_now_ns();

	sched_yield();
	idle->since_ns = app_now_ns();
	idle->tired = idle->since_ns - begin >= APP_VAIN_NS;
	if (idle->tired)
		idle->spin_ns = APP_SPIN_NS;
	else if (idle->spin_ns < APP_SPIN_MAX_NS)
		idle->spin_ns = 2 * (idle->spin_ns > 0 ? idle->spin_ns : APP_SPIN_NS);
}

/* For loops that may sleep: poll on, or yield first. False: it is time to sleep. */
static inline bool
app_idle_stay(struct app_idle *idle)
{
	if (app_idle_spinning(idle))
		return true;
	if (app_now_ns() - idle->since_ns >= APP_STAY_NS)
		return false;
	sched_yield();
	return true;
}

static inline void
app_idle_wait(struct app_idle *idle)
{
	idle->empty++;
	if (!idle->tired && idle->empty % APP_FREE_LOOKS == 0)
		idle->tired = !app_idle_spinning(idle);
	if (idle->tired)
		app_idle_give_way(idle);
}

#endif
