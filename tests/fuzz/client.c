/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the client does through shared memory: as the library would, with any values; and, in
 * world_scribble(), as no library would.
 */
#include <string.h>

#include "world.h"

static struct ndsh_sge
some_sge(struct world *w)
{
	struct ndsh_sge sge;

	sge.key = world_key(w);
	sge.addr = world_va(w);
	sge.len = (uint32_t)fuzz_take(w->in, 2) % (3 * WORLD_MTU);
	return sge;
}

static uint32_t
some_sges(struct world *w, struct ndsh_sge *sge)
{
	unsigned n = fuzz_below(w->in, WORLD_SGE + 1);

	for (unsigned i = 0; i < n; i++)
		sge[i] = some_sge(w);
	return n;
}

/* Of one of the windows: the next token, or another. Those of verbs may be the same again, or have
 * bits that the client may not choose. */
static void
token_choose(struct world *w, struct ndsh_swr *wr, unsigned kind, unsigned how)
{
	struct world_token *t = &w->mw_token;
	uint32_t *token;

	if (kind < 2) {
		wr->imm = t->generation += how != 0;
		wr->rkey = ndsh_window_token(t->slot, t->secret, wr->imm);
		return;
	}
	token = &w->keyed[kind - 2].token;
	if (how == 1 || how == 2)
		*token = (*token & ~0xffu) | ((*token + 1) & 0xffu);
	else if (how == 3)
		*token = (*token & ~0xffu) | (uint32_t)fuzz_take(w->in, 1);
	wr->rkey = how == 0 ? *token ^ (uint32_t)fuzz_take(w->in, 2) : *token;
}

/* Half of them fit into the region that permits all. */
static void
bind_fill(struct world *w, struct ndsh_swr *wr)
{
	uint32_t access = fuzz_below(w->in, 32), key = w->rw_key, how = fuzz_below(w->in, 32);

	token_choose(w, wr, how >> 2 & 3, how & 3);
	wr->raddr = world_va(w);
	wr->arg[0] = fuzz_take(w->in, 2);
	if (how & 16) {
		wr->raddr = WORLD_VA + WORLD_AT_RW * WORLD_PAGE + wr->raddr % WORLD_PAGE;
		wr->arg[0] %= 3 * WORLD_PAGE;
	} else {
		key = world_key(w);
	}
	wr->arg[1] = access | (uint64_t)key << 32;
}

/* The next number of the fast-register region, or another. */
static void
fast_register_fill(struct world *w, struct ndsh_swr *wr)
{
	struct world_token *t = &w->fr_token;
	uint32_t access = fuzz_below(w->in, 32), list;

	wr->imm = t->generation += fuzz_below(w->in, 4) != 0;
	wr->rkey = ndsh_window_token(t->slot, t->secret, wr->imm);
	wr->raddr = world_va(w);
	wr->arg[0] = fuzz_take(w->in, 2);
	list = fuzz_below(w->in, 5);
	wr->arg[1] = NDSH_FRMR_ARG(access, list, fuzz_below(w->in, 6));
}

/* Others are a breach, which ends the queue pair. */
static bool
op_is_for_uc(uint32_t op)
{
	return op == NDSH_OP_SEND || op == NDSH_OP_SEND_IMM || op == NDSH_OP_WRITE ||
	       op == NDSH_OP_WRITE_IMM;
}

static void
client_posts(struct world *w)
{
	unsigned i = fuzz_below(w->in, WORLD_QPS);
	uint32_t op = fuzz_below(w->in, 14), flags = fuzz_below(w->in, 256);
	struct world_qp_side *q = &w->q[i];
	struct ndsh_qp_page *page = q->block;
	struct ndsh_sge sge[WORLD_SGE];
	uint8_t data[NDSH_INLINE_MAX] = {0};
	struct ndsh_swr wr = {0};
	uint32_t n = 0;

	if (w->unreliable && !w->hostile && i != WORLD_UD && !op_is_for_uc(op))
		op = op & 1 ? NDSH_OP_WRITE : NDSH_OP_SEND;
	wr.context = op;
	/* Half of all are plain. */
	flags = flags & 0x80 ? flags & NDSH_WRF_MASK : flags & NDSH_WRF_SILENT;
	if (q->sq.next - page->sq_done >= WORLD_DEPTH)
		return; /* the library looks for room */
	if (op == NDSH_OP_BIND) {
		bind_fill(w, &wr);
	} else if (op == NDSH_OP_FAST_REGISTER) {
		fast_register_fill(w, &wr);
	} else {
		wr.raddr = i == WORLD_UD ? NDSH_UD_RADDR(WORLD_PEER_QPN, WORLD_Q_KEY) : world_va(w);
		wr.rkey = i == WORLD_UD && fuzz_below(w->in, 4) ? WORLD_AH : world_key(w);
		if (flags & NDSH_WRF_INLINE)
			wr.inline_bytes = fuzz_below(w->in, WORLD_INLINE + 2);
		else if (op != NDSH_OP_INVALIDATE)
			n = some_sges(w, sge);
		if (op == NDSH_OP_CMP_SWAP || op == NDSH_OP_FETCH_ADD) {
			wr.arg[0] = wr.arg[1] = 1;
			if (n > 0)
				sge[0].len = 8;
		}
	}
	wr.inline_bytes = wr.inline_bytes > WORLD_INLINE ? WORLD_INLINE : wr.inline_bytes;
	wr.ctrl = NDSH_CTRL(op, n, flags, 0);
	if ((flags & NDSH_WRF_SHORT) && wr.inline_bytes > NDSH_SHORT_MAX)
		wr.inline_bytes = NDSH_SHORT_MAX;
	if (flags & NDSH_WRF_SHORT && !(flags & NDSH_WRF_INLINE))
		n = 0;
	ndsh_sq_push(&q->sq, &wr, sge, data);
	if (!page->sq_polled)
		(void)ndsh_doorbell_ring(w->page, page, i);
}

static void
client_receives(struct world *w)
{
	unsigned i = fuzz_below(w->in, WORLD_QPS);
	struct ndsh_qp_page *page = w->q[i].block;
	const struct ndsh_srq_page *srq = w->srq_mem;
	struct ndsh_rq *rq = i == WORLD_RTS_SRQ ? &w->srq_rq : &w->q[i].rq;
	uint32_t done = i == WORLD_RTS_SRQ ? srq->taken : page->rq_done;
	struct ndsh_sge sge[WORLD_SGE];

	if (rq->next - done >= rq->depth)
		return;
	ndsh_rq_push(rq, i, sge, some_sges(w, sge));
	if (page->dead)
		(void)ndsh_doorbell_ring(w->page, page, i);
}

static void
client_polls(struct world *w)
{
	struct ndsh_cqe cqe[4];
	unsigned how = fuzz_below(w->in, 8);
	struct ndsh_cq_reader *r = how & 4 ? &w->admin_reader : &w->reader[how & 1];
	uint32_t n = ndsh_cq_poll(r, cqe, 4);

	for (uint32_t i = 0; i < n && (how & 4); i++) {
		if (cqe[i].status != NDSH_ADMIN_OK)
			continue;
		if (cqe[i].op == NDSH_ADMIN_REGISTER)
			w->rw_key = cqe[i].data;
		else if (cqe[i].op == NDSH_ADMIN_REGISTER_MOVED)
			w->moved_key = cqe[i].data;
	}
	if (how & 2)
		(void)ndsh_cq_arm(r, NDSH_ARM_ERRORS + fuzz_below(w->in, 3), NULL);
}

static bool
within(const void *base, size_t size, uint64_t at, uint32_t bytes)
{
	uint64_t from = at - (uintptr_t)base;

	return from <= size && bytes <= size - from;
}

/* The client may have registered what it does not have: such commands fail. */
static uint32_t
commands_run(void *ctx, const struct ndsh_mover *m, const struct ndsh_cqe *commands, uint32_t n)
{
	struct world *w = ctx;
	uint32_t failed = w->mover_fails;

	for (uint32_t i = 0; i < n; i++) {
		const struct ndsh_cqe *c = &commands[i];

		if (!within(w->moved, WORLD_MOVED, c->context, c->bytes))
			failed |= 1u << i;
		if (!(failed >> i & 1))
			ndsh_mover_copy_plain(m, c);
	}
	return n < 32 ? failed & ((1u << n) - 1) : failed;
}

static void
client_moves(struct world *w)
{
	uint32_t n = fuzz_below(w->in, 8);

	w->mover_fails = n & 4 ? (uint32_t)fuzz_take(w->in, 1) : 0;
	(void)ndsh_mover_run(&w->mover_client, 1 + (n & 3), commands_run, w);
}

static void
client_registers(struct world *w)
{
	struct ndsh_admin_request r = {.context = 1, .pd = WORLD_PD_HANDLE};

	r.ctrl = fuzz_below(w->in, 5);
	r.va = world_va(w);
	r.bytes = fuzz_take(w->in, 2);
	if (within(w->arena + WORLD_AT_RO * WORLD_PAGE, 2 * WORLD_PAGE,
		    r.va - WORLD_VA + (uintptr_t)w->arena, 0))
		return; /* memory to be read only stays that */
	r.access = fuzz_below(w->in, 40);
	r.token = world_key(w);
	if (w->admin_client.next - (uint32_t)w->admin_reader.taken >= WORLD_ADMIN_DEPTH)
		return;
	ndsh_admin_push(&w->admin_client, &r);
	(void)ndsh_doorbell_ring_admin(w->page);
}

void
world_client(struct world *w)
{
	static void (*const actions[])(struct world *) = {client_posts, client_posts, client_posts,
		client_receives, client_receives, client_polls, client_moves, client_registers};

	actions[fuzz_below(w->in, sizeof(actions) / sizeof(actions[0]))](w);
}

/* ---- what no library does -------------------------------------------------------------------- */

void
world_scribble(struct world *w, struct fuzz_in *in)
{
	const struct world_block *b = &w->block[fuzz_below(in, w->blocks)];
	size_t words = b->bytes / 4, at = fuzz_take(in, 2) % words, from;
	uint32_t *word = (uint32_t *)b->at + at;
	uint32_t v;

	memcpy(&v, word, 4);
	switch (fuzz_below(in, 5)) {
	case 0:
		v ^= 1u << fuzz_below(in, 32);
		break;
	case 1:
		v += (uint32_t)(int8_t)fuzz_take(in, 1);
		break;
	case 2:
		v = (uint32_t)fuzz_take(in, 4);
		break;
	case 3:
		v ^= NDSH_CTRL_PHASE;
		break;
	default: /* another word of the same block, as a descriptor moves to another slot */
		from = fuzz_take(in, 2) % words;
		memcpy(&v, b->at + 4 * from, 4);
	}
	memcpy(word, &v, 4);
}
