/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses: arithmetic, and those that are ours. */
#ifndef NDD_NET_ADDRESS_H
#define NDD_NET_ADDRESS_H

#include "net/net_state.h"

bool net_ip_is_zero(const struct net_ip *ip);
bool net_ip_is_unicast(const struct net_ip *ip); /* of some host: no group, loopback, broadcast */
/* The same for an address out of an IPv6 header, where ::ffff:a.b.c.d is no valid address: on
 * the wire it would be an alias of our IPv4 ones. */
bool net_ip6_is_unicast(const struct net_ip *ip);
/* Do the first bits of all 128 agree? */
bool net_ip_agree(const struct net_ip *a, const struct net_ip *b, unsigned bits);
/* A prefix length in all 128 bits. */
unsigned net_prefix_bits(const struct net_ip *ip, unsigned prefix_len);
bool net_in_prefix(const struct net_address *a, const struct net_ip *ip);
/* The first or the last address of an IPv4 prefix: the network, or its broadcast. */
bool net_is_subnet_edge(const struct net_address *a, const struct net_ip *ip);
/* The address of ours with the longest prefix around ip, on link (NET_NONE: any); NULL: none. */
const struct net_address *net_connected(
	const struct net *n, uint32_t link, const struct net_ip *ip);
const struct net_address *net_own(const struct net *n, const struct net_ip *ip);
/* Is ip an address of this link? Others are none of its business. */
bool net_own_on(const struct net *n, uint32_t link, const struct net_ip *ip);

/* Clients see the address from now on, or saw it until now. */
void net_address_changed(struct net *n, const struct net_address *a);
/* Any address of the link, whatever its state; NULL: none. */
struct net_address *net_address_find(struct net *n, uint32_t link, const struct net_ip *ip);
/* Is ip in the prefix of an address of the link, whatever its state? */
const struct net_address *net_prefix_of(
	const struct net *n, uint32_t link, const struct net_ip *ip);

#endif
