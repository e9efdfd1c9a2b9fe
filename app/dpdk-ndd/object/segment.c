/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared memory of a session. The order makes it safe and fair: the daemon creates the memfd and
 * fixes its size; the client maps and touches it, so its own cgroup pays; the daemon maps it and
 * seals it against new writable mappings and holes; only then does anything of it count.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "control/daemon.h"
#include "lcore/call.h"
#include "object/segment.h"
#include "platform/log.h"
#include "platform/numamem.h"
#include "platform/sigbus.h"
#include "session/adapter.h"
#include "session/class.h"
#include "session/session.h"

static int
memfd_new(struct ndd_session *s, uint64_t bytes)
{
	char name[32];
	void *p;
	int fd;

	snprintf(name, sizeof(name), "dpdk-ndd-%lu", s->serial);
	fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -1;
	if (ftruncate(fd, (off_t)bytes) != 0 ||
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
		close(fd);
		return -1;
	}
	/* The node is a property of the file: it holds when the client touches the pages. */
	p = mmap(NULL, bytes, PROT_NONE, MAP_SHARED, fd, 0);
	if (p != MAP_FAILED) {
		ndd_numa_prefer(p, bytes, s->shard->numa_node);
		munmap(p, bytes);
	}
	return fd;
}

static enum ndsh_status
segment_create(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_segment_create *m = msg;
	struct ndd_segment *seg;

	if (m->bytes == 0 || m->bytes % NDSH_PAGE_BYTES != 0)
		return NDSH_ERR_INVALID_PARAMETER;
	if (m->bytes > s->daemon->cfg->max_memory_bytes - s->segment_bytes)
		return NDSH_ERR_NO_RESOURCES;
	seg = calloc(1, sizeof(*seg));
	if (seg == NULL)
		return NDSH_ERR_NO_RESOURCES;
	seg->bytes = m->bytes;
	seg->fd = memfd_new(s, m->bytes);
	seg->id = seg->fd < 0 ? NDD_SLOT_NONE : ndd_slots_add(&s->segments, seg);
	if (seg->id == NDD_SLOT_NONE) {
		if (seg->fd >= 0)
			close(seg->fd);
		free(seg);
		return NDSH_ERR_NO_RESOURCES;
	}
	s->segment_bytes += m->bytes;
	r->segment.segment = seg->id;
	r->segment.bytes = m->bytes;
	r->keep_fd = seg->fd;
	return NDSH_OK;
}

static_assert(sizeof(struct ndsh_session_page) <= NDSH_PAGE_BYTES, "a segment has room for it");

struct range_change {
	struct roce_admin *admin;
	uint64_t client_va, bytes;
	void *host;
	bool ok;
};

static void
on_shard_add_range(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct range_change *c = arg;

	(void)shard;
	(void)now_ns;
	c->ok = roce_admin_add_range(c->admin, c->client_va, c->bytes, c->host);
}

static void
on_shard_remove_range(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct range_change *c = arg;

	(void)shard;
	(void)now_ns;
	c->ok = roce_admin_remove_range(c->admin, c->client_va);
}

/* Registrations may name the segment from now on, or no longer. False: it overlaps another one, or
 * still has regions. */
static bool
segment_change_range(struct ndd_session *s, const struct ndd_segment *seg, ndd_shard_fn fn)
{
	struct range_change c = {.admin = &s->lcore->admin,
		.client_va = seg->client_va,
		.bytes = seg->bytes,
		.host = seg->host};

	ndd_shard_call(s->shard, fn, &c);
	return c.ok;
}

static bool
segment_populate(struct ndd_session *s, struct ndd_segment *seg)
{
	/* Pages are there already if the client did its part. Old kernels: touched on first use. */
	(void)madvise(seg->host, seg->bytes, MADV_POPULATE_WRITE);
	if (mlock(seg->host, seg->bytes) != 0 && !s->daemon->mlock_refused) {
		s->daemon->mlock_refused = true;
		ndd_notice(
			"clients' memory can't be locked (RLIMIT_MEMLOCK): it may be swapped out");
	}
	return ndd_sigbus_guard(seg->host, seg->bytes);
}

enum ndsh_status
ndd_segment_mapped(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_segment_mapped *m = msg;
	struct ndd_segment *seg = ndd_slots_get(&s->segments, m->segment);

	r->id.id = m->segment;
	if (seg == NULL)
		return NDSH_ERR_INVALID_ID;
	if (seg->live || (m->client_va & 4095) != 0 || m->client_va + seg->bytes < m->client_va)
		return NDSH_ERR_INVALID_PARAMETER;
	seg->host = mmap(NULL, seg->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, seg->fd, 0);
	if (seg->host == MAP_FAILED) {
		seg->host = NULL;
		return NDSH_ERR_NO_RESOURCES;
	}
	seg->client_va = m->client_va;
	/* FUTURE_WRITE also forbids punching holes; our own mapping exists already. */
	if (fcntl(seg->fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0 ||
		!segment_populate(s, seg) || !segment_change_range(s, seg, on_shard_add_range)) {
		ndd_sigbus_unguard(seg->host);
		munmap(seg->host, seg->bytes);
		seg->host = NULL;
		return NDSH_ERR_NO_RESOURCES;
	}
	if (!s->attached && !ndd_session_attach(s, (struct ndsh_session_page *)seg->host)) {
		(void)segment_change_range(s, seg, on_shard_remove_range);
		ndd_sigbus_unguard(seg->host);
		munmap(seg->host, seg->bytes);
		seg->host = NULL;
		return NDSH_ERR_NO_RESOURCES;
	}
	seg->live = true;
	return NDSH_OK;
}

void *
ndd_segment_block(struct ndd_session *s, uint32_t id, uint64_t offset, uint64_t bytes,
	struct ndd_segment **seg)
{
	*seg = ndd_slots_get(&s->segments, id);
	if (*seg == NULL || !(*seg)->live || offset % NDSH_CACHE_LINE != 0)
		return NULL;
	if (bytes > (*seg)->bytes || offset > (*seg)->bytes - bytes)
		return NULL;
	return (*seg)->host + offset;
}

static void
segment_free(struct ndd_session *s, void *object)
{
	struct ndd_segment *seg = object;

	if (seg->host != NULL) {
		ndd_sigbus_unguard(seg->host);
		munmap(seg->host, seg->bytes);
	}
	close(seg->fd);
	s->segment_bytes -= seg->bytes;
	ndd_slots_remove(&s->segments, seg->id);
	free(seg);
}

static enum ndsh_status
segment_destroy(struct ndd_session *s, void *object)
{
	struct ndd_segment *seg = object;

	if (seg->users != 0 ||
		(seg->live && ((uint8_t *)s->lcore->page == seg->host ||
				      !segment_change_range(s, seg, on_shard_remove_range))))
		return NDSH_ERR_BUSY;
	segment_free(s, seg);
	return NDSH_OK;
}

static uint32_t
segments_most(const struct config *cfg)
{
	(void)cfg;
	return ROCE_ADMIN_RANGES;
}

const struct ndd_class ndd_segment_class = {
	.name = "segments",
	.table = offsetof(struct ndd_session, segments),
	.most = segments_most,
	.create = segment_create,
	.destroy = segment_destroy,
	.free = segment_free,
};
