/* SPDX-License-Identifier: BSD-3-Clause */
/* Admin ring: memory in no segment, which the client's own mover moves. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/admin_bench.h"
#include "roce/mem/mover.h"
#include "roce/mem/mr.h"
#include "roce/qp/qp.h"

#define AWAY UINT64_C(0x400000) /* in no range of the client's */

struct moving {
	struct admin_bench *b;
	struct roce_mover *mover;
	void *mem, *shared;
};

static struct moving
moving_new(uint32_t max)
{
	struct moving v = {.b = admin_bench_new(max, ADMIN_MRS)};
	size_t bytes = (ndsh_mover_bytes(true) + 63) & ~63ul;

	v.mem = calloc(1, roce_mover_bytes());
	v.shared = memset(aligned_alloc(64, bytes), 0, bytes);
	v.mover = roce_mover_create(v.b->s, NULL, v.mem, v.shared, true, NULL);
	roce_admin_set_mover(v.b->c[0]->admin, v.mover);
	return v;
}

/* Nothing of it is left behind the end of the session's regions. */
static void
moving_free(struct moving *v)
{
	cr_expect(roce_admin_purge(v->b->s, v->b->c[0]->admin));
	cr_expect(roce_mover_destroy(v->b->s, v->mover), "no region has it");
	admin_bench_free(v->b);
	free(v->mem);
	free(v->shared);
}

static struct ndsh_cqe
register_moved(struct moving *v, uint32_t i, uint64_t va, uint64_t bytes, uint32_t access)
{
	return admin_bench_ask(v->b, i,
		&(struct ndsh_admin_request){.va = va,
			.bytes = bytes,
			.pd = admin_bench_handle(i),
			.access = access,
			.ctrl = NDSH_ADMIN_REGISTER_MOVED});
}

static struct roce_mover *
mover_of(struct moving *v, uint32_t token, uint64_t va, uint64_t bytes, uint32_t right)
{
	const struct roce_qp qp = {.pd = v->b->c[0]->pd};

	return roce_mr_mover(v->b->s, &qp, token, va, bytes, right);
}

Test(admin_moved, is_reached_by_its_mover_alone)
{
	struct moving v = moving_new(ADMIN_MRS);
	struct ndsh_cqe e = register_moved(&v, 0, AWAY, 5000, ADMIN_RIGHTS);

	cr_assert(eq(int, e.status, NDSH_ADMIN_OK));
	cr_expect(eq(ptr, mover_of(&v, e.data, AWAY, 5000, NDSH_ACCESS_REMOTE_READ), v.mover));
	cr_expect(eq(ptr, mover_of(&v, e.data, AWAY, 5000, NDSH_ACCESS_REMOTE_WRITE), NULL));
	cr_expect(eq(ptr, mover_of(&v, e.data, AWAY + 1, 5000, NDSH_ACCESS_REMOTE_READ), NULL));
	cr_expect(eq(ptr, admin_bench_opens(v.b, 0, e.data, AWAY), NULL), "no pointer of ours");
	cr_expect(eq(int, admin_bench_deregister(v.b, 0, e.data), NDSH_ADMIN_OK));
	cr_expect(eq(ptr, mover_of(&v, e.data, AWAY, 5000, NDSH_ACCESS_REMOTE_READ), NULL));
	moving_free(&v);
}

/* Copy commands name the client's own addresses. */
Test(admin_moved, has_the_iova_that_it_was_given)
{
	static const uint64_t all[] = {0, 4097, UINT64_MAX - 5000};
	struct moving v = moving_new(ADMIN_MRS);

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		uint64_t iova = all[i];
		struct ndsh_cqe e = admin_bench_ask(v.b, 0,
			&(struct ndsh_admin_request){.va = AWAY,
				.bytes = 5000,
				.iova_offset = iova - AWAY,
				.pd = admin_bench_handle(0),
				.access = ADMIN_RIGHTS,
				.ctrl = NDSH_ADMIN_REGISTER_MOVED});

		cr_assert(eq(int, e.status, NDSH_ADMIN_OK));
		cr_expect(eq(
			ptr, mover_of(&v, e.data, iova, 5000, NDSH_ACCESS_REMOTE_READ), v.mover));
		cr_expect(
			eq(ptr, mover_of(&v, e.data, iova - 1, 1, NDSH_ACCESS_REMOTE_READ), NULL));
		cr_expect(eq(
			ptr, mover_of(&v, e.data, iova + 1, 5000, NDSH_ACCESS_REMOTE_READ), NULL));
		cr_expect(eq(ptr, mover_of(&v, e.data, AWAY, 1, NDSH_ACCESS_REMOTE_READ), NULL));
		cr_expect(eq(u64, roce_mr_at(v.b->s, e.data, iova + 17), AWAY + 17));
		cr_expect(eq(int, admin_bench_deregister(v.b, 0, e.data), NDSH_ADMIN_OK));
	}
	cr_expect(eq(int,
		admin_bench_ask(v.b, 0,
			&(struct ndsh_admin_request){.va = AWAY,
				.bytes = 5000,
				.iova_offset = UINT64_MAX - 4999 - AWAY,
				.pd = admin_bench_handle(0),
				.access = ADMIN_RIGHTS,
				.ctrl = NDSH_ADMIN_REGISTER_MOVED})
			.status,
		NDSH_ADMIN_BAD));
	moving_free(&v);
}

/* A segment has no part in it, even if the client names an address of one. */
Test(admin_moved, does_not_hold_a_segment)
{
	struct moving v = moving_new(ADMIN_MRS);
	struct roce_admin *a = v.b->c[0]->admin;
	uint64_t va = admin_bench_va(0);
	struct ndsh_cqe e = register_moved(&v, 0, va, 64, ADMIN_RIGHTS);

	cr_assert(eq(int, e.status, NDSH_ADMIN_OK));
	cr_expect(eq(ptr, admin_bench_opens(v.b, 0, e.data, va), NULL));
	cr_expect(roce_admin_remove_range(a, va));
	cr_expect(eq(int, admin_bench_deregister(v.b, 0, e.data), NDSH_ADMIN_OK));
	moving_free(&v);
}

/* A region of a segment is none of the mover's. */
Test(admin_moved, beside_memory_of_a_segment)
{
	struct moving v = moving_new(ADMIN_MRS);
	uint64_t va = admin_bench_va(0);
	uint32_t token = admin_bench_register(v.b, 0, va, 64, ADMIN_RIGHTS).data;

	cr_expect(eq(ptr, admin_bench_opens(v.b, 0, token, va), v.b->c[0]->memory));
	cr_expect(eq(ptr, mover_of(&v, token, va, 64, NDSH_ACCESS_REMOTE_READ), NULL));
	cr_expect(eq(int, admin_bench_register(v.b, 0, AWAY, 64, ADMIN_RIGHTS).status,
		NDSH_ADMIN_RANGE));
	moving_free(&v);
}

/* The ABI: RANGE, if there is no mover. */
Test(admin_moved, needs_a_mover)
{
	struct moving v = moving_new(ADMIN_MRS);
	struct roce_admin *a = v.b->c[0]->admin;

	cr_expect(eq(int, register_moved(&v, 1, AWAY, 64, ADMIN_RIGHTS).status, NDSH_ADMIN_RANGE),
		"another client's does not count");
	roce_admin_set_mover(a, NULL);
	cr_expect(eq(int, register_moved(&v, 0, AWAY, 64, ADMIN_RIGHTS).status, NDSH_ADMIN_RANGE));
	cr_expect(zero(u32, admin_bench_used(v.b)));
	moving_free(&v);
}

Test(admin_moved, is_judged_as_any_other)
{
	struct moving v = moving_new(2);
	const struct {
		uint64_t va, bytes;
		uint32_t access;
		uint8_t want;
	} t[] = {
		{AWAY, 0, ADMIN_RIGHTS, NDSH_ADMIN_BAD},
		{AWAY, 64, NDSH_ACCESS_REMOTE_WRITE, NDSH_ADMIN_BAD}, /* W-MEM-02 */
		{AWAY, 64, NDSH_ACCESS_MASK + 1, NDSH_ADMIN_BAD},
		{AWAY, UINT64_MAX, ADMIN_RIGHTS, NDSH_ADMIN_RANGE}, /* beyond the last address */
		{AWAY, 0 - AWAY, ADMIN_RIGHTS, NDSH_ADMIN_RANGE},
		{UINT64_MAX, 1, ADMIN_RIGHTS, NDSH_ADMIN_RANGE},
		{UINT64_MAX - 63, 63, ADMIN_RIGHTS, NDSH_ADMIN_OK}, {AWAY, 64, 0, NDSH_ADMIN_OK},
		{AWAY, 64, 0, NDSH_ADMIN_FULL}, /* they count as others do */
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		cr_expect(eq(int, register_moved(&v, 0, t[i].va, t[i].bytes, t[i].access).status,
				  t[i].want),
			"row %zu", i);
	moving_free(&v);
}
