/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Responder: what it sends, in PSN order (W-ACK-03): responses to READs and atomics, slot after
 * slot, then the one coalesced ACK or NAK that is owed.
 */
#include "roce/responder/response.h"

#include <string.h>

#include "base/compiler.h"
#include "roce/mem/copy.h"
#include "roce/mem/moved.h"
#include "roce/mem/mr.h"
#include "roce/qp/check.h"
#include "roce/qp/qp.h"
#include "roce/qp/replay.h"
#include "roce/responder/atomic.h"
#include "roce/responder/responder.h"
#include "roce/shard/shard.h"
#include "roce/tx.h"
#include "wire/headers.h"

static uint32_t
qp_placed_msn(const struct roce_qp *qp)
{
	return qp->moved != NULL && qp->moved->placing ? qp->moved->msn : qp->msn;
}

/* The key was revoked while responses are sent (W-RESP-13). If this response has left before, it is
 * not sent again, nor is the rest, and nothing else happens (W-DUP-07). A receive in use is that of
 * a message behind the READ, and is flushed. */
static void
read_refused(struct roce_shard *s, struct roce_qp *qp, const struct roce_read_slot *r, uint32_t psn)
{
	bool again = r->next < r->sent;

	s->count.key_violations++;
	roce_read_done(qp, qp->rd_cur);
	if (again || qp->state == ROCE_QPS_ERR)
		return;
	qp->rd_pending = 0; /* the slots go when the NAK has left */
	roce_resp_fatal(s, qp, psn, ROCE_SYN_NAK_REM_ACCESS, NDSH_WC_FLUSH_ERR,
		ROCE_REASON_SENT_REM_ACCESS);
}

/* From memory in several pieces, or memory that only its client can reach. */
static enum roce_copy
read_pieces(struct roce_shard *s, struct roce_qp *qp, const struct roce_read_slot *r, uint32_t psn,
	uint32_t from, uint8_t *dst, uint32_t bytes)
{
	struct ndsh_sge sge = {.addr = r->va, .len = r->len, .key = r->rkey};
	struct roce_moved_src src = {.sge = &sge,
		.bytes = r->len,
		.first_psn = r->first_psn,
		.npsn = r->npsn,
		.right = NDSH_ACCESS_REMOTE_READ};
	uint32_t piece;

	for (uint32_t at = 0; at < bytes; at += piece) {
		const uint8_t *host;

		piece = bytes - at;
		host = roce_mr_piece(
			s, qp, r->rkey, r->va + from + at, &piece, NDSH_ACCESS_REMOTE_READ);
		if (base_unlikely(host == NULL))
			return roce_moved_gather(s, qp, true, &src, psn, dst);
		memcpy(dst + at, host, piece);
	}
	return ROCE_COPY_OK;
}

/* The key is checked for each packet (W-RESP-13). */
static enum roce_copy
read_payload(struct roce_shard *s, struct roce_qp *qp, const struct roce_read_slot *r, uint32_t psn,
	uint32_t from, uint8_t *dst, uint32_t bytes)
{
	const uint8_t *host =
		roce_mr_access(s, qp, r->rkey, r->va + from, bytes, NDSH_ACCESS_REMOTE_READ);

	if (base_unlikely(host == NULL))
		return read_pieces(s, qp, r, psn, from, dst, bytes);
	memcpy(dst, host, bytes);
	return ROCE_COPY_OK;
}

/* All responses of the current slot have left, up to psn. They acknowledge all requests before, so
 * no ACK of those is needed any more. */
static void
slot_answered(struct roce_shard *s, struct roce_qp *qp, uint32_t psn)
{
	roce_read_done(qp, qp->rd_cur);
	if (base_likely(qp->moved == NULL))
		return;
	if (roce_psn_add(psn, 1) == qp->placed_psn)
		qp->moved->tell = false;
	roce_moved_idle(s, qp, true);
}

/* OK: slot is filled. REFUSED: the READ has ended. LATER: the data are not there yet. */
static enum roce_copy
resp_tx_read(struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slot)
{
	/* W-READ-01; MIDDLE, FIRST, LAST, ONLY */
	static const uint8_t opcode[4] = {ROCE_READ_RESP_MIDDLE, ROCE_READ_RESP_FIRST,
		ROCE_READ_RESP_LAST, ROCE_READ_RESP_ONLY};
	struct roce_read_slot *r = &qp->reads->slot[qp->rd_cur];
	bool first = r->next == r->base, last = r->next + 1 == r->npsn;
	uint32_t from = r->next << qp->mtu_shift;
	uint32_t bytes = last ? r->len - from : roce_qp_mtu(qp);
	uint32_t psn = roce_psn_add(r->first_psn, r->next);
	uint32_t hdr = roce_headers_build(slot->buf, &qp->tmpl,
		&(struct roce_pkt){
			.opcode = opcode[first | last << 1],
			.qpn = qp->dest_qpn,
			.psn = psn,
			.pkey = ROCE_PKEY_DEFAULT,
			.mig = true,
			.payload_bytes = bytes,
			.syndrome = ROCE_SYN_ACK,
			.msn = qp_placed_msn(qp),
		},
		qp->ip_id++, ROCE_OPF_AETH);
	enum roce_copy got = read_payload(s, qp, r, psn, from, slot->buf + hdr, bytes);

	if (base_unlikely(got != ROCE_COPY_OK)) {
		if (got == ROCE_COPY_REFUSED)
			read_refused(s, qp, r, psn);
		return got;
	}
	roce_tx_seal(s, qp, slot, hdr, bytes);
	r->next++;
	if (last)
		slot_answered(s, qp, psn);
	return ROCE_COPY_OK;
}

static enum roce_copy
resp_tx_atomic(struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slot)
{
	struct roce_read_slot *r = &qp->reads->slot[qp->rd_cur];
	uint32_t hdr;

	if (base_unlikely(r->wait != ROCE_WAIT_NONE && !roce_atomic_finish(s, qp, r))) {
		read_refused(s, qp, r, r->first_psn);
		return ROCE_COPY_REFUSED;
	}
	hdr = roce_headers_build(slot->buf, &qp->tmpl,
		&(struct roce_pkt){
			.opcode = ROCE_ATOMIC_ACK,
			.qpn = qp->dest_qpn,
			.psn = r->first_psn,
			.pkey = ROCE_PKEY_DEFAULT,
			.mig = true,
			.syndrome = ROCE_SYN_ACK,
			.msn = qp_placed_msn(qp),
			.atomic_orig = r->old,
		},
		qp->ip_id++, ROCE_OPF_AETH | ROCE_OPF_ATOMIC_ACK);
	roce_tx_seal(s, qp, slot, hdr, 0);
	slot_answered(s, qp, r->first_psn);
	return ROCE_COPY_OK;
}

/* The next response of the current slot. */
static enum roce_copy
resp_tx_slot(struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slot)
{
	if (qp->reads->slot[qp->rd_cur].opcode == ROCE_READ_REQUEST)
		return resp_tx_read(s, qp, slot);
	return resp_tx_atomic(s, qp, slot);
}

/* Count an acknowledgement that leaves, by its AETH. */
static void
ack_count(struct roce_shard *s, uint8_t syndrome)
{
	if (syndrome == ROCE_SYN_ACK)
		s->count.tx_ack++;
	else if (syndrome == ROCE_SYN_NAK_SEQ)
		s->count.tx_nak_sequence++;
	else if (syndrome >> 5 == 1)
		s->count.tx_rnr++;
	else
		s->count.tx_nak_fatal++;
}

/*
 * While requests are still being placed, only those that are placed may be acknowledged: an ACK for
 * them leaves, once, and the acknowledgement owed stays owed. False: nothing may leave now.
 */
static bool
ack_while_placing(struct roce_qp *qp, uint32_t *psn)
{
	if (qp->ack_owed != ROCE_OWED_ACK || !qp->moved->tell)
		return false;
	qp->moved->tell = false;
	if (roce_psn_diff(*psn, qp->placed_psn) >= 0)
		*psn = roce_psn_add(qp->placed_psn, ROCE_PSN_MASK);
	return true;
}

static bool
resp_tx_ack(struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slot)
{
	bool placing = qp->moved != NULL && qp->moved->placing;
	uint8_t syndrome = qp->ack_syndrome;
	uint32_t psn = qp->ack_psn, hdr;

	if (base_unlikely(placing) && !ack_while_placing(qp, &psn))
		return false;

	if (qp->ack_owed == ROCE_OWED_NAK_SEQ) {
		/* The PSN expected now; an ACK, if the missing packet has come meanwhile. */
		psn = qp->placed_psn;
		if (roce_psn_diff(qp->gap_psn, psn) < 0) {
			psn = roce_psn_add(psn, ROCE_PSN_MASK);
			syndrome = ROCE_SYN_ACK;
		}
	}
	hdr = roce_headers_build(slot->buf, &qp->tmpl,
		&(struct roce_pkt){
			.opcode = ROCE_ACK,
			.qpn = qp->dest_qpn,
			.psn = psn,
			.pkey = ROCE_PKEY_DEFAULT,
			.mig = true,
			.syndrome = syndrome,
			.msn = qp_placed_msn(qp),
		},
		qp->ip_id++, ROCE_OPF_AETH);
	if (base_unlikely(roce_reacts(qp))) /* but ACKs do not slow down */
		roce_wire_set_tos(slot->buf, &qp->tmpl, qp->tmpl.tos & (uint8_t)~ROCE_TOS_ECN);
	roce_tx_seal(s, qp, slot, hdr, 0);
	ack_count(s, syndrome);
	if (psn != qp->ack_psn && placing)
		return true;
	qp->ack_owed = ROCE_OWED_NONE;
	if (qp->state == ROCE_QPS_ERR)
		roce_reads_forget(s, qp);
	return true;
}

/* Has the current slot to wait until the requests before it are placed? READs do, and atomics that
 * were not executed at once; a repeated request does not. */
static bool
slot_waits(const struct roce_qp *qp)
{
	return qp->moved != NULL && qp->moved->placing &&
	       roce_psn_diff(qp->reads->slot[qp->rd_cur].first_psn, qp->placed_psn) >= 0;
}

bool
roce_resp_tx(struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slot)
{
	roce_check_qp(s, qp);
	while (qp->rd_pending > 0 && !slot_waits(qp)) {
		enum roce_copy sent = resp_tx_slot(s, qp, slot);

		if (sent != ROCE_COPY_REFUSED)
			return sent == ROCE_COPY_OK;
	}
	return qp->ack_owed != ROCE_OWED_NONE && resp_tx_ack(s, qp, slot);
}
