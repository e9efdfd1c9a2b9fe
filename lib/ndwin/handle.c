/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The handle table. A handle is a slot's index and the slot's generation; slots are never freed, so
 * any number may be looked up. A slot's word holds all that a look-up must see at once:
 *
 *     63      33   32   31           0
 *     generation  open  references
 *
 * A look-up compares the generation, sees that the handle is open, and counts itself, in one
 * compare-and-swap: after it the object stays. Closing takes `open` away. The thread that makes
 * the word neither open nor referred to ends the object. No reference can be made then any more,
 * as a look-up needs the one and ndwin_object_hold() the other. The next generation begins when the
 * object has gone.
 *
 * The compare-and-swap acquires what the release in ndwin_handle_open() has published, and the last
 * decrement what all former ones have released: the one that ends the object sees all that was done
 * with it.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "ndwin/error.h"
#include "ndwin/handle.h"

#define CHUNK		 256u
#define CHUNKS		 65536u /* 2^24 handles, as many as Windows has */
#define OPEN		 (1ull << 32)
#define REFERENCES	 (OPEN - 1)
#define GENERATION(word) ((uint32_t)((word) >> 33))

struct ndwin_slot {
	_Alignas(64) uint64_t word; /* atomic */
	struct ndwin_object *object;
	struct ndwin_slot *next; /* of the free ones */
	uint32_t index;
};

static struct {
	struct ndwin_slot *chunks[CHUNKS]; /* atomic; each appears once */
	pthread_mutex_t lock;		   /* of what follows */
	struct ndwin_slot *free;
	uint32_t used; /* slots that were ever used */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- slots --------------------------------------------------------------------------- */

/* A slot that was never used. NULL: no memory. Lock held. */
static struct ndwin_slot *
slot_fresh(void)
{
	const uint32_t index = table.used, c = index / CHUNK;
	struct ndwin_slot *chunk, *s;

	if (c == CHUNKS)
		return NULL;
	chunk = table.chunks[c];
	if (chunk == NULL) {
		chunk = aligned_alloc(_Alignof(struct ndwin_slot), CHUNK * sizeof(*chunk));
		if (chunk == NULL)
			return NULL;
		memset(chunk, 0, CHUNK * sizeof(*chunk));
		__atomic_store_n(&table.chunks[c], chunk, __ATOMIC_RELEASE);
	}
	table.used++;
	s = &chunk[index % CHUNK];
	s->index = index;
	return s;
}

static struct ndwin_slot *
slot_take(void)
{
	struct ndwin_slot *s;

	pthread_mutex_lock(&table.lock);
	s = table.free;
	if (s != NULL)
		table.free = s->next;
	else
		s = slot_fresh();
	pthread_mutex_unlock(&table.lock);
	return s;
}

static void
slot_give_back(struct ndwin_slot *s)
{
	const uint64_t word = __atomic_load_n(&s->word, __ATOMIC_RELAXED);

	__atomic_store_n(&s->word, (uint64_t)(GENERATION(word) + 1) << 33, __ATOMIC_RELEASE);
	pthread_mutex_lock(&table.lock);
	s->next = table.free;
	table.free = s;
	pthread_mutex_unlock(&table.lock);
}

/* The lowest two bits don't count; NULL and INVALID_HANDLE_VALUE have no slot. */
static struct ndwin_slot *
slot_find(uintptr_t value)
{
	const uint32_t index = ((uint32_t)value >> 2) - 1;
	struct ndwin_slot *chunk;

	if (index / CHUNK >= CHUNKS)
		return NULL;
	chunk = __atomic_load_n(&table.chunks[index / CHUNK], __ATOMIC_ACQUIRE);
	return chunk != NULL ? &chunk[index % CHUNK] : NULL;
}

/* Refer to the object of an open handle, and take away these bits of the slot's word. */
static struct ndwin_object *
slot_refer(uintptr_t value, uint64_t without)
{
	struct ndwin_slot *s = slot_find(value);
	uint64_t word;

	if (s == NULL)
		return NULL;
	word = __atomic_load_n(&s->word, __ATOMIC_RELAXED);
	do {
		if (GENERATION(word) != (uint32_t)(value >> 32) || (word & OPEN) == 0)
			return NULL;
	} while (!__atomic_compare_exchange_n(
		&s->word, &word, (word & ~without) + 1, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	return s->object;
}

/* ---- objects and handles ------------------------------------------------------------- */

HANDLE
ndwin_handle_open(struct ndwin_object *o, const struct ndwin_class *class_of)
{
	struct ndwin_slot *s = slot_take();
	uint64_t word;

	if (s == NULL)
		return ndwin_fail_null(ERROR_NOT_ENOUGH_MEMORY);
	o->class_of = class_of;
	o->slot = s;
	s->object = o;
	word = __atomic_load_n(&s->word, __ATOMIC_RELAXED);
	__atomic_store_n(&s->word, word | OPEN, __ATOMIC_RELEASE);
	return (HANDLE)(((uintptr_t)GENERATION(word) << 32) | ((uintptr_t)(s->index + 1) << 2));
}

struct ndwin_object *
ndwin_handle_get(HANDLE handle, unsigned int kinds)
{
	struct ndwin_object *o = slot_refer((uintptr_t)handle, 0);

	if (o != NULL && (o->class_of->kind & kinds) != 0)
		return o;
	if (o != NULL)
		ndwin_object_put(o);
	return ndwin_fail_null(ERROR_INVALID_HANDLE);
}

void
ndwin_object_hold(struct ndwin_object *o)
{
	__atomic_fetch_add(&o->slot->word, 1, __ATOMIC_RELAXED);
}

void
ndwin_object_put(struct ndwin_object *o)
{
	struct ndwin_slot *s = o->slot;

	if ((__atomic_sub_fetch(&s->word, 1, __ATOMIC_ACQ_REL) & (OPEN | REFERENCES)) != 0)
		return;
	o->class_of->destroy(o);
	slot_give_back(s);
}

BOOL WINAPI
CloseHandle(HANDLE handle)
{
	struct ndwin_object *o = slot_refer((uintptr_t)handle, OPEN);

	if (o == NULL)
		return ndwin_fail(ERROR_INVALID_HANDLE);
	if (o->class_of->closed != NULL)
		o->class_of->closed(o);
	ndwin_object_put(o);
	return TRUE;
}
