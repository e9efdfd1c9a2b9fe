/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_CHANGE_H
#define SIM_CHANGE_H

#include "sim_types.h"

void sim_change_plan(struct sim_world *w);
/* MAC addresses of hosts change, and their peers hear of it; when to look again. */
uint64_t sim_change_step(struct sim_world *w);
/* A queue pair rests in SQD: it gets other attributes, or is refused them if it is not drained. */
void sim_change_attributes(struct sim_ep *ep);
/* A code of the ACK timeout that a connection can live with. */
uint8_t sim_change_timeout(struct sim_world *w);
/* The queue pair is to be destroyed, with what is in flight: first it is reset and set up anew. */
void sim_change_reset(struct sim_ep *ep);

#endif
