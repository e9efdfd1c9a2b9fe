/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue pairs that are held back stand in line at their principal, as those do that found no room
 * in a pool (starved.c), and the first of the line go on before all others. A principal that has
 * used up its share sends nothing until a quarter of it is free: one packet at a time would cost an
 * acknowledgement each.
 */
#include "roce/held.h"

#include "base/list.h"
#include "roce/queue/senders.h"
#include "roce/shard/flight.h"

static uint32_t
room_of(const struct roce_shard *s, const struct roce_principal *p)
{
	uint32_t room = roce_flight_room(s, p);

	return !p->is_full || room >= roce_flight_share(s, p) / 4 ? room : 0;
}

uint32_t
roce_held_room(const struct roce_shard *s, const struct roce_qp *qp)
{
	struct roce_principal *p = roce_qp_client(qp)->principal;
	uint32_t room = room_of(s, p);

	p->is_full = room == 0;
	return room;
}

void
roce_held_join(struct roce_shard *s, struct roce_qp *qp)
{
	struct roce_principal *p = roce_qp_client(qp)->principal;

	qp->tx_bits |= ROCE_TXB_STARVED;
	base_list_join(&p->held, &qp->tx_link);
	base_list_join(&s->holding, &p->holding);
	s->count.tx_held++;
}

static bool
may_go_on(const struct roce_shard *s, const struct roce_principal *p)
{
	return !base_list_empty(&p->held) && room_of(s, p) > 0;
}

bool
roce_held_may_go_on(const struct roce_shard *s)
{
	for (const struct base_link *l = s->holding.next; l != &s->holding; l = l->next)
		if (may_go_on(s, base_container(l, struct roce_principal, holding)))
			return true;
	return false;
}

static void
line_look(struct roce_shard *s, struct roce_principal *p)
{
	if (may_go_on(s, p))
		roce_senders_lead_line(s, &p->held);
	if (base_list_empty(&p->held))
		base_list_remove(&p->holding);
}

void
roce_held_look(struct roce_shard *s)
{
	struct base_link *l, *next;

	roce_flight_look(s);
	for (l = s->holding.next; l != &s->holding; l = next) {
		next = l->next;
		line_look(s, base_container(l, struct roce_principal, holding));
	}
	if (s->busy_count <= 1 && base_list_empty(&s->holding))
		roce_flight_share_end(s);
}
