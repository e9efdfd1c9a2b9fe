/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion ports, with completion queues and a connector that have no daemon: what they wait for
 * is cancelled, or made here. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ndclient/conn/connector.h"
#include "ndclient/cq/cq.h"
#include "ndclient/cq/notify.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/overlapped.h"
#include "ndclient/session/port.h"

#define DEPTH  16u
#define ROUNDS 1000

struct bench {
	struct nd_adapter *a;
	struct nd_port *port;
	struct nd_connector c; /* connected */
	struct nd_cq cq[2];
	void *block[2];
	int daemon_fd[2];
	int takers;	 /* threads that are about to take, or do */
	nd_status taken; /* what they get */
};

static struct bench *
make(void)
{
	struct bench *b = calloc(1, sizeof(*b));
	int fd[2];

	b->a = nd_adapter_new();
	pthread_mutex_init(&b->a->lock, NULL);
	b->a->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	b->c.adapter = b->a;
	b->c.state = ND_CONN_CONNECTED;
	for (int i = 0; i < 2; i++) {
		b->block[i] = aligned_alloc(64, ndsh_cq_bytes(DEPTH));
		memset(b->block[i], 0, ndsh_cq_bytes(DEPTH));
		cr_assert(zero(int, pipe2(fd, O_NONBLOCK | O_CLOEXEC)));
		b->cq[i].adapter = b->a;
		b->cq[i].notify_fd = fd[0];
		b->cq[i].event_fd = b->cq[i].poll_fd = -1;
		b->daemon_fd[i] = fd[1];
		ndsh_cq_reader_view(&b->cq[i].reader, b->block[i], DEPTH);
	}
	cr_assert(eq(i32, nd_port_create(&b->port), ND_SUCCESS));
	return b;
}

static void
drop(struct bench *b)
{
	for (int i = 0; i < 2; i++) {
		nd_cq_close_fds(&b->cq[i]);
		close(b->daemon_fd[i]);
		free(b->block[i]);
	}
	close(b->a->epoll_fd);
	if (b->a->port != NULL)
		nd_port_release(b->a->port);
	cr_expect(eq(i32, nd_port_close(b->port), ND_SUCCESS));
	nd_adapter_free(b->a);
	free(b);
}

static void
bind_port(struct bench *b, void *key)
{
	cr_assert(eq(i32, nd_adapter_bind_port(b->a, b->port, key), ND_SUCCESS));
}

/* The next thing in the port, which must be there. */
static void
expect(struct bench *b, struct nd_overlapped *ov, nd_status st, void *key)
{
	struct nd_overlapped *got_ov;
	void *got_key;

	cr_expect(eq(i32, nd_port_get(b->port, 0, &got_key, &got_ov), st));
	cr_expect(eq(ptr, got_ov, ov));
	cr_expect(eq(ptr, got_key, key));
}

#define EXPECT_NONE(b)	 expect(b, NULL, ND_TIMEOUT, NULL)
#define NOTIFY(cq, ov)	 cr_assert(eq(i32, nd_cq_notify(cq, ND_CQ_NOTIFY_ANY, ov), ND_PENDING))
#define AWAIT_END(b, ov) cr_assert(eq(i32, nd_connector_notify_disconnect(&(b)->c, ov), ND_PENDING))

/* checks R-OV-12[1-3] */
Test(ndclient_port, R_OV_12_failed_empty_and_posted_are_told_apart)
{
	struct bench *b = make();
	struct nd_overlapped ov = {0}, own = {.status = ND_IO_TIMEOUT};
	struct nd_overlapped *got;
	int key, stop;
	void *k;

	bind_port(b, &key);
	EXPECT_NONE(b);
	cr_expect(eq(i32, nd_port_get(b->port, 1, &k, &got), ND_TIMEOUT));
	cr_expect(zero(ptr, got));
	NOTIFY(&b->cq[0], &ov);
	EXPECT_NONE(b);
	cr_expect(eq(i32, nd_cq_cancel(&b->cq[0]), ND_SUCCESS));
	cr_expect(eq(i32, nd_port_post(b->port, &stop, NULL), ND_SUCCESS));
	cr_expect(eq(i32, nd_port_post(b->port, &stop, &own), ND_SUCCESS));
	expect(b, &ov, ND_CANCELED, &key);
	expect(b, NULL, ND_SUCCESS, &stop);
	expect(b, &own, ND_SUCCESS, &stop);
	cr_expect(eq(i32, own.status, ND_IO_TIMEOUT), "not touched");
	EXPECT_NONE(b);
	drop(b);
}

/* checks R-OV-03[1,2], R-OV-04[4] */
Test(ndclient_port, R_OV_03_one_completion_of_what_pends_and_none_of_what_fails)
{
	struct bench *b = make();
	struct nd_overlapped ov = {0};

	bind_port(b, NULL);
	b->c.state = ND_CONN_IDLE;
	cr_expect(eq(i32, nd_connector_notify_disconnect(&b->c, &ov), ND_CONNECTION_INVALID));
	cr_expect(eq(i32, nd_connector_disconnect(&b->c, &ov), ND_CONNECTION_INVALID));
	cr_expect(eq(i32, nd_cq_notify(&b->cq[0], 77, &ov), ND_INVALID_PARAMETER_1));
	EXPECT_NONE(b);
	/* a call that the daemon refuses */
	cr_expect(eq(i32, nd_overlapped_begin(b->a, &ov, __func__), ND_SUCCESS));
	nd_overlapped_refuse(&ov, ND_INVALID_ADDRESS);
	cr_expect(eq(i32, nd_overlapped_status(&ov), ND_INVALID_ADDRESS));
	EXPECT_NONE(b);
	b->c.state = ND_CONN_PASSIVE_DISC; /* known at once: it pends all the same */
	AWAIT_END(b, &ov);
	expect(b, &ov, ND_SUCCESS, NULL);
	EXPECT_NONE(b);
	drop(b);
}

/* checks R-OV-06[2,3] */
Test(ndclient_port, R_OV_06_a_marked_request_signals_its_event_only)
{
	const uint32_t flags[] = {0, ND_REQUEST_EVENT, ND_REQUEST_EVENT | ND_REQUEST_NOT_TO_PORT,
		ND_REQUEST_NOT_TO_PORT};
	struct bench *b = make();
	struct nd_overlapped ov = {.event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
	uint64_t n;

	bind_port(b, b);
	for (int i = 0; i < 4; i++) {
		bool told;

		ov.flags = flags[i];
		NOTIFY(&b->cq[0], &ov);
		cr_expect(eq(i32, nd_cq_cancel(&b->cq[0]), ND_SUCCESS));
		cr_expect(eq(i32, nd_overlapped_status(&ov), ND_CANCELED));
		told = read(ov.event, &n, sizeof(n)) == (ssize_t)sizeof(n);
		cr_expect(eq(int, told, (flags[i] & ND_REQUEST_EVENT) != 0), "%#x", flags[i]);
		if ((flags[i] & ND_REQUEST_NOT_TO_PORT) == 0)
			expect(b, &ov, ND_CANCELED, b);
		EXPECT_NONE(b);
	}
	close(ov.event);
	drop(b);
}

Test(ndclient_port, a_port_of_the_requests_own_comes_first)
{
	struct bench *b = make();
	struct nd_overlapped ov = {.key = &ov}, *got;
	struct nd_port *other;
	void *key;

	cr_assert(eq(i32, nd_port_create(&other), ND_SUCCESS));
	bind_port(b, b);
	cr_expect(
		eq(i32, nd_adapter_bind_port(b->a, other, NULL), ND_INVALID_DEVICE_STATE), "once");
	ov.port = other;
	AWAIT_END(b, &ov);
	nd_conn_end_waiters(&b->c, ND_CONNECTION_DISCONNECTED);
	EXPECT_NONE(b);
	cr_expect(eq(i32, nd_port_get(other, 0, &key, &got), ND_CONNECTION_DISCONNECTED));
	cr_expect(eq(ptr, got, &ov));
	cr_expect(eq(ptr, key, &ov));
	ov.port = NULL;
	AWAIT_END(b, &ov);
	nd_conn_end_waiters(&b->c, ND_CANCELED);
	expect(b, &ov, ND_CANCELED, b);
	cr_expect(eq(i32, nd_port_close(other), ND_SUCCESS));
	drop(b);
}

/*
 * checks R-OV-10[1-4]: two queues cancelled in order and in reverse order, and two requests of
 * one queue.
 */
Test(ndclient_port, R_OV_10_cancel_queues_in_order_of_issue_before_it_returns)
{
	struct bench *b = make();
	struct nd_overlapped o1 = {0}, o2 = {0}, end = {0};

	bind_port(b, NULL);
	AWAIT_END(b, &end);
	for (int i = 0; i < ROUNDS; i++) {
		NOTIFY(&b->cq[0], &o1);
		NOTIFY(&b->cq[1], &o2);
		cr_assert(eq(i32, nd_cq_cancel(&b->cq[0]), ND_SUCCESS));
		expect(b, &o1, ND_CANCELED, NULL);
		EXPECT_NONE(b);
		cr_assert(eq(i32, nd_cq_cancel(&b->cq[1]), ND_SUCCESS));
		expect(b, &o2, ND_CANCELED, NULL);

		NOTIFY(&b->cq[0], &o1);
		NOTIFY(&b->cq[1], &o2);
		cr_assert(eq(i32, nd_cq_cancel(&b->cq[1]), ND_SUCCESS));
		cr_assert(eq(i32, nd_cq_cancel(&b->cq[0]), ND_SUCCESS));
		expect(b, &o2, ND_CANCELED, NULL);
		expect(b, &o1, ND_CANCELED, NULL);

		NOTIFY(&b->cq[0], &o1);
		NOTIFY(&b->cq[0], &o2);
		cr_assert(eq(i32, nd_cq_cancel(&b->cq[0]), ND_SUCCESS));
		expect(b, &o1, ND_CANCELED, NULL);
		expect(b, &o2, ND_CANCELED, NULL);
		EXPECT_NONE(b);
	}
	cr_expect(eq(i32, nd_overlapped_status(&end), ND_PENDING), "another object's");
	cr_expect(eq(i32, nd_connector_cancel(&b->c), ND_SUCCESS));
	expect(b, &end, ND_CANCELED, NULL);
	drop(b);
}

/* checks R-CQ-20[1-3] */
Test(ndclient_port, R_CQ_20_one_event_completes_all_in_order_of_issue)
{
	struct bench *b = make();
	struct nd_overlapped ov[5] = {0};
	struct ndsh_cq daemon;

	bind_port(b, NULL);
	ndsh_cq_view(&daemon, b->block[0], DEPTH);
	for (int i = 0; i < 5; i++)
		NOTIFY(&b->cq[0], &ov[i]);
	cr_assert(ndsh_cq_push(&daemon, &(struct ndsh_cqe){.op = NDSH_OP_RECV}));
	ndsh_cq_publish(&daemon);
	ndsh_full_barrier();
	cr_assert(ndsh_cq_fire(&daemon));
	cr_assert(eq(int, (int)write(b->daemon_fd[0], "", 1), 1));
	nd_cq_readable(&b->cq[0]);
	for (int i = 0; i < 5; i++)
		expect(b, &ov[i], ND_SUCCESS, NULL);
	EXPECT_NONE(b);
	drop(b);
}

/* The packet is not the request: a thread that waited for the outcome may reuse it or free it. */
Test(ndclient_port, a_request_may_be_used_again_and_freed_before_its_packet_was_taken)
{
	struct bench *b = make();
	struct nd_overlapped *ov =
		mmap(NULL, sizeof(*ov), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	bind_port(b, NULL);
	AWAIT_END(b, ov);
	nd_conn_end_waiters(&b->c, ND_CONNECTION_DISCONNECTED);
	cr_expect(eq(i32, nd_overlapped_wait(ov, 0), ND_CONNECTION_DISCONNECTED));
	NOTIFY(&b->cq[0], ov);
	cr_expect(eq(i32, nd_cq_cancel(&b->cq[0]), ND_SUCCESS));
	cr_expect(eq(i32, nd_overlapped_wait(ov, 0), ND_CANCELED));
	memset(ov, 0xff, sizeof(*ov));
	expect(b, ov, ND_CONNECTION_DISCONNECTED, NULL);
	munmap(ov, sizeof(*ov));
	expect(b, ov, ND_CANCELED, NULL);
	EXPECT_NONE(b);
	drop(b);
}

/* checks R-OV-02[4] */
Test(ndclient_port, R_OV_02_a_request_under_way_is_not_begun_again)
{
	struct bench *b = make();
	struct nd_overlapped ov = {
		.flags = ND_REQUEST_EVENT, .event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
	uint64_t n;

	bind_port(b, NULL);
	NOTIFY(&b->cq[0], &ov);
	cr_expect(eq(i32, nd_cq_notify(&b->cq[0], ND_CQ_NOTIFY_ANY, &ov), ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_cq_notify(&b->cq[1], ND_CQ_NOTIFY_ANY, &ov), ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_connector_notify_disconnect(&b->c, &ov), ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_overlapped_status(&ov), ND_PENDING));
	nd_conn_end_waiters(&b->c, ND_SUCCESS);
	cr_expect(eq(i32, nd_cq_cancel(&b->cq[1]), ND_SUCCESS));
	cr_expect(eq(i32, nd_overlapped_status(&ov), ND_PENDING));
	EXPECT_NONE(b);
	cr_expect(eq(i32, nd_cq_cancel(&b->cq[0]), ND_SUCCESS));
	expect(b, &ov, ND_CANCELED, NULL);
	EXPECT_NONE(b);
	cr_expect(eq(int, (int)read(ov.event, &n, sizeof(n)), (int)sizeof(n)));
	cr_expect(eq(u64, n, 1), "told once");
	close(ov.event);
	drop(b);
}

/* checks R-OV-06[1]: which of many requests are over, by one epoll_wait(). */
Test(ndclient_port, R_OV_06_events_of_requests_in_an_event_loop)
{
	struct bench *b = make();
	int loop = epoll_create1(EPOLL_CLOEXEC);
	struct nd_overlapped ov[3] = {0};
	struct epoll_event ev[3];
	uint64_t n;

	for (uint32_t i = 0; i < 3; i++) {
		ov[i].flags = ND_REQUEST_EVENT;
		ov[i].event = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC); /* of an earlier request */
		ev[0] = (struct epoll_event){.events = EPOLLIN, .data.u32 = i};
		cr_assert(zero(int, epoll_ctl(loop, EPOLL_CTL_ADD, ov[i].event, &ev[0])));
	}
	NOTIFY(&b->cq[0], &ov[0]);
	AWAIT_END(b, &ov[1]);
	NOTIFY(&b->cq[1], &ov[2]);
	cr_expect(zero(int, epoll_wait(loop, ev, 3, 0)), "cleared when they pend");
	cr_expect(eq(i32, nd_cq_cancel(&b->cq[1]), ND_SUCCESS));
	cr_assert(eq(int, epoll_wait(loop, ev, 3, 0), 1));
	cr_expect(eq(u32, ev[0].data.u32, 2));
	cr_expect(eq(i32, nd_overlapped_status(&ov[2]), ND_CANCELED), "the status is there");
	cr_expect(eq(int, (int)read(ov[2].event, &n, sizeof(n)), (int)sizeof(n)));
	nd_conn_end_waiters(&b->c, ND_CONNECTION_DISCONNECTED);
	cr_expect(eq(i32, nd_cq_cancel(&b->cq[0]), ND_SUCCESS));
	cr_expect(eq(int, epoll_wait(loop, ev, 3, 0), 2));
	for (uint32_t i = 0; i < 3; i++)
		close(ov[i].event);
	close(loop);
	drop(b);
}

/* A request with an event that takes nothing more: the thread that completes it is held up. */
struct held {
	struct nd_overlapped ov;
	struct nd_cq *cq;
	pthread_t thread;
	uint32_t through; /* atomic */
};

static void *
cancel(void *arg)
{
	struct held *h = arg;

	cr_expect(eq(i32, nd_cq_cancel(h->cq), ND_SUCCESS));
	__atomic_store_n(&h->through, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void
hold(struct held *h, struct nd_cq *cq)
{
	const uint64_t most = UINT64_MAX - 1;

	*h = (struct held){
		.cq = cq, .ov = {.flags = ND_REQUEST_EVENT, .event = eventfd(1, EFD_CLOEXEC)}};
	NOTIFY(cq, &h->ov);
	cr_assert(eq(int, (int)write(h->ov.event, &most, sizeof(most)), (int)sizeof(most)));
	pthread_create(&h->thread, NULL, cancel, h);
}

static void
let_go(struct held *h)
{
	uint64_t n;

	cr_expect(eq(int, (int)read(h->ov.event, &n, sizeof(n)), (int)sizeof(n)));
	pthread_join(h->thread, NULL);
	close(h->ov.event);
}

/* The event has been told, or is being told: the request ends at any moment. */
static void
await_ending(struct held *h)
{
	while (__atomic_load_n(&h->ov.ending, __ATOMIC_ACQUIRE) == 0)
		usleep(1000);
}

/*
 * checks R-OV-06[4]: a thread that has seen the outcome may close the event and free the request,
 * and one that the event woke finds the outcome; neither holds up the taking of results.
 */
Test(ndclient_port, R_OV_06_nothing_is_touched_when_the_outcome_is_known, .timeout = 20)
{
	struct bench *b = make();
	struct nd_result r;
	struct held h;
	uint64_t n;

	bind_port(b, b);
	hold(&h, &b->cq[0]);
	await_ending(&h);
	cr_expect(eq(i32, nd_overlapped_wait(&h.ov, 10), ND_TIMEOUT), "the event first");
	EXPECT_NONE(b);
	cr_expect(zero(i32, nd_cq_get_results(&b->cq[0], &r, 1)));
	cr_expect(eq(int, (int)read(h.ov.event, &n, sizeof(n)), (int)sizeof(n)));
	cr_expect(eq(i32, nd_overlapped_status(&h.ov), ND_CANCELED));
	close(h.ov.event);
	memset(&h.ov, 0xff, sizeof(h.ov));
	pthread_join(h.thread, NULL);
	expect(b, &h.ov, ND_CANCELED, b);
	drop(b);
}

static void *
read_later(void *arg)
{
	struct held *h = arg;
	uint64_t n;

	usleep(20000);
	cr_expect(eq(int, (int)read(h->ov.event, &n, sizeof(n)), (int)sizeof(n)));
	return NULL;
}

/* checks R-OV-06[4]: a thread that the event woke begins the next request with it at once. */
Test(ndclient_port, R_OV_06_a_request_is_begun_again_as_its_event_tells, .timeout = 20)
{
	struct bench *b = make();
	pthread_t reader;
	struct held h;

	hold(&h, &b->cq[0]);
	await_ending(&h);
	pthread_create(&reader, NULL, read_later, &h);
	NOTIFY(&b->cq[1], &h.ov);
	pthread_join(reader, NULL);
	pthread_join(h.thread, NULL);
	cr_expect(eq(i32, nd_overlapped_status(&h.ov), ND_PENDING));
	cr_expect(eq(i32, nd_cq_cancel(&b->cq[1]), ND_SUCCESS));
	cr_expect(eq(i32, nd_overlapped_status(&h.ov), ND_CANCELED));
	close(h.ov.event);
	drop(b);
}

/* checks R-OV-10[2]: what another thread is completing is queued, too, when cancel returns. */
Test(ndclient_port, R_OV_10_cancel_waits_for_who_completes, .timeout = 20)
{
	struct bench *b = make();
	struct held h, second = {.cq = &b->cq[0]};
	struct nd_overlapped more = {0};

	bind_port(b, NULL);
	hold(&h, &b->cq[0]);
	await_ending(&h);
	pthread_create(&second.thread, NULL, cancel, &second);
	usleep(20000); /* it is within cancel by now; if it is not, the test asks for less */
	cr_expect(zero(u32, __atomic_load_n(&second.through, __ATOMIC_ACQUIRE)));
	cr_expect(zero(u32, __atomic_load_n(&h.through, __ATOMIC_ACQUIRE)));
	EXPECT_NONE(b);
	let_go(&h);
	pthread_join(second.thread, NULL);
	expect(b, &h.ov, ND_CANCELED, NULL);
	NOTIFY(&b->cq[0], &more);
	cr_expect(eq(i32, nd_cq_cancel(&b->cq[0]), ND_SUCCESS));
	expect(b, &more, ND_CANCELED, NULL);
	drop(b);
}

static void *
take_one(void *arg)
{
	struct bench *b = arg;
	struct nd_overlapped *ov;
	void *key;

	__atomic_fetch_add(&b->takers, 1, __ATOMIC_RELEASE);
	cr_expect(eq(i32, nd_port_get(b->port, 30000, &key, &ov), b->taken));
	return key;
}

/* How many threads of the process sleep. */
static int
threads_asleep(void)
{
	glob_t tasks;
	int asleep = 0;

	cr_assert(zero(int, glob("/proc/self/task/[0-9]*/stat", 0, NULL, &tasks)));
	for (size_t i = 0; i < tasks.gl_pathc; i++) {
		FILE *f = fopen(tasks.gl_pathv[i], "r");
		char state = '?';

		if (f != NULL && fscanf(f, "%*d (%*[^)]) %c", &state) == 1)
			asleep += state == 'S';
		if (f != NULL)
			fclose(f);
	}
	globfree(&tasks);
	return asleep;
}

/* Until so many threads, all but the caller, wait in the port. */
static void
await_takers(struct bench *b, int wanted)
{
	while (__atomic_load_n(&b->takers, __ATOMIC_ACQUIRE) < wanted || threads_asleep() < wanted)
		usleep(1000);
}

/* On one CPU and with nothing but its idle time, so that none of them runs before all is posted. */
static void *
take_one_later(void *arg)
{
	const struct sched_param none = {0};

	(void)pthread_setschedparam(pthread_self(), SCHED_IDLE, &none);
	return take_one(arg);
}

Test(ndclient_port, each_of_several_takers_gets_one, .timeout = 20)
{
	struct bench *b = make();
	uintptr_t seen = 0;
	nd_status st = ND_SUCCESS;
	pthread_t t[4];
	cpu_set_t cpu;
	void *key;

	CPU_ZERO(&cpu);
	CPU_SET(sched_getcpu(), &cpu);
	cr_assert(zero(int, sched_setaffinity(0, sizeof(cpu), &cpu)));
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, take_one_later, b);
	await_takers(b, 4);
	for (uintptr_t i = 0; i < 4; i++)
		st |= nd_port_post(b->port, (void *)((uintptr_t)1 << i), NULL);
	cr_expect(eq(i32, st, ND_SUCCESS));
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], &key);
		seen |= (uintptr_t)key;
	}
	cr_expect(eq(u64, seen, 15));
	drop(b);
}

/* A close never waits and never fails: those that wait return, and each other use goes on. */
Test(ndclient_port, a_port_is_closed_under_threads_that_wait_for_it, .timeout = 20)
{
	struct bench *b = make();
	pthread_t t[3];
	void *key;

	b->taken = ND_CANCELED;
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, take_one, b);
	await_takers(b, 3);
	cr_expect(eq(i32, nd_port_close(b->port), ND_SUCCESS));
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], &key);
		cr_expect(zero(ptr, key));
	}
	cr_expect(eq(i32, nd_port_close(NULL), ND_SUCCESS));
	b->port = NULL;
	drop(b);
}

/* What is under way completes, and its packet is dropped with those that nobody took. */
Test(ndclient_port, a_port_is_closed_while_requests_and_an_adapter_use_it)
{
	struct bench *b = make();
	struct nd_overlapped ov = {.port = b->port}, bound = {0};

	bind_port(b, NULL);
	cr_expect(eq(i32, nd_port_post(b->port, b, NULL), ND_SUCCESS));
	AWAIT_END(b, &ov);
	cr_expect(eq(i32, nd_port_close(b->port), ND_SUCCESS));
	nd_conn_end_waiters(&b->c, ND_CANCELED);
	cr_expect(eq(i32, nd_overlapped_status(&ov), ND_CANCELED));
	AWAIT_END(b, &bound); /* goes to the adapter's, which is closed */
	nd_conn_end_waiters(&b->c, ND_CONNECTION_DISCONNECTED);
	cr_expect(eq(i32, nd_overlapped_status(&bound), ND_CONNECTION_DISCONNECTED));
	b->port = NULL;
	drop(b);
}
