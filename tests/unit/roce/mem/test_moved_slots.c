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
#define RIGHTS	 (NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_REMOTE_ATOMIC)

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

/* The next completion of queue pair i: those of the others don't matter. */
static void
expect_of(struct pair *p, unsigned i)
{
	struct ndsh_cqe c = {0};

	do
		cr_assert(pair_poll(p, 0, &c), "no completion of queue pair %u", i);
	while (c.qp != i);
	cr_assert_eq(c.status, NDSH_WC_SUCCESS, "status %u", c.status);
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
Test(moved_slots, a_slot_that_is_given_back_wakes_a_queue_pair_that_waits)
{
	struct pair *p = holders_new(0);
	unsigned left[HOLDERS + 1] = {0};

	p->tap = swallow;
	p->tap_ctx = left;
	for (unsigned i = 0; i < HOLDERS; i++) {
		pair_write(p, 0, i, 0, i * AREA, i * AREA, MTU, 0);
		post(p, i, NDSH_OP_WRITE, PACKETS * MTU);
	}
	pair_settle(p);
	for (unsigned i = 0; i < HOLDERS; i++)
		peer_says(p, i, ROCE_SYN_RNR | RNR_CODE, 0);
	p->side[0].stalled = false;
	pair_settle(p);
	post(p, HOLDERS, NDSH_OP_WRITE, MTU);
	pair_settle(p);
	for (unsigned i = 0; i <= HOLDERS; i++)
		cr_assert_eq(left[i], i < HOLDERS, "queue pair %u sent %u", i, left[i]);

	p->now_ns += 200000; /* beyond what RNR_CODE asks, not to any timeout */
	pair_settle(p);
	for (unsigned i = 0; i < HOLDERS; i++)
		cr_assert_eq(left[i], 2 + PACKETS, "queue pair %u sent %u", i, left[i]);
	cr_assert_eq(left[HOLDERS], 1);
	pair_free(p);
}

/* What was asked for once more, to be sent again, is not needed when the ACK comes after all: a
 * queue pair that has nothing to send keeps nothing from the others. */
Test(moved_slots, a_late_ack_frees_what_was_to_be_sent_again)
{
	struct pair *p = holders_new(0);
	unsigned left[HOLDERS + 1] = {0};

	p->tap = swallow;
	p->tap_ctx = left;
	p->side[0].stalled = false;
	for (unsigned i = 0; i < HOLDERS; i++)
		post(p, i, NDSH_OP_WRITE, PACKETS * MTU);
	pair_settle(p);
	p->side[0].stalled = true;
	p->now_ns += 100000000; /* all of them time out */
	pair_settle(p);
	cr_assert_eq(p->side[0].mover->slots, 0);
	for (unsigned i = 0; i < HOLDERS; i++)
		peer_says(p, i, ROCE_SYN_ACK, PACKETS - 1);
	p->side[0].stalled = false;
	pair_settle(p);
	for (unsigned i = 0; i < HOLDERS; i++) {
		cr_assert_eq(left[i], PACKETS);
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
	}
	post(p, HOLDERS, NDSH_OP_WRITE, MTU);
	pair_settle(p);
	cr_assert_eq(left[HOLDERS], 1);
	pair_free(p);
}

/* Queue pairs that come to their end, or begin anew, while they have asked for packets leave the
 * slots to the others: those of requests at side 0, those of responses at side 1. */
static void
holders_end(unsigned side, enum roce_qp_state to)
{
	struct pair *p = holders_new(side);

	for (unsigned i = 0; i < HOLDERS; i++)
		post(p, i, side == 0 ? NDSH_OP_WRITE : NDSH_OP_READ, PACKETS * MTU);
	(void)pair_run(p, 100000);
	cr_assert_eq(p->side[side].mover->slots, 0);
	for (unsigned i = 0; i < 2 * HOLDERS; i++)
		cr_assert_eq(roce_qp_modify(p->side[i % 2].shard, p->side[i % 2].q[i / 2].qp,
				     p->now_ns, to, 0, NULL),
			ROCE_MODIFY_OK);
	p->side[side].stalled = false;
	post(p, HOLDERS, side == 0 ? NDSH_OP_WRITE : NDSH_OP_READ, PACKETS * MTU);
	cr_assert(pair_run(p, PAIR_LONG));
	expect_of(p, HOLDERS);
	pair_free(p);
}

Test(moved_slots, the_dead_leave_theirs)
{
	for (unsigned side = 0; side < 2; side++)
		holders_end(side, ROCE_QPS_ERR);
}

Test(moved_slots, those_that_begin_anew_leave_theirs)
{
	for (unsigned side = 0; side < 2; side++)
		holders_end(side, ROCE_QPS_RESET);
}

/* A READ is repeated, and its key revoked while it is fetched again: no response leaves, and none
 * will, so all slots are given back, though the queue pair lives on. checks W-DUP-07[1,2] */
Test(moved_slots, a_repeated_read_that_is_refused_leaves_its)
{
	struct pair *p = holders_new(1);
	struct pair_side *d = &p->side[1];
	struct roce_qp_attr a;
	uint64_t sent;

	d->stalled = false;
	post(p, 0, NDSH_OP_READ, PACKETS * MTU);
	cr_assert(pair_run(p, PAIR_LONG));
	sent = p->sent[1];
	d->stalled = true;
	pair_attr(p, 0, 0, &a);
	pair_inject(p, 1, 0,
		&(struct roce_pkt){.opcode = ROCE_READ_REQUEST,
			.pkey = ROCE_PKEY_DEFAULT,
			.qpn = roce_qp_num(d->q[0].qp),
			.psn = a.sq_psn,
			.va = (uintptr_t)d->moved,
			.rkey = d->moved_key,
			.dma_bytes = PACKETS * MTU},
		NULL);
	(void)pair_run(p, 100000);
	cr_assert_eq(d->mover->slots, NDSH_MOVER_SLOTS - PACKETS);
	cr_assert(roce_mr_deregister(d->shard, d->moved_mr));
	d->moved_mr = NULL;
	d->stalled = false;
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert_eq(p->sent[1], sent);
	pair_expect_alive(p, 1, 0);
	cr_assert_eq(d->mover->slots, NDSH_MOVER_SLOTS);
	pair_free(p);
}

/* Side 1 gets a packet of its peer, and nothing else is done. */
static void
hears(struct pair *p, const struct roce_pkt *pkt)
{
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce_qp_attr a;
	struct roce_pkt in;
	uint32_t n;

	pair_attr(p, 0, 0, &a);
	n = pair_build(frame, &a.path, pkt, NULL);
	cr_assert_eq(roce_wire_parse(frame, n, &in), ROCE_WIRE_OK);
	pair_rx(p, 1, &in);
}

/* A READ is refused, behind which the client has executed an atomic: its result leaves in no
 * response, so others have its slot when the NAK has left. The queue pair is there still. */
Test(moved_slots, an_atomic_behind_a_refused_read_leaves_its)
{
	struct pair *p = pair_new(&(struct pair_opts){.moved = true,
		.set_psn = true,
		.access = RIGHTS,
		.mr_access = RIGHTS | NDSH_ACCESS_LOCAL_WRITE});
	struct pair_side *d = &p->side[1];
	struct roce_pkt pkt = {.opcode = ROCE_READ_REQUEST,
		.pkey = ROCE_PKEY_DEFAULT,
		.qpn = roce_qp_num(d->q[0].qp),
		.va = PAIR_VA,
		.rkey = d->key,
		.dma_bytes = 8};

	hears(p, &pkt);
	pkt = (struct roce_pkt){.opcode = ROCE_FETCH_ADD,
		.pkey = ROCE_PKEY_DEFAULT,
		.qpn = pkt.qpn,
		.psn = 1,
		.va = (uintptr_t)d->moved,
		.rkey = d->moved_key,
		.swap_add = 5};
	hears(p, &pkt);
	cr_assert_eq(pair_client_moves(p, 1, UINT32_MAX), 1);
	cr_assert_eq(d->moved[0], 5);
	cr_assert_eq(d->mover->slots, NDSH_MOVER_SLOTS - 1);
	cr_assert(roce_mr_deregister(d->shard, d->mr));
	d->mr = NULL;
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert_eq(pair_count(p, 1)->tx_nak_fatal, 1);
	cr_assert_eq(p->sent[1], 1);
	cr_assert_eq(d->mover->slots, NDSH_MOVER_SLOTS);
	pair_free(p);
}

/* Each packet is fetched once, and no client is asked for more than is sent. */
Test(moved_slots, each_packet_is_fetched_once)
{
	for (unsigned side = 0; side < 2; side++) {
		struct pair *p = holders_new(side);

		p->side[side].stalled = false;
		post(p, 0, side == 0 ? NDSH_OP_WRITE : NDSH_OP_READ, 3 * PACKETS * MTU);
		cr_assert(pair_run(p, PAIR_LONG));
		expect_of(p, 0);
		cr_assert_eq(p->side[side].client.reader.taken, 3 * PACKETS);
		pair_free(p);
	}
}

/* A turn may not serve all that wait for the client: until each was served, the shard has something
 * to do. */
Test(moved_slots, no_rest_while_some_wait)
{
	for (unsigned n = 60; n < 70; n++) {
		struct pair *p = pair_new(&(struct pair_opts){.mtu = MTU, .qps = n, .moved = true});
		struct pair_side *d = &p->side[0];

		d->stalled = true;
		for (unsigned i = 0; i < n; i++)
			post(p, i, NDSH_OP_WRITE, MTU);
		(void)pair_run(p, 100000);
		cr_assert_eq(d->mover->waiters, n);
		cr_assert(roce_shard_movers_rest(d->shard));
		cr_assert_eq(pair_client_moves(p, 0, UINT32_MAX), n);
		while (!roce_shard_movers_rest(d->shard))
			cr_assert_gt(roce_shard_movers(d->shard, p->now_ns), 0);
		cr_assert_eq(d->mover->waiters, 0);
		d->stalled = false;
		cr_assert(pair_run(p, PAIR_LONG));
		pair_free(p);
	}
}

#define PIECES 16u
#define FILL   (NDSH_MOVER_DEPTH / PIECES) /* so many queue pairs fill the queue of commands */

/* A packet in as many pieces as there may be, which are orders each. */
static void
post_pieces(struct pair *p, unsigned i)
{
	struct ndsh_sge sge[PIECES];

	for (uint32_t k = 0; k < PIECES; k++) {
		sge[k] = pair_moved_sge(p, 0, i * 2 * PIECES + 2 * k, 1);
		p->side[0].moved[i * 2 * PIECES + 2 * k] = (uint8_t)(1 + i + k);
	}
	pair_post(p, 0, i,
		&(struct ndsh_swr){.context = i,
			.raddr = PAIR_VA + i * PIECES,
			.rkey = p->side[1].key,
			.ctrl = NDSH_CTRL(NDSH_OP_WRITE, PIECES, 0, 0)},
		sge, NULL);
}

/* The queue of commands to a client that moves nothing is filled to its end, and never overruns:
 * a queue pair that finds it full has its turn later. */
Test(moved_slots, the_queue_is_full)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = MTU, .qps = FILL + 2, .moved = true});
	const struct ndsh_cq_page *page = p->side[0].client.reader.page;

	p->side[0].stalled = true;
	for (unsigned i = 0; i < FILL + 2; i++)
		post_pieces(p, i);
	(void)pair_run(p, 100000);
	cr_assert_eq(page->produced, NDSH_MOVER_DEPTH);
	cr_assert_eq(page->fault, NDSH_CQ_OK);
	p->side[0].stalled = false;
	cr_assert(pair_run(p, PAIR_LONG));
	for (unsigned i = 0; i < FILL + 2; i++) {
		struct ndsh_cqe c;

		cr_assert(pair_poll(p, 0, &c));
		cr_assert_eq(c.status, NDSH_WC_SUCCESS);
		for (unsigned k = 0; k < PIECES; k++)
			cr_assert_eq(p->side[1].arena[i * PIECES + k], (uint8_t)(1 + i + k));
	}
	pair_free(p);
}
