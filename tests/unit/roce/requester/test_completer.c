/* SPDX-License-Identifier: BSD-3-Clause */
/* The completer: what ACKs, NAKs and responses of the peer do to the send queue. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/overheard.h"

#define MTU 256u

#define FLOOR UINT64_C(1000000) /* rto_floor_ns of engine_pair */

/* ---- acknowledgements ---- */

/* checks W-COMP-01[1-3], W-COMP-04[2] */
Test(completer, W_COMP_01_ghosts_and_reserved_codes_do_nothing)
{
	static const uint8_t reserved[] = {0x40, 0x5f, 0x64, 0x65, 0x7f};
	struct pair *p = watched_pair(&(struct pair_opts){0}, true);
	struct ndsh_cqe c;

	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_turn(p, 0);
	for (size_t i = 0; i < sizeof(reserved); i++)
		watched_answer(p, ROCE_ACK, 100, reserved[i]);
	watched_answer(p, ROCE_ACK, 101, ROCE_SYN_ACK); /* never sent */
	watched_answer(p, ROCE_ACK, 99, ROCE_SYN_NAK_REM_ACCESS);
	watched_answer(p, ROCE_ACK, 101, ROCE_SYN_NAK_REM_ACCESS);
	watched_answer(p, ROCE_READ_RESP_ONLY, 102, ROCE_SYN_ACK);
	cr_assert_not(pair_poll(p, 0, &c));
	cr_assert_eq(watched.n, 1);
	cr_assert_eq(roce_qp_state_get(p->side[0].q[0].qp), ROCE_QPS_RTS);
	watched_answer(p, ROCE_ACK, 100, 0x00); /* credit code 0: W-AETH-04 */
	cr_assert(pair_poll(p, 0, &c));
	cr_assert_eq(c.status, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* Of a message under way only what has left can be acknowledged. checks W-COMP-01[1] */
Test(completer, W_COMP_01_what_was_not_sent_yet_is_not_acknowledged)
{
	struct pair *p = watched_pair(&(struct pair_opts){.mtu = MTU, .window = 20}, true);
	struct ndsh_cqe c;

	pair_write(p, 0, 0, 1, 0, 0, MTU * 25, 0);
	pair_turn(p, 0);
	cr_assert_eq(watched.n, 20);
	for (uint32_t psn = 120; psn < 125; psn++)
		watched_answer(p, ROCE_ACK, psn, ROCE_SYN_ACK);
	cr_assert_not(pair_poll(p, 0, &c));
	cr_assert_eq(watched.n, 20);
	watched_answer(p, ROCE_ACK, 119, ROCE_SYN_ACK);
	cr_assert_eq(watched.n, 25);
	watched_answer(p, ROCE_ACK, 124, ROCE_SYN_ACK);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_free(p);
}

/*
 * checks W-AETH-02, W-AETH-04[1], W-RXE-19: whatever number of credits a peer tells, requests go
 * on.
 */
Test(completer, W_AETH_04_credits_of_the_peer_hold_nothing_back)
{
	for (uint8_t code = 0; code < 32; code++) {
		struct ear e;
		struct pair *p = ear_pair(&e, (struct pair_opts){0});

		e.deaf = true;
		for (unsigned i = 0; i < 8; i++)
			pair_recv(p, 1, 0, i, 0, 64);
		for (unsigned i = 0; i < 8; i++) {
			pair_send(p, 0, 0, i, 0, 8, 0);
			pair_turn(p, 0);
			cr_assert_eq(p->sent[0], i + 1, "credit code %u", code);
			ear_answer(p, EAR_PSN + i, code);
			pair_expect(p, 0, i, NDSH_WC_SUCCESS);
		}
		pair_free(p);
	}
}

/* checks W-COMP-14[1] */
Test(completer, W_COMP_14_silent_requests_give_their_slots_back)
{
	struct pair *p = pair_new(&(struct pair_opts){.sq_depth = 4});
	const struct ndsh_qp_page *page = p->side[0].q[0].block;

	for (unsigned i = 0; i < 40; i++) {
		pair_write(p, 0, 0, i, 0, 0, 8, NDSH_WRF_SILENT);
		cr_assert(pair_run(p, PAIR_LONG));
		cr_assert_eq(page->sq_done, i + 1);
	}
	pair_expect_none(p, 0);
	pair_free(p);
}

#define KEPT 6u

/* Six WRITEs, some of which want no completion; all before at succeed, that one fails. */
static void
some_silent(unsigned silent, unsigned at)
{
	struct pair *p = watched_pair(&(struct pair_opts){0}, true);

	for (unsigned i = 0; i < KEPT; i++)
		pair_write(p, 0, 0, i, 0, 0, 8, silent >> i & 1 ? NDSH_WRF_SILENT : 0);
	pair_turn(p, 0);
	for (unsigned i = 0; i < at; i++) {
		watched_answer(p, ROCE_ACK, WATCHED_PSN + i, ROCE_SYN_ACK);
		if (!(silent >> i & 1))
			pair_expect(p, 0, i, NDSH_WC_SUCCESS);
		pair_expect_none(p, 0);
	}
	if (at < KEPT)
		watched_answer(p, ROCE_ACK, WATCHED_PSN + at, ROCE_SYN_NAK_REM_OP);
	for (unsigned i = at; i < KEPT; i++)
		pair_expect(p, 0, i, i == at ? NDSH_WC_REM_OP_ERR : NDSH_WC_FLUSH_ERR);
	pair_expect_none(p, 0);
	pair_free(p);
}

/* checks W-COMP-14[1-3] */
Test(completer, W_COMP_14_silent_in_success_and_loud_in_failure)
{
	for (unsigned silent = 0; silent < 1u << KEPT; silent++)
		for (unsigned at = 0; at <= KEPT; at++)
			some_silent(silent, at);
}

/* checks W-COMP-03[1,2] */
Test(completer, W_COMP_03_an_ack_beyond_an_unanswered_read_asks_for_it_again)
{
	struct pair *p = watched_pair(&(struct pair_opts){.mtu = MTU}, true);
	struct ndsh_cqe c;

	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_read(p, 0, 0, 2, 4096, 0, 2 * MTU, 0);
	pair_write(p, 0, 0, 3, 0, 0, 8, 0);
	pair_turn(p, 0);
	cr_assert_eq(watched.n, 3);
	watched_answer(p, ROCE_ACK, 103, ROCE_SYN_ACK);
	cr_assert(pair_poll(p, 0, &c));
	cr_assert_eq(c.context, 1);
	cr_assert_not(pair_poll(p, 0, &c));
	cr_assert_eq(watched.n, 5);
	cr_assert_eq(watched.pkt[3].opcode, ROCE_READ_REQUEST);
	cr_assert_eq(watched.pkt[3].psn, 101);
	cr_assert_eq(roce_shard_counters(p->side[0].shard)->implied_nak, 1);
	pair_free(p);
}

/* checks W-COMP-06[1] */
Test(completer, W_COMP_06_a_fatal_nak_inside_a_read)
{
	struct pair *p = watched_pair(&(struct pair_opts){.mtu = MTU}, true);
	struct ndsh_cqe c;

	pair_read(p, 0, 0, 1, 4096, 0, 8 * MTU, 0);
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	pair_turn(p, 0);
	watched_answer(p, ROCE_ACK, 105, ROCE_SYN_NAK_REM_ACCESS);
	cr_assert(pair_poll(p, 0, &c));
	cr_assert_eq(c.context, 1);
	cr_assert_eq(c.status, NDSH_WC_REM_ACCESS_ERR);
	cr_assert_eq(c.syndrome, ROCE_SYN_NAK_REM_ACCESS);
	cr_assert(pair_poll(p, 0, &c));
	cr_assert_eq(c.status, NDSH_WC_FLUSH_ERR);
	pair_free(p);
}

/* checks W-TMR-05[3] */
Test(completer, W_TMR_05_a_storm_of_naks_restarts_once)
{
	struct pair *p = watched_pair(&(struct pair_opts){.mtu = MTU, .retry = 3}, true);

	pair_write(p, 0, 0, 1, 0, 0, MTU * 5, 0);
	pair_turn(p, 0);
	for (unsigned i = 0; i < 50; i++)
		watched_answer(p, ROCE_ACK, 100, ROCE_SYN_NAK_SEQ);
	cr_assert_eq(watched.n, 10);
	cr_assert_eq(roce_qp_state_get(p->side[0].q[0].qp), ROCE_QPS_RTS);
	watched_answer(p, ROCE_ACK, 101, ROCE_SYN_NAK_SEQ); /* progress: a new loss */
	cr_assert_eq(watched.n, 14);
	pair_free(p);
}

/* checks W-COMP-04[1], W-TMR-05[1,4] */
Test(completer, W_COMP_04_a_sequence_nak_costs_a_retry)
{
	struct pair *p = watched_pair(&(struct pair_opts){.retry = 255}, true);
	struct ndsh_cqe c;

	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_turn(p, 0);
	watched_answer(p, ROCE_ACK, 100, ROCE_SYN_NAK_SEQ);
	cr_assert(pair_poll(p, 0, &c));
	cr_assert_eq(c.status, NDSH_WC_RETRY_EXC_ERR);
	cr_assert_eq(c.syndrome, ROCE_SYN_NAK_SEQ, "that is what it died of");
	pair_free(p);
}

/* ---- responses ---- */

static uint8_t only;

static bool
all_but_one_opcode(const struct roce_pkt *pkt)
{
	return pkt->opcode != only;
}

/* No ACK arrives; a response, the first of its READ or a later one, says as much. checks
 * W-COMP-10[1-3] */
Test(completer, W_COMP_10_responses_acknowledge_what_is_before_them)
{
	static const uint8_t opcodes[] = {ROCE_READ_RESP_FIRST, ROCE_READ_RESP_MIDDLE,
		ROCE_READ_RESP_LAST, ROCE_READ_RESP_ONLY, ROCE_ATOMIC_ACK};

	for (unsigned i = 0; i < 5; i++) {
		struct ear e;
		struct pair *p = ear_pair(&e,
			(struct pair_opts){.access = NDSH_ACCESS_REMOTE_READ |
						     NDSH_ACCESS_REMOTE_WRITE |
						     NDSH_ACCESS_REMOTE_ATOMIC,
				.mr_access = NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_READ |
					     NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_REMOTE_ATOMIC});
		struct ndsh_sge sge = pair_sge(p, 0, 0, 8);

		only = opcodes[i];
		e.lost = all_but_one_opcode;
		pair_recv(p, 1, 0, 9, 0, 4 * EAR_MTU);
		pair_send(p, 0, 0, 1, 0, 3 * EAR_MTU, 0);
		pair_write(p, 0, 0, 2, 0, 0, 8, 0);
		if (only == ROCE_ATOMIC_ACK)
			pair_post_sge(p, 0, 0, 3, NDSH_OP_FETCH_ADD, 0, &sge);
		else
			pair_read(
				p, 0, 0, 3, 0, 0, only == ROCE_READ_RESP_ONLY ? 8 : 3 * EAR_MTU, 0);
		(void)pair_run(p, FLOOR / 2);
		pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
		pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
		cr_assert_eq(pair_count(p, 0)->timeouts, 0);
		pair_free(p);
	}
}

/* A response that does not fit its request ends the queue pair (W-COMP-07, W-COMP-15). */
static void
bad_response(uint8_t opcode, uint32_t psn, uint8_t syndrome, uint32_t bytes)
{
	struct pair *p = watched_pair(&(struct pair_opts){.mtu = MTU}, true);
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

/* checks W-COMP-07[1-5], W-COMP-15[1] */
Test(completer, W_COMP_07_W_COMP_15_bad_responses)
{
	bad_response(ROCE_READ_RESP_ONLY, 100, ROCE_SYN_ACK, 8); /* for a WRITE */
	bad_response(ROCE_READ_RESP_MIDDLE, 101, 0, MTU);
	bad_response(ROCE_READ_RESP_LAST, 101, ROCE_SYN_ACK, 4);
	bad_response(ROCE_READ_RESP_ONLY, 101, ROCE_SYN_ACK, 2 * MTU);
	bad_response(ROCE_READ_RESP_FIRST, 101, ROCE_SYN_ACK, MTU - 4);
	bad_response(ROCE_READ_RESP_FIRST, 101, ROCE_SYN_NAK_REM_ACCESS, MTU);
	bad_response(ROCE_ATOMIC_ACK, 101, ROCE_SYN_ACK, 0);
}

static void
atomic_ack(struct pair *p, uint32_t psn, uint64_t was)
{
	pair_inject(p, 0, 0,
		&(struct roce_pkt){.opcode = ROCE_ATOMIC_ACK,
			.qpn = roce_qp_num(p->side[0].q[0].qp),
			.psn = psn,
			.pkey = ROCE_PKEY_DEFAULT,
			.syndrome = ROCE_SYN_ACK,
			.atomic_orig = was},
		NULL);
	pair_turn(p, 0);
}

/*
 * Three of them under way, and answers in any order: each one's own completes it, when it is its
 * turn. An answer that comes too early is asked for again. checks W-COMP-03[2], W-COMP-11[1,2],
 * W-RXE-31[2]
 */
Test(completer, W_COMP_11_each_atomic_has_its_own_answer)
{
	struct pair *p = watched_pair(&(struct pair_opts){0}, true);

	for (unsigned i = 0; i < 3; i++) {
		struct ndsh_sge sge = pair_sge(p, 0, 8 * i, 8);

		pair_post_sge(p, 0, 0, i, NDSH_OP_FETCH_ADD, 0, &sge);
	}
	pair_turn(p, 0);
	cr_assert_eq(watched.n, 3);
	atomic_ack(p, WATCHED_PSN + 1, 0x1111);
	atomic_ack(p, WATCHED_PSN + 3, 0x3333); /* never sent */
	atomic_ack(p, WATCHED_PSN - 1, 0x9999);
	pair_expect_none(p, 0);
	cr_assert_eq(watched.n, 6, "asked for again, from the first");
	cr_assert_eq(watched.pkt[3].psn, WATCHED_PSN);
	for (unsigned i = 0; i < 3; i++) {
		atomic_ack(p, WATCHED_PSN + i, 0x0102030405060708 + i);
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
		atomic_ack(p, WATCHED_PSN + i, 0x7777); /* once more */
	}
	for (unsigned i = 0; i < 3; i++) {
		uint64_t was;

		memcpy(&was, p->side[0].arena + 8 * i, sizeof(was));
		cr_assert_eq(was, 0x0102030405060708 + i);
	}
	pair_expect_none(p, 0);
	pair_expect_alive(p, 0, 0);
	pair_free(p);
}

/* ---- receivers that are not ready ---- */

/* checks W-COMP-04[3], W-RESP-03[2], W-RXE-22, W-TMR-06[1] */
Test(completer, W_RESP_03_a_sequence_nak_while_an_rnr_wait_runs)
{
	struct pair *p = watched_pair(&(struct pair_opts){0}, true);

	pair_send(p, 0, 0, 1, 0, 8, 0);
	pair_turn(p, 0);
	watched_answer(p, ROCE_ACK, 100, ROCE_SYN_RNR | 20); /* 10.24 ms */
	watched_answer(p, ROCE_ACK, 100, ROCE_SYN_NAK_SEQ);
	p->now_ns += 10000000;
	pair_turn(p, 0);
	cr_assert_eq(watched.n, 1, "W-TMR-06: at least the time asked for");
	p->now_ns += 300000;
	pair_turn(p, 0);
	cr_assert_eq(watched.n, 2);
	pair_free(p);
}

/* What is posted meanwhile does not end a wait that the peer asked for. checks W-TMR-06[2] */
Test(completer, W_COMP_04_posts_wait_with_an_rnr)
{
	struct pair *p = watched_pair(&(struct pair_opts){0}, true);

	pair_send(p, 0, 0, 1, 0, 8, 0);
	pair_turn(p, 0);
	watched_answer(p, ROCE_ACK, 100, ROCE_SYN_RNR | 20); /* 10.24 ms */
	for (unsigned i = 0; i < 5; i++) {
		pair_write(p, 0, 0, 2 + i, 0, 0, 8, 0);
		pair_turn(p, 0);
		p->now_ns += 2000000;
		pair_turn(p, 0);
		cr_assert_eq(watched.n, 1);
	}
	p->now_ns += 300000;
	pair_turn(p, 0);
	cr_assert_eq(watched.n, 7);
	pair_free(p);
}

static unsigned
rnr_tap(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	unsigned *naks = ctx;

	(void)p;
	(void)late_ns;
	if (from == 1 && pkt->opcode == ROCE_ACK && pkt->syndrome >> 5 == 1) {
		cr_assert_eq(pkt->syndrome, ROCE_SYN_RNR | 14);
		++*naks;
	}
	cr_assert(from != 1 || pkt->syndrome != ROCE_SYN_NAK_SEQ, "W-RESP-03");
	return 1;
}

/* No receive is posted: each try waits 1.28 ms (code 14). */
static void
not_ready(uint8_t rnr_retry, unsigned tries)
{
	struct pair *p = pair_new(&(struct pair_opts){.rnr_retry = rnr_retry, .min_rnr_code = 14});
	unsigned naks = 0;

	p->tap = rnr_tap;
	p->tap_ctx = &naks;
	pair_send(p, 0, 0, 1, 0, 3000, 0);
	pair_send(p, 0, 0, 2, 0, 8, 0);
	pair_run(p, (tries + 2) * 2000000);
	cr_assert_eq(naks, tries);
	pair_expect(p, 0, 1, NDSH_WC_RNR_RETRY_EXC_ERR);
	pair_expect(p, 0, 2, NDSH_WC_FLUSH_ERR);
	pair_expect_dead(p, 0, 0, ROCE_REASON_RNR_RETRY_EXC);
	cr_assert_eq(roce_qp_state_get(p->side[1].q[0].qp), ROCE_QPS_RTS);
	pair_free(p);
}

/* checks W-TMR-04[2,3], W-COMP-04[1] */
Test(completer, W_COMP_04_rnr_retry_0_and_1)
{
	not_ready(255, 1);
	not_ready(1, 2);
}

/* checks W-COMP-05[1], W-TMR-04[2], W-TMR-06[2] */
Test(completer, W_TMR_06_rnr_retry_7_waits_for_ever)
{
	struct pair *p = pair_new(&(struct pair_opts){.rnr_retry = 7, .min_rnr_code = 14});
	unsigned naks = 0;

	p->tap = rnr_tap;
	p->tap_ctx = &naks;
	pair_write(p, 0, 0, 1, 0, 4096, 8, 0);
	pair_send(p, 0, 0, 2, 0, 3000, 0);
	pair_write(p, 0, 0, 3, 0, 4096, 8, 0);
	cr_assert_not(pair_run(p, 100000000));
	cr_assert_geq(naks, 50);
	cr_assert_leq(naks, 78);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect_none(p, 0);
	pair_recv(p, 1, 0, 9, 0, 4096);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 3, NDSH_WC_SUCCESS);
	pair_expect(p, 1, 9, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* R-SR-05: for ever is what the peer grants; our own patience is a time, counted from the first
 * refusal since the last progress, and answers to the silence of receives alone. checks
 * R-SR-05[3], W-COMP-04[4], W-TMR-04[5] */
Test(completer, R_SR_05_patience_is_a_time)
{
	struct pair *p = pair_new(
		&(struct pair_opts){.rnr_retry = 7, .min_rnr_code = 14, .rnr_give_up_ms = 100});
	unsigned naks = 0;

	p->tap = rnr_tap;
	p->tap_ctx = &naks;
	pair_send(p, 0, 0, 1, 0, 8, 0);
	cr_assert_not(pair_run(p, 90000000));
	pair_expect_none(p, 0);
	pair_recv(p, 1, 0, 9, 0, 64); /* in the last moment: patience begins anew */
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 1, 9, NDSH_WC_SUCCESS);
	naks = 0;
	pair_send(p, 0, 0, 2, 0, 8, 0);
	pair_send(p, 0, 0, 3, 0, 8, 0);
	cr_assert_not(pair_run(p, 90000000));
	pair_expect_none(p, 0);
	pair_run(p, 12000000);
	pair_expect(p, 0, 2, NDSH_WC_RNR_RETRY_EXC_ERR);
	pair_expect(p, 0, 3, NDSH_WC_FLUSH_ERR);
	pair_expect_dead(p, 0, 0, ROCE_REASON_RNR_RETRY_EXC);
	cr_assert_geq(naks, 50, "it was tried all the while");
	pair_expect_none(p, 1);
	pair_free(p);
}

/* Other responders do ask: the requester waits and asks again. checks W-READ-03[3] */
Test(completer, W_READ_03_an_RNR_in_answer_to_a_read)
{
	struct ear e;
	struct pair *p = ear_pair(&e, (struct pair_opts){.rnr_retry = 7});

	e.deaf = true;
	pair_read(p, 0, 0, 1, 0, 0, 3 * EAR_MTU, 0);
	pair_turn(p, 0);
	ear_answer(p, EAR_PSN, ROCE_SYN_RNR | 1);
	cr_assert_eq(pair_count(p, 0)->rx_rnr, 1);
	e.deaf = false;
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	cr_assert_eq(pair_count(p, 0)->timeouts, 0);
	pair_free(p);
}

/* The peer is not ready for far longer than an acknowledgement may take. checks W-TMR-02[3] */
Test(completer, W_TMR_02_an_RNR_stops_it)
{
	struct ear e;
	struct pair *p = ear_pair(&e,
		(struct pair_opts){
			.timeout_code = 12, .rnr_retry = 7, .min_rnr_code = 31}); /* 491.52 ms */

	pair_send(p, 0, 0, 1, 0, 8, 0);
	(void)pair_run(p, 480 * UINT64_C(1000000));
	cr_assert_eq(pair_count(p, 0)->rx_rnr, 1);
	cr_assert_eq(p->sent[0], 1);
	pair_recv(p, 1, 0, 2, 0, 64);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	cr_assert_eq(pair_count(p, 0)->timeouts, 0);
	pair_free(p);
}

/* ---- progress ---- */

/* Answers that trickle in, each in time: nothing is sent twice, as long as it takes. checks
 * W-COMP-13[3], W-TMR-02[1,2] */
Test(completer, W_COMP_13_W_TMR_02_progress_restarts_the_timer)
{
	struct ear e;
	struct pair *p = ear_pair(&e, (struct pair_opts){.timeout_code = 12}); /* 16.8 ms */
	struct roce_usage u;

	e.deaf = true;
	for (unsigned i = 0; i < 20; i++)
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
	pair_turn(p, 0);
	roce_shard_usage(p->side[0].shard, &u);
	cr_assert_eq(u.timers, 1, "one for all");
	for (unsigned i = 0; i < 20; i++) {
		(void)pair_run(p, FLOOR * 8 / 10);
		ear_answer(p, EAR_PSN + i, ROCE_SYN_ACK);
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
	}
	cr_assert_eq(pair_count(p, 0)->timeouts, 0);
	cr_assert_eq(pair_count(p, 0)->retransmitted_packets, 0);
	pair_free(p);
}

static unsigned
lose_first_copies(
	struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	static bool seen[256];

	(void)p;
	(void)late_ns;
	(void)ctx;
	if (from == 1 || seen[pkt->psn & 0xff])
		return 1;
	seen[pkt->psn & 0xff] = true;
	return 0;
}

/* A single retry, and each request needs it: at this timeout, 131 us, each try costs one. checks
 * W-COMP-13[1] */
Test(completer, W_COMP_13_progress_renews_the_retries)
{
	struct pair *p = pair_new(&(struct pair_opts){.retry = 1, .timeout_code = 5});

	p->tap = lose_first_copies;
	for (unsigned i = 0; i < 20; i++) {
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
	}
	cr_assert_geq(pair_count(p, 0)->timeouts, 20);
	pair_free(p);
}

/* checks W-COMP-13[2] */
Test(completer, W_COMP_13_progress_renews_the_patience_with_receivers)
{
	struct pair *p = pair_new(&(struct pair_opts){.rnr_retry = 1, .min_rnr_code = 10});

	for (unsigned i = 0; i < 20; i++) {
		pair_send(p, 0, 0, i, 0, 8, 0);
		(void)pair_run(p, 10000); /* refused by now */
		pair_recv(p, 1, 0, i, 0, 64);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
		pair_expect(p, 1, i, NDSH_WC_SUCCESS);
	}
	cr_assert_eq(pair_count(p, 0)->rx_rnr, 20);
	pair_free(p);
}
