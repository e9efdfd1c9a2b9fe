/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The doorbell's two handshakes under x86-TSO, all interleavings: a client posts and rings, a
 * daemon polls, parks, sleeps. The steps are those of ndsh_doorbell.c and
 * lib/roce/queue/send_ring.c, one instruction each, with one queue pair (one bit of one bitmap
 * word). Each mutation must be found.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

#include "models/tso.h"

enum var { RING, POLLED, BITMAP, SUMMARY, ASLEEP }; /* RING: descriptors whose phase is set */
enum ghost { WAKES };

enum mutation {
	NONE,
	C_NO_BARRIER,	 /* client: no barrier between descriptor and sq_polled */
	C_SUMMARY_FIRST, /* client: summary before bitmap */
	C_PLAIN_SUMMARY, /* client: summary by a plain store */
	C_NO_ASLEEP,	 /* client: never looks at asleep */
	D_PARK_NO_BARRIER,
	D_PARK_NO_LOOK, /* daemon: no second look at the ring when parking */
	D_SLEEP_NO_BARRIER,
	D_SLEEP_NO_LOOK, /* daemon: no second look at summary before it sleeps */
	D_BITMAP_FIRST,	 /* daemon: clears bitmap before summary */
	D_KEEPS_ASLEEP,	 /* daemon: marks itself asleep only after the look */
	MUTATIONS,
};
static const char *const mutation_names[MUTATIONS] = {
	"(none)",
	"client: no barrier before sq_polled",
	"client: summary before bitmap",
	"client: summary by a plain store",
	"client: no look at asleep",
	"daemon: parks without a barrier",
	"daemon: parks without a second look",
	"daemon: sleeps without a barrier",
	"daemon: sleeps without a second look",
	"daemon: clears bitmap before summary",
	"daemon: looks before it says asleep",
};

static enum mutation mutation;
static uint8_t posts;

/* pc 0: push; 1: barrier; 2: polled?; 3, 4: bitmap, summary; 5: asleep?; 6: next */
static enum tso_step
client_step(struct tso_state *s)
{
	struct tso_thread *th = &s->thread[0];
	uint8_t first = mutation == C_SUMMARY_FIRST ? SUMMARY : BITMAP;

	switch (th->pc) {
	case 0:
		if (th->reg[0] == posts || !tso_store(s, 0, RING, th->reg[0] + 1))
			return TSO_BLOCK;
		th->reg[0]++;
		th->pc = 1;
		return TSO_DONE;
	case 1:
		if (mutation != C_NO_BARRIER && !tso_drained(s, 0))
			return TSO_BLOCK;
		th->pc = 2;
		return TSO_DONE;
	case 2:
		th->pc = tso_load(s, 0, POLLED) ? 0 : 3;
		return TSO_DONE;
	case 3:
		if (!tso_drained(s, 0))
			return TSO_BLOCK;
		s->mem[first] = 1;
		th->pc = 4;
		return TSO_DONE;
	case 4:
		th->pc = mutation == C_NO_ASLEEP ? 0 : 5;
		if (mutation == C_PLAIN_SUMMARY)
			return tso_store(s, 0, SUMMARY, 1) ? TSO_DONE : TSO_BLOCK;
		if (!tso_drained(s, 0))
			return TSO_BLOCK;
		s->mem[BITMAP + SUMMARY - first] = 1;
		return TSO_DONE;
	default:
		if (tso_load(s, 0, ASLEEP))
			s->ghost[WAKES]++;
		th->pc = 0;
		return TSO_DONE;
	}
}

enum { TAKEN, SEEN }; /* registers of the daemon */

static bool
look(struct tso_state *s)
{
	struct tso_thread *th = &s->thread[1];
	uint8_t ring = tso_load(s, 1, RING);
	bool more = ring > th->reg[TAKEN];

	th->reg[TAKEN] = ring;
	return more;
}

/* pc 0: polled, look at the ring; 1..3: park; 4: unpark; 10: look at summary; 11, 12: take bits;
 * 13: look at the ring; 20..22: go to sleep; 23: asleep; 24: awake */
static enum tso_step
daemon_step(struct tso_state *s)
{
	struct tso_thread *th = &s->thread[1];

	switch (th->pc) {
	case 0:
		th->pc = look(s) ? 0 : 1;
		return TSO_DONE;
	case 1:
		th->pc = mutation == D_PARK_NO_BARRIER ? 3 : mutation == D_PARK_NO_LOOK ? 10 : 2;
		return tso_store(s, 1, POLLED, 0) ? TSO_DONE : TSO_BLOCK;
	case 2:
		if (!tso_drained(s, 1))
			return TSO_BLOCK;
		th->pc = 3;
		return TSO_DONE;
	case 3:
		th->pc = look(s) ? 4 : 10;
		return TSO_DONE;
	case 4:
		th->pc = 0;
		return tso_store(s, 1, POLLED, 1) ? TSO_DONE : TSO_BLOCK;
	case 10:
		th->pc = tso_load(s, 1, SUMMARY) ? 11 : 20;
		return TSO_DONE;
	case 11:
	case 12:
		if (!tso_drained(s, 1))
			return TSO_BLOCK;
		if ((th->pc == 11) == (mutation != D_BITMAP_FIRST)) {
			s->mem[SUMMARY] = 0;
		} else {
			th->reg[SEEN] = s->mem[BITMAP];
			s->mem[BITMAP] = 0;
		}
		th->pc++;
		if (th->pc == 13 && !th->reg[SEEN])
			th->pc = 10;
		return TSO_DONE;
	case 13:
		th->reg[SEEN] = 0;
		(void)look(s);
		th->pc = 4;
		return TSO_DONE;
	case 20:
		th->pc = mutation == D_SLEEP_NO_BARRIER ? 22
			 : mutation == D_SLEEP_NO_LOOK	? 23
							: 21;
		if (mutation == D_KEEPS_ASLEEP) {
			if (tso_load(s, 1, SUMMARY)) {
				th->pc = 10;
				return TSO_DONE;
			}
			th->pc = 23;
		}
		return tso_store(s, 1, ASLEEP, 1) ? TSO_DONE : TSO_BLOCK;
	case 21:
		if (!tso_drained(s, 1))
			return TSO_BLOCK;
		th->pc = 22;
		return TSO_DONE;
	case 22:
		th->pc = tso_load(s, 1, SUMMARY) ? 24 : 23;
		return TSO_DONE;
	case 23:
		if (s->ghost[WAKES] == 0)
			return TSO_BLOCK;
		s->ghost[WAKES] = 0; /* it reads all bytes */
		th->pc = 24;
		return TSO_DONE;
	default:
		th->pc = 10;
		return tso_store(s, 1, ASLEEP, 0) ? TSO_DONE : TSO_BLOCK;
	}
}

static enum tso_step
step(struct tso_state *s, int t, const char **wrong)
{
	struct tso_state before = *s;
	enum tso_step result = t == 0 ? client_step(s) : daemon_step(s);

	(void)wrong;
	if (result == TSO_BLOCK)
		*s = before;
	return result;
}

static const char *
stuck(const struct tso_state *s)
{
	return s->thread[1].reg[TAKEN] < posts ? "the daemon sleeps on a descriptor" : NULL;
}

static const char *
run(enum mutation m, bool polled, uint8_t n, size_t *states)
{
	const struct tso_model model = {.step = step, .stuck = stuck};
	struct tso_state start = {.mem = {[POLLED] = polled}};

	start.thread[1].pc = polled ? 0 : 10;
	mutation = m;
	posts = n;
	return tso_explore(&model, &start, states);
}

Test(doorbell_tso, no_interleaving_leaves_a_descriptor_unseen)
{
	size_t states, total = 0;

	for (uint8_t n = 1; n <= 3; n++) {
		for (int polled = 0; polled <= 1; polled++) {
			const char *wrong = run(NONE, polled, n, &states);

			cr_expect(wrong == NULL, "%u posts, polled %d: %s", n, polled, wrong);
			total += states;
		}
	}
	printf("doorbell: %zu states, no fault\n", total);
}

Test(doorbell_tso, every_barrier_order_and_look_is_needed)
{
	for (enum mutation m = NONE + 1; m < MUTATIONS; m++) {
		const char *found = NULL;
		size_t states;

		for (uint8_t n = 1; n <= 3 && found == NULL; n++)
			for (int polled = 0; polled <= 1 && found == NULL; polled++)
				found = run(m, polled, n, &states);
		if (found != NULL)
			printf("%-40s %s\n", mutation_names[m], found);
		cr_expect(found != NULL, "%s: not found", mutation_names[m]);
	}
}
