/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A packet that needs a receive and finds no room in the staging of moved memory is refused by an
 * RNR NAK, and its peer may send anything under that PSN afterwards. The receive belongs to the
 * message that arrives, never to the one that was refused (W-RESP-08: ePSN, MSN and receives stay).
 */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/scripted_peer.h"
#include "roce/qp/qp.h"

#define SLACK 4096u /* of side 1's moved memory, for receives; the rest is written to */

/* Side 1, whose client moves nothing, has no room left for what the peer sends to moved memory, and
 * one receive, there. */
struct full {
	struct peer_tape tape;
	struct pair *p;
	uint32_t psn; /* the next one */
	uint32_t msn; /* with what was accepted */
};

static uint32_t
expected(const struct pair *p)
{
	struct roce_qp_attr a;

	roce_qp_query(p->side[1].q[0].qp, &a);
	return a.rq_psn;
}

static struct roce_pkt
to_moved(const struct full *f, uint8_t opcode, uint32_t bytes)
{
	struct roce_pkt w = peer_packet(f->p, opcode, f->psn, bytes);

	w.va = (uintptr_t)f->p->side[1].moved + SLACK;
	w.rkey = f->p->side[1].moved_key;
	return w;
}

static void
post_receive(struct full *f, uint64_t context)
{
	struct pair_side *d = &f->p->side[1];
	const struct ndsh_sge in = pair_moved_sge(f->p, 1, 0, SLACK);

	ndsh_rq_push(d->srq != NULL ? &d->srq_rq : &d->q[0].rq, context, &in, 1);
}

static bool
is_received(struct full *f, const struct roce_pkt *pkt)
{
	peer_say(f->p, pkt);
	pair_turn(f->p, 1);
	return expected(f->p) != f->psn;
}

static void
fill(struct full *f, struct pair_opts opts)
{
	opts.moved = true;
	opts.access =
		NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_REMOTE_ATOMIC;
	opts.mr_access = opts.access | NDSH_ACCESS_LOCAL_WRITE;
	*f = (struct full){.psn = PEER_PSN};
	f->p = peer_with(&f->tape, opts);
	f->p->side[1].stalled = true;
	for (uint32_t bytes = PEER_MTU; bytes > 0; bytes /= 8) {
		struct roce_pkt w = to_moved(f, ROCE_WRITE_ONLY, bytes);

		for (; is_received(f, &w); w.psn = ++f->psn)
			f->msn++;
	}
	post_receive(f, 1);
}

/* The mover has room again; what is owed has left. */
static void
make_room(struct full *f)
{
	f->p->side[1].stalled = false;
	for (unsigned i = 0; i < 4; i++)
		pair_turn(f->p, 1);
}

static void
refuse(struct full *f, uint8_t opcode, uint32_t bytes)
{
	struct roce_pkt w = to_moved(f, opcode, bytes);
	const struct roce_pkt *said;

	cr_assert_not(is_received(f, &w));
	cr_assert_null(f->p->side[1].q[0].qp->rx_wqe, "taken, though refused");
	make_room(f);
	said = &f->tape.said[f->tape.n - 1];
	cr_assert_eq(said->syndrome, ROCE_SYN_RNR | 14);
	cr_assert_eq(said->psn, f->psn);
	cr_assert_eq(said->msn, f->msn);
	pair_expect_none(f->p, 1);
}

static void
say(struct full *f, uint8_t opcode, uint32_t bytes)
{
	struct roce_pkt w = peer_packet(f->p, opcode, f->psn++, bytes);

	peer_say(f->p, &w);
	pair_turn(f->p, 1);
	pair_turn(f->p, 1);
}

static const uint8_t needy[] = {ROCE_SEND_ONLY, ROCE_SEND_FIRST, ROCE_SEND_ONLY_IMM,
	ROCE_SEND_ONLY_INV, ROCE_WRITE_ONLY_IMM};
#define NEEDY (sizeof(needy) / sizeof(needy[0]))

static uint32_t
bytes_of(uint8_t opcode)
{
	return opcode == ROCE_SEND_FIRST ? PEER_MTU : 64;
}

/* The peer sent nothing that takes a receive. checks W-RESP-08[5,6] */
Test(refused, W_RESP_08_a_write_completes_no_receive)
{
	for (unsigned i = 0; i < NEEDY; i++) {
		struct full f;

		fill(&f, (struct pair_opts){0});
		refuse(&f, needy[i], bytes_of(needy[i]));
		say(&f, ROCE_WRITE_ONLY, 8);
		pair_expect_none(f.p, 1);
		say(&f, ROCE_SEND_ONLY, 8);
		cr_assert_eq(pair_expect(f.p, 1, 1, NDSH_WC_SUCCESS).bytes, 8);
		pair_expect_alive(f.p, 1, 0);
		pair_free(f.p);
	}
}

/* READs and atomics of the same PSN leave it where it is. */
Test(refused, W_RESP_08_a_read_or_an_atomic_completes_no_receive)
{
	static const uint8_t fetch[] = {ROCE_READ_REQUEST, ROCE_FETCH_ADD, ROCE_CMP_SWAP};

	for (unsigned i = 0; i < NEEDY * 3; i++) {
		struct roce_pkt w;
		struct full f;

		fill(&f, (struct pair_opts){0});
		refuse(&f, needy[i / 3], bytes_of(needy[i / 3]));
		w = peer_packet(f.p, fetch[i % 3], f.psn++, 0);
		w.dma_bytes = 8;
		peer_say(f.p, &w);
		pair_turn(f.p, 1);
		cr_assert_eq(f.tape.said[f.tape.n - 1].psn, w.psn);
		pair_expect_none(f.p, 1);
		say(&f, ROCE_SEND_ONLY, 8);
		pair_expect(f.p, 1, 1, NDSH_WC_SUCCESS);
		pair_free(f.p);
	}
}

/* What completes it says what it is itself, not what was refused. checks W-RESP-08[6] */
Test(refused, W_RESP_08_the_message_that_comes_is_the_one_that_completes)
{
	struct ndsh_cqe c;
	struct full f;

	fill(&f, (struct pair_opts){0});
	refuse(&f, ROCE_WRITE_ONLY_IMM, 64);
	say(&f, ROCE_SEND_ONLY, 9);
	c = pair_expect(f.p, 1, 1, NDSH_WC_SUCCESS);
	cr_assert_eq(c.bytes, 9);
	cr_assert_eq(c.flags & (NDSH_CQEF_IMM | NDSH_CQEF_WRITE), 0);
	cr_assert_eq(f.p->side[1].moved[0], 0xa5);
	pair_free(f.p);

	fill(&f, (struct pair_opts){0});
	refuse(&f, ROCE_SEND_ONLY, 64);
	say(&f, ROCE_WRITE_ONLY_IMM, 9);
	c = pair_expect(f.p, 1, 1, NDSH_WC_SUCCESS);
	cr_assert_eq(c.bytes, 9);
	cr_assert_eq(c.flags & (NDSH_CQEF_IMM | NDSH_CQEF_WRITE), NDSH_CQEF_IMM | NDSH_CQEF_WRITE);
	pair_free(f.p);
}

/* The peer sends it again, as it should: once it is received, and once completed. */
Test(refused, W_RESP_08_the_same_again_is_received)
{
	for (unsigned i = 0; i < NEEDY; i++) {
		struct ndsh_cqe c;
		struct roce_pkt w;
		struct full f;

		if (needy[i] == ROCE_SEND_FIRST || needy[i] == ROCE_SEND_ONLY_INV)
			continue;
		fill(&f, (struct pair_opts){0});
		refuse(&f, needy[i], 64);
		w = to_moved(&f, needy[i], 64);
		f.psn++;
		peer_say(f.p, &w);
		make_room(&f);
		c = pair_expect(f.p, 1, 1, NDSH_WC_SUCCESS);
		cr_assert_eq(c.bytes, 64);
		cr_assert_eq(f.tape.said[f.tape.n - 1].syndrome, ROCE_SYN_ACK);
		cr_assert_eq(f.tape.said[f.tape.n - 1].msn, f.msn + 1);
		pair_expect_none(f.p, 1);
		pair_free(f.p);
	}
}

/* A message of which a part was received keeps its receive when the next packet finds no room, and
 * goes on with that one. checks W-RESP-08[4,5] */
Test(refused, W_RESP_08_no_room_in_the_middle_of_a_message)
{
	static const uint8_t ends[] = {ROCE_SEND_MIDDLE, ROCE_SEND_LAST};

	for (unsigned i = 0; i < 2; i++) {
		struct ndsh_sge in;
		struct roce_pkt w;
		struct full f = {.psn = PEER_PSN};

		f.p = peer_with(&f.tape, (struct pair_opts){.moved = true});
		in = pair_moved_sge(f.p, 1, 0, PAIR_ARENA);
		ndsh_rq_push(&f.p->side[1].q[0].rq, 7, &in, 1);
		f.p->side[1].stalled = true;
		w = peer_packet(f.p, ROCE_SEND_FIRST, f.psn, PEER_MTU);
		for (; is_received(&f, &w); w.psn = ++f.psn)
			w.opcode = ROCE_SEND_MIDDLE;
		w.opcode = ends[i];
		cr_assert_not(is_received(&f, &w));
		make_room(&f);
		cr_assert_eq(f.tape.said[f.tape.n - 1].syndrome, ROCE_SYN_RNR | 14);
		cr_assert_eq(f.tape.said[f.tape.n - 1].psn, f.psn);
		cr_assert_eq(f.tape.said[f.tape.n - 1].msn, 0);
		pair_expect_none(f.p, 1);
		for (unsigned k = 0; k < 2; k++) {
			cr_assert(is_received(&f, &w));
			w.psn = ++f.psn;
			w.opcode = ROCE_SEND_LAST;
			if (ends[i] == ROCE_SEND_LAST)
				break;
		}
		cr_assert_eq(pair_expect(f.p, 1, 7, NDSH_WC_SUCCESS).bytes,
			(f.psn - PEER_PSN) * PEER_MTU);
		cr_assert_eq(f.p->side[1].moved[(f.psn - PEER_PSN - 1) * PEER_MTU], 0xa5);
		pair_free(f.p);
	}
}

/*
 * checks R-FL-01[1]: the end of the connection flushes it once; a reset lets it vanish, and
 * frees its slot.
 */
Test(refused, R_FL_01_the_end_flushes_it_once)
{
	for (unsigned reset = 0; reset < 2; reset++) {
		struct full f;
		const struct ndsh_qp_page *page;

		fill(&f, (struct pair_opts){0});
		refuse(&f, ROCE_SEND_ONLY, 64);
		page = f.p->side[1].q[0].block;
		cr_assert_eq(page->rq_done, 0);
		cr_assert_eq(roce_qp_modify(f.p->side[1].shard, f.p->side[1].q[0].qp, f.p->now_ns,
				     reset ? ROCE_QPS_RESET : ROCE_QPS_ERR, 0, NULL),
			ROCE_MODIFY_OK);
		pair_turn(f.p, 1);
		if (!reset)
			pair_expect(f.p, 1, 1, NDSH_WC_FLUSH_ERR);
		pair_expect_none(f.p, 1);
		cr_assert_eq(page->rq_done, 1);
		pair_free(f.p);
	}
}

/*
 * checks R-SRQ-02[2], W-RESP-08[7]: of a shared receive queue nothing is taken by a message that is
 * refused: its client is not told so, and the next message, of whichever queue pair, has it.
 */
Test(refused, R_SRQ_02_a_shared_receive_stays_for_whichever_comes)
{
	struct roce_pkt w;
	struct full f;

	fill(&f, (struct pair_opts){.qps = 2, .srq_depth = 16});
	roce_srq_arm(f.p->side[1].shard, f.p->side[1].srq, 1);
	refuse(&f, ROCE_SEND_ONLY, 64);
	cr_assert_eq(f.p->side[1].srq_page->taken, 0);
	cr_assert_eq(f.p->side[1].events & 1u << ROCE_EV_SRQ_LIMIT, 0);
	w = peer_packet(f.p, ROCE_SEND_ONLY, PEER_PSN, 16);
	w.qpn = roce_qp_num(f.p->side[1].q[1].qp);
	pair_inject(f.p, 1, 1, &w, "sixteen bytes...");
	make_room(&f);
	cr_assert_eq(pair_expect(f.p, 1, 1, NDSH_WC_SUCCESS).qp, 1);
	cr_assert_eq(f.p->side[1].srq_page->taken, 1);
	cr_assert_neq(f.p->side[1].events & 1u << ROCE_EV_SRQ_LIMIT, 0);
	cr_assert_arr_eq(f.p->side[1].moved, "sixteen bytes...", 16);
	post_receive(&f, 2);
	say(&f, ROCE_SEND_ONLY, 8);
	cr_assert_eq(pair_expect(f.p, 1, 2, NDSH_WC_SUCCESS).qp, 0);
	cr_assert_eq(f.p->side[1].srq_page->taken, 2);
	pair_free(f.p);
}

/* checks W-RESP-08[4,5]: an atomic needs room, too; it is executed when it comes again, and once.
 * */
Test(refused, W_RESP_08_an_atomic_finds_no_room)
{
	static const uint8_t ops[] = {ROCE_FETCH_ADD, ROCE_CMP_SWAP};

	for (unsigned i = 0; i < 2; i++) {
		struct roce_pkt again;
		struct full f;
		uint64_t word;

		fill(&f, (struct pair_opts){0});
		refuse(&f, ops[i], 0);
		memset(f.p->side[1].moved + SLACK, 0, sizeof(word));
		again = to_moved(&f, ops[i], 0);
		again.swap_add = 3;
		peer_say(f.p, &again);
		make_room(&f);
		memcpy(&word, f.p->side[1].moved + SLACK, sizeof(word));
		cr_assert_eq(word, 3);
		cr_assert_eq(f.tape.said[f.tape.n - 1].opcode, ROCE_ATOMIC_ACK);
		cr_assert_eq(f.tape.said[f.tape.n - 1].psn, f.psn);
		pair_expect_alive(f.p, 1, 0);
		pair_free(f.p);
	}
}
