/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How an idle lcore gives way to what else is to run on its CPU.
 *
 * A yield is cheap beside those that yield, too: the libraries of this project do as they poll. A
 * program that computes, or polls memory, keeps the CPU for its whole time slice, milliseconds, and
 * nothing that comes for the lcore meanwhile makes a difference, as a thread that yields is not
 * asleep. One that sleeps is woken and runs at once. So an lcore that loses more than half of its
 * time by yielding sleeps instead, shortly, as there are ports that must be polled.
 *
 * Among friends sleeping is the dearer way, and an lcore that sleeps cannot see those beside it. So
 * yielding is tried again after a while; a try that fails is short, and doubles that while.
 */
#ifndef NDD_GIVING_WAY_H
#define NDD_GIVING_WAY_H

#include <stdbool.h>
#include <stdint.h>

#define NDD_YIELD_NS	     1000ull	  /* without work for so long: give the CPU to others */
#define NDD_SLEEP_NS	     1000000ull	  /* ... for so long: sleep, whatever yields take */
#define NDD_SLEEP_MIN_NS     30000ull	  /* shortest sleep: it costs others the CPU, twice */
#define NDD_SLEEP_SHARE	     8u		  /* ... and no longer than that part of what it was idle */
#define NDD_YIELD_DEAR_NS    200000ull	  /* one that takes less is among friends */
#define NDD_YIELDS_JUDGED_NS 64000000ull  /* dear ones are added up for so long */
#define NDD_YIELDS_LOST_NS   32000000ull  /* they were too dear when they took more */
#define NDD_YIELDS_TRY_NS    4000000ull	  /* ... and so much when they were so before */
#define NDD_YIELDS_AGAIN_NS  128000000ull /* first try after yields were too dear; doubles */
#define NDD_YIELDS_DOUBLINGS 5u

struct ndd_giving_way { /* begins as zeros */
	bool sleeps;
	uint8_t doublings;
	uint64_t since_ns; /* of what is added up, or of the sleeping */
	uint64_t lost_ns;
};

/* A yield has ended at now_ns, after so long. */
void ndd_giving_way_yielded(struct ndd_giving_way *g, uint64_t now_ns, uint64_t took_ns);
/* After so long without work: true, if the lcore is to sleep instead of yielding. */
bool ndd_giving_way_sleeps(struct ndd_giving_way *g, uint64_t now_ns, uint64_t idle_ns);

/* How long to sleep after so long without work: what comes waits for a small part of it more. */
static inline uint64_t
ndd_sleep_share_ns(uint64_t idle_ns)
{
	uint64_t ns = idle_ns / NDD_SLEEP_SHARE;

	return ns > NDD_SLEEP_MIN_NS ? ns : NDD_SLEEP_MIN_NS;
}

#endif
