/* SPDX-License-Identifier: BSD-3-Clause */
/* The invariants of a queue pair, as check.h words them. */
#include "roce/qp/check.h"

#include "roce/mem/moved.h"
#include "roce/mem/mr.h"
#include "roce/mem/mw.h"
#include "roce/qp/qp.h"
#include "roce/qp/replay.h"
#include "roce/shard/qpn.h"
#include "roce/shard/shard.h"
#include "shm/ndsh_op.h"
#include "wire/psn.h"

#define PSN_SPAN_MAX (1u << 23) /* W-PSN-02 */

/* Where the walk over the requests in flight has come to. */
struct walk {
	uint32_t psn;	/* first of the next request */
	uint32_t count; /* of requests */
	uint32_t reads; /* READs and atomics that were sent */
	bool unsent;	/* one was not sent yet */
	bool met_tx;	/* wq_tx was among them */
};

static bool
qp_is_connected(const struct roce_qp *qp)
{
	return qp->state >= ROCE_QPS_RTR && qp->state <= ROCE_QPS_SQD;
}

static bool
qp_is_datagram(const struct roce_qp *qp)
{
	return qp->state == ROCE_QPS_UD_RTS || qp->state == ROCE_QPS_UD_SQE;
}

/* Does psn belong to w? A local operation takes none, and stands where the next request begins. */
static bool
wqe_holds(const struct roce_wqe *w, uint32_t psn)
{
	return roce_psn_from(psn, w->first_psn) < (w->npsn > 0 ? w->npsn : 1);
}

static const char *
qp_check_identity(const struct roce_shard *s, const struct roce_qp *qp)
{
	bool datagrams = qp->rx_bits & ROCE_RXB_DATAGRAMS;

	if (qp->qpn == 0 || qp->qpn > ROCE_QPN_MASK)
		return "no queue pair number";
	if (qp->state >= ROCE_QPS_COUNT)
		return "no such state";
	if (datagrams != (qp_is_datagram(qp) || (datagrams && qp->state == ROCE_QPS_ERR)))
		return "state and kind of queue pair disagree";
	if (qp->unreliable ? qp_is_connected(qp) || datagrams : roce_qp_is_uc(qp))
		return "state and reliability of queue pair disagree";
	if (qp->pd == 0 || qp->pd > s->cfg.max_pds || s->pd_refs[qp->pd - 1] < 2)
		return "no protection domain";
	if (qp->send_cq == NULL || qp->recv_cq == NULL || qp->page == NULL)
		return "no completion queue, or no page";
	if (qp->moved != NULL && qp->moved != &s->moved[qp - s->qps])
		return "the state of moved memory is another queue pair's";
	if (qp->reads != NULL && qp->reads != &s->reads[qp - s->qps])
		return "the replay block is another queue pair's";
	return NULL;
}

static const char *
qp_check_windows(const struct roce_shard *s, const struct roce_qp *qp)
{
	const struct roce_windows *v = &s->windows[qp - s->qps];
	const struct roce_mr *newest = &s->mrs[v->ring.newest];

	if (qp->binder != 0 && (qp->binder & ((1u << ROCE_INDEX_BITS) - 1)) != qp - s->qps)
		return "the windows are another queue pair's";
	if (v->ring.count == 0)
		return NULL;
	if (v->ring.newest >= s->cfg.max_mrs || newest->kind != ROCE_MR_WINDOW)
		return "the newest window is none";
	if (newest->binder == qp->binder && qp->state != ROCE_QPS_RTS && qp->state != ROCE_QPS_SQD)
		return "windows are bound, and it sends nothing";
	if (s->mrs[newest->prev].binder != qp->binder && !base_linked(&v->ended))
		return "windows of an earlier life, and nothing unbinds them";
	return NULL;
}

static const char *
qp_check_bits(const struct roce_qp *qp)
{
	if ((qp->tx_bits & ROCE_TXB_RNR_WAIT) && qp_is_connected(qp) && qp->deadline_ns == 0)
		return "it waits as an RNR NAK said, without a deadline";
	if ((qp->tx_bits & ROCE_TXB_DRAINING) && qp->state != ROCE_QPS_SQD &&
		qp->state != ROCE_QPS_UC_SQD && qp->state != ROCE_QPS_ERR)
		return "it is draining, and not in SQD";
	if (!(qp->tx_bits & ROCE_TXB_KEEPALIVE) != (qp->keepalive_ms == 0))
		return "its keepalive, and the bit that says so, disagree";
	if ((qp->rx_bits & ROCE_RXB_PACED) && !(qp->rx_bits & ROCE_RXB_CC))
		return "it is paced, and met no congestion";
	if (qp->retry_left > qp->retry || qp->rnr_left > qp->rnr_retry)
		return "more retries are left than there were";
	if (qp->ack_owed > ROCE_OWED_FATAL || qp->rx_msg > ROCE_MSG_WRITE)
		return "no such acknowledgement, or no such message";
	return NULL;
}

static const char *
qp_check_timer(const struct roce_qp *qp)
{
	if (qp->deadline_ns != 0 && !base_linked(&qp->timer_link))
		return "a deadline that the timer wheel does not know";
	if (qp->state < ROCE_QPS_RTS || qp->state > ROCE_QPS_SQD)
		return NULL;
	if (roce_moved_awaits_room(qp))
		return base_linked(&qp->moved->waiting) ? NULL
							: "it waits for room, and no mover knows";
	if (qp->timeout_code != 0 && qp->una_psn != qp->tx_psn && qp->deadline_ns == 0)
		return "packets wait for a response, and have no deadline";
	return NULL;
}

/* Before RTR there is no connection, so nothing of one. */
static const char *
qp_check_unconnected(const struct roce_qp *qp)
{
	if (qp->wq_head != NULL || qp->wq_tx != NULL || qp->rx_wqe != NULL)
		return "requests before RTR";
	if (qp->reads != NULL || qp->moved != NULL || qp->rd_pending != 0 || qp->rd_out != 0)
		return "READs or moved memory before RTR";
	if (qp->ack_owed != ROCE_OWED_NONE || base_linked(&qp->ack_link) ||
		base_linked(&qp->tx_link))
		return "something to send before RTR";
	if (qp->deadline_ns != 0 || base_linked(&qp->timer_link) || base_linked(&qp->flush_link))
		return "a timer, or something to flush, before RTR";
	return NULL;
}

static const char *
qp_check_dead(const struct roce_qp *qp)
{
	if (qp->wq_tx != NULL)
		return "requests to send in ERR";
	if (qp->deadline_ns != 0 || base_linked(&qp->timer_link))
		return "a timer in ERR";
	if (qp->rx_bits & (ROCE_RXB_CC | ROCE_RXB_PACED))
		return "congestion in ERR";
	if (base_linked(&qp->ring_link))
		return "the send ring is polled in ERR";
	if (qp->ack_owed != ROCE_OWED_NONE && qp->ack_owed != ROCE_OWED_ACK &&
		qp->ack_owed != ROCE_OWED_FATAL)
		return "an acknowledgement in ERR that tells nothing";
	if (!base_linked(&qp->flush_link) && (qp->wq_head != NULL || qp->rx_wqe != NULL))
		return "requests in ERR that will not be flushed";
	return NULL;
}

/* A datagram queue pair has one request in flight at most, and no receive between packets. */
static const char *
qp_check_datagrams(const struct roce_qp *qp)
{
	if (qp->wq_head != NULL && qp->wq_head->next != NULL)
		return "several datagrams in flight";
	if (qp->sq.next - qp->sq_done != (qp->wq_head != NULL))
		return "slots of the send ring and requests in flight disagree";
	if (qp->rx_wqe != NULL || (qp->srq == NULL && qp->rq.next != qp->rq_done))
		return "a receive in use between two datagrams";
	if (qp->reads != NULL || qp->rd_pending != 0 || qp->ack_owed != ROCE_OWED_NONE)
		return "a datagram queue pair with something to acknowledge";
	return NULL;
}

/* Of an unreliable connection. A request is finished when its last packet has left, so one is in
 * flight at most; a receive may be kept while no message is under way. */
static const char *
qp_check_unreliable(const struct roce_qp *qp)
{
	const struct roce_wqe *w = qp->wq_head, *r = qp->rx_wqe;

	if (w != NULL && (qp->state == ROCE_QPS_UC_RTR || qp->state == ROCE_QPS_UC_SQE))
		return "a request in flight where none is sent";
	if (w != NULL && (w->next != NULL || qp->wq_tx != NULL))
		return "several requests in flight, or one to be sent again";
	if (w != NULL && !wqe_holds(w, qp->tx_psn))
		return "tx_psn is not in the request in flight";
	if (qp->sq.next - qp->sq_done != (w != NULL))
		return "slots of the send ring and requests in flight disagree";
	if (qp->rx_msg == ROCE_MSG_SEND && (r == NULL || qp->rx_bytes > r->bytes))
		return "a SEND under way, and no receive that holds it";
	if (qp->srq == NULL && qp->rq.next - qp->rq_done != (r != NULL))
		return "slots of the receive ring and the receive in use disagree";
	if (qp->reads != NULL || qp->rd_pending != 0 || qp->ack_owed != ROCE_OWED_NONE)
		return "an unreliable connection with something to acknowledge";
	return qp->deadline_ns != 0 ? "a timer, and nothing is waited for" : NULL;
}

static const char *
qp_check_psns(const struct roce_qp *qp)
{
	uint32_t tx = roce_psn_from(qp->tx_psn, qp->una_psn);
	uint32_t snd = roce_psn_from(qp->snd_max, qp->una_psn);

	if ((qp->una_psn | qp->tx_psn | qp->snd_max | qp->load_psn) > ROCE_PSN_MASK)
		return "a PSN of more than 24 bits";
	if (snd > PSN_SPAN_MAX)
		return "too many PSNs in flight";
	if (tx > snd)
		return "tx_psn is not between una_psn and snd_max";
	return NULL;
}

static const char *
walk_step(const struct roce_qp *qp, const struct roce_wqe *w, struct walk *to)
{
	if (w->first_psn != to->psn)
		return "the PSNs of two requests do not follow each other";
	if ((w->npsn == 0) != ndsh_op_is_local(w->op))
		return "a request without PSNs, or a local operation with some";
	if (w == qp->wq_tx && !wqe_holds(w, qp->tx_psn))
		return "tx_psn is not in wq_tx";
	if (!(w->bits & ROCE_WQB_ISSUED)) {
		if (!to->unsent && roce_psn_from(qp->snd_max, qp->una_psn) >
					   roce_psn_from(w->first_psn, qp->una_psn))
			return "snd_max is behind a request that was never sent";
		to->unsent = true;
	} else if (to->unsent) {
		return "a request was sent before an earlier one";
	} else if (ndsh_op_is_fetch(w->op)) {
		to->reads++;
	}
	to->met_tx |= w == qp->wq_tx;
	to->psn = roce_psn_add(to->psn, w->npsn);
	to->count++;
	return NULL;
}

/* What the walk found, against the counters. */
static const char *
walk_end(const struct roce_qp *qp, const struct walk *to)
{
	if (to->psn != qp->load_psn)
		return "load_psn is not behind the last request";
	if (qp->wq_tx != NULL && !to->met_tx)
		return "wq_tx is no request in flight";
	if (qp->wq_tx == NULL && qp->tx_psn != qp->load_psn)
		return "requests that were not sent, and no wq_tx";
	if (qp->wq_head == NULL && qp->una_psn != qp->load_psn)
		return "PSNs in flight that belong to no request";
	if (to->reads != qp->rd_out)
		return "rd_out is not the number of READs and atomics in flight";
	if (qp->sq.next - qp->sq_done != to->count)
		return "slots of the send ring and requests in flight disagree";
	return NULL;
}

static const char *
qp_check_requests(const struct roce_qp *qp)
{
	const struct roce_wqe *w = qp->wq_head;
	struct walk to = {.psn = w != NULL ? w->first_psn : qp->load_psn};
	const char *wrong;

	if (w != NULL && !wqe_holds(w, qp->una_psn))
		return "una_psn is not in the oldest request";
	for (; w != NULL; w = w->next) {
		if (to.count > qp->sq.depth)
			return "more requests in flight than the send ring has slots";
		wrong = walk_step(qp, w, &to);
		if (wrong != NULL)
			return wrong;
		if (w->next == NULL && w != qp->wq_tail)
			return "wq_tail is not the last request";
	}
	return walk_end(qp, &to);
}

static const char *
qp_check_receive(const struct roce_qp *qp)
{
	const struct roce_wqe *w = qp->rx_wqe;

	if (qp->rx_msg == ROCE_MSG_SEND && (w == NULL || qp->rx_bytes > w->bytes))
		return "a SEND under way, and no receive that holds it";
	if (qp->rx_msg != ROCE_MSG_SEND && w != NULL)
		return "a receive in use, and no message that takes it";
	if (qp->rx_msg == ROCE_MSG_WRITE && qp->rx_left == 0)
		return "a WRITE under way of which nothing is left";
	if (qp->srq == NULL && qp->rq.next - qp->rq_done != (w != NULL))
		return "slots of the receive ring and the receive in use disagree";
	return NULL;
}

static const char *
qp_check_placed(const struct roce_qp *qp)
{
	const struct roce_moved *m = qp->moved;

	if ((qp->recv_psn | qp->placed_psn) > ROCE_PSN_MASK)
		return "a PSN of more than 24 bits";
	if ((m == NULL || !m->placing) && qp->placed_psn != qp->recv_psn)
		return "something received is not placed, and no mover works on it";
	if (m != NULL && m->placing &&
		roce_psn_from(m->mark_psn, qp->placed_psn) >
			roce_psn_from(qp->recv_psn, qp->placed_psn))
		return "placed_psn, the mark and recv_psn are not in order";
	if (m != NULL && m->qp != qp)
		return "the state of moved memory is another queue pair's";
	return NULL;
}

/* READs and atomics of the peer. */
static const char *
qp_check_replay(const struct roce_qp *qp)
{
	uint32_t pending = 0;

	if (qp->rd_next >= ROCE_RD_ATOMIC_MAX || qp->rd_cur >= ROCE_RD_ATOMIC_MAX)
		return "no such replay slot";
	for (uint32_t i = 0; qp->reads != NULL && i < ROCE_RD_ATOMIC_MAX; i++)
		pending += qp->reads->slot[i].pending;
	if (pending != qp->rd_pending)
		return "rd_pending is not the number of slots with responses to send";
	if (pending > 0 && !qp->reads->slot[qp->rd_cur].pending)
		return "rd_cur is no slot with responses to send";
	if ((qp->rx_bits & ROCE_RXB_HELD) && (qp->reads == NULL || qp->moved == NULL))
		return "it is held, and no atomic waits";
	return NULL;
}

/* A connection, at any time: both directions. */
static const char *
qp_check_connected(const struct roce_qp *qp)
{
	const char *wrong = NULL;

	if (qp->state == ROCE_QPS_RTR && (qp->wq_head != NULL || qp->wq_tx != NULL))
		wrong = "requests in RTR";
	else if (qp->state > ROCE_QPS_RTR)
		wrong = qp_check_psns(qp);
	if (wrong == NULL && qp->state > ROCE_QPS_RTR)
		wrong = qp_check_requests(qp);
	if (wrong == NULL)
		wrong = qp_check_receive(qp);
	if (wrong == NULL)
		wrong = qp_check_placed(qp);
	return wrong != NULL ? wrong : qp_check_replay(qp);
}

static const char *
qp_check_state(const struct roce_qp *qp)
{
	if (qp_is_datagram(qp))
		return qp_check_datagrams(qp);
	if (roce_qp_is_uc(qp))
		return qp_check_unreliable(qp);
	if (qp_is_connected(qp))
		return qp_check_connected(qp);
	if (qp->state == ROCE_QPS_ERR)
		return qp_check_dead(qp);
	return qp_check_unconnected(qp);
}

const char *
roce_qp_check(const struct roce_shard *s, const struct roce_qp *qp)
{
	const char *wrong = qp_check_identity(s, qp);

	if (wrong == NULL)
		wrong = qp_check_windows(s, qp);
	if (wrong == NULL)
		wrong = qp_check_bits(qp);
	if (wrong == NULL)
		wrong = qp_check_timer(qp);
	return wrong != NULL ? wrong : qp_check_state(qp);
}
