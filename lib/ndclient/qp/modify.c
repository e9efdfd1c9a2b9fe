/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * States and attributes of queue pairs. The daemon checks and makes a change; this side tracks what
 * may be posted. A change that waits for the next hop is qp->modify until the daemon reports its
 * end.
 */
#include <string.h>

#include "ndclient/cq/cq.h"
#include "ndclient/face/attributes.h"
#include "ndclient/face/status.h"
#include "ndclient/mem/fast_register.h"
#include "ndclient/mem/mover.h"
#include "ndclient/mem/window.h"
#include "ndclient/qp/handles.h"
#include "ndclient/qp/modify.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/address.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"
#include "ndclient/session/overlapped.h"
#include "shm/ndsh_mover.h"

#define ECN_BITS 0x3u

/* The queue pair is in that state now; lock held. If it has a connector, that decides what may be
 * posted. */
static void
qp_state_reached(struct nd_qp *qp, uint32_t state)
{
	uint32_t posts = qp->unreliable ? ND_QP_UNRELIABLE : ND_QP_CONNECTED;

	if (qp->state == ND_QP_DATAGRAM) /* which it stays; RESET starts a send side that stopped */
		__atomic_store_n(&qp->sends_stopped, 0, __ATOMIC_RELEASE);
	else if (qp->connector == NULL && qp->state != ND_QP_DISCONNECTED)
		__atomic_store_n(&qp->state, state >= ND_QP_STATE_RTS ? posts : ND_QP_UNCONNECTED,
			__ATOMIC_RELEASE);
	if (state == ND_QP_STATE_RESET) {
		nd_mw_unbind_all(qp);
		nd_frmr_release_lists(qp);
	}
}

static void
qp_modify_end(struct nd_qp *qp, nd_status st)
{
	struct nd_overlapped *ov = qp->modify;

	qp->modify = NULL;
	qp->modifying = false;
	if (st == ND_SUCCESS)
		qp_state_reached(qp, qp->modify_state);
	nd_overlapped_end(ov, st);
}

struct pending {
	struct nd_qp *qp;
	struct nd_overlapped *ov;
};

static nd_status
modify_hook(void *arg, nd_status st, const void *reply)
{
	struct pending *p = arg;

	(void)reply;
	p->qp->modify = p->ov;
	if (st == ND_SUCCESS) {
		qp_modify_end(p->qp, st);
	} else if (st != ND_PENDING) {
		p->qp->modify = NULL;
		p->qp->modifying = false;
	}
	return st;
}

static nd_status
qp_modify_begin(struct nd_qp *qp, uint32_t state)
{
	nd_status st = ND_SUCCESS;

	pthread_mutex_lock(&qp->adapter->lock);
	if (qp->modifying)
		st = nd_fail(ND_DEVICE_BUSY, "another change of the queue pair is under way");
	else
		qp->modifying = true;
	if (st == ND_SUCCESS)
		qp->modify_state = state;
	pthread_mutex_unlock(&qp->adapter->lock);
	return st;
}

/* All completions of the life before are published. */
static void
qp_was_reset(struct nd_qp *qp)
{
	const struct nd_cq *of[2] = {qp->send_cq, qp->recv_cq};

	for (unsigned i = 0; i < 2; i++)
		__atomic_store_n(&qp->begun[i],
			__atomic_load_n(&of[i]->reader.page->produced, __ATOMIC_ACQUIRE),
			__ATOMIC_RELAXED);
	nd_mr_end_all(qp->adapter); /* of windows that were bound to it */
	nd_mover_settle(qp->adapter);
	for (unsigned i = 0; i < 2; i++)
		__atomic_store_n(&qp->spoiled[i].by, NDSH_SPOILS_NONE, __ATOMIC_RELAXED);
}

nd_status
nd_qp_modify(struct nd_qp *qp, uint32_t state, const struct nd_qp_attributes *attr,
	struct nd_overlapped *ov)
{
	struct nd_adapter *a = qp->adapter;
	struct ndsh_qp_modify m = {.h.type = NDSH_MSG_QP_MODIFY, .qp = qp->index, .state = state};
	struct ndsh_qp_modify_reply reply = {.why = {0}};
	struct pending p = {.qp = qp, .ov = ov};
	nd_status st = ND_SUCCESS;

	if (ov == NULL)
		return ND_INVALID_PARAMETER;
	if (a->abi_minor < NDSH_MINOR_QP_MODIFY)
		return nd_fail(ND_NOT_SUPPORTED, "the daemon is too old for nd_qp_modify()");
	if (attr != NULL)
		st = nd_attributes_out(&m.attr, attr);
	if ((m.attr.traffic_class & ECN_BITS) != 0 && a->abi_minor < NDSH_MINOR_ECN)
		return nd_fail(ND_NOT_SUPPORTED, "the daemon is too old to control congestion");
	if (st == ND_SUCCESS)
		st = nd_overlapped_begin(a, ov, __func__);
	if (st != ND_SUCCESS)
		return st;
	st = qp_modify_begin(qp, state);
	if (st != ND_SUCCESS)
		return nd_overlapped_issued(ov, st);
	st = nd_control_call(a,
		&(struct nd_request){.h = &m.h, .reply = &reply, .hook = modify_hook, .arg = &p});
	if (st == ND_SUCCESS && state == ND_QP_STATE_RESET)
		qp_was_reset(qp);
	if (st < 0 && reply.why[0] != 0)
		(void)nd_fail(st, "%.*s", (int)sizeof(reply.why), reply.why);
	return nd_overlapped_issued(ov, st < 0 ? st : ND_PENDING);
}

/* The index of a closed queue pair may be another's by now, but that one waits for no change. */
void
nd_qp_modified(struct nd_adapter *a, const struct ndsh_ev_qp *ev)
{
	struct nd_qp *qp = nd_qp_of_index(a->qps, ev->qp);

	if (qp != NULL && qp->modify != NULL)
		qp_modify_end(qp, nd_status_of_daemon(ev->h.status));
}

void
nd_qp_end_modify(struct nd_qp *qp, nd_status st)
{
	if (qp->modify != NULL)
		qp_modify_end(qp, st);
}

void
nd_qp_end_modifies(struct nd_adapter *a, nd_status st)
{
	for (uint32_t i = 0; i < a->qps->end; i++)
		if (a->qps->by_handle[i] != NULL)
			nd_qp_end_modify(a->qps->by_handle[i], st);
}

nd_status
nd_qp_query(struct nd_qp *qp, struct nd_qp_info *info)
{
	struct ndsh_id_msg m = {.h.type = NDSH_MSG_QP_QUERY, .id = qp->index};
	struct ndsh_qp_query_reply reply;
	nd_status st;

	if (info == NULL)
		return ND_INVALID_PARAMETER;
	if (qp->adapter->abi_minor < NDSH_MINOR_QP_MODIFY)
		return nd_fail(ND_NOT_SUPPORTED, "the daemon is too old for nd_qp_query()");
	st = nd_control_call(qp->adapter, &(struct nd_request){.h = &m.h, .reply = &reply});
	if (st != ND_SUCCESS)
		return st;
	info->state = reply.state;
	info->draining = reply.draining;
	info->number = reply.qpn;
	info->first_psn = reply.psn;
	nd_attributes_in(&info->attributes, &reply.attr);
	return ND_SUCCESS;
}
