/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notifications of shared receive queues by callback, in the callbacks' thread
 * (session/callbacks.c). The daemon's event that fewer receives are left than the threshold comes
 * by the control socket, behind its reply to the message that armed it: an event that comes before
 * that reply is of an earlier arm.
 */
#include <sys/eventfd.h>
#include <unistd.h>

#include "ndclient/qp/srq.h"
#include "ndclient/qp/srq_callback.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/callbacks.h"
#include "ndclient/session/fd.h"
#include "ndclient/session/handlers.h"

void
nd_srq_kick(struct nd_srq *srq)
{
	if (srq->armed && srq->callback != NULL)
		nd_fd_wake(srq->kick_fd);
}

void
nd_srq_due(struct nd_srq *srq)
{
	srq->due = srq->armed;
	nd_srq_kick(srq);
}

/* nd_adapter.lock held. The arm is spent before the callback is entered, which may arm anew. */
static bool
srq_enter_callback(struct nd_srq *srq, nd_status *st)
{
	(void)nd_drain(srq->kick_fd);
	if (!srq->armed || (!srq->due && !nd_gone(srq->adapter)))
		return false;
	*st = nd_gone(srq->adapter) ? ND_DEVICE_REMOVED : ND_SUCCESS;
	srq->armed = srq->due = false;
	nd_callback_enter(&srq->obj);
	return true;
}

void
nd_srq_call_back(struct nd_adapter *a, uint32_t id)
{
	struct nd_srq *srq;
	nd_status st = ND_SUCCESS;
	bool owed;

	pthread_mutex_lock(&a->lock);
	TAILQ_FOREACH (srq, &a->srqs, link)
		if (srq->id == id)
			break;
	owed = srq != NULL && srq->callback != NULL && srq_enter_callback(srq, &st);
	pthread_mutex_unlock(&a->lock);
	if (!owed)
		return;
	nd_callback_run(srq->callback, srq->callback_context, st);
	nd_callback_leave(&srq->obj);
}

static nd_status
srq_set_callback_locked(struct nd_srq *srq, nd_srq_callback callback, void *context)
{
	struct nd_adapter *a = srq->adapter;

	if (nd_gone(a))
		return ND_DEVICE_REMOVED;
	if (srq->callback != NULL)
		return ND_INVALID_DEVICE_STATE;
	if (!nd_callbacks_start(a))
		return ND_INSUFFICIENT_RESOURCES;
	srq->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (srq->kick_fd < 0)
		return ND_INSUFFICIENT_RESOURCES;
	if (!nd_callbacks_watch(a, srq->kick_fd, ND_CALLBACK_SRQ, srq->id)) {
		close(srq->kick_fd);
		return ND_INSUFFICIENT_RESOURCES;
	}
	srq->callback = callback;
	srq->callback_context = context;
	return ND_SUCCESS;
}

nd_status
nd_srq_set_callback(struct nd_srq *srq, nd_srq_callback callback, void *context)
{
	nd_status st;

	if (callback == NULL)
		return ND_INVALID_PARAMETER_2;
	pthread_mutex_lock(&srq->adapter->lock);
	st = srq_set_callback_locked(srq, callback, context);
	pthread_mutex_unlock(&srq->adapter->lock);
	return st;
}

void
nd_srq_callback_off(struct nd_srq *srq)
{
	if (srq->callback != NULL)
		nd_callbacks_unwatch(srq->adapter, srq->kick_fd);
}
