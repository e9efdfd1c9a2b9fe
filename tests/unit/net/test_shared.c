/* SPDX-License-Identifier: BSD-3-Clause */
/* A link that the kernel has as well, at port 1: what is asked of it, and what its answers do. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/net_rig.h"

#define PORT 1u

static struct net_rig r;
static struct net_ip me, peer, router;
static const uint8_t my_mac[6] = {2, 0, 0, 0, 0x77, 0x11}, peer_mac[6] = {2, 0, 0, 0, 0x77, 2},
		     other_mac[6] = {2, 0, 0, 0, 0x77, 3};

static void
setup(void)
{
	struct net_link link = {.port = PORT, .mtu = 1500, .shared = true};
	const char *why;

	net_rig_init(&r, 4);
	memcpy(link.mac, my_mac, 6);
	cr_assert_eq(net_link_add(r.n, &link), 1);
	me = net_rig_ip("192.0.2.1");
	peer = net_rig_ip("203.0.113.9");
	router = net_rig_ip("192.0.2.254");
	cr_assert(net_address_add(r.n, 1, &me, 32, &why), "%s", why);
}

static void
teardown(void)
{
	net_rig_free(&r);
}

TestSuite(net_shared, .init = setup, .fini = teardown);

static enum net_resolve
resolve(void)
{
	return net_resolve(r.n, r.now, NET_OWNER_HOST, &me, &peer, &r.hop);
}

static void
expect_question(void)
{
	struct net_question q;

	cr_assert(net_question(r.n, &q));
	cr_expect_eq(q.port, PORT);
	cr_expect_arr_eq(q.ip.b, peer.b, 16);
	cr_expect_arr_eq(q.source.b, me.b, 16);
	cr_expect_not(net_question(r.n, &q));
}

static void
told(const struct net_ip *hop, const uint8_t *mac)
{
	net_told_way(r.n, r.now, PORT, &peer, hop);
	if (hop != NULL)
		net_told_neighbour(r.n, r.now, PORT, hop, mac);
}

static void
peer_is_known(void)
{
	cr_assert_eq(resolve(), NET_PENDING);
	expect_question();
	told(&router, peer_mac);
	cr_assert_eq(resolve(), NET_RESOLVED);
}

Test(net_shared, nothing_is_said_on_the_wire)
{
	struct net_ip ip;
	uint8_t prefix_len;
	uint32_t port;

	for (unsigned i = 0; net_address_get(r.n, i, &ip, &prefix_len, &port); i++)
		cr_expect(port != PORT || !net_ip_is_link_local(&ip), "it made up an address");
	net_rig_run_until(&r, r.now + 10 * S);
	(void)resolve();
	net_rig_run_until(&r, r.now + 10 * S);
	net_port_up(r.n, r.now, PORT);
	net_rig_run_until(&r, r.now + 10 * S);
	while (net_tx(r.n, &r.tx))
		cr_assert_neq(r.tx.port, PORT);
}

/* A request for the address at this port is answered by the kernel alone. */
Test(net_shared, frames_are_the_kernels)
{
	uint8_t frame[64];
	size_t bytes = net_rig_bytes(
		ARP(ALL, PEER, "001", PEER, "c0000209", NOBODY, "c0000201"), frame, sizeof(frame));

	net_rx(r.n, r.now, PORT, frame, bytes);
	net_rig_expect_silence(&r);
	cr_expect_eq(net_counters(r.n)->rx_dropped, 1);
}

Test(net_shared, the_way_is_the_kernels_to_say)
{
	peer_is_known();
	cr_expect_arr_eq(r.hop.dmac, peer_mac, 6);
	cr_expect_arr_eq(r.hop.smac, my_mac, 6);
	cr_expect_eq(r.hop.port, PORT);
	cr_expect_eq(r.hop.mtu, 1500);
}

Test(net_shared, a_mac_that_comes_later_is_told_by_the_generation)
{
	uint64_t before;

	cr_assert_eq(resolve(), NET_PENDING);
	expect_question();
	net_told_way(r.n, r.now, PORT, &peer, &router);
	cr_assert_eq(resolve(), NET_PENDING);
	before = net_generation(r.n);
	net_told_neighbour(r.n, r.now, PORT, &router, peer_mac);
	cr_expect_neq(net_generation(r.n), before);
	cr_assert_eq(resolve(), NET_RESOLVED);
}

Test(net_shared, no_way_and_nobody_there_are_two_things)
{
	cr_assert_eq(resolve(), NET_PENDING);
	told(NULL, NULL);
	cr_expect_eq(resolve(), NET_NO_ROUTE);
	net_rig_run_until(&r, r.now + 2 * S); /* forgotten */
	expect_question();
	cr_assert_eq(resolve(), NET_PENDING);
	told(&router, NULL);
	cr_expect_eq(resolve(), NET_UNREACHABLE);
}

Test(net_shared, a_question_without_an_answer_is_asked_again_and_given_up)
{
	static const uint64_t wait_ns[] = {100 * MS, 300 * MS, 1 * S};

	cr_assert_eq(resolve(), NET_PENDING);
	expect_question();
	for (unsigned i = 0; i < 3; i++) {
		net_rig_run_until(&r, r.now + wait_ns[i]);
		expect_question();
	}
	net_rig_run_until(&r, r.now + 1 * S);
	cr_expect_eq(resolve(), NET_NO_ROUTE);
}

Test(net_shared, a_neighbour_that_moves_is_followed_at_once)
{
	uint64_t before;

	peer_is_known();
	before = net_generation(r.n);
	net_told_neighbour(r.n, r.now, PORT, &peer, other_mac); /* it is the router that counts */
	cr_expect_eq(net_generation(r.n), before);
	net_told_neighbour(r.n, r.now, PORT, &router, other_mac);
	cr_expect_neq(net_generation(r.n), before);
	cr_assert_eq(resolve(), NET_RESOLVED);
	cr_expect_arr_eq(r.hop.dmac, other_mac, 6);
}

Test(net_shared, a_new_router_is_followed_when_routes_change)
{
	struct net_ip second = net_rig_ip("192.0.2.253");

	peer_is_known();
	net_told_changes(r.n, r.now, PORT);
	net_rig_run_until(&r, r.now + 1 * S);
	expect_question();
	told(&second, other_mac);
	cr_assert_eq(resolve(), NET_RESOLVED);
	cr_expect_arr_eq(r.hop.dmac, other_mac, 6);
	net_told_neighbour(r.n, r.now, PORT, &router, peer_mac); /* no longer of interest */
	cr_assert_eq(resolve(), NET_RESOLVED);
	cr_expect_arr_eq(r.hop.dmac, other_mac, 6);
}

/* ip neigh flush: the old MAC holds until the kernel, asked again, finds no neighbour. */
Test(net_shared, a_flushed_table_costs_nothing_but_a_question)
{
	peer_is_known();
	net_told_neighbour(r.n, r.now, PORT, &router, NULL);
	expect_question();
	cr_assert_eq(resolve(), NET_RESOLVED);
	cr_expect_arr_eq(r.hop.dmac, peer_mac, 6);
	net_rig_run_until(&r, r.now + 60 * S);
	cr_expect_neq(resolve(), NET_RESOLVED);
}

/* The kernel keeps an entry that is used, so it is asked for it as long as it is. */
Test(net_shared, what_is_in_use_is_asked_for_again)
{
	struct net_question q;

	peer_is_known();
	for (unsigned i = 0; i < 35; i++) {
		net_confirm(r.n, r.now, &peer, peer_mac);
		net_rig_run_until(&r, r.now + 1 * S);
	}
	cr_expect(net_question(r.n, &q));
}

Test(net_shared, a_changed_mac_of_ours_is_taken)
{
	static const uint8_t new_mac[6] = {2, 0, 0, 0, 0x77, 0x12};
	uint64_t before;

	peer_is_known();
	before = net_generation(r.n);
	net_link_change(r.n, 1, my_mac, 1500);
	cr_expect_eq(net_generation(r.n), before);
	net_link_change(r.n, 1, new_mac, 3000);
	cr_expect_neq(net_generation(r.n), before);
	cr_assert_eq(resolve(), NET_RESOLVED);
	cr_expect_arr_eq(r.hop.smac, new_mac, 6);
	cr_expect_eq(r.hop.mtu, 3000);
}

Test(net_shared, answers_about_other_ports_are_nothing)
{
	cr_assert_eq(resolve(), NET_PENDING);
	net_told_way(r.n, r.now, 0, &peer, &router);
	net_told_neighbour(r.n, r.now, 0, &router, peer_mac);
	net_told_changes(r.n, r.now, 7);
	cr_expect_eq(resolve(), NET_PENDING);
}

/* ---- floods: of what any station, or a daemon of routes, brings about ---- */

/* What changes all the time is asked about all the same. */
Test(net_shared, routes_that_go_on_changing_do_not_put_questions_off)
{
	struct net_question q;
	bool asked = false;

	peer_is_known();
	for (unsigned i = 0; i < 1000 && !asked; i++) {
		net_told_changes(r.n, r.now, PORT);
		net_rig_run_until(&r, r.now + MS);
		asked = net_question(r.n, &q);
	}
	cr_expect(asked);
}

#define MANY 64u

static struct net_ip
destination(uint32_t i)
{
	struct net_ip ip = peer;

	ip.b[15] = (uint8_t)i;
	return ip;
}

static enum net_resolve
destination_resolve(uint32_t i)
{
	const struct net_ip ip = destination(i);

	return net_resolve(r.n, ++r.now, 1, &me, &ip, &r.hop);
}

/* Each destination is of one of four hops, and then of another; those that come later push out
 * others, whose hops tell nothing any more. */
Test(net_shared, a_neighbour_is_followed_for_all_that_it_leads_to)
{
	struct net_question q;

	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < MANY; i++) {
			const struct net_ip ip = destination(i);
			struct net_ip hop = router;

			(void)destination_resolve(i);
			while (net_question(r.n, &q))
				;
			hop.b[15] = (uint8_t)(240 + (i + round) % 4);
			net_told_way(r.n, r.now, PORT, &ip, &hop);
			net_told_neighbour(r.n, r.now, PORT, &hop, peer_mac);
			cr_assert_eq(destination_resolve(i), NET_RESOLVED);
		}
		for (uint32_t k = 0; k < 4; k++) {
			uint8_t mac[6] = {2, 1, 0, 0, (uint8_t)round, (uint8_t)k};
			struct net_ip hop = router;

			hop.b[15] = (uint8_t)(240 + k);
			net_told_neighbour(r.n, r.now, PORT, &hop, mac);
		}
		for (uint32_t i = MANY - 4; i < MANY; i++) {
			cr_assert_eq(destination_resolve(i), NET_RESOLVED);
			cr_expect_eq(r.hop.dmac[4], round);
			cr_expect_eq(r.hop.dmac[5], (i + round) % 4);
		}
	}
}
