/* SPDX-License-Identifier: BSD-3-Clause */
/* What may happen to frames on their way between the two ends of a pair. */
#ifndef UNIT_FAULTS_H
#define UNIT_FAULTS_H

#include "rigs/engine_pair.h"

struct fault { /* of the nth frame that side from sends */
	unsigned from;
	uint64_t nth;
	unsigned copies; /* 0: lost */
	uint64_t late_ns;
};
/* pair.tap with a struct fault as its context. */
unsigned fault_tap(
	struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *fault);
/* Each frame of either side lost, doubled, late by little or much, and both, in a run of its own.
 * run: puts fault_tap() and the fault into a pair, and tells what both sides have sent in the
 * end. */
void fault_each_frame(void (*run)(struct fault *fault, uint64_t sent[2]));

/* The next number; *dice is the state. */
uint64_t fault_dice(uint64_t *dice);

/* pair.tap with a uint64_t, the state of its dice: of a hundred frames five are lost and five come
 * twice. */
unsigned fault_tap_dice(
	struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *dice);

/* pair.tap with an unsigned, the side whose frames are all lost. */
unsigned fault_tap_mute(
	struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *side);

#endif
