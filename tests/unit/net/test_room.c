/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue of frames to send has an end: who is kept out then, and what becomes of it. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <string.h>

#include "net/net_wire.h"
#include "rigs/net_rig.h"

#define NEIGHBOURS 600u /* more than six probes of a queue full of them reach */
#define FLOOD	   200u

NET_RIG_SUITE(net_room, NEIGHBOURS);

#define ABC	 "6162636465666768696a6b6c6d6e6f7071727374757677616263646566676869"
#define IP6_ME	 "fd770000000000000000000000000001"
#define IP6_PEER "fd770000000000000000000000000002"
#define PING4	 ME PEER "0800 4500003cbeef000080016735" IP_PEER IP_ME "08003b2712340001" ABC
#define PING6	 ME PEER "86dd 6000000000283a40" IP6_PEER IP6_ME "8000c7d112340001" ABC
#define NS_BY_PEER                                                                                 \
	"3333ff000001" PEER "86dd 600000000020 3aff" IP6_PEER                                      \
	"ff0200000000000000000001ff000001 870005a900000000" IP6_ME "0101" PEER
#define NS_IS_IT_FREE                                                                              \
	"3333ff000001" PEER "86dd 600000000018 3aff 00000000000000000000000000000000"              \
	"ff0200000000000000000001ff000001 870005a900000000" IP6_ME

static const uint8_t all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

/* ---- frames of ARP ---- */

static void
arp_rx(unsigned op, const uint8_t mac[6], const uint8_t ip[4], const uint8_t target[4])
{
	uint8_t f[ETH_HDR + ARP_BYTES] = {0}, *arp = f + ETH_HDR;

	memcpy(f, op == ARP_REQUEST ? all : (const uint8_t[]){2, 0, 0, 0, 0x77, 1}, 6);
	memcpy(f + 6, mac, 6);
	memcpy(f + 12, "\x08\x06\0\1\x08\0\6\4", 8);
	net_put_be16(arp + ARP_OP, op);
	memcpy(arp + ARP_SHA, mac, 6);
	memcpy(arp + ARP_SPA, ip, 4);
	memcpy(arp + ARP_TPA, target, 4);
	net_rx(r.n, r.now, 0, f, sizeof(f));
}

/* Each neighbour that we ask answers, from a MAC made of its address. Returns how many frames we
 * had sent. */
static uint32_t
neighbours_answer(void)
{
	uint32_t n = 0;

	for (; net_tx(r.n, &r.tx); n++) {
		const uint8_t *arp = r.tx.frame + ETH_HDR;
		const uint8_t mac[6] = {2, 1, 0, 0, arp[ARP_TPA + 2], arp[ARP_TPA + 3]};

		if (r.tx.frame[13] == 6 && arp[ARP_OP + 1] == ARP_REQUEST)
			arp_rx(ARP_REPLY, mac, arp + ARP_TPA, arp + ARP_SPA);
	}
	return n;
}

static void
neighbour_name(uint32_t i, char text[16])
{
	(void)snprintf(text, 16, "10.79.%u.%u", 1 + i / 200, 1 + i % 200);
}

/* ---- answers ---- */

/* The frame with its ICMPv6 checksum made right, if it is one. */
static void
flood_rx(const char *hex)
{
	uint8_t f[256];
	size_t n = net_rig_bytes(hex, f, sizeof(f));
	uint8_t *ip = f + ETH_HDR, *icmp = ip + V6_HDR;

	if (f[12] == 0x86) {
		net_put_be16(icmp + ICMP_SUM, 0);
		net_put_be16(icmp + ICMP_SUM, sum_icmpv6(ip, icmp, n - ETH_HDR - V6_HDR));
	}
	net_rx(r.n, r.now, 0, f, n);
}

static bool
frame_asks_for_peer(void)
{
	return r.tx.frame[13] == 6 && r.tx.frame[ETH_HDR + ARP_OP + 1] == ARP_REQUEST;
}

static char floods[][256] = {ARP_PEER_ASKS, PING4, PING6, NS_BY_PEER, NS_IS_IT_FREE};

ParameterizedTestParameters(net_room, a_flood_does_not_keep_us_from_asking)
{
	return cr_make_param_array(char[256], floods, sizeof(floods) / sizeof(floods[0]));
}

/* Whatever it is that a station wants to have answered as often as it can. */
ParameterizedTest(const char *flood, net_room, a_flood_does_not_keep_us_from_asking)
{
	uint32_t asked = 0, answers = 0;

	for (uint32_t i = 0; i < FLOOD; i++)
		flood_rx(flood);
	cr_assert_eq(net_rig_resolve(&r, "10.77.0.9"), NET_PENDING);
	while (net_tx(r.n, &r.tx)) {
		asked += frame_asks_for_peer();
		answers += !frame_asks_for_peer();
	}
	cr_expect_eq(asked, 1);
	cr_expect_gt(answers, 0, "it is answered, too");
	cr_expect_lt(answers, FLOOD);
}

/* ---- questions ---- */

/* All of them at once are asked whether they are still there, as they were met at once. */
Test(net_room, many_neighbours_that_answer_are_none_that_is_lost)
{
	char text[16];

	net_rig_address(&r, 0, "10.79.0.1", 16);
	net_rig_run_until(&r, r.now + 2 * S);
	for (uint32_t i = 0; i < NEIGHBOURS; i++) {
		const uint8_t ip[4] = {10, 79, (uint8_t)(1 + i / 200), (uint8_t)(1 + i % 200)},
			      us[4] = {10, 79, 0, 1}, mac[6] = {2, 1, 0, 0, ip[2], ip[3]};

		arp_rx(ARP_REQUEST, mac, ip, us);
		(void)neighbours_answer();
	}
	for (uint32_t i = 0; i < NEIGHBOURS; i++) {
		neighbour_name(i, text);
		cr_assert_eq(net_rig_resolve(&r, text), NET_RESOLVED, "%s", text);
	}
	for (uint32_t i = 0; i < 1000; i++) {
		(void)neighbours_answer();
		net_rig_run_until(&r, r.now + 10 * MS);
	}
	cr_expect_eq(net_counters(r.n)->neighbours_failed, 0);
	for (uint32_t i = 0; i < NEIGHBOURS; i++) {
		neighbour_name(i, text);
		cr_assert_eq(net_rig_resolve(&r, text), NET_RESOLVED, "%s", text);
	}
	cr_expect_eq(neighbours_answer(), 0, "they are known");
}

/* ---- addresses ---- */

#define LINKS 40u

/* Each is asked for as often as it has to be before it is ours, and announced, however many there
 * are: four on each of 40 VLANs. */
Test(net_room, each_address_is_asked_for_before_it_is_used)
{
	uint32_t probes[LINKS][4] = {{0}}, announcements = 0;

	for (uint32_t i = 0; i < LINKS; i++) {
		struct net_link link = {.port = 0,
			.vlan = (uint16_t)(2 + i),
			.mtu = 1500,
			.dad = NET_DAD_QUICK,
			.mac = {2, 0, 0, 0, 0x77, 1}};
		char text[16];
		int at = net_link_add(r.n, &link);

		cr_assert_geq(at, 0);
		for (uint32_t k = 0; k < 4; k++) {
			(void)snprintf(text, sizeof(text), "10.80.%u.%u", i, k + 1);
			net_rig_address(&r, (uint32_t)at, text, 24);
		}
	}
	for (uint32_t i = 0; i < 500; i++) {
		net_rig_run_until(&r, r.now + 10 * MS);
		while (net_tx(r.n, &r.tx)) {
			const uint8_t *arp = r.tx.frame + ETH_HDR + VLAN_TAG;
			const uint8_t *tpa = arp + ARP_TPA;

			if (r.tx.frame[16] != 8 || r.tx.frame[17] != 6)
				continue;
			if (memcmp(arp + ARP_SPA, "\0\0\0\0", 4) == 0)
				probes[tpa[2]][tpa[3] - 1]++;
			else
				announcements++;
		}
	}
	for (uint32_t i = 0; i < LINKS; i++)
		for (uint32_t k = 0; k < 4; k++)
			cr_expect_eq(probes[i][k], 3, "10.80.%u.%u: %u", i, k + 1, probes[i][k]);
	cr_expect_eq(announcements, LINKS * 4 * 2);
}
