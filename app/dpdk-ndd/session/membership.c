/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/membership.h"

#include <stdlib.h>

#include "control/daemon.h"
#include "lcore/call.h"
#include "lcore/party.h"
#include "lcore/shard.h"
#include "platform/log.h"
#include "session/class.h"
#include "session/session.h"

static struct ndd_party_cfg
party_cfg(const struct ndd_principal *p, uint32_t shard)
{
	const struct config_principal *rule = p->rule;

	return (struct ndd_party_cfg){
		.weight = ndd_principal_weight(p),
		.wakeups = rule != NULL ? rule->wakeups : 0,
		.woken = p->woken[shard],
		.requests_limit = rule != NULL && rule->has_limit[CONFIG_SHARE_requests]
					  ? rule->limit[CONFIG_SHARE_requests]
					  : ROCE_CAP_FAIR,
		.requests_reserve = rule != NULL ? rule->reserve[CONFIG_SHARE_requests] : 0,
		.regions_limit = rule != NULL && rule->has_limit[CONFIG_SHARE_regions]
					 ? rule->limit[CONFIG_SHARE_regions]
					 : BASE_SHARE_FAIR,
		.regions_reserve = rule != NULL ? rule->reserve[CONFIG_SHARE_regions] : 0,
	};
}

struct joining {
	struct ndd_party *party;
	struct ndd_party_cfg cfg;
	struct ndd_shard_session *session; /* or NULL */
	bool first, done;
};

static void
on_shard_join(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct joining *j = arg;

	j->cfg.now_ns = now_ns;
	j->done = !j->first || ndd_party_begin(shard, j->party, &j->cfg);
	if (!j->done || j->session == NULL)
		return;
	roce_client_init(&j->session->client, &j->party->engine);
	roce_admin_share(&j->session->admin, &shard->regions, &j->party->regions);
}

/* One more member; the first makes the party. */
static bool
party_join(struct ndd_principal *p, struct ndd_shard *shard, struct ndd_shard_session *session)
{
	struct ndd_party **at = &p->party[shard->id];
	struct joining j = {.first = *at == NULL, .session = session};

	if (j.first)
		*at = calloc(1, sizeof(**at));
	j.party = *at;
	if (*at == NULL)
		return false;
	j.cfg = party_cfg(p, shard->id);
	ndd_shard_call(shard, on_shard_join, &j);
	if (j.done) {
		p->members[shard->id]++;
		return true;
	}
	free(*at);
	*at = NULL;
	return false;
}

bool
ndd_session_join(struct ndd_session *s)
{
	s->joined = party_join(s->account.principal, s->shard, s->lcore);
	if (!s->joined)
		ndd_account_refuse(&s->account, "no memory, or no room on shard %u", s->shard->id);
	return s->joined;
}

bool
ndd_principals_join(struct ndd *d)
{
	struct ndd_principal *p;

	TAILQ_FOREACH (p, &d->accounts.principals, next)
		for (uint32_t i = 0; i < d->plane.shards; i++)
			if (!party_join(p, d->plane.shard[i], NULL)) {
				ndd_error("principal \"%s\": shard %u has not the requests that "
					  "it reserves (reserves.requests, limits.shard_wqes)",
					p->name, i);
				return false;
			}
	return true;
}

/* ---- end ------------------------------------------------------------------------------------ */

struct leaving {
	struct ndd_party *party;
	struct roce_client *client; /* or NULL: it has left */
	bool last, done;
};

static void
on_shard_leave(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct leaving *l = arg;

	(void)now_ns;
	if (l->client != NULL && roce_client_fini(shard->engine, l->client))
		l->client = NULL;
	l->done = l->client == NULL && (!l->last || ndd_party_end(shard, l->party));
}

/* Requests of queue pairs that are no more may still be on their way back to the pool: then the
 * last member tries again. */
static bool
session_leave(struct ndd_session *s)
{
	struct ndd_principal *p = s->account.principal;
	struct leaving l = {0};

	if (!s->joined)
		return true;
	l.party = p->party[s->shard->id];
	l.client = s->ending.part == 0 ? &s->lcore->client : NULL; /* part 1: the client has left */
	l.last = p->members[s->shard->id] == 1;
	ndd_shard_call(s->shard, on_shard_leave, &l);
	s->ending.part = l.client == NULL;
	if (!l.done)
		return false;
	p->members[s->shard->id]--;
	if (l.last) {
		p->woken[s->shard->id] = l.party->engine.wakeups.tokens;
		free(l.party);
		p->party[s->shard->id] = NULL;
	}
	return true;
}

const struct ndd_class ndd_membership_class = {.name = "membership", .end = session_leave};
