/* SPDX-License-Identifier: BSD-3-Clause */
/* What each kind of request needs of the responder, and what it does not. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/scripted_peer.h"
#include "roce/qp/qp.h"

/* ---- receives ---- */

/* A packet, behind the FIRST that it needs. */
struct kind {
	uint8_t opcode, first;
	bool needs; /* a receive for itself */
};

static const struct kind kinds[] = {{ROCE_SEND_FIRST, 0xff, true}, {ROCE_SEND_ONLY, 0xff, true},
	{ROCE_SEND_ONLY_IMM, 0xff, true}, {ROCE_SEND_ONLY_INV, 0xff, true},
	{ROCE_WRITE_LAST_IMM, ROCE_WRITE_FIRST, true}, {ROCE_WRITE_ONLY_IMM, 0xff, true},
	{ROCE_WRITE_FIRST, 0xff, false}, {ROCE_WRITE_ONLY, 0xff, false},
	{ROCE_WRITE_LAST, ROCE_WRITE_FIRST, false}, {ROCE_SEND_LAST, ROCE_SEND_FIRST, false},
	{ROCE_SEND_MIDDLE, ROCE_SEND_FIRST, false}, {ROCE_SEND_LAST_IMM, ROCE_SEND_FIRST, false},
	{ROCE_READ_REQUEST, 0xff, false}};

static struct roce_pkt
packet_of(const struct pair *p, const struct kind *k, uint32_t psn)
{
	const bool whole = k->opcode == ROCE_SEND_FIRST || k->opcode == ROCE_SEND_MIDDLE ||
			   k->opcode == ROCE_WRITE_FIRST;
	struct roce_pkt pkt = peer_packet(p, k->opcode, psn,
		k->opcode == ROCE_READ_REQUEST ? 0
		: whole			       ? PEER_MTU
					       : 8);

	if (k->opcode == ROCE_READ_REQUEST)
		pkt.dma_bytes = 8;
	if (k->opcode == ROCE_WRITE_FIRST)
		pkt.dma_bytes = PEER_MTU + 8;
	return pkt;
}

/* checks W-RESP-08[1,2,3,4]: the RNR NAK has the timer and the PSN; ePSN and MSN stay, and what
 * came before of the message is in place. */
Test(needs, W_RESP_08_who_needs_a_receive)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct kind *k = &kinds[i];
		const uint32_t psn = PEER_PSN + (k->first != 0xff);
		struct peer_tape t;
		struct pair *p = peer_new(&t);
		struct roce_qp *qp = p->side[1].q[0].qp;
		struct roce_pkt pkt = packet_of(p, k, psn);

		if (k->first != 0xff) {
			struct roce_pkt first =
				packet_of(p, &(struct kind){.opcode = k->first}, PEER_PSN);

			if (k->first == ROCE_SEND_FIRST)
				pair_recv(p, 1, 0, 1, 0, 2 * PEER_MTU + 8);
			first.ackreq = false;
			peer_say(p, &first);
		}
		peer_say(p, &pkt);
		pair_turn(p, 1);
		cr_assert_eq(t.n, 1);
		cr_assert_eq(t.said[0].psn, psn);
		if (k->needs) {
			cr_assert_eq(t.said[0].syndrome, ROCE_SYN_RNR | 14, "%#x", k->opcode);
			cr_assert_eq(t.said[0].msn, 0);
			cr_assert_eq(qp->recv_psn, psn);
		} else {
			cr_assert_eq(t.said[0].syndrome, ROCE_SYN_ACK, "%#x", k->opcode);
			cr_assert_eq(qp->recv_psn, psn + 1);
		}
		cr_assert_eq(p->side[1].arena[0],
			k->first != 0xff || (!k->needs && k->opcode != ROCE_READ_REQUEST) ? 0xa5
											  : 0);
		pair_expect_alive(p, 1, 0);
		pair_free(p);
	}
}

/* ---- keys ---- */

/* checks W-RESP-12[1,2]: a WRITE or READ of no bytes asks for nothing, whatever it names. */
Test(needs, W_RESP_12_no_bytes_no_key)
{
	static const uint8_t ops[] = {ROCE_WRITE_ONLY, ROCE_WRITE_ONLY_IMM, ROCE_READ_REQUEST};
	static const uint64_t addresses[] = {0, 1, PAIR_VA - 1, UINT64_MAX};

	for (unsigned i = 0; i < 3; i++)
		for (unsigned k = 0; k < 4; k++) {
			struct peer_tape t;
			struct pair *p = peer_new(&t);
			struct roce_pkt pkt = peer_packet(p, ops[i], PEER_PSN, 0);

			pair_recv(p, 1, 0, 1, 0, 64);
			pkt.va = addresses[k];
			pkt.rkey = k * 0x55555555u;
			peer_say(p, &pkt);
			peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN);
			cr_assert_eq(t.said[0].payload_bytes, 0);
			cr_assert_eq(t.said[0].opcode, i == 2 ? ROCE_READ_RESP_ONLY : ROCE_ACK);
			pair_expect_alive(p, 1, 0);
			pair_free(p);
		}
}

/* checks W-RESP-13[1,2]: one byte asks for the key, and with the request: what comes behind it is
 * not executed any more. */
Test(needs, W_RESP_13_one_byte_needs_the_key)
{
	static const uint8_t ops[] = {ROCE_WRITE_ONLY, ROCE_READ_REQUEST};

	for (unsigned i = 0; i < 2; i++) {
		struct peer_tape t;
		struct pair *p = peer_new(&t);
		struct roce_pkt pkt = peer_packet(p, ops[i], PEER_PSN, i == 0);

		pkt.dma_bytes = 1;
		pkt.rkey ^= 1;
		peer_say(p, &pkt);
		peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 1, 8);
		peer_heard(p, &t, 1, ROCE_SYN_NAK_REM_ACCESS, PEER_PSN);
		cr_assert_eq(t.said[0].msn, 0);
		cr_assert_eq(p->side[1].arena[0], 0);
		pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_REM_ACCESS);
		pair_free(p);
	}
}

struct wish {
	uint8_t opcode;
	uint64_t va;
	uint32_t bytes, key_xor;
};

/* A request of that range by that key. Is it refused as 0x62, with the end of the queue pair and
 * before a byte was touched, or taken? A WRITE comes with its first packet. */
static void
grants(uint32_t mr_access, const struct wish *w, bool good)
{
	const uint32_t all =
		NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_REMOTE_ATOMIC;
	struct peer_tape t;
	struct pair *p = peer_with(&t, (struct pair_opts){.access = all, .mr_access = mr_access});
	const bool write = w->opcode == ROCE_WRITE_ONLY, first = write && w->bytes > PEER_MTU;
	struct roce_pkt pkt = peer_packet(p, first ? ROCE_WRITE_FIRST : w->opcode, PEER_PSN,
		first	? PEER_MTU
		: write ? w->bytes
			: 0);

	pkt.va = w->va;
	pkt.rkey ^= w->key_xor;
	pkt.dma_bytes = w->bytes;
	peer_say(p, &pkt);
	pair_turn(p, 1);
	cr_assert_geq(t.n, 1);
	cr_assert_eq(t.said[0].psn, PEER_PSN);
	cr_assert_eq(t.said[0].syndrome, good ? ROCE_SYN_ACK : ROCE_SYN_NAK_REM_ACCESS,
		"%#x at %lx of %u: %x", w->opcode, w->va, w->bytes, t.said[0].syndrome);
	if (!good) {
		cr_assert_eq(t.n, 1);
		pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_REM_ACCESS);
		for (uint32_t i = 0; i < PAIR_ARENA; i += 8)
			cr_assert_eq(p->side[1].arena[i], 0);
	}
	pair_free(p);
}

/* checks W-RESP-13[1,2,4,5,6,7]: WRITE, READ and atomics. */
Test(needs, W_RESP_13_every_operation)
{
	static const struct {
		uint8_t opcode;
		uint32_t bytes, right;
	} of[] = {{ROCE_WRITE_ONLY, 16, NDSH_ACCESS_REMOTE_WRITE},
		{ROCE_WRITE_ONLY, 3 * PEER_MTU, NDSH_ACCESS_REMOTE_WRITE},
		{ROCE_READ_REQUEST, 16, NDSH_ACCESS_REMOTE_READ},
		{ROCE_READ_REQUEST, 3 * PEER_MTU, NDSH_ACCESS_REMOTE_READ},
		{ROCE_FETCH_ADD, 8, NDSH_ACCESS_REMOTE_ATOMIC},
		{ROCE_CMP_SWAP, 8, NDSH_ACCESS_REMOTE_ATOMIC}};
	const uint32_t rights =
		NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_REMOTE_ATOMIC;

	for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		const uint64_t end = PAIR_VA + PAIR_ARENA;
		const uint32_t all = rights | NDSH_ACCESS_LOCAL_WRITE, n = of[i].bytes;
		struct wish w = {of[i].opcode, PAIR_VA, n, 0};

		grants(all, &w, true);
		grants(NDSH_ACCESS_LOCAL_WRITE | of[i].right, &w, true);
		grants(all & ~of[i].right, &w, false);
		for (unsigned bit = 0; bit < 32; bit++) {
			w.key_xor = 1u << bit;
			grants(all, &w, false);
		}
		w.key_xor = 0;
		w.va = end - n;
		grants(all, &w, true);
		for (unsigned k = 0; k < 3; k++) {
			const uint64_t off[] = {8, (n + 15) / 16 * 8, n};

			w.va = end - n + off[k]; /* its end is outside */
			grants(all, &w, false);
			w.va = PAIR_VA - off[k]; /* its beginning is: an offset that wraps */
			grants(all, &w, false);
		}
		w.va = -(uint64_t)n; /* up to 2^64, and beyond it */
		grants(all, &w, false);
		w.va = UINT64_MAX - 7;
		grants(all, &w, false);
	}
}

/* ---- slots ---- */

/* checks W-RESP-07[3]: as many as come, one after the other. */
Test(needs, W_RESP_07_an_answered_read_makes_room)
{
	struct peer_tape t;
	struct pair *p = peer_with(&t, (struct pair_opts){.max_dest_rd = 1});

	for (uint32_t i = 0; i < 3 * ROCE_RD_ATOMIC_MAX; i++) {
		struct roce_pkt r = peer_read_request(p, PEER_PSN + i, 0, 8);

		peer_say(p, &r);
		peer_silent(p, &t, i + 1);
		cr_assert_eq(t.said[i].opcode, ROCE_READ_RESP_ONLY);
		cr_assert_eq(t.said[i].psn, PEER_PSN + i);
	}
	pair_expect_alive(p, 1, 0);
	pair_free(p);
}

/* checks W-RESP-07[2]: two when one was agreed, whichever slots they have. */
Test(needs, W_RESP_07_one_too_many_in_any_slot)
{
	for (uint32_t older = 0; older < ROCE_RD_ATOMIC_MAX; older++) {
		struct peer_tape t;
		struct pair *p = peer_with(&t, (struct pair_opts){.max_dest_rd = 1});
		struct roce_pkt r = peer_read_request(p, PEER_PSN, 0, 8);

		for (uint32_t i = 0; i < older; i++, r.psn++) {
			peer_say(p, &r);
			pair_turn(p, 1);
		}
		peer_say(p, &r);
		r.psn++;
		peer_say(p, &r);
		peer_heard(p, &t, older + 2, ROCE_SYN_NAK_INV_REQ, PEER_PSN + older + 1);
		pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_INV_REQ);
		pair_free(p);
	}
}

/* checks W-RESP-07[4]: what is answered again is not in flight: the peer has gone on. */
Test(needs, W_RESP_07_a_replay_is_not_in_flight)
{
	struct peer_tape t;
	struct pair *p = peer_with(&t, (struct pair_opts){.max_dest_rd = 1});
	struct roce_pkt r = peer_read_request(p, PEER_PSN, 0, 3 * PEER_MTU);
	struct roce_pkt next = peer_read_request(p, PEER_PSN + 3, 0, 8);

	peer_say(p, &r);
	peer_silent(p, &t, 3);
	peer_say(p, &r);
	peer_say(p, &next);
	peer_silent(p, &t, 7);
	cr_assert_eq(t.said[6].psn, PEER_PSN + 3);
	cr_assert_eq(t.said[6].opcode, ROCE_READ_RESP_ONLY);
	pair_expect_alive(p, 1, 0);
	next.psn += 1;
	peer_say(p, &next);
	next.psn += 1;
	peer_say(p, &next); /* two new ones are one too many */
	peer_heard(p, &t, 9, ROCE_SYN_NAK_INV_REQ, PEER_PSN + 5);
	pair_free(p);
}

/* ---- the solicited bit ---- */

/* checks W-RESP-16[1]: that of the last packet counts, of any kind that completes a receive. */
Test(needs, W_RESP_16_the_last_packet_solicits)
{
	static const uint8_t ends[] = {ROCE_SEND_LAST, ROCE_SEND_LAST_IMM, ROCE_WRITE_LAST_IMM};

	for (unsigned i = 0; i < 3 * 4; i++) {
		const bool write = ends[i / 4] == ROCE_WRITE_LAST_IMM, se[2] = {i & 1, i & 2};
		struct peer_tape t;
		struct pair *p = peer_new(&t);
		struct roce_pkt pkt = peer_packet(
			p, write ? ROCE_WRITE_FIRST : ROCE_SEND_FIRST, PEER_PSN, PEER_MTU);
		struct ndsh_cqe c;

		pair_recv(p, 1, 0, 1, 0, 2 * PEER_MTU);
		pkt.dma_bytes = PEER_MTU + 8;
		pkt.se = se[0];
		peer_say(p, &pkt);
		pkt = peer_packet(p, ends[i / 4], PEER_PSN + 1, 8);
		pkt.se = se[1];
		peer_say(p, &pkt);
		peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN + 1);
		c = pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
		cr_assert_eq((c.flags & NDSH_CQEF_SOLICITED) != 0, se[1]);
		cr_assert_eq(c.bytes, PEER_MTU + 8);
		pair_free(p);
	}
}
