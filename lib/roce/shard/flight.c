/* SPDX-License-Identifier: BSD-3-Clause */
/* What principals may have under way. Only while several are busy does any of this cost time. */
#include "roce/shard/flight.h"

#include "base/list.h"
#include "roce/assert.h"
#include "roce/shard/turns.h"

static uint32_t
weight_of(const struct roce_principal *p)
{
	return p->turn.quantum / ROCE_TURN_BYTES;
}

static void
set_shared(struct roce_shard *s, bool is_shared)
{
	s->is_shared = is_shared;
	roce_turns_find_alone(s);
}

void
roce_flight_busy(struct roce_shard *s, struct roce_principal *p)
{
	p->busy_ns = s->now_ns;
	if (base_linked(&p->busy))
		return;
	base_list_append(&s->busy, &p->busy);
	p->level = p->flight / weight_of(p);
	s->busy_level += p->level;
	if (++s->busy_count > 1)
		set_shared(s, true);
}

void
roce_flight_look(struct roce_shard *s)
{
	struct base_link *l, *next;

	s->busy_level = 0;
	for (l = s->busy.next; l != &s->busy; l = next) {
		struct roce_principal *p = base_container(l, struct roce_principal, busy);

		next = l->next;
		if (s->now_ns - p->busy_ns > ROCE_BUSY_NS) {
			base_list_remove(l);
			s->busy_count--;
			continue;
		}
		p->level = p->flight / weight_of(p);
		s->busy_level += p->level;
	}
}

void
roce_flight_share_end(struct roce_shard *s)
{
	roce_assert(s->busy_count <= 1 && base_list_empty(&s->holding));
	set_shared(s, false);
}

uint32_t
roce_flight_share(const struct roce_shard *s, const struct roce_principal *p)
{
	uint32_t others = s->busy_count, level = s->busy_level, more, least;

	if (base_linked(&p->busy)) {
		others--;
		level -= p->level;
	}
	if (others == 0)
		return UINT32_MAX;
	more = level / others + s->cfg.window / 8;
	least = s->cfg.window / 4;
	return (more > least ? more : least) * weight_of(p);
}

uint32_t
roce_flight_room(const struct roce_shard *s, const struct roce_principal *p)
{
	uint32_t share = roce_flight_share(s, p);

	return share > p->flight ? share - p->flight : 0;
}
