/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Multicast groups, for the host: which queue pairs of a shard are in which. The host makes a table
 * and does not change it afterwards; for another state it makes another one. Members are named by
 * number, not by address: one that is gone receives nothing.
 */
#ifndef ROCE_GROUP_H
#define ROCE_GROUP_H

#include "roce/roce.h"

#define ROCE_GROUP_MEMBERS_MAX 32u /* of one shard: what a packet can cost its lcore */

struct roce_group_key {
	struct roce_gid gid; /* not zero */
	uint16_t port;	     /* the host's number of the port that its packets come by */
	uint16_t vlan;	     /* 0: without one */
};
struct roce_group_member {
	uint32_t qpn;
	bool not_own; /* what it sends itself it does not receive */
};
struct roce_group {
	struct roce_group_key key;
	uint32_t elsewhere; /* the host's: not looked at by the engine */
	uint32_t members, first;
};
struct roce_groups;

/* Bytes of memory for a table of so many groups, at most 2^20, with so many members in all, 2^25 at
 * most; 0: more. */
size_t roce_groups_bytes(uint32_t groups, uint32_t members);
/* mem: of that many bytes, zeroed, aligned to 8. key: secret, so that clients can't choose groups
 * that are found slowly. */
struct roce_groups *roce_groups_init(
	void *mem, uint32_t groups, uint32_t members, const uint64_t key[2]);
/* Add a group that is not there yet, with n of the members that the table was made for. */
void roce_groups_add(struct roce_groups *t, const struct roce_group_key *key, uint32_t elsewhere,
	const struct roce_group_member *member, uint32_t n);
/* The group of a parsed packet that came by port; NULL: none here is in it. */
const struct roce_group *roce_groups_find(
	const struct roce_groups *t, const struct roce_pkt *pkt, uint16_t port);
const struct roce_group_member *roce_groups_member(
	const struct roce_groups *t, const struct roce_group *g, uint32_t i);

/*
 * Process a frame to ROCE_QPN_MULTICAST: each member on this shard that it is for gets a copy
 * (W-MC-07). g: as roce_groups_find() has it for this frame in t. Checks and counters are as for
 * roce_shard_rx(). pkt and the frame are not needed after the call.
 */
void roce_shard_multicast(struct roce_shard *s, uint64_t now_ns, const struct roce_pkt *pkt,
	const struct roce_groups *t, const struct roce_group *g);

#endif
