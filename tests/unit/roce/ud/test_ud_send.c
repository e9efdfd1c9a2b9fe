/* SPDX-License-Identifier: BSD-3-Clause */
/* The frames and completions of datagrams that are sent, and whose turn it is to send them. */
#include <criterion/criterion.h>

#include "rigs/ud_world.h"
#include "roce/queue/send_ring.h"

#define SLOTS 32u

static uint8_t room[SLOTS][ROCE_FRAME_MAX];

/* From side 0's queue pair i to side 1's first one; token: of the handle. */
static void
post(struct ud_world *w, unsigned i, uint64_t context, uint32_t token)
{
	struct ndsh_sge sge = pair_sge(w->p, 0, 0, 8);

	pair_post(w->p, 0, i,
		&(struct ndsh_swr){.context = context,
			.rkey = token,
			.raddr = NDSH_UD_RADDR(roce_qp_num(w->p->side[1].q[0].qp), UD_Q_KEY),
			.ctrl = NDSH_CTRL(NDSH_OP_SEND, 1, 0, 0)},
		&sge, NULL);
}

/* What side 0 sends if there is room for n frames. */
static unsigned
leave(struct ud_world *w, struct roce_tx_slot slot[SLOTS], unsigned n)
{
	struct roce_shard *s = w->p->side[0].shard;

	for (unsigned i = 0; i < SLOTS; i++)
		slot[i].buf = room[i];
	roce_shard_poll_rings(s, w->p->now_ns, 64);
	n = roce_shard_tx(s, w->p->now_ns, slot, n);
	roce_shard_publish(s);
	return n;
}

static uint32_t
source_of(const struct roce_tx_slot *slot)
{
	struct roce_pkt pkt;

	cr_assert_eq(roce_wire_parse(slot->buf, slot->len, &pkt), ROCE_WIRE_OK);
	return pkt.src_qpn;
}

/* What the host counts of both ends, and that a success has no reason. */
Test(ud_send, is_counted)
{
	struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU});
	const struct roce_counters before = *ud_count(&w, 0), *n = ud_count(&w, 0);
	struct roce_tx_slot slot[SLOTS];
	uint64_t bytes = 0;

	ud_world_start(&w);
	for (uint64_t i = 0; i < 3; i++)
		ud_send(&w, 0, i, (uint32_t)i * 100);
	cr_assert_eq(leave(&w, slot, SLOTS), 3);
	for (uint64_t i = 0; i < 3; i++) {
		bytes += slot[i].len;
		cr_assert_eq(pair_expect(w.p, 0, i, NDSH_WC_SUCCESS).syndrome, 0);
	}
	cr_assert_eq(n->tx_packets - before.tx_packets, 3);
	cr_assert_eq(n->tx_bytes - before.tx_bytes, bytes);
	cr_assert_eq(n->requests_completed - before.requests_completed, 3);
	cr_assert_eq(n->requests_failed, before.requests_failed);
	pair_free(w.p);
}

/* No two frames in a row have the same IP identification, so captures tell them apart. */
Test(ud_send, identifications_differ)
{
	struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU});
	struct roce_tx_slot slot[SLOTS];
	struct roce_pkt pkt[4];

	ud_world_start(&w);
	for (uint64_t i = 0; i < 4; i++)
		ud_send(&w, 0, i, 8);
	cr_assert_eq(leave(&w, slot, SLOTS), 4);
	for (unsigned i = 0; i < 4; i++) {
		cr_assert_eq(roce_wire_parse(slot[i].buf, slot[i].len, &pkt[i]), ROCE_WIRE_OK);
		if (i > 0)
			cr_assert_arr_neq(pkt[i].l3 + 4, pkt[i - 1].l3 + 4, 2);
	}
	pair_free(w.p);
}

/* Not a frame more than there is room for, and as many as there are. */
Test(ud_send, fills_the_room_that_there_is)
{
	struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU});
	struct roce_tx_slot slot[SLOTS];

	ud_world_start(&w);
	for (unsigned n = 1; n <= SLOTS; n++) {
		for (unsigned i = 0; i < SLOTS; i++)
			post(&w, 0, i, UD_AH);
		for (unsigned left = SLOTS; left > 0; left -= left < n ? left : n)
			cr_assert_eq(leave(&w, slot, n), left < n ? left : n, "%u", n);
	}
	pair_free(w.p);
}

/* A queue pair with many datagrams to send is followed by the next one after a while. */
Test(ud_send, queue_pairs_take_turns)
{
	struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU, .qps = 2});
	struct roce_tx_slot slot[SLOTS];
	unsigned of[2] = {0, 0};

	ud_world_start(&w);
	for (unsigned i = 0; i < 2 * SLOTS; i++)
		post(&w, i / SLOTS, i, UD_AH);
	cr_assert_eq(leave(&w, slot, SLOTS), SLOTS);
	for (unsigned i = 0; i < SLOTS; i++)
		of[source_of(&slot[i]) == roce_qp_num(w.p->side[0].q[1].qp)]++;
	cr_assert_eq(of[0], of[1]);
	pair_free(w.p);
}

/* So is one that flushes many, behind one that failed. */
Test(ud_send, a_flush_takes_turns)
{
	struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU, .qps = 2});
	unsigned before = 0;
	struct ndsh_cqe c;

	ud_world_start(&w);
	for (unsigned i = 0; i < 200; i++)
		post(&w, 0, i, i == 0 ? UD_AH ^ 1 : UD_AH);
	post(&w, 1, 1000, UD_AH);
	cr_assert(pair_run(w.p, PAIR_LONG));
	while (pair_poll(w.p, 0, &c) && c.context != 1000)
		before++;
	cr_assert_eq(c.status, NDSH_WC_SUCCESS);
	cr_assert_lt(before, 100);
	for (unsigned i = before; i < 200; i++)
		(void)pair_expect(w.p, 0, i, NDSH_WC_FLUSH_ERR);
	pair_free(w.p);
}

/* A client rings once for all that it posts, and its ring is not polled: all of it leaves, or is
 * flushed behind the one that failed. */
Test(ud_send, one_doorbell_is_for_all_that_is_posted)
{
	for (unsigned fails = 0; fails < 2; fails++) {
		struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU});
		struct ndsh_qp_page *page = w.p->side[0].q[0].block;

		ud_world_start(&w);
		w.p->now_ns += 2 * ROCE_SEND_RING_IDLE_NS;
		cr_assert(pair_run(w.p, PAIR_LONG));
		cr_assert_eq(page->sq_polled, 0);
		page->sq_polled = 1; /* for the rig, which then does not ring */
		for (unsigned i = 0; i < 100; i++) {
			if (i == 99)
				page->sq_polled = 0;
			post(&w, 0, i, i == 0 && fails ? UD_AH ^ 1 : UD_AH);
		}
		cr_assert(pair_run(w.p, PAIR_LONG));
		cr_assert_eq(page->sq_polled, 0);
		(void)pair_expect(w.p, 0, 0, fails ? NDSH_WC_LOC_QP_OP_ERR : NDSH_WC_SUCCESS);
		for (unsigned i = 1; i < 100; i++)
			(void)pair_expect(w.p, 0, i, fails ? NDSH_WC_FLUSH_ERR : NDSH_WC_SUCCESS);
		pair_free(w.p);
	}
}

/* Operations that only connections have break the contract, a SEND that invalidates among them. */
Test(ud_send, other_operations_break_the_contract)
{
	for (uint32_t op = NDSH_OP_SEND; op <= NDSH_OP_FAST_REGISTER; op++) {
		struct ud_world w = ud_world_new(&(struct pair_opts){.mtu = UD_MTU});
		struct ndsh_sge sge = pair_sge(w.p, 0, 0, 8);
		bool sends = op == NDSH_OP_SEND || op == NDSH_OP_SEND_IMM;

		ud_world_start(&w);
		pair_post(w.p, 0, 0,
			&(struct ndsh_swr){.rkey = UD_AH,
				.raddr = NDSH_UD_RADDR(roce_qp_num(w.p->side[1].q[0].qp), UD_Q_KEY),
				.ctrl = NDSH_CTRL(op, op < NDSH_OP_BIND, 0, 0)},
			&sge, NULL);
		(void)pair_run(w.p, PAIR_LONG);
		if (!sends)
			pair_expect_dead(w.p, 0, 0, ROCE_REASON_CLIENT_BREACH);
		cr_assert_eq(w.p->sent[0], sends, "%u", op);
		pair_free(w.p);
	}
}
