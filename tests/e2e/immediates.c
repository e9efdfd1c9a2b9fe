/* SPDX-License-Identifier: BSD-3-Clause */
/* Four bytes that come with a send, or with a write, which takes a receive for them. */
#include <string.h>

#include "scenarios.h"

#define SENT	0x04030201u
#define WRITTEN 0xfefdfcfbu
#define BYTES	50000u /* several packets */

static void
write_immediate(struct pair *p, uint32_t bytes, uint32_t immediate, uint32_t flags)
{
	struct nd_sge sge = {p->a.buf, bytes, nd_mr_local_token(p->a.mr)};
	struct nd_result result;

	WANT(ND_SUCCESS, nd_qp_write_with_immediate(p->a.qp, p->a.buf, &sge, 1, (uintptr_t)p->b.buf,
				 nd_mr_remote_token(p->b.mr), immediate, flags));
	WANT(ND_SUCCESS, side_result(&p->a, &result));
	CHECK(result.request_type == ND_REQUEST_WRITE);
}

static void
send_immediate(struct pair *p, uint32_t bytes, uint32_t immediate)
{
	struct nd_sge sge = {p->a.buf, bytes, nd_mr_local_token(p->a.mr)};
	struct nd_result result;

	WANT(ND_SUCCESS, nd_qp_send_with_immediate(p->a.qp, p->a.buf, &sge, 1, immediate, 0));
	WANT(ND_SUCCESS, side_result(&p->a, &result));
	CHECK(result.request_type == ND_REQUEST_SEND);
}

static void
want(struct side *s, enum nd_request_type type, uint32_t immediate)
{
	struct nd_result_ex result;

	WANT(ND_SUCCESS, side_result_ex(s, &result));
	CHECK(result.request_type == type && result.immediate == immediate);
}

/*
 * checks W-RESP-15: the bytes, with and without data around them, and which waiter is woken; a
 * write that finds no receive waits for one.
 */
void
scenario_immediates(struct pair *p)
{
	struct nd_overlapped solicited = {0};
	struct nd_result result;

	pair_open(p);
	memset(p->a.buf, 0x5a, BUFFER_BYTES);
	for (int i = 0; i < 4; i++)
		WANT(ND_SUCCESS, side_receive(&p->b, BUFFER_BYTES));
	send_immediate(p, BYTES, SENT);
	want(&p->b, ND_REQUEST_RECEIVE_WITH_IMMEDIATE, SENT);
	CHECK(memcmp(p->a.buf, p->b.buf, BYTES) == 0);
	send_immediate(p, 0, 0);
	want(&p->b, ND_REQUEST_RECEIVE_WITH_IMMEDIATE, 0);

	memset(p->a.buf, 0x33, BUFFER_BYTES);
	WANT(ND_PENDING, nd_cq_notify(p->b.cq, ND_CQ_NOTIFY_SOLICITED, &solicited));
	write_immediate(p, 0, WRITTEN, 0);
	want(&p->b, ND_REQUEST_WRITTEN_WITH_IMMEDIATE, WRITTEN);
	CHECK(p->b.buf[0] == 0x5a);
	WANT(ND_PENDING, nd_overlapped_status(&solicited));
	write_immediate(p, BYTES, WRITTEN, ND_OP_FLAG_SEND_AND_SOLICIT_EVENT);
	WANT(ND_SUCCESS, nd_overlapped_wait(&solicited, PATIENCE_MS));
	WANT(ND_SUCCESS, side_result(&p->b, &result)); /* the plain call */
	CHECK(result.request_type == ND_REQUEST_RECEIVE);
	CHECK(memcmp(p->a.buf, p->b.buf, BYTES) == 0 && p->b.buf[BYTES] == 0);
	pair_close(p);
}
