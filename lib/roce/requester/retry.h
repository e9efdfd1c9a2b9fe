/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long the requester waits for a response, and how often it tries (W-TMR).
 *
 * The two are kept apart. How long follows the round trips that were measured, so that a loss is
 * repaired in a few of them. How often is what verbs promise: the retry count, where a try counts
 * for one only when the Local Ack Timeout has passed. So a short timer repeats packets early, and
 * ends no queue pair early.
 */
#ifndef ROCE_RETRY_H
#define ROCE_RETRY_H

#include "roce/qp/qp.h"
#include "roce/shard/shard.h"

/* How long to wait for a response before packets are sent again, in ns. */
uint64_t roce_retry_wait_ns(const struct roce_shard *s, const struct roce_qp *qp);
/* The next wait is twice as long, up to the Local Ack Timeout (W-TMR-07). */
void roce_retry_double(const struct roce_shard *s, struct roce_qp *qp);
/* The round trip that began with roce_rtt_begin() is over. */
void roce_rtt_end(struct roce_shard *s, struct roce_qp *qp);
/* The oldest packets are acknowledged, after a timeout or after a retry was charged. */
void roce_retry_progress(struct roce_qp *qp);
/* Take one retry from the budget, because of a NAK or a timeout; false: it is used up. */
bool roce_retry_charge(struct roce_shard *s, struct roce_qp *qp, bool nak);

/* The packet with psn leaves: its answer tells how long a round trip takes. It must be the only
 * packet under way that this answer can be for. */
static inline void
roce_rtt_begin(const struct roce_shard *s, struct roce_qp *qp, uint32_t psn)
{
	qp->tx_bits |= ROCE_TXB_RTT;
	qp->rtt_psn = psn;
	qp->rtt_ns = s->now_ns;
}

/* The peer has answered: all retries are left again (W-COMP-13). None is charged within the Local
 * Ack Timeout: progress says so itself, and else the timer begins anew with what is sent next. */
static inline void
roce_retry_renew(struct roce_qp *qp)
{
	roce_tx_clear(qp, ROCE_TXB_CHARGED);
	qp->retry_left = qp->retry;
}

#endif
