/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ARP, neighbour discovery and ICMP echo. bytes is the size of the whole frame, whose Ethernet
 * header is good. Functions that ask or announce return false if there was no room for the frame.
 */
#ifndef NDD_NET_PROTO_H
#define NDD_NET_PROTO_H

#include "net/net_state.h"

void net_arp_rx(struct net *n, uint64_t now_ns, uint32_t link, const uint8_t *frame, size_t bytes);
/* Ask for ip: dmac NULL: the whole link. */
bool net_arp_request(struct net *n, uint32_t link, const struct net_ip *source,
	const struct net_ip *ip, const uint8_t *dmac);
bool net_arp_announce(struct net *n, const struct net_address *a);
/* Has another station this address? */
bool net_arp_probe(struct net *n, const struct net_address *a);

/* An ICMPv6 message of icmp_bytes with good checksum in the IPv6 packet of frame. */
void net_nd_rx(
	struct net *n, uint64_t now_ns, uint32_t link, const uint8_t *frame, size_t icmp_bytes);
bool net_nd_solicit(struct net *n, uint32_t link, const struct net_ip *source,
	const struct net_ip *ip, const uint8_t *dmac);
bool net_nd_announce(struct net *n, const struct net_address *a);
bool net_nd_probe(struct net *n, const struct net_address *a);

void net_ip4_rx(struct net *n, uint64_t now_ns, uint32_t link, const uint8_t *frame, size_t bytes);
void net_ip6_rx(struct net *n, uint64_t now_ns, uint32_t link, const uint8_t *frame, size_t bytes);

#endif
