/* SPDX-License-Identifier: BSD-3-Clause */
/* Moderation of a completion queue's callback. nd_cq.lock held. */
#ifndef ND_MODERATE_H
#define ND_MODERATE_H

#include <stdbool.h>
#include <stdint.h>

struct nd_cq;

struct nd_moderation {	       /* guarded by nd_cq.lock */
	uint32_t us;	       /* 0: none */
	uint32_t count;	       /* 0, 1: none; not below the depth: time alone */
	uint64_t from;	       /* entries up to here were old when the callback was armed for */
	bool due;	       /* it is held back since due_ns */
	uint64_t due_ns, seen; /* entries up to seen are no reason to end that */
	bool has_timer;
	int timer_fd;
};

/* The callback is being armed for, and was not before. */
void nd_moderation_begin(struct nd_cq *cq);
/* The callback is due. Must it wait? Then it is judged again when that may have ended. */
bool nd_moderation_holds(struct nd_cq *cq);
/* The queue has another depth, by which the count is judged. */
void nd_moderation_resized(struct nd_cq *cq, uint32_t depth);
/* No callback comes any more; the lock need not be held. */
void nd_moderation_off(struct nd_cq *cq);

#endif
