/* SPDX-License-Identifier: BSD-3-Clause */
/* Connect, accept, reject, disconnect; lookups of datagram services, and answers. */
#include <errno.h>
#include <string.h>

#include "ndclient/session/adapter.h"
#include "ndclient/session/control.h"
#include "ndverbs/cm/cm.h"
#include "ndverbs/errors.h"
#include "ndverbs/permit.h"

#define REJECT_BY_CONSUMER 28
#define TOS_WITHOUT_ECN	   0xfc

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

/* The request leaves by the port that the identifier has. */
static int
ask_peer(struct cm_id *id, struct ndsh_msg_hdr *h)
{
	struct entering e = {.id = id, .session = LIST_FIRST(&id->ports)->session};

	pthread_mutex_lock(&cm_lock);
	cm_set_state(id, CM_CONNECTING);
	pthread_mutex_unlock(&cm_lock);
	return ndv_errno(nd_control_call(
		e.session->adapter, &(struct nd_request){.h = h, .hook = connect_hook, .arg = &e}));
}

/* The query says nothing of a queue pair: datagrams alone will show it. */
static int
look_up(struct cm_id *id, const struct rdma_ucm_conn_param *p)
{
	struct ndsh_cm_look_up m = {.h.type = NDSH_MSG_CM_LOOK_UP,
		.remote = id->remote,
		.listener = LIST_FIRST(&id->ports)->listener,
		.priv_bytes = p->private_data_len,
		.tos = id->tos & TOS_WITHOUT_ECN};

	if (p->private_data_len > sizeof(m.priv))
		return EINVAL;
	memcpy(m.priv, p->private_data, p->private_data_len);
	return ask_peer(id, &m.h);
}

static int
connect_qp(struct cm_id *id, const struct rdma_ucm_conn_param *p)
{
	struct ndsh_cm_connect m = {.h.type = NDSH_MSG_CM_CONNECT,
		.remote = id->remote,
		.listener = LIST_FIRST(&id->ports)->listener,
		.priv_bytes = p->private_data_len,
		.tos = id->tos & TOS_WITHOUT_ECN};
	int err;

	if (p->private_data_len > sizeof(m.priv))
		return EINVAL;
	err = ndv_permit(p->qp_num, &m.permit);
	if (err != 0)
		return err;
	fill_values(&m.own, id, p);
	id->peer.peer.retries = m.own.retries;
	memcpy(m.priv, p->private_data, p->private_data_len);
	return ask_peer(id, &m.h);
}

int
cm_connect(struct cm_id *id, const struct rdma_ucm_conn_param *p)
{
	if (cm_state(id) != CM_ROUTE || !p->valid)
		return EINVAL;
	return id->datagrams ? look_up(id, p) : connect_qp(id, p);
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
	const size_t room = id->datagrams ? NDSH_ANSWER_DATA_MAX : sizeof(m.priv);
	int err;

	if (p->private_data_len > room)
		return EINVAL;
	err = ndv_permit(p->qp_num, &m.permit);
	if (err != 0)
		return err;
	if (id->datagrams)
		m.own.q_key = CM_Q_KEY; /* whatever the program names, as in the kernel */
	else
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
	const size_t room = id->datagrams ? NDSH_ANSWER_DATA_MAX : sizeof(m.priv);

	if ((cm_state(id) != CM_REQUESTED && cm_state(id) != CM_REPLIED) ||
		r->private_data_len > room || (r->reason != 0 && r->reason != REJECT_BY_CONSUMER))
		return EINVAL;
	m.priv_bytes = r->private_data_len;
	memcpy(m.priv, r->private_data, r->private_data_len);
	cm_set_state(id, CM_OVER);
	return ndv_errno(nd_control_call(id->session->adapter, &(struct nd_request){.h = &m.h}));
}

/* What has ended already ends well; where datagrams go there is nothing to end. */
int
cm_disconnect(struct cm_id *id)
{
	if (id->session == NULL)
		return EINVAL;
	if (id->datagrams)
		return 0;
	return ndv_errno(nd_control_id(id->session->adapter, NDSH_MSG_DISCONNECT, id->conn));
}
