/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nd_cq_resize() with the control thread running, and a daemon at the other end of its socket: a
 * thread that answers with the daemon's own code, and the test itself, which makes entries.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ndclient/cq/cq.h"
#include "ndclient/mem/arena.h"
#include "ndclient/mem/segment.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/callbacks.h"
#include "ndclient/session/control.h"
#include "ndclient/session/handlers.h"
#include "ndclient/session/object.h"

#define DEPTH	  64u
#define MAX_DEPTH 1024u
#define SEGMENT	  NDSH_SEGMENT_UNIT
#define WAIT_MS	  20000

enum end { ANSWER, END_BEFORE_THE_MOVE, END_AFTER_THE_MOVE, REFUSE };

struct bench {
	struct nd_adapter *a;
	struct nd_cq *cq;
	struct nd_segment *segment;
	uint64_t free_bytes; /* without the queue */
	struct ndsh_cq daemon;
	pthread_mutex_t lcore; /* turns and calls of the daemon, one at a time */
	pthread_t control;
	enum end end;
	int socket, pipe_fd;
	uint64_t made;
	sem_t called_back;
};

/* The daemon's answer to CQ_RESIZE; false: it ends. */
static bool
resize(struct bench *b, const struct ndsh_cq_resize *m, nd_status *st)
{
	void *ring = b->segment->base + m->offset;
	bool moved;

	if (b->end == END_BEFORE_THE_MOVE)
		return false;
	cr_assert(m->entries <= m->depth && ndsh_cq_ring_bytes(m->depth) != 0);
	memset(ring, 0, ndsh_cq_ring_bytes(m->depth));
	pthread_mutex_lock(&b->lcore);
	moved = b->end != REFUSE && ndsh_cq_move(&b->daemon, ring, m->depth, m->entries);
	pthread_mutex_unlock(&b->lcore);
	if (!moved)
		*st = b->end == REFUSE ? ND_INSUFFICIENT_RESOURCES : ND_BUFFER_OVERFLOW;
	return b->end != END_AFTER_THE_MOVE;
}

static void *
daemon_main(void *arg)
{
	struct bench *b = arg;
	_Alignas(8) uint8_t buf[NDSH_MSG_BYTES];
	struct ndsh_msg_hdr *h = (void *)buf;

	while (recv(b->socket, buf, sizeof(buf), 0) > 0) {
		nd_status st = ND_SUCCESS;
		size_t reply_bytes;

		cr_assert(ndsh_msg_table[h->type].bytes != 0);
		if (h->type == NDSH_MSG_CQ_RESIZE && !resize(b, (void *)buf, &st))
			break;
		reply_bytes = ndsh_msg_table[h->type].reply_bytes;
		h->status = st;
		if (h->type == NDSH_MSG_CQ_AFFINITY) {
			((struct ndsh_affinity_reply *)h)->group = 1;
			((struct ndsh_affinity_reply *)h)->mask = 1u << 5;
		}
		h->type |= NDSH_REPLY;
		(void)!send(b->socket, buf, reply_bytes, 0);
	}
	(void)shutdown(b->socket, SHUT_RDWR);
	return NULL;
}

static void
make_arena(struct bench *b)
{
	b->segment = calloc(1, sizeof(*b->segment));
	b->segment->base = aligned_alloc(SEGMENT, SEGMENT);
	memset(b->segment->base, 0, SEGMENT);
	cr_assert(nd_extents_init(&b->segment->extents, SEGMENT));
	pthread_mutex_init(&b->a->arena.lock, NULL);
	b->a->arena.first = b->segment;
	b->free_bytes = b->segment->extents.free_bytes;
}

static void
make_queue(struct bench *b)
{
	uint32_t segment;
	uint64_t offset;
	int fd[2];
	void *block = nd_block_alloc(b->a, ndsh_cq_bytes(DEPTH), &segment, &offset);

	cr_assert(block != NULL);
	cr_assert(zero(int, pipe2(fd, O_NONBLOCK | O_CLOEXEC)));
	b->cq = calloc(1, sizeof(*b->cq));
	pthread_mutex_init(&b->cq->resize_lock, NULL);
	b->cq->adapter = b->a;
	b->cq->id = 7;
	b->cq->notify_fd = fd[0];
	b->cq->event_fd = b->cq->poll_fd = -1;
	b->pipe_fd = fd[1];
	ndsh_cq_reader_view(&b->cq->reader, block, DEPTH);
	ndsh_cq_view(&b->daemon, block, DEPTH);
	nd_object_open(&b->cq->obj, &nd_cq_class, b->a);
	TAILQ_INSERT_TAIL(&b->a->cqs, b->cq, link);
}

static struct bench *
make(enum end end)
{
	struct bench *b = calloc(1, sizeof(*b));
	struct nd_adapter *a = nd_adapter_new();
	int fd[2];

	b->a = a;
	b->end = end;
	cr_assert(zero(int, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd)));
	pthread_mutex_init(&a->lock, NULL);
	pthread_mutex_init(&b->lcore, NULL);
	sem_init(&b->called_back, 0, 0);
	a->abi_minor = NDSH_ABI_MINOR;
	a->info.flags = ND_ADAPTER_FLAG_CQ_RESIZE;
	a->info.max_cq_depth = MAX_DEPTH;
	TAILQ_INIT(&a->cqs);
	TAILQ_INIT(&a->closed_qps);
	TAILQ_INIT(&a->connectors);
	TAILQ_INIT(&a->listeners);
	TAILQ_INIT(&a->srqs);
	LIST_INIT(&a->calls);
	LIST_INIT(&a->objects);
	a->socket = fd[0];
	b->socket = fd[1];
	make_arena(b);
	make_queue(b);
	a->handlers = &nd_handlers;
	cr_assert(eq(i32, nd_control_start(a), ND_SUCCESS));
	cr_assert(zero(int, pthread_create(&b->control, NULL, daemon_main, b)));
	return b;
}

static void
drop(struct bench *b)
{
	if (b->end != END_BEFORE_THE_MOVE && b->end != END_AFTER_THE_MOVE) {
		cr_expect(eq(i32, nd_cq_close(b->cq), ND_SUCCESS));
		cr_expect(eq(u64, b->segment->extents.free_bytes, b->free_bytes),
			"all memory came back");
	}
	nd_callbacks_stop(b->a);
	(void)shutdown(b->socket, SHUT_RDWR);
	pthread_join(b->control, NULL);
	nd_control_stop(b->a);
	close(b->socket);
	close(b->pipe_fd);
	nd_extents_fini(&b->segment->extents);
	free(b->segment->base);
	free(b->segment);
	nd_adapter_free(b->a);
	free(b);
}

/* One turn of the lcore; false: no room now. */
static bool
turn(struct bench *b, uint32_t n)
{
	bool made = false;

	pthread_mutex_lock(&b->lcore);
	if (b->made + n - __atomic_load_n(&b->daemon.page->consumer, __ATOMIC_ACQUIRE) <=
		b->daemon.depth) {
		for (; n > 0; n--)
			cr_assert(ndsh_cq_push(&b->daemon,
				&(struct ndsh_cqe){.context = ++b->made, .qp = UINT32_MAX}));
		ndsh_cq_publish(&b->daemon);
		ndsh_full_barrier();
		if (ndsh_cq_fire(&b->daemon))
			cr_assert(eq(int, (int)write(b->pipe_fd, "", 1), 1));
		made = true;
	}
	pthread_mutex_unlock(&b->lcore);
	return made;
}

static void
take_in_order(struct bench *b, uintptr_t from, uintptr_t to)
{
	struct nd_result r;

	for (; from <= to; from++) {
		cr_assert(eq(i32, nd_cq_get_results(b->cq, &r, 1), 1));
		cr_assert(eq(ptr, r.request_context, (void *)from));
	}
	cr_assert(le(i32, nd_cq_get_results(b->cq, &r, 1), 0), "and no more");
}

/* checks R-RSZ-01[3-6] */
Test(ndclient_resize, R_RSZ_01_its_statuses_leave_the_queue_as_it_was, .timeout = 60)
{
	struct bench *b = make(ANSWER);
	uint64_t bytes;

	cr_assert(turn(b, 5));
	bytes = b->segment->extents.free_bytes;
	cr_expect(eq(i32, nd_cq_resize(b->cq, 0), ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_cq_resize(b->cq, MAX_DEPTH + 1), ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_cq_resize(b->cq, 4), ND_BUFFER_OVERFLOW));
	b->a->info.flags = 0;
	cr_expect(eq(i32, nd_cq_resize(b->cq, 100), ND_NOT_SUPPORTED));
	b->a->info.flags = ND_ADAPTER_FLAG_CQ_RESIZE;
	b->end = REFUSE;
	cr_expect(eq(i32, nd_cq_resize(b->cq, 100), ND_INSUFFICIENT_RESOURCES));
	b->end = ANSWER;
	cr_expect(eq(u64, b->segment->extents.free_bytes, bytes));
	cr_expect(eq(u32, b->daemon.rings, 0));
	cr_expect(eq(i32, nd_cq_resize(b->cq, 5), ND_SUCCESS), "what is queued fits");
	cr_expect(eq(i32, nd_cq_resize(b->cq, MAX_DEPTH), ND_SUCCESS));
	cr_expect(eq(u32, b->daemon.depth, MAX_DEPTH));
	cr_assert(turn(b, 400));
	cr_expect(eq(i32, nd_cq_resize(b->cq, 500), ND_SUCCESS), "by more than one portion");
	take_in_order(b, 1, 405);
	drop(b);
}

/* checks R-MOD-01[6]: the depth that moderation judges a count by */
Test(ndclient_resize, the_depth_is_the_new_one, .timeout = 60)
{
	struct bench *b = make(ANSWER);

	for (uint32_t depth = 300; depth >= 30; depth /= 3) {
		cr_assert(eq(i32, nd_cq_resize(b->cq, depth), ND_SUCCESS));
		cr_expect(eq(i32, nd_cq_moderate(b->cq, UINT32_MAX, depth - 1), ND_SUCCESS));
		cr_expect(eq(
			i32, nd_cq_moderate(b->cq, UINT32_MAX, depth), ND_INVALID_PARAMETER_MIX));
		b->end = REFUSE;
		cr_assert(eq(i32, nd_cq_resize(b->cq, 700), ND_INSUFFICIENT_RESOURCES));
		cr_expect(eq(
			i32, nd_cq_moderate(b->cq, UINT32_MAX, depth), ND_INVALID_PARAMETER_MIX));
		b->end = ANSWER;
	}
	drop(b);
}

/* checks R-RSZ-01[7]: the three styles of waiting, armed before, woken after. */
Test(ndclient_resize, who_waits_goes_on_waiting_and_is_woken, .timeout = 60)
{
	struct bench *b = make(ANSWER);
	struct nd_overlapped first = {0}, second = {0};
	struct pollfd p = {.events = POLLIN};

	cr_assert(eq(i32, nd_cq_notify(b->cq, ND_CQ_NOTIFY_ANY, &first), ND_PENDING));
	cr_assert(eq(i32, nd_cq_notify(b->cq, ND_CQ_NOTIFY_SOLICITED, &second), ND_PENDING));
	cr_assert(eq(i32, nd_cq_resize(b->cq, 200), ND_SUCCESS));
	cr_expect(eq(i32, nd_overlapped_status(&first), ND_PENDING), "a resize is no event");
	cr_assert(turn(b, 1));
	cr_expect(eq(i32, nd_overlapped_wait(&first, WAIT_MS), ND_SUCCESS));
	cr_expect(eq(i32, nd_overlapped_wait(&second, WAIT_MS), ND_SUCCESS));
	cr_assert(eq(i32, nd_cq_resize(b->cq, 10), ND_SUCCESS));
	cr_assert(eq(i32, nd_cq_notify(b->cq, ND_CQ_NOTIFY_ANY, &first), ND_PENDING));
	cr_expect(eq(i32, nd_overlapped_wait(&first, 20), ND_TIMEOUT), "the entry is an old one");
	cr_assert(eq(i32, nd_cq_cancel(b->cq), ND_SUCCESS));
	take_in_order(b, 1, 1);

	p.fd = nd_cq_fd(b->cq);
	cr_assert(eq(i32, nd_cq_arm(b->cq, ND_CQ_NOTIFY_ANY), ND_SUCCESS));
	nd_cq_ack(b->cq);
	cr_assert(eq(i32, nd_cq_resize(b->cq, 300), ND_SUCCESS));
	cr_expect(zero(int, poll(&p, 1, 0)));
	cr_assert(turn(b, 1));
	cr_expect(eq(int, poll(&p, 1, WAIT_MS), 1));
	nd_cq_ack(b->cq);
	take_in_order(b, 2, 2);
	drop(b);
}

static void
callback(void *context, nd_status st)
{
	struct bench *b = context;

	cr_expect(eq(i32, st, ND_SUCCESS));
	cr_expect(eq(i32, nd_cq_resize(b->cq, b->daemon.depth == 512 ? 20 : 250), ND_SUCCESS));
	sem_post(&b->called_back);
}

/* checks R-RSZ-01[7] */
Test(ndclient_resize, R_RSZ_01_the_arm_of_a_callback_stays_and_a_callback_may_resize, .timeout = 60)
{
	struct bench *b = make(ANSWER);

	cr_assert(eq(i32, nd_cq_set_callback(b->cq, callback, b), ND_SUCCESS));
	for (uintptr_t i = 1; i <= 20; i++) {
		cr_assert(eq(i32, nd_cq_arm_callback(b->cq, ND_CQ_NOTIFY_ANY), ND_SUCCESS));
		cr_assert(eq(i32, nd_cq_resize(b->cq, i % 2 != 0 ? 30 : 300), ND_SUCCESS));
		cr_expect(eq(int, sem_trywait(&b->called_back), -1));
		cr_assert(turn(b, 1));
		cr_assert(zero(int, sem_wait(&b->called_back)));
		take_in_order(b, i, i);
	}
	drop(b);
}

/* ---- several threads at once ---------------------------------------------------------- */

#define MADE  30000u
#define PARTS 30u

struct taker {
	struct bench *b;
	pthread_t thread;
	uint32_t *seen; /* of each entry: how often */
};

static void *
taker_main(void *arg)
{
	struct taker *t = arg;
	struct nd_result r[7];
	uintptr_t last = 0;
	int32_t n;

	while ((n = nd_cq_get_results(t->b->cq, r, 7)) >= 0) {
		for (int32_t i = 0; i < n; i++) {
			uintptr_t c = (uintptr_t)r[i].request_context;

			cr_assert(c > last && c <= MADE);
			last = c;
			__atomic_fetch_add(&t->seen[c], 1, __ATOMIC_RELAXED);
		}
		if (n == 0)
			sched_yield();
	}
	return NULL;
}

struct resizer {
	struct bench *b;
	pthread_t thread;
	uint32_t stop, done;
};

/* At least once with success, however late it gets a CPU: the entries are taken by then. */
static void *
resizer_main(void *arg)
{
	struct resizer *z = arg;

	for (uint32_t i = 0; z->done == 0 || !__atomic_load_n(&z->stop, __ATOMIC_ACQUIRE); i++) {
		nd_status st = nd_cq_resize(z->b->cq, 1u + i * 37u % 400u);

		cr_assert(st == ND_SUCCESS || st == ND_BUFFER_OVERFLOW);
		if (st == ND_SUCCESS)
			__atomic_fetch_add(&z->done, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* By both: one of them may starve the other. */
static uint32_t
resizes(const struct resizer z[2])
{
	return __atomic_load_n(&z[0].done, __ATOMIC_RELAXED) +
	       __atomic_load_n(&z[1].done, __ATOMIC_RELAXED);
}

/* checks R-CQ-30[2,3], R-RSZ-01[1,2]: however the threads are scheduled, there is a resize between
 * any two parts of the entries */
Test(ndclient_resize, R_RSZ_01_each_entry_once_while_all_poll_and_two_resize, .timeout = 110)
{
	struct bench *b = make(ANSWER);
	uint32_t *seen = calloc(MADE + 1, sizeof(*seen));
	struct taker t[3];
	struct resizer z[2] = {{.b = b}, {.b = b}};

	for (int i = 0; i < 3; i++) {
		t[i] = (struct taker){.b = b, .seen = seen};
		pthread_create(&t[i].thread, NULL, taker_main, &t[i]);
	}
	for (int i = 0; i < 2; i++)
		pthread_create(&z[i].thread, NULL, resizer_main, &z[i]);
	for (uint32_t part = 1; part <= PARTS; part++) {
		while (b->made < MADE / PARTS * part)
			if (!turn(b, 1 + (uint32_t)(b->made % 3 == 0 && b->made < MADE - 2)))
				sched_yield();
		for (uint32_t before = resizes(z); resizes(z) == before;)
			sched_yield();
	}
	for (int i = 0; i < 2; i++) {
		__atomic_store_n(&z[i].stop, 1, __ATOMIC_RELEASE);
		pthread_join(z[i].thread, NULL);
	}
	pthread_mutex_lock(&b->lcore);
	b->daemon.fault = NDSH_CQ_FATAL;
	ndsh_cq_publish(&b->daemon);
	pthread_mutex_unlock(&b->lcore);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i].thread, NULL);
	for (uint32_t i = 1; i <= MADE; i++)
		cr_assert(eq(u32, seen[i], 1), "entry %u", i);
	free(seen);
	drop(b);
}

/* ---- the daemon ends ------------------------------------------------------------------ */

static void
dies(enum end end)
{
	struct bench *b = make(end);

	cr_assert(turn(b, 5));
	cr_expect(eq(i32, nd_cq_resize(b->cq, 100), ND_DEVICE_REMOVED));
	take_in_order(b, 1, 5);
	cr_expect(eq(i32, nd_cq_resize(b->cq, 100), ND_DEVICE_REMOVED));
	nd_cq_close_fds(b->cq);
	free(b->cq);
	drop(b);
}

/* checks R-RSZ-01[1,6] */
Test(ndclient_resize, R_RSZ_01_what_was_made_can_be_taken_if_the_daemon_dies_before, .timeout = 60)
{
	dies(END_BEFORE_THE_MOVE);
}

/* checks R-RSZ-01[1,6] */
Test(ndclient_resize, R_RSZ_01_what_was_made_can_be_taken_if_no_answer_comes, .timeout = 60)
{
	dies(END_AFTER_THE_MOVE);
}

Test(ndclient_affinity, group_and_mask_as_the_daemon_says, .timeout = 60)
{
	struct bench *b = make(ANSWER);
	uint16_t group = 0;
	uint64_t mask = 0;

	cr_expect(eq(i32, nd_cq_get_affinity(b->cq, NULL, &mask), ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_cq_get_affinity(b->cq, &group, NULL), ND_INVALID_PARAMETER));
	cr_assert(eq(i32, nd_cq_get_affinity(b->cq, &group, &mask), ND_SUCCESS));
	cr_expect(eq(u16, group, 1));
	cr_expect(eq(u64, mask, 1u << 5));
	b->a->abi_minor = 2;
	cr_expect(eq(i32, nd_cq_get_affinity(b->cq, &group, &mask), ND_NOT_SUPPORTED));
	drop(b);
}
