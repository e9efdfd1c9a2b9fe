/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notifications by callback, in the callbacks' thread (session/callbacks.c).
 *
 * A callback is owed when the queue was armed (armed_callback) and the arm word says NONE: the
 * daemon has fired, or nd_cq_arm_callback() found a reason at once and woke the thread by an
 * eventfd. Until the callback is entered later arms join with it; entering it is what counts as the
 * notification (R-CQ-25): the mark in the arm word moves then.
 */
#include <sys/eventfd.h>
#include <unistd.h>

#include "ndclient/cq/arm.h"
#include "ndclient/cq/callback.h"
#include "ndclient/cq/cq.h"
#include "ndclient/cq/moderate.h"
#include "ndclient/face/flags.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/callbacks.h"
#include "ndclient/session/control.h"
#include "ndclient/session/fd.h"
#include "ndclient/session/handlers.h"
#include "ndclient/session/spin.h"

static bool
cq_callback_is_due(const struct nd_cq *cq)
{
	return nd_gone(cq->adapter) || cq->moderation.due ||
	       ndsh_cq_armed(&cq->reader) == NDSH_ARM_NONE;
}

/* The arm is spent before the callback is entered, so that it can arm anew (R-CQ-24). */
static bool
cq_enter_callback(struct nd_cq *cq, nd_status *st)
{
	struct nd_adapter *a = cq->adapter;
	bool owed;

	nd_spin_lock(&cq->lock);
	(void)nd_drain(cq->kick_fd);
	if (!nd_drain(
		    cq->notify_fd)) /* the daemon is gone: the control thread will wake this one */
		nd_callbacks_unwatch(a, cq->notify_fd);
	owed = cq->armed_callback && cq_callback_is_due(cq) &&
	       (nd_gone(a) || !nd_moderation_holds(cq));
	if (owed) {
		cq->armed_callback = false;
		ndsh_cq_mark(&cq->reader);
		*st = nd_cq_status(cq);
		nd_callback_enter(&cq->obj);
	}
	nd_spin_unlock(&cq->lock);
	return owed;
}

bool
nd_cq_call_back(struct nd_adapter *a, uint32_t id)
{
	struct nd_cq *cq;
	nd_status st = ND_SUCCESS;
	bool owed;

	pthread_mutex_lock(&a->lock);
	TAILQ_FOREACH (cq, &a->cqs, link)
		if (cq->id == id)
			break;
	owed = cq != NULL && cq_enter_callback(cq, &st);
	pthread_mutex_unlock(&a->lock);
	if (!owed)
		return false;
	nd_callback_run(cq->callback, cq->callback_context, st);
	nd_callback_leave(&cq->obj);
	return true;
}

/* ---- the application's side ---------------------------------------------------------- */

static nd_status
cq_set_callback_locked(struct nd_cq *cq, nd_cq_callback callback, void *context)
{
	struct nd_adapter *a = cq->adapter;

	if (cq->callback != NULL || cq->waiters.first != NULL || cq->armed_fd)
		return ND_INVALID_DEVICE_STATE;
	cq->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (cq->kick_fd < 0)
		return ND_INSUFFICIENT_RESOURCES;
	if (!nd_callbacks_watch(a, cq->kick_fd, ND_CALLBACK_CQ, cq->id) ||
		!nd_callbacks_watch(a, cq->notify_fd, ND_CALLBACK_CQ, cq->id)) {
		close(cq->kick_fd); /* and so it is out of the epoll */
		return ND_INSUFFICIENT_RESOURCES;
	}
	if (cq->watched)
		(void)nd_control_watch(a, cq, false);
	cq->callback = callback;
	cq->callback_context = context;
	return ND_SUCCESS;
}

nd_status
nd_cq_set_callback(struct nd_cq *cq, nd_cq_callback callback, void *context)
{
	struct nd_adapter *a = cq->adapter;
	nd_status st = ND_INSUFFICIENT_RESOURCES;

	if (callback == NULL)
		return ND_INVALID_PARAMETER_2;
	pthread_mutex_lock(&a->lock);
	if (nd_gone(a)) {
		st = ND_DEVICE_REMOVED;
	} else if (nd_callbacks_start(a)) {
		nd_spin_lock(&cq->lock);
		st = cq_set_callback_locked(cq, callback, context);
		nd_spin_unlock(&cq->lock);
	}
	pthread_mutex_unlock(&a->lock);
	return st;
}

/* If an earlier arm has fired meanwhile, its callback is due and serves this arm too (R-CQ-25). */
static nd_status
cq_arm_callback_locked(struct nd_cq *cq, enum ndsh_arm type)
{
	bool joins = cq->armed_callback;
	enum ndsh_arm before;
	enum ndsh_arm_result result;

	if (nd_cq_status(cq) ==
		ND_DEVICE_REMOVED) /* set before the control thread takes the lock */
		return ND_DEVICE_REMOVED;
	if (cq->callback == NULL)
		return ND_INVALID_DEVICE_STATE;
	if (joins && cq->moderation.due)
		return ND_SUCCESS;
	if (!joins)
		nd_moderation_begin(cq);
	cq->armed_callback = true;
	result = ndsh_cq_arm(&cq->reader, type, &before);
	if (joins && before == NDSH_ARM_NONE)
		(void)ndsh_cq_disarm(&cq->reader);
	else if (result == NDSH_ARMED)
		return ND_SUCCESS;
	nd_fd_wake(cq->kick_fd);
	return ND_SUCCESS;
}

nd_status
nd_cq_arm_callback(struct nd_cq *cq, uint32_t type)
{
	enum ndsh_arm arm;
	nd_status st;

	if (!nd_arm_of(type, &arm))
		return ND_INVALID_PARAMETER_1; /* R-CQ-36 */
	nd_spin_lock(&cq->lock);
	st = cq_arm_callback_locked(cq, arm);
	nd_spin_unlock(&cq->lock);
	return st;
}

/* ---- closing ------------------------------------------------------------------------- */

void
nd_cq_callback_off(struct nd_cq *cq)
{
	if (cq->callback == NULL || !cq->adapter->callbacks.running)
		return;
	nd_moderation_off(cq);
	nd_callbacks_unwatch(cq->adapter, cq->notify_fd);
	nd_callbacks_unwatch(cq->adapter, cq->kick_fd);
}
