/* SPDX-License-Identifier: BSD-3-Clause */
/* Fast-register regions in the engine: their owner's own use, invalidation, privileged tokens. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/fast.h"

#define BYTES_ALL (FAST_PAGES * FAST_PAGE)

/* ---- local use ---- */

static void
post_sge(struct pair *p, unsigned i, uint64_t context, uint8_t op, uint32_t key, uint64_t addr,
	uint32_t bytes)
{
	struct ndsh_sge sge = {.addr = addr, .len = bytes, .key = key};

	pair_post_sge(p, 1, i, context, op, 0, &sge);
}

static void
post_receive(
	struct pair *p, unsigned i, uint64_t context, uint32_t key, uint64_t addr, uint32_t bytes)
{
	struct ndsh_sge sge = {.addr = addr, .len = bytes, .key = key};

	ndsh_rq_push(&p->side[1].q[i].rq, context, &sge, 1);
}

static void
number(struct pair *p, const struct fast *f, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		*fast_byte(p, f, 0, i) = (uint8_t)(i * 7 + i / FAST_PAGE);
}

static void
expect_numbered(const uint8_t *got, uint32_t at, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		cr_assert_eq(got[i], (uint8_t)((at + i) * 7 + (at + i) / FAST_PAGE), "byte %u", i);
}

/* Sent and written from, received and read into, across all its pages. */
Test(fast_use, the_owner_sends_and_receives)
{
	const uint32_t at = 1000, bytes = BYTES_ALL - 3000;
	struct pair *p = window_pair();
	struct fast *f = fast_ready(p, FAST_LOCAL);

	number(p, f, BYTES_ALL);
	pair_recv(p, 0, 0, 9, 0, PAIR_ARENA);
	post_sge(p, 0, 2, NDSH_OP_SEND, f->local, FAST_BASE + at, bytes);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 9, NDSH_WC_SUCCESS);
	expect_numbered(p->side[0].arena, at, bytes);
	memset(p->side[0].arena, 0, BYTES_ALL);
	pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
	post_receive(p, 0, 3, f->local, FAST_BASE, BYTES_ALL);
	number(p, f, BYTES_ALL);
	for (uint32_t i = 0; i < BYTES_ALL; i++)
		p->side[0].arena[i] = (uint8_t) ~*fast_byte(p, f, 0, i);
	pair_send(p, 0, 0, 10, 0, BYTES_ALL, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 3, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 10, NDSH_WC_SUCCESS);
	for (uint32_t i = 0; i < BYTES_ALL; i++)
		cr_assert_eq(*fast_byte(p, f, 0, i), p->side[0].arena[i], "byte %u", i);
	fast_free(p, f);
}

/* checks R-RW-05: also where the sink is a list of pages */
Test(fast_use, the_owner_reads_into_it)
{
	for (unsigned writable = 0; writable < 2; writable++) {
		struct pair *p = pair_new(&(struct pair_opts){.mtu = WINDOW_MTU});
		struct fast *f = fast_ready(p, writable ? FAST_LOCAL : 0);

		for (uint32_t i = 0; i < BYTES_ALL; i++)
			p->side[0].arena[i] = (uint8_t)(i * 7 + i / FAST_PAGE);
		post_sge(p, 0, 2, NDSH_OP_READ, f->local, FAST_BASE + 5, BYTES_ALL - 5);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 1, 2, writable ? NDSH_WC_SUCCESS : NDSH_WC_LOC_PROT_ERR);
		for (uint32_t i = 0; writable && i < BYTES_ALL - 5; i++)
			cr_assert_eq(*fast_byte(p, f, 0, i + 5), p->side[0].arena[i], "byte %u", i);
		fast_free(p, f);
	}
}

Test(fast_use, not_registered_is_no_memory)
{
	struct pair *p = window_pair();
	struct fast *f = fast_new(p, true);

	post_sge(p, 0, 2, NDSH_OP_SEND, f->local, FAST_BASE, 8);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 2, NDSH_WC_LOC_PROT_ERR);
	fast_free(p, f);
}

/* ---- invalidation ---- */

/* checks R-FR-10[2], R-INV-08[1], R-INV-15 */
Test(fast_use, the_peer_ends_it_with_its_send)
{
	struct pair *p = window_pair();
	struct fast *f = fast_ready(p, FAST_LOCAL | WINDOW_RW);
	struct ndsh_cqe c;

	pair_recv(p, 1, 0, 5, 0, 64);
	window_send_inv(p, 0, 6, 8, f->token, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	c = pair_expect(p, 1, 5, NDSH_WC_SUCCESS);
	cr_assert_eq(c.flags & NDSH_CQEF_INV, NDSH_CQEF_INV);
	cr_assert_eq(c.data, f->token);
	pair_expect(p, 0, 6, NDSH_WC_SUCCESS);
	fast_register(p, 0, 7, f, 1, 1, 8, FAST_LOCAL | WINDOW_RW);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 7, NDSH_WC_SUCCESS);
	fast_free(p, f);
}

/* Not what the peer was given no right to, nor by the owner's own token; checks R-INV-09[1]. */
Test(fast_use, what_the_peer_may_not_end)
{
	for (unsigned i = 0; i < 3; i++) {
		struct pair *p = window_pair();
		struct fast *f = fast_ready(p, i == 0 ? FAST_LOCAL : FAST_LOCAL | WINDOW_READ);
		uint32_t token = i == 1 ? f->local : f->token;

		if (i == 2) { /* dead already */
			window_invalidate(p, 0, 2, token, 0);
			pair_run(p, PAIR_LONG);
			pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
		}
		pair_recv(p, 1, 0, 5, 0, 64);
		window_send_inv(p, 0, 6, 8, token, 0);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 1, 5, NDSH_WC_REM_INV_REQ_ERR);
		pair_expect_dead(p, 1, 0, ROCE_REASON_RECV_INV);
		fast_free(p, f);
	}
}

/* Twice, by an old token, or by the local one; checks R-INV-04[1,3]. */
Test(fast_use, invalidations_that_fail)
{
	for (unsigned i = 0; i < 3; i++) {
		struct pair *p = window_pair();
		struct fast *f = fast_ready(p, FAST_LOCAL | WINDOW_READ);

		window_invalidate(p, 0, 2, i == 2 ? f->local : f->token, 0);
		if (i == 1) {
			fast_register(p, 0, 3, f, 0, 1, 8, FAST_LOCAL);
			f->token = ndsh_window_token(f->slot, f->secret, 1);
		}
		if (i < 2)
			window_invalidate(p, 0, 4, f->token, 0);
		pair_run(p, PAIR_LONG);
		if (i < 2)
			pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
		if (i == 1)
			pair_expect(p, 1, 3, NDSH_WC_SUCCESS);
		pair_expect(p, 1, i == 2 ? 2 : 4, NDSH_WC_LOC_QP_OP_ERR);
		pair_expect_dead(p, 1, 0, ROCE_REASON_LOCAL_INV);
		fast_free(p, f);
	}
}

/* checks W-INV-01[1]: a SEND whose data find no place ends nothing. Such a region outlives the
 * queue pair, so it can be seen. */
Test(fast_use, W_INV_01_data_first)
{
	static const uint32_t sizes[] = {65, WINDOW_MTU + 1};

	for (unsigned i = 0; i < 2; i++) {
		struct pair *p = window_pair();
		struct fast *f = fast_ready(p, FAST_LOCAL | WINDOW_RW);

		pair_recv(p, 1, 0, 5, 0, i == 0 ? 64 : WINDOW_MTU);
		window_send_inv(p, 0, 6, sizes[i], f->token, 0);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 1, 5, NDSH_WC_LOC_LEN_ERR);
		pair_expect(p, 0, 6, NDSH_WC_REM_INV_REQ_ERR);
		window_use(p, 1, 7, NDSH_OP_WRITE, f->token, WINDOW_AT, 8);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 0, 7, NDSH_WC_SUCCESS);
		fast_free(p, f);
	}
}

/* checks W-MEM-05[6]: by neither of its tokens. */
Test(fast_use, W_MEM_05_no_window_is_bound_to_it)
{
	for (unsigned i = 0; i < 2; i++) {
		struct pair *p = window_pair();
		struct fast *f = fast_ready(p, FAST_LOCAL | WINDOW_RW);
		struct window v = window_new(p);

		window_bind_at(
			p, 0, 5, &v, i == 0 ? f->token : f->local, WINDOW_AT, 8, WINDOW_READ, 0);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 1, 5, NDSH_WC_BIND_ERR);
		pair_expect_dead(p, 1, 0, ROCE_REASON_LOCAL_BIND);
		window_use(p, 1, 6, NDSH_OP_WRITE, f->token, WINDOW_AT, 8);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 0, 6, NDSH_WC_SUCCESS);
		window_free(p, &v);
		fast_free(p, f);
	}
}

/* It belongs to the domain: the end of the queue pair is not its end, another one may end it. */
Test(fast_use, outlives_its_queue_pair)
{
	const struct roce_qp_attr none = {0};
	struct pair *p = window_pair();
	struct fast *f = fast_ready(p, FAST_LOCAL | WINDOW_RW);

	roce_qp_modify(p->side[1].shard, p->side[1].q[0].qp, p->now_ns, ROCE_QPS_ERR, 0, &none);
	window_use(p, 1, 2, NDSH_OP_WRITE, f->token, WINDOW_AT, 8);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	window_invalidate(p, 1, 3, f->token, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 3, NDSH_WC_SUCCESS);
	window_expect_closed(p, 1, NDSH_OP_WRITE, f->token, WINDOW_AT, 8);
	fast_free(p, f);
}

static unsigned
lose_first_three(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late, void *n)
{
	unsigned *left = n;

	(void)p;
	(void)pkt;
	(void)late;
	if (from != 1 || *left == 0)
		return 1;
	--*left;
	return 0;
}

/* What an earlier SEND has to send again is still there: the invalidation behind it waits. checks
 * W-FENCE-02[2] */
Test(fast_use, W_FENCE_02_waits_for_what_is_before_it)
{
	const uint32_t bytes =
		BYTES_ALL / 4; /* less than a window: the invalidation's turn comes */
	struct pair *p = window_pair();
	struct fast *f = fast_ready(p, FAST_LOCAL);
	unsigned left = 3;

	number(p, f, BYTES_ALL);
	p->tap = lose_first_three;
	p->tap_ctx = &left;
	pair_recv(p, 0, 0, 9, 0, PAIR_ARENA);
	post_sge(p, 0, 2, NDSH_OP_SEND, f->local, FAST_BASE, bytes);
	window_invalidate(p, 0, 3, f->token, 0);
	fast_register(p, 0, 4, f, 1, FAST_PAGES, BYTES_ALL, FAST_LOCAL);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 9, NDSH_WC_SUCCESS);
	expect_numbered(p->side[0].arena, 0, bytes);
	for (uint64_t c = 2; c <= 4; c++)
		pair_expect(p, 1, c, NDSH_WC_SUCCESS);
	fast_free(p, f);
}

/* A registration that fails ends what is behind it, though what is before it is not over. checks
 * W-FENCE-02[1] */
Test(fast_use, a_registration_that_fails_behind_a_write)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = WINDOW_MTU});
	struct fast *f = fast_ready(p, FAST_LOCAL);
	unsigned left = 1;
	uint64_t sent = p->sent[1];

	p->tap = lose_first_three;
	p->tap_ctx = &left;
	pair_write(p, 1, 0, 2, 0, 0, 8, 0);
	fast_register(p, 0, 3, f, 1, 1, 8, FAST_LOCAL); /* it is registered */
	pair_write(p, 1, 0, 4, 0, 64, 8, 0);
	pair_turn(p, 1);
	pair_turn(p, 1);
	cr_assert_eq(p->sent[1] - sent, 1, "what is behind it left");
	pair_expect_none(p, 1);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
	pair_expect(p, 1, 3, NDSH_WC_LOC_QP_OP_ERR);
	pair_expect(p, 1, 4, NDSH_WC_FLUSH_ERR);
	fast_free(p, f);
}

/* ---- the key to all of the arena ---- */

static struct roce_mr *
open_arena(struct pair *p, const struct fast *f)
{
	struct roce_mr *key = roce_arena_open(p->side[1].shard, p->side[1].pd, &f->arena);

	cr_assert_not_null(key);
	return key;
}

/* checks R-FR-08[1] */
Test(fast_use, R_FR_08_reads_and_writes_the_owners_memory)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = WINDOW_MTU});
	struct fast *f = fast_new(p, true);
	struct roce_mr *key = open_arena(p, f);
	uint32_t token = roce_mr_key(key);
	uint64_t sent;

	memset(f->extent[1].host + 77, 0x5a, 5000);
	pair_recv(p, 0, 0, 9, 0, 8192);
	post_sge(p, 0, 2, NDSH_OP_SEND, token, f->extent[1].va + 77, 5000);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 9, NDSH_WC_SUCCESS);
	cr_assert_arr_eq(p->side[0].arena, f->extent[1].host + 77, 5000);
	memset(p->side[0].arena, 0x33, 5000);
	post_sge(p, 0, 3, NDSH_OP_READ, token, f->extent[0].va + FAST_EXTENT - 5000, 5000);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 3, NDSH_WC_SUCCESS);
	cr_assert_arr_eq(p->side[0].arena, f->extent[0].host + FAST_EXTENT - 5000, 5000);
	/* One byte beyond what is shared: it is not even asked for. */
	sent = p->sent[1];
	post_sge(p, 0, 4, NDSH_OP_READ, token, f->extent[0].va + FAST_EXTENT - 5000, 5001);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 4, NDSH_WC_LOC_PROT_ERR);
	cr_assert_eq(p->sent[1], sent);
	roce_arena_close(p->side[1].shard, key);
	fast_free(p, f);
}

/* checks R-FR-08[2]: the peer gets nothing by it, and can't end it */
Test(fast_use, the_privileged_token_is_nothing_to_a_peer)
{
	for (unsigned i = 0; i < 3; i++) {
		struct pair *p = window_pair();
		struct fast *f = fast_new(p, true);
		struct roce_mr *key = open_arena(p, f);
		struct ndsh_sge sge = pair_sge(p, 0, 0, 8);
		static const uint8_t ops[] = {NDSH_OP_READ, NDSH_OP_WRITE, NDSH_OP_SEND_INV};

		pair_recv(p, 1, 0, 5, 0, 64);
		pair_post(p, 0, 0,
			&(struct ndsh_swr){.context = 2,
				.raddr = f->extent[0].va,
				.rkey = roce_mr_key(key),
				.ctrl = NDSH_CTRL(ops[i], 1, 0, 0)},
			&sge, NULL);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 0, 2, NDSH_WC_REM_ACCESS_ERR);
		roce_arena_close(p->side[1].shard, key);
		fast_free(p, f);
	}
}

/* checks R-INV-01[3]: nor can its owner end it by a request */
Test(fast_use, the_privileged_token_is_no_registration)
{
	struct pair *p = window_pair();
	struct fast *f = fast_new(p, true);
	struct roce_mr *key = open_arena(p, f);

	window_invalidate(p, 0, 2, roce_mr_key(key), 0);
	pair_run(p, PAIR_LONG);
	pair_expect(p, 1, 2, NDSH_WC_LOC_QP_OP_ERR);
	roce_arena_close(p->side[1].shard, key);
	fast_free(p, f);
}
