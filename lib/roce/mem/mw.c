/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory windows of types 2B and 1 (IBTA volume 1, chapter 10): rights to a part of a region that
 * the peer of one queue pair, or of each one of the domain, has for a while. The table holds for a
 * bound window all that roce_mr_access() asks for; its region counts it, and if it is of type 2B
 * its queue pair lists it.
 */
#include "roce/mem/mw.h"

#include "roce/assert.h"
#include "roce/mem/mr.h"
#include "roce/qp/qp.h"
#include "roce/queue/cq.h"
#include "roce/queue/wqe.h"
#include "roce/shard/qpn.h"
#include "roce/shard/shard.h"

#define SECRET_DOMAIN 3u
#define AT_ONCE	      128u /* windows that one call unbinds: some 30 us if none is in the cache */
#define PART	      32u  /* ... of one queue pair, before it is another principal's turn */

static uint32_t
index_of(const struct roce_shard *s, const struct roce_mr *mw)
{
	return (uint32_t)(mw - s->mrs);
}

static struct roce_mr *
mw_take(struct roce_shard *s, uint32_t pd)
{
	struct roce_mr *mw = roce_mr_take(s, pd);

	if (mw == NULL)
		return NULL;
	mw->kind = ROCE_MR_WINDOW;
	s->usage.mws++;
	return mw;
}

/* A secret of its own for each life of a slot: its tokens have nothing to do with earlier ones. */
struct roce_mr *
roce_mw_create(struct roce_shard *s, uint32_t pd, uint32_t *slot, uint64_t *secret)
{
	struct roce_mr *mw = mw_take(s, pd);

	if (mw == NULL)
		return NULL;
	mw->type = NDSH_MW_DERIVED;
	mw->secret = roce_shard_random(s, SECRET_DOMAIN);
	*slot = index_of(s, mw);
	*secret = mw->secret;
	return mw;
}

/* The bits that stay are not all 0, or the client could choose token 0. */
struct roce_mr *
roce_mw_create_keyed(struct roce_shard *s, uint32_t pd, uint32_t type, uint32_t *token)
{
	struct roce_mr *mw = mw_take(s, pd);

	if (mw == NULL)
		return NULL;
	mw->type = (uint8_t)type;
	do
		mw->key = roce_mr_new_key(s, mw);
	while (mw->key >> NDSH_MW_CHOSEN_BITS == 0);
	*token = mw->key;
	return mw;
}

/* ---- what is bound through a queue pair ------------------------------------------------------ */

#define LIVES	   ((1u << (32 - ROCE_INDEX_BITS)) - 1)
#define FOR_A_LIFE 16u
static_assert((uint64_t)LIVES * FOR_A_LIFE >= 1u << ROCE_MR_BITS, "windows that there can be");

static uint32_t
index_of_binder(uint32_t binder)
{
	return binder & ((1u << ROCE_INDEX_BITS) - 1);
}

uint32_t
roce_mw_next_binder(uint32_t index, uint32_t binder)
{
	uint32_t life = (binder >> ROCE_INDEX_BITS) % LIVES + 1;

	return life << ROCE_INDEX_BITS | index;
}

static bool
is_let_go(const struct roce_shard *s, const struct roce_mr *mw)
{
	return mw->binder != 0 && mw->binder != s->qps[index_of_binder(mw->binder)].binder;
}

static struct roce_windows *
windows_of(const struct roce_shard *s, uint32_t binder)
{
	return &s->windows[index_of_binder(binder)];
}

static void
mw_unbind(struct roce_shard *s, struct roce_mr *mw)
{
	if (mw->type == NDSH_MW_TYPE_1)
		mw->bytes = 0;
	else
		roce_mr_ring_remove(s, &windows_of(s, mw->binder)->ring, mw);
	mw->access = 0;
	mw->rights = 0;
	mw->binder = 0;
	s->mrs[mw->region].windows--;
}

/* The oldest are those of the earliest binders. Returns how many. */
static uint32_t
unbind_oldest(struct roce_shard *s, struct roce_windows *v, uint32_t binder, uint32_t most)
{
	struct roce_mr *oldest;
	uint32_t n;

	for (n = 0; n < most && v->ring.count > 0; n++) {
		oldest = &s->mrs[s->mrs[v->ring.newest].prev];
		if (oldest->binder == binder)
			break;
		mw_unbind(s, oldest);
	}
	if (n < most)
		base_list_remove(&v->ended);
	return n;
}

/* ---- windows --------------------------------------------------------------------------------- */

void
roce_mw_destroy(struct roce_shard *s, struct roce_mr *mw)
{
	roce_assert(index_of(s, mw) < s->cfg.max_mrs && mw->kind == ROCE_MR_WINDOW);
	if (roce_mw_is_bound(mw))
		mw_unbind(s, mw);
	s->usage.mws--;
	roce_mr_give(s, mw);
}

/* W-MEM-05. No remote right of the region is asked for: the window is what grants it (R-MW-04). */
static bool
region_permits(const struct roce_mr *region, const struct roce_mr *mw, const struct roce_qp *qp,
	const struct roce_wqe *w)
{
	const struct roce_bind *b = &w->bind;
	uint32_t rights = region->access | region->rights;
	uint64_t off = w->raddr - region->va;

	if (region->kind != ROCE_MR_REGION || region->key != b->region || region->pd != qp->pd)
		return false;
	if (mw->type != NDSH_MW_DERIVED && !(rights & NDSH_ACCESS_WINDOW_BIND))
		return false;
	if ((b->access & (NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_REMOTE_ATOMIC)) &&
		!(rights & NDSH_ACCESS_LOCAL_WRITE))
		return false;
	return b->bytes > 0 && off <= region->bytes && b->bytes <= region->bytes - off;
}

/*
 * Each life of a queue pair that had windows had a bind. So when its numbers begin anew, this has
 * unbound as many windows of earlier lives as there can be.
 */
static void
unbind_for_lives(struct roce_shard *s, const struct roce_qp *qp)
{
	struct roce_windows *v = windows_of(s, qp->binder);

	if (base_unlikely(base_linked(&v->ended)))
		(void)unbind_oldest(s, v, qp->binder, FOR_A_LIFE);
}

/*
 * May the window have the token of w (W-MEM-01)? A derived one comes from the client's own library,
 * which also asks for no atomics, so there a wrong one is a breach. The client may choose bits of
 * others: with the rest of the token it names this window, and no other.
 */
static enum roce_bind_result
judge_token(const struct roce_shard *s, const struct roce_mr *mw, const struct roce_wqe *w)
{
	const struct roce_bind *b = &w->bind;

	if (mw->type != NDSH_MW_DERIVED)
		return (w->rkey ^ mw->key) >> NDSH_MW_CHOSEN_BITS == 0 ? ROCE_BIND_OK
								       : ROCE_BIND_REFUSED;
	if ((b->access & NDSH_ACCESS_REMOTE_ATOMIC) ||
		(int32_t)(b->generation - mw->generation) <= 0 ||
		w->rkey != ndsh_window_token(index_of(s, mw), mw->secret, b->generation))
		return ROCE_BIND_BREACH;
	return ROCE_BIND_OK;
}

/* Of a region that permits it. */
static void
mw_open(struct roce_shard *s, struct roce_mr *mw, struct roce_mr *region, const struct roce_wqe *w)
{
	const struct roce_bind *b = &w->bind;

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
	mw->region = index_of(s, region);
	region->windows++;
}

/* Type 2B: it must be free, and is the queue pair's. */
static bool
bind_to_qp(struct roce_shard *s, struct roce_mr *mw, struct roce_mr *region, struct roce_qp *qp,
	const struct roce_wqe *w)
{
	unbind_for_lives(s, qp);
	if (is_let_go(s, mw))
		mw_unbind(s, mw);
	if (mw->binder != 0 || region == NULL || !region_permits(region, mw, qp, w))
		return false;
	mw_open(s, mw, region, w);
	mw->binder = qp->binder;
	roce_mr_ring_add(s, &windows_of(s, qp->binder)->ring, mw);
	return true;
}

/* Type 1 (W-MEM-04): it has another key each time, also when no bytes unbind it. A bind that is
 * refused leaves it as it is. */
static bool
bind_to_domain(struct roce_shard *s, struct roce_mr *mw, struct roce_mr *region,
	const struct roce_qp *qp, const struct roce_wqe *w)
{
	bool unbinds = w->bind.bytes == 0;

	if (w->rkey == mw->key)
		return false;
	if (!unbinds && (region == NULL || !region_permits(region, mw, qp, w)))
		return false;
	if (roce_mw_is_bound(mw))
		mw_unbind(s, mw);
	if (unbinds)
		mw->key = w->rkey;
	else
		mw_open(s, mw, region, w);
	return true;
}

/* Whether the slot is a window of this PD, and free, may change without the client's knowledge: a
 * request that finds it otherwise fails. */
enum roce_bind_result
roce_mw_bind(struct roce_shard *s, struct roce_qp *qp, const struct roce_wqe *w)
{
	struct roce_mr *mw = roce_mr_slot(s, w->rkey), *region = roce_mr_slot(s, w->bind.region);
	enum roce_bind_result token;
	bool bound;

	if (mw == NULL || mw->kind != ROCE_MR_WINDOW || mw->pd != qp->pd)
		return ROCE_BIND_REFUSED;
	token = judge_token(s, mw, w);
	if (token != ROCE_BIND_OK)
		return token;
	if (mw->type == NDSH_MW_TYPE_1)
		bound = bind_to_domain(s, mw, region, qp, w);
	else
		bound = bind_to_qp(s, mw, region, qp, w);
	return bound ? ROCE_BIND_OK : ROCE_BIND_REFUSED;
}

/* W-INV-02: never what belongs to another queue pair, or to none. */
bool
roce_mw_invalidate(struct roce_shard *s, struct roce_qp *qp, struct roce_mr *mw)
{
	if (mw->binder != qp->binder)
		return false;
	mw_unbind(s, mw);
	return true;
}

/* ---- the end of a queue pair ----------------------------------------------------------------- */

bool
roce_mw_keeps(const struct roce_shard *s, const struct roce_qp *qp)
{
	const struct roce_windows *v = windows_of(s, qp->binder);

	return v->ring.count > 0 && s->mrs[v->ring.newest].binder == qp->binder;
}

/* R-MW-10 */
void
roce_mw_let_go(struct roce_shard *s, struct roce_qp *qp)
{
	if (!roce_mw_keeps(s, qp))
		return;
	roce_line_join(
		s, qp->send_cq->client, ROCE_LINE_WINDOWS, &windows_of(s, qp->binder)->ended);
	qp->binder = roce_mw_next_binder(index_of_binder(qp->binder), qp->binder);
}

bool
roce_mw_unbind(struct roce_shard *s, const struct roce_qp *qp)
{
	struct roce_windows *v = windows_of(s, qp->binder);

	(void)unbind_oldest(s, v, qp->binder, AT_ONCE);
	return !base_linked(&v->ended);
}

static uint32_t
unbind_ended(struct roce_shard *s, struct base_link *ended, uint32_t most)
{
	struct roce_windows *v = base_container(ended, struct roce_windows, ended);

	return unbind_oldest(s, v, s->qps[v - s->windows].binder, most);
}

void
roce_mw_unbind_list(struct roce_shard *s)
{
	(void)roce_line_serve(s, ROCE_LINE_WINDOWS, AT_ONCE, PART, unbind_ended);
}
