/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread that runs an adapter's callbacks, one at a time, and what a callback may not do. */
#ifndef ND_CALLBACKS_H
#define ND_CALLBACKS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "ndclient/ndclient.h"
#include "ndclient/session/handlers.h"

struct nd_object;

/* Of an adapter; the thread runs from the first callback on. */
struct nd_callbacks {
	pthread_t thread;
	int epoll_fd, stop_fd;
	int offer_fd; /* a listener with a callback has a request */
	int end_fd;   /* a region is to be taken down, -1: no thread; guarded by windows_lock */
	bool running; /* guarded by nd_adapter.lock */
};

/* Is this thread in a callback, of whatever adapter? It is from now on, or is not any more. */
bool nd_in_callback(void);
void nd_callback_mark(bool inside);
/* The object's callback is about to run, with the lock held that guards the object's list; it has
 * returned, and the object may be gone with this call. */
void nd_callback_enter(struct nd_object *o);
void nd_callback_leave(struct nd_object *o);
/* The object was taken from its list: wait until its callback has returned. True: a callback calls,
 * and may not wait; then nd_object_drop() follows when the object's own returns, perhaps before
 * this one does. */
bool nd_callback_outlives(struct nd_object *o);
/* Call it, marked as a callback. */
void nd_callback_run(void (*callback)(void *arg, nd_status st), void *arg, nd_status st);

/* Start the thread, if it does not run yet; nd_adapter.lock held. */
bool nd_callbacks_start(struct nd_adapter *a);
/* Let the thread watch the descriptor. */
bool nd_callbacks_watch(struct nd_adapter *a, int fd, enum nd_callback_kind kind, uint32_t id);
/* A timer that the thread watches, for nd_timer_set(); -1: no descriptor is left. */
int nd_callbacks_timer(struct nd_adapter *a, enum nd_callback_kind kind, uint32_t id);
void nd_callbacks_unwatch(struct nd_adapter *a, int fd);
/* Returns when all callbacks have; none follows. */
void nd_callbacks_stop(struct nd_adapter *a);

#endif
