/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Responder: atomics (W-ATOM-03), and those that are not executed as they are received.
 *
 * On memory behind a mover the client executes them, by a copy command (moved.c); the response
 * waits as that of a READ does. On memory of the arena the shard executes them itself, but not
 * before the writes in front of them are in their place, wherever that is. Until then the queue
 * pair is held: a later write may be to the same word. Requests that come meanwhile count as lost,
 * and the peer is asked for them when the response has left; told to wait (RNR) it would wait for
 * longer, and only as often as its RNR retry count allows.
 */
#include "roce/responder/atomic.h"

#include "roce/mem/moved.h"
#include "roce/mem/mr.h"
#include "roce/qp/qp.h"
#include "roce/qp/replay.h"
#include "roce/shard/shard.h"
#include "shm/ndsh_mover.h"

uint8_t *
roce_atomic_word(struct roce_shard *s, struct roce_qp *qp, uint32_t key, uint64_t va)
{
	uint8_t *host = roce_mr_access(s, qp, key, va, sizeof(uint64_t), NDSH_ACCESS_REMOTE_ATOMIC);

	return (uintptr_t)host % sizeof(uint64_t) == 0 ? host : NULL;
}

uint64_t
roce_atomic_execute(uint8_t *host, uint8_t opcode, uint64_t swap_add, uint64_t compare)
{
	uint64_t *word = (uint64_t *)(void *)host;

	if (opcode == ROCE_FETCH_ADD)
		return ndsh_fetch_add(word, swap_add);
	return ndsh_cmp_swap(word, compare, swap_add);
}

void
roce_atomic_hold(struct roce_qp *qp, struct roce_read_slot *r, const struct roce_pkt *pkt)
{
	r->wait = ROCE_WAIT_PLACED;
	qp->moved->swap_add = pkt->swap_add;
	qp->moved->compare = pkt->compare;
	qp->rx_bits |= ROCE_RXB_HELD;
}

/* The region may have gone since. The atomic is then refused, even if it was repeated: no response
 * has left. */
static bool
execute_held(struct roce_shard *s, struct roce_qp *qp, struct roce_read_slot *r)
{
	uint8_t *host = roce_atomic_word(s, qp, r->rkey, r->va);

	qp->rx_bits &= (uint8_t)~ROCE_RXB_HELD;
	if (host == NULL)
		return false;
	r->old = roce_atomic_execute(host, r->opcode, qp->moved->swap_add, qp->moved->compare);
	return true;
}

bool
roce_atomic_finish(struct roce_shard *s, struct roce_qp *qp, struct roce_read_slot *r)
{
	bool held = r->wait == ROCE_WAIT_PLACED;

	r->wait = ROCE_WAIT_NONE;
	if (held)
		return execute_held(s, qp, r);
	return roce_moved_atomic_result(s, qp, &r->old);
}
