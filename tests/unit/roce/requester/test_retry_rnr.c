/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A peer that has no receive, for long: it answers all the time, so packets that are lost meanwhile
 * must not end the queue pair. What it was granted for its refusals is all that counts.
 */
#include <criterion/criterion.h>

#include "rigs/faults.h"
#include "rigs/overheard.h"

#define FLOOR  UINT64_C(1000000) /* rto_floor_ns of engine_pair */
#define MS     UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)
#define RNR    (ROCE_SYN_RNR | 12) /* 0.64 ms */
#define WAIT   (700 * 1000u)	   /* ns: it is over, by a tick of the timer or more */

/* ---- minutes, and light loss ---- */

struct loss { /* of both directions */
	uint64_t dice;
	uint32_t threshold; /* of 2^32 frames so many are lost */
	uint64_t lost;
};

static unsigned
lose_some(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct loss *l = ctx;

	(void)p;
	(void)from;
	(void)pkt;
	(void)late_ns;
	if ((uint32_t)fault_dice(&l->dice) >= l->threshold)
		return 1;
	l->lost++;
	return 0;
}

/* Each loss costs the floor of the timer, however many there were before. */
static void
empty_for(const struct pair_opts *opts, uint32_t per_million, uint64_t seconds)
{
	struct loss loss = {.threshold = (uint32_t)((UINT64_C(1) << 32) * per_million / 1000000)};
	struct pair *p = pair_new(opts);
	uint64_t cycle_ns = 640000 + 2 * 2000 + 2 * 65536; /* and two ticks of the timer */

	p->tap = lose_some;
	p->tap_ctx = &loss;
	pair_send(p, 0, 0, 1, 0, 8, 0);
	cr_assert_not(pair_run(p, seconds * SECOND));
	pair_expect_alive(p, 0, 0);
	pair_expect_none(p, 0);
	cr_assert_geq(loss.lost, 10);
	cr_assert_leq(pair_count(p, 0)->timeouts, loss.lost + loss.lost / 10);
	cr_assert_geq(pair_count(p, 0)->rx_rnr * cycle_ns, seconds * SECOND - loss.lost * 2 * FLOOR,
		"%lu refusals, %lu lost", pair_count(p, 0)->rx_rnr, loss.lost);
	loss.threshold = 0;
	pair_recv(p, 1, 0, 2, 0, 64);
	(void)pair_run(p, 2 * MS);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* checks R-SR-06, W-COMP-13[4], W-TMR-04[2] */
Test(retry_rnr, R_SR_06_empty_for_minutes_with_light_loss)
{
	for (uint8_t code = 14; code <= 17; code += 3) {
		struct pair_opts opts = {.rnr_retry = 7,
			.min_rnr_code = 12,
			.timeout_code = code,
			.srq_depth = code == 14 ? 16 : 0};

		empty_for(&opts, 1000, 120); /* 0.1 percent */
		empty_for(&opts, 100, 300);  /* 0.01 percent */
	}
}

/* ---- one refusal ---- */

/* With a SEND under way that side 1 never sees: the test refuses it. */
static struct pair *
refused_pair(uint8_t retry, uint8_t rnr_retry)
{
	struct pair *p = watched_pair(
		&(struct pair_opts){.retry = retry, .rnr_retry = rnr_retry, .timeout_code = 12},
		true);

	pair_send(p, 0, 0, 1, 0, 8, 0);
	pair_turn(p, 0);
	return p;
}

/* Between two refusals one retry is charged, which is all there are. checks W-COMP-13[4],
 * W-TMR-03[2] */
Test(retry_rnr, W_COMP_13_a_refusal_renews_the_retries)
{
	const uint64_t t_ns = UINT64_C(4096) << 12;
	struct pair *p = refused_pair(1, 7);

	for (unsigned i = 0; i < 20; i++) {
		watched_answer(p, ROCE_ACK, WATCHED_PSN, RNR);
		(void)pair_run(p, WAIT + 3 * t_ns / 2);
		pair_expect_alive(p, 0, 0);
	}
	(void)pair_run(p, 2 * t_ns);
	pair_expect(p, 0, 1, NDSH_WC_RETRY_EXC_ERR);
	pair_expect_dead(p, 0, 0, ROCE_REASON_RETRY_EXC);
	pair_free(p);
}

/* There are no retries at all, and no silence between two refusals is as long as the timeout.
 * checks W-COMP-13[4], W-TMR-07[9] */
Test(retry_rnr, W_COMP_13_a_refusal_renews_the_time)
{
	const uint64_t t_ns = UINT64_C(4096) << 12;
	struct pair *p = refused_pair(255, 7);

	for (unsigned i = 0; i < 20; i++) {
		(void)pair_run(p, t_ns * 9 / 10);
		pair_expect_alive(p, 0, 0);
		watched_answer(p, ROCE_ACK, WATCHED_PSN, RNR);
		(void)pair_run(p, WAIT);
	}
	cr_assert_geq(pair_count(p, 0)->timeouts, 3);
	(void)pair_run(p, t_ns + 2 * FLOOR);
	pair_expect_dead(p, 0, 0, ROCE_REASON_RETRY_EXC);
	pair_free(p);
}

/* However often packets were lost among them: of n + 1 refusals the last one is fatal, and 7 means
 * that none is. checks W-TMR-04[2,3], W-COMP-04[1], W-COMP-13[5] */
Test(retry_rnr, W_TMR_04_refusals_are_counted_for_themselves)
{
	for (uint8_t n = 0; n <= 7; n++) {
		struct pair *p = refused_pair(7, n != 0 ? n : 255);
		unsigned most = n < 7 ? n : 50;

		for (unsigned i = 0; i < most; i++) {
			(void)pair_run(p, 3 * FLOOR);
			watched_answer(p, ROCE_ACK, WATCHED_PSN, RNR);
			(void)pair_run(p, WAIT);
			pair_expect_alive(p, 0, 0);
			pair_expect_none(p, 0);
		}
		watched_answer(p, ROCE_ACK, WATCHED_PSN, RNR);
		if (n < 7) {
			pair_expect(p, 0, 1, NDSH_WC_RNR_RETRY_EXC_ERR);
			pair_expect_dead(p, 0, 0, ROCE_REASON_RNR_RETRY_EXC);
		} else {
			pair_expect_alive(p, 0, 0);
		}
		cr_assert_eq(pair_count(p, 0)->rx_rnr, most + 1);
		pair_free(p);
	}
}

/* From the first refusal on, and not a nanosecond less. checks W-COMP-04[4], W-TMR-04[5] */
Test(retry_rnr, W_COMP_04_the_time_after_which_a_send_is_given_up)
{
	for (unsigned early = 0; early < 2; early++) {
		struct pair *p = watched_pair(
			&(struct pair_opts){.rnr_retry = 7, .rnr_give_up_ms = 50}, true);
		uint64_t first = p->now_ns;

		pair_send(p, 0, 0, 1, 0, 8, 0);
		pair_turn(p, 0);
		watched_answer(p, ROCE_ACK, WATCHED_PSN, RNR);
		(void)pair_run(p, 49 * MS);
		p->now_ns = first + 50 * MS - early;
		watched_answer(p, ROCE_ACK, WATCHED_PSN, RNR);
		if (early) {
			pair_expect_alive(p, 0, 0);
		} else {
			pair_expect(p, 0, 1, NDSH_WC_RNR_RETRY_EXC_ERR);
			pair_expect_dead(p, 0, 0, ROCE_REASON_RNR_RETRY_EXC);
		}
		pair_free(p);
	}
}

/* What timeouts doubled is the first wait again as soon as one try was answered at once. checks
 * W-TMR-07[5-7] */
Test(retry_rnr, W_TMR_07_answered_refusals_end_the_doubling)
{
	struct pair *p = refused_pair(7, 7);
	unsigned sent;

	watched_answer(p, ROCE_ACK, WATCHED_PSN, RNR);
	(void)pair_run(p, WAIT + 7 * FLOOR + FLOOR / 2); /* in vain after 1, 3 and 7 */
	watched_answer(p, ROCE_ACK, WATCHED_PSN, RNR);
	(void)pair_run(p, WAIT);
	sent = watched.n;
	(void)pair_run(p, 7 * FLOOR);
	cr_assert_eq(watched.n, sent, "it is not known which of the tries was refused");
	(void)pair_run(p, FLOOR + FLOOR / 2);
	cr_assert_eq(watched.n, sent + 1);
	for (unsigned i = 0; i < 2; i++) { /* the first one ends what that try doubled */
		watched_answer(p, ROCE_ACK, WATCHED_PSN, RNR);
		(void)pair_run(p, WAIT);
		sent = watched.n;
	}
	(void)pair_run(p, FLOOR + FLOOR / 4);
	cr_assert_eq(watched.n, sent + 1);
	pair_free(p);
}

/* An RNR NAK for the first packet of a message is no answer to the last one, which asked for it.
 * checks W-TMR-07[4,6] */
Test(retry_rnr, W_TMR_07_the_answer_to_another_packet)
{
	struct pair *p = watched_pair(&(struct pair_opts){.mtu = 256, .rnr_retry = 7}, true);

	pair_send(p, 0, 0, 1, 0, 3 * 256, 0);
	pair_turn(p, 0);
	p->now_ns += FLOOR * 9 / 10;
	watched_answer(p, ROCE_ACK, WATCHED_PSN, RNR);
	(void)pair_run(p, WAIT);
	cr_assert_eq(watched.n, 6);
	(void)pair_run(p, FLOOR + FLOOR / 4);
	cr_assert_eq(watched.n, 9, "the round trip is not known yet");
	pair_free(p);
}

/* What was sent again behind a refusal may get lost as anything else: that NAK is not one of the
 * loss before. checks W-TMR-05[3] */
Test(retry_rnr, W_TMR_05_a_nak_behind_a_refusal)
{
	struct pair *p = refused_pair(7, 7);

	watched_answer(p, ROCE_ACK, WATCHED_PSN, ROCE_SYN_NAK_SEQ);
	cr_assert_eq(watched.n, 2);
	watched_answer(p, ROCE_ACK, WATCHED_PSN, RNR);
	(void)pair_run(p, WAIT);
	cr_assert_eq(watched.n, 3);
	watched_answer(p, ROCE_ACK, WATCHED_PSN, ROCE_SYN_NAK_SEQ);
	cr_assert_eq(watched.n, 4);
	pair_free(p);
}
