/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a queue pair that thousands of windows are bound through: they are invalid at once,
 * and unbound in portions. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "rigs/admin_bench.h"
#include "rigs/lone_shard.h"
#include "rigs/zeroed.h"
#include "roce/check.h"
#include "roce/mem/mr.h"
#include "roce/mem/mw.h"
#include "roce/qp/qp.h"
#include "roce/queue/wqe.h"
#include "roce/shard/qpn.h"
#include "roce/shard/shard.h"

#define WINDOWS	  1000u
#define AT_ONCE	  128u /* one call unbinds no more */
#define VA	  0x10000u
#define BYTES	  4096u
#define READ	  NDSH_ACCESS_REMOTE_READ
#define NO_CHANGE (&(const struct roce_qp_attr){0})

struct one {
	struct roce_mr *mw;
	uint32_t slot, generation, token;
	uint64_t secret;
};

struct bench {
	struct roce_shard *s;
	uint32_t pd;
	struct roce_cq *cq;
	struct roce_mr *region;
	struct roce_qp *qp[2];
	struct one w[WINDOWS];
	void *cq_mem, *block[2];
};

static struct one
window_new(struct bench *b)
{
	struct one w = {0};

	w.mw = roce_mw_create(b->s, b->pd, &w.slot, &w.secret);
	cr_assert_not_null(w.mw);
	return w;
}

/* As the queue pair's ring would have it done. */
static enum roce_bind_result
bind(struct bench *b, unsigned i, struct one *w)
{
	struct roce_wqe r = {.op = NDSH_OP_BIND,
		.raddr = VA,
		.bind = {.bytes = 64, .access = READ, .region = roce_mr_key(b->region)}};

	r.bind.generation = ++w->generation;
	r.rkey = w->token = ndsh_window_token(w->slot, w->secret, w->generation);
	return roce_mw_bind(b->s, b->qp[i], &r);
}

static void
bind_all(struct bench *b, unsigned i)
{
	for (uint32_t k = 0; k < WINDOWS; k++)
		cr_assert(eq(int, bind(b, i, &b->w[k]), ROCE_BIND_OK));
}

static void
modify(struct bench *b, unsigned i, enum roce_qp_state to)
{
	cr_assert(eq(int,
		roce_qp_modify(b->s, b->qp[i], 0, to, to == ROCE_QPS_INIT ? ROCE_QPA_ACCESS : 0,
			NO_CHANGE),
		ROCE_MODIFY_OK));
}

static struct bench *
bench_new(void)
{
	static uint8_t memory[BYTES];
	struct roce_shard_cfg cfg = lone_config();
	struct bench *b = calloc(1, sizeof(*b));

	cfg.max_mrs = WINDOWS + 24;
	b->s = lone_shard_new(&cfg);
	b->pd = roce_pd_create(b->s);
	b->cq_mem = zeroed(ndsh_cq_bytes(64));
	b->cq = roce_cq_create(b->s, NULL, b->cq_mem, 64, NULL);
	b->region = roce_mr_register(b->s, b->pd, VA, BYTES, memory, 0);
	for (unsigned i = 0; i < 2; i++) {
		b->qp[i] = lone_qp_new(b->s, b->pd, b->cq, &b->block[i]);
		modify(b, i, ROCE_QPS_INIT);
	}
	for (uint32_t k = 0; k < WINDOWS; k++)
		b->w[k] = window_new(b);
	return b;
}

static void
bench_free(struct bench *b)
{
	for (unsigned i = 0; i < 2; i++)
		free(b->block[i]);
	free(b->cq_mem);
	free(b->s);
	free(b);
}

static bool
is_open(const struct bench *b, unsigned i, const struct one *w)
{
	return roce_mr_access(b->s, b->qp[i], w->token, VA, 64, READ) != NULL;
}

static uint32_t
open_ones(const struct bench *b, unsigned i)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < WINDOWS; k++)
		n += is_open(b, i, &b->w[k]);
	return n;
}

/* Turns until the region counts no window, each of which does a part. Returns how many. */
static unsigned
turns_until_unbound(struct bench *b, uint32_t bound)
{
	unsigned turns = 0;

	while (b->region->windows > bound) {
		uint32_t before = b->region->windows;

		cr_assert(not(roce_shard_rest(b->s)), "the next turn is needed");
		cr_assert(ne(uint, roce_shard_poll_rings(b->s, 0, 1), 0), "it is work");
		cr_assert(lt(u32, b->region->windows, before));
		cr_assert(le(u32, before - b->region->windows, AT_ONCE));
		turns++;
	}
	return turns;
}

/* checks R-MW-10[2,3] */
Test(windows_end, R_MW_10_all_are_invalid_at_once_and_unbound_in_portions)
{
	struct bench *b = bench_new();

	bind_all(b, 0);
	cr_assert(eq(u32, open_ones(b, 0), WINDOWS));
	modify(b, 0, ROCE_QPS_ERR);
	cr_expect(eq(u32, open_ones(b, 0), 0));
	cr_expect(ge(u32, b->region->windows, WINDOWS - AT_ONCE));
	cr_expect(eq(ptr, (void *)roce_shard_check_qps(b->s), NULL));
	cr_expect(eq(uint, turns_until_unbound(b, 0), (WINDOWS + AT_ONCE - 1) / AT_ONCE));
	(void)roce_shard_poll_rings(b->s, 0, 1);
	cr_expect(roce_shard_rest(b->s), "nothing is left to do");
	cr_expect(roce_mr_deregister(b->s, b->region));
	bench_free(b);
}

/* checks W-MEM-04[6]: the queue pair lives again before they are unbound, and has others. */
Test(windows_end, W_MEM_04_reset_brings_none_back)
{
	enum { KEPT = 10 };
	struct bench *b = bench_new();

	bind_all(b, 0);
	modify(b, 0, ROCE_QPS_RESET);
	modify(b, 0, ROCE_QPS_INIT);
	cr_expect(eq(u32, open_ones(b, 0), 0));
	for (uint32_t k = 0; k < KEPT; k++)
		cr_assert(eq(int, bind(b, 0, &b->w[k * 7]), ROCE_BIND_OK), "each is free");
	cr_expect(eq(u32, open_ones(b, 0), KEPT));
	(void)turns_until_unbound(b, KEPT);
	for (unsigned i = 0; i < 3; i++)
		(void)roce_shard_poll_rings(b->s, 0, 1);
	cr_expect(eq(u32, open_ones(b, 0), KEPT));
	cr_expect(eq(u32, b->region->windows, KEPT));
	cr_expect(not(roce_mr_deregister(b->s, b->region)));
	bench_free(b);
}

/* checks R-MW-10[3]: free for another queue pair, from the moment of the end. */
Test(windows_end, R_MW_10_another_queue_pair_may_bind_them)
{
	struct bench *b = bench_new();

	bind_all(b, 0);
	for (uint32_t k = 0; k < WINDOWS; k++) /* not as long as the queue pair lives */
		cr_assert(eq(int, bind(b, 1, &b->w[k]), ROCE_BIND_REFUSED));
	modify(b, 0, ROCE_QPS_ERR);
	bind_all(b, 1);
	cr_expect(eq(u32, open_ones(b, 0), 0));
	cr_expect(eq(u32, open_ones(b, 1), WINDOWS));
	cr_expect(eq(u32, b->region->windows, WINDOWS));
	(void)roce_shard_poll_rings(b->s, 0, 1);
	cr_expect(eq(u32, open_ones(b, 1), WINDOWS));
	bench_free(b);
}

Test(windows_end, what_was_let_go_is_not_there_to_be_invalidated)
{
	struct bench *b = bench_new();

	bind_all(b, 0);
	cr_assert(roce_mr_invalidate(b->s, b->qp[0], b->w[0].token, false));
	modify(b, 0, ROCE_QPS_RESET);
	cr_expect(not(roce_mr_invalidate(b->s, b->qp[0], b->w[1].token, false)));
	cr_expect(not(roce_mr_invalidate(b->s, b->qp[0], b->w[2].token, true)));
	bench_free(b);
}

/* A window that is destroyed while it waits to be unbound leaves its place in line. */
Test(windows_end, destroyed_before_they_are_unbound)
{
	struct bench *b = bench_new();

	bind_all(b, 0);
	modify(b, 0, ROCE_QPS_ERR);
	for (uint32_t k = 0; k < WINDOWS; k++)
		roce_mw_destroy(b->s, b->w[(k * 7) % WINDOWS].mw);
	cr_expect(eq(u32, b->region->windows, 0));
	(void)roce_shard_poll_rings(b->s, 0, 1);
	cr_expect(roce_shard_rest(b->s));
	cr_expect(roce_mr_deregister(b->s, b->region));
	bench_free(b);
}

/* A queue pair is there until its windows are unbound, and nothing reaches it. */
Test(windows_end, a_queue_pair_goes_in_portions)
{
	struct bench *b = bench_new();
	uint32_t qpn = roce_qp_num(b->qp[0]), before;
	struct roce_usage u;
	unsigned calls = 1;

	bind_all(b, 0);
	for (before = WINDOWS; !roce_qp_destroy(b->s, b->qp[0]); before = b->region->windows) {
		calls++;
		cr_assert(le(u32, before - b->region->windows, AT_ONCE));
		cr_assert(eq(ptr, roce_qp_find(b->s, qpn), b->qp[0]));
		cr_assert(eq(int, roce_qp_state_get(b->qp[0]), ROCE_QPS_RESET));
		cr_assert(eq(u32, open_ones(b, 0), 0));
		cr_assert(eq(ptr, (void *)roce_shard_check_qps(b->s), NULL));
	}
	cr_expect(ge(uint, calls, WINDOWS / AT_ONCE));
	cr_expect(eq(u32, b->region->windows, 0));
	cr_expect(eq(ptr, roce_qp_find(b->s, qpn), NULL));
	roce_shard_usage(b->s, &u);
	cr_expect(eq(u32, u.qps, 1));
	bench_free(b);
}

/* The call that unbinds the last one says so, though it could have unbound one more. */
Test(windows_end, a_queue_pair_goes_with_its_last_window)
{
	for (uint32_t n = AT_ONCE - 2; n <= AT_ONCE; n++) {
		struct bench *b = bench_new();

		for (uint32_t k = 0; k < n; k++)
			cr_assert(eq(int, bind(b, 0, &b->w[k]), ROCE_BIND_OK));
		cr_expect(eq(int, roce_qp_destroy(b->s, b->qp[0]), n < AT_ONCE), "%u", n);
		cr_expect(eq(u32, b->region->windows, 0));
		bench_free(b);
	}
}

/* The oldest are unbound first, whichever of the new ones the client invalidates meanwhile. */
Test(windows_end, an_invalidation_leaves_the_oldest_the_oldest)
{
	enum { NEW = 4 };
	struct bench *b = bench_new();
	struct one w[NEW];

	bind_all(b, 0);
	modify(b, 0, ROCE_QPS_RESET);
	modify(b, 0, ROCE_QPS_INIT);
	for (unsigned i = 0; i < NEW; i++) {
		w[i] = window_new(b);
		cr_assert(eq(int, bind(b, 0, &w[i]), ROCE_BIND_OK));
	}
	cr_assert(lt(u32, NEW, b->region->windows), "some are to be unbound yet");
	cr_assert(roce_mr_invalidate(b->s, b->qp[0], w[1].token, false));
	cr_expect(roce_mw_keeps(b->s, b->qp[0]));
	(void)turns_until_unbound(b, NEW - 1);
	for (unsigned i = 0; i < NEW; i++)
		cr_expect(eq(int, is_open(b, 0, &w[i]), i != 1), "%u", i);
	bench_free(b);
}

/* A window that one queue pair had bound, and another one has now: what the first one binds next
 * has nothing to do with it. */
Test(windows_end, nothing_is_left_of_a_window_with_the_one_that_had_it)
{
	struct bench *b = bench_new();

	cr_assert(eq(int, bind(b, 0, &b->w[0]), ROCE_BIND_OK));
	cr_assert(roce_mr_invalidate(b->s, b->qp[0], b->w[0].token, false));
	cr_assert(eq(int, bind(b, 1, &b->w[0]), ROCE_BIND_OK));
	cr_assert(eq(int, bind(b, 1, &b->w[1]), ROCE_BIND_OK));
	cr_assert(eq(int, bind(b, 0, &b->w[2]), ROCE_BIND_OK));
	modify(b, 1, ROCE_QPS_ERR);
	(void)turns_until_unbound(b, 1);
	cr_expect(is_open(b, 0, &b->w[2]));
	bench_free(b);
}

/* Lives that had no window are not counted, so that numbers begin anew as late as FOR_A_LIFE in
 * mw.c takes for granted. */
Test(windows_end, without_a_window_no_life_begins)
{
	struct bench *b = bench_new();
	uint32_t first = b->qp[0]->binder, second;

	modify(b, 0, ROCE_QPS_ERR);
	modify(b, 0, ROCE_QPS_RESET);
	cr_expect(eq(u32, b->qp[0]->binder, first));
	modify(b, 0, ROCE_QPS_INIT);
	bind_all(b, 0);
	cr_expect(roce_mw_keeps(b->s, b->qp[0]));
	modify(b, 0, ROCE_QPS_ERR);
	second = b->qp[0]->binder;
	cr_expect(eq(u32, second, roce_mw_next_binder((uint32_t)(b->qp[0] - b->s->qps), first)));
	cr_assert(ne(u32, b->region->windows, 0));
	cr_expect(not(roce_mw_keeps(b->s, b->qp[0])), "these are of an earlier life");
	modify(b, 0, ROCE_QPS_RESET);
	cr_expect(eq(u32, b->qp[0]->binder, second));
	bench_free(b);
}

Test(windows_end, no_binder_is_none)
{
	const uint32_t lives = (1u << (32 - ROCE_INDEX_BITS)) - 1, index = 77;
	uint32_t binder = roce_mw_next_binder(index, 0), first = binder;

	for (uint32_t life = 1; life <= lives; life++) {
		cr_assert(eq(u32, binder, life << ROCE_INDEX_BITS | index));
		binder = roce_mw_next_binder(index, binder);
	}
	cr_expect(eq(u32, binder, first), "they begin anew");
}

/* By then what was bound in the first life is unbound, even if no turn did it. */
Test(windows_end, a_life_is_not_taken_for_another_one)
{
	struct bench *b = bench_new();
	struct one probe = window_new(b);

	bind_all(b, 0);
	for (uint32_t life = 0; life < 1u << (32 - ROCE_INDEX_BITS); life++) {
		modify(b, 0, ROCE_QPS_RESET);
		modify(b, 0, ROCE_QPS_INIT);
		cr_assert(not(is_open(b, 0, &b->w[0])));
		cr_assert(not(is_open(b, 0, &b->w[WINDOWS - 1])));
		cr_assert(eq(int, bind(b, 0, &probe), ROCE_BIND_OK));
		cr_assert(is_open(b, 0, &probe));
	}
	bench_free(b);
}

/* ---- registrations --------------------------------------------------------------------------- */

/* checks R-MW-10[3]: the client has been told of the end, and deregisters. */
Test(windows_end, R_MW_10_a_deregistration_waits_until_they_are_unbound)
{
	enum { BOUND = 300 };
	struct admin_bench *a = admin_bench_new(BOUND + 1, BOUND + 8);
	struct ndsh_admin_request r = {.ctrl = NDSH_ADMIN_DEREGISTER, .pd = admin_bench_handle(0)};
	struct admin_bench_client *c = a->c[0];
	struct bench b = {.s = a->s, .pd = c->pd, .cq = c->cq};
	struct ndsh_cqe answer;
	unsigned turns = 0;
	void *block;

	r.token = admin_bench_register(a, 0, admin_bench_va(0), BYTES, 0).data;
	b.region = roce_mr_slot(a->s, r.token);
	b.qp[0] = lone_qp_new(a->s, c->pd, c->cq, &block);
	modify(&b, 0, ROCE_QPS_INIT);
	for (uint32_t k = 0; k < BOUND; k++) {
		struct roce_wqe w = {.raddr = admin_bench_va(0),
			.bind = {.bytes = 64, .access = READ, .region = r.token, .generation = 1}};

		b.w[k] = window_new(&b);
		w.rkey = ndsh_window_token(b.w[k].slot, b.w[k].secret, 1);
		cr_assert(eq(int, roce_mw_bind(a->s, b.qp[0], &w), ROCE_BIND_OK));
	}
	cr_assert(eq(int, admin_bench_deregister(a, 0, r.token), NDSH_ADMIN_BUSY));
	modify(&b, 0, ROCE_QPS_ERR);
	ndsh_admin_push(&c->ring, &r);
	while (roce_admin_serve(a->s, c->admin, ADMIN_DEPTH) == ADMIN_DEPTH) {
		roce_shard_publish(a->s);
		cr_assert(eq(u32, ndsh_cq_poll(&c->answers, &answer, 1), 0), "no answer yet");
		(void)roce_shard_poll_rings(a->s, 0, 1);
		turns++;
	}
	roce_shard_publish(a->s);
	cr_assert(eq(u32, ndsh_cq_poll(&c->answers, &answer, 1), 1));
	cr_expect(eq(int, answer.status, NDSH_ADMIN_OK));
	cr_expect(ge(uint, turns, BOUND / AT_ONCE));
	for (uint32_t k = 0; k < BOUND; k++)
		roce_mw_destroy(a->s, b.w[k].mw);
	cr_assert(roce_qp_destroy(a->s, b.qp[0]));
	admin_bench_free(a);
	free(block);
}
