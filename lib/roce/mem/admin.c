/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registrations by a ring. A request is judged from a private copy of it, against tables that only
 * the host writes: whatever it says, it can register no memory but the client's own, and deregister
 * no region that is not of a domain of the client. A wrong one is answered with an error, and has
 * no other effect.
 */
#include "roce/mem/admin.h"

#include <string.h>

#include "roce/assert.h"
#include "roce/mem/arena.h"
#include "roce/mem/mover.h"
#include "roce/mem/mr.h"
#include "roce/mem/mw.h"
#include "roce/queue/cq.h"
#include "roce/shard/shard.h"
#include "shm/ndsh_op.h"

#define PURGE 128u /* regions that one call deregisters: some 30 us if none is in the cache */

void
roce_admin_init(struct roce_admin *a, uint32_t max)
{
	a->left = max;
	a->arena.extent = a->range;
}

void
roce_admin_open(struct roce_admin *a, void *base, uint32_t depth, struct roce_cq *cq)
{
	ndsh_admin_view(&a->ring, base, depth);
	a->cq = cq;
}

void
roce_admin_set_mover(struct roce_admin *a, struct roce_mover *m)
{
	a->mover = m;
}

void
roce_admin_close(struct roce_admin *a)
{
	a->cq = NULL;
}

bool
roce_admin_take(struct roce_admin *a)
{
	if (a->left == 0 ||
		(a->share != NULL && base_share_take(a->pool, a->share, 1) != BASE_GRANTED))
		return false;
	a->left--;
	return true;
}

void
roce_admin_give(struct roce_admin *a)
{
	a->left++;
	if (a->share != NULL)
		base_share_give(a->pool, a->share, 1);
}

void
roce_admin_share(struct roce_admin *a, struct base_pool *pool, struct base_share *share)
{
	a->pool = pool;
	a->share = share;
}

/* ---- memory and domains --------------------------------------------------------------------- */

bool
roce_admin_add_range(struct roce_admin *a, uint64_t va, uint64_t bytes, void *host)
{
	uint32_t at = roce_arena_above(&a->arena, va);

	if (a->arena.count == ROCE_ADMIN_RANGES || bytes == 0 || va + bytes < va ||
		(at > 0 && va - a->range[at - 1].va < a->range[at - 1].bytes) ||
		(at < a->arena.count && a->range[at].va - va < bytes))
		return false;
	memmove(&a->range[at + 1], &a->range[at], (a->arena.count - at) * sizeof(a->range[0]));
	a->range[at] = (struct roce_extent){.va = va, .bytes = bytes, .host = host};
	a->arena.count++;
	return true;
}

bool
roce_admin_remove_range(struct roce_admin *a, uint64_t va)
{
	struct roce_extent *r = roce_arena_find(&a->arena, va, 1);
	uint32_t at;

	if (r == NULL || r->va != va)
		return true;
	if (r->regions != 0)
		return false;
	at = (uint32_t)(r - a->range);
	a->arena.count--;
	memmove(r, r + 1, (a->arena.count - at) * sizeof(*r));
	return true;
}

void
roce_admin_add_pd(struct roce_admin *a, uint32_t handle, uint32_t pd)
{
	a->pd[handle % ROCE_ADMIN_PDS].handle = handle;
	a->pd[handle % ROCE_ADMIN_PDS].engine = pd;
}

void
roce_admin_remove_pd(struct roce_admin *a, uint32_t handle)
{
	a->pd[handle % ROCE_ADMIN_PDS].engine = 0;
}

/* The engine's number of a domain of this client; 0: it has none of that name. */
static uint32_t
pd_of(const struct roce_admin *a, uint32_t handle)
{
	uint32_t i = handle % ROCE_ADMIN_PDS;

	return a->pd[i].handle == handle ? a->pd[i].engine : 0;
}

/* ---- requests -------------------------------------------------------------------------------- */

static enum ndsh_admin_status
register_region(struct roce_shard *s, struct roce_admin *a, const struct ndsh_admin_request *q,
	bool moved, uint32_t *token)
{
	struct roce_extent *range = roce_arena_find(&a->arena, q->va, q->bytes);
	uint64_t iova = q->va + q->iova_offset;
	uint32_t pd = pd_of(a, q->pd);
	struct roce_mr *mr;

	if (pd == 0 || q->bytes == 0 || !ndsh_access_ok(q->access) ||
		(q->iova_offset != 0 && iova + q->bytes < iova))
		return NDSH_ADMIN_BAD;
	if (moved ? a->mover == NULL || q->va + q->bytes < q->va : range == NULL)
		return NDSH_ADMIN_RANGE;
	if (!roce_admin_take(a))
		return NDSH_ADMIN_FULL;
	if (moved)
		mr = roce_mr_register_moved(s, pd, iova, q->bytes, a->mover, q->access);
	else
		mr = roce_mr_register(
			s, pd, iova, q->bytes, range->host + (q->va - range->va), q->access);
	if (mr == NULL) {
		roce_admin_give(a);
		return NDSH_ADMIN_FULL;
	}
	mr->at = q->va;
	if (!moved)
		range->regions++;
	roce_mr_ring_add(s, &a->regions, mr);
	*token = roce_mr_key(mr);
	return NDSH_ADMIN_OK;
}

static bool
region_drop(struct roce_shard *s, struct roce_admin *a, struct roce_mr *mr)
{
	bool moved = mr->rights != 0;
	struct roce_extent *range = roce_arena_find(&a->arena, mr->at, 1);

	if (mr->windows > 0)
		return false;
	roce_mr_ring_remove(s, &a->regions, mr);
	(void)roce_mr_deregister(s, mr);
	roce_assert(moved || (range != NULL && range->regions > 0));
	if (!moved)
		range->regions--;
	roce_admin_give(a);
	return true;
}

/* Domains belong to one client each: a client that names the region's domain owns the region. */
static enum ndsh_admin_status
deregister_region(struct roce_shard *s, struct roce_admin *a, const struct ndsh_admin_request *q)
{
	struct roce_mr *mr = roce_mr_slot(s, q->token);
	uint32_t pd = pd_of(a, q->pd);

	if (pd == 0 || mr == NULL || mr->kind != ROCE_MR_REGION || mr->key != q->token ||
		mr->pd != pd)
		return NDSH_ADMIN_BAD;
	return region_drop(s, a, mr) ? NDSH_ADMIN_OK : NDSH_ADMIN_BUSY;
}

static void
admin_execute(struct roce_shard *s, struct roce_admin *a, const struct ndsh_admin_request *q)
{
	uint32_t op = q->ctrl & ~NDSH_CTRL_PHASE;
	enum ndsh_admin_status status = NDSH_ADMIN_BAD;
	struct ndsh_cqe answer = {.context = q->context, .slot_count = a->ring.next};

	if (op == NDSH_ADMIN_REGISTER || op == NDSH_ADMIN_REGISTER_MOVED)
		status = register_region(s, a, q, op == NDSH_ADMIN_REGISTER_MOVED, &answer.data);
	else if (op == NDSH_ADMIN_DEREGISTER)
		status = deregister_region(s, a, q);
	answer.status = (uint8_t)status;
	answer.op = (uint8_t)op;
	roce_cq_push(s, a->cq, &answer);
}

/* Windows that a queue pair has let go at its end still count for their regions: requests wait
 * until they are unbound, so that no client sees that (R-MW-10). */
unsigned
roce_admin_serve(struct roce_shard *s, struct roce_admin *a, unsigned budget)
{
	struct ndsh_admin_request q;
	unsigned n;

	if (base_unlikely(a->cq != NULL && roce_mw_unbinding(a->cq->client)))
		return budget;
	for (n = 0; n < budget && a->cq != NULL && ndsh_admin_fetch(&a->ring, &q); n++)
		admin_execute(s, a, &q);
	return n;
}

bool
roce_admin_purge(struct roce_shard *s, struct roce_admin *a)
{
	for (unsigned n = 0; n < PURGE && a->regions.count > 0; n++)
		if (!region_drop(s, a, &s->mrs[a->regions.newest]))
			break;
	return a->regions.count == 0;
}
