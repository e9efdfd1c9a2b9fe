/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits and what they wait for. A wait for one of several has a place with each of them; which
 * one lets it through is decided by a compare-and-swap of the wait's word, so it is one, and
 * only that one is reset. It hands over: what resets itself is reset by the thread that sets it,
 * on behalf of the wait that was first.
 *
 * The wait's memory is its thread's stack, which is used again when the word has changed. That
 * is safe as the word is changed under the waitable's lock, and each wait takes back its places
 * under their locks before it returns: it cannot get past a thread that is still about to unlink
 * its place. The wake-up comes later, but needs an address only (futex.h).
 *
 * A wait for all is not let through by those that set: that takes the locks of all its
 * waitables. It is woken to look again, and keeps its places.
 */
#include "ndwin/waitable.h"

void
ndwin_waitable_init(struct ndwin_waitable *w, bool manual, bool set)
{
	pthread_mutex_init(&w->lock, NULL);
	base_list_init(&w->waiters);
	w->manual = manual;
	w->set = set;
}

void
ndwin_waitable_fini(struct ndwin_waitable *w)
{
	pthread_mutex_destroy(&w->lock);
}

/* Only one of those that try gets it. */
static bool
wait_claim(struct ndwin_wait *wait, uint32_t index)
{
	uint32_t waiting = NDWIN_WAITING;

	return __atomic_compare_exchange_n(
		&wait->word, &waiting, index + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void
ndwin_waitable_set_locked(struct ndwin_waitable *w, struct ndwin_wakes *wakes)
{
	struct base_link *at, *next;

	w->set = true;
	for (at = w->waiters.next; at != &w->waiters && w->set; at = next) {
		struct ndwin_wait_place *place = base_container(at, struct ndwin_wait_place, link);
		struct ndwin_wait *wait = place->wait;

		next = at->next;
		if (!wait_claim(wait, place->index))
			continue; /* another waitable has, or it was woken already, or gave up */
		ndwin_wakes_add(wakes, &wait->word);
		if (wait->all)
			continue;
		base_list_remove(at);
		w->set = w->manual;
	}
}

void
ndwin_waitable_set(struct ndwin_waitable *w)
{
	struct ndwin_wakes wakes = {0};

	pthread_mutex_lock(&w->lock);
	ndwin_waitable_set_locked(w, &wakes);
	pthread_mutex_unlock(&w->lock);
	ndwin_wakes_flush(&wakes);
}

void
ndwin_waitable_reset(struct ndwin_waitable *w)
{
	pthread_mutex_lock(&w->lock);
	w->set = false;
	pthread_mutex_unlock(&w->lock);
}

bool
ndwin_waitable_join_locked(struct ndwin_waitable *w, struct ndwin_wait_place *place,
	struct ndwin_wait *wait, uint32_t index)
{
	*place = (struct ndwin_wait_place){.wait = wait, .index = index};
	if (!w->set) {
		base_list_append(&w->waiters, &place->link);
		return false;
	}
	if (wait_claim(wait, index))
		w->set = w->manual;
	return true;
}
