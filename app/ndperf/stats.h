/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics of a step: latencies and bandwidth. */
#ifndef NDPERF_STATS_H
#define NDPERF_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Latencies. Minimum, maximum, mean and deviation are those of all samples. Percentiles are those
 * of all samples as long as these fit the store, and then those of a uniform random choice among
 * them (reservoir sampling), so that the memory of a run by time does not grow with its time.
 */
struct latency {
	uint32_t *ns;
	uint32_t room;
	uint64_t count;
	uint32_t min_ns, max_ns;
	double mean, m2; /* Welford's running mean and sum of squared distances */
	uint64_t random;
};

struct latency_summary { /* microseconds */
	double min, max, typical, average, stdev, p99, p999;
};

bool latency_init(struct latency *l, uint32_t room);
void latency_free(struct latency *l);
void latency_reset(struct latency *l);
void latency_add(struct latency *l, uint64_t ns);
/* Summarise the samples times scale: 0.5 makes a one-way time of a round trip. Without samples all
 * is zero. Sorts the store. */
void latency_summarise(struct latency *l, double scale, struct latency_summary *s);

/*
 * Bandwidth: the average of the whole run, and as its peak the best window. A window goes from one
 * reading of the clock to the first one that is at least RATE_WINDOW_NS later.
 */
#define RATE_WINDOW_NS 1000000u
struct rate {
	uint64_t start_ns, window_ns, last_ns;
	uint64_t bytes, window_bytes, messages;
	double peak; /* bytes per second */
};
struct rate_summary {
	double seconds, peak, average; /* bytes per second */
	double messages;	       /* per second */
};
void rate_start(struct rate *r, uint64_t now_ns);
void rate_add(struct rate *r, uint64_t now_ns, uint64_t messages, uint64_t bytes);
void rate_summarise(const struct rate *r, struct rate_summary *s);

#endif
