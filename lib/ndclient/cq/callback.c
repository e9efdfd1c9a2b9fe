/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notifications by callback.
 *
 * One thread per adapter, started with the first callback, waits for the pipes of its queues and
 * runs their callbacks: so one callback runs at a time, and one that is due meanwhile waits
 * (R-CQ-23). It is not the control thread, which must be free to bring replies to the calls that a
 * callback makes. It also takes down what polling and posting threads let go of last.
 *
 * A callback is owed when the queue was armed (armed_callback) and the arm word says NONE: the
 * daemon has fired, or nd_cq_arm_callback() found a reason at once and kicked the thread by an
 * eventfd. Until the callback is entered later arms join with it; entering it is what counts as the
 * notification (R-CQ-25): the mark in the arm word moves then.
 */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ndclient/nd_int.h"

#define EV_STOP	 (1ull << 32) /* the others are queues by id; ND_CALLBACK_SRQ is between */
#define EV_OFFER (4ull << 32)
#define EV_END	 (5ull << 32)

/* This thread is in a callback. */
static __thread bool inside;

void
nd_callback_mark(bool in)
{
	inside = in;
}

bool
nd_in_callback(void)
{
	return inside;
}

/* ---- objects with a callback that runs ----------------------------------------------- */

enum { NO_CALLBACK, RUNS, RUNS_CLOSED }; /* nd_object.callback */

void
nd_callback_enter(struct nd_object *o)
{
	__atomic_store_n(&o->callback, RUNS, __ATOMIC_RELAXED);
}

/* Behind the exchange who waits in nd_callback_outlives() may have freed the object: the wake-up
 * needs its address only. If it was closed by a callback nobody waits, and to free it is left to
 * us. */
void
nd_callback_leave(struct nd_object *o)
{
	if (__atomic_exchange_n(&o->callback, NO_CALLBACK, __ATOMIC_ACQ_REL) == RUNS_CLOSED)
		(void)nd_object_drop(o);
	else
		nd_futex_wake(&o->callback);
}

/*
 * Nothing enters it any more: it is in no list. In a callback we never wait for one: for this one
 * in vain, and for that of another adapter perhaps too, since it may close our object just now.
 */
bool
nd_callback_outlives(struct nd_object *o)
{
	uint32_t runs = RUNS;

	if (inside)
		return __atomic_compare_exchange_n(&o->callback, &runs, RUNS_CLOSED, false,
			__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	while (__atomic_load_n(&o->callback, __ATOMIC_ACQUIRE) != NO_CALLBACK)
		(void)nd_futex_wait(&o->callback, RUNS, UINT64_MAX);
	return false;
}

static void
kick(int fd)
{
	uint64_t one = 1;

	(void)!write(fd, &one, sizeof(one));
}

/* ---- the thread ---------------------------------------------------------------------- */

static bool
is_due(const struct nd_cq *cq)
{
	return nd_gone(cq->adapter) || cq->moderation.due ||
	       ndsh_cq_armed(&cq->reader) == NDSH_ARM_NONE;
}

/* The arm is spent before the callback is entered, so that it can arm anew (R-CQ-24). */
static bool
enter(struct nd_cq *cq, nd_status *st)
{
	struct nd_adapter *a = cq->adapter;
	bool owed;

	nd_spin_lock(&cq->lock);
	(void)nd_drain(cq->kick_fd);
	if (!nd_drain(cq->pipe_fd)) /* the daemon is gone: the control thread will kick us */
		(void)epoll_ctl(a->callbacks.epoll_fd, EPOLL_CTL_DEL, cq->pipe_fd, NULL);
	owed = cq->armed_callback && is_due(cq) && (nd_gone(a) || !nd_moderation_holds(cq));
	if (owed) {
		cq->armed_callback = false;
		ndsh_cq_mark(&cq->reader);
		*st = nd_gone(a) ? ND_DEVICE_REMOVED : nd_cq_fault(cq);
		nd_callback_enter(&cq->obj);
	}
	nd_spin_unlock(&cq->lock);
	return owed;
}

void
nd_callback_run(void (*callback)(void *context, nd_status st), void *context, nd_status st)
{
	nd_callback_mark(true);
	callback(context, st);
	nd_callback_mark(false);
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
	owed = cq != NULL && enter(cq, &st);
	pthread_mutex_unlock(&a->lock);
	if (!owed)
		return false;
	nd_callback_run(cq->callback, cq->callback_context, st);
	nd_callback_leave(&cq->obj);
	return true;
}

static void *
callback_main(void *arg)
{
	struct nd_adapter *a = arg;
	struct epoll_event ev;

	for (;;) {
		if (epoll_wait(a->callbacks.epoll_fd, &ev, 1, -1) != 1)
			continue;
		if (ev.data.u64 == EV_STOP)
			return NULL;
		if (ev.data.u64 == EV_OFFER) {
			(void)nd_listener_call_back(a);
		} else if (ev.data.u64 == EV_END) {
			(void)nd_drain(a->callbacks.end_fd);
			nd_mr_end_all(a);
		} else if (ev.data.u64 & ND_CALLBACK_SRQ) {
			nd_srq_call_back(a, (uint32_t)ev.data.u64);
		} else {
			(void)nd_cq_call_back(a, (uint32_t)ev.data.u64);
		}
	}
}

bool
nd_callbacks_watch(struct nd_adapter *a, int fd, uint64_t what)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = what};

	return epoll_ctl(a->callbacks.epoll_fd, EPOLL_CTL_ADD, fd, &ev) == 0;
}

static int
swap_end_fd(struct nd_adapter *a, int fd)
{
	int old;

	nd_spin_lock(&a->windows);
	old = a->callbacks.end_fd;
	a->callbacks.end_fd = fd;
	nd_spin_unlock(&a->windows);
	return old;
}

static void
close_fds(struct nd_adapter *a)
{
	struct nd_callbacks *c = &a->callbacks;
	int end_fd = swap_end_fd(a, -1); /* windows may still end */

	if (c->epoll_fd >= 0)
		close(c->epoll_fd);
	if (c->stop_fd >= 0)
		close(c->stop_fd);
	if (c->offer_fd >= 0)
		close(c->offer_fd);
	if (end_fd >= 0)
		close(end_fd);
	c->epoll_fd = -1; /* queues are closed behind us */
	c->offer_fd = -1; /* and requests still come */
}

bool
nd_callbacks_start(struct nd_adapter *a)
{
	struct nd_callbacks *c = &a->callbacks;

	if (c->running)
		return true;
	c->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	c->stop_fd = eventfd(0, EFD_CLOEXEC);
	c->offer_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	(void)swap_end_fd(a, eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)); /* look at once */
	c->running = c->epoll_fd >= 0 && c->stop_fd >= 0 && c->offer_fd >= 0 && c->end_fd >= 0 &&
		     nd_callbacks_watch(a, c->stop_fd, EV_STOP) &&
		     nd_callbacks_watch(a, c->offer_fd, EV_OFFER) &&
		     nd_callbacks_watch(a, c->end_fd, EV_END) &&
		     nd_thread_start(&c->thread, callback_main, a);
	if (!c->running)
		close_fds(a);
	return c->running;
}

void
nd_callbacks_stop(struct nd_adapter *a)
{
	struct nd_callbacks *c = &a->callbacks;

	if (!c->running)
		return;
	kick(c->stop_fd);
	pthread_join(c->thread, NULL);
	pthread_mutex_lock(&a->lock);
	close_fds(a);
	c->running = false;
	pthread_mutex_unlock(&a->lock);
}

/* ---- the application's side ---------------------------------------------------------- */

static nd_status
set_locked(struct nd_cq *cq, nd_cq_callback callback, void *context)
{
	struct nd_adapter *a = cq->adapter;

	if (cq->callback != NULL || cq->waiters.first != NULL || cq->armed_fd)
		return ND_INVALID_DEVICE_STATE;
	cq->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (cq->kick_fd < 0)
		return ND_INSUFFICIENT_RESOURCES;
	if (!nd_callbacks_watch(a, cq->kick_fd, cq->id) ||
		!nd_callbacks_watch(a, cq->pipe_fd, cq->id)) {
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
		st = set_locked(cq, callback, context);
		nd_spin_unlock(&cq->lock);
	}
	pthread_mutex_unlock(&a->lock);
	return st;
}

/* If an earlier arm has fired meanwhile, its callback is due and serves this arm too (R-CQ-25). */
static nd_status
arm_locked(struct nd_cq *cq, enum ndsh_arm type)
{
	bool joins = cq->armed_callback;
	enum ndsh_arm before;
	enum ndsh_arm_result result;

	if (nd_gone(cq->adapter)) /* set before end_session() takes our lock: it sees the arm */
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
	kick(cq->kick_fd);
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
	st = arm_locked(cq, arm);
	nd_spin_unlock(&cq->lock);
	return st;
}

/* ---- closing ------------------------------------------------------------------------- */

void
nd_cq_kick(struct nd_cq *cq)
{
	if (cq->armed_callback)
		kick(cq->kick_fd);
}

void
nd_cq_callback_off(struct nd_cq *cq)
{
	if (cq->callback == NULL || !cq->adapter->callbacks.running)
		return;
	nd_moderation_off(cq);
	(void)epoll_ctl(cq->adapter->callbacks.epoll_fd, EPOLL_CTL_DEL, cq->pipe_fd, NULL);
	(void)epoll_ctl(cq->adapter->callbacks.epoll_fd, EPOLL_CTL_DEL, cq->kick_fd, NULL);
}
