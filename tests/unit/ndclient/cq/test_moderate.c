/* SPDX-License-Identifier: BSD-3-Clause */
/* Callbacks that wait for more (arm_bench.h). Times are an hour, or are waited for. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "ndclient/cq/moderate.h"
#include "ndclient/cq/notify.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/spin.h"
#include "rigs/arm_bench.h"

#define HOUR_US	  3600000000u
#define UNLIMITED 0xffffffffu
#define PATIENCE  20000 /* ms */

static void
moderate(struct arm_bench *b, uint32_t us, uint32_t count)
{
	cr_expect(eq(i32, nd_cq_moderate(b->cq, us, count), ND_SUCCESS));
}

/* Sleep until there is something to do, and do all. */
static unsigned
serve_later(struct arm_bench *b)
{
	struct pollfd p = {.fd = b->a->callbacks.epoll_fd, .events = POLLIN};
	unsigned runs = b->runs;

	while (b->runs == runs) {
		cr_assert(eq(int, poll(&p, 1, PATIENCE), 1));
		(void)arm_bench_serve(b);
	}
	return b->runs;
}

/* checks R-MOD-01[1,4]: entries are there at once, and count, taken or not */
Test(ndclient_moderate, R_MOD_01_by_count)
{
	struct arm_bench b;

	arm_bench_make(&b, false);
	moderate(&b, UNLIMITED, 3);
	for (unsigned i = 0; i < 3; i++) {
		arm_bench_arm(&b, ANY);
		arm_bench_turn(&b, "u");
		cr_expect(eq(u32, arm_bench_serve(&b), i));
		cr_expect(eq(i32, arm_bench_poll_all(&b), 1));
		arm_bench_turn(&b, "u");
		cr_expect(eq(u32, arm_bench_serve(&b), i));
		arm_bench_turn(&b, "us");
		cr_expect(eq(u32, arm_bench_serve(&b), i + 1));
		cr_expect(eq(i32, arm_bench_poll_all(&b), 3));
	}
	arm_bench_turn(
		&b, "u"); /* old ones don't count: this one was taken when it is armed for more */
	cr_expect(eq(i32, arm_bench_poll_all(&b), 1));
	arm_bench_arm(&b, ANY);
	arm_bench_turn(&b, "uu");
	cr_expect(eq(u32, arm_bench_serve(&b), 3));
	arm_bench_arm(&b, SOLICITED);
	arm_bench_turn(&b, "u");
	cr_expect(eq(u32, arm_bench_serve(&b), 4), "joined");
	arm_bench_drop(&b);
}

/* checks R-MOD-01[2,5,8,9] */
Test(ndclient_moderate, R_MOD_01_by_time)
{
	struct arm_bench b;

	arm_bench_make(&b, false);
	moderate(&b, HOUR_US, UNLIMITED);
	arm_bench_arm(&b, ANY);
	arm_bench_turn(&b, "uuuu");
	arm_bench_turn(&b, "su");
	cr_expect(eq(u32, arm_bench_serve(&b), 0));
	moderate(&b, 1000, UNLIMITED); /* the last setting holds, without delay */
	cr_expect(eq(u32, serve_later(&b), 1));
	cr_expect(eq(i32, b.status, ND_SUCCESS));
	arm_bench_arm(&b, ANY);
	cr_expect(eq(u32, arm_bench_serve(&b), 1), "R-CQ-11: all are old");
	moderate(&b, 2000, DEPTH); /* no number that the queue can't hold */
	arm_bench_turn(&b, "u");
	cr_expect(eq(u32, serve_later(&b), 2));
	arm_bench_drop(&b);
}

/* checks R-MOD-01[2,4]: whichever is first */
Test(ndclient_moderate, by_both)
{
	struct arm_bench b;

	arm_bench_make(&b, false);
	moderate(&b, HOUR_US, 4);
	arm_bench_arm(&b, ANY);
	arm_bench_turn(&b, "uuu");
	cr_expect(eq(u32, arm_bench_serve(&b), 0));
	arm_bench_turn(&b, "u");
	cr_expect(eq(u32, arm_bench_serve(&b), 1));
	moderate(&b, 1000, 60);
	arm_bench_arm(&b, ANY);
	arm_bench_turn(&b, "u");
	cr_expect(eq(u32, serve_later(&b), 2));
	arm_bench_drop(&b);
}

/* checks R-MOD-01[3,6,8,9,10]: what switches it off, and that neither limit is none at all */
Test(ndclient_moderate, settings)
{
	static const uint32_t off[][2] = {{0, 5}, {0, UNLIMITED}, {7, 0}, {7, 1}, {UNLIMITED, 1}};
	struct arm_bench b;

	arm_bench_make(&b, false);
	for (unsigned i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		moderate(&b, UNLIMITED, DEPTH - 1);
		arm_bench_arm(&b, ANY);
		arm_bench_turn(&b, "u");
		cr_expect(eq(u32, arm_bench_serve(&b), 2 * i));
		moderate(&b, off[i][0], off[i][1]);
		cr_expect(eq(u32, arm_bench_serve(&b), 2 * i + 1), "the one that waits, too");
		arm_bench_arm(&b, ANY);
		arm_bench_turn(&b, "u");
		cr_expect(eq(u32, arm_bench_serve(&b), 2 * i + 2));
		(void)arm_bench_poll_all(&b);
	}
	cr_expect(eq(i32, nd_cq_moderate(b.cq, UNLIMITED, UNLIMITED), ND_INVALID_PARAMETER_MIX));
	cr_expect(eq(i32, nd_cq_moderate(b.cq, UNLIMITED, DEPTH), ND_INVALID_PARAMETER_MIX));
	arm_bench_drop(&b);
}

static void
resized(struct arm_bench *b, uint32_t depth)
{
	nd_spin_lock(&b->cq->lock);
	nd_moderation_resized(b->cq, depth);
	nd_spin_unlock(&b->cq->lock);
}

/*
 * checks R-MOD-01[5,9]: a count is judged by the depth that the queue has now, also while a
 * callback is held back; a resize that leaves no limit ends that.
 */
Test(ndclient_moderate, after_a_resize)
{
	struct arm_bench b;

	arm_bench_make(&b, false);
	moderate(&b, HOUR_US, 20);
	arm_bench_arm(&b, ANY);
	arm_bench_turn(&b, "u");
	cr_expect(eq(u32, arm_bench_serve(&b), 0));
	resized(&b, 20);
	arm_bench_turn(&b, "uuuuuuuuuuuuuuuuuuuuuuuu");
	cr_expect(eq(u32, arm_bench_serve(&b), 0), "20 is no number that it can hold");
	resized(&b, 21);
	cr_expect(eq(u32, arm_bench_serve(&b), 1));
	(void)arm_bench_poll_all(&b);
	moderate(&b, UNLIMITED, 20);
	arm_bench_arm(&b, ANY);
	arm_bench_turn(&b, "u");
	cr_expect(eq(u32, arm_bench_serve(&b), 1));
	resized(&b, 10);
	cr_expect(eq(u32, arm_bench_serve(&b), 2));
	cr_expect(eq(i32, nd_cq_moderate(b.cq, UNLIMITED, 10), ND_INVALID_PARAMETER_MIX));
	cr_expect(eq(i32, nd_cq_moderate(b.cq, UNLIMITED, 9), ND_SUCCESS));
	arm_bench_drop(&b);
}

/* checks R-MOD-02[1,2] */
Test(ndclient_moderate, R_MOD_02_faults_and_failed_entries_are_not_delayed)
{
	static const uint32_t setting[][2] = {{HOUR_US, UNLIMITED}, {UNLIMITED, 60}, {HOUR_US, 60}};

	for (unsigned i = 0; i < 12; i++) {
		bool failed = i < 6, late = i % 2;
		struct arm_bench b;

		arm_bench_make(&b, false);
		moderate(&b, setting[i / 2 % 3][0], setting[i / 2 % 3][1]);
		arm_bench_arm(&b, ANY);
		if (late) { /* while it waits already */
			arm_bench_turn(&b, "us");
			cr_expect(eq(u32, arm_bench_serve(&b), 0));
			arm_bench_turn(&b, "u");
			cr_expect(eq(u32, arm_bench_serve(&b), 0));
		}
		arm_bench_turn(&b, failed ? "uf" : "o");
		cr_expect(eq(u32, arm_bench_serve(&b), 1));
		cr_expect(eq(i32, b.status, failed ? ND_SUCCESS : ND_BUFFER_OVERFLOW));
		arm_bench_drop(&b);
	}
}

/* checks R-CQ-25[1]: it is due, so arms join with it and a cancel comes too late */
Test(ndclient_moderate, arms_and_cancel_while_it_waits)
{
	struct arm_bench b;

	arm_bench_make(&b, false);
	moderate(&b, UNLIMITED, 4);
	arm_bench_arm(&b, ANY);
	arm_bench_turn(&b, "u");
	cr_expect(eq(u32, arm_bench_serve(&b), 0));
	arm_bench_arm(&b, ANY);
	arm_bench_arm(&b, ERRORS);
	nd_cq_cancel(b.cq);
	arm_bench_turn(&b, "uu");
	cr_expect(eq(u32, arm_bench_serve(&b), 0));
	arm_bench_turn(&b, "u");
	cr_expect(eq(u32, arm_bench_serve(&b), 1));
	arm_bench_turn(&b, "uuuuu");
	cr_expect(eq(u32, arm_bench_serve(&b), 1), "nothing is left armed");
	arm_bench_arm(&b, ANY);
	cr_expect(eq(u32, arm_bench_serve(&b), 2));
	arm_bench_arm(&b, ANY);
	nd_cq_cancel(b.cq);
	arm_bench_turn(&b, "uuuu");
	cr_expect(eq(u32, arm_bench_serve(&b), 2), "taken back in time");
	arm_bench_drop(&b);
}

Test(ndclient_moderate, the_daemon_goes_while_it_waits)
{
	struct arm_bench b;

	arm_bench_make(&b, false);
	moderate(&b, HOUR_US, UNLIMITED);
	arm_bench_arm(&b, ANY);
	arm_bench_turn(&b, "u");
	cr_expect(eq(u32, arm_bench_serve(&b), 0));
	b.a->gone = 1;
	nd_cq_end_waiters(b.cq, ND_DEVICE_REMOVED);
	cr_expect(eq(u32, arm_bench_serve(&b), 1));
	cr_expect(eq(i32, b.status, ND_DEVICE_REMOVED));
	cr_expect(eq(i32, nd_cq_moderate(b.cq, 1, 2), ND_DEVICE_REMOVED));
	arm_bench_drop(&b);
}

/* checks R-MOD-01[1]: only callbacks are delayed */
Test(ndclient_moderate, other_styles_are_not_delayed)
{
	struct nd_adapter *a = arm_bench_new_adapter();
	struct pollfd p = {.events = POLLIN};
	struct nd_overlapped ov = {0};
	struct arm_bench b;

	arm_bench_add_queue(&b, a, 1);
	a->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	a->callbacks.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	moderate(&b, HOUR_US, 60);
	cr_assert(eq(i32, nd_cq_arm(b.cq, ANY), ND_SUCCESS));
	arm_bench_turn(&b, "u");
	p.fd = nd_cq_fd(b.cq);
	cr_expect(eq(int, poll(&p, 1, 0), 1));
	nd_cq_ack(b.cq);
	cr_assert(eq(i32, nd_cq_notify(b.cq, ANY, &ov), ND_PENDING));
	arm_bench_turn(&b, "u");
	nd_cq_readable(b.cq);
	cr_expect(eq(i32, ov.status, ND_SUCCESS));
	close(a->epoll_fd);
	arm_bench_drop(&b);
}
