/* SPDX-License-Identifier: BSD-3-Clause */
/* Where an lcore's cycles go: each to one stage, whatever kind of turn it was. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "lcore/cycles.h"

#define HZ 2000000000ull /* of the counter, it says */

static struct ndd_cycles
started(void)
{
	struct ndd_cycles c = {.version = 0};

	ndd_cycles_start(&c, HZ);
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

static void
spin(uint64_t cycles)
{
	uint64_t end = rte_rdtsc() + cycles;

	while (rte_rdtsc() < end)
		;
}

Test(cycles, the_longest_of_each_stage_stays)
{
	struct ndd_cycles c = started();
	struct ndd_cycles_copy copy;

	spin(200000);
	ndd_cycles_mark(&c, NDD_STAGE_rx, 1);
	spin(100000);
	ndd_cycles_mark(&c, NDD_STAGE_rx, 1); /* of the same turn */
	ndd_cycles_mark(&c, NDD_STAGE_tx, 1);
	ndd_cycles_turn(&c, 0);
	copy = copy_of(&c);
	cr_expect(ge(u64, copy.longest[NDD_STAGE_rx], 300000));
	cr_expect(eq(u64, copy.longest[NDD_STAGE_rx], copy.stage[NDD_STAGE_rx].cycles));
	ndd_cycles_mark(&c, NDD_STAGE_rx, 1);
	c.turn[NDD_STAGE_rx].cycles = 10; /* whatever it took */
	c.turn[NDD_STAGE_tx].cycles = copy.longest[NDD_STAGE_tx] + 1;
	ndd_cycles_turn(&c, 0);
	cr_expect(eq(u64, c.total.longest[NDD_STAGE_rx], copy.longest[NDD_STAGE_rx]));
	cr_expect(eq(u64, c.total.longest[NDD_STAGE_tx], copy.longest[NDD_STAGE_tx] + 1));
}

/* From the end of what came before to the end of the turn, and counted once. */
Test(cycles, turns_with_work_are_counted_by_length)
{
	struct ndd_cycles c = started();

	for (unsigned k = 0; k <= NDD_LENGTHS; k += 10) {
		c.total.until = c.mark - (1ull << k);
		ndd_cycles_turn(&c, 0);
		c.total.until = c.mark - ((1ull << k) * 2 - 1);
		ndd_cycles_turn(&c, 0);
	}
	for (unsigned k = 0; k < NDD_LENGTHS; k++)
		cr_expect(eq(u64, c.total.length[k], k == 39 ? 2 : k % 10 == 0 ? 2 : 0), "%u", k);
	cr_expect(eq(u64, c.total.turns, 10));
	ndd_cycles_idle(&c, NDD_STAGE_sleep);
	cr_expect(eq(u64, c.total.length[0], 2), "no work, no turn");
}

/* ---- own.h ---- */

/* 100 us, of which others had 60. */
Test(cycles, what_others_had_of_the_cpu_is_not_the_threads)
{
	struct ndd_own o = {.hz = 2500000000, .at = 1000000, .used_ns = 7000};

	cr_expect(eq(u64, ndd_own_cycles(&o, 1250000, 47000, 250000), 100000));
	cr_expect(eq(u64, o.at, 1250000));
	cr_expect(eq(u64, o.used_ns, 47000));
}

Test(cycles, a_turn_loses_no_more_than_it_had)
{
	struct ndd_own o = {.hz = 1000000000, .at = 0, .used_ns = 0};

	cr_expect(
		zero(u64, ndd_own_cycles(&o, 5000, 1000, 3000)), "4000 were lost, most before it");
	cr_expect(eq(u64, ndd_own_cycles(&o, 6000, 2000, 1000), 1000), "those count no more");
	cr_expect(
		eq(u64, ndd_own_cycles(&o, 7000, 3010, 900), 900), "a clock that is a little fast");
}

/* A turn that sleeps; what the kernel says that the thread had of a CPU meanwhile. */
static uint64_t
turn_asleep(struct ndd_cycles *c)
{
	struct timespec wait = {.tv_nsec = 3000000};
	uint64_t used_ns = c->own.used_ns;

	nanosleep(&wait, NULL);
	ndd_cycles_mark(c, NDD_STAGE_rx, 1);
	ndd_cycles_turn(c, 0);
	return ndd_thread_used_ns() - used_ns;
}

/* The kernel of this machine counts a thread's CPU time: a long turn is the lcore's own if it
 * spins, and is not if it sleeps. A hypervisor may stop the CPU in between, and the kernel count
 * that as the thread's: such a turn tells nothing. */
Test(cycles, a_turn_that_had_the_cpu_is_overlong_and_one_that_waited_is_not)
{
	struct ndd_cycles c;

	do
		c = started();
	while (turn_asleep(&c) > NDD_CYCLES_TURN_US * 1000 / 2);
	cr_expect(zero(u64, c.total.overlong));
	cr_expect(lt(u64, c.total.own_longest, HZ / 1000));
	while (ndd_thread_used_ns() - c.own.used_ns < 3000000)
		;
	ndd_cycles_mark(&c, NDD_STAGE_rx, 1);
	ndd_cycles_turn(&c, 0);
	cr_expect(eq(u64, c.total.overlong, 1));
	cr_expect(ge(u64, c.total.own_longest, HZ / 1000));
}

/* An lcore that is in the midst of it, and does not get on. */
Test(cycles, no_copy_is_better_than_a_wrong_one)
{
	struct ndd_cycles c = {.version = 1};
	struct ndd_cycles_copy copy;

	cr_expect(not(ndd_cycles_read(&c, &copy)));
}
