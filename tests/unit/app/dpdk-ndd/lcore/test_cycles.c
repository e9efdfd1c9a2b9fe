/* SPDX-License-Identifier: BSD-3-Clause */
/* Where an lcore's cycles go: each to one stage, whatever kind of turn it was. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "lcore/cycles.h"

static struct ndd_cycles
started(void)
{
	struct ndd_cycles c = {.version = 0};

	ndd_cycles_start(&c);
	return c;
}

static struct ndd_cycles_copy
copy_of(const struct ndd_cycles *c)
{
	struct ndd_cycles_copy copy;
	uint64_t sum = 0;

	cr_assert(ndd_cycles_read(c, &copy));
	for (unsigned i = 0; i < NDD_STAGE_COUNT; i++)
		sum += copy.stage[i].cycles;
	cr_expect(eq(u64, sum, copy.until - copy.since));
	return copy;
}

Test(cycles, a_turn_is_the_sum_of_its_stages)
{
	struct ndd_cycles c = started();
	struct ndd_cycles_copy copy;

	ndd_cycles_mark(&c, NDD_STAGE_rx, 3);
	ndd_cycles_mark(&c, NDD_STAGE_parse, 2);
	ndd_cycles_mark_work(&c, NDD_STAGE_control, 0);
	ndd_cycles_mark(&c, NDD_STAGE_tx, 1);
	ndd_cycles_mark(&c, NDD_STAGE_rx, 4);
	ndd_cycles_turn(&c, 5);
	copy = copy_of(&c);
	cr_expect(eq(u64, copy.turns, 1));
	cr_expect(eq(u64, copy.stage[NDD_STAGE_rx].items, 7));
	cr_expect(eq(u64, copy.stage[NDD_STAGE_parse].items, 2));
	cr_expect(eq(u64, copy.stage[NDD_STAGE_tx].items, 1));
	cr_expect(eq(u64, copy.stage[NDD_STAGE_completion].items, 5));
	cr_expect(zero(u64, copy.stage[NDD_STAGE_control].cycles), "it found nothing to do");
	ndd_cycles_turn(&c, 9);
	copy = copy_of(&c);
	cr_expect(eq(u64, copy.turns, 2));
	cr_expect(eq(u64, copy.stage[NDD_STAGE_completion].items, 9), "all there were, once");
}

Test(cycles, a_turn_without_work_was_idle_whatever_it_looked_at)
{
	struct ndd_cycles c = started();
	struct ndd_cycles_copy copy;

	ndd_cycles_mark(&c, NDD_STAGE_rx, 0);
	ndd_cycles_mark(&c, NDD_STAGE_doorbells, 0);
	ndd_cycles_idle(&c, NDD_STAGE_idle);
	ndd_cycles_mark(&c, NDD_STAGE_rx, 0);
	ndd_cycles_idle(&c, NDD_STAGE_yield);
	ndd_cycles_idle(&c, NDD_STAGE_sleep);
	copy = copy_of(&c);
	for (unsigned i = 0; i < NDD_STAGES_BUSY; i++)
		cr_expect(zero(u64, copy.stage[i].cycles), "stage %u", i);
	cr_expect(zero(u64, copy.turns));
	cr_expect(eq(u64, copy.stage[NDD_STAGE_idle].items, 3));
	cr_expect(eq(u64, copy.stage[NDD_STAGE_yield].items, 1));
	cr_expect(eq(u64, copy.stage[NDD_STAGE_sleep].items, 1));
	cr_expect(ne(u64, copy.stage[NDD_STAGE_sleep].cycles, 0));
}

Test(cycles, a_turn_under_way_is_not_told)
{
	struct ndd_cycles c = started();
	struct ndd_cycles_copy before, copy;

	ndd_cycles_mark(&c, NDD_STAGE_rx, 1);
	ndd_cycles_turn(&c, 0);
	before = copy_of(&c);
	ndd_cycles_mark(&c, NDD_STAGE_rx, 1);
	copy = copy_of(&c);
	cr_expect(eq(u64, copy.until, before.until));
	cr_expect(eq(u64, copy.stage[NDD_STAGE_rx].items, 1));
}

/* An lcore that is in the midst of it, and does not get on. */
Test(cycles, no_copy_is_better_than_a_wrong_one)
{
	struct ndd_cycles c = {.version = 1};
	struct ndd_cycles_copy copy;

	cr_expect(not(ndd_cycles_read(&c, &copy)));
}
