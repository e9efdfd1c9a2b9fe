/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a neighbour, in virtual time, by ARP. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "rigs/net_rig.h"

NET_RIG_SUITE(net_neigh, 4);

static const uint8_t peer_mac[6] = {2, 0, 0, 0, 0x77, 2}, other_mac[6] = {2, 0, 0, 0, 0x77, 3};

/* checks W-GID-03[1] */
Test(net_neigh, asked_once_for_many_callers_and_answered)
{
	uint64_t before = net_generation(r.n);

	cr_assert_eq(net_rig_resolve(&r, "10.77.0.2"), NET_PENDING);
	cr_assert_eq(net_rig_resolve(&r, "10.77.0.2"), NET_PENDING);
	net_rig_expect_tx(&r, ARP_ASK_PEER);
	net_rig_expect_silence(&r);
	cr_assert_eq(net_generation(r.n), before);
	net_rig_rx(&r, ARP_PEER_ANSWERS);
	cr_assert_neq(net_generation(r.n), before);
	cr_assert_eq(net_counters(r.n)->neighbours_resolved, 1);
	net_rig_expect_mac(&r, peer_mac);
	net_rig_expect_silence(&r);
}

Test(net_neigh, silent_neighbour_is_asked_four_times_then_fails)
{
	static const uint64_t asks[] = {0, 100 * MS, 400 * MS, 1400 * MS};
	uint64_t start = r.now, before = net_generation(r.n);

	cr_assert_eq(net_rig_resolve(&r, "10.77.0.2"), NET_PENDING);
	for (unsigned i = 0; i < 4; i++) {
		if (i > 0) {
			net_rig_run_until(&r, start + asks[i] - 1);
			net_rig_expect_silence(&r);
		}
		net_rig_run_until(&r, start + asks[i]);
		net_rig_expect_tx(&r, ARP_ASK_PEER);
	}
	net_rig_run_until(&r, start + 2400 * MS - 1);
	cr_assert_eq(net_rig_resolve(&r, "10.77.0.2"), NET_PENDING);
	net_rig_run_until(&r, start + 2400 * MS);
	cr_assert_neq(net_generation(r.n), before);
	cr_assert_eq(net_counters(r.n)->neighbours_failed, 1);
	cr_assert_eq(net_rig_resolve(&r, "10.77.0.2"), NET_UNREACHABLE);
	cr_assert_eq(net_rig_resolve(&r, "10.77.0.2"), NET_UNREACHABLE, "for everybody who waited");
	net_rig_expect_silence(&r);
	net_rig_run_until(&r, start + 3400 * MS);
	cr_assert_eq(net_rig_resolve(&r, "10.77.0.2"), NET_PENDING, "a later call asks again");
	net_rig_expect_tx(&r, ARP_ASK_PEER);
}

Test(net_neigh, answer_after_the_third_question_is_good)
{
	cr_assert_eq(net_rig_resolve(&r, "10.77.0.2"), NET_PENDING);
	net_rig_run_until(&r, r.now + 500 * MS);
	net_rig_rx(&r, ARP_PEER_ANSWERS);
	net_rig_expect_mac(&r, peer_mac);
}

/* checks W-GID-03[2] */
Test(net_neigh, used_neighbour_is_probed_by_unicast_every_30_s)
{
	uint64_t start = r.now;

	net_rig_meet_peer(&r);
	for (unsigned i = 1; i <= 3; i++) {
		net_rig_run_until(&r, start + i * 30 * S - 1);
		net_rig_expect_silence(&r);
		net_rig_run_until(&r, start + i * 30 * S);
		net_rig_expect_tx(&r, ARP_ASK_PEER_DIRECT);
		net_rig_expect_mac(&r, peer_mac);
		net_rig_rx(&r, ARP_PEER_ANSWERS);
	}
	cr_assert_eq(net_counters(r.n)->neighbours_resolved, 1, "nothing new was learned");
}

Test(net_neigh, probes_end_with_everybody_then_failure)
{
	uint64_t start = r.now + 30 * S, before;

	net_rig_meet_peer(&r);
	before = net_generation(r.n);
	for (unsigned i = 0; i < 6; i++) {
		net_rig_run_until(&r, start + i * S);
		net_rig_expect_tx(&r, i < 3 ? ARP_ASK_PEER_DIRECT : ARP_ASK_PEER);
		net_rig_expect_mac(&r, peer_mac);
	}
	cr_assert_eq(net_generation(r.n), before);
	net_rig_run_until(&r, start + 6 * S);
	cr_assert_neq(net_generation(r.n), before);
	cr_assert_eq(net_rig_resolve(&r, "10.77.0.2"), NET_UNREACHABLE);
}

/* checks W-GID-03[2] */
Test(net_neigh, neighbour_with_a_new_mac_is_found_by_the_probe)
{
	uint64_t before;

	net_rig_meet_peer(&r);
	before = net_generation(r.n);
	net_rig_run_until(&r, r.now + 33 * S);
	net_rig_rx(&r, ARP(ME, OTHER, "002", OTHER, IP_PEER, ME, IP_ME));
	cr_assert_neq(net_generation(r.n), before);
	net_rig_expect_mac(&r, other_mac);
}

Test(net_neigh, traffic_of_the_peer_takes_the_place_of_probes)
{
	struct net_ip ip = net_rig_ip("10.77.0.2");
	uint64_t start = r.now;

	net_rig_meet_peer(&r);
	for (unsigned i = 1; i < 20; i++) {
		net_rig_run_until(&r, start + i * 20 * S);
		net_confirm(r.n, r.now, &ip, peer_mac);
	}
	net_rig_expect_silence(&r);
	net_rig_run_until(&r, r.now + 10 * S);
	net_confirm(r.n, r.now, &ip, other_mac);
	net_rig_expect_mac(&r, peer_mac);
	net_rig_run_until(&r, start + (19 * 20 + 30) * S);
	net_rig_expect_tx(&r, ARP_ASK_PEER_DIRECT);
}

Test(net_neigh, confirm_never_creates)
{
	struct net_ip ip = net_rig_ip("10.77.0.2");

	net_confirm(r.n, r.now, &ip, peer_mac);
	cr_assert_eq(net_rig_resolve(&r, "10.77.0.2"), NET_PENDING);
	net_confirm(r.n, r.now, &ip, peer_mac);
	cr_assert_eq(net_rig_resolve(&r, "10.77.0.2"), NET_PENDING);
}

Test(net_neigh, forgotten_by_us_it_is_left_alone_in_the_end)
{
	uint64_t start = r.now;

	net_rig_meet_peer(&r);
	while (r.now < start + 3600 * S) {
		net_rig_run_until(&r, r.now + 30 * S);
		if (r.now < start + 3600 * S)
			net_rig_expect_tx(&r, ARP_ASK_PEER_DIRECT);
		net_rig_rx(&r, ARP_PEER_ANSWERS);
	}
	net_rig_run_until(&r, start + 4300 * S);
	net_rig_expect_silence(&r);
	cr_assert_eq(net_next_deadline(r.n), UINT64_MAX, "nothing is left");
}

/* ---- what others say ---- */

Test(net_neigh, second_answer_does_not_replace_the_first)
{
	net_rig_meet_peer(&r);
	net_rig_rx(&r, ARP(ME, OTHER, "002", OTHER, IP_PEER, ME, IP_ME));
	net_rig_expect_mac(&r, peer_mac);
	net_rig_expect_silence(&r);
}

/* checks W-GID-03[2,3] */
Test(net_neigh, rumour_of_a_new_mac_makes_us_ask_everybody)
{
	net_rig_meet_peer(&r);
	net_rig_run_until(&r, r.now + 2 * S);
	net_rig_rx(&r, ARP(ALL, OTHER, "001", OTHER, IP_PEER, NOBODY, IP_PEER));
	net_rig_expect_tx(&r, ARP_ASK_PEER);
	net_rig_expect_mac(&r, peer_mac);
	net_rig_rx(&r, ARP(ME, OTHER, "002", OTHER, IP_PEER, ME, IP_ME));
	net_rig_expect_mac(&r, other_mac);
	/* Rumours in a storm: the answer stands for a second. */
	net_rig_run_until(&r, r.now + 999 * MS);
	for (unsigned i = 0; i < 10; i++)
		net_rig_rx(&r, ARP(ALL, PEER, "001", PEER, IP_PEER, NOBODY, IP_PEER));
	net_rig_expect_silence(&r);
}

static void
request_from(unsigned host)
{
	char hex[256];

	(void)snprintf(hex, sizeof(hex),
		"%s 0200000078%02x 0806 000108000604 0001 0200000078%02x 0a4d00%02x %s %s", ALL,
		host, host, host, NOBODY, IP_ME);
	net_rig_rx(&r, hex);
	cr_assert(net_tx(r.n, &r.tx), "it is answered in any case");
}

Test(net_neigh, strangers_never_push_out_a_neighbour_in_use)
{
	char dst[32];

	for (unsigned i = 2; i < 6; i++) {
		(void)snprintf(dst, sizeof(dst), "10.77.0.%u", i);
		cr_assert_eq(net_rig_resolve(&r, dst), NET_PENDING);
		cr_assert(net_tx(r.n, &r.tx));
	}
	for (unsigned i = 100; i < 200; i++)
		request_from(i);
	cr_assert_eq(net_counters(r.n)->neighbours_evicted, 0);
	net_rig_rx(&r, ARP_PEER_ANSWERS);
	net_rig_expect_mac(&r, peer_mac);
}

Test(net_neigh, strangers_push_out_strangers_and_make_way_for_us)
{
	for (unsigned i = 100; i < 200; i++) {
		request_from(i);
		r.now += MS;
	}
	cr_assert_eq(net_counters(r.n)->neighbours_evicted, 96);
	net_rig_meet_peer(&r);
	request_from(200);
	net_rig_expect_mac(&r, peer_mac);
}

Test(net_neigh, full_of_used_ones_the_oldest_goes)
{
	char dst[32];

	for (unsigned i = 2; i < 7; i++) {
		(void)snprintf(dst, sizeof(dst), "10.77.0.%u", i);
		cr_assert_eq(net_rig_resolve(&r, dst), NET_PENDING);
		r.now += MS;
		if (i == 5) /* the first is used again: the second is the oldest now */
			cr_assert_eq(net_rig_resolve(&r, "10.77.0.2"), NET_PENDING);
	}
	cr_assert_eq(net_counters(r.n)->neighbours_evicted, 1);
	net_rig_rx(&r, ARP_PEER_ANSWERS);
	net_rig_expect_mac(&r, peer_mac);
}
