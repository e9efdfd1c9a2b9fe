/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "ndwin/error.h"
#include "ndwin/waitable.h"

static void
event_destroy(struct ndwin_object *o)
{
	struct ndwin_waitable *w = (struct ndwin_waitable *)o;

	ndwin_waitable_fini(w);
	free(w);
}

static const struct ndwin_class event_class = {.kind = NDWIN_EVENT, .destroy = event_destroy};

HANDLE WINAPI
CreateEventA(LPSECURITY_ATTRIBUTES attributes, BOOL manual, BOOL initial, const void *name)
{
	struct ndwin_waitable *w;
	HANDLE h;

	if (attributes != NULL || name != NULL)
		return ndwin_fail_null(ERROR_INVALID_PARAMETER);
	w = malloc(sizeof(*w));
	if (w == NULL)
		return ndwin_fail_null(ERROR_NOT_ENOUGH_MEMORY);
	ndwin_waitable_init(w, manual, initial);
	h = ndwin_handle_open(&w->object, &event_class);
	if (h == NULL)
		event_destroy(&w->object);
	return h;
}

BOOL WINAPI
SetEvent(HANDLE event)
{
	struct ndwin_object *o = ndwin_handle_get(event, NDWIN_EVENT);

	if (o == NULL)
		return FALSE;
	ndwin_waitable_set((struct ndwin_waitable *)o);
	ndwin_object_put(o);
	return TRUE;
}

BOOL WINAPI
ResetEvent(HANDLE event)
{
	struct ndwin_object *o = ndwin_handle_get(event, NDWIN_EVENT);

	if (o == NULL)
		return FALSE;
	ndwin_waitable_reset((struct ndwin_waitable *)o);
	ndwin_object_put(o);
	return TRUE;
}
