/* SPDX-License-Identifier: BSD-3-Clause */
/* A crash says what was run, and how to run it again. */
#ifndef SIM_CRASH_H
#define SIM_CRASH_H

#include <stdint.h>

/* From here on, for signals of crashes; sanitizers handle theirs behind it. */
void sim_crash_watch(void);
/* This seed runs now. */
void sim_crash_seed(uint64_t seed, const char *profile);

#endif
