/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory behind a mover that has gone while its region lives: the transfer that needs it fails with
 * its own status, what came before it stands, what is behind it is flushed, and no other queue pair
 * of the client notices.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/engine_pair.h"
#include "roce/mem/moved.h"
#include "roce/qp/qp.h"

#define MTU    1024u
#define LONG   UINT64_C(60000000000)
#define GONE   65536u /* from here on, for GONE_BYTES */
#define BYTES  (4 * MTU)
#define RIGHTS (NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_REMOTE_ATOMIC)

static struct pair *
lost_pair_of(uint32_t window)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 2,
		.window = window,
		.mtu = MTU,
		.moved = true,
		.retry = 7,
		.max_rd = 4,
		.max_dest_rd = 4,
		.access = RIGHTS,
		.mr_access = RIGHTS | NDSH_ACCESS_LOCAL_WRITE});

	memset(p->side[0].moved, 1, PAIR_ARENA);
	memset(p->side[1].moved, 2, PAIR_ARENA);
	return p;
}

static struct pair *
lost_pair(void)
{
	return lost_pair_of(0);
}

/* Memory of side from so many bytes behind GONE on, as far as a request of BYTES reaches. */
static void
gone(struct pair *p, unsigned side, uint32_t behind)
{
	p->side[side].gone[0] = GONE + behind;
	p->side[side].gone[1] = GONE + BYTES;
}

static void
post(struct pair *p, unsigned i, uint64_t context, uint8_t op, uint32_t here, uint32_t there,
	uint32_t bytes)
{
	struct ndsh_sge from = pair_moved_sge(p, 0, here, bytes),
			to = pair_moved_sge(p, 1, there, bytes);

	pair_post(p, 0, i,
		&(struct ndsh_swr){.context = context,
			.raddr = to.addr,
			.rkey = to.key,
			.arg = {5, 0},
			.ctrl = NDSH_CTRL(op, 1, 0, 0)},
		&from, NULL);
}

static void
receive(struct pair *p, unsigned i, uint64_t context, uint32_t at)
{
	struct ndsh_sge sge = pair_moved_sge(p, 1, at, BYTES);

	ndsh_rq_push(&p->side[1].q[i].rq, context, &sge, 1);
}

static bool
all_are(const uint8_t *at, int value, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		if (at[i] != value)
			return false;
	return true;
}

/* The other queue pair, through the same mover, in memory that is there. */
static void
the_other_works(struct pair *p)
{
	pair_expect_alive(p, 0, 1);
	pair_expect_alive(p, 1, 1);
	post(p, 1, 90, NDSH_OP_WRITE, 0, 200000, BYTES);
	post(p, 1, 91, NDSH_OP_READ, 8192, 210000, BYTES);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 90, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 91, NDSH_WC_SUCCESS);
	cr_assert(all_are(p->side[1].moved + 200000, 1, BYTES));
	cr_assert(all_are(p->side[0].moved + 8192, 2, BYTES));
}

/* Four requests; the second meets the memory that has gone, of which side has it. */
static void
four(struct pair *p, uint8_t op, uint32_t behind, unsigned side, unsigned moves)
{
	gone(p, side, behind);
	p->side[side].moves = moves;
	for (unsigned i = 0; i < 4; i++) {
		uint32_t at = i == 1 ? GONE : 100000 + i * BYTES, same = 150000 + i * BYTES;

		post(p, 0, 1 + i, op, side == 0 ? at : same, side == 1 ? at : same,
			op >= NDSH_OP_CMP_SWAP ? 8 : BYTES);
	}
	cr_assert(pair_run(p, LONG));
}

static const unsigned paces[] = {0, 1, 3}; /* commands that the client carries out in a turn */

/*
 * checks R-MR-14[1], W-RESP-13[8]: the peer's WRITE is NAKed with 0x62 at the packet that found
 * no memory; what was acknowledged is in its place
 */
Test(moved_lost, a_write_of_the_peer)
{
	for (unsigned i = 0; i < 3; i++)
		for (uint32_t behind = 0; behind < BYTES; behind += MTU) {
			struct pair *p = lost_pair();

			four(p, NDSH_OP_WRITE, behind, 1, paces[i]);
			pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
			pair_expect(p, 0, 2, NDSH_WC_REM_ACCESS_ERR);
			pair_expect(p, 0, 3, NDSH_WC_FLUSH_ERR);
			pair_expect(p, 0, 4, NDSH_WC_FLUSH_ERR);
			pair_expect_none(p, 0);
			pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_REM_ACCESS);
			pair_expect_none(p, 1);
			cr_assert(all_are(p->side[1].moved + 100000, 1, BYTES));
			cr_assert(all_are(p->side[1].moved + GONE, 1, behind));
			cr_assert(all_are(p->side[1].moved + GONE + behind, 2, BYTES - behind));
			cr_assert_eq(pair_count(p, 1)->tx_nak_fatal, 1);
			the_other_works(p);
			pair_free(p);
		}
}

/* checks W-ACK-03, W-RESP-18: a READ in front of the lost WRITE is answered before the NAK, those
 * behind it are not. */
Test(moved_lost, reads_around_a_write)
{
	for (unsigned i = 0; i < 3; i++) {
		struct pair *p = lost_pair();

		gone(p, 1, MTU);
		p->side[1].moves = paces[i];
		post(p, 0, 1, NDSH_OP_READ, 120000, 0, BYTES);
		post(p, 0, 2, NDSH_OP_WRITE, 0, GONE, BYTES);
		post(p, 0, 3, NDSH_OP_READ, 100000, 0, BYTES);
		post(p, 0, 4, NDSH_OP_READ, 100000, 0, 8);
		cr_assert(pair_run(p, LONG));
		pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
		pair_expect(p, 0, 2, NDSH_WC_REM_ACCESS_ERR);
		pair_expect(p, 0, 3, NDSH_WC_FLUSH_ERR);
		pair_expect(p, 0, 4, NDSH_WC_FLUSH_ERR);
		pair_expect_none(p, 0);
		cr_assert(all_are(p->side[0].moved + 120000, 2, BYTES));
		cr_assert(all_are(p->side[0].moved + 100000, 1, BYTES));
		cr_assert_eq(pair_count(p, 1)->tx_nak_fatal, 1);
		pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_REM_ACCESS);
		the_other_works(p);
		pair_free(p);
	}
}

/* The next completion of side 1 is that of receive context; of the two statuses. */
static void
expect_receive(struct pair *p, uint64_t context, uint8_t status, uint8_t or)
{
	struct ndsh_cqe e;

	cr_assert(pair_poll(p, 1, &e));
	cr_assert_eq(e.context, context);
	cr_assert(e.status == status || e.status == or, "receive %lu: %u", context, e.status);
	cr_assert_eq(e.slot_count, context - 10);
}

/*
 * checks W-RESP-11[1]: NAK 0x63 for the SEND whose receive has gone; the receive fails, unless
 * its completion was made before: then its number is what the copy command told the client.
 */
Test(moved_lost, a_send_of_the_peer)
{
	for (unsigned i = 0; i < 3; i++)
		for (uint32_t behind = 0; behind < BYTES; behind += MTU) {
			struct pair *p = lost_pair();

			for (unsigned r = 0; r < 4; r++)
				receive(p, 0, 11 + r, r == 1 ? GONE : 100000 + r * BYTES);
			four(p, NDSH_OP_SEND, behind, 1, paces[i]);
			pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
			pair_expect(p, 0, 2, NDSH_WC_REM_OP_ERR);
			pair_expect(p, 0, 3, NDSH_WC_FLUSH_ERR);
			pair_expect(p, 0, 4, NDSH_WC_FLUSH_ERR);
			pair_expect_dead(p, 1, 0, ROCE_REASON_RECV_PROT);
			expect_receive(p, 11, NDSH_WC_SUCCESS, NDSH_WC_SUCCESS);
			expect_receive(p, 12, NDSH_WC_SUCCESS, NDSH_WC_LOC_PROT_ERR);
			expect_receive(p, 13, NDSH_WC_SUCCESS, NDSH_WC_FLUSH_ERR);
			expect_receive(p, 14, NDSH_WC_SUCCESS, NDSH_WC_FLUSH_ERR);
			pair_expect_none(p, 1);
			cr_assert(all_are(p->side[1].moved + 100000, 1, BYTES));
			the_other_works(p);
			pair_free(p);
		}
}

/* checks W-RESP-13[9]: so is a READ */
Test(moved_lost, a_read_of_the_peer)
{
	for (unsigned i = 0; i < 3; i++)
		for (uint32_t behind = 0; behind < BYTES; behind += MTU) {
			struct pair *p = lost_pair();

			four(p, NDSH_OP_READ, behind, 1, paces[i]);
			pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
			pair_expect(p, 0, 2, NDSH_WC_REM_ACCESS_ERR);
			pair_expect(p, 0, 3, NDSH_WC_FLUSH_ERR);
			pair_expect(p, 0, 4, NDSH_WC_FLUSH_ERR);
			pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_REM_ACCESS);
			cr_assert(all_are(p->side[0].moved + 150000, 2, BYTES));
			the_other_works(p);
			pair_free(p);
		}
}

/*
 * checks W-DUP-07[3]: the peer repeats the READ, or the atomic, while its rest waits for the
 * client. What fails then was never sent, so it is no error of a duplicate: the peer is told.
 */
Test(moved_lost, a_read_that_is_repeated_meanwhile)
{
	static const uint8_t ops[] = {NDSH_OP_READ, NDSH_OP_FETCH_ADD};

	for (unsigned i = 0; i < 2; i++)
		for (uint32_t behind = 0; behind < (i == 0 ? BYTES : MTU); behind += MTU) {
			struct pair *p = lost_pair();

			gone(p, 1, behind);
			p->side[1].moves = 1;
			post(p, 0, 1, ops[i], 120000, GONE, i == 0 ? BYTES : 8);
			for (unsigned turns = 0; turns < 100; turns++) {
				p->side[1].stalled = p->side[1].client.reader.taken >= behind / MTU;
				pair_turn(p, 0);
				pair_turn(p, 1);
				p->now_ns += 100000;
			}
			cr_assert_gt(pair_count(p, 0)->timeouts, 1);
			p->side[1].stalled = false;
			cr_assert(pair_run(p, LONG));
			pair_expect(p, 0, 1, NDSH_WC_REM_ACCESS_ERR);
			pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_REM_ACCESS);
			the_other_works(p);
			pair_free(p);
		}
}

/* checks W-RESP-13[7]: and an atomic, which is not executed */
Test(moved_lost, an_atomic_of_the_peer)
{
	for (unsigned i = 0; i < 3; i++) {
		struct pair *p = lost_pair();

		four(p, NDSH_OP_FETCH_ADD, 0, 1, paces[i]);
		pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
		pair_expect(p, 0, 2, NDSH_WC_REM_ACCESS_ERR);
		pair_expect(p, 0, 3, NDSH_WC_FLUSH_ERR);
		pair_expect(p, 0, 4, NDSH_WC_FLUSH_ERR);
		pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_REM_ACCESS);
		cr_assert_eq(p->side[1].moved[100000], 7);
		cr_assert(all_are(p->side[1].moved + GONE, 2, 8));
		the_other_works(p);
		pair_free(p);
	}
}

/* checks R-MR-14[2]: a READ or atomic is refused while a message behind it is arriving. The receive
 * that this one has taken is not at fault: it is flushed. */
Test(moved_lost, a_receive_behind_what_the_peer_may_not_read)
{
	static const uint8_t ops[] = {NDSH_OP_READ, NDSH_OP_FETCH_ADD};

	for (unsigned i = 0; i < 2; i++) {
		struct pair *p = lost_pair_of(16); /* the message is longer */
		struct ndsh_sge sge;

		gone(p, 1, 0);
		p->side[1].stalled = true;
		sge = pair_moved_sge(p, 1, 100000, 20 * MTU);
		ndsh_rq_push(&p->side[1].q[0].rq, 11, &sge, 1);
		post(p, 0, 1, ops[i], 120000, GONE, 8);
		post(p, 0, 2, NDSH_OP_SEND, 0, 0, 20 * MTU);
		(void)pair_run(p, 1000000);
		cr_assert_eq(pair_count(p, 1)->receives_completed, 0);
		p->side[1].stalled = false;
		cr_assert(pair_run(p, LONG));
		pair_expect(p, 0, 1, NDSH_WC_REM_ACCESS_ERR);
		pair_expect(p, 0, 2, NDSH_WC_FLUSH_ERR);
		expect_receive(p, 11, NDSH_WC_FLUSH_ERR, NDSH_WC_FLUSH_ERR);
		pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_REM_ACCESS);
		the_other_works(p);
		pair_free(p);
	}
}

/* checks W-REQ-07: a request whose payload can't be read fails here, and the peer sees nothing */
Test(moved_lost, payload_of_a_request)
{
	static const uint8_t ops[] = {NDSH_OP_WRITE, NDSH_OP_SEND};

	for (unsigned k = 0; k < 6; k++)
		for (uint32_t behind = 0; behind < BYTES; behind += MTU) {
			struct pair *p = lost_pair();

			for (unsigned r = 0; r < 4; r++)
				receive(p, 0, 11 + r, 100000 + r * BYTES);
			four(p, ops[k % 2], behind, 0, paces[k / 2]);
			pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
			pair_expect(p, 0, 2, NDSH_WC_LOC_PROT_ERR);
			pair_expect(p, 0, 3, NDSH_WC_FLUSH_ERR);
			pair_expect(p, 0, 4, NDSH_WC_FLUSH_ERR);
			pair_expect_dead(p, 0, 0, ROCE_REASON_LOCAL_PROT);
			pair_expect_alive(p, 1, 0);
			the_other_works(p);
			pair_free(p);
		}
}

/* Where a READ or atomic is to put what it got. If it was completed by then, the copy command told
 * the client which completion is not true; the queue pair ends in any case. */
Test(moved_lost, sink_of_a_request)
{
	static const uint8_t ops[] = {NDSH_OP_READ, NDSH_OP_FETCH_ADD};

	for (unsigned k = 0; k < 6; k++) {
		struct pair *p = lost_pair();
		struct ndsh_cqe e;

		four(p, ops[k % 2], 0, 0, paces[k / 2]);
		pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
		for (unsigned i = 2; i <= 4; i++) {
			cr_assert(pair_poll(p, 0, &e));
			cr_assert_eq(e.context, i);
			cr_assert_eq(e.slot_count, i);
			cr_assert(e.status == NDSH_WC_SUCCESS ||
				  e.status == (i == 2 ? NDSH_WC_LOC_PROT_ERR : NDSH_WC_FLUSH_ERR));
		}
		pair_expect_dead(p, 0, 0, ROCE_REASON_LOCAL_PROT);
		pair_expect_alive(p, 1, 0);
		the_other_works(p);
		pair_free(p);
	}
}

/* What a command says of the completion that it spoils. */
Test(moved_lost, what_the_client_reads)
{
	struct pair *p = lost_pair();
	struct ndsh_cqe c;
	unsigned n = 0;

	p->side[1].stalled = true;
	receive(p, 0, 11, 0);
	receive(p, 0, 12, BYTES);
	pair_send(p, 0, 0, 1, 0, 8, 0);
	pair_write_by_key(p, 2, (uintptr_t)p->side[1].moved, p->side[1].moved_key, 8);
	pair_send(p, 0, 0, 3, 0, 8, 0);
	(void)pair_run(p, 1000000);
	for (; ndsh_cq_poll(&p->side[1].client.reader, &c, 1) == 1; n++) {
		cr_assert_eq(c.op, NDSH_MOVE_IN);
		cr_assert_eq(c.qp, p->side[1].q[0].qp->handle);
		cr_assert_eq(c.syndrome, n == 1 ? NDSH_SPOILS_WRITE : NDSH_SPOILS_RECEIVE);
		cr_assert_eq(c.slot_count, n == 0 ? 1 : 2, "command %u: %u", n, c.slot_count);
	}
	cr_assert_eq(n, 3);
	(void)roce_shard_movers(p->side[1].shard, p->now_ns);
	p->side[1].client.reader.page->consumer = 3;
	cr_assert(pair_run(p, LONG));
	pair_free(p);
}

/* The same of the payload of a READ: the number of its own completion. */
Test(moved_lost, what_the_client_reads_of_a_read)
{
	struct pair *p = lost_pair();
	struct ndsh_cqe c;

	pair_write(p, 0, 1, 1, 0, 0, 8, 0);
	cr_assert(pair_run(p, LONG));
	p->side[0].stalled = true;
	post(p, 1, 2, NDSH_OP_READ, 0, 0, 8);
	(void)pair_run(p, 1000000);
	cr_assert_eq(ndsh_cq_poll(&p->side[0].client.reader, &c, 1), 1);
	cr_assert_eq(c.op, NDSH_MOVE_IN);
	cr_assert_eq(c.qp, 1, "the handle of queue pair 1");
	cr_assert_eq(c.syndrome, NDSH_SPOILS_REQUEST);
	cr_assert_eq(c.slot_count, 2);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	cr_assert_eq(pair_expect(p, 0, 2, NDSH_WC_SUCCESS).slot_count, c.slot_count);
	p->side[0].client.reader.page->consumer = 1;
	cr_assert(pair_run(p, LONG));
	pair_free(p);
}

/* checks R-MR-14[1]: the very first command to the client. */
Test(moved_lost, the_first_of_all)
{
	struct pair *p = lost_pair();

	gone(p, 1, 0);
	post(p, 0, 1, NDSH_OP_WRITE, 0, GONE, 8);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 1, NDSH_WC_REM_ACCESS_ERR);
	pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_REM_ACCESS);
	the_other_works(p);
	pair_free(p);
}

/* The client says of all its commands that they failed: its own queue pairs end, and no others. */
Test(moved_lost, a_client_that_lies_hurts_itself)
{
	struct pair *p = lost_pair();

	memset((uint8_t *)p->side[1].mover_shared + ndsh_mover_failed(), 0xff,
		NDSH_MOVER_DEPTH / 8);
	p->side[1].client.failed = NULL; /* and never takes it back */
	post(p, 0, 1, NDSH_OP_WRITE, 0, 0, BYTES);
	pair_write(p, 0, 1, 2, 0, 0, BYTES, 0);
	cr_assert(pair_run(p, LONG));
	pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_REM_ACCESS);
	pair_expect_alive(p, 1, 1);
	pair_expect_alive(p, 0, 1);
	pair_free(p);
}
