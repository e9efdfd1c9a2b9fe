/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomics on the peer's target, through its region: no window has the right. They are executed
 * in their place among the other requests, so what each must find is known when it is posted; one
 * that is executed twice, or not at all, leaves another sum.
 */
#include <string.h>

#include "sim.h"

static bool
choose_landing(struct sim_ep *ep, struct sim_op *op)
{
	op->local = &ep->landing;
	op->local_slot = sim_arena_slot(ep->w, op->local);
	if (op->local_slot < 0)
		return false;
	op->nsge = 1;
	op->sge[0] = (struct ndsh_sge){
		.addr = op->local->va + (uint64_t)op->local_slot * op->local->slot_bytes +
			sim_below(ep->w, op->local->slot_bytes - op->bytes + 1),
		.len = op->bytes,
		.key = op->local->key};
	op->local->users[op->local_slot]++;
	return true;
}

static void
choose_word(struct sim_ep *ep, struct sim_op *op)
{
	struct sim_arena *t = &ep->peer->target;
	unsigned slot = (unsigned)sim_below(ep->w, SIM_SLOTS);

	if (t->readers[slot] > 0) /* W-FENCE-03: it would not wait for them */
		op->flags |= NDSH_WRF_FENCE;
	t->users[slot]++;
	op->remote_slot = (int)slot;
	op->remote_off = slot * t->slot_bytes + 8 * (uint32_t)sim_below(ep->w, t->slot_bytes / 8);
}

/* checks W-ATOM-03[1,2,4], W-DUP-05[1,2]: what it is to find and to leave behind */
bool
sim_atomic_prepare(struct sim_ep *ep, struct sim_op *op, struct ndsh_swr *wr)
{
	struct sim_arena *t = &ep->peer->target;
	struct sim_world *w = ep->w;
	uint64_t old, new;

	op->bytes = 8;
	if (!choose_landing(ep, op))
		return false;
	choose_word(ep, op);
	/* Writes in front of it may take their time to be placed. */
	w->holds += !t->moved && t->client->mover.engine != NULL;
	op->data = sim_alloc(w, op->bytes);
	memcpy(op->data, t->shadow + op->remote_off, op->bytes);
	memcpy(&old, op->data, sizeof(old));
	wr->raddr = t->va + op->remote_off;
	wr->arg[0] = sim_rand(w);
	wr->arg[1] = sim_chance(w, 3000) ? sim_rand(w) : old;
	if (sim_chance(w, 5000)) {
		op->op = NDSH_OP_FETCH_ADD;
		new = old + wr->arg[0];
	} else {
		op->op = NDSH_OP_CMP_SWAP;
		new = old == wr->arg[1] ? wr->arg[0] : old;
	}
	memcpy(t->shadow + op->remote_off, &new, sizeof(new));
	return true;
}
