/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a request sends its datagram: the handle that it names, and the number. */
#include <criterion/criterion.h>

#include "rigs/ud_world.h"

static void
post_to(struct ud_world *w, uint64_t context, uint32_t qpn)
{
	struct ndsh_sge sge = pair_sge(w->p, 0, 0, 8);

	pair_post(w->p, 0, 0,
		&(struct ndsh_swr){.context = context,
			.rkey = UD_AH,
			.raddr = NDSH_UD_RADDR(qpn, UD_Q_KEY),
			.ctrl = NDSH_CTRL(NDSH_OP_SEND, 1, 0, 0)},
		&sge, NULL);
}

/* The table ends before the memory that it is in: what lies behind its end is no handle. */
Test(ud_handles, one_beyond_the_table_is_none)
{
	for (uint32_t more = 0; more < 2; more++) {
		struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU});

		ud_world_start(&w);
		w.table[0].count = UD_AH % UD_AHS + more;
		ud_send(&w, 0, 1, 8);
		cr_assert(pair_run(w.p, PAIR_LONG));
		(void)pair_expect(w.p, 0, 1, more ? NDSH_WC_SUCCESS : NDSH_WC_LOC_QP_OP_ERR);
		cr_assert_eq(w.p->sent[0], more);
		pair_free(w.p);
	}
}

static unsigned
no_congestion(
	struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	(void)p;
	(void)from;
	(void)late_ns;
	(void)ctx;
	cr_assert_not(pkt->fecn || pkt->becn);
	return 1;
}

/* A number has 24 bits; a client may write more, and they are no part of what leaves. */
Test(ud_handles, what_stands_above_a_number)
{
	struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU});
	uint32_t qpn = roce_qp_num(w.p->side[1].q[0].qp);

	ud_world_start(&w);
	w.p->tap = no_congestion;
	for (uint32_t bit = 24; bit < 32; bit++) {
		pair_recv(w.p, 1, 0, bit, UD_TARGET, 4096);
		post_to(&w, bit, qpn | 1u << bit);
		cr_assert(pair_run(w.p, PAIR_LONG));
		(void)pair_expect(w.p, 0, bit, NDSH_WC_SUCCESS);
		(void)ud_arrived(&w, bit, 8);
	}
	pair_free(w.p);
}

/* checks W-MC-06[3]: however the number of all queue pairs is written, it is for groups alone. */
Test(ud_handles, W_MC_06_no_way_around_the_number_of_groups)
{
	for (uint32_t bit = 24; bit < 32; bit++) {
		struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU});

		ud_world_start(&w);
		post_to(&w, 1, ROCE_QPN_MULTICAST | 1u << bit);
		cr_assert(pair_run(w.p, PAIR_LONG));
		(void)pair_expect(w.p, 0, 1, NDSH_WC_LOC_QP_OP_ERR);
		cr_assert_eq(w.p->sent[0], 0);
		pair_free(w.p);
	}
}
