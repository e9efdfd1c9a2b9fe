/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_CC_H
#define SIM_CC_H

#include "rigs/dcqcn.h"
#include "sim_types.h"

/* The network marks a frame now and then, if its sender permits that. */
void sim_cc_mark(struct sim_world *w, struct sim_frame *f);
/* roce_shard_rx(), and what it must do to the rate. */
void sim_cc_rx(struct sim_shard *sh, const struct roce_pkt *pkt, struct roce_qp *qp);
/* A frame left the engine. */
void sim_cc_left(struct sim_shard *sh, const uint8_t *frame, uint32_t bytes);

#endif
