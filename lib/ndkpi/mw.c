/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndkpi/mw.h"

static UINT32
mw_remote_token(NDK_MW *self)
{
	return nd_mw_remote_token(((struct ndk_object *)self)->nd);
}

static const NDK_MW_DISPATCH mw_dispatch = {
	.NdkCloseMw = ndk_object_close,
	.NdkQueryExtension = ndk_query_extension,
	.NdkGetRemoteTokenFromMw = mw_remote_token,
};

struct create_request {
	struct ndk_request request;
	struct nd_pd *pd;
};

static nd_status
create_begin(struct ndk_request *r)
{
	struct nd_mw *nd;
	nd_status st = nd_mw_create(((struct create_request *)r)->pd, &nd);

	if (st == ND_SUCCESS)
		r->object->nd = nd;
	return st;
}

NTSTATUS
ndk_create_mw(NDK_PD *self, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_MW **out)
{
	const struct ndk_object *pd = (struct ndk_object *)self;
	struct create_request *r;
	struct ndk_object *mw;

	if (completion == NULL || out == NULL)
		return STATUS_INVALID_PARAMETER;
	mw = ndk_object_new(pd->adapter, NdkObjectTypeMw, &mw_dispatch, sizeof(*mw));
	r = ndk_create_new(mw, sizeof(*r), create_begin, completion, context);
	if (r == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	r->pd = pd->nd;
	return ndk_request_start(&r->request);
}
