/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory windows of type 2B (IBTA volume 1, chapter 10): rights to a part of a region that the peer
 * of one queue pair has for a while. The table holds for a bound window all that roce_mr_access()
 * asks for; its region counts it, its queue pair lists it.
 */
#include "roce/mem/mw.h"

#include "roce/assert.h"
#include "roce/mem/mr.h"
#include "roce/qp/qp.h"
#include "roce/queue/wqe.h"
#include "roce/shard/qpn.h"
#include "roce/shard/shard.h"

#define SECRET_DOMAIN 3u

static uint32_t
index_of(const struct roce_shard *s, const struct roce_mr *mw)
{
	return (uint32_t)(mw - s->mrs);
}

/* A secret of its own for each life of a slot: its tokens have nothing to do with earlier ones. */
struct roce_mr *
roce_mw_create(struct roce_shard *s, uint32_t pd, uint32_t *slot, uint64_t *secret)
{
	struct roce_mr *mw = roce_mr_take(s, pd);

	if (mw == NULL)
		return NULL;
	mw->kind = ROCE_MR_WINDOW;
	mw->secret = roce_shard_random(s, SECRET_DOMAIN);
	*slot = index_of(s, mw);
	*secret = mw->secret;
	s->usage.mws++;
	return mw;
}

static void
qp_windows_add(struct roce_shard *s, struct roce_qp *qp, struct roce_mr *mw)
{
	mw->prev = ROCE_NONE;
	mw->next = qp->windows;
	if (mw->next != ROCE_NONE)
		s->mrs[mw->next].prev = index_of(s, mw);
	qp->windows = index_of(s, mw);
}

static void
qp_windows_remove(struct roce_shard *s, struct roce_qp *qp, const struct roce_mr *mw)
{
	if (mw->prev != ROCE_NONE)
		s->mrs[mw->prev].next = mw->next;
	else
		qp->windows = mw->next;
	if (mw->next != ROCE_NONE)
		s->mrs[mw->next].prev = mw->prev;
}

static void
mw_unbind(struct roce_shard *s, struct roce_qp *qp, struct roce_mr *mw)
{
	mw->access = 0;
	mw->rights = 0;
	mw->qpn = 0;
	s->mrs[mw->region].windows--;
	qp_windows_remove(s, qp, mw);
}

void
roce_mw_destroy(struct roce_shard *s, struct roce_mr *mw)
{
	roce_assert(index_of(s, mw) < s->cfg.max_mrs && mw->kind == ROCE_MR_WINDOW);
	if (mw->qpn != 0)
		mw_unbind(s, roce_qp_find(s, mw->qpn), mw);
	s->usage.mws--;
	roce_mr_give(s, mw);
}

/* W-MEM-05. No remote right of the region is asked for: the window is what grants it (R-MW-04). */
static bool
region_permits(const struct roce_mr *region, const struct roce_qp *qp, const struct roce_wqe *w)
{
	const struct roce_bind *b = &w->bind;
	uint64_t off = w->raddr - region->va;

	if (region->kind != ROCE_MR_REGION || region->key != b->region || region->pd != qp->pd)
		return false;
	if ((b->access & NDSH_ACCESS_REMOTE_WRITE) &&
		!((region->access | region->rights) & NDSH_ACCESS_LOCAL_WRITE))
		return false;
	return b->bytes > 0 && off <= region->bytes && b->bytes <= region->bytes - off;
}

/*
 * Whether the slot is a window of this PD, and free, may change without the client's knowledge: a
 * request that finds it otherwise fails. The token was derived by the client's own library, so a
 * wrong one is a breach.
 */
enum roce_bind_result
roce_mw_bind(struct roce_shard *s, struct roce_qp *qp, const struct roce_wqe *w)
{
	const struct roce_bind *b = &w->bind;
	struct roce_mr *mw = roce_mr_slot(s, w->rkey), *region = roce_mr_slot(s, b->region);

	if (mw == NULL || mw->kind != ROCE_MR_WINDOW || mw->pd != qp->pd)
		return ROCE_BIND_REFUSED;
	if ((int32_t)(b->generation - mw->generation) <= 0 ||
		w->rkey != ndsh_window_token(index_of(s, mw), mw->secret, b->generation))
		return ROCE_BIND_BREACH;
	if (mw->qpn != 0 || region == NULL || !region_permits(region, qp, w))
		return ROCE_BIND_REFUSED;
	mw->generation = b->generation;
	mw->key = w->rkey;
	mw->va = w->raddr;
	mw->bytes = b->bytes;
	if (region->rights != 0) {
		mw->mover = region->mover;
		mw->rights = (uint8_t)b->access;
	} else {
		mw->host = region->host + (w->raddr - region->va);
		mw->access = (uint8_t)b->access;
	}
	mw->qpn = qp->qpn;
	mw->region = index_of(s, region);
	region->windows++;
	qp_windows_add(s, qp, mw);
	return ROCE_BIND_OK;
}

/* W-INV-02: never what belongs to another queue pair. */
bool
roce_mw_invalidate(struct roce_shard *s, struct roce_qp *qp, struct roce_mr *mw)
{
	if (mw->qpn != qp->qpn)
		return false;
	mw_unbind(s, qp, mw);
	return true;
}

/* R-MW-10 */
void
roce_mw_unbind_all(struct roce_shard *s, struct roce_qp *qp)
{
	while (qp->windows != ROCE_NONE)
		mw_unbind(s, qp, &s->mrs[qp->windows]);
}
