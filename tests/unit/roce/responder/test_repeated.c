/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that are repeated while others are answered, or while something else is owed: what
 * leaves, and in which order. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/scripted_peer.h"
#include "roce/qp/qp.h"

/*
 * A request: W (WRITE), w (WRITE that asks for no ACK), R (READ), F (FETCH_ADD); or a response: a
 * (ACK), q (sequence NAK), R (READ responses), F (of an atomic). psn counts from the first one, n
 * are the PSNs of a READ, 0: it reads no bytes. The addresses of READs and atomics follow from
 * their PSNs, so that a part of a READ is what its repetition from there on would be.
 */
struct item {
	char what;
	uint32_t psn, n;
};

#define ITEMS 8u

struct exchange {
	struct item before[ITEMS]; /* executed and answered */
	struct item turn[ITEMS];   /* come together */
	struct item heard[ITEMS];  /* all that is answered */
};

static void
say(struct pair *p, uint32_t first, const struct item *i)
{
	static const uint8_t of[] = {['W'] = ROCE_WRITE_ONLY,
		['w'] = ROCE_WRITE_ONLY,
		['R'] = ROCE_READ_REQUEST,
		['F'] = ROCE_FETCH_ADD};
	struct roce_pkt pkt = peer_packet(p, of[(unsigned)i->what], first + i->psn, 0);

	pkt.va += (i->psn + 1) * PEER_MTU;
	pkt.ackreq = i->what != 'w';
	if (i->what == 'R')
		pkt.dma_bytes = i->n * PEER_MTU;
	peer_say(p, &pkt);
}

/* Is this packet response number k of what was expected? */
static bool
is_answer(const struct roce_pkt *pkt, uint32_t first, const struct item *i, uint32_t k)
{
	const bool last = k + 1 >= i->n;

	if (pkt->psn != ((first + i->psn + k) & ROCE_PSN_MASK))
		return false;
	if (i->what == 'a')
		return pkt->opcode == ROCE_ACK && pkt->syndrome == ROCE_SYN_ACK;
	if (i->what == 'q')
		return pkt->opcode == ROCE_ACK && pkt->syndrome == ROCE_SYN_NAK_SEQ;
	if (i->what == 'F')
		return pkt->opcode == ROCE_ATOMIC_ACK;
	if (k == 0)
		return pkt->opcode == (last ? ROCE_READ_RESP_ONLY : ROCE_READ_RESP_FIRST);
	return pkt->opcode == (last ? ROCE_READ_RESP_LAST : ROCE_READ_RESP_MIDDLE);
}

static void
expect(const struct peer_tape *t, uint32_t first, const struct exchange *x, unsigned which)
{
	unsigned n = 0;

	for (const struct item *i = x->heard; i < x->heard + ITEMS && i->what != 0; i++)
		for (uint32_t k = 0; k == 0 || k < i->n; k++, n++) {
			cr_assert_lt(n, t->n, "case %u: %c is missing", which, i->what);
			cr_assert(is_answer(&t->said[n], first, i, k),
				"case %u: not %c of PSN %u, but opcode %x, PSN %u", which, i->what,
				i->psn + k, t->said[n].opcode, t->said[n].psn - first);
		}
	cr_assert_eq(t->n, n, "case %u: %u answers too many", which, t->n - n);
}

/* older: so many READs are behind it already, as replay slots are used in turn. */
static void
run_exchange(const struct exchange *x, unsigned which, uint32_t first, unsigned older)
{
	struct peer_tape t;
	struct pair *p = peer_with(
		&t, (struct pair_opts){.set_psn = true,
			    .sq_psn = {(first - older) & ROCE_PSN_MASK, 500},
			    .access = NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE |
				      NDSH_ACCESS_REMOTE_ATOMIC,
			    .mr_access = NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_READ |
					 NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_REMOTE_ATOMIC});

	for (unsigned i = older; i > 0; i--) {
		say(p, first - i, &(struct item){'R', 0, 1});
		pair_turn(p, 1);
	}
	for (const struct item *i = x->before; i < x->before + ITEMS && i->what != 0; i++) {
		say(p, first, i);
		pair_turn(p, 1);
	}
	t.n = 0;
	for (const struct item *i = x->turn; i < x->turn + ITEMS && i->what != 0; i++)
		say(p, first, i);
	pair_turn(p, 1);
	expect(&t, first, x, which);
	peer_silent(p, &t, t.n);
	pair_expect_alive(p, 1, 0);
	pair_free(p);
}

static void
run_exchanges(const struct exchange *x, unsigned n)
{
	static const uint32_t first[] = {PEER_PSN, 0xfffffe}; /* the other one wraps */

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < 2; k++) {
			run_exchange(&x[i], i, first[k], 0);
			run_exchange(&x[i], i, first[k], ROCE_RD_ATOMIC_MAX - 1);
		}
}
#define RUN(x) run_exchanges(x, sizeof(x) / sizeof((x)[0]))

/* checks W-ACK-03, W-ACK-04: what an answer says already is not said behind it; what it does not
 * say is. */
Test(repeated, W_ACK_03_an_answer_that_is_repeated_and_what_was_owed)
{
	static const struct exchange x[] = {
		/* the ACK of an older duplicate is implied */
		{{{'W', 0, 0}, {'R', 1, 3}}, {{'W', 0, 0}, {'R', 1, 3}}, {{'R', 1, 3}}},
		{{{'W', 0, 0}, {'F', 1, 0}}, {{'W', 0, 0}, {'F', 1, 0}}, {{'F', 1, 0}}},
		/* that of a newer request is not, and comes behind */
		{{{'R', 0, 3}}, {{'W', 3, 0}, {'R', 0, 3}}, {{'R', 0, 3}, {'a', 3, 0}}},
		{{{'F', 0, 0}}, {{'W', 1, 0}, {'F', 0, 0}}, {{'F', 0, 0}, {'a', 1, 0}}},
		{{{'R', 0, 2}, {'W', 2, 0}}, {{'W', 2, 0}, {'R', 0, 2}},
			{{'R', 0, 2}, {'a', 2, 0}}},
		/* nor is a gap, before the answer or behind it */
		{{{'R', 0, 3}}, {{'W', 4, 0}, {'R', 0, 3}}, {{'R', 0, 3}, {'q', 3, 0}}},
		{{{'F', 0, 0}}, {{'W', 2, 0}, {'F', 0, 0}}, {{'F', 0, 0}, {'q', 1, 0}}},
		{{{0}}, {{'W', 2, 0}, {'R', 0, 1}}, {{'R', 0, 1}, {'q', 1, 0}}},
		{{{0}}, {{'W', 2, 0}, {'F', 0, 0}}, {{'F', 0, 0}, {'q', 1, 0}}},
	};

	RUN(x);
}

/* checks W-RESP-02[1,3,4]: each gap of a connection in use is told of, once: when the packet that
 * was missing has come, the next gap is another one. */
Test(repeated, W_RESP_02_gap_after_gap)
{
	static const struct exchange x[] = {
		{{{'W', 0, 0}, {'W', 2, 0}}, {{'W', 3, 0}}, {{0}}}, /* the same one */
		{{{'W', 0, 0}, {'W', 2, 0}, {'W', 1, 0}}, {{'W', 3, 0}}, {{'q', 2, 0}}},
		{{{'W', 0, 0}, {'W', 2, 0}, {'R', 1, 2}}, {{'W', 4, 0}}, {{'q', 3, 0}}},
	};

	RUN(x);
}

/* checks W-DUP-02, W-ACK-05: up to the first READ or atomic behind the duplicate, but no less. */
Test(repeated, W_DUP_02_how_far_an_ack_reaches)
{
	static const struct exchange x[] = {
		{{{'W', 0, 0}, {'R', 1, 1}, {'R', 2, 1}}, {{'W', 0, 0}}, {{'a', 0, 0}}},
		{{{'W', 0, 0}, {'W', 1, 0}, {'F', 2, 0}, {'R', 3, 2}}, {{'W', 0, 0}},
			{{'a', 1, 0}}},
		{{{'R', 0, 1}, {'W', 1, 0}, {'W', 2, 0}, {'W', 3, 0}}, {{'W', 1, 0}},
			{{'a', 3, 0}}},
		/* two duplicates: the newest that may be said */
		{{{'W', 0, 0}, {'R', 1, 2}, {'W', 3, 0}}, {{'W', 0, 0}, {'W', 3, 0}},
			{{'a', 3, 0}}},
		{{{'W', 0, 0}, {'R', 1, 2}, {'W', 3, 0}}, {{'W', 3, 0}, {'W', 0, 0}},
			{{'a', 3, 0}}},
		/* a new request that does not ask makes it reach no further */
		{{{'W', 0, 0}, {'R', 1, 3}}, {{'W', 0, 0}, {'w', 4, 0}}, {{'a', 0, 0}}},
		{{{'W', 0, 0}, {'F', 1, 0}}, {{'W', 0, 0}, {'w', 2, 0}, {'w', 3, 0}},
			{{'a', 0, 0}}},
		{{{'W', 0, 0}, {'F', 1, 0}}, {{'W', 0, 0}, {'W', 2, 0}, {'w', 3, 0}},
			{{'a', 3, 0}}},
		/* a repeated WRITE whose PSN was that of a READ, as it is one round of PSNs later:
		 * that READ is not behind it */
		{{{'R', 0, 1}, {'W', 1, 0}}, {{'W', 0, 0}}, {{'a', 1, 0}}},
		{{{'W', 0, 0}, {'R', 1, 1}}, {{'W', 0, 0}, {'W', 1, 0}}, {{'a', 1, 0}}},
	};

	RUN(x);
}

/* checks W-ACK-03, W-READ-02[1]: in whichever order they are repeated. */
Test(repeated, W_ACK_03_several_are_answered_from_the_oldest_on)
{
	static const struct exchange x[] = {
		{{{'R', 0, 3}, {'R', 3, 2}}, {{'R', 0, 3}, {'R', 3, 2}},
			{{'R', 0, 3}, {'R', 3, 2}}},
		{{{'R', 0, 3}, {'R', 3, 2}}, {{'R', 3, 2}, {'R', 0, 3}},
			{{'R', 0, 3}, {'R', 3, 2}}},
		{{{'F', 0, 0}, {'F', 1, 0}}, {{'F', 1, 0}, {'F', 0, 0}},
			{{'F', 0, 0}, {'F', 1, 0}}},
		{{{'R', 0, 3}, {'F', 3, 0}, {'R', 4, 2}}, {{'F', 3, 0}, {'R', 0, 3}},
			{{'R', 0, 3}, {'F', 3, 0}}},
		/* parts of them */
		{{{'R', 0, 3}, {'F', 3, 0}, {'R', 4, 2}}, {{'R', 5, 1}, {'F', 3, 0}, {'R', 1, 2}},
			{{'R', 1, 2}, {'F', 3, 0}, {'R', 5, 1}}},
		{{{'R', 0, 3}, {'R', 3, 3}}, {{'R', 4, 2}, {'R', 2, 1}, {'R', 1, 2}},
			{{'R', 1, 2}, {'R', 4, 2}}},
		/* and a new one behind them */
		{{{'R', 0, 3}, {'R', 3, 2}}, {{'R', 3, 2}, {'R', 5, 2}, {'R', 1, 2}},
			{{'R', 1, 2}, {'R', 3, 2}, {'R', 5, 2}}},
	};

	RUN(x);
}

/* checks W-DUP-03, W-DUP-07: a PSN that was none of a READ or atomic, or one of the other kind,
 * though address, key and length agree. */
Test(repeated, W_DUP_03_another_operation_is_not_the_same)
{
	static const struct exchange x[] = {
		{{{'W', 0, 0}}, {{'R', 0, 1}}, {{0}}},
		{{{'W', 0, 0}}, {{'F', 0, 0}}, {{0}}},
		{{{'F', 0, 0}}, {{'R', 0, 0}}, {{0}}},
		{{{'R', 0, 0}}, {{'F', 0, 0}}, {{0}}},
	};

	RUN(x);
}

/*
 * One is repeated when a part of the answers behind it has left: the peer dropped those, so they
 * begin anew, each as the request had it. What has been answered in full is asked for by the
 * peer, if it needs that. checks W-DUP-03, W-ACK-03
 */
Test(repeated, W_DUP_03_answers_behind_it_begin_anew)
{
	static const struct item asked[] = {{'R', 0, 2}, {'R', 2, 3}, {'F', 5, 0}};
	const uint32_t rights = NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_ATOMIC;

	for (unsigned left = 0; left < 6; left++) {
		struct exchange x = {.heard = {asked[0], asked[1], asked[2]}};
		struct peer_tape t;
		struct pair *p =
			peer_with(&t, (struct pair_opts){.access = rights,
					      .mr_access = NDSH_ACCESS_LOCAL_WRITE | rights});

		for (unsigned i = 0; i < 3; i++)
			say(p, PEER_PSN, &asked[i]);
		p->side[1].frames = left;
		if (left > 0)
			pair_turn(p, 1);
		cr_assert_eq(t.n, left);
		t.n = 0;
		p->side[1].frames = 0;
		say(p, PEER_PSN, &asked[0]);
		pair_turn(p, 1);
		if (left == 5)
			x.heard[1] = asked[2], x.heard[2].what = 0;
		expect(&t, PEER_PSN, &x, left);
		peer_silent(p, &t, t.n);
		pair_free(p);
	}
}

#define READS ROCE_RD_ATOMIC_MAX /* of two responses each */

/* What is heard when, of READs that begin with PSN first, so many responses have left and then one
 * is repeated: the older ones go on where they were, the later ones begin anew if they were not
 * finished. */
static void
expect_from(const struct peer_tape *t, uint32_t first, uint32_t left, uint32_t again)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < READS; i++) {
		const uint32_t gone = left <= 2 * i ? 0 : left - 2 * i;

		for (uint32_t k = i == again || (i > again && gone < 2) ? 0 : gone; k < 2; k++) {
			const struct roce_pkt *s = &t->said[n++];

			cr_assert_leq(n, t->n, "%u left, READ %u again: too few", left, again);
			cr_assert_eq(s->psn, (first + 2 * i + k) & ROCE_PSN_MASK,
				"%u left, READ %u again: not response %u of READ %u", left, again,
				k, i);
			cr_assert_eq(s->opcode, k == 0 ? ROCE_READ_RESP_FIRST : ROCE_READ_RESP_LAST,
				"%u left, READ %u again: %x", left, again, s->opcode);
		}
	}
	cr_assert_eq(t->n, n, "%u left, READ %u again: too many", left, again);
}

/* As many as there may be, when so many responses have left; and again from another slot on. checks
 * W-DUP-03[1,8,10], W-ACK-03[1], W-READ-02[2] */
Test(repeated, W_DUP_03_any_of_them_at_any_time)
{
	uint32_t psn = PEER_PSN;
	struct peer_tape t;
	struct pair *p = peer_with(&t, (struct pair_opts){.max_dest_rd = READS});

	for (uint32_t left = 0; left <= 2 * READS; left++)
		for (uint32_t again = 0; again < READS; again++) {
			for (uint32_t i = 0; i < READS; i++)
				say(p, psn, &(struct item){'R', 2 * i, 2});
			p->side[1].frames = left;
			if (left > 0)
				pair_turn(p, 1);
			t.n = 0;
			p->side[1].frames = 0;
			say(p, psn, &(struct item){'R', 2 * again, 2});
			pair_turn(p, 1);
			expect_from(&t, psn, left, again);
			psn = (psn + 2 * READS) & ROCE_PSN_MASK;
			say(p, psn, &(struct item){'R', 0, 1}); /* the next slot is another one */
			pair_turn(p, 1);
			psn = (psn + 1) & ROCE_PSN_MASK;
		}
	pair_expect_alive(p, 1, 0);
	pair_free(p);
}
