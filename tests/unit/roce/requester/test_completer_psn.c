/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The completer: which PSN of an answer finishes what, for every answer to a row of requests whose
 * PSNs run over the wrap.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/overheard.h"

#define MTU   256u
#define FIRST 0xfffffbu /* PSN of the row: the wrap lies in the middle */
#define ROW   6u

/* Packets of each request of the row. */
static const uint32_t packets[ROW] = {1, 3, 2, 1, 4, 2};
#define PSNS 13u

/* PSNs, counted from FIRST, of request i: [begin, end). */
static uint32_t
row_begin(unsigned i)
{
	uint32_t n = 0;

	while (i-- > 0)
		n += packets[i];
	return n;
}

static uint32_t
row_end(unsigned i)
{
	return row_begin(i) + packets[i];
}

static uint32_t
row_psn(uint32_t n)
{
	return (FIRST + n) & ROCE_PSN_MASK;
}

/* All of the row is sent, and nothing arrives. read: which of them is a READ; ROW: none. */
static struct pair *
row_new(unsigned read)
{
	struct pair *p = watched_pair(&(struct pair_opts){.mtu = MTU,
					      .set_psn = true,
					      .sq_psn = {FIRST, 500},
					      .retry = 7,
					      .rnr_retry = 7},
		true);

	for (unsigned i = 0; i < ROW; i++) {
		uint32_t bytes = packets[i] * MTU - 5;

		if (i == read)
			pair_read(p, 0, 0, i, 0, 0, bytes, 0);
		else if (i % 2 == 0)
			pair_send(p, 0, 0, i, 0, bytes, 0);
		else
			pair_write(p, 0, 0, i, 0, 0, bytes, 0);
	}
	pair_turn(p, 0);
	cr_assert_eq(watched.n, read == ROW ? PSNS : PSNS - packets[read] + 1);
	return p;
}

/* Those of the row from *next on whose last PSN is before n are finished, and no others. */
static void
finished_before(struct pair *p, unsigned *next, uint32_t n)
{
	for (; *next < ROW && row_end(*next) <= n; ++*next)
		pair_expect(p, 0, *next, NDSH_WC_SUCCESS);
	pair_expect_none(p, 0);
}

/* One ACK, then another: newer, older or the same. What is behind the newest sent means nothing.
 * checks W-COMP-02, W-COMP-01, W-PSN-01, W-PSN-05 */
Test(completer_psn, W_COMP_02_each_acknowledgement)
{
	for (uint32_t one = 0; one < PSNS + 3; one++)
		for (uint32_t two = 0; two < PSNS + 3; two++) {
			struct pair *p = row_new(ROW);
			uint32_t acked = 0;
			unsigned next = 0;

			watched_answer(p, ROCE_ACK, row_psn(one), ROCE_SYN_ACK);
			acked = one < PSNS ? one + 1 : 0;
			finished_before(p, &next, acked);
			watched_answer(p, ROCE_ACK, row_psn(two), ROCE_SYN_ACK);
			acked = two < PSNS && two + 1 > acked ? two + 1 : acked;
			finished_before(p, &next, acked);
			cr_assert_eq(watched.n, PSNS, "nothing is sent for it");
			pair_expect_alive(p, 0, 0);
			pair_free(p);
		}
}

/* All before it is acknowledged; what was refused is sent again, now or when the wait is over.
 * checks W-COMP-05, W-REQ-10, W-TMR-06 */
static void
refused_for_a_while(uint8_t syndrome)
{
	for (uint32_t at = 0; at < PSNS; at++) {
		struct pair *p = row_new(ROW);
		unsigned next = 0;

		watched_answer(p, ROCE_ACK, row_psn(at), syndrome);
		finished_before(p, &next, at);
		if (syndrome != ROCE_SYN_NAK_SEQ) {
			cr_assert_eq(watched.n, PSNS, "it waits");
			p->now_ns += 2000000;
			pair_turn(p, 0);
		}
		cr_assert_eq(watched.n, PSNS + PSNS - at);
		for (uint32_t n = at; n < PSNS; n++) {
			const struct roce_pkt *again = &watched.pkt[PSNS + n - at];

			cr_assert_eq(again->psn, row_psn(n));
			cr_assert_eq(again->opcode, watched.pkt[n].opcode);
			cr_assert_eq(again->payload_bytes, watched.pkt[n].payload_bytes);
		}
		pair_expect_alive(p, 0, 0);
		pair_free(p);
	}
}

Test(completer_psn, W_COMP_05_each_sequence_nak)
{
	refused_for_a_while(ROCE_SYN_NAK_SEQ);
}

Test(completer_psn, W_COMP_05_each_rnr_nak)
{
	refused_for_a_while(ROCE_SYN_RNR | 12); /* 0.64 ms */
}

/* What is before it succeeds, the request that it names fails, the rest is flushed.
 * checks W-COMP-05, W-COMP-06, W-ERR-01 */
Test(completer_psn, W_COMP_05_each_fatal_nak)
{
	static const struct {
		uint8_t syndrome, status;
		enum roce_reason reason;
	} of[] = {{ROCE_SYN_NAK_INV_REQ, NDSH_WC_REM_INV_REQ_ERR, ROCE_REASON_NAK_INV_REQ},
		{ROCE_SYN_NAK_REM_ACCESS, NDSH_WC_REM_ACCESS_ERR, ROCE_REASON_NAK_REM_ACCESS},
		{ROCE_SYN_NAK_REM_OP, NDSH_WC_REM_OP_ERR, ROCE_REASON_NAK_REM_OP}};

	for (size_t f = 0; f < sizeof(of) / sizeof(of[0]); f++)
		for (uint32_t at = 0; at < PSNS; at++) {
			struct pair *p = row_new(ROW);
			unsigned i = 0;

			watched_answer(p, ROCE_ACK, row_psn(at), of[f].syndrome);
			for (; row_end(i) <= at; i++)
				pair_expect(p, 0, i, NDSH_WC_SUCCESS);
			pair_expect(p, 0, i++, of[f].status);
			for (; i < ROW; i++)
				pair_expect(p, 0, i, NDSH_WC_FLUSH_ERR);
			pair_expect_none(p, 0);
			pair_expect_dead(p, 0, 0, of[f].reason);
			pair_free(p);
		}
}

/* ---- with a READ in the row ---- */

/* ACKs and NAKs of all kinds, for each PSN, with the READ at each place: they reach up to it.
 * Beyond it they are an implied NAK: the READ is asked for again before anything else is made of
 * them. checks W-COMP-03, W-COMP-05 */
Test(completer_psn, W_COMP_03_nothing_reaches_over_a_read)
{
	static const uint8_t syndromes[] = {ROCE_SYN_ACK, ROCE_SYN_NAK_SEQ, ROCE_SYN_RNR | 20};

	for (size_t s = 0; s < sizeof(syndromes); s++)
		for (unsigned read = 0; read < ROW; read++)
			for (uint32_t at = 0; at < PSNS; at++) {
				struct pair *p = row_new(read);
				bool ack = syndromes[s] == ROCE_SYN_ACK;
				uint32_t covers = ack ? at + 1 : at, begin = row_begin(read);
				unsigned next = 0, sent = watched.n;

				watched_answer(p, ROCE_ACK, row_psn(at), syndromes[s]);
				finished_before(p, &next, covers < begin ? covers : begin);
				if (covers > begin) {
					cr_assert_eq(pair_count(p, 0)->implied_nak, 1);
					cr_assert_eq(pair_count(p, 0)->rx_rnr, 0);
					cr_assert_gt(watched.n, sent);
					cr_assert_eq(watched.pkt[sent].opcode, ROCE_READ_REQUEST);
					cr_assert_eq(watched.pkt[sent].psn, row_psn(begin));
				} else {
					cr_assert_eq(pair_count(p, 0)->implied_nak, 0);
				}
				pair_expect_alive(p, 0, 0);
				pair_free(p);
			}
}

/* The READ cannot be answered any more: it is flushed, in front of the one that fails.
 * checks W-COMP-05 */
Test(completer_psn, W_COMP_05_a_fatal_nak_beyond_a_read)
{
	for (unsigned read = 0; read < ROW; read++)
		for (uint32_t at = row_end(read); at < PSNS; at++) {
			struct pair *p = row_new(read);
			unsigned i = 0;

			watched_answer(p, ROCE_ACK, row_psn(at), ROCE_SYN_NAK_REM_OP);
			for (; i < read; i++)
				pair_expect(p, 0, i, NDSH_WC_SUCCESS);
			for (; row_end(i) <= at; i++)
				pair_expect(p, 0, i, NDSH_WC_FLUSH_ERR);
			pair_expect(p, 0, i++, NDSH_WC_REM_OP_ERR);
			for (; i < ROW; i++)
				pair_expect(p, 0, i, NDSH_WC_FLUSH_ERR);
			pair_expect_none(p, 0);
			pair_free(p);
		}
}

/* ---- responses ---- */

static void
respond(struct pair *p, uint8_t opcode, uint32_t psn, uint32_t bytes, uint8_t fill)
{
	uint8_t payload[MTU];

	memset(payload, fill, sizeof(payload));
	pair_inject(p, 0, 0,
		&(struct roce_pkt){.opcode = opcode,
			.qpn = roce_qp_num(p->side[0].q[0].qp),
			.psn = psn & ROCE_PSN_MASK,
			.pkey = ROCE_PKEY_DEFAULT,
			.syndrome = ROCE_SYN_ACK,
			.payload_bytes = bytes},
		payload);
	pair_turn(p, 0);
}

/* Those that came are not taken again, those in front of a gap are asked for at once, from the
 * first that is missing. checks W-COMP-08, W-COMP-01, W-REQ-11 */
Test(completer_psn, W_COMP_08_responses_below_and_above_the_expected_one)
{
	struct pair *p = watched_pair(
		&(struct pair_opts){.mtu = MTU, .set_psn = true, .sq_psn = {0xfffffe, 500}}, true);
	static const uint8_t want[] = {0x11, 0x44, 0x55, 0x66};
	const uint8_t *at = p->side[0].arena + 4096;

	pair_read(p, 0, 0, 1, 4096, 0, 4 * MTU, 0);
	pair_turn(p, 0);
	respond(p, ROCE_READ_RESP_FIRST, 0xfffffe, MTU, 0x11);
	cr_assert_eq(at[0], 0x11);
	respond(p, ROCE_READ_RESP_FIRST, 0xfffffe, MTU, 0x22);
	respond(p, ROCE_READ_RESP_LAST, 0xfffffd, MTU, 0x22);
	cr_assert_eq(at[0], 0x11, "it was there already");
	cr_assert_eq(watched.n, 1);
	respond(p, ROCE_READ_RESP_LAST, 0x000001, MTU, 0x33);
	pair_expect_none(p, 0);
	cr_assert_eq(at[3 * MTU], 0, "not before those in front of it");
	cr_assert_eq(watched.n, 2);
	cr_assert_eq(watched.pkt[1].psn, 0xffffff);
	cr_assert_eq(watched.pkt[1].va, PAIR_VA + MTU);
	cr_assert_eq(watched.pkt[1].dma_bytes, 3 * MTU);
	respond(p, ROCE_READ_RESP_MIDDLE, 0x000000, MTU, 0x33); /* one restart for each loss */
	cr_assert_eq(watched.n, 2);
	respond(p, ROCE_READ_RESP_FIRST, 0xffffff, MTU, 0x44);
	respond(p, ROCE_READ_RESP_MIDDLE, 0x000000, MTU, 0x55);
	respond(p, ROCE_READ_RESP_LAST, 0x000001, MTU, 0x66);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	for (uint32_t i = 0; i < 4 * MTU; i++)
		cr_assert_eq(at[i], want[i / MTU]);
	pair_free(p);
}

/* Every opcode and length for each response of a READ: all but the right one end the queue pair.
 * checks W-COMP-07, W-COMP-15 */
Test(completer_psn, W_COMP_07_every_shape_of_a_response)
{
	static const uint32_t lengths[] = {0, 1, 4, 5, MTU - 4, MTU - 1, MTU};
	static const uint8_t opcodes[] = {ROCE_READ_RESP_FIRST, ROCE_READ_RESP_MIDDLE,
		ROCE_READ_RESP_LAST, ROCE_READ_RESP_ONLY, ROCE_ATOMIC_ACK};

	for (uint32_t n = 1; n <= 3; n++) /* responses of the READ */
		for (uint32_t index = 0; index < n; index++)
			for (size_t o = 0; o < sizeof(opcodes); o++)
				for (size_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
					struct pair *p =
						watched_pair(&(struct pair_opts){.mtu = MTU}, true);
					bool last = index + 1 == n;
					uint8_t right = index == 0 ? (last ? ROCE_READ_RESP_ONLY
									   : ROCE_READ_RESP_FIRST)
							: last	   ? ROCE_READ_RESP_LAST
								   : ROCE_READ_RESP_MIDDLE;
					bool good = opcodes[o] == right &&
						    lengths[l] == (last ? 5 : MTU);

					if (opcodes[o] == ROCE_ATOMIC_ACK && lengths[l] > 0) {
						pair_free(p); /* no packet */
						continue;
					}
					pair_read(p, 0, 0, 1, 0, 0, (n - 1) * MTU + 5, 0);
					pair_turn(p, 0);
					for (uint32_t i = 0; i < index; i++)
						respond(p,
							i == 0 ? ROCE_READ_RESP_FIRST
							       : ROCE_READ_RESP_MIDDLE,
							WATCHED_PSN + i, MTU, 1);
					respond(p, opcodes[o], WATCHED_PSN + index, lengths[l], 2);
					if (!good)
						pair_expect(p, 0, 1, NDSH_WC_BAD_RESP_ERR);
					else if (last)
						pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
					else
						pair_expect_none(p, 0);
					pair_free(p);
				}
}

/* ---- how long ---- */

/* The whole table, in microseconds: never shorter, and longer by two ticks of the timer at most.
 * checks W-TMR-06, W-COMP-04 */
Test(completer_psn, W_TMR_06_every_code_of_the_rnr_timer)
{
	static const uint32_t us[32] = {655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480,
		640, 960, 1280, 1920, 2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720, 40960,
		61440, 81920, 122880, 163840, 245760, 327680, 491520};

	for (uint8_t code = 0; code < 32; code++) {
		struct pair *p = watched_pair(&(struct pair_opts){.rnr_retry = 7}, true);
		uint64_t begin;

		pair_send(p, 0, 0, 1, 0, 8, 0);
		pair_turn(p, 0);
		watched_answer(p, ROCE_ACK, WATCHED_PSN, ROCE_SYN_RNR | code);
		begin = p->now_ns;
		(void)pair_run(p, us[code] * UINT64_C(1000) - 1);
		cr_assert_eq(watched.n, 1, "code %u: after %lu ns", code, p->now_ns - begin);
		(void)pair_run(p, 2u << 15);
		cr_assert_eq(watched.n, 2, "code %u", code);
		pair_free(p);
	}
}
