/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndclient/mem/region.h"
#include "ndclient/mem/window.h"
#include "ndclient/qp/handles.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "rigs/window_bench.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

uint8_t window_bench_memory[1024];

static void
init_qp(struct window_bench *b, uint32_t i)
{
	const struct ndsh_qp_dims d = {
		.sq_depth = DEPTH, .rq_depth = DEPTH, .sq_sge = 2, .rq_sge = 2, .inline_bytes = 32};
	struct window_bench_side *s = &b->side[i];
	struct ndsh_qp_layout l;

	cr_assert(ndsh_qp_layout(&d, &l));
	s->block = aligned_alloc(64, l.total_bytes);
	memset(s->block, 0, l.total_bytes);
	s->qp.adapter = b->a;
	s->qp.page = s->block;
	s->qp.state = ND_QP_CONNECTED;
	s->qp.pd = &b->pd;
	s->qp.sq_sge = s->qp.rq_sge = 2;
	s->qp.inline_bytes = 32;
	s->qp.index = s->qp.handle = i;
	TAILQ_INIT(&s->qp.bound);
	TAILQ_INIT(&s->qp.invalidating);
	ndsh_sq_view(&s->qp.sq, s->block, &d);
	ndsh_rq_view(&s->qp.rq, s->block, &d);
	ndsh_sq_view(&s->daemon_sq, s->block, &d);
	b->a->qps->by_handle[i] = &s->qp;
}

static void
init_mw(struct window_bench *b, struct nd_mw *mw, uint32_t slot)
{
	mw->pd = &b->pd;
	mw->slot = slot;
	mw->secret = SECRET + slot;
	LIST_INSERT_HEAD(&b->a->mw_by_slot[slot % ND_MW_BUCKETS], mw, hash);
}

struct window_bench *
window_bench_make(void)
{
	struct window_bench *b = aligned_alloc(64, sizeof(*b));

	memset(b, 0, sizeof(*b));
	b->a = nd_adapter_new();
	pthread_mutex_init(&b->a->lock, NULL);
	b->a->page = &b->page;
	b->a->wake_fd = b->a->callbacks.end_fd = -1;
	b->a->max_transfer_bytes = 1000;
	b->pd.adapter = b->other_pd.adapter = b->a;
	for (uint32_t i = 0; i < QPS; i++)
		init_qp(b, i);
	b->cq_block = aligned_alloc(64, ndsh_cq_bytes(CQ_DEPTH));
	memset(b->cq_block, 0, ndsh_cq_bytes(CQ_DEPTH));
	b->cq.adapter = b->a;
	ndsh_cq_reader_view(&b->cq.reader, b->cq_block, CQ_DEPTH);
	ndsh_cq_view(&b->daemon_cq, b->cq_block, CQ_DEPTH);
	b->mr = (struct nd_mr){.obj = {.adapter = b->a, .holders = 1},
		.pd = &b->pd,
		.token = 0x00abc123,
		.access = NDSH_ACCESS_LOCAL_WRITE,
		.va = (uintptr_t)window_bench_memory,
		.bytes = sizeof(window_bench_memory)};
	init_mw(b, &b->mw, 77);
	init_mw(b, &b->mw2, 77 + ND_MW_BUCKETS); /* the same bucket */
	return b;
}

void
window_bench_drop(struct window_bench *b)
{
	for (uint32_t i = 0; i < QPS; i++)
		free(b->side[i].block);
	free(b->cq_block);
	nd_adapter_free(b->a);
	free(b);
}

nd_status
window_bench_bind(struct window_bench *b, uint32_t i, struct nd_mw *mw)
{
	return nd_qp_bind(&b->side[i].qp, NULL, &b->mr, mw, window_bench_memory, 64, RW);
}

nd_status
window_bench_invalidate(struct window_bench *b, uint32_t i, struct nd_mw *mw, uint32_t flags)
{
	return nd_qp_invalidate(&b->side[i].qp, NULL, mw, flags);
}

struct ndsh_send
window_bench_finish(struct window_bench *b, uint32_t i, uint8_t status)
{
	struct window_bench_side *s = &b->side[i];
	struct ndsh_send wr;

	cr_assert(eq(int, ndsh_sq_fetch(&s->daemon_sq, &wr), NDSH_FETCH_OK));
	s->finished++;
	if (!(wr.flags & NDSH_WRF_SILENT) || status != NDSH_WC_SUCCESS) {
		const struct ndsh_cqe e = {.context = wr.context,
			.qp = i,
			.op = wr.op,
			.status = status,
			.slot_count = s->finished};

		cr_assert(ndsh_cq_push(&b->daemon_cq, &e));
	}
	return wr;
}

void
window_bench_end_of_turn(struct window_bench *b, uint32_t i)
{
	__atomic_store_n(&b->side[i].qp.page->sq_done, b->side[i].finished, __ATOMIC_RELEASE);
}

void
window_bench_receive(struct window_bench *b, uint32_t i, uint32_t token)
{
	const struct ndsh_cqe e = {.qp = i,
		.op = NDSH_OP_RECV,
		.flags = NDSH_CQEF_INV,
		.bytes = 5,
		.data = ntohl(token)};

	cr_assert(ndsh_cq_push(&b->daemon_cq, &e));
}

int32_t
window_bench_poll_all(struct window_bench *b)
{
	struct nd_result r[CQ_DEPTH];

	return nd_cq_get_results(&b->cq, r, CQ_DEPTH);
}
