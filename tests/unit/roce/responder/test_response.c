/* SPDX-License-Identifier: BSD-3-Clause */
/* Responses on their way out: ACKs, NAKs and READ responses, their order and their contents. */
#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rigs/overheard.h"
#include "rigs/scripted_peer.h"
#include "roce/qp/qp.h"

/* checks W-ACK-06, W-RESP-02[5] */
Test(response, a_gap_that_closes_within_the_turn)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);

	/* Overtaken: the late one comes, the other was dropped and is asked for. */
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 1, 8);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	peer_heard(p, &t, 1, ROCE_SYN_NAK_SEQ, PEER_PSN + 1);
	/* Both come again: nothing is missing when the NAK would leave. */
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 2, 8);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 1, 8);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 2, 8);
	peer_heard(p, &t, 2, ROCE_SYN_ACK, PEER_PSN + 2);
	pair_free(p);
}

/* checks W-ACK-02[1,2] */
Test(response, W_ACK_02_coalesced_and_W_ACK_01_only_if_asked)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt quiet = peer_packet(p, ROCE_WRITE_ONLY, PEER_PSN, 8);

	quiet.ackreq = false;
	peer_say(p, &quiet);
	peer_silent(p, &t, 0);
	for (unsigned i = 1; i < 5; i++)
		peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + i, 8);
	quiet.psn = PEER_PSN + 5;
	peer_say(p, &quiet);
	peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN + 5);
	cr_assert_eq(t.said[0].msn, 6);
	pair_free(p);
}

/* checks W-ACK-04, W-PSN-03[3], W-READ-01[2,3], W-RESP-01[3], W-RXE-18 */
Test(response, W_ACK_03_answers_leave_in_PSN_order)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt r = peer_read_request(p, PEER_PSN + 1, 0, 2 * PEER_MTU + 5);
	static const uint8_t ops[] = {
		ROCE_READ_RESP_FIRST, ROCE_READ_RESP_MIDDLE, ROCE_READ_RESP_LAST, ROCE_ACK};

	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	peer_say(p, &r);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 4, 8);
	pair_turn(p, 1);
	cr_assert_eq(t.n, 4); /* W-ACK-04: the first ACK is implied */
	for (unsigned i = 0; i < 4; i++) {
		cr_assert_eq(t.said[i].opcode, ops[i]);
		cr_assert_eq(t.said[i].psn, PEER_PSN + 1 + i);
	}
	pair_free(p);
}

/* checks W-ACK-02[1,2], W-COMP-02[1] */
Test(response, one_ack_for_a_burst)
{
	struct pair *p = pair_new(&(struct pair_opts){.window = 256});

	for (unsigned i = 0; i < 20; i++)
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert_eq(p->sent[0], 20);
	cr_assert_eq(p->sent[1], 1, "%lu acknowledgements", p->sent[1]);
	pair_free(p);
}

/*
 * checks W-AETH-04[2,3], W-CM-36[2]: with receives or without, its own queue or a shared one:
 * "no limit".
 */
Test(response, W_AETH_04_ours_are_without_limit)
{
	for (unsigned shared = 0; shared < 2; shared++) {
		struct ear e;
		struct pair *p = ear_pair(&e, (struct pair_opts){.srq_depth = shared * 16});

		for (unsigned i = 0; i < 8; i++)
			pair_recv(p, 1, 0, i, 0, 64);
		for (unsigned i = 0; i < 8; i++) {
			pair_send(p, 0, 0, i, 0, 8, 0);
			pair_write(p, 0, 0, i, 0, 0, 8, 0);
			pair_read(p, 0, 0, i, 0, 0, i * EAR_MTU, 0);
			cr_assert(pair_run(p, PAIR_LONG));
		}
		cr_assert_gt(e.n, 16);
		for (unsigned i = 0; i < e.n; i++)
			if (e.said[i].opcode != ROCE_READ_RESP_MIDDLE)
				cr_assert_eq(e.said[i].syndrome, 0x1f);
		pair_free(p);
	}
}

/* Loses about every eighth frame, and notes which READ responses were sent. */
struct order {
	struct {
		uint32_t first, n;
	} read[64];
	unsigned reads, frames, acks;
	bool sent[0x10000]; /* by PSN; the first one is 100 */
};

static unsigned
watch_order(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct order *o = ctx;

	(void)p;
	(void)late_ns;
	if (from == 0 && pkt->opcode == ROCE_READ_REQUEST && o->reads < 64) {
		o->read[o->reads].first = pkt->psn;
		o->read[o->reads++].n = (pkt->dma_bytes + EAR_MTU - 1) / EAR_MTU;
	}
	if (from == 1 && pkt->opcode >= ROCE_READ_RESP_FIRST && pkt->opcode <= ROCE_READ_RESP_ONLY)
		o->sent[pkt->psn & 0xffff] = true;
	if (from == 1 && pkt->opcode == ROCE_ACK && pkt->syndrome == ROCE_SYN_ACK) {
		o->acks++;
		for (unsigned i = 0; i < o->reads; i++)
			for (uint32_t k = 0; k < o->read[i].n; k++)
				cr_assert(o->read[i].first + k > pkt->psn ||
						  o->sent[(o->read[i].first + k) & 0xffff],
					"ACK of %u before response %u was sent", pkt->psn,
					o->read[i].first + k);
	}
	return (++o->frames * 2654435761u) >> 29 != 3;
}

Test(response, W_ACK_05_no_ack_names_a_response_that_was_not_sent)
{
	static struct order o;
	struct pair *p = pair_new(&(struct pair_opts){.mtu = EAR_MTU,
		.set_psn = true,
		.sq_psn = {EAR_PSN, 5000},
		.max_rd = 4,
		.max_dest_rd = 4,
		.retry = 7,
		.timeout_code = 18});

	p->tap = watch_order;
	p->tap_ctx = &o;
	for (unsigned i = 0; i < 12; i++) {
		pair_write(p, 0, 0, 4 * i, 0, 0, 8 + i * 400, 0);
		pair_read(p, 0, 0, 4 * i + 1, 0, 0, 8 + i * 500, 0);
		pair_read(p, 0, 0, 4 * i + 2, 0, 0, 6 * EAR_MTU, 0);
		pair_write(p, 0, 0, 4 * i + 3, 0, 0, 2 * EAR_MTU, 0);
	}
	(void)pair_run(p, PAIR_LONG);
	for (unsigned i = 0; i < 48; i++)
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
	cr_assert_gt(o.acks, 12);
	pair_free(p);
}

/* ---- READs ---- */

/* The responder's own requests may stand between them, other answers may not. checks
 * W-READ-02[1,2] */
Test(response, W_READ_02_answers_of_two_requests_do_not_mix)
{
	struct ear e;
	struct pair *p = ear_pair(&e, (struct pair_opts){.max_rd = 8, .max_dest_rd = 8});
	unsigned inside = 0;

	for (unsigned i = 0; i < 8; i++) {
		pair_read(p, 0, 0, i, 0, 0, 5 * EAR_MTU, 0);
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
		pair_write(p, 1, 0, i, 0, 0, 3 * EAR_MTU, 0);
	}
	cr_assert(pair_run(p, PAIR_LONG));
	for (unsigned i = 0; i < e.n; i++) {
		const struct roce_pkt *k = &e.said[i];

		if (!(k->opflags & ROCE_OPF_RESPONSE))
			continue;
		if (inside > 0)
			cr_assert(k->opcode == ROCE_READ_RESP_MIDDLE ||
					  k->opcode == ROCE_READ_RESP_LAST,
				"%s inside an answer", roce_opcode_info[k->opcode].name);
		inside = k->opcode == ROCE_READ_RESP_FIRST    ? 1
			 : k->opcode == ROCE_READ_RESP_MIDDLE ? inside + 1
							      : 0;
	}
	cr_assert_eq(inside, 0);
	pair_free(p);
}

/* One frame at a time, and often none: late, but in order, and the peer is not told to wait.
 * checks W-READ-03[1,2] */
Test(response, W_READ_03_out_of_frames_in_the_middle)
{
	struct ear e;
	struct pair *p = ear_pair(&e, (struct pair_opts){0});
	for (uint32_t i = 0; i < 50 * EAR_MTU; i++)
		p->side[1].arena[i] = (uint8_t)(i * 31 >> 3);
	pair_read(p, 0, 0, 1, 0, 0, 50 * EAR_MTU, 0);
	cr_assert_eq(ear_pump(p, 0, 1), 1);
	for (uint32_t i = 0; i < 50; i++) {
		for (unsigned dry = 0; dry < i % 4; dry++)
			cr_assert_eq(ear_pump(p, 1, 0), 0);
		cr_assert_eq(ear_pump(p, 1, 1), 1);
		cr_assert_eq(ear_pump(p, 0, 1), 0, "it has nothing to object to");
	}
	cr_assert_eq(ear_pump(p, 1, 1), 0);
	pair_turn(p, 0);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	cr_assert_eq(memcmp(p->side[0].arena, p->side[1].arena, 50 * EAR_MTU), 0);
	cr_assert_eq(pair_count(p, 1)->tx_rnr + pair_count(p, 1)->tx_nak_fatal, 0);
	pair_free(p);
}

/* 2 GiB of address space, of which each 2 MiB are the same memory. */
static uint8_t *
endless(size_t bytes)
{
	const size_t part = 2u << 20;
	uint8_t *at =
		mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int fd = memfd_create("endless", 0);

	cr_assert(at != MAP_FAILED && fd >= 0 && ftruncate(fd, (off_t)part) == 0);
	for (size_t i = 0; i < bytes; i += part)
		cr_assert_eq(
			mmap(at + i, part, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0),
			at + i);
	close(fd);
	return at;
}

/* The longest message is one of 2^31 bytes; its responses come as the port takes them. checks
 * W-READ-04[1] */
Test(response, W_READ_04_as_long_as_a_message_can_be, .timeout = 120)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = 4096, .window = 4096});
	struct roce_mr *mr[2];
	struct ndsh_cqe c;

	for (unsigned i = 0; i < 2; i++) {
		struct pair_side *d = &p->side[i];

		mr[i] = roce_mr_register(d->shard, d->pd, PAIR_VA, ROCE_MSG_MAX,
			endless(ROCE_MSG_MAX), NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_READ);
		cr_assert_not_null(mr[i]);
	}
	pair_post(p, 0, 0,
		&(struct ndsh_swr){.context = 7,
			.raddr = PAIR_VA,
			.rkey = roce_mr_key(mr[1]),
			.ctrl = NDSH_CTRL(NDSH_OP_READ, 1, 0, 0)},
		&(struct ndsh_sge){PAIR_VA, ROCE_MSG_MAX, roce_mr_key(mr[0])}, NULL);
	ear_pump(p, 0, 1);
	while (ear_pump(p, 1, 32) > 0)
		;
	pair_turn(p, 0);
	c = pair_expect(p, 0, 7, NDSH_WC_SUCCESS);
	cr_assert_eq(c.bytes, ROCE_MSG_MAX);
	for (unsigned i = 0; i < 2; i++)
		cr_assert(roce_mr_deregister(p->side[i].shard, mr[i]));
	pair_free(p);
}

/* ---- what takes the place of what ---- */

/*
 * One packet that says all: a NAK, or an ACK of a later PSN, takes the place of an ACK that has
 * not left. checks W-ACK-02, W-ACK-06, W-AETH-01[7,8], W-RESP-18[1]
 */
Test(response, W_ACK_06_a_nak_takes_the_place_of_an_ack)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt bad;

	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	peer_say_plain(p, ROCE_SEND_ONLY, PEER_PSN + 1, 8); /* no receive */
	peer_heard(p, &t, 1, ROCE_SYN_RNR | 14, PEER_PSN + 1);
	cr_assert_eq(t.said[0].msn, 1);
	pair_recv(p, 1, 0, 1, 0, 64);
	peer_say_plain(p, ROCE_SEND_ONLY, PEER_PSN + 1, 8);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 3, 8); /* a gap */
	peer_heard(p, &t, 2, ROCE_SYN_NAK_SEQ, PEER_PSN + 2);
	cr_assert_eq(t.said[1].msn, 2);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 2, 8);
	bad = peer_packet(p, ROCE_WRITE_ONLY, PEER_PSN + 3, 8);
	bad.rkey ^= 1;
	peer_say(p, &bad);
	peer_heard(p, &t, 3, ROCE_SYN_NAK_REM_ACCESS, PEER_PSN + 3);
	cr_assert_eq(t.said[2].msn, 3);
	pair_free(p);
}

/* Responses that were due before it leave in front of it, and with what they say; then the one NAK,
 * then nothing. checks W-RESP-18[1,2,3,4], W-ACK-03 */
Test(response, W_RESP_18_responses_in_front_of_the_fatal_nak)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt r = peer_read_request(p, PEER_PSN, 0, 3 * PEER_MTU);
	struct roce_pkt bad = peer_packet(p, ROCE_WRITE_ONLY, PEER_PSN + 3, 8);

	bad.rkey ^= 0x80000000;
	peer_say(p, &r);
	peer_say(p, &bad);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 3, 8);
	peer_heard(p, &t, 4, ROCE_SYN_NAK_REM_ACCESS, PEER_PSN + 3);
	for (unsigned i = 0; i < 3; i++)
		cr_assert_eq(t.said[i].psn, PEER_PSN + i);
	cr_assert_eq(t.said[3].msn, 1);
	peer_say(p, &r);
	peer_say(p, &bad);
	peer_silent(p, &t, 4);
	pair_free(p);
}

/* After a message was refused for want of a receive, and told so, a duplicate is acknowledged as
 * ever; and what was behind the refused one is no gap. checks W-DUP-01[2], W-RESP-03[1] */
Test(response, a_duplicate_behind_an_rnr_nak)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);

	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN);
	peer_say_plain(p, ROCE_SEND_ONLY, PEER_PSN + 1, 8);
	peer_heard(p, &t, 2, ROCE_SYN_RNR | 14, PEER_PSN + 1);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	peer_heard(p, &t, 3, ROCE_SYN_ACK, PEER_PSN);
	peer_say_plain(p, ROCE_SEND_ONLY, PEER_PSN + 2, 8);
	peer_silent(p, &t, 3); /* W-RESP-03: it is still the burst behind the RNR NAK */
	pair_free(p);
}

/* A message was refused for want of a receive, and before the RNR NAK left, another one came under
 * its PSN and was executed: there is nothing to wait for, and what was asked before is
 * acknowledged. checks W-RESP-08[8], W-ACK-01, W-ACK-04 */
Test(response, an_rnr_nak_that_is_overtaken_does_not_leave)
{
	for (unsigned i = 0; i < 3; i++) {
		struct peer_tape t;
		struct pair *p = peer_new(&t);
		struct roce_pkt write = peer_packet(p, ROCE_WRITE_ONLY, PEER_PSN + 1, 8);
		struct roce_pkt read = peer_read_request(p, PEER_PSN + 1, 0, 8);

		peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
		peer_say_plain(p, ROCE_SEND_ONLY, PEER_PSN + 1, 8);
		write.ackreq = i == 1;
		peer_say(p, i < 2 ? &write : &read);
		peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN + 1);
		cr_assert_eq(t.said[0].opcode, i < 2 ? ROCE_ACK : ROCE_READ_RESP_ONLY);
		cr_assert_eq(t.said[0].msn, 2);
		peer_silent(p, &t, 1);
		pair_free(p);
	}
}

/* Two answers that do not fit into one: which of them leaves. The one before has not left when the
 * cause of the other comes. checks W-ACK-06, W-RESP-02[1], W-RESP-03[1] */
Test(response, of_two_that_are_owed)
{
	static const struct {
		struct {
			uint8_t opcode;
			uint32_t ahead; /* of the expected PSN, or behind it */
		} of[2];
		uint8_t leaves;
		uint32_t psn;
	} cases[] = {
		/* a gap, then the expected one, which waits for a receive */
		{{{ROCE_WRITE_ONLY, 2}, {ROCE_SEND_ONLY, 0}}, ROCE_SYN_RNR | 14, 0},
		/* the same the other way round: behind an RNR NAK nothing is out of sequence */
		{{{ROCE_SEND_ONLY, 0}, {ROCE_WRITE_ONLY, 2}}, ROCE_SYN_RNR | 14, 0},
		/* a duplicate takes no place, and leaves its own to others */
		{{{ROCE_SEND_ONLY, 0}, {ROCE_WRITE_ONLY, -1u}}, ROCE_SYN_RNR | 14, 0},
		{{{ROCE_WRITE_ONLY, -1u}, {ROCE_SEND_ONLY, 0}}, ROCE_SYN_RNR | 14, 0},
		{{{ROCE_WRITE_ONLY, 2}, {ROCE_WRITE_ONLY, -1u}}, ROCE_SYN_NAK_SEQ, 0},
		{{{ROCE_WRITE_ONLY, -1u}, {ROCE_WRITE_ONLY, 2}}, ROCE_SYN_NAK_SEQ, 0},
		{{{ROCE_WRITE_ONLY, -1u}, {ROCE_WRITE_ONLY, 0}}, ROCE_SYN_ACK, 0},
		{{{ROCE_WRITE_ONLY, 0}, {ROCE_WRITE_ONLY, -1u}}, ROCE_SYN_ACK, 0},
		/* what ends the connection is told before all else */
		{{{ROCE_WRITE_ONLY, 2}, {ROCE_SEND_LAST, 0}}, ROCE_SYN_NAK_INV_REQ, 0},
		{{{ROCE_SEND_ONLY, 0}, {ROCE_SEND_LAST, 0}}, ROCE_SYN_NAK_INV_REQ, 0},
		{{{ROCE_SEND_LAST, 0}, {ROCE_WRITE_ONLY, 2}}, ROCE_SYN_NAK_INV_REQ, 0},
		{{{ROCE_SEND_LAST, 0}, {ROCE_WRITE_ONLY, -1u}}, ROCE_SYN_NAK_INV_REQ, 0},
		/* the sequence NAK tells of what came meanwhile */
		{{{ROCE_WRITE_ONLY, 2}, {ROCE_WRITE_ONLY, 0}}, ROCE_SYN_NAK_SEQ, 1},
		{{{ROCE_WRITE_ONLY, 0}, {ROCE_WRITE_ONLY, 2}}, ROCE_SYN_NAK_SEQ, 1},
	};
	const uint32_t next = PEER_PSN + 2;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct peer_tape t;
		struct pair *p = peer_new(&t);

		peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
		peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 1, 8);
		peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN + 1);
		for (unsigned k = 0; k < 2; k++)
			peer_say_plain(p, cases[i].of[k].opcode, next + cases[i].of[k].ahead, 8);
		pair_turn(p, 1);
		cr_assert_eq(t.n, 2, "case %u: %u", i, t.n - 1);
		cr_assert_eq(
			t.said[1].syndrome, cases[i].leaves, "case %u: %x", i, t.said[1].syndrome);
		cr_assert_eq(t.said[1].psn, next + cases[i].psn, "case %u", i);
		pair_free(p);
	}
}

/* 24 bits, in every kind of answer. checks W-AETH-01[2] */
Test(response, W_AETH_01_the_message_number_wraps)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt r = peer_read_request(p, PEER_PSN + 2, 0, 8);

	p->side[1].q[0].qp->msn = 0xfffffe;
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN);
	cr_assert_eq(t.said[0].msn, 0xffffff);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 1, 8);
	peer_heard(p, &t, 2, ROCE_SYN_ACK, PEER_PSN + 1);
	cr_assert_eq(t.said[1].msn, 0);
	peer_say(p, &r);
	peer_silent(p, &t, 3);
	cr_assert_eq(t.said[2].msn, 1);
	cr_assert_eq(p->side[1].q[0].qp->msn, 1);
	pair_free(p);
}

/* From 0, with the end of each message, the acceptance of a READ, the execution of an atomic, and
 * with nothing else. Whatever has an AETH tells the number as it is then.
 * checks W-AETH-01[1,3,4,5,6,7,8,9] */
Test(response, W_AETH_01_one_for_each_message)
{
	static const struct {
		uint8_t opcode;
		uint32_t psn, bytes, dma_bytes; /* psn: behind the first one */
		uint8_t syndrome;
		uint32_t msn;
	} of[] = {{ROCE_WRITE_FIRST, 0, PEER_MTU, 2 * PEER_MTU + 8, ROCE_SYN_ACK, 0},
		{ROCE_WRITE_MIDDLE, 1, PEER_MTU, 0, ROCE_SYN_ACK, 0},
		{ROCE_WRITE_LAST, 2, 8, 0, ROCE_SYN_ACK, 1},
		{ROCE_WRITE_ONLY, 3, 0, 0, ROCE_SYN_ACK, 2},
		{ROCE_SEND_FIRST, 4, PEER_MTU, 0, ROCE_SYN_ACK, 2},
		{ROCE_SEND_LAST, 5, 8, 0, ROCE_SYN_ACK, 3},
		{ROCE_FETCH_ADD, 6, 0, 0, ROCE_SYN_ACK, 4},
		{ROCE_READ_REQUEST, 7, 0, 3 * PEER_MTU, ROCE_SYN_ACK, 5},
		/* duplicates */
		{ROCE_WRITE_ONLY, 3, 0, 0, ROCE_SYN_ACK, 5},
		{ROCE_SEND_LAST, 5, 8, 0, ROCE_SYN_ACK, 5},
		{ROCE_FETCH_ADD, 6, 0, 0, ROCE_SYN_ACK, 5},
		{ROCE_READ_REQUEST, 7, 0, 3 * PEER_MTU, ROCE_SYN_ACK, 5},
		/* no receive; a gap; the end */
		{ROCE_SEND_ONLY, 10, 8, 0, ROCE_SYN_RNR | 14, 5},
		{ROCE_WRITE_ONLY, 10, 0, 0, ROCE_SYN_ACK, 6},
		{ROCE_WRITE_ONLY, 12, 0, 0, ROCE_SYN_NAK_SEQ, 6},
		{ROCE_SEND_LAST, 11, 8, 0, ROCE_SYN_NAK_INV_REQ, 6}};
	const uint32_t all =
		NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_REMOTE_ATOMIC;
	struct peer_tape t;
	struct pair *p = peer_with(
		&t, (struct pair_opts){.access = all, .mr_access = all | NDSH_ACCESS_LOCAL_WRITE});

	pair_recv(p, 1, 0, 1, 0, 2 * PEER_MTU);
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct roce_pkt pkt =
			peer_packet(p, of[i].opcode, PEER_PSN + of[i].psn, of[i].bytes);

		pkt.dma_bytes = of[i].dma_bytes;
		t.n = 0;
		peer_say(p, &pkt);
		pair_turn(p, 1);
		cr_assert_gt(t.n, 0, "step %zu", i);
		for (unsigned k = 0; k < t.n; k++) {
			cr_assert(t.said[k].mig); /* as all that is no CNP */
			if (!(t.said[k].opflags & ROCE_OPF_AETH))
				continue;
			cr_assert_eq(t.said[k].msn, of[i].msn, "step %zu: %u", i, t.said[k].msn);
			cr_assert_eq(t.said[k].syndrome, of[i].syndrome, "step %zu", i);
		}
	}
	pair_free(p);
}

/*
 * Bursts of packets, some of which ask for an ACK: at the end of the turn there is one ACK at
 * most, and the newest that asked is covered. checks W-ACK-01, W-ACK-02[2]
 */
Test(response, W_ACK_01_who_asks_is_answered_within_the_turn)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	uint32_t psn = PEER_PSN, dice = 99;
	struct ndsh_cqe c;

	for (unsigned round = 0; round < 500; round++) {
		uint32_t asked = 0;
		bool any = false;

		t.n = 0;
		for (unsigned i = 0; i < 1 + round % 7; i++) {
			struct roce_pkt pkt = peer_packet(p, ROCE_WRITE_ONLY, psn, 8);

			dice = dice * 1664525 + 1013904223;
			pkt.ackreq = dice >> 30 == 0;
			if (dice >> 29 & 1) {
				pkt.opcode = ROCE_SEND_ONLY;
				pair_recv(p, 1, 0, round, 0, 64);
			}
			if (pkt.ackreq) {
				any = true;
				asked = psn;
			}
			psn = (psn + 1) & ROCE_PSN_MASK;
			peer_say(p, &pkt);
		}
		pair_turn(p, 1);
		while (pair_poll(p, 1, &c))
			cr_assert_eq(c.status, NDSH_WC_SUCCESS);
		cr_assert_eq(t.n, any);
		if (!any)
			continue;
		cr_assert_eq(t.said[0].syndrome, ROCE_SYN_ACK);
		cr_assert_geq(roce_psn_diff(t.said[0].psn, asked), 0);
		cr_assert_lt(roce_psn_diff(t.said[0].psn, psn), 0);
	}
	pair_free(p);
}

/*
 * Every length around the multiples of the MTU: opcodes, lengths and PSNs of the responses; AETH
 * in all but MIDDLE. checks W-PSN-03[3], W-READ-01[1-4], W-RESP-01[3]
 */
Test(response, W_READ_01_shapes_of_all_lengths)
{
	static const int32_t off[] = {-1, 0, 1};

	for (uint32_t n = 0; n < 4; n++)
		for (unsigned k = n == 0; k < 3; k++) {
			uint32_t bytes = n * PEER_MTU + (uint32_t)off[k];
			uint32_t of = bytes <= PEER_MTU ? 1 : (bytes + PEER_MTU - 1) / PEER_MTU;
			struct peer_tape t;
			struct pair *p = peer_new(&t);
			struct roce_pkt r = peer_read_request(p, PEER_PSN, 0, bytes);

			peer_say(p, &r);
			peer_silent(p, &t, of);
			for (uint32_t i = 0; i < of; i++) {
				const struct roce_pkt *s = &t.said[i];
				bool last = i + 1 == of;
				uint8_t op = of == 1  ? ROCE_READ_RESP_ONLY
					     : i == 0 ? ROCE_READ_RESP_FIRST
					     : last   ? ROCE_READ_RESP_LAST
						      : ROCE_READ_RESP_MIDDLE;

				cr_assert_eq(s->opcode, op);
				cr_assert_eq(s->psn, PEER_PSN + i);
				cr_assert_eq(
					s->payload_bytes, last ? bytes - i * PEER_MTU : PEER_MTU);
				cr_assert_eq(
					!(s->opflags & ROCE_OPF_AETH), op == ROCE_READ_RESP_MIDDLE);
				cr_assert_not(s->ackreq);
			}
			peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + of, 8);
			peer_heard(p, &t, of + 1, ROCE_SYN_ACK, PEER_PSN + of);
			pair_free(p);
		}
}
