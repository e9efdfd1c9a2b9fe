/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs at a rate that stands still: when exactly they send, and when they wait. */
#include <criterion/criterion.h>

#include "roce/cc/cc.h"
#include "roce/cc/pace.h"
#include "roce/qp/qp.h"
#include "roce/requester/local.h"
#include "roce/shard/shard.h"

#include "rigs/engine_pair.h"
#include "rigs/faults.h"
#include "rigs/windows.h"

#define MS	    UINT64_C(1000000)
#define MTU	    1024u
#define CATCH_UP_NS ROCE_PACE_CATCH_UP_NS
#define TICK_NS	    (UINT64_C(1) << ROCE_PACE_SHIFT)
#define BYTE_A_NS   1000000u /* a rate */
#define MESSAGE	    (1u << 20)
#define SENDERS	    8u
#define LOWEST	    1250u
#define HEADERS	    (14 + 20 + 8 + 12 + 4)
#define RETH	    16

/* What side 0 sends. */
struct tape {
	unsigned packets, requests, responses, acks, cnps, asks;
	bool asks_last;
	uint64_t response_ns, ack_ns;
	uint32_t mute_qpn; /* what is for it is lost */
};

static struct tape tape;

static unsigned
tap(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct tape *t = ctx;

	(void)late_ns;
	if (from == 1)
		return 1;
	t->packets++;
	if (pkt->opcode == ROCE_CNP) {
		t->cnps++;
	} else if (pkt->opcode == ROCE_ACK) {
		t->acks++;
		t->ack_ns = p->now_ns;
	} else if (pkt->opflags & ROCE_OPF_REQUEST) {
		t->requests++;
		t->asks += pkt->ackreq;
		t->asks_last = pkt->ackreq;
	} else {
		t->responses++;
		t->response_ns = p->now_ns;
	}
	return pkt->qpn != t->mute_qpn;
}

static struct pair *
watched(const struct pair_opts *o)
{
	struct pair_opts with = *o;
	struct pair *p;

	with.ecn = true;
	p = pair_new(&with);
	tape = (struct tape){0};
	p->tap = tap;
	p->tap_ctx = &tape;
	return p;
}

static struct roce_cc *
cc_of(struct pair *p, unsigned side, unsigned i)
{
	struct roce_shard *s = p->side[side].shard;

	return &s->ccs[p->side[side].q[i].qp - s->qps];
}

/* From now on queue pair i sends so many bytes in a ms; its next packet is due late_ns ago. */
static struct roce_cc *
set_rate(struct pair *p, unsigned side, unsigned i, uint32_t rate, uint64_t late_ns)
{
	struct roce_cc *cc = cc_of(p, side, i);

	p->side[side].q[i].qp->rx_bits |= ROCE_RXB_CC | ROCE_RXB_PACED;
	cc->rate = (struct roce_rate){.now = rate, .target = rate, .period_ns = UINT64_MAX};
	cc->next_ns = p->now_ns - late_ns;
	return cc;
}

/*
 * Queue pairs with responses and no roce_wqe for their requests wait for one thing at a time: for
 * their time to send. What others have in flight ends, and all that was asked for leaves.
 */
Test(pace_times, without_a_request_in_the_pool_they_wait_in_one_place, .timeout = 20)
{
	struct pair *p = watched(&(struct pair_opts){.qps = 4, .max_wqes = 16});

	tape.mute_qpn = roce_qp_num(p->side[1].q[3].qp);
	for (uint64_t n = 0; n < 16; n++)
		pair_write(p, 0, 3, n, 0, 0, 8, 0);
	pair_turn(p, 0);
	for (unsigned i = 0; i < 3; i++) {
		set_rate(p, 0, i, LOWEST, 0);
		pair_read(p, 1, i, 1, 0, 0, 16 * MTU, 0);
		pair_write(p, 0, i, 1, 0, 0, 8, 0);
	}
	(void)pair_run(p, 5 * MS);
	cr_assert_gt(pair_count(p, 0)->wqe_pool_empty, 3, "each asked for one, and sends");
	cr_assert_geq(tape.responses, 3 * 5);
	tape.mute_qpn = 0;
	cr_assert(pair_run(p, PAIR_LONG));
	cr_expect_eq(tape.responses, 3 * 16);
	pair_free(p);
}

/* ---- the first rate ------------------------------------------------------------------------- */

/* A queue pair of an empty way that is told of congestion twice at once. */
static struct roce_rate
told(struct pair *p, uint32_t srtt_ns)
{
	struct roce_shard *s = p->side[0].shard;
	struct roce_qp *qp = p->side[0].q[0].qp;
	uint64_t cuts = pair_count(p, 0)->rp_rate_cuts;

	roce_cc_forget(s, qp);
	qp->srtt_ns = srtt_ns;
	roce_cc_notified(s, qp);
	roce_cc_notified(s, qp);
	cr_assert_eq(pair_count(p, 0)->rp_rate_cuts, cuts + 1, "it is told of one congestion");
	return cc_of(p, 0, 0)->rate;
}

/* The first cut is of the highest rate that is possible: a full window in each round trip, and not
 * more than the highest rate of all. */
Test(pace_times, a_window_in_each_round_trip)
{
	static const uint32_t srtt_ns[] = {
		1, 100, 1000, 3835, 8000, 1317928, 1317929, 5 * MS, 500 * MS};
	struct pair *p = watched(&(struct pair_opts){.mtu = 4096, .window = 4022});

	cr_expect_eq(told(p, 0).target, ROCE_RATE_MAX, "no round trip was measured");
	for (unsigned i = 0; i < sizeof(srtt_ns) / sizeof(srtt_ns[0]); i++) {
		uint64_t most = 4022ull * 4096 * MS / srtt_ns[i];

		cr_expect_eq(told(p, srtt_ns[i]).target,
			most > ROCE_RATE_MAX ? ROCE_RATE_MAX : most, "%u ns", srtt_ns[i]);
	}
	pair_free(p);
}

/* Our window bounds no READ responses. */
Test(pace_times, a_peer_that_reads_from_us)
{
	struct pair *p = watched(&(struct pair_opts){0});

	cr_assert_eq(told(p, 5 * MS).target, 64 * MTU / 5);
	pair_read(p, 1, 0, 1, 0, 0, MESSAGE, 0);
	pair_turn(p, 1);
	p->now_ns += MS;
	pair_turn(p, 0);
	cr_assert_eq(p->side[0].q[0].qp->rd_pending, 1);
	cr_expect_eq(told(p, 5 * MS).target, ROCE_RATE_MAX);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_free(p);
}

/* ---- the time of a packet ------------------------------------------------------------------- */

/* Not a nanosecond before it is due; then at once, and not only when the wheel gets there. */
Test(pace_times, a_packet_leaves_when_it_is_due)
{
	for (unsigned early = 0; early < 3; early++) {
		struct pair *p = watched(&(struct pair_opts){0});

		set_rate(p, 0, 0, LOWEST, 0)->next_ns += early;
		pair_write(p, 0, 0, 1, 0, 0, 8, 0);
		pair_turn(p, 0);
		cr_assert_eq(tape.packets, early == 0, "%u ns too early", early);
		p->now_ns += TICK_NS;
		pair_turn(p, 0);
		cr_assert_eq(tape.packets, 1);
		pair_free(p);
	}
}

/* Short packets: what is due behind the first one leaves in the same turn, what is not waits. */
Test(pace_times, the_next_one_is_due_when_the_last_has_left)
{
	for (unsigned missing = 0; missing < 2; missing++) {
		struct pair *p = watched(&(struct pair_opts){0});
		struct roce_cc *cc = set_rate(p, 0, 0, BYTE_A_NS, 0);

		pair_write(p, 0, 0, 1, 0, 0, 8, 0);
		pair_turn(p, 0);
		cr_assert_eq(tape.packets, 1);
		cr_assert(pair_run(p, PAIR_LONG));
		set_rate(p, 0, 0, BYTE_A_NS, cc->next_ns - 1000000000 - missing);
		pair_write(p, 0, 0, 2, 0, 0, 8, 0);
		pair_write(p, 0, 0, 3, 0, 0, 8, 0);
		pair_turn(p, 0);
		cr_assert_eq(tape.packets, 3 - missing);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_free(p);
	}
}

/* How many packets of full size leave after a pause: one, and those that the rate carries in it.
 * The last of them asks for an acknowledgement, no other. */
static void
late(uint32_t rate, uint64_t late_ns)
{
	const struct pair_opts o = {.window = 256};
	struct pair *p = watched(&o);
	uint64_t made_up = late_ns < CATCH_UP_NS ? late_ns : CATCH_UP_NS;
	unsigned packets = 1 + (unsigned)(made_up * rate / MS / MTU);

	set_rate(p, 0, 0, rate, late_ns);
	pair_write(p, 0, 0, 1, 0, 0, MESSAGE, 0);
	pair_turn(p, 0);
	cr_assert_eq(tape.packets, packets, "%u packets, %lu ns late at a rate of %u, not %u",
		tape.packets, late_ns, rate, packets);
	cr_assert_eq(tape.asks, 1);
	cr_assert(tape.asks_last);
	pair_free(p);
}

Test(pace_times, a_pause_is_made_up_for_if_it_was_short)
{
	/* The last two: for 10 packets a pause of CATCH_UP_NS is one ns too short; 15 are due. */
	static const uint32_t rate[] = {LOWEST, 15625, 100000, 156248, 218750};
	static const uint64_t late_ns[] = {0, 1, CATCH_UP_NS / 2, CATCH_UP_NS - 1, CATCH_UP_NS,
		CATCH_UP_NS + 1, 2 * CATCH_UP_NS, 1000 * MS};

	for (unsigned i = 0; i < sizeof(rate) / sizeof(rate[0]); i++)
		for (unsigned k = 0; k < sizeof(late_ns) / sizeof(late_ns[0]); k++)
			late(rate[i], late_ns[k]);
}

/* One request may go before the responses of a turn, in every other turn. */
Test(pace_times, responses_go_before_requests_but_one)
{
	struct pair *p = watched(&(struct pair_opts){.window = 256});
	unsigned first;

	pair_read(p, 1, 0, 1, 0, 0, MESSAGE, 0);
	pair_turn(p, 1);
	p->now_ns += MS;
	pair_write(p, 0, 0, 1, 0, 0, MESSAGE, 0);
	set_rate(p, 0, 0, 156250, CATCH_UP_NS);
	pair_turn(p, 0);
	first = tape.requests;
	cr_assert_eq(tape.requests + tape.responses, 11);
	p->now_ns += MS;
	pair_turn(p, 0);
	cr_assert_eq(tape.requests + tape.responses, 22);
	cr_expect_leq(first, 1);
	cr_expect_eq(tape.requests, 1);
	pair_free(p);
}

/* A queue pair at a rate does no more of them in a turn than any other does. */
Test(pace_times, local_operations_have_their_budget)
{
	struct pair *p = window_pair();
	struct window v = window_new(p);
	struct ndsh_cqe c;

	set_rate(p, 1, 0, LOWEST, 0);
	for (uint64_t i = 0; i < 4 * ROCE_LOCAL_BUDGET; i++)
		if (i % 2 == 0)
			window_bind(p, 0, i, &v, WINDOW_RW);
		else
			window_invalidate(p, 0, i, v.token, 0);
	for (unsigned turn = 0; turn < 4; turn++) {
		unsigned done = 0;

		pair_turn(p, 1);
		while (pair_poll(p, 1, &c))
			done++;
		cr_assert_eq(done, ROCE_LOCAL_BUDGET, "%u in turn %u", done, turn);
	}
	window_pair_free(p, &v);
}

/* What leaves in the turn in which the queue pair ends has left. */
Test(pace_times, an_end_in_its_own_turn)
{
	struct pair *p = watched(&(struct pair_opts){0});

	set_rate(p, 0, 0, 156250, CATCH_UP_NS);
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_post(p, 0, 0, &(struct ndsh_swr){.ctrl = NDSH_CTRL(77, 0, 0, 0)}, NULL, NULL);
	pair_turn(p, 0);
	cr_expect_eq(tape.requests, 1);
	pair_expect_dead(p, 0, 0, ROCE_REASON_CLIENT_BREACH);
	pair_free(p);
}

/* ---- the wheel ------------------------------------------------------------------------------ */

/* The lcore may sleep until the first queue pair's time has come, whatever else leaves. */
Test(pace_times, what_waits_is_nothing_to_send)
{
	struct pair *p = watched(&(struct pair_opts){.qps = 2});
	struct roce_shard *s = p->side[0].shard;
	struct roce_pkt marked = {.opcode = ROCE_WRITE_ONLY,
		.pkey = ROCE_PKEY_DEFAULT,
		.qpn = roce_qp_num(p->side[0].q[1].qp),
		.psn = p->opts.sq_psn[1],
		.va = PAIR_VA,
		.rkey = p->side[0].key};
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce_qp_attr a;
	uint64_t due_ns;

	set_rate(p, 0, 0, 8 * LOWEST, 0);
	pair_write(p, 0, 0, 1, 0, 0, 3 * MTU, 0);
	while (pair_turn(p, 0) > 0)
		;
	p->side[0].frames = 1;
	p->now_ns = roce_shard_next_deadline(s);
	pair_turn(p, 0);
	cr_assert_eq(tape.requests, 2);
	cr_expect_not(roce_shard_tx_pending(s, p->now_ns));

	due_ns = roce_shard_next_deadline(s);
	cr_assert_geq(due_ns, p->now_ns + MTU * MS / (8 * LOWEST) - TICK_NS);
	p->now_ns = due_ns - 1;
	pair_attr(p, 1, 1, &a);
	a.path.tos = ROCE_TOS_ECN;
	cr_assert_eq(roce_wire_parse(frame, pair_build(frame, &a.path, &marked, NULL), &marked),
		ROCE_WIRE_OK);
	pair_rx(p, 0, &marked);
	pair_turn(p, 0);
	cr_assert_eq(tape.cnps, 1);
	cr_expect_not(roce_shard_tx_pending(s, p->now_ns));
	cr_expect(roce_shard_tx_pending(s, due_ns));
	pair_free(p);
}

/* Of a queue pair whose next packet is due in a nanosecond, neither; if it is due, it has. */
Test(pace_times, what_waits_a_nanosecond_is_nothing_to_send)
{
	for (unsigned missing = 0; missing < 2; missing++) {
		struct pair *p = watched(&(struct pair_opts){0});
		struct roce_shard *s = p->side[0].shard;
		struct roce_cc *cc = set_rate(p, 0, 0, BYTE_A_NS, 0);

		pair_write(p, 0, 0, 1, 0, 0, 4 * MTU, 0);
		while (pair_turn(p, 0) > 0)
			;
		p->side[0].frames = 1;
		p->now_ns = roce_shard_next_deadline(s);
		cc->next_ns = p->now_ns - (MTU + HEADERS) + missing;
		pair_turn(p, 0);
		cr_assert_eq(tape.requests, 2);
		cr_assert_eq(cc->next_ns, p->now_ns + missing);
		cr_expect_eq(roce_shard_tx_pending(s, p->now_ns), missing == 0);
		p->side[0].frames = 0;
		cr_assert(pair_run(p, PAIR_LONG));
		pair_free(p);
	}
}

/* Nor does a queue pair wait that has sent all, though more would have been due. */
Test(pace_times, what_has_nothing_to_send_does_not_wait)
{
	struct pair *p = watched(&(struct pair_opts){0});

	set_rate(p, 0, 0, BYTE_A_NS, MTU);
	pair_write(p, 0, 0, 1, 0, 0, MTU, 0);
	pair_turn(p, 0);
	cr_assert_gt(cc_of(p, 0, 0)->next_ns, p->now_ns);
	cr_expect_eq(roce_pace_next(&p->side[0].shard->pace), UINT64_MAX);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_free(p);
}

/* An acknowledgement that follows responses leaves behind the last of them, and waits no longer.
 * checks W-ACK-03 */
Test(pace_times, an_acknowledgement_behind_the_last_response)
{
	struct pair *p = watched(&(struct pair_opts){0});

	set_rate(p, 0, 0, LOWEST, 0);
	pair_read(p, 1, 0, 1, 0, 0, 3 * MTU, 0);
	pair_write(p, 1, 0, 2, 0, 0, 8, 0);
	(void)pair_run(p, 10 * MS);
	cr_assert_eq(tape.responses, 3);
	cr_assert_eq(tape.acks, 1);
	cr_expect_eq(tape.ack_ns, tape.response_ns);
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* ---- many, through random waits ------------------------------------------------------------- */

/* Queue pairs whose messages never end, each at its rate. */
struct model {
	uint32_t rate, qpn;
	uint64_t due_ns; /* a ns too early for each packet, at most */
	uint64_t sent;
	/* The moment in which packets left last, and how late they were. */
	uint64_t now_ns, late_ns, packets;
};

struct models {
	struct model of[SENDERS];
	uint64_t resumed_ns; /* before, nothing was done for a while */
};

static uint64_t
latest(const struct models *all, const struct model *m)
{
	uint64_t then = m->due_ns + TICK_NS + m->sent;

	return then > all->resumed_ns ? then : all->resumed_ns;
}

static void
model_sent(const struct models *all, struct model *m, const struct roce_pkt *pkt, uint64_t now_ns)
{
	bool reth = roce_opcode_info[pkt->opcode].flags & ROCE_OPF_RETH;

	if (m->now_ns != now_ns) {
		cr_assert_geq(now_ns, m->due_ns, "at a rate of %u, too early", m->rate);
		cr_assert_leq(now_ns, latest(all, m), "at a rate of %u, too late", m->rate);
		m->now_ns = now_ns;
		m->packets = 0;
		m->late_ns = now_ns - m->due_ns;
		if (m->late_ns > CATCH_UP_NS)
			m->late_ns = CATCH_UP_NS;
		m->due_ns = now_ns - m->late_ns;
	}
	/* The first is due; the others are made up for. */
	cr_assert_leq(m->packets * MTU * MS, (m->late_ns + m->sent) * m->rate,
		"%lu packets at once, %lu ns late at a rate of %u", m->packets + 1, m->late_ns,
		m->rate);
	m->packets++;
	m->sent++;
	m->due_ns += (pkt->payload_bytes + HEADERS + (reth ? RETH : 0)) * MS / m->rate;
}

static unsigned
tap_models(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct models *all = ctx;

	(void)late_ns;
	for (unsigned i = 0; from == 0 && i < SENDERS; i++)
		if (all->of[i].qpn == pkt->qpn)
			model_sent(all, &all->of[i], pkt, p->now_ns);
	return 1;
}

static void
random_waits(uint64_t dice)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = SENDERS, .ecn = true});
	struct models all = {.resumed_ns = p->now_ns};

	p->tap = tap_models;
	p->tap_ctx = &all;
	for (unsigned i = 0; i < SENDERS; i++) {
		uint32_t octave = LOWEST << (i == 0 ? 0 : fault_dice(&dice) % 9);

		all.of[i] = (struct model){.rate = octave + (uint32_t)(fault_dice(&dice) % octave),
			.qpn = roce_qp_num(p->side[1].q[i].qp),
			.due_ns = p->now_ns};
		set_rate(p, 0, i, all.of[i].rate, 0);
		for (uint64_t n = 0; n < 32; n++)
			pair_write(p, 0, i, n, 0, 0, MESSAGE, 0);
	}
	for (unsigned n = 0; n < 30; n++) {
		(void)pair_run(p, fault_dice(&dice) % (2 * MS));
		for (unsigned i = 0; i < SENDERS; i++)
			cr_assert_geq(latest(&all, &all.of[i]), p->now_ns,
				"at a rate of %u, not yet", all.of[i].rate);
		p->now_ns += fault_dice(&dice) % 3 == 0 ? fault_dice(&dice) % MS
							: fault_dice(&dice) % CATCH_UP_NS;
		all.resumed_ns = p->now_ns;
	}
	pair_free(p);
}

/* Never before the rate has it; never later than a tick of the wheel, or when the lcore is back;
 * and after a pause not more than is made up for. */
Test(pace_times, at_their_rates_through_random_waits)
{
	for (uint64_t dice = 1; dice <= 8; dice++)
		random_waits(dice);
}
