/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbour discovery: frames to the byte, and what RFC 4861 says is to be refused. */
#include <criterion/criterion.h>
#include <string.h>

#include "net/net_wire.h"
#include "rigs/net_rig.h"

NET_RIG_SUITE(net_nd, 4);

#define IP6_ME				    "fd770000000000000000000000000001"
#define IP6_PEER			    "fd770000000000000000000000000002"
#define NODES				    "ff020000000000000000000000000001"
#define GROUP_ME			    "ff0200000000000000000001ff000001"
#define GROUP_PEER			    "ff0200000000000000000001ff000002"
#define GROUP_MAC			    "3333ff00000"
#define ND(dmac, smac, len, src, dst, icmp) dmac smac "86dd 60000000" len "3aff" src dst icmp

#define NS_BY_ME                                                                                   \
	ND(GROUP_MAC "2", ME, "0020", IP6_ME, GROUP_PEER, "870005a900000000" IP6_PEER "0101" ME)
#define NS_BY_ME_DIRECT                                                                            \
	ND(PEER, ME, "0020", IP6_ME, IP6_PEER, "8700063600000000" IP6_PEER "0101" ME)
#define NA_BY_PEER ND(ME, PEER, "0020", IP6_PEER, IP6_ME, "8800a43460000000" IP6_PEER "0201" PEER)
#define NS_BY_PEER                                                                                 \
	ND(GROUP_MAC "1", PEER, "0020", IP6_PEER, GROUP_ME, "870005a900000000" IP6_ME "0101" PEER)
#define NA_BY_ME ND(PEER, ME, "0020", IP6_ME, IP6_PEER, "8800a43660000000" IP6_ME "0201" ME)

#define NA_TO_ALL ND("333300000001", ME, "0020", IP6_ME, NODES, "8800e2ac20000000" IP6_ME "0201" ME)

/* The frame with its ICMPv6 checksum made right again. */
static void
rx_repaired(const char *hex)
{
	uint8_t f[2048];
	size_t n = net_rig_bytes(hex, f, sizeof(f));
	uint8_t *ip = f + ETH_HDR, *icmp = ip + V6_HDR;

	net_put_be16(icmp + ICMP_SUM, 0);
	net_put_be16(icmp + ICMP_SUM, sum_icmpv6(ip, icmp, n - ETH_HDR - V6_HDR));
	net_rx(r.n, r.now, 0, f, n);
}

static void
peer_is_known(void)
{
	cr_assert_eq(net_rig_resolve(&r, "fd77::2"), NET_PENDING);
	net_rig_expect_tx(&r, NS_BY_ME);
	net_rig_rx(&r, NA_BY_PEER);
	cr_assert_eq(net_rig_resolve(&r, "fd77::2"), NET_RESOLVED);
}

Test(net_nd, solicited_and_resolved)
{
	static const uint8_t peers[6] = {2, 0, 0, 0, 0x77, 2};
	struct net_ip me = net_rig_ip("fd77::1");

	peer_is_known();
	cr_assert_arr_eq(r.hop.dmac, peers, 6);
	cr_assert_arr_eq(r.hop.source.b, me.b, 16);
	cr_assert_eq(net_counters(r.n)->rx_nd, 1);
	net_rig_expect_silence(&r);
}

Test(net_nd, solicitation_is_answered_and_teaches)
{
	net_rig_rx(&r, NS_BY_PEER);
	net_rig_expect_tx(&r, NA_BY_ME);
	cr_assert_eq(net_rig_resolve(&r, "fd77::2"), NET_RESOLVED);
	net_rig_expect_tx(&r, NS_BY_ME_DIRECT);
}

Test(net_nd, silent_neighbour_fails)
{
	cr_assert_eq(net_rig_resolve(&r, "fd77::2"), NET_PENDING);
	net_rig_run_until(&r, r.now + 2400 * MS);
	for (unsigned i = 0; i < 4; i++)
		net_rig_expect_tx(&r, NS_BY_ME);
	cr_assert_eq(net_rig_resolve(&r, "fd77::2"), NET_UNREACHABLE);
}

Test(net_nd, probe_is_unicast_and_may_be_answered_without_option)
{
	peer_is_known();
	net_rig_run_until(&r, r.now + 30 * S);
	net_rig_expect_tx(&r, NS_BY_ME_DIRECT);
	rx_repaired(ND(ME, PEER, "0018", IP6_PEER, IP6_ME, "8800000060000000" IP6_PEER));
	net_rig_run_until(&r, r.now + 29 * S);
	net_rig_expect_silence(&r);
}

Test(net_nd, first_answer_needs_the_option)
{
	cr_assert_eq(net_rig_resolve(&r, "fd77::2"), NET_PENDING);
	rx_repaired(ND(ME, PEER, "0018", IP6_PEER, IP6_ME, "8800000060000000" IP6_PEER));
	cr_assert_eq(net_rig_resolve(&r, "fd77::2"), NET_PENDING);
}

Test(net_nd, duplicate_address_detection_of_others_is_told_to_all)
{
	net_rig_rx(&r, ND(GROUP_MAC "1", PEER, "0018", "00000000000000000000000000000000", GROUP_ME,
			       "87007d2e00000000" IP6_ME));
	net_rig_expect_tx(&r,
		ND("333300000001", ME, "0020", IP6_ME, NODES, "8800e2ac20000000" IP6_ME "0201" ME));
	cr_assert_eq(net_next_deadline(r.n), UINT64_MAX);
}

Test(net_nd, solicitation_without_option_is_answered_to_its_mac)
{
	rx_repaired(ND(ME, PEER, "0018", IP6_PEER, IP6_ME, "8700000000000000" IP6_ME));
	net_rig_expect_tx(&r, NA_BY_ME);
	cr_assert_eq(net_next_deadline(r.n), UINT64_MAX, "nothing was learned");
}

Test(net_nd, unasked_advertisements_teach_nothing)
{
	net_rig_rx(&r, NA_BY_PEER);
	cr_assert_eq(net_rig_resolve(&r, "fd77::2"), NET_PENDING);
	net_rig_expect_tx(&r, NS_BY_ME);
	rx_repaired(ND("333300000001", PEER, "0020", IP6_PEER, NODES,
		"8800000020000000" IP6_PEER "0201" PEER));
	cr_assert_eq(net_rig_resolve(&r, "fd77::2"), NET_PENDING);
}

Test(net_nd, advertisement_of_a_new_mac_makes_us_ask)
{
	peer_is_known();
	net_rig_run_until(&r, r.now + 2 * S);
	rx_repaired(ND("333300000001", OTHER, "0020", IP6_PEER, NODES,
		"8800000020000000" IP6_PEER "0201" OTHER));
	net_rig_expect_tx(&r, NS_BY_ME);
	/* Without the override bit a known MAC stands. */
	rx_repaired(
		ND(ME, OTHER, "0020", IP6_PEER, IP6_ME, "8800000040000000" IP6_PEER "0201" OTHER));
	cr_assert_eq(net_rig_resolve(&r, "fd77::2"), NET_RESOLVED);
	cr_assert_eq(r.hop.dmac[5], 2);
	rx_repaired(
		ND(ME, OTHER, "0020", IP6_PEER, IP6_ME, "8800000060000000" IP6_PEER "0201" OTHER));
	cr_assert_eq(net_rig_resolve(&r, "fd77::2"), NET_RESOLVED);
	cr_assert_eq(r.hop.dmac[5], 3);
}

Test(net_nd, what_rfc_4861_forbids_is_malformed)
{
	static const char *const bad[] = {
		/* hop limit 254: from behind a router */
		GROUP_MAC "1" PEER "86dd 60000000 0020 3afe" IP6_PEER GROUP_ME
			  "8700000000000000" IP6_ME "0101" PEER,
		/* code 1 */
		ND(GROUP_MAC "1", PEER, "0020", IP6_PEER, GROUP_ME,
			"8701000000000000" IP6_ME "0101" PEER),
		/* target a group */
		ND(GROUP_MAC "1", PEER, "0020", IP6_PEER, GROUP_ME,
			"8700000000000000" NODES "0101" PEER),
		/* target an IPv4 address in IPv6's clothes */
		ND(GROUP_MAC "1", PEER, "0020", IP6_PEER, GROUP_ME,
			"8700000000000000"
			"00000000000000000000ffff0a4d0001"
			"0101" PEER),
		/* option of no length, and one that ends behind the packet */
		ND(GROUP_MAC "1", PEER, "0020", IP6_PEER, GROUP_ME,
			"8700000000000000" IP6_ME "0100" PEER),
		ND(GROUP_MAC "1", PEER, "0020", IP6_PEER, GROUP_ME,
			"8700000000000000" IP6_ME "0102" PEER),
		/* half an option header */
		ND(GROUP_MAC "1", PEER, "0019", IP6_PEER, GROUP_ME, "8700000000000000" IP6_ME "01"),
		/* group MAC in the option */
		ND(GROUP_MAC "1", PEER, "0020", IP6_PEER, GROUP_ME,
			"8700000000000000" IP6_ME "0101"
			"010000000001"),
		/* duplicate address detection with a link-layer option, and not to the group */
		ND(GROUP_MAC "1", PEER, "0020", "00000000000000000000000000000000", GROUP_ME,
			"8700000000000000" IP6_ME "0101" PEER),
		ND(ME, PEER, "0018", "00000000000000000000000000000000", IP6_ME,
			"8700000000000000" IP6_ME),
		/* an advertisement to all nodes that claims to be solicited; no target */
		ND("333300000001", PEER, "0020", IP6_PEER, NODES,
			"8800000060000000" IP6_PEER "0201" PEER),
		ND(ME, PEER, "0010", IP6_PEER, IP6_ME,
			"8800000060000000"
			"0000000000000000"),
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		rx_repaired(bad[i]);
		cr_assert_eq(net_counters(r.n)->rx_malformed, i + 1, "frame %zu", i);
		cr_assert(!net_tx(r.n, &r.tx), "frame %zu was answered", i);
	}
	cr_assert_eq(net_next_deadline(r.n), UINT64_MAX, "nothing was learned");
}

Test(net_nd, wrong_checksum_is_malformed)
{
	net_rig_rx(&r, ND(GROUP_MAC "1", PEER, "0020", IP6_PEER, GROUP_ME,
			       "870005aa00000000" IP6_ME "0101" PEER));
	cr_assert_eq(net_counters(r.n)->rx_malformed, 1);
	net_rig_expect_silence(&r);
}

Test(net_nd, solicitations_for_others_are_left_to_them)
{
	rx_repaired(ND("3333ff000009", PEER, "0020", IP6_PEER, "ff0200000000000000000001ff000009",
		"8700000000000000"
		"fd770000000000000000000000000009"
		"0101" PEER));
	net_rig_expect_silence(&r);
	cr_assert_eq(net_next_deadline(r.n), UINT64_MAX);
}

Test(net_nd, routers_are_not_listened_to)
{
	net_rig_rx(&r,
		"333300000001" PEER "86dd 60000000 0010 3aff fe800000000000000000000000000002" NODES
		"86003526400007080000000000000000");
	cr_assert_eq(net_counters(r.n)->rx_dropped, 1);
	cr_assert_eq(net_rig_resolve(&r, "2001:db8::1"), NET_NO_ROUTE);
	net_rig_expect_silence(&r);
}

Test(net_nd, somebody_with_our_address_is_counted)
{
	rx_repaired(ND("333300000001", PEER, "0020", IP6_ME, NODES,
		"8800000020000000" IP6_ME "0201" PEER));
	rx_repaired(ND(GROUP_MAC "1", PEER, "0020", IP6_ME, GROUP_ME,
		"8700000000000000" IP6_ME "0101" PEER));
	cr_assert_eq(net_counters(r.n)->address_conflicts, 2);
	net_rig_expect_tx(&r, NA_TO_ALL); /* it is ours; said once */
	net_rig_expect_silence(&r);
}

Test(net_nd, link_local_address_is_ours_too)
{
	/* fe80::ff:fe00:7701 */
	rx_repaired(ND("3333ff007701", PEER, "0020", "fe800000000000000000000000000002",
		"ff0200000000000000000001ff007701",
		"8700000000000000"
		"fe80000000000000000000fffe007701"
		"0101" PEER));
	cr_assert(net_tx(r.n, &r.tx));
	cr_assert_eq(r.tx.frame[ETH_HDR + V6_HDR], ICMPV6_NA);
}
