/* SPDX-License-Identifier: BSD-3-Clause */
/* Broken frames of RoCEv2 on an lcore: each is dropped, and has a counter for what is wrong. */
#include <criterion/criterion.h>
#include <rte_mbuf.h>
#include <string.h>

#include "lcore/shard.h"
#include "lcore/turn.h"
#include "platform/clock.h"
#include "rigs/eal_rig.h"
#include "rigs/wire_rig.h"

#define FRAMES 64u

static struct ndd_plane plane = {.shards = 1};
static struct ndd_shard shard = {.plane = &plane};
static struct rte_mempool *pool;

static void
start(void)
{
	eal_rig_start(NULL);
	pool = eal_rig_pool(FRAMES);
}

TestSuite(lcore_rx, .init = start);

/* A SEND of 8 bytes with one byte changed, or cut. */
static struct rte_mbuf *
broken(unsigned at, uint8_t value, unsigned cut)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);

	m->data_len = (uint16_t)(wire_rig_make(frame, &wire_rig_v6, ROCE_SEND_ONLY, 8) - cut);
	m->pkt_len = m->data_len;
	frame[WIRE_RIG_L3 + at] = value;
	return m;
}

/* The same as a frame to this lcore itself. */
static void
receive(unsigned at, uint8_t value, unsigned cut)
{
	shard.inner.m[shard.inner.n++] = broken(at, value, cut);
	(void)ndd_lcore_inner(&shard, 1);
	cr_assert_eq(rte_mempool_avail_count(pool), FRAMES);
}

/* checks W-PKT-12[3] */
Test(lcore_rx, each_fault_has_its_counter)
{
	const struct ndd_io_counters *c = &shard.count;
	const struct {
		unsigned at;
		uint8_t value;
		unsigned cut;
		const uint64_t *counter;
	} of[] = {{0, 0x60, 1, &c->rx_truncated}, {0, 0x40, 0, &c->rx_ip_header},
		{45, 0, 0, &c->rx_length}, {49, 0x01, 0, &c->rx_tver}, {48, 0xc0, 0, &c->rx_opcode},
		{51, 0xfe, 0, &c->rx_pkey}};

	for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		uint64_t sum = 0;

		receive(of[i].at, of[i].value, of[i].cut);
		for (unsigned k = 0; k < sizeof(of) / sizeof(of[0]); k++)
			sum += *of[k].counter;
		cr_assert_eq(*of[i].counter, 1, "fault %u", i);
		cr_assert_eq(sum, i + 1);
	}
	cr_assert_eq(c->rx_frames, sizeof(of) / sizeof(of[0]));
}

/* So many frames lie in the ring of another shard. */
static void
hand_over(unsigned count)
{
	while (count-- != 0)
		cr_assert_eq(rte_ring_sp_enqueue(plane.rings.rx[1][0], broken(0, 0x60, 1)), 0);
}

static unsigned
received(bool *drained)
{
	return ndd_lcore_rx(&shard, 1, drained);
}

/* What frames cost depends on their size: a turn that has lasted long takes one burst more of each
 * source. */
Test(lcore_rx, a_late_turn_takes_one_burst)
{
	const int node[NDD_SHARDS_MAX] = {0};
	bool drained;

	plane.shards = 2;
	cr_assert(ndd_handover_init(&plane.rings, 2, node, (const uint64_t[2]){5, 6}));
	hand_over(FRAMES);
	ndd_clock_mult = 1ull << 32; /* the counter itself: the turn began long ago */
	cr_assert_eq(received(&drained), NDD_BURST);
	cr_assert(!drained, "there may be more");
	ndd_clock_mult = 0; /* no time passes */
	cr_assert_eq(received(&drained), FRAMES - NDD_BURST);
	cr_assert_eq(received(&drained), 0);
	cr_assert(drained);
}

/* And of its own. */
Test(lcore_rx, frames_to_itself_are_taken_in_bursts)
{
	while (shard.inner.n < NDD_BURST + 5)
		shard.inner.m[shard.inner.n++] = broken(0, 0x60, 1);
	cr_assert_eq(ndd_lcore_inner(&shard, 1), NDD_BURST);
	cr_assert_eq(shard.inner.n, 5);
	cr_assert_eq(ndd_lcore_inner(&shard, 1), 5);
	cr_assert_eq(shard.count.loopback, NDD_BURST + 5);
	cr_assert_eq(ndd_lcore_inner(&shard, 1), 0);
}
