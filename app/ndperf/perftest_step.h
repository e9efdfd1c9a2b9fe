/* SPDX-License-Identifier: BSD-3-Clause */
/* What both tests do, for one size. An int is enum app_exit; what is not APP_EXIT_OK has been said.
 */
#ifndef NDPERF_PERFTEST_STEP_H
#define NDPERF_PERFTEST_STEP_H

#include <stdbool.h>
#include <stdint.h>

struct nd_result;
struct ndperf_row;
struct perftest;
struct perftest_qp;

#define PERFTEST_BATCH 32u

/* Counters of a step, and its first receives. */
int perftest_step(struct perftest *p, uint64_t bytes);
/* A request of the step. */
int perftest_post(struct perftest *p, struct perftest_qp *q, uint64_t bytes, bool visible);
/* Take results, up to PERFTEST_BATCH, and count them: a send's context is how many it completes. If
 * there are none, wait a while as the user wants that done; *n may be 0. Ends when for too long
 * nothing happens at all. */
int perftest_take(struct perftest *p, uint64_t bytes, int32_t *n);
/* A request failed. */
int perftest_failed(struct perftest *p, const struct nd_result *r);

/* ---- perftest_bw.c, perftest_lat.c ---- */

int perftest_bandwidth(struct perftest *p, uint64_t bytes, struct ndperf_row *row);
int perftest_latency(struct perftest *p, uint64_t bytes, struct ndperf_row *row);

#endif
