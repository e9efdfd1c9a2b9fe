/* SPDX-License-Identifier: BSD-3-Clause */
/* Send rings: which are polled, which fall back to doorbells, and when an lcore may rest. */
#include <criterion/criterion.h>

#include "rigs/many_qps.h"
#include "roce/queue/send_ring.h"

#define LONG	UINT64_C(10000000000)
#define REST_NS UINT64_C(200000)
#define SOON_NS UINT64_C(10000)

static unsigned
polled(const struct pair *p)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MANY_QPS; i++)
		n += ((const struct ndsh_qp_page *)p->side[0].q[i].block)->sq_polled;
	return n;
}

/* A ring is not polled for one doorbell; it is, for a while, when its client rings again soon. */
Test(send_ring, rings_go_to_rest_and_ring_again)
{
	struct pair *p = many_new();

	many_go_on(p, REST_NS);
	for (unsigned round = 0; round < 3; round++) {
		many_write(p);
		many_go_on(p, SOON_NS);
		cr_assert_eq(polled(p), 0, "%u of them are looked at for one request", polled(p));
		many_write(p);
		many_go_on(p, SOON_NS);
		cr_assert_eq(polled(p), MANY_QPS);
		many_go_on(p, REST_NS);
		cr_assert_eq(many_completions(p), 2 * MANY_QPS);
		cr_assert_eq(polled(p), 0, "%u of them spare their clients a doorbell", polled(p));
	}
	pair_free(p);
}

/* While the client is told that its ring is polled it need not ring, and what it posts is seen. */
Test(send_ring, a_request_without_doorbell_is_seen_while_rings_are_polled)
{
	struct pair *p = many_new();
	unsigned done;

	many_write(p);
	many_go_on(p, REST_NS / 4);
	done = many_completions(p);
	for (unsigned round = 0; round < 40; round++) {
		many_go_on(p, MANY_WIRE_NS * (30 + round));
		for (unsigned i = 0; i < MANY_QPS; i += 7)
			pair_write(p, 0, i, i, 0, MANY_AT + 64 * i, 64, 0);
		many_go_on(p, 10 * MANY_WIRE_NS);
		done += many_completions(p);
	}
	many_go_on(p, REST_NS);
	cr_assert_eq(done + many_completions(p), MANY_QPS + 40 * (MANY_QPS / 7));
	pair_free(p);
}

/* Requests behind a closed window are started by the ACK that opens it, not by looking. */
Test(send_ring, a_ring_behind_a_closed_window_lets_the_lcore_rest)
{
	struct pair *p = pair_new(&(struct pair_opts){.window = 16});
	struct ndsh_cqe c;

	for (unsigned i = 0; i < 40; i++)
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
	pair_turn(p, 0);
	cr_assert_eq(p->sent[0], 16);
	cr_assert(roce_shard_rest(p->side[0].shard));
	cr_assert(pair_run(p, LONG));
	for (unsigned i = 0; i < 40; i++)
		cr_assert(pair_poll(p, 0, &c) && c.context == i);
	pair_free(p);
}

Test(send_ring, an_idle_ring_falls_back_to_doorbells)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	const struct ndsh_qp_page *page = p->side[0].q[0].block;

	cr_assert_eq(page->sq_polled, 1, "it has just come to RTS");
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	cr_assert(pair_run(p, LONG));
	cr_assert_not(roce_shard_poll_rings(p->side[0].shard, p->now_ns, 8));
	p->now_ns += 1000000;
	roce_shard_poll_rings(p->side[0].shard, p->now_ns, 8);
	cr_assert_eq(page->sq_polled, 0);
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	cr_assert_not(roce_shard_rest(p->side[0].shard), "it rang");
	pair_turn(p, 0);
	cr_assert_eq(page->sq_polled, 0, "it rang once");
	pair_write(p, 0, 0, 3, 0, 0, 8, 0);
	pair_turn(p, 0);
	cr_assert_eq(page->sq_polled, 1, "it rang again");
	pair_write(p, 0, 0, 4, 0, 0, 8, 0);
	cr_assert_not(roce_shard_rest(p->side[0].shard), "a request waits");
	cr_assert_eq(page->sq_polled, 1);
	cr_assert(pair_run(p, LONG));
	cr_assert(roce_shard_rest(p->side[0].shard));
	cr_assert_eq(page->sq_polled, 0);
	for (unsigned i = 1; i <= 4; i++)
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* A turn looks at so many rings, and the next one at those behind them: each gets its turn. */
Test(send_ring, a_budget_and_who_is_next)
{
	enum { QPS = 30, BUDGET = 7 };
	struct pair *p = pair_new(&(struct pair_opts){.qps = QPS});
	struct roce_shard *s = p->side[0].shard;
	unsigned found = 0;

	cr_assert(pair_run(p, 1)); /* what coming to RTS asks for; all rings are polled */
	for (unsigned i = 0; i < QPS; i++) {
		cr_assert(((const struct ndsh_qp_page *)p->side[0].q[i].block)->sq_polled);
		pair_write(p, 0, i, i, 0, 0, 8, 0);
	}
	cr_assert_eq(roce_shard_poll_rings(s, p->now_ns, 0), 0);
	cr_assert_not(roce_shard_tx_pending(s, p->now_ns));
	for (unsigned turn = 0; turn < (QPS + BUDGET - 1) / BUDGET; turn++) {
		unsigned n = roce_shard_poll_rings(s, p->now_ns, BUDGET);

		cr_assert_leq(n, BUDGET);
		found += n;
	}
	cr_assert_eq(found, QPS);
	cr_assert_eq(roce_shard_poll_rings(s, p->now_ns, 10 * QPS), 0, "all of them wait to send");
	cr_assert(pair_run(p, PAIR_LONG));
	for (unsigned i = 0; i < QPS; i++) {
		struct ndsh_cqe c;

		cr_assert(pair_poll(p, 0, &c) && c.status == NDSH_WC_SUCCESS);
	}
	pair_free(p);
}

/* Idle for exactly so long it is still polled, and not for longer; a request in between begins the
 * time anew. */
Test(send_ring, when_it_falls_back)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_shard *s = p->side[0].shard;
	const struct ndsh_qp_page *page = p->side[0].q[0].block;
	uint64_t from = p->now_ns;

	roce_shard_poll_rings(s, from + ROCE_SEND_RING_IDLE_NS - 1, 8);
	cr_assert_eq(page->sq_polled, 1);
	p->now_ns = from + ROCE_SEND_RING_IDLE_NS - 1;
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	roce_shard_poll_rings(s, p->now_ns, 8);
	pair_turn(p, 0);
	roce_shard_poll_rings(s, p->now_ns + ROCE_SEND_RING_IDLE_NS - 1, 8);
	cr_assert_eq(page->sq_polled, 1);
	roce_shard_poll_rings(s, p->now_ns + ROCE_SEND_RING_IDLE_NS, 8);
	cr_assert_eq(page->sq_polled, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_free(p);
}

/* A message that waits for its window is work: however long the round trips are, its ring does not
 * fall back to doorbells in the middle. */
Test(send_ring, a_blocked_ring_is_not_idle)
{
	enum { WINDOWS = 3, WINDOW = 16 };
	struct pair *p = pair_new(
		&(struct pair_opts){.window = WINDOW, .delay_ns = 3 * ROCE_SEND_RING_IDLE_NS});
	const struct ndsh_qp_page *page = p->side[0].q[0].block;
	struct ndsh_cqe c;

	pair_write(p, 0, 0, 1, 0, MANY_AT, 1024 * WINDOW * WINDOWS, 0);
	while (p->sent[0] < WINDOW * WINDOWS) {
		many_go_on(p, MANY_WIRE_NS);
		cr_assert_eq(page->sq_polled, 1, "%lu packets were sent", p->sent[0]);
	}
	cr_assert(pair_run(p, LONG));
	cr_assert(pair_poll(p, 0, &c) && c.status == NDSH_WC_SUCCESS);
	pair_free(p);
}

/* Many rings that fall back in one look, and many that don't. */
Test(send_ring, any_number_falls_back_at_once)
{
	struct pair *p = many_new();
	struct roce_shard *s = p->side[0].shard;

	cr_assert(pair_run(p, 1)); /* what coming to RTS asks for */
	cr_assert_eq(polled(p), MANY_QPS);
	p->now_ns += ROCE_SEND_RING_IDLE_NS;
	for (unsigned i = 0; i < MANY_QPS; i += 10)
		pair_write(p, 0, i, i, 0, MANY_AT, 8, 0);
	cr_assert_eq(roce_shard_poll_rings(s, p->now_ns, MANY_QPS), MANY_QPS / 10);
	cr_assert_eq(polled(p), MANY_QPS / 10);
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert_eq(many_completions(p), MANY_QPS / 10);
	many_write(p);
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert_eq(many_completions(p), MANY_QPS);
	pair_free(p);
}

/* An lcore whose rings are empty may sleep although they are polled. Afterwards they are not, until
 * their clients ring as often as any other's. */
Test(send_ring, rest_ends_polling)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 2});
	struct roce_shard *s = p->side[0].shard;
	const struct ndsh_qp_page *page[] = {p->side[0].q[0].block, p->side[0].q[1].block};

	cr_assert(pair_run(p, 1)); /* what coming to RTS asks for */
	cr_assert(page[0]->sq_polled && page[1]->sq_polled);
	cr_assert(roce_shard_rest(s));
	cr_assert_not(page[0]->sq_polled || page[1]->sq_polled);
	p->now_ns += ROCE_SEND_RING_IDLE_NS;
	for (unsigned i = 0; i < 2; i++) {
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
		cr_assert_eq(page[0]->sq_polled, 0);
		(void)pair_turn(p, 0);
	}
	cr_assert_eq(page[0]->sq_polled, 1, "it rang twice");
	cr_assert_eq(page[1]->sq_polled, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	for (unsigned i = 0; i < 2; i++)
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
	pair_free(p);
}
