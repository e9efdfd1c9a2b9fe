/* SPDX-License-Identifier: BSD-3-Clause */
/* A region that is closed while windows are bound to it. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ndclient/mem/region.h"
#include "ndclient/mem/window.h"
#include "ndclient/session/object.h"
#include "rigs/window_bench.h"

static void
count_end(struct nd_object *o)
{
	((struct window_bench *)((char *)o - offsetof(struct window_bench, mr)))->ended++;
}

static const struct nd_class counted = {.destroy = count_end};

/* Bound and closed: windows hold it, the application does not. */
static void
close_region(struct window_bench *b)
{
	nd_object_open(&b->mr.obj, &counted, b->a);
	BIND(b, 0, &b->mw);
	BIND(b, 0, &b->mw2);
	window_bench_finish(b, 0, NDSH_WC_SUCCESS);
	window_bench_finish(b, 0, NDSH_WC_SUCCESS);
	cr_assert(eq(i32, window_bench_poll_all(b), 2));
	cr_assert(eq(i32, nd_mr_close(&b->mr), ND_PENDING));
}

static uint32_t
ended(struct window_bench *b)
{
	nd_mr_end_all(b->a);
	return b->ended;
}

/* checks R-MR-07[2,4] */
Test(ndclient_window, R_MR_07_a_closed_region_goes_with_its_last_window)
{
	struct window_bench *b = window_bench_make();
	struct nd_mr other = b->mr;

	close_region(b);
	INVALIDATE(b, 0, &b->mw);
	window_bench_finish(b, 0, NDSH_WC_SUCCESS);
	cr_expect(eq(i32, window_bench_poll_all(b), 1));
	INVALIDATE(b, 0, &b->mw2);
	cr_expect(eq(u32, ended(b), 0));
	window_bench_finish(b, 0, NDSH_WC_SUCCESS);
	cr_expect(eq(i32, window_bench_poll_all(b), 1));
	cr_expect(eq(u32, ended(b), 1));
	cr_expect(eq(u32, ended(b), 1), "once only");
	close_region(b);
	nd_mw_unbind_all(&b->side[0].qp);
	cr_expect(eq(u32, ended(b), 2));
	close_region(b);
	INVALIDATE(b, 0, &b->mw);
	window_bench_finish(b, 0, NDSH_WC_BIND_ERR);
	cr_expect(eq(i32, window_bench_poll_all(b), 1));
	cr_expect(eq(u32, ended(b), 3));
	/* A window that is bound anew lets go of where it was. */
	close_region(b);
	b->side[0].qp.page->dead = 1;
	cr_expect(eq(u32, ended(b), 3));
	cr_assert(nd_mw_bind(&b->mw, &other, &b->side[1].qp));
	cr_assert(nd_mw_bind(&b->mw2, &other, &b->side[1].qp));
	cr_expect(eq(u32, ended(b), 4));
	window_bench_drop(b);
}
