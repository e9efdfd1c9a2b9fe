/* SPDX-License-Identifier: BSD-3-Clause */
/* Doorbells: queue pairs whose clients rang, in line until they may send. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rigs/many_qps.h"
#include "roce/queue/send_ring.h"

#define REST_NS UINT64_C(200000)

/* What the way to RTS asks for. */
static const uint32_t way[] = {
	[ROCE_QPS_INIT] = ROCE_QPA_ACCESS,
	[ROCE_QPS_RTR] = ROCE_QPA_PATH | ROCE_QPA_MTU | ROCE_QPA_DEST_QPN | ROCE_QPA_RQ_PSN |
			 ROCE_QPA_MAX_DEST_RD | ROCE_QPA_MIN_RNR,
	[ROCE_QPS_RTS] = ROCE_QPA_TIMEOUT | ROCE_QPA_RETRY | ROCE_QPA_RNR_RETRY | ROCE_QPA_SQ_PSN |
			 ROCE_QPA_MAX_RD,
};

/* More ring in each turn than it has room for, and one has a long message under way. */
Test(doorbell, who_has_more_to_send_and_who_rings_take_turns)
{
	enum { ROOM = 4, TURNS = 20, LONG = 1024 * ROOM * TURNS };
	static uint8_t room[ROOM][ROCE_FRAME_MAX];
	struct pair *p = many_new();
	struct roce_tx_slot slot[ROOM];
	unsigned of_it = 0, n = 0;

	many_go_on(p, REST_NS);
	pair_write(p, 0, 0, 0, 0, MANY_AT, LONG, 0);
	for (unsigned turn = 0; turn < TURNS; turn++) {
		for (unsigned i = 0; i < 2 * ROOM; i++)
			pair_write(p, 0, ++n, 0, 0, MANY_AT, 8, 0);
		for (unsigned i = 0; i < ROOM; i++)
			slot[i].buf = room[i];
		cr_assert_eq(roce_shard_tx(p->side[0].shard, p->now_ns, slot, ROOM), ROOM);
		for (unsigned i = 0; i < ROOM; i++)
			of_it += slot[i].len > 1024;
	}
	cr_assert_gt(of_it, ROOM * TURNS / 4);
	cr_assert_lt(of_it, ROOM * TURNS * 7 / 8);
	pair_free(p);
}

/* More to send and a doorbell are one turn, not two: by ringing on and on a client gets no more
 * than its neighbour. */
Test(doorbell, ringing_gets_a_long_message_no_further)
{
	enum { BURST = 4, TURNS = 12 };
	static uint8_t room[BURST][ROCE_FRAME_MAX];
	struct pair *p = pair_new(&(struct pair_opts){.qps = 2});
	struct roce_tx_slot slot[BURST];
	unsigned sent[2] = {0};

	many_go_on(p, REST_NS);
	for (unsigned i = 0; i < 2; i++)
		pair_write(p, 0, i, i, 0, MANY_AT, 1024 * BURST * TURNS, 0);
	for (unsigned turn = 0; turn < TURNS; turn++) {
		for (unsigned i = 0; i < BURST; i++) {
			roce_qp_doorbell(p->side[0].shard, NULL, p->side[0].q[0].qp);
			slot[i].buf = room[i];
		}
		cr_assert_eq(roce_shard_tx(p->side[0].shard, p->now_ns, slot, BURST), BURST);
		for (unsigned i = 0; i < BURST; i++) {
			struct roce_pkt pkt;

			cr_assert_eq(roce_wire_parse(room[i], slot[i].len, &pkt), ROCE_WIRE_OK);
			sent[pkt.qpn != roce_qp_num(p->side[1].q[0].qp)]++;
		}
	}
	cr_assert_eq(sent[0], sent[1], "%u and %u", sent[0], sent[1]);
	pair_free(p);
}

/* Also if they rang twice. Their clients' memory is gone as well; the address sanitizer sees an
 * access to it. */
Test(doorbell, who_rang_and_is_gone_is_passed_over)
{
	struct pair *p = many_new();

	many_go_on(p, REST_NS);
	many_write(p);
	for (unsigned i = MANY_QPS - 1; i >= MANY_QPS / 2; i--)
		roce_qp_doorbell(p->side[0].shard, NULL, p->side[0].q[i].qp);
	for (unsigned i = MANY_QPS / 2; i < MANY_QPS; i++)
		for (unsigned side = 0; side < 2; side++) {
			roce_qp_destroy(p->side[side].shard, p->side[side].q[i].qp);
			free(p->side[side].q[i].block);
		}
	p->opts.qps = MANY_QPS / 2;
	many_go_on(p, REST_NS);
	cr_assert_eq(many_completions(p), MANY_QPS / 2);
	cr_assert(roce_shard_rest(p->side[0].shard));
	pair_free(p);
}

/* The queue pairs that send next, in order; each has one request of its own. */
static void
first_senders(struct pair *p, unsigned *who, unsigned n)
{
	static uint8_t room[ROCE_FRAME_MAX];
	struct roce_tx_slot slot = {.buf = room};

	for (unsigned i = 0; i < n; i++) {
		struct roce_pkt pkt;

		cr_assert_eq(roce_shard_tx(p->side[0].shard, p->now_ns, &slot, 1), 1, "%u", i);
		cr_assert_eq(roce_wire_parse(room, slot.len, &pkt), ROCE_WIRE_OK);
		for (who[i] = 0; roce_qp_num(p->side[1].q[who[i]].qp) != pkt.qpn;)
			who[i]++;
	}
}

/* In the order of ringing, also when more ring than stand in line: no queue pair is
 * forgotten, and none is served twice for ringing twice. */
Test(doorbell, served_in_the_order_of_ringing)
{
	static unsigned who[MANY_QPS];
	struct pair *p = many_new();
	bool served[MANY_QPS] = {false};

	many_go_on(p, REST_NS);
	for (unsigned i = 0; i < 150; i++)
		pair_write(p, 0, i * 11 % MANY_QPS, i, 0, MANY_AT, 64, 0);
	for (unsigned i = 0; i < 150; i += 2)
		roce_qp_doorbell(p->side[0].shard, NULL, p->side[0].q[i * 11 % MANY_QPS].qp);
	first_senders(p, who, 150);
	for (unsigned i = 0; i < 150; i++)
		cr_assert_eq(who[i], i * 11 % MANY_QPS, "%u: %u", i, who[i]);
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert_eq(many_completions(p), 150);
	many_go_on(p, REST_NS);
	many_write(p); /* more than stand in line */
	for (unsigned i = 0; i < MANY_QPS; i++)
		roce_qp_doorbell(p->side[0].shard, NULL, p->side[0].q[i].qp);
	first_senders(p, who, MANY_QPS);
	for (unsigned i = 0; i < MANY_QPS; i++) {
		cr_assert_not(served[who[i]], "%u twice", who[i]);
		served[who[i]] = true;
	}
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert_eq(many_completions(p), MANY_QPS);
	pair_free(p);
}

/* Between ringing and being served it went to another state: only one that may send
 * does, one in error is flushed, and the way to RTS looks at the ring by itself. */
Test(doorbell, states_that_changed_meanwhile)
{
	for (int to = ROCE_QPS_RESET; to <= ROCE_QPS_ERR; to++) {
		struct pair *p = pair_new(&(struct pair_opts){.qps = 2});
		struct pair_side *d = &p->side[0];
		struct roce_qp_attr a;
		struct ndsh_cqe c;

		if (to == ROCE_QPS_INIT || to == ROCE_QPS_RTR || to == ROCE_QPS_RTS) {
			pair_free(p); /* no way leads there from RTS, but by RESET */
			continue;
		}
		many_go_on(p, REST_NS);
		pair_write(p, 0, 0, 1, 0, 0, 8, 0);
		pair_attr(p, 0, 0, &a);
		cr_assert_eq(roce_qp_modify(d->shard, d->q[0].qp, p->now_ns, (enum roce_qp_state)to,
				     0, &a),
			ROCE_MODIFY_OK);
		(void)pair_run(p, 1000000);
		cr_assert_eq(p->sent[0], 0);
		cr_assert_eq(pair_poll(p, 0, &c), to == ROCE_QPS_ERR);
		if (to == ROCE_QPS_ERR)
			cr_assert(c.context == 1 && c.status == NDSH_WC_FLUSH_ERR);
		if (to == ROCE_QPS_SQD) { /* it was not forgotten */
			cr_assert_eq(roce_qp_modify(
					     d->shard, d->q[0].qp, p->now_ns, ROCE_QPS_RTS, 0, &a),
				ROCE_MODIFY_OK);
			cr_assert(pair_run(p, PAIR_LONG));
			pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
		}
		pair_free(p);
	}
}

/* Posted and rung before RTS, more than once: that is no work yet, and the ring is not polled for
 * it; nothing of it is lost, either. */
Test(doorbell, one_before_RTS_is_no_work)
{
	for (int state = ROCE_QPS_RESET; state < ROCE_QPS_RTS; state++) {
		struct pair *p = pair_new(&(struct pair_opts){0});
		struct roce_shard *s = p->side[0].shard;
		struct roce_qp *qp = p->side[0].q[0].qp;
		const struct ndsh_qp_page *page = p->side[0].q[0].block;
		struct roce_qp_attr a;

		pair_attr(p, 0, 0, &a);
		for (int to = ROCE_QPS_RESET; to <= state; to++)
			cr_assert_eq(roce_qp_modify(
					     s, qp, p->now_ns, (enum roce_qp_state)to, way[to], &a),
				ROCE_MODIFY_OK);
		for (unsigned i = 0; i < 3; i++) {
			pair_write(p, 0, 0, i, 0, 0, 8, 0);
			(void)pair_turn(p, 0);
		}
		cr_assert_eq(page->sq_polled, 0);
		cr_assert_eq(pair_turn(p, 0), 0, "state %d", state);
		cr_assert(roce_shard_rest(s));
		for (int to = state + 1; to <= ROCE_QPS_RTS; to++)
			cr_assert_eq(roce_qp_modify(
					     s, qp, p->now_ns, (enum roce_qp_state)to, way[to], &a),
				ROCE_MODIFY_OK);
		cr_assert(pair_run(p, PAIR_LONG));
		for (unsigned i = 0; i < 3; i++)
			pair_expect(p, 0, i, NDSH_WC_SUCCESS);
		pair_free(p);
	}
}

/* Two doorbells are soon behind each other if less than the time that send_ring.h names is between
 * them. */
Test(doorbell, how_soon_is_soon)
{
	for (unsigned late = 0; late < 2; late++) {
		struct pair *p = pair_new(&(struct pair_opts){0});
		const struct ndsh_qp_page *page = p->side[0].q[0].block;

		many_go_on(p, REST_NS);
		pair_write(p, 0, 0, 1, 0, 0, 8, 0);
		(void)pair_turn(p, 0);
		cr_assert_eq(page->sq_polled, 0);
		p->now_ns += ROCE_SEND_RING_AGAIN_NS - 1 + late;
		pair_write(p, 0, 0, 2, 0, 0, 8, 0);
		(void)pair_turn(p, 0);
		cr_assert_eq(page->sq_polled, !late);
		pair_free(p);
	}
}
