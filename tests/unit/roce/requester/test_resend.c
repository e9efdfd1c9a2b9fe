/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of this side that goes while requests from it are in flight: what can't be sent again
 * fails when it is the oldest, unless an answer says that it had arrived. */
#include <criterion/criterion.h>

#include "rigs/overheard.h"

#define FLOOR  UINT64_C(1000000) /* rto_floor_ns of engine_pair */
#define GONE   (PAIR_VA + PAIR_ARENA)
#define SECOND (WATCHED_PSN + 1)

/* Three WRITEs that left, without retries of any kind. When the timer sends the first one again,
 * the memory of the second is gone. */
static struct pair *
second_gone(void)
{
	struct pair *p = watched_pair(
		&(struct pair_opts){.retry = 255, .rnr_retry = 255, .timeout_code = 12}, true);
	struct pair_side *d = &p->side[0];
	struct roce_mr *mr = roce_mr_register(d->shard, d->pd, GONE, 8, d->arena, 0);
	struct ndsh_sge sge = {.addr = GONE, .len = 8, .key = roce_mr_key(mr)};

	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_post_sge(p, 0, 0, 2, NDSH_OP_WRITE, 0, &sge);
	pair_write(p, 0, 0, 3, 0, 0, 8, 0);
	pair_turn(p, 0);
	cr_assert_eq(watched.n, 3);
	cr_assert(roce_mr_deregister(d->shard, mr));
	(void)pair_run(p, FLOOR + FLOOR / 4);
	cr_assert_eq(watched.n, 4, "the first one alone");
	cr_assert_eq(watched.pkt[3].psn, WATCHED_PSN);
	pair_expect_none(p, 0);
	return p;
}

/* Whatever the NAK asks for, and though there are no retries to do it: the request that it names
 * fails for its own reason, and those behind are flushed. checks W-REQ-07[1,2,4], W-ERR-01[2,3] */
Test(resend, W_REQ_07_a_nak_of_what_cannot_be_sent_again)
{
	static const uint8_t naks[] = {ROCE_SYN_NAK_SEQ, ROCE_SYN_RNR | 1, ROCE_SYN_NAK_INV_REQ,
		ROCE_SYN_NAK_REM_ACCESS, ROCE_SYN_NAK_REM_OP};

	for (size_t i = 0; i < sizeof(naks); i++) {
		struct pair *p = second_gone();

		watched_answer(p, ROCE_ACK, SECOND, naks[i]);
		pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
		cr_assert_eq(pair_expect(p, 0, 2, NDSH_WC_LOC_PROT_ERR).syndrome,
			ROCE_REASON_LOCAL_PROT);
		pair_expect(p, 0, 3, NDSH_WC_FLUSH_ERR);
		pair_expect_none(p, 0);
		pair_expect_dead(p, 0, 0, ROCE_REASON_LOCAL_PROT);
		cr_assert_eq(p->side[0].last_event.syndrome, 0, "it is not the peer's");
		(void)pair_run(p, 4 * FLOOR);
		cr_assert_eq(watched.n, 4);
		pair_free(p);
	}
}

/* Its first copy had arrived: nothing has failed, and what is behind it is sent again at once.
 * checks W-COMP-02[1,2], W-TMR-03[1] */
Test(resend, W_COMP_02_what_cannot_be_sent_again_had_arrived)
{
	struct pair *p = second_gone();

	watched_answer(p, ROCE_ACK, SECOND, ROCE_SYN_ACK);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	cr_assert_eq(watched.n, 5);
	cr_assert_eq(watched.pkt[4].psn, SECOND + 1);
	watched_answer(p, ROCE_ACK, SECOND + 1, ROCE_SYN_ACK);
	pair_expect(p, 0, 3, NDSH_WC_SUCCESS);
	pair_expect_alive(p, 0, 0);
	pair_free(p);
}
