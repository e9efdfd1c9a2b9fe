/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Responder: duplicate requests (IBTA volume 1, chapter 9). Nothing is executed twice but the
 * reading of memory; the old value of an atomic is kept, and sent again. An error found in a
 * duplicate is not reported to the peer and does not change the queue pair (W-DUP-07).
 */
#include "roce/responder/duplicate.h"

#include "roce/qp/qp.h"
#include "roce/qp/replay.h"
#include "roce/responder/responder.h"
#include "roce/shard/shard.h"
#include "roce/tx.h"
#include "wire/psn.h"

/* The newest PSN that an ACK for a duplicate may name: executed, and before the first READ or
 * atomic that came after it, whose response the peer may not have (W-DUP-02, W-ACK-05). */
static uint32_t
ack_limit(const struct roce_qp *qp, uint32_t psn)
{
	uint32_t end = qp->placed_psn;

	if (qp->reads == NULL)
		return roce_psn_add(end, ROCE_PSN_MASK);
	for (uint32_t i = 0; i < ROCE_RD_ATOMIC_MAX; i++) {
		const struct roce_read_slot *r = &qp->reads->slot[i];

		if (r->npsn > 0 && roce_psn_diff(r->first_psn, psn) > 0 &&
			roce_psn_diff(r->first_psn, end) < 0)
			end = r->first_psn;
	}
	return roce_psn_add(end, ROCE_PSN_MASK);
}

static void
duplicate_data(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	uint32_t psn = ack_limit(qp, pkt->psn);

	if (qp->ack_owed == ROCE_OWED_NONE ||
		(qp->ack_owed == ROCE_OWED_ACK && roce_psn_diff(psn, qp->ack_psn) > 0))
		roce_resp_owe(s, qp, ROCE_OWED_ACK, psn, ROCE_SYN_ACK);
}

/* How many READs and atomics ago slot index was filled: 1 is the newest. */
static uint32_t
slot_age(const struct roce_qp *qp, uint32_t index)
{
	return (qp->rd_next + ROCE_RD_ATOMIC_MAX - 1 - index) % ROCE_RD_ATOMIC_MAX + 1;
}

static uint32_t
slot_of_age(const struct roce_qp *qp, uint32_t age)
{
	return (qp->rd_next + ROCE_RD_ATOMIC_MAX - age) % ROCE_RD_ATOMIC_MAX;
}

/* The newest READ or atomic that psn belongs to. */
static struct roce_read_slot *
slot_of_psn(struct roce_qp *qp, uint32_t psn)
{
	if (qp->reads == NULL)
		return NULL;
	for (uint32_t age = 1; age <= ROCE_RD_ATOMIC_MAX; age++) {
		struct roce_read_slot *r = &qp->reads->slot[slot_of_age(qp, age)];

		if (roce_psn_from(psn, r->first_psn) < r->npsn)
			return r;
	}
	return NULL;
}

/* Its next response is to be number next, which may have left before. */
static void
slot_go_back(struct roce_read_slot *r, uint32_t next)
{
	if (r->next > r->sent)
		r->sent = r->next;
	r->next = next;
}

/*
 * Start r again at response skip. The peer has dropped the responses that came after it, as they
 * were out of sequence: later slots that still have responses to send start at their beginning,
 * too. The peer will repeat the other requests if it misses their responses, and says from which
 * one on.
 */
static void
slot_replay(struct roce_qp *qp, struct roce_read_slot *r, uint32_t skip)
{
	uint32_t index = (uint32_t)(r - qp->reads->slot);

	for (uint32_t age = slot_age(qp, index) - 1; age > 0; age--) {
		struct roce_read_slot *later = &qp->reads->slot[slot_of_age(qp, age)];

		slot_go_back(later, later->base);
	}
	slot_go_back(r, skip);
	r->base = skip;
	r->replay = true;
	if (!r->pending) {
		r->pending = true;
		if (qp->rd_pending++ == 0)
			qp->rd_cur = (uint8_t)index;
	}
	if (slot_age(qp, index) > slot_age(qp, qp->rd_cur))
		qp->rd_cur = (uint8_t)index;
}

static void
slot_respond_again(
	struct roce_shard *s, struct roce_qp *qp, struct roce_read_slot *r, uint32_t skip)
{
	uint32_t psn = roce_psn_add(r->first_psn, skip);

	slot_replay(qp, r, skip);
	if (qp->ack_owed == ROCE_OWED_ACK && roce_psn_diff(qp->ack_psn, psn) < 0)
		qp->ack_owed = ROCE_OWED_NONE; /* W-ACK-04 */
	roce_tx_want(s, qp);
}

/* W-DUP-03 */
static void
duplicate_read(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_read_slot *r = slot_of_psn(qp, pkt->psn);
	uint64_t skip_bytes;
	uint32_t skip;

	if (r == NULL || r->opcode != ROCE_READ_REQUEST)
		return;
	skip = roce_psn_from(pkt->psn, r->first_psn);
	skip_bytes = (uint64_t)skip << qp->mtu_shift;
	if (pkt->rkey != r->rkey || pkt->va != r->va + skip_bytes ||
		skip_bytes + pkt->dma_bytes != r->len)
		return;
	slot_respond_again(s, qp, r, skip);
}

/* W-DUP-05 */
static void
duplicate_atomic(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_read_slot *r = slot_of_psn(qp, pkt->psn);

	if (r != NULL && r->opcode == pkt->opcode && r->rkey == pkt->rkey && r->va == pkt->va)
		slot_respond_again(s, qp, r, 0);
}

void
roce_resp_duplicate(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	if (pkt->opflags & (ROCE_OPF_SEND | ROCE_OPF_WRITE))
		duplicate_data(s, qp, pkt);
	else if (pkt->opcode == ROCE_READ_REQUEST)
		duplicate_read(s, qp, pkt);
	else
		duplicate_atomic(s, qp, pkt);
}
