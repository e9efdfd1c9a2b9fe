/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that end a queue pair: what is asked of a key at which packet, and what becomes of what
 * was taken or under way. */
#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>

#include "rigs/scripted_peer.h"
#include "roce/mem/mr.h"
#include "roce/qp/qp.h"

#define ATOMIC (NDSH_ACCESS_REMOTE_ATOMIC | NDSH_ACCESS_REMOTE_WRITE)

/* checks W-RESP-13: the whole length is asked for with the first packet, in memory of either kind.
 * */
Test(fatal, W_RESP_13_the_whole_length)
{
	static const uint32_t over[] = {0, 1, PEER_MTU};

	for (unsigned i = 0; i < 6; i++) {
		const bool moved = i / 3, good = over[i % 3] == 0;
		struct peer_tape t;
		struct pair *p = peer_with(&t, (struct pair_opts){.moved = true});
		struct pair_side *d = &p->side[1];
		struct roce_pkt w = peer_packet(p, ROCE_WRITE_FIRST, PEER_PSN, PEER_MTU);

		w.va = (moved ? (uintptr_t)d->moved : PAIR_VA) + PAIR_ARENA - 2 * PEER_MTU;
		w.rkey = moved ? d->moved_key : d->key;
		w.dma_bytes = 2 * PEER_MTU + over[i % 3];
		peer_say(p, &w);
		pair_turn(p, 1);
		pair_turn(p, 1);
		peer_heard(p, &t, 1, good ? ROCE_SYN_ACK : ROCE_SYN_NAK_REM_ACCESS, PEER_PSN);
		cr_assert_eq(
			(moved ? d->moved : d->arena)[PAIR_ARENA - 2 * PEER_MTU], good ? 0xa5 : 0);
		pair_free(p);
	}
}

/* checks W-ATOM-02: memory that the host has at another place in a word than its client is no
 * word. */
Test(fatal, W_ATOM_02_no_word_of_the_host)
{
	static const uint8_t ops[] = {ROCE_FETCH_ADD, ROCE_CMP_SWAP};
	const uint64_t va = UINT64_C(0x7d0000000000);

	for (unsigned i = 0; i < 2 * 8; i++) {
		const uint32_t off = i / 2;
		struct peer_tape t;
		struct pair *p =
			peer_with(&t, (struct pair_opts){.access = ATOMIC,
					      .mr_access = ATOMIC | NDSH_ACCESS_LOCAL_WRITE});
		struct pair_side *d = &p->side[1];
		struct roce_mr *mr = roce_mr_register(d->shard, d->pd, va, 4096, d->arena + off,
			ATOMIC | NDSH_ACCESS_LOCAL_WRITE);
		struct roce_pkt a = peer_packet(p, ops[i % 2], PEER_PSN, 0);

		a.va = va + 8;
		a.rkey = roce_mr_key(mr);
		a.swap_add = UINT64_MAX;
		peer_say(p, &a);
		pair_turn(p, 1);
		cr_assert_eq(t.n, 1);
		cr_assert_eq(t.said[0].syndrome, off == 0 ? ROCE_SYN_ACK : ROCE_SYN_NAK_REM_ACCESS);
		for (uint32_t k = 0; k < 32; k++)
			cr_assert_eq(d->arena[k], off == 0 && k >= 8 && k < 16 ? 0xff : 0);
		cr_assert(roce_mr_deregister(d->shard, mr));
		pair_free(p);
	}
}

/* The completion of the receive that a bad message took gives the reason of the queue pair's end,
 * as those behind it do. */
Test(fatal, the_receive_says_why)
{
	struct peer_tape t;
	struct pair *p = peer_with(&t, (struct pair_opts){0});
	struct ndsh_cqe bad;

	pair_recv(p, 1, 0, 7, 0, 64);
	pair_recv(p, 1, 0, 8, 64, 64);
	peer_say_plain(p, ROCE_SEND_ONLY, PEER_PSN, 65);
	pair_run(p, 1000000);
	bad = pair_expect(p, 1, 7, NDSH_WC_LOC_LEN_ERR);
	cr_assert_eq(bad.syndrome, ROCE_REASON_RECV_TOO_SMALL);
	cr_assert_eq(pair_expect(p, 1, 8, NDSH_WC_FLUSH_ERR).syndrome, bad.syndrome);
	pair_free(p);
}

/* checks R-SRQ-02[2]: a shared receive that ends with its queue pair is gone for the others, too,
 * and the client is told so. */
Test(fatal, R_SRQ_02_the_receive_is_taken)
{
	struct peer_tape t;
	struct pair *p = peer_with(&t, (struct pair_opts){.srq_depth = 16});
	struct pair_side *d = &p->side[1];
	struct ndsh_sge sge = pair_sge(p, 1, 0, 64);

	ndsh_rq_push(&d->srq_rq, 7, &sge, 1);
	roce_srq_arm(d->shard, d->srq, 1);
	d->events = 0;
	peer_say_plain(p, ROCE_SEND_ONLY, PEER_PSN, 65);
	peer_heard(p, &t, 1, ROCE_SYN_NAK_INV_REQ, PEER_PSN);
	pair_expect(p, 1, 7, NDSH_WC_LOC_LEN_ERR);
	cr_assert_eq(d->srq_page->taken, 1);
	cr_assert_neq(d->events & 1u << ROCE_EV_SRQ_LIMIT, 0);
	pair_free(p);
}

/* checks R-SRQ-06[3]: ... and gone with the first packet of a message. */
Test(fatal, R_SRQ_06_a_place_is_free_when_the_message_begins)
{
	struct peer_tape t;
	struct pair *p = peer_with(&t, (struct pair_opts){.srq_depth = 16});
	struct pair_side *d = &p->side[1];
	struct ndsh_sge sge = pair_sge(p, 1, 0, 2 * PEER_MTU);

	ndsh_rq_push(&d->srq_rq, 7, &sge, 1);
	peer_say_plain(p, ROCE_SEND_FIRST, PEER_PSN, PEER_MTU);
	peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN);
	cr_assert_eq(d->srq_page->taken, 1);
	pair_expect_none(p, 1);
	pair_free(p);
}

/* checks W-RESP-18[1,3]: a READ that cannot be answered any more behind the request that was
 * refused: the one NAK is that request's. */
Test(fatal, W_RESP_18_a_read_that_fails_too)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct pair_side *d = &p->side[1];
	struct roce_pkt r = peer_read_request(p, PEER_PSN, 0, 3 * PEER_MTU);

	peer_say(p, &r);
	r.psn += 3;
	peer_say(p, &r);
	peer_say_plain(p, ROCE_SEND_LAST, PEER_PSN + 6, 8);
	d->frames = 1;
	pair_turn(p, 1);
	cr_assert_eq(t.n, 1);
	cr_assert(roce_mr_deregister(d->shard, d->mr));
	d->mr = NULL;
	d->frames = 0;
	peer_heard(p, &t, 2, ROCE_SYN_NAK_INV_REQ, PEER_PSN + 6);
	pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_INV_REQ);
	peer_silent(p, &t, 2);
	pair_free(p);
}

/* checks W-RESP-18[1,3]: the same with an atomic, which its client could not execute. */
Test(fatal, W_RESP_18_an_atomic_that_fails_too)
{
	struct peer_tape t;
	struct pair *p = peer_with(&t, (struct pair_opts){.moved = true,
					       .access = ATOMIC,
					       .mr_access = ATOMIC | NDSH_ACCESS_LOCAL_WRITE});
	struct pair_side *d = &p->side[1];
	struct roce_pkt a = peer_packet(p, ROCE_FETCH_ADD, PEER_PSN, 0);

	a.va = (uintptr_t)d->moved;
	a.rkey = d->moved_key;
	d->gone[1] = 8;
	d->stalled = true;
	peer_say(p, &a);
	peer_say_plain(p, ROCE_SEND_LAST, PEER_PSN + 1, 8);
	peer_silent(p, &t, 0);
	d->stalled = false;
	for (unsigned i = 0; i < 4; i++)
		pair_turn(p, 1);
	peer_heard(p, &t, 1, ROCE_SYN_NAK_INV_REQ, PEER_PSN + 1);
	pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_INV_REQ);
	pair_free(p);
}

/* checks W-RESP-18[1,3], W-ACK-03[1]: a READ that was accepted and cannot be answered: its NAK is
 * the next to leave, whatever has been accepted behind it. */
Test(fatal, W_RESP_18_nothing_of_what_is_behind_a_read_that_fails)
{
	static const uint8_t behind[] = {ROCE_READ_REQUEST, ROCE_WRITE_ONLY};
	const uint64_t va = UINT64_C(0x7d0000000000);

	for (unsigned i = 0; i < 2; i++) {
		struct peer_tape t;
		struct pair *p = peer_new(&t);
		struct pair_side *d = &p->side[1];
		struct roce_mr *mr = roce_mr_register(
			d->shard, d->pd, va, 4 * PEER_MTU, d->arena, NDSH_ACCESS_REMOTE_READ);
		struct roce_pkt r = peer_read_request(p, PEER_PSN, 0, 3 * PEER_MTU);

		r.va = va;
		r.rkey = roce_mr_key(mr);
		peer_say(p, &r);
		r = peer_packet(p, behind[i], PEER_PSN + 3, i == 0 ? 0 : 8);
		r.dma_bytes = 8;
		peer_say(p, &r);
		d->frames = 1;
		pair_turn(p, 1);
		cr_assert_eq(t.n, 1);
		cr_assert(roce_mr_deregister(d->shard, mr));
		d->frames = 0;
		peer_heard(p, &t, 2, ROCE_SYN_NAK_REM_ACCESS, PEER_PSN + 1);
		cr_assert_eq(t.said[1].msn, 2);
		pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_REM_ACCESS);
		peer_silent(p, &t, 2);
		pair_free(p);
	}
}

/* checks W-RESP-13[1,4]: the right to read is asked for with each response; what else the key may
 * open by then is no right to read. */
Test(fatal, W_RESP_13_the_right_goes_in_the_middle)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct pair_side *d = &p->side[1];
	struct roce_pkt r = peer_read_request(p, PEER_PSN, 0, 3 * PEER_MTU);

	peer_say(p, &r);
	d->frames = 1;
	pair_turn(p, 1);
	cr_assert_eq(t.n, 1);
	/* as if it were the key of another region: keys are drawn by lot */
	d->mr->access = NDSH_ACCESS_MASK & ~NDSH_ACCESS_REMOTE_READ;
	d->frames = 0;
	peer_heard(p, &t, 2, ROCE_SYN_NAK_REM_ACCESS, PEER_PSN + 1);
	pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_REM_ACCESS);
	pair_free(p);
}

/* checks W-CC-01: data say that they are ECN-capable, plain acknowledgements of any kind don't. */
Test(fatal, W_CC_01_acknowledgements_say_no_ECT)
{
	struct peer_tape t;
	struct pair *p = peer_with(&t, (struct pair_opts){.ecn = true});
	struct roce_pkt r = peer_read_request(p, PEER_PSN, 0, 2 * PEER_MTU);

	peer_say(p, &r);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 2, 8);
	peer_heard(p, &t, 3, ROCE_SYN_ACK, PEER_PSN + 2);
	peer_say_plain(p, ROCE_WRITE_ONLY, PEER_PSN + 4, 8);
	peer_heard(p, &t, 4, ROCE_SYN_NAK_SEQ, PEER_PSN + 3);
	peer_say_plain(p, ROCE_SEND_ONLY, PEER_PSN + 3, 8);
	peer_heard(p, &t, 5, ROCE_SYN_RNR | 14, PEER_PSN + 3);
	peer_say_plain(p, ROCE_SEND_LAST, PEER_PSN + 3, 8);
	peer_heard(p, &t, 6, ROCE_SYN_NAK_INV_REQ, PEER_PSN + 3);
	for (unsigned i = 0; i < t.n; i++)
		cr_assert_eq(t.said[i].tos & ROCE_TOS_ECN, i < 2 ? ROCE_TOS_ECT0 : 0);
	pair_free(p);
}

/* checks W-RESP-10: nor longer than a message can be, however much the receive would hold. */
Test(fatal, W_RESP_10_longer_than_any_message)
{
	const uint64_t bytes = UINT64_C(3) << 30, va = UINT64_C(0x7d0000000000);
	uint8_t *host = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct pair_side *d = &p->side[1];
	struct roce_mr *mr =
		roce_mr_register(d->shard, d->pd, va, bytes, host, NDSH_ACCESS_LOCAL_WRITE);
	struct ndsh_sge sge = {.addr = va, .len = (uint32_t)bytes, .key = roce_mr_key(mr)};

	cr_assert_neq(host, MAP_FAILED);
	ndsh_rq_push(&d->q[0].rq, 7, &sge, 1);
	peer_say_plain(p, ROCE_SEND_FIRST, PEER_PSN, PEER_MTU);
	peer_heard(p, &t, 1, ROCE_SYN_ACK, PEER_PSN);
	d->q[0].qp->rx_bytes = ROCE_MSG_MAX - PEER_MTU; /* as if so much had come */
	peer_say_plain(p, ROCE_SEND_MIDDLE, PEER_PSN + 1, PEER_MTU);
	peer_heard(p, &t, 2, ROCE_SYN_ACK, PEER_PSN + 1);
	cr_assert_eq(host[ROCE_MSG_MAX - PEER_MTU], 0xa5);
	peer_say_plain(p, ROCE_SEND_LAST, PEER_PSN + 2, 1);
	peer_heard(p, &t, 3, ROCE_SYN_NAK_INV_REQ, PEER_PSN + 2);
	pair_expect(p, 1, 7, NDSH_WC_LOC_LEN_ERR);
	cr_assert_eq(host[ROCE_MSG_MAX], 0);
	cr_assert(roce_mr_deregister(d->shard, mr));
	munmap(host, bytes);
	pair_free(p);
}

/* checks W-RESP-10[1,2]: a last packet that does not fit is not placed in part. */
Test(fatal, W_RESP_10_nothing_of_what_does_not_fit)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct pair_side *d = &p->side[1];

	pair_recv(p, 1, 0, 7, 0, PEER_MTU + 8);
	peer_say_plain(p, ROCE_SEND_FIRST, PEER_PSN, PEER_MTU);
	peer_say_plain(p, ROCE_SEND_LAST, PEER_PSN + 1, 9);
	peer_heard(p, &t, 1, ROCE_SYN_NAK_INV_REQ, PEER_PSN + 1);
	pair_expect(p, 1, 7, NDSH_WC_LOC_LEN_ERR);
	cr_assert_eq(d->arena[0], 0xa5);
	for (uint32_t i = PEER_MTU; i < 2 * PEER_MTU; i++)
		cr_assert_eq(d->arena[i], 0);
	pair_free(p);
}

/* checks W-RESP-09[2]: a WRITE may be as long as a message can be, and no longer, however much the
 * key opens. */
Test(fatal, W_RESP_09_a_write_of_any_length)
{
	const uint64_t bytes = UINT64_C(3) << 30, va = UINT64_C(0x7d0000000000);
	uint8_t *host = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	cr_assert_neq(host, MAP_FAILED);
	for (uint32_t over = 0; over < 2; over++) {
		struct peer_tape t;
		struct pair *p = peer_new(&t);
		struct pair_side *d = &p->side[1];
		struct roce_mr *mr = roce_mr_register(d->shard, d->pd, va, bytes, host,
			NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_WRITE);
		struct roce_pkt w = peer_packet(p, ROCE_WRITE_FIRST, PEER_PSN, PEER_MTU);

		w.va = va + over * PEER_MTU;
		w.rkey = roce_mr_key(mr);
		w.dma_bytes = ROCE_MSG_MAX + over;
		peer_say(p, &w);
		peer_heard(p, &t, 1, over ? ROCE_SYN_NAK_INV_REQ : ROCE_SYN_ACK, PEER_PSN);
		cr_assert_eq(host[over * PEER_MTU], over ? 0 : 0xa5);
		cr_assert(roce_mr_deregister(d->shard, mr));
		pair_free(p);
	}
	munmap(host, bytes);
}
