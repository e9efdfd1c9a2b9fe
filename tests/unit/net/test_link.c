/* SPDX-License-Identifier: BSD-3-Clause */
/* Links and their VLANs: tags in and out, and what belongs to which link. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/net_rig.h"

#define TAG(tci)  "8100" tci
#define QTAG(tci) "88a8" tci

static const uint8_t mac[6] = {2, 0, 0, 0, 0x77, 1};
static struct net_rig r;

/* 10.77.0.1/24 without a tag, 10.78.0.1/24 and fd78::1/64 in VLAN 100. */
static void
setup(void)
{
	net_rig_init(&r, 16);
	net_rig_add_vlan(&r);
}

static void
teardown(void)
{
	net_rig_free(&r);
}

TestSuite(net_link, .init = setup, .fini = teardown);

/* The frame of an ARP request or reply behind whatever tags. */
#define ARP_IN(dmac, smac, tags, op, sha, spa, tha, tpa)                                           \
	dmac smac tags "0806"                                                                      \
		       "000108000604"                                                              \
		       "0" op sha spa tha tpa
#define V_ME   "0a4e0001"
#define V_PEER "0a4e0002"

/* checks W-PKT-02: a question in the VLAN is answered in the VLAN, and nowhere else. */
Test(net_link, frames_belong_to_the_link_whose_tag_they_have)
{
	const struct net_counters *c = net_counters(r.n);

	net_rig_rx(&r, ARP_IN(ALL, PEER, TAG("0064"), "001", PEER, V_PEER, NOBODY, V_ME));
	net_rig_expect_tx(&r, ARP_IN(PEER, ME, TAG("0064"), "002", ME, V_ME, PEER, V_PEER));
	net_rig_rx(&r, ARP_IN(ALL, PEER, "", "001", PEER, V_PEER, NOBODY, V_ME));
	net_rig_rx(&r, ARP_IN(ALL, PEER, TAG("0064"), "001", PEER, IP_PEER, NOBODY, IP_ME));
	net_rig_expect_silence(&r);
	cr_assert_eq(c->rx_vlan, 0, "of a link of ours, but about nothing of it");
	net_rig_rx(&r, ARP_IN(ALL, PEER, TAG("0065"), "001", PEER, V_PEER, NOBODY, V_ME));
	net_rig_expect_silence(&r);
	cr_assert_eq(c->rx_vlan, 1);
}

/* VLAN 0 names a priority only, in front of a VLAN or alone; a VLAN in a VLAN is dropped. */
Test(net_link, two_tags_are_looked_through)
{
	const struct net_counters *c = net_counters(r.n);

	net_rig_rx(&r, ARP_IN(ALL, PEER, TAG("6000"), "001", PEER, IP_PEER, NOBODY, IP_ME));
	net_rig_expect_tx(&r, ARP_I_ANSWER);
	net_rig_rx(
		&r, ARP_IN(ALL, PEER, QTAG("6000") TAG("6064"), "001", PEER, V_PEER, NOBODY, V_ME));
	net_rig_expect_tx(&r, ARP_IN(PEER, ME, TAG("0064"), "002", ME, V_ME, PEER, V_PEER));
	net_rig_rx(
		&r, ARP_IN(ALL, PEER, QTAG("0005") TAG("0064"), "001", PEER, V_PEER, NOBODY, V_ME));
	net_rig_rx(
		&r, ARP_IN(ALL, PEER, QTAG("0064") TAG("0064"), "001", PEER, V_PEER, NOBODY, V_ME));
	net_rig_rx(&r, ARP_IN(ALL, PEER, QTAG("0000") TAG("0000") TAG("0064"), "001", PEER, V_PEER,
			       NOBODY, V_ME));
	net_rig_expect_silence(&r);
	cr_assert_eq(c->rx_vlan, 3);
	net_rig_rx(&r, ALL PEER TAG("0064") "08");
	net_rig_rx(&r, ALL PEER TAG("0064") "0806");
	net_rig_expect_silence(&r);
	cr_assert_eq(c->rx_malformed, 1);
	cr_assert_eq(c->rx_dropped, 1, "a tag that is cut off is no tag");
}

Test(net_link, pings_and_neighbour_discovery_in_a_vlan)
{
	net_rig_rx(&r,
		ME PEER TAG("0064") "0800 4500001c0000000040016643" V_PEER V_ME "0800f7ff00000000");
	net_rig_expect_tx(&r,
		PEER ME TAG("0064") "0800 4500001c0000400040012643" V_ME V_PEER "0000ffff00000000");
	net_rig_resolve(&r, "fd78::2");
	cr_assert(net_tx(r.n, &r.tx));
	cr_assert_eq(r.tx.len, 14 + 4 + 40 + 32);
	cr_assert_arr_eq(r.tx.frame + 12, "\x81\x00\x00\x64\x86\xdd", 6);
}

Test(net_link, the_next_hop_says_which_tag)
{
	struct net_ip dst = net_rig_ip("10.78.0.2"), here = net_rig_ip("10.77.0.1");

	cr_assert_eq(net_rig_resolve(&r, "10.78.0.2"), NET_PENDING);
	net_rig_expect_tx(&r, ARP_IN(ALL, ME, TAG("0064"), "001", ME, V_ME, NOBODY, V_PEER));
	/* A station that answers without the tag is another one. */
	net_rig_rx(&r, ARP_IN(ME, OTHER, "", "002", OTHER, V_PEER, ME, V_ME));
	cr_assert_eq(net_rig_resolve(&r, "10.78.0.2"), NET_PENDING);
	net_rig_rx(&r, ARP_IN(ME, PEER, TAG("0064"), "002", PEER, V_PEER, ME, V_ME));
	cr_assert_eq(net_rig_resolve(&r, "10.78.0.2"), NET_RESOLVED);
	cr_assert_eq(r.hop.vlan, 100);
	cr_assert_eq(r.hop.port, 0);
	cr_assert_eq(net_resolve(r.n, r.now, NET_OWNER_HOST, &here, &dst, &r.hop), NET_NO_ROUTE,
		"not from an address of another link");
}

Test(net_link, priorities)
{
	const struct net_link seven = {
		.port = 0, .vlan = 7, .priority = 5, .mac = {2, 0, 0, 0, 0x77, 1}, .mtu = 1500};

	cr_assert_eq(net_tci(100, NET_PRIORITY_OF_DSCP, 26 << 2), 3 << 13 | 100);
	cr_assert_eq(net_tci(100, 0, 26 << 2), 100);
	cr_assert_eq(net_tci(100, 7, 0), 7 << 13 | 100);
	cr_assert_eq(net_link_add(r.n, &seven), 2);
	net_rig_address(&r, 2, "10.79.0.1", 24);
	net_rig_run_until(&r, r.now);
	net_rig_expect_tx(
		&r, ARP_IN(ALL, ME, TAG("a007"), "001", ME, "0a4f0001", NOBODY, "0a4f0001"));
}

/*
 * checks W-GID-01[2,3,4]: each VLAN has the link-local address, as its neighbours want it;
 * clients see that of the port, and nothing of RoCEv2 that is for the VLAN's is taken for the
 * port's.
 */
Test(net_link, link_local_addresses)
{
	struct net_ip ip, ll = net_rig_ip("fe80::ff:fe00:7701"), peer = net_rig_ip("fe80::2");
	unsigned seen = 0;
	uint8_t len;
	uint32_t port;

	for (unsigned i = 0; net_address_get(r.n, i, &ip, &len, &port); i++)
		seen += memcmp(ip.b, ll.b, 16) == 0;
	cr_assert_eq(seen, 1);
	cr_assert(net_takes(r.n, &peer, &ll, 0));
	cr_assert_eq(net_counters(r.n)->rx_vlan, 0);
	cr_assert_not(net_takes(r.n, &peer, &ll, 100));
	cr_assert_eq(net_counters(r.n)->rx_vlan, 1);
	cr_assert_lt(net_rig_link(&r, 0, 100, mac, 1500), 0, "twice");
	cr_assert_lt(net_rig_link(&r, 1, 100, mac, 1500), 0, "another port has that MAC");
}

/* checks W-PKT-02: of RoCEv2, too. Own addresses of one port meet inside, without any tag. */
Test(net_link, which_frames_an_address_takes)
{
	struct net_ip v = net_rig_ip("10.78.0.1"), u = net_rig_ip("10.77.0.1"),
		      peer = net_rig_ip("10.78.0.2");

	cr_assert(net_takes(r.n, &peer, &v, 100));
	cr_assert(net_takes(r.n, &peer, &u, 0));
	cr_assert_eq(net_counters(r.n)->rx_vlan, 0);
	cr_assert_not(net_takes(r.n, &peer, &v, 0));
	cr_assert_not(net_takes(r.n, &peer, &v, 101));
	cr_assert_not(net_takes(r.n, &peer, &u, 100));
	cr_assert_eq(net_counters(r.n)->rx_vlan, 3);
	cr_assert_not(net_takes(r.n, &v, &peer, 100), "not ours");
	cr_assert(net_takes(r.n, &u, &v, 0));
	cr_assert_eq(net_resolve(r.n, r.now, NET_OWNER_HOST, &u, &v, &r.hop), NET_RESOLVED);
	cr_assert_eq(r.hop.vlan, 0);
	cr_assert_eq(net_resolve(r.n, r.now, NET_OWNER_HOST, &v, &u, &r.hop), NET_RESOLVED);
	cr_assert_eq(r.hop.vlan, 0);
	cr_assert_arr_eq(r.hop.smac, r.hop.dmac, 6);
}
