/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fast-register regions among the other kinds of memory: what can be made of the shard's table, and
 * a client that names one kind where another belongs.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rigs/fast.h"
#include "rigs/lone_shard.h"

/* ---- making them ---- */

static struct roce_mr *
make(struct roce_shard *s, uint32_t pd, uint32_t max_pages, uint64_t *secret)
{
	static struct roce_arena none;
	static uint64_t mem[1024];
	uint32_t slot;

	cr_assert_leq(roce_frmr_bytes(NDSH_FRMR_PAGES_MAX), sizeof(mem));
	return roce_frmr_create(s,
		&(struct roce_frmr_cfg){.pd = pd, .max_pages = max_pages, .arena = &none}, mem,
		&slot, secret);
}

Test(fast_kinds, as_many_pages_as_there_may_be)
{
	const struct roce_shard_cfg cfg = lone_config();
	struct roce_shard *s = lone_shard_new(&cfg);
	uint32_t pd = roce_pd_create(s);
	uint64_t secret;

	cr_assert_null(make(s, pd, 0, &secret));
	cr_assert_null(make(s, pd, NDSH_FRMR_PAGES_MAX + 1, &secret));
	cr_assert_null(make(s, pd, UINT32_MAX, &secret));
	cr_assert_not_null(make(s, pd, 1, &secret));
	cr_assert_not_null(make(s, pd, NDSH_FRMR_PAGES_MAX, &secret));
	free(s);
}

Test(fast_kinds, a_table_that_is_full)
{
	const struct roce_shard_cfg cfg = lone_config();
	struct roce_shard *s = lone_shard_new(&cfg);
	uint32_t pd = roce_pd_create(s);
	struct roce_arena none = {0};
	struct roce_mr *last = NULL;
	uint64_t secret;

	for (uint32_t i = 0; i < cfg.max_mrs; i++) {
		last = make(s, pd, 1, &secret);
		cr_assert_not_null(last);
	}
	cr_assert_null(make(s, pd, 1, &secret));
	cr_assert_null(roce_arena_open(s, pd, &none));
	roce_frmr_destroy(s, last);
	last = roce_arena_open(s, pd, &none);
	cr_assert_not_null(last);
	cr_assert_null(make(s, pd, 1, &secret));
	roce_arena_close(s, last);
	cr_assert_not_null(make(s, pd, 1, &secret));
	free(s);
}

/* Tokens follow from it: it is another one for each region, each life of a slot and each daemon. */
Test(fast_kinds, a_secret_of_its_own)
{
	uint64_t secret[8];

	for (uint32_t i = 0; i < 8; i += 4) {
		struct roce_shard_cfg cfg = lone_config();
		struct roce_shard *s;
		uint32_t pd;

		cfg.secret[0] += i;
		s = lone_shard_new(&cfg);
		pd = roce_pd_create(s);
		for (uint32_t k = 0; k < 4; k++) {
			struct roce_mr *mr = make(s, pd, 1, &secret[i + k]);

			if (k % 2 == 0)
				roce_frmr_destroy(s, mr);
		}
		free(s);
	}
	for (uint32_t i = 0; i < 8; i++)
		for (uint32_t k = 0; k < i; k++)
			cr_assert_neq(secret[i], secret[k], "%u and %u", i, k);
}
