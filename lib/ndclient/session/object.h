/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all objects begin with, and how long they live (R-LIFE).
 *
 * An object is held by the application, until it closes it, and by each object that rests on it: a
 * queue pair by nothing, a completion queue by the queue pairs that use it, a region by the windows
 * that are bound to it. A close ends the object's requests and callbacks and lets go. The last
 * holder that lets go takes the object down: the daemon destroys its half (it wants what rests on
 * an object gone before the object), memory is freed, and the objects that this one rested on are
 * let go. So objects are closed in any order and a close cannot fail.
 *
 * Taking an object down calls the daemon: never let go of one in the control thread, nor with a
 * lock held.
 */
#ifndef ND_OBJECT_H
#define ND_OBJECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "ndclient/ndclient.h"
#include "shm/ndsh_msg.h"

#define ND_RESTS_MAX 4 /* a queue pair: domain, two completion queues, shared receive queue */

struct nd_object;

/* Both are called without a lock held. */
struct nd_class {
	/* The application closes it, and makes no call on it any more: end its requests with
	 * ND_CANCELED and wait for its callbacks. True: that may not be waited for, and
	 * nd_object_drop() follows when they have returned. May be NULL. */
	bool (*stop)(struct nd_object *o);
	/* Nothing rests on it: let the daemon forget it, and free it. What it rests on is still
	 * there, unless the adapter is being closed. */
	void (*destroy)(struct nd_object *o);
};

struct nd_object {
	const struct nd_class *class;
	struct nd_adapter *adapter;
	uint32_t holders;		     /* atomic */
	uint32_t callback;		     /* atomic, futex: whether one runs (callbacks.c) */
	bool closed;			     /* by the application; guarded by nd_adapter.lock */
	struct nd_overlapped *close_request; /* of nd_close(), or NULL */
	struct nd_object *rests_on[ND_RESTS_MAX];
	LIST_ENTRY(nd_object) link; /* guarded by nd_adapter.lock */
};
LIST_HEAD(nd_object_list, nd_object);

/* It has been made: the application holds it, nd_adapter_close() finds it. */
void nd_object_open(struct nd_object *o, const struct nd_class *class, struct nd_adapter *a);
/* o rests on it from now on. NULL does nothing. */
void nd_object_rest(struct nd_object *o, struct nd_object *on);
/* Let go of it. True: it is gone. */
bool nd_object_drop(struct nd_object *o);
/* For those that hold it for a while, and for those that can't take it down where they let go: true
 * of the last one, and then nd_object_end() follows. */
void nd_object_hold(struct nd_object *o);
bool nd_object_let_go(struct nd_object *o);
void nd_object_end(struct nd_object *o);
/* The adapter is being closed, its threads have ended: take down all there is, the newest first. */
void nd_objects_end(struct nd_adapter *a);
/* Let the daemon forget its half. True: it has; memory that was lent to it is ours again. */
bool nd_object_forget(struct nd_adapter *a, enum ndsh_msg_type type, uint32_t id);

#endif
