/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory regions, and the table of all that keys open: regions and windows of all kinds. */
#ifndef ROCE_MR_H
#define ROCE_MR_H

#include <assert.h>

#include "roce/roce.h"

struct roce_frmr;

#define ROCE_KEY_BITS NDSH_TOKEN_KEY_BITS
#define ROCE_MR_BITS  18u

enum roce_mr_kind { ROCE_MR_FREE, ROCE_MR_REGION, ROCE_MR_WINDOW, ROCE_MR_FRMR, ROCE_MR_ARENA };

/*
 * What a key opens. A window that is not bound has no rights, so its last key opens nothing. Kinds
 * that are not one piece of memory have no access here: roce_mr_access() refuses them, as it does
 * all that is wrong, and only then fast_register.c is asked. So they cost the others nothing.
 */
struct roce_mr {
	union {
		uint8_t *host;
		struct roce_frmr *fr;		/* FRMR */
		const struct roce_arena *arena; /* ARENA */
		struct roce_mover *mover;	/* REGION and WINDOW with rights but no access */
	};
	uint64_t va, bytes; /* va: of the first byte as requests name it (verbs: the iova) */
	uint32_t key;
	uint32_t pd;
	uint32_t binder; /* windows: only the peer of this life of a queue pair may come (mw.h); 0:
			    not bound, or of type 1 */
	uint8_t access;	 /* NDSH_ACCESS_*, ROCE_ACCESS_LOCAL_READ; 0: no access at all */
	uint8_t kind;	 /* enum roce_mr_kind */
	/* As access, of memory that the host has no pointer to: then access is 0, and requests for
	 * a pointer are refused by that alone. FRMR: 0 if it is not registered. */
	uint8_t rights;
	uint8_t type; /* WINDOW: enum ndsh_mw_type */
	union {
		uint32_t windows; /* regions: how many are bound to it */
		uint32_t region;  /* bound windows: its index */
	};
	uint32_t next, prev; /* in the ring that it is in: struct roce_mr_ring */
	uint32_t generation; /* WINDOW, FRMR: of the last bind */
	union {
		uint64_t secret; /* WINDOW if DERIVED, FRMR: tokens follow from it */
		uint64_t at;	 /* REGION: where its client has the first byte; mostly va */
	};
};
static_assert(sizeof(struct roce_mr) == 64, "one cache line");

#define ROCE_ACCESS_LOCAL_READ 0x80u /* every region grants it, no window does */
static_assert(ROCE_ACCESS_LOCAL_READ > NDSH_ACCESS_MASK, "a right of its own");

/* Regions of a client, or windows of a queue pair. The oldest is in front of the newest. */
struct roce_mr_ring {
	uint32_t newest, count;
};
void roce_mr_ring_add(struct roce_shard *s, struct roce_mr_ring *ring, struct roce_mr *mr);
void roce_mr_ring_remove(struct roce_shard *s, struct roce_mr_ring *ring, const struct roce_mr *mr);

/* A free slot of the table, nobody knows which, with a reference to pd; NULL: none. */
struct roce_mr *roce_mr_take(struct roce_shard *s, uint32_t pd);
void roce_mr_give(struct roce_shard *s, struct roce_mr *mr);
/* What is in the slot that key names; NULL: there is no such slot. */
struct roce_mr *roce_mr_slot(struct roce_shard *s, uint32_t key);
uint32_t roce_mr_new_key(struct roce_shard *s, const struct roce_mr *mr);
/* By either side of qp; false: there is nothing with this token that this side may invalidate. */
bool roce_mr_invalidate(struct roce_shard *s, struct roce_qp *qp, uint32_t token, bool by_peer);

/* The one place where a key becomes a pointer, for qp or for its peer. NULL: refused, or the memory
 * is not in one piece that the host can reach. */
uint8_t *roce_mr_access(struct roce_shard *s, const struct roce_qp *qp, uint32_t key, uint64_t va,
	uint64_t bytes, uint32_t right);
/* The first piece of what key opens, pointer or pages; *bytes is cut to that. NULL: refused. */
uint8_t *roce_mr_piece(struct roce_shard *s, const struct roce_qp *qp, uint32_t key, uint64_t va,
	uint32_t *bytes, uint32_t right);
/* Does key open it, in whatever kind of memory? */
bool roce_mr_permits(struct roce_shard *s, const struct roce_qp *qp, uint32_t key, uint64_t va,
	uint64_t bytes, uint32_t right);
/* Which mover moves it? NULL: none, or refused. roce_mr_at() says where its client has it. */
struct roce_mover *roce_mr_mover(struct roce_shard *s, const struct roce_qp *qp, uint32_t key,
	uint64_t va, uint64_t bytes, uint32_t right);
/* The client's own address of what is named va by that key, which roce_mr_mover() has opened. */
uint64_t roce_mr_at(const struct roce_shard *s, uint32_t key, uint64_t va);

#endif
