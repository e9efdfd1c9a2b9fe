/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a queue pair: the failing request completes first, then everything behind it is
 * flushed (flush.c), in order (W-ERR-01).
 */
#include "roce/qp/error.h"

#include "base/compiler.h"
#include "base/list.h"
#include "roce/cc/cc.h"
#include "roce/mem/moved.h"
#include "roce/mem/mw.h"
#include "roce/qp/qp.h"
#include "roce/qp/replay.h"
#include "roce/queue/flush.h"
#include "roce/queue/request.h"
#include "roce/queue/send_ring.h"
#include "roce/queue/senders.h"
#include "roce/queue/wqe.h"
#include "roce/shard/event.h"
#include "roce/shard/flight.h"
#include "roce/shard/pool.h"
#include "roce/shard/shard.h"
#include "roce/shard/timer.h"

/*
 * Nothing more is sent, but for two things: the one fatal NAK, with the READ responses before it
 * (W-RESP-18, W-ACK-03); and the ACK of requests that were executed, so that a peer that closes the
 * connection knows of them.
 */
static void
qp_stop_sending(struct roce_shard *s, struct roce_qp *qp)
{
	qp->wq_tx = NULL;
	roce_flight_set(s, qp, 0);
	roce_moved_idle(s, qp, false);
	roce_timer_remove(s, qp);
	base_list_remove(&qp->tx_link);
	base_list_remove(&qp->ack_link);
	if (qp->rx_bits & ROCE_RXB_CC)
		roce_cc_forget(s, qp);
	if (qp->ack_owed == ROCE_OWED_FATAL ||
		(qp->ack_owed == ROCE_OWED_ACK && qp->rd_pending == 0)) {
		roce_senders_join(s, qp);
		return;
	}
	qp->ack_owed = ROCE_OWED_NONE;
	roce_reads_forget(s, qp);
	qp->rd_pending = 0;
}

void
roce_qp_error(struct roce_shard *s, struct roce_qp *qp, enum roce_reason reason, uint8_t syndrome)
{
	if (qp->state == ROCE_QPS_ERR)
		return;
	qp->state = ROCE_QPS_ERR;
	qp->reason = (uint8_t)reason;
	qp->syndrome = syndrome;
	roce_qp_note(s, qp, ROCE_REC_ERROR, qp->una_psn, reason);
	qp_stop_sending(s, qp);
	roce_mw_let_go(s, qp);
	if (reason != ROCE_REASON_MODIFY)
		roce_qp_event(s, qp, ROCE_EV_QP_ERROR);
	if (reason == ROCE_REASON_CLIENT_BREACH) {
		s->count.client_breaches++;
		roce_qp_event(s, qp, ROCE_EV_CLIENT_BREACH);
	}
	roce_send_ring_leave(qp); /* before page->dead: a client that sees that must ring */
	__atomic_store_n(&qp->page->dead, 1, __ATOMIC_RELEASE);
	roce_flush_join(s, qp);
}

void
roce_qp_fail_wqe(struct roce_shard *s, struct roce_qp *qp, struct roce_wqe *w,
	enum ndsh_wc_status status, enum roce_reason reason, uint8_t syndrome)
{
	s->count.requests_failed++;
	/* A probe that gets no response is not reported: the request posted behind it is. */
	if ((w->bits & ROCE_WQB_PROBE) && status == NDSH_WC_RETRY_EXC_ERR && w->next != NULL)
		w = w->next;
	while (qp->wq_head != w) /* READs whose response can't come any more (W-COMP-05) */
		roce_request_finish(s, qp, NDSH_WC_FLUSH_ERR, reason);
	roce_request_finish(s, qp, status, syndrome != 0 ? syndrome : (uint32_t)reason);
	roce_qp_error(s, qp, reason, syndrome);
}

void
roce_qp_stop(struct roce_shard *s, struct roce_qp *qp)
{
	qp->ack_owed = ROCE_OWED_NONE;
	qp_stop_sending(s, qp);
	roce_mw_let_go(s, qp);
	roce_flush_leave(qp);
	if (qp->wq_head != NULL)
		roce_wqes_drop(s, roce_cq_principal(qp->send_cq), qp->wq_head, qp->wq_tail);
	qp->wq_head = NULL;
	if (qp->rx_wqe != NULL)
		roce_wqe_free(s, roce_cq_principal(qp->recv_cq), ROCE_SIDE_RECV, qp->rx_wqe);
	qp->rx_wqe = NULL;
	roce_moved_put_back(qp);
}
