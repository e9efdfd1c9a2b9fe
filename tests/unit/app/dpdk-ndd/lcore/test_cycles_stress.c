/* SPDX-License-Identifier: BSD-3-Clause */
/* Where an lcore's cycles go, read while the lcore runs: each copy is consistent in itself. */
#include <pthread.h>
#include <sched.h>

#include "lcore/cycles.h"

#define HZ 2000000000ull /* of the counter, it says */
#include "rigs/stress.h"

#define COPIES 5000u /* of different turns */

struct counting {
	struct ndd_cycles c;
	uint32_t over; /* atomic */
};

static void *
lcore(void *arg)
{
	struct counting *n = arg;
	uint32_t seed = 1;

	while (__atomic_load_n(&n->over, __ATOMIC_RELAXED) == 0) {
		for (unsigned i = 0; i < NDD_STAGES_BUSY; i++)
			ndd_cycles_mark(&n->c, (enum ndd_stage)i, 1);
		if (stress_pause(&seed) & 64)
			ndd_cycles_turn(&n->c, seed);
		else
			ndd_cycles_idle(&n->c, NDD_STAGE_yield);
	}
	return NULL;
}

int
main(void)
{
	static struct counting n;
	struct ndd_cycles_copy copy;
	uint64_t turns = 0, time_out = (uint64_t)time(NULL) + STRESS_DEADLINE_S;
	unsigned got = 0, tries = 0;
	pthread_t thread;

	ndd_cycles_start(&n.c, HZ);
	pthread_create(&thread, NULL, lcore, &n);
	for (; got < COPIES; tries++) {
		uint64_t sum = 0;

		STRESS_CHECK(
			(uint64_t)time(NULL) < time_out, "%u copies of %u tries\n", got, tries);
		if (!ndd_cycles_read(&n.c, &copy) || copy.turns == turns) {
			sched_yield();
			continue;
		}
		for (unsigned i = 0; i < NDD_STAGE_COUNT; i++)
			sum += copy.stage[i].cycles;
		STRESS_CHECK(sum == copy.until - copy.since, "copy %u\n", got);
		STRESS_CHECK(copy.turns > turns, "copy %u\n", got);
		STRESS_CHECK(copy.stage[NDD_STAGE_rx].items == copy.turns, "copy %u\n", got);
		turns = copy.turns;
		got++;
	}
	__atomic_store_n(&n.over, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	printf("%u copies of %u tries, %llu turns\n", got, tries, (unsigned long long)turns);
	return 0;
}
