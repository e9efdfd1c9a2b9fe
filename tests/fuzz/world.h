/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The world of the fuzzers of the engine: a shard with a client that has a queue pair in every
 * state and memory of every kind, and a second client, the neighbour, which must notice nothing.
 * The input plays the peer, the client and the host.
 *
 * The arena is one piece of pages. What is registered lies between pages that are not; these, and
 * the neighbour's, hold WORLD_SECRET: it must neither change nor leave.
 */
#ifndef FUZZ_WORLD_H
#define FUZZ_WORLD_H

#include "fuzz.h"
#include "roce/mem/admin.h"
#include "roce/roce.h"
#include "roce/ud/group.h"
#include "roce/ud/ud.h"
#include "shm/ndsh_mover.h"

#define WORLD_VA	  UINT64_C(0x7f0000000000) /* of the arena, as the clients see it */
#define WORLD_PAGE	  NDSH_PAGE_BYTES
#define WORLD_PAGES	  18u
#define WORLD_MTU	  256u
#define WORLD_SECRET	  0xc5
#define WORLD_CQ_DEPTH	  32u
#define WORLD_DEPTH	  8u
#define WORLD_SGE	  4u
#define WORLD_INLINE	  64u
#define WORLD_SRQ_DEPTH	  8u
#define WORLD_ADMIN_DEPTH 8u
#define WORLD_FR_PAGES	  4u
#define WORLD_MOVED	  (4u * WORLD_PAGE)
#define WORLD_Q_KEY	  0x01234567u
#define WORLD_AHS	  4u
#define WORLD_AH	  (3u << ROCE_AH_INDEX_BITS | 2u) /* the live handle */
#define WORLD_PD_HANDLE	  1000u
#define WORLD_PEER_QPN	  0x3333u /* of the peer of queue pair 0; the next one's is one more */

/* The client's queue pairs; what they are at the beginning. In a world of unreliable connections
 * all but that of datagrams have UC's states of the same names. */
enum world_qp {
	WORLD_INIT,
	WORLD_RTR,
	WORLD_RTS,
	WORLD_RTS_SRQ,	 /* with a shared receive queue */
	WORLD_RTS_V6,	 /* over IPv6, in a VLAN, and reacts to congestion */
	WORLD_RTS_MOVED, /* posts and receives in moved memory mostly */
	WORLD_SQD,
	WORLD_ERR,
	WORLD_UD,
	WORLD_QPS,
};
#define WORLD_CQS 2u

/* Parts of the arena, in pages. */
enum {
	WORLD_AT_RW = 1,	 /* 4: all rights */
	WORLD_AT_RO = 6,	 /* 2: for the peer to read */
	WORLD_AT_FAST = 9,	 /* 4: the arena of the fast-register region */
	WORLD_AT_NEIGHBOUR = 14, /* 2: the neighbour's, all rights, in another domain */
};

struct world_qp_side { /* a queue pair and its rings */
	struct roce_qp *qp;
	void *block;
	size_t block_bytes;
	struct ndsh_sq sq;
	struct ndsh_rq rq;
};

struct world_block { /* of shared memory: the client may change any byte of it */
	uint8_t *at;
	size_t bytes;
	bool mapped;
};
#define WORLD_BLOCKS 24u
#define WORLD_KEYED  2u

struct world {
	struct fuzz_in *in;
	bool hostile;	 /* the client is: it may give away what it has */
	bool unreliable; /* the client's connections are; the neighbour's is not */
	uint64_t now_ns;
	void *mem;
	struct roce_shard *s;
	struct roce_qpn_key qpn_key;
	uint8_t *arena;
	uint32_t pd, neighbour_pd;
	struct roce_mr *neighbour_mr, *mw, *fr, *all;
	struct world_keyed { /* windows of verbs: the client chooses the end of each token */
		struct roce_mr *mw;
		uint32_t token;
	} keyed[WORLD_KEYED];				   /* of types 1 and 2 */
	uint32_t rw_key, ro_key, moved_key, neighbour_key; /* others: world_key() */
	struct world_token {
		uint32_t slot, generation;
		uint64_t secret;
	} mw_token, fr_token;
	void *fr_mem;
	uint64_t *lists; /* shared */
	struct roce_extent extent;
	struct roce_arena fr_arena;
	struct roce_cq *cq[WORLD_CQS], *neighbour_cq, *admin_cq;
	void *cq_mem[WORLD_CQS], *neighbour_cq_mem, *admin_cq_mem;
	struct ndsh_cq_reader reader[WORLD_CQS], admin_reader;
	struct roce_srq *srq;
	void *srq_mem;
	struct ndsh_rq srq_rq;
	struct world_qp_side q[WORLD_QPS], neighbour;
	struct roce_mover *mover;
	void *mover_mem, *mover_shared;
	struct ndsh_mover mover_client;
	uint32_t mover_fails; /* of the commands that it runs next: a bit each */
	uint8_t *moved;
	struct roce_admin *admin;
	void *admin_mem;
	struct ndsh_admin admin_client;
	struct roce_ah ah[WORLD_AHS];
	struct roce_ah_table ahs;
	struct roce_groups *groups;
	struct ndsh_session_page *page;
	struct world_block block[WORLD_BLOCKS];
	unsigned blocks;
};

void world_new(struct world *w, struct fuzz_in *in, bool hostile, bool unreliable);
/* State s of a connection as queue pair i has it. */
enum roce_qp_state world_state(const struct world *w, enum world_qp i, enum roce_qp_state s);
/* All that the input says, up to the end of the world. */
void world_play(struct world *w);
/* The window keyed[i], not bound. */
void world_keyed_new(struct world *w, unsigned i);
/* A turn of the lcore, and what must hold after it. */
void world_turn(struct world *w);
/* A frame arrives: what the parser says of it. */
enum roce_wire_err world_frame(struct world *w, const uint8_t *frame, uint32_t bytes);
/* Everything is taken down, and nothing is left. */
void world_end(struct world *w);

/* choice.c. A key of all that there are, or one that is the input's own. */
uint32_t world_key(struct world *w);
/* A chosen address, mostly near the beginning or the end of something. */
uint64_t world_va(struct world *w);
/* The attributes that lead queue pair i from RESET to RTS; its path is from here to the peer. */
void world_attr(const struct world *w, enum world_qp i, struct roce_qp_attr *a);
/* The peer's path, by that from here to it. */
struct roce_path world_path_back(const struct roce_path *there);
/* As far towards that state as there is a way. */
void world_bring(struct world *w, enum world_qp i, enum roce_qp_state to);

/* ---- what the input may do; each in a file of its own ---- */

void world_packet(struct world *w);    /* packet.c: the peer */
void world_raw_frame(struct world *w); /* bytes of the input, as they are */
void world_client(struct world *w);    /* client.c: posts, polls, moves, asks, rings */
void world_host(struct world *w);      /* host.c: changes states, memory, time */
/* The client changes a word of shared memory, any. */
void world_scribble(struct world *w, struct fuzz_in *in);

#endif
