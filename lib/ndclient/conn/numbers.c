/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndclient/conn/numbers.h"

#include "ndclient/qp/handles.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/callbacks.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"
#include "ndclient/session/fd.h"

nd_status
nd_cm_start(struct nd_adapter *a, struct nd_cm *cm)
{
	if (a->abi_minor < NDSH_MINOR_CM)
		return nd_fail(ND_NOT_SUPPORTED, "the daemon is too old for librdmacm");
	cm->timer_fd = -1;
	pthread_mutex_lock(&a->lock);
	a->cm = cm;
	pthread_mutex_unlock(&a->lock);
	return ND_SUCCESS;
}

void
nd_cm_event(struct nd_adapter *a, const struct ndsh_ev_cm *ev)
{
	if (a->cm != NULL)
		a->cm->on_event(a->cm, ev);
}

bool
nd_cm_wake_at(struct nd_adapter *a, uint64_t at_ns)
{
	struct nd_cm *cm = a->cm;

	/* The first call is by on_event, which holds nd_adapter.lock. */
	if (cm->timer_fd < 0 && nd_callbacks_start(a))
		cm->timer_fd = nd_callbacks_timer(a, ND_CALLBACK_CM, 0);
	return cm->timer_fd >= 0 && nd_timer_set(cm->timer_fd, at_ns);
}

void
nd_cm_time(struct nd_adapter *a)
{
	(void)nd_drain(a->cm->timer_fd);
	a->cm->on_time(a->cm);
}

/* The handle of the open queue pair; false: there is none. */
static bool
find_number(struct nd_adapter *a, uint32_t number, uint32_t *index)
{
	bool found = false;

	pthread_mutex_lock(&a->lock);
	for (uint32_t i = 0; i < a->qps->end && !found; i++) {
		const struct nd_qp *qp = a->qps->by_handle[i];

		if (qp == NULL || qp->number != number || qp->obj.closed)
			continue;
		*index = qp->index;
		found = true;
	}
	pthread_mutex_unlock(&a->lock);
	return found;
}

nd_status
nd_cm_permit(struct nd_adapter *a, uint32_t number, struct ndsh_cm_permit *permit)
{
	struct ndsh_id_msg m = {.h.type = NDSH_MSG_CM_PERMIT};
	struct ndsh_cm_permit_reply reply;
	nd_status st;

	if (!find_number(a, number, &m.id))
		return ND_INVALID_HANDLE;
	st = nd_control_call(a, &(struct nd_request){.h = &m.h, .reply = &reply});
	if (st == ND_SUCCESS)
		*permit = reply.permit;
	return st;
}
