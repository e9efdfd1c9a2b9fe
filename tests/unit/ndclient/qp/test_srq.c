/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared receive queues: what is refused inline, what reaches the ring, notifications. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "ndclient/mem/pd.h"
#include "ndclient/qp/qp.h"
#include "ndclient/qp/srq.h"
#include "ndclient/session/adapter.h"

#define RING  16u
#define DEPTH 4u

struct bench {
	struct nd_adapter *a;
	struct nd_pd pd;
	struct nd_srq srq;
	struct ndsh_rq daemon;
};

static struct bench *
make(void)
{
	struct bench *b = calloc(1, sizeof(*b));
	uint32_t bytes = ndsh_srq_bytes(RING, 2);

	b->a = nd_adapter_new();
	pthread_mutex_init(&b->a->lock, NULL);
	TAILQ_INIT(&b->a->srqs);
	b->a->info.max_srq_depth = RING;
	b->a->info.max_receive_sge = 2;
	b->a->max_transfer_bytes = 1000;
	b->pd.adapter = b->a;
	b->srq.adapter = b->a;
	b->srq.pd = &b->pd;
	b->srq.page = aligned_alloc(64, bytes);
	memset(b->srq.page, 0, bytes);
	b->srq.sge = 2;
	b->srq.depth = DEPTH;
	b->srq.id = 7;
	ndsh_srq_view(&b->srq.rq, b->srq.page, RING, 2);
	ndsh_srq_view(&b->daemon, b->srq.page, RING, 2);
	TAILQ_INSERT_TAIL(&b->a->srqs, &b->srq, link);
	return b;
}

static void
drop(struct bench *b)
{
	pthread_mutex_destroy(&b->a->lock);
	free(b->srq.page);
	nd_adapter_free(b->a);
	free(b);
}

/* A message takes the oldest; its context. */
static uint64_t
take(struct bench *b)
{
	struct ndsh_recv r;

	cr_assert(eq(int, ndsh_rq_fetch(&b->daemon, &r), NDSH_FETCH_OK));
	b->srq.page->taken = b->daemon.next;
	return r.context;
}

/* checks R-SRQ-01[1] */
Test(ndclient_srq, R_SRQ_01_no_depth_no_queues)
{
	struct bench *b = make();
	struct nd_srq *srq;

	b->a->info.max_srq_depth = 0;
	cr_expect(eq(int, nd_srq_create(&b->pd, 1, 1, 0, &srq), ND_NOT_SUPPORTED));
	cr_expect(eq(ptr, srq, NULL));
	drop(b);
}

Test(ndclient_srq, create_names_the_wrong_parameter)
{
	struct bench *b = make();
	struct nd_srq *srq;

	cr_expect(eq(int, nd_srq_create(&b->pd, 0, 1, 0, &srq), ND_INVALID_PARAMETER_3));
	cr_expect(eq(int, nd_srq_create(&b->pd, RING + 1, 1, 0, &srq), ND_INVALID_PARAMETER_3));
	cr_expect(eq(int, nd_srq_create(&b->pd, 1, 3, 0, &srq), ND_INVALID_PARAMETER_4));
	cr_expect(eq(int, nd_srq_create(&b->pd, 4, 1, 5, &srq), ND_INVALID_PARAMETER_5));
	drop(b);
}

/*
 * checks R-SRQ-06[1-3]: around the ring several times; room is there as soon as a message took
 * one.
 */
Test(ndclient_srq, R_SRQ_06_full_and_too_many_sges)
{
	struct nd_sge sge[3] = {{"x", 1, 5}, {"y", 2, 5}, {"z", 3, 5}};
	struct nd_sge large = {"x", 1001, 5};
	struct bench *b = make();
	uintptr_t posted = 0;

	cr_expect(eq(int, nd_srq_receive(&b->srq, NULL, sge, 3), ND_DATA_OVERRUN));
	cr_expect(eq(int, nd_srq_receive(&b->srq, NULL, &large, 1), ND_BUFFER_OVERFLOW));
	for (uintptr_t taken = 0; taken < 3 * RING; taken++) {
		while (posted - taken < DEPTH)
			cr_assert(eq(int, nd_srq_receive(&b->srq, (void *)posted++, sge, 2),
				ND_SUCCESS));
		cr_assert(eq(int, nd_srq_receive(&b->srq, NULL, sge, 1), ND_NO_MORE_ENTRIES));
		cr_assert(eq(u64, take(b), taken));
	}
	b->a->gone = 1;
	cr_expect(eq(int, nd_srq_receive(&b->srq, NULL, sge, 1), ND_DEVICE_REMOVED));
	drop(b);
}

Test(ndclient_srq, R_SRQ_07_no_receive_on_its_queue_pair)
{
	struct bench *b = make();
	struct nd_qp qp = {.adapter = b->a, .srq = &b->srq};

	cr_expect(eq(int, nd_qp_receive(&qp, NULL, NULL, 0), ND_INVALID_DEVICE_REQUEST));
	drop(b);
}

/* checks R-SRQ-05[1-3] */
Test(ndclient_srq, R_SRQ_05_modify_refused_changes_nothing)
{
	struct bench *b = make();

	b->srq.threshold = 2;
	for (int i = 0; i < 3; i++)
		cr_assert(eq(int, nd_srq_receive(&b->srq, NULL, NULL, 0), ND_SUCCESS));
	cr_expect(eq(int, nd_srq_modify(&b->srq, 2, 1), ND_BUFFER_OVERFLOW));
	cr_expect(eq(int, nd_srq_modify(&b->srq, RING + 1, 1), ND_INVALID_PARAMETER));
	cr_expect(eq(int, nd_srq_modify(&b->srq, 0, DEPTH + 1), ND_INVALID_PARAMETER));
	cr_expect(eq(u32, b->srq.depth, DEPTH));
	cr_expect(eq(u32, b->srq.threshold, 2));
	cr_expect(eq(int, nd_srq_modify(&b->srq, 3, 0), ND_SUCCESS));
	cr_expect(eq(u32, b->srq.threshold, 2));
	cr_expect(eq(int, nd_srq_receive(&b->srq, NULL, NULL, 0), ND_NO_MORE_ENTRIES));
	cr_expect(eq(int, nd_srq_modify(&b->srq, RING, 0), ND_SUCCESS));
	cr_expect(eq(int, nd_srq_receive(&b->srq, NULL, NULL, 0), ND_SUCCESS));
	cr_expect(eq(int, nd_srq_modify(&b->srq, 0, 9), ND_SUCCESS));
	cr_expect(eq(u32, b->srq.depth, RING));
	drop(b);
}

/* checks R-SRQ-03[2]: threshold 0: the daemon is not armed, nothing comes. */
Test(ndclient_srq, R_SRQ_03_all_notifications_together)
{
	const struct ndsh_ev_srq other = {.srq = 8}, own = {.srq = 7};
	struct nd_overlapped ov[3] = {0};
	struct bench *b = make();

	cr_expect(eq(int, nd_srq_notify(&b->srq, NULL), ND_INVALID_PARAMETER_2));
	cr_expect(eq(int, nd_srq_notify(&b->srq, &ov[0]), ND_PENDING));
	cr_expect(eq(int, nd_srq_notify(&b->srq, &ov[1]), ND_PENDING));
	nd_srq_limit(b->a, &other);
	cr_expect(eq(int, nd_overlapped_status(&ov[0]), ND_PENDING));
	nd_srq_limit(b->a, &own);
	cr_expect(eq(int, nd_overlapped_status(&ov[0]), ND_SUCCESS));
	cr_expect(eq(int, nd_overlapped_status(&ov[1]), ND_SUCCESS));
	cr_expect(eq(int, nd_srq_notify(&b->srq, &ov[2]), ND_PENDING));
	cr_expect(eq(int, nd_srq_cancel(&b->srq), ND_SUCCESS));
	cr_expect(eq(int, nd_overlapped_status(&ov[2]), ND_CANCELED));
	b->a->gone = 1;
	cr_expect(eq(int, nd_srq_notify(&b->srq, &ov[2]), ND_DEVICE_REMOVED));
	drop(b);
}
