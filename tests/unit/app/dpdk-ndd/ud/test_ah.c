/* SPDX-License-Identifier: BSD-3-Clause */
/* Address handles of one client, and the neighbours of another. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#include "hostnet/next_hop.h"
#include "rigs/ndd_rig.h"
#include "rigs/net_rig.h"
#include "ud/ah.h"

#define CROWD 40u /* more than the rig's network has room for */

static void
ah_to(struct ndd_rig *r, int client, const char *text)
{
	struct ndsh_ah_create m = {.h.type = NDSH_MSG_AH_CREATE};
	uint8_t reply[NDSH_MSG_BYTES];

	memcpy(m.remote.ip, net_rig_gid(text).raw, 16);
	cr_assert(eq(i32, ndd_rig_ask(r, client, &m, reply), NDSH_OK));
	ndd_followers_tick(&r->d, ndd_now_ns());
}

Test(ah, a_crowd_of_them_leaves_the_neighbours_of_others_alone)
{
	const struct roce_gid me = net_rig_gid(NDD_RIG_IP), peer = net_rig_gid("10.77.0.2");
	struct ndd_rig *r = ndd_rig_new();
	struct net_rig net = {.n = r->d.net, .now = ndd_now_ns()};
	struct ndd_session *victim, *crowd;
	int few, many;
	union {
		struct ndsh_ev_ah ah;
		uint8_t bytes[NDSH_MSG_BYTES];
	} told;
	struct net_nexthop hop;

	r->cfg.principals = 1;
	r->cfg.principal[0] =
		(struct config_principal){.label = "crowd", .allow = true, .weight = 1};
	ndd_rig_principals(r);
	few = ndd_rig_open(r, &victim);
	ndd_rig_connect_by(r, "crowd");
	many = ndd_rig_open(r, &crowd);
	ah_to(r, few, "10.77.0.2");
	net_rig_rx(&net, ARP_PEER_ANSWERS);
	ndd_followers_tick(&r->d, ndd_now_ns());
	cr_assert_gt(ndd_rig_take(few, &told, NULL), 0);
	cr_assert(eq(u16, told.ah.h.type, NDSH_EV_AH));
	cr_assert(eq(i32, told.ah.h.status, NDSH_OK));
	for (unsigned i = 0; i < CROWD; i++) {
		char text[32];

		(void)snprintf(text, sizeof(text), "10.77.0.%u", 10 + i);
		ah_to(r, many, text);
	}
	cr_assert_gt(net_counters(r->d.net)->neighbours_evicted, 0);
	cr_assert(eq(i32,
		ndd_next_hop(r->d.net, ndd_now_ns(),
			ndd_hop_owner(victim->account.principal->number), &me, &peer, &hop),
		NDSH_OK));
}

#define THREE 3u

/* Their messages since this was asked last: how many handles have become ready. */
static uint32_t
ready_now(int client)
{
	union {
		struct ndsh_ev_ah ah;
		uint8_t bytes[NDSH_MSG_BYTES];
	} told;
	uint32_t n = 0;

	while (ndd_rig_take(client, &told, NULL) > 0)
		n += told.ah.h.type == NDSH_EV_AH && told.ah.h.status == NDSH_OK;
	return n;
}

static void
tick_with(struct ndd_rig *r, struct ndd_session *s, int64_t credit_ns)
{
	s->account.principal->credit_ns = credit_ns;
	ndd_followers_tick(&r->d, 0);
}

/* A client with three handles, whose neighbour answers. From here on a tick of the clock is a
 * nanosecond. */
static struct ndd_rig *
three_are_due(int *client, struct ndd_session **s)
{
	struct ndd_rig *r = ndd_rig_new();
	struct net_rig net = {.n = r->d.net, .now = ndd_now_ns()};

	*client = ndd_rig_open(r, s);
	for (unsigned i = 0; i < THREE; i++)
		ah_to(r, *client, "10.77.0.2");
	cr_assert(eq(u32, ready_now(*client), 0));
	net_rig_rx(&net, ARP_PEER_ANSWERS);
	ndd_clock_mult = 1ull << 32;
	return r;
}

/* One answer, or its lack, concludes all handles to an address: others wait for no more of them
 * than of requests. */
Test(ah, what_a_neighbour_concludes_takes_the_time_of_its_client)
{
	struct ndd_session *s;
	int client;
	struct ndd_rig *r = three_are_due(&client, &s);

	tick_with(r, s, 0);
	cr_expect(eq(u32, ready_now(client), 0));
	cr_expect(eq(u64, r->d.followers.deadline_ns, 0), "the next turn comes at once");
	for (unsigned i = 0; i < THREE; i++) {
		tick_with(r, s, 1);
		cr_expect(eq(u32, ready_now(client), 1));
		cr_expect(le(i64, s->account.principal->credit_ns, 0), "it is charged");
	}
	tick_with(r, s, 1);
	cr_expect(eq(u64, r->d.followers.deadline_ns, UINT64_MAX), "nothing is left to do");
	cr_expect(eq(i64, s->account.principal->credit_ns, 1), "and it costs nothing");
}

/* The same of those that follow a neighbour which has moved; none is left
 * behind. */
Test(ah, following_a_neighbour_takes_the_time_of_its_client)
{
	static const uint8_t elsewhere[6] = {2, 9, 9, 9, 9, 9};
	struct ndd_session *s;
	struct ndd_ah *ah;
	int client;
	uint32_t pos = 0;
	struct ndd_rig *r = three_are_due(&client, &s);

	tick_with(r, s, NDD_TURN_NS * 1000);
	cr_assert(eq(u32, ready_now(client), THREE));
	while ((ah = ndd_slots_next(&s->ahs, &pos)) != NULL)
		memcpy(ah->hop.dmac, elsewhere, sizeof(elsewhere));
	r->d.followers.generation--; /* the neighbour is at another place */
	for (unsigned i = 0; i <= THREE; i++) {
		unsigned behind = 0;

		tick_with(r, s, i != 0);
		for (pos = 0; (ah = ndd_slots_next(&s->ahs, &pos)) != NULL;)
			behind += memcmp(ah->hop.dmac, elsewhere, sizeof(elsewhere)) == 0;
		cr_expect(eq(u32, behind, THREE - i), "turn %u", i);
	}
	tick_with(r, s, 1);
	cr_expect(eq(u64, r->d.followers.deadline_ns, UINT64_MAX));
}
