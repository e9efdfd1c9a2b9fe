/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When memory is adopted that nobody asked to be adopted. Whether it is safe is safe.c's; here is
 * what it costs. An adoption takes as long as hundreds of registrations, and a look at the process
 * as tens: a program that registers for each transfer must not pay that each time. And what is
 * adopted is taken from what the session may have.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ndclient/mem/adopt.h"
#include "ndclient/mem/by_default.h"
#include "ndclient/mem/safe.h"
#include "ndclient/mem/segment.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/futex.h"

#define RANGES_MAX   128u /* a look at the process takes longer with each; a segment each, too */
#define SMALL_MAX    32u  /* of them: large ones gain more */
#define BYTES_MAX    (256ull << 20)
#define BRIEF_MS     1000u /* memory that was adopted for less did not pay */
#define BRIEF_RANGES 3u	   /* one after the other */
#define LOOK_MS	     100u  /* a refusal is safe however long it holds */

static enum nd_adopt_wish wish_by_default = ND_WISH_DEFAULT;
static pthread_once_t wish_known = PTHREAD_ONCE_INIT;

static void
wish_learn(void)
{
	const char *env = secure_getenv("NDD_ADOPT");

	if (env != NULL && strcmp(env, "never") == 0)
		wish_by_default = ND_WISH_NOT;
	else if (env != NULL && strcmp(env, "always") == 0)
		wish_by_default = ND_WISH_ASKED;
}

enum nd_adopt_wish
nd_default_wish(uint32_t flags)
{
	if (flags & ND_MR_FLAG_DO_NOT_ADOPT)
		return ND_WISH_NOT;
	if (flags & (ND_MR_FLAG_ADOPT | ND_MR_FLAG_IN_PLACE))
		return ND_WISH_ASKED;
	pthread_once(&wish_known, wish_learn);
	if (wish_by_default == ND_WISH_DEFAULT && (flags & ND_MR_FLAG_DO_NOT_SECURE_VM))
		return ND_WISH_NOT; /* pages that are not to be made */
	return wish_by_default;
}

uint64_t
nd_default_clock(void)
{
	return nd_now_ns() / 1000000u;
}

static bool
is_small(size_t bytes)
{
	return bytes < ND_ADOPT_BYTES_MIN;
}

enum nd_adopt_reason
nd_default_at_hand(const struct nd_adoptions *all, size_t bytes)
{
	if (__atomic_load_n(&all->brief[is_small(bytes)], __ATOMIC_RELAXED) >= BRIEF_RANGES)
		return ND_ADOPT_BRIEF;
	if (__atomic_load_n(&all->count.ranges, __ATOMIC_RELAXED) >= RANGES_MAX ||
		(is_small(bytes) && __atomic_load_n(&all->small, __ATOMIC_RELAXED) >= SMALL_MAX))
		return ND_ADOPT_RESOURCES;
	if (bytes <= all->refused_bytes && nd_default_clock() < all->refused_until_ms)
		return all->refused_why;
	return ND_ADOPT_REASONS;
}

void
nd_default_refused(struct nd_adoptions *all, enum nd_adopt_reason why, size_t bytes)
{
	all->refused_why = why;
	all->refused_bytes = bytes;
	all->refused_until_ms = nd_default_clock() + LOOK_MS;
}

/* What is adopted by default is in memory twice for a moment, and again in each child. */
static bool
is_too_much(const struct nd_adoptions *all, size_t bytes)
{
	return bytes > BYTES_MAX ||
	       __atomic_load_n(&all->count.bytes, __ATOMIC_RELAXED) > BYTES_MAX - bytes;
}

/*
 * Only where the kernel's stores can be held: threads that begin later would keep the pages from
 * coming back otherwise. And as much as all that was adopted, and twice this, must be left of what
 * the session may have, so that what the application asks for does not fail because of it.
 */
enum nd_adopt_reason
nd_default_look(struct nd_adapter *a, const void *at, size_t bytes, bool of_kernel, bool *others)
{
	struct nd_adoptions *all = &a->adoptions;
	enum nd_adopt_reason reason;
	struct nd_safe_found found;

	if (!of_kernel)
		return ND_ADOPT_THREADS;
	if (is_too_much(all, bytes))
		return ND_ADOPT_RESOURCES;
	reason = nd_safe_look(at, bytes, of_kernel, &found);
	*others = found.others;
	if (reason == ND_ADOPT_THREADS || reason == ND_ADOPT_PINS)
		nd_default_refused(all, reason, SIZE_MAX);
	else if (found.dear)
		nd_default_refused(all, reason, bytes);
	if (reason == ND_ADOPT_REASONS &&
		!nd_segment_fits(
			a, 2 * bytes + __atomic_load_n(&all->count.bytes, __ATOMIC_RELAXED)))
		reason = ND_ADOPT_RESOURCES;
	return reason;
}

void
nd_default_begun(struct nd_adoptions *all, const struct nd_adopted *x)
{
	if (is_small(x->bytes))
		__atomic_store_n(&all->small, all->small + 1, __ATOMIC_RELAXED);
}

void
nd_default_ended(struct nd_adoptions *all, const struct nd_adopted *x)
{
	bool small = is_small(x->bytes);
	uint32_t brief = nd_default_clock() - x->since_ms < BRIEF_MS ? all->brief[small] + 1 : 0;

	__atomic_store_n(&all->brief[small], brief, __ATOMIC_RELAXED);
	if (small)
		__atomic_store_n(&all->small, all->small - 1, __ATOMIC_RELAXED);
}
