/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/net: offsets and numbers of the protocols, and big-endian access. */
#ifndef NDD_NET_WIRE_H
#define NDD_NET_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ETH_HDR	       14u
#define VLAN_TAG       4u
#define ETH_FRAME_MIN  60u /* without FCS */
#define ETHERTYPE_V4   0x0800u
#define ETHERTYPE_ARP  0x0806u
#define ETHERTYPE_VLAN 0x8100u
#define ETHERTYPE_V6   0x86ddu
#define ETHERTYPE_QINQ 0x88a8u

/* ARP for IPv4 over Ethernet (RFC 826): offsets from its start. */
enum { ARP_OP = 6, ARP_SHA = 8, ARP_SPA = 14, ARP_THA = 18, ARP_TPA = 24, ARP_BYTES = 28 };
enum { ARP_REQUEST = 1, ARP_REPLY = 2 };

/* IPv4 (RFC 791), without options. */
enum {
	V4_TOTAL = 2,
	V4_FRAG = 6,
	V4_TTL = 8,
	V4_PROTO = 9,
	V4_SUM = 10,
	V4_SRC = 12,
	V4_DST = 16,
	V4_HDR = 20
};
#define V4_DONT_FRAGMENT 0x4000u
#define V4_FRAG_MASK	 0x3fffu /* more fragments, or an offset */
#define PROTO_ICMP	 1u
#define PROTO_IGMP	 2u

/* IPv6 (RFC 8200). */
enum { V6_PAYLOAD = 4, V6_NEXT = 6, V6_HOPS = 7, V6_SRC = 8, V6_DST = 24, V6_HDR = 40 };
#define PROTO_HOP_BY_HOP 0u
#define PROTO_ICMPV6	 58u

/* ICMP (RFC 792, RFC 4443) and neighbour discovery (RFC 4861). */
enum { ICMP_SUM = 2, ICMP_HDR = 8 };
enum {
	ICMP_ECHO_REPLY = 0,
	ICMP_ECHO = 8,
	ICMPV6_ECHO = 128,
	ICMPV6_ECHO_REPLY = 129,
	ICMPV6_NS = 135,
	ICMPV6_NA = 136
};
enum { ND_FLAGS = 4, ND_TARGET = 8, ND_OPTIONS = 24, ND_OPT_BYTES = 8 };
enum { ND_OPT_SLLA = 1, ND_OPT_TLLA = 2 };
#define ND_HOPS		255u /* it cannot have come from beyond the link (RFC 4861) */
#define ND_NA_SOLICITED 0x40u
#define ND_NA_OVERRIDE	0x20u

static inline uint16_t
net_get_be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline void
net_put_be16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* The internet checksum: a sum of big-endian words, folded and inverted in the end. */
static inline uint32_t
sum_add(uint32_t sum, const uint8_t *p, size_t bytes)
{
	for (; bytes > 1; p += 2, bytes -= 2)
		sum += net_get_be16(p);
	return bytes ? sum + (uint32_t)(p[0] << 8) : sum;
}

static inline uint16_t
sum_end(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* ICMPv6's checksum over the message and the pseudo header of the IPv6 header at ip. */
static inline uint16_t
sum_icmpv6(const uint8_t *ip, const uint8_t *icmp, size_t bytes)
{
	uint32_t sum = sum_add(PROTO_ICMPV6 + (uint32_t)bytes, ip + V6_SRC, 32);

	return sum_end(sum_add(sum, icmp, bytes));
}

static inline bool
mac_is_unicast(const uint8_t *mac)
{
	return (mac[0] & 1) == 0 && (mac[0] | mac[1] | mac[2] | mac[3] | mac[4] | mac[5]) != 0;
}

#endif
