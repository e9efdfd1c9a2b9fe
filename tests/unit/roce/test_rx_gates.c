/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a received packet must be to have an effect, and that it has it then: the state of its queue
 * pair, its addresses, and not its MACs.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/scripted_peer.h"
#include "roce/qp/qp.h"
#include "roce/shard/shard.h"

/* Side 1 gets pkt along path. */
static void
say_along(struct pair *p, const struct roce_path *path, const struct roce_pkt *pkt)
{
	uint8_t frame[ROCE_FRAME_MAX] = {0};
	struct roce_hdr_tmpl tmpl;
	struct roce_pkt parsed;
	uint32_t hdr;

	roce_hdr_tmpl_init(&tmpl, path);
	hdr = roce_wire_build(frame, &tmpl, pkt, 0);
	memset(frame + hdr, 0xa5, pkt->payload_bytes);
	cr_assert_eq(roce_wire_parse(
			     frame, roce_wire_seal(frame, &tmpl, hdr, pkt->payload_bytes), &parsed),
		ROCE_WIRE_OK);
	pair_rx(p, 1, &parsed);
}

/* ---- states ---- */

/* Everything of a queue pair in RTS but its state, so that nothing else is in the way. */
static void
enter(struct pair *p, enum roce_qp_state state)
{
	struct roce_qp *qp = p->side[1].q[0].qp;

	if (state == ROCE_QPS_SQD || state == ROCE_QPS_ERR)
		cr_assert_eq(roce_qp_modify(p->side[1].shard, qp, p->now_ns, state, 0, NULL),
			ROCE_MODIFY_OK);
	qp->state = (uint8_t)state;
}

static bool
takes_requests(enum roce_qp_state s)
{
	return s == ROCE_QPS_RTR || s == ROCE_QPS_RTS || s == ROCE_QPS_SQD;
}

/* A state in which the rig can tear it down. */
static void
leave(struct pair *p, enum roce_qp_state state)
{
	p->side[1].q[0].qp->state = (uint8_t)(state == ROCE_QPS_ERR ? state : ROCE_QPS_RTS);
	pair_free(p);
}

/* Executed and acknowledged, or as if it had not come. checks W-PKT-15[1,3,5] */
Test(rx_gates, W_PKT_15_requests)
{
	for (int s = ROCE_QPS_RESET; s <= ROCE_QPS_ERR; s++)
		for (unsigned i = 0; i < 3; i++) {
			const enum roce_qp_state state = (enum roce_qp_state)s;
			const bool counts = takes_requests(state);
			struct peer_tape t;
			struct pair *p = peer_new(&t);
			struct roce_qp *qp = p->side[1].q[0].qp;
			struct roce_pkt read = peer_read_request(p, PEER_PSN, 0, 8);

			if (state != ROCE_QPS_ERR)
				pair_recv(p, 1, 0, 1, 4096, 64);
			enter(p, state);
			if (i == 0)
				peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
			else if (i == 1)
				peer_say_plain(p, ROCE_SEND_ONLY, PEER_PSN, 8);
			else
				peer_say(p, &read);
			pair_turn(p, 1);
			cr_assert_eq(qp->recv_psn, PEER_PSN + counts, "state %d", s);
			cr_assert_eq(qp->msn, counts);
			cr_assert_eq(t.n, counts, "state %d: %u answers", s, t.n);
			cr_assert_eq(p->side[1].arena[0], i == 0 && counts ? 0xa5 : 0);
			cr_assert_eq(p->side[1].arena[4096], i == 1 && counts ? 0xa5 : 0);
			if (i == 1 && counts)
				pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
			pair_expect_none(p, 1);
			cr_assert_eq(pair_count(p, 1)->rx_wrong_state, !counts);
			leave(p, state);
		}
}

/* A request of side 1 waits for its response, which comes. checks W-PKT-15[2,3] */
Test(rx_gates, W_PKT_15_responses)
{
	for (int s = ROCE_QPS_RESET; s <= ROCE_QPS_ERR; s++) {
		const enum roce_qp_state state = (enum roce_qp_state)s;
		const bool counts = state == ROCE_QPS_RTS || state == ROCE_QPS_SQD;
		struct peer_tape t;
		struct pair *p = peer_new(&t);
		struct roce_qp *qp = p->side[1].q[0].qp;
		struct roce_pkt ack = peer_packet(p, ROCE_ACK, 500, 0);
		struct roce_qp_attr a;

		pair_write(p, 1, 0, 7, 0, 0, 8, 0);
		pair_turn(p, 1);
		cr_assert_eq(t.n, 1);
		cr_assert_eq(t.said[0].psn, 500);
		enter(p, state);
		ack.syndrome = ROCE_SYN_ACK;
		ack.ackreq = false;
		pair_attr(p, 0, 0, &a);
		say_along(p, &a.path, &ack);
		cr_assert_eq(qp->una_psn, 500u + counts, "state %d", s);
		cr_assert_eq(pair_count(p, 1)->rx_wrong_state, !counts);
		roce_shard_publish(p->side[1].shard);
		if (counts)
			pair_expect(p, 1, 7, NDSH_WC_SUCCESS);
		if (state != ROCE_QPS_ERR)
			pair_expect_none(p, 1);
		leave(p, state);
	}
}

/* From RTR on a CNP counts. checks W-PKT-15[4] */
Test(rx_gates, W_PKT_15_congestion_notifications)
{
	for (int s = ROCE_QPS_RESET; s <= ROCE_QPS_ERR; s++) {
		struct peer_tape t;
		struct pair *p = peer_with(&t, (struct pair_opts){.ecn = true});
		struct roce_pkt cnp = peer_packet(p, ROCE_CNP, 0, 16);
		struct roce_qp_attr a;

		cnp.becn = true;
		pair_attr(p, 0, 0, &a);
		enter(p, (enum roce_qp_state)s);
		say_along(p, &a.path, &cnp);
		cr_assert_eq(pair_count(p, 1)->rp_cnp_handled,
			takes_requests((enum roce_qp_state)s), "state %d", s);
		cr_assert_eq(
			pair_count(p, 1)->rx_wrong_state, !takes_requests((enum roce_qp_state)s));
		leave(p, (enum roce_qp_state)s);
	}
}

/* ---- addresses ---- */

/* A request, a response and a CNP, each of which would have an effect. */
static void
no_effect(struct pair *p, const struct roce_path *path, uint64_t dropped)
{
	struct roce_pkt pkt[3] = {peer_packet(p, ROCE_WRITE_ONLY, PEER_PSN, 8),
		peer_packet(p, ROCE_ACK, 500, 0), peer_packet(p, ROCE_CNP, 0, 16)};

	pkt[1].syndrome = ROCE_SYN_ACK;
	pkt[2].becn = true;
	for (unsigned i = 0; i < 3; i++) {
		say_along(p, path, &pkt[i]);
		cr_assert_eq(pair_count(p, 1)->rx_wrong_address, dropped + i + 1);
	}
	cr_assert_eq(p->side[1].q[0].qp->recv_psn, PEER_PSN);
	cr_assert_eq(p->side[1].q[0].qp->una_psn, 500);
	cr_assert_eq(pair_count(p, 1)->rp_cnp_handled, 0);
	cr_assert_eq(p->side[1].arena[0], 0);
}

/* Each bit of the source, and each bit of the destination, of every kind of packet.
 * checks W-PKT-14[1,2,3], W-CC-08 */
Test(rx_gates, W_PKT_14_requests_responses_and_notifications)
{
	for (unsigned v6 = 0; v6 < 2; v6++) {
		struct peer_tape t;
		struct pair *p = peer_with(&t, (struct pair_opts){.v6 = v6, .ecn = true});
		struct roce_qp_attr good, a;
		uint64_t dropped = 0;

		pair_write(p, 1, 0, 7, 0, 0, 8, 0);
		pair_turn(p, 1);
		pair_attr(p, 0, 0, &good);
		for (unsigned bit = v6 ? 0 : 96; bit < 128; bit++)
			for (unsigned of = 0; of < 2; of++, dropped += 3) {
				a = good;
				(of ? &a.path.sgid : &a.path.dgid)->raw[bit / 8] ^=
					(uint8_t)(1u << bit % 8);
				no_effect(p, &a.path, dropped);
			}
		peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
		peer_heard(p, &t, 2, ROCE_SYN_ACK, PEER_PSN);
		pair_free(p);
	}
}

/* ---- MACs ---- */

/* Whatever both MACs are, a packet from the peer's address is the peer's; what goes back has those
 * of the path. checks W-PKT-01[4,5] */
Test(rx_gates, W_PKT_01_a_peer_is_known_by_its_address_alone)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct roce_qp *qp = p->side[1].q[0].qp;
	uint8_t macs[12];
	struct roce_qp_attr a;
	uint32_t psn = PEER_PSN;

	memcpy(macs, qp->tmpl.bytes, sizeof(macs));
	pair_attr(p, 0, 0, &a);
	for (unsigned bit = 0; bit < 96; bit++) {
		struct roce_pkt w = peer_packet(p, ROCE_WRITE_ONLY, psn, 8);
		struct roce_path path = a.path;
		uint8_t *mac = bit < 48 ? path.smac : path.dmac;

		mac[bit % 48 / 8] ^= (uint8_t)(1u << bit % 8);
		t.n = 0;
		say_along(p, &path, &w);
		peer_heard(p, &t, 1, ROCE_SYN_ACK, psn++);
		cr_assert_arr_eq(
			qp->tmpl.bytes, macs, sizeof(macs), "it is learned from no packet");
	}
	pair_free(p);
}

/* ---- other families ---- */

static void
gid_at(struct roce_gid *gid, const uint8_t *at)
{
	memcpy(gid->raw, at, sizeof(gid->raw));
}

/*
 * The bytes of the right addresses, or of whatever else stands in a packet of the queue pair where
 * the other family has its addresses, are no addresses of it. checks W-PKT-14[1,2]
 */
Test(rx_gates, W_PKT_14_the_same_bytes_in_the_other_family)
{
	for (unsigned v6 = 0; v6 < 2; v6++) {
		struct peer_tape t;
		struct pair *p = peer_with(&t, (struct pair_opts){.v6 = v6, .ecn = true});
		const struct roce_hdr_tmpl *tmpl = &p->side[1].q[0].qp->tmpl;
		const uint8_t *ip = tmpl->bytes + tmpl->l3_off;
		struct roce_qp_attr a;

		pair_write(p, 1, 0, 7, 0, 0, 8, 0);
		pair_turn(p, 1);
		pair_attr(p, 0, 0, &a);
		if (v6) {
			roce_gid_from_v4(&a.path.sgid, ip + 16);
			roce_gid_from_v4(&a.path.dgid, ip + 12);
		} else {
			gid_at(&a.path.sgid, ip + 24);
			gid_at(&a.path.dgid, ip + 8);
		}
		no_effect(p, &a.path, 0);
		pair_free(p);
	}
}

/* ---- places and counters ---- */

/* Whatever place a number leads to, it is one in the table. checks W-PKT-11[3] */
Test(rx_gates, W_PKT_11_places_beyond_the_table)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct roce_shard *s = p->side[1].shard;
	struct roce_pkt pkt = peer_packet(p, ROCE_WRITE_ONLY, PEER_PSN, 8);

	for (uint32_t at = 0; at < 2 * s->cfg.max_qps; at++) {
		const struct roce_qp *qp = roce_shard_rx_seek(s, at, &pkt);

		cr_assert(qp >= s->qps && qp < s->qps + s->cfg.max_qps, "place %u", at);
	}
	pair_free(p);
}

/* The payload of all that came, also of what is dropped. */
Test(rx_gates, bytes_are_counted)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt pkt = peer_packet(p, ROCE_WRITE_ONLY, PEER_PSN, 1000);
	struct roce_qp_attr a;

	pair_attr(p, 0, 0, &a);
	say_along(p, &a.path, &pkt);
	cr_assert_eq(pair_count(p, 1)->rx_bytes, 1000);
	pkt.qpn ^= 1;
	say_along(p, &a.path, &pkt);
	cr_assert_eq(pair_count(p, 1)->rx_unknown_qpn, 1);
	cr_assert_eq(pair_count(p, 1)->rx_bytes, 2000);
	pair_free(p);
}
