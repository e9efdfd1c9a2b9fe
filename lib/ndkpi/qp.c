/* SPDX-License-Identifier: BSD-3-Clause */
/* Making queue pairs. */
#include "ndkpi/qp.h"

struct create_request {
	struct ndk_request request;
	struct nd_pd *pd;
	struct nd_qp_options options;
};

static nd_status
create_begin(struct ndk_request *r)
{
	const struct create_request *c = (struct create_request *)r;
	struct nd_qp *nd;
	nd_status st = nd_qp_create(c->pd, &c->options, &nd);

	if (st == ND_SUCCESS)
		r->object->nd = nd;
	return st;
}

/* options lacks its completion queues. */
static NTSTATUS
qp_create(NDK_PD *self, NDK_CQ *receive_cq, NDK_CQ *initiator_cq,
	const struct nd_qp_options *options, NDK_FN_CREATE_COMPLETION completion, PVOID context,
	NDK_QP **out)
{
	const struct ndk_object *pd = (struct ndk_object *)self;
	const struct ndk_object *in = ndk_object_of(receive_cq, NdkObjectTypeCq, pd->adapter);
	const struct ndk_object *to = ndk_object_of(initiator_cq, NdkObjectTypeCq, pd->adapter);
	struct create_request *r;
	struct ndk_object *qp;

	if (in == NULL || to == NULL || completion == NULL || out == NULL)
		return STATUS_INVALID_PARAMETER;
	qp = ndk_object_new(pd->adapter, NdkObjectTypeQp, &ndk_qp_dispatch, sizeof(*qp));
	r = ndk_create_new(qp, sizeof(*r), create_begin, completion, context);
	if (r == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	r->pd = pd->nd;
	r->options = *options;
	r->options.receive_cq = in->nd;
	r->options.initiator_cq = to->nd;
	return ndk_request_start(&r->request);
}

NTSTATUS
ndk_create_qp(NDK_PD *self, NDK_CQ *receive_cq, NDK_CQ *initiator_cq, PVOID qp_context,
	ULONG receive_depth, ULONG initiator_depth, ULONG receive_sge, ULONG initiator_sge,
	ULONG inline_bytes, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_QP **out)
{
	const struct nd_qp_options options = {
		.context = qp_context,
		.receive_depth = receive_depth,
		.initiator_depth = initiator_depth,
		.max_receive_sge = receive_sge,
		.max_initiator_sge = initiator_sge,
		.inline_bytes = inline_bytes,
	};

	return qp_create(self, receive_cq, initiator_cq, &options, completion, context, out);
}

NTSTATUS
ndk_create_qp_with_srq(NDK_PD *self, NDK_CQ *receive_cq, NDK_CQ *initiator_cq, NDK_SRQ *srq,
	PVOID qp_context, ULONG initiator_depth, ULONG initiator_sge, ULONG inline_bytes,
	NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_QP **out)
{
	const struct ndk_object *q =
		ndk_object_of(srq, NdkObjectTypeSrq, ((struct ndk_object *)self)->adapter);
	struct nd_qp_options options = {
		.context = qp_context,
		.initiator_depth = initiator_depth,
		.max_initiator_sge = initiator_sge,
		.inline_bytes = inline_bytes,
	};

	if (q == NULL)
		return STATUS_INVALID_PARAMETER;
	options.srq = q->nd;
	return qp_create(self, receive_cq, initiator_cq, &options, completion, context, out);
}
