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
ndd_cycles_start(struct ndd_cycles *c)
{
	cycles_begin(c);
	c->mark = rte_rdtsc();
	cycles_add(&c->total.since, c->mark - c->total.since);
	cycles_add(&c->total.until, c->mark - c->total.until);
	cycles_end(c);
}

void
ndd_cycles_turn(struct ndd_cycles *c, uint64_t entries)
{
	c->turn[NDD_STAGE_completion].items += entries - c->entries;
	c->entries = entries;
	cycles_begin(c);
	for (unsigned i = 0; i < NDD_STAGES_BUSY; i++) {
		cycles_add(&c->total.stage[i].cycles, c->turn[i].cycles);
		cycles_add(&c->total.stage[i].items, c->turn[i].items);
	}
	cycles_add(&c->total.turns, 1);
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
