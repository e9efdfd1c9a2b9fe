/* SPDX-License-Identifier: BSD-3-Clause */
/* Requester: from the send ring to request packets. */
#ifndef ROCE_REQUESTER_H
#define ROCE_REQUESTER_H

#include "roce/qp/qp.h"
#include "shm/ndsh_op.h"
#include "wire/opcode.h"

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

/* RC's opcode of a packet of op, a SEND or WRITE. */
static inline uint8_t
roce_data_opcode(uint8_t op, bool first, bool last)
{
	static const uint8_t of[][4] = {
		[NDSH_OP_SEND] = {ROCE_SEND_MIDDLE, ROCE_SEND_FIRST, ROCE_SEND_LAST,
			ROCE_SEND_ONLY},
		[NDSH_OP_SEND_INV] = {ROCE_SEND_MIDDLE, ROCE_SEND_FIRST, ROCE_SEND_LAST_INV,
			ROCE_SEND_ONLY_INV},
		[NDSH_OP_SEND_IMM] = {ROCE_SEND_MIDDLE, ROCE_SEND_FIRST, ROCE_SEND_LAST_IMM,
			ROCE_SEND_ONLY_IMM},
		[NDSH_OP_WRITE] = {ROCE_WRITE_MIDDLE, ROCE_WRITE_FIRST, ROCE_WRITE_LAST,
			ROCE_WRITE_ONLY},
		[NDSH_OP_WRITE_IMM] = {ROCE_WRITE_MIDDLE, ROCE_WRITE_FIRST, ROCE_WRITE_LAST_IMM,
			ROCE_WRITE_ONLY_IMM},
	};

	return of[op][first | last << 1];
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
