/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of overlapped requests. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ndclient/session/adapter.h"
#include "ndclient/session/overlapped.h"
#include "ndclient/session/waiters.h"

#define N 5u

static void
begin(struct nd_overlapped *ov, struct nd_waiters *w)
{
	static struct nd_adapter a;

	cr_assert(eq(i32, nd_overlapped_begin(&a, ov, "test"), ND_SUCCESS));
	nd_waiters_add(w, ov);
}

Test(ndclient_waiters, they_are_counted_and_end_together)
{
	struct nd_overlapped ov[N] = {{.status = 0}};
	struct nd_waiters w = {0};

	for (uint32_t i = 0; i < N; i++) {
		begin(&ov[i], &w);
		cr_expect(eq(u32, w.count, i + 1));
		cr_expect(eq(ptr, w.last, &ov[i]));
	}
	cr_expect(eq(ptr, w.first, &ov[0]));
	nd_waiters_end(&w, ND_CANCELED);
	cr_expect(zero(u32, w.count));
	cr_expect(eq(ptr, w.first, NULL));
	for (uint32_t i = 0; i < N; i++)
		cr_expect(eq(i32, nd_overlapped_status(&ov[i]), ND_CANCELED));
	nd_waiters_end(&w, ND_SUCCESS); /* of none */
	cr_expect(eq(i32, nd_overlapped_status(&ov[0]), ND_CANCELED));
}

Test(ndclient_waiters, moved_ones_stand_behind_those_that_are_there)
{
	struct nd_overlapped ov[N] = {{.status = 0}};
	struct nd_waiters to = {0}, from = {0}, none = {0};

	begin(&ov[0], &to);
	begin(&ov[1], &from);
	begin(&ov[2], &from);
	nd_waiters_move(&to, &from);
	cr_expect(eq(u32, to.count, 3));
	cr_expect(eq(ptr, to.first, &ov[0]));
	cr_expect(eq(ptr, to.last, &ov[2]));
	cr_expect(eq(ptr, ov[0].internal_ptr[0], &ov[1]));
	cr_expect(zero(u32, from.count));
	nd_waiters_move(&to, &none);
	cr_expect(eq(u32, to.count, 3));
	nd_waiters_move(&none, &to);
	cr_expect(eq(u32, none.count, 3));
	cr_expect(eq(ptr, to.first, NULL));
	begin(&ov[3], &none);
	nd_waiters_end(&none, ND_SUCCESS);
	for (uint32_t i = 0; i < 4; i++)
		cr_expect(eq(i32, nd_overlapped_status(&ov[i]), ND_SUCCESS));
}
