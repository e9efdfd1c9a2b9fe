/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports that take no frames beside one that takes all: what waits, what is lost, and for how long.
 */
#include <criterion/criterion.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <string.h>

#include "ethdev/ethdev.h"
#include "lcore/shard.h"
#include "lcore/turn.h"
#include "platform/clock.h"
#include "rigs/eal_rig.h"
#include "rigs/lone_shard.h"

#define FRAMES 1023u
#define GOOD   0u /* DPDK's null device */
#define DEAD   1u /* takes no frame */
#define BEGIN  1000ull

static struct ndd_plane plane = {.shards = 1, .ports = 2};
static struct ndd_shard shard = {.plane = &plane};
static struct rte_mempool *pool;

static uint16_t
take_none(struct port *p, struct rte_mbuf **m, uint16_t n)
{
	(void)p;
	(void)m;
	(void)n;
	return 0;
}

static const struct port_ops dead = {.tx = take_none};

static void
start(void)
{
	const struct roce_shard_cfg cfg = lone_config();
	const int node[NDD_SHARDS_MAX] = {0};
	struct ethdev_cfg good = {.device = "net_null0", .mtu = 1500};
	char why[128];

	eal_rig_start("net_null0");
	pool = eal_rig_pool(FRAMES);
	cr_assert(ndd_handover_init(&plane.rings, 1, node, (const uint64_t[2]){5, 6}));
	good.pool = plane.pool = pool;
	plane.port[DEAD].ops = &dead;
	cr_assert_null(ethdev_open(&plane.port[GOOD], &good, why, sizeof(why)), "%s", why);
	shard.engine = lone_shard_new(&cfg);
}

TestSuite(lcore_tx, .init = start);

/* The control thread sends so many frames by a port, of so many bytes. */
static void
send_large_by(uint32_t port, unsigned bytes, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

		cr_assert_not_null(m);
		memcpy(rte_pktmbuf_append(m, (uint16_t)bytes), "\2\0\0\0\0\1\2\0\0\0\0\2", 12);
		m->port = (uint16_t)port;
		cr_assert_eq(rte_ring_sp_enqueue(plane.rings.control_tx, m), 0);
	}
}

static void
send_by(uint32_t port, unsigned count)
{
	send_large_by(port, 64, count);
}

static void
turns_at(uint64_t now_ns, unsigned count)
{
	while (count-- != 0)
		(void)ndd_lcore_tx(&shard, now_ns);
}

/* The dead port keeps as many frames as it can, and has not moved since BEGIN. */
static void
fill_up_dead_port(void)
{
	send_by(DEAD, NDD_OUT_MAX);
	turns_at(BEGIN, 4);
	cr_assert_eq(shard.out[DEAD].n, NDD_OUT_MAX);
}

Test(lcore_tx, a_dead_port_holds_up_the_others_for_a_moment_only)
{
	fill_up_dead_port();
	send_by(DEAD, 10);
	send_by(GOOD, 10);
	turns_at(BEGIN + NDD_HOLD_NS, 4);
	cr_assert_eq(shard.count.tx_frames, 0, "it may be a moment's pause");
	cr_assert_eq(shard.count.tx_link_dropped, 0);
	turns_at(BEGIN + NDD_HOLD_NS + 1, 4);
	cr_assert_eq(shard.count.tx_frames, 10);
	cr_assert_eq(shard.count.tx_link_dropped, 10, "its own frames, and of these the new ones");
	cr_assert_eq(shard.out[DEAD].n, NDD_OUT_MAX, "the others may still leave");
}

Test(lcore_tx, a_dead_port_keeps_nothing_in_the_end)
{
	fill_up_dead_port();
	turns_at(BEGIN + NDD_STALL_NS + 1, 1);
	cr_assert_eq(shard.out[DEAD].n, 0);
	cr_assert_eq(shard.count.tx_link_dropped, NDD_OUT_MAX);
	/* It is known to be dead: there is no second time in which the others wait. */
	send_by(DEAD, 2 * NDD_OUT_MAX);
	send_by(GOOD, 10);
	turns_at(BEGIN + NDD_STALL_NS + 2, 8);
	cr_assert_eq(shard.count.tx_frames, 10);
	cr_assert_eq(shard.count.tx_link_dropped, 3 * NDD_OUT_MAX);
	cr_assert_eq(rte_mempool_avail_count(pool), FRAMES);
}

Test(lcore_tx, a_port_that_takes_frames_again_has_those_that_were_kept)
{
	fill_up_dead_port();
	turns_at(BEGIN + NDD_STALL_NS, 1);
	plane.port[DEAD] = plane.port[GOOD];
	turns_at(BEGIN + NDD_STALL_NS + 1, 1);
	cr_assert_eq(shard.count.tx_frames, NDD_OUT_MAX);
	cr_assert_eq(shard.count.tx_link_dropped, 0);
	/* The next pause is a new one. */
	plane.port[DEAD].ops = &dead;
	send_by(DEAD, NDD_OUT_MAX + 1);
	send_by(GOOD, 1);
	turns_at(BEGIN + NDD_STALL_NS + 2, 8);
	cr_assert_eq(shard.count.tx_frames, NDD_OUT_MAX);
	cr_assert_eq(shard.count.tx_link_dropped, 0);
}

/* Only its own queue pairs wait for it, and for them waiting is better than losing frames. */
Test(lcore_tx, a_port_without_others_keeps_its_frames_longer)
{
	plane.ports = 1;
	plane.port[0].ops = &dead;
	send_by(0, NDD_OUT_MAX + 10);
	turns_at(BEGIN, 8);
	turns_at(BEGIN + NDD_STALL_NS, 4);
	cr_assert_eq(shard.count.tx_link_dropped, 0);
	cr_assert_eq(rte_ring_count(plane.rings.control_tx), 10);
	turns_at(BEGIN + NDD_STALL_NS + 1, 4);
	cr_assert_eq(shard.count.tx_link_dropped, NDD_OUT_MAX + 10);
}

/* What frames cost depends on their size: a turn that has lasted long sends one burst more. */
Test(lcore_tx, a_late_turn_sends_one_burst)
{
	send_by(GOOD, 4 * NDD_BURST + 1);
	shard.small_out = NDD_SMALL_FRAMES;
	ndd_clock_mult = 1ull << 32; /* the counter itself: BEGIN is long ago */
	turns_at(BEGIN, 1);
	cr_assert_eq(shard.count.tx_frames, NDD_BURST);
	ndd_clock_mult = 0; /* no time passes */
	turns_at(BEGIN, 1);
	cr_assert_eq(shard.count.tx_frames, 4 * NDD_BURST + 1);
}

static unsigned bursts, burst_frames;

static uint16_t
take_all(struct port *p, struct rte_mbuf **m, uint16_t n)
{
	(void)p;
	bursts++;
	burst_frames = n;
	rte_pktmbuf_free_bulk(m, n);
	return n;
}

static const struct port_ops counting = {.tx = take_all};

/* Large ones are few, but a port gets as many at once as there is time for. */
Test(lcore_tx, large_frames_are_collected_by_few_and_sent_together)
{
	const unsigned large = NDD_LARGE_BYTES + 1, together = NDD_TX_BYTES / large + 1;

	plane.port[GOOD].ops = &counting;
	shard.small_out = NDD_SMALL_FRAMES;
	cr_assert_eq(together % NDD_LARGE_FRAMES, 0);
	send_large_by(GOOD, large, NDD_BURST + NDD_LARGE_FRAMES + 2 * together);
	ndd_clock_mult = 1ull << 32;
	turns_at(BEGIN, 1);
	cr_assert_eq(burst_frames, NDD_BURST, "what left before was small");
	turns_at(BEGIN, 1);
	cr_assert_eq(burst_frames, NDD_LARGE_FRAMES);
	ndd_clock_mult = 0;
	bursts = 0;
	turns_at(BEGIN, 1);
	cr_assert_eq(shard.count.tx_frames, NDD_BURST + NDD_LARGE_FRAMES + 2 * together);
	cr_assert_eq(bursts, 2, "by their bytes");
	cr_assert_eq(burst_frames, together);
}

/* Of a port that sends runs of RUN frames, and of fewer if it gets them. */
#define RUN 50u

static uint16_t
whole_runs(const struct port *p, struct rte_mbuf *const *m, uint16_t n)
{
	(void)p;
	(void)m;
	return n - n % RUN;
}

static const struct port_ops running = {.tx = take_all, .whole = whole_runs};

static void
start_runs(const struct port_ops *ops)
{
	plane.ports = 1;
	plane.port[0].ops = ops;
	bursts = 0;
}

/* 64 KiB of frames are no whole number of runs: those that are left are with the next. */
Test(lcore_tx, what_others_follow_leaves_in_whole_runs)
{
	const unsigned large = NDD_LARGE_BYTES + 1, together = NDD_TX_BYTES / large + 1;

	start_runs(&running);
	send_large_by(0, large, together + RUN);
	cr_assert_gt(together, RUN);
	turns_at(BEGIN, 1);
	cr_assert_eq(shard.count.tx_frames, together + RUN);
	cr_assert_eq(bursts, 2);
	cr_assert_eq(burst_frames, together, "behind the first run; and no others followed");
}

/* A turn ends in the midst of what there is to send. */
static void
late_turn(void)
{
	ndd_clock_mult = 1ull << 32;
	turns_at(BEGIN, 1);
	ndd_clock_mult = 0;
}

Test(lcore_tx, what_is_left_of_a_turn_leaves_in_the_next)
{
	shard.small_out = NDD_SMALL_FRAMES;
	start_runs(&running);
	send_by(0, 3 * NDD_BURST);
	late_turn();
	cr_assert_eq(shard.count.tx_frames, 0, "others follow");
	cr_assert_eq(shard.count.tx_stalled, 0, "the port was not asked");
	late_turn();
	cr_assert_eq(shard.count.tx_frames, RUN);
	cr_assert_eq(shard.out[0].n, 2 * NDD_BURST - RUN);
	late_turn();
	cr_assert_eq(shard.count.tx_frames, 3 * NDD_BURST, "no whole run, but some had waited");
	turns_at(BEGIN, 1);
	cr_assert_eq(bursts, 2);
}

Test(lcore_tx, what_is_left_leaves_though_nothing_follows)
{
	shard.small_out = NDD_SMALL_FRAMES;
	start_runs(&running);
	send_by(0, NDD_BURST);
	late_turn();
	cr_assert_eq(shard.count.tx_frames, 0);
	turns_at(BEGIN, 1);
	cr_assert_eq(shard.count.tx_frames, NDD_BURST);
}

/* It sends runs, and takes none for now. */
Test(lcore_tx, a_port_that_waits_has_stalled_all_the_same)
{
	static const struct port_ops full = {.tx = take_none, .whole = whole_runs};

	start_runs(&full);
	send_by(0, 2 * RUN);
	turns_at(BEGIN, 2);
	cr_assert_geq(shard.count.tx_stalled, 2);
	cr_assert_eq(shard.out[0].n, 2 * RUN);
	turns_at(BEGIN + NDD_STALL_NS + 1, 1);
	cr_assert_eq(shard.count.tx_link_dropped, 2 * RUN);
}
