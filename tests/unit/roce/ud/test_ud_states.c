/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of a datagram queue pair: how it begins, and how its send side fails and goes on. */
#include <criterion/criterion.h>

#include "rigs/ud_world.h"
#include "roce/queue/send_ring.h"

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
		cr_assert(change ? roce_ud_modify(s, qp, now_ns, 0x111)
				 : roce_ud_start(s, qp, now_ns, &cfg));
		cr_assert(polled_at(&w, now_ns + ROCE_SEND_RING_IDLE_NS - 1));
		cr_assert_not(polled_at(&w, now_ns + ROCE_SEND_RING_IDLE_NS));
	}
	pair_free(w.p);
}
