/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Responder: new requests. The order of checks is that of the rules (W-RESP-01 and following): PSN,
 * opcode sequence, permission, resources, lengths, key. Then there are two steps: a request is
 * *received*, after which the next packet may be processed, and *placed*, after which it may be
 * acknowledged and later READs may see it. In memory of the arena a request is placed as soon as it
 * is received; for other memory see mem/moved.c.
 */
#include "roce/responder/responder.h"

#include "base/compiler.h"
#include "base/list.h"
#include "roce/mem/copy.h"
#include "roce/mem/door.h"
#include "roce/mem/moved.h"
#include "roce/mem/mr.h"
#include "roce/mem/sge.h"
#include "roce/qp/check.h"
#include "roce/qp/error.h"
#include "roce/qp/qp.h"
#include "roce/qp/replay.h"
#include "roce/queue/receive.h"
#include "roce/responder/atomic.h"
#include "roce/responder/duplicate.h"
#include "roce/responder/placement.h"
#include "roce/shard/event.h"
#include "roce/shard/shard.h"
#include "roce/tx.h"
#include "shm/ndsh_mover.h"

void
roce_resp_owe(struct roce_shard *s, struct roce_qp *qp, enum roce_ack_owed owed, uint32_t psn,
	uint8_t syndrome)
{
	qp->ack_owed = (uint8_t)owed;
	qp->ack_psn = psn;
	qp->ack_syndrome = syndrome;
	if (qp->rd_pending == 0) /* else it follows the responses under way (W-ACK-03) */
		base_list_join(&s->acks_owed, &qp->ack_link);
}

void
roce_resp_fatal(struct roce_shard *s, struct roce_qp *qp, uint32_t psn, uint8_t syndrome,
	enum ndsh_wc_status status, enum roce_reason reason)
{
	roce_resp_owe(s, qp, ROCE_OWED_FATAL, psn, syndrome);
	roce_qp_note(s, qp, ROCE_REC_NAK_SENT, psn, syndrome);
	roce_qp_error(s, qp, reason, syndrome);
	if (qp->rx_wqe != NULL) { /* behind it: the completion gives the queue pair's reason */
		roce_receive_keep(s, qp);
		roce_receive_fail(s, qp, status);
	}
}

static void
resp_invalid_request(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	roce_resp_fatal(s, qp, pkt->psn, ROCE_SYN_NAK_INV_REQ, NDSH_WC_REM_INV_REQ_ERR,
		ROCE_REASON_SENT_INV_REQ);
}

/* A peer that names too many wrong keys is told apart from one that errs: see door.h. */
static enum roce_reason
resp_wrong_key(struct roce_shard *s, const struct roce_qp *qp, enum roce_reason reason)
{
	s->count.key_violations++;
	return roce_door_guess(s, qp) ? reason : ROCE_REASON_GUESSES;
}

static void
resp_access_refused(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	roce_resp_fatal(s, qp, pkt->psn, ROCE_SYN_NAK_REM_ACCESS, NDSH_WC_REM_ACCESS_ERR,
		resp_wrong_key(s, qp, ROCE_REASON_SENT_REM_ACCESS));
}

/* W-INV-02. The rules ask for no NAK, but with one the sender learns early what became of its
 * request (R-INV-09). */
static void
resp_invalidation_refused(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	roce_resp_fatal(s, qp, pkt->psn, ROCE_SYN_NAK_REM_ACCESS, NDSH_WC_REM_INV_REQ_ERR,
		resp_wrong_key(s, qp, ROCE_REASON_RECV_INV));
}

/* W-RESP-02. After an RNR NAK the rest of the burst is always out of sequence, and needs no NAK
 * (W-RESP-03). */
static void
resp_out_of_sequence(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	s->count.rx_out_of_sequence++;
	qp->gap_psn = pkt->psn;
	if (qp->rx_bits & (ROCE_RXB_NAK_SENT | ROCE_RXB_RNR_SENT))
		return;
	qp->rx_bits |= ROCE_RXB_NAK_SENT;
	roce_qp_note(s, qp, ROCE_REC_NAK_SENT, qp->recv_psn, ROCE_SYN_NAK_SEQ);
	roce_resp_owe(s, qp, ROCE_OWED_NAK_SEQ, 0, ROCE_SYN_NAK_SEQ);
}

static void
resp_not_ready(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	uint8_t syndrome = ROCE_SYN_RNR | qp->min_rnr_code;

	qp->rx_bits |= ROCE_RXB_RNR_SENT;
	roce_qp_note(s, qp, ROCE_REC_RNR_SENT, pkt->psn, syndrome);
	roce_resp_owe(s, qp, ROCE_OWED_RNR, pkt->psn, syndrome);
}

/* The packet found no room in the staging: the peer sends it again later, or something else. taken:
 * it took a receive. */
static void
resp_no_room(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt, bool taken)
{
	if (taken)
		roce_receive_give_back(s, qp);
	resp_not_ready(s, qp, pkt);
}

static bool
resp_take_receive(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	enum ndsh_fetch got = roce_receive_take(s, qp);

	if (base_likely(got == NDSH_FETCH_OK))
		return true;
	if (got == NDSH_FETCH_EMPTY)
		resp_not_ready(s, qp, pkt);
	else /* W-RESP-11 */
		roce_resp_fatal(s, qp, pkt->psn, ROCE_SYN_NAK_REM_OP, NDSH_WC_LOC_QP_OP_ERR,
			ROCE_REASON_CLIENT_BREACH);
	return false;
}

/* An acknowledgement is owed, to be sent when the request is placed (W-RESP-14). */
static void
resp_owe_ack(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	if (qp->ack_owed == ROCE_OWED_NAK_SEQ) /* acknowledges it, too, when it leaves */
		return;
	if (pkt->ackreq)
		roce_resp_owe(s, qp, ROCE_OWED_ACK, pkt->psn, ROCE_SYN_ACK);
	else if (qp->ack_owed == ROCE_OWED_ACK && roce_psn_add(qp->ack_psn, 1) == pkt->psn)
		qp->ack_psn = pkt->psn;
}

/* The expected PSN moves on to next. What lies in memory of the arena is placed with that. */
static void
qp_received(struct roce_qp *qp, uint32_t next, bool message_ends)
{
	uint32_t msn = qp->msn;

	qp->recv_psn = next;
	if (message_ends)
		qp->msn = (msn + 1) & 0xffffffu; /* W-AETH-01 */
	if (base_likely(qp->moved == NULL))
		qp->placed_psn = next;
	else
		roce_moved_received(qp, msn);
}

/* The packet passed all checks, and its payload is placed or staged. */
BASE_INLINE void
message_goes_on(
	struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt, enum roce_msg of)
{
	qp->rx_msg = (uint8_t)of;
	qp->rx_bytes += pkt->payload_bytes;
	qp_received(qp, roce_psn_add(pkt->psn, 1), false);
	resp_owe_ack(s, qp, pkt);
}

BASE_INLINE void
message_ends(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	qp->rx_msg = ROCE_MSG_NONE;
	qp_received(qp, roce_psn_add(pkt->psn, 1), true);
	if (qp->rx_wqe != NULL)
		roce_complete_receive(s, qp, pkt);
	resp_owe_ack(s, qp, pkt);
}

static void
resp_receive_failed(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	if (pkt->payload_bytes > qp->rx_wqe->bytes - qp->rx_bytes) { /* W-RESP-10 */
		s->count.rx_message_too_long++;
		roce_resp_fatal(s, qp, pkt->psn, ROCE_SYN_NAK_INV_REQ, NDSH_WC_LOC_LEN_ERR,
			ROCE_REASON_RECV_TOO_SMALL);
		return;
	}
	roce_resp_fatal(s, qp, pkt->psn, ROCE_SYN_NAK_REM_OP, NDSH_WC_LOC_PROT_ERR,
		ROCE_REASON_RECV_PROT); /* W-RESP-11 */
}

/* A receive is taken with the first packet (W-RESP-08). */
static void
resp_send(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	enum roce_copy put = ROCE_COPY_REFUSED;

	if (base_unlikely(!roce_sequence_ok(qp, pkt->opflags))) {
		resp_invalid_request(s, qp, pkt);
		return;
	}
	if (pkt->opflags & ROCE_OPF_FIRST) {
		if (base_unlikely(!resp_take_receive(s, qp, pkt)))
			return;
		qp->rx_bytes = 0;
	}
	if (base_unlikely(!roce_length_ok(qp, pkt))) {
		resp_invalid_request(s, qp, pkt);
		return;
	}
	if (base_likely(pkt->payload_bytes <= qp->rx_wqe->bytes - qp->rx_bytes))
		put = roce_sge_scatter(s, qp, &qp->recv_pos, qp->rx_wqe, qp->rx_bytes, pkt->payload,
			pkt->payload_bytes);
	if (base_unlikely(put != ROCE_COPY_OK)) {
		if (put == ROCE_COPY_LATER)
			resp_no_room(s, qp, pkt, pkt->opflags & ROCE_OPF_FIRST);
		else
			resp_receive_failed(s, qp, pkt);
		return;
	}
	if (pkt->opflags & ROCE_OPF_FIRST)
		roce_receive_keep(s, qp);
	/* W-INV-01: after the data are placed, before the completion. */
	if (base_unlikely((pkt->opflags & ROCE_OPF_IETH) &&
			  !roce_mr_invalidate(s, qp, pkt->ieth, true))) {
		resp_invalidation_refused(s, qp, pkt);
		return;
	}
	if (pkt->opflags & ROCE_OPF_LAST)
		message_ends(s, qp, pkt);
	else
		message_goes_on(s, qp, pkt, ROCE_MSG_SEND);
}

/* A WRITE with immediate takes a receive with its last packet (W-RESP-08). */
BASE_INLINE void
resp_write(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	uint32_t flags = pkt->opflags, bytes = pkt->payload_bytes;
	enum roce_copy put = ROCE_COPY_OK;
	uint64_t need = bytes;

	if (base_unlikely(
		    !roce_sequence_ok(qp, flags) || !(qp->access & NDSH_ACCESS_REMOTE_WRITE))) {
		resp_invalid_request(s, qp, pkt); /* W-RESP-06 */
		return;
	}
	if (base_unlikely(flags & ROCE_OPF_IMM) && !resp_take_receive(s, qp, pkt))
		return;
	if (flags & ROCE_OPF_FIRST) {
		need = pkt->dma_bytes;
		qp->rx_va = pkt->va;
		qp->rx_rkey = pkt->rkey;
		qp->rx_left = pkt->dma_bytes;
		qp->rx_bytes = 0;
	}
	if (base_unlikely(!roce_length_ok(qp, pkt) || !roce_write_as_announced(qp, pkt))) {
		resp_invalid_request(s, qp, pkt);
		return;
	}
	if (need > 0)
		put = roce_write_place(s, qp, pkt, need);
	if (base_unlikely(put != ROCE_COPY_OK)) {
		if (put == ROCE_COPY_LATER)
			resp_no_room(s, qp, pkt, flags & ROCE_OPF_IMM);
		else
			resp_access_refused(s, qp, pkt);
		return;
	}
	if (base_unlikely(flags & ROCE_OPF_IMM))
		roce_receive_keep(s, qp);
	if (flags & ROCE_OPF_LAST) {
		s->count.rx_write_requests++;
		message_ends(s, qp, pkt);
	} else {
		qp->rx_va += bytes;
		qp->rx_left -= bytes;
		message_goes_on(s, qp, pkt, ROCE_MSG_WRITE);
	}
}

/* Are there as many new READs and atomics without complete response as was agreed? One more is an
 * error of the peer (W-RESP-07). */
static bool
too_many_reads(const struct roce_qp *qp)
{
	uint32_t fresh = 0;

	if (base_likely(qp->rd_pending < qp->max_dest_rd))
		return false;
	if (qp->reads->slot[qp->rd_next].wait != ROCE_WAIT_NONE)
		return true;
	for (uint32_t i = 0; i < ROCE_RD_ATOMIC_MAX; i++)
		fresh += qp->reads->slot[i].pending && !qp->reads->slot[i].replay;
	return fresh >= qp->max_dest_rd;
}

/* A READ or atomic is accepted: its response comes from this replay slot, now and when the request
 * is repeated. */
static struct roce_read_slot *
fetch_accepted(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_read_slot *slot = &qp->reads->slot[qp->rd_next];
	uint32_t n = roce_npsn(qp, pkt->dma_bytes);

	if (slot->pending) /* of a repeated request that the peer does not need any more */
		roce_read_done(qp, qp->rd_next);
	*slot = (struct roce_read_slot){.opcode = pkt->opcode,
		.first_psn = pkt->psn,
		.npsn = n,
		.va = pkt->va,
		.len = pkt->dma_bytes,
		.rkey = pkt->rkey,
		.pending = true};
	if (qp->rd_pending++ == 0)
		qp->rd_cur = qp->rd_next;
	qp->rd_next = (uint8_t)((qp->rd_next + 1u) % ROCE_RD_ATOMIC_MAX);
	qp_received(qp, roce_psn_add(pkt->psn, n), true);
	if (qp->ack_owed == ROCE_OWED_ACK) /* W-ACK-04 */
		qp->ack_owed = ROCE_OWED_NONE;
	roce_tx_want(s, qp);
	return slot;
}

static void
resp_read(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	roce_reads_use(s, qp);
	if (base_unlikely(too_many_reads(qp) || pkt->dma_bytes > ROCE_MSG_MAX)) {
		resp_invalid_request(s, qp, pkt); /* W-RESP-07, W-RESP-09 */
		return;
	}
	if (pkt->dma_bytes > 0 && !roce_mr_permits(s, qp, pkt->rkey, pkt->va, pkt->dma_bytes,
					  NDSH_ACCESS_REMOTE_READ)) {
		resp_access_refused(s, qp, pkt);
		return;
	}
	s->count.rx_read_requests++;
	(void)fetch_accepted(s, qp, pkt);
}

static struct roce_read_slot *
atomic_accepted(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	s->count.rx_atomic_requests++;
	return fetch_accepted(s, qp, pkt);
}

/* Memory behind a mover: by an order. Memory in pieces (fast_register.c) never has the right. */
static void
resp_atomic_moved(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	enum roce_copy put = roce_moved_atomic(s, qp, pkt);

	if (put == ROCE_COPY_OK)
		atomic_accepted(s, qp, pkt)->wait = ROCE_WAIT_MOVER;
	else if (put == ROCE_COPY_LATER)
		resp_not_ready(s, qp, pkt);
	else
		resp_access_refused(s, qp, pkt);
}

/* All requests before an atomic are placed before it changes the word, so that the owner of the
 * memory may rely on that order. If they are not yet, the atomic is executed when its response is
 * sent. */
static void
resp_atomic(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	uint8_t *host;

	roce_reads_use(s, qp);
	if (base_unlikely(too_many_reads(qp) || pkt->va % sizeof(uint64_t) != 0)) {
		resp_invalid_request(s, qp, pkt); /* W-RESP-07, W-ATOM-02 */
		return;
	}
	host = roce_atomic_word(s, qp, pkt->rkey, pkt->va);
	if (base_unlikely(host == NULL))
		resp_atomic_moved(s, qp, pkt);
	else if (base_unlikely(qp->placed_psn != qp->recv_psn))
		roce_atomic_hold(qp, atomic_accepted(s, qp, pkt), pkt);
	else
		atomic_accepted(s, qp, pkt)->old =
			roce_atomic_execute(host, pkt->opcode, pkt->swap_add, pkt->compare);
}

/* W-RESP-06. What is neither a READ nor an atomic is not served (W-PKT-08). */
static bool
fetch_permitted(const struct roce_qp *qp, const struct roce_pkt *pkt)
{
	uint32_t right = 0;

	if (pkt->opcode == ROCE_READ_REQUEST)
		right = NDSH_ACCESS_REMOTE_READ;
	else if (pkt->opflags & ROCE_OPF_ATOMIC)
		right = NDSH_ACCESS_REMOTE_ATOMIC;
	return qp->access & right;
}

/* Neither has a payload whose length could be wrong: lib/wire takes none of that kind. */
static void
resp_fetch(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	if (base_unlikely(!roce_sequence_ok(qp, pkt->opflags) || !fetch_permitted(qp, pkt)))
		resp_invalid_request(s, qp, pkt);
	else if (pkt->opcode == ROCE_READ_REQUEST)
		resp_read(s, qp, pkt);
	else
		resp_atomic(s, qp, pkt);
}

static void
resp_new(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	if (pkt->opflags & ROCE_OPF_WRITE)
		resp_write(s, qp, pkt);
	else if (pkt->opflags & ROCE_OPF_SEND)
		resp_send(s, qp, pkt);
	else
		resp_fetch(s, qp, pkt);
}

static void
resp_not_expected(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	if (roce_psn_diff(pkt->psn, qp->recv_psn) > 0) {
		resp_out_of_sequence(s, qp, pkt);
		return;
	}
	s->count.rx_duplicate++;
	qp->rx_bits &= (uint8_t)~ROCE_RXB_NAK_SENT; /* W-RESP-04 */
	roce_resp_duplicate(s, qp, pkt);
}

/* The expected packet comes after a NAK, or is the first of all. False: it is dropped. */
static bool
resp_goes_on(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	if (qp->rx_bits & ROCE_RXB_HELD) {
		resp_out_of_sequence(s, qp, pkt);
		return false;
	}
	qp->rx_bits &= (uint8_t) ~(ROCE_RXB_NAK_SENT | ROCE_RXB_RNR_SENT);
	if (qp->ack_owed == ROCE_OWED_RNR) { /* it has not left: what it acknowledges stays owed */
		qp->ack_owed = ROCE_OWED_ACK;
		qp->ack_psn = roce_psn_add(qp->ack_psn, ROCE_PSN_MASK);
		qp->ack_syndrome = ROCE_SYN_ACK;
	}
	if (!(qp->rx_bits & ROCE_RXB_EST)) { /* W-RESP-17 */
		qp->rx_bits |= ROCE_RXB_EST;
		roce_qp_event(s, qp, ROCE_EV_COMM_EST);
	}
	return true;
}

void
roce_resp_rx(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	const uint32_t seen = ROCE_RXB_HELD | ROCE_RXB_NAK_SENT | ROCE_RXB_RNR_SENT | ROCE_RXB_EST;

	roce_check_qp(s, qp);
	if (base_unlikely(pkt->psn != qp->recv_psn))
		resp_not_expected(s, qp, pkt);
	else if (base_likely((qp->rx_bits & seen) == ROCE_RXB_EST) || resp_goes_on(s, qp, pkt))
		resp_new(s, qp, pkt);
}
