/* SPDX-License-Identifier: BSD-3-Clause */
/* Which requests from moved memory are copied at the post. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "ndclient/mem/copies.h"
#include "ndclient/mem/moved.h"
#include "ndclient/mem/pd.h"
#include "ndclient/mem/region.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"

#define TOKEN (5u << NDSH_TOKEN_KEY_BITS | 3)

static uint8_t memory[ND_COPY_MAX + 100];

static struct world {
	struct nd_adapter *a;
	struct nd_pd pd, other;
	struct nd_mr mr;
	struct nd_qp qp;
} w;

static void
setup(void)
{
	w.a = aligned_alloc(64, sizeof(*w.a));
	memset(w.a, 0, sizeof(*w.a));
	w.pd = (struct nd_pd){.adapter = w.a, .id = 1};
	w.other = (struct nd_pd){.adapter = w.a, .id = 2};
	w.mr = (struct nd_mr){
		.pd = &w.pd, .token = TOKEN, .va = (uintptr_t)memory, .bytes = ND_COPY_MAX + 10};
	w.qp.adapter = w.a;
	w.qp.pd = &w.pd;
	nd_moved_add(&w.mr);
}

static void
teardown(void)
{
	free(w.a);
}

TestSuite(ndclient_moved, .init = setup, .fini = teardown);

static bool
fits_at(enum ndsh_op op, uintptr_t at, uint32_t bytes, uint32_t token, uint32_t how)
{
	const struct nd_sge sge = {.buffer = (void *)at, .bytes = bytes, .token = token};
	struct nd_sge place;

	if (nd_moved_bytes(&w.qp, op, &sge, 1, how, &place) != bytes)
		return false;
	cr_expect(eq(u64, (uintptr_t)place.buffer, at - w.mr.iova_offset));
	return place.bytes == bytes;
}

static bool
fits(enum ndsh_op op, const void *at, uint32_t bytes, uint32_t token, uint32_t how)
{
	return fits_at(op, (uintptr_t)at, bytes, token, how);
}

Test(ndclient_moved, small_ones_from_the_region_are)
{
	cr_expect(fits(NDSH_OP_SEND, memory, ND_COPY_MAX, TOKEN, 0));
	cr_expect(fits(NDSH_OP_WRITE, memory + ND_COPY_MAX + 9, 1, TOKEN, NDSH_WRF_SILENT));
	cr_expect(not(fits(NDSH_OP_SEND, memory, ND_COPY_MAX + 1, TOKEN, 0)), "too long");
	cr_expect(not(fits(NDSH_OP_SEND, memory + ND_COPY_MAX + 9, 2, TOKEN, 0)),
		"beyond the region");
	cr_expect(not(fits(NDSH_OP_SEND, memory, 4, TOKEN + 1, 0)), "another token");
	cr_expect(not(fits(NDSH_OP_SEND, memory, 4, 0, 0)));
	cr_expect(eq(u32, nd_moved_bytes(&w.qp, NDSH_OP_SEND, NULL, 0, 0, NULL), ND_MOVED_NOT),
		"nothing to copy");
}

/* SGEs name the bytes by it, wherever they are. */
Test(ndclient_moved, a_region_with_an_iova)
{
	static const uint64_t all[] = {0, 12345, UINT64_MAX - ND_COPY_MAX - 10, 0};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		uintptr_t iova = all[i];

		w.mr.iova_offset = all[i] - w.mr.va;
		nd_moved_add(&w.mr);
		cr_expect(fits_at(NDSH_OP_SEND, iova, ND_COPY_MAX, TOKEN, 0));
		cr_expect(fits_at(NDSH_OP_SEND, iova + ND_COPY_MAX + 9, 1, TOKEN, 0));
		cr_expect(not(fits_at(NDSH_OP_SEND, iova + ND_COPY_MAX + 9, 2, TOKEN, 0)));
		cr_expect(not(fits_at(NDSH_OP_SEND, iova - 1, 2, TOKEN, 0)));
		cr_expect(not(fits(NDSH_OP_SEND, memory, 1, TOKEN, 0)));
	}
}

/* A fence may wait for a read that is to bring the bytes. */
Test(ndclient_moved, reads_fences_and_inline_data_are_not)
{
	cr_expect(not(fits(NDSH_OP_READ, memory, 4, TOKEN, 0)));
	cr_expect(not(fits(NDSH_OP_SEND, memory, 4, TOKEN, NDSH_WRF_FENCE)));
	cr_expect(not(fits(NDSH_OP_SEND, memory, 4, TOKEN, NDSH_WRF_INLINE)));
}

Test(ndclient_moved, a_region_of_another_domain_or_that_is_gone)
{
	w.qp.pd = &w.other;
	cr_expect(not(fits(NDSH_OP_SEND, memory, 4, TOKEN, 0)));
	w.qp.pd = &w.pd;
	nd_moved_remove(&w.mr);
	cr_expect(not(fits(NDSH_OP_SEND, memory, 4, TOKEN, 0)));
}

/* The newest of those that share a place in the table; the end of an older one leaves it alone. */
Test(ndclient_moved, places_are_shared)
{
	struct nd_mr newer = w.mr;

	newer.token = TOKEN + (ND_MOVED << NDSH_TOKEN_KEY_BITS);
	nd_moved_add(&newer);
	cr_expect(not(fits(NDSH_OP_SEND, memory, 4, TOKEN, 0)));
	cr_expect(fits(NDSH_OP_SEND, memory, 4, newer.token, 0));
	nd_moved_remove(&w.mr);
	cr_expect(fits(NDSH_OP_SEND, memory, 4, newer.token, 0));
}
