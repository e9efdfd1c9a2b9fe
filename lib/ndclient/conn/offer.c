/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connection requests by callback, as NDK gives them (R-LSN-06): one for each, with a connector
 * that is made for it. They run in the callbacks' thread (session/callbacks.c), which runs one
 * callback at a time.
 */
#include <stdlib.h>

#include "ndclient/conn/connector.h"
#include "ndclient/conn/connector_event.h"
#include "ndclient/conn/listener.h"
#include "ndclient/conn/offer.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/callbacks.h"
#include "ndclient/session/fd.h"
#include "ndclient/session/object.h"

void
nd_listener_kick(struct nd_listener *l)
{
	if (l->callback != NULL)
		nd_fd_wake(l->adapter->callbacks.offer_fd);
}

/* A listener whose callback is owed; lock held. The descriptor stays readable until there is none,
 * so that the queues' callbacks run in between. */
static struct nd_listener *
find_offer(struct nd_adapter *a)
{
	struct nd_listener *l;

	TAILQ_FOREACH (l, &a->listeners, link)
		if (l->callback != NULL && !STAILQ_EMPTY(&l->requests) && !nd_gone(a))
			return l;
	(void)nd_drain(a->callbacks.offer_fd);
	return NULL;
}

static bool
offer_waits(struct nd_adapter *a)
{
	bool waits;

	pthread_mutex_lock(&a->lock);
	waits = find_offer(a) != NULL;
	pthread_mutex_unlock(&a->lock);
	return waits;
}

/* Put the oldest request into c (NULL: there is no memory for one, and the request is refused). The
 * lock is held all the time: what becomes of the request is told to its listener or to c. */
static struct nd_listener *
take_offer(struct nd_adapter *a, struct nd_connector *c)
{
	struct nd_conn_request *r = NULL;
	struct nd_listener *l;

	pthread_mutex_lock(&a->lock);
	l = find_offer(a);
	if (l != NULL) {
		r = STAILQ_FIRST(&l->requests);
		STAILQ_REMOVE_HEAD(&l->requests, next);
		nd_callback_enter(&l->obj);
		if (c != NULL)
			nd_conn_take_request(l, c, r);
	}
	pthread_mutex_unlock(&a->lock);
	if (r != NULL && c == NULL)
		(void)nd_object_forget(a, NDSH_MSG_CONN_DESTROY, r->ev.conn);
	free(r);
	return l;
}

bool
nd_listener_call_back(struct nd_adapter *a)
{
	struct nd_connector *c = NULL;
	struct nd_listener *l;

	if (!offer_waits(a))
		return false;
	(void)nd_connector_create(a, &c);
	l = take_offer(a, c);
	if (l == NULL) { /* it was closed meanwhile */
		if (c != NULL)
			(void)nd_connector_close(c);
		return false;
	}
	if (c != NULL) {
		nd_callback_mark(true);
		l->callback(l->callback_context, c);
		nd_callback_mark(false);
	}
	nd_callback_leave(&l->obj);
	return true;
}

nd_status
nd_listener_set_callback(struct nd_listener *l, nd_connect_callback callback, void *context)
{
	struct nd_adapter *a = l->adapter;
	nd_status st = ND_SUCCESS;

	if (callback == NULL)
		return ND_INVALID_PARAMETER_2;
	pthread_mutex_lock(&a->lock);
	if (nd_gone(a)) {
		st = ND_DEVICE_REMOVED;
	} else if (l->callback != NULL || !TAILQ_EMPTY(&l->waiting)) {
		st = ND_INVALID_DEVICE_STATE;
	} else if (!nd_callbacks_start(a)) {
		st = ND_INSUFFICIENT_RESOURCES;
	} else {
		l->callback_context = context;
		l->callback = callback;
		nd_listener_kick(l);
	}
	pthread_mutex_unlock(&a->lock);
	return st;
}
