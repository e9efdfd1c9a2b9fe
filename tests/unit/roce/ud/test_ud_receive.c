/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams that are received: what is counted, and what a client's own mistakes lead to. */
#include <criterion/criterion.h>

#include "rigs/ud_world.h"

/* What the host counts of one that arrives. */
Test(ud_receive, is_counted)
{
	struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU});

	ud_world_start(&w);
	for (uint64_t i = 0; i < 3; i++) {
		pair_recv(w.p, 1, 0, i, UD_TARGET, 4096);
		ud_send(&w, 0, i, 100);
		cr_assert(pair_run(w.p, PAIR_LONG));
		(void)ud_arrived(&w, i, 100);
	}
	cr_assert_eq(ud_count(&w, 1)->receives_completed, 3);
	cr_assert_eq(ud_count(&w, 1)->rx_packets, 3);
	cr_assert_eq(ud_count(&w, 1)->rx_bytes, 300);
	pair_free(w.p);
}

/* Each SGE of a receive must open the client's memory: that of the header as well as that of the
 * payload. The completion says why the queue pair ends, as its event does. */
Test(ud_receive, each_sge_is_judged)
{
	for (unsigned bad = 0; bad < 2; bad++) {
		struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU});
		struct pair *p = w.p;
		struct ndsh_sge sge[2];

		ud_world_start(&w);
		sge[0] = pair_sge(p, 1, UD_TARGET, UD_GRH);
		sge[1] = pair_sge(p, 1, UD_TARGET + UD_GRH, 100);
		sge[bad].key ^= 1;
		ndsh_rq_push(&p->side[1].q[0].rq, 1, sge, 2);
		ud_send(&w, 0, 2, 100);
		cr_assert(pair_run(p, PAIR_LONG));
		cr_assert_eq(
			pair_expect(p, 1, 1, NDSH_WC_LOC_PROT_ERR).syndrome, ROCE_REASON_RECV_PROT);
		pair_expect_dead(p, 1, 0, ROCE_REASON_RECV_PROT);
		cr_assert_eq(p->side[1].last_event.syndrome, 0, "no answer of a peer");
		pair_free(p);
	}
}

/* A receive that no client may write ends the queue pair: there is no datagram to judge it by. */
Test(ud_receive, one_that_breaks_the_contract)
{
	struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU});
	struct pair *p = w.p;

	ud_world_start(&w);
	pair_recv(p, 1, 0, 1, UD_TARGET, 4096);
	p->side[1].q[0].rq.ring[0].ctrl |= NDSH_CTRL(NDSH_OP_WRITE, 0, 0, 0);
	ud_send(&w, 0, 2, 8);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect_dead(p, 1, 0, ROCE_REASON_CLIENT_BREACH);
	cr_assert_eq(p->side[1].last_event.syndrome, 0, "no answer of a peer");
	cr_assert_eq(ud_count(&w, 1)->client_breaches, 1);
	cr_assert_eq(ud_count(&w, 1)->rx_datagram_no_receive, 0);
	pair_free(p);
}

static void
expect_wrong_class(struct ud_world *w, uint64_t times)
{
	const struct roce_pkt pkt = {.opcode = ROCE_UD_SEND_ONLY,
		.pkey = ROCE_PKEY_DEFAULT,
		.qpn = roce_qp_num(w->p->side[1].q[0].qp),
		.qkey = UD_Q_KEY,
		.src_qpn = 5};

	pair_inject(w->p, 1, 0, &pkt, NULL);
	cr_assert(pair_run(w->p, PAIR_LONG));
	cr_assert_eq(ud_count(w, 1)->rx_wrong_class, times);
}

/* checks W-PKT-10[1]: a queue pair of connections takes no datagram, in whatever state it is. */
Test(ud_receive, W_PKT_10_a_connection_takes_none_in_any_state)
{
	struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU});
	struct roce_shard *s = w.p->side[1].shard;
	struct roce_qp *qp = w.p->side[1].q[0].qp;
	struct roce_qp_attr attr;

	pair_attr(w.p, 1, 0, &attr);
	expect_wrong_class(&w, 1);
	cr_assert_eq(roce_qp_modify(s, qp, w.p->now_ns, ROCE_QPS_SQD, 0, &attr), ROCE_MODIFY_OK);
	expect_wrong_class(&w, 2);
	cr_assert_eq(roce_qp_modify(s, qp, w.p->now_ns, ROCE_QPS_RESET, 0, &attr), ROCE_MODIFY_OK);
	expect_wrong_class(&w, 3);
	cr_assert_eq(roce_qp_modify(s, qp, w.p->now_ns, ROCE_QPS_INIT, ROCE_QPA_ACCESS, &attr),
		ROCE_MODIFY_OK);
	expect_wrong_class(&w, 4);
	pair_expect_none(w.p, 1);
	pair_free(w.p);
}
