/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Callbacks of a completion queue under x86-TSO, all interleavings. The daemon's steps are those of
 * ndsh_cq_publish(), ndsh_cq_fire() and of the lcore that writes the pipe; the client's are
 * nd_cq_arm_callback(), nd_cq_cancel() and what the library's thread does when it is woken
 * (cq/callback.c), one access to shared memory per step. Whoever changes those changes them
 * here too. The client's threads are one in the model: what they do is done under nd_cq.lock.
 * test_arm_tso.c has the arm word itself.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "models/tso.h"

enum var { ENTRIES, PRODUCED, SOLICITED, ARM }; /* ENTRIES: those whose phase is set */
/* PIPE: bytes in it or in the eventfd; ARMED: nd_cq.armed_callback; DUE: an arm has fired and its
 * callback was not entered; TOLD: entries made when the last one was; OLD: taken when armed for */
enum ghost { PIPE, ARMED, DUE, TOLD, OLD, SPENT_LATE };
enum type { T_NONE, T_SOLICITED, T_ANY };
#define WORD(type, n) ((uint8_t)((type) << 4 | (n)))
#define TYPE(w)	      ((w) >> 4)
#define SEQ(w)	      ((uint8_t)((w)&15))

enum mutation {
	NONE,
	D_WRITE_FIRST, /* daemon: writes the pipe before it has won the swap */
	A_NO_KICK,     /* arm: a reason that is there already wakes no thread */
	A_NO_JOIN,     /* arm: an earlier arm that has fired meanwhile is not seen */
	A_NO_DISARM,   /* arm: that is seen, but the new arm stays set */
	E_JUDGE_FIRST, /* enter: looks at the word, then empties the pipe */
	E_ANY_BYTE,    /* enter: a byte in the pipe is enough */
	E_NO_MARK,     /* enter: does not move the mark */
	E_SPENT_LATE,  /* enter: the arm is spent when the callback returns */
	E_NOT_SPENT,   /* enter: the arm is not spent */
	X_FORGETS,     /* cancel: also an arm that has fired */
	X_STORES,      /* cancel: stores the word instead of swapping it */
	MUTATIONS,
};
static const char *const mutation_names[MUTATIONS] = {
	"(none)",
	"daemon: writes the pipe, then swaps",
	"arm: no thread is woken at once",
	"arm: does not see that an earlier arm fired",
	"arm: stays set behind one that fired",
	"enter: judges, then empties the pipe",
	"enter: without a look at the word",
	"enter: without the mark",
	"enter: the arm is spent on return",
	"enter: the arm is not spent",
	"cancel: forgets a callback that is due",
	"cancel: store instead of swap",
};

/* What the daemon makes: u, s: unsolicited, solicited entry; a turn ends with '|'. */
/* What the client does: a, s arm for ANY, SOLICITED; p poll; x cancel; c until a callback is
 * entered; r it returns */
struct scenario {
	const char *name, *daemon, *client;
};
static const struct scenario scenarios[] = {
	{"poll and arm inside", "u|u|u|", "acparcparcpr"},
	{"batches", "uu|s|", "acparcpr"},
	{"arm inside, poll outside", "u|u|", "acarcrpac"},
	{"armed twice", "u|u|", "aacprac"},
	{"polled between two arms", "u|u|", "apacprac"},
	{"armed twice inside", "u|u|", "acaarcprac"},
	{"cancel", "u|u|", "axc"},
	{"cancel, and armed again", "u|u|", "axacprc"},
	{"cancel inside", "u|u|", "acaxracpr"},
	{"upgrade", "u|s|", "spacprac"},
	{"weaker behind", "u|s|", "aspcprsc"},
	{"solicited", "u|s|", "scpr"},
};

static enum mutation mutation;
static const struct scenario *scenario;

static uint8_t
max8(uint8_t a, uint8_t b)
{
	return a > b ? a : b;
}

/* ---- daemon -------------------------------------------------------------------------- */

enum { D_AT, D_MADE, D_SOL, D_WORD }; /* registers */

static enum tso_step
daemon_fires(struct tso_state *s, uint8_t *r, uint8_t *pc)
{
	if (!tso_drained(s, 0))
		return TSO_BLOCK;
	if (s->mem[ARM] != r[D_WORD]) {
		r[D_WORD] = s->mem[ARM];
		*pc = 5;
		return TSO_DONE;
	}
	s->mem[ARM] = WORD(T_NONE, r[D_MADE]);
	s->ghost[DUE] = 1;
	*pc = mutation == D_WRITE_FIRST ? 8 : 7;
	return TSO_DONE;
}

/* pc 0: produce; 1, 2: publish; 3: barrier; 4: load the word; 5: judge; 6: swap; 7: write the pipe;
 * 8: next turn; 9: write too early */
static enum tso_step
daemon_step(struct tso_state *s)
{
	uint8_t *r = s->thread[0].reg, *pc = &s->thread[0].pc;
	char c = scenario->daemon[r[D_AT]];
	uint8_t type = TYPE(r[D_WORD]), newest = type == T_ANY ? r[D_MADE] : r[D_SOL];

	switch (*pc) {
	case 0:
		if (c == 0)
			return TSO_BLOCK;
		if (c != '|') {
			if (!tso_store(s, 0, ENTRIES, r[D_MADE] + 1))
				return TSO_BLOCK;
			r[D_MADE]++;
			if (c == 's')
				r[D_SOL] = r[D_MADE];
			r[D_AT]++;
			return TSO_DONE;
		}
		*pc = 1;
		return TSO_DONE;
	case 1:
		*pc = 2;
		return tso_store(s, 0, SOLICITED, r[D_SOL]) ? TSO_DONE : TSO_BLOCK;
	case 2:
		*pc = 3;
		return tso_store(s, 0, PRODUCED, r[D_MADE]) ? TSO_DONE : TSO_BLOCK;
	case 3:
		*pc = 4;
		return tso_drained(s, 0) ? TSO_DONE : TSO_BLOCK;
	case 4:
		r[D_WORD] = tso_load(s, 0, ARM);
		*pc = 5;
		return TSO_DONE;
	case 5:
		*pc = type == T_NONE || newest <= SEQ(r[D_WORD]) ? 8
		      : mutation == D_WRITE_FIRST		 ? 9
								 : 6;
		return TSO_DONE;
	case 6:
		return daemon_fires(s, r, pc);
	case 7:
		s->ghost[PIPE] = 1;
		*pc = 8;
		return TSO_DONE;
	case 9:
		s->ghost[PIPE] = 1;
		*pc = 6;
		return TSO_DONE;
	default:
		r[D_AT]++;
		*pc = 0;
		return TSO_DONE;
	}
}

/* ---- client: arming ------------------------------------------------------------------ */

enum { C_AT, C_TAKEN, C_WORD, C_BEFORE, C_JOINS, C_FIRED, C_TYPE, C_P }; /* registers */

static enum tso_step
next_letter(uint8_t *r, uint8_t *pc)
{
	r[C_AT]++;
	r[C_WORD] = r[C_BEFORE] = r[C_JOINS] = r[C_FIRED] = r[C_TYPE] = r[C_P] = 0;
	*pc = 0;
	return TSO_DONE;
}

static uint8_t
joined(const uint8_t *r)
{
	uint8_t old = TYPE(r[C_WORD]), n = SEQ(r[C_WORD]);

	return WORD(max8(r[C_TYPE], old), old == T_NONE ? max8(n, r[C_TAKEN]) : n);
}

/* A swap of the arm word; where it fails the register has what is there. */
static bool
swap(struct tso_state *s, uint8_t *r, uint8_t desired)
{
	if (s->mem[ARM] == r[C_WORD]) {
		s->mem[ARM] = desired;
		return true;
	}
	r[C_WORD] = s->mem[ARM];
	return false;
}

/* pc 10: load; 11: swap in; 12: load again; 13: load P and judge; 14: fire; 15: outcome; 16, 17:
 * disarm */
static enum tso_step
arm_step(struct tso_state *s, uint8_t *r, uint8_t *pc)
{
	switch (*pc) {
	case 10:
		r[C_WORD] = tso_load(s, 1, ARM);
		r[C_JOINS] = s->ghost[ARMED];
		if (!r[C_JOINS])
			s->ghost[OLD] = r[C_TAKEN];
		s->ghost[ARMED] = 1;
		*pc = 11;
		return TSO_DONE;
	case 11:
		if (!tso_drained(s, 1))
			return TSO_BLOCK;
		r[C_BEFORE] = TYPE(r[C_WORD]);
		if (swap(s, r, joined(r)))
			*pc = 12;
		return TSO_DONE;
	case 12:
		r[C_WORD] = tso_load(s, 1, ARM);
		*pc = TYPE(r[C_WORD]) == T_NONE ? 15 : 13;
		return TSO_DONE;
	case 13:
		r[C_P] = tso_load(s, 1, PRODUCED);
		*pc = r[C_P] <= max8(SEQ(r[C_WORD]), r[C_TAKEN]) ? 15 : 14;
		return TSO_DONE;
	case 14:
		if (!tso_drained(s, 1))
			return TSO_BLOCK;
		if (swap(s, r, WORD(T_NONE, r[C_P]))) {
			r[C_FIRED] = 1;
			s->ghost[DUE] = 1;
			*pc = 15;
		} else {
			*pc = TYPE(r[C_WORD]) == T_NONE ? 15 : 13;
		}
		return TSO_DONE;
	case 15:
		*pc = 18;
		if (r[C_JOINS] && r[C_BEFORE] == T_NONE && mutation != A_NO_JOIN)
			*pc = mutation == A_NO_DISARM ? 18 : 16;
		else if (!r[C_FIRED])
			return next_letter(r, pc);
		return TSO_DONE;
	case 16:
		r[C_WORD] = tso_load(s, 1, ARM);
		*pc = 17;
		return TSO_DONE;
	case 17:
		if (!tso_drained(s, 1))
			return TSO_BLOCK;
		if (TYPE(r[C_WORD]) == T_NONE || swap(s, r, WORD(T_NONE, SEQ(r[C_WORD]))))
			*pc = 18;
		return TSO_DONE;
	default:
		if (mutation != A_NO_KICK)
			s->ghost[PIPE] = 1;
		return next_letter(r, pc);
	}
}

/* ---- client: cancelling, and the thread of callbacks --------------------------------- */

/* pc 30: load; 31: swap */
static enum tso_step
cancel_step(struct tso_state *s, uint8_t *r, uint8_t *pc)
{
	if (*pc == 30) {
		r[C_WORD] = tso_load(s, 1, ARM);
		*pc = 31;
		return TSO_DONE;
	}
	if (!tso_drained(s, 1))
		return TSO_BLOCK;
	if (TYPE(r[C_WORD]) == T_NONE) {
		if (mutation == X_FORGETS)
			s->ghost[ARMED] = 0;
		return next_letter(r, pc);
	}
	if (mutation == X_STORES)
		r[C_WORD] = s->mem[ARM] = WORD(T_NONE, SEQ(r[C_WORD]));
	else if (!swap(s, r, WORD(T_NONE, SEQ(r[C_WORD]))))
		return TSO_DONE;
	s->ghost[ARMED] = 0;
	return next_letter(r, pc);
}

static void
entered(struct tso_state *s, const char **wrong)
{
	if (!s->ghost[DUE])
		*wrong = "a callback though nothing has fired";
	else if (s->mem[PRODUCED] <= max8(s->ghost[TOLD], s->ghost[OLD]))
		*wrong = "a callback for entries that were told or taken before";
	s->ghost[DUE] = 0;
	if (mutation == E_SPENT_LATE)
		s->ghost[SPENT_LATE] = 1;
	else if (mutation != E_NOT_SPENT)
		s->ghost[ARMED] = 0;
}

/* pc 20: asleep; 21: look at the word; 22: the mark: load P; 23: swap it in */
static enum tso_step
enter_step(struct tso_state *s, uint8_t *r, uint8_t *pc, const char **wrong)
{
	switch (*pc) {
	case 20:
		if (!s->ghost[PIPE])
			return TSO_BLOCK;
		if (mutation != E_JUDGE_FIRST)
			s->ghost[PIPE] = 0;
		*pc = 21;
		return TSO_DONE;
	case 21:
		r[C_WORD] = tso_load(s, 1, ARM);
		*pc = 22;
		if (!s->ghost[ARMED] || (TYPE(r[C_WORD]) != T_NONE && mutation != E_ANY_BYTE))
			*pc = mutation == E_JUDGE_FIRST ? 24 : 20;
		return TSO_DONE;
	case 22:
		entered(s, wrong);
		if (mutation == E_JUDGE_FIRST)
			s->ghost[PIPE] = 0;
		r[C_P] = s->ghost[TOLD] = tso_load(s, 1, PRODUCED);
		if (mutation == E_NO_MARK)
			return next_letter(r, pc);
		*pc = 23;
		return TSO_DONE;
	case 23:
		if (!tso_drained(s, 1))
			return TSO_BLOCK;
		if (swap(s, r, WORD(T_NONE, max8(SEQ(r[C_WORD]), r[C_P]))))
			return next_letter(r, pc);
		return TSO_DONE;
	default:
		s->ghost[PIPE] = 0;
		*pc = 20;
		return TSO_DONE;
	}
}

static enum tso_step
client_step(struct tso_state *s, const char **wrong)
{
	uint8_t *r = s->thread[1].reg, *pc = &s->thread[1].pc;

	if (*pc >= 30)
		return cancel_step(s, r, pc);
	if (*pc >= 20)
		return enter_step(s, r, pc, wrong);
	if (*pc >= 10)
		return arm_step(s, r, pc);
	switch (scenario->client[r[C_AT]]) {
	case 0:
		return TSO_BLOCK;
	case 'p':
		r[C_TAKEN] = tso_load(s, 1, ENTRIES);
		return next_letter(r, pc);
	case 'r':
		if (s->ghost[SPENT_LATE])
			s->ghost[ARMED] = s->ghost[SPENT_LATE] = 0;
		return next_letter(r, pc);
	case 'a':
	case 's':
		r[C_TYPE] = scenario->client[r[C_AT]] == 'a' ? T_ANY : T_SOLICITED;
		*pc = 10;
		return TSO_DONE;
	case 'x':
		*pc = 30;
		return TSO_DONE;
	default:
		*pc = 20;
		return TSO_DONE;
	}
}

/* ---- the two together ---------------------------------------------------------------- */

static enum tso_step
step(struct tso_state *s, int t, const char **wrong)
{
	struct tso_state before = *s;
	enum tso_step result = t == 0 ? daemon_step(s) : client_step(s, wrong);

	if (result == TSO_BLOCK)
		*s = before;
	return result;
}

/* The daemon has done all it had to; is the client asleep though it should not be? */
static const char *
stuck(const struct tso_state *s)
{
	const uint8_t *r = s->thread[1].reg;
	uint8_t old = max8(s->ghost[TOLD], r[C_TAKEN]);
	char last = 0;

	if (scenario->client[r[C_AT]] != 'c')
		return NULL;
	if (s->ghost[DUE])
		return "a callback that is due never comes";
	for (uint8_t i = 0; i < r[C_AT]; i++) /* is it armed, by what it was told last? */
		if (strchr("asxc", scenario->client[i]) != NULL)
			last = scenario->client[i];
	if (last == 'a' && s->mem[ENTRIES] > old)
		return "armed, a new entry, and no callback";
	return NULL;
}

static const char *
run(size_t i, size_t m, size_t *states)
{
	const struct tso_model model = {.step = step, .stuck = stuck};
	const struct tso_state start = {0};

	scenario = &scenarios[i];
	mutation = (enum mutation)m;
	return tso_explore(&model, &start, states);
}

static const char *
scenario_name(size_t i)
{
	return scenarios[i].name;
}

static const struct tso_suite suite = {
	.scenarios = sizeof(scenarios) / sizeof(scenarios[0]),
	.mutations = MUTATIONS,
	.run = run,
	.scenario_name = scenario_name,
	.mutation_names = mutation_names,
};

/* checks R-CQ-24, R-CQ-25[1] */
Test(arm_callback_tso, no_interleaving_loses_or_doubles_a_callback)
{
	tso_expect_sound(&suite, "callbacks");
}

Test(arm_callback_tso, every_step_is_needed)
{
	tso_expect_all_needed(&suite);
}
