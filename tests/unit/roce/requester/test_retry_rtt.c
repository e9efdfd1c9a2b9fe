/* SPDX-License-Identifier: BSD-3-Clause */
/* When the requester sends again: the timer follows the round trips of the path. */
#include <criterion/criterion.h>

#include "rigs/overheard.h"

#define FLOOR UINT64_C(1000000) /* rto_floor_ns of engine_pair */
#define MS    UINT64_C(1000000)

/* ---- each try ---- */

#define TIMES 64u

/* When side 0 said something since the last watch(); lost: it does not arrive. */
static struct {
	uint64_t at_ns[TIMES];
	unsigned n;
	bool lost;
} left;

static unsigned
note_times(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	(void)pkt;
	(void)late_ns;
	(void)ctx;
	if (from == 0 && left.n < TIMES)
		left.at_ns[left.n++] = p->now_ns;
	return from == 1 || !left.lost;
}

static void
gap_is(unsigned i, uint64_t ns)
{
	uint64_t gap = left.at_ns[i] - left.at_ns[i - 1];

	cr_assert(gap >= ns && gap <= ns + 200000, "try %u after %lu us instead of %lu", i,
		gap / 1000, ns / 1000);
}

static void
write_one(struct pair *p)
{
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
}

/* A WRITE whose first copies are lost, as many as fit in for_ns; then one arrives. */
static void
write_one_lost(struct pair *p, uint64_t for_ns)
{
	left.n = 0;
	left.lost = true;
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	(void)pair_run(p, for_ns);
	left.lost = false;
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
}

static struct pair *
timed_pair(uint64_t way_ns)
{
	struct pair *p = pair_new(&(struct pair_opts){.timeout_code = 18, .delay_ns = way_ns});

	left.n = 0;
	left.lost = false;
	p->tap = note_times;
	return p;
}

/* From the floor on twice as long each time, up to the timeout that was agreed; and the budget is
 * that of verbs. checks W-TMR-07[1-3], W-TMR-01[1], W-TMR-03[2] */
Test(retry_rtt, W_TMR_07_from_the_floor_to_the_timeout)
{
	const uint64_t t_ns = UINT64_C(4096) << 14; /* 67 ms */
	struct pair *p = pair_new(&(struct pair_opts){.timeout_code = 14, .retry = 2});
	struct ndsh_cqe c;

	left.n = 0;
	left.lost = true;
	p->tap = note_times;
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	for (unsigned i = 1; i < left.n; i++)
		gap_is(i, i <= 7 ? FLOOR << (i - 1) : t_ns);
	cr_assert_geq(left.n, 9);
	cr_assert(pair_poll(p, 0, &c) && c.status == NDSH_WC_RETRY_EXC_ERR);
	cr_assert_geq(left.at_ns[left.n - 1] - left.at_ns[0], 2 * t_ns, "retry_cnt * T at least");
	pair_free(p);
}

/* ... also when that takes hours. checks W-TMR-07[3] */
Test(retry_rtt, W_TMR_07_doubled_up_to_the_longest_timeout)
{
	const uint64_t t_ns = UINT64_C(4096) << 31;
	struct pair *p = pair_new(&(struct pair_opts){.timeout_code = 31, .retry = 255});

	left.n = 0;
	left.lost = true;
	p->tap = note_times;
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	cr_assert(pair_run(p, 4 * t_ns));
	pair_expect(p, 0, 1, NDSH_WC_RETRY_EXC_ERR);
	for (unsigned i = 1; i < left.n; i++)
		gap_is(i, FLOOR << (i - 1));
	cr_assert_gt((left.at_ns[left.n - 1] - left.at_ns[left.n - 2]) * 4, t_ns);
	pair_free(p);
}

/* No round trip is ever measured, as the first copy of each request gets lost. The wait stays what
 * was agreed, for ever. checks W-TMR-07[3,7] */
Test(retry_rtt, W_TMR_07_no_longer_than_the_timeout)
{
	const uint64_t t_ns = UINT64_C(4096) << 12; /* 17 ms */
	struct pair *p = pair_new(&(struct pair_opts){.timeout_code = 12});

	p->tap = note_times;
	for (unsigned i = 0; i < 300; i++) {
		write_one_lost(p, FLOOR / 2);
		cr_assert_eq(left.n, 2);
		gap_is(1, i < 5 ? FLOOR << i : t_ns);
	}
	pair_free(p);
}

/* Four round trips where that is more than the floor. A packet that was sent twice tells nothing of
 * the round trip: its ACK ends the doubling once, that of the next such one does not. One that is
 * sent once does. checks W-TMR-07[2,4,7] */
Test(retry_rtt, W_TMR_07_four_round_trips)
{
	const uint64_t way_ns = 400000, wait_ns = 8 * way_ns;
	struct pair *p = timed_pair(way_ns);

	for (unsigned i = 0; i < 3; i++)
		write_one(p);
	cr_assert_eq(pair_count(p, 0)->retransmitted_packets, 0);
	for (unsigned round = 0; round < 3; round++) {
		write_one_lost(p, 5 * wait_ns);
		cr_assert_eq(left.n, 4);
		gap_is(1, wait_ns);
		gap_is(2, 2 * wait_ns);
		gap_is(3, 4 * wait_ns);
		write_one_lost(p, wait_ns); /* that ACK ended the doubling, this one does not */
		cr_assert_eq(left.n, 2);
		gap_is(1, wait_ns);
		write_one_lost(p, wait_ns);
		cr_assert_eq(left.n, 2);
		gap_is(1, 2 * wait_ns);
		write_one(p);
	}
	pair_free(p);
}

/* One that took much longer than those before it: the next waits as if all did; and one that is as
 * quick as they were ends that. checks W-TMR-07[8] */
Test(retry_rtt, W_TMR_07_one_round_trip_is_long)
{
	const uint64_t way_ns = 400000, wait_ns = 8 * way_ns;
	struct pair *p = timed_pair(way_ns);
	uint64_t gap;

	for (unsigned i = 0; i < 10; i++)
		write_one(p);
	p->opts.delay_ns = 3 * way_ns;
	write_one(p);
	p->opts.delay_ns = way_ns;
	cr_assert_eq(pair_count(p, 0)->retransmitted_packets, 0);
	write_one_lost(p, wait_ns);
	gap = left.at_ns[1] - left.at_ns[0];
	cr_assert_geq(gap, 3 * wait_ns, "after %lu us", gap / 1000);
	cr_assert_leq(gap, 6 * wait_ns + 200000, "after %lu us", gap / 1000);
	write_one(p);
	write_one_lost(p, wait_ns);
	gap = left.at_ns[1] - left.at_ns[0];
	cr_assert_leq(gap, 3 * wait_ns / 2, "after %lu us", gap / 1000);
	pair_free(p);
}

/* Progress after timeouts that is a long round trip, too, leaves what that one leaves.
 * checks W-TMR-07[7,8] */
Test(retry_rtt, W_TMR_07_a_long_round_trip_after_a_timeout)
{
	struct pair *p = watched_pair(&(struct pair_opts){.timeout_code = 18}, true);

	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_turn(p, 0);
	p->now_ns += 800000;
	watched_answer(p, ROCE_ACK, WATCHED_PSN, ROCE_SYN_ACK);
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	(void)pair_run(p, 4 * 800000 + 100000);
	cr_assert_eq(watched.n, 3, "sent twice");
	pair_write(p, 0, 0, 3, 0, 0, 8, 0);
	pair_turn(p, 0);
	p->now_ns += 6 * MS; /* for one that was sent once */
	watched_answer(p, ROCE_ACK, WATCHED_PSN + 2, ROCE_SYN_ACK);
	cr_assert_eq(watched.n, 4);
	pair_write(p, 0, 0, 4, 0, 0, 8, 0);
	(void)pair_run(p, 4 * 6 * MS);
	cr_assert_eq(watched.n, 5);
	pair_free(p);
}

/* Progress ends the doubling also of a queue pair that has more to send than its window takes.
 * checks W-TMR-07[7] */
Test(retry_rtt, W_TMR_07_progress_of_a_full_window)
{
	struct pair *p = watched_pair(
		&(struct pair_opts){.mtu = 256, .window = 16, .timeout_code = 18}, true);
	unsigned sent;

	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_turn(p, 0);
	watched_answer(p, ROCE_ACK, WATCHED_PSN, ROCE_SYN_ACK);
	pair_write(p, 0, 0, 2, 0, 0, 40 * 256, 0);
	(void)pair_run(p, 4 * FLOOR);
	cr_assert_eq(watched.n, 1 + 3 * 16);
	watched_answer(p, ROCE_ACK, WATCHED_PSN + 1, ROCE_SYN_ACK);
	sent = watched.n;
	(void)pair_run(p, FLOOR + FLOOR / 4);
	cr_assert_eq(watched.n, sent + 16);
	pair_free(p);
}

/* One of more nanoseconds than 32 bits hold is no short one. */
Test(retry_rtt, a_round_trip_of_seconds)
{
	struct pair *p = watched_pair(&(struct pair_opts){.timeout_code = 22}, true);

	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_turn(p, 0);
	p->now_ns += (UINT64_C(1) << 32) + 1000; /* the lcore has been away */
	watched_answer(p, ROCE_ACK, WATCHED_PSN, ROCE_SYN_ACK);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	(void)pair_run(p, 4000 * MS);
	cr_assert_eq(watched.n, 2);
	pair_free(p);
}

/* Only the packet that asks for an ACK begins a round trip: what left before it waits for it.
 * checks W-TMR-07[4] */
Test(retry_rtt, W_TMR_07_a_round_trip_begins_with_the_ackreq)
{
	struct ear e;
	struct pair *p = ear_pair(&e, (struct pair_opts){.timeout_code = 18});

	pair_write(p, 0, 0, 1, 0, 0, 2 * EAR_MTU, 0);
	cr_assert_eq(ear_pump(p, 0, 1), 1);
	p->now_ns += 20 * MS;
	cr_assert_eq(ear_pump(p, 0, 1), 1);
	cr_assert_eq(ear_pump(p, 1, 1), 1);
	pair_turn(p, 0);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	p->tap = note_times;
	write_one_lost(p, 2 * FLOOR);
	gap_is(1, FLOOR);
	pair_free(p);
}

/* ... and the answer to one before it ends none: here the path is as long as the second one says.
 * checks W-TMR-07[4,6] */
Test(retry_rtt, W_TMR_07_a_round_trip_ends_with_its_own_answer)
{
	struct pair *p = watched_pair(&(struct pair_opts){.mtu = 256, .timeout_code = 18}, true);

	pair_write(p, 0, 0, 1, 0, 0, 2 * 256, 0);
	pair_turn(p, 0);
	watched_answer(p, ROCE_ACK, WATCHED_PSN, ROCE_SYN_ACK);
	p->now_ns += FLOOR * 8 / 10;
	watched_answer(p, ROCE_ACK, WATCHED_PSN + 1, ROCE_SYN_ACK);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	left.n = 0;
	left.lost = true;
	p->tap = note_times;
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	(void)pair_run(p, 4 * FLOOR);
	cr_assert_eq(left.n, 2);
	gap_is(1, 4 * FLOOR * 8 / 10);
	pair_free(p);
}

/* A refusal is an answer, too: the path is known before the first request is accepted. checks
 * W-TMR-07[6] */
Test(retry_rtt, W_TMR_07_an_rnr_nak_ends_a_round_trip)
{
	const uint64_t way_ns = 400000, wait_ns = 8 * way_ns;
	struct ear e;
	struct pair *p = ear_pair(&e, (struct pair_opts){.delay_ns = way_ns, .min_rnr_code = 12});

	pair_send(p, 0, 0, 1, 0, 8, 0);
	(void)pair_run(p, 2 * way_ns + 1000); /* refused; the wait takes 0.64 ms */
	cr_assert_eq(pair_count(p, 0)->rx_rnr, 1);
	left.n = 0;
	left.lost = true;
	p->tap = note_times;
	(void)pair_run(p, 2 * wait_ns);
	gap_is(1, wait_ns);
	left.lost = false;
	pair_recv(p, 1, 0, 2, 0, 64);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* ---- longer paths ---- */

static const uint64_t path_ms[] = {1, 2, 3, 5, 10, 20, 50, 100, 150, 200};
#define PATHS (sizeof(path_ms) / sizeof(path_ms[0]))

/* Packets that are sent more than once while n WRITEs are posted, each when the one before it is
 * complete. */
static uint64_t
write_some(struct pair *p, unsigned n)
{
	uint64_t before = pair_count(p, 0)->retransmitted_packets;

	while (n-- > 0)
		write_one(p);
	return pair_count(p, 0)->retransmitted_packets - before;
}

/* The floor is too short for the path. Each of the first requests is sent several times, and its
 * ACK may be for any of them; still the path becomes known, and nothing is sent twice from there
 * on. checks W-TMR-07[4,7] */
Test(retry_rtt, W_TMR_07_a_path_longer_than_the_floor)
{
	for (size_t i = 0; i < PATHS; i++) {
		struct pair *p = pair_new(
			&(struct pair_opts){.timeout_code = 18, .delay_ns = path_ms[i] * MS / 2});
		uint64_t first = write_some(p, 3), then = write_some(p, 27);

		cr_expect_leq(first, 9, "%lu ms: %lu", path_ms[i], first);
		cr_expect_eq(then, 0, "%lu ms: %lu", path_ms[i], then);
		pair_free(p);
	}
}

/* ... and the same when a short path becomes a long one. checks W-TMR-07[7,8] */
Test(retry_rtt, W_TMR_07_a_path_that_becomes_longer)
{
	for (size_t i = 0; i < PATHS; i++) {
		struct pair *p = pair_new(&(struct pair_opts){.timeout_code = 18});
		uint64_t first, then;

		cr_expect_eq(write_some(p, 20), 0);
		p->opts.delay_ns = path_ms[i] * MS / 2;
		first = write_some(p, 4);
		then = write_some(p, 26);
		cr_expect_leq(first, 16, "%lu ms: %lu", path_ms[i], first);
		cr_expect_eq(then, 0, "%lu ms: %lu", path_ms[i], then);
		pair_free(p);
	}
}

/* ... and with as many requests under way as there is room for. checks W-TMR-07[7] */
Test(retry_rtt, W_TMR_07_a_long_path_that_is_full)
{
	for (size_t i = 0; i < PATHS; i++) {
		struct pair *p = pair_new(
			&(struct pair_opts){.timeout_code = 18, .delay_ns = path_ms[i] * MS / 2});
		uint64_t first = 0;

		for (unsigned n = 0; n < 1280; n += 128) {
			for (unsigned k = 0; k < 128; k++)
				pair_write(p, 0, 0, n + k, 0, 0, 8, 0);
			cr_assert(pair_run(p, PAIR_LONG));
			for (unsigned k = 0; k < 128; k++)
				pair_expect(p, 0, n + k, NDSH_WC_SUCCESS);
			if (n == 128)
				first = pair_count(p, 0)->retransmitted_packets;
		}
		cr_expect_leq(first, 64 * 9);
		cr_expect_eq(pair_count(p, 0)->retransmitted_packets, first);
		pair_free(p);
	}
}

/* ---- losses on a short path ---- */

static unsigned
lose_one_of(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	uint64_t *dice = ctx;

	(void)p;
	(void)from;
	(void)pkt;
	(void)late_ns;
	dice[0] = dice[0] * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (dice[0] >> 33) % dice[1] != 0;
}

/* Microseconds that a message of so many packets takes, on average, if one frame of n is lost. */
static uint64_t
message_us(uint32_t packets, unsigned n)
{
	struct pair *p =
		pair_new(&(struct pair_opts){.mtu = 256, .timeout_code = 14, .delay_ns = 10000});
	uint64_t dice[2] = {n, n}, start = p->now_ns;

	p->tap = lose_one_of;
	p->tap_ctx = dice;
	for (unsigned i = 0; i < 2000; i++) {
		pair_write(p, 0, 0, 1, 0, 0, packets * 256, 0);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	}
	start = (p->now_ns - start) / 2000000;
	pair_free(p);
	return start;
}

/* What the doubling of one loss costs the next ones. checks W-TMR-07[7] */
Test(retry_rtt, W_TMR_07_losses_on_a_short_path)
{
	static const struct {
		uint32_t packets;
		unsigned lost; /* one of so many frames */
		uint64_t us;   /* 1000 of them wait for the timer's tick behind each message */
	} of[] = {{1, 100, 1100}, {1, 10, 2000}, {8, 100, 1120}, {8, 10, 2800}, {79, 100, 1150},
		{79, 10, 4800}};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		uint64_t us = message_us(of[i].packets, of[i].lost);

		cr_expect_leq(us, of[i].us, "%u packets, one of %u lost: %lu us", of[i].packets,
			of[i].lost, us);
	}
}
