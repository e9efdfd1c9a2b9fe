/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a queue pair: what was posted is flushed, in order and within bounds. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rigs/engine_pair.h"
#include "rigs/faults.h"

#define LONG UINT64_C(1000000000)

/* checks R-FL-04, R-ORD-03, W-QP-02 */
Test(qp_error, W_ERR_03_modify_flushes_both_queues_in_order)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_qp *qp = p->side[0].q[0].qp;
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
	for (unsigned i = 0; i < 200; i++) /* silent ones too: failure is never silent */
		pair_expect(p, 0, i, NDSH_WC_FLUSH_ERR);
	for (unsigned i = 0; i < 200; i++)
		pair_expect(p, 0, 1000 + i, NDSH_WC_FLUSH_ERR);
	cr_assert_eq(roce_qp_state_get(qp), ROCE_QPS_ERR);
	cr_assert_eq(roce_qp_reason(qp), ROCE_REASON_MODIFY);
	/* What is posted afterwards. */
	pair_recv(p, 0, 0, 2000, 0, 8);
	roce_qp_doorbell(p->side[0].shard, qp);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 2000, NDSH_WC_FLUSH_ERR);
	pair_free(p);
}

Test(qp_error, a_deep_flush_takes_several_turns)
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

/* checks R-DISC-12: flushed to the end, a queue pair leaves all its entries behind. */
Test(qp_error, a_deep_queue_is_flushed_before_it_is_destroyed)
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

Test(qp_error, a_descriptor_that_breaks_the_contract)
{
	struct pair *p = pair_new(&(struct pair_opts){0});

	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_post(p, 0, 0, &(struct ndsh_swr){.ctrl = NDSH_CTRL(77, 0, 0, 0)}, NULL, NULL);
	pair_run(p, 1000000);
	cr_assert(p->side[0].events & 1u << ROCE_EV_CLIENT_BREACH);
	cr_assert_eq(roce_qp_reason(p->side[0].q[0].qp), ROCE_REASON_CLIENT_BREACH);
	pair_free(p);
}
