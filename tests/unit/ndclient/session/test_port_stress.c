/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One completion port between threads that ask for notifications, make entries, cancel, post, and
 * take. Each request that pends must come out once, while others race for its outcome; and each
 * entry once, whichever thread takes it and by which call. A program of its own for a
 * ThreadSanitizer build (-Db_sanitize=thread), as test_arm_stress.c. The deadline only bounds a
 * failure.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ndclient/cq/cq.h"
#include "ndclient/cq/notify.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/port.h"
#include "rigs/stress.h"

#define QUEUES	    2u
#define TAKERS	    2u
#define OWN	    4u /* requests that one thread has under way */
#define ROUNDS	    20000u
#define DEPTH	    64u
#define DEADLINE_MS 60000

struct request {
	struct nd_overlapped ov;
	uint32_t out; /* 1: taken from the port; atomic */
};

struct queue {
	struct nd_cq cq;
	struct ndsh_cq daemon;
	struct request own[OWN];
	int daemon_fd;
	uint32_t stop; /* atomic */
	uint64_t made;
	uint64_t taken, sum; /* entries, and of their numbers; atomic */
	pthread_t asker, maker, canceler, poller;
};

static struct nd_port *port;
static struct nd_adapter *adapter;

static void
count(struct queue *q, const void *number)
{
	__atomic_fetch_add(&q->taken, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&q->sum, (uintptr_t)number, __ATOMIC_RELAXED);
}

/* Asks with its requests in turn; one that is still under way is waited for. */
static void *
ask(void *arg)
{
	struct queue *q = arg;
	struct nd_result r[8];

	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct request *w = &q->own[i % OWN];
		nd_status st;

		while (__atomic_load_n(&w->out, __ATOMIC_ACQUIRE) == 0)
			sched_yield();
		__atomic_store_n(&w->out, 0, __ATOMIC_RELAXED);
		st = nd_cq_notify(&q->cq, ND_CQ_NOTIFY_ANY, &w->ov);
		STRESS_CHECK(st == ND_PENDING, "%s\n", nd_status_name(st));
		for (int32_t n; (n = nd_cq_get_results(&q->cq, r, 8)) > 0;)
			while (n > 0)
				count(q, r[--n].request_context);
	}
	for (uint32_t i = 0; i < OWN; i++)
		while (__atomic_load_n(&q->own[i].out, __ATOMIC_ACQUIRE) == 0)
			sched_yield();
	__atomic_store_n(&q->stop, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* The daemon and the control thread in one. */
static void *
make_entries(void *arg)
{
	struct queue *q = arg;

	while (__atomic_load_n(&q->stop, __ATOMIC_ACQUIRE) == 0) {
		uint64_t taken = __atomic_load_n(&q->daemon.page->consumer, __ATOMIC_ACQUIRE);

		if ((uint32_t)(q->made - taken) < DEPTH / 2) {
			struct ndsh_cqe e = {.op = NDSH_OP_RECV, .context = q->made};

			STRESS_CHECK(ndsh_cq_push(&q->daemon, &e), "entry %lu\n",
				(unsigned long)q->made);
			q->made++;
			ndsh_cq_publish(&q->daemon);
			ndsh_full_barrier();
			if (ndsh_cq_fire(&q->daemon))
				STRESS_CHECK(write(q->daemon_fd, "", 1) == 1, "pipe\n");
		}
		nd_cq_readable(&q->cq);
		sched_yield();
	}
	return NULL;
}

/* Beside the asker, by the other call (R-CQ-27 would spare the library this). */
static void *
poll_too(void *arg)
{
	struct nd_result_ex r[4];
	struct queue *q = arg;
	int32_t n = 0;

	while (n > 0 || __atomic_load_n(&q->stop, __ATOMIC_ACQUIRE) == 0) {
		n = nd_cq_get_results_ex(&q->cq, r, 4);
		STRESS_CHECK(n >= 0, "%s\n", nd_status_name(n));
		for (int32_t i = 0; i < n; i++)
			count(q, r[i].request_context);
		if (n == 0)
			sched_yield();
	}
	return NULL;
}

static void *
cancel(void *arg)
{
	struct queue *q = arg;

	while (__atomic_load_n(&q->stop, __ATOMIC_ACQUIRE) == 0) {
		nd_cq_cancel(&q->cq);
		(void)nd_overlapped_status(&q->own[0].ov); /* of another thread's request */
		sched_yield();
	}
	return NULL;
}

/* Until it gets a packet without a request. */
static void *
take(void *arg)
{
	uint64_t *taken = arg;
	struct nd_overlapped *ov;
	struct request *w;
	nd_status st;
	void *key;

	for (;;) {
		st = nd_port_get(port, DEADLINE_MS, &key, &ov);
		STRESS_CHECK(st != ND_TIMEOUT, "nothing came\n");
		if (ov == NULL)
			return NULL;
		w = (struct request *)ov;
		STRESS_CHECK(st == ND_SUCCESS || st == ND_CANCELED, "%s\n", nd_status_name(st));
		STRESS_CHECK(key == adapter, "its key\n");
		STRESS_CHECK(__atomic_load_n(&w->out, __ATOMIC_RELAXED) == 0, "taken twice\n");
		__atomic_fetch_add(taken, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&w->out, 1, __ATOMIC_RELEASE);
	}
}

static void
make_queue(struct queue *q)
{
	void *block = aligned_alloc(64, ndsh_cq_bytes(DEPTH));
	int fd[2];

	memset(q, 0, sizeof(*q));
	memset(block, 0, ndsh_cq_bytes(DEPTH));
	STRESS_CHECK(pipe2(fd, O_NONBLOCK | O_CLOEXEC) == 0, "pipe\n");
	q->cq.adapter = adapter;
	q->cq.notify_fd = fd[0];
	q->cq.event_fd = q->cq.poll_fd = -1;
	q->daemon_fd = fd[1];
	ndsh_cq_reader_view(&q->cq.reader, block, DEPTH);
	ndsh_cq_view(&q->daemon, block, DEPTH);
	for (uint32_t i = 0; i < OWN; i++) {
		q->own[i].out = 1;
		if (i == 1) { /* both ways */
			q->own[i].ov.flags = ND_REQUEST_EVENT;
			q->own[i].ov.event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		}
	}
}

static void
end_queue(struct queue *q)
{
	struct nd_result r;

	pthread_join(q->asker, NULL);
	pthread_join(q->maker, NULL);
	pthread_join(q->canceler, NULL);
	pthread_join(q->poller, NULL);
	while (nd_cq_get_results(&q->cq, &r, 1) > 0)
		count(q, r.request_context);
	STRESS_CHECK(q->taken == q->made && q->sum == q->made * (q->made - 1) / 2, "%lu of %lu\n",
		(unsigned long)q->taken, (unsigned long)q->made);
	nd_cq_close_fds(&q->cq);
	close(q->daemon_fd);
	close(q->own[1].ov.event);
	free(q->cq.reader.page);
}

/*
 * checks R-CQ-27[3], R-OV-03[1], R-OV-09, R-OV-11[2]: here threads may do at once what NDK
 * forbids them
 */
int
main(void)
{
	static struct queue q[QUEUES];
	pthread_t taker[TAKERS];
	uint64_t taken = 0;

	adapter = nd_adapter_new();
	pthread_mutex_init(&adapter->lock, NULL);
	adapter->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	STRESS_CHECK(nd_port_create(&port) == ND_SUCCESS, "port\n");
	STRESS_CHECK(nd_adapter_bind_port(adapter, port, adapter) == ND_SUCCESS, "bind\n");
	for (uint32_t i = 0; i < TAKERS; i++)
		pthread_create(&taker[i], NULL, take, &taken);
	for (uint32_t i = 0; i < QUEUES; i++) {
		make_queue(&q[i]);
		pthread_create(&q[i].asker, NULL, ask, &q[i]);
		pthread_create(&q[i].maker, NULL, make_entries, &q[i]);
		pthread_create(&q[i].canceler, NULL, cancel, &q[i]);
		pthread_create(&q[i].poller, NULL, poll_too, &q[i]);
	}
	for (uint32_t i = 0; i < QUEUES; i++)
		end_queue(&q[i]);
	for (uint32_t i = 0; i < TAKERS; i++)
		STRESS_CHECK(nd_port_post(port, NULL, NULL) == ND_SUCCESS, "post\n");
	for (uint32_t i = 0; i < TAKERS; i++)
		pthread_join(taker[i], NULL);
	STRESS_CHECK(taken == (uint64_t)QUEUES * ROUNDS, "%lu taken\n", (unsigned long)taken);
	nd_port_release(port); /* the adapter's end */
	STRESS_CHECK(nd_port_close(port) == ND_SUCCESS, "close\n");
	close(adapter->epoll_fd);
	nd_adapter_free(adapter);
	printf("%lu requests\n", (unsigned long)taken);
	return 0;
}
