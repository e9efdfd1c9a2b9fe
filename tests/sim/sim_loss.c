/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that only its client can reach goes while it is registered (R-MR-14): once in the life of
 * a connection, a part of one region of one end. The client's mover can't carry out copies there,
 * says so, and corrects completions that were made before, as the library does (ndsh_mover.h).
 *
 * What must hold: the first transfer that needs this memory fails with the status of what it is,
 * at the end that posted it; what was in front of it succeeded, what is behind it is flushed; its
 * peer hears of a refusal if the engine told of one. No other connection notices.
 */
#include "sim.h"
#include "sim_kind.h"

#define PATIENCE_NS (20 * SIM_MS) /* a NAK leaves behind responses that are being fetched */

void
sim_loss_plan(struct sim_conn *c)
{
	struct sim_world *w = c->ep[0].w;

	c->loss.planned = sim_chance(w, w->profile->unmaps);
	if (c->loss.planned)
		c->loss.after = (unsigned)sim_below(w, c->ep[0].quota + c->ep[1].quota + 1);
}

/* ---- the client ---- */

static bool
overlaps(const struct sim_loss *l, uint64_t va, uint32_t bytes)
{
	return l->arena != NULL && va < l->to && va + bytes > l->from;
}

/* Some part of a region that a mover serves; false: there is none. */
static bool
choose_part(struct sim_conn *c)
{
	struct sim_loss *l = &c->loss;
	struct sim_world *w = c->ep[0].w;
	struct sim_ep *ep = &c->ep[sim_below(w, 2)];
	struct sim_arena *all[] = {&ep->source, &ep->target, &ep->landing, &ep->inbox};
	struct sim_arena *a = all[sim_below(w, 4)];
	uint64_t slot;

	if (!a->moved || a->mr == NULL)
		return false;
	slot = a->va + sim_below(w, SIM_SLOTS) * a->slot_bytes;
	l->from = slot + sim_below(w, a->slot_bytes);
	l->to = slot + a->slot_bytes;
	if (sim_chance(w, 3000)) /* to the end */
		l->to = a->va + a->bytes;
	l->owner = ep;
	l->arena = a;
	l->posted[0] = c->ep[0].posted;
	l->posted[1] = c->ep[1].posted;
	return true;
}

void
sim_loss_step(struct sim_conn *c)
{
	struct sim_loss *l = &c->loss;
	struct sim_world *w = c->ep[0].w;

	if (!l->planned || l->arena != NULL || c->state != SIM_CONN_UP ||
		c->ep[0].posted + c->ep[1].posted < l->after || !choose_part(c))
		return;
	c->dying = true;
	sim_note(w, "conn %u%s: memory goes: %s, %lu bytes", c->number, l->owner->name,
		l->arena->name, (unsigned long)(l->to - l->from));
}

static bool
is_gone(const struct sim_client *c, const struct ndsh_cqe *command)
{
	for (unsigned i = 0; i < c->n_eps; i++) {
		const struct sim_loss *l = &c->eps[i]->conn->loss;

		if (l->owner == c->eps[i] && l->arena != NULL &&
			overlaps(l, sim_arena_va(l->arena, command->context), command->bytes))
			return true;
	}
	return false;
}

/* The first counts: what is behind it is flushed. */
static void
spoil(struct sim_client *c, const struct ndsh_cqe *command)
{
	struct sim_spoiled *s;

	if (command->syndrome == NDSH_SPOILS_NONE)
		return;
	sim_check(c->w, command->qp < c->n_eps, "a copy for no connection: %u", command->qp);
	s = &c->eps[command->qp]->spoiled[command->syndrome != NDSH_SPOILS_REQUEST];
	if (s->by != NDSH_SPOILS_NONE)
		return;
	s->from = command->slot_count;
	s->by = command->syndrome;
}

bool
sim_loss_copy(struct sim_client *c, const struct ndsh_cqe *command)
{
	if (c->w->profile->unmaps == 0 || !is_gone(c, command))
		return false;
	sim_note(c->w, "host %u.%u: a copy of %u bytes fails, spoils %u from %u",
		c->shard->host->number, c->shard->number, command->bytes, command->syndrome,
		command->slot_count);
	spoil(c, command);
	return true;
}

static uint8_t
true_status(const struct sim_spoiled *s, uint32_t slot_count)
{
	if (s->by == NDSH_SPOILS_NONE || (int32_t)(slot_count - s->from) < 0)
		return NDSH_WC_SUCCESS;
	return slot_count == s->from && s->by != NDSH_SPOILS_WRITE ? NDSH_WC_LOC_PROT_ERR
								   : NDSH_WC_FLUSH_ERR;
}

void
sim_loss_correct(struct sim_client *c, struct ndsh_cqe *e)
{
	uint8_t status;

	if (e->qp >= c->n_eps || e->status != NDSH_WC_SUCCESS)
		return;
	status = true_status(&c->eps[e->qp]->spoiled[e->op == NDSH_OP_RECV], e->slot_count);
	if (status == NDSH_WC_SUCCESS)
		return;
	e->status = status;
	e->bytes = 0;
	sim_kind(SIM_KIND_corrected);
}

/* No completion tells: the status is what the application made of the request. */
uint8_t
sim_loss_silent(const struct sim_ep *ep)
{
	return true_status(&ep->spoiled[0], ep->head + 1);
}

/* ---- the model ---- */

/* Do the first so many bytes of the list need what has gone? */
static bool
list_needs(const struct sim_loss *l, const struct ndsh_sge *sge, unsigned n, uint32_t bytes)
{
	for (unsigned i = 0; i < n && bytes > 0; i++) {
		uint32_t len = sge[i].len < bytes ? sge[i].len : bytes;

		if (len > 0 && overlaps(l, sge[i].addr, len))
			return true;
		bytes -= len;
	}
	return false;
}

/* The receive that the message takes, if it is posted. */
static bool
receive_needs(const struct sim_ep *ep, const struct sim_op *op)
{
	const struct sim_ep *peer = ep->peer;
	const struct sim_recv *r;

	if (!sim_is_message(op) || sim_is_write(op) || op->msg >= peer->recv_posted)
		return false;
	r = &peer->recvs[op->msg % SIM_RECVS_MAX];
	return list_needs(&ep->conn->loss, r->sge, r->nsge, op->bytes);
}

/* The status with which the request fails for what has gone; SUCCESS: it has no need of it. */
static uint8_t
status_of(const struct sim_ep *ep, const struct sim_op *op)
{
	const struct sim_loss *l = &ep->conn->loss;

	if (l->arena == NULL)
		return NDSH_WC_SUCCESS;
	if (l->arena == op->local && list_needs(l, op->sge, op->nsge, op->bytes))
		return NDSH_WC_LOC_PROT_ERR;
	if (l->arena == &ep->peer->target && op->remote_slot >= 0 && op->bytes > 0 &&
		overlaps(l, l->arena->va + op->remote_off, op->bytes))
		return NDSH_WC_REM_ACCESS_ERR;
	if (l->arena == &ep->peer->inbox && receive_needs(ep, op))
		return NDSH_WC_REM_OP_ERR;
	return NDSH_WC_SUCCESS;
}

/* checks R-MR-14[1] */
bool
sim_loss_fails(struct sim_ep *ep, const struct sim_op *op, uint8_t status)
{
	struct sim_loss *l = &ep->conn->loss;

	if (status == NDSH_WC_SUCCESS || status != status_of(ep, op))
		return false;
	l->told |= ep != l->owner;
	if (l->arena == &l->owner->source)
		sim_kind(SIM_KIND_lost_payload);
	else if (l->arena == &l->owner->landing)
		sim_kind(SIM_KIND_lost_result);
	else if (l->arena == &l->owner->target)
		sim_kind(SIM_KIND_lost_target);
	else
		sim_kind(SIM_KIND_lost_receive);
	return true;
}

/* It was posted when the memory had gone already. */
bool
sim_loss_must_fail(const struct sim_ep *ep, const struct sim_op *op)
{
	const struct sim_loss *l = &ep->conn->loss;

	return l->arena != NULL && op - ep->ops >= l->posted[ep == &ep->conn->ep[1]] &&
	       status_of(ep, op) != NDSH_WC_SUCCESS;
}

bool
sim_loss_recv_fails(const struct sim_ep *ep, const struct sim_recv *r)
{
	const struct sim_loss *l = &ep->conn->loss;

	return l->arena == &ep->inbox && list_needs(l, r->sge, r->nsge, r->bytes);
}

/* The engine has refused a request of the peer, so the peer must hear of it. */
void
sim_loss_event(struct sim_ep *ep, const struct roce_event *ev)
{
	struct sim_loss *l = &ep->conn->loss;

	if (l->owner != ep || ep->conn->state >= SIM_CONN_CLOSING ||
		(ev->reason != ROCE_REASON_SENT_REM_ACCESS && ev->reason != ROCE_REASON_RECV_PROT))
		return;
	l->refused = true;
	ep->close_ns += PATIENCE_NS;
}

/* checks W-RESP-18[3], W-RESP-11[1] */
void
sim_loss_end(const struct sim_conn *c)
{
	const struct sim_loss *l = &c->loss;

	if (l->refused && !sim_is_lossy(c->ep[0].w) && !sim_may_give_up(c))
		sim_check(c->ep[0].w, l->told, "conn %u%s refused for want of memory, unheard",
			c->number, l->owner->name);
}
