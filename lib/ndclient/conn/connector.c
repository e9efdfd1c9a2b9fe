/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connectors: making, canceling and closing. Their calls are in connect.c, accept.c and
 * disconnect.c, the daemon's events come in at connector_event.c. States and statuses follow the
 * table of rules R-CONN. Each call checks the state, marks the connector so that no second call
 * gets in, asks the daemon, and lets the control thread make the transition when the reply comes.
 * So the events that follow the reply find the new state.
 */
#include <stdlib.h>

#include "ndclient/conn/connector.h"
#include "ndclient/conn/listener.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/futex.h"
#include "ndclient/session/object.h"
#include "ndclient/session/overlapped.h"
#include "ndclient/session/waiters.h"

nd_status
nd_connector_create(struct nd_adapter *a, struct nd_connector **out)
{
	struct nd_connector *c;

	if (a == NULL || out == NULL)
		return ND_INVALID_PARAMETER;
	*out = NULL;
	if (nd_gone(a))
		return ND_DEVICE_REMOVED;
	c = calloc(1, sizeof(*c));
	if (c == NULL)
		return ND_NO_MEMORY;
	c->adapter = a;
	nd_object_open(&c->obj, &nd_connector_class, a);
	pthread_mutex_lock(&a->lock);
	TAILQ_INSERT_TAIL(&a->connectors, c, link);
	pthread_mutex_unlock(&a->lock);
	*out = c;
	return ND_SUCCESS;
}

void
nd_conn_set_id(struct nd_connector *c, uint32_t id)
{
	c->id = id;
	c->has_id = true;
	LIST_INSERT_HEAD(&c->adapter->conns[id % ND_CONN_BUCKETS], c, hash);
}

void
nd_conn_release_qp(struct nd_connector *c, enum nd_qp_state state)
{
	if (c->qp == NULL)
		return;
	__atomic_store_n(&c->qp->state, state, __ATOMIC_RELEASE);
	c->qp->connector = NULL;
	c->qp = NULL;
}

void
nd_conn_vanish(struct nd_connector *c)
{
	c->vanished = true;
	c->state = ND_CONN_DISCONNECTED;
}

void
nd_conn_drop_id(struct nd_connector *c)
{
	struct nd_adapter *a = c->adapter;
	bool had;

	pthread_mutex_lock(&a->lock);
	had = c->has_id;
	c->has_id = false;
	if (had)
		LIST_REMOVE(c, hash);
	pthread_mutex_unlock(&a->lock);
	if (had)
		(void)nd_object_forget(a, NDSH_MSG_CONN_DESTROY, c->id);
}

void
nd_conn_end_waiters(struct nd_connector *c, nd_status st)
{
	struct nd_overlapped *op = c->op;

	c->op = NULL;
	if (op != NULL)
		nd_overlapped_end(op, st);
	nd_waiters_end(&c->disconnect, st);
}

/* ---- cancel, close ------------------------------------------------------------------- */

/* Lock held. True: a connection attempt was under way and must be given up (R-CONN-20). */
static bool
connector_cancel(struct nd_connector *c)
{
	bool abandon = false;

	switch (c->state) {
	case ND_CONN_QUEUED:
		TAILQ_REMOVE(&c->listener->waiting, c, queued);
		c->listener = NULL;
		c->state = ND_CONN_IDLE;
		break;
	case ND_CONN_CONNECTING:
	case ND_CONN_REP_RECEIVED: /* nothing pends, but it is a way to abandon it (R-CONN-12) */
	case ND_CONN_REP_SENT:
		abandon = true;
		nd_conn_release_qp(c, ND_QP_DISCONNECTED);
		c->state = ND_CONN_DISCONNECTED;
		break;
	case ND_CONN_ACTIVE_DISC: /* no request waits any more; the daemon finishes by itself */
		c->state = ND_CONN_DISCONNECTED;
		break;
	default:
		break;
	}
	nd_conn_end_waiters(c, ND_CANCELED);
	return abandon;
}

nd_status
nd_connector_cancel(struct nd_connector *c)
{
	uint32_t calls;
	bool abandon;

	pthread_mutex_lock(&c->adapter->lock);
	while ((calls = c->calls) != 0) { /* also requests that have not been answered yet */
		pthread_mutex_unlock(&c->adapter->lock);
		(void)nd_futex_wait(&c->calls, calls, UINT64_MAX);
		pthread_mutex_lock(&c->adapter->lock);
	}
	abandon = connector_cancel(c);
	pthread_mutex_unlock(&c->adapter->lock);
	if (abandon)
		nd_conn_drop_id(c);
	return ND_SUCCESS;
}

static bool
connector_stop(struct nd_object *o)
{
	struct nd_connector *c = (struct nd_connector *)o;

	pthread_mutex_lock(&o->adapter->lock);
	(void)connector_cancel(c);
	nd_conn_release_qp(
		c, c->state < ND_CONN_CONNECTED ? ND_QP_UNCONNECTED : ND_QP_DISCONNECTED);
	TAILQ_REMOVE(&o->adapter->connectors, c, link);
	pthread_mutex_unlock(&o->adapter->lock);
	return false;
}

static void
connector_destroy(struct nd_object *o)
{
	struct nd_connector *c = (struct nd_connector *)o;

	nd_conn_drop_id(c);
	free(c);
}

const struct nd_class nd_connector_class = {.stop = connector_stop, .destroy = connector_destroy};

nd_status
nd_connector_close(struct nd_connector *c)
{
	return nd_close(c, NULL);
}
