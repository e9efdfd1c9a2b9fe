/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared receive queues between real daemons. */
#include <string.h>

#include "scenarios.h"

#define DEPTH 8u
#define PIECE 4096u /* receive i has its own piece of b's buffer, and i as its context */

static struct nd_srq *
srq_new(struct side *s, uint32_t threshold)
{
	struct nd_srq *srq;

	WANT(ND_SUCCESS, nd_srq_create(s->pd, DEPTH, 1, threshold, &srq));
	return srq;
}

static void
create_qp(struct side *s, struct nd_srq *srq)
{
	struct nd_qp_options options = {
		.receive_cq = s->cq,
		.initiator_cq = s->cq,
		.context = s,
		.initiator_depth = 16,
		.max_initiator_sge = 1,
		.srq = srq,
	};

	WANT(ND_SUCCESS, nd_qp_create(s->pd, &options, &s->qp));
}

/* Two connections; b's ends of both draw from srq. */
static void
connect_both(struct pair *p, struct pair *other, struct nd_srq *srq)
{
	side_create_qp(&p->a, 16);
	create_qp(&p->b, srq);
	pair_connect(p);
	*other = *p;
	WANT(ND_SUCCESS, nd_cq_create(p->a.adapter, 64, &other->a.cq));
	WANT(ND_SUCCESS, nd_cq_create(p->b.adapter, 64, &other->b.cq));
	side_create_qp(&other->a, 16);
	create_qp(&other->b, srq);
	pair_connect(other);
}

static nd_status
post(struct side *s, struct nd_srq *srq, uintptr_t i, uint32_t n)
{
	struct nd_sge sge = {s->buf + i * PIECE, PIECE, nd_mr_local_token(s->mr)};
	struct nd_sge list[3] = {sge, sge, sge};

	return nd_srq_receive(srq, (void *)i, list, n);
}

/* a sends; the receive that takes it is number i, and it completes at b. */
static void
message(struct pair *p, uintptr_t i)
{
	struct nd_result result;

	memset(p->a.buf, (int)i + 1, PIECE);
	WANT(ND_SUCCESS, side_send(&p->a, PIECE));
	WANT(ND_SUCCESS, side_result(&p->a, &result));
	WANT(ND_SUCCESS, side_result(&p->b, &result));
	CHECK(result.request_type == ND_REQUEST_RECEIVE && result.bytes_transferred == PIECE);
	CHECK(result.request_context == (void *)i && result.qp_context == &p->b);
	CHECK(memcmp(p->b.buf + i * PIECE, p->a.buf, PIECE) == 0);
}

/*
 * checks R-ORD-02, R-SRQ-02[1-3], R-SRQ-06[1-3], R-SRQ-07: posted before there is a queue pair,
 * taken in order by whichever a message comes to. What is taken makes room.
 */
void
scenario_srq(struct pair *p)
{
	struct pair other;
	struct nd_srq *srq;

	side_open(&p->a, 64);
	side_open(&p->b, 64);
	srq = srq_new(&p->b, 0);
	for (uintptr_t i = 0; i < DEPTH; i++)
		WANT(ND_SUCCESS, post(&p->b, srq, i, 1));
	WANT(ND_NO_MORE_ENTRIES, post(&p->b, srq, 0, 1));
	WANT(ND_DATA_OVERRUN, post(&p->b, srq, 0, 3));
	connect_both(p, &other, srq);
	WANT(ND_INVALID_DEVICE_REQUEST, side_receive(&p->b, PIECE));
	for (uintptr_t i = 0; i < 5 * DEPTH; i++) {
		struct pair *to = i % 3 == 0 ? &other : p;
		struct nd_result result;

		memset(to->a.buf, (int)i + 1, PIECE);
		WANT(ND_SUCCESS, side_send(&to->a, PIECE));
		WANT(ND_SUCCESS, side_result(&to->a, &result));
		WANT(ND_SUCCESS, side_result(&to->b, &result));
		CHECK(result.request_context == (void *)(i % DEPTH));
		CHECK(memcmp(p->b.buf + i % DEPTH * PIECE, to->a.buf, PIECE) == 0);
		WANT(ND_SUCCESS, post(&p->b, srq, i % DEPTH, 1));
	}
	WANT(ND_PENDING, nd_srq_close(srq)); /* it lives as long as those two, with what it has */
	WANT(ND_SUCCESS, nd_qp_close(other.b.qp));
	message(p, 5 * DEPTH % DEPTH);
	WANT(ND_SUCCESS, nd_qp_close(p->b.qp));
	pair_close(p);
}

/*
 * checks R-FL-08[2], R-SR-06, W-COMP-04[5]: a sender waits for a receive longer than retries would
 * last; the end of one queue pair leaves what is shared to the other.
 */
void
scenario_srq_empty(struct pair *p)
{
	struct nd_result result;
	struct pair other;
	struct nd_srq *srq;

	side_open(&p->a, 64);
	side_open(&p->b, 64);
	srq = srq_new(&p->b, 0);
	connect_both(p, &other, srq);
	WANT(ND_SUCCESS, side_send(&p->a, PIECE));
	CHECK(side_quiet(&p->a, 4000) && side_quiet(&p->b, 1));
	WANT(ND_SUCCESS, post(&p->b, srq, 0, 1));
	WANT(ND_SUCCESS, side_result(&p->b, &result));
	WANT(ND_SUCCESS, side_result(&p->a, &result));

	WANT(ND_SUCCESS, post(&p->b, srq, 1, 1));
	WANT(ND_SUCCESS, nd_qp_flush(p->b.qp));
	CHECK(side_quiet(&p->b, 20));
	message(&other, 1);
	WANT(ND_SUCCESS, nd_qp_close(p->b.qp));
	WANT(ND_SUCCESS, nd_qp_close(other.b.qp));
	WANT(ND_SUCCESS, nd_srq_close(srq));
	pair_close(p);
}

/*
 * checks R-SRQ-03[1-4], R-SRQ-05[1,2], W-EVT-01[1,2,4]: notified below the threshold, all requests
 * together; at once if it is so; never with threshold 0.
 */
void
scenario_srq_notify(struct pair *p)
{
	struct nd_overlapped first = {0}, second = {0}, third = {0};
	struct pair other;
	struct nd_srq *srq;

	side_open(&p->a, 64);
	side_open(&p->b, 64);
	srq = srq_new(&p->b, 0);
	connect_both(p, &other, srq);
	WANT(ND_PENDING, nd_srq_notify(srq, &first));
	WANT(ND_TIMEOUT, nd_overlapped_wait(&first, 50));
	for (uintptr_t i = 0; i < 4; i++)
		WANT(ND_SUCCESS, post(&p->b, srq, i, 1));
	WANT(ND_SUCCESS, nd_srq_modify(srq, 0, 3)); /* also for a waiter that is there already */
	WANT(ND_PENDING, nd_srq_notify(srq, &second));
	message(p, 0);
	WANT(ND_TIMEOUT, nd_overlapped_wait(&second, 50));
	message(&other, 1);
	WANT(ND_SUCCESS, nd_overlapped_wait(&first, PATIENCE_MS));
	WANT(ND_SUCCESS, nd_overlapped_wait(&second, PATIENCE_MS));
	WANT(ND_PENDING, nd_srq_notify(srq, &third));
	WANT(ND_SUCCESS, nd_overlapped_wait(&third, PATIENCE_MS));

	WANT(ND_BUFFER_OVERFLOW, nd_srq_modify(srq, 1, 1));
	WANT(ND_INVALID_PARAMETER, nd_srq_modify(srq, 1u << 20, 0));
	WANT(ND_INVALID_PARAMETER, nd_srq_modify(srq, 2, 0)); /* the threshold is 3 */
	WANT(ND_SUCCESS, post(&p->b, srq, 4, 1));
	WANT(ND_SUCCESS, nd_srq_modify(srq, 3, 0));
	WANT(ND_NO_MORE_ENTRIES, post(&p->b, srq, 5, 1));
	WANT(ND_SUCCESS, nd_srq_modify(srq, 4, 0));
	WANT(ND_SUCCESS, post(&p->b, srq, 5, 1));

	WANT(ND_PENDING, nd_srq_notify(srq, &first));
	WANT(ND_SUCCESS, nd_srq_cancel(srq));
	WANT(ND_CANCELED, nd_overlapped_status(&first));
	WANT(ND_PENDING, nd_srq_notify(srq, &first));
	WANT(ND_SUCCESS, nd_qp_close(p->b.qp));
	WANT(ND_SUCCESS, nd_qp_close(other.b.qp));
	WANT(ND_SUCCESS, nd_srq_close(srq));
	WANT(ND_CANCELED, nd_overlapped_status(&first));
	pair_close(p);
}

/* ---- by callback --------------------------------------------------------------------- */

static struct limit {
	struct nd_srq *srq;
	uint32_t runs, rearm; /* rearm: what the callback sets, or 0 */
	int close;
	nd_status status, closed;
} limit;

static void
on_limit(void *context, nd_status status)
{
	struct limit *l = context;

	l->status = status;
	if (l->rearm != 0)
		WANT(ND_SUCCESS, nd_srq_modify(l->srq, 0, l->rearm));
	l->rearm = 0;
	if (l->close)
		l->closed = nd_srq_close(l->srq);
	__atomic_fetch_add(&l->runs, 1, __ATOMIC_RELEASE);
}

/* The callback ran so many times by now, and not once more. */
static void
want_runs(uint32_t runs)
{
	for (unsigned int ms = 0; __atomic_load_n(&limit.runs, __ATOMIC_ACQUIRE) < runs; ms++) {
		CHECK(ms < PATIENCE_MS);
		sleep_ms(1);
	}
	sleep_ms(50);
	CHECK(limit.runs == runs);
}

/*
 * checks R-SRQ-04[1-6]: a threshold arms once, and fires at once if fewer wait; 0 leaves
 * threshold and arm; depth 0 leaves the depth.
 */
void
scenario_srq_callback(struct pair *p)
{
	struct pair other;
	struct nd_srq *srq;

	side_open(&p->a, 64);
	side_open(&p->b, 64);
	limit.srq = srq = srq_new(&p->b, 3);
	connect_both(p, &other, srq);
	WANT(ND_INVALID_PARAMETER_2, nd_srq_set_callback(srq, NULL, NULL));
	WANT(ND_SUCCESS, nd_srq_set_callback(srq, on_limit, &limit));
	WANT(ND_INVALID_DEVICE_STATE, nd_srq_set_callback(srq, on_limit, &limit));
	for (uintptr_t i = 0; i < 5; i++)
		WANT(ND_SUCCESS, post(&p->b, srq, i, 1));
	message(p, 0);
	message(p, 1);
	message(&other, 2); /* two wait, but it is not armed by making it */
	want_runs(0);
	WANT(ND_SUCCESS, nd_srq_modify(srq, 0, 3)); /* below already */
	want_runs(1);
	CHECK(limit.status == ND_SUCCESS);
	message(p, 3);
	want_runs(1);

	for (uintptr_t i = 5; i < 5 + DEPTH - 1; i++) /* all: the depth is as it was */
		WANT(ND_SUCCESS, post(&p->b, srq, i % DEPTH, 1));
	WANT(ND_NO_MORE_ENTRIES, post(&p->b, srq, 0, 1));
	WANT(ND_SUCCESS, nd_srq_modify(srq, 0, DEPTH - 1));
	WANT(ND_SUCCESS, nd_srq_modify(srq, 0, 0));
	WANT(ND_SUCCESS, nd_srq_modify(srq, DEPTH, 0));
	message(p, 4);
	want_runs(1);
	limit.rearm = DEPTH - 3; /* in the callback */
	message(&other, 5);
	want_runs(2);
	message(p, 6);
	want_runs(2);
	limit.close = 1;
	message(&other, 7);
	want_runs(3);
	WANT(ND_PENDING, limit.closed);
	WANT(ND_SUCCESS, nd_qp_close(p->b.qp));
	WANT(ND_SUCCESS, nd_qp_close(other.b.qp));
	pair_close(p);
}
