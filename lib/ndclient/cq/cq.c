/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queues: creating and closing. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "ndclient/cq/callback.h"
#include "ndclient/cq/cq.h"
#include "ndclient/cq/moderate.h"
#include "ndclient/cq/notify.h"
#include "ndclient/mem/segment.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/affinity.h"
#include "ndclient/session/callbacks.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"
#include "ndclient/session/event.h"
#include "ndclient/session/object.h"
#include "ndclient/session/verify.h"

#define DEPTH_MIN 16u

/* Rings are powers of two. Twice what was asked for: programs count on some slack. */
uint32_t
nd_cq_ring_depth(uint32_t asked, uint32_t max)
{
	uint32_t depth = DEPTH_MIN;

	while (depth < 2 * asked && depth < max)
		depth *= 2;
	return depth;
}

static struct nd_cq *
cq_make(struct nd_adapter *a, uint32_t depth, uint32_t *segment, uint64_t *offset)
{
	struct nd_cq *cq = calloc(1, sizeof(*cq));
	void *block;

	if (cq == NULL)
		return NULL;
	block = nd_block_alloc(a, ndsh_cq_bytes(depth), segment, offset);
	if (block == NULL) {
		free(cq);
		return NULL;
	}
	ndsh_cq_reader_view(&cq->reader, block, depth);
	pthread_mutex_init(&cq->resize_lock, NULL);
	cq->adapter = a;
	pthread_mutex_init(&cq->notify_lock, NULL);
	cq->event_fd = cq->poll_fd = -1;
	return cq;
}

nd_status
nd_cq_create(struct nd_adapter *a, uint32_t depth, struct nd_cq **out)
{
	struct ndsh_cq_create m = {.h.type = NDSH_MSG_CQ_CREATE};
	struct ndsh_id_msg reply;
	struct nd_cq *cq;
	nd_status st;

	if (a == NULL || out == NULL)
		return ND_INVALID_PARAMETER;
	*out = NULL;
	if (depth == 0 || depth > a->info.max_cq_depth)
		return nd_fail(ND_INVALID_PARAMETER_3,
			"completion queue of %u entries, of at most %u", depth,
			a->info.max_cq_depth);
	m.depth = nd_cq_ring_depth(depth, a->info.max_cq_depth);
	cq = cq_make(a, m.depth, &m.segment, &m.offset);
	if (cq == NULL)
		return nd_gone(a) ? ND_DEVICE_REMOVED : ND_INSUFFICIENT_RESOURCES;
	st = nd_control_call(
		a, &(struct nd_request){.h = &m.h, .reply = &reply, .fd = &cq->notify_fd});
	if (st == ND_SUCCESS && cq->notify_fd < 0)
		st = ND_INTERNAL_ERROR;
	if (st != ND_SUCCESS) {
		nd_free(a, cq->reader.page);
		free(cq);
		return st;
	}
	cq->id = reply.id;
	cq->depth = depth;
	(void)fcntl(cq->notify_fd, F_SETFL, O_NONBLOCK);
	nd_object_open(&cq->obj, &nd_cq_class, a);
	pthread_mutex_lock(&a->lock);
	TAILQ_INSERT_TAIL(&a->cqs, cq, link);
	pthread_mutex_unlock(&a->lock);
	*out = cq;
	return ND_SUCCESS;
}

/* One lcore makes the results of all queues of the adapter: the mask is a wish that is not met. */
nd_status
nd_cq_create_near(
	struct nd_adapter *a, uint32_t depth, uint16_t group, uint64_t mask, struct nd_cq **out)
{
	(void)mask;
	if (out != NULL)
		*out = NULL;
	if (!nd_affinity_has_group(group))
		return nd_fail(ND_INVALID_PARAMETER_4, "no CPU is of group %u", group);
	return nd_cq_create(a, depth, out);
}

void
nd_cq_close_fds(struct nd_cq *cq)
{
	if (cq->poll_fd >= 0)
		close(cq->poll_fd);
	if (cq->event_fd >= 0)
		close(cq->event_fd);
	nd_moderation_off(cq);
	if (cq->callback != NULL)
		close(cq->kick_fd);
	close(cq->notify_fd);
}

/* Closed queue pairs can give nothing to this queue any more. */
static void
cq_forget_qps(struct nd_adapter *a, const struct nd_cq *cq)
{
	struct nd_qp *qp;

	TAILQ_FOREACH (qp, &a->closed_qps, closed_link) {
		if (qp->send_cq == cq)
			qp->send_cq = NULL;
		if (qp->recv_cq == cq)
			qp->recv_cq = NULL;
	}
	nd_qp_reap(a);
}

void
nd_cq_verify_close(const struct nd_cq *cq)
{
	if (__atomic_load_n(&cq->inside, __ATOMIC_RELAXED) != 0)
		nd_breach("R-LIFE-11",
			"completion queue %u is closed while a thread takes results from it",
			cq->id);
}

/* Queue pairs may go on filling the queue, but no request or callback is notified of it any more
 * (R-LIFE-02). */
static bool
cq_stop(struct nd_object *o)
{
	struct nd_cq *cq = (struct nd_cq *)o;
	struct nd_adapter *a = cq->adapter;

	if (nd_verifying())
		nd_cq_verify_close(cq);
	pthread_mutex_lock(&a->lock);
	TAILQ_REMOVE(&a->cqs, cq, link);
	if (cq->watched)
		(void)nd_control_watch(a, cq, false);
	nd_cq_callback_off(cq);
	cq_forget_qps(a, cq);
	nd_event_forget(a, &cq->events);
	pthread_mutex_unlock(&a->lock);
	nd_cq_end_waiters(cq, ND_CANCELED); /* R-CQ-33 */
	return nd_callback_outlives(o);	    /* R-CQ-26 */
}

static void
cq_destroy(struct nd_object *o)
{
	struct nd_cq *cq = (struct nd_cq *)o;

	if (nd_object_forget(cq->adapter, NDSH_MSG_CQ_DESTROY, cq->id)) {
		nd_free(cq->adapter, cq->reader.page);
		nd_free(cq->adapter, cq->ring);
	}
	nd_cq_close_fds(cq);
	free(cq);
}

const struct nd_class nd_cq_class = {.stop = cq_stop, .destroy = cq_destroy};

nd_status
nd_cq_close(struct nd_cq *cq)
{
	return nd_close(cq, NULL);
}
