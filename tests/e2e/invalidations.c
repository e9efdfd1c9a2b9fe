/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a window's token: by its owner, and by the peer's send. */
#include <string.h>

#include "scenarios.h"
#include "window.h"

/* More at once than what is through when the first byte is seen. */
#define LONG_BYTES  (16u << 20)
#define LONG_WRITES 8

static nd_status
send_inv(struct side *s, uint32_t bytes, uint32_t token, uint32_t flags)
{
	struct nd_sge sge = {s->buf, bytes, nd_mr_local_token(s->mr)};

	return nd_qp_send_and_invalidate(s->qp, s->buf, &sge, 1, token, flags);
}

/*
 * checks R-INV-02[1,3], W-INV-03[3]: after the invalidate that token is refused, and the
 * connection that tries it ends.
 */
void
scenario_invalidated(struct pair *p)
{
	for (int write = 0; write <= 1; write++) {
		struct nd_mw *mw;

		pair_open(p);
		mw = window_new(&p->b);
		window_bind(&p->b, mw, 0, BUFFER_BYTES, READ_AND_WRITE);
		window_works(p, mw);
		window_invalidate(&p->b, mw);
		pair_refuses(p, write, p->b.buf, 100, nd_mw_remote_token(mw));
		pair_close(p);
	}
}

/*
 * checks R-INV-02[2]: writes under way through the window fail, and once the entry is there no
 * byte comes any more.
 */
void
scenario_invalidate_under_way(struct pair *p)
{
	struct nd_result result;
	struct nd_mr *from, *to;
	struct nd_mw *mw;
	struct nd_sge sge;
	char *sink;

	pair_open(p);
	sge.buffer = nd_alloc(p->a.adapter, LONG_BYTES);
	sink = nd_alloc(p->b.adapter, LONG_BYTES);
	CHECK(sge.buffer != NULL && sink != NULL);
	memset(sge.buffer, 0x5a, LONG_BYTES);
	memset(sink, 0, LONG_BYTES);
	WANT(ND_SUCCESS, region_new(p->a.pd, sge.buffer, LONG_BYTES, 0, &from));
	WANT(ND_SUCCESS, region_new(p->b.pd, sink, LONG_BYTES, ND_MR_FLAG_ALLOW_LOCAL_WRITE, &to));
	sge.bytes = LONG_BYTES;
	sge.token = nd_mr_local_token(from);
	mw = window_new(&p->b);
	WANT(ND_SUCCESS, nd_qp_bind(p->b.qp, mw, to, mw, sink, LONG_BYTES, ND_OP_FLAG_ALLOW_WRITE));
	WANT(ND_SUCCESS, side_result(&p->b, &result));
	for (int i = 0; i < LONG_WRITES; i++)
		WANT(ND_SUCCESS, nd_qp_write(p->a.qp, NULL, &sge, 1, (uintptr_t)sink,
					 nd_mw_remote_token(mw), 0));
	while (*(volatile char *)sink == 0)
		sleep_ms(0);
	window_invalidate(&p->b, mw);
	memset(sink, 0x33, LONG_BYTES);
	for (int i = 0; i < LONG_WRITES; i++)
		(void)side_result(&p->a, &result);
	CHECK(result.status == ND_ACCESS_VIOLATION || result.status == ND_CANCELED);
	for (uint32_t i = 0; i < LONG_BYTES; i++)
		CHECK(sink[i] == 0x33);
	pair_close(p);
}

/*
 * checks R-INV-04[1,3], R-MW-01[1]: what is not bound to this queue pair can't be invalidated
 * there: the entry says so and the rest is cancelled.
 */
void
scenario_invalidate_unbound(struct pair *p)
{
	enum { NEVER_BOUND, DEAD, OF_ANOTHER, VARIANTS };

	for (int variant = NEVER_BOUND; variant < VARIANTS; variant++) {
		struct nd_result result;
		struct pair other;
		struct nd_mw *mw;

		pair_open(p);
		pair_beside(p, &other);
		mw = window_new(&p->b);
		if (variant == DEAD) {
			window_bind(&p->b, mw, 0, BUFFER_BYTES, READ_AND_WRITE);
			window_invalidate(&p->b, mw);
		}
		if (variant == OF_ANOTHER)
			window_bind(&other.b, mw, 0, BUFFER_BYTES, READ_AND_WRITE);
		WANT(ND_SUCCESS, side_receive(&p->b, 100));
		WANT(ND_SUCCESS, nd_qp_invalidate(p->b.qp, mw, mw, 0));
		WANT(ND_INVALID_DEVICE_REQUEST, side_result(&p->b, &result));
		CHECK(result.request_type == ND_REQUEST_INVALIDATE && result.request_context == mw);
		WANT(ND_CANCELED, side_result(&p->b, &result));
		if (variant == OF_ANOTHER)
			window_works(&other, mw);
		pair_close(p);
	}
}

/*
 * checks R-CR-06[1,2], R-CR-07[1,2], R-INV-07[1], R-INV-08[2], R-INV-11[1,2], R-INV-14,
 * R-INV-15: both poll calls return the receive with its message, one of them tells the token;
 * the window can be bound again, its region is not busy.
 */
void
scenario_remote_invalidate(struct pair *p)
{
	for (int ex = 0; ex <= 1; ex++) {
		struct nd_result_ex told;
		struct nd_result result;
		struct nd_mw *mw;
		uint32_t token;

		pair_open(p);
		mw = window_new(&p->b);
		window_bind(&p->b, mw, 0, BUFFER_BYTES, READ_AND_WRITE);
		token = nd_mw_remote_token(mw);
		window_works(p, mw);
		memset(p->a.buf, 0x77, BUFFER_BYTES);
		WANT(ND_SUCCESS, side_receive(&p->b, 10000));
		WANT(ND_SUCCESS, send_inv(&p->a, 9999, token, 0));
		if (ex) {
			WANT(ND_SUCCESS, side_result_ex(&p->b, &told));
			CHECK(told.request_type == ND_REQUEST_RECEIVE_AND_INVALIDATE);
			CHECK(told.invalidated_token == token);
			CHECK(told.bytes_transferred == 9999 && told.request_context == p->b.buf);
			CHECK(told.qp_context == &p->b);
		} else {
			WANT(ND_SUCCESS, side_result(&p->b, &result));
			CHECK(result.request_type == ND_REQUEST_RECEIVE);
			CHECK(result.bytes_transferred == 9999);
		}
		CHECK(memcmp(p->b.buf, p->a.buf, 9999) == 0 && p->b.buf[9999] != 0x77);
		WANT(ND_SUCCESS, side_result(&p->a, &result));
		CHECK(result.request_type == ND_REQUEST_SEND);
		WANT(ND_SUCCESS, nd_mr_deregister(p->b.mr, NULL));
		side_register(&p->b);
		window_bind(&p->b, mw, 0, BUFFER_BYTES, READ_AND_WRITE);
		window_works(p, mw);
		pair_refuses(p, 1, p->b.buf, 100, token);
		pair_close(p);
	}
}

/*
 * checks R-INV-08[3], W-INV-03[3]: a write with the token right behind the send that invalidates
 * it, on the same connection, does not arrive.
 */
void
scenario_remote_invalidate_then_write(struct pair *p)
{
	struct nd_result result;
	struct nd_mw *mw;
	uint32_t token;

	pair_open(p);
	mw = window_new(&p->b);
	window_bind(&p->b, mw, 0, BUFFER_BYTES, READ_AND_WRITE);
	token = nd_mw_remote_token(mw);
	WANT(ND_SUCCESS, side_receive(&p->b, 1));
	memset(p->a.buf, 0x11, BUFFER_BYTES);
	WANT(ND_SUCCESS, side_write(&p->a, &p->b, BUFFER_BYTES, token));
	WANT(ND_SUCCESS, side_result(&p->a, &result));
	memset(p->a.buf, 0x22, BUFFER_BYTES);
	WANT(ND_SUCCESS, send_inv(&p->a, 0, token, 0));
	WANT(ND_SUCCESS, side_write(&p->a, &p->b, BUFFER_BYTES, token));
	WANT(ND_SUCCESS, side_result(&p->a, &result));
	CHECK(result.request_type == ND_REQUEST_SEND);
	WANT(ND_ACCESS_VIOLATION, side_result(&p->a, &result));
	WANT(ND_SUCCESS, side_result(&p->b, &result));
	for (int i = 0; i < BUFFER_BYTES; i++)
		CHECK(p->b.buf[i] == 0x11);
	pair_close(p);
}

/*
 * checks R-CR-07[3], R-INV-04[2], R-INV-06[1,3]: of the peer's invalidation and an own one
 * behind it, the own one fails.
 */
void
scenario_remote_invalidate_first(struct pair *p)
{
	struct nd_result result;
	struct nd_mw *mw;

	pair_open(p);
	mw = window_new(&p->b);
	window_bind(&p->b, mw, 0, BUFFER_BYTES, READ_AND_WRITE);
	WANT(ND_SUCCESS, side_receive(&p->b, 8));
	WANT(ND_SUCCESS, send_inv(&p->a, 8, nd_mw_remote_token(mw), 0));
	WANT(ND_SUCCESS, side_result(&p->a, &result)); /* so it was invalidated, without a poll */
	WANT(ND_SUCCESS, nd_qp_invalidate(p->b.qp, mw, mw, 0));
	WANT(ND_SUCCESS, side_result(&p->b, &result));
	CHECK(result.request_type == ND_REQUEST_RECEIVE);
	WANT(ND_INVALID_DEVICE_REQUEST, side_result(&p->b, &result));
	CHECK(result.request_type == ND_REQUEST_INVALIDATE);
	pair_close(p);
}

/*
 * checks R-INV-06[2], R-INV-09[1-4], W-INV-02: a token that is no window's, or not of this
 * connection, ends it on both sides and touches nothing else.
 */
void
scenario_remote_invalidate_bad_token(struct pair *p)
{
	enum { UNKNOWN, DEAD, OF_ANOTHER, REGION, VARIANTS };

	for (int variant = UNKNOWN; variant < VARIANTS; variant++) {
		struct nd_result result;
		struct pair other;
		struct nd_mw *mw;
		uint32_t token;

		pair_open(p);
		pair_beside(p, &other);
		mw = window_new(&p->b);
		window_bind(
			variant == DEAD ? &p->b : &other.b, mw, 0, BUFFER_BYTES, READ_AND_WRITE);
		token = nd_mw_remote_token(mw);
		if (variant == DEAD)
			window_invalidate(&p->b, mw);
		if (variant == UNKNOWN)
			token ^= 1;
		if (variant == REGION)
			token = nd_mr_remote_token(p->b.mr);
		WANT(ND_SUCCESS, side_receive(&p->b, 8));
		WANT(ND_SUCCESS, side_receive(&p->b, 8));
		WANT(ND_SUCCESS, send_inv(&p->a, 8, token, 0));
		WANT(ND_INVALID_DEVICE_REQUEST, side_result(&p->b, &result));
		CHECK(result.request_type == ND_REQUEST_RECEIVE);
		WANT(ND_CANCELED, side_result(&p->b, &result));
		WANT(ND_REMOTE_ERROR, side_result(&p->a, &result));
		CHECK(result.request_type == ND_REQUEST_SEND);
		WANT(ND_SUCCESS, side_send(&p->a, 8));
		WANT(ND_CANCELED, side_result(&p->a, &result));
		pair_works(&other);
		if (variant != DEAD)
			window_works(&other, mw);
		pair_close(p);
	}
}

/* checks R-INV-12: with the solicit mark it ends a wait for solicited receives, and without one it
 * does not. */
void
scenario_remote_invalidate_solicited(struct pair *p)
{
	struct nd_overlapped ov = {0};
	struct nd_result result;
	struct nd_mw *mw;

	pair_open(p);
	mw = window_new(&p->b);
	WANT(ND_SUCCESS, side_receive(&p->b, 8));
	WANT(ND_SUCCESS, side_receive(&p->b, 8));
	window_bind(&p->b, mw, 0, BUFFER_BYTES, READ_AND_WRITE);
	WANT(ND_PENDING, nd_cq_notify(p->b.cq, ND_CQ_NOTIFY_SOLICITED, &ov));
	WANT(ND_SUCCESS, send_inv(&p->a, 8, nd_mw_remote_token(mw), 0));
	CHECK(nd_overlapped_wait(&ov, 50) == ND_TIMEOUT);
	WANT(ND_SUCCESS, side_result(&p->b, &result));
	window_bind(&p->b, mw, 0, 1, ND_OP_FLAG_ALLOW_READ);
	WANT(ND_SUCCESS,
		send_inv(&p->a, 8, nd_mw_remote_token(mw), ND_OP_FLAG_SEND_AND_SOLICIT_EVENT));
	WANT(ND_SUCCESS, nd_overlapped_wait(&ov, PATIENCE_MS));
	pair_close(p);
}
