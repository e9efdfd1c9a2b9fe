/* SPDX-License-Identifier: BSD-3-Clause */
/* What the peer is told while its requests lie in the staging of moved memory, and its client
 * brings them to their place one by one. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/scripted_peer.h"
#include "roce/mem/mover.h"
#include "roce/qp/qp.h"

#define RIGHTS (NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_REMOTE_ATOMIC)
#define WORD   65536u

static struct pair *
stalled(struct peer_tape *t, struct pair_opts opts)
{
	struct pair *p;

	opts.moved = true;
	opts.access = RIGHTS;
	opts.mr_access = RIGHTS | NDSH_ACCESS_LOCAL_WRITE;
	p = peer_with(t, opts);
	p->side[1].stalled = true;
	return p;
}

/* A WRITE of a few bytes to moved memory: one copy command. */
static void
write_moved(struct pair *p, uint32_t ahead, bool ackreq)
{
	struct roce_pkt w = peer_packet(p, ROCE_WRITE_ONLY, PEER_PSN + ahead, 8);

	w.va = (uintptr_t)p->side[1].moved;
	w.rkey = p->side[1].moved_key;
	w.ackreq = ackreq;
	peer_say(p, &w);
	pair_turn(p, 1);
}

static void
read_arena(struct pair *p, uint32_t ahead)
{
	struct roce_pkt r = peer_read_request(p, PEER_PSN + ahead, 0, 8);

	peer_say(p, &r);
	pair_turn(p, 1);
}

static void
say_add(struct pair *p, uint32_t ahead)
{
	struct roce_pkt add = peer_packet(p, ROCE_FETCH_ADD, PEER_PSN + ahead, 0);

	add.va += WORD;
	add.swap_add = 5;
	peer_say(p, &add);
	pair_turn(p, 1);
}

static void
client_moves_one(struct pair *p)
{
	cr_assert_eq(pair_client_moves(p, 1, 1), 1);
	pair_turn(p, 1);
}

/* Side 1 has said n packets, the last with this opcode, syndrome and MSN. */
static void
heard(struct pair *p, struct peer_tape *t, unsigned n, uint8_t opcode, uint8_t syndrome,
	uint32_t ahead, uint32_t msn)
{
	peer_heard(p, t, n, syndrome, PEER_PSN + ahead);
	cr_assert_eq(t->said[n - 1].opcode, opcode);
	cr_assert_eq(t->said[n - 1].msn, msn, "MSN %u", t->said[n - 1].msn);
}

/* checks W-RESP-14, W-AETH-01: what is placed is acknowledged, once; what is not, is not. */
Test(placing, W_RESP_14_one_by_one)
{
	struct peer_tape t;
	struct pair *p = stalled(&t, (struct pair_opts){0});

	for (uint32_t i = 0; i < 3; i++)
		write_moved(p, i, true);
	peer_silent(p, &t, 0);
	client_moves_one(p);
	heard(p, &t, 1, ROCE_ACK, ROCE_SYN_ACK, 0, 1);
	client_moves_one(p);
	peer_silent(p, &t, 1); /* the newest when the first was placed is waited for */
	client_moves_one(p);
	heard(p, &t, 2, ROCE_ACK, ROCE_SYN_ACK, 2, 3);
	peer_silent(p, &t, 2);
	pair_free(p);
}

/* checks W-RESP-14: what the peer was told once it is not told again when something else comes. */
Test(placing, W_RESP_14_nothing_twice)
{
	struct peer_tape t;
	struct pair *p = stalled(&t, (struct pair_opts){0});

	write_moved(p, 0, true);
	client_moves_one(p);
	heard(p, &t, 1, ROCE_ACK, ROCE_SYN_ACK, 0, 1);
	write_moved(p, 1, true);
	peer_silent(p, &t, 1);
	client_moves_one(p);
	heard(p, &t, 2, ROCE_ACK, ROCE_SYN_ACK, 1, 2);
	pair_free(p);
}

/* The peer answers side 1's READ of three packets. */
static void
say_response(struct pair *p, uint8_t opcode, uint32_t psn)
{
	struct roce_pkt r = peer_packet(p, opcode, psn, PEER_MTU);

	r.syndrome = ROCE_SYN_ACK;
	peer_say(p, &r);
	pair_turn(p, 1);
}

/* checks W-RESP-14: nor when a response of side 1's own READ has been brought to its place. */
Test(placing, W_RESP_14_nothing_twice_among_responses)
{
	struct peer_tape t;
	struct pair *p = stalled(&t, (struct pair_opts){0});
	struct ndsh_sge sink = pair_moved_sge(p, 1, 4096, 3 * PEER_MTU);
	uint32_t psn;

	pair_post(p, 1, 0,
		&(struct ndsh_swr){.raddr = PAIR_VA,
			.rkey = p->side[0].key,
			.ctrl = NDSH_CTRL(NDSH_OP_READ, 1, 0, 0)},
		&sink, NULL);
	pair_turn(p, 1);
	peer_silent(p, &t, 1);
	psn = t.said[0].psn;
	write_moved(p, 0, true);
	say_response(p, ROCE_READ_RESP_FIRST, psn);
	client_moves_one(p);
	heard(p, &t, 2, ROCE_ACK, ROCE_SYN_ACK, 0, 1);
	say_response(p, ROCE_READ_RESP_MIDDLE, psn + 1);
	write_moved(p, 1, true);
	client_moves_one(p);
	peer_silent(p, &t, 2);
	client_moves_one(p);
	client_moves_one(p);
	heard(p, &t, 3, ROCE_ACK, ROCE_SYN_ACK, 1, 2);
	pair_free(p);
}

/* checks W-AETH-01[6,10]: what is answered again meanwhile has the MSN of what is placed. */
Test(placing, W_AETH_01_of_a_repeated_response)
{
	struct peer_tape t;
	struct pair *p = stalled(&t, (struct pair_opts){0});

	read_arena(p, 0);
	heard(p, &t, 1, ROCE_READ_RESP_ONLY, ROCE_SYN_ACK, 0, 1);
	write_moved(p, 1, true);
	read_arena(p, 0);
	heard(p, &t, 2, ROCE_READ_RESP_ONLY, ROCE_SYN_ACK, 0, 1);
	client_moves_one(p);
	heard(p, &t, 3, ROCE_ACK, ROCE_SYN_ACK, 1, 2);
	pair_free(p);
}

/* checks W-RESP-13[8], W-AETH-01[8]: of two that find no memory any more the first is refused, with
 * the MSN of those before it, though the client was done with all of them at once. */
Test(placing, W_RESP_13_the_first_that_is_lost)
{
	struct peer_tape t;
	struct pair *p = stalled(&t, (struct pair_opts){0});

	for (uint32_t i = 0; i < 4; i++)
		write_moved(p, i, true);
	cr_assert_eq(pair_client_moves(p, 1, 2), 2);
	p->side[1].gone[1] = 8;
	cr_assert_eq(pair_client_moves(p, 1, 2), 2);
	pair_turn(p, 1);
	heard(p, &t, 1, ROCE_ACK, ROCE_SYN_NAK_REM_ACCESS, 2, 2);
	pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_REM_ACCESS);
	pair_free(p);
}

/* An atomic takes the last place in the queue of copy commands; what comes behind has to wait. */
Test(placing, an_atomic_is_the_last_command)
{
	struct peer_tape t;
	struct pair *p = stalled(&t, (struct pair_opts){0});
	struct roce_pkt add = peer_packet(p, ROCE_FETCH_ADD, PEER_PSN + NDSH_MOVER_DEPTH - 1, 0);

	for (uint32_t i = 0; i + 1 < NDSH_MOVER_DEPTH; i++)
		write_moved(p, i, false);
	add.va = (uintptr_t)p->side[1].moved + WORD;
	add.rkey = p->side[1].moved_key;
	add.swap_add = 5;
	peer_say(p, &add);
	write_moved(p, NDSH_MOVER_DEPTH, true);
	p->side[1].stalled = false;
	pair_turn(p, 1);
	pair_turn(p, 1);
	cr_assert_eq(t.said[0].opcode, ROCE_ATOMIC_ACK);
	heard(p, &t, 2, ROCE_ACK, ROCE_SYN_RNR | 14, NDSH_MOVER_DEPTH, NDSH_MOVER_DEPTH);
	cr_assert_eq(p->side[1].moved[WORD], 5);
	pair_free(p);
}

/* checks W-RESP-14, W-ACK-03: a NAK says that all before its PSN is executed, so it waits for
 * that. */
Test(placing, W_RESP_14_naks_wait)
{
	static const struct {
		uint8_t opcode;
		uint32_t ahead;
		uint8_t syndrome;
	} of[] = {{ROCE_SEND_ONLY, 2, ROCE_SYN_RNR | 14}, {ROCE_WRITE_ONLY, 3, ROCE_SYN_NAK_SEQ},
		{ROCE_SEND_LAST, 2, ROCE_SYN_NAK_INV_REQ}};

	for (unsigned i = 0; i < 3; i++) {
		struct peer_tape t;
		struct pair *p = stalled(&t, (struct pair_opts){0});

		write_moved(p, 0, true);
		write_moved(p, 1, true);
		peer_say_plain(p, of[i].opcode, PEER_PSN + of[i].ahead, 8);
		peer_silent(p, &t, 0);
		client_moves_one(p);
		peer_silent(p, &t, 0);
		client_moves_one(p);
		heard(p, &t, 1, ROCE_ACK, of[i].syndrome, 2, 2);
		peer_silent(p, &t, 1);
		pair_free(p);
	}
}

/* checks W-DUP-02, W-RESP-14: an ACK that stops before a READ does so, whatever is placed
 * meanwhile. */
Test(placing, W_DUP_02_not_over_a_read)
{
	struct peer_tape t;
	struct pair *p = stalled(&t, (struct pair_opts){0});

	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	read_arena(p, 1);
	write_moved(p, 2, false);
	write_moved(p, 3, false);
	t.n = 0;
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8); /* again */
	peer_silent(p, &t, 0);
	client_moves_one(p);
	heard(p, &t, 1, ROCE_ACK, ROCE_SYN_ACK, 0, 3);
	client_moves_one(p);
	peer_silent(p, &t, 1);
	pair_free(p);
}

/* checks W-ACK-04: the response of a READ that was waiting says what an ACK would. */
Test(placing, W_ACK_04_a_response_in_place_of_the_ack)
{
	struct peer_tape t;
	struct pair *p = stalled(&t, (struct pair_opts){0});

	write_moved(p, 0, true);
	write_moved(p, 1, true);
	read_arena(p, 2);
	client_moves_one(p);
	peer_silent(p, &t, 0);
	write_moved(p, 3, true);
	client_moves_one(p);
	heard(p, &t, 1, ROCE_READ_RESP_ONLY, ROCE_SYN_ACK, 2, 3);
	client_moves_one(p);
	heard(p, &t, 2, ROCE_ACK, ROCE_SYN_ACK, 3, 4);
	pair_free(p);
}

/* checks W-RESP-14, W-ACK-03: but what came behind the READ and is placed needs its ACK. */
Test(placing, W_RESP_14_behind_a_response)
{
	struct peer_tape t;
	struct pair *p = stalled(&t, (struct pair_opts){0});

	write_moved(p, 0, false);
	read_arena(p, 1);
	write_moved(p, 2, true);
	peer_silent(p, &t, 0);
	client_moves_one(p);
	heard(p, &t, 1, ROCE_ACK, ROCE_SYN_ACK, 0, 1);
	write_moved(p, 3, true);
	client_moves_one(p);
	cr_assert_eq(t.said[1].opcode, ROCE_READ_RESP_ONLY);
	heard(p, &t, 3, ROCE_ACK, ROCE_SYN_ACK, 2, 3);
	client_moves_one(p);
	heard(p, &t, 4, ROCE_ACK, ROCE_SYN_ACK, 3, 4);
	pair_free(p);
}

/* An atomic on a word of the arena is executed behind the writes before it, and at once then. What
 * came meanwhile counts as lost, and the peer is asked for it. checks W-RESP-14, W-RESP-02[1] */
Test(placing, W_RESP_14_an_atomic_is_held)
{
	for (unsigned gone = 0; gone < 2; gone++) {
		struct peer_tape t;
		struct pair *p = stalled(&t, (struct pair_opts){0});
		struct pair_side *d = &p->side[1];
		uint64_t word;

		write_moved(p, 0, true);
		say_add(p, 1);
		peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 2, 8);
		peer_silent(p, &t, 0);
		memcpy(&word, d->arena + WORD, 8);
		cr_assert_eq(word, 0, "executed before the write is in its place");
		cr_assert_eq(d->arena[0], 0, "it overtook the atomic");
		if (gone) { /* the key opens nothing any more */
			cr_assert(roce_mr_deregister(d->shard, d->mr));
			d->mr = NULL;
		}
		client_moves_one(p);
		memcpy(&word, d->arena + WORD, 8);
		cr_assert_eq(word, gone ? 0 : 5);
		if (gone) {
			heard(p, &t, 1, ROCE_ACK, ROCE_SYN_NAK_REM_ACCESS, 1, 2);
		} else {
			cr_assert_eq(t.said[0].opcode, ROCE_ATOMIC_ACK);
			cr_assert_eq(t.said[0].psn, PEER_PSN + 1);
			heard(p, &t, 2, ROCE_ACK, ROCE_SYN_NAK_SEQ, 2, 2);
			peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 2, 8);
			heard(p, &t, 3, ROCE_ACK, ROCE_SYN_ACK, 2, 3);
			cr_assert_eq(d->arena[0], 0xa5);
		}
		pair_free(p);
	}
}

/* checks W-RESP-07[4]: a new READ takes the slot of the oldest, even while that is answered again;
 * what was asked for to answer it is given back. */
Test(placing, W_RESP_07_in_place_of_one_that_is_repeated)
{
	for (unsigned both = 0; both < 2; both++) {
		struct peer_tape t;
		struct pair *p = stalled(&t, (struct pair_opts){.max_dest_rd = ROCE_RD_ATOMIC_MAX});
		struct pair_side *d = &p->side[1];
		struct roce_pkt r[ROCE_RD_ATOMIC_MAX];

		d->stalled = false;
		for (uint32_t i = 0; i < ROCE_RD_ATOMIC_MAX; i++) {
			r[i] = peer_read_request(p, PEER_PSN + 3 * i, 0, 3 * PEER_MTU);
			r[i].va = (uintptr_t)d->moved;
			r[i].rkey = d->moved_key;
			peer_say(p, &r[i]);
			for (unsigned k = 0; k < 4; k++)
				pair_turn(p, 1);
		}
		cr_assert_eq(t.n, 3 * ROCE_RD_ATOMIC_MAX);
		t.n = 0;
		d->stalled = true;
		peer_say(p, &r[0]);
		peer_silent(p, &t, 0);
		cr_assert_lt(d->mover->slots, NDSH_MOVER_SLOTS);
		if (both)
			peer_say(p, &r[1]);
		read_arena(p, 3 * ROCE_RD_ATOMIC_MAX);
		d->stalled = false;
		for (unsigned k = 0; k < 4; k++)
			pair_turn(p, 1);
		cr_assert_eq(t.n, both ? 4 : 1);
		for (unsigned i = 0; i + 1 < t.n; i++)
			cr_assert_eq(t.said[i].psn, PEER_PSN + 3 + i);
		heard(p, &t, t.n, ROCE_READ_RESP_ONLY, ROCE_SYN_ACK, 3 * ROCE_RD_ATOMIC_MAX,
			ROCE_RD_ATOMIC_MAX + 1);
		cr_assert_eq(d->mover->slots, NDSH_MOVER_SLOTS);
		pair_free(p);
	}
}
