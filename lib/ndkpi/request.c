/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests. The call that the consumer makes only queues; the worker asks libndclient and tells the
 * outcome. libndclient's completion queues, too: it comes under locks, and may be faster than the
 * call that it is of, which is no matter, because the worker looks at it when that has returned.
 */
#include <stdlib.h>

#include "ndkpi/adapter.h"
#include "ndkpi/callback.h"
#include "ndkpi/object.h"
#include "ndkpi/status.h"

static void
request_put(struct ndk_request *r)
{
	ndk_worker_put(&r->object->adapter->worker, &r->job);
}

static void
request_done(struct nd_overlapped *ov, nd_status st)
{
	struct ndk_request *r = ov->key;

	r->status = st;
	request_put(r);
}

/* The outcome has come by ov. */
static void
request_finish(struct ndk_job *job)
{
	struct ndk_request *r = (struct ndk_request *)job;

	r->end(r, r->status);
}

static void
request_begin(struct ndk_job *job)
{
	struct ndk_request *r = (struct ndk_request *)job;
	nd_status st;

	r->ov.flags = ND_REQUEST_CALLBACK;
	r->ov.done = request_done;
	r->ov.key = r;
	r->job.run = request_finish;
	st = r->begin(r);
	if (st != ND_PENDING)
		r->end(r, st);
}

NTSTATUS
ndk_request_start(struct ndk_request *r)
{
	r->job.run = request_begin;
	request_put(r);
	return STATUS_PENDING;
}

void
ndk_request_follow(struct ndk_request *r, void *object, ndk_begin begin, ndk_end end)
{
	r->object = object;
	r->begin = begin;
	r->end = end;
	request_begin(&r->job);
}

static void
request_end(struct ndk_request *r, nd_status st)
{
	ndk_request_tell(r, ndk_status(st));
}

void *
ndk_request_new(
	void *object, size_t bytes, ndk_begin begin, NDK_FN_REQUEST_COMPLETION done, PVOID context)
{
	struct ndk_request *r = calloc(1, bytes);

	if (r == NULL)
		return NULL;
	r->object = object;
	r->begin = begin;
	r->end = request_end;
	r->done = done;
	r->context = context;
	return r;
}

void
ndk_request_tell(struct ndk_request *r, NTSTATUS status)
{
	NDK_FN_REQUEST_COMPLETION done = r->done;
	PVOID context = r->context;

	free(r);
	ndk_callback_enter();
	done(context, status);
	ndk_callback_leave();
}

/* ---- creates ---------------------------------------------------------------------------- */

static void
create_undo(struct ndk_object *o)
{
	struct ndk_adapter *a = o->adapter;

	free(o);
	ndk_adapter_drop(a);
}

static void
create_end(struct ndk_request *r, nd_status st)
{
	struct ndk_object *o = r->object;
	NDK_FN_CREATE_COMPLETION created = r->created;
	PVOID context = r->context;

	free(r);
	ndk_callback_enter();
	created(context, ndk_status(st), st == ND_SUCCESS ? &o->header : NULL);
	ndk_callback_leave();
	if (st != ND_SUCCESS) /* the consumer has never seen it */
		create_undo(o);
}

void *
ndk_create_new(void *object, size_t bytes, ndk_begin begin, NDK_FN_CREATE_COMPLETION created,
	PVOID context)
{
	struct ndk_request *r;

	if (object == NULL)
		return NULL;
	r = ndk_request_new(object, bytes, begin, NULL, context);
	if (r == NULL) {
		create_undo(object);
		return NULL;
	}
	r->created = created;
	r->end = create_end;
	return r;
}

NTSTATUS
ndk_create_now(void *object, nd_status st, void *out)
{
	if (object == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	if (st == ND_SUCCESS)
		memcpy(out, &object, sizeof(object)); /* to a pointer of the object's own type */
	else
		create_undo(object);
	return ndk_status(st);
}
