/* SPDX-License-Identifier: BSD-3-Clause */
/* The admin ring: what a client can do by it, and what it can't whatever it writes there. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "rigs/admin_bench.h"

#define VA     admin_bench_va(0)
#define THEIRS admin_bench_va(1)

/* A request that client 0 would be right to make. */
static struct ndsh_admin_request
good(void)
{
	return (struct ndsh_admin_request){.va = VA,
		.bytes = 64,
		.pd = admin_bench_handle(0),
		.access = ADMIN_RIGHTS,
		.ctrl = NDSH_ADMIN_REGISTER};
}

static uint8_t
status_of(struct admin_bench *b, struct ndsh_admin_request r)
{
	return admin_bench_ask(b, 0, &r).status;
}

Test(admin, registers_and_deregisters)
{
	struct admin_bench *b = admin_bench_new(ADMIN_MRS, ADMIN_MRS);
	struct ndsh_cqe e;
	uint32_t last = 0;

	for (int i = 0; i < 100; i++) { /* many times round the ring */
		e = admin_bench_register(b, 0, VA + 64, ADMIN_BYTES - 64, ADMIN_RIGHTS);
		cr_assert(eq(int, e.status, NDSH_ADMIN_OK));
		cr_assert(e.data != 0 && e.data != last, "another token each time");
		last = e.data;
		cr_assert(eq(int, admin_bench_deregister(b, 0, last), NDSH_ADMIN_OK));
		cr_assert(
			eq(int, admin_bench_deregister(b, 0, last), NDSH_ADMIN_BAD), "it is dead");
	}
	admin_bench_free(b);
}

/* checks R-MR-08[1]: the memory that was named, from the answer to the deregistration. */
Test(admin, a_token_opens_what_was_registered)
{
	struct admin_bench *b = admin_bench_new(ADMIN_MRS, ADMIN_MRS);
	uint8_t *memory = b->c[0]->memory;
	uint32_t token = admin_bench_register(b, 0, VA + 64, 128, ADMIN_RIGHTS).data;

	cr_expect(eq(ptr, admin_bench_opens(b, 0, token, VA + 64), memory + 64));
	cr_expect(eq(ptr, admin_bench_opens(b, 0, token, VA + 191), memory + 191));
	cr_expect(eq(ptr, admin_bench_opens(b, 0, token, VA + 63), NULL));
	cr_expect(eq(ptr, admin_bench_opens(b, 0, token, VA + 192), NULL));
	cr_expect(eq(ptr, admin_bench_opens(b, 1, token, VA + 64), NULL), "another's domain");
	cr_assert(eq(int, admin_bench_deregister(b, 0, token), NDSH_ADMIN_OK));
	cr_expect(eq(ptr, admin_bench_opens(b, 0, token, VA + 64), NULL));
	admin_bench_free(b);
}

/* checks W-MEM-08[1,2]: its iova opens it, and its address does not; it lies in its segment all the
 * same. */
Test(admin, a_region_has_the_iova_that_it_was_given)
{
	static const uint64_t all[] = {
		0, 1, 4096, UINT64_C(1) << 63, UINT64_MAX - 128, UINT64_C(0x12345)};
	struct admin_bench *b = admin_bench_new(ADMIN_MRS, ADMIN_MRS);
	uint8_t *memory = b->c[0]->memory;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct ndsh_admin_request r = good();
		uint64_t iova = all[i];
		struct ndsh_cqe e;

		r.va = VA + 64;
		r.bytes = 128;
		r.iova_offset = iova - r.va;
		e = admin_bench_ask(b, 0, &r);
		cr_assert(eq(int, e.status, NDSH_ADMIN_OK));
		cr_expect(eq(ptr, admin_bench_opens(b, 0, e.data, iova), memory + 64));
		cr_expect(eq(ptr, admin_bench_opens(b, 0, e.data, iova + 127), memory + 191));
		cr_expect(eq(ptr, admin_bench_opens(b, 0, e.data, iova - 1), NULL));
		cr_expect(eq(ptr, admin_bench_opens(b, 0, e.data, iova + 128), NULL));
		cr_expect(eq(ptr, admin_bench_opens(b, 0, e.data, VA + 64), NULL));
		cr_expect(not(roce_admin_remove_range(b->c[0]->admin, VA)), "a region is there");
		cr_expect(eq(int, admin_bench_deregister(b, 0, e.data), NDSH_ADMIN_OK));
	}
	cr_expect(roce_admin_remove_range(b->c[0]->admin, VA));
	admin_bench_free(b);
}

/* checks W-MEM-08[3]: one that wraps is refused, and the memory is judged by its own addresses as
 * ever. */
Test(admin, what_an_iova_can_not_be)
{
	const struct {
		uint64_t va, bytes, iova;
		uint8_t want;
	} t[] = {
		{VA, 64, UINT64_MAX - 63, NDSH_ADMIN_BAD},
		{VA, 64, UINT64_MAX, NDSH_ADMIN_BAD},
		{VA, ADMIN_BYTES, UINT64_MAX - 64, NDSH_ADMIN_BAD},
		{VA, 0, 0, NDSH_ADMIN_BAD},
		{VA, UINT64_MAX, 1, NDSH_ADMIN_BAD},
		{VA, UINT64_MAX, 0, NDSH_ADMIN_RANGE},
		{VA, ADMIN_BYTES + 1, 0, NDSH_ADMIN_RANGE},
		{THEIRS, 64, VA, NDSH_ADMIN_RANGE},
		{0, 64, VA, NDSH_ADMIN_RANGE},
		{VA - 1, 64, VA, NDSH_ADMIN_RANGE},
	};
	struct admin_bench *b = admin_bench_new(ADMIN_MRS, ADMIN_MRS);

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct ndsh_admin_request r = good();

		r.va = t[i].va;
		r.bytes = t[i].bytes;
		r.iova_offset = t[i].iova - t[i].va;
		cr_expect(eq(int, status_of(b, r), t[i].want), "row %zu", i);
		cr_expect(zero(u32, admin_bench_used(b)));
	}
	admin_bench_free(b);
}

/* checks W-MEM-02: refused as a mistake of the client's, not as a table that is full. */
Test(admin, peers_write_only_where_the_client_may)
{
	struct admin_bench *b = admin_bench_new(ADMIN_MRS, ADMIN_MRS);

	for (uint32_t access = 0; access <= NDSH_ACCESS_MASK + 1; access++) {
		bool writes = access & (NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_REMOTE_ATOMIC);
		bool ok = access <= NDSH_ACCESS_MASK &&
			  (!writes || (access & NDSH_ACCESS_LOCAL_WRITE));
		struct ndsh_cqe e = admin_bench_register(b, 0, VA, 64, access);

		cr_expect(eq(int, e.status, ok ? NDSH_ADMIN_OK : NDSH_ADMIN_BAD), "rights %x",
			access);
		if (ok)
			cr_expect(eq(int, admin_bench_deregister(b, 0, e.data), NDSH_ADMIN_OK));
	}
	admin_bench_free(b);
}

/* All else is right, so that nothing but the operation is wrong. */
Test(admin, what_is_no_operation_does_nothing)
{
	static const uint32_t ops[] = {0, 4, 5, 0xff, 0x101, 0x102, 0x7fffffff};
	struct admin_bench *b = admin_bench_new(ADMIN_MRS, ADMIN_MRS);
	struct ndsh_admin_request r = good();

	r.token = admin_bench_register(b, 0, VA, 64, ADMIN_RIGHTS).data;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		r.ctrl = ops[i];
		cr_expect(eq(int, status_of(b, r), NDSH_ADMIN_BAD), "operation %x", ops[i]);
		cr_expect(eq(u32, admin_bench_used(b), 1));
		cr_expect(ne(ptr, admin_bench_opens(b, 0, r.token, VA), NULL));
	}
	admin_bench_free(b);
}

Test(admin, garbage_is_answered_and_changes_nothing)
{
	struct admin_bench *b = admin_bench_new(ADMIN_MRS, ADMIN_MRS);
	uint32_t seed = 1;

	for (uint32_t ctrl = 0; ctrl < 4000; ctrl++) {
		struct ndsh_admin_request r;

		for (size_t i = 0; i < sizeof(r) / 4; i++)
			((uint32_t *)&r)[i] = seed = seed * 1664525u + 1013904223u;
		cr_assert(ne(int, status_of(b, r), NDSH_ADMIN_OK));
	}
	cr_expect(zero(u32, admin_bench_used(b)));
	admin_bench_free(b);
}

/* ---- domains, and regions of other clients ---- */

Test(admin, a_region_of_another_client_is_out_of_reach)
{
	struct admin_bench *b = admin_bench_new(ADMIN_MRS, ADMIN_MRS);
	uint32_t mine = admin_bench_register(b, 0, VA, 64, ADMIN_RIGHTS).data;
	uint32_t theirs = admin_bench_register(b, 1, THEIRS, 64, ADMIN_RIGHTS).data;
	struct ndsh_admin_request r = {.token = theirs, .ctrl = NDSH_ADMIN_DEREGISTER};

	for (uint32_t pd = 0; pd < 4; pd++) { /* whatever number the engine has for their domain */
		r.pd = pd;
		cr_expect(eq(int, status_of(b, r), NDSH_ADMIN_BAD));
	}
	r.pd = admin_bench_handle(1);
	cr_expect(eq(int, status_of(b, r), NDSH_ADMIN_BAD), "no name of ours");
	cr_expect(eq(int, admin_bench_deregister(b, 0, theirs), NDSH_ADMIN_BAD));
	cr_expect(eq(int, admin_bench_deregister(b, 0, mine ^ 1), NDSH_ADMIN_BAD));
	cr_expect(eq(int, admin_bench_deregister(b, 0, 0xffffffff), NDSH_ADMIN_BAD));
	cr_expect(ne(ptr, admin_bench_opens(b, 1, theirs, THEIRS), NULL), "it is as it was");
	cr_expect(ne(ptr, admin_bench_opens(b, 0, mine, VA), NULL));
	cr_expect(eq(int, admin_bench_deregister(b, 1, theirs), NDSH_ADMIN_OK));
	cr_expect(eq(int, admin_bench_deregister(b, 0, mine), NDSH_ADMIN_OK));
	admin_bench_free(b);
}

/* A domain of another client; an older handle of the same place. */
Test(admin, a_domain_that_is_not_the_clients)
{
	const uint32_t handles[] = {
		0, 1, 2, admin_bench_handle(1), admin_bench_handle(0) + ROCE_ADMIN_PDS, UINT32_MAX};
	struct admin_bench *b = admin_bench_new(ADMIN_MRS, ADMIN_MRS);
	struct ndsh_admin_request r = good();

	for (size_t i = 0; i < sizeof(handles) / sizeof(handles[0]); i++) {
		r.pd = handles[i];
		cr_expect(eq(int, status_of(b, r), NDSH_ADMIN_BAD), "handle %u", r.pd);
	}
	cr_expect(zero(u32, admin_bench_used(b)));
	admin_bench_free(b);
}

Test(admin, a_domain_that_is_gone)
{
	struct admin_bench *b = admin_bench_new(ADMIN_MRS, ADMIN_MRS);
	struct roce_admin *a = b->c[0]->admin;

	roce_admin_remove_pd(a, admin_bench_handle(0));
	cr_expect(eq(int, status_of(b, good()), NDSH_ADMIN_BAD));
	cr_expect(zero(u32, admin_bench_used(b)));
	roce_admin_add_pd(a, admin_bench_handle(0), b->c[0]->pd);
	cr_expect(eq(int, status_of(b, good()), NDSH_ADMIN_OK));
	admin_bench_free(b);
}

/* ---- as many as there may be ---- */

Test(admin, a_session_has_so_many_and_no_more)
{
	struct admin_bench *b = admin_bench_new(3, ADMIN_MRS);
	uint32_t token[3];

	for (int i = 0; i < 3; i++)
		token[i] = admin_bench_register(b, 0, VA, 64, ADMIN_RIGHTS).data;
	cr_expect(eq(int, status_of(b, good()), NDSH_ADMIN_FULL));
	cr_expect(not(roce_admin_take(b->c[0]->admin)), "windows count with them");
	cr_expect(
		eq(int, admin_bench_register(b, 1, THEIRS, 64, ADMIN_RIGHTS).status, NDSH_ADMIN_OK),
		"the other has its own");
	cr_expect(eq(int, admin_bench_deregister(b, 0, token[1]), NDSH_ADMIN_OK));
	cr_expect(eq(int, status_of(b, good()), NDSH_ADMIN_OK));
	admin_bench_free(b);
}

/* Another client holds all of the shard's table: what is refused meanwhile costs nothing. */
Test(admin, a_table_that_is_full)
{
	struct admin_bench *b = admin_bench_new(ADMIN_MRS, ADMIN_MRS);
	uint32_t token[ADMIN_MRS];

	for (uint32_t i = 0; i < ADMIN_MRS; i++)
		token[i] = admin_bench_register(b, 1, THEIRS, 64, ADMIN_RIGHTS).data;
	for (uint32_t i = 0; i < 2 * ADMIN_MRS; i++) {
		struct ndsh_cqe e = admin_bench_register(b, 0, VA, 64, ADMIN_RIGHTS);

		cr_assert(eq(int, e.status, NDSH_ADMIN_FULL));
		cr_assert(zero(u32, e.data));
	}
	for (uint32_t i = 0; i < ADMIN_MRS; i++)
		cr_assert(eq(int, admin_bench_deregister(b, 1, token[i]), NDSH_ADMIN_OK));
	for (uint32_t i = 0; i < ADMIN_MRS; i++)
		cr_assert(eq(int, status_of(b, good()), NDSH_ADMIN_OK));
	admin_bench_free(b);
}

/* ---- the ring ---- */

Test(admin, the_budget_is_kept)
{
	struct admin_bench *b = admin_bench_new(ADMIN_MRS, ADMIN_MRS);
	struct admin_bench_client *c = b->c[0];
	struct ndsh_admin_request r = good();

	for (uint32_t i = 0; i < ADMIN_DEPTH; i++)
		ndsh_admin_push(&c->ring, &r);
	cr_expect(eq(uint, roce_admin_serve(b->s, c->admin, 3), 3));
	cr_expect(eq(uint, roce_admin_serve(b->s, c->admin, 100), ADMIN_DEPTH - 3));
	cr_expect(zero(uint, roce_admin_serve(b->s, c->admin, 100)));
	admin_bench_free(b);
}

Test(admin, a_ring_that_is_closed_is_served_no_more)
{
	struct admin_bench *b = admin_bench_new(ADMIN_MRS, ADMIN_MRS);
	struct admin_bench_client *c = b->c[0];
	struct ndsh_admin_request r = good();
	struct ndsh_cqe e;

	roce_admin_close(c->admin);
	ndsh_admin_push(&c->ring, &r);
	cr_expect(zero(uint, roce_admin_serve(b->s, c->admin, ADMIN_DEPTH)));
	roce_shard_publish(b->s);
	cr_expect(zero(u32, ndsh_cq_poll(&c->answers, &e, 1)));
	cr_expect(zero(u32, admin_bench_used(b)));
	admin_bench_free(b);
}
