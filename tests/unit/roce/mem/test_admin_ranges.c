/* SPDX-License-Identifier: BSD-3-Clause */
/* Admin ring: the memory that a client may register, as segments come and go. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "rigs/admin_bench.h"

#define VA    admin_bench_va(0)
#define BYTES ADMIN_BYTES
#define PAGE  ((uint64_t)NDSH_PAGE_BYTES)
#define FAR   UINT64_C(0x100000000) /* the first of many pages, each a range of its own */

static uint8_t
status_at(struct admin_bench *b, uint64_t va, uint64_t bytes)
{
	return admin_bench_register(b, 0, va, bytes, ADMIN_RIGHTS).status;
}

Test(admin_ranges, memory_that_is_not_the_clients_is_out_of_reach)
{
	struct admin_bench *b = admin_bench_new(ADMIN_MRS, ADMIN_MRS);
	const struct {
		uint64_t va, bytes;
		uint8_t want;
	} t[] = {
		{VA, BYTES, NDSH_ADMIN_OK},
		{VA + BYTES - 1, 1, NDSH_ADMIN_OK},
		{VA, BYTES + 1, NDSH_ADMIN_RANGE},
		{VA + 1, BYTES, NDSH_ADMIN_RANGE},
		{VA - 1, 2, NDSH_ADMIN_RANGE},
		{VA + BYTES, 1, NDSH_ADMIN_RANGE}, /* the other's */
		{VA + BYTES + 1, 1, NDSH_ADMIN_RANGE},
		{VA + BYTES + 1, UINT64_MAX, NDSH_ADMIN_RANGE},
		{VA + 8, UINT64_MAX, NDSH_ADMIN_RANGE},
		{UINT64_MAX, 1, NDSH_ADMIN_RANGE},
		{0, 1, NDSH_ADMIN_RANGE},
		{VA, 0, NDSH_ADMIN_BAD},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		cr_expect(eq(int, status_at(b, t[i].va, t[i].bytes), t[i].want), "row %zu", i);
	cr_expect(eq(u32, admin_bench_used(b), 2));
	admin_bench_free(b);
}

Test(admin_ranges, stay_disjoint_and_while_regions_lie_there)
{
	struct admin_bench *b = admin_bench_new(ADMIN_MRS, ADMIN_MRS);
	struct roce_admin *a = b->c[0]->admin;
	uint8_t *host = b->c[0]->memory;
	uint32_t token;

	cr_expect(not(roce_admin_add_range(a, VA, PAGE, host)));
	cr_expect(not(roce_admin_add_range(a, VA + BYTES - PAGE, 2 * PAGE, host)));
	cr_expect(not(roce_admin_add_range(a, VA - PAGE, 2 * PAGE, host)));
	cr_expect(not(roce_admin_add_range(a, VA + BYTES - 1, PAGE, host)), "one byte is common");
	cr_expect(not(roce_admin_add_range(a, VA - PAGE, PAGE + 1, host)), "one byte is common");
	cr_assert(roce_admin_add_range(a, VA - PAGE, PAGE, host));
	cr_assert(roce_admin_add_range(a, VA + BYTES, PAGE, host));
	token = admin_bench_register(b, 0, VA - 1, 1, 0).data;
	cr_expect(eq(ptr, admin_bench_opens(b, 0, token, VA - 1), host + PAGE - 1),
		"the last byte before another range");
	cr_assert(eq(int, admin_bench_deregister(b, 0, token), NDSH_ADMIN_OK));
	cr_expect(eq(int, status_at(b, VA - PAGE, PAGE + 1), NDSH_ADMIN_RANGE),
		"neighbours are no whole");
	token = admin_bench_register(b, 0, VA - PAGE, PAGE, 0).data;
	cr_assert(ne(u32, token, 0));
	cr_expect(not(roce_admin_remove_range(a, VA - PAGE)));
	cr_expect(eq(ptr, admin_bench_opens(b, 0, token, VA - 1), host + PAGE - 1));
	cr_assert(eq(int, admin_bench_deregister(b, 0, token), NDSH_ADMIN_OK));
	cr_expect(roce_admin_remove_range(a, VA - PAGE));
	cr_expect(eq(int, status_at(b, VA - PAGE, PAGE), NDSH_ADMIN_RANGE));
	cr_expect(eq(int, status_at(b, VA, PAGE), NDSH_ADMIN_OK));
	admin_bench_free(b);
}

/* Of no bytes, or with an end above the last address. */
Test(admin_ranges, that_are_none)
{
	struct admin_bench *b = admin_bench_new(ADMIN_MRS, ADMIN_MRS);
	struct roce_admin *a = b->c[0]->admin;
	uint8_t *host = b->c[0]->memory;

	cr_expect(not(roce_admin_add_range(a, 0, 0, host)));
	cr_expect(not(roce_admin_add_range(a, UINT64_MAX, 2, host)));
	cr_expect(not(roce_admin_add_range(a, VA + BYTES, 0 - VA, host)));
	cr_expect(not(roce_admin_add_range(a, VA + BYTES, UINT64_MAX - PAGE + 1, host)));
	cr_expect(not(roce_admin_add_range(a, VA + BYTES, UINT64_MAX, host)));
	cr_expect(eq(int, status_at(b, VA + BYTES, 1), NDSH_ADMIN_RANGE));
	admin_bench_free(b);
}

/* A segment that was given back, and its successor at the same place. */
Test(admin_ranges, come_again)
{
	struct admin_bench *b = admin_bench_new(ADMIN_MRS, ADMIN_MRS);
	struct roce_admin *a = b->c[0]->admin;
	uint8_t *host = b->c[0]->memory;

	for (unsigned i = 0; i < 3; i++) {
		uint64_t va = VA + BYTES + i % 2 * PAGE;

		cr_assert(roce_admin_add_range(a, va, 2 * PAGE, host));
		cr_expect(eq(int, status_at(b, VA + BYTES + PAGE, 1), NDSH_ADMIN_OK));
		cr_expect(not(roce_admin_remove_range(a, va)));
		cr_assert(roce_admin_purge(b->s, a));
		cr_assert(roce_admin_remove_range(a, va));
		cr_expect(eq(int, status_at(b, VA + BYTES + PAGE, 1), NDSH_ADMIN_RANGE));
	}
	admin_bench_free(b);
}

/* Only by its own address. */
Test(admin_ranges, that_are_not_there_are_removed_without_a_trace)
{
	struct admin_bench *b = admin_bench_new(ADMIN_MRS, ADMIN_MRS);
	struct roce_admin *a = b->c[0]->admin;
	const uint64_t others[] = {0, VA - PAGE, VA + PAGE, VA + BYTES - 1, VA + BYTES, UINT64_MAX};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		cr_expect(roce_admin_remove_range(a, others[i]));
	cr_expect(eq(int, status_at(b, VA, BYTES), NDSH_ADMIN_OK));
	admin_bench_free(b);
}

/* ---- as many as there may be ---- */

static uint64_t
page_at(uint32_t i)
{
	return FAR + 2 * i * PAGE;
}

/* Is page i client 0's, and its host's the page that it came with? */
static bool
is_there(struct admin_bench *b, uint8_t *host, uint32_t i)
{
	struct ndsh_cqe e = admin_bench_register(b, 0, page_at(i), PAGE, 0);

	if (e.status != NDSH_ADMIN_OK)
		return false;
	cr_assert(eq(ptr, admin_bench_opens(b, 0, e.data, page_at(i)), host + i * PAGE));
	cr_assert(eq(int, admin_bench_deregister(b, 0, e.data), NDSH_ADMIN_OK));
	return true;
}

/* With the client's first one they are all that have room. Added in no order, removed in another;
 * nothing behind the table is touched. */
Test(admin_ranges, as_many_as_there_may_be)
{
	enum { N = ROCE_ADMIN_RANGES - 1, STEP = 389 }; /* they have no common divisor */
	struct admin_bench *b = admin_bench_new(ADMIN_MRS, ADMIN_MRS);
	struct roce_admin *a = b->c[0]->admin;
	uint8_t *host = malloc((N + 1) * PAGE);

	for (uint32_t k = 0, i = 7; k < N; k++, i = (i + STEP) % N)
		cr_assert(roce_admin_add_range(a, page_at(i), PAGE, host + i * PAGE));
	cr_expect(not(roce_admin_add_range(a, page_at(N), PAGE, host + N * PAGE)));
	cr_expect(not(roce_admin_add_range(a, page_at(N / 2) + PAGE, PAGE, host)));
	for (uint32_t i = 0; i <= N; i++)
		cr_assert(eq(int, is_there(b, host, i), i < N), "page %u", i);
	cr_assert(roce_admin_remove_range(a, page_at(2)));
	cr_assert(
		roce_admin_add_range(a, page_at(N), PAGE, host + N * PAGE), "there is room again");
	for (uint32_t i = 0; i < N; i += 2)
		cr_assert(roce_admin_remove_range(a, page_at(N - 1 - i)));
	for (uint32_t i = 0; i <= N; i++)
		cr_assert(eq(int, is_there(b, host, i), i % 2 == 1), "page %u", i);
	cr_expect(eq(int, status_at(b, VA, BYTES), NDSH_ADMIN_OK));
	free(host);
	admin_bench_free(b);
}
