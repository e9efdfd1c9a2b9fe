/* SPDX-License-Identifier: BSD-3-Clause */
/* Shares of a pool: limits, fairness, reserves. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "base/share.h"

#define FAIR BASE_SHARE_FAIR

/* Takes one at a time, until it is refused. Returns how many. */
static uint64_t
take_all(struct base_pool *pool, struct base_share *s, enum base_grant *why)
{
	uint64_t n = 0;

	while ((*why = base_share_take(pool, s, 1)) == BASE_GRANTED)
		n++;
	return n;
}

Test(share, one_alone_gets_seven_eighths)
{
	static const struct {
		uint64_t total, most;
	} rows[] = {{0, 0}, {1, 1}, {2, 2}, {7, 7}, {8, 7}, {64, 56}, {4096, 3584}};
	enum base_grant why;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct base_pool pool = {.total = rows[i].total};
		struct base_share s;

		cr_assert(base_share_begin(&pool, &s, 0, FAIR));
		cr_expect(eq(u64, take_all(&pool, &s, &why), rows[i].most));
		cr_expect(eq(
			int, why, rows[i].most < rows[i].total ? BASE_OVER_FAIR : BASE_NONE_LEFT));
	}
}

/* k shares take in turns, so that none is first: each gets 7 / (7k + 1). */
Test(share, those_who_want_the_same_get_the_same)
{
	for (unsigned k = 1; k <= 9; k++) {
		struct base_pool pool = {.total = 6400};
		struct base_share s[9];
		unsigned refused = 0;

		for (unsigned i = 0; i < k; i++)
			cr_assert(base_share_begin(&pool, &s[i], 0, FAIR));
		while (refused < k) {
			refused = 0;
			for (unsigned i = 0; i < k; i++)
				refused += base_share_take(&pool, &s[i], 1) != BASE_GRANTED;
		}
		for (unsigned i = 0; i < k; i++)
			cr_expect(le(u64, 6400 * 7 / (7 * k + 1), s[i].used + 1), "%u of %u", i, k);
		for (unsigned i = 0; i < k; i++)
			cr_expect(ge(u64, 6400 * 7 / (7 * k + 1) + 1, s[i].used), "%u of %u", i, k);
		cr_expect(lt(u64, pool.promised, pool.total), "one more gets something");
	}
}

Test(share, a_limit_holds_and_is_no_promise)
{
	struct base_pool pool = {.total = 10};
	struct base_share a, b;
	enum base_grant why;

	cr_assert(base_share_begin(&pool, &a, 0, 9));
	cr_assert(base_share_begin(&pool, &b, 0, 5));
	cr_expect(eq(u64, take_all(&pool, &a, &why), 9));
	cr_expect(eq(int, why, BASE_OVER_LIMIT));
	cr_expect(eq(u64, take_all(&pool, &b, &why), 1));
	cr_expect(eq(int, why, BASE_NONE_LEFT));
	base_share_give(&pool, &a, 9);
	cr_expect(eq(u64, take_all(&pool, &b, &why), 4));
	cr_expect(eq(int, base_share_take(&pool, &a, UINT64_MAX), BASE_OVER_LIMIT));
	cr_expect(eq(u64, pool.promised, 5));
}

Test(share, a_reserve_is_there_whatever_the_others_do)
{
	struct base_pool pool = {.total = 100};
	struct base_share greedy, kept, late;
	enum base_grant why;

	cr_assert(base_share_begin(&pool, &greedy, 0, 1000));
	cr_assert(base_share_begin(&pool, &kept, 30, 1000));
	cr_expect(eq(u64, take_all(&pool, &greedy, &why), 70));
	cr_expect(eq(int, why, BASE_NONE_LEFT));
	cr_expect(eq(u64, take_all(&pool, &kept, &why), 30));
	base_share_give(&pool, &kept, 30);
	cr_expect(eq(int, base_share_take(&pool, &greedy, 1), BASE_NONE_LEFT), "kept still");
	cr_expect_not(base_share_begin(&pool, &late, 1, FAIR), "nothing is left to promise");
	cr_expect(eq(u64, pool.promised, 100));
	base_share_end(&pool, &kept);
	cr_expect(eq(u64, take_all(&pool, &greedy, &why), 30));
	base_share_end(&pool, &greedy);
	cr_expect(eq(u64, pool.promised, 0));
	cr_expect(eq(int, base_share_take(&pool, &kept, 1), BASE_OVER_LIMIT), "it has ended");
}

Test(share, what_is_given_back_may_be_taken_again)
{
	struct base_pool pool = {.total = 10};
	struct base_share s;
	enum base_grant why;

	cr_assert(base_share_begin(&pool, &s, 0, 8));
	for (unsigned times = 0; times < 3; times++) {
		cr_expect(eq(u64, take_all(&pool, &s, &why), 8));
		cr_expect(eq(int, why, BASE_OVER_LIMIT));
		base_share_give(&pool, &s, 3);
		cr_expect(eq(u64, take_all(&pool, &s, &why), 3));
		base_share_give(&pool, &s, 8);
	}
}

/* The fair part is counted beyond the reserve. */
Test(share, a_reserve_does_not_count_as_unfair)
{
	struct base_pool pool = {.total = 100};
	struct base_share s;
	enum base_grant why;

	cr_assert(base_share_begin(&pool, &s, 36, FAIR));
	cr_expect(eq(u64, take_all(&pool, &s, &why), 36 + 56));
	cr_expect(eq(int, why, BASE_OVER_FAIR));
}

/* Many at once are judged as one by one, but for rounding; nothing overflows. */
Test(share, amounts)
{
	struct base_pool pool = {.total = UINT64_MAX - 1};
	struct base_share s;

	cr_assert(base_share_begin(&pool, &s, 0, FAIR));
	cr_expect(eq(int, base_share_take(&pool, &s, UINT64_MAX), BASE_NONE_LEFT));
	cr_expect(eq(int, base_share_take(&pool, &s, pool.total), BASE_OVER_FAIR));
	cr_expect(eq(int, base_share_take(&pool, &s, pool.total / 8 * 7), BASE_GRANTED));
	cr_expect(eq(int, base_share_take(&pool, &s, 100), BASE_OVER_FAIR));
	base_share_give(&pool, &s, s.used);
	cr_expect(eq(u64, pool.promised, 0));
}

/* What is left is what it gets if it goes on alone. */
Test(share, what_is_left)
{
	for (uint32_t weight = 1; weight < 9; weight++)
		for (uint32_t used = 0; used <= 64; used++)
			for (uint32_t held = 0; held <= used; held++) {
				uint32_t n = 0;

				while (base_share_has_room(held + n, 64, used + n, weight))
					n++;
				cr_assert(eq(u32, base_share_left(held, 64, used, weight), n),
					"%u of %u, weight %u", held, used, weight);
			}
}

/* The sum of what is used and what is asked for may overflow. */
Test(share, amounts_beyond_the_pool)
{
	struct base_pool pool = {.total = UINT64_MAX - 1};
	struct base_share s, all;

	cr_assert(base_share_begin(&pool, &s, 500, FAIR));
	cr_expect(eq(int, base_share_take(&pool, &s, 100), BASE_GRANTED));
	cr_expect(eq(int, base_share_take(&pool, &s, 200), BASE_GRANTED));
	cr_expect(eq(int, base_share_take(&pool, &s, UINT64_MAX), BASE_NONE_LEFT));
	cr_expect(eq(int, base_share_take(&pool, &s, UINT64_MAX - 299), BASE_NONE_LEFT));
	base_share_end(&pool, &s);

	cr_assert(base_share_begin(&pool, &all, 0, UINT64_MAX - 1));
	cr_expect(eq(int, base_share_take(&pool, &all, pool.total), BASE_GRANTED), "all of it");
	cr_expect(eq(int, base_share_take(&pool, &all, 0), BASE_GRANTED));
	cr_expect(eq(int, base_share_take(&pool, &all, 1), BASE_OVER_LIMIT));
}

/* Less than weight times what is free. */
Test(share, room_for_one_more)
{
	cr_expect(base_share_has_room(0, 10, 9, 1));
	cr_expect_not(base_share_has_room(1, 10, 9, 1));
	cr_expect(base_share_has_room(1, 10, 9, 2));
	cr_expect_not(base_share_has_room(2, 10, 9, 2));
	cr_expect_not(base_share_has_room(0, 10, 10, 2));
	cr_expect_not(base_share_has_room(0, 10, 11, 2), "there are too many already");
	cr_expect(base_share_has_room(UINT32_MAX, UINT32_MAX, 0, 2));
}
