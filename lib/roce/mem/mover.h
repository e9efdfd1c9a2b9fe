/* SPDX-License-Identifier: BSD-3-Clause */
/* Movers, for the rest of the engine: copy commands to a client whose memory only it can reach. */
#ifndef ROCE_MOVER_H
#define ROCE_MOVER_H

#include "base/compiler.h"
#include "base/list.h"
#include "roce/queue/cq.h"
#include "roce/roce.h"
#include "roce/shard/shard.h"
#include "shm/ndsh_mover.h"

struct roce_moved;

/* What a copy command is for, should the client be unable to carry it out. */
struct roce_move {
	struct roce_moved *of; /* whose bytes were to be placed; NULL: its slot was to be filled */
	uint32_t psn, msn;     /* of the packet; of the messages before it */
	uint32_t slot_count;   /* with spoils, as in the command */
	uint16_t slot;
	uint8_t spoils; /* enum ndsh_spoils */
};

struct roce_mover {
	struct roce_cq *cq; /* its entries are the copy commands */
	uint8_t *in, *out;
	uint64_t done;		   /* copy commands */
	uint32_t in_head, in_tail; /* bytes of the ring of IN, ever */
	uint32_t users;		   /* regions, and queue pairs that met it */
	uint32_t waiters, checks;  /* checks: waiters to check, because a command was done */
	uint32_t slots;		   /* free ones */
	struct base_link active;   /* in its client's line: turns look at it */
	struct base_link waiting;
	uint16_t slot[NDSH_MOVER_SLOTS];
	struct {
		uint64_t since; /* commands before this one were for another packet */
		bool lost;	/* it could not be filled */
	} fill[NDSH_MOVER_SLOTS];
	const uint64_t *failed;		   /* the client's, or NULL */
	uint32_t in_end[NDSH_MOVER_DEPTH]; /* in_head behind each copy command */
	struct roce_move move[NDSH_MOVER_DEPTH];
};

void roce_mover_enter(struct roce_shard *s, struct roce_mover *m);
/* Turns look at m from now on: copy commands are under way, or queue pairs are to be checked. */
static inline void
roce_mover_watch(struct roce_shard *s, struct roce_mover *m)
{
	if (base_unlikely(!base_linked(&m->active)))
		roce_mover_enter(s, m);
}
/* Turns have looked at m: it stands behind its client's others, or needs none until then. */
void roce_mover_seen(struct roce_shard *s, struct roce_mover *m);

/* Copy commands given so far. */
static inline uint64_t
roce_mover_posted(const struct roce_mover *m)
{
	return m->cq->ring.produced;
}

/* Room for so many IN commands of so many bytes in all? Asked before they are given. */
bool roce_mover_has_room(const struct roce_mover *m, uint32_t pieces, uint32_t bytes);
void roce_mover_in(struct roce_shard *s, struct roce_mover *m, uint64_t va, const uint8_t *src,
	uint32_t bytes, const struct roce_move *move);
void roce_mover_out(struct roce_shard *s, struct roce_mover *m, uint64_t va, uint32_t bytes,
	uint32_t slot, uint32_t at);
/* The atomic of pkt, on the client's word at va. */
void roce_mover_atomic(struct roce_shard *s, struct roce_mover *m, const struct roce_pkt *pkt,
	uint64_t va, uint32_t slot);

/* The slot that is given out next, to be filled by the commands from here on. One must be free. */
uint32_t roce_mover_next_slot(struct roce_mover *m);

/* Reads how many commands the client says it has carried out; nonsense is no progress. True: more
 * than at the last call. */
bool roce_mover_poll(struct roce_mover *m);
/* A queue pair that waits for the mover, to be given to roce_moved_progress(); each is returned
 * once after a roce_mover_poll() that was true. NULL: there is none left. */
struct roce_moved *roce_mover_waiter(struct roce_mover *m);

#endif
