/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared memory of a session. The order makes it safe and fair: the daemon creates the memfd and
 * fixes its size; the client maps and touches it, so its own cgroup pays; the session's worker
 * seals it against new writable mappings and holes, and maps it (mapping.c); nothing of it counts
 * before. The worker unmaps it, too, and the session's quota is its again behind that.
 */
#include <fcntl.h>
#include <inttypes.h>
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
#include "session/adapter.h"
#include "session/class.h"
#include "session/send.h"
#include "session/session.h"

#define UNMAP_TRIES 4

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
		/* The kernel may be short of memory for its own lists for a moment. */
		for (int i = 0; i < UNMAP_TRIES && munmap(p, bytes) != 0; i++)
			;
	}
	return fd;
}

/* Nothing of it is left. */
static void
segment_drop(struct ndd_segment *seg)
{
	if (seg->session != NULL)
		ndd_slots_remove(&seg->session->segments, seg->id);
	ndd_memory_give(seg->daemon, seg->session, &seg->memory);
	free(seg);
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
		.bytes = seg->map.bytes,
		.host = seg->map.host};

	ndd_shard_call(s->shard, fn, &c);
	return c.ok;
}

/* ---- what the session's worker does --------------------------------------------------------- */

static void
segment_reply(const struct ndd_segment *seg, uint16_t type, enum ndsh_status status)
{
	const struct ndsh_id_msg m = {.h = {.type = (uint16_t)(type | NDSH_REPLY),
					      .status = status,
					      .cookie = seg->cookie},
		.id = seg->id};

	ndd_session_send(seg->session, &m, sizeof(m), -1);
}

static void
on_unmapped(struct ndd_job *j)
{
	struct ndd_segment *seg =
		(struct ndd_segment *)((char *)j - offsetof(struct ndd_segment, map.undo));

	if (seg->session != NULL)
		segment_reply(seg, NDSH_MSG_SEGMENT_DESTROY, NDSH_OK);
	segment_drop(seg);
}

static void
segment_unmap(struct ndd_segment *seg)
{
	seg->state = NDD_SEGMENT_GOING;
	ndd_worker_give(seg->session->worker, &seg->map.undo);
}

/* It is mapped: the lcore may know of it. */
static enum ndsh_status
segment_go_live(struct ndd_session *s, struct ndd_segment *seg)
{
	if (!segment_change_range(s, seg, on_shard_add_range))
		return NDSH_ERR_NO_RESOURCES;
	if (!s->attached && !ndd_session_attach(s, (struct ndsh_session_page *)seg->map.host)) {
		(void)segment_change_range(s, seg, on_shard_remove_range);
		return NDSH_ERR_NO_RESOURCES;
	}
	if (seg->map.unlocked && !s->daemon->mlock_refused) {
		s->daemon->mlock_refused = true;
		ndd_notice(
			"clients' memory can't be locked (RLIMIT_MEMLOCK): it may be swapped out");
	}
	return NDSH_OK;
}

static void
on_mapped(struct ndd_job *j)
{
	struct ndd_segment *seg =
		(struct ndd_segment *)((char *)j - offsetof(struct ndd_segment, map.make));
	struct ndd_session *s = seg->session;
	enum ndsh_status status = seg->map.status;

	if (s == NULL) /* it has ended, and what was mapped goes next */
		return;
	if (s->ended) { /* the lcore has given it up, or is about to: it must not meet it again */
		seg->state = NDD_SEGMENT_REFUSED;
		return;
	}
	if (status != NDSH_OK)
		ndd_log_limited(NDD_LOG_WARNING,
			"session %lu of process %d: segment of %" PRIu64 " bytes refused: %s",
			s->serial, s->pid, seg->map.bytes, seg->map.why);
	else
		status = segment_go_live(s, seg);
	seg->state = status == NDSH_OK ? NDD_SEGMENT_LIVE : NDD_SEGMENT_REFUSED;
	segment_reply(seg, NDSH_MSG_SEGMENT_MAPPED, status);
}

/* ---- requests, and the end of a session ------------------------------------------------------ */

static enum ndsh_status
segment_create(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_segment_create *m = msg;
	struct ndd_segment *seg;

	if (m->bytes == 0 || m->bytes % NDSH_PAGE_BYTES != 0)
		return NDSH_ERR_INVALID_PARAMETER;
	if (!ndd_session_needs_worker(s))
		return NDSH_ERR_NO_RESOURCES;
	seg = calloc(1, sizeof(*seg));
	if (seg == NULL)
		return NDSH_ERR_NO_RESOURCES;
	if (!ndd_memory_take(s, &seg->memory, m->bytes)) {
		free(seg);
		return NDSH_ERR_NO_RESOURCES;
	}
	seg->daemon = s->daemon;
	seg->session = s;
	seg->map.make = (struct ndd_job){.run = ndd_mapping_make, .done = on_mapped};
	seg->map.undo = (struct ndd_job){.run = ndd_mapping_undo, .done = on_unmapped};
	seg->map.bytes = m->bytes;
	seg->id = ndd_slots_add(&s->segments, seg);
	seg->map.fd = seg->id == NDD_SLOT_NONE ? -1 : memfd_new(s, m->bytes);
	if (seg->map.fd < 0) {
		segment_drop(seg);
		return NDSH_ERR_NO_RESOURCES;
	}
	r->segment.segment = seg->id;
	r->segment.bytes = m->bytes;
	r->keep_fd = seg->map.fd;
	return NDSH_OK;
}

enum ndsh_status
ndd_segment_mapped(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_segment_mapped *m = msg;
	struct ndd_segment *seg = ndd_slots_get(&s->segments, m->segment);

	r->id.id = m->segment;
	if (seg == NULL)
		return NDSH_ERR_INVALID_ID;
	if (seg->state != NDD_SEGMENT_MADE || (m->client_va & 4095) != 0 ||
		m->client_va + seg->map.bytes < m->client_va)
		return NDSH_ERR_INVALID_PARAMETER;
	seg->client_va = m->client_va;
	seg->cookie = m->h.cookie;
	seg->state = NDD_SEGMENT_MAPPING;
	ndd_worker_give(s->worker, &seg->map.make);
	r->later = true;
	return NDSH_OK;
}

void *
ndd_segment_block(struct ndd_session *s, uint32_t id, uint64_t offset, uint64_t bytes,
	struct ndd_segment **seg)
{
	*seg = ndd_slots_get(&s->segments, id);
	if (*seg == NULL || (*seg)->state != NDD_SEGMENT_LIVE || offset % NDSH_CACHE_LINE != 0)
		return NULL;
	if (bytes > (*seg)->map.bytes || offset > (*seg)->map.bytes - bytes)
		return NULL;
	return (*seg)->map.host + offset;
}

enum ndsh_status
ndd_segment_destroy(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_id_msg *m = msg;
	struct ndd_segment *seg = ndd_slots_get(&s->segments, m->id);

	if (seg == NULL || seg->state == NDD_SEGMENT_GOING)
		return NDSH_ERR_INVALID_ID;
	if (seg->users != 0 || seg->state == NDD_SEGMENT_MAPPING)
		return NDSH_ERR_BUSY;
	if (seg->state == NDD_SEGMENT_LIVE &&
		((uint8_t *)s->lcore->page == seg->map.host ||
			!segment_change_range(s, seg, on_shard_remove_range)))
		return NDSH_ERR_BUSY;
	seg->cookie = m->h.cookie;
	segment_unmap(seg);
	r->later = true;
	return NDSH_OK;
}

/* The worker has the last word. */
static void
segment_free(struct ndd_session *s, void *object)
{
	struct ndd_segment *seg = object;

	ndd_slots_remove(&s->segments, seg->id);
	if (seg->state == NDD_SEGMENT_MAPPING)
		ndd_job_cancel(&seg->map.make);
	if (seg->state != NDD_SEGMENT_GOING)
		segment_unmap(seg);
	seg->session = NULL;
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
	.share = CONFIG_SHARE_COUNT,
	.most = segments_most,
	.create = segment_create,
	.free = segment_free,
};
