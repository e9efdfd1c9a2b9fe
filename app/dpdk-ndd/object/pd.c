/* SPDX-License-Identifier: BSD-3-Clause */
/* Protection domains. The engine's half is made and unmade on the shard's lcore. */
#include <stdlib.h>

#include "config/config.h"
#include "lcore/call.h"
#include "lcore/shard.h"
#include "object/pd.h"
#include "session/class.h"
#include "session/leave.h"
#include "session/session.h"

/* The shard has a list of its own of the domains that the session's admin ring may name. */
struct pd_change {
	struct ndd_pd *pd;
	struct roce_admin *admin;
};

static void
on_shard_pd_create(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct pd_change *c = arg;

	(void)now_ns;
	c->pd->engine = roce_pd_create(shard->engine);
	if (c->pd->engine != 0)
		roce_admin_add_pd(c->admin, c->pd->id, c->pd->engine);
}

/* On the shard: the domain's privileged token ends. */
static void
pd_close_arena(struct ndd_shard *shard, struct roce_admin *admin, struct ndd_pd *pd)
{
	if (pd->arena_key == NULL)
		return;
	roce_arena_close(shard->engine, pd->arena_key);
	pd->arena_key = NULL;
	roce_admin_give(admin);
}

/* Not if regions are of it. */
static bool
pd_leave(struct ndd_shard *shard, struct ndd_session *s, void *object)
{
	struct ndd_pd *pd = object;

	pd_close_arena(shard, &s->lcore->admin, pd);
	if (!roce_pd_destroy(shard->engine, pd->engine))
		return false;
	roce_admin_remove_pd(&s->lcore->admin, pd->id);
	return true;
}

static void
pd_free(struct ndd_session *s, void *object)
{
	struct ndd_pd *pd = object;

	ndd_slots_remove(&s->pds, pd->id);
	free(pd);
}

static enum ndsh_status
pd_create(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	struct pd_change c = {.pd = calloc(1, sizeof(*c.pd)), .admin = &s->lcore->admin};

	(void)msg;
	if (c.pd == NULL)
		return NDSH_ERR_NO_RESOURCES;
	c.pd->id = ndd_slots_add(&s->pds, c.pd);
	if (c.pd->id != NDD_SLOT_NONE)
		ndd_shard_call(s->shard, on_shard_pd_create, &c);
	if (c.pd->engine == 0) {
		pd_free(s, c.pd);
		return NDSH_ERR_NO_RESOURCES;
	}
	r->id.id = c.pd->id;
	return NDSH_OK;
}

static enum ndsh_status
pd_destroy(struct ndd_session *s, void *object)
{
	if (((struct ndd_pd *)object)->users != 0 || !ndd_object_leave(&ndd_pd_class, s, object))
		return NDSH_ERR_BUSY;
	pd_free(s, object);
	return NDSH_OK;
}

static uint32_t
pds_most(const struct config *cfg)
{
	return cfg->max_qps;
}

const struct ndd_class ndd_pd_class = {
	.name = "protection domains",
	.table = offsetof(struct ndd_session, pds),
	.share = CONFIG_SHARE_domains,
	.most = pds_most,
	.create = pd_create,
	.destroy = pd_destroy,
	.small = true,
	.leave = pd_leave,
	.free = pd_free,
};

/* ---- privileged tokens --------------------------------------------------------------------- */

/* The token reaches all memory that the session shares; it counts as a registration. */
struct pd_token {
	struct roce_admin *admin;
	struct ndd_pd *pd;
	uint32_t key;
};

static void
on_shard_pd_token(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct pd_token *t = arg;

	(void)now_ns;
	if (t->pd->arena_key == NULL && roce_admin_take(t->admin)) {
		t->pd->arena_key = roce_arena_open(shard->engine, t->pd->engine, &t->admin->arena);
		if (t->pd->arena_key == NULL)
			roce_admin_give(t->admin);
	}
	if (t->pd->arena_key != NULL)
		t->key = roce_mr_key(t->pd->arena_key);
}

enum ndsh_status
ndd_pd_token(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	struct pd_token t = {.admin = &s->lcore->admin,
		.pd = ndd_slots_get(&s->pds, ((const struct ndsh_id_msg *)msg)->id)};

	if (t.pd == NULL)
		return NDSH_ERR_INVALID_ID;
	ndd_shard_call(s->shard, on_shard_pd_token, &t);
	r->id.id = t.key;
	return t.key != 0 ? NDSH_OK : NDSH_ERR_NO_RESOURCES;
}
