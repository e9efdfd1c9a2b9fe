/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory windows of type 2 whose keys end as the client likes. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/windows.h"
#include "roce/mem/mr.h"

#define ATOMIC NDSH_ACCESS_REMOTE_ATOMIC

static void
bind_succeeds(struct pair *p, unsigned i, uint64_t context, struct window *v, uint32_t access)
{
	window_bind(p, i, context, v, access);
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert_eq(pair_expect(p, 1, context, NDSH_WC_SUCCESS).op, NDSH_OP_BIND);
}

/* What was posted through queue pair i of side 1 is refused, and the queue pair ends. */
static void
bind_fails(struct pair *p, unsigned i, uint64_t context)
{
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, context, NDSH_WC_BIND_ERR);
	pair_expect_dead(p, 1, i, ROCE_REASON_LOCAL_BIND);
}

static void
use_succeeds(struct pair *p, unsigned i, uint8_t op, uint32_t token)
{
	uint8_t *from = p->side[op == NDSH_OP_READ].arena + WINDOW_AT;

	memset(from, from[0] + 1, WINDOW_BYTES);
	window_use(p, i, 70, op, token, WINDOW_AT, WINDOW_BYTES);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 70, NDSH_WC_SUCCESS);
	cr_assert_arr_eq(p->side[0].arena + WINDOW_AT, p->side[1].arena + WINDOW_AT, WINDOW_BYTES);
}

/* checks W-MEM-01[6], W-MEM-04[2]: any of the 256, in any order, the one of before as well. */
Test(keyed_windows, W_MEM_01_the_client_chooses_the_end_of_the_key)
{
	static const uint8_t ends[] = {0, 255, 255, 1, 128, 0};
	struct pair *p = window_keyed_pair();
	struct window v = window_new_keyed(p, NDSH_MW_TYPE_2);

	for (uint64_t i = 0; i < sizeof(ends); i++) {
		v.token = (v.token & ~0xffu) | (uint8_t)(ends[i] - 1);
		bind_succeeds(p, 0, 2 * i, &v, WINDOW_RW);
		cr_assert_eq(v.token & 0xff, ends[i]);
		use_succeeds(p, 0, NDSH_OP_WRITE, v.token);
		use_succeeds(p, 0, NDSH_OP_READ, v.token);
		window_invalidate(p, 0, 2 * i + 1, v.token, 0);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 1, 2 * i + 1, NDSH_WC_SUCCESS);
	}
	window_expect_closed(p, 0, NDSH_OP_WRITE, v.token, WINDOW_AT, 8);
	window_pair_free(p, &v);
}

/* checks W-MEM-01[7]: every other bit is the window's; with one that is not it names nothing, or
 * another slot. The window is as it was. */
Test(keyed_windows, W_MEM_01_the_rest_of_the_key_is_the_windows)
{
	for (unsigned bit = NDSH_MW_CHOSEN_BITS; bit < 32; bit++) {
		struct pair *p = window_keyed_pair();
		struct window v = window_new_keyed(p, NDSH_MW_TYPE_2), wrong = v;

		wrong.token ^= 1u << bit;
		window_bind(p, 0, 1, &wrong, WINDOW_RW);
		bind_fails(p, 0, 1);
		window_expect_closed(p, 2, NDSH_OP_WRITE, wrong.token, WINDOW_AT, 8);
		bind_succeeds(p, 1, 2, &v, WINDOW_RW);
		use_succeeds(p, 1, NDSH_OP_WRITE, v.token);
		window_pair_free(p, &v);
	}
}

/* checks W-MEM-01[7]: of two windows neither can be given the key of the other. */
Test(keyed_windows, W_MEM_01_no_two_windows_have_one_key)
{
	struct pair *p = window_keyed_pair();
	struct window v = window_new_keyed(p, NDSH_MW_TYPE_2);
	struct window w = window_new_keyed(p, NDSH_MW_TYPE_2);
	uint32_t other;

	cr_assert_neq(v.token >> NDSH_MW_CHOSEN_BITS, w.token >> NDSH_MW_CHOSEN_BITS);
	bind_succeeds(p, 0, 1, &v, WINDOW_RW);
	other = (w.token & ~0xffu) | (v.token & 0xff);
	window_expect_closed(p, 1, NDSH_OP_WRITE, other, WINDOW_AT, 8);
	window_free(p, &w);
	window_pair_free(p, &v);
}

/* checks W-MEM-01[3,8]: not even in slot 0 may the client choose 0. */
Test(keyed_windows, W_MEM_01_no_key_can_become_0)
{
	struct pair *p = window_keyed_pair();
	struct window all[63];
	unsigned lowest = 0, n = sizeof(all) / sizeof(all[0]);

	for (unsigned i = 0; i < n; i++) {
		all[i] = window_new_keyed(p, NDSH_MW_TYPE_2);
		if (all[i].token < all[lowest].token)
			lowest = i;
	}
	if (p->side[1].key >> NDSH_TOKEN_KEY_BITS != 0)
		cr_assert_eq(all[lowest].token >> NDSH_TOKEN_KEY_BITS, 0);
	for (unsigned i = 0; i < 4000; i++) { /* that slot alone is free each time */
		window_free(p, &all[lowest]);
		all[lowest] = window_new_keyed(p, NDSH_MW_TYPE_2);
		cr_assert_neq(all[lowest].token >> NDSH_MW_CHOSEN_BITS, 0);
	}
	for (unsigned i = 0; i < n; i++)
		window_free(p, &all[i]);
	pair_free(p);
}

/* checks W-MEM-04[1]: none of the keys that it can have opens it, the first one neither. */
Test(keyed_windows, W_MEM_04_born_free)
{
	for (uint32_t end = 0; end < 2; end++) {
		struct pair *p = window_keyed_pair();
		struct window v = window_new_keyed(p, NDSH_MW_TYPE_2);

		window_expect_closed(p, 0, NDSH_OP_WRITE, v.token ^ end, WINDOW_AT, 8);
		window_expect_closed(p, 1, NDSH_OP_WRITE, v.token ^ end, 0, 8);
		window_invalidate(p, 2, 1, v.token, 0);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 1, 1, NDSH_WC_LOC_QP_OP_ERR);
		window_pair_free(p, &v);
	}
}

/* checks W-MEM-04[4]: bound is bound, with the same key or another one; the first binding stays. */
Test(keyed_windows, W_MEM_04_bound_once)
{
	for (unsigned same = 0; same < 2; same++) {
		struct pair *p = window_keyed_pair();
		struct window v = window_new_keyed(p, NDSH_MW_TYPE_2);
		struct window again;

		bind_succeeds(p, 0, 1, &v, WINDOW_RW);
		again = v;
		again.token -= same;
		window_bind(p, 1, 2, &again, WINDOW_RW);
		bind_fails(p, 1, 2);
		use_succeeds(p, 0, NDSH_OP_WRITE, v.token);
		cr_assert_not(roce_mr_deregister(p->side[1].shard, p->side[1].mr));
		window_pair_free(p, &v);
	}
}

/* checks W-MEM-05[2,3,4,8,10]: a bind that fails leaves the window as it was. */
Test(keyed_windows, W_MEM_05_binds_that_are_refused)
{
	static const struct {
		uint32_t region; /* rights */
		uint64_t at, bytes;
		uint32_t access;
	} rows[] = {
		{NDSH_ACCESS_LOCAL_WRITE, WINDOW_AT, 8, WINDOW_READ},
		{NDSH_ACCESS_LOCAL_WRITE | WINDOW_RW | ATOMIC, WINDOW_AT, 8, WINDOW_READ},
		{NDSH_ACCESS_WINDOW_BIND, WINDOW_AT, 8, WINDOW_WRITE},
		{NDSH_ACCESS_WINDOW_BIND, WINDOW_AT, 8, ATOMIC},
		{NDSH_ACCESS_WINDOW_BIND, WINDOW_AT, 0, WINDOW_READ},
		{NDSH_ACCESS_WINDOW_BIND, WINDOW_AT, UINT64_MAX, WINDOW_READ},
		{NDSH_ACCESS_WINDOW_BIND, PAIR_ARENA, 1, WINDOW_READ},
		{NDSH_ACCESS_WINDOW_BIND, PAIR_ARENA - 8, 9, WINDOW_READ},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pair *p = window_keyed_pair();
		struct roce_shard *s = p->side[1].shard;
		struct window v = window_new_keyed(p, NDSH_MW_TYPE_2);
		struct roce_mr *mr = roce_mr_register(
			s, p->side[1].pd, PAIR_VA, PAIR_ARENA, p->side[1].arena, rows[i].region);

		window_bind_at(p, 0, 1, &v, roce_mr_key(mr), (uint32_t)rows[i].at, rows[i].bytes,
			rows[i].access, 0);
		bind_fails(p, 0, 1);
		cr_assert(roce_mr_deregister(s, mr), "row %zu", i);
		bind_succeeds(p, 1, 2, &v, WINDOW_RW | ATOMIC);
		window_pair_free(p, &v);
	}
}

/* checks W-MEM-05[1] */
Test(keyed_windows, W_MEM_05_one_protection_domain)
{
	struct pair *p = window_keyed_pair();
	struct roce_shard *s = p->side[1].shard;
	uint32_t pd = roce_pd_create(s);
	struct window v = {.type = NDSH_MW_TYPE_2}, w = window_new_keyed(p, NDSH_MW_TYPE_2);
	struct roce_mr *mr = roce_mr_register(
		s, pd, PAIR_VA, PAIR_ARENA, p->side[1].arena, NDSH_ACCESS_WINDOW_BIND);

	v.mw = roce_mw_create_keyed(s, pd, v.type, &v.token);
	window_bind(p, 0, 1, &v, WINDOW_READ);
	bind_fails(p, 0, 1);
	window_bind_at(p, 1, 2, &w, roce_mr_key(mr), WINDOW_AT, 8, WINDOW_READ, 0);
	bind_fails(p, 1, 2);
	cr_assert(roce_mr_deregister(s, mr));
	window_free(p, &v);
	cr_assert(roce_pd_destroy(s, pd));
	cr_assert_null(roce_mw_create_keyed(s, pd, NDSH_MW_TYPE_2, &v.token));
	window_pair_free(p, &w);
}

/* checks W-MEM-06[5]: of type 2 it is the one queue pair. */
Test(keyed_windows, W_MEM_06_only_the_peer_of_the_queue_pair_it_is_bound_to)
{
	struct pair *p = window_keyed_pair();
	struct window v = window_new_keyed(p, NDSH_MW_TYPE_2);

	bind_succeeds(p, 0, 1, &v, WINDOW_RW);
	window_expect_closed(p, 1, NDSH_OP_WRITE, v.token, WINDOW_AT, 8);
	use_succeeds(p, 0, NDSH_OP_WRITE, v.token);
	window_pair_free(p, &v);
}

/* checks W-MEM-06[3] */
Test(keyed_windows, W_MEM_06_only_the_rights_that_were_bound)
{
	static const struct {
		uint32_t access;
		uint8_t op;
	} refused[] = {{0, NDSH_OP_READ}, {WINDOW_READ | ATOMIC, NDSH_OP_WRITE},
		{WINDOW_WRITE | ATOMIC, NDSH_OP_READ}, {WINDOW_RW, NDSH_OP_FETCH_ADD},
		{WINDOW_RW, NDSH_OP_CMP_SWAP}};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct pair *p = window_keyed_pair();
		struct window v = window_new_keyed(p, NDSH_MW_TYPE_2);

		bind_succeeds(p, 0, 1, &v, refused[i].access);
		window_expect_closed(p, 0, refused[i].op, v.token, WINDOW_AT, 8);
		window_pair_free(p, &v);
	}
}

/* checks W-MEM-05[9]: windows of this kind grant atomics; one with derived tokens may not ask. */
Test(keyed_windows, W_MEM_05_atomics)
{
	struct pair *p = window_keyed_pair();
	struct window v = window_new_keyed(p, NDSH_MW_TYPE_2), w = window_new(p);
	struct ndsh_sge sge = pair_sge(p, 0, WINDOW_AT, 8);

	bind_succeeds(p, 0, 1, &v, ATOMIC);
	memset(p->side[1].arena + WINDOW_AT, 0, 16);
	p->side[1].arena[WINDOW_AT] = 5;
	pair_post(p, 0, 0,
		&(struct ndsh_swr){.context = 2,
			.raddr = PAIR_VA + WINDOW_AT,
			.rkey = v.token,
			.arg = {7, 0},
			.ctrl = NDSH_CTRL(NDSH_OP_FETCH_ADD, 1, 0, 0)},
		&sge, NULL);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	cr_assert_eq(p->side[1].arena[WINDOW_AT], 12);
	cr_assert_eq(p->side[0].arena[WINDOW_AT], 5);
	window_bind(p, 1, 3, &w, WINDOW_RW | ATOMIC);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 3, NDSH_WC_FLUSH_ERR);
	pair_expect_dead(p, 1, 1, ROCE_REASON_CLIENT_BREACH);
	window_free(p, &w);
	window_pair_free(p, &v);
}

/* checks W-INV-02[1], W-INV-03[1]: by the peer, or by a queue pair that it is not bound to. */
Test(keyed_windows, W_INV_02_invalidated_by_its_own_queue_pair)
{
	struct pair *p = window_keyed_pair();
	struct window v = window_new_keyed(p, NDSH_MW_TYPE_2);
	struct ndsh_cqe e;

	bind_succeeds(p, 0, 1, &v, WINDOW_RW);
	window_invalidate(p, 1, 2, v.token, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 2, NDSH_WC_LOC_QP_OP_ERR);
	pair_recv(p, 1, 2, 3, 0, 64);
	window_send_inv(p, 2, 4, 8, v.token, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 3, NDSH_WC_REM_INV_REQ_ERR);
	pair_expect(p, 0, 4, NDSH_WC_REM_ACCESS_ERR);
	use_succeeds(p, 0, NDSH_OP_WRITE, v.token);
	pair_recv(p, 1, 0, 5, 0, 64);
	window_send_inv(p, 0, 6, 8, v.token, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	e = pair_expect(p, 1, 5, NDSH_WC_SUCCESS);
	cr_assert(e.flags & NDSH_CQEF_INV);
	cr_assert_eq(e.data, v.token);
	pair_expect(p, 0, 6, NDSH_WC_SUCCESS);
	cr_assert(roce_mr_deregister(p->side[1].shard, p->side[1].mr));
	p->side[1].mr = NULL;
	window_expect_closed(p, 0, NDSH_OP_WRITE, v.token, WINDOW_AT, 8);
	window_pair_free(p, &v);
}

/* A bind that is flushed was none: the window is free for another queue pair. */
Test(keyed_windows, flushed_binds_change_nothing)
{
	struct pair *p = window_keyed_pair();
	struct window v = window_new_keyed(p, NDSH_MW_TYPE_2);

	roce_qp_modify(p->side[1].shard, p->side[1].q[0].qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
	window_bind(p, 0, 1, &v, WINDOW_RW);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 1, NDSH_WC_FLUSH_ERR);
	window_expect_closed(p, 1, NDSH_OP_WRITE, v.token, WINDOW_AT, 8);
	bind_succeeds(p, 2, 2, &v, WINDOW_RW);
	use_succeeds(p, 2, NDSH_OP_WRITE, v.token);
	window_pair_free(p, &v);
}

/* checks W-MEM-04[6] */
Test(keyed_windows, W_MEM_04_the_end_of_the_queue_pair_unbinds)
{
	struct pair *p = window_keyed_pair();
	struct window v = window_new_keyed(p, NDSH_MW_TYPE_2);
	struct roce_shard *s = p->side[1].shard;

	bind_succeeds(p, 0, 1, &v, WINDOW_RW);
	roce_qp_modify(s, p->side[1].q[0].qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
	pair_turn(p, 1);
	cr_assert(roce_mr_deregister(s, p->side[1].mr));
	p->side[1].mr = NULL;
	window_pair_free(p, &v);
}
