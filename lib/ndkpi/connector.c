/* SPDX-License-Identifier: BSD-3-Clause */
/* Connectors: what they are, and what they tell. Their requests are in connect.c. */
#include "ndkpi/adapter.h"
#include "ndkpi/connect.h"
#include "ndkpi/connector.h"
#include "ndkpi/status.h"

static struct nd_connector *
connector_of(NDK_CONNECTOR *self)
{
	return ((struct ndk_object *)self)->nd;
}

static NTSTATUS
connector_reject(NDK_CONNECTOR *self, CONST VOID *data, ULONG bytes)
{
	return ndk_status(nd_connector_reject(connector_of(self), data, bytes));
}

/* R-CONN-08: the size query succeeds, unlike ND's. */
static NTSTATUS
connector_private_data(struct nd_connector *c, PVOID data, ULONG *bytes)
{
	nd_status st = nd_connector_private_data(c, data, bytes);

	return data == NULL && st == ND_BUFFER_OVERFLOW ? STATUS_SUCCESS : ndk_status_of_size(st);
}

static NTSTATUS
connector_data(NDK_CONNECTOR *self, ULONG *inbound, ULONG *outbound, PVOID data, ULONG *data_bytes)
{
	struct nd_connector *c = connector_of(self);
	nd_status st = ND_SUCCESS;

	if (data_bytes == NULL || (data == NULL && *data_bytes != 0))
		return STATUS_INVALID_PARAMETER;
	if (inbound != NULL || outbound != NULL) /* of a reject there are data, but no limits */
		st = nd_connector_read_limits(c, inbound, outbound);
	return st == ND_SUCCESS ? connector_private_data(c, data, data_bytes) : ndk_status(st);
}

static NTSTATUS
connector_local_address(NDK_CONNECTOR *self, PSOCKADDR address, ULONG *bytes)
{
	return ndk_status_of_size(nd_connector_local_address(connector_of(self), address, bytes));
}

static NTSTATUS
connector_peer_address(NDK_CONNECTOR *self, PSOCKADDR address, ULONG *bytes)
{
	return ndk_status_of_size(nd_connector_peer_address(connector_of(self), address, bytes));
}

static NTSTATUS
connector_close(NDK_OBJECT_HEADER *self, NDK_FN_CLOSE_COMPLETION completion, PVOID context)
{
	ndk_connector_ends((NDK_CONNECTOR *)self);
	return ndk_object_close(self, completion, context);
}

static const NDK_CONNECTOR_DISPATCH connector_dispatch = {
	.NdkCloseConnector = connector_close,
	.NdkQueryExtension = ndk_query_extension,
	.NdkConnect = ndk_connect,
	.NdkConnectWithSharedEndpoint = ndk_connect_with_shared_endpoint,
	.NdkCompleteConnect = ndk_complete_connect,
	.NdkAccept = ndk_accept,
	.NdkReject = connector_reject,
	.NdkGetConnectionData = connector_data,
	.NdkGetLocalAddress = connector_local_address,
	.NdkGetPeerAddress = connector_peer_address,
	.NdkDisconnect = ndk_disconnect,
};

static struct ndk_connector *
connector_new(struct ndk_adapter *a)
{
	return ndk_object_new(
		a, NdkObjectTypeConnector, &connector_dispatch, sizeof(struct ndk_connector));
}

struct ndk_connector *
ndk_connector_of(struct ndk_adapter *a, struct nd_connector *nd)
{
	struct ndk_connector *c = connector_new(a);

	if (c != NULL)
		c->object.nd = nd;
	return c;
}

NTSTATUS
ndk_create_connector(
	NDK_ADAPTER *self, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_CONNECTOR **out)
{
	struct ndk_adapter *a = (struct ndk_adapter *)self;
	struct ndk_connector *c;
	nd_status st = ND_SUCCESS;

	(void)context;
	if (completion == NULL || out == NULL)
		return STATUS_INVALID_PARAMETER;
	c = connector_new(a);
	if (c != NULL)
		st = nd_connector_create(a->nd, (struct nd_connector **)&c->object.nd);
	return ndk_create_now(c, st, out);
}
