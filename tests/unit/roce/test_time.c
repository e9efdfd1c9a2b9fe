/* SPDX-License-Identifier: BSD-3-Clause */
/* Each call counts from the time that it is given, however long ago any other call was. */
#include <criterion/criterion.h>

#include "rigs/scripted_peer.h"
#include "roce/cc/pace.h"
#include "roce/shard/shard.h"

#define US    UINT64_C(1000)
#define MS    UINT64_C(1000000)
#define ROOM  4u
#define LATER (3 * MS)

static struct roce_tx_slot *
room(void)
{
	static uint8_t bytes[ROOM][ROCE_FRAME_MAX];
	static struct roce_tx_slot slot[ROOM];

	for (unsigned i = 0; i < ROOM; i++)
		slot[i].buf = bytes[i];
	return slot;
}

/* When side 1's queue pair last refused a request of its peer, as its record says. */
static uint64_t
refused_at(const struct pair *p)
{
	struct roce_qp_record r[8];
	unsigned n = roce_qp_records(p->side[1].q[0].qp, r);

	while (n-- > 0)
		if (r[n].kind_psn >> 24 == ROCE_REC_NAK_SENT)
			return r[n].now_ns;
	return 0;
}

/* Side 1 gets a packet of its peer, and nothing else is done. */
static void
hears(struct pair *p, const struct roce_pkt *pkt, uint8_t tos)
{
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce_qp_attr a;
	struct roce_pkt in;
	uint32_t n;

	pair_attr(p, 0, 0, &a);
	a.path.tos = tos;
	n = pair_build(frame, &a.path, pkt, NULL);
	cr_assert_eq(roce_wire_parse(frame, n, &in), ROCE_WIRE_OK);
	pair_rx(p, 1, &in);
}

/* One notification in 50 us, by the times at which marked packets come. checks W-CC-04[1] */
Test(time, W_CC_04_a_received_packet)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct roce_shard *s = p->side[1].shard;

	for (uint32_t i = 0; i < 4; i++) {
		const struct roce_pkt pkt = peer_packet(p, ROCE_WRITE_ONLY, PEER_PSN + i, 8);

		hears(p, &pkt, ROCE_TOS_ECN);
		cr_assert_eq(roce_shard_tx(s, p->now_ns, room(), ROOM), 2);
		cr_assert_eq(pair_count(p, 1)->np_cnp_sent, i + 1);
		p->now_ns += 50 * US;
	}
	pair_free(p);
}

/* An acknowledgement that stands alone gives way to a response, whose memory is gone by then. */
Test(time, acknowledgements)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	struct pair_side *d = &p->side[1];
	const struct roce_pkt write = peer_packet(p, ROCE_WRITE_ONLY, PEER_PSN, 8);
	const struct roce_pkt read = peer_read_request(p, PEER_PSN + 1, 0, 8);

	hears(p, &write, 0);
	hears(p, &read, 0);
	cr_assert(roce_mr_deregister(d->shard, d->mr));
	d->mr = NULL;
	roce_shard_tx_acks(d->shard, p->now_ns + LATER, room(), ROOM);
	cr_assert_eq(refused_at(p), p->now_ns + LATER);
	pair_free(p);
}

/* A queue pair that sends at a rate waits until its time has come, and no longer. */
Test(time, what_may_be_sent)
{
	struct peer_tape t;
	struct pair *p = peer_with(&t, (struct pair_opts){.ecn = true});
	const struct roce_pkt cnp = peer_packet(p, ROCE_CNP, 0, 16);
	struct roce_shard *s = p->side[1].shard;
	uint64_t next;
	unsigned n = 0;

	for (unsigned i = 0; i < 10; i++, p->now_ns += 50 * US)
		hears(p, &cnp, 0);
	pair_write(p, 1, 0, 1, 0, 0, 32 * PEER_MTU, 0);
	while (roce_shard_tx(s, p->now_ns, room(), ROOM) == ROOM)
		cr_assert_lt(n++, 8, "it is not slow");
	next = roce_pace_next(&s->pace);
	cr_assert(next > p->now_ns && next < p->now_ns + MS);
	cr_assert_eq(roce_shard_tx(s, next - 1, room(), ROOM), 0);
	cr_assert_gt(roce_shard_tx(s, next, room(), ROOM), 0);
	pair_free(p);
}

/* A ring in which nothing was found for long falls back to doorbells, as its client can see. */
Test(time, polled_rings)
{
	struct peer_tape t;
	struct pair *p = peer_new(&t);
	const struct ndsh_qp_page *page = p->side[1].q[0].block;

	for (unsigned i = 0; i < 2; i++) {
		pair_write(p, 1, 0, i, 0, 0, 8, 0);
		pair_turn(p, 1);
	}
	cr_assert_eq(t.n, 2);
	cr_assert_eq(page->sq_polled, 1);
	roce_shard_poll_rings(p->side[1].shard, p->now_ns + LATER, 8);
	cr_assert_eq(page->sq_polled, 0);
	pair_free(p);
}

/* The client of side 1 can't reach the memory that the peer writes to: the shard hears of it long
 * after the packet came. */
Test(time, movers)
{
	struct pair *p = pair_new(&(struct pair_opts){.moved = true});
	struct pair_side *d = &p->side[1];

	d->gone[1] = 4096;
	d->stalled = true;
	pair_write_by_key(p, 1, (uintptr_t)d->moved, d->moved_key, 64);
	pair_run(p, 10 * US);
	cr_assert_eq(pair_client_moves(p, 1, UINT32_MAX), 1);
	p->now_ns += LATER;
	roce_shard_movers(d->shard, p->now_ns);
	cr_assert_eq(refused_at(p), p->now_ns);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_REM_ACCESS_ERR);
	pair_free(p);
}
