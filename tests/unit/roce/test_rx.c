/* SPDX-License-Identifier: BSD-3-Clause */
/* A received frame finds its queue pair, or a counter: number, state, addresses, VLAN, ICRC. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/overheard.h"
#include "rigs/scripted_peer.h"

/* Whatever port a packet comes from, also that of another queue pair's flow. */
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
		struct roce_hdr_tmpl tmpl;
		uint32_t hdr;

		path.udp_sport = sport[i];
		roce_hdr_tmpl_init(&tmpl, &path);
		hdr = roce_wire_build(frame, &tmpl, &out, 0);
		memcpy(frame + hdr, payload, sizeof(payload));
		hdr = roce_wire_seal(frame, &tmpl, hdr, sizeof(payload));
		pair_recv(p, 1, 0, i, 0, 64);
		pair_recv(p, 1, 1, 100 + i, 0, 64);
		cr_assert_eq(roce_wire_parse(frame, hdr, &in), ROCE_WIRE_OK);
		pair_rx(p, 1, &in);
		pair_turn(p, 1);
		cr_assert_eq(pair_expect(p, 1, i, NDSH_WC_SUCCESS).qp, 0);
	}
	pair_expect_none(p, 1);
	pair_free(p);
}

/* checks W-ICRC-05 */
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

/* ---- the lower headers ---- */

#define BYTES 8u

/* A write from side 0 to side 1 as its queue pair would send it along path; what becomes of it. */
static void
say(struct pair *p, const struct roce_path *path, uint32_t psn)
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
	uint8_t frame[ROCE_FRAME_MAX] = {0};
	struct roce_hdr_tmpl tmpl;
	struct roce_pkt parsed;
	uint32_t hdr;

	roce_hdr_tmpl_init(&tmpl, path);
	hdr = roce_wire_build(frame, &tmpl, &pkt, 0);
	memset(frame + hdr, 0x5a, BYTES);
	cr_assert_eq(roce_wire_parse(frame, roce_wire_seal(frame, &tmpl, hdr, BYTES), &parsed),
		ROCE_WIRE_OK);
	pair_rx(p, 1, &parsed);
}

static const struct roce_counters *
count(const struct pair *p)
{
	return roce_shard_counters(p->side[1].shard);
}

/* Marked packets count and are good; what a router writes there changes no ICRC (W-ICRC-06). */
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
 * checks W-PKT-02: a packet in another VLAN than that of the queue pair's address, or in none, or
 * in two, is dropped and counted; a tag that names no VLAN is none.
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
	cr_expect_eq(p->side[1].arena[0], 0);
	a.path.tagged = true;
	a.path.vlan_tci = 100 | 5 << 13;
	say(p, &a.path, 0);
	cr_expect_eq(count(p)->rx_wrong_vlan, 3);
	cr_expect_eq(p->side[1].arena[0], 0x5a, "whatever its priority");
	pair_free(p);
}

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

/* Requests and answers of every operation have the tag: else none would arrive. */
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
