/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue pairs that send at a rate. What they send, requests and READ responses alike (W-CC-07),
 * moves the time when their next packet is due; before that time they wait in a slot of a small
 * wheel by the very link by which they would be among the senders, so that whoever wants them to
 * send need not know. Acknowledgements that stand alone don't wait, nor do CNPs.
 *
 * A sender that comes late may catch up a little: lcores are not punctual. And before it falls
 * silent it asks for an answer, so that no timer runs out while it is ourselves who wait.
 */
#include "roce/cc/pace.h"

#include "base/list.h"
#include "roce/cc/cc.h"
#include "roce/cc/rate.h"
#include "roce/qp/qp.h"
#include "roce/requester/requester.h"
#include "roce/responder/response.h"
#include "roce/shard/shard.h"
#include "roce/tx.h"

#define CATCH_UP_NS 65536u

static struct roce_cc *
cc_of(struct roce_shard *s, const struct roce_qp *qp)
{
	return &s->ccs[qp - s->qps];
}

/* ---- the wheel ------------------------------------------------------------------------------ */

/* First tick of a slot that may have somebody; the map is not empty. */
static uint64_t
first_tick(const struct roce_pace *p)
{
	uint64_t from = p->tick + 1;
	unsigned turn = from % ROCE_PACE_SLOTS;
	uint64_t ahead = p->map >> turn | p->map << (-turn % ROCE_PACE_SLOTS);

	return from + (uint64_t)__builtin_ctzll(ahead);
}

uint64_t
roce_pace_next(const struct roce_pace *p)
{
	return p->map == 0 ? UINT64_MAX : first_tick(p) << ROCE_PACE_SHIFT;
}

void
roce_pace_release(struct roce_shard *s)
{
	struct roce_pace *p = &s->pace;
	uint64_t tick = s->now_ns >> ROCE_PACE_SHIFT;

	while (p->map != 0) {
		uint64_t first = first_tick(p);

		if (first > tick)
			break;
		base_list_splice(&s->senders, &p->slot[first % ROCE_PACE_SLOTS]);
		p->map &= ~(UINT64_C(1) << first % ROCE_PACE_SLOTS);
	}
	p->tick = tick;
}

/* Until then, which is not yet. Beyond the horizon: looked at again at its end. */
static void
wait(struct roce_shard *s, struct roce_qp *qp, uint64_t until_ns)
{
	struct roce_pace *p = &s->pace;
	uint64_t tick = (until_ns >> ROCE_PACE_SHIFT) + 1, last;

	if (p->map == 0)
		p->tick = s->now_ns >> ROCE_PACE_SHIFT;
	last = p->tick + ROCE_PACE_SLOTS - 1;
	if (tick > last)
		tick = last;
	p->map |= UINT64_C(1) << tick % ROCE_PACE_SLOTS;
	base_list_append(&p->slot[tick % ROCE_PACE_SLOTS], &qp->tx_link);
	if (qp->ack_owed != ROCE_OWED_NONE && qp->rd_pending == 0)
		base_list_join(&s->acks_owed, &qp->ack_link);
}

/* ---- a turn --------------------------------------------------------------------------------- */

/* How many packets of full size are due, up to n. */
static unsigned
due(struct roce_shard *s, const struct roce_qp *qp, struct roce_cc *cc, unsigned n)
{
	uint64_t packets;

	if (cc->next_ns > s->now_ns)
		return 0;
	if (s->now_ns - cc->next_ns > CATCH_UP_NS)
		cc->next_ns = s->now_ns - CATCH_UP_NS;
	packets = 1 + (s->now_ns - cc->next_ns) * cc->rate.now / 1000000 / roce_qp_mtu(qp);
	return packets < n ? (unsigned)packets : n;
}

/* Requests and responses take turns to be first: one of them may be all that is due. */
static bool
send_one(struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slot, bool request_first)
{
	if (request_first && roce_req_tx(s, qp, slot, 1) == 1)
		return true;
	if (roce_resp_pending(qp) && roce_resp_tx(s, qp, slot))
		return true;
	return !request_first && roce_req_tx(s, qp, slot, 1) == 1;
}

unsigned
roce_pace_turn(struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slots, unsigned n)
{
	struct roce_cc *cc = cc_of(s, qp);
	unsigned quantum, done = 0;
	uint64_t bytes = 0;
	bool request_first;

	if (!roce_rate_recover(&cc->rate, s->now_ns)) {
		qp->rx_bits &= (uint8_t)~ROCE_RXB_PACED;
		roce_tx_want(s, qp);
		return 0;
	}
	quantum = due(s, qp, cc, n);
	if (quantum == 0) {
		wait(s, qp, cc->next_ns);
		return 0;
	}
	request_first = !cc->responses_first;
	cc->responses_first = request_first;
	for (; done < quantum; done++) {
		if (done + 1 == quantum)
			qp->tx_bits |= ROCE_TXB_BURST; /* it asks for an answer */
		if (!send_one(s, qp, &slots[done], request_first && done == 0))
			break;
		bytes += slots[done].len;
	}
	if (!(qp->rx_bits & ROCE_RXB_PACED)) /* it has come to its end */
		return done;
	cc->next_ns += roce_rate_sent(&cc->rate, bytes);
	if (done == quantum && cc->next_ns > s->now_ns)
		wait(s, qp, cc->next_ns);
	else if (done == quantum) /* behind the others */
		roce_tx_want(s, qp);
	return done;
}
