/* SPDX-License-Identifier: BSD-3-Clause */
/* A received frame finds its queue pair, or a counter: number, state, addresses, VLAN, ICRC. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/overheard.h"
#include "rigs/scripted_peer.h"
#include "roce/qp/qp.h"
#include "roce/shard/shard.h"

/*
 * checks W-PKT-06[1,2], W-RXE-04: whatever port a packet comes from, also that of another queue
 * pair's flow.
 */
Test(rx, W_PKT_06_the_QPN_alone_finds_the_queue_pair)
{
	static const uint8_t payload[8] = "12345678";
	struct pair *p =
		pair_new(&(struct pair_opts){.qps = 2, .set_psn = true, .sq_psn = {EAR_PSN, 5000}});
	struct roce_qp_attr attr[2];

	for (unsigned i = 0; i < 2; i++)
		pair_attr(p, 0, i, &attr[i]);
	for (unsigned i = 0; i < 8; i++) {
		const uint16_t sport[] = {attr[1].path.udp_sport, attr[0].path.udp_sport, 0, 1,
			4791, 0xc000, 0xffff, 0x8000};
		struct roce_pkt out = ear_request(p, ROCE_SEND_ONLY, EAR_PSN + i, sizeof(payload)),
				in;
		struct roce_path path = attr[0].path;
		uint8_t frame[ROCE_FRAME_MAX];
		uint32_t n;

		path.udp_sport = sport[i];
		n = pair_build(frame, &path, &out, payload);
		pair_recv(p, 1, 0, i, 0, 64);
		pair_recv(p, 1, 1, 100 + i, 0, 64);
		cr_assert_eq(roce_wire_parse(frame, n, &in), ROCE_WIRE_OK);
		pair_rx(p, 1, &in);
		pair_turn(p, 1);
		cr_assert_eq(pair_expect(p, 1, i, NDSH_WC_SUCCESS).qp, 0);
	}
	pair_expect_none(p, 1);
	pair_free(p);
}

/* checks W-ICRC-05[1,2], W-PKT-10[1,4], W-PKT-11[3] */
Test(rx, W_PKT_10_W_PKT_11_W_PKT_14_W_PKT_15_silent_drops)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt pkt = peer_packet(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	struct roce_qp_attr a;

	pkt.qpn ^= 1;
	peer_say(p, &pkt);
	peer_silent(p, &t, 0);
	cr_assert_eq(pair_count(p, 1)->rx_unknown_qpn, 1);

	peer_say_plain(p, ROCE_UD_SEND_ONLY, PEER_PSN, 8);
	peer_silent(p, &t, 0);
	cr_assert_eq(pair_count(p, 1)->rx_wrong_class, 1);

	/* The same packet as another host would send it. */
	pair_attr(p, 0, 0, &a);
	a.path.sgid.raw[15] ^= 0x40;
	{
		uint8_t buf[ROCE_FRAME_MAX] = {0};
		struct roce_hdr_tmpl tmpl;
		struct roce_pkt parsed;
		uint32_t hdr;

		pkt = peer_packet(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
		roce_hdr_tmpl_init(&tmpl, &a.path);
		hdr = roce_wire_build(buf, &tmpl, &pkt, 0);
		cr_assert_eq(roce_wire_parse(buf, roce_wire_seal(buf, &tmpl, hdr, 8), &parsed),
			ROCE_WIRE_OK);
		pair_rx(p, 1, &parsed);
		cr_assert_eq(pair_count(p, 1)->rx_wrong_address, 1);

		/* From the right host, with one bit of the payload flipped. */
		a.path.sgid.raw[15] ^= 0x40;
		roce_hdr_tmpl_init(&tmpl, &a.path);
		hdr = roce_wire_build(buf, &tmpl, &pkt, 0);
		cr_assert_eq(roce_wire_parse(buf, roce_wire_seal(buf, &tmpl, hdr, 8), &parsed),
			ROCE_WIRE_OK);
		buf[hdr + 3] ^= 0x10;
		pair_rx(p, 1, &parsed);
		cr_assert_eq(pair_count(p, 1)->rx_icrc_error, 1);
	}
	roce_qp_modify(p->side[1].shard, p->side[1].q[0].qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	peer_silent(p, &t, 0);
	cr_assert_eq(pair_count(p, 1)->rx_wrong_state, 1);
	pair_free(p);
}

/* Opcodes of other transports are nothing for a connection, a CNP is; reserved ones of RC are its
 * own, and refused (W-PKT-08). checks W-PKT-10[1,3,4] */
Test(rx, W_PKT_10_every_opcode)
{
	for (unsigned op = 0x20; op < 256; op++) {
		struct peer_tape t;
		struct pair *p;
		struct roce_pkt pkt;

		if (!(roce_opcode_info[op].flags & ROCE_OPF_VALID))
			continue;
		p = peer_with(&t, (struct pair_opts){.ecn = true});
		pkt = peer_packet(p, (uint8_t)op, PEER_PSN, op == ROCE_CNP ? 16 : 8);
		pair_recv(p, 1, 0, 1, 0, 64);
		peer_say(p, &pkt);
		peer_silent(p, &t, 0);
		cr_assert_eq(pair_count(p, 1)->rx_wrong_class, op != ROCE_CNP, "%#x", op);
		cr_assert_eq(pair_count(p, 1)->rp_cnp_handled, op == ROCE_CNP);
		pair_expect_none(p, 1);
		peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
		peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN);
		pair_free(p);
	}
}

/* ---- the lower headers ---- */

#define BYTES 8u

/* A write from side 0 to side 1 as its queue pair would send it along path. */
static uint32_t
make_write(const struct pair *p, const struct roce_path *path, uint32_t psn, uint8_t *frame)
{
	const struct roce_pkt pkt = {.opcode = ROCE_WRITE_ONLY,
		.pkey = ROCE_PKEY_DEFAULT,
		.qpn = roce_qp_num(p->side[1].q[0].qp),
		.psn = psn,
		.ackreq = true,
		.payload_bytes = BYTES,
		.va = PAIR_VA,
		.rkey = p->side[1].key,
		.dma_bytes = BYTES};
	struct roce_hdr_tmpl tmpl;
	uint32_t hdr;

	roce_hdr_tmpl_init(&tmpl, path);
	hdr = roce_wire_build(frame, &tmpl, &pkt, 0);
	memset(frame + hdr, 0x5a, BYTES);
	return roce_wire_seal(frame, &tmpl, hdr, BYTES);
}

/* What becomes of it. */
static void
say(struct pair *p, const struct roce_path *path, uint32_t psn)
{
	uint8_t frame[ROCE_FRAME_MAX] = {0};
	struct roce_pkt parsed;

	cr_assert_eq(
		roce_wire_parse(frame, make_write(p, path, psn, frame), &parsed), ROCE_WIRE_OK);
	pair_rx(p, 1, &parsed);
}

/* The same in a VLAN within a VLAN; path has no tag. */
static void
say_nested(struct pair *p, const struct roce_path *path, uint8_t outer, uint8_t inner)
{
	const uint8_t tags[8] = {0x81, 0x00, 0, outer, 0x81, 0x00, 0, inner};
	uint8_t frame[ROCE_FRAME_MAX] = {0};
	uint32_t n = make_write(p, path, 0, frame);
	struct roce_pkt parsed;

	memmove(frame + 20, frame + 12, n - 12);
	memcpy(frame + 12, tags, 8);
	cr_assert_eq(roce_wire_parse(frame, n + 8, &parsed), ROCE_WIRE_OK);
	pair_rx(p, 1, &parsed);
}

static const struct roce_counters *
count(const struct pair *p)
{
	return roce_shard_counters(p->side[1].shard);
}

/*
 * checks W-ICRC-06[1]: marked packets count and are good; what a router writes there changes no
 * ICRC (W-ICRC-06).
 */
static void
congestion(bool v6)
{
	const struct pair_opts o = {.set_psn = true, .v6 = v6};
	struct pair *p = pair_new(&o);
	struct roce_qp_attr a;

	pair_attr(p, 0, 0, &a);
	for (uint8_t ecn = 0; ecn < 4; ecn++) {
		a.path.tos = 26 << 2 | ecn;
		say(p, &a.path, ecn);
	}
	cr_expect_eq(count(p)->rx_ecn_ce, 1, "only 3 is \"congestion experienced\"");
	cr_expect_eq(p->side[1].arena[0], 0x5a);
	cr_expect_eq(count(p)->rx_icrc_error, 0);
	pair_free(p);
}

Test(rx, congestion_marks_are_counted_v4)
{
	congestion(false);
}

Test(rx, congestion_marks_are_counted_v6)
{
	congestion(true);
}

/*
 * checks W-PKT-02[3,4,5,7]: a packet in another VLAN than that of the queue pair's address, or
 * in none, or in two, is dropped and counted; a tag that names no VLAN is none.
 */
Test(rx, w_pkt_02_the_tag_is_that_of_our_address)
{
	const struct pair_opts o = {.set_psn = true, .vlan = 100};
	struct pair *p = pair_new(&o);
	struct roce_qp_attr a;

	pair_attr(p, 0, 0, &a);
	cr_assert(a.path.tagged);
	a.path.vlan_tci = 101;
	say(p, &a.path, 0);
	a.path.vlan_tci = 0;
	say(p, &a.path, 0);
	a.path.tagged = false;
	say(p, &a.path, 0);
	cr_expect_eq(count(p)->rx_wrong_vlan, 3);
	say_nested(p, &a.path, 7, 100);
	say_nested(p, &a.path, 100, 7);
	say_nested(p, &a.path, 100, 100);
	cr_expect_eq(count(p)->rx_wrong_vlan, 6);
	cr_expect_eq(p->side[1].arena[0], 0);
	a.path.tagged = true;
	a.path.vlan_tci = 100 | 5 << 13;
	say(p, &a.path, 0);
	cr_expect_eq(count(p)->rx_wrong_vlan, 6);
	cr_expect_eq(p->side[1].arena[0], 0x5a, "whatever its priority");
	pair_free(p);
}

/* checks W-PKT-02[3,5] */
Test(rx, w_pkt_02_who_has_no_vlan_takes_none)
{
	const struct pair_opts o = {.set_psn = true};
	struct pair *p = pair_new(&o);
	struct roce_qp_attr a;

	pair_attr(p, 0, 0, &a);
	a.path.tagged = true;
	a.path.vlan_tci = 100;
	say(p, &a.path, 0);
	cr_expect_eq(count(p)->rx_wrong_vlan, 1);
	a.path.vlan_tci = 5 << 13;
	say(p, &a.path, 0);
	cr_expect_eq(count(p)->rx_wrong_vlan, 1);
	cr_expect_eq(p->side[1].arena[0], 0x5a, "a priority is no VLAN");
	pair_free(p);
}

/*
 * checks W-PKT-02[8]: requests and answers of every operation have the tag: else none would
 * arrive.
 */
Test(rx, a_connection_in_a_vlan)
{
	const struct pair_opts o = {.vlan = 100};
	struct pair *p = pair_new(&o);

	memset(p->side[0].arena, 0x77, 9000);
	pair_write(p, 0, 0, 1, 0, 0, 9000, 0);
	pair_read(p, 0, 0, 2, 16384, 0, 9000, 0);
	cr_assert(pair_run(p, 1000000000));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	cr_expect_arr_eq(p->side[0].arena + 16384, p->side[1].arena, 9000);
	cr_expect_eq(count(p)->rx_wrong_vlan, 0);
	pair_free(p);
}

/* ---- states ---- */

static void
into(struct pair *p, unsigned side, enum roce_qp_state state)
{
	struct roce_shard *s = p->side[side].shard;
	struct roce_qp *qp = p->side[side].q[0].qp;
	struct roce_qp_attr a;

	pair_attr(p, side, 0, &a);
	if (state == ROCE_QPS_SQD || state == ROCE_QPS_ERR) {
		roce_qp_modify(s, qp, p->now_ns, state, 0, &a);
		return;
	}
	if (state == ROCE_QPS_RTS)
		return;
	roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_RESET, 0, &a);
	if (state >= ROCE_QPS_INIT)
		roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_INIT, ROCE_QPA_ACCESS, &a);
	if (state >= ROCE_QPS_RTR)
		roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_RTR,
			ROCE_QPA_PATH | ROCE_QPA_MTU | ROCE_QPA_DEST_QPN | ROCE_QPA_RQ_PSN |
				ROCE_QPA_MAX_DEST_RD | ROCE_QPA_MIN_RNR,
			&a);
}

/*
 * Requests count from RTR on, responses from RTS on, notifications of congestion as requests; in
 * ERR nothing does. checks W-CC-08, W-PKT-15[5]
 */
Test(rx, W_PKT_15_states_in_which_packets_count)
{
	static const struct {
		uint8_t opcode;
		enum roce_qp_state first;
	} packets[] = {{ROCE_WRITE_ONLY, ROCE_QPS_RTR}, {ROCE_SEND_ONLY, ROCE_QPS_RTR},
		{ROCE_READ_REQUEST, ROCE_QPS_RTR}, {ROCE_ACK, ROCE_QPS_RTS},
		{ROCE_READ_RESP_ONLY, ROCE_QPS_RTS}, {ROCE_ATOMIC_ACK, ROCE_QPS_RTS},
		{ROCE_CNP, ROCE_QPS_RTR}};

	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
		for (int state = ROCE_QPS_RESET; state <= ROCE_QPS_ERR; state++) {
			bool counts = state >= (int)packets[i].first && state != ROCE_QPS_ERR;
			struct peer_tape t;
			struct pair *p = peer_new(&t);
			struct roce_pkt pkt = peer_packet(p, packets[i].opcode, PEER_PSN, 0);

			into(p, 1, (enum roce_qp_state)state);
			cr_assert_eq(
				roce_qp_state_get(p->side[1].q[0].qp), (enum roce_qp_state)state);
			peer_say(p, &pkt);
			pair_turn(p, 1);
			cr_assert_eq(pair_count(p, 1)->rx_wrong_state, !counts, "%x in state %d",
				packets[i].opcode, state);
			cr_assert_eq(pair_count(p, 1)->rx_wrong_class, 0);
			if (!counts)
				cr_assert_eq(t.n, 0);
			pair_free(p);
		}
}

/* ---- addresses ---- */

static uint64_t
wrong_addresses(const struct pair *p)
{
	return pair_count(p, 1)->rx_wrong_address;
}

/*
 * Each bit of both addresses counts, in both families; a frame of the other family as well.
 * checks W-PKT-14[1,2]
 */
static void
each_bit_of_the_addresses(bool v6)
{
	const struct pair_opts o = {.set_psn = true, .v6 = v6};
	struct pair *p = pair_new(&o);
	struct roce_qp_attr good, a;
	unsigned said = 0;

	pair_attr(p, 0, 0, &good);
	for (unsigned bit = v6 ? 0 : 96; bit < 128; bit++)
		for (unsigned of = 0; of < 2; of++) {
			a = good;
			(of ? &a.path.sgid : &a.path.dgid)->raw[bit / 8] ^=
				(uint8_t)(1u << bit % 8);
			say(p, &a.path, 0);
			cr_assert_eq(wrong_addresses(p), ++said, "bit %u", bit);
		}
	a = good;
	a.path.sgid = good.path.dgid;
	a.path.dgid = good.path.sgid;
	say(p, &a.path, 0);
	cr_assert_eq(wrong_addresses(p), ++said, "our own packet that came back");
	a.path.dgid = a.path.sgid;
	say(p, &a.path, 0);
	cr_assert_eq(wrong_addresses(p), ++said);
	cr_assert_eq(p->side[1].arena[0], 0);
	say(p, &good.path, 0);
	cr_assert_eq(wrong_addresses(p), said);
	cr_assert_eq(p->side[1].arena[0], 0x5a);
	pair_free(p);
}

Test(rx, W_PKT_14_each_bit_of_the_addresses_v4)
{
	each_bit_of_the_addresses(false);
}

Test(rx, W_PKT_14_each_bit_of_the_addresses_v6)
{
	each_bit_of_the_addresses(true);
}

Test(rx, W_PKT_14_of_the_other_family)
{
	for (unsigned v6 = 0; v6 < 2; v6++) {
		struct pair *p = pair_new(&(struct pair_opts){.set_psn = true, .v6 = v6});
		struct pair *other = pair_new(&(struct pair_opts){.set_psn = true, .v6 = !v6});
		struct roce_qp_attr a;

		pair_attr(other, 0, 0, &a);
		say(p, &a.path, 0);
		cr_assert_eq(wrong_addresses(p), 1);
		pair_free(other);
		pair_free(p);
	}
}

/* ---- numbers ---- */

/*
 * Numbers that no queue pair has: 0, those of indices beyond the table, those of the dead.
 * checks W-PKT-11[3]
 */
Test(rx, W_PKT_11_numbers_of_nobody)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt pkt = peer_packet(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	uint32_t live = pkt.qpn;

	for (uint32_t qpn = 0; qpn < 1u << 24; qpn += 0x10001) {
		if (qpn == live)
			continue;
		pkt.qpn = qpn;
		pair_rx(p, 1, &pkt);
	}
	for (unsigned bit = 0; bit < 24; bit++) {
		pkt.qpn = live ^ 1u << bit;
		pair_rx(p, 1, &pkt);
	}
	cr_assert_eq(pair_count(p, 1)->rx_unknown_qpn, pair_count(p, 1)->rx_packets);
	roce_qp_modify(p->side[1].shard, p->side[1].q[0].qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	peer_silent(p, &t, 0);
	cr_assert_eq(pair_count(p, 1)->rx_wrong_state, 1, "it is there, and dead");
	pair_free(p);
}

/*
 * A wrong one is counted, whatever else the packet is; any bit of payload and headers counts.
 * checks W-ICRC-05[1,2,3]
 */
Test(rx, W_ICRC_05_any_flipped_bit_is_dropped)
{
	struct pair *p = pair_new(&(struct pair_opts){.set_psn = true});
	struct roce_pkt pkt = ear_request(p, ROCE_WRITE_ONLY, 0, BYTES), in;
	uint8_t frame[ROCE_FRAME_MAX] = {0}, bent[ROCE_FRAME_MAX];
	struct roce_hdr_tmpl tmpl;
	struct roce_qp_attr a;
	uint32_t hdr, len;

	pair_attr(p, 0, 0, &a);
	roce_hdr_tmpl_init(&tmpl, &a.path);
	hdr = roce_wire_build(frame, &tmpl, &pkt, 0);
	len = roce_wire_seal(frame, &tmpl, hdr, BYTES);
	for (uint32_t bit = 8 * (hdr - 16); bit < 8 * len; bit++) { /* RETH, payload, ICRC */
		uint64_t before = pair_count(p, 1)->rx_icrc_error;

		memcpy(bent, frame, len);
		bent[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (roce_wire_parse(bent, len, &in) != ROCE_WIRE_OK)
			continue;
		pair_rx(p, 1, &in);
		cr_assert_eq(pair_count(p, 1)->rx_icrc_error, before + 1, "bit %u", bit);
	}
	pair_turn(p, 1);
	cr_assert_eq(p->sent[1], 0, "not a word");
	cr_assert_eq(p->side[1].arena[0], 0);
	cr_assert_eq(roce_qp_state_get(p->side[1].q[0].qp), ROCE_QPS_RTS);
	pair_free(p);
}

/* Places without a queue pair have 0 in place of its number: nothing can be sent to 0, wherever
 * that leads. checks W-PKT-11[2] */
Test(rx, W_PKT_11_number_0_is_none)
{
	struct pair *p = pair_new(&(struct pair_opts){.set_psn = true});
	struct roce_shard *s = p->side[1].shard;
	uint8_t frame[ROCE_FRAME_MAX] = {0};
	struct roce_qp_attr a;
	struct roce_pkt pkt;

	pair_attr(p, 0, 0, &a);
	cr_assert_eq(roce_wire_parse(frame, make_write(p, &a.path, 0, frame), &pkt), ROCE_WIRE_OK);
	pkt.qpn = 0;
	for (uint32_t i = 0; i < s->cfg.max_qps; i++)
		roce_shard_rx(s, p->now_ns, &pkt, &s->qps[i]);
	cr_assert_eq(count(p)->rx_unknown_qpn, s->cfg.max_qps);
	cr_assert_eq(count(p)->rx_wrong_state, 0);
	cr_assert_eq(p->side[1].arena[0], 0);
	pair_free(p);
}
