/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes, and the way from a destination to a next hop; in VLANs, too. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "rigs/net_rig.h"

static const char *why;

NET_RIG_SUITE(net_route, 8);

static void
add_second_port(const char *address, uint8_t prefix_len)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0x78, 1};

	cr_assert_eq(net_rig_link(&r, 1, 0, mac, 9000), 1);
	net_rig_address(&r, 1, address, prefix_len);
}

Test(net_route, gateways_are_hosts_on_a_connected_prefix)
{
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

Test(net_route, no_route_without_prefix_or_gateway)
{
	static const char *const nowhere[] = {"10.78.0.1", "fd78::1", "10.77.0.255", "10.77.0.0",
		"224.0.0.1", "ff02::1", "127.0.0.1", "0.0.0.0", "::", "::1", "255.255.255.255"};

	for (size_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++)
		cr_assert_eq(net_rig_resolve(&r, nowhere[i]), NET_NO_ROUTE, "%s", nowhere[i]);
	net_rig_expect_silence(&r);
}

/* checks W-PKT-01[1,3] */
Test(net_route, next_hop_has_all_that_a_frame_needs)
{
	struct net_ip me = net_rig_ip("10.77.0.1");
	static const uint8_t mine[6] = {2, 0, 0, 0, 0x77, 1}, peers[6] = {2, 0, 0, 0, 0x77, 2};

	net_rig_meet_peer(&r);
	cr_assert_eq(net_rig_resolve(&r, "10.77.0.2"), NET_RESOLVED);
	cr_assert_eq(r.hop.port, 0);
	cr_assert_eq(r.hop.mtu, 1500);
	cr_assert_arr_eq(r.hop.source.b, me.b, 16);
	cr_assert_arr_eq(r.hop.smac, mine, 6);
	cr_assert_arr_eq(r.hop.dmac, peers, 6);
}

/* checks W-PKT-01[2] */
Test(net_route, far_hosts_are_reached_by_the_gateway)
{
	struct net_ip me = net_rig_ip("10.77.0.1");
	static const uint8_t peers[6] = {2, 0, 0, 0, 0x77, 2};

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
Test(net_route, a_lone_address_asks_its_router_for_everything)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0x77, 9};
	struct net_ip me = net_rig_ip("10.128.0.5"), near = net_rig_ip("10.128.0.6"), source;
	uint8_t question[64];
	size_t bytes;

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
	cr_assert_eq(net_resolve(r.n, r.now, NET_OWNER_HOST, &me, &near, &r.hop), NET_PENDING);
	bytes = net_rig_bytes(
		ARP(ALL, "020000007709", "001", "020000007709", "0a800005", NOBODY, "0a800001"),
		question, sizeof(question));
	cr_assert(net_tx(r.n, &r.tx));
	cr_expect_eq(r.tx.port, 1);
	cr_expect_arr_eq(r.tx.frame, question, bytes);
	net_rig_expect_silence(&r);
}

Test(net_route, link_local_gateway_is_used_from_a_global_source)
{
	cr_assert(net_rig_gateway(&r, 0, "fe80::2", &why));
	cr_assert_eq(net_rig_resolve(&r, "2001:db8::1"), NET_PENDING);
	/* The gateway is asked from fd77::1: that is the source of what it will be sent. */
	net_rig_expect_tx(&r, "3333ff000002 " ME "86dd 60000000 0020 3a ff"
			      "fd770000000000000000000000000001 ff0200000000000000000001ff000002"
			      "8700 04a0 00000000 fe800000000000000000000000000002 0101" ME);
	cr_assert_eq(net_rig_resolve(&r, "fe80::9:9"), NET_PENDING, "link-local needs no gateway");
}

Test(net_route, longest_prefix_wins_and_source_pins_the_port)
{
	struct net_ip src = net_rig_ip("10.77.0.1"), dst = net_rig_ip("10.77.0.130"), out;

	add_second_port("10.77.0.129", 25);
	while (net_tx(r.n, &r.tx))
		;
	cr_assert_eq(net_resolve(r.n, r.now, NET_OWNER_HOST, NULL, &dst, &r.hop), NET_PENDING);
	cr_assert(net_tx(r.n, &r.tx));
	cr_assert_eq(r.tx.port, 1);
	cr_assert_eq(net_resolve(r.n, r.now, NET_OWNER_HOST, &src, &dst, &r.hop), NET_PENDING);
	cr_assert(net_tx(r.n, &r.tx));
	cr_assert_eq(r.tx.port, 0);
	out = net_rig_ip("10.77.0.3");
	cr_assert_eq(net_resolve(r.n, r.now, NET_OWNER_HOST, &out, &dst, &r.hop), NET_NO_ROUTE,
		"not our address");
	out = net_rig_ip("fd77::1");
	cr_assert_eq(net_resolve(r.n, r.now, NET_OWNER_HOST, &out, &dst, &r.hop), NET_NO_ROUTE,
		"another family");
}

Test(net_route, own_addresses_resolve_to_own_ports)
{
	struct net_ip a = net_rig_ip("10.77.0.1"), b = net_rig_ip("10.78.0.1");
	static const uint8_t mac0[6] = {2, 0, 0, 0, 0x77, 1}, mac1[6] = {2, 0, 0, 0, 0x78, 1};

	add_second_port("10.78.0.1", 24);
	cr_assert_eq(net_rig_resolve(&r, "10.77.0.1"), NET_RESOLVED);
	cr_assert_arr_eq(r.hop.smac, mac0, 6);
	cr_assert_arr_eq(r.hop.dmac, mac0, 6);
	cr_assert_eq(net_resolve(r.n, r.now, NET_OWNER_HOST, &a, &b, &r.hop), NET_RESOLVED);
	cr_assert_eq(r.hop.port, 0);
	cr_assert_arr_eq(r.hop.smac, mac0, 6);
	cr_assert_arr_eq(r.hop.dmac, mac1, 6);
	cr_assert_arr_eq(r.hop.source.b, a.b, 16);
}

/* ---- with a VLAN ---- */

#define TAG(tci) "8100" tci

/* The frame of an ARP request or reply behind whatever tags. */
#define ARP_IN(dmac, smac, tags, op, sha, spa, tha, tpa)                                           \
	dmac smac tags "0806"                                                                      \
		       "000108000604"                                                              \
		       "0" op sha spa tha tpa
#define V_ME "0a4e0001"

#define V_PEER "0a4e0002"

/* 10.77.0.1/24 without a tag, 10.78.0.1/24 and fd78::1/64 in VLAN 100. */
static void
setup_vlan(void)
{
	net_rig_init(&r, 16);
	net_rig_add_vlan(&r);
}

TestSuite(net_route_vlan, .init = setup_vlan, .fini = teardown);

static bool
route(uint32_t link, const char *to, uint8_t prefix_len, const char *via)
{
	struct net_ip t = net_rig_ip(to), v = net_rig_ip(via);

	return net_route_add(r.n, link, &t, prefix_len, &v, &why);
}

/* The hop that is asked for as the way to dst; nothing was known of it. */
static void
expect_hop(const char *dst, const char *tag, const char *mine, const char *hop)
{
	char want[256];

	cr_assert_eq(net_rig_resolve(&r, dst), NET_PENDING, "%s", dst);
	(void)snprintf(want, sizeof(want),
		ALL ME "%s0806000108000604"
		       "0001" ME "%s" NOBODY "%s",
		tag, mine, hop);
	net_rig_expect_tx(&r, want);
}

Test(net_route_vlan, the_longest_prefix_wins)
{
	cr_assert(route(0, "0.0.0.0", 0, "10.77.0.10"));
	cr_assert(route(0, "10.0.0.0", 8, "10.77.0.11"));
	cr_assert(route(1, "10.9.0.0", 16, "10.78.0.12"));
	cr_assert(route(0, "10.9.9.9", 32, "10.77.0.13"));
	expect_hop("192.0.2.1", "", IP_ME, "0a4d000a");
	expect_hop("10.1.2.3", "", IP_ME, "0a4d000b");
	expect_hop("10.9.2.3", TAG("0064"), V_ME, "0a4e000c");
	expect_hop("10.9.9.9", "", IP_ME, "0a4d000d");
	expect_hop("10.77.0.2", "", IP_ME, IP_PEER);
}

Test(net_route_vlan, a_route_inside_a_connected_prefix)
{
	cr_assert(route(0, "10.77.0.128", 25, "10.77.0.2"));
	cr_assert(route(0, "10.77.0.0", 24, "10.77.0.3"));
	expect_hop("10.77.0.200", "", IP_ME, IP_PEER);
	expect_hop("10.77.0.100", "", IP_ME, "0a4d0064");
}

Test(net_route_vlan, the_source_pins_the_route)
{
	struct net_ip v = net_rig_ip("10.78.0.1"), dst = net_rig_ip("10.9.0.1");

	cr_assert(route(0, "10.9.0.0", 16, "10.77.0.2"));
	cr_assert_eq(net_resolve(r.n, r.now, NET_OWNER_HOST, &v, &dst, &r.hop), NET_NO_ROUTE);
	cr_assert(route(1, "0.0.0.0", 0, "10.78.0.2"));
	cr_assert_eq(net_resolve(r.n, r.now, NET_OWNER_HOST, &v, &dst, &r.hop), NET_PENDING);
	net_rig_expect_tx(&r, ARP_IN(ALL, ME, TAG("0064"), "001", ME, V_ME, NOBODY, V_PEER));
}

static void
expect_source(int link, const char *to, const char *from)
{
	struct net_ip dst = net_rig_ip(to), got, want;

	if (from == NULL) {
		cr_assert_not(net_source(r.n, link, &dst, &got), "%s", to);
		return;
	}
	want = net_rig_ip(from);
	cr_assert(net_source(r.n, link, &dst, &got), "%s", to);
	cr_assert_arr_eq(got.b, want.b, 16, "%s", to);
}

/* Without a source named, it is that of the way, whatever other addresses look like; no request is
 * sent. */
Test(net_route_vlan, the_way_has_a_source)
{
	expect_source(-1, "10.77.0.2", "10.77.0.1");
	expect_source(-1, "10.78.0.2", "10.78.0.1");
	expect_source(-1, "10.78.0.1", "10.78.0.1");
	expect_source(-1, "fd78::2", "fd78::1");
	expect_source(-1, "10.77.1.1", NULL);
	expect_source(-1, "10.78.0.255", NULL);
	expect_source(0, "10.78.0.2", NULL);
	cr_assert(route(1, "10.77.1.0", 24, "10.78.0.2"));
	expect_source(-1, "10.77.1.1", "10.78.0.1");
	expect_source(-1, "fe80::9", "fe80::ff:fe00:7701");
	expect_source(1, "fe80::9", "fe80::ff:fe00:7701");
	cr_assert_not(net_tx(r.n, &r.tx));
}

Test(net_route_vlan, routes_that_are_refused)
{
	REFUSED(route(2, "10.9.0.0", 16, "10.77.0.2"), "no such link");
	REFUSED(route(0, "10.9.0.0", 33, "10.77.0.2"), "bad prefix length");
	REFUSED(route(0, "10.9.0.0", 16, "fd77::2"),
		"destination and gateway are of different families");
	REFUSED(route(0, "10.9.0.0", 16, "10.78.0.2"),
		"the gateway is on no connected prefix of the link");
	REFUSED(route(0, "10.9.0.0", 16, "10.78.0.1"), "the gateway is not another host");
	cr_assert(route(0, "10.9.0.0", 16, "10.77.0.2"));
	REFUSED(route(0, "10.9.0.0", 16, "10.77.0.3"),
		"the link has a route to that prefix already");
	for (unsigned i = 1; i < NET_ROUTES_MAX; i++) {
		char to[32];

		(void)snprintf(to, sizeof(to), "11.%u.%u.0", i >> 8, i & 255);
		cr_assert(route(0, to, 24, "10.77.0.2"), "%s", why);
	}
	REFUSED(route(0, "12.0.0.0", 8, "10.77.0.2"), "too many routes");
}
