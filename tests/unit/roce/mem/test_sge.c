/* SPDX-License-Identifier: BSD-3-Clause */
/* Between packets and scatter/gather lists: every byte in its place. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/engine_pair.h"

#define HALF (PAIR_ARENA / 2)

static void
fill(uint8_t *p, uint32_t bytes, uint32_t seed)
{
	for (uint32_t i = 0; i < bytes; i++) {
		seed = seed * 1664525 + 1013904223;
		p[i] = (uint8_t)(seed >> 24);
	}
}

static void
expect_all(
	struct pair *p, unsigned side, uint64_t context, uint8_t op, uint8_t status, uint32_t bytes)
{
	struct ndsh_cqe c = pair_expect(p, side, context, status);

	cr_assert_eq(c.op, op);
	cr_assert_eq(c.bytes, bytes, "%u bytes instead of %u", c.bytes, bytes);
}

Test(sge, scatter_gather_of_16_uneven_pieces)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = 512});
	struct ndsh_sge from[16], to[16];
	uint32_t total = 0, src = 0, dst = 0;
	static uint8_t want[65536], got[65536];

	fill(p->side[0].arena, 200000, 5);
	for (unsigned i = 0; i < 16; i++) {
		uint32_t n = i % 5 == 3 ? 0 : i * 173 + 1;

		from[i] = pair_sge(p, 0, src, n);
		memcpy(want + total, p->side[0].arena + src, n);
		src += n + 11;
		total += n;
	}
	for (unsigned i = 0; i < 16; i++) {
		to[i] = pair_sge(p, 1, dst, i < 15 ? 700 + i : total);
		dst += to[i].len + 3;
	}
	ndsh_rq_push(&p->side[1].q[0].rq, 7, to, 16);
	pair_post(p, 0, 0,
		&(struct ndsh_swr){.context = 8, .ctrl = NDSH_CTRL(NDSH_OP_SEND, 16, 0, 0)}, from,
		NULL);
	cr_assert(pair_run(p, PAIR_LONG));
	expect_all(p, 1, 7, NDSH_OP_RECV, NDSH_WC_SUCCESS, total);
	expect_all(p, 0, 8, NDSH_OP_SEND, NDSH_WC_SUCCESS, total);
	for (uint32_t i = 0, left = total, at = 0; left > 0; i++) {
		uint32_t n = to[i].len < left ? to[i].len : left;

		memcpy(got + at, p->side[1].arena + (to[i].addr - PAIR_VA), n);
		at += n;
		left -= n;
	}
	cr_assert_eq(memcmp(want, got, total), 0);
	pair_free(p);
}
