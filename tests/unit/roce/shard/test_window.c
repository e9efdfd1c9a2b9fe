/* SPDX-License-Identifier: BSD-3-Clause */
/* Where receivers hold little, the queue pairs that wait for answers share what they hold. */
#include <criterion/criterion.h>

#include "rigs/engine_pair.h"
#include "rigs/overheard.h"
#include "roce/shard/shard.h"

#define MTU    256u
#define SHARED 40u
#define QPS    8u

Test(window, one_queue_pair_has_all_of_it)
{
	static const uint32_t of[][3] = {
		{64, SHARED, SHARED}, {20, SHARED, 20}, {64, 0, 64}, {64, 3, 8}};

	for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct pair *p = watched_pair(
			&(struct pair_opts){
				.mtu = MTU, .window = of[i][0], .shared_window = of[i][1]},
			true);

		pair_write(p, 0, 0, 1, 0, 0, 200 * MTU, 0);
		for (unsigned turn = 0; turn < 100; turn++)
			pair_turn(p, 0);
		cr_expect_eq(watched.n, of[i][2], "%u of %u: %u", of[i][0], of[i][1], watched.n);
		cr_expect(watched.pkt[watched.n - 1].ackreq);
		pair_free(p);
	}
}

Test(window, several_have_parts_and_give_them_back)
{
	struct pair *p = pair_new(
		&(struct pair_opts){.mtu = MTU, .window = 64, .shared_window = SHARED, .qps = QPS});
	struct roce_shard *s = p->side[0].shard;

	cr_assert_eq(s->window, SHARED);
	for (unsigned i = 0; i < QPS; i++) {
		const uint32_t part = SHARED / (i + 1);

		pair_write(p, 0, i, 1, 0, 0, MTU, 0);
		pair_turn(p, 0);
		cr_expect_eq(s->waiting, i + 1);
		cr_expect_eq(s->window, part > 8 ? part : 8, "%u: %u", i + 1, s->window);
	}
	cr_assert(pair_run(p, PAIR_LONG));
	cr_expect_eq(s->waiting, 0);
	cr_expect_eq(s->window, SHARED);
	pair_free(p);
}

/* A part that shrinks below what is in flight is no reason to wait for an answer that no packet
 * asked for: all is done before the first timer would help. */
Test(window, parts_that_shrink_stop_nobody)
{
	for (unsigned first = 1; first <= SHARED; first++) {
		struct pair *p = pair_new(&(struct pair_opts){.mtu = MTU,
			.window = 64,
			.shared_window = SHARED,
			.qps = QPS,
			.delay_ns = 5000});

		pair_write(p, 0, 0, 1, 0, 0, first * MTU, 0);
		pair_turn(p, 0);
		for (unsigned i = 0; i < QPS; i++)
			pair_write(p, 0, i, 2, 0, 0, 100 * MTU, 0);
		cr_assert(pair_run(p, PAIR_LONG));
		cr_expect_eq(pair_count(p, 0)->retransmitted_packets, 0, "%u", first);
		pair_free(p);
	}
}
