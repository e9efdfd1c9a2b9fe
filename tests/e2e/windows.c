/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory windows: which accesses they permit and refuse, and which regions they keep busy. */
#include <string.h>

#include "scenarios.h"
#include "window.h"

#define PAGE 4096u

/*
 * checks R-MW-02[1], R-MW-04[3], R-MW-06[1], R-MW-07, R-ORD-08[1]: windows that overlap, on a
 * region without remote rights; the token is told by the send right behind the bind, before any
 * entry.
 */
void
scenario_window(struct pair *p)
{
	struct nd_mw *whole, *part;
	struct nd_result result;
	struct nd_mr *region;
	uint32_t token[2];

	pair_open(p);
	WANT(ND_SUCCESS,
		region_new(p->b.pd, p->b.buf, BUFFER_BYTES, ND_MR_FLAG_ALLOW_LOCAL_WRITE, &region));
	WANT(ND_SUCCESS, nd_mw_create(p->b.pd, &whole));
	WANT(ND_SUCCESS, nd_mw_create(p->b.pd, &part));
	WANT(ND_SUCCESS, side_receive(&p->a, sizeof(token)));
	WANT(ND_SUCCESS, nd_qp_bind(p->b.qp, NULL, region, whole, p->b.buf, BUFFER_BYTES,
				 READ_AND_WRITE | ND_OP_FLAG_SILENT_SUCCESS));
	WANT(ND_SUCCESS, nd_qp_bind(p->b.qp, NULL, region, part, p->b.buf + PAGE, PAGE,
				 ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_SILENT_SUCCESS));
	token[0] = nd_mw_remote_token(whole);
	token[1] = nd_mw_remote_token(part);
	memcpy(p->b.buf, token, sizeof(token));
	WANT(ND_SUCCESS, side_send(&p->b, sizeof(token)));
	WANT(ND_SUCCESS, side_result(&p->a, &result));
	memcpy(token, p->a.buf, sizeof(token));

	memset(p->a.buf, 0x5a, BUFFER_BYTES);
	WANT(ND_SUCCESS, side_write(&p->a, &p->b, BUFFER_BYTES, token[0]));
	WANT(ND_SUCCESS, side_result(&p->a, &result));
	CHECK(memcmp(p->a.buf, p->b.buf, BUFFER_BYTES) == 0);
	memset(p->a.buf, 0, BUFFER_BYTES);
	WANT(ND_SUCCESS, side_reach(&p->a, 0, p->b.buf + PAGE, PAGE, token[1]));
	WANT(ND_SUCCESS, side_result(&p->a, &result));
	CHECK(memcmp(p->a.buf, p->b.buf, PAGE) == 0 && p->a.buf[PAGE] == 0);

	WANT(ND_SUCCESS, side_result(&p->b, &result));
	CHECK(result.request_type == ND_REQUEST_SEND);
	CHECK(side_quiet(&p->b, 20)); /* of the binds it hears nothing: they were silent */
	pair_close(p);
}

/*
 * checks R-MW-05[2], W-MEM-06[3,4]: one byte before and behind, a right that it does not give.
 * The region behind the window would allow all of it.
 */
void
scenario_window_refuses(struct pair *p)
{
	static const struct {
		uint32_t allow;
		int write;
		uint32_t offset, bytes;
	} tries[] = {
		{READ_AND_WRITE, 1, PAGE - 1, 2},
		{READ_AND_WRITE, 0, PAGE - 1, 2},
		{READ_AND_WRITE, 1, PAGE, PAGE + 1},
		{READ_AND_WRITE, 0, PAGE, PAGE + 1},
		{ND_OP_FLAG_ALLOW_READ, 1, PAGE, 10},
		{ND_OP_FLAG_ALLOW_WRITE, 0, PAGE, 10},
		{0, 1, PAGE, 10},
		{0, 0, PAGE, 10},
	};

	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		struct nd_mw *mw;

		pair_open(p);
		mw = window_new(&p->b);
		window_bind(&p->b, mw, PAGE, PAGE, tries[i].allow);
		pair_refuses(p, tries[i].write, p->b.buf + tries[i].offset, tries[i].bytes,
			nd_mw_remote_token(mw));
		pair_close(p);
	}
}

/* A window is for the peer: its token is none for own requests. */
void
scenario_window_not_local(struct pair *p)
{
	struct nd_result result;
	struct nd_sge sge;
	struct nd_mw *mw;

	pair_open(p);
	mw = window_new(&p->b);
	window_bind(&p->b, mw, 0, BUFFER_BYTES, READ_AND_WRITE);
	sge = (struct nd_sge){p->b.buf, 100, nd_mw_remote_token(mw)};
	WANT(ND_SUCCESS, nd_qp_send(p->b.qp, NULL, &sge, 1, 0));
	WANT(ND_ACCESS_VIOLATION, side_result(&p->b, &result));
	pair_close(p);
}

/*
 * checks R-MW-01[3], R-MW-03[1,2], R-MW-04[1,4], R-MW-11, R-POST-05[1]: what Bind refuses at
 * once; nothing has changed then.
 */
void
scenario_window_misuse(struct pair *p)
{
	struct nd_mr *read_only;
	struct nd_mw *mw;
	char *buf;

	side_open(&p->a, 64);
	side_open(&p->b, 64);
	side_create_qp(&p->a, 16);
	side_create_qp(&p->b, 16);
	mw = window_new(&p->b);
	buf = p->b.buf;
	WANT(ND_CONNECTION_INVALID,
		nd_qp_bind(p->b.qp, NULL, p->b.mr, mw, buf, PAGE, READ_AND_WRITE));
	pair_connect(p);
	WANT(ND_SUCCESS, region_new(p->b.pd, buf + PAGE, PAGE, 0, &read_only));
	WANT(ND_ACCESS_VIOLATION,
		nd_qp_bind(p->b.qp, NULL, read_only, mw, buf + PAGE - 1, 2, ND_OP_FLAG_ALLOW_READ));
	WANT(ND_ACCESS_VIOLATION, nd_qp_bind(p->b.qp, NULL, read_only, mw, buf + PAGE, PAGE + 1,
					  ND_OP_FLAG_ALLOW_READ));
	WANT(ND_ACCESS_VIOLATION,
		nd_qp_bind(p->b.qp, NULL, read_only, mw, buf + PAGE, 1, ND_OP_FLAG_ALLOW_WRITE));
	WANT(ND_INVALID_PARAMETER_6, nd_qp_bind(p->b.qp, NULL, read_only, mw, buf + PAGE, 1,
					     ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_INLINE));
	WANT(ND_INVALID_PARAMETER_3,
		nd_qp_invalidate(p->b.qp, NULL, mw, ND_OP_FLAG_SEND_AND_SOLICIT_EVENT));
	CHECK(side_quiet(&p->b, 10));
	WANT(ND_SUCCESS, nd_mr_deregister(read_only, NULL)); /* none of it made the region busy */

	window_bind(&p->b, mw, 0, BUFFER_BYTES, READ_AND_WRITE);
	WANT(ND_INVALID_DEVICE_STATE,
		nd_qp_bind(p->b.qp, NULL, p->b.mr, mw, buf, PAGE, READ_AND_WRITE));
	window_works(p, mw);
	pair_close(p);
}

/*
 * checks R-INV-05[1,2], R-MW-06[2,3]: bound to other memory, by another queue pair, it has
 * another token; the first is dead.
 */
void
scenario_window_rebind(struct pair *p)
{
	struct pair other;
	struct nd_mw *mw;
	uint32_t first;

	pair_open(p);
	pair_beside(p, &other);
	mw = window_new(&p->b);
	window_bind(&p->b, mw, 0, BUFFER_BYTES, READ_AND_WRITE);
	first = nd_mw_remote_token(mw);
	window_works(p, mw);
	window_invalidate(&p->b, mw);
	window_bind(&other.b, mw, 0, BUFFER_BYTES, READ_AND_WRITE);
	CHECK(nd_mw_remote_token(mw) != first);
	window_works(&other, mw);
	pair_refuses(p, 1, p->b.buf, 100, first);
	window_works(&other, mw);
	pair_close(p);
}

/* checks R-MW-08[1,2]: the connection that tries it ends; the window's own goes on. */
void
scenario_window_of_another(struct pair *p)
{
	for (int write = 0; write <= 1; write++) {
		struct pair other;
		struct nd_mw *mw;

		pair_open(p);
		pair_beside(p, &other);
		mw = window_new(&p->b);
		window_bind(&p->b, mw, 0, BUFFER_BYTES, READ_AND_WRITE);
		pair_refuses(&other, write, p->b.buf, 100, nd_mw_remote_token(mw));
		window_works(p, mw);
		pair_close(p);
	}
}

/*
 * checks R-MR-06[1], R-MW-09[1,2]: a bound window keeps its region, until it is invalidated or
 * closed.
 */
void
scenario_window_busy(struct pair *p)
{
	struct nd_mw *mw;
	uint32_t token;

	pair_open(p);
	mw = window_new(&p->b);
	window_bind(&p->b, mw, 0, BUFFER_BYTES, READ_AND_WRITE);
	WANT(ND_DEVICE_BUSY, nd_mr_deregister(p->b.mr, NULL));
	window_works(p, mw);
	window_invalidate(&p->b, mw);
	WANT(ND_SUCCESS, nd_mr_deregister(p->b.mr, NULL));

	side_register(&p->b);
	window_bind(&p->b, mw, 0, BUFFER_BYTES, READ_AND_WRITE);
	token = nd_mw_remote_token(mw);
	WANT(ND_DEVICE_BUSY, nd_mr_deregister(p->b.mr, NULL));
	WANT(ND_SUCCESS, nd_mw_close(mw));
	pair_refuses(p, 1, p->b.buf, 100, token);
	WANT(ND_SUCCESS, nd_mr_deregister(p->b.mr, NULL));
	pair_close(p);
}

static void
ends(struct nd_overlapped *gone)
{
	WANT(ND_SUCCESS, nd_overlapped_wait(gone, PATIENCE_MS));
}

/*
 * checks R-MR-07[2,4]: a region that is closed with a window bound serves that window, and goes
 * when the binding has ended, by a post of its own, with the window, and with the queue pair.
 */
void
scenario_window_region_closed(struct pair *p)
{
	struct nd_overlapped gone = {0};
	struct nd_mw *mw;

	pair_open(p);
	mw = window_new(&p->b);
	window_bind(&p->b, mw, 0, BUFFER_BYTES, READ_AND_WRITE);
	WANT(ND_PENDING, nd_close(p->b.mr, &gone));
	window_works(p, mw);
	WANT(ND_PENDING, nd_overlapped_status(&gone));
	window_invalidate(&p->b, mw);
	ends(&gone);

	side_register(&p->b);
	window_bind(&p->b, mw, 0, BUFFER_BYTES, READ_AND_WRITE);
	WANT(ND_PENDING, nd_close(p->b.mr, &gone));
	window_works(p, mw);
	WANT(ND_SUCCESS, nd_mw_close(mw));
	ends(&gone);

	side_register(&p->b);
	mw = window_new(&p->b);
	window_bind(&p->b, mw, 0, BUFFER_BYTES, READ_AND_WRITE);
	WANT(ND_PENDING, nd_close(p->b.mr, &gone));
	window_works(p, mw);
	WANT(ND_SUCCESS, nd_qp_close(p->b.qp));
	p->b.qp = NULL;
	ends(&gone);

	side_register(&p->b);
	WANT(ND_SUCCESS, nd_mw_close(mw));
	pair_close(p);
}

/* checks R-MR-07[2]: and when the adapter is closed before. */
void
scenario_window_region_left(struct pair *p)
{
	struct nd_overlapped gone = {0};
	struct nd_mw *mw;

	pair_open(p);
	mw = window_new(&p->b);
	window_bind(&p->b, mw, 0, BUFFER_BYTES, READ_AND_WRITE);
	WANT(ND_PENDING, nd_close(p->b.mr, &gone));
	WANT(ND_SUCCESS, nd_adapter_close(p->b.adapter));
	WANT(ND_SUCCESS, nd_overlapped_status(&gone));
	side_close(&p->a);
}

/*
 * checks R-MW-10[1-3]: the end of connection or queue pair unbinds the windows that were bound
 * through it; the windows can be bound elsewhere.
 */
void
scenario_window_ends(struct pair *p)
{
	struct nd_overlapped end_a = {0}, end_b = {0};
	struct pair other;
	struct nd_mw *mw;

	pair_open(p);
	pair_beside(p, &other);
	mw = window_new(&p->b);
	window_bind(&p->b, mw, 0, BUFFER_BYTES, READ_AND_WRITE);
	WANT(ND_PENDING, nd_connector_disconnect(p->b.connector, &end_b));
	WANT(ND_SUCCESS, finish(nd_connector_disconnect(p->a.connector, &end_a), &end_a));
	WANT(ND_SUCCESS, nd_overlapped_wait(&end_b, PATIENCE_MS));
	WANT(ND_SUCCESS, nd_mr_deregister(p->b.mr, NULL));

	side_register(&other.b);
	window_bind(&other.b, mw, 0, BUFFER_BYTES, READ_AND_WRITE);
	window_works(&other, mw);
	WANT(ND_SUCCESS, nd_qp_close(other.b.qp));
	WANT(ND_SUCCESS, nd_mr_deregister(other.b.mr, NULL));
	WANT(ND_SUCCESS, nd_mw_close(mw));
	pair_close(p);
}

/* Windows and regions share the limit of a session; the end of the session gives all back. */
void
scenario_window_limit(struct pair *p)
{
	struct nd_mw *mw = NULL, *one_more;
	struct nd_mr *region;
	uint32_t made = 0;
	nd_status status;

	side_open(&p->a, 64);
	while ((status = nd_mw_create(p->a.pd, &one_more)) == ND_SUCCESS) {
		mw = one_more;
		made++;
	}
	WANT(ND_INSUFFICIENT_RESOURCES, status);
	CHECK(made >= 1000);
	WANT(ND_INSUFFICIENT_RESOURCES, region_new(p->a.pd, p->a.buf, PAGE, 0, &region));
	WANT(ND_SUCCESS, nd_mw_close(mw));
	WANT(ND_SUCCESS, region_new(p->a.pd, p->a.buf, PAGE, 0, &region));
	WANT(ND_INSUFFICIENT_RESOURCES, nd_mw_create(p->a.pd, &one_more));
	side_close(&p->a);
}
