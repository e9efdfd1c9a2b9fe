/* SPDX-License-Identifier: BSD-3-Clause */
/* What the engine does otherwise when there are many queue pairs: timers and rings go to rest. */
#include <criterion/criterion.h>

#include "rigs/engine_pair.h"

#define MANY	700u /* more than timers that stay, and than rings of one barrier and turn */
#define AT_DST	(1u << 20)
#define WIRE_NS UINT64_C(2000)
#define RTO_NS	UINT64_C(1000000) /* at least */
#define REST_NS UINT64_C(200000)
#define SOON_NS UINT64_C(10000)

static const struct pair_opts many = {.qps = MANY, .sq_depth = 8, .rq_depth = 1};

static uint32_t
timers(const struct pair *p)
{
	struct roce_usage u;

	roce_shard_usage(p->side[0].shard, &u);
	return u.timers;
}

static void
write_on_each(struct pair *p)
{
	for (unsigned i = 0; i < MANY; i++)
		pair_write(p, 0, i, i, 0, AT_DST + 64 * i, 64, 0);
}

static unsigned
completions(struct pair *p)
{
	struct ndsh_cqe cqe;
	unsigned n = 0;

	for (; pair_poll(p, 0, &cqe); n++)
		cr_assert_eq(cqe.status, NDSH_WC_SUCCESS);
	return n;
}

/* Turns for so long, no timer of a request being due. */
static void
go_on(struct pair *p, uint64_t ns)
{
	for (uint64_t end = p->now_ns + ns; p->now_ns < end; p->now_ns += WIRE_NS) {
		pair_turn(p, 0);
		pair_turn(p, 1);
	}
}

Test(many_qps, timers_leave_with_what_they_waited_for)
{
	struct pair *p = pair_new(&many);

	write_on_each(p);
	while (p->sent[0] < MANY)
		pair_turn(p, 0);
	cr_assert_eq(timers(p), MANY);
	go_on(p, RTO_NS / 2);
	cr_assert_eq(completions(p), MANY);
	cr_assert_lt(timers(p), MANY, "all of them wait for nothing");
	cr_assert(pair_run(p, 10 * RTO_NS));
	cr_assert_eq(timers(p), 0);
	pair_free(p);
}

/* The first copy of each request is lost, when none has a timer, and when some have. */
static unsigned
lose_first(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	(void)pkt;
	(void)late_ns;
	return from != 0 || p->sent[0] > *(uint64_t *)ctx + MANY;
}

Test(many_qps, what_is_lost_of_each_is_sent_again)
{
	struct pair *p = pair_new(&many);
	uint64_t before = 0;

	p->tap = lose_first;
	p->tap_ctx = &before;
	for (unsigned round = 0; round < 3; round++) {
		before = p->sent[0];
		write_on_each(p);
		go_on(p, RTO_NS / 2);
		cr_assert_eq(completions(p), 0);
		cr_assert_eq(timers(p), MANY);
		go_on(p, 20 * RTO_NS);
		cr_assert_eq(completions(p), MANY);
	}
	cr_assert_eq(roce_shard_counters(p->side[0].shard)->timeouts, 3 * MANY);
	pair_free(p);
}

static unsigned
polled(const struct pair *p)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MANY; i++)
		n += ((const struct ndsh_qp_page *)p->side[0].q[i].block)->sq_polled;
	return n;
}

/* Who rings once is not looked at afterwards, who rings again soon is, for a while. */
Test(many_qps, rings_go_to_rest_and_ring_again)
{
	struct pair *p = pair_new(&many);

	go_on(p, REST_NS);
	for (unsigned round = 0; round < 3; round++) {
		write_on_each(p);
		go_on(p, SOON_NS);
		cr_assert_eq(polled(p), 0, "%u of them are looked at for one request", polled(p));
		write_on_each(p);
		go_on(p, SOON_NS);
		cr_assert_eq(polled(p), MANY);
		go_on(p, REST_NS);
		cr_assert_eq(completions(p), 2 * MANY);
		cr_assert_eq(polled(p), 0, "%u of them spare their clients a doorbell", polled(p));
	}
	pair_free(p);
}

/* While the client is told that its ring is polled it need not ring, and what it posts is seen. */
Test(many_qps, a_request_without_doorbell_is_seen_while_rings_are_polled)
{
	struct pair *p = pair_new(&many);
	unsigned done;

	write_on_each(p);
	go_on(p, REST_NS / 4);
	done = completions(p);
	for (unsigned round = 0; round < 40; round++) {
		go_on(p, WIRE_NS * (30 + round));
		for (unsigned i = 0; i < MANY; i += 7)
			pair_write(p, 0, i, i, 0, AT_DST + 64 * i, 64, 0);
		go_on(p, 10 * WIRE_NS);
		done += completions(p);
	}
	go_on(p, REST_NS);
	cr_assert_eq(done + completions(p), MANY + 40 * (MANY / 7));
	pair_free(p);
}

/* More ring in each turn than it has room for, and one has a long message under way. */
Test(many_qps, who_has_more_to_send_and_who_rings_take_turns)
{
	enum { ROOM = 4, TURNS = 20, LONG = 1024 * ROOM * TURNS };
	static uint8_t room[ROOM][ROCE_FRAME_MAX];
	struct pair *p = pair_new(&many);
	struct roce_tx_slot slot[ROOM];
	unsigned of_it = 0, n = 0;

	go_on(p, REST_NS);
	pair_write(p, 0, 0, 0, 0, AT_DST, LONG, 0);
	for (unsigned turn = 0; turn < TURNS; turn++) {
		for (unsigned i = 0; i < 2 * ROOM; i++)
			pair_write(p, 0, ++n, 0, 0, AT_DST, 8, 0);
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

/* Their clients' memory is gone as well; under address sanitizer who looks there is caught. */
Test(many_qps, who_rang_and_is_gone_is_passed_over)
{
	struct pair *p = pair_new(&many);

	go_on(p, REST_NS);
	write_on_each(p);
	for (unsigned i = MANY / 2; i < MANY; i++)
		for (unsigned side = 0; side < 2; side++) {
			roce_qp_destroy(p->side[side].shard, p->side[side].q[i].qp);
			free(p->side[side].q[i].block);
		}
	p->opts.qps = MANY / 2;
	go_on(p, REST_NS);
	cr_assert_eq(completions(p), MANY / 2);
	cr_assert(roce_shard_rest(p->side[0].shard));
	pair_free(p);
}
