/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One thread per adapter, started with the first callback, waits for the descriptors of its queues
 * and listeners and runs their callbacks: so one callback runs at a time, and one that is due
 * meanwhile waits (R-CQ-23). It is not the control thread, which must be free to bring replies to
 * the calls that a callback makes. It also takes down what polling and posting threads let go of
 * last.
 */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "ndclient/session/adapter.h"
#include "ndclient/session/callbacks.h"
#include "ndclient/session/fd.h"
#include "ndclient/session/futex.h"
#include "ndclient/session/handlers.h"
#include "ndclient/session/object.h"
#include "ndclient/session/spin.h"
#include "ndclient/session/thread.h"

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

/* After the exchange a thread that waited in nd_callback_outlives() may have freed the object: the
 * wake-up needs its address only. If a callback closed the object, no thread waits, and freeing it
 * is left to this one. */
void
nd_callback_leave(struct nd_object *o)
{
	if (__atomic_exchange_n(&o->callback, NO_CALLBACK, __ATOMIC_ACQ_REL) == RUNS_CLOSED)
		(void)nd_object_drop(o);
	else
		nd_futex_wake(&o->callback);
}

/*
 * No callback of the object is entered any more: it is in no list. A callback never waits for one:
 * it would wait for itself, or for a callback of another adapter that may wait for this one.
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

void
nd_callback_run(void (*callback)(void *context, nd_status st), void *context, nd_status st)
{
	nd_callback_mark(true);
	callback(context, st);
	nd_callback_mark(false);
}

/* ---- the thread ---------------------------------------------------------------------- */

static void *
callback_main(void *arg)
{
	struct nd_adapter *a = arg;
	struct epoll_event ev;
	uint32_t kind;

	for (;;) {
		if (epoll_wait(a->callbacks.epoll_fd, &ev, 1, -1) != 1)
			continue;
		kind = (uint32_t)(ev.data.u64 >> 32);
		if (kind == ND_CALLBACK_STOP)
			return NULL;
		a->handlers->on_ready[kind](a, (uint32_t)ev.data.u64);
	}
}

bool
nd_callbacks_watch(struct nd_adapter *a, int fd, enum nd_callback_kind kind, uint32_t id)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = (uint64_t)kind << 32 | id};

	return epoll_ctl(a->callbacks.epoll_fd, EPOLL_CTL_ADD, fd, &ev) == 0;
}

int
nd_callbacks_timer(struct nd_adapter *a, enum nd_callback_kind kind, uint32_t id)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd >= 0 && !nd_callbacks_watch(a, fd, kind, id)) {
		close(fd);
		return -1;
	}
	return fd;
}

void
nd_callbacks_unwatch(struct nd_adapter *a, int fd)
{
	(void)epoll_ctl(a->callbacks.epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

static int
callbacks_swap_end_fd(struct nd_adapter *a, int fd)
{
	int old;

	nd_spin_lock(&a->windows_lock);
	old = a->callbacks.end_fd;
	a->callbacks.end_fd = fd;
	nd_spin_unlock(&a->windows_lock);
	return old;
}

static void
callbacks_close_fds(struct nd_adapter *a)
{
	struct nd_callbacks *c = &a->callbacks;
	int end_fd = callbacks_swap_end_fd(a, -1); /* windows may still end */

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
	(void)callbacks_swap_end_fd(a, eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)); /* look at once */
	c->running = c->epoll_fd >= 0 && c->stop_fd >= 0 && c->offer_fd >= 0 && c->end_fd >= 0 &&
		     nd_callbacks_watch(a, c->stop_fd, ND_CALLBACK_STOP, 0) &&
		     nd_callbacks_watch(a, c->offer_fd, ND_CALLBACK_OFFER, 0) &&
		     nd_callbacks_watch(a, c->end_fd, ND_CALLBACK_END, 0) &&
		     nd_thread_start_callbacks(&c->thread, callback_main, a);
	if (!c->running)
		callbacks_close_fds(a);
	return c->running;
}

void
nd_callbacks_stop(struct nd_adapter *a)
{
	struct nd_callbacks *c = &a->callbacks;

	if (!c->running)
		return;
	nd_fd_wake(c->stop_fd);
	pthread_join(c->thread, NULL);
	pthread_mutex_lock(&a->lock);
	callbacks_close_fds(a);
	c->running = false;
	pthread_mutex_unlock(&a->lock);
}
