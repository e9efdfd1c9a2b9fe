/* SPDX-License-Identifier: BSD-3-Clause */
/* The completer: requests from and to memory that only their client can reach. */
#include <criterion/criterion.h>

#include "rigs/overheard.h"

#define FLOOR	UINT64_C(1000000) /* rto_floor_ns of engine_pair */
#define MTU	256u
#define PACKETS 16u /* of each message: as many are asked for ahead */
#define HOLDERS (NDSH_MOVER_SLOTS / PACKETS)

/* A WRITE from memory behind the mover. */
static void
moved_write(struct pair *p, unsigned i, uint32_t packets)
{
	struct ndsh_sge from = pair_moved_sge(p, 0, 0, packets * MTU);

	pair_post_sge(p, 0, i, i, NDSH_OP_WRITE, 0, &from);
}

static void
acknowledge(struct pair *p, unsigned i, uint32_t packets)
{
	struct roce_qp_attr a;

	pair_attr(p, 0, i, &a);
	pair_inject(p, 0, i,
		&(struct roce_pkt){.opcode = ROCE_ACK,
			.pkey = ROCE_PKEY_DEFAULT,
			.qpn = roce_qp_num(p->side[0].q[i].qp),
			.psn = (a.sq_psn + packets - 1) & ROCE_PSN_MASK,
			.syndrome = ROCE_SYN_ACK},
		NULL);
}

/* Each of them asks its client for what the timer wants sent again, which takes all slots of the
 * mover. Then late acknowledgements say that it had arrived: others need those slots. */
Test(completer_moved, what_was_asked_for_in_vain_is_given_back)
{
	struct pair *p = watched_pair(
		&(struct pair_opts){.mtu = MTU, .qps = HOLDERS + 1, .moved = true}, true);

	for (unsigned i = 0; i < HOLDERS; i++)
		moved_write(p, i, PACKETS);
	pair_settle(p);
	cr_assert_eq(watched.n, HOLDERS * PACKETS);
	p->side[0].stalled = true;
	p->now_ns += FLOOR + FLOOR / 4;
	pair_settle(p);
	cr_assert_eq(pair_count(p, 0)->timeouts, HOLDERS);
	for (unsigned i = 0; i < HOLDERS; i++)
		acknowledge(p, i, PACKETS);
	pair_settle(p);
	for (unsigned i = 0; i < HOLDERS; i++)
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
	p->side[0].stalled = false;
	pair_settle(p);
	cr_assert_eq(watched.n, HOLDERS * PACKETS);
	moved_write(p, HOLDERS, 1);
	pair_settle(p);
	cr_assert_eq(watched.n, HOLDERS * PACKETS + 1);
	pair_free(p);
}

/* The responses found no room, and no more come. The client's progress is what the READ waits for:
 * no timer is. */
Test(completer_moved, a_read_without_room_needs_no_timer)
{
	const uint32_t bytes = 3u << 20; /* more than the staging holds */
	struct pair *p = pair_new(&(struct pair_opts){
		.mtu = 4096, .window = 1024, .moved = true, .timeout_code = 255});
	struct ndsh_sge to = pair_moved_sge(p, 0, 0, bytes);

	p->side[0].stalled = true;
	p->side[1].arena[bytes - 1] = 0x5a;
	pair_post_sge(p, 0, 0, 1, NDSH_OP_READ, 0, &to);
	cr_assert(pair_run(p, PAIR_LONG), "nothing comes any more");
	pair_expect_none(p, 0);
	p->side[0].stalled = false;
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	cr_assert_eq(p->side[0].moved[bytes - 1], 0x5a);
	pair_free(p);
}

/* The response is there, and it is our own client that has no room for it: that is no silence of
 * the peer, and what comes behind is no gap, although there is no retry. checks W-COMP-13[6] */
Test(completer_moved, W_COMP_13_a_response_without_room_is_an_answer)
{
	struct pair *p = pair_new(&(struct pair_opts){
		.mtu = 4096, .window = 1024, .moved = true, .retry = 255, .timeout_code = 12});
	struct ndsh_sge to = pair_moved_sge(p, 0, 0, 3u << 20); /* more than the staging holds */

	p->side[0].stalled = true;
	pair_post_sge(p, 0, 0, 1, NDSH_OP_READ, 0, &to);
	cr_assert(pair_run(p, UINT64_C(2000000000)), "nothing is asked for meanwhile");
	pair_expect_alive(p, 0, 0);
	cr_assert_eq(pair_count(p, 0)->timeouts, 0);
	p->side[0].stalled = false;
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* READ requests are lost while *ctx says so. */
static unsigned
lose_reads(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	(void)p, (void)from, (void)late_ns;
	return pkt->opcode != ROCE_READ_REQUEST || !*(bool *)ctx;
}

/* Queue pair 1 of side 1 has filled side 0's staging, and side 0's client takes nothing out. */
static struct pair *
pair_without_room(const struct pair_opts *opts)
{
	struct pair *p = pair_new(opts);
	struct ndsh_sge from = pair_sge(p, 1, 0, 3u << 20);

	p->side[0].stalled = true;
	pair_post(p, 1, 1,
		&(struct ndsh_swr){.raddr = (uintptr_t)p->side[0].moved,
			.rkey = p->side[0].moved_key,
			.ctrl = NDSH_CTRL(NDSH_OP_WRITE, 1, 0, 0)},
		&from, NULL);
	(void)pair_run(p, 50000000);
	return p;
}

/* The only retry went for requests that were lost, and is there again when others are, since the
 * peer has answered in between. checks W-COMP-13[6] */
Test(completer_moved, W_COMP_13_a_response_without_room_renews_the_retries)
{
	const uint64_t t_ns = UINT64_C(4096) << 12;
	struct pair *p = pair_without_room(&(struct pair_opts){.qps = 2,
		.mtu = 4096,
		.window = 1024,
		.moved = true,
		.retry = 1,
		.timeout_code = 12});
	struct ndsh_sge to = pair_moved_sge(p, 0, 0, 4096);
	bool lossy = true;

	p->tap = lose_reads;
	p->tap_ctx = &lossy;
	pair_post_sge(p, 0, 0, 1, NDSH_OP_READ, 0, &to);
	(void)pair_run(p, t_ns * 6 / 5);
	lossy = false;
	(void)pair_run(p, 10 * t_ns);
	pair_expect_alive(p, 0, 0);
	pair_expect_none(p, 0);
	lossy = true;
	p->side[0].stalled = false;
	(void)pair_run(p, t_ns * 9 / 10);
	pair_expect_alive(p, 0, 0);
	lossy = false;
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_free(p);
}

static unsigned
answers_are_late(
	struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	(void)p, (void)ctx;
	if (from == 1 && pkt->opcode == ROCE_READ_RESP_ONLY)
		*late_ns = 1000000;
	return 1;
}

/* The peer asked for patience, and then its response comes all the same and finds no room: the READ
 * waits for room, and not for the peer any more. checks W-COMP-13[6] */
Test(completer_moved, W_COMP_13_a_response_without_room_ends_an_rnr_wait)
{
	struct pair *p = pair_without_room(
		&(struct pair_opts){.qps = 2, .mtu = 4096, .window = 1024, .moved = true});
	struct ndsh_sge to = pair_moved_sge(p, 0, 0, 4096);
	struct roce_qp_attr a;

	pair_attr(p, 0, 0, &a);
	p->tap = answers_are_late;
	pair_post_sge(p, 0, 0, 1, NDSH_OP_READ, 0, &to);
	pair_turn(p, 0);
	watched_answer(p, ROCE_ACK, a.sq_psn, ROCE_SYN_RNR);
	cr_assert_eq(pair_count(p, 0)->rx_rnr, 1);
	(void)pair_run(p, 5000000);
	pair_expect_none(p, 0);
	p->side[0].stalled = false;
	(void)pair_run(p, 50000000);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_free(p);
}
