/* SPDX-License-Identifier: BSD-3-Clause */
/* A sorted table: blocks come and go rarely, and are looked up for each mapping. */
#include <stdlib.h>
#include <string.h>

#include "ndkpi/blocks.h"

#define ROOM_AT_FIRST 16u

void
ndk_blocks_init(struct ndk_blocks *b)
{
	*b = (struct ndk_blocks){0};
	pthread_mutex_init(&b->lock, NULL);
}

void
ndk_blocks_fini(struct ndk_blocks *b)
{
	free(b->v);
	pthread_mutex_destroy(&b->lock);
}

/* The number of blocks that begin at at or below. */
static size_t
blocks_up_to(const struct ndk_blocks *b, uintptr_t at)
{
	size_t low = 0, high = b->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (b->v[middle].at <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool
blocks_grow(struct ndk_blocks *b)
{
	size_t room = b->room != 0 ? 2 * b->room : ROOM_AT_FIRST;
	struct ndk_block *v;

	if (b->count < b->room)
		return true;
	v = realloc(b->v, room * sizeof(*v));
	if (v == NULL)
		return false;
	b->v = v;
	b->room = room;
	return true;
}

bool
ndk_blocks_add(struct ndk_blocks *b, const void *at, size_t bytes)
{
	bool fits;
	size_t i;

	pthread_mutex_lock(&b->lock);
	fits = blocks_grow(b);
	if (fits) {
		i = blocks_up_to(b, (uintptr_t)at);
		memmove(&b->v[i + 1], &b->v[i], (b->count - i) * sizeof(b->v[0]));
		b->v[i] = (struct ndk_block){.at = (uintptr_t)at, .bytes = bytes};
		b->count++;
	}
	pthread_mutex_unlock(&b->lock);
	return fits;
}

void
ndk_blocks_remove(struct ndk_blocks *b, const void *at)
{
	size_t i;

	pthread_mutex_lock(&b->lock);
	i = blocks_up_to(b, (uintptr_t)at);
	if (i > 0 && b->v[i - 1].at == (uintptr_t)at) {
		b->count--;
		memmove(&b->v[i - 1], &b->v[i], (b->count - (i - 1)) * sizeof(b->v[0]));
	}
	pthread_mutex_unlock(&b->lock);
}

bool
ndk_blocks_meet(struct ndk_blocks *b, uintptr_t at, size_t bytes)
{
	bool meet;
	size_t i;

	pthread_mutex_lock(&b->lock);
	i = blocks_up_to(b, at + bytes - 1);
	meet = i > 0 && b->v[i - 1].at + b->v[i - 1].bytes > at;
	pthread_mutex_unlock(&b->lock);
	return meet;
}

bool
ndk_blocks_have(struct ndk_blocks *b, uintptr_t at, size_t bytes)
{
	bool have = false;
	size_t i;

	pthread_mutex_lock(&b->lock);
	i = blocks_up_to(b, at);
	if (i > 0) {
		size_t offset = at - b->v[i - 1].at;

		have = offset <= b->v[i - 1].bytes && bytes <= b->v[i - 1].bytes - offset;
	}
	pthread_mutex_unlock(&b->lock);
	return have;
}
