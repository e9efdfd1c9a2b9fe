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

/* checks R-SRQ-02, R-SRQ-06, R-SRQ-07, R-ORD-02: posted before there is a queue pair, taken in
 * order by whichever a message comes to. What is taken makes room. */
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

/* checks R-SR-06, R-FL-08: a sender waits for a receive longer than retries would last; the end of
 * one queue pair leaves what is shared to the other. */
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

/* checks R-SRQ-03, R-SRQ-05, W-EVT-01: notified below the threshold, all requests together; at once
 * if it is so; never with threshold 0. */
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
	WANT(ND_SUCCESS, nd_srq_modify(srq, 0, 3)); /* also for who waits already */
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
