/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote invalidation in both directions. The window is gone when the receive can be taken, which
 * the write that comes right behind shows.
 */
#include <string.h>

#include "scenarios.h"
#include "stranger.h"
#include "window.h"

#define WINDOW_AT    8192
#define WINDOW_BYTES 5000
#define FIRST	     0x5a /* written while the window is bound */
#define SECOND	     0xa5 /* written when it is not */

static void
check_window(const struct side *s)
{
	for (int i = 0; i < WINDOW_BYTES; i++)
		CHECK(s->buf[WINDOW_AT + i] == FIRST);
	CHECK(s->buf[WINDOW_AT - 1] == 0 && s->buf[WINDOW_AT + WINDOW_BYTES] == 0);
}

/* It writes through our window, invalidates it, and writes again. */
void
scenario_stranger_invalidates(struct pair *p)
{
	struct nd_result_ex told;
	struct nd_result result;
	struct stranger_message m;
	struct nd_mw *mw;

	stranger_connect(p);
	mw = window_new(&p->a);
	window_bind(&p->a, mw, WINDOW_AT, WINDOW_BYTES, ND_OP_FLAG_ALLOW_WRITE);
	m = (struct stranger_message){.what = "T",
		.token = nd_mw_remote_token(mw),
		.bytes = WINDOW_BYTES,
		.address = (uintptr_t)p->a.buf + WINDOW_AT};
	WANT(ND_SUCCESS, side_receive(&p->a, 100));
	stranger_tell(&p->a, &m);
	WANT(ND_SUCCESS, side_result_ex(&p->a, &told));
	CHECK(told.request_type == ND_REQUEST_RECEIVE_AND_INVALIDATE);
	CHECK(told.invalidated_token == m.token && told.bytes_transferred == sizeof(m));
	CHECK(strcmp(((struct stranger_message *)p->a.buf)->what, "inv") == 0);
	WANT(ND_CANCELED, side_result(&p->a, &result)); /* by the write that was refused */
	check_window(&p->a);
	WANT(ND_SUCCESS, nd_mr_deregister(p->a.mr, NULL));
	side_close(&p->a);
}

/* We write through its window, invalidate it, and write again. */
void
scenario_stranger_is_invalidated(struct pair *p)
{
	struct nd_result result;
	struct stranger_message m;
	struct nd_sge none;

	stranger_connect(p);
	stranger_tell(&p->a, &(struct stranger_message){.what = "O"});
	m = stranger_told(&p->a);
	CHECK(strcmp(m.what, "O") == 0 && m.bytes == WINDOW_BYTES);
	memset(p->a.buf, FIRST, WINDOW_BYTES);
	WANT(ND_SUCCESS, side_reach(&p->a, 1, (void *)(uintptr_t)m.address, m.bytes, m.token));
	WANT(ND_SUCCESS, side_result(&p->a, &result));

	WANT(ND_SUCCESS, side_receive(&p->a, 100));
	none = (struct nd_sge){p->a.buf, 0, nd_mr_local_token(p->a.mr)};
	WANT(ND_SUCCESS, nd_qp_send_and_invalidate(p->a.qp, NULL, &none, 1, m.token, 0));
	WANT(ND_SUCCESS, side_result(&p->a, &result));
	CHECK(result.request_type == ND_REQUEST_SEND);
	WANT(ND_SUCCESS, side_result(&p->a, &result)); /* it has looked: try it now */
	CHECK(result.request_type == ND_REQUEST_RECEIVE);
	memset(p->a.buf, SECOND, WINDOW_BYTES);
	WANT(ND_SUCCESS, side_reach(&p->a, 1, (void *)(uintptr_t)m.address, m.bytes, m.token));
	WANT(ND_ACCESS_VIOLATION, side_result(&p->a, &result));
	side_close(&p->a);
}
