/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue pair and moved memory: memory that only its client can reach, by a mover.
 *
 * Placing. What its peer sends is *received* when it lies in the mover's staging, and *placed* when
 * the client has copied it to its memory. Completions follow the received: a client that takes one
 * has carried out the copy commands before it (ndsh_mover.h). What the peer is told follows the
 * placed: ACKs, the MSN, responses to READs behind it. Two marks suffice for that: the newest
 * received, and one in between that is waited for; when it is reached, the newest becomes the next.
 * So the peer hears of progress once per round trip to the client, however much is under way.
 *
 * Fetching. Packets of a message in moved memory are asked for ahead, in PSN order, into slots of
 * the mover, and leave when they have come. If the first slot of the queue is not of the PSN that
 * has to be sent now, the whole queue is thrown away. Its slots may be used again at once, even for
 * another queue pair: copy commands are carried out in order, so the old one is done first.
 */
#include "roce/mem/moved.h"

#include <string.h>

#include "base/list.h"
#include "roce/assert.h"
#include "roce/mem/copy.h"
#include "roce/mem/mover.h"
#include "roce/mem/mr.h"
#include "roce/mem/sge.h"
#include "roce/qp/qp.h"
#include "roce/shard/shard.h"
#include "roce/tx.h"
#include "shm/ndsh_mover.h"
#include "wire/psn.h"

size_t
roce_moved_bytes(void)
{
	return sizeof(struct roce_moved);
}

/* There is one for each queue pair, touched for the first time here. */
static struct roce_moved *
moved_get(struct roce_shard *s, struct roce_qp *qp, struct roce_mover *m)
{
	struct roce_moved *moved = &s->moved[qp - s->qps];

	if (qp->moved != NULL)
		return moved;
	*moved = (struct roce_moved){.qp = qp, .mover = m, .since = roce_mover_posted(m)};
	qp->moved = moved;
	m->users++;
	return moved;
}

static void
wait_for_client(struct roce_moved *moved)
{
	if (base_linked(&moved->waiting))
		return;
	base_list_append(&moved->mover->waiting, &moved->waiting);
	moved->mover->waiters++;
}

static void
wait_no_more(struct roce_moved *moved)
{
	if (!base_linked(&moved->waiting))
		return;
	base_list_remove(&moved->waiting);
	moved->mover->waiters--;
}

/* ---- slots --------------------------------------------------------------------------------- */

/* Queue pairs that found no slot are notified here: perhaps no command is under way that would. */
static void
slot_give(struct roce_shard *s, struct roce_mover *m, uint16_t slot)
{
	if (m->slots == 0 && m->waiters > 0) {
		m->checks = m->waiters;
		roce_mover_watch(s, m);
	}
	m->slot[m->slots++] = slot;
}

static void
fetch_pop(struct roce_shard *s, struct roce_mover *m, struct roce_fetch *f)
{
	slot_give(s, m, f->q[f->head].slot);
	f->head = (uint8_t)((f->head + 1u) % ROCE_FETCH_MAX);
	f->psn = roce_psn_add(f->psn, 1);
	f->count--;
}

static void
fetch_drop(struct roce_shard *s, struct roce_mover *m, struct roce_fetch *f)
{
	while (f->count > 0)
		fetch_pop(s, m, f);
}

/* Nothing is left to send in that direction: packets that were asked for in vain are dropped. */
void
roce_moved_idle(struct roce_shard *s, struct roce_qp *qp, bool response)
{
	struct roce_moved *moved = qp->moved;

	if (moved != NULL)
		fetch_drop(s, moved->mover, response ? &moved->response : &moved->request);
}

void
roce_moved_put_back(struct roce_qp *qp)
{
	struct roce_moved *moved = qp->moved;

	if (moved == NULL)
		return;
	wait_no_more(moved);
	moved->mover->users--;
	qp->moved = NULL;
}

/* ---- fetching ------------------------------------------------------------------------------ */

/* The piece that begins at byte at of the packet which begins at byte from of src. */
static struct roce_piece
packet_piece(const struct roce_moved_src *src, uint32_t from, uint32_t at, uint32_t packet_bytes)
{
	const struct ndsh_sge *sge = src->sge;
	uint32_t off = from + at, most = packet_bytes - at;

	while (off >= sge->len)
		off -= (sge++)->len;
	return (struct roce_piece){.va = sge->addr + off,
		.key = sge->key,
		.bytes = sge->len - off < most ? sge->len - off : most};
}

static uint32_t
packet_bytes(const struct roce_qp *qp, const struct roce_moved_src *src, uint32_t from)
{
	uint32_t mtu = roce_qp_mtu(qp);

	return src->bytes - from < mtu ? src->bytes - from : mtu;
}

/* Ask for the next packet behind those in f. LATER: no slot, or no room for copy commands. */
static enum roce_copy
fetch_ask(struct roce_shard *s, struct roce_qp *qp, struct roce_fetch *f,
	const struct roce_moved_src *src, uint32_t from)
{
	struct roce_mover *m = qp->moved->mover;
	uint32_t bytes = packet_bytes(qp, src, from), tail, slot;
	struct roce_piece p;

	if (m->slots == 0 || !roce_mover_has_room(m, NDSH_SGE_MAX, 0))
		return ROCE_COPY_LATER;
	slot = roce_mover_next_slot(m);
	for (uint32_t at = 0; at < bytes; at += p.bytes) {
		p = packet_piece(src, from, at, bytes);
		if (roce_mr_piece(s, qp, p.key, p.va, &p.bytes, src->right) != NULL)
			continue;
		if (roce_mr_mover(s, qp, p.key, p.va, p.bytes, src->right) != m)
			return ROCE_COPY_REFUSED;
		roce_mover_out(s, m, roce_mr_at(s, p.key, p.va), p.bytes, slot, at);
	}
	m->slots--;
	tail = (f->head + f->count++) % ROCE_FETCH_MAX;
	f->q[tail].slot = (uint16_t)slot;
	f->q[tail].seq = roce_mover_posted(m);
	return ROCE_COPY_OK;
}

/* Rights are checked once more: they may have gone since the packet was asked for. */
static enum roce_copy
fetch_collect(struct roce_shard *s, struct roce_qp *qp, const struct roce_moved_src *src,
	uint32_t from, const uint8_t *slot, uint8_t *dst)
{
	uint32_t bytes = packet_bytes(qp, src, from);
	struct roce_piece p;

	for (uint32_t at = 0; at < bytes; at += p.bytes) {
		const uint8_t *host;

		p = packet_piece(src, from, at, bytes);
		host = roce_mr_piece(s, qp, p.key, p.va, &p.bytes, src->right);
		if (host == NULL && roce_mr_mover(s, qp, p.key, p.va, p.bytes, src->right) != NULL)
			host = slot + at;
		if (host == NULL)
			return ROCE_COPY_REFUSED;
		memcpy(dst + at, host, p.bytes);
	}
	return ROCE_COPY_OK;
}

/* The mover of the first piece that is not the shard's own to read; NULL: nor has it one. */
static struct roce_mover *
packet_mover(
	struct roce_shard *s, struct roce_qp *qp, const struct roce_moved_src *src, uint32_t from)
{
	uint32_t bytes = packet_bytes(qp, src, from);
	struct roce_piece p;

	for (uint32_t at = 0; at < bytes; at += p.bytes) {
		p = packet_piece(src, from, at, bytes);
		if (roce_mr_piece(s, qp, p.key, p.va, &p.bytes, src->right) == NULL)
			return roce_mr_mover(s, qp, p.key, p.va, p.bytes, src->right);
	}
	return NULL;
}

enum roce_copy
roce_moved_gather(struct roce_shard *s, struct roce_qp *qp, bool response,
	const struct roce_moved_src *src, uint32_t psn, uint8_t *dst)
{
	uint32_t index = roce_psn_from(psn, src->first_psn), from = index << qp->mtu_shift;
	struct roce_mover *m =
		qp->moved != NULL ? qp->moved->mover : packet_mover(s, qp, src, from);
	enum roce_copy got = ROCE_COPY_OK;
	struct roce_fetch *f;
	uint16_t slot;

	if (m == NULL)
		return ROCE_COPY_REFUSED;
	moved_get(s, qp, m);
	f = response ? &qp->moved->response : &qp->moved->request;
	if (f->psn != psn)
		fetch_drop(s, m, f);
	f->psn = psn;
	while (got == ROCE_COPY_OK && f->count < ROCE_FETCH_MAX && index + f->count < src->npsn)
		got = fetch_ask(s, qp, f, src, (index + f->count) << qp->mtu_shift);
	if (f->count == 0 && got == ROCE_COPY_REFUSED)
		return got;
	if (f->count == 0 || m->done < f->q[f->head].seq) {
		wait_for_client(qp->moved);
		return ROCE_COPY_LATER;
	}
	slot = f->q[f->head].slot;
	got = m->fill[slot].lost ? ROCE_COPY_REFUSED
				 : fetch_collect(s, qp, src, from,
					   m->out + (size_t)slot * NDSH_MOVER_SLOT_BYTES, dst);
	if (got == ROCE_COPY_OK)
		fetch_pop(s, m, f);
	else /* nor is anything behind it sent */
		fetch_drop(s, m, f);
	return got;
}

/* ---- placing ------------------------------------------------------------------------------- */

/* The completion that will report it, or the first behind it. */
static uint32_t
next_completion(const struct roce_qp *qp, enum ndsh_spoils spoils)
{
	return (spoils == NDSH_SPOILS_REQUEST ? qp->sq_done : qp->rq_done) + 1;
}

enum roce_copy
roce_moved_put(struct roce_shard *s, struct roce_qp *qp, uint32_t key, uint64_t va,
	const uint8_t *src, uint32_t bytes, uint32_t right, enum ndsh_spoils spoils)
{
	struct roce_mover *m = roce_mr_mover(s, qp, key, va, bytes, right);
	struct roce_moved *moved;

	if (m == NULL)
		return ROCE_COPY_REFUSED;
	moved = moved_get(s, qp, m);
	if (!roce_mover_has_room(m, 1, bytes))
		return ROCE_COPY_LATER;
	roce_mover_in(s, m, roce_mr_at(s, key, va), src, bytes,
		&(struct roce_move){.of = moved,
			.psn = qp->recv_psn,
			.msn = qp->msn,
			.slot_count = next_completion(qp, spoils),
			.spoils = (uint8_t)spoils});
	moved->newest = roce_mover_posted(m);
	return ROCE_COPY_OK;
}

/*
 * An atomic stands among the copy commands where it stood among the requests: copies of earlier
 * requests are carried out before it, those of later ones after it. The client may execute it as
 * soon as its command is given, which cannot be taken back.
 */
enum roce_copy
roce_moved_atomic(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_mover *m = roce_mr_mover(
		s, qp, pkt->rkey, pkt->va, sizeof(uint64_t), NDSH_ACCESS_REMOTE_ATOMIC);
	struct roce_moved_atomics *a;
	uint64_t at;
	uint16_t slot;

	if (m == NULL)
		return ROCE_COPY_REFUSED;
	at = roce_mr_at(s, pkt->rkey, pkt->va);
	if (at % sizeof(uint64_t) != 0) /* though pkt->va is aligned */
		return ROCE_COPY_REFUSED;
	a = &moved_get(s, qp, m)->atomics;
	if (m->slots == 0 || !roce_mover_has_room(m, 1, sizeof(struct ndsh_move_atomic)))
		return ROCE_COPY_LATER;
	roce_assert(a->count < ROCE_RD_ATOMIC_MAX);
	slot = (uint16_t)roce_mover_next_slot(m);
	m->slots--;
	roce_mover_atomic(s, m, pkt, at, slot);
	a->slot[(a->head + a->count++) % ROCE_RD_ATOMIC_MAX] = slot;
	qp->moved->newest = roce_mover_posted(m);
	return ROCE_COPY_OK;
}

static uint16_t
atomics_pop(struct roce_shard *s, struct roce_moved *moved)
{
	struct roce_moved_atomics *a = &moved->atomics;
	uint16_t slot = a->slot[a->head];

	a->head = (uint8_t)((a->head + 1u) % ROCE_RD_ATOMIC_MAX);
	a->count--;
	slot_give(s, moved->mover, slot);
	return slot;
}

/* The slot is free again, but no other command can get it before this call returns. */
bool
roce_moved_atomic_result(struct roce_shard *s, struct roce_qp *qp, uint64_t *old)
{
	struct roce_mover *m = qp->moved->mover;
	uint16_t slot;

	roce_assert(qp->moved->atomics.count > 0);
	slot = atomics_pop(s, qp->moved);
	*old = ndsh_load64(m->out + (size_t)slot * NDSH_MOVER_SLOT_BYTES);
	return !m->fill[slot].lost;
}

void
roce_moved_atomics_drop(struct roce_shard *s, struct roce_qp *qp)
{
	while (qp->moved != NULL && qp->moved->atomics.count > 0)
		(void)atomics_pop(s, qp->moved);
}

/* Wait for all that is received so far, as one. */
static void
placing_mark(struct roce_moved *moved)
{
	moved->mark = moved->newest;
	moved->mark_psn = moved->qp->recv_psn;
	moved->mark_msn = moved->qp->msn;
}

void
roce_moved_received(struct roce_qp *qp, uint32_t msn_before)
{
	struct roce_moved *moved = qp->moved;

	if (moved->placing)
		return;
	if (moved->mover->done >= moved->newest) {
		qp->placed_psn = qp->recv_psn;
		return;
	}
	moved->placing = true;
	moved->tell = false;
	moved->msn = msn_before;
	placing_mark(moved);
	wait_for_client(moved);
}

static void
placing_progress(struct roce_moved *moved)
{
	if (moved->mover->done < moved->mark)
		return;
	if (moved->qp->placed_psn != moved->mark_psn)
		moved->tell = true;
	moved->qp->placed_psn = moved->mark_psn;
	moved->msn = moved->mark_msn;
	if (moved->mover->done >= moved->newest) {
		moved->placing = false;
		moved->qp->placed_psn = moved->qp->recv_psn;
	} else {
		placing_mark(moved);
	}
}

/* The payload of a READ response found no room: it is asked for again when there is some. */
void
roce_moved_sink_full(struct roce_qp *qp)
{
	roce_assert(qp->moved != NULL);
	qp->moved->sink_full = true;
	wait_for_client(qp->moved);
}

bool
roce_moved_awaits_room(const struct roce_qp *qp)
{
	return qp->moved != NULL && qp->moved->sink_full;
}

/* Of several that wait to be told the first counts; but the peer's message comes before an own
 * request, since the queue pair ends with either, and the peer must not be told of it as placed. */
static bool
lost_before(const struct roce_moved *moved, const struct roce_move *move)
{
	return moved->lost.of != NULL &&
	       (moved->lost.spoils != NDSH_SPOILS_REQUEST || move->spoils == NDSH_SPOILS_REQUEST);
}

/* The queue pair may have been destroyed since, reset, or taken by another client. */
void
roce_moved_lose(struct roce_mover *m, const struct roce_move *move, uint64_t command)
{
	struct roce_moved *moved = move->of;

	if (moved->qp->moved != moved || moved->mover != m || command < moved->since ||
		lost_before(moved, move))
		return;
	moved->lost = *move;
	wait_for_client(moved);
}

bool
roce_moved_progress(struct roce_shard *s, struct roce_moved *moved)
{
	struct roce_qp *qp = moved->qp;
	bool again = moved->sink_full && qp->state != ROCE_QPS_ERR && qp->wq_head != NULL;

	wait_no_more(moved);
	if (moved->placing)
		placing_progress(moved);
	if (moved->placing)
		wait_for_client(moved);
	moved->sink_full = false;
	roce_tx_clear(qp, ROCE_TXB_BLOCKED);
	roce_tx_want(s, qp);
	return again;
}
