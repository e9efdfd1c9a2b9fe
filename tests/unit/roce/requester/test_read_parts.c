/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A long READ goes in parts while principals share what is under way (shard/flight.h): each part is
 * a READ of its own to the peer, and to the client there is one (W-REQ-05, W-REQ-11, W-COMP-07).
 * Another principal of side 0 is busy all the while, with nothing under way.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/engine_pair.h"
#include "roce/check.h"
#include "roce/qp/qp.h"
#include "roce/shard/flight.h"
#include "wire/headers.h"
#include "wire/psn.h"

#define MTU    1024u
#define WINDOW 16u
#define BYTES  (50u * MTU + 100)
#define CTX    77u
/* A quarter of a window is what there is, and no more. */
#define PART (WINDOW / 4)

struct watch {
	struct roce_principal other;
	unsigned frames, lost;	 /* number lost of all frames is lost */
	unsigned asked, longest; /* READ requests of side 0, and the most responses of one */
	bool begun_twice;	 /* a part was asked for while another was under way */
};

static const struct roce_principal_cfg any = {
	.weight = 1, .pool = {{0, ROCE_CAP_NONE}, {0, ROCE_CAP_NONE}}};

static void
see_request(struct watch *w, const struct roce_qp *qp, const struct roce_pkt *pkt)
{
	unsigned responses = (pkt->dma_bytes + MTU - 1) / MTU;

	w->asked++;
	w->longest = responses > w->longest ? responses : w->longest;
	if (pkt->psn != qp->una_psn)
		w->begun_twice = true;
}

static unsigned
tap(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct roce_shard *s = p->side[0].shard;
	struct watch *w = ctx;

	(void)late_ns;
	s->own.busy_ns = w->other.busy_ns = s->now_ns;
	roce_flight_busy(s, &s->own);
	roce_flight_busy(s, &w->other);
	if (from == 0 && pkt->opcode == ROCE_READ_REQUEST)
		see_request(w, p->side[0].q[0].qp, pkt);
	return w->frames++ != w->lost;
}

/* One READ, of whose frames the one of that number is lost. Returns how many there were. */
static unsigned
read_with_loss(unsigned lost, struct watch *w)
{
	struct pair *p =
		pair_new(&(struct pair_opts){.mtu = MTU, .window = WINDOW, .timeout_code = 8});
	struct roce_shard *s = p->side[0].shard;

	*w = (struct watch){.lost = lost};
	cr_assert(roce_principal_init(s, &w->other, &any));
	p->tap = tap;
	p->tap_ctx = w;
	roce_flight_busy(s, &s->own);
	roce_flight_busy(s, &w->other);
	for (uint32_t i = 0; i < BYTES; i++)
		p->side[1].arena[i] = (uint8_t)(i * 7 + i / 251);
	pair_read(p, 0, 0, CTX, 0, 0, BYTES, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	cr_expect_eq(pair_expect(p, 0, CTX, NDSH_WC_SUCCESS).bytes, BYTES);
	pair_expect_none(p, 0);
	pair_expect_alive(p, 0, 0);
	pair_expect_alive(p, 1, 0);
	cr_expect_arr_eq(p->side[0].arena, p->side[1].arena, BYTES);
	cr_expect_null(roce_shard_check(s), "%s", roce_shard_check(s));
	cr_expect(roce_principal_fini(s, &w->other));
	pair_free(p);
	return w->frames;
}

Test(read_parts, one_read_to_the_client_several_to_the_peer)
{
	struct watch w;

	(void)read_with_loss(UINT32_MAX, &w);
	cr_expect_eq(w.longest, PART, "%u", w.longest);
	cr_expect_eq(w.asked, (51 + PART - 1) / PART, "%u", w.asked);
	cr_expect_not(w.begun_twice, "the next one begins when the last is placed");
}

/* What is asked for again is what is missing of its part: the peer would take more for another
 * READ. */
Test(read_parts, any_frame_may_be_lost)
{
	struct watch w;
	unsigned frames = read_with_loss(UINT32_MAX, &w);

	for (unsigned i = 0; i < frames; i++) {
		(void)read_with_loss(i, &w);
		cr_expect_leq(w.longest, PART, "frame %u: %u", i, w.longest);
		cr_expect_not(w.begun_twice, "frame %u", i);
	}
}

/* A part ends with LAST; MIDDLE in its place is a response that was not asked for, and so is a LAST
 * within it. */
static void
answer(struct pair *p, uint8_t opcode, uint32_t index)
{
	static const uint8_t zeros[MTU];
	const struct roce_qp *qp = p->side[0].q[0].qp;

	pair_inject(p, 0, 0,
		&(struct roce_pkt){.opcode = opcode,
			.qpn = roce_qp_num(qp),
			.psn = roce_psn_add(qp->wq_head->first_psn, index),
			.pkey = ROCE_PKEY_DEFAULT,
			.mig = true,
			.payload_bytes = MTU},
		zeros);
	(void)pair_turn(p, 0);
}

static enum roce_qp_state
state_after(uint8_t opcode, uint32_t index)
{
	struct watch w = {.lost = 0}; /* the request */
	struct pair *p = pair_new(&(struct pair_opts){
		.mtu = MTU, .window = WINDOW, .timeout_code = 255, .ignore_events = true});
	struct roce_shard *s = p->side[0].shard;
	enum roce_qp_state state;

	cr_assert(roce_principal_init(s, &w.other, &any));
	p->tap = tap;
	p->tap_ctx = &w;
	roce_flight_busy(s, &s->own);
	roce_flight_busy(s, &w.other);
	pair_read(p, 0, 0, CTX, 0, 0, BYTES, 0);
	(void)pair_turn(p, 0);
	for (uint32_t i = 0; i < index; i++)
		answer(p, i == 0 ? ROCE_READ_RESP_FIRST : ROCE_READ_RESP_MIDDLE, i);
	answer(p, opcode, index);
	state = roce_qp_state_get(p->side[0].q[0].qp);
	(void)roce_principal_fini(s, &w.other);
	pair_free(p);
	return state;
}

Test(read_parts, a_part_is_answered_as_a_read)
{
	cr_expect_eq(state_after(ROCE_READ_RESP_LAST, PART - 1), ROCE_QPS_RTS);
	cr_expect_eq(state_after(ROCE_READ_RESP_MIDDLE, PART - 1), ROCE_QPS_ERR);
	cr_expect_eq(state_after(ROCE_READ_RESP_LAST, PART - 2), ROCE_QPS_ERR);
}
