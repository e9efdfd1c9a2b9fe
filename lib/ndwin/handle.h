/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects and their handles. An object has one count of references, in its slot of the handle
 * table: those of calls that work on it, of requests, of other objects. It lives until its
 * handle is closed and the count is 0, in whichever order.
 */
#ifndef NDWIN_HANDLE_H
#define NDWIN_HANDLE_H

#include "ndwin/ndwin.h"

enum ndwin_kind {
	NDWIN_EVENT = 1,
	NDWIN_THREAD = 2,
	NDWIN_PORT = 4,
	NDWIN_FILE = 8,
};
#define NDWIN_WAITABLES ((unsigned int)NDWIN_EVENT | NDWIN_THREAD)

struct ndwin_slot;
struct ndwin_object;

struct ndwin_class {
	enum ndwin_kind kind;
	void (*closed)(struct ndwin_object *o); /* the handle was; or NULL */
	void (*destroy)(struct ndwin_object *o);
};

struct ndwin_object {
	const struct ndwin_class *class_of;
	struct ndwin_slot *slot;
};

/*
 * Give an object its handle. NULL and the last error: no memory, and the object is still the
 * caller's.
 */
HANDLE ndwin_handle_open(struct ndwin_object *o, const struct ndwin_class *class_of);
/* Refer to the object of a handle, if it is of one of the kinds. NULL: ERROR_INVALID_HANDLE. */
struct ndwin_object *ndwin_handle_get(HANDLE handle, unsigned int kinds);
/* Refer to it once more; the caller has a reference. */
void ndwin_object_hold(struct ndwin_object *o);
void ndwin_object_put(struct ndwin_object *o);

#endif
