/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notifications by callback, in virtual steps: the daemon's half of the queues is in the same
 * process, and no thread runs but the test's: step() does what the library's thread does when one
 * of its descriptors is readable. The last tests let that thread live.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ndclient/nd_int.h"

#define DEPTH	  64u
#define ANY	  ND_CQ_NOTIFY_ANY
#define SOLICITED ND_CQ_NOTIFY_SOLICITED
#define ERRORS	  ND_CQ_NOTIFY_ERRORS

/* What a callback does, one hook per run, and what became of it. */
struct bench;
typedef void hook(struct bench *b);
struct bench {
	struct nd_adapter *a;
	struct nd_cq *cq; /* on the heap: closing it frees it */
	struct ndsh_cq daemon;
	int daemon_fd;
	void *block;
	hook *in[4];
	unsigned runs;
	bool inside;
	int32_t taken;
	nd_status status, closed;
	struct nd_qp *qp; /* or NULL */
	sem_t entered, go;
};

static void
callback(void *context, nd_status st)
{
	struct bench *b = context;
	hook *in = b->in[b->runs % 4];

	cr_expect(not(b->inside));
	b->inside = true;
	b->runs++;
	b->status = st;
	if (in != NULL)
		in(b);
	b->inside = false;
}

static struct nd_adapter *
new_adapter(void)
{
	struct nd_adapter *a = aligned_alloc(64, sizeof(*a));

	memset(a, 0, sizeof(*a));
	pthread_mutex_init(&a->lock, NULL);
	TAILQ_INIT(&a->cqs);
	TAILQ_INIT(&a->closed_qps);
	return a;
}

static void
add_queue(struct bench *b, struct nd_adapter *a, uint32_t id)
{
	int fd[2];

	*b = (struct bench){.a = a, .closed = ND_PENDING};
	sem_init(&b->entered, 0, 0);
	sem_init(&b->go, 0, 0);
	b->block = aligned_alloc(64, ndsh_cq_bytes(DEPTH));
	memset(b->block, 0, ndsh_cq_bytes(DEPTH));
	cr_assert(zero(int, pipe2(fd, O_NONBLOCK | O_CLOEXEC)));
	b->cq = calloc(1, sizeof(*b->cq));
	b->cq->adapter = a;
	b->cq->id = id;
	b->cq->pipe_fd = fd[0];
	b->cq->event_fd = b->cq->poll_fd = -1;
	b->daemon_fd = fd[1];
	ndsh_cq_reader_view(&b->cq->reader, b->block, DEPTH);
	ndsh_cq_view(&b->daemon, b->block, DEPTH);
	TAILQ_INSERT_TAIL(&a->cqs, b->cq, link);
}

/* The thread's place is taken, unless it is wanted: then nd_cq_set_callback() starts it. */
static void
make(struct bench *b, bool threads)
{
	struct nd_adapter *a = new_adapter();

	add_queue(b, a, 7);
	a->callbacks.running = !threads;
	if (!threads)
		a->callbacks.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	cr_assert(eq(i32, nd_cq_set_callback(b->cq, callback, b), ND_SUCCESS));
}

static void
drop_queue(struct bench *b)
{
	if (b->cq != NULL) {
		nd_cq_close_fds(b->cq);
		free(b->cq);
	}
	close(b->daemon_fd);
	free(b->block);
}

static void
drop_adapter(struct nd_adapter *a, bool threads)
{
	if (!threads)
		close(a->callbacks.epoll_fd);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

static void
drop(struct bench *b)
{
	drop_queue(b);
	drop_adapter(b->a, false);
}

/* A turn of the daemon: entries by letter, u unsolicited, s solicited, p of another queue pair; o:
 * the queue overruns. u is the first receive of the queue pair. */
static void
turn(struct bench *b, const char *entries)
{
	for (; *entries != 0; entries++) {
		struct ndsh_cqe e = {.op = NDSH_OP_RECV, .slot_count = 1};

		if (*entries == 's')
			e.flags = NDSH_CQEF_SOLICITED;
		if (*entries == 'p')
			e.qp = UINT32_MAX;
		if (*entries == 'o')
			b->daemon.fault = NDSH_CQ_OVERRUN;
		else
			cr_assert(ndsh_cq_push(&b->daemon, &e));
	}
	ndsh_cq_publish(&b->daemon);
	ndsh_full_barrier();
	if (ndsh_cq_fire(&b->daemon))
		cr_assert(eq(int, (int)write(b->daemon_fd, "", 1), 1));
}

/* One wake-up of the library's thread; false: it sleeps on. */
static bool
step(struct nd_adapter *a)
{
	struct epoll_event ev;

	if (epoll_wait(a->callbacks.epoll_fd, &ev, 1, 0) != 1)
		return false;
	(void)nd_cq_call_back(a, (uint32_t)ev.data.u64);
	return true;
}

/* Until it sleeps; returns the number of callbacks so far. */
static unsigned
serve(struct bench *b)
{
	for (int i = 0; step(b->a); i++)
		cr_assert(lt(int, i, 100), "the thread never sleeps");
	return b->runs;
}

static int32_t
poll_all(struct bench *b)
{
	struct nd_result r[DEPTH];

	return nd_cq_get_results(b->cq, r, DEPTH);
}

static void
arm(struct bench *b, uint32_t type)
{
	cr_expect(eq(i32, nd_cq_arm_callback(b->cq, type), ND_SUCCESS));
}

static void
in_arm(struct bench *b)
{
	arm(b, ANY);
}

static void
in_poll_arm(struct bench *b)
{
	b->taken += poll_all(b);
	arm(b, ANY);
}

/* checks R-CQ-01, R-CQ-09, R-CQ-26 */
Test(ndclient_arm, one_callback_per_arm_and_none_without)
{
	struct bench b;

	make(&b, false);
	turn(&b, "u");
	cr_expect(eq(u32, serve(&b), 0), "not armed");
	cr_expect(eq(i32, poll_all(&b), 1));
	arm(&b, ANY);
	cr_expect(eq(u32, serve(&b), 0), "no entry");
	turn(&b, "u");
	cr_expect(eq(u32, b.runs, 0), "not in the daemon's turn");
	cr_expect(eq(u32, serve(&b), 1));
	cr_expect(eq(i32, b.status, ND_SUCCESS));
	turn(&b, "uu");
	cr_expect(eq(u32, serve(&b), 1), "the arm was spent");
	drop(&b);
}

/* checks R-CQ-12: at once, yet not on the stack of the call that arms */
Test(ndclient_arm, a_reason_that_is_there_already)
{
	struct bench b;

	make(&b, false);
	turn(&b, "u");
	arm(&b, ANY);
	cr_expect(eq(u32, b.runs, 0));
	cr_expect(eq(u32, serve(&b), 1));
	arm(&b, ANY);
	cr_expect(eq(u32, serve(&b), 1), "R-CQ-11: the entry is old now");
	drop(&b);
}

/* checks R-CQ-18: arms join and give one callback */
Test(ndclient_arm, joined_arms_give_one_callback)
{
	struct bench b;

	make(&b, false);
	arm(&b, ERRORS);
	turn(&b, "u");
	cr_expect(eq(u32, serve(&b), 0));
	cr_expect(eq(i32, poll_all(&b), 1));
	arm(&b, SOLICITED);
	turn(&b, "u");
	cr_expect(eq(u32, serve(&b), 0));
	turn(&b, "s");
	arm(&b, ANY);
	cr_expect(eq(u32, serve(&b), 1));
	turn(&b, "s");
	cr_expect(eq(u32, serve(&b), 1));
	drop(&b);
}

/* It fires, is not entered yet, and the consumer goes on: the next arm is served by the same
 * callback, and only what comes behind its entry counts for another. */
Test(ndclient_arm, R_CQ_25_an_arm_joins_a_callback_that_is_due)
{
	struct bench b;

	make(&b, false);
	arm(&b, ANY);
	turn(&b, "u");
	cr_expect(eq(i32, poll_all(&b), 1));
	arm(&b, ANY);
	turn(&b, "u");
	arm(&b, ANY);
	cr_expect(eq(u32, serve(&b), 1));
	turn(&b, "u");
	cr_expect(eq(u32, serve(&b), 1), "nothing is left armed");
	arm(&b, ANY);
	cr_expect(eq(u32, serve(&b), 2), "the third entry is new");
	drop(&b);
}

static void
in_arm_twice_and_three_entries(struct bench *b)
{
	arm(b, ANY);
	arm(b, SOLICITED);
	turn(b, "u");
	turn(b, "us");
	cr_expect(eq(u32, b->runs, 1), "deferred");
}

/* checks R-CQ-23, R-CQ-24, R-CQ-25 */
Test(ndclient_arm, armed_twice_inside_and_three_entries_give_one_more)
{
	struct bench b;

	make(&b, false);
	b.in[0] = in_arm_twice_and_three_entries;
	arm(&b, ANY);
	turn(&b, "u");
	cr_assert(step(b.a));
	cr_expect(eq(u32, b.runs, 1));
	cr_expect(eq(u32, serve(&b), 2));
	arm(&b, ANY);
	cr_expect(eq(u32, serve(&b), 2), "all four are old");
	drop(&b);
}

/* checks R-CQ-24, R-CQ-28 */
Test(ndclient_arm, poll_and_arm_inside_lose_nothing)
{
	struct bench b;

	make(&b, false);
	for (int i = 0; i < 4; i++)
		b.in[i] = in_poll_arm;
	arm(&b, ANY);
	for (int i = 1; i <= 10; i++) {
		turn(&b, i % 2 == 0 ? "uus" : "u");
		cr_expect(eq(u32, serve(&b), (unsigned)i));
	}
	cr_expect(eq(i32, b.taken, 20));
	drop(&b);
}

/* Entries that were there when the callback was entered do not call it again, taken or not: a
 * callback that only arms is no loop. */
Test(ndclient_arm, R_CQ_24_arming_inside_without_taking_results)
{
	struct bench b;

	make(&b, false);
	b.in[0] = b.in[1] = in_arm;
	arm(&b, ANY);
	turn(&b, "uu");
	cr_expect(eq(u32, serve(&b), 1));
	turn(&b, "u");
	cr_expect(eq(u32, serve(&b), 2));
	drop(&b);
}

static void
in_post(struct bench *b)
{
	for (int i = 0; i < 2; i++)
		cr_expect(eq(i32, nd_qp_receive(b->qp, (void *)5, NULL, 0), ND_SUCCESS));
	cr_expect(eq(i32, nd_qp_receive(b->qp, NULL, NULL, 0), ND_NO_MORE_ENTRIES), "full");
	turn(b, "u"); /* the first is done: taking its result makes room */
	cr_expect(eq(i32, poll_all(b), 2));
	cr_expect(eq(i32, nd_qp_receive(b->qp, (void *)6, NULL, 0), ND_SUCCESS));
	arm(b, ANY);
}

Test(ndclient_arm, R_CQ_28_posting_polling_and_arming_inside)
{
	const struct ndsh_qp_dims d = {.sq_depth = 2, .rq_depth = 2, .sq_sge = 1, .rq_sge = 1};
	struct ndsh_qp_layout l;
	struct bench b;
	void *block;

	cr_assert(ndsh_qp_layout(&d, &l));
	block = aligned_alloc(64, l.total_bytes);
	memset(block, 0, l.total_bytes);
	make(&b, false);
	b.qp = aligned_alloc(64, sizeof(*b.qp));
	memset(b.qp, 0, sizeof(*b.qp));
	b.qp->adapter = b.a;
	b.qp->page = block;
	b.qp->rq_sge = 1;
	ndsh_rq_view(&b.qp->rq, block, &d);
	b.a->qp_by_handle[0] = b.qp;
	b.in[0] = in_post;
	arm(&b, ANY);
	turn(&b, "p"); /* not one of its requests: that frees nothing */
	cr_expect(eq(u32, serve(&b), 1));
	turn(&b, "u");
	cr_expect(eq(u32, serve(&b), 2));
	free(b.qp);
	free(block);
	drop(&b);
}

/* checks R-CQ-08 */
Test(ndclient_arm, R_CQ_29_a_fault_is_told_to_every_type_and_stays)
{
	for (uint32_t type = 0; type < 3; type++) {
		struct bench b;

		make(&b, false);
		arm(&b, type);
		turn(&b, "uo");
		cr_expect(eq(u32, serve(&b), 1));
		cr_expect(eq(i32, b.status, ND_BUFFER_OVERFLOW));
		b.status = ND_SUCCESS;
		arm(&b, type);
		cr_expect(eq(u32, serve(&b), 2), "sticky");
		cr_expect(eq(i32, b.status, ND_BUFFER_OVERFLOW));
		drop(&b);
	}
}

/* checks R-CQ-34 */
Test(ndclient_arm, cancel_takes_the_arm_back_unless_it_has_fired)
{
	struct bench b;

	make(&b, false);
	arm(&b, ANY);
	nd_cq_cancel(b.cq);
	turn(&b, "u");
	cr_expect(eq(u32, serve(&b), 0));
	arm(&b, ANY);
	cr_expect(eq(u32, serve(&b), 1), "a cancel is no notification");
	arm(&b, ANY);
	turn(&b, "u");
	nd_cq_cancel(b.cq);
	cr_expect(eq(u32, serve(&b), 2), "the event was faster");
	drop(&b);
}

/* checks R-CQ-35, R-LIFE-12 */
Test(ndclient_arm, the_daemon_goes)
{
	struct bench b;

	make(&b, false);
	arm(&b, ANY);
	close(b.daemon_fd);
	b.daemon_fd = -1;
	cr_expect(eq(u32, serve(&b), 0), "its pipe alone says nothing, once");
	b.a->gone = 1;
	nd_cq_end_waiters(b.cq, ND_DEVICE_REMOVED);
	cr_expect(eq(u32, serve(&b), 1));
	cr_expect(eq(i32, b.status, ND_DEVICE_REMOVED));
	cr_expect(eq(i32, nd_cq_arm_callback(b.cq, ANY), ND_DEVICE_REMOVED));
	cr_expect(eq(u32, serve(&b), 1));
	drop(&b);
}

/* checks R-CQ-36 */
Test(ndclient_arm, bad_arguments_and_other_styles)
{
	struct nd_adapter *a = new_adapter();
	struct nd_overlapped ov = {0};
	struct bench b;

	add_queue(&b, a, 1);
	a->callbacks.running = true;
	a->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	a->callbacks.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	cr_expect(eq(i32, nd_cq_arm_callback(b.cq, ANY), ND_INVALID_DEVICE_STATE));
	cr_expect(eq(i32, nd_cq_set_callback(b.cq, NULL, NULL), ND_INVALID_PARAMETER_2));
	cr_expect(eq(i32, nd_cq_notify(b.cq, ANY, &ov), ND_PENDING));
	cr_expect(eq(i32, nd_cq_set_callback(b.cq, callback, &b), ND_INVALID_DEVICE_STATE));
	nd_cq_cancel(b.cq);
	cr_expect(eq(i32, nd_cq_set_callback(b.cq, callback, &b), ND_SUCCESS));
	cr_expect(eq(i32, nd_cq_set_callback(b.cq, callback, &b), ND_INVALID_DEVICE_STATE));
	cr_expect(eq(i32, nd_cq_notify(b.cq, ANY, &ov), ND_INVALID_DEVICE_STATE));
	cr_expect(eq(i32, nd_cq_arm(b.cq, ANY), ND_INVALID_DEVICE_STATE));
	cr_expect(eq(i32, nd_cq_arm_callback(b.cq, 3), ND_INVALID_PARAMETER_1));
	turn(&b, "u");
	cr_expect(eq(u32, serve(&b), 0), "nothing was armed by all that");
	close(a->epoll_fd);
	drop(&b);
}

/* checks R-CQ-22: two queues of one adapter */
Test(ndclient_arm, queues_dont_mix)
{
	struct bench b, other;

	make(&b, false);
	add_queue(&other, b.a, 8);
	cr_assert(eq(i32, nd_cq_set_callback(other.cq, callback, &other), ND_SUCCESS));
	arm(&b, ANY);
	arm(&other, ANY);
	turn(&b, "u");
	cr_expect(eq(u32, serve(&b), 1));
	cr_expect(eq(u32, other.runs, 0));
	turn(&other, "u");
	(void)serve(&b);
	cr_expect(eq(u32, other.runs, 1));
	cr_expect(eq(u32, b.runs, 1));
	drop_queue(&other);
	drop(&b);
}

/* ---- closing; nobody answers the library's message, so the daemon counts as gone ------- */

static void
in_close(struct bench *b)
{
	arm(b, ANY);
	turn(b, "u");
	__atomic_store_n(&b->a->gone, 1, __ATOMIC_RELEASE);
	b->closed = nd_cq_close(b->cq);
	cr_expect(eq(u32, b->cq->id, 7), "it lives as long as its callback");
}

/* checks R-CQ-26, R-LIFE-09 */
Test(ndclient_arm, R_CQ_26_close_inside_the_callback_waits_for_its_return)
{
	struct bench b;

	make(&b, false);
	b.in[0] = in_close;
	arm(&b, ANY);
	turn(&b, "u");
	cr_expect(eq(u32, serve(&b), 1), "the arm inside died with the queue");
	cr_expect(eq(i32, b.closed, ND_PENDING));
	cr_expect(eq(ptr, TAILQ_FIRST(&b.a->cqs), NULL));
	b.cq = NULL; /* freed: the sanitizer knows */
	turn(&b, "u");
	cr_expect(eq(u32, serve(&b), 1));
	drop(&b);
}

/* checks R-CQ-26 */
Test(ndclient_arm, close_with_a_callback_due)
{
	struct bench b;

	make(&b, false);
	arm(&b, ANY);
	turn(&b, "u");
	b.a->gone = 1;
	cr_expect(eq(i32, nd_cq_close(b.cq), ND_SUCCESS));
	b.cq = NULL;
	cr_expect(eq(u32, serve(&b), 0));
	drop(&b);
}

static void
in_wait(struct bench *b)
{
	sem_post(&b->entered);
	sem_wait(&b->go);
	b->taken = poll_all(b);
}

static void *
closer(void *arg)
{
	struct bench *b = arg;

	sem_post(&b->entered);
	__atomic_store_n(&b->closed, nd_cq_close(b->cq), __ATOMIC_RELEASE);
	cr_expect(not(b->inside));
	return NULL;
}

/* checks R-CQ-26, R-LIFE-09: the callback uses the queue while another thread closes it */
Test(ndclient_arm, close_by_another_thread_waits_for_the_callback)
{
	pthread_t thread;
	struct bench b;

	make(&b, true);
	b.in[0] = in_wait;
	arm(&b, ANY);
	turn(&b, "u");
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
	drop_queue(&b);
	drop_adapter(b.a, true);
}

static void *
stopper(void *arg)
{
	struct bench *b = arg;

	sem_post(&b->entered);
	nd_adapter_close(b->a);
	cr_expect(not(b->inside));
	return NULL;
}

/* With its control thread, and a daemon that says nothing. */
static int
complete(struct nd_adapter *a)
{
	int fd[2];

	LIST_INIT(&a->calls);
	TAILQ_INIT(&a->pds);
	TAILQ_INIT(&a->mrs);
	TAILQ_INIT(&a->mws);
	TAILQ_INIT(&a->qps);
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

Test(ndclient_arm, R_LIFE_10_closing_the_adapter_waits_for_the_callback)
{
	pthread_t thread;
	struct bench b;
	int daemon;

	make(&b, true);
	daemon = complete(b.a);
	b.in[0] = in_wait;
	arm(&b, ANY);
	turn(&b, "u");
	sem_wait(&b.entered);
	pthread_create(&thread, NULL, stopper, &b);
	sem_wait(&b.entered);
	sem_post(&b.go);
	pthread_join(thread, NULL);
	cr_expect(eq(i32, b.taken, 1));
	cr_expect(eq(u32, b.runs, 1));
	b.cq = NULL;
	drop_queue(&b);
	close(daemon);
}
