/* SPDX-License-Identifier: BSD-3-Clause */
/* Connect, accept, reject, disconnect. */
#include <errno.h>
#include <string.h>

#include "ndclient/session/adapter.h"
#include "ndclient/session/control.h"
#include "ndverbs/cm/cm.h"
#include "ndverbs/errors.h"
#include "ndverbs/permit.h"

#define REJECT_BY_CONSUMER 28

static void
fill_values(struct ndsh_cm_values *v, const struct cm_id *id, const struct rdma_ucm_conn_param *p)
{
	*v = (struct ndsh_cm_values){
		.psn = id->psn,
		.inbound_reads = p->responder_resources,
		.outbound_reads = p->initiator_depth,
		.retries = p->retry_count < 7 ? p->retry_count : 7,
		.rnr_retries = p->rnr_retry_count < 7 ? p->rnr_retry_count : 7,
		.srq = p->srq != 0,
	};
}

struct entering {
	struct cm_id *id;
	struct cm_session *session;
};

/* In the control thread, so that the event which may follow finds it. */
static nd_status
connect_hook(void *arg, nd_status st, const void *reply)
{
	struct entering *e = arg;

	pthread_mutex_lock(&cm_lock);
	if (st == ND_SUCCESS)
		cm_session_enter(e->session, e->id, ((const struct ndsh_id_msg *)reply)->id);
	else
		cm_set_state(e->id, CM_ROUTE);
	pthread_mutex_unlock(&cm_lock);
	return st;
}

int
cm_connect(struct cm_id *id, const struct rdma_ucm_conn_param *p)
{
	struct ndsh_cm_connect m = {.h.type = NDSH_MSG_CM_CONNECT, .remote = id->remote};
	const struct cm_port *port = LIST_FIRST(&id->ports);
	struct entering e = {.id = id};
	int err;

	if (cm_state(id) != CM_ROUTE || !p->valid || p->private_data_len > sizeof(m.priv))
		return EINVAL;
	err = ndv_permit(p->qp_num, &m.permit);
	if (err != 0)
		return err;
	e.session = port->session;
	m.listener = port->listener;
	fill_values(&m.own, id, p);
	m.tos = id->tos & 0xfc;
	m.priv_bytes = p->private_data_len;
	memcpy(m.priv, p->private_data, p->private_data_len);
	pthread_mutex_lock(&cm_lock);
	id->peer.peer.retries = m.own.retries;
	cm_set_state(id, CM_CONNECTING);
	pthread_mutex_unlock(&cm_lock);
	return ndv_errno(nd_control_call(e.session->adapter,
		&(struct nd_request){.h = &m.h, .hook = connect_hook, .arg = &e}));
}

static nd_status
accept_hook(void *arg, nd_status st, const void *reply)
{
	struct cm_id *id = arg;

	(void)reply;
	pthread_mutex_lock(&cm_lock);
	if (st == ND_SUCCESS)
		cm_set_state(id, CM_ACCEPTED);
	else
		id->uid = 0;
	pthread_mutex_unlock(&cm_lock);
	return st;
}

static int
accept_request(struct cm_id *id, const struct rdma_ucm_conn_param *p, uint64_t uid)
{
	struct ndsh_cm_accept m = {.h.type = NDSH_MSG_CM_ACCEPT, .conn = id->conn};
	int err;

	if (p->private_data_len > sizeof(m.priv))
		return EINVAL;
	err = ndv_permit(p->qp_num, &m.permit);
	if (err != 0)
		return err;
	fill_values(&m.own, id, p);
	m.priv_bytes = p->private_data_len;
	memcpy(m.priv, p->private_data, p->private_data_len);
	id->uid = uid;
	return ndv_errno(nd_control_call(id->session->adapter,
		&(struct nd_request){.h = &m.h, .hook = accept_hook, .arg = id}));
}

/* Of the active side: its queue pair is ready. */
static int
complete_connect(struct cm_id *id)
{
	int err =
		ndv_errno(nd_control_id(id->session->adapter, NDSH_MSG_COMPLETE_CONNECT, id->conn));

	pthread_mutex_lock(&cm_lock);
	if (cm_state(id) == CM_REPLIED)
		cm_set_state(id, err == 0 ? CM_ESTABLISHED : CM_OVER);
	pthread_mutex_unlock(&cm_lock);
	return err;
}

int
cm_accept(struct cm_id *id, const struct rdma_ucm_conn_param *p, uint64_t uid)
{
	if (p->valid && cm_state(id) == CM_REQUESTED)
		return accept_request(id, p, uid);
	return cm_state(id) == CM_REPLIED ? complete_connect(id) : EINVAL;
}

int
cm_reject(struct cm_id *id, const struct rdma_ucm_reject *r)
{
	struct ndsh_reject m = {.h.type = NDSH_MSG_REJECT, .conn = id->conn};

	if ((cm_state(id) != CM_REQUESTED && cm_state(id) != CM_REPLIED) ||
		r->private_data_len > sizeof(m.priv) ||
		(r->reason != 0 && r->reason != REJECT_BY_CONSUMER))
		return EINVAL;
	m.priv_bytes = r->private_data_len;
	memcpy(m.priv, r->private_data, r->private_data_len);
	cm_set_state(id, CM_OVER);
	return ndv_errno(nd_control_call(id->session->adapter, &(struct nd_request){.h = &m.h}));
}

/* What has ended already ends well. */
int
cm_disconnect(struct cm_id *id)
{
	if (id->session == NULL)
		return EINVAL;
	return ndv_errno(nd_control_id(id->session->adapter, NDSH_MSG_DISCONNECT, id->conn));
}
