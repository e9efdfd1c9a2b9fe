/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Responder: answers on their way out, in PSN order (W-ACK-03): READ responses, slot after slot,
 * then the one coalesced ACK or NAK that is owed.
 */
#include "roce/internal.h"

/* All responses of a pending slot are sent, or given up. */
void
roce_read_done(struct roce_qp *qp, uint32_t index)
{
	qp->reads->slot[index].pending = false;
	if (--qp->rd_pending == 0)
		return;
	while (!qp->reads->slot[qp->rd_cur].pending)
		qp->rd_cur = (uint8_t)((qp->rd_cur + 1u) % ROCE_RD_ATOMIC_MAX);
}

/* The key was revoked in mid-reply (W-RESP-13); a replay falls silent instead (W-DUP-07). */
static void
read_refused(struct roce_shard *s, struct roce_qp *qp, const struct roce_read_slot *r, uint32_t psn)
{
	bool replay = r->replay;

	s->count.key_violations++;
	roce_read_done(qp, qp->rd_cur);
	if (replay || qp->state == ROCE_QPS_ERR)
		return;
	for (uint32_t i = 0; i < ROCE_RD_ATOMIC_MAX; i++)
		qp->reads->slot[i].pending = false;
	qp->rd_pending = 0;
	roce_resp_fatal(s, qp, psn, ROCE_SYN_NAK_REM_ACCESS, NDSH_WC_REM_ACCESS_ERR,
		ROCE_REASON_SENT_REM_ACCESS);
}

/* From memory in pieces, behind the headers. */
static bool
copy_pieces(struct roce_shard *s, const struct roce_qp *qp, const struct roce_read_slot *r,
	uint32_t from, uint8_t *dst, uint32_t bytes)
{
	uint32_t piece;

	for (; bytes > 0; bytes -= piece, from += piece, dst += piece) {
		const uint8_t *host;

		piece = bytes;
		host = roce_fr_piece(
			s, qp, r->rkey, r->va + from, &piece, NDSH_ACCESS_REMOTE_READ);
		if (host == NULL)
			return false;
		memcpy(dst, host, piece);
	}
	return true;
}

static bool
tx_read_response(struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slot)
{
	/* W-READ-01; MIDDLE, FIRST, LAST, ONLY */
	static const uint8_t opcode[4] = { ROCE_READ_RESP_MIDDLE, ROCE_READ_RESP_FIRST,
		ROCE_READ_RESP_LAST, ROCE_READ_RESP_ONLY };
	struct roce_read_slot *r = &qp->reads->slot[qp->rd_cur];
	bool first = r->next == r->base, last = r->next + 1 == r->npsn;
	uint32_t from = r->next << qp->mtu_shift;
	uint32_t bytes = last ? r->len - from : roce_qp_mtu(qp);
	uint32_t psn = roce_psn_add(r->first_psn, r->next), hdr;
	const uint8_t *host = NULL;

	if (bytes > 0)
		host = roce_mr_access(
			s, qp, r->rkey, r->va + from, bytes, NDSH_ACCESS_REMOTE_READ);
	hdr = roce_wire_build(slot->buf, &qp->tmpl,
		&(struct roce_pkt){
			.opcode = opcode[first | last << 1],
			.qpn = qp->dest_qpn,
			.psn = psn,
			.pkey = ROCE_PKEY_DEFAULT,
			.mig = true,
			.payload_bytes = bytes,
			.syndrome = ROCE_SYN_ACK,
			.msn = qp->msn,
		},
		qp->ip_id++);
	if (roce_likely(host != NULL)) {
		memcpy(slot->buf + hdr, host, bytes);
	} else if (!copy_pieces(s, qp, r, from, slot->buf + hdr, bytes)) {
		read_refused(s, qp, r, psn);
		return false;
	}
	roce_tx_seal(s, qp, slot, hdr, bytes);
	r->next++;
	if (last)
		roce_read_done(qp, qp->rd_cur);
	return true;
}

/* What the AETH says, now that it leaves. */
static void
count_answer(struct roce_shard *s, uint8_t syndrome)
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

static bool
tx_answer(struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slot)
{
	uint8_t syndrome = qp->answer_syndrome;
	uint32_t psn = qp->answer_psn, hdr;

	if (qp->answer == ROCE_ANSWER_NAK_SEQ) {
		/* The expected PSN as of now; if what was missing came meanwhile, all is well. */
		psn = qp->placed_psn;
		if (roce_psn_diff(qp->gap_psn, psn) < 0) {
			psn = roce_psn_add(psn, ROCE_PSN_MASK);
			syndrome = ROCE_SYN_ACK;
		}
	}
	hdr = roce_wire_build(slot->buf, &qp->tmpl,
		&(struct roce_pkt){
			.opcode = ROCE_ACK,
			.qpn = qp->dest_qpn,
			.psn = psn,
			.pkey = ROCE_PKEY_DEFAULT,
			.mig = true,
			.syndrome = syndrome,
			.msn = qp->msn,
		},
		qp->ip_id++);
	roce_tx_seal(s, qp, slot, hdr, 0);
	count_answer(s, syndrome);
	qp->answer = ROCE_ANSWER_NONE;
	if (qp->state == ROCE_QPS_ERR)
		roce_reads_put(s, qp);
	return true;
}

bool
roce_resp_tx(struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slot)
{
	while (qp->rd_pending > 0)
		if (tx_read_response(s, qp, slot))
			return true;
	return qp->answer != ROCE_ANSWER_NONE && tx_answer(s, qp, slot);
}
