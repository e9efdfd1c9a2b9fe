/* SPDX-License-Identifier: BSD-3-Clause */
/* A scenario of windows, responder and requester: invalidation from either side. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/windows.h"

#define BAD_TOKENS 6u

/* ---- invalidate ---- */

/* checks R-INV-01[1], R-INV-02[1,3], W-INV-03[3], W-MEM-06[1] */
Test(invalidate, R_INV_02_invalidated_is_dead)
{
	for (unsigned i = 0; i < 2; i++) {
		struct pair *p = window_pair();
		struct window v = window_new(p);

		window_bind(p, 0, 1, &v, WINDOW_RW);
		window_invalidate(p, 0, 2, v.token, i ? NDSH_WRF_FENCE : 0);
		pair_run(p, PAIR_LONG);
		pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
		cr_assert_eq(pair_expect(p, 1, 2, NDSH_WC_SUCCESS).op, NDSH_OP_INVALIDATE);
		window_expect_closed(p, 0, i ? NDSH_OP_READ : NDSH_OP_WRITE, v.token, WINDOW_AT, 8);
		window_pair_free(p, &v);
	}
}

/* Unbound, of another queue pair, of a region, no token at all. */
static uint32_t
bad_token(const struct pair *p, unsigned i, const struct window *unbound,
	const struct window *of_another)
{
	const uint32_t tokens[BAD_TOKENS] = {unbound->token, of_another->token, p->side[1].key, 0,
		UINT32_MAX, of_another->token ^ 1};

	return tokens[i];
}

/* checks R-INV-01[3], R-INV-04[1], W-MEM-03[2], W-MEM-05[5]: a region never */
Test(invalidate, R_INV_04_R_INV_01_what_can_not_be_invalidated)
{
	for (unsigned i = 0; i < BAD_TOKENS; i++) {
		struct pair *p = window_pair();
		struct window v = window_new(p), w = window_new(p);

		window_bind(p, 0, 1, &v, WINDOW_RW);
		window_invalidate(p, 0, 2, v.token, 0);
		pair_run(p, PAIR_LONG);
		window_bind(p, 1, 3, &w, WINDOW_RW);
		pair_run(p, PAIR_LONG);
		for (uint64_t c = 1; c <= 3; c++)
			pair_expect(p, 1, c, NDSH_WC_SUCCESS);
		pair_write(p, 1, 0, 4, 0, 0, 0, 0);
		window_invalidate(p, 0, 5, bad_token(p, i, &v, &w), 0);
		pair_send(p, 1, 0, 6, 0, 8, 0);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 1, 4, NDSH_WC_SUCCESS);
		pair_expect(p, 1, 5, NDSH_WC_LOC_QP_OP_ERR);
		pair_expect(p, 1, 6, NDSH_WC_FLUSH_ERR);
		pair_expect_dead(p, 1, 0, ROCE_REASON_LOCAL_INV);
		/* Nothing happened to the window of the other queue pair. */
		window_use(p, 1, 7, NDSH_OP_WRITE, w.token, WINDOW_AT, 8);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 0, 7, NDSH_WC_SUCCESS);
		window_free(p, &w);
		window_pair_free(p, &v);
	}
}

struct cut {
	struct window *v;
	unsigned frame[2]; /* of side 0 or 1: then the window dies */
	bool destroy;
};

static unsigned
cut_tap(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	const struct cut *c = ctx;

	(void)pkt;
	(void)late_ns;
	if (p->sent[from] != c->frame[from] || c->v->mw == NULL)
		return 1;
	if (c->destroy) {
		window_free(p, c->v);
		c->v->mw = NULL;
	} else {
		window_invalidate(p, 0, 9, c->v->token, 0);
	}
	return 1;
}

static struct pair *
cut_in_the_middle(uint8_t op, struct cut c)
{
	struct pair *p = pair_new(&(struct pair_opts){
		.mtu = WINDOW_MTU, .window = 16, .mr_access = NDSH_ACCESS_LOCAL_WRITE});

	*c.v = window_new(p);
	window_bind_at(p, 0, 1, c.v, p->side[1].key, WINDOW_AT, 64 * WINDOW_MTU, WINDOW_RW, 0);
	pair_run(p, PAIR_LONG);
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	p->tap = cut_tap;
	p->tap_ctx = &c;
	memset(p->side[0].arena + WINDOW_AT, 0x5a, 64 * WINDOW_MTU);
	window_use(p, 0, 2, op, c.v->token, WINDOW_AT, 64 * WINDOW_MTU);
	cr_assert(pair_run(p, PAIR_LONG));
	p->tap = NULL;
	pair_expect(p, 0, 2, NDSH_WC_REM_ACCESS_ERR);
	pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_REM_ACCESS);
	return p;
}

/* checks R-INV-02[2] */
Test(invalidate, R_INV_02_a_write_under_way_fails)
{
	struct window v;
	struct pair *p = cut_in_the_middle(NDSH_OP_WRITE, (struct cut){&v, {20, 0}, false});

	pair_expect(p, 1, 9, NDSH_WC_SUCCESS);
	cr_assert_eq(p->side[1].arena[WINDOW_AT], 0x5a, "the beginning came");
	cr_assert_eq(p->side[1].arena[WINDOW_AT + 64 * WINDOW_MTU - 1], 0, "the end did not");
	window_pair_free(p, &v);
}

/* checks R-INV-02[2]: the INVALIDATE need not wait until the peer has read all. */
Test(invalidate, R_INV_02_a_read_under_way_fails)
{
	struct window v;
	struct pair *p = cut_in_the_middle(NDSH_OP_READ, (struct cut){&v, {0, 3}, false});

	pair_expect(p, 1, 9, NDSH_WC_SUCCESS);
	cr_assert_eq(p->side[0].arena[WINDOW_AT], 0, "the beginning came");
	cr_assert_eq(p->side[0].arena[WINDOW_AT + 64 * WINDOW_MTU - 1], 0x5a, "the end did not");
	window_pair_free(p, &v);
}

/* checks R-MW-09[1] */
Test(invalidate, R_MW_09_a_read_under_way_fails)
{
	struct window v;
	struct pair *p = cut_in_the_middle(NDSH_OP_READ, (struct cut){&v, {0, 3}, true});

	cr_assert_eq(p->side[0].arena[WINDOW_AT], 0, "the beginning came");
	cr_assert_eq(p->side[0].arena[WINDOW_AT + 64 * WINDOW_MTU - 1], 0x5a, "the end did not");
	pair_free(p);
}

/*
 * checks R-INV-02[2]: the READ was accepted, but its responses had not left: W-FENCE-03 leaves
 * that to the peer.
 */
Test(invalidate, R_INV_02_a_read_overtaken_by_its_own_invalidation_fails)
{
	struct pair *p = window_pair();
	struct window v = window_new(p);

	window_bind(p, 0, 1, &v, WINDOW_RW);
	pair_recv(p, 1, 0, 2, 8192, 64);
	pair_run(p, PAIR_LONG);
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	window_use(p, 0, 3, NDSH_OP_READ, v.token, WINDOW_AT, WINDOW_BYTES);
	window_send_inv(p, 0, 4, 8, v.token, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 3, NDSH_WC_REM_ACCESS_ERR);
	pair_expect(p, 0, 4, NDSH_WC_FLUSH_ERR);
	window_pair_free(p, &v);
}

/* ---- remote invalidation ---- */

/*
 * Sizes of one packet and of several; checks R-CR-06, R-INV-08[1], R-INV-11[1,2], R-INV-15,
 * W-INV-01[2], W-INV-03[1].
 */
Test(invalidate, R_INV_08_dead_before_the_receive_completes)
{
	static const uint32_t sizes[] = {0, 8, WINDOW_MTU, WINDOW_MTU + 1, 3 * WINDOW_MTU};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct pair *p = window_pair();
		struct window v = window_new(p);
		struct ndsh_cqe c;

		memset(p->side[0].arena, 0x77, sizes[i]);
		window_bind(p, 0, 1, &v, WINDOW_RW);
		pair_recv(p, 1, 0, 2, 8192, 4096);
		pair_run(p, PAIR_LONG);
		pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
		window_use(p, 0, 3, NDSH_OP_WRITE, v.token, WINDOW_AT, 8);
		window_send_inv(p, 0, 4, sizes[i], v.token, 0);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 0, 3, NDSH_WC_SUCCESS);
		cr_assert_eq(pair_expect(p, 0, 4, NDSH_WC_SUCCESS).op, NDSH_OP_SEND_INV);
		c = pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
		cr_assert_eq(c.op, NDSH_OP_RECV);
		cr_assert_eq(c.flags & ~NDSH_CQEF_PHASE, NDSH_CQEF_INV);
		cr_assert_eq(c.data, v.token);
		cr_assert_eq(c.bytes, sizes[i]);
		cr_assert_arr_eq(p->side[1].arena + 8192, p->side[0].arena, sizes[i]);
		window_bind(p, 0, 5, &v, WINDOW_RW); /* free again */
		pair_run(p, PAIR_LONG);
		pair_expect(p, 1, 5, NDSH_WC_SUCCESS);
		window_expect_closed(p, 0, NDSH_OP_WRITE, c.data, WINDOW_AT, 8);
		window_pair_free(p, &v);
	}
}

/* Side 0 says both at once; checks R-INV-08[3]: the WRITE must not slip in before the entry. */
Test(invalidate, R_INV_08_a_write_right_behind_faults)
{
	struct pair *p = window_pair();
	struct window v = window_new(p);

	window_bind(p, 0, 1, &v, WINDOW_RW);
	pair_recv(p, 1, 0, 2, 8192, 4096);
	pair_run(p, PAIR_LONG);
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	memset(p->side[0].arena + WINDOW_AT, 0x5a, 8);
	window_send_inv(p, 0, 3, 8, v.token, 0);
	window_use(p, 0, 4, NDSH_OP_WRITE, v.token, WINDOW_AT, 8);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 3, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 4, NDSH_WC_REM_ACCESS_ERR);
	pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
	cr_assert_eq(p->side[1].arena[WINDOW_AT], 0);
	window_pair_free(p, &v);
}

/* checks R-INV-07[1] */
Test(invalidate, R_INV_07_R_INV_12_inline_silent_and_solicited)
{
	struct pair *p = window_pair();
	struct window v = window_new(p);
	struct ndsh_cqe c;

	window_bind(p, 0, 1, &v, WINDOW_RW);
	pair_recv(p, 1, 0, 2, 8192, 4096);
	pair_run(p, PAIR_LONG);
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	p->side[0].arena[0] = 0x42;
	window_send_inv(
		p, 0, 3, 100, v.token, NDSH_WRF_INLINE | NDSH_WRF_SILENT | NDSH_WRF_SOLICIT);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect_none(p, 0);
	c = pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
	cr_assert_eq(c.flags & ~NDSH_CQEF_PHASE, NDSH_CQEF_INV | NDSH_CQEF_SOLICITED);
	cr_assert_eq(p->side[1].arena[8192], 0x42);
	window_pair_free(p, &v);
}

/*
 * checks R-INV-09[1-4], W-INV-01[1], W-INV-02[1,3,5], W-INV-05: unknown, unbound, of another
 * queue pair, of a region
 */
Test(invalidate, R_INV_09_a_bad_token_ends_the_connection)
{
	for (unsigned i = 0; i < BAD_TOKENS; i++) {
		struct pair *p = window_pair();
		struct window v = window_new(p), w = window_new(p);

		window_bind(p, 0, 1, &v, WINDOW_RW);
		window_invalidate(p, 0, 2, v.token, 0);
		pair_run(p, PAIR_LONG);
		window_bind(p, 1, 3, &w, WINDOW_RW);
		pair_recv(p, 1, 0, 4, 8192, 4096);
		pair_recv(p, 1, 0, 5, 8192, 4096);
		pair_run(p, PAIR_LONG);
		for (uint64_t c = 1; c <= 3; c++)
			pair_expect(p, 1, c, NDSH_WC_SUCCESS);
		window_send_inv(p, 0, 6, 8, bad_token(p, i, &v, &w), 0);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 1, 4, NDSH_WC_REM_INV_REQ_ERR);
		pair_expect(p, 1, 5, NDSH_WC_FLUSH_ERR);
		pair_expect_dead(p, 1, 0, ROCE_REASON_RECV_INV);
		cr_assert(p->side[1].events & 1u << ROCE_EV_QP_ERROR);
		pair_expect(p, 0, 6, NDSH_WC_REM_ACCESS_ERR);
		window_use(p, 1, 7, NDSH_OP_WRITE, w.token, WINDOW_AT, 8);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 0, 7, NDSH_WC_SUCCESS);
		window_free(p, &w);
		window_pair_free(p, &v);
	}
}

/* checks R-INV-06[1-3] */
Test(invalidate, R_INV_06_of_both_sides_exactly_one_wins)
{
	for (unsigned i = 0; i < 2; i++) {
		struct pair *p = window_pair();
		struct window v = window_new(p);

		window_bind(p, 0, 1, &v, WINDOW_RW);
		pair_recv(p, 1, 0, 2, 8192, 4096);
		pair_run(p, PAIR_LONG);
		pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
		if (i) { /* the owner first */
			window_invalidate(p, 0, 3, v.token, 0);
			pair_run(p, PAIR_LONG);
			pair_expect(p, 1, 3, NDSH_WC_SUCCESS);
		}
		window_send_inv(p, 0, 4, 8, v.token, 0);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 1, 2, i ? NDSH_WC_REM_INV_REQ_ERR : NDSH_WC_SUCCESS);
		if (!i) {
			window_invalidate(p, 0, 3, v.token, 0);
			pair_run(p, PAIR_LONG);
			pair_expect(p, 1, 3, NDSH_WC_LOC_QP_OP_ERR);
		}
		window_pair_free(p, &v);
	}
}

/* checks R-INV-06[1]: posted at every distance of a few turns, either first: exactly one of the two
 * invalidates, and both sides are told the same. */
Test(invalidate, of_invalidations_that_cross_one_wins)
{
	unsigned peer_won = 0;

	for (unsigned turns = 0; turns < 12; turns++)
		for (unsigned owner_first = 0; owner_first < 2; owner_first++) {
			struct pair *p = window_pair();
			struct window v = window_new(p);
			struct ndsh_cqe e;
			bool peer, owner = false;

			window_bind(p, 0, 1, &v, WINDOW_RW);
			pair_recv(p, 1, 0, 2, 8192, 4096);
			pair_run(p, PAIR_LONG);
			pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
			if (owner_first)
				window_invalidate(p, 0, 3, v.token, 0);
			else
				window_send_inv(p, 0, 4, 8, v.token, 0);
			for (unsigned i = 0; i < turns; i++) {
				pair_turn(p, 0);
				pair_turn(p, 1);
				p->now_ns += 500;
			}
			if (owner_first)
				window_send_inv(p, 0, 4, 8, v.token, 0);
			else
				window_invalidate(p, 0, 3, v.token, 0);
			cr_assert(pair_run(p, PAIR_LONG));
			cr_assert(pair_poll(p, 0, &e));
			peer = e.status == NDSH_WC_SUCCESS;
			for (unsigned i = 0; i < 2; i++) {
				cr_assert(pair_poll(p, 1, &e));
				if (e.context == 3)
					owner = e.status == NDSH_WC_SUCCESS;
				else
					cr_assert_eq(e.status,
						peer ? NDSH_WC_SUCCESS : NDSH_WC_REM_INV_REQ_ERR);
			}
			cr_assert_neq(peer, owner, "%u turns", turns);
			peer_won += peer;
			window_pair_free(p, &v);
		}
	cr_assert(peer_won > 0 && peer_won < 24, "%u", peer_won);
}

static unsigned
twice_tap(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	(void)p;
	(void)late_ns;
	(void)ctx;
	return from == 0 && pkt->opcode == ROCE_SEND_ONLY_INV ? 2 : 1;
}

/* checks W-INV-04[2] */
Test(invalidate, W_INV_04_a_duplicate_does_not_invalidate_again)
{
	struct pair *p = window_pair();
	struct window v = window_new(p);
	struct roce_pkt dup = {.opcode = ROCE_SEND_ONLY_INV,
		.pkey = ROCE_PKEY_DEFAULT,
		.ackreq = true,
		.payload_bytes = 8};

	window_bind(p, 0, 1, &v, WINDOW_RW);
	pair_recv(p, 1, 0, 2, 8192, 64);
	pair_recv(p, 1, 0, 3, 8192, 64);
	pair_run(p, PAIR_LONG);
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	p->tap = twice_tap;
	window_send_inv(p, 0, 4, 8, v.token, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 4, NDSH_WC_SUCCESS);
	pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
	pair_expect_none(p, 1);
	pair_expect_alive(p, 1, 0);
	window_bind(p, 0, 5, &v, WINDOW_RW);
	pair_run(p, PAIR_LONG);
	pair_expect(p, 1, 5, NDSH_WC_SUCCESS);
	dup.qpn = roce_qp_num(p->side[1].q[0].qp); /* what no copy may do: name the new token */
	dup.psn = p->opts.sq_psn[0];
	dup.ieth = v.token;
	pair_inject(p, 1, 0, &dup, p->side[0].arena);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect_none(p, 1);
	window_use(p, 0, 6, NDSH_OP_WRITE, v.token, WINDOW_AT, 8);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 6, NDSH_WC_SUCCESS);
	window_pair_free(p, &v);
}

/* ---- a peer that knows nothing of it ---- */

struct older {
	uint32_t psn;
	bool asked;
};

static unsigned
older_tap(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct older *o = ctx;

	(void)p;
	(void)late_ns;
	if (from == 1 || (pkt->opcode != ROCE_SEND_LAST_INV && pkt->opcode != ROCE_SEND_ONLY_INV))
		return 1;
	o->psn = pkt->psn;
	o->asked = true;
	return 0;
}

/* It answers as to any opcode that it does not have: that connection ends, and nothing else does.
 */
Test(invalidate, R_INV_10_a_peer_that_cannot)
{
	static const uint32_t sizes[] = {8, 3 * WINDOW_MTU};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct pair *p = window_pair();
		struct window v = window_new(p), w = window_new(p);
		struct older o = {0};

		p->tap = older_tap;
		p->tap_ctx = &o;
		window_bind(p, 0, 1, &v, WINDOW_RW);
		pair_run(p, PAIR_LONG);
		window_bind(p, 1, 2, &w, WINDOW_RW);
		pair_run(p, PAIR_LONG);
		pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
		pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
		pair_recv(p, 1, 0, 3, 8192, 4096);
		window_send_inv(p, 0, 4, sizes[i], v.token, 0);
		pair_send(p, 0, 0, 5, 0, 8, 0);
		for (unsigned turns = 0; turns < 8 && !o.asked; turns++) {
			pair_turn(p, 0);
			pair_turn(p, 1);
		}
		cr_assert(o.asked);
		pair_inject(p, 0, 0,
			&(struct roce_pkt){.opcode = ROCE_ACK,
				.qpn = roce_qp_num(p->side[0].q[0].qp),
				.psn = o.psn,
				.pkey = ROCE_PKEY_DEFAULT,
				.syndrome = ROCE_SYN_NAK_INV_REQ},
			NULL);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 0, 4, NDSH_WC_REM_INV_REQ_ERR);
		pair_expect(p, 0, 5, NDSH_WC_FLUSH_ERR);
		cr_assert_eq(roce_qp_state_get(p->side[0].q[0].qp), ROCE_QPS_ERR);
		window_use(p, 1, 6, NDSH_OP_WRITE, w.token, WINDOW_AT, 8);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 0, 6, NDSH_WC_SUCCESS);
		window_free(p, &w);
		window_pair_free(p, &v);
	}
}
