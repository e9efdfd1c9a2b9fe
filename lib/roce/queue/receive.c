/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives: from the ring to a roce_wqe, and those that fail. receive.h tells their life. */
#include "roce/queue/receive.h"

#include "shm/ndsh_fetch.h"

/* There is no w, or no room in it for the list: where the SGEs go. NULL: nowhere, and w is free. */
__attribute__((noinline)) static struct ndsh_sge *
list_elsewhere(struct roce_shard *s, struct roce_principal *p, struct roce_wqe *w)
{
	if (w == NULL) {
		roce_pool_refused(s, p, ROCE_POOL_WQES);
		return NULL;
	}
	if (roce_ext_alloc(s, p, ROCE_SIDE_RECV, w))
		return w->ext->sge;
	roce_pool_refused(s, p, ROCE_POOL_EXTS);
	roce_wqe_free(s, p, ROCE_SIDE_RECV, w);
	return NULL;
}

struct roce_wqe *
roce_receive_copy(struct roce_shard *s, struct roce_qp *qp, struct ndsh_rq *rq, uint32_t num_sge)
{
	struct roce_principal *p = roce_cq_principal(qp->recv_cq);
	struct roce_wqe *w = roce_wqe_alloc(s, p, ROCE_SIDE_RECV);
	struct ndsh_sge *list;
	uint32_t bytes;

	if (base_likely(w != NULL && num_sge <= ROCE_WQE_SGE))
		list = w->sge;
	else if ((list = list_elsewhere(s, p, w)) == NULL)
		return NULL;
	bytes = ndsh_rq_take(rq, num_sge, list, &w->context);
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
	roce_wqe_free(s, roce_cq_principal(qp->recv_cq), ROCE_SIDE_RECV, qp->rx_wqe);
	qp->rx_wqe = NULL;
	roce_receive_ring(qp)->next--;
}

void
roce_receive_fail(struct roce_shard *s, struct roce_qp *qp, enum ndsh_wc_status status)
{
	if (status == NDSH_WC_FLUSH_ERR)
		s->count.receives_flushed++;
	else
		s->count.receives_failed++;
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
