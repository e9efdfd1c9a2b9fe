/* SPDX-License-Identifier: BSD-3-Clause */
/* Several owners in one table of neighbours: what one asks for costs the others nothing. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "net/net_state.h"
#include "rigs/net_rig.h"

#define TABLE	256u /* two for each owner are its own */
#define RESERVE (TABLE / (2 * NET_OWNERS))
#define VICTIM	1u
#define CROWD	2u

static struct net_rig r;

static void
drain(void)
{
	while (net_tx(r.n, &r.tx))
		;
}

/* A network with more hosts than the table has room for. */
static void
setup(void)
{
	net_rig_init(&r, TABLE);
	net_rig_address(&r, 0, "10.79.0.1", 16);
	net_rig_run_until(&r, r.now + 10 * S);
	drain();
}

static void
teardown(void)
{
	net_rig_free(&r);
}

TestSuite(net_owner, .init = setup, .fini = teardown);

/* Hosts are numbered from 2 on. */
static enum net_resolve
resolve(uint32_t owner, unsigned host)
{
	char text[32];
	struct net_ip ip;

	(void)snprintf(text, sizeof(text), "10.79.%u.%u", host >> 8, host & 255);
	ip = net_rig_ip(text);
	return net_resolve(r.n, r.now, owner, NULL, &ip, &r.hop);
}

static void
answer(unsigned host)
{
	char hex[256];

	(void)snprintf(hex, sizeof(hex),
		"%s 02000000%04x 0806 000108000604 0002 02000000%04x 0a4f%04x %s 0a4f0001", ME,
		host, host, host, ME);
	net_rig_rx(&r, hex);
}

static void
meet(uint32_t owner, unsigned host)
{
	(void)resolve(owner, host);
	drain();
	answer(host);
	cr_assert_eq(resolve(owner, host), NET_RESOLVED, "owner %u, host %u", owner, host);
	r.now += MS;
}

/* All of them answer. */
static void
crowd(unsigned first, unsigned n)
{
	for (unsigned i = first; i < first + n; i++)
		meet(CROWD, i);
}

Test(net_owner, what_waits_for_an_answer_is_limited_for_each)
{
	for (unsigned i = 0; i < NET_ASKING_MAX; i++)
		cr_assert_eq(resolve(CROWD, 10 + i), NET_PENDING);
	drain();
	cr_assert_eq(net_counters(r.n)->neighbours_deferred, 0);
	cr_assert_eq(resolve(CROWD, 1000), NET_PENDING);
	cr_assert_eq(net_counters(r.n)->neighbours_deferred, 1);
	net_rig_expect_silence(&r);
	cr_assert_eq(resolve(VICTIM, 1000), NET_PENDING);
	cr_assert(net_tx(r.n, &r.tx), "it has a limit of its own");
	cr_assert_eq(net_counters(r.n)->neighbours_deferred, 1);
}

/* To that time; what is sent leaves. */
static void
run_draining(uint64_t until)
{
	while (r.now < until) {
		net_rig_run_until(&r, r.now + 10 * MS < until ? r.now + 10 * MS : until);
		drain();
	}
}

/* Answered or failed, it waits no more, and the next may. */
Test(net_owner, what_waits_no_more_is_not_counted)
{
	const uint64_t start = r.now;

	for (unsigned i = 0; i < NET_ASKING_MAX; i++)
		cr_assert_eq(resolve(CROWD, 10 + i), NET_PENDING);
	drain();
	answer(10);
	cr_assert_eq(r.n->asking[CROWD], NET_ASKING_MAX - 1);
	cr_assert_eq(resolve(CROWD, 1000), NET_PENDING);
	cr_assert_eq(net_counters(r.n)->neighbours_deferred, 0);
	run_draining(start + 3 * S);
	cr_assert_eq(r.n->asking[CROWD], 0);
	run_draining(start + 5 * S);
	cr_assert_eq(r.n->held[CROWD], 1, "and those that failed are forgotten");
}

/* Nor is one that is displaced: here the table is full of neighbours that wait. */
Test(net_owner, what_is_displaced_is_not_counted)
{
	for (uint32_t owner = 1; owner <= TABLE / NET_ASKING_MAX; owner++)
		for (unsigned i = 0; i < NET_ASKING_MAX; i++) {
			cr_assert_eq(resolve(owner, 2 + owner * 100 + i), NET_PENDING);
			drain();
		}
	for (unsigned i = 0; i < NET_ASKING_MAX / 2; i++)
		cr_assert_eq(resolve(20, 2000 + i), NET_PENDING);
	cr_assert_eq(r.n->held[20], NET_ASKING_MAX / 2);
	for (uint32_t owner = 0; owner < NET_OWNERS; owner++)
		cr_assert_eq(r.n->asking[owner], r.n->held[owner], "owner %u", owner);
}

Test(net_owner, a_crowd_does_not_push_out_the_neighbours_of_another)
{
	meet(VICTIM, 2);
	meet(VICTIM, 3);
	crowd(10, 3 * TABLE);
	cr_assert_eq(resolve(VICTIM, 2), NET_RESOLVED);
	cr_assert_eq(resolve(VICTIM, 3), NET_RESOLVED);
	cr_assert_eq(r.n->held[VICTIM], 2);
	cr_assert_eq(r.n->held[CROWD], TABLE - 2);
	cr_assert_eq(net_counters(r.n)->neighbours_evicted, 2 * TABLE + 2);
}

/* A late owner gets its share, until all have the same. */
Test(net_owner, who_has_less_displaces_who_has_more)
{
	crowd(10, TABLE);
	for (unsigned i = 0; i < TABLE; i++)
		meet(VICTIM, 1000 + i);
	cr_assert_eq(r.n->held[VICTIM], TABLE / 2);
	cr_assert_eq(r.n->held[CROWD], TABLE / 2);
	cr_assert_eq(resolve(VICTIM, 1000 + TABLE - 1), NET_RESOLVED);
	cr_assert_eq(resolve(VICTIM, 1000), NET_PENDING, "of its own, the oldest went");
}

/* All owners have what is reserved for them, half of the table in all, whatever CROWD does. */
Test(net_owner, a_reserve_is_displaced_by_nobody)
{
	for (uint32_t owner = 0; owner < NET_OWNERS; owner++)
		for (unsigned i = 0; i < RESERVE; i++)
			meet(owner, 2 + owner * RESERVE + i);
	crowd(1000, 2 * TABLE);
	for (uint32_t owner = 0; owner < NET_OWNERS; owner++)
		for (unsigned i = 0; i < RESERVE && owner != CROWD; i++)
			cr_assert_eq(resolve(owner, 2 + owner * RESERVE + i), NET_RESOLVED,
				"owner %u, %u", owner, i);
}

/* ... nor by an owner that has no neighbours yet. */
Test(net_owner, who_has_nothing_leaves_reserves_alone)
{
	meet(VICTIM, 2);
	crowd(10, TABLE - 1);
	for (uint32_t owner = 3; owner < NET_OWNERS; owner++)
		meet(owner, 1000 + owner);
	cr_assert_eq(resolve(VICTIM, 2), NET_RESOLVED);
	cr_assert_eq(r.n->held[CROWD], TABLE - 1 - (NET_OWNERS - 3));
}

/* The crowd does not displace a gateway that the victim uses, too. */
Test(net_owner, what_several_use_is_of_all_of_them)
{
	meet(VICTIM, 2);
	cr_assert_eq(resolve(CROWD, 2), NET_RESOLVED);
	cr_assert_eq(resolve(CROWD, 2), NET_RESOLVED);
	cr_assert_eq(r.n->held[VICTIM], 1);
	cr_assert_eq(r.n->held[CROWD], 1);
	crowd(10, 3 * TABLE);
	cr_assert_eq(resolve(VICTIM, 2), NET_RESOLVED);
}

/* Two owners that use the same neighbours go on like one. */
Test(net_owner, who_has_as_many_yields_what_both_use)
{
	for (unsigned i = 0; i < TABLE; i++) {
		meet(VICTIM, 2 + i);
		cr_assert_eq(resolve(CROWD, 2 + i), NET_RESOLVED);
	}
	meet(VICTIM, 1000);
	cr_assert_eq(r.n->held[VICTIM], TABLE);
	cr_assert_eq(r.n->held[CROWD], TABLE - 1);
	cr_assert_eq(resolve(CROWD, 3), NET_RESOLVED, "the oldest went");
}

/* Others use all that it has as well, and have less themselves: none of it may be displaced. */
Test(net_owner, who_finds_no_room_waits)
{
	for (unsigned i = 0; i < TABLE; i++) {
		meet(VICTIM, 2 + i);
		cr_assert_eq(resolve(CROWD + i % 2, 2 + i), NET_RESOLVED);
	}
	cr_assert_eq(resolve(VICTIM, 1000), NET_PENDING);
	cr_assert_eq(net_counters(r.n)->neighbours_deferred, 1);
	drain();
	answer(1000);
	cr_assert_eq(resolve(VICTIM, 1000), NET_PENDING, "no question was sent");
	cr_assert_eq(resolve(VICTIM, 2), NET_RESOLVED);
}

/* What the host sends on behalf of others is not held against it. */
Test(net_owner, the_host_uses_what_others_have_resolved)
{
	meet(CROWD, 2);
	cr_assert_eq(resolve(NET_OWNER_HOST, 2), NET_RESOLVED);
	cr_assert_eq(r.n->held[NET_OWNER_HOST], 0);
	meet(NET_OWNER_HOST, 3);
	cr_assert_eq(r.n->held[NET_OWNER_HOST], 1);
	cr_assert_eq(resolve(NET_OWNERS + CROWD, 3), NET_RESOLVED, "numbers beyond share");
	cr_assert_eq(r.n->held[CROWD], 2);
}

Test(net_owner, a_link_that_goes_takes_them_along)
{
	meet(VICTIM, 2);
	cr_assert_eq(resolve(VICTIM, 3), NET_PENDING);
	net_link_remove(r.n, 0);
	cr_assert_eq(r.n->held[VICTIM], 0);
	cr_assert_eq(r.n->asking[VICTIM], 0);
}

/* ---- chains of the table ---- */

/* How many buckets have an entry. */
static unsigned
buckets_used(void)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < 1u << r.n->bucket_bits; i++)
		n += r.n->bucket[i] != NET_NONE;
	return n;
}

/* Addresses that a multiplicative hash without a secret would put into one chain: to find them, the
 * inverse of its factor (2^64 divided by the golden ratio) is enough. */
static struct net_ip
chosen(uint64_t i)
{
	struct net_ip ip = net_rig_ip("fd77::");
	uint64_t prefix, host, x = i * UINT64_C(0xf1de83e19937733d);

	memcpy(&prefix, ip.b, sizeof(prefix));
	x ^= prefix;
	host = x ^ x >> 32;
	memcpy(ip.b + 8, &host, sizeof(host));
	return ip;
}

Test(net_owner, nobody_chooses_who_shares_a_chain)
{
	uint32_t before = buckets_used();

	for (unsigned i = 1; i <= NET_ASKING_MAX; i++) {
		struct net_ip ip = chosen(i);

		cr_assert_eq(net_resolve(r.n, r.now, VICTIM, NULL, &ip, &r.hop), NET_PENDING);
	}
	cr_assert_gt(buckets_used() - before, NET_ASKING_MAX * 3 / 4);
}
