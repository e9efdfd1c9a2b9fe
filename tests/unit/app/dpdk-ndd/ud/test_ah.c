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
	ndd_ah_tick(&r->d, ndd_now_ns());
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
	ndd_ah_tick(&r->d, ndd_now_ns());
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
