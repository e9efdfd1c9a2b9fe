/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs that wait for room in a pool: which of them go on, when, and in what order. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rigs/lone_shard.h"
#include "roce/qp/qp.h"
#include "roce/shard/pool.h"
#include "roce/shard/shard.h"
#include "roce/starved.h"

#define QPS  20u
#define WQES 64u

struct world {
	struct roce_shard *s;
	struct roce_qp *qp[QPS];
	void *page, *block[QPS];
	struct roce_wqe *w[WQES];
	unsigned taken;
};

static void
world_init(struct world *w)
{
	const struct roce_shard_cfg cfg = lone_config();
	struct roce_cq *cq;
	uint32_t pd;

	*w = (struct world){.s = lone_shard_new(&cfg)};
	w->page = aligned_alloc(64, (ndsh_cq_bytes(16) + 63) & ~63u);
	cq = roce_cq_create(w->s, NULL, w->page, 16, NULL);
	pd = roce_pd_create(w->s);
	for (unsigned i = 0; i < QPS; i++) {
		w->qp[i] = lone_qp_new(w->s, pd, cq, &w->block[i]);
		cr_assert_not_null(w->qp[i]);
	}
}

static void
world_fini(struct world *w)
{
	for (unsigned i = 0; i < QPS; i++) {
		roce_qp_destroy(w->s, w->qp[i]);
		free(w->block[i]);
	}
	free(w->page);
	free(w->s);
}

static void
starve(struct world *w, unsigned i, enum roce_pool_kind kind)
{
	base_list_append(&w->s->own.starved[kind], &w->qp[i]->tx_link);
	base_list_join(&w->s->starving, &w->s->own.starving);
}

static void
take_requests(struct world *w, unsigned most)
{
	while (w->taken < most &&
		(w->w[w->taken] = roce_wqe_alloc(w->s, &w->s->own, ROCE_SIDE_SEND)) != NULL)
		w->taken++;
}

/* Returns how many were left. */
static unsigned
take_extensions(struct world *w)
{
	unsigned n = 0;

	while (n < w->taken && roce_ext_alloc(w->s, &w->s->own, ROCE_SIDE_SEND, w->w[n]))
		n++;
	return n;
}

/* Those that may send now are the ones from first on, one after the other. */
static struct base_link *
expect_senders(struct world *w, struct base_link *at, unsigned first, unsigned n)
{
	for (unsigned i = first; i < first + n; i++, at = at->next)
		cr_assert_eq(at, &w->qp[i]->tx_link, "queue pair %u", i);
	return at;
}

/* Those that waited longest go before all others of their client, some at a time. */
Test(starved, go_on_in_their_order)
{
	struct world w;
	struct base_link *senders, *at;

	world_init(&w);
	senders = &w.s->own_client.senders;
	cr_assert_not(roce_starved_may_go_on(w.s));
	for (unsigned i = 0; i < QPS; i++)
		starve(&w, i, ROCE_POOL_WQES);
	cr_assert(roce_starved_may_go_on(w.s));
	roce_starved_wake(w.s);
	at = expect_senders(&w, senders->next, 0, 16);
	cr_assert_eq(at, senders, "sixteen at a time");
	cr_assert(roce_starved_may_go_on(w.s));
	roce_starved_wake(w.s);
	at = expect_senders(&w, senders->next, 16, 4);
	at = expect_senders(&w, at, 0, 16);
	cr_assert_eq(at, senders);
	cr_assert_not(roce_starved_may_go_on(w.s));
	cr_assert(base_list_empty(&w.s->starving));
	world_fini(&w);
}

/* Each waits for its own pool: room in the other one does not help it, nor does it let it be
 * forgotten. */
static void
room_in_one_pool(enum roce_pool_kind room, enum roce_pool_kind full)
{
	struct world w;
	struct base_link *senders;

	world_init(&w);
	senders = &w.s->own_client.senders;
	take_requests(&w, full == ROCE_POOL_WQES ? WQES : 16);
	if (full == ROCE_POOL_EXTS)
		cr_assert_lt(take_extensions(&w), 16);
	starve(&w, 0, full);
	cr_assert_not(roce_starved_may_go_on(w.s));
	roce_starved_wake(w.s);
	cr_assert(base_list_empty(senders));
	starve(&w, 1, room);
	cr_assert(roce_starved_may_go_on(w.s));
	roce_starved_wake(w.s);
	cr_assert_eq(expect_senders(&w, senders->next, 1, 1), senders);
	cr_assert_not(roce_starved_may_go_on(w.s));

	roce_wqe_free(w.s, &w.s->own, ROCE_SIDE_SEND, w.w[0]);
	cr_assert(roce_starved_may_go_on(w.s), "of either pool there is one now");
	roce_starved_wake(w.s);
	cr_assert_eq(expect_senders(&w, senders->next, 0, 2), senders);
	cr_assert(base_list_empty(&w.s->starving));
	world_fini(&w);
}

Test(starved, by_the_pool_that_has_room)
{
	room_in_one_pool(ROCE_POOL_WQES, ROCE_POOL_EXTS);
	room_in_one_pool(ROCE_POOL_EXTS, ROCE_POOL_WQES);
}
