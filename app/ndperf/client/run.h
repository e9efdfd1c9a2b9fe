/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDPERF_CLIENT_RUN_H
#define NDPERF_CLIENT_RUN_H

#include "ndperf/options.h"

/* Connect to the server and measure one step for each message size. Returns the program's exit
 * code. */
int client_run(const struct ndperf_options *opt);

#endif
