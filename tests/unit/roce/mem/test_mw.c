/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory windows in the engine: what is bound, which queue pair may use it, until when. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/fast.h"
#include "roce/mem/mr.h"

/* checks R-MW-04[3], W-MEM-04[2], W-MEM-05[7]: ---- bind ---- */
Test(windows, R_MW_07_R_MW_04_bound_and_usable)
{
	struct pair *p = window_pair();
	struct window v = window_new(p);

	memset(p->side[0].arena + WINDOW_AT, 0x5a, WINDOW_BYTES);
	window_bind(p, 0, 1, &v, WINDOW_RW);
	pair_run(p, PAIR_LONG);
	cr_assert_eq(pair_expect(p, 1, 1, NDSH_WC_SUCCESS).op, NDSH_OP_BIND);
	window_use(p, 0, 2, NDSH_OP_WRITE, v.token, WINDOW_AT, WINDOW_BYTES);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	cr_assert_arr_eq(p->side[1].arena + WINDOW_AT, p->side[0].arena + WINDOW_AT, WINDOW_BYTES);
	memset(p->side[1].arena + WINDOW_AT, 0x33, WINDOW_BYTES);
	window_use(p, 0, 3, NDSH_OP_READ, v.token, WINDOW_AT, WINDOW_BYTES);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 3, NDSH_WC_SUCCESS);
	cr_assert_arr_eq(p->side[1].arena + WINDOW_AT, p->side[0].arena + WINDOW_AT, WINDOW_BYTES);
	window_pair_free(p, &v);
}

/* checks W-MEM-04[1]: nothing is open before the first bind, by the token that it will have, nor
 * by any other. */
Test(windows, W_MEM_04_born_free)
{
	for (uint32_t g = 0; g < 3; g++) {
		struct pair *p = window_pair();
		struct window v = window_new(p);
		uint32_t token = ndsh_window_token(v.slot, v.secret, g);

		window_expect_closed(p, 0, NDSH_OP_WRITE, token, WINDOW_AT, 8);
		cr_assert(roce_mr_deregister(p->side[1].shard, p->side[1].mr), "it holds none");
		p->side[1].mr = NULL;
		window_pair_free(p, &v);
	}
}

/* The peer acts on what a SEND right behind the BIND tells it; checks R-ORD-08[1]. */
Test(windows, R_ORD_08_a_send_behind_the_bind_finds_it_done)
{
	struct pair *p = window_pair();
	struct window v = window_new(p);

	pair_recv(p, 0, 0, 9, 0, 64);
	pair_write(p, 1, 0, 1, 0, 0, 0, 0);
	window_bind(p, 0, 2, &v, WINDOW_WRITE);
	pair_send(p, 1, 0, 3, 0, 8, 0);
	while (!p->side[0].reader.page->produced)
		p->now_ns += 100, pair_turn(p, 0), pair_turn(p, 1);
	pair_expect(p, 0, 9, NDSH_WC_SUCCESS);
	window_use(p, 0, 4, NDSH_OP_WRITE, v.token, WINDOW_AT, 8);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 4, NDSH_WC_SUCCESS);
	for (uint64_t c = 1; c <= 3; c++)
		pair_expect(p, 1, c, NDSH_WC_SUCCESS);
	window_pair_free(p, &v);
}

/* checks R-ORD-08[2]: as above, of an invalidation: what the peer's next packet finds is closed. */
Test(windows, R_ORD_08_a_send_behind_the_invalidation_finds_it_done)
{
	struct pair *p = window_pair();
	struct window v = window_new(p);

	window_bind(p, 0, 1, &v, WINDOW_RW);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	pair_recv(p, 0, 0, 9, 0, 64);
	pair_write(p, 1, 0, 2, 0, 0, 0, 0);
	window_invalidate(p, 0, 3, v.token, 0);
	pair_send(p, 1, 0, 4, 0, 8, 0);
	while (!p->side[0].reader.page->produced)
		p->now_ns += 100, pair_turn(p, 0), pair_turn(p, 1);
	pair_expect(p, 0, 9, NDSH_WC_SUCCESS);
	window_expect_closed(p, 0, NDSH_OP_WRITE, v.token, WINDOW_AT, 8);
	window_pair_free(p, &v);
}

/* checks W-MEM-06[4] */
Test(windows, R_MW_03_nothing_outside_the_window)
{
	static const struct {
		uint32_t at, bytes;
	} outside[] = {{WINDOW_AT - 1, 1}, {WINDOW_AT - 1, WINDOW_BYTES},
		{WINDOW_AT + WINDOW_BYTES, 1}, {WINDOW_AT + 1, WINDOW_BYTES},
		{WINDOW_AT + WINDOW_BYTES - 1, 2}, {0, 8}};

	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		struct pair *p = window_pair();
		struct window v = window_new(p);

		window_bind(p, 0, 1, &v, WINDOW_RW);
		window_use(p, 0, 2, NDSH_OP_WRITE, v.token, WINDOW_AT + WINDOW_BYTES - 1, 1);
		window_use(p, 0, 3, NDSH_OP_WRITE, v.token, WINDOW_AT, 1);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
		pair_expect(p, 0, 3, NDSH_WC_SUCCESS);
		window_expect_closed(p, 0, i & 1 ? NDSH_OP_READ : NDSH_OP_WRITE, v.token,
			outside[i].at, outside[i].bytes);
		window_pair_free(p, &v);
	}
}

/* checks R-MW-05[1,2], W-MEM-06[3]: no right is a bind like others, and grants nothing */
Test(windows, only_the_rights_that_were_bound)
{
	static const struct {
		uint32_t access;
		uint8_t op;
	} refused[] = {{0, NDSH_OP_READ}, {0, NDSH_OP_WRITE}, {WINDOW_READ, NDSH_OP_WRITE},
		{WINDOW_WRITE, NDSH_OP_READ}};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct pair *p = window_pair();
		struct window v = window_new(p);

		window_bind(p, 0, 1, &v, refused[i].access);
		pair_run(p, PAIR_LONG);
		pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
		window_expect_closed(p, 0, refused[i].op, v.token, WINDOW_AT, 8);
		window_pair_free(p, &v);
	}
}

static void
bind_fails(struct pair *p, struct window *v, uint64_t context)
{
	pair_send(p, 1, 0, context + 1, 0, 8, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, context, NDSH_WC_BIND_ERR);
	pair_expect(p, 1, context + 1, NDSH_WC_FLUSH_ERR);
	pair_expect_dead(p, 1, 0, ROCE_REASON_LOCAL_BIND);
	window_pair_free(p, v);
}

/* checks R-MW-02, R-MW-03[1,3], W-MEM-05[3,4,8], W-MEM-06[2] */
Test(windows, W_MEM_05_binds_that_are_refused)
{
	static const struct {
		uint64_t at, bytes;
	} outside[] = {{0, PAIR_ARENA + 1ull}, {1, PAIR_ARENA}, {PAIR_ARENA - 8, 9},
		{PAIR_ARENA + 1, 1}, {0, UINT64_MAX}, {8, UINT64_MAX - 4}, {0, 0}};

	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		struct pair *p = window_pair();
		struct window v = window_new(p);

		window_bind_at(p, 0, 1, &v, p->side[1].key, (uint32_t)outside[i].at,
			outside[i].bytes, WINDOW_RW, 0);
		bind_fails(p, &v, 1);
	}
	for (unsigned i = 0; i < 4; i++) { /* tokens of no region */
		struct pair *p = window_pair();
		struct window v = window_new(p);
		const uint32_t tokens[] = {
			0, UINT32_MAX, p->side[1].key ^ 1, ndsh_window_token(v.slot, v.secret, 1)};

		window_bind_at(p, 0, 1, &v, tokens[i], WINDOW_AT, 8, WINDOW_RW, 0);
		bind_fails(p, &v, 1);
	}
}

/* A client names no window: a slot beyond the table, or one that is a fast-register region, whose
 * tokens follow from its secret in the same way. */
Test(windows, R_MW_02_binds_of_no_window)
{
	for (unsigned i = 0; i < 3; i++) {
		struct pair *p = pair_new(&(struct pair_opts){
			.mtu = WINDOW_MTU, .mr_access = NDSH_ACCESS_LOCAL_WRITE});
		struct fast *f = fast_new(p, true);
		const struct window of[] = {{.slot = 64}, {.slot = (1u << ROCE_MR_BITS) - 1},
			{.slot = f->slot, .secret = f->secret}};
		struct window v = of[i];

		window_bind(p, 0, 1, &v, WINDOW_RW);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 1, 1, NDSH_WC_BIND_ERR);
		pair_expect_dead(p, 1, 0, ROCE_REASON_LOCAL_BIND);
		fast_free(p, f);
	}
}

/* checks R-MW-03[1]: the last byte of a region is in it. */
Test(windows, R_MW_03_a_window_of_one_byte)
{
	struct pair *p = window_pair();
	struct window v = window_new(p);

	window_bind_at(p, 0, 1, &v, p->side[1].key, PAIR_ARENA - 1, 1, WINDOW_RW, 0);
	window_use(p, 0, 2, NDSH_OP_WRITE, v.token, PAIR_ARENA - 1, 1);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	window_pair_free(p, &v);
}

/* checks R-MW-04[1,2], W-MEM-05[2] */
Test(windows, R_MW_04_write_needs_local_write)
{
	struct pair *p = pair_new(&(struct pair_opts){.mr_access = WINDOW_READ});
	struct window v = window_new(p);

	window_bind(p, 0, 1, &v, WINDOW_READ);
	pair_run(p, PAIR_LONG);
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	window_invalidate(p, 0, 2, v.token, 0);
	pair_run(p, PAIR_LONG);
	pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
	window_bind(p, 0, 3, &v, WINDOW_RW);
	bind_fails(p, &v, 3);
}

/* checks R-MW-02[2], W-MEM-05[1] */
Test(windows, R_MW_02_one_protection_domain)
{
	struct pair *p = window_pair();
	struct roce_shard *s = p->side[1].shard;
	uint32_t pd = roce_pd_create(s);
	struct window v = {0}, w = window_new(p);
	struct roce_mr *mr = roce_mr_register(
		s, pd, PAIR_VA, PAIR_ARENA, p->side[1].arena, NDSH_ACCESS_LOCAL_WRITE);

	v.mw = roce_mw_create(s, pd, &v.slot, &v.secret);
	window_bind(p, 0, 1, &v, WINDOW_RW); /* the window's is another */
	window_bind_at(
		p, 1, 2, &w, roce_mr_key(mr), WINDOW_AT, 8, WINDOW_RW, 0); /* the region's is */
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 1, NDSH_WC_BIND_ERR);
	pair_expect(p, 1, 2, NDSH_WC_BIND_ERR);
	cr_assert_not(roce_pd_destroy(s, pd), "in use by the window");
	cr_assert(roce_mr_deregister(s, mr));
	window_free(p, &v);
	cr_assert(roce_pd_destroy(s, pd));
	window_pair_free(p, &w);
}

/* checks R-MW-02[1] */
Test(windows, R_MW_02_windows_overlap)
{
	struct pair *p = window_pair();
	struct window v = window_new(p), w = window_new(p);

	window_bind_at(p, 0, 1, &v, p->side[1].key, WINDOW_AT, WINDOW_BYTES, WINDOW_WRITE, 0);
	window_bind_at(p, 1, 2, &w, p->side[1].key, WINDOW_AT + 100, WINDOW_BYTES, WINDOW_WRITE, 0);
	pair_run(p, PAIR_LONG);
	window_use(p, 0, 3, NDSH_OP_WRITE, v.token, WINDOW_AT + 200, 8);
	window_use(p, 1, 4, NDSH_OP_WRITE, w.token, WINDOW_AT + 200, 8);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 3, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 4, NDSH_WC_SUCCESS);
	window_free(p, &w);
	window_pair_free(p, &v);
}

/* checks R-MW-01[2], W-MEM-04[4] */
Test(windows, R_MW_01_bound_once)
{
	struct pair *p = window_pair();
	struct window v = window_new(p);

	window_bind(p, 0, 1, &v, WINDOW_RW);
	pair_run(p, PAIR_LONG);
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	window_bind(p, 0, 2, &v, WINDOW_RW);
	bind_fails(p, &v, 2);
}

/* checks R-INV-05[1], R-MW-06[2,3], W-MEM-04[3,5] */
Test(windows, R_MW_06_tokens_differ_and_old_ones_stay_dead)
{
	struct pair *p = window_pair();
	struct window v = window_new(p);
	uint32_t first;

	window_bind(p, 0, 1, &v, WINDOW_RW);
	first = v.token;
	window_invalidate(p, 0, 2, first, 0);
	window_bind(p, 0, 3, &v, WINDOW_RW);
	cr_assert_neq(v.token, first);
	pair_run(p, PAIR_LONG);
	for (uint64_t c = 1; c <= 3; c++)
		pair_expect(p, 1, c, NDSH_WC_SUCCESS);
	window_use(p, 0, 4, NDSH_OP_WRITE, v.token, WINDOW_AT, 8);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 4, NDSH_WC_SUCCESS);
	window_expect_closed(p, 0, NDSH_OP_WRITE, first, WINDOW_AT, 8);
	window_pair_free(p, &v);
}

/*
 * checks R-MW-06[3], W-MEM-01[4]: a client may not choose tokens: neither an old one nor one
 * that does not follow.
 */
Test(windows, R_MW_06_a_token_that_does_not_follow_is_a_breach)
{
	for (unsigned i = 0; i < 3; i++) {
		struct pair *p = window_pair();
		struct window v = window_new(p);

		window_bind(p, 0, 1, &v, WINDOW_RW);
		window_invalidate(p, 0, 2, v.token, 0);
		pair_run(p, PAIR_LONG);
		pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
		pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
		v.generation = i == 0	? 0
			       : i == 1 ? UINT32_MAX - 5
					: 7; /* the same, older, other */
		if (i == 2)
			v.secret ^= 1;
		window_bind(p, 0, 3, &v, WINDOW_RW);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 1, 3, NDSH_WC_FLUSH_ERR);
		pair_expect_dead(p, 1, 0, ROCE_REASON_CLIENT_BREACH);
		cr_assert(p->side[1].events & 1u << ROCE_EV_CLIENT_BREACH);
		window_pair_free(p, &v);
	}
}

/* checks R-MW-08[1,2], W-INV-02, W-MEM-06[5] */
Test(windows, R_MW_08_only_the_peer_of_the_queue_pair_it_is_bound_to)
{
	for (unsigned i = 0; i < 2; i++) {
		struct pair *p = window_pair();
		struct window v = window_new(p);

		window_bind(p, 0, 1, &v, WINDOW_RW);
		pair_run(p, PAIR_LONG);
		pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
		window_expect_closed(p, 1, i ? NDSH_OP_READ : NDSH_OP_WRITE, v.token, WINDOW_AT, 8);
		pair_expect_alive(p, 1, 0);
		window_use(p, 0, 2, NDSH_OP_WRITE, v.token, WINDOW_AT, 8);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
		window_pair_free(p, &v);
	}
}

/* Neither to gather from nor to receive into. */
Test(windows, W_MEM_06_a_window_is_never_a_local_token)
{
	struct pair *p = window_pair();
	struct window v = window_new(p);
	struct ndsh_sge sge = pair_sge(p, 1, WINDOW_AT, 8);

	window_bind(p, 0, 1, &v, WINDOW_RW);
	pair_run(p, PAIR_LONG);
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	sge.key = v.token;
	pair_post(p, 1, 0,
		&(struct ndsh_swr){.context = 2, .ctrl = NDSH_CTRL(NDSH_OP_SEND, 1, 0, 0)}, &sge,
		NULL);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 2, NDSH_WC_LOC_PROT_ERR);
	ndsh_rq_push(&p->side[1].q[1].rq, 3, &sge, 1);
	pair_send(p, 0, 1, 4, 0, 8, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 3, NDSH_WC_LOC_PROT_ERR);
	window_pair_free(p, &v);
}

/*
 * checks R-MR-06[1,3], R-MW-09[1,2], W-MEM-03[1], W-MEM-06[6]: ---- ends of windows and regions
 * ----
 */
Test(windows, W_MEM_03_R_MR_06_R_MW_09_a_region_is_busy_while_windows_are_bound)
{
	struct pair *p = window_pair();
	struct roce_shard *s = p->side[1].shard;
	struct window v = window_new(p), w = window_new(p);

	window_bind(p, 0, 1, &v, WINDOW_RW);
	window_bind(p, 0, 2, &w, WINDOW_RW);
	window_invalidate(p, 0, 3, v.token, 0);
	pair_run(p, PAIR_LONG);
	cr_assert_not(roce_mr_deregister(s, p->side[1].mr));
	window_use(p, 0, 4, NDSH_OP_WRITE, w.token, WINDOW_AT, 8);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 4, NDSH_WC_SUCCESS);
	window_free(p, &w); /* it is bound */
	cr_assert(roce_mr_deregister(s, p->side[1].mr));
	p->side[1].mr = NULL;
	window_expect_closed(p, 0, NDSH_OP_WRITE, w.token, WINDOW_AT, 8);
	window_pair_free(p, &v);
}

/* checks R-MR-08[3]: the slot's next window has other tokens */
Test(windows, R_MR_08_a_slot_used_again_has_other_tokens)
{
	struct pair *p = window_pair();
	struct window v = window_new(p), first = v;

	for (unsigned i = 0; i < 10000 && (i == 0 || v.slot != first.slot); i++) {
		window_free(p, &v);
		v = window_new(p);
	}
	cr_assert_eq(v.slot, first.slot);
	for (uint32_t g = 1; g < 50; g++)
		cr_assert_neq(ndsh_window_token(v.slot, v.secret, g),
			ndsh_window_token(first.slot, first.secret, g));
	window_pair_free(p, &v);
}

/* checks R-MW-10[2,3], W-MEM-04[6] */
Test(windows, R_MW_10_the_end_of_the_queue_pair_unbinds)
{
	struct pair *p = window_pair();
	struct window v[3] = {window_new(p), window_new(p), window_new(p)};
	struct roce_shard *s = p->side[1].shard;

	for (unsigned i = 0; i < 3; i++) { /* one is bound elsewhere */
		window_bind(p, i == 1, i, &v[i], WINDOW_RW);
		pair_run(p, PAIR_LONG);
		pair_expect(p, 1, i, NDSH_WC_SUCCESS);
	}
	roce_qp_modify(s, p->side[1].q[0].qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
	cr_assert_not(roce_mr_deregister(s, p->side[1].mr));
	pair_expect_alive(p, 1, 1);
	window_bind(p, 1, 4, &v[0], WINDOW_RW); /* free for another one */
	pair_run(p, PAIR_LONG);
	pair_expect(p, 1, 4, NDSH_WC_SUCCESS);
	roce_qp_modify(s, p->side[1].q[1].qp, p->now_ns, ROCE_QPS_RESET, 0, NULL);
	pair_turn(p, 1);
	cr_assert(roce_mr_deregister(s, p->side[1].mr));
	p->side[1].mr = NULL;
	for (unsigned i = 0; i < 3; i++)
		window_free(p, &v[i]);
	pair_free(p);
}

Test(windows, the_table_is_shared_with_regions)
{
	struct pair *p = window_pair();
	struct roce_shard *s = p->side[1].shard;
	struct roce_mr *mw[64];
	struct roce_usage u;
	uint64_t secret;
	uint32_t slot, n = 0;

	cr_assert_null(roce_mw_create(s, 99, &slot, &secret), "no such PD");
	while ((mw[n] = roce_mw_create(s, p->side[1].pd, &slot, &secret)) != NULL)
		n++;
	cr_assert_eq(n, 63);
	roce_shard_usage(s, &u);
	cr_assert_eq(u.mrs, 64);
	cr_assert_null(roce_mr_register(s, p->side[1].pd, 0, 8, p->side[1].arena, 0));
	while (n > 0)
		roce_mw_destroy(s, mw[--n]);
	pair_free(p);
}
