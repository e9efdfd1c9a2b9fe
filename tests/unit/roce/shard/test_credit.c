/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns call by call: which client is next or alone, and what becomes of credit and debts. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rigs/lone_shard.h"
#include "roce/shard/principal.h"
#include "roce/shard/turns.h"

/* Clients 0 and 1 are of principal 0, client 2 of principal 1. */
struct world {
	struct roce_shard *s;
	struct roce_principal p[2];
	struct roce_client c[3];
};

static void
world_init(struct world *w)
{
	const struct roce_shard_cfg shard_cfg = lone_config();
	const struct roce_principal_cfg cfg = {.weight = 2, .pool = {{0, 8}, {0, 8}}};

	*w = (struct world){.s = lone_shard_new(&shard_cfg)};
	for (unsigned i = 0; i < 2; i++)
		cr_assert(roce_principal_init(w->s, &w->p[i], &cfg));
	for (unsigned i = 0; i < 3; i++)
		roce_client_init(&w->c[i], &w->p[i / 2]);
}

static void
world_fini(struct world *w)
{
	for (unsigned i = 0; i < 3; i++)
		cr_assert(roce_client_fini(w->s, &w->c[i]));
	for (unsigned i = 0; i < 2; i++)
		cr_assert(roce_principal_fini(w->s, &w->p[i]));
	free(w->s);
}

static void
join(struct world *w, unsigned i)
{
	roce_turns_join(w->s, &w->c[i]);
}

static void
leave(struct world *w, unsigned i)
{
	roce_turns_leave(w->s, &w->c[i]);
}

Test(credit, one_is_alone_if_there_is_no_other)
{
	struct world w;

	world_init(&w);
	cr_assert_null(roce_turns_alone(w.s));
	cr_assert_not(roce_turns_pending(w.s));
	join(&w, 0);
	cr_assert_eq(roce_turns_alone(w.s), &w.c[0]);
	cr_assert_not(roce_turns_pending(w.s), "it has neither senders nor doorbells");
	join(&w, 1);
	cr_assert_null(roce_turns_alone(w.s), "another one of the same principal");
	cr_assert(roce_turns_pending(w.s));
	leave(&w, 0);
	cr_assert_eq(roce_turns_alone(w.s), &w.c[1]);
	join(&w, 2);
	cr_assert_null(roce_turns_alone(w.s), "another principal's");
	cr_assert(roce_turns_pending(w.s));
	leave(&w, 1);
	cr_assert_eq(roce_turns_alone(w.s), &w.c[2]);
	leave(&w, 2);
	cr_assert_null(roce_turns_alone(w.s));
	cr_assert_null(roce_turns_next(w.s));
	world_fini(&w);
}

Test(credit, who_leaves_takes_no_other_along)
{
	struct world w;

	world_init(&w);
	for (unsigned i = 0; i < 3; i++)
		join(&w, i);
	w.p[0].turn.credit = 50;
	leave(&w, 0);
	cr_assert_eq(w.p[0].turn.credit, 50, "the principal goes on");
	cr_assert_eq(roce_turns_next(w.s), &w.c[1]);
	leave(&w, 2);
	cr_assert_eq(roce_turns_next(w.s), &w.c[1]);
	leave(&w, 1);
	cr_assert_null(roce_turns_next(w.s));
	world_fini(&w);
}

/* What is not used when one has nothing to send is lost; a debt stays. */
Test(credit, is_lost_by_a_pause_and_a_debt_is_not)
{
	static const int32_t before[] = {ROCE_TURN_BYTES, 1, 0, -1, -4600};

	for (unsigned i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		int32_t after = before[i] < 0 ? before[i] : 0;
		struct world w;

		world_init(&w);
		join(&w, 0);
		w.c[0].turn.credit = before[i];
		w.p[0].turn.credit = before[i];
		leave(&w, 0);
		cr_expect_eq(w.c[0].turn.credit, after, "%d", before[i]);
		cr_expect_eq(w.p[0].turn.credit, after, "%d", before[i]);
		world_fini(&w);
	}
}

/* The first that has credit is next; those before it have theirs for the next round. */
Test(credit, is_what_a_turn_takes)
{
	struct world w;

	world_init(&w);
	for (unsigned i = 0; i < 3; i++)
		join(&w, i);
	w.c[1].turn.credit = 1;
	w.c[2].turn.credit = 1;
	w.p[1].turn.credit = 1;
	cr_assert_eq(roce_turns_next(w.s), &w.c[2]);
	cr_assert_eq(w.p[1].turn.credit, 1);
	cr_assert_eq(w.p[0].turn.credit, 2 * ROCE_TURN_BYTES, "by its weight");
	roce_turns_charge(&w.c[2], 1);
	cr_assert_eq(roce_turns_next(w.s), &w.c[1]);
	cr_assert_eq(w.c[1].turn.credit, 1);
	cr_assert_eq(w.c[0].turn.credit, ROCE_TURN_BYTES);
	roce_turns_charge(&w.c[1], 2);
	cr_assert_eq(roce_turns_next(w.s), &w.c[0]);
	cr_assert_eq(w.c[1].turn.credit, ROCE_TURN_BYTES - 1, "the debt counts in the next round");
	world_fini(&w);
}

Test(credit, of_client_and_principal_bounds_a_turn)
{
	static const int32_t rows[][3] = {{10, 11, 10}, {11, 10, 10}, {10, 10, 10}, {1, 100, 1}};
	struct world w;

	world_init(&w);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		w.c[0].turn.credit = rows[i][0];
		w.p[0].turn.credit = rows[i][1];
		cr_expect_eq(roce_turns_left(&w.c[0]), (uint32_t)rows[i][2], "row %u", i);
	}
	roce_turns_charge(&w.c[0], 30);
	cr_expect_eq(w.c[0].turn.credit, 1 - 30);
	cr_expect_eq(w.p[0].turn.credit, 100 - 30);
	world_fini(&w);
}

/* A client that ends is neither sent for nor polled any more, whatever it was before. */
Test(credit, who_ends_has_no_turn)
{
	struct world w;

	world_init(&w);
	for (unsigned i = 0; i < 2; i++)
		join(&w, i);
	for (unsigned i = 1; i < 3; i++) {
		base_list_append(&w.s->rings, &w.c[i].polled);
		w.s->polled++;
	}
	cr_assert(roce_client_fini(w.s, &w.c[0]));
	cr_expect_eq(w.s->polled, 2, "it was not among these");
	cr_expect_eq(roce_turns_alone(w.s), &w.c[1]);
	cr_assert(roce_client_fini(w.s, &w.c[1]));
	cr_expect_eq(w.s->polled, 1);
	cr_expect_eq(w.s->rings.next, &w.c[2].polled);
	cr_expect_null(roce_turns_alone(w.s));
	cr_expect_null(roce_turns_next(w.s));
	cr_assert(roce_client_fini(w.s, &w.c[2]));
	cr_expect_eq(w.s->polled, 0);
	cr_expect(base_list_empty(&w.s->rings));
	for (unsigned i = 0; i < 2; i++)
		cr_assert(roce_principal_fini(w.s, &w.p[i]));
	free(w.s);
}
