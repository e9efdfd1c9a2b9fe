/* SPDX-License-Identifier: BSD-3-Clause */
/* What it costs to get something from one core to another. */
#ifndef CORES_H
#define CORES_H

#include <stdint.h>
#include <time.h>

static inline uint64_t
cores_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Two threads, on these CPUs, hand a cache line to and fro for so long: nanoseconds of a round
 * trip, the best of ten slices. */
double cores_line(const int cpu[2], uint64_t ns);
/* One puts descriptors of 64 bytes into a ring, `batch` at a time, the other takes what there is:
 * nanoseconds of one. */
double cores_ring(const int cpu[2], uint64_t ns, uint32_t batch);

#endif
