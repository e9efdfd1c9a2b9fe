/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory windows on the client's side: what is refused inline, what reaches the ring, and how a
 * window's state follows what can be known of the other side.
 */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "ndclient/mem/window.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "rigs/window_bench.h"

/*
 * checks R-MW-06[1]: ---- what reaches the ring
 * -----------------------------------------------------------
 */
Test(ndclient_window, R_MW_06_the_token_is_known_when_the_bind_returns)
{
	struct window_bench *b = window_bench_make();
	uint32_t token, last = 0;
	struct ndsh_send wr;

	cr_expect(zero(u32, nd_mw_remote_token(&b->mw)), "before the first bind");
	for (uint32_t g = 1; g <= 3; g++) {
		cr_assert(eq(i32,
			nd_qp_bind(&b->side[0].qp, (void *)42, &b->mr, &b->mw,
				window_bench_memory + 8, 100,
				ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_READ_FENCE),
			ND_SUCCESS));
		token = nd_mw_remote_token(&b->mw);
		cr_expect(eq(u32, token, htonl(ndsh_window_token(77, SECRET + 77, g))));
		cr_expect(ne(u32, token, last));
		wr = window_bench_finish(b, 0, NDSH_WC_SUCCESS);
		cr_expect(eq(int, wr.op, NDSH_OP_BIND));
		cr_expect(eq(int, wr.flags, NDSH_WRF_FENCE));
		cr_expect(eq(u64, wr.context, 42));
		cr_expect(eq(u64, wr.raddr, (uintptr_t)window_bench_memory + 8));
		cr_expect(eq(u64, wr.arg[0], 100));
		cr_expect(eq(u64, wr.arg[1], NDSH_ACCESS_REMOTE_READ | 0x00abc123ull << 32));
		cr_expect(eq(u32, wr.rkey, ntohl(token)));
		cr_expect(eq(u32, wr.imm, g));
		INVALIDATE(b, 0, &b->mw);
		wr = window_bench_finish(b, 0, NDSH_WC_SUCCESS);
		cr_expect(eq(int, wr.op, NDSH_OP_INVALIDATE));
		cr_expect(eq(u32, wr.rkey, ntohl(token)));
		cr_expect(eq(i32, window_bench_poll_all(b), 2));
		cr_expect(eq(u64, b->page.summary, 1), "the bell was rung");
		last = token;
	}
	window_bench_drop(b);
}

/* It would make a window whose tokens are not the program's to choose. */
Test(ndclient_window, an_older_daemon_has_no_windows_with_chosen_tokens)
{
	struct window_bench *b = window_bench_make();
	struct nd_mw *mw = NULL;

	b->a->abi_minor = NDSH_MINOR_KEYED_WINDOWS - 1;
	cr_expect(eq(i32, nd_mw_create_keyed(&b->pd, NDSH_MW_TYPE_2, &mw), ND_NOT_SUPPORTED));
	cr_expect(zero(ptr, mw));
	window_bench_drop(b);
}

/* checks R-MW-04[1,2,4], R-MW-05[1], R-MW-13[2] */
Test(ndclient_window, R_MW_04_rights)
{
	struct window_bench *b = window_bench_make();
	struct nd_qp *qp = &b->side[0].qp;
	struct ndsh_send wr;

	cr_assert(eq(
		i32, nd_qp_bind(qp, NULL, &b->mr, &b->mw, window_bench_memory, 8, RW), ND_SUCCESS));
	wr = window_bench_finish(b, 0, NDSH_WC_SUCCESS);
	cr_expect(eq(u64, wr.raddr, (uintptr_t)window_bench_memory), "not zero-based");
	cr_expect(eq(u32, (uint32_t)wr.arg[1], NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE));
	b->mr.access = 0;
	cr_expect(eq(i32,
		nd_qp_bind(
			qp, NULL, &b->mr, &b->mw2, window_bench_memory, 8, ND_OP_FLAG_ALLOW_WRITE),
		ND_ACCESS_VIOLATION));
	cr_assert(eq(
		i32, nd_qp_bind(qp, NULL, &b->mr, &b->mw2, window_bench_memory, 8, 0), ND_SUCCESS));
	cr_expect(zero(u32, (uint32_t)window_bench_finish(b, 0, NDSH_WC_SUCCESS).arg[1]));
	window_bench_drop(b);
}

/* checks R-MW-03[1,2] */
Test(ndclient_window, R_MW_03_ranges)
{
	const struct {
		int64_t offset;
		size_t bytes;
		bool fits;
	} rows[] = {
		{0, 1024, true},
		{1023, 1, true},
		{1024, 0, true},
		{-1, 1, false},
		{-1, 8, false},
		{0, 1025, false},
		{1, 1024, false},
		{1024, 1, false},
		{1025, 0, false},
		{8, SIZE_MAX, false},
		{8, SIZE_MAX - 7, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct window_bench *b = window_bench_make();
		const void *buf =
			(const void *)((uintptr_t)window_bench_memory + (uintptr_t)rows[i].offset);

		cr_expect(eq(i32,
				  nd_qp_bind(&b->side[0].qp, NULL, &b->mr, &b->mw, buf,
					  rows[i].bytes, RW),
				  rows[i].fits ? ND_SUCCESS : ND_ACCESS_VIOLATION),
			"row %zu", i);
		cr_expect(eq(int, ndsh_sq_ready(&b->side[0].daemon_sq), rows[i].fits));
		window_bench_drop(b);
	}
}

/* checks R-INV-03[1], R-INV-07, R-POST-05[1,2] */
Test(ndclient_window, flags_of_bind_invalidate_and_send_and_invalidate)
{
	for (uint32_t bit = 0; bit < 32; bit++) {
		struct window_bench *b = window_bench_make();
		uint32_t f = 1u << bit;

		cr_expect(eq(i32,
				  nd_qp_bind(&b->side[0].qp, NULL, &b->mr, &b->mw,
					  window_bench_memory, 8, f),
				  f & (0x1b | 0x20000) ? ND_SUCCESS : ND_INVALID_PARAMETER_6),
			"bind %#x", f);
		cr_expect(eq(i32, window_bench_invalidate(b, 0, &b->mw, f),
				  f & (0x03 | 0x20000) ? ND_SUCCESS : ND_INVALID_PARAMETER_3),
			"invalidate %#x", f);
		cr_expect(eq(i32, nd_qp_send_and_invalidate(&b->side[0].qp, NULL, NULL, 0, 5, f),
				  f & (0x27 | 0x20000) ? ND_SUCCESS : ND_INVALID_PARAMETER_4),
			"send %#x", f);
		window_bench_drop(b);
	}
}

/* checks R-INV-07[1,2] */
Test(ndclient_window, R_INV_07_send_and_invalidate_is_a_send_with_a_token)
{
	struct window_bench *b = window_bench_make();
	struct nd_sge sge[3] = {{"abc", 3, 0}, {"d", 1, 0}, {"e", 1, 0}};
	struct ndsh_send wr;

	cr_assert(zero(i32, nd_qp_send_and_invalidate(&b->side[0].qp, (void *)9, sge, 3, 0x01020304,
				    ND_OP_FLAG_INLINE | ND_OP_FLAG_SEND_AND_SOLICIT_EVENT)));
	wr = window_bench_finish(b, 0, NDSH_WC_SUCCESS);
	cr_expect(eq(int, wr.op, NDSH_OP_SEND_INV));
	cr_expect(eq(int, wr.flags, NDSH_WRF_INLINE | NDSH_WRF_SOLICIT));
	cr_expect(eq(u32, wr.rkey, ntohl(0x01020304)));
	cr_expect(zero(int, memcmp(wr.inl, "abcde", 5)));
	cr_expect(eq(i32, nd_qp_send_and_invalidate(&b->side[0].qp, NULL, sge, 3, 1, 0),
		ND_DATA_OVERRUN));
	window_bench_drop(b);
}

/* checks R-INV-04[4] */
Test(ndclient_window, R_MW_11_windows_need_a_connection)
{
	struct window_bench *b = window_bench_make();

	for (uint32_t state = ND_QP_UNCONNECTED; state <= ND_QP_DISCONNECTED; state += 2) {
		b->side[0].qp.state = state;
		cr_expect(eq(i32, window_bench_bind(b, 0, &b->mw), ND_CONNECTION_INVALID));
		cr_expect(eq(i32, window_bench_invalidate(b, 0, &b->mw, 0), ND_CONNECTION_INVALID));
		cr_expect(eq(i32, nd_qp_send_and_invalidate(&b->side[0].qp, NULL, NULL, 0, 1, 0),
			ND_CONNECTION_INVALID));
	}
	cr_expect(not(ndsh_sq_ready(&b->side[0].daemon_sq)));
	cr_expect(zero(u32, nd_mw_remote_token(&b->mw)), "nothing was bound");
	b->a->gone = 1;
	cr_expect(eq(i32, window_bench_bind(b, 0, &b->mw), ND_DEVICE_REMOVED));
	cr_expect(eq(i32, window_bench_invalidate(b, 0, &b->mw, 0), ND_DEVICE_REMOVED));
	window_bench_drop(b);
}

/* checks R-MW-02[2,3] */
Test(ndclient_window, R_MW_02_all_of_one_domain)
{
	struct window_bench *b = window_bench_make();
	struct nd_qp *qp = &b->side[0].qp;

	cr_expect(eq(i32, nd_qp_bind(qp, NULL, NULL, &b->mw, window_bench_memory, 8, RW),
		ND_INVALID_PARAMETER_2));
	cr_expect(eq(i32, nd_qp_bind(qp, NULL, &b->mr, NULL, window_bench_memory, 8, RW),
		ND_INVALID_PARAMETER_3));
	cr_expect(eq(i32, window_bench_invalidate(b, 0, NULL, 0), ND_INVALID_PARAMETER_2));
	b->mw.pd = &b->other_pd;
	cr_expect(eq(i32, window_bench_bind(b, 0, &b->mw), ND_INVALID_PARAMETER_3));
	cr_expect(eq(i32, window_bench_invalidate(b, 0, &b->mw, 0), ND_INVALID_PARAMETER_2));
	b->mr.pd = &b->other_pd;
	cr_expect(eq(i32, window_bench_bind(b, 0, &b->mw2), ND_INVALID_PARAMETER_2));
	cr_expect(not(ndsh_sq_ready(&b->side[0].daemon_sq)));
	window_bench_drop(b);
}

/* A post that is refused leaves the window as it was; checks R-POST-01[2,3]. */
Test(ndclient_window, a_full_queue_changes_no_window)
{
	struct window_bench *b = window_bench_make();

	BIND(b, 0, &b->mw);
	for (uint32_t i = 1; i < DEPTH; i++)
		cr_assert(eq(i32, nd_qp_send(&b->side[0].qp, NULL, NULL, 0, 0), ND_SUCCESS));
	cr_expect(eq(i32, window_bench_bind(b, 0, &b->mw2), ND_NO_MORE_ENTRIES));
	cr_expect(zero(u32, nd_mw_remote_token(&b->mw2)));
	cr_expect(eq(i32, window_bench_invalidate(b, 0, &b->mw, 0), ND_NO_MORE_ENTRIES));
	cr_expect(eq(int, b->mw.state, ND_MW_BOUND));
	for (uint32_t i = 0; i < DEPTH; i++)
		window_bench_finish(b, 0, NDSH_WC_SUCCESS);
	window_bench_end_of_turn(b, 0);
	BIND(b, 0, &b->mw2);
	INVALIDATE(b, 0, &b->mw);
	window_bench_drop(b);
}

/* ---- how the state follows ----------------------------------------------------------- */

/* checks R-INV-05[1,2], R-MW-01[2-4] */
Test(ndclient_window, R_MW_01_bound_once_until_its_invalidation_was_taken)
{
	struct window_bench *b = window_bench_make();

	BIND(b, 0, &b->mw);
	EXPECT_BOUND(b, 0, &b->mw);
	EXPECT_BOUND(b, 1, &b->mw);
	window_bench_finish(b, 0, NDSH_WC_SUCCESS);
	cr_expect(eq(i32, window_bench_poll_all(b), 1));
	EXPECT_BOUND(b, 0, &b->mw);
	INVALIDATE(b, 0, &b->mw);
	EXPECT_BOUND(b, 0, &b->mw);
	EXPECT_BOUND(b, 1, &b->mw);
	window_bench_finish(b, 0, NDSH_WC_SUCCESS);
	cr_expect(eq(i32, window_bench_poll_all(b), 1), "seen before the daemon's turn has ended");
	BIND(b, 1, &b->mw);
	cr_expect(not(ndsh_sq_ready(&b->side[0].daemon_sq)), "what was refused was not posted");
	window_bench_drop(b);
}

Test(ndclient_window, a_silent_invalidation_counts_when_it_is_done)
{
	struct window_bench *b = window_bench_make();

	for (uint32_t lap = 0; lap < 3 * DEPTH; lap++) {
		BIND(b, 0, &b->mw);
		window_bench_finish(b, 0, NDSH_WC_SUCCESS);
		cr_assert(eq(i32, window_bench_invalidate(b, 0, &b->mw, SILENT), ND_SUCCESS));
		window_bench_end_of_turn(b, 0);
		EXPECT_BOUND(b, 0, &b->mw);
		window_bench_finish(b, 0, NDSH_WC_SUCCESS);
		EXPECT_BOUND(b, 0, &b->mw);
		window_bench_end_of_turn(b, 0);
		cr_expect(eq(i32, window_bench_poll_all(b), 1));
	}
	window_bench_drop(b);
}

/* Slots that taken completions have freed are posted to before the page counts them. */
Test(ndclient_window, an_old_page_ends_no_invalidation)
{
	struct window_bench *b = window_bench_make();

	BIND(b, 0, &b->mw);
	for (uint32_t i = 1; i < DEPTH; i++)
		cr_assert(eq(i32, nd_qp_send(&b->side[0].qp, NULL, NULL, 0, 0), ND_SUCCESS));
	for (uint32_t i = 0; i < DEPTH; i++)
		window_bench_finish(b, 0, NDSH_WC_SUCCESS);
	cr_expect(eq(i32, window_bench_poll_all(b), DEPTH));
	INVALIDATE(b, 0, &b->mw);
	EXPECT_BOUND(b, 1, &b->mw);
	window_bench_drop(b);
}

/* The running indices of a queue wrap at 2^32; checks R-ORD-04. */
Test(ndclient_window, a_silent_invalidation_across_the_wrap_of_the_indices)
{
	for (uint32_t start = 0u - 3; start != 3; start++) {
		struct window_bench *b = window_bench_make();
		struct window_bench_side *s = &b->side[0];

		s->qp.sq.next = s->daemon_sq.next = s->finished = start;
		s->qp.sq_freed = start;
		window_bench_end_of_turn(b, 0);
		for (uint32_t i = 0; i < DEPTH; i++)
			s->qp.sq.ring[(start + i) % DEPTH].ctrl =
				(start + i) & DEPTH ? NDSH_CTRL_PHASE : 0;
		BIND(b, 0, &b->mw);
		cr_assert(eq(i32, window_bench_invalidate(b, 0, &b->mw, SILENT), ND_SUCCESS));
		window_bench_finish(b, 0, NDSH_WC_SUCCESS);
		window_bench_end_of_turn(b, 0);
		EXPECT_BOUND(b, 0, &b->mw);
		window_bench_finish(b, 0, NDSH_WC_SUCCESS);
		window_bench_end_of_turn(b, 0);
		BIND(b, 0, &b->mw);
		window_bench_drop(b);
	}
}

/* checks R-MR-06[1], R-OV-05 */
Test(ndclient_window, R_MR_06_a_region_is_busy_while_windows_are_bound)
{
	struct window_bench *b = window_bench_make();

	cr_expect(not(nd_mr_is_bound(&b->mr)));
	BIND(b, 0, &b->mw);
	BIND(b, 1, &b->mw2);
	cr_expect(eq(i32, nd_mr_deregister(&b->mr, NULL), ND_DEVICE_BUSY), "inline");
	window_bench_finish(b, 0, NDSH_WC_SUCCESS);
	INVALIDATE(b, 0, &b->mw);
	cr_expect(nd_mr_is_bound(&b->mr));
	window_bench_finish(b, 0, NDSH_WC_SUCCESS);
	cr_expect(eq(i32, window_bench_poll_all(b), 2));
	cr_expect(nd_mr_is_bound(&b->mr), "the other window");
	cr_assert(eq(i32, window_bench_invalidate(b, 1, &b->mw2, SILENT), ND_SUCCESS));
	window_bench_finish(b, 1, NDSH_WC_SUCCESS);
	window_bench_finish(b, 1, NDSH_WC_SUCCESS);
	cr_expect(eq(i32, nd_mr_deregister(&b->mr, NULL), ND_DEVICE_BUSY));
	window_bench_end_of_turn(b, 1);
	cr_expect(not(nd_mr_is_bound(&b->mr)));
	window_bench_drop(b);
}

/* Of two invalidations under way the first completion ends only its own window. */
Test(ndclient_window, completions_end_the_windows_of_the_requests_they_are_of)
{
	struct window_bench *b = window_bench_make();
	struct nd_result r;

	BIND(b, 0, &b->mw);
	BIND(b, 0, &b->mw2);
	window_bench_finish(b, 0, NDSH_WC_SUCCESS);
	window_bench_finish(b, 0, NDSH_WC_SUCCESS);
	cr_expect(eq(i32, window_bench_poll_all(b), 2));
	window_bench_end_of_turn(b, 0);
	INVALIDATE(b, 0, &b->mw);
	INVALIDATE(b, 0, &b->mw2);
	window_bench_finish(b, 0, NDSH_WC_SUCCESS);
	window_bench_finish(b, 0, NDSH_WC_SUCCESS);
	cr_assert(eq(i32, nd_cq_get_results(&b->cq, &r, 1), 1));
	cr_expect(eq(int, r.request_type, ND_REQUEST_INVALIDATE));
	cr_expect(eq(int, b->mw.state, ND_MW_UNBOUND));
	cr_expect(eq(int, b->mw2.state, ND_MW_INVALIDATING));
	cr_expect(eq(i32, window_bench_poll_all(b), 1));
	cr_expect(eq(int, b->mw2.state, ND_MW_UNBOUND));
	window_bench_drop(b);
}

/* checks R-CR-06[2], R-CR-07[1], R-INV-11[2], R-INV-15 */
Test(ndclient_window, R_INV_14_a_receive_that_came_with_the_token_frees_the_window)
{
	for (int ex = 0; ex < 2; ex++) {
		struct window_bench *b = window_bench_make();
		uint32_t token;

		BIND(b, 0, &b->mw);
		BIND(b, 0, &b->mw2);
		token = nd_mw_remote_token(&b->mw);
		window_bench_receive(b, 0, token);
		EXPECT_BOUND(b, 0, &b->mw);
		if (ex) {
			struct nd_result_ex r;

			cr_assert(eq(i32, nd_cq_get_results_ex(&b->cq, &r, 1), 1));
			cr_expect(eq(int, r.request_type, ND_REQUEST_RECEIVE_AND_INVALIDATE));
			cr_expect(eq(u32, r.invalidated_token, token));
			cr_expect(eq(u32, r.bytes_transferred, 5));
			cr_expect(eq(i32, r.status, ND_SUCCESS));
		} else {
			struct nd_result r;

			cr_assert(eq(i32, nd_cq_get_results(&b->cq, &r, 1), 1));
			cr_expect(eq(int, r.request_type, ND_REQUEST_RECEIVE));
			cr_expect(eq(u32, r.bytes_transferred, 5));
		}
		EXPECT_BOUND(b, 0, &b->mw2);
		BIND(b, 1, &b->mw);
		window_bench_drop(b);
	}
}

/* An old result that is taken late must not free what was bound since. */
Test(ndclient_window, a_token_of_another_bind_or_queue_pair_frees_nothing)
{
	struct window_bench *b = window_bench_make();

	BIND(b, 0, &b->mw);
	window_bench_receive(b, 1, nd_mw_remote_token(&b->mw));
	window_bench_receive(b, 0, nd_mw_remote_token(&b->mw) ^ htonl(1));
	window_bench_receive(b, 0, nd_mw_remote_token(&b->mw2));
	window_bench_receive(b, 0, 0);
	cr_expect(eq(i32, window_bench_poll_all(b), 4));
	EXPECT_BOUND(b, 0, &b->mw);
	window_bench_drop(b);
}

/* checks R-INV-04[1], R-INV-06[3] */
Test(ndclient_window, R_INV_04_what_is_not_bound_is_for_the_daemon_to_refuse)
{
	struct window_bench *b = window_bench_make();
	struct nd_result_ex r;
	uint32_t token;

	BIND(b, 0, &b->mw);
	token = nd_mw_remote_token(&b->mw);
	window_bench_finish(b, 0, NDSH_WC_SUCCESS);
	window_bench_receive(b, 0, token);
	cr_expect(eq(i32, window_bench_poll_all(b), 2));
	INVALIDATE(b, 0, &b->mw);
	cr_expect(eq(u32, window_bench_finish(b, 0, NDSH_WC_LOC_QP_OP_ERR).rkey, ntohl(token)));
	cr_assert(eq(i32, nd_cq_get_results_ex(&b->cq, &r, 1), 1));
	cr_expect(eq(i32, r.status, ND_INVALID_DEVICE_REQUEST));
	cr_expect(eq(int, r.request_type, ND_REQUEST_INVALIDATE));
	cr_expect(zero(u32, r.invalidated_token));
	window_bench_drop(b);
}

/* checks R-INV-04[1]: posted through another queue pair it fails, and the window stays bound. */
Test(ndclient_window, R_INV_04_invalidate_through_another_queue_pair)
{
	struct window_bench *b = window_bench_make();

	BIND(b, 0, &b->mw);
	INVALIDATE(b, 1, &b->mw);
	window_bench_finish(b, 1, NDSH_WC_LOC_QP_OP_ERR);
	cr_expect(eq(i32, window_bench_poll_all(b), 1));
	b->side[1].qp.page->dead = 1;
	EXPECT_BOUND(b, 0, &b->mw);
	window_bench_drop(b);
}

/* checks R-MW-10[2] */
Test(ndclient_window, R_MW_10_the_end_of_the_queue_pair_unbinds)
{
	struct window_bench *b = window_bench_make();

	/* The shared word says it, while the results lie there. */
	BIND(b, 0, &b->mw);
	BIND(b, 0, &b->mw2);
	INVALIDATE(b, 0, &b->mw2);
	b->side[0].qp.page->dead = 1;
	cr_expect(not(nd_mr_is_bound(&b->mr)));
	/* A failed result says it. */
	BIND(b, 1, &b->mw);
	window_bench_finish(b, 1, NDSH_WC_BIND_ERR);
	cr_expect(nd_mr_is_bound(&b->mr));
	cr_expect(eq(i32, window_bench_poll_all(b), 1));
	cr_expect(not(nd_mr_is_bound(&b->mr)));
	/* The end of the daemon says it. */
	BIND(b, 1, &b->mw);
	b->a->gone = 1;
	cr_expect(not(nd_mr_is_bound(&b->mr)));
	b->a->gone = 0;
	/* Closing says it. */
	BIND(b, 1, &b->mw);
	BIND(b, 1, &b->mw2);
	nd_mw_unbind_all(&b->side[1].qp);
	cr_expect(not(nd_mr_is_bound(&b->mr)));
	cr_expect(eq(int, b->mw2.state, ND_MW_UNBOUND));
	window_bench_drop(b);
}
