/* SPDX-License-Identifier: BSD-3-Clause */
#include "models/tso.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint8_t
tso_load(const struct tso_state *s, int t, uint8_t var)
{
	const struct tso_thread *th = &s->thread[t];

	for (int i = th->stores - 1; i >= 0; i--)
		if (th->var[i] == var)
			return th->val[i];
	return s->mem[var];
}

bool
tso_store(struct tso_state *s, int t, uint8_t var, uint8_t val)
{
	struct tso_thread *th = &s->thread[t];

	if (th->stores == TSO_BUFFER)
		return false;
	th->var[th->stores] = var;
	th->val[th->stores] = val;
	th->stores++;
	return true;
}

static bool
flush_one(struct tso_state *s, int t)
{
	struct tso_thread *th = &s->thread[t];

	if (th->stores == 0)
		return false;
	s->mem[th->var[0]] = th->val[0];
	th->stores--;
	memmove(th->var, th->var + 1, th->stores);
	memmove(th->val, th->val + 1, th->stores);
	th->var[th->stores] = th->val[th->stores] = 0;
	return true;
}

/* States seen, and those still to be looked at. */
struct search {
	struct tso_state *todo;
	size_t todo_count, todo_room;
	struct tso_state *seen; /* open addressing */
	bool *used;
	size_t seen_count, seen_room; /* room: a power of two */
};

static size_t
slot_of(const struct search *x, const struct tso_state *s)
{
	const uint8_t *b = (const uint8_t *)s;
	uint64_t h = 0xcbf29ce484222325u;
	size_t i;

	for (size_t k = 0; k < sizeof(*s); k++)
		h = (h ^ b[k]) * 0x100000001b3u;
	for (i = h & (x->seen_room - 1); x->used[i]; i = (i + 1) & (x->seen_room - 1))
		if (memcmp(&x->seen[i], s, sizeof(*s)) == 0)
			break;
	return i;
}

static void
resize(struct search *x, size_t room)
{
	struct search old = *x;

	x->seen = calloc(room, sizeof(*x->seen));
	x->used = calloc(room, sizeof(*x->used));
	x->seen_room = room;
	if (x->seen == NULL || x->used == NULL)
		abort();
	for (size_t i = 0; i < old.seen_room; i++) {
		if (old.used[i]) {
			size_t k = slot_of(x, &old.seen[i]);

			x->seen[k] = old.seen[i];
			x->used[k] = true;
		}
	}
	free(old.seen);
	free(old.used);
}

static void
visit(struct search *x, const struct tso_state *s)
{
	size_t i;

	if (2 * x->seen_count >= x->seen_room)
		resize(x, 2 * x->seen_room);
	i = slot_of(x, s);
	if (x->used[i])
		return;
	x->used[i] = true;
	x->seen[i] = *s;
	x->seen_count++;
	if (x->todo_count == x->todo_room) {
		x->todo_room *= 2;
		x->todo = realloc(x->todo, x->todo_room * sizeof(*x->todo));
		if (x->todo == NULL)
			abort();
	}
	x->todo[x->todo_count++] = *s;
}

static const char *
expand(const struct tso_model *m, struct search *x, const struct tso_state *s)
{
	const char *wrong = NULL;
	bool moved = false;

	for (int t = 0; t < 2; t++) {
		struct tso_state next = *s;

		if (flush_one(&next, t)) {
			moved = true;
			visit(x, &next);
		}
		next = *s;
		if (m->step(&next, t, &wrong) == TSO_DONE) {
			moved = true;
			visit(x, &next);
		}
		if (wrong != NULL)
			return wrong;
	}
	return moved ? NULL : m->stuck(s);
}

const char *
tso_explore(const struct tso_model *m, const struct tso_state *start, size_t *states)
{
	struct search x = {.todo_room = 1024};
	const char *wrong = NULL;

	x.todo = malloc(x.todo_room * sizeof(*x.todo));
	if (x.todo == NULL)
		abort();
	resize(&x, 4096);
	visit(&x, start);
	while (wrong == NULL && x.todo_count > 0) {
		struct tso_state s = x.todo[--x.todo_count];

		wrong = expand(m, &x, &s);
	}
	*states = x.seen_count;
	free(x.todo);
	free(x.seen);
	free(x.used);
	return wrong;
}

/* ---- suites ---- */

void
tso_expect_sound(const struct tso_suite *suite, const char *what)
{
	size_t states, total = 0;

	for (size_t i = 0; i < suite->scenarios; i++) {
		const char *wrong = suite->run(i, 0, &states);

		cr_expect(wrong == NULL, "%s: %s", suite->scenario_name(i), wrong);
		total += states;
	}
	printf("%s: %zu scenarios, %zu states, no fault\n", what, suite->scenarios, total);
}

void
tso_expect_all_needed(const struct tso_suite *suite)
{
	for (size_t m = 1; m < suite->mutations; m++) {
		const char *found = NULL;
		size_t states;

		for (size_t i = 0; i < suite->scenarios && found == NULL; i++) {
			found = suite->run(i, m, &states);
			if (found != NULL)
				printf("%-46s %-32s %s\n", suite->mutation_names[m],
					suite->scenario_name(i), found);
		}
		cr_expect(found != NULL, "%s: not found", suite->mutation_names[m]);
	}
}
