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

/* ---- where groups are ---- */

#define MANY 256u

enum differ { FIRST_HALF, SECOND_HALF, PORT, VLAN, DIFFERENCES };

static void
keys_that_differ(struct roce_group_key key[MANY], enum differ in)
{
	memset(key, 0, MANY * sizeof(*key));
	for (uint32_t i = 0; i < MANY; i++) {
		key[i].gid = (struct roce_gid){{0xff, 0x15, [15] = 1}};
		if (in == FIRST_HALF)
			key[i].gid.raw[7] = (uint8_t)i;
		else if (in == SECOND_HALF)
			key[i].gid.raw[14] = (uint8_t)i;
		else if (in == PORT)
			key[i].port = (uint16_t)i;
		else
			key[i].vlan = (uint16_t)i;
	}
}

/* Groups that differ in one thing alone do not stand in a row, where each would be found by way of
 * all before it. */
Test(group_table, groups_that_are_alike_are_far_from_each_other)
{
	static const uint64_t secret[2] = {5, 6};
	struct roce_group_key key[MANY];

	for (enum differ in = 0; in < DIFFERENCES; in++) {
		struct roce_groups *t;
		unsigned in_a_row = 0;

		keys_that_differ(key, in);
		t = filled(key, MANY, secret);
		for (uint32_t i = 1; i < MANY; i++) {
			cr_assert_not_null(find(t, &key[i]));
			in_a_row += find(t, &key[i]) == find(t, &key[i - 1]) + 1;
		}
		cr_assert_lt(in_a_row, MANY / 4, "%u", in);
		free(t);
	}
}

/* Which groups are near each other is a secret of the table, in both of its words: a client can't
 * choose groups that are found slowly. */
Test(group_table, places_follow_from_both_words_of_the_secret)
{
	static const uint64_t secrets[3][2] = {{1, 2}, {3, 2}, {1, 3}};
	struct roce_group_key key[MANY];
	struct roce_groups *t[3];

	keys_that_differ(key, SECOND_HALF);
	for (unsigned k = 0; k < 3; k++)
		t[k] = filled(key, MANY, secrets[k]);
	for (unsigned k = 1; k < 3; k++) {
		unsigned same = 0;

		for (uint32_t i = 0; i < MANY; i++)
			same += (const char *)find(t[k], &key[i]) - (const char *)t[k] ==
				(const char *)find(t[0], &key[i]) - (const char *)t[0];
		cr_assert_lt(same, MANY / 4);
	}
	for (unsigned k = 0; k < 3; k++)
		free(t[k]);
}

/* ---- memory ---- */

/* As many groups and members as are allowed, and no more; a table for a power of two of groups has
 * twice as many places. */
Test(group_table, memory)
{
	const uint32_t groups = 1u << 20, members = 1u << 25;
	const size_t least = roce_groups_bytes(0, 0);

	cr_assert_geq(roce_groups_bytes(groups, 0), 2 * groups * sizeof(struct roce_group));
	cr_assert_leq(roce_groups_bytes(groups, 0), least + 2 * groups * sizeof(struct roce_group));
	cr_assert_eq(
		roce_groups_bytes(0, members), least + members * sizeof(struct roce_group_member));
	cr_assert_gt(roce_groups_bytes(groups, members), roce_groups_bytes(groups, 0));
	cr_assert_eq(roce_groups_bytes(groups + 1, 0), 0);
	cr_assert_eq(roce_groups_bytes(0, members + 1), 0);
}
