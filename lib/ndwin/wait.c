/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for events and threads: for one of several, or for all. waitable.c says how it works. */
#include "ndwin/error.h"
#include "ndwin/waitable.h"

/* Sleep until the word says something, or the time is up. */
static uint32_t
wait_sleep(struct ndwin_wait *wait, uint64_t deadline)
{
	uint32_t word;

	do {
		word = __atomic_load_n(&wait->word, __ATOMIC_ACQUIRE);
		if (word != NDWIN_WAITING)
			return word;
	} while (ndwin_futex_wait(&wait->word, NDWIN_WAITING, deadline));
	/* The last moment: false leaves in word what came instead. */
	if (__atomic_compare_exchange_n(
		    &wait->word, &word, NDWIN_GIVEN_UP, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return NDWIN_GIVEN_UP;
	return word;
}

static void
places_take_back(struct ndwin_waitable **on, struct ndwin_wait_place *places, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		pthread_mutex_lock(&on[i]->lock);
		base_list_remove(&places[i].link);
		pthread_mutex_unlock(&on[i]->lock);
	}
}

static DWORD
wait_for_one(struct ndwin_waitable **on, uint32_t count, uint64_t deadline)
{
	struct ndwin_wait_place places[MAXIMUM_WAIT_OBJECTS];
	struct ndwin_wait wait = {.word = NDWIN_WAITING};
	uint32_t joined = 0, word;
	bool through = false;

	while (joined < count && !through) {
		struct ndwin_waitable *w = on[joined];

		pthread_mutex_lock(&w->lock);
		through = ndwin_waitable_join_locked(w, &places[joined], &wait, joined);
		pthread_mutex_unlock(&w->lock);
		joined++;
	}
	word = wait_sleep(&wait, deadline);
	places_take_back(on, places, joined);
	return word == NDWIN_GIVEN_UP ? WAIT_TIMEOUT : WAIT_OBJECT_0 + word - 1;
}

/* ---- for all ------------------------------------------------------------------------- */

/* By address, as locks of several are taken in this order. False: one stands there twice. */
static bool
waitables_sort(struct ndwin_waitable **on, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		struct ndwin_waitable *w = on[i];
		uint32_t at = i;

		for (; at > 0 && (uintptr_t)on[at - 1] > (uintptr_t)w; at--)
			on[at] = on[at - 1];
		on[at] = w;
		if (at > 0 && on[at - 1] == w)
			return false;
	}
	return true;
}

/* All locks held. If all are set, take them. */
static bool
waitables_take_all(struct ndwin_waitable **on, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!on[i]->set)
			return false;
	for (uint32_t i = 0; i < count; i++)
		on[i]->set = on[i]->manual;
	return true;
}

/*
 * True: the wait is over. Else the word is NDWIN_WAITING, and whatever is set from now on
 * changes it: nothing is, while the locks are held.
 */
static bool
all_look(struct ndwin_waitable **on, struct ndwin_wait_place *places, uint32_t count,
	struct ndwin_wait *wait)
{
	bool through;

	for (uint32_t i = 0; i < count; i++)
		pthread_mutex_lock(&on[i]->lock);
	through = waitables_take_all(on, count);
	__atomic_store_n(&wait->word, NDWIN_WAITING, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < count; i++) {
		if (!base_linked(&places[i].link))
			base_list_append(&on[i]->waiters, &places[i].link);
		pthread_mutex_unlock(&on[i]->lock);
	}
	return through;
}

static DWORD
wait_for_all(struct ndwin_waitable **on, uint32_t count, uint64_t deadline)
{
	struct ndwin_wait_place places[MAXIMUM_WAIT_OBJECTS];
	struct ndwin_wait wait = {.all = true};
	bool through, in_time = true;

	if (!waitables_sort(on, count))
		return ndwin_fail_wait(ERROR_INVALID_PARAMETER);
	for (uint32_t i = 0; i < count; i++)
		places[i] = (struct ndwin_wait_place){.wait = &wait, .index = i};
	for (;;) {
		through = all_look(on, places, count, &wait);
		if (through || !in_time)
			break;
		in_time = wait_sleep(&wait, deadline) != NDWIN_GIVEN_UP;
	}
	places_take_back(on, places, count);
	return through ? WAIT_OBJECT_0 : WAIT_TIMEOUT;
}

/* ---- the calls ----------------------------------------------------------------------- */

static void
waitables_put(struct ndwin_waitable **on, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		ndwin_object_put(&on[i]->object);
}

DWORD WINAPI
WaitForMultipleObjects(DWORD count, const HANDLE *handles, BOOL all, DWORD milliseconds)
{
	const uint64_t deadline = ndwin_deadline(milliseconds);
	struct ndwin_waitable *on[MAXIMUM_WAIT_OBJECTS];
	DWORD result;

	if (count == 0 || count > MAXIMUM_WAIT_OBJECTS || handles == NULL)
		return ndwin_fail_wait(ERROR_INVALID_PARAMETER);
	for (uint32_t i = 0; i < count; i++) {
		on[i] = (void *)ndwin_handle_get(handles[i], NDWIN_WAITABLES);
		if (on[i] == NULL) {
			waitables_put(on, i);
			return WAIT_FAILED;
		}
	}
	result = all ? wait_for_all(on, count, deadline) : wait_for_one(on, count, deadline);
	waitables_put(on, count);
	return result;
}

DWORD WINAPI
WaitForSingleObject(HANDLE handle, DWORD milliseconds)
{
	return WaitForMultipleObjects(1, &handle, FALSE, milliseconds);
}
