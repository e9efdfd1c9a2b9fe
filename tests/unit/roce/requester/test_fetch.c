/* SPDX-License-Identifier: BSD-3-Clause */
/* From a descriptor in the send ring to a request of the shard's own. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/engine_pair.h"
#include "roce/qp/qp.h"
#include "roce/requester/fetch.h"
#include "roce/shard/pool.h"
#include "roce/shard/shard.h"

/* checks W-REQ-07[5] */
Test(fetch, a_descriptor_that_breaks_the_contract)
{
	struct pair *p = pair_new(&(struct pair_opts){0});

	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_post(p, 0, 0, &(struct ndsh_swr){.ctrl = NDSH_CTRL(77, 0, 0, 0)}, NULL, NULL);
	pair_run(p, 1000000);
	cr_assert(p->side[0].events & 1u << ROCE_EV_CLIENT_BREACH);
	cr_assert_eq(roce_qp_reason(p->side[0].q[0].qp), ROCE_REASON_CLIENT_BREACH);
	pair_free(p);
}

/* Each value of a descriptor comes along, and is read once: the ring may change afterwards. */
Test(fetch, all_of_a_descriptor_read_once)
{
	static const uint32_t lists[] = {0, 1, 4, 5, 16};

	for (unsigned i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct pair *p = pair_new(&(struct pair_opts){0});
		struct roce_shard *s = p->side[0].shard;
		struct roce_qp *qp = p->side[0].q[0].qp;
		const uint32_t n = lists[i], exts = s->exts_left;
		struct ndsh_sge sge[16];
		const struct ndsh_swr wr = {.context = 0x1122334455667788,
			.raddr = 0x99,
			.rkey = 0x77,
			.imm = 0x55,
			.ctrl = NDSH_CTRL(NDSH_OP_WRITE_IMM, n, NDSH_WRF_FENCE, 0)};
		struct roce_wqe *w;

		for (uint32_t k = 0; k < n; k++)
			sge[k] = pair_sge(p, 0, k * 128, 10 + k);
		pair_post(p, 0, 0, &wr, sge, NULL);
		w = roce_wqe_fetch(s, qp);
		cr_assert_not_null(w);
		memset(p->side[0].q[0].sq.ring, 0, sizeof(wr));
		cr_expect_eq(w->context, wr.context);
		cr_expect_eq(w->raddr, 0x99);
		cr_expect_eq(w->rkey, 0x77);
		cr_expect_eq(w->imm, 0x55);
		cr_expect_eq(w->op, NDSH_OP_WRITE_IMM);
		cr_expect_eq(w->flags, NDSH_WRF_FENCE);
		cr_expect_eq(w->num_sge, n);
		cr_expect_eq(w->bytes, n * 10 + n * (n - 1) / 2);
		cr_expect_eq(w->bits, 0);
		cr_expect_eq(w->fault, NDSH_WC_SUCCESS);
		cr_expect_eq(w->ext != NULL, n > ROCE_WQE_SGE);
		cr_expect_eq(s->exts_left, exts - (n > ROCE_WQE_SGE));
		for (uint32_t k = 0; k < n; k++)
			cr_expect_eq(roce_wqe_sge(w)[k].addr, sge[k].addr);
		cr_expect_null(roce_wqe_fetch(s, qp), "that was all");
		roce_wqe_free(s, &s->own, ROCE_SIDE_SEND, w);
		pair_free(p);
	}
}

/* checks R-POST-09[3]: inline data of every length are the shard's own from then on. */
Test(fetch, r_post_09_inline_data_by_length)
{
	static const uint32_t lengths[] = {0, 1, 7, 8, 63, 64, 65, 128, 256};
	uint8_t data[256];

	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i + 1);
	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct pair *p = pair_new(&(struct pair_opts){0});
		struct roce_shard *s = p->side[0].shard;
		const struct ndsh_swr wr = {.inline_bytes = lengths[i],
			.ctrl = NDSH_CTRL(NDSH_OP_SEND, 0, NDSH_WRF_INLINE, 0)};
		struct roce_wqe *w;

		pair_post(p, 0, 0, &wr, NULL, data);
		w = roce_wqe_fetch(s, p->side[0].q[0].qp);
		cr_assert_not_null(w, "%u bytes", lengths[i]);
		memset(p->side[0].q[0].sq.inl, 0, NDSH_INLINE_MAX);
		cr_expect_eq(w->bytes, lengths[i]);
		cr_expect_eq(w->num_sge, 0);
		cr_expect_eq(w->ext != NULL, lengths[i] > ROCE_WQE_INLINE);
		cr_expect_arr_eq(roce_wqe_inline(w), data, lengths[i]);
		roce_wqe_free(s, &s->own, ROCE_SIDE_SEND, w);
		pair_free(p);
	}
}

/* A dry pool: a queue pair with something to send waits in the list, once; one without does not. */
Test(fetch, a_queue_pair_without_a_wqe_waits_for_one)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_shard *s = p->side[0].shard;
	struct roce_qp *qp = p->side[0].q[0].qp;
	const int32_t shared = s->pool[ROCE_POOL_WQES].shared;

	s->pool[ROCE_POOL_WQES].shared = 0;
	cr_assert_null(roce_wqe_fetch(s, qp));
	cr_expect_eq(s->count.wqe_pool_empty, 0);
	cr_expect(base_list_empty(&s->starving));
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	base_list_remove(&qp->tx_link);
	for (unsigned i = 1; i < 3; i++) {
		cr_assert_null(roce_wqe_fetch(s, qp));
		cr_expect_eq(s->count.wqe_pool_empty, i);
		cr_expect_eq(base_list_first(&s->own.starved[ROCE_POOL_WQES]), &qp->tx_link);
		cr_expect_eq(base_list_first(&s->starving), &s->own.starving);
		cr_expect(qp->tx_bits & ROCE_TXB_STARVED);
	}
	s->pool[ROCE_POOL_WQES].shared = shared;
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* Whichever step finds that the ring breaks the contract, no roce_wqe is lost. */
Test(fetch, a_breach_leaves_nothing_behind)
{
	static const struct ndsh_sge too_long[2] = {{.len = 0xffffffff}, {.len = 0xffffffff}};
	static const struct ndsh_swr bad[] = {
		{.ctrl = NDSH_CTRL(77, 0, 0, 0)},
		{.ctrl = NDSH_CTRL(NDSH_OP_SEND, 2, 0, 0)}, /* a message of 8 GiB */
	};

	for (unsigned i = 0; i < 2; i++) {
		struct pair *p = pair_new(&(struct pair_opts){0});
		struct roce_shard *s = p->side[0].shard;
		struct roce_qp *qp = p->side[0].q[0].qp;
		const uint32_t exts = s->exts_left;

		pair_post(p, 0, 0, &bad[i], too_long, NULL);
		cr_assert_null(roce_wqe_fetch(s, qp));
		cr_expect_eq(qp->state, ROCE_QPS_ERR);
		cr_expect_eq(qp->reason, ROCE_REASON_CLIENT_BREACH);
		cr_expect_eq(qp->syndrome, 0, "the peer has not said anything");
		for (unsigned side = 0; side < ROCE_SIDES; side++)
			cr_expect_eq(roce_share_used(&s->own.share[ROCE_POOL_WQES], side), 0);
		cr_expect_eq(s->exts_left, exts);
		cr_expect_eq(s->count.client_breaches, 1);
		pair_run(p, 1000000);
		pair_free(p);
	}
}
