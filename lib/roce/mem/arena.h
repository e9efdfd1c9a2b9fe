/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a client's address lies in what it has shared: the one search of an arena's extents.
 */
#ifndef ROCE_ARENA_H
#define ROCE_ARENA_H

#include "roce/roce.h"

/* The number of the first extent that begins above va; the one before it is the only one that may
 * hold va. */
static inline uint32_t
roce_arena_above(const struct roce_arena *a, uint64_t va)
{
	uint32_t low = 0, high = a->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (a->extent[middle].va <= va)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The extent that all of the client's [va, va+bytes) lies in, or NULL. */
static inline struct roce_extent *
roce_arena_find(const struct roce_arena *a, uint64_t va, uint64_t bytes)
{
	uint32_t above = roce_arena_above(a, va);
	struct roce_extent *e;

	if (above == 0)
		return NULL;
	e = &a->extent[above - 1];
	if (bytes > e->bytes || va - e->va > e->bytes - bytes)
		return NULL;
	return e;
}

#endif
