/* SPDX-License-Identifier: BSD-3-Clause */
/* The requester: what it sends, and what it sends again; AckReq, window, fences. */
#include <criterion/criterion.h>

#include "rigs/overheard.h"

#define MTU 256u

/* checks W-REQ-04[1,2,6], W-RXE-20 */
Test(requester, W_REQ_04_last_packet_and_every_quarter_window)
{
	struct pair *p = watched_pair(&(struct pair_opts){.mtu = MTU, .window = 64}, false);
	unsigned since = 0;

	pair_write(p, 0, 0, 1, 0, 0, MTU * 200, 0);
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert_eq(watched.n, 201);
	for (unsigned i = 0; i < watched.n; i++) {
		since = watched.pkt[i].ackreq ? 0 : since + 1;
		cr_assert_lt(since, 16, "packet %u", i);
	}
	cr_assert(watched.pkt[199].ackreq && watched.pkt[200].ackreq);
	cr_assert_not(watched.pkt[0].ackreq);
	pair_free(p);
}

/* checks W-REQ-04[3,4], W-REQ-08[1], W-RXE-20 */
Test(requester, W_REQ_04_packet_that_closes_the_window_and_first_of_a_retransmission)
{
	struct pair *p = watched_pair(&(struct pair_opts){.mtu = MTU, .window = 20}, true);

	pair_write(p, 0, 0, 1, 0, 0, MTU * 100, 0);
	pair_turn(p, 0);
	cr_assert_eq(watched.n, 20, "W-REQ-08");
	cr_assert(watched.pkt[19].ackreq);
	cr_assert_not(watched.pkt[0].ackreq);
	p->now_ns += 2000000;
	pair_turn(p, 0);
	cr_assert_eq(watched.n, 40);
	cr_assert_eq(watched.pkt[20].psn, 100);
	cr_assert_eq(watched.pkt[20].opcode, ROCE_WRITE_FIRST);
	cr_assert(watched.pkt[20].ackreq);
	cr_assert_not(watched.pkt[21].ackreq, "the first of them only");
	pair_free(p);
}

/* Each quarter, and on no packet between. checks W-REQ-04[6] */
Test(requester, W_REQ_04_each_quarter_of_the_window_and_no_more)
{
	for (unsigned moved = 0; moved < 2; moved++) {
		struct pair *p = watched_pair(
			&(struct pair_opts){.mtu = MTU, .window = 64, .moved = moved}, true);
		struct ndsh_sge sge =
			moved ? pair_moved_sge(p, 0, 0, 200 * MTU) : pair_sge(p, 0, 0, 200 * MTU);

		p->side[0].moves = 1; /* each packet waits for its data */
		pair_post_sge(p, 0, 0, 1, NDSH_OP_WRITE, 0, &sge);
		for (unsigned i = 0; i < 100; i++)
			pair_turn(p, 0);
		cr_assert_eq(watched.n, 64);
		for (unsigned i = 0; i < 64; i++)
			cr_assert_eq(watched.pkt[i].ackreq, i % 16 == 15, "packet %u", i);
		pair_free(p);
	}
}

/* A window that is not four quarters: the packet that closes it asks, not the one before.
 * checks W-REQ-04[3] */
Test(requester, W_REQ_04_the_packet_that_closes_a_window_of_18)
{
	struct pair *p = watched_pair(&(struct pair_opts){.mtu = MTU, .window = 18}, true);

	pair_write(p, 0, 0, 1, 0, 0, MTU * 100, 0);
	pair_turn(p, 0);
	cr_assert_eq(watched.n, 18);
	cr_assert(watched.pkt[17].ackreq);
	cr_assert_not(watched.pkt[16].ackreq);
	pair_free(p);
}

/* checks W-REQ-10[1,2] */
Test(requester, W_REQ_10_restart_in_the_middle_repeats_headers)
{
	struct pair *p = watched_pair(&(struct pair_opts){.mtu = MTU}, true);

	pair_write(p, 0, 0, 1, 0, 0, MTU * 5, 0);
	pair_turn(p, 0);
	watched_answer(p, ROCE_ACK, 102, ROCE_SYN_NAK_SEQ);
	cr_assert_eq(watched.n, 8);
	for (unsigned i = 0; i < 3; i++) {
		cr_assert_eq(watched.pkt[5 + i].psn, watched.pkt[2 + i].psn);
		cr_assert_eq(watched.pkt[5 + i].opcode, watched.pkt[2 + i].opcode);
		cr_assert_eq(watched.pkt[5 + i].payload_bytes, watched.pkt[2 + i].payload_bytes);
	}
	pair_free(p);
}

/* checks W-REQ-02[2,3], W-REQ-03[1,2], W-REQ-09[1,3] */
Test(requester, W_REQ_02_W_REQ_03_headers_of_a_long_send_and_write)
{
	struct pair *p = watched_pair(&(struct pair_opts){.mtu = MTU}, false);

	pair_recv(p, 1, 0, 9, 0, 4096);
	pair_send(p, 0, 0, 1, 0, 3 * MTU, NDSH_WRF_SOLICIT);
	pair_write(p, 0, 0, 2, 0, 64, 2 * MTU + 1, NDSH_WRF_SOLICIT);
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert_eq(watched.n, 6);
	for (unsigned i = 0; i < 6; i++) {
		cr_assert_eq(watched.pkt[i].se, i == 2, "W-REQ-03");
		cr_assert_eq(watched.pkt[i].qpn, roce_qp_num(p->side[1].q[0].qp), "W-REQ-09");
		cr_assert(watched.pkt[i].mig);
	}
	cr_assert_eq(watched.pkt[3].opcode, ROCE_WRITE_FIRST);
	cr_assert_eq(watched.pkt[3].dma_bytes, 2 * MTU + 1);
	cr_assert_eq(watched.pkt[3].va, PAIR_VA + 64);
	cr_assert_eq(watched.pkt[5].payload_bytes, 1);
	cr_assert_eq(watched.pkt[5].pad, 3);
	pair_free(p);
}

/* A READ that would make it more waits for what is before it. */
static void
half_the_space(uint32_t bytes, unsigned at_once)
{
	struct ear e;
	struct pair *p = ear_pair(&e, (struct pair_opts){.mtu = 256});
	struct pair_side *d = &p->side[0];
	/* No byte of it is touched: no response comes. */
	struct roce_mr *mr = roce_mr_register(
		d->shard, d->pd, PAIR_VA, ROCE_MSG_MAX, d->arena, NDSH_ACCESS_LOCAL_WRITE);

	cr_assert_not_null(mr);
	p->opts.delay_ns = PAIR_LONG;
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_post(p, 0, 0,
		&(struct ndsh_swr){.context = 2,
			.raddr = PAIR_VA,
			.rkey = p->side[1].key,
			.ctrl = NDSH_CTRL(NDSH_OP_READ, 1, 0, 0)},
		&(struct ndsh_sge){PAIR_VA, bytes, roce_mr_key(mr)}, NULL);
	pair_turn(p, 0);
	cr_assert_eq(p->sent[0], at_once);
	p->opts.delay_ns = 0;
	ear_answer(p, EAR_PSN, ROCE_SYN_ACK);
	cr_assert_eq(p->sent[0], 2);
	roce_qp_modify(d->shard, d->q[0].qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
	cr_assert(roce_mr_deregister(d->shard, mr));
	pair_free(p);
}

/* With more than that in flight old and new could not be told apart. checks W-PSN-02[1] */
Test(requester, W_PSN_02_half_the_space_is_the_most)
{
	half_the_space(ROCE_MSG_MAX - 256, 2); /* 2^23 numbers with the one before */
	half_the_space(ROCE_MSG_MAX, 1);
}

/* ---- what has to wait, or fails at once ---- */

/* checks W-REQ-05[1,2] */
Test(requester, W_REQ_05_initiator_depth)
{
	struct pair *p = watched_pair(&(struct pair_opts){.max_rd = 2}, true);

	for (unsigned i = 0; i < 5; i++)
		pair_read(p, 0, 0, i, 0, 0, 8, 0);
	pair_write(p, 0, 0, 5, 0, 0, 8, 0);
	pair_turn(p, 0);
	cr_assert_eq(watched.n, 2);
	for (unsigned i = 0; i < 5; i++) { /* each that is answered makes room for one */
		static const uint8_t payload[8];

		pair_inject(p, 0, 0,
			&(struct roce_pkt){.opcode = ROCE_READ_RESP_ONLY,
				.psn = WATCHED_PSN + i,
				.qpn = roce_qp_num(p->side[0].q[0].qp),
				.pkey = ROCE_PKEY_DEFAULT,
				.syndrome = ROCE_SYN_ACK,
				.payload_bytes = 8},
			payload);
		pair_turn(p, 0);
		cr_assert_eq(watched.n, i < 2 ? 3 + i : 6);
	}
	cr_assert_eq(watched.pkt[4].opcode, ROCE_READ_REQUEST);
	cr_assert_eq(watched.pkt[5].opcode, ROCE_WRITE_ONLY);
	pair_free(p);
}

/* checks W-REQ-05[3] */
Test(requester, W_REQ_05_read_with_initiator_depth_0)
{
	struct pair *p = pair_new(&(struct pair_opts){.max_rd = 255});

	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_read(p, 0, 0, 2, 0, 0, 8, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 2, NDSH_WC_LOC_QP_OP_ERR);
	pair_expect_dead(p, 0, 0, ROCE_REASON_LOCAL_OP);
	pair_free(p);
}

/* checks R-ORD-05[1], W-FENCE-01[1] */
Test(requester, W_FENCE_01)
{
	struct pair *p = watched_pair(&(struct pair_opts){0}, true);
	static const uint8_t payload[8];

	pair_write(p, 0, 0, 1, 0, 0, 8, NDSH_WRF_FENCE); /* nothing to wait for */
	pair_read(p, 0, 0, 2, 0, 0, 8, 0);
	pair_write(p, 0, 0, 3, 0, 0, 8, NDSH_WRF_FENCE);
	pair_turn(p, 0);
	cr_assert_eq(watched.n, 2);
	pair_inject(p, 0, 0,
		&(struct roce_pkt){.opcode = ROCE_READ_RESP_ONLY,
			.psn = 101,
			.qpn = roce_qp_num(p->side[0].q[0].qp),
			.pkey = ROCE_PKEY_DEFAULT,
			.syndrome = ROCE_SYN_ACK,
			.payload_bytes = 8},
		payload);
	pair_turn(p, 0);
	cr_assert_eq(watched.n, 3);
	cr_assert_eq(watched.pkt[2].psn, 102);
	pair_free(p);
}

/* A request of 708 bytes, the last eight of them by a key that is none. */
static void
post_without_its_end(struct pair *p, uint64_t context, uint8_t op)
{
	struct ndsh_sge sge[2] = {pair_sge(p, 0, 0, 700), pair_sge(p, 0, 0, 8)};

	sge[1].key ^= 1;
	pair_post(p, 0, 0,
		&(struct ndsh_swr){.context = context,
			.raddr = PAIR_VA,
			.rkey = p->side[1].key,
			.ctrl = NDSH_CTRL(op, 2, 0, 0)},
		sge, NULL);
}

/* checks R-POST-08[1], W-REQ-07[1,2,4] */
Test(requester, W_REQ_07_local_key_fails_behind_what_was_sent_before)
{
	static const uint8_t ops[] = {NDSH_OP_SEND, NDSH_OP_WRITE, NDSH_OP_READ};

	for (size_t i = 0; i < sizeof(ops); i++) {
		struct pair *p = pair_new(&(struct pair_opts){.mtu = 256});

		pair_recv(p, 1, 0, 9, 0, 4096);
		pair_write(p, 0, 0, 1, 0, 0, 3000, 0);
		post_without_its_end(p, 2, ops[i]);
		pair_write(p, 0, 0, 3, 0, 0, 8, 0);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
		pair_expect(p, 0, 2, NDSH_WC_LOC_PROT_ERR);
		pair_expect(p, 0, 3, NDSH_WC_FLUSH_ERR);
		pair_expect_dead(p, 0, 0, ROCE_REASON_LOCAL_PROT);
		cr_assert_neq(roce_qp_state_get(p->side[1].q[0].qp), ROCE_QPS_ERR);
		pair_free(p);
	}
}

/* The fault is in the third packet: two have left, and no other one of that message follows; nor
 * does anything behind it. checks W-REQ-07[1-3] */
Test(requester, W_REQ_07_a_message_without_its_end)
{
	static const uint8_t ops[] = {NDSH_OP_SEND, NDSH_OP_WRITE};

	for (size_t i = 0; i < sizeof(ops); i++) {
		struct pair *p = watched_pair(&(struct pair_opts){.mtu = MTU}, false);
		bool send = ops[i] == NDSH_OP_SEND;

		pair_recv(p, 1, 0, 9, 0, 4096);
		post_without_its_end(p, 1, ops[i]);
		pair_write(p, 0, 0, 2, 0, 0, 8, 0);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 0, 1, NDSH_WC_LOC_PROT_ERR);
		pair_expect(p, 0, 2, NDSH_WC_FLUSH_ERR);
		pair_expect_dead(p, 0, 0, ROCE_REASON_LOCAL_PROT);
		cr_assert_eq(watched.n, 2);
		cr_assert_eq(watched.pkt[0].opcode, send ? ROCE_SEND_FIRST : ROCE_WRITE_FIRST);
		cr_assert_eq(watched.pkt[1].opcode, send ? ROCE_SEND_MIDDLE : ROCE_WRITE_MIDDLE);
		pair_expect_none(p, 1);
		pair_expect_alive(p, 1, 0);
		pair_free(p);
	}
}

/* The first packets of a message come again for as long as the message is not acknowledged: those
 * that were not sent yet wait. checks W-REQ-08[1,3], W-PSN-02[2], W-REQ-01[2] */
Test(requester, W_REQ_08_for_each_size_of_the_window)
{
	for (uint32_t window = 16; window <= 40; window += 3) {
		struct pair *p =
			watched_pair(&(struct pair_opts){.mtu = MTU, .window = window}, true);

		pair_write(p, 0, 0, 1, 0, 0, 100 * MTU, 0);
		pair_turn(p, 0);
		for (uint32_t acked = 0; acked < 100; acked++) {
			uint32_t sent = acked + window < 100 ? acked + window : 100;

			cr_assert_eq(watched.n, sent, "%u of %u", watched.n, sent);
			cr_assert_eq(watched.pkt[sent - 1].psn, WATCHED_PSN + sent - 1);
			watched_answer(p, ROCE_ACK, WATCHED_PSN + acked, ROCE_SYN_ACK);
		}
		pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
		pair_free(p);
	}
}

/* A READ is one packet, however many PSNs it takes: it leaves if there is room for one, and what is
 * behind it waits for its responses. checks W-REQ-08[1,2] */
Test(requester, W_REQ_08_a_read_may_exceed_the_window)
{
	struct ear e;
	struct pair *p = ear_pair(&e, (struct pair_opts){.mtu = MTU, .window = 16});

	e.deaf = true;
	pair_write(p, 0, 0, 1, 0, 0, 15 * MTU, 0);
	pair_read(p, 0, 0, 2, 0, 0, 100 * MTU, 0);
	pair_write(p, 0, 0, 3, 0, 0, 8, 0);
	pair_turn(p, 0);
	cr_assert_eq(p->sent[0], 16);
	ear_answer(p, EAR_PSN + 14, ROCE_SYN_ACK);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	cr_assert_eq(p->sent[0], 16, "100 PSNs are under way");
	e.deaf = false;
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 3, NDSH_WC_SUCCESS);
	pair_free(p);
}
