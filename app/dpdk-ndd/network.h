/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDD_NETWORK_H
#define NDD_NETWORK_H

#include "daemon.h"

/* Links, addresses and routes of all ports, which are up. False: it was said why. */
bool ndd_network_start(struct ndd *d);
/* MAC addresses and tag of the next hop; path->tos may choose the tag's priority and is there. */
void ndd_path_hop(struct roce_path *path, const struct net_nexthop *hop);

#endif
