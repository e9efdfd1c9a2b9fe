/* SPDX-License-Identifier: BSD-3-Clause */
/* Duplicate address detection. */
#ifndef NDD_NET_DAD_H
#define NDD_NET_DAD_H

#include "net/net_state.h"

void net_dad_start(struct net *n, struct net_address *a);
void net_dad_tick(struct net *n, uint64_t now_ns, struct net_address *a);
/* Another station, at mac, has that address or wants it. True: it is ours, or was to be. */
bool net_conflict(struct net *n, uint64_t now_ns, uint32_t link, const struct net_ip *ip,
	const uint8_t mac[6]);
/* Another station asks whether it may have that address: that matters while we ask for it, too. */
void net_rival(struct net *n, uint32_t link, const struct net_ip *ip, const uint8_t mac[6]);

#endif
