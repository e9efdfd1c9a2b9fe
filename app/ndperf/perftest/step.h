/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests and results of a step, for bandwidth and latency. */
#ifndef NDPERF_PERFTEST_STEP_H
#define NDPERF_PERFTEST_STEP_H

#include <stdbool.h>
#include <stdint.h>

struct perftest;
struct perftest_qp;

/* Begin a step: reset its counters and post its first receives. */
int perftest_step(struct perftest *p, uint64_t bytes);
/* Post a request of the step. visible: its success makes a completion. */
int perftest_post(struct perftest *p, struct perftest_qp *q, uint64_t bytes, bool visible);
/*
 * Take results and count them; *n is their number. The context of a request is its number in the
 * step, so that a completion also counts the silent requests before it. If there are no results,
 * wait a while in the way that the user chose; *n is 0 then. Fails if nothing has happened for too
 * long.
 */
int perftest_take(struct perftest *p, uint64_t bytes, int32_t *n);

#endif
