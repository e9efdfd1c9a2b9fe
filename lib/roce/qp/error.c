/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a queue pair: the failing request completes first, then everything behind it with
 * FLUSH_ERR, in order (W-ERR-01). A deep queue is flushed in portions, so that the work of a turn
 * is bounded.
 */
#include "roce/qp/error.h"

#include "base/compiler.h"
#include "base/list.h"
#include "roce/cc/cc.h"
#include "roce/mem/moved.h"
#include "roce/mem/mw.h"
#include "roce/qp/qp.h"
#include "roce/queue/cq.h"
#include "roce/queue/receive.h"
#include "roce/queue/send_ring.h"
#include "roce/queue/wqe.h"
#include "roce/requester/completer.h"
#include "roce/responder/replay.h"
#include "roce/shard/event.h"
#include "roce/shard/pool.h"
#include "roce/shard/shard.h"
#include "roce/shard/timer.h"

#define FLUSH_BUDGET 512u /* flushed requests per turn */

/*
 * Nothing more is sent, but for two things: the one fatal NAK, with the READ responses before it
 * (W-RESP-18, W-ACK-03); and the ACK of requests that were executed, so that a peer that closes the
 * connection knows of them.
 */
static void
qp_stop_sending(struct roce_shard *s, struct roce_qp *qp)
{
	qp->wq_tx = NULL;
	roce_timer_remove(s, qp);
	base_list_remove(&qp->tx_link);
	base_list_remove(&qp->ack_link);
	if (qp->rx_bits & ROCE_RXB_CC)
		roce_cc_forget(s, qp);
	if (qp->ack_owed == ROCE_OWED_FATAL ||
		(qp->ack_owed == ROCE_OWED_ACK && qp->rd_pending == 0)) {
		base_list_append(&s->senders, &qp->tx_link);
		return;
	}
	qp->ack_owed = ROCE_OWED_NONE;
	roce_reads_put(s, qp);
	qp->rd_pending = 0;
}

void
roce_flush_join(struct roce_shard *s, struct roce_qp *qp)
{
	if (base_linked(&qp->flush_link))
		return;
	base_list_append(&s->flushing, &qp->flush_link);
	qp->send_cq->flushing++;
	qp->recv_cq->flushing++;
}

static void
qp_flush_leave(struct roce_qp *qp)
{
	if (!base_linked(&qp->flush_link))
		return;
	base_list_remove(&qp->flush_link);
	qp->send_cq->flushing--;
	qp->recv_cq->flushing--;
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
	roce_mw_unbind_all(s, qp);
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
		roce_comp_finish(s, qp, NDSH_WC_FLUSH_ERR, reason);
	roce_comp_finish(s, qp, status, syndrome != 0 ? syndrome : (uint32_t)reason);
	roce_qp_error(s, qp, reason, syndrome);
}

static void
qp_flush_cqe(struct roce_shard *s, struct roce_qp *qp, struct roce_cq *cq, uint64_t context,
	uint8_t op, uint32_t slot_count)
{
	roce_cq_push(s, cq,
		&(struct ndsh_cqe){.context = context,
			.qp = qp->handle,
			.op = op,
			.status = NDSH_WC_FLUSH_ERR,
			.slot_count = slot_count,
			.syndrome = qp->reason});
}

static bool
qp_fetch_ok(struct roce_shard *s, struct roce_qp *qp, enum ndsh_fetch result)
{
	if (base_unlikely(result == NDSH_FETCH_BROKEN))
		roce_qp_event(s, qp, ROCE_EV_CLIENT_BREACH);
	return result == NDSH_FETCH_OK;
}

/* W-EVT-02: once. The receives that are left belong to the queue pairs that share the queue
 * (R-FL-08). */
static void
qp_tell_last_wqe(struct roce_shard *s, struct roce_qp *qp)
{
	if (qp->rx_bits & ROCE_RXB_LAST_WQE)
		return;
	qp->rx_bits |= ROCE_RXB_LAST_WQE;
	roce_qp_event(s, qp, ROCE_EV_LAST_WQE);
}

bool
roce_flush_send(struct roce_shard *s, struct roce_qp *qp)
{
	if (qp->wq_head != NULL) {
		roce_comp_finish(s, qp, NDSH_WC_FLUSH_ERR, qp->reason);
		return true;
	}
	if (!qp_fetch_ok(s, qp, ndsh_sq_fetch(&qp->sq, &s->send)))
		return false;
	qp->sq_done++;
	qp_flush_cqe(s, qp, qp->send_cq, s->send.context, s->send.op, qp->sq_done);
	return true;
}

static bool
qp_flush_recv(struct roce_shard *s, struct roce_qp *qp)
{
	if (qp->rx_wqe != NULL) {
		roce_receive_fail(s, qp, NDSH_WC_FLUSH_ERR);
		return true;
	}
	if (qp->srq != NULL) {
		qp_tell_last_wqe(s, qp);
		return false;
	}
	if (!qp_fetch_ok(s, qp, ndsh_rq_fetch(&qp->rq, &s->recv)))
		return false;
	qp->rq_done++;
	qp_flush_cqe(s, qp, qp->recv_cq, s->recv.context, NDSH_OP_RECV, qp->rq_done);
	return true;
}

/* True: all is flushed. The barrier stands between page->dead and reading the rings: a request that
 * is posted meanwhile is seen here, or its client sees that it must ring. */
static bool
qp_flush_part(struct roce_shard *s, struct roce_qp *qp, uint32_t *budget)
{
	ndsh_full_barrier();
	while (*budget > 0 && roce_flush_send(s, qp))
		--*budget;
	while (*budget > 0 && qp_flush_recv(s, qp))
		--*budget;
	__atomic_store_n(&qp->page->sq_done, qp->sq_done, __ATOMIC_RELEASE);
	__atomic_store_n(&qp->page->rq_done, qp->rq_done, __ATOMIC_RELEASE);
	return *budget > 0;
}

void
roce_flush_list(struct roce_shard *s)
{
	uint32_t budget = FLUSH_BUDGET;
	struct base_link *l;

	while (budget > 0 && (l = base_list_first(&s->flushing)) != NULL) {
		struct roce_qp *qp = base_container(l, struct roce_qp, flush_link);

		if (qp_flush_part(s, qp, &budget)) {
			qp_flush_leave(qp);
		} else {
			base_list_remove(l);
			base_list_append(&s->flushing, l);
		}
	}
}

bool
roce_qp_flush(struct roce_shard *s, struct roce_qp *qp)
{
	uint32_t budget = FLUSH_BUDGET;

	if (base_linked(&qp->flush_link) && qp_flush_part(s, qp, &budget))
		qp_flush_leave(qp);
	return !base_linked(&qp->flush_link);
}

void
roce_qp_stop(struct roce_shard *s, struct roce_qp *qp)
{
	struct roce_wqe *w;

	qp->ack_owed = ROCE_OWED_NONE;
	qp_stop_sending(s, qp);
	roce_mw_unbind_all(s, qp);
	qp_flush_leave(qp);
	while ((w = qp->wq_head) != NULL) {
		qp->wq_head = w->next;
		roce_wqe_free(s, w);
	}
	if (qp->rx_wqe != NULL)
		roce_wqe_free(s, qp->rx_wqe);
	qp->rx_wqe = NULL;
	roce_moved_put_back(s, qp);
}
