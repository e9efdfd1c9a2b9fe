/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a request in the send queue, by success, failure or flush, the same for connections
 * and for datagrams. Its beginning is in requester/fetch.c. */
#ifndef ROCE_REQUEST_H
#define ROCE_REQUEST_H

#include "base/compiler.h"
#include "roce/qp/qp.h"
#include "roce/queue/cq.h"
#include "roce/queue/wqe.h"
#include "roce/shard/pool.h"
#include "roce/shard/shard.h"
#include "shm/ndsh_op.h"
#include "wire/psn.h"

/* Does the client get a completion? A failure is always reported (W-COMP-14); a probe, which no
 * client posted, never is. */
static inline bool
roce_request_is_reported(const struct roce_wqe *w, enum ndsh_wc_status status)
{
	if (base_unlikely(status != NDSH_WC_SUCCESS))
		return !(w->bits & ROCE_WQB_PROBE);
	return !(w->flags & NDSH_WRF_SILENT);
}

/* The oldest request in flight is finished: it is completed, its slot and its roce_wqe are free.
 * inline: where it is known that the request succeeded, nothing is left of the other cases. */
BASE_INLINE void
roce_request_finish(
	struct roce_shard *s, struct roce_qp *qp, enum ndsh_wc_status status, uint32_t syndrome)
{
	struct roce_wqe *w = qp->wq_head, *next = w->next;

	qp->sq_done++;
	if (ndsh_op_is_fetch(w->op) && (w->bits & ROCE_WQB_ISSUED))
		qp->rd_out--;
	if (roce_request_is_reported(w, status)) {
		s->count.requests_flushed += status == NDSH_WC_FLUSH_ERR;
		roce_cq_push(s, qp->send_cq,
			&(struct ndsh_cqe){
				.context = w->context,
				.qp = qp->handle,
				.bytes = status == NDSH_WC_SUCCESS ? w->bytes : 0,
				.slot_count = qp->sq_done,
				.syndrome = syndrome,
				.status = (uint8_t)status,
				.op = w->op,
			});
	}
	if (base_unlikely(qp->wq_tx == w)) { /* acknowledged before it was sent again */
		qp->wq_tx = next;
		qp->tx_psn = roce_psn_add(w->first_psn, w->npsn);
	}
	qp->wq_head = next;
	roce_wqe_free(s, roce_cq_principal(qp->send_cq), ROCE_SIDE_SEND, w);
}

#endif
