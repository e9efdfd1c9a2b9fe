/* SPDX-License-Identifier: BSD-3-Clause */
/* What an unreliable connection sends: each packet once, and a request is complete with its last
 * one. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "rigs/engine_pair.h"
#include "roce/qp/qp.h"

#define MTU  1024u
#define FROM 8192u
#define SEEN 64u

struct seen {
	struct roce_pkt pkt[SEEN];
	unsigned n, lost; /* lost: so many that pass first, and then the next is lost; 0: none */
};

static unsigned
see(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct seen *s = ctx;

	(void)p;
	(void)late_ns;
	cr_assert(eq(u32, from, 0), "the receiver says nothing");
	cr_assert(lt(u32, s->n, SEEN));
	s->pkt[s->n] = *pkt;
	return ++s->n != s->lost;
}

static struct pair *
begin(struct seen *s, struct pair_opts opts)
{
	struct pair *p;

	opts.uc = true;
	opts.mtu = MTU;
	opts.access = NDSH_ACCESS_REMOTE_WRITE;
	p = pair_new(&opts);
	*s = (struct seen){.n = 0};
	p->tap = see;
	p->tap_ctx = s;
	for (uint32_t i = 0; i < FROM; i++)
		p->side[0].arena[i] = (uint8_t)(i * 7 + i / MTU);
	return p;
}

static enum roce_modify
to(struct pair *p, enum roce_qp_state state)
{
	return roce_qp_modify(p->side[0].shard, p->side[0].q[0].qp, p->now_ns, state, 0, NULL);
}

static enum roce_qp_state
state(const struct pair *p)
{
	return roce_qp_state_get(p->side[0].q[0].qp);
}

static void
send_bad_key(struct pair *p, uint64_t context, uint32_t bytes)
{
	struct ndsh_sge sge[2] = {pair_sge(p, 0, 0, MTU), pair_sge(p, 0, 0, bytes)};

	sge[1].key ^= 1;
	pair_post(p, 0, 0,
		&(struct ndsh_swr){.context = context, .ctrl = NDSH_CTRL(NDSH_OP_SEND, 2, 0, 0)},
		sge, NULL);
}

/* checks W-UC-01[2], W-UC-03[1,2]: nothing asks for an answer, nothing waits for one. */
Test(uc_requester, W_UC_03_complete_when_the_last_packet_has_left)
{
	static const uint8_t ops[] = {ROCE_SEND_FIRST, ROCE_SEND_MIDDLE, ROCE_SEND_LAST,
		ROCE_WRITE_FIRST, ROCE_WRITE_LAST, ROCE_SEND_ONLY};
	struct seen s;
	struct pair *p = begin(&s, (struct pair_opts){.window = 16});
	uint32_t psn;

	pair_recv(p, 1, 0, 1, FROM, 3 * MTU);
	pair_recv(p, 1, 0, 2, FROM + 3 * MTU, MTU);
	pair_send(p, 0, 0, 10, 0, 2 * MTU + 5, 0);
	pair_write(p, 0, 0, 11, 0, 0, MTU + 1, 0);
	pair_send(p, 0, 0, 12, 0, 0, NDSH_WRF_SOLICIT);
	pair_turn(p, 0);
	for (uint64_t i = 10; i < 13; i++)
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
	cr_assert(eq(u64, roce_shard_next_deadline(p->side[0].shard), UINT64_MAX));
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	cr_assert(ne(int, pair_expect(p, 1, 2, NDSH_WC_SUCCESS).flags &NDSH_CQEF_SOLICITED, 0));
	cr_assert(zero(memcmp(p->side[1].arena + FROM, p->side[0].arena, 2 * MTU + 5)));
	cr_assert(zero(memcmp(p->side[1].arena, p->side[0].arena, MTU + 1)));
	cr_assert(eq(u32, s.n, 6));
	psn = s.pkt[0].psn;
	for (uint32_t i = 0; i < s.n; i++) {
		cr_assert(eq(u8, s.pkt[i].opcode, ROCE_CLASS_UC | ops[i]));
		cr_assert(eq(u32, s.pkt[i].psn, roce_psn_add(psn, i)));
		cr_assert_not(s.pkt[i].ackreq);
	}
	pair_free(p);
}

/* checks W-UC-03[2]: what is lost is lost. */
Test(uc_requester, W_UC_03_nothing_is_sent_again)
{
	struct seen s;
	struct pair *p = begin(&s, (struct pair_opts){0});

	s.lost = 2;
	pair_recv(p, 1, 0, 1, FROM, 3 * MTU);
	pair_send(p, 0, 0, 10, 0, 3 * MTU, 0);
	pair_send(p, 0, 0, 11, MTU, MTU, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 10, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 11, NDSH_WC_SUCCESS);
	cr_assert(eq(u32, s.n, 4));
	cr_assert(eq(u32, pair_expect(p, 1, 1, NDSH_WC_SUCCESS).bytes, MTU));
	cr_assert(zero(memcmp(p->side[1].arena + FROM, p->side[0].arena + MTU, MTU)));
	pair_expect_none(p, 1);
	pair_free(p);
}

/* A message as long as thousands of packets leaves in turns, each no longer than any other's. */
Test(uc_requester, turns_are_bounded)
{
	struct pair *p = pair_new(&(struct pair_opts){.uc = true, .mtu = 256, .qps = 2});

	pair_send(p, 0, 0, 10, 0, 1 << 20, 0);
	p->side[0].frames = 16;
	pair_turn(p, 0);
	cr_assert(eq(u64, pair_count(p, 0)->tx_packets, 16));
	pair_send(p, 0, 1, 11, 0, 8, 0);
	pair_turn(p, 0);
	pair_expect(p, 0, 11, NDSH_WC_SUCCESS);
	pair_expect_none(p, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 10, NDSH_WC_SUCCESS);
	cr_assert(eq(u64, pair_count(p, 0)->tx_packets, 4096 + 1));
	pair_free(p);
}

/* checks W-ERR-02[4,5,6], W-UC-03[3]: what failed, and all behind it, is told; receives go on; what
 * is posted after the way back is sent, and the peer does not take it for the rest of what failed.
 */
Test(uc_requester, W_ERR_02_a_failed_request_stops_the_send_side_alone)
{
	struct seen s;
	struct pair *p = begin(&s, (struct pair_opts){0});

	p->tap = NULL;
	for (uint64_t i = 1; i <= 2; i++) {
		pair_recv(p, 0, 0, i, FROM, MTU);
		pair_recv(p, 1, 0, i, FROM, 2 * MTU);
	}
	send_bad_key(p, 10, MTU);
	for (uint64_t i = 11; i < 51; i++)
		pair_send(p, 0, 0, i, 0, 8, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 10, NDSH_WC_LOC_PROT_ERR);
	for (uint64_t i = 11; i < 51; i++)
		pair_expect(p, 0, i, NDSH_WC_FLUSH_ERR);
	cr_assert(eq(int, state(p), ROCE_QPS_UC_SQE));
	cr_assert(eq(int, roce_qp_reason(p->side[0].q[0].qp), ROCE_REASON_LOCAL_PROT));
	pair_send(p, 1, 0, 60, 0, MTU, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 1, 60, NDSH_WC_SUCCESS);

	for (uint64_t i = 100; i < 140; i++) /* not looked at yet */
		pair_send(p, 0, 0, i, 0, 8, 0);
	cr_assert(eq(int, to(p, ROCE_QPS_UC_SQD), ROCE_MODIFY_BAD_TRANSITION));
	cr_assert(eq(int, to(p, ROCE_QPS_UC_RTS), ROCE_MODIFY_OK));
	cr_assert(eq(int, roce_qp_reason(p->side[0].q[0].qp), ROCE_REASON_NONE));
	pair_send(p, 0, 0, 140, MTU, MTU, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	for (uint64_t i = 100; i < 140; i++)
		pair_expect(p, 0, i, NDSH_WC_FLUSH_ERR);
	pair_expect(p, 0, 140, NDSH_WC_SUCCESS);
	cr_assert(eq(u32, pair_expect(p, 1, 1, NDSH_WC_SUCCESS).bytes, MTU));
	cr_assert(zero(memcmp(p->side[1].arena + FROM, p->side[0].arena + MTU, MTU)));
	cr_assert(eq(u64, pair_count(p, 1)->rx_out_of_sequence, 1), "one PSN was passed over");
	pair_free(p);
}

/* A request that a library never posts there ends the queue pair as any breach does. */
Test(uc_requester, other_requests_are_a_breach)
{
	static const uint32_t ops[] = {NDSH_OP_READ, NDSH_OP_SEND_INV, NDSH_OP_INVALIDATE};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct seen s;
		struct pair *p = begin(&s, (struct pair_opts){.ignore_events = true});
		const struct ndsh_sge sge = pair_sge(p, 0, 0, 8);

		pair_post(p, 0, 0,
			&(struct ndsh_swr){.context = 1,
				.ctrl = NDSH_CTRL(ops[i], ops[i] != NDSH_OP_INVALIDATE, 0, 0)},
			&sge, NULL);
		cr_assert(pair_run(p, PAIR_LONG));
		cr_assert(eq(int, state(p), ROCE_QPS_ERR));
		cr_assert(eq(int, roce_qp_reason(p->side[0].q[0].qp), ROCE_REASON_CLIENT_BREACH));
		cr_assert(eq(u32, s.n, 0));
		pair_free(p);
	}
}

/* checks W-REQ-12[4]: in SQD the message that was begun is sent to its end, and none begins. */
Test(uc_requester, W_REQ_12_sqd)
{
	struct seen s;
	struct pair *p = begin(&s, (struct pair_opts){0});

	p->tap = NULL;
	pair_write(p, 0, 0, 1, 0, 0, 8 * MTU, 0);
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	p->side[0].frames = 4;
	pair_turn(p, 0);
	cr_assert(eq(int, to(p, ROCE_QPS_UC_SQD), ROCE_MODIFY_OK));
	cr_assert(zero(p->side[0].events & 1u << ROCE_EV_SQ_DRAINED));
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect_none(p, 0);
	cr_assert(ne(u32, p->side[0].events & 1u << ROCE_EV_SQ_DRAINED, 0));
	cr_assert(eq(int, to(p, ROCE_QPS_UC_RTS), ROCE_MODIFY_OK));
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* checks W-REQ-12[4]: a message of which nothing has left does not begin in SQD, though its first
 * packet has been asked of a mover. */
Test(uc_requester, W_REQ_12_sqd_while_moved_memory_is_fetched)
{
	struct seen s;
	struct pair *p = begin(&s, (struct pair_opts){.moved = true});
	struct ndsh_sge from = pair_moved_sge(p, 0, 0, 3 * MTU);

	pair_recv(p, 1, 0, 1, FROM, 3 * MTU);
	pair_post(p, 0, 0,
		&(struct ndsh_swr){.context = 10, .ctrl = NDSH_CTRL(NDSH_OP_SEND, 1, 0, 0)}, &from,
		NULL);
	pair_turn(p, 0);
	cr_assert(eq(u32, s.n, 0));
	cr_assert(eq(int, to(p, ROCE_QPS_UC_SQD), ROCE_MODIFY_OK));
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert(ne(u32, p->side[0].events & 1u << ROCE_EV_SQ_DRAINED, 0));
	cr_assert(eq(u32, s.n, 0), "it is told to be drained, and sends");
	pair_expect_none(p, 0);
	cr_assert(eq(int, to(p, ROCE_QPS_UC_RTS), ROCE_MODIFY_OK));
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 10, NDSH_WC_SUCCESS);
	cr_assert(eq(u32, pair_expect(p, 1, 1, NDSH_WC_SUCCESS).bytes, 3 * MTU));
	pair_free(p);
}

/* Its end in the middle of a message: by ERR, by RESET and a new life, by destruction. */
Test(uc_requester, ends_in_the_middle_of_a_message)
{
	struct seen s;
	struct pair *p = begin(&s, (struct pair_opts){0});

	p->tap = NULL;
	p->side[0].frames = 4;
	pair_write(p, 0, 0, 1, 0, 0, 8 * MTU, 0);
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	pair_turn(p, 0);
	cr_assert(eq(int, to(p, ROCE_QPS_ERR), ROCE_MODIFY_OK));
	pair_expect(p, 0, 1, NDSH_WC_FLUSH_ERR);
	pair_expect(p, 0, 2, NDSH_WC_FLUSH_ERR);
	cr_assert(eq(int, to(p, ROCE_QPS_RESET), ROCE_MODIFY_OK));
	pair_connect(p, 0, 0);
	pair_write(p, 0, 0, 3, 0, 0, 8 * MTU, 0);
	pair_turn(p, 0);
	cr_assert(eq(u64, pair_count(p, 0)->tx_packets, 8));
	pair_free(p);
}

/* checks W-UC-07[1,2,3] */
Test(uc_requester, W_UC_07_attributes_of_each_step)
{
	const uint32_t more = ROCE_QPA_MIN_RNR | ROCE_QPA_MAX_DEST_RD | ROCE_QPA_TIMEOUT |
			      ROCE_QPA_RETRY | ROCE_QPA_RNR_RETRY | ROCE_QPA_MAX_RD |
			      ROCE_QPA_KEEPALIVE;
	static const struct {
		enum roce_qp_state from, to;
		uint32_t needs, takes;
	} steps[] = {
		{ROCE_QPS_INIT, ROCE_QPS_UC_RTR, PAIR_QPA_UC_RTR, ROCE_QPA_ACCESS},
		{ROCE_QPS_UC_RTR, ROCE_QPS_UC_RTS, ROCE_QPA_SQ_PSN, ROCE_QPA_ACCESS},
		{ROCE_QPS_UC_RTS, ROCE_QPS_UC_RTS, 0, ROCE_QPA_ACCESS},
		{ROCE_QPS_UC_RTS, ROCE_QPS_UC_SQD, 0, 0},
		{ROCE_QPS_UC_SQD, ROCE_QPS_UC_SQD, 0, ROCE_QPA_ACCESS | ROCE_QPA_PATH},
		{ROCE_QPS_UC_SQD, ROCE_QPS_UC_RTS, 0, ROCE_QPA_ACCESS},
		{ROCE_QPS_UC_SQE, ROCE_QPS_UC_RTS, 0, ROCE_QPA_ACCESS},
	};
	struct roce_qp_attr a;
	struct pair *p = pair_new(&(struct pair_opts){.uc = true});
	uint32_t wrong;

	pair_attr(p, 0, 0, &a);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		for (uint32_t bit = 1; bit <= ROCE_QPA_KEEPALIVE; bit <<= 1) {
			uint32_t all = steps[i].needs | steps[i].takes;
			enum roce_modify with = roce_modify_judge(
				steps[i].from, steps[i].to, steps[i].needs | bit, &a, &wrong);
			enum roce_modify without = roce_modify_judge(
				steps[i].from, steps[i].to, all & ~bit, &a, &wrong);

			cr_assert(eq(
				int, with, all &bit ? ROCE_MODIFY_OK : ROCE_MODIFY_FORBIDDEN_ATTR));
			cr_assert(eq(int, without,
				steps[i].needs &bit ? ROCE_MODIFY_MISSING_ATTR : ROCE_MODIFY_OK));
			cr_assert(zero(bit & more & all));
		}
	cr_assert(eq(int, to(p, ROCE_QPS_RTS), ROCE_MODIFY_BAD_TRANSITION));
	cr_assert(eq(int, to(p, ROCE_QPS_UC_RTR), ROCE_MODIFY_BAD_TRANSITION));
	cr_assert(eq(int, to(p, ROCE_QPS_RESET), ROCE_MODIFY_OK));
	cr_assert(eq(int,
		roce_qp_modify(p->side[0].shard, p->side[0].q[0].qp, p->now_ns, ROCE_QPS_INIT,
			ROCE_QPA_ACCESS | ROCE_QPA_KEEPALIVE, &a),
		ROCE_MODIFY_FORBIDDEN_ATTR));
	cr_assert(eq(int,
		roce_qp_modify(p->side[0].shard, p->side[0].q[0].qp, p->now_ns, ROCE_QPS_INIT,
			ROCE_QPA_ACCESS, &a),
		ROCE_MODIFY_OK));
	cr_assert(eq(int,
		roce_qp_modify(p->side[0].shard, p->side[0].q[0].qp, p->now_ns, ROCE_QPS_RTR,
			PAIR_QPA_RTR, &a),
		ROCE_MODIFY_BAD_TRANSITION));
	pair_free(p);
}

/* Memory behind a mover on both sides: the completion of a receive follows the copy. */
Test(uc_requester, moved_memory)
{
	struct seen s;
	struct pair *p = begin(&s, (struct pair_opts){.moved = true});
	struct ndsh_sge from = pair_moved_sge(p, 0, 0, 3 * MTU + 9);
	struct ndsh_sge into = pair_moved_sge(p, 1, 0, 4 * MTU);

	for (uint32_t i = 0; i < from.len; i++)
		p->side[0].moved[i] = (uint8_t)(i * 3 + i / MTU);
	ndsh_rq_push(&p->side[1].q[0].rq, 1, &into, 1);
	pair_post(p, 0, 0,
		&(struct ndsh_swr){.context = 10, .ctrl = NDSH_CTRL(NDSH_OP_SEND, 1, 0, 0)}, &from,
		NULL);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 10, NDSH_WC_SUCCESS);
	cr_assert(eq(u32, pair_expect(p, 1, 1, NDSH_WC_SUCCESS).bytes, from.len));
	cr_assert(zero(memcmp(p->side[1].moved, p->side[0].moved, from.len)));
	pair_free(p);
}

/* The peer's memory has gone when its client wants to copy there: no word of it leaves. */
Test(uc_requester, moved_memory_that_has_gone)
{
	struct seen s;
	struct pair *p = begin(&s, (struct pair_opts){.moved = true, .ignore_events = true});
	struct ndsh_sge from = pair_sge(p, 0, 0, MTU), into = pair_moved_sge(p, 1, 0, MTU);

	p->side[1].gone[1] = MTU;
	ndsh_rq_push(&p->side[1].q[0].rq, 1, &into, 1);
	pair_post(p, 0, 0,
		&(struct ndsh_swr){.context = 10, .ctrl = NDSH_CTRL(NDSH_OP_SEND, 1, 0, 0)}, &from,
		NULL);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect_dead(p, 1, 0, ROCE_REASON_RECV_PROT);
	pair_free(p);
}

static unsigned
answer_with_cnp(
	struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	unsigned *cnps = ctx;

	(void)late_ns;
	p->mark = from == 0;
	*cnps += pkt->opcode == ROCE_CNP;
	return 1;
}

/* Marked packets are answered by CNPs, and those slow the sender down. */
Test(uc_requester, congestion_slows_it_down)
{
	unsigned cnps = 0;
	struct pair *p = pair_new(&(struct pair_opts){
		.uc = true, .ecn = true, .mtu = MTU, .access = NDSH_ACCESS_REMOTE_WRITE});

	p->tap = answer_with_cnp;
	p->tap_ctx = &cnps;
	for (uint64_t i = 0; i < 8; i++)
		pair_write(p, 0, 0, i, 0, 0, 64 * MTU, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	for (uint64_t i = 0; i < 8; i++)
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
	cr_assert(ne(u32, cnps, 0));
	cr_assert(ne(u64, pair_count(p, 0)->rp_rate_cuts, 0));
	cr_assert(eq(u64, pair_count(p, 1)->rx_unreliable_dropped, 0));
	pair_free(p);
}
