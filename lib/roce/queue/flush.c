/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flushing: all requests of a queue pair in ERR complete with FLUSH_ERR, those in flight before
 * those in the rings, each queue in order (W-ERR-01). A deep queue is flushed in portions, so that
 * the work of a turn is bounded.
 */
#include "roce/queue/flush.h"

#include "roce/qp/qp.h"
#include "roce/queue/cq.h"
#include "roce/queue/receive.h"
#include "roce/queue/request.h"
#include "roce/shard/event.h"
#include "roce/shard/line.h"

#define FLUSH_BUDGET 512u /* requests that a turn may flush */
#define FLUSH_PART   64u  /* ... of one queue pair, before it is another principal's turn */

void
roce_flush_join(struct roce_shard *s, struct roce_qp *qp)
{
	if (base_linked(&qp->flush_link))
		return;
	roce_line_join(s, qp->send_cq->client, ROCE_LINE_FLUSH, &qp->flush_link);
	qp->send_cq->flushing++;
	qp->recv_cq->flushing++;
}

void
roce_flush_leave(struct roce_qp *qp)
{
	if (!base_linked(&qp->flush_link))
		return;
	base_list_remove(&qp->flush_link);
	qp->send_cq->flushing--;
	qp->recv_cq->flushing--;
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
		roce_request_finish(s, qp, NDSH_WC_FLUSH_ERR, qp->reason);
		return true;
	}
	if (!qp_fetch_ok(s, qp, ndsh_sq_fetch(&qp->sq, &s->send)))
		return false;
	qp->sq_done++;
	s->count.requests_flushed++;
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
	s->count.receives_flushed++;
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

static uint32_t
flush_some(struct roce_shard *s, struct base_link *l, uint32_t most)
{
	struct roce_qp *qp = base_container(l, struct roce_qp, flush_link);
	uint32_t left = most;

	if (qp_flush_part(s, qp, &left)) {
		roce_flush_leave(qp);
	} else {
		base_list_remove(l);
		roce_line_join(s, qp->send_cq->client, ROCE_LINE_FLUSH, l);
	}
	return most - left;
}

bool
roce_flush_list(struct roce_shard *s)
{
	return roce_line_serve(s, ROCE_LINE_FLUSH, FLUSH_BUDGET, FLUSH_PART, flush_some) > 0;
}

bool
roce_qp_flush(struct roce_shard *s, struct roce_qp *qp)
{
	uint32_t budget = ROCE_FLUSH_AT_ONCE;

	if (base_linked(&qp->flush_link) && qp_flush_part(s, qp, &budget))
		roce_flush_leave(qp);
	return !base_linked(&qp->flush_link);
}
