/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of a receive in the engine, the same for messages and for datagrams:
 *
 *  1. The client posts it: lib/shm/ndsh_rq.c, ndsh_rq_push(), into the receive ring of a queue pair
 *     or of a shared receive queue.
 *  2. A message or datagram that needs one arrives: roce_receive_take() reads the descriptor
 *     once, checks it (ndsh_rq_look(), ndsh_rq_take()) and copies it to a roce_wqe of the pool. It
 *     is the receive in use, qp->rx_wqe; a queue pair has one at most.
 *  3. The payload goes to its SGEs, by roce_sge_scatter().
 *  4. If the packet is accepted, the receive is the message's: roce_receive_keep(). If it is
 *     refused and the queue pair goes on, the receive is in the ring again:
 *     roce_receive_give_back(). Bytes of the packet may lie in its memory then, if others found no
 *     room. So a receive stays in use beyond a packet only while a message that was begun with it
 *     is under way; no other message can complete it.
 *  5. The message has ended, or can't be received, or the queue pair is flushed: with
 *     roce_receive_finish() or roce_receive_fail() the receive completes and its slot and roce_wqe
 *     are free.
 *
 * A receive that is still in the ring when the queue pair is flushed completes from there
 * (qp/error.c), without a roce_wqe.
 */
#ifndef ROCE_RECEIVE_H
#define ROCE_RECEIVE_H

#include "base/compiler.h"
#include "roce/qp/qp.h"
#include "roce/queue/cq.h"
#include "roce/queue/srq.h"
#include "roce/shard/pool.h"
#include "roce/shard/shard.h"

/* The receive that ndsh_rq_look() found in rq, as a roce_wqe; NULL: its principal has no room. */
struct roce_wqe *roce_receive_copy(
	struct roce_shard *s, struct roce_qp *qp, struct ndsh_rq *rq, uint32_t num_sge);

/* The ring that qp takes its receives from. */
static inline struct ndsh_rq *
roce_receive_ring(struct roce_qp *qp)
{
	return base_unlikely(qp->srq != NULL) ? &qp->srq->rq : &qp->rq;
}

/* The next receive of qp becomes the one in use. EMPTY: there is none, or no room for it in the
 * pool. BROKEN: the descriptor breaks the contract. */
BASE_INLINE enum ndsh_fetch
roce_receive_take(struct roce_shard *s, struct roce_qp *qp)
{
	struct ndsh_rq *rq = roce_receive_ring(qp);
	uint32_t num_sge;
	enum ndsh_fetch got = ndsh_rq_look(rq, &num_sge);

	if (base_unlikely(got != NDSH_FETCH_OK))
		return got;
	qp->rx_wqe = roce_receive_copy(s, qp, rq, num_sge);
	return base_likely(qp->rx_wqe != NULL) ? NDSH_FETCH_OK : NDSH_FETCH_EMPTY;
}

/* The packet that the receive in use was taken for is accepted, or ends the queue pair: the users
 * of a shared receive queue see that it is gone. */
BASE_INLINE void
roce_receive_keep(struct roce_shard *s, struct roce_qp *qp)
{
	if (base_unlikely(qp->srq != NULL))
		roce_srq_taken(s, qp->srq);
}

/* The packet that the receive in use was taken for is refused: the receive is the next one of its
 * ring again. Not after roce_receive_keep(), nor when another queue pair may have taken one. */
void roce_receive_give_back(struct roce_shard *s, struct roce_qp *qp);

/* The receive in use completes as cqe says. */
BASE_INLINE void
roce_receive_finish(struct roce_shard *s, struct roce_qp *qp, const struct ndsh_cqe *cqe)
{
	struct roce_wqe *w = qp->rx_wqe;

	roce_cq_push(s, qp->recv_cq, cqe);
	__atomic_store_n(&qp->page->rq_done, qp->rq_done, __ATOMIC_RELEASE);
	qp->rx_wqe = NULL;
	roce_wqe_free(s, roce_cq_principal(qp->recv_cq), ROCE_SIDE_RECV, w);
}

/* The receive in use completes with status, which is no success. */
void roce_receive_fail(struct roce_shard *s, struct roce_qp *qp, enum ndsh_wc_status status);

#endif
