/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fast-register memory regions. They reach all memory that the session shares (the engine's arena,
 * as registrations by the admin ring do) and count against the same limit as these.
 */
#include <stdlib.h>

#include "config/config.h"
#include "lcore/call.h"
#include "lcore/shard.h"
#include "object/pd.h"
#include "object/segment.h"
#include "session/class.h"
#include "session/session.h"

struct ndd_frmr {
	uint32_t id;
	struct roce_mr *engine;
	void *mem; /* the engine's */
	struct ndd_segment *segment;
	struct ndd_pd *pd;
};

struct frmr_change {
	struct ndd_frmr *frmr;
	struct roce_admin *admin;
	struct roce_frmr_cfg cfg;
	uint32_t slot;
	uint64_t secret;
};

static void
on_shard_frmr_create(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct frmr_change *c = arg;

	(void)now_ns;
	if (!roce_admin_take(c->admin))
		return;
	c->frmr->engine =
		roce_frmr_create(shard->engine, &c->cfg, c->frmr->mem, &c->slot, &c->secret);
	if (c->frmr->engine == NULL)
		roce_admin_give(c->admin);
}

static enum ndsh_status
frmr_create(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_frmr_create *m = msg;
	struct ndd_pd *pd = ndd_slots_get(&s->pds, m->pd);
	struct ndd_segment *seg;
	struct frmr_change c = {.admin = &s->lcore->admin,
		.cfg = {.max_pages = m->max_pages,
			.remote = m->remote != 0,
			.arena = &s->lcore->admin.arena}};

	if (pd == NULL)
		return NDSH_ERR_INVALID_ID;
	if (m->max_pages == 0 || m->max_pages > NDSH_FRMR_PAGES_MAX)
		return NDSH_ERR_INVALID_PARAMETER;
	c.cfg.pd = pd->engine;
	c.cfg.lists = ndd_segment_block(s, m->segment, m->offset,
		(uint64_t)NDSH_FRMR_LISTS * m->max_pages * sizeof(uint64_t), &seg);
	if (c.cfg.lists == NULL)
		return NDSH_ERR_INVALID_PARAMETER;
	c.frmr = calloc(1, sizeof(*c.frmr));
	if (c.frmr == NULL)
		return NDSH_ERR_NO_RESOURCES;
	c.frmr->pd = pd;
	c.frmr->segment = seg;
	c.frmr->mem = calloc(1, roce_frmr_bytes(m->max_pages));
	c.frmr->id = c.frmr->mem != NULL ? ndd_slots_add(&s->frmrs, c.frmr) : NDD_SLOT_NONE;
	if (c.frmr->id != NDD_SLOT_NONE)
		ndd_shard_call(s->shard, on_shard_frmr_create, &c);
	if (c.frmr->engine == NULL) {
		ndd_slots_remove(&s->frmrs, c.frmr->id);
		free(c.frmr->mem);
		free(c.frmr);
		return NDSH_ERR_NO_RESOURCES;
	}
	pd->users++;
	seg->users++;
	r->frmr.fr = c.frmr->id;
	r->frmr.slot = c.slot;
	r->frmr.secret = c.secret;
	return NDSH_OK;
}

/* Its registration ends with it, if it has one. */
static bool
frmr_leave(struct ndd_shard *shard, struct ndd_session *s, void *object)
{
	roce_frmr_destroy(shard->engine, ((struct ndd_frmr *)object)->engine);
	roce_admin_give(&s->lcore->admin);
	return true;
}

static void
frmr_free(struct ndd_session *s, void *object)
{
	struct ndd_frmr *frmr = object;

	frmr->pd->users--;
	frmr->segment->users--;
	ndd_slots_remove(&s->frmrs, frmr->id);
	free(frmr->mem);
	free(frmr);
}

static uint32_t
frmrs_most(const struct config *cfg)
{
	return cfg->max_mrs;
}

const struct ndd_class ndd_frmr_class = {
	.name = "fast-register regions",
	.table = offsetof(struct ndd_session, frmrs),
	.share = CONFIG_SHARE_COUNT,
	.most = frmrs_most,
	.create = frmr_create,
	.small = true,
	.leave = frmr_leave,
	.free = frmr_free,
};
