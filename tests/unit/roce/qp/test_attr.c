/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of a queue pair, one by one: which values are taken, what each of them changes, and
 * what the host is told of those that are refused. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "rigs/engine_pair.h"
#include "rigs/faults.h"

#define ALL_ATTRS 13u
#define TO_RTR                                                                                     \
	(ROCE_QPA_PATH | ROCE_QPA_MTU | ROCE_QPA_DEST_QPN | ROCE_QPA_RQ_PSN |                      \
		ROCE_QPA_MAX_DEST_RD | ROCE_QPA_MIN_RNR)
#define TO_RTS                                                                                     \
	(ROCE_QPA_TIMEOUT | ROCE_QPA_RETRY | ROCE_QPA_RNR_RETRY | ROCE_QPA_SQ_PSN | ROCE_QPA_MAX_RD)
#define IN_SQD                                                                                     \
	(ROCE_QPA_ACCESS | ROCE_QPA_PATH | ROCE_QPA_MAX_DEST_RD | ROCE_QPA_MIN_RNR |               \
		ROCE_QPA_TIMEOUT | ROCE_QPA_RETRY | ROCE_QPA_RNR_RETRY | ROCE_QPA_MAX_RD |         \
		ROCE_QPA_KEEPALIVE)

/* No value of one is that of another attribute, or of the same one in the other set. */
static const struct roce_qp_attr one = {
	.access = NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_ATOMIC,
	.path = {.udp_sport = 0xc000, .ttl = 64, .smac = {2, 1}, .dmac = {2, 2}},
	.mtu_bytes = 2048,
	.dest_qpn = 0x123456,
	.rq_psn = 0x111111,
	.sq_psn = 0x222222,
	.max_dest_rd = 3,
	.max_rd = 5,
	.min_rnr_code = 17,
	.timeout_code = 19,
	.retry = 2,
	.rnr_retry = 6,
	.rnr_give_up_ms = 1234,
	.keepalive_ms = 567890,
};
static const struct roce_qp_attr other = {
	.access = NDSH_ACCESS_REMOTE_WRITE,
	.path = {.udp_sport = 0xd000, .ttl = 63, .smac = {2, 3}, .dmac = {2, 4}},
	.mtu_bytes = 512,
	.dest_qpn = 0x654321,
	.rq_psn = 0x333333,
	.sq_psn = 0x444444,
	.max_dest_rd = 8,
	.max_rd = 9,
	.min_rnr_code = 20,
	.timeout_code = 21,
	.retry = 1,
	.rnr_retry = 4,
	.rnr_give_up_ms = 4321,
	.keepalive_ms = 98765,
};

/* What a query tells after those of mask were set from a. */
static void
change(struct roce_qp_attr *told, uint32_t mask, const struct roce_qp_attr *a)
{
#define CHANGE(bit, field) told->field = (mask & (bit)) ? a->field : told->field
	CHANGE(ROCE_QPA_ACCESS, access);
	CHANGE(ROCE_QPA_MTU, mtu_bytes);
	CHANGE(ROCE_QPA_DEST_QPN, dest_qpn);
	CHANGE(ROCE_QPA_RQ_PSN, rq_psn);
	CHANGE(ROCE_QPA_SQ_PSN, sq_psn);
	CHANGE(ROCE_QPA_MAX_DEST_RD, max_dest_rd);
	CHANGE(ROCE_QPA_MAX_RD, max_rd);
	CHANGE(ROCE_QPA_MIN_RNR, min_rnr_code);
	CHANGE(ROCE_QPA_TIMEOUT, timeout_code);
	CHANGE(ROCE_QPA_RETRY, retry);
	CHANGE(ROCE_QPA_RNR_RETRY, rnr_retry);
	CHANGE(ROCE_QPA_RNR_RETRY, rnr_give_up_ms);
	CHANGE(ROCE_QPA_KEEPALIVE, keepalive_ms);
#undef CHANGE
}

static void
expect_query(const struct pair *p, const struct roce_qp_attr *want, const char *when)
{
	struct roce_qp_attr got;

	cr_expect_not(roce_qp_query(p->side[0].q[0].qp, &got), "%s: draining", when);
#define SAME(field) cr_expect_eq(got.field, want->field, "%s: " #field, when)
	SAME(access);
	SAME(mtu_bytes);
	SAME(dest_qpn);
	SAME(rq_psn);
	SAME(sq_psn);
	SAME(max_dest_rd);
	SAME(max_rd);
	SAME(min_rnr_code);
	SAME(timeout_code);
	SAME(retry);
	SAME(rnr_retry);
	SAME(rnr_give_up_ms);
	SAME(keepalive_ms);
#undef SAME
}

static enum roce_modify
modify(struct pair *p, enum roce_qp_state to, uint32_t mask, const struct roce_qp_attr *a)
{
	return roce_qp_modify(p->side[0].shard, p->side[0].q[0].qp, p->now_ns, to, mask, a);
}

/* From one state to the next, each of which sets what it has to. */
Test(qp_attr, a_query_tells_what_was_set)
{
	static const struct {
		enum roce_qp_state to;
		uint32_t mask;
	} steps[] = {
		{ROCE_QPS_RESET, 0},
		{ROCE_QPS_INIT, ROCE_QPA_ACCESS | ROCE_QPA_KEEPALIVE},
		{ROCE_QPS_RTR, TO_RTR},
		{ROCE_QPS_RTS, TO_RTS},
		{ROCE_QPS_SQD, 0},
		{ROCE_QPS_ERR, 0},
	};
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_qp_attr told = {0};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		char when[16];

		snprintf(when, sizeof(when), "state %d", steps[i].to);
		cr_assert_eq(modify(p, steps[i].to, steps[i].mask, &one), ROCE_MODIFY_OK);
		change(&told, steps[i].mask, &one);
		expect_query(p, &told, when);
	}
	pair_free(p);
}

/* In SQD, where most of them may be set: each alone changes itself and no other. */
Test(qp_attr, each_changes_itself_alone)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_qp_attr told = {0};

	cr_assert_eq(modify(p, ROCE_QPS_RESET, 0, NULL), ROCE_MODIFY_OK);
	cr_assert_eq(modify(p, ROCE_QPS_INIT, ROCE_QPA_ACCESS, &one), ROCE_MODIFY_OK);
	cr_assert_eq(modify(p, ROCE_QPS_RTR, TO_RTR, &one), ROCE_MODIFY_OK);
	cr_assert_eq(modify(p, ROCE_QPS_RTS, TO_RTS, &one), ROCE_MODIFY_OK);
	cr_assert_eq(modify(p, ROCE_QPS_SQD, 0, NULL), ROCE_MODIFY_OK);
	change(&told, UINT32_MAX & ~(uint32_t)ROCE_QPA_KEEPALIVE, &one);
	expect_query(p, &told, "as it came");
	for (uint32_t i = 0; i < ALL_ATTRS; i++) {
		char when[32];

		if (!(IN_SQD & 1u << i))
			continue;
		snprintf(when, sizeof(when), "attribute %u", i);
		cr_assert_eq(modify(p, ROCE_QPS_SQD, 1u << i, &other), ROCE_MODIFY_OK);
		change(&told, 1u << i, &other);
		expect_query(p, &told, when);
	}
	pair_free(p);
}

/* Refused ones change nothing. */
Test(qp_attr, what_is_wrong_is_named)
{
	static const struct {
		enum roce_qp_state from, to;
		uint32_t mask;
		enum roce_modify verdict;
		uint32_t wrong;
	} cases[] = {
		{ROCE_QPS_RESET, ROCE_QPS_RTS, 0, ROCE_MODIFY_BAD_TRANSITION, 0},
		{ROCE_QPS_RESET, ROCE_QPS_UD_RTS, 0, ROCE_MODIFY_BAD_TRANSITION, 0},
		{ROCE_QPS_RTR, ROCE_QPS_RTS, TO_RTS, ROCE_MODIFY_OK, 0},
		{ROCE_QPS_RTR, ROCE_QPS_RTS, TO_RTS & ~(uint32_t)(ROCE_QPA_RETRY | ROCE_QPA_MAX_RD),
			ROCE_MODIFY_MISSING_ATTR, ROCE_QPA_RETRY | ROCE_QPA_MAX_RD},
		{ROCE_QPS_RTR, ROCE_QPS_RTS, TO_RTS | ROCE_QPA_PATH | ROCE_QPA_MTU,
			ROCE_MODIFY_FORBIDDEN_ATTR, ROCE_QPA_PATH | ROCE_QPA_MTU},
		{ROCE_QPS_SQD, ROCE_QPS_SQD, IN_SQD, ROCE_MODIFY_OK, 0},
	};
	struct roce_qp_attr bad = one;
	uint32_t wrong;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		wrong = UINT32_MAX;
		cr_expect_eq(
			roce_modify_judge(cases[i].from, cases[i].to, cases[i].mask, &one, &wrong),
			cases[i].verdict, "case %zu", i);
		cr_expect_eq(wrong, cases[i].wrong, "case %zu: %x", i, wrong);
	}
	bad.timeout_code = 32;
	bad.max_rd = 17;
	wrong = 0;
	cr_expect_eq(roce_modify_judge(ROCE_QPS_SQD, ROCE_QPS_SQD, IN_SQD, &bad, &wrong),
		ROCE_MODIFY_BAD_VALUE);
	cr_expect_eq(wrong, ROCE_QPA_TIMEOUT | ROCE_QPA_MAX_RD);
}

/* They have their own ways (ud.h). */
Test(qp_attr, no_way_leads_from_the_states_of_datagrams)
{
	for (enum roce_qp_state from = ROCE_QPS_UD_RTS; from <= ROCE_QPS_UD_SQE; from++)
		for (enum roce_qp_state to = ROCE_QPS_RESET; to <= ROCE_QPS_UD_SQE; to++) {
			uint32_t wrong = UINT32_MAX;

			cr_expect_eq(roce_modify_judge(from, to, 0, &one, &wrong),
				ROCE_MODIFY_BAD_TRANSITION, "%d -> %d", from, to);
			cr_expect_eq(wrong, 0);
		}
}

#define TAKEN(from, mask, field, value)                                                            \
	do {                                                                                       \
		struct roce_qp_attr a = one;                                                       \
		uint32_t wrong;                                                                    \
		a.field = value;                                                                   \
		cr_expect_eq(roce_modify_judge(from, (from) + 1, mask, &a, &wrong),                \
			ROCE_MODIFY_OK, #field " " #value);                                        \
	} while (0)

/* checks W-QP-06[1] */
Test(qp_attr, the_first_and_the_last_values_are_taken)
{
	TAKEN(ROCE_QPS_RESET, ROCE_QPA_ACCESS, access, 0);
	TAKEN(ROCE_QPS_RESET, ROCE_QPA_ACCESS, access,
		NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_REMOTE_ATOMIC);
	TAKEN(ROCE_QPS_INIT, TO_RTR, mtu_bytes, 256);
	TAKEN(ROCE_QPS_INIT, TO_RTR, mtu_bytes, 4096);
	TAKEN(ROCE_QPS_INIT, TO_RTR, dest_qpn, 2);
	TAKEN(ROCE_QPS_INIT, TO_RTR, dest_qpn, 0xfffffe);
	TAKEN(ROCE_QPS_INIT, TO_RTR, rq_psn, 0);
	TAKEN(ROCE_QPS_INIT, TO_RTR, rq_psn, 0xffffff);
	TAKEN(ROCE_QPS_INIT, TO_RTR, max_dest_rd, 0);
	TAKEN(ROCE_QPS_INIT, TO_RTR, max_dest_rd, 16);
	TAKEN(ROCE_QPS_INIT, TO_RTR, min_rnr_code, 0);
	TAKEN(ROCE_QPS_INIT, TO_RTR, min_rnr_code, 31);
	TAKEN(ROCE_QPS_RTR, TO_RTS, sq_psn, 0);
	TAKEN(ROCE_QPS_RTR, TO_RTS, sq_psn, 0xffffff);
	TAKEN(ROCE_QPS_RTR, TO_RTS, max_rd, 0);
	TAKEN(ROCE_QPS_RTR, TO_RTS, max_rd, 16);
	TAKEN(ROCE_QPS_RTR, TO_RTS, timeout_code, 0);
	TAKEN(ROCE_QPS_RTR, TO_RTS, timeout_code, 31);
	TAKEN(ROCE_QPS_RTR, TO_RTS, retry, 7);
	TAKEN(ROCE_QPS_RTR, TO_RTS, rnr_retry, 7);
}

/*
 * Packets in flight were sent with the old attributes: until they are acknowledged, new ones are
 * put off. What would be refused later as well is refused at once, and the way back to RTS, with
 * attributes or without, is open.
 */
Test(qp_attr, while_it_drains)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_qp_attr bad = other, told;
	unsigned mute = 0;

	p->tap = fault_tap_mute;
	p->tap_ctx = &mute;
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_turn(p, 0);
	cr_assert_eq(modify(p, ROCE_QPS_SQD, 0, NULL), ROCE_MODIFY_OK);
	cr_assert(roce_qp_query(p->side[0].q[0].qp, &told));
	cr_expect_eq(modify(p, ROCE_QPS_SQD, 0, NULL), ROCE_MODIFY_OK, "nothing is asked for");
	cr_expect_eq(modify(p, ROCE_QPS_SQD, ROCE_QPA_MIN_RNR, &other), ROCE_MODIFY_DRAINING);
	cr_expect_eq(modify(p, ROCE_QPS_SQD, ROCE_QPA_SQ_PSN, &other), ROCE_MODIFY_FORBIDDEN_ATTR);
	bad.timeout_code = 32;
	cr_expect_eq(modify(p, ROCE_QPS_SQD, ROCE_QPA_TIMEOUT, &bad), ROCE_MODIFY_BAD_VALUE);
	cr_expect(roce_qp_query(p->side[0].q[0].qp, &told));
	cr_expect_eq(modify(p, ROCE_QPS_RTS, ROCE_QPA_MIN_RNR, &other), ROCE_MODIFY_OK);
	cr_expect_not(roce_qp_query(p->side[0].q[0].qp, &told));
	cr_expect_eq(told.min_rnr_code, other.min_rnr_code);
	mute = 2;
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_free(p);
}
