/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many packets each queue pair may have in flight. Where receivers hold little, all queue pairs
 * share what they hold: the fewer wait for answers, the more each of them may send.
 *
 * A window that shrinks may leave a queue pair with more in flight than it allows. It must not wait
 * then for an answer that no packet asked for: so one of PART_MIN asks, and no part is smaller.
 */
#ifndef ROCE_WINDOW_H
#define ROCE_WINDOW_H

#include "roce/shard/shard.h"

#define ROCE_WINDOW_PART_MIN 8u

static inline void
roce_window_divide(struct roce_shard *s)
{
	uint32_t part;

	if (s->cfg.shared_window == 0)
		return;
	part = s->cfg.shared_window / (s->waiting > 0 ? s->waiting : 1);
	if (part < ROCE_WINDOW_PART_MIN)
		part = ROCE_WINDOW_PART_MIN;
	s->window = part < s->cfg.window ? part : s->cfg.window;
}

static inline void
roce_window_init(struct roce_shard *s)
{
	s->window = s->cfg.window;
	s->window_quarter = s->cfg.window / 4;
	if (s->cfg.shared_window != 0 && s->window_quarter > ROCE_WINDOW_PART_MIN)
		s->window_quarter = ROCE_WINDOW_PART_MIN;
	roce_window_divide(s);
}

/* One more queue pair waits for an answer, or one fewer. */
static inline void
roce_window_waits(struct roce_shard *s, bool more)
{
	s->waiting += more ? 1u : -1u;
	roce_window_divide(s);
}

#endif
