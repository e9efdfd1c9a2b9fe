/* SPDX-License-Identifier: BSD-3-Clause */
/* What the requester counts and records of answers, each once; and that it begins nothing while its
 * queue pair is in SQD. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/overheard.h"
#include "roce/qp/qp.h"

struct counted {
	uint64_t requests_completed, requests_failed, rx_nak_sequence, rx_nak_fatal, rx_rnr,
		implied_nak, timeouts, rx_ghost_response;
};

struct answer {
	uint8_t op; /* of the request: a message of two packets, or a READ of no bytes */
	uint8_t opcode, syndrome;
	uint32_t ahead; /* PSN, from the request's */
	struct counted count;
	uint8_t record; /* kind of the first one; detail 0: there is none */
	uint32_t psn, detail;
};

#define FATAL                                                                                      \
	{                                                                                          \
		.rx_nak_fatal = 1, .requests_failed = 1                                            \
	}

static const struct answer answers[] = {
	{NDSH_OP_WRITE, ROCE_ACK, ROCE_SYN_ACK, 0, {0}, 0, 0, 0},
	{NDSH_OP_WRITE, ROCE_ACK, ROCE_SYN_ACK, 1, {.requests_completed = 1}, 0, 0, 0},
	{NDSH_OP_WRITE, ROCE_ACK, ROCE_SYN_ACK, 2, {.rx_ghost_response = 1}, 0, 0, 0},
	{NDSH_OP_WRITE, ROCE_ACK, ROCE_SYN_NAK_SEQ, 1, {.rx_nak_sequence = 1},
		ROCE_REC_NAK_RECEIVED, 1, ROCE_SYN_NAK_SEQ},
	{NDSH_OP_WRITE, ROCE_ACK, ROCE_SYN_RNR | 9, 1, {.rx_rnr = 1}, ROCE_REC_RNR_RECEIVED, 1,
		ROCE_SYN_RNR | 9},
	{NDSH_OP_WRITE, ROCE_ACK, ROCE_SYN_NAK_INV_REQ, 0, FATAL, ROCE_REC_NAK_RECEIVED, 0,
		ROCE_SYN_NAK_INV_REQ},
	{NDSH_OP_WRITE, ROCE_ACK, ROCE_SYN_NAK_REM_ACCESS, 1, FATAL, ROCE_REC_NAK_RECEIVED, 1,
		ROCE_SYN_NAK_REM_ACCESS},
	{NDSH_OP_WRITE, ROCE_ACK, ROCE_SYN_NAK_REM_OP, 0, FATAL, ROCE_REC_NAK_RECEIVED, 0,
		ROCE_SYN_NAK_REM_OP},
	{NDSH_OP_READ, ROCE_READ_RESP_ONLY, ROCE_SYN_ACK, 0, {.requests_completed = 1}, 0, 0, 0},
	{NDSH_OP_READ, ROCE_ACK, ROCE_SYN_ACK, 0, {.implied_nak = 1}, ROCE_REC_IMPLIED_NAK, 0, 1},
};

static void
expect_counted(const struct pair *p, const struct counted *want, unsigned which)
{
	const struct roce_counters *c = pair_count(p, 0);
	const struct counted got = {c->requests_completed, c->requests_failed, c->rx_nak_sequence,
		c->rx_nak_fatal, c->rx_rnr, c->implied_nak, c->timeouts, c->rx_ghost_response};

	cr_assert_eq(memcmp(&got, want, sizeof(got)), 0,
		"case %u: completed %lu, failed %lu, NAKs %lu, fatal %lu, RNR %lu, implied %lu, "
		"timeouts %lu, ghosts %lu",
		which, got.requests_completed, got.requests_failed, got.rx_nak_sequence,
		got.rx_nak_fatal, got.rx_rnr, got.implied_nak, got.timeouts, got.rx_ghost_response);
}

static void
expect_recorded(struct pair *p, uint8_t kind, uint32_t psn, uint32_t detail)
{
	struct roce_qp_record r[ROCE_RECORDS];

	cr_assert_geq(roce_qp_records(p->side[0].q[0].qp, r), 1);
	cr_assert_eq(r[0].kind_psn, (uint32_t)kind << 24 | psn, "%x", r[0].kind_psn);
	cr_assert_eq(r[0].detail, detail, "%u", r[0].detail);
}

/* checks W-COMP-04[1] */
Test(told, everything_once)
{
	for (unsigned i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		const struct answer *a = &answers[i];
		struct pair *p = watched_pair(&(struct pair_opts){0}, true);
		struct ndsh_cqe c;

		if (a->op == NDSH_OP_WRITE)
			pair_write(p, 0, 0, 1, 0, 0, p->opts.mtu + 8, 0);
		else
			pair_read(p, 0, 0, 1, 0, 0, 0, 0);
		pair_turn(p, 0);
		watched_answer(p, a->opcode, WATCHED_PSN + a->ahead, a->syndrome);
		expect_counted(p, &a->count, i);
		if (a->detail != 0)
			expect_recorded(p, a->record, WATCHED_PSN + a->psn,
				a->record == ROCE_REC_IMPLIED_NAK ? 0 : a->detail);
		else
			cr_assert_eq(p->side[0].q[0].qp->record_count, 0, "case %u", i);
		if (a->count.requests_completed + a->count.requests_failed > 0) {
			cr_assert(pair_poll(p, 0, &c));
			cr_assert_eq(c.syndrome, a->detail, "case %u: %x", i, c.syndrome);
		}
		pair_free(p);
	}
}

/* With the retries that are left. */
Test(told, a_timeout)
{
	struct pair *p = watched_pair(&(struct pair_opts){.retry = 3, .timeout_code = 8}, true);

	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_turn(p, 0);
	while (pair_count(p, 0)->timeouts == 0)
		(void)pair_run(p, 100000);
	expect_recorded(p, ROCE_REC_TIMEOUT, WATCHED_PSN, p->side[0].q[0].qp->retry_left);
	cr_assert_eq(pair_count(p, 0)->timeouts, 1);
	pair_free(p);
}

/* A sink that goes while its READ is under way fails the request when an answer comes; the reason
 * is this side's. */
Test(told, a_sink_that_goes)
{
	struct pair *p = watched_pair(&(struct pair_opts){0}, false);

	pair_read(p, 0, 0, 1, 0, 0, 8, 0);
	pair_turn(p, 0);
	cr_assert(roce_mr_deregister(p->side[0].shard, p->side[0].mr));
	p->side[0].mr = NULL;
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert_eq(pair_expect(p, 0, 1, NDSH_WC_LOC_PROT_ERR).syndrome, ROCE_REASON_LOCAL_PROT);
	pair_expect_dead(p, 0, 0, ROCE_REASON_LOCAL_PROT);
	cr_assert_eq(p->side[0].last_event.syndrome, 0);
	pair_free(p);
}

/* ---- SQD ---- */

static void
change(struct pair *p, enum roce_qp_state state)
{
	cr_assert_eq(
		roce_qp_modify(p->side[0].shard, p->side[0].q[0].qp, p->now_ns, state, 0, NULL),
		ROCE_MODIFY_OK);
	pair_turn(p, 0);
}

/* Of two requests the second can't be sent, as its key is none: when its turn comes, the queue pair
 * is in error, and has not drained. checks W-QP-03[2], W-REQ-07[2] */
Test(told, W_QP_03_an_error_is_not_the_end_of_draining)
{
	struct pair *p = watched_pair(&(struct pair_opts){0}, true);
	struct ndsh_sge none = {.addr = PAIR_VA, .len = 8, .key = ~p->side[0].key};

	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_post_sge(p, 0, 0, 2, NDSH_OP_WRITE, 0, &none);
	pair_turn(p, 0);
	cr_assert_eq(watched.n, 1);
	change(p, ROCE_QPS_SQD);
	watched_answer(p, ROCE_ACK, WATCHED_PSN, ROCE_SYN_ACK);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 2, NDSH_WC_LOC_PROT_ERR);
	pair_expect_dead(p, 0, 0, ROCE_REASON_LOCAL_PROT);
	cr_assert_not(p->side[0].events & 1u << ROCE_EV_SQ_DRAINED);
	pair_free(p);
}

/* What had to wait when SQD came, for an earlier READ, does not begin when that is answered; nor is
 * anything taken from the ring that is posted then. RTS resumes. checks W-REQ-12[1,3] */
Test(told, W_REQ_12_what_was_waiting_waits_on)
{
	for (unsigned fenced = 0; fenced < 2; fenced++) {
		struct pair *p = watched_pair(&(struct pair_opts){.max_rd = 1}, true);
		struct roce_usage u;

		pair_read(p, 0, 0, 1, 0, 0, 0, 0);
		if (fenced)
			pair_write(p, 0, 0, 2, 0, 0, 8, NDSH_WRF_FENCE);
		else
			pair_read(p, 0, 0, 2, 0, 0, 0, 0);
		pair_turn(p, 0);
		cr_assert_eq(watched.n, 1);
		change(p, ROCE_QPS_SQD);
		watched_answer(p, ROCE_READ_RESP_ONLY, WATCHED_PSN, ROCE_SYN_ACK);
		pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
		pair_turn(p, 0);
		cr_assert_eq(watched.n, 1, "begun in SQD");
		change(p, ROCE_QPS_RTS);
		cr_assert_eq(watched.n, 2);
		watched_answer(
			p, fenced ? ROCE_ACK : ROCE_READ_RESP_ONLY, WATCHED_PSN + 1, ROCE_SYN_ACK);
		pair_expect(p, 0, 2, NDSH_WC_SUCCESS);

		change(p, ROCE_QPS_SQD);
		pair_write(p, 0, 0, 3, 0, 0, 8, 0);
		pair_turn(p, 0);
		pair_turn(p, 0);
		roce_shard_usage(p->side[0].shard, &u);
		cr_assert_eq(u.wqes, 0, "taken from the ring in SQD");
		cr_assert_eq(watched.n, 2);
		change(p, ROCE_QPS_RTS);
		cr_assert_eq(watched.n, 3);
		pair_free(p);
	}
}

/* Its peer reads in SQD, so it has its turn then, with nothing of its own to send; what is posted
 * in RTS leaves. checks W-REQ-12[3] */
Test(told, W_REQ_12_a_turn_in_sqd_leaves_nothing_behind)
{
	struct pair *p = pair_new(&(struct pair_opts){0});

	change(p, ROCE_QPS_SQD);
	pair_read(p, 1, 0, 1, 0, 0, 8, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	change(p, ROCE_QPS_RTS);
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	pair_free(p);
}
