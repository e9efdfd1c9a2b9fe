/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue pairs that send at a rate. Every packet, request or READ response (W-CC-07), moves the time
 * when the next one is due. Before that time a queue pair waits in a slot of a small wheel, by the
 * same link (tx_link) that would put it among the senders: roce_tx_want() need not know.
 * Acknowledgements that stand alone don't wait, nor do CNPs.
 *
 * A queue pair that sends late may catch up a little, as lcores are not punctual. The last packet
 * before a pause asks for an acknowledgement, so that no timer expires because of the pause.
 */
#include "roce/cc/pace.h"

#include "base/list.h"
#include "roce/cc/cc.h"
#include "roce/cc/rate.h"
#include "roce/qp/qp.h"
#include "roce/requester/requester.h"
#include "roce/requester/unreliable.h"
#include "roce/responder/response.h"
#include "roce/shard/shard.h"
#include "roce/tx.h"

static struct roce_cc *
cc_of(struct roce_shard *s, const struct roce_qp *qp)
{
	return &s->ccs[qp - s->qps];
}

/* ---- the wheel ------------------------------------------------------------------------------ */

/* The first tick whose slot may have queue pairs; the map is not empty. */
static uint64_t
pace_first_tick(const struct roce_pace *p)
{
	uint64_t from = p->tick + 1;
	unsigned turn = from % ROCE_PACE_SLOTS;
	uint64_t ahead = p->map >> turn | p->map << (-turn % ROCE_PACE_SLOTS);

	return from + (uint64_t)__builtin_ctzll(ahead);
}

uint64_t
roce_pace_next(const struct roce_pace *p)
{
	return p->map == 0 ? UINT64_MAX : pace_first_tick(p) << ROCE_PACE_SHIFT;
}

static void
slot_release(struct roce_shard *s, struct base_link *slot)
{
	struct base_link *l;

	while ((l = base_list_first(slot)) != NULL) {
		base_list_remove(l);
		roce_senders_join(s, base_container(l, struct roce_qp, tx_link));
	}
}

void
roce_pace_release(struct roce_shard *s)
{
	struct roce_pace *p = &s->pace;
	uint64_t tick = s->now_ns >> ROCE_PACE_SHIFT;

	while (p->map != 0) {
		uint64_t first = pace_first_tick(p);

		if (first > tick)
			break;
		slot_release(s, &p->slot[first % ROCE_PACE_SLOTS]);
		p->map &= ~(UINT64_C(1) << first % ROCE_PACE_SLOTS);
	}
}

/* until_ns is in the future. Beyond the horizon of the wheel it is looked at in each turn of that,
 * and waits again. */
static void
qp_wait_until(struct roce_shard *s, struct roce_qp *qp, uint64_t until_ns)
{
	struct roce_pace *p = &s->pace;
	uint64_t tick = (until_ns >> ROCE_PACE_SHIFT) + 1;

	p->tick = s->now_ns >> ROCE_PACE_SHIFT; /* all slots up to that are released */
	p->map |= UINT64_C(1) << tick % ROCE_PACE_SLOTS;
	base_list_remove(&qp->tx_link); /* that may be among the starved */
	base_list_append(&p->slot[tick % ROCE_PACE_SLOTS], &qp->tx_link);
	if (qp->ack_owed != ROCE_OWED_NONE && qp->rd_pending == 0)
		base_list_join(&s->acks_owed, &qp->ack_link);
}

/* ---- a turn --------------------------------------------------------------------------------- */

/* How many packets of full size are due, up to n. */
static unsigned
qp_packets_due(struct roce_shard *s, const struct roce_qp *qp, struct roce_cc *cc, unsigned n)
{
	uint64_t late_ns, packets;

	if (cc->next_ns > s->now_ns)
		return 0;
	late_ns = s->now_ns - cc->next_ns;
	if (late_ns > ROCE_PACE_CATCH_UP_NS)
		late_ns = ROCE_PACE_CATCH_UP_NS;
	cc->next_ns = s->now_ns - late_ns;
	packets = 1 + late_ns * cc->rate.now / 1000000 / roce_qp_mtu(qp);
	return (unsigned)(packets < n ? packets : n);
}

/* Requests and responses alternate in being first: one packet may be all that is due. */
static bool
qp_send_paced(
	struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slot, bool request_first)
{
	if (roce_qp_is_uc(qp))
		return roce_uc_tx(s, qp, slot, 1) == 1;
	if (request_first && roce_req_tx(s, qp, slot, 1) == 1)
		return true;
	if (roce_resp_tx(s, qp, slot))
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
	quantum = qp_packets_due(s, qp, cc, n);
	if (quantum == 0) {
		qp_wait_until(s, qp, cc->next_ns);
		return 0;
	}
	request_first = !cc->responses_first;
	cc->responses_first = request_first;
	for (; done < quantum; done++) {
		if (done + 1 == quantum)
			qp->tx_bits |= ROCE_TXB_BURST; /* it asks for an acknowledgement */
		if (!qp_send_paced(s, qp, &slots[done], request_first && done == 0))
			break;
		bytes += slots[done].len;
	}
	if (!(qp->rx_bits & ROCE_RXB_PACED)) /* it went to ERR */
		return done;
	cc->next_ns += roce_rate_sent(&cc->rate, bytes);
	if (done == quantum && cc->next_ns > s->now_ns)
		qp_wait_until(s, qp, cc->next_ns);
	else if (done == quantum) /* behind the others */
		roce_tx_want(s, qp);
	return done;
}
