/* SPDX-License-Identifier: BSD-3-Clause */
/* What the engine's own completions do to an armed queue, and what lies there when it fires. */
#include <criterion/criterion.h>

#include "rigs/engine_pair.h"

#define LONG UINT64_C(1000000000)

static void
arm(struct pair *p, unsigned side, enum ndsh_arm type)
{
	cr_assert_eq(ndsh_cq_arm(&p->side[side].reader, type, NULL), NDSH_ARMED);
}

static bool
armed(const struct pair *p, unsigned side)
{
	return ndsh_cq_armed(&p->side[side].reader) != NDSH_ARM_NONE;
}

/* Both ends armed for anything. */
Test(engine_notify, R_CQ_07_a_silent_request_notifies_nobody)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct ndsh_cqe e;

	arm(p, 0, NDSH_ARM_ANY);
	arm(p, 1, NDSH_ARM_ANY);
	for (unsigned i = 0; i < 10; i++)
		pair_write(p, 0, 0, i, 0, 0, 8, NDSH_WRF_SILENT);
	cr_assert(pair_run(p, LONG));
	cr_expect(armed(p, 0) && armed(p, 1));
	pair_write(p, 0, 0, 10, 0, 0, 8, 0);
	cr_assert(pair_run(p, LONG));
	cr_expect_not(armed(p, 0));
	cr_expect(armed(p, 1), "nor does a write where it lands");
	cr_assert(pair_poll(p, 0, &e));
	cr_expect_eq(e.context, 10);
	pair_free(p);
}

/* Writes, plain sends and good initiator entries pass; the marked send does not. */
Test(engine_notify, R_CQ_06_R_CQ_04_only_the_marked_send_fires_solicited)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct ndsh_cqe e;

	arm(p, 0, NDSH_ARM_SOLICITED);
	arm(p, 1, NDSH_ARM_SOLICITED);
	for (unsigned i = 0; i < 2; i++)
		pair_recv(p, 1, 0, 100 + i, 64, 8);
	pair_write(p, 0, 0, 1, 0, 0, 8, NDSH_WRF_SOLICIT);
	pair_send(p, 0, 0, 2, 0, 8, 0);
	cr_assert(pair_run(p, LONG));
	cr_expect(armed(p, 0) && armed(p, 1));
	pair_send(p, 0, 0, 3, 0, 8, NDSH_WRF_SOLICIT);
	for (unsigned i = 0; armed(p, 1); i++) {
		cr_assert_lt(i, 1000);
		(void)pair_run(p, 1000); /* so as to look early */
	}
	cr_assert(pair_poll(p, 1, &e));
	cr_expect_eq(e.context, 100);
	cr_assert(pair_poll(p, 1, &e), "what fired it is there");
	cr_expect_eq(e.context, 101);
	cr_expect(armed(p, 0));
	pair_free(p);
}

/* A flush of both queues: whoever sees the event finds every entry. */
Test(engine_notify, R_CQ_17_the_whole_flush_is_there_when_it_notifies)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct ndsh_cqe e;

	for (unsigned i = 0; i < 100; i++)
		pair_recv(p, 0, 0, i, 0, 8);
	pair_turn(p, 0);
	arm(p, 0, NDSH_ARM_SOLICITED);
	roce_qp_modify(p->side[0].shard, p->side[0].q[0].qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
	for (unsigned i = 0; armed(p, 0); i++) {
		cr_assert_lt(i, 10);
		pair_turn(p, 0);
	}
	for (unsigned i = 0; i < 100; i++) {
		cr_assert(pair_poll(p, 0, &e));
		cr_expect_eq(e.context, i);
		cr_expect_eq(e.status, NDSH_WC_FLUSH_ERR);
	}
	cr_expect_not(pair_poll(p, 0, &e));
	pair_free(p);
}
