/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 and IPv6 packets that are not RoCEv2: echo, and what gets no answer. */
#include <criterion/criterion.h>
#include <string.h>

#include "net/net_wire.h"
#include "rigs/net_rig.h"

NET_RIG_SUITE(net_ip, 8);

#define ABC "6162636465666768696a6b6c6d6e6f7071727374757677616263646566676869"

#define PING4 ME PEER "0800 4500003cbeef000080016735" IP_PEER IP_ME "08003b2712340001" ABC

#define PONG4 PEER ME "0800 4500003c0000400040012625" IP_ME IP_PEER "0000432712340001" ABC

#define PING6                                                                                      \
	ME PEER "86dd 6000000000283a40 fd770000000000000000000000000002"                           \
		"fd770000000000000000000000000001 8000c7d112340001" ABC
#define PONG6                                                                                      \
	PEER ME "86dd 6000000000283a40 fd770000000000000000000000000001"                           \
		"fd770000000000000000000000000002 8100c6d112340001" ABC

Test(net_ip, pings_are_answered_without_a_neighbour)
{
	net_rig_rx(&r, PING4);
	net_rig_expect_tx(&r, PONG4);
	net_rig_rx(&r, PING6);
	net_rig_expect_tx(&r, PONG6);
	net_rig_expect_silence(&r);
	cr_assert_eq(net_counters(r.n)->rx_icmp_echo, 2);
}

Test(net_ip, padding_of_short_frames_is_not_echoed)
{
	/* 28 bytes of IP in a frame of 60: what is behind them is padding. */
	net_rig_rx(&r, ME PEER "0800 4500001c0000000040010000" IP_PEER IP_ME "0800f7ff00000000");
	cr_assert_eq(net_counters(r.n)->rx_malformed, 1, "bad header checksum");
	net_rig_rx(&r, ME PEER "0800 4500001c0000000040016645" IP_PEER IP_ME "0800f7ff00000000"
			       "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a");
	net_rig_expect_tx(
		&r, PEER ME "0800 4500001c0000400040012645" IP_ME IP_PEER "0000ffff00000000");
}

Test(net_ip, pings_that_get_no_answer)
{
	const struct net_counters *c = net_counters(r.n);
	static const char *const bad[] = {
		/* to a broadcast MAC, options, fragment, wrong ICMP checksum, from us, to another
		 * host, echo reply, truncated; IPv6: wrong checksum, mapped addresses, to all nodes
		 */
		ALL PEER "0800 4500003cbeef000080016735" IP_PEER IP_ME "08003b2712340001" ABC,
		ME PEER "0800 46000040beef000080016430" IP_PEER IP_ME
			"01010100 08003b2712340001" ABC,
		ME PEER "0800 4500003cbeef200080014735" IP_PEER IP_ME "08003b2712340001" ABC,
		ME PEER "0800 4500003cbeef000080016735" IP_PEER IP_ME "08003b2812340001" ABC,
		ME PEER "0800 4500003cbeef000080016736" IP_ME IP_ME "08003b2712340001" ABC,
		ME PEER "0800 4500003cbeef000080016734" IP_PEER IP_PEER "08003b2712340001" ABC,
		ME PEER "0800 4500003cbeef000080016735" IP_PEER IP_ME "0000432712340001" ABC,
		ME PEER "0800 4500003cbeef000080016735" IP_PEER IP_ME "08003b2712340001",
		ME PEER "86dd 6000000000283a40 fd770000000000000000000000000002"
			"fd770000000000000000000000000001 8000c7d212340001" ABC,
		ME PEER "86dd 6000000000083a40 fd770000000000000000000000000002"
			"00000000000000000000ffff0a4d0001 8000 77f5 0000 0000",
		ME PEER "86dd 6000000000083a40 00000000000000000000ffff0a4d0002"
			"fd770000000000000000000000000001 8000 77f5 0000 0000",
		"333300000001" PEER "86dd 6000000000083a40 fd770000000000000000000000000002"
		"ff020000000000000000000000000001 8000 833f 0000 0000",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint64_t before = c->rx_dropped + c->rx_malformed;

		net_rig_rx(&r, bad[i]);
		cr_assert(!net_tx(r.n, &r.tx), "frame %zu was answered", i);
		cr_assert_eq(c->rx_dropped + c->rx_malformed, before + 1, "frame %zu", i);
	}
}

/* An echo request of total IP bytes. */
static size_t
big_ping(uint8_t *f, size_t total)
{
	memset(f, 0, ETH_HDR + total);
	net_rig_bytes(ME PEER "0800 4500000000000000 40010000" IP_PEER IP_ME "08000000", f, 64);
	net_put_be16(f + ETH_HDR + V4_TOTAL, (unsigned)total);
	net_put_be16(f + ETH_HDR + V4_SUM, sum_end(sum_add(0, f + ETH_HDR, V4_HDR)));
	net_put_be16(f + ETH_HDR + V4_HDR + 2,
		sum_end(sum_add(0, f + ETH_HDR + V4_HDR, total - V4_HDR)));
	return ETH_HDR + total;
}

Test(net_ip, largest_ping_is_one_frame_of_the_mtu)
{
	uint8_t f[4096];

	net_rx(r.n, r.now, 0, f, big_ping(f, 1500));
	cr_assert(net_tx(r.n, &r.tx));
	cr_assert_eq(r.tx.len, ETH_HDR + 1500);
	net_rx(r.n, r.now, 0, f, big_ping(f, 1501));
	net_rx(r.n, r.now, 0, f, big_ping(f, 4000));
	net_rig_expect_silence(&r);
	cr_assert_eq(net_counters(r.n)->rx_oversize, 2);
}
