/* SPDX-License-Identifier: BSD-3-Clause */
/* What a path needs beside its two addresses. */
#include "hostnet/path.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "control/daemon.h"
#include "shm/ndsh_msg.h"

/* checks W-RXE-05: 96 bytes of the link's MTU are kept for headers, and the rest is rounded down */
Test(path, W_RXE_05_the_path_mtu_of_an_ethernet_mtu)
{
	static const struct {
		uint32_t ip_mtu, path_mtu;
	} rows[] = {
		{576, 256},
		{607, 256},
		{608, 512},
		{1119, 512},
		{1120, 1024},
		{1500, 1024},
		{2143, 1024},
		{2144, 2048},
		{4176, 2048},
		{4191, 2048},
		{4192, 4096},
		{9000, 4096},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect(eq(u32, ndd_path_mtu(rows[i].ip_mtu), rows[i].path_mtu), "MTU %u",
			rows[i].ip_mtu);
}

Test(path, the_code_of_each_mtu)
{
	for (uint8_t code = 1; code <= 5; code++)
		cr_expect(eq(u8, ndd_mtu_code(128u << code), code));
}

/*
 * checks W-CC-01[3]: ECT(0) is said only by a queue pair that reacts; the client's bits are a
 * wish
 */
Test(path, W_CC_01_the_class_says_ect_only_if_it_is_wanted)
{
	static const struct {
		uint8_t wish;
		bool of_port, ect;
	} rows[] = {
		{NDSH_ECN_PORT, false, false},
		{NDSH_ECN_PORT, true, true},
		{NDSH_ECN_ON, false, true},
		{NDSH_ECN_ON, true, true},
		{NDSH_ECN_OFF, false, false},
		{NDSH_ECN_OFF, true, false},
	};
	struct ndd *d = calloc(1, sizeof(*d));

	d->cfg = calloc(1, sizeof(*d->cfg));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		d->cfg->port[1].ecn = rows[i].of_port;
		d->cfg->port[0].ecn = !rows[i].of_port;
		for (uint8_t dscp = 0; dscp < 64; dscp += 9)
			cr_expect(eq(u8, ndd_path_class(d, 1, dscp << 2 | rows[i].wish),
					  dscp << 2 | (rows[i].ect ? ROCE_TOS_ECT0 : 0)),
				"row %zu, DSCP %u", i, dscp);
	}
}

static const struct net_nexthop hop = {
	.port = 1, .priority = 5, .smac = {2, 1}, .dmac = {2, 2}, .mtu = 1500};

/* checks W-PKT-01[1,3] */
Test(path, a_next_hop_gives_addresses_and_tag)
{
	struct roce_path path = {.tos = 46 << 2};
	struct net_nexthop h = hop;

	ndd_path_hop(&path, &h);
	cr_expect(not(path.tagged));
	cr_expect(zero(int, memcmp(path.smac, h.smac, 6)));
	cr_expect(zero(int, memcmp(path.dmac, h.dmac, 6)));
	h.vlan = 100;
	ndd_path_hop(&path, &h);
	cr_expect(path.tagged);
	cr_expect(not(path.class_priority));
	cr_expect(eq(u16, path.vlan_tci, 5 << 13 | 100));
	h.priority = NET_PRIORITY_OF_DSCP;
	ndd_path_hop(&path, &h);
	cr_expect(path.class_priority);
	cr_expect(eq(u16, path.vlan_tci, 46 >> 3 << 13 | 100), "the DSCP's upper three bits");
}

/* checks W-CM-71[1,2]: by the flow label, or without one by the product of both numbers */
Test(path, W_CM_71_the_source_port)
{
	struct roce_path path = {.flow_label = 0x12345};
	uint64_t v = 0xabcdefull * 0x123456ull;
	uint32_t label;

	ndd_path_via(&path, &hop, 0xabcdef, 0x123456);
	cr_expect(eq(u16, path.udp_sport, 0xc000 | ((0x12345 & 0x3fff) ^ (0x12345 >> 14))));
	path.flow_label = 0;
	ndd_path_via(&path, &hop, 0xabcdef, 0x123456);
	v ^= v >> 20;
	v ^= v >> 40;
	label = v & 0xfffff;
	cr_expect(eq(u16, path.udp_sport, 0xc000 | ((label & 0x3fff) ^ (label >> 14))));
	cr_expect(zero(int, memcmp(path.dmac, hop.dmac, 6)));
}
