/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's membership in multicast groups, which makes switches and routers send them here. */
#ifndef NDD_MEMBERSHIP_H
#define NDD_MEMBERSHIP_H

#include <stdbool.h>
#include <stdint.h>

struct ndd;
struct net_ip;

/* Can this port be in groups? */
bool ndd_membership_possible(const struct ndd *d, uint32_t port);
/* Join the group on the port's VLAN (0: none) by own reports, or by the kernel on a
 * port that is shared with it: *fd keeps that membership, else it is -1. False: no room. */
bool ndd_membership_begin(
	struct ndd *d, uint32_t port, uint16_t vlan, const struct net_ip *group, int *fd);
void ndd_membership_end(
	struct ndd *d, uint32_t port, uint16_t vlan, const struct net_ip *group, int fd);

#endif
