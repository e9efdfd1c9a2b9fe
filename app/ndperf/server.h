/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDPERF_SERVER_H
#define NDPERF_SERVER_H

#include "options.h"

/* Returns the program's exit code. */
int server_run(const struct ndperf_options *opt);

#endif
