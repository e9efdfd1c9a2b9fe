/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbours on links that the kernel has as well. */
#ifndef NDD_NET_SHARED_H
#define NDD_NET_SHARED_H

#include "net/net_state.h"

/* False: too many questions wait. */
bool net_shared_ask(struct net *n, const struct net_neigh *e);
/* e goes. */
void net_shared_forget(struct net *n, struct net_neigh *e);

#endif
