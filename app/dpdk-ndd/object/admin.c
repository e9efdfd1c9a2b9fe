/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A session's admin ring: created here, served by the lcore of its shard (lib/roce/mem/admin.c).
 * The lcore is told of memory and domains as they come and go, so that it judges a registration
 * alone.
 */
#include "lcore/call.h"
#include "lcore/shard.h"
#include "object/cq.h"
#include "object/pd.h"
#include "object/segment.h"
#include "session/class.h"
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

/* Ring and completion queue stay in use until the session ends. */
static enum ndsh_status
admin_create(struct ndd_session *s, const void *msg, struct ndd_reply *r)
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
	o.cq = cq->engine;
	ndd_shard_call(s->shard, on_shard_admin_open, &o);
	cq->users++;
	seg->users++;
	s->admin_open = true;
	return NDSH_OK;
}

static void
on_shard_admin_close(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	(void)shard;
	(void)now_ns;
	roce_admin_close(arg);
}

struct admin_purge {
	struct roce_admin *admin;
	bool done;
};

static void
on_shard_admin_purge(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct admin_purge *p = arg;

	(void)now_ns;
	p->done = roce_admin_purge(shard->engine, p->admin);
}

/* Serve no more, and deregister all that is left: some with each call. */
static bool
admin_end(struct ndd_session *s)
{
	struct admin_purge p;

	if (s->lcore == NULL) /* it never came so far as to have one */
		return true;
	if (s->admin_open)
		ndd_shard_call(s->shard, on_shard_admin_close, &s->lcore->admin);
	s->admin_open = false;
	p.admin = &s->lcore->admin;
	ndd_shard_call(s->shard, on_shard_admin_purge, &p);
	return p.done;
}

const struct ndd_class ndd_admin_class = {
	.name = "admin ring", .create = admin_create, .end = admin_end};
