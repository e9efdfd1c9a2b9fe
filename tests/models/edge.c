/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "models/edge.h"

struct edge edge;

void
edge_begin(edge_other *other, void *ctx)
{
	edge = (struct edge){.other = other, .ctx = ctx};
}

static void
edge_note(enum edge_kind kind, const volatile void *p, size_t bytes, int order)
{
	const struct edge_access a = {kind, p, bytes, order};
	static int within; /* the other side's own accesses */

	if (within)
		return;
	if (edge.count == EDGE_MAX)
		abort();
	edge.seen[edge.count++] = a;
	within = 1;
	if (edge.other != NULL)
		edge.other(&a, edge.ctx);
	within = 0;
}

unsigned
edge_count_in(enum edge_kind kind, const volatile void *p, size_t bytes)
{
	const uintptr_t begin = (uintptr_t)p, end = begin + bytes;
	unsigned n = 0;

	for (unsigned i = 0; i < edge.count; i++) {
		const struct edge_access *a = &edge.seen[i];

		n += a->kind == kind && (uintptr_t)a->p < end && (uintptr_t)a->p + a->bytes > begin;
	}
	return n;
}

unsigned
edge_count(enum edge_kind kind, const volatile void *p)
{
	return edge_count_in(kind, p, 1);
}

uint64_t
edge_load(const volatile void *p, size_t bytes, int order)
{
	uint64_t v = 0;

	memcpy(&v, (const void *)p, bytes);
	edge_note(EDGE_LOAD, p, bytes, order);
	return v;
}

void
edge_store(volatile void *p, uint64_t v, size_t bytes, int order)
{
	memcpy((void *)p, &v, bytes);
	edge_note(EDGE_STORE, p, bytes, order);
}

static uint64_t
edge_locked(volatile void *p, uint64_t v, uint64_t kept, size_t bytes)
{
	uint64_t was = 0;

	memcpy(&was, (const void *)p, bytes);
	v |= was & kept;
	memcpy((void *)p, &v, bytes);
	edge_note(EDGE_LOCKED, p, bytes, __ATOMIC_SEQ_CST);
	return was;
}

uint64_t
edge_exchange(volatile void *p, uint64_t v, size_t bytes)
{
	return edge_locked(p, v, 0, bytes);
}

uint64_t
edge_or(volatile void *p, uint64_t v, size_t bytes)
{
	return edge_locked(p, v, UINT64_MAX, bytes);
}

void
edge_fence(int order)
{
	edge_note(EDGE_LOCKED, NULL, 0, order);
}
