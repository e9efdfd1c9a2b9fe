/* SPDX-License-Identifier: BSD-3-Clause */
#include "courier/courier.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "lcore/wakeup.h"
#include "platform/clock.h"

#define STACK_BYTES (256u << 10)
#define READY_MAX   64
#define TIRED_NS    NDD_MS

struct ndd_courier {
	struct ndd_couriers *all;
	int epoll_fd;
	bool tired; /* the thread's: something is to be tried again */
	struct ndd_wakeup wakeup;
	struct ndd_errand *given; /* a stack: the last one that was given comes first */
	bool stop;
	uint32_t holders; /* the thread and, until the release, the control thread */
};

/* ---- errands ------------------------------------------------------------------------------- */

/* Any thread pushes; one takes all at once, so nothing that was taken comes back meanwhile. */
static void
stack_push(struct ndd_errand **stack, struct ndd_errand *e)
{
	struct ndd_errand *first = __atomic_load_n(stack, __ATOMIC_RELAXED);

	do
		e->next = first;
	while (!__atomic_compare_exchange_n(
		stack, &first, e, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

/* In the order in which they were pushed. */
static struct ndd_errand *
stack_take(struct ndd_errand **stack)
{
	struct ndd_errand *e = __atomic_exchange_n(stack, NULL, __ATOMIC_ACQUIRE);
	struct ndd_errand *in_order = NULL;

	while (e != NULL) {
		struct ndd_errand *next = e->next;

		e->next = in_order;
		in_order = e;
		e = next;
	}
	return in_order;
}

/* One that is among the errands already is not put there again: it is taken with all bits. */
void
ndd_errand_ask(struct ndd_errand *e, uint32_t bits)
{
	struct ndd_courier *c = e->courier;

	if (__atomic_fetch_or(&e->asked, bits, __ATOMIC_ACQ_REL) != 0)
		return;
	stack_push(&c->given, e);
	ndd_wakeup_notify(&c->wakeup);
}

void
ndd_errand_ask_last(struct ndd_errand *e, uint32_t bits, void (*closed)(void *owner), void *owner)
{
	e->closed = closed;
	e->owner = owner;
	e->courier->all->ending++;
	ndd_errand_ask(e, bits);
}

void
ndd_errand_ask_later(struct ndd_errand *e, uint32_t bits)
{
	e->courier->tired = true;
	ndd_errand_ask(e, bits);
}

void
ndd_errand_done(struct ndd_errand *e)
{
	struct ndd_couriers *all = e->courier->all;

	stack_push(&all->done, e);
	if (all->control != NULL)
		ndd_wakeup_notify(all->control);
}

/* From the exchange on it may be given again, and so be in the next stack. */
static void
errands_run(struct ndd_courier *c)
{
	struct ndd_errand *e = stack_take(&c->given), *next;

	for (; e != NULL; e = next) {
		next = e->next;
		e->run(e, __atomic_exchange_n(&e->asked, 0, __ATOMIC_ACQ_REL));
	}
}

/* ---- files --------------------------------------------------------------------------------- */

bool
ndd_courier_watch(struct ndd_errand *e, int fd, uint32_t events)
{
	struct epoll_event ev = {.events = events | EPOLLET, .data.ptr = e};

	return epoll_ctl(e->courier->epoll_fd, EPOLL_CTL_ADD, fd, &ev) == 0;
}

void
ndd_courier_unwatch(struct ndd_errand *e, int fd)
{
	(void)epoll_ctl(e->courier->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

static bool
has_errands(const struct ndd_courier *c)
{
	return __atomic_load_n(&c->given, __ATOMIC_RELAXED) != NULL ||
	       __atomic_load_n(&c->stop, __ATOMIC_ACQUIRE);
}

/* Each write to the wakeup's file is an edge: nobody reads it. What is ready is served before the
 * next errand, which may free it. */
static void
files_serve(struct ndd_courier *c)
{
	struct epoll_event ev[READY_MAX];
	int n;

	ndd_wakeup_before_sleep(&c->wakeup);
	n = epoll_wait(c->epoll_fd, ev, READY_MAX, has_errands(c) ? 0 : -1);
	ndd_wakeup_after_sleep(&c->wakeup);
	for (int i = 0; i < n; i++) {
		struct ndd_errand *e = ev[i].data.ptr;

		if (e != NULL)
			e->run(e, NDD_ERRAND_READY);
	}
}

/* ---- the thread ---------------------------------------------------------------------------- */

static void
courier_drop(struct ndd_courier *c)
{
	struct ndd_couriers *all = c->all;

	if (__atomic_sub_fetch(&c->holders, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	ndd_wakeup_fini(&c->wakeup);
	if (c->epoll_fd >= 0)
		close(c->epoll_fd);
	free(c);
	__atomic_sub_fetch(&all->running, 1, __ATOMIC_RELEASE);
}

/* Nothing is given behind the release, so what was given before is all. */
static void *
courier_main(void *arg)
{
	const struct timespec tired = {.tv_nsec = TIRED_NS};
	struct ndd_courier *c = arg;
	bool stop = false;

	while (!stop) {
		stop = __atomic_load_n(&c->stop, __ATOMIC_ACQUIRE);
		files_serve(c);
		errands_run(c);
		if (!c->tired)
			continue;
		c->tired = false;
		nanosleep(&tired, NULL);
	}
	courier_drop(c);
	return NULL;
}

/* ---- the control thread -------------------------------------------------------------------- */

static bool
thread_start(struct ndd_courier *c)
{
	pthread_attr_t attr;
	pthread_t thread;

	errno = pthread_attr_init(&attr);
	if (errno != 0)
		return false;
	(void)pthread_attr_setstacksize(&attr, STACK_BYTES);
	errno = pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (errno == 0)
		errno = pthread_create(&thread, &attr, courier_main, c);
	pthread_attr_destroy(&attr);
	if (errno == 0)
		(void)pthread_setname_np(thread, NDD_COURIER_NAME);
	return errno == 0;
}

struct ndd_courier *
ndd_courier_start(struct ndd_couriers *all)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET, .data.ptr = NULL};
	struct ndd_courier *c = aligned_alloc(_Alignof(struct ndd_courier), sizeof(*c));

	if (c == NULL)
		return NULL;
	*c = (struct ndd_courier){.all = all, .holders = 2};
	c->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	__atomic_add_fetch(&all->running, 1, __ATOMIC_RELAXED);
	if (ndd_wakeup_init(&c->wakeup) && c->epoll_fd >= 0 &&
		epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, c->wakeup.fd, &ev) == 0 && thread_start(c))
		return c;
	c->holders = 1; /* there is no thread */
	courier_drop(c);
	return NULL;
}

void
ndd_courier_release(struct ndd_courier *c)
{
	__atomic_store_n(&c->stop, true, __ATOMIC_RELEASE);
	ndd_wakeup_notify(&c->wakeup);
	courier_drop(c);
}

void
ndd_couriers_collect(struct ndd_couriers *all)
{
	struct ndd_errand *e = stack_take(&all->done), *next;

	for (; e != NULL; e = next) {
		void (*closed)(void *owner) = e->closed;
		void *owner = e->owner;

		next = e->next;
		all->ending--;
		free(e);
		if (closed != NULL)
			closed(owner);
	}
}

bool
ndd_couriers_wait(const struct ndd_couriers *all, uint64_t ns)
{
	const struct timespec moment = {.tv_nsec = 100 * NDD_US};
	const uint64_t began_ns = ndd_now_ns();

	while (__atomic_load_n(&all->running, __ATOMIC_ACQUIRE) != 0) {
		if (ndd_elapsed_ns(ndd_now_ns(), began_ns) > ns)
			return false;
		nanosleep(&moment, NULL);
	}
	return true;
}
