/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_IMPOSTOR_H
#define SIM_IMPOSTOR_H

#include "sim_types.h"

/* Of the world, and of its hosts' shards: before they are made. */
void sim_impostor_plan(struct sim_world *w);
/* When it acts again. */
uint64_t sim_impostor_step(struct sim_world *w);
/* May a shard have dropped so many packets for their UDP source ports? */
bool sim_impostor_explains(const struct sim_world *w, uint64_t dropped);

#endif
