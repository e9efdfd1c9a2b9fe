/* SPDX-License-Identifier: BSD-3-Clause */
/* What a principal has of its wake-ups when it comes to a shard, the first time or again. */
#include "lcore/party.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <unistd.h>

#include "platform/clock.h"
#include "rigs/ndd_rig.h"

static int
open_by(struct ndd_rig *r, const char *label, struct ndd_session **s)
{
	ndd_rig_connect_by(r, label);
	return ndd_rig_open(r, s);
}

/* The shard's own time may be that of a turn long ago. */
Test(party, a_party_has_one_wake_up_when_it_begins)
{
	static const struct config_principal rule;
	struct ndd_rig *r = ndd_rig_red_and_blue(&rule, &rule, true);
	const uint64_t now_ns = ndd_now_ns() + 100 * NDD_S;
	struct ndd_party party;

	cr_assert(ndd_party_begin(&r->shard, &party,
		&(struct ndd_party_cfg){.weight = 1, .wakeups = 10, .now_ns = now_ns}));
	cr_expect(eq(u64, party.engine.wakeups.tokens.full_ns, now_ns + 9 * (NDD_S / 10)));
}

/* A user's wake-ups on a shard are those that it left there, whether or not it has had sessions
 * elsewhere since. */
Test(party, a_user_that_comes_again_has_the_wake_ups_that_it_left)
{
	static const struct config_principal rule, each = {.each_user = true, .wakeups = 10};
	struct ndd_rig *r = ndd_rig_red_and_blue(&each, &rule, true);

	for (unsigned stays = 0; stays < 2; stays++) {
		const uint64_t came_ns = ndd_now_ns();
		struct ndd_session *s;
		int client = open_by(r, "red", &s);
		struct ndd_principal *red = s->account.principal;
		struct roce_wakeups *w = &red->party[0]->engine.wakeups;
		uint64_t left_ns;

		w->tokens.full_ns = left_ns = ndd_now_ns() + 100 * NDD_S;
		red->refs += stays;
		close(client);
		ndd_rig_settle(r);
		client = open_by(r, "red", &s);
		w = &s->account.principal->party[0]->engine.wakeups;
		cr_expect(eq(u64, w->tokens.full_ns, left_ns), "stays: %u", stays);
		cr_expect(ge(u64, w->until_ns, came_ns), "it rests");
		close(client);
		ndd_rig_settle(r);
	}
}
