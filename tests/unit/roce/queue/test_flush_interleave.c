/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue pair goes to error while its client posts receives: the code of the engine's side as it
 * stands in lib/, in many thousand interleavings with store buffers. The client does what roce.h
 * asks of it.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "models/interleave.h"
#include "rigs/lone_shard.h"

#include "../../../../lib/roce/queue/flush.c"
#include "../../../../lib/roce/qp/error.c"
#include "../../../../lib/shm/ndsh_rq.c"

#define RUNS	 20000u
#define CQ_DEPTH 8u
#define RECEIVES 3u

struct flushing {
	struct roce_shard *s;
	struct roce_qp *qp;
	struct ndsh_qp_page *page;
	struct ndsh_rq rq;
	unsigned pause, rang;
	int wake;
};

static void
client_posts(void *arg)
{
	struct flushing *f = arg;

	for (unsigned i = 0; i < RECEIVES; i++) {
		ndsh_rq_push(&f->rq, i, NULL, 0);
		ndsh_full_barrier();
		if (__atomic_load_n(&f->page->dead, __ATOMIC_ACQUIRE) == 0)
			continue;
		f->rang++;
		f->wake = 1;
	}
}

static void
daemon_flushes(void *arg)
{
	static uint8_t frame[ROCE_FRAME_MAX];
	struct flushing *f = arg;
	struct roce_tx_slot slot = {.buf = frame};

	for (unsigned n = 0; n < f->pause; n++)
		il_yield();
	roce_qp_modify(f->s, f->qp, 0, ROCE_QPS_ERR, 0, NULL);
	while (f->qp->rq_done < RECEIVES) {
		il_sleep(&f->wake);
		roce_qp_doorbell(f->s, NULL, f->qp);
		(void)roce_shard_tx(f->s, 0, &slot, 1);
		(void)roce_flush_some(f->s);
	}
}

static void
make_qp(struct flushing *f, void *shared, uint32_t pd, struct roce_cq *cq)
{
	const struct roce_qp_cfg cfg = {.pd = pd,
		.send_cq = cq,
		.recv_cq = cq,
		.shared = shared,
		.dims = {.sq_depth = 4, .rq_depth = 4, .sq_sge = 1, .rq_sge = 1}};
	const struct roce_qp_attr attr = {0};

	f->qp = roce_qp_create(f->s, &cfg);
	f->page = shared;
	ndsh_rq_view(&f->rq, shared, &cfg.dims);
	cr_assert_eq(roce_qp_modify(f->s, f->qp, 0, ROCE_QPS_INIT, ROCE_QPA_ACCESS, &attr),
		ROCE_MODIFY_OK);
}

/* checks R-FL-09: each is flushed, by the first look at the ring or because its client rang. */
Test(flush_interleave, no_receive_is_left_behind)
{
	static _Alignas(64) uint8_t shared[2048],
		base[sizeof(struct ndsh_cq_page) + CQ_DEPTH * sizeof(struct ndsh_cqe)];
	const struct roce_shard_cfg cfg = lone_config();
	struct flushing f = {.s = lone_shard_new(&cfg)};
	uint32_t pd = roce_pd_create(f.s);
	uint64_t rang = 0;

	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		struct roce_cq *cq;

		memset(shared, 0, sizeof(shared));
		memset(base, 0, sizeof(base));
		cq = roce_cq_create(f.s, NULL, base, CQ_DEPTH, NULL);
		f = (struct flushing){.s = f.s, .pause = (unsigned)(seed % 32)};
		make_qp(&f, shared, pd, cq);
		il_run(seed, daemon_flushes, client_posts, &f);
		cr_assert_eq(f.qp->rq_done, RECEIVES, "seed %lu: %u of %u are flushed",
			(unsigned long)seed, f.qp->rq_done, RECEIVES);
		roce_qp_destroy(f.s, f.qp);
		cr_assert(roce_cq_destroy(f.s, cq));
		rang += f.rang;
	}
	cr_assert_gt(rang, RUNS / 2, "rung for %lu times", (unsigned long)rang);
	cr_assert_lt(rang, RUNS * (RECEIVES - 1), "rung for %lu times", (unsigned long)rang);
	free(f.s);
}
