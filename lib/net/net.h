/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The little host that a port needs to be reachable: addresses, routes, ARP,
 * neighbour discovery, ICMP echo. Pure like the engine; the control thread owns
 * it. Frames that are not RoCEv2 go in, frames to send come out.
 */
#ifndef NDD_NET_H
#define NDD_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NET_FRAME_MAX	  1518u
#define NET_PORTS_MAX	  16u
#define NET_ADDRESSES_MAX 144u /* own ones, all ports together, link-local ones included */
struct net;

struct net_ip { /* IPv4 as ::ffff:a.b.c.d: the same 16 bytes as a RoCEv2 GID */
	uint8_t b[16];
};
struct net_cfg {
	uint32_t max_neighbours; /* all ports together */
};
/* 64-byte aligned memory; 0 if cfg is out of range (1..65536 neighbours). */
size_t net_bytes(const struct net_cfg *cfg);
/* mem is zeroed, of net_bytes(cfg). */
struct net *net_init(void *mem, const struct net_cfg *cfg);

/* A port (number 0..15) with its MAC and IP MTU; addresses with prefix length (1..32 or 1..128); an
 * optional gateway per family. An IPv6 link-local address from the MAC is added by itself.
 * False: table full, duplicate address, or gateway not on a connected prefix (*why says which). */
bool net_port_add(struct net *n, uint32_t port, const uint8_t mac[6], uint32_t mtu);
bool net_address_add(struct net *n, uint32_t port, const struct net_ip *ip, uint8_t prefix_len,
	const char **why);
bool net_gateway_set(struct net *n, uint32_t port, const struct net_ip *gw, const char **why);

/* Is ip one of ours? Returns its port, or -1. */
int net_local_port(const struct net *n, const struct net_ip *ip);
/* The i-th address of ours (all ports, in order of addition, link-local ones last); false: no more. */
bool net_address_get(const struct net *n, unsigned i, struct net_ip *ip, uint8_t *prefix_len,
	uint32_t *port);

/* A received frame (no FCS) that is not RoCEv2: ARP, ND and ICMP echo are served, neighbours learned,
 * the rest counted and dropped. No error is ever answered with an ICMP message. */
void net_rx(struct net *n, uint64_t now_ns, uint32_t port, const uint8_t *frame, size_t bytes);
/* A peer is alive at this MAC (a checked RoCEv2 packet came from it): refreshes, never creates. */
void net_confirm(struct net *n, uint64_t now_ns, const struct net_ip *ip, const uint8_t mac[6]);

struct net_tx {
	uint32_t port;
	uint32_t len;
	uint8_t frame[NET_FRAME_MAX];
};
/* Take the oldest frame to send (no FCS, at least 60 bytes); false: none. */
bool net_tx(struct net *n, struct net_tx *tx);

enum net_resolve {
	NET_RESOLVED,
	NET_PENDING,	 /* asked; look again after net_generation() changed, or at the deadline */
	NET_UNREACHABLE, /* nobody answered; holds for a second, a later call asks again */
	NET_NO_ROUTE,	 /* no connected prefix and no gateway */
};
struct net_nexthop {
	uint32_t port;
	struct net_ip source; /* our address to use, if src was NULL or unspecified */
	uint8_t smac[6], dmac[6];
	uint32_t mtu;
};
/* Route dst (optionally from our address src) and resolve the next hop; starts ARP or ND if needed.
 * *out is filled for NET_RESOLVED only. An address of our own resolves to the MAC of its port: smac and
 * dmac are equal if both ends are one port, and no wire would bring such a frame back. */
enum net_resolve net_resolve(struct net *n, uint64_t now_ns, const struct net_ip *src,
	const struct net_ip *dst, struct net_nexthop *out);
/* Changes whenever a neighbour was resolved, changed or failed. */
uint64_t net_generation(const struct net *n);

/* Retries and ageing of neighbours; own addresses are announced twice after they were added. */
void net_tick(struct net *n, uint64_t now_ns);
uint64_t net_next_deadline(const struct net *n); /* UINT64_MAX: none */

#define NET_COUNTERS(X)                                                                            \
	X(rx_arp) X(rx_nd) X(rx_icmp_echo) X(rx_dropped) X(rx_malformed) X(rx_vlan) X(rx_oversize) \
	X(tx_frames) X(tx_dropped) X(neighbours_resolved) X(neighbours_failed)                     \
	X(neighbours_evicted) X(address_conflicts)
struct net_counters {
#define NET_X(n) uint64_t n;
	NET_COUNTERS(NET_X)
#undef NET_X
};
const struct net_counters *net_counters(const struct net *n);

#endif
