/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams between two engines: what arrives, what is dropped, and what mistakes cost. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/ud_world.h"

/* The IP header of the last datagram. */
static unsigned
keep_header(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	(void)p;
	(void)from;
	(void)late_ns;
	memcpy(ctx, pkt->l3, pkt->v6 ? 40 : 20);
	return 1;
}

/* checks W-PKT-07[1,2,3,4,5,6]: the header that brought it, for both families. */
Test(ud, W_PKT_07_header_in_front_of_each_receive)
{
	static const uint32_t sizes[] = {0, 1, 3, 4, 1023, UD_MTU};
	static const uint8_t zero[20];

	for (unsigned i = 0; i < 12; i++) {
		bool v6 = i % 2;
		uint32_t bytes = sizes[i / 2];
		struct ud_world w = ud_world_new(&(struct pair_opts){.v6 = v6});
		const uint8_t *grh = w.p->side[1].arena + UD_TARGET;
		struct roce_qp_attr attr;
		uint8_t header[40];

		ud_world_start(&w);
		w.p->tap = keep_header;
		w.p->tap_ctx = header;
		pair_attr(w.p, 0, 0, &attr);
		ud_fill(&w, bytes);
		memset(w.p->side[1].arena + UD_TARGET, 0xa5, UD_GRH + bytes + 1);
		pair_recv(w.p, 1, 0, 9, UD_TARGET, UD_GRH + bytes);
		ud_send(&w, 0, 5, bytes);
		cr_assert(pair_run(w.p, PAIR_LONG));
		cr_assert_eq(pair_expect(w.p, 0, 5, NDSH_WC_SUCCESS).bytes, bytes);
		(void)ud_arrived(&w, 9, bytes);
		cr_assert_eq(grh[UD_GRH + bytes], 0xa5, "not a byte more");
		if (v6) {
			cr_assert_arr_eq(grh, header, 40);
			cr_assert_eq(grh[0] >> 4, 6);
			cr_assert_arr_eq(grh + 8, attr.path.sgid.raw, 16);
			cr_assert_arr_eq(grh + 24, attr.path.dgid.raw, 16);
		} else {
			cr_assert_arr_eq(grh, zero, 20);
			cr_assert_arr_eq(grh + 20, header, 20);
			cr_assert_eq(grh[20], 0x45);
			cr_assert_arr_eq(grh + 32, attr.path.sgid.raw + 12, 4);
			cr_assert_arr_eq(grh + 36, attr.path.dgid.raw + 12, 4);
		}
		pair_free(w.p);
	}
}

Test(ud, immediate_solicited_inline_and_silent)
{
	struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU});
	struct pair *p = w.p;
	struct ndsh_sge sge = pair_sge(p, 0, 0, 16);
	struct ndsh_cqe c;

	ud_world_start(&w);
	ud_fill(&w, 200);
	for (unsigned i = 0; i < 3; i++)
		pair_recv(p, 1, 0, i, UD_TARGET, 4096);
	pair_post(p, 0, 0,
		&(struct ndsh_swr){.context = 1,
			.rkey = UD_AH,
			.imm = 0x11223344,
			.raddr = NDSH_UD_RADDR(roce_qp_num(p->side[1].q[0].qp), UD_Q_KEY),
			.ctrl = NDSH_CTRL(NDSH_OP_SEND_IMM, 1, NDSH_WRF_SOLICIT, 0)},
		&sge, NULL);
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert_eq(pair_expect(p, 0, 1, NDSH_WC_SUCCESS).op, NDSH_OP_SEND_IMM);
	c = ud_arrived(&w, 0, 16);
	cr_assert_eq(c.data, 0x11223344);
	cr_assert_eq(
		c.flags & ~NDSH_CQEF_PHASE, NDSH_CQEF_IMM | NDSH_CQEF_SOLICITED | NDSH_CQEF_GRH);
	ud_post(&w, 0, 2, 200, UD_Q_KEY, NDSH_WRF_INLINE | NDSH_WRF_SILENT);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect_none(p, 0);
	cr_assert_eq(((struct ndsh_qp_page *)p->side[0].q[0].block)->sq_done, 2);
	c = ud_arrived(&w, 1, 200);
	cr_assert_eq(c.flags & ~NDSH_CQEF_PHASE, NDSH_CQEF_GRH);
	pair_free(p);
}

/*
 * checks W-PKT-13[1,3,4,5]: a wrong key is dropped and counted; a privileged one in a request
 * stands for the sender's own, and no queue pair gets one.
 */
Test(ud, W_PKT_13_q_keys)
{
	struct ud_world w = ud_world_new(&(struct pair_opts){.qps = 2});
	struct pair *p = w.p;
	struct roce_qp_attr attr;

	pair_attr(p, 1, 1, &attr);
	roce_qp_modify(p->side[1].shard, p->side[1].q[1].qp, p->now_ns, ROCE_QPS_RESET, 0, &attr);
	cr_assert_not(roce_ud_start(p->side[1].shard, p->side[1].q[1].qp, p->now_ns,
		&(struct roce_ud_cfg){.q_key = ROCE_QKEY_GSI, .ahs = &w.table[1]}));
	ud_world_start(&w);
	cr_assert_eq(roce_ud_modify(p->side[1].shard, p->side[1].q[1].qp, p->now_ns, 0x111),
		ROCE_UD_MODIFIED);
	for (unsigned i = 0; i < 2; i++)
		pair_recv(p, 1, i, 10 + i, UD_TARGET, 4096);
	ud_post(&w, 0, 1, 8, UD_Q_KEY ^ 1, 0);
	ud_post(&w, 1, 2, 8, UD_Q_KEY, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	(void)pair_expect(
		p, 0, 1, NDSH_WC_SUCCESS); /* it has left, and that is all that is known */
	(void)pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	pair_expect_none(p, 1);
	cr_assert_eq(ud_count(&w, 1)->rx_wrong_q_key, 2);
	ud_post(&w, 0, 3, 8, ROCE_QKEY_GSI, 0);
	ud_post(&w, 1, 4, 8, 0x111, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	(void)ud_arrived(&w, 10, 8);
	(void)ud_arrived(&w, 11, 8);
	cr_assert_eq(roce_ud_modify(p->side[1].shard, p->side[1].q[1].qp, p->now_ns, ROCE_QKEY_GSI),
		ROCE_UD_REFUSED);
	ud_post(&w, 1, 5, 8, 0x111, 0);
	pair_recv(p, 1, 1, 12, UD_TARGET, 4096);
	cr_assert(pair_run(p, PAIR_LONG));
	(void)ud_arrived(&w, 12, 8);
	pair_free(p);
}

/* checks W-PKT-10[1,2,4]: neither takes what is meant for the other kind. */
Test(ud, W_PKT_10_transports_do_not_mix)
{
	struct ud_world w = ud_world_new(&(struct pair_opts){.qps = 2});
	struct pair *p = w.p;
	unsigned wrong = 0;

	w.table[0] = (struct roce_ah_table){.slot = w.ah[0], .count = UD_AHS};
	w.table[1] = (struct roce_ah_table){.slot = w.ah[1], .count = UD_AHS};
	ud_start(&w, 0, 0, UD_Q_KEY);
	ud_start(&w, 1, 0, UD_Q_KEY);
	pair_recv(p, 1, 0, 1, UD_TARGET, 4096);
	pair_recv(p, 1, 1, 2, UD_TARGET, 4096);
	ud_send(&w, 1, 3, 8); /* a datagram to a connected one */
	cr_assert(pair_run(p, PAIR_LONG));
	(void)pair_expect(p, 0, 3, NDSH_WC_SUCCESS);
	pair_expect_none(p, 1);
	cr_assert_eq(ud_count(&w, 1)->rx_wrong_class, 1);
	pair_send(p, 0, 1, 4, 0, 8, 0); /* a connection's packet to the other */
	cr_assert(pair_run(p, PAIR_LONG));
	(void)pair_expect(p, 0, 4, NDSH_WC_SUCCESS);
	(void)pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
	for (unsigned op = 0; op < 256; op++) {
		const struct roce_pkt pkt = {.opcode = (uint8_t)op,
			.pkey = ROCE_PKEY_DEFAULT,
			.qpn = roce_qp_num(p->side[1].q[0].qp),
			.psn = 7,
			.syndrome = ROCE_SYN_ACK};

		if (!(roce_opcode_info[op].flags & ROCE_OPF_VALID) || op == ROCE_UD_SEND_ONLY ||
			op == ROCE_UD_SEND_ONLY_IMM)
			continue;
		pair_inject(p, 1, 1, &pkt, NULL);
		wrong++;
	}
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect_none(p, 1);
	cr_assert_gt(wrong, 32);
	cr_assert_eq(ud_count(&w, 1)->rx_wrong_class, 1 + wrong);
	pair_expect_alive(p, 1, 1);
	cr_assert_eq(roce_qp_state_get(p->side[1].q[0].qp), ROCE_QPS_UD_RTS);
	pair_free(p);
}

static unsigned
twice(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	uint32_t *next = ctx;

	(void)p;
	(void)from;
	(void)late_ns;
	if (*next != UINT32_MAX)
		cr_assert_eq(pkt->psn, *next);
	*next = roce_psn_add(pkt->psn, 1);
	return 2;
}

/* checks W-UD-01[1,2]: PSNs count up, and the receiver does not look at them. */
Test(ud, W_UD_01_psns)
{
	struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU});
	uint32_t next = UINT32_MAX;

	ud_world_start(&w);
	w.p->tap = twice;
	w.p->tap_ctx = &next;
	for (uint64_t i = 0; i < 6; i++)
		pair_recv(w.p, 1, 0, i, UD_TARGET, 4096);
	for (uint64_t i = 0; i < 3; i++)
		ud_send(&w, 0, 10 + i, 8);
	cr_assert(pair_run(w.p, PAIR_LONG));
	for (uint64_t i = 0; i < 3; i++)
		(void)pair_expect(w.p, 0, 10 + i, NDSH_WC_SUCCESS);
	for (uint64_t i = 0; i < 6; i++)
		(void)ud_arrived(&w, i, 8);
	pair_free(w.p);
}

/*
 * checks W-UD-01[4,5]: what a stranger sends is dropped, and the receive stays for the next
 * datagram.
 */
Test(ud, dropped_without_a_word)
{
	struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU});
	struct pair *p = w.p;

	ud_world_start(&w);
	ud_fill(&w, UD_MTU);
	ud_send(&w, 0, 1, 8); /* no receive */
	cr_assert(pair_run(p, PAIR_LONG));
	(void)pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	cr_assert_eq(ud_count(&w, 1)->rx_datagram_no_receive, 1);
	pair_recv(p, 1, 0, 2, UD_TARGET, UD_GRH + 8);
	ud_send(&w, 0, 3, 9); /* one byte too long */
	cr_assert(pair_run(p, PAIR_LONG));
	(void)pair_expect(p, 0, 3, NDSH_WC_SUCCESS);
	pair_expect_none(p, 1);
	cr_assert_eq(ud_count(&w, 1)->rx_datagram_too_long, 1);
	ud_send(&w, 0, 4, 8); /* the receive is still there */
	cr_assert(pair_run(p, PAIR_LONG));
	(void)ud_arrived(&w, 2, 8);
	pair_expect_none(p, 1);
	pair_free(p);
}

/* Another address of the same host is not its address. checks W-PKT-14[4] */
Test(ud, W_PKT_14_only_its_own_address)
{
	struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU});
	struct roce_qp_attr attr;
	struct pair *p = w.p;

	ud_world_start(&w);
	pair_attr(p, 0, 0, &attr);
	attr.path.dgid.raw[15] ^= 0x10;
	roce_ah_set(&w.ah[0][UD_AH % UD_AHS], UD_AH, &attr.path, 0, UD_MTU);
	pair_recv(p, 1, 0, 2, UD_TARGET, 4096);
	ud_send(&w, 0, 1, 8);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect_none(p, 1);
	cr_assert_eq(ud_count(&w, 1)->rx_wrong_address, 1);
	pair_free(p);
}

/* Any flipped bit of what it carries. checks W-ICRC-05[1,2,3] */
Test(ud, W_ICRC_05_a_broken_datagram)
{
	struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU});
	struct pair *p = w.p;
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce_hdr_tmpl tmpl;
	struct roce_qp_attr attr;
	uint32_t hdr, len;
	struct roce_pkt pkt = {.opcode = ROCE_UD_SEND_ONLY,
		.qpn = roce_qp_num(p->side[1].q[0].qp),
		.pkey = ROCE_PKEY_DEFAULT,
		.qkey = UD_Q_KEY,
		.payload_bytes = 8};

	ud_world_start(&w);
	pair_attr(p, 0, 0, &attr);
	pair_recv(p, 1, 0, 2, UD_TARGET, 4096);
	roce_hdr_tmpl_init(&tmpl, &attr.path);
	hdr = roce_wire_build(frame, &tmpl, &pkt, 0);
	memset(frame + hdr, 0x5a, 8);
	len = roce_wire_seal(frame, &tmpl, hdr, 8);
	for (uint32_t bit = 8 * hdr; bit < 8 * len; bit++) {
		frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
		cr_assert_eq(roce_wire_parse(frame, len, &pkt), ROCE_WIRE_OK);
		pair_rx(p, 1, &pkt);
		frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	pair_turn(p, 1);
	cr_assert_eq(ud_count(&w, 1)->rx_icrc_error, 8 * (len - hdr));
	cr_assert_eq(p->sent[1], 0);
	pair_expect_none(p, 1);
	cr_assert_eq(roce_wire_parse(frame, len, &pkt), ROCE_WIRE_OK);
	pair_rx(p, 1, &pkt);
	roce_shard_publish(p->side[1].shard);
	pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* checks W-PKT-02[6]: nor that address in another VLAN. */
Test(ud, W_PKT_02_only_in_the_vlan_of_its_address)
{
	struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU, .vlan = 100});
	struct roce_qp_attr attr;
	struct pair *p = w.p;

	ud_world_start(&w);
	pair_attr(p, 0, 0, &attr);
	pair_recv(p, 1, 0, 2, UD_TARGET, 4096);
	for (uint16_t vlan = 0; vlan < 2; vlan++) {
		attr.path.tagged = vlan != 0;
		attr.path.vlan_tci = vlan;
		roce_ah_set(&w.ah[0][UD_AH % UD_AHS], UD_AH, &attr.path, 0, UD_MTU);
		ud_send(&w, 0, vlan, 8);
		cr_assert(pair_run(p, PAIR_LONG));
		(void)pair_expect(p, 0, vlan, NDSH_WC_SUCCESS);
		pair_expect_none(p, 1);
		cr_assert_eq(ud_count(&w, 1)->rx_wrong_vlan, vlan + 1u);
	}
	attr.path.vlan_tci = 100;
	roce_ah_set(&w.ah[0][UD_AH % UD_AHS], UD_AH, &attr.path, 0, UD_MTU);
	ud_send(&w, 0, 1, 8);
	cr_assert(pair_run(p, PAIR_LONG));
	(void)ud_arrived(&w, 2, 8);
	pair_free(p);
}

enum mistake { NO_HANDLE, OLD_HANDLE, BEYOND_TABLE, TOO_LONG, BAD_KEY, MISTAKES };

static void
make_mistake(struct ud_world *w, enum mistake which)
{
	static const uint32_t tokens[] = {
		UD_AH ^ 1, UD_AH ^ (1u << ROCE_AH_INDEX_BITS), UD_AH | 0x10000};
	uint32_t bytes = which == TOO_LONG ? UD_MTU + 1 : 8;
	struct ndsh_sge sge = pair_sge(w->p, 0, 0, bytes);

	if (which == BAD_KEY)
		sge.key ^= 1;
	pair_post(w->p, 0, 0,
		&(struct ndsh_swr){.context = 100,
			.rkey = which < TOO_LONG ? tokens[which] : UD_AH,
			.raddr = NDSH_UD_RADDR(roce_qp_num(w->p->side[1].q[0].qp), UD_Q_KEY),
			.ctrl = NDSH_CTRL(NDSH_OP_SEND, 1, NDSH_WRF_SILENT, 0)},
		&sge, NULL);
}

/*
 * checks W-ERR-02[1,2,3], W-UD-01[3]: the send side alone stops, in order; receives go on; it
 * can be started again.
 */
Test(ud, W_ERR_02_a_failed_send_stops_the_send_side)
{
	static const uint8_t status[] = {NDSH_WC_LOC_QP_OP_ERR, NDSH_WC_LOC_QP_OP_ERR,
		NDSH_WC_LOC_QP_OP_ERR, NDSH_WC_LOC_LEN_ERR, NDSH_WC_LOC_PROT_ERR};

	for (enum mistake m = 0; m < MISTAKES; m++) {
		struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU});
		struct pair *p = w.p;
		struct roce_qp *qp = p->side[0].q[0].qp;
		struct ndsh_sge sge;

		ud_world_start(&w);
		ud_send(&w, 0, 1, 8);
		make_mistake(&w, m);
		for (uint64_t i = 0; i < 40; i++)
			ud_post(&w, 0, 101 + i, 8, UD_Q_KEY, i % 2 ? NDSH_WRF_SILENT : 0);
		cr_assert(pair_run(p, PAIR_LONG));
		(void)pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
		(void)pair_expect(p, 0, 100, status[m]);
		for (uint64_t i = 0; i < 40; i++)
			(void)pair_expect(p, 0, 101 + i, NDSH_WC_FLUSH_ERR);
		cr_assert_eq(p->sent[0], 1);
		cr_assert_eq(roce_qp_state_get(qp), ROCE_QPS_UD_SQE);
		ud_send(&w, 0, 2, 8);
		cr_assert(pair_run(p, PAIR_LONG));
		(void)pair_expect(p, 0, 2, NDSH_WC_FLUSH_ERR);

		pair_recv(p, 0, 0, 50, 0, 4096); /* it still receives */
		sge = pair_sge(p, 1, 0, 8);
		pair_post(p, 1, 0,
			&(struct ndsh_swr){.context = 51,
				.rkey = UD_AH,
				.raddr = NDSH_UD_RADDR(roce_qp_num(qp), UD_Q_KEY),
				.ctrl = NDSH_CTRL(NDSH_OP_SEND, 1, 0, 0)},
			&sge, NULL);
		cr_assert(pair_run(p, PAIR_LONG));
		(void)pair_expect(p, 0, 50, NDSH_WC_SUCCESS);
		(void)pair_expect(p, 1, 51, NDSH_WC_SUCCESS);

		ud_send(&w, 0, 3, 8); /* posted before the start: flushed with it */
		cr_assert_eq(roce_ud_modify(p->side[0].shard, qp, p->now_ns, UD_Q_KEY),
			ROCE_UD_MODIFIED);
		ud_send(&w, 0, 4, 8);
		cr_assert(pair_run(p, PAIR_LONG));
		(void)pair_expect(p, 0, 3, NDSH_WC_FLUSH_ERR);
		(void)pair_expect(p, 0, 4, NDSH_WC_SUCCESS);
		cr_assert_eq(p->sent[0], 2);
		pair_free(p);
	}
}

/* A receive into memory that is not the client's is the client's mistake, and the end. */
Test(ud, a_bad_receive_ends_the_queue_pair)
{
	struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU});
	struct pair *p = w.p;

	ud_world_start(&w);
	pair_recv(p, 1, 0, 1, PAIR_ARENA - 64, 128);
	pair_recv(p, 1, 0, 2, UD_TARGET, 4096);
	ud_send(&w, 0, 3, 80);
	cr_assert(pair_run(p, PAIR_LONG));
	(void)pair_expect(p, 1, 1, NDSH_WC_LOC_PROT_ERR);
	(void)pair_expect(p, 1, 2, NDSH_WC_FLUSH_ERR);
	pair_expect_dead(p, 1, 0, ROCE_REASON_RECV_PROT);
	ud_send(&w, 0, 4, 8); /* and nothing comes to it any more */
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert_eq(ud_count(&w, 1)->rx_wrong_state, 1);
	pair_free(p);
}

/* Receives of a shared queue, in order; one that is too short stays the next. */
Test(ud, shared_receives)
{
	struct ud_world w = ud_world_new(&(struct pair_opts){.qps = 2, .srq_depth = 8});
	struct pair *p = w.p;

	ud_world_start(&w);
	pair_recv(p, 1, 0, 1, UD_TARGET, UD_GRH + 8);
	pair_recv(p, 1, 0, 2, UD_TARGET, 4096);
	roce_srq_arm(p->side[1].shard, p->side[1].srq, 2);
	ud_send(&w, 0, 10, 9);
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert_eq(ud_count(&w, 1)->rx_datagram_too_long, 1);
	cr_assert_eq(p->side[1].srq_page->taken, 0);
	cr_assert_eq(p->side[1].events, 0);
	ud_send(&w, 1, 11, 8);
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert_eq(ud_arrived(&w, 1, 8).qp, 1);
	cr_assert_eq(p->side[1].last_event.type, ROCE_EV_SRQ_LIMIT);
	ud_send(&w, 0, 12, 9);
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert_eq(ud_arrived(&w, 2, 9).qp, 0);
	cr_assert_eq(p->side[1].srq_page->taken, 2);
	pair_free(p);
}

static unsigned
lose_all(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	(void)p;
	(void)from;
	(void)pkt;
	(void)late_ns;
	return *(bool *)ctx ? 0 : 1;
}

/* A connection that waits has all requests of the pool: sends wait, too, and none is lost. */
Test(ud, a_dry_pool_is_back_pressure)
{
	struct ud_world w = ud_world_new(&(struct pair_opts){.qps = 2, .max_wqes = 16});
	struct pair *p = w.p;
	bool lost = true;

	w.table[0] = (struct roce_ah_table){.slot = w.ah[0], .count = UD_AHS};
	ud_start(&w, 0, 0, UD_Q_KEY);
	p->tap = lose_all;
	p->tap_ctx = &lost;
	for (uint64_t i = 0; i < 20; i++)
		pair_write(p, 0, 1, i, 0, 0, 8, i != 19 ? NDSH_WRF_SILENT : 0);
	(void)pair_run(p, 100000);
	ud_send(&w, 0, 100, 8);
	(void)pair_run(p, 100000);
	pair_expect_none(p, 0);
	cr_assert_gt(ud_count(&w, 0)->wqe_pool_empty, 0);
	lost = false;
	cr_assert(pair_run(p, PAIR_LONG));
	(void)pair_expect(p, 0, 100, NDSH_WC_SUCCESS);
	(void)pair_expect(p, 0, 19, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* What leads a connection on is refused, and changes nothing. */
static void
expect_no_way_but_to_error(struct pair *p, struct roce_qp *qp)
{
	enum roce_qp_state is = roce_qp_state_get(qp);
	const struct roce_qp_attr attr = {0};

	for (enum roce_qp_state to = ROCE_QPS_RESET; to <= ROCE_QPS_UD_SQE; to++) {
		uint32_t mask = to == ROCE_QPS_INIT || to == ROCE_QPS_ERR ? ROCE_QPA_ACCESS : 0;

		cr_assert_eq(roce_qp_modify(p->side[0].shard, qp, p->now_ns, to, mask, &attr),
			to == ROCE_QPS_ERR ? ROCE_MODIFY_FORBIDDEN_ATTR
					   : ROCE_MODIFY_BAD_TRANSITION);
		cr_assert_eq(roce_qp_state_get(qp), is);
	}
}

/*
 * checks W-QP-02[1]: only from RESET, its end is that of any queue pair, and only roce_ud_reset()
 * leads to a life after it.
 */
Test(ud, W_QP_02_life)
{
	struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU});
	struct pair *p = w.p;
	struct roce_shard *s = p->side[0].shard;
	struct roce_qp *qp = p->side[0].q[0].qp;
	struct roce_ud_cfg cfg = {.q_key = UD_Q_KEY, .ahs = &w.table[0]};
	const struct roce_qp_attr attr = {0};

	cr_assert_not(roce_ud_start(s, qp, p->now_ns, &cfg), "it is connected");
	cr_assert_eq(roce_ud_modify(s, qp, p->now_ns, UD_Q_KEY), ROCE_UD_REFUSED);
	cr_assert_eq(roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_RESET, 0, &attr), ROCE_MODIFY_OK);
	cfg.q_key |= ROCE_QKEY_PRIVILEGED;
	cr_assert_not(roce_ud_start(s, qp, p->now_ns, &cfg), "a privileged key");
	ud_world_start(&w);
	cfg.q_key = UD_Q_KEY;
	cr_assert_not(roce_ud_start(s, qp, p->now_ns, &cfg), "a second time");
	expect_no_way_but_to_error(p, qp);
	pair_recv(p, 0, 0, 1, 0, 64);
	ud_send(&w, 0, 2, 8);
	cr_assert_eq(roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_ERR, 0, &attr), ROCE_MODIFY_OK);
	cr_assert(pair_run(p, PAIR_LONG));
	(void)pair_expect(p, 0, 2, NDSH_WC_FLUSH_ERR);
	(void)pair_expect(p, 0, 1, NDSH_WC_FLUSH_ERR);
	cr_assert_eq(roce_ud_modify(s, qp, p->now_ns, UD_Q_KEY), ROCE_UD_REFUSED);
	cr_assert_not(roce_ud_start(s, qp, p->now_ns, &cfg), "it is at its end");
	expect_no_way_but_to_error(p, qp);
	pair_free(p);
}
