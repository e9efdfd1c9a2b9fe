/* SPDX-License-Identifier: BSD-3-Clause */
/* The pools of requests in flight and of their extensions, and what happens when they run dry. */
#include <criterion/criterion.h>

#include "rigs/engine_pair.h"

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
