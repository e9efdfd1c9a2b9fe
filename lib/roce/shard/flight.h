/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each principal has under way, and what it may have.
 *
 * Turns (turns.h) are fair among those that have something to send at that moment. A client with
 * one connection whose window is full is none of them, and one with a hundred connections always
 * is: of what waits between here and the peer nearly all would be of the latter, and so would be
 * the peer's time. So while several principals are busy, each may have as much under way as the
 * others have on average, by their weights, and a bit more, so that of two that both want more both
 * get it, step by step; and a quarter of a window in any case. What a principal does not use is not
 * kept free for it, as the average is of what is really under way.
 *
 * Packets count, not their bytes: a small one is not as much cheaper for both ends as its bytes
 * say. A READ counts with all of its responses. What the peer lets wait does not count: a peer that
 * is gone, or that has no receives, would else hold up all other connections of a principal.
 */
#ifndef ROCE_SHARD_FLIGHT_H
#define ROCE_SHARD_FLIGHT_H

#include "base/compiler.h"
#include "roce/qp/qp.h"
#include "roce/queue/cq.h"
#include "roce/shard/principal.h"
#include "roce/shard/shard.h"
#include "wire/psn.h"

/* A principal is busy for so long after it had much under way: its client may need as long to get a
 * CPU and to go on. */
#define ROCE_BUSY_NS UINT64_C(4000000)

/* p has much under way. Of several that have, each leaves the others their share from now on. */
void roce_flight_busy(struct roce_shard *s, struct roce_principal *p);
/* Once in each turn while s->is_shared: those that had much long ago are not busy any more. */
void roce_flight_look(struct roce_shard *s);
/* The share is over: one at most is busy, and nothing is held back. */
void roce_flight_share_end(struct roce_shard *s);
/* What p may have under way, and how much of that is left. */
uint32_t roce_flight_share(const struct roce_shard *s, const struct roce_principal *p);
uint32_t roce_flight_room(const struct roce_shard *s, const struct roce_principal *p);

static inline bool
roce_flight_is_stuck(const struct roce_qp *qp)
{
	return (qp->tx_bits & (ROCE_TXB_LATE | ROCE_TXB_RNR_WAIT)) || qp->state == ROCE_QPS_ERR;
}

/* So many packets of qp are under way now. */
static inline void
roce_flight_set(struct roce_shard *s, struct roce_qp *qp, uint32_t n)
{
	struct roce_principal *p = roce_cq_principal(qp->send_cq);

	p->flight += n - qp->flight;
	qp->flight = n;
	if (p->flight >= s->window_quarter &&
		base_unlikely(s->now_ns - p->busy_ns > ROCE_BUSY_NS / 4))
		roce_flight_busy(s, p);
}

/* Packets of qp have left, or were answered. */
static inline void
roce_flight_count(struct roce_shard *s, struct roce_qp *qp)
{
	roce_flight_set(s, qp,
		base_unlikely(roce_flight_is_stuck(qp)) ? 0
							: roce_psn_from(qp->tx_psn, qp->una_psn));
}

#endif
