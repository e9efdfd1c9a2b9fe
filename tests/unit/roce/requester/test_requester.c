/* SPDX-License-Identifier: BSD-3-Clause */
/* What the requester sends and when it sends it again: AckReq, window, fences, NAKs, turns. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/engine_pair.h"

#define MTU  256u
#define LONG UINT64_C(100000000000)

#define SEEN_MAX 4096u
struct seen {
	struct roce_pkt pkt[SEEN_MAX];
	unsigned n;
	bool mute; /* nothing arrives */
};

static unsigned
tap(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct seen *s = ctx;

	(void)p;
	(void)late_ns;
	if (from == 0 && s->n < SEEN_MAX)
		s->pkt[s->n++] = *pkt;
	return !s->mute;
}

static struct seen seen;

static struct pair *
watched(const struct pair_opts *o, bool mute)
{
	struct pair_opts with = *o;
	struct pair *p;

	with.set_psn = true;
	with.sq_psn[0] = 100;
	with.sq_psn[1] = 500;
	p = pair_new(&with);
	seen.n = 0;
	seen.mute = mute;
	p->tap = tap;
	p->tap_ctx = &seen;
	return p;
}

/* Say something to side 0 as its peer. */
static void
answer(struct pair *p, uint8_t opcode, uint32_t psn, uint8_t syndrome)
{
	pair_inject(p, 0, 0,
		&(struct roce_pkt){.opcode = opcode,
			.qpn = roce_qp_num(p->side[0].q[0].qp),
			.psn = psn,
			.pkey = ROCE_PKEY_DEFAULT,
			.syndrome = syndrome},
		NULL);
	pair_turn(p, 0);
}

Test(requester, W_REQ_04_last_packet_and_every_quarter_window)
{
	struct pair *p = watched(&(struct pair_opts){.mtu = MTU, .window = 64}, false);
	unsigned since = 0;

	pair_write(p, 0, 0, 1, 0, 0, MTU * 200, 0);
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	cr_assert(pair_run(p, LONG));
	cr_assert_eq(seen.n, 201);
	for (unsigned i = 0; i < seen.n; i++) {
		since = seen.pkt[i].ackreq ? 0 : since + 1;
		cr_assert_lt(since, 16, "packet %u", i);
	}
	cr_assert(seen.pkt[199].ackreq && seen.pkt[200].ackreq);
	cr_assert_not(seen.pkt[0].ackreq);
	pair_free(p);
}

/* checks W-REQ-08 */
Test(requester, W_REQ_04_packet_that_closes_the_window_and_first_of_a_retransmission)
{
	struct pair *p = watched(&(struct pair_opts){.mtu = MTU, .window = 20}, true);

	pair_write(p, 0, 0, 1, 0, 0, MTU * 100, 0);
	pair_turn(p, 0);
	cr_assert_eq(seen.n, 20, "W-REQ-08");
	cr_assert(seen.pkt[19].ackreq);
	cr_assert_not(seen.pkt[0].ackreq);
	p->now_ns += 2000000;
	pair_turn(p, 0);
	cr_assert_eq(seen.n, 40);
	cr_assert_eq(seen.pkt[20].psn, 100);
	cr_assert_eq(seen.pkt[20].opcode, ROCE_WRITE_FIRST);
	cr_assert(seen.pkt[20].ackreq);
	pair_free(p);
}

Test(requester, W_REQ_10_restart_in_the_middle_repeats_headers)
{
	struct pair *p = watched(&(struct pair_opts){.mtu = MTU}, true);

	pair_write(p, 0, 0, 1, 0, 0, MTU * 5, 0);
	pair_turn(p, 0);
	answer(p, ROCE_ACK, 102, ROCE_SYN_NAK_SEQ);
	cr_assert_eq(seen.n, 8);
	for (unsigned i = 0; i < 3; i++) {
		cr_assert_eq(seen.pkt[5 + i].psn, seen.pkt[2 + i].psn);
		cr_assert_eq(seen.pkt[5 + i].opcode, seen.pkt[2 + i].opcode);
		cr_assert_eq(seen.pkt[5 + i].payload_bytes, seen.pkt[2 + i].payload_bytes);
	}
	pair_free(p);
}

Test(requester, W_TMR_05_a_storm_of_naks_restarts_once)
{
	struct pair *p = watched(&(struct pair_opts){.mtu = MTU, .retry = 3}, true);

	pair_write(p, 0, 0, 1, 0, 0, MTU * 5, 0);
	pair_turn(p, 0);
	for (unsigned i = 0; i < 50; i++)
		answer(p, ROCE_ACK, 100, ROCE_SYN_NAK_SEQ);
	cr_assert_eq(seen.n, 10);
	cr_assert_eq(roce_qp_state_get(p->side[0].q[0].qp), ROCE_QPS_RTS);
	answer(p, ROCE_ACK, 101, ROCE_SYN_NAK_SEQ); /* progress: a new loss */
	cr_assert_eq(seen.n, 14);
	pair_free(p);
}

Test(requester, W_COMP_04_a_sequence_nak_costs_a_retry)
{
	struct pair *p = watched(&(struct pair_opts){.retry = 255}, true);
	struct ndsh_cqe c;

	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_turn(p, 0);
	answer(p, ROCE_ACK, 100, ROCE_SYN_NAK_SEQ);
	cr_assert(pair_poll(p, 0, &c));
	cr_assert_eq(c.status, NDSH_WC_RETRY_EXC_ERR);
	pair_free(p);
}

/* Early tries of our own timer, each answered by a NAK, do not eat the agreed budget. */
Test(requester, W_TMR_07_early_tries_leave_the_budget_alone)
{
	struct pair *p = watched(&(struct pair_opts){.retry = 2, .timeout_code = 18}, true);

	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_turn(p, 0);
	for (unsigned i = 0; i < 6; i++) {
		p->now_ns += 70000000;
		pair_turn(p, 0);
		answer(p, ROCE_ACK, 100, ROCE_SYN_NAK_SEQ);
	}
	cr_assert_geq(seen.n, 10);
	cr_assert_eq(roce_qp_state_get(p->side[0].q[0].qp), ROCE_QPS_RTS);
	pair_free(p);
}

/* checks W-RXE-22 */
Test(requester, W_RESP_03_a_sequence_nak_while_an_rnr_wait_runs)
{
	struct pair *p = watched(&(struct pair_opts){0}, true);

	pair_send(p, 0, 0, 1, 0, 8, 0);
	pair_turn(p, 0);
	answer(p, ROCE_ACK, 100, ROCE_SYN_RNR | 20); /* 10.24 ms */
	answer(p, ROCE_ACK, 100, ROCE_SYN_NAK_SEQ);
	p->now_ns += 10000000;
	pair_turn(p, 0);
	cr_assert_eq(seen.n, 1, "W-TMR-06: at least the time asked for");
	p->now_ns += 300000;
	pair_turn(p, 0);
	cr_assert_eq(seen.n, 2);
	pair_free(p);
}

Test(requester, W_COMP_01_ghosts_and_reserved_codes_do_nothing)
{
	static const uint8_t reserved[] = {0x40, 0x5f, 0x64, 0x65, 0x7f};
	struct pair *p = watched(&(struct pair_opts){0}, true);
	struct ndsh_cqe c;

	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_turn(p, 0);
	for (size_t i = 0; i < sizeof(reserved); i++)
		answer(p, ROCE_ACK, 100, reserved[i]);
	answer(p, ROCE_ACK, 101, ROCE_SYN_ACK); /* never sent */
	answer(p, ROCE_ACK, 99, ROCE_SYN_NAK_REM_ACCESS);
	answer(p, ROCE_ACK, 101, ROCE_SYN_NAK_REM_ACCESS);
	answer(p, ROCE_READ_RESP_ONLY, 102, ROCE_SYN_ACK);
	cr_assert_not(pair_poll(p, 0, &c));
	cr_assert_eq(seen.n, 1);
	cr_assert_eq(roce_qp_state_get(p->side[0].q[0].qp), ROCE_QPS_RTS);
	answer(p, ROCE_ACK, 100, 0x00); /* credit code 0: W-AETH-04 */
	cr_assert(pair_poll(p, 0, &c));
	cr_assert_eq(c.status, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* Of a message under way only what has left can be acknowledged. */
Test(requester, W_COMP_01_what_was_not_sent_yet_is_not_acknowledged)
{
	struct pair *p = watched(&(struct pair_opts){.mtu = MTU, .window = 20}, true);
	struct ndsh_cqe c;

	pair_write(p, 0, 0, 1, 0, 0, MTU * 25, 0);
	pair_turn(p, 0);
	cr_assert_eq(seen.n, 20);
	for (uint32_t psn = 120; psn < 125; psn++)
		answer(p, ROCE_ACK, psn, ROCE_SYN_ACK);
	cr_assert_not(pair_poll(p, 0, &c));
	cr_assert_eq(seen.n, 20);
	answer(p, ROCE_ACK, 119, ROCE_SYN_ACK);
	cr_assert_eq(seen.n, 25);
	answer(p, ROCE_ACK, 124, ROCE_SYN_ACK);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* What is posted meanwhile does not end a wait that the peer asked for. */
Test(requester, W_COMP_04_posts_wait_with_an_rnr)
{
	struct pair *p = watched(&(struct pair_opts){0}, true);

	pair_send(p, 0, 0, 1, 0, 8, 0);
	pair_turn(p, 0);
	answer(p, ROCE_ACK, 100, ROCE_SYN_RNR | 20); /* 10.24 ms */
	for (unsigned i = 0; i < 5; i++) {
		pair_write(p, 0, 0, 2 + i, 0, 0, 8, 0);
		pair_turn(p, 0);
		p->now_ns += 2000000;
		pair_turn(p, 0);
		cr_assert_eq(seen.n, 1);
	}
	p->now_ns += 300000;
	pair_turn(p, 0);
	cr_assert_eq(seen.n, 7);
	pair_free(p);
}

/* A response that does not fit its request ends the queue pair (W-COMP-07, W-COMP-15). */
static void
bad_response(uint8_t opcode, uint32_t psn, uint8_t syndrome, uint32_t bytes)
{
	struct pair *p = watched(&(struct pair_opts){.mtu = MTU}, true);
	static const uint8_t payload[4096];
	struct ndsh_cqe c;

	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_read(p, 0, 0, 2, 4096, 0, 2 * MTU + 4, 0);
	pair_turn(p, 0);
	pair_inject(p, 0, 0,
		&(struct roce_pkt){.opcode = opcode,
			.qpn = roce_qp_num(p->side[0].q[0].qp),
			.psn = psn,
			.pkey = ROCE_PKEY_DEFAULT,
			.syndrome = syndrome,
			.payload_bytes = bytes},
		payload);
	pair_turn(p, 0);
	if (psn > 100) {
		cr_assert(pair_poll(p, 0, &c));
		cr_assert_eq(c.status, NDSH_WC_SUCCESS, "W-COMP-10");
	}
	cr_assert(pair_poll(p, 0, &c));
	cr_assert_eq(c.status, NDSH_WC_BAD_RESP_ERR);
	cr_assert_eq(roce_qp_reason(p->side[0].q[0].qp), ROCE_REASON_BAD_RESPONSE);
	pair_free(p);
}

Test(requester, W_COMP_07_W_COMP_15_bad_responses)
{
	bad_response(ROCE_READ_RESP_ONLY, 100, ROCE_SYN_ACK, 8); /* for a WRITE */
	bad_response(ROCE_READ_RESP_MIDDLE, 101, 0, MTU);
	bad_response(ROCE_READ_RESP_LAST, 101, ROCE_SYN_ACK, 4);
	bad_response(ROCE_READ_RESP_ONLY, 101, ROCE_SYN_ACK, 2 * MTU);
	bad_response(ROCE_READ_RESP_FIRST, 101, ROCE_SYN_ACK, MTU - 4);
	bad_response(ROCE_READ_RESP_FIRST, 101, ROCE_SYN_NAK_REM_ACCESS, MTU);
	bad_response(ROCE_ATOMIC_ACK, 101, ROCE_SYN_ACK, 0);
}

Test(requester, W_COMP_03_an_ack_beyond_an_unanswered_read_asks_for_it_again)
{
	struct pair *p = watched(&(struct pair_opts){.mtu = MTU}, true);
	struct ndsh_cqe c;

	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_read(p, 0, 0, 2, 4096, 0, 2 * MTU, 0);
	pair_write(p, 0, 0, 3, 0, 0, 8, 0);
	pair_turn(p, 0);
	cr_assert_eq(seen.n, 3);
	answer(p, ROCE_ACK, 103, ROCE_SYN_ACK);
	cr_assert(pair_poll(p, 0, &c));
	cr_assert_eq(c.context, 1);
	cr_assert_not(pair_poll(p, 0, &c));
	cr_assert_eq(seen.n, 5);
	cr_assert_eq(seen.pkt[3].opcode, ROCE_READ_REQUEST);
	cr_assert_eq(seen.pkt[3].psn, 101);
	cr_assert_eq(roce_shard_counters(p->side[0].shard)->implied_nak, 1);
	pair_free(p);
}

Test(requester, W_COMP_06_a_fatal_nak_inside_a_read)
{
	struct pair *p = watched(&(struct pair_opts){.mtu = MTU}, true);
	struct ndsh_cqe c;

	pair_read(p, 0, 0, 1, 4096, 0, 8 * MTU, 0);
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	pair_turn(p, 0);
	answer(p, ROCE_ACK, 105, ROCE_SYN_NAK_REM_ACCESS);
	cr_assert(pair_poll(p, 0, &c));
	cr_assert_eq(c.context, 1);
	cr_assert_eq(c.status, NDSH_WC_REM_ACCESS_ERR);
	cr_assert_eq(c.syndrome, ROCE_SYN_NAK_REM_ACCESS);
	cr_assert(pair_poll(p, 0, &c));
	cr_assert_eq(c.status, NDSH_WC_FLUSH_ERR);
	pair_free(p);
}

Test(requester, W_REQ_05_initiator_depth)
{
	struct pair *p = watched(&(struct pair_opts){.max_rd = 2}, true);

	for (unsigned i = 0; i < 5; i++)
		pair_read(p, 0, 0, i, 0, 0, 8, 0);
	pair_write(p, 0, 0, 5, 0, 0, 8, 0);
	pair_turn(p, 0);
	cr_assert_eq(seen.n, 2);
	pair_free(p);
}

/* checks R-ORD-05 */
Test(requester, W_FENCE_01)
{
	struct pair *p = watched(&(struct pair_opts){0}, true);
	static const uint8_t payload[8];

	pair_write(p, 0, 0, 1, 0, 0, 8, NDSH_WRF_FENCE); /* nothing to wait for */
	pair_read(p, 0, 0, 2, 0, 0, 8, 0);
	pair_write(p, 0, 0, 3, 0, 0, 8, NDSH_WRF_FENCE);
	pair_turn(p, 0);
	cr_assert_eq(seen.n, 2);
	pair_inject(p, 0, 0,
		&(struct roce_pkt){.opcode = ROCE_READ_RESP_ONLY,
			.psn = 101,
			.qpn = roce_qp_num(p->side[0].q[0].qp),
			.pkey = ROCE_PKEY_DEFAULT,
			.syndrome = ROCE_SYN_ACK,
			.payload_bytes = 8},
		payload);
	pair_turn(p, 0);
	cr_assert_eq(seen.n, 3);
	cr_assert_eq(seen.pkt[2].psn, 102);
	pair_free(p);
}

/* checks W-REQ-09 */
Test(requester, W_REQ_02_W_REQ_03_headers_of_a_long_send_and_write)
{
	struct pair *p = watched(&(struct pair_opts){.mtu = MTU}, false);

	pair_recv(p, 1, 0, 9, 0, 4096);
	pair_send(p, 0, 0, 1, 0, 3 * MTU, NDSH_WRF_SOLICIT);
	pair_write(p, 0, 0, 2, 0, 64, 2 * MTU + 1, NDSH_WRF_SOLICIT);
	cr_assert(pair_run(p, LONG));
	cr_assert_eq(seen.n, 6);
	for (unsigned i = 0; i < 6; i++) {
		cr_assert_eq(seen.pkt[i].se, i == 2, "W-REQ-03");
		cr_assert_eq(seen.pkt[i].qpn, roce_qp_num(p->side[1].q[0].qp), "W-REQ-09");
		cr_assert(seen.pkt[i].mig);
	}
	cr_assert_eq(seen.pkt[3].opcode, ROCE_WRITE_FIRST);
	cr_assert_eq(seen.pkt[3].dma_bytes, 2 * MTU + 1);
	cr_assert_eq(seen.pkt[3].va, PAIR_VA + 64);
	cr_assert_eq(seen.pkt[5].payload_bytes, 1);
	cr_assert_eq(seen.pkt[5].pad, 3);
	pair_free(p);
}

/* One with endless work does not keep the others waiting. */
Test(requester, queue_pairs_take_turns)
{
	struct pair *p = watched(&(struct pair_opts){.qps = 8, .mtu = MTU, .window = 4096}, true);
	unsigned last = 0;

	pair_write(p, 0, 0, 1, 0, 0, MTU * 3000, 0);
	for (unsigned i = 1; i < 8; i++)
		pair_write(p, 0, i, 1, 0, 0, 8, 0);
	pair_turn(p, 0);
	for (unsigned i = 0; i < seen.n; i++)
		if (seen.pkt[i].qpn != roce_qp_num(p->side[1].q[0].qp))
			last = i;
	cr_assert_lt(last, 64);
	cr_assert_gt(seen.n, 3000);
	pair_free(p);
}
