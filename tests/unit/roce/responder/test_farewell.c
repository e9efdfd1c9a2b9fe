/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue pair that is reset or destroyed between the peer's last request and the turn in which it
 * would have been acknowledged: its peer hears of it. "An executed SEND or WRITE with AckReq = 1
 * requires an ACK with a PSN >= its own, soon" (W-ACK-01[1]).
 */
#include <criterion/criterion.h>

#include "rigs/scripted_peer.h"
#include "roce/responder/farewell.h"

#define RIGHTS (NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE)

static void
reset(struct pair *p, unsigned i)
{
	cr_assert_eq(roce_qp_modify(p->side[1].shard, p->side[1].q[i].qp, p->now_ns, ROCE_QPS_RESET,
			     0, NULL),
		ROCE_MODIFY_OK);
}

static void
destroy(struct pair *p, unsigned i)
{
	cr_assert(roce_qp_destroy(p->side[1].shard, p->side[1].q[i].qp));
	p->side[1].q[i].qp = NULL;
}

static void (*const ends[])(struct pair *p, unsigned i) = {reset, destroy};
#define ENDS (sizeof(ends) / sizeof(ends[0]))

/* In the turn in which the peer's last frames arrive, before anything leaves. */
static void
end(struct pair *p, unsigned how, unsigned i)
{
	(void)pair_deliver(p, 1);
	ends[how](p, i);
}

/* Once, and nothing else. */
static void
heard_once(struct pair *p, struct peer_tape *t, uint8_t syndrome, uint32_t ahead)
{
	cr_assert(roce_shard_tx_pending(p->side[1].shard, p->now_ns));
	peer_heard(p, t, 1, syndrome, PEER_PSN + ahead);
	cr_assert_eq(t->said[0].opcode, ROCE_ACK);
	cr_assert_not(roce_shard_tx_pending(p->side[1].shard, p->now_ns));
	peer_silent(p, t, 1);
}

/* checks W-ACK-01[1], [2] */
Test(farewell, W_ACK_01_of_what_was_executed)
{
	for (unsigned i = 0; i < ENDS; i++) {
		struct peer_tape t;
		struct pair *p = peer_new(&t);

		peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
		peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 1, 8);
		end(p, i, 0);
		heard_once(p, &t, ROCE_SYN_ACK, 1);
		cr_assert_eq(t.said[0].msn, 2);
		pair_free(p);
	}
}

/* checks W-ACK-01[2]: a refusal too, so that the peer has the reason instead of a timeout. */
Test(farewell, W_ACK_01_of_what_was_refused)
{
	for (unsigned i = 0; i < ENDS; i++) {
		struct peer_tape t;
		struct pair *p = peer_new(&t);
		struct roce_pkt w = peer_packet(p, ROCE_WRITE_ONLY, PEER_PSN, 8);

		w.rkey ^= 1;
		peer_say(p, &w);
		end(p, i, 0);
		heard_once(p, &t, ROCE_SYN_NAK_REM_ACCESS, 0);
		pair_free(p);
	}
}

static struct pair *
with_moved(struct peer_tape *t)
{
	struct pair *p = peer_with(t, (struct pair_opts){.moved = true,
					      .access = RIGHTS,
					      .mr_access = RIGHTS | NDSH_ACCESS_LOCAL_WRITE});

	p->side[1].stalled = true;
	for (uint32_t i = 0; i < 3; i++) {
		struct roce_pkt w = peer_packet(p, ROCE_WRITE_ONLY, PEER_PSN + i, 8);

		w.va = (uintptr_t)p->side[1].moved;
		w.rkey = p->side[1].moved_key;
		peer_say(p, &w);
	}
	pair_turn(p, 1);
	peer_silent(p, t, 0);
	return p;
}

/* The client brought everything to its place, and closed, before the lcore looked again.
 * checks W-ACK-01[1], [2] */
Test(farewell, W_ACK_01_of_what_the_client_has_placed)
{
	for (unsigned i = 0; i < ENDS; i++) {
		struct peer_tape t;
		struct pair *p = with_moved(&t);

		cr_assert_eq(pair_client_moves(p, 1, 3), 3);
		end(p, i, 0);
		heard_once(p, &t, ROCE_SYN_ACK, 2);
		pair_free(p);
	}
}

/* It closed although something was not placed yet: that is not acknowledged. checks W-RESP-14 */
Test(farewell, W_RESP_14_not_of_what_is_not_placed)
{
	for (unsigned i = 0; i < ENDS; i++) {
		struct peer_tape t;
		struct pair *p = with_moved(&t);

		end(p, i, 0);
		pair_turn(p, 1);
		peer_silent(p, &t, 0);
		pair_free(p);
	}
}

/* The copy failed: what was behind is refused, as if the queue pair were still there. checks
 * W-RESP-13[8] */
Test(farewell, W_RESP_13_of_what_was_lost)
{
	for (unsigned i = 0; i < ENDS; i++) {
		struct peer_tape t;
		struct pair *p = with_moved(&t);

		cr_assert_eq(pair_client_moves(p, 1, 1), 1);
		p->side[1].gone[1] = 8;
		cr_assert_eq(pair_client_moves(p, 1, 2), 2);
		end(p, i, 0);
		heard_once(p, &t, ROCE_SYN_NAK_REM_ACCESS, 1);
		pair_free(p);
	}
}

/* READ responses were to leave first, and there is no queue pair any more that could send them: an
 * ACK would tell that they have left. checks W-ACK-03, W-ACK-05 */
Test(farewell, W_ACK_05_not_behind_responses)
{
	for (unsigned i = 0; i < ENDS; i++) {
		struct peer_tape t;
		struct pair *p = peer_new(&t);
		struct roce_pkt r = peer_read_request(p, PEER_PSN, 0, 8);

		peer_say(p, &r);
		peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 1, 8);
		end(p, i, 0);
		pair_turn(p, 1);
		peer_silent(p, &t, 0);
		pair_free(p);
	}
}

/* Nothing is owed: nothing is said. */
Test(farewell, silence_where_nothing_is_owed)
{
	for (unsigned i = 0; i < ENDS; i++) {
		struct peer_tape t;
		struct pair *p = peer_new(&t);

		peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
		pair_turn(p, 1);
		peer_silent(p, &t, 1);
		end(p, i, 0);
		cr_assert_not(roce_shard_tx_pending(p->side[1].shard, p->now_ns));
		pair_turn(p, 1);
		peer_silent(p, &t, 1);
		pair_free(p);
	}
}

#define CROWD (ROCE_FAREWELLS + 3)

/* Many at once leave as the port takes them; those that find no place are lost, as frames can be,
 * and harm nobody. */
Test(farewell, no_more_than_there_is_room_for)
{
	for (unsigned i = 0; i < ENDS; i++) {
		struct peer_tape t;
		struct pair *p = peer_with(&t, (struct pair_opts){.qps = CROWD});
		struct roce_pkt w = peer_packet(p, ROCE_WRITE_ONLY, PEER_PSN, 8);

		for (unsigned q = 0; q < CROWD; q++) {
			w.qpn = roce_qp_num(p->side[1].q[q].qp);
			peer_say(p, &w);
		}
		for (unsigned q = 0; q < CROWD; q++)
			end(p, i, q);
		p->side[1].frames = 16;
		for (unsigned turn = 1; turn <= ROCE_FAREWELLS / 16; turn++)
			peer_silent(p, &t, turn * 16);
		cr_assert_not(roce_shard_tx_pending(p->side[1].shard, p->now_ns));
		peer_silent(p, &t, ROCE_FAREWELLS);
		pair_free(p);
	}
}

/* It leaves by its queue pair's port, as long as it is. */
Test(farewell, by_the_same_port)
{
	uint8_t room[ROCE_FAREWELL_BYTES], other[ROCE_FAREWELL_BYTES];
	struct roce_tx_slot slot[2] = {{.buf = room}, {.buf = other}};
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct roce_qp *qp = p->side[1].q[0].qp;
	struct roce_qp_attr a;
	struct roce_pkt ack;

	reset(p, 0);
	pair_attr(p, 1, 0, &a);
	a.port = 3;
	pair_bring_up(p, 1, qp, &a);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	end(p, 0, 0);
	cr_assert_eq(roce_shard_tx(p->side[1].shard, p->now_ns, slot, 2), 1);
	cr_assert_eq(slot[0].port, 3);
	cr_assert_eq(roce_wire_parse(room, slot[0].len, &ack), ROCE_WIRE_OK);
	cr_assert(roce_icrc_ok(&ack));
	cr_assert_eq(ack.opcode, ROCE_ACK);
	pair_free(p);
}
