/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The IP host in any order of frames, time and requests: ARP, neighbour discovery, duplicate
 * address detection, IGMP and MLD, routes, VLANs and a link that is shared with the kernel.
 * Frames begin as good ones and are damaged where the input says; their checksums are mostly put
 * right.
 *
 * What tests/unit/net/test_fuzz.c does not do: here the input decides what happens next, so what
 * is reached by a sequence is built upon.
 */
#include <string.h>

#include "fuzz.h"
#include "net/net.h"
#include "net/net_wire.h"
#include "rigs/group_frames.h"
#include "rigs/net_rig.h"

#define ACTIONS_MAX 200u
#define FRAME_MAX   1024u
#define VLAN	    "8100 0064"
#define IP6_ME	    "fd770000000000000000000000000001"
#define IP6_PEER    "fd770000000000000000000000000002"
#define SOLICITED   "ff0200000000000000000001ff000001"

static const char *const frames[] = {
	ARP_PEER_ASKS,
	ARP_PEER_ANSWERS,
	ARP(ALL, OTHER, "001", OTHER, IP_ME, NOBODY, IP_ME),  /* claims our address */
	ARP(ALL, OTHER, "001", OTHER, NONE4, NOBODY, IP_ME),  /* probes it */
	ARP(ALL, OTHER, "002", OTHER, IP_PEER, ALL, IP_PEER), /* gratuitous */
	ALL PEER VLAN "0806 000108000604 0001" PEER "0a4e0002" NOBODY "0a4e0001",
	ME PEER "0800 4500001c000000004001 0000" IP_PEER IP_ME "0800f7ff00000000",
	ME PEER "86dd 6000000000203aff" IP6_PEER IP6_ME "8800000060000000" IP6_PEER "0201" PEER,
	ME PEER "86dd 6000000000203aff" IP6_PEER SOLICITED "8700000000000000" IP6_ME "0101" PEER,
	/* asks for our address without having one: duplicate address detection of another */
	"3333ff000001" OTHER "86dd 6000000000183aff" NONE6 SOLICITED "8700000000000000" IP6_ME,
	"333300000001" OTHER "86dd 6000000000203aff" IP6_ME ALL6 "8800000020000000" IP6_ME
	"0201" OTHER,
	ME PEER "86dd 6000000000083aff" IP6_PEER IP6_ME "8000000000000000",
	QUERY2_4(ALL4_MAC, ALL4, "64", NONE4),
	QUERY2_4(G4_MAC, G4, "0a", G4),
	QUERY3_4(ALL4_MAC, ALL4, "64", NONE4, "027d0001 0a4d00fe"),
	QUERY2_6("333300000001", ALL6, "2710", NONE6),
	QUERY3_6("333300010203", G6, "0032", G6, "027d0001" IP6_PEER),
	REPORT3_4("04"),
	REPORT3_6("04"),
};
#define FRAMES (sizeof(frames) / sizeof(frames[0]))

static const char *const addresses[] = {"10.77.0.1", "10.77.0.2", "10.78.0.1", "10.79.0.9",
	"192.0.2.7", "fd77::1", "fd77::2", "fd78::1", "fe80::ff:fe00:7702", "2001:db8::7",
	"239.1.2.3", "ff15::102:3", "224.0.0.1", "0.0.0.0"};
#define ADDRESSES (sizeof(addresses) / sizeof(addresses[0]))

static struct net_ip
some_ip(struct fuzz_in *in)
{
	return net_rig_ip(addresses[fuzz_below(in, ADDRESSES)]);
}

static void
l4_repair(uint8_t *ip, size_t n)
{
	size_t hdr = (ip[0] & 15u) * 4u, bytes;

	if (n >= V4_HDR && ip[0] >> 4 == 4 && hdr >= V4_HDR && hdr <= n) {
		net_put_be16(ip + V4_SUM, 0);
		net_put_be16(ip + V4_SUM, sum_end(sum_add(0, ip, hdr)));
		bytes = net_get_be16(ip + 2);
		if (bytes >= hdr + 4 && bytes <= n) { /* IGMP and ICMP have theirs at one place */
			net_put_be16(ip + hdr + 2, 0);
			net_put_be16(ip + hdr + 2, sum_end(sum_add(0, ip + hdr, bytes - hdr)));
		}
	} else if (n >= V6_HDR + ICMP_HDR && ip[0] >> 4 == 6) {
		hdr = V6_HDR + (ip[6] == 0 ? 8u : 0u); /* MLD has a hop-by-hop header */
		bytes = net_get_be16(ip + V6_PAYLOAD) + V6_HDR - hdr;
		if (bytes >= ICMP_HDR && bytes <= n - hdr) {
			net_put_be16(ip + hdr + ICMP_SUM, 0);
			net_put_be16(ip + hdr + ICMP_SUM, sum_icmpv6(ip, ip + hdr, bytes));
		}
	}
}

static void
frame_arrives(struct net_rig *r, struct fuzz_in *in)
{
	uint8_t f[FRAME_MAX], *exact;
	size_t n = net_rig_bytes(frames[fuzz_below(in, FRAMES)], f, sizeof(f));
	unsigned how = fuzz_below(in, 256), port = how >> 6 & 1;

	for (unsigned i = how & 7; i > 0; i--) {
		size_t at = fuzz_below(in, 128);

		f[at % n] = (uint8_t)fuzz_take(in, 1);
	}
	if (how & 8)
		n = fuzz_below(in, 128) % (n + 1);
	else if (how & 16) {
		memset(f + n, 0, FRAME_MAX - n); /* what pads a short frame */
		n += fuzz_below(in, 64);
	}
	if (!(how & 32) && n > ETH_HDR)
		l4_repair(f + ETH_HDR, n - ETH_HDR);
	exact = fuzz_copy(f, n);
	net_rx(r->n, r->now, port, exact, n);
	free(exact);
}

static void
host_asks(struct net_rig *r, struct fuzz_in *in)
{
	struct net_ip src = some_ip(in), dst = some_ip(in);
	struct net_nexthop hop;
	bool any = fuzz_below(in, 2);

	if (net_resolve(r->n, r->now, fuzz_below(in, 4), any ? NULL : &src, &dst, &hop) ==
		NET_RESOLVED)
		fuzz_need(hop.port < 2 && hop.mtu != 0, "a hop by port %u", hop.port);
	(void)net_group_hop(r->n, &src, &dst, &hop);
	(void)net_takes(r->n, &src, &dst, (uint16_t)fuzz_below(in, 2) * 100);
}

static void
links_change(struct net_rig *r, struct fuzz_in *in)
{
	const struct net_link vlan = {.vlan = 100,
		.mac = {2, 0, 0, 0, 0x77, 1},
		.mtu = 1500,
		.priority = NET_PRIORITY_OF_DSCP,
		.dad = fuzz_below(in, 3)};
	struct net_ip ip = some_ip(in);
	const char *why;
	int at = net_link_find(r->n, 0, 100);

	if (at >= 0)
		net_link_remove(r->n, (uint32_t)at);
	at = net_link_add(r->n, &vlan);
	fuzz_need(at >= 0, "a VLAN that went comes back");
	(void)net_address_add(r->n, (uint32_t)at, &ip, 24, &why);
}

static void
addresses_change(struct net_rig *r, struct fuzz_in *in)
{
	struct net_ip ip = some_ip(in), via = some_ip(in);
	uint8_t prefix = (uint8_t)fuzz_below(in, 129);
	const char *why = NULL;
	bool ok = true;

	switch (fuzz_below(in, 8)) {
	case 0:
		ok = net_address_add(r->n, 0, &ip, prefix, &why);
		break;
	case 1:
		(void)net_address_keep(r->n, 0, &ip, prefix);
		break;
	case 2:
		net_address_remove(r->n, 0, &ip);
		break;
	case 3:
		ok = net_route_add(r->n, 0, &ip, prefix, &via, &why);
		break;
	case 4:
		net_routes_clear(r->n);
		break;
	case 5:
		(void)net_group_join(r->n, 0, &ip);
		break;
	case 6:
		net_group_leave(r->n, 0, &ip);
		break;
	default:
		net_confirm(r->n, r->now, &ip, (const uint8_t[6]){2, 0, 0, 0, 0x77, 2});
	}
	fuzz_need(ok || why != NULL, "refused without a word");
}

static void
kernel_says(struct net_rig *r, struct fuzz_in *in)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0x77, 9};
	struct net_ip ip = some_ip(in), hop = some_ip(in);
	struct net_question q;

	switch (fuzz_below(in, 4)) {
	case 0:
		net_told_way(r->n, r->now, 1, &ip, fuzz_below(in, 3) ? &hop : NULL);
		break;
	case 1:
		net_told_neighbour(r->n, r->now, 1, &ip, fuzz_below(in, 3) ? mac : NULL);
		break;
	case 2:
		net_told_changes(r->n, r->now, 1);
		break;
	default:
		while (net_question(r->n, &q))
			fuzz_need(q.port == 1, "the kernel has no port %u", q.port);
	}
}

static void
time_passes(struct net_rig *r, struct fuzz_in *in)
{
	net_rig_run_until(r, r->now + 1000 * fuzz_time(in, 0, 28));
}

static void
act(struct net_rig *r, struct fuzz_in *in)
{
	static void (*const actions[])(struct net_rig *, struct fuzz_in *) = {frame_arrives,
		frame_arrives, frame_arrives, time_passes, host_asks, addresses_change,
		links_change, kernel_says};
	unsigned which = fuzz_below(in, 9);

	if (which < 8)
		actions[which](r, in);
	else
		net_port_up(r->n, r->now, fuzz_below(in, 2));
}

static void
host_speaks(struct net_rig *r)
{
	struct net_event ev;

	while (net_tx(r->n, &r->tx)) {
		fuzz_need(r->tx.len >= 60 && r->tx.len <= NET_FRAME_MAX, "%u bytes", r->tx.len);
		fuzz_need(r->tx.port == 0, "a frame on the link that is the kernel's");
	}
	while (net_event(r->n, &ev))
		fuzz_need(ev.port == 0, "an event of port %u", ev.port);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const struct net_link shared = {
		.port = 1, .mac = {2, 0, 0, 0, 0x79, 1}, .mtu = 1500, .shared = true};
	struct fuzz_in in = {bytes, bytes + n};
	struct net_ip ip = net_rig_ip("10.79.0.1");
	struct net_rig r;
	const char *why;

	net_rig_init(&r, 4);
	fuzz_need(net_link_add(r.n, &shared) >= 0, "the shared link");
	fuzz_need(
		net_address_add(r.n, (uint32_t)net_link_find(r.n, 1, 0), &ip, 24, &why), "%s", why);
	for (unsigned i = 0; i < ACTIONS_MAX && fuzz_left(&in) > 0; i++) {
		act(&r, &in);
		host_speaks(&r);
	}
	net_rig_free(&r);
	return 0;
}
