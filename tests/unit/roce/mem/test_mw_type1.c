/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory windows of type 1: for the peers of all queue pairs of a domain, bound again at will. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/windows.h"
#include "roce/mem/mr.h"
#include "roce/qp/qp.h"
#include "roce/shard/shard.h"

static void
bind_succeeds(
	struct pair *p, unsigned i, uint64_t context, struct window *v, uint32_t at, uint64_t bytes)
{
	window_bind_at(p, i, context, v, p->side[1].key, at, bytes, WINDOW_RW, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert_eq(pair_expect(p, 1, context, NDSH_WC_SUCCESS).op, NDSH_OP_BIND);
}

static void
use_succeeds(struct pair *p, unsigned i, uint8_t op, uint32_t token, uint32_t at)
{
	uint8_t *from = p->side[op == NDSH_OP_READ].arena + at;

	memset(from, from[0] + 1, WINDOW_BYTES);
	window_use(p, i, 70, op, token, at, WINDOW_BYTES);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 70, NDSH_WC_SUCCESS);
	cr_assert_arr_eq(p->side[0].arena + at, p->side[1].arena + at, WINDOW_BYTES);
}

/* checks W-MEM-04[7], W-MEM-06[2]: it counts as valid, but nothing is in it. */
Test(type_1, W_MEM_04_born_without_a_byte)
{
	struct pair *p = window_keyed_pair();
	struct window v = window_new_keyed(p, NDSH_MW_TYPE_1);

	cr_assert(roce_mr_deregister(p->side[1].shard, p->side[1].mr), "it holds none");
	p->side[1].mr = NULL;
	window_expect_closed(p, 0, NDSH_OP_WRITE, v.token, WINDOW_AT, 8);
	window_expect_closed(p, 1, NDSH_OP_READ, v.token + 1, 0, 8);
	window_pair_free(p, &v);
}

/* checks W-MEM-06[5]: of type 1 it is each one of the domain, and no other. */
Test(type_1, W_MEM_06_the_peer_of_any_queue_pair_of_the_domain)
{
	struct pair *p = window_keyed_pair();
	struct window v = window_new_keyed(p, NDSH_MW_TYPE_1);
	struct roce_shard *s = p->side[1].shard;
	struct roce_qp *other = p->side[1].q[2].qp;
	uint32_t pd = roce_pd_create(s);

	bind_succeeds(p, 0, 1, &v, WINDOW_AT, WINDOW_BYTES);
	for (unsigned i = 0; i < 3; i++) {
		use_succeeds(p, i, NDSH_OP_WRITE, v.token, WINDOW_AT);
		use_succeeds(p, i, NDSH_OP_READ, v.token, WINDOW_AT);
	}
	cr_assert(roce_pd_get(s, pd));
	other->pd = pd;
	window_expect_closed(p, 2, NDSH_OP_WRITE, v.token, WINDOW_AT, 8);
	other->pd = p->side[1].pd;
	roce_pd_put(s, pd);
	cr_assert(roce_pd_destroy(s, pd));
	window_pair_free(p, &v);
}

/* checks W-MEM-04[8]: by whatever queue pair of the domain; the key of before is dead. */
Test(type_1, W_MEM_04_bound_again_while_it_is_bound)
{
	struct pair *p = window_keyed_pair();
	struct window v = window_new_keyed(p, NDSH_MW_TYPE_1);
	uint32_t first;

	bind_succeeds(p, 0, 1, &v, WINDOW_AT, WINDOW_BYTES);
	first = v.token;
	bind_succeeds(p, 1, 2, &v, 2 * WINDOW_AT, WINDOW_BYTES);
	cr_assert_neq(v.token, first);
	use_succeeds(p, 0, NDSH_OP_WRITE, v.token, 2 * WINDOW_AT);
	window_expect_closed(p, 2, NDSH_OP_WRITE, first, WINDOW_AT, 8);
	window_expect_closed(p, 0, NDSH_OP_WRITE, v.token, WINDOW_AT, 8);
	window_pair_free(p, &v);
}

/* checks W-MEM-03[1], W-MEM-04[9]: with another key, though no region is named. */
Test(type_1, W_MEM_04_no_bytes_unbind_it)
{
	struct pair *p = window_keyed_pair();
	struct window v = window_new_keyed(p, NDSH_MW_TYPE_1);
	struct roce_shard *s = p->side[1].shard;
	uint32_t first;

	bind_succeeds(p, 0, 1, &v, WINDOW_AT, WINDOW_BYTES);
	first = v.token;
	cr_assert_not(roce_mr_deregister(s, p->side[1].mr));
	for (uint64_t context = 2; context <= 3;
		context++) { /* the second time, nothing is bound */
		window_bind_at(p, 1, context, &v, 0, 0, 0, 0, 0);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 1, context, NDSH_WC_SUCCESS);
		cr_assert_eq(v.mw->key, v.token);
	}
	cr_assert(roce_mr_deregister(s, p->side[1].mr));
	p->side[1].mr = NULL;
	window_expect_closed(p, 0, NDSH_OP_WRITE, first, WINDOW_AT, 8);
	window_expect_closed(p, 1, NDSH_OP_WRITE, v.token, WINDOW_AT, 8);
	window_pair_free(p, &v);
}

/* What the binds of a row were refused for changed nothing: the window is open as it was. */
static void
refused_as_it_is(uint32_t rights, uint64_t bytes, uint32_t access, bool same_key)
{
	struct pair *p = window_keyed_pair();
	struct roce_shard *s = p->side[1].shard;
	struct window v = window_new_keyed(p, NDSH_MW_TYPE_1), again;
	struct roce_mr *mr =
		roce_mr_register(s, p->side[1].pd, PAIR_VA, PAIR_ARENA, p->side[1].arena, rights);

	bind_succeeds(p, 0, 1, &v, WINDOW_AT, WINDOW_BYTES);
	again = v;
	again.token -= same_key;
	window_bind_at(p, 1, 2, &again, roce_mr_key(mr), 0, bytes, access, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 2, NDSH_WC_BIND_ERR);
	pair_expect_dead(p, 1, 1, ROCE_REASON_LOCAL_BIND);
	cr_assert(roce_mr_deregister(s, mr));
	cr_assert_not(roce_mr_deregister(s, p->side[1].mr));
	use_succeeds(p, 0, NDSH_OP_WRITE, v.token, WINDOW_AT);
	window_pair_free(p, &v);
}

/* checks W-MEM-04[10], W-MEM-05[2,3,10] */
Test(type_1, W_MEM_05_binds_that_are_refused)
{
	const uint32_t all = NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_WINDOW_BIND;

	refused_as_it_is(all, 8, WINDOW_RW, true);
	refused_as_it_is(all, 0, 0, true);
	refused_as_it_is(all, PAIR_ARENA + 1ull, WINDOW_RW, false);
	refused_as_it_is(NDSH_ACCESS_LOCAL_WRITE, 8, WINDOW_RW, false);
	refused_as_it_is(NDSH_ACCESS_WINDOW_BIND, 8, WINDOW_WRITE, false);
}

/* checks W-MEM-05[4]: a slot beyond the table is no region either. */
Test(type_1, W_MEM_05_binds_to_no_region)
{
	static const uint32_t tokens[] = {0, 64u << ROCE_KEY_BITS, UINT32_MAX};

	for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
		struct pair *p = window_keyed_pair();
		struct window v = window_new_keyed(p, NDSH_MW_TYPE_1);

		window_bind_at(p, 1, 1, &v, tokens[i], 0, 8, WINDOW_RW, 0);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 1, 1, NDSH_WC_BIND_ERR);
		pair_expect_dead(p, 1, 1, ROCE_REASON_LOCAL_BIND);
		window_pair_free(p, &v);
	}
}

/* checks W-INV-02[1]: by neither side. */
Test(type_1, W_INV_02_it_is_never_invalidated)
{
	struct pair *p = window_keyed_pair();
	struct window v = window_new_keyed(p, NDSH_MW_TYPE_1);

	bind_succeeds(p, 0, 1, &v, WINDOW_AT, WINDOW_BYTES);
	window_invalidate(p, 0, 2, v.token, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 2, NDSH_WC_LOC_QP_OP_ERR);
	pair_recv(p, 1, 1, 3, 0, 64);
	window_send_inv(p, 1, 4, 8, v.token, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 3, NDSH_WC_REM_INV_REQ_ERR);
	pair_expect(p, 0, 4, NDSH_WC_REM_ACCESS_ERR);
	use_succeeds(p, 2, NDSH_OP_WRITE, v.token, WINDOW_AT);
	window_pair_free(p, &v);
}

/* checks W-MEM-04[11]: and what is flushed was no bind. */
Test(type_1, W_MEM_04_outlives_its_queue_pair)
{
	struct pair *p = window_keyed_pair();
	struct window v = window_new_keyed(p, NDSH_MW_TYPE_1), flushed;
	struct roce_shard *s = p->side[1].shard;

	bind_succeeds(p, 0, 1, &v, WINDOW_AT, WINDOW_BYTES);
	roce_qp_modify(s, p->side[1].q[0].qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
	flushed = v;
	window_bind(p, 0, 2, &flushed, WINDOW_RW);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 2, NDSH_WC_FLUSH_ERR);
	roce_qp_modify(s, p->side[1].q[0].qp, p->now_ns, ROCE_QPS_RESET, 0, NULL);
	pair_turn(p, 1);
	cr_assert_not(roce_mr_deregister(s, p->side[1].mr));
	use_succeeds(p, 1, NDSH_OP_WRITE, v.token, WINDOW_AT);
	window_free(p, &v);
	cr_assert(roce_mr_deregister(s, p->side[1].mr), "its end lets the region go");
	p->side[1].mr = NULL;
	window_expect_closed(p, 1, NDSH_OP_WRITE, v.token, WINDOW_AT, 8);
	pair_free(p);
}

/* The peer comes through it to memory that only its client reaches, until it is unbound. */
Test(type_1, to_moved_memory)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 2,
		.mtu = WINDOW_MTU,
		.mr_access = NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_WINDOW_BIND,
		.moved = true});
	struct window v = window_new_keyed(p, NDSH_MW_TYPE_1);
	struct pair_side *d = &p->side[1];

	for (uint64_t i = 1; i <= 2; i++) {
		v.token = (v.token & ~0xffu) | (uint32_t)i;
		pair_post(p, 1, 1,
			&(struct ndsh_swr){.context = i,
				.raddr = (uintptr_t)d->moved,
				.rkey = v.token,
				.arg = {i == 1 ? 4096 : 0,
					WINDOW_RW | (uint64_t)d->moved_key << 32},
				.ctrl = NDSH_CTRL(NDSH_OP_BIND, 0, 0, 0)},
			NULL, NULL);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 1, i, NDSH_WC_SUCCESS);
		p->side[0].arena[0] = (uint8_t)i;
		pair_write_by_key(p, 10 + i, (uintptr_t)d->moved, v.token, 100);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 0, 10 + i, i == 1 ? NDSH_WC_SUCCESS : NDSH_WC_REM_ACCESS_ERR);
		cr_assert_eq(d->moved[0], 1);
	}
	window_pair_free(p, &v);
}
