/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <sched.h>
#include <string.h>

#include "lcore/cycles.h"

#define READ_TRIES 1000u

/* Others read c->total word by word meanwhile: each store is a whole word, and none is moved out
 * from between the two of the version. */
static void
cycles_begin(struct ndd_cycles *c)
{
	__atomic_store_n(&c->version, c->version + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static void
cycles_end(struct ndd_cycles *c)
{
	__atomic_store_n(&c->version, c->version + 1, __ATOMIC_RELEASE);
}

static void
cycles_add(uint64_t *word, uint64_t n)
{
	__atomic_store_n(word, *word + n, __ATOMIC_RELAXED);
}

void
ndd_cycles_start(struct ndd_cycles *c, uint64_t hz)
{
	cycles_begin(c);
	c->mark = rte_rdtsc();
	c->own = (struct ndd_own){.hz = hz, .at = c->mark, .used_ns = ndd_thread_used_ns()};
	cycles_add(&c->total.since, c->mark - c->total.since);
	cycles_add(&c->total.until, c->mark - c->total.until);
	cycles_end(c);
}

static unsigned
length_of(uint64_t cycles)
{
	unsigned k = 63u - (unsigned)__builtin_clzll(cycles | 1);

	return k < NDD_LENGTHS ? k : NDD_LENGTHS - 1;
}

/* Of so many cycles in front of the mark, the thread's own. The kernel is asked if it matters, and
 * each millisecond, so that it is known to the millisecond when others had the CPU. */
static uint64_t
cycles_own(struct ndd_cycles *c, uint64_t cycles, bool matters)
{
	if (!matters && c->mark - c->own.at < c->own.hz / 1000)
		return cycles;
	return ndd_own_cycles(&c->own, c->mark, ndd_thread_used_ns(), cycles);
}

static void
count_length(struct ndd_cycles *c, uint64_t cycles, uint64_t own, uint64_t bound)
{
	cycles_add(&c->total.length[length_of(cycles)], 1);
	cycles_add(&c->total.own_length[length_of(own)], 1);
	if (own > c->total.own_longest)
		cycles_add(&c->total.own_longest, own - c->total.own_longest);
	if (own <= bound)
		return;
	cycles_add(&c->total.overlong, 1);
	for (unsigned i = 0; i < NDD_STAGES_BUSY; i++)
		cycles_add(&c->total.overlong_cycles[i], c->turn[i].cycles);
}

void
ndd_cycles_turn(struct ndd_cycles *c, uint64_t entries)
{
	const uint64_t bound = c->own.hz / (1000000 / NDD_CYCLES_TURN_US);
	const uint64_t cycles = c->mark - c->total.until;
	const uint64_t own = cycles_own(c, cycles, cycles > bound / 2);

	c->turn[NDD_STAGE_completion].items += entries - c->entries;
	c->entries = entries;
	cycles_begin(c);
	for (unsigned i = 0; i < NDD_STAGES_BUSY; i++) {
		cycles_add(&c->total.stage[i].cycles, c->turn[i].cycles);
		cycles_add(&c->total.stage[i].items, c->turn[i].items);
		if (c->turn[i].cycles > c->total.longest[i])
			cycles_add(&c->total.longest[i], c->turn[i].cycles - c->total.longest[i]);
	}
	cycles_add(&c->total.turns, 1);
	count_length(c, cycles, own, bound);
	cycles_add(&c->total.until, c->mark - c->total.until);
	cycles_end(c);
	memset(c->turn, 0, sizeof(c->turn));
}

void
ndd_cycles_idle(struct ndd_cycles *c, enum ndd_stage stage)
{
	uint64_t now = rte_rdtsc(), polled = c->mark;

	cycles_begin(c);
	cycles_add(&c->total.stage[NDD_STAGE_idle].cycles, polled - c->total.until);
	cycles_add(&c->total.stage[NDD_STAGE_idle].items, 1);
	cycles_add(&c->total.stage[stage].cycles, now - polled);
	if (stage != NDD_STAGE_idle)
		cycles_add(&c->total.stage[stage].items, 1);
	cycles_add(&c->total.until, now - c->total.until);
	cycles_end(c);
	c->mark = now;
	(void)cycles_own(c, 0, stage != NDD_STAGE_idle);
	memset(c->turn, 0, sizeof(c->turn));
}

bool
ndd_cycles_read(const struct ndd_cycles *c, struct ndd_cycles_copy *out)
{
	const uint64_t *from = (const uint64_t *)&c->total;
	uint64_t *to = (uint64_t *)out;

	static_assert(sizeof(*out) % sizeof(*to) == 0, "words, and nothing else");
	for (unsigned i = 0; i < READ_TRIES; i++) {
		uint32_t version = __atomic_load_n(&c->version, __ATOMIC_ACQUIRE);

		for (size_t w = 0; w < sizeof(*out) / sizeof(*to); w++)
			to[w] = __atomic_load_n(&from[w], __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if ((version & 1) == 0 && __atomic_load_n(&c->version, __ATOMIC_RELAXED) == version)
			return true;
		sched_yield(); /* the lcore may need this very CPU to come to its end */
	}
	return false;
}
