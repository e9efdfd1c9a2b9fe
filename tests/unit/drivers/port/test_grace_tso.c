/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The grace period of port/grace.h under x86-TSO, all interleavings: an lcore's bursts use memory
 * as long as they see that it is linked; another thread takes the link away, waits, and unmaps it,
 * twice. The steps are those of port_grace_edge(), port_grace_wait(), memif_link_begin() and
 * memif_link_end(), one instruction each. membarrier() is modelled as what it does: the lcore's
 * stores are in memory when it returns. Each mutation must be found.
 */
#include <criterion/criterion.h>

#include "models/tso.h"

#define BURSTS_MAX 4
#define LINKS	   2

enum var { BURSTS, LINKED };
enum ghost { MAPPED };

enum mutation {
	NONE,
	LOOKS_FIRST, /* lcore: looks at the link in front of the edge */
	ENDS_EARLY,  /* lcore: the burst's end is in front of its last access */
	NO_BARRIER,  /* thread: none behind the end of the link */
	NO_WAIT,     /* thread: does not wait for a burst under way */
	WAITS_FIRST, /* thread: waits, and ends the link then */
	READS_EARLY, /* thread: reads the number in front of the barrier */
	MUTATIONS,
};
static const char *const mutation_names[MUTATIONS] = {
	"(none)",
	"lcore: looks at the link in front of the edge",
	"lcore: ends the burst in front of its last access",
	"thread: no barrier",
	"thread: does not wait for a burst under way",
	"thread: waits first, and ends the link then",
	"thread: reads the number in front of the barrier",
};

static enum mutation mutation;

enum { L_DONE, L_LINKED }; /* registers */
enum { T_SEQ, T_LINKS };

static enum tso_step
edge(struct tso_state *s)
{
	return tso_store(s, 0, BURSTS, (uint8_t)(tso_load(s, 0, BURSTS) + 1)) ? TSO_DONE
									      : TSO_BLOCK;
}

/* pc 0: edge; 1: linked? 2: use; 3: edge */
static enum tso_step
lcore_step(struct tso_state *s, const char **wrong)
{
	struct tso_thread *th = &s->thread[0];
	uint8_t *r = th->reg;
	/* In which order. */
	static const uint8_t order[4] = {0, 1, 2, 3}, looks_first[4] = {1, 0, 2, 3},
			     ends_early[4] = {0, 1, 3, 2};
	const uint8_t *what = mutation == LOOKS_FIRST  ? looks_first
			      : mutation == ENDS_EARLY ? ends_early
						       : order;

	if (r[L_DONE] == BURSTS_MAX)
		return TSO_BLOCK;
	switch (what[th->pc]) {
	case 1:
		r[L_LINKED] = tso_load(s, 0, LINKED);
		break;
	case 2:
		if (r[L_LINKED] && !s->ghost[MAPPED])
			*wrong = "a burst uses memory that is gone";
		break;
	default:
		if (edge(s) == TSO_BLOCK)
			return TSO_BLOCK;
	}
	th->pc++;
	if (th->pc == 4) {
		th->pc = 0;
		r[L_DONE]++;
	}
	return TSO_DONE;
}

static enum tso_step
link_set(struct tso_state *s, uint8_t linked)
{
	return tso_store(s, 1, LINKED, linked) ? TSO_DONE : TSO_BLOCK;
}

/* pc 0: end the link; 1: barrier; 2: read the number; 3: wait; 4: unmap; 5: map, link again */
static enum tso_step
thread_step(struct tso_state *s)
{
	struct tso_thread *th = &s->thread[1];
	uint8_t *r = th->reg;
	uint8_t at = th->pc;

	if (mutation == WAITS_FIRST) /* 1, 2, 3, 0, 4, 5 */
		at = th->pc < 3 ? th->pc + 1 : th->pc == 3 ? 0 : th->pc;
	else if (mutation == READS_EARLY) /* 0, 2, 1, 3, 4, 5 */
		at = th->pc == 1 ? 2 : th->pc == 2 ? 1 : th->pc;
	switch (at) {
	case 0:
		if (link_set(s, 0) == TSO_BLOCK)
			return TSO_BLOCK;
		break;
	case 1:
		if (mutation != NO_BARRIER && (!tso_drained(s, 0) || !tso_drained(s, 1)))
			return TSO_BLOCK;
		break;
	case 2:
		r[T_SEQ] = tso_load(s, 1, BURSTS);
		break;
	case 3:
		if (mutation != NO_WAIT && (r[T_SEQ] & 1) != 0 &&
			tso_load(s, 1, BURSTS) == r[T_SEQ])
			return TSO_BLOCK;
		break;
	case 4:
		s->ghost[MAPPED] = 0;
		break;
	default:
		if (r[T_LINKS] + 1 == LINKS)
			return TSO_BLOCK; /* the end */
		s->ghost[MAPPED] = 1;
		if (link_set(s, 1) == TSO_BLOCK)
			return TSO_BLOCK;
		r[T_LINKS]++;
		th->pc = 0;
		return TSO_DONE;
	}
	th->pc++;
	return TSO_DONE;
}

static enum tso_step
step(struct tso_state *s, int t, const char **wrong)
{
	struct tso_state before = *s;
	enum tso_step result = t == 0 ? lcore_step(s, wrong) : thread_step(s);

	if (result == TSO_BLOCK)
		*s = before;
	return result;
}

static const char *
stuck(const struct tso_state *s)
{
	return s->thread[0].reg[L_DONE] < BURSTS_MAX   ? "the lcore stands still"
	       : s->thread[1].reg[T_LINKS] + 1 < LINKS ? "the thread waits for ever"
						       : NULL;
}

static const char *
run(size_t scenario, size_t m, size_t *states)
{
	const struct tso_model model = {.step = step, .stuck = stuck};
	const struct tso_state start = {.mem = {[LINKED] = 1}, .ghost = {[MAPPED] = 1}};

	(void)scenario;
	mutation = (enum mutation)m;
	return tso_explore(&model, &start, states);
}

static const char *
scenario_name(size_t i)
{
	(void)i;
	return "links end beside bursts";
}

static const struct tso_suite suite = {
	.scenarios = 1,
	.mutations = MUTATIONS,
	.run = run,
	.scenario_name = scenario_name,
	.mutation_names = mutation_names,
};

Test(grace_tso, no_burst_uses_what_is_gone)
{
	tso_expect_sound(&suite, "grace");
}

Test(grace_tso, each_step_is_needed)
{
	tso_expect_all_needed(&suite);
}
