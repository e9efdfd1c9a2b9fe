/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs are found by handle, which completions name, and by index, which messages name. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "ndclient/qp/handles.h"
#include "ndclient/qp/qp.h"

static struct nd_qp_handles *h;

static void
make(void)
{
	h = calloc(1, sizeof(*h));
	cr_assert_not_null(h);
}

static void
drop(void)
{
	free(h);
}

TestSuite(qp_handles, .init = make, .fini = drop);

Test(qp_handles, the_lowest_free_handle_is_taken)
{
	struct nd_qp *qp = calloc(5, sizeof(*qp));

	for (uint32_t i = 0; i < 4; i++) {
		cr_assert(nd_qp_handle_take(h, &qp[i]));
		cr_expect(eq(u32, qp[i].handle, i));
	}
	nd_qp_handle_give(h, &qp[2]);
	nd_qp_handle_give(h, &qp[1]);
	cr_expect(eq(ptr, nd_qp_of_handle(h, 1), NULL));
	cr_expect(eq(ptr, nd_qp_of_handle(h, 3), &qp[3]));
	cr_assert(nd_qp_handle_take(h, &qp[4]));
	cr_expect(eq(u32, qp[4].handle, 1));
	cr_assert(nd_qp_handle_take(h, &qp[2]));
	cr_expect(eq(u32, qp[2].handle, 2));
	cr_assert(nd_qp_handle_take(h, &qp[1]));
	cr_expect(eq(u32, qp[1].handle, 4));
	cr_expect(eq(u32, h->end, 5));
	free(qp);
}

/* Each of a session's queue pairs, and as many closed ones, have one. */
Test(qp_handles, there_are_handles_for_open_and_closed_ones)
{
	struct nd_qp *qp = calloc(1, sizeof(*qp));

	for (uint32_t i = 0; i < 2 * NDSH_QP_PER_SESSION_MAX; i++)
		cr_assert(nd_qp_handle_take(h, qp));
	cr_expect(not(nd_qp_handle_take(h, qp)));
	cr_expect(not(nd_qp_handle_take(h, qp)));
	qp->handle = 77;
	nd_qp_handle_give(h, qp);
	cr_assert(nd_qp_handle_take(h, qp));
	cr_expect(eq(u32, qp->handle, 77));
	free(qp);
}

/* A completion has whatever handle the daemon writes. */
Test(qp_handles, an_unknown_handle_is_nobody_s)
{
	cr_expect(eq(ptr, nd_qp_of_handle(h, ND_QP_HANDLES - 1), NULL));
	cr_expect(eq(ptr, nd_qp_of_handle(h, ND_QP_HANDLES), NULL));
	cr_expect(eq(ptr, nd_qp_of_handle(h, UINT32_MAX), NULL));
}

/* The daemon gives an index anew while its last owner is not yet forgotten here. */
Test(qp_handles, an_index_is_of_the_one_that_got_it_last)
{
	struct nd_qp *qp = calloc(2, sizeof(*qp));

	qp[0].index = qp[1].index = NDSH_QP_PER_SESSION_MAX - 1;
	nd_qp_index_take(h, &qp[0]);
	cr_expect(eq(ptr, nd_qp_of_index(h, NDSH_QP_PER_SESSION_MAX - 1), &qp[0]));
	nd_qp_index_take(h, &qp[1]);
	nd_qp_index_give(h, &qp[0]);
	cr_expect(eq(ptr, nd_qp_of_index(h, NDSH_QP_PER_SESSION_MAX - 1), &qp[1]));
	nd_qp_index_give(h, &qp[1]);
	cr_expect(eq(ptr, nd_qp_of_index(h, NDSH_QP_PER_SESSION_MAX - 1), NULL));
	free(qp);
}

Test(qp_handles, an_index_out_of_range_is_nobody_s)
{
	struct nd_qp *qp = calloc(1, sizeof(*qp));

	qp->index = NDSH_QP_PER_SESSION_MAX;
	nd_qp_index_take(h, qp);
	cr_expect(eq(ptr, nd_qp_of_index(h, qp->index), NULL));
	nd_qp_index_give(h, qp);
	free(qp);
}
