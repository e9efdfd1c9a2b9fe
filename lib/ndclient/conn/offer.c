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

/* The oldest request of a listener that has a callback. The descriptor stays readable until there
 * is none, so that the queues' callbacks run in between. */
static struct nd_conn_request *
take_offer(struct nd_adapter *a, struct nd_listener **listener)
{
	struct nd_conn_request *r = NULL;
	struct nd_listener *l;

	pthread_mutex_lock(&a->lock);
	TAILQ_FOREACH (l, &a->listeners, link)
		if (l->callback != NULL && !STAILQ_EMPTY(&l->requests))
			break;
	if (l != NULL && !nd_gone(a)) {
		r = STAILQ_FIRST(&l->requests);
		STAILQ_REMOVE_HEAD(&l->requests, next);
		nd_callback_enter(&l->obj);
		*listener = l;
	} else {
		(void)nd_drain(a->callbacks.offer_fd);
	}
	pthread_mutex_unlock(&a->lock);
	return r;
}

/* Without memory for a connector the request is refused. */
static struct nd_connector *
connector_for(struct nd_listener *l, const struct ndsh_ev_conn *ev)
{
	struct nd_adapter *a = l->adapter;
	struct nd_connector *c;

	if (nd_connector_create(a, &c) != ND_SUCCESS) {
		(void)nd_object_forget(a, NDSH_MSG_CONN_DESTROY, ev->conn);
		return NULL;
	}
	pthread_mutex_lock(&a->lock);
	nd_conn_take_request(l, c, ev);
	pthread_mutex_unlock(&a->lock);
	return c;
}

bool
nd_listener_call_back(struct nd_adapter *a)
{
	struct nd_listener *l = NULL;
	struct nd_conn_request *r = take_offer(a, &l);
	struct nd_connector *c;

	if (r == NULL)
		return false;
	c = connector_for(l, &r->ev);
	free(r);
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
