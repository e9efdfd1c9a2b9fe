/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arm word under x86-TSO, all interleavings. The two step functions below are ndsh_cq_push(),
 * ndsh_cq_publish() and ndsh_cq_fire() on the daemon's side and ndsh_cq_poll() and ndsh_cq_arm() on
 * the client's, one instruction per step; whoever changes ndsh_arm.c changes them here too. Each
 * mutation leaves out or weakens one barrier, check or swap, and must be found in at least one
 * scenario.
 */
#include <criterion/criterion.h>

#include "models/tso.h"

enum var { ENTRIES, PRODUCED, SOLICITED, FAULT, ARM }; /* ENTRIES: those whose phase is set */
enum ghost { WAKES, TOKEN, FIRES, OWED_FROM, TAKEN_AT_ARM, HELD };
enum type { T_NONE, T_ERRORS, T_SOLICITED, T_ANY };
#define WORD(type, n) ((uint8_t)((type) << 4 | (n)))
#define TYPE(w)	      ((w) >> 4)
#define SEQ(w)	      ((uint8_t)((w)&15))

enum mutation {
	NONE,
	D_NO_BARRIER,	  /* daemon: no full barrier between publishing and judging */
	D_JUDGE_FIRST,	  /* daemon: judges before it publishes */
	D_NO_SEQ_CHECK,	  /* daemon: fires at any arm, P > N or not */
	D_NO_REJUDGE,	  /* daemon: gives up after a failed swap */
	D_PLAIN_STORE,	  /* daemon: stores the arm word instead of swapping it */
	D_ANY_ENTRY,	  /* daemon: SOLICITED fires for every entry */
	D_NO_FAULT,	  /* daemon: a fault fires nothing */
	C_NO_BARRIER,	  /* client: stores the arm word, no locked instruction */
	C_NO_CHECK,	  /* client: no look at P after arming */
	C_NO_FAULT_CHECK, /* client: no look at the fault after arming */
	C_NO_MAX,	  /* client: fires if P > N, also for entries it has taken */
	C_NO_RAISE,	  /* client: a new arm keeps N below what was taken */
	C_RAISE_ALWAYS,	  /* client: a joined arm raises N too */
	C_NO_RETRY,	  /* client: one attempt to swap the arm in */
	C_NO_JOIN,	  /* client: the later type replaces the stronger */
	C_NO_REJUDGE,	  /* client: believes to have fired though the swap failed */
	MUTATIONS,
};
static const char *const mutation_names[MUTATIONS] = {
	"(none)",
	"daemon: no barrier after publishing",
	"daemon: judges before publishing",
	"daemon: no P > N check",
	"daemon: no second judgement",
	"daemon: store instead of swap",
	"daemon: SOLICITED fires for any entry",
	"daemon: fault fires nothing",
	"client: arms without a barrier",
	"client: no check after arming",
	"client: no look at the fault",
	"client: P > N instead of P > max(N, C)",
	"client: a new arm keeps the old N",
	"client: a joined arm raises N",
	"client: arms without retry",
	"client: later type replaces",
	"client: no second judgement",
};

/* What the daemon makes: entries of a turn, turns end with '|'. u, s: unsolicited, solicited; f:
 * fault */
/* What the client does: p poll; a, s, e arm ANY, SOLICITED, ERRORS; w sleep if armed, else go on;
 * r from the start until all entries are taken; x end if the last arm did not hold */
struct scenario {
	const char *name, *daemon, *client;
	uint8_t entries;
};
static const struct scenario scenarios[] = {
	{"poll, arm, sleep", "u|u|", "pawr", 2},
	{"batches", "uu|s|", "pawr", 3},
	{"three turns", "u|u|u|", "pawr", 3},
	{"upgrade of a waiter, solicited", "s|", "spa", 1},
	{"upgrade of a waiter, plain", "u|", "spa", 1},
	{"solicited only", "s|u|", "ps", 2},
	{"solicited and then not", "u|s|", "psx", 2},
	{"stronger first", "u|", "axew", 1},
	{"fault", "f|", "ew", 0},
	{"fault behind an entry", "u|f|", "psxw", 1},
	{"join twice", "s|u|", "spspa", 2},
};

static enum mutation mutation;
static const struct scenario *scenario;

/* ---- daemon -------------------------------------------------------------------------- */

enum { D_AT, D_MADE, D_SOL, D_FAULT, D_WORD, D_PHASE }; /* registers */

static void
fire(struct tso_state *s, const char **wrong)
{
	if (s->ghost[TOKEN] == 0)
		*wrong = "two notifications for one arm";
	s->ghost[TOKEN] = 0;
	s->ghost[FIRES]++;
}

static bool
is_due(const uint8_t *r)
{
	uint8_t type = TYPE(r[D_WORD]), n = SEQ(r[D_WORD]);
	bool fault = r[D_FAULT] && mutation != D_NO_FAULT;

	if (type == T_NONE)
		return false;
	if (mutation == D_NO_SEQ_CHECK)
		return type == T_ANY || (type == T_SOLICITED && r[D_SOL] > 0) || fault;
	if (type == T_ERRORS)
		return fault;
	if (type == T_SOLICITED && mutation != D_ANY_ENTRY)
		return fault || r[D_SOL] > n;
	return fault || r[D_MADE] > n;
}

static void
daemon_fires(struct tso_state *s, const uint8_t *r, const char **wrong)
{
	fire(s, wrong);
	s->ghost[WAKES]++;
	/* R-CQ-06, R-CQ-14: nothing that was taken when the arm was set counts. */
	if (TYPE(r[D_WORD]) == T_SOLICITED && !r[D_FAULT] && r[D_SOL] <= s->ghost[TAKEN_AT_ARM])
		*wrong = "SOLICITED fired without a new solicited entry";
	if (TYPE(r[D_WORD]) == T_ANY && !r[D_FAULT] && r[D_MADE] <= s->ghost[TAKEN_AT_ARM])
		*wrong = "fired for an entry that was taken before";
}

static enum tso_step
daemon_swaps(struct tso_state *s, uint8_t *r, uint8_t *pc, uint8_t next, const char **wrong)
{
	uint8_t fired = WORD(T_NONE, r[D_MADE]);

	if (mutation == D_PLAIN_STORE) {
		if (!tso_store(s, 0, ARM, fired))
			return TSO_BLOCK;
		daemon_fires(s, r, wrong);
		*pc = next;
		return TSO_DONE;
	}
	if (!tso_drained(s, 0))
		return TSO_BLOCK;
	if (s->mem[ARM] == r[D_WORD]) {
		s->mem[ARM] = fired;
		daemon_fires(s, r, wrong);
		*pc = next;
	} else {
		r[D_WORD] = s->mem[ARM];
		*pc = mutation == D_NO_REJUDGE ? next : 6;
	}
	return TSO_DONE;
}

/* pc 0: produce; 1..3: publish; 4: barrier; 5: load the word; 6: judge; 7: swap; 8: next turn */
static enum tso_step
daemon_step(struct tso_state *s, const char **wrong)
{
	uint8_t *r = s->thread[0].reg, *pc = &s->thread[0].pc;
	uint8_t after_judging = mutation == D_JUDGE_FIRST ? 1 : 8;
	char c = scenario->daemon[r[D_AT]];

	switch (*pc) {
	case 0:
		if (c == 0)
			return TSO_BLOCK;
		if (c == '|') {
			*pc = mutation == D_JUDGE_FIRST ? 4 : 1;
			return TSO_DONE;
		}
		if (c != 'f' && !tso_store(s, 0, ENTRIES, r[D_MADE] + 1))
			return TSO_BLOCK;
		r[D_AT]++;
		if (c == 'f')
			r[D_FAULT] = 1;
		else
			r[D_MADE]++;
		if (c == 's')
			r[D_SOL] = r[D_MADE];
		return TSO_DONE;
	case 1:
		*pc = 2;
		return tso_store(s, 0, SOLICITED, r[D_SOL]) ? TSO_DONE : TSO_BLOCK;
	case 2:
		*pc = 3;
		return tso_store(s, 0, FAULT, r[D_FAULT]) ? TSO_DONE : TSO_BLOCK;
	case 3:
		*pc = mutation == D_JUDGE_FIRST ? 8 : 4;
		return tso_store(s, 0, PRODUCED, r[D_MADE]) ? TSO_DONE : TSO_BLOCK;
	case 4:
		if (mutation != D_NO_BARRIER && !tso_drained(s, 0))
			return TSO_BLOCK;
		*pc = 5;
		return TSO_DONE;
	case 5:
		r[D_WORD] = tso_load(s, 0, ARM);
		*pc = 6;
		return TSO_DONE;
	case 6:
		*pc = is_due(r) ? 7 : after_judging;
		return TSO_DONE;
	case 7:
		return daemon_swaps(s, r, pc, after_judging, wrong);
	default:
		r[D_AT]++;
		*pc = 0;
		return TSO_DONE;
	}
}

/* ---- client -------------------------------------------------------------------------- */

enum { C_AT, C_TAKEN, C_WORD, C_TYPE, C_RESULT, C_P }; /* registers */
enum { R_ARMED, R_FIRED, R_FAULT };

static uint8_t
joined(const uint8_t *r)
{
	uint8_t old = TYPE(r[C_WORD]), n = SEQ(r[C_WORD]);
	bool fresh = old == T_NONE || old == T_ERRORS || mutation == C_RAISE_ALWAYS;

	if (fresh && mutation != C_NO_RAISE && r[C_TAKEN] > n)
		n = r[C_TAKEN];
	return WORD(r[C_TYPE] > old || mutation == C_NO_JOIN ? r[C_TYPE] : old, n);
}

static void
armed(struct tso_state *s, const uint8_t *r)
{
	uint8_t old = TYPE(r[C_WORD]);

	if (s->ghost[TOKEN] == 0 && r[C_TYPE] == T_SOLICITED)
		s->ghost[OWED_FROM] = r[C_TAKEN] + 1; /* a waiter for entries after these */
	if (old == T_NONE || old == T_ERRORS)
		s->ghost[TAKEN_AT_ARM] = r[C_TAKEN];
	s->ghost[TOKEN] = 1;
	s->ghost[HELD] = 1;
}

/* pc 10: load; 11: swap in; 12: load again; 13: load P; 14: look at the fault; 15: judge; 16: fire
 */
static enum tso_step
client_arms(struct tso_state *s, uint8_t *r, uint8_t *pc, const char **wrong)
{
	uint8_t n = SEQ(r[C_WORD]);
	uint8_t old = mutation == C_NO_MAX || r[C_TAKEN] < n ? n : r[C_TAKEN];

	switch (*pc) {
	case 10:
		r[C_WORD] = tso_load(s, 1, ARM);
		*pc = 11;
		return TSO_DONE;
	case 11:
		if (mutation == C_NO_BARRIER) {
			if (!tso_store(s, 1, ARM, joined(r)))
				return TSO_BLOCK;
			armed(s, r);
			*pc = 12;
			return TSO_DONE;
		}
		if (!tso_drained(s, 1))
			return TSO_BLOCK;
		if (s->mem[ARM] == r[C_WORD]) {
			s->mem[ARM] = joined(r);
			armed(s, r);
			*pc = 12;
		} else {
			r[C_WORD] = s->mem[ARM];
			*pc = mutation == C_NO_RETRY ? 12 : 11;
		}
		return TSO_DONE;
	case 12:
		r[C_WORD] = tso_load(s, 1, ARM);
		r[C_RESULT] = R_ARMED;
		*pc = TYPE(r[C_WORD]) == T_NONE ? 1 : 13;
		return TSO_DONE;
	case 13:
		r[C_P] = tso_load(s, 1, PRODUCED);
		*pc = mutation == C_NO_FAULT_CHECK ? 15 : 14;
		return TSO_DONE;
	case 14:
		*pc = 15;
		if (tso_load(s, 1, FAULT)) {
			r[C_P] = n; /* the mark stays where it is */
			r[C_RESULT] = R_FAULT;
			*pc = 16;
		}
		return TSO_DONE;
	case 15:
		*pc = mutation == C_NO_CHECK || r[C_TYPE] == T_ERRORS || r[C_P] <= old ? 1 : 16;
		return TSO_DONE;
	default:
		if (!tso_drained(s, 1))
			return TSO_BLOCK;
		if (s->mem[ARM] != r[C_WORD] && mutation != C_NO_REJUDGE) {
			r[C_WORD] = s->mem[ARM];
			r[C_RESULT] = R_ARMED;
			*pc = TYPE(r[C_WORD]) == T_NONE ? 1 : 13;
			return TSO_DONE;
		}
		if (s->mem[ARM] == r[C_WORD])
			s->mem[ARM] = WORD(T_NONE, r[C_P]);
		if (r[C_RESULT] != R_FAULT) {
			r[C_RESULT] = R_FIRED;
			if (s->mem[ENTRIES] <= r[C_TAKEN])
				*wrong = "satisfied at once without an untaken entry";
		}
		fire(s, wrong);
		*pc = 1;
		return TSO_DONE;
	}
}

/* pc 0: the next word of the script; 1: past an arm */
static enum tso_step
client_step(struct tso_state *s, const char **wrong)
{
	uint8_t *r = s->thread[1].reg, *pc = &s->thread[1].pc;

	if (*pc >= 10)
		return client_arms(s, r, pc, wrong);
	if (*pc == 1) {
		if (r[C_RESULT] == R_ARMED && !s->ghost[HELD])
			*wrong = "called armed, but the arm was never set";
		s->ghost[HELD] = 0;
		r[C_AT]++;
		r[C_WORD] = r[C_TYPE] = r[C_P] = 0;
		*pc = 0;
		return TSO_DONE;
	}
	switch (scenario->client[r[C_AT]]) {
	case 0:
		return TSO_BLOCK;
	case 'p':
		r[C_TAKEN] = tso_load(s, 1, ENTRIES);
		break;
	case 'a':
	case 's':
	case 'e':
		r[C_TYPE] = scenario->client[r[C_AT]] == 'a'   ? T_ANY
			    : scenario->client[r[C_AT]] == 's' ? T_SOLICITED
							       : T_ERRORS;
		*pc = 10;
		return TSO_DONE;
	case 'w':
		if (r[C_RESULT] == R_ARMED) {
			if (s->ghost[WAKES] == 0)
				return TSO_BLOCK;
			s->ghost[WAKES]--;
			if (s->mem[ENTRIES] <= r[C_TAKEN] && !s->mem[FAULT])
				*wrong = "woken without an untaken entry";
		}
		break;
	case 'x':
		if (r[C_RESULT] != R_ARMED) {
			r[C_AT] = (uint8_t)__builtin_strlen(scenario->client);
			return TSO_DONE;
		}
		break;
	case 'r':
		if (r[C_TAKEN] < scenario->entries) {
			r[C_AT] = 0;
			return TSO_DONE;
		}
		break;
	}
	r[C_AT]++;
	return TSO_DONE;
}

/* ---- the two together ---------------------------------------------------------------- */

static enum tso_step
step(struct tso_state *s, int t, const char **wrong)
{
	struct tso_state before = *s;
	enum tso_step result = t == 0 ? daemon_step(s, wrong) : client_step(s, wrong);

	if (result == TSO_BLOCK)
		*s = before;
	return result;
}

/* Is a solicited entry from number `from` on in the daemon's script? */
static bool
solicited_from(uint8_t from)
{
	uint8_t n = 0;

	for (const char *c = scenario->daemon; *c != 0; c++) {
		if (*c == 'u' || *c == 's')
			n++;
		if (*c == 's' && n >= from)
			return true;
	}
	return false;
}

static const char *
stuck(const struct tso_state *s)
{
	const uint8_t *r = s->thread[1].reg;
	bool asleep = scenario->client[r[C_AT]] == 'w';
	bool fault = s->mem[FAULT] != 0;

	if (asleep && (r[C_TAKEN] < scenario->entries || fault))
		return "asleep for ever: a wake-up was lost";
	/* An arm for solicited entries was set while such an entry was still to come (R-CQ-20). */
	if (!asleep && s->ghost[OWED_FROM] != 0 && s->ghost[FIRES] == 0 &&
		solicited_from(s->ghost[OWED_FROM]))
		return "a solicited entry came after the arm and nothing fired";
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

/* checks R-CQ-09, R-CQ-12[1], R-CQ-14 */
Test(arm_tso, R_CQ_15_no_interleaving_loses_or_doubles_a_notification)
{
	tso_expect_sound(&suite, "arm word");
}

Test(arm_tso, every_barrier_check_and_swap_is_needed)
{
	tso_expect_all_needed(&suite);
}
