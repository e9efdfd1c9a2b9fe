/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CPU's counter runs on while other threads have the CPU. What a thread had of it the kernel
 * knows, but to ask costs a system call; so it is asked after long turns alone, each millisecond,
 * and after the thread has waited. What the thread did not have since the last time is taken off
 * the turn that was long. So a turn's own time is never said to be longer than it was, and is said
 * to be shorter only if other threads had the CPU in the millisecond before it.
 */
#ifndef NDD_OWN_H
#define NDD_OWN_H

#include <stdint.h>

#include "platform/clock.h"

struct ndd_own {
	uint64_t hz;	  /* of the counter */
	uint64_t at;	  /* counter, when the kernel was asked last */
	uint64_t used_ns; /* what the thread had of the CPU until then */
};

/* Of the cycles in front of now, those that the thread had for itself. used_ns: what it has had of
 * the CPU until now. */
static inline uint64_t
ndd_own_cycles(struct ndd_own *o, uint64_t now, uint64_t used_ns, uint64_t cycles)
{
	uint64_t had = (uint64_t)((unsigned __int128)(used_ns - o->used_ns) * o->hz / NDD_S),
		 passed = now - o->at, lost = passed > had ? passed - had : 0;

	o->at = now;
	o->used_ns = used_ns;
	return cycles > lost ? cycles - lost : 0;
}

#endif
