/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_SHRINK_H
#define SIM_SHRINK_H

#include "sim.h"

/*
 * Make a failing seed small: print the scenario of the fewest decisions, and its trace, that fails
 * in the same way. budget_s: seconds of CPU time that the search may take. False: it does not fail.
 */
bool sim_shrink(uint64_t seed, const struct sim_profile *profile, unsigned budget_s);

#endif
