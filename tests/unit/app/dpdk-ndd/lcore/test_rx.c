/* SPDX-License-Identifier: BSD-3-Clause */
/* Broken frames of RoCEv2 on an lcore: each is dropped, and has a counter for what is wrong. */
#include <criterion/criterion.h>
#include <rte_eal.h>
#include <rte_mbuf.h>
#include <string.h>

#include "lcore/shard.h"
#include "lcore/turn.h"
#include "rigs/wire_rig.h"

#define FRAMES 64u

static struct ndd_plane plane = {.shards = 1};
static struct ndd_shard shard = {.plane = &plane};
static struct rte_mempool *pool;

static void
start(void)
{
	static char *argv[] = {"test", "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry",
		"-m", "64", "--log-level=*:error", "-l", "0", "--iova-mode=va", NULL};

	cr_assert_geq(rte_eal_init(11, argv), 0);
	pool = rte_pktmbuf_pool_create("frames", FRAMES, 0, 0, 2048, 0);
	cr_assert_not_null(pool);
}

TestSuite(lcore_rx, .init = start);

/* A SEND of 8 bytes with one byte changed, or cut, as a frame to this lcore itself. */
static void
receive(unsigned at, uint8_t value, unsigned cut)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);

	m->data_len = (uint16_t)(wire_rig_make(frame, &wire_rig_v6, ROCE_SEND_ONLY, 8) - cut);
	m->pkt_len = m->data_len;
	frame[WIRE_RIG_L3 + at] = value;
	shard.inner.m[shard.inner.n++] = m;
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
