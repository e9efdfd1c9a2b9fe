/* SPDX-License-Identifier: BSD-3-Clause */
/* Broken frames of RoCEv2 on an lcore: each is dropped, and has a counter for what is wrong. */
#include <criterion/criterion.h>
#include <rte_mbuf.h>
#include <string.h>

#include "lcore/shard.h"
#include "lcore/turn.h"
#include "platform/clock.h"
#include "rigs/eal_rig.h"
#include "rigs/engine_pair.h"
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

static void
hand_over_by(struct rte_ring *ring, unsigned count)
{
	while (count-- != 0)
		cr_assert_eq(rte_ring_sp_enqueue(ring, broken(0, 0x60, 1)), 0);
}

/* So many frames lie in the ring of another shard. */
static void
hand_over(unsigned count)
{
	hand_over_by(plane.rings.rx[1][0], count);
}

/* Larger ones. */
static void
hand_over_large(unsigned count)
{
	while (count-- != 0) {
		struct rte_mbuf *m = broken(0, 0x40, 0);

		cr_assert_not_null(rte_pktmbuf_append(m, NDD_LARGE_BYTES));
		cr_assert_eq(rte_ring_sp_enqueue(plane.rings.rx[1][0], m), 0);
	}
}

static unsigned
received(unsigned *advance)
{
	return ndd_lcore_rx(&shard, 1, advance);
}

static void
shards_are(uint32_t n)
{
	const int node[NDD_SHARDS_MAX] = {0};

	plane.shards = n;
	cr_assert(ndd_handover_init(&plane.rings, n, node, (const uint64_t[2]){5, 6}));
}

/* The counter itself is the time, so each turn began long ago. */
#define TURNS_ARE_LATE (1ull << 32)

/* What frames cost depends on their size: a turn that has lasted long takes one burst more of each
 * source. */
Test(lcore_rx, a_late_turn_takes_one_burst)
{
	unsigned advance;

	shards_are(2);
	hand_over(FRAMES);
	shard.small_in = NDD_SMALL_FRAMES;
	ndd_clock_mult = TURNS_ARE_LATE;
	cr_assert_eq(received(&advance), NDD_BURST);
	cr_assert_eq(advance, NDD_BURST, "there may be more");
	ndd_clock_mult = 0; /* no time passes */
	cr_assert_eq(received(&advance), FRAMES - NDD_BURST);
	cr_assert_eq(received(&advance), 0);
	cr_assert_eq(advance, 0);
}

/* ... which is a short one while frames are large, and until enough small ones have come. */
Test(lcore_rx, few_large_frames_are_a_burst)
{
	unsigned advance;

	shards_are(2);
	ndd_clock_mult = TURNS_ARE_LATE;
	shard.small_in = NDD_SMALL_FRAMES;
	hand_over_large(NDD_BURST + NDD_LARGE_FRAMES);
	cr_assert_eq(received(&advance), NDD_BURST, "what came before was small");
	cr_assert_eq(received(&advance), NDD_LARGE_FRAMES);
	for (unsigned n = 0; n < NDD_SMALL_FRAMES; n += NDD_LARGE_FRAMES) {
		hand_over(n == 0 ? NDD_BURST : NDD_LARGE_FRAMES);
		cr_assert_eq(received(&advance), NDD_LARGE_FRAMES);
		cr_assert_eq(advance, NDD_LARGE_FRAMES);
	}
	hand_over(NDD_LARGE_FRAMES);
	cr_assert_eq(received(&advance), NDD_BURST);
}

/* Of the sources that may have more, the one that has brought least counts. */
Test(lcore_rx, the_slowest_source_says_how_far_a_turn_has_come)
{
	unsigned advance;

	shards_are(3);
	ndd_clock_mult = 0;
	hand_over(2 * NDD_LARGE_FRAMES);
	hand_over_by(plane.rings.rx[2][0], 3);
	cr_assert_eq(received(&advance), 2 * NDD_LARGE_FRAMES + 3);
	cr_assert_eq(advance, 0, "neither has more");
	ndd_clock_mult = TURNS_ARE_LATE;
	hand_over(NDD_LARGE_FRAMES + 1);
	hand_over_by(plane.rings.rx[2][0], 3);
	cr_assert_eq(received(&advance), NDD_LARGE_FRAMES + 3);
	cr_assert_eq(advance, NDD_LARGE_FRAMES, "the other has no more");
	cr_assert_eq(received(&advance), 1);
	shard.small_in = NDD_SMALL_FRAMES;
	hand_over_large(NDD_BURST + 1);
	hand_over_by(plane.rings.rx[2][0], NDD_LARGE_FRAMES + 1);
	cr_assert_eq(received(&advance), NDD_BURST + NDD_LARGE_FRAMES);
	cr_assert_eq(advance, NDD_LARGE_FRAMES, "both have more");
}

/* And of its own. */
Test(lcore_rx, frames_to_itself_are_taken_in_bursts)
{
	shard.small_in = NDD_SMALL_FRAMES;
	while (shard.inner.n < NDD_BURST + 5)
		shard.inner.m[shard.inner.n++] = broken(0, 0x60, 1);
	cr_assert_eq(ndd_lcore_inner(&shard, 1), NDD_BURST);
	cr_assert_eq(shard.inner.n, 5);
	cr_assert_eq(ndd_lcore_inner(&shard, 1), 5);
	cr_assert_eq(shard.count.loopback, NDD_BURST + 5);
	cr_assert_eq(ndd_lcore_inner(&shard, 1), 0);
}

/* ---- ports that check ICRCs themselves ---- */

/* A SEND with a wrong ICRC comes from another shard, which had it from that port. Is it refused? */
static bool
is_refused(bool v6, uint16_t port)
{
	struct pair *p = pair_new(&(struct pair_opts){.v6 = v6});
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t frame[ROCE_FRAME_MAX];
	struct roce_qp_attr peer;
	uint64_t errors;
	unsigned advance;

	pair_attr(p, 1, 0, &peer);
	m->data_len = (uint16_t)pair_build(frame, &peer.path,
		&(struct roce_pkt){.opcode = ROCE_SEND_ONLY,
			.qpn = peer.dest_qpn,
			.psn = peer.sq_psn,
			.pkey = ROCE_PKEY_DEFAULT,
			.payload_bytes = 8},
		NULL);
	m->pkt_len = m->data_len;
	m->port = port;
	frame[m->data_len - 1] ^= 1;
	memcpy(rte_pktmbuf_mtod(m, uint8_t *), frame, m->data_len);
	shard.engine = p->side[0].shard;
	plane.qpn_key = p->side[0].qpn_key;
	cr_assert_eq(rte_ring_sp_enqueue(plane.rings.rx[1][0], m), 0);
	cr_assert_eq(received(&advance), 1);
	pair_turn(p, 0);
	errors = pair_count(p, 0)->rx_icrc_error;
	cr_assert_eq(
		errors + pair_count(p, 0)->tx_rnr, 1, "refused, or there is no receive for it");
	pair_free(p);
	return errors != 0;
}

/* What such a port has checked is not checked again, also behind a hand-over: IPv4 of its own, and
 * nothing else. */
Test(lcore_rx, an_icrc_is_checked_once)
{
	shards_are(2);
	plane.checks_icrc = 1u << 1;
	cr_expect(!is_refused(false, 1));
	cr_expect(is_refused(true, 1), "of IPv6 the port has checked nothing");
	cr_expect(is_refused(false, 0), "another port");
	cr_expect(is_refused(false, RTE_MBUF_PORT_INVALID), "of no port");
	plane.checks_icrc = 0;
	cr_expect(is_refused(false, 1));
}
