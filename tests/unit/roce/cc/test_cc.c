/* SPDX-License-Identifier: BSD-3-Clause */
/* A receiver tells the sender of marks that the network made: when, how often, and what it does not
 * disturb. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/engine_pair.h"

#define PSN	    1000u
#define BYTES	    8u
#define INTERVAL_NS 50000u
#define CE	    3u

/* What side 1 sends. */
struct tape {
	unsigned cnps, others;
	struct roce_pkt cnp;
	uint8_t cnp_ttl;
};

static unsigned
tap(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct tape *t = ctx;

	(void)p;
	(void)late_ns;
	if (from == 0)
		return 1;
	if (pkt->opcode == ROCE_CNP) {
		t->cnps++;
		t->cnp = *pkt;
		t->cnp_ttl = pkt->l3[pkt->v6 ? 7 : 8];
	} else {
		t->others++;
	}
	return 1;
}

static struct pair *
watched(const struct pair_opts *o, struct tape *t)
{
	struct pair_opts with = *o;
	struct pair *p;

	with.set_psn = true;
	with.sq_psn[0] = with.sq_psn[1] = PSN;
	p = pair_new(&with);
	*t = (struct tape){0};
	p->tap = tap;
	p->tap_ctx = t;
	return p;
}

static const struct roce_counters *
count(const struct pair *p, unsigned side)
{
	return roce_shard_counters(p->side[side].shard);
}

static struct roce_pkt
write_only(const struct pair *p, uint32_t psn)
{
	return (struct roce_pkt){.opcode = ROCE_WRITE_ONLY,
		.pkey = ROCE_PKEY_DEFAULT,
		.qpn = roce_qp_num(p->side[1].q[0].qp),
		.psn = psn,
		.ackreq = true,
		.payload_bytes = BYTES,
		.va = PAIR_VA,
		.rkey = p->side[1].key,
		.dma_bytes = BYTES};
}

/* A packet arrives as it was sent along path. */
static void
rx_only(struct pair *p, unsigned to, const struct roce_path *path, const struct roce_pkt *pkt)
{
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce_pkt parsed;

	cr_assert_eq(
		roce_wire_parse(frame, pair_build(frame, path, pkt, NULL), &parsed), ROCE_WIRE_OK);
	pair_rx(p, to, &parsed);
}

/* A packet for side to as its queue pair 0 gets it from path; damage: after the ICRC. */
static void
say(struct pair *p, unsigned to, const struct roce_path *path, const struct roce_pkt *pkt,
	bool damage)
{
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce_pkt parsed;
	uint32_t bytes = pair_build(frame, path, pkt, NULL);

	frame[bytes - 1] ^= damage;
	cr_assert_eq(roce_wire_parse(frame, bytes, &parsed), ROCE_WIRE_OK);
	pair_rx(p, to, &parsed);
	pair_turn(p, to);
}

static void
say_marked(struct pair *p, uint8_t ecn, struct roce_pkt pkt)
{
	struct roce_qp_attr a;

	pair_attr(p, 0, 0, &a);
	a.path.tos = 26 << 2 | ecn;
	say(p, 1, &a.path, &pkt, false);
}

/*
 * checks W-CC-01[2,7], W-CC-02[1,2], W-CC-06, W-RXE-32: a marked packet is executed like any
 * other, and its sender's queue pair is told. One that is only ECN-capable is not marked.
 */
static void
told(bool v6)
{
	const struct pair_opts o = {.v6 = v6};
	struct tape t;
	struct pair *p = watched(&o, &t);

	for (uint8_t ecn = 0; ecn <= CE; ecn++) {
		cr_assert_eq(t.cnps, 0);
		say_marked(p, ecn, write_only(p, PSN + ecn));
	}
	cr_assert_eq(t.cnps, 1);
	cr_expect_eq(t.others, 4, "four writes, four acknowledgements");
	cr_expect_eq(t.cnp.qpn, roce_qp_num(p->side[0].q[0].qp));
	cr_expect_eq(t.cnp.tos, ROCE_TOS_CNP);
	cr_expect_eq(t.cnp.psn, 0);
	cr_expect_eq(t.cnp.pkey, ROCE_PKEY_DEFAULT);
	cr_expect_eq(t.cnp_ttl, 64);
	cr_expect(t.cnp.becn && !t.cnp.ackreq && !t.cnp.mig && !t.cnp.se);
	cr_expect_eq(count(p, 1)->np_ecn_marked, 1);
	cr_expect_eq(count(p, 1)->np_cnp_sent, 1);
	cr_expect_eq(count(p, 1)->rp_cnp_ignored, 0, "that is the peer's congestion");
	pair_free(p);
}

Test(congestion, who_sent_a_marked_packet_is_told_v4)
{
	told(false);
}

Test(congestion, who_sent_a_marked_packet_is_told_v6)
{
	told(true);
}

/* checks W-CC-04[1] */
Test(congestion, w_cc_04_once_in_a_while_for_each_queue_pair)
{
	const struct pair_opts o = {.qps = 2};
	struct tape t;
	struct pair *p = watched(&o, &t);
	const uint64_t begin = p->now_ns;
	struct roce_pkt pkt;

	for (uint32_t i = 0; i < 100; i++, p->now_ns += INTERVAL_NS / 10)
		say_marked(p, CE, write_only(p, PSN + i));
	cr_expect_eq(p->now_ns, begin + 10 * INTERVAL_NS);
	cr_expect_eq(t.cnps, 10);
	cr_expect_eq(count(p, 1)->np_ecn_marked, 100);

	p->now_ns += INTERVAL_NS;
	say_marked(p, CE, write_only(p, PSN + 100));
	cr_assert_eq(t.cnps, 11);
	p->now_ns += INTERVAL_NS - 1;
	say_marked(p, CE, write_only(p, PSN + 101));
	cr_expect_eq(t.cnps, 11, "a nanosecond before the end");
	p->now_ns++;
	say_marked(p, CE, write_only(p, PSN + 102));
	cr_expect_eq(t.cnps, 12);

	/* The other one's time is its own. */
	pkt = write_only(p, PSN);
	pkt.qpn = roce_qp_num(p->side[1].q[1].qp);
	say_marked(p, CE, pkt);
	cr_expect_eq(t.cnps, 13);
	cr_expect_eq(t.cnp.qpn, roce_qp_num(p->side[0].q[1].qp));
	pair_free(p);
}

/* CNPs that find no room leave in the next turns, one for each queue pair. */
Test(congestion, no_more_than_there_is_room_for)
{
	const struct pair_opts o = {.qps = 3};
	struct tape t;
	struct pair *p = watched(&o, &t);
	struct roce_qp_attr a;

	pair_attr(p, 0, 0, &a);
	a.path.tos = CE;
	for (unsigned i = 0; i < 3; i++) {
		struct roce_pkt pkt = write_only(p, PSN);

		pkt.qpn = roce_qp_num(p->side[1].q[i].qp);
		pkt.ackreq = false;
		rx_only(p, 1, &a.path, &pkt);
	}
	p->side[1].frames = 1;
	for (unsigned sent = 1; sent <= 3; sent++) {
		cr_assert(roce_shard_tx_pending(p->side[1].shard, p->now_ns));
		pair_turn(p, 1);
		cr_assert_eq(t.cnps, sent);
	}
	for (unsigned turn = 0; turn < 4; turn++)
		pair_turn(p, 1);
	cr_expect_eq(t.cnps, 3);
	cr_expect_not(roce_shard_tx_pending(p->side[1].shard, p->now_ns));
	pair_free(p);
}

static unsigned
lose_cnps(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	(void)tap(p, from, pkt, late_ns, ctx);
	return pkt->opcode != ROCE_CNP;
}

/* checks W-CC-03[2]: lost, it is not sent again, however long nothing comes of it. */
Test(congestion, w_cc_03_a_lost_cnp_is_lost)
{
	struct tape t;
	struct pair *p = watched(&(struct pair_opts){0}, &t);

	p->tap = lose_cnps;
	say_marked(p, CE, write_only(p, PSN));
	cr_expect_eq(t.cnps, 1);
	for (unsigned i = 0; i < 1000; i++, p->now_ns += 10000000)
		pair_turn(p, 1);
	cr_expect_eq(t.cnps, 1);
	cr_expect_not(roce_shard_tx_pending(p->side[1].shard, p->now_ns));
	pair_free(p);
}

/* checks W-CC-05[2]: the bit of another InfiniBand is not looked at, and makes no CNP. */
Test(congestion, w_cc_05_FECN_is_nothing)
{
	struct tape t;
	struct pair *p = watched(&(struct pair_opts){.ecn = true}, &t);
	const struct roce_pkt pkt = write_only(p, PSN);
	uint8_t frame[ROCE_FRAME_MAX] = {0};
	struct roce_hdr_tmpl tmpl;
	struct roce_pkt parsed;
	struct roce_qp_attr a;
	uint32_t bytes;

	pair_attr(p, 0, 0, &a);
	roce_hdr_tmpl_init(&tmpl, &a.path);
	bytes = roce_wire_seal(frame, &tmpl, roce_wire_build(frame, &tmpl, &pkt, 0), BYTES);
	frame[tmpl.len + 4] |= 0x80; /* outside of the ICRC */
	cr_assert_eq(roce_wire_parse(frame, bytes, &parsed), ROCE_WIRE_OK);
	pair_rx(p, 1, &parsed);
	pair_turn(p, 1);
	cr_expect_eq(t.cnps, 0);
	cr_expect_eq(t.others, 1, "it is executed and acknowledged");
	cr_expect_eq(count(p, 1)->np_ecn_marked + count(p, 1)->rp_cnp_handled, 0);
	pair_free(p);
}

/*
 * checks W-CC-01[2,8]: what was sent twice, or comes too early, met congestion all the same. An
 * acknowledgement did, too, but nothing follows from it; nor does anything follow from what no
 * end of the connection sent.
 */
Test(congestion, w_cc_01_which_packets_tell)
{
	struct tape t;
	struct pair *p = watched(&(struct pair_opts){0}, &t);
	struct roce_pkt pkt = write_only(p, PSN);
	struct roce_qp_attr a;

	say_marked(p, 0, pkt);
	say_marked(p, CE, pkt);
	cr_expect_eq(t.cnps, 1, "a duplicate");
	p->now_ns += INTERVAL_NS;
	say_marked(p, CE, write_only(p, PSN + 5));
	cr_expect_eq(t.cnps, 2, "out of sequence");
	p->now_ns += INTERVAL_NS;
	pkt.opcode = ROCE_FETCH_ADD;
	pkt.payload_bytes = 0;
	pkt.psn = PSN + 5;
	say_marked(p, CE, pkt);
	cr_expect_eq(t.cnps, 3, "an atomic");
	p->now_ns += INTERVAL_NS;

	pkt = (struct roce_pkt){.opcode = ROCE_ACK,
		.pkey = ROCE_PKEY_DEFAULT,
		.qpn = roce_qp_num(p->side[1].q[0].qp),
		.syndrome = ROCE_SYN_ACK};
	say_marked(p, CE, pkt);
	pkt.opcode = ROCE_CNP;
	say_marked(p, CE, pkt);
	pair_attr(p, 0, 0, &a);
	a.path.tos = CE;
	pkt = write_only(p, PSN + 1);
	say(p, 1, &a.path, &pkt, true);
	a.path.sgid.raw[15] ^= 0x40;
	say(p, 1, &a.path, &pkt, false);
	cr_expect_eq(t.cnps, 3);
	cr_expect_eq(count(p, 1)->np_ecn_marked, 3);
	cr_expect_eq(count(p, 1)->rx_ecn_ce, 7, "that counts all of them");
	pair_free(p);
}

/* checks W-CC-07[1]: the responder sent it, so the responder is told. */
Test(congestion, w_cc_07_a_marked_read_response)
{
	struct tape t;
	struct pair *p = watched(&(struct pair_opts){.mtu = 256}, &t);
	uint8_t payload[256] = {0};
	struct roce_path path;
	struct roce_qp_attr a;

	pair_read(p, 1, 0, 1, 0, 0, 1024, 0);
	pair_turn(p, 1);
	pair_attr(p, 0, 0, &a);
	path = a.path;
	path.tos = CE;
	say(p, 1, &path,
		&(struct roce_pkt){.opcode = ROCE_READ_RESP_FIRST,
			.pkey = ROCE_PKEY_DEFAULT,
			.qpn = roce_qp_num(p->side[1].q[0].qp),
			.psn = PSN,
			.payload_bytes = sizeof(payload),
			.syndrome = ROCE_SYN_ACK},
		false);
	cr_expect_eq(t.cnps, 1);
	cr_expect_eq(t.cnp.qpn, roce_qp_num(p->side[0].q[0].qp));
	cr_assert(pair_run(p, 1000000000));
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	pair_free(p);
}

/*
 * checks W-CC-03[1,3,4,5,6]: CNPs of any look are taken, answered by nothing, and the connection
 * goes on as if there were none.
 */
Test(congestion, w_cc_03_a_cnp_is_no_packet_of_the_connection)
{
	struct tape t;
	struct pair *p = watched(&(struct pair_opts){0}, &t);
	const struct {
		uint8_t tos;
		uint16_t sport;
		bool mig;
		uint32_t psn;
		uint16_t pkey;
		uint32_t bytes;
	} of[] = {{ROCE_TOS_CNP, 0, false, 0, 0xffff, 16}, {0, 0xc000, true, PSN, 0x7fff, 16},
		{46 << 2, 4791, false, PSN - 1, 0xffff, 0},
		{CE, 1, true, ROCE_PSN_MASK, 0xffff, 17}, {0, 0, false, 0, 0x8001, 16},
		{0, 0, false, 0, 0, 4}, {0, 0, false, 0, 1, 128}};
	const uint32_t n = sizeof(of) / sizeof(of[0]);
	struct roce_qp_attr a;

	pair_attr(p, 0, 0, &a);
	for (unsigned i = 0; i < n; i++) {
		a.path.tos = of[i].tos;
		a.path.udp_sport = of[i].sport;
		say(p, 1, &a.path,
			&(struct roce_pkt){.opcode = ROCE_CNP,
				.pkey = of[i].pkey,
				.payload_bytes = of[i].bytes,
				.qpn = roce_qp_num(p->side[1].q[0].qp),
				.mig = of[i].mig,
				.becn = true,
				.psn = of[i].psn},
			false);
	}
	cr_expect_eq(t.cnps + t.others, 0);
	cr_expect_eq(count(p, 1)->rp_cnp_handled + count(p, 1)->rp_cnp_ignored, n);
	say_marked(p, 0, write_only(p, PSN));
	cr_expect_eq(t.others, 1, "the first packet of the connection");
	cr_expect_eq(count(p, 1)->rx_duplicate + count(p, 1)->rx_out_of_sequence, 0);
	pair_expect_alive(p, 1, 0);
	pair_free(p);
}

/* checks W-CC-08[1-4]: what another host could have sent is not taken for one. */
Test(congestion, w_cc_08_a_cnp_of_a_stranger)
{
	struct tape t;
	struct pair *p = watched(&(struct pair_opts){0}, &t);
	struct roce_pkt cnp = {.opcode = ROCE_CNP, .pkey = ROCE_PKEY_DEFAULT, .becn = true};
	struct roce_path path;
	struct roce_qp_attr a;

	pair_attr(p, 0, 0, &a);
	cnp.qpn = roce_qp_num(p->side[1].q[0].qp) ^ 1;
	say(p, 1, &a.path, &cnp, false);
	cr_expect_eq(count(p, 1)->rx_unknown_qpn, 1);
	cnp.qpn ^= 1;
	path = a.path;
	path.sgid.raw[15] ^= 0x40;
	say(p, 1, &path, &cnp, false);
	cr_expect_eq(count(p, 1)->rx_wrong_address, 1);
	path = a.path;
	path.tagged = true;
	path.vlan_tci = 7;
	say(p, 1, &path, &cnp, false);
	cr_expect_eq(count(p, 1)->rx_wrong_vlan, 1);
	say(p, 1, &a.path, &cnp, true);
	cr_expect_eq(count(p, 1)->rx_icrc_error, 1);
	roce_qp_modify(p->side[1].shard, p->side[1].q[0].qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
	say(p, 1, &a.path, &cnp, false);
	cr_expect_eq(count(p, 1)->rx_wrong_state, 1);
	cr_expect_eq(count(p, 1)->rp_cnp_handled + count(p, 1)->rp_cnp_ignored, 0);
	cr_expect_eq(t.cnps + t.others, 0);
	pair_free(p);
}

/* One that is owed when its queue pair ends is owed no more; the next life of it owes nothing. */
Test(congestion, an_end_takes_the_cnp_along)
{
	struct tape t;
	struct pair *p = watched(&(struct pair_opts){0}, &t);
	struct roce_pkt pkt = write_only(p, PSN);
	struct roce_qp *qp = p->side[1].q[0].qp;
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce_pkt parsed;
	struct roce_qp_attr a;
	uint32_t bytes;

	pkt.ackreq = false; /* an ACK would leave all the same */
	pair_attr(p, 0, 0, &a);
	a.path.tos = CE;
	bytes = pair_build(frame, &a.path, &pkt, NULL);
	cr_assert_eq(roce_wire_parse(frame, bytes, &parsed), ROCE_WIRE_OK);
	pair_rx(p, 1, &parsed);
	cr_assert(roce_shard_tx_pending(p->side[1].shard, p->now_ns));
	cr_assert_eq(roce_qp_modify(p->side[1].shard, qp, p->now_ns, ROCE_QPS_RESET, 0, NULL),
		ROCE_MODIFY_OK);
	cr_assert_not(roce_shard_tx_pending(p->side[1].shard, p->now_ns));
	pair_connect(p, 1, 0);
	pair_turn(p, 1);
	cr_expect_eq(t.cnps, 0);
	pair_rx(p, 1, &parsed);
	pair_turn(p, 1);
	cr_expect_eq(t.cnps, 1, "nothing of the old interval is left");
	pair_free(p);
}
