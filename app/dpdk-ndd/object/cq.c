/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queues: made and destroyed here; resize and affinity are in cq_resize.c. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/daemon.h"
#include "lcore/call.h"
#include "lcore/shard.h"
#include "object/cq.h"
#include "object/segment.h"
#include "platform/log.h"
#include "session/adapter.h"
#include "session/async.h"
#include "session/class.h"
#include "session/end.h"
#include "session/leave.h"
#include "session/session.h"

struct cq_making {
	struct ndd_cq *cq;
	struct roce_client *client;
	void *base;
	uint32_t depth;
};

static void
on_shard_cq_create(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct cq_making *c = arg;

	(void)now_ns;
	c->cq->engine = roce_cq_create(shard->engine, c->client, c->base, c->depth, &c->cq->owner);
}

/* Take back what cq_create() has got so far, in any of its stages. */
static void
cq_undo(struct ndd_session *s, struct ndd_cq *cq, int client_end)
{
	if (cq->owner.handle != NDD_SLOT_NONE)
		ndd_slots_remove(&s->cqs, cq->owner.handle);
	ndd_session_bell_free(s, cq->owner.bell);
	if (client_end >= 0)
		close(client_end);
	free(cq);
}

static enum ndsh_status
cq_create(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_cq_create *m = msg;
	uint32_t bytes = ndsh_cq_bytes(m->depth);
	struct cq_making c = {.client = &s->lcore->client, .depth = m->depth};
	struct ndd_segment *seg;
	int client_end = -1;

	if (bytes == 0)
		return NDSH_ERR_INVALID_PARAMETER;
	c.base = ndd_segment_block(s, m->segment, m->offset, bytes, &seg);
	if (c.base == NULL)
		return NDSH_ERR_INVALID_PARAMETER;
	c.cq = calloc(1, sizeof(*c.cq));
	if (c.cq == NULL)
		return NDSH_ERR_NO_RESOURCES;
	c.cq->owner = (struct ndd_owner){.session = s->serial, .object = ++s->daemon->serial};
	c.cq->owner.handle = ndd_slots_add(&s->cqs, c.cq);
	if (c.cq->owner.handle != NDD_SLOT_NONE)
		c.cq->owner.bell = ndd_session_bell(s, &client_end);
	if (c.cq->owner.bell == NULL) {
		cq_undo(s, c.cq, -1);
		return NDSH_ERR_NO_RESOURCES;
	}
	memset(c.base, 0, sizeof(struct ndsh_cq_page));
	ndd_shard_call(s->shard, on_shard_cq_create, &c);
	if (c.cq->engine == NULL) {
		cq_undo(s, c.cq, client_end);
		return NDSH_ERR_NO_RESOURCES;
	}
	c.cq->segment = seg;
	seg->users++;
	r->id.id = c.cq->owner.handle;
	r->fd = client_end;
	return NDSH_OK;
}

static bool
cq_leave(struct ndd_shard *shard, struct ndd_session *s, void *object)
{
	(void)s;
	return roce_cq_destroy(shard->engine, ((struct ndd_cq *)object)->engine);
}

static void
cq_free(struct ndd_session *s, void *object)
{
	struct ndd_cq *cq = object;

	cq->segment->users--;
	if (cq->ring_segment != NULL)
		cq->ring_segment->users--;
	cq_undo(s, cq, -1);
}

static enum ndsh_status
cq_destroy(struct ndd_session *s, void *object)
{
	struct ndd_cq *cq = object;
	bool lost = cq->lost;

	if (cq->users != 0)
		return NDSH_ERR_BUSY;
	ndd_object_free(&ndd_cq_class, s, cq);
	/* It is destroyed, but the client does not see there what the daemon wrote: its memory must
	 * not be used again. */
	return lost ? NDSH_ERR_INTERNAL : NDSH_OK;
}

static uint32_t
cqs_most(const struct config *cfg)
{
	return cfg->max_cqs;
}

const struct ndd_class ndd_cq_class = {
	.name = "completion queues",
	.table = offsetof(struct ndd_session, cqs),
	.share = CONFIG_SHARE_completion_queues,
	.files = 1,
	.most = cqs_most,
	.create = cq_create,
	.destroy = cq_destroy,
	.leave = cq_leave,
	.free = cq_free,
};

/* A mover has no handle: its faults come as those of a completion queue without one. */
void
ndd_cq_on_error(struct ndd_session *s, const struct ndd_event *ev)
{
	if (ev->handle == NDD_SLOT_NONE) {
		ndd_session_end(s, "its mover has not done what it says it has");
		return;
	}
	ndd_info("session %lu: completion queue %u: %s", s->serial, ev->handle,
		roce_reason_name(ev->reason));
	ndd_async_cq(s, ev);
}
