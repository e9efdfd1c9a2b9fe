/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that are cancelled, by a flush or because their queue pair goes. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios.h"

#define DEEP 4096

static nd_status
receive_as(struct side *s, struct nd_qp *qp, uintptr_t context)
{
	struct nd_sge sge = {s->buf, 100, nd_mr_local_token(s->mr)};

	return nd_qp_receive(qp, (void *)context, &sge, 1);
}

/*
 * checks R-CQ-17[2], R-FL-01[1,2], R-FL-02, R-FL-03, R-FL-05[1,2], R-FL-06[4,5]: two receives of
 * a queue pair that was never connected; one notification tells of both. Another queue pair at
 * the same completion queue has nothing to do with it. The flushed one can't be used any more.
 */
void
scenario_flush(struct pair *p)
{
	static const uint32_t types[] = {ND_CQ_NOTIFY_ANY, ND_CQ_NOTIFY_SOLICITED};
	struct nd_overlapped told, ask = {0};
	struct nd_result result[3];
	struct nd_qp *flushed;

	for (int i = 0; i < 2; i++) {
		side_open(&p->a, 64);
		side_open(&p->b, 64);
		side_create_qp(&p->b, 16);
		side_create_qp(&p->a, 16);
		flushed = p->a.qp;
		side_create_qp(&p->a, 16);
		WANT(ND_SUCCESS, receive_as(&p->a, p->a.qp, 7));
		memset(&told, 0, sizeof(told));
		WANT(ND_PENDING, nd_cq_notify(p->a.cq, types[i], &told));
		WANT(ND_SUCCESS, receive_as(&p->a, flushed, 1));
		WANT(ND_SUCCESS, receive_as(&p->a, flushed, 2));
		WANT(ND_SUCCESS, nd_qp_flush(flushed));
		WANT(ND_SUCCESS, nd_overlapped_wait(&told, PATIENCE_MS));
		CHECK(nd_cq_get_results(p->a.cq, result, 3) == 2);
		for (uintptr_t r = 0; r < 2; r++) {
			WANT(ND_CANCELED, result[r].status);
			CHECK(result[r].request_context == (void *)(r + 1));
			CHECK(result[r].request_type == ND_REQUEST_RECEIVE);
		}
		WANT(ND_SUCCESS, nd_qp_flush(flushed));
		WANT(ND_SUCCESS, receive_as(&p->a, flushed, 3));
		WANT(ND_CANCELED, side_result(&p->a, result));
		CHECK(result[0].request_context == (void *)3);
		WANT(ND_SUCCESS, nd_connector_create(p->a.adapter, &p->a.connector));
		WANT(ND_INVALID_DEVICE_STATE, finish(nd_connector_connect(p->a.connector, flushed,
							     (struct sockaddr *)&p->b.addr,
							     p->b.addr_bytes, 1, 1, NULL, 0, &ask),
						      &ask));
		nd_connector_close(p->a.connector);
		CHECK(side_quiet(&p->a, 20));
		pair_connect(p);
		pair_works(p);
		WANT(ND_SUCCESS, side_send(&p->b, 10));
		WANT(ND_SUCCESS, side_result(&p->a, result));
		CHECK(result[0].request_context == (void *)7);
		pair_close(p);
	}
}

/*
 * checks R-FL-06[1-3], R-FL-07: b's writes that were under way when a flushed end once each,
 * first good ones, then failed ones; nothing moves any more; the connection still has to be
 * disconnected, by both, and can be.
 */
void
scenario_flush_connected(struct pair *p)
{
	struct nd_overlapped told = {0}, a_done = {0}, b_done = {0};
	struct nd_result result;
	int good = 0, bad = 0;

	pair_open(p);
	WANT(ND_PENDING, nd_connector_notify_disconnect(p->b.connector, &told));
	WANT(ND_SUCCESS, side_receive(&p->a, 100));
	WANT(ND_SUCCESS, side_send(&p->a, 100)); /* b has no receive: it stays */
	for (int i = 0; i < 16; i++)
		WANT(ND_SUCCESS,
			side_write(&p->b, &p->a, BUFFER_BYTES, nd_mr_remote_token(p->a.mr)));
	WANT(ND_SUCCESS, nd_qp_flush(p->a.qp));
	WANT(ND_CANCELED, side_result(&p->a, &result));
	CHECK(result.request_type == ND_REQUEST_SEND);
	WANT(ND_CANCELED, side_result(&p->a, &result));
	CHECK(result.request_type == ND_REQUEST_RECEIVE);
	while (good + bad < 16) {
		if (side_result(&p->b, &result) == ND_SUCCESS) {
			CHECK(bad == 0);
			good++;
		} else {
			bad++;
		}
	}
	memset(p->a.buf, 0x33, BUFFER_BYTES);
	WANT(ND_SUCCESS, finish(nd_connector_disconnect(p->a.connector, &a_done), &a_done));
	WANT(ND_SUCCESS, nd_overlapped_wait(&told, PATIENCE_MS));
	WANT(ND_SUCCESS, finish(nd_connector_disconnect(p->b.connector, &b_done), &b_done));
	CHECK(side_quiet(&p->a, 20) && side_quiet(&p->b, 20));
	for (int i = 0; i < BUFFER_BYTES; i++)
		CHECK(p->a.buf[i] == 0x33);
	pair_close(p);
}

/* checks R-DISC-12[1,3]: a queue pair goes with all that its queues hold, and while it is
 * connected; the completion queue lives, and has an entry for each. */
void
scenario_close_deep(struct pair *p)
{
	struct nd_overlapped told = {0};
	struct nd_result result;

	side_open(&p->a, 2 * DEEP);
	side_open(&p->b, 64);
	side_create_qp(&p->a, DEEP);
	side_create_qp(&p->b, 16);
	pair_connect(p);
	WANT(ND_PENDING, nd_connector_notify_disconnect(p->b.connector, &told));
	for (uintptr_t i = 0; i < DEEP; i++) {
		WANT(ND_SUCCESS, receive_as(&p->a, p->a.qp, i));
		WANT(ND_SUCCESS, side_send(&p->a, 1)); /* b has no receive: they stay */
	}
	nd_qp_close(p->a.qp);
	for (int i = 0; i < DEEP; i++) {
		WANT(ND_CANCELED, side_result(&p->a, &result));
		CHECK(result.request_type == ND_REQUEST_SEND && result.qp_context == &p->a);
	}
	for (uintptr_t i = 0; i < DEEP; i++) {
		WANT(ND_CANCELED, side_result(&p->a, &result));
		CHECK(result.request_type == ND_REQUEST_RECEIVE);
		CHECK(result.request_context == (void *)i);
	}
	CHECK(side_quiet(&p->a, 20));
	WANT(ND_SUCCESS, nd_overlapped_wait(&told, PATIENCE_MS)); /* no timeout */
	pair_close(p);
}

static void *
post_receives(void *arg)
{
	struct side *s = arg;

	for (uintptr_t i = 0; i < DEEP; i++)
		WANT(ND_SUCCESS, receive_as(s, s->qp, i));
	return NULL;
}

/* checks R-FL-09: a thread posts, another flushes; each request is cancelled, once, in order. */
void
scenario_flush_race(struct pair *p)
{
	struct nd_result result;
	pthread_t poster;

	for (int round = 0; round < 20; round++) {
		side_open(&p->a, 2 * DEEP);
		side_create_qp(&p->a, DEEP);
		CHECK(pthread_create(&poster, NULL, post_receives, &p->a) == 0);
		WANT(ND_SUCCESS, nd_qp_flush(p->a.qp));
		WANT(ND_SUCCESS, nd_qp_flush(p->a.qp));
		CHECK(pthread_join(poster, NULL) == 0);
		for (uintptr_t i = 0; i < DEEP; i++) {
			WANT(ND_CANCELED, side_result(&p->a, &result));
			CHECK(result.request_context == (void *)i);
		}
		CHECK(side_quiet(&p->a, 2));
		side_close(&p->a);
	}
}
