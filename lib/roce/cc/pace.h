/* SPDX-License-Identifier: BSD-3-Clause */
/* When: queue pairs that wait for the time of their next packet. */
#ifndef ROCE_PACE_H
#define ROCE_PACE_H

#include <stdint.h>

#include "base/list.h"

struct roce_qp;
struct roce_shard;
struct roce_tx_slot;

#define ROCE_PACE_SHIFT 13u /* ns per slot, as a power of two: 8.2 us */
#define ROCE_PACE_SLOTS 64u
/* How much of the time that it is late a queue pair may make up for. */
#define ROCE_PACE_CATCH_UP_NS 65536u

/* The queue pairs that wait, by the time of their next packet. */
struct roce_pace {
	uint64_t map;  /* slots that may have some */
	uint64_t tick; /* when a queue pair was put into a slot last */
	struct base_link slot[ROCE_PACE_SLOTS];
};

/* The turn to send of a queue pair that is ROCE_RXB_PACED; returns how many slots it filled. */
unsigned roce_pace_turn(
	struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slots, unsigned n);
/* Queue pairs whose time has come join the senders. */
void roce_pace_release(struct roce_shard *s);
/* When that will be, for the first of them; UINT64_MAX: none waits. */
uint64_t roce_pace_next(const struct roce_pace *p);

#endif
