/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The owners of the neighbours in the table. An owner is a number that senders give, and has a
 * share: one that wants a neighbour when the table is full takes the place of a neighbour that only
 * owners with more use, or of one of its own. So an owner that asks for thousands displaces its
 * own, and loses them to others until all have as many as they want, or the same number.
 */
#ifndef NDD_NET_OWNER_H
#define NDD_NET_OWNER_H

#include "net/net_state.h"

/* An owner's place in the table of owners, and its bit in net_neigh.users. */
static inline unsigned
net_owner_place(uint32_t owner)
{
	return owner % NET_OWNERS;
}

/* owner uses e. The host itself uses what others have resolved, and is not held to it. */
void net_owner_uses(struct net *n, struct net_neigh *e, unsigned owner);
/* e goes. */
void net_owner_loses(struct net *n, const struct net_neigh *e);
/* May owner have one more neighbour that has not answered yet? */
bool net_owner_may_ask(const struct net *n, unsigned owner);
/* The entry to make room for one of owner; owner NET_OWNER_NOBODY: for a stranger's. NULL: none. */
struct net_neigh *net_owner_displaces(const struct net *n, unsigned owner);

#endif
