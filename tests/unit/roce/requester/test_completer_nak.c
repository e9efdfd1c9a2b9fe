/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The completer: NAKs that name a part of a request which is answered or acknowledged already, and
 * the end of an RNR wait.
 */
#include <criterion/criterion.h>

#include "rigs/overheard.h"

#define MTU   256u
#define FIRST 0xfffffdu /* of the READ: the wrap lies among its responses */
#define N     6u	/* of them */
#define MS    UINT64_C(1000000)
#define RNR   (ROCE_SYN_RNR | 20) /* 10.24 ms */

static uint32_t
read_psn(uint32_t n)
{
	return (FIRST + n) & ROCE_PSN_MASK;
}

static void
read_respond(struct pair *p, uint32_t n, uint8_t opcode)
{
	static const uint8_t payload[MTU];

	pair_inject(p, 0, 0,
		&(struct roce_pkt){.opcode = opcode,
			.qpn = roce_qp_num(p->side[0].q[0].qp),
			.psn = read_psn(n),
			.pkey = ROCE_PKEY_DEFAULT,
			.syndrome = ROCE_SYN_ACK,
			.payload_bytes = MTU},
		payload);
	pair_turn(p, 0);
}

/* A WRITE that is acknowledged, a READ of which the first responses came, a WRITE behind them. */
static struct pair *
read_begun(uint32_t answered, uint8_t retry, uint8_t rnr_retry)
{
	struct pair *p = watched_pair(&(struct pair_opts){.mtu = MTU,
					      .set_psn = true,
					      .sq_psn = {(FIRST - 1) & ROCE_PSN_MASK, 500},
					      .retry = retry,
					      .rnr_retry = rnr_retry,
					      .timeout_code = 18},
		true);

	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_read(p, 0, 0, 2, 4096, 0, N * MTU, 0);
	pair_write(p, 0, 0, 3, 0, 0, 8, 0);
	pair_turn(p, 0);
	cr_assert_eq(watched.n, 3);
	watched_answer(p, ROCE_ACK, (FIRST - 1) & ROCE_PSN_MASK, ROCE_SYN_ACK);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	for (uint32_t n = 0; n < answered; n++)
		read_respond(p, n, n == 0 ? ROCE_READ_RESP_FIRST : ROCE_READ_RESP_MIDDLE);
	return p;
}

/* The rest of the READ arrives; then what is behind it is acknowledged. */
static void
read_ends(struct pair *p, uint32_t answered)
{
	for (uint32_t n = answered; n < N; n++)
		read_respond(p, n,
			n == N - 1 ? ROCE_READ_RESP_LAST
			: n == 0   ? ROCE_READ_RESP_FIRST
				   : ROCE_READ_RESP_MIDDLE);
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	watched_answer(p, ROCE_ACK, read_psn(N), ROCE_SYN_ACK);
	pair_expect(p, 0, 3, NDSH_WC_SUCCESS);
	pair_expect_alive(p, 0, 0);
}

/* The newest thing that side 0 said asks for what is missing of the READ. */
static void
asked_again(uint32_t at, uint32_t answered)
{
	cr_assert_eq(watched.pkt[at].opcode, ROCE_READ_REQUEST);
	cr_assert_eq(watched.pkt[at].psn, read_psn(answered));
	cr_assert_eq(watched.pkt[at].va, PAIR_VA + answered * MTU);
	cr_assert_eq(watched.pkt[at].dma_bytes, (N - answered) * MTU);
}

/* ---- W-COMP-06 ---- */

/* Whichever PSN of the READ it names, and however many responses came. checks W-COMP-06[1,2] */
Test(completer_nak, W_COMP_06_a_fatal_nak_for_each_psn_of_a_read)
{
	for (unsigned f = 0; f < WATCHED_FATAL_NAKS; f++)
		for (uint32_t answered = 0; answered < N; answered++)
			for (uint32_t n = 0; n < N; n++) {
				const struct watched_fatal_nak *nak = &watched_fatal_naks[f];
				struct pair *p = read_begun(answered, 7, 7);
				struct ndsh_cqe c;

				watched_answer(p, ROCE_ACK, read_psn(n), nak->syndrome);
				c = pair_expect(p, 0, 2, nak->status);
				cr_assert_eq(c.syndrome, nak->syndrome);
				pair_expect(p, 0, 3, NDSH_WC_FLUSH_ERR);
				pair_expect_none(p, 0);
				pair_expect_dead(p, 0, 0, nak->reason);
				cr_assert_eq(watched.n, 3, "nothing is sent for it");
				cr_assert_eq(pair_count(p, 0)->rx_ghost_response, 0);
				pair_free(p);
			}
}

/* As the answer to a READ an RNR NAK has its first PSN, or that of the next response: the
 * requester waits, and asks for what is missing. checks W-COMP-06[4], W-READ-03[3,4], W-RXE-26,
 * W-TMR-06[1] */
Test(completer_nak, W_COMP_06_an_rnr_nak_for_a_part_that_is_answered)
{
	for (uint32_t answered = 0; answered < N; answered++)
		for (uint32_t n = 0; n <= answered; n++) {
			struct pair *p = read_begun(answered, 7, 7);

			watched_answer(p, ROCE_ACK, read_psn(n), RNR);
			cr_assert_eq(pair_count(p, 0)->rx_rnr, 1);
			(void)pair_run(p, 10 * MS);
			cr_assert_eq(watched.n, 3, "it waits");
			(void)pair_run(p, MS / 2);
			cr_assert_eq(watched.n, 5);
			asked_again(3, answered);
			cr_assert_eq(pair_count(p, 0)->timeouts, 0);
			read_ends(p, answered);
			pair_free(p);
		}
}

/* It costs as much as any other. checks W-COMP-06[4], W-COMP-04[1] */
Test(completer_nak, W_COMP_06_an_rnr_nak_for_a_part_that_is_answered_is_counted)
{
	struct pair *p = read_begun(2, 7, 1);

	watched_answer(p, ROCE_ACK, FIRST, RNR);
	(void)pair_run(p, 11 * MS);
	pair_expect_alive(p, 0, 0);
	watched_answer(p, ROCE_ACK, FIRST, RNR);
	pair_expect(p, 0, 2, NDSH_WC_RNR_RETRY_EXC_ERR);
	pair_expect(p, 0, 3, NDSH_WC_FLUSH_ERR);
	pair_expect_dead(p, 0, 0, ROCE_REASON_RNR_RETRY_EXC);
	pair_free(p);
}

/* Back to what is missing, for the price of a retry. checks W-COMP-06[4], W-TMR-05[1], W-REQ-11 */
Test(completer_nak, W_COMP_06_a_sequence_nak_for_a_part_that_is_answered)
{
	for (uint32_t answered = 1; answered < N; answered++)
		for (uint32_t n = 0; n <= answered; n++) {
			struct pair *p = read_begun(answered, 1, 7);

			watched_answer(p, ROCE_ACK, read_psn(n), ROCE_SYN_NAK_SEQ);
			cr_assert_eq(watched.n, 5);
			asked_again(3, answered);
			watched_answer(p, ROCE_ACK, read_psn(n), ROCE_SYN_NAK_SEQ);
			cr_assert_eq(watched.n, 5, "once per loss");
			read_ends(p, answered);
			pair_free(p);
		}
	for (unsigned retry = 0; retry < 2; retry++) {
		struct pair *p = read_begun(1, retry == 0 ? 255 : 1, 7);

		watched_answer(p, ROCE_ACK, FIRST, ROCE_SYN_NAK_SEQ);
		if (retry == 0)
			pair_expect(p, 0, 2, NDSH_WC_RETRY_EXC_ERR);
		else
			pair_expect_alive(p, 0, 0);
		pair_free(p);
	}
}

/* Old ones that arrive once more, between any two responses: the next response makes them good,
 * with the smallest of budgets, and the READ ends without a wait. checks W-COMP-06[5],
 * W-COMP-13[1,2], W-TMR-06[3] */
Test(completer_nak, W_COMP_06_old_naks_among_the_responses)
{
	static const uint8_t old[] = {RNR, ROCE_SYN_NAK_SEQ, ROCE_SYN_ACK, ROCE_SYN_NAK_SEQ + 5};

	for (size_t o = 0; o < sizeof(old); o++) {
		struct pair *p = read_begun(1, 1, 1);
		uint64_t start = p->now_ns;

		for (uint32_t n = 1; n < N - 1; n++) {
			watched_answer(p, ROCE_ACK, FIRST, old[o]);
			pair_expect_alive(p, 0, 0);
			read_respond(p, n, ROCE_READ_RESP_MIDDLE);
		}
		watched_answer(p, ROCE_ACK, FIRST, old[o]);
		read_ends(p, N - 1);
		cr_assert_eq(p->now_ns, start);
		pair_free(p);
	}
}

/* Old responses are no NAKs, whatever their syndrome says. checks W-COMP-01[2] */
Test(completer_nak, W_COMP_01_old_responses_with_a_syndrome)
{
	static const uint8_t syndromes[] = {
		RNR, ROCE_SYN_NAK_SEQ, ROCE_SYN_NAK_REM_ACCESS, ROCE_SYN_ACK};

	for (size_t s = 0; s < sizeof(syndromes); s++) {
		struct pair *p = read_begun(2, 255, 255);
		static const uint8_t payload[MTU];

		for (uint32_t n = 0; n < 2; n++)
			pair_inject(p, 0, 0,
				&(struct roce_pkt){.opcode = ROCE_READ_RESP_FIRST,
					.qpn = roce_qp_num(p->side[0].q[0].qp),
					.psn = read_psn(n),
					.pkey = ROCE_PKEY_DEFAULT,
					.syndrome = syndromes[s],
					.payload_bytes = MTU},
				payload);
		pair_turn(p, 0);
		cr_assert_eq(pair_count(p, 0)->rx_ghost_response, 2);
		cr_assert_eq(watched.n, 3);
		read_ends(p, 2);
		pair_free(p);
	}
}

/* When the READ is complete they mean nothing; nor does a NAK, when its request is complete.
 * checks W-COMP-01[2,3] */
Test(completer_nak, W_COMP_01_naks_of_what_is_complete)
{
	static const uint8_t old[] = {RNR, ROCE_SYN_NAK_SEQ, ROCE_SYN_NAK_INV_REQ,
		ROCE_SYN_NAK_REM_ACCESS, ROCE_SYN_NAK_REM_OP, ROCE_SYN_ACK};

	for (size_t o = 0; o < sizeof(old); o++) {
		struct pair *p = read_begun(N - 1, 255, 255);

		read_respond(p, N - 1, ROCE_READ_RESP_LAST);
		pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
		for (uint32_t n = 0; n < N; n++)
			watched_answer(p, ROCE_ACK, read_psn(n), old[o]);
		watched_answer(p, ROCE_ACK, (FIRST - 1) & ROCE_PSN_MASK, old[o]);
		cr_assert_eq(pair_count(p, 0)->rx_ghost_response, N + 1);
		cr_assert_eq(watched.n, 3);
		watched_answer(p, ROCE_ACK, read_psn(N), ROCE_SYN_ACK);
		pair_expect(p, 0, 3, NDSH_WC_SUCCESS);
		pair_expect_alive(p, 0, 0);
		pair_free(p);
	}
}

/* SENDs and WRITEs: a fatal NAK fails the one that owns its PSN, acknowledged or not; others mean
 * nothing for packets that were acknowledged. checks W-COMP-06[3], W-COMP-01[2] */
Test(completer_nak, W_COMP_06_naks_for_a_part_that_is_acknowledged)
{
	static const uint8_t old[] = {RNR, ROCE_SYN_NAK_SEQ, ROCE_SYN_ACK, 0x64};

	for (unsigned send = 0; send < 2; send++)
		for (uint32_t n = 0; n < 3; n++) {
			struct pair *p = watched_pair(
				&(struct pair_opts){.mtu = MTU, .retry = 255, .rnr_retry = 255},
				true);

			if (send)
				pair_send(p, 0, 0, 1, 0, 5 * MTU, 0);
			else
				pair_write(p, 0, 0, 1, 0, 0, 5 * MTU, 0);
			pair_write(p, 0, 0, 2, 0, 0, 8, 0);
			pair_turn(p, 0);
			watched_answer(p, ROCE_ACK, WATCHED_PSN + 2, ROCE_SYN_ACK);
			for (size_t o = 0; o < sizeof(old); o++)
				watched_answer(p, ROCE_ACK, WATCHED_PSN + n, old[o]);
			cr_assert_eq(pair_count(p, 0)->rx_ghost_response, sizeof(old));
			cr_assert_eq(watched.n, 6);
			pair_expect_alive(p, 0, 0);
			watched_answer(p, ROCE_ACK, WATCHED_PSN + n, ROCE_SYN_NAK_INV_REQ);
			pair_expect(p, 0, 1, NDSH_WC_REM_INV_REQ_ERR);
			pair_expect(p, 0, 2, NDSH_WC_FLUSH_ERR);
			pair_expect_dead(p, 0, 0, ROCE_REASON_NAK_INV_REQ);
			pair_free(p);
		}
}

/* ---- the end of an RNR wait ---- */

#define LONGEST ROCE_SYN_RNR /* code 0: 655 ms */

/* Three SENDs, of which the peer refuses the second for as long as it can. */
static struct pair *
waiting(uint8_t timeout_code)
{
	struct pair *p = watched_pair(
		&(struct pair_opts){.rnr_retry = 1, .timeout_code = timeout_code}, true);

	for (unsigned i = 0; i < 3; i++)
		pair_send(p, 0, 0, i, 0, 8, 0);
	pair_turn(p, 0);
	watched_answer(p, ROCE_ACK, WATCHED_PSN + 1, LONGEST);
	pair_expect(p, 0, 0, NDSH_WC_SUCCESS);
	(void)pair_run(p, MS);
	cr_assert_eq(watched.n, 3);
	return p;
}

/* A copy of it was under way, and was accepted: what the peer dropped behind it is sent again at
 * once, and new requests with it. checks W-TMR-06[3,4], W-COMP-13[2] */
Test(completer_nak, W_TMR_06_what_was_refused_is_accepted)
{
	struct pair *p = waiting(18);

	watched_answer(p, ROCE_ACK, WATCHED_PSN + 1, ROCE_SYN_ACK);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	cr_assert_eq(watched.n, 4);
	cr_assert_eq(watched.pkt[3].psn, WATCHED_PSN + 2);
	pair_send(p, 0, 0, 3, 0, 8, 0);
	pair_turn(p, 0);
	cr_assert_eq(watched.n, 5);
	(void)pair_run(p, 2 * MS); /* the timer is that of an ACK again */
	cr_assert_eq(watched.n, 7);
	cr_assert_eq(watched.pkt[5].psn, WATCHED_PSN + 2);
	watched_answer(p, ROCE_ACK, WATCHED_PSN + 2, LONGEST); /* the budget is whole again */
	pair_expect_alive(p, 0, 0);
	watched_answer(p, ROCE_ACK, WATCHED_PSN + 3, ROCE_SYN_ACK);
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 3, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* ... and so was all behind it: nothing is left to wait for, and the next request leaves at once.
 * checks W-TMR-06[3] */
Test(completer_nak, W_TMR_06_everything_is_accepted)
{
	struct pair *p = waiting(18);

	watched_answer(p, ROCE_ACK, WATCHED_PSN + 2, ROCE_SYN_ACK);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	cr_assert_eq(watched.n, 3);
	pair_send(p, 0, 0, 3, 0, 8, 0);
	pair_turn(p, 0);
	cr_assert_eq(watched.n, 4);
	watched_answer(p, ROCE_ACK, WATCHED_PSN + 3, ROCE_SYN_ACK);
	pair_expect(p, 0, 3, NDSH_WC_SUCCESS);
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert_eq(pair_count(p, 0)->timeouts, 0);
	cr_assert_eq(watched.n, 4);
	pair_free(p);
}

/* Without a timeout no timer is left behind, whose end would be taken for one. checks
 * W-TMR-06[3,4], W-TMR-01[2] */
Test(completer_nak, W_TMR_06_what_was_refused_is_accepted_and_there_is_no_timeout)
{
	struct pair *p = waiting(255);

	watched_answer(p, ROCE_ACK, WATCHED_PSN + 1, ROCE_SYN_ACK);
	cr_assert_eq(watched.n, 4);
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert_eq(watched.n, 4);
	cr_assert_eq(pair_count(p, 0)->timeouts, 0);
	pair_expect_alive(p, 0, 0);
	pair_free(p);
}

/* What says nothing new of the refused request ends no wait. checks W-COMP-04[3], W-TMR-06[1] */
Test(completer_nak, W_TMR_06_what_ends_no_wait)
{
	struct pair *p = waiting(18);

	watched_answer(p, ROCE_ACK, WATCHED_PSN, ROCE_SYN_ACK);
	watched_answer(p, ROCE_ACK, WATCHED_PSN + 1, ROCE_SYN_NAK_SEQ);
	watched_answer(p, ROCE_ACK, WATCHED_PSN + 1, LONGEST);
	watched_answer(p, ROCE_ACK, WATCHED_PSN + 3, ROCE_SYN_ACK);
	watched_answer(p, ROCE_ACK, WATCHED_PSN + 1, 0x64);
	watched_answer(p, ROCE_ACK, WATCHED_PSN + 1, 0x41);
	pair_expect_none(p, 0);
	(void)pair_run(p, 654 * MS);
	cr_assert_eq(watched.n, 3);
	cr_assert_eq(pair_count(p, 0)->rx_rnr, 1, "a second one means nothing");
	(void)pair_run(p, MS);
	cr_assert_eq(watched.n, 5);
	cr_assert_eq(watched.pkt[3].psn, WATCHED_PSN + 1);
	pair_expect_alive(p, 0, 0);
	pair_free(p);
}

/* The READ waits, so what lies beyond it tells of no loss: it is asked for again when the wait is
 * over. checks W-TMR-06[1] */
Test(completer_nak, W_TMR_06_an_ack_beyond_a_read_that_waits)
{
	struct pair *p = read_begun(1, 7, 7);

	watched_answer(p, ROCE_ACK, FIRST, RNR);
	for (unsigned i = 0; i < 2; i++)
		watched_answer(p, ROCE_ACK, read_psn(N), ROCE_SYN_ACK);
	cr_assert_eq(pair_count(p, 0)->implied_nak, 0);
	(void)pair_run(p, 10 * MS);
	cr_assert_eq(watched.n, 3);
	(void)pair_run(p, MS / 2);
	cr_assert_eq(watched.n, 5);
	asked_again(3, 1);
	read_ends(p, 1);
	pair_free(p);
}

/* Only a fatal NAK is the last word in a wait, too. checks W-COMP-04[1] */
Test(completer_nak, W_COMP_04_a_fatal_nak_in_a_wait)
{
	struct pair *p = waiting(18);

	watched_answer(p, ROCE_ACK, WATCHED_PSN + 1, ROCE_SYN_NAK_REM_OP);
	pair_expect(p, 0, 1, NDSH_WC_REM_OP_ERR);
	pair_expect(p, 0, 2, NDSH_WC_FLUSH_ERR);
	pair_expect_dead(p, 0, 0, ROCE_REASON_NAK_REM_OP);
	pair_free(p);
}
