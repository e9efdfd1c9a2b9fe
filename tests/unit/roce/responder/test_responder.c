/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The responder against packets that no peer of ours would send: each check of 2.5, duplicates of
 * 2.6, what is dropped in silence, and the order of what it answers.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/engine_pair.h"

#define MTU   1024u
#define PSN   100u /* first PSN that side 1 expects */
#define TAPES 64u

/* Everything that side 1 says. */
struct tape {
	struct roce_pkt said[TAPES];
	unsigned n;
};

static unsigned
tap(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct tape *t = ctx;

	(void)p;
	(void)late_ns;
	if (from == 1 && t->n < TAPES)
		t->said[t->n++] = *pkt;
	return 0; /* side 0 hears nothing: the test is the peer */
}

static struct pair *
peer_over(struct tape *t, bool v6)
{
	struct pair *p = pair_new(&(struct pair_opts){
		.mtu = MTU, .set_psn = true, .sq_psn = {PSN, 500}, .min_rnr_code = 14, .v6 = v6});

	memset(t, 0, sizeof(*t));
	p->tap = tap;
	p->tap_ctx = t;
	return p;
}

static struct pair *
peer_new(struct tape *t)
{
	return peer_over(t, false);
}

static struct roce_pkt
packet(const struct pair *p, uint8_t opcode, uint32_t psn, uint32_t bytes)
{
	return (struct roce_pkt){.opcode = opcode,
		.qpn = roce_qp_num(p->side[1].q[0].qp),
		.psn = psn,
		.pkey = ROCE_PKEY_DEFAULT,
		.ackreq = true,
		.payload_bytes = bytes,
		.va = PAIR_VA,
		.rkey = p->side[1].key,
		.dma_bytes = bytes};
}

static void
say(struct pair *p, const struct roce_pkt *pkt)
{
	static const uint8_t payload[ROCE_MTU_MAX] = {0xa5, 0x5a};

	pair_inject(p, 1, 0, pkt, payload);
}

static void
say_plain(struct pair *p, uint8_t opcode, uint32_t psn, uint32_t bytes)
{
	struct roce_pkt pkt = packet(p, opcode, psn, bytes);

	say(p, &pkt);
}

/* The last thing said is this, and nothing before it but n-1 others. */
static void
heard(struct pair *p, struct tape *t, unsigned n, uint8_t syndrome, uint32_t psn)
{
	pair_turn(p, 1);
	cr_assert_eq(t->n, n, "%u packets instead of %u", t->n, n);
	cr_assert_eq(t->said[n - 1].syndrome, syndrome, "syndrome %x", t->said[n - 1].syndrome);
	cr_assert_eq(t->said[n - 1].psn, psn, "PSN %u", t->said[n - 1].psn);
}

static void
silent(struct pair *p, struct tape *t, unsigned n)
{
	pair_turn(p, 1);
	cr_assert_eq(t->n, n, "%u packets instead of %u", t->n, n);
}

struct step {
	uint8_t opcode;
	uint32_t bytes, dma_bytes;
};

/* The last step violates a rule: NAK 0x61 for it, once, and the queue pair is dead; checks
 * W-RESP-18. */
static void
violates(const struct step *steps, unsigned n)
{
	struct tape t;
	struct pair *p = peer_new(&t);

	pair_recv(p, 1, 0, 1, 0, 8192);
	for (unsigned i = 0; i < n; i++) {
		struct roce_pkt pkt = packet(p, steps[i].opcode, PSN + i, steps[i].bytes);

		pkt.dma_bytes = steps[i].dma_bytes;
		pkt.ackreq = false;
		say(p, &pkt);
	}
	heard(p, &t, 1, ROCE_SYN_NAK_INV_REQ, PSN + n - 1);
	cr_assert_eq(roce_qp_reason(p->side[1].q[0].qp), ROCE_REASON_SENT_INV_REQ);
	say_plain(p, ROCE_WRITE_ONLY, PSN + n, 8);
	silent(p, &t, 1); /* W-RESP-18: exactly one */
	pair_free(p);
}

#define VIOLATES(...)                                                                              \
	do {                                                                                       \
		const struct step steps[] = {__VA_ARGS__};                                         \
		violates(steps, sizeof(steps) / sizeof(steps[0]));                                 \
	} while (0)

Test(responder, W_RESP_05_opcode_sequence)
{
	VIOLATES({ROCE_SEND_MIDDLE, MTU, 0});
	VIOLATES({ROCE_SEND_LAST, 8, 0});
	VIOLATES({ROCE_WRITE_MIDDLE, MTU, 0});
	VIOLATES({ROCE_WRITE_LAST, 8, 0});
	VIOLATES({ROCE_SEND_FIRST, MTU, 0}, {ROCE_SEND_FIRST, MTU, 0});
	VIOLATES({ROCE_SEND_FIRST, MTU, 0}, {ROCE_SEND_ONLY, 8, 0});
	VIOLATES({ROCE_SEND_FIRST, MTU, 0}, {ROCE_WRITE_LAST, 8, 0});
	VIOLATES({ROCE_SEND_FIRST, MTU, 0}, {ROCE_WRITE_ONLY, 8, 8});
	VIOLATES({ROCE_SEND_FIRST, MTU, 0}, {ROCE_READ_REQUEST, 0, 8});
	VIOLATES({ROCE_WRITE_FIRST, MTU, MTU + 8}, {ROCE_SEND_LAST, 8, 0});
	VIOLATES({ROCE_WRITE_FIRST, MTU, MTU + 8}, {ROCE_WRITE_FIRST, MTU, MTU + 8});
	VIOLATES({ROCE_WRITE_FIRST, MTU, MTU + 8}, {ROCE_SEND_ONLY, 8, 0});
	VIOLATES({ROCE_WRITE_FIRST, MTU, MTU + 8}, {ROCE_READ_REQUEST, 0, 8});
}

Test(responder, W_RESP_09_lengths)
{
	VIOLATES({ROCE_SEND_FIRST, MTU - 4, 0});
	VIOLATES({ROCE_SEND_ONLY, MTU + 4, 0});
	VIOLATES({ROCE_SEND_FIRST, MTU, 0}, {ROCE_SEND_LAST, 0, 0});
	VIOLATES({ROCE_SEND_FIRST, MTU, 0}, {ROCE_SEND_MIDDLE, MTU - 4, 0});
	VIOLATES({ROCE_SEND_FIRST, MTU, 0}, {ROCE_SEND_LAST, MTU + 4, 0});
	VIOLATES({ROCE_WRITE_ONLY, 8, 9});
	VIOLATES({ROCE_WRITE_ONLY, 8, 4});
	VIOLATES({ROCE_WRITE_FIRST, MTU, MTU});
	VIOLATES({ROCE_WRITE_FIRST, MTU, 0x80000001});
	VIOLATES({ROCE_WRITE_FIRST, MTU, 3 * MTU}, {ROCE_WRITE_LAST, 8, 0});
	VIOLATES({ROCE_WRITE_FIRST, MTU, 2 * MTU}, {ROCE_WRITE_MIDDLE, MTU, 0});
	VIOLATES({ROCE_WRITE_FIRST, MTU, MTU + 8}, {ROCE_WRITE_LAST, 12, 0});
	VIOLATES({ROCE_READ_REQUEST, 0, 0x80000001});
}

/* A pad count that does not make the payload whole words. */
Test(responder, W_RESP_09_pad)
{
	static const uint8_t payload[MTU];

	for (uint32_t bytes = 4; bytes < 8; bytes++)
		for (uint32_t more = 1; more < 4; more++) {
			struct tape t;
			struct pair *p = peer_over(&t, true);
			struct roce_pkt pkt = packet(p, ROCE_SEND_ONLY, PSN, bytes);

			pair_recv(p, 1, 0, 1, 0, MTU);
			pair_inject_longer(p, 1, 0, &pkt, payload, more);
			heard(p, &t, 1, ROCE_SYN_NAK_INV_REQ, PSN);
			cr_assert_eq(roce_qp_reason(p->side[1].q[0].qp), ROCE_REASON_SENT_INV_REQ);
			pair_free(p);
		}
}

Test(responder, W_RESP_06_atomics_without_the_right_are_refused)
{
	VIOLATES({ROCE_CMP_SWAP, 0, 0});
	VIOLATES({ROCE_FETCH_ADD, 0, 0});
}

Test(responder, W_PKT_08_operations_of_newer_peers_are_dropped)
{
	struct tape t;
	struct pair *p = peer_new(&t);

	say_plain(p, ROCE_FLUSH, PSN, 0);
	say_plain(p, ROCE_ATOMIC_WRITE, PSN, 8);
	silent(p, &t, 0);
	cr_assert_eq(roce_shard_counters(p->side[1].shard)->rx_wrong_class, 2);
	say_plain(p, ROCE_WRITE_ONLY, PSN, 8);
	heard(p, &t, 1, ROCE_SYN_ACK, PSN);
	pair_free(p);
}

/* checks W-RESP-04 */
Test(responder, W_RESP_02_one_sequence_nak_per_gap)
{
	struct tape t;
	struct pair *p = peer_new(&t);

	say_plain(p, ROCE_WRITE_ONLY, PSN + 1, 8);
	heard(p, &t, 1, ROCE_SYN_NAK_SEQ, PSN);
	say_plain(p, ROCE_WRITE_ONLY, PSN + 2, 8);
	say_plain(p, ROCE_WRITE_ONLY, PSN + 3, 8);
	silent(p, &t, 1);
	say_plain(p, ROCE_WRITE_ONLY, PSN, 8);
	heard(p, &t, 2, ROCE_SYN_ACK, PSN);
	say_plain(p, ROCE_WRITE_ONLY, PSN + 2, 8);
	heard(p, &t, 3, ROCE_SYN_NAK_SEQ, PSN + 1);
	/* W-RESP-04: a duplicate opens the way for one more NAK. */
	say_plain(p, ROCE_WRITE_ONLY, PSN, 8);
	heard(p, &t, 4, ROCE_SYN_ACK, PSN);
	say_plain(p, ROCE_WRITE_ONLY, PSN + 2, 8);
	heard(p, &t, 5, ROCE_SYN_NAK_SEQ, PSN + 1);
	pair_free(p);
}

/* checks W-ACK-06 */
Test(responder, a_gap_that_closes_within_the_turn)
{
	struct tape t;
	struct pair *p = peer_new(&t);

	/* Overtaken: the late one comes, the other was dropped and is asked for. */
	say_plain(p, ROCE_WRITE_ONLY, PSN + 1, 8);
	say_plain(p, ROCE_WRITE_ONLY, PSN, 8);
	heard(p, &t, 1, ROCE_SYN_NAK_SEQ, PSN + 1);
	/* Both come again: nothing is missing when the NAK would leave. */
	say_plain(p, ROCE_WRITE_ONLY, PSN + 2, 8);
	say_plain(p, ROCE_WRITE_ONLY, PSN + 1, 8);
	say_plain(p, ROCE_WRITE_ONLY, PSN + 2, 8);
	heard(p, &t, 2, ROCE_SYN_ACK, PSN + 2);
	pair_free(p);
}

/* checks W-AETH-01 */
Test(responder, W_RESP_03_W_RESP_08_rnr_and_silence_behind_it)
{
	struct tape t;
	struct pair *p = peer_new(&t);
	struct ndsh_cqe c;

	say_plain(p, ROCE_WRITE_ONLY, PSN, 8);
	heard(p, &t, 1, ROCE_SYN_ACK, PSN);
	say_plain(p, ROCE_SEND_ONLY, PSN + 1, 8);
	say_plain(p, ROCE_SEND_ONLY, PSN + 2, 8);
	heard(p, &t, 2, ROCE_SYN_RNR | 14, PSN + 1);
	cr_assert_eq(t.said[1].msn, 1);
	say_plain(p, ROCE_SEND_ONLY, PSN + 2, 8);
	silent(p, &t, 2);
	pair_recv(p, 1, 0, 5, 0, 64);
	say_plain(p, ROCE_SEND_ONLY, PSN + 1, 8);
	heard(p, &t, 3, ROCE_SYN_ACK, PSN + 1);
	cr_assert_eq(t.said[2].msn, 2);
	cr_assert(pair_poll(p, 1, &c));
	cr_assert_eq(c.context, 5);
	pair_free(p);
}

Test(responder, W_ACK_02_coalesced_and_W_ACK_01_only_if_asked)
{
	struct tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt quiet = packet(p, ROCE_WRITE_ONLY, PSN, 8);

	quiet.ackreq = false;
	say(p, &quiet);
	silent(p, &t, 0);
	for (unsigned i = 1; i < 5; i++)
		say_plain(p, ROCE_WRITE_ONLY, PSN + i, 8);
	quiet.psn = PSN + 5;
	say(p, &quiet);
	heard(p, &t, 1, ROCE_SYN_ACK, PSN + 5);
	cr_assert_eq(t.said[0].msn, 6);
	pair_free(p);
}

/* checks W-AETH-01 */
Test(responder, W_DUP_01_a_duplicate_is_acknowledged_and_not_executed)
{
	struct tape t;
	struct pair *p = peer_new(&t);
	struct ndsh_cqe c;

	pair_recv(p, 1, 0, 1, 0, 64);
	pair_recv(p, 1, 0, 2, 0, 64);
	say_plain(p, ROCE_SEND_ONLY, PSN, 8);
	say_plain(p, ROCE_WRITE_ONLY, PSN + 1, 8);
	heard(p, &t, 1, ROCE_SYN_ACK, PSN + 1);
	p->side[1].arena[0] = 0x77;
	say_plain(p, ROCE_SEND_ONLY, PSN, 8);
	heard(p, &t, 2, ROCE_SYN_ACK, PSN + 1);
	say_plain(p, ROCE_WRITE_ONLY, PSN + 1, 8);
	heard(p, &t, 3, ROCE_SYN_ACK, PSN + 1);
	cr_assert_eq(t.said[2].msn, 2);
	cr_assert_eq(p->side[1].arena[0], 0x77);
	cr_assert(pair_poll(p, 1, &c));
	cr_assert_not(pair_poll(p, 1, &c));
	pair_free(p);
}

/* The duplicate of a message before a READ: what may be said of it is older than the ACK that is
 * owed for the message behind the READ, and does not take its place. checks W-ACK-02 */
Test(responder, W_DUP_02_an_older_acknowledgement_leaves_a_newer_one)
{
	struct tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt r = packet(p, ROCE_READ_REQUEST, PSN + 1, 0);

	say_plain(p, ROCE_WRITE_ONLY, PSN, 8);
	heard(p, &t, 1, ROCE_SYN_ACK, PSN);
	r.dma_bytes = 8;
	say(p, &r);
	pair_turn(p, 1);
	cr_assert_eq(t.n, 2);
	say_plain(p, ROCE_WRITE_ONLY, PSN + 2, 8);
	say_plain(p, ROCE_WRITE_ONLY, PSN, 8);
	heard(p, &t, 3, ROCE_SYN_ACK, PSN + 2);
	pair_free(p);
}

static struct roce_pkt
read_request(const struct pair *p, uint32_t psn, uint32_t at, uint32_t bytes)
{
	struct roce_pkt r = packet(p, ROCE_READ_REQUEST, psn, 0);

	r.va = PAIR_VA + at;
	r.dma_bytes = bytes;
	return r;
}

/* checks W-ACK-04, W-PSN-03, W-READ-01, W-RESP-01 */
Test(responder, W_ACK_03_answers_leave_in_PSN_order)
{
	struct tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt r = read_request(p, PSN + 1, 0, 2 * MTU + 5);
	static const uint8_t ops[] = {
		ROCE_READ_RESP_FIRST, ROCE_READ_RESP_MIDDLE, ROCE_READ_RESP_LAST, ROCE_ACK};

	say_plain(p, ROCE_WRITE_ONLY, PSN, 8);
	say(p, &r);
	say_plain(p, ROCE_WRITE_ONLY, PSN + 4, 8);
	pair_turn(p, 1);
	cr_assert_eq(t.n, 4); /* W-ACK-04: the first ACK is implied */
	for (unsigned i = 0; i < 4; i++) {
		cr_assert_eq(t.said[i].opcode, ops[i]);
		cr_assert_eq(t.said[i].psn, PSN + 1 + i);
	}
	pair_free(p);
}

Test(responder, W_DUP_03_W_DUP_04_read_replay)
{
	struct tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt r = read_request(p, PSN, 64, 3 * MTU);

	say(p, &r);
	silent(p, &t, 3);
	r = read_request(p, PSN + 1, 64 + MTU, 2 * MTU);
	say(p, &r);
	silent(p, &t, 5);
	cr_assert_eq(t.said[3].opcode, ROCE_READ_RESP_FIRST);
	cr_assert_eq(t.said[3].psn, PSN + 1);
	cr_assert_eq(t.said[4].opcode, ROCE_READ_RESP_LAST);
	r = read_request(p, PSN + 2, 64 + 2 * MTU, MTU);
	say(p, &r);
	silent(p, &t, 6);
	cr_assert_eq(t.said[5].opcode, ROCE_READ_RESP_ONLY);
	/* Another end, another start, another key: no answer, no harm (W-DUP-07). */
	r.dma_bytes -= 1;
	say(p, &r);
	r = read_request(p, PSN + 2, 65 + 2 * MTU, MTU);
	say(p, &r);
	r = read_request(p, PSN + 2, 64 + 2 * MTU, MTU);
	r.rkey ^= 1;
	say(p, &r);
	silent(p, &t, 6);
	cr_assert_eq(roce_qp_state_get(p->side[1].q[0].qp), ROCE_QPS_RTS);
	pair_free(p);
}

Test(responder, W_DUP_02_a_duplicate_before_a_read_does_not_acknowledge_it)
{
	struct tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt r = read_request(p, PSN + 1, 0, 2 * MTU);

	say_plain(p, ROCE_WRITE_ONLY, PSN, 8);
	say(p, &r);
	say_plain(p, ROCE_WRITE_ONLY, PSN + 3, 8);
	heard(p, &t, 3, ROCE_SYN_ACK, PSN + 3);
	say_plain(p, ROCE_WRITE_ONLY, PSN, 8);
	heard(p, &t, 4, ROCE_SYN_ACK, PSN);
	say_plain(p, ROCE_WRITE_ONLY, PSN + 3, 8);
	heard(p, &t, 5, ROCE_SYN_ACK, PSN + 3);
	pair_free(p);
}

Test(responder, W_DUP_07_a_replay_of_a_dead_region_is_silence)
{
	struct tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt r = read_request(p, PSN, 0, MTU);

	say(p, &r);
	silent(p, &t, 1);
	roce_mr_deregister(p->side[1].shard, p->side[1].mr);
	p->side[1].mr = NULL;
	say(p, &r);
	silent(p, &t, 1);
	cr_assert_eq(roce_qp_state_get(p->side[1].q[0].qp), ROCE_QPS_RTS);
	pair_free(p);
}

Test(responder, W_RESP_07_more_reads_than_agreed)
{
	struct tape t;
	struct pair *p = peer_new(&t);

	for (unsigned i = 0; i < 5; i++) { /* 4 were agreed, none is answered within the turn */
		struct roce_pkt r = read_request(p, PSN + i, 0, 8);

		say(p, &r);
	}
	pair_turn(p, 1);
	cr_assert_eq(t.n, 5, "%u", t.n); /* four answers, then the refusal, in order */
	for (unsigned i = 0; i < 4; i++)
		cr_assert_eq(t.said[i].opcode, ROCE_READ_RESP_ONLY);
	cr_assert_eq(t.said[4].syndrome, ROCE_SYN_NAK_INV_REQ);
	cr_assert_eq(t.said[4].psn, PSN + 4);
	pair_free(p);
}

/* checks W-RESP-15 */
Test(responder, immediates_of_a_peer_are_delivered)
{
	struct tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt pkt = packet(p, ROCE_SEND_ONLY_IMM, PSN, 8);
	struct ndsh_cqe c;

	pair_recv(p, 1, 0, 1, 0, 64);
	pair_recv(p, 1, 0, 2, 4096, 64);
	pkt.imm = 0x11223344;
	say(p, &pkt);
	pkt = packet(p, ROCE_WRITE_ONLY_IMM, PSN + 1, 16); /* W-RESP-15 */
	pkt.imm = 0x55667788;
	say(p, &pkt);
	heard(p, &t, 1, ROCE_SYN_ACK, PSN + 1);
	cr_assert(pair_poll(p, 1, &c));
	cr_assert_eq(c.flags & (NDSH_CQEF_IMM | NDSH_CQEF_WRITE), NDSH_CQEF_IMM);
	cr_assert_eq(c.data, 0x11223344);
	cr_assert(pair_poll(p, 1, &c));
	cr_assert(c.flags & NDSH_CQEF_IMM);
	cr_assert(c.flags & NDSH_CQEF_WRITE);
	cr_assert_eq(c.data, 0x55667788);
	cr_assert_eq(c.bytes, 16);
	cr_assert_eq(p->side[1].arena[4096], 0, "its buffer is not touched");
	pair_free(p);
}

Test(responder, W_INV_02_no_region_can_be_invalidated)
{
	struct tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt pkt = packet(p, ROCE_SEND_ONLY_INV, PSN, 8);
	struct ndsh_cqe c;

	pair_recv(p, 1, 0, 1, 0, 64);
	pkt.ieth = p->side[1].key;
	say(p, &pkt);
	heard(p, &t, 1, ROCE_SYN_NAK_REM_ACCESS, PSN);
	cr_assert(pair_poll(p, 1, &c));
	cr_assert_eq(c.status, NDSH_WC_REM_INV_REQ_ERR);
	cr_assert_eq(roce_qp_state_get(p->side[1].q[0].qp), ROCE_QPS_ERR);
	cr_assert_eq(roce_qp_reason(p->side[1].q[0].qp), ROCE_REASON_RECV_INV);
	cr_assert_eq(roce_mr_key(p->side[1].mr), p->side[1].key);
	pair_free(p);
}

static const struct roce_counters *
count(const struct pair *p)
{
	return roce_shard_counters(p->side[1].shard);
}

/* checks W-ICRC-05 */
Test(responder, W_PKT_10_W_PKT_11_W_PKT_14_W_PKT_15_silent_drops)
{
	struct tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt pkt = packet(p, ROCE_WRITE_ONLY, PSN, 8);
	struct roce_qp_attr a;

	pkt.qpn ^= 1;
	say(p, &pkt);
	silent(p, &t, 0);
	cr_assert_eq(count(p)->rx_unknown_qpn, 1);

	say_plain(p, ROCE_UD_SEND_ONLY, PSN, 8);
	silent(p, &t, 0);
	cr_assert_eq(count(p)->rx_wrong_class, 1);

	/* The same packet as another host would send it. */
	pair_attr(p, 0, 0, &a);
	a.path.sgid.raw[15] ^= 0x40;
	{
		uint8_t buf[ROCE_FRAME_MAX] = {0};
		struct roce_hdr_tmpl tmpl;
		struct roce_pkt parsed;
		uint32_t hdr;

		pkt = packet(p, ROCE_WRITE_ONLY, PSN, 8);
		roce_hdr_tmpl_init(&tmpl, &a.path);
		hdr = roce_wire_build(buf, &tmpl, &pkt, 0);
		cr_assert_eq(roce_wire_parse(buf, roce_wire_seal(buf, &tmpl, hdr, 8), &parsed),
			ROCE_WIRE_OK);
		pair_rx(p, 1, &parsed);
		cr_assert_eq(count(p)->rx_wrong_address, 1);

		/* From the right host, with one bit of the payload flipped. */
		a.path.sgid.raw[15] ^= 0x40;
		roce_hdr_tmpl_init(&tmpl, &a.path);
		hdr = roce_wire_build(buf, &tmpl, &pkt, 0);
		cr_assert_eq(roce_wire_parse(buf, roce_wire_seal(buf, &tmpl, hdr, 8), &parsed),
			ROCE_WIRE_OK);
		buf[hdr + 3] ^= 0x10;
		pair_rx(p, 1, &parsed);
		cr_assert_eq(count(p)->rx_icrc_error, 1);
	}
	roce_qp_modify(p->side[1].shard, p->side[1].q[0].qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
	say_plain(p, ROCE_WRITE_ONLY, PSN, 8);
	silent(p, &t, 0);
	cr_assert_eq(count(p)->rx_wrong_state, 1);
	pair_free(p);
}
