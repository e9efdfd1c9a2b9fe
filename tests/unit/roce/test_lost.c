/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a client could not place, at every stage of its transfer: what the peer hears of it, of what
 * came before and of what is behind, and how the requests and receives end that are not complete
 * by then. All pieces of memory behind the movers are in mem/test_moved_lost.c.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/engine_pair.h"

#define MTU    1024u
#define GONE   65536u /* from here on: so many bytes */
#define BYTES  (4 * MTU)
#define BEFORE 1000000u /* ns: too early for a timeout */
#define PSN    0xfffff0u
#define RIGHTS (NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE)

#define APART 10000u /* ns: between frames that arrive one by one */

/* What the peer hears of side 1. */
struct heard {
	unsigned responses, naks;
	uint32_t psn, msn; /* of the last NAK */
	uint8_t syndrome;
	uint64_t apart_ns[2]; /* between the frames of each side */
	unsigned sent[2];
};

static unsigned
hearing(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct heard *h = ctx;

	(void)p;
	*late_ns = h->sent[from]++ * h->apart_ns[from];
	if (from == 0)
		return 1;
	if (pkt->opcode != ROCE_ACK) {
		h->responses++;
	} else if (pkt->syndrome != ROCE_SYN_ACK) {
		h->naks++;
		h->psn = pkt->psn;
		h->msn = pkt->msn;
		h->syndrome = pkt->syndrome;
	}
	return 1;
}

static struct pair *
lost_pair(struct heard *h)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 2,
		.mtu = MTU,
		.moved = true,
		.set_psn = true,
		.sq_psn = {PSN, PSN},
		.access = RIGHTS,
		.mr_access = RIGHTS | NDSH_ACCESS_LOCAL_WRITE});

	*h = (struct heard){0};
	p->tap = hearing;
	p->tap_ctx = h;
	return p;
}

/* Of the region GONE, what is behind its first bytes can't be reached by the client of side. */
static void
gone(struct pair *p, unsigned side, uint32_t bytes)
{
	p->side[side].gone[0] = GONE + bytes;
	p->side[side].gone[1] = GONE + BYTES;
}

static void
post(struct pair *p, unsigned i, uint64_t context, uint8_t op, struct ndsh_sge here,
	struct ndsh_sge there)
{
	pair_post(p, 0, i,
		&(struct ndsh_swr){.context = context,
			.raddr = there.addr,
			.rkey = there.key,
			.ctrl = NDSH_CTRL(op, 1, 0, 0)},
		&here, NULL);
}

/* To memory behind the mover of side 1. */
static void
post_write(struct pair *p, uint64_t context, uint32_t to, uint32_t bytes)
{
	post(p, 0, context, NDSH_OP_WRITE, pair_sge(p, 0, 0, bytes),
		pair_moved_sge(p, 1, to, bytes));
}

static void
receive(struct pair *p, uint64_t context, uint32_t at)
{
	struct ndsh_sge sge = pair_moved_sge(p, 1, at, BYTES);

	ndsh_rq_push(&p->side[1].q[0].rq, context, &sge, 1);
}

/* Side 1 does what its client stopped for. */
static void
client_goes_on(struct pair *p, unsigned side)
{
	p->side[side].stalled = false;
	(void)pair_run(p, BEFORE);
}

/* Queue pair 0 of side ended by itself: the peer's answer has nothing to do with it. */
static void
expect_dead_by_itself(struct pair *p, unsigned side, enum roce_reason reason)
{
	pair_expect_dead(p, side, 0, reason);
	cr_assert_eq(p->side[side].last_event.syndrome, 0);
}

/* ---- the results of READs ------------------------------------------------------------------ */

/* checks R-MR-14[1,2]: the rest of the READ is still to come when the client fails */
Test(lost, a_read_of_which_more_is_to_come)
{
	for (uint32_t placed = 0; placed < BYTES; placed += MTU) {
		struct heard h;
		struct pair *p = lost_pair(&h);

		gone(p, 0, placed);
		h.apart_ns[1] = APART;
		post(p, 0, 1, NDSH_OP_READ, pair_moved_sge(p, 0, 0, 8), pair_sge(p, 1, 0, 8));
		post(p, 0, 2, NDSH_OP_READ, pair_moved_sge(p, 0, GONE, BYTES + 8),
			pair_sge(p, 1, 0, BYTES + 8));
		post(p, 0, 3, NDSH_OP_READ, pair_moved_sge(p, 0, 0, 8), pair_sge(p, 1, 0, 8));
		(void)pair_run(p, BEFORE);
		pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
		cr_assert_eq(pair_expect(p, 0, 2, NDSH_WC_LOC_PROT_ERR).syndrome,
			ROCE_REASON_LOCAL_PROT);
		pair_expect(p, 0, 3, NDSH_WC_FLUSH_ERR);
		pair_expect_none(p, 0);
		expect_dead_by_itself(p, 0, ROCE_REASON_LOCAL_PROT);
		pair_free(p);
	}
}

/* checks R-MR-14[2]: the client corrects the result of a READ that had one; the request behind it
 * is not at fault, be it a READ that has not got all, and can't be placed either */
Test(lost, a_read_that_had_its_result)
{
	for (unsigned read = 0; read < 2; read++) {
		struct heard h;
		struct pair *p = lost_pair(&h);

		gone(p, 0, 0);
		h.apart_ns[1] = APART;
		p->side[0].stalled = true;
		post(p, 0, 1, NDSH_OP_READ, pair_moved_sge(p, 0, GONE, 8), pair_sge(p, 1, 0, 8));
		(void)pair_run(p, BEFORE);
		pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
		if (read)
			post(p, 0, 2, NDSH_OP_READ, pair_moved_sge(p, 0, GONE, BYTES),
				pair_sge(p, 1, 0, BYTES));
		else
			pair_write(p, 0, 0, 2, 0, 0, 8, 0);
		(void)pair_run(p, read ? APART * 3 / 2 : 1); /* the first response has come */
		p->side[0].stalled = false;
		pair_settle(p);
		pair_expect(p, 0, 2, NDSH_WC_FLUSH_ERR);
		pair_expect_none(p, 0);
		expect_dead_by_itself(p, 0, ROCE_REASON_LOCAL_PROT);
		pair_free(p);
	}
}

/* ---- the peer's messages ------------------------------------------------------------------- */

/* checks W-RESP-11[1], W-RESP-18[1]: the message is still arriving when its receive is found bad */
Test(lost, a_send_that_is_arriving)
{
	for (uint32_t placed = 0; placed < BYTES; placed += MTU) {
		struct heard h;
		struct pair *p = lost_pair(&h);
		struct ndsh_sge sge = pair_moved_sge(p, 1, GONE, BYTES + 8);

		gone(p, 1, placed);
		h.apart_ns[0] = APART;
		receive(p, 11, 0);
		ndsh_rq_push(&p->side[1].q[0].rq, 12, &sge, 1);
		receive(p, 13, 0);
		pair_send(p, 0, 0, 1, 0, 8, 0);
		pair_send(p, 0, 0, 2, 0, BYTES + 8, 0);
		(void)pair_run(p, BEFORE);
		pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
		pair_expect(p, 0, 2, NDSH_WC_REM_OP_ERR);
		pair_expect(p, 1, 11, NDSH_WC_SUCCESS);
		pair_expect(p, 1, 12, NDSH_WC_LOC_PROT_ERR);
		pair_expect(p, 1, 13, NDSH_WC_FLUSH_ERR);
		pair_expect_dead(p, 1, 0, ROCE_REASON_RECV_PROT);
		cr_assert_eq(h.naks, 1);
		cr_assert_eq(h.psn, (PSN + 1 + placed / MTU) & ROCE_PSN_MASK);
		cr_assert_eq(h.msn, 1);
		cr_assert_eq(h.syndrome, ROCE_SYN_NAK_REM_OP);
		cr_assert_eq(pair_count(p, 1)->key_violations, 0);
		pair_free(p);
	}
}

/* Side 1's client comes to what it can't place when a later message is arriving, to receive 12. */
static void
until_a_later_message_arrives(struct pair *p, struct heard *h)
{
	gone(p, 1, 0);
	p->side[1].stalled = true;
	h->apart_ns[0] = APART;
	pair_send(p, 0, 0, 2, 0, BYTES, 0);
	(void)pair_run(p, 3 * APART);
	client_goes_on(p, 1);
}

/* checks R-MR-14[2]: the receive of the later message is not at fault */
Test(lost, a_receive_in_use_behind_a_lost_send)
{
	struct heard h;
	struct pair *p = lost_pair(&h);

	receive(p, 11, GONE);
	receive(p, 12, 0);
	pair_send(p, 0, 0, 1, 0, 8, 0);
	until_a_later_message_arrives(p, &h);
	pair_expect(p, 0, 1, NDSH_WC_REM_OP_ERR);
	pair_expect(p, 0, 2, NDSH_WC_FLUSH_ERR);
	pair_expect(p, 1, 11, NDSH_WC_SUCCESS); /* which the client corrects */
	pair_expect(p, 1, 12, NDSH_WC_FLUSH_ERR);
	pair_expect_dead(p, 1, 0, ROCE_REASON_RECV_PROT);
	pair_free(p);
}

/* checks R-MR-14[2], W-RESP-13[8]: nor is it behind a WRITE. A dead key has been used. */
Test(lost, a_receive_in_use_behind_a_lost_write)
{
	struct heard h;
	struct pair *p = lost_pair(&h);

	receive(p, 12, 0);
	post_write(p, 1, GONE, 8);
	until_a_later_message_arrives(p, &h);
	pair_expect(p, 0, 1, NDSH_WC_REM_ACCESS_ERR);
	pair_expect(p, 0, 2, NDSH_WC_FLUSH_ERR);
	pair_expect(p, 1, 12, NDSH_WC_FLUSH_ERR);
	pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_REM_ACCESS);
	cr_assert_eq(pair_count(p, 1)->key_violations, 1);
	pair_free(p);
}

/* checks W-RESP-13[8], W-RESP-18[1,3]: the peer is told at once, although the client stops
 * thereafter; and of the message before, whose result it gets */
Test(lost, the_peer_is_told_at_once)
{
	struct heard h;
	struct pair *p = lost_pair(&h);

	gone(p, 1, MTU);
	p->side[1].stalled = true;
	post_write(p, 1, 0, 2 * MTU);
	post_write(p, 2, GONE, 2 * MTU);
	post_write(p, 3, 0, 2 * MTU);
	(void)pair_run(p, BEFORE);
	cr_assert_eq(pair_client_moves(p, 1, 4), 4);
	(void)pair_run(p, BEFORE);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 2, NDSH_WC_REM_ACCESS_ERR);
	pair_expect(p, 0, 3, NDSH_WC_FLUSH_ERR);
	cr_assert_eq(h.naks, 1);
	cr_assert_eq(h.psn, (PSN + 3) & ROCE_PSN_MASK);
	cr_assert_eq(h.msn, 1);
	cr_assert_eq(h.syndrome, ROCE_SYN_NAK_REM_ACCESS);
	client_goes_on(p, 1);
	cr_assert_eq(h.naks, 1);
	pair_free(p);
}

/* ---- the peer's READs ---------------------------------------------------------------------- */

/* checks W-RESP-13[8]: whatever came before, the READ right behind what is lost gets no response:
 * it would acknowledge that */
Test(lost, a_read_behind_a_lost_write)
{
	for (unsigned reads = 0; reads < ROCE_RD_ATOMIC_MAX; reads++) {
		struct heard h;
		struct pair *p = lost_pair(&h);

		gone(p, 1, MTU);
		for (unsigned i = 0; i < reads; i++) {
			pair_read(p, 0, 0, i, 0, 0, 8, 0);
			(void)pair_run(p, BEFORE);
			pair_expect(p, 0, i, NDSH_WC_SUCCESS);
		}
		post_write(p, 100, GONE, 2 * MTU);
		pair_read(p, 0, 0, 101, 0, 0, 8, 0);
		(void)pair_run(p, BEFORE);
		pair_expect(p, 0, 100, NDSH_WC_REM_ACCESS_ERR);
		pair_expect(p, 0, 101, NDSH_WC_FLUSH_ERR);
		cr_assert_eq(h.responses, reads);
		pair_free(p);
	}
}

/* checks W-RESP-18[4]: all responses to a READ before it leave, and then the NAK; those of another
 * queue pair have nothing to do with it */
Test(lost, responses_under_way)
{
	struct heard h;
	struct pair *p = lost_pair(&h);

	pair_write(p, 0, 1, 1, 0, 0, 16 * MTU, 0);
	(void)pair_run(p, BEFORE);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	memset(p->side[1].arena, 7, 16 * MTU);
	gone(p, 1, 0);
	p->side[1].moves = 1;
	p->side[1].frames = 1; /* in a turn: the others are to be sent yet */
	pair_read(p, 0, 1, 2, 0, 0, 16 * MTU, 0);
	pair_read(p, 0, 0, 3, 32 * MTU, 0, 8 * MTU, 0);
	post_write(p, 4, GONE, 8);
	pair_read(p, 0, 0, 5, 64 * MTU, 0, 8, 0);
	post_write(p, 6, GONE, 8);
	(void)pair_run(p, BEFORE);
	for (unsigned i = 0; i < 5; i++) { /* the queue pairs take turns */
		static const uint8_t statuses[] = {NDSH_WC_SUCCESS, NDSH_WC_SUCCESS,
			NDSH_WC_REM_ACCESS_ERR, NDSH_WC_FLUSH_ERR, NDSH_WC_FLUSH_ERR};
		struct ndsh_cqe c;

		cr_assert(pair_poll(p, 0, &c));
		cr_assert_eq(c.status, statuses[c.context - 2], "request %lu", c.context);
	}
	cr_assert_arr_eq(p->side[0].arena + 32 * MTU, p->side[1].arena, 8 * MTU);
	cr_assert_eq(h.responses, 16 + 8);
	cr_assert_eq(h.naks, 1);
	cr_assert_eq(h.psn, (PSN + 8) & ROCE_PSN_MASK);
	cr_assert_eq(h.msn, 1);
	pair_free(p);
}

/* ---- queue pairs that have ended ----------------------------------------------------------- */

static void
end_by_its_owner(struct pair *p)
{
	roce_qp_modify(p->side[1].shard, p->side[1].q[0].qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
}

/* checks W-RESP-14[1]: what is not placed is not acknowledged, what came before it is; and a queue
 * pair in ERR refuses nothing */
Test(lost, a_write_to_a_queue_pair_that_is_closed_meanwhile)
{
	for (unsigned moves = 0; moves < 3; moves++) {
		struct heard h;
		struct pair *p = lost_pair(&h);

		gone(p, 1, 0);
		p->side[1].stalled = true;
		p->side[1].moves = moves;
		post_write(p, 1, 0, 8);
		post_write(p, 2, GONE, 8);
		post_write(p, 3, 0, 8);
		(void)pair_run(p, BEFORE);
		end_by_its_owner(p);
		client_goes_on(p, 1);
		pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
		pair_expect_none(p, 0);
		pair_expect_alive(p, 0, 0);
		pair_expect_dead(p, 1, 0, ROCE_REASON_MODIFY);
		cr_assert_eq(h.naks, 0);
		pair_free(p);
	}
}

/* checks W-RESP-18[1,3]: a later request is refused, and then it is found that an earlier one can't
 * be placed: this one is what the peer hears of */
Test(lost, in_front_of_a_request_that_is_refused)
{
	for (unsigned k = 0; k < 6; k++) {
		struct heard h;
		struct pair *p = lost_pair(&h);
		bool send = k % 2 == 1;

		gone(p, 1, 0);
		p->side[1].stalled = true;
		p->side[1].moves = k / 2;
		receive(p, 11, GONE);
		post_write(p, 1, 0, 8);
		if (send)
			pair_send(p, 0, 0, 2, 0, 8, 0);
		else
			post_write(p, 2, GONE, 8);
		pair_read(p, 0, 0, 3, 0, 0, 8, 0);
		pair_write_by_key(p, 4, 0, p->side[1].key ^ 1, 8);
		(void)pair_run(p, BEFORE);
		pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_REM_ACCESS);
		client_goes_on(p, 1);
		pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
		pair_expect(p, 0, 2, send ? NDSH_WC_REM_OP_ERR : NDSH_WC_REM_ACCESS_ERR);
		pair_expect(p, 0, 3, NDSH_WC_FLUSH_ERR);
		pair_expect(p, 0, 4, NDSH_WC_FLUSH_ERR);
		cr_assert_eq(h.naks, 1);
		cr_assert_eq(h.psn, (PSN + 1) & ROCE_PSN_MASK);
		cr_assert_eq(h.msn, 1);
		pair_free(p);
	}
}

/* checks W-RESP-18[1,3]: the NAK of a READ waits for what has come behind it, and stays as it is */
Test(lost, behind_a_read_that_is_refused)
{
	struct heard h;
	struct pair *p = lost_pair(&h);

	gone(p, 1, 0);
	p->side[1].stalled = true;
	p->side[1].moves = 1;
	post(p, 0, 1, NDSH_OP_READ, pair_sge(p, 0, 0, 8), pair_moved_sge(p, 1, GONE, 8));
	(void)pair_run(p, BEFORE);
	post_write(p, 2, GONE, 8);
	(void)pair_run(p, BEFORE);
	client_goes_on(p, 1);
	pair_expect(p, 0, 1, NDSH_WC_REM_ACCESS_ERR);
	pair_expect(p, 0, 2, NDSH_WC_FLUSH_ERR);
	cr_assert_eq(h.naks, 1);
	cr_assert_eq(h.psn, PSN);
	pair_free(p);
}

/* Both sides post; the client of side 0 can place neither the result of its READ nor, from gone[0]
 * on, what the peer writes behind that. */
static struct pair *
both_ways(struct heard *h, uint32_t from)
{
	struct pair *p = lost_pair(h);
	struct ndsh_sge here = pair_sge(p, 1, 0, 8), there = pair_moved_sge(p, 0, GONE + 8, 8);

	p->side[0].gone[0] = GONE;
	p->side[0].gone[1] = GONE + from;
	p->side[0].stalled = true;
	post(p, 0, 1, NDSH_OP_READ, pair_moved_sge(p, 0, GONE, 8), pair_sge(p, 1, 0, 8));
	(void)pair_run(p, BEFORE);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_post(p, 1, 0,
		&(struct ndsh_swr){.context = 2,
			.raddr = there.addr,
			.rkey = there.key,
			.ctrl = NDSH_CTRL(NDSH_OP_WRITE, 1, 0, 0)},
		&here, NULL);
	(void)pair_run(p, BEFORE);
	return p;
}

/* checks W-RESP-14[1], W-RESP-13[8]: what could not be placed is not acknowledged; and refused, if
 * that is known before the queue pair ends */
Test(lost, a_write_behind_a_lost_read)
{
	for (unsigned moves = 0; moves < 2; moves++) {
		struct heard h;
		struct pair *p = both_ways(&h, 16);

		p->side[0].moves = moves;
		client_goes_on(p, 0);
		if (moves == 0)
			pair_expect(p, 1, 2, NDSH_WC_REM_ACCESS_ERR);
		pair_expect_none(p, 1);
		pair_expect_dead(
			p, 0, 0, moves == 0 ? ROCE_REASON_SENT_REM_ACCESS : ROCE_REASON_LOCAL_PROT);
		pair_free(p);
	}
}

/* What is placed is acknowledged. */
Test(lost, a_write_that_is_placed_behind_a_lost_read)
{
	for (unsigned closed = 0; closed < 2; closed++) {
		struct heard h;
		struct pair *p = both_ways(&h, 8);

		if (closed)
			roce_qp_modify(p->side[0].shard, p->side[0].q[0].qp, p->now_ns,
				ROCE_QPS_ERR, 0, NULL);
		client_goes_on(p, 0);
		pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
		pair_expect_dead(p, 0, 0, closed ? ROCE_REASON_MODIFY : ROCE_REASON_LOCAL_PROT);
		pair_free(p);
	}
}
