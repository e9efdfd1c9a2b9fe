/* SPDX-License-Identifier: BSD-3-Clause */
/* What an unreliable connection does with the packets of its peer: it takes whole messages, drops
 * the rest in silence, and goes on. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "rigs/scripted_peer.h"
#include "roce/mem/door.h"

#define AT	4096u /* where receives lie; writes go to the start */
#define ROOM	(4 * PEER_MTU)
#define UC(op)	((uint8_t)(ROCE_CLASS_UC | ROCE_##op))
#define PART(x) (x), PEER_MTU
#define BEHIND	0xee /* what memory holds that nothing was written to */

struct uc {
	struct peer_tape tape;
	struct pair *p;
	uint8_t payload[PEER_MTU];
};

static void
begin_with(struct uc *u, struct pair_opts opts)
{
	opts.uc = true;
	if (opts.access == 0)
		opts.access = NDSH_ACCESS_REMOTE_WRITE;
	u->p = peer_with(&u->tape, opts);
	memset(u->p->side[1].arena, BEHIND, ROOM + AT);
}

static void
begin(struct uc *u)
{
	begin_with(u, (struct pair_opts){0});
}

/* A packet of bytes that are all fill. */
static void
say_pkt(struct uc *u, struct roce_pkt pkt, uint8_t fill)
{
	memset(u->payload, fill, sizeof(u->payload));
	pair_inject(u->p, 1, 0, &pkt, u->payload);
	pair_turn(u->p, 1);
}

static void
say(struct uc *u, uint8_t opcode, uint32_t psn, uint8_t fill, uint32_t bytes)
{
	say_pkt(u, peer_packet(u->p, opcode, psn, bytes), fill);
}

/* The first packet of a WRITE of total bytes. */
static void
say_write(struct uc *u, uint8_t opcode, uint32_t psn, uint8_t fill, uint32_t bytes, uint32_t total)
{
	struct roce_pkt pkt = peer_packet(u->p, opcode, psn, bytes);

	pkt.dma_bytes = total;
	say_pkt(u, pkt, fill);
}

static void
receive(struct uc *u, uint64_t context)
{
	pair_recv(u->p, 1, 0, context, AT, ROOM);
}

/* The message of that receive came, of so many packets, each full of the byte that begin names, and
 * those that follow of the next ones. */
static void
expect_message(struct uc *u, uint64_t context, uint8_t fill, uint32_t packets)
{
	struct ndsh_cqe c = pair_expect(u->p, 1, context, NDSH_WC_SUCCESS);
	const uint8_t *at = u->p->side[1].arena + AT;

	cr_assert(eq(u32, c.bytes, packets * PEER_MTU));
	for (uint32_t i = 0; i < c.bytes; i++)
		cr_assert(eq(u8, at[i], (uint8_t)(fill + i / PEER_MTU)), "byte %u", i);
}

/* So many packets were dropped; nothing was said, nothing completed, all goes on. */
static void
expect_silence(struct uc *u, uint64_t dropped)
{
	cr_assert(eq(u64, pair_count(u->p, 1)->rx_unreliable_dropped, dropped));
	pair_expect_none(u->p, 1);
	peer_silent(u->p, &u->tape, 0);
	cr_assert(eq(int, roce_qp_state_get(u->p->side[1].q[0].qp), ROCE_QPS_UC_RTS));
}

/* What is said now is received with the receive of that context. */
static void
expect_alive(struct uc *u, uint64_t context, uint32_t psn)
{
	say(u, UC(SEND_ONLY), psn, PART(0x77));
	expect_message(u, context, 0x77, 1);
	peer_silent(u->p, &u->tape, 0);
}

/* ---- messages ---- */

/* checks W-UC-01[1]: it asks for an ACK, as no UC packet should, and there is none. */
Test(uc_responder, W_UC_01_messages_of_any_length_without_an_answer)
{
	struct uc u;

	begin(&u);
	for (uint64_t i = 1; i <= 4; i++)
		receive(&u, i);
	say(&u, UC(SEND_ONLY), PEER_PSN, PART(1));
	expect_message(&u, 1, 1, 1);
	say(&u, UC(SEND_FIRST), PEER_PSN + 1, PART(1));
	say(&u, UC(SEND_LAST), PEER_PSN + 2, PART(2));
	expect_message(&u, 2, 1, 2);
	say(&u, UC(SEND_FIRST), PEER_PSN + 3, PART(1));
	say(&u, UC(SEND_MIDDLE), PEER_PSN + 4, PART(2));
	say(&u, UC(SEND_LAST), PEER_PSN + 5, PART(3));
	expect_message(&u, 3, 1, 3);
	say(&u, UC(SEND_ONLY), PEER_PSN + 6, 0, 0);
	pair_expect(u.p, 1, 4, NDSH_WC_SUCCESS);
	expect_silence(&u, 0);
	cr_assert(eq(u64, pair_count(u.p, 1)->rx_out_of_sequence, 0));
	pair_free(u.p);
}

/* checks W-UC-01[3,4]: each packet of a message is missing once; the next message is whole, with
 * the receive of the one that was lost. */
Test(uc_responder, W_UC_01_a_gap_anywhere_loses_the_message_and_no_other)
{
	static const uint8_t ops[] = {
		UC(SEND_FIRST), UC(SEND_MIDDLE), UC(SEND_MIDDLE), UC(SEND_LAST)};

	for (uint32_t lost = 0; lost < 4; lost++) {
		struct uc u;

		begin(&u);
		receive(&u, 1);
		receive(&u, 2);
		for (uint32_t i = 0; i < 4; i++)
			if (i != lost)
				say(&u, ops[i], PEER_PSN + i, PART(1));
		expect_silence(&u, 3 - lost);
		expect_alive(&u, 1, PEER_PSN + 4);
		expect_alive(&u, 2, PEER_PSN + 5);
		expect_silence(&u, 3 - lost);
		pair_free(u.p);
	}
}

/* checks W-UC-01[4] */
Test(uc_responder, W_UC_01_an_only_that_is_lost_and_any_psn_after_it)
{
	struct uc u;

	begin(&u);
	for (uint64_t i = 1; i <= 4; i++)
		receive(&u, i);
	expect_alive(&u, 1, PEER_PSN + 1);
	expect_alive(&u, 2, PEER_PSN + 0x900000);
	expect_alive(&u, 3, PEER_PSN - 5);
	cr_assert(eq(u64, pair_count(u.p, 1)->rx_out_of_sequence, 3));
	say(&u, UC(SEND_FIRST), PEER_PSN - 4, PART(1));
	say(&u, UC(SEND_LAST), PEER_PSN - 3, PART(2));
	expect_message(&u, 4, 1, 2);
	cr_assert(eq(u64, pair_count(u.p, 1)->rx_out_of_sequence, 3), "ePSN follows");
	expect_silence(&u, 0);
	pair_free(u.p);
}

/* checks W-UC-01[3,5]: what comes twice, or too late, is a gap. */
Test(uc_responder, W_UC_01_repeated_and_exchanged_packets)
{
	struct uc u;

	begin(&u);
	for (uint64_t i = 1; i <= 3; i++)
		receive(&u, i);
	say(&u, UC(SEND_FIRST), PEER_PSN, PART(1));
	say(&u, UC(SEND_MIDDLE), PEER_PSN + 1, PART(2));
	say(&u, UC(SEND_MIDDLE), PEER_PSN + 1, PART(2));
	say(&u, UC(SEND_LAST), PEER_PSN + 2, PART(3));
	expect_silence(&u, 2);
	say(&u, UC(SEND_FIRST), PEER_PSN + 3, PART(1));
	say(&u, UC(SEND_LAST), PEER_PSN + 5, PART(3));
	say(&u, UC(SEND_MIDDLE), PEER_PSN + 4, PART(2));
	expect_silence(&u, 4);
	say(&u, UC(SEND_FIRST), PEER_PSN + 6, PART(1));
	say(&u, UC(SEND_FIRST), PEER_PSN + 6, PART(4));
	say(&u, UC(SEND_LAST), PEER_PSN + 7, PART(5));
	expect_message(&u, 1, 4, 2);
	expect_alive(&u, 2, PEER_PSN + 8);
	expect_alive(&u, 3, PEER_PSN + 8);
	expect_silence(&u, 4);
	pair_free(u.p);
}

/* checks W-UC-01[3]: PSNs wrap in the middle of a message. */
Test(uc_responder, W_UC_01_psns_wrap)
{
	struct uc u;

	begin_with(&u, (struct pair_opts){.set_psn = true, .sq_psn = {ROCE_PSN_MASK}});
	receive(&u, 1);
	say(&u, UC(SEND_FIRST), ROCE_PSN_MASK, PART(1));
	say(&u, UC(SEND_MIDDLE), 0, PART(2));
	say(&u, UC(SEND_LAST), 1, PART(3));
	expect_message(&u, 1, 1, 3);
	cr_assert(eq(u64, pair_count(u.p, 1)->rx_out_of_sequence, 0));
	pair_free(u.p);
}

/* checks W-UC-02[1,2] */
Test(uc_responder, W_UC_02_opcodes_out_of_sequence)
{
	struct uc u;

	begin(&u);
	receive(&u, 1);
	receive(&u, 2);
	say(&u, UC(SEND_MIDDLE), PEER_PSN, PART(1));
	say(&u, UC(SEND_LAST), PEER_PSN, PART(1));
	say(&u, UC(WRITE_LAST), PEER_PSN, PART(1));
	say(&u, UC(SEND_FIRST), PEER_PSN, PART(1));
	say(&u, UC(WRITE_MIDDLE), PEER_PSN + 1, PART(2));
	say(&u, UC(SEND_LAST), PEER_PSN + 1, PART(2));
	expect_silence(&u, 5);
	say_write(&u, UC(WRITE_FIRST), PEER_PSN + 2, PART(1), 2 * PEER_MTU);
	say(&u, UC(SEND_LAST), PEER_PSN + 3, PART(2));
	expect_silence(&u, 6);
	say(&u, UC(SEND_FIRST), PEER_PSN + 4, PART(1));
	say(&u, UC(SEND_ONLY), PEER_PSN + 5, PART(9));
	expect_message(&u, 1, 9, 1);
	say(&u, UC(SEND_LAST), PEER_PSN + 6, PART(2));
	expect_silence(&u, 7);
	expect_alive(&u, 2, PEER_PSN + 7);
	pair_free(u.p);
}

/* ---- what is wrong with a message ---- */

static uint8_t
written(const struct uc *u, uint32_t at)
{
	return u->p->side[1].arena[at];
}

/* checks W-UC-04[1,2]: lengths. What is dropped is not written. */
Test(uc_responder, W_UC_04_wrong_lengths)
{
	struct uc u;

	begin(&u);
	receive(&u, 1);
	say(&u, UC(SEND_FIRST), PEER_PSN, 1, PEER_MTU - 4);
	say(&u, UC(SEND_FIRST), PEER_PSN + 1, PART(1));
	say(&u, UC(SEND_LAST), PEER_PSN + 2, 1, 0);
	expect_silence(&u, 2);
	say_write(&u, UC(WRITE_ONLY), PEER_PSN + 3, PART(1), PEER_MTU + 4);
	say_write(&u, UC(WRITE_ONLY), PEER_PSN + 4, PART(1), PEER_MTU - 4);
	say_write(&u, UC(WRITE_FIRST), PEER_PSN + 5, PART(1), PEER_MTU);
	say_write(&u, UC(WRITE_FIRST), PEER_PSN + 6, PART(1), ROCE_MSG_MAX + 4u);
	expect_silence(&u, 6);
	cr_assert(eq(u8, written(&u, 0), BEHIND));
	expect_alive(&u, 1, PEER_PSN + 7);
	pair_free(u.p);
}

/* checks W-UC-04[1,2,3]: a receive that is too short stays where it was. */
Test(uc_responder, W_UC_04_too_long_for_the_receive)
{
	for (uint32_t shared = 0; shared < 2; shared++) {
		struct uc u;

		begin_with(&u, (struct pair_opts){.srq_depth = shared * 8});
		receive(&u, 1);
		for (uint32_t i = 0; i < 5; i++)
			say(&u,
				i == 0	? UC(SEND_FIRST)
				: i < 4 ? UC(SEND_MIDDLE)
					: UC(SEND_LAST),
				PEER_PSN + i, PART(1));
		expect_silence(&u, 1);
		expect_alive(&u, 1, PEER_PSN + 5);
		pair_recv(u.p, 1, 0, 2, AT, PEER_MTU - 4);
		say(&u, UC(SEND_ONLY), PEER_PSN + 6, PART(1));
		expect_silence(&u, 2);
		say(&u, UC(SEND_ONLY), PEER_PSN + 7, 3, PEER_MTU - 4);
		pair_expect(u.p, 1, 2, NDSH_WC_SUCCESS);
		pair_free(u.p);
	}
}

/* checks W-UC-04[1,2]: rights and keys, at the beginning and in the middle. */
Test(uc_responder, W_UC_04_writes_that_may_not_be)
{
	const uint32_t total = 3 * PEER_MTU;
	struct roce_pkt wrong;
	struct uc u;

	begin_with(&u, (struct pair_opts){.access = NDSH_ACCESS_REMOTE_READ});
	say_write(&u, UC(WRITE_ONLY), PEER_PSN, PART(1), PEER_MTU);
	expect_silence(&u, 1);
	cr_assert(eq(u64, pair_count(u.p, 1)->key_violations, 0));
	cr_assert(eq(u8, written(&u, 0), BEHIND));
	pair_free(u.p);

	begin(&u);
	wrong = peer_packet(u.p, UC(WRITE_FIRST), PEER_PSN, PEER_MTU);
	wrong.dma_bytes = total;
	wrong.rkey ^= 1;
	say_pkt(&u, wrong, 1);
	say(&u, UC(WRITE_MIDDLE), PEER_PSN + 1, PART(1));
	expect_silence(&u, 2);
	cr_assert(eq(u64, pair_count(u.p, 1)->key_violations, 1));
	cr_assert(eq(u8, written(&u, 0), BEHIND));

	say_write(&u, UC(WRITE_FIRST), PEER_PSN + 2, PART(1), total);
	cr_assert(eq(u8, written(&u, PEER_MTU - 1), 1));
	cr_assert(roce_mr_deregister(u.p->side[1].shard, u.p->side[1].mr));
	u.p->side[1].mr = NULL;
	say(&u, UC(WRITE_MIDDLE), PEER_PSN + 3, PART(2));
	say(&u, UC(WRITE_LAST), PEER_PSN + 4, PART(3));
	expect_silence(&u, 4);
	cr_assert(eq(u64, pair_count(u.p, 1)->key_violations, 2));
	cr_assert(eq(u8, written(&u, PEER_MTU), BEHIND));
	pair_free(u.p);
}

/* checks W-UC-04[4]: nobody is told, and the key that closes the door ends the queue pair. */
Test(uc_responder, W_UC_04_wrong_keys_are_paid_for)
{
	struct roce_pkt wrong;
	struct uc u;

	begin_with(&u, (struct pair_opts){.ignore_events = true});
	wrong = peer_packet(u.p, UC(WRITE_ONLY), PEER_PSN, 8);
	wrong.rkey ^= 1;
	for (uint32_t i = 0; i < ROCE_GUESSES; i++, wrong.psn++)
		say_pkt(&u, wrong, 1);
	expect_silence(&u, ROCE_GUESSES);
	say_pkt(&u, wrong, 1);
	peer_silent(u.p, &u.tape, 0);
	pair_expect_dead(u.p, 1, 0, ROCE_REASON_GUESSES);
	cr_assert(eq(u8, u.p->side[1].last_event.syndrome, 0), "no answer to a peer");
	cr_assert(eq(u64, pair_count(u.p, 1)->doors_closed, 1));
	pair_free(u.p);
}

/* checks W-UC-04[1,2] */
Test(uc_responder, W_UC_04_without_a_receive)
{
	struct uc u;

	begin(&u);
	say(&u, UC(SEND_FIRST), PEER_PSN, PART(1));
	receive(&u, 1);
	say(&u, UC(SEND_LAST), PEER_PSN + 1, PART(2));
	expect_silence(&u, 2);
	expect_alive(&u, 1, PEER_PSN + 2);
	say_write(&u, UC(WRITE_ONLY_IMM), PEER_PSN + 3, PART(1), PEER_MTU);
	expect_silence(&u, 3);
	cr_assert(eq(u8, written(&u, 0), BEHIND));
	pair_free(u.p);
}

/* checks W-UC-06[1]: with the last packet, and none if that is lost. */
Test(uc_responder, W_UC_06_a_write_with_immediate_takes_its_receive_at_the_end)
{
	struct ndsh_cqe c;
	struct roce_pkt last;
	struct uc u;

	begin(&u);
	receive(&u, 1);
	say_write(&u, UC(WRITE_FIRST), PEER_PSN, PART(1), 2 * PEER_MTU);
	cr_assert(eq(u32, u.p->side[1].q[0].rq.next, 1));
	expect_silence(&u, 0);
	say_write(&u, UC(WRITE_FIRST), PEER_PSN + 2, PART(1), 2 * PEER_MTU);
	last = peer_packet(u.p, UC(WRITE_LAST_IMM), PEER_PSN + 3, PEER_MTU);
	last.imm = 0x12345678;
	say_pkt(&u, last, 2);
	c = pair_expect(u.p, 1, 1, NDSH_WC_SUCCESS);
	cr_assert(eq(u32, c.bytes, 2 * PEER_MTU));
	cr_assert(eq(u32, c.data, 0x12345678));
	cr_assert(eq(int, c.flags & ~NDSH_CQEF_PHASE, NDSH_CQEF_IMM | NDSH_CQEF_WRITE));
	cr_assert(eq(u8, written(&u, 2 * PEER_MTU - 1), 2));
	expect_silence(&u, 0);
	pair_free(u.p);
}

/* checks W-UC-04[3]: the receive of a message that was dropped in its middle is the queue pair's,
 * until one comes that needs it, or the end. */
Test(uc_responder, W_UC_04_a_shared_receive_is_kept)
{
	struct uc u;

	begin_with(&u, (struct pair_opts){.srq_depth = 8, .qps = 2});
	receive(&u, 1);
	receive(&u, 2);
	say(&u, UC(SEND_FIRST), PEER_PSN, PART(1));
	say(&u, UC(SEND_LAST), PEER_PSN + 2, PART(1));
	expect_silence(&u, 1);
	say_write(&u, UC(WRITE_ONLY), PEER_PSN + 3, PART(1), PEER_MTU);
	say_write(&u, UC(WRITE_ONLY_IMM), PEER_PSN + 4, PART(1), PEER_MTU);
	pair_expect(u.p, 1, 1, NDSH_WC_SUCCESS);
	say(&u, UC(SEND_FIRST), PEER_PSN + 5, PART(1));
	say(&u, UC(SEND_LAST), PEER_PSN + 7, PART(1));
	cr_assert(eq(int,
		roce_qp_modify(u.p->side[1].shard, u.p->side[1].q[0].qp, u.p->now_ns, ROCE_QPS_ERR,
			0, NULL),
		ROCE_MODIFY_OK));
	pair_turn(u.p, 1);
	pair_expect(u.p, 1, 2, NDSH_WC_FLUSH_ERR);
	pair_free(u.p);
}

/* checks W-UC-05[1]: the client's own mistake ends the queue pair, without a word to the peer. */
Test(uc_responder, W_UC_05_a_receive_with_a_wrong_key)
{
	struct ndsh_sge sge;
	struct ndsh_cqe c;
	struct uc u;

	begin_with(&u, (struct pair_opts){.ignore_events = true});
	sge = pair_sge(u.p, 1, AT, ROOM);
	sge.key ^= 1;
	ndsh_rq_push(&u.p->side[1].q[0].rq, 1, &sge, 1);
	receive(&u, 2);
	say(&u, UC(SEND_ONLY), PEER_PSN, PART(1));
	c = pair_expect(u.p, 1, 1, NDSH_WC_LOC_PROT_ERR);
	cr_assert(eq(int, c.syndrome, ROCE_REASON_RECV_PROT));
	pair_expect(u.p, 1, 2, NDSH_WC_FLUSH_ERR);
	pair_expect_dead(u.p, 1, 0, ROCE_REASON_RECV_PROT);
	cr_assert(eq(u8, u.p->side[1].last_event.syndrome, 0), "no answer to a peer");
	peer_silent(u.p, &u.tape, 0);
	pair_free(u.p);
}

/* ---- which packets are its own ---- */

/* checks W-PKT-10[5]: of RC, of datagrams; and those of UC for a reliable connection. */
Test(uc_responder, W_PKT_10_other_transports)
{
	struct uc u;

	begin(&u);
	receive(&u, 1);
	say(&u, ROCE_SEND_ONLY, PEER_PSN, PART(1));
	say(&u, ROCE_READ_REQUEST, PEER_PSN, 0, 0);
	say(&u, ROCE_ACK, PEER_PSN, 0, 0);
	say(&u, ROCE_UD_SEND_ONLY, PEER_PSN, 1, 8);
	expect_silence(&u, 0);
	cr_assert(eq(u64, pair_count(u.p, 1)->rx_wrong_class, 4));
	expect_alive(&u, 1, PEER_PSN);
	pair_free(u.p);

	u.p = peer_new(&u.tape);
	receive(&u, 1);
	say(&u, UC(SEND_ONLY), PEER_PSN, PART(1));
	pair_expect_none(u.p, 1);
	peer_silent(u.p, &u.tape, 0);
	cr_assert(eq(u64, pair_count(u.p, 1)->rx_wrong_class, 1));
	pair_free(u.p);
}

/* checks W-PKT-15[6]: from RTR on; and that the peer is there is told once. */
Test(uc_responder, W_PKT_15_states)
{
	struct roce_qp_attr a;
	struct roce_qp *qp;
	struct uc u;

	begin(&u);
	qp = u.p->side[1].q[0].qp;
	pair_attr(u.p, 1, 0, &a);
	roce_qp_modify(u.p->side[1].shard, qp, u.p->now_ns, ROCE_QPS_RESET, 0, NULL);
	roce_qp_modify(u.p->side[1].shard, qp, u.p->now_ns, ROCE_QPS_INIT, ROCE_QPA_ACCESS, &a);
	receive(&u, 1);
	receive(&u, 2);
	say(&u, UC(SEND_ONLY), PEER_PSN, PART(1));
	cr_assert(eq(u64, pair_count(u.p, 1)->rx_wrong_state, 1));
	pair_expect_none(u.p, 1);
	cr_assert(eq(int,
		roce_qp_modify(
			u.p->side[1].shard, qp, u.p->now_ns, ROCE_QPS_UC_RTR, PAIR_QPA_UC_RTR, &a),
		ROCE_MODIFY_OK));
	for (uint32_t i = 0; i < 2; i++) {
		u.p->side[1].events = 0;
		expect_alive(&u, i + 1, PEER_PSN + i);
		cr_assert(eq(u32, u.p->side[1].events, i == 0 ? 1u << ROCE_EV_COMM_EST : 0));
	}
	pair_free(u.p);
}
