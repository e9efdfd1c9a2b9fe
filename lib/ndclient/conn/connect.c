/* SPDX-License-Identifier: BSD-3-Clause */
/* Connectors: the active side. */
#include "ndclient/conn/connector.h"
#include "ndclient/conn/connector_call.h"
#include "ndclient/conn/endpoint.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/address.h"
#include "ndclient/session/error.h"
#include "ndclient/session/overlapped.h"
#include "ndclient/session/private_data.h"

static nd_status
connect_hook(void *arg, nd_status st, const void *reply)
{
	struct nd_conn_call *p = arg;
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
	st = nd_conn_claim_qp(c, qp);
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
	struct nd_conn_call p = {.c = c, .ov = ov, .hook = connect_hook};
	bool stale;
	nd_status st;

	if (qp == NULL || qp->adapter != a || ov == NULL)
		return ND_INVALID_PARAMETER;
	if (!nd_address_from(&m.remote, dest, dest_bytes))
		return nd_fail(ND_INVALID_ADDRESS, "not an IPv4 or IPv6 address");
	if (nd_address_is_any(&m.remote)) /* R-CONN-05 */
		return nd_fail(ND_BAD_NETWORK_NAME, "the wildcard address is no destination");
	st = nd_private_data_put(priv, priv_bytes, NDSH_CALLER_DATA_MAX, m.priv, &m.priv_bytes);
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
	m.inbound_reads = nd_conn_read_limit(inbound_reads, a->info.max_inbound_reads);
	m.outbound_reads = nd_conn_read_limit(outbound_reads, a->info.max_outbound_reads);
	return nd_conn_call(a, &m.h, ov, &p);
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
	struct nd_conn_call *p = arg;
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
	struct nd_conn_call p = {.c = c, .ov = ov, .hook = complete_hook};
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
	return nd_conn_call(a, &m.h, ov, &p);
}
