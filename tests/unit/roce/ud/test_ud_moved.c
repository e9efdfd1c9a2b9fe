/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams from and to memory behind movers. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/ud_world.h"

/* At both ends; a sender that moves nothing sends nothing until it does. */
Test(ud_moved, memory_behind_movers)
{
	struct ud_world w = ud_world_new(&(struct pair_opts){.moved = true});
	struct pair *p = w.p;
	uint64_t to = NDSH_UD_RADDR(0, UD_Q_KEY);
	struct ndsh_sge in, out[2];

	ud_world_start(&w);
	to |= roce_qp_num(p->side[1].q[0].qp);
	for (uint64_t i = 0; i < 40; i++) {
		in = pair_moved_sge(p, 1, (uint32_t)i * 2048, 2048);
		ndsh_rq_push(&p->side[1].q[0].rq, i, &in, 1);
	}
	for (uint32_t i = 0; i < 40 * 900; i++)
		p->side[0].moved[i] = (uint8_t)(i * 11);
	p->side[0].stalled = true;
	for (uint32_t i = 0; i < 40; i++) {
		out[0] = pair_moved_sge(p, 0, i * 900, 400);
		out[1] = pair_moved_sge(p, 0, i * 900 + 400, 500);
		pair_post(p, 0, 0,
			&(struct ndsh_swr){.context = i,
				.rkey = UD_AH,
				.raddr = to,
				.ctrl = NDSH_CTRL(NDSH_OP_SEND, 2, 0, 0)},
			out, NULL);
	}
	(void)pair_run(p, 1000000);
	pair_expect_none(p, 0);
	p->side[0].stalled = false;
	cr_assert(pair_run(p, PAIR_LONG));
	for (uint64_t i = 0; i < 40; i++) {
		(void)pair_expect(p, 0, i, NDSH_WC_SUCCESS);
		cr_assert_eq(pair_expect(p, 1, i, NDSH_WC_SUCCESS).bytes, UD_GRH + 900);
		cr_assert_arr_eq(
			p->side[1].moved + i * 2048 + UD_GRH, p->side[0].moved + i * 900, 900);
	}
	pair_free(p);
}

#define MANY   100u
#define PIECE  64u
#define PIECES 16u /* an order each: MANY of them are more than there may be */
#define BYTES  (PIECE * PIECES - UD_GRH)

static void
receive_in_pieces(struct ud_world *w, uint64_t i)
{
	struct ndsh_sge in[PIECES];

	for (uint32_t k = 0; k < PIECES; k++)
		in[k] = pair_moved_sge(w->p, 1, (uint32_t)i * 2048 + 2 * k * PIECE, PIECE);
	ndsh_rq_push(&w->p->side[1].q[0].rq, i, in, PIECES);
}

static void
expect_pieces(struct ud_world *w, uint64_t i)
{
	const uint8_t *at = w->p->side[1].moved + i * 2048, *sent = w->p->side[0].arena;

	cr_assert_arr_eq(at + UD_GRH, sent, PIECE - UD_GRH);
	for (uint32_t k = 1; k < PIECES; k++)
		cr_assert_arr_eq(at + 2 * k * PIECE, sent + k * PIECE - UD_GRH, PIECE);
}

/* A receiver that moves nothing loses what finds no room on its way to it, and no receive with it:
 * what was told as received is there in the end, and the next receive is for the next datagram. */
Test(ud_moved, no_room_is_no_receive)
{
	struct ud_world w = ud_world_new(&(struct pair_opts){.moved = true});
	const uint32_t *done = &((struct ndsh_qp_page *)w.p->side[1].q[0].block)->rq_done;
	uint32_t taken;

	ud_world_start(&w);
	ud_fill(&w, BYTES);
	w.p->side[1].stalled = true;
	for (uint64_t i = 0; i < MANY; i++) {
		receive_in_pieces(&w, i);
		ud_send(&w, 0, i, BYTES);
	}
	cr_assert(pair_run(w.p, PAIR_LONG));
	taken = *done;
	cr_assert(taken > MANY / 4 && taken < MANY);
	cr_assert_eq(ud_count(&w, 1)->rx_datagram_no_receive, MANY - taken);
	w.p->side[1].stalled = false;
	cr_assert(pair_run(w.p, PAIR_LONG));
	ud_send(&w, 0, MANY, BYTES);
	cr_assert(pair_run(w.p, PAIR_LONG));
	cr_assert_eq(*done, taken + 1);
	for (uint64_t i = 0; i <= taken; i++) {
		cr_assert_eq(pair_expect(w.p, 1, i, NDSH_WC_SUCCESS).bytes, UD_GRH + BYTES);
		expect_pieces(&w, i);
	}
	pair_expect_none(w.p, 1);
	pair_free(w.p);
}

/* checks R-MR-14[1]: a datagram whose receive has gone ends the queue pair, behind those before it;
 * one whose payload has gone stops its sender, as any bad SGE does. */
Test(ud_moved, memory_that_has_gone)
{
	for (unsigned side = 0; side < 2; side++) {
		struct ud_world w = ud_world_new(&(struct pair_opts){.moved = true});
		struct pair *p = w.p;
		struct ndsh_sge sge;

		ud_world_start(&w);
		p->side[side].moves = 1;
		p->side[side].gone[0] = 2 * 2048;
		p->side[side].gone[1] = 3 * 2048;
		for (uint32_t i = 0; i < 4; i++) {
			sge = pair_moved_sge(p, 1, i * 2048, 2048);
			ndsh_rq_push(&p->side[1].q[0].rq, i, &sge, 1);
			sge = pair_moved_sge(p, 0, i * 2048, 900);
			pair_post(p, 0, 0,
				&(struct ndsh_swr){.context = i,
					.rkey = UD_AH,
					.raddr = NDSH_UD_RADDR(
						roce_qp_num(p->side[1].q[0].qp), UD_Q_KEY),
					.ctrl = NDSH_CTRL(NDSH_OP_SEND, 1, 0, 0)},
				&sge, NULL);
		}
		cr_assert(pair_run(p, PAIR_LONG));
		for (uint64_t i = 0; i < 2; i++) {
			(void)pair_expect(p, 0, i, NDSH_WC_SUCCESS);
			(void)pair_expect(p, 1, i, NDSH_WC_SUCCESS);
		}
		if (side == 0) {
			(void)pair_expect(p, 0, 2, NDSH_WC_LOC_PROT_ERR);
			(void)pair_expect(p, 0, 3, NDSH_WC_FLUSH_ERR);
			pair_expect_none(p, 1);
		}
		cr_assert_eq(roce_qp_state_get(p->side[side].q[0].qp),
			side == 0 ? ROCE_QPS_UD_SQE : ROCE_QPS_ERR);
		if (side == 1) {
			pair_expect_dead(p, 1, 0, ROCE_REASON_RECV_PROT);
			cr_assert_eq(p->side[1].last_event.syndrome, 0, "no peer is told");
		}
		pair_free(p);
	}
}

static void
send_moved(struct ud_world *w, uint64_t context, uint32_t from)
{
	struct ndsh_sge sge = pair_moved_sge(w->p, 0, from, 900);

	pair_post(w->p, 0, 0,
		&(struct ndsh_swr){.context = context,
			.rkey = UD_AH,
			.raddr = NDSH_UD_RADDR(roce_qp_num(w->p->side[1].q[0].qp), UD_Q_KEY),
			.ctrl = NDSH_CTRL(NDSH_OP_SEND, 1, 0, 0)},
		&sge, NULL);
}

/* The handle goes while the payload is on its way: the request fails, and what was fetched for it
 * is not what the next request sends. */
Test(ud_moved, a_handle_that_goes_meanwhile)
{
	struct ud_world w = ud_world_new(&(struct pair_opts){.moved = true});
	struct roce_ah *ah = &w.ah[0][UD_AH % UD_AHS];
	struct pair *p = w.p;

	ud_world_start(&w);
	for (uint32_t i = 0; i < 1800; i++)
		p->side[0].moved[i] = (uint8_t)(i / 900 + 1);
	pair_recv(p, 1, 0, 3, UD_TARGET, 4096);
	p->side[0].stalled = true;
	send_moved(&w, 1, 0);
	(void)pair_run(p, 1000000);
	ah->live = false;
	p->side[0].stalled = false;
	cr_assert(pair_run(p, PAIR_LONG));
	(void)pair_expect(p, 0, 1, NDSH_WC_LOC_QP_OP_ERR);
	ah->live = true;
	cr_assert(roce_ud_modify(p->side[0].shard, p->side[0].q[0].qp, p->now_ns, UD_Q_KEY));
	send_moved(&w, 2, 900);
	cr_assert(pair_run(p, PAIR_LONG));
	(void)pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	(void)pair_expect(p, 1, 3, NDSH_WC_SUCCESS);
	cr_assert_arr_eq(p->side[1].arena + UD_TARGET + UD_GRH, p->side[0].moved + 900, 900);
	pair_free(p);
}
