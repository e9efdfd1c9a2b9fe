/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fast-register regions among the other kinds of memory: what can be made of the shard's table, and
 * a client that names one kind where another belongs.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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

/* ---- other kinds by their tokens ---- */

/* So many bytes, and nothing behind them. */
static void *
at_the_edge(size_t bytes)
{
	uint8_t *pages = mmap(
		NULL, 2 * FAST_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(pages, MAP_FAILED);
	cr_assert_eq(mprotect(pages + FAST_PAGE, FAST_PAGE, PROT_NONE), 0);
	return pages + FAST_PAGE - bytes;
}

enum kind { NO_SLOT, FREE_SLOT, REGION, WINDOW, PRIVILEGED, OTHER_DOMAIN, KINDS };

/* One of a kind, of side 1's. Whatever they hold is shorter than a fast-register region's part. */
struct other {
	enum kind kind;
	struct roce_mr *mr;
	struct roce_arena *arena;
	struct window window;
	uint32_t token, pd;
	uint64_t secret;
	void *mem;
};

static void
other_make_fast(struct pair *p, struct other *o, const struct fast *f)
{
	const struct roce_frmr_cfg cfg = {
		.pd = o->pd, .max_pages = FAST_PAGES, .arena = &f->arena, .lists = f->lists[0]};
	uint32_t slot;

	o->mem = calloc(1, roce_frmr_bytes(FAST_PAGES));
	o->mr = roce_frmr_create(p->side[1].shard, &cfg, o->mem, &slot, &o->secret);
	o->token = slot << NDSH_TOKEN_KEY_BITS;
}

static struct other
other_make(struct pair *p, const struct fast *f, enum kind kind)
{
	struct pair_side *d = &p->side[1];
	struct other o = {.kind = kind, .token = UINT32_MAX};

	if (kind == FREE_SLOT) {
		o.token = (f->slot + 1) << NDSH_TOKEN_KEY_BITS;
	} else if (kind == REGION) {
		o.mr = roce_mr_register(d->shard, d->pd, FAST_VA, 8, at_the_edge(8), FAST_LOCAL);
	} else if (kind == WINDOW) {
		o.window = window_new(p);
		o.token = o.window.slot << NDSH_TOKEN_KEY_BITS;
		o.secret = o.window.secret;
	} else if (kind == PRIVILEGED) {
		o.arena = at_the_edge(sizeof(*o.arena));
		*o.arena = f->arena;
		o.mr = roce_arena_open(d->shard, d->pd, o.arena);
	} else if (kind == OTHER_DOMAIN) {
		o.pd = roce_pd_create(d->shard);
		other_make_fast(p, &o, f);
	}
	if (kind == REGION || kind == PRIVILEGED)
		o.token = roce_mr_key(o.mr);
	return o;
}

static void
other_end(struct pair *p, struct other *o)
{
	struct roce_shard *s = p->side[1].shard;

	if (o->kind == REGION)
		cr_assert(roce_mr_deregister(s, o->mr));
	else if (o->kind == WINDOW)
		window_free(p, &o->window);
	else if (o->kind == PRIVILEGED)
		roce_arena_close(s, o->mr);
	else if (o->kind == OTHER_DOMAIN)
		roce_frmr_destroy(s, o->mr);
	cr_assert(o->kind != OTHER_DOMAIN || roce_pd_destroy(s, o->pd));
	free(o->mem);
}

/* checks W-MEM-05[5]: the client computes what the token would be, if this were such a region. */
Test(fast_kinds, FAST_REGISTER_of_another_kind)
{
	for (unsigned kind = 0; kind < KINDS; kind++) {
		struct pair *p = window_pair();
		struct fast *f = fast_new(p, false);
		struct other o = other_make(p, f, (enum kind)kind);
		struct fast liar = *f;

		liar.slot = o.token >> NDSH_TOKEN_KEY_BITS;
		liar.secret = o.secret;
		fast_register(p, 0, 7, &liar, 0, 1, 8, FAST_LOCAL);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 1, 7, NDSH_WC_LOC_QP_OP_ERR);
		pair_expect_dead(p, 1, 0, ROCE_REASON_LOCAL_FRMR);
		other_end(p, &o);
		fast_free(p, f);
	}
}

/* A READ of side 1 whose SGE of no bytes names a registration that is to end with it. */
static void
expect_no_registration(struct pair *p, uint32_t key)
{
	const struct ndsh_sge sge = {.addr = FAST_BASE, .key = key};
	uint64_t sent = p->sent[1];

	pair_post_sge(p, 1, 0, 7, NDSH_OP_READ, NDSH_WRF_LOCAL_INV, &sge);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 7, NDSH_WC_LOC_QP_OP_ERR);
	pair_expect_dead(p, 1, 0, ROCE_REASON_LOCAL_INV);
	cr_assert_eq(p->sent[1], sent);
}

/* checks R-INV-01[3], also of a READ that is to invalidate what it is read into. */
Test(fast_kinds, a_READ_that_would_end_another_kind)
{
	for (unsigned kind = 0; kind < KINDS; kind++) {
		struct pair *p = pair_new(&(struct pair_opts){.mtu = WINDOW_MTU});
		struct fast *f = fast_ready(p, FAST_LOCAL | WINDOW_RW);
		struct other o = other_make(p, f, (enum kind)kind);

		expect_no_registration(p,
			o.secret == 0
				? o.token
				: ndsh_window_token(o.token >> NDSH_TOKEN_KEY_BITS, o.secret, 0));
		other_end(p, &o);
		fast_free(p, f);
	}
}

/* Nor by the peer's token, nor if it is not registered. */
Test(fast_kinds, a_READ_that_would_end_no_registration)
{
	for (unsigned i = 0; i < 2; i++) {
		struct pair *p = pair_new(&(struct pair_opts){.mtu = WINDOW_MTU});
		struct fast *f = i == 0 ? fast_ready(p, FAST_LOCAL | WINDOW_RW) : fast_new(p, true);

		expect_no_registration(p, i == 0 ? f->token : f->local);
		fast_free(p, f);
	}
}

/* checks W-MEM-01[1]: the privileged token, but for one bit of its key. */
Test(fast_kinds, W_MEM_01_all_of_the_privileged_token)
{
	for (unsigned bit = 0; bit < NDSH_TOKEN_KEY_BITS; bit++) {
		struct pair *p = window_pair();
		struct fast *f = fast_new(p, true);
		struct other o = other_make(p, f, PRIVILEGED);
		const struct ndsh_sge sge = {.addr = FAST_VA, .len = 8, .key = o.token ^ 1u << bit};

		pair_recv(p, 0, 0, 9, 0, 64);
		pair_post(p, 1, 0,
			&(struct ndsh_swr){.context = 2, .ctrl = NDSH_CTRL(NDSH_OP_SEND, 1, 0, 0)},
			&sge, NULL);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 1, 2, NDSH_WC_LOC_PROT_ERR);
		other_end(p, &o);
		fast_free(p, f);
	}
}
