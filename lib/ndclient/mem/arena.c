/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndclient/mem/arena.h"

#include <stdlib.h>
#include <string.h>

bool
nd_extents_init(struct nd_extents *x, uint64_t bytes)
{
	*x = (struct nd_extents){.room = 16, .count = 1, .bytes = bytes, .free_bytes = bytes};
	x->v = calloc(x->room, sizeof(*x->v));
	if (x->v == NULL)
		return false;
	x->v[0] = (struct nd_extent){.offset = 0, .bytes = bytes};
	return true;
}

void
nd_extents_fini(struct nd_extents *x)
{
	free(x->v);
	x->v = NULL;
}

/* Room for two more: one block may split a free part in three. */
static bool
extents_reserve(struct nd_extents *x)
{
	struct nd_extent *v;

	if (x->count + 2 <= x->room)
		return true;
	v = realloc(x->v, 2 * x->room * sizeof(*v));
	if (v == NULL)
		return false;
	x->v = v;
	x->room *= 2;
	return true;
}

/* Bytes to skip so that a block in this part is aligned. */
static uint64_t
extent_pad(const struct nd_extent *e, uint64_t align)
{
	return -e->offset & (align - 1);
}

static uint32_t
extents_best_fit(const struct nd_extents *x, uint64_t bytes, uint64_t align)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < x->count; i++) {
		const struct nd_extent *e = &x->v[i];

		if (e->used || e->bytes < bytes || e->bytes - bytes < extent_pad(e, align))
			continue;
		if (best == UINT32_MAX || e->bytes < x->v[best].bytes)
			best = i;
	}
	return best;
}

/* Cut part i at bytes from its start; both halves keep its state. */
static void
extents_cut(struct nd_extents *x, uint32_t i, uint64_t bytes)
{
	struct nd_extent *e = &x->v[i];

	if (bytes == 0 || bytes == e->bytes)
		return;
	memmove(e + 1, e, (x->count - i) * sizeof(*e));
	x->count++;
	e[0].bytes = bytes;
	e[1].offset += bytes;
	e[1].bytes -= bytes;
}

uint64_t
nd_extents_take(struct nd_extents *x, uint64_t bytes, uint64_t align)
{
	uint32_t i;
	uint64_t skip;

	if (bytes == 0 || bytes > x->free_bytes || !extents_reserve(x))
		return UINT64_MAX;
	i = extents_best_fit(x, bytes, align);
	if (i == UINT32_MAX)
		return UINT64_MAX;
	skip = extent_pad(&x->v[i], align);
	extents_cut(x, i, skip);
	if (skip != 0)
		i++;
	extents_cut(x, i, bytes);
	x->v[i].used = 1;
	x->free_bytes -= bytes;
	return x->v[i].offset;
}

/* The part that begins at offset, or UINT32_MAX. */
static uint32_t
extents_part_at(const struct nd_extents *x, uint64_t offset)
{
	uint32_t low = 0, high = x->count;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (x->v[mid].offset < offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low < x->count && x->v[low].offset == offset ? low : UINT32_MAX;
}

/* Join part i with its right neighbour if both are free. */
static void
extents_join(struct nd_extents *x, uint32_t i)
{
	struct nd_extent *e = &x->v[i];

	if (i + 1 >= x->count || e[0].used || e[1].used)
		return;
	e[0].bytes += e[1].bytes;
	memmove(e + 1, e + 2, (x->count - i - 2) * sizeof(*e));
	x->count--;
}

bool
nd_extents_give(struct nd_extents *x, uint64_t offset)
{
	uint32_t i = extents_part_at(x, offset);

	if (i == UINT32_MAX || !x->v[i].used)
		return false;
	x->v[i].used = 0;
	x->free_bytes += x->v[i].bytes;
	extents_join(x, i);
	if (i > 0)
		extents_join(x, i - 1);
	return true;
}

struct nd_segment *
nd_arena_find(struct nd_arena *arena, const void *p, uint64_t bytes)
{
	uintptr_t at = (uintptr_t)p;

	for (struct nd_segment *s = arena->first; s != NULL; s = s->next) {
		uintptr_t base = (uintptr_t)s->base;

		if (at >= base && bytes <= s->extents.bytes &&
			at - base <= s->extents.bytes - bytes)
			return s;
	}
	return NULL;
}

/* New segments are zero; only what was given out before has to be cleared. */
static void
segment_clear(struct nd_segment *s, uint64_t offset, uint64_t bytes)
{
	struct nd_extents *x = &s->extents;
	uint64_t end = offset + bytes;

	if (offset < x->dirty)
		memset(s->base + offset, 0, (end < x->dirty ? end : x->dirty) - offset);
	if (end > x->dirty)
		x->dirty = end;
}

void *
nd_arena_take(struct nd_arena *arena, uint64_t bytes, uint64_t align, struct nd_segment **seg)
{
	for (struct nd_segment *s = arena->first; s != NULL; s = s->next) {
		uint64_t offset = nd_extents_take(&s->extents, bytes, align);

		if (offset == UINT64_MAX)
			continue;
		segment_clear(s, offset, bytes);
		*seg = s;
		return s->base + offset;
	}
	return NULL;
}
