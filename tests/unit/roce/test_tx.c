/* SPDX-License-Identifier: BSD-3-Clause */
/* What leaves next: congestion notifications, acknowledgements, then queue pairs in turns. */
#include <criterion/criterion.h>

#include "rigs/overheard.h"

#define MTU	  256u
#define PAIR_LONG UINT64_C(100000000000)

/* One with endless work does not keep the others waiting. */
Test(tx, queue_pairs_take_turns)
{
	struct pair *p =
		watched_pair(&(struct pair_opts){.qps = 8, .mtu = MTU, .window = 4096}, true);
	unsigned last = 0;

	pair_write(p, 0, 0, 1, 0, 0, MTU * 3000, 0);
	for (unsigned i = 1; i < 8; i++)
		pair_write(p, 0, i, 1, 0, 0, 8, 0);
	pair_turn(p, 0);
	for (unsigned i = 0; i < watched.n; i++)
		if (watched.pkt[i].qpn != roce_qp_num(p->side[1].q[0].qp))
			last = i;
	cr_assert_lt(last, 64);
	cr_assert_gt(watched.n, 3000);
	pair_free(p);
}
