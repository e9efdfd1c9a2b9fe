/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory windows. Each end of a connection has a few on its target: it binds and invalidates them,
 * the peer comes through those it was told of and invalidates them with a message. The peer knows
 * of a bind when the owner does, or by a message posted behind it (R-ORD-08).
 */
#include "sim.h"

void
sim_windows_init(struct sim_ep *ep)
{
	for (unsigned i = 0; i < SIM_WINDOWS; i++) {
		struct sim_window *v = &ep->windows[i];

		/* Pages are of the arena. A mover would carry out older writes behind those to the
		 * pages. */
		if (i == SIM_WINDOWS - 1 && !ep->target.moved)
			sim_fast_init(ep, v);
		else
			v->mw = roce_mw_create(
				ep->client->shard->s, ep->client->pd, &v->slot, &v->secret);
		sim_check(ep->w, v->mw != NULL, "no window left");
	}
}

static void
destroy(struct sim_ep *ep, struct sim_window *v)
{
	if (v->mw != NULL && v->fast != NULL)
		sim_fast_destroy(ep, v);
	else if (v->mw != NULL)
		roce_mw_destroy(ep->client->shard->s, v->mw);
	v->mw = NULL;
}

/* With the queue pair gone, regions are not busy, with windows or without; checks R-MW-10[2]. */
void
sim_windows_destroy(struct sim_ep *ep)
{
	for (unsigned i = 0; i < SIM_WINDOWS; i++)
		destroy(ep, &ep->windows[i]);
}

/* ---- what the owner posts ---- */

static bool
bind_window(struct sim_ep *ep, struct sim_op *op, struct sim_window *v, struct ndsh_swr *wr)
{
	static const uint32_t rights[] = {NDSH_ACCESS_REMOTE_READ, NDSH_ACCESS_REMOTE_WRITE,
		NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE, 0};
	const struct sim_arena *t = &ep->target;

	op->op = NDSH_OP_BIND;
	v->state = SIM_WINDOW_BINDING;
	v->bind_op = ep->posted;
	v->access = rights[sim_below(ep->w, 4)];
	v->first = (unsigned)sim_below(ep->w, SIM_SLOTS);
	v->slots = 1 + (unsigned)sim_below(ep->w, SIM_SLOTS - v->first);
	v->generation++;
	v->token = ndsh_window_token(v->slot, v->secret, v->generation);
	if (v->fast != NULL) {
		sim_fast_register(ep, op, v, wr);
		return true;
	}
	wr->raddr = t->va + (uint64_t)v->first * t->slot_bytes;
	wr->rkey = v->token;
	wr->imm = v->generation;
	wr->arg[0] = (uint64_t)v->slots * t->slot_bytes;
	wr->arg[1] = v->access | (uint64_t)t->key << 32;
	return true;
}

/* A BIND or INVALIDATE that must succeed; false: none makes sense now. */
bool
sim_window_op(struct sim_ep *ep, struct sim_op *op, struct ndsh_swr *wr)
{
	struct sim_window *v = &ep->windows[sim_below(ep->w, SIM_WINDOWS)];

	if (v->mw == NULL || ep->conn->poison == SIM_POISON_DEREGISTER || !sim_insider_windows(ep))
		return false;
	op->window = v;
	if (v->state == SIM_WINDOW_FREE)
		return bind_window(ep, op, v, wr);
	if (v->state != SIM_WINDOW_BOUND || v->users > 0)
		return false;
	op->op = NDSH_OP_INVALIDATE;
	v->state = SIM_WINDOW_ENDING;
	wr->rkey = v->token;
	return true;
}

/* A BIND or INVALIDATE that must fail: a bind beyond the region, of what is bound or to what is no
 * region; the invalidation of what is not bound. */
void
sim_window_bad_op(struct sim_ep *ep, struct sim_op *op, struct ndsh_swr *wr)
{
	struct sim_window *v = &ep->windows[sim_below(ep->w, SIM_WINDOWS - 1)], was;

	if (ep->conn->poison == SIM_POISON_INVALIDATE) {
		op->op = NDSH_OP_INVALIDATE;
		wr->rkey = sim_chance(ep->w, 5000) ? ep->target.key : sim_window_dead(ep);
		return;
	}
	was = *v;
	bind_window(ep, op, v, wr);
	if (was.state != SIM_WINDOW_FREE) { /* it stays what it is, but the peer forgets it */
		was.generation = v->generation;
		*v = was;
		v->state = SIM_WINDOW_ENDING;
	}
	if (was.state == SIM_WINDOW_BINDING || was.state == SIM_WINDOW_BOUND)
		return;
	if (sim_chance(ep->w, 5000))
		wr->arg[0] = ep->target.va + ep->target.bytes - wr->raddr + 1;
	else
		wr->arg[1] ^= UINT64_C(1) << (32 + sim_below(ep->w, 32));
}

/* A BIND with a token that does not follow from its window. */
void
sim_window_breach(struct sim_ep *ep, struct ndsh_swr *wr)
{
	struct sim_window *v = &ep->windows[0];

	wr->rkey = ndsh_window_token(v->slot, v->secret, v->generation + 1) ^ 1;
	wr->imm = v->generation + 1;
	wr->arg[1] = (uint64_t)ep->target.key << 32;
}

/* ---- what the peer may do ---- */

uint64_t
sim_window_address(const struct sim_ep *owner, const struct sim_window *v, uint32_t offset)
{
	const struct sim_arena *t = &owner->target;

	if (v == NULL || v->fast == NULL)
		return t->va + offset;
	return v->fast->base + (offset - v->first * t->slot_bytes);
}

/* A window of owner that grants right, which its peer knows; NULL: none. */
struct sim_window *
sim_window_choose(struct sim_ep *owner, uint32_t right)
{
	unsigned first = (unsigned)sim_below(owner->w, SIM_WINDOWS);

	for (unsigned i = 0; i < SIM_WINDOWS; i++) {
		struct sim_window *v = &owner->windows[(first + i) % SIM_WINDOWS];

		if (v->state == SIM_WINDOW_BOUND && (v->access & right) == right)
			return v;
	}
	return NULL;
}

/* A token that was good once, if there is one: no window of ep has it now. */
uint32_t
sim_window_dead(const struct sim_ep *ep)
{
	for (unsigned i = 0; i < SIM_WINDOWS; i++)
		if (ep->windows[i].token == ep->dead_token)
			return ep->target.key ^ 1;
	return ep->dead_token != 0 ? ep->dead_token : ep->target.key ^ 1;
}

/* A good token in the same table and domain, but of another queue pair; *raddr: what it opens. */
uint32_t
sim_window_foreign(const struct sim_ep *ep, uint64_t *raddr)
{
	for (unsigned i = 0; i < ep->client->n_eps; i++) {
		struct sim_ep *other = ep->client->eps[i];
		const struct sim_window *v = NULL;

		if (other != ep && !other->gone)
			v = sim_window_choose(other, NDSH_ACCESS_REMOTE_WRITE);
		if (v == NULL || v->mw == NULL || v->fast != NULL) /* that is the domain's */
			continue;
		*raddr = other->target.va + (uint64_t)v->first * other->target.slot_bytes;
		return v->token;
	}
	return sim_window_dead(ep);
}

/* The owner gives one up that is in use; false: none is. */
bool
sim_window_cut(struct sim_ep *owner)
{
	for (unsigned i = 0; i < SIM_WINDOWS; i++) {
		struct sim_window *v = &owner->windows[i];

		if (v->state != SIM_WINDOW_BOUND || v->users == 0)
			continue;
		destroy(owner, v); /* for the peer it is still bound: it goes on */
		return true;
	}
	return false;
}

/* ---- what completions tell ---- */

static void
ended(struct sim_ep *owner, struct sim_window *v)
{
	owner->dead_token = v->token;
	v->state = SIM_WINDOW_FREE;
	if (v->fast != NULL)
		sim_fast_reuse_list(v);
}

/* A BIND or INVALIDATE succeeded. */
void
sim_window_done(struct sim_ep *ep, const struct sim_op *op)
{
	struct sim_window *v = op->window;

	if (op->op == NDSH_OP_INVALIDATE)
		ended(ep, v);
	else if (v->state == SIM_WINDOW_BINDING && &ep->ops[v->bind_op] == op)
		v->state = SIM_WINDOW_BOUND;
}

/* A message of owner's arrived, posted as number place. */
void
sim_window_heard(struct sim_ep *owner, unsigned place)
{
	for (unsigned i = 0; i < SIM_WINDOWS; i++) {
		struct sim_window *v = &owner->windows[i];

		if (v->state == SIM_WINDOW_BINDING && v->bind_op < place)
			v->state = SIM_WINDOW_BOUND;
	}
}

/* The peer's message op arrived at owner; checks R-CR-06, R-INV-08[1]. */
void
sim_window_invalidated(struct sim_ep *owner, const struct sim_op *op, const struct ndsh_cqe *e)
{
	bool told = e->flags & NDSH_CQEF_INV;

	sim_check(owner->w,
		told == (op->op == NDSH_OP_SEND_INV) && (!told || e->data == op->window->token),
		"conn %u%s: message %u: wrong token invalidated", owner->conn->number, owner->name,
		op->msg);
	if (told)
		ended(owner, op->window);
}
