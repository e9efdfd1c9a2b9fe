/* SPDX-License-Identifier: BSD-3-Clause */
#include "lcore/caught_up.h"

#include "lcore/shard.h"
#include "lcore/turn.h"

static struct ndd_shard *
io_owner(const struct ndd_shard *s)
{
	return s->plane->shard[NDD_IO_OWNER];
}

/* The round of polls that is under way may have passed a source by already: the next one counts. */
static uint64_t
round_wanted(struct ndd_shard *s)
{
	uint64_t wanted = __atomic_load_n(&s->rounds, __ATOMIC_ACQUIRE) + 2;

	__atomic_store_n(&s->round_awaited, wanted, __ATOMIC_RELAXED);
	ndd_wakeup_notify(&s->wakeup);
	return wanted;
}

/* Before the start and after the end nothing is received. */
static bool
round_is_over(const struct ndd_shard *s, uint64_t wanted)
{
	return !s->running || __atomic_load_n(&s->rounds, __ATOMIC_ACQUIRE) >= wanted;
}

void
ndd_moment_begin(struct ndd_moment *m, struct ndd_shard *s)
{
	m->io = round_wanted(io_owner(s));
	m->own = 0;
}

bool
ndd_moment_is_past(struct ndd_moment *m, struct ndd_shard *s)
{
	if (!round_is_over(io_owner(s), m->io))
		return false;
	if (s == io_owner(s))
		return true;
	if (m->own == 0)
		m->own = round_wanted(s);
	return round_is_over(s, m->own);
}

bool
ndd_lcore_catches_up(struct ndd_shard *s, unsigned advance)
{
	s->behind += advance;
	if (advance != 0 && s->behind < NDD_BEHIND_FRAMES)
		return false;
	s->behind = 0;
	__atomic_store_n(&s->rounds, s->rounds + 1, __ATOMIC_RELEASE);
	if (unlikely(s->rounds == __atomic_load_n(&s->round_awaited, __ATOMIC_RELAXED)))
		ndd_wakeup_notify(s->plane->control_wakeup);
	return true;
}
