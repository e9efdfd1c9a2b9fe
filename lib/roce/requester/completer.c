/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completer: what responses do to the send queue. An acknowledgement completes SENDs and WRITEs up
 * to its PSN, but stops at a READ or atomic without response, which only its own data completes
 * (W-COMP-03).
 */
#include "roce/requester/completer.h"

#include "base/compiler.h"
#include "roce/mem/copy.h"
#include "roce/mem/fast_register.h"
#include "roce/mem/moved.h"
#include "roce/mem/mr.h"
#include "roce/mem/sge.h"
#include "roce/qp/check.h"
#include "roce/qp/error.h"
#include "roce/qp/modify.h"
#include "roce/qp/qp.h"
#include "roce/queue/cq.h"
#include "roce/queue/request.h"
#include "roce/queue/wqe.h"
#include "roce/requester/requester.h"
#include "roce/requester/retry.h"
#include "roce/shard/event.h"
#include "roce/shard/flight.h"
#include "roce/shard/pool.h"
#include "roce/shard/shard.h"
#include "roce/shard/timer.h"
#include "roce/tx.h"
#include "shm/ndsh_op.h"
#include "wire/psn.h"

bool
roce_comp_due(struct roce_shard *s, struct roce_qp *qp)
{
	struct roce_wqe *w;

	while ((w = qp->wq_head) != NULL && (w->bits & ROCE_WQB_DUE)) {
		if (w->fault != NDSH_WC_SUCCESS) {
			roce_qp_fail_wqe(s, qp, w, w->fault, w->fault_reason, 0);
			return false;
		}
		s->count.requests_completed++;
		roce_request_finish(s, qp, NDSH_WC_SUCCESS, 0);
	}
	__atomic_store_n(&qp->page->sq_done, qp->sq_done, __ATOMIC_RELEASE);
	return true;
}

/* Acknowledge all before end. False: a READ or atomic without response is in the way. */
static bool
ack_before(struct roce_shard *s, struct roce_qp *qp, uint32_t end)
{
	uint32_t n = roce_psn_from(end, qp->una_psn);

	while (n > 0) {
		struct roce_wqe *w = qp->wq_head;
		uint32_t left;

		if (base_unlikely(w == NULL)) {
			roce_qp_bug(s, qp);
			return false;
		}
		if (ndsh_op_is_fetch(w->op))
			return false;
		left = roce_psn_from(roce_psn_add(w->first_psn, w->npsn), qp->una_psn);
		if (left > n) {
			qp->una_psn = end;
			return true;
		}
		qp->una_psn = roce_psn_add(qp->una_psn, left);
		n -= left;
		s->count.requests_completed++;
		roce_request_finish(s, qp, NDSH_WC_SUCCESS, 0);
	}
	return true;
}

/* What was refused is accepted after all, as a copy of it was under way: there is nothing to wait
 * for. What was sent behind it is not, as the peer dropped it (W-TMR-06). */
static void
qp_end_rnr_wait(struct roce_shard *s, struct roce_qp *qp)
{
	roce_tx_clear(qp, ROCE_TXB_RNR_WAIT);
	roce_timer_rest(s, qp);
	roce_req_go_back(s, qp);
}

/* W-COMP-13 */
static void
qp_renew_budgets(struct roce_shard *s, struct roce_qp *qp)
{
	roce_retry_progress(qp);
	qp->rnr_left = qp->rnr_retry;
	qp->rnr_ns = 0;
	roce_tx_clear(qp, ROCE_TXB_RNR_MET);
	if (qp->tx_bits & ROCE_TXB_RNR_WAIT)
		qp_end_rnr_wait(s, qp);
}

/* una_psn moved on from was, if it did (W-COMP-13). */
static void
qp_progress(struct roce_shard *s, struct roce_qp *qp, uint32_t was)
{
	uint32_t advance = roce_psn_from(qp->una_psn, was);

	if (advance == 0)
		return;
	if ((qp->tx_bits & ROCE_TXB_RTT) && roce_psn_from(qp->rtt_psn, was) < advance)
		roce_rtt_end(s, qp);
	/* What is sent again had arrived. Requests that ended took wq_tx along (request.h). */
	if (roce_psn_from(qp->tx_psn, was) < advance)
		qp->tx_psn = qp->una_psn;
	if (base_unlikely(qp->tx_bits & (ROCE_TXB_CHARGED | ROCE_TXB_RNR_MET | ROCE_TXB_LATE)))
		qp_renew_budgets(s, qp);
	roce_tx_clear(qp, ROCE_TXB_RESTARTED);
	qp->charge_ns = s->now_ns;
	roce_flight_count(s, qp);
	__atomic_store_n(&qp->page->sq_done, qp->sq_done, __ATOMIC_RELEASE);
	if (qp->una_psn == qp->snd_max) {
		roce_timer_rest(s, qp);
		roce_moved_idle(s, qp, false);
	} else if (qp->timeout_code != 0)
		roce_timer_set(s, qp, s->now_ns + roce_retry_wait_ns(s, qp));
	if (qp->wq_head != NULL && (qp->wq_head->bits & ROCE_WQB_DUE) && !roce_comp_due(s, qp))
		return;
	if (base_unlikely(qp->tx_bits & ROCE_TXB_DRAINING) && qp->una_psn == qp->snd_max)
		roce_qp_drained(s, qp);
	if (qp->wq_tx != NULL || (qp->tx_bits & ROCE_TXB_BLOCKED)) {
		roce_tx_clear(qp, ROCE_TXB_BLOCKED);
		roce_tx_want(s, qp);
	}
}

/*
 * A NAK of the peer, or a gap in the responses, tells that something was lost. Packets are sent
 * again once per loss: further NAKs that the same loss causes are ignored (W-TMR-05). So are those
 * that come during an RNR wait: rdma_rxe (Linux 6.1, 6.12) sends a sequence NAK right behind an RNR
 * NAK, for the rest of the message.
 */
static bool
qp_restart(struct roce_shard *s, struct roce_qp *qp)
{
	if ((qp->tx_bits & (ROCE_TXB_RESTARTED | ROCE_TXB_RNR_WAIT)) || qp->state == ROCE_QPS_ERR)
		return false;
	if (!roce_retry_charge(s, qp, true)) {
		roce_qp_fail_wqe(s, qp, qp->wq_head, NDSH_WC_RETRY_EXC_ERR, ROCE_REASON_RETRY_EXC,
			ROCE_SYN_NAK_SEQ);
		return false;
	}
	qp->tx_bits |= ROCE_TXB_RESTARTED;
	roce_req_go_back(s, qp);
	if (qp->timeout_code != 0)
		roce_timer_set(s, qp, s->now_ns + roce_retry_wait_ns(s, qp));
	return true;
}

/* The response is for a later request than the READ at the head, whose own response is lost, unless
 * it found no room. */
static void
comp_implied_nak(struct roce_shard *s, struct roce_qp *qp)
{
	if ((qp->tx_bits & (ROCE_TXB_RESTARTED | ROCE_TXB_RNR_WAIT)) || qp->state == ROCE_QPS_ERR)
		return;
	if (roce_moved_awaits_room(qp)) /* W-COMP-13 */
		return;
	s->count.implied_nak++;
	roce_qp_note(s, qp, ROCE_REC_IMPLIED_NAK, qp->una_psn, 0);
	qp_restart(s, qp);
}

/* The request in flight that owns psn, which is in [una, snd_max). */
static struct roce_wqe *
wqe_of_psn(const struct roce_qp *qp, uint32_t psn)
{
	struct roce_wqe *w = qp->wq_head;

	while (w != NULL && roce_psn_from(psn, w->first_psn) >= w->npsn)
		w = w->next;
	return w;
}

/*
 * Is it time to give up on a peer without receives? A retry count is no bound in time: seven waits
 * may be 70 us or 4.6 s (rdma_cm of Linux 6.1 and 6.12 leaves the RNR timer at 0, which is 0.66 s),
 * and a count of 7 is no bound at all. So there is a bound in time, too (R-SR-05).
 */
static bool
qp_rnr_exceeded(const struct roce_shard *s, struct roce_qp *qp)
{
	if (qp->rnr_left == 0)
		return true;
	if (qp->rnr_ns == 0)
		qp->rnr_ns = s->now_ns;
	return qp->rnr_give_up_ms != 0 &&
	       s->now_ns - qp->rnr_ns >= UINT64_C(1000000) * qp->rnr_give_up_ms;
}

/* W-COMP-04, W-COMP-05 */
static void
comp_rnr(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	if ((qp->tx_bits & ROCE_TXB_RNR_WAIT) || qp->state == ROCE_QPS_ERR)
		return;
	s->count.rx_rnr++;
	roce_qp_note(s, qp, ROCE_REC_RNR_RECEIVED, pkt->psn, pkt->syndrome);
	if (qp_rnr_exceeded(s, qp)) {
		s->count.rnr_retry_exceeded++;
		roce_qp_fail_wqe(s, qp, qp->wq_head, NDSH_WC_RNR_RETRY_EXC_ERR,
			ROCE_REASON_RNR_RETRY_EXC, pkt->syndrome);
		return;
	}
	if (qp->rnr_left != 7)
		qp->rnr_left--;
	if ((qp->tx_bits & ROCE_TXB_RTT) && qp->rtt_psn == pkt->psn)
		roce_rtt_end(s, qp);
	roce_retry_renew(qp);
	qp->tx_bits |= ROCE_TXB_RNR_WAIT | ROCE_TXB_RNR_MET;
	roce_flight_count(s, qp);
	roce_tx_clear(qp, ROCE_TXB_RESTARTED);
	roce_timer_set(s, qp, s->now_ns + roce_rnr_ns(pkt->syndrome));
}

static bool
nak_is_fatal(const struct roce_pkt *pkt)
{
	return pkt->syndrome >= ROCE_SYN_NAK_INV_REQ && pkt->syndrome <= ROCE_SYN_NAK_REM_OP;
}

static void
comp_fatal(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	static const struct {
		uint8_t status, reason;
	} of[] = {
		[ROCE_SYN_NAK_INV_REQ & 31] = {NDSH_WC_REM_INV_REQ_ERR, ROCE_REASON_NAK_INV_REQ},
		[ROCE_SYN_NAK_REM_ACCESS & 31] = {NDSH_WC_REM_ACCESS_ERR,
			ROCE_REASON_NAK_REM_ACCESS},
		[ROCE_SYN_NAK_REM_OP & 31] = {NDSH_WC_REM_OP_ERR, ROCE_REASON_NAK_REM_OP},
	};
	struct roce_wqe *w = wqe_of_psn(qp, pkt->psn);

	if (qp->state == ROCE_QPS_ERR || w == NULL)
		return;
	s->count.rx_nak_fatal++;
	s->count.rx_nak_access += pkt->syndrome == ROCE_SYN_NAK_REM_ACCESS;
	s->count.rx_nak_invalid += pkt->syndrome == ROCE_SYN_NAK_INV_REQ;
	roce_qp_note(s, qp, ROCE_REC_NAK_RECEIVED, pkt->psn, pkt->syndrome);
	roce_qp_fail_wqe(s, qp, w, of[pkt->syndrome & 31].status, of[pkt->syndrome & 31].reason,
		pkt->syndrome);
}

static void
comp_nak_sequence(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	s->count.rx_nak_sequence++;
	roce_qp_note(s, qp, ROCE_REC_NAK_RECEIVED, pkt->psn, pkt->syndrome);
	/* It named the packet that it misses, so the next answer is to the copy that leaves now. */
	if (qp_restart(s, qp) && pkt->psn == qp->una_psn)
		roce_rtt_begin(s, qp, pkt->psn);
}

/* ACK, RNR NAK or NAK with a PSN in flight. */
static void
comp_ack(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	uint32_t type = pkt->syndrome >> 5, was = qp->una_psn;
	bool fatal = nak_is_fatal(pkt), clear;

	if (type == 0) {
		clear = ack_before(s, qp, roce_psn_add(pkt->psn, 1));
		qp_progress(s, qp, was);
		if (!clear)
			comp_implied_nak(s, qp);
		return;
	}
	if (type != 1 && pkt->syndrome != ROCE_SYN_NAK_SEQ && !fatal)
		return;			     /* reserved */
	clear = ack_before(s, qp, pkt->psn); /* W-COMP-05 */
	qp_progress(s, qp, was);
	if (fatal)
		comp_fatal(s, qp, pkt);
	else if (!clear)
		comp_implied_nak(s, qp);
	else if (type == 1)
		comp_rnr(s, qp, pkt);
	else
		comp_nak_sequence(s, qp, pkt);
}

static void
comp_bad_response(
	struct roce_shard *s, struct roce_qp *qp, struct roce_wqe *w, const struct roce_pkt *pkt)
{
	if (qp->state != ROCE_QPS_ERR)
		roce_qp_fail_wqe(
			s, qp, w, NDSH_WC_BAD_RESP_ERR, ROCE_REASON_BAD_RESPONSE, pkt->opcode);
}

/* Is pkt the response with its PSN that w asks for (W-COMP-07)? After the READ was sent again from
 * its middle, the peer may begin anew with FIRST, or go on as before (W-COMP-09), as rdma_rxe
 * (Linux 6.1, 6.12) does when it takes the request for the rest of the one it knows. */
static bool
read_shape_ok(const struct roce_qp *qp, const struct roce_wqe *w, const struct roce_pkt *pkt)
{
	uint32_t index = roce_psn_from(pkt->psn, w->first_psn);
	bool last = roce_psn_add(pkt->psn, 1) == w->asked_psn;
	bool begins = pkt->psn == w->retry_psn;
	uint32_t left = w->bytes - (index << qp->mtu_shift);
	uint32_t bytes = left < roce_qp_mtu(qp) ? left : roce_qp_mtu(qp);
	uint8_t fresh = last ? ROCE_READ_RESP_ONLY : ROCE_READ_RESP_FIRST;
	uint8_t going_on = last ? ROCE_READ_RESP_LAST : ROCE_READ_RESP_MIDDLE;

	if (pkt->payload_bytes != bytes || pkt->syndrome >> 5) /* 0: a packet without AETH */
		return false;
	return (begins && pkt->opcode == fresh) || (index > 0 && pkt->opcode == going_on);
}

/* W-COMP-11 */
static bool
atomic_shape_ok(const struct roce_pkt *pkt)
{
	return pkt->opcode == ROCE_ATOMIC_ACK && pkt->syndrome >> 5 == 0;
}

/* R-RW-06. If the registration has ended meanwhile, there is nothing to do. */
static void
wqe_invalidate_sink(struct roce_shard *s, const struct roce_qp *qp, const struct roce_wqe *w)
{
	struct roce_mr *sink =
		w->num_sge > 0 ? roce_frmr_of_local(s, qp, roce_wqe_sge(w)->key) : NULL;

	if (sink != NULL)
		sink->rights = 0;
}

/* The payload of the expected response is in its place. */
static void
fetch_placed(struct roce_shard *s, struct roce_qp *qp, struct roce_wqe *w)
{
	uint32_t was = qp->una_psn;

	qp->una_psn = roce_psn_add(was, 1);
	if (qp->una_psn == roce_psn_add(w->first_psn, w->npsn)) {
		if (base_unlikely(w->flags & NDSH_WRF_LOCAL_INV))
			wqe_invalidate_sink(s, qp, w);
		s->count.requests_completed++;
		roce_request_finish(s, qp, NDSH_WC_SUCCESS, 0);
	}
	qp_progress(s, qp, was);
}

static enum roce_copy
fetch_place(struct roce_shard *s, struct roce_qp *qp, const struct roce_wqe *w,
	const struct roce_pkt *pkt)
{
	uint32_t from = roce_psn_from(pkt->psn, w->first_psn) << qp->mtu_shift;

	if (ndsh_op_is_atomic(w->op)) /* the codec made it a number of this machine */
		return roce_sge_scatter(s, qp, &qp->read_pos, w, 0,
			(const uint8_t *)&pkt->atomic_orig, sizeof(pkt->atomic_orig));
	return roce_sge_scatter(s, qp, &qp->read_pos, w, from, pkt->payload, pkt->payload_bytes);
}

/* It is not the peer that keeps us waiting, not even if it asked us to: the READ is asked for again
 * when there is room (W-COMP-13). */
static void
fetch_wait_for_room(struct roce_shard *s, struct roce_qp *qp)
{
	roce_retry_renew(qp);
	roce_tx_clear(qp, ROCE_TXB_RNR_WAIT);
	roce_timer_rest(s, qp);
	roce_moved_sink_full(qp);
}

static void
comp_fetch(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_wqe *w = wqe_of_psn(qp, pkt->psn);
	uint32_t was = qp->una_psn;
	enum roce_copy put;
	bool clear = true;

	if (base_unlikely(w == NULL || !ndsh_op_is_fetch(w->op))) {
		if (w != NULL && (w->bits & ROCE_WQB_PROBE))
			s->count.rx_ghost_response++; /* of the READ whose PSN the probe has */
		else if (w != NULL)
			comp_bad_response(s, qp, w, pkt); /* W-COMP-15 */
		return;
	}
	if (was != pkt->psn) { /* W-COMP-10 */
		clear = ack_before(s, qp, pkt->psn);
		qp_progress(s, qp, was);
	}
	if (qp->state == ROCE_QPS_ERR)
		return;
	if (!clear) { /* W-COMP-08 */
		comp_implied_nak(s, qp);
		return;
	}
	if (base_unlikely(ndsh_op_is_atomic(w->op) ? !atomic_shape_ok(pkt)
						   : !read_shape_ok(qp, w, pkt))) {
		comp_bad_response(s, qp, w, pkt);
		return;
	}
	put = fetch_place(s, qp, w, pkt);
	if (base_likely(put == ROCE_COPY_OK)) {
		fetch_placed(s, qp, w);
	} else if (put == ROCE_COPY_LATER) {
		fetch_wait_for_room(s, qp);
	} else {
		roce_qp_fail_wqe(s, qp, w, NDSH_WC_LOC_PROT_ERR, ROCE_REASON_LOCAL_PROT, 0);
	}
}

/*
 * A NAK may name its request by the first PSN, or another one, that is acknowledged or answered
 * already (W-COMP-06): rdma_rxe (Linux 6.12) does so when it refuses a READ in the middle of its
 * responses. A fatal NAK is the last word of the peer, never an old one. Others may be, but
 * for a READ of which a part is still to come they do no harm: the next response ends a wait that
 * is not due any more, and makes up for a retry that was not.
 */
static bool
comp_late_nak(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	const struct roce_wqe *w = qp->wq_head;

	if (pkt->opcode != ROCE_ACK || w == NULL ||
		roce_psn_from(pkt->psn, w->first_psn) >= roce_psn_from(qp->una_psn, w->first_psn))
		return false;
	if (nak_is_fatal(pkt))
		comp_fatal(s, qp, pkt);
	else if (w->op == NDSH_OP_READ && pkt->syndrome >> 5 == 1)
		comp_rnr(s, qp, pkt);
	else if (w->op == NDSH_OP_READ && pkt->syndrome == ROCE_SYN_NAK_SEQ)
		comp_nak_sequence(s, qp, pkt);
	else
		return false;
	return true;
}

/*
 * A probe asks whether the peer is there, so any acknowledgement answers it. rdma_rxe (Linux 6.1,
 * 6.12) acknowledges a duplicate by the PSN of its last SEND, WRITE or atomic: READs do not count.
 */
static void
comp_ghost(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	const struct roce_wqe *w = qp->wq_head;
	uint32_t was = qp->una_psn;

	if (w != NULL && (w->bits & ROCE_WQB_PROBE) && pkt->opcode == ROCE_ACK &&
		pkt->syndrome >> 5 == 0) {
		(void)ack_before(s, qp, roce_psn_add(was, 1));
		qp_progress(s, qp, was);
	} else {
		s->count.rx_ghost_response++;
	}
}

void
roce_comp_rx(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	roce_check_qp(s, qp);
	if (!roce_qp_in_flight(qp, pkt->psn)) { /* W-COMP-01 */
		if (!comp_late_nak(s, qp, pkt))
			comp_ghost(s, qp, pkt);
		return;
	}
	if (pkt->opcode == ROCE_ACK)
		comp_ack(s, qp, pkt);
	else
		comp_fetch(s, qp, pkt);
}
