/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that come twice: what is answered again, and that nothing is executed again. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/overheard.h"
#include "rigs/scripted_peer.h"

/* checks W-AETH-01[6], W-DUP-01[1,2] */
Test(duplicate, W_DUP_01_a_duplicate_is_acknowledged_and_not_executed)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct ndsh_cqe c;

	pair_recv(p, 1, 0, 1, 0, 64);
	pair_recv(p, 1, 0, 2, 0, 64);
	peer_say_plain(p, ROCE_SEND_ONLY, PEER_PSN, 8);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 1, 8);
	peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN + 1);
	p->side[1].arena[0] = 0x77;
	peer_say_plain(p, ROCE_SEND_ONLY, PEER_PSN, 8);
	peer_heard(p, &t, 2, ROCE_SYN_ACK, PEER_PSN + 1);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 1, 8);
	peer_heard(p, &t, 3, ROCE_SYN_ACK, PEER_PSN + 1);
	cr_assert_eq(t.said[2].msn, 2);
	cr_assert_eq(p->side[1].arena[0], 0x77);
	cr_assert(pair_poll(p, 1, &c));
	cr_assert_not(pair_poll(p, 1, &c));
	pair_free(p);
}

/*
 * The duplicate of a message before a READ: what may be said of it is older than the ACK that is
 * owed for the message behind the READ, and does not take its place. checks W-ACK-02[1]
 */
Test(duplicate, W_DUP_02_an_older_acknowledgement_leaves_a_newer_one)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt r = peer_packet(p, ROCE_READ_REQUEST, PEER_PSN + 1, 0);

	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN);
	r.dma_bytes = 8;
	peer_say(p, &r);
	pair_turn(p, 1);
	cr_assert_eq(t.n, 2);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 2, 8);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	peer_heard(p, &t, 3, ROCE_SYN_ACK, PEER_PSN + 2);
	pair_free(p);
}

/* Also if it does not ask, whatever it is. checks W-DUP-01[3], W-INV-04[1] */
Test(duplicate, W_DUP_01_always_a_reply)
{
	static const uint8_t ops[] = {ROCE_WRITE_ONLY, ROCE_SEND_ONLY, ROCE_WRITE_FIRST,
		ROCE_SEND_MIDDLE, ROCE_SEND_LAST_INV, ROCE_WRITE_ONLY_IMM};
	struct peer_tape t;
	struct pair *p = peer_new(&t);

	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN);
	for (unsigned i = 0; i < sizeof(ops); i++) {
		struct roce_pkt dup = peer_packet(p, ops[i], PEER_PSN - i, 8);

		dup.ackreq = false;
		peer_say(p, &dup);
		peer_heard(p, &t, 2 + i, ROCE_SYN_ACK, PEER_PSN);
	}
	pair_expect_alive(p, 1, 0);
	pair_free(p);
}

Test(duplicate, W_DUP_02_a_duplicate_before_a_read_does_not_acknowledge_it)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt r = peer_read_request(p, PEER_PSN + 1, 0, 2 * PEER_MTU);

	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	peer_say(p, &r);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 3, 8);
	peer_heard(p, &t, 3, ROCE_SYN_ACK, PEER_PSN + 3);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	peer_heard(p, &t, 4, ROCE_SYN_ACK, PEER_PSN);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 3, 8);
	peer_heard(p, &t, 5, ROCE_SYN_ACK, PEER_PSN + 3);
	pair_free(p);
}

/*
 * checks W-ACK-05, W-DUP-02: a WRITE, a READ, a WRITE, a READ: each WRITE that comes again is
 * acknowledged up to the READ behind it, whichever slot that one has, and however many are
 * behind it.
 */
Test(duplicate, W_DUP_02_up_to_the_first_read_behind_it)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);

	for (uint32_t n = 0; n < 2 * ROCE_RD_ATOMIC_MAX + 3; n++) {
		struct roce_pkt r = peer_read_request(p, PEER_PSN + 2 * n + 1, 0, 8);

		peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 2 * n, 8);
		peer_say(p, &r);
		pair_turn(p, 1);
		for (uint32_t back = 0; back <= n && back < ROCE_RD_ATOMIC_MAX; back++) {
			t.n = 0;
			peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 2 * (n - back), 8);
			peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN + 2 * (n - back));
		}
	}
	pair_free(p);
}

/* checks W-DUP-03[1,7], W-DUP-07[1,2] */
Test(duplicate, W_DUP_03_W_DUP_04_read_replay)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt r = peer_read_request(p, PEER_PSN, 64, 3 * PEER_MTU);

	peer_say(p, &r);
	peer_silent(p, &t, 3);
	memset(p->side[1].arena + 64, 0x42, 3 * PEER_MTU);
	r = peer_read_request(p, PEER_PSN + 1, 64 + PEER_MTU, 2 * PEER_MTU);
	peer_say(p, &r);
	peer_silent(p, &t, 5);
	cr_assert_eq(t.said[3].payload[0], 0x42, "memory is read again");
	cr_assert_eq(t.said[3].opcode, ROCE_READ_RESP_FIRST);
	cr_assert_eq(t.said[3].psn, PEER_PSN + 1);
	cr_assert_eq(t.said[4].opcode, ROCE_READ_RESP_LAST);
	r = peer_read_request(p, PEER_PSN + 2, 64 + 2 * PEER_MTU, PEER_MTU);
	peer_say(p, &r);
	peer_silent(p, &t, 6);
	cr_assert_eq(t.said[5].opcode, ROCE_READ_RESP_ONLY);
	/* Another end, another start, another key: no answer, no harm (W-DUP-07). */
	r.dma_bytes -= 1;
	peer_say(p, &r);
	r = peer_read_request(p, PEER_PSN + 2, 65 + 2 * PEER_MTU, PEER_MTU);
	peer_say(p, &r);
	r = peer_read_request(p, PEER_PSN + 2, 64 + 2 * PEER_MTU, PEER_MTU);
	r.rkey ^= 1;
	peer_say(p, &r);
	peer_silent(p, &t, 6);
	cr_assert_eq(roce_qp_state_get(p->side[1].q[0].qp), ROCE_QPS_RTS);
	pair_free(p);
}

/* checks W-DUP-03[4], W-DUP-07[1,2] */
Test(duplicate, W_DUP_07_a_replay_of_a_dead_region_is_silence)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt r = peer_read_request(p, PEER_PSN, 0, PEER_MTU);

	peer_say(p, &r);
	peer_silent(p, &t, 1);
	roce_mr_deregister(p->side[1].shard, p->side[1].mr);
	p->side[1].mr = NULL;
	peer_say(p, &r);
	peer_silent(p, &t, 1);
	cr_assert_eq(roce_qp_state_get(p->side[1].q[0].qp), ROCE_QPS_RTS);
	pair_free(p);
}

/* No peer that keeps the rules asks so: half of it was never asked before. */
Test(duplicate, W_DUP_08_a_duplicate_that_reaches_into_the_future)
{
	struct ear e;
	struct pair *p = ear_pair(&e, (struct pair_opts){0});
	struct roce_pkt pkt = ear_request(p, ROCE_WRITE_ONLY, EAR_PSN, 8);
	unsigned said;

	pair_inject(p, 1, 0, &pkt, "12345678");
	pkt = ear_request(p, ROCE_READ_REQUEST, EAR_PSN + 1, 2 * EAR_MTU);
	pair_inject(p, 1, 0, &pkt, NULL);
	pair_turn(p, 1);
	said = e.n;
	pkt = ear_request(
		p, ROCE_READ_REQUEST, EAR_PSN, 3 * EAR_MTU); /* begins where a WRITE was */
	pair_inject(p, 1, 0, &pkt, NULL);
	pkt = ear_request(
		p, ROCE_READ_REQUEST, EAR_PSN + 1, 3 * EAR_MTU); /* ends behind what was asked */
	pair_inject(p, 1, 0, &pkt, NULL);
	pkt = ear_request(
		p, ROCE_READ_REQUEST, EAR_PSN + 2, 2 * EAR_MTU); /* the same, from its second one */
	pkt.va += EAR_MTU;
	pair_inject(p, 1, 0, &pkt, NULL);
	pair_turn(p, 1);
	cr_assert_eq(pair_count(p, 1)->rx_duplicate, 3);
	cr_assert_eq(e.n, said);
	pair_expect_alive(p, 1, 0);
	pkt = ear_request(p, ROCE_WRITE_ONLY, EAR_PSN + 3, 8); /* what was expected still is */
	pair_inject(p, 1, 0, &pkt, "abcdefgh");
	pair_turn(p, 1);
	cr_assert_eq(p->side[1].arena[0], 'a');
	pair_free(p);
}

/* ---- READs ---- */

/* Everything that side 1 has not said yet, since the nth packet. */
static unsigned
rest(struct pair *p, struct peer_tape *t)
{
	unsigned before = t->n;

	pair_turn(p, 1);
	return t->n - before;
}

/*
 * Asked for again from each of its responses on: that one is FIRST or ONLY, and the others
 * follow, with PSNs that start at the request's. checks W-DUP-03[1,8], W-DUP-04, W-RXE-17
 */
Test(duplicate, W_DUP_04_from_each_response_on)
{
	for (uint32_t n = 1; n <= 5; n++)
		for (uint32_t skip = 0; skip < n; skip++) {
			uint32_t bytes = n * PEER_MTU - 3;
			struct peer_tape t;
			struct pair *p = peer_new(&t);
			struct roce_pkt r = peer_read_request(p, PEER_PSN, 64, bytes);

			peer_say(p, &r);
			cr_assert_eq(rest(p, &t), n);
			r = peer_read_request(
				p, PEER_PSN + skip, 64 + skip * PEER_MTU, bytes - skip * PEER_MTU);
			peer_say(p, &r);
			cr_assert_eq(rest(p, &t), n - skip);
			for (uint32_t i = 0; i < n - skip; i++) {
				const struct roce_pkt *k = &t.said[n + i];
				bool first = i == 0, last = i + 1 == n - skip;

				cr_assert_eq(k->psn, PEER_PSN + skip + i);
				cr_assert_eq(k->opcode, first && last ? ROCE_READ_RESP_ONLY
							: first	      ? ROCE_READ_RESP_FIRST
							: last	      ? ROCE_READ_RESP_LAST
								      : ROCE_READ_RESP_MIDDLE);
				cr_assert_eq(k->payload_bytes, last ? PEER_MTU - 3 : PEER_MTU);
			}
			pair_free(p);
		}
}

/* Side 1 gets pkt, and says nothing yet. */
static void
say_only(struct pair *p, const struct roce_pkt *pkt)
{
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce_pkt parsed;
	struct roce_qp_attr a;
	uint32_t n;

	pair_attr(p, 0, 0, &a);
	n = pair_build(frame, &a.path, pkt, NULL);
	cr_assert_eq(roce_wire_parse(frame, n, &parsed), ROCE_WIRE_OK);
	pair_rx(p, 1, &parsed);
}

/* The next packets of side 1, n at most. */
static unsigned
hear_few(struct pair *p, struct peer_tape *t, unsigned n)
{
	static uint8_t frame[ROCE_FRAME_MAX];
	struct roce_tx_slot slot = {.buf = frame};
	unsigned heard = 0;

	while (heard < n && roce_shard_tx(p->side[1].shard, p->now_ns, &slot, 1) == 1) {
		cr_assert_eq(roce_wire_parse(frame, slot.len, &t->said[t->n++]), ROCE_WIRE_OK);
		heard++;
	}
	return heard;
}

/*
 * A READ of three responses, one of two, and a WRITE; before all is said the first one is repeated,
 * from each of its responses on. What was queued of it is cancelled, the second one begins anew if
 * it was not finished, and the WRITE is acknowledged behind both. checks W-DUP-03[8,9,10], W-ACK-03
 */
Test(duplicate, W_DUP_03_what_is_still_queued)
{
	for (uint32_t before = 0; before <= 6; before++)
		for (uint32_t skip = 0; skip < 3; skip++) {
			struct peer_tape t;
			struct pair *p = peer_new(&t);
			struct roce_pkt one = peer_read_request(p, PEER_PSN, 64, 3 * PEER_MTU);
			struct roce_pkt two = peer_read_request(p, PEER_PSN + 3, 64, 2 * PEER_MTU);
			struct roce_pkt write = peer_packet(p, ROCE_WRITE_ONLY, PEER_PSN + 5, 8);
			unsigned i = 0;

			say_only(p, &one);
			say_only(p, &two);
			say_only(p, &write);
			cr_assert_eq(hear_few(p, &t, before), before);
			one = peer_read_request(
				p, PEER_PSN + skip, 64 + skip * PEER_MTU, (3 - skip) * PEER_MTU);
			say_only(p, &one);
			t.n = 0;
			(void)hear_few(p, &t, 20);
			for (uint32_t k = skip; k < 3; k++)
				cr_assert_eq(t.said[i++].psn, PEER_PSN + k, "%u, %u", before, skip);
			cr_assert_eq(t.said[0].opcode,
				skip == 2 ? ROCE_READ_RESP_ONLY : ROCE_READ_RESP_FIRST);
			if (before < 5) {
				cr_assert_eq(t.said[i].opcode, ROCE_READ_RESP_FIRST);
				cr_assert_eq(t.said[i++].psn, PEER_PSN + 3);
				cr_assert_eq(t.said[i].opcode, ROCE_READ_RESP_LAST);
				cr_assert_eq(t.said[i++].psn, PEER_PSN + 4);
			}
			if (before < 6) {
				cr_assert_eq(t.said[i].opcode, ROCE_ACK);
				cr_assert_eq(t.said[i++].psn, PEER_PSN + 5);
			}
			cr_assert_eq(t.n, i, "%u, %u", before, skip);
			pair_free(p);
		}
}

/* All of it was said once, however little of it is said again: what is missing when the key is
 * revoked is no new refusal. checks W-DUP-07[1,2] */
Test(duplicate, W_DUP_07_revoked_while_it_is_said_again)
{
	for (unsigned times = 1; times <= 3; times++) {
		struct peer_tape t;
		struct pair *p = peer_new(&t);
		struct roce_pkt r = peer_read_request(p, PEER_PSN, 0, 3 * PEER_MTU);

		say_only(p, &r);
		cr_assert_eq(hear_few(p, &t, 20), 3);
		for (unsigned i = 0; i < times; i++) {
			say_only(p, &r);
			cr_assert_eq(hear_few(p, &t, 1), 1);
			cr_assert_eq(t.said[t.n - 1].psn, PEER_PSN);
		}
		roce_mr_deregister(p->side[1].shard, p->side[1].mr);
		p->side[1].mr = NULL;
		cr_assert_eq(hear_few(p, &t, 20), 0, "repeated %u times", times);
		pair_expect_alive(p, 1, 0);
		pair_free(p);
	}
}

/*
 * One that differs in anything is no repetition. checks W-ATOM-01[1], W-DUP-03[2,3,5,6],
 * W-DUP-07[1,2], W-DUP-08
 */
Test(duplicate, W_DUP_03_what_is_not_the_same)
{
	static const struct {
		int32_t psn, at, bytes;
		uint32_t key;
	} off[] = {{0, 1, 0, 0}, {0, -1, 0, 0}, {0, 0, 1, 0}, {0, 0, -1, 0}, {0, 0, 0, 1},
		{0, 0, 0, 0x80000000}, {1, 0, 0, 0}, {0, PEER_MTU, 0, 0}, {0, 0, PEER_MTU, 0},
		{1, PEER_MTU, 0, 0}, {1, 0, -(int32_t)PEER_MTU, 0},
		{1, PEER_MTU, -(int32_t)PEER_MTU + 1, 0}, {2, PEER_MTU, -(int32_t)PEER_MTU, 0},
		{3, 0, 0, 0}, {-1, 0, 0, 0}};

	for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		struct peer_tape t;
		struct pair *p = peer_new(&t);
		struct roce_pkt r = peer_read_request(p, PEER_PSN + 1, 8192, 3 * PEER_MTU);

		peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
		peer_say(p, &r);
		peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 4, 8);
		cr_assert_eq(rest(p, &t), 4);
		r = peer_read_request(p, (uint32_t)(PEER_PSN + 1 + off[i].psn),
			(uint32_t)(8192 + off[i].at),
			(uint32_t)((int32_t)(3 * PEER_MTU) + off[i].bytes));
		r.rkey ^= off[i].key;
		peer_say(p, &r);
		cr_assert_eq(rest(p, &t), 0, "%zu", i);
		pair_expect_alive(p, 1, 0);
		peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 5, 8);
		peer_heard(p, &t, 5, ROCE_SYN_ACK, PEER_PSN + 5);
		pair_free(p);
	}
}

/*
 * A write of another length, or to another place, or a SEND where a WRITE was, is acknowledged
 * all the same: its PSN was executed, and nothing of it is looked at. checks W-DUP-01[1,2],
 * W-DUP-07[1,2], W-INV-04[1]
 */
Test(duplicate, W_DUP_01_nothing_of_it_is_looked_at)
{
	static const uint8_t ops[] = {ROCE_WRITE_ONLY, ROCE_WRITE_FIRST, ROCE_WRITE_MIDDLE,
		ROCE_WRITE_LAST, ROCE_SEND_ONLY, ROCE_SEND_FIRST, ROCE_SEND_MIDDLE, ROCE_SEND_LAST,
		ROCE_SEND_ONLY_IMM, ROCE_WRITE_ONLY_IMM, ROCE_SEND_ONLY_INV};
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	unsigned said = 1;

	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 1, 8);
	peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN + 1);
	memset(p->side[1].arena, 0x33, 2 * PEER_MTU);
	for (size_t i = 0; i < sizeof(ops); i++)
		for (uint32_t bytes = 0; bytes <= PEER_MTU; bytes += PEER_MTU / 4) {
			struct roce_pkt dup = peer_packet(p, ops[i], PEER_PSN, bytes);

			dup.rkey ^= i & 1;
			dup.dma_bytes += i & 2;
			peer_say(p, &dup);
			peer_heard(p, &t, ++said, ROCE_SYN_ACK, PEER_PSN + 1);
			cr_assert_eq(t.said[said - 1].msn, 2);
			t.n = said = 1;
		}
	for (unsigned k = 0; k < 2 * PEER_MTU; k++)
		cr_assert_eq(p->side[1].arena[k], 0x33);
	pair_expect_none(p, 1);
	pair_expect_alive(p, 1, 0);
	pair_free(p);
}

/* ---- anything again, at any time ---- */

#define COUNTER 65536u /* offset of a word that FETCH_ADDs count in */
#define LOG	131072u
#define STEPS	3000u

struct sent {
	struct roce_pkt pkt;
	uint64_t found; /* FETCH_ADD: what it must say that it found */
	uint32_t n;	/* PSNs */
};

/*
 * New requests of all kinds, and now and then one of the last four again: each atomic tells what
 * it found when it was executed, each READ comes with the right PSNs, no write is done twice,
 * and no ACK names what was not executed. checks W-AETH-01[6], W-ATOM-01[1], W-DUP-01[1],
 * W-DUP-03[1,8], W-DUP-05[1,2], W-PSN-05[2]
 */
Test(duplicate, W_DUP_05_everything_may_come_again)
{
	static struct sent sent[STEPS];
	struct peer_tape t;
	struct pair *p = peer_with(&t,
		(struct pair_opts){.access = NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE |
					     NDSH_ACCESS_REMOTE_ATOMIC,
			.mr_access = NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_READ |
				     NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_REMOTE_ATOMIC,
			.max_dest_rd = 16});
	uint32_t psn = PEER_PSN, dice = 12345, n = 0;
	uint64_t sum = 0;

	for (unsigned step = 0; step < STEPS; step++) {
		bool again;
		struct sent *s;

		dice = dice * 1664525 + 1013904223;
		again = n > 4 && (dice >> 28) < 6;
		s = again ? &sent[n - 1 - (dice >> 20 & 3)] : &sent[n++];
		if (!again && (dice >> 16 & 3) == 0) {
			s->pkt = peer_packet(p, ROCE_FETCH_ADD, psn, 0);
			s->pkt.va = PAIR_VA + COUNTER;
			s->pkt.swap_add = n;
			s->pkt.dma_bytes = 0;
			s->found = sum;
			sum += n;
			s->n = 1;
		} else if (!again && (dice >> 16 & 3) == 1) {
			s->n = 1 + (dice >> 10) % 3;
			s->pkt = peer_read_request(p, psn, 0, s->n * PEER_MTU);
		} else if (!again) {
			s->pkt = peer_packet(p, ROCE_WRITE_ONLY, psn, 8);
			s->pkt.va = PAIR_VA + LOG;
			s->n = 1;
		}
		if (!again)
			psn = (psn + s->n) & ROCE_PSN_MASK;
		t.n = 0;
		memset(p->side[1].arena + LOG, 0, 8);
		peer_say(p, &s->pkt);
		pair_turn(p, 1);
		if (s->pkt.opcode == ROCE_FETCH_ADD) {
			cr_assert_eq(t.n, 1);
			cr_assert_eq(t.said[0].opcode, ROCE_ATOMIC_ACK);
			cr_assert_eq(t.said[0].psn, s->pkt.psn);
			cr_assert_eq(t.said[0].atomic_orig, s->found, "step %u", step);
		} else if (s->pkt.opcode == ROCE_READ_REQUEST) {
			cr_assert_eq(t.n, s->n);
			for (uint32_t i = 0; i < s->n; i++)
				cr_assert_eq(t.said[i].psn, (s->pkt.psn + i) & ROCE_PSN_MASK);
		} else {
			cr_assert_eq(t.n, 1);
			cr_assert_eq(t.said[0].opcode, ROCE_ACK);
			cr_assert_geq(roce_psn_diff(t.said[0].psn, s->pkt.psn), 0);
			cr_assert_lt(roce_psn_diff(t.said[0].psn, psn), 0);
			cr_assert_eq(p->side[1].arena[LOG] == 0xa5, !again);
		}
		cr_assert_eq(t.said[0].msn, n & 0xffffff);
	}
	cr_assert_eq(memcmp(p->side[1].arena + COUNTER, &sum, sizeof(sum)), 0);
	pair_expect_alive(p, 1, 0);
	pair_free(p);
}
