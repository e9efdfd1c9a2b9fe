/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rigs/fast.h"

struct fast *
fast_new(struct pair *p, bool remote)
{
	struct pair_side *d = &p->side[1];
	struct fast *f = calloc(1, sizeof(*f));

	f->extent[0] = (struct roce_extent){FAST_VA, FAST_EXTENT, d->arena + 2 * FAST_EXTENT};
	f->extent[1] = (struct roce_extent){
		FAST_VA + 3 * FAST_EXTENT, FAST_EXTENT, d->arena + FAST_EXTENT};
	f->arena = (struct roce_arena){f->extent, 2};
	f->mem = calloc(1, roce_frmr_bytes(FAST_PAGES));
	f->mr = roce_frmr_create(d->shard,
		&(struct roce_frmr_cfg){.pd = d->pd,
			.max_pages = FAST_PAGES,
			.remote = remote,
			.arena = &f->arena,
			.lists = f->lists[0]},
		f->mem, &f->slot, &f->secret);
	cr_assert_not_null(f->mr);
	f->local = ndsh_window_token(f->slot, f->secret, 0);
	for (uint32_t i = 0; i < NDSH_FRMR_LISTS; i++)
		fast_fill_list(f, i);
	return f;
}

void
fast_free(struct pair *p, struct fast *f)
{
	roce_frmr_destroy(p->side[1].shard, f->mr);
	pair_free(p);
	free(f->mem);
	free(f);
}

void
fast_fill_list(struct fast *f, uint32_t list)
{
	for (uint32_t i = 0; i < FAST_PAGES; i++)
		f->lists[list][i] = f->extent[(i + list) % 2].va +
				    (uint64_t)(200 - 3 * i - 50 * (list % 2)) * FAST_PAGE;
}

void
fast_register(struct pair *p, unsigned i, uint64_t context, struct fast *f, uint32_t list,
	uint32_t pages, uint32_t bytes, uint32_t access)
{
	f->generation++;
	f->token = ndsh_window_token(f->slot, f->secret, f->generation);
	pair_post(p, 1, i,
		&(struct ndsh_swr){.context = context,
			.raddr = FAST_BASE + f->offset,
			.rkey = f->token,
			.imm = f->generation,
			.arg = {bytes, NDSH_FRMR_ARG(access, list, pages)},
			.ctrl = NDSH_CTRL(NDSH_OP_FAST_REGISTER, 0, 0, 0)},
		NULL, NULL);
}

uint8_t *
fast_byte(struct pair *p, const struct fast *f, uint32_t list, uint32_t at)
{
	uint32_t from_page = f->offset + at;
	uint64_t va = f->lists[list][from_page / FAST_PAGE] + from_page % FAST_PAGE;
	const struct roce_extent *e = &f->extent[va >= f->extent[1].va];

	(void)p;
	return e->host + (va - e->va);
}

struct fast *
fast_ready(struct pair *p, uint32_t access)
{
	struct fast *f = fast_new(p, true);

	fast_register(p, 0, 1, f, 0, FAST_PAGES, FAST_PAGES * FAST_PAGE, access);
	pair_run(p, PAIR_LONG);
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	return f;
}
