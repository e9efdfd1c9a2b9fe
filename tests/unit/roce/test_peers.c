/* SPDX-License-Identifier: BSD-3-Clause */
/* What other implementations do, and rely on: the rules of peers (W-RXE, W-UC). */
#include <criterion/criterion.h>
#include <string.h>

#include "base/bytes.h"
#include "rigs/overheard.h"
#include "rigs/scripted_peer.h"
#include "shm/ndsh_op.h"
#include "wire/aeth.h"
#include "wire/build.h"
#include "wire/icrc.h"

#define BYTES 8u

/* ---- what is accepted ---- */

enum fault {
	NONE,
	ADDRESS_OF_NOBODY, /* to another address than the queue pair's */
	ADDRESS_OF_OTHER,  /* from another one */
	VERSION,
	NUMBER_0,
	NUMBER_OF_NOBODY,
	OPCODE,
	TRANSPORT,
	KEY,
	FAULTS,
};

static void
spoil(struct roce_path *path, struct roce_pkt *pkt, enum fault fault)
{
	if (fault == ADDRESS_OF_NOBODY)
		path->dgid.raw[15] ^= 0x40;
	else if (fault == ADDRESS_OF_OTHER)
		path->sgid.raw[15] ^= 0x40;
	else if (fault == NUMBER_0)
		pkt->qpn = 0;
	else if (fault == NUMBER_OF_NOBODY)
		pkt->qpn ^= 1;
	else if (fault == TRANSPORT)
		pkt->opcode = ROCE_UD_SEND_ONLY;
	else if (fault == KEY)
		pkt->pkey = 0x8001;
}

/* A WRITE of the expected PSN with that fault, as an error of a bit or with an ICRC that is right;
 * false: the parser refused it. */
static bool
say_faulty(struct pair *p, enum fault fault, bool icrc_ok)
{
	struct roce_pkt pkt = peer_packet(p, ROCE_WRITE_ONLY, PEER_PSN, BYTES), parsed;
	uint8_t frame[ROCE_FRAME_MAX] = {0};
	struct roce_hdr_tmpl tmpl;
	struct roce_qp_attr attr;
	uint32_t hdr, bytes;

	pair_attr(p, 0, 0, &attr);
	spoil(&attr.path, &pkt, fault);
	roce_hdr_tmpl_init(&tmpl, &attr.path);
	hdr = roce_wire_build(frame, &tmpl, &pkt, 0);
	if (fault == VERSION)
		frame[tmpl.len + 1] |= 1;
	if (fault == OPCODE)
		frame[tmpl.len] = 0xc4; /* a manufacturer's */
	bytes = roce_wire_seal(frame, &tmpl, hdr, BYTES);
	if (!icrc_ok)
		frame[bytes - 1] ^= 1;
	if (roce_wire_parse(frame, bytes, &parsed) != ROCE_WIRE_OK)
		return false;
	pair_rx(p, 1, &parsed);
	return true;
}

static uint64_t
counted(const struct pair *p, enum fault fault)
{
	const struct roce_counters *c = pair_count(p, 1);

	switch (fault) {
	case ADDRESS_OF_NOBODY:
	case ADDRESS_OF_OTHER:
		return c->rx_wrong_address;
	case NUMBER_0:
	case NUMBER_OF_NOBODY:
		return c->rx_unknown_qpn;
	case TRANSPORT:
		return c->rx_wrong_class;
	default:
		return c->rx_icrc_error;
	}
}

/*
 * checks W-RXE-01[1,2]: all must be right, nothing is said of what is not, and of two faults the
 * ICRC is noticed last.
 */
Test(peers, W_RXE_01_what_is_accepted_and_in_which_order)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	const uint8_t *word = p->side[1].arena;
	uint8_t before[BYTES];

	memset(p->side[1].arena, 0x5a, BYTES);
	memcpy(before, word, BYTES);
	for (enum fault f = NONE + 1; f < FAULTS; f++) {
		bool parses = f != VERSION && f != OPCODE && f != KEY;

		for (unsigned icrc_ok = 0; icrc_ok < 2; icrc_ok++) {
			uint64_t was = counted(p, f), icrc = pair_count(p, 1)->rx_icrc_error;

			cr_assert_eq(say_faulty(p, f, icrc_ok), parses, "fault %d", f);
			cr_assert_eq(counted(p, f), was + parses, "fault %d", f);
			cr_assert_eq(pair_count(p, 1)->rx_icrc_error, icrc, "fault %d", f);
			peer_silent(p, &t, 0);
			pair_expect_alive(p, 1, 0);
		}
	}
	cr_assert(say_faulty(p, NONE, false));
	cr_assert_eq(pair_count(p, 1)->rx_icrc_error, 1);
	peer_silent(p, &t, 0);
	cr_assert_eq(memcmp(word, before, BYTES), 0);
	/* None of them moved the expected PSN. */
	cr_assert(say_faulty(p, NONE, true));
	peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN);
	cr_assert_neq(memcmp(word, before, BYTES), 0);
	pair_free(p);
}

/* ---- rxe ---- */

#define RXE_ASKS   65u /* packets from one AckReq to the next */
#define RXE_WINDOW 128u

static unsigned
only_acks(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	uint32_t *acked = ctx;

	(void)p;
	(void)late_ns;
	if (from == 1 && pkt->opcode == ROCE_ACK && pkt->syndrome == ROCE_SYN_ACK)
		*acked = pkt->psn;
	return 0;
}

/*
 * checks W-RXE-10, W-RXE-11: rxe stops 128 packets beyond the last that was acknowledged and
 * asks every 65: each packet that asks is answered in the turn that took it, so that the window
 * never closes and no time passes.
 */
Test(peers, W_RXE_11_a_window_of_128_never_closes)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	uint32_t acked = PEER_PSN - 1, packets = 20 * RXE_ASKS;

	p->tap = only_acks;
	p->tap_ctx = &acked;
	for (uint32_t i = 0; i < packets; i++) {
		struct roce_pkt pkt = peer_packet(p,
			i == 0		  ? ROCE_WRITE_FIRST
			: i + 1 < packets ? ROCE_WRITE_MIDDLE
					  : ROCE_WRITE_LAST,
			PEER_PSN + i, PEER_MTU);

		pkt.dma_bytes = packets * PEER_MTU;
		pkt.ackreq = i % RXE_ASKS == RXE_ASKS - 1;
		cr_assert_leq(PEER_PSN + i - acked, RXE_WINDOW, "packet %u has to wait", i);
		peer_say(p, &pkt);
		pair_turn(p, 1);
		if (pkt.ackreq)
			cr_assert_eq(acked, PEER_PSN + i);
	}
	pair_free(p);
}

/* checks W-RXE-12[1]: rxe with 7 retries repeats without end. It is told each time. */
Test(peers, W_RXE_12_repeated_without_end)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);

	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, BYTES);
	peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN);
	for (unsigned i = 0; i < 1000; i++) {
		p->now_ns += 500000000;
		t.n = 0;
		peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, BYTES);
		peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN);
	}
	pair_expect_alive(p, 1, 0);
	pair_free(p);
}

static unsigned
count_requests(
	struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	unsigned *asked = ctx;

	(void)p;
	(void)pkt;
	(void)late_ns;
	*asked += from == 0;
	return 0;
}

/* checks W-RXE-24[1]: silence about a READ or an atomic is a loss like any other. */
Test(peers, W_RXE_24_silence_is_asked_again_and_given_up)
{
	static const uint8_t ops[] = {NDSH_OP_READ, NDSH_OP_FETCH_ADD};

	for (unsigned i = 0; i < 2; i++) {
		struct pair *p = pair_new(&(struct pair_opts){.timeout_code = 10, .retry = 3});
		const struct ndsh_sge sge = pair_sge(p, 0, 0, 8);
		unsigned asked = 0;

		p->tap = count_requests;
		p->tap_ctx = &asked;
		pair_post_sge(p, 0, 0, 1, ops[i], 0, &sge);
		(void)pair_run(p, PAIR_LONG);
		pair_expect(p, 0, 1, NDSH_WC_RETRY_EXC_ERR);
		pair_expect_dead(p, 0, 0, ROCE_REASON_RETRY_EXC);
		cr_assert_geq(asked, 1 + 3u);
		pair_free(p);
	}
}

/* That SEND is acknowledged, and the peer is dead: only the next request finds it out. */
Test(peers, W_RXE_27_a_failed_invalidation_is_acknowledged)
{
	struct ear e;
	struct pair *p = ear_pair(&e, (struct pair_opts){.timeout_code = 10, .retry = 3});
	const struct ndsh_swr inv = {
		.context = 1, .ctrl = NDSH_CTRL(NDSH_OP_SEND_INV, 0, 0, 0), .rkey = 0x12345678};

	e.deaf = true;
	pair_post(p, 0, 0, &inv, NULL, NULL);
	pair_turn(p, 0);
	ear_answer(p, EAR_PSN, ROCE_SYN_ACK);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect_alive(p, 0, 0);
	pair_send(p, 0, 0, 2, 0, 8, 0);
	pair_send(p, 0, 0, 3, 0, 8, 0);
	(void)pair_run(p, PAIR_LONG);
	pair_expect(p, 0, 2, NDSH_WC_RETRY_EXC_ERR);
	pair_expect(p, 0, 3, NDSH_WC_FLUSH_ERR);
	pair_expect_none(p, 0);
	pair_expect_dead(p, 0, 0, ROCE_REASON_RETRY_EXC);
	pair_free(p);
}

/* ---- UC ---- */

/* No queue pair is of that kind: whatever its opcode and PSN, such a packet leaves no trace. */
Test(peers, W_UC_01_packets_of_unreliable_connections_are_dropped)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	uint64_t dropped = 0;

	pair_recv(p, 1, 0, 1, 0, 64);
	for (uint32_t opcode = 0x20; opcode < 0x40; opcode++) {
		for (uint32_t ahead = 0; ahead < 3; ahead++) {
			struct roce_pkt pkt =
				peer_packet(p, (uint8_t)opcode, PEER_PSN - 1 + ahead, BYTES);

			if (!(roce_opcode_info[opcode].flags & ROCE_OPF_VALID))
				continue;
			peer_say(p, &pkt);
			peer_silent(p, &t, 0);
			cr_assert_eq(
				pair_count(p, 1)->rx_wrong_class, ++dropped, "opcode %02x", opcode);
		}
	}
	cr_assert_eq(dropped, 36, "not the twelve opcodes of UC");
	pair_expect_none(p, 1);
	pair_expect_alive(p, 1, 0);
	peer_say_plain(p, ROCE_SEND_ONLY, PEER_PSN, BYTES);
	peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN);
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	pair_free(p);
}
