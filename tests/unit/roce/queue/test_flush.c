/* SPDX-License-Identifier: BSD-3-Clause */
/* Flushing: what was posted completes in order, within the bounds of a turn. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rigs/engine_pair.h"
#include "rigs/faults.h"
#include "roce/qp/error.h"
#include "roce/qp/qp.h"
#include "roce/queue/cq.h"
#include "roce/queue/flush.h"
#include "roce/shard/line.h"

#define LONG UINT64_C(1000000000)

/* checks R-FL-01[1], R-FL-04[1,2], R-ORD-03[2], W-QP-02[1,2] */
Test(flush, W_ERR_03_modify_flushes_both_queues_in_order)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_qp *qp = p->side[0].q[0].qp;
	struct ndsh_cqe c;
	unsigned mute = 0;

	p->tap = fault_tap_mute;
	p->tap_ctx = &mute;
	for (unsigned i = 0; i < 200; i++) {
		pair_recv(p, 0, 0, 1000 + i, 0, 8);
		pair_write(p, 0, 0, i, 0, 0, 8, NDSH_WRF_SILENT);
	}
	pair_turn(p, 0);
	roce_qp_modify(p->side[0].shard, qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
	pair_turn(p, 0);
	for (unsigned i = 0; i < 200; i++) { /* silent ones too: failure is never silent */
		c = pair_expect(p, 0, i, NDSH_WC_FLUSH_ERR);
		cr_assert_eq(c.syndrome, ROCE_REASON_MODIFY, "sent or not, it tells why");
	}
	for (unsigned i = 0; i < 200; i++) {
		c = pair_expect(p, 0, 1000 + i, NDSH_WC_FLUSH_ERR);
		cr_assert_eq(c.syndrome, ROCE_REASON_MODIFY);
	}
	cr_assert_eq(roce_qp_state_get(qp), ROCE_QPS_ERR);
	cr_assert_eq(roce_qp_reason(qp), ROCE_REASON_MODIFY);
	/* What is posted afterwards. */
	pair_recv(p, 0, 0, 2000, 0, 8);
	roce_qp_doorbell(p->side[0].shard, NULL, qp);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 2000, NDSH_WC_FLUSH_ERR);
	pair_free(p);
}

Test(flush, a_deep_flush_takes_several_turns)
{
	struct pair *p = pair_new(
		&(struct pair_opts){.sq_depth = 4096, .rq_depth = 4096, .cq_depth = 16384});
	struct roce_qp *qp = p->side[0].q[0].qp;
	struct ndsh_cqe c;
	unsigned got = 0, turns = 0, recvs = 0;

	for (unsigned i = 0; i < 4096; i++)
		pair_recv(p, 0, 0, i, 0, 8);
	roce_qp_modify(p->side[0].shard, qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
	cr_assert_not(roce_shard_rest(p->side[0].shard), "not before all is flushed");
	while (recvs < 4096 && turns++ < 100) {
		for (got = 0; pair_poll(p, 0, &c); got++)
			cr_assert_eq(c.context, recvs++);
		cr_assert_leq(got, 2048);
		pair_turn(p, 0);
	}
	cr_assert_eq(recvs, 4096);
	cr_assert_gt(turns, 2);
	pair_free(p);
}

/* checks R-DISC-12[3]: flushed to the end, a queue pair leaves all its entries behind. */
Test(flush, a_deep_queue_is_flushed_before_it_is_destroyed)
{
	struct pair *p = pair_new(&(struct pair_opts){
		.qps = 2, .sq_depth = 4096, .rq_depth = 4096, .cq_depth = 16384});
	struct roce_shard *s = p->side[0].shard;
	struct roce_qp *qp = p->side[0].q[1].qp;
	struct ndsh_cqe c;
	unsigned portions = 1, sends = 0, recvs = 0, mute = 0;

	p->tap = fault_tap_mute;
	p->tap_ctx = &mute;
	for (unsigned i = 0; i < 4096; i++) {
		pair_recv(p, 0, 1, i, 0, 8);
		pair_write(p, 0, 1, i, 0, 0, 8, NDSH_WRF_SILENT);
	}
	pair_turn(p, 0);
	roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
	for (; !roce_qp_flush(s, qp); portions++)
		cr_assert_lt(portions, 100);
	cr_assert_gt(portions, 2);
	p->opts.qps = 1;
	roce_qp_destroy(s, qp);
	free(p->side[0].q[1].block);
	pair_turn(p, 0);
	while (pair_poll(p, 0, &c)) {
		cr_assert_eq(c.status, NDSH_WC_FLUSH_ERR);
		cr_assert_eq(c.context, c.op == NDSH_OP_RECV ? recvs++ : sends++);
	}
	cr_assert_eq(sends, 4096);
	cr_assert_eq(recvs, 4096);
	roce_qp_destroy(p->side[1].shard, p->side[1].q[1].qp);
	free(p->side[1].q[1].block);
	pair_free(p);
}

/* At most 512 requests in a call, whichever queue they are in; what is left is flushed by the next
 * ones, however many that is. */
Test(flush, a_call_has_a_bound_and_the_last_one_an_end)
{
	for (unsigned sends = 0; sends <= 600; sends += 300)
		for (unsigned n = 1020; n < 1028; n++) {
			struct pair *p = pair_new(&(struct pair_opts){
				.qps = 2, .sq_depth = 1024, .rq_depth = 2048, .cq_depth = 4096});
			struct roce_shard *s = p->side[0].shard;
			struct roce_qp *qp = p->side[0].q[0].qp;
			unsigned calls = 0, got = 0, all = 0;
			struct ndsh_cqe c;

			for (unsigned i = 0; i < sends; i++)
				pair_write(p, 0, 0, i, 0, 0, 8, 0);
			for (unsigned i = sends; i < n; i++)
				pair_recv(p, 0, 0, i, 0, 8);
			roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
			roce_qp_modify(s, p->side[0].q[1].qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
			for (bool done = false; !done; all += got, calls++) {
				for (got = 0; pair_poll(p, 0, &c); got++)
					cr_assert_eq(c.status, NDSH_WC_FLUSH_ERR);
				cr_assert_leq(got, calls == 0 ? 1024 : 512);
				cr_assert_leq(calls, 3);
				done = roce_qp_flush(s, qp);
			}
			for (; pair_poll(p, 0, &c); all++)
				;
			cr_assert_eq(all, n);
			(void)pair_turn(p, 0);
			cr_assert(roce_shard_rest(s));
			pair_free(p);
		}
}

/* So many queue pairs in ERR, with so many receives each; a turn flushes what it may. Returns in
 * how many there is nothing left to do. */
static unsigned
flushed_in_a_turn(struct pair *p, unsigned qps, unsigned receives)
{
	unsigned done = 0;

	for (unsigned i = 0; i < qps; i++) {
		for (unsigned n = 0; n < receives; n++)
			pair_recv(p, 0, i, n, 0, 8);
		roce_qp_error(p->side[0].shard, p->side[0].q[i].qp, ROCE_REASON_MODIFY, 0);
	}
	cr_assert(roce_flush_list(p->side[0].shard));
	for (unsigned i = 0; i < qps; i++)
		done += !base_linked(&p->side[0].q[i].qp->flush_link);
	return done;
}

/* Two with deep queues have the same part of a turn. */
Test(flush, queue_pairs_take_turns)
{
	struct pair *p =
		pair_new(&(struct pair_opts){.qps = 2, .rq_depth = 1024, .cq_depth = 4096});

	cr_expect_eq(flushed_in_a_turn(p, 2, 600), 0);
	for (unsigned i = 0; i < 2; i++)
		cr_expect_eq(p->side[0].q[i].qp->rq_done, 256, "queue pair %u", i);
	pair_free(p);
}

/* What one does not need of its part is for the next ones; and one that needs nothing costs, too,
 * so a turn has an end. */
Test(flush, a_turn_is_for_many_small_ones)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 100, .cq_depth = 4096});

	cr_expect_eq(flushed_in_a_turn(p, 100, 1), 100);
	pair_free(p);
	p = pair_new(&(struct pair_opts){.rq_depth = 256, .cq_depth = 4096});
	cr_expect_eq(flushed_in_a_turn(p, 1, 63), 1, "what fits into a part is one");
	pair_free(p);
	p = pair_new(&(struct pair_opts){.qps = 600, .max_qps = 601, .cq_depth = 4096});
	cr_expect_eq(flushed_in_a_turn(p, 600, 0), 512);
	pair_free(p);
}

/* What is posted to a queue pair that is not in error stays, although a flush is asked for. */
Test(flush, a_live_queue_pair_has_nothing_to_flush)
{
	struct pair *p = pair_new(&(struct pair_opts){0});

	pair_recv(p, 0, 0, 1, 0, 8);
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	cr_assert(roce_qp_flush(p->side[0].shard, p->side[0].q[0].qp));
	pair_expect_none(p, 0);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	pair_send(p, 1, 0, 3, 0, 8, 0);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* A descriptor that breaks the contract is found by the flush at the latest, and the host is told;
 * what stands behind it means nothing any more. */
Test(flush, a_broken_descriptor_is_a_breach_there_as_well)
{
	for (unsigned recv = 0; recv < 2; recv++) {
		struct pair *p = pair_new(&(struct pair_opts){0});
		struct pair_side *d = &p->side[0];

		for (unsigned i = 0; i < 3; i++) {
			pair_recv(p, 0, 0, 100 + i, 0, 8);
			pair_write(p, 0, 0, i, 0, 0, 8, 0);
		}
		if (recv)
			d->q[0].rq.ring[1].ctrl |= NDSH_CTRL(NDSH_OP_WRITE, 0, 0, 0);
		else
			d->q[0].sq.ring[1].ctrl |= NDSH_CTRL(255, 0, 0, 0);
		roce_qp_modify(d->shard, d->q[0].qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
		(void)pair_turn(p, 0);
		cr_assert_eq(d->events, 1u << ROCE_EV_CLIENT_BREACH);
		for (unsigned i = 0; i < (recv ? 3 : 1); i++)
			pair_expect(p, 0, i, NDSH_WC_FLUSH_ERR);
		for (unsigned i = 0; i < (recv ? 1 : 3); i++)
			pair_expect(p, 0, 100 + i, NDSH_WC_FLUSH_ERR);
		pair_expect_none(p, 0);
		pair_free(p);
	}
}

/* A queue pair is in the list once, and each of its completion queues counts it once for each side;
 * it may leave at any time. */
Test(flush, joined_once_and_left_at_any_time)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 2});
	struct roce_shard *s = p->side[0].shard;
	struct roce_qp *a = p->side[0].q[0].qp, *b = p->side[0].q[1].qp;
	const struct roce_cq *cq = p->side[0].cq;

	roce_flush_leave(a);
	cr_expect_eq(cq->flushing, 0);
	roce_flush_join(s, a);
	roce_flush_join(s, a);
	cr_expect_eq(cq->flushing, 2, "the queue serves both sides");
	roce_flush_join(s, b);
	cr_expect_eq(cq->flushing, 4);
	cr_expect_eq(roce_line_next(s, ROCE_LINE_FLUSH), &a->flush_link);
	roce_flush_leave(a);
	roce_flush_leave(a);
	cr_expect_eq(cq->flushing, 2);
	cr_expect_eq(roce_line_next(s, ROCE_LINE_FLUSH), &b->flush_link);
	roce_flush_leave(b);
	cr_expect_eq(cq->flushing, 0);
	cr_expect_not(roce_flush_some(s), "nothing to flush");
	pair_free(p);
}
