/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs at a rate that stands still: when exactly they send, and when they wait. */
#include <criterion/criterion.h>

#include "roce/cc/cc.h"
#include "roce/cc/pace.h"
#include "roce/qp/qp.h"
#include "roce/shard/shard.h"

#include "rigs/engine_pair.h"

#define MS     UINT64_C(1000000)
#define MTU    1024u
#define LOWEST 1250u

/* What side 0 sends. */
struct tape {
	unsigned packets, requests, responses, acks, cnps, asks;
	bool asks_last;
	uint64_t response_ns, ack_ns;
	uint32_t mute_qpn; /* what is for it is lost */
};

static struct tape tape;

static unsigned
tap(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct tape *t = ctx;

	(void)late_ns;
	if (from == 1)
		return 1;
	t->packets++;
	if (pkt->opcode == ROCE_CNP) {
		t->cnps++;
	} else if (pkt->opcode == ROCE_ACK) {
		t->acks++;
		t->ack_ns = p->now_ns;
	} else if (pkt->opflags & ROCE_OPF_REQUEST) {
		t->requests++;
		t->asks += pkt->ackreq;
		t->asks_last = pkt->ackreq;
	} else {
		t->responses++;
		t->response_ns = p->now_ns;
	}
	return pkt->qpn != t->mute_qpn;
}

static struct pair *
watched(const struct pair_opts *o)
{
	struct pair_opts with = *o;
	struct pair *p;

	with.ecn = true;
	p = pair_new(&with);
	tape = (struct tape){0};
	p->tap = tap;
	p->tap_ctx = &tape;
	return p;
}

static struct roce_cc *
cc_of(struct pair *p, unsigned side, unsigned i)
{
	struct roce_shard *s = p->side[side].shard;

	return &s->ccs[p->side[side].q[i].qp - s->qps];
}

/* From now on queue pair i sends so many bytes in a ms; its next packet is due late_ns ago. */
static struct roce_cc *
set_rate(struct pair *p, unsigned side, unsigned i, uint32_t rate, uint64_t late_ns)
{
	struct roce_cc *cc = cc_of(p, side, i);

	p->side[side].q[i].qp->rx_bits |= ROCE_RXB_CC | ROCE_RXB_PACED;
	cc->rate = (struct roce_rate){.now = rate, .target = rate, .period_ns = UINT64_MAX};
	cc->next_ns = p->now_ns - late_ns;
	return cc;
}

/*
 * Queue pairs with responses and no roce_wqe for their requests wait for one thing at a time: for
 * their time to send. What others have in flight ends, and all that was asked for leaves.
 */
Test(pace_times, without_a_request_in_the_pool_they_wait_in_one_place, .timeout = 20)
{
	struct pair *p = watched(&(struct pair_opts){.qps = 4, .max_wqes = 16});

	tape.mute_qpn = roce_qp_num(p->side[1].q[3].qp);
	for (uint64_t n = 0; n < 16; n++)
		pair_write(p, 0, 3, n, 0, 0, 8, 0);
	pair_turn(p, 0);
	for (unsigned i = 0; i < 3; i++) {
		set_rate(p, 0, i, LOWEST, 0);
		pair_read(p, 1, i, 1, 0, 0, 16 * MTU, 0);
		pair_write(p, 0, i, 1, 0, 0, 8, 0);
	}
	(void)pair_run(p, 5 * MS);
	cr_assert_gt(pair_count(p, 0)->wqe_pool_empty, 3, "each asked for one, and sends");
	cr_assert_geq(tape.responses, 3 * 5);
	tape.mute_qpn = 0;
	cr_assert(pair_run(p, PAIR_LONG));
	cr_expect_eq(tape.responses, 3 * 16);
	pair_free(p);
}
