/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory regions, and the table that windows (mw.c) and fast-register regions are in as well. A key
 * is {index in the table, random}, and any free slot is taken, so that the index can't be guessed
 * either; all 32 bits are compared (W-MEM-01), and roce_mr_access() is the one place where a key
 * and an address become a pointer, unless the memory is in pieces.
 */
#include "roce/mem/mr.h"

#include "base/compiler.h"
#include "roce/assert.h"
#include "roce/mem/fast_register.h"
#include "roce/mem/mover.h"
#include "roce/mem/mw.h"
#include "roce/qp/qp.h"
#include "roce/shard/shard.h"
#include "shm/ndsh_op.h"

#define KEY_DOMAIN  2u
#define SLOT_DOMAIN 5u
#define REMOTE	    (NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE)

uint32_t
roce_mr_new_key(struct roce_shard *s, const struct roce_mr *mr)
{
	uint32_t index = (uint32_t)(mr - s->mrs), key;

	do /* no token is 0 */
		key = index << ROCE_KEY_BITS |
		      ((uint32_t)roce_shard_random(s, KEY_DOMAIN) & ((1u << ROCE_KEY_BITS) - 1));
	while (key == 0);
	return key;
}

void
roce_mr_ring_add(struct roce_shard *s, struct roce_mr_ring *ring, struct roce_mr *mr)
{
	uint32_t i = (uint32_t)(mr - s->mrs);

	mr->next = ring->count > 0 ? ring->newest : i;
	mr->prev = ring->count > 0 ? s->mrs[ring->newest].prev : i;
	s->mrs[mr->next].prev = i;
	s->mrs[mr->prev].next = i;
	ring->newest = i;
	ring->count++;
}

void
roce_mr_ring_remove(struct roce_shard *s, struct roce_mr_ring *ring, const struct roce_mr *mr)
{
	s->mrs[mr->prev].next = mr->next;
	s->mrs[mr->next].prev = mr->prev;
	if (ring->newest == (uint32_t)(mr - s->mrs))
		ring->newest = mr->next;
	ring->count--;
}

struct roce_mr *
roce_mr_take(struct roce_shard *s, uint32_t pd)
{
	struct roce_mr *mr;
	uint64_t n;

	if (s->mr_free_count == 0 || !roce_pd_get(s, pd))
		return NULL;
	n = roce_shard_random(s, SLOT_DOMAIN) % s->mr_free_count;
	mr = &s->mrs[s->mr_free[n]];
	s->mr_free[n] = s->mr_free[--s->mr_free_count];
	*mr = (struct roce_mr){.pd = pd};
	s->usage.mrs++;
	return mr;
}

void
roce_mr_give(struct roce_shard *s, struct roce_mr *mr)
{
	roce_pd_put(s, mr->pd);
	*mr = (struct roce_mr){0};
	s->mr_free[s->mr_free_count++] = (uint32_t)(mr - s->mrs);
	s->usage.mrs--;
}

struct roce_mr *
roce_mr_slot(struct roce_shard *s, uint32_t key)
{
	uint32_t index = key >> ROCE_KEY_BITS;

	return index < s->cfg.max_mrs ? &s->mrs[index] : NULL;
}

struct roce_mr *
roce_mr_register(
	struct roce_shard *s, uint32_t pd, uint64_t va, uint64_t bytes, void *host, uint32_t access)
{
	struct roce_mr *mr;

	if (!ndsh_access_ok(access) || va + bytes < va)
		return NULL;
	mr = roce_mr_take(s, pd);
	if (mr == NULL)
		return NULL;
	mr->kind = ROCE_MR_REGION;
	mr->host = host;
	mr->va = va;
	mr->at = va;
	mr->bytes = bytes;
	mr->key = roce_mr_new_key(s, mr);
	mr->access = (uint8_t)(access | ROCE_ACCESS_LOCAL_READ);
	return mr;
}

struct roce_mr *
roce_mr_register_moved(struct roce_shard *s, uint32_t pd, uint64_t va, uint64_t bytes,
	struct roce_mover *m, uint32_t access)
{
	struct roce_mr *mr = roce_mr_register(s, pd, va, bytes, NULL, access);

	if (mr == NULL)
		return NULL;
	mr->rights = mr->access;
	mr->access = 0;
	mr->mover = m;
	m->users++;
	return mr;
}

uint32_t
roce_mr_key(const struct roce_mr *mr)
{
	return mr->key;
}

bool
roce_mr_deregister(struct roce_shard *s, struct roce_mr *mr)
{
	roce_assert((uint32_t)(mr - s->mrs) < s->cfg.max_mrs && mr->kind == ROCE_MR_REGION);
	if (mr->windows > 0)
		return false;
	if (mr->rights != 0)
		mr->mover->users--;
	roce_mr_give(s, mr);
	return true;
}

/* W-INV-02, R-INV-01: never an ordinary region. */
bool
roce_mr_invalidate(struct roce_shard *s, struct roce_qp *qp, uint32_t token, bool by_peer)
{
	struct roce_mr *mr = roce_mr_slot(s, token);

	if (mr == NULL || mr->key != token || mr->pd != qp->pd)
		return false;
	if (mr->kind == ROCE_MR_WINDOW)
		return roce_mw_invalidate(s, qp, mr);
	/* R-INV-09: what the peer was given nothing of is not its to end. */
	if (mr->kind != ROCE_MR_FRMR || mr->rights == 0 || (by_peer && (mr->rights & REMOTE) == 0))
		return false;
	mr->rights = 0;
	return true;
}

/* W-RESP-13, W-MEM-06. NULL: key does not open [va, va+bytes), for qp or for its peer. */
static inline const struct roce_mr *
mr_find(const struct roce_shard *s, const struct roce_qp *qp, uint32_t key, uint64_t va,
	uint64_t bytes, uint64_t *off)
{
	uint32_t index = key >> ROCE_KEY_BITS;
	const struct roce_mr *mr;

	if (base_unlikely(index >= s->cfg.max_mrs))
		return NULL;
	mr = &s->mrs[index];
	*off = va - mr->va; /* an address below the region wraps to a huge offset */
	if (base_unlikely(mr->key != key || mr->pd != qp->pd ||
			  (mr->binder != 0 && mr->binder != qp->binder) || /* R-MW-08 */
			  *off > mr->bytes || bytes > mr->bytes - *off))
		return NULL;
	return mr;
}

uint8_t *
roce_mr_access(struct roce_shard *s, const struct roce_qp *qp, uint32_t key, uint64_t va,
	uint64_t bytes, uint32_t right)
{
	uint64_t off;
	const struct roce_mr *mr = mr_find(s, qp, key, va, bytes, &off);

	if (base_unlikely(mr == NULL || (mr->access & right) != right))
		return NULL;
	return mr->host + off;
}

uint8_t *
roce_mr_piece(struct roce_shard *s, const struct roce_qp *qp, uint32_t key, uint64_t va,
	uint32_t *bytes, uint32_t right)
{
	uint8_t *host = roce_mr_access(s, qp, key, va, *bytes, right);

	return base_likely(host != NULL) ? host : roce_frmr_piece(s, qp, key, va, bytes, right);
}

struct roce_mover *
roce_mr_mover(struct roce_shard *s, const struct roce_qp *qp, uint32_t key, uint64_t va,
	uint64_t bytes, uint32_t right)
{
	uint64_t off;
	const struct roce_mr *mr = mr_find(s, qp, key, va, bytes, &off);

	if (mr == NULL || (mr->kind != ROCE_MR_REGION && mr->kind != ROCE_MR_WINDOW) ||
		(mr->rights & right) != right)
		return NULL;
	return mr->mover;
}

/* A window has its region's iova, and the region stays as long as the window is bound. */
uint64_t
roce_mr_at(const struct roce_shard *s, uint32_t key, uint64_t va)
{
	const struct roce_mr *mr = &s->mrs[key >> ROCE_KEY_BITS];

	if (mr->kind == ROCE_MR_WINDOW)
		mr = &s->mrs[mr->region];
	return mr->at + (va - mr->va);
}

bool
roce_mr_permits(struct roce_shard *s, const struct roce_qp *qp, uint32_t key, uint64_t va,
	uint64_t bytes, uint32_t right)
{
	return roce_mr_access(s, qp, key, va, bytes, right) != NULL ||
	       roce_frmr_permits(s, qp, key, va, bytes, right) ||
	       roce_mr_mover(s, qp, key, va, bytes, right) != NULL;
}
