/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives: from the ring to a roce_wqe, and those that fail. receive.h tells their life. */
#include "roce/queue/receive.h"

#include "shm/ndsh_fetch.h"

struct roce_wqe *
roce_receive_copy(struct roce_shard *s, struct ndsh_rq *rq, uint32_t num_sge)
{
	struct roce_wqe *w = roce_wqe_alloc(s, num_sge > ROCE_WQE_SGE);
	uint32_t bytes =
		ndsh_rq_take(rq, num_sge, w->ext != NULL ? w->ext->sge : w->sge, &w->context);

	w->bytes = bytes < ROCE_MSG_MAX ? bytes : ROCE_MSG_MAX;
	w->op = NDSH_OP_RECV;
	w->flags = 0;
	w->num_sge = (uint8_t)num_sge;
	w->bits = 0;
	return w;
}

void
roce_receive_give_back(struct roce_shard *s, struct roce_qp *qp)
{
	roce_wqe_free(s, qp->rx_wqe);
	qp->rx_wqe = NULL;
	roce_receive_ring(qp)->next--;
}

void
roce_receive_fail(struct roce_shard *s, struct roce_qp *qp, enum ndsh_wc_status status)
{
	roce_receive_finish(s, qp,
		&(struct ndsh_cqe){
			.context = qp->rx_wqe->context,
			.qp = qp->handle,
			.slot_count = ++qp->rq_done,
			.syndrome = qp->reason,
			.status = (uint8_t)status,
			.op = NDSH_OP_RECV,
		});
}
