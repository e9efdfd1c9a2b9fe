/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fast-register regions and privileged tokens. Both reach whatever the session has shared: the
 * arena that its admin ring's registrations are made from, too. They count against the same limit.
 */
#include <stdlib.h>

#include "session/session.h"

/* ---- regions ---- */

struct fr_create {
	struct ndd_fr *fr;
	struct roce_admin *admin;
	struct roce_frmr_cfg cfg;
	uint32_t slot;
	uint64_t secret;
};

static void
on_shard_fr_create(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct fr_create *c = arg;

	(void)now_ns;
	if (!roce_admin_take(c->admin))
		return;
	c->fr->engine = roce_frmr_create(shard->engine, &c->cfg, c->fr->mem, &c->slot, &c->secret);
	if (c->fr->engine == NULL)
		roce_admin_give(c->admin);
}

static void
on_shard_fr_destroy(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct fr_create *c = arg;

	(void)now_ns;
	roce_frmr_destroy(shard->engine, c->fr->engine);
	roce_admin_give(c->admin);
}

enum ndsh_status
ndd_fr_create(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_fr_create *m = msg;
	struct ndd_pd *pd = ndd_slots_get(&s->pds, m->pd);
	struct ndd_segment *seg;
	struct fr_create c = {.admin = &s->lcore->admin,
		.cfg = {.max_pages = m->max_pages,
			.remote = m->remote != 0,
			.arena = &s->lcore->admin.arena}};

	if (pd == NULL)
		return NDSH_ERR_INVALID_ID;
	if (m->max_pages == 0 || m->max_pages > NDSH_FR_PAGES_MAX)
		return NDSH_ERR_INVALID_PARAMETER;
	c.cfg.pd = pd->engine;
	c.cfg.lists = ndd_segment_block(s, m->segment, m->offset,
		(uint64_t)NDSH_FR_LISTS * m->max_pages * sizeof(uint64_t), &seg);
	if (c.cfg.lists == NULL)
		return NDSH_ERR_INVALID_PARAMETER;
	c.fr = calloc(1, sizeof(*c.fr));
	if (c.fr == NULL)
		return NDSH_ERR_NO_RESOURCES;
	c.fr->pd = pd;
	c.fr->segment = seg;
	c.fr->mem = calloc(1, roce_frmr_bytes(m->max_pages));
	c.fr->id = c.fr->mem != NULL ? ndd_slots_add(&s->frs, c.fr) : NDD_SLOT_NONE;
	if (c.fr->id != NDD_SLOT_NONE)
		ndd_shard_call(s->shard, on_shard_fr_create, &c);
	if (c.fr->engine == NULL) {
		ndd_slots_remove(&s->frs, c.fr->id);
		free(c.fr->mem);
		free(c.fr);
		return NDSH_ERR_NO_RESOURCES;
	}
	pd->users++;
	seg->users++;
	r->fr.fr = c.fr->id;
	r->fr.slot = c.slot;
	r->fr.secret = c.secret;
	return NDSH_OK;
}

void
ndd_fr_free(struct ndd_session *s, struct ndd_fr *fr)
{
	struct fr_create c = {.fr = fr, .admin = &s->lcore->admin};

	ndd_shard_call(s->shard, on_shard_fr_destroy, &c);
	fr->pd->users--;
	fr->segment->users--;
	ndd_slots_remove(&s->frs, fr->id);
	free(fr->mem);
	free(fr);
}

enum ndsh_status
ndd_fr_destroy(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	struct ndd_fr *fr = ndd_slots_get(&s->frs, ((const struct ndsh_id_msg *)msg)->id);

	(void)r;
	if (fr == NULL)
		return NDSH_ERR_INVALID_ID;
	ndd_fr_free(s, fr);
	return NDSH_OK;
}

/* ---- privileged tokens ---- */

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

void
ndd_pd_close_arena(struct ndd_shard *shard, struct roce_admin *admin, struct ndd_pd *pd)
{
	if (pd->arena_key == NULL)
		return;
	roce_arena_close(shard->engine, pd->arena_key);
	pd->arena_key = NULL;
	roce_admin_give(admin);
}
