/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers that are none for the request they come for, or come for one that has not left; and what
 * an answer to a NAK tells of the path. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/overheard.h"
#include "roce/qp/qp.h"

#define US  UINT64_C(1000)
#define MTU 1024u

static struct roce_qp *
qp_of(struct pair *p)
{
	return p->side[0].q[0].qp;
}

/* checks W-COMP-11[1,2]: an atomic is answered by an atomic acknowledge that acknowledges. */
Test(answers, W_COMP_11_the_answer_of_an_atomic)
{
	static const struct {
		uint8_t opcode, syndrome;
		bool good;
	} of[] = {{ROCE_ATOMIC_ACK, ROCE_SYN_ACK, true}, {ROCE_ATOMIC_ACK, 0, true},
		{ROCE_ATOMIC_ACK, ROCE_SYN_RNR, false}, {ROCE_ATOMIC_ACK, 0x40, false},
		{ROCE_ATOMIC_ACK, ROCE_SYN_NAK_SEQ, false},
		{ROCE_ATOMIC_ACK, ROCE_SYN_NAK_REM_OP, false},
		{ROCE_READ_RESP_FIRST, ROCE_SYN_ACK, false}, {ROCE_READ_RESP_MIDDLE, 0, false},
		{ROCE_READ_RESP_LAST, ROCE_SYN_ACK, false},
		{ROCE_READ_RESP_ONLY, ROCE_SYN_ACK, false}};

	for (unsigned i = 0; i < 2 * sizeof(of) / sizeof(of[0]); i++) {
		const unsigned k = i / 2;
		struct pair *p = watched_pair(&(struct pair_opts){0}, true);
		struct ndsh_sge sge = pair_sge(p, 0, 0, 8);

		memset(p->side[0].arena, 0x5c, 8);
		pair_post_sge(p, 0, 0, 1, i % 2 ? NDSH_OP_FETCH_ADD : NDSH_OP_CMP_SWAP, 0, &sge);
		pair_turn(p, 0);
		watched_answer(p, of[k].opcode, WATCHED_PSN, of[k].syndrome);
		pair_expect(p, 0, 1, of[k].good ? NDSH_WC_SUCCESS : NDSH_WC_BAD_RESP_ERR);
		cr_assert_eq(p->side[0].arena[0], of[k].good ? 0 : 0x5c);
		if (!of[k].good)
			pair_expect_dead(p, 0, 0, ROCE_REASON_BAD_RESPONSE);
		pair_free(p);
	}
}

static void
read_response(struct pair *p, uint8_t opcode, uint32_t ahead)
{
	static const uint8_t payload[MTU];

	pair_inject(p, 0, 0,
		&(struct roce_pkt){.opcode = opcode,
			.qpn = roce_qp_num(qp_of(p)),
			.psn = WATCHED_PSN + ahead,
			.pkey = ROCE_PKEY_DEFAULT,
			.syndrome = opcode == ROCE_READ_RESP_MIDDLE ? 0 : ROCE_SYN_ACK,
			.payload_bytes = MTU},
		payload);
	pair_turn(p, 0);
}

/* A READ of three responses that was answered in part. */
static struct pair *
read_begun(void)
{
	struct pair *p = watched_pair(&(struct pair_opts){.mtu = MTU}, true);

	pair_read(p, 0, 0, 1, 0, 0, 3 * MTU, 0);
	pair_turn(p, 0);
	p->now_ns += 100 * US;
	read_response(p, ROCE_READ_RESP_FIRST, 0);
	read_response(p, ROCE_READ_RESP_MIDDLE, 1);
	cr_assert_eq(watched.n, 1);
	return p;
}

/* checks W-COMP-01[2]: for a part that has come already, neither what is no NAK nor what is none of
 * an Acknowledge packet means anything: nothing is sent again, and nothing ends. */
Test(answers, W_COMP_01_for_a_part_that_has_come)
{
	static const struct {
		uint8_t opcode, syndrome;
	} of[] = {{ROCE_ACK, ROCE_SYN_ACK}, {ROCE_ACK, 0}, {ROCE_ACK, 0x40}, {ROCE_ACK, 0x5f},
		{ROCE_ACK, 0x64}, {ROCE_ACK, 0x7f}, {ROCE_ACK, 0x80},
		{ROCE_ATOMIC_ACK, ROCE_SYN_NAK_REM_ACCESS}, {ROCE_ATOMIC_ACK, ROCE_SYN_NAK_SEQ},
		{ROCE_ATOMIC_ACK, ROCE_SYN_RNR | 1}};

	for (unsigned i = 0; i < 2 * sizeof(of) / sizeof(of[0]); i++) {
		struct pair *p = read_begun();

		watched_answer(p, of[i / 2].opcode, WATCHED_PSN + i % 2, of[i / 2].syndrome);
		cr_assert_eq(watched.n, 1, "case %u", i);
		cr_assert_eq(pair_count(p, 0)->rx_ghost_response, 1, "case %u", i);
		read_response(p, ROCE_READ_RESP_LAST, 2);
		pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
		pair_expect_alive(p, 0, 0);
		pair_free(p);
	}
}

/* checks W-COMP-01[1]: what has not left can't be answered, though its PSN is the next one due. */
Test(answers, W_COMP_01_for_what_has_not_left)
{
	static const uint8_t syndromes[] = {ROCE_SYN_ACK, ROCE_SYN_NAK_SEQ, ROCE_SYN_RNR | 1,
		ROCE_SYN_NAK_INV_REQ, ROCE_SYN_NAK_REM_ACCESS, ROCE_SYN_NAK_REM_OP};

	for (unsigned i = 0; i < sizeof(syndromes); i++) {
		struct pair *p = watched_pair(&(struct pair_opts){.moved = true}, true);
		struct ndsh_sge sge = pair_moved_sge(p, 0, 0, 8);

		p->side[0].stalled = true;
		pair_post_sge(p, 0, 0, 1, NDSH_OP_WRITE, 0, &sge);
		pair_turn(p, 0);
		cr_assert_eq(watched.n, 0);
		watched_answer(p, ROCE_ACK, WATCHED_PSN, syndromes[i]);
		cr_assert_eq(pair_count(p, 0)->rx_ghost_response, 1);
		pair_expect_none(p, 0);
		p->side[0].stalled = false;
		for (unsigned k = 0; k < 4; k++)
			pair_turn(p, 0);
		cr_assert_eq(watched.n, 1);
		/* What has left keeps nothing that is posted behind it waiting. */
		pair_write(p, 0, 0, 2, 0, 0, 8, 0);
		pair_turn(p, 0);
		cr_assert_eq(watched.n, 2);
		watched_answer(p, ROCE_ACK, WATCHED_PSN + 1, ROCE_SYN_ACK);
		pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
		pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
		pair_free(p);
	}
}

/*
 * checks W-TMR-07: a sequence NAK names the packet that it misses, so that the time from there to
 * the answer is a round trip, if it was heeded: one that the same loss causes changes nothing of
 * that. One for a part of a READ that has come names no packet that leaves.
 */
Test(answers, W_TMR_07_a_nak_begins_a_round_trip)
{
	for (unsigned again = 0; again < 2; again++) {
		struct pair *p = watched_pair(&(struct pair_opts){0}, true);

		pair_write(p, 0, 0, 1, 0, 0, 8, 0);
		pair_turn(p, 0);
		p->now_ns += 100 * US;
		watched_answer(p, ROCE_ACK, WATCHED_PSN, ROCE_SYN_NAK_SEQ);
		cr_assert_eq(watched.n, 2);
		p->now_ns += 10 * US;
		if (again)
			watched_answer(p, ROCE_ACK, WATCHED_PSN, ROCE_SYN_NAK_SEQ);
		p->now_ns += 30 * US;
		watched_answer(p, ROCE_ACK, WATCHED_PSN, ROCE_SYN_ACK);
		pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
		cr_assert_eq(qp_of(p)->srtt_ns, 40 * US);
		pair_free(p);
	}
}

/* ... and does not keep the next request from being measured. */
Test(answers, W_TMR_07_a_late_nak_begins_none)
{
	struct pair *p = read_begun();
	uint32_t before = qp_of(p)->srtt_ns;

	watched_answer(p, ROCE_ACK, WATCHED_PSN, ROCE_SYN_NAK_SEQ);
	cr_assert_eq(watched.n, 2);
	p->now_ns += 30 * US;
	read_response(p, ROCE_READ_RESP_LAST, 2);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	cr_assert_eq(qp_of(p)->srtt_ns, before);
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	pair_turn(p, 0);
	p->now_ns += 900 * US;
	watched_answer(p, ROCE_ACK, WATCHED_PSN + 3, ROCE_SYN_ACK);
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	cr_assert_eq(qp_of(p)->srtt_ns, before - before / 8 + 900 * US / 8);
	pair_free(p);
}
