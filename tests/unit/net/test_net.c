/* SPDX-License-Identifier: BSD-3-Clause */
/* Checksums, bounds, and the rules of frames in and out. */
#include <criterion/criterion.h>
#include <string.h>

#include "net/net_wire.h"
#include "rigs/net_rig.h"

NET_RIG_SUITE(net, 8);

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

/* ---- routes ---- */

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
	for (unsigned i = 0; i < 49; i++)
		net_rig_rx(&r, ARP_PEER_ASKS);
	cr_assert_eq(net_counters(r.n)->tx_dropped, 1);
	for (unsigned i = 0; i < 48; i++)
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
