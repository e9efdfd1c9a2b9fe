/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "account/account.h"
#include "session/slots.h"

#define SLOT_INDEX_MASK ((1u << NDD_SLOT_INDEX_BITS) - 1u)
#define SLOT_FIRST_ROOM 16u

void
ndd_slots_init(struct ndd_slots *t, uint32_t max, bool plain)
{
	memset(t, 0, sizeof(*t));
	t->max = max;
	t->plain = plain;
	t->free_head = t->free_tail = NDD_SLOT_NONE;
}

void
ndd_slots_limit(struct ndd_slots *t, uint32_t max)
{
	if (max < t->max)
		t->max = max;
}

void
ndd_slots_charge(
	struct ndd_slots *t, struct ndd_account *account, enum config_share what, uint32_t files)
{
	t->account = account;
	t->what = what;
	t->files = files;
}

void
ndd_slots_fini(struct ndd_slots *t)
{
	free(t->slot);
	memset(t, 0, sizeof(*t));
}

static void
slots_put_free(struct ndd_slots *t, uint32_t i)
{
	t->slot[i].next_free = NDD_SLOT_NONE;
	if (t->free_tail == NDD_SLOT_NONE)
		t->free_head = i;
	else
		t->slot[t->free_tail].next_free = i;
	t->free_tail = i;
}

static bool
slots_grow(struct ndd_slots *t)
{
	uint32_t room = t->room == 0 ? SLOT_FIRST_ROOM : t->room * 2;
	struct ndd_slot *slot;

	if (room > t->max)
		room = t->max;
	if (room <= t->room)
		return false;
	slot = realloc(t->slot, room * sizeof(*slot));
	if (slot == NULL)
		return false;
	memset(slot + t->room, 0, (room - t->room) * sizeof(*slot));
	t->slot = slot;
	while (t->room < room)
		slots_put_free(t, t->room++);
	return true;
}

static uint32_t
handle_of(const struct ndd_slots *t, uint32_t i)
{
	return t->plain ? i : i | t->slot[i].generation << NDD_SLOT_INDEX_BITS;
}

uint32_t
ndd_slots_add(struct ndd_slots *t, void *item)
{
	uint32_t i;

	if (t->free_head == NDD_SLOT_NONE && !slots_grow(t)) {
		if (t->account != NULL && t->used == t->max)
			ndd_account_refuse(t->account,
				"the session has all %u objects of this kind that it may have "
				"(the daemon's \"limits\")",
				t->max);
		return NDD_SLOT_NONE;
	}
	if (t->account != NULL && !ndd_account_take_with_files(t->account, t->what, 1, t->files))
		return NDD_SLOT_NONE;
	i = t->free_head;
	t->free_head = t->slot[i].next_free;
	if (t->free_head == NDD_SLOT_NONE)
		t->free_tail = NDD_SLOT_NONE;
	t->slot[i].item = item;
	t->used++;
	if (t->account != NULL)
		t->account->objects++;
	return handle_of(t, i);
}

void *
ndd_slots_get(const struct ndd_slots *t, uint32_t handle)
{
	uint32_t i = t->plain ? handle : handle & SLOT_INDEX_MASK;

	if (i >= t->room || t->slot[i].item == NULL || handle_of(t, i) != handle)
		return NULL;
	return t->slot[i].item;
}

void
ndd_slots_remove(struct ndd_slots *t, uint32_t handle)
{
	uint32_t i = t->plain ? handle : handle & SLOT_INDEX_MASK;

	if (ndd_slots_get(t, handle) == NULL)
		return;
	t->slot[i].item = NULL;
	/* All ones is kept out, so that no handle is ever NDD_SLOT_NONE. */
	t->slot[i].generation = (t->slot[i].generation + 1) % (UINT32_MAX >> NDD_SLOT_INDEX_BITS);
	t->used--;
	if (t->account != NULL) {
		t->account->objects--;
		ndd_account_give_with_files(t->account, t->what, 1, t->files);
	}
	slots_put_free(t, i);
}

void *
ndd_slots_next(const struct ndd_slots *t, uint32_t *pos)
{
	while (*pos < t->room) {
		void *item = t->slot[(*pos)++].item;

		if (item != NULL)
			return item;
	}
	return NULL;
}
