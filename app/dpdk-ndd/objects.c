/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Protection domains, completion queues, regions. The engine's half is made and unmade on the
 * shard's lcore; an object that another one uses stays.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session.h"

/* ---- protection domains ---- */

static void
on_shard_pd_create(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct ndd_pd *pd = arg;

	(void)now_ns;
	pd->engine = roce_pd_create(shard->engine);
}

static void
on_shard_pd_destroy(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct ndd_pd *pd = arg;

	(void)now_ns;
	(void)roce_pd_destroy(shard->engine, pd->engine);
}

nd_status
ndd_pd_create(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	struct ndd_pd *pd = calloc(1, sizeof(*pd));

	(void)msg;
	if (pd == NULL)
		return ND_INSUFFICIENT_RESOURCES;
	ndd_shard_call(s->shard, on_shard_pd_create, pd);
	if (pd->engine == 0) {
		free(pd);
		return ND_INSUFFICIENT_RESOURCES;
	}
	pd->id = ndd_slots_add(&s->pds, pd);
	if (pd->id == NDD_SLOT_NONE) {
		ndd_shard_call(s->shard, on_shard_pd_destroy, pd);
		free(pd);
		return ND_INSUFFICIENT_RESOURCES;
	}
	r->id.id = pd->id;
	return ND_SUCCESS;
}

void
ndd_pd_free(struct ndd_session *s, struct ndd_pd *pd)
{
	ndd_shard_call(s->shard, on_shard_pd_destroy, pd);
	ndd_slots_remove(&s->pds, pd->id);
	free(pd);
}

nd_status
ndd_pd_destroy(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	struct ndd_pd *pd = ndd_slots_get(&s->pds, ((const struct ndsh_id_msg *)msg)->id);

	(void)r;
	if (pd == NULL)
		return ND_INVALID_HANDLE;
	if (pd->users != 0)
		return ND_DEVICE_BUSY;
	ndd_pd_free(s, pd);
	return ND_SUCCESS;
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

nd_status
ndd_cq_create(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_cq_create *m = msg;
	uint32_t bytes = ndsh_cq_bytes(m->depth);
	struct cq_create c = {.depth = m->depth};
	struct ndd_segment *seg;
	int pipe_fd[2] = {-1, -1};

	if (bytes == 0)
		return ND_INVALID_PARAMETER;
	c.base = ndd_segment_block(s, m->segment, m->offset, bytes, &seg);
	if (c.base == NULL)
		return ND_INVALID_PARAMETER;
	c.cq = calloc(1, sizeof(*c.cq));
	if (c.cq == NULL)
		return ND_INSUFFICIENT_RESOURCES;
	c.cq->owner = (struct ndd_owner){
		.session = s->serial, .object = ++s->daemon->serial, .notify_fd = -1};
	c.cq->owner.handle = ndd_slots_add(&s->cqs, c.cq);
	if (c.cq->owner.handle == NDD_SLOT_NONE || pipe2(pipe_fd, O_CLOEXEC | O_NONBLOCK) != 0) {
		cq_undo(s, c.cq, -1);
		return ND_INSUFFICIENT_RESOURCES;
	}
	c.cq->owner.notify_fd = pipe_fd[1];
	memset(c.base, 0, bytes);
	ndd_shard_call(s->shard, on_shard_cq_create, &c);
	if (c.cq->engine == NULL) {
		cq_undo(s, c.cq, pipe_fd[0]);
		return ND_INSUFFICIENT_RESOURCES;
	}
	c.cq->segment = seg;
	seg->users++;
	r->id.id = c.cq->owner.handle;
	r->fd = pipe_fd[0];
	return ND_SUCCESS;
}

void
ndd_cq_free(struct ndd_session *s, struct ndd_cq *cq)
{
	cq->segment->users--;
	cq_undo(s, cq, -1);
}

nd_status
ndd_cq_destroy(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	struct ndd_cq *cq = ndd_slots_get(&s->cqs, ((const struct ndsh_id_msg *)msg)->id);
	bool lost;

	(void)r;
	if (cq == NULL)
		return ND_INVALID_HANDLE;
	if (cq->users != 0)
		return ND_DEVICE_BUSY;
	lost = cq->lost;
	ndd_cq_free(s, cq);
	/* It is destroyed, but its memory is not what the client sees there: not to be used again.
	 */
	return lost ? ND_INTERNAL_ERROR : ND_SUCCESS;
}

/* ---- memory regions ---- */

/* Windows lie in the engine's table of regions, so they count against the same limit. */
bool
ndd_session_has_mr_left(const struct ndd_session *s)
{
	return s->mrs.used + s->mws.used < s->daemon->cfg->max_mrs;
}

struct mr_register {
	struct ndd_mr *mr;
	uint64_t va, bytes;
	void *host;
	uint32_t access;
	uint32_t key;
};

static void
on_shard_mr_register(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct mr_register *g = arg;

	(void)now_ns;
	g->mr->engine = roce_mr_register(
		shard->engine, g->mr->pd->engine, g->va, g->bytes, g->host, g->access);
	if (g->mr->engine != NULL)
		g->key = roce_mr_key(g->mr->engine);
}

struct mr_deregister {
	struct ndd_mr *mr;
	bool done;
};

static void
on_shard_mr_deregister(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct mr_deregister *g = arg;

	(void)now_ns;
	g->done = roce_mr_deregister(shard->engine, g->mr->engine);
}

nd_status
ndd_mr_register(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_mr_register *m = msg;
	struct mr_register g = {.va = m->va, .bytes = m->bytes, .access = m->access};
	struct ndd_pd *pd = ndd_slots_get(&s->pds, m->pd);
	struct ndd_segment *seg;

	if (pd == NULL)
		return ND_INVALID_HANDLE;
	if (m->bytes == 0 || (m->access & ~NDSH_ACCESS_MASK) != 0)
		return ND_INVALID_PARAMETER;
	seg = ndd_segment_of_va(s, m->va, m->bytes, &g.host);
	if (seg == NULL)
		return ND_ACCESS_VIOLATION;
	g.mr = ndd_session_has_mr_left(s) ? calloc(1, sizeof(*g.mr)) : NULL;
	if (g.mr == NULL)
		return ND_INSUFFICIENT_RESOURCES;
	g.mr->pd = pd;
	g.mr->segment = seg;
	g.mr->id = ndd_slots_add(&s->mrs, g.mr);
	if (g.mr->id != NDD_SLOT_NONE)
		ndd_shard_call(s->shard, on_shard_mr_register, &g);
	if (g.mr->engine == NULL) {
		ndd_slots_remove(&s->mrs, g.mr->id);
		free(g.mr);
		return ND_INSUFFICIENT_RESOURCES;
	}
	pd->users++;
	seg->users++;
	r->mr.mr = g.mr->id;
	r->mr.local_token = r->mr.remote_token = g.key;
	return ND_SUCCESS;
}

bool
ndd_mr_free(struct ndd_session *s, struct ndd_mr *mr)
{
	struct mr_deregister g = {.mr = mr};

	ndd_shard_call(s->shard, on_shard_mr_deregister, &g);
	if (!g.done)
		return false;
	mr->pd->users--;
	mr->segment->users--;
	ndd_slots_remove(&s->mrs, mr->id);
	free(mr);
	return true;
}

nd_status
ndd_mr_deregister(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	struct ndd_mr *mr = ndd_slots_get(&s->mrs, ((const struct ndsh_id_msg *)msg)->id);

	(void)r;
	if (mr == NULL)
		return ND_INVALID_HANDLE;
	return ndd_mr_free(s, mr) ? ND_SUCCESS : ND_DEVICE_BUSY;
}
