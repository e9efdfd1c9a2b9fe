/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared receive queues that get a greater depth than their rings have slots, over a daemon in this
 * process that answers; what it takes from the rings, the test does. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ndclient/mem/arena.h"
#include "ndclient/qp/qp.h"
#include "ndclient/qp/srq.h"
#include "ndclient/session/adapter.h"
#include "rigs/daemon_rig.h"

static struct daemon_rig rig;
static struct nd_adapter *adapter;
static struct nd_pd *pd;
static struct ndsh_rq taker;
static uintptr_t posted, taken;

static void
setup(void)
{
	daemon_rig_start(&rig);
	adapter = daemon_rig_open(&rig);
	cr_assert(eq(i32, nd_pd_create(adapter, &pd), ND_SUCCESS));
}

static void
teardown(void)
{
	(void)nd_adapter_close(adapter);
	daemon_rig_stop(&rig);
}

TestSuite(ndclient_srq_grow, .init = setup, .fini = teardown, .timeout = 60);

static uint64_t
arena_free(void)
{
	uint64_t sum = 0;

	for (const struct nd_segment *s = adapter->arena.first; s != NULL; s = s->next)
		sum += s->extents.free_bytes;
	return sum;
}

static struct nd_srq *
make(uint32_t depth)
{
	struct nd_srq *srq;

	cr_assert(eq(i32, nd_srq_create(pd, depth, 2, 0, &srq), ND_SUCCESS));
	ndsh_srq_view(&taker, srq->page, srq->rq.depth, srq->sge);
	return srq;
}

/* The daemon goes over to the ring that the client has made. */
static void
follow(struct nd_srq *srq)
{
	ndsh_rq_exchange(&taker, srq->page, srq->rq.depth);
	srq->page->taken = taker.next;
}

/* Receives up to the depth, and one that finds no room. */
static void
fill(struct nd_srq *srq, uint32_t depth)
{
	const struct nd_sge sge[2] = {{"x", 1, 5}, {"y", 2, 5}};

	while (posted - taken < depth) {
		posted++;
		cr_assert(
			eq(i32, nd_srq_receive(srq, (void *)posted, sge, posted % 3), ND_SUCCESS));
	}
	cr_assert(eq(i32, nd_srq_receive(srq, NULL, sge, 1), ND_NO_MORE_ENTRIES));
}

static void
take(struct nd_srq *srq, uint32_t n)
{
	struct ndsh_recv r;

	for (; n > 0; n--) {
		cr_assert_eq(ndsh_rq_fetch(&taker, &r), NDSH_FETCH_OK);
		cr_assert_eq(r.context, ++taken);
		cr_assert_eq(r.num_sge, taken % 3);
		srq->page->taken = taker.next;
	}
}

/* checks R-SRQ-05[2,4], R-SRQ-06[1]: from every depth, with receives in it, to the greatest one. */
Test(ndclient_srq_grow, R_SRQ_05_R_SRQ_06_up_to_the_limit)
{
	uint64_t bytes = arena_free();
	struct nd_srq *srq = make(3);

	cr_expect(eq(u32, srq->rq.depth, 4), "no more memory than is asked for");
	for (uint32_t depth = 3; depth <= 64; depth++) {
		cr_assert(eq(i32, nd_srq_modify(srq, depth, 0), ND_SUCCESS));
		cr_expect(eq(u32, srq->rq.depth, nd_queue_slots(depth)));
		if (taker.depth != srq->rq.depth)
			follow(srq);
		fill(srq, depth);
		take(srq, depth / 3);
	}
	cr_expect(eq(i32, nd_srq_modify(srq, 65, 0), ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_srq_modify(srq, 64, 65), ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_srq_modify(srq, 50, 0), ND_SUCCESS), "and down again");
	cr_expect(eq(u32, srq->rq.depth, 64));
	fill(srq, 50);
	take(srq, 50);
	cr_expect(eq(i32, nd_srq_close(srq), ND_SUCCESS));
	cr_expect(eq(u64, arena_free(), bytes), "every ring came back");
}

/* checks R-SRQ-05[5]: the daemon refuses it: everything is as it was. */
Test(ndclient_srq_grow, R_SRQ_05_refused_changes_nothing)
{
	struct nd_srq *srq = make(4);
	const struct ndsh_srq_page *page = srq->page;
	uint64_t bytes = arena_free();

	fill(srq, 4);
	rig.refuses = NDSH_MSG_SRQ_RESIZE;
	cr_expect(eq(i32, nd_srq_modify(srq, 5, 3), ND_INSUFFICIENT_RESOURCES));
	cr_expect(eq(u32, srq->depth, 4));
	cr_expect(zero(u32, srq->threshold));
	cr_expect(eq(ptr, (void *)srq->page, (void *)page));
	cr_expect(eq(u64, arena_free(), bytes));
	take(srq, 2);
	fill(srq, 4);
	take(srq, 4);
	cr_expect(eq(i32, nd_srq_close(srq), ND_SUCCESS));
}

/* It knows no exchange of rings: all that there may be are made at once. */
Test(ndclient_srq_grow, an_older_daemon_gets_the_longest_ring)
{
	struct nd_srq *srq;

	adapter->abi_minor = NDSH_MINOR_DEEP_QUEUES - 1;
	srq = make(3);
	cr_expect(eq(u32, srq->rq.depth, 64));
	rig.refuses = NDSH_MSG_SRQ_RESIZE;
	cr_expect(eq(i32, nd_srq_modify(srq, 64, 0), ND_SUCCESS));
	fill(srq, 64);
	take(srq, 64);
	cr_expect(eq(i32, nd_srq_close(srq), ND_SUCCESS));
}
