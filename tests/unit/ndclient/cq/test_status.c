/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a queue makes no more entries, in whichever way it is asked (cq_bench.h). */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <poll.h>

#include "ndclient/session/adapter.h"
#include "rigs/cq_bench.h"

#define NOTIFY(b, type, ov) cr_assert(eq(i32, nd_cq_notify(&(b)->cq, type, ov), ND_PENDING))
#define ANY		    ND_CQ_NOTIFY_ANY
#define ERRORS		    ND_CQ_NOTIFY_ERRORS

/* checks R-CQ-08[2,4,5], R-CR-01[4]: a dead queue says what killed it, whichever call is made, how
 * often, and whether or not there still is a daemon. */
Test(ndclient_status_of_cq, R_CQ_08_a_fault_outlives_the_daemon)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_overlapped ov = {0}, pending = {0};

	cr_expect(eq(i32, nd_cq_status(&b->cq), ND_SUCCESS));
	NOTIFY(b, ERRORS, &pending);
	cq_bench_turn(b, "uo");
	for (int gone = 0; gone < 2; gone++) {
		b->a->gone = (uint32_t)gone;
		cr_expect(eq(i32, cq_bench_poll_all(b), gone ? ND_BUFFER_OVERFLOW : 1));
		for (uint32_t type = 0; type < 3; type++) {
			cr_expect(eq(i32, nd_cq_status(&b->cq), ND_BUFFER_OVERFLOW));
			cr_expect(eq(i32, cq_bench_poll_all(b), ND_BUFFER_OVERFLOW));
			NOTIFY(b, type, &ov);
			cr_expect(eq(i32, nd_overlapped_status(&ov), ND_BUFFER_OVERFLOW));
		}
		cr_expect(eq(i32, nd_overlapped_status(&pending), ND_BUFFER_OVERFLOW));
	}
	cq_bench_drop(b);
}

/* checks R-CQ-08[5] */
Test(ndclient_status_of_cq, R_CQ_08_an_arm_tells_it_too)
{
	struct cq_bench *b = cq_bench_make();

	cq_bench_turn(b, "o");
	b->a->gone = 1;
	for (int i = 0; i < 3; i++)
		cr_expect(eq(i32, nd_cq_arm(&b->cq, ERRORS), ND_BUFFER_OVERFLOW));
	cr_expect(poll(&(struct pollfd){.fd = nd_cq_fd(&b->cq), .events = POLLIN}, 1, 0) == 1);
	cq_bench_drop(b);
}

Test(ndclient_status_of_cq, a_queue_without_a_daemon_is_told_apart)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_overlapped ov = {0};

	b->a->gone = 1;
	cr_expect(eq(i32, nd_cq_status(&b->cq), ND_DEVICE_REMOVED));
	cr_expect(eq(i32, nd_cq_notify(&b->cq, ANY, &ov), ND_DEVICE_REMOVED));
	cr_expect(eq(i32, nd_cq_arm(&b->cq, ANY), ND_DEVICE_REMOVED));
	cq_bench_drop(b);
}
