/* SPDX-License-Identifier: BSD-3-Clause */
/* Requester: from the send ring to request packets. */
#ifndef ROCE_REQUESTER_H
#define ROCE_REQUESTER_H

#include "roce/qp/qp.h"

/* w takes its place behind all requests in flight; npsn: the PSNs it takes. */
static inline void
roce_req_append(struct roce_qp *qp, struct roce_wqe *w, uint32_t npsn)
{
	w->first_psn = qp->load_psn;
	w->npsn = npsn;
	qp->load_psn = roce_psn_add(qp->load_psn, npsn);
	if (qp->wq_head == NULL)
		qp->wq_head = w;
	else
		qp->wq_tail->next = w;
	qp->wq_tail = w;
	qp->wq_tx = w;
}

/* Request w fails when its turn to complete comes. */
void roce_req_fault(struct roce_shard *s, struct roce_qp *qp, struct roce_wqe *w,
	enum ndsh_wc_status status, enum roce_reason reason);
/* Fills up to n slots with request packets; returns how many there are now. */
unsigned roce_req_tx(
	struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slots, unsigned n);
/* Send everything from the oldest unacknowledged PSN once more. */
void roce_req_go_back(struct roce_shard *s, struct roce_qp *qp);
/* The timer of the queue pair ran out. */
void roce_req_timeout(struct roce_shard *s, struct roce_qp *qp);

#endif
