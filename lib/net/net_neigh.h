/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of neighbours. */
#ifndef NDD_NET_NEIGH_H
#define NDD_NET_NEIGH_H

#include "net/net_state.h"

void net_neigh_init(struct net *n);
struct net_neigh *net_neigh_find(const struct net *n, uint32_t link, const struct net_ip *ip);
/* owner wants to send to ip on link: the entry, made and asked for if there is none. NULL: not
 * now (net_owner.h). */
struct net_neigh *net_neigh_use(struct net *n, uint64_t now_ns, uint32_t owner, uint32_t link,
	const struct net_ip *ip, const struct net_ip *source);
/* An answer to our question (ARP reply, solicited NA). */
void net_neigh_answer(
	struct net *n, uint64_t now_ns, uint32_t link, const struct net_ip *ip, const uint8_t *mac);
/* ip asked for us from mac: it will want an answer soon. */
void net_neigh_asked(struct net *n, uint64_t now_ns, uint32_t link, const struct net_ip *ip,
	const uint8_t mac[6]);
/* A station says unasked that ip is at mac: a reason to ask, no knowledge. */
void net_neigh_rumour(struct net *n, uint64_t now_ns, uint32_t link, const struct net_ip *ip,
	const uint8_t mac[6]);
void net_neigh_tick(struct net *n, uint64_t now_ns);
/* Those of a link; source not NULL: that are asked from that address. */
void net_neigh_forget(struct net *n, uint32_t link, const struct net_ip *source);
/* Ask those of the link again, one after the other; those that failed to answer before are
 * forgotten. */
void net_neigh_doubt(struct net *n, uint64_t now_ns, uint32_t link);
/* An entry's MAC is this, for now. */
void net_neigh_learn(struct net *n, uint64_t now_ns, struct net_neigh *e, const uint8_t mac[6]);
/* It will not be had; holds for a second. */
void net_neigh_fail(struct net *n, uint64_t now_ns, struct net_neigh *e);
/* Is the MAC still right? */
void net_neigh_probe(struct net *n, uint64_t now_ns, struct net_neigh *e);

#endif
