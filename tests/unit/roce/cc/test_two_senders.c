/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two senders and one narrow way: a queue of 1 Gb/s in front of side 1, that marks what finds it
 * longer than a threshold, and drops what finds it full. With and without control.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/engine_pair.h"

#define MS	    UINT64_C(1000000)
#define SENDERS	    2u
#define DEPTH	    4u
#define MESSAGE	    (64u << 10)
#define BYTES_IN_MS 125000u
#define MARK_BYTES  10000u
#define FULL_BYTES  100000u
#define OVERHEAD    24u /* of Ethernet: preamble, FCS, gap */
#define RUN_MS	    100u
#define SETTLE_MS   20u

struct queue {
	uint64_t free_ns;    /* when all that it holds has left */
	uint64_t settled_ns; /* what was before is not looked at */
	uint64_t carried[SENDERS], longest, sum, frames, drops, marks;
};

static unsigned
narrow(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	uint64_t backlog_ns, bytes, length = pkt->payload_bytes + 78 + OVERHEAD;
	struct queue *q = ctx;

	if (from == 1)
		return 1;
	if (q->free_ns < p->now_ns)
		q->free_ns = p->now_ns;
	backlog_ns = q->free_ns - p->now_ns;
	bytes = backlog_ns * BYTES_IN_MS / MS;
	if (bytes + length > FULL_BYTES) {
		q->drops += p->now_ns >= q->settled_ns;
		return 0;
	}
	p->mark = bytes > MARK_BYTES && (pkt->tos & ROCE_TOS_ECN) == ROCE_TOS_ECT0;
	q->free_ns += length * MS / BYTES_IN_MS;
	*late_ns = q->free_ns - p->now_ns;
	if (p->now_ns < q->settled_ns)
		return 1;
	for (unsigned i = 0; i < SENDERS; i++)
		if (pkt->qpn == roce_qp_num(p->side[1].q[i].qp))
			q->carried[i] += length;
	q->longest = bytes > q->longest ? bytes : q->longest;
	q->sum += bytes;
	q->frames++;
	q->marks += p->mark;
	return 1;
}

/* Whatever is done is done again. */
static void
keep_busy(struct pair *p)
{
	struct ndsh_cqe c;

	while (pair_poll(p, 0, &c)) {
		cr_assert_eq(c.status, NDSH_WC_SUCCESS);
		pair_write(p, 0, c.qp, c.context, 0, 0, MESSAGE, 0);
	}
}

static struct queue
run(bool ecn)
{
	const struct pair_opts o = {.qps = SENDERS, .mtu = 1024, .window = 128, .ecn = ecn};
	struct pair *p = pair_new(&o);
	struct queue q = {.settled_ns = p->now_ns + SETTLE_MS * MS};
	uint64_t end = p->now_ns + RUN_MS * MS;

	p->tap = narrow;
	p->tap_ctx = &q;
	for (unsigned i = 0; i < SENDERS * DEPTH; i++)
		pair_write(p, 0, i % SENDERS, i, 0, 0, MESSAGE, 0);
	while (p->now_ns < end) {
		(void)pair_run(p, MS / 10);
		keep_busy(p);
	}
	pair_free(p);
	return q;
}

static double
used(const struct queue *q)
{
	return (double)(q->carried[0] + q->carried[1]) / (BYTES_IN_MS * (RUN_MS - SETTLE_MS));
}

/*
 * checks W-CC-01: with control the way is used nearly as well, and shared; the queue stays short
 * and drops nothing. Without, all that share that queue wait behind all that fits into it.
 */
Test(cc_two_senders, w_cc_01_two_senders_share_a_narrow_way)
{
	struct queue without = run(false), with = run(true);

	cr_expect_geq(used(&without), 0.98, "%.3f", used(&without));
	cr_expect_geq(without.longest, FULL_BYTES * 9 / 10);
	cr_expect_geq(without.drops, 1000);

	cr_expect_geq(used(&with), 0.85, "%.3f", used(&with));
	cr_expect_leq(with.longest, 4 * MARK_BYTES, "%lu", with.longest);
	cr_expect_leq(with.sum / with.frames, MARK_BYTES);
	cr_expect_eq(with.drops, 0);
	for (unsigned i = 0; i < SENDERS; i++)
		cr_expect_geq(with.carried[i], (with.carried[0] + with.carried[1]) / 4,
			"sender %u: %lu of %lu", i, with.carried[i],
			with.carried[0] + with.carried[1]);
}
