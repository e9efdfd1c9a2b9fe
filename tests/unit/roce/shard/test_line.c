/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of work that waits: by principals, then by clients, then in the order of coming. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rigs/lone_shard.h"
#include "roce/shard/line.h"
#include "roce/shard/principal.h"

#define KIND ROCE_LINE_FLUSH

/* Clients 0 and 1 are of principal 0, client 2 of principal 1. */
struct world {
	struct roce_shard *s;
	struct roce_principal p[2];
	struct roce_client c[3];
	struct base_link item[3][3];
};

static void
world_init(struct world *w)
{
	const struct roce_shard_cfg shard_cfg = lone_config();
	const struct roce_principal_cfg cfg = {.weight = 1, .pool = {{0, 8}, {0, 8}}};

	*w = (struct world){.s = lone_shard_new(&shard_cfg)};
	for (unsigned i = 0; i < 2; i++)
		cr_assert(roce_principal_init(w->s, &w->p[i], &cfg));
	for (unsigned i = 0; i < 3; i++)
		roce_client_init(&w->c[i], &w->p[i / 2]);
}

static void
world_end(struct world *w)
{
	for (unsigned i = 0; i < 3; i++)
		cr_assert(roce_client_fini(w->s, &w->c[i]));
	for (unsigned i = 0; i < 2; i++)
		cr_assert(roce_principal_fini(w->s, &w->p[i]));
}

static void
world_fini(struct world *w)
{
	world_end(w);
	free(w->s);
}

static void
join(struct world *w, unsigned client, unsigned n)
{
	roce_line_join(w->s, &w->c[client], KIND, &w->item[client][n]);
}

/* The next one is this one, until it is taken. */
static void
expect_next(struct world *w, unsigned client, unsigned n)
{
	cr_assert(roce_line_may_wait(w->s, KIND));
	cr_assert_eq(roce_line_next(w->s, KIND), &w->item[client][n], "%u of %u", n, client);
	base_list_remove(&w->item[client][n]);
}

static void
expect_none(struct world *w)
{
	cr_assert_null(roce_line_next(w->s, KIND));
	cr_assert_not(roce_line_may_wait(w->s, KIND), "nothing waits, and nothing is asked again");
}

Test(line, a_first_item_has_only_first_items_before_it)
{
	struct world w;

	world_init(&w);
	expect_none(&w);
	for (unsigned n = 0; n < 3; n++)
		join(&w, 0, n);
	join(&w, 0, 0); /* waits already */
	join(&w, 1, 0);
	join(&w, 2, 0);
	join(&w, 2, 1);
	expect_next(&w, 0, 0);
	expect_next(&w, 2, 0);
	expect_next(&w, 1, 0);
	expect_next(&w, 2, 1);
	expect_next(&w, 0, 1);
	expect_next(&w, 0, 2);
	expect_none(&w);
	world_fini(&w);
}

/* Work of others waits for no client that has none any more. */
Test(line, the_next_is_behind_those_whose_items_are_gone)
{
	for (unsigned last = 0; last < 3; last++) {
		struct world w;

		world_init(&w);
		for (unsigned i = 0; i < 3; i++)
			join(&w, i, 0);
		for (unsigned i = 0; i < 3; i++)
			if (i != last)
				base_list_remove(&w.item[i][0]);
		expect_next(&w, last, 0);
		expect_none(&w);
		join(&w, last, 1);
		expect_next(&w, last, 1);
		expect_none(&w);
		world_fini(&w);
	}
}

Test(line, kinds_do_not_mix)
{
	struct world w;

	world_init(&w);
	join(&w, 0, 0);
	cr_assert_not(roce_line_may_wait(w.s, ROCE_LINE_FIRED));
	cr_assert_null(roce_line_next(w.s, ROCE_LINE_FIRED));
	expect_next(&w, 0, 0);
	expect_none(&w);
	world_fini(&w);
}

/* One that ends while its empty lines have not been found empty yet stands in none any more. */
Test(line, who_ends_leaves_every_line)
{
	struct world w;

	for (unsigned kind = 0; kind < ROCE_LINES; kind++) {
		world_init(&w);
		roce_line_join(w.s, &w.c[0], kind, &w.item[0][0]);
		roce_line_join(w.s, &w.c[2], kind, &w.item[2][0]);
		base_list_remove(&w.item[0][0]);
		base_list_remove(&w.item[2][0]);
		cr_assert(roce_line_may_wait(w.s, kind));
		world_end(&w);
		for (unsigned i = 0; i < 2; i++)
			cr_expect(base_list_empty(&w.p[i].line[kind].items), "line %u", kind);
		cr_expect_not(roce_line_may_wait(w.s, kind), "line %u", kind);
		free(w.s);
	}
}
