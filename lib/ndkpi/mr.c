/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory regions, of both flavours. */
#include "ndkpi/adapter.h"
#include "ndkpi/mdl.h"
#include "ndkpi/mr.h"
#include "ndkpi/status.h"

#define FLAGS                                                                                      \
	(NDK_MR_FLAG_ALLOW_REMOTE_READ | NDK_MR_FLAG_ALLOW_REMOTE_WRITE |                          \
		NDK_MR_FLAG_RDMA_READ_SINK)
_Static_assert(NDK_MR_FLAG_ALLOW_LOCAL_WRITE == ND_MR_FLAG_ALLOW_LOCAL_WRITE &&
		       NDK_MR_FLAG_ALLOW_REMOTE_READ == ND_MR_FLAG_ALLOW_REMOTE_READ &&
		       NDK_MR_FLAG_ALLOW_REMOTE_WRITE == ND_MR_FLAG_ALLOW_REMOTE_WRITE &&
		       NDK_MR_FLAG_RDMA_READ_SINK == ND_MR_FLAG_RDMA_READ_SINK,
	"flags of regions are the same in both");

static struct ndk_mr *
mr_of(NDK_MR *self)
{
	return (struct ndk_mr *)self;
}

static UINT32
mr_remote_token(NDK_MR *self)
{
	const struct ndk_mr *mr = mr_of(self);

	return mr->fast ? nd_fr_remote_token(mr->object.nd) : nd_mr_remote_token(mr->object.nd);
}

static UINT32
mr_local_token(NDK_MR *self)
{
	const struct ndk_mr *mr = mr_of(self);

	return mr->fast ? nd_fr_local_token(mr->object.nd) : nd_mr_local_token(mr->object.nd);
}

/* ---- registering ------------------------------------------------------------------------ */

struct register_request {
	struct ndk_request request;
	void *start;
	SIZE_T bytes;
	ULONG flags;
};

static nd_status
register_begin(struct ndk_request *r)
{
	const struct register_request *g = (struct register_request *)r;

	return nd_mr_register(r->object->nd, g->start, g->bytes, g->flags, &r->ov);
}

static NTSTATUS
mr_register(NDK_MR *self, MDL *mdl, SIZE_T bytes, ULONG flags, NDK_FN_REQUEST_COMPLETION completion,
	PVOID context)
{
	PVOID start = ndk_mdl_start(mdl, bytes);
	struct register_request *r;

	if (mr_of(self)->fast)
		return STATUS_INVALID_DEVICE_REQUEST;
	if (mdl != NULL && MmGetMdlVirtualAddress(mdl) != NULL && bytes == 0)
		return STATUS_INVALID_BUFFER_SIZE; /* R-MR-04 */
	if (start == NULL || (flags & ~(ULONG)FLAGS) != 0 || completion == NULL)
		return STATUS_INVALID_PARAMETER;
	r = ndk_request_new(self, sizeof(*r), register_begin, completion, context);
	if (r == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	r->start = start;
	r->bytes = bytes;
	r->flags = flags;
	return ndk_request_start(&r->request);
}

static nd_status
deregister_begin(struct ndk_request *r)
{
	return nd_mr_deregister(r->object->nd, &r->ov);
}

/* libndclient's is initialized once, so another one takes its place. */
static nd_status
fast_deregister_begin(struct ndk_request *r)
{
	struct ndk_mr *mr = (struct ndk_mr *)r->object;
	struct nd_fr *old = mr->object.nd, *fresh;
	nd_status st = nd_fr_create(mr->pd, &fresh); /* the domain lives while old does */

	if (st != ND_SUCCESS)
		return st;
	mr->object.nd = fresh;
	nd_fr_close(old);
	return ND_SUCCESS;
}

static NTSTATUS
mr_deregister(NDK_MR *self, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
	struct ndk_request *r;

	if (completion == NULL)
		return STATUS_INVALID_PARAMETER;
	r = ndk_request_new(self, sizeof(*r),
		mr_of(self)->fast ? fast_deregister_begin : deregister_begin, completion, context);
	return r != NULL ? ndk_request_start(r) : STATUS_INSUFFICIENT_RESOURCES;
}

/* ---- fast registration ------------------------------------------------------------------ */

struct initialize_request {
	struct ndk_request request;
	ULONG pages;
	BOOLEAN remote;
};

static nd_status
initialize_begin(struct ndk_request *r)
{
	const struct initialize_request *i = (struct initialize_request *)r;

	return nd_fr_initialize(r->object->nd, i->pages, i->remote);
}

static NTSTATUS
mr_initialize(NDK_MR *self, ULONG pages, BOOLEAN remote, NDK_FN_REQUEST_COMPLETION completion,
	PVOID context)
{
	struct initialize_request *r;

	if (!mr_of(self)->fast)
		return STATUS_INVALID_DEVICE_REQUEST;
	if (completion == NULL)
		return STATUS_INVALID_PARAMETER;
	r = ndk_request_new(self, sizeof(*r), initialize_begin, completion, context);
	if (r == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	r->pages = pages;
	r->remote = remote;
	return ndk_request_start(&r->request);
}

static const NDK_MR_DISPATCH mr_dispatch = {
	.NdkCloseMr = ndk_object_close,
	.NdkQueryExtension = ndk_query_extension,
	.NdkRegisterMr = mr_register,
	.NdkDeregisterMr = mr_deregister,
	.NdkInitializeFastRegisterMr = mr_initialize,
	.NdkGetRemoteTokenFromMr = mr_remote_token,
	.NdkGetLocalTokenFromMr = mr_local_token,
};

NTSTATUS
ndk_create_mr(NDK_PD *self, BOOLEAN fast, NDK_FN_CREATE_COMPLETION completion, PVOID context,
	NDK_MR **out)
{
	const struct ndk_object *pd = (struct ndk_object *)self;
	struct ndk_mr *mr;
	nd_status st = ND_SUCCESS;

	(void)context;
	if (completion == NULL || out == NULL)
		return STATUS_INVALID_PARAMETER;
	mr = ndk_object_new(pd->adapter, NdkObjectTypeMr, &mr_dispatch, sizeof(*mr));
	if (mr != NULL) {
		mr->fast = fast != FALSE;
		mr->pd = pd->nd;
		st = mr->fast ? nd_fr_create(mr->pd, (struct nd_fr **)&mr->object.nd)
			      : nd_mr_create(mr->pd, (struct nd_mr **)&mr->object.nd);
	}
	return ndk_create_now(mr, st, out);
}
