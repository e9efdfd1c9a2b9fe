/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of multicast groups: open addressing, at most half full. */
#include "roce/ud/group.h"

#include <string.h>

#include "base/siphash.h"

#define GROUPS_MAX  (1u << 20)
#define MEMBERS_MAX (1u << 25)

struct roce_groups {
	uint64_t key[2];
	uint32_t mask, members; /* of slot[]; in use */
	struct roce_group_member *member;
	struct roce_group slot[];
};

static uint32_t
slots_for(uint32_t groups)
{
	uint32_t n = 2;

	while (n < 2 * groups)
		n *= 2;
	return n;
}

size_t
roce_groups_bytes(uint32_t groups, uint32_t members)
{
	if (groups > GROUPS_MAX || members > MEMBERS_MAX)
		return 0;
	return sizeof(struct roce_groups) + slots_for(groups) * sizeof(struct roce_group) +
	       members * sizeof(struct roce_group_member);
}

struct roce_groups *
roce_groups_init(void *mem, uint32_t groups, uint32_t members, const uint64_t key[2])
{
	struct roce_groups *t = mem;

	(void)members;
	t->key[0] = key[0];
	t->key[1] = key[1];
	t->mask = slots_for(groups) - 1;
	t->member = (void *)&t->slot[t->mask + 1];
	return t;
}

/* Where the group is, or would be. */
static uint32_t
slot_of(const struct roce_groups *t, const struct roce_group_key *key)
{
	static const struct roce_gid free_slot;
	uint64_t half[2];
	uint32_t i;

	memcpy(half, key->gid.raw, sizeof(half));
	half[0] ^= (uint64_t)key->port << 16 | key->vlan;
	i = (uint32_t)ndsh_siphash(t->key, half[0], half[1]) & t->mask;
	while (!roce_gid_equal(&t->slot[i].key.gid, &free_slot) &&
		memcmp(&t->slot[i].key, key, sizeof(*key)) != 0)
		i = (i + 1) & t->mask;
	return i;
}

void
roce_groups_add(struct roce_groups *t, const struct roce_group_key *key, uint32_t elsewhere,
	const struct roce_group_member *member, uint32_t n)
{
	t->slot[slot_of(t, key)] = (struct roce_group){
		.key = *key, .elsewhere = elsewhere, .members = n, .first = t->members};
	if (n != 0)
		memcpy(t->member + t->members, member, n * sizeof(*member));
	t->members += n;
}

const struct roce_group *
roce_groups_find(const struct roce_groups *t, const struct roce_pkt *pkt, uint16_t port)
{
	struct roce_group_key key = {.port = port, .vlan = pkt->vlan};
	const struct roce_group *g;

	roce_pkt_dst_gid(pkt, &key.gid);
	if (!roce_gid_is_group(&key.gid))
		return NULL;
	g = &t->slot[slot_of(t, &key)];
	return roce_gid_is_group(&g->key.gid) ? g : NULL;
}

const struct roce_group_member *
roce_groups_member(const struct roce_groups *t, const struct roce_group *g, uint32_t i)
{
	return &t->member[g->first + i];
}
