/* SPDX-License-Identifier: BSD-3-Clause */
/* How long the requester waits for a response, and how often it tries. */
#include <criterion/criterion.h>

#include "rigs/faults.h"
#include "rigs/overheard.h"

#define FLOOR UINT64_C(1000000) /* rto_floor_ns of engine_pair */

/* ---- timeouts ---- */

/* The budget that verbs know: (retry + 1) timeouts, however often we tried in between. */
static void
no_answer(uint8_t retry, unsigned retries)
{
	struct pair *p = pair_new(&(struct pair_opts){.retry = retry, .timeout_code = 12});
	uint64_t t_ns = UINT64_C(4096) << 12, start = p->now_ns;
	unsigned mute = 1;

	p->tap = fault_tap_mute;
	p->tap_ctx = &mute;
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	pair_run(p, t_ns * (retries + 1) - 1000);
	pair_expect_none(p, 0);
	pair_run(p, 2 * t_ns);
	pair_expect(p, 0, 1, NDSH_WC_RETRY_EXC_ERR);
	pair_expect(p, 0, 2, NDSH_WC_FLUSH_ERR);
	pair_expect_dead(p, 0, 0, ROCE_REASON_RETRY_EXC);
	cr_assert_geq(roce_shard_counters(p->side[0].shard)->timeouts, retries + 1);
	cr_assert_lt(p->now_ns - start, 20 * t_ns);
	pair_free(p);
}

/* checks W-CM-51[2], W-TMR-03[2,3], W-TMR-04[1,4], W-TMR-07[1] */
Test(retry, W_TMR_03_W_TMR_04_W_TMR_07_retries)
{
	no_answer(255, 0);
	for (uint8_t retry = 1; retry <= 7; retry++)
		no_answer(retry, retry);
}

/* checks W-TMR-01[2] */
Test(retry, W_TMR_01_code_0_is_no_timeout)
{
	struct pair *p = pair_new(&(struct pair_opts){.timeout_code = 255});
	unsigned mute = 1;

	p->tap = fault_tap_mute;
	p->tap_ctx = &mute;
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert_eq(roce_shard_next_deadline(p->side[0].shard), UINT64_MAX);
	cr_assert_eq(p->sent[0], 1);
	pair_expect_none(p, 0);
	pair_free(p);
}

/* Early tries of our own timer, each answered by a NAK, do not eat the agreed budget. checks
 * W-TMR-07[1,9] */
Test(retry, W_TMR_07_early_tries_leave_the_budget_alone)
{
	struct pair *p = watched_pair(&(struct pair_opts){.retry = 2, .timeout_code = 18}, true);

	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_turn(p, 0);
	for (unsigned i = 0; i < 6; i++) {
		p->now_ns += 70000000;
		pair_turn(p, 0);
		watched_answer(p, ROCE_ACK, 100, ROCE_SYN_NAK_SEQ);
	}
	cr_assert_geq(watched.n, 10);
	cr_assert_eq(roce_qp_state_get(p->side[0].q[0].qp), ROCE_QPS_RTS);
	pair_free(p);
}

/* Not even an agreed timeout that is shorter makes the timer shorter than its floor.
 * checks W-TMR-07[2,3] */
Test(retry, W_TMR_07_the_floor_is_stronger_than_the_timeout)
{
	for (uint8_t code = 1; code < 8; code++) {
		struct pair *p =
			watched_pair(&(struct pair_opts){.retry = 7, .timeout_code = code}, true);

		pair_write(p, 0, 0, 1, 0, 0, 8, 0);
		pair_turn(p, 0);
		(void)pair_run(p, FLOOR - 1);
		cr_assert_eq(watched.n, 1);
		(void)pair_run(p, FLOOR / 4);
		cr_assert_eq(watched.n, 2);
		pair_free(p);
	}
}

/* More requests are no progress: the oldest is not forgotten for them. checks W-TMR-02[2] */
Test(retry, W_TMR_02_sending_does_not_restart_the_timer)
{
	struct ear e;
	struct pair *p = ear_pair(&e, (struct pair_opts){.timeout_code = 12});

	e.deaf = true;
	for (unsigned i = 0; i < 4; i++) {
		cr_assert_eq(pair_count(p, 0)->timeouts, 0);
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
		(void)pair_run(p, FLOOR * 3 / 10);
	}
	cr_assert_geq(pair_count(p, 0)->timeouts, 1);
	pair_free(p);
}

/* With every code: a peer that says nothing is given up after 4.096 us * 2^n at the earliest, and
 * after four times that at the latest, but for the floor of our own timer. checks W-TMR-01[1,3] */
Test(retry, W_TMR_01_every_code)
{
	for (uint8_t code = 1; code < 32; code++) {
		const uint64_t t_ns = UINT64_C(4096) << code;
		struct pair *p = pair_new(&(struct pair_opts){.timeout_code = code, .retry = 255});
		unsigned mute = 0;
		struct ndsh_cqe c;

		p->tap = fault_tap_mute;
		p->tap_ctx = &mute;
		pair_write(p, 0, 0, 1, 0, 0, 8, 0);
		(void)pair_run(p, t_ns - 1);
		cr_assert_not(pair_poll(p, 0, &c), "code %u: too early", code);
		(void)pair_run(p, 3 * t_ns + 2 * FLOOR);
		pair_expect(p, 0, 1, NDSH_WC_RETRY_EXC_ERR);
		pair_free(p);
	}
}

/* A timeout costs a retry when that time has passed since the last answer, and not a nanosecond
 * before. checks W-TMR-07[9] */
Test(retry, W_TMR_07_at_least_the_agreed_timeout)
{
	for (unsigned passed = 0; passed < 2; passed++) {
		struct pair *p =
			watched_pair(&(struct pair_opts){.retry = 255, .timeout_code = 12}, true);

		pair_write(p, 0, 0, 1, 0, 0, 8, 0);
		pair_turn(p, 0);
		p->now_ns += (UINT64_C(4096) << 12) - 1 + passed;
		pair_turn(p, 0);
		cr_assert_eq(pair_count(p, 0)->timeouts, 1);
		if (passed)
			pair_expect(p, 0, 1, NDSH_WC_RETRY_EXC_ERR);
		else
			pair_expect_alive(p, 0, 0);
		pair_free(p);
	}
}

/* When all is acknowledged the timer ends: the next request has its own time, all of it. checks
 * W-TMR-02[1] */
Test(retry, W_TMR_02_nothing_outstanding_no_timer)
{
	struct pair *p = watched_pair(&(struct pair_opts){0}, true);

	for (unsigned i = 0; i < 4; i++) {
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
		pair_turn(p, 0);
		(void)pair_run(p, FLOOR * 4 / 10);
		watched_answer(p, ROCE_ACK, WATCHED_PSN + i, ROCE_SYN_ACK);
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
		(void)pair_run(p, FLOOR * 4 / 10);
	}
	cr_assert_eq(watched.n, 4);
	cr_assert_eq(pair_count(p, 0)->timeouts, 0);
	pair_free(p);
}

/* What a NAK had sent again is waited for as anything that was sent, or not at all. checks
 * W-TMR-07[2], W-TMR-01[2] */
Test(retry, W_TMR_07_the_wait_behind_a_nak)
{
	for (unsigned none = 0; none < 2; none++) {
		struct pair *p =
			watched_pair(&(struct pair_opts){.timeout_code = none ? 255 : 12}, true);

		pair_write(p, 0, 0, 1, 0, 0, 8, 0);
		pair_turn(p, 0);
		(void)pair_run(p, FLOOR * 8 / 10);
		watched_answer(p, ROCE_ACK, WATCHED_PSN, ROCE_SYN_NAK_SEQ);
		cr_assert_eq(watched.n, 2);
		(void)pair_run(p, FLOOR * 8 / 10);
		cr_assert_eq(watched.n, 2);
		(void)pair_run(p, FLOOR / 2);
		cr_assert_eq(watched.n, none ? 2 : 3);
		cr_assert_eq(pair_count(p, 0)->timeouts, none ? 0 : 1);
		pair_free(p);
	}
}

/* ---- from where ---- */

#define MTU 256u

/* From the first packet that is not acknowledged, wherever in its message that is.
 * checks W-TMR-03[1], W-REQ-10[2] */
Test(retry, W_TMR_03_from_the_oldest_that_is_missing)
{
	for (uint32_t acked = 0; acked < 8; acked++) {
		struct pair *p = watched_pair(&(struct pair_opts){.mtu = MTU}, true);

		pair_write(p, 0, 0, 1, 0, 0, 2 * MTU, 0);
		pair_write(p, 0, 0, 2, 0, 0, 6 * MTU, 0);
		pair_turn(p, 0);
		cr_assert_eq(watched.n, 8);
		if (acked > 0)
			watched_answer(p, ROCE_ACK, WATCHED_PSN + acked - 1, ROCE_SYN_ACK);
		(void)pair_run(p, FLOOR + FLOOR / 4);
		cr_assert_eq(watched.n, 8 + 8 - acked);
		for (uint32_t i = acked; i < 8; i++) {
			cr_assert_eq(watched.pkt[8 + i - acked].psn, WATCHED_PSN + i);
			cr_assert_eq(watched.pkt[8 + i - acked].opcode, watched.pkt[i].opcode);
		}
		pair_free(p);
	}
}

/* ... or from the first response that is. checks W-TMR-03[1], W-REQ-11[1] */
Test(retry, W_TMR_03_from_the_first_response_that_is_missing)
{
	static const uint8_t payload[MTU];

	for (uint32_t came = 0; came < 6; came++) {
		struct pair *p = watched_pair(&(struct pair_opts){.mtu = MTU}, true);
		const struct roce_pkt *again;

		pair_read(p, 0, 0, 1, 0, 64, 6 * MTU, 0);
		pair_turn(p, 0);
		for (uint32_t i = 0; i < came; i++)
			pair_inject(p, 0, 0,
				&(struct roce_pkt){.opcode = i == 0 ? ROCE_READ_RESP_FIRST
								    : ROCE_READ_RESP_MIDDLE,
					.qpn = roce_qp_num(p->side[0].q[0].qp),
					.psn = WATCHED_PSN + i,
					.pkey = ROCE_PKEY_DEFAULT,
					.syndrome = ROCE_SYN_ACK,
					.payload_bytes = MTU},
				payload);
		pair_turn(p, 0);
		(void)pair_run(p, FLOOR + FLOOR / 4);
		cr_assert_eq(watched.n, 2);
		again = &watched.pkt[1];
		cr_assert_eq(again->opcode, ROCE_READ_REQUEST);
		cr_assert_eq(again->psn, WATCHED_PSN + came);
		cr_assert_eq(again->va, PAIR_VA + 64 + came * MTU);
		cr_assert_eq(again->dma_bytes, (6 - came) * MTU);
		cr_assert_eq(again->rkey, watched.pkt[0].rkey);
		pair_free(p);
	}
}

/* What was sent again had arrived: what an ACK says is not sent once more, and the rest goes on
 * from there. checks W-TMR-03[1], W-COMP-02[1] */
Test(retry, W_TMR_03_an_ack_overtakes_what_is_sent_again)
{
	struct ear e;
	struct pair *p = ear_pair(&e, (struct pair_opts){.mtu = MTU});
	uint64_t sent;

	p->tap = fault_tap_mute;
	p->tap_ctx = &(unsigned){0};
	pair_write(p, 0, 0, 1, 0, 0, 8 * MTU, 0);
	pair_turn(p, 0);
	sent = p->sent[0];
	cr_assert_eq(sent, 8);
	p->now_ns += FLOOR + FLOOR / 4;
	cr_assert_gt(roce_shard_timers(p->side[0].shard, p->now_ns, 64), 0);
	cr_assert_eq(ear_pump(p, 0, 1), 1, "the first of them leaves");
	ear_answer(p, EAR_PSN + 5, ROCE_SYN_ACK);
	cr_assert_eq(p->sent[0] - sent, 2, "two were missing");
	ear_answer(p, EAR_PSN + 7, ROCE_SYN_ACK);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* Whatever it is that was lost, there is a timer for it. checks W-TMR-02[1] */
Test(retry, W_TMR_02_every_kind_of_request)
{
	static const uint8_t ops[] = {NDSH_OP_SEND, NDSH_OP_SEND_IMM, NDSH_OP_SEND_INV,
		NDSH_OP_WRITE, NDSH_OP_WRITE_IMM, NDSH_OP_READ, NDSH_OP_CMP_SWAP,
		NDSH_OP_FETCH_ADD};

	for (size_t o = 0; o < sizeof(ops); o++) {
		struct pair *p = watched_pair(&(struct pair_opts){0}, true);
		struct ndsh_sge sge = pair_sge(p, 0, 0, 8);

		pair_post_sge(p, 0, 0, 1, ops[o], 0, &sge);
		pair_turn(p, 0);
		cr_assert_eq(watched.n, 1);
		(void)pair_run(p, FLOOR + FLOOR / 4);
		cr_assert_eq(watched.n, 2, "operation %u", ops[o]);
		pair_free(p);
	}
}

/* ---- what costs a retry, and what gives them back ---- */

/* A NAK, or what stands for one, costs as much as a timeout, and of the same budget.
 * checks W-TMR-05[1,3] */
Test(retry, W_TMR_05_naks_and_timeouts_have_one_budget)
{
	const uint64_t t_ns = UINT64_C(4096) << 12;

	for (unsigned implied = 0; implied < 2; implied++)
		for (uint8_t retry = 0; retry < 2; retry++) {
			struct pair *p = watched_pair(
				&(struct pair_opts){.retry = retry ? 1 : 255, .timeout_code = 12},
				true);

			pair_read(p, 0, 0, 1, 0, 0, 8, 0);
			pair_write(p, 0, 0, 2, 0, 0, 8, 0);
			pair_turn(p, 0);
			if (implied)
				watched_answer(p, ROCE_ACK, WATCHED_PSN + 1, ROCE_SYN_ACK);
			else
				watched_answer(p, ROCE_ACK, WATCHED_PSN, ROCE_SYN_NAK_SEQ);
			if (retry) {
				(void)pair_run(p, t_ns * 9 / 10);
				pair_expect_alive(p, 0, 0);
				cr_assert_gt(watched.n, 2);
				(void)pair_run(p, t_ns);
			}
			pair_expect(p, 0, 1, NDSH_WC_RETRY_EXC_ERR);
			pair_expect(p, 0, 2, NDSH_WC_FLUSH_ERR);
			pair_expect_dead(p, 0, 0, ROCE_REASON_RETRY_EXC);
			pair_free(p);
		}
}

/* A single retry, and a loss in each window: each NAK comes with progress. checks W-TMR-05[2] */
Test(retry, W_TMR_05_naks_with_progress)
{
	struct pair *p = watched_pair(&(struct pair_opts){.mtu = MTU, .retry = 1}, true);

	pair_write(p, 0, 0, 1, 0, 0, 40 * MTU, 0);
	pair_turn(p, 0);
	for (uint32_t i = 1; i < 40; i++) {
		unsigned sent = watched.n;

		watched_answer(p, ROCE_ACK, WATCHED_PSN + i, ROCE_SYN_NAK_SEQ);
		cr_assert_eq(watched.n, sent + 40 - i);
		cr_assert_eq(watched.pkt[sent].psn, WATCHED_PSN + i);
	}
	watched_answer(p, ROCE_ACK, WATCHED_PSN + 39, ROCE_SYN_ACK);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* The only retry goes for a NAK of the first packet; then the peer answers once more, and is
 * silent. The request lives for a tenth less than so many timeouts, and dies within one more. */
static void
expect_patience(uint32_t psn, uint8_t syndrome, unsigned timeouts)
{
	const uint64_t t_ns = UINT64_C(4096) << 12;
	struct pair *p =
		watched_pair(&(struct pair_opts){.mtu = MTU, .retry = 1, .timeout_code = 12}, true);

	pair_write(p, 0, 0, 1, 0, 0, 3 * MTU, 0);
	pair_turn(p, 0);
	watched_answer(p, ROCE_ACK, WATCHED_PSN, ROCE_SYN_NAK_SEQ);
	watched_answer(p, ROCE_ACK, psn, syndrome);
	(void)pair_run(p, t_ns * timeouts - t_ns / 10);
	pair_expect_alive(p, 0, 0);
	(void)pair_run(p, t_ns);
	pair_expect(p, 0, 1, NDSH_WC_RETRY_EXC_ERR);
	pair_free(p);
}

/* Progress makes the next NAK cost a retry at once again: the silence behind it may last for one
 * timeout, not for two. checks W-TMR-05[4], W-COMP-13[1] */
Test(retry, W_TMR_05_each_nak_with_progress_costs_one)
{
	expect_patience(WATCHED_PSN + 1, ROCE_SYN_NAK_SEQ, 1);
}

/* The only retry went for a NAK, and progress gives it back: the silence behind it lasts for two
 * timeouts. checks W-COMP-13[1], W-TMR-05[2] */
Test(retry, W_COMP_13_progress_gives_back_what_a_nak_cost)
{
	expect_patience(WATCHED_PSN, ROCE_SYN_ACK, 2);
}

/* It answers everything with the same NAK, for ever. checks W-TMR-05[3-5], W-COMP-13[7] */
Test(retry, W_TMR_05_a_storm_without_progress_ends)
{
	const uint64_t t_ns = UINT64_C(4096) << 12;

	for (uint8_t retry = 0; retry <= 7; retry++) {
		struct pair *p = watched_pair(
			&(struct pair_opts){.retry = retry ? retry : 255, .timeout_code = 12},
			true);
		uint64_t start = p->now_ns;

		pair_write(p, 0, 0, 1, 0, 0, 8, 0);
		pair_turn(p, 0);
		while (roce_qp_state_get(p->side[0].q[0].qp) == ROCE_QPS_RTS &&
			p->now_ns < start + 20 * t_ns) {
			watched_answer(p, ROCE_ACK, WATCHED_PSN, ROCE_SYN_NAK_SEQ);
			(void)pair_run(p, 100000);
		}
		pair_expect(p, 0, 1, NDSH_WC_RETRY_EXC_ERR);
		cr_assert_geq(p->now_ns - start, retry * t_ns);
		cr_assert_leq(p->now_ns - start, (retry + 1) * 2 * t_ns);
		pair_free(p);
	}
}

/* There are no retries at all. As long as each answer comes before the timeout has passed since
 * the one before it, packets are sent again for nothing, and that is all. checks W-COMP-13[3],
 * W-TMR-07[9] */
Test(retry, W_COMP_13_progress_renews_the_time)
{
	const uint64_t t_ns = UINT64_C(4096) << 14;
	struct pair *p = watched_pair(&(struct pair_opts){.retry = 255, .timeout_code = 14}, true);

	for (unsigned i = 0; i < 20; i++)
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
	pair_turn(p, 0);
	for (unsigned i = 0; i < 18; i++) {
		(void)pair_run(p, t_ns * 9 / 10);
		pair_expect_alive(p, 0, 0);
		watched_answer(p, ROCE_ACK, WATCHED_PSN + i, ROCE_SYN_ACK);
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
	}
	cr_assert_geq(pair_count(p, 0)->timeouts, 6);
	(void)pair_run(p, 2 * t_ns);
	pair_expect(p, 0, 18, NDSH_WC_RETRY_EXC_ERR);
	pair_expect(p, 0, 19, NDSH_WC_FLUSH_ERR);
	pair_free(p);
}

/* The same when no timer runs out for longer than the timeout: the first one that does costs
 * nothing. checks W-COMP-13[3], W-TMR-07[9] */
Test(retry, W_COMP_13_slow_progress_renews_the_time)
{
	struct pair *p = watched_pair(
		&(struct pair_opts){.retry = 255, .timeout_code = 14, .window = 128}, true);

	for (unsigned i = 0; i < 120; i++)
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
	pair_turn(p, 0);
	for (unsigned i = 0; i < 110; i++) {
		(void)pair_run(p, FLOOR * 8 / 10);
		watched_answer(p, ROCE_ACK, WATCHED_PSN + i, ROCE_SYN_ACK);
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
	}
	cr_assert_eq(pair_count(p, 0)->timeouts, 0);
	(void)pair_run(p, 6 * FLOOR);
	cr_assert_geq(pair_count(p, 0)->timeouts, 1);
	pair_expect_alive(p, 0, 0);
	pair_free(p);
}
