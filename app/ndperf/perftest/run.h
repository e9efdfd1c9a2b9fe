/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDPERF_PERFTEST_RUN_H
#define NDPERF_PERFTEST_RUN_H

#include "ndperf/options.h"

/* Be the other end of one of perftest's programs. Returns the program's exit code. */
int perftest_run(const struct ndperf_options *opt);

#endif
