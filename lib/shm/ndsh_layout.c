/* SPDX-License-Identifier: BSD-3-Clause */
/* How long the blocks in shared memory are, and where their parts lie. Both sides compute it. */
#include "ndsh_ring.h"

/* A power of two from min to max, which is one itself: those are its divisors. min is not 0. */
static bool
is_depth(uint32_t v, uint32_t min, uint32_t max)
{
	return v >= min && max % v == 0;
}

static bool
dims_ok(const struct ndsh_qp_dims *d)
{
	return is_depth(d->sq_depth, 1, NDSH_DEPTH_MAX) &&
	       is_depth(d->rq_depth, 1, NDSH_DEPTH_MAX) && d->sq_sge >= 1 &&
	       d->sq_sge <= NDSH_SGE_MAX && d->rq_sge >= 1 && d->rq_sge <= NDSH_SGE_MAX &&
	       d->inline_bytes <= NDSH_INLINE_MAX;
}

/* Give the next part of the block bytes, rounded up to whole cache lines. */
static uint32_t
layout_carve(uint32_t *end, uint32_t bytes)
{
	uint32_t at = *end;

	*end += (bytes + NDSH_CACHE_LINE - 1) & ~(NDSH_CACHE_LINE - 1);
	return at;
}

/* One SGE has its place in the descriptor; a side array exists only for more. */
static uint32_t
side_bytes(uint32_t depth, uint32_t sge)
{
	return sge > 1 ? depth * sge * (uint32_t)sizeof(struct ndsh_sge) : 0;
}

bool
ndsh_qp_layout(const struct ndsh_qp_dims *d, struct ndsh_qp_layout *l)
{
	uint32_t end = sizeof(struct ndsh_qp_page);

	if (!dims_ok(d))
		return false;
	/* The largest block has less than 4 GiB: 32 bits hold every sum. */
	l->sq_off = layout_carve(&end, d->sq_depth * (uint32_t)sizeof(struct ndsh_swr));
	l->rq_off = layout_carve(&end, d->rq_depth * (uint32_t)sizeof(struct ndsh_rwr));
	l->sq_sge_off = layout_carve(&end, side_bytes(d->sq_depth, d->sq_sge));
	l->rq_sge_off = layout_carve(&end, side_bytes(d->rq_depth, d->rq_sge));
	l->inline_off = layout_carve(&end, d->sq_depth * NDSH_INLINE_STRIDE(d->inline_bytes));
	l->total_bytes = end;
	return true;
}

uint32_t
ndsh_cq_ring_bytes(uint32_t depth)
{
	if (!is_depth(depth, 2, NDSH_CQ_DEPTH_MAX))
		return 0;
	return depth * (uint32_t)sizeof(struct ndsh_cqe);
}

uint32_t
ndsh_cq_bytes(uint32_t depth)
{
	uint32_t ring = ndsh_cq_ring_bytes(depth);

	return ring == 0 ? 0 : (uint32_t)sizeof(struct ndsh_cq_page) + ring;
}

uint32_t
ndsh_admin_bytes(uint32_t depth)
{
	if (!is_depth(depth, 1, NDSH_ADMIN_DEPTH_MAX))
		return 0;
	return depth * (uint32_t)sizeof(struct ndsh_admin_request);
}

/* Of a shared receive queue's block: where ring and side array are, and its length. */
struct srq_layout {
	uint32_t ring_off, sge_off, total_bytes;
};

static struct srq_layout
srq_layout_of(uint32_t depth, uint32_t sge)
{
	uint32_t end = sizeof(struct ndsh_srq_page);
	struct srq_layout l;

	l.ring_off = layout_carve(&end, depth * (uint32_t)sizeof(struct ndsh_rwr));
	l.sge_off = layout_carve(&end, side_bytes(depth, sge));
	l.total_bytes = end;
	return l;
}

uint32_t
ndsh_srq_bytes(uint32_t depth, uint32_t sge)
{
	if (!is_depth(depth, 1, NDSH_DEPTH_MAX) || sge < 1 || sge > NDSH_SGE_MAX)
		return 0;
	return srq_layout_of(depth, sge).total_bytes;
}

void
ndsh_srq_view(struct ndsh_rq *rq, void *base, uint32_t depth, uint32_t sge)
{
	const struct srq_layout l = srq_layout_of(depth, sge);
	uint8_t *b = base;

	*rq = (struct ndsh_rq){
		.ring = (void *)(b + l.ring_off),
		.sge = (void *)(b + l.sge_off),
		.depth = depth,
		.sge_max = sge,
	};
}

void
ndsh_sq_view(struct ndsh_sq *sq, void *base, const struct ndsh_qp_dims *d)
{
	struct ndsh_qp_layout l = {0};
	uint8_t *b = base;

	(void)ndsh_qp_layout(d, &l);
	*sq = (struct ndsh_sq){
		.ring = (void *)(b + l.sq_off),
		.sge = (void *)(b + l.sq_sge_off),
		.inl = b + l.inline_off,
		.depth = d->sq_depth,
		.sge_max = d->sq_sge,
		.inline_max = d->inline_bytes,
	};
}

void
ndsh_rq_view(struct ndsh_rq *rq, void *base, const struct ndsh_qp_dims *d)
{
	struct ndsh_qp_layout l = {0};
	uint8_t *b = base;

	(void)ndsh_qp_layout(d, &l);
	*rq = (struct ndsh_rq){
		.ring = (void *)(b + l.rq_off),
		.sge = (void *)(b + l.rq_sge_off),
		.depth = d->rq_depth,
		.sge_max = d->rq_sge,
	};
}
