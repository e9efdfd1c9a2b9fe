/* SPDX-License-Identifier: BSD-3-Clause */
#include "roce/requester/retry.h"

static uint64_t
ack_timeout_ns(const struct roce_qp *qp)
{
	return UINT64_C(4096) << qp->timeout_code;
}

/* Four round trips, at least the shard's floor, doubled with every timeout (W-TMR-07). */
static uint64_t
retry_uncapped_ns(const struct roce_shard *s, const struct roce_qp *qp)
{
	uint64_t ns = UINT64_C(4) * qp->srtt_ns;

	if (ns < s->cfg.rto_floor_ns)
		ns = s->cfg.rto_floor_ns;
	return ns << qp->backoff;
}

uint64_t
roce_retry_wait_ns(const struct roce_shard *s, const struct roce_qp *qp)
{
	uint64_t ns = retry_uncapped_ns(s, qp), cap = ack_timeout_ns(qp);

	if (cap < s->cfg.rto_floor_ns)
		cap = s->cfg.rto_floor_ns;
	return ns < cap ? ns : cap;
}

void
roce_retry_double(const struct roce_shard *s, struct roce_qp *qp)
{
	if (retry_uncapped_ns(s, qp) < ack_timeout_ns(qp))
		qp->backoff++;
}

/*
 * SRTT is that of RFC 6298. A round trip that is far longer than those before leaves as much of the
 * doubling as four of its kind need.
 */
void
roce_rtt_end(struct roce_shard *s, struct roce_qp *qp)
{
	uint64_t rtt = s->now_ns - qp->rtt_ns;
	uint32_t sample = rtt < UINT32_MAX / 4 ? (uint32_t)rtt : UINT32_MAX / 4;

	roce_tx_clear(qp, ROCE_TXB_RTT | ROCE_TXB_LATE);
	qp->tx_bits |= ROCE_TXB_TIMED;
	if (qp->srtt_ns == 0)
		qp->srtt_ns = sample;
	else
		qp->srtt_ns = qp->srtt_ns - (qp->srtt_ns >> 3) + (sample >> 3);
	qp->backoff = 0;
	while (retry_uncapped_ns(s, qp) < UINT64_C(4) * sample)
		qp->backoff++;
}

/*
 * Progress after timeouts ends the doubling once. From then on what timeouts double stays so until
 * a round trip was measured, whatever is acknowledged before: on a path that has become longer than
 * the timer each packet is sent several times, none can be measured, and that would never end.
 */
void
roce_retry_progress(struct roce_qp *qp)
{
	const uint16_t both = ROCE_TXB_LATE | ROCE_TXB_TIMED;

	roce_retry_renew(qp);
	if ((qp->tx_bits & both) == both) {
		qp->backoff = 0;
		roce_tx_clear(qp, ROCE_TXB_TIMED);
	}
	roce_tx_clear(qp, ROCE_TXB_LATE);
}

/*
 * The timer is shorter than the Local Ack Timeout. So a timeout costs a retry only when the Local
 * Ack Timeout has passed since the peer's last answer or the last retry (W-TMR-03). A NAK costs one
 * at once, but only the first one without an answer in between: later ones are caused by packets
 * that were sent again early (W-TMR-05).
 */
bool
roce_retry_charge(struct roce_shard *s, struct roce_qp *qp, bool nak)
{
	bool at_once = nak && !(qp->tx_bits & ROCE_TXB_CHARGED);

	if (!at_once && s->now_ns - qp->charge_ns < ack_timeout_ns(qp))
		return true;
	if (qp->retry_left == 0) {
		s->count.retry_exceeded++;
		return false;
	}
	qp->retry_left--;
	qp->charge_ns = s->now_ns;
	qp->tx_bits |= ROCE_TXB_CHARGED;
	return true;
}
