/* SPDX-License-Identifier: BSD-3-Clause */
/* Which steps between states there are, and what each needs and takes. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>

#include "ndverbs/states.h"

#define ALTERNATE 0x44000

struct row {
	enum ibv_qp_type type;
	enum ibv_qp_state from, to;
	int needs, takes;
};

/* InfiniBand's table of transitions, in the bits that verbs has for the attributes. */
static const struct row rows[] = {
	{IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, 0x38, 0},
	{IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_INIT, 0, 0x38},
	{IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, 0x129180, 0x18},
	{IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS, 0x12e00, 0x800a},
	{IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_RTS, 0, 0x800a},
	{IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_SQD, 0, 0x4},
	{IBV_QPT_RC, IBV_QPS_SQD, IBV_QPS_SQD, 0, 0x2aeb8},
	{IBV_QPT_RC, IBV_QPS_SQD, IBV_QPS_RTS, 0, 0x800a},
	{IBV_QPT_UC, IBV_QPS_RESET, IBV_QPS_INIT, 0x38, 0},
	{IBV_QPT_UC, IBV_QPS_INIT, IBV_QPS_INIT, 0, 0x38},
	{IBV_QPT_UC, IBV_QPS_INIT, IBV_QPS_RTR, 0x101180, 0x18},
	{IBV_QPT_UC, IBV_QPS_RTR, IBV_QPS_RTS, 0x10000, 0xa},
	{IBV_QPT_UC, IBV_QPS_RTS, IBV_QPS_RTS, 0, 0xa},
	{IBV_QPT_UC, IBV_QPS_RTS, IBV_QPS_SQD, 0, 0x4},
	{IBV_QPT_UC, IBV_QPS_SQD, IBV_QPS_SQD, 0, 0x98},
	{IBV_QPT_UC, IBV_QPS_SQD, IBV_QPS_RTS, 0, 0xa},
	{IBV_QPT_UC, IBV_QPS_SQE, IBV_QPS_RTS, 0, 0xa},
	{IBV_QPT_UD, IBV_QPS_RESET, IBV_QPS_INIT, 0x70, 0},
	{IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_INIT, 0, 0x70},
	{IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_RTR, 0, 0x50},
	{IBV_QPT_UD, IBV_QPS_RTR, IBV_QPS_RTS, 0x10000, 0x42},
	{IBV_QPT_UD, IBV_QPS_RTS, IBV_QPS_RTS, 0, 0x42},
	{IBV_QPT_UD, IBV_QPS_SQE, IBV_QPS_RTS, 0, 0x42},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static const struct row *
row_of(enum ibv_qp_type type, int from, int to)
{
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].type == type && (int)rows[i].from == from && (int)rows[i].to == to)
			return &rows[i];
	return NULL;
}

static int
step(enum ibv_qp_type type, int from, int to, int mask)
{
	return ndv_check_step(type, (enum ibv_qp_state)from, (enum ibv_qp_state)to, mask);
}

static void
each_attribute(const struct row *r)
{
	const int all = r->needs | r->takes;

	cr_expect(eq(i32, step(r->type, r->from, r->to, r->needs | IBV_QP_STATE), 0));
	cr_expect(eq(i32, step(r->type, r->from, r->to, all | IBV_QP_STATE), 0));
	for (int bit = 2; bit <= IBV_QP_RATE_LIMIT; bit <<= 1) {
		if (r->needs & bit)
			cr_expect(eq(i32, step(r->type, r->from, r->to, all & ~bit), EINVAL),
				"%d to %d without %#x", r->from, r->to, bit);
		else if ((bit & ALTERNATE) && r->type != IBV_QPT_UD && r->from >= IBV_QPS_INIT &&
			 r->from != IBV_QPS_SQE && r->to >= IBV_QPS_RTR && r->to != IBV_QPS_SQD)
			cr_expect(eq(i32, step(r->type, r->from, r->to, all | bit), EOPNOTSUPP));
		else if (!(all & bit) && !(bit & ALTERNATE))
			cr_expect(eq(i32, step(r->type, r->from, r->to, all | bit), EINVAL),
				"%d to %d with %#x", r->from, r->to, bit);
	}
}

Test(ndverbs_states, each_attribute_of_each_step)
{
	for (size_t i = 0; i < ROWS; i++)
		each_attribute(&rows[i]);
}

Test(ndverbs_states, there_are_no_other_steps)
{
	const enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UD, IBV_QPT_UC, IBV_QPT_XRC_SEND};

	for (int t = 0; t < 4; t++)
		for (int from = IBV_QPS_RESET; from <= IBV_QPS_ERR; from++)
			for (int to = IBV_QPS_INIT; to < IBV_QPS_ERR; to++)
				if (row_of(types[t], from, to) == NULL)
					cr_expect(eq(i32, step(types[t], from, to, 0), EINVAL));
}

Test(ndverbs_states, reset_and_error_from_everywhere)
{
	for (int from = IBV_QPS_RESET; from <= IBV_QPS_ERR; from++) {
		cr_expect(eq(i32, step(IBV_QPT_RC, from, IBV_QPS_RESET, IBV_QP_STATE), 0));
		cr_expect(eq(i32, step(IBV_QPT_UD, from, IBV_QPS_ERR, IBV_QP_STATE), 0));
		cr_expect(eq(i32, step(IBV_QPT_RC, from, IBV_QPS_ERR, IBV_QP_AV), EINVAL));
	}
}
