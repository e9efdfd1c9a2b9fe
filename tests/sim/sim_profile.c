/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "sim.h"

/* The others came later, and share every fifth twenty of the seeds: all other seeds kept their
 * worlds, with what they find. */
#define FIRST_PROFILES 20u

const struct sim_profile sim_profiles[] = {
	{.name = "clean", .jitter_ns = 2 * SIM_US, .rare = 3000},
	{.name = "lazy", .jitter_ns = 2 * SIM_US, .lazy_recv = 5000, .rare = 3000},
	{.name = "loss", .loss = 300, .jitter_ns = 5 * SIM_US, .lazy_recv = 500},
	{.name = "twice",
		.dup = 1000,
		.reorder = 500,
		.straggle_ns = 3 * SIM_MS,
		.jitter_ns = 5 * SIM_US,
		.lazy_recv = 500},
	{.name = "corrupt", .corrupt = 300, .cut = 50, .jitter_ns = 5 * SIM_US},
	{.name = "storm",
		.loss = 500,
		.dup = 400,
		.reorder = 400,
		.corrupt = 200,
		.cut = 50,
		.straggle_ns = 20 * SIM_MS,
		.jitter_ns = 50 * SIM_US,
		.outages = true,
		.lazy_recv = 1000},
	{.name = "errors", .jitter_ns = 2 * SIM_US, .poison = 8000, .abrupt = 3000},
	{.name = "lossy-errors",
		.loss = 200,
		.dup = 200,
		.reorder = 200,
		.corrupt = 100,
		.straggle_ns = 2 * SIM_MS,
		.jitter_ns = 10 * SIM_US,
		.lazy_recv = 1000,
		.poison = 7000,
		.abrupt = 4000},
	{.name = "crowded",
		.jitter_ns = 2 * SIM_US,
		.lazy_recv = 500,
		.stalls = 100,
		.tight = true},
	{.name = "cm",
		.loss = 100,
		.jitter_ns = 5 * SIM_US,
		.cm = 6000,
		.abrupt = 3000,
		.together = 4000},
	{.name = "deaths",
		.loss = 50,
		.jitter_ns = 5 * SIM_US,
		.cm = 4000,
		.deaths = 4000,
		.abrupt = 1000,
		.together = 2000},
	{.name = "chaos",
		.loss = 200,
		.dup = 200,
		.reorder = 200,
		.corrupt = 100,
		.cut = 20,
		.straggle_ns = 2 * SIM_MS,
		.jitter_ns = 10 * SIM_US,
		.lazy_recv = 1000,
		.poison = 4000,
		.abrupt = 2000,
		.together = 1000,
		.cm = 2000,
		.deaths = 1000,
		.stalls = 100,
		.tight = true},
	{.name = "dialects", .jitter_ns = 2 * SIM_US, .lazy_recv = 2000, .dialects = 8000},
	{.name = "lossy-dialects",
		.loss = 200,
		.dup = 100,
		.reorder = 200,
		.straggle_ns = SIM_MS,
		.jitter_ns = 10 * SIM_US,
		.lazy_recv = 2000,
		.dialects = 8000},
	{.name = "dialects-errors",
		.jitter_ns = 2 * SIM_US,
		.lazy_recv = 1000,
		.poison = 8000,
		.abrupt = 1000,
		.dialects = 8000},
	{.name = "starve", .loss = 100, .jitter_ns = 5 * SIM_US, .starve = 3000, .rare = 10000},
	{.name = "changes",
		.loss = 20,
		.jitter_ns = 5 * SIM_US,
		.lazy_recv = 500,
		.changes = 8000,
		.rare = 3000},
	{.name = "marked", .jitter_ns = 5 * SIM_US, .lazy_recv = 500, .marks = 2500},
	{.name = "insiders", .jitter_ns = 2 * SIM_US, .lazy_recv = 500, .insiders = 4000},
	{.name = "lossy-insiders",
		.loss = 100,
		.dup = 100,
		.reorder = 200,
		.straggle_ns = SIM_MS,
		.jitter_ns = 10 * SIM_US,
		.lazy_recv = 1000,
		.insiders = 4000},
	{.name = "unmapped", .jitter_ns = 2 * SIM_US, .lazy_recv = 500, .unmaps = 8000},
	{.name = "lossy-unmapped",
		.loss = 100,
		.dup = 100,
		.reorder = 200,
		.straggle_ns = SIM_MS,
		.jitter_ns = 10 * SIM_US,
		.lazy_recv = 1000,
		.unmaps = 8000},
	{.name = "sinks",
		.loss = 200,
		.dup = 200,
		.reorder = 200,
		.straggle_ns = SIM_MS,
		.jitter_ns = 10 * SIM_US,
		.lazy_recv = 500,
		.sinks = 10000},
	{.name = "groups",
		.loss = 100,
		.dup = 200,
		.reorder = 200,
		.corrupt = 50,
		.straggle_ns = SIM_MS,
		.jitter_ns = 10 * SIM_US,
		.lazy_recv = 500,
		.groups = 6000},
	{.name = NULL},
};

const struct sim_profile *
sim_profile_find(const char *name)
{
	for (const struct sim_profile *p = sim_profiles; p->name != NULL; p++)
		if (strcmp(p->name, name) == 0)
			return p;
	return NULL;
}

const struct sim_profile *
sim_profile_of_seed(uint64_t seed)
{
	const unsigned n = sizeof(sim_profiles) / sizeof(sim_profiles[0]) - 1;

	if (seed / FIRST_PROFILES % 5 == 4)
		return &sim_profiles[FIRST_PROFILES + seed % (n - FIRST_PROFILES)];
	return &sim_profiles[seed % FIRST_PROFILES];
}
