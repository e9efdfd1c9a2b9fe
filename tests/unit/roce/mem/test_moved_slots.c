/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The slots that moved memory is fetched into, and the queue of copy commands: queue pairs share
 * both, and what one of them does not need any more the others must get.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/engine_pair.h"
#include "roce/mem/mover.h"

#define HOLDERS	 12u
#define PACKETS	 16u /* of their messages: as many are asked for ahead */
#define MTU	 256u
#define AREA	 16384u
#define RNR_CODE 1u /* 10 us */

static_assert(HOLDERS * PACKETS == NDSH_MOVER_SLOTS, "the holders can have all slots");

/* One queue pair more than can have slots at the same time, and a client of side that moves
 * nothing. */
static struct pair *
holders_new(unsigned side)
{
	struct pair *p = pair_new(&(struct pair_opts){
		.mtu = MTU, .qps = HOLDERS + 1, .moved = true, .ignore_events = true});

	p->side[side].stalled = true;
	return p;
}

/* From moved memory to moved memory, each queue pair in its own area. */
static void
post(struct pair *p, unsigned i, uint8_t op, uint32_t bytes)
{
	struct ndsh_sge here = pair_moved_sge(p, 0, i * AREA, bytes),
			there = pair_moved_sge(p, 1, i * AREA, bytes);

	pair_post(p, 0, i,
		&(struct ndsh_swr){.context = i,
			.raddr = there.addr,
			.rkey = there.key,
			.ctrl = NDSH_CTRL(op, 1, 0, 0)},
		&here, NULL);
}

/* Turns without time: no timer helps. */
static void
settle(struct pair *p)
{
	for (unsigned idle = 0; idle < 4;)
		idle = pair_turn(p, 0) > 0 ? 0 : idle + 1;
}

/* Nothing arrives; how many packets of each queue pair left. */
static unsigned
swallow(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	unsigned *left = ctx;

	(void)late_ns;
	for (unsigned i = 0; i <= HOLDERS && from == 0; i++)
		left[i] += pkt->qpn == roce_qp_num(p->side[1].q[i].qp);
	return 0;
}

/* The peer of queue pair i acknowledges all before packet ahead, or says so much more of that. */
static void
peer_says(struct pair *p, unsigned i, uint8_t syndrome, uint32_t ahead)
{
	struct roce_qp_attr a;

	pair_attr(p, 0, i, &a);
	pair_inject(p, 0, i,
		&(struct roce_pkt){.opcode = ROCE_ACK,
			.pkey = ROCE_PKEY_DEFAULT,
			.qpn = roce_qp_num(p->side[0].q[i].qp),
			.psn = a.sq_psn + ahead,
			.syndrome = syndrome},
		NULL);
}

/*
 * Queue pairs that must wait, as their peers said, hold all slots, and nothing is under way. Then
 * they send what they hold and ask for nothing more: one that waits for a slot must hear of
 * those that they give back, as no command will ever tell.
 */
Test(moved_slots, a_slot_that_is_given_back_wakes_who_waits_for_one)
{
	struct pair *p = holders_new(0);
	unsigned left[HOLDERS + 1] = {0};

	p->tap = swallow;
	p->tap_ctx = left;
	for (unsigned i = 0; i < HOLDERS; i++) {
		pair_write(p, 0, i, 0, i * AREA, i * AREA, MTU, 0);
		post(p, i, NDSH_OP_WRITE, PACKETS * MTU);
	}
	settle(p);
	for (unsigned i = 0; i < HOLDERS; i++)
		peer_says(p, i, ROCE_SYN_RNR | RNR_CODE, 0);
	p->side[0].stalled = false;
	settle(p);
	post(p, HOLDERS, NDSH_OP_WRITE, MTU);
	settle(p);
	for (unsigned i = 0; i <= HOLDERS; i++)
		cr_assert_eq(left[i], i < HOLDERS, "queue pair %u sent %u", i, left[i]);

	p->now_ns += 200000; /* beyond what RNR_CODE asks, not to any timeout */
	settle(p);
	for (unsigned i = 0; i < HOLDERS; i++)
		cr_assert_eq(left[i], 2 + PACKETS, "queue pair %u sent %u", i, left[i]);
	cr_assert_eq(left[HOLDERS], 1);
	pair_free(p);
}
