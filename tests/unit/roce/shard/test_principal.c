/* SPDX-License-Identifier: BSD-3-Clause */
/* What each principal may take of the pools: its reserve always, no more than its cap, and of what
 * is for all as long as it lasts. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rigs/lone_shard.h"
#include "rigs/zeroed.h"
#include "roce/check.h"
#include "roce/shard/pool.h"
#include "roce/shard/shard.h"

#define WQES 64u

static struct roce_principal_cfg
config(uint32_t reserve, uint32_t cap)
{
	return (struct roce_principal_cfg){.weight = 1, .pool[ROCE_POOL_WQES] = {reserve, cap}};
}

/* As many as it gets, up to most. */
static uint32_t
take(struct roce_shard *s, struct roce_principal *p, enum roce_side side, uint32_t most,
	struct roce_wqe **w)
{
	uint32_t n;

	for (n = 0; n < most; n++) {
		bool left = roce_wqe_is_left(s, p, side);

		w[n] = roce_wqe_alloc(s, p, side);
		cr_assert_eq(w[n] != NULL, left, "what may be taken is what can be taken");
		if (w[n] == NULL)
			break;
	}
	return n;
}

/* The same of one that was not refused before: spare ones of its other side are for this one, too,
 * once it asks. */
static uint32_t
alloc(struct roce_shard *s, struct roce_principal *p, enum roce_side side, uint32_t most,
	struct roce_wqe **w)
{
	uint32_t n = 0;

	while (n < most && (w[n] = roce_wqe_alloc(s, p, side)) != NULL)
		n++;
	return n;
}

static void
give(struct roce_shard *s, struct roce_principal *p, enum roce_side side, uint32_t n,
	struct roce_wqe **w)
{
	while (n-- > 0)
		roce_wqe_free(s, p, side, w[n]);
}

Test(principal, what_is_refused)
{
	const struct roce_shard_cfg cfg = lone_config();
	struct roce_shard *s = lone_shard_new(&cfg);
	struct roce_principal_cfg bad[] = {config(0, 0), config(0, 0), config(2, 1), config(65, 65),
		{.weight = 1, .pool[ROCE_POOL_EXTS] = {11, 11}}};
	struct roce_principal p = {0};

	bad[0].weight = 0;
	bad[1].weight = ROCE_WEIGHT_MAX + 1;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_not(roce_principal_init(s, &p, &bad[i]), "%u", i);
	cr_assert_null(roce_shard_check(s), "%s", roce_shard_check(s));
	free(s);
}

/* Reserves are promises: what is promised fits, to the last one. */
Test(principal, the_sum_of_the_reserves_fits)
{
	const struct roce_shard_cfg cfg = lone_config();
	struct roce_shard *s = lone_shard_new(&cfg);
	const struct roce_principal_cfg half = config(WQES / 2, WQES), one = config(1, 1);
	struct roce_principal p[3];

	cr_assert(roce_principal_init(s, &p[0], &half));
	cr_assert(roce_principal_init(s, &p[1], &half));
	cr_assert_not(roce_principal_init(s, &p[2], &one));
	cr_assert_null(roce_shard_check(s), "%s", roce_shard_check(s));
	cr_assert(roce_principal_fini(s, &p[0]));
	cr_assert(roce_principal_init(s, &p[2], &one));
	cr_assert(roce_principal_fini(s, &p[2]));
	cr_assert(roce_principal_fini(s, &p[1]));
	cr_assert_eq(s->pool[ROCE_POOL_WQES].shared, WQES);
	free(s);
}

/* One that takes all it can get leaves the others their reserves, and no more than its cap to
 * itself; an eighth of each is for receives. */
Test(principal, a_reserve_is_there_when_all_else_is_used_up)
{
	const struct roce_shard_cfg cfg = lone_config();
	struct roce_shard *s = lone_shard_new(&cfg);
	const struct roce_principal_cfg victim_cfg = config(16, 32), greedy_cfg = config(0, WQES);
	struct roce_principal victim, greedy;
	struct roce_wqe *w[WQES], *v[WQES], *r[WQES];
	uint32_t n, m, k;

	cr_assert(roce_principal_init(s, &victim, &victim_cfg));
	cr_assert(roce_principal_init(s, &greedy, &greedy_cfg));
	n = take(s, &greedy, ROCE_SIDE_SEND, WQES, w);
	cr_expect_eq(n, 48 - 48 / 8, "of 48 that are not reserved");
	k = take(s, &greedy, ROCE_SIDE_RECV, WQES, r);
	cr_expect_eq(k, 48 / 8);
	m = take(s, &victim, ROCE_SIDE_SEND, WQES, v);
	cr_expect_eq(m, 14);
	m += take(s, &victim, ROCE_SIDE_RECV, WQES, v + m);
	cr_expect_eq(m, 16);
	cr_expect_eq(roce_wqes_in_use(s), WQES);
	/* What comes back of the greedy one's is for both; of the victim's, for the victim. */
	give(s, &victim, ROCE_SIDE_RECV, 2, v + 14);
	cr_expect_not(roce_wqe_is_left(s, &greedy, ROCE_SIDE_RECV));
	cr_expect(roce_wqe_is_left(s, &victim, ROCE_SIDE_RECV));
	give(s, &greedy, ROCE_SIDE_RECV, k, r);
	cr_expect_not(roce_wqe_is_left(s, &victim, ROCE_SIDE_SEND), "left to receives");
	give(s, &greedy, ROCE_SIDE_SEND, n, w);
	cr_expect_eq(take(s, &victim, ROCE_SIDE_SEND, WQES, w), 28 - 14, "its cap is 32");
	give(s, &victim, ROCE_SIDE_SEND, 14, w);
	give(s, &victim, ROCE_SIDE_SEND, 14, v);
	cr_expect_eq(s->pool[ROCE_POOL_WQES].shared, 48);
	cr_assert(roce_principal_fini(s, &victim));
	cr_assert(roce_principal_fini(s, &greedy));
	free(s);
}

/* Spare slots of one principal, on either side, are no loss to another, nor to its other side; and
 * are kept again when half of the pool is free. */
Test(principal, spare_slots_are_for_all)
{
	const struct roce_shard_cfg cfg = lone_config();
	struct roce_shard *s = lone_shard_new(&cfg);
	const struct roce_principal_cfg all = config(0, WQES);
	struct roce_principal other;
	struct roce_wqe *w[WQES], *r[WQES];
	uint32_t n;

	cr_assert(roce_principal_init(s, &other, &all));
	for (unsigned round = 0; round < 3; round++) {
		n = take(s, &s->own, ROCE_SIDE_SEND, 40, w);
		cr_assert_eq(n, 40);
		give(s, &s->own, ROCE_SIDE_SEND, 40, w);
		cr_expect_gt(
			s->own.share[ROCE_POOL_WQES].spare[ROCE_SIDE_SEND], 0, "round %u", round);
		for (n = 0; n < WQES && (r[n] = roce_wqe_alloc(s, &s->own, ROCE_SIDE_RECV)) != NULL;
			n++)
			;
		cr_expect_eq(n, WQES, "its own other side");
		cr_expect_null(roce_wqe_alloc(s, &other, ROCE_SIDE_RECV));
		give(s, &s->own, ROCE_SIDE_RECV, 60, r);
		cr_expect_eq(
			s->own.share[ROCE_POOL_WQES].spare[ROCE_SIDE_RECV], 0, "one was refused");
		for (n = 0; n < WQES && (w[n] = roce_wqe_alloc(s, &other, ROCE_SIDE_RECV)) != NULL;
			n++)
			;
		cr_expect_eq(n, 60, "another principal");
		give(s, &other, ROCE_SIDE_RECV, n, w);
		give(s, &s->own, ROCE_SIDE_RECV, 4, r + 60);
		cr_assert_null(roce_shard_check(s), "%s", roce_shard_check(s));
	}
	cr_assert(roce_principal_fini(s, &other));
	free(s);
}

/* Without a cap: seven times, and to send three times, what is left then. */
Test(principal, a_fair_share)
{
	const struct roce_shard_cfg cfg = lone_config();
	struct roce_shard *s = lone_shard_new(&cfg);
	const struct roce_principal_cfg fair = config(0, ROCE_CAP_FAIR);
	struct roce_principal p[3];
	struct roce_wqe *w[3][WQES];
	uint32_t n[3] = {0};
	bool more = true;

	for (unsigned i = 0; i < 3; i++)
		cr_assert(roce_principal_init(s, &p[i], &fair));
	n[0] = take(s, &p[0], ROCE_SIDE_SEND, WQES, w[0]);
	cr_expect_eq(n[0], 48, "three quarters");
	n[1] = take(s, &p[0], ROCE_SIDE_RECV, WQES, w[1]);
	cr_expect_eq(n[1], 56 - 48, "with its receives, seven eighths");
	give(s, &p[0], ROCE_SIDE_SEND, n[0], w[0]);
	give(s, &p[0], ROCE_SIDE_RECV, n[1], w[1]);

	for (n[0] = n[1] = 0; more;) {
		more = false;
		for (unsigned i = 0; i < 2; i++)
			if ((w[i][n[i]] = roce_wqe_alloc(s, &p[i], ROCE_SIDE_RECV)) != NULL) {
				more = true;
				n[i]++;
			}
	}
	cr_expect_eq(n[0], 30, "seven fifteenths");
	cr_expect_eq(n[1], 30);
	n[2] = take(s, &p[2], ROCE_SIDE_RECV, WQES, w[2]);
	cr_expect_gt(n[2], 0, "something is left for one more");
	for (unsigned i = 0; i < 3; i++) {
		give(s, &p[i], ROCE_SIDE_RECV, n[i], w[i]);
		cr_assert(roce_principal_fini(s, &p[i]));
	}
	free(s);
}

/* An eighth is for receives, and of less than eight one. */
Test(principal, what_is_left_to_receives)
{
	static const uint32_t rows[][2] = {
		{1, 0}, {2, 1}, {7, 6}, {8, 7}, {9, 7}, {15, 13}, {16, 14}};
	const struct roce_shard_cfg cfg = lone_config();

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct roce_shard *s = lone_shard_new(&cfg);
		const struct roce_principal_cfg both = config(rows[i][0], rows[i][0]);
		struct roce_wqe *w[WQES], *r[WQES];
		struct roce_principal p;
		uint32_t n;

		cr_assert(roce_principal_init(s, &p, &both));
		n = take(s, &p, ROCE_SIDE_SEND, WQES, w);
		cr_expect_eq(n, rows[i][1], "%u of %u", n, rows[i][0]);
		cr_expect_eq(take(s, &p, ROCE_SIDE_RECV, WQES, r), rows[i][0] - rows[i][1]);
		give(s, &p, ROCE_SIDE_SEND, n, w);
		give(s, &p, ROCE_SIDE_RECV, rows[i][0] - rows[i][1], r);
		cr_assert(roce_principal_fini(s, &p));
		free(s);
	}
}

/* A new reserve may be of what others have: it is kept as soon as they give it back. */
Test(principal, a_reserve_of_what_is_in_use)
{
	const struct roce_shard_cfg cfg = lone_config();
	struct roce_shard *s = lone_shard_new(&cfg);
	const struct roce_principal_cfg all = config(WQES, WQES);
	struct roce_principal late;
	struct roce_wqe *w[WQES];
	uint32_t n = take(s, &s->own, ROCE_SIDE_RECV, WQES, w);

	cr_assert_eq(n, WQES);
	cr_assert(roce_principal_init(s, &late, &all));
	cr_expect_null(roce_wqe_alloc(s, &late, ROCE_SIDE_SEND));
	give(s, &s->own, ROCE_SIDE_RECV, 1, w + --n);
	cr_expect(roce_wqe_is_left(s, &late, ROCE_SIDE_SEND));
	cr_expect_not(roce_wqe_is_left(s, &s->own, ROCE_SIDE_RECV));
	give(s, &s->own, ROCE_SIDE_RECV, n, w);
	cr_assert(roce_principal_fini(s, &late));
	cr_expect_eq(s->pool[ROCE_POOL_WQES].shared, WQES);
	free(s);
}

/* The same of extensions. */
Test(principal, a_reserve_of_extensions_in_use)
{
	const struct roce_shard_cfg cfg = lone_config();
	struct roce_shard *s = lone_shard_new(&cfg);
	const struct roce_principal_cfg some = {.weight = 1, .pool = {{8, 8}, {8, 8}}};
	struct roce_principal late;
	struct roce_wqe *w[WQES], *own;
	uint32_t n = 0;

	cr_assert_eq(take(s, &s->own, ROCE_SIDE_RECV, 16, w), 16);
	while (roce_ext_alloc(s, &s->own, ROCE_SIDE_RECV, w[n]))
		n++;
	cr_assert_eq(n, roce_pool_exts(&cfg));
	cr_assert(roce_principal_init(s, &late, &some));
	own = roce_wqe_alloc(s, &late, ROCE_SIDE_SEND);
	cr_expect_not(roce_ext_is_left(s, &late, ROCE_SIDE_SEND));
	cr_expect_not(roce_ext_alloc(s, &late, ROCE_SIDE_SEND, own));
	give(s, &s->own, ROCE_SIDE_RECV, 1, w);
	cr_expect(roce_ext_is_left(s, &late, ROCE_SIDE_SEND));
	cr_expect(roce_ext_alloc(s, &late, ROCE_SIDE_SEND, own));
	give(s, &late, ROCE_SIDE_SEND, 1, &own);
	give(s, &s->own, ROCE_SIDE_RECV, 15, w + 1);
	cr_assert(roce_principal_fini(s, &late));
	cr_expect_eq(s->exts_left, n);
	cr_expect_eq(s->pool[ROCE_POOL_EXTS].shared, (int32_t)n, "for all again");
	free(s);
}

/* A principal that has used up its share is told apart from an empty pool. */
Test(principal, why_there_is_none)
{
	const struct roce_shard_cfg cfg = lone_config();
	struct roce_shard *s = lone_shard_new(&cfg);
	const struct roce_principal_cfg small = config(0, 8), large = config(0, WQES);
	struct roce_principal p[2];
	struct roce_wqe *w[WQES];
	uint32_t n, m;

	cr_assert(roce_principal_init(s, &p[0], &small) && roce_principal_init(s, &p[1], &large));
	n = take(s, &p[0], ROCE_SIDE_SEND, WQES, w);
	cr_assert_eq(n, 7);
	roce_pool_refused(s, &p[0], ROCE_POOL_WQES);
	cr_expect(s->count.wqe_share_full == 1 && s->count.wqe_pool_empty == 0);
	m = take(s, &p[1], ROCE_SIDE_SEND, WQES, w + n);
	cr_assert_eq(n + m, 56);
	roce_pool_refused(s, &p[1], ROCE_POOL_WQES);
	cr_expect(s->count.wqe_share_full == 1 && s->count.wqe_pool_empty == 1);
	give(s, &p[1], ROCE_SIDE_SEND, m, w + n);
	give(s, &p[0], ROCE_SIDE_SEND, n, w);
	cr_assert(roce_principal_fini(s, &p[0]) && roce_principal_fini(s, &p[1]));
	free(s);
}

/* Of both sides: receives in use count, too. */
Test(principal, a_share_is_used_up_by_both_sides)
{
	const struct roce_shard_cfg cfg = lone_config();
	struct roce_shard *s = lone_shard_new(&cfg);
	const struct roce_principal_cfg small = config(0, 16);
	struct roce_principal p;
	struct roce_wqe *w[WQES], *r[WQES];
	uint32_t n;

	cr_assert(roce_principal_init(s, &p, &small));
	cr_assert_eq(alloc(s, &p, ROCE_SIDE_RECV, 3, r), 3);
	n = alloc(s, &p, ROCE_SIDE_SEND, WQES, w);
	cr_assert_eq(n, 14 - 3);
	cr_expect_eq(alloc(s, &p, ROCE_SIDE_RECV, WQES, r + 3), 16 - 14);
	give(s, &p, ROCE_SIDE_RECV, 2, r + 3);
	roce_pool_refused(s, &p, ROCE_POOL_WQES);
	cr_expect(s->count.wqe_share_full == 1 && s->count.wqe_pool_empty == 0);
	give(s, &p, ROCE_SIDE_SEND, 1, w + --n);
	roce_pool_refused(s, &p, ROCE_POOL_WQES);
	cr_expect(s->count.wqe_share_full == 1 && s->count.wqe_pool_empty == 1, "of 14 it has 13");
	give(s, &p, ROCE_SIDE_SEND, n, w);
	give(s, &p, ROCE_SIDE_RECV, 3, r);
	cr_assert(roce_principal_fini(s, &p));
	free(s);
}

/* Nor while anything of either pool is in use, for either side: queue pairs that are gone leave
 * requests that are still being taken down. */
Test(principal, does_not_end_before_what_it_uses_is_given_back)
{
	const struct roce_shard_cfg cfg = lone_config();
	struct roce_shard *s = lone_shard_new(&cfg);
	const struct roce_principal_cfg some = {.weight = 1, .pool = {{0, 8}, {0, 8}}};
	struct roce_principal p;

	cr_assert(roce_principal_init(s, &p, &some));
	for (unsigned i = 0; i < 4; i++) {
		const enum roce_pool_kind kind = i / 2;
		const enum roce_side side = i % 2;

		cr_assert(roce_share_take(s, &p, kind, side));
		cr_expect_not(roce_principal_fini(s, &p), "pool %u, side %u", kind, side);
		roce_share_give(s, &p, kind, side);
	}
	base_list_append(&s->starving, &p.starving); /* of a queue pair that has ended since */
	cr_expect(roce_principal_fini(s, &p));
	cr_expect(base_list_empty(&s->starving));
	free(s);
}

/* A principal ends after its clients, and a client after its queues. */
Test(principal, the_order_of_ending)
{
	const struct roce_shard_cfg cfg = lone_config();
	struct roce_shard *s = lone_shard_new(&cfg);
	const struct roce_principal_cfg some = config(1, 8);
	void *page = aligned_alloc(64, (ndsh_cq_bytes(16) + 63) & ~63u), *block;
	struct roce_principal p, other;
	struct roce_client c, stranger;
	struct roce_cq *cq, *foreign;
	struct roce_qp *qp;
	uint32_t pd = roce_pd_create(s);

	cr_assert(roce_principal_init(s, &p, &some) && roce_principal_init(s, &other, &some));
	roce_client_init(&c, &p);
	roce_client_init(&stranger, &other);
	cq = roce_cq_create(s, &c, page, 16, NULL);
	foreign = roce_cq_create(s, &stranger, page, 16, NULL);
	qp = lone_qp_new(s, pd, cq, &block);
	cr_assert_null(roce_qp_create(s, &(struct roce_qp_cfg){.pd = pd,
						 .send_cq = cq,
						 .recv_cq = foreign,
						 .shared = block,
						 .dims = {4, 4, 1, 1, 0}}));
	cr_assert_not(roce_client_fini(s, &c));
	roce_qp_destroy(s, qp);
	cr_assert(roce_cq_destroy(s, foreign));
	cr_assert(roce_cq_destroy(s, cq));
	cr_assert_not(roce_principal_fini(s, &p));
	cr_assert(roce_client_fini(s, &c));
	cr_assert(roce_client_fini(s, &stranger));
	cr_assert(roce_principal_fini(s, &other));
	cr_assert(roce_principal_fini(s, &p));
	cr_assert_null(roce_shard_check(s), "%s", roce_shard_check(s));
	free(block);
	free(page);
	free(s);
}

/* Requests to send leave an eighth of what is shared, whatever is reserved. */
Test(principal, sends_leave_an_eighth)
{
	static const uint32_t reserves[] = {0, 8, 32, 0, 60}, sends[] = {56, 49, 28, 56, 3};
	const struct roce_shard_cfg cfg = lone_config();
	struct roce_shard *s = lone_shard_new(&cfg);

	for (unsigned i = 0; i < sizeof(sends) / sizeof(sends[0]); i++) {
		const struct roce_principal_cfg other = config(reserves[i], WQES);
		struct roce_principal p;
		struct roce_wqe *w[WQES];
		uint32_t n;

		cr_assert(roce_principal_init(s, &p, &other));
		n = alloc(s, &s->own, ROCE_SIDE_SEND, WQES, w);
		cr_expect_eq(n, sends[i], "%u beside a reserve of %u", n, reserves[i]);
		give(s, &s->own, ROCE_SIDE_SEND, n, w);
		cr_assert(roce_principal_fini(s, &p));
		n = alloc(s, &s->own, ROCE_SIDE_SEND, WQES, w);
		cr_expect_eq(n, sends[0], "%u after a reserve of %u", n, reserves[i]);
		give(s, &s->own, ROCE_SIDE_SEND, n, w);
	}
	free(s);
}

/* Completion queues and the shared receive queue of a queue pair are of one client, and the latter
 * of its protection domain. */
Test(principal, a_client_uses_its_own_queues)
{
	struct roce_shard_cfg cfg = lone_config();
	const struct roce_principal_cfg some = config(1, 8);
	void *page[2], *shared[2], *block = zeroed(4096);
	struct roce_principal p;
	struct roce_client c[2];
	struct roce_cq *cq[2];
	struct roce_srq *srq[3];
	struct roce_shard *s;
	uint32_t pd[2];

	cfg.max_srqs = 3;
	s = lone_shard_new(&cfg);
	cr_assert(roce_principal_init(s, &p, &some));
	for (unsigned i = 0; i < 2; i++) {
		roce_client_init(&c[i], &p);
		page[i] = zeroed(ndsh_cq_bytes(16));
		shared[i] = zeroed(ndsh_srq_bytes(4, 1));
		pd[i] = roce_pd_create(s);
		cq[i] = roce_cq_create(s, &c[i], page[i], 16, NULL);
		srq[i] = roce_srq_create(s, &c[i], pd[0], shared[i], 4, 1, NULL);
	}
	srq[2] = roce_srq_create(s, &c[0], pd[1], shared[0], 4, 1, NULL);
	for (unsigned i = 0; i < 8; i++) {
		const unsigned send = i & 1, recv = i >> 1 & 1, with = i >> 2;
		const struct roce_qp_cfg qp_cfg = {.pd = pd[0],
			.send_cq = cq[send],
			.recv_cq = cq[recv],
			.srq = srq[with],
			.shared = block,
			.dims = {4, 4, 1, 1, 0}};
		struct roce_qp *qp = roce_qp_create(s, &qp_cfg);

		cr_expect_eq(
			qp != NULL, send == recv && recv == with, "%u, %u, %u", send, recv, with);
		if (qp != NULL)
			roce_qp_destroy(s, qp);
	}
	cr_expect_null(roce_qp_create(s, &(struct roce_qp_cfg){.pd = pd[0],
						 .send_cq = cq[0],
						 .recv_cq = cq[0],
						 .srq = srq[2],
						 .shared = block,
						 .dims = {4, 4, 1, 1, 0}}),
		"of another domain");
	for (unsigned i = 0; i < 3; i++)
		cr_assert(roce_srq_destroy(s, srq[i]));
	for (unsigned i = 0; i < 2; i++) {
		cr_assert(roce_cq_destroy(s, cq[i]));
		cr_assert(roce_client_fini(s, &c[i]));
		free(page[i]);
		free(shared[i]);
	}
	cr_assert(roce_principal_fini(s, &p));
	free(block);
	free(s);
}
