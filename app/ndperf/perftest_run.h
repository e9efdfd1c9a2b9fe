/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDPERF_PERFTEST_RUN_H
#define NDPERF_PERFTEST_RUN_H

struct ndperf_options;

/* One test with one of perftest's programs. Returns enum app_exit. */
int perftest_run(const struct ndperf_options *opt);

#endif
