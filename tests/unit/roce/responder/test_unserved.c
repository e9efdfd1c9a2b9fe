/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of RC that are not served here: those of newer specifications, and reserved ones. */
#include <criterion/criterion.h>

#include "rigs/scripted_peer.h"

static const uint8_t unserved[] = {
	0x15, 0x18, 0x19, 0x1a, 0x1b, ROCE_FLUSH, ROCE_ATOMIC_WRITE, 0x1e, 0x1f};
#define UNSERVED (sizeof(unserved) / sizeof(unserved[0]))

static uint32_t
bytes_of(uint8_t opcode)
{
	return opcode == ROCE_FLUSH ? 0 : 8;
}

static void
expect_alive(struct pair *p, struct peer_tape *t, unsigned n, uint32_t psn)
{
	pair_expect_alive(p, 1, 0);
	peer_say_plain(p, ROCE_WRITE_ONLY, psn, 8);
	peer_heard(p, t, n, ROCE_SYN_ACK, psn);
}

/* checks W-PKT-08[1], W-ATOM-04, W-RESP-18[1,2,3]: the peer has its error at once; all rights that
 * a queue pair can have make no difference. */
Test(unserved, in_sequence_is_an_invalid_request)
{
	for (unsigned i = 0; i < UNSERVED; i++) {
		struct peer_tape t;
		struct pair *p =
			peer_with(&t, (struct pair_opts){.access = NDSH_ACCESS_REMOTE_READ |
								   NDSH_ACCESS_REMOTE_WRITE |
								   NDSH_ACCESS_REMOTE_ATOMIC});

		pair_recv(p, 1, 0, 1, 0, 64);
		peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
		peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN);
		p->side[1].arena[0] = 0x77;
		peer_say_plain(p, unserved[i], PEER_PSN + 1, bytes_of(unserved[i]));
		peer_heard(p, &t, 2, ROCE_SYN_NAK_INV_REQ, PEER_PSN + 1);
		cr_assert_eq(t.said[1].msn, 1, "opcode %#x", unserved[i]);
		pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_INV_REQ);
		pair_expect(p, 1, 1, NDSH_WC_FLUSH_ERR);
		cr_assert_eq(p->side[1].arena[0], 0x77);
		peer_say_plain(p, unserved[i], PEER_PSN + 1, bytes_of(unserved[i]));
		peer_silent(p, &t, 2);
		pair_free(p);
	}
}

/* In the middle of a SEND, its receive fails with it. */
Test(unserved, W_RESP_05_inside_a_message)
{
	for (unsigned i = 0; i < UNSERVED; i++) {
		struct peer_tape t;
		struct pair *p = peer_new(&t);

		pair_recv(p, 1, 0, 1, 0, 2 * PEER_MTU);
		peer_say_plain(p, ROCE_SEND_FIRST, PEER_PSN, PEER_MTU);
		peer_say_plain(p, unserved[i], PEER_PSN + 1, bytes_of(unserved[i]));
		peer_heard(p, &t, 1, ROCE_SYN_NAK_INV_REQ, PEER_PSN + 1);
		pair_expect(p, 1, 1, NDSH_WC_REM_INV_REQ_ERR);
		pair_free(p);
	}
}

/* checks W-DUP-06, W-DUP-07[1,2], W-PKT-08[2] */
Test(unserved, out_of_sequence_it_is_as_any_other)
{
	for (unsigned i = 0; i < UNSERVED; i++) {
		struct peer_tape t;
		struct pair *p = peer_new(&t);

		peer_say_plain(p, unserved[i], PEER_PSN + 3, bytes_of(unserved[i]));
		peer_heard(p, &t, 1, ROCE_SYN_NAK_SEQ, PEER_PSN);
		peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
		peer_heard(p, &t, 2, ROCE_SYN_ACK, PEER_PSN);
		peer_say_plain(p, unserved[i], PEER_PSN, bytes_of(unserved[i]));
		peer_say_plain(p, unserved[i], PEER_PSN - 1, bytes_of(unserved[i]));
		peer_silent(p, &t, 2);
		expect_alive(p, &t, 3, PEER_PSN + 1);
		pair_free(p);
	}
}

/* A duplicate of an atomic's PSN under another number is not that atomic. checks W-DUP-05[3] */
Test(unserved, no_slot_answers_for_it)
{
	const uint32_t all = NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_ATOMIC;

	for (unsigned i = 0; i < UNSERVED; i++) {
		struct peer_tape t;
		struct pair *p = peer_with(&t, (struct pair_opts){.access = all,
						       .mr_access = all | NDSH_ACCESS_LOCAL_WRITE,
						       .max_dest_rd = 2});

		peer_say_plain(p, ROCE_FETCH_ADD, PEER_PSN, 0);
		peer_silent(p, &t, 1);
		peer_say_plain(p, unserved[i], PEER_PSN, bytes_of(unserved[i]));
		peer_silent(p, &t, 1);
		pair_expect_alive(p, 1, 0);
		pair_free(p);
	}
}

/* Another one's packet ends nothing, whatever its opcode and PSN: its address is not the peer's. */
Test(unserved, W_PKT_14_a_stranger_ends_nothing)
{
	for (unsigned i = 0; i < UNSERVED; i++) {
		struct peer_tape t;
		struct pair *p = peer_new(&t);
		struct roce_qp *qp = p->side[1].q[0].qp;
		struct roce_pkt pkt = peer_packet(p, unserved[i], PEER_PSN, bytes_of(unserved[i]));
		uint8_t frame[ROCE_FRAME_MAX];
		struct roce_qp_attr a;
		uint32_t n;

		pair_attr(p, 0, 0, &a);
		a.path.sgid.raw[15] ^= 4;
		n = pair_build(frame, &a.path, &pkt, NULL);
		cr_assert_eq(roce_wire_parse(frame, n, &pkt), ROCE_WIRE_OK);
		roce_shard_rx(p->side[1].shard, p->now_ns, &pkt, qp);
		cr_assert_eq(pair_count(p, 1)->rx_wrong_address, 1);
		peer_silent(p, &t, 0);
		expect_alive(p, &t, 1, PEER_PSN);
		pair_free(p);
	}
}
