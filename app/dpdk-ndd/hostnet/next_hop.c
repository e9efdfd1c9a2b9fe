/* SPDX-License-Identifier: BSD-3-Clause */
#include "hostnet/next_hop.h"

#include "hostnet/address.h"

enum ndsh_status
ndd_next_hop(struct net *net, uint64_t now_ns, uint32_t owner, const struct roce_gid *from,
	const struct roce_gid *to, struct net_nexthop *hop)
{
	const struct net_ip src = ndd_ip(from->raw), dst = ndd_ip(to->raw);

	switch (net_resolve(net, now_ns, owner, &src, &dst, hop)) {
	case NET_RESOLVED:
		return NDSH_OK;
	case NET_PENDING:
		return NDSH_PENDING;
	case NET_UNREACHABLE:
		return NDSH_ERR_HOST_UNREACHABLE;
	case NET_NO_ROUTE:
		break;
	}
	return NDSH_ERR_NETWORK_UNREACHABLE;
}

enum ndsh_status
ndd_datagram_hop(struct net *net, uint64_t now_ns, uint32_t owner, const struct roce_gid *from,
	const struct roce_gid *to, struct net_nexthop *hop)
{
	const struct net_ip src = ndd_ip(from->raw), dst = ndd_ip(to->raw);

	if (!net_ip_is_group(&dst))
		return ndd_next_hop(net, now_ns, owner, from, to, hop);
	return net_group_hop(net, &src, &dst, hop) ? NDSH_OK : NDSH_ERR_NETWORK_UNREACHABLE;
}
