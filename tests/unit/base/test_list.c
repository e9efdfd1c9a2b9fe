/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists: the order of links, and what a link in no list is. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "base/list.h"

/* Forwards it is what is expected, and backwards the same. */
static void
expect_list(const struct base_link *head, struct base_link *const *links, size_t n)
{
	const struct base_link *at = head->next, *back = head->prev;

	for (size_t i = 0; i < n; i++, at = at->next, back = back->prev) {
		cr_assert(eq(ptr, (void *)at, links[i]), "%zu", i);
		cr_assert(eq(ptr, (void *)back, links[n - 1 - i]), "%zu from the end", i);
	}
	cr_assert(eq(ptr, (void *)at, (void *)head));
	cr_assert(eq(ptr, (void *)back, (void *)head));
	cr_assert(eq(int, base_list_empty(head), n == 0));
	cr_assert(eq(ptr, base_list_first(head), n == 0 ? NULL : links[0]));
}

Test(list, keeps_the_order_of_links)
{
	struct base_link head, a = {0}, b = {0}, c = {0};

	base_list_init(&head);
	expect_list(&head, NULL, 0);
	base_list_append(&head, &b);
	base_list_join(&head, &c);
	base_list_prepend(&head, &a);
	base_list_join(&head, &a);
	expect_list(&head, (struct base_link *[]){&a, &b, &c}, 3);
	base_list_remove(&b);
	expect_list(&head, (struct base_link *[]){&a, &c}, 2);
	base_list_join(&head, &b);
	expect_list(&head, (struct base_link *[]){&a, &c, &b}, 3);
}

/* A ring keeps its order, wherever it begins. */
Test(list, rotates)
{
	struct base_link head, a = {0}, b = {0}, c = {0};
	struct base_link *const ring[] = {&a, &b, &c, &a, &b};

	base_list_init(&head);
	for (unsigned i = 0; i < 3; i++)
		base_list_append(&head, ring[i]);
	for (unsigned i = 0; i < 3; i++) {
		base_list_rotate(&head, ring[i]);
		expect_list(&head, ring + i, 3);
	}
	base_list_rotate(&head, &c);
	expect_list(&head, ring + 2, 3);
}

/* All of one go behind the last of another; either may be empty. */
Test(list, splices)
{
	for (unsigned to = 0; to < 3; to++) {
		for (unsigned from = 0; from < 3; from++) {
			struct base_link one, other, links[4] = {0}, *all[4], late = {0};
			unsigned n = 0;

			base_list_init(&one);
			base_list_init(&other);
			for (unsigned i = 0; i < to + from; i++) {
				base_list_append(i < to ? &one : &other, &links[i]);
				all[n++] = &links[i];
			}
			base_list_splice(&one, &other);
			expect_list(&one, all, n);
			expect_list(&other, NULL, 0);
			base_list_append(&other, &late);
			expect_list(&other, (struct base_link *[]){&late}, 1);
			expect_list(&one, all, n);
		}
	}
}

Test(list, link_in_no_list_is_all_zero)
{
	static const struct base_link fresh;
	struct base_link head, a = {0}, b = {0};

	base_list_init(&head);
	base_list_append(&head, &a);
	base_list_append(&head, &b);
	cr_assert(base_linked(&a));
	for (unsigned times = 0; times < 2; times++) {
		base_list_remove(&a);
		cr_assert(eq(int, memcmp(&a, &fresh, sizeof(a)), 0));
		cr_assert_not(base_linked(&a));
		expect_list(&head, (struct base_link *[]){&b}, 1);
	}
	base_list_remove(&b);
	expect_list(&head, NULL, 0);
}
