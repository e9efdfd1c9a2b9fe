/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notifications of completion queues, in two styles; callback.c has the third.
 *
 * The arm word (ndsh_arm.c) alone says whether an arm has fired; a byte in notify_fd only wakes a
 * thread that reads the word. So the byte of an arm that was cancelled completes no request. If an
 * arm has fired and another request is armed for before its waiters are completed, the call that
 * arms sees this in the exchange of the word, and completes them.
 *
 * Overlapped style: the control thread reads notify_fd. Fd style: the application polls an epoll fd
 * of notify_fd and of an eventfd, by which this side makes it readable when it fires by itself.
 */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ndclient/cq/arm.h"
#include "ndclient/cq/cq.h"
#include "ndclient/cq/notify.h"
#include "ndclient/face/flags.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/control.h"
#include "ndclient/session/fd.h"
#include "ndclient/session/overlapped.h"
#include "ndclient/session/spin.h"
#include "ndclient/session/waiters.h"

/* ---- overlapped style ---------------------------------------------------------------- */

/* Room for one more? Waiters with an arm that has fired are about to complete, and make room. */
static bool
cq_has_room(const struct nd_cq *cq)
{
	return cq->waiters.count < ND_CQ_NOTIFY_MAX || ndsh_cq_armed(&cq->reader) == NDSH_ARM_NONE;
}

/* done: those that are over, in order of issue. */
static nd_status
cq_notify_locked(
	struct nd_cq *cq, enum ndsh_arm type, struct nd_overlapped *ov, struct nd_waiters *done)
{
	const nd_status end = nd_cq_status(cq);
	enum ndsh_arm before;
	enum ndsh_arm_result result;

	if (end == ND_DEVICE_REMOVED) /* set before the control thread takes out the waiters */
		return end;
	if (cq->armed_fd || cq->callback != NULL)
		return ND_INVALID_DEVICE_STATE;
	if (end != ND_SUCCESS) { /* R-CQ-08: also when there is no daemon that could fire */
		nd_waiters_move(done, &cq->waiters);
		nd_waiters_add(done, ov);
		return ND_PENDING;
	}
	if (!cq_has_room(cq))
		return ND_INSUFFICIENT_RESOURCES; /* R-CQ-35 */
	if (!cq->watched && nd_control_watch(cq->adapter, cq, true) != ND_SUCCESS)
		return ND_INSUFFICIENT_RESOURCES;
	result = ndsh_cq_arm(&cq->reader, type, &before);
	if (before == NDSH_ARM_NONE) /* earlier waiters: their arm had fired */
		nd_waiters_move(done, &cq->waiters);
	nd_waiters_add(&cq->waiters, ov);
	if (result != NDSH_ARMED)
		nd_waiters_move(done, &cq->waiters);
	return ND_PENDING;
}

nd_status
nd_cq_notify(struct nd_cq *cq, uint32_t type, struct nd_overlapped *ov)
{
	struct nd_waiters done = {0};
	enum ndsh_arm arm;
	nd_status st;

	if (ov == NULL)
		return ND_INVALID_PARAMETER_2;
	if (!nd_arm_of(type, &arm))
		return ND_INVALID_PARAMETER_1; /* R-CQ-36 */
	st = nd_overlapped_begin(cq->adapter, ov, __func__);
	if (st != ND_SUCCESS)
		return st;
	pthread_mutex_lock(&cq->notify_lock);
	nd_spin_lock(&cq->lock);
	st = cq_notify_locked(cq, arm, ov, &done);
	nd_spin_unlock(&cq->lock);
	nd_waiters_end(&done, nd_cq_fault(cq));
	pthread_mutex_unlock(&cq->notify_lock);
	return nd_overlapped_issued(ov, st);
}

void
nd_cq_readable(struct nd_cq *cq)
{
	struct nd_waiters done = {0};

	pthread_mutex_lock(&cq->notify_lock);
	nd_spin_lock(&cq->lock);
	if (cq->watched && !nd_drain(cq->notify_fd))
		(void)nd_control_watch(cq->adapter, cq, false);
	if (ndsh_cq_armed(&cq->reader) == NDSH_ARM_NONE)
		nd_waiters_move(&done, &cq->waiters);
	nd_spin_unlock(&cq->lock);
	nd_waiters_end(&done, nd_cq_fault(cq));
	pthread_mutex_unlock(&cq->notify_lock);
}

void
nd_cq_end_waiters(struct nd_cq *cq, nd_status st)
{
	struct nd_waiters done = {0};

	pthread_mutex_lock(&cq->notify_lock);
	nd_spin_lock(&cq->lock);
	nd_waiters_move(&done, &cq->waiters);
	nd_cq_kick(cq);
	nd_spin_unlock(&cq->lock);
	nd_waiters_end(&done, st);
	pthread_mutex_unlock(&cq->notify_lock);
}

/* An arm that has fired counts as a notification, and its waiters must complete with success: the
 * entry would not satisfy the next arm (R-CQ-11, R-CQ-34). Waiters that another thread is
 * completing are complete when this one has notify_lock (R-OV-10). */
nd_status
nd_cq_cancel(struct nd_cq *cq)
{
	struct nd_waiters done = {0};
	bool disarmed;

	pthread_mutex_lock(&cq->notify_lock);
	nd_spin_lock(&cq->lock);
	disarmed = !cq->moderation.due && ndsh_cq_disarm(&cq->reader);
	if (disarmed)
		cq->armed_callback = false;
	cq->armed_fd = false;
	nd_waiters_move(&done, &cq->waiters);
	nd_spin_unlock(&cq->lock);
	nd_waiters_end(&done, disarmed ? ND_CANCELED : nd_cq_fault(cq));
	pthread_mutex_unlock(&cq->notify_lock);
	return ND_SUCCESS;
}

/* ---- fd style ------------------------------------------------------------------------ */

static bool
epoll_add(int epoll_fd, int fd)
{
	struct epoll_event ev = {.events = EPOLLIN};

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev) == 0;
}

static bool
cq_make_poll_fd(struct nd_cq *cq)
{
	if (cq->poll_fd >= 0)
		return true;
	cq->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	cq->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (cq->event_fd >= 0 && cq->poll_fd >= 0 && epoll_add(cq->poll_fd, cq->event_fd) &&
		epoll_add(cq->poll_fd, cq->notify_fd))
		return true;
	if (cq->event_fd >= 0)
		close(cq->event_fd);
	if (cq->poll_fd >= 0)
		close(cq->poll_fd);
	cq->event_fd = cq->poll_fd = -1;
	return false;
}

int
nd_cq_fd(struct nd_cq *cq)
{
	int fd;

	nd_spin_lock(&cq->lock);
	fd = cq_make_poll_fd(cq) ? cq->poll_fd : -1;
	nd_spin_unlock(&cq->lock);
	return fd;
}

static nd_status
cq_arm_locked(struct nd_cq *cq, enum ndsh_arm type)
{
	if (nd_cq_status(cq) == ND_DEVICE_REMOVED)
		return ND_DEVICE_REMOVED;
	if (cq->waiters.first != NULL || cq->callback != NULL)
		return ND_INVALID_DEVICE_STATE;
	if (!cq_make_poll_fd(cq))
		return ND_INSUFFICIENT_RESOURCES;
	if (cq->watched)
		(void)nd_control_watch(cq->adapter, cq, false);
	cq->armed_fd = true;
	if (ndsh_cq_arm(&cq->reader, type, NULL) != NDSH_ARMED)
		nd_fd_wake(cq->event_fd);
	return nd_cq_fault(cq);
}

nd_status
nd_cq_arm(struct nd_cq *cq, uint32_t type)
{
	enum ndsh_arm arm;
	nd_status st;

	if (!nd_arm_of(type, &arm))
		return ND_INVALID_PARAMETER_1;
	nd_spin_lock(&cq->lock);
	st = cq_arm_locked(cq, arm);
	nd_spin_unlock(&cq->lock);
	return st;
}

/* An arm in another style is not acknowledged here, and its bytes stay in notify_fd. */
void
nd_cq_ack(struct nd_cq *cq)
{
	nd_spin_lock(&cq->lock);
	if (cq->poll_fd >= 0 && cq->waiters.first == NULL && cq->callback == NULL) {
		(void)nd_drain(cq->event_fd);
		(void)nd_drain(cq->notify_fd);
		cq->armed_fd = ndsh_cq_armed(&cq->reader) != NDSH_ARM_NONE;
	}
	nd_spin_unlock(&cq->lock);
}
