/* SPDX-License-Identifier: BSD-3-Clause */
/* nd_alloc() and nd_free(), over segments of a daemon in this process. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdint.h>
#include <string.h>

#include "ndclient/mem/pd.h"
#include "ndclient/mem/segment.h"
#include "ndclient/session/adapter.h"
#include "rigs/daemon_rig.h"

static struct daemon_rig rig;
static struct nd_adapter *adapter;

static void
setup(void)
{
	daemon_rig_start(&rig);
	adapter = daemon_rig_open(&rig);
}

static void
teardown(void)
{
	(void)nd_adapter_close(adapter);
	daemon_rig_stop(&rig);
}

TestSuite(ndclient_segment, .init = setup, .fini = teardown, .timeout = 60);

static bool
is_zero(const uint8_t *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (p[i] != 0)
			return false;
	return true;
}

Test(ndclient_segment, blocks_are_aligned_by_their_size_and_zeroed)
{
	static const struct {
		size_t bytes, align;
	} rows[] = {{1, ND_ARENA_GRAIN}, {100, ND_ARENA_GRAIN}, {NDSH_PAGE_BYTES, NDSH_PAGE_BYTES},
		{NDSH_PAGE_BYTES + 1, NDSH_PAGE_BYTES}, {NDSH_SEGMENT_UNIT, NDSH_SEGMENT_UNIT}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t *p = nd_alloc(adapter, rows[i].bytes);

		cr_assert(p != NULL);
		cr_expect(zero(u64, (uintptr_t)p & (rows[i].align - 1)), "%zu", rows[i].bytes);
		cr_expect(is_zero(p, rows[i].bytes), "%zu", rows[i].bytes);
		memset(p, 0xaa, rows[i].bytes);
		nd_free(adapter, p);
		p = nd_alloc(adapter, rows[i].bytes);
		cr_expect(is_zero(p, rows[i].bytes), "again %zu", rows[i].bytes);
		nd_free(adapter, p);
	}
	cr_expect(eq(ptr, nd_alloc(adapter, 0), NULL));
	cr_expect(eq(ptr, nd_alloc(adapter, SIZE_MAX), NULL));
	nd_free(adapter, NULL);
}

Test(ndclient_segment, a_block_for_rings_says_where_it_lies)
{
	uint32_t segment = UINT32_MAX;
	uint64_t offset = UINT64_MAX;
	uint8_t *p = nd_block_alloc(adapter, 200, &segment, &offset);

	cr_assert(p != NULL);
	cr_expect(lt(u32, segment, RIG_SEGMENTS));
	cr_expect(eq(ptr, p, adapter->arena.first->base + offset));
	p[7] = 42;
	cr_expect(eq(u8, rig.segment[segment].base[offset + 7], 42), "the daemon sees it there");
	nd_free(adapter, p);
}

/* ---- protection domains: over the same daemon ------------------------------------------ */

Test(ndclient_segment, protection_domains)
{
	struct nd_pd *pd;
	uint32_t before = daemon_rig_live(&rig), token = 0;

	cr_expect(eq(i32, nd_pd_create(NULL, &pd), ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_pd_create(adapter, NULL), ND_INVALID_PARAMETER));
	cr_assert(eq(i32, nd_pd_create(adapter, &pd), ND_SUCCESS));
	cr_expect(eq(u32, daemon_rig_live(&rig), before + 1));
	cr_expect(eq(i32, nd_pd_privileged_token(pd, NULL), ND_INVALID_PARAMETER));
	adapter->abi_minor = NDSH_MINOR_TOKENS - 1;
	cr_expect(eq(i32, nd_pd_privileged_token(pd, &token), ND_NOT_SUPPORTED));
	cr_expect(eq(i32, nd_pd_close(pd), ND_SUCCESS));
	cr_expect(eq(u32, daemon_rig_live(&rig), before));
}
