/* SPDX-License-Identifier: BSD-3-Clause */
/* A side of the connections: what a daemon's lcore owns, and what its clients share with it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine.h"
#include "shm/ndsh_msg.h"

#define SGES   4u
#define INLINE 64u
#define FRAME  ((ROCE_FRAME_MAX + 256u) & ~63u) /* room for one, on lines of its own */
#define ACCESS (NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_REMOTE_ATOMIC)

void
bench_need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "engine_bench: %s\n", what);
	exit(1);
}

/* The engine's tables come as the daemon gets them (ndd_numa_alloc()), in huge pages where
 * the kernel has them; what clients share is a segment of theirs: in small ones, all touched. */
void *
bench_map(struct bench_side *d, size_t bytes, bool shared)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		(shared ? MAP_SHARED | MAP_POPULATE : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);

	bench_need(mem != MAP_FAILED, "out of memory");
	if (!shared)
		(void)madvise(mem, bytes, MADV_HUGEPAGE);
	bench_need(d->maps < sizeof(d->map) / sizeof(d->map[0]), "too many maps");
	d->map[d->maps].at = mem;
	d->map[d->maps++].bytes = bytes;
	return mem;
}

static void
shard_new(struct bench_side *d, const struct roce_shard_cfg *cfg)
{
	void *cq_mem = bench_map(d, ndsh_cq_bytes(CQ_DEPTH), true);

	d->shard = roce_shard_init(bench_map(d, roce_shard_bytes(cfg), false), cfg);
	bench_need(d->shard != NULL, "shard");
	roce_qpn_key_init(&d->qpn_key, cfg->secret);
	d->arena = bench_map(d, ARENA_BYTES, true);
	memset(d->arena, 1, ARENA_BYTES);
	d->pd = roce_pd_create(d->shard);
	d->key = roce_mr_key(roce_mr_register(
		d->shard, d->pd, VA, ARENA_BYTES, d->arena, NDSH_ACCESS_LOCAL_WRITE | ACCESS));
	d->cq = roce_cq_create(d->shard, NULL, cq_mem, CQ_DEPTH, NULL);
	bench_need(d->cq != NULL, "completion queue");
	ndsh_cq_reader_view(&d->reader, cq_mem, CQ_DEPTH);
}

static void
srq_new(struct bench_side *d, uint32_t depth)
{
	d->srq_page = bench_map(d, ndsh_srq_bytes(depth, SGES), true);
	ndsh_srq_view(&d->srq_ring, d->srq_page, depth, SGES);
	d->srq = roce_srq_create(d->shard, NULL, d->pd, d->srq_page, depth, SGES, NULL);
	bench_need(d->srq != NULL, "shared receive queue");
}

static void
ends_new(struct bench_side *d, const struct bench_case *c)
{
	const bool small = c->kind == BENCH_RANDOM;
	const struct ndsh_qp_dims dims = {.sq_depth = c->ring,
		.rq_depth = small ? 1 : c->ring,
		.sq_sge = small ? 1 : SGES,
		.rq_sge = small ? 1 : SGES,
		.inline_bytes = small ? 0 : INLINE};
	struct ndsh_qp_layout layout;
	uint8_t *block;

	bench_need(ndsh_qp_layout(&dims, &layout), "layout");
	block = bench_map(d, (size_t)c->qps * layout.total_bytes, true);
	d->end = bench_map(d, c->qps * sizeof(d->end[0]), false);
	for (uint32_t k = 0; k < c->qps; k++, block += layout.total_bytes) {
		struct bench_end *e = &d->end[k];

		e->qp = roce_qp_create(d->shard, &(struct roce_qp_cfg){.pd = d->pd,
							 .send_cq = d->cq,
							 .recv_cq = d->cq,
							 .srq = d->srq,
							 .shared = block,
							 .dims = dims,
							 .handle = k});
		bench_need(e->qp != NULL, "queue pair");
		e->page = (void *)block;
		ndsh_sq_view(&e->sq, block, &dims);
		ndsh_rq_view(&e->rq, block, &dims);
		e->room = e->recv_room = c->ring;
	}
}

static void
side_new(struct bench_side *d, const struct bench_case *c, const struct roce_shard_cfg *cfg)
{
	uint8_t *frames = bench_map(d, (size_t)BURST * FRAME, false);

	shard_new(d, cfg);
	if (c->srq)
		srq_new(d, c->ring);
	ends_new(d, c);
	for (unsigned k = 0; k < BURST; k++)
		d->slot[k].buf = frames + k * FRAME;
}

static void
connect_end(struct bench_world *w, unsigned i, uint32_t k)
{
	const uint8_t ip[2][4] = {{10, 0, 0, 1}, {10, 0, 0, 2}};
	struct roce_qp_attr a = {.access = ACCESS,
		.mtu_bytes = 4096,
		.dest_qpn = roce_qp_num(w->side[!i].end[k].qp),
		.rq_psn = 7,
		.sq_psn = 7,
		.max_rd = 16,
		.max_dest_rd = 16,
		.min_rnr_code = 1,
		.timeout_code = 14,
		.retry = 7,
		.rnr_retry = 7,
		.path = {.ttl = 64, .udp_sport = 0xc000}};
	struct roce_shard *s = w->side[i].shard;
	struct roce_qp *qp = w->side[i].end[k].qp;

	roce_gid_from_v4(&a.path.sgid, ip[i]);
	roce_gid_from_v4(&a.path.dgid, ip[!i]);
	roce_qp_modify(s, qp, w->now_ns, ROCE_QPS_INIT, ROCE_QPA_ACCESS, &a);
	roce_qp_modify(s, qp, w->now_ns, ROCE_QPS_RTR,
		ROCE_QPA_PATH | ROCE_QPA_MTU | ROCE_QPA_DEST_QPN | ROCE_QPA_RQ_PSN |
			ROCE_QPA_MAX_DEST_RD | ROCE_QPA_MIN_RNR,
		&a);
	bench_need(roce_qp_modify(s, qp, w->now_ns, ROCE_QPS_RTS,
			   ROCE_QPA_TIMEOUT | ROCE_QPA_RETRY | ROCE_QPA_RNR_RETRY |
				   ROCE_QPA_SQ_PSN | ROCE_QPA_MAX_RD,
			   &a) == ROCE_MODIFY_OK,
		"modify");
}

struct bench_world *
bench_world_new(const struct bench_case *c)
{
	const struct roce_shard_cfg cfg = {.max_qps = c->qps > 1024 ? c->qps : 1024,
		.max_cqs = 16,
		.max_pds = 16,
		.max_srqs = 1,
		.max_mrs = 1024,
		.max_wqes = 8192,
		.secret = {3, 4},
		.rto_floor_ns = 10000000,
		.window = 256,
		.check_source_port = c->sports};

	return bench_world_of(c, &cfg);
}

struct bench_world *
bench_world_of(const struct bench_case *c, const struct roce_shard_cfg *cfg)
{
	struct bench_world *w = calloc(1, sizeof(*w));

	bench_need(w != NULL, "out of memory");
	w->c = c;
	w->now_ns = 1000000000;
	w->random = UINT64_C(0x9e3779b97f4a7c15);
	if (c->kind == BENCH_CM) {
		w->cm = bench_cm_new(w);
		return w;
	}
	for (unsigned i = 0; i < 2; i++)
		side_new(&w->side[i], c, cfg);
	for (uint32_t k = 0; k < c->qps; k++) {
		connect_end(w, 0, k);
		connect_end(w, 1, k);
	}
	bench_need(c->kind != BENCH_RANDOM || c->depth <= BENCH_RANDOM_DEPTH, "too deep");
	for (uint32_t i = 0; i < BENCH_RANDOM_DEPTH; i++)
		w->chosen[i] = &w->side[0].end[i % c->qps];
	return w;
}

void
bench_world_free(struct bench_world *w)
{
	for (unsigned i = 0; i < 2; i++)
		for (unsigned k = 0; k < w->side[i].maps; k++)
			munmap(w->side[i].map[k].at, w->side[i].map[k].bytes);
	free(w->cm);
	free(w);
}
