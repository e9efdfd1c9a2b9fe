/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ring falls back to doorbells: what its client posts behind the first look at it, without
 * ringing as the ring was polled still, is found by the second look.
 */
#include <criterion/criterion.h>

#include "models/edge.h"

#include "../../../../lib/roce/queue/send_ring.c"
#include "../../../../lib/shm/ndsh_sq.c"

#include "rigs/engine_pair.h"

#define QPS 70u /* more than fall back behind one barrier */

struct clients {
	struct pair *p;
	bool has_posted[QPS];
};

static void
posts_behind_the_look(const struct edge_access *a, void *ctx)
{
	struct clients *c = ctx;

	for (unsigned i = 0; i < QPS; i++) {
		struct ndsh_sq *sq = &c->p->side[0].q[i].sq;

		if (a->kind != EDGE_LOAD || c->has_posted[i] ||
			a->p != &sq->ring[sq->next & (sq->depth - 1)].ctrl)
			continue;
		c->has_posted[i] = true;
		pair_write(c->p, 0, i, i, 0, 0, 8, 0);
		cr_assert_eq(base_linked(&c->p->side[0].q[i].qp->tx_link), 0, "it did not ring");
		return;
	}
}

static void
turn(struct pair *p, unsigned side)
{
	edge_begin(NULL, NULL);
	(void)pair_turn(p, side);
}

Test(send_ring_edge, a_request_behind_the_last_look_is_sent)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = QPS, .sq_depth = 8, .rq_depth = 1});
	struct clients c = {.p = p};
	unsigned done = 0;
	struct ndsh_cqe e;

	turn(p, 0); /* what coming to RTS asks for */
	p->now_ns += ROCE_SEND_RING_IDLE_NS;
	edge_begin(posts_behind_the_look, &c);
	(void)roce_shard_poll_rings(p->side[0].shard, p->now_ns, QPS);
	for (unsigned i = 0; i < QPS; i++) {
		const struct ndsh_qp_page *page = p->side[0].q[i].block;

		cr_assert(c.has_posted[i], "%u", i);
		cr_assert_eq(page->sq_polled, 1, "%u is spared the doorbell again", i);
	}
	for (unsigned i = 0; i < 20; i++, p->now_ns += 2000) {
		turn(p, 0);
		turn(p, 1);
	}
	for (; pair_poll(p, 0, &e); done++)
		cr_assert_eq(e.status, NDSH_WC_SUCCESS);
	cr_assert_eq(done, QPS);
	edge_begin(NULL, NULL);
	pair_free(p);
}
