/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames for the control thread: a flood fills its own lane, and no other. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <rte_mbuf.h>
#include <stdlib.h>
#include <string.h>

#include "lcore/upward.h"
#include "rigs/eal_rig.h"
#include "rigs/net_rig.h"
#include "wire/packet.h"

#define FRAMES 1023u

static const uint64_t secret[2] = {0x0123456789abcdef, 0xfedcba9876543210};
static struct ndd_up up;
static struct rte_mempool *pool;

static void
start(void)
{
	eal_rig_start(NULL);
	cr_assert(ndd_up_init(&up, 0, 0, secret));
	pool = eal_rig_pool(FRAMES);
}

static void
end(void)
{
	ndd_up_fini(&up);
	cr_assert(eq(u32, rte_mempool_avail_count(pool), FRAMES));
}

TestSuite(upward, .init = start, .fini = end);

static uint32_t
lane_of_mad(uint32_t host)
{
	uint8_t ip[20] = {[12] = 10, (uint8_t)(host >> 16), (uint8_t)(host >> 8), (uint8_t)host};
	const struct roce_pkt mad = {.l3 = ip};

	return ndd_up_lane(&up, NULL, 0, &mad);
}

static uint32_t
lane_of(const char *hex)
{
	uint8_t frame[256] = {0}, *exact;
	size_t n = net_rig_bytes(hex, frame, sizeof(frame));
	uint32_t lane;

	exact = malloc(n);
	memcpy(exact, frame, n);
	lane = ndd_up_lane(&up, exact, (uint32_t)n, NULL);
	free(exact);
	return lane;
}

static enum ndd_up_kind
kind_of(const char *hex)
{
	return lane_of(hex) / NDD_UP_SOURCES;
}

#define ETH   ME PEER
#define V4(p) "4500001c00000000 40" p "0000 0a4d0002 0a4d0001"
#define V6_FROM_TO                                                                                 \
	"fe800000000000000000000000000002"                                                         \
	"fe800000000000000000000000000001"
#define V6(nh) "60000000 0008" nh "ff" V6_FROM_TO

Test(upward, frames_are_told_apart)
{
	static const struct {
		const char *hex;
		enum ndd_up_kind kind;
	} rows[] = {
		{ARP_PEER_ASKS, NDD_UP_NEIGHBOURS},
		{ARP_PEER_ANSWERS, NDD_UP_NEIGHBOURS},
		{ETH "81000064 0806 00010800060400010000000000000000", NDD_UP_NEIGHBOURS},
		{ETH "0800" V4("01") "0800f7ff00000000", NDD_UP_ECHOES},
		{ETH "81000064 0800" V4("01") "0800f7ff00000000", NDD_UP_ECHOES},
		{ETH "0800" V4("02") "1100eeff00000000", NDD_UP_OTHERS},
		{ETH "0800" V4("11") "0000000000000000", NDD_UP_OTHERS},
		{ETH "86dd" V6("3a") "84", NDD_UP_OTHERS},
		{ETH "86dd" V6("3a") "85", NDD_UP_NEIGHBOURS},
		{ETH "86dd" V6("3a") "89", NDD_UP_NEIGHBOURS},
		{ETH "86dd" V6("3a") "8a", NDD_UP_OTHERS},
		{ETH "86dd" V6("3a") "7f", NDD_UP_OTHERS},
		{ETH "86dd" V6("3a") "80", NDD_UP_ECHOES},
		{ETH "86dd" V6("3a") "81", NDD_UP_ECHOES},
		{ETH "86dd" V6("3a") "82", NDD_UP_OTHERS},
		{ETH "86dd" V6("11") "80", NDD_UP_OTHERS},
		{ETH "88cc 00000000", NDD_UP_OTHERS},
		/* cut short */
		{ETH "86dd" V6("3a"), NDD_UP_OTHERS},
		{ETH "0800 4500001c00000000 4001 0000 0a4d0002 0a4d00", NDD_UP_OTHERS},
		{ETH "8100", NDD_UP_OTHERS},
		{ETH "81000064 0806", NDD_UP_NEIGHBOURS},
		{ME, NDD_UP_OTHERS},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect(eq(int, kind_of(rows[i].hex), rows[i].kind), "%s", rows[i].hex);
	cr_expect(eq(int, lane_of_mad(1) / NDD_UP_SOURCES, NDD_UP_MADS));
}

/* Each source has one lane; which sources share a lane depends on the secret. */
Test(upward, sources_are_told_apart)
{
	static const uint64_t other[2] = {1, 2};
	unsigned at[NDD_UP_SOURCES] = {0}, same = 0;

	for (uint32_t host = 0; host < 4096; host++) {
		uint32_t lane = lane_of_mad(host);

		cr_assert(lt(u32, lane, NDD_UP_SOURCES));
		at[lane]++;
		cr_assert(eq(u32, lane_of_mad(host), lane));
		memcpy(up.secret, other, sizeof(other));
		same += lane == lane_of_mad(host);
		memcpy(up.secret, secret, sizeof(secret));
	}
	for (unsigned i = 0; i < NDD_UP_SOURCES; i++)
		cr_assert(at[i] > 400 && at[i] < 624, "%u in lane %u", at[i], i);
	cr_assert(same > 400 && same < 624, "%u are the same by another secret", same);
}

static bool
pass(uint32_t lane)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	cr_assert_not_null(m);
	m->hash.usr = lane;
	if (ndd_up_put(&up, lane, m))
		return true;
	rte_pktmbuf_free(m);
	return false;
}

/* Until the lane takes no more. Returns how many it took. */
static unsigned
flood(uint32_t lane)
{
	unsigned n = 0;

	while (pass(lane))
		n++;
	return n;
}

/* How many frames are taken until one of that lane is. */
static unsigned
taken_until(uint32_t lane)
{
	unsigned n = 0;
	uint32_t got;

	do {
		struct rte_mbuf *m = ndd_up_get(&up);

		cr_assert_not_null(m);
		got = m->hash.usr;
		rte_pktmbuf_free(m);
		n++;
	} while (got != lane);
	return n;
}

Test(upward, a_flood_of_one_source_or_kind_leaves_room_for_others)
{
	const uint32_t mine = lane_of_mad(1), arp = lane_of(ARP_PEER_ASKS);
	uint32_t flooder = 2;

	while (lane_of_mad(flooder) == mine)
		flooder++;
	cr_assert(eq(u32, flood(lane_of_mad(flooder)), 255));
	for (uint32_t i = 0; i < NDD_UP_SOURCES; i++)
		if (i != arp % NDD_UP_SOURCES)
			cr_assert(eq(u32, flood(NDD_UP_NEIGHBOURS * NDD_UP_SOURCES + i), 31));
	cr_assert(not(pass(lane_of_mad(flooder))));
	cr_assert(pass(mine));
	cr_assert(pass(arp));
	cr_assert(le(u32, taken_until(mine), NDD_UP_LANES), "nor does it wait for the flood's end");
	cr_assert(le(u32, taken_until(arp), NDD_UP_LANES));
	cr_assert(pass(mine));
	cr_assert(le(u32, taken_until(mine), NDD_UP_LANES));
}

Test(upward, each_frame_comes_out_once_and_in_order_of_its_lane)
{
	unsigned n = 0;

	cr_assert(ndd_up_empty(&up));
	cr_assert_null(ndd_up_get(&up));
	for (uint32_t i = 0; i < 3 * NDD_UP_LANES; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

		m->hash.usr = i;
		cr_assert(ndd_up_put(&up, i % NDD_UP_LANES, m));
		cr_assert(not(ndd_up_empty(&up)));
	}
	for (struct rte_mbuf *m; (m = ndd_up_get(&up)) != NULL; n++) {
		cr_assert(eq(u32, m->hash.usr, n));
		rte_pktmbuf_free(m);
	}
	cr_assert(eq(u32, n, 3 * NDD_UP_LANES));
	cr_assert(ndd_up_empty(&up));
}
