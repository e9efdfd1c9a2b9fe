/* SPDX-License-Identifier: BSD-3-Clause */
/* What can be waited for: something that is set, or not yet. Events and threads begin with one. */
#ifndef NDWIN_WAITABLE_H
#define NDWIN_WAITABLE_H

#include <pthread.h>

#include "base/list.h"
#include "ndwin/futex.h"
#include "ndwin/handle.h"

struct ndwin_waitable {
	struct ndwin_object object;
	pthread_mutex_t lock;	  /* of what follows */
	struct base_link waiters; /* struct ndwin_wait_place */
	bool set, manual;
};

#define NDWIN_WAITING  0u	  /* a wait's word: it may sleep */
#define NDWIN_GIVEN_UP UINT32_MAX /* its time was up */

/* A thread's wait, in its own memory. */
struct ndwin_wait {
	/* Atomic. NDWIN_WAITING changes once into the index + 1 of what has let the wait through,
	 * or into NDWIN_GIVEN_UP. A wait for all: into anything else, to make it look again. */
	uint32_t word;
	bool all;
};

/* Its place among those that wait for one waitable. */
struct ndwin_wait_place {
	struct base_link link;
	struct ndwin_wait *wait;
	uint32_t index;
};

void ndwin_waitable_init(struct ndwin_waitable *w, bool manual, bool set);
void ndwin_waitable_fini(struct ndwin_waitable *w);

/* Lock held. Set it, and let through what waits for it. */
void ndwin_waitable_set_locked(struct ndwin_waitable *w, struct ndwin_wakes *wakes);
void ndwin_waitable_set(struct ndwin_waitable *w);
void ndwin_waitable_reset(struct ndwin_waitable *w);

/* Lock held: let the wait through if it can be, by what is number index of it; else it gets its
 * place. True: it was let through, now or by another waitable. */
bool ndwin_waitable_join_locked(struct ndwin_waitable *w, struct ndwin_wait_place *place,
	struct ndwin_wait *wait, uint32_t index);

#endif
