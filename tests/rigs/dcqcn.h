/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DCQCN as it was published (Zhu et al., SIGCOMM 2015, section 3.1), in floating point, with the
 * numbers of lib/roce/cc/rate.c: period by period, where the engine makes up for many at once.
 */
#ifndef DCQCN_H
#define DCQCN_H

#include <stdbool.h>
#include <stdint.h>

#define DCQCN_LINE_RATE 12500000.0 /* bytes in a ms */
#define DCQCN_LEAST	1250.0

struct dcqcn {
	bool limited;
	double rate, target, alpha; /* rate and target: bytes in a ms */
	uint64_t period_ns;	    /* end of the one under way */
	unsigned times, volumes;
	double bytes; /* since the last raise for bytes */
	/* The time that it would take at the rate to send what was sent early, as of ahead_ns. */
	double ahead;
	uint64_t ahead_ns;
};

/* All periods that have ended by now. */
void dcqcn_recover(struct dcqcn *m, uint64_t now_ns);
/* A notification, at a sender that can't have been faster than most. False: it is of congestion
 * that was known. */
bool dcqcn_cut(struct dcqcn *m, uint64_t now_ns, double most, uint64_t rtt_ns);
/* So many bytes leave. */
void dcqcn_sent(struct dcqcn *m, uint32_t bytes);

#endif
