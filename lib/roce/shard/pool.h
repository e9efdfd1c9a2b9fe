/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shard's pools of requests in flight (struct roce_wqe) and of their extensions. A principal
 * may take from them if its reserve is not used up, or if it is below its cap as long as what
 * nobody has reserved lasts. Each request to send or receive takes one roce_wqe; few need an
 * extension, too.
 *
 * A request costs one counter: a principal takes several at a time, and keeps those that come back
 * as spare ones. When a request is refused, spare ones go back to the pool, and from then on each
 * goes back at once (the share is tight) until half of the pool is free again. So whatever may be
 * taken at all, also of what another principal has spare, can be taken.
 */
#ifndef ROCE_POOL_H
#define ROCE_POOL_H

#include "base/compiler.h"
#include "roce/queue/wqe.h"
#include "roce/shard/shard.h"

/* How many extensions a shard has: most requests have few SGEs. */
static inline uint32_t
roce_pool_exts(const struct roce_shard_cfg *cfg)
{
	return cfg->max_wqes / 8 + 2;
}

void roce_pool_init(struct roce_pool *pool, uint32_t total);
/* So many more are, or are no more, promised to one principal. */
void roce_pool_reserve(struct roce_pool *pool, uint32_t n);
void roce_pool_release(struct roce_pool *pool, uint32_t n);

/* Is there one more for this side of the share, or a spare one? */
bool roce_share_has(
	const struct roce_pool *pool, const struct roce_share *share, enum roce_side side);

/* May a principal that was refused one take a roce_wqe; an extension? */
static inline bool
roce_wqe_is_left(const struct roce_shard *s, const struct roce_principal *p, enum roce_side side)
{
	return roce_share_has(&s->pool[ROCE_POOL_WQES], &p->share[ROCE_POOL_WQES], side);
}

static inline bool
roce_ext_is_left(const struct roce_shard *s, const struct roce_principal *p, enum roce_side side)
{
	return roce_share_has(&s->pool[ROCE_POOL_EXTS], &p->share[ROCE_POOL_EXTS], side);
}

/* There was none, in this pool: is it the principal's own share that is used up? It is counted. */
void roce_pool_refused(
	struct roce_shard *s, const struct roce_principal *p, enum roce_pool_kind kind);

/* There is no spare one on this side: take some of the pool. False: none is left. */
bool roce_share_grow(struct roce_shard *s, struct roce_principal *p, enum roce_pool_kind kind,
	enum roce_side side);
/* Its spare ones go back. */
void roce_share_settle(struct roce_pool *pool, struct roce_share *share);

/* False: there is none, and nothing is changed. */
BASE_INLINE bool
roce_share_take(struct roce_shard *s, struct roce_principal *p, enum roce_pool_kind kind,
	enum roce_side side)
{
	struct roce_share *share = &p->share[kind];

	if (base_unlikely(share->spare[side] == 0) && !roce_share_grow(s, p, kind, side))
		return false;
	share->spare[side]--;
	return true;
}

BASE_INLINE void
roce_share_give(struct roce_shard *s, struct roce_principal *p, enum roce_pool_kind kind,
	enum roce_side side)
{
	struct roce_share *share = &p->share[kind];

	share->spare[side]++;
	if (base_unlikely(share->tight))
		roce_share_settle(&s->pool[kind], share);
}

/* An extension for w, which is of p; false: none is left for it. */
bool roce_ext_alloc(
	struct roce_shard *s, struct roce_principal *p, enum roce_side side, struct roce_wqe *w);

/* A roce_wqe without an extension, as all are that are free; NULL: none is left for p. */
BASE_INLINE struct roce_wqe *
roce_wqe_alloc(struct roce_shard *s, struct roce_principal *p, enum roce_side side)
{
	struct roce_wqe *w;

	if (base_unlikely(!roce_share_take(s, p, ROCE_POOL_WQES, side)))
		return NULL;
	w = s->wqe_free;
	s->wqe_free = w->next;
	w->next = NULL;
	return w;
}

void roce_ext_free(
	struct roce_shard *s, struct roce_principal *p, enum roce_side side, struct roce_wqe *w);

/* Back to the principal and side that it was taken for. */
BASE_INLINE void
roce_wqe_free(
	struct roce_shard *s, struct roce_principal *p, enum roce_side side, struct roce_wqe *w)
{
	if (base_unlikely(w->ext != NULL))
		roce_ext_free(s, p, side, w);
	roce_share_give(s, p, ROCE_POOL_WQES, side);
	w->next = s->wqe_free;
	s->wqe_free = w;
}

/* The requests from first to last vanish, at once from the queue pair, and little by little from
 * the share of p: its slots are in use until then. */
void roce_wqes_drop(struct roce_shard *s, struct roce_principal *p, struct roce_wqe *first,
	struct roce_wqe *last);
/* Free some of those that were dropped; there are some. */
void roce_wqes_drop_next(struct roce_shard *s);
/* True: there were any. */
static inline bool
roce_wqes_drop_some(struct roce_shard *s)
{
	if (base_likely(base_list_empty(&s->dropping)))
		return false;
	roce_wqes_drop_next(s);
	return true;
}

/* By all principals. */
uint32_t roce_wqes_in_use(const struct roce_shard *s);
/* An empty WRITE that no client posted; NULL: no roce_wqe is left for p. */
struct roce_wqe *roce_wqe_for_probe(struct roce_shard *s, struct roce_principal *p);

#endif
