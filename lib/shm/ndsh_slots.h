/* SPDX-License-Identifier: BSD-3-Clause */
/* Daemon: how many slots of a ring the client has filled, by their control words alone. */
#ifndef NDSH_SLOTS_H
#define NDSH_SLOTS_H

#include <stdbool.h>
#include <stddef.h>

#include "ndsh_shared.h"

/* The slots of a ring of either kind from next on. */
struct ndsh_slots {
	const void *ctrl; /* of slot 0; those of the others follow in steps of stride bytes */
	size_t stride;
	uint32_t next, depth;
};

/* Are there at least n? Slots are filled in order, so one load tells. */
static inline bool
ndsh_slots_hold(struct ndsh_slots s, uint32_t n)
{
	uint32_t last = s.next + n - 1;

	if (n == 0 || n > s.depth)
		return n == 0;
	return ndsh_load32((const char *)s.ctrl + (last & (s.depth - 1)) * s.stride) >> 31 ==
	       ndsh_phase(last, s.depth);
}

/* Of a client that fills slots out of order it is some number of them. */
static inline uint32_t
ndsh_slots_count(struct ndsh_slots s)
{
	uint32_t there = 0;

	for (uint32_t step = s.depth; step > 0; step /= 2)
		if (ndsh_slots_hold(s, there + step))
			there += step;
	return there;
}

#endif
