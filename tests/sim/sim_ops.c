/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random requests. What each must do to memory is written to the shadows when it
 * is posted; sim_model.c compares when it completes.
 */
#include <string.h>

#include "sim.h"

/* Sizes around what the wire cuts at. */
static uint32_t
random_size(struct sim_conn *c, uint32_t most)
{
	struct sim_world *w = c->ep[0].w;
	uint32_t n;

	switch (sim_below(w, 8)) {
	case 0:
		n = (uint32_t)sim_below(w, 4);
		break;
	case 1:
		n = 8;
		break;
	case 2:
		n = c->mtu - 1 + (uint32_t)sim_below(w, 3);
		break;
	case 3:
		n = c->mtu * (uint32_t)(1 + sim_below(w, c->packets)) - 1 +
		    (uint32_t)sim_below(w, 3);
		break;
	case 4:
	case 5:
		n = (uint32_t)sim_below(w, 256);
		break;
	default:
		n = (uint32_t)sim_below(w, c->packets * c->mtu);
		break;
	}
	return n < most ? n : most;
}

static struct sim_op *
op_new(struct sim_ep *ep, uint8_t type)
{
	struct sim_conn *c = ep->conn;
	struct sim_op *op = &ep->ops[ep->posted];

	*op = (struct sim_op){
		.context = (uint64_t)(c->number * 2 + (ep == &c->ep[1])) << 32 | (ep->posted + 1),
		.op = type,
		.local_slot = -1,
		.remote_slot = -1};
	return op;
}

static uint8_t
random_type(struct sim_ep *ep)
{
	switch (sim_below(ep->w, ep->max_rd > 0 ? 3 : 2)) {
	case 0:
		return NDSH_OP_SEND;
	case 1:
		return ep->conn->poison == SIM_POISON_QP_RIGHT ? NDSH_OP_SEND : NDSH_OP_WRITE;
	default:
		return NDSH_OP_READ;
	}
}

/* The source bytes of a SEND or WRITE: new ones for every request, so that old ones are noticed. */
static bool
choose_source(struct sim_ep *ep, struct sim_op *op)
{
	struct sim_world *w = ep->w;

	op->data = sim_random_bytes(w, op->bytes);
	if ((op->flags & NDSH_WRF_INLINE) != 0)
		return true;
	op->local = &ep->source;
	op->local_slot = sim_arena_slot(w, op->local);
	if (op->local_slot < 0)
		return false;
	op->nsge = (uint8_t)sim_sges(
		w, op->local, (unsigned)op->local_slot, op->bytes, ep->dims.sq_sge, op->sge);
	sim_scatter(op->local, op->local->mem, op->sge, op->nsge, op->data, op->bytes);
	sim_scatter(op->local, op->local->shadow, op->sge, op->nsge, op->data, op->bytes);
	return true;
}

static bool
choose_landing(struct sim_ep *ep, struct sim_op *op)
{
	op->local = &ep->landing;
	op->local_slot = sim_arena_slot(ep->w, op->local);
	if (op->local_slot < 0)
		return false;
	op->nsge = (uint8_t)sim_sges(
		ep->w, op->local, (unsigned)op->local_slot, op->bytes, ep->dims.sq_sge, op->sge);
	sim_sink_use(ep, op);
	return true;
}

/*
 * A place in the peer's target, through its region or a window. Slots in use may be taken as well,
 * as far as the order of execution is defined: a WRITE does not overtake a READ only if it is
 * fenced (W-FENCE-03).
 */
static bool
choose_target(struct sim_ep *ep, struct sim_op *op)
{
	struct sim_arena *t = &ep->peer->target;
	unsigned slot = (unsigned)sim_below(ep->w, SIM_SLOTS);
	uint32_t room = t->slot_bytes - op->bytes;

	if (sim_chance(ep->w, 5000))
		op->window = sim_window_choose(ep->peer, op->op == NDSH_OP_READ
								 ? NDSH_ACCESS_REMOTE_READ
								 : NDSH_ACCESS_REMOTE_WRITE);
	if (op->window != NULL)
		slot = op->window->first + (unsigned)sim_below(ep->w, op->window->slots);

	if (op->op == NDSH_OP_WRITE && t->readers[slot] > 0)
		op->flags |= NDSH_WRF_FENCE;
	op->remote_slot = (int)slot;
	op->remote_off = slot * t->slot_bytes + (uint32_t)sim_below(ep->w, room + 1);
	return true;
}

static void
take_target(struct sim_ep *ep, struct sim_op *op)
{
	struct sim_arena *t = &ep->peer->target;

	if (op->window != NULL) {
		op->window->users++;
		op->window->readers += op->op == NDSH_OP_READ;
	}
	t->users[op->remote_slot]++;
	if (op->op == NDSH_OP_READ) {
		t->readers[op->remote_slot]++;
		op->data = sim_alloc(ep->w, op->bytes + 1);
		memcpy(op->data, t->shadow + op->remote_off, op->bytes);
	} else {
		memcpy(t->shadow + op->remote_off, op->data, op->bytes);
	}
}

/* wr has what only this kind of request has. */
static void
push(struct sim_ep *ep, struct sim_op *op, struct ndsh_swr *wr)
{
	bool inl = (op->flags & NDSH_WRF_INLINE) != 0;

	wr->context = op->context;
	wr->inline_bytes = inl ? op->bytes : 0;
	if (inl && op->bytes <= NDSH_SHORT_MAX && op->context % 2 == 0) {
		op->flags |= NDSH_WRF_SHORT;
		memcpy(wr->data, op->data, op->bytes);
	}
	wr->ctrl = NDSH_CTRL(op->op, inl ? 0 : op->nsge, op->flags, 0);
	if (sim_is_message(op)) {
		op->msg = ep->msgs;
		ep->msg_op[ep->msgs++] = ep->posted;
	}
	ep->posted++;
	ndsh_sq_push(&ep->sq, wr, op->sge, op->data);
	sim_note(ep->w, "conn %u%s: post %s %u bytes, %u sge, flags %x, token %08x%s",
		ep->conn->number, ep->name, sim_op_name(op->op), op->bytes, op->nsge, op->flags,
		wr->rkey, op->poisoned ? ", poisoned" : "");
	sim_progress(ep->w);
}

static void
random_flags(struct sim_ep *ep, struct sim_op *op)
{
	struct sim_world *w = ep->w;

	if (sim_chance(w, 2500))
		op->flags |= NDSH_WRF_SILENT;
	if (sim_chance(w, 1000))
		op->flags |= NDSH_WRF_FENCE;
	if (sim_is_message(op) && sim_chance(w, 3000))
		op->flags |= NDSH_WRF_SOLICIT;
	if (op->op != NDSH_OP_READ && op->bytes <= ep->dims.inline_bytes && sim_chance(w, 5000))
		op->flags |= NDSH_WRF_INLINE;
}

static bool
is_request_poison(enum sim_poison p)
{
	return p >= SIM_POISON_WRITE_KEY && p <= SIM_POISON_RECV_SMALL;
}

static bool
is_local_poison(enum sim_poison p)
{
	return p == SIM_POISON_BIND || p == SIM_POISON_INVALIDATE;
}

/* The request that the plan of this connection wants to fail. */
static bool
post_poisoned(struct sim_ep *ep, struct sim_op *op)
{
	struct sim_conn *c = ep->conn;
	struct sim_arena *t = &ep->peer->target;
	struct ndsh_swr wr = {.raddr = t->va, .rkey = t->key};

	op->poisoned = true;
	op->bytes = 1 + random_size(c, c->packets * c->mtu - 1);
	op->op = NDSH_OP_WRITE;
	switch (c->poison) {
	case SIM_POISON_READ_KEY:
	case SIM_POISON_READ_RANGE:
		if (ep->max_rd > 0)
			op->op = NDSH_OP_READ;
		break;
	case SIM_POISON_LOCAL_KEY:
		op->op = NDSH_OP_SEND;
		break;
	case SIM_POISON_SEND_INV:
		op->op = NDSH_OP_SEND_INV;
		break;
	case SIM_POISON_RECV_SMALL:
		op->op = NDSH_OP_SEND;
		op->bytes = ep->source.slot_bytes;
		break;
	default:
		break;
	}
	if (op->op == NDSH_OP_READ ? !choose_landing(ep, op) : !choose_source(ep, op))
		return false;
	if (c->poison == SIM_POISON_WRITE_KEY || c->poison == SIM_POISON_READ_KEY)
		wr.rkey ^= 1u << sim_below(ep->w, 32);
	else if (c->poison == SIM_POISON_WRITE_RANGE || c->poison == SIM_POISON_READ_RANGE)
		wr.raddr += t->bytes - op->bytes + 1;
	else if (c->poison == SIM_POISON_NO_RIGHT)
		wr.rkey = sim_inbox(ep->peer)->key, wr.raddr = sim_inbox(ep->peer)->va;
	else if (c->poison == SIM_POISON_DEAD_WINDOW)
		wr.rkey = sim_window_dead(ep->peer);
	else if (c->poison == SIM_POISON_FOREIGN_WINDOW)
		wr.rkey = sim_window_foreign(ep->peer, &wr.raddr);
	else if (c->poison == SIM_POISON_SEND_INV && sim_chance(ep->w, 7000))
		wr.rkey = sim_window_foreign(ep->peer, &wr.raddr);
	else if (c->poison == SIM_POISON_LOCAL_KEY && op->nsge > 0)
		op->sge[0].key ^= 1u << sim_below(ep->w, 32), op->sge[0].len += op->sge[0].len == 0;
	op->local->users[op->local_slot]++;
	c->dying = c->poison_done = true;
	push(ep, op, &wr);
	return true;
}

static bool
post_local(struct sim_ep *ep, struct sim_op *op)
{
	struct ndsh_swr wr = {.rkey = 0};

	op->poisoned = ep == ep->conn->villain && is_local_poison(ep->conn->poison) &&
		       !ep->conn->poison_done && ep->posted >= ep->conn->poison_at;
	if (op->poisoned) {
		sim_window_bad_op(ep, op, &wr);
		ep->conn->dying = ep->conn->poison_done = true;
	} else if (!sim_sink_register(ep, op, &wr) && !sim_window_op(ep, op, &wr)) {
		return false;
	}
	push(ep, op, &wr);
	return true;
}

/* Some messages also take back a window of the peer; its READs must be done (W-FENCE-03). */
static void
maybe_invalidate(struct sim_ep *ep, struct sim_op *op)
{
	struct sim_window *v = sim_window_choose(ep->peer, 0);

	if (op->op != NDSH_OP_SEND || v == NULL || v->mw == NULL || !sim_chance(ep->w, 5000))
		return;
	op->op = NDSH_OP_SEND_INV;
	op->window = v;
	if (v->readers > 0)
		op->flags |= NDSH_WRF_FENCE;
	v->state = SIM_WINDOW_ENDING;
}

static void
maybe_immediate(struct sim_ep *ep, struct sim_op *op, struct ndsh_swr *wr)
{
	if ((op->op != NDSH_OP_SEND && op->op != NDSH_OP_WRITE) || !sim_chance(ep->w, 3000))
		return;
	op->op = op->op == NDSH_OP_SEND ? NDSH_OP_SEND_IMM : NDSH_OP_WRITE_IMM;
	op->imm = wr->imm = (uint32_t)sim_rand(ep->w);
	if (sim_chance(ep->w, 3000))
		op->flags |= NDSH_WRF_SOLICIT;
}

bool
sim_op_post(struct sim_ep *ep)
{
	struct sim_conn *c = ep->conn;
	struct sim_op *op;
	uint32_t done = __atomic_load_n(&ep->page->sq_done, __ATOMIC_ACQUIRE);
	struct ndsh_swr wr = {.rkey = ep->peer->target.key};

	sim_check(ep->w, done <= ep->posted, "conn %u%s: sq_done %u of %u", c->number, ep->name,
		done, ep->posted);
	if (ep->posted - done >= ep->dims.sq_depth)
		return false;
	op = op_new(ep, random_type(ep));
	if (!c->poison_done && ep == c->villain && ep->posted >= c->poison_at &&
		is_request_poison(c->poison))
		return is_local_poison(c->poison) ? post_local(ep, op) : post_poisoned(ep, op);
	if (sim_chance(ep->w, 2500)) {
		uint8_t type = op->op;

		op->flags = (uint8_t)sim_below(ep->w, 4); /* SILENT, FENCE */
		if (post_local(ep, op))
			return true;
		op->op = type;
		op->flags = 0;
		op->window = NULL;
	}
	if (op->op == NDSH_OP_READ && sim_chance(ep->w, 3000)) {
		op->flags = (uint8_t)sim_below(ep->w, 4);
		if (!sim_atomic_prepare(ep, op, &wr))
			return false;
		push(ep, op, &wr);
		return true;
	}
	op->bytes = random_size(c, c->packets * c->mtu);
	random_flags(ep, op);
	if (op->op == NDSH_OP_READ ? !choose_landing(ep, op) : !choose_source(ep, op))
		return false;
	if (op->op != NDSH_OP_SEND && choose_target(ep, op))
		take_target(ep, op);
	if (op->local != NULL)
		op->local->users[op->local_slot]++;
	maybe_invalidate(ep, op);
	maybe_immediate(ep, op, &wr);
	if (op->remote_slot >= 0)
		wr.raddr = sim_window_address(ep->peer, op->window, op->remote_off);
	if (op->window != NULL)
		wr.rkey = op->window->token;
	push(ep, op, &wr);
	return true;
}

/* A descriptor without an operation, or with wrong fields: the library never makes these. */
bool
sim_breach_post(struct sim_ep *ep)
{
	struct ndsh_swr wr = {.ctrl = NDSH_CTRL(0, 0, 0, 0)};

	if (ep->posted - __atomic_load_n(&ep->page->sq_done, __ATOMIC_ACQUIRE) >= ep->dims.sq_depth)
		return false;
	if (sim_chance(ep->w, 5000)) { /* well-formed: it is flushed */
		struct sim_op *op = op_new(ep, NDSH_OP_BIND);

		sim_window_breach(ep, &wr);
		push(ep, op, &wr);
	} else {
		ndsh_sq_push(&ep->sq, &wr, NULL, NULL);
	}
	sim_client_ring(ep->client, ep->page, ep->index);
	return true;
}

bool
sim_recv_post(struct sim_ep *ep)
{
	struct sim_conn *c = ep->conn;
	struct sim_recv *r = &ep->recvs[ep->recv_posted % SIM_RECVS_MAX];
	uint32_t done = __atomic_load_n(&ep->page->rq_done, __ATOMIC_ACQUIRE);

	if (ep->recv_posted - done >= ep->dims.rq_depth || ep->recv_posted >= SIM_RECVS_MAX)
		return false;
	*r = (struct sim_recv){.context = UINT64_C(1) << 63 |
					  (uint64_t)(c->number * 2 + (ep == &c->ep[1])) << 32 |
					  (ep->recv_posted + 1)};
	r->slot = sim_arena_slot(ep->w, &ep->inbox);
	if (r->slot < 0)
		return false;
	r->bytes = c->packets * c->mtu + (uint32_t)sim_below(ep->w, c->mtu / 2);
	r->nsge = (uint8_t)sim_sges(
		ep->w, &ep->inbox, (unsigned)r->slot, r->bytes, ep->dims.rq_sge, r->sge);
	ep->inbox.users[r->slot]++;
	ep->recv_posted++;
	ndsh_rq_push(&ep->rq, r->context, r->sge, r->nsge);
	return true;
}
