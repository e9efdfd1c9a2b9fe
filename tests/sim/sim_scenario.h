/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scenario: a world by a list of decisions, all others the plainest. What a failing seed was
 * shrunk to is kept as one (tests/sim/scenarios). Its file has a line for each:
 *
 *	profile NAME
 *	seed N			the contents of messages, and secrets
 *	counts NAME...		counters of the engine, or of the CM (cm_NAME), that must move
 *	says TEXT		a note of the run (--verbose) that must come
 *	draw ACTOR #ORDINAL = VALUE of N: FILE FUNCTION TEXT
 *	# ...
 *
 * It passes if the world does, every draw was asked for, every counter moved and every note came:
 * a scenario that no longer gets where it was made for is no test.
 */
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include <stdio.h>

#include "sim.h"
#include "sim_script.h"

/* Prints what is wrong. */
bool sim_scenario_run(const char *path, bool verbose);
/* All of a folder. Returns how many failed; *passed: the others. */
unsigned sim_scenarios_run(const char *folder, unsigned *passed);
void sim_scenario_write(FILE *f, const struct sim_case *c, const struct roce_counters *counters,
	const struct roce_cm_counters *cm_counters);

#endif
