/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives of a principal that has no room for one more: none is taken, and the pool that had none
 * is counted. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rigs/lone_shard.h"
#include "roce/queue/receive.h"

struct world {
	struct roce_shard *s;
	struct roce_principal p;
	struct roce_client c;
	struct roce_cq *cq;
	struct roce_qp *qp;
	void *page, *block;
	uint32_t pd;
};

/* A principal that may have so many requests in flight, and so many extensions. */
static void
world_init(struct world *w, uint32_t wqes, uint32_t exts)
{
	const struct roce_shard_cfg shard_cfg = lone_config();
	const struct roce_principal_cfg cfg = {.weight = 1, .pool = {{0, wqes}, {0, exts}}};

	w->s = lone_shard_new(&shard_cfg);
	cr_assert(roce_principal_init(w->s, &w->p, &cfg));
	roce_client_init(&w->c, &w->p);
	w->page = aligned_alloc(64, (ndsh_cq_bytes(16) + 63) & ~63u);
	w->cq = roce_cq_create(w->s, &w->c, w->page, 16, NULL);
	w->pd = roce_pd_create(w->s);
	w->qp = lone_qp_new(w->s, w->pd, w->cq, &w->block);
	cr_assert_not_null(w->qp);
}

static void
world_fini(struct world *w)
{
	roce_qp_destroy(w->s, w->qp);
	cr_assert(roce_cq_destroy(w->s, w->cq));
	cr_assert(roce_client_fini(w->s, &w->c));
	cr_assert(roce_principal_fini(w->s, &w->p), "nothing is left in use");
	free(w->block);
	free(w->page);
	free(w->s);
}

static void
expect_refused(struct world *w, uint32_t num_sge)
{
	cr_expect_null(roce_receive_copy(w->s, w->qp, &w->qp->rq, num_sge));
	cr_expect_eq(w->s->count.wqe_share_full, 1, "it is the principal's own share that is full");
	cr_expect_eq(w->s->count.wqe_pool_empty, 0);
}

Test(receive_room, none_for_a_request_in_flight)
{
	struct roce_wqe *taken[4];
	struct world w;

	world_init(&w, 4, 8);
	for (unsigned i = 0; i < 4; i++)
		taken[i] = roce_wqe_alloc(w.s, &w.p, ROCE_SIDE_RECV);
	expect_refused(&w, 1);
	for (unsigned i = 0; i < 4; i++)
		roce_wqe_free(w.s, &w.p, ROCE_SIDE_RECV, taken[i]);
	world_fini(&w);
}

Test(receive_room, none_for_a_long_list)
{
	struct roce_wqe *taken;
	struct world w;

	world_init(&w, 8, 1);
	taken = roce_wqe_alloc(w.s, &w.p, ROCE_SIDE_RECV);
	cr_assert(roce_ext_alloc(w.s, &w.p, ROCE_SIDE_RECV, taken));
	expect_refused(&w, ROCE_WQE_SGE + 1);
	roce_wqe_free(w.s, &w.p, ROCE_SIDE_RECV, taken);
	world_fini(&w);
}
