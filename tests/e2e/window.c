/* SPDX-License-Identifier: BSD-3-Clause */
#include "window.h"

#include <string.h>

struct nd_mw *
window_new(struct side *s)
{
	struct nd_mw *mw;

	WANT(ND_SUCCESS, nd_mw_create(s->pd, &mw));
	return mw;
}

void
window_bind(struct side *s, struct nd_mw *mw, uint32_t offset, uint32_t bytes, uint32_t flags)
{
	struct nd_result result;

	WANT(ND_SUCCESS, nd_qp_bind(s->qp, mw, s->mr, mw, s->buf + offset, bytes, flags));
	WANT(ND_SUCCESS, side_result(s, &result));
	CHECK(result.request_type == ND_REQUEST_BIND && result.request_context == mw);
}

void
window_invalidate(struct side *s, struct nd_mw *mw)
{
	struct nd_result result;

	WANT(ND_SUCCESS, nd_qp_invalidate(s->qp, mw, mw, 0));
	WANT(ND_SUCCESS, side_result(s, &result));
	CHECK(result.request_type == ND_REQUEST_INVALIDATE && result.request_context == mw);
}

void
window_works(struct pair *p, const struct nd_mw *mw)
{
	struct nd_result result;

	memset(p->a.buf, 0x3c, BUFFER_BYTES);
	memset(p->b.buf, 0, BUFFER_BYTES);
	WANT(ND_SUCCESS, side_write(&p->a, &p->b, BUFFER_BYTES, nd_mw_remote_token(mw)));
	WANT(ND_SUCCESS, side_result(&p->a, &result));
	CHECK(memcmp(p->a.buf, p->b.buf, BUFFER_BYTES) == 0);
	memset(p->a.buf, 0, BUFFER_BYTES);
	WANT(ND_SUCCESS, side_read(&p->a, &p->b, BUFFER_BYTES, nd_mw_remote_token(mw)));
	WANT(ND_SUCCESS, side_result(&p->a, &result));
	CHECK(memcmp(p->a.buf, p->b.buf, BUFFER_BYTES) == 0);
}
