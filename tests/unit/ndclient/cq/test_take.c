/* SPDX-License-Identifier: BSD-3-Clause */
/* Taking results (cq_bench.h). */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "ndclient/cq/take.h"
#include "ndclient/qp/handles.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "rigs/cq_bench.h"
#include "shm/ndsh_mover.h"

/* checks R-CR-01[1-3] */
Test(ndclient_results, R_CR_01_R_CR_02_as_many_as_asked_for_in_order)
{
	const int32_t asked[] = {3, 0, 3, 3}, given[] = {3, 0, 2, 0};
	struct cq_bench *b = cq_bench_make();
	struct nd_result r[3];
	uintptr_t next = 0;

	for (uint64_t i = 0; i < 5; i++)
		cr_assert(ndsh_cq_push(&b->daemon, &(struct ndsh_cqe){.context = i}));
	for (int k = 0; k < 4; k++) {
		cr_assert(eq(i32, nd_cq_get_results(&b->cq, r, (uint32_t)asked[k]), given[k]));
		for (int32_t i = 0; i < given[k]; i++)
			cr_expect(eq(ptr, r[i].request_context, (void *)next++));
	}
	cq_bench_drop(b);
}

/* checks R-CR-01[2,3]: more than one look at the ring (16 entries) takes. */
Test(ndclient_results, R_CR_01_R_CR_02_forty_entries_by_thirty)
{
	const int32_t given[] = {30, 10, 0};
	struct cq_bench *b = cq_bench_make();
	struct nd_result r[30];
	uintptr_t next = 0;

	for (uint64_t i = 0; i < 40; i++)
		cr_assert(ndsh_cq_push(&b->daemon, &(struct ndsh_cqe){.context = i}));
	for (int k = 0; k < 3; k++) {
		cr_assert(eq(i32, nd_cq_get_results(&b->cq, r, 30), given[k]));
		for (int32_t i = 0; i < given[k]; i++)
			cr_expect(eq(ptr, r[i].request_context, (void *)next++));
	}
	cq_bench_drop(b);
}

/* checks R-CR-01[2,3]: of results in brief, too. */
Test(ndclient_results, R_CR_01_R_CR_02_forty_entries_in_brief)
{
	const int32_t given[] = {30, 10, 0};
	struct cq_bench *b = cq_bench_make();
	struct nd_result_brief r[30];
	uintptr_t next = 0;

	for (uint64_t i = 0; i < 40; i++)
		cr_assert(ndsh_cq_push(
			&b->daemon, &(struct ndsh_cqe){.context = i, .bytes = 100 + (uint32_t)i}));
	for (int k = 0; k < 3; k++) {
		cr_assert(eq(i32, nd_cq_get_results_brief(&b->cq, r, 30), given[k]));
		for (int32_t i = 0; i < given[k]; i++, next++) {
			cr_expect(eq(ptr, r[i].request_context, (void *)next));
			cr_expect(eq(u32, r[i].bytes_transferred, 100 + (uint32_t)next));
			cr_expect(eq(i32, r[i].status, ND_SUCCESS));
		}
	}
	cq_bench_drop(b);
}

/* checks R-CR-01[2,3]: each is where its request's context points, and in its place. */
Test(ndclient_results, R_CR_01_R_CR_02_forty_entries_placed)
{
	const int32_t given[] = {30, 10, 0};
	struct cq_bench *b = cq_bench_make();
	struct nd_placed_result place[40], *r[30];
	uint32_t next = 0;

	memset(place, 0xff, sizeof(place));
	for (uint32_t i = 0; i < 40; i++)
		cr_assert(ndsh_cq_push(&b->daemon,
			&(struct ndsh_cqe){.context = (uintptr_t)&place[i], .bytes = 100 + i}));
	for (int k = 0; k < 3; k++) {
		cr_assert(eq(i32, nd_cq_get_placed_results(&b->cq, r, 30), given[k]));
		for (int32_t i = 0; i < given[k]; i++, next++) {
			cr_expect(eq(ptr, r[i], &place[next]));
			cr_expect(eq(sz, r[i]->bytes_transferred, 100 + next));
			cr_expect(eq(i32, r[i]->status, ND_SUCCESS));
		}
	}
	cq_bench_drop(b);
}

/* The statuses of ND's first version, by either way to a place. */
Test(ndclient_results, placed_statuses_are_those_of_the_first_version)
{
	static const struct {
		uint8_t op, status;
		nd_status told;
	} rows[] = {
		{NDSH_OP_WRITE, NDSH_WC_RETRY_EXC_ERR, ND_TIMEOUT},
		{NDSH_OP_SEND, NDSH_WC_RNR_RETRY_EXC_ERR, ND_TIMEOUT},
		{NDSH_OP_SEND, NDSH_WC_REM_INV_REQ_ERR, ND_REMOTE_ERROR},
		{NDSH_OP_RECV, NDSH_WC_LOC_LEN_ERR, ND_BUFFER_OVERFLOW},
		{NDSH_OP_READ, NDSH_WC_LOC_LEN_ERR, ND_DATA_OVERRUN},
		{NDSH_OP_RECV, NDSH_WC_FLUSH_ERR, ND_CANCELED},
		{NDSH_OP_WRITE, NDSH_WC_REM_ACCESS_ERR, ND_ACCESS_VIOLATION},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cq_bench *b = cq_bench_make();
		struct nd_placed_result place[2], *r;
		struct nd_result_ex ex;
		struct ndsh_cqe e = {.op = rows[i].op, .status = rows[i].status};

		memset(place, 0xff, sizeof(place));
		for (unsigned k = 0; k < 2; k++) {
			e.context = (uintptr_t)&place[k];
			cr_assert(ndsh_cq_push(&b->daemon, &e));
		}
		cr_assert(eq(i32, nd_cq_get_placed_results(&b->cq, &r, 1), 1));
		cr_expect(eq(ptr, r, &place[0]));
		cr_assert(eq(i32, nd_cq_get_results_ex(&b->cq, &ex, 1), 1));
		nd_result_place(&ex);
		for (unsigned k = 0; k < 2; k++) {
			cr_expect(eq(i32, place[k].status, rows[i].told), "row %zu, %u", i, k);
			cr_expect(eq(sz, place[k].bytes_transferred, 0));
		}
		cq_bench_drop(b);
	}
}

/* What a queue pair of that state knows after such a result was taken. */
static uint32_t
stopped_by(enum nd_qp_state state, uint8_t op, uint8_t status)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_qp *qp = aligned_alloc(64, sizeof(*qp));
	struct nd_result r;
	uint32_t stopped;

	memset(qp, 0, sizeof(*qp));
	qp->adapter = b->a;
	qp->page = aligned_alloc(64, sizeof(*qp->page));
	memset(qp->page, 0, sizeof(*qp->page));
	qp->state = state;
	TAILQ_INIT(&qp->bound);
	TAILQ_INIT(&qp->invalidating);
	b->a->qps->by_handle[17] = qp;
	cr_assert(
		ndsh_cq_push(&b->daemon, &(struct ndsh_cqe){.qp = 17, .op = op, .status = status}));
	cr_assert(eq(i32, nd_cq_get_results(&b->cq, &r, 1), 1));
	stopped = qp->sends_stopped;
	free(qp->page);
	free(qp);
	cq_bench_drop(b);
	return stopped;
}

/* W-ERR-02: a datagram that failed stops the sending; one that was flushed, a receive, and requests
 * of connections do not. */
Test(ndclient_results, a_failed_datagram_stops_the_sending)
{
	cr_expect(eq(u32, stopped_by(ND_QP_DATAGRAM, NDSH_OP_SEND, NDSH_WC_LOC_PROT_ERR), 1));
	cr_expect(eq(u32, stopped_by(ND_QP_DATAGRAM, NDSH_OP_SEND_IMM, NDSH_WC_LOC_QP_OP_ERR), 1));
	cr_expect(zero(u32, stopped_by(ND_QP_DATAGRAM, NDSH_OP_SEND, NDSH_WC_SUCCESS)));
	cr_expect(zero(u32, stopped_by(ND_QP_DATAGRAM, NDSH_OP_SEND, NDSH_WC_FLUSH_ERR)));
	cr_expect(zero(u32, stopped_by(ND_QP_DATAGRAM, NDSH_OP_RECV, NDSH_WC_LOC_PROT_ERR)));
	cr_expect(zero(u32, stopped_by(ND_QP_CONNECTED, NDSH_OP_SEND, NDSH_WC_LOC_PROT_ERR)));
}

/* checks R-CR-03[1,2]: t1..T12 are the worked traces of the semantics. */
Test(ndclient_results, R_CR_03_contexts_and_slots_of_the_queue_pair)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_qp *qp = aligned_alloc(64, sizeof(*qp));
	struct nd_result r[3];

	memset(qp, 0, sizeof(*qp));
	qp->adapter = b->a;
	qp->context = b;
	b->a->qps->by_handle[17] = qp;
	cr_assert(ndsh_cq_push(&b->daemon,
		&(struct ndsh_cqe){.context = 1, .qp = 17, .op = NDSH_OP_RECV, .slot_count = 5}));
	cr_assert(ndsh_cq_push(&b->daemon,
		&(struct ndsh_cqe){.context = 2, .qp = 17, .op = NDSH_OP_SEND, .slot_count = 9}));
	cr_assert(ndsh_cq_push(&b->daemon,
		&(struct ndsh_cqe){.context = 3, .qp = UINT32_MAX, .op = NDSH_OP_SEND}));
	cr_assert(eq(i32, nd_cq_get_results(&b->cq, r, 3), 3));
	cr_expect(eq(ptr, r[0].qp_context, b));
	cr_expect(eq(ptr, r[1].request_context, (void *)2));
	cr_expect(eq(ptr, r[2].qp_context, NULL), "no such handle");
	cr_expect(eq(u32, qp->rq_freed, 5));
	cr_expect(eq(u32, qp->sq_freed, 9));
	for (int i = 0; i < 2; i++) /* a context of NULL is one, in failed entries too */
		cr_assert(ndsh_cq_push(&b->daemon,
			&(struct ndsh_cqe){.qp = 17,
				.op = NDSH_OP_SEND,
				.slot_count = 10,
				.status = i == 0 ? NDSH_WC_SUCCESS : NDSH_WC_FLUSH_ERR}));
	ndsh_cq_publish(&b->daemon);
	cr_assert(eq(i32, nd_cq_get_results(&b->cq, r, 3), 2));
	for (int i = 0; i < 2; i++) {
		cr_expect(eq(ptr, r[i].request_context, NULL));
		cr_expect(eq(ptr, r[i].qp_context, b));
		cr_expect(eq(i32, r[i].status, i == 0 ? ND_SUCCESS : ND_CANCELED));
	}
	free(qp);
	cq_bench_drop(b);
}

Test(ndclient_results, R_CR_04_a_closed_queue_pair_keeps_its_context_until_all_is_taken)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_qp *qp = aligned_alloc(64, sizeof(*qp));
	struct nd_result r;

	memset(qp, 0, sizeof(*qp));
	TAILQ_INIT(&b->a->closed_qps);
	qp->context = b;
	qp->handle = 3;
	qp->send_cq = qp->recv_cq = &b->cq;
	b->a->qps->by_handle[3] = qp;
	for (int i = 0; i < 2; i++)
		cr_assert(
			ndsh_cq_push(&b->daemon, &(struct ndsh_cqe){.qp = 3, .op = NDSH_OP_SEND}));
	qp->send_mark = qp->recv_mark = 2;
	TAILQ_INSERT_TAIL(&b->a->closed_qps, qp, closed_link);
	for (int i = 0; i < 2; i++) {
		nd_qp_reap(b->a);
		cr_assert(eq(i32, nd_cq_get_results(&b->cq, &r, 1), 1));
		cr_expect(eq(ptr, r.qp_context, b));
	}
	nd_qp_reap(b->a);
	cr_expect(eq(ptr, b->a->qps->by_handle[3], NULL));
	cr_expect(eq(ptr, TAILQ_FIRST(&b->a->closed_qps), NULL));
	cq_bench_drop(b);
}

static nd_status
corrected(struct cq_bench *b, uint8_t op, uint32_t slot_count, uint8_t status)
{
	struct nd_result r;

	cr_assert(ndsh_cq_push(&b->daemon, &(struct ndsh_cqe){.qp = 3,
						   .op = op,
						   .bytes = status == 0 ? 9 : 0,
						   .slot_count = slot_count,
						   .status = status}));
	ndsh_cq_publish(&b->daemon);
	cr_assert(eq(i32, nd_cq_get_results(&b->cq, &r, 1), 1));
	cr_expect(r.status == ND_SUCCESS || r.bytes_transferred == 0);
	return r.status;
}

/* checks R-MR-14[2]: completions that the daemon made before it knew that a copy command failed.
 * Before that one, and of the other queue, they are true; numbers wrap. */
Test(ndclient_results, completions_that_were_too_early)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_qp *qp = aligned_alloc(64, sizeof(*qp));
	const struct {
		uint8_t op, other;
		uint32_t by;
		nd_status first;
	} of[] = {{NDSH_OP_RECV, NDSH_OP_SEND, NDSH_SPOILS_RECEIVE, ND_ACCESS_VIOLATION},
		{NDSH_OP_RECV, NDSH_OP_SEND, NDSH_SPOILS_WRITE, ND_CANCELED},
		{NDSH_OP_READ, NDSH_OP_RECV, NDSH_SPOILS_REQUEST, ND_ACCESS_VIOLATION}};

	memset(qp, 0, sizeof(*qp));
	qp->adapter = b->a;
	TAILQ_INIT(&qp->bound);
	TAILQ_INIT(&qp->invalidating);
	b->a->qps->by_handle[3] = qp;
	for (unsigned i = 0; i < 3; i++) {
		memset(qp->spoiled, 0, sizeof(qp->spoiled));
		qp->spoiled[of[i].op == NDSH_OP_RECV] =
			(struct nd_spoiled){.from = UINT32_MAX, .by = of[i].by};
		cr_expect(eq(i32, corrected(b, of[i].op, UINT32_MAX - 1, 0), ND_SUCCESS));
		cr_expect(eq(i32, corrected(b, of[i].other, 1, 0), ND_SUCCESS));
		cr_expect(eq(i32, corrected(b, of[i].op, UINT32_MAX, 0), of[i].first));
		cr_expect(eq(i32, corrected(b, of[i].op, 0, 0), ND_CANCELED));
		cr_expect(eq(i32, corrected(b, of[i].op, 1, NDSH_WC_LOC_LEN_ERR), ND_DATA_OVERRUN),
			"a failure stays what it is");
	}
	free(qp);
	cq_bench_drop(b);
}

/* checks R-CR-01[4], R-LIFE-12[3] */
Test(ndclient_results, a_dead_daemon_leaves_what_was_there)
{
	struct cq_bench *b = cq_bench_make();

	cq_bench_turn(b, "uu");
	b->a->gone = 1;
	cr_expect(eq(i32, cq_bench_poll_all(b), 2));
	cr_expect(eq(i32, cq_bench_poll_all(b), ND_DEVICE_REMOVED));
	cq_bench_drop(b);
}

struct taker {
	struct cq_bench *b;
	uint32_t taken;
	uint64_t sum;
};

static void *
take(void *arg)
{
	struct taker *t = arg;
	struct nd_result r[7];
	int32_t n;

	while ((n = nd_cq_get_results(&t->b->cq, r, 7)) >= 0) {
		for (int32_t i = 0; i < n; i++)
			t->sum += (uintptr_t)r[i].request_context;
		t->taken += (uint32_t)n;
		if (n == 0)
			sched_yield();
	}
	return NULL;
}

/* checks R-CQ-30[2,3] */
Test(ndclient_results, R_CQ_30_several_threads_take_each_entry_once)
{
	struct cq_bench *b = cq_bench_make();
	struct taker t[3] = {{.b = b}, {.b = b}, {.b = b}};
	pthread_t thread[3];
	uint32_t taken = 0;
	uint64_t sum = 0, made = 20000;

	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, take, &t[i]);
	for (uint64_t i = 1; i <= made; i++) {
		while (i - __atomic_load_n(&b->daemon.page->consumer, __ATOMIC_ACQUIRE) >= DEPTH)
			sched_yield();
		cr_assert(ndsh_cq_push(
			&b->daemon, &(struct ndsh_cqe){.context = i, .qp = UINT32_MAX}));
	}
	b->daemon.fault = NDSH_CQ_FATAL;
	ndsh_cq_publish(&b->daemon);
	for (int i = 0; i < 3; i++) {
		pthread_join(thread[i], NULL);
		taken += t[i].taken;
		sum += t[i].sum;
	}
	cr_expect(eq(u32, taken, made));
	cr_expect(eq(u64, sum, made * (made + 1) / 2));
	cq_bench_drop(b);
}

/* What faces of other words take: the entry as it is, and nothing of a forsaken queue pair. */
Test(ndclient_results, entries_as_the_daemon_made_them)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_qp *qp = aligned_alloc(64, sizeof(*qp));
	const struct ndsh_cqe sent = {.context = 7,
		.qp = 5,
		.bytes = 9,
		.op = NDSH_OP_FETCH_ADD,
		.status = NDSH_WC_REM_OP_ERR,
		.syndrome = 3,
		.slot_count = 2};
	struct nd_entry e[2];

	memset(qp, 0, sizeof(*qp));
	qp->adapter = b->a;
	qp->context = b;
	qp->number = 0x1234;
	b->a->qps->by_handle[5] = qp;
	for (int i = 0; i < 2; i++)
		cr_assert(ndsh_cq_push(&b->daemon, &sent));
	cr_assert(eq(i32, nd_cq_take_entries(&b->cq, e, 1), 1));
	cr_expect(eq(ptr, e[0].qp_context, b));
	cr_expect(eq(u32, e[0].qp_number, 0x1234));
	cr_expect(eq(u64, e[0].e.context, 7));
	cr_expect(eq(u8, e[0].e.op, NDSH_OP_FETCH_ADD));
	cr_expect(eq(u8, e[0].e.status, NDSH_WC_REM_OP_ERR));
	cr_expect(eq(u32, e[0].e.syndrome, 3));
	nd_qp_forsake(qp);
	cr_assert(eq(i32, nd_cq_take_entries(&b->cq, e, 2), 1));
	cr_expect(eq(ptr, e[0].qp_context, NULL));
	cr_expect(eq(u32, qp->sq_freed, 2), "its slots are freed all the same");
	free(qp);
	cq_bench_drop(b);
}
