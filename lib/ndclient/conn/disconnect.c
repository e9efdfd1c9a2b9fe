/* SPDX-License-Identifier: BSD-3-Clause */
/* Connectors: the end of a connection. */
#include "ndclient/conn/connector.h"
#include "ndclient/conn/connector_call.h"
#include "ndclient/mem/mover.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/overlapped.h"
#include "ndclient/session/waiters.h"

/* What the daemon has asked to be copied, before it stopped the queue pair and said so, is copied
 * before the application has its memory back (R-DISC-02). */
void
nd_conn_disconnected(struct nd_connector *c)
{
	struct nd_overlapped *ov = c->op;

	c->state = ND_CONN_DISCONNECTED;
	c->op = NULL;
	nd_mover_settle(c->adapter);
	nd_overlapped_end(ov, c->end_status);
}

static nd_status
disconnect_hook(void *arg, nd_status st, const void *reply)
{
	struct nd_conn_call *p = arg;
	struct nd_connector *c = p->c;

	(void)reply;
	if (st == ND_SUCCESS)
		c->op = p->ov;
	else
		c->state = ND_CONN_DISCONNECTED;
	if (st == ND_SUCCESS && c->ended) /* nothing to wait for */
		nd_conn_disconnected(c);
	return st;
}

/* Lock held. */
static nd_status
begin_disconnect(struct nd_connector *c)
{
	if (c->state == ND_CONN_ACTIVE_DISC)
		return ND_INVALID_DEVICE_STATE;
	if (c->state != ND_CONN_CONNECTED && c->state != ND_CONN_PASSIVE_DISC)
		return ND_CONNECTION_INVALID;
	c->ended = c->state == ND_CONN_PASSIVE_DISC;
	c->end_status = ND_SUCCESS;
	c->state = ND_CONN_ACTIVE_DISC;
	if (c->qp != NULL)
		__atomic_store_n(&c->qp->state, ND_QP_DISCONNECTED, __ATOMIC_RELEASE);
	nd_waiters_end(&c->disconnect, ND_CONNECTION_DISCONNECTED); /* R-DISC-06 */
	c->calls++;
	return ND_SUCCESS;
}

nd_status
nd_connector_disconnect(struct nd_connector *c, struct nd_overlapped *ov)
{
	struct nd_adapter *a = c->adapter;
	struct ndsh_id_msg m = {.h.type = NDSH_MSG_DISCONNECT};
	struct nd_conn_call p = {.c = c, .ov = ov, .hook = disconnect_hook};
	nd_status st;

	if (ov == NULL)
		return ND_INVALID_PARAMETER;
	st = nd_overlapped_begin(a, ov, __func__);
	if (st != ND_SUCCESS)
		return st;
	pthread_mutex_lock(&a->lock);
	st = begin_disconnect(c);
	m.id = c->id;
	pthread_mutex_unlock(&a->lock);
	return st != ND_SUCCESS ? nd_overlapped_issued(ov, st) : nd_conn_call(a, &m.h, ov, &p);
}

nd_status
nd_connector_notify_disconnect(struct nd_connector *c, struct nd_overlapped *ov)
{
	struct nd_adapter *a = c->adapter;
	nd_status st;

	if (ov == NULL)
		return ND_INVALID_PARAMETER;
	st = nd_overlapped_begin(a, ov, __func__);
	if (st != ND_SUCCESS)
		return st;
	st = ND_PENDING;
	pthread_mutex_lock(&a->lock);
	if (nd_gone(a)) {
		st = ND_DEVICE_REMOVED;
	} else if (c->state >= ND_CONN_CONNECTED) {
		nd_waiters_add(&c->disconnect, ov);
		if (c->state == ND_CONN_PASSIVE_DISC) /* R-DISC-07 */
			nd_waiters_end(&c->disconnect, ND_SUCCESS);
		else if (c->state != ND_CONN_CONNECTED)
			nd_waiters_end(&c->disconnect, ND_CONNECTION_DISCONNECTED);
	} else {
		st = ND_CONNECTION_INVALID;
	}
	pthread_mutex_unlock(&a->lock);
	return nd_overlapped_issued(ov, st);
}
