/* SPDX-License-Identifier: BSD-3-Clause */
/* Admin ring: regions are all that it ends, and only those that no window is bound to. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "rigs/admin_bench.h"
#include "roce/mem/fast_register.h"
#include "roce/mem/mr.h"
#include "roce/mem/mw.h"
#include "roce/qp/qp.h"
#include "roce/queue/wqe.h"
#include "roce/shard/shard.h"

#define VA    admin_bench_va(0)
#define PURGE 128u /* one call ends no more regions */

/* One of each kind, in client 0's domain, and what opens it. */
struct kinds {
	struct roce_qp qp;
	struct roce_mr *mw, *fr, *arena;
	uint32_t region, window, fast, privileged;
	struct roce_frmr *fast_mem;
	uint64_t lists[NDSH_FRMR_LISTS];
};

static void
window_make(struct admin_bench *b, struct kinds *k)
{
	uint32_t slot;
	uint64_t secret;

	k->mw = roce_mw_create(b->s, k->qp.pd, &slot, &secret);
	k->window = ndsh_window_token(slot, secret, 1);
	cr_assert(eq(int,
		roce_mw_bind(b->s, &k->qp,
			&(struct roce_wqe){.op = NDSH_OP_BIND,
				.rkey = k->window,
				.raddr = VA,
				.bind = {.bytes = 64,
					.access = NDSH_ACCESS_REMOTE_READ,
					.region = k->region,
					.generation = 1}}),
		ROCE_BIND_OK));
}

static void
fast_make(struct admin_bench *b, struct kinds *k)
{
	uint32_t slot;
	uint64_t secret;

	k->lists[0] = VA;
	k->fast_mem = calloc(1, roce_frmr_bytes(1));
	k->fr = roce_frmr_create(b->s,
		&(struct roce_frmr_cfg){.pd = k->qp.pd,
			.max_pages = 1,
			.arena = &b->c[0]->admin->arena,
			.lists = k->lists},
		k->fast_mem, &slot, &secret);
	k->fast = ndsh_window_token(slot, secret, 1);
	cr_assert(eq(int,
		roce_frmr_register(b->s, &k->qp,
			&(struct roce_wqe){.op = NDSH_OP_FAST_REGISTER,
				.rkey = k->fast,
				.frmr = {.bytes = 64, .pages = 1, .generation = 1}}),
		ROCE_FRMR_OK));
}

static void
kinds_make(struct admin_bench *b, struct kinds *k)
{
	*k = (struct kinds){
		.qp = {.pd = b->c[0]->pd, .qpn = 5, .binder = roce_mw_next_binder(0, 0)}};
	k->region = admin_bench_register(b, 0, VA, 4096, ADMIN_RIGHTS).data;
	window_make(b, k);
	fast_make(b, k);
	k->arena = roce_arena_open(b->s, k->qp.pd, &b->c[0]->admin->arena);
	k->privileged = roce_mr_key(k->arena);
}

static void
kinds_end(struct admin_bench *b, struct kinds *k)
{
	roce_arena_close(b->s, k->arena);
	roce_frmr_destroy(b->s, k->fr);
	roce_mw_destroy(b->s, k->mw);
	free(k->fast_mem);
}

/* All but the region. */
static void
expect_others_as_they_were(struct admin_bench *b, struct kinds *k)
{
	const uint32_t read = ROCE_ACCESS_LOCAL_READ;

	cr_expect(eq(u32, admin_bench_used(b), 4));
	cr_expect(roce_mr_permits(b->s, &k->qp, k->window, VA, 64, NDSH_ACCESS_REMOTE_READ));
	cr_expect(ne(ptr, roce_frmr_of_local(b->s, &k->qp, k->fr->fr->local_key), NULL));
	cr_expect(roce_mr_permits(b->s, &k->qp, k->privileged, VA, ADMIN_BYTES, read));
}

Test(admin_kinds, what_is_no_region_is_not_deregistered)
{
	struct admin_bench *b = admin_bench_new(ADMIN_MRS, ADMIN_MRS);
	struct kinds k;

	kinds_make(b, &k);
	cr_expect(eq(int, admin_bench_deregister(b, 0, k.window), NDSH_ADMIN_BAD));
	cr_expect(eq(int, admin_bench_deregister(b, 0, k.fast), NDSH_ADMIN_BAD));
	cr_expect(eq(int, admin_bench_deregister(b, 0, k.privileged), NDSH_ADMIN_BAD));
	expect_others_as_they_were(b, &k);
	kinds_end(b, &k);
	admin_bench_free(b);
}

/* checks R-MR-06[1], W-MEM-03[1] */
Test(admin_kinds, a_region_with_a_window_stays)
{
	struct admin_bench *b = admin_bench_new(ADMIN_MRS, ADMIN_MRS);
	struct kinds k;

	kinds_make(b, &k);
	for (unsigned i = 0; i < 3; i++)
		cr_expect(eq(int, admin_bench_deregister(b, 0, k.region), NDSH_ADMIN_BUSY));
	cr_expect(eq(ptr, admin_bench_opens(b, 0, k.region, VA + 4095), b->c[0]->memory + 4095));
	cr_expect(not(roce_admin_remove_range(b->c[0]->admin, VA)), "the region lies there");
	expect_others_as_they_were(b, &k);
	kinds_end(b, &k);
	cr_expect(eq(int, admin_bench_deregister(b, 0, k.region), NDSH_ADMIN_OK));
	cr_expect(roce_admin_remove_range(b->c[0]->admin, VA));
	admin_bench_free(b);
}

/* Each region is one of its principal's share: with as many as that may have there is none more,
 * though the client may have more, until one ends; and a refused one is none of the client's. */
Test(admin_kinds, a_region_is_one_of_its_principals_share)
{
	struct admin_bench *b = admin_bench_new(4, ADMIN_MRS);
	struct base_pool pool = {.total = 100};
	struct base_share share;
	uint32_t token[4];

	cr_assert(base_share_begin(&pool, &share, 0, 3));
	roce_admin_share(b->c[0]->admin, &pool, &share);
	for (uint32_t i = 0; i < 4; i++) {
		struct ndsh_cqe e = admin_bench_register(b, 0, admin_bench_va(0), 64, ADMIN_RIGHTS);

		token[i] = e.data;
		cr_expect(eq(int, e.status, i < 3 ? NDSH_ADMIN_OK : NDSH_ADMIN_FULL));
		cr_expect(eq(u64, share.used, i < 3 ? i + 1 : 3));
		cr_expect(eq(u32, b->c[0]->admin->left, i < 3 ? 3 - i : 1));
	}
	cr_expect(eq(u64, pool.promised, 3));
	for (uint32_t i = 0; i < 3; i++) {
		cr_expect(eq(int, admin_bench_deregister(b, 0, token[i]), NDSH_ADMIN_OK));
		cr_expect(eq(u64, share.used, 2 - i));
	}
	cr_expect(eq(u64, pool.promised, 0));
	cr_expect(eq(u32, b->c[0]->admin->left, 4));
	admin_bench_free(b);
}

/* The end of a session: windows have ended before, other kinds are ended by what holds them. */
Test(admin_kinds, a_purge_ends_regions_alone)
{
	struct admin_bench *b = admin_bench_new(ADMIN_MRS, ADMIN_MRS);
	struct kinds k;

	kinds_make(b, &k);
	cr_expect(not(roce_admin_purge(b->s, b->c[0]->admin)), "a window is bound to the region");
	expect_others_as_they_were(b, &k);
	cr_assert(roce_mw_invalidate(b->s, &k.qp, k.mw));
	cr_expect(roce_admin_purge(b->s, b->c[0]->admin));
	cr_expect(eq(u32, admin_bench_used(b), 3));
	cr_expect(eq(ptr, admin_bench_opens(b, 0, k.region, VA), NULL));
	cr_expect(ne(ptr, roce_frmr_of_local(b->s, &k.qp, k.fr->fr->local_key), NULL));
	cr_expect(roce_mr_permits(
		b->s, &k.qp, k.privileged, VA, ADMIN_BYTES, ROCE_ACCESS_LOCAL_READ));
	kinds_end(b, &k);
	admin_bench_free(b);
}

/* Another client's stay. */
Test(admin_kinds, a_purge_ends_those_of_one_client)
{
	struct admin_bench *b = admin_bench_new(ADMIN_MRS, ADMIN_MRS);
	uint32_t token = admin_bench_register(b, 0, VA, 64, ADMIN_RIGHTS).data;

	cr_expect(roce_admin_purge(b->s, b->c[1]->admin), "it has none");
	cr_expect(ne(ptr, admin_bench_opens(b, 0, token, VA), NULL));
	cr_expect(eq(u32, admin_bench_used(b), 1));
	admin_bench_free(b);
}

/* How many calls the purge of so many regions takes. */
static unsigned
purge_calls(uint32_t mrs)
{
	struct admin_bench *b = admin_bench_new(mrs, mrs);
	unsigned calls = 1;

	for (uint32_t i = 0; i < mrs; i++)
		cr_assert(eq(int, admin_bench_register(b, 0, VA, 64, 0).status, NDSH_ADMIN_OK));
	for (uint32_t i = 1; i < mrs; i += 2) /* some have gone before, in another order */
		cr_assert(eq(int, admin_bench_deregister(b, 0, roce_mr_key(&b->s->mrs[i])),
			NDSH_ADMIN_OK));
	for (uint32_t i = 1; i < mrs; i += 2)
		cr_assert(eq(int, admin_bench_register(b, 0, VA, 64, 0).status, NDSH_ADMIN_OK));
	for (; !roce_admin_purge(b->s, b->c[0]->admin); calls++)
		cr_assert(eq(u32, admin_bench_used(b), mrs - calls * PURGE));
	cr_expect(zero(u32, admin_bench_used(b)));
	admin_bench_free(b);
	return calls;
}

/* Some per call, so that packets come in between. */
Test(admin_kinds, a_purge_takes_a_part_per_call)
{
	cr_expect(eq(uint, purge_calls(1), 1));
	cr_expect(eq(uint, purge_calls(PURGE), 1));
	cr_expect(eq(uint, purge_calls(PURGE + 1), 2));
	cr_expect(eq(uint, purge_calls(10 * PURGE), 10));
}
