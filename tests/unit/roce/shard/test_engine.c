/* SPDX-License-Identifier: BSD-3-Clause */
/* SEND, WRITE and READ over a perfect link: sizes, lists, inline data, many queue pairs. */
#include <criterion/criterion.h>
#include <stdlib.h>
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

/* checks R-CR-05, R-POST-06, R-RW-08 */
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

Test(engine, scatter_gather_of_16_uneven_pieces)
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
	cr_assert(pair_run(p, LONG));
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

/* checks R-POST-09 */
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

/* More requests than the ring, window or pool hold at once, of all kinds, in both directions;
 * checks R-ORD-01, R-CR-09, R-SR-02. */
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

/* Both pools are small here, and every request and receive wants of both. */
Test(engine, long_lists_with_a_dry_pool)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 4, .max_wqes = 16, .mtu = 256});
	struct ndsh_cqe c;
	struct ndsh_sge sge[16];
	unsigned sends[2][4] = {0}, recvs[2][4] = {0};

	for (unsigned n = 0; n < 32; n++)
		for (unsigned i = 0; i < 8; i++) {
			const struct ndsh_swr wr = {
				.context = n, .ctrl = NDSH_CTRL(NDSH_OP_SEND, 16, 0, 0)};

			for (unsigned k = 0; k < 16; k++)
				sge[k] = pair_sge(p, i / 4, HALF + k * 64, 64);
			ndsh_rq_push(&p->side[i / 4].q[i % 4].rq, n, sge, 16);
			for (unsigned k = 0; k < 16; k++)
				sge[k] = pair_sge(p, i / 4, k * 64, 64);
			pair_post(p, i / 4, i % 4, &wr, sge, NULL);
		}
	cr_assert(pair_run(p, LONG));
	for (unsigned side = 0; side < 2; side++)
		while (pair_poll(p, side, &c)) {
			cr_assert_eq(c.status, NDSH_WC_SUCCESS);
			if (c.op == NDSH_OP_RECV)
				cr_assert_eq(c.context, recvs[side][c.qp]++);
			else
				cr_assert_eq(c.context, sends[side][c.qp]++);
		}
	for (unsigned i = 0; i < 8; i++)
		cr_assert(sends[i / 4][i % 4] == 32 && recvs[i / 4][i % 4] == 32);
	pair_free(p);
}

Test(engine, smallest_window)
{
	deep_queue(&(struct pair_opts){.qps = 2, .sq_depth = 256, .window = 16, .mtu = 256});
}

Test(engine, W_PSN_05_sequence_numbers_wrap)
{
	deep_queue(
		&(struct pair_opts){.set_psn = true, .sq_psn = {0xfffffe, 0xffffff}, .mtu = 256});
}

Test(engine, W_COMP_14_silent_requests_give_their_slots_back)
{
	struct pair *p = pair_new(&(struct pair_opts){.sq_depth = 4});
	const struct ndsh_qp_page *page = p->side[0].q[0].block;

	for (unsigned i = 0; i < 40; i++) {
		pair_write(p, 0, 0, i, 0, 0, 8, NDSH_WRF_SILENT);
		cr_assert(pair_run(p, LONG));
		cr_assert_eq(page->sq_done, i + 1);
	}
	pair_expect_none(p, 0);
	pair_free(p);
}

/* checks W-ACK-02, W-COMP-02 */
Test(engine, one_ack_for_a_burst)
{
	struct pair *p = pair_new(&(struct pair_opts){.window = 256});

	for (unsigned i = 0; i < 20; i++)
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
	cr_assert(pair_run(p, LONG));
	cr_assert_eq(p->sent[0], 20);
	cr_assert_eq(p->sent[1], 1, "%lu acknowledgements", p->sent[1]);
	pair_free(p);
}

Test(engine, W_RESP_16_solicited_and_W_RESP_17_comm_est)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct ndsh_cqe c;

	pair_recv(p, 1, 0, 1, 0, 64);
	pair_recv(p, 1, 0, 2, 0, 64);
	pair_send(p, 0, 0, 3, 0, 8, NDSH_WRF_SOLICIT);
	pair_send(p, 0, 0, 4, 0, 8, 0);
	cr_assert(pair_run(p, LONG));
	cr_assert(pair_poll(p, 1, &c));
	cr_assert(c.flags & NDSH_CQEF_SOLICITED);
	cr_assert(pair_poll(p, 1, &c));
	cr_assert_not(c.flags & NDSH_CQEF_SOLICITED);
	cr_assert_eq(p->side[1].events, 1u << ROCE_EV_COMM_EST);
	cr_assert_eq(p->side[0].events, 0);
	pair_free(p);
}

/* Requests behind a closed window are started by the ACK that opens it, not by looking. */
Test(engine, a_ring_behind_a_closed_window_lets_the_lcore_rest)
{
	struct pair *p = pair_new(&(struct pair_opts){.window = 16});
	struct ndsh_cqe c;

	for (unsigned i = 0; i < 40; i++)
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
	pair_turn(p, 0);
	cr_assert_eq(p->sent[0], 16);
	cr_assert(roce_shard_rest(p->side[0].shard));
	cr_assert(pair_run(p, LONG));
	for (unsigned i = 0; i < 40; i++)
		cr_assert(pair_poll(p, 0, &c) && c.context == i);
	pair_free(p);
}

Test(engine, an_idle_ring_falls_back_to_doorbells)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	const struct ndsh_qp_page *page = p->side[0].q[0].block;

	cr_assert_eq(page->sq_polled, 1, "it has just come to RTS");
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	cr_assert(pair_run(p, LONG));
	cr_assert_not(roce_shard_poll_rings(p->side[0].shard, p->now_ns, 8));
	p->now_ns += 1000000;
	roce_shard_poll_rings(p->side[0].shard, p->now_ns, 8);
	cr_assert_eq(page->sq_polled, 0);
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	cr_assert_not(roce_shard_rest(p->side[0].shard), "it rang");
	pair_turn(p, 0);
	cr_assert_eq(page->sq_polled, 0, "it rang once");
	pair_write(p, 0, 0, 3, 0, 0, 8, 0);
	pair_turn(p, 0);
	cr_assert_eq(page->sq_polled, 1, "it rang again");
	pair_write(p, 0, 0, 4, 0, 0, 8, 0);
	cr_assert_not(roce_shard_rest(p->side[0].shard), "a request waits");
	cr_assert_eq(page->sq_polled, 1);
	cr_assert(pair_run(p, LONG));
	cr_assert(roce_shard_rest(p->side[0].shard));
	cr_assert_eq(page->sq_polled, 0);
	for (unsigned i = 1; i <= 4; i++)
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
	pair_free(p);
}
