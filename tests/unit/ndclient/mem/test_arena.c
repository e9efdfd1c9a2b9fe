/* SPDX-License-Identifier: BSD-3-Clause */
/* The arena's bookkeeping: blocks never overlap, are aligned, and come back whole. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "ndclient/mem/arena.h"

#define MIB (1ull << 20)

static void
check_sorted(const struct nd_extents *x)
{
	uint64_t at = 0, unused = 0;

	for (uint32_t i = 0; i < x->count; i++) {
		cr_assert(eq(u64, x->v[i].offset, at));
		cr_assert(ne(u64, x->v[i].bytes, 0));
		cr_assert(i == 0 || x->v[i].used || x->v[i - 1].used, "free neighbours at %u", i);
		at += x->v[i].bytes;
		if (!x->v[i].used)
			unused += x->v[i].bytes;
	}
	cr_assert(eq(u64, at, x->bytes));
	cr_assert(eq(u64, unused, x->free_bytes));
}

Test(ndclient_extents, whole_and_nothing)
{
	struct nd_extents x;

	cr_assert(nd_extents_init(&x, 2 * MIB));
	cr_expect(eq(u64, nd_extents_take(&x, 0, 64), UINT64_MAX));
	cr_expect(eq(u64, nd_extents_take(&x, 2 * MIB + 64, 64), UINT64_MAX));
	cr_expect(eq(u64, nd_extents_take(&x, 2 * MIB, 2 * MIB), 0));
	cr_expect(eq(u64, nd_extents_take(&x, 64, 64), UINT64_MAX));
	cr_expect(not(nd_extents_give(&x, 64)), "no block begins there");
	cr_expect(nd_extents_give(&x, 0));
	cr_expect(not(nd_extents_give(&x, 0)), "freed twice");
	check_sorted(&x);
	cr_expect(eq(u32, x.count, 1));
	nd_extents_fini(&x);
}

Test(ndclient_extents, alignment_skips_and_the_gap_stays_usable)
{
	struct nd_extents x;

	cr_assert(nd_extents_init(&x, 2 * MIB));
	cr_expect(eq(u64, nd_extents_take(&x, 64, 64), 0));
	cr_expect(eq(u64, nd_extents_take(&x, 4096, 4096), 4096));
	check_sorted(&x);
	cr_expect(eq(u64, nd_extents_take(&x, 4032, 64), 64), "the gap is the best fit");
	cr_expect(eq(u64, nd_extents_take(&x, 64, 64), 8192));
	check_sorted(&x);
	nd_extents_fini(&x);
}

Test(ndclient_extents, best_fit_spares_large_parts)
{
	struct nd_extents x;
	uint64_t a, b, c;

	cr_assert(nd_extents_init(&x, 2 * MIB));
	a = nd_extents_take(&x, 1024, 64);
	(void)nd_extents_take(&x, 64, 64);
	b = nd_extents_take(&x, 128, 64);
	(void)nd_extents_take(&x, 64, 64);
	cr_assert(nd_extents_give(&x, a) && nd_extents_give(&x, b));
	c = nd_extents_take(&x, 128, 64);
	cr_expect(eq(u64, c, b));
	nd_extents_fini(&x);
}

Test(ndclient_extents, random_takes_and_gives_leave_one_free_part)
{
	struct nd_extents x;
	uint64_t at[200], bytes[200];
	uint32_t n = 0, seed = 12345;

	cr_assert(nd_extents_init(&x, 2 * MIB));
	for (int i = 0; i < 20000; i++) {
		seed = seed * 1664525u + 1013904223u;
		if (n < 200 && (seed >> 20) % 3 != 0) {
			uint64_t size = 64 * (1 + (seed >> 8) % 600), align = 64ull << (seed >> 28);
			uint64_t offset = nd_extents_take(&x, size, align);

			if (offset == UINT64_MAX)
				continue;
			cr_assert(zero(u64, offset % align));
			for (uint32_t k = 0; k < n; k++)
				cr_assert(offset + size <= at[k] || at[k] + bytes[k] <= offset);
			at[n] = offset;
			bytes[n++] = size;
		} else if (n > 0) {
			uint32_t k = (seed >> 10) % n;

			cr_assert(nd_extents_give(&x, at[k]));
			at[k] = at[--n];
			bytes[k] = bytes[n];
		}
		if (i % 100 == 0)
			check_sorted(&x);
	}
	while (n > 0)
		cr_assert(nd_extents_give(&x, at[--n]));
	cr_expect(eq(u32, x.count, 1));
	nd_extents_fini(&x);
}

static struct nd_segment
make_segment(uint64_t bytes)
{
	struct nd_segment s = {.base = aligned_alloc(4096, bytes)};

	memset(s.base, 0, bytes);
	cr_assert(nd_extents_init(&s.extents, bytes));
	return s;
}

Test(ndclient_arena, memory_that_was_used_comes_back_zeroed)
{
	struct nd_segment s = make_segment(8192), *which;
	struct nd_arena arena = {.first = &s};
	uint8_t *p = nd_arena_take(&arena, 1024, 64, &which);

	memset(p, 0xff, 1024);
	cr_assert(nd_extents_give(&s.extents, 0));
	p = nd_arena_take(&arena, 2048, 64, &which);
	for (int i = 0; i < 2048; i++)
		cr_assert(zero(u8, p[i]));
	cr_expect(eq(u64, s.extents.dirty, 2048));
	nd_extents_fini(&s.extents);
	free(s.base);
}

Test(ndclient_arena, a_range_belongs_to_a_segment_only_as_a_whole)
{
	struct nd_segment b = make_segment(8192), a = make_segment(4096);
	struct nd_arena arena = {.first = &a};

	a.next = &b;
	cr_expect(eq(ptr, nd_arena_find(&arena, b.base, 8192), &b));
	cr_expect(eq(ptr, nd_arena_find(&arena, b.base + 8191, 1), &b));
	cr_expect(eq(ptr, nd_arena_find(&arena, a.base + 4095, 1), &a));
	cr_expect(eq(ptr, nd_arena_find(&arena, b.base + 1, 8192), NULL));
	cr_expect(eq(ptr, nd_arena_find(&arena, b.base + 8192, 1), NULL));
	cr_expect(eq(ptr, nd_arena_find(&arena, b.base, UINT64_MAX), NULL));
	cr_expect(eq(ptr, nd_arena_find(&arena, (void *)UINTPTR_MAX, 64), NULL));
	nd_extents_fini(&a.extents);
	nd_extents_fini(&b.extents);
	free(a.base);
	free(b.base);
}
