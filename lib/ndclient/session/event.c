/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asynchronous events. All lists are guarded by nd_adapter.lock; the daemon's events come in the
 * control thread, which holds it.
 */
#include "ndclient/cq/cq.h"
#include "ndclient/face/event_type.h"
#include "ndclient/qp/handles.h"
#include "ndclient/qp/qp.h"
#include "ndclient/qp/srq.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"
#include "ndclient/session/event.h"
#include "ndclient/session/overlapped.h"
#include "ndclient/session/waiters.h"

static void
event_raise(
	struct nd_adapter *a, struct nd_event_source *s, enum nd_event_type type, uint32_t detail)
{
	if (a->event_wanted != NULL && !a->event_wanted(s, type))
		return;
	if (s->pending == 0)
		TAILQ_INSERT_TAIL(&a->events, s, link);
	s->pending |= 1u << type;
	if (detail != 0)
		s->detail = detail;
	nd_waiters_end(&a->event_waiters, ND_SUCCESS);
}

static void
event_withdraw(struct nd_adapter *a, struct nd_event_source *s, uint32_t bits)
{
	if (s->pending == 0)
		return;
	s->pending &= ~bits;
	if (s->pending == 0)
		TAILQ_REMOVE(&a->events, s, link);
}

void
nd_event_forget(struct nd_adapter *a, struct nd_event_source *s)
{
	event_withdraw(a, s, UINT32_MAX);
}

static void
event_of_qp(struct nd_adapter *a, const struct ndsh_ev_async *ev, enum nd_event_type type)
{
	struct nd_qp *qp = nd_qp_of_index(a->qps, ev->id);

	if (qp == NULL)
		return;
	qp->events.qp = qp;
	event_raise(a, &qp->events, type, ev->detail);
}

static void
event_of_cq(struct nd_adapter *a, const struct ndsh_ev_async *ev)
{
	struct nd_cq *cq;

	TAILQ_FOREACH (cq, &a->cqs, link)
		if (cq->id == ev->id)
			break;
	if (cq == NULL || cq == a->admin.cq) /* the admin ring's is not the application's */
		return;
	cq->events.cq = cq;
	event_raise(a, &cq->events, ND_EVENT_CQ_ERROR, ev->detail);
}

void
nd_event_srq_limit(struct nd_srq *srq)
{
	srq->events.srq = srq;
	event_raise(srq->adapter, &srq->events, ND_EVENT_SRQ_LIMIT, 0);
}

void
nd_event_async(struct nd_adapter *a, const struct ndsh_ev_async *ev)
{
	enum nd_event_type type = nd_event_type_of(ev->event);

	if (type == 0)
		return;
	switch (type) {
	case ND_EVENT_CQ_ERROR:
		event_of_cq(a, ev);
		break;
	case ND_EVENT_LINK_DOWN:
	case ND_EVENT_LINK_UP:
		event_withdraw(
			a, &a->own_events, 1u << ND_EVENT_LINK_DOWN | 1u << ND_EVENT_LINK_UP);
		event_raise(a, &a->own_events, type, 0);
		break;
	case ND_EVENT_ADDRESSES:
		event_raise(a, &a->own_events, type, 0);
		break;
	default:
		event_of_qp(a, ev, type);
	}
}

void
nd_event_removed(struct nd_adapter *a)
{
	if (a->events_on)
		event_raise(a, &a->own_events, ND_EVENT_DEVICE_REMOVED, 0);
	nd_waiters_end(&a->event_waiters, ND_DEVICE_REMOVED);
}

/* ---- calls ----------------------------------------------------------------------------- */

static nd_status
on_hook(void *arg, nd_status st, const void *reply)
{
	struct nd_adapter *a = arg;

	(void)reply;
	if (st == ND_SUCCESS)
		a->events_on = true;
	return st;
}

/* The daemon sends events from the first call on. */
static nd_status
events_turn_on(struct nd_adapter *a)
{
	struct ndsh_id_msg m = {.h.type = NDSH_MSG_EVENTS, .id = 1};
	bool on;

	if (a->abi_minor < NDSH_MINOR_EVENTS)
		return nd_fail(ND_NOT_SUPPORTED, "the daemon is too old to tell events");
	pthread_mutex_lock(&a->lock);
	on = a->events_on;
	pthread_mutex_unlock(&a->lock);
	return on ? ND_SUCCESS
		  : nd_control_call(a, &(struct nd_request){.h = &m.h, .hook = on_hook, .arg = a});
}

static void
event_take(struct nd_adapter *a, struct nd_event_source *s, struct nd_event *event)
{
	enum nd_event_type type = (enum nd_event_type)__builtin_ctz(s->pending);
	bool end = type >= ND_EVENT_QP_REQUEST_ERROR && type <= ND_EVENT_CQ_ERROR &&
		   type != ND_EVENT_LAST_RECEIVE;

	*event = (struct nd_event){
		.type = type,
		.detail = end ? s->detail : 0,
		.qp = s->qp,
		.cq = s->cq,
		.srq = s->srq,
		.context = s->qp != NULL ? s->qp->context : NULL,
	};
	s->pending &= s->pending - 1;
	TAILQ_REMOVE(&a->events, s, link);
	if (s->pending != 0) /* the source's next event comes after those of other sources */
		TAILQ_INSERT_TAIL(&a->events, s, link);
}

nd_status
nd_adapter_get_event(struct nd_adapter *a, struct nd_event *event)
{
	struct nd_event_source *s;
	nd_status st, none;

	if (event == NULL)
		return ND_INVALID_PARAMETER;
	st = events_turn_on(a);
	pthread_mutex_lock(&a->lock);
	s = TAILQ_FIRST(&a->events);
	none = nd_gone(a) ? ND_DEVICE_REMOVED : ND_NO_MORE_ENTRIES;
	if (s != NULL)
		event_take(a, s, event);
	pthread_mutex_unlock(&a->lock);
	if (s != NULL)
		return ND_SUCCESS;
	return st != ND_SUCCESS ? st : none;
}

nd_status
nd_adapter_notify_event(struct nd_adapter *a, struct nd_overlapped *ov)
{
	nd_status st;

	if (ov == NULL)
		return ND_INVALID_PARAMETER;
	st = events_turn_on(a);
	if (st == ND_SUCCESS)
		st = nd_overlapped_begin(a, ov, __func__);
	if (st != ND_SUCCESS)
		return st;
	pthread_mutex_lock(&a->lock);
	if (!TAILQ_EMPTY(&a->events)) {
		nd_overlapped_end(ov, ND_SUCCESS);
		st = ND_PENDING;
	} else if (nd_gone(a)) {
		st = ND_DEVICE_REMOVED;
	} else {
		nd_waiters_add(&a->event_waiters, ov);
		st = ND_PENDING;
	}
	pthread_mutex_unlock(&a->lock);
	return nd_overlapped_issued(ov, st);
}

nd_status
nd_adapter_cancel_events(struct nd_adapter *a)
{
	pthread_mutex_lock(&a->lock);
	nd_waiters_end(&a->event_waiters, ND_CANCELED);
	pthread_mutex_unlock(&a->lock);
	return ND_SUCCESS;
}
