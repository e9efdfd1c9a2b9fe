/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A session's admin ring: made here, served by the lcore of its shard (lib/roce/mem/admin.c). Memory
 * and domains are told to the lcore as they come and go, so that it can judge a registration alone.
 */
#include <string.h>

#include "session/session.h"

struct admin_open {
	struct roce_admin *admin;
	struct roce_cq *cq;
	void *base;
	uint32_t depth;
};

static void
on_shard_admin_open(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct admin_open *o = arg;

	(void)shard;
	(void)now_ns;
	roce_admin_open(o->admin, o->base, o->depth, o->cq);
}

/* Ring and queue stay until the session ends: neither is given back before. */
enum ndsh_status
ndd_admin_create(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_admin_create *m = msg;
	struct ndd_cq *cq = ndd_slots_get(&s->cqs, m->cq);
	struct admin_open o = {.admin = &s->lcore->admin, .depth = m->depth};
	uint32_t bytes = ndsh_admin_bytes(m->depth);
	struct ndd_segment *seg;

	(void)r;
	if (cq == NULL)
		return NDSH_ERR_INVALID_ID;
	if (s->admin_open)
		return NDSH_ERR_INVALID_STATE;
	if (bytes == 0 || cq->users != 0)
		return NDSH_ERR_INVALID_PARAMETER;
	o.base = ndd_segment_block(s, m->segment, m->offset, bytes, &seg);
	if (o.base == NULL)
		return NDSH_ERR_INVALID_PARAMETER;
	memset(o.base, 0, bytes);
	o.cq = cq->engine;
	ndd_shard_call(s->shard, on_shard_admin_open, &o);
	cq->users++;
	seg->users++;
	s->admin_open = true;
	return NDSH_OK;
}

struct admin_purge {
	struct roce_admin *admin;
	uint32_t pd, pos;
	bool done;
};

static void
on_shard_admin_purge(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct admin_purge *p = arg;

	(void)now_ns;
	roce_admin_close(p->admin);
	p->done = roce_admin_purge(shard->engine, p->admin, p->pd, &p->pos);
}

void
ndd_admin_end(struct ndd_session *s)
{
	struct ndd_pd *pd;

	for (uint32_t pos = 0; (pd = ndd_slots_next(&s->pds, &pos)) != NULL;) {
		struct admin_purge p = {.admin = &s->lcore->admin, .pd = pd->id};

		while (!p.done)
			ndd_shard_call(s->shard, on_shard_admin_purge, &p);
	}
}
