/* SPDX-License-Identifier: BSD-3-Clause */
/* Doorbells: queue pairs whose clients rang, in line until they may send. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rigs/many_qps.h"

#define REST_NS UINT64_C(200000)

/* More ring in each turn than it has room for, and one has a long message under way. */
Test(doorbell, who_has_more_to_send_and_who_rings_take_turns)
{
	enum { ROOM = 4, TURNS = 20, LONG = 1024 * ROOM * TURNS };
	static uint8_t room[ROOM][ROCE_FRAME_MAX];
	struct pair *p = many_new();
	struct roce_tx_slot slot[ROOM];
	unsigned of_it = 0, n = 0;

	many_go_on(p, REST_NS);
	pair_write(p, 0, 0, 0, 0, MANY_AT, LONG, 0);
	for (unsigned turn = 0; turn < TURNS; turn++) {
		for (unsigned i = 0; i < 2 * ROOM; i++)
			pair_write(p, 0, ++n, 0, 0, MANY_AT, 8, 0);
		for (unsigned i = 0; i < ROOM; i++)
			slot[i].buf = room[i];
		cr_assert_eq(roce_shard_tx(p->side[0].shard, p->now_ns, slot, ROOM), ROOM);
		for (unsigned i = 0; i < ROOM; i++)
			of_it += slot[i].len > 1024;
	}
	cr_assert_gt(of_it, ROOM * TURNS / 4);
	cr_assert_lt(of_it, ROOM * TURNS * 7 / 8);
	pair_free(p);
}

/* Their clients' memory is gone as well; under address sanitizer who looks there is caught. */
Test(doorbell, who_rang_and_is_gone_is_passed_over)
{
	struct pair *p = many_new();

	many_go_on(p, REST_NS);
	many_write(p);
	for (unsigned i = MANY_QPS / 2; i < MANY_QPS; i++)
		for (unsigned side = 0; side < 2; side++) {
			roce_qp_destroy(p->side[side].shard, p->side[side].q[i].qp);
			free(p->side[side].q[i].block);
		}
	p->opts.qps = MANY_QPS / 2;
	many_go_on(p, REST_NS);
	cr_assert_eq(many_completions(p), MANY_QPS / 2);
	cr_assert(roce_shard_rest(p->side[0].shard));
	pair_free(p);
}
