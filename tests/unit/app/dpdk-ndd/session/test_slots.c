/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles of a session's objects. */
#include <criterion/criterion.h>

#include "session/slots.h"

Test(slots, handles_find_their_items)
{
	struct ndd_slots t;
	int item[100];
	uint32_t handle[100];

	ndd_slots_init(&t, 100, false);
	for (int i = 0; i < 100; i++) {
		handle[i] = ndd_slots_add(&t, &item[i]);
		cr_assert_neq(handle[i], NDD_SLOT_NONE);
	}
	for (int i = 0; i < 100; i++)
		cr_assert_eq(ndd_slots_get(&t, handle[i]), &item[i]);
	cr_assert_eq(t.used, 100);
	ndd_slots_fini(&t);
}

Test(slots, limit_is_kept)
{
	struct ndd_slots t;
	int item;

	ndd_slots_init(&t, 3, false);
	for (int i = 0; i < 3; i++)
		cr_assert_neq(ndd_slots_add(&t, &item), NDD_SLOT_NONE);
	cr_assert_eq(ndd_slots_add(&t, &item), NDD_SLOT_NONE);
	ndd_slots_fini(&t);
}

Test(slots, stale_and_foreign_handles_find_nothing)
{
	struct ndd_slots t;
	int item, other;
	uint32_t old;

	ndd_slots_init(&t, 1, false);
	cr_assert_null(ndd_slots_get(&t, 0));
	old = ndd_slots_add(&t, &item);
	ndd_slots_remove(&t, old);
	cr_assert_null(ndd_slots_get(&t, old));
	cr_assert_neq(ndd_slots_add(&t, &other), old, "the same slot, another generation");
	cr_assert_null(ndd_slots_get(&t, old));
	cr_assert_null(ndd_slots_get(&t, NDD_SLOT_NONE));
	cr_assert_null(ndd_slots_get(&t, 12345));
	ndd_slots_remove(&t, old);
	cr_assert_eq(t.used, 1, "removing what is not there does nothing");
	ndd_slots_fini(&t);
}

/* Queue pairs: the handle is a bit of the doorbell page. */
Test(slots, plain_handles_are_indices)
{
	struct ndd_slots t;
	int item;

	ndd_slots_init(&t, 4096, true);
	for (uint32_t i = 0; i < 4096; i++)
		cr_assert_lt(ndd_slots_add(&t, &item), 4096);
	cr_assert_eq(ndd_slots_add(&t, &item), NDD_SLOT_NONE);
	ndd_slots_remove(&t, 77);
	cr_assert_eq(ndd_slots_add(&t, &item), 77);
	ndd_slots_fini(&t);
}

Test(slots, iteration_survives_removal)
{
	struct ndd_slots t;
	uint32_t handle[50], pos = 0, seen = 0;
	int *at;

	ndd_slots_init(&t, 50, false);
	for (int i = 0; i < 50; i++) {
		at = malloc(sizeof(*at));
		*at = i;
		handle[i] = ndd_slots_add(&t, at);
	}
	while ((at = ndd_slots_next(&t, &pos)) != NULL) {
		ndd_slots_remove(&t, handle[*at]);
		free(at);
		seen++;
	}
	cr_assert_eq(seen, 50);
	cr_assert_eq(t.used, 0);
	ndd_slots_fini(&t);
}

/* A freed slot is the last to be used again: a late event finds nothing for as long as can be. */
Test(slots, reuse_is_late)
{
	struct ndd_slots t;
	uint32_t first;
	int item;

	ndd_slots_init(&t, 16, true);
	first = ndd_slots_add(&t, &item);
	ndd_slots_remove(&t, first);
	for (int i = 0; i < 15; i++)
		cr_assert_neq(ndd_slots_add(&t, &item), first);
	cr_assert_eq(ndd_slots_add(&t, &item), first);
	ndd_slots_fini(&t);
}
