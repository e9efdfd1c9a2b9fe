/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where an lcore's cycles go, if the configuration asks for it (telemetry.cycles). The CPU's
 * counter is read where one stage of a turn ends and the next begins, once for a whole burst, and
 * each cycle belongs to the one stage that the lcore was in: the stages' sum is the time since the
 * start, to the cycle. A turn that found nothing to do was spent idle, whatever it polled.
 *
 * One writer, the lcore. Others read a copy by ndd_cycles_read(), consistent by its version.
 */
#ifndef NDD_CYCLES_H
#define NDD_CYCLES_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_cycles.h>

#include "lcore/own.h"

/* X(name, what is counted as its items): names are what operators see. */
/* clang-format off */
#define NDD_STAGES(X)                                                                              \
	X(rx, "frames")          /* ports' driver, rings from other shards; frames given back */   \
	X(parse, "frames")       /* headers judged, shard found */                                 \
	X(responder, "packets")  /* requests of peers, and datagrams */                            \
	X(completer, "packets")  /* responses of peers */                                          \
	X(control, "calls")      /* calls of the control thread, events for it */                  \
	X(movers, "movers")      /* clients that move memory themselves */                         \
	X(doorbells, "bells")    /* doorbells, registrations, send rings looked at */              \
	X(timers, "timers")                                                                        \
	X(answers, "frames")     /* acknowledgements and the like built */                         \
	X(requester, "frames")   /* send queues read, requests and READ responses built */         \
	X(tx, "frames")          /* empty frames, the ports' driver, rings to other shards */      \
	X(completion, "entries") /* completions published, arm words judged */                     \
	X(wakeups, "wakeups")    /* of clients */                                                  \
	X(idle, "turns")         /* turns without work, and the pause between */                   \
	X(yield, "yields")       /* the CPU given to others */                                     \
	X(sleep, "sleeps")
/* clang-format on */
/* clang-format off */
enum ndd_stage {
#define NDD_X(name, items) NDD_STAGE_##name,
	NDD_STAGES(NDD_X)
#undef NDD_X
	NDD_STAGE_COUNT,
};
/* clang-format on */
#define NDD_STAGES_BUSY ((unsigned)NDD_STAGE_idle) /* those before it are work */

struct ndd_stage_count {
	uint64_t cycles, items;
};

#define NDD_LENGTHS 40u /* the last one: of 2^39 cycles, or more */
/* What a turn is to take at most, by the bounds of turn.h, for any client's work. */
#define NDD_CYCLES_TURN_US 100u

struct ndd_cycles_copy {
	uint64_t since, until; /* counter: when counting began, and as far as it has come */
	uint64_t turns;	       /* with work */
	struct ndd_stage_count stage[NDD_STAGE_COUNT];
	uint64_t longest[NDD_STAGE_COUNT]; /* most cycles in one turn so far; of work alone */
	uint64_t length[NDD_LENGTHS]; /* [k]: turns with work of 2^k cycles, and less than twice */
	/* The same without what other threads had of the CPU (own.h). */
	uint64_t own_length[NDD_LENGTHS];
	uint64_t own_longest;
	uint64_t overlong; /* turns that took more than NDD_CYCLES_TURN_US of their own */
	uint64_t overlong_cycles[NDD_STAGE_COUNT]; /* what these turns took, by stage */
};

struct ndd_cycles {
	struct ndd_stage_count turn[NDD_STAGES_BUSY]; /* of the turn under way */
	uint64_t mark;				      /* counter, where the stage under way began */
	uint64_t entries;			      /* completions there were at the last turn */
	struct ndd_own own;
	uint32_t version; /* odd: the lcore is changing total */
	struct ndd_cycles_copy total;
};

/* hz: of the counter. By the lcore itself, as all but the reading. */
void ndd_cycles_start(struct ndd_cycles *c, uint64_t hz);
/* Copy what c has come to; false: no consistent copy was to be had, try later. For any thread. */
bool ndd_cycles_read(const struct ndd_cycles *c, struct ndd_cycles_copy *out);

/* The lcore's, with c NULL if cycles are not counted. A stage of a turn ends here, with so many
 * items done in it. */
static inline void
ndd_cycles_mark(struct ndd_cycles *c, enum ndd_stage stage, unsigned items)
{
	uint64_t now;

	if (likely(c == NULL))
		return;
	now = rte_rdtsc();
	c->turn[stage].cycles += now - c->mark;
	c->turn[stage].items += items;
	c->mark = now;
}

/* The same where a stage without items is nothing but its check, and goes with the next one. */
static inline void
ndd_cycles_mark_work(struct ndd_cycles *c, enum ndd_stage stage, unsigned items)
{
	if (items != 0)
		ndd_cycles_mark(c, stage, items);
}

/* A turn ends; entries: completions so far. */
void ndd_cycles_turn(struct ndd_cycles *c, uint64_t entries);
/* A turn without work has ended, and so has the waiting behind it; stage is its kind. */
void ndd_cycles_idle(struct ndd_cycles *c, enum ndd_stage stage);

#endif
