/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndkpi/callback.h"
#include "ndkpi/sge.h"
#include "ndkpi/srq.h"
#include "ndkpi/status.h"

static NTSTATUS
srq_receive(NDK_SRQ *self, PVOID context, CONST NDK_SGE *sge, ULONG n)
{
	struct ndk_srq *q = (struct ndk_srq *)self;
	nd_status st;

	pthread_mutex_lock(&q->modifying);
	st = nd_srq_receive(q->object.nd, context, ndk_sge(sge), n);
	pthread_mutex_unlock(&q->modifying);
	return ndk_status(st);
}

/* ---- modify ----------------------------------------------------------------------------- */

struct modify_request {
	struct ndk_request request;
	ULONG depth, threshold;
};

static nd_status
modify_begin(struct ndk_request *r)
{
	const struct modify_request *m = (struct modify_request *)r;
	struct ndk_srq *q = (struct ndk_srq *)r->object;
	nd_status st;

	pthread_mutex_lock(&q->modifying);
	st = nd_srq_modify(q->object.nd, m->depth, m->threshold);
	pthread_mutex_unlock(&q->modifying);
	return st;
}

static NTSTATUS
srq_modify(NDK_SRQ *self, ULONG depth, ULONG threshold, NDK_FN_REQUEST_COMPLETION completion,
	PVOID context)
{
	struct modify_request *r;

	if (completion == NULL)
		return STATUS_INVALID_PARAMETER;
	r = ndk_request_new(self, sizeof(*r), modify_begin, completion, context);
	if (r == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	r->depth = depth;
	r->threshold = threshold;
	return ndk_request_start(&r->request);
}

static const NDK_SRQ_DISPATCH srq_dispatch = {
	.NdkCloseSrq = ndk_object_close,
	.NdkQueryExtension = ndk_query_extension,
	.NdkModifySrq = srq_modify,
	.NdkSrqReceive = srq_receive,
};

/* ---- create ----------------------------------------------------------------------------- */

struct create_request {
	struct ndk_request request;
	struct nd_pd *pd;
	ULONG depth, sge, threshold;
	GROUP_AFFINITY near;
};

/* In libndclient's thread of callbacks. The queue may be gone when its callback returns. */
static void
srq_notified(void *arg, nd_status st)
{
	const struct ndk_srq *q = arg;

	ndk_callback_enter();
	q->notification(q->context, st);
	ndk_callback_leave();
}

static nd_status
create_begin(struct ndk_request *r)
{
	const struct create_request *c = (struct create_request *)r;
	struct ndk_srq *q = (struct ndk_srq *)r->object;
	struct nd_srq *nd;
	nd_status st;

	st = nd_srq_create_near(
		c->pd, c->depth, c->sge, c->threshold, c->near.Group, c->near.Mask, &nd);
	if (st != ND_SUCCESS)
		return st;
	if (q->notification != NULL)
		st = nd_srq_set_callback(nd, srq_notified, q);
	if (st == ND_SUCCESS)
		q->object.nd = nd;
	else
		nd_srq_close(nd);
	return st;
}

NTSTATUS
ndk_create_srq(NDK_PD *self, ULONG depth, ULONG sge, ULONG threshold,
	NDK_FN_SRQ_NOTIFICATION_CALLBACK notification, PVOID notification_context,
	GROUP_AFFINITY *affinity, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_SRQ **out)
{
	const struct ndk_object *pd = (struct ndk_object *)self;
	struct create_request *r;
	struct ndk_srq *q;

	if (completion == NULL || out == NULL)
		return STATUS_INVALID_PARAMETER;
	q = ndk_object_new(pd->adapter, NdkObjectTypeSrq, &srq_dispatch, sizeof(*q));
	r = ndk_create_new(q, sizeof(*r), create_begin, completion, context);
	if (r == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	pthread_mutex_init(&q->modifying, NULL); /* needs no end */
	q->notification = notification;
	q->context = notification_context;
	r->pd = pd->nd;
	r->depth = depth;
	r->sge = sge;
	r->threshold = threshold;
	if (affinity != NULL)
		r->near = *affinity;
	return ndk_request_start(&r->request);
}
