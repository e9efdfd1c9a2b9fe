/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses and routes, the rules of frames in and out, echo. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "net/net_wire.h"
#include "rigs/net_rig.h"

static struct net_rig r;

static void
setup(void)
{
	net_rig_init(&r, 8);
}

static void
teardown(void)
{
	net_rig_free(&r);
}

TestSuite(net, .init = setup, .fini = teardown);

#define REFUSED(expr, text)                                                                        \
	do {                                                                                       \
		cr_assert_not(expr);                                                               \
		cr_assert_str_eq(why, text);                                                       \
	} while (0)

static void
peer_is_known(void)
{
	net_rig_resolve(&r, "10.77.0.2");
	net_rig_expect_tx(&r, ARP_ASK_PEER);
	net_rig_rx(&r, ARP_PEER_ANSWERS);
}

static void
add_second_port(const char *address, uint8_t prefix_len)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0x78, 1};
	struct net_ip ip = net_rig_ip(address);
	const char *why;

	cr_assert_eq(net_rig_link(&r, 1, 0, mac, 9000), 1);
	cr_assert(net_address_add(r.n, 1, &ip, prefix_len, &why), "%s", why);
}

Test(net, checksum_of_published_examples)
{
	/* RFC 1071, section 3; and a header known from many textbooks. */
	static const uint8_t rfc[] = {0, 1, 0xf2, 3, 0xf4, 0xf5, 0xf6, 0xf7};
	static const uint8_t book[] = {0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0, 0, 0xc0,
		0xa8, 0, 1, 0xc0, 0xa8, 0, 0xc7};

	cr_assert_eq(sum_end(sum_add(0, rfc, sizeof(rfc))), 0x220d);
	cr_assert_eq(sum_end(sum_add(0, book, sizeof(book))), 0xb861);
	cr_assert_eq(sum_end(sum_add(0, rfc, 3)), (uint16_t)~0xf201, "an odd byte counts high");
}

Test(net, bounds_of_configuration)
{
	cr_assert_eq(net_bytes(&(struct net_cfg){.max_neighbours = 0}), 0);
	cr_assert_eq(net_bytes(&(struct net_cfg){.max_neighbours = 65537}), 0);
	cr_assert_neq(net_bytes(&(struct net_cfg){.max_neighbours = 1}), 0);
}

Test(net, addresses_in_order_and_link_local_last)
{
	struct net_ip ip, ll = net_rig_ip("fe80::ff:fe00:7701"), more = net_rig_ip("10.78.0.1");
	uint8_t len;
	uint32_t port;
	const char *why;

	cr_assert(net_address_add(r.n, 0, &more, 16, &why));
	cr_assert(net_address_get(r.n, 0, &ip, &len, &port) && len == 24 && port == 0);
	cr_assert(net_address_get(r.n, 1, &ip, &len, &port) && len == 64);
	cr_assert(net_address_get(r.n, 2, &ip, &len, &port) && len == 16);
	cr_assert_arr_eq(ip.b, more.b, 16);
	cr_assert(net_address_get(r.n, 3, &ip, &len, &port) && len == 64);
	cr_assert_arr_eq(ip.b, ll.b, 16);
	cr_assert_not(net_address_get(r.n, 4, &ip, &len, &port));
	cr_assert_eq(net_local_port(r.n, &ll), 0);
	ip = net_rig_ip("10.77.0.2");
	cr_assert_eq(net_local_port(r.n, &ip), -1);
}

Test(net, bad_addresses_are_refused_with_a_reason)
{
	struct net_ip ip = net_rig_ip("10.77.0.1"), group = net_rig_ip("224.0.0.5"),
		      ok = net_rig_ip("10.1.0.1");
	const char *why;
	static const uint8_t mac[6] = {2, 0, 0, 0, 0x77, 1}, group_mac[6] = {3, 0, 0, 0, 0, 1};

	REFUSED(net_address_add(r.n, 0, &ip, 16, &why), "duplicate address");
	REFUSED(net_address_add(r.n, 0, &group, 16, &why), "not the address of a host");
	REFUSED(net_address_add(r.n, 0, &ok, 33, &why), "bad prefix length");
	REFUSED(net_address_add(r.n, 0, &ok, 0, &why), "bad prefix length");
	REFUSED(net_address_add(r.n, 1, &ok, 16, &why), "no such link");
	for (unsigned i = 3; i < NET_ADDRESSES_MAX; i++) {
		net_put_be16(ok.b + 14, i);
		cr_assert(net_address_add(r.n, 0, &ok, 16, &why));
	}
	net_put_be16(ok.b + 14, 1);
	REFUSED(net_address_add(r.n, 0, &ok, 16, &why), "too many addresses");
	cr_assert_lt(net_rig_link(&r, 0, 0, mac, 1500), 0, "twice");
	cr_assert_lt(net_rig_link(&r, 2, 0, mac, 1500), 0, "the same link-local address");
	cr_assert_lt(net_rig_link(&r, 2, 0, group_mac, 1500), 0);
	cr_assert_lt(net_rig_link(&r, 0, 4095, mac, 1500), 0, "reserved");
}

Test(net, gateways_are_hosts_on_a_connected_prefix)
{
	const char *why;

	REFUSED(net_rig_gateway(&r, 0, "10.78.0.1", &why),
		"the gateway is on no connected prefix of the link");
	REFUSED(net_rig_gateway(&r, 0, "10.77.0.255", &why),
		"the gateway is on no connected prefix of the link");
	REFUSED(net_rig_gateway(&r, 0, "10.77.0.1", &why), "the gateway is not another host");
	REFUSED(net_rig_gateway(&r, 3, "10.77.0.254", &why), "no such link");
	cr_assert(net_rig_gateway(&r, 0, "10.77.0.254", &why));
	cr_assert(net_rig_gateway(&r, 0, "fe80::1", &why));
	REFUSED(net_rig_gateway(&r, 0, "10.77.0.253", &why),
		"the link has a route to that prefix already");
}

/* ---- routes ---- */

Test(net, no_route_without_prefix_or_gateway)
{
	static const char *const nowhere[] = {"10.78.0.1", "fd78::1", "10.77.0.255", "10.77.0.0",
		"224.0.0.1", "ff02::1", "127.0.0.1", "0.0.0.0", "::", "::1", "255.255.255.255"};

	for (size_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++)
		cr_assert_eq(net_rig_resolve(&r, nowhere[i]), NET_NO_ROUTE, "%s", nowhere[i]);
	net_rig_expect_silence(&r);
}

Test(net, next_hop_has_all_that_a_frame_needs)
{
	struct net_ip me = net_rig_ip("10.77.0.1");
	static const uint8_t mine[6] = {2, 0, 0, 0, 0x77, 1}, peers[6] = {2, 0, 0, 0, 0x77, 2};

	peer_is_known();
	cr_assert_eq(net_rig_resolve(&r, "10.77.0.2"), NET_RESOLVED);
	cr_assert_eq(r.hop.port, 0);
	cr_assert_eq(r.hop.mtu, 1500);
	cr_assert_arr_eq(r.hop.source.b, me.b, 16);
	cr_assert_arr_eq(r.hop.smac, mine, 6);
	cr_assert_arr_eq(r.hop.dmac, peers, 6);
}

/* checks W-PKT-01 */
Test(net, far_hosts_are_reached_by_the_gateway)
{
	struct net_ip me = net_rig_ip("10.77.0.1");
	static const uint8_t peers[6] = {2, 0, 0, 0, 0x77, 2};
	const char *why;

	cr_assert(net_rig_gateway(&r, 0, "10.77.0.2", &why));
	cr_assert_eq(net_rig_resolve(&r, "192.0.2.1"), NET_PENDING);
	net_rig_expect_tx(&r, ARP_ASK_PEER);
	net_rig_rx(&r, ARP_PEER_ANSWERS);
	cr_assert_eq(net_rig_resolve(&r, "192.0.2.1"), NET_RESOLVED);
	cr_assert_arr_eq(r.hop.dmac, peers, 6);
	cr_assert_arr_eq(r.hop.source.b, me.b, 16);
	cr_assert_eq(net_rig_resolve(&r, "fd78::1"), NET_NO_ROUTE, "no IPv6 gateway");
}

/* As some clouds have it: even the neighbour in its subnet is the router's to reach. */
Test(net, a_lone_address_asks_its_router_for_everything)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0x77, 9};
	struct net_ip me = net_rig_ip("10.128.0.5"), near = net_rig_ip("10.128.0.6"), source;
	uint8_t question[64];
	size_t bytes;
	const char *why;

	cr_assert_eq(net_rig_link(&r, 1, 0, mac, 1500), 1);
	REFUSED(net_rig_gateway(&r, 1, "10.128.0.1", &why),
		"the gateway is on no connected prefix of the link");
	cr_assert(net_address_add(r.n, 1, &me, 32, &why), "%s", why);
	REFUSED(net_rig_gateway(&r, 1, "10.128.0.5", &why), "the gateway is not another host");
	cr_assert(net_rig_gateway(&r, 1, "10.128.0.1", &why), "%s", why);
	net_rig_run_until(&r, r.now + 3 * S);
	while (net_tx(r.n, &r.tx))
		; /* announcements */
	cr_assert(net_source(r.n, -1, &near, &source));
	cr_expect_arr_eq(source.b, me.b, 16);
	cr_assert_eq(net_resolve(r.n, r.now, &me, &near, &r.hop), NET_PENDING);
	bytes = net_rig_bytes(
		ARP(ALL, "020000007709", "001", "020000007709", "0a800005", NOBODY, "0a800001"),
		question, sizeof(question));
	cr_assert(net_tx(r.n, &r.tx));
	cr_expect_eq(r.tx.port, 1);
	cr_expect_arr_eq(r.tx.frame, question, bytes);
	net_rig_expect_silence(&r);
}

Test(net, link_local_gateway_is_used_from_a_global_source)
{
	const char *why;

	cr_assert(net_rig_gateway(&r, 0, "fe80::2", &why));
	cr_assert_eq(net_rig_resolve(&r, "2001:db8::1"), NET_PENDING);
	/* The gateway is asked from fd77::1: that is the source of what it will be sent. */
	net_rig_expect_tx(&r, "3333ff000002 " ME "86dd 60000000 0020 3a ff"
			      "fd770000000000000000000000000001 ff0200000000000000000001ff000002"
			      "8700 04a0 00000000 fe800000000000000000000000000002 0101" ME);
	cr_assert_eq(net_rig_resolve(&r, "fe80::9:9"), NET_PENDING, "link-local needs no gateway");
}

Test(net, longest_prefix_wins_and_source_pins_the_port)
{
	struct net_ip src = net_rig_ip("10.77.0.1"), dst = net_rig_ip("10.77.0.130"), out;

	add_second_port("10.77.0.129", 25);
	while (net_tx(r.n, &r.tx))
		;
	cr_assert_eq(net_resolve(r.n, r.now, NULL, &dst, &r.hop), NET_PENDING);
	cr_assert(net_tx(r.n, &r.tx));
	cr_assert_eq(r.tx.port, 1);
	cr_assert_eq(net_resolve(r.n, r.now, &src, &dst, &r.hop), NET_PENDING);
	cr_assert(net_tx(r.n, &r.tx));
	cr_assert_eq(r.tx.port, 0);
	out = net_rig_ip("10.77.0.3");
	cr_assert_eq(net_resolve(r.n, r.now, &out, &dst, &r.hop), NET_NO_ROUTE, "not our address");
	out = net_rig_ip("fd77::1");
	cr_assert_eq(net_resolve(r.n, r.now, &out, &dst, &r.hop), NET_NO_ROUTE, "another family");
}

Test(net, own_addresses_resolve_to_own_ports)
{
	struct net_ip a = net_rig_ip("10.77.0.1"), b = net_rig_ip("10.78.0.1");
	static const uint8_t mac0[6] = {2, 0, 0, 0, 0x77, 1}, mac1[6] = {2, 0, 0, 0, 0x78, 1};

	add_second_port("10.78.0.1", 24);
	cr_assert_eq(net_rig_resolve(&r, "10.77.0.1"), NET_RESOLVED);
	cr_assert_arr_eq(r.hop.smac, mac0, 6);
	cr_assert_arr_eq(r.hop.dmac, mac0, 6);
	cr_assert_eq(net_resolve(r.n, r.now, &a, &b, &r.hop), NET_RESOLVED);
	cr_assert_eq(r.hop.port, 0);
	cr_assert_arr_eq(r.hop.smac, mac0, 6);
	cr_assert_arr_eq(r.hop.dmac, mac1, 6);
	cr_assert_arr_eq(r.hop.source.b, a.b, 16);
}

/* ---- frames
 * -------------------------------------------------------------------------------------- */

Test(net, what_is_not_for_us_is_dropped_and_counted)
{
	const struct net_counters *c = net_counters(r.n);

	net_rig_rx(&r, OTHER PEER "0806 0001080006040001");
	cr_assert_eq(c->rx_dropped, 1, "another station's");
	net_rig_rx(&r, ALL ME "0806 0001080006040001");
	cr_assert_eq(c->rx_dropped, 2, "our own");
	net_rig_rx(&r, ME PEER "88cc 0207");
	cr_assert_eq(c->rx_dropped, 3, "LLDP");
	net_rig_rx(&r, ALL PEER "8100 0001 0806 0001080006040001" PEER IP_PEER NOBODY IP_ME);
	cr_assert_eq(c->rx_vlan, 1);
	net_rig_rx(&r, ME PEER "08");
	net_rig_rx(&r, ME "030000000001 0806");
	cr_assert_eq(c->rx_malformed, 2);
	net_rx(r.n, r.now, 7, (const uint8_t *)"", 0);
	cr_assert_eq(c->rx_dropped, 4, "no such port");
	net_rig_expect_silence(&r);
}

Test(net, full_queue_drops_and_counts)
{
	for (unsigned i = 0; i < 65; i++)
		net_rig_rx(&r, ARP_PEER_ASKS);
	cr_assert_eq(net_counters(r.n)->tx_dropped, 1);
	for (unsigned i = 0; i < 64; i++)
		net_rig_expect_tx(&r, ARP_I_ANSWER);
	net_rig_expect_silence(&r);
	net_rig_rx(&r, ARP_PEER_ASKS);
	net_rig_expect_tx(&r, ARP_I_ANSWER);
}

Test(net, own_addresses_are_announced_twice)
{
	struct net_ip v4 = net_rig_ip("10.77.9.1"), v6 = net_rig_ip("fd77:0:0:9::1");
	const char *why;

	cr_assert(net_address_add(r.n, 0, &v4, 24, &why));
	cr_assert(net_address_add(r.n, 0, &v6, 64, &why));
	cr_assert_leq(net_next_deadline(r.n), r.now);
	for (unsigned i = 0; i < 2; i++) {
		net_rig_run_until(&r, r.now + (i == 0 ? 0 : 1 * S));
		net_rig_expect_tx(&r, ARP(ALL, ME, "001", ME, "0a4d0901", NOBODY, "0a4d0901"));
		net_rig_expect_tx(&r,
			"333300000001 " ME "86dd 60000000 0020 3a ff"
			"fd770000000000090000000000000001 ff020000000000000000000000000001"
			"8800 e29a 20000000 fd770000000000090000000000000001 0201" ME);
		net_rig_expect_silence(&r);
	}
	cr_assert_eq(net_next_deadline(r.n), UINT64_MAX);
}

/* ---- echo
 * ---------------------------------------------------------------------------------------- */

#define ABC   "6162636465666768696a6b6c6d6e6f7071727374757677616263646566676869"
#define PING4 ME PEER "0800 4500003cbeef000080016735" IP_PEER IP_ME "08003b2712340001" ABC
#define PONG4 PEER ME "0800 4500003c0000400040012625" IP_ME IP_PEER "0000432712340001" ABC
#define PING6                                                                                      \
	ME PEER "86dd 6000000000283a40 fd770000000000000000000000000002"                           \
		"fd770000000000000000000000000001 8000c7d112340001" ABC
#define PONG6                                                                                      \
	PEER ME "86dd 6000000000283a40 fd770000000000000000000000000001"                           \
		"fd770000000000000000000000000002 8100c6d112340001" ABC

Test(net, pings_are_answered_without_a_neighbour)
{
	net_rig_rx(&r, PING4);
	net_rig_expect_tx(&r, PONG4);
	net_rig_rx(&r, PING6);
	net_rig_expect_tx(&r, PONG6);
	net_rig_expect_silence(&r);
	cr_assert_eq(net_counters(r.n)->rx_icmp_echo, 2);
}

Test(net, padding_of_short_frames_is_not_echoed)
{
	/* 28 bytes of IP in a frame of 60: what is behind them is padding. */
	net_rig_rx(&r, ME PEER "0800 4500001c0000000040010000" IP_PEER IP_ME "0800f7ff00000000");
	cr_assert_eq(net_counters(r.n)->rx_malformed, 1, "bad header checksum");
	net_rig_rx(&r, ME PEER "0800 4500001c0000000040016645" IP_PEER IP_ME "0800f7ff00000000"
			       "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a");
	net_rig_expect_tx(
		&r, PEER ME "0800 4500001c0000400040012645" IP_ME IP_PEER "0000ffff00000000");
}

Test(net, pings_that_get_no_answer)
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

Test(net, largest_ping_is_one_frame_of_the_mtu)
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
