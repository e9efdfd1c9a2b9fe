/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses: those that are ours, in which order, and what is no address. */
#include <criterion/criterion.h>
#include <string.h>

#include "net/net_address.h"
#include "rigs/net_rig.h"

NET_RIG_SUITE(net_address, 8);

Test(net_address, addresses_in_order_and_link_local_last)
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

Test(net_address, bad_addresses_are_refused_with_a_reason)
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

/* Bits beyond the prefix do not count, and each bit within it does. */
Test(net_address, each_bit_of_a_prefix_counts)
{
	const struct net_ip a = net_rig_ip("fd77:a5a5:5a5a::1");

	for (unsigned bits = 0; bits <= 128; bits++) {
		for (unsigned flip = 0; flip < 128; flip++) {
			struct net_ip b = a;

			b.b[flip / 8] ^= (uint8_t)(0x80 >> flip % 8);
			cr_assert_eq(
				net_ip_agree(&a, &b, bits), flip >= bits, "%u, bit %u", bits, flip);
		}
	}
}

/* The network and its broadcast are no hosts, but for the prefixes that have neither. */
Test(net_address, edges_of_a_subnet)
{
	static const struct {
		const char *ip;
		uint8_t len;
		bool edge;
	} cases[] = {{"10.77.0.0", 24, true}, {"10.77.0.255", 24, true}, {"10.77.0.1", 24, false},
		{"10.77.0.254", 24, false}, {"10.77.0.255", 16, false}, {"10.77.255.255", 16, true},
		{"10.77.0.4", 30, true}, {"10.77.0.7", 30, true}, {"10.77.0.6", 30, false},
		{"10.77.0.6", 31, false}, {"10.77.0.7", 31, false}, {"10.77.0.0", 32, false},
		{"fd77::", 64, false}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct net_ip ip = net_rig_ip(cases[i].ip);
		const struct net_address a = {.ip = ip, .prefix_len = cases[i].len};

		cr_expect_eq(net_is_subnet_edge(&a, &ip), cases[i].edge, "%s/%u", cases[i].ip,
			cases[i].len);
	}
}

Test(net_address, which_are_of_a_host)
{
	static const char *const good[] = {
		"1.0.0.1", "10.0.0.1", "223.255.255.255", "fe80::1", "fd77::1", "2001:db8::"};
	static const char *const bad[] = {"0.0.0.0", "0.1.2.3", "127.0.0.1", "224.0.0.1",
		"255.255.255.255", "::", "::1", "ff02::1"};
	struct net_ip ip;

	for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ip = net_rig_ip(good[i]);
		cr_expect(net_ip_is_unicast(&ip), "%s", good[i]);
		cr_expect_eq(net_ip6_is_unicast(&ip), strchr(good[i], ':') != NULL, "%s", good[i]);
	}
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ip = net_rig_ip(bad[i]);
		cr_expect_not(net_ip_is_unicast(&ip), "%s", bad[i]);
	}
}

/* One that is kept has its new prefix; one that is removed is no one's, and the next takes its
 * place in the order. */
Test(net_address, kept_and_removed)
{
	struct net_ip a = net_rig_ip("10.77.0.1"), other = net_rig_ip("10.99.0.1"), ip;
	uint8_t len;
	uint32_t port;

	(void)net_addresses_changed(r.n);
	cr_assert_not(net_address_keep(r.n, 0, &other, 8));
	cr_assert(net_address_keep(r.n, 0, &a, 16));
	cr_assert_not(net_address_keep(r.n, 0, &a, 0), "as for one that is added");
	cr_assert_not(net_address_keep(r.n, 0, &a, 33));
	cr_assert(net_address_get(r.n, 0, &ip, &len, &port) && len == 16);
	cr_assert(net_link_address(r.n, 0, 0, &ip) && net_ip_equal(&ip, &a));
	net_address_remove(r.n, 0, &other);
	cr_expect_eq(net_addresses_changed(r.n), 0);
	net_address_remove(r.n, 0, &a);
	cr_expect_eq(net_addresses_changed(r.n), 1);
	cr_expect_eq(net_local_port(r.n, &a), -1);
	cr_assert(net_link_address(r.n, 0, 0, &ip) && !net_ip_is_v4(&ip));
	cr_expect_not(net_link_address(r.n, 0, 1, &ip), "link-local ones do not count");
}
