/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndkpi/adapter.h"
#include "ndkpi/callback.h"
#include "ndkpi/cq.h"
#include "ndkpi/result.h"
#include "ndkpi/status.h"

static struct nd_cq *
cq_of(NDK_CQ *self)
{
	return ((struct ndk_object *)self)->nd;
}

static VOID
cq_arm(NDK_CQ *self, ULONG type)
{
	(void)nd_cq_arm_callback(cq_of(self), type);
}

static ULONG
cq_results(NDK_CQ *self, NDK_RESULT results[], ULONG n)
{
	return ndk_results(cq_of(self), results, n);
}

static ULONG
cq_results_ex(NDK_CQ *self, NDK_RESULT_EX results[], ULONG n)
{
	return ndk_results_ex(cq_of(self), results, n);
}

static NTSTATUS
cq_moderate(NDK_CQ *self, ULONG interval, ULONG count)
{
	return ndk_status(nd_cq_moderate(cq_of(self), interval, count));
}

/* ---- resize ----------------------------------------------------------------------------- */

struct resize_request {
	struct ndk_request request;
	ULONG depth;
};

static nd_status
resize_begin(struct ndk_request *r)
{
	return nd_cq_resize(r->object->nd, ((struct resize_request *)r)->depth);
}

static NTSTATUS
cq_resize(NDK_CQ *self, ULONG depth, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
	struct resize_request *r;

	if (completion == NULL)
		return STATUS_INVALID_PARAMETER;
	r = ndk_request_new(self, sizeof(*r), resize_begin, completion, context);
	if (r == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	r->depth = depth;
	return ndk_request_start(&r->request);
}

const NDK_CQ_DISPATCH ndk_cq_dispatch = {
	.NdkCloseCq = ndk_object_close,
	.NdkQueryExtension = ndk_query_extension,
	.NdkResizeCq = cq_resize,
	.NdkArmCq = cq_arm,
	.NdkGetCqResults = cq_results,
	.NdkControlCqInterruptModeration = cq_moderate,
	.NdkGetCqResultsEx = cq_results_ex,
};

/* ---- create ----------------------------------------------------------------------------- */

struct create_request {
	struct ndk_request request;
	ULONG depth;
	GROUP_AFFINITY near;
};

/* In libndclient's thread of callbacks. The queue may be gone when its callback returns. */
static void
cq_notified(void *arg, nd_status st)
{
	const struct ndk_cq *cq = arg;

	ndk_callback_enter();
	cq->notification(cq->context, st);
	ndk_callback_leave();
}

static nd_status
create_begin(struct ndk_request *r)
{
	const struct create_request *c = (struct create_request *)r;
	struct nd_cq *nd;
	nd_status st;

	st = nd_cq_create_near(r->object->adapter->nd, c->depth, c->near.Group, c->near.Mask, &nd);
	if (st != ND_SUCCESS)
		return st;
	st = nd_cq_set_callback(nd, cq_notified, r->object);
	if (st == ND_SUCCESS)
		r->object->nd = nd;
	else
		nd_cq_close(nd);
	return st;
}

NTSTATUS
ndk_create_cq(NDK_ADAPTER *self, ULONG depth, NDK_FN_CQ_NOTIFICATION_CALLBACK notification,
	PVOID notification_context, GROUP_AFFINITY *affinity, NDK_FN_CREATE_COMPLETION completion,
	PVOID context, NDK_CQ **out)
{
	struct create_request *r;
	struct ndk_cq *cq;

	if (notification == NULL || completion == NULL || out == NULL)
		return STATUS_INVALID_PARAMETER;
	cq = ndk_object_new(
		(struct ndk_adapter *)self, NdkObjectTypeCq, &ndk_cq_dispatch, sizeof(*cq));
	r = ndk_create_new(cq, sizeof(*r), create_begin, completion, context);
	if (r == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	cq->notification = notification;
	cq->context = notification_context;
	r->depth = depth;
	if (affinity != NULL)
		r->near = *affinity;
	return ndk_request_start(&r->request);
}
