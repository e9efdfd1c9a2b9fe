/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDPERF_PERFTEST_BW_H
#define NDPERF_PERFTEST_BW_H

#include <stdint.h>

struct perftest;
struct ndperf_row;

/* Measure the bandwidth of messages of that size into row. */
int perftest_bandwidth(struct perftest *p, uint64_t bytes, struct ndperf_row *row);

#endif
