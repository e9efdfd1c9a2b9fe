/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndkpi/mr.h"
#include "ndkpi/adapter.h"
#include "ndkpi/mw.h"
#include "ndkpi/pd.h"
#include "ndkpi/qp.h"
#include "ndkpi/srq.h"

static VOID
pd_privileged_token(NDK_PD *self, UINT32 *token)
{
	*token = ((struct ndk_pd *)self)->privileged_token;
}

static const NDK_PD_DISPATCH pd_dispatch = {
	.NdkClosePd = ndk_object_close,
	.NdkQueryExtension = ndk_query_extension,
	.NdkCreateMr = ndk_create_mr,
	.NdkCreateMw = ndk_create_mw,
	.NdkCreateSrq = ndk_create_srq,
	.NdkCreateQp = ndk_create_qp,
	.NdkCreateQpWithSrq = ndk_create_qp_with_srq,
	.NdkGetPrivilegedMemoryRegionToken = pd_privileged_token,
};

/* The token is asked for now, because the call that tells it cannot fail. */
static nd_status
create_begin(struct ndk_request *r)
{
	struct ndk_pd *pd = (struct ndk_pd *)r->object;
	struct nd_pd *nd;
	nd_status st = nd_pd_create(pd->object.adapter->nd, &nd);

	if (st != ND_SUCCESS)
		return st;
	st = nd_pd_privileged_token(nd, &pd->privileged_token);
	if (st == ND_SUCCESS)
		pd->object.nd = nd;
	else
		nd_pd_close(nd);
	return st;
}

NTSTATUS
ndk_create_pd(NDK_ADAPTER *self, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_PD **out)
{
	struct ndk_request *r;
	struct ndk_pd *pd;

	if (completion == NULL || out == NULL)
		return STATUS_INVALID_PARAMETER;
	pd = ndk_object_new((struct ndk_adapter *)self, NdkObjectTypePd, &pd_dispatch, sizeof(*pd));
	r = ndk_create_new(pd, sizeof(*r), create_begin, completion, context);
	return r != NULL ? ndk_request_start(r) : STATUS_INSUFFICIENT_RESOURCES;
}
