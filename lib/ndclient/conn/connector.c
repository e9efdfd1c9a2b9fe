/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connectors: the calls. The daemon's events come in at connector_event.c. States and statuses
 * follow the table of rules R-CONN. Each call checks the state, marks the connector so that no
 * second call gets in, asks the daemon, and lets the control thread make the transition when the
 * reply comes. So the events that follow the reply find the new state.
 */
#include <stdlib.h>
#include <string.h>

#include "ndclient/conn/connector.h"
#include "ndclient/conn/endpoint.h"
#include "ndclient/conn/listener.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/address.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"
#include "ndclient/session/futex.h"
#include "ndclient/session/object.h"
#include "ndclient/session/overlapped.h"
#include "ndclient/session/waiters.h"

/* ---- small parts --------------------------------------------------------------------- */

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

/* Private data of at most max bytes into a message. */
static nd_status
put_private(const void *priv, uint32_t bytes, uint32_t max, uint8_t *to, uint32_t *count)
{
	if (bytes > max)
		return nd_fail(ND_INVALID_BUFFER_SIZE, "%u bytes of private data, of at most %u",
			bytes, max);
	if (priv == NULL && bytes > 0)
		return ND_ACCESS_VIOLATION;
	if (bytes > 0)
		memcpy(to, priv, bytes);
	*count = bytes;
	return ND_SUCCESS;
}

/* Values above the adapter's are silently lowered (R-CONN-09). */
static uint8_t
read_limit(uint32_t asked, uint32_t max)
{
	uint32_t limit = asked < max ? asked : max;

	return limit < 255 ? (uint8_t)limit : 255;
}

/* May this connector use that queue pair? (R-CONN-02); lock held. */
static nd_status
claim_qp(struct nd_connector *c, struct nd_qp *qp)
{
	if (qp->state == ND_QP_DATAGRAM)
		return nd_fail(ND_INVALID_DEVICE_REQUEST, "a queue pair of datagrams");
	if (qp->connector != NULL || qp->state != ND_QP_UNCONNECTED)
		return ND_CONNECTION_ACTIVE;
	c->qp = qp;
	qp->connector = c;
	return ND_SUCCESS;
}

struct pending {
	struct nd_connector *c;
	struct nd_overlapped *ov;
	nd_reply_hook *hook;
};

/* A thread that waits in nd_connector_cancel() may go on now. */
static nd_status
call_hook(void *arg, nd_status st, const void *reply)
{
	struct pending *p = arg;
	struct nd_connector *c = p->c;

	st = p->hook(p, st, reply);
	c->calls--;
	nd_futex_wake(&c->calls);
	return st;
}

/* An overlapped call; calls counts it already. The hook runs in any case; if it says success, ov
 * completes by it or later. */
static nd_status
connector_call(
	struct nd_adapter *a, struct ndsh_msg_hdr *h, struct nd_overlapped *ov, struct pending *p)
{
	nd_status st =
		nd_control_call(a, &(struct nd_request){.h = h, .hook = call_hook, .arg = p});

	return nd_overlapped_issued(ov, st == ND_SUCCESS ? ND_PENDING : st);
}

/* ---- connect ------------------------------------------------------------------------- */

static nd_status
connect_hook(void *arg, nd_status st, const void *reply)
{
	struct pending *p = arg;
	struct nd_connector *c = p->c;

	if (st == ND_SUCCESS) {
		if (!nd_conn_has_port(c))
			nd_conn_set_id(c, ((const struct ndsh_id_msg *)reply)->id);
		c->op = p->ov;
		return st;
	}
	nd_conn_release_qp(c, ND_QP_UNCONNECTED); /* R-CONN-03 */
	c->state = c->bound ? ND_CONN_BOUND : ND_CONN_IDLE;
	return st;
}

/* Lock held. */
static nd_status
begin_connect(struct nd_connector *c, struct nd_qp *qp, const struct ndsh_addr *dest)
{
	nd_status st;

	switch (c->state) {
	case ND_CONN_IDLE:
	case ND_CONN_BOUND:
		break;
	case ND_CONN_QUEUED:
	case ND_CONN_DISCONNECTED:
		return ND_INVALID_DEVICE_STATE;
	default:
		return ND_CONNECTION_ACTIVE;
	}
	st = claim_qp(c, qp);
	if (st != ND_SUCCESS)
		return st;
	if (!c->bound) {
		c->local = c->adapter->address;
		c->local.port = 0;
	}
	c->peer = *dest;
	c->reject_reason = 0;
	c->has_peer = c->has_priv = c->ended = false;
	c->state = ND_CONN_CONNECTING;
	c->calls++;
	return ND_SUCCESS;
}

nd_status
nd_connector_connect(struct nd_connector *c, struct nd_qp *qp, const struct sockaddr *dest,
	socklen_t dest_bytes, uint32_t inbound_reads, uint32_t outbound_reads, const void *priv,
	uint32_t priv_bytes, struct nd_overlapped *ov)
{
	struct nd_adapter *a = c->adapter;
	struct ndsh_connect m = {.h.type = NDSH_MSG_CONNECT};
	struct pending p = {.c = c, .ov = ov, .hook = connect_hook};
	bool stale;
	nd_status st;

	if (qp == NULL || qp->adapter != a || ov == NULL)
		return ND_INVALID_PARAMETER;
	if (!nd_address_from(&m.remote, dest, dest_bytes))
		return nd_fail(ND_INVALID_ADDRESS, "not an IPv4 or IPv6 address");
	if (nd_address_is_any(&m.remote)) /* R-CONN-05 */
		return nd_fail(ND_BAD_NETWORK_NAME, "the wildcard address is no destination");
	st = put_private(priv, priv_bytes, NDSH_CALLER_DATA_MAX, m.priv, &m.priv_bytes);
	if (st == ND_SUCCESS)
		st = nd_overlapped_begin(a, ov, __func__);
	if (st != ND_SUCCESS)
		return st;
	pthread_mutex_lock(&a->lock);
	st = begin_connect(c, qp, &m.remote);
	m.tos = (uint8_t)(c->dscp << 2 | c->ecn);
	m.local = c->local;
	m.local_kind = c->endpoint != NULL ? NDSH_LOCAL_SHARED
		       : c->bound	   ? NDSH_LOCAL_BOUND
					   : NDSH_LOCAL_OWN;
	m.local_id = c->endpoint != NULL ? c->endpoint->id : c->id;
	stale = c->has_id && !nd_conn_has_port(c);
	pthread_mutex_unlock(&a->lock);
	if (st != ND_SUCCESS)
		return nd_overlapped_issued(ov, st);
	if (stale) /* of an attempt that failed */
		nd_conn_drop_id(c);
	m.qp = qp->index;
	m.inbound_reads = read_limit(inbound_reads, a->info.max_inbound_reads);
	m.outbound_reads = read_limit(outbound_reads, a->info.max_outbound_reads);
	return connector_call(a, &m.h, ov, &p);
}

/* Set a field of the connection's packets, in the states that still allow it. */
static nd_status
set_path_field(struct nd_connector *c, uint8_t *field, uint32_t value, bool when_requested)
{
	nd_status st = ND_SUCCESS;

	pthread_mutex_lock(&c->adapter->lock);
	if (c->state == ND_CONN_IDLE || c->state == ND_CONN_BOUND ||
		(when_requested && c->state == ND_CONN_REQ_RECEIVED))
		*field = (uint8_t)value;
	else
		st = ND_CONNECTION_ACTIVE;
	pthread_mutex_unlock(&c->adapter->lock);
	return st;
}

nd_status
nd_connector_set_dscp(struct nd_connector *c, uint32_t dscp)
{
	if (c == NULL)
		return ND_INVALID_PARAMETER;
	if (dscp > ND_DSCP_MAX)
		return nd_fail(ND_INVALID_PARAMETER, "DSCP %u is above %u", dscp, ND_DSCP_MAX);
	return set_path_field(c, &c->dscp, dscp, false);
}

nd_status
nd_connector_set_ecn(struct nd_connector *c, uint32_t ecn)
{
	if (c == NULL)
		return ND_INVALID_PARAMETER;
	if (ecn > ND_ECN_ON)
		return nd_fail(ND_INVALID_PARAMETER, "%u is none of ND_ECN_*", ecn);
	if (c->adapter->abi_minor < NDSH_MINOR_ECN)
		return nd_fail(ND_NOT_SUPPORTED, "the daemon is too old to control congestion");
	return set_path_field(c, &c->ecn, ecn, true);
}

static nd_status
complete_hook(void *arg, nd_status st, const void *reply)
{
	struct pending *p = arg;
	struct nd_connector *c = p->c;

	(void)reply;
	if (st == ND_SUCCESS && c->state != ND_CONN_REP_RECEIVED)
		st = ND_CONNECTION_ABORTED; /* its end was told meanwhile */
	if (st != ND_SUCCESS) {
		nd_conn_release_qp(c, ND_QP_DISCONNECTED);
		c->state = ND_CONN_DISCONNECTED;
		return st;
	}
	c->state = ND_CONN_CONNECTED;
	if (c->qp != NULL)
		__atomic_store_n(&c->qp->state, ND_QP_CONNECTED, __ATOMIC_RELEASE);
	nd_overlapped_end(p->ov, ND_SUCCESS);
	return st;
}

nd_status
nd_connector_complete_connect(struct nd_connector *c, struct nd_overlapped *ov)
{
	struct nd_adapter *a = c->adapter;
	struct ndsh_id_msg m = {.h.type = NDSH_MSG_COMPLETE_CONNECT};
	struct pending p = {.c = c, .ov = ov, .hook = complete_hook};
	enum nd_conn_state state;
	nd_status st;

	if (ov == NULL)
		return ND_INVALID_PARAMETER;
	st = nd_overlapped_begin(a, ov, __func__);
	if (st != ND_SUCCESS)
		return st;
	pthread_mutex_lock(&a->lock);
	state = c->state;
	m.id = c->id;
	if (state == ND_CONN_REP_RECEIVED)
		c->calls++;
	pthread_mutex_unlock(&a->lock);
	if (state == ND_CONN_DISCONNECTED)
		return nd_overlapped_issued(ov, ND_CONNECTION_ABORTED);
	if (state != ND_CONN_REP_RECEIVED)
		return nd_overlapped_issued(ov, ND_CONNECTION_INVALID);
	return connector_call(a, &m.h, ov, &p);
}

/* ---- accept, reject ------------------------------------------------------------------ */

static nd_status
accept_hook(void *arg, nd_status st, const void *reply)
{
	struct pending *p = arg;
	struct nd_connector *c = p->c;
	bool over = st == ND_CONNECTION_ABORTED || st == ND_CONNECTION_INVALID ||
		    st == ND_DEVICE_REMOVED;

	(void)reply;
	if (st == ND_SUCCESS) {
		c->op = p->ov;
		return st;
	}
	nd_conn_release_qp(c, ND_QP_UNCONNECTED);
	c->state = over ? ND_CONN_DISCONNECTED : ND_CONN_REQ_RECEIVED;
	return st;
}

/* Lock held. */
static nd_status
begin_accept(struct nd_connector *c, struct nd_qp *qp)
{
	nd_status st;

	if (c->state == ND_CONN_DISCONNECTED)
		return ND_CONNECTION_ABORTED;
	if (c->state != ND_CONN_REQ_RECEIVED)
		return ND_CONNECTION_ACTIVE;
	st = claim_qp(c, qp);
	if (st != ND_SUCCESS)
		return st;
	c->state = ND_CONN_REP_SENT;
	c->calls++;
	return ND_SUCCESS;
}

nd_status
nd_connector_accept(struct nd_connector *c, struct nd_qp *qp, uint32_t inbound_reads,
	uint32_t outbound_reads, const void *priv, uint32_t priv_bytes, struct nd_overlapped *ov)
{
	struct nd_adapter *a = c->adapter;
	struct ndsh_accept m = {.h.type = NDSH_MSG_ACCEPT};
	struct pending p = {.c = c, .ov = ov, .hook = accept_hook};
	nd_status st;

	if (qp == NULL || qp->adapter != a || ov == NULL)
		return ND_INVALID_PARAMETER;
	st = put_private(priv, priv_bytes, a->info.max_callee_data, m.priv, &m.priv_bytes);
	if (st == ND_SUCCESS)
		st = nd_overlapped_begin(a, ov, __func__);
	if (st != ND_SUCCESS)
		return st;
	pthread_mutex_lock(&a->lock);
	st = begin_accept(c, qp);
	m.conn = c->id;
	m.ecn = c->ecn;
	pthread_mutex_unlock(&a->lock);
	if (st != ND_SUCCESS)
		return nd_overlapped_issued(ov, st);
	m.qp = qp->index;
	m.inbound_reads = read_limit(inbound_reads, a->info.max_inbound_reads);
	m.outbound_reads = read_limit(outbound_reads, a->info.max_outbound_reads);
	return connector_call(a, &m.h, ov, &p);
}

nd_status
nd_connector_reject(struct nd_connector *c, const void *priv, uint32_t priv_bytes)
{
	struct nd_adapter *a = c->adapter;
	struct ndsh_reject m = {.h.type = NDSH_MSG_REJECT};
	nd_status st;

	st = put_private(priv, priv_bytes, NDSH_REJECT_DATA_MAX, m.priv, &m.priv_bytes);
	if (st != ND_SUCCESS)
		return st;
	pthread_mutex_lock(&a->lock);
	if (c->state == ND_CONN_DISCONNECTED) {
		st = ND_CONNECTION_ABORTED;
	} else if (c->state != ND_CONN_REQ_RECEIVED && c->state != ND_CONN_REP_RECEIVED) {
		st = ND_CONNECTION_INVALID;
	} else {
		m.conn = c->id;
		nd_conn_release_qp(c, ND_QP_DISCONNECTED);
		c->state = ND_CONN_DISCONNECTED;
	}
	pthread_mutex_unlock(&a->lock);
	return st != ND_SUCCESS ? st : nd_control_call(a, &(struct nd_request){.h = &m.h});
}

/* ---- disconnect ---------------------------------------------------------------------- */

static nd_status
disconnect_hook(void *arg, nd_status st, const void *reply)
{
	struct pending *p = arg;
	struct nd_connector *c = p->c;

	(void)reply;
	if (st != ND_SUCCESS || c->ended) { /* nothing to wait for */
		c->state = ND_CONN_DISCONNECTED;
		if (st == ND_SUCCESS)
			nd_overlapped_end(p->ov, c->end_status);
		return st;
	}
	c->op = p->ov;
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
	struct pending p = {.c = c, .ov = ov, .hook = disconnect_hook};
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
	return st != ND_SUCCESS ? nd_overlapped_issued(ov, st) : connector_call(a, &m.h, ov, &p);
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
