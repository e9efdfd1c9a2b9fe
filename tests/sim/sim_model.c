/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What must come out: each completion is checked against the requests in the order
 * they were posted, and memory against its shadow.
 */
#include <string.h>

#include "sim.h"

#define FLUSH_TURNS_MAX 4u /* that a flush may take here, where queues are short */

const char *
sim_op_name(uint8_t op)
{
	static const char *const names[] = {[NDSH_OP_SEND] = "send",
		[NDSH_OP_SEND_INV] = "send-inv",
		[NDSH_OP_SEND_IMM] = "send-imm",
		[NDSH_OP_WRITE] = "write",
		[NDSH_OP_WRITE_IMM] = "write-imm",
		[NDSH_OP_READ] = "read",
		[NDSH_OP_CMP_SWAP] = "compare-swap",
		[NDSH_OP_FETCH_ADD] = "fetch-add",
		[NDSH_OP_BIND] = "bind",
		[NDSH_OP_INVALIDATE] = "invalidate",
		[NDSH_OP_FAST_REGISTER] = "fast-register"};

	return names[op];
}

bool
sim_is_lossy(const struct sim_world *w)
{
	const struct sim_profile *p = w->profile;

	return p->loss + p->corrupt + p->cut + p->outages > 0 || w->net.dropped > 0 ||
	       w->moved_macs;
}

/* With few retries, what only has to be sent again may be the end: what was lost, or dropped behind
 * a held atomic, or late by a mover's pause or by datagrams in front. */
bool
sim_may_give_up(const struct sim_conn *c)
{
	const struct sim_world *w = c->ep[0].w;

	return c->retry < 7 && (sim_is_lossy(w) || w->holds + w->stalls > 0 || w->n_uds > 0);
}

/* ---- statuses ---- */

/* What the planned error does to the request that carries it, seen by its sender. */
static bool
poison_status(const struct sim_ep *ep, uint8_t status)
{
	switch (ep->conn->poison) {
	case SIM_POISON_LOCAL_KEY:
		return status == NDSH_WC_LOC_PROT_ERR;
	case SIM_POISON_BIND:
		return status == NDSH_WC_BIND_ERR;
	case SIM_POISON_INVALIDATE:
		return status == NDSH_WC_LOC_QP_OP_ERR;
	case SIM_POISON_RECV_SMALL:
		if (sim_speaks(ep->peer, SIM_DIALECT_NAK_OPERATION))
			return status == NDSH_WC_REM_OP_ERR;
		return status == NDSH_WC_REM_INV_REQ_ERR;
	case SIM_POISON_QP_RIGHT:
		return status == NDSH_WC_REM_INV_REQ_ERR;
	default:
		return status == NDSH_WC_REM_ACCESS_ERR;
	}
}

/* May this request end with this status? checks R-CR-08 */
static bool
send_status_ok(struct sim_ep *ep, const struct sim_op *op, uint8_t status)
{
	const struct sim_conn *c = ep->conn;
	bool closing = c->state >= SIM_CONN_CLOSING || c->poison >= SIM_POISON_DEREGISTER;

	if (c->insider != NULL)
		return sim_insider_send_ok(ep, op, status);

	if (!c->dying)
		return status == NDSH_WC_SUCCESS;
	if (status == NDSH_WC_FLUSH_ERR)
		return ep->flushing || ep->errored || ep->page->dead || ep->spoiled[0].by != 0;
	/* One request fails; only READs in front of it may have been flushed before (W-COMP-05). */
	if (ep->send_error || (ep->send_failed && status == NDSH_WC_SUCCESS))
		return false;
	if (op->poisoned && poison_status(ep, status))
		return true;
	/* Not even a planned error may succeed, unless it is one of timing. */
	if (status == NDSH_WC_SUCCESS)
		return !op->poisoned && !sim_loss_must_fail(ep, op);
	if (sim_loss_fails(ep, op, status))
		return true;
	/* The peer is dead and silent, and its reason was lost or not for us. */
	if (status == NDSH_WC_RETRY_EXC_ERR)
		return sim_is_lossy(ep->w) || sim_may_give_up(c) ||
		       (!sim_dialect_refused(ep->peer) &&
			       (closing || ep->peer->errored || ep->peer->flushing));
	if (c->poison == SIM_POISON_DEREGISTER)
		return status == NDSH_WC_REM_ACCESS_ERR && op->remote_slot >= 0 && ep == c->villain;
	if (c->poison == SIM_POISON_CUT)
		return status == NDSH_WC_REM_ACCESS_ERR && op->window != NULL &&
		       op->window->mw == NULL && ep == c->villain;
	/* There is no receive, or no room for what the peer's mover is to move. */
	if (c->poison == SIM_POISON_RNR)
		return status == NDSH_WC_RNR_RETRY_EXC_ERR &&
		       (sim_is_message(op) || (op->remote_slot >= 0 && op->op != NDSH_OP_READ &&
						      ep->peer->target.moved));
	return false;
}

static bool
recv_status_ok(const struct sim_ep *ep, const struct sim_recv *r, uint8_t status)
{
	const struct sim_conn *c = ep->conn;

	if (c->insider != NULL)
		return sim_insider_recv_ok(ep, status);
	if (status == NDSH_WC_FLUSH_ERR) /* of shared ones it has one at most (R-FL-08) */
		return (c->dying || ep->flushing) &&
		       !(ep->srq != NULL && ep->recv_failed && ep->spoiled[1].by == 0);
	if (!c->dying || ep->recv_failed)
		return status == NDSH_WC_SUCCESS && !ep->recv_failed;
	if (status == NDSH_WC_LOC_PROT_ERR)
		return sim_loss_recv_fails(ep, r);
	/* Its key died between its first packet and the one that takes a receive. */
	if (ep->peer == c->villain && status == NDSH_WC_REM_ACCESS_ERR &&
		(c->poison == SIM_POISON_DEREGISTER || c->poison == SIM_POISON_CUT))
		return ep->msgs_in < ep->peer->msgs &&
		       ep->peer->ops[ep->peer->msg_op[ep->msgs_in]].op == NDSH_OP_WRITE_IMM;
	if (ep->peer == c->villain &&
		((c->poison == SIM_POISON_RECV_SMALL && status == NDSH_WC_LOC_LEN_ERR) ||
			(c->poison == SIM_POISON_SEND_INV && status == NDSH_WC_REM_INV_REQ_ERR)))
		return ep->msgs_in < ep->peer->msgs &&
		       ep->peer->ops[ep->peer->msg_op[ep->msgs_in]].poisoned;
	return status == NDSH_WC_SUCCESS;
}

/* ---- send side ---- */

static void
release(struct sim_op *op, struct sim_ep *ep, bool ok)
{
	struct sim_arena *t = &ep->peer->target;

	op->done = true;
	if (op->local != NULL) {
		op->local->users[op->local_slot]--;
		if (!ok && ep->conn->insider == NULL)
			op->local->undefined[op->local_slot] = true;
	}
	if (op->remote_slot < 0)
		return;
	if (op->window != NULL) {
		op->window->users--;
		op->window->readers -= op->op == NDSH_OP_READ;
	}
	t->users[op->remote_slot]--;
	t->readers[op->remote_slot] -= op->op == NDSH_OP_READ;
	if (!ok && (sim_is_write(op) || sim_is_atomic(op)))
		t->undefined[op->remote_slot] = true;
}

/*
 * All bytes must be where they belong when the requester hears of success; checks R-ORD-09[1,2],
 * W-RESP-14[1].
 */
static void
check_effect(struct sim_ep *ep, struct sim_op *op)
{
	const struct sim_arena *t = &ep->peer->target;
	uint8_t *got;

	if (sim_is_message(op))
		ep->msgs_ok = op->msg + 1;
	if (sim_is_message(op) && !sim_is_write(op))
		return;
	if (op->op == NDSH_OP_BIND || op->op == NDSH_OP_INVALIDATE ||
		op->op == NDSH_OP_FAST_REGISTER) {
		sim_window_done(ep, op);
		return;
	}
	if (op->op == NDSH_OP_READ || sim_is_atomic(op)) {
		got = sim_alloc(ep->w, op->bytes + 1);
		sim_gather(op->local, op->local->mem, op->sge, op->nsge, got, op->bytes);
		sim_check(ep->w, memcmp(got, op->data, op->bytes) == 0,
			"conn %u%s: request %u: %s of %u bytes brought wrong data",
			ep->conn->number, ep->name, (uint32_t)op->context, sim_op_name(op->op),
			op->bytes);
		sim_scatter(op->local, op->local->shadow, op->sge, op->nsge, op->data, op->bytes);
		sim_sink_done(ep, op);
		return;
	}
	if (t->users[op->remote_slot] > 1 || t->undefined[op->remote_slot])
		return; /* another request may have written there meanwhile */
	sim_check(ep->w, memcmp(t->mem + op->remote_off, op->data, op->bytes) == 0,
		"conn %u%s: request %u: WRITE of %u bytes completed, but they are not there",
		ep->conn->number, ep->name, (uint32_t)op->context, op->bytes);
}

static void
finish(struct sim_ep *ep, struct sim_op *op, uint8_t status)
{
	op->status = status;
	if (ep->conn->insider != NULL)
		sim_insider_fetched(ep, op);
	else if (status == NDSH_WC_SUCCESS)
		check_effect(ep, op);
	if (status != NDSH_WC_SUCCESS)
		ep->send_failed = true;
	if (status != NDSH_WC_SUCCESS && status != NDSH_WC_FLUSH_ERR)
		ep->send_error = true;
	release(op, ep, status == NDSH_WC_SUCCESS);
	ep->head++;
	sim_progress(ep->w);
}

/* checks R-ORD-01[1], R-ORD-03[1,3], R-ORD-06, R-RW-01[1] */
static void
send_completion(struct sim_ep *ep, const struct ndsh_cqe *e)
{
	struct sim_world *w = ep->w;
	unsigned number = ep->conn->number;
	struct sim_op *op;
	uint32_t bytes;

	/* Silent requests in front of it succeeded without an entry. */
	for (;; finish(ep, op, sim_loss_silent(ep))) {
		sim_check(w, ep->head < ep->posted, "conn %u%s: completion of nothing, context %lx",
			number, ep->name, (unsigned long)e->context);
		op = &ep->ops[ep->head];
		if (op->context == e->context)
			break;
		sim_check(w,
			(op->flags & NDSH_WRF_SILENT) && !op->poisoned &&
				(!ep->send_failed || sim_loss_silent(ep) != NDSH_WC_SUCCESS),
			"conn %u%s: completion of request %u, but %u is first", number, ep->name,
			(uint32_t)e->context, (uint32_t)op->context);
	}
	sim_check(w, send_status_ok(ep, op, e->status),
		"conn %u%s: request %u (%s, %u bytes%s): status %u, syndrome %u", number, ep->name,
		(uint32_t)op->context, sim_op_name(op->op), op->bytes,
		op->poisoned ? ", poisoned" : "", e->status, e->syndrome);
	sim_check(w, e->status != NDSH_WC_SUCCESS || !(op->flags & NDSH_WRF_SILENT),
		"conn %u%s: silent request %u completed", number, ep->name, (uint32_t)op->context);
	bytes = e->status == NDSH_WC_SUCCESS ? op->bytes : 0;
	sim_check(w, e->op == op->op && e->bytes == bytes && e->slot_count == ep->head + 1,
		"conn %u%s: request %u: op %u, %u bytes, slot count %u", number, ep->name,
		(uint32_t)op->context, e->op, e->bytes, e->slot_count);
	finish(ep, op, e->status);
}

/* ---- receive side ---- */

/* Are its bytes there? A send's are in the receive, which a write leaves alone. */
static bool
arrived(struct sim_ep *ep, const struct sim_recv *r, const struct sim_op *op)
{
	const struct sim_arena *t = &ep->target;
	struct sim_arena *in = sim_inbox(ep);
	uint8_t *got;

	if (sim_is_write(op)) /* no other write to that place is in flight */
		return op->done || t->users[op->remote_slot] > 1 || t->undefined[op->remote_slot] ||
		       memcmp(t->mem + op->remote_off, op->data, op->bytes) == 0;
	got = sim_alloc(ep->w, op->bytes + 1);
	sim_gather(in, in->mem, r->sge, r->nsge, got, op->bytes);
	sim_scatter(in, in->shadow, r->sge, r->nsge, op->data, op->bytes);
	return memcmp(got, op->data, op->bytes) == 0;
}

/* checks R-SR-02[2], W-REQ-01[1], W-RESP-15, W-RESP-16 */
static void
check_message(struct sim_ep *ep, const struct sim_recv *r, const struct ndsh_cqe *e)
{
	struct sim_world *w = ep->w;
	const struct sim_op *op;

	sim_check(w, ep->msgs_in < ep->peer->msgs, "conn %u%s: message %u was never sent",
		ep->conn->number, ep->name, ep->msgs_in);
	op = &ep->peer->ops[ep->peer->msg_op[ep->msgs_in]];
	sim_check(w, !op->poisoned && e->bytes == op->bytes,
		"conn %u%s: message %u has %u bytes, not %u", ep->conn->number, ep->name,
		ep->msgs_in, e->bytes, op->bytes);
	sim_check(w, !(e->flags & NDSH_CQEF_SOLICITED) == !(op->flags & NDSH_WRF_SOLICIT),
		"conn %u%s: message %u: wrong solicited flag", ep->conn->number, ep->name,
		ep->msgs_in);
	sim_check(w,
		!(e->flags & NDSH_CQEF_IMM) ==
				(op->op != NDSH_OP_SEND_IMM && op->op != NDSH_OP_WRITE_IMM) &&
			(!(e->flags & NDSH_CQEF_IMM) || e->data == op->imm) &&
			!(e->flags & NDSH_CQEF_WRITE) == !sim_is_write(op),
		"conn %u%s: message %u: wrong immediate", ep->conn->number, ep->name, ep->msgs_in);
	sim_check(w, arrived(ep, r, op), "conn %u%s: message %u has wrong bytes", ep->conn->number,
		ep->name, ep->msgs_in);
	sim_window_heard(ep->peer, ep->peer->msg_op[ep->msgs_in]);
	sim_window_invalidated(ep, op, e);
	ep->msgs_in++;
}

/* The receive of its own that completes. checks R-ORD-01[2], R-SR-02[1] */
static struct sim_recv *
own_receive(struct sim_ep *ep, const struct ndsh_cqe *e)
{
	struct sim_recv *r = &ep->recvs[ep->recv_head % SIM_RECVS_MAX];

	sim_check(ep->w, ep->recv_head < ep->recv_posted && e->context == r->context,
		"conn %u%s: receive %u completed, %u is first of %u", ep->conn->number, ep->name,
		(uint32_t)e->context, ep->recv_head + 1, ep->recv_posted);
	return r;
}

static void
recv_completion(struct sim_ep *ep, const struct ndsh_cqe *e)
{
	struct sim_world *w = ep->w;
	struct sim_arena *in = sim_inbox(ep);
	struct sim_recv *r =
		ep->srq != NULL ? sim_srq_take(ep->srq, &ep->taker, "conn", ep->conn->number, e)
				: own_receive(ep, e);

	sim_check(w, recv_status_ok(ep, r, e->status),
		"conn %u%s: receive %u: status %u, syndrome %u", ep->conn->number, ep->name,
		(uint32_t)e->context, e->status, e->syndrome);
	ep->recv_head++;
	sim_check(w, e->slot_count == ep->recv_head, "conn %u%s: receive: slot count %u, not %u",
		ep->conn->number, ep->name, e->slot_count, ep->recv_head);
	in->users[r->slot]--;
	if (ep->conn->insider != NULL) {
		sim_insider_received(ep, r, e);
		ep->recv_failed |= e->status != NDSH_WC_SUCCESS;
	} else if (e->status == NDSH_WC_SUCCESS) {
		check_message(ep, r, e);
	} else {
		ep->recv_failed = true;
		in->undefined[r->slot] = true;
	}
	sim_progress(w);
}

/* ---- entry points ---- */

void
sim_model_completion(struct sim_client *c, const struct sim_cq *cq, const struct ndsh_cqe *e)
{
	struct sim_world *w = c->w;
	struct sim_ep *ep;
	bool recv = e->op == NDSH_OP_RECV;

	w->completions++;
	sim_hash(w, e->context ^ (uint64_t)e->status << 56 ^ e->bytes);
	if (e->qp >= SIM_UD_HANDLES) {
		sim_ud_completion(c, e->qp - SIM_UD_HANDLES, cq, e);
		return;
	}
	sim_check(w, e->qp < c->n_eps, "completion of an unknown queue pair %u", e->qp);
	ep = c->eps[e->qp];
	sim_note(w, "conn %u%s: %s %u: status %u, %u bytes", ep->conn->number, ep->name,
		recv ? "receive" : "request", (uint32_t)e->context, e->status, e->bytes);
	sim_check(w, cq == (recv ? ep->recv_cq : ep->send_cq), "completion in the wrong queue");
	if (recv)
		recv_completion(ep, e);
	else
		send_completion(ep, e);
}

/* Does it have a queue pair that may still have requests to be cancelled? */
static bool
may_be_flushing(const struct sim_client *c, const struct sim_cq *cq)
{
	for (unsigned i = 0; i < c->n_eps; i++) {
		const struct sim_ep *ep = c->eps[i];

		if (ep != NULL && ep->qp != NULL && ep->page->dead &&
			(ep->send_cq == cq || ep->recv_cq == cq))
			return true;
	}
	for (unsigned i = 0; i < c->n_uds; i++)
		if (c->uds[i]->page->dead && (c->uds[i]->send_cq == cq || c->uds[i]->recv_cq == cq))
			return true;
	return false;
}

/* After a turn: a waiter for ANY with an entry to take has lost a wake-up; checks R-CQ-02,
 * R-CQ-12. Only a flush may hold it back, until all is there (R-CQ-17), and a limit. */
void
sim_model_wakeups(struct sim_client *c)
{
	for (unsigned i = 0; i < SIM_CQS; i++) {
		struct sim_cq *cq = &c->cqs[i];
		uint64_t produced = cq->reader.page->produced;

		if (cq->armed == NDSH_ARM_SOLICITED)
			produced = cq->reader.page->solicited;
		if (cq->armed == NDSH_ARM_NONE || !cq->waiting || produced <= cq->reader.taken) {
			cq->late_turns = 0;
			cq->owed_ns = 0;
			continue;
		}
		if (!sim_wakeups_late(cq))
			continue;
		sim_check(c->w, may_be_flushing(c, cq) && ++cq->late_turns <= FLUSH_TURNS_MAX,
			"lost wake-up: armed %u, taken %lu, produced %lu", cq->armed,
			(unsigned long)cq->reader.taken, (unsigned long)produced);
	}
}

/* Nothing in flight in either queue. */
bool
sim_ep_idle(const struct sim_ep *ep)
{
	unsigned i;

	if (ep->qp == NULL)
		return true;
	if (ep->own_cq.cq != NULL) /* its completions are not taken */
		return __atomic_load_n(&ep->page->sq_done, __ATOMIC_ACQUIRE) == ep->posted;
	for (i = ep->head; i < ep->posted; i++) /* silent ones at the end: only the slots tell */
		if (!(ep->ops[i].flags & NDSH_WRF_SILENT))
			return false;
	return __atomic_load_n(&ep->page->sq_done, __ATOMIC_ACQUIRE) == ep->posted;
}

bool
sim_recvs_done(const struct sim_ep *ep)
{
	if (ep->srq != NULL)
		return ep->taker.last_wqe && ep->recv_head == ep->taker.last_recv;
	return ep->recv_head == ep->recv_posted;
}

/* The queue pair is at its end and its completions were taken. */
void
sim_model_ep_end(struct sim_ep *ep)
{
	struct sim_world *w = ep->w;

	sim_mover_finish(ep->client); /* READs among the silent ones */
	while (ep->head < ep->posted &&
		(!ep->send_failed || sim_loss_silent(ep) != NDSH_WC_SUCCESS) &&
		(ep->ops[ep->head].flags & NDSH_WRF_SILENT))
		finish(ep, &ep->ops[ep->head], sim_loss_silent(ep));
	sim_check(w, ep->head == ep->posted, "conn %u%s: %u requests without completion",
		ep->conn->number, ep->name, ep->posted - ep->head);
	sim_check(w, sim_recvs_done(ep), "conn %u%s: %u receives without completion",
		ep->conn->number, ep->name, ep->recv_posted - ep->recv_head);
}

/* The queue pair is gone with what was in flight: half done, or not at all, or all of it. */
void
sim_model_ep_vanish(struct sim_ep *ep)
{
	sim_client_drain(ep->client);
	for (; ep->head < ep->posted; ep->head++)
		release(&ep->ops[ep->head], ep, false);
	if (ep->srq != NULL)
		ep->srq->lost++;
	for (; ep->recv_head < ep->recv_posted; ep->recv_head++)
		ep->inbox.undefined[ep->recvs[ep->recv_head % SIM_RECVS_MAX].slot] = true;
}

static void
end_of_direction(const struct sim_ep *from, const struct sim_ep *to)
{
	if (!to->vanished)
		sim_check(from->w, from->msgs_ok <= to->msgs_in,
			"conn %u%s heard of success for %u messages, %u arrived",
			from->conn->number, from->name, from->msgs_ok, to->msgs_in);
	sim_check(from->w, from->conn->dying || from->msgs == to->msgs_in,
		"conn %u%s sent %u messages, %u arrived", from->conn->number, from->name,
		from->msgs, to->msgs_in);
}

static void
end_of_memory(struct sim_ep *ep)
{
	sim_arena_check(ep->w, &ep->source);
	sim_arena_check(ep->w, &ep->target);
	sim_arena_check(ep->w, &ep->landing);
	sim_arena_check(ep->w, &ep->inbox);
}

void
sim_model_conn_end(struct sim_conn *c)
{
	if (c->insider != NULL) {
		sim_insider_memory(c->insider->victim);
		return;
	}
	end_of_direction(&c->ep[0], &c->ep[1]);
	end_of_direction(&c->ep[1], &c->ep[0]);
	end_of_memory(&c->ep[0]);
	end_of_memory(&c->ep[1]);
	sim_loss_end(c);
}
