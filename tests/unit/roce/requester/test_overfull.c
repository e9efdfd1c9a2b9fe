/* SPDX-License-Identifier: BSD-3-Clause */
/* A client that has more in flight than its rings are deep. */
#include <criterion/criterion.h>

#include "rigs/engine_pair.h"
#include "rigs/faults.h"
#include "roce/qp/qp.h"
#include "roce/shard/pool.h"
#include "roce/shard/shard.h"

#define DEPTH 4u

/* Nothing is acknowledged, and the ring is full. */
static struct pair *
full_ring(unsigned *mute)
{
	struct pair *p = pair_new(&(struct pair_opts){.sq_depth = DEPTH});

	p->tap = fault_tap_mute;
	p->tap_ctx = mute;
	for (unsigned i = 0; i < DEPTH; i++)
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
	pair_turn(p, 0);
	cr_assert_eq(roce_wqes_in_use(p->side[0].shard), DEPTH);
	return p;
}

/* The slot after the last one is that of a request in flight: a descriptor there is a breach. */
Test(overfull, one_more_than_the_send_ring_holds)
{
	unsigned mute = 0;
	struct pair *p = full_ring(&mute);

	pair_expect_alive(p, 0, 0);
	pair_write(p, 0, 0, DEPTH, 0, 0, 8, 0);
	pair_turn(p, 0);
	cr_assert(p->side[0].events & 1u << ROCE_EV_CLIENT_BREACH);
	cr_assert_eq(roce_qp_reason(p->side[0].q[0].qp), ROCE_REASON_CLIENT_BREACH);
	cr_assert_eq(pair_count(p, 0)->client_breaches, 1);
	pair_free(p);
}

/* A client may use a slot as soon as the completion of its request stands in its queue, before
 * sq_done is written for it. */
Test(overfull, a_slot_that_a_completion_freed_is_no_breach)
{
	struct pair *p = pair_new(&(struct pair_opts){.sq_depth = 1});
	struct ndsh_cqe cqe;

	for (unsigned i = 0, posted = 0; i < 20; i++) {
		pair_write(p, 0, 0, posted++, 0, 0, 8, 0);
		for (unsigned turns = 0; !pair_poll(p, 0, &cqe) && turns < 100; turns++) {
			p->now_ns += 2000;
			pair_turn(p, 0);
			pair_turn(p, 1);
		}
		cr_assert_eq(cqe.slot_count, posted);
	}
	pair_expect_alive(p, 0, 0);
	pair_free(p);
}

/* Whatever a client writes to a receive ring, its queue pair has one receive in use at most: the
 * ring can't be overfull, and takes no request slots from other clients. */
Test(overfull, a_receive_ring_gives_one_receive_at_a_time)
{
	static const uint8_t payload[256];
	struct pair *p = pair_new(&(struct pair_opts){.rq_depth = 1, .mtu = 256});
	struct roce_shard *s = p->side[0].shard;

	for (unsigned i = 0; i < 8; i++) {
		pair_recv(p, 0, 0, i, 0, 2048); /* a lie from the second one on */
		pair_inject(p, 0, 0,
			&(struct roce_pkt){.opcode = i == 0 ? ROCE_SEND_FIRST : ROCE_SEND_MIDDLE,
				.qpn = roce_qp_num(p->side[0].q[0].qp),
				.psn = roce_psn_add(p->opts.sq_psn[1], i),
				.pkey = ROCE_PKEY_DEFAULT,
				.payload_bytes = 256},
			payload);
		pair_turn(p, 0);
		cr_assert_eq(roce_share_used(&s->own.share[ROCE_POOL_WQES], ROCE_SIDE_RECV), 1);
	}
	pair_free(p);
}
