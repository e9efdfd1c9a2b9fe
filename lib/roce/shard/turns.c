/* SPDX-License-Identifier: BSD-3-Clause */
/* Deficit round robin among principals, and among the clients of each. */
#include "roce/shard/turns.h"

#include "roce/queue/doorbell.h"
#include "roce/shard/principal.h"

void
roce_turns_find_alone(struct roce_shard *s)
{
	const struct base_link *first = s->turns.next;
	const struct roce_principal *p = base_container(first, struct roce_principal, turn.link);

	s->alone = NULL;
	if (!s->is_shared && first != &s->turns && first->next == &s->turns &&
		p->turns.next->next == &p->turns)
		s->alone = base_container(p->turns.next, struct roce_client, turn.link);
}

void
roce_turns_enter(struct roce_shard *s, struct roce_client *c)
{
	base_list_append(&c->principal->turns, &c->turn.link);
	base_list_join(&s->turns, &c->principal->turn.link);
	roce_turns_find_alone(s);
}

/* A debt stays: one that comes back at once has not got rid of it. */
static void
turn_end(struct roce_turn *t)
{
	base_list_remove(&t->link);
	if (t->credit > 0)
		t->credit = 0;
}

void
roce_turns_leave(struct roce_shard *s, struct roce_client *c)
{
	turn_end(&c->turn);
	if (base_list_empty(&c->principal->turns))
		turn_end(&c->principal->turn);
	roce_turns_find_alone(s);
}

/* The first that has credit. Those before it get theirs for the next round and go to the end: as a
 * debt is one frame at most, that is over after a few rounds. */
static struct roce_turn *
first_with_credit(struct base_link *round)
{
	struct roce_turn *t = base_container(round->next, struct roce_turn, link);

	while (t->credit <= 0) {
		t->credit += (int32_t)t->quantum;
		base_list_remove(&t->link);
		base_list_append(round, &t->link);
		t = base_container(round->next, struct roce_turn, link);
	}
	return t;
}

struct roce_client *
roce_turns_next(struct roce_shard *s)
{
	struct roce_principal *p;

	if (base_list_empty(&s->turns))
		return NULL;
	p = base_container(first_with_credit(&s->turns), struct roce_principal, turn);
	return base_container(first_with_credit(&p->turns), struct roce_client, turn);
}

uint32_t
roce_turns_left(const struct roce_client *c)
{
	int32_t own = c->turn.credit, all = c->principal->turn.credit;

	return (uint32_t)(own < all ? own : all);
}

void
roce_turns_charge(struct roce_client *c, uint32_t bytes)
{
	c->turn.credit -= (int32_t)bytes;
	c->principal->turn.credit -= (int32_t)bytes;
}

static bool
client_is_pending(const struct roce_client *c)
{
	return !base_list_empty(&c->senders) || !roce_doorbells_empty(&c->doorbells);
}

bool
roce_turns_pending(const struct roce_shard *s)
{
	const struct roce_client *c = roce_turns_alone(s);

	return c != NULL ? client_is_pending(c) : !base_list_empty(&s->turns);
}

bool
roce_turns_rung(const struct roce_shard *s)
{
	const struct base_link *l, *m;

	for (l = s->turns.next; l != &s->turns; l = l->next) {
		const struct roce_principal *p =
			base_container(l, struct roce_principal, turn.link);

		for (m = p->turns.next; m != &p->turns; m = m->next)
			if (!roce_doorbells_empty(
				    &base_container(m, struct roce_client, turn.link)->doorbells))
				return true;
	}
	return false;
}
