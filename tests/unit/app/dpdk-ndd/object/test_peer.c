/* SPDX-License-Identifier: BSD-3-Clause */
/* Which queue pair of ours has which of a peer. */
#include "object/peer.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "control/daemon.h"
#include "object/qp.h"
#include "rigs/lone_shard.h"
#include "rigs/net_rig.h"
#include "rigs/zeroed.h"
#include "session/session.h"

#define MANY 64u

struct world {
	struct ndd d;
	struct ndd_shard shard; /* it does not run: its calls are made at once */
	struct ndd_session s[2];
	struct ndd_qp qp[MANY];
};

static struct world *
world_new(void)
{
	static struct world w;
	struct roce_shard_cfg cfg = lone_config();

	cfg.max_qps = 8;
	w.shard.engine = lone_shard_new(&cfg);
	for (unsigned i = 0; i < 2; i++) {
		w.s[i].daemon = &w.d;
		w.s[i].shard = &w.shard;
	}
	return &w;
}

/* A queue pair of its own is no obstacle; another session's is, as long as it is neither in error
 * nor given back. */
Test(peer, it_is_taken_by_another_session)
{
	const struct roce_gid gid = net_rig_gid("10.77.0.2"), other = net_rig_gid("10.77.0.3");
	struct world *w = world_new();

	cr_expect(not(ndd_peer_is_taken(&w->s[1], &gid, 0x123)));
	ndd_peer_take(&w->s[0], &w->qp[0], &gid, 0x123, true);
	cr_expect(ndd_peer_is_taken(&w->s[1], &gid, 0x123));
	cr_expect(not(ndd_peer_is_taken(&w->s[0], &gid, 0x123)), "its own");
	cr_expect(not(ndd_peer_is_taken(&w->s[1], &gid, 0x124)));
	cr_expect(not(ndd_peer_is_taken(&w->s[1], &other, 0x123)));
	ndd_qp_has_failed(&w->qp[0]);
	cr_expect(w->qp[0].failed);
	cr_expect(not(ndd_peer_is_taken(&w->s[1], &gid, 0x123)));
	ndd_peer_take(&w->s[0], &w->qp[0], &other, 0x123, true);
	cr_expect(not(ndd_peer_is_taken(&w->s[1], &gid, 0x123)), "it has another one now");
	cr_expect(ndd_peer_is_taken(&w->s[1], &other, 0x123));
	for (unsigned i = 0; i < 2; i++)
		ndd_peer_give(&w->qp[0]);
	cr_expect(not(ndd_peer_is_taken(&w->s[1], &other, 0x123)));
}

/* Each of many is found, and the last one that goes is the last that was there. */
Test(peer, many_of_them)
{
	const struct roce_gid gid = net_rig_gid("10.77.0.2");
	struct world *w = world_new();

	for (uint32_t i = 0; i < MANY; i++)
		ndd_peer_take(&w->s[0], &w->qp[i], &gid, 0x100 + i % (MANY / 2), false);
	for (uint32_t i = 0; i < MANY; i++) {
		cr_expect(ndd_peer_is_taken(&w->s[1], &gid, 0x100 + i % (MANY / 2)), "%u", i);
		ndd_peer_give(&w->qp[i]);
		cr_expect(eq(int, ndd_peer_is_taken(&w->s[1], &gid, 0x100 + i % (MANY / 2)),
			i < MANY / 2));
	}
}

/* A client may give only so many of its own the same one by hand: what evicts them pays for each.
 * Those in error, of its connections, and of other sessions do not count. */
Test(peer, as_many_of_one_session_as_may)
{
	const struct roce_gid gid = net_rig_gid("10.77.0.2"), other = net_rig_gid("10.77.0.3");
	struct world *w = world_new();

	for (uint32_t i = 0; i < NDD_PEER_MOST; i++) {
		cr_expect(not(ndd_peer_is_crowded(&w->s[0], &w->qp[MANY - 1], &gid, 0x123)));
		ndd_peer_take(&w->s[0], &w->qp[i], &gid, 0x123, true);
		ndd_peer_take(&w->s[1], &w->qp[NDD_PEER_MOST + i], &gid, 0x123, false);
	}
	cr_expect(ndd_peer_is_crowded(&w->s[0], &w->qp[MANY - 1], &gid, 0x123));
	cr_expect(not(ndd_peer_is_crowded(&w->s[0], &w->qp[1], &gid, 0x123)), "it is one of them");
	cr_expect(not(ndd_peer_is_crowded(&w->s[0], &w->qp[MANY - 1], &gid, 0x124)));
	cr_expect(not(ndd_peer_is_crowded(&w->s[0], &w->qp[MANY - 1], &other, 0x123)));
	cr_expect(not(ndd_peer_is_crowded(&w->s[1], &w->qp[MANY - 1], &gid, 0x123)));
	ndd_qp_has_failed(&w->qp[0]);
	cr_expect(not(ndd_peer_is_crowded(&w->s[0], &w->qp[MANY - 1], &gid, 0x123)));
}

/* What was given by hand to another session ends; what the CM agreed on does not, nor another
 * peer's, nor the session's own. */
Test(peer, a_connection_takes_what_was_given_by_hand)
{
	const struct roce_gid gid = net_rig_gid("10.77.0.2");
	struct world *w = world_new();
	const uint32_t pd = roce_pd_create(w->shard.engine);
	struct roce_cq *cq = roce_cq_create(w->shard.engine, NULL, zeroed(65536), 64, NULL);
	void *block[5];

	for (unsigned i = 0; i < 5; i++) {
		w->qp[i].engine = lone_qp_new(w->shard.engine, pd, cq, &block[i]);
		cr_assert_not_null(w->qp[i].engine);
	}
	ndd_peer_take(&w->s[0], &w->qp[0], &gid, 0x123, true);
	ndd_peer_take(&w->s[0], &w->qp[1], &gid, 0x123, false);
	ndd_peer_take(&w->s[1], &w->qp[2], &gid, 0x123, true);
	ndd_peer_take(&w->s[0], &w->qp[3], &gid, 0x124, true);
	ndd_peer_take(&w->s[0], &w->qp[4], &gid, 0x123, true);
	ndd_peer_evict(&w->s[1], &gid, 0x123);
	for (unsigned i = 0; i < 5; i++)
		cr_expect(eq(int, w->qp[i].failed, i == 0 || i == 4), "%u", i);
}
