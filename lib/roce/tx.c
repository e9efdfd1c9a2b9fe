/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What leaves next. CNPs come first, as nothing is more urgent. Then acknowledgements that stand
 * alone: they are short, and a peer's window waits for them. Then queue pairs take turns, each with
 * READ responses before its own requests. But one request may go before the responses of a turn: a
 * queue pair that its peer reads from without a pause must be able to send, if only to invalidate
 * the window that the peer reads through (R-INV-02).
 */
#include "roce/tx.h"

#include "base/compiler.h"
#include "base/list.h"
#include "roce/cc/cc.h"
#include "roce/cc/pace.h"
#include "roce/qp/qp.h"
#include "roce/queue/doorbell.h"
#include "roce/requester/requester.h"
#include "roce/responder/response.h"
#include "roce/shard/pool.h"
#include "roce/shard/shard.h"
#include "roce/ud/datagram.h"

static unsigned
qp_tx(struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slots, unsigned n)
{
	unsigned done = 0;

	while (done < n && roce_resp_pending(qp) && roce_resp_tx(s, qp, &slots[done]))
		done++;
	return done + roce_req_tx(s, qp, slots + done, n - done);
}

static unsigned
tx_acks(struct roce_shard *s, struct roce_tx_slot *slots, unsigned n)
{
	unsigned done = 0;
	struct base_link *l;

	while (done < n && (l = base_list_first(&s->acks_owed)) != NULL) {
		base_list_remove(l);
		if (roce_resp_tx(s, base_container(l, struct roce_qp, ack_link), &slots[done]))
			done++;
	}
	return done;
}

static unsigned
tx_turn(struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slots, unsigned n)
{
	unsigned quantum = n < ROCE_TX_QUANTUM ? n : ROCE_TX_QUANTUM, done;

	if (base_unlikely(qp->state > ROCE_QPS_ERR))
		return roce_ud_turn(s, qp, slots, n);
	if (base_unlikely(qp->rx_bits & ROCE_RXB_PACED))
		return roce_pace_turn(s, qp, slots, quantum);
	done = qp->rd_pending > 0 ? roce_req_tx(s, qp, slots, 1) : 0;
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
	return done + tx_acks(s, slots + done, n - done);
}

/* The queue pair whose turn it is: those whose clients rang and those that have more to send
 * alternate. */
static struct roce_qp *
tx_next(struct roce_shard *s)
{
	struct base_link *l = base_list_first(&s->senders);

	if (!roce_doorbells_empty(&s->doorbells) &&
		(l == NULL || (s->doorbells.others = !s->doorbells.others))) {
		struct roce_qp *qp = roce_doorbell_next(s);

		if (qp != NULL)
			return qp;
	}
	if (l == NULL)
		return NULL;
	base_list_remove(l);
	return base_container(l, struct roce_qp, tx_link);
}

/* always_inline, across files: the daemon has one place that calls it, in every turn. */
__attribute__((always_inline)) inline unsigned
roce_shard_tx(struct roce_shard *s, uint64_t now_ns, struct roce_tx_slot *slots, unsigned n)
{
	unsigned done;
	struct roce_qp *qp;

	s->now_ns = now_ns;
	if (base_unlikely(!base_list_empty(&s->starved)) && roce_wqe_for_send(s))
		base_list_splice(&s->senders, &s->starved);
	if (base_unlikely(s->pace.map != 0))
		roce_pace_release(s);
	done = roce_shard_tx_acks(s, now_ns, slots, n);
	while (done < n && (qp = tx_next(s)) != NULL)
		done += tx_turn(s, qp, slots + done, n - done);
	return done;
}
