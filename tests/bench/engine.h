/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine alone: both sides of connections on one core, no port, no client process. What is
 * measured is what a daemon's lcore does for a message (posting, both shards, copies and CRCs,
 * completions), and nothing else.
 *
 *	engine_bench.c		options, printing
 *	engine_cases.c		what is measured
 *	engine_measure.c	for how long, by which clock
 *	engine_traffic.c	messages from the one side to the other
 *	engine_side.c		a side: shard, rings, memory
 *	engine_cm.c		connections
 *	engine_memory.c		what an idle one takes
 */
#ifndef ENGINE_H
#define ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roce/roce.h"

#define BURST	    32u
#define ARENA_BYTES (8u << 20)
#define VA	    UINT64_C(0x7f0000000000)
#define CQ_DEPTH    1024u

enum bench_kind {
	BENCH_MESSAGES, /* each queue pair has depth of them under way */
	BENCH_RANDOM,	/* depth of them are under way, each on a queue pair chosen at random */
	BENCH_FLOOR,	/* copy and CRC of both sides, and nothing else */
	BENCH_CM,	/* a message is a connection, depth of them under way at once */
};
struct bench_case {
	const char *name;
	enum bench_kind kind;
	uint8_t op;	/* enum ndsh_op */
	uint32_t bytes; /* of a message */
	uint32_t qps, depth;
	uint32_t ring; /* slots of a queue pair's rings */
	bool srq;      /* receives are shared */
	bool sports;   /* UDP source ports are checked */
};
#define BENCH_RANDOM_DEPTH 256u /* at most */
extern const struct bench_case bench_cases[];
extern const unsigned bench_num_cases;

/* ---- engine_side.c ---- */

struct bench_end { /* of a connection, as its client sees it; a line for each direction */
	_Alignas(64) struct roce_qp *qp;
	struct ndsh_qp_page *page;
	struct ndsh_sq sq;
	uint32_t room; /* free slots */
	_Alignas(64) struct ndsh_rq rq;
	uint32_t recv_room;
};
struct bench_side {
	struct roce_shard *shard;
	struct roce_qpn_key qpn_key;
	struct roce_cq *cq;
	struct ndsh_cq_reader reader;
	uint8_t *arena;
	uint32_t pd, key;
	struct bench_end *end;
	struct roce_srq *srq; /* or NULL */
	struct ndsh_srq_page *srq_page;
	struct ndsh_rq srq_ring;
	struct roce_tx_slot slot[BURST];
	struct { /* what this side has mapped */
		void *at;
		size_t bytes;
	} map[8];
	unsigned maps;
};
/* Two sides, all queue pairs connected. */
struct bench_world {
	const struct bench_case *c;
	struct bench_side side[2];
	uint64_t now_ns;
	uint64_t random;
	uint32_t under_way; /* RANDOM */
	struct bench_end *chosen[BENCH_RANDOM_DEPTH];
	struct bench_cm *cm; /* CM: instead of all that */
};
struct bench_world *bench_world_new(const struct bench_case *c);
/* With shards of these limits. */
struct bench_world *bench_world_of(const struct bench_case *c, const struct roce_shard_cfg *cfg);
void bench_world_free(struct bench_world *w);
/* Zeroed, gone with the world. shared: with a client. */
void *bench_map(struct bench_side *d, size_t bytes, bool shared);
/* Says what went wrong and ends the program, unless ok. */
void bench_need(bool ok, const char *what);

/* ---- engine_traffic.c ---- */

/* One turn of both sides: post what there is room for, carry all frames across, take completions.
 * Returns how many messages are done. */
unsigned bench_turn(struct bench_world *w);
/* The same for FLOOR. */
unsigned bench_floor(struct bench_world *w);

/* ---- engine_cm.c ---- */

struct bench_cm *bench_cm_new(struct bench_world *w);
/* So many connections, from REQ to DREP; returns conns. */
unsigned bench_cm_turn(struct bench_cm *cm, uint32_t conns);

/* ---- engine_memory.c ---- */

struct bench_memory { /* bytes of the engine for each of many idle connected queue pairs */
	double reserved, resident;
};
struct bench_memory bench_memory(uint32_t qps);

/* ---- engine_measure.c ---- */

#define BENCH_SLICES 20u

struct bench_result { /* cycles of a message, and messages per second in the best slice */
	double best, median, rate;
};
uint64_t bench_clock_ns(void);
/* In slices that take us together: a machine shared with others disturbs most of them. */
struct bench_result bench_measure(const struct bench_case *c, uint64_t us);
/* Exactly the same work each time, by a clock that counts turns: for tools that count the
 * instructions of the second call of bench_counted(). Returns how many messages were done in it,
 * messages at least. */
uint64_t bench_count(const struct bench_case *c, uint64_t messages);
uint64_t bench_counted(struct bench_world *w, uint64_t messages);

#endif
