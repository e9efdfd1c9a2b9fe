/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of a session's objects: handles are small numbers, reused late and with a generation, so
 * that an event about an old object is not taken for its successor.
 */
#ifndef NDD_SLOTS_H
#define NDD_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#define NDD_SLOT_NONE	    0xffffffffu
#define NDD_SLOT_INDEX_BITS 18u /* of a handle; those above are the generation */

struct ndd_slot {
	void *item; /* NULL: free */
	uint32_t generation;
	uint32_t next_free;
};

struct ndd_slots {
	struct ndd_slot *slot;
	uint32_t room, max, used;
	uint32_t free_head, free_tail; /* first in, first out: late reuse */
	bool plain;		       /* handles are indices, without generation */
};

/* max: most objects, up to 2^18. plain: handles are 0..max-1. */
void ndd_slots_init(struct ndd_slots *t, uint32_t max, bool plain);
void ndd_slots_fini(struct ndd_slots *t);
/* NDD_SLOT_NONE: limit reached, or no memory. */
uint32_t ndd_slots_add(struct ndd_slots *t, void *item);
/* NULL: no such object. */
void *ndd_slots_get(const struct ndd_slots *t, uint32_t handle);
void ndd_slots_remove(struct ndd_slots *t, uint32_t handle);
/* Object at or after *pos, which moves behind it; NULL: no more. It may be removed meanwhile. */
void *ndd_slots_next(const struct ndd_slots *t, uint32_t *pos);

#endif
