/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of a session's objects: handles are small numbers, reused late and with a generation, so
 * that an event about an old object is not taken for its successor.
 */
#ifndef NDD_SLOTS_H
#define NDD_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"

struct ndd_account;

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
	/* What each object costs the account: one of a kind, or of none (CONFIG_SHARE_COUNT), and
	 * open files. NULL: nothing. */
	struct ndd_account *account;
	enum config_share what;
	uint32_t files;
};

/* max: most objects, up to 2^18. plain: handles are 0..max-1. */
void ndd_slots_init(struct ndd_slots *t, uint32_t max, bool plain);
/* No more than so many, before the first is added. */
void ndd_slots_limit(struct ndd_slots *t, uint32_t max);
void ndd_slots_fini(struct ndd_slots *t);
/* From now on objects are paid for by this account, as they are added and removed. */
void ndd_slots_charge(
	struct ndd_slots *t, struct ndd_account *account, enum config_share what, uint32_t files);
/* NDD_SLOT_NONE: a limit is reached, and the account says which; or no memory. */
uint32_t ndd_slots_add(struct ndd_slots *t, void *item);
/* NULL: no such object. */
void *ndd_slots_get(const struct ndd_slots *t, uint32_t handle);
void ndd_slots_remove(struct ndd_slots *t, uint32_t handle);
/* Object at or after *pos, which moves behind it; NULL: no more. It may be removed meanwhile. */
void *ndd_slots_next(const struct ndd_slots *t, uint32_t *pos);

#endif
