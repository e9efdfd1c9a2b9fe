/* SPDX-License-Identifier: BSD-3-Clause */
/* The READs of one queue pair are nothing to the others, whose replay slots lie beside its own. */
#include <criterion/criterion.h>

#include "rigs/scripted_peer.h"

#define QPS	 3u
#define IN_MIDST 1u /* it has a neighbour on either side, whichever way they lie */

static struct pair *
three(struct peer_tape *t)
{
	return peer_with(t, (struct pair_opts){.qps = QPS, .max_dest_rd = 1});
}

/* A request of the peer of queue pair i. */
static void
say_to(struct pair *p, unsigned i, uint8_t opcode, uint32_t psn)
{
	static const uint8_t payload[8];
	struct roce_pkt pkt = peer_packet(p, opcode, psn, opcode == ROCE_READ_REQUEST ? 0 : 8);

	pkt.qpn = roce_qp_num(p->side[1].q[i].qp);
	pkt.dma_bytes = 8;
	pair_inject(p, 1, i, &pkt, payload);
}

/* ... of each of its neighbours. */
static void
say_around(struct pair *p, uint8_t opcode, uint32_t psn)
{
	for (unsigned i = 0; i < QPS; i++)
		if (i != IN_MIDST)
			say_to(p, i, opcode, psn);
}

/* checks W-DUP-01[2], W-DUP-02[1] */
Test(neighbours, W_DUP_02_their_reads_hold_no_ack_back)
{
	struct peer_tape t;
	struct pair *p = three(&t);

	say_around(p, ROCE_WRITE_ONLY, PEER_PSN);
	say_around(p, ROCE_WRITE_ONLY, PEER_PSN + 1);
	say_around(p, ROCE_READ_REQUEST, PEER_PSN + 2);
	say_to(p, IN_MIDST, ROCE_READ_REQUEST, PEER_PSN);
	for (uint32_t k = 1; k <= 3; k++)
		say_to(p, IN_MIDST, ROCE_WRITE_ONLY, PEER_PSN + k);
	pair_turn(p, 1);
	t.n = 0;
	say_to(p, IN_MIDST, ROCE_WRITE_ONLY, PEER_PSN + 1);
	peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN + 3);
	pair_free(p);
}

/* checks W-RESP-07[4]: one that is answered again, and a new one, are not more than agreed, however
 * many the others have. */
Test(neighbours, W_RESP_07_their_reads_do_not_count)
{
	struct peer_tape t;
	struct pair *p = three(&t);

	say_to(p, IN_MIDST, ROCE_READ_REQUEST, PEER_PSN);
	peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN);
	say_around(p, ROCE_READ_REQUEST, PEER_PSN);
	say_to(p, IN_MIDST, ROCE_READ_REQUEST, PEER_PSN);
	say_to(p, IN_MIDST, ROCE_READ_REQUEST, PEER_PSN + 1);
	peer_silent(p, &t, 1 + QPS + 1);
	for (unsigned i = 0; i < t.n; i++)
		cr_assert_eq(t.said[i].opcode, ROCE_READ_RESP_ONLY);
	for (unsigned i = 0; i < QPS; i++)
		pair_expect_alive(p, 1, i);
	pair_free(p);
}
