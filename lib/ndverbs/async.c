/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asynchronous events. libndclient keeps them; one request of ours waits for the next, and its end
 * counts the descriptor up. The thread that counts it down takes one event and asks anew, which
 * ends at once if there are more. The objects of events are looked for under the context's lock,
 * and those that are destroyed take their leave under it.
 */
#include <errno.h>

#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndverbs/async.h"
#include "ndverbs/object.h"
#include "ndverbs/counter.h"

/* A queue pair that fails by its own request has a completion that says so, and no event. */
static const struct {
	enum nd_event_type from;
	enum ibv_event_type to;
} types[] = {
	{ND_EVENT_ESTABLISHED, IBV_EVENT_COMM_EST},
	{ND_EVENT_DRAINED, IBV_EVENT_SQ_DRAINED},
	{ND_EVENT_QP_REQUEST_ERROR, IBV_EVENT_QP_REQ_ERR},
	{ND_EVENT_QP_ACCESS_ERROR, IBV_EVENT_QP_ACCESS_ERR},
	{ND_EVENT_QP_FATAL, IBV_EVENT_QP_FATAL},
	{ND_EVENT_LAST_RECEIVE, IBV_EVENT_QP_LAST_WQE_REACHED},
	{ND_EVENT_CQ_ERROR, IBV_EVENT_CQ_ERR},
	{ND_EVENT_SRQ_LIMIT, IBV_EVENT_SRQ_LIMIT_REACHED},
	{ND_EVENT_LINK_DOWN, IBV_EVENT_PORT_ERR},
	{ND_EVENT_LINK_UP, IBV_EVENT_PORT_ACTIVE},
	{ND_EVENT_ADDRESSES, IBV_EVENT_GID_CHANGE},
	{ND_EVENT_DEVICE_REMOVED, IBV_EVENT_DEVICE_FATAL},
};

bool
ndv_event_type(enum nd_event_type type, enum ibv_event_type *out)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (types[i].from == type) {
			*out = types[i].to;
			return true;
		}
	}
	return false;
}

static void
event_is_due(struct nd_overlapped *ov, nd_status st)
{
	struct ndv_context *c =
		(struct ndv_context *)(void *)((char *)ov -
					       offsetof(struct ndv_context, event_due));

	if (st == ND_SUCCESS)
		ndv_counter_up(c->verbs.context.async_fd);
}

static void
ask_for_events(struct ndv_context *c)
{
	(void)nd_adapter_notify_event(c->adapter, &c->event_due);
}

/* What is not to be told must not make the descriptor readable: the program then reads, and would
 * wait in vain. In RTS the program knows that the peer is there. */
static bool
is_wanted(const struct nd_event_source *s, enum nd_event_type type)
{
	const struct ndv_qp *qp = s->qp != NULL ? s->qp->context : NULL;
	enum ibv_event_type verbs;

	if (type == ND_EVENT_ESTABLISHED)
		return qp != NULL && qp->base.state == IBV_QPS_RTR;
	return ndv_event_type(type, &verbs);
}

void
ndv_async_start(struct ndv_context *c)
{
	pthread_mutex_lock(&c->adapter->lock);
	c->adapter->event_wanted = is_wanted;
	pthread_mutex_unlock(&c->adapter->lock);
	c->event_due.flags = ND_REQUEST_CALLBACK;
	c->event_due.done = event_is_due;
	ask_for_events(c);
}

static bool
is_pending(struct nd_adapter *a)
{
	bool pending;

	pthread_mutex_lock(&a->lock);
	pending = !TAILQ_EMPTY(&a->events);
	pthread_mutex_unlock(&a->lock);
	return pending;
}

/* An event that comes between the look and the count is asked for anew. */
void
ndv_async_forget(struct ndv_context *c)
{
	pthread_mutex_lock(&c->lock);
	if (!is_pending(c->adapter) && ndv_counter_try(c->verbs.context.async_fd))
		ask_for_events(c);
	pthread_mutex_unlock(&c->lock);
}

static bool
tell_qp(struct ndv_qp *qp, struct ibv_async_event *out)
{
	if (qp == NULL)
		return false;
	out->element.qp = &qp->base;
	pthread_mutex_lock(&qp->base.mutex);
	qp->told++;
	pthread_mutex_unlock(&qp->base.mutex);
	return true;
}

static bool
tell_cq(const struct ndv_context *c, const struct nd_cq *nd, struct ibv_async_event *out)
{
	struct ndv_cq *cq;

	LIST_FOREACH (cq, &c->cqs, in_context)
		if (cq->nd == nd)
			break;
	if (cq == NULL)
		return false;
	out->element.cq = &cq->base;
	pthread_mutex_lock(&cq->base.mutex);
	cq->async_told++;
	pthread_mutex_unlock(&cq->base.mutex);
	return true;
}

static bool
tell_srq(const struct ndv_context *c, const struct nd_srq *nd, struct ibv_async_event *out)
{
	struct ndv_srq *srq;

	LIST_FOREACH (srq, &c->srqs, in_context)
		if (srq->nd == nd)
			break;
	if (srq == NULL)
		return false;
	out->element.srq = &srq->base;
	pthread_mutex_lock(&srq->base.mutex);
	srq->told++;
	pthread_mutex_unlock(&srq->base.mutex);
	return true;
}

/* c->lock held. */
static bool
tell_event(const struct ndv_context *c, const struct nd_event *e, struct ibv_async_event *out)
{
	if (!ndv_event_type(e->type, &out->event_type))
		return false;
	if (e->qp != NULL)
		return tell_qp(e->context, out);
	if (e->cq != NULL)
		return tell_cq(c, e->cq, out);
	if (e->srq != NULL)
		return tell_srq(c, e->srq, out);
	out->element.port_num = 1;
	return true;
}

int
ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *out)
{
	struct ndv_context *c = ndv_context(context);
	struct nd_event e;
	bool told;

	do {
		if (!ndv_counter_down(context->async_fd))
			return -1;
		pthread_mutex_lock(&c->lock);
		told = nd_adapter_get_event(c->adapter, &e) == ND_SUCCESS && tell_event(c, &e, out);
		ask_for_events(c);
		pthread_mutex_unlock(&c->lock);
	} while (!told);
	return 0;
}

static void
count_event(pthread_mutex_t *mutex, pthread_cond_t *cond, uint32_t *completed)
{
	pthread_mutex_lock(mutex);
	(*completed)++;
	pthread_cond_signal(cond);
	pthread_mutex_unlock(mutex);
}

void
ibv_ack_async_event(struct ibv_async_event *e)
{
	switch (e->event_type) {
	case IBV_EVENT_CQ_ERR:
		count_event(&e->element.cq->mutex, &e->element.cq->cond,
			&e->element.cq->async_events_completed);
		return;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		count_event(&e->element.qp->mutex, &e->element.qp->cond,
			&e->element.qp->events_completed);
		return;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		count_event(&e->element.srq->mutex, &e->element.srq->cond,
			&e->element.srq->events_completed);
		return;
	default:
		return;
	}
}
