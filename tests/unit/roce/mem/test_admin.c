/* SPDX-License-Identifier: BSD-3-Clause */
/* The admin ring: what a client can do by it, and what it can't whatever it writes there. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "roce/mem/admin.h"

#define DEPTH  8u
#define BYTES  65536u
#define VA     0x7f0000000000ull
#define MRS    16u
#define RIGHTS (NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_READ)

struct client {
	struct roce_admin admin;
	struct ndsh_admin ring;
	struct ndsh_cq_reader answers;
	struct roce_cq *cq;
	void *block, *base;
	uint32_t pd; /* the engine's; the handle is its own thousandth */
	uint8_t memory[BYTES];
};

struct bench {
	struct roce_shard *s;
	void *mem;
	struct client *c[2];
};

static uint32_t
handle(uint32_t i)
{
	return 1000 + i;
}

static struct client *
client(struct bench *b, uint32_t i, uint32_t max)
{
	struct client *c = aligned_alloc(64, (sizeof(*c) + 63) & ~63ul);

	memset(c, 0, sizeof(*c));
	c->block = aligned_alloc(64, ndsh_cq_bytes(2 * DEPTH));
	memset(c->block, 0, ndsh_cq_bytes(2 * DEPTH));
	c->base = aligned_alloc(64, ndsh_admin_bytes(DEPTH));
	memset(c->base, 0, ndsh_admin_bytes(DEPTH));
	c->cq = roce_cq_create(b->s, c->block, 2 * DEPTH, NULL);
	ndsh_cq_reader_view(&c->answers, c->block, 2 * DEPTH);
	ndsh_admin_view(&c->ring, c->base, DEPTH);
	roce_admin_init(&c->admin, max);
	c->pd = roce_pd_create(b->s);
	roce_admin_add_pd(&c->admin, handle(i), c->pd);
	cr_assert(roce_admin_add_range(&c->admin, VA + i * BYTES, BYTES, c->memory));
	roce_admin_open(&c->admin, c->base, DEPTH, c->cq);
	return c;
}

static struct bench *
make(uint32_t max)
{
	const struct roce_shard_cfg cfg = {.max_qps = 1,
		.max_cqs = 2,
		.max_pds = 2,
		.max_mrs = MRS,
		.max_wqes = 16,
		.secret = {3, 4},
		.rto_floor_ns = 10000000,
		.window = 16};
	struct bench *b = calloc(1, sizeof(*b));
	size_t bytes = roce_shard_bytes(&cfg);

	b->mem = aligned_alloc(64, (bytes + 63) & ~63ul);
	memset(b->mem, 0, bytes);
	b->s = roce_shard_init(b->mem, &cfg);
	cr_assert(ne(ptr, b->s, NULL));
	for (uint32_t i = 0; i < 2; i++)
		b->c[i] = client(b, i, max);
	return b;
}

static void
drop(struct bench *b)
{
	struct roce_usage u;

	for (uint32_t i = 0; i < 2; i++) {
		uint32_t pos = 0;

		roce_admin_close(&b->c[i]->admin);
		while (!roce_admin_purge(b->s, &b->c[i]->admin, handle(i), &pos))
			;
		cr_expect(roce_pd_destroy(b->s, b->c[i]->pd), "all its regions are gone");
		cr_expect(roce_cq_destroy(b->s, b->c[i]->cq));
		free(b->c[i]->block);
		free(b->c[i]->base);
		free(b->c[i]);
	}
	roce_shard_usage(b->s, &u);
	cr_expect(zero(u32, u.mrs));
	free(b->mem);
	free(b);
}

static struct ndsh_cqe
ask(struct bench *b, uint32_t i, const struct ndsh_admin_request *r)
{
	struct client *c = b->c[i];
	struct ndsh_cqe e = {0};

	ndsh_admin_push(&c->ring, r);
	cr_assert(eq(uint, roce_admin_serve(b->s, &c->admin, DEPTH), 1));
	roce_shard_publish(b->s);
	cr_assert(eq(u32, ndsh_cq_poll(&c->answers, &e, 1), 1));
	cr_assert(eq(u32, e.slot_count, c->ring.next));
	cr_assert(eq(u64, e.context, r->context));
	return e;
}

static struct ndsh_cqe
reg(struct bench *b, uint32_t i, uint32_t pd, uint64_t va, uint64_t bytes, uint32_t access)
{
	return ask(b, i,
		&(struct ndsh_admin_request){.context = va,
			.va = va,
			.bytes = bytes,
			.pd = pd,
			.access = access,
			.ctrl = NDSH_ADMIN_REGISTER});
}

static uint8_t
dereg(struct bench *b, uint32_t i, uint32_t pd, uint32_t token)
{
	return ask(b, i,
		&(struct ndsh_admin_request){
			.pd = pd, .token = token, .ctrl = NDSH_ADMIN_DEREGISTER})
		.status;
}

Test(admin, registers_and_deregisters)
{
	struct bench *b = make(MRS);
	struct ndsh_cqe e;
	uint32_t last = 0;

	for (int i = 0; i < 100; i++) { /* many times round the ring */
		e = reg(b, 0, handle(0), VA + 64, BYTES - 64, RIGHTS);
		cr_assert(eq(int, e.status, NDSH_ADMIN_OK));
		cr_assert(e.data != 0 && e.data != last, "another token each time");
		last = e.data;
		cr_assert(eq(int, dereg(b, 0, handle(0), last), NDSH_ADMIN_OK));
		cr_assert(eq(int, dereg(b, 0, handle(0), last), NDSH_ADMIN_BAD), "it is dead");
	}
	drop(b);
}

Test(admin, memory_that_is_not_the_clients_is_out_of_reach)
{
	struct bench *b = make(MRS);
	static const struct {
		uint64_t va, bytes;
		uint8_t want;
	} t[] = {
		{VA, BYTES, NDSH_ADMIN_OK},
		{VA + BYTES - 1, 1, NDSH_ADMIN_OK},
		{VA, BYTES + 1, NDSH_ADMIN_RANGE},
		{VA + 1, BYTES, NDSH_ADMIN_RANGE},
		{VA - 1, 2, NDSH_ADMIN_RANGE},
		{VA + BYTES, 1, NDSH_ADMIN_RANGE}, /* the other's */
		{VA + 8, UINT64_MAX, NDSH_ADMIN_RANGE},
		{UINT64_MAX, 1, NDSH_ADMIN_RANGE},
		{0, 1, NDSH_ADMIN_RANGE},
		{VA, 0, NDSH_ADMIN_BAD},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		cr_expect(eq(int, reg(b, 0, handle(0), t[i].va, t[i].bytes, RIGHTS).status,
				  t[i].want),
			"row %zu", i);
	drop(b);
}

/* checks W-MEM-02: refused as a mistake of the client's, not as a table that is full. */
Test(admin, peers_write_only_where_the_client_may)
{
	struct bench *b = make(MRS);

	for (uint32_t access = 0; access <= NDSH_ACCESS_MASK + 1; access++) {
		bool writes = access & (NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_REMOTE_ATOMIC);
		bool ok = access <= NDSH_ACCESS_MASK &&
			  (!writes || (access & NDSH_ACCESS_LOCAL_WRITE));
		struct ndsh_cqe e = reg(b, 0, handle(0), VA, 64, access);

		cr_expect(eq(int, e.status, ok ? NDSH_ADMIN_OK : NDSH_ADMIN_BAD), "rights %x",
			access);
		if (ok)
			cr_expect(eq(int, dereg(b, 0, handle(0), e.data), NDSH_ADMIN_OK));
	}
	drop(b);
}

Test(admin, a_region_of_another_client_is_out_of_reach)
{
	struct bench *b = make(MRS);
	uint32_t mine = reg(b, 0, handle(0), VA, 64, RIGHTS).data;
	uint32_t theirs = reg(b, 1, handle(1), VA + BYTES, 64, RIGHTS).data;
	uint32_t slot;
	uint64_t secret;
	struct roce_mr *mw = roce_mw_create(b->s, b->c[0]->pd, &slot, &secret);

	cr_expect(eq(int, dereg(b, 0, handle(0), theirs), NDSH_ADMIN_BAD));
	cr_expect(eq(int, dereg(b, 0, handle(1), theirs), NDSH_ADMIN_BAD), "no name of ours");
	cr_expect(eq(int, dereg(b, 0, handle(0), mine ^ 1), NDSH_ADMIN_BAD));
	cr_expect(eq(int, dereg(b, 0, handle(0), 0xffffffff), NDSH_ADMIN_BAD));
	cr_expect(eq(int, dereg(b, 0, handle(0), slot << NDSH_TOKEN_KEY_BITS), NDSH_ADMIN_BAD),
		"a window");
	cr_expect(eq(int, reg(b, 0, handle(1), VA, 64, RIGHTS).status, NDSH_ADMIN_BAD));
	cr_expect(eq(int, reg(b, 0, handle(0) + ROCE_ADMIN_PDS, VA, 64, RIGHTS).status,
			  NDSH_ADMIN_BAD),
		"an older handle of the same place");
	cr_expect(eq(int, dereg(b, 1, handle(1), theirs), NDSH_ADMIN_OK));
	cr_expect(eq(int, dereg(b, 0, handle(0), mine), NDSH_ADMIN_OK));
	roce_mw_destroy(b->s, mw);
	drop(b);
}

Test(admin, garbage_is_answered_and_changes_nothing)
{
	struct bench *b = make(MRS);
	struct roce_usage before, after;
	uint32_t seed = 1;

	roce_shard_usage(b->s, &before);
	for (uint32_t ctrl = 0; ctrl < 4000; ctrl++) {
		struct ndsh_admin_request r;

		for (size_t i = 0; i < sizeof(r) / 4; i++)
			((uint32_t *)&r)[i] = seed = seed * 1664525u + 1013904223u;
		cr_assert(ne(int, ask(b, 0, &r).status, NDSH_ADMIN_OK));
	}
	cr_expect(ne(int, reg(b, 0, handle(0), VA, 64, 32).status, NDSH_ADMIN_OK));
	cr_expect(ne(int, reg(b, 0, handle(0), VA, 64, NDSH_ACCESS_REMOTE_WRITE).status,
			  NDSH_ADMIN_OK),
		"W-MEM-02");
	roce_shard_usage(b->s, &after);
	cr_expect(eq(u32, before.mrs, after.mrs));
	drop(b);
}

Test(admin, a_session_has_so_many_and_no_more)
{
	struct bench *b = make(3);
	uint32_t token[3];

	for (int i = 0; i < 3; i++)
		token[i] = reg(b, 0, handle(0), VA, 64, RIGHTS).data;
	cr_expect(eq(int, reg(b, 0, handle(0), VA, 64, RIGHTS).status, NDSH_ADMIN_FULL));
	cr_expect(not(roce_admin_take(&b->c[0]->admin)), "windows count with them");
	cr_expect(eq(int, reg(b, 1, handle(1), VA + BYTES, 64, RIGHTS).status, NDSH_ADMIN_OK),
		"the other has its own");
	cr_expect(eq(int, dereg(b, 0, handle(0), token[1]), NDSH_ADMIN_OK));
	cr_expect(eq(int, reg(b, 0, handle(0), VA, 64, RIGHTS).status, NDSH_ADMIN_OK));
	drop(b);
}

Test(admin, the_budget_is_kept)
{
	struct bench *b = make(MRS);
	struct client *c = b->c[0];

	for (uint32_t i = 0; i < DEPTH; i++)
		ndsh_admin_push(&c->ring, &(struct ndsh_admin_request){.va = VA,
						  .bytes = 1,
						  .pd = handle(0),
						  .ctrl = NDSH_ADMIN_REGISTER});
	cr_expect(eq(uint, roce_admin_serve(b->s, &c->admin, 3), 3));
	cr_expect(eq(uint, roce_admin_serve(b->s, &c->admin, 100), DEPTH - 3));
	cr_expect(zero(uint, roce_admin_serve(b->s, &c->admin, 100)));
	drop(b);
}

Test(admin, ranges_stay_disjoint_and_while_regions_lie_there)
{
	struct bench *b = make(MRS);
	struct roce_admin *a = &b->c[0]->admin;
	uint8_t *host = b->c[0]->memory;
	uint32_t token;

	cr_expect(not(roce_admin_add_range(a, VA, 1, host)));
	cr_expect(not(roce_admin_add_range(a, VA + BYTES - 1, 2, host)));
	cr_expect(not(roce_admin_add_range(a, VA - 1, 2, host)));
	cr_expect(not(roce_admin_add_range(a, UINT64_MAX, 2, host)));
	cr_expect(not(roce_admin_add_range(a, 0, 0, host)));
	cr_assert(roce_admin_add_range(a, VA - 64, 64, host));
	cr_assert(roce_admin_add_range(a, VA + BYTES, 64, host));
	cr_expect(eq(int, reg(b, 0, handle(0), VA - 64, 65, 0).status, NDSH_ADMIN_RANGE),
		"neighbours are no whole");
	token = reg(b, 0, handle(0), VA - 64, 64, 0).data;
	cr_assert(ne(u32, token, 0));
	cr_expect(not(roce_admin_remove_range(a, VA - 64)));
	cr_assert(eq(int, dereg(b, 0, handle(0), token), NDSH_ADMIN_OK));
	cr_expect(roce_admin_remove_range(a, VA - 64));
	cr_expect(eq(int, reg(b, 0, handle(0), VA - 64, 64, 0).status, NDSH_ADMIN_RANGE));
	cr_expect(eq(int, reg(b, 0, handle(0), VA, 64, 0).status, NDSH_ADMIN_OK));
	drop(b);
}
