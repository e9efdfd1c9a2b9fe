/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDPERF_PERFTEST_LAT_H
#define NDPERF_PERFTEST_LAT_H

#include <stdint.h>

struct perftest;
struct ndperf_row;

/* Measure the latency of messages of that size into row. */
int perftest_latency(struct perftest *p, uint64_t bytes, struct ndperf_row *row);

#endif
