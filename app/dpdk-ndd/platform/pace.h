/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that leave CPU time to the lcores. An idle lcore yields its CPU; what it yields to may
 * keep it for a time slice of the scheduler's, which is milliseconds, and frames wait meanwhile. So
 * where an lcore is kept from its CPU, the daemon's other threads work in short pieces, sleep
 * between them, and take a third of a CPU's time at most. That is also to their own advantage: the
 * scheduler lets a thread that sleeps more than its share have the CPU at once when it wakes.
 */
#ifndef NDD_PACE_H
#define NDD_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/clock.h"

#define NDD_PACE_PIECE_NS (50 * NDD_US)
#define NDD_PACE_REST_NS  (200 * NDD_US)
#define NDD_PACE_SHARE	  3 /* of the time, one part of so many */

/* An lcore that is away for so long is kept from its CPU, and it is crowded for a while then. */
#define NDD_CROWD_NS	   (200 * NDD_US)
#define NDD_CROWD_LASTS_NS (20 * NDD_MS)

/* Shared by all threads: when was an lcore last kept from its CPU? */
struct ndd_crowd {
	uint64_t noticed_ns;
};

/* By lcores: one had the CPU at last_ns, and has it again now. True: it was kept from it. */
static inline bool
ndd_crowd_notice(struct ndd_crowd *c, uint64_t last_ns, uint64_t now_ns)
{
	if (__builtin_expect(now_ns - last_ns <= NDD_CROWD_NS, 1))
		return false;
	__atomic_store_n(&c->noticed_ns, now_ns, __ATOMIC_RELAXED);
	return true;
}

static inline bool
ndd_crowd_is(const struct ndd_crowd *c, uint64_t now_ns)
{
	return ndd_elapsed_ns(now_ns, __atomic_load_n(&c->noticed_ns, __ATOMIC_RELAXED)) <
	       NDD_CROWD_LASTS_NS;
}

/* A thread's own. */
struct ndd_pace {
	uint64_t since_ns; /* its piece began */
	uint64_t used_ns;  /* time of CPUs that it had had by then */
	uint64_t rests;	   /* so often it did; others may read it */
};

/* How long is it to rest, having used so much of CPUs until now? A piece ends with the answer,
 * unless it is too short for one yet. */
uint64_t ndd_pace_rest_ns(struct ndd_pace *p, uint64_t now_ns, uint64_t used_ns, bool crowded);
/* ... so long; 0: go on. */
void ndd_pace_sleep(uint64_t ns);
/* Both, if it is time. The thread's timer slack should be small. */
void ndd_pace(struct ndd_pace *p, const struct ndd_crowd *c);
/* Of the calling thread, from now on: its short sleeps end on time. */
void ndd_sleep_precisely(void);

#endif
