/* SPDX-License-Identifier: BSD-3-Clause */
/* Unreliable connections: single fields, checks and counters of what is received; each test fails
 * with a mutant that all others let pass. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "rigs/scripted_peer.h"

#define AT     4096u /* where receives lie */
#define UC(op) ((uint8_t)(ROCE_CLASS_UC | ROCE_##op))

static struct pair *
begin(struct peer_tape *t, struct pair_opts opts)
{
	opts.uc = true;
	opts.access = NDSH_ACCESS_REMOTE_WRITE;
	return peer_with(t, opts);
}

/* To queue pair i of side 1. */
static void
say_to(struct pair *p, unsigned i, struct roce_pkt pkt)
{
	static const uint8_t payload[PEER_MTU] = {0xa5, 0x5a};

	pkt.qpn = roce_qp_num(p->side[1].q[i].qp);
	pair_inject(p, 1, i, &pkt, payload);
	pair_turn(p, 1);
}

static void
say(struct pair *p, uint8_t opcode, uint32_t psn, uint32_t bytes)
{
	say_to(p, 0, peer_packet(p, opcode, psn, bytes));
}

/* So many packets and wrong keys; the peer heard nothing, and the queue pair goes on. */
static void
expect_dropped(struct pair *p, struct peer_tape *t, uint64_t packets, uint64_t keys)
{
	cr_assert(eq(u64, pair_count(p, 1)->rx_unreliable_dropped, packets));
	cr_assert(eq(u64, pair_count(p, 1)->key_violations, keys));
	cr_assert(eq(int, roce_qp_state_get(p->side[1].q[0].qp), ROCE_QPS_UC_RTS));
	pair_expect_none(p, 1);
	peer_silent(p, t, 0);
}

/* A receive that no client may write ends the queue pair, whatever came for it: that is no fault of
 * the peer, whose message is not counted as dropped. */
Test(uc_details, a_receive_that_breaks_the_contract)
{
	static const uint8_t op[] = {UC(SEND_ONLY), UC(SEND_FIRST), UC(WRITE_ONLY_IMM)};

	for (unsigned i = 0; i < 3; i++) {
		struct peer_tape t;
		struct pair *p = begin(&t, (struct pair_opts){.ignore_events = true});

		pair_recv(p, 1, 0, 1, AT, PEER_MTU);
		p->side[1].q[0].rq.ring[0].ctrl |= NDSH_CTRL(NDSH_OP_WRITE, 0, 0, 0);
		say(p, op[i], PEER_PSN, PEER_MTU);
		pair_expect_dead(p, 1, 0, ROCE_REASON_CLIENT_BREACH);
		cr_assert(eq(u8, p->side[1].last_event.syndrome, 0), "no answer to a peer");
		cr_assert(eq(u64, pair_count(p, 1)->client_breaches, 1));
		cr_assert(eq(u64, pair_count(p, 1)->rx_unreliable_dropped, 0));
		peer_silent(p, &t, 0);
		pair_free(p);
	}
}

/* checks W-UC-04[3]: the receive that a message was dropped with at its first packet is the next
 * message's, whichever queue pair that comes to. */
Test(uc_details, W_UC_04_a_shared_receive_goes_back)
{
	struct peer_tape t;
	struct pair *p = begin(&t, (struct pair_opts){.srq_depth = 8, .qps = 2});
	struct roce_pkt wrong;

	pair_recv(p, 1, 0, 1, AT, PEER_MTU);
	say(p, UC(SEND_FIRST), PEER_PSN, PEER_MTU - 4);
	expect_dropped(p, &t, 1, 0);
	cr_assert(eq(u32, p->side[1].srq_page->taken, 0));
	say_to(p, 1, peer_packet(p, UC(SEND_ONLY), PEER_PSN, PEER_MTU));
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);

	pair_recv(p, 1, 0, 2, AT, PEER_MTU);
	wrong = peer_packet(p, UC(WRITE_ONLY_IMM), PEER_PSN + 1, PEER_MTU);
	wrong.rkey ^= 1;
	say_to(p, 0, wrong);
	expect_dropped(p, &t, 2, 1);
	cr_assert(eq(u32, p->side[1].srq_page->taken, 1));
	say_to(p, 1, peer_packet(p, UC(SEND_ONLY), PEER_PSN + 1, PEER_MTU));
	pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* checks R-SRQ-06[3]: a place is free again when a message takes the receive, with its first packet
 * or, of a WRITE, with its last one. */
Test(uc_details, R_SRQ_06_a_place_is_free_when_a_message_takes_it)
{
	struct peer_tape t;
	struct pair *p = begin(&t, (struct pair_opts){.srq_depth = 8});
	const struct ndsh_srq_page *page = p->side[1].srq_page;

	pair_recv(p, 1, 0, 1, AT, 2 * PEER_MTU);
	pair_recv(p, 1, 0, 2, AT, 2 * PEER_MTU);
	say(p, UC(SEND_FIRST), PEER_PSN, PEER_MTU);
	cr_assert(eq(u32, page->taken, 1));
	say(p, UC(SEND_LAST), PEER_PSN + 1, PEER_MTU);
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	cr_assert(eq(u32, page->taken, 1));
	say(p, UC(WRITE_ONLY_IMM), PEER_PSN + 2, PEER_MTU);
	cr_assert(eq(u32, page->taken, 2));
	pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
	expect_dropped(p, &t, 0, 0);
	pair_free(p);
}

/* checks W-UC-04[1,2]: too long by one byte. */
Test(uc_details, W_UC_04_one_byte_more_than_the_receive_has)
{
	struct peer_tape t;
	struct pair *p = begin(&t, (struct pair_opts){0});

	pair_recv(p, 1, 0, 1, AT, PEER_MTU - 1);
	say(p, UC(SEND_ONLY), PEER_PSN, PEER_MTU);
	expect_dropped(p, &t, 1, 0);
	say(p, UC(SEND_ONLY), PEER_PSN + 1, PEER_MTU - 1);
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* checks W-UC-04[1,2]: the first packet of a WRITE that is none too long, and shorter than the MTU;
 * and one of a WRITE whose end, but not its beginning, lies outside of what the key opens. */
Test(uc_details, W_UC_04_a_write_that_is_wrong_as_a_whole)
{
	struct peer_tape t;
	struct pair *p = begin(&t, (struct pair_opts){0});
	struct roce_pkt pkt = peer_packet(p, UC(WRITE_FIRST), PEER_PSN, PEER_MTU - 4);
	const uint8_t *end = p->side[1].arena + PAIR_ARENA - PEER_MTU;

	pkt.dma_bytes = 2 * PEER_MTU;
	say_to(p, 0, pkt);
	expect_dropped(p, &t, 1, 0);
	cr_assert(eq(u8, p->side[1].arena[0], 0));
	pkt = peer_packet(p, UC(WRITE_FIRST), PEER_PSN + 1, PEER_MTU);
	pkt.va = PAIR_VA + PAIR_ARENA - PEER_MTU;
	pkt.dma_bytes = PEER_MTU + 1;
	say_to(p, 0, pkt);
	expect_dropped(p, &t, 2, 1);
	cr_assert(eq(u8, end[0], 0));
	pkt.opcode = UC(WRITE_ONLY);
	pkt.dma_bytes = PEER_MTU;
	say_to(p, 0, pkt);
	cr_assert(eq(u8, end[0], 0xa5), "which opens the rest");
	pair_free(p);
}

/* checks W-RESP-12[1]; and of the messages WRITEs are counted as such, each once. */
Test(uc_details, W_RESP_12_a_write_of_no_bytes)
{
	struct peer_tape t;
	struct pair *p = begin(&t, (struct pair_opts){0});
	struct roce_pkt pkt = peer_packet(p, UC(WRITE_ONLY), PEER_PSN, 0);

	pkt.rkey ^= 1;
	pkt.va = 1;
	say_to(p, 0, pkt);
	expect_dropped(p, &t, 0, 0);
	cr_assert(eq(u64, pair_count(p, 1)->rx_write_requests, 1));
	pair_recv(p, 1, 0, 1, AT, PEER_MTU);
	say(p, UC(SEND_ONLY), PEER_PSN + 1, PEER_MTU);
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	cr_assert(eq(u64, pair_count(p, 1)->rx_write_requests, 1));
	pair_free(p);
}

/* checks W-UC-04[2]: a client that moves nothing has no room for a WRITE to its memory, whose key
 * is right all the same. */
Test(uc_details, W_UC_04_no_room_is_no_wrong_key)
{
	struct peer_tape t;
	struct pair *p = begin(&t, (struct pair_opts){.moved = true});
	struct roce_pkt pkt = peer_packet(p, UC(WRITE_ONLY), PEER_PSN, PEER_MTU);
	uint64_t written;

	p->side[1].stalled = true;
	pkt.va = (uintptr_t)p->side[1].moved;
	pkt.rkey = p->side[1].moved_key;
	for (uint32_t i = 0; pair_count(p, 1)->rx_unreliable_dropped == 0; i++, pkt.psn++) {
		cr_assert(le(u32, i, NDSH_MOVER_DEPTH));
		say_to(p, 0, pkt);
	}
	expect_dropped(p, &t, 1, 0);
	p->side[1].stalled = false;
	pair_turn(p, 1);
	pair_turn(p, 1);
	written = pair_count(p, 1)->rx_write_requests;
	say_to(p, 0, pkt);
	expect_dropped(p, &t, 1, 0);
	cr_assert(eq(u64, pair_count(p, 1)->rx_write_requests, written + 1));
	pair_free(p);
}
