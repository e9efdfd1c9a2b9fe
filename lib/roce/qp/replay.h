/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a responder keeps of the peer's last READs and atomics, to answer them and to answer them
 * again when they are repeated (W-ATOM-01). Each queue pair has a block of its own, so that no
 * other one, however long its responses are stuck, can leave it without. Few queue pairs are the
 * target of any: the blocks are a table of the shard, whose pages are not touched before they are
 * needed.
 */
#ifndef ROCE_REPLAY_H
#define ROCE_REPLAY_H

#include "roce/roce.h"

struct roce_read_slot {
	uint64_t va;
	uint64_t old; /* of an atomic, which is executed once and may be acknowledged often */
	uint32_t first_psn, npsn;
	uint32_t len, rkey;
	uint32_t next;	/* next response to send, counted from first_psn */
	uint32_t base;	/* the first response of this replay: a FIRST or ONLY (W-DUP-04) */
	uint8_t opcode; /* of the request */
	bool pending;	/* responses are to be sent */
	bool replay;	/* the request was repeated */
	uint8_t wait;	/* enum roce_wait */
	uint32_t sent;	/* responses that left before the newest repetition: errors in what comes
			 * again are silent (W-DUP-07) */
};
enum roce_wait { /* what an atomic waits for (responder/atomic.c) */
	ROCE_WAIT_NONE,
	ROCE_WAIT_MOVER,  /* its client, which executes it */
	ROCE_WAIT_PLACED, /* the writes before it: it is the newest then */
};

struct roce_read_block {
	struct roce_read_slot slot[ROCE_RD_ATOMIC_MAX];
};

/* qp->reads is the replay block of qp from here on: an empty one, if it was NULL. */
void roce_reads_use(struct roce_shard *s, struct roce_qp *qp);
/* qp has no replay block any more: what the peer repeats after this is too old (W-DUP-03). */
void roce_reads_forget(struct roce_shard *s, struct roce_qp *qp);
/* A READ or atomic that was pending, in slot index, is answered or given up. */
void roce_read_done(struct roce_qp *qp, uint32_t index);

#endif
