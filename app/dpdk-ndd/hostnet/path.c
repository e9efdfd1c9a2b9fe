/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "control/daemon.h"
#include "hostnet/path.h"
#include "shm/ndsh_msg.h"

void
ndd_path_hop(struct roce_path *path, const struct net_nexthop *hop)
{
	memcpy(path->smac, hop->smac, 6);
	memcpy(path->dmac, hop->dmac, 6);
	path->tagged = hop->vlan != 0;
	path->class_priority = hop->priority == NET_PRIORITY_OF_DSCP;
	path->vlan_tci = net_tci(hop->vlan, hop->priority, path->tos);
}

uint8_t
ndd_hop_priority(const struct net_nexthop *hop, uint8_t tclass)
{
	return hop->vlan != 0 ? (uint8_t)(net_tci(hop->vlan, hop->priority, tclass) >> 13) : 0;
}

void
ndd_path_via(struct roce_path *path, const struct net_nexthop *hop, uint32_t qpn, uint32_t peer_qpn)
{
	ndd_path_hop(path, hop);
	path->udp_sport = roce_flow_sport(path->flow_label, qpn, peer_qpn);
}

uint8_t
ndd_path_class(const struct ndd *d, uint32_t port, uint8_t wanted)
{
	uint8_t ecn = wanted & ROCE_TOS_ECN, dscp = wanted & (uint8_t)~ROCE_TOS_ECN;
	bool on = ecn == NDSH_ECN_ON || (ecn == NDSH_ECN_PORT && d->cfg->port[port].ecn);

	return on ? dscp | ROCE_TOS_ECT0 : dscp;
}

uint32_t
ndd_path_mtu(uint32_t ip_mtu)
{
	uint32_t mtu = ROCE_MTU_MAX;

	while (mtu > 256 && mtu > ip_mtu - 96)
		mtu /= 2;
	return mtu;
}

uint8_t
ndd_mtu_code(uint32_t bytes)
{
	uint8_t code = 1;

	while (code < 5 && 256u << (code - 1) < bytes)
		code++;
	return code;
}
