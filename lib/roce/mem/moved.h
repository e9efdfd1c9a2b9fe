/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue pair and memory that only its client can reach, which a thread of the client moves. */
#ifndef ROCE_MOVED_H
#define ROCE_MOVED_H

#include "base/list.h"
#include "roce/mem/copy.h"
#include "roce/mem/mover.h"
#include "roce/roce.h"

#define ROCE_FETCH_MAX 16u /* packets asked for ahead, per direction */

/* Packets that were asked for, in PSN order. */
struct roce_fetch {
	uint32_t psn; /* of the first */
	uint8_t head, count;
	struct {
		uint64_t seq; /* it has come when so many copy commands are done */
		uint16_t slot;
	} q[ROCE_FETCH_MAX];
};

/* Slots for the old values that the peer's atomics find, in PSN order. */
struct roce_moved_atomics {
	uint8_t head, count;
	uint16_t slot[ROCE_RD_ATOMIC_MAX];
};

/* What a queue pair needs besides once it meets moved memory (moved.c). */
struct roce_moved {
	struct base_link waiting; /* in its mover's list: for the client to do something */
	struct roce_mover *mover;
	struct roce_qp *qp;
	uint64_t since; /* copy commands before this one were not for it */
	uint64_t newest,
		mark; /* copy commands: of the newest payload staged; that are waited for */
	uint32_t mark_psn, mark_msn, msn; /* msn: belongs to placed_psn */
	bool placing;			  /* placed_psn is behind recv_psn */
	bool tell;			  /* placed_psn moved, and the peer does not know */
	bool sink_full;			  /* a READ response found no room */
	struct roce_fetch request, response;
	struct roce_moved_atomics atomics;
	uint64_t swap_add, compare; /* of the atomic that ROCE_RXB_HELD tells of */
	struct roce_move lost;	    /* the command that failed; of: NULL, if none did */
};

struct roce_moved_src { /* a message that is to be sent */
	const struct ndsh_sge *sge;
	uint32_t bytes, first_psn, npsn;
	uint32_t right;
};

/* Payload of packet psn of src to dst. */
enum roce_copy roce_moved_gather(struct roce_shard *s, struct roce_qp *qp, bool response,
	const struct roce_moved_src *src, uint32_t psn, uint8_t *dst);
/* Received payload on its way to va, and what is not true if it does not get there. */
enum roce_copy roce_moved_put(struct roce_shard *s, struct roce_qp *qp, uint32_t key, uint64_t va,
	const uint8_t *src, uint32_t bytes, uint32_t right, enum ndsh_spoils spoils);
/* The atomic of pkt becomes a copy command. */
enum roce_copy roce_moved_atomic(
	struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt);
/* What the oldest of them found, once it is placed. False: the client could not reach the word. */
bool roce_moved_atomic_result(struct roce_shard *s, struct roce_qp *qp, uint64_t *old);
/* Their results are not needed any more. */
void roce_moved_atomics_drop(struct roce_shard *s, struct roce_qp *qp);
/* recv_psn moved on, and the MSN perhaps, which was msn_before. */
void roce_moved_received(struct roce_qp *qp, uint32_t msn_before);
void roce_moved_sink_full(struct roce_qp *qp);
bool roce_moved_awaits_room(const struct roce_qp *qp);
void roce_moved_idle(struct roce_shard *s, struct roce_qp *qp, bool response);
/* Copy command number command of m, which was for move, failed. If its queue pair still is what it
 * was then, it waits to be told. */
void roce_moved_lose(struct roce_mover *m, const struct roce_move *move, uint64_t command);
/* The client has carried out commands, so the queue pair may go on. True: its requester has to send
 * again from the oldest request, with roce_req_go_back(). */
bool roce_moved_progress(struct roce_shard *s, struct roce_moved *moved);
/* The queue pair sends nothing any more, and has given back all slots. */
void roce_moved_put_back(struct roce_qp *qp);

#endif
