/* SPDX-License-Identifier: BSD-3-Clause */
/* What the responder does is counted once, by the counter of that name and by no other, and what it
 * refuses is in the record of its queue pair. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/scripted_peer.h"
#include "roce/qp/qp.h"

struct counted {
	uint64_t tx_ack, tx_nak_sequence, tx_rnr, tx_nak_fatal, key_violations, receives_completed,
		rx_out_of_sequence, rx_duplicate, rx_write_requests, rx_read_requests,
		rx_atomic_requests;
};

struct packet {
	uint8_t opcode;
	uint32_t ahead, bytes; /* its PSN, from the one expected; of READs: bytes of the RETH */
	uint32_t key;	       /* bits of the R_Key that are wrong */
};

struct act {
	struct packet of[3];
	bool receive;
	struct counted count;
	uint8_t record; /* kind of the first one, with its PSN; detail 0: there is none */
	uint32_t psn, detail;
};

static const struct act acts[] = {
	{{{ROCE_WRITE_ONLY, 0, 8, 0}}, false, {.tx_ack = 1, .rx_write_requests = 1}, 0, 0, 0},
	{{{ROCE_READ_REQUEST, 0, 8, 0}}, false, {.rx_read_requests = 1}, 0, 0, 0},
	{{{ROCE_SEND_ONLY, 0, 8, 0}}, true, {.tx_ack = 1, .receives_completed = 1}, 0, 0, 0},
	{{{ROCE_WRITE_ONLY_IMM, 0, 8, 0}}, true,
		{.tx_ack = 1, .receives_completed = 1, .rx_write_requests = 1}, 0, 0, 0},
	/* one that came before, and a gap */
	{{{ROCE_WRITE_ONLY, -1u, 8, 0}}, false, {.tx_ack = 1, .rx_duplicate = 1}, 0, 0, 0},
	{{{ROCE_WRITE_ONLY, 1, 8, 0}, {ROCE_WRITE_ONLY, 2, 8, 0}}, false,
		{.tx_nak_sequence = 1, .rx_out_of_sequence = 2}, ROCE_REC_NAK_SENT, 0,
		ROCE_SYN_NAK_SEQ},
	/* it closes before the NAK leaves */
	{{{ROCE_WRITE_ONLY, 1, 8, 0}, {ROCE_WRITE_ONLY, 0, 8, 0}, {ROCE_WRITE_ONLY, 1, 8, 0}},
		false, {.tx_ack = 1, .rx_out_of_sequence = 1, .rx_write_requests = 2},
		ROCE_REC_NAK_SENT, 0, ROCE_SYN_NAK_SEQ},
	{{{ROCE_SEND_ONLY, 0, 8, 0}}, false, {.tx_rnr = 1}, ROCE_REC_RNR_SENT, 0,
		ROCE_SYN_RNR | 14},
	{{{ROCE_SEND_LAST, 0, 8, 0}}, false, {.tx_nak_fatal = 1}, ROCE_REC_NAK_SENT, 0,
		ROCE_SYN_NAK_INV_REQ},
	{{{ROCE_SEND_ONLY, 0, 65, 0}}, true, {.tx_nak_fatal = 1}, ROCE_REC_NAK_SENT, 0,
		ROCE_SYN_NAK_INV_REQ},
	{{{ROCE_WRITE_ONLY, 0, 8, 0}, {ROCE_WRITE_ONLY, 1, 8, 2}}, false,
		{.tx_nak_fatal = 1, .key_violations = 1, .rx_write_requests = 1}, ROCE_REC_NAK_SENT,
		1, ROCE_SYN_NAK_REM_ACCESS},
	{{{ROCE_READ_REQUEST, 0, 8, 2}}, false, {.tx_nak_fatal = 1, .key_violations = 1},
		ROCE_REC_NAK_SENT, 0, ROCE_SYN_NAK_REM_ACCESS},
	{{{ROCE_SEND_ONLY_INV, 0, 8, 0}}, true, {.tx_nak_fatal = 1, .key_violations = 1},
		ROCE_REC_NAK_SENT, 0, ROCE_SYN_NAK_REM_ACCESS},
};

static void
expect_counted(const struct pair *p, const struct counted *want, unsigned which)
{
	const struct roce_counters *c = pair_count(p, 1);
	const struct counted got = {c->tx_ack, c->tx_nak_sequence, c->tx_rnr, c->tx_nak_fatal,
		c->key_violations, c->receives_completed, c->rx_out_of_sequence, c->rx_duplicate,
		c->rx_write_requests, c->rx_read_requests, c->rx_atomic_requests};

	cr_assert_eq(memcmp(&got, want, sizeof(got)), 0,
		"case %u: ACKs %lu, NAKs %lu, RNR %lu, fatal %lu, keys %lu, receives %lu, gaps "
		"%lu, duplicates %lu, WRITEs %lu, READs %lu, atomics %lu",
		which, got.tx_ack, got.tx_nak_sequence, got.tx_rnr, got.tx_nak_fatal,
		got.key_violations, got.receives_completed, got.rx_out_of_sequence,
		got.rx_duplicate, got.rx_write_requests, got.rx_read_requests,
		got.rx_atomic_requests);
}

static void
expect_recorded(struct pair *p, uint8_t kind, uint32_t psn, uint32_t detail, unsigned which)
{
	struct roce_qp_record r[ROCE_RECORDS];
	unsigned n = roce_qp_records(p->side[1].q[0].qp, r);

	if (detail == 0) {
		cr_assert_eq(n, 0, "case %u", which);
		return;
	}
	cr_assert_geq(n, 1, "case %u", which);
	cr_assert_eq(
		r[0].kind_psn, (uint32_t)kind << 24 | psn, "case %u: %x", which, r[0].kind_psn);
	cr_assert_eq(r[0].detail, detail, "case %u", which);
}

/* checks W-RESP-18[1], W-RESP-02[1] */
Test(counted, everything_once)
{
	for (unsigned i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		const struct act *a = &acts[i];
		struct peer_tape t;
		struct pair *p = peer_new(&t);

		if (a->receive)
			pair_recv(p, 1, 0, 1, 0, 64);
		for (unsigned k = 0; k < 3 && (k == 0 || a->of[k].bytes > 0); k++) {
			const struct packet *of = &a->of[k];
			struct roce_pkt pkt =
				of->opcode == ROCE_READ_REQUEST
					? peer_read_request(p, PEER_PSN + of->ahead, 0, of->bytes)
					: peer_packet(
						  p, of->opcode, PEER_PSN + of->ahead, of->bytes);

			pkt.rkey ^= of->key;
			pkt.ieth = pkt.rkey; /* a region: not for the peer to invalidate */
			peer_say(p, &pkt);
		}
		pair_turn(p, 1);
		expect_counted(p, &a->count, i);
		expect_recorded(p, a->record, PEER_PSN + a->psn, a->detail, i);
		pair_free(p);
	}
}

/* The key goes while the responses leave. checks W-RESP-13 */
Test(counted, a_read_that_is_refused_on_its_way)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt r = peer_read_request(p, PEER_PSN, 0, 3 * PEER_MTU);

	peer_say(p, &r);
	p->side[1].frames = 1;
	pair_turn(p, 1);
	cr_assert(roce_mr_deregister(p->side[1].shard, p->side[1].mr));
	p->side[1].mr = NULL;
	peer_heard(p, &t, 2, ROCE_SYN_NAK_REM_ACCESS, PEER_PSN + 1);
	expect_counted(p,
		&(struct counted){.tx_nak_fatal = 1, .key_violations = 1, .rx_read_requests = 1},
		0);
	expect_recorded(p, ROCE_REC_NAK_SENT, PEER_PSN + 1, ROCE_SYN_NAK_REM_ACCESS, 0);
	pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_REM_ACCESS);
	peer_silent(p, &t, 2);
	pair_free(p);
}

/* Each once, of however many packets it is, and whatever was repeated. */
Test(counted, requests_by_kind)
{
	const uint32_t all =
		NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_REMOTE_ATOMIC;

	for (unsigned uc = 0; uc < 2; uc++) {
		struct pair *p = pair_new(&(struct pair_opts){.uc = uc,
			.mtu = PEER_MTU,
			.access = uc ? 0 : all,
			.mr_access = NDSH_ACCESS_LOCAL_WRITE | all});
		const struct roce_counters *c = pair_count(p, 1);
		const struct ndsh_sge word = pair_sge(p, 0, 0, 8);

		pair_write(p, 0, 0, 1, 0, 0, 3 * PEER_MTU, 0);
		pair_write(p, 0, 0, 2, 0, 0, 0, 0);
		if (!uc) {
			pair_read(p, 0, 0, 3, 0, 0, 3 * PEER_MTU, 0);
			pair_post_sge(p, 0, 0, 4, NDSH_OP_FETCH_ADD, 0, &word);
			pair_post_sge(p, 0, 0, 5, NDSH_OP_CMP_SWAP, 0, &word);
		}
		cr_assert(pair_run(p, PAIR_LONG));
		cr_expect_eq(c->rx_write_requests, 2);
		cr_expect_eq(c->rx_read_requests, uc ? 0 : 1);
		cr_expect_eq(c->rx_atomic_requests, uc ? 0 : 2);
		pair_free(p);
	}
}

/* The event of the first request, after whatever was in the way of others since. checks
 * W-RESP-17[2] */
Test(counted, the_first_request_is_told_of_once)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);

	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN);
	cr_assert_eq(p->side[1].events, 1u << ROCE_EV_COMM_EST);
	p->side[1].events = 0;
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 2, 8);
	peer_heard(p, &t, 2, ROCE_SYN_NAK_SEQ, PEER_PSN + 1);
	peer_say_plain(p, ROCE_SEND_ONLY, PEER_PSN + 1, 8);
	peer_heard(p, &t, 3, ROCE_SYN_RNR | 14, PEER_PSN + 1);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 1, 8);
	peer_heard(p, &t, 4, ROCE_SYN_ACK, PEER_PSN + 1);
	cr_assert_eq(p->side[1].events, 0);
	pair_free(p);
}
