/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast a queue pair sends that was told to slow down. */
#ifndef ROCE_RATE_H
#define ROCE_RATE_H

#include <stdbool.h>
#include <stdint.h>

/* Rates are bytes in a millisecond: from 10 Mb/s to 100 Gb/s. */
#define ROCE_RATE_MIN 1250u
#define ROCE_RATE_MAX 12500000u

struct roce_rate {
	uint64_t period_ns; /* end of the period under way */
	uint32_t now;	    /* 0: no limit */
	uint32_t target;    /* what it was before the last cut, or where it is going from there */
	uint32_t bytes;	    /* sent since the last raise for bytes */
	uint16_t alpha;	    /* of 65,536: how congested the way is, as far as we were told */
	uint8_t times, volumes; /* raises since the last cut: for periods, for bytes */
};

/* Congestion was met at now_ns, by a sender that can't have been faster than most. False: that was
 * known, the rate stays. */
bool roce_rate_cut(struct roce_rate *r, uint64_t now_ns, uint32_t most, uint64_t rtt_ns);
/* Bring the rate up to now_ns. False: there is no limit any more. */
bool roce_rate_recover(struct roce_rate *r, uint64_t now_ns);
/* That many bytes left. Returns how long they keep the line busy, in ns. */
uint64_t roce_rate_sent(struct roce_rate *r, uint64_t bytes);

#endif
