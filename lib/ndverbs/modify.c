/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes of state and attributes. libndclient makes a queue pair in INIT, verbs in RESET: in RESET
 * here, before the first change, it is INIT there, and nothing can be posted.
 */
#include <errno.h>

#include "ndclient/qp/qp.h"
#include "ndverbs/attributes.h"
#include "ndverbs/errors.h"
#include "ndverbs/qp.h"
#include "ndverbs/states.h"

static int
qp_change(struct ndv_qp *qp, uint32_t state, const struct nd_qp_attributes *attr)
{
	struct nd_overlapped ov = {.flags = ND_REQUEST_NOT_TO_PORT};

	return ndv_errno(ndv_outcome(nd_qp_modify(qp->nd, state, attr, &ov), &ov));
}

/* Of datagrams: libndclient knows no states, only the Q_Key; to be told it starts the send side
 * again. */
static int
change_datagrams(struct ndv_qp *qp, enum ibv_qp_state from, enum ibv_qp_state to,
	const struct ibv_qp_attr *attr, int mask)
{
	if (to == IBV_QPS_ERR)
		return ndv_errno(nd_qp_flush(qp->nd));
	if (to == IBV_QPS_RESET)
		return qp_change(qp, ND_QP_STATE_RESET, NULL);
	if (mask & IBV_QP_SQ_PSN)
		qp->sq_psn = attr->sq_psn & NDV_PSN_MASK;
	if (mask & IBV_QP_QKEY)
		qp->q_key = attr->qkey;
	else if (from != IBV_QPS_SQE)
		return 0;
	return ndv_errno(nd_ud_qp_modify(qp->nd, qp->q_key));
}

/* From INIT alone does a step lead from what was RESET to ERR. */
static int
change_connected(struct ndv_qp *qp, enum ibv_qp_state to, const struct ibv_qp_attr *attr, int mask)
{
	struct nd_qp_attributes out;
	int err = ndv_attributes_to(&out, attr, mask);

	if (err != 0)
		return err;
	if (qp->base.state == IBV_QPS_RESET && to == IBV_QPS_ERR)
		(void)qp_change(qp, ND_QP_STATE_INIT,
			&(struct nd_qp_attributes){.mask = ND_QP_ATTRIBUTE_ACCESS});
	if (mask & IBV_QP_ACCESS_FLAGS)
		qp->access = attr->qp_access_flags;
	return qp_change(qp, ndv_state_to(to), &out);
}

/* A program learns that sending has stopped by the completion that says why. */
static enum ibv_qp_state
state_of_datagrams(const struct ndv_qp *qp)
{
	bool stopped = __atomic_load_n(&qp->nd->sends_stopped, __ATOMIC_ACQUIRE) != 0;

	return qp->base.state == IBV_QPS_RTS && stopped ? IBV_QPS_SQE : qp->base.state;
}

/* The state as it is: an error of the queue pair's own is known to the daemon alone. */
static enum ibv_qp_state
state_now(struct ndv_qp *qp, struct nd_qp_info *info)
{
	if (qp->base.qp_type == IBV_QPT_UD)
		return state_of_datagrams(qp);
	if (nd_qp_query(qp->nd, info) != ND_SUCCESS)
		return qp->base.state;
	if (qp->base.state == IBV_QPS_RESET)
		return IBV_QPS_RESET;
	return ndv_state_from(info->state);
}

static int
modify_locked(struct ndv_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	struct nd_qp_info info;
	enum ibv_qp_state from = qp->base.state, to;
	int err;

	if (from >= IBV_QPS_RTR)
		from = state_now(qp, &info);
	if ((mask & IBV_QP_CUR_STATE) && attr->cur_qp_state != from)
		return EINVAL;
	to = mask & IBV_QP_STATE ? attr->qp_state : from;
	err = ndv_check_step(qp->base.qp_type, from, to, mask);
	if (err != 0)
		return err;
	if (qp->base.qp_type == IBV_QPT_UD)
		err = change_datagrams(qp, from, to, attr, mask);
	else
		err = change_connected(qp, to, attr, mask);
	if (err == 0)
		__atomic_store_n(&qp->base.state, to, __ATOMIC_RELEASE);
	return err;
}

int
ibv_modify_qp(struct ibv_qp *base, struct ibv_qp_attr *attr, int mask)
{
	struct ndv_qp *qp = ndv_qp(base);
	int err;

	pthread_mutex_lock(&qp->modify_lock);
	err = modify_locked(qp, attr, mask);
	pthread_mutex_unlock(&qp->modify_lock);
	return err;
}

void
ndv_qp_empty(struct ndv_qp *qp)
{
	if (qp->base.state != IBV_QPS_RESET)
		(void)qp_change(qp, ND_QP_STATE_RESET, NULL);
}

int
ibv_query_qp(struct ibv_qp *base, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	struct ndv_qp *qp = ndv_qp(base);
	struct nd_qp_info info = {0};

	(void)mask; /* all of them cost one question */
	pthread_mutex_lock(&qp->modify_lock);
	base->state = state_now(qp, &info);
	ndv_attributes_from(attr, &info.attributes);
	attr->qp_state = base->state;
	attr->cur_qp_state = base->state;
	attr->sq_draining = (uint8_t)info.draining;
	if (base->qp_type == IBV_QPT_UD)
		attr->sq_psn = qp->sq_psn;
	attr->qkey = qp->q_key;
	attr->qp_access_flags = qp->access;
	attr->cap = qp->cap;
	pthread_mutex_unlock(&qp->modify_lock);
	*init = (struct ibv_qp_init_attr){
		.qp_context = base->qp_context,
		.send_cq = base->send_cq,
		.recv_cq = base->recv_cq,
		.srq = base->srq,
		.cap = qp->cap,
		.qp_type = base->qp_type,
		.sq_sig_all = qp->signal_all,
	};
	return 0;
}
