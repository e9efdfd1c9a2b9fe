/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames to groups between lcores: references for those that have members, and bounds. */
#include <criterion/criterion.h>
#include <rte_mbuf.h>
#include <stdlib.h>
#include <string.h>

#include "lcore/shard.h"
#include "lcore/turn.h"
#include "rigs/eal_rig.h"

#define SHARDS	   3u
#define MEMBERS_AT 2u /* the shard that has members */
#define FRAMES	   (NDD_FRAME_RING + 64)

static const uint8_t own_mac[6] = {2, 0, 0, 0, 0, 1}, other_mac[6] = {2, 0, 0, 0, 0, 9},
		     group_mac[6] = {1, 0, 0x5e, 1, 2, 3};
static const struct roce_group_key key = {.gid = {{[10] = 0xff, 0xff, 239, 1, 2, 3}}};

static struct ndd_plane plane;
static struct ndd_shard shard[SHARDS];
static struct rte_mempool *pool;

static void
start(void)
{
	static const uint64_t secret[2] = {1, 2};
	const int node[NDD_SHARDS_MAX] = {0};
	struct roce_groups *t;

	eal_rig_start(NULL);
	cr_assert(ndd_handover_init(&plane.rings, SHARDS, node, plane.secret));
	pool = eal_rig_pool(FRAMES);
	plane.shards = SHARDS;
	plane.ports = 1;
	memcpy(plane.port[0].mac, own_mac, 6);
	for (uint32_t i = 0; i < SHARDS; i++) {
		shard[i].plane = &plane;
		shard[i].id = i;
		plane.shard[i] = &shard[i];
		cr_assert(ndd_wakeup_init(&shard[i].wakeup));
	}
	t = roce_groups_init(calloc(1, roce_groups_bytes(1, 0)), 1, 0, secret);
	roce_groups_add(t, &key, 1u << MEMBERS_AT, NULL, 0);
	shard[NDD_IO_OWNER].groups = t;
}

TestSuite(multicast, .init = start);

static struct rte_mbuf *
frame(const uint8_t dmac[6], const uint8_t smac[6], uint8_t group)
{
	struct roce_path path = {.sgid = {{[10] = 0xff, 0xff, 10, 0, 0, 9}},
		.dgid = key.gid,
		.udp_sport = 0xc000,
		.ttl = 1};
	struct roce_pkt pkt = {
		.opcode = ROCE_UD_SEND_ONLY, .qpn = ROCE_QPN_MULTICAST, .pkey = ROCE_PKEY_DEFAULT};
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t *f = rte_pktmbuf_mtod(m, uint8_t *);
	struct roce_hdr_tmpl tmpl;

	memcpy(path.dmac, dmac, 6);
	memcpy(path.smac, smac, 6);
	path.dgid.raw[15] = group;
	roce_hdr_tmpl_init(&tmpl, &path);
	m->data_len = (uint16_t)roce_wire_seal(f, &tmpl, roce_wire_build(f, &tmpl, &pkt, 0), 0);
	m->pkt_len = m->data_len;
	m->port = 0;
	return m;
}

static uint32_t
receive(struct rte_mbuf *m)
{
	uint32_t touched = 0;
	struct roce_pkt pkt;

	cr_assert_eq(
		roce_wire_parse(rte_pktmbuf_mtod(m, uint8_t *), m->data_len, &pkt), ROCE_WIRE_OK);
	ndd_lcore_multicast(&shard[NDD_IO_OWNER], 1, m, &pkt, &touched);
	rte_pktmbuf_free(m);
	return touched;
}

static unsigned
taken_by(uint32_t to)
{
	struct rte_ring *ring = plane.rings.rx[NDD_IO_OWNER][to];
	unsigned n = 0;
	void *m;

	for (; rte_ring_sc_dequeue(ring, &m) == 0; n++) {
		cr_assert_eq(rte_mbuf_refcnt_read((struct rte_mbuf *)m), 1);
		rte_pktmbuf_free(m);
	}
	return n;
}

/*
 * checks W-MC-07[17], W-MC-08[3,4,6]: to the lcores with members alone; a frame for another
 * station, one of this station that came back, and one to a group without members go nowhere.
 */
Test(multicast, W_MC_08_which_frames_are_handed_over)
{
	struct ndd_io_counters *c = &shard[NDD_IO_OWNER].count;

	cr_assert_eq(receive(frame(group_mac, other_mac, 3)), 1u << MEMBERS_AT);
	cr_assert_eq(receive(frame(own_mac, other_mac, 3)), 1u << MEMBERS_AT, "made unicast");
	cr_assert_eq(taken_by(MEMBERS_AT), 2);
	cr_assert_eq(receive(frame(other_mac, other_mac, 3)), 0, "another station's");
	cr_assert_eq(receive(frame(group_mac, own_mac, 3)), 0, "our own");
	cr_assert_eq(c->multicast_foreign, 2);
	cr_assert_eq(receive(frame(group_mac, other_mac, 4)), 0, "another group");
	cr_assert_eq(c->multicast_no_group, 1);
	cr_assert_eq(taken_by(1) + taken_by(MEMBERS_AT), 0);
	cr_assert_eq(c->handed_over, 2);
	cr_assert_eq(rte_mempool_in_use_count(pool), 0);
}

/* A full ring drops the reference, and nothing else. */
Test(multicast, a_full_ring_drops_and_counts)
{
	for (unsigned i = 0; i < NDD_FRAME_RING + 10; i++)
		(void)receive(frame(group_mac, other_mac, 3));
	cr_assert_eq(shard[NDD_IO_OWNER].count.handover_full, 11); /* a ring holds one less */
	cr_assert_eq(taken_by(MEMBERS_AT), NDD_FRAME_RING - 1);
	cr_assert_eq(rte_mempool_in_use_count(pool), 0);
}

/*
 * checks W-MC-09[1,4]: what leaves reaches members here, within the budget of a turn; it leaves
 * in any case. Other frames to multicast addresses (ARP, MLD) and groups without members are not
 * meant.
 */
Test(multicast, W_MC_09_what_leaves_is_looped)
{
	struct ndd_shard *s = &shard[NDD_IO_OWNER];
	struct rte_mbuf *m[NDD_BURST + 5];

	for (unsigned i = 0; i < NDD_BURST + 5; i++) {
		m[i] = frame(group_mac, own_mac, i == 0 ? 4 : 3);
		if (i == 1) /* ARP */
			memcpy(rte_pktmbuf_mtod_offset(m[i], uint8_t *, 12), "\x08\x06", 2);
		ndd_lcore_loop(s, m[i]);
	}
	cr_assert_eq(NDD_BURST, 32);
	cr_assert_eq(s->count.multicast_full, 5);
	cr_assert_eq(ndd_lcore_looped(s, 1), NDD_BURST);
	cr_assert_eq(ndd_lcore_looped(s, 1), 0);
	for (unsigned i = 0; i < NDD_BURST + 5; i++)
		rte_pktmbuf_free(m[i]); /* the port has sent it */
	cr_assert_eq(taken_by(MEMBERS_AT), NDD_BURST - 2);
	cr_assert_eq(taken_by(1), 0);
	cr_assert_eq(rte_mempool_in_use_count(pool), 0);
}
