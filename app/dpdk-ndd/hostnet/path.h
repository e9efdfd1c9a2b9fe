/* SPDX-License-Identifier: BSD-3-Clause */
/* What a path needs beside its two addresses: next hop, tag, class, source port and MTU. */
#ifndef NDD_PATH_H
#define NDD_PATH_H

#include <stdbool.h>
#include <stdint.h>

struct ndd;
struct net_nexthop;
struct roce_path;

/* True if the path can no longer be used, as its address or route has gone; arg is the caller's. */
typedef bool ndd_path_lost(struct ndd *d, const struct roce_path *path, const void *arg);

/* MAC addresses and tag of the next hop; the tag's priority may follow from path->tos, which the
 * caller has set. */
void ndd_path_hop(struct roce_path *path, const struct net_nexthop *hop);
/* The priority of the tag that frames of this class have on their way; 0 without a tag. */
uint8_t ndd_hop_priority(const struct net_nexthop *hop, uint8_t tclass);
/* ndd_path_hop(), and the source port: by the path's flow label, else by both queue pairs
 * (W-CM-71). */
void ndd_path_via(
	struct roce_path *path, const struct net_nexthop *hop, uint32_t qpn, uint32_t peer_qpn);
/* Traffic class of what leaves by port if the client wants this one: DSCP << 2 | enum ndsh_ecn.
 * ECT(0) in it makes the engine slow down when marks are reported to it. */
uint8_t ndd_path_class(const struct ndd *d, uint32_t port, uint8_t wanted);
/* Largest path MTU that an IP MTU carries, with the 96 bytes that Linux (6.1, 6.12) reserves for
 * connections: it refuses a request that asks for more than its own (W-RXE-05). */
uint32_t ndd_path_mtu(uint32_t ip_mtu);
#define NDD_IP_MTU_MIN (256u + 96u) /* no path has less */
/* The code that the CM's messages have for a path MTU. */
uint8_t ndd_mtu_code(uint32_t bytes);

#endif
