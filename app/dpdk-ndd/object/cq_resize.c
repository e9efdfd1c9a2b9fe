/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queues in use: another ring, and the CPU that serves them. */
#include "lcore/call.h"
#include "object/cq.h"
#include "object/segment.h"
#include "platform/eal.h"
#include "session/session.h"

struct cq_resize {
	struct roce_cq *engine;
	void *ring;
	uint32_t depth, entries;
	bool done;
};

static void
on_shard_cq_resize(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct cq_resize *z = arg;

	(void)shard;
	(void)now_ns;
	z->done = roce_cq_resize(z->engine, z->ring, z->depth, z->entries);
}

/* When this returns, the daemon no longer uses the ring before: its segment may go. The page of the
 * queue stays in the first segment. */
enum ndsh_status
ndd_cq_resize(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_cq_resize *m = msg;
	struct ndd_cq *cq = ndd_slots_get(&s->cqs, m->cq);
	uint32_t bytes = ndsh_cq_ring_bytes(m->depth);
	struct cq_resize z = {.depth = m->depth, .entries = m->entries};
	struct ndd_segment *seg;

	if (cq == NULL)
		return NDSH_ERR_INVALID_ID;
	if (cq->lost) /* it is dead, and the client must not use the ring's memory again */
		return NDSH_ERR_INTERNAL;
	if (bytes == 0 || m->entries == 0 || m->entries > m->depth)
		return NDSH_ERR_INVALID_PARAMETER;
	z.ring = ndd_segment_block(s, m->segment, m->offset, bytes, &seg);
	if (z.ring == NULL)
		return NDSH_ERR_INVALID_PARAMETER;
	z.engine = cq->engine;
	ndd_shard_call(s->shard, on_shard_cq_resize, &z);
	if (!z.done)
		return NDSH_ERR_OVERFLOW;
	if (cq->ring_segment != NULL)
		cq->ring_segment->users--;
	cq->ring_segment = seg;
	seg->users++;
	r->id.id = m->cq;
	return NDSH_OK;
}

/* The lcore of the session's shard makes the entries and writes to the pipe. */
enum ndsh_status
ndd_cq_affinity(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	if (ndd_slots_get(&s->cqs, ((const struct ndsh_id_msg *)msg)->id) == NULL)
		return NDSH_ERR_INVALID_ID;
	r->affinity.mask = ndd_lcore_cpus(s->shard->lcore, &r->affinity.group);
	return NDSH_OK;
}
