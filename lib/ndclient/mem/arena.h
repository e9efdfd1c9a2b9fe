/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arena's bookkeeping. All of it lies in the process's own heap: shared memory holds what the
 * application puts there, and nothing that a stray RDMA write could turn into a crash of malloc.
 */
#ifndef ND_ARENA_H
#define ND_ARENA_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ND_ARENA_GRAIN 64u /* blocks are multiples of it, aligned to it */

/* The used and free parts of [0, bytes), sorted, without gaps; two neighbours are never both free.
 */
struct nd_extent {
	uint64_t offset;
	uint64_t bytes : 63;
	uint64_t used : 1;
};
struct nd_extents {
	struct nd_extent *v;
	uint32_t count, room;
	uint64_t bytes, free_bytes;
	uint64_t dirty; /* memory from here on was never given out: it is still zero */
};

bool nd_extents_init(struct nd_extents *x, uint64_t bytes);
void nd_extents_fini(struct nd_extents *x);
/* Best fit. Returns the offset, or UINT64_MAX. align: a power of two. */
uint64_t nd_extents_take(struct nd_extents *x, uint64_t bytes, uint64_t align);
/* False: no block begins there. */
bool nd_extents_give(struct nd_extents *x, uint64_t offset);

struct nd_segment {
	struct nd_segment *next;
	uint32_t id;
	uint8_t *base;
	struct nd_extents extents;
};

struct nd_arena {
	pthread_mutex_t lock;
	struct nd_segment *first;
};

/* The segment that holds [p, p+bytes) as a whole, or NULL; lock held. */
struct nd_segment *nd_arena_find(struct nd_arena *arena, const void *p, uint64_t bytes);
/* A zeroed block from the segments that are there, or NULL; lock held. */
void *nd_arena_take(
	struct nd_arena *arena, uint64_t bytes, uint64_t align, struct nd_segment **seg);

#endif
