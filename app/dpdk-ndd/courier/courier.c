/* SPDX-License-Identifier: BSD-3-Clause */
#include "courier/courier.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "courier/rest.h"
#include "lcore/wakeup.h"
#include "platform/clock.h"

#define STACK_BYTES (256u << 10)
#define READY_MAX   64
#define LATER_NS    NDD_MS
#define LAST	    (1u << 31) /* asked */
#define DONE	    (1u << 31) /* told: that was the last errand */

struct ndd_courier {
	struct ndd_couriers *all;
	int epoll_fd;
	struct ndd_rest rest;
	struct ndd_arrears arrears; /* if no number keeps them */
	bool later;		    /* the thread's: something is asked for again */
	struct ndd_stacked *held;   /* errands that wait until it has rested */
	struct ndd_wakeup wakeup;
	struct ndd_stacked *given; /* errands */
	bool stop;
	uint32_t holders; /* the thread and, until the release, the control thread */
};

/* ---- errands ------------------------------------------------------------------------------- */

/* One that is among the errands already is not put there again: it is taken with all bits. */
void
ndd_errand_ask(struct ndd_errand *e, uint32_t bits)
{
	struct ndd_courier *c = e->courier;

	if (c == c->all->local) {
		e->run(e, bits);
		return;
	}
	if (__atomic_fetch_or(&e->asked, bits, __ATOMIC_ACQ_REL) != 0)
		return;
	ndd_stack_push(&c->given, &e->given);
	ndd_wakeup_notify(&c->wakeup);
}

void
ndd_errand_ask_last(struct ndd_errand *e, uint32_t bits, void (*closed)(void *owner), void *owner)
{
	e->closed = closed;
	e->owner = owner;
	e->courier->all->ending++;
	ndd_errand_ask(e, bits | LAST);
	ndd_wakeup_notify(&e->courier->wakeup); /* it may have held the errand */
}

void
ndd_errand_ask_later(struct ndd_errand *e, uint32_t bits)
{
	e->courier->later = true;
	ndd_errand_ask(e, bits);
}

bool
ndd_errand_takes_long(const struct ndd_errand *e)
{
	return e->courier != e->courier->all->local && ndd_rest_is_due(&e->courier->rest);
}

void
ndd_errand_tell(struct ndd_errand *e, uint32_t bits)
{
	struct ndd_couriers *all = e->courier->all;

	if (__atomic_fetch_or(&e->told, bits, __ATOMIC_ACQ_REL) != 0)
		return;
	ndd_stack_push(&all->told, &e->news);
	if (all->control != NULL)
		ndd_wakeup_notify(all->control);
}

void
ndd_errand_done(struct ndd_errand *e)
{
	ndd_errand_tell(e, DONE);
}

static bool
is_last(const struct ndd_stacked *e)
{
	return (__atomic_load_n(&((const struct ndd_errand *)e)->asked, __ATOMIC_RELAXED) & LAST) !=
	       0;
}

/* From the exchange on it may be given again, and so be in the next stack. */
static void
errand_run(struct ndd_courier *c, struct ndd_stacked *given)
{
	struct ndd_errand *e = (struct ndd_errand *)given;

	e->run(e, __atomic_exchange_n(&e->asked, 0, __ATOMIC_ACQ_REL) & ~LAST);
	ndd_rest_end_errand(&c->rest);
}

/* While it rests. False: that was all. */
static bool
errand_tell_gone(struct ndd_stacked *given)
{
	struct ndd_errand *e = (struct ndd_errand *)given;
	const uint32_t asked = __atomic_fetch_and(&e->asked, ~NDD_ERRAND_GONE, __ATOMIC_ACQ_REL);

	if ((asked & NDD_ERRAND_GONE) != 0)
		e->run(e, NDD_ERRAND_GONE);
	return asked != NDD_ERRAND_GONE;
}

/* A file's end does not wait: what is not closed takes up the place of another one. */
static struct ndd_stacked **
errands_run_some(struct ndd_courier *c, struct ndd_stacked *e, bool stop, struct ndd_stacked **held)
{
	struct ndd_stacked *next;

	for (; e != NULL; e = next) {
		next = e->next;
		if (stop || is_last(e) || ndd_rest_left_ns(&c->rest) == 0) {
			errand_run(c, e);
			continue;
		}
		if (!errand_tell_gone(e))
			continue;
		e->next = NULL;
		*held = e;
		held = &e->next;
	}
	return held;
}

static void
errands_run(struct ndd_courier *c, bool stop)
{
	struct ndd_stacked *given = ndd_stack_take(&c->given), *held = c->held;
	struct ndd_stacked **end = &c->held;

	if (given == NULL && held == NULL)
		return;
	c->held = NULL;
	ndd_rest_begin_errand(&c->rest);
	end = errands_run_some(c, held, stop, end);
	(void)errands_run_some(c, given, stop, end);
	if (c->later)
		ndd_rest_for(&c->rest, LATER_NS);
	c->later = false;
}

/* ---- files --------------------------------------------------------------------------------- */

static bool
file_control(struct ndd_courier_file *f, int op, uint32_t events)
{
	struct epoll_event ev = {.events = events | EPOLLET, .data.ptr = f};

	return epoll_ctl(f->errand->courier->epoll_fd, op, f->fd, &ev) == 0;
}

bool
ndd_courier_watch(struct ndd_courier_file *f, uint32_t events)
{
	return file_control(f, EPOLL_CTL_ADD, events);
}

void
ndd_courier_watch_for(struct ndd_courier_file *f, uint32_t events)
{
	(void)file_control(f, EPOLL_CTL_MOD, events);
}

void
ndd_courier_unwatch(const struct ndd_courier_file *f)
{
	(void)epoll_ctl(f->errand->courier->epoll_fd, EPOLL_CTL_DEL, f->fd, NULL);
}

/* What a client said before it went is heard, unless that takes a while. */
static void
files_ask(struct ndd_courier *c, const struct epoll_event *ev, int n)
{
	const bool rests = ndd_rest_left_ns(&c->rest) != 0;

	for (int i = 0; i < n; i++) {
		struct ndd_courier_file *f = ev[i].data.ptr;
		const bool gone = rests && (ev[i].events & EPOLLHUP) != 0;

		if (f != NULL)
			ndd_errand_ask(f->errand, f->bit | (gone ? NDD_ERRAND_GONE : 0));
	}
}

static bool
has_errands(const struct ndd_courier *c)
{
	for (const struct ndd_stacked *e = c->held; e != NULL; e = e->next)
		if (is_last(e))
			return true;
	return __atomic_load_n(&c->given, __ATOMIC_RELAXED) != NULL ||
	       __atomic_load_n(&c->stop, __ATOMIC_ACQUIRE);
}

static int
sleep_ms(struct ndd_courier *c)
{
	if (has_errands(c))
		return 0;
	if (c->held == NULL)
		return -1;
	return (int)((ndd_rest_left_ns(&c->rest) + NDD_MS - 1) / NDD_MS);
}

/* Each write to the wakeup's file is an edge: nobody reads it. What is ready is asked for before
 * the next errand, which may free it. */
static void
files_serve(struct ndd_courier *c)
{
	struct epoll_event ev[READY_MAX];
	int n;

	ndd_wakeup_before_sleep(&c->wakeup);
	n = epoll_wait(c->epoll_fd, ev, READY_MAX, sleep_ms(c));
	ndd_wakeup_after_sleep(&c->wakeup);
	files_ask(c, ev, n);
}

/* ---- the thread ---------------------------------------------------------------------------- */

static void
courier_free(struct ndd_courier *c)
{
	ndd_wakeup_fini(&c->wakeup);
	if (c->epoll_fd >= 0)
		close(c->epoll_fd);
	free(c);
}

static void
courier_drop(struct ndd_courier *c)
{
	struct ndd_couriers *all = c->all;

	if (__atomic_sub_fetch(&c->holders, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	courier_free(c);
	__atomic_sub_fetch(&all->running, 1, __ATOMIC_RELEASE);
}

/* Nothing is given behind the release, so what was given before is all. */
static void *
courier_main(void *arg)
{
	struct ndd_courier *c = arg;
	bool stop = false;

	while (!stop) {
		stop = __atomic_load_n(&c->stop, __ATOMIC_ACQUIRE);
		files_serve(c);
		errands_run(c, stop);
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

static struct ndd_courier *
courier_new(struct ndd_couriers *all)
{
	struct ndd_courier *c = aligned_alloc(_Alignof(struct ndd_courier), sizeof(*c));

	if (c == NULL)
		return NULL;
	*c = (struct ndd_courier){.all = all, .wakeup.fd = -1};
	c->rest.arrears = &c->arrears;
	c->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return c;
}

struct ndd_courier *
ndd_courier_start(struct ndd_couriers *all, struct ndd_arrears *arrears)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET, .data.ptr = NULL};
	struct ndd_courier *c = courier_new(all);

	if (c == NULL)
		return NULL;
	if (arrears != NULL)
		c->rest.arrears = arrears;
	c->holders = 2;
	__atomic_add_fetch(&all->running, 1, __ATOMIC_RELAXED);
	if (c->epoll_fd >= 0 && ndd_wakeup_init(&c->wakeup) &&
		epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, c->wakeup.fd, &ev) == 0 && thread_start(c))
		return c;
	c->holders = 1; /* there is no thread */
	courier_drop(c);
	return NULL;
}

struct ndd_courier *
ndd_courier_start_local(struct ndd_couriers *all)
{
	struct ndd_courier *c = courier_new(all);

	if (c == NULL || c->epoll_fd >= 0)
		return c;
	free(c);
	return NULL;
}

struct ndd_courier *
ndd_courier_local(const struct ndd_courier *c)
{
	return c->all->local;
}

int
ndd_courier_fd(const struct ndd_courier *c)
{
	return c->epoll_fd;
}

void
ndd_courier_serve(struct ndd_courier *c)
{
	struct epoll_event ev[READY_MAX];

	files_ask(c, ev, epoll_wait(c->epoll_fd, ev, READY_MAX, 0));
}

void
ndd_courier_free_local(struct ndd_courier *c)
{
	if (c != NULL)
		courier_free(c);
}

void
ndd_courier_release(struct ndd_courier *c)
{
	__atomic_store_n(&c->stop, true, __ATOMIC_RELEASE);
	ndd_wakeup_notify(&c->wakeup);
	courier_drop(c);
}

static void
errand_free(struct ndd_couriers *all, struct ndd_errand *e)
{
	void (*closed)(void *owner) = e->closed;
	void *owner = e->owner;

	all->ending--;
	free(e);
	if (closed != NULL)
		closed(owner);
}

void
ndd_couriers_collect(struct ndd_couriers *all)
{
	struct ndd_stacked *first = ndd_stack_take(&all->told), *next;

	for (; first != NULL; first = next) {
		struct ndd_errand *e =
			(struct ndd_errand *)((char *)first - offsetof(struct ndd_errand, news));
		uint32_t told;

		next = first->next;
		told = __atomic_exchange_n(&e->told, 0, __ATOMIC_ACQ_REL);
		if (e->hear != NULL)
			e->hear(e, told & ~DONE);
		if (told & DONE)
			errand_free(all, e);
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
