/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared receive queues; posting is in post.c. This side alone limits how many receives may wait,
 * so a depth that the ring has slots for is changed here. For a greater one, this side carries the
 * receives over to a new ring, and the daemon goes on there from one message to the next.
 *
 * Notifications: the daemon is armed for each request. Its event may be of an earlier arm, but it
 * is never wrong: fewer receives than the threshold were left after the request had been made, or
 * shortly before.
 */
#include <stdlib.h>
#include <unistd.h>

#include "ndclient/mem/pd.h"
#include "ndclient/mem/segment.h"
#include "ndclient/qp/qp.h"
#include "ndclient/qp/srq.h"
#include "ndclient/qp/srq_callback.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/affinity.h"
#include "ndclient/session/callbacks.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"
#include "ndclient/session/event.h"
#include "ndclient/session/object.h"
#include "ndclient/session/overlapped.h"
#include "ndclient/session/waiters.h"

#define SGE_MIN 2u /* as in queue pairs */

static nd_status
srq_check_options(const struct nd_adapter *a, uint32_t depth, uint32_t max_sge, uint32_t threshold)
{
	const struct nd_adapter_info *i = &a->info;

	if (i->max_srq_depth == 0)
		return nd_fail(ND_NOT_SUPPORTED, "no shared receive queues"); /* R-SRQ-01 */
	if (depth == 0 || depth > i->max_srq_depth)
		return nd_fail(ND_INVALID_PARAMETER_3, "shared receive queue of %u, of at most %u",
			depth, i->max_srq_depth);
	if (max_sge > i->max_receive_sge)
		return nd_fail(ND_INVALID_PARAMETER_4, "%u SGEs per receive, of at most %u",
			max_sge, i->max_receive_sge);
	if (threshold > depth)
		return nd_fail(
			ND_INVALID_PARAMETER_5, "threshold %u above depth %u", threshold, depth);
	return ND_SUCCESS;
}

static struct nd_srq *
srq_make(struct nd_pd *pd, struct ndsh_srq_create *m)
{
	struct nd_srq *srq = calloc(1, sizeof(*srq));

	if (srq == NULL)
		return NULL;
	srq->page = nd_block_alloc(
		pd->adapter, ndsh_srq_bytes(m->depth, m->sge), &m->segment, &m->offset);
	if (srq->page == NULL) {
		free(srq);
		return NULL;
	}
	ndsh_srq_view(&srq->rq, srq->page, m->depth, m->sge);
	pthread_mutex_init(&srq->modify_lock, NULL);
	srq->adapter = pd->adapter;
	srq->pd = pd;
	srq->sge = m->sge;
	return srq;
}

nd_status
nd_srq_create(
	struct nd_pd *pd, uint32_t depth, uint32_t max_sge, uint32_t threshold, struct nd_srq **out)
{
	struct ndsh_srq_create m = {.h.type = NDSH_MSG_SRQ_CREATE};
	struct ndsh_id_msg reply;
	struct nd_adapter *a;
	struct nd_srq *srq;
	nd_status st;

	if (pd == NULL || out == NULL)
		return ND_INVALID_PARAMETER;
	*out = NULL;
	a = pd->adapter;
	st = srq_check_options(a, depth, max_sge, threshold);
	if (st != ND_SUCCESS)
		return st;
	m.pd = pd->id;
	m.depth = a->abi_minor >= NDSH_MINOR_DEEP_QUEUES ? nd_queue_slots(depth)
							 : a->info.max_srq_depth;
	m.sge = max_sge < SGE_MIN ? SGE_MIN : max_sge;
	srq = srq_make(pd, &m);
	if (srq == NULL)
		return nd_gone(a) ? ND_DEVICE_REMOVED : ND_INSUFFICIENT_RESOURCES;
	srq->depth = depth;
	srq->threshold = threshold;
	st = nd_control_call(a, &(struct nd_request){.h = &m.h, .reply = &reply});
	if (st != ND_SUCCESS) {
		nd_free(a, srq->page);
		free(srq);
		return st;
	}
	srq->id = reply.id;
	nd_object_open(&srq->obj, &nd_srq_class, a);
	nd_object_rest(&srq->obj, &pd->obj);
	pthread_mutex_lock(&a->lock);
	TAILQ_INSERT_TAIL(&a->srqs, srq, link);
	pthread_mutex_unlock(&a->lock);
	*out = srq;
	return ND_SUCCESS;
}

/* The mask as of nd_cq_create_near(). */
nd_status
nd_srq_create_near(struct nd_pd *pd, uint32_t depth, uint32_t max_sge, uint32_t threshold,
	uint16_t group, uint64_t mask, struct nd_srq **out)
{
	(void)mask;
	if (out != NULL)
		*out = NULL;
	if (!nd_affinity_has_group(group))
		return nd_fail(ND_INVALID_PARAMETER_6, "no CPU is of group %u", group);
	return nd_srq_create(pd, depth, max_sge, threshold, out);
}

nd_status
nd_srq_get_affinity(struct nd_srq *srq, uint16_t *group, uint64_t *mask)
{
	if (group == NULL || mask == NULL)
		return ND_INVALID_PARAMETER;
	if (srq->adapter->abi_minor < NDSH_MINOR_SRQ_AFFINITY)
		return nd_fail(ND_NOT_SUPPORTED, "this daemon is too old to tell its CPUs");
	return nd_affinity_ask(srq->adapter, NDSH_MSG_SRQ_AFFINITY, srq->id, group, mask);
}

static bool
srq_stop(struct nd_object *o)
{
	struct nd_srq *srq = (struct nd_srq *)o;

	pthread_mutex_lock(&o->adapter->lock);
	TAILQ_REMOVE(&o->adapter->srqs, srq, link);
	nd_waiters_end(&srq->waiters, ND_CANCELED);
	nd_event_forget(o->adapter, &srq->events);
	nd_srq_callback_off(srq);
	pthread_mutex_unlock(&o->adapter->lock);
	return nd_callback_outlives(o);
}

static void
srq_destroy(struct nd_object *o)
{
	struct nd_srq *srq = (struct nd_srq *)o;

	if (nd_object_forget(o->adapter, NDSH_MSG_SRQ_DESTROY, srq->id))
		nd_free(o->adapter, srq->page);
	if (srq->callback != NULL)
		close(srq->kick_fd);
	free(srq);
}

const struct nd_class nd_srq_class = {.stop = srq_stop, .destroy = srq_destroy};

nd_status
nd_srq_close(struct nd_srq *srq)
{
	return nd_close(srq, NULL);
}

/* If the daemon is gone, the waiters learn it from the control thread. */
static void
srq_arm(struct nd_adapter *a, uint32_t id, uint32_t threshold)
{
	struct ndsh_srq_arm m = {.h.type = NDSH_MSG_SRQ_ARM, .srq = id, .limit = threshold};

	(void)nd_control_call(a, &(struct nd_request){.h = &m.h});
}

/* Events that came before the answer were of an earlier arm, and none of this one. */
static nd_status
on_armed(void *arg, nd_status st, const void *reply)
{
	struct nd_srq *srq = arg;

	(void)reply;
	srq->armed = st == ND_SUCCESS;
	return st;
}

static nd_status
srq_arm_once(struct nd_srq *srq, uint32_t threshold)
{
	struct ndsh_srq_arm m = {.h.type = NDSH_MSG_SRQ_ARM, .srq = srq->id, .limit = threshold};

	return nd_control_call(
		srq->adapter, &(struct nd_request){.h = &m.h, .hook = on_armed, .arg = srq});
}

/* A ring with room for depth receives. */
static nd_status
srq_grow(struct nd_srq *srq, uint32_t depth)
{
	struct nd_adapter *a = srq->adapter;
	struct ndsh_srq_resize m = {
		.h.type = NDSH_MSG_SRQ_RESIZE, .srq = srq->id, .depth = nd_queue_slots(depth)};
	struct ndsh_srq_page *page =
		nd_block_alloc(a, ndsh_srq_bytes(m.depth, srq->sge), &m.segment, &m.offset);
	struct ndsh_rq rq;
	nd_status st;

	if (page == NULL)
		return nd_gone(a) ? ND_DEVICE_REMOVED : ND_INSUFFICIENT_RESOURCES;
	ndsh_srq_view(&rq, page, m.depth, srq->sge);
	ndsh_rq_carry(&rq, &srq->rq, __atomic_load_n(&srq->page->taken, __ATOMIC_ACQUIRE));
	st = nd_control_call(a, &(struct nd_request){.h = &m.h});
	if (st != ND_SUCCESS) {
		if (st != ND_DEVICE_REMOVED) /* else it may have been done */
			nd_free(a, page);
		return st;
	}
	nd_free(a, srq->page);
	srq->page = page;
	srq->rq = rq;
	return ND_SUCCESS;
}

/* May it have that depth, and the threshold (0: as it is)? */
static nd_status
srq_check_modify(const struct nd_srq *srq, uint32_t depth, uint32_t threshold)
{
	struct nd_adapter *a = srq->adapter;
	uint32_t waiting = srq->rq.next - __atomic_load_n(&srq->page->taken, __ATOMIC_ACQUIRE);

	if (nd_gone(a))
		return ND_DEVICE_REMOVED;
	if (depth > a->info.max_srq_depth) /* R-SRQ-05 */
		return nd_fail(ND_INVALID_PARAMETER, "shared receive queue of %u, of at most %u",
			depth, a->info.max_srq_depth);
	if (depth < waiting)
		return nd_fail(ND_BUFFER_OVERFLOW,
			"%u receives wait in the shared receive queue, which is to be %u deep",
			waiting, depth);
	if ((threshold != 0 ? threshold : srq->threshold) > depth)
		return nd_fail(ND_INVALID_PARAMETER, "threshold above depth %u", depth);
	return ND_SUCCESS;
}

/* Both are right, and the ring has the slots. */
static nd_status
srq_set(struct nd_srq *srq, uint32_t depth, uint32_t threshold)
{
	struct nd_adapter *a = srq->adapter;
	bool rearm, once;

	pthread_mutex_lock(&a->lock);
	once = threshold != 0 && (srq->callback != NULL || a->events_on); /* R-SRQ-04 */
	if (threshold == 0)
		threshold = srq->threshold;
	rearm = threshold != srq->threshold && srq->waiters.first != NULL;
	srq->threshold = threshold;
	srq->depth = depth;
	if (once)
		srq->armed = srq->due = false;
	pthread_mutex_unlock(&a->lock);
	if (once)
		return srq_arm_once(srq, threshold);
	if (rearm)
		srq_arm(a, srq->id, threshold);
	return ND_SUCCESS;
}

nd_status
nd_srq_modify(struct nd_srq *srq, uint32_t depth, uint32_t threshold)
{
	nd_status st;

	pthread_mutex_lock(&srq->modify_lock);
	if (depth == 0)
		depth = srq->depth;
	st = srq_check_modify(srq, depth, threshold);
	if (st == ND_SUCCESS && depth > srq->rq.depth)
		st = srq_grow(srq, depth);
	if (st == ND_SUCCESS)
		st = srq_set(srq, depth, threshold);
	pthread_mutex_unlock(&srq->modify_lock);
	return st;
}

nd_status
nd_srq_notify(struct nd_srq *srq, struct nd_overlapped *ov)
{
	struct nd_adapter *a = srq->adapter;
	uint32_t id = srq->id, threshold;
	nd_status st;

	if (ov == NULL)
		return ND_INVALID_PARAMETER_2;
	st = nd_overlapped_begin(a, ov, __func__);
	if (st != ND_SUCCESS)
		return st;
	pthread_mutex_lock(&a->lock);
	if (nd_gone(a)) {
		pthread_mutex_unlock(&a->lock);
		return nd_overlapped_issued(ov, ND_DEVICE_REMOVED);
	}
	nd_waiters_add(&srq->waiters, ov);
	threshold = srq->threshold;
	pthread_mutex_unlock(&a->lock);
	/* ov may be complete, and a thread that saw it may have closed srq (R-LIFE-07) */
	if (threshold != 0)
		srq_arm(a, id, threshold);
	return ND_PENDING;
}

nd_status
nd_srq_cancel(struct nd_srq *srq)
{
	pthread_mutex_lock(&srq->adapter->lock);
	nd_waiters_end(&srq->waiters, ND_CANCELED);
	pthread_mutex_unlock(&srq->adapter->lock);
	return ND_SUCCESS;
}

void
nd_srq_removed(struct nd_srq *srq)
{
	nd_waiters_end(&srq->waiters, ND_DEVICE_REMOVED);
	nd_srq_kick(srq);
}

/* W-EVT-01 */
static void
srq_limit_reached(struct nd_srq *srq)
{
	nd_waiters_end(&srq->waiters, ND_SUCCESS);
	if (srq->callback != NULL) {
		nd_srq_due(srq);
	} else if (srq->armed) {
		srq->armed = false;
		nd_event_srq_limit(srq);
	}
}

void
nd_srq_limit(struct nd_adapter *a, const struct ndsh_ev_srq *ev)
{
	struct nd_srq *srq;

	TAILQ_FOREACH (srq, &a->srqs, link)
		if (srq->id == ev->srq)
			srq_limit_reached(srq);
}
