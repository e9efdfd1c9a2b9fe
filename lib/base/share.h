/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pool of something that can run out, and one principal's share of it. What a share is guaranteed
 * (its reserve) is taken out of the pool from the beginning, so a reserve is there whatever the
 * others do.
 */
#ifndef BASE_SHARE_H
#define BASE_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#define BASE_SHARE_FAIR	 UINT64_MAX /* as limit: no number, but a part of what is left */
#define BASE_FAIR_FACTOR 7u

struct base_pool {
	uint64_t total;
	uint64_t promised; /* of each share: its use, or its reserve if that is more */
};

struct base_share {
	uint64_t used, reserve;
	uint64_t limit; /* or BASE_SHARE_FAIR */
	uint64_t refused;
};

enum base_grant {
	BASE_GRANTED,
	BASE_OVER_LIMIT,
	BASE_OVER_FAIR,
	BASE_NONE_LEFT,
};

/* How much of the pool a share takes that uses so much. */
static inline uint64_t
base_share_promised(const struct base_share *s, uint64_t used)
{
	return used > s->reserve ? used : s->reserve;
}

/* A share begins, with a reserve. False: the pool has not so much. */
static inline bool
base_share_begin(struct base_pool *pool, struct base_share *s, uint64_t reserve, uint64_t limit)
{
	*s = (struct base_share){.limit = limit};
	if (reserve > pool->total - pool->promised)
		return false;
	s->reserve = reserve;
	pool->promised += reserve;
	return true;
}

/* It ends, whatever is in use of it. */
static inline void
base_share_end(struct base_pool *pool, struct base_share *s)
{
	pool->promised -= base_share_promised(s, s->used);
	*s = (struct base_share){0};
}

/*
 * Take n. Up to its reserve a share always may. Beyond that there must be something left in the
 * pool, and the limit holds; a fair limit is BASE_FAIR_FACTOR times what is left then. So one share
 * alone gets seven eighths, k shares get 7 / (7k + 1) of the pool each, and something is left for
 * one more if the pool is large enough.
 */
static inline enum base_grant
base_share_take(struct base_pool *pool, struct base_share *s, uint64_t n)
{
	uint64_t left = pool->total - pool->promised, beyond, more;

	if (s->limit != BASE_SHARE_FAIR && n > s->limit - s->used)
		return BASE_OVER_LIMIT;
	if (n > pool->total - s->used)
		return BASE_NONE_LEFT;
	beyond = base_share_promised(s, s->used + n) - s->reserve;
	more = base_share_promised(s, s->used + n) - base_share_promised(s, s->used);
	if (more > left)
		return BASE_NONE_LEFT;
	/* That is: beyond <= factor * (left - more + 1), which could overflow. */
	if (more != 0 && s->limit == BASE_SHARE_FAIR &&
		(beyond - 1) / BASE_FAIR_FACTOR > left - more)
		return BASE_OVER_FAIR;
	s->used += n;
	pool->promised += more;
	return BASE_GRANTED;
}

/*
 * The same without reserves and without a share to keep: of room, of which so many are used, may a
 * holder that has held have one more? Yes, while it has less than weight times what is still free.
 * So a holder that takes all it can leaves 1 / (weight + 1) of the room, two leave
 * 1 / (2 weight + 1), and the next one finds something, however many came before; nothing is kept
 * for those that don't come (Choudhury, Hahne: dynamic queue length thresholds).
 */
static inline bool
base_share_has_room(uint32_t held, uint32_t room, uint32_t used, uint32_t weight)
{
	return used < room && held < (uint64_t)weight * (room - used);
}

/* How many more it may have by that rule, if nobody else takes any. */
static inline uint32_t
base_share_left(uint32_t held, uint32_t room, uint32_t used, uint32_t weight)
{
	const uint64_t most = (uint64_t)weight * (room - used);

	return held < most ? (uint32_t)((most - held + weight) / (weight + 1)) : 0;
}

/* Give back n of what was taken. */
static inline void
base_share_give(struct base_pool *pool, struct base_share *s, uint64_t n)
{
	pool->promised -= base_share_promised(s, s->used) - base_share_promised(s, s->used - n);
	s->used -= n;
}

#endif
