/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndkpi/adapter.h"
#include "ndkpi/address.h"
#include "ndkpi/endpoint.h"
#include "ndkpi/status.h"

static NTSTATUS
endpoint_local_address(NDK_SHARED_ENDPOINT *self, PSOCKADDR address, ULONG *bytes)
{
	return ndk_status_of_size(
		nd_endpoint_local_address(((struct ndk_object *)self)->nd, address, bytes));
}

static const NDK_SHARED_ENDPOINT_DISPATCH endpoint_dispatch = {
	.NdkCloseSharedEndpoint = ndk_object_close,
	.NdkQueryExtension = ndk_query_extension,
	.NdkGetLocalAddress = endpoint_local_address,
};

struct create_request {
	struct ndk_request request;
	struct ndk_address local;
};

static nd_status
create_begin(struct ndk_request *r)
{
	const struct create_request *c = (struct create_request *)r;
	struct nd_endpoint *nd;
	nd_status st = nd_endpoint_create(
		r->object->adapter->nd, ndk_address_of(&c->local), c->local.bytes, &nd);

	if (st == ND_SUCCESS)
		r->object->nd = nd;
	return st;
}

NTSTATUS
ndk_create_shared_endpoint(NDK_ADAPTER *self, CONST SOCKADDR *address, ULONG bytes,
	NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_SHARED_ENDPOINT **out)
{
	struct ndk_address local;
	struct create_request *r;
	struct ndk_object *e;

	if (completion == NULL || out == NULL)
		return STATUS_INVALID_PARAMETER;
	if (!ndk_address_keep(&local, address, bytes))
		return STATUS_INVALID_ADDRESS;
	e = ndk_object_new((struct ndk_adapter *)self, NdkObjectTypeSharedEndpoint,
		&endpoint_dispatch, sizeof(*e));
	r = ndk_create_new(e, sizeof(*r), create_begin, completion, context);
	if (r == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	r->local = local;
	return ndk_request_start(&r->request);
}
