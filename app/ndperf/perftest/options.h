/* SPDX-License-Identifier: BSD-3-Clause */
/* What the options mean with perftest at the other end. Both functions print a complaint if they
 * return false. */
#ifndef NDPERF_PERFTEST_OPTIONS_H
#define NDPERF_PERFTEST_OPTIONS_H

#include <stdbool.h>

#include "ndperf/options.h"

/* With --peer perftest: set the defaults that follow from other options, and check that the options
 * fit each other. */
bool perftest_options_settle(struct ndperf_options *o, const struct ndperf_given *g);
/* Without it: check that no option was given that means nothing then. */
bool perftest_options_absent(const struct ndperf_options *o, const struct ndperf_given *g);

#endif
