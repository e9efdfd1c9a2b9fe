/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects and their closes. The consumer's memory of an object is ours until its close has been
 * told; it is freed just before, since nothing may touch it afterwards (R-LIFE-07). The adapter is
 * held until the callback has returned (R-LIFE-10).
 */
#include <stdlib.h>

#include "ndkpi/adapter.h"
#include "ndkpi/callback.h"
#include "ndkpi/object.h"

void *
ndk_object_new(struct ndk_adapter *a, NDK_OBJECT_TYPE type, const void *dispatch, size_t bytes)
{
	struct ndk_object *o = calloc(1, bytes);

	if (o == NULL)
		return NULL;
	o->header.Version = ndk_version;
	o->header.ObjectType = type;
	o->dispatch = dispatch;
	o->adapter = a;
	ndk_adapter_hold(a);
	return o;
}

void *
ndk_object_of(const void *named, NDK_OBJECT_TYPE type, const struct ndk_adapter *a)
{
	const struct ndk_object *o = named;

	return o != NULL && o->header.ObjectType == type && o->adapter == a ? (void *)(uintptr_t)o
									    : NULL;
}

NTSTATUS
ndk_query_extension(NDK_OBJECT_HEADER *object, GUID *id, NDK_VERSION version,
	NDK_EXTENSION_INTERFACE *extension)
{
	(void)object;
	(void)id;
	(void)version;
	(void)extension;
	return STATUS_NOT_SUPPORTED;
}

/* ---- close ------------------------------------------------------------------------------ */

/* It may wait for the object's callback, in another thread. */
static nd_status
object_close_begin(struct ndk_request *r)
{
	return nd_close(r->object->nd, &r->ov);
}

static void
object_close_end(struct ndk_request *r, nd_status st)
{
	struct ndk_object *o = r->object;
	struct ndk_adapter *a = o->adapter;
	NDK_FN_CLOSE_COMPLETION closed = r->closed;
	PVOID context = r->context;

	(void)st;
	free(o); /* with the request */
	if (closed != NULL) {
		ndk_callback_enter();
		closed(context);
		ndk_callback_leave();
	}
	ndk_adapter_drop(a);
}

NTSTATUS
ndk_object_close(NDK_OBJECT_HEADER *object, NDK_FN_CLOSE_COMPLETION completion, PVOID context)
{
	struct ndk_object *o = (struct ndk_object *)object;
	struct ndk_request *r = &o->close;

	r->object = o;
	r->begin = object_close_begin;
	r->end = object_close_end;
	r->closed = completion;
	r->context = context;
	return ndk_request_start(r);
}
