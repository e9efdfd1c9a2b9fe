/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared receive queues: created, armed and destroyed here; receives go through shared memory. */
#include <stdlib.h>
#include <string.h>

#include "control/daemon.h"
#include "lcore/call.h"
#include "lcore/shard.h"
#include "object/pd.h"
#include "object/segment.h"
#include "object/srq.h"
#include "platform/eal.h"
#include "session/class.h"
#include "session/leave.h"
#include "session/send.h"
#include "session/session.h"

struct srq_making {
	struct ndd_srq *srq;
	struct roce_client *client;
	void *shared;
	uint32_t depth, sge;
};

static void
on_shard_srq_create(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct srq_making *c = arg;

	(void)now_ns;
	c->srq->engine = roce_srq_create(shard->engine, c->client, c->srq->pd->engine, c->shared,
		c->depth, c->sge, &c->srq->owner);
}

static enum ndsh_status
srq_create(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_srq_create *m = msg;
	uint32_t bytes = ndsh_srq_bytes(m->depth, m->sge);
	struct srq_making c = {.client = &s->lcore->client, .depth = m->depth, .sge = m->sge};
	struct ndd_pd *pd = ndd_slots_get(&s->pds, m->pd);
	struct ndd_segment *seg;

	if (pd == NULL)
		return NDSH_ERR_INVALID_ID;
	if (bytes == 0)
		return NDSH_ERR_INVALID_PARAMETER;
	c.shared = ndd_segment_block(s, m->segment, m->offset, bytes, &seg);
	if (c.shared == NULL)
		return NDSH_ERR_INVALID_PARAMETER;
	c.srq = calloc(1, sizeof(*c.srq));
	if (c.srq == NULL)
		return NDSH_ERR_NO_RESOURCES;
	c.srq->pd = pd;
	c.srq->segment = seg;
	c.srq->sge = m->sge;
	c.srq->owner = (struct ndd_owner){.session = s->serial, .object = ++s->daemon->serial};
	memset(c.shared, 0, sizeof(struct ndsh_srq_page));
	c.srq->owner.handle = ndd_slots_add(&s->srqs, c.srq);
	if (c.srq->owner.handle != NDD_SLOT_NONE)
		ndd_shard_call(s->shard, on_shard_srq_create, &c);
	if (c.srq->engine == NULL) {
		ndd_slots_remove(&s->srqs, c.srq->owner.handle);
		free(c.srq);
		return NDSH_ERR_NO_RESOURCES;
	}
	pd->users++;
	seg->users++;
	r->id.id = c.srq->owner.handle;
	return NDSH_OK;
}

struct srq_resize {
	struct roce_srq *engine;
	void *shared;
	uint32_t depth;
};

static void
on_shard_srq_resize(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct srq_resize *z = arg;

	(void)shard;
	(void)now_ns;
	roce_srq_resize(z->engine, z->shared, z->depth);
}

/* When this returns, the daemon no longer uses the block before: its segment may go. */
enum ndsh_status
ndd_srq_resize(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_srq_resize *m = msg;
	struct ndd_srq *srq = ndd_slots_get(&s->srqs, m->srq);
	struct srq_resize z = {.depth = m->depth};
	struct ndd_segment *seg;
	uint32_t bytes;

	if (srq == NULL)
		return NDSH_ERR_INVALID_ID;
	bytes = ndsh_srq_bytes(m->depth, srq->sge);
	if (bytes == 0)
		return NDSH_ERR_INVALID_PARAMETER;
	z.shared = ndd_segment_block(s, m->segment, m->offset, bytes, &seg);
	if (z.shared == NULL)
		return NDSH_ERR_INVALID_PARAMETER;
	memset(z.shared, 0, sizeof(struct ndsh_srq_page));
	z.engine = srq->engine;
	ndd_shard_call(s->shard, on_shard_srq_resize, &z);
	srq->segment->users--;
	srq->segment = seg;
	seg->users++;
	r->id.id = m->srq;
	return NDSH_OK;
}

struct srq_arm {
	struct roce_srq *engine;
	uint32_t limit;
};

static void
on_shard_srq_arm(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct srq_arm *a = arg;

	(void)now_ns;
	roce_srq_arm(shard->engine, a->engine, a->limit);
}

enum ndsh_status
ndd_srq_arm(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_srq_arm *m = msg;
	struct ndd_srq *srq = ndd_slots_get(&s->srqs, m->srq);
	struct srq_arm a = {.limit = m->limit};

	(void)r;
	if (srq == NULL)
		return NDSH_ERR_INVALID_ID;
	a.engine = srq->engine;
	ndd_shard_call(s->shard, on_shard_srq_arm, &a);
	return NDSH_OK;
}

/* The lcore sees the limit, but it is the control thread that tells the client. */
enum ndsh_status
ndd_srq_affinity(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	if (ndd_slots_get(&s->srqs, ((const struct ndsh_id_msg *)msg)->id) == NULL)
		return NDSH_ERR_INVALID_ID;
	r->affinity.mask = ndd_lcore_cpus(NDD_LCORE_OF_CONTROL, &r->affinity.group);
	return NDSH_OK;
}

void
ndd_srq_on_limit(struct ndd_session *s, const struct ndd_event *ev)
{
	const struct ndsh_ev_srq m = {.h.type = NDSH_EV_SRQ_LIMIT, .srq = ev->handle};
	const struct ndd_srq *srq = ndd_slots_get(&s->srqs, ev->handle);

	if (srq != NULL && srq->owner.object == ev->object)
		ndd_session_send(s, &m, sizeof(m), -1);
}

static bool
srq_leave(struct ndd_shard *shard, struct ndd_session *s, void *object)
{
	(void)s;
	return roce_srq_destroy(shard->engine, ((struct ndd_srq *)object)->engine);
}

static void
srq_free(struct ndd_session *s, void *object)
{
	struct ndd_srq *srq = object;

	srq->pd->users--;
	srq->segment->users--;
	ndd_slots_remove(&s->srqs, srq->owner.handle);
	free(srq);
}

static enum ndsh_status
srq_destroy(struct ndd_session *s, void *object)
{
	if (((struct ndd_srq *)object)->users != 0)
		return NDSH_ERR_BUSY;
	ndd_object_free(&ndd_srq_class, s, object);
	return NDSH_OK;
}

static uint32_t
srqs_most(const struct config *cfg)
{
	return cfg->max_cqs;
}

const struct ndd_class ndd_srq_class = {
	.name = "shared receive queues",
	.table = offsetof(struct ndd_session, srqs),
	.share = CONFIG_SHARE_receive_queues,
	.most = srqs_most,
	.create = srq_create,
	.destroy = srq_destroy,
	.leave = srq_leave,
	.free = srq_free,
};
