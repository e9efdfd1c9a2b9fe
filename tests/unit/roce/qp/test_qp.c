/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs: what their creation needs, their numbers, and what their end leaves behind. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/engine_pair.h"
#include "rigs/lone_shard.h"
#include "roce/qp/qp.h"
#include "roce/shard/qpn.h"
#include "roce/shard/shard.h"

#define DEPTH 64u

struct cell {
	struct roce_shard *s;
	uint32_t pd, other_pd;
	void *cq_mem, *srq_mem;
	struct roce_cq *cq;
	struct roce_srq *srq;
};

static struct cell
cell_new(void)
{
	struct roce_shard_cfg cfg = lone_config();
	struct cell c;

	cfg.max_srqs = 1;
	c.s = lone_shard_new(&cfg);
	c.pd = roce_pd_create(c.s);
	c.other_pd = roce_pd_create(c.s);
	c.cq_mem = calloc(1, ndsh_cq_bytes(DEPTH));
	c.cq = roce_cq_create(c.s, NULL, c.cq_mem, DEPTH, NULL);
	c.srq_mem = calloc(1, ndsh_srq_bytes(DEPTH, 1));
	c.srq = roce_srq_create(c.s, NULL, c.pd, c.srq_mem, DEPTH, 1, NULL);
	cr_assert(c.cq != NULL && c.srq != NULL);
	return c;
}

/* Nothing is left of anything. */
static void
cell_free(struct cell *c)
{
	struct roce_usage u;

	cr_assert(roce_cq_destroy(c->s, c->cq));
	cr_assert(roce_srq_destroy(c->s, c->srq));
	cr_assert(roce_pd_destroy(c->s, c->pd));
	cr_assert(roce_pd_destroy(c->s, c->other_pd));
	roce_shard_usage(c->s, &u);
	cr_assert_eq(u.qps + u.cqs + u.pds + u.srqs, 0);
	free(c->cq_mem);
	free(c->srq_mem);
	free(c->s);
}

/* Whatever is refused leaves no reference behind. */
Test(qp, creations_that_are_refused)
{
	struct cell c = cell_new();
	const struct ndsh_qp_dims dims = {4, 4, 1, 1, 0};
	const struct roce_qp_cfg good = {
		.pd = c.pd, .send_cq = c.cq, .recv_cq = c.cq, .srq = c.srq, .dims = dims};
	struct roce_qp_cfg bad[] = {good, good, good, good, good};

	bad[0].pd = 0;
	bad[1].pd = 3;		/* not created */
	bad[2].pd = c.other_pd; /* not that of the shared receive queue */
	bad[3].dims.sq_depth = 0;
	bad[4].dims.rq_sge = 1000;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_assert_null(roce_qp_create(c.s, &bad[i]), "%zu", i);
	cell_free(&c);
}

/* Born in RESET; alive, it holds what it was made with, and dead it does not. */
Test(qp, a_life_from_reset)
{
	struct cell c = cell_new();
	const struct ndsh_qp_dims dims = {4, 4, 1, 1, 0};
	struct ndsh_qp_layout l;
	struct roce_qp *qp;
	void *block;
	int owner;

	cr_assert(ndsh_qp_layout(&dims, &l));
	block = calloc(1, l.total_bytes);
	qp = roce_qp_create(c.s, &(struct roce_qp_cfg){.pd = c.pd,
					 .send_cq = c.cq,
					 .recv_cq = c.cq,
					 .srq = c.srq,
					 .shared = block,
					 .dims = dims,
					 .owner = &owner});
	cr_assert_not_null(qp);
	cr_assert_eq(roce_qp_state_get(qp), ROCE_QPS_RESET);
	cr_assert_eq(roce_qp_reason(qp), ROCE_REASON_NONE);
	cr_assert_eq(roce_qp_owner(qp), &owner);
	cr_assert_eq(roce_qp_find(c.s, roce_qp_num(qp)), qp);
	cr_assert_not(roce_cq_destroy(c.s, c.cq));
	cr_assert_not(roce_srq_destroy(c.s, c.srq));
	cr_assert_not(roce_pd_destroy(c.s, c.pd));
	roce_qp_destroy(c.s, qp);
	free(block);
	cell_free(&c);
}

/* A number leads to its queue pair and to no other; that of a dead one, and 0, to none. */
Test(qp, numbers_lead_to_the_living)
{
	struct cell c = cell_new();
	struct roce_qp *qp[LONE_QPS];
	void *block[LONE_QPS];
	uint32_t old[LONE_QPS];

	cr_assert_null(roce_qp_find(c.s, 0));
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < LONE_QPS; i++) {
			qp[i] = lone_qp_new(c.s, c.pd, c.cq, &block[i]);
			cr_assert_not_null(qp[i]);
			if (round > 0)
				cr_assert_null(roce_qp_find(c.s, old[i]));
		}
		for (unsigned i = 0; i < LONE_QPS; i++) {
			old[i] = roce_qp_num(qp[i]);
			cr_assert_eq(roce_qp_find(c.s, old[i]), qp[i]);
			cr_assert_null(roce_qp_find(c.s, old[i] | 1u << 24));
		}
		for (unsigned i = 0; i < LONE_QPS; i++) {
			roce_qp_destroy(c.s, qp[i]);
			free(block[i]);
			cr_assert_null(roce_qp_find(c.s, old[i]));
		}
	}
	cell_free(&c);
}

/*
 * checks W-CM-53[2]: the index that was given back last is taken again last: numbers rest as
 * long as they can.
 */
Test(qp, the_number_given_back_first_is_used_first)
{
	struct cell c = cell_new();
	struct roce_qp *qp[LONE_QPS];
	void *block[LONE_QPS];

	for (unsigned i = 0; i < LONE_QPS; i++)
		qp[i] = lone_qp_new(c.s, c.pd, c.cq, &block[i]);
	for (unsigned i = 0; i < LONE_QPS; i++) {
		roce_qp_destroy(c.s, qp[i * 5 % LONE_QPS]);
		free(block[i * 5 % LONE_QPS]);
	}
	for (unsigned i = 0; i < LONE_QPS; i++) {
		struct roce_qp *again = lone_qp_new(c.s, c.pd, c.cq, &block[i]);

		cr_assert_eq(again, qp[i * 5 % LONE_QPS]);
	}
	for (unsigned i = 0; i < LONE_QPS; i++) {
		roce_qp_destroy(c.s, qp[i * 5 % LONE_QPS]);
		free(block[i]);
	}
	cell_free(&c);
}

/* Does a queue pair of this shard ever have this number? */
static bool
is_given(const uint64_t secret[2], uint32_t shard, uint32_t qps, uint32_t number)
{
	struct roce_shard_cfg cfg = lone_config();
	const unsigned lives = 1u << ROCE_GEN_BITS;
	struct roce_shard *s;
	bool given = false;
	void *cq_mem = calloc(1, ndsh_cq_bytes(DEPTH));
	struct roce_cq *cq;
	uint32_t pd;

	cfg.secret[0] = secret[0];
	cfg.secret[1] = secret[1];
	cfg.shard_id = shard;
	cfg.max_qps = qps;
	s = lone_shard_new(&cfg);
	pd = roce_pd_create(s);
	cq = roce_cq_create(s, NULL, cq_mem, DEPTH, NULL);
	for (unsigned i = 0; i < lives * qps; i++) {
		void *block;
		struct roce_qp *qp = lone_qp_new(s, pd, cq, &block);

		given |= roce_qp_num(qp) == number;
		roce_qp_destroy(s, qp);
		free(block);
	}
	free(cq_mem);
	free(s);
	return given;
}

/* 0 and 1 are management's, 0xffffff is that of multicast (IBTA volume 1, chapter 3); no other
 * number means anything. For each there is a shard whose secret would lead to it. */
Test(qp, numbers_that_mean_something_are_left_out)
{
	static const uint32_t numbers[] = {0, 1, ROCE_QPN_MASK, 2, ROCE_QPN_MASK - 1};
	const unsigned special = 3, few = 16;

	for (unsigned k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) {
		uint64_t secret[2] = {0, k};
		uint32_t place, index;
		struct roce_qpn_key key;

		do {
			secret[0]++;
			roce_qpn_key_init(&key, secret);
			place = roce_qpn_place(&key, numbers[k]);
			index = roce_place_index(place);
		} while (index >= few);
		cr_expect_eq(
			is_given(secret, place >> ROCE_PLACE_SHARD_SHIFT, index + 1, numbers[k]),
			k >= special, "%x", numbers[k]);
	}
}

/* What a shard asks for has room for each of them. */
Test(qp, each_has_its_room)
{
	struct roce_shard_cfg cfg = lone_config();
	size_t before = roce_shard_bytes(&cfg);

	cfg.max_qps += 10;
	cr_assert_gt(roce_qp_bytes(), sizeof(struct ndsh_sq) + sizeof(struct ndsh_rq));
	cr_assert_geq(roce_shard_bytes(&cfg), before + 10 * roce_qp_bytes());
}

/* W-PSN-03 for all MTUs and lengths around their multiples. checks W-PSN-03[1] */
Test(qp, W_PSN_03_how_many_numbers_a_message_takes)
{
	for (uint8_t shift = 8; shift <= 12; shift++) {
		const struct roce_qp qp = {.mtu_shift = shift};
		uint32_t mtu = 1u << shift;

		cr_assert_eq(roce_qp_mtu(&qp), mtu);
		cr_assert_eq(roce_npsn(&qp, 0), 1);
		for (uint32_t n = 1; n < 100; n++) {
			cr_assert_eq(roce_npsn(&qp, (n - 1) * mtu + 1), n);
			cr_assert_eq(roce_npsn(&qp, n * mtu), n);
		}
		cr_assert_eq(roce_npsn(&qp, 0x80000000u), 0x80000000u >> shift);
		cr_assert_eq(roce_npsn(&qp, 0x80000000u - 1), 0x80000000u >> shift);
		cr_assert_eq(roce_npsn(&qp, 0x80000000u - mtu), (0x80000000u >> shift) - 1);
	}
}

/* W-PKT-01: the next hop changes under a living connection. checks W-PKT-01[1,3] */
Test(qp, W_PKT_01_new_macs_from_the_next_frame_on)
{
	static const uint8_t smac[6] = {2, 3, 4, 5, 6, 7}, dmac[6] = {8, 9, 10, 11, 12, 13};
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_shard *s = p->side[0].shard;
	static uint8_t room[ROCE_FRAME_MAX];
	struct roce_tx_slot slot = {.buf = room};
	struct roce_pkt pkt;

	roce_qp_set_macs(p->side[0].q[0].qp, smac, dmac);
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	roce_shard_poll_rings(s, p->now_ns, 8);
	cr_assert_eq(roce_shard_tx(s, p->now_ns, &slot, 1), 1);
	cr_assert_eq(memcmp(room, dmac, 6), 0);
	cr_assert_eq(memcmp(room + 6, smac, 6), 0);
	cr_assert_eq(roce_wire_parse(room, slot.len, &pkt), ROCE_WIRE_OK);
	cr_assert(roce_icrc_ok(&pkt));
	pair_rx(p, 1, &pkt);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* Destroyed in the middle of everything: no completion, no frame, nothing of it in any list; the
 * rig looks for what is left over. */
Test(qp, a_silent_end_in_the_middle_of_everything)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 2, .mtu = 256});

	for (unsigned side = 0; side < 2; side++) {
		pair_recv(p, side, 0, 9, 0, 65536);
		pair_send(p, side, 0, 1, 0, 60000, 0);
		pair_read(p, side, 0, 2, 0, 0, 60000, 0);
		pair_write(p, side, 0, 3, 0, 0, 60000, 0);
	}
	for (unsigned i = 0; i < 6; i++) {
		pair_turn(p, i & 1);
		p->now_ns += 2000;
	}
	for (unsigned side = 0; side < 2; side++) {
		struct roce_shard *s = p->side[side].shard;

		roce_qp_destroy(s, p->side[side].q[0].qp);
		free(p->side[side].q[0].block);
		/* The other one takes its place in the rig. */
		p->side[side].q[0] = p->side[side].q[1];
	}
	p->opts.qps = 1;
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect_none(p, 0);
	pair_expect_none(p, 1);
	pair_write(p, 0, 0, 4, 0, 0, 8, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 4, NDSH_WC_SUCCESS);
	pair_free(p);
}
