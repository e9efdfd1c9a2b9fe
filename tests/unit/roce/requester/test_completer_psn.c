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

/* What the others are. */
static const uint8_t kinds[ROW] = {NDSH_OP_SEND, NDSH_OP_WRITE, NDSH_OP_SEND_IMM, NDSH_OP_WRITE_IMM,
	NDSH_OP_SEND_INV, NDSH_OP_WRITE};

static void
row_post(struct pair *p, unsigned i, uint8_t op)
{
	uint32_t bytes = op == NDSH_OP_FETCH_ADD ? 8 : packets[i] * MTU - 5;
	struct ndsh_sge sge = pair_sge(p, 0, 0, bytes);

	pair_post_sge(p, 0, 0, i, op, 0, &sge);
}

/* All of the row is sent, and nothing arrives. at: which of them is a READ or an atomic, as op
 * says; ROW: none. */
static struct pair *
row_new(unsigned at, uint8_t op)
{
	struct pair *p = watched_pair(&(struct pair_opts){.mtu = MTU,
					      .set_psn = true,
					      .sq_psn = {FIRST, 500},
					      .retry = 7,
					      .rnr_retry = 7},
		true);

	for (unsigned i = 0; i < ROW; i++)
		row_post(p, i, i == at ? op : kinds[i]);
	pair_turn(p, 0);
	cr_assert_eq(watched.n, at == ROW ? PSNS : PSNS - packets[at] + 1);
	return p;
}

/* An atomic takes one PSN. */
static bool
row_allows(unsigned at, uint8_t op)
{
	return op == NDSH_OP_READ || packets[at] == 1;
}

static const uint8_t fetches[] = {NDSH_OP_READ, NDSH_OP_FETCH_ADD};

/* Those of the row from *next on whose last PSN is before n are finished, and no others. */
static void
finished_before(struct pair *p, unsigned *next, uint32_t n)
{
	for (; *next < ROW && row_end(*next) <= n; ++*next)
		pair_expect(p, 0, *next, NDSH_WC_SUCCESS);
	pair_expect_none(p, 0);
}

/*
 * One ACK, then another: newer, older or the same, with whatever credits. What is behind the
 * newest sent means nothing. What is not acknowledged, and no packet before, is sent again in
 * the end. checks W-COMP-01[1,2], W-COMP-02[1,2], W-PSN-01[1,2], W-PSN-05[1], W-RXE-21,
 * W-TMR-03[1]
 */
Test(completer_psn, W_COMP_02_each_acknowledgement)
{
	for (uint32_t one = 0; one < PSNS + 3; one++)
		for (uint32_t two = 0; two < PSNS + 3; two++) {
			struct pair *p = row_new(ROW, 0);
			uint32_t acked = 0;
			unsigned next = 0;

			watched_answer(p, ROCE_ACK, row_psn(one), (uint8_t)((one + 2 * two) % 32));
			acked = one < PSNS ? one + 1 : 0;
			finished_before(p, &next, acked);
			watched_answer(p, ROCE_ACK, row_psn(two), ROCE_SYN_ACK);
			acked = two < PSNS && two + 1 > acked ? two + 1 : acked;
			finished_before(p, &next, acked);
			cr_assert_eq(watched.n, PSNS, "nothing is sent for it");
			p->now_ns += 2000000;
			pair_turn(p, 0);
			cr_assert_eq(watched.n, 2 * PSNS - acked);
			if (acked < PSNS)
				cr_assert_eq(watched.pkt[PSNS].psn, row_psn(acked));
			pair_expect_alive(p, 0, 0);
			pair_free(p);
		}
}

/* All before it is acknowledged; what was refused is sent again, now or when the wait is over.
 * checks W-COMP-05[1], W-REQ-10[1,2], W-TMR-06[1] */
static void
refused_for_a_while(uint8_t syndrome)
{
	for (uint32_t at = 0; at < PSNS; at++) {
		struct pair *p = row_new(ROW, 0);
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

/* checks W-COMP-04[1], W-COMP-05[1] */
Test(completer_psn, W_COMP_05_each_sequence_nak)
{
	refused_for_a_while(ROCE_SYN_NAK_SEQ);
}

/* checks W-COMP-04[1], W-COMP-05[1] */
Test(completer_psn, W_COMP_05_each_rnr_nak)
{
	refused_for_a_while(ROCE_SYN_RNR | 12); /* 0.64 ms */
}

/*
 * What is before it succeeds, the request that it names fails, the rest is flushed. checks
 * W-COMP-04[1], W-COMP-05[3], W-COMP-06[1], W-ERR-01, W-RXE-28
 */
Test(completer_psn, W_COMP_05_each_fatal_nak)
{
	for (unsigned f = 0; f < WATCHED_FATAL_NAKS; f++)
		for (uint32_t at = 0; at < PSNS; at++) {
			const struct watched_fatal_nak *nak = &watched_fatal_naks[f];
			struct pair *p = row_new(ROW, 0);
			unsigned i = 0;

			watched_answer(p, ROCE_ACK, row_psn(at), nak->syndrome);
			for (; row_end(i) <= at; i++)
				pair_expect(p, 0, i, NDSH_WC_SUCCESS);
			pair_expect(p, 0, i++, nak->status);
			for (; i < ROW; i++)
				pair_expect(p, 0, i, NDSH_WC_FLUSH_ERR);
			pair_expect_none(p, 0);
			pair_expect_dead(p, 0, 0, nak->reason);
			pair_free(p);
		}
}

/* ---- with a READ or an atomic in the row ---- */

/* ACKs and NAKs of all kinds, for each PSN, with the READ at each place: they reach up to it.
 * Beyond it they are an implied NAK: the READ is asked for again before anything else is made of
 * them. checks W-COMP-03, W-COMP-05 */
static void
reaches_up_to(unsigned fetch, uint8_t op, uint32_t at, uint8_t syndrome)
{
	struct pair *p = row_new(fetch, op);
	bool ack = syndrome == ROCE_SYN_ACK;
	uint32_t covers = ack ? at + 1 : at, begin = row_begin(fetch);
	unsigned next = 0, sent = watched.n;

	watched_answer(p, ROCE_ACK, row_psn(at), syndrome);
	finished_before(p, &next, covers < begin ? covers : begin);
	if (covers > begin) {
		cr_assert_eq(pair_count(p, 0)->implied_nak, 1);
		cr_assert_eq(pair_count(p, 0)->rx_rnr, 0);
		cr_assert_eq(pair_count(p, 0)->rx_nak_sequence, 0);
		cr_assert_gt(watched.n, sent);
		cr_assert_eq(watched.pkt[sent].opcode,
			op == NDSH_OP_READ ? ROCE_READ_REQUEST : ROCE_FETCH_ADD);
		cr_assert_eq(watched.pkt[sent].psn, row_psn(begin));
		sent = watched.n;
		watched_answer(p, ROCE_ACK, row_psn(PSNS - 1), ROCE_SYN_ACK);
		watched_answer(p, ROCE_ACK, row_psn(PSNS - 1), ROCE_SYN_NAK_SEQ);
		watched_answer(p, ROCE_ACK, row_psn(at), syndrome);
		cr_assert_eq(watched.n, sent, "one restart for a loss");
	} else {
		cr_assert_eq(pair_count(p, 0)->implied_nak, 0);
	}
	pair_expect_alive(p, 0, 0);
	pair_free(p);
}

/* checks W-COMP-03[1-3], W-COMP-05[2] */
Test(completer_psn, W_COMP_03_nothing_reaches_over_a_read)
{
	static const uint8_t syndromes[] = {ROCE_SYN_ACK, ROCE_SYN_NAK_SEQ, ROCE_SYN_RNR | 20};

	for (size_t s = 0; s < sizeof(syndromes); s++)
		for (size_t f = 0; f < sizeof(fetches); f++)
			for (unsigned fetch = 0; fetch < ROW; fetch++)
				for (uint32_t at = 0; row_allows(fetch, fetches[f]) && at < PSNS;
					at++)
					reaches_up_to(fetch, fetches[f], at, syndromes[s]);
}

/* The READ or atomic cannot be answered any more: it is flushed, in front of the one that fails.
 * checks W-COMP-05 */
static void
fatal_beyond(unsigned fetch, uint8_t op, uint32_t at)
{
	struct pair *p = row_new(fetch, op);
	unsigned i = 0;

	watched_answer(p, ROCE_ACK, row_psn(at), ROCE_SYN_NAK_REM_OP);
	for (; i < fetch; i++)
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
	for (; row_end(i) <= at; i++)
		pair_expect(p, 0, i, NDSH_WC_FLUSH_ERR);
	pair_expect(p, 0, i++, NDSH_WC_REM_OP_ERR);
	for (; i < ROW; i++)
		pair_expect(p, 0, i, NDSH_WC_FLUSH_ERR);
	pair_expect_none(p, 0);
	pair_free(p);
}

/* checks W-COMP-05[3,4] */
Test(completer_psn, W_COMP_05_a_fatal_nak_beyond_a_read)
{
	for (size_t f = 0; f < sizeof(fetches); f++)
		for (unsigned fetch = 0; fetch < ROW; fetch++)
			for (uint32_t at = row_end(fetch);
				row_allows(fetch, fetches[f]) && at < PSNS; at++)
				fatal_beyond(fetch, fetches[f], at);
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
 * first that is missing. checks W-COMP-08[1,2], W-COMP-01[2], W-REQ-11, W-PSN-05[2] */
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

/* It was asked for again from response k on. The peer takes that for a new request, or goes on with
 * the old one; a FIRST at another place is neither. checks W-COMP-09[1,2], W-COMP-07[1,2] */
Test(completer_psn, W_COMP_09_each_answer_to_a_retry)
{
	for (uint32_t k = 1; k < 4; k++)
		for (unsigned anew = 0; anew < 3; anew++) {
			struct pair *p = watched_pair(&(struct pair_opts){.mtu = MTU}, true);

			pair_read(p, 0, 0, 1, 0, 0, 4 * MTU, 0);
			pair_turn(p, 0);
			for (uint32_t i = 0; i < k; i++)
				respond(p, i == 0 ? ROCE_READ_RESP_FIRST : ROCE_READ_RESP_MIDDLE,
					WATCHED_PSN + i, MTU, 1);
			watched_answer(p, ROCE_ACK, WATCHED_PSN + k, ROCE_SYN_NAK_SEQ);
			cr_assert_eq(watched.n, 2);
			cr_assert_eq(watched.pkt[1].psn, WATCHED_PSN + k);
			for (uint32_t i = k; i < 4; i++) {
				bool begins = anew == 1 ? i == k : anew == 2 && i == k + 1;

				respond(p,
					i == 3	 ? (begins ? ROCE_READ_RESP_ONLY
							   : ROCE_READ_RESP_LAST)
					: begins ? ROCE_READ_RESP_FIRST
						 : ROCE_READ_RESP_MIDDLE,
					WATCHED_PSN + i, MTU, 2);
			}
			pair_expect(p, 0, 1,
				anew == 2 && k < 3 ? NDSH_WC_BAD_RESP_ERR : NDSH_WC_SUCCESS);
			pair_free(p);
		}
}

/* The first response of a READ is lost, those of the next one arrive: the first one is asked for
 * again, and nothing of the second is taken before it. checks W-COMP-03[2], W-COMP-08[1] */
Test(completer_psn, W_COMP_03_the_response_of_a_later_read)
{
	struct pair *p = watched_pair(&(struct pair_opts){.mtu = MTU}, true);

	pair_read(p, 0, 0, 1, 0, 0, MTU, 0);
	pair_read(p, 0, 0, 2, 4096, 0, 2 * MTU, 0);
	pair_turn(p, 0);
	respond(p, ROCE_READ_RESP_FIRST, WATCHED_PSN + 1, MTU, 3);
	respond(p, ROCE_READ_RESP_LAST, WATCHED_PSN + 2, MTU, 3);
	pair_expect_none(p, 0);
	cr_assert_eq(p->side[0].arena[4096], 0);
	cr_assert_eq(pair_count(p, 0)->implied_nak, 1);
	cr_assert_eq(watched.n, 4, "both READs once more, and once only");
	cr_assert_eq(watched.pkt[2].psn, WATCHED_PSN);
	respond(p, ROCE_READ_RESP_ONLY, WATCHED_PSN, MTU, 4);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* Every opcode and length for each response of a READ: all but the right one end the queue pair.
 * checks W-COMP-07[1-3,5], W-COMP-15[1] */
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
 * checks W-TMR-06[1], W-COMP-04[1] */
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
