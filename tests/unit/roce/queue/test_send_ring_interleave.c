/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neither side sleeps for ever: the code of both sides of arming and of doorbells, as it stands in
 * lib/, in many thousand interleavings with store buffers. The models of test_arm_tso.c try all
 * orders of an abstraction; here a barrier missing in the code itself is noticed.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "models/interleave.h"
#include "rigs/lone_shard.h"

/* The sources are included, so for clang their functions that are inline across files are not in
 * the main file of the compilation. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wstatic-in-inline"
#endif
#include "../../../../lib/roce/queue/doorbell.c"
#include "../../../../lib/roce/queue/cq.c"
#include "../../../../lib/roce/publish.c"
#include "../../../../lib/roce/requester/fetch.c"
#include "../../../../lib/roce/shard/pool.c"
#include "../../../../lib/roce/queue/send_ring.c"
#include "../../../../lib/shm/ndsh_arm.c"
#include "../../../../lib/shm/ndsh_cq.c"
#include "../../../../lib/shm/ndsh_doorbell.c"
#include "../../../../lib/shm/ndsh_sq.c"

#define RUNS	 20000u
#define CQ_DEPTH 8u
#define ENTRIES	 4u
#define REQUESTS 3u

/* ---- completions: the daemon publishes, the client polls, arms and sleeps ---- */

struct arming {
	struct roce_shard *s;
	struct roce_cq *cq;
	struct ndsh_cq_reader reader;
	int wake;
	unsigned seen, wakeups, arms;
};

static void
daemon_completes(void *arg)
{
	struct arming *a = arg;

	for (unsigned i = 0; i < ENTRIES; i++) {
		roce_cq_push(a->s, a->cq, &(struct ndsh_cqe){.context = i});
		if (i % 2 == 0) /* the second turn has two */
			continue;
		roce_shard_publish(a->s);
		while (roce_shard_fired_cq(a->s, a->s->now_ns) != NULL) {
			a->wakeups++;
			a->wake = 1;
		}
	}
}

static void
client_waits(void *arg)
{
	struct arming *a = arg;
	struct ndsh_cqe cqe;

	while (a->seen < ENTRIES) {
		while (ndsh_cq_poll(&a->reader, &cqe, 1) == 1)
			a->seen += cqe.context == a->seen;
		if (a->seen == ENTRIES || ndsh_cq_arm(&a->reader, NDSH_ARM_ANY, NULL) != NDSH_ARMED)
			continue;
		a->arms++;
		il_sleep(&a->wake);
	}
}

/* checks R-CQ-09 */
Test(interleave, R_CQ_12_no_wake_up_is_lost)
{
	static _Alignas(64)
		uint8_t base[sizeof(struct ndsh_cq_page) + CQ_DEPTH * sizeof(struct ndsh_cqe)];
	const struct roce_shard_cfg cfg = lone_config();
	struct arming a = {.s = lone_shard_new(&cfg)};
	uint64_t slept = 0;

	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		memset(base, 0, sizeof(base));
		a = (struct arming){
			.s = a.s, .cq = roce_cq_create(a.s, NULL, base, CQ_DEPTH, NULL)};
		ndsh_cq_reader_view(&a.reader, base, CQ_DEPTH);
		il_run(seed, daemon_completes, client_waits, &a);
		cr_assert_eq(a.seen, ENTRIES, "seed %lu: asleep with %u of %u entries taken",
			(unsigned long)seed, a.seen, ENTRIES);
		cr_assert_leq(a.wakeups, a.arms, "seed %lu: woken more often than armed",
			(unsigned long)seed);
		cr_assert(roce_cq_destroy(a.s, a.cq));
		slept += a.arms;
	}
	cr_assert_gt(slept, RUNS / 2, "the interesting case must be common");
	free(a.s);
}

/* ---- doorbells: the client posts and rings, the daemon polls, rests and sleeps ---- */

struct ringing {
	struct roce_shard *s;
	struct roce_qp *qp;
	struct ndsh_session_page session;
	struct ndsh_qp_page *page;
	struct ndsh_sq sq;
	uint64_t now_ns;
	int wake;
	unsigned sent, sleeps, pause;
};

static void
client_posts(void *arg)
{
	struct ringing *r = arg;

	for (unsigned i = 0; i < REQUESTS; i++) {
		const struct ndsh_swr wr = {.ctrl = NDSH_CTRL(NDSH_OP_SEND, 0, 0, 0)};

		for (unsigned n = 0; n < r->pause; n++) /* the daemon comes to rest */
			il_yield();
		ndsh_sq_push(&r->sq, &wr, NULL, NULL);
		if (ndsh_doorbell_ring(&r->session, r->page, 0))
			r->wake = 1;
	}
}

static void
daemon_sends(void *arg)
{
	static uint8_t frame[ROCE_FRAME_MAX];
	struct ringing *r = arg;

	while (r->sent < REQUESTS) {
		struct roce_tx_slot slot = {.buf = frame};
		uint64_t summary = ndsh_doorbell_begin(&r->session), bits;
		uint32_t word;

		r->now_ns += 20000; /* one that rings in two turns is polled, for five of them */
		while (ndsh_doorbell_take(&r->session, &summary, &word, &bits))
			roce_qp_doorbell(r->s, NULL, r->qp);
		roce_shard_poll_rings(r->s, r->now_ns, 1);
		while (roce_shard_tx(r->s, r->now_ns, &slot, 1) == 1)
			r->sent++;
		if (r->sent == REQUESTS || r->now_ns % 140000 != 0 || !roce_shard_rest(r->s) ||
			!ndsh_doorbell_sleep(&r->session))
			continue;
		r->sleeps++;
		il_sleep(&r->wake);
		ndsh_doorbell_awake(&r->session);
	}
}

static void
make_qp(struct ringing *r, void *shared, uint32_t pd, struct roce_cq *cq)
{
	const struct roce_qp_cfg cfg = {.pd = pd,
		.send_cq = cq,
		.recv_cq = cq,
		.shared = shared,
		.dims = {.sq_depth = 4, .rq_depth = 4, .sq_sge = 1, .rq_sge = 1}};
	const struct roce_qp_attr attr = {.mtu_bytes = 1024, .dest_qpn = 2};

	r->qp = roce_qp_create(r->s, &cfg);
	r->page = shared;
	ndsh_sq_view(&r->sq, shared, &cfg.dims);
	roce_qp_modify(r->s, r->qp, 0, ROCE_QPS_INIT, ROCE_QPA_ACCESS, &attr);
	roce_qp_modify(r->s, r->qp, 0, ROCE_QPS_RTR,
		ROCE_QPA_PATH | ROCE_QPA_MTU | ROCE_QPA_DEST_QPN | ROCE_QPA_RQ_PSN |
			ROCE_QPA_MAX_DEST_RD | ROCE_QPA_MIN_RNR,
		&attr);
	cr_assert_eq(roce_qp_modify(r->s, r->qp, 0, ROCE_QPS_RTS,
			     ROCE_QPA_TIMEOUT | ROCE_QPA_RETRY | ROCE_QPA_RNR_RETRY |
				     ROCE_QPA_SQ_PSN | ROCE_QPA_MAX_RD,
			     &attr),
		ROCE_MODIFY_OK);
}

Test(interleave, no_doorbell_is_lost)
{
	static _Alignas(64) uint8_t shared[2048],
		base[sizeof(struct ndsh_cq_page) + CQ_DEPTH * sizeof(struct ndsh_cqe)];
	const struct roce_shard_cfg cfg = lone_config();
	struct ringing r = {.s = lone_shard_new(&cfg)};
	uint32_t pd = roce_pd_create(r.s);
	struct roce_cq *cq = roce_cq_create(r.s, NULL, base, CQ_DEPTH, NULL);
	uint64_t slept = 0;

	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		memset(shared, 0, sizeof(shared));
		r = (struct ringing){.s = r.s, .pause = (unsigned)(seed % 64)};
		make_qp(&r, shared, pd, cq);
		il_run(seed, daemon_sends, client_posts, &r);
		cr_assert_eq(r.sent, REQUESTS, "seed %lu: asleep with %u of %u requests sent",
			(unsigned long)seed, r.sent, REQUESTS);
		roce_qp_destroy(r.s, r.qp);
		slept += r.sleeps;
	}
	cr_assert_gt(slept, RUNS / 4, "the interesting case must be common");
	free(r.s);
}
