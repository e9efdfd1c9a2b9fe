/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of requests in the send queue. */
#include <criterion/criterion.h>

#include "rigs/windows.h"

#define LATE_NS UINT64_C(1000000000)

static unsigned
tap_late_answers(
	struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	(void)p, (void)pkt, (void)ctx;
	*late_ns = from == 0 ? LATE_NS : 0;
	return 1;
}

/* A timeout has sent the requester back to a SEND, and its acknowledgement comes before it leaves
 * again: it ends, and with it the bind behind it, which was carried out long ago. Nothing is sent
 * twice. */
Test(request, acknowledged_before_it_is_sent_again)
{
	struct pair *p = window_pair();
	struct roce_shard *s = p->side[1].shard;
	struct window v = window_new(p);
	uint64_t sent, answer_ns;

	p->tap = tap_late_answers;
	pair_recv(p, 0, 0, 10, 0, 64);
	pair_send(p, 1, 0, 1, 0, 64, 0);
	window_bind(p, 0, 2, &v, WINDOW_READ);
	(void)pair_turn(p, 1);
	p->now_ns += p->opts.delay_ns;
	(void)pair_turn(p, 0);
	sent = p->sent[1];
	answer_ns = p->now_ns + p->opts.delay_ns + LATE_NS;
	while (pair_count(p, 1)->timeouts == 0) {
		p->now_ns = roce_shard_next_deadline(s);
		cr_assert_lt(p->now_ns, answer_ns);
		(void)roce_shard_timers(s, p->now_ns, 64);
	}
	p->now_ns = answer_ns;
	(void)pair_turn(p, 1);
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert_eq(p->sent[1], sent);
	pair_expect_alive(p, 1, 0);
	window_pair_free(p, &v);
}
