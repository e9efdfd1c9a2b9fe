/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a receive: from a descriptor in the ring, read once, to its completion. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/engine_pair.h"
#include "roce/qp/qp.h"
#include "roce/queue/receive.h"
#include "roce/shard/pool.h"
#include "roce/shard/shard.h"

/* What the client writes into the ring after the receive was taken changes nothing. */
Test(receive, a_descriptor_is_read_once)
{
	static const uint32_t lists[] = {0, 1, 4, 5, 16};

	for (unsigned i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct pair *p = pair_new(&(struct pair_opts){0});
		struct roce_shard *s = p->side[0].shard;
		struct roce_qp *qp = p->side[0].q[0].qp;
		struct ndsh_rq *rq = &p->side[0].q[0].rq;
		const uint32_t n = lists[i], exts = s->exts_left;
		struct ndsh_sge sge[16];
		struct roce_wqe *w;

		for (uint32_t k = 0; k < n; k++)
			sge[k] = pair_sge(p, 0, k * 128, 100 + k);
		ndsh_rq_push(rq, 77, sge, n);
		cr_assert_eq(roce_receive_take(s, qp), NDSH_FETCH_OK);
		memset(p->side[0].q[0].rq.ring, 0xff, sizeof(*rq->ring));
		w = qp->rx_wqe;
		cr_assert_not_null(w);
		cr_expect_eq(w->context, 77);
		cr_expect_eq(w->op, NDSH_OP_RECV);
		cr_expect_eq(w->num_sge, n);
		cr_expect_eq(w->bytes, n * 100 + n * (n - 1) / 2);
		cr_expect_eq(w->ext != NULL, n > ROCE_WQE_SGE);
		cr_expect_eq(s->exts_left, exts - (n > ROCE_WQE_SGE));
		for (uint32_t k = 0; k < n; k++) {
			cr_expect_eq(roce_wqe_sge(w)[k].addr, sge[k].addr);
			cr_expect_eq(roce_wqe_sge(w)[k].len, 100 + k);
		}
		roce_receive_fail(s, qp, NDSH_WC_FLUSH_ERR);
		cr_expect_eq(s->exts_left, exts);
		pair_free(p);
	}
}

/* Room is at most the longest message, whatever the sum of the list. */
Test(receive, room_is_at_most_the_longest_message)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_shard *s = p->side[0].shard;
	struct roce_qp *qp = p->side[0].q[0].qp;
	const struct ndsh_sge sge[2] = {{.len = 0xffffffff}, {.len = 0xffffffff}};

	ndsh_rq_push(&p->side[0].q[0].rq, 1, sge, 2);
	cr_assert_eq(roce_receive_take(s, qp), NDSH_FETCH_OK);
	cr_expect_eq(qp->rx_wqe->bytes, ROCE_MSG_MAX);
	roce_receive_fail(s, qp, NDSH_WC_FLUSH_ERR);
	pair_free(p);
}

/* ... and to the byte the sum of the list below that. */
Test(receive, room_is_the_sum_of_the_list)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_shard *s = p->side[0].shard;
	struct roce_qp *qp = p->side[0].q[0].qp;

	for (uint32_t less = 0; less < 3; less++) {
		const struct ndsh_sge sge = {.len = (uint32_t)ROCE_MSG_MAX - less};

		ndsh_rq_push(&p->side[0].q[0].rq, 1, &sge, 1);
		cr_assert_eq(roce_receive_take(s, qp), NDSH_FETCH_OK);
		cr_expect_eq(qp->rx_wqe->bytes, ROCE_MSG_MAX - less);
		roce_receive_fail(s, qp, NDSH_WC_FLUSH_ERR);
	}
	pair_free(p);
}

/* Nothing is taken, whatever the client has written. */
Test(receive, one_that_breaks_the_contract_is_not_taken)
{
	static const uint32_t wrong[] = {NDSH_CTRL(1, 0, 0, 0), NDSH_CTRL(0, 255, 0, 0),
		NDSH_CTRL(0, 0, NDSH_WRF_INLINE, 0)};

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct pair *p = pair_new(&(struct pair_opts){0});
		struct roce_shard *s = p->side[0].shard;
		struct roce_qp *qp = p->side[0].q[0].qp;

		pair_recv(p, 0, 0, 1, 0, 8);
		p->side[0].q[0].rq.ring[0].ctrl |= wrong[i];
		cr_expect_eq(roce_receive_take(s, qp), NDSH_FETCH_BROKEN);
		cr_expect_null(qp->rx_wqe);
		cr_expect_eq(roce_wqes_in_use(s), 0);
		cr_expect_eq(qp->rq.next, 0);
		pair_free(p);
	}
}

/* Without a roce_wqe or an extension nothing is taken, and the ring is as before. */
Test(receive, a_dry_pool_is_an_empty_ring)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_shard *s = p->side[0].shard;
	struct roce_qp *qp = p->side[0].q[0].qp;
	struct roce_pool *wqes = &s->pool[ROCE_POOL_WQES], *exts = &s->pool[ROCE_POOL_EXTS];
	const int32_t left[] = {wqes->shared, exts->shared};
	const uint32_t next = qp->rq.next;
	struct ndsh_sge sge[5] = {0};

	cr_assert_eq(roce_receive_take(s, qp), NDSH_FETCH_EMPTY);
	cr_assert_eq(s->count.wqe_pool_empty, 0, "nothing was posted");
	ndsh_rq_push(&p->side[0].q[0].rq, 5, sge, 5);
	wqes->shared = 0;
	cr_expect_eq(roce_receive_take(s, qp), NDSH_FETCH_EMPTY);
	wqes->shared = left[0];
	exts->shared = 0;
	cr_expect_eq(roce_receive_take(s, qp), NDSH_FETCH_EMPTY);
	exts->shared = left[1];
	cr_expect_eq(s->count.wqe_pool_empty, 2);
	cr_expect_null(qp->rx_wqe);
	cr_expect_eq(qp->rq.next, next);
	cr_assert_eq(roce_receive_take(s, qp), NDSH_FETCH_OK);
	cr_expect_eq(qp->rx_wqe->context, 5);
	roce_receive_fail(s, qp, NDSH_WC_FLUSH_ERR);
	pair_free(p);
}

/* A receive that fails says why, gives its slot back, and leaves nothing behind. */
Test(receive, one_that_fails_completes_and_frees_its_slot)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_shard *s = p->side[0].shard;
	struct roce_qp *qp = p->side[0].q[0].qp;
	const struct ndsh_qp_page *page = p->side[0].q[0].block;
	struct ndsh_cqe c;

	for (unsigned i = 0; i < 3; i++) {
		pair_recv(p, 0, 0, 100 + i, 0, 8);
		cr_assert_eq(roce_receive_take(s, qp), NDSH_FETCH_OK);
		cr_expect_eq(roce_wqes_in_use(s), 1);
		cr_expect_eq(page->rq_done, i);
		qp->reason = ROCE_REASON_MODIFY;
		roce_receive_fail(s, qp, NDSH_WC_LOC_LEN_ERR);
		cr_expect_null(qp->rx_wqe);
		cr_expect_eq(roce_wqes_in_use(s), 0);
		cr_expect_eq(page->rq_done, i + 1);
		roce_shard_publish(s);
		c = pair_expect(p, 0, 100 + i, NDSH_WC_LOC_LEN_ERR);
		cr_expect_eq(c.op, NDSH_OP_RECV);
		cr_expect_eq(c.slot_count, i + 1);
		cr_expect_eq(c.syndrome, ROCE_REASON_MODIFY);
		cr_expect_eq(c.bytes, 0);
	}
	qp->reason = 0;
	pair_free(p);
}
