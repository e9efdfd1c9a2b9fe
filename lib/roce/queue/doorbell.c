/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Doorbells. Who rings stands in line untouched until it is its turn to send: its state, and then
 * its request, are on their way into the cache while others' packets are built. With many queue
 * pairs each of them comes from memory, and a look at one of them would wait for that.
 *
 * The bit of a doorbell is taken, by a locked instruction, before its ring is read here; the client
 * stores a request before it sets the bit. So the request is seen, or the bit is there once more.
 */
#include "roce/queue/doorbell.h"

#include "base/compiler.h"
#include "base/list.h"
#include "roce/qp/error.h"
#include "roce/qp/qp.h"
#include "roce/queue/send_ring.h"
#include "roce/shard/shard.h"

#define STATES_AHEAD   16u /* of so many to come the state is asked for */
#define REQUESTS_AHEAD 8u  /* of so many the request */

static struct roce_qp **
bell(struct roce_shard *s, uint32_t number)
{
	return &s->doorbells.qp[number % ROCE_DOORBELLS];
}

static void
prefetch_state(const struct roce_qp *qp)
{
	const char *hot = (const char *)qp;

	for (size_t at = 0; at < offsetof(struct roce_qp, tx_pos); at += NDSH_CACHE_LINE)
		if (at != offsetof(struct roce_qp, recv_psn)) /* the responder's */
			__builtin_prefetch(hot + at);
}

/* A request, and the look whether there is another. */
static void
prefetch_requests(const struct roce_qp *qp)
{
	if (qp->state < ROCE_QPS_RTS)
		return;
	__builtin_prefetch(qp->page);
	__builtin_prefetch(&qp->sq.ring[qp->sq.next & (qp->sq.depth - 1)]);
	__builtin_prefetch(&qp->sq.ring[(qp->sq.next + 1) & (qp->sq.depth - 1)]);
}

static void
look_ahead(struct roce_shard *s)
{
	struct roce_doorbells *b = &s->doorbells;

	while (b->states != b->rung && b->states - b->served < STATES_AHEAD)
		prefetch_state(*bell(s, b->states++));
	while (b->requests != b->states && b->requests - b->served < REQUESTS_AHEAD)
		prefetch_requests(*bell(s, b->requests++));
}

/*
 * May it send? Who rings for the second time in a short while has its ring watched; to look at many
 * rings that are used now and then costs more than their doorbells. Who is in error is flushed; the
 * way to RTS looks at the ring itself.
 */
static bool
answer(struct roce_shard *s, struct roce_qp *qp)
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
roce_qp_doorbell(struct roce_shard *s, struct roce_qp *qp)
{
	struct roce_doorbells *b = &s->doorbells;

	if (base_unlikely(b->rung - b->served == ROCE_DOORBELLS)) {
		if (answer(s, qp))
			base_list_append(&s->senders, &qp->tx_link);
		return;
	}
	*bell(s, b->rung++) = qp;
	if (b->rung - b->served <= STATES_AHEAD) {
		prefetch_state(qp);
		b->states = b->rung;
	}
}

struct roce_qp *
roce_doorbell_next(struct roce_shard *s)
{
	struct roce_qp *qp;

	while (!roce_doorbells_empty(&s->doorbells)) {
		look_ahead(s);
		qp = *bell(s, s->doorbells.served++);
		if (answer(s, qp))
			return qp;
	}
	return NULL;
}
