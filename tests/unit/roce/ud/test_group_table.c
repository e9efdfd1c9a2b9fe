/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of groups: what it finds, where, and how much memory it takes. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "roce/ud/group.h"

static const struct roce_group *
find(const struct roce_groups *t, const struct roce_group_key *key)
{
	uint8_t header[40] = {0};
	struct roce_pkt pkt = {.l3 = header, .v6 = !roce_gid_is_v4(&key->gid), .vlan = key->vlan};

	if (pkt.v6)
		memcpy(header + 24, key->gid.raw, 16);
	else
		memcpy(header + 16, key->gid.raw + 12, 4);
	return roce_groups_find(t, &pkt, key->port);
}

/* ---- beside a plain list ---- */

#define KEYS 24u /* two addresses of each family, two ports, three VLANs */

static void
all_keys(struct roce_group_key key[KEYS])
{
	memset(key, 0, KEYS * sizeof(*key));
	for (uint32_t i = 0; i < KEYS; i++) {
		if (i % 2)
			key[i].gid = (struct roce_gid){{0xff, 0x15, [15] = (uint8_t)(i / 2 % 2)}};
		else
			roce_gid_from_v4(&key[i].gid, (uint8_t[]){239, 1, 2, (uint8_t)(i / 2 % 2)});
		key[i].port = i / 4 % 2;
		key[i].vlan = (uint16_t)(i / 8);
	}
}

static uint32_t
draw(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % below;
}

static void
shuffle(struct roce_group_key key[KEYS], uint64_t *seed)
{
	for (uint32_t i = KEYS - 1; i > 0; i--) {
		uint32_t with = draw(seed, i + 1);
		struct roce_group_key was = key[i];

		key[i] = key[with];
		key[with] = was;
	}
}

static uint32_t
members_of(uint32_t group)
{
	return group % 5;
}

static struct roce_groups *
filled(const struct roce_group_key *key, uint32_t groups, const uint64_t secret[2])
{
	struct roce_group_member member[5];
	uint32_t members = 0;
	struct roce_groups *t;

	for (uint32_t i = 0; i < groups; i++)
		members += members_of(i);
	t = roce_groups_init(
		calloc(1, roce_groups_bytes(groups, members)), groups, members, secret);
	for (uint32_t i = 0; i < groups; i++) {
		for (uint32_t k = 0; k < members_of(i); k++)
			member[k] = (struct roce_group_member){.qpn = 100 * i + k + 1};
		roce_groups_add(t, &key[i], i, member, members_of(i));
	}
	return t;
}

static void
expect_group(const struct roce_groups *t, const struct roce_group_key *key, uint32_t i)
{
	const struct roce_group *g = find(t, key);

	cr_assert_not_null(g);
	cr_assert_eq(g->elsewhere, i);
	cr_assert_eq(g->members, members_of(i));
	for (uint32_t k = 0; k < g->members; k++)
		cr_assert_eq(roce_groups_member(t, g, k)->qpn, 100 * i + k + 1);
}

/* However full a small table is, and wherever its groups are: those that were added are found, with
 * their members, and no others. */
Test(group_table, finds_what_was_added_and_nothing_else)
{
	struct roce_group_key key[KEYS];
	uint64_t seed = 1;

	all_keys(key);
	for (uint32_t round = 0; round < 2000; round++) {
		const uint64_t secret[2] = {seed, round};
		uint32_t groups = round % 9;
		struct roce_groups *t;

		shuffle(key, &seed);
		t = filled(key, groups, secret);
		for (uint32_t i = 0; i < groups; i++)
			expect_group(t, &key[i], i);
		for (uint32_t i = groups; i < KEYS; i++)
			cr_assert_null(find(t, &key[i]));
		free(t);
	}
}
