/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared receive queues in the engine, and their ring. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/engine_pair.h"
#include "rigs/zeroed.h"

#define LONG  UINT64_C(1000000000)
#define DEPTH 16u
#define LIMIT (1u << ROCE_EV_SRQ_LIMIT)
#define LAST  (1u << ROCE_EV_LAST_WQE)

static struct pair *
srq_pair(void)
{
	return pair_new(&(struct pair_opts){.qps = 3, .srq_depth = DEPTH});
}

static uint32_t
taken(const struct pair *p)
{
	return __atomic_load_n(&p->side[1].srq_page->taken, __ATOMIC_ACQUIRE);
}

/* ---- the ring ---- */

Test(srq, holds_says_how_many_wait_also_around_the_end)
{
	_Alignas(64) static uint8_t block[64 + 4 * 32];
	struct ndsh_rq client, daemon;
	struct ndsh_recv out;

	cr_assert_eq(ndsh_srq_bytes(4, 1), sizeof(block));
	ndsh_srq_view(&client, block, 4, 1);
	ndsh_srq_view(&daemon, block, 4, 1);
	for (uint32_t posted = 0, got = 0; posted < 11;) {
		while (posted - got < 3 + (posted & 1)) {
			ndsh_rq_push(&client, posted, NULL, 0);
			posted++;
		}
		for (uint32_t n = 0; n <= 6; n++)
			cr_assert_eq(ndsh_rq_holds(&daemon, n), n <= posted - got);
		for (int i = 0; i < 2; i++)
			cr_assert_eq(ndsh_rq_fetch(&daemon, &out), NDSH_FETCH_OK);
		got += 2;
	}
}

Test(srq, bytes_are_zero_out_of_range)
{
	cr_assert_eq(ndsh_srq_bytes(0, 1), 0);
	cr_assert_eq(ndsh_srq_bytes(3, 1), 0);
	cr_assert_eq(ndsh_srq_bytes(2 * NDSH_DEPTH_MAX, 1), 0);
	cr_assert_eq(ndsh_srq_bytes(4, 0), 0);
	cr_assert_eq(ndsh_srq_bytes(4, NDSH_SGE_MAX + 1), 0);
	cr_assert_eq(ndsh_srq_bytes(4, 2), 64 + 4 * 32 + 4 * 2 * 16);
}

/* ---- receives ---- */

/*
 * checks R-ORD-02[1,2], R-SRQ-02[2,3]: whichever queue pair a message comes to takes the oldest;
 * the entry names that queue pair.
 */
Test(srq, R_SRQ_02_R_ORD_02_queue_pairs_draw_in_order)
{
	static const unsigned to[] = {1, 0, 2, 2, 1, 0};
	struct pair *p = srq_pair();

	for (unsigned i = 0; i < 6; i++)
		pair_recv(p, 1, 0, i, 4096 * i, 64);
	for (unsigned i = 0; i < 6; i++) {
		memset(p->side[0].arena, (int)i + 1, 64);
		pair_send(p, 0, to[i], i, 0, 64, 0);
		cr_assert(pair_run(p, LONG));
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
		cr_assert_eq(pair_expect(p, 1, i, NDSH_WC_SUCCESS).qp, to[i]);
		cr_assert_eq(p->side[1].arena[4096 * i], i + 1);
		cr_assert_eq(taken(p), i + 1);
	}
	pair_free(p);
}

Test(srq, slots_are_free_when_taken)
{
	struct pair *p = srq_pair();

	for (unsigned i = 0; i < 5 * DEPTH; i++) {
		cr_assert_lt(p->side[1].srq_rq.next - taken(p), DEPTH);
		pair_recv(p, 1, 0, i, 0, 64);
		pair_send(p, 0, i % 3, 7, 0, 8, 0);
		cr_assert(pair_run(p, LONG));
		pair_expect(p, 0, 7, NDSH_WC_SUCCESS);
		pair_expect(p, 1, i, NDSH_WC_SUCCESS);
	}
	pair_free(p);
}

/* The sender is held off, however often; another queue pair can empty it as well. */
Test(srq, R_SR_06_empty_holds_the_sender_off)
{
	struct pair *p = pair_new(&(struct pair_opts){
		.qps = 2, .srq_depth = DEPTH, .rnr_retry = 7, .min_rnr_code = 1});

	pair_send(p, 0, 0, 1, 0, 64, 0);
	pair_send(p, 0, 1, 2, 0, 64, 0);
	(void)pair_run(p, LONG / 10);
	cr_assert_gt(roce_shard_counters(p->side[1].shard)->tx_rnr, 7);
	pair_expect_none(p, 0);
	pair_recv(p, 1, 0, 3, 0, 64);
	(void)pair_run(p, LONG / 10);
	pair_expect(p, 1, 3, NDSH_WC_SUCCESS);
	pair_expect_none(p, 1);
	pair_recv(p, 1, 0, 4, 0, 64);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 1, 4, NDSH_WC_SUCCESS);
	cr_assert_eq(roce_qp_state_get(p->side[0].q[0].qp), ROCE_QPS_RTS);
	cr_assert_eq(roce_qp_state_get(p->side[0].q[1].qp), ROCE_QPS_RTS);
	pair_free(p);
}

/* ---- another ring ---- */

/* The client's side of an exchange. */
static void
move_to(struct pair *p, uint32_t depth)
{
	struct pair_side *d = &p->side[1];
	struct ndsh_srq_page *page = zeroed(ndsh_srq_bytes(depth, 16));
	struct ndsh_rq rq;

	ndsh_srq_view(&rq, page, depth, 16);
	ndsh_rq_carry(&rq, &d->srq_rq, taken(p));
	roce_srq_resize(d->srq, page, depth);
	memset(d->srq_page, 0xa5, ndsh_srq_bytes(d->srq_rq.depth, 16));
	free(d->srq_page);
	d->srq_page = page;
	d->srq_rq = rq;
}

/* Full, in the middle of a message, and with a limit: what waits is taken in order, and counts. */
Test(srq, a_longer_ring_in_the_middle_of_a_message)
{
	struct pair *p = srq_pair();
	uint32_t got = 0;

	for (unsigned i = 0; i < DEPTH; i++)
		pair_recv(p, 1, 0, i, 0, 1u << 18);
	roce_srq_arm(p->side[1].shard, p->side[1].srq, 2 * DEPTH);
	pair_turn(p, 1);
	p->side[1].events = 0;
	pair_send(p, 0, 1, 0, 0, 1u << 18, 0); /* more than one window */
	while (taken(p) == 0)
		p->now_ns += 100, pair_turn(p, 0), pair_turn(p, 1);
	pair_expect_none(p, 1);
	move_to(p, 4 * DEPTH);
	cr_assert_eq(taken(p), 1);
	roce_srq_arm(p->side[1].shard, p->side[1].srq, 2 * DEPTH);
	for (unsigned i = DEPTH; i < 4 * DEPTH + 1; i++)
		pair_recv(p, 1, 0, i, 0, 64);
	for (unsigned i = 1; i < 4 * DEPTH + 1; i++) {
		pair_send(p, 0, i % 3, i, 0, 64, 0);
		cr_assert(pair_run(p, LONG));
	}
	for (; got < 4 * DEPTH + 1; got++)
		pair_expect(p, 1, got, NDSH_WC_SUCCESS);
	cr_assert_eq(taken(p), 4 * DEPTH + 1);
	cr_assert(p->side[1].events & LIMIT);
	pair_free(p);
}

/* ---- the end of a queue pair ---- */

/*
 * checks R-FL-08[1,2], W-EVT-02[1]: cancelled is the receive that a message is in the middle of;
 * those still shared stay.
 */
Test(srq, R_FL_08_W_EVT_02_flush_leaves_what_is_shared)
{
	struct pair *p = srq_pair();

	pair_recv(p, 1, 0, 1, 0, 1u << 18);
	pair_recv(p, 1, 0, 2, 0, 64);
	pair_send(p, 0, 0, 9, 0, 1u << 18, 0); /* more than one window */
	while (taken(p) == 0)
		p->now_ns += 100, pair_turn(p, 0), pair_turn(p, 1);
	pair_expect_none(p, 1);
	roce_qp_modify(p->side[1].shard, p->side[1].q[0].qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
	pair_turn(p, 1);
	pair_expect(p, 1, 1, NDSH_WC_FLUSH_ERR);
	pair_expect_none(p, 1);
	cr_assert(p->side[1].events & LAST);
	cr_assert_eq(p->side[1].last_event.qp, p->side[1].q[0].qp);
	p->side[1].events = 0;
	roce_qp_doorbell(p->side[1].shard, NULL, p->side[1].q[0].qp);
	for (unsigned i = 0; i < 3; i++) /* in the first the doorbell is served */
		pair_turn(p, 1);
	cr_assert_not(p->side[1].events & LAST, "told twice");
	pair_send(p, 0, 1, 10, 0, 64, 0);
	while (taken(p) == 1)
		p->now_ns += 100, pair_turn(p, 0), pair_turn(p, 1);
	pair_turn(p, 1);
	pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
	pair_free(p);
}

/*
 * checks W-EVT-02[1]: the flush of a deep send queue takes turns: the end of the receives is
 * told behind all of it.
 */
Test(srq, W_EVT_02_told_when_the_receive_in_use_is_flushed)
{
	struct pair *p = pair_new(&(struct pair_opts){
		.qps = 1, .srq_depth = DEPTH, .sq_depth = 2048, .rnr_retry = 7});
	struct pair_side *d = &p->side[1];
	struct ndsh_cqe e;
	unsigned turns = 0;

	pair_recv(p, 1, 0, 1, 0, 1u << 18);
	pair_send(p, 0, 0, 9, 0, 1u << 18, 0); /* more than one window */
	for (unsigned i = 0; i < 2048; i++)    /* side 0 has no receive for any */
		pair_send(p, 1, 0, 100 + i, 0, 8, 0);
	while (taken(p) == 0)
		p->now_ns += 100, pair_turn(p, 0), pair_turn(p, 1);
	roce_qp_modify(d->shard, d->q[0].qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
	while (!(d->events & LAST) && ++turns < 100)
		pair_turn(p, 1);
	cr_assert(turns > 0 && turns < 100);
	for (unsigned i = 0; i < 2048; i++)
		pair_expect(p, 1, 100 + i, NDSH_WC_FLUSH_ERR);
	e = pair_expect(p, 1, 1, NDSH_WC_FLUSH_ERR);
	cr_assert_eq(e.op, NDSH_OP_RECV);
	pair_expect_none(p, 1);
	pair_free(p);
}

/* Also without having taken any: checks W-EVT-02[2]. */
Test(srq, W_EVT_02_told_without_a_receive_taken)
{
	struct pair *p = srq_pair();

	roce_qp_modify(p->side[1].shard, p->side[1].q[2].qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
	pair_turn(p, 1);
	cr_assert(p->side[1].events & LAST);
	pair_free(p);
}

/* checks W-EVT-01[1,2,3]: ---- the limit ---- */
Test(srq, W_EVT_01_limit_fires_once_below_it)
{
	struct pair *p = srq_pair();

	for (unsigned i = 0; i < 6; i++)
		pair_recv(p, 1, 0, i, 0, 64);
	roce_srq_arm(p->side[1].shard, p->side[1].srq, 4);
	for (unsigned i = 0; i < 6; i++) {
		pair_send(p, 0, 0, i, 0, 64, 0);
		cr_assert(pair_run(p, LONG));
		cr_assert_eq((p->side[1].events & LIMIT) != 0, i == 2, "%u are left", 5 - i);
		p->side[1].events = 0;
	}
	pair_free(p);
}

/* checks W-EVT-01[4] */
Test(srq, W_EVT_01_armed_below_the_limit_fires_at_once)
{
	struct pair *p = srq_pair();

	pair_recv(p, 1, 0, 1, 0, 64);
	roce_srq_arm(p->side[1].shard, p->side[1].srq, 1);
	pair_turn(p, 1);
	cr_assert_not(p->side[1].events & LIMIT);
	roce_srq_arm(p->side[1].shard, p->side[1].srq, 2);
	pair_turn(p, 1);
	cr_assert(p->side[1].events & LIMIT);
	cr_assert_eq(p->side[1].last_event.srq, p->side[1].srq);
	cr_assert_eq(p->side[1].last_event.owner, &p->side[1]);
	pair_free(p);
}

/* ---- objects ---- */

Test(srq, used_ones_stay_and_domains_do_not_mix)
{
	struct pair *p = srq_pair();
	struct pair_side *d = &p->side[1];
	uint32_t other = roce_pd_create(d->shard);
	void *block = d->q[0].block;

	cr_assert_not(roce_srq_destroy(d->shard, d->srq));
	cr_assert_not(roce_pd_destroy(d->shard, d->pd));
	cr_assert_null(
		roce_srq_create(d->shard, NULL, d->pd, d->srq_page, DEPTH, 16, d), "max_srqs");
	cr_assert_null(roce_qp_create(d->shard, &(struct roce_qp_cfg){.pd = other,
							.send_cq = d->cq,
							.recv_cq = d->cq,
							.srq = d->srq,
							.shared = block,
							.dims = d->dims}));
	cr_assert(roce_pd_destroy(d->shard, other));
	pair_free(p);
}

/*
 * For each limit and number of receives: told once, when fewer than the limit are there, at the
 * moment of arming or later; a limit of 0 is none. checks W-EVT-01[1-4]
 */
Test(srq, W_EVT_01_each_limit)
{
	enum { ENTRIES = 8 };

	for (unsigned posted = 0; posted <= ENTRIES; posted++)
		for (unsigned limit = 0; limit <= ENTRIES + 2; limit++) {
			struct pair *p = pair_new(&(struct pair_opts){.srq_depth = ENTRIES});
			struct pair_side *d = &p->side[1];
			struct ndsh_cqe c;
			unsigned told = 0;

			for (unsigned i = 0; i < posted; i++)
				pair_recv(p, 1, 0, i, 0, 64);
			roce_srq_arm(d->shard, d->srq, limit);
			for (unsigned taken = 0; taken <= posted; taken++) {
				d->events = 0;
				if (taken > 0) {
					pair_send(p, 0, 0, 100, 0, 8, 0);
					cr_assert(pair_run(p, LONG));
					while (pair_poll(p, 1, &c))
						;
				} else {
					pair_turn(p, 1);
				}
				if (limit > 0 && posted - taken < limit && told == 0) {
					cr_assert(d->events & 1u << ROCE_EV_SRQ_LIMIT,
						"%u of %u, %u", taken, posted, limit);
					told++;
				} else {
					cr_assert_not(d->events & 1u << ROCE_EV_SRQ_LIMIT);
				}
			}
			pair_free(p);
		}
}
