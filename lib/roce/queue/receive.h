/* SPDX-License-Identifier: BSD-3-Clause */
/* A receive from the ring to its completion, the same for messages and for datagrams. */
#ifndef ROCE_RECEIVE_H
#define ROCE_RECEIVE_H

#include "base/compiler.h"
#include "roce/qp/qp.h"
#include "roce/queue/cq.h"
#include "roce/shard/pool.h"
#include "roce/shard/shard.h"

/* The next receive of rq becomes the one in use. EMPTY: there is none, or none left in the pool. */
BASE_INLINE enum ndsh_fetch
roce_wqe_fetch_recv(struct roce_shard *s, struct roce_qp *qp, struct ndsh_rq *rq)
{
	enum ndsh_fetch got;
	uint32_t num_sge;

	if (base_unlikely(s->usage.wqes == s->cfg.max_wqes || s->exts_left == 0)) {
		s->count.wqe_pool_empty++;
		return NDSH_FETCH_EMPTY;
	}
	got = ndsh_rq_look(rq, &num_sge);
	if (base_likely(got == NDSH_FETCH_OK))
		qp->rx_wqe = roce_wqe_from_recv(s, rq, num_sge);
	return got;
}

/* The receive in use is finished, as cqe says. */
BASE_INLINE void
roce_resp_finish_receive(struct roce_shard *s, struct roce_qp *qp, const struct ndsh_cqe *cqe)
{
	struct roce_wqe *w = qp->rx_wqe;

	roce_cq_push(s, qp->recv_cq, cqe);
	__atomic_store_n(&qp->page->rq_done, qp->rq_done, __ATOMIC_RELEASE);
	qp->rx_wqe = NULL;
	roce_wqe_free(s, w);
}

#endif
