/* SPDX-License-Identifier: BSD-3-Clause */
/* A run in a process of its own: what it crashes, overwrites or never ends harms no other. */
#ifndef SIM_ISOLATE_H
#define SIM_ISOLATE_H

#include "sim.h"
#include "sim_script.h"

struct sim_shared { /* by the process of the run and its parent */
	struct sim_outcome outcome;
	struct roce_counters counters;
	struct roce_cm_counters cm_counters;
	uint32_t recorded;
	struct sim_choice record[SIM_CHOICES_MAX];
};

/* Memory for it, untouched pages cost nothing. */
struct sim_shared *sim_shared_new(void);
/*
 * As sim_run(), and all draws that were not 0 are in shared->record. A crash, an assertion that
 * fails or more CPU time than that are failures, too. What the run prints goes to the file
 * descriptor.
 */
bool sim_run_isolated(const struct sim_case *c, struct sim_shared *shared, unsigned cpu_ms, int fd);

#endif
