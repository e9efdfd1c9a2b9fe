/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small requests from moved memory. The daemon would command a copy of the bytes and wait for it;
 * copied at the post, into the request as inline data are or beside it (copies.c), they leave at
 * once. The application may not touch them before the request is done, so it sees no difference.
 * But a fence may wait for a read that is to bring them, so such a request stays as it is.
 *
 * Posts take no lock: regions stand in a table, at a place that follows from their token; of those
 * that share a place, the newest. A request from a region that is not found there is posted as it
 * is.
 */
#include <string.h>

#include "ndclient/mem/copies.h"
#include "ndclient/mem/moved.h"
#include "ndclient/mem/pd.h"
#include "ndclient/mem/region.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"

static struct nd_moved *
moved_place(struct nd_adapter *a, uint32_t token)
{
	return &a->moved[(token >> NDSH_TOKEN_KEY_BITS) % ND_MOVED];
}

/* A token is never given twice in a row, so a reader that finds the same token before and after has
 * read the fields that belong to it. */
void
nd_moved_add(const struct nd_mr *mr)
{
	struct nd_moved *m = moved_place(mr->pd->adapter, mr->token);

	__atomic_store_n(&m->token, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&m->pd, mr->pd->id, __ATOMIC_RELAXED);
	__atomic_store_n(&m->va, mr->va, __ATOMIC_RELAXED);
	__atomic_store_n(&m->iova_offset, mr->iova_offset, __ATOMIC_RELAXED);
	__atomic_store_n(&m->bytes, mr->bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&m->token, mr->token, __ATOMIC_RELEASE);
}

void
nd_moved_remove(const struct nd_mr *mr)
{
	struct nd_moved *m = moved_place(mr->pd->adapter, mr->token);

	if (__atomic_load_n(&m->token, __ATOMIC_RELAXED) == mr->token)
		__atomic_store_n(&m->token, 0, __ATOMIC_RELAXED);
}

static bool
moved_holds(const struct nd_qp *qp, const struct nd_sge *sge, struct nd_sge *place)
{
	const struct nd_moved *m = moved_place(qp->adapter, sge->token);
	uint64_t bytes, off;
	uintptr_t va, iova;
	uint32_t pd;

	if (sge->token == 0 || __atomic_load_n(&m->token, __ATOMIC_ACQUIRE) != sge->token)
		return false;
	pd = __atomic_load_n(&m->pd, __ATOMIC_RELAXED);
	va = __atomic_load_n(&m->va, __ATOMIC_RELAXED);
	iova = va + __atomic_load_n(&m->iova_offset, __ATOMIC_RELAXED);
	bytes = __atomic_load_n(&m->bytes, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	off = (uintptr_t)sge->buffer - iova; /* below: huge */
	*place = (struct nd_sge){(void *)(va + off), sge->bytes, sge->token};
	return __atomic_load_n(&m->token, __ATOMIC_RELAXED) == sge->token && pd == qp->pd->id &&
	       off <= bytes && sge->bytes <= bytes - off;
}

uint32_t
nd_moved_bytes(const struct nd_qp *qp, enum ndsh_op op, const struct nd_sge *sge, uint32_t n,
	uint32_t how, struct nd_sge *places)
{
	uint32_t sum = 0;

	if (op >= NDSH_OP_READ || (how & (NDSH_WRF_INLINE | NDSH_WRF_FENCE)))
		return ND_MOVED_NOT;
	for (uint32_t i = 0; i < n; i++) {
		if (sge[i].bytes > ND_COPY_MAX - sum || !moved_holds(qp, &sge[i], &places[i]))
			return ND_MOVED_NOT;
		sum += sge[i].bytes;
	}
	return n > 0 ? sum : ND_MOVED_NOT;
}
