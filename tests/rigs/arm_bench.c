/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "ndclient/cq/callback.h"
#include "ndclient/cq/cq.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/handlers.h"
#include "ndclient/session/object.h"
#include "rigs/arm_bench.h"

void
arm_bench_callback(void *context, nd_status st)
{
	struct arm_bench *b = context;
	arm_bench_hook *in = b->in[b->runs % 4];

	cr_expect(not(b->inside));
	b->inside = true;
	b->runs++;
	b->status = st;
	if (in != NULL)
		in(b);
	b->inside = false;
}

struct nd_adapter *
arm_bench_new_adapter(void)
{
	struct nd_adapter *a = nd_adapter_new();

	a->handlers = &nd_handlers;
	pthread_mutex_init(&a->lock, NULL);
	TAILQ_INIT(&a->cqs);
	TAILQ_INIT(&a->closed_qps);
	return a;
}

void
arm_bench_add_queue(struct arm_bench *b, struct nd_adapter *a, uint32_t id)
{
	int fd[2];

	*b = (struct arm_bench){.a = a, .closed = ND_PENDING};
	sem_init(&b->entered, 0, 0);
	sem_init(&b->go, 0, 0);
	b->block = aligned_alloc(64, ndsh_cq_bytes(DEPTH));
	memset(b->block, 0, ndsh_cq_bytes(DEPTH));
	cr_assert(zero(int, pipe2(fd, O_NONBLOCK | O_CLOEXEC)));
	b->cq = calloc(1, sizeof(*b->cq));
	b->cq->adapter = a;
	b->cq->id = id;
	b->cq->depth = DEPTH;
	b->cq->notify_fd = fd[0];
	b->cq->event_fd = b->cq->poll_fd = -1;
	b->daemon_fd = fd[1];
	ndsh_cq_reader_view(&b->cq->reader, b->block, DEPTH);
	ndsh_cq_view(&b->daemon, b->block, DEPTH);
	nd_object_open(&b->cq->obj, &nd_cq_class, a);
	TAILQ_INSERT_TAIL(&a->cqs, b->cq, link);
}

void
arm_bench_make(struct arm_bench *b, bool threads)
{
	struct nd_adapter *a = arm_bench_new_adapter();

	arm_bench_add_queue(b, a, 7);
	a->callbacks.running = !threads;
	if (!threads)
		a->callbacks.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	cr_assert(eq(i32, nd_cq_set_callback(b->cq, arm_bench_callback, b), ND_SUCCESS));
}

void
arm_bench_drop_queue(struct arm_bench *b)
{
	if (b->cq != NULL) {
		nd_cq_close_fds(b->cq);
		free(b->cq);
	}
	close(b->daemon_fd);
	free(b->block);
}

void
arm_bench_drop_adapter(struct nd_adapter *a, bool threads)
{
	if (!threads)
		close(a->callbacks.epoll_fd);
	pthread_mutex_destroy(&a->lock);
	nd_adapter_free(a);
}

void
arm_bench_drop(struct arm_bench *b)
{
	arm_bench_drop_queue(b);
	arm_bench_drop_adapter(b->a, false);
}

void
arm_bench_turn(struct arm_bench *b, const char *entries)
{
	for (; *entries != 0; entries++) {
		struct ndsh_cqe e = {.op = NDSH_OP_RECV, .slot_count = 1};

		if (*entries == 's')
			e.flags = NDSH_CQEF_SOLICITED;
		if (*entries == 'f')
			e.status = NDSH_WC_FLUSH_ERR;
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

bool
arm_bench_step(struct nd_adapter *a)
{
	struct epoll_event ev;

	if (epoll_wait(a->callbacks.epoll_fd, &ev, 1, 0) != 1)
		return false;
	(void)nd_cq_call_back(a, (uint32_t)ev.data.u64);
	return true;
}

unsigned
arm_bench_serve(struct arm_bench *b)
{
	for (int i = 0; arm_bench_step(b->a); i++)
		cr_assert(lt(int, i, 100), "the thread never sleeps");
	return b->runs;
}

int32_t
arm_bench_poll_all(struct arm_bench *b)
{
	struct nd_result r[DEPTH];

	return nd_cq_get_results(b->cq, r, DEPTH);
}

void
arm_bench_arm(struct arm_bench *b, uint32_t type)
{
	cr_expect(eq(i32, nd_cq_arm_callback(b->cq, type), ND_SUCCESS));
}
