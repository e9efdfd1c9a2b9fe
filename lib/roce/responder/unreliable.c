/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Responder of unreliable connections (W-UC-01 and following). The peer is told nothing, whatever
 * happens: what can't be received is dropped, with the rest of its message, and the next packet
 * that begins one is taken with whatever PSN it has. So nothing that the peer sends ends the queue
 * pair, but for too many wrong keys (mem/door.h).
 *
 * The receive of a message that was dropped is kept in use, for the next message that needs one: it
 * can't go back into its ring, where other queue pairs may have taken some behind it.
 */
#include "roce/responder/unreliable.h"

#include "roce/mem/door.h"
#include "roce/mem/sge.h"
#include "roce/qp/check.h"
#include "roce/qp/error.h"
#include "roce/responder/placement.h"
#include "roce/shard/event.h"

static void
uc_drop(struct roce_shard *s, struct roce_qp *qp)
{
	s->count.rx_unreliable_dropped++;
	qp->rx_msg = ROCE_MSG_NONE;
}

/* The receive in use is the one that was kept, or the next; *taken: it is the next, and may be
 * given back. False: there is none, and the packet is dropped. */
static bool
uc_take_receive(struct roce_shard *s, struct roce_qp *qp, bool *taken)
{
	enum ndsh_fetch got;

	if (qp->rx_wqe != NULL)
		return true;
	got = roce_receive_take(s, qp);
	*taken = got == NDSH_FETCH_OK;
	if (got == NDSH_FETCH_EMPTY)
		uc_drop(s, qp);
	else if (got == NDSH_FETCH_BROKEN)
		roce_qp_error(s, qp, ROCE_REASON_CLIENT_BREACH, 0);
	return *taken;
}

/* Dropped after uc_take_receive(). */
static void
uc_drop_taken(struct roce_shard *s, struct roce_qp *qp, bool taken)
{
	if (taken)
		roce_receive_give_back(s, qp);
	uc_drop(s, qp);
}

/* The packet passed all checks, and its payload is placed or staged. */
static void
uc_accepted(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt, enum roce_msg of)
{
	if (!(pkt->opflags & ROCE_OPF_LAST)) {
		qp->rx_msg = (uint8_t)of;
		qp->rx_bytes += pkt->payload_bytes;
		return;
	}
	qp->rx_msg = ROCE_MSG_NONE;
	s->count.rx_write_requests += of == ROCE_MSG_WRITE;
	if (of == ROCE_MSG_SEND || (pkt->opflags & ROCE_OPF_IMM))
		roce_complete_receive(s, qp, pkt);
}

/* The SGEs of the client's own receive are wrong (W-UC-05). */
static void
uc_receive_failed(struct roce_shard *s, struct roce_qp *qp)
{
	roce_qp_error(s, qp, ROCE_REASON_RECV_PROT, 0);
	roce_receive_fail(s, qp, NDSH_WC_LOC_PROT_ERR);
}

static void
uc_send(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	enum roce_copy put = ROCE_COPY_LATER;
	bool taken = false;

	if (pkt->opflags & ROCE_OPF_FIRST) {
		if (!uc_take_receive(s, qp, &taken))
			return;
		qp->rx_bytes = 0;
	}
	if (roce_length_ok(qp, pkt) && pkt->payload_bytes <= qp->rx_wqe->bytes - qp->rx_bytes)
		put = roce_sge_scatter(s, qp, &qp->recv_pos, qp->rx_wqe, qp->rx_bytes, pkt->payload,
			pkt->payload_bytes);
	if (put == ROCE_COPY_LATER) {
		uc_drop_taken(s, qp, taken);
		return;
	}
	if (taken)
		roce_receive_keep(s, qp);
	if (put == ROCE_COPY_OK)
		uc_accepted(s, qp, pkt, ROCE_MSG_SEND);
	else
		uc_receive_failed(s, qp);
}

/* Nobody hears of a wrong key, which makes guessing no cheaper: each is paid for, and the one that
 * closes the door ends the queue pair (W-UC-04). */
static void
uc_wrong_key(struct roce_shard *s, struct roce_qp *qp)
{
	s->count.key_violations++;
	if (!roce_door_guess(s, qp))
		roce_qp_error(s, qp, ROCE_REASON_GUESSES, 0);
}

/* A WRITE with immediate takes a receive with its last packet, before that is placed. */
static void
uc_write(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	enum roce_copy put = ROCE_COPY_OK;
	uint64_t need = pkt->payload_bytes;
	bool taken = false;

	if (pkt->opflags & ROCE_OPF_FIRST) {
		need = pkt->dma_bytes;
		qp->rx_va = pkt->va;
		qp->rx_rkey = pkt->rkey;
		qp->rx_left = pkt->dma_bytes;
		qp->rx_bytes = 0;
	}
	if (!(qp->access & NDSH_ACCESS_REMOTE_WRITE) || !roce_length_ok(qp, pkt) ||
		!roce_write_as_announced(qp, pkt)) {
		uc_drop(s, qp);
		return;
	}
	if ((pkt->opflags & ROCE_OPF_IMM) && !uc_take_receive(s, qp, &taken))
		return;
	if (need > 0)
		put = roce_write_place(s, qp, pkt, need);
	if (put != ROCE_COPY_OK) {
		uc_drop_taken(s, qp, taken);
		if (put == ROCE_COPY_REFUSED)
			uc_wrong_key(s, qp);
		return;
	}
	if (taken)
		roce_receive_keep(s, qp);
	qp->rx_va += pkt->payload_bytes;
	qp->rx_left -= pkt->payload_bytes;
	uc_accepted(s, qp, pkt, ROCE_MSG_WRITE);
}

/* W-UC-01, W-UC-02: does the packet begin a message, or go on with the one under way? */
static bool
uc_in_sequence(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	bool gap = pkt->psn != qp->recv_psn;

	s->count.rx_out_of_sequence += gap;
	if (gap || (pkt->opflags & ROCE_OPF_FIRST))
		qp->rx_msg = ROCE_MSG_NONE;
	if (roce_sequence_ok(qp, pkt->opflags))
		return true;
	uc_drop(s, qp);
	return false;
}

void
roce_uc_rx(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	roce_check_qp(s, qp);
	if (!uc_in_sequence(s, qp, pkt))
		return;
	qp->recv_psn = roce_psn_add(pkt->psn, 1);
	if (!(qp->rx_bits & ROCE_RXB_EST)) { /* W-RESP-17 */
		qp->rx_bits |= ROCE_RXB_EST;
		roce_qp_event(s, qp, ROCE_EV_COMM_EST);
	}
	if (pkt->opflags & ROCE_OPF_WRITE)
		uc_write(s, qp, pkt);
	else
		uc_send(s, qp, pkt);
}
