/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether an idle lcore yields or sleeps, by what its yields have cost. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "lcore/giving_way.h"

#define DEAR_NS	 4000000ull /* a time slice of another program */
#define CHEAP_NS (NDD_YIELD_DEAR_NS - 1)

static struct ndd_giving_way g;
static uint64_t now_ns;

static void
begin(void)
{
	g = (struct ndd_giving_way){0};
	now_ns = 1000000000ull;
	ndd_giving_way_yielded(&g, now_ns, 0); /* what is added up begins here */
}

TestSuite(giving_way, .init = begin);

static void
yield(uint64_t took_ns)
{
	now_ns += took_ns;
	ndd_giving_way_yielded(&g, now_ns, took_ns);
}

/* One that is without work for a microsecond. */
static bool
sleeps(void)
{
	return ndd_giving_way_sleeps(&g, now_ns, NDD_YIELD_NS + 1);
}

/* Beside a program that computes; returns how long that was tried. */
static uint64_t
until_it_sleeps(void)
{
	uint64_t began_ns = now_ns;

	while (!sleeps() && now_ns - began_ns < 10 * NDD_YIELDS_JUDGED_NS)
		yield(DEAR_NS);
	cr_assert(sleeps());
	return now_ns - began_ns;
}

/* How long it sleeps until it tries yields. */
static uint64_t
until_it_yields(void)
{
	uint64_t began_ns = now_ns;

	while (sleeps() && now_ns - began_ns < 10000000000ull)
		now_ns += 1000000;
	cr_assert(not(sleeps()));
	return now_ns - began_ns;
}

Test(giving_way, an_idle_lcore_yields_and_sleeps_after_a_millisecond)
{
	cr_expect(not(ndd_giving_way_sleeps(&g, now_ns, NDD_SLEEP_NS)));
	cr_expect(ndd_giving_way_sleeps(&g, now_ns, NDD_SLEEP_NS + 1));
}

Test(giving_way, among_friends_it_never_sleeps)
{
	for (int i = 0; i < 100000; i++) {
		yield(CHEAP_NS);
		cr_assert(not(sleeps()));
	}
}

Test(giving_way, beside_a_program_that_computes_it_sleeps)
{
	cr_expect(le(u64, until_it_sleeps(), NDD_YIELDS_LOST_NS + DEAR_NS));
}

/* As beside a program that computes now and then. */
Test(giving_way, it_yields_where_a_third_of_the_time_is_lost)
{
	for (int i = 0; i < 1000; i++) {
		yield(DEAR_NS);
		now_ns += 2 * DEAR_NS; /* of work */
		cr_assert(not(sleeps()));
	}
}

Test(giving_way, it_sleeps_where_two_thirds_are_lost)
{
	for (int i = 0; i < 1000 && !sleeps(); i++) {
		yield(DEAR_NS);
		now_ns += DEAR_NS / 2;
	}
	cr_expect(sleeps());
}

/* What a busy lcore lost long ago says nothing of those that are beside it now. */
Test(giving_way, what_was_lost_before_is_forgotten)
{
	for (uint64_t lost = 0; lost + DEAR_NS <= NDD_YIELDS_LOST_NS; lost += DEAR_NS)
		yield(DEAR_NS);
	cr_assert(not(sleeps()));
	now_ns += NDD_YIELDS_JUDGED_NS;
	yield(DEAR_NS);
	cr_expect(not(sleeps()));
}

Test(giving_way, yields_are_tried_again_ever_more_seldom)
{
	uint64_t want = NDD_YIELDS_AGAIN_NS;

	for (int i = 0; i < 10; i++) {
		uint64_t took = until_it_sleeps();

		cr_expect(
			le(u64, took, (i == 0 ? NDD_YIELDS_LOST_NS : NDD_YIELDS_TRY_NS) + DEAR_NS));
		cr_expect(ge(u64, until_it_yields(), want));
		if (i < (int)NDD_YIELDS_DOUBLINGS)
			want *= 2;
	}
}

Test(giving_way, what_has_gone_well_counts_as_the_first_time)
{
	for (int i = 0; i < 3; i++) {
		until_it_sleeps();
		until_it_yields();
	}
	for (uint64_t ns = 0; ns <= NDD_YIELDS_JUDGED_NS; ns += CHEAP_NS)
		yield(CHEAP_NS);
	until_it_sleeps();
	cr_expect(le(u64, until_it_yields(), NDD_YIELDS_AGAIN_NS + 1000000));
}
