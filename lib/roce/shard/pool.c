/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools of a shard: requests in flight, and their extensions. */
#include "roce/shard/pool.h"

#include "base/share.h"
#include "roce/assert.h"
#include "roce/queue/wqe.h"
#include "roce/shard/shard.h"
#include "shm/ndsh_op.h"

#define DROP_AT_ONCE 256u /* requests in flight freed by one call: some 10 us */
#define GROW	     16u  /* taken from the pool at a time */
/* Instead of BASE_FAIR_FACTOR: one principal alone sends with three quarters. */
#define SENDS_FACTOR 3

/* Requests to send leave some of what is shared to receives, as they do of each reserve. */
static void
pool_set_leave(struct roce_pool *pool)
{
	pool->sends_leave = (int32_t)((pool->total - pool->reserved + 7) / 8);
}

void
roce_pool_init(struct roce_pool *pool, uint32_t total)
{
	*pool = (struct roce_pool){.total = total, .shared = (int32_t)total};
	pool_set_leave(pool);
}

void
roce_pool_reserve(struct roce_pool *pool, uint32_t n)
{
	pool->reserved += n;
	pool->shared -= (int32_t)n;
	pool_set_leave(pool);
}

void
roce_pool_release(struct roce_pool *pool, uint32_t n)
{
	roce_assert(n <= pool->reserved);
	pool->reserved -= n;
	pool->shared += (int32_t)n;
	pool_set_leave(pool);
}

/* ---- what a share holds ---------------------------------------------------------------------- */

static uint32_t
share_sum(const struct roce_share *share)
{
	return share->held[ROCE_SIDE_SEND] + share->held[ROCE_SIDE_RECV];
}

static bool
share_has_reserve(const struct roce_share *share, enum roce_side side)
{
	return share->held[side] < share->reserve[side];
}

static uint32_t
share_beyond(const struct roce_share *share, enum roce_side side)
{
	return share_has_reserve(share, side) ? 0 : share->held[side] - share->reserve[side];
}

/* Has it all that it may have, whatever the pool has? */
static bool
share_is_full(const struct roce_share *share, enum roce_side side)
{
	return !share_has_reserve(share, side) && share->cap[side] != ROCE_CAP_FAIR &&
	       share_sum(share) >= share->cap[side];
}

/* Or as much as is fair? Requests to send stop earlier, so that they leave some to the receives of
 * their own principal, too. */
static bool
share_is_fair(const struct roce_pool *pool, const struct roce_share *share, enum roce_side side)
{
	uint32_t beyond = share_beyond(share, ROCE_SIDE_SEND) + share_beyond(share, ROCE_SIDE_RECV);
	uint32_t left = pool->shared > 0 ? (uint32_t)pool->shared : 0;

	return share->cap[side] != ROCE_CAP_FAIR ||
	       base_share_has_room(
		       beyond, left, 0, side == ROCE_SIDE_SEND ? SENDS_FACTOR : BASE_FAIR_FACTOR);
}

/* A new reserve may be of ones that others hold: so all may be held before it is used up. */
static bool
share_may_grow(const struct roce_pool *pool, const struct roce_share *share, enum roce_side side)
{
	if (pool->held == pool->total || share_is_full(share, side))
		return false;
	return share_has_reserve(share, side) ||
	       (share_is_fair(pool, share, side) &&
		       pool->shared > (side == ROCE_SIDE_SEND ? pool->sends_leave : 0));
}

bool
roce_share_has(const struct roce_pool *pool, const struct roce_share *share, enum roce_side side)
{
	return share->spare[side] > 0 || share_may_grow(pool, share, side);
}

void
roce_pool_refused(struct roce_shard *s, const struct roce_principal *p, enum roce_pool_kind kind)
{
	const struct roce_share *share = &p->share[kind];

	if (share_sum(share) >= share->cap[ROCE_SIDE_SEND] ||
		!share_is_fair(&s->pool[kind], share, ROCE_SIDE_SEND))
		s->count.wqe_share_full++;
	else
		s->count.wqe_pool_empty++;
}

void
roce_share_settle(struct roce_pool *pool, struct roce_share *share)
{
	for (unsigned side = 0; side < ROCE_SIDES; side++) {
		uint32_t n = share->spare[side], beyond = share_beyond(share, side);

		share->spare[side] = 0;
		share->held[side] -= n;
		pool->held -= n;
		pool->shared += (int32_t)(n < beyond ? n : beyond);
	}
}

static void
share_tighten(struct roce_pool *pool, struct roce_share *share)
{
	share->tight = true;
	roce_share_settle(pool, share);
}

/* It takes time for each principal, and is due again only after half of the pool was free. */
static void
pool_tighten(struct roce_shard *s, enum roce_pool_kind kind)
{
	if (s->pool[kind].tight)
		return;
	for (struct base_link *l = s->principals.next; l != &s->principals; l = l->next)
		share_tighten(&s->pool[kind],
			&base_container(l, struct roce_principal, link)->share[kind]);
	s->pool[kind].tight = true;
}

/* Not while queue pairs wait: what comes back may be for them. */
static bool
share_may_relax(const struct roce_shard *s, const struct roce_pool *pool,
	const struct roce_share *share, enum roce_side side)
{
	return 2 * (uint64_t)share_sum(share) < share->cap[side] &&
	       2 * (int64_t)pool->shared > pool->total - pool->reserved &&
	       base_list_empty(&s->starving);
}

bool
roce_share_grow(struct roce_shard *s, struct roce_principal *p, enum roce_pool_kind kind,
	enum roce_side side)
{
	struct roce_pool *pool = &s->pool[kind];
	struct roce_share *share = &p->share[kind];
	uint32_t n;

	if (share->tight && share_may_relax(s, pool, share, side))
		share->tight = pool->tight = false;
	if (!share_may_grow(pool, share, side))
		share_tighten(pool, share);
	if (!share_may_grow(pool, share, side) && !share_is_full(share, side))
		pool_tighten(s, kind);
	for (n = share->tight ? 1 : GROW; n > 0 && share_may_grow(pool, share, side); n--) {
		pool->shared -= !share_has_reserve(share, side);
		pool->held++;
		share->held[side]++;
		share->spare[side]++;
	}
	return share->spare[side] > 0;
}

/* ---- what is in use -------------------------------------------------------------------------- */

bool
roce_ext_alloc(
	struct roce_shard *s, struct roce_principal *p, enum roce_side side, struct roce_wqe *w)
{
	if (!roce_share_take(s, p, ROCE_POOL_EXTS, side))
		return false;
	w->ext = s->ext_free;
	s->ext_free = w->ext->next;
	s->exts_left--;
	return true;
}

void
roce_ext_free(
	struct roce_shard *s, struct roce_principal *p, enum roce_side side, struct roce_wqe *w)
{
	w->ext->next = s->ext_free;
	s->ext_free = w->ext;
	w->ext = NULL;
	s->exts_left++;
	roce_share_give(s, p, ROCE_POOL_EXTS, side);
}

static void
dropped_free(struct roce_shard *s, struct roce_principal *p)
{
	struct roce_wqe *w;

	for (unsigned n = 0; n < DROP_AT_ONCE && (w = p->dropped) != NULL; n++) {
		p->dropped = w->next;
		roce_wqe_free(s, p, ROCE_SIDE_SEND, w);
	}
	base_list_remove(&p->dropping);
	if (p->dropped != NULL)
		base_list_append(&s->dropping, &p->dropping);
}

void
roce_wqes_drop(struct roce_shard *s, struct roce_principal *p, struct roce_wqe *first,
	struct roce_wqe *last)
{
	last->next = p->dropped;
	p->dropped = first;
	dropped_free(s, p);
}

void
roce_wqes_drop_next(struct roce_shard *s)
{
	dropped_free(s, base_container(s->dropping.next, struct roce_principal, dropping));
}

uint32_t
roce_wqes_in_use(const struct roce_shard *s)
{
	uint32_t n = 0;

	for (const struct base_link *l = s->principals.next; l != &s->principals; l = l->next) {
		const struct roce_principal *p = base_container(l, struct roce_principal, link);
		for (unsigned side = 0; side < ROCE_SIDES; side++)
			n += roce_share_used(&p->share[ROCE_POOL_WQES], side);
	}
	return n;
}

struct roce_wqe *
roce_wqe_for_probe(struct roce_shard *s, struct roce_principal *p)
{
	struct roce_wqe *w = roce_wqe_alloc(s, p, ROCE_SIDE_SEND);

	if (w == NULL)
		return NULL;
	*w = (struct roce_wqe){
		.op = NDSH_OP_WRITE, .flags = NDSH_WRF_SILENT, .bits = ROCE_WQB_PROBE};
	return w;
}
