/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scenario through all of the engine: SEND, WRITE and READ over a perfect link, of all sizes,
 * with deep queues and small windows and pools.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/engine_pair.h"

#define HALF (PAIR_ARENA / 2)
#define LONG UINT64_C(10000000000)

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

static const uint32_t sizes[] = {0, 1, 2, 3, 4, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025,
	4095, 4096, 4097, 8192, 12288, 65536, 65537, 1000003};

/* checks R-CR-05, R-POST-06[1,2], R-RW-08 */
static void
each_size(uint32_t mtu, bool v6)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = mtu, .v6 = v6});
	struct pair_side *a = &p->side[0], *b = &p->side[1];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint32_t n = sizes[i];

		fill(a->arena, n, n + 1);
		memset(b->arena, 0, n + 1);
		pair_write(p, 0, 0, 1, 0, 0, n, 0);
		cr_assert(pair_run(p, LONG));
		expect_all(p, 0, 1, NDSH_OP_WRITE, NDSH_WC_SUCCESS, n);
		cr_assert_eq(memcmp(a->arena, b->arena, n), 0, "WRITE of %u", n);
		cr_assert_eq(b->arena[n], 0);

		fill(b->arena, n, n + 2);
		pair_read(p, 0, 0, 2, HALF, 0, n, 0);
		cr_assert(pair_run(p, LONG));
		expect_all(p, 0, 2, NDSH_OP_READ, NDSH_WC_SUCCESS, n);
		cr_assert_eq(memcmp(a->arena + HALF, b->arena, n), 0, "READ of %u", n);

		fill(b->arena, n, n + 3);
		pair_recv(p, 0, 0, 3, HALF, n + 7);
		pair_send(p, 1, 0, 4, 0, n, 0);
		cr_assert(pair_run(p, LONG));
		expect_all(p, 0, 3, NDSH_OP_RECV, NDSH_WC_SUCCESS, n);
		expect_all(p, 1, 4, NDSH_OP_SEND, NDSH_WC_SUCCESS, n);
		cr_assert_eq(memcmp(a->arena + HALF, b->arena, n), 0, "SEND of %u", n);
	}
	pair_free(p);
}

Test(engine, sizes_mtu_256)
{
	each_size(256, false);
}

Test(engine, sizes_mtu_1024_v6)
{
	each_size(1024, true);
}

Test(engine, sizes_mtu_4096)
{
	each_size(4096, false);
}

/* checks R-POST-09[4] */
Test(engine, inline_data_is_copied_at_post)
{
	struct pair *p = pair_new(&(struct pair_opts){0});

	for (uint32_t n = 0; n <= 256; n += 32) {
		fill(p->side[0].arena, n, n);
		memcpy(p->side[0].arena + 4096, p->side[0].arena, n);
		pair_recv(p, 1, 0, 1, 0, 256);
		pair_send(p, 0, 0, 2, 0, n, NDSH_WRF_INLINE);
		memset(p->side[0].arena, 0xee, n);
		cr_assert(pair_run(p, LONG));
		expect_all(p, 1, 1, NDSH_OP_RECV, NDSH_WC_SUCCESS, n);
		expect_all(p, 0, 2, NDSH_OP_SEND, NDSH_WC_SUCCESS, n);
		cr_assert_eq(memcmp(p->side[0].arena + 4096, p->side[1].arena, n), 0);
	}
	pair_free(p);
}

/*
 * More requests than the ring, window or pool hold at once, of all kinds, in both directions;
 * checks R-CR-09[1,2], R-ORD-01[1,2], R-SR-02[1].
 */
static void
deep_queue(const struct pair_opts *o)
{
	struct pair *p = pair_new(o);
	unsigned posted = 0, done[2][PAIR_QPS] = {0};
	struct ndsh_cqe c;

	while (posted < 64) {
		for (unsigned i = 0; i < p->opts.qps; i++)
			for (unsigned side = 0; side < 2; side++) {
				uint32_t at = posted * 4096, n = posted * 61;

				pair_recv(p, side, i, 1000 + posted, HALF + at, 4096);
				pair_send(p, side, i, posted * 3, at, n, 0);
				pair_write(p, side, i, posted * 3 + 1, at, at, n, 0);
				pair_read(p, side, i, posted * 3 + 2, at, at, n, 0);
			}
		posted++;
	}
	cr_assert(pair_run(p, LONG));
	for (unsigned side = 0; side < 2; side++) {
		unsigned recvs[PAIR_QPS] = {0};

		while (pair_poll(p, side, &c)) {
			cr_assert_eq(c.status, NDSH_WC_SUCCESS);
			if (c.op == NDSH_OP_RECV)
				cr_assert_eq(c.context, 1000 + recvs[c.qp]++);
			else
				cr_assert_eq(c.context, done[side][c.qp]++);
		}
		for (unsigned i = 0; i < p->opts.qps; i++) {
			cr_assert_eq(done[side][i], 64 * 3);
			cr_assert_eq(recvs[i], 64);
		}
	}
	pair_free(p);
}

Test(engine, deep_queues_complete_in_order)
{
	deep_queue(&(struct pair_opts){.qps = 8, .sq_depth = 256});
}

Test(engine, a_dry_pool_is_back_pressure)
{
	deep_queue(&(struct pair_opts){.qps = 8, .sq_depth = 256, .max_wqes = 16});
}

Test(engine, smallest_window)
{
	deep_queue(&(struct pair_opts){.qps = 2, .sq_depth = 256, .window = 16, .mtu = 256});
}

/* checks W-PSN-05[2] */
Test(engine, W_PSN_05_sequence_numbers_wrap)
{
	deep_queue(
		&(struct pair_opts){.set_psn = true, .sq_psn = {0xfffffe, 0xffffff}, .mtu = 256});
}
