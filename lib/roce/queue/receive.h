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
 *  4. The message has ended, or can't be received, or the queue pair is flushed: with
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
#include "roce/shard/pool.h"
#include "roce/shard/shard.h"

/* The receive that ndsh_rq_look() found in rq, as a roce_wqe. */
struct roce_wqe *roce_receive_copy(struct roce_shard *s, struct ndsh_rq *rq, uint32_t num_sge);

/* The next receive of rq becomes the one in use. EMPTY: there is none, or none left in the pool.
 * BROKEN: the descriptor breaks the contract. */
BASE_INLINE enum ndsh_fetch
roce_receive_take(struct roce_shard *s, struct roce_qp *qp, struct ndsh_rq *rq)
{
	enum ndsh_fetch got;
	uint32_t num_sge;

	if (base_unlikely(s->usage.wqes == s->cfg.max_wqes || s->exts_left == 0)) {
		s->count.wqe_pool_empty++;
		return NDSH_FETCH_EMPTY;
	}
	got = ndsh_rq_look(rq, &num_sge);
	if (base_likely(got == NDSH_FETCH_OK))
		qp->rx_wqe = roce_receive_copy(s, rq, num_sge);
	return got;
}

/* The receive in use completes as cqe says. */
BASE_INLINE void
roce_receive_finish(struct roce_shard *s, struct roce_qp *qp, const struct ndsh_cqe *cqe)
{
	struct roce_wqe *w = qp->rx_wqe;

	roce_cq_push(s, qp->recv_cq, cqe);
	__atomic_store_n(&qp->page->rq_done, qp->rq_done, __ATOMIC_RELEASE);
	qp->rx_wqe = NULL;
	roce_wqe_free(s, w);
}

/* The receive in use completes with status, which is no success. */
void roce_receive_fail(struct roce_shard *s, struct roce_qp *qp, enum ndsh_wc_status status);

#endif
