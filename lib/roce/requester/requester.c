/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requester: from the send ring to request packets. Messages leave in posting order, packets in
 * PSN order (W-REQ-01); a retransmission is the same walk from an older PSN (W-REQ-10).
 */
#include "roce/requester/requester.h"

#include "base/compiler.h"
#include "roce/mem/copy.h"
#include "roce/mem/fast_register.h"
#include "roce/mem/moved.h"
#include "roce/mem/mr.h"
#include "roce/mem/sge.h"
#include "roce/qp/check.h"
#include "roce/qp/error.h"
#include "roce/qp/qp.h"
#include "roce/queue/send_ring.h"
#include "roce/queue/wqe.h"
#include "roce/requester/local.h"
#include "roce/requester/fetch.h"
#include "roce/requester/retry.h"
#include "roce/shard/event.h"
#include "roce/shard/flight.h"
#include "roce/shard/pool.h"
#include "roce/shard/shard.h"
#include "roce/shard/timer.h"
#include "roce/tx.h"
#include "shm/ndsh_op.h"
#include "wire/headers.h"
#include "wire/psn.h"

#define PSN_SPAN_MAX (1u << 23) /* W-PSN-02 */

/* The requests before w still complete first. */
void
roce_req_fault(struct roce_shard *s, struct roce_qp *qp, struct roce_wqe *w,
	enum ndsh_wc_status status, enum roce_reason reason)
{
	w->fault = (uint8_t)status;
	w->fault_reason = (uint8_t)reason;
	w->bits |= ROCE_WQB_DUE;
	if (qp->wq_head == w)
		roce_qp_fail_wqe(s, qp, w, status, reason, 0);
}

/* READs, atomics and local operations: may w begin at all? */
BASE_INLINE bool
req_judge(struct roce_shard *s, struct roce_qp *qp, struct roce_wqe *w)
{
	if (!ndsh_op_is_fetch(w->op))
		return true;
	if (base_unlikely(qp->max_rd == 0)) { /* W-REQ-05 */
		roce_req_fault(s, qp, w, NDSH_WC_LOC_QP_OP_ERR, ROCE_REASON_LOCAL_OP);
		return false;
	}
	/* If the response could not be placed, the request is not sent. */
	if (!roce_sge_check(s, qp, w, NDSH_ACCESS_LOCAL_WRITE)) {
		roce_req_fault(s, qp, w, NDSH_WC_LOC_PROT_ERR, ROCE_REASON_LOCAL_PROT);
		return false;
	}
	if (base_unlikely(w->flags & NDSH_WRF_LOCAL_INV) && w->num_sge > 0 &&
		roce_frmr_of_local(s, qp, roce_wqe_sge(w)->key) == NULL) { /* R-INV-01 */
		roce_req_fault(s, qp, w, NDSH_WC_LOC_QP_OP_ERR, ROCE_REASON_LOCAL_INV);
		return false;
	}
	return true;
}

/* Fetch the next descriptor from the send ring to the end of the requests in flight. In RTS alone:
 * before it and in ERR there is none to send then. */
BASE_INLINE struct roce_wqe *
req_load(struct roce_shard *s, struct roce_qp *qp)
{
	struct roce_wqe *w;

	if (base_unlikely(qp->state != ROCE_QPS_RTS)) { /* W-REQ-12 */
		qp->tx_bits |= ROCE_TXB_BLOCKED;
		return NULL;
	}
	w = roce_wqe_fetch(s, qp);
	if (w == NULL)
		return NULL;
	if (base_likely(ndsh_op_is_data(w->op))) {
		roce_req_append(qp, w, roce_npsn(qp, w->bytes));
		return w;
	}
	roce_req_append(qp, w, ndsh_op_is_local(w->op) ? 0 : roce_npsn(qp, w->bytes));
	return req_judge(s, qp, w) ? w : NULL;
}

/* May a message begin that was never sent? (W-REQ-05, W-FENCE-01, W-PSN-02) */
static bool
req_may_start(const struct roce_qp *qp, const struct roce_wqe *w)
{
	if ((w->flags & NDSH_WRF_FENCE) && qp->rd_out > 0)
		return false;
	if (qp->state != ROCE_QPS_RTS)
		return false;
	if (roce_psn_from(qp->tx_psn, qp->una_psn) + w->npsn > PSN_SPAN_MAX)
		return false;
	return ndsh_op_is_data(w->op) || !ndsh_op_is_fetch(w->op) || qp->rd_out < qp->max_rd;
}

/* May it be sent, or go on? To the peer a part of a READ is a READ, and there is one place for it
 * within the depth: so the next part follows when the one before is placed (W-REQ-05). */
BASE_INLINE bool
req_may_go_on(const struct roce_qp *qp, const struct roce_wqe *w)
{
	if (base_likely(!(w->bits & ROCE_WQB_ISSUED)))
		return req_may_start(qp, w);
	return w->op != NDSH_OP_READ || qp->tx_psn != qp->snd_max || qp->tx_psn == qp->una_psn;
}

/* The request that holds the next packet to send; NULL: none now. */
BASE_INLINE struct roce_wqe *
req_next(struct roce_shard *s, struct roce_qp *qp)
{
	struct roce_wqe *w = qp->wq_tx;

	if (base_unlikely((qp->tx_bits & ROCE_TXB_RNR_WAIT) ||
			  roce_psn_from(qp->tx_psn, qp->una_psn) >= s->window)) {
		qp->tx_bits |= ROCE_TXB_BLOCKED;
		return NULL;
	}
	roce_tx_clear(qp, ROCE_TXB_BLOCKED);
	if (w == NULL) {
		w = req_load(s, qp);
		if (w == NULL)
			return NULL;
	}
	if (base_unlikely(w->fault != NDSH_WC_SUCCESS || !req_may_go_on(qp, w))) {
		qp->tx_bits |= ROCE_TXB_BLOCKED;
		return NULL;
	}
	return w;
}

/* Is this packet to ask for an acknowledgement (W-REQ-04)? */
static bool
req_wants_ack(const struct roce_shard *s, struct roce_qp *qp, bool last)
{
	bool window_closes = roce_psn_from(qp->tx_psn, qp->una_psn) + 1 >= s->window;

	if (!last && !window_closes && !(qp->tx_bits & ROCE_TXB_BURST) &&
		++qp->unacked < s->window_quarter)
		return false;
	qp->unacked = 0;
	return true;
}

/* A packet of w is about to leave that takes PSNs up to next; last: it is the last one of w. */
static inline void
req_sent(struct roce_shard *s, struct roce_qp *qp, struct roce_wqe *w, uint32_t next, bool last,
	bool ackreq)
{
	if (base_unlikely(qp->tx_psn != qp->snd_max)) {
		s->count.retransmitted_packets += !(w->bits & ROCE_WQB_PROBE);
	} else {
		qp->snd_max = next;
		if (ackreq && !(qp->tx_bits & ROCE_TXB_RTT))
			roce_rtt_begin(s, qp, qp->tx_psn);
	}
	roce_tx_clear(qp, ROCE_TXB_BURST);
	w->bits |= ROCE_WQB_ISSUED;
	qp->tx_psn = next;
	if (last)
		qp->wq_tx = w->next;
	if (qp->deadline_ns == 0 && qp->timeout_code != 0) {
		qp->charge_ns = s->now_ns;
		roce_timer_set(s, qp, s->now_ns + roce_retry_wait_ns(s, qp));
	}
}

/* How many responses one packet may ask for. A long READ goes in parts while principals share what
 * is under way, or one of them would be more than the share. */
static uint32_t
req_read_part(const struct roce_shard *s, const struct roce_qp *qp)
{
	uint32_t part;

	if (base_likely(!s->is_shared))
		return UINT32_MAX;
	part = roce_flight_room(s, roce_cq_principal(qp->send_cq));
	return part > s->cfg.window / 8 ? part : s->cfg.window / 8;
}

/* Behind what this packet of w is to ask for: as much as it may, or again what was asked for. */
static uint32_t
req_read_end(const struct roce_shard *s, const struct roce_qp *qp, const struct roce_wqe *w)
{
	uint32_t left = roce_psn_from(roce_psn_add(w->first_psn, w->npsn), qp->tx_psn), part;

	if (qp->tx_psn != qp->snd_max)
		return w->asked_psn;
	part = req_read_part(s, qp);
	return roce_psn_add(qp->tx_psn, part < left ? part : left);
}

static void
req_tx_read(struct roce_shard *s, struct roce_qp *qp, struct roce_wqe *w, struct roce_tx_slot *slot)
{
	uint32_t skip = roce_psn_from(qp->tx_psn, w->first_psn);
	uint32_t skip_bytes = skip << qp->mtu_shift; /* W-REQ-11 */
	uint32_t left = w->bytes - skip_bytes, asked, hdr;

	w->retry_psn = qp->tx_psn;
	w->asked_psn = req_read_end(s, qp, w);
	asked = roce_psn_from(w->asked_psn, qp->tx_psn) << qp->mtu_shift;
	hdr = roce_headers_build(slot->buf, &qp->tmpl,
		&(struct roce_pkt){
			.opcode = ROCE_READ_REQUEST,
			.qpn = qp->dest_qpn,
			.psn = qp->tx_psn,
			.pkey = ROCE_PKEY_DEFAULT,
			.mig = true,
			.ackreq = true,
			.va = w->raddr + skip_bytes,
			.rkey = w->rkey,
			.dma_bytes = asked < left ? asked : left,
		},
		qp->ip_id++, ROCE_OPF_RETH);
	roce_tx_seal(s, qp, slot, hdr, 0);
}

/* An atomic that is sent again is the same packet: the peer knows it by its PSN (W-COMP-11). */
static void
req_tx_atomic(
	struct roce_shard *s, struct roce_qp *qp, struct roce_wqe *w, struct roce_tx_slot *slot)
{
	bool swap = w->op == NDSH_OP_CMP_SWAP;
	uint32_t hdr = roce_headers_build(slot->buf, &qp->tmpl,
		&(struct roce_pkt){
			.opcode = swap ? ROCE_CMP_SWAP : ROCE_FETCH_ADD,
			.qpn = qp->dest_qpn,
			.psn = w->first_psn,
			.pkey = ROCE_PKEY_DEFAULT,
			.mig = true,
			.ackreq = true,
			.va = w->raddr,
			.rkey = w->rkey,
			.swap_add = w->atomic.swap_add,
			.compare = swap ? w->atomic.compare : 0,
		},
		qp->ip_id++, ROCE_OPF_ATOMIC);

	roce_tx_seal(s, qp, slot, hdr, 0);
}

/* The payload lies in memory that only its client can reach, or in none that may be read
 * (W-REQ-07). */
static bool
req_moved_data(struct roce_shard *s, struct roce_qp *qp, struct roce_wqe *w, uint8_t *dst)
{
	struct roce_moved_src src = {.sge = roce_wqe_sge(w),
		.bytes = w->bytes,
		.first_psn = w->first_psn,
		.npsn = w->npsn,
		.right = ROCE_ACCESS_LOCAL_READ};
	enum roce_copy got = roce_moved_gather(s, qp, false, &src, qp->tx_psn, dst);

	if (got == ROCE_COPY_REFUSED)
		roce_req_fault(s, qp, w, NDSH_WC_LOC_PROT_ERR, ROCE_REASON_LOCAL_PROT);
	else if (got == ROCE_COPY_LATER)
		qp->tx_bits |= ROCE_TXB_BLOCKED;
	return got == ROCE_COPY_OK;
}

/* Packet index of a message. Inlined twice, since most messages have one packet only: for those the
 * compiler knows index and last. */
BASE_INLINE bool
req_tx_data(struct roce_shard *s, struct roce_qp *qp, struct roce_wqe *w, struct roce_tx_slot *slot,
	uint32_t index, bool last)
{
	uint32_t from = index << qp->mtu_shift;
	uint32_t bytes = last ? w->bytes - from : roce_qp_mtu(qp);
	uint16_t unacked = qp->unacked;
	bool ackreq = req_wants_ack(s, qp, last);
	uint32_t hdr = roce_headers_build(slot->buf, &qp->tmpl,
		&(struct roce_pkt){
			.opcode = roce_data_opcode(w->op, index == 0, last),
			.qpn = qp->dest_qpn,
			.psn = qp->tx_psn,
			.pkey = ROCE_PKEY_DEFAULT,
			.mig = true,
			.se = last && w->op != NDSH_OP_WRITE && (w->flags & NDSH_WRF_SOLICIT),
			.ackreq = ackreq,
			.payload_bytes = bytes,
			.va = w->raddr,
			.rkey = w->rkey,
			.ieth = w->rkey,
			.imm = w->imm,
			.dma_bytes = w->bytes,
		},
		qp->ip_id++, ROCE_OPF_RETH | ROCE_OPF_IMM | ROCE_OPF_IETH);

	if (base_unlikely(!roce_sge_gather(s, qp, &qp->tx_pos, w, from, slot->buf + hdr, bytes) &&
			  !req_moved_data(s, qp, w, slot->buf + hdr))) {
		qp->unacked = unacked;
		return false;
	}
	roce_tx_seal(s, qp, slot, hdr, bytes);
	req_sent(s, qp, w, roce_psn_add(qp->tx_psn, 1), last, ackreq);
	return true;
}

/* The next packet of a SEND or WRITE. */
BASE_INLINE bool
req_tx_message(
	struct roce_shard *s, struct roce_qp *qp, struct roce_wqe *w, struct roce_tx_slot *slot)
{
	uint32_t index;

	if (base_likely(w->npsn == 1))
		return req_tx_data(s, qp, w, slot, 0, true);
	index = roce_psn_from(qp->tx_psn, w->first_psn);
	return req_tx_data(s, qp, w, slot, index, index + 1 == w->npsn);
}

/* A READ, or a part of one, or an atomic is one packet, and takes the PSNs of its responses. */
BASE_INLINE void
req_tx_fetch(
	struct roce_shard *s, struct roce_qp *qp, struct roce_wqe *w, struct roce_tx_slot *slot)
{
	uint32_t end = roce_psn_add(w->first_psn, w->npsn);

	if (w->op == NDSH_OP_READ) {
		req_tx_read(s, qp, w, slot);
		end = w->asked_psn;
	} else {
		req_tx_atomic(s, qp, w, slot);
	}
	if (!(w->bits & ROCE_WQB_ISSUED))
		qp->rd_out++;
	req_sent(s, qp, w, end, end == roce_psn_add(w->first_psn, w->npsn), true);
}

/* The next packet; false: there is none now. */
BASE_INLINE bool
req_tx(struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slot)
{
	unsigned budget = ROCE_LOCAL_BUDGET, cost;
	struct roce_wqe *w;

	while ((w = req_next(s, qp)) != NULL) {
		if (base_likely(ndsh_op_is_data(w->op)))
			return req_tx_message(s, qp, w, slot);
		if (!ndsh_op_is_local(w->op)) {
			req_tx_fetch(s, qp, w, slot);
			return true;
		}
		cost = roce_local_cost(w->op);
		if (!roce_local_run(s, qp, w))
			return false;
		/* A client may post as fast as these are done: others get their turn. */
		if (qp->wq_tx != NULL)
			continue;
		if (cost >= budget) {
			roce_send_ring_watch(s, qp);
			return false;
		}
		budget -= cost;
	}
	return false;
}

unsigned
roce_req_tx(struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slots, unsigned n)
{
	unsigned done = 0;

	roce_check_qp(s, qp);
	while (done < n && req_tx(s, qp, &slots[done]))
		done++;
	if (base_likely(done > 0))
		roce_flight_count(s, qp);
	return done;
}

/* Go-back-N. */
void
roce_req_go_back(struct roce_shard *s, struct roce_qp *qp)
{
	qp->tx_psn = qp->una_psn;
	qp->wq_tx = qp->wq_head;
	qp->tx_bits |= ROCE_TXB_BURST;
	roce_flight_count(s, qp);
	/* An ACK may now be for either packet with its PSN: no round trip can be measured. */
	roce_tx_clear(qp, ROCE_TXB_RTT);
	roce_tx_want(s, qp);
}

/* The wait that an RNR NAK asked for is over. That NAK was the answer to what was sent before: the
 * next answer is to what is sent now. */
static void
req_rnr_over(struct roce_shard *s, struct roce_qp *qp)
{
	roce_tx_clear(qp, ROCE_TXB_RNR_WAIT);
	roce_req_go_back(s, qp);
	roce_rtt_begin(s, qp, qp->una_psn);
}

void
roce_req_timeout(struct roce_shard *s, struct roce_qp *qp)
{
	if (qp->tx_bits & ROCE_TXB_RNR_WAIT) {
		req_rnr_over(s, qp);
		return;
	}
	if (qp->una_psn == qp->snd_max)
		return;
	s->count.timeouts++;
	if (!roce_retry_charge(s, qp, false)) {
		roce_qp_fail_wqe(
			s, qp, qp->wq_head, NDSH_WC_RETRY_EXC_ERR, ROCE_REASON_RETRY_EXC, 0);
		return;
	}
	roce_qp_note(s, qp, ROCE_REC_TIMEOUT, qp->una_psn, qp->retry_left);
	roce_retry_double(s, qp);
	qp->tx_bits |= ROCE_TXB_LATE;
	roce_tx_clear(qp, ROCE_TXB_RESTARTED);
	roce_req_go_back(s, qp);
	roce_timer_set(s, qp, s->now_ns + roce_retry_wait_ns(s, qp));
}
