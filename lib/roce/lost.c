/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client could not place bytes that a queue pair has received, since the memory behind its mover
 * has gone (mem/moved.c). All commands before that one were carried out, so the peer is told of
 * what came before, and that this packet is refused, as if its key had been revoked by then
 * (W-RESP-13), or the receive had a bad one (W-RESP-11). Completions that were made too early are
 * corrected by the client (ndsh_mover.h).
 *
 * What a queue pair could not fetch needs none of this: it is noticed when it should be sent.
 */
#include "roce/lost.h"

#include "base/list.h"
#include "roce/qp/error.h"
#include "roce/qp/qp.h"
#include "roce/qp/replay.h"
#include "roce/responder/responder.h"
#include "roce/shard/shard.h"
#include "wire/psn.h"

/* The payload of a READ or atomic. That request is the oldest, unless it is completed already. */
static void
request_lost(struct roce_shard *s, struct roce_qp *qp, const struct roce_move *lost)
{
	if (lost->slot_count == qp->sq_done + 1)
		roce_qp_fail_wqe(
			s, qp, qp->wq_head, NDSH_WC_LOC_PROT_ERR, ROCE_REASON_LOCAL_PROT, 0);
	else
		roce_qp_error(s, qp, ROCE_REASON_LOCAL_PROT, 0);
}

static uint8_t
lost_syndrome(const struct roce_move *lost)
{
	return lost->spoils == NDSH_SPOILS_RECEIVE ? ROCE_SYN_NAK_REM_OP : ROCE_SYN_NAK_REM_ACCESS;
}

/* READs and atomics behind the lost packet get no response. */
static void
drop_responses_behind(struct roce_qp *qp, uint32_t psn)
{
	for (uint32_t i = 0; i < ROCE_RD_ATOMIC_MAX && qp->rd_pending > 0; i++) {
		const struct roce_read_slot *r = &qp->reads->slot[i];

		if (r->pending && roce_psn_diff(r->first_psn, psn) > 0)
			roce_read_done(qp, i);
	}
}

/* The peer hears of what is placed, and of nothing behind it. */
static void
placed_until(struct roce_qp *qp, const struct roce_move *lost)
{
	drop_responses_behind(qp, lost->psn);
	qp->moved->placing = false;
	qp->msn = lost->msn;
}

/*
 * The queue pair has ended already, but its last word waits until all is placed: an ACK, or a NAK
 * of something else. This one acknowledges what is in front of it, too, so it has to be of what is
 * placed, or of this packet.
 */
static void
last_word_lost(struct roce_qp *qp, const struct roce_move *lost)
{
	if (lost->spoils == NDSH_SPOILS_REQUEST)
		return;
	placed_until(qp, lost);
	if (roce_psn_diff(qp->ack_psn, lost->psn) < 0)
		return;
	qp->ack_psn = lost->psn;
	if (qp->ack_owed == ROCE_OWED_ACK)
		qp->ack_psn = roce_psn_add(lost->psn, ROCE_PSN_MASK);
	else
		qp->ack_syndrome = lost_syndrome(lost);
}

/* The receive in use may be that of a later message. */
static void
message_lost(struct roce_shard *s, struct roce_qp *qp, const struct roce_move *lost)
{
	bool receive = lost->spoils == NDSH_SPOILS_RECEIVE;
	enum ndsh_wc_status status = receive && lost->slot_count == qp->rq_done + 1
					     ? NDSH_WC_LOC_PROT_ERR
					     : NDSH_WC_FLUSH_ERR;

	placed_until(qp, lost);
	s->count.key_violations += !receive;
	roce_resp_fatal(s, qp, lost->psn, lost_syndrome(lost), status,
		receive ? ROCE_REASON_RECV_PROT : ROCE_REASON_SENT_REM_ACCESS);
}

void
roce_lost(struct roce_shard *s, struct roce_moved *moved)
{
	const struct roce_move *lost = &moved->lost;
	struct roce_qp *qp = moved->qp;

	if (qp->state == ROCE_QPS_ERR)
		last_word_lost(qp, lost);
	else if (lost->spoils == NDSH_SPOILS_REQUEST)
		request_lost(s, qp, lost);
	else if (qp->rx_bits & ROCE_RXB_DATAGRAMS)
		roce_qp_error(s, qp, ROCE_REASON_RECV_PROT, 0);
	else if (roce_qp_is_uc(qp)) /* the peer is told nothing */
		roce_qp_error(s, qp,
			lost->spoils == NDSH_SPOILS_RECEIVE ? ROCE_REASON_RECV_PROT
							    : ROCE_REASON_SENT_REM_ACCESS,
			0);
	else
		message_lost(s, qp, lost);
}
