/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two queues of one adapter that call back, each with a thread that is its daemon. The first is
 * emptied by its callback alone, which is what the daemon waits for again and again: one callback
 * lost, and nothing moves any more. On the second other threads arm, take, cancel and moderate at
 * the same time. Each entry must be taken once. A program of its own for a ThreadSanitizer build
 * (-Db_sanitize=thread), as test_arm_stress.c. The deadline only bounds a failure.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ndclient/cq/cq.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/callbacks.h"
#include "ndclient/session/handlers.h"
#include "rigs/stress.h"

#define ENTRIES	   40000u
#define DEPTH	   64u
#define DEADLINE_S 60

struct queue {
	struct nd_cq cq;
	struct ndsh_cq daemon;
	int daemon_fd;
	bool alone;	     /* its callback takes everything */
	uint32_t runs, seed; /* the callback's */
	uint32_t inside;     /* atomic, and so are these: */
	uint64_t taken, sum; /* of entries, and of their numbers */
	uint32_t stop;
	pthread_t maker, other[3];
};

static struct nd_adapter *adapter;

/* xorshift */
static uint32_t
random_of(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

static bool
stopped(struct queue *q)
{
	return __atomic_load_n(&q->stop, __ATOMIC_ACQUIRE) != 0;
}

static void
take_all(struct queue *q)
{
	struct nd_result r[8];
	int32_t n;

	do {
		n = nd_cq_get_results(&q->cq, r, 8);
		STRESS_CHECK(n >= 0, "%s\n", nd_status_name(n));
		for (int32_t i = 0; i < n; i++) {
			__atomic_fetch_add(&q->taken, 1, __ATOMIC_RELEASE);
			__atomic_fetch_add(
				&q->sum, (uintptr_t)r[i].request_context, __ATOMIC_RELAXED);
		}
	} while (n == 8);
}

static void
arm(struct queue *q, uint32_t type)
{
	nd_status st = nd_cq_arm_callback(&q->cq, type);

	STRESS_CHECK(st == ND_SUCCESS, "%s\n", nd_status_name(st));
}

/* It takes and arms; if it arms first there may be a callback with nothing to take. */
static void
callback(void *context, nd_status st)
{
	struct queue *q = context;
	uint32_t dice = random_of(&q->seed);

	STRESS_CHECK(__atomic_exchange_n(&q->inside, 1, __ATOMIC_ACQUIRE) == 0, "one at a time\n");
	STRESS_CHECK(st == ND_SUCCESS, "%s\n", nd_status_name(st));
	q->runs++;
	if (dice & 1)
		arm(q, ND_CQ_NOTIFY_ANY);
	take_all(q);
	if (!(dice & 1) || (dice & 2))
		arm(q, ND_CQ_NOTIFY_ANY);
	__atomic_store_n(&q->inside, 0, __ATOMIC_RELEASE);
}

/* Turns of a few entries; at times the next waits until all were taken. */
static void *
daemon_main(void *arg)
{
	struct queue *q = arg;
	uint32_t seed = 9;

	for (uint64_t made = 0; made < ENTRIES;) {
		uint32_t burst = 1 + random_of(&seed) % 3, room = seed & 256 ? 0 : DEPTH / 2;
		time_t began = time(NULL);

		while (made - __atomic_load_n(&q->daemon.page->consumer, __ATOMIC_ACQUIRE) > room) {
			STRESS_CHECK(time(NULL) - began < DEADLINE_S, "stands at %lu of %u\n",
				(unsigned long)made, ENTRIES);
			sched_yield();
		}
		for (; burst > 0 && made < ENTRIES; burst--, made++) {
			struct ndsh_cqe e = {.op = NDSH_OP_RECV, .context = made};

			if (seed & 512)
				e.flags = NDSH_CQEF_SOLICITED;
			STRESS_CHECK(
				ndsh_cq_push(&q->daemon, &e), "entry %lu\n", (unsigned long)made);
		}
		ndsh_cq_publish(&q->daemon);
		ndsh_full_barrier();
		if (ndsh_cq_fire(&q->daemon))
			STRESS_CHECK(write(q->daemon_fd, "", 1) == 1, "pipe\n");
	}
	return NULL;
}

static void *
arm_and_take(void *arg)
{
	struct queue *q = arg;
	uint32_t seed = 3;

	while (!stopped(q)) {
		arm(q, random_of(&seed) % 3);
		if (seed & 64)
			take_all(q);
		sched_yield();
	}
	return NULL;
}

static void *
cancel(void *arg)
{
	struct queue *q = arg;

	while (!stopped(q)) {
		nd_cq_cancel(&q->cq);
		sched_yield();
	}
	return NULL;
}

static void *
moderate(void *arg)
{
	static const uint32_t us[] = {0, 20, 300, 0xffffffff};
	struct queue *q = arg;
	uint32_t seed = 5;

	while (!stopped(q)) {
		uint32_t dice = random_of(&seed);

		STRESS_CHECK(
			nd_cq_moderate(&q->cq, us[dice & 3], dice >> 8 & 7) == ND_SUCCESS, "set\n");
		sched_yield();
	}
	return NULL;
}

static void
begin(struct queue *q, uint32_t id, bool alone)
{
	void *block = aligned_alloc(64, ndsh_cq_bytes(DEPTH));
	int fd[2];

	memset(block, 0, ndsh_cq_bytes(DEPTH));
	STRESS_CHECK(pipe2(fd, O_NONBLOCK | O_CLOEXEC) == 0, "pipe\n");
	*q = (struct queue){.alone = alone, .seed = 7, .daemon_fd = fd[1]};
	q->cq.adapter = adapter;
	q->cq.id = id;
	q->cq.depth = DEPTH;
	q->cq.notify_fd = fd[0];
	q->cq.event_fd = q->cq.poll_fd = -1;
	pthread_mutex_init(&q->cq.notify_lock, NULL);
	ndsh_cq_reader_view(&q->cq.reader, block, DEPTH);
	ndsh_cq_view(&q->daemon, block, DEPTH);
	pthread_mutex_lock(&adapter->lock);
	TAILQ_INSERT_TAIL(&adapter->cqs, &q->cq, link);
	pthread_mutex_unlock(&adapter->lock);
	STRESS_CHECK(nd_cq_set_callback(&q->cq, callback, q) == ND_SUCCESS, "callback\n");
	arm(q, ND_CQ_NOTIFY_ANY);
	pthread_create(&q->maker, NULL, daemon_main, q);
	if (alone)
		return;
	pthread_create(&q->other[0], NULL, arm_and_take, q);
	pthread_create(&q->other[1], NULL, cancel, q);
	pthread_create(&q->other[2], NULL, moderate, q);
}

/* The callback also takes what is left when the other threads have ended. */
static void
finish(struct queue *q)
{
	time_t began = time(NULL);

	pthread_join(q->maker, NULL);
	__atomic_store_n(&q->stop, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 3 && !q->alone; i++)
		pthread_join(q->other[i], NULL);
	STRESS_CHECK(nd_cq_moderate(&q->cq, 0, 0) == ND_SUCCESS, "set\n");
	arm(q, ND_CQ_NOTIFY_ANY);
	while (__atomic_load_n(&q->taken, __ATOMIC_ACQUIRE) < ENTRIES) {
		STRESS_CHECK(time(NULL) - began < DEADLINE_S, "%lu of %u taken\n",
			(unsigned long)q->taken, ENTRIES);
		sched_yield();
	}
}

static void
end(struct queue *q)
{
	STRESS_CHECK(q->taken == ENTRIES && q->sum == (uint64_t)ENTRIES * (ENTRIES - 1) / 2,
		"%lu of %u\n", (unsigned long)q->taken, ENTRIES);
	printf("%u entries, %u callbacks\n", ENTRIES, q->runs);
	nd_cq_close_fds(&q->cq);
	close(q->daemon_fd);
	free(q->cq.reader.page);
}

/*
 * checks R-CQ-22, R-CQ-27[1,2]: other queues are free, and here also one queue is, for all
 * threads
 */
int
main(void)
{
	static struct queue q[2];

	adapter = nd_adapter_new();
	adapter->handlers = &nd_handlers;
	pthread_mutex_init(&adapter->lock, NULL);
	TAILQ_INIT(&adapter->cqs);
	begin(&q[0], 1, true);
	begin(&q[1], 2, false);
	finish(&q[0]);
	finish(&q[1]);
	nd_callbacks_stop(adapter);
	end(&q[0]);
	end(&q[1]);
	pthread_mutex_destroy(&adapter->lock);
	nd_adapter_free(adapter);
	return 0;
}
