/* SPDX-License-Identifier: BSD-3-Clause */
/* Connectors: the daemon's events, and the application's queries of a connection. Events run in the
 * control thread with nd_adapter.lock held. */
#include <string.h>

#include "ndclient/conn/connector.h"
#include "ndclient/conn/connector_event.h"
#include "ndclient/conn/listener.h"
#include "ndclient/face/profile.h"
#include "ndclient/face/status.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/address.h"
#include "ndclient/session/object.h"
#include "ndclient/session/overlapped.h"
#include "ndclient/session/waiters.h"

static struct nd_connector *
find_connector(struct nd_adapter *a, uint32_t id)
{
	struct nd_connector *c;

	LIST_FOREACH (c, &a->conns[id % ND_CONN_BUCKETS], hash)
		if (c->id == id)
			return c;
	return NULL;
}

static void
connector_complete(struct nd_connector *c, nd_status st)
{
	struct nd_overlapped *op = c->op;

	c->op = NULL;
	if (op != NULL)
		nd_overlapped_end(op, st);
}

static void
keep_private(struct nd_connector *c, const struct ndsh_ev_conn *ev)
{
	c->priv_bytes = ev->priv_bytes < sizeof(c->priv) ? ev->priv_bytes : sizeof(c->priv);
	memcpy(c->priv, ev->priv, c->priv_bytes);
	c->has_priv = true;
}

static void
keep_peer(struct nd_connector *c, const struct ndsh_ev_conn *ev)
{
	c->local = ev->local;
	c->peer = ev->remote;
	c->inbound_reads = ev->inbound_reads;
	c->outbound_reads = ev->outbound_reads;
	c->has_peer = true;
	keep_private(c, ev);
}

void
nd_conn_take_request(struct nd_listener *l, struct nd_connector *c, const struct nd_conn_request *r)
{
	nd_object_rest(&c->obj, &l->obj);
	nd_conn_set_id(c, r->ev.conn);
	keep_peer(c, &r->ev);
	c->listener = NULL;
	c->state = ND_CONN_REQ_RECEIVED;
	if (r->vanished)
		nd_conn_vanish(c);
	connector_complete(c, ND_SUCCESS);
}

/* After these the same connector may try again (R-CONN-03). */
static bool
may_retry(nd_status st)
{
	return st == ND_CONNECTION_REFUSED || st == ND_NETWORK_UNREACHABLE ||
	       st == ND_HOST_UNREACHABLE || st == ND_IO_TIMEOUT;
}

/* A queue pair that was closed meanwhile has canceled the call: the daemon reports an abort. */
static nd_status
outcome_of(const struct nd_connector *c, nd_status st)
{
	return st == ND_CONNECTION_ABORTED && c->qp == NULL ? ND_CANCELED : st;
}

static void
on_reply(struct nd_connector *c, const struct ndsh_ev_conn *ev)
{
	nd_status st = outcome_of(c, nd_status_of_daemon(ev->h.status));

	if (c->state != ND_CONN_CONNECTING)
		return;
	if (st == ND_SUCCESS) {
		keep_peer(c, ev);
		c->state = ND_CONN_REP_RECEIVED;
	} else {
		c->reject_reason = ev->reject_reason;
		if (st == ND_CONNECTION_REFUSED) /* R-CONN-04 */
			keep_private(c, ev);
		nd_conn_release_qp(c, ND_QP_UNCONNECTED);
		if (!may_retry(st))
			c->state = ND_CONN_DISCONNECTED;
		else
			c->state = c->bound ? ND_CONN_BOUND : ND_CONN_IDLE;
	}
	connector_complete(c, st);
}

static void
on_established(struct nd_connector *c, const struct ndsh_ev_conn *ev)
{
	nd_status st = outcome_of(c, nd_status_of_daemon(ev->h.status));

	if (c->state != ND_CONN_REP_SENT)
		return;
	if (st == ND_SUCCESS) {
		c->inbound_reads = ev->inbound_reads;
		c->outbound_reads = ev->outbound_reads;
		c->state = ND_CONN_CONNECTED;
		if (c->qp != NULL)
			__atomic_store_n(&c->qp->state, ND_QP_CONNECTED, __ATOMIC_RELEASE);
	} else {
		c->reject_reason = ev->reject_reason;
		nd_conn_release_qp(c, ND_QP_DISCONNECTED);
		c->state = ND_CONN_DISCONNECTED;
	}
	connector_complete(c, nd_profile_accept_status(c->adapter->profile, st));
}

static void
on_disconnected(struct nd_connector *c, const struct ndsh_ev_conn *ev)
{
	nd_status st = nd_status_of_daemon(ev->h.status);

	switch (c->state) {
	case ND_CONN_REQ_RECEIVED:
		nd_conn_vanish(c);
		break;
	case ND_CONN_REP_RECEIVED:
		nd_conn_release_qp(c, ND_QP_DISCONNECTED);
		c->state = ND_CONN_DISCONNECTED;
		break;
	case ND_CONN_CONNECTED: /* an abort is reported in the same way (R-DISC-11) */
		c->state = ND_CONN_PASSIVE_DISC;
		nd_waiters_end(&c->disconnect, ND_SUCCESS);
		break;
	case ND_CONN_ACTIVE_DISC:
		/* Our disconnect is done, or has crossed with the peer's: that is a success too. */
		c->ended = true;
		c->end_status = st == ND_CONNECTION_ABORTED ? ND_SUCCESS : st;
		if (c->op != NULL)
			nd_conn_disconnected(c);
		break;
	default:
		break;
	}
}

void
nd_conn_event(struct nd_adapter *a, const struct ndsh_ev_conn *ev)
{
	struct nd_connector *c = find_connector(a, ev->conn);

	if (c == NULL) { /* still at its listener, or closed here while the event was on its way */
		if (ev->h.type == NDSH_EV_CONN_DISCONNECTED)
			nd_listener_request_vanished(a, ev->conn);
		return;
	}
	switch (ev->h.type) {
	case NDSH_EV_CONN_REPLY:
		on_reply(c, ev);
		break;
	case NDSH_EV_CONN_ESTABLISHED:
		on_established(c, ev);
		break;
	case NDSH_EV_CONN_DISCONNECTED:
		on_disconnected(c, ev);
		break;
	default:
		break;
	}
}

/* ---- questions ----------------------------------------------------------------------- */

nd_status
nd_connector_read_limits(struct nd_connector *c, uint32_t *inbound, uint32_t *outbound)
{
	nd_status st = ND_CONNECTION_INVALID;

	pthread_mutex_lock(&c->adapter->lock);
	if (c->has_peer) {
		if (inbound != NULL)
			*inbound = c->inbound_reads;
		if (outbound != NULL)
			*outbound = c->outbound_reads;
		st = ND_SUCCESS;
	}
	pthread_mutex_unlock(&c->adapter->lock);
	return st;
}

nd_status
nd_connector_private_data(struct nd_connector *c, void *buf, uint32_t *bytes)
{
	nd_status st = ND_CONNECTION_INVALID;

	if (bytes == NULL)
		return ND_INVALID_PARAMETER;
	pthread_mutex_lock(&c->adapter->lock);
	if (c->vanished) {
		st = ND_CONNECTION_ABORTED; /* R-CONN-21 */
	} else if (c->has_priv) {	    /* R-CONN-08 */
		uint32_t room = buf != NULL ? *bytes : 0;

		if (room > 0)
			memcpy(buf, c->priv, room < c->priv_bytes ? room : c->priv_bytes);
		*bytes = c->priv_bytes;
		st = room < c->priv_bytes ? ND_BUFFER_OVERFLOW : ND_SUCCESS;
	}
	pthread_mutex_unlock(&c->adapter->lock);
	return st;
}

nd_status
nd_connector_local_address(struct nd_connector *c, struct sockaddr *addr, socklen_t *bytes)
{
	nd_status st = ND_CONNECTION_INVALID;

	pthread_mutex_lock(&c->adapter->lock);
	if (c->bound || c->has_peer)
		st = nd_address_give(&c->local, addr, bytes);
	pthread_mutex_unlock(&c->adapter->lock);
	return st;
}

nd_status
nd_connector_peer_address(struct nd_connector *c, struct sockaddr *addr, socklen_t *bytes)
{
	nd_status st = ND_CONNECTION_INVALID;

	pthread_mutex_lock(&c->adapter->lock);
	if (c->has_peer)
		st = nd_address_give(&c->peer, addr, bytes);
	pthread_mutex_unlock(&c->adapter->lock);
	return st;
}

uint32_t
nd_connector_reject_reason(const struct nd_connector *c)
{
	uint32_t reason;

	pthread_mutex_lock(&c->adapter->lock);
	reason = c->reject_reason;
	pthread_mutex_unlock(&c->adapter->lock);
	return reason;
}
