/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * READs that end the registration of their sink (R-RW-06). An end may have a fast-register region
 * over its landing, at the same addresses: it registers it, reads through it, and the last of these
 * READs takes the registration back. The region can't be registered anew before that has happened,
 * and nothing can be placed through it any more when it has: so too late and too early both fail.
 */
#include "sim.h"
#include "sim_kind.h"

#define PAGE NDSH_PAGE_BYTES

void
sim_sink_init(struct sim_ep *ep)
{
	struct sim_world *w = ep->w;
	struct sim_arena *a = &ep->landing;
	struct sim_window *v = &ep->sink;
	uint32_t skip = (uint32_t)(a->va % PAGE);
	struct roce_frmr_cfg cfg = {.pd = ep->client->pd};
	struct sim_fast *f;

	if (a->moved || !sim_chance(w, w->profile->sinks))
		return;
	f = v->fast = sim_alloc(w, sizeof(*f));
	f->pages = cfg.max_pages = (skip + a->bytes + PAGE - 1) / PAGE;
	f->extent = sim_alloc(w, sizeof(*f->extent));
	f->lists = sim_alloc(w, NDSH_FRMR_LISTS * f->pages * sizeof(*f->lists));
	f->mem = sim_alloc(w, roce_frmr_bytes(f->pages));
	/* Its first bytes and its last are of no region. */
	*f->extent = (struct roce_extent){
		.va = a->va - skip, .bytes = (uint64_t)f->pages * PAGE, .host = a->mem - skip};
	f->arena = (struct roce_arena){f->extent, 1};
	cfg.arena = &f->arena;
	cfg.lists = f->lists;
	v->mw = roce_frmr_create(ep->client->shard->s, &cfg, f->mem, &v->slot, &v->secret);
	sim_check(w, v->mw != NULL, "no region left for a sink");
}

void
sim_sink_destroy(struct sim_ep *ep)
{
	if (ep->sink.mw != NULL)
		roce_frmr_destroy(ep->client->shard->s, ep->sink.mw);
	ep->sink.mw = NULL;
}

static void
make_registration(struct sim_ep *ep, struct sim_op *op, struct ndsh_swr *wr)
{
	const struct sim_arena *a = &ep->landing;
	struct sim_window *v = &ep->sink;
	struct sim_fast *f = v->fast;
	uint32_t list = ++v->generation % NDSH_FRMR_LISTS;

	for (uint32_t i = 0; i < f->pages; i++)
		f->lists[list * f->pages + i] = f->extent->va + (uint64_t)i * PAGE;
	v->token = ndsh_window_token(v->slot, v->secret, v->generation);
	v->state = SIM_WINDOW_BINDING;
	v->bind_op = ep->posted;
	op->op = NDSH_OP_FAST_REGISTER;
	op->window = v;
	wr->raddr = a->va;
	wr->rkey = v->token;
	wr->imm = v->generation;
	wr->arg[0] = a->bytes;
	wr->arg[1] = NDSH_FRMR_ARG(NDSH_ACCESS_LOCAL_WRITE, list, f->pages);
}

bool
sim_sink_register(struct sim_ep *ep, struct sim_op *op, struct ndsh_swr *wr)
{
	if (ep->sink.mw == NULL || ep->sink.state != SIM_WINDOW_FREE || !sim_chance(ep->w, 3000))
		return false;
	make_registration(ep, op, wr);
	return true;
}

/* The READ's place is chosen. It may be reached through the region, which is registered in front of
 * the READ at the latest. */
void
sim_sink_use(struct sim_ep *ep, struct sim_op *op)
{
	struct sim_window *v = &ep->sink;

	if (v->mw == NULL || (v->state != SIM_WINDOW_BINDING && v->state != SIM_WINDOW_BOUND) ||
		op->nsge == 0 || !sim_chance(ep->w, 7000))
		return;
	for (unsigned i = 0; i < op->nsge; i++)
		op->sge[i].key = ndsh_window_token(v->slot, v->secret, 0); /* the local one */
	if (!sim_chance(ep->w, 5000))
		return;
	op->flags |= NDSH_WRF_LOCAL_INV;
	v->state = SIM_WINDOW_ENDING;
}

/* checks R-RW-06[1] */
void
sim_sink_done(struct sim_ep *ep, const struct sim_op *op)
{
	if (!(op->flags & NDSH_WRF_LOCAL_INV))
		return;
	ep->sink.state = SIM_WINDOW_FREE;
	sim_fast_reuse_list(&ep->sink);
	sim_kind(SIM_KIND_read_invalidates);
}
