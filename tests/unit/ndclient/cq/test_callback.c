/* SPDX-License-Identifier: BSD-3-Clause */
/* Notifications by callback (arm_bench.h): arms, deferral, marks, faults. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "ndclient/cq/notify.h"
#include "ndclient/qp/handles.h"
#include "ndclient/session/adapter.h"
#include "rigs/arm_bench.h"

static void
in_arm(struct arm_bench *b)
{
	arm_bench_arm(b, ANY);
}

static void
in_poll_arm(struct arm_bench *b)
{
	b->taken += arm_bench_poll_all(b);
	arm_bench_arm(b, ANY);
}

/* checks R-CQ-01[1,2], R-CQ-09, R-CQ-26[1], R-MOD-01[7] */
Test(ndclient_arm, one_callback_per_arm_and_none_without)
{
	struct arm_bench b;

	arm_bench_make(&b, false);
	arm_bench_turn(&b, "u");
	cr_expect(eq(u32, arm_bench_serve(&b), 0), "not armed");
	cr_expect(eq(i32, arm_bench_poll_all(&b), 1));
	arm_bench_arm(&b, ANY);
	cr_expect(eq(u32, arm_bench_serve(&b), 0), "no entry");
	arm_bench_turn(&b, "u");
	cr_expect(eq(u32, b.runs, 0), "not in the daemon's turn");
	cr_expect(eq(u32, arm_bench_serve(&b), 1));
	cr_expect(eq(i32, b.status, ND_SUCCESS));
	arm_bench_turn(&b, "uu");
	cr_expect(eq(u32, arm_bench_serve(&b), 1), "the arm was spent");
	arm_bench_drop(&b);
}

/* checks R-CQ-12[1,3]: at once, yet not on the stack of the call that arms */
Test(ndclient_arm, a_reason_that_is_there_already)
{
	struct arm_bench b;

	arm_bench_make(&b, false);
	arm_bench_turn(&b, "u");
	arm_bench_arm(&b, ANY);
	cr_expect(eq(u32, b.runs, 0));
	cr_expect(eq(u32, arm_bench_serve(&b), 1));
	arm_bench_arm(&b, ANY);
	cr_expect(eq(u32, arm_bench_serve(&b), 1), "R-CQ-11: the entry is old now");
	arm_bench_drop(&b);
}

/* checks R-CQ-18[2]: arms join and give one callback */
Test(ndclient_arm, joined_arms_give_one_callback)
{
	struct arm_bench b;

	arm_bench_make(&b, false);
	arm_bench_arm(&b, ERRORS);
	arm_bench_turn(&b, "u");
	cr_expect(eq(u32, arm_bench_serve(&b), 0));
	cr_expect(eq(i32, arm_bench_poll_all(&b), 1));
	arm_bench_arm(&b, SOLICITED);
	arm_bench_turn(&b, "u");
	cr_expect(eq(u32, arm_bench_serve(&b), 0));
	arm_bench_turn(&b, "s");
	arm_bench_arm(&b, ANY);
	cr_expect(eq(u32, arm_bench_serve(&b), 1));
	arm_bench_turn(&b, "s");
	cr_expect(eq(u32, arm_bench_serve(&b), 1));
	arm_bench_drop(&b);
}

/*
 * checks R-CQ-25[1,2]: it fires, is not entered yet, and the consumer goes on: the next arm is
 * served by the same callback, and only what comes behind its entry counts for another.
 */
Test(ndclient_arm, R_CQ_25_an_arm_joins_a_callback_that_is_due)
{
	struct arm_bench b;

	arm_bench_make(&b, false);
	arm_bench_arm(&b, ANY);
	arm_bench_turn(&b, "u");
	cr_expect(eq(i32, arm_bench_poll_all(&b), 1));
	arm_bench_arm(&b, ANY);
	arm_bench_turn(&b, "u");
	arm_bench_arm(&b, ANY);
	cr_expect(eq(u32, arm_bench_serve(&b), 1));
	arm_bench_turn(&b, "u");
	cr_expect(eq(u32, arm_bench_serve(&b), 1), "nothing is left armed");
	arm_bench_arm(&b, ANY);
	cr_expect(eq(u32, arm_bench_serve(&b), 2), "the third entry is new");
	arm_bench_drop(&b);
}

static void
in_arm_twice_and_three_entries(struct arm_bench *b)
{
	arm_bench_arm(b, ANY);
	arm_bench_arm(b, SOLICITED);
	arm_bench_turn(b, "u");
	arm_bench_turn(b, "us");
	cr_expect(eq(u32, b->runs, 1), "deferred");
}

/* checks R-CQ-23[1,2], R-CQ-24, R-CQ-25[1,2] */
Test(ndclient_arm, armed_twice_inside_and_three_entries_give_one_more)
{
	struct arm_bench b;

	arm_bench_make(&b, false);
	b.in[0] = in_arm_twice_and_three_entries;
	arm_bench_arm(&b, ANY);
	arm_bench_turn(&b, "u");
	cr_assert(arm_bench_step(b.a));
	cr_expect(eq(u32, b.runs, 1));
	cr_expect(eq(u32, arm_bench_serve(&b), 2));
	arm_bench_arm(&b, ANY);
	cr_expect(eq(u32, arm_bench_serve(&b), 2), "all four are old");
	arm_bench_drop(&b);
}

/* checks R-CQ-24, R-CQ-28 */
Test(ndclient_arm, poll_and_arm_inside_lose_nothing)
{
	struct arm_bench b;

	arm_bench_make(&b, false);
	for (int i = 0; i < 4; i++)
		b.in[i] = in_poll_arm;
	arm_bench_arm(&b, ANY);
	for (int i = 1; i <= 10; i++) {
		arm_bench_turn(&b, i % 2 == 0 ? "uus" : "u");
		cr_expect(eq(u32, arm_bench_serve(&b), (unsigned)i));
	}
	cr_expect(eq(i32, b.taken, 20));
	arm_bench_drop(&b);
}

/* Entries that were there when the callback was entered do not call it again, taken or not: a
 * callback that only arms is no loop. */
Test(ndclient_arm, R_CQ_24_arming_inside_without_taking_results)
{
	struct arm_bench b;

	arm_bench_make(&b, false);
	b.in[0] = b.in[1] = in_arm;
	arm_bench_arm(&b, ANY);
	arm_bench_turn(&b, "uu");
	cr_expect(eq(u32, arm_bench_serve(&b), 1));
	arm_bench_turn(&b, "u");
	cr_expect(eq(u32, arm_bench_serve(&b), 2));
	arm_bench_drop(&b);
}

static void
in_post(struct arm_bench *b)
{
	for (int i = 0; i < 2; i++)
		cr_expect(eq(i32, nd_qp_receive(b->qp, (void *)5, NULL, 0), ND_SUCCESS));
	cr_expect(eq(i32, nd_qp_receive(b->qp, NULL, NULL, 0), ND_NO_MORE_ENTRIES), "full");
	arm_bench_turn(b, "u"); /* the first is done: taking its result makes room */
	cr_expect(eq(i32, arm_bench_poll_all(b), 2));
	cr_expect(eq(i32, nd_qp_receive(b->qp, (void *)6, NULL, 0), ND_SUCCESS));
	arm_bench_arm(b, ANY);
}

Test(ndclient_arm, R_CQ_28_posting_polling_and_arming_inside)
{
	const struct ndsh_qp_dims d = {.sq_depth = 2, .rq_depth = 2, .sq_sge = 1, .rq_sge = 1};
	struct ndsh_qp_layout l;
	struct arm_bench b;
	void *block;

	cr_assert(ndsh_qp_layout(&d, &l));
	block = aligned_alloc(64, l.total_bytes);
	memset(block, 0, l.total_bytes);
	arm_bench_make(&b, false);
	b.qp = aligned_alloc(64, sizeof(*b.qp));
	memset(b.qp, 0, sizeof(*b.qp));
	b.qp->adapter = b.a;
	b.qp->page = block;
	b.qp->rq_sge = 1;
	ndsh_rq_view(&b.qp->rq, block, &d);
	b.a->qps->by_handle[0] = b.qp;
	b.in[0] = in_post;
	arm_bench_arm(&b, ANY);
	arm_bench_turn(&b, "p"); /* not one of its requests: that frees nothing */
	cr_expect(eq(u32, arm_bench_serve(&b), 1));
	arm_bench_turn(&b, "u");
	cr_expect(eq(u32, arm_bench_serve(&b), 2));
	free(b.qp);
	free(block);
	arm_bench_drop(&b);
}

/* checks R-CQ-08[1,2,5], R-CQ-29[2] */
Test(ndclient_arm, R_CQ_29_a_fault_is_told_to_every_type_and_stays)
{
	for (uint32_t type = 0; type < 3; type++) {
		struct arm_bench b;

		arm_bench_make(&b, false);
		arm_bench_arm(&b, type);
		arm_bench_turn(&b, "uo");
		cr_expect(eq(u32, arm_bench_serve(&b), 1));
		cr_expect(eq(i32, b.status, ND_BUFFER_OVERFLOW));
		b.status = ND_SUCCESS;
		arm_bench_arm(&b, type);
		cr_expect(eq(u32, arm_bench_serve(&b), 2), "sticky");
		cr_expect(eq(i32, b.status, ND_BUFFER_OVERFLOW));
		b.status = ND_SUCCESS;
		b.a->gone = 1;
		arm_bench_arm(&b, type);
		cr_expect(eq(u32, arm_bench_serve(&b), 3), "without a daemon, too");
		cr_expect(eq(i32, b.status, ND_BUFFER_OVERFLOW));
		arm_bench_drop(&b);
	}
}

/* checks R-CQ-34[1,2] */
Test(ndclient_arm, cancel_takes_the_arm_back_unless_it_has_fired)
{
	struct arm_bench b;

	arm_bench_make(&b, false);
	arm_bench_arm(&b, ANY);
	nd_cq_cancel(b.cq);
	arm_bench_turn(&b, "u");
	cr_expect(eq(u32, arm_bench_serve(&b), 0));
	arm_bench_arm(&b, ANY);
	cr_expect(eq(u32, arm_bench_serve(&b), 1), "a cancel is no notification");
	arm_bench_arm(&b, ANY);
	arm_bench_turn(&b, "u");
	nd_cq_cancel(b.cq);
	cr_expect(eq(u32, arm_bench_serve(&b), 2), "the event was faster");
	arm_bench_drop(&b);
}

/* checks R-CQ-29[3], R-CQ-35[2], R-LIFE-12[2] */
Test(ndclient_arm, the_daemon_goes)
{
	struct arm_bench b;

	arm_bench_make(&b, false);
	arm_bench_arm(&b, ANY);
	close(b.daemon_fd);
	b.daemon_fd = -1;
	cr_expect(eq(u32, arm_bench_serve(&b), 0), "its pipe alone says nothing, once");
	b.a->gone = 1;
	nd_cq_end_waiters(b.cq, ND_DEVICE_REMOVED);
	cr_expect(eq(u32, arm_bench_serve(&b), 1));
	cr_expect(eq(i32, b.status, ND_DEVICE_REMOVED));
	cr_expect(eq(i32, nd_cq_arm_callback(b.cq, ANY), ND_DEVICE_REMOVED));
	cr_expect(eq(u32, arm_bench_serve(&b), 1));
	arm_bench_drop(&b);
}

/* checks R-CQ-36 */
Test(ndclient_arm, bad_arguments_and_other_styles)
{
	struct nd_adapter *a = arm_bench_new_adapter();
	struct nd_overlapped ov = {0};
	struct arm_bench b;

	arm_bench_add_queue(&b, a, 1);
	a->callbacks.running = true;
	a->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	a->callbacks.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	cr_expect(eq(i32, nd_cq_arm_callback(b.cq, ANY), ND_INVALID_DEVICE_STATE));
	cr_expect(eq(i32, nd_cq_set_callback(b.cq, NULL, NULL), ND_INVALID_PARAMETER_2));
	cr_expect(eq(i32, nd_cq_notify(b.cq, ANY, &ov), ND_PENDING));
	cr_expect(
		eq(i32, nd_cq_set_callback(b.cq, arm_bench_callback, &b), ND_INVALID_DEVICE_STATE));
	nd_cq_cancel(b.cq);
	cr_expect(eq(i32, nd_cq_set_callback(b.cq, arm_bench_callback, &b), ND_SUCCESS));
	cr_expect(
		eq(i32, nd_cq_set_callback(b.cq, arm_bench_callback, &b), ND_INVALID_DEVICE_STATE));
	cr_expect(eq(i32, nd_cq_notify(b.cq, ANY, &ov), ND_INVALID_DEVICE_STATE));
	cr_expect(eq(i32, nd_cq_arm(b.cq, ANY), ND_INVALID_DEVICE_STATE));
	cr_expect(eq(i32, nd_cq_arm_callback(b.cq, 3), ND_INVALID_PARAMETER_1));
	arm_bench_turn(&b, "u");
	cr_expect(eq(u32, arm_bench_serve(&b), 0), "nothing was armed by all that");
	cr_expect(eq(i32, arm_bench_poll_all(&b), 1));
	cr_assert(ge(int, nd_cq_fd(b.cq), 0));
	arm_bench_arm(&b, ANY);
	arm_bench_turn(&b, "u");
	nd_cq_ack(b.cq);
	cr_expect(eq(u32, arm_bench_serve(&b), 1), "an acknowledgement takes no callback away");
	close(a->epoll_fd);
	arm_bench_drop(&b);
}

/* checks R-CQ-22: two queues of one adapter */
Test(ndclient_arm, queues_dont_mix)
{
	struct arm_bench b, other;

	arm_bench_make(&b, false);
	arm_bench_add_queue(&other, b.a, 8);
	cr_assert(eq(i32, nd_cq_set_callback(other.cq, arm_bench_callback, &other), ND_SUCCESS));
	arm_bench_arm(&b, ANY);
	arm_bench_arm(&other, ANY);
	arm_bench_turn(&b, "u");
	cr_expect(eq(u32, arm_bench_serve(&b), 1));
	cr_expect(eq(u32, other.runs, 0));
	arm_bench_turn(&other, "u");
	(void)arm_bench_serve(&b);
	cr_expect(eq(u32, other.runs, 1));
	cr_expect(eq(u32, b.runs, 1));
	arm_bench_drop_queue(&other);
	arm_bench_drop(&b);
}
