/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer that vanished is noticed by an idle queue pair that asks for it, and by no other. */
#include <criterion/criterion.h>

#include "rigs/engine_pair.h"

#define MS	UINT64_C(1000000)
#define IDLE_MS 200u

static const struct pair_opts all_rights = {
	.access = NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_REMOTE_ATOMIC,
	.mr_access = NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE |
		     NDSH_ACCESS_REMOTE_ATOMIC};

struct wire {
	bool cut;
	unsigned probes; /* of side 0 */
	struct roce_pkt last;
};

static unsigned
tap(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct wire *w = ctx;

	(void)p;
	(void)late_ns;
	if (from == 0 && pkt->opcode == ROCE_WRITE_ONLY && pkt->dma_bytes == 0) {
		w->probes++;
		w->last = *pkt;
	}
	return !w->cut;
}

static void
keepalive(struct pair *p, uint32_t ms)
{
	const struct roce_qp_attr a = {.keepalive_ms = ms};

	cr_assert_eq(roce_qp_modify(p->side[0].shard, p->side[0].q[0].qp, p->now_ns, ROCE_QPS_RTS,
			     ROCE_QPA_KEEPALIVE, &a),
		ROCE_MODIFY_OK);
}

static struct pair *
start(struct wire *w, uint32_t ms, const struct pair_opts *opts)
{
	struct pair *p = pair_new(opts);

	p->tap = tap;
	p->tap_ctx = w;
	keepalive(p, ms);
	return p;
}

/* Turns of both, whatever happens in them. */
static void
pass(struct pair *p, uint64_t ns)
{
	const uint64_t until = p->now_ns + ns;

	while (p->now_ns < until) {
		while (pair_turn(p, 0) + pair_turn(p, 1) > 0)
			p->now_ns += 2000;
		p->now_ns += MS / 2;
	}
}

static uint64_t
probes(const struct pair *p)
{
	return roce_shard_counters(p->side[0].shard)->keepalives;
}

Test(keepalive, an_idle_peer_is_asked_and_nobody_is_told)
{
	struct wire w = {0};
	struct pair *p = start(&w, IDLE_MS, &(struct pair_opts){0});
	const struct ndsh_qp_page *page = p->side[0].q[0].block;

	pair_recv(p, 1, 0, 1, 0, 64);
	pass(p, 2100 * MS);
	cr_assert(w.probes >= 8 && w.probes <= 10, "%u", w.probes);
	cr_assert_eq(w.last.payload_bytes, 0);
	cr_assert(w.last.ackreq);
	cr_assert_eq(page->sq_done, 0);
	pair_expect_none(p, 0);
	pair_expect_none(p, 1); /* its receive is still there: */
	pair_send(p, 0, 0, 2, 0, 8, 0);
	pass(p, 10 * MS);
	cr_assert_eq(pair_expect(p, 0, 2, NDSH_WC_SUCCESS).slot_count, 1);
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	cr_assert_eq(page->sq_done, 1);
	pair_expect_alive(p, 0, 0);
	pair_expect_alive(p, 1, 0);
	pair_free(p);
}

/* In either direction. */
Test(keepalive, who_is_heard_is_not_asked)
{
	for (unsigned from = 0; from < 2; from++) {
		struct wire w = {0};
		struct pair *p = start(&w, IDLE_MS, &(struct pair_opts){0});

		for (unsigned i = 0; i < 20; i++) {
			pair_write(p, from, 0, i, 0, 0, 8, 0);
			pass(p, 100 * MS);
			pair_expect(p, from, i, NDSH_WC_SUCCESS);
		}
		cr_assert_eq(probes(p), 0);
		pair_free(p);
	}
}

/* checks W-CM-51[2]: as if a request had used up its retries. */
Test(keepalive, a_peer_that_vanished_ends_the_connection)
{
	struct wire w = {0};
	struct pair *p = start(&w, IDLE_MS, &(struct pair_opts){.retry = 3});

	pair_recv(p, 0, 0, 7, 0, 64);
	pass(p, 500 * MS);
	w.cut = true;
	pass(p, 2 * IDLE_MS * MS + 200 * MS);
	pair_expect_dead(p, 0, 0, ROCE_REASON_RETRY_EXC);
	pair_expect(p, 0, 7, NDSH_WC_FLUSH_ERR);
	pair_expect_none(p, 0);
	pair_expect_alive(p, 1, 0); /* it asked for nothing */
	cr_assert_eq(roce_shard_counters(p->side[0].shard)->retry_exceeded, 1);
	pair_free(p);
}

/* What was posted meanwhile waits behind the probe: it is the one that failed. */
Test(keepalive, requests_behind_a_probe_fail_as_they_would_without)
{
	struct wire w = {.cut = true};
	struct pair *p = start(&w, IDLE_MS, &(struct pair_opts){.retry = 3});

	while (w.probes == 0)
		pass(p, MS);
	pair_write(p, 0, 0, 1, 0, 0, 8, NDSH_WRF_SILENT);
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	pass(p, 1000 * MS);
	pair_expect_dead(p, 0, 0, ROCE_REASON_RETRY_EXC);
	cr_assert_eq(pair_expect(p, 0, 1, NDSH_WC_RETRY_EXC_ERR).slot_count, 1);
	cr_assert_eq(pair_expect(p, 0, 2, NDSH_WC_FLUSH_ERR).slot_count, 2);
	pair_free(p);
}

/* A link that comes back in time costs nothing but the repeated probe. */
Test(keepalive, a_lost_probe_is_sent_again)
{
	struct wire w = {.cut = true};
	struct pair *p = start(&w, IDLE_MS, &(struct pair_opts){.timeout_code = 14});

	while (w.probes == 0)
		pass(p, MS);
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pass(p, 20 * MS);
	w.cut = false;
	pass(p, 100 * MS);
	cr_assert_gt(w.probes, 1);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect_alive(p, 0, 0);
	cr_assert_eq(probes(p), 1);
	pair_free(p);
}

/* SQD starts nothing new, a probe neither, and needs no timer for that; switched off, there is
 * none. */
Test(keepalive, rests_in_sqd_and_ends_when_told)
{
	struct wire w = {0};
	struct pair *p = start(&w, IDLE_MS, &(struct pair_opts){0});
	struct roce_shard *s = p->side[0].shard;
	struct roce_qp *qp = p->side[0].q[0].qp;
	struct roce_usage u;

	cr_assert_eq(roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_SQD, 0, NULL), ROCE_MODIFY_OK);
	pass(p, 1000 * MS);
	cr_assert_eq(probes(p), 0);
	cr_assert_eq(roce_shard_next_deadline(s), UINT64_MAX);
	cr_assert_eq(roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_RTS, 0, NULL), ROCE_MODIFY_OK);
	pass(p, 1000 * MS);
	cr_assert_gt(probes(p), 2);
	keepalive(p, 0);
	w.probes = 0;
	pass(p, 1000 * MS);
	cr_assert_eq(w.probes, 0);
	roce_shard_usage(s, &u);
	cr_assert_eq(u.timers, 0, "it has left the wheel");
	pair_free(p);
}

/* It may permit nothing, have received nothing, have been read or changed last: a duplicate is not
 * judged, and changes nothing. checks W-DUP-01[4] */
Test(keepalive, no_peer_refuses)
{
	static const uint32_t access[] = {
		0, NDSH_ACCESS_REMOTE_READ, NDSH_ACCESS_REMOTE_WRITE, NDSH_ACCESS_REMOTE_ATOMIC};
	const uint8_t last[] = {0, NDSH_OP_SEND, NDSH_OP_READ, NDSH_OP_FETCH_ADD};

	for (unsigned i = 0; i < 16; i++) {
		struct roce_qp_attr before, after, rights = {.access = access[i / 4]};
		struct wire w = {0};
		struct pair *p = start(&w, IDLE_MS, &all_rights);
		struct pair_side *d = &p->side[1];
		const struct ndsh_sge sge = pair_sge(p, 0, 0, 8);

		pair_recv(p, 1, 0, 1, 0, 64);
		if (last[i % 4] != 0)
			pair_post(p, 0, 0,
				&(struct ndsh_swr){.context = 7,
					.raddr = PAIR_VA,
					.rkey = d->key,
					.ctrl = NDSH_CTRL(last[i % 4], 1, 0, 0)},
				&sge, NULL);
		pass(p, 10 * MS);
		(void)roce_qp_modify(
			d->shard, d->q[0].qp, p->now_ns, ROCE_QPS_RTS, ROCE_QPA_ACCESS, &rights);
		roce_qp_query(d->q[0].qp, &before);
		pass(p, 1000 * MS);
		roce_qp_query(d->q[0].qp, &after);
		cr_assert(w.probes >= 3 && w.probes <= 5, "%u", w.probes);
		cr_assert_eq(w.last.psn, (before.rq_psn - 1) & ROCE_PSN_MASK);
		cr_assert_eq(after.rq_psn, before.rq_psn, "nothing is executed");
		cr_assert_eq(pair_count(p, 0)->retransmitted_packets, 0);
		pair_expect_alive(p, 0, 0);
		pair_expect_alive(p, 1, 0);
		rights.access = NDSH_ACCESS_REMOTE_WRITE;
		(void)roce_qp_modify(
			d->shard, d->q[0].qp, p->now_ns, ROCE_QPS_RTS, ROCE_QPA_ACCESS, &rights);
		if (last[i % 4] != 0)
			pair_expect(p, 0, 7, NDSH_WC_SUCCESS);
		pair_write(p, 0, 0, 8, 0, 0, 8, 0);
		pass(p, 10 * MS);
		pair_expect(p, 0, 8, NDSH_WC_SUCCESS);
		pair_free(p);
	}
}

/* rdma_rxe acknowledges a duplicate by the PSN of its last SEND, WRITE or atomic, which may be long
 * ago, or any number if there was none. checks W-DUP-01[4] */
Test(keepalive, any_acknowledgement_is_an_answer)
{
	static const uint32_t back[] = {0, 1, 2, 100, 1u << 22, 0xffffff};

	for (unsigned i = 0; i < sizeof(back) / sizeof(back[0]); i++) {
		struct wire w = {.cut = true};
		struct pair *p = start(&w, IDLE_MS, &(struct pair_opts){.retry = 1});
		struct roce_pkt ack = {.opcode = ROCE_ACK,
			.pkey = ROCE_PKEY_DEFAULT,
			.qpn = roce_qp_num(p->side[0].q[0].qp),
			.syndrome = ROCE_SYN_ACK};

		for (unsigned n = 1; n < 10; n++) {
			while (w.probes < n)
				pass(p, MS);
			ack.psn = (w.last.psn - back[i]) & ROCE_PSN_MASK;
			pair_inject(p, 0, 0, &ack, NULL);
			pass(p, MS);
			cr_assert_eq(w.probes, n);
		}
		pair_expect_alive(p, 0, 0);
		cr_assert_eq(pair_count(p, 0)->timeouts, 0);
		cr_assert_eq(pair_count(p, 0)->rx_ghost_response, 0);
		pair_free(p);
	}
}

static void
answer(struct pair *p, uint8_t opcode, uint32_t psn, uint8_t syndrome)
{
	pair_inject(p, 0, 0,
		&(struct roce_pkt){.opcode = opcode,
			.pkey = ROCE_PKEY_DEFAULT,
			.qpn = roce_qp_num(p->side[0].q[0].qp),
			.psn = psn & ROCE_PSN_MASK,
			.syndrome = syndrome},
		NULL);
	pair_turn(p, 0);
}

/* Nothing else is, of what is older than the probe: it means nothing, and the probe is sent again.
 * checks W-COMP-01[2,3] */
Test(keepalive, nothing_else_is_an_answer)
{
	static const struct {
		uint8_t opcode, syndrome;
	} of[] = {{ROCE_ACK, ROCE_SYN_RNR | 1}, {ROCE_ACK, 0x40}, {ROCE_ACK, ROCE_SYN_NAK_SEQ},
		{ROCE_ACK, ROCE_SYN_NAK_REM_ACCESS}, {ROCE_ACK, 0x80},
		{ROCE_READ_RESP_ONLY, ROCE_SYN_ACK}, {ROCE_READ_RESP_MIDDLE, 0},
		{ROCE_ATOMIC_ACK, ROCE_SYN_ACK}};

	for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct wire w = {.cut = true};
		struct pair *p = start(&w, IDLE_MS, &(struct pair_opts){0});

		while (w.probes == 0)
			pass(p, MS);
		cr_assert_eq(w.probes, 1);
		answer(p, of[i].opcode, w.last.psn - 1, of[i].syndrome);
		cr_assert_eq(pair_count(p, 0)->rx_ghost_response, 1, "case %u", i);
		pass(p, 2 * MS);
		cr_assert_eq(w.probes, 2, "case %u", i);
		pair_expect_alive(p, 0, 0);
		pair_free(p);
	}
}

/* Its answer is progress as any other: the only retry, which the probe took, is there again for the
 * request behind it. checks W-COMP-13[1] */
Test(keepalive, an_answer_gives_the_retries_back)
{
	const uint64_t t_ns = UINT64_C(4096) << 12;
	struct wire w = {.cut = true};
	struct pair *p = start(&w, IDLE_MS, &(struct pair_opts){.retry = 1, .timeout_code = 12});

	while (w.probes == 0)
		pass(p, MS);
	pass(p, 33 * MS);
	answer(p, ROCE_ACK, w.last.psn - 1, ROCE_SYN_ACK);
	pair_expect_alive(p, 0, 0);
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pass(p, t_ns * 3 / 2);
	pair_expect_alive(p, 0, 0);
	pass(p, t_ns * 3 / 2);
	pair_expect(p, 0, 1, NDSH_WC_RETRY_EXC_ERR);
	pair_free(p);
}

/* A response to the READ whose last PSN the probe has comes once more, late: it is not one to the
 * probe, and no error of the peer. */
Test(keepalive, late_responses_to_what_had_its_psn)
{
	static const uint8_t payload[8];
	struct wire w = {0};
	struct pair *p = start(&w, IDLE_MS, &all_rights);
	struct roce_pkt late = {.opcode = ROCE_READ_RESP_ONLY,
		.pkey = ROCE_PKEY_DEFAULT,
		.qpn = roce_qp_num(p->side[0].q[0].qp),
		.syndrome = ROCE_SYN_ACK,
		.payload_bytes = sizeof(payload)};

	pair_read(p, 0, 0, 1, 0, 0, 8, 0);
	pass(p, MS);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	w.cut = true;
	while (w.probes == 0)
		pass(p, MS);
	late.psn = w.last.psn;
	pair_inject(p, 0, 0, &late, payload);
	pass(p, MS);
	pair_expect_alive(p, 0, 0);
	cr_assert_eq(pair_count(p, 0)->rx_ghost_response, 1);
	w.cut = false;
	pass(p, 100 * MS);
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	pass(p, 10 * MS);
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	pair_expect_alive(p, 0, 0);
	pair_free(p);
}

/* A hundred turns of both, as if neither had been scheduled in between: days pass at once. */
static void
leap(struct pair *p, uint64_t ns)
{
	const uint64_t begin_ns = p->now_ns;

	for (unsigned i = 1; i <= 100; i++) {
		p->now_ns = begin_ns + ns / 100 * i;
		while (pair_turn(p, 0) + pair_turn(p, 1) > 0)
			;
	}
}

/* Milliseconds are counted in 32 bits: they begin anew after 49 days, and nothing is noticed of it,
 * however long a peer may be idle. */
Test(keepalive, milliseconds_begin_anew)
{
	static const uint32_t idle_ms[] = {IDLE_MS, 1000, 1u << 30};

	for (size_t i = 0; i < sizeof(idle_ms) / sizeof(idle_ms[0]); i++)
		for (unsigned before = 0; before < 3; before++) {
			struct wire w = {0};
			struct pair *p = pair_new(&(struct pair_opts){0});
			const uint64_t idle = idle_ms[i] * MS;

			p->now_ns = (UINT64_C(1) << 32) * MS - before * idle / 2 - MS;
			p->tap = tap;
			p->tap_ctx = &w;
			keepalive(p, idle_ms[i]);
			leap(p, idle - 2 * MS);
			cr_assert_eq(w.probes, 0, "%u ms, %u: too early", idle_ms[i], before);
			(void)pair_run(p, 4 * MS);
			cr_assert_eq(w.probes, 1, "%u ms, %u", idle_ms[i], before);
			pair_free(p);
		}
}

/* Both directions may move alike. */
Test(keepalive, peers_that_answer_each_other_are_not_asked)
{
	struct wire w = {0};
	struct pair *p = start(&w, IDLE_MS, &(struct pair_opts){0});

	for (unsigned i = 0; i < 20; i++) {
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
		pair_write(p, 1, 0, i, 0, 0, 8, 0);
		pass(p, 100 * MS);
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
		pair_expect(p, 1, i, NDSH_WC_SUCCESS);
	}
	cr_assert_eq(probes(p), 0);
	pair_free(p);
}

/* Before RTS nothing is waited for, so that nothing wakes an idle host; in RTS the first time that
 * the peer may be asked, and not sooner. */
Test(keepalive, begins_in_rts)
{
	const struct roce_qp_attr a = {.keepalive_ms = 10};
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_shard *s = p->side[0].shard;
	struct roce_qp *qp = p->side[0].q[0].qp;
	struct roce_qp_attr rtr;

	pair_attr(p, 0, 0, &rtr);
	cr_assert_eq(roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_RESET, 0, NULL), ROCE_MODIFY_OK);
	cr_assert_eq(roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_INIT,
			     ROCE_QPA_ACCESS | ROCE_QPA_KEEPALIVE, &a),
		ROCE_MODIFY_OK);
	cr_expect_eq(roce_shard_next_deadline(s), UINT64_MAX, "INIT");
	rtr.keepalive_ms = 10;
	cr_assert_eq(roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_RTR,
			     ROCE_QPA_PATH | ROCE_QPA_MTU | ROCE_QPA_DEST_QPN | ROCE_QPA_RQ_PSN |
				     ROCE_QPA_MAX_DEST_RD | ROCE_QPA_MIN_RNR | ROCE_QPA_KEEPALIVE,
			     &rtr),
		ROCE_MODIFY_OK);
	cr_expect_eq(roce_shard_next_deadline(s), UINT64_MAX, "RTR");
	cr_assert_eq(roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_RTS,
			     ROCE_QPA_TIMEOUT | ROCE_QPA_RETRY | ROCE_QPA_RNR_RETRY |
				     ROCE_QPA_SQ_PSN | ROCE_QPA_MAX_RD,
			     &rtr),
		ROCE_MODIFY_OK);
	cr_expect_gt(roce_shard_next_deadline(s), p->now_ns + 9 * MS);
	cr_expect_lt(roce_shard_next_deadline(s), p->now_ns + 11 * MS);
	pair_free(p);
}

/*
 * A peer that refuses the probe is there, and breaks the rules: the queue pair ends by what the
 * peer said. The probe itself is not reported, and the request behind it, of which the peer knows
 * nothing, is flushed as any other.
 */
Test(keepalive, a_refused_probe_is_not_the_fault_of_the_request_behind_it)
{
	static const struct {
		uint8_t syndrome;
		enum roce_reason reason;
	} of[] = {
		{ROCE_SYN_NAK_INV_REQ, ROCE_REASON_NAK_INV_REQ},
		{ROCE_SYN_NAK_REM_ACCESS, ROCE_REASON_NAK_REM_ACCESS},
		{ROCE_SYN_NAK_REM_OP, ROCE_REASON_NAK_REM_OP},
		{0x21, ROCE_REASON_RNR_RETRY_EXC},
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct wire w = {.cut = true};
		struct pair *p = start(&w, IDLE_MS, &(struct pair_opts){.rnr_retry = 1});
		struct roce_pkt nak = {.opcode = ROCE_ACK,
			.pkey = ROCE_PKEY_DEFAULT,
			.qpn = roce_qp_num(p->side[0].q[0].qp),
			.syndrome = of[i].syndrome};

		while (w.probes == 0)
			pass(p, MS);
		pair_write(p, 0, 0, 1, 0, 0, 8, 0);
		pass(p, MS);
		for (unsigned n = 0; n < 2 && roce_qp_state_get(p->side[0].q[0].qp) != ROCE_QPS_ERR;
			n++) {
			nak.psn = w.last.psn;
			pair_inject(p, 0, 0, &nak, NULL);
			pass(p, MS);
		}
		pair_expect_dead(p, 0, 0, of[i].reason);
		pair_expect(p, 0, 1, NDSH_WC_FLUSH_ERR);
		pair_expect_none(p, 0);
		pair_free(p);
	}
}

/* A shard whose requests in flight are as many as it may have sends no probe for now: what is left
 * is for receives. */
Test(keepalive, waits_until_a_request_can_be_had)
{
	const unsigned busy = 64;
	struct wire w = {.cut = true};
	struct pair *p = start(
		&w, IDLE_MS, &(struct pair_opts){.qps = 2, .max_wqes = 32, .timeout_code = 24});
	struct roce_usage full, later;

	for (unsigned i = 0; i < busy; i++)
		pair_write(p, 0, 1, i, 0, 0, 8, 0);
	pair_turn(p, 0);
	roce_shard_usage(p->side[0].shard, &full);
	pass(p, 1000 * MS);
	roce_shard_usage(p->side[0].shard, &later);
	cr_assert_eq(probes(p), 0);
	cr_assert_eq(later.wqes, full.wqes);
	w.cut = false;
	(void)pair_run(p, PAIR_LONG / 2);
	for (unsigned i = 0; i < busy; i++)
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
	cr_assert_gt(probes(p), 0);
	pair_free(p);
}

/* A probe has no slot: all of the ring is the client's while it is in flight. */
Test(keepalive, a_full_ring_behind_a_probe_is_no_breach)
{
	struct wire w = {0};
	struct pair *p = start(&w, IDLE_MS, &(struct pair_opts){.sq_depth = 2});

	w.cut = true;
	pass(p, (IDLE_MS + 2) * MS);
	cr_assert_eq(probes(p), 1);
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	while (pair_turn(p, 0) > 0)
		;
	pair_expect_alive(p, 0, 0);
	w.cut = false;
	pass(p, IDLE_MS * MS);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	pair_free(p);
}
