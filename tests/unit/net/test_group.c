/* SPDX-License-Identifier: BSD-3-Clause */
/* Multicast groups on a simulated clock: what is reported when, to routers of each version. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "rigs/group_frames.h"

GROUP_SUITE(net_group);

/* checks W-MC-01[1-4,6]: at once, and once more within a second. */
static void
check_change(const char *report)
{
	const uint64_t begun = r.now;

	group_expect(&r, report);
	cr_assert_leq(group_wait(&r), begun + S);
	cr_assert(group_tx_is(&r, report));
	group_quiet(&r, 1000 * S);
}

Test(net_group, W_MC_01_joining_and_leaving_are_reported)
{
	cr_assert(net_group_join(r.n, 0, &g4));
	check_change(REPORT3_4("04"));
	net_group_leave(r.n, 0, &g4);
	check_change(REPORT3_4("03"));
	cr_assert(net_group_join(r.n, 0, &g6));
	check_change(REPORT3_6("04"));
	net_group_leave(r.n, 0, &g6);
	check_change(REPORT3_6("03"));
	cr_assert_eq(net_counters(r.n)->tx_group_report, 8);
}

/* checks W-MC-01[5]: a group that is left before all was said of its joining, and the other way. */
Test(net_group, W_MC_01_the_last_change_counts)
{
	cr_assert(net_group_join(r.n, 0, &g4));
	group_expect(&r, REPORT3_4("04"));
	net_group_leave(r.n, 0, &g4);
	group_expect(&r, REPORT3_4("03"));
	cr_assert(net_group_join(r.n, 0, &g4));
	check_change(REPORT3_4("04"));
	net_group_leave(r.n, 0, &g4);
	net_group_leave(r.n, 0, &g4);
	check_change(REPORT3_4("03"));
}

/* checks W-MC-01[4]: the repetition comes at any time within the second. */
Test(net_group, W_MC_01_repeated_after_a_random_time)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (unsigned i = 0; i < 32; i++) {
		const uint64_t begun = r.now;
		uint64_t took;

		cr_assert(net_group_join(r.n, 0, &g4));
		group_expect(&r, REPORT3_4("04"));
		took = group_wait(&r) - begun;
		least = took < least ? took : least;
		most = took > most ? took : most;
		net_group_leave(r.n, 0, &g4);
		group_expect(&r, REPORT3_4("03"));
		(void)group_wait(&r);
	}
	cr_assert_gt(most - least, S / 3, "between %lu and %lu", least, most);
}

/* checks W-MC-01[7]: the unspecified address, until the link-local one is known to be unique. */
Test(net_group, W_MC_01_before_there_is_an_address)
{
	enum { NEXT = 14 + 6, SOURCE = 14 + 8 };
	const struct net_link link = {
		.port = 1, .mtu = 1500, .dad = NET_DAD_FULL, .mac = {2, 0, 0, 0, 0x78, 1}};
	const struct net_ip own = net_rig_ip("fe80::ff:fe00:7801"), none = {{0}};
	const int other = net_link_add(r.n, &link);

	cr_assert_gt(other, 0);
	cr_assert(net_group_join(r.n, (uint32_t)other, &g6));
	do
		(void)group_wait(&r);
	while (r.tx.frame[NEXT] != 0); /* a hop-by-hop header: MLD */
	cr_assert_arr_eq(r.tx.frame + SOURCE, none.b, 16);
	net_rig_run_until(&r, r.now + GROUP_MEMBER_TIME);
	while (net_tx(r.n, &r.tx))
		;
	net_group_leave(r.n, (uint32_t)other, &g6);
	(void)group_wait(&r);
	cr_assert_arr_eq(r.tx.frame + SOURCE, own.b, 16);
}

/* checks W-MC-01[3]: as often as the router's robustness says. */
Test(net_group, W_MC_01_robustness_is_the_routers)
{
	group_member(&r, &g4);
	group_rx(&r, QUERY3_4(ALL4_MAC, ALL4, "01", NONE4, "057d0000")); /* robustness 5 */
	(void)group_wait(&r);
	net_group_leave(r.n, 0, &g4);
	for (unsigned i = 0; i < 5; i++) {
		const uint64_t before = r.now;

		cr_assert_leq(group_wait(&r) - before, i == 0 ? 0 : S);
		cr_assert(group_tx_is(&r, REPORT3_4("03")));
	}
	group_quiet(&r, 1000 * S);
}

/* checks W-MC-01[8,9]: all stations are in these groups; nothing is said of them. */
Test(net_group, W_MC_01_all_stations_are_not_reported)
{
	struct net_ip all4 = net_rig_ip("224.0.0.1"), all6 = net_rig_ip("ff02::1"),
		      inside = net_rig_ip("ff01::5"), reserved = net_rig_ip("ff00::5");

	cr_assert(net_group_join(r.n, 0, &all4));
	cr_assert(net_group_join(r.n, 0, &all6));
	cr_assert(net_group_join(r.n, 0, &inside));
	cr_assert(net_group_join(r.n, 0, &reserved));
	group_rx(&r, QUERY3_4(ALL4_MAC, ALL4, "64", NONE4, "027d0000"));
	group_rx(&r, QUERY2_6("333300000001", ALL6, "2710", NONE6));
	group_quiet(&r, 20 * S);
	net_group_leave(r.n, 0, &all4);
	net_group_leave(r.n, 0, &all6);
	net_group_leave(r.n, 0, &inside);
	net_group_leave(r.n, 0, &reserved);
	group_quiet(&r, 20 * S);
}

/* checks W-MC-01[11]: a switch that the port is plugged into has not heard of the group. */
Test(net_group, W_MC_01_plugged_in_again)
{
	group_member(&r, &g4);
	net_port_up(r.n, r.now, 0);
	for (unsigned seen = 0; seen < 2;) {
		(void)group_wait(&r);
		seen += group_tx_is(&r, REPORT3_4("04"));
	}
}

/* Each answer lies within the time that the query gives, and they differ. */
static void
check_answers(const char *query, const char *answer, uint64_t within)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (unsigned i = 0; i < 32; i++) {
		const uint64_t begun = r.now;
		uint64_t took;

		group_rx(&r, query);
		took = group_wait(&r) - begun;
		cr_assert(group_tx_is(&r, answer));
		cr_assert_leq(took, within);
		least = took < least ? took : least;
		most = took > most ? took : most;
		group_quiet(&r, within);
	}
	cr_assert_gt(most - least, within / 3, "between %lu and %lu", least, most);
}

/*
 * checks W-MC-02[1,2,6], W-MC-04[9,10]: general queries and those about the group, also with
 * sources.
 */
Test(net_group, W_MC_02_answers_come_in_random_time)
{
	group_member(&r, &g4);
	group_member(&r, &g6);
	check_answers(QUERY3_4(ALL4_MAC, ALL4, "64", NONE4, "027d0000"), REPORT3_4("02"), 10 * S);
	check_answers(QUERY3_4(G4_MAC, G4, "0a", G4, "027d0000"), REPORT3_4("02"), 1 * S);
	check_answers(IP4(G4_MAC, OTHER, "0028", ROUTER4, G4,
			      "110a0000" G4 "027d0001"
			      "0a4d0002"),
		REPORT3_4("02"), 1 * S);
	/* 0x8f: (15 | 16) << 3, in tenths of a second */
	check_answers(QUERY3_4(G4_MAC, G4, "8f", G4, "027d0000"), REPORT3_4("02"), 24800 * MS);
	check_answers(
		QUERY3_6("333300000001", ALL6, "2710", NONE6, "027d0000"), REPORT3_6("02"), 10 * S);
	check_answers(QUERY3_6(G6_MAC, G6, "03e8", G6, "027d0000"), REPORT3_6("02"), 1 * S);
	/* 0x8001: (1 | 0x1000) << 3, in ms */
	check_answers(QUERY3_6(G6_MAC, G6, "8001", G6, "027d0000"), REPORT3_6("02"), 32776 * MS);
	group_rx(&r, QUERY3_4(G4_MAC, ALL4, "0a", "ef010204", "027d0000")); /* of another group */
	group_rx(&r, QUERY3_6(G6_MAC, ALL6, "03e8", ALL6, "027d0000"));
	group_quiet(&r, 100 * S);
	cr_assert_eq(net_counters(r.n)->rx_malformed, 0);
}

/*
 * checks W-MC-02[4,5]: one answer for all groups; another query while it is pending adds none,
 * unless it wants it sooner.
 */
Test(net_group, W_MC_02_one_answer_for_several_queries)
{
	group_member(&r, &g4);
	for (unsigned i = 0; i < 5; i++)
		group_rx(&r, QUERY3_4(ALL4_MAC, ALL4, "64", NONE4, "027d0000"));
	(void)group_wait(&r);
	group_quiet(&r, 100 * S);
	group_rx(&r, QUERY3_4(ALL4_MAC, ALL4, "64", NONE4, "027d0000"));
	group_rx(&r, QUERY3_4(ALL4_MAC, ALL4, "00", NONE4, "027d0000"));
	group_expect(&r, REPORT3_4("02"));
	group_rx(&r, QUERY3_4(G4_MAC, G4, "64", G4, "027d0000"));
	group_rx(&r, QUERY3_4(G4_MAC, G4, "00", G4, "027d0000"));
	group_expect(&r, REPORT3_4("02"));
	group_rx(&r, QUERY3_4(ALL4_MAC, ALL4, "00", NONE4, "027d0000"));
	group_rx(&r, QUERY3_4(G4_MAC, G4, "64", G4, "027d0000")); /* the general answer is sooner */
	group_expect(&r, REPORT3_4("02"));
	group_quiet(&r, 100 * S);
}

/* checks W-MC-02[3]: the answer names every group once, in reports that fit the link. */
Test(net_group, W_MC_02_many_groups_in_few_reports)
{
	unsigned records = 0, frames = 0;
	char text[32];

	for (unsigned i = 0; i < 150; i++) {
		struct net_ip ip;

		snprintf(text, sizeof(text), "ff15::%x", i + 1);
		ip = net_rig_ip(text);
		cr_assert(net_group_join(r.n, 0, &ip));
	}
	net_rig_run_until(&r, r.now + GROUP_MEMBER_TIME);
	while (net_tx(r.n, &r.tx))
		;
	group_rx(&r, QUERY3_6("333300000001", ALL6, "0000", NONE6, "027d0000"));
	net_rig_run_until(&r, r.now);
	for (; net_tx(r.n, &r.tx); frames++) {
		cr_assert_leq(r.tx.len, 14 + 1500);
		records += r.tx.frame[14 + 48 + 7];
		cr_assert_eq(r.tx.len, 14 + 48 + 8 + 20u * r.tx.frame[14 + 48 + 7]);
	}
	cr_assert_eq(records, 150);
	cr_assert_eq(frames, 3);
}

#define REPORT2_4 IP4(G4_MAC, ME, "0020", IP_ME, G4, "16000000" G4)
#define LEAVE_4	  IP4("01005e000002", ME, "0020", IP_ME, ROUTERS4, "17000000" G4)
#define REPORT1_4 IP4(G4_MAC, ME, "0020", IP_ME, G4, "12000000" G4)
#define REPORT1_6 IP6(G6_MAC, ME, "0020", LL_ME, G6, "83000000 00000000" G6)
#define DONE_6	  IP6("333300000002", ME, "0020", LL_ME, ROUTERS6, "84000000 00000000" G6)

/*
 * checks W-MC-03[1,4,5,8,9]: to routers of IGMPv2 and MLDv1: their reports, their leave, and no
 * others.
 */
static void
check_old(const struct net_ip *g, const char *general, const char *specific, const char *report,
	const char *leave)
{
	uint64_t begun = r.now;

	group_rx(&r, general); /* nothing to say yet */
	group_quiet(&r, 20 * S);
	cr_assert(net_group_join(r.n, 0, g));
	begun = r.now;
	group_expect(&r, report);
	cr_assert_leq(group_wait(&r), begun + 10 * S);
	cr_assert(group_tx_is(&r, report));
	group_quiet(&r, 20 * S);
	check_answers(general, report, 10 * S);
	check_answers(specific, report, 1 * S);
	net_group_leave(r.n, 0, g);
	if (leave != NULL)
		group_expect(&r, leave);
	group_quiet(&r, 20 * S);
}

Test(net_group, W_MC_03_IGMPv2)
{
	check_old(&g4, QUERY2_4(ALL4_MAC, ALL4, "64", NONE4), QUERY2_4(G4_MAC, G4, "0a", G4),
		REPORT2_4, LEAVE_4);
}

Test(net_group, W_MC_03_IGMPv1)
{
	check_old(&g4, IP4_PLAIN(ALL4_MAC, OTHER, "001c", ROUTER4, ALL4, "11000000" NONE4),
		QUERY2_4(G4_MAC, G4, "0a", G4), REPORT1_4, NULL);
}

Test(net_group, W_MC_03_MLDv1)
{
	check_old(&g6, QUERY2_6("333300000001", ALL6, "2710", NONE6),
		QUERY2_6(G6_MAC, G6, "03e8", G6), REPORT1_6, DONE_6);
}

/* The newest version is spoken again so long after a query of version 2, not before. */
static void
check_forgotten(const char *newest_query, uint64_t after_s)
{
	group_rx(&r, QUERY2_4(ALL4_MAC, ALL4, "01", NONE4));
	(void)group_wait(&r);
	net_rig_run_until(&r, r.now + (after_s - 1) * S);
	group_rx(&r, newest_query);
	group_expect(&r, REPORT2_4);
	net_rig_run_until(&r, r.now + 2 * S);
	group_rx(&r, newest_query);
	group_expect(&r, REPORT3_4("02"));
}

/*
 * checks W-MC-03[2]: the newest version is spoken again when no older router was heard of for
 * two query intervals and a response interval.
 */
Test(net_group, W_MC_03_old_routers_are_forgotten)
{
	group_member(&r, &g4);
	check_forgotten(QUERY3_4(ALL4_MAC, ALL4, "00", NONE4, "027d0000"), 260);
}

/* checks W-MC-03[2]: the time is made of what the querier last said, here 3 times 60 s. */
Test(net_group, W_MC_03_forgotten_by_the_queriers_own_numbers)
{
	const char *query = QUERY3_4(ALL4_MAC, ALL4, "00", NONE4, "033c0000");

	group_member(&r, &g4);
	group_rx(&r, query);
	group_expect(&r, REPORT3_4("02"));
	check_forgotten(query, 190);
}

/* checks W-MC-03[6]: a query that leaves more time changes no timer, one that leaves less does; and
 * each group answers in its own time. */
Test(net_group, W_MC_03_a_timer_for_each_group)
{
	const struct net_ip other = net_rig_ip("239.1.2.4");
	unsigned apart = 0;

	group_member(&r, &g4);
	for (unsigned i = 0; i < 16; i++) {
		const uint64_t begun = r.now;

		group_rx(&r, QUERY2_4(ALL4_MAC, ALL4, "0a", NONE4)); /* within 1 s */
		group_rx(&r, QUERY2_4(ALL4_MAC, ALL4, "ff", NONE4)); /* 25.5 s */
		cr_assert_leq(group_wait(&r), begun + S);
		group_quiet(&r, 30 * S);
		group_rx(&r, QUERY2_4(ALL4_MAC, ALL4, "ff", NONE4));
		group_rx(&r, QUERY2_4(ALL4_MAC, ALL4, "01", NONE4)); /* 0.1 s */
		cr_assert_leq(group_wait(&r), begun + 31 * S + 100 * MS);
		group_quiet(&r, 30 * S);
	}
	group_member(&r, &other);
	for (unsigned i = 0; i < 16; i++) {
		uint64_t first;

		group_rx(&r, QUERY2_4(ALL4_MAC, ALL4, "64", NONE4));
		first = group_wait(&r);
		apart += group_wait(&r) > first;
		group_quiet(&r, 20 * S);
	}
	cr_assert_gt(apart, 8);
}

/* checks W-MC-03[3]: a change of version ends what is pending. */
Test(net_group, W_MC_03_a_change_ends_what_is_pending)
{
	group_member(&r, &g4);
	net_group_leave(r.n, 0, &g4);
	group_expect(&r, REPORT3_4("03"));
	group_rx(&r, QUERY2_4(ALL4_MAC, ALL4, "64", NONE4));
	group_quiet(&r, 20 * S);
}

/*
 * checks W-MC-03[7,8,10]: one member's report is enough, and then another one leaves in silence.
 * In the newest version each reports for itself.
 */
Test(net_group, W_MC_03_reports_of_others)
{
	const char *others = IP4(G4_MAC, PEER, "0020", IP_PEER, G4, "16000000" G4);

	group_member(&r, &g4);
	group_rx(&r, QUERY3_4(ALL4_MAC, ALL4, "64", NONE4, "027d0000"));
	group_rx(&r, others);
	(void)group_wait(&r);
	cr_assert(group_tx_is(&r, REPORT3_4("02")));
	group_rx(&r, QUERY2_4(ALL4_MAC, ALL4, "64", NONE4));
	group_rx(&r, others);
	group_quiet(&r, 20 * S);
	net_group_leave(r.n, 0, &g4);
	group_quiet(&r, 20 * S);
	group_member(&r, &g4);
	group_rx(&r, others);
	group_rx(&r, QUERY2_4(ALL4_MAC, ALL4, "01", NONE4));
	(void)group_wait(&r); /* this host's report is the last one again */
	net_group_leave(r.n, 0, &g4);
	group_expect(&r, LEAVE_4);
	group_quiet(&r, 20 * S);
	group_member(&r, &g6);
	group_rx(&r, QUERY2_6("333300000001", ALL6, "2710", NONE6));
	group_rx(&r, IP6(G6_MAC, PEER, "0020", "fe800000000000000000000000000002", G6,
			     "83000000 00000000" G6));
	group_quiet(&r, 20 * S);
	net_group_leave(r.n, 0, &g6);
	group_quiet(&r, 20 * S);
}

/* A full table refuses, and one that has room again takes; groups that are left make room. */
Test(net_group, table_is_bounded)
{
	struct net_ip ip = net_rig_ip("239.0.0.0"), more = net_rig_ip("ff15::1");

	for (unsigned i = 0; i < NET_GROUPS_MAX; i++) {
		ip.b[14] = (uint8_t)(i >> 8);
		ip.b[15] = (uint8_t)i;
		cr_assert(net_group_join(r.n, 0, &ip));
	}
	cr_assert_not(net_group_join(r.n, 0, &more));
	net_group_leave(r.n, 0, &ip);
	cr_assert(net_group_join(r.n, 0, &more));
	cr_assert_not(net_group_join(r.n, 0, &ip));
}

/*
 * checks W-MC-01[1]: each link for itself, with its own address and tag; and no more when it
 * goes.
 */
Test(net_group, W_MC_01_groups_are_a_links)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0x77, 1};
	struct net_ip v4 = net_rig_ip("10.78.0.1");
	const char *why;
	int vlan = net_rig_link(&r, 0, 7, mac, 1500);

	cr_assert_gt(vlan, 0);
	cr_assert(net_address_add(r.n, (uint32_t)vlan, &v4, 24, &why));
	net_rig_run_until(&r, r.now + 10 * S);
	while (net_tx(r.n, &r.tx))
		;
	cr_assert(net_group_join(r.n, (uint32_t)vlan, &g4));
	(void)group_wait(&r);
	cr_assert_eq(r.tx.frame[12] << 8 | r.tx.frame[13], 0x8100);
	cr_assert_eq(r.tx.frame[15], 7);
	cr_assert_arr_eq(r.tx.frame + 18 + 12, v4.b + 12, 4);
	group_rx(&r, QUERY3_4(ALL4_MAC, ALL4, "00", NONE4, "027d0000")); /* on the other link */
	(void)group_wait(&r); /* the report's repetition */
	group_quiet(&r, 100 * S);
	net_link_remove(r.n, (uint32_t)vlan);
	net_group_leave(r.n, (uint32_t)vlan, &g4);
	group_quiet(&r, 100 * S);
}

/* checks W-MC-05[1,2]: the MAC of a group, and the way there. */
Test(net_group, W_MC_05_the_way_to_a_group)
{
	static const struct {
		const char *group;
		uint8_t mac[6];
	} macs[] = {
		{"224.0.0.1", {1, 0, 0x5e, 0, 0, 1}},
		{"239.255.255.255", {1, 0, 0x5e, 0x7f, 0xff, 0xff}},
		{"224.128.64.32", {1, 0, 0x5e, 0, 0x40, 0x20}},
		{"ff02::1:ff12:3456", {0x33, 0x33, 0xff, 0x12, 0x34, 0x56}},
		{"ff15::", {0x33, 0x33, 0, 0, 0, 0}},
	};
	struct net_ip v4 = net_rig_ip("10.77.0.1"), v6 = net_rig_ip("fd77::1"), ip;
	static const uint8_t me[6] = {2, 0, 0, 0, 0x77, 1};

	for (size_t i = 0; i < sizeof(macs) / sizeof(macs[0]); i++) {
		ip = net_rig_ip(macs[i].group);
		cr_assert(net_group_hop(r.n, net_ip_is_v4(&ip) ? &v4 : &v6, &ip, &r.hop));
		cr_assert_arr_eq(r.hop.dmac, macs[i].mac, 6);
		cr_assert_arr_eq(r.hop.smac, me, 6);
		cr_assert_eq(r.hop.mtu, 1500);
		cr_assert_not(net_group_hop(r.n, net_ip_is_v4(&ip) ? &v6 : &v4, &ip, &r.hop));
	}
	ip = net_rig_ip("10.77.0.9");
	cr_assert_not(net_group_hop(r.n, &ip, &g4, &r.hop), "not from a stranger's address");
	cr_assert_not(net_group_hop(r.n, &v4, &ip, &r.hop), "not to a host");
	ip = net_rig_ip("223.255.255.255");
	cr_assert_not(net_ip_is_group(&ip));
	ip = net_rig_ip("240.0.0.0");
	cr_assert_not(net_ip_is_group(&ip));
	ip = net_rig_ip("ff01::1"); /* it does not leave the host */
	cr_assert_not(net_ip_is_group(&ip));
}
