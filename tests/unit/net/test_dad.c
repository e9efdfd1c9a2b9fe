/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Duplicate address detection (RFC 5227, RFC 4862): probes to the byte and to the millisecond, each
 * way to meet another station, defence; then what a link that comes up does, and what goes away
 * with an address or a VLAN.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "net/net_wire.h"
#include "rigs/net_rig.h"

#define IP_NEW	 "0a4e0001" /* 10.78.0.1 */
#define IP6_NEW	 "fd780000000000000000000000000001"
#define PROBE	 ARP(ALL, ME1, "001", ME1, "00000000", NOBODY, IP_NEW)
#define ANNOUNCE ARP(ALL, ME1, "001", ME1, IP_NEW, NOBODY, IP_NEW)
#define ME1	 "020000007801"

static const uint8_t mac[6] = {2, 0, 0, 0, 0x78, 1};
static const char *why;

NET_RIG_SUITE(net_dad, 16);

/* A second port; its own link-local address is out of the way. */
static uint32_t
add_port(enum net_dad dad)
{
	struct net_link link = {.port = 1, .mtu = 1500, .dad = dad, .mac = {2, 0, 0, 0, 0x78, 1}};
	struct net_ip ll = net_rig_ip("fe80::ff:fe00:7801");
	int n = net_link_add(r.n, &link);

	cr_assert_eq(n, 1);
	net_address_remove(r.n, 1, &ll);
	return 1;
}

static void
add(const char *text, uint8_t prefix_len)
{
	struct net_ip ip = net_rig_ip(text);

	cr_assert(net_address_add(r.n, 1, &ip, prefix_len, &why), "%s", why);
}

static bool
is_ours(const char *text)
{
	struct net_ip ip = net_rig_ip(text);

	return net_local_port(r.n, &ip) >= 0;
}

/* A frame from the wire of the second port. */
static void
rx(const char *hex)
{
	uint8_t f[512];
	size_t n = net_rig_bytes(hex, f, sizeof(f));
	uint8_t *ip = f + ETH_HDR, *icmp = ip + V6_HDR;

	if (net_get_be16(f + 12) == ETHERTYPE_V6) { /* its checksum is made right */
		net_put_be16(icmp + ICMP_SUM, 0);
		net_put_be16(icmp + ICMP_SUM, sum_icmpv6(ip, icmp, n - ETH_HDR - V6_HDR));
	}
	net_rx(r.n, r.now, 1, f, n);
}

static void
expect(const char *hex)
{
	uint8_t want[512] = {0};
	size_t n = net_rig_bytes(hex, want, sizeof(want));

	cr_assert(net_tx(r.n, &r.tx), "no frame, but expected %s", hex);
	cr_assert_eq(r.tx.port, 1);
	cr_assert_eq(r.tx.len, n < 60 ? 60 : n);
	cr_assert_arr_eq(r.tx.frame, want, n);
}

static void
told(enum net_event_type type, const char *text, uint8_t last)
{
	const uint8_t other[6] = {2, 0, 0, 0, 0x77, last};
	struct net_ip ip = net_rig_ip(text);
	struct net_event ev;

	cr_assert(net_event(r.n, &ev), "nothing was told");
	cr_assert_eq(ev.type, type);
	cr_assert_eq(ev.port, 1);
	cr_assert_arr_eq(ev.ip.b, ip.b, 16);
	cr_assert_arr_eq(ev.mac, other, 6);
	cr_assert_not(net_event(r.n, &ev), "told twice");
}

/* Frames until time; how many. */
static unsigned
frames_until(uint64_t at)
{
	unsigned n = 0;

	net_rig_run_until(&r, at);
	while (net_tx(r.n, &r.tx))
		n++;
	return n;
}

Test(net_dad, quick_asks_three_times_then_announces)
{
	uint64_t start = r.now;

	add_port(NET_DAD_QUICK);
	add("10.78.0.1", 24);
	for (unsigned i = 0; i < 3; i++) {
		net_rig_run_until(&r, start + i * 100 * MS);
		expect(PROBE);
		net_rig_run_until(&r, start + i * 100 * MS + 99 * MS);
		net_rig_expect_silence(&r);
		cr_assert_not(is_ours("10.78.0.1"));
		cr_assert_eq(net_probing(r.n), 1);
	}
	net_rig_run_until(&r, start + 300 * MS);
	expect(ANNOUNCE);
	cr_assert(is_ours("10.78.0.1"));
	cr_assert_eq(net_probing(r.n), 0);
	net_rig_run_until(&r, start + 1300 * MS);
	expect(ANNOUNCE);
	cr_assert_eq(net_next_deadline(r.n), UINT64_MAX);
}

Test(net_dad, ipv6_asks_from_nowhere_and_tells_no_mac)
{
	uint8_t want[128];
	size_t n = net_rig_bytes("3333ff000001" ME1 "86dd 60000000 0018 3aff"
				 "00000000000000000000000000000000 ff0200000000000000000001ff000001"
				 "8700 8427 00000000" IP6_NEW,
		want, sizeof(want));

	add_port(NET_DAD_QUICK);
	add("fd78::1", 64);
	net_rig_run_until(&r, r.now);
	cr_assert(net_tx(r.n, &r.tx));
	cr_assert_eq(r.tx.len, n);
	for (size_t i = 0; i < n; i++)
		if (i < 56 || i > 57) /* the checksum is judged by a receiver, below */
			cr_assert_eq(r.tx.frame[i], want[i], "byte %zu", i);
	net_rx(r.n, r.now, 0, r.tx.frame, r.tx.len);
	cr_assert_eq(net_counters(r.n)->rx_malformed, 0);
	cr_assert_eq(net_counters(r.n)->rx_nd, 1);
}

/* PROBE_WAIT, three probes of PROBE_MIN to PROBE_MAX, ANNOUNCE_WAIT; IPv6: one, then a second. */
Test(net_dad, full_takes_the_times_of_the_rfcs)
{
	uint64_t start = r.now, v4 = 0, v6 = 0;

	add_port(NET_DAD_FULL);
	add("10.78.0.1", 24);
	add("fd78::1", 64);
	for (uint64_t at = start; v4 == 0 || v6 == 0; at += 10 * MS) {
		(void)frames_until(at);
		if (v4 == 0 && is_ours("10.78.0.1"))
			v4 = at - start;
		if (v6 == 0 && is_ours("fd78::1"))
			v6 = at - start;
		cr_assert_lt(at, start + 8 * S);
	}
	cr_assert(v4 >= 4 * S && v4 <= 7 * S + 10 * MS, "%lu", v4);
	cr_assert(v6 >= 1 * S && v6 <= 2 * S + 10 * MS, "%lu", v6);
}

Test(net_dad, off_uses_it_at_once)
{
	add_port(NET_DAD_OFF);
	add("10.78.0.1", 24);
	cr_assert(is_ours("10.78.0.1"));
	net_rig_run_until(&r, r.now);
	expect(ANNOUNCE);
}

/* What clients see of a port's addresses changes when one is ours, or was. */
Test(net_dad, changes_are_told_once)
{
	struct net_ip ip = net_rig_ip("10.78.0.1"), other = net_rig_ip("10.78.0.7");
	int vlan;

	cr_assert_eq(net_addresses_changed(r.n), 1);
	add_port(NET_DAD_QUICK);
	cr_assert_eq(net_addresses_changed(r.n), 0, "one that was not ours yet has gone");
	add("10.78.0.1", 24);
	add("10.78.0.7", 24);
	(void)frames_until(r.now + 150 * MS);
	rx(ARP(ME1, OTHER, "002", OTHER, "0a4e0007", ME1, "00000000"));
	cr_assert_eq(net_addresses_changed(r.n), 0);
	(void)frames_until(r.now + 1 * S);
	cr_assert_eq(net_addresses_changed(r.n), 2);
	cr_assert_eq(net_addresses_changed(r.n), 0);
	net_port_up(r.n, r.now, 1);
	cr_assert(net_address_keep(r.n, 1, &ip, 16));
	rx(ARP(ME1, OTHER, "002", OTHER, "0a4e0007", ME1, "00000000"));
	net_address_remove(r.n, 1, &other);
	cr_assert_eq(net_addresses_changed(r.n), 0, "it never was ours");
	vlan = net_rig_link(&r, 1, 100, mac, 1500);
	(void)frames_until(r.now + 1 * S);
	cr_assert_eq(net_addresses_changed(r.n), 0, "its link-local one is not for clients");
	net_link_remove(r.n, (uint32_t)vlan);
	cr_assert_eq(net_addresses_changed(r.n), 0);
	net_address_remove(r.n, 1, &ip);
	cr_assert_eq(net_addresses_changed(r.n), 2);
}

/* Until then it is no address of ours: not answered for, no source, no prefix; yet routes may be
 * given. */
Test(net_dad, what_is_asked_for_is_not_used)
{
	struct net_ip any = net_rig_ip("0.0.0.0"), via = net_rig_ip("10.78.0.9"),
		      dst = net_rig_ip("10.78.0.2");
	uint8_t len;
	uint32_t port;

	add_port(NET_DAD_QUICK);
	add("10.78.0.1", 24);
	cr_assert(net_route_add(r.n, 1, &any, 0, &via, &why), "%s", why);
	net_rig_run_until(&r, r.now);
	expect(PROBE);
	rx(ARP(ALL, PEER, "001", PEER, "0a4e0002", NOBODY, IP_NEW));
	net_rig_expect_silence(&r);
	cr_assert_eq(net_rig_resolve(&r, "10.78.0.2"), NET_NO_ROUTE);
	cr_assert_eq(net_rig_resolve(&r, "192.0.2.1"), NET_NO_ROUTE);
	for (unsigned i = 0; net_address_get(r.n, i, &dst, &len, &port); i++)
		cr_assert_eq(port, 0);
	(void)frames_until(r.now + 1 * S);
	cr_assert_eq(net_rig_resolve(&r, "10.78.0.2"), NET_PENDING);
	cr_assert_eq(net_rig_resolve(&r, "192.0.2.1"), NET_PENDING);
}

/* Each way to learn that another station has it, or wants it at the same time. */
static void
taken(const char *address, uint8_t prefix_len, const char *frame)
{
	uint64_t generation;

	add_port(NET_DAD_QUICK);
	add(address, prefix_len);
	(void)frames_until(r.now + 150 * MS);
	generation = net_generation(r.n);
	rx(frame);
	told(NET_EV_TAKEN, address, 2);
	cr_assert_eq(net_probing(r.n), 0);
	cr_assert_eq(frames_until(r.now + 20 * S), 0, "neither probes nor announcements");
	cr_assert_not(is_ours(address));
	cr_assert_eq(net_generation(r.n), generation);
	cr_assert_eq(net_counters(r.n)->address_conflicts, 1);
	rx(frame); /* it is the other's, that is no news */
	cr_assert_eq(net_counters(r.n)->address_conflicts, 1);
}

Test(net_dad, taken_says_a_reply)
{
	taken("10.78.0.1", 24, ARP(ME1, PEER, "002", PEER, IP_NEW, ME1, "00000000"));
}

Test(net_dad, taken_says_a_request_of_the_owner)
{
	taken("10.78.0.1", 24, ARP(ALL, PEER, "001", PEER, IP_NEW, NOBODY, "0a4e0005"));
}

Test(net_dad, taken_says_a_probe_of_a_rival)
{
	taken("10.78.0.1", 24, ARP(ALL, PEER, "001", PEER, "00000000", NOBODY, IP_NEW));
}

Test(net_dad, taken_says_an_advertisement)
{
	taken("fd78::1", 64,
		"333300000001" PEER "86dd 60000000 0020 3aff" IP6_NEW
		"ff020000000000000000000000000001 8800 e39f 20000000" IP6_NEW "0201" PEER);
}

Test(net_dad, taken_says_a_solicitation_of_a_rival)
{
	taken("fd78::1", 64,
		"3333ff000001" PEER "86dd 60000000 0018 3aff 00000000000000000000000000000000"
		"ff0200000000000000000001ff000001 8700 8d2c 00000000" IP6_NEW);
}

/* A rival's probe for what is ours is answered; a station that claims it is told off once in ten
 * seconds. */
Test(net_dad, an_address_in_use_is_defended)
{
	const char *claim = ARP(ALL, PEER, "001", PEER, IP_NEW, NOBODY, IP_NEW);

	add_port(NET_DAD_OFF);
	add("10.78.0.1", 24);
	(void)frames_until(r.now + 5 * S);
	rx(ARP(ALL, PEER, "001", PEER, "00000000", NOBODY, IP_NEW));
	expect(ARP(PEER, ME1, "002", ME1, IP_NEW, PEER, "00000000"));
	cr_assert_eq(net_counters(r.n)->address_conflicts, 0);
	rx(claim);
	expect(ANNOUNCE);
	told(NET_EV_CLAIMED, "10.78.0.1", 2);
	for (unsigned i = 0; i < 100; i++)
		rx(claim);
	net_rig_run_until(&r, r.now + 9999 * MS);
	rx(claim);
	net_rig_expect_silence(&r);
	net_rig_run_until(&r, r.now + 1 * MS);
	rx(claim);
	expect(ANNOUNCE);
	told(NET_EV_CLAIMED, "10.78.0.1", 2);
	cr_assert(is_ours("10.78.0.1"));
	cr_assert_eq(net_counters(r.n)->address_conflicts, 103);
}

/* ---- links that come up, and what goes ---- */

Test(net_dad, a_cable_plugged_in_announces_and_tries_again)
{
	add_port(NET_DAD_QUICK);
	add("10.78.0.1", 24);
	add("10.78.0.7", 24);
	(void)frames_until(r.now + 50 * MS);
	rx(ARP(ALL, PEER, "001", PEER, "0a4e0007", NOBODY, "0a4e0005"));
	told(NET_EV_TAKEN, "10.78.0.7", 2);
	(void)frames_until(r.now + 5 * S);
	cr_assert(is_ours("10.78.0.1") && !is_ours("10.78.0.7"));
	net_port_up(r.n, r.now, 0);
	cr_assert_eq(net_probing(r.n), 0, "another port's");
	(void)frames_until(r.now + 5 * S);
	net_port_up(r.n, r.now, 1);
	cr_assert(is_ours("10.78.0.1"), "in use, it stays so");
	net_rig_run_until(&r, r.now);
	expect(ANNOUNCE);
	expect(ARP(ALL, ME1, "001", ME1, "00000000", NOBODY, "0a4e0007"));
	(void)frames_until(r.now + 1 * S);
	cr_assert(is_ours("10.78.0.7"));
}

Test(net_dad, a_cable_plugged_in_asks_for_neighbours_again)
{
	net_rig_resolve(&r, "10.77.0.2");
	net_rig_expect_tx(&r, ARP_ASK_PEER);
	net_rig_rx(&r, ARP_PEER_ANSWERS);
	net_rig_resolve(&r, "10.77.0.3");
	cr_assert_eq(frames_until(r.now + 2500 * MS), 4, "asked for 10.77.0.3 in vain");
	cr_assert_eq(net_rig_resolve(&r, "10.77.0.3"), NET_UNREACHABLE);
	net_port_up(r.n, r.now, 0);
	cr_assert_eq(net_rig_resolve(&r, "10.77.0.3"), NET_PENDING, "that was another switch");
	net_rig_run_until(&r, r.now + 10 * MS);
	cr_assert_eq(net_rig_resolve(&r, "10.77.0.2"), NET_RESOLVED);
	while (net_tx(r.n, &r.tx) && r.tx.frame[0] != 2)
		;
	cr_assert_eq(r.tx.frame[5], 2, "the neighbour is asked directly, once more");
}

Test(net_dad, an_address_that_is_removed)
{
	struct net_ip one = net_rig_ip("10.78.0.1"), two = net_rig_ip("10.78.0.2"), left;
	uint64_t generation;

	add_port(NET_DAD_OFF);
	add("10.78.0.1", 24);
	add("10.78.0.2", 24);
	(void)frames_until(r.now + 5 * S);
	cr_assert_eq(net_rig_resolve(&r, "10.78.0.9"), NET_PENDING);
	(void)frames_until(r.now);
	generation = net_generation(r.n);
	net_address_remove(r.n, 1, &one);
	cr_assert_neq(net_generation(r.n), generation);
	cr_assert(!is_ours("10.78.0.1") && is_ours("10.78.0.2") && is_ours("10.77.0.1"));
	cr_assert_eq(frames_until(r.now + 5 * S), 0, "nobody is asked in its name");
	rx(ARP(ALL, PEER, "001", PEER, "0a4e0009", NOBODY, IP_NEW));
	net_rig_expect_silence(&r);
	cr_assert(net_link_address(r.n, 1, 0, &left));
	cr_assert_arr_eq(left.b, two.b, 16);
	cr_assert_not(net_link_address(r.n, 1, 1, &left));
	cr_assert(net_address_keep(r.n, 1, &two, 8));
	cr_assert_eq(net_rig_resolve(&r, "10.200.0.9"), NET_PENDING, "in the wider prefix");
	cr_assert_not(net_address_keep(r.n, 1, &one, 8));
	net_address_remove(r.n, 1, &one);
}

Test(net_dad, a_vlan_that_is_removed)
{
	struct net_ip ip = net_rig_ip("10.79.0.1"), to = net_rig_ip("10.9.0.0"),
		      via = net_rig_ip("10.79.0.9");
	int vlan;

	add_port(NET_DAD_OFF);
	vlan = net_rig_link(&r, 1, 100, mac, 1500);
	cr_assert_eq(vlan, 2);
	cr_assert_eq(net_link_find(r.n, 1, 100), vlan);
	cr_assert(net_address_add(r.n, 2, &ip, 24, &why));
	cr_assert(net_route_add(r.n, 2, &to, 16, &via, &why));
	cr_assert_eq(net_rig_resolve(&r, "10.9.0.1"), NET_PENDING);
	net_link_remove(r.n, 2); /* with its frames under way */
	net_rig_expect_silence(&r);
	cr_assert_eq(net_rig_resolve(&r, "10.9.0.1"), NET_NO_ROUTE);
	cr_assert_not(is_ours("10.79.0.1"));
	cr_assert_eq(net_link_find(r.n, 1, 100), -1);
	cr_assert_not(net_address_add(r.n, 2, &ip, 24, &why));
	cr_assert_str_eq(why, "no such link");
	cr_assert_eq(frames_until(r.now + 5 * S), 0);
	cr_assert_eq(net_rig_link(&r, 1, 101, mac, 1500), 2, "its place is free");
}
