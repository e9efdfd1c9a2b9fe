/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Closing queues and adapters around callbacks (arm_bench.h). The library's message is not
 * answered, so the daemon counts as gone.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ndclient/session/adapter.h"
#include "ndclient/session/callbacks.h"
#include "ndclient/session/control.h"
#include "rigs/arm_bench.h"

static void
in_close(struct arm_bench *b)
{
	arm_bench_arm(b, ANY);
	arm_bench_turn(b, "u");
	__atomic_store_n(&b->a->gone, 1, __ATOMIC_RELEASE);
	b->closed = nd_cq_close(b->cq);
	cr_expect(eq(u32, b->cq->id, 7), "it lives as long as its callback");
}

/* checks R-CQ-26[3], R-LIFE-09[2] */
Test(ndclient_arm, R_CQ_26_close_inside_the_callback_waits_for_its_return)
{
	struct arm_bench b;

	arm_bench_make(&b, false);
	b.in[0] = in_close;
	arm_bench_arm(&b, ANY);
	arm_bench_turn(&b, "u");
	cr_expect(eq(u32, arm_bench_serve(&b), 1), "the arm inside died with the queue");
	cr_expect(eq(i32, b.closed, ND_PENDING));
	cr_expect(eq(ptr, TAILQ_FIRST(&b.a->cqs), NULL));
	b.cq = NULL; /* freed: the sanitizer knows */
	arm_bench_turn(&b, "u");
	cr_expect(eq(u32, arm_bench_serve(&b), 1));
	arm_bench_drop(&b);
}

/* checks R-CQ-26[2] */
Test(ndclient_arm, close_with_a_callback_due)
{
	struct arm_bench b;

	arm_bench_make(&b, false);
	arm_bench_arm(&b, ANY);
	arm_bench_turn(&b, "u");
	b.a->gone = 1;
	cr_expect(eq(i32, nd_cq_close(b.cq), ND_SUCCESS));
	b.cq = NULL;
	cr_expect(eq(u32, arm_bench_serve(&b), 0));
	arm_bench_drop(&b);
}

static void
in_wait(struct arm_bench *b)
{
	sem_post(&b->entered);
	sem_wait(&b->go);
	b->taken = arm_bench_poll_all(b);
}

static void *
closer(void *arg)
{
	struct arm_bench *b = arg;

	sem_post(&b->entered);
	__atomic_store_n(&b->closed, nd_cq_close(b->cq), __ATOMIC_RELEASE);
	cr_expect(not(b->inside));
	return NULL;
}

/* checks R-CQ-26[3], R-LIFE-09[2]: the callback uses the queue while another thread closes it */
Test(ndclient_arm, close_by_another_thread_waits_for_the_callback)
{
	pthread_t thread;
	struct arm_bench b;

	arm_bench_make(&b, true);
	b.in[0] = in_wait;
	arm_bench_arm(&b, ANY);
	arm_bench_turn(&b, "u");
	sem_wait(&b.entered);
	b.a->gone = 1;
	pthread_create(&thread, NULL, closer, &b);
	sem_wait(&b.entered);
	cr_expect(eq(i32, __atomic_load_n(&b.closed, __ATOMIC_ACQUIRE), ND_PENDING));
	sem_post(&b.go);
	pthread_join(thread, NULL);
	cr_expect(eq(i32, b.closed, ND_SUCCESS));
	cr_expect(eq(i32, b.taken, 1));
	nd_callbacks_stop(b.a);
	b.cq = NULL;
	arm_bench_drop_queue(&b);
	arm_bench_drop_adapter(b.a, true);
}

static void *
stopper(void *arg)
{
	struct arm_bench *b = arg;

	sem_post(&b->entered);
	nd_adapter_close(b->a);
	cr_expect(not(b->inside));
	return NULL;
}

/* ---- two adapters -------------------------------------------------------------------- */

static struct arm_bench *pair[2]; /* their queues */
static pthread_barrier_t both_inside, both_closed;

static void
in_close_the_other(struct arm_bench *b)
{
	struct arm_bench *other = b == pair[0] ? pair[1] : pair[0];

	pthread_barrier_wait(&both_inside);
	b->closed = nd_cq_close(other->cq);
	pthread_barrier_wait(&both_closed);
	cr_expect(eq(u32, b->cq->id, 7), "it lives as long as its callback");
}

/* checks R-CQ-26[3], R-LIFE-09[2]: neither waits for the other, for that would be for ever */
Test(ndclient_arm, callbacks_that_close_each_others_queues)
{
	struct arm_bench b[2];

	pthread_barrier_init(&both_inside, NULL, 2);
	pthread_barrier_init(&both_closed, NULL, 2);
	for (int i = 0; i < 2; i++) {
		arm_bench_make(&b[i], true);
		pair[i] = &b[i];
		b[i].in[0] = in_close_the_other;
		arm_bench_arm(&b[i], ANY);
	}
	for (int i = 0; i < 2; i++) {
		__atomic_store_n(&b[i].a->gone, 1, __ATOMIC_RELEASE);
		arm_bench_turn(&b[i], "u");
	}
	for (int i = 0; i < 2; i++) {
		nd_callbacks_stop(b[i].a);
		cr_expect(eq(u32, b[i].runs, 1));
		cr_expect(eq(i32, b[i].closed, ND_PENDING));
		b[i].cq = NULL; /* freed: the sanitizer knows */
		arm_bench_drop_queue(&b[i]);
		arm_bench_drop_adapter(b[i].a, true);
	}
}

/* With its control thread, and a daemon that says nothing. */
static int
complete(struct nd_adapter *a)
{
	int fd[2];

	LIST_INIT(&a->calls);
	TAILQ_INIT(&a->srqs);
	TAILQ_INIT(&a->connectors);
	TAILQ_INIT(&a->listeners);
	pthread_mutex_init(&a->arena.lock, NULL);
	cr_assert(zero(int, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd)));
	a->socket = fd[0];
	a->wake_fd = dup(fd[0]);
	cr_assert(eq(i32, nd_control_start(a), ND_SUCCESS));
	return fd[1];
}

static void
in_close_adapter(struct arm_bench *b)
{
	b->closed = nd_adapter_close(b->a);
	cr_expect(strlen(nd_last_error()) > 0);
	sem_post(&b->entered);
}

/* checks R-LIFE-10[2,3] */
Test(ndclient_arm, R_LIFE_10_an_adapter_is_not_closed_in_a_callback)
{
	struct arm_bench b;
	int daemon;

	arm_bench_make(&b, true);
	daemon = complete(b.a);
	b.in[0] = in_close_adapter;
	arm_bench_arm(&b, ANY);
	arm_bench_turn(&b, "u");
	sem_wait(&b.entered);
	cr_expect(eq(i32, b.closed, ND_INVALID_DEVICE_STATE));
	cr_expect(eq(i32, arm_bench_poll_all(&b), 1), "nothing happened");
	cr_expect(eq(i32, nd_adapter_close(b.a), ND_SUCCESS));
	b.cq = NULL;
	arm_bench_drop_queue(&b);
	close(daemon);
}

/* checks R-LIFE-10[1] */
Test(ndclient_arm, R_LIFE_10_closing_the_adapter_waits_for_the_callback)
{
	pthread_t thread;
	struct arm_bench b;
	int daemon;

	arm_bench_make(&b, true);
	daemon = complete(b.a);
	b.in[0] = in_wait;
	arm_bench_arm(&b, ANY);
	arm_bench_turn(&b, "u");
	sem_wait(&b.entered);
	pthread_create(&thread, NULL, stopper, &b);
	sem_wait(&b.entered);
	sem_post(&b.go);
	pthread_join(thread, NULL);
	cr_expect(eq(i32, b.taken, 1));
	cr_expect(eq(u32, b.runs, 1));
	b.cq = NULL;
	arm_bench_drop_queue(&b);
	close(daemon);
}
