/* SPDX-License-Identifier: BSD-3-Clause */
/* What all objects but the adapter have, and the requests that are made of them. */
#ifndef NDK_OBJECT_H
#define NDK_OBJECT_H

#include "ndclient/ndclient.h"

#include "ndkpi/ndkpi.h"
#include "ndkpi/worker.h"

struct ndk_adapter;
struct ndk_object;
struct ndk_request;

typedef nd_status (*ndk_begin)(struct ndk_request *r);
typedef void (*ndk_end)(struct ndk_request *r, nd_status st);

/*
 * A request that pends. The worker alone looks at it once it is started: it calls begin, which asks
 * libndclient, and when the outcome is known, end, which calls the consumer back. The outcome is
 * what begin returns, or with ND_PENDING what comes by ov.
 */
struct ndk_request {
	struct ndk_job job;
	struct ndk_object *object;
	struct nd_overlapped ov;
	ndk_begin begin;
	ndk_end end;
	nd_status status;
	union {
		NDK_FN_REQUEST_COMPLETION done;
		NDK_FN_CREATE_COMPLETION created;
		NDK_FN_CLOSE_COMPLETION closed;
	};
	PVOID context;
};

/* A consumer's pointer to an object is a pointer to this: it begins as NDK_CQ and the others. */
struct ndk_object {
	NDK_OBJECT_HEADER header;
	const void *dispatch;	     /* the consumer's Dispatch; nothing here looks at it */
	struct ndk_adapter *adapter; /* held */
	void *nd;		     /* libndclient's */
	struct ndk_request close;    /* so that a close cannot fail */
};

/* ---- objects ---------------------------------------------------------------------------- */

/* A zeroed object of so many bytes. NULL: no memory. */
void *ndk_object_new(
	struct ndk_adapter *a, NDK_OBJECT_TYPE type, const void *dispatch, size_t bytes);
/* What a consumer named, as an object of this type and adapter. NULL: it is not. */
void *ndk_object_of(const void *named, NDK_OBJECT_TYPE type, const struct ndk_adapter *a);
/* NdkClose... and NdkQueryExtension of all tables. */
NTSTATUS ndk_object_close(
	NDK_OBJECT_HEADER *object, NDK_FN_CLOSE_COMPLETION completion, PVOID context);
NTSTATUS ndk_query_extension(NDK_OBJECT_HEADER *object, GUID *id, NDK_VERSION version,
	NDK_EXTENSION_INTERFACE *extension);

/* ---- requests --------------------------------------------------------------------------- */

/* A zeroed request of so many bytes, which begin with a struct ndk_request. NULL: no memory. */
void *ndk_request_new(
	void *object, size_t bytes, ndk_begin begin, NDK_FN_REQUEST_COMPLETION done, PVOID context);
/* Give it to the worker. STATUS_PENDING. */
NTSTATUS ndk_request_start(struct ndk_request *r);
/* Begin and end it without its consumer's asking: for requests that are part of an object. Worker
 * only; end may be called at once. */
void ndk_request_follow(struct ndk_request *r, void *object, ndk_begin begin, ndk_end end);
/* The last step of end: free it, and call the consumer. */
void ndk_request_tell(struct ndk_request *r, NTSTATUS status);

/* ---- creates ---------------------------------------------------------------------------- */

/* The request that creates object, which begin gives what it is of libndclient. NULL, and object is
 * freed: no memory, perhaps for object, which is NULL then. */
void *ndk_create_new(void *object, size_t bytes, ndk_begin begin, NDK_FN_CREATE_COMPLETION created,
	PVOID context);
/* A create that does not pend: what the call returns. object may be NULL, for lack of memory. */
NTSTATUS ndk_create_now(void *object, nd_status st, void *out);

#endif
