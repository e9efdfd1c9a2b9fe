/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that come twice: what is answered again, and that nothing is executed again. */
#include <criterion/criterion.h>

#include "rigs/overheard.h"
#include "rigs/scripted_peer.h"

/* checks W-AETH-01 */
Test(duplicate, W_DUP_01_a_duplicate_is_acknowledged_and_not_executed)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct ndsh_cqe c;

	pair_recv(p, 1, 0, 1, 0, 64);
	pair_recv(p, 1, 0, 2, 0, 64);
	peer_say_plain(p, ROCE_SEND_ONLY, PEER_PSN, 8);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 1, 8);
	peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN + 1);
	p->side[1].arena[0] = 0x77;
	peer_say_plain(p, ROCE_SEND_ONLY, PEER_PSN, 8);
	peer_heard(p, &t, 2, ROCE_SYN_ACK, PEER_PSN + 1);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 1, 8);
	peer_heard(p, &t, 3, ROCE_SYN_ACK, PEER_PSN + 1);
	cr_assert_eq(t.said[2].msn, 2);
	cr_assert_eq(p->side[1].arena[0], 0x77);
	cr_assert(pair_poll(p, 1, &c));
	cr_assert_not(pair_poll(p, 1, &c));
	pair_free(p);
}

/* The duplicate of a message before a READ: what may be said of it is older than the ACK that is
 * owed for the message behind the READ, and does not take its place. checks W-ACK-02 */
Test(duplicate, W_DUP_02_an_older_acknowledgement_leaves_a_newer_one)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt r = peer_packet(p, ROCE_READ_REQUEST, PEER_PSN + 1, 0);

	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN);
	r.dma_bytes = 8;
	peer_say(p, &r);
	pair_turn(p, 1);
	cr_assert_eq(t.n, 2);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 2, 8);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	peer_heard(p, &t, 3, ROCE_SYN_ACK, PEER_PSN + 2);
	pair_free(p);
}

Test(duplicate, W_DUP_02_a_duplicate_before_a_read_does_not_acknowledge_it)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt r = peer_read_request(p, PEER_PSN + 1, 0, 2 * PEER_MTU);

	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	peer_say(p, &r);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 3, 8);
	peer_heard(p, &t, 3, ROCE_SYN_ACK, PEER_PSN + 3);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	peer_heard(p, &t, 4, ROCE_SYN_ACK, PEER_PSN);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 3, 8);
	peer_heard(p, &t, 5, ROCE_SYN_ACK, PEER_PSN + 3);
	pair_free(p);
}

Test(duplicate, W_DUP_03_W_DUP_04_read_replay)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt r = peer_read_request(p, PEER_PSN, 64, 3 * PEER_MTU);

	peer_say(p, &r);
	peer_silent(p, &t, 3);
	r = peer_read_request(p, PEER_PSN + 1, 64 + PEER_MTU, 2 * PEER_MTU);
	peer_say(p, &r);
	peer_silent(p, &t, 5);
	cr_assert_eq(t.said[3].opcode, ROCE_READ_RESP_FIRST);
	cr_assert_eq(t.said[3].psn, PEER_PSN + 1);
	cr_assert_eq(t.said[4].opcode, ROCE_READ_RESP_LAST);
	r = peer_read_request(p, PEER_PSN + 2, 64 + 2 * PEER_MTU, PEER_MTU);
	peer_say(p, &r);
	peer_silent(p, &t, 6);
	cr_assert_eq(t.said[5].opcode, ROCE_READ_RESP_ONLY);
	/* Another end, another start, another key: no answer, no harm (W-DUP-07). */
	r.dma_bytes -= 1;
	peer_say(p, &r);
	r = peer_read_request(p, PEER_PSN + 2, 65 + 2 * PEER_MTU, PEER_MTU);
	peer_say(p, &r);
	r = peer_read_request(p, PEER_PSN + 2, 64 + 2 * PEER_MTU, PEER_MTU);
	r.rkey ^= 1;
	peer_say(p, &r);
	peer_silent(p, &t, 6);
	cr_assert_eq(roce_qp_state_get(p->side[1].q[0].qp), ROCE_QPS_RTS);
	pair_free(p);
}

Test(duplicate, W_DUP_07_a_replay_of_a_dead_region_is_silence)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct roce_pkt r = peer_read_request(p, PEER_PSN, 0, PEER_MTU);

	peer_say(p, &r);
	peer_silent(p, &t, 1);
	roce_mr_deregister(p->side[1].shard, p->side[1].mr);
	p->side[1].mr = NULL;
	peer_say(p, &r);
	peer_silent(p, &t, 1);
	cr_assert_eq(roce_qp_state_get(p->side[1].q[0].qp), ROCE_QPS_RTS);
	pair_free(p);
}

/* No peer that keeps the rules asks so: half of it was never asked before. */
Test(duplicate, W_DUP_08_a_duplicate_that_reaches_into_the_future)
{
	struct ear e;
	struct pair *p = ear_pair(&e, (struct pair_opts){0});
	struct roce_pkt pkt = ear_request(p, ROCE_WRITE_ONLY, EAR_PSN, 8);
	unsigned said;

	pair_inject(p, 1, 0, &pkt, "12345678");
	pkt = ear_request(p, ROCE_READ_REQUEST, EAR_PSN + 1, 2 * EAR_MTU);
	pair_inject(p, 1, 0, &pkt, NULL);
	pair_turn(p, 1);
	said = e.n;
	pkt = ear_request(
		p, ROCE_READ_REQUEST, EAR_PSN, 3 * EAR_MTU); /* begins where a WRITE was */
	pair_inject(p, 1, 0, &pkt, NULL);
	pkt = ear_request(
		p, ROCE_READ_REQUEST, EAR_PSN + 1, 3 * EAR_MTU); /* ends behind what was asked */
	pair_inject(p, 1, 0, &pkt, NULL);
	pkt = ear_request(
		p, ROCE_READ_REQUEST, EAR_PSN + 2, 2 * EAR_MTU); /* the same, from its second one */
	pkt.va += EAR_MTU;
	pair_inject(p, 1, 0, &pkt, NULL);
	pair_turn(p, 1);
	cr_assert_eq(pair_count(p, 1)->rx_duplicate, 3);
	cr_assert_eq(e.n, said);
	pair_expect_alive(p, 1, 0);
	pkt = ear_request(p, ROCE_WRITE_ONLY, EAR_PSN + 3, 8); /* what was expected still is */
	pair_inject(p, 1, 0, &pkt, "abcdefgh");
	pair_turn(p, 1);
	cr_assert_eq(p->side[1].arena[0], 'a');
	pair_free(p);
}
