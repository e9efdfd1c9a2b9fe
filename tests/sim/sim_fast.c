/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fast-register regions: each end of a connection has one, over a part of its target, which lives
 * as its windows do (sim_window.c) but has its bytes in pages and its own addresses.
 */
#include "sim.h"

#define PAGE NDSH_PAGE_BYTES

static void
shuffle_pages(struct sim_world *w, struct sim_fast *f, uint8_t *mem)
{
	for (uint32_t i = 0; i < f->pages; i++)
		f->place[i] = i;
	for (uint32_t i = f->pages - 1; i > 0; i--) {
		uint32_t j = (uint32_t)sim_below(w, i + 1), was = f->place[i];

		f->place[i] = f->place[j];
		f->place[j] = was;
	}
	for (uint32_t i = 0; i < f->pages; i++)
		f->extent[f->place[i]] =
			(struct roce_extent){.va = f->va + (uint64_t)f->place[i] * PAGE,
				.bytes = PAGE,
				.host = mem + (size_t)i * PAGE};
}

void
sim_fast_init(struct sim_ep *ep, struct sim_window *v)
{
	struct sim_world *w = ep->w;
	struct sim_fast *f = sim_alloc(w, sizeof(*f));
	struct roce_frmr_cfg cfg = {.pd = ep->client->pd, .remote = true, .arena = &f->arena};

	v->fast = f;
	/* The last page may have an end that is not there: no access may reach it. */
	f->pages = (ep->target.bytes + PAGE - 1) / PAGE;
	f->extent = sim_alloc(w, f->pages * sizeof(*f->extent));
	f->place = sim_alloc(w, f->pages * sizeof(*f->place));
	f->lists = sim_alloc(w, NDSH_FRMR_LISTS * f->pages * sizeof(*f->lists));
	f->mem = sim_alloc(w, roce_frmr_bytes(f->pages));
	f->va = w->next_va;
	w->next_va += (uint64_t)(f->pages + 16) * PAGE;
	shuffle_pages(w, f, ep->target.mem);
	f->arena = (struct roce_arena){f->extent, f->pages};
	cfg.max_pages = f->pages;
	cfg.lists = f->lists;
	v->mw = roce_frmr_create(ep->client->shard->s, &cfg, f->mem, &v->slot, &v->secret);
}

void
sim_fast_destroy(struct sim_ep *ep, struct sim_window *v)
{
	roce_frmr_destroy(ep->client->shard->s, v->mw);
}

/* v has the part of the target, the generation and the token of this one. */
void
sim_fast_register(struct sim_ep *ep, struct sim_op *op, struct sim_window *v, struct ndsh_swr *wr)
{
	struct sim_fast *f = v->fast;
	uint32_t slot_bytes = ep->target.slot_bytes, from = v->first * slot_bytes;
	uint32_t bytes = v->slots * slot_bytes, list = v->generation % NDSH_FRMR_LISTS;
	uint32_t pages = (from % PAGE + bytes + PAGE - 1) / PAGE;
	uint32_t access;

	if (v->access == 0) /* what grants the peer nothing it may not invalidate */
		v->access = NDSH_ACCESS_REMOTE_READ;
	access = v->access;
	if (access & NDSH_ACCESS_REMOTE_WRITE)
		access |= NDSH_ACCESS_LOCAL_WRITE;
	for (uint32_t i = 0; i < pages; i++)
		f->lists[list * f->pages + i] = f->va + (uint64_t)f->place[from / PAGE + i] * PAGE;
	f->base = (sim_below(ep->w, 1u << 20) + 1) * PAGE + from % PAGE;
	op->op = NDSH_OP_FAST_REGISTER;
	wr->raddr = f->base;
	wr->rkey = v->token;
	wr->imm = v->generation;
	wr->arg[0] = bytes;
	wr->arg[1] = NDSH_FRMR_ARG(access, list, pages);
}

void
sim_fast_reuse_list(struct sim_window *v)
{
	struct sim_fast *f = v->fast;

	for (uint32_t i = 0; i < f->pages; i++)
		f->lists[v->generation % NDSH_FRMR_LISTS * f->pages + i] = UINT64_MAX;
}
