/* SPDX-License-Identifier: BSD-3-Clause */
/* Next hops, as followers (hostnet/follower.h) and the daemon's own messages resolve them. */
#ifndef NDD_NEXT_HOP_H
#define NDD_NEXT_HOP_H

#include <stdint.h>

#include "net/net.h"
#include "shm/ndsh_status.h"
#include "wire/gid.h"

/* The owner of neighbours that the principal with this number wants; NET_OWNER_HOST: the daemon
 * does. Where there are more principals than owners, several are one. */
static inline uint32_t
ndd_hop_owner(uint32_t principal)
{
	return 1 + principal % (NET_OWNERS - 1);
}

/* The next hop between two addresses. NDSH_PENDING: not known yet. */
enum ndsh_status ndd_next_hop(struct net *net, uint64_t now_ns, uint32_t owner,
	const struct roce_gid *from, const struct roce_gid *to, struct net_nexthop *hop);
/* The same for datagrams, which may go to a multicast group, too: that is known at once. */
enum ndsh_status ndd_datagram_hop(struct net *net, uint64_t now_ns, uint32_t owner,
	const struct roce_gid *from, const struct roce_gid *to, struct net_nexthop *hop);
/* A step's outcome at the time of its deadline: a neighbour that has not answered until then is
 * unreachable. */
static inline enum ndsh_status
ndd_next_hop_by(enum ndsh_status status, uint64_t now_ns, uint64_t deadline_ns)
{
	return status == NDSH_PENDING && now_ns >= deadline_ns ? NDSH_ERR_HOST_UNREACHABLE : status;
}

#endif
