/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requester of unreliable connections. Nobody acknowledges a packet, so none is kept, repeated or
 * waited for: a request is complete when its last packet has left (W-UC-03). One that can't be sent
 * stops the send side, as that of a datagram does (W-ERR-02): the requests behind it are flushed,
 * the receive side goes on, and the client may start it again.
 */
#include "roce/requester/unreliable.h"

#include "base/compiler.h"
#include "roce/mem/copy.h"
#include "roce/mem/moved.h"
#include "roce/mem/mr.h"
#include "roce/mem/sge.h"
#include "roce/qp/check.h"
#include "roce/qp/error.h"
#include "roce/qp/modify.h"
#include "roce/queue/flush.h"
#include "roce/queue/request.h"
#include "roce/requester/fetch.h"
#include "roce/requester/requester.h"
#include "roce/shard/event.h"
#include "roce/tx.h"

/* Requests that a client may not have here are its breach, since its library knows them. */
static struct roce_wqe *
uc_load(struct roce_shard *s, struct roce_qp *qp)
{
	struct roce_wqe *w = roce_wqe_fetch(s, qp);

	if (w == NULL)
		return NULL;
	if (!ndsh_op_is_data(w->op) || w->op == NDSH_OP_SEND_INV) {
		roce_wqe_free(s, roce_cq_principal(qp->send_cq), ROCE_SIDE_SEND, w);
		roce_qp_error(s, qp, ROCE_REASON_CLIENT_BREACH, 0);
		return NULL;
	}
	w->first_psn = qp->tx_psn;
	w->npsn = roce_npsn(qp, w->bytes);
	qp->load_psn = roce_psn_add(w->first_psn, w->npsn);
	qp->wq_head = qp->wq_tail = w;
	return w;
}

/* The request in flight, or the next one; NULL: none now. One of which nothing has left begins in
 * RTS alone, also if it is here already, and its first packet was asked of a mover (W-REQ-12). */
static struct roce_wqe *
uc_next(struct roce_shard *s, struct roce_qp *qp)
{
	struct roce_wqe *w = qp->wq_head;

	if (w != NULL && (qp->state == ROCE_QPS_UC_RTS || (w->bits & ROCE_WQB_ISSUED)))
		return w;
	if (qp->state == ROCE_QPS_UC_RTS)
		return uc_load(s, qp);
	qp->tx_bits |= ROCE_TXB_BLOCKED;
	return NULL;
}

/* The PSNs of packets that will not leave are passed over: the peer must not take the next message
 * for the rest of this one. */
static void
uc_finish(struct roce_shard *s, struct roce_qp *qp, enum ndsh_wc_status status, uint32_t syndrome)
{
	qp->tx_psn = qp->snd_max = qp->una_psn = qp->load_psn;
	roce_request_finish(s, qp, status, syndrome);
	if (qp->tx_bits & ROCE_TXB_DRAINING)
		roce_qp_drained(s, qp);
}

static void
uc_stop_sending(struct roce_shard *s, struct roce_qp *qp)
{
	s->count.requests_failed++;
	roce_qp_note(s, qp, ROCE_REC_ERROR, qp->tx_psn, ROCE_REASON_LOCAL_PROT);
	roce_tx_clear(qp, ROCE_TXB_DRAINING);
	qp->state = ROCE_QPS_UC_SQE;
	qp->reason = ROCE_REASON_LOCAL_PROT;
	qp->restart_left = 0;
	roce_moved_idle(s, qp, false);
	uc_finish(s, qp, NDSH_WC_LOC_PROT_ERR, ROCE_REASON_LOCAL_PROT);
}

/* Copy the payload of packet tx_psn, which begins at byte from, from whatever kind of memory. */
static enum roce_copy
uc_gather(struct roce_shard *s, struct roce_qp *qp, struct roce_wqe *w, uint32_t from, uint8_t *dst,
	uint32_t bytes)
{
	struct roce_moved_src src = {.sge = roce_wqe_sge(w),
		.bytes = w->bytes,
		.first_psn = w->first_psn,
		.npsn = w->npsn,
		.right = ROCE_ACCESS_LOCAL_READ};

	if (base_likely(roce_sge_gather(s, qp, &qp->tx_pos, w, from, dst, bytes)))
		return ROCE_COPY_OK;
	return roce_moved_gather(s, qp, false, &src, qp->tx_psn, dst);
}

/* A packet of w is in a slot. */
static void
uc_sent(struct roce_shard *s, struct roce_qp *qp, struct roce_wqe *w, bool last)
{
	qp->ip_id++;
	w->bits |= ROCE_WQB_ISSUED;
	if (last) {
		s->count.requests_completed++;
		uc_finish(s, qp, NDSH_WC_SUCCESS, 0);
	} else {
		qp->tx_psn = qp->snd_max = roce_psn_add(qp->tx_psn, 1);
	}
}

/* The next packet of w; true: it is in the slot. */
static bool
uc_send_packet(
	struct roce_shard *s, struct roce_qp *qp, struct roce_wqe *w, struct roce_tx_slot *slot)
{
	uint32_t index = roce_psn_from(qp->tx_psn, w->first_psn), from = index << qp->mtu_shift;
	bool last = index + 1 == w->npsn;
	uint32_t bytes = last ? w->bytes - from : roce_qp_mtu(qp);
	uint32_t hdr = roce_wire_build(slot->buf, &qp->tmpl,
		&(struct roce_pkt){
			.opcode = ROCE_CLASS_UC | roce_data_opcode(w->op, index == 0, last),
			.qpn = qp->dest_qpn,
			.psn = qp->tx_psn,
			.pkey = ROCE_PKEY_DEFAULT,
			.mig = true,
			.se = last && w->op != NDSH_OP_WRITE && (w->flags & NDSH_WRF_SOLICIT),
			.payload_bytes = bytes,
			.va = w->raddr,
			.rkey = w->rkey,
			.imm = w->imm,
			.dma_bytes = w->bytes,
		},
		qp->ip_id);
	enum roce_copy got = uc_gather(s, qp, w, from, slot->buf + hdr, bytes);

	if (base_likely(got == ROCE_COPY_OK)) {
		roce_tx_seal(s, qp, slot, hdr, bytes);
		uc_sent(s, qp, w, last);
	} else if (got == ROCE_COPY_LATER) {
		qp->tx_bits |= ROCE_TXB_BLOCKED;
	} else {
		uc_stop_sending(s, qp);
	}
	return got == ROCE_COPY_OK;
}

/* In SQE all requests that come; after it those that were posted before. True: there may be more of
 * them. */
static bool
uc_flush(struct roce_shard *s, struct roce_qp *qp)
{
	bool stopped = qp->state == ROCE_QPS_UC_SQE;
	unsigned budget = ROCE_TX_QUANTUM;

	while (budget > 0 && (stopped || qp->restart_left > 0)) {
		if (!roce_flush_send(s, qp)) {
			qp->restart_left = 0;
			return false;
		}
		qp->restart_left -= !stopped;
		budget--;
	}
	return budget == 0;
}

unsigned
roce_uc_tx(struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slots, unsigned n)
{
	unsigned done = 0;
	bool more;

	roce_check_qp(s, qp);
	roce_tx_clear(qp, ROCE_TXB_BLOCKED);
	more = uc_flush(s, qp);
	while (!more && done < n && qp->state != ROCE_QPS_UC_SQE) {
		struct roce_wqe *w = uc_next(s, qp);

		if (w == NULL || !uc_send_packet(s, qp, w, &slots[done]))
			break;
		done++;
	}
	if (!more && qp->state == ROCE_QPS_UC_SQE)
		more = uc_flush(s, qp);
	__atomic_store_n(&qp->page->sq_done, qp->sq_done, __ATOMIC_RELEASE);
	if (more || done == n)
		roce_tx_want(s, qp);
	return done;
}
