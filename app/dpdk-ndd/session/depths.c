/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How deep a client's queues may be. Their rings are the client's memory, and the daemon keeps
 * nothing of its own for a slot, so memory is the limit. What is told must be there to be had, and
 * programs exist that make their queues as deep as they are told, and then want memory for data: so
 * the deepest queues have a part of what the session may have.
 */
#include "session/depths.h"

#include "control/daemon.h"
#include "session/session.h"
#include "shm/ndsh_ring.h"

#define PART	 8u	/* of its memory */
#define LEAST	 4096u	/* however little there is: with two SGEs, some hundred KiB */
#define LEAST_CQ 16384u /* the same; both queues of two such queue pairs */

static uint64_t
session_memory(const struct ndd_session *s)
{
	uint64_t most = ndd_account_most(&s->account, CONFIG_SHARE_memory_mb);

	return most < s->daemon->cfg->max_memory_bytes ? most : s->daemon->cfg->max_memory_bytes;
}

/* With both queues of the same depth, and all that a slot may have. */
static bool
qp_fits(uint32_t depth, uint64_t bytes)
{
	const struct ndsh_qp_dims dims = {
		depth, depth, NDSH_SGE_MAX, NDSH_SGE_MAX, NDSH_INLINE_MAX};
	struct ndsh_qp_layout layout;

	return ndsh_qp_layout(&dims, &layout) && layout.total_bytes <= bytes;
}

static bool
cq_fits(uint32_t depth, uint64_t bytes)
{
	uint32_t ring = ndsh_cq_ring_bytes(depth);

	return ring != 0 && ring <= bytes;
}

static uint32_t
depth_most(uint32_t least, bool (*fits)(uint32_t depth, uint64_t bytes), uint64_t bytes)
{
	uint32_t depth = least;

	while (fits(2 * depth, bytes))
		depth *= 2;
	return depth;
}

static uint32_t
depth_lesser(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

void
ndd_depths_tell(const struct ndd_session *s, struct ndsh_open_reply *r)
{
	const uint64_t part = session_memory(s) / PART;

	r->max_depth = depth_most(LEAST, qp_fits, part);
	r->max_cq_depth = depth_most(LEAST_CQ, cq_fits, part);
	if (s->minor < NDSH_MINOR_DEEP_QUEUES) { /* its library has no layout of deeper ones */
		r->max_depth = depth_lesser(r->max_depth, NDSH_DEPTH_BEFORE);
		r->max_cq_depth = depth_lesser(r->max_cq_depth, NDSH_CQ_DEPTH_BEFORE);
	}
	r->max_srq_depth = r->max_depth;
}
