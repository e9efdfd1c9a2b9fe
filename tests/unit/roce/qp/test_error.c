/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a queue pair: which reason counts, and what becomes of what is in flight. */
#include <criterion/criterion.h>

#include "rigs/engine_pair.h"
#include "rigs/faults.h"
#include "roce/qp/error.h"
#include "roce/qp/qp.h"

/* The first reason counts, and is told once; the host's own wish is not told. */
Test(qp_error, the_first_reason_counts)
{
	for (unsigned wish = 0; wish < 2; wish++) {
		struct pair *p = pair_new(&(struct pair_opts){0});
		struct roce_shard *s = p->side[0].shard;
		struct roce_qp *qp = p->side[0].q[0].qp;

		if (wish)
			roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
		else
			roce_qp_error(s, qp, ROCE_REASON_CLIENT_BREACH, 0);
		roce_qp_error(s, qp, ROCE_REASON_CQ_FATAL, 0);
		roce_qp_error(s, qp, ROCE_REASON_CLIENT_BREACH, 0);
		pair_run(p, 1000000);
		cr_expect_eq(
			roce_qp_reason(qp), wish ? ROCE_REASON_MODIFY : ROCE_REASON_CLIENT_BREACH);
		cr_expect_eq(s->count.client_breaches, !wish);
		cr_expect_eq((p->side[0].events >> ROCE_EV_QP_ERROR & 1), !wish);
		cr_expect_eq((p->side[0].events >> ROCE_EV_CLIENT_BREACH & 1), !wish);
		pair_free(p);
	}
}

/*
 * checks W-ERR-01[2,3]: the request that fails says why, those before and behind it are flushed,
 * and all of them complete in order.
 */
Test(qp_error, W_ERR_01_a_request_fails_among_others)
{
	for (unsigned at = 0; at < 4; at++) {
		struct pair *p = pair_new(&(struct pair_opts){0});
		struct roce_shard *s = p->side[0].shard;
		struct roce_qp *qp = p->side[0].q[0].qp;
		unsigned mute = 0;
		struct roce_wqe *w;

		p->tap = fault_tap_mute;
		p->tap_ctx = &mute;
		for (unsigned i = 0; i < 4; i++)
			pair_write(p, 0, 0, i, 0, 0, 8, NDSH_WRF_SILENT);
		pair_turn(p, 0);
		w = qp->wq_head;
		for (unsigned i = 0; i < at; i++)
			w = w->next;
		cr_assert_eq(w->context, at);
		roce_qp_fail_wqe(
			s, qp, w, NDSH_WC_REM_ACCESS_ERR, ROCE_REASON_NAK_REM_ACCESS, 0x62);
		cr_expect_eq(s->count.requests_failed, 1);
		pair_turn(p, 0);
		for (unsigned i = 0; i < 4; i++) {
			struct ndsh_cqe c = pair_expect(
				p, 0, i, i == at ? NDSH_WC_REM_ACCESS_ERR : NDSH_WC_FLUSH_ERR);

			cr_expect_eq(c.syndrome, i == at ? 0x62 : ROCE_REASON_NAK_REM_ACCESS);
		}
		pair_expect_none(p, 0);
		pair_run(p, 1000000);
		pair_free(p);
	}
}

/* What is stopped vanishes: no completion, nothing to send, no timer, and the pool is whole. */
Test(qp_error, what_is_stopped_vanishes)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_shard *s = p->side[0].shard;
	struct roce_qp *qp = p->side[0].q[0].qp;
	unsigned mute = 0;

	p->tap = fault_tap_mute;
	p->tap_ctx = &mute;
	for (unsigned i = 0; i < 8; i++)
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
	pair_turn(p, 0);
	cr_assert_eq(s->usage.wqes, 8);
	cr_assert(base_linked(&qp->timer_link));
	roce_qp_stop(s, qp);
	cr_expect_eq(s->usage.wqes, 0);
	cr_expect_null(qp->wq_head);
	cr_expect_not(base_linked(&qp->timer_link));
	cr_expect_not(base_linked(&qp->tx_link));
	cr_expect_not(base_linked(&qp->ack_link));
	pair_expect_none(p, 0);
	roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
	pair_free(p);
}
