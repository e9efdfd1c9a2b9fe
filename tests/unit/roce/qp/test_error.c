/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a queue pair: which reason counts, and what becomes of what is in flight. */
#include <criterion/criterion.h>

#include "rigs/faults.h"
#include "rigs/scripted_peer.h"
#include "roce/mem/mover.h"
#include "roce/qp/error.h"
#include "roce/qp/qp.h"
#include "roce/shard/pool.h"

/* The first reason counts, and is told once; the host's own wish is not told. */
Test(qp_error, the_first_reason_counts)
{
	for (unsigned wish = 0; wish < 2; wish++) {
		struct pair *p = pair_new(&(struct pair_opts){0});
		struct roce_shard *s = p->side[0].shard;
		struct roce_qp *qp = p->side[0].q[0].qp;

		if (wish)
			roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
		else
			roce_qp_error(s, qp, ROCE_REASON_CLIENT_BREACH, 0);
		roce_qp_error(s, qp, ROCE_REASON_CQ_FATAL, 0);
		roce_qp_error(s, qp, ROCE_REASON_CLIENT_BREACH, 0);
		pair_run(p, 1000000);
		cr_expect_eq(
			roce_qp_reason(qp), wish ? ROCE_REASON_MODIFY : ROCE_REASON_CLIENT_BREACH);
		cr_expect_eq(s->count.client_breaches, !wish);
		cr_expect_eq((p->side[0].events >> ROCE_EV_QP_ERROR & 1), !wish);
		cr_expect_eq((p->side[0].events >> ROCE_EV_CLIENT_BREACH & 1), !wish);
		pair_free(p);
	}
}

/*
 * checks W-ERR-01[2,3]: the request that fails says why, those before and behind it are flushed,
 * and all of them complete in order.
 */
Test(qp_error, W_ERR_01_a_request_fails_among_others)
{
	for (unsigned at = 0; at < 4; at++) {
		struct pair *p = pair_new(&(struct pair_opts){0});
		struct roce_shard *s = p->side[0].shard;
		struct roce_qp *qp = p->side[0].q[0].qp;
		unsigned mute = 0;
		struct roce_wqe *w;

		p->tap = fault_tap_mute;
		p->tap_ctx = &mute;
		for (unsigned i = 0; i < 4; i++)
			pair_write(p, 0, 0, i, 0, 0, 8, NDSH_WRF_SILENT);
		pair_turn(p, 0);
		w = qp->wq_head;
		for (unsigned i = 0; i < at; i++)
			w = w->next;
		cr_assert_eq(w->context, at);
		roce_qp_fail_wqe(
			s, qp, w, NDSH_WC_REM_ACCESS_ERR, ROCE_REASON_NAK_REM_ACCESS, 0x62);
		cr_expect_eq(s->count.requests_failed, 1);
		pair_turn(p, 0);
		for (unsigned i = 0; i < 4; i++) {
			struct ndsh_cqe c = pair_expect(
				p, 0, i, i == at ? NDSH_WC_REM_ACCESS_ERR : NDSH_WC_FLUSH_ERR);

			cr_expect_eq(c.syndrome, i == at ? 0x62 : ROCE_REASON_NAK_REM_ACCESS);
		}
		pair_expect_none(p, 0);
		pair_run(p, 1000000);
		pair_free(p);
	}
}

/* What is stopped vanishes: no completion, nothing to send, no timer, and the pool is whole. */
Test(qp_error, what_is_stopped_vanishes)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_shard *s = p->side[0].shard;
	struct roce_qp *qp = p->side[0].q[0].qp;
	unsigned mute = 0;

	p->tap = fault_tap_mute;
	p->tap_ctx = &mute;
	for (unsigned i = 0; i < 8; i++)
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
	pair_turn(p, 0);
	cr_assert_eq(roce_wqes_in_use(s), 8);
	cr_assert(base_linked(&qp->timer_link));
	roce_qp_stop(s, qp);
	cr_expect_eq(roce_wqes_in_use(s), 0);
	cr_expect_null(qp->wq_head);
	cr_expect_not(base_linked(&qp->timer_link));
	cr_expect_not(base_linked(&qp->tx_link));
	cr_expect_not(base_linked(&qp->ack_link));
	pair_expect_none(p, 0);
	roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_ERR, 0, NULL);
	pair_free(p);
}

/* Side 1 takes this packet, and has not sent anything yet. */
static void
hear(struct pair *p, const struct roce_pkt *pkt)
{
	static const uint8_t payload[PEER_MTU];
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce_qp_attr a;
	struct roce_pkt got;

	pair_attr(p, 0, 0, &a);
	cr_assert_eq(roce_wire_parse(frame, pair_build(frame, &a.path, pkt, payload), &got),
		ROCE_WIRE_OK);
	pair_rx(p, 1, &got);
}

static void
hear_plain(struct pair *p, uint8_t opcode, uint32_t psn, uint32_t bytes)
{
	struct roce_pkt pkt = peer_packet(p, opcode, psn, bytes);

	hear(p, &pkt);
}

static void
fail_side_1(struct pair *p)
{
	cr_assert_eq(roce_qp_modify(p->side[1].shard, p->side[1].q[0].qp, p->now_ns, ROCE_QPS_ERR,
			     0, NULL),
		ROCE_MODIFY_OK);
}

/* What is owed to the peer when the queue pair ends: requests that were executed are acknowledged,
 * so that a peer which closes the connection knows of them; nothing else leaves. */
Test(qp_error, executed_requests_are_acknowledged_and_nothing_else_is_said)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);

	hear_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	fail_side_1(p);
	peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN);
	hear_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 1, 8);
	peer_silent(p, &t, 1);
	pair_free(p);

	p = peer_new(&t); /* a gap */
	hear_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 1, 8);
	fail_side_1(p);
	peer_silent(p, &t, 0);
	pair_free(p);

	p = peer_new(&t); /* no receive */
	hear_plain(p, ROCE_SEND_ONLY, PEER_PSN, 8);
	fail_side_1(p);
	peer_silent(p, &t, 0);
	pair_free(p);

	p = peer_new(&t); /* an ACK would be one of the READ before it, too */
	{
		struct roce_pkt read = peer_read_request(p, PEER_PSN, 0, 8);

		hear(p, &read);
	}
	hear_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 1, 8);
	fail_side_1(p);
	peer_silent(p, &t, 0);
	pair_free(p);
}

/* The same when its mover makes progress later. */
Test(qp_error, silent_though_its_memory_is_moved_on)
{
	struct peer_tape t;
	struct pair *p = peer_with(&t, (struct pair_opts){.moved = true});
	struct roce_pkt write = peer_packet(p, ROCE_WRITE_ONLY, PEER_PSN, 8);

	write.va = (uintptr_t)p->side[1].moved;
	write.rkey = p->side[1].moved_key;
	p->side[1].stalled = true;
	hear(p, &write);
	hear_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 2, 8);
	fail_side_1(p);
	peer_silent(p, &t, 0);
	p->side[1].stalled = false;
	for (unsigned i = 0; i < 4; i++)
		peer_silent(p, &t, 0);
	pair_free(p);
}

/* The slots of a mover are for all queue pairs of its client: atomics of one that ended, which the
 * client has not executed yet, keep none. */
Test(qp_error, atomics_that_wait_for_the_client_are_given_up)
{
	const uint32_t rights = NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_REMOTE_ATOMIC;
	struct peer_tape t;
	struct pair *p = peer_with(&t, (struct pair_opts){.moved = true,
					       .access = rights,
					       .mr_access = rights | NDSH_ACCESS_LOCAL_WRITE});
	struct roce_pkt add = peer_packet(p, ROCE_FETCH_ADD, PEER_PSN, 0);

	add.va = (uintptr_t)p->side[1].moved;
	add.rkey = p->side[1].moved_key;
	p->side[1].stalled = true;
	hear(p, &add);
	cr_assert_eq(p->side[1].mover->slots, NDSH_MOVER_SLOTS - 1);
	fail_side_1(p);
	cr_expect_eq(p->side[1].mover->slots, NDSH_MOVER_SLOTS);
	p->side[1].stalled = false;
	for (unsigned i = 0; i < 4; i++)
		peer_silent(p, &t, 0);
	pair_free(p);
}

/* The host's own wish is no error that has a syndrome. */
Test(qp_error, the_last_receive_tells_why)
{
	struct pair *p = pair_new(&(struct pair_opts){.srq_depth = 16});

	fail_side_1(p);
	pair_turn(p, 1);
	cr_assert_eq(p->side[1].last_event.type, ROCE_EV_LAST_WQE);
	cr_expect_eq(p->side[1].last_event.reason, ROCE_REASON_MODIFY);
	cr_expect_eq(p->side[1].last_event.syndrome, 0);
	pair_free(p);
}

/* ... of half a message that was arriving as well. */
Test(qp_error, a_stopped_message_leaves_its_receive)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct roce_shard *s = p->side[1].shard;
	struct roce_qp *qp = p->side[1].q[0].qp;

	pair_recv(p, 1, 0, 1, 0, 4 * PEER_MTU);
	hear_plain(p, ROCE_SEND_FIRST, PEER_PSN, PEER_MTU);
	cr_assert_eq(roce_wqes_in_use(s), 1);
	roce_qp_stop(s, qp);
	cr_expect_eq(roce_wqes_in_use(s), 0);
	fail_side_1(p);
	pair_turn(p, 1);
	cr_expect_eq(roce_wqes_in_use(s), 0);
	pair_expect_none(p, 1);
	pair_free(p);
}
