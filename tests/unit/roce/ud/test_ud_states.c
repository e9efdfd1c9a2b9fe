/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of a datagram queue pair: how it begins, and how its send side fails and goes on. */
#include <criterion/criterion.h>

#include "rigs/ud_world.h"
#include "roce/queue/send_ring.h"

#define RECORDS 8u

static const struct ndsh_qp_page *
page_of(const struct ud_world *w)
{
	return w->p->side[0].q[0].block;
}

/* Does side 0 still poll the ring then? */
static bool
polled_at(const struct ud_world *w, uint64_t now_ns)
{
	roce_shard_poll_rings(w->p->side[0].shard, now_ns, 8);
	return page_of(w)->sq_polled;
}

/* ---- the beginning ---- */

#define QPS 8u

struct first {
	uint32_t psn[QPS];
	unsigned n;
};

static unsigned
keep_psn(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct first *f = ctx;

	(void)p;
	(void)from;
	(void)late_ns;
	f->psn[f->n++] = pkt->psn;
	return 1;
}

/* First PSNs are not to be guessed: no two are equal, although all queue pairs begin alike. */
Test(ud_states, first_psns_are_drawn)
{
	struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU, .qps = QPS});
	struct first first = {.n = 0};

	ud_world_start(&w);
	w.p->tap = keep_psn;
	w.p->tap_ctx = &first;
	for (unsigned i = 0; i < QPS; i++) {
		struct ndsh_sge sge = pair_sge(w.p, 0, 0, 8);

		pair_post(w.p, 0, i,
			&(struct ndsh_swr){.rkey = UD_AH,
				.raddr = NDSH_UD_RADDR(roce_qp_num(w.p->side[1].q[0].qp), UD_Q_KEY),
				.ctrl = NDSH_CTRL(NDSH_OP_SEND, 1, 0, 0)},
			&sge, NULL);
	}
	cr_assert(pair_run(w.p, PAIR_LONG));
	cr_assert_eq(first.n, QPS);
	for (unsigned i = 0; i < QPS; i++)
		for (unsigned k = 0; k < i; k++)
			cr_assert_neq(first.psn[i], first.psn[k]);
	pair_free(w.p);
}

/* Side 0's queue pair is in RESET, and has a handle to the other side. */
static void
before_the_start(struct roce_ud_cfg *cfg, struct ud_world *w)
{
	struct roce_qp_attr attr;

	*w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU});
	w->table[0] = (struct roce_ah_table){.slot = w->ah[0], .count = UD_AHS};
	pair_attr(w->p, 0, 0, &attr);
	roce_ah_set(&w->ah[0][UD_AH % UD_AHS], UD_AH, &attr.path, 0, UD_MTU);
	*cfg = (struct roce_ud_cfg){.q_key = UD_Q_KEY, .gid = attr.path.sgid, .ahs = &w->table[0]};
	cr_assert_eq(roce_qp_modify(w->p->side[0].shard, w->p->side[0].q[0].qp, w->p->now_ns,
			     ROCE_QPS_RESET, 0, &attr),
		ROCE_MODIFY_OK);
}

/* A request that was posted before the start leaves, though its client rang in vain. */
Test(ud_states, a_request_from_before_the_start)
{
	struct roce_ud_cfg cfg;
	struct ud_world w;

	before_the_start(&cfg, &w);
	ud_send(&w, 0, 1, 8);
	cr_assert(pair_run(w.p, PAIR_LONG));
	pair_expect_none(w.p, 0);
	cr_assert(roce_ud_start(w.p->side[0].shard, w.p->side[0].q[0].qp, w.p->now_ns, &cfg));
	cr_assert(pair_run(w.p, PAIR_LONG));
	(void)pair_expect(w.p, 0, 1, NDSH_WC_SUCCESS);
	pair_free(w.p);
}

/* ---- when the ring is polled ---- */

/* From the start on, and again from each change on, for as long as any ring without work. */
Test(ud_states, the_ring_is_polled_for_a_while)
{
	struct roce_ud_cfg cfg;
	struct ud_world w;
	struct roce_shard *s;
	uint64_t now_ns;

	before_the_start(&cfg, &w);
	s = w.p->side[0].shard;
	for (unsigned change = 0; change < 2; change++) {
		struct roce_qp *qp = w.p->side[0].q[0].qp;

		now_ns = w.p->now_ns += 10 * ROCE_SEND_RING_IDLE_NS;
		cr_assert_not(page_of(&w)->sq_polled);
		cr_assert(change ? roce_ud_modify(s, qp, now_ns, 0x111) == ROCE_UD_MODIFIED
				 : roce_ud_start(s, qp, now_ns, &cfg));
		cr_assert(polled_at(&w, now_ns + ROCE_SEND_RING_IDLE_NS - 1));
		cr_assert_not(polled_at(&w, now_ns + ROCE_SEND_RING_IDLE_NS));
	}
	pair_free(w.p);
}

/* ---- the send side fails, and goes on ---- */

enum mistake { BAD_HANDLE, TOO_LONG, BAD_KEY, MISTAKES };

static void
make_mistake(struct ud_world *w, enum mistake which)
{
	struct ndsh_sge sge = pair_sge(w->p, 0, 0, which == TOO_LONG ? UD_MTU + 1 : 8);

	sge.key ^= which == BAD_KEY;
	pair_post(w->p, 0, 0,
		&(struct ndsh_swr){.context = 100,
			.rkey = UD_AH ^ (which == BAD_HANDLE),
			.raddr = NDSH_UD_RADDR(roce_qp_num(w->p->side[1].q[0].qp), UD_Q_KEY),
			.ctrl = NDSH_CTRL(NDSH_OP_SEND, 1, 0, 0)},
		&sge, NULL);
}

static void
expect_reported(struct ud_world *w, enum roce_reason reason, uint32_t psn)
{
	const struct roce_qp *qp = w->p->side[0].q[0].qp;
	struct roce_qp_record r[RECORDS];

	cr_assert_eq(roce_qp_reason(qp), reason);
	cr_assert_eq(roce_qp_records(qp, r), 1);
	cr_assert_eq(r[0].kind_psn, (uint32_t)ROCE_REC_ERROR << 24 | psn);
	cr_assert_eq(r[0].detail, reason);
	cr_assert_eq(ud_count(w, 0)->requests_failed, 1);
}

/* checks W-ERR-02[1,3]: completions, state and record say why; when the send side goes on, there is
 * no reason any more, and the request that failed has taken no PSN. */
Test(ud_states, W_ERR_02_the_reason)
{
	static const enum roce_reason reasons[] = {
		ROCE_REASON_LOCAL_AH, ROCE_REASON_LOCAL_LEN, ROCE_REASON_LOCAL_PROT};
	static const uint8_t status[] = {
		NDSH_WC_LOC_QP_OP_ERR, NDSH_WC_LOC_LEN_ERR, NDSH_WC_LOC_PROT_ERR};

	for (enum mistake m = 0; m < MISTAKES; m++) {
		struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU});
		struct pair *p = w.p;
		struct roce_qp *qp = p->side[0].q[0].qp;
		struct first sent = {.n = 0};

		ud_world_start(&w);
		p->tap = keep_psn;
		p->tap_ctx = &sent;
		ud_send(&w, 0, 1, 8);
		make_mistake(&w, m);
		ud_send(&w, 0, 2, 8);
		cr_assert(pair_run(p, PAIR_LONG));
		(void)pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
		cr_assert_eq(pair_expect(p, 0, 100, status[m]).syndrome, reasons[m]);
		cr_assert_eq(pair_expect(p, 0, 2, NDSH_WC_FLUSH_ERR).syndrome, reasons[m]);
		expect_reported(&w, reasons[m], roce_psn_add(sent.psn[0], 1));
		cr_assert_eq(roce_ud_modify(p->side[0].shard, qp, p->now_ns, UD_Q_KEY),
			ROCE_UD_MODIFIED);
		cr_assert_eq(roce_qp_reason(qp), ROCE_REASON_NONE);
		ud_send(&w, 0, 3, 8);
		cr_assert(pair_run(p, PAIR_LONG));
		(void)pair_expect(p, 0, 3, NDSH_WC_SUCCESS);
		cr_assert_eq(sent.psn[1], roce_psn_add(sent.psn[0], 1));
		pair_free(p);
	}
}

/* checks W-ERR-02: a deep ring is flushed in portions, all of it before anything is sent. */
Test(ud_states, a_restart_flushes_in_portions)
{
	enum { DEPTH = 4096, AT_ONCE = 256 };
	struct ud_world w = ud_world_new(
		&(struct pair_opts){.mtu = UD_MTU, .sq_depth = DEPTH, .cq_depth = 2 * DEPTH});
	struct pair *p = w.p;
	struct roce_qp *qp = p->side[0].q[0].qp;
	struct roce_shard *s = p->side[0].shard;
	enum roce_ud_modify result;
	unsigned calls = 0;

	ud_world_start(&w);
	make_mistake(&w, BAD_HANDLE);
	cr_assert(pair_run(p, PAIR_LONG));
	(void)pair_expect(p, 0, 100, NDSH_WC_LOC_QP_OP_ERR);
	for (uint64_t i = 0; i < DEPTH; i++)
		ud_send(&w, 0, i, 8);
	do {
		uint32_t before = page_of(&w)->sq_done;

		cr_assert_eq(roce_qp_state_get(qp), ROCE_QPS_UD_SQE);
		result = roce_ud_modify(s, qp, p->now_ns, UD_Q_KEY);
		cr_assert_leq(page_of(&w)->sq_done - before, AT_ONCE);
		calls++;
	} while (result == ROCE_UD_FLUSHING);
	cr_assert_eq(result, ROCE_UD_MODIFIED);
	cr_assert_eq(calls, DEPTH / AT_ONCE);
	cr_assert_eq(page_of(&w)->sq_done, 1 + DEPTH);
	ud_send(&w, 0, DEPTH, 8);
	cr_assert(pair_run(p, PAIR_LONG));
	for (uint64_t i = 0; i < DEPTH; i++)
		(void)pair_expect(p, 0, i, NDSH_WC_FLUSH_ERR);
	(void)pair_expect(p, 0, DEPTH, NDSH_WC_SUCCESS);
	cr_assert_eq(p->sent[0], 1);
	pair_free(p);
}

/* A client that posts for each request that is flushed does not keep its queue pair from going on.
 */
Test(ud_states, a_restart_ends_while_the_client_posts)
{
	enum { DEPTH = 1024, AT_ONCE = 256 };
	struct ud_world w = ud_world_new(
		&(struct pair_opts){.mtu = UD_MTU, .sq_depth = DEPTH, .cq_depth = 8 * DEPTH});
	struct pair *p = w.p;
	struct roce_qp *qp = p->side[0].q[0].qp;
	uint64_t posted = 0;
	unsigned calls = 1;

	ud_world_start(&w);
	make_mistake(&w, BAD_HANDLE);
	cr_assert(pair_run(p, PAIR_LONG));
	for (; posted < DEPTH; posted++)
		ud_send(&w, 0, posted, 8);
	for (; roce_ud_modify(p->side[0].shard, qp, p->now_ns, UD_Q_KEY) == ROCE_UD_FLUSHING;
		calls++)
		for (unsigned i = 0; i < AT_ONCE; i++)
			ud_send(&w, 0, posted++, 8);
	cr_assert_eq(calls, DEPTH / AT_ONCE);
	cr_assert_eq(roce_qp_state_get(qp), ROCE_QPS_UD_RTS);
	pair_free(p);
}

/* A client whose ring is full of requests that are flushed has room as soon as the send side goes
 * on. */
Test(ud_states, a_full_ring_has_room_after_the_restart)
{
	const uint32_t depth = 16;
	struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU, .sq_depth = depth});
	struct pair *p = w.p;

	ud_world_start(&w);
	make_mistake(&w, BAD_HANDLE);
	cr_assert(pair_run(p, PAIR_LONG));
	(void)pair_expect(p, 0, 100, NDSH_WC_LOC_QP_OP_ERR);
	for (uint64_t i = 0; i < depth; i++)
		ud_send(&w, 0, i, 8);
	cr_assert_eq(page_of(&w)->sq_done, 1);
	cr_assert_eq(roce_ud_modify(p->side[0].shard, p->side[0].q[0].qp, p->now_ns, UD_Q_KEY),
		ROCE_UD_MODIFIED);
	cr_assert_eq(page_of(&w)->sq_done, 1 + depth);
	cr_assert(pair_run(p, PAIR_LONG));
	for (uint64_t i = 0; i < depth; i++)
		(void)pair_expect(p, 0, i, NDSH_WC_FLUSH_ERR);
	cr_assert_eq(p->sent[0], 0);
	pair_free(p);
}

/* ---- RESET ---- */

static void
want_reset(struct pair *p, unsigned side)
{
	struct roce_qp *qp = p->side[side].q[0].qp;

	cr_assert(roce_ud_reset(p->side[side].shard, qp, p->now_ns));
	cr_assert_eq(roce_qp_state_get(qp), ROCE_QPS_UD_RTS);
	cr_assert_eq(roce_qp_reason(qp), ROCE_REASON_NONE);
}

/* checks W-QP-01: from each of its states; what was posted vanishes without an entry, and what is
 * posted then is sent and received, with the Q_Key that it had. */
Test(ud_states, W_QP_01_reset)
{
	static const enum roce_qp_state from[] = {ROCE_QPS_UD_RTS, ROCE_QPS_UD_SQE, ROCE_QPS_ERR};

	for (unsigned i = 0; i < 3; i++) {
		struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU});
		struct pair *p = w.p;
		struct roce_qp *qp = p->side[0].q[0].qp;

		ud_world_start(&w);
		if (from[i] == ROCE_QPS_UD_SQE) {
			make_mistake(&w, BAD_HANDLE);
			cr_assert(pair_run(p, PAIR_LONG));
			(void)pair_expect(p, 0, 100, NDSH_WC_LOC_QP_OP_ERR);
		} else if (from[i] == ROCE_QPS_ERR) {
			roce_qp_modify(p->side[0].shard, qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
		}
		cr_assert_eq(roce_qp_state_get(qp), from[i]);
		ud_send(&w, 0, 1, 8);
		pair_recv(p, 1, 0, 7, UD_TARGET, 4096);
		want_reset(p, 0);
		want_reset(p, 1);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect_none(p, 0);
		pair_expect_none(p, 1);
		cr_assert_eq(p->sent[0], 0);
		ud_fill(&w, 200);
		pair_recv(p, 1, 0, 8, UD_TARGET, 4096);
		ud_send(&w, 0, 2, 200);
		cr_assert(pair_run(p, PAIR_LONG));
		(void)pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
		(void)ud_arrived(&w, 8, 200);
		pair_free(p);
	}
}

Test(ud_states, a_connection_is_not_reset_as_one_of_datagrams)
{
	struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU});
	struct roce_qp *qp = w.p->side[0].q[0].qp;
	enum roce_qp_state before = roce_qp_state_get(qp);

	cr_assert_not(roce_ud_reset(w.p->side[0].shard, qp, w.p->now_ns));
	cr_assert_eq(roce_qp_state_get(qp), before);
	pair_free(w.p);
}
