/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Doorbells. A queue pair whose client rang stands in line and is not accessed until it is its turn
 * to send: its state, and then its request, are prefetched while packets of others are built. With
 * many queue pairs each of them comes from memory, and an access would wait for that.
 *
 * The bit of a doorbell is taken, by a locked instruction, before the send ring is read here; the
 * client stores a request before it sets the bit. So the request is seen here, or the bit is set
 * once more.
 */
#include "roce/queue/doorbell.h"

#include "base/compiler.h"
#include "base/list.h"
#include "roce/queue/flush.h"
#include "roce/qp/qp.h"
#include "roce/queue/send_ring.h"
#include "roce/queue/senders.h"
#include "roce/shard/shard.h"

#define STATES_AHEAD   16u /* queue pairs in line whose state is prefetched */
#define REQUESTS_AHEAD 8u  /* ... whose next request is */

static struct roce_qp **
doorbell_slot(struct roce_doorbells *b, uint32_t number)
{
	return &b->qp[number % ROCE_DOORBELLS];
}

static void
qp_prefetch_state(const struct roce_qp *qp)
{
	const char *hot = (const char *)qp;

	for (size_t at = 0; at < offsetof(struct roce_qp, tx_pos); at += NDSH_CACHE_LINE)
		if (at != offsetof(struct roce_qp, recv_psn)) /* the responder's */
			__builtin_prefetch(hot + at);
}

/* The next request, and the slot behind it, which tells whether there is another. */
static void
qp_prefetch_requests(const struct roce_qp *qp)
{
	if (qp->state < ROCE_QPS_RTS)
		return;
	__builtin_prefetch(qp->page);
	__builtin_prefetch(&qp->sq.ring[qp->sq.next & (qp->sq.depth - 1)]);
	__builtin_prefetch(&qp->sq.ring[(qp->sq.next + 1) & (qp->sq.depth - 1)]);
}

static void
doorbells_look_ahead(struct roce_doorbells *b)
{
	while (b->states != b->rung && b->states - b->served < STATES_AHEAD)
		qp_prefetch_state(*doorbell_slot(b, b->states++));
	while (b->requests != b->states && b->requests - b->served < REQUESTS_AHEAD)
		qp_prefetch_requests(*doorbell_slot(b, b->requests++));
}

/*
 * A doorbell's turn has come: may the queue pair send? If its client rang for the second time in a
 * short while, its ring is polled from now on; polling many rings that are seldom used would cost
 * more than their doorbells. A queue pair in ERR is flushed. One that is not in RTS yet has its
 * ring read when it gets there.
 */
static bool
doorbell_serve(struct roce_shard *s, struct roce_qp *qp)
{
	if (base_unlikely(qp->state == ROCE_QPS_ERR)) {
		roce_flush_join(s, qp);
		return false;
	}
	if (base_unlikely(qp->state < ROCE_QPS_RTS))
		return false;
	if (s->now_ns - qp->ring_ns < ROCE_SEND_RING_AGAIN_NS)
		roce_send_ring_watch(s, qp);
	qp->ring_ns = s->now_ns;
	return !(qp->tx_bits & ROCE_TXB_BLOCKED) && !base_linked(&qp->tx_link);
}

void
roce_qp_doorbell(struct roce_shard *s, struct roce_client *c, struct roce_qp *qp)
{
	struct roce_doorbells *b;

	if (c == NULL)
		c = &s->own_client;
	b = &c->doorbells;
	roce_turns_join(s, c);
	if (base_unlikely(b->rung - b->served == ROCE_DOORBELLS)) {
		if (doorbell_serve(s, qp))
			roce_senders_join(s, qp);
		return;
	}
	*doorbell_slot(b, b->rung++) = qp;
	if (b->rung - b->served <= STATES_AHEAD) {
		qp_prefetch_state(qp);
		b->states = b->rung;
	}
}

struct roce_qp *
roce_doorbell_next(struct roce_shard *s, struct roce_client *c)
{
	struct roce_doorbells *b = &c->doorbells;
	struct roce_qp *qp;

	while (!roce_doorbells_empty(b)) {
		doorbells_look_ahead(b);
		qp = *doorbell_slot(b, b->served++);
		if (!doorbell_serve(s, qp))
			continue;
		if (base_likely(roce_qp_client(qp) == c))
			return qp;
		roce_senders_join(s, qp); /* another client's has its place now */
	}
	return NULL;
}
