/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of a queue pair, one by one: which values are taken, what each of them changes, and
 * what the host is told of those that are refused. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "rigs/engine_pair.h"

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
