/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_CC_H
#define SIM_CC_H

#include "sim_types.h"

/* A sender's rate as DCQCN has it; bytes and ns. */
struct sim_rate {
	bool limited;
	double rate, target, alpha; /* rate and target: bytes in a ms */
	uint64_t period_ns;	    /* end of the one under way */
	unsigned times, volumes;
	double bytes; /* since the last raise for bytes */
	/* The time that it would take at the rate to send what was sent early, as of ahead_ns. */
	double ahead;
	uint64_t ahead_ns;
};

/* The network marks a frame now and then, if its sender permits that. */
void sim_cc_mark(struct sim_world *w, struct sim_frame *f);
/* roce_shard_rx(), and what it must do to the rate. */
void sim_cc_rx(struct sim_shard *sh, const struct roce_pkt *pkt, struct roce_qp *qp);
/* A frame left the engine. */
void sim_cc_left(struct sim_shard *sh, const uint8_t *frame, uint32_t bytes);

#endif
