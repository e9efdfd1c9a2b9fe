/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion queues: exchange of the ring (ndsh_resize.c has the order of the steps), and the CPU
 * that makes the results.
 *
 * A thread that polls or waits is never blocked by it for long: nd_cq.lock is held for a few
 * instructions, or for a portion of entries that are carried over. The memory that is no longer
 * used is given back when the daemon has said which it is; without its word both blocks stay until
 * the adapter is closed.
 */
#include "ndclient/cq/cq.h"
#include "ndclient/cq/moderate.h"
#include "ndclient/mem/segment.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/affinity.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"
#include "ndclient/session/spin.h"

#define PORTION 64u /* entries carried over with the lock held */

/* True: the new ring is the queue's. */
static bool
cq_settle_ring(struct nd_cq *cq)
{
	enum ndsh_settle state;

	do {
		nd_spin_lock(&cq->lock);
		state = ndsh_cq_settle(&cq->reader, PORTION);
		nd_spin_unlock(&cq->lock);
	} while (state == NDSH_SETTLING);
	return state == NDSH_SETTLED;
}

static void
cq_set_depth(struct nd_cq *cq, uint32_t depth)
{
	nd_spin_lock(&cq->lock);
	nd_moderation_resized(cq, depth);
	nd_spin_unlock(&cq->lock);
}

static nd_status
cq_exchange_ring(struct nd_cq *cq, uint32_t entries)
{
	struct nd_adapter *a = cq->adapter;
	struct ndsh_cq_resize m = {
		.h.type = NDSH_MSG_CQ_RESIZE,
		.cq = cq->id,
		.depth = nd_cq_ring_depth(entries, a->info.max_cq_depth),
		.entries = entries,
	};
	void *unused, *ring = nd_block_alloc(a, ndsh_cq_ring_bytes(m.depth), &m.segment, &m.offset);
	nd_status st;

	if (ring == NULL)
		return nd_gone(a) ? ND_DEVICE_REMOVED : ND_INSUFFICIENT_RESOURCES;
	nd_spin_lock(&cq->lock);
	ndsh_cq_expect(&cq->reader, ring, m.depth);
	nd_spin_unlock(&cq->lock);
	st = nd_control_call(a, &(struct nd_request){.h = &m.h});
	unused = ring;
	if (cq_settle_ring(cq)) {
		unused = cq->ring;
		cq->ring = ring;
		cq_set_depth(cq, entries);
	} else if (st == ND_SUCCESS) {
		st = ND_INTERNAL_ERROR;
	}
	if (st != ND_DEVICE_REMOVED)
		nd_free(a, unused);
	return st;
}

nd_status
nd_cq_resize(struct nd_cq *cq, uint32_t depth)
{
	struct nd_adapter *a = cq->adapter;
	nd_status st;

	if (!(a->info.flags & ND_ADAPTER_FLAG_CQ_RESIZE))
		return nd_fail(ND_NOT_SUPPORTED, "this daemon is too old for resizing");
	if (depth == 0 || depth > a->info.max_cq_depth)
		return nd_fail(ND_INVALID_PARAMETER,
			"completion queue of %u entries, of at most %u", depth,
			a->info.max_cq_depth);
	pthread_mutex_lock(&cq->resize_lock);
	st = cq_exchange_ring(cq, depth);
	pthread_mutex_unlock(&cq->resize_lock);
	return st == ND_BUFFER_OVERFLOW
		       ? nd_fail(st, "more than %u entries lie in the completion queue", depth)
		       : st;
}

nd_status
nd_cq_get_affinity(struct nd_cq *cq, uint16_t *group, uint64_t *mask)
{
	if (group == NULL || mask == NULL)
		return ND_INVALID_PARAMETER;
	if (cq->adapter->abi_minor < NDSH_MINOR_CQ_AFFINITY)
		return nd_fail(ND_NOT_SUPPORTED, "this daemon is too old to tell its CPUs");
	return nd_affinity_ask(cq->adapter, NDSH_MSG_CQ_AFFINITY, cq->id, group, mask);
}
