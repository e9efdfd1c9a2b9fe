/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Movers: memory of a client that is not in its segments is moved by the client itself, in a thread
 * of its library (ndsh_mover.h). The daemon never touches an address space that it does not own: a
 * page of it may be backed by whatever the client likes, a file system of its own included.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/daemon.h"
#include "lcore/call.h"
#include "lcore/shard.h"
#include "object/segment.h"
#include "session/adapter.h"
#include "session/class.h"
#include "session/session.h"
#include "shm/ndsh_mover.h"

struct ndd_mover {
	struct ndd_owner owner;
	struct roce_mover *engine;
	void *state; /* of the engine's */
	struct ndd_segment *segment;
};

struct mover_making {
	struct ndd_mover *mover;
	struct roce_admin *admin;
	struct roce_client *client;
	void *shared;
	bool tells;
};

static void
on_shard_mover_create(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct mover_making *c = arg;

	(void)now_ns;
	c->mover->engine = roce_mover_create(
		shard->engine, c->client, c->mover->state, c->shared, c->tells, &c->mover->owner);
	roce_admin_set_mover(c->admin, c->mover->engine);
}

static void
on_shard_mover_destroy(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	(void)now_ns;
	(void)roce_mover_destroy(shard->engine, ((struct ndd_mover *)arg)->engine);
}

/* No region of its memory is left. */
static void
mover_free(struct ndd_session *s)
{
	struct ndd_mover *m = s->mover;

	if (m == NULL)
		return;
	if (m->engine != NULL) {
		ndd_shard_call(s->shard, on_shard_mover_destroy, m);
		m->segment->users--;
	}
	ndd_session_bell_free(s, m->owner.bell);
	free(m->state);
	free(m);
	s->mover = NULL;
}

static enum ndsh_status
mover_create(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_mover_create *m = msg;
	struct mover_making c = {
		.admin = &s->lcore->admin, .client = &s->lcore->client, .tells = m->tells != 0};
	uint32_t bytes = ndsh_mover_bytes(c.tells);
	struct ndd_segment *seg;
	int client_end;

	if (s->mover != NULL)
		return NDSH_ERR_INVALID_STATE;
	c.shared = ndd_segment_block(s, m->segment, m->offset, bytes, &seg);
	if (c.shared == NULL)
		return NDSH_ERR_INVALID_PARAMETER;
	s->mover = c.mover = calloc(1, sizeof(*c.mover));
	if (c.mover == NULL)
		return NDSH_ERR_NO_RESOURCES;
	c.mover->owner = (struct ndd_owner){.session = s->serial, .object = ++s->daemon->serial};
	c.mover->owner.handle = NDD_SLOT_NONE;
	c.mover->segment = seg;
	c.mover->state = calloc(1, roce_mover_bytes());
	if (c.mover->state != NULL)
		c.mover->owner.bell = ndd_session_bell(s, &client_end);
	if (c.mover->owner.bell == NULL) {
		mover_free(s);
		return NDSH_ERR_NO_RESOURCES;
	}
	memset(c.shared, 0, sizeof(struct ndsh_cq_page));
	ndd_shard_call(s->shard, on_shard_mover_create, &c);
	if (c.mover->engine == NULL) {
		close(client_end);
		mover_free(s);
		return NDSH_ERR_NO_RESOURCES;
	}
	seg->users++;
	r->fd = client_end;
	return NDSH_OK;
}

static bool
mover_end(struct ndd_session *s)
{
	mover_free(s);
	return true;
}

const struct ndd_class ndd_mover_class = {
	.name = "mover", .create = mover_create, .end = mover_end};
