/* SPDX-License-Identifier: BSD-3-Clause */
/* Connectors: the passive side. */
#include "ndclient/conn/connector.h"
#include "ndclient/conn/connector_call.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/control.h"
#include "ndclient/session/overlapped.h"
#include "ndclient/session/private_data.h"

static nd_status
accept_hook(void *arg, nd_status st, const void *reply)
{
	struct nd_conn_call *p = arg;
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
	if (st == ND_CONNECTION_ABORTED)
		nd_conn_vanish(c);
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
	st = nd_conn_claim_qp(c, qp);
	if (st != ND_SUCCESS)
		return st;
	qp->accept_mark = __atomic_load_n(&qp->rq_freed, __ATOMIC_ACQUIRE);
	__atomic_store_n(&qp->state, ND_QP_ACCEPTING, __ATOMIC_RELEASE);
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
	struct nd_conn_call p = {.c = c, .ov = ov, .hook = accept_hook};
	nd_status st;

	if (qp == NULL || qp->adapter != a || ov == NULL)
		return ND_INVALID_PARAMETER;
	st = nd_private_data_put(priv, priv_bytes, a->info.max_callee_data, m.priv, &m.priv_bytes);
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
	m.inbound_reads = nd_conn_read_limit(inbound_reads, a->info.max_inbound_reads);
	m.outbound_reads = nd_conn_read_limit(outbound_reads, a->info.max_outbound_reads);
	return nd_conn_call(a, &m.h, ov, &p);
}

nd_status
nd_connector_reject(struct nd_connector *c, const void *priv, uint32_t priv_bytes)
{
	struct nd_adapter *a = c->adapter;
	struct ndsh_reject m = {.h.type = NDSH_MSG_REJECT};
	nd_status st;

	st = nd_private_data_put(priv, priv_bytes, NDSH_REJECT_DATA_MAX, m.priv, &m.priv_bytes);
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
