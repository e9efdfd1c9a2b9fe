/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs that were told of congestion: what they say of themselves, and how they send. */
#include <criterion/criterion.h>
#include <string.h>

#include "roce/cc/cc.h"
#include "roce/cc/pace.h"
#include "roce/qp/qp.h"
#include "roce/shard/shard.h"

#include "rigs/engine_pair.h"

#define US	    UINT64_C(1000)
#define MS	    UINT64_C(1000000)
#define MTU	    1024u
#define INTERVAL_NS (50 * US)
#define MESSAGE	    (1u << 20)
#define DOWN	    20u /* notifications that lead to the lowest rate, from wherever */

struct tape {
	uint64_t bytes[2]; /* of payload, by the side that sent it */
	unsigned packets[2], acks[2], requests[2], responses[2];
	uint8_t ect[256]; /* by opcode: 1 << ECN bits seen */
	bool asks;	  /* the last request does, for an answer */
};

static unsigned
tap(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct tape *t = ctx;

	(void)p;
	(void)late_ns;
	t->bytes[from] += pkt->payload_bytes;
	t->packets[from]++;
	t->acks[from] += pkt->opcode == ROCE_ACK;
	t->requests[from] += (pkt->opflags & ROCE_OPF_REQUEST) != 0;
	t->responses[from] +=
		pkt->opcode >= ROCE_READ_RESP_FIRST && pkt->opcode <= ROCE_READ_RESP_ONLY;
	if (pkt->opflags & ROCE_OPF_REQUEST)
		t->asks = pkt->ackreq;
	t->ect[pkt->opcode] |= (uint8_t)(1u << (pkt->tos & ROCE_TOS_ECN));
	return 1;
}

static struct tape tape;

static struct pair *
watched(const struct pair_opts *o)
{
	struct pair *p = pair_new(o);

	tape = (struct tape){0};
	p->tap = tap;
	p->tap_ctx = &tape;
	return p;
}

static const struct roce_counters *
count(const struct pair *p, unsigned side)
{
	return roce_shard_counters(p->side[side].shard);
}

static bool
paced(const struct pair *p, unsigned side)
{
	return p->side[side].q[0].qp->rx_bits & ROCE_RXB_PACED;
}

static void
notify(struct pair *p, unsigned side)
{
	pair_inject(p, side, 0,
		&(struct roce_pkt){.opcode = ROCE_CNP,
			.pkey = ROCE_PKEY_DEFAULT,
			.qpn = roce_qp_num(p->side[side].q[0].qp),
			.becn = true},
		NULL);
}

/* Let n intervals pass, with a notification for side in each. */
static void
congest(struct pair *p, unsigned side, unsigned n)
{
	for (; n > 0; n--) {
		uint64_t end = p->now_ns + INTERVAL_NS;

		notify(p, side);
		(void)pair_run(p, INTERVAL_NS);
		p->now_ns = end;
	}
}

/* ---- what packets say ----------------------------------------------------------------------- */

static void
every_operation(struct pair *p)
{
	const struct ndsh_sge sge = pair_sge(p, 0, 0, 8);

	pair_recv(p, 1, 0, 100, 0, MESSAGE);
	pair_send(p, 0, 0, 1, 0, 3 * MTU, 0);
	pair_write(p, 0, 0, 2, 0, 0, 3 * MTU, 0);
	pair_read(p, 0, 0, 3, 0, 0, 3 * MTU, 0);
	pair_post(p, 0, 0,
		&(struct ndsh_swr){.context = 4,
			.raddr = PAIR_VA,
			.rkey = p->side[1].key,
			.arg = {1, 0},
			.ctrl = NDSH_CTRL(NDSH_OP_FETCH_ADD, 1, 0, 0)},
		&sge, NULL);
	cr_assert(pair_run(p, 1000 * MS));
	for (uint64_t i = 1; i <= 4; i++)
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
}

/*
 * checks W-CC-01[1,3,5]: whatever can be held back says ECT(0), in both directions;
 * acknowledgements, of which no queue pair can send fewer, do not. Without consent nothing does.
 */
static void
says(bool ecn, bool v6)
{
	const uint32_t rights =
		NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_REMOTE_ATOMIC;
	const struct pair_opts o = {.ecn = ecn,
		.v6 = v6,
		.access = rights,
		.mr_access = rights | NDSH_ACCESS_LOCAL_WRITE};
	struct pair *p = watched(&o);
	unsigned kinds = 0;

	every_operation(p);
	for (unsigned op = 0; op < 256; op++) {
		if (tape.ect[op] == 0)
			continue;
		kinds++;
		cr_expect_eq(tape.ect[op], ecn && op != ROCE_ACK ? 1u << ROCE_TOS_ECT0 : 1u, "%s",
			roce_opcode_info[op].name);
	}
	cr_expect_eq(kinds, 12, "%u kinds of packets", kinds);
	pair_free(p);
}

Test(cc_pace, w_cc_01_what_reacts_says_so_v4)
{
	says(true, false);
}

Test(cc_pace, w_cc_01_what_reacts_says_so_v6)
{
	says(true, true);
}

Test(cc_pace, w_cc_01_what_does_not_is_silent)
{
	says(false, false);
	says(false, true);
}

Test(cc_pace, w_cc_01_other_values_are_refused)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_qp_attr a;
	uint32_t wrong;

	pair_attr(p, 0, 0, &a);
	for (uint8_t ecn = 0; ecn < 4; ecn++) {
		a.path.tos = 46 << 2 | ecn;
		cr_expect_eq(
			roce_modify_judge(ROCE_QPS_SQD, ROCE_QPS_SQD, ROCE_QPA_PATH, &a, &wrong),
			ecn == 0 || ecn == ROCE_TOS_ECT0 ? ROCE_MODIFY_OK : ROCE_MODIFY_BAD_VALUE,
			"%u", ecn);
	}
	pair_free(p);
}

/* ---- how they send -------------------------------------------------------------------------- */

/* Side tells its peer bytes for 100 ms, at the lowest rate. */
static void
at_the_lowest_rate(struct pair *p, unsigned side)
{
	uint64_t before;

	congest(p, side, DOWN);
	cr_assert(paced(p, side));
	before = tape.bytes[side];
	congest(p, side, 2000);
	cr_expect_geq(tape.bytes[side] - before, 110000);
	cr_expect_leq(tape.bytes[side] - before, 125000 + 2 * MTU);
	cr_expect_eq(count(p, side)->timeouts + count(p, !side)->timeouts, 0);
	cr_expect_eq(count(p, side)->retransmitted_packets, 0);
	cr_expect_eq(count(p, side)->rp_cnp_ignored, 0);
	cr_expect_geq(count(p, side)->rp_rate_cuts, DOWN);
}

Test(cc_pace, w_cc_01_requests_slow_down)
{
	struct pair *p = watched(&(struct pair_opts){.ecn = true});

	pair_write(p, 0, 0, 1, 0, 0, MESSAGE, 0);
	at_the_lowest_rate(p, 0);
	cr_assert(pair_run(p, 10000 * MS));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* checks W-CC-07[2], W-READ-04[2] */
Test(cc_pace, w_cc_07_read_responses_slow_down)
{
	struct pair *p = watched(&(struct pair_opts){.ecn = true});

	memset(p->side[1].arena, 0x5c, MESSAGE);
	pair_read(p, 0, 0, 1, 0, 0, MESSAGE, 0);
	at_the_lowest_rate(p, 1);
	cr_assert(pair_run(p, 10000 * MS));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	cr_expect_arr_eq(p->side[0].arena, p->side[1].arena, MESSAGE);
	pair_free(p);
}

/* Nor is one sent early because an acknowledgement is owed, which follows them. checks W-CC-07,
 * W-ACK-03 */
Test(cc_pace, w_cc_07_acknowledgements_hurry_no_response)
{
	struct pair *p = watched(&(struct pair_opts){.ecn = true});
	struct roce_pkt behind = {.opcode = ROCE_WRITE_ONLY,
		.pkey = ROCE_PKEY_DEFAULT,
		.qpn = roce_qp_num(p->side[1].q[0].qp),
		.ackreq = true};
	uint64_t before;

	pair_read(p, 0, 0, 1, 0, 0, MESSAGE, 0);
	congest(p, 1, DOWN);
	before = tape.bytes[1];
	for (unsigned i = 0; i < 500; i++) {
		behind.psn = (p->opts.sq_psn[0] + MESSAGE / MTU + i) & ROCE_PSN_MASK;
		pair_inject(p, 1, 0, &behind, NULL);
		congest(p, 1, 1);
	}
	cr_expect_leq(tape.bytes[1] - before, 125000 / 4 + 2 * MTU);
	pair_free(p);
}

/* checks W-CC-05[1]: BECN in any packet of the connection means the same. */
Test(cc_pace, w_cc_05_becn_in_an_acknowledgement)
{
	struct pair *p = watched(&(struct pair_opts){.ecn = true});

	pair_inject(p, 0, 0,
		&(struct roce_pkt){.opcode = ROCE_ACK,
			.pkey = ROCE_PKEY_DEFAULT,
			.qpn = roce_qp_num(p->side[0].q[0].qp),
			.syndrome = ROCE_SYN_ACK,
			.becn = true},
		NULL);
	(void)pair_run(p, US);
	cr_expect(paced(p, 0));
	cr_expect_eq(count(p, 0)->rp_cnp_handled, 1);
	pair_free(p);
}

/* checks W-CC-05[1]: and in a request, whose receiver sends data in the other direction. */
Test(cc_pace, w_cc_05_becn_in_a_request)
{
	struct pair *p =
		watched(&(struct pair_opts){.ecn = true, .set_psn = true, .sq_psn = {100, 200}});
	static const uint8_t payload[8];

	pair_inject(p, 0, 0,
		&(struct roce_pkt){.opcode = ROCE_WRITE_ONLY,
			.pkey = ROCE_PKEY_DEFAULT,
			.qpn = roce_qp_num(p->side[0].q[0].qp),
			.psn = 200,
			.payload_bytes = sizeof(payload),
			.va = PAIR_VA,
			.rkey = p->side[0].key,
			.dma_bytes = sizeof(payload),
			.becn = true},
		payload);
	(void)pair_run(p, US);
	cr_expect(paced(p, 0));
	cr_expect_eq(count(p, 0)->rp_cnp_handled, 1);
	cr_expect_eq(tape.ect[ROCE_CNP], 0, "nothing marked that request");
	pair_expect_alive(p, 0, 0);
	pair_free(p);
}

/* A queue pair that does not say that it reacts need not: what was marked can't have been of it. */
Test(cc_pace, w_cc_06_without_consent_nothing_slows_down)
{
	struct pair *p = watched(&(struct pair_opts){.ecn = false});

	pair_write(p, 0, 0, 1, 0, 0, MESSAGE, 0);
	congest(p, 0, DOWN);
	cr_expect_eq(tape.bytes[0], MESSAGE);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	cr_expect_not(paced(p, 0));
	cr_expect_eq(count(p, 0)->rp_cnp_ignored, DOWN);
	cr_expect_eq(count(p, 0)->rp_cnp_handled, 0);
	pair_free(p);
}

/* Nor does the other part of the byte, a traffic class, say so. */
Test(cc_pace, w_cc_06_a_traffic_class_is_no_consent)
{
	struct pair *p = watched(&(struct pair_opts){.ecn = false});
	struct roce_qp *qp = p->side[0].q[0].qp;
	struct roce_shard *s = p->side[0].shard;
	struct roce_qp_attr a;

	pair_attr(p, 0, 0, &a);
	a.path.tos = 0xb8;
	roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_SQD, 0, NULL);
	cr_assert_eq(
		roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_SQD, ROCE_QPA_PATH, &a), ROCE_MODIFY_OK);
	cr_assert_eq(roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_RTS, 0, NULL), ROCE_MODIFY_OK);
	pair_write(p, 0, 0, 1, 0, 0, MESSAGE, 0);
	congest(p, 0, DOWN);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	cr_expect_not(paced(p, 0));
	cr_expect_eq(count(p, 0)->rp_cnp_ignored, DOWN);
	pair_free(p);
}

/* Acknowledgements don't wait while their queue pair does; not even behind what it has to send. */
Test(cc_pace, acknowledgements_do_not_wait)
{
	struct pair *p = watched(&(struct pair_opts){.ecn = true});
	unsigned before;

	pair_write(p, 0, 0, 1, 0, 0, MESSAGE, 0);
	congest(p, 0, DOWN);
	before = tape.acks[0];
	for (uint64_t i = 0; i < 100; i++) {
		pair_write(p, 1, 0, i, 0, 0, 8, 0);
		congest(p, 0, 1);
		pair_expect(p, 1, i, NDSH_WC_SUCCESS);
	}
	cr_expect_eq(tape.acks[0] - before, 100);
	pair_free(p);
}

/* The last packet before it falls silent asks for an answer: there is nothing to miss then. */
Test(cc_pace, silence_follows_a_question)
{
	struct pair *p = watched(&(struct pair_opts){.ecn = true, .window = 256});

	pair_write(p, 0, 0, 1, 0, 0, MESSAGE, 0);
	congest(p, 0, DOWN);
	for (unsigned i = 0; i < 300; i++) {
		congest(p, 0, 1);
		cr_assert(tape.asks, "%u", i);
	}
	cr_expect_geq(tape.packets[0], 300 / 20);
	pair_free(p);
}

/* A queue pair that is late, and has something due behind a whole turn, goes on at once. */
Test(cc_pace, a_high_rate_is_reached)
{
	struct pair *p = watched(&(struct pair_opts){.ecn = true});

	notify(p, 0);
	pair_turn(p, 0);
	cr_assert(paced(p, 0));
	p->now_ns += 100 * US;
	pair_write(p, 0, 0, 1, 0, 0, 64 * MTU, 0);
	(void)pair_run(p, 100 * US);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* READ responses and requests of one queue pair share what it may send. */
Test(cc_pace, both_directions_get_their_turn)
{
	struct pair *p = watched(&(struct pair_opts){.ecn = true});
	struct tape before;

	pair_write(p, 0, 0, 1, 0, 0, MESSAGE, 0);
	pair_read(p, 1, 0, 2, 0, 0, MESSAGE, 0);
	congest(p, 0, DOWN);
	before = tape;
	congest(p, 0, 2000);
	cr_expect_geq(tape.requests[0] - before.requests[0], 40);
	cr_expect_geq(tape.responses[0] - before.responses[0], 40);
	cr_expect_leq(tape.bytes[0] - before.bytes[0], 125000 + 2 * MTU);
	cr_assert(pair_run(p, 10000 * MS));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* The limit goes when no congestion is reported any more, and nothing of it is left. */
Test(cc_pace, it_recovers_and_is_as_before)
{
	struct pair *p = watched(&(struct pair_opts){.ecn = true});
	unsigned in_a_turn;

	pair_write(p, 0, 0, 1, 0, 0, MESSAGE, 0);
	congest(p, 0, DOWN);
	cr_assert(paced(p, 0));
	cr_assert(pair_run(p, 10000 * MS));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	p->now_ns += 1000 * MS;
	pair_write(p, 0, 0, 2, 0, 0, 64 * MTU, 0);
	in_a_turn = tape.packets[0];
	pair_turn(p, 0);
	cr_expect_eq(tape.packets[0] - in_a_turn, 64, "a whole window at once");
	cr_expect_not(paced(p, 0));
	cr_assert(pair_run(p, 1000 * MS));
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* A queue pair may be ended while it waits for its time, and begin a new life without a limit. */
Test(cc_pace, an_end_while_it_waits)
{
	struct pair *p = watched(&(struct pair_opts){.ecn = true});
	struct roce_qp *qp = p->side[0].q[0].qp;

	pair_write(p, 0, 0, 1, 0, 0, MESSAGE, 0);
	congest(p, 0, DOWN);
	cr_assert(base_linked(&qp->tx_link));
	cr_assert_neq(roce_shard_next_deadline(p->side[0].shard), UINT64_MAX);
	cr_assert_eq(roce_qp_modify(p->side[0].shard, qp, p->now_ns, ROCE_QPS_ERR, 0, NULL),
		ROCE_MODIFY_OK);
	(void)pair_run(p, MS);
	pair_expect(p, 0, 1, NDSH_WC_FLUSH_ERR);
	cr_assert_eq(roce_qp_modify(p->side[0].shard, qp, p->now_ns, ROCE_QPS_RESET, 0, NULL),
		ROCE_MODIFY_OK);
	cr_expect_not(paced(p, 0));
	pair_free(p);
}

/* checks W-CC-08[1,3,4]: strangers that know all but one thing slow no queue pair down. */
Test(cc_pace, w_cc_08_notifications_of_strangers)
{
	struct pair *p = watched(&(struct pair_opts){.ecn = true});
	uint8_t frame[ROCE_FRAME_MAX] = {0};
	struct roce_pkt cnp;
	struct roce_qp_attr a;

	for (unsigned lie = 0; lie < 5; lie++) {
		struct roce_hdr_tmpl tmpl;
		uint32_t bytes, qpn = roce_qp_num(p->side[0].q[0].qp);

		pair_attr(p, 1, 0, &a);
		a.path.sgid.raw[15] ^= lie == 0;
		a.path.dgid.raw[15] ^= lie == 1;
		a.path.tagged = lie == 2;
		a.path.vlan_tci = 9;
		roce_hdr_tmpl_init(&tmpl, &a.path);
		bytes = roce_wire_seal(frame, &tmpl,
			roce_wire_build_cnp(frame, &tmpl, qpn ^ (lie == 3), 0), ROCE_CNP_ZEROS);
		frame[bytes - 1] ^= lie == 4;
		cr_assert_eq(roce_wire_parse(frame, bytes, &cnp), ROCE_WIRE_OK);
		pair_rx(p, 0, &cnp);
	}
	cr_expect_not(paced(p, 0));
	cr_expect_eq(count(p, 0)->rp_cnp_handled + count(p, 0)->rp_cnp_ignored, 0);
	cr_expect_eq(count(p, 0)->rx_wrong_address, 2);
	cr_expect_eq(count(p, 0)->rx_wrong_vlan, 1);
	cr_expect_eq(count(p, 0)->rx_unknown_qpn, 1);
	cr_expect_eq(count(p, 0)->rx_icrc_error, 1);
	pair_free(p);
}
