/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exhaustive exploration of two threads under x86-TSO: each thread has a FIFO store buffer, which
 * is emptied into memory at any time, one store after the other; loads look into the own buffer
 * first; locked instructions and fences wait for an empty buffer. A model is a step function: it
 * does one instruction of one thread. Every order of steps and flushes is tried, each state once.
 */
#ifndef TSO_H
#define TSO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TSO_VARS   6
#define TSO_REGS   10
#define TSO_BUFFER 6

struct tso_thread {
	uint8_t pc;
	uint8_t reg[TSO_REGS];
	uint8_t stores, var[TSO_BUFFER], val[TSO_BUFFER]; /* oldest first; unused entries 0 */
};
struct tso_state { /* bytes only: compared and hashed as a whole */
	uint8_t mem[TSO_VARS];
	uint8_t ghost[6]; /* what the model keeps for its checks; no thread sees it */
	struct tso_thread thread[2];
};

enum tso_step {
	TSO_DONE,  /* one instruction done; *s is the new state */
	TSO_BLOCK, /* nothing to do now: asleep, finished, or the store buffer is in the way */
};

struct tso_model {
	enum tso_step (*step)(struct tso_state *s, int t, const char **wrong);
	/* No thread can do anything any more: is that as it should be? */
	const char *(*stuck)(const struct tso_state *s);
};

uint8_t tso_load(const struct tso_state *s, int t, uint8_t var);
/* False: the buffer is full. */
bool tso_store(struct tso_state *s, int t, uint8_t var, uint8_t val);
static inline bool
tso_drained(const struct tso_state *s, int t)
{
	return s->thread[t].stores == 0;
}

/* NULL, or what is wrong in the first bad state found. *states: how many were seen. */
const char *tso_explore(const struct tso_model *m, const struct tso_state *start, size_t *states);

/* A model in several scenarios, and mutations of it: 0 is none, each other one leaves out or swaps
 * something that must be missed. */
struct tso_suite {
	size_t scenarios, mutations;
	const char *(*run)(size_t scenario, size_t mutation, size_t *states); /* tso_explore() */
	const char *(*scenario_name)(size_t i);
	const char *const *mutation_names;
};
/* Nothing is wrong in any scenario. */
void tso_expect_sound(const struct tso_suite *suite, const char *what);
/* Each mutation is found in some. */
void tso_expect_all_needed(const struct tso_suite *suite);

#endif
