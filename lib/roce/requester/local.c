/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations of the send queue that nothing is sent for: BIND, FAST_REGISTER and INVALIDATE. They
 * stand among the requests in flight and take no PSN. They are carried out when their turn to be
 * sent comes, so before any later request starts (R-ORD-08), are passed over when requests are sent
 * again, and complete when all requests before them have.
 *
 * Other implementations let an INVALIDATE wait until all earlier requests are acknowledged
 * (W-FENCE-02), since one of them may still use the key: to send data once more, or to place a READ
 * response. Here only the INVALIDATE of a fast-register region waits. A window's token is never a
 * local one, so no request of ours depends on it, and the application has to wait for what its peer
 * does through it (R-INV-03). FENCE waits for earlier READs as always.
 */
#include "roce/requester/local.h"

#include "roce/mem/fast_register.h"
#include "roce/mem/mr.h"
#include "roce/mem/mw.h"
#include "roce/qp/error.h"
#include "roce/qp/qp.h"
#include "roce/queue/wqe.h"
#include "roce/requester/completer.h"
#include "roce/requester/requester.h"
#include "roce/shard/shard.h"

static bool
local_fast_register(struct roce_shard *s, struct roce_qp *qp, struct roce_wqe *w)
{
	enum roce_frmr_result r = roce_frmr_register(s, qp, w);

	if (r == ROCE_FRMR_REFUSED)
		roce_req_fault(s, qp, w, NDSH_WC_LOC_QP_OP_ERR, ROCE_REASON_LOCAL_FRMR);
	else if (r == ROCE_FRMR_BAD_PAGE)
		roce_req_fault(s, qp, w, NDSH_WC_LOC_PROT_ERR, ROCE_REASON_LOCAL_FRMR);
	else if (r == ROCE_FRMR_BREACH)
		roce_qp_error(s, qp, ROCE_REASON_CLIENT_BREACH, 0);
	return r == ROCE_FRMR_OK;
}

/* False: the operation failed, or the queue pair did. */
static bool
local_execute(struct roce_shard *s, struct roce_qp *qp, struct roce_wqe *w)
{
	enum roce_bind_result bound;

	if (w->op == NDSH_OP_FAST_REGISTER)
		return local_fast_register(s, qp, w);
	if (w->op == NDSH_OP_INVALIDATE) {
		if (roce_mr_invalidate(s, qp, w->rkey, false))
			return true;
		roce_req_fault(s, qp, w, NDSH_WC_LOC_QP_OP_ERR, ROCE_REASON_LOCAL_INV);
		return false;
	}
	bound = roce_mw_bind(s, qp, w);
	if (bound == ROCE_BIND_REFUSED)
		roce_req_fault(s, qp, w, NDSH_WC_BIND_ERR, ROCE_REASON_LOCAL_BIND);
	else if (bound == ROCE_BIND_BREACH)
		roce_qp_error(s, qp, ROCE_REASON_CLIENT_BREACH, 0);
	return bound == ROCE_BIND_OK;
}

/* Carry out w, unless that was done before the queue pair went back, and go on to the next one. */
bool
roce_local_run(struct roce_shard *s, struct roce_qp *qp, struct roce_wqe *w)
{
	if (!(w->bits & ROCE_WQB_ISSUED)) {
		if (w->op == NDSH_OP_INVALIDATE && w != qp->wq_head && roce_frmr_is(s, w->rkey)) {
			qp->tx_bits |= ROCE_TXB_BLOCKED;
			return false;
		}
		if (!local_execute(s, qp, w))
			return false;
		w->bits |= ROCE_WQB_ISSUED | ROCE_WQB_DUE;
	}
	qp->wq_tx = w->next;
	if (qp->wq_head == w)
		roce_comp_due(s, qp);
	return true;
}
