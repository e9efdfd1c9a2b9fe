/* SPDX-License-Identifier: BSD-3-Clause */
/* Local operations of the send queue, for which nothing is sent: their order among the others. */
#include <criterion/criterion.h>

#include "rigs/fast.h"
#include "roce/requester/local.h"

static unsigned
mute_tap(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	const bool *mute = ctx;

	(void)p;
	(void)pkt;
	(void)late_ns;
	return !(*mute && from == 0);
}

/* Done at once, told in order. checks W-FENCE-02[1,3], R-ORD-01 */
Test(local, W_FENCE_02_local_operations_wait_to_be_told_not_to_be_done)
{
	struct pair *p = window_pair();
	struct window v = window_new(p);
	struct ndsh_cqe last;
	bool mute = true;

	p->tap = mute_tap;
	p->tap_ctx = &mute;
	pair_write(p, 1, 0, 1, 0, 0, 0, 0); /* its ACK is lost for a while */
	window_bind(p, 0, 2, &v, WINDOW_RW);
	pair_write(p, 1, 0, 3, 0, 0, 0, NDSH_WRF_SILENT);
	window_invalidate(p, 0, 4, v.token, NDSH_WRF_SILENT);
	window_bind(p, 0, 5, &v, WINDOW_RW);
	pair_run(p, 1000000);
	pair_expect_none(p, 1);
	cr_assert_not(roce_mr_deregister(p->side[1].shard, p->side[1].mr), "bound since long");
	mute = false;
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
	last = pair_expect(p, 1, 5, NDSH_WC_SUCCESS);
	cr_assert_eq(last.slot_count, 5);
	cr_assert_eq(last.syndrome, 0);
	pair_expect_none(p, 1);
	cr_assert_eq(pair_count(p, 1)->requests_completed, 5);
	cr_assert_eq(((struct ndsh_qp_page *)p->side[1].q[0].block)->sq_done, 5);
	window_pair_free(p, &v);
}

/* checks R-INV-03[2], R-ORD-05[1], W-FENCE-01: with the fence, earlier READs come first */
Test(local, R_ORD_05_a_fence_waits_for_reads)
{
	for (unsigned i = 0; i < 2; i++) {
		struct pair *p = pair_new(&(struct pair_opts){0});
		struct window v = window_new(p);
		bool mute = true;

		p->tap = mute_tap;
		p->tap_ctx = &mute;
		pair_read(p, 1, 0, 1, 0, 0, 8, 0);
		window_bind_at(p, 0, 2, &v, p->side[1].key, WINDOW_AT, 8, WINDOW_RW,
			i ? NDSH_WRF_FENCE : 0);
		pair_run(p, 1000000);
		pair_expect_none(p, 1);
		if (i) {
			cr_assert(roce_mr_deregister(p->side[1].shard, p->side[1].mr), "not bound");
			p->side[1].mr = NULL;
		} else {
			cr_assert_not(roce_mr_deregister(p->side[1].shard, p->side[1].mr));
		}
		mute = false;
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 1, 1, i ? NDSH_WC_LOC_PROT_ERR : NDSH_WC_SUCCESS);
		pair_expect(p, 1, 2, i ? NDSH_WC_FLUSH_ERR : NDSH_WC_SUCCESS);
		window_pair_free(p, &v);
	}
}

/*
 * checks R-INV-03[3], R-ORD-05[2]: neither a write without its acknowledgement nor another queue
 * pair's read.
 */
Test(local, a_fence_waits_for_nothing_else)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 2});
	bool mute = true;

	p->tap = mute_tap;
	p->tap_ctx = &mute;
	pair_read(p, 0, 1, 1, 0, 0, 8, 0);
	pair_turn(p, 0);
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	pair_write(p, 0, 0, 3, 0, 0, 8, NDSH_WRF_FENCE);
	pair_turn(p, 0);
	cr_assert_eq(pair_count(p, 0)->tx_packets, 3);
	mute = false;
	cr_assert(pair_run(p, PAIR_LONG));
	pair_free(p);
}

/* checks R-INV-04[3]: a failed one ends what follows, but waits for what was before. */
Test(local, R_INV_04_told_behind_what_was_before)
{
	struct pair *p = window_pair();
	bool mute = true;

	p->tap = mute_tap;
	p->tap_ctx = &mute;
	pair_write(p, 1, 0, 1, 0, 0, 0, 0);
	window_invalidate(p, 0, 2, 0x12345678, 0);
	pair_write(p, 1, 0, 3, 0, 0, 0, 0);
	pair_run(p, 1000000);
	pair_expect_none(p, 1);
	pair_expect_alive(p, 1, 0);
	mute = false;
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 1, 2, NDSH_WC_LOC_QP_OP_ERR);
	pair_expect(p, 1, 3, NDSH_WC_FLUSH_ERR);
	pair_free(p);
}

/* Only the invalidation of a registration waits for what was sent before (W-FENCE-02), not the
 * registration itself: what is behind it leaves at once. */
Test(local, W_FENCE_02_a_registration_does_not_wait)
{
	struct pair *p = window_pair();
	struct fast *f = fast_new(p, true);

	pair_write(p, 1, 0, 1, 0, 0, 0, 0);
	fast_register(p, 0, 2, f, 0, 1, 8, FAST_LOCAL | WINDOW_RW);
	pair_write(p, 1, 0, 3, 0, 0, 0, 0);
	pair_turn(p, 1);
	cr_assert_eq(p->sent[1], 2);
	cr_assert(pair_run(p, PAIR_LONG));
	for (uint64_t i = 1; i <= 3; i++)
		pair_expect(p, 1, i, NDSH_WC_SUCCESS);
	fast_free(p, f);
}

static void
bind_and_invalidate(struct pair *p, struct window *v, uint64_t first, uint64_t n)
{
	for (uint64_t i = first; i < first + n; i++)
		if (i % 2 == 0)
			window_bind(p, 0, i, v, WINDOW_RW);
		else
			window_invalidate(p, 0, i, v->token, 0);
}

/* Side 1's client has this many entries since it looked. */
static unsigned
told(struct pair *p)
{
	struct ndsh_cqe c;
	unsigned n = 0;

	while (pair_poll(p, 1, &c)) {
		cr_assert_eq(c.status, NDSH_WC_SUCCESS);
		n++;
	}
	return n;
}

/* A turn takes as many of them as it may, and fewer of those that have a list of pages. */
Test(local, so_many_in_a_turn)
{
	struct pair *p = window_pair();
	struct window v = window_new(p);
	struct fast *f = fast_new(p, true);
	unsigned lists;

	bind_and_invalidate(p, &v, 0, 4 * ROCE_LOCAL_BUDGET);
	for (unsigned i = 0; i < 4; i++) {
		pair_turn(p, 1);
		cr_assert_eq(told(p), ROCE_LOCAL_BUDGET);
	}
	for (uint64_t i = 0; i < ROCE_LOCAL_BUDGET; i++) {
		fast_register(p, 0, i, f, 0, 1, 8, FAST_LOCAL);
		window_invalidate(p, 0, i, f->token, 0);
	}
	pair_turn(p, 1);
	lists = told(p);
	cr_assert(lists > 0 && lists <= ROCE_LOCAL_BUDGET / 4, "%u", lists);
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert_eq(lists + told(p), 2 * ROCE_LOCAL_BUDGET);
	window_free(p, &v);
	fast_free(p, f);
}

/* Its client rang once, behind the last of them, and nothing else wakes the queue pair up. */
Test(local, a_long_row_is_done_for_one_doorbell)
{
	struct pair *p = window_pair();
	struct window v = window_new(p);
	struct ndsh_qp_page *page = p->side[1].q[0].block;

	p->now_ns += 1000000;
	pair_turn(p, 1);
	cr_assert_eq(page->sq_polled, 0, "idle for so long, it is not polled");
	page->sq_polled = 1; /* so the rig does not ring */
	bind_and_invalidate(p, &v, 0, 199);
	page->sq_polled = 0;
	bind_and_invalidate(p, &v, 199, 1);
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert_eq(told(p), 200);
	window_pair_free(p, &v);
}

/* More than a turn takes of them, with nothing else to wake the queue pair up. */
Test(local, a_long_row_of_local_operations_is_done)
{
	struct pair *p = window_pair();
	struct window v = window_new(p);

	for (uint64_t i = 0; i < 200; i += 2) {
		window_bind(p, 0, i, &v, WINDOW_RW);
		window_invalidate(p, 0, i + 1, v.token, 0);
	}
	pair_run(p, 1000000);
	for (uint64_t i = 0; i < 200; i++)
		pair_expect(p, 1, i, NDSH_WC_SUCCESS);
	pair_expect_none(p, 1);
	window_pair_free(p, &v);
}

static struct {
	unsigned frames, at[2]; /* when queue pair i of side 1 sent its last */
} heard;

static unsigned
hear_all(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	(void)late_ns;
	(void)ctx;
	if (from == 1 && (pkt->opflags & ROCE_OPF_REQUEST)) {
		heard.frames++;
		heard.at[pkt->qpn == roce_qp_num(p->side[0].q[1].qp)] = heard.frames;
	}
	return 1;
}

/* One that has nothing but local operations to do, as many as its ring holds, keeps no other from
 * sending; and what is behind them in its ring leaves in the end. */
Test(local, others_get_their_turn)
{
	struct pair *p = window_pair();
	struct window v = window_new(p);

	p->tap = hear_all;
	heard.frames = 0;
	for (uint64_t i = 0; i < 200; i += 2) {
		window_bind(p, 0, i, &v, WINDOW_RW);
		window_invalidate(p, 0, i + 1, v.token, 0);
	}
	pair_write(p, 1, 0, 200, 0, 0, 0, 0);
	for (uint64_t i = 0; i < 20; i++)
		pair_write(p, 1, 1, 300 + i, 0, 0, 0, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert_eq(heard.frames, 21);
	cr_assert_lt(heard.at[1], heard.at[0], "the one behind 200 local operations is last");
	for (unsigned i = 0, next = 0; i < 221; i++) {
		struct ndsh_cqe c;

		cr_assert(pair_poll(p, 1, &c) && c.status == NDSH_WC_SUCCESS);
		if (c.context < 300)
			cr_assert_eq(c.context, next++);
	}
	window_pair_free(p, &v);
}

/* Sent again, the requests around them are passed as they were: nothing local is done twice, or a
 * second bind of the same window would fail. checks W-FENCE-02[1], R-ORD-08 */
Test(local, passed_over_when_requests_are_sent_again)
{
	struct pair *p = window_pair();
	struct window v = window_new(p);
	bool mute = true;

	p->tap = mute_tap;
	p->tap_ctx = &mute;
	for (uint64_t i = 0; i < 30; i += 3) {
		pair_write(p, 1, 0, i, 0, 0, 0, 0);
		window_bind(p, 0, i + 1, &v, WINDOW_RW);
		window_invalidate(p, 0, i + 2, v.token, 0);
	}
	(void)pair_run(p, 20000000); /* several times */
	cr_assert_gt(pair_count(p, 1)->retransmitted_packets, 20);
	pair_expect_none(p, 1);
	mute = false;
	cr_assert(pair_run(p, PAIR_LONG));
	for (uint64_t i = 0; i < 30; i++)
		pair_expect(p, 1, i, NDSH_WC_SUCCESS);
	pair_expect_none(p, 1);
	window_pair_free(p, &v);
}

/* ... however many there are: what stands before them and what stands behind are sent again
 * together. checks W-TMR-03[1] */
Test(local, passed_over_in_one_go)
{
	struct pair *p = window_pair();
	struct window v = window_new(p);
	bool mute = true;

	p->tap = mute_tap;
	p->tap_ctx = &mute;
	pair_write(p, 1, 0, 300, 0, 0, 0, 0);
	bind_and_invalidate(p, &v, 0, 4 * ROCE_LOCAL_BUDGET);
	pair_write(p, 1, 0, 301, 0, 0, 0, 0);
	(void)pair_run(p, 500000);
	cr_assert_eq(p->sent[1], 2);
	(void)pair_run(p, 1000000);
	cr_assert_eq(pair_count(p, 1)->timeouts, 1);
	cr_assert_eq(p->sent[1], 4);
	mute = false;
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert_eq(told(p), 4 * ROCE_LOCAL_BUDGET + 2);
	window_pair_free(p, &v);
}

/* Whichever of a turn it is that fails: what is posted later is flushed, too. checks W-QP-02[2] */
Test(local, W_QP_02_whichever_of_a_turn_fails)
{
	for (uint64_t good = 0; good < 2 * ROCE_LOCAL_BUDGET; good += 2) {
		struct pair *p = window_pair();
		struct window v = window_new(p);

		bind_and_invalidate(p, &v, 0, good + 1);
		window_bind(p, 0, good + 1, &v, WINDOW_RW); /* it is bound */
		cr_assert(pair_run(p, PAIR_LONG));
		for (uint64_t i = 0; i <= good; i++)
			pair_expect(p, 1, i, NDSH_WC_SUCCESS);
		pair_expect(p, 1, good + 1, NDSH_WC_BIND_ERR);
		pair_write(p, 1, 0, 100, 0, 0, 0, 0);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 1, 100, NDSH_WC_FLUSH_ERR);
		window_pair_free(p, &v);
	}
}
