/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The responder against packets that no peer of ours would send: each check of new requests, and
 * what is refused or dropped.
 */
#include <criterion/criterion.h>

#include "rigs/overheard.h"
#include "rigs/scripted_peer.h"

struct step {
	uint8_t opcode;
	uint32_t bytes, dma_bytes;
};

/* The last step violates a rule: NAK 0x61 for it, once, and the queue pair is dead; checks
 * W-RESP-18[2,3]. */
static void
violates(const struct step *steps, unsigned n)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);

	pair_recv(p, 1, 0, 1, 0, 8192);
	for (unsigned i = 0; i < n; i++) {
		struct roce_pkt pkt = peer_packet(p, steps[i].opcode, PEER_PSN + i, steps[i].bytes);

		pkt.dma_bytes = steps[i].dma_bytes;
		pkt.ackreq = false;
		peer_say(p, &pkt);
	}
	peer_heard(p, &t, 1, ROCE_SYN_NAK_INV_REQ, PEER_PSN + n - 1);
	cr_assert_eq(roce_qp_reason(p->side[1].q[0].qp), ROCE_REASON_SENT_INV_REQ);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + n, 8);
	peer_silent(p, &t, 1); /* W-RESP-18: exactly one */
	pair_free(p);
}

#define VIOLATES(...)                                                                              \
	do {                                                                                       \
		const struct step steps[] = {__VA_ARGS__};                                         \
		violates(steps, sizeof(steps) / sizeof(steps[0]));                                 \
	} while (0)

/* checks W-RESP-05[1,2,3] */
Test(responder, W_RESP_05_opcode_sequence)
{
	VIOLATES({ROCE_SEND_MIDDLE, PEER_MTU, 0});
	VIOLATES({ROCE_SEND_LAST, 8, 0});
	VIOLATES({ROCE_WRITE_MIDDLE, PEER_MTU, 0});
	VIOLATES({ROCE_WRITE_LAST, 8, 0});
	VIOLATES({ROCE_SEND_FIRST, PEER_MTU, 0}, {ROCE_SEND_FIRST, PEER_MTU, 0});
	VIOLATES({ROCE_SEND_FIRST, PEER_MTU, 0}, {ROCE_SEND_ONLY, 8, 0});
	VIOLATES({ROCE_SEND_FIRST, PEER_MTU, 0}, {ROCE_WRITE_LAST, 8, 0});
	VIOLATES({ROCE_SEND_FIRST, PEER_MTU, 0}, {ROCE_WRITE_ONLY, 8, 8});
	VIOLATES({ROCE_SEND_FIRST, PEER_MTU, 0}, {ROCE_READ_REQUEST, 0, 8});
	VIOLATES({ROCE_WRITE_FIRST, PEER_MTU, PEER_MTU + 8}, {ROCE_SEND_LAST, 8, 0});
	VIOLATES({ROCE_WRITE_FIRST, PEER_MTU, PEER_MTU + 8},
		{ROCE_WRITE_FIRST, PEER_MTU, PEER_MTU + 8});
	VIOLATES({ROCE_WRITE_FIRST, PEER_MTU, PEER_MTU + 8}, {ROCE_SEND_ONLY, 8, 0});
	VIOLATES({ROCE_WRITE_FIRST, PEER_MTU, PEER_MTU + 8}, {ROCE_READ_REQUEST, 0, 8});
}

/* A message that is further on. checks W-RESP-05[1,2] */
Test(responder, W_RESP_05_behind_a_middle_packet)
{
	static const struct step others[] = {{ROCE_SEND_FIRST, PEER_MTU, 0}, {ROCE_SEND_ONLY, 8, 0},
		{ROCE_WRITE_FIRST, PEER_MTU, PEER_MTU + 8}, {ROCE_WRITE_ONLY, 8, 8},
		{ROCE_READ_REQUEST, 0, 8}, {ROCE_FETCH_ADD, 0, 0}};
	static const struct step send_ends[] = {{ROCE_SEND_MIDDLE, PEER_MTU, 0},
		{ROCE_SEND_LAST, 8, 0}, {ROCE_SEND_LAST_IMM, 8, 0}, {ROCE_SEND_LAST_INV, 8, 0}};
	static const struct step write_ends[] = {{ROCE_WRITE_MIDDLE, PEER_MTU, 0},
		{ROCE_WRITE_LAST, 8, 0}, {ROCE_WRITE_LAST_IMM, 8, 0}};

	for (unsigned i = 0; i < 6 + 3; i++)
		VIOLATES({ROCE_SEND_FIRST, PEER_MTU, 0}, {ROCE_SEND_MIDDLE, PEER_MTU, 0},
			i < 6 ? others[i] : write_ends[i - 6]);
	for (unsigned i = 0; i < 6 + 4; i++)
		VIOLATES({ROCE_WRITE_FIRST, PEER_MTU, 4 * PEER_MTU},
			{ROCE_WRITE_MIDDLE, PEER_MTU, 0}, i < 6 ? others[i] : send_ends[i - 6]);
}

/* checks W-RESP-09[2,3] */
Test(responder, W_RESP_09_lengths)
{
	VIOLATES({ROCE_SEND_FIRST, PEER_MTU - 4, 0});
	VIOLATES({ROCE_SEND_ONLY, PEER_MTU + 4, 0});
	VIOLATES({ROCE_SEND_FIRST, PEER_MTU, 0}, {ROCE_SEND_LAST, 0, 0});
	VIOLATES({ROCE_SEND_FIRST, PEER_MTU, 0}, {ROCE_SEND_MIDDLE, PEER_MTU - 4, 0});
	VIOLATES({ROCE_SEND_FIRST, PEER_MTU, 0}, {ROCE_SEND_LAST, PEER_MTU + 4, 0});
	VIOLATES({ROCE_WRITE_ONLY, 8, 9});
	VIOLATES({ROCE_WRITE_ONLY, 8, 4});
	VIOLATES({ROCE_WRITE_FIRST, PEER_MTU, PEER_MTU});
	VIOLATES({ROCE_WRITE_FIRST, PEER_MTU, 0x80000001});
	VIOLATES({ROCE_WRITE_FIRST, PEER_MTU, 3 * PEER_MTU}, {ROCE_WRITE_LAST, 8, 0});
	VIOLATES({ROCE_WRITE_FIRST, PEER_MTU, 2 * PEER_MTU}, {ROCE_WRITE_MIDDLE, PEER_MTU, 0});
	VIOLATES({ROCE_WRITE_FIRST, PEER_MTU, PEER_MTU + 8}, {ROCE_WRITE_LAST, 12, 0});
	VIOLATES({ROCE_READ_REQUEST, 0, 0x80000001});
}

/* A pad count that does not make the payload whole words. checks W-RESP-09[4] */
Test(responder, W_RESP_09_pad)
{
	static const uint8_t payload[PEER_MTU];

	for (uint32_t bytes = 4; bytes < 8; bytes++)
		for (uint32_t more = 1; more < 4; more++) {
			struct peer_tape t;
			struct pair *p = peer_with(&t, (struct pair_opts){.v6 = true});
			struct roce_pkt pkt = peer_packet(p, ROCE_SEND_ONLY, PEER_PSN, bytes);

			pair_recv(p, 1, 0, 1, 0, PEER_MTU);
			pair_inject_longer(p, 1, 0, &pkt, payload, more);
			peer_heard(p, &t, 1, ROCE_SYN_NAK_INV_REQ, PEER_PSN);
			cr_assert_eq(roce_qp_reason(p->side[1].q[0].qp), ROCE_REASON_SENT_INV_REQ);
			pair_free(p);
		}
}

/* checks W-RESP-06[3] */
Test(responder, W_RESP_06_atomics_without_the_right_are_refused)
{
	VIOLATES({ROCE_CMP_SWAP, 0, 0});
	VIOLATES({ROCE_FETCH_ADD, 0, 0});
}

/* checks W-NEG-06, W-RESP-01[2], W-RESP-02[1,3,4], W-RESP-04 */
Test(responder, W_RESP_02_one_sequence_nak_per_gap)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);

	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 1, 8);
	peer_heard(p, &t, 1, ROCE_SYN_NAK_SEQ, PEER_PSN);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 2, 8);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 3, 8);
	peer_silent(p, &t, 1);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	peer_heard(p, &t, 2, ROCE_SYN_ACK, PEER_PSN);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 2, 8);
	peer_heard(p, &t, 3, ROCE_SYN_NAK_SEQ, PEER_PSN + 1);
	/* W-RESP-04: a duplicate opens the way for one more NAK. */
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	peer_heard(p, &t, 4, ROCE_SYN_ACK, PEER_PSN);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 2, 8);
	peer_heard(p, &t, 5, ROCE_SYN_NAK_SEQ, PEER_PSN + 1);
	pair_free(p);
}

/* checks W-AETH-01[7], W-RESP-03[1], W-RXE-14[1,2] */
Test(responder, W_RESP_03_W_RESP_08_rnr_and_silence_behind_it)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct ndsh_cqe c;

	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN);
	peer_say_plain(p, ROCE_SEND_ONLY, PEER_PSN + 1, 8);
	peer_say_plain(p, ROCE_SEND_ONLY, PEER_PSN + 2, 8);
	peer_heard(p, &t, 2, ROCE_SYN_RNR | 14, PEER_PSN + 1);
	cr_assert_eq(t.said[1].msn, 1);
	peer_say_plain(p, ROCE_SEND_ONLY, PEER_PSN + 2, 8);
	peer_silent(p, &t, 2);
	pair_recv(p, 1, 0, 5, 0, 64);
	peer_say_plain(p, ROCE_SEND_ONLY, PEER_PSN + 1, 8);
	peer_heard(p, &t, 3, ROCE_SYN_ACK, PEER_PSN + 1);
	cr_assert_eq(t.said[2].msn, 2);
	cr_assert(pair_poll(p, 1, &c));
	cr_assert_eq(c.context, 5);
	pair_free(p);
}

/* checks W-RESP-07[2] */
Test(responder, W_RESP_07_more_reads_than_agreed)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);

	for (unsigned i = 0; i < 5; i++) { /* 4 were agreed, none is answered within the turn */
		struct roce_pkt r = peer_read_request(p, PEER_PSN + i, 0, 8);

		peer_say(p, &r);
	}
	pair_turn(p, 1);
	cr_assert_eq(t.n, 5, "%u", t.n); /* four answers, then the refusal, in order */
	for (unsigned i = 0; i < 4; i++)
		cr_assert_eq(t.said[i].opcode, ROCE_READ_RESP_ONLY);
	cr_assert_eq(t.said[4].syndrome, ROCE_SYN_NAK_INV_REQ);
	cr_assert_eq(t.said[4].psn, PEER_PSN + 4);
	pair_free(p);
}

/* checks W-RESP-15[2,3,4] */
Test(responder, immediates_of_a_peer_are_delivered)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt pkt = peer_packet(p, ROCE_SEND_ONLY_IMM, PEER_PSN, 8);
	struct ndsh_cqe c;

	pair_recv(p, 1, 0, 1, 0, 64);
	pair_recv(p, 1, 0, 2, 4096, 64);
	pkt.imm = 0x11223344;
	peer_say(p, &pkt);
	pkt = peer_packet(p, ROCE_WRITE_ONLY_IMM, PEER_PSN + 1, 16); /* W-RESP-15 */
	pkt.imm = 0x55667788;
	peer_say(p, &pkt);
	peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN + 1);
	cr_assert(pair_poll(p, 1, &c));
	cr_assert_eq(c.flags & (NDSH_CQEF_IMM | NDSH_CQEF_WRITE), NDSH_CQEF_IMM);
	cr_assert_eq(c.data, 0x11223344);
	cr_assert(pair_poll(p, 1, &c));
	cr_assert(c.flags & NDSH_CQEF_IMM);
	cr_assert(c.flags & NDSH_CQEF_WRITE);
	cr_assert_eq(c.data, 0x55667788);
	cr_assert_eq(c.bytes, 16);
	cr_assert_eq(p->side[1].arena[4096], 0, "its buffer is not touched");
	pair_free(p);
}

/* checks W-INV-02[4,5] */
Test(responder, W_INV_02_no_region_can_be_invalidated)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt pkt = peer_packet(p, ROCE_SEND_ONLY_INV, PEER_PSN, 8);
	struct ndsh_cqe c;

	pair_recv(p, 1, 0, 1, 0, 64);
	pkt.ieth = p->side[1].key;
	peer_say(p, &pkt);
	peer_heard(p, &t, 1, ROCE_SYN_NAK_REM_ACCESS, PEER_PSN);
	cr_assert(pair_poll(p, 1, &c));
	cr_assert_eq(c.status, NDSH_WC_REM_INV_REQ_ERR);
	cr_assert_eq(roce_qp_state_get(p->side[1].q[0].qp), ROCE_QPS_ERR);
	cr_assert_eq(roce_qp_reason(p->side[1].q[0].qp), ROCE_REASON_RECV_INV);
	cr_assert_eq(roce_mr_key(p->side[1].mr), p->side[1].key);
	pair_free(p);
}

/* checks W-PSN-06[1,2], W-RESP-02[2]: exactly half of the numbers are behind the expected one, the
 * other half before it. */
Test(responder, W_PSN_06_duplicates_and_the_future)
{
	static const struct {
		uint32_t ahead;
		bool future;
	} of[] = {{1, true}, {2, true}, {0x7ffffe, true}, {0x7fffff, true}, {0x800000, false},
		{0x800001, false}, {0xfffffe, false}, {0xffffff, false}};

	for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct ear e;
		struct pair *p = ear_pair(&e, (struct pair_opts){0});
		struct roce_pkt pkt = ear_request(p, ROCE_WRITE_ONLY, EAR_PSN + of[i].ahead, 8);

		pair_inject(p, 1, 0, &pkt, "12345678");
		pair_turn(p, 1);
		cr_assert_eq(pair_count(p, 1)->rx_out_of_sequence, of[i].future, "%x", of[i].ahead);
		cr_assert_eq(pair_count(p, 1)->rx_duplicate, !of[i].future, "%x", of[i].ahead);
		cr_assert_neq(p->side[1].arena[0], '1');
		pair_expect_alive(p, 1, 0);
		pair_free(p);
	}
}

/* ---- every length ---- */

/* Lengths around all that rules speak of. */
static const uint32_t lengths[] = {
	0, 1, 3, 4, 5, PEER_MTU - 1, PEER_MTU, PEER_MTU + 1, 2 * PEER_MTU};
#define LENGTHS (sizeof(lengths) / sizeof(lengths[0]))

/* The nth packet that side 1 gets is refused, or all of them are taken. */
static void
verdict(const struct step *steps, unsigned n, bool good)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);

	pair_recv(p, 1, 0, 1, 0, 65536);
	for (unsigned i = 0; i < n; i++) {
		struct roce_pkt pkt = peer_packet(p, steps[i].opcode, PEER_PSN + i, steps[i].bytes);

		pkt.dma_bytes = steps[i].dma_bytes;
		pkt.ackreq = i + 1 == n;
		peer_say(p, &pkt);
	}
	peer_heard(p, &t, 1, good ? ROCE_SYN_ACK : ROCE_SYN_NAK_INV_REQ, PEER_PSN + n - 1);
	cr_assert_eq(roce_qp_state_get(p->side[1].q[0].qp), good ? ROCE_QPS_RTS : ROCE_QPS_ERR);
	pair_free(p);
}

/* checks W-RESP-09[1] */
Test(responder, W_RESP_09_every_length_of_a_send)
{
	for (size_t i = 0; i < LENGTHS; i++) {
		const uint32_t bytes = lengths[i];
		const struct step only[] = {{ROCE_SEND_ONLY, bytes, 0}};
		const struct step first[] = {{ROCE_SEND_FIRST, bytes, 0}};
		const struct step middle[] = {
			{ROCE_SEND_FIRST, PEER_MTU, 0}, {ROCE_SEND_MIDDLE, bytes, 0}};
		const struct step last[] = {
			{ROCE_SEND_FIRST, PEER_MTU, 0}, {ROCE_SEND_LAST, bytes, 0}};

		verdict(only, 1, bytes <= PEER_MTU);
		verdict(first, 1, bytes == PEER_MTU);
		verdict(middle, 2, bytes == PEER_MTU);
		verdict(last, 2, bytes >= 1 && bytes <= PEER_MTU);
	}
}

/* ... and of what RETH announces. checks W-RESP-09[1,3] */
Test(responder, W_RESP_09_every_length_of_a_write)
{
	for (size_t i = 0; i < LENGTHS; i++)
		for (size_t k = 0; k < LENGTHS; k++) {
			const uint32_t bytes = lengths[i], dma = lengths[k], rest = dma - PEER_MTU;
			const struct step only[] = {{ROCE_WRITE_ONLY, bytes, dma}};
			const struct step first[] = {{ROCE_WRITE_FIRST, bytes, dma}};
			const struct step middle[] = {
				{ROCE_WRITE_FIRST, PEER_MTU, dma}, {ROCE_WRITE_MIDDLE, bytes, 0}};
			const struct step last[] = {
				{ROCE_WRITE_FIRST, PEER_MTU, dma}, {ROCE_WRITE_LAST, bytes, 0}};

			verdict(only, 1, bytes <= PEER_MTU && bytes == dma);
			verdict(first, 1, bytes == PEER_MTU && dma > PEER_MTU);
			if (dma <= PEER_MTU)
				continue;
			verdict(middle, 2, bytes == PEER_MTU && rest > PEER_MTU);
			verdict(last, 2, bytes >= 1 && bytes <= PEER_MTU && bytes == rest);
		}
}

/* ---- sequences ---- */

/* Every two packets one after the other: a message is finished before the next one begins, and by
 * packets of its own kind. checks W-RESP-05[1,2] */
Test(responder, W_RESP_05_every_two_packets)
{
	static const struct step of[] = {{ROCE_SEND_FIRST, PEER_MTU, 0},
		{ROCE_SEND_MIDDLE, PEER_MTU, 0}, {ROCE_SEND_LAST, 8, 0}, {ROCE_SEND_LAST_IMM, 8, 0},
		{ROCE_SEND_ONLY, 8, 0}, {ROCE_SEND_ONLY_IMM, 8, 0},
		{ROCE_WRITE_FIRST, PEER_MTU, PEER_MTU + 8}, {ROCE_WRITE_MIDDLE, PEER_MTU, 0},
		{ROCE_WRITE_LAST, 8, 0}, {ROCE_WRITE_LAST_IMM, 8, 0}, {ROCE_WRITE_ONLY, 8, 8},
		{ROCE_WRITE_ONLY_IMM, 8, 8}};
	const size_t n = sizeof(of) / sizeof(of[0]);

	for (size_t a = 0; a < n; a++)
		for (size_t b = 0; b < n; b++) {
			const struct step two[] = {of[a], of[b]};
			bool begins_a = roce_opcode_info[of[a].opcode].flags & ROCE_OPF_FIRST;
			bool ends_a = roce_opcode_info[of[a].opcode].flags & ROCE_OPF_LAST;
			bool begins_b = roce_opcode_info[of[b].opcode].flags & ROCE_OPF_FIRST;
			bool send_a = a < 6, send_b = b < 6;
			struct peer_tape t;
			struct pair *p;

			if (!begins_a)
				continue; /* refused by itself */
			if (of[a].opcode == ROCE_WRITE_FIRST && of[b].opcode == ROCE_WRITE_MIDDLE)
				continue; /* its length is wrong */
			p = peer_new(&t);
			for (unsigned i = 0; i < 4; i++)
				pair_recv(p, 1, 0, i, 0, 8192);
			for (unsigned i = 0; i < 2; i++) {
				struct roce_pkt pkt =
					peer_packet(p, two[i].opcode, PEER_PSN + i, two[i].bytes);

				pkt.dma_bytes = two[i].dma_bytes;
				pkt.ackreq = i == 1;
				peer_say(p, &pkt);
			}
			peer_heard(p, &t, 1,
				(ends_a ? begins_b : !begins_b && send_a == send_b)
					? ROCE_SYN_ACK
					: ROCE_SYN_NAK_INV_REQ,
				PEER_PSN + 1);
			pair_free(p);
		}
}

/* ---- between two engines ---- */

/* A queue pair without the right refuses as invalid request, whatever the region grants. */
static void
right_missing(uint32_t access, uint8_t max_dest_rd, bool read)
{
	struct pair *p =
		pair_new(&(struct pair_opts){.access = access, .max_dest_rd = max_dest_rd});

	if (read)
		pair_read(p, 0, 0, 1, 0, 0, 8, 0);
	else
		pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_REM_INV_REQ_ERR);
	pair_expect_dead(p, 0, 0, ROCE_REASON_NAK_INV_REQ);
	pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_INV_REQ);
	pair_free(p);
}

/* checks W-RESP-06[1,2], W-RESP-07[1] */
Test(responder, W_RESP_06_W_RESP_07_queue_pair_rights)
{
	right_missing(NDSH_ACCESS_REMOTE_READ, 4, false);
	right_missing(NDSH_ACCESS_REMOTE_WRITE, 4, true);
	right_missing(NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE, 255, true);
}

/* checks W-RESP-10[1,2,3] */
Test(responder, W_RESP_10_send_longer_than_the_receive)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = 256});

	pair_recv(p, 1, 0, 7, 0, 600);
	pair_recv(p, 1, 0, 8, 0, 600);
	pair_send(p, 0, 0, 1, 0, 601, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_REM_INV_REQ_ERR);
	pair_expect(p, 1, 7, NDSH_WC_LOC_LEN_ERR);
	pair_expect(p, 1, 8, NDSH_WC_FLUSH_ERR);
	pair_expect_dead(p, 1, 0, ROCE_REASON_RECV_TOO_SMALL);
	pair_free(p);
}

/* checks W-RESP-11[1] */
Test(responder, W_RESP_11_receive_with_a_bad_key)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct ndsh_sge sge = pair_sge(p, 1, 0, 64);

	sge.key ^= 2;
	ndsh_rq_push(&p->side[1].q[0].rq, 7, &sge, 1);
	pair_send(p, 0, 0, 1, 0, 8, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_REM_OP_ERR);
	pair_expect(p, 1, 7, NDSH_WC_LOC_PROT_ERR);
	pair_expect_dead(p, 0, 0, ROCE_REASON_NAK_REM_OP);
	pair_expect_dead(p, 1, 0, ROCE_REASON_RECV_PROT);
	pair_free(p);
}

/* checks W-RESP-16[1], W-RESP-17[3] */
Test(responder, W_RESP_16_solicited_and_W_RESP_17_comm_est)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct ndsh_cqe c;

	pair_recv(p, 1, 0, 1, 0, 64);
	pair_recv(p, 1, 0, 2, 0, 64);
	pair_send(p, 0, 0, 3, 0, 8, NDSH_WRF_SOLICIT);
	pair_send(p, 0, 0, 4, 0, 8, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert(pair_poll(p, 1, &c));
	cr_assert(c.flags & NDSH_CQEF_SOLICITED);
	cr_assert(pair_poll(p, 1, &c));
	cr_assert_not(c.flags & NDSH_CQEF_SOLICITED);
	cr_assert_eq(p->side[1].events, 1u << ROCE_EV_COMM_EST);
	cr_assert_eq(p->side[0].events, 0);
	pair_free(p);
}

/*
 * In RTR already, before this side may say anything but answers: executed, and told once,
 * however many follow, and whatever was dropped before it. checks W-CM-35[4], W-RESP-01[1],
 * W-RESP-17[1,2]
 */
Test(responder, W_RESP_17_the_first_request_in_RTR)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct pair_side *d = &p->side[1];
	struct roce_qp_attr a;

	pair_attr(p, 1, 0, &a);
	cr_assert_eq(roce_qp_modify(d->shard, d->q[0].qp, p->now_ns, ROCE_QPS_RESET, 0, &a),
		ROCE_MODIFY_OK);
	cr_assert_eq(
		roce_qp_modify(d->shard, d->q[0].qp, p->now_ns, ROCE_QPS_INIT, ROCE_QPA_ACCESS, &a),
		ROCE_MODIFY_OK);
	cr_assert_eq(roce_qp_modify(d->shard, d->q[0].qp, p->now_ns, ROCE_QPS_RTR,
			     ROCE_QPA_PATH | ROCE_QPA_MTU | ROCE_QPA_DEST_QPN | ROCE_QPA_RQ_PSN |
				     ROCE_QPA_MAX_DEST_RD | ROCE_QPA_MIN_RNR,
			     &a),
		ROCE_MODIFY_OK);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 1, 8); /* not the first */
	peer_heard(p, &t, 1, ROCE_SYN_NAK_SEQ, PEER_PSN);
	cr_assert_eq(d->events, 0);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	peer_heard(p, &t, 2, ROCE_SYN_ACK, PEER_PSN);
	cr_assert_eq(d->events, 1u << ROCE_EV_COMM_EST);
	cr_assert_eq(d->arena[0], 0xa5);
	cr_assert_eq(roce_qp_state_get(d->q[0].qp), ROCE_QPS_RTR);
	d->events = 0;
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 1, 8);
	peer_heard(p, &t, 3, ROCE_SYN_ACK, PEER_PSN + 1);
	cr_assert_eq(roce_qp_modify(d->shard, d->q[0].qp, p->now_ns, ROCE_QPS_RTS,
			     ROCE_QPA_TIMEOUT | ROCE_QPA_RETRY | ROCE_QPA_RNR_RETRY |
				     ROCE_QPA_SQ_PSN | ROCE_QPA_MAX_RD,
			     &a),
		ROCE_MODIFY_OK);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 2, 8);
	peer_heard(p, &t, 4, ROCE_SYN_ACK, PEER_PSN + 2);
	cr_assert_eq(d->events, 0);
	pair_free(p);
}
