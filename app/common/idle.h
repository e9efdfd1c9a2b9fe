/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a polling loop idles. After some polls that found nothing it keeps polling for a moment and
 * then yields its core at every further poll.
 *
 * Machines with fewer cores than polling threads (two daemons, a client and a server on two cores)
 * are normal: a loop that never yields keeps the daemon that it waits for off the core until the
 * scheduler's time slice ends. If no other thread wants the core, a yield only costs a third of a
 * microsecond in which the loop sees nothing. Therefore a loop whose yields were in vain polls
 * longer before the next one.
 */
#ifndef APP_IDLE_H
#define APP_IDLE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "clock.h"

#define APP_IDLE_SPIN_NS     1000u /* the loop polls so long before its first yield */
#define APP_IDLE_SPIN_MAX_NS 8000u
#define APP_IDLE_VAIN_NS     1000u /* a yield that took less time let no other thread run */
/* A loop that may sleep does so after this time and not before: waking it costs the daemon's lcore
 * some microseconds, which is as much as it needs for ten small messages or more. */
#define APP_IDLE_STAY_NS 20000u
/* The clock is read at every so manyth empty poll only: reading it costs more than the polls. */
#define APP_IDLE_FREE_POLLS 8u

struct app_idle {
	uint32_t empty;	   /* polls in a row that found nothing */
	bool yielding;	   /* each further empty poll yields */
	uint64_t since_ns; /* time of the first empty poll */
	uint32_t spin_ns;  /* to poll before a yield; kept over resets; 0: APP_IDLE_SPIN_NS */
};

/* A poll found something. */
static inline void
app_idle_reset(struct app_idle *idle)
{
	idle->empty = 0;
	idle->yielding = false;
	idle->since_ns = 0;
}

/* Is it too early to yield? */
static inline bool
app_idle_spinning(struct app_idle *idle)
{
	uint64_t now = app_now_ns();

	if (idle->since_ns == 0)
		idle->since_ns = now;
	return now - idle->since_ns < (idle->spin_ns > 0 ? idle->spin_ns : APP_IDLE_SPIN_NS);
}

static inline void
app_idle_yield(struct app_idle *idle)
{
	uint64_t begin = app_now_ns();

	sched_yield();
	idle->since_ns = app_now_ns();
	idle->yielding = idle->since_ns - begin >= APP_IDLE_VAIN_NS;
	if (idle->yielding)
		idle->spin_ns = APP_IDLE_SPIN_NS;
	else if (idle->spin_ns < APP_IDLE_SPIN_MAX_NS)
		idle->spin_ns = 2 * (idle->spin_ns > 0 ? idle->spin_ns : APP_IDLE_SPIN_NS);
}

/* An empty poll of a loop that may sleep. Returns true if the loop shall poll on (the call may have
 * yielded), false if it is time to sleep. */
static inline bool
app_idle_stay(struct app_idle *idle)
{
	if (app_idle_spinning(idle))
		return true;
	if (app_now_ns() - idle->since_ns >= APP_IDLE_STAY_NS)
		return false;
	sched_yield();
	return true;
}

/* An empty poll of a loop that never sleeps. */
static inline void
app_idle_wait(struct app_idle *idle)
{
	idle->empty++;
	if (!idle->yielding && idle->empty % APP_IDLE_FREE_POLLS == 0)
		idle->yielding = !app_idle_spinning(idle);
	if (idle->yielding)
		app_idle_yield(idle);
}

#endif
