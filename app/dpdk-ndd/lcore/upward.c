/* SPDX-License-Identifier: BSD-3-Clause */
#include "lcore/upward.h"

#include <stdio.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "base/siphash.h"
#include "wire/packet.h"

#define VLAN_TAG     4u
#define ICMP	     1u
#define ICMPV6	     58u
#define ECHO_REQUEST 128u /* ICMPv6; its reply is the next one */
#define ND_FIRST     133u /* router solicitation, up to redirect */
#define ND_LAST	     137u

/* Frames in a lane: as many as a host sends at once that has reason to. */
static const uint16_t lane_room[NDD_UP_KINDS] = {
	[NDD_UP_MADS] = 256, /* connects with many queue pairs */
	[NDD_UP_NEIGHBOURS] = 32,
	[NDD_UP_ECHOES] = 16,
	[NDD_UP_OTHERS] = 16,
};

bool
ndd_up_init(struct ndd_up *up, uint32_t shard, int numa_node, const uint64_t secret[2])
{
	*up = (struct ndd_up){.secret = {secret[0], secret[1]}};
	for (uint32_t i = 0; i < NDD_UP_LANES; i++) {
		char name[RTE_RING_NAMESIZE];

		(void)snprintf(name, sizeof(name), "up_%u_%u", shard, i);
		up->lane[i] = rte_ring_create(name, lane_room[i / NDD_UP_SOURCES], numa_node,
			RING_F_SP_ENQ | RING_F_SC_DEQ);
		if (up->lane[i] == NULL)
			return false;
	}
	return true;
}

void
ndd_up_fini(struct ndd_up *up)
{
	for (uint32_t i = 0; i < NDD_UP_LANES && up->lane[i] != NULL; i++) {
		void *m;

		while (rte_ring_sc_dequeue(up->lane[i], &m) == 0)
			rte_pktmbuf_free(m);
		rte_ring_free(up->lane[i]);
		up->lane[i] = NULL;
	}
}

/* ---- what it is ---------------------------------------------------------------------------- */

struct origin {
	enum ndd_up_kind kind;
	uint8_t from[16]; /* the address that the kind is answered to */
};

static void
origin_of_v4(struct origin *o, const uint8_t *ip, uint32_t bytes)
{
	if (bytes < sizeof(struct rte_ipv4_hdr) ||
		ip[offsetof(struct rte_ipv4_hdr, next_proto_id)] != ICMP)
		return;
	o->kind = NDD_UP_ECHOES;
	memset(o->from, 0, sizeof(o->from));
	memcpy(o->from, ip + offsetof(struct rte_ipv4_hdr, src_addr), 4);
}

static void
origin_of_v6(struct origin *o, const uint8_t *ip, uint32_t bytes)
{
	uint8_t type;

	if (bytes <= sizeof(struct rte_ipv6_hdr) ||
		ip[offsetof(struct rte_ipv6_hdr, proto)] != ICMPV6)
		return;
	type = ip[sizeof(struct rte_ipv6_hdr)];
	if (type >= ND_FIRST && type <= ND_LAST)
		o->kind = NDD_UP_NEIGHBOURS;
	if ((type & ~1u) != ECHO_REQUEST)
		return;
	o->kind = NDD_UP_ECHOES;
	memcpy(o->from, ip + offsetof(struct rte_ipv6_hdr, src_addr), sizeof(o->from));
}

/* Virtual devices bring frames that are shorter than any on a cable. */
static struct origin
origin_of(const uint8_t *frame, uint32_t bytes)
{
	struct origin o = {.kind = NDD_UP_OTHERS};
	uint32_t at = RTE_ETHER_HDR_LEN;
	unsigned type;

	if (bytes < at + VLAN_TAG)
		return o;
	memcpy(o.from, frame + RTE_ETHER_ADDR_LEN, RTE_ETHER_ADDR_LEN);
	type = (unsigned)frame[at - 2] << 8 | frame[at - 1];
	if (type == RTE_ETHER_TYPE_VLAN) {
		at += VLAN_TAG;
		type = (unsigned)frame[at - 2] << 8 | frame[at - 1];
	}
	if (type == RTE_ETHER_TYPE_ARP)
		o.kind = NDD_UP_NEIGHBOURS;
	else if (type == RTE_ETHER_TYPE_IPV4)
		origin_of_v4(&o, frame + at, bytes - at);
	else if (type == RTE_ETHER_TYPE_IPV6)
		origin_of_v6(&o, frame + at, bytes - at);
	return o;
}

static struct origin
origin_of_mad(const struct roce_pkt *mad)
{
	struct origin o = {.kind = NDD_UP_MADS};
	struct roce_gid from;

	roce_pkt_src_gid(mad, &from);
	memcpy(o.from, from.raw, sizeof(o.from));
	return o;
}

uint32_t
ndd_up_lane(
	const struct ndd_up *up, const uint8_t *frame, uint32_t bytes, const struct roce_pkt *mad)
{
	const struct origin o = mad != NULL ? origin_of_mad(mad) : origin_of(frame, bytes);

	return o.kind * NDD_UP_SOURCES +
	       (uint32_t)(ndsh_siphash_address(up->secret, o.from) % NDD_UP_SOURCES);
}

/* ---- there and back ------------------------------------------------------------------------ */

bool
ndd_up_put(struct ndd_up *up, uint32_t lane, struct rte_mbuf *m)
{
	return rte_ring_sp_enqueue(up->lane[lane], m) == 0;
}

struct rte_mbuf *
ndd_up_get(struct ndd_up *up)
{
	void *m;

	for (uint32_t i = 0; i < NDD_UP_LANES; i++) {
		struct rte_ring *lane = up->lane[up->next];

		up->next = (up->next + 1) % NDD_UP_LANES;
		if (rte_ring_sc_dequeue(lane, &m) == 0)
			return m;
	}
	return NULL;
}

bool
ndd_up_empty(const struct ndd_up *up)
{
	for (uint32_t i = 0; i < NDD_UP_LANES; i++)
		if (!rte_ring_empty(up->lane[i]))
			return false;
	return true;
}
