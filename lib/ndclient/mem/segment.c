/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments: memory that the daemon made and sealed, mapped here. This process touches every page
 * before it tells the daemon, so the memory is charged to it (ndsh_msg.h has the order).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ndclient/mem/arena.h"
#include "ndclient/mem/segment.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Map at a multiple of the unit: huge pages need it, and nd_alloc() promises it. */
static uint8_t *
segment_map(int fd, uint64_t bytes)
{
	uint64_t unit = NDSH_SEGMENT_UNIT;
	uint8_t *room = mmap(
		NULL, bytes + unit, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint8_t *base;
	uint64_t head;

	if (room == MAP_FAILED)
		return NULL;
	head = -(uintptr_t)room & (unit - 1);
	base = room + head;
	if (head > 0)
		munmap(room, head);
	if (head < unit)
		munmap(base + bytes, unit - head);
	if (mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
		MAP_FAILED) {
		munmap(base, bytes);
		return NULL;
	}
	return base;
}

/* False: there is not so much memory. Populating tells so; touching (Linux before 5.14) would end
 * in SIGBUS. */
static bool
touch_pages(uint8_t *base, uint64_t bytes)
{
	int rc;

	while ((rc = madvise(base, bytes, MADV_POPULATE_WRITE)) != 0 &&
		(errno == EINTR || errno == EAGAIN))
		;
	if (rc == 0)
		return true;
	if (errno != EINVAL)
		return false;
	for (uint64_t at = 0; at < bytes; at += 4096)
		*(volatile uint8_t *)(base + at) = 0;
	return true;
}

static nd_status
segment_make_live(struct nd_adapter *a, uint32_t id, const void *at)
{
	struct ndsh_segment_mapped m = {
		.h.type = NDSH_MSG_SEGMENT_MAPPED, .segment = id, .client_va = (uintptr_t)at};

	return nd_control_call(a, &(struct nd_request){.h = &m.h});
}

bool
nd_segment_create(struct nd_adapter *a, uint64_t bytes, const void *known_as, uint32_t *id,
	uint8_t **base, int *fd)
{
	struct ndsh_segment_create m = {.h.type = NDSH_MSG_SEGMENT_CREATE, .bytes = bytes};
	struct ndsh_segment_create_reply reply;

	if (nd_control_call(a, &(struct nd_request){.h = &m.h, .reply = &reply, .fd = fd}) !=
			ND_SUCCESS ||
		*fd < 0)
		return false;
	*id = reply.segment;
	*base = segment_map(*fd, bytes);
	if (*base != NULL && touch_pages(*base, bytes) &&
		segment_make_live(a, *id, known_as != NULL ? known_as : *base) == ND_SUCCESS)
		return true;
	close(*fd);
	if (*base != NULL)
		munmap(*base, bytes);
	(void)nd_control_id(a, NDSH_MSG_SEGMENT_DESTROY, *id);
	nd_fail(ND_NO_MEMORY, "no memory for a segment of %llu bytes", (unsigned long long)bytes);
	return false;
}

/* Memory of a segment is charged when it is made, and made when it is touched. */
bool
nd_segment_fits(struct nd_adapter *a, uint64_t bytes)
{
	struct ndsh_segment_create m = {.h.type = NDSH_MSG_SEGMENT_CREATE, .bytes = bytes};
	struct ndsh_segment_create_reply reply;
	int fd = -1;

	if (nd_control_call(a, &(struct nd_request){.h = &m.h, .reply = &reply, .fd = &fd}) !=
		ND_SUCCESS)
		return false;
	if (fd >= 0)
		close(fd);
	return nd_control_id(a, NDSH_MSG_SEGMENT_DESTROY, reply.segment) == ND_SUCCESS;
}

bool
nd_segment_grow(struct nd_adapter *a, uint64_t bytes)
{
	struct nd_segment *seg = calloc(1, sizeof(*seg)), **at = &a->arena.first;
	int fd;

	if (seg == NULL)
		return false;
	bytes = (bytes + NDSH_SEGMENT_UNIT - 1) & ~(uint64_t)(NDSH_SEGMENT_UNIT - 1);
	if (!nd_extents_init(&seg->extents, bytes) ||
		!nd_segment_create(a, bytes, NULL, &seg->id, &seg->base, &fd)) {
		nd_extents_fini(&seg->extents);
		free(seg);
		return false;
	}
	close(fd);
	while (*at != NULL) /* the oldest first: segments fill up before new ones are used */
		at = &(*at)->next;
	*at = seg;
	return true;
}

/* Big segments go back when nothing is in them; the daemon may refuse (a region is still registered
 * there), then it stays. */
void
nd_segment_return(struct nd_adapter *a, struct nd_segment *seg)
{
	struct nd_segment **at = &a->arena.first;

	if (nd_control_id(a, NDSH_MSG_SEGMENT_DESTROY, seg->id) != ND_SUCCESS)
		return;
	while (*at != seg)
		at = &(*at)->next;
	*at = seg->next;
	munmap(seg->base, seg->extents.bytes);
	nd_extents_fini(&seg->extents);
	free(seg);
}

static void *
arena_take_or_grow(struct nd_adapter *a, uint64_t bytes, uint64_t align, struct nd_segment **seg)
{
	void *p = nd_arena_take(&a->arena, bytes, align, seg);

	if (p == NULL && nd_segment_grow(a, bytes))
		p = nd_arena_take(&a->arena, bytes, align, seg);
	return p;
}

void *
nd_block_alloc(struct nd_adapter *a, uint64_t bytes, uint32_t *segment, uint64_t *offset)
{
	struct nd_segment *seg;
	uint8_t *p;

	pthread_mutex_lock(&a->arena.lock);
	bytes = (bytes + ND_ARENA_GRAIN - 1) & ~(uint64_t)(ND_ARENA_GRAIN - 1);
	p = arena_take_or_grow(a, bytes, ND_ARENA_GRAIN, &seg);
	if (p != NULL) {
		*segment = seg->id;
		*offset = (uint64_t)(p - seg->base);
	}
	pthread_mutex_unlock(&a->arena.lock);
	return p;
}

void *
nd_alloc(struct nd_adapter *a, size_t bytes)
{
	uint64_t align = bytes >= NDSH_SEGMENT_UNIT ? NDSH_SEGMENT_UNIT
			 : bytes >= NDSH_PAGE_BYTES ? NDSH_PAGE_BYTES
						    : ND_ARENA_GRAIN;
	struct nd_segment *seg;
	void *p;

	if (bytes == 0 || bytes > SIZE_MAX / 2)
		return NULL;
	pthread_mutex_lock(&a->arena.lock);
	p = arena_take_or_grow(a,
		((uint64_t)bytes + ND_ARENA_GRAIN - 1) & ~(uint64_t)(ND_ARENA_GRAIN - 1), align,
		&seg);
	pthread_mutex_unlock(&a->arena.lock);
	return p;
}

void
nd_free(struct nd_adapter *a, void *p)
{
	struct nd_segment *seg;

	if (p == NULL)
		return;
	pthread_mutex_lock(&a->arena.lock);
	seg = nd_arena_find(&a->arena, p, 1);
	if (seg == NULL || !nd_extents_give(&seg->extents, (uint64_t)((uint8_t *)p - seg->base)))
		abort(); /* not from nd_alloc(), or freed twice: as free() does */
	if (seg->extents.free_bytes == seg->extents.bytes && seg->extents.bytes > NDSH_SEGMENT_UNIT)
		nd_segment_return(a, seg);
	pthread_mutex_unlock(&a->arena.lock);
}
