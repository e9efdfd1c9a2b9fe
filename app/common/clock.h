/* SPDX-License-Identifier: BSD-3-Clause */
/* The programs' clock: monotonic, in nanoseconds. */
#ifndef APP_CLOCK_H
#define APP_CLOCK_H

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

#endif
