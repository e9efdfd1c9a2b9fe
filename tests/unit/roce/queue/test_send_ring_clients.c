/* SPDX-License-Identifier: BSD-3-Clause */
/* Send rings of several clients: none of them delays the others, and all of them rest together. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rigs/lone_shard.h"
#include "roce/qp/qp.h"
#include "roce/queue/send_ring.h"
#include "roce/shard/shard.h"

#define CLIENTS 3u
#define RINGS	12u /* of the first client; the others have one each */
#define QPS	(RINGS + CLIENTS - 1)
#define IDLE_NS ROCE_SEND_RING_IDLE_NS

struct world {
	struct roce_shard *s;
	struct roce_principal p;
	struct roce_client c[CLIENTS];
	struct roce_cq *cq[CLIENTS];
	struct roce_qp *qp[QPS]; /* those of clients 1 and 2 are the last ones */
	struct ndsh_sq sq[QPS];
	void *page[CLIENTS], *block[QPS];
};

static void
world_init(struct world *w)
{
	const struct ndsh_qp_dims dims = {4, 4, 1, 1, 0};
	const struct roce_principal_cfg cfg = {.weight = 1, .pool = {{0, 8}, {0, 8}}};
	struct roce_shard_cfg shard_cfg = lone_config();
	uint32_t pd;

	shard_cfg.max_cqs = CLIENTS;
	w->s = lone_shard_new(&shard_cfg);
	pd = roce_pd_create(w->s);
	cr_assert(roce_principal_init(w->s, &w->p, &cfg));
	for (unsigned i = 0; i < CLIENTS; i++) {
		roce_client_init(&w->c[i], &w->p);
		w->page[i] = aligned_alloc(64, (ndsh_cq_bytes(16) + 63) & ~63u);
		w->cq[i] = roce_cq_create(w->s, &w->c[i], w->page[i], 16, NULL);
	}
	for (unsigned i = 0; i < QPS; i++) {
		const unsigned of = i < RINGS ? 0 : i - RINGS + 1;

		w->qp[i] = lone_qp_new(w->s, pd, w->cq[of], &w->block[i]);
		cr_assert_not_null(w->qp[i]);
		ndsh_sq_view(&w->sq[i], w->block[i], &dims);
		roce_send_ring_watch(w->s, w->qp[i]);
	}
}

static void
world_fini(struct world *w)
{
	for (unsigned i = 0; i < QPS; i++) {
		roce_qp_destroy(w->s, w->qp[i]);
		free(w->block[i]);
	}
	for (unsigned i = 0; i < CLIENTS; i++) {
		cr_assert(roce_cq_destroy(w->s, w->cq[i]));
		cr_assert(roce_client_fini(w->s, &w->c[i]));
		free(w->page[i]);
	}
	cr_assert(roce_principal_fini(w->s, &w->p));
	free(w->s);
}

static void
post(struct world *w, unsigned i)
{
	ndsh_sq_push(&w->sq[i], &(struct ndsh_swr){.ctrl = NDSH_CTRL(NDSH_OP_WRITE, 0, 0, 0)}, NULL,
		NULL);
}

/* How many of a client's rings were found to have work. */
static unsigned
found_of(const struct world *w, unsigned client)
{
	unsigned n = 0;

	for (const struct base_link *l = w->c[client].senders.next; l != &w->c[client].senders;
		l = l->next)
		n++;
	return n;
}

static bool
told_polled(const struct world *w, unsigned i)
{
	return ((const struct ndsh_qp_page *)w->block[i])->sq_polled != 0;
}

Test(send_ring_clients, each_has_the_same_part_of_a_budget)
{
	struct world w;

	world_init(&w);
	for (unsigned i = 0; i < QPS; i++)
		post(&w, i);
	cr_expect_eq(roce_send_rings_poll(w.s, 0), 0);
	cr_expect_eq(roce_send_rings_poll(w.s, 7), 3 + 1 + 1, "3 for each, 1 for the last");
	for (unsigned i = 0; i < CLIENTS; i++)
		cr_expect_eq(found_of(&w, i), i == 0 ? 3 : 1, "client %u", i);
	cr_expect_eq(roce_send_rings_poll(w.s, 9), 3, "the next ones of the first client");
	world_fini(&w);
}

/* All of them together have no more than the budget: the last one has what is left of it. */
Test(send_ring_clients, have_no_more_than_the_budget_together)
{
	struct world w;

	world_init(&w);
	for (unsigned i = 0; i < QPS; i++)
		post(&w, i);
	cr_expect_eq(roce_send_rings_poll(w.s, 1), 1);
	cr_expect_eq(found_of(&w, 0), 1, "now it is the last one");
	cr_expect_eq(roce_send_rings_poll(w.s, 7), 1 + 1 + 1, "3 for each, 1 for the last");
	cr_expect_eq(found_of(&w, 0), 2);
	world_fini(&w);
}

/* With less than one for each, the clients that had none are the next. */
Test(send_ring_clients, those_that_a_budget_left_out_are_next)
{
	static const unsigned found[][CLIENTS] = {{1, 1, 0}, {2, 1, 1}, {2, 1, 1}, {3, 1, 1}};
	struct world w;

	world_init(&w);
	for (unsigned i = 0; i < QPS; i++)
		post(&w, i);
	for (unsigned call = 0; call < 4; call++) {
		(void)roce_send_rings_poll(w.s, 2);
		for (unsigned i = 0; i < CLIENTS; i++)
			cr_expect_eq(
				found_of(&w, i), found[call][i], "call %u, client %u", call, i);
	}
	world_fini(&w);
}

/* Rings that stay empty leave, and a client without any is not asked again; one that posts is. */
Test(send_ring_clients, who_has_no_ring_left_is_not_polled)
{
	struct world w;

	world_init(&w);
	cr_expect_eq(w.s->polled, CLIENTS);
	w.s->now_ns += IDLE_NS;
	post(&w, QPS - 1);
	cr_expect_eq(roce_send_rings_poll(w.s, 100), 1);
	cr_expect_eq(w.s->polled, 1);
	cr_expect_eq(w.s->rings.next, &w.c[CLIENTS - 1].polled);
	for (unsigned i = 0; i < QPS; i++)
		cr_expect_eq(told_polled(&w, i), i == QPS - 1, "ring %u", i);
	roce_send_ring_watch(w.s, w.qp[0]);
	cr_expect_eq(w.s->polled, 2, "it rang again");
	post(&w, 0);
	cr_expect_eq(roce_send_rings_poll(w.s, 100), 1);
	world_fini(&w);
}

/* A shard rests if no ring of any client has work; then all clients have to ring. */
Test(send_ring_clients, rest_if_none_has_work)
{
	for (unsigned busy = 0; busy <= QPS; busy++) {
		struct world w;

		world_init(&w);
		if (busy < QPS)
			post(&w, busy);
		cr_expect_eq(roce_shard_rest(w.s), busy == QPS, "ring %u", busy);
		for (unsigned i = 0; i < QPS; i++)
			cr_expect_eq(told_polled(&w, i), busy < QPS, "ring %u of %u", i, busy);
		cr_expect_eq(w.s->polled, busy < QPS ? CLIENTS : 0);
		cr_expect_eq(base_list_empty(&w.s->rings), busy == QPS);
		for (unsigned i = 0; i < CLIENTS; i++)
			cr_expect_eq(base_list_empty(&w.c[i].rings), busy == QPS);
		world_fini(&w);
	}
}
