/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDD_NETWORK_H
#define NDD_NETWORK_H

#include <netinet/in.h>

#include "control/daemon.h"

/* Links, addresses and routes of all ports, which are up. False: it was said why. */
bool ndd_network_start(struct ndd *d);
/* Has that address of ours, in the configuration to, the link that it has now? */
bool ndd_network_keeps(const struct ndd *d, const struct config *to, const uint8_t ip[16]);
/* Addresses, VLANs, gateways and routes as of to, which has the same ports; what is in both goes on
 * undisturbed. d->cfg says so afterwards. */
void ndd_network_change(struct ndd *d, const struct config *to);
/* Is it the end of a path, which a new configuration has not any more? */
typedef bool ndd_path_lost(struct ndd *d, const struct roce_path *path, const void *arg);
/* MAC addresses and tag of the next hop; path->tos may choose the tag's priority and is there. */
void ndd_path_hop(struct roce_path *path, const struct net_nexthop *hop);

/* The class of what leaves by port for a client who wants class: DSCP << 2 | enum ndsh_ecn. ECT(0)
 * in it makes the engine slow down when it is told of marks. */
uint8_t ndd_path_class(const struct ndd *d, uint32_t port, uint8_t wanted);

/* Say what became of addresses, to people and clients. */
void ndd_network_events(struct ndd *d);
/* An address as people write it, in buf. */
const char *ndd_ip_text(const uint8_t ip[16], char buf[INET6_ADDRSTRLEN]);

#endif
