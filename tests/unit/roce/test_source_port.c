/* SPDX-License-Identifier: BSD-3-Clause */
/* W-PKT-06: the UDP source port of a peer is learned, and packets from another one are nothing. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/faults.h"
#include "rigs/scripted_peer.h"
#include "roce/qp/qp.h"
#include "roce/shard/shard.h"

#define PEER	 0xc001u /* the peer's port, */
#define STRANGER 0xc002u /* ... and that of a sender with its address */
#define OURS	 500u	 /* PSN of side 1's first request */

static struct pair *
checked(struct peer_tape *t, struct pair_opts o)
{
	o.sports = true;
	return peer_with(t, o);
}

static const struct roce_counters *
count(const struct pair *p)
{
	return pair_count(p, 1);
}

/* Side 1 gets pkt along path, from that port. */
static void
along(struct pair *p, const struct roce_path *path, uint16_t sport, const struct roce_pkt *pkt,
	bool damaged)
{
	static const uint8_t payload[ROCE_MTU_MAX] = {0xa5, 0x5a};
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce_path from = *path;
	struct roce_pkt parsed;
	uint32_t n;

	from.udp_sport = sport;
	n = pair_build(frame, &from, pkt, payload);
	frame[n - 1] ^= damaged;
	cr_assert_eq(roce_wire_parse(frame, n, &parsed), ROCE_WIRE_OK);
	pair_rx(p, 1, &parsed);
}

static void
from_port(struct pair *p, uint16_t sport, const struct roce_pkt *pkt)
{
	struct roce_qp_attr a;

	pair_attr(p, 0, 0, &a);
	along(p, &a.path, sport, pkt, false);
}

static void
write_from(struct pair *p, uint16_t sport, uint32_t psn)
{
	const struct roce_pkt pkt = peer_packet(p, ROCE_WRITE_ONLY, psn, 8);

	from_port(p, sport, &pkt);
}

static void
ack_from(struct pair *p, uint16_t sport, uint32_t psn)
{
	struct roce_pkt pkt = peer_packet(p, ROCE_ACK, psn, 0);

	pkt.syndrome = ROCE_SYN_ACK;
	from_port(p, sport, &pkt);
}

/* Both ports are the peer's: side 1 has got one request, and the answer to its own first one. */
static struct pair *
learned(struct peer_tape *t, struct pair_opts o)
{
	struct pair *p = checked(t, o);

	pair_write(p, 1, 0, 1, 0, 0, 8, 0);
	pair_turn(p, 1);
	write_from(p, PEER, PEER_PSN);
	ack_from(p, PEER, OURS);
	pair_turn(p, 1);
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	t->n = 0;
	cr_assert_eq(count(p)->rx_wrong_source_port, 0);
	return p;
}

/* checks W-PKT-06[3,5] */
Test(source_port, W_PKT_06_that_of_the_first_request)
{
	for (unsigned v6 = 0; v6 < 2; v6++)
		for (uint16_t vlan = 0; vlan < 200; vlan += 100) {
			struct peer_tape t;
			struct pair *p = checked(&t, (struct pair_opts){.v6 = v6, .vlan = vlan});

			write_from(p, PEER, PEER_PSN);
			peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN);
			memset(p->side[1].arena, 0, 8);
			write_from(p, STRANGER, PEER_PSN + 1);
			peer_silent(p, &t, 1);
			cr_assert_eq(p->side[1].arena[0], 0);
			cr_assert_eq(count(p)->rx_wrong_source_port, 1);
			write_from(p, PEER, PEER_PSN + 1);
			peer_heard(p, &t, 2, ROCE_SYN_ACK, PEER_PSN + 1);
			cr_assert_eq(p->side[1].arena[0], 0xa5);
			cr_assert_eq(count(p)->rx_wrong_source_port, 1);
			pair_free(p);
		}
}

/* A peer may answer from another port than it asks from. checks W-PKT-06[4,5] */
Test(source_port, W_PKT_06_that_of_the_first_response)
{
	struct peer_tape t;
	struct pair *p = checked(&t, (struct pair_opts){0});

	write_from(p, PEER, PEER_PSN);
	for (unsigned i = 0; i < 2; i++)
		pair_write(p, 1, 0, i, 0, 0, 8, 0);
	pair_turn(p, 1);
	ack_from(p, PEER + 1, OURS);
	pair_turn(p, 1);
	pair_expect(p, 1, 0, NDSH_WC_SUCCESS);
	ack_from(p, PEER, OURS + 1);
	ack_from(p, STRANGER + 1, OURS + 1);
	pair_turn(p, 1);
	pair_expect_none(p, 1);
	cr_expect_eq(count(p)->rx_wrong_source_port, 2);
	write_from(p, PEER + 1, PEER_PSN + 1);
	cr_expect_eq(count(p)->rx_wrong_source_port, 3);
	ack_from(p, PEER + 1, OURS + 1);
	pair_turn(p, 1);
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* Whatever is said from another port leaves no trace in the queue pair, and gets no answer: each
 * opcode of a connection, whatever its PSN. checks W-PKT-06[5] */
Test(source_port, W_PKT_06_nothing_changes)
{
	const uint32_t answers[] = {OURS, OURS + 1, OURS + 2, OURS + 3};
	const uint32_t requests[] = {PEER_PSN - 1, PEER_PSN, PEER_PSN + 1, PEER_PSN + 2};
	static const uint8_t syndromes[] = {ROCE_SYN_ACK, ROCE_SYN_RNR | 1, ROCE_SYN_NAK_SEQ,
		ROCE_SYN_NAK_INV_REQ, ROCE_SYN_NAK_REM_ACCESS};
	struct peer_tape t;
	struct pair *p = learned(&t, (struct pair_opts){.ecn = true});
	struct roce_qp *qp = p->side[1].q[0].qp, before;
	uint64_t said = 0;

	pair_recv(p, 1, 0, 2, 0, 64);
	pair_write(p, 1, 0, 3, 0, 0, 8, 0);
	pair_read(p, 1, 0, 4, 0, 0, 8, 0);
	pair_turn(p, 1);
	t.n = 0;
	before = *qp;
	for (unsigned op = 0; op < 0x20; op++)
		for (unsigned i = 0; i < 4 * sizeof(syndromes); i++) {
			uint32_t flags = roce_opcode_info[op].flags;
			struct roce_pkt pkt = peer_packet(p, (uint8_t)op,
				flags & ROCE_OPF_REQUEST ? requests[i % 4] : answers[i % 4],
				flags & ROCE_OPF_PAYLOAD ? 8 : 0);

			if (!(flags & (ROCE_OPF_REQUEST | ROCE_OPF_RESPONSE)))
				continue;
			pkt.syndrome = syndromes[i / 4];
			pkt.becn = true;
			from_port(p, STRANGER, &pkt);
			cr_assert_eq(count(p)->rx_wrong_source_port, ++said, "%x", op);
			cr_assert_eq(memcmp(qp, &before, sizeof(before)), 0, "%x", op);
		}
	cr_assert_gt(said, 300);
	peer_silent(p, &t, 0);
	pair_expect_none(p, 1);
	cr_expect_eq(count(p)->rp_cnp_handled, 0);
	pair_free(p);
}

/* What a router marked is no word of the peer's either. checks W-PKT-06[5] */
Test(source_port, W_PKT_06_marks_of_strangers_are_not_reported)
{
	struct peer_tape t;
	struct pair *p = learned(&t, (struct pair_opts){0});
	const struct roce_pkt pkt = peer_packet(p, ROCE_WRITE_ONLY, PEER_PSN + 1, 8);
	struct roce_qp_attr a;

	pair_attr(p, 0, 0, &a);
	a.path.tos = ROCE_TOS_ECN;
	along(p, &a.path, STRANGER, &pkt, false);
	peer_silent(p, &t, 0);
	cr_expect_eq(count(p)->np_ecn_marked, 0);
	along(p, &a.path, PEER, &pkt, false);
	peer_silent(p, &t, 2); /* CNP, ACK */
	cr_expect_eq(count(p)->np_ecn_marked, 1);
	pair_free(p);
}

/* ---- what nothing is learned from ---- */

enum lure {
	LURE_DUPLICATE,
	LURE_GAP,
	LURE_ICRC,
	LURE_ADDRESS,
	LURE_VLAN,
	LURE_CNP,
	LURE_PORT_0,
	LURE_GHOST,
	LURES,
};

/* A stranger that does not know what side 1 waits for says something. */
static void
lure(struct pair *p, enum lure what)
{
	struct roce_pkt pkt = peer_packet(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	uint16_t sport = what == LURE_PORT_0 ? 0 : STRANGER;
	struct roce_qp_attr a;

	pair_attr(p, 0, 0, &a);
	if (what == LURE_DUPLICATE)
		pkt.psn--;
	if (what == LURE_GAP || what == LURE_PORT_0)
		pkt.psn++;
	if (what == LURE_ADDRESS)
		a.path.sgid.raw[15] ^= 4;
	a.path.tagged = what == LURE_VLAN;
	a.path.vlan_tci = 7;
	if (what == LURE_CNP)
		pkt = peer_packet(p, ROCE_CNP, 0, 16);
	if (what == LURE_GHOST)
		pkt = peer_packet(p, ROCE_ACK, OURS + 2, 0);
	along(p, &a.path, sport, &pkt, what == LURE_ICRC);
}

/* checks W-PKT-06[3,4,6] */
Test(source_port, W_PKT_06_learned_from_what_is_awaited_alone)
{
	for (enum lure what = 0; what < LURES; what++) {
		struct peer_tape t;
		struct pair *p = checked(&t, (struct pair_opts){.ecn = true});

		for (unsigned i = 0; i < 2; i++)
			pair_write(p, 1, 0, i, 0, 0, 8, 0);
		pair_turn(p, 1);
		lure(p, what);
		write_from(p, PEER, PEER_PSN);
		ack_from(p, PEER, OURS + 1);
		pair_turn(p, 1);
		pair_expect(p, 1, 0, NDSH_WC_SUCCESS);
		pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
		cr_assert_eq(p->side[1].arena[0], 0xa5, "%d", what);
		cr_assert_eq(count(p)->rx_wrong_source_port, 0, "%d", what);
		pair_free(p);
	}
}

/* An awaited packet from port 0 is taken, and says nothing of the next one. checks W-PKT-06[6] */
Test(source_port, W_PKT_06_port_0_is_none)
{
	struct peer_tape t;
	struct pair *p = checked(&t, (struct pair_opts){0});

	write_from(p, 0, PEER_PSN);
	write_from(p, 0, PEER_PSN + 1);
	write_from(p, PEER, PEER_PSN + 2);
	peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN + 2);
	write_from(p, 0, PEER_PSN + 3);
	peer_silent(p, &t, 1);
	cr_expect_eq(count(p)->rx_wrong_source_port, 1);
	pair_free(p);
}

static void
wait_for_probe(struct pair *p)
{
	struct roce_qp *qp = p->side[1].q[0].qp;

	for (unsigned turn = 0; turn < 10 && qp->wq_head == NULL; turn++) {
		p->now_ns += UINT64_C(100000000);
		pair_turn(p, 1);
	}
	cr_assert(qp->wq_head != NULL && qp->wq_head->bits & ROCE_WQB_PROBE);
}

/* The answer to a probe may have any PSN, so it must not name a port; but once there is one, it has
 * to come from there. checks W-PKT-06[4,5] */
Test(source_port, W_PKT_06_answers_to_a_probe)
{
	struct peer_tape t;
	struct pair *p = checked(&t, (struct pair_opts){0});
	struct roce_qp *qp = p->side[1].q[0].qp;
	const struct roce_qp_attr a = {.keepalive_ms = 100};

	cr_assert_eq(roce_qp_modify(
			     p->side[1].shard, qp, p->now_ns, ROCE_QPS_RTS, ROCE_QPA_KEEPALIVE, &a),
		ROCE_MODIFY_OK);
	for (unsigned i = 0; i < 3; i++) {
		const uint16_t sport[] = {STRANGER, PEER, STRANGER};

		if (i == 2) { /* something that is awaited comes first */
			pair_write(p, 1, 0, 1, 0, 0, 8, 0);
			pair_turn(p, 1);
			ack_from(p, PEER, qp->una_psn);
		}
		wait_for_probe(p);
		ack_from(p, sport[i], OURS + 1000);
		cr_assert_eq(qp->wq_head == NULL, i < 2, "%u", i);
	}
	cr_expect_eq(count(p)->rx_wrong_source_port, 1);
	pair_free(p);
}

/* ---- what is not checked, and when it is forgotten ---- */

/* Those of ConnectX come from port 0, whatever its queue pair has. checks W-PKT-06[8] */
Test(source_port, W_PKT_06_notifications_of_congestion_come_from_any)
{
	struct peer_tape t;
	struct pair *p = learned(&t, (struct pair_opts){.ecn = true});
	const struct roce_pkt cnp = peer_packet(p, ROCE_CNP, 0, 16);

	from_port(p, 0, &cnp);
	cr_expect_eq(count(p)->rp_cnp_handled, 1);
	cr_expect_eq(count(p)->rx_wrong_source_port, 0);
	pair_free(p);
}

static void
modify(struct pair *p, enum roce_qp_state to, uint32_t mask, const struct roce_qp_attr *a)
{
	cr_assert_eq(roce_qp_modify(p->side[1].shard, p->side[1].q[0].qp, p->now_ns, to, mask, a),
		ROCE_MODIFY_OK);
}

/* checks W-PKT-06[7] */
Test(source_port, W_PKT_06_forgotten_by_reset)
{
	struct peer_tape t;
	struct pair *p = learned(&t, (struct pair_opts){0});

	modify(p, ROCE_QPS_RESET, 0, NULL);
	pair_connect(p, 1, 0);
	pair_write(p, 1, 0, 1, 0, 0, 8, 0);
	pair_turn(p, 1);
	write_from(p, STRANGER, PEER_PSN);
	ack_from(p, STRANGER, OURS);
	cr_expect_eq(count(p)->rx_wrong_source_port, 0);
	write_from(p, PEER, PEER_PSN + 1);
	ack_from(p, PEER, OURS);
	cr_expect_eq(count(p)->rx_wrong_source_port, 2);
	pair_free(p);
}

/* By a new path, and by nothing else in SQD. checks W-PKT-06[7] */
Test(source_port, W_PKT_06_forgotten_with_the_path)
{
	struct peer_tape t;
	struct pair *p = learned(&t, (struct pair_opts){0});
	struct roce_qp_attr a;

	pair_attr(p, 1, 0, &a);
	modify(p, ROCE_QPS_SQD, 0, NULL);
	modify(p, ROCE_QPS_SQD, ROCE_QPA_TIMEOUT | ROCE_QPA_RETRY, &a);
	write_from(p, STRANGER, PEER_PSN + 1);
	cr_expect_eq(count(p)->rx_wrong_source_port, 1);
	modify(p, ROCE_QPS_SQD, ROCE_QPA_PATH, &a);
	modify(p, ROCE_QPS_RTS, 0, NULL);
	pair_write(p, 1, 0, 1, 0, 0, 8, 0);
	pair_turn(p, 1);
	write_from(p, STRANGER, PEER_PSN + 1);
	ack_from(p, STRANGER, OURS + 1);
	cr_expect_eq(count(p)->rx_wrong_source_port, 1);
	pair_free(p);
}

/* Each port of the host has a bit of its own. checks W-PKT-06[1,3] */
Test(source_port, W_PKT_06_behind_the_ports_that_the_host_names)
{
	for (uint16_t port = 0; port < 32; port++)
		for (uint32_t mask = 0; mask < 3; mask++) {
			const uint32_t masks[] = {0, ~(1u << port), 1u << port};
			struct peer_tape t;
			struct pair *p = peer_new(&t);
			struct roce_qp_attr a;

			p->side[1].shard->cfg.check_source_port = masks[mask];
			modify(p, ROCE_QPS_RESET, 0, NULL);
			pair_attr(p, 1, 0, &a);
			a.port = port;
			pair_bring_up(p, 1, p->side[1].q[0].qp, &a);
			write_from(p, PEER, PEER_PSN);
			write_from(p, STRANGER, PEER_PSN + 1);
			peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN + (mask < 2));
			cr_assert_eq(count(p)->rx_wrong_source_port, mask == 2);
			pair_free(p);
		}
}

/* A peer that keeps to its port loses nothing by the check. checks W-PKT-06[3,4] */
Test(source_port, W_PKT_06_all_of_an_honest_peer_arrives)
{
	struct pair *p = pair_new(&(struct pair_opts){.sports = true});
	uint64_t dice = 7;

	p->tap = fault_tap_dice;
	p->tap_ctx = &dice;
	memset(p->side[0].arena, 0x77, 9000);
	for (unsigned i = 0; i < 20; i++) {
		pair_recv(p, 1, 0, i, 65536, 64);
		pair_write(p, 0, 0, i, 0, 0, 9000, 0);
		pair_send(p, 0, 0, 100 + i, 0, 64, 0);
		pair_read(p, 0, 0, 200 + i, 16384, 0, 9000, 0);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
		pair_expect(p, 0, 100 + i, NDSH_WC_SUCCESS);
		pair_expect(p, 0, 200 + i, NDSH_WC_SUCCESS);
		pair_expect(p, 1, i, NDSH_WC_SUCCESS);
	}
	cr_expect_arr_eq(p->side[0].arena + 16384, p->side[1].arena, 9000);
	for (unsigned i = 0; i < 2; i++) {
		cr_expect_eq(pair_count(p, i)->rx_wrong_source_port, 0);
		cr_expect_gt(pair_count(p, i)->rx_packets, 100);
	}
	pair_free(p);
}

static void
unreliable_from(struct pair *p, uint16_t sport, uint32_t psn)
{
	const struct roce_pkt pkt = peer_packet(p, ROCE_CLASS_UC | ROCE_WRITE_ONLY, psn, 8);

	from_port(p, sport, &pkt);
}

/* checks W-PKT-06[9]: of the first packet alone, as any PSN is taken later. */
Test(source_port, W_PKT_06_of_an_unreliable_connection)
{
	const struct pair_opts opts = {.uc = true, .access = NDSH_ACCESS_REMOTE_WRITE};
	struct peer_tape t;
	struct pair *p = checked(&t, opts);

	unreliable_from(p, PEER, PEER_PSN);
	unreliable_from(p, STRANGER, PEER_PSN + 1);
	unreliable_from(p, STRANGER, PEER_PSN + 0x1000);
	cr_assert_eq(count(p)->rx_wrong_source_port, 2);
	unreliable_from(p, PEER, PEER_PSN + 1);
	cr_assert_eq(count(p)->rx_wrong_source_port, 2);
	cr_assert_eq(count(p)->rx_out_of_sequence, 0);
	pair_free(p);

	p = checked(&t, opts);
	unreliable_from(p, STRANGER, PEER_PSN + 7);
	unreliable_from(p, STRANGER, PEER_PSN + 8);
	unreliable_from(p, PEER, PEER_PSN);
	cr_assert_eq(count(p)->rx_wrong_source_port, 0, "a stranger shuts out nobody");
	cr_assert_eq(count(p)->rx_unreliable_dropped, 0);
	pair_free(p);
}

/* checks W-PKT-14[1], W-PKT-02: of UC, too, from the peer alone, with a right ICRC. */
Test(source_port, W_PKT_14_others_packets_for_an_unreliable_connection)
{
	struct peer_tape t;
	struct pair *p =
		peer_with(&t, (struct pair_opts){.uc = true, .access = NDSH_ACCESS_REMOTE_WRITE});
	const struct roce_pkt pkt = peer_packet(p, ROCE_CLASS_UC | ROCE_WRITE_ONLY, PEER_PSN, 8);
	struct roce_qp_attr a;

	pair_attr(p, 0, 0, &a);
	along(p, &a.path, PEER, &pkt, true);
	cr_assert_eq(count(p)->rx_icrc_error, 1);
	a.path.sgid.raw[15] ^= 1;
	along(p, &a.path, PEER, &pkt, false);
	cr_assert_eq(count(p)->rx_wrong_address, 1);
	cr_assert_eq(p->side[1].arena[0], 0);
	pair_free(p);
}
