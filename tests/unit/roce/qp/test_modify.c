/* SPDX-License-Identifier: BSD-3-Clause */
/* The transition table: every pair of states, every mask one attribute off, every value;
 * what SQD is for. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/scripted_peer.h"

#define ALL_ATTRS 13u
#define NOW	  UINT64_C(1000000000)

#define TO_RTR                                                                                     \
	(ROCE_QPA_PATH | ROCE_QPA_MTU | ROCE_QPA_DEST_QPN | ROCE_QPA_RQ_PSN |                      \
		ROCE_QPA_MAX_DEST_RD | ROCE_QPA_MIN_RNR)
#define TO_RTS                                                                                     \
	(ROCE_QPA_TIMEOUT | ROCE_QPA_RETRY | ROCE_QPA_RNR_RETRY | ROCE_QPA_SQ_PSN | ROCE_QPA_MAX_RD)
#define LIVE (ROCE_QPA_ACCESS | ROCE_QPA_MIN_RNR | ROCE_QPA_KEEPALIVE)

/* As the reference prints it, and our own ROCE_QPA_KEEPALIVE wherever something may be told. */
static const struct rule {
	enum roce_qp_state from, to;
	uint32_t required, optional;
} rules[] = {
	{ROCE_QPS_RESET, ROCE_QPS_INIT, ROCE_QPA_ACCESS, ROCE_QPA_KEEPALIVE},
	{ROCE_QPS_INIT, ROCE_QPS_INIT, 0, ROCE_QPA_ACCESS | ROCE_QPA_KEEPALIVE},
	{ROCE_QPS_INIT, ROCE_QPS_RTR, TO_RTR, ROCE_QPA_ACCESS | ROCE_QPA_KEEPALIVE},
	{ROCE_QPS_RTR, ROCE_QPS_RTS, TO_RTS, LIVE},
	{ROCE_QPS_RTS, ROCE_QPS_RTS, 0, LIVE},
	{ROCE_QPS_RTS, ROCE_QPS_SQD, 0, 0},
	{ROCE_QPS_SQD, ROCE_QPS_SQD, 0,
		ROCE_QPA_PATH | ROCE_QPA_TIMEOUT | ROCE_QPA_RETRY | ROCE_QPA_RNR_RETRY |
			ROCE_QPA_MAX_RD | ROCE_QPA_MAX_DEST_RD | LIVE},
	{ROCE_QPS_SQD, ROCE_QPS_RTS, 0, LIVE},
};

static bool
find_rule(enum roce_qp_state from, enum roce_qp_state to, struct rule *rule)
{
	if (to == ROCE_QPS_RESET || (to == ROCE_QPS_ERR && from != ROCE_QPS_RESET)) {
		*rule = (struct rule){from, to, 0, 0};
		return true;
	}
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i].from == from && rules[i].to == to) {
			*rule = rules[i];
			return true;
		}
	return false;
}

/* Queue pair 0 of side 0 in the state wanted. */
static void
bring_to(struct pair *p, enum roce_qp_state state)
{
	struct roce_shard *s = p->side[0].shard;
	struct roce_qp *qp = p->side[0].q[0].qp;
	struct roce_qp_attr a;

	pair_attr(p, 0, 0, &a);
	cr_assert_eq(roce_qp_modify(s, qp, NOW, ROCE_QPS_RESET, 0, &a), ROCE_MODIFY_OK);
	if (state == ROCE_QPS_RESET)
		return;
	roce_qp_modify(s, qp, NOW, ROCE_QPS_INIT, ROCE_QPA_ACCESS, &a);
	if (state >= ROCE_QPS_RTR)
		roce_qp_modify(s, qp, NOW, ROCE_QPS_RTR, TO_RTR, &a);
	if (state >= ROCE_QPS_RTS)
		roce_qp_modify(s, qp, NOW, ROCE_QPS_RTS, TO_RTS, &a);
	if (state == ROCE_QPS_SQD || state == ROCE_QPS_ERR)
		roce_qp_modify(s, qp, NOW, state, 0, &a);
	cr_assert_eq(roce_qp_state_get(qp), state);
}

static enum roce_modify
attempt(struct pair *p, enum roce_qp_state from, enum roce_qp_state to, uint32_t mask)
{
	struct roce_qp *qp = p->side[0].q[0].qp;
	struct roce_qp_attr a;
	enum roce_modify r;

	bring_to(p, from);
	pair_attr(p, 0, 0, &a);
	r = roce_qp_modify(p->side[0].shard, qp, NOW, to, mask, &a);
	cr_assert_eq(roce_qp_state_get(qp), r == ROCE_MODIFY_OK ? to : from);
	return r;
}

Test(qp_modify, every_transition_every_mask_one_attribute_off)
{
	struct pair *p = pair_new(&(struct pair_opts){0});

	for (enum roce_qp_state from = ROCE_QPS_RESET; from <= ROCE_QPS_ERR; from++)
		for (enum roce_qp_state to = ROCE_QPS_RESET; to <= ROCE_QPS_ERR; to++) {
			struct rule r;

			if (!find_rule(from, to, &r)) {
				cr_assert_eq(attempt(p, from, to, 0), ROCE_MODIFY_BAD_TRANSITION);
				continue;
			}
			cr_assert_eq(attempt(p, from, to, r.required), ROCE_MODIFY_OK);
			cr_assert_eq(attempt(p, from, to, r.required | r.optional), ROCE_MODIFY_OK);
			for (uint32_t i = 0; i < ALL_ATTRS; i++) {
				uint32_t bit = 1u << i;
				enum roce_modify want = ROCE_MODIFY_FORBIDDEN_ATTR;

				if (bit & r.required)
					want = ROCE_MODIFY_MISSING_ATTR;
				else if (bit & r.optional)
					want = ROCE_MODIFY_OK;
				cr_assert_eq(attempt(p, from, to, r.required ^ bit), want,
					"%d -> %d, attribute %u", from, to, i);
			}
		}
	cr_assert_eq(
		attempt(p, ROCE_QPS_RTS, (enum roce_qp_state)6, 0), ROCE_MODIFY_BAD_TRANSITION);
	pair_free(p);
}

static enum roce_modify
try_attr(struct pair *p, enum roce_qp_state from, const struct roce_qp_attr *a)
{
	struct rule r;

	cr_assert(find_rule(from, from + 1, &r));
	bring_to(p, from);
	return roce_qp_modify(p->side[0].shard, p->side[0].q[0].qp, NOW, from + 1, r.required, a);
}

#define REFUSED(from, field, value)                                                                \
	do {                                                                                       \
		struct roce_qp_attr a;                                                             \
		pair_attr(p, 0, 0, &a);                                                            \
		a.field = value;                                                                   \
		cr_assert_eq(try_attr(p, from, &a), ROCE_MODIFY_BAD_VALUE, #field " " #value);     \
	} while (0)

/* checks W-PKT-11[5], W-QP-06[2] */
Test(qp_modify, values_out_of_range)
{
	struct pair *p = pair_new(&(struct pair_opts){0});

	REFUSED(ROCE_QPS_RESET, access, NDSH_ACCESS_LOCAL_WRITE);
	REFUSED(ROCE_QPS_INIT, mtu_bytes, 0);
	REFUSED(ROCE_QPS_INIT, mtu_bytes, 128);
	REFUSED(ROCE_QPS_INIT, mtu_bytes, 1500);
	REFUSED(ROCE_QPS_INIT, mtu_bytes, 8192);
	REFUSED(ROCE_QPS_INIT, dest_qpn, 0);
	REFUSED(ROCE_QPS_INIT, dest_qpn, 1);
	REFUSED(ROCE_QPS_INIT, dest_qpn, 0xffffff);
	REFUSED(ROCE_QPS_INIT, rq_psn, 0x1000000);
	REFUSED(ROCE_QPS_INIT, max_dest_rd, ROCE_RD_ATOMIC_MAX + 1);
	REFUSED(ROCE_QPS_INIT, min_rnr_code, 32);
	REFUSED(ROCE_QPS_INIT, path.dgid.raw[0], 0x20); /* v6 to v4 */
	REFUSED(ROCE_QPS_RTR, timeout_code, 32);
	REFUSED(ROCE_QPS_RTR, retry, 8);
	REFUSED(ROCE_QPS_RTR, rnr_retry, 8);
	REFUSED(ROCE_QPS_RTR, sq_psn, 0x1000000);
	REFUSED(ROCE_QPS_RTR, max_rd, ROCE_RD_ATOMIC_MAX + 1);
	pair_free(p);
}

/* checks W-QP-01[1,3] */
Test(qp_modify, W_QP_01_reset_forgets_everything_but_the_number)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_qp *qp = p->side[0].q[0].qp;
	const struct ndsh_qp_page *page = p->side[0].q[0].block;
	uint32_t qpn = roce_qp_num(qp);
	struct ndsh_cqe c;

	pair_recv(p, 0, 0, 1, 0, 64);
	pair_write(p, 0, 0, 2, 0, 0, 3000, 0);
	pair_write(p, 0, 0, 3, 0, 0, 8, 0);
	pair_turn(p, 0); /* sent, and never to be answered */
	p->tap = NULL;
	bring_to(p, ROCE_QPS_RESET);
	cr_assert_not(pair_poll(p, 0, &c), "RESET makes no completions");
	cr_assert_eq(roce_qp_num(qp), qpn);
	cr_assert_eq(page->sq_done, 2);
	cr_assert_eq(page->rq_done, 1);
	/* Both ends anew. */
	roce_qp_modify(p->side[1].shard, p->side[1].q[0].qp, NOW, ROCE_QPS_RESET, 0, NULL);
	while (p->on_wire > 0) {
		p->now_ns += 1000000;
		pair_turn(p, 0);
		pair_turn(p, 1);
	}
	pair_connect(p, 0, 0);
	pair_connect(p, 1, 0);
	pair_write(p, 0, 0, 4, 0, 0, 3000, 0);
	cr_assert(pair_run(p, 1000000000));
	cr_assert(pair_poll(p, 0, &c));
	cr_assert_eq(c.context, 4);
	cr_assert_eq(c.status, NDSH_WC_SUCCESS);
	cr_assert_eq(c.slot_count, 3);
	pair_free(p);
}

/* checks W-QP-01[2]: a responder knows no atomic and no message of before, though the PSNs are the
 * same; a requester waits for nothing. */
Test(qp_modify, W_QP_01_nothing_of_before_is_left)
{
	const uint32_t rights = NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_REMOTE_ATOMIC;
	struct peer_tape t;
	struct pair *p = peer_with(&t, (struct pair_opts){.access = rights,
					       .mr_access = rights | NDSH_ACCESS_LOCAL_WRITE});
	struct roce_shard *s = p->side[1].shard;
	struct roce_qp *qp = p->side[1].q[0].qp;
	struct ndsh_cqe c;

	for (uint32_t i = 0; i < 2; i++) {
		peer_say_plain(p, ROCE_FETCH_ADD, PEER_PSN + i, 0);
		peer_silent(p, &t, i + 1);
	}
	pair_write(p, 1, 0, 1, 0, 0, 8, 0);
	peer_silent(p, &t, 3);
	cr_assert_neq(roce_shard_next_deadline(s), UINT64_MAX, "it waits for an ACK");
	cr_assert_eq(roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_RESET, 0, NULL), ROCE_MODIFY_OK);
	cr_assert_eq(roce_shard_next_deadline(s), UINT64_MAX);
	pair_connect(p, 1, 0);
	for (uint32_t i = 0; i < 2; i++) {
		peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + i, 8);
		peer_heard(p, &t, 4 + i, ROCE_SYN_ACK, PEER_PSN + i);
		cr_assert_eq(t.said[3 + i].msn, i + 1, "it counts from 0");
	}
	peer_say_plain(p, ROCE_FETCH_ADD, PEER_PSN + 2, 0);
	peer_silent(p, &t, 6);
	for (uint32_t i = 0; i < 2; i++)
		peer_say_plain(p, ROCE_FETCH_ADD, PEER_PSN + i, 0);
	peer_silent(p, &t, 6);
	cr_assert_not(pair_poll(p, 1, &c));
	pair_expect_alive(p, 1, 0);
	pair_free(p);
}

/* checks W-QP-03[1], W-REQ-12[1-3] */
Test(qp_modify, W_REQ_12_sqd_finishes_the_message_and_starts_none)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = 256, .window = 16});
	struct roce_shard *s = p->side[0].shard;
	struct roce_qp *qp = p->side[0].q[0].qp;
	struct ndsh_cqe c;

	pair_write(p, 0, 0, 1, 0, 0, 256 * 100, 0);
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	pair_turn(p, 0); /* one window of the first is out */
	cr_assert_eq(roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_SQD, 0, NULL), ROCE_MODIFY_OK);
	cr_assert(pair_run(p, 1000000000));
	cr_assert(pair_poll(p, 0, &c));
	cr_assert_eq(c.context, 1);
	cr_assert_not(pair_poll(p, 0, &c));
	cr_assert_eq(roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_RTS, 0, NULL), ROCE_MODIFY_OK);
	cr_assert(pair_run(p, 1000000000));
	cr_assert(pair_poll(p, 0, &c));
	cr_assert_eq(c.context, 2);
	pair_free(p);
}

/* A client may post in RTR, and a turn comes for what the peer reads: no request leaves then. */
Test(qp_modify, requests_wait_for_rts)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_qp_attr a;

	bring_to(p, ROCE_QPS_RTR);
	pair_attr(p, 0, 0, &a);
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_read(p, 1, 0, 2, 0, 0, 8, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
	cr_assert_eq(pair_count(p, 0)->tx_packets, 1, "the response");
	cr_assert_eq(roce_qp_modify(p->side[0].shard, p->side[0].q[0].qp, p->now_ns, ROCE_QPS_RTS,
			     TO_RTS, &a),
		ROCE_MODIFY_OK);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_free(p);
}

#define DRAINED (1u << ROCE_EV_SQ_DRAINED)

static enum roce_modify
to_sqd(struct pair *p)
{
	return roce_qp_modify(
		p->side[0].shard, p->side[0].q[0].qp, p->now_ns, ROCE_QPS_SQD, 0, NULL);
}

static enum roce_modify
to_rts(struct pair *p)
{
	return roce_qp_modify(
		p->side[0].shard, p->side[0].q[0].qp, p->now_ns, ROCE_QPS_RTS, 0, NULL);
}

/* The first packet of each message gets lost once. */
static unsigned
lose_first(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	uint32_t *lost = ctx;

	(void)p;
	(void)late_ns;
	return from != 0 || pkt->opcode == ROCE_ACK || (*lost)++ != 0;
}

/* checks W-QP-03[2,3,4,5], W-REQ-12[2] */
Test(qp_modify, W_QP_03_draining_is_told_when_all_that_was_begun_is_acknowledged)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = 256, .window = 16});
	uint32_t lost = 0;

	p->tap = lose_first;
	p->tap_ctx = &lost;
	pair_write(p, 0, 0, 1, 0, 0, 256 * 100, 0);
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	pair_turn(p, 0); /* one window of the first is out */
	cr_assert_eq(to_sqd(p), ROCE_MODIFY_OK);
	while (!(p->side[0].events & DRAINED)) {
		struct ndsh_cqe c;

		cr_assert_not(pair_poll(p, 0, &c), "finished, and not yet told");
		pair_turn(p, 0);
		pair_turn(p, 1);
		p->now_ns += 2000;
		cr_assert_lt(p->now_ns, UINT64_C(2000000000));
		if (p->side[0].events & DRAINED)
			cr_assert(pair_poll(p, 0, &c), "told, and not yet finished");
	}
	p->side[0].events = 0;
	cr_assert(pair_run(p, 1000000000));
	pair_expect_none(p, 0);
	cr_assert_eq(p->side[0].events, 0, "told once");
	cr_assert_eq(to_rts(p), ROCE_MODIFY_OK);
	cr_assert(pair_run(p, 1000000000));
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	cr_assert_eq(p->side[0].events, 0);
	/* Idle, it is drained at once; the next time it is told again. */
	cr_assert_eq(to_sqd(p), ROCE_MODIFY_OK);
	pair_turn(p, 0);
	cr_assert_eq(p->side[0].events, DRAINED);
	pair_free(p);
}

/* A peer without a receive keeps it from draining: it may go on in the same state. */
Test(qp_modify, W_QP_03_nothing_is_told_of_a_queue_that_never_drained)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_qp_attr a;

	pair_send(p, 0, 0, 1, 0, 8, 0);
	(void)pair_run(p, 3000000);
	cr_assert_eq(to_sqd(p), ROCE_MODIFY_OK);
	(void)pair_run(p, 3000000);
	pair_attr(p, 0, 0, &a);
	cr_assert_eq(roce_qp_modify(p->side[0].shard, p->side[0].q[0].qp, p->now_ns, ROCE_QPS_SQD,
			     ROCE_QPA_PATH, &a),
		ROCE_MODIFY_DRAINING);
	cr_assert_eq(to_rts(p), ROCE_MODIFY_OK);
	pair_recv(p, 1, 0, 2, 0, 8);
	cr_assert(pair_run(p, 1000000000));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	cr_assert_eq(p->side[0].events & DRAINED, 0);
	pair_free(p);
}

struct seen {
	unsigned packets;
	uint16_t sport;
	uint8_t ttl;
	uint8_t dmac[6];
};

static unsigned
look(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct seen *seen = ctx;

	(void)p;
	(void)late_ns;
	if (from == 0) {
		seen->packets++;
		seen->sport = (uint16_t)(pkt->l3[20] << 8 | pkt->l3[21]);
		seen->ttl = pkt->l3[8];
		memcpy(seen->dmac, pkt->l3 - 14, 6);
	}
	return 1;
}

/* And the rest of the path with it; the connection goes on where it was. */
Test(qp_modify, W_QP_04_a_new_path_in_sqd_has_its_own_source_port)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct seen seen = {0};
	struct roce_qp_attr a;

	p->tap = look;
	p->tap_ctx = &seen;
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	cr_assert(pair_run(p, 1000000000));
	cr_assert_eq(seen.sport, 0xc000);
	cr_assert_eq(to_sqd(p), ROCE_MODIFY_OK);
	pair_attr(p, 0, 0, &a);
	a.path.udp_sport = roce_flow_sport(0x54321, 1, 2);
	a.path.ttl = 3;
	a.path.dmac[0] = 6;
	cr_assert_neq(a.path.udp_sport, 0xc000);
	cr_assert_eq(roce_qp_modify(p->side[0].shard, p->side[0].q[0].qp, p->now_ns, ROCE_QPS_SQD,
			     ROCE_QPA_PATH, &a),
		ROCE_MODIFY_OK);
	cr_assert_eq(to_rts(p), ROCE_MODIFY_OK);
	seen.packets = 0;
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	cr_assert(pair_run(p, 1000000000));
	cr_assert_eq(seen.packets, 1);
	cr_assert_eq(seen.sport, a.path.udp_sport);
	cr_assert_eq(seen.ttl, 3);
	cr_assert_eq(seen.dmac[0], 6);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	pair_free(p);
}

Test(qp_modify, W_QP_05_a_path_mtu_above_the_ports_is_refused)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_qp_attr a;

	for (uint32_t port = 256; port <= 4096; port *= 2)
		for (uint32_t path = 256; path <= 4096; path *= 2) {
			pair_attr(p, 0, 0, &a);
			a.mtu_bytes = path;
			a.port_mtu_bytes = port;
			cr_assert_eq(try_attr(p, ROCE_QPS_INIT, &a),
				path <= port ? ROCE_MODIFY_OK : ROCE_MODIFY_BAD_VALUE,
				"%u over a port of %u", path, port);
			a.port_mtu_bytes = port - 1;
			cr_assert_eq(try_attr(p, ROCE_QPS_INIT, &a),
				path < port ? ROCE_MODIFY_OK : ROCE_MODIFY_BAD_VALUE,
				"%u over a port of %u", path, port - 1);
		}
	pair_free(p);
}

Test(qp_modify, requests_posted_before_RTS_leave_when_it_comes)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct ndsh_cqe c;

	bring_to(p, ROCE_QPS_INIT);
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_turn(p, 0);
	cr_assert_eq(p->sent[0], 0);
	bring_to(p, ROCE_QPS_RESET); /* also throws that one away */
	pair_connect(p, 0, 0);
	cr_assert(pair_run(p, 1000000));
	cr_assert_not(pair_poll(p, 0, &c));
	bring_to(p, ROCE_QPS_RTR);
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	{
		struct roce_qp_attr a;

		pair_attr(p, 0, 0, &a);
		roce_qp_modify(
			p->side[0].shard, p->side[0].q[0].qp, p->now_ns, ROCE_QPS_RTS, TO_RTS, &a);
	}
	cr_assert(pair_run(p, 1000000000));
	cr_assert(pair_poll(p, 0, &c));
	cr_assert_eq(c.context, 2);
	pair_free(p);
}
