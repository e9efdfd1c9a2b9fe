/* SPDX-License-Identifier: BSD-3-Clause */
/* ARP: what is answered, what is learned from, and what is malformed. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/net_rig.h"

NET_RIG_SUITE(net_arp, 4);

static const uint8_t peer_mac[6] = {2, 0, 0, 0, 0x77, 2};

Test(net_arp, request_to_us_is_answered_and_teaches)
{
	net_rig_rx(&r, ARP_PEER_ASKS);
	net_rig_expect_tx(&r, ARP_I_ANSWER);
	net_rig_expect_silence(&r);
	/* What was learned serves at once, and is asked back because we use it. */
	net_rig_expect_mac(&r, peer_mac);
	net_rig_expect_tx(&r, ARP_ASK_PEER_DIRECT);
}

Test(net_arp, request_to_us_resolves_what_we_ask)
{
	cr_assert_eq(net_rig_resolve(&r, "10.77.0.2"), NET_PENDING);
	net_rig_expect_tx(&r, ARP_ASK_PEER);
	net_rig_rx(&r, ARP_PEER_ASKS);
	net_rig_expect_tx(&r, ARP_I_ANSWER);
	net_rig_expect_mac(&r, peer_mac);
	net_rig_expect_tx(&r, ARP_ASK_PEER_DIRECT);
}

Test(net_arp, request_from_outside_the_prefix_teaches_nothing)
{
	net_rig_rx(&r, ARP(ALL, PEER, "001", PEER, "0a4e0002", NOBODY, IP_ME));
	net_rig_expect_tx(&r, ARP(PEER, ME, "002", ME, IP_ME, PEER, "0a4e0002"));
	cr_assert_eq(net_next_deadline(r.n), UINT64_MAX);
}

Test(net_arp, probe_for_our_address_is_answered_and_teaches_nothing)
{
	/* RFC 5227: sender 0.0.0.0 */
	net_rig_rx(&r, ARP(ALL, PEER, "001", PEER, "00000000", NOBODY, IP_ME));
	net_rig_expect_tx(&r, ARP(PEER, ME, "002", ME, IP_ME, PEER, "00000000"));
	cr_assert_eq(net_next_deadline(r.n), UINT64_MAX);
}

Test(net_arp, unasked_answers_teach_nothing)
{
	net_rig_rx(&r, ARP_PEER_ANSWERS);
	cr_assert_eq(net_rig_resolve(&r, "10.77.0.2"), NET_PENDING);
	net_rig_expect_tx(&r, ARP_ASK_PEER);
	/* A gratuitous broadcast reply does not count as an answer either. */
	net_rig_rx(&r, ARP(ALL, OTHER, "002", OTHER, IP_PEER, ALL, IP_PEER));
	cr_assert_eq(net_rig_resolve(&r, "10.77.0.2"), NET_PENDING);
}

Test(net_arp, somebody_with_our_address_is_counted_and_not_believed)
{
	net_rig_rx(&r, ARP(ALL, PEER, "001", PEER, IP_ME, NOBODY, IP_ME));
	net_rig_expect_tx(&r, ARP(ALL, ME, "001", ME, IP_ME, NOBODY, IP_ME)); /* it is ours */
	net_rig_expect_silence(&r);
	cr_assert_eq(net_counters(r.n)->address_conflicts, 1);
	cr_assert_eq(net_next_deadline(r.n), UINT64_MAX);
}

Test(net_arp, malformed_arp_is_counted)
{
	static const char *const bad[] = {
		ALL PEER "0806 000108000604000102000000770200",
		ALL PEER "0806 000108000604"
			 "0001"
			 "ffffffffffff" IP_PEER NOBODY IP_ME,
		ALL PEER "0806 000108000604"
			 "0001" NOBODY IP_PEER NOBODY IP_ME,
		ALL PEER "0806 000608000604"
			 "0001" PEER IP_PEER NOBODY IP_ME,
		ALL PEER "0806 000108000610"
			 "0001" PEER IP_PEER NOBODY IP_ME,
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		net_rig_rx(&r, bad[i]);
		cr_assert_eq(net_counters(r.n)->rx_malformed, i + 1, "frame %zu", i);
	}
	net_rig_expect_silence(&r);
}
