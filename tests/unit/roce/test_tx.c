/* SPDX-License-Identifier: BSD-3-Clause */
/* What leaves next: congestion notifications, acknowledgements, then queue pairs in turns. */
#include <criterion/criterion.h>

#include "rigs/overheard.h"
#include "roce/queue/send_ring.h"
#include "roce/shard/shard.h"
#include "roce/tx.h"

#define MTU	  256u
#define PAIR_LONG UINT64_C(100000000000)

/* One with endless work does not keep the others waiting. */
Test(tx, queue_pairs_take_turns)
{
	struct pair *p =
		watched_pair(&(struct pair_opts){.qps = 8, .mtu = MTU, .window = 4096}, true);
	unsigned last = 0;

	pair_write(p, 0, 0, 1, 0, 0, MTU * 3000, 0);
	for (unsigned i = 1; i < 8; i++)
		pair_write(p, 0, i, 1, 0, 0, 8, 0);
	pair_turn(p, 0);
	for (unsigned i = 0; i < watched.n; i++)
		if (watched.pkt[i].qpn != roce_qp_num(p->side[1].q[0].qp))
			last = i;
	cr_assert_lt(last, 64);
	cr_assert_gt(watched.n, 3000);
	pair_free(p);
}

/* ---- what is first ---- */

static uint32_t leaving_to; /* the first of them */

/* The opcodes of up to n frames that side 1 would send now. */
static unsigned
leaving(struct pair *p, uint8_t *opcode, unsigned n)
{
	static uint8_t room[32][ROCE_FRAME_MAX];
	struct roce_tx_slot slot[32];
	struct roce_pkt pkt;

	for (unsigned i = 0; i < n; i++)
		slot[i].buf = room[i];
	n = roce_shard_tx(p->side[1].shard, p->now_ns, slot, n);
	for (unsigned i = 0; i < n; i++) {
		cr_assert_eq(roce_wire_parse(slot[i].buf, slot[i].len, &pkt), ROCE_WIRE_OK);
		opcode[i] = pkt.opcode;
		if (i == 0)
			leaving_to = pkt.qpn;
	}
	return n;
}

/* Side 1 hears this of the peer of its queue pair i. */
static void
hears_pkt(struct pair *p, unsigned i, struct roce_pkt pkt, uint8_t tos)
{
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce_qp_attr a;
	struct roce_pkt in;
	uint32_t n;

	pkt.qpn = roce_qp_num(p->side[1].q[i].qp);
	pair_attr(p, 0, i, &a);
	a.path.tos = tos;
	n = pair_build(frame, &a.path, &pkt, NULL);
	cr_assert_eq(roce_wire_parse(frame, n, &in), ROCE_WIRE_OK);
	pair_rx(p, 1, &in);
}

/* ... of 8 bytes. */
static void
hears(struct pair *p, unsigned i, uint8_t opcode, uint32_t psn, uint8_t tos)
{
	hears_pkt(p, i, ear_request(p, opcode, psn, 8), tos);
}

/*
 * Word of congestion, then acknowledgements that stand alone, then data, in whatever order they
 * came to be owed. checks W-CC-04[2]
 */
Test(tx, W_CC_04_congestion_first_then_acknowledgements)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 3, .set_psn = true});
	static const uint8_t want[] = {ROCE_CNP, ROCE_ACK, ROCE_ACK, ROCE_WRITE_ONLY};
	uint8_t opcode[8];

	pair_write(p, 1, 0, 1, 0, 0, 8, 0);
	roce_shard_poll_rings(p->side[1].shard, p->now_ns, 8);
	hears(p, 1, ROCE_WRITE_ONLY, 0, 0);
	hears(p, 2, ROCE_WRITE_ONLY, 0, 3);
	/* However few frames there is room for. */
	for (unsigned i = 0; i < 4; i++) {
		cr_assert(roce_shard_tx_pending(p->side[1].shard, p->now_ns));
		cr_assert_eq(leaving(p, opcode, 1), 1);
		cr_assert_eq(opcode[0], want[i], "%u: %x", i, opcode[0]);
	}
	cr_assert_eq(leaving(p, opcode, 1), 0);
	cr_assert_not(roce_shard_tx_pending(p->side[1].shard, p->now_ns));
	pair_free(p);
}

static unsigned seen_frames, seen_requests, seen_last_request;

static unsigned
swallow(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	(void)p;
	(void)from;
	(void)late_ns;
	(void)ctx;
	if (pkt->opflags & ROCE_OPF_REQUEST) {
		seen_requests++;
		seen_last_request = seen_frames;
	}
	seen_frames++;
	return 0;
}

/* A queue pair that is read from without a pause may send a request in each turn, and no
 * more than one before the responses. checks R-INV-02 */
Test(tx, a_request_between_endless_responses)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = MTU, .set_psn = true});
	uint8_t opcode[16];

	hears(p, 0, ROCE_READ_REQUEST, 0, 0);
	cr_assert_eq(leaving(p, opcode, 16), 1, "the short one");
	pair_inject(p, 1, 0,
		&(struct roce_pkt){.opcode = ROCE_READ_REQUEST,
			.qpn = roce_qp_num(p->side[1].q[0].qp),
			.psn = 1,
			.pkey = ROCE_PKEY_DEFAULT,
			.va = PAIR_VA,
			.rkey = p->side[1].key,
			.dma_bytes = 4000 * MTU},
		NULL);
	p->tap = swallow;
	for (unsigned i = 0; i < 3; i++)
		pair_write(p, 1, 0, i, 0, 0, 8, 0);
	pair_turn(p, 1);
	cr_assert_eq(seen_requests, 3);
	cr_assert_lt(seen_last_request, 64, "behind %u responses", seen_last_request);
	cr_assert_eq(seen_frames, 4003);
	pair_free(p);
}

/*
 * checks R-DISC-16[2,3]: side 1's client answers a message as soon as it is there. The answer
 * leaves behind the acknowledgement, and side 0 takes one after the other: its own send has ended
 * when it has the answer.
 */
Test(tx, R_DISC_16_an_answer_is_behind_the_acknowledgement)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 1});

	pair_recv(p, 0, 0, 10, 0, 64);
	pair_recv(p, 1, 0, 11, 0, 64);
	pair_send(p, 0, 0, 20, 64, 8, 0);
	pair_turn(p, 0);
	p->now_ns += p->opts.delay_ns;
	pair_send(p, 1, 0, 21, 64, 8, 0);
	pair_turn(p, 1);
	p->now_ns += p->opts.delay_ns;
	pair_expect(p, 1, 11, NDSH_WC_SUCCESS);
	pair_turn(p, 0);
	pair_expect(p, 0, 20, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 10, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* checks W-ACK-03[1], R-DISC-16[2]: so it is when the responses before it fill the turn. */
Test(tx, R_DISC_16_an_answer_is_behind_the_acknowledgement_behind_responses)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = MTU, .set_psn = true});
	uint8_t opcode[ROCE_TX_QUANTUM];

	pair_recv(p, 1, 0, 1, 0, 64);
	hears_pkt(p, 0, ear_request(p, ROCE_READ_REQUEST, 0, ROCE_TX_QUANTUM * MTU), 0);
	hears(p, 0, ROCE_SEND_ONLY, ROCE_TX_QUANTUM, 0);
	cr_assert_eq(leaving(p, opcode, ROCE_TX_QUANTUM), ROCE_TX_QUANTUM);
	cr_assert_eq(opcode[ROCE_TX_QUANTUM - 1], ROCE_READ_RESP_LAST);
	pair_send(p, 1, 0, 2, 64, 8, 0);
	cr_assert_eq(leaving(p, opcode, ROCE_TX_QUANTUM), 2);
	cr_assert_eq(opcode[0], ROCE_ACK);
	cr_assert_eq(opcode[1], ROCE_SEND_ONLY);
	pair_free(p);
}

/* All of each frame, without its FCS. */
Test(tx, bytes_are_counted)
{
	static uint8_t room[2][ROCE_FRAME_MAX];
	struct roce_tx_slot slot[2] = {{.buf = room[0]}, {.buf = room[1]}};
	struct pair *p = pair_new(&(struct pair_opts){0});

	pair_write(p, 1, 0, 1, 0, 0, 8, 0);
	pair_write(p, 1, 0, 2, 0, 0, 100, 0);
	cr_assert_eq(roce_shard_tx(p->side[1].shard, p->now_ns, slot, 2), 2);
	cr_assert_eq(pair_count(p, 1)->tx_bytes, slot[0].len + slot[1].len);
	cr_assert_eq(slot[1].len, slot[0].len + 92);
	pair_free(p);
}

/* ---- without a roce_wqe ---- */

#define BUSY 3u /* the queue pair that has all */

/* Side 1 can begin no request until one of BUSY is acknowledged, and clients ring. */
static struct pair *
dry_pair(void)
{
	struct pair *p = pair_new(
		&(struct pair_opts){.qps = BUSY + 1, .max_wqes = 16, .mtu = MTU, .set_psn = true});
	uint8_t opcode[32];

	for (unsigned i = 0; i < 14; i++)
		pair_write(p, 1, BUSY, i, 0, 0, 8, 0);
	cr_assert_eq(leaving(p, opcode, 32), 14);
	p->now_ns += ROCE_SEND_RING_IDLE_NS;
	roce_shard_poll_rings(p->side[1].shard, p->now_ns, 8);
	return p;
}

/* It waits with its request, not with its responses; and a peer that goes on asking does not push
 * it behind others. */
Test(tx, a_queue_pair_that_waits_answers_in_its_turn)
{
	struct pair *p = dry_pair();
	uint8_t opcode[8];

	pair_write(p, 1, 0, 1, 0, 0, 8, 0);
	cr_assert_eq(leaving(p, opcode, 8), 0);
	cr_assert_eq(pair_count(p, 1)->wqe_pool_empty, 1);
	hears(p, 0, ROCE_READ_REQUEST, 0, 0);
	hears(p, 1, ROCE_READ_REQUEST, 0, 0);
	hears(p, 0, ROCE_READ_REQUEST, 1, 0);
	cr_assert_eq(leaving(p, opcode, 1), 1);
	cr_assert_eq(opcode[0], ROCE_READ_RESP_ONLY);
	cr_assert_eq(leaving_to, roce_qp_num(p->side[0].q[0].qp));
	pair_free(p);
}

/* Whatever is tried meanwhile, in whichever order new doorbells and others take turns. */
Test(tx, the_queue_pair_that_waits_longest_is_the_first)
{
	for (unsigned others = 0; others < 2; others++) {
		struct pair *p = dry_pair();
		const struct roce_pkt ack = {
			.opcode = ROCE_ACK, .pkey = ROCE_PKEY_DEFAULT, .syndrome = ROCE_SYN_ACK};
		uint8_t opcode[8];

		pair_send(p, 1, 0, 1, 0, 8, 0);
		cr_assert_eq(leaving(p, opcode, 8), 0);
		pair_write(p, 1, 1, 1, 0, 0, 8, 0);
		p->side[1].shard->own_client.doorbells.others = others;
		cr_assert_eq(leaving(p, opcode, 8), 0);
		hears_pkt(p, BUSY, ack, 0);
		cr_assert_eq(leaving(p, opcode, 8), 1);
		cr_assert_eq(opcode[0], ROCE_SEND_ONLY);
		pair_free(p);
	}
}
