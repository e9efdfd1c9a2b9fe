/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A completion queue gets another ring while its client polls, arms and sleeps: the code of both
 * sides, as it stands in lib/, in many thousand interleavings with store buffers. The daemon moves
 * at any point between two entries; the client, who was told that it might, finds all entries in
 * order and never sleeps while one waits.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "models/interleave.h"

#include "../../../lib/shm/ndsh_arm.c"
#include "../../../lib/shm/ndsh_cq.c"
#include "../../../lib/shm/ndsh_resize.c"

#define RUNS	20000u
#define ENTRIES 6u
#define SMALL	4u
#define LARGE	8u

struct life {
	struct ndsh_cq cq;
	struct ndsh_cq_reader reader;
	void *next;
	uint32_t next_depth;
	unsigned move_at; /* entries made before */
	int wake;
	bool answered;
	unsigned seen, wrong, sleeps, settled_late;
};

static void
end_turn(struct life *l)
{
	ndsh_cq_publish(&l->cq);
	ndsh_full_barrier();
	if (ndsh_cq_fire(&l->cq))
		l->wake = 1;
}

/* The answer comes through a socket: behind the stores of the move. */
static void
move(struct life *l)
{
	(void)ndsh_cq_move(&l->cq, l->next, l->next_depth, l->next_depth);
	ndsh_full_barrier();
	l->answered = true;
}

/* Turns of one or two entries. The move may be in the middle of one. */
static void
daemon_turns(void *arg)
{
	struct life *l = arg;

	for (unsigned i = 0; i < ENTRIES; i++) {
		if (i == l->move_at)
			move(l);
		while (!ndsh_cq_push(&l->cq, &(struct ndsh_cqe){.context = i})) {
			l->cq.fault = NDSH_CQ_OK; /* full: the client takes some */
			end_turn(l);
			il_yield();
		}
		if (i % 2 == 0 && i % 3 != 0)
			continue;
		end_turn(l);
	}
}

static void
take(struct life *l)
{
	struct ndsh_cqe cqe;

	while (ndsh_cq_poll(&l->reader, &cqe, 1) == 1) {
		l->wrong += cqe.context != l->seen;
		l->seen++;
	}
}

/* The answer to the exchange comes at any time after it, a portion is carried over between two
 * polls; or polling goes over first. */
static void
client_lives(void *arg)
{
	struct life *l = arg;
	bool expecting = true;

	while (l->seen < ENTRIES) {
		if (expecting && l->answered && l->seen % 2 == 0) {
			expecting = ndsh_cq_settle(&l->reader, 1) == NDSH_SETTLING;
			l->settled_late += expecting;
		}
		take(l);
		if (l->seen == ENTRIES || ndsh_cq_arm(&l->reader, NDSH_ARM_ANY, NULL) != NDSH_ARMED)
			continue;
		l->sleeps++;
		il_sleep(&l->wake);
	}
}

static void
live(uint32_t from, uint32_t to)
{
	static _Alignas(64)
		uint8_t base[sizeof(struct ndsh_cq_page) + LARGE * sizeof(struct ndsh_cqe)];
	static _Alignas(64) uint8_t next[LARGE * sizeof(struct ndsh_cqe)];
	unsigned slept = 0, late = 0;

	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		struct life l = {
			.next = next, .next_depth = to, .move_at = (unsigned)(seed % ENTRIES)};

		memset(base, 0, sizeof(base));
		memset(next, 0, sizeof(next));
		ndsh_cq_view(&l.cq, base, from);
		ndsh_cq_reader_view(&l.reader, base, from);
		ndsh_cq_expect(&l.reader, next, to);
		il_run(seed, daemon_turns, client_lives, &l);
		cr_assert_eq(l.wrong, 0, "seed %lu: entries lost or doubled", (unsigned long)seed);
		cr_assert_eq(l.seen, ENTRIES, "seed %lu: asleep with %u of %u entries taken",
			(unsigned long)seed, l.seen, ENTRIES);
		slept += l.sleeps;
		late += l.settled_late;
	}
	cr_assert_gt(slept, RUNS / 2, "the interesting case must be common");
	cr_assert_gt(late, RUNS / 100, "and this one must occur");
}

/* checks R-CQ-15, R-RSZ-01[1,7] */
Test(interleave_resize, R_RSZ_01_up_no_entry_and_no_wake_up_is_lost)
{
	live(SMALL, LARGE);
}

/* checks R-RSZ-01[1,7] */
Test(interleave_resize, R_RSZ_01_down_no_entry_and_no_wake_up_is_lost)
{
	live(LARGE, SMALL);
}
