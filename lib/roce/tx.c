/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What leaves next. CNPs come first, as nothing is more urgent. Then acknowledgements that stand
 * alone: they are short, and a peer's window waits for them; but not in all frames, if others wait.
 * Then principals take turns, and their clients, and the queue pairs of each client (turns.h), each
 * of these with READ responses before its own requests. But one request may go before the responses
 * of a turn: a queue pair that its peer reads from without a pause must be able to send, if only to
 * invalidate the window that the peer reads through (R-INV-02).
 */
#include "roce/tx.h"

#include "base/compiler.h"
#include "base/list.h"
#include "roce/cc/cc.h"
#include "roce/cc/pace.h"
#include "roce/held.h"
#include "roce/qp/qp.h"
#include "roce/queue/doorbell.h"
#include "roce/requester/requester.h"
#include "roce/requester/unreliable.h"
#include "roce/responder/farewell.h"
#include "roce/responder/response.h"
#include "roce/shard/shard.h"
#include "roce/shard/turns.h"
#include "roce/starved.h"
#include "roce/ud/datagram.h"

#define LOOKS 128u /* queue pairs that one call looks at: many may have nothing to send */

BASE_INLINE unsigned
tx_responses(struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slots, unsigned n)
{
	unsigned done = 0;

	while (done < n && roce_resp_pending(qp) && roce_resp_tx(s, qp, &slots[done]))
		done++;
	return done;
}

BASE_INLINE unsigned
qp_tx(struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slots, unsigned n)
{
	unsigned done = tx_responses(s, qp, slots, n);

	return done + roce_req_tx(s, qp, slots + done, n - done);
}

static unsigned
tx_acks(struct roce_shard *s, struct roce_tx_slot *slots, unsigned n)
{
	unsigned done = 0;
	struct base_link *l;

	while (done < n && (l = base_list_first(&s->acks_owed)) != NULL) {
		if (base_unlikely(done == n - n / 2) && roce_turns_pending(s))
			break;
		base_list_remove(l);
		if (roce_resp_tx(s, base_container(l, struct roce_qp, ack_link), &slots[done]))
			done++;
	}
	return done;
}

/* Before the responses; in turns of one frame every other time. */
static bool
request_goes_first(struct roce_qp *qp, unsigned quantum)
{
	if (quantum > 1)
		return true;
	qp->tx_bits ^= ROCE_TXB_ANSWER;
	return qp->tx_bits & ROCE_TXB_ANSWER;
}

/* Of a queue pair that nobody answers. */
static unsigned
tx_unanswered(struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slots, unsigned n)
{
	if (!roce_qp_is_uc(qp))
		return roce_ud_turn(s, qp, slots, n);
	if (n > ROCE_TX_QUANTUM)
		n = ROCE_TX_QUANTUM;
	if (qp->rx_bits & ROCE_RXB_PACED)
		return roce_pace_turn(s, qp, slots, n);
	return roce_uc_tx(s, qp, slots, n);
}

BASE_INLINE unsigned
tx_turn(struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slots, unsigned n)
{
	unsigned quantum = n < ROCE_TX_QUANTUM ? n : ROCE_TX_QUANTUM, done;

	if (base_unlikely(qp->state > ROCE_QPS_ERR))
		return tx_unanswered(s, qp, slots, n);
	if (base_unlikely(qp->rx_bits & ROCE_RXB_PACED))
		return roce_pace_turn(s, qp, slots, quantum);
	done = qp->rd_pending > 0 && request_goes_first(qp, quantum) ? roce_req_tx(s, qp, slots, 1)
								     : 0;
	done += qp_tx(s, qp, slots + done, quantum - done);
	if (done == quantum) /* may have more: behind the others */
		roce_tx_want(s, qp);
	return done;
}

unsigned
roce_shard_tx_acks(struct roce_shard *s, uint64_t now_ns, struct roce_tx_slot *slots, unsigned n)
{
	unsigned done;

	s->now_ns = now_ns;
	done = base_list_empty(&s->cnps) ? 0 : roce_cc_tx(s, slots, n);
	if (base_unlikely(s->farewells > 0))
		done += roce_farewell_tx(s, slots + done, n - done);
	return done + tx_acks(s, slots + done, n - done);
}

/* The queue pair of c whose turn it is: those whose client rang and those that have more to send
 * alternate. */
BASE_INLINE struct roce_qp *
client_next(struct roce_shard *s, struct roce_client *c)
{
	struct base_link *l = base_list_first(&c->senders);

	if (!roce_doorbells_empty(&c->doorbells) &&
		(l == NULL || (c->doorbells.others = !c->doorbells.others))) {
		struct roce_qp *qp = roce_doorbell_next(s, c);

		if (qp != NULL)
			return qp;
	}
	if (l == NULL)
		return NULL;
	base_list_remove(l);
	return base_container(l, struct roce_qp, tx_link);
}

/* So many frames of full size of qp are within the credit of its client; one always is. */
static unsigned
frames_within(const struct roce_client *c, const struct roce_qp *qp, unsigned n)
{
	unsigned credit =
		1 + roce_turns_left(c) / (roce_qp_mtu(qp) + (unsigned)ROCE_PRICE_OF_FRAME);

	return credit < n ? credit : n;
}

static uint32_t
price_of(const struct roce_tx_slot *slots, unsigned n)
{
	uint32_t bytes = ROCE_PRICE_OF_LOOK;

	for (unsigned i = 0; i < n; i++)
		bytes += slots[i].len + ROCE_PRICE_OF_FRAME;
	return bytes;
}

/* Its principal has as much under way as it may have. Responses don't wait: those that wait for
 * them may be what fills the share. And if nothing that is under way asks for an acknowledgement,
 * one packet more does, as nothing else would make room. */
static unsigned
tx_held(struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slots, unsigned n)
{
	unsigned done = tx_responses(s, qp, slots, n);

	if (done < n && qp->unacked > 0) {
		qp->tx_bits |= ROCE_TXB_BURST;
		done += roce_req_tx(s, qp, &slots[done], 1);
	}
	if (done == n)
		roce_tx_want(s, qp);
	else if (qp->state != ROCE_QPS_ERR)
		roce_held_join(s, qp);
	return done;
}

/* While principals share what may be under way. Datagrams, which nobody acknowledges, are never
 * under way, and a queue pair that is paced is held back already. */
static unsigned
tx_shared_turn(struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slots, unsigned n)
{
	uint32_t room;

	if (!s->is_shared || qp->state > ROCE_QPS_ERR || (qp->rx_bits & ROCE_RXB_PACED))
		return tx_turn(s, qp, slots, n);
	room = roce_held_room(s, qp);
	if (room == 0)
		return tx_held(s, qp, slots, n < ROCE_TX_QUANTUM ? n : ROCE_TX_QUANTUM);
	return tx_turn(s, qp, slots, n < room ? n : room);
}

/* Several clients have something to send. */
__attribute__((noinline, cold)) static unsigned
tx_in_turns(struct roce_shard *s, struct roce_tx_slot *slots, unsigned n)
{
	unsigned done = 0, looks = LOOKS, sent;
	struct roce_client *c;
	struct roce_qp *qp;

	while (done < n && looks-- > 0 && (c = roce_turns_next(s)) != NULL) {
		qp = client_next(s, c);
		if (qp == NULL) {
			roce_turns_leave(s, c);
			continue;
		}
		sent = tx_shared_turn(s, qp, slots + done, frames_within(c, qp, n - done));
		roce_turns_charge(c, price_of(slots + done, sent));
		done += sent;
	}
	return done;
}

/* always_inline, across files: the daemon has one place that calls it, in every turn. */
__attribute__((always_inline)) inline unsigned
roce_shard_tx(struct roce_shard *s, uint64_t now_ns, struct roce_tx_slot *slots, unsigned n)
{
	unsigned done, looks = LOOKS;
	struct roce_client *c;
	struct roce_qp *qp;

	s->now_ns = now_ns;
	if (base_unlikely(!base_list_empty(&s->starving)))
		roce_starved_wake(s);
	if (base_unlikely(s->is_shared))
		roce_held_look(s);
	if (base_unlikely(s->pace.map != 0))
		roce_pace_release(s);
	done = roce_shard_tx_acks(s, now_ns, slots, n);
	c = roce_turns_alone(s);
	if (base_unlikely(c == NULL))
		return done + tx_in_turns(s, slots + done, n - done);
	while (done < n && looks-- > 0 && (qp = client_next(s, c)) != NULL)
		done += tx_turn(s, qp, slots + done, n - done);
	return done;
}
