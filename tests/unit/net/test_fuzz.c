/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames from a hostile wire: every prefix of good frames, and good frames with
 * random damage, each in a block of its own size so that a sanitizer sees a read
 * beyond the end. Seeded, thus the same in each run.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "net/net_wire.h"
#include "rigs/net_rig.h"

#define IP6_ME	 "fd770000000000000000000000000001"
#define IP6_PEER "fd770000000000000000000000000002"

static const char *const good[] = {
	ARP_PEER_ASKS,
	ARP_PEER_ANSWERS,
	ME PEER "0800 4500001c000000004001"
		"6645" IP_PEER IP_ME "0800f7ff00000000",
	ME PEER "86dd 6000000000203aff" IP6_PEER IP6_ME "8800a43460000000" IP6_PEER "0201" PEER,
	"3333ff000001" PEER "86dd 6000000000203aff" IP6_PEER "ff0200000000000000000001ff000001"
	"870005a900000000" IP6_ME "0101" PEER,
	ALL PEER "8100 0001 0806 000108000604"
		 "0001" PEER IP_PEER NOBODY IP_ME,
	ALL PEER "88a8 6000 8100 0001 0806 000108000604"
		 "0001" PEER "0a4e0002" NOBODY "0a4e0001",
	ALL PEER "8100 0001 0806 000108000604"
		 "0001" PEER "00000000" NOBODY "0a4e0001",
	ALL PEER "8100 0001 0806 000108000604"
		 "0002" PEER "0a4e0001" NOBODY "0a4e0001",
};
#define GOOD (sizeof(good) / sizeof(good[0]))

static uint64_t
next_random(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

static void
rx_exact(struct net_rig *r, const uint8_t *frame, size_t n)
{
	uint8_t *exact = malloc(n ? n : 1);

	memcpy(exact, frame, n);
	net_rx(r->n, r->now, 0, exact, n);
	free(exact);
	while (net_tx(r->n, &r->tx)) {
		cr_assert_geq(r->tx.len, 60);
		cr_assert_leq(r->tx.len, NET_FRAME_MAX);
	}
}

/* VLAN 1 anew, with an address that is asked for first. */
static void
add_vlan(struct net_rig *r)
{
	const struct net_link vlan = {.vlan = 1,
		.mac = {2, 0, 0, 0, 0x77, 1},
		.mtu = 1500,
		.priority = NET_PRIORITY_OF_DSCP,
		.dad = NET_DAD_QUICK};
	struct net_ip ip = net_rig_ip("10.78.0.1");
	const char *why;

	if (net_link_find(r->n, 0, 1) >= 0)
		net_link_remove(r->n, 1);
	cr_assert_eq(net_link_add(r->n, &vlan), 1);
	cr_assert(net_address_add(r->n, 1, &ip, 24, &why), "%s", why);
}

/* Without this, damage would hardly ever get past the checksums. */
static void
repair(uint8_t *f, size_t n)
{
	uint8_t *ip = f + ETH_HDR;

	if (n >= ETH_HDR + V6_HDR + ICMP_HDR && net_get_be16(f + 12) == ETHERTYPE_V6) {
		size_t bytes = net_get_be16(ip + V6_PAYLOAD);

		if (bytes >= ICMP_HDR && bytes <= n - ETH_HDR - V6_HDR) {
			net_put_be16(ip + V6_HDR + ICMP_SUM, 0);
			net_put_be16(ip + V6_HDR + ICMP_SUM, sum_icmpv6(ip, ip + V6_HDR, bytes));
		}
	} else if (n >= ETH_HDR + V4_HDR && net_get_be16(f + 12) == ETHERTYPE_V4) {
		net_put_be16(ip + V4_SUM, 0);
		net_put_be16(ip + V4_SUM, sum_end(sum_add(0, ip, V4_HDR)));
	}
}

Test(net_fuzz, every_truncation)
{
	struct net_rig r;
	uint8_t f[2048];

	net_rig_init(&r, 4);
	add_vlan(&r);
	for (size_t i = 0; i < GOOD; i++) {
		size_t n = net_rig_bytes(good[i], f, sizeof(f));

		net_rig_resolve(&r, "10.77.0.2");
		net_rig_resolve(&r, "fd77::2");
		for (size_t len = 0; len <= n; len++)
			rx_exact(&r, f, len);
	}
	net_rig_free(&r);
}

Test(net_fuzz, random_damage_in_random_order_and_time)
{
	struct net_rig r;
	uint64_t seed = 0x6e65742066757a7aull;
	unsigned taken = 0;
	uint8_t f[2048];

	net_rig_init(&r, 4);
	add_vlan(&r);
	for (unsigned round = 0; round < 60000; round++) {
		size_t n = net_rig_bytes(good[next_random(&seed) % GOOD], f, sizeof(f));
		unsigned damage = next_random(&seed) % 4;

		for (unsigned i = 0; i < damage; i++)
			f[next_random(&seed) % n] = (uint8_t)next_random(&seed);
		if (next_random(&seed) % 8 == 0)
			n = next_random(&seed) % (n + 1);
		if (next_random(&seed) % 8 != 0)
			repair(f, n);
		rx_exact(&r, f, n);
		if (round % 256 == 8) { /* some frames before time goes on */
			struct net_event ev;

			add_vlan(&r);
			net_port_up(r.n, r.now, 0);
			while (net_event(r.n, &ev))
				taken += ev.type == NET_EV_TAKEN;
		}
		if (round % 16 == 0) {
			net_rig_resolve(&r, round % 32 ? "10.77.0.2" : "fd77::2");
			net_rig_run_until(&r, r.now + next_random(&seed) % (40 * S));
		}
	}
	/* It got past the front door, and the host still works. */
	cr_assert_gt(net_counters(r.n)->rx_nd, 1000);
	cr_assert_gt(net_counters(r.n)->rx_arp, 1000);
	cr_assert_gt(net_counters(r.n)->rx_malformed, 1000);
	cr_assert_gt(net_counters(r.n)->rx_vlan, 100);
	cr_assert_gt(taken, 100);
	while (net_tx(r.n, &r.tx))
		;
	net_rig_rx(&r, ARP_PEER_ASKS);
	net_rig_expect_tx(&r, ARP_I_ANSWER);
	net_rig_free(&r);
}
