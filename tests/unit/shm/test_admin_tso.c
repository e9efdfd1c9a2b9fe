/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The admin ring under x86-TSO, all interleavings: a client pushes requests while there is room,
 * rings the bell, takes answers, arms and sleeps; a daemon takes the bell, serves a few requests a
 * turn, answers and sleeps. The steps are those of ndsh_admin.c, ndsh_doorbell.c and ndsh_arm.c,
 * one instruction each, and around them of ndclient/mem/admin.c and lcore/doorbell.c. An answer is
 * one store here; what its entry and `produced` are to each other is for test_arm_tso.c. Each
 * mutation must be found.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

#include "models/tso.h"

#define DEPTH  2
#define BUDGET 1
#define MOST   4u    /* requests */
#define ARMED  0x10u /* above the number of entries that are old */
#define OLD(w) ((uint8_t)((w)&15))

enum var { RING, BITMAP, SUMMARY, ASLEEP, ANSWERS, ARM }; /* RING: requests whose phase is set */
enum ghost { DAEMON_WAKES, CLIENT_WAKES };

enum mutation {
	NONE,
	C_BELL_FIRST,	 /* client: rings before it pushes */
	C_SUMMARY_FIRST, /* client: summary before bitmap */
	C_PLAIN_SUMMARY, /* client: summary by a plain store */
	C_NO_ASLEEP,	 /* client: never looks at asleep */
	C_NO_ROOM_CHECK, /* client: pushes though the slot's request is not answered */
	C_PLAIN_ARM,	 /* client: arms by a plain store */
	C_NO_CHECK,	 /* client: no look at the answers after arming */
	D_BELL_LATE,	 /* daemon: serves, then takes the bell */
	D_BITMAP_FIRST,	 /* daemon: clears bitmap before summary */
	D_DROPS_REST,	 /* daemon: forgets what is beyond the budget */
	D_SLEEPS_DUE,	 /* daemon: sleeps though there may be more */
	D_NO_BARRIER,	 /* daemon: none between answering and judging */
	D_SLEEP_NO_BARRIER,
	D_SLEEP_NO_LOOK, /* daemon: no second look at summary */
	MUTATIONS,
};
static const char *const mutation_names[MUTATIONS] = {
	"(none)",
	"client: rings before it pushes",
	"client: summary before bitmap",
	"client: summary by a plain store",
	"client: no look at asleep",
	"client: pushes without room",
	"client: arms by a plain store",
	"client: no look after arming",
	"daemon: takes the bell after serving",
	"daemon: clears bitmap before summary",
	"daemon: forgets what is beyond the budget",
	"daemon: sleeps though more is due",
	"daemon: judges without a barrier",
	"daemon: sleeps without a barrier",
	"daemon: sleeps without a second look",
};

static enum mutation mutation;
static uint8_t requests, batch; /* batch: at most so many behind one ring of the bell */

enum { D_SERVED, D_DUE, D_BELL, D_WORD }; /* registers */
enum { C_PUSHED, C_RUNG, C_TAKEN, C_WORD, C_SEEN };

static enum tso_step
locked(struct tso_state *s, int t, uint8_t var, uint8_t val)
{
	if (!tso_drained(s, t))
		return TSO_BLOCK;
	s->mem[var] = val;
	return TSO_DONE;
}

static enum tso_step
stored(struct tso_state *s, int t, uint8_t var, uint8_t val)
{
	return tso_store(s, t, var, val) ? TSO_DONE : TSO_BLOCK;
}

/* ---- client -------------------------------------------------------------------------- */

static enum tso_step
push(struct tso_state *s, const char **wrong)
{
	struct tso_thread *th = &s->thread[0];

	if ((uint8_t)(th->reg[C_PUSHED] - s->thread[1].reg[D_SERVED]) == DEPTH)
		*wrong = "a request is overwritten";
	th->reg[C_PUSHED]++;
	th->pc = 0;
	return stored(s, 0, RING, th->reg[C_PUSHED]);
}

/* pc 0: push while there is room; 1: push; 2, 3: bitmap, summary; 4: asleep? */
static enum tso_step
client_asks(struct tso_state *s, const char **wrong)
{
	uint8_t first = mutation == C_SUMMARY_FIRST ? SUMMARY : BITMAP;
	struct tso_thread *th = &s->thread[0];
	uint8_t *r = th->reg;

	switch (th->pc) {
	case 0:
		if (r[C_PUSHED] < requests && r[C_PUSHED] - r[C_RUNG] < batch &&
			(r[C_PUSHED] - r[C_TAKEN] < DEPTH || mutation == C_NO_ROOM_CHECK))
			th->pc = mutation == C_BELL_FIRST && r[C_RUNG] == r[C_PUSHED] ? 2 : 1;
		else
			th->pc = r[C_RUNG] < r[C_PUSHED] && mutation != C_BELL_FIRST ? 2 : 5;
		if (th->pc == 2)
			r[C_RUNG] = r[C_PUSHED] + (mutation == C_BELL_FIRST);
		return TSO_DONE;
	case 1:
		return push(s, wrong);
	case 2:
		th->pc = 3;
		return locked(s, 0, first, 1);
	case 3:
		th->pc = mutation == C_NO_ASLEEP ? 0 : 4;
		if (mutation == C_PLAIN_SUMMARY)
			return stored(s, 0, SUMMARY, 1);
		return locked(s, 0, BITMAP + SUMMARY - first, 1);
	default:
		if (tso_load(s, 0, ASLEEP))
			s->ghost[DAEMON_WAKES] = 1; /* it reads all bytes */
		th->pc = 0;
		return TSO_DONE;
	}
}

/* pc 5: take; 6: load the arm word; 7: arm; 8: look; 9: satisfied at once; 10: asleep */
static enum tso_step
client_waits(struct tso_state *s)
{
	struct tso_thread *th = &s->thread[0];
	uint8_t *r = th->reg, seen;

	switch (th->pc) {
	case 5:
		seen = tso_load(s, 0, ANSWERS);
		if (seen == requests)
			return TSO_BLOCK; /* the end */
		th->pc = seen == r[C_TAKEN] ? 6 : 0;
		r[C_TAKEN] = seen;
		return TSO_DONE;
	case 6:
		r[C_WORD] = tso_load(s, 0, ARM);
		if (OLD(r[C_WORD]) < r[C_TAKEN])
			r[C_WORD] = r[C_TAKEN];
		r[C_WORD] |= ARMED;
		th->pc = 7;
		return TSO_DONE;
	case 7: /* nothing else changes a word that is not armed */
		th->pc = mutation == C_NO_CHECK ? 10 : 8;
		if (mutation == C_PLAIN_ARM)
			return stored(s, 0, ARM, r[C_WORD]);
		return locked(s, 0, ARM, r[C_WORD]);
	case 8:
		r[C_SEEN] = tso_load(s, 0, ANSWERS);
		th->pc = r[C_SEEN] > OLD(r[C_WORD]) ? 9 : 10;
		return TSO_DONE;
	case 9:
		if (!tso_drained(s, 0))
			return TSO_BLOCK;
		th->pc = 10; /* the daemon fired: it wakes */
		if (s->mem[ARM] == r[C_WORD]) {
			s->mem[ARM] = r[C_SEEN];
			th->pc = 5;
		}
		return TSO_DONE;
	default:
		if (s->ghost[CLIENT_WAKES] == 0)
			return TSO_BLOCK;
		s->ghost[CLIENT_WAKES] = 0;
		th->pc = 5;
		return TSO_DONE;
	}
}

/* ---- daemon -------------------------------------------------------------------------- */

/* pc 0: look at summary; 1, 2: take the bits */
static enum tso_step
daemon_takes_bell(struct tso_state *s)
{
	struct tso_thread *th = &s->thread[1];
	uint8_t *r = th->reg;
	uint8_t var = (th->pc == 1) == (mutation != D_BITMAP_FIRST) ? SUMMARY : BITMAP;

	if (th->pc == 0) {
		r[D_BELL] = 0;
		th->pc = tso_load(s, 1, SUMMARY) == 0 ? 3 : 1;
		if (mutation == D_BELL_LATE && th->pc == 1) {
			r[D_DUE] = r[D_BELL] = 1; /* taken behind serving */
			th->pc = 3;
		}
		return TSO_DONE;
	}
	if (!tso_drained(s, 1))
		return TSO_BLOCK;
	if (var == BITMAP && s->mem[BITMAP] && mutation != D_BELL_LATE)
		r[D_DUE] = 1;
	s->mem[var] = 0;
	th->pc++;
	if (th->pc == 3 && mutation == D_BELL_LATE)
		th->pc = 8;
	return TSO_DONE;
}

/* pc 3: fetch up to the budget; 4: answer; 5: barrier; 6: judge; 7: fire */
static enum tso_step
daemon_serves(struct tso_state *s)
{
	struct tso_thread *th = &s->thread[1];
	uint8_t *r = th->reg, served = r[D_SERVED];
	uint8_t after = mutation == D_BELL_LATE && r[D_BELL] ? 1 : 8;

	switch (th->pc) {
	case 3:
		while (r[D_DUE] && served - r[D_SERVED] < BUDGET && tso_load(s, 1, RING) > served)
			served++;
		r[D_DUE] = served - r[D_SERVED] == BUDGET && mutation != D_DROPS_REST;
		th->pc = served != r[D_SERVED] ? 4 : after;
		r[D_SERVED] = served;
		return TSO_DONE;
	case 4:
		th->pc = mutation == D_NO_BARRIER ? 6 : 5;
		return stored(s, 1, ANSWERS, served);
	case 5:
		th->pc = 6;
		return tso_drained(s, 1) ? TSO_DONE : TSO_BLOCK;
	case 6:
		r[D_WORD] = tso_load(s, 1, ARM);
		th->pc = (r[D_WORD] & ARMED) && served > OLD(r[D_WORD]) ? 7 : after;
		return TSO_DONE;
	default:
		if (!tso_drained(s, 1))
			return TSO_BLOCK;
		th->pc = 6;
		if (s->mem[ARM] == r[D_WORD]) {
			s->mem[ARM] = served;
			s->ghost[CLIENT_WAKES]++;
			th->pc = after;
		}
		return TSO_DONE;
	}
}

/* pc 8: the turn is over, sleep; 9: barrier; 10: look; 11: asleep; 12: awake */
static enum tso_step
daemon_sleeps(struct tso_state *s)
{
	struct tso_thread *th = &s->thread[1];

	switch (th->pc) {
	case 8:
		if (th->reg[D_DUE] && mutation != D_SLEEPS_DUE) {
			th->pc = 0;
			return TSO_DONE;
		}
		th->pc = mutation == D_SLEEP_NO_BARRIER ? 10 : mutation == D_SLEEP_NO_LOOK ? 11 : 9;
		return stored(s, 1, ASLEEP, 1);
	case 9:
		th->pc = 10;
		return tso_drained(s, 1) ? TSO_DONE : TSO_BLOCK;
	case 10:
		th->pc = tso_load(s, 1, SUMMARY) ? 12 : 11;
		return TSO_DONE;
	case 11:
		if (s->ghost[DAEMON_WAKES] == 0)
			return TSO_BLOCK;
		s->ghost[DAEMON_WAKES] = 0;
		th->pc = 12;
		return TSO_DONE;
	default:
		th->pc = 0;
		return stored(s, 1, ASLEEP, 0);
	}
}

/* ---- all interleavings --------------------------------------------------------------- */

static enum tso_step
step(struct tso_state *s, int t, const char **wrong)
{
	const uint8_t pc = s->thread[t].pc;
	struct tso_state before = *s;
	enum tso_step result;

	if (t == 0)
		result = pc < 5 ? client_asks(s, wrong) : client_waits(s);
	else
		result = pc < 3	  ? daemon_takes_bell(s)
			 : pc < 8 ? daemon_serves(s)
				  : daemon_sleeps(s);
	if (result == TSO_BLOCK)
		*s = before;
	return result;
}

static const char *
stuck(const struct tso_state *s)
{
	if (s->thread[1].reg[D_SERVED] < requests)
		return "a request is not served";
	return tso_load(s, 0, ANSWERS) == requests && s->thread[0].pc != 10
		       ? NULL
		       : "the client sleeps on an answer";
}

static const char *
run(enum mutation m, size_t *states)
{
	const struct tso_model model = {.step = step, .stuck = stuck};
	const struct tso_state start = {.mem = {0}};
	const char *wrong = NULL;
	size_t seen;

	mutation = m;
	*states = 0;
	for (requests = 1; requests <= MOST; requests++) {
		for (batch = 1; batch <= DEPTH; batch++) {
			wrong = tso_explore(&model, &start, &seen);
			*states += seen;
			if (wrong != NULL)
				return wrong;
		}
	}
	return NULL;
}

Test(admin_tso, no_interleaving_leaves_a_request_or_an_answer_unseen)
{
	size_t states;
	const char *wrong = run(NONE, &states);

	cr_expect(wrong == NULL, "%u requests, batches of %u: %s", requests, batch, wrong);
	printf("admin ring: %zu states, no fault\n", states);
}

Test(admin_tso, every_barrier_order_and_look_is_needed)
{
	for (enum mutation m = NONE + 1; m < MUTATIONS; m++) {
		size_t states;
		const char *found = run(m, &states);

		if (found != NULL)
			printf("%-44s %s\n", mutation_names[m], found);
		cr_expect(found != NULL, "%s: not found", mutation_names[m]);
	}
}
