/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "ndclient/cq/cq.h"
#include "ndclient/cq/notify.h"
#include "ndclient/session/adapter.h"
#include "rigs/cq_bench.h"

struct cq_bench *
cq_bench_make(void)
{
	struct cq_bench *b = calloc(1, sizeof(*b));
	int fd[2];

	b->block = aligned_alloc(64, ndsh_cq_bytes(DEPTH));
	memset(b->block, 0, ndsh_cq_bytes(DEPTH));
	b->a = nd_adapter_new();
	b->a->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	cr_assert(zero(int, pipe2(fd, O_NONBLOCK | O_CLOEXEC)));
	b->cq.adapter = b->a;
	b->cq.notify_fd = fd[0];
	b->cq.event_fd = b->cq.poll_fd = -1;
	b->daemon_fd = fd[1];
	ndsh_cq_reader_view(&b->cq.reader, b->block, DEPTH);
	ndsh_cq_view(&b->daemon, b->block, DEPTH);
	return b;
}

void
cq_bench_drop(struct cq_bench *b)
{
	nd_cq_close_fds(&b->cq);
	close(b->daemon_fd);
	close(b->a->epoll_fd);
	nd_adapter_free(b->a);
	free(b->block);
	free(b);
}

void
cq_bench_turn(struct cq_bench *b, const char *entries)
{
	for (; *entries != 0; entries++) {
		struct ndsh_cqe e = {.op = NDSH_OP_RECV};

		if (*entries == 's')
			e.flags = NDSH_CQEF_SOLICITED;
		if (*entries == 'g')
			e.op = NDSH_OP_SEND;
		if (*entries == 'f')
			e = (struct ndsh_cqe){.op = NDSH_OP_SEND, .status = NDSH_WC_FLUSH_ERR};
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

void
cq_bench_serve(struct cq_bench *b)
{
	struct epoll_event ev;

	if (epoll_wait(b->a->epoll_fd, &ev, 1, 0) == 1)
		nd_cq_readable(&b->cq);
}

nd_status
cq_bench_after(struct cq_bench *b, const struct nd_overlapped *ov)
{
	cq_bench_serve(b);
	return nd_overlapped_status(ov);
}

int32_t
cq_bench_poll_all(struct cq_bench *b)
{
	struct nd_result r[64];

	return nd_cq_get_results(&b->cq, r, 64);
}
