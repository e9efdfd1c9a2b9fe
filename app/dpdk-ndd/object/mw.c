/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory windows: created and destroyed here. They are bound and invalidated by requests in the
 * rings of queue pairs, which the engine carries out.
 */
#include <stdlib.h>

#include "config/config.h"
#include "lcore/call.h"
#include "lcore/shard.h"
#include "object/pd.h"
#include "session/class.h"
#include "session/session.h"

struct ndd_mw {
	uint32_t id;
	struct roce_mr *engine;
	struct ndd_pd *pd;
};

struct mw_change {
	struct ndd_mw *mw;
	struct roce_admin *admin;
	uint32_t type; /* enum ndsh_mw_type */
	uint32_t slot, token;
	uint64_t secret;
};

static void
on_shard_mw_create(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct mw_change *c = arg;

	(void)now_ns;
	if (!roce_admin_take(c->admin))
		return;
	if (c->type == NDSH_MW_DERIVED)
		c->mw->engine =
			roce_mw_create(shard->engine, c->mw->pd->engine, &c->slot, &c->secret);
	else
		c->mw->engine =
			roce_mw_create_keyed(shard->engine, c->mw->pd->engine, c->type, &c->token);
	if (c->mw->engine == NULL)
		roce_admin_give(c->admin);
}

static void
fill_reply(const struct mw_change *c, struct ndsh_mw_create_reply *r)
{
	r->mw = c->mw->id;
	r->slot = c->type == NDSH_MW_DERIVED ? c->slot : c->token >> NDSH_TOKEN_KEY_BITS;
	r->secret = c->type == NDSH_MW_DERIVED ? c->secret : c->token;
}

static enum ndsh_status
mw_create(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_mw_create *m = msg;
	struct ndd_pd *pd = ndd_slots_get(&s->pds, m->pd);
	struct mw_change c = {.admin = &s->lcore->admin, .type = m->type};

	if (pd == NULL)
		return NDSH_ERR_INVALID_ID;
	if (m->type > NDSH_MW_TYPE_2)
		return NDSH_ERR_INVALID_PARAMETER;
	c.mw = calloc(1, sizeof(*c.mw));
	if (c.mw == NULL)
		return NDSH_ERR_NO_RESOURCES;
	c.mw->pd = pd;
	c.mw->id = ndd_slots_add(&s->mws, c.mw);
	if (c.mw->id != NDD_SLOT_NONE)
		ndd_shard_call(s->shard, on_shard_mw_create, &c);
	if (c.mw->engine == NULL) {
		ndd_slots_remove(&s->mws, c.mw->id);
		free(c.mw);
		return NDSH_ERR_NO_RESOURCES;
	}
	pd->users++;
	fill_reply(&c, &r->mw);
	return NDSH_OK;
}

/* A bound one too: the engine invalidates it (R-MW-09). */
static bool
mw_leave(struct ndd_shard *shard, struct ndd_session *s, void *object)
{
	roce_mw_destroy(shard->engine, ((struct ndd_mw *)object)->engine);
	roce_admin_give(&s->lcore->admin);
	return true;
}

static void
mw_free(struct ndd_session *s, void *object)
{
	struct ndd_mw *mw = object;

	mw->pd->users--;
	ndd_slots_remove(&s->mws, mw->id);
	free(mw);
}

static uint32_t
mws_most(const struct config *cfg)
{
	return cfg->max_mrs;
}

const struct ndd_class ndd_mw_class = {
	.name = "memory windows",
	.table = offsetof(struct ndd_session, mws),
	.share = CONFIG_SHARE_COUNT,
	.most = mws_most,
	.create = mw_create,
	.small = true,
	.leave = mw_leave,
	.free = mw_free,
};
