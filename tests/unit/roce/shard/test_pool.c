/* SPDX-License-Identifier: BSD-3-Clause */
/* The pools of requests in flight and of their extensions, and what happens when they run dry. */
#include <criterion/criterion.h>

#include "rigs/dropped.h"
#include "rigs/engine_pair.h"
#include "rigs/faults.h"
#include "roce/qp/qp.h"
#include "roce/queue/wqe.h"
#include "roce/shard/pool.h"
#include "roce/shard/shard.h"

/* Both pools are small here, and every request and receive wants of both. */
Test(pool, long_lists_with_a_dry_pool)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 4, .max_wqes = 16, .mtu = 256});
	struct ndsh_cqe c;
	struct ndsh_sge sge[16];
	unsigned sends[2][4] = {0}, recvs[2][4] = {0};

	for (unsigned n = 0; n < 32; n++)
		for (unsigned i = 0; i < 8; i++) {
			const struct ndsh_swr wr = {
				.context = n, .ctrl = NDSH_CTRL(NDSH_OP_SEND, 16, 0, 0)};

			for (unsigned k = 0; k < 16; k++)
				sge[k] = pair_sge(p, i / 4, (PAIR_ARENA / 2) + k * 64, 64);
			ndsh_rq_push(&p->side[i / 4].q[i % 4].rq, n, sge, 16);
			for (unsigned k = 0; k < 16; k++)
				sge[k] = pair_sge(p, i / 4, k * 64, 64);
			pair_post(p, i / 4, i % 4, &wr, sge, NULL);
		}
	cr_assert(pair_run(p, PAIR_LONG));
	for (unsigned side = 0; side < 2; side++)
		while (pair_poll(p, side, &c)) {
			cr_assert_eq(c.status, NDSH_WC_SUCCESS);
			if (c.op == NDSH_OP_RECV)
				cr_assert_eq(c.context, recvs[side][c.qp]++);
			else
				cr_assert_eq(c.context, sends[side][c.qp]++);
		}
	for (unsigned i = 0; i < 8; i++)
		cr_assert(sends[i / 4][i % 4] == 32 && recvs[i / 4][i % 4] == 32);
	pair_free(p);
}

/* Requests that are not acknowledged take all that requests may have, and not one more: a receive
 * finds one, also one with a long list; the smallest pool has two short ones at once. */
static void
receives_go_on(uint32_t max_wqes, uint32_t num_sge, unsigned at_once)
{
	struct pair *p = pair_new(
		&(struct pair_opts){.qps = 4, .max_wqes = max_wqes, .window = 4096, .mtu = 256});
	struct ndsh_sge sge[16];
	unsigned mute = 0;

	for (unsigned k = 0; k < 16; k++)
		sge[k] = pair_sge(p, 0, k * 64, 16);
	p->tap = fault_tap_mute;
	p->tap_ctx = &mute;
	for (unsigned i = 0; i < 4; i++)
		for (unsigned n = 0; n < max_wqes; n++)
			pair_post(p, 0, i,
				&(struct ndsh_swr){.context = n,
					.raddr = PAIR_VA,
					.rkey = p->side[1].key,
					.ctrl = NDSH_CTRL(NDSH_OP_WRITE, num_sge, 0, 0)},
				sge, NULL);
	while (pair_turn(p, 0) > 0)
		;
	cr_assert_not(roce_wqe_is_left(p->side[0].shard, &p->side[0].shard->own, ROCE_SIDE_SEND) &&
		      roce_ext_is_left(p->side[0].shard, &p->side[0].shard->own, ROCE_SIDE_SEND));
	cr_assert_lt(p->sent[0], 4 * max_wqes);
	cr_assert_gt(pair_count(p, 0)->wqe_pool_empty, 0);
	/* At the same time: a receive is in use until the last packet of its message. */
	for (unsigned k = 0; k < num_sge; k++)
		sge[k].len = 256;
	for (unsigned i = 0; i < at_once; i++)
		ndsh_rq_push(&p->side[0].q[i].rq, i, sge, num_sge);
	for (unsigned i = 0; i < at_once; i++) {
		static const uint8_t payload[256];

		pair_inject(p, 0, i,
			&(struct roce_pkt){.opcode = ROCE_SEND_FIRST,
				.qpn = roce_qp_num(p->side[0].q[i].qp),
				.psn = p->opts.sq_psn[1],
				.pkey = ROCE_PKEY_DEFAULT,
				.payload_bytes = 256},
			payload);
		pair_turn(p, 0);
		cr_assert_not_null(p->side[0].q[i].qp->rx_wqe, "receive %u", i);
	}
	cr_assert_eq(pair_count(p, 0)->tx_rnr, 0);
	pair_free(p);
}

Test(pool, requests_leave_some_for_receives)
{
	static const uint32_t sizes[] = {16, 24, 100, 256};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		receives_go_on(sizes[i], 1, 2);
		receives_go_on(sizes[i], 16, 1);
	}
}

/* What was taken is given back: as often as one likes, in any order. */
Test(pool, nothing_is_lost)
{
	struct pair *p = pair_new(&(struct pair_opts){.max_wqes = 16, .rq_depth = 16});
	struct roce_shard *s = p->side[0].shard;
	struct roce_wqe *w[14];
	uint32_t exts = s->exts_left;
	struct roce_usage u;

	for (unsigned round = 0; round < 50; round++) {
		for (unsigned i = 0; i < 14; i++) {
			cr_assert(roce_wqe_is_left(s, &s->own, ROCE_SIDE_SEND));
			w[i] = roce_wqe_for_probe(s, &s->own);
			cr_assert_not_null(w[i]);
			cr_assert_null(w[i]->ext);
			for (unsigned k = 0; k < i; k++)
				cr_assert_neq(w[k], w[i]);
		}
		cr_assert_not(roce_wqe_is_left(s, &s->own, ROCE_SIDE_SEND), "two are for receives");
		roce_shard_usage(s, &u);
		cr_assert_eq(u.wqes, 14);
		for (unsigned i = 0; i < 14; i++)
			roce_wqe_free(s, &s->own, ROCE_SIDE_SEND, w[(i * 5 + round) % 14]);
	}
	roce_shard_usage(s, &u);
	cr_assert_eq(u.wqes, 0);
	cr_assert_eq(s->exts_left, exts);
	pair_free(p);
}

/* What is dropped while an earlier lot is not free yet is freed as well, and so is that lot. */
Test(pool, all_that_is_dropped_is_freed)
{
	struct pair *p = pair_new(&(struct pair_opts){.max_wqes = 4096});
	struct roce_shard *s = p->side[0].shard;

	for (unsigned round = 0; round < 5; round++) {
		drop_requests(s, 1000);
		drop_requests(s, 10);
		drop_requests(s, 1000);
		cr_assert_gt(roce_wqes_in_use(s), 0, "not all at once");
		while (roce_wqes_drop_some(s))
			;
		cr_assert_eq(roce_wqes_in_use(s), 0);
	}
	pair_free(p);
}
