/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners. A connection request waits here for a connector, or a connector for a request. */
#include <stdlib.h>
#include <string.h>

#include "ndclient/conn/connector.h"
#include "ndclient/conn/connector_event.h"
#include "ndclient/conn/listener.h"
#include "ndclient/conn/listening.h"
#include "ndclient/conn/offer.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/callbacks.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"
#include "ndclient/session/object.h"
#include "ndclient/session/overlapped.h"

nd_status
nd_listener_create(struct nd_adapter *a, struct nd_listener **out)
{
	struct nd_listener *l;

	if (a == NULL || out == NULL)
		return ND_INVALID_PARAMETER;
	*out = NULL;
	if (nd_gone(a))
		return ND_DEVICE_REMOVED;
	l = calloc(1, sizeof(*l));
	if (l == NULL)
		return ND_NO_MEMORY;
	l->adapter = a;
	STAILQ_INIT(&l->requests);
	TAILQ_INIT(&l->waiting);
	nd_object_open(&l->obj, &nd_listener_class, a);
	pthread_mutex_lock(&a->lock);
	TAILQ_INSERT_TAIL(&a->listeners, l, link);
	pthread_mutex_unlock(&a->lock);
	*out = l;
	return ND_SUCCESS;
}

/* ---- listening ----------------------------------------------------------------------- */

nd_status
nd_listener_bind(struct nd_listener *l, const struct sockaddr *addr, socklen_t bytes)
{
	return nd_listening_bind(l->adapter, &l->at, addr, bytes);
}

nd_status
nd_listener_listen(
	struct nd_listener *l, const struct sockaddr *addr, socklen_t bytes, uint32_t backlog)
{
	if (addr == NULL)
		return nd_listening_listen(l->adapter, &l->at, backlog);
	return nd_listening_start(
		l->adapter, &l->at, NDSH_MSG_LISTENER_CREATE, addr, bytes, backlog);
}

nd_status
nd_listener_local_address(struct nd_listener *l, struct sockaddr *addr, socklen_t *bytes)
{
	return nd_listening_address(l->adapter, &l->at, addr, bytes);
}

static nd_status
set_pause(struct nd_listener *l, uint32_t pause)
{
	struct nd_adapter *a = l->adapter;
	struct ndsh_listener_pause m = {.h.type = NDSH_MSG_LISTENER_PAUSE, .pause = pause};
	bool listening;

	if (a->abi_minor < NDSH_MINOR_PAUSE)
		return nd_fail(ND_NOT_SUPPORTED, "the daemon is too old for nd_listener_pause()");
	pthread_mutex_lock(&a->lock);
	listening = l->at.on;
	m.listener = l->at.id;
	pthread_mutex_unlock(&a->lock);
	if (!listening)
		return ND_INVALID_DEVICE_STATE;
	return nd_control_call(a, &(struct nd_request){.h = &m.h});
}

nd_status
nd_listener_pause(struct nd_listener *l)
{
	return set_pause(l, 1);
}

nd_status
nd_listener_resume(struct nd_listener *l)
{
	return set_pause(l, 0);
}

/* ---- requests ------------------------------------------------------------------------ */

/* Lock held. First come, first served on both sides (R-LSN-04). */
static nd_status
get_request(struct nd_listener *l, struct nd_connector *c, struct nd_overlapped *ov)
{
	struct nd_conn_request *r = STAILQ_FIRST(&l->requests);

	if (nd_gone(l->adapter))
		return ND_DEVICE_REMOVED;
	if (!l->at.on || l->callback != NULL)
		return ND_INVALID_DEVICE_STATE;
	if (c->state != ND_CONN_IDLE)
		return ND_CONNECTION_ACTIVE;
	c->op = ov;
	if (r != NULL) {
		STAILQ_REMOVE_HEAD(&l->requests, next);
		nd_conn_take_request(l, c, r);
		free(r);
	} else {
		c->state = ND_CONN_QUEUED;
		c->listener = l;
		TAILQ_INSERT_TAIL(&l->waiting, c, queued);
	}
	return ND_PENDING;
}

nd_status
nd_listener_get_request(struct nd_listener *l, struct nd_connector *c, struct nd_overlapped *ov)
{
	nd_status st;

	if (c == NULL || c->adapter != l->adapter)
		return ND_INVALID_PARAMETER_1;
	if (ov == NULL)
		return ND_INVALID_PARAMETER_2;
	st = nd_overlapped_begin(l->adapter, ov, __func__);
	if (st != ND_SUCCESS)
		return st;
	pthread_mutex_lock(&l->adapter->lock);
	st = get_request(l, c, ov);
	pthread_mutex_unlock(&l->adapter->lock);
	return nd_overlapped_issued(ov, st);
}

void
nd_listener_request(struct nd_adapter *a, const struct ndsh_ev_conn *ev)
{
	struct nd_listener *l;
	struct nd_conn_request *r;
	struct nd_connector *c;

	TAILQ_FOREACH (l, &a->listeners, link)
		if (l->at.on && l->at.id == ev->listener)
			break;
	if (l == NULL)
		return;
	c = TAILQ_FIRST(&l->waiting);
	if (c != NULL) {
		TAILQ_REMOVE(&l->waiting, c, queued);
		nd_conn_take_request(l, c, &(struct nd_conn_request){.ev = *ev});
		return;
	}
	r = calloc(1, sizeof(*r));
	if (r == NULL) /* the peer times out */
		return;
	r->ev = *ev;
	STAILQ_INSERT_TAIL(&l->requests, r, next);
	nd_listener_kick(l);
}

void
nd_listener_request_vanished(struct nd_adapter *a, uint32_t conn)
{
	struct nd_listener *l;
	struct nd_conn_request *r;

	TAILQ_FOREACH (l, &a->listeners, link)
		STAILQ_FOREACH (r, &l->requests, next)
			if (r->ev.conn == conn)
				r->vanished = true;
}

/* ---- cancel, close ------------------------------------------------------------------- */

/* The connectors return to idle (R-CONN-20); lock held. */
static void
listener_cancel(struct nd_listener *l)
{
	struct nd_connector *c;

	while ((c = TAILQ_FIRST(&l->waiting)) != NULL) {
		TAILQ_REMOVE(&l->waiting, c, queued);
		c->listener = NULL;
		c->state = ND_CONN_IDLE;
		nd_conn_end_waiters(c, ND_CANCELED);
	}
}

nd_status
nd_listener_cancel(struct nd_listener *l)
{
	pthread_mutex_lock(&l->adapter->lock);
	listener_cancel(l);
	pthread_mutex_unlock(&l->adapter->lock);
	return ND_SUCCESS;
}

/* Until the daemon has answered, requests may still come; then those that the application has not
 * taken are rejected (R-LSN-05). */
static bool
listener_stop(struct nd_object *o)
{
	struct nd_listener *l = (struct nd_listener *)o;
	struct nd_adapter *a = o->adapter;
	struct nd_conn_request *r;

	(void)nd_listener_cancel(l);
	nd_listening_stop(a, &l->at);
	pthread_mutex_lock(&a->lock);
	TAILQ_REMOVE(&a->listeners, l, link);
	pthread_mutex_unlock(&a->lock);
	while ((r = STAILQ_FIRST(&l->requests)) != NULL) {
		STAILQ_REMOVE_HEAD(&l->requests, next);
		(void)nd_object_forget(a, NDSH_MSG_CONN_DESTROY, r->ev.conn);
		free(r);
	}
	return nd_callback_outlives(o);
}

static void
listener_destroy(struct nd_object *o)
{
	free((struct nd_listener *)o);
}

const struct nd_class nd_listener_class = {.stop = listener_stop, .destroy = listener_destroy};

nd_status
nd_listener_close(struct nd_listener *l)
{
	return nd_close(l, NULL);
}
