/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Protection domains and completion queues. The engine's half is made and unmade on the
 * shard's lcore; an object that another one uses stays.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/session.h"

/* ---- protection domains ---- */

/* The shard has its own list of what the session's admin ring may name. */
struct pd_change {
	struct ndd_pd *pd;
	struct roce_admin *admin;
	bool done;
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

/* Regions keep it. */
static void
on_shard_pd_destroy(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct pd_change *c = arg;

	(void)now_ns;
	ndd_pd_close_arena(shard, c->admin, c->pd);
	c->done = roce_pd_destroy(shard->engine, c->pd->engine);
	if (c->done)
		roce_admin_remove_pd(c->admin, c->pd->id);
}

static void
pd_forget(struct ndd_session *s, struct ndd_pd *pd)
{
	ndd_slots_remove(&s->pds, pd->id);
	free(pd);
}

enum ndsh_status
ndd_pd_create(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	struct pd_change c = {.pd = calloc(1, sizeof(*c.pd)), .admin = &s->lcore->admin};

	(void)msg;
	if (c.pd == NULL)
		return NDSH_ERR_NO_RESOURCES;
	c.pd->id = ndd_slots_add(&s->pds, c.pd);
	if (c.pd->id != NDD_SLOT_NONE)
		ndd_shard_call(s->shard, on_shard_pd_create, &c);
	if (c.pd->engine == 0) {
		pd_forget(s, c.pd);
		return NDSH_ERR_NO_RESOURCES;
	}
	r->id.id = c.pd->id;
	return NDSH_OK;
}

bool
ndd_pd_free(struct ndd_session *s, struct ndd_pd *pd)
{
	struct pd_change c = {.pd = pd, .admin = &s->lcore->admin};

	ndd_shard_call(s->shard, on_shard_pd_destroy, &c);
	if (c.done)
		pd_forget(s, pd);
	return c.done;
}

enum ndsh_status
ndd_pd_destroy(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	struct ndd_pd *pd = ndd_slots_get(&s->pds, ((const struct ndsh_id_msg *)msg)->id);

	(void)r;
	if (pd == NULL)
		return NDSH_ERR_INVALID_ID;
	if (pd->users != 0 || !ndd_pd_free(s, pd))
		return NDSH_ERR_BUSY;
	return NDSH_OK;
}

/* ---- completion queues ---- */

struct cq_create {
	struct ndd_cq *cq;
	void *base;
	uint32_t depth;
};

static void
on_shard_cq_create(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct cq_create *c = arg;

	(void)now_ns;
	c->cq->engine = roce_cq_create(shard->engine, c->base, c->depth, &c->cq->owner);
}

static void
on_shard_cq_destroy(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	(void)now_ns;
	(void)roce_cq_destroy(shard->engine, ((struct ndd_cq *)arg)->engine);
}

/* Takes back what ndd_cq_create() got so far, in any of its stages. */
static void
cq_undo(struct ndd_session *s, struct ndd_cq *cq, int read_fd)
{
	if (cq->engine != NULL)
		ndd_shard_call(s->shard, on_shard_cq_destroy, cq);
	if (cq->owner.handle != NDD_SLOT_NONE)
		ndd_slots_remove(&s->cqs, cq->owner.handle);
	if (cq->owner.notify_fd >= 0)
		close(cq->owner.notify_fd);
	if (read_fd >= 0)
		close(read_fd);
	free(cq);
}

enum ndsh_status
ndd_cq_create(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_cq_create *m = msg;
	uint32_t bytes = ndsh_cq_bytes(m->depth);
	struct cq_create c = {.depth = m->depth};
	struct ndd_segment *seg;
	int pipe_fd[2] = {-1, -1};

	if (bytes == 0)
		return NDSH_ERR_INVALID_PARAMETER;
	c.base = ndd_segment_block(s, m->segment, m->offset, bytes, &seg);
	if (c.base == NULL)
		return NDSH_ERR_INVALID_PARAMETER;
	c.cq = calloc(1, sizeof(*c.cq));
	if (c.cq == NULL)
		return NDSH_ERR_NO_RESOURCES;
	c.cq->owner = (struct ndd_owner){
		.session = s->serial, .object = ++s->daemon->serial, .notify_fd = -1};
	c.cq->owner.handle = ndd_slots_add(&s->cqs, c.cq);
	if (c.cq->owner.handle == NDD_SLOT_NONE || pipe2(pipe_fd, O_CLOEXEC | O_NONBLOCK) != 0) {
		cq_undo(s, c.cq, -1);
		return NDSH_ERR_NO_RESOURCES;
	}
	c.cq->owner.notify_fd = pipe_fd[1];
	memset(c.base, 0, bytes);
	ndd_shard_call(s->shard, on_shard_cq_create, &c);
	if (c.cq->engine == NULL) {
		cq_undo(s, c.cq, pipe_fd[0]);
		return NDSH_ERR_NO_RESOURCES;
	}
	c.cq->segment = seg;
	seg->users++;
	r->id.id = c.cq->owner.handle;
	r->fd = pipe_fd[0];
	return NDSH_OK;
}

void
ndd_cq_free(struct ndd_session *s, struct ndd_cq *cq)
{
	cq->segment->users--;
	if (cq->ring_segment != NULL)
		cq->ring_segment->users--;
	cq_undo(s, cq, -1);
}

enum ndsh_status
ndd_cq_destroy(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	struct ndd_cq *cq = ndd_slots_get(&s->cqs, ((const struct ndsh_id_msg *)msg)->id);
	bool lost;

	(void)r;
	if (cq == NULL)
		return NDSH_ERR_INVALID_ID;
	if (cq->users != 0)
		return NDSH_ERR_BUSY;
	lost = cq->lost;
	ndd_cq_free(s, cq);
	/* It is destroyed, but its memory is not what the client sees there: not to be used again.
	 */
	return lost ? NDSH_ERR_INTERNAL : NDSH_OK;
}
