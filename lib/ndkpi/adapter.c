/* SPDX-License-Identifier: BSD-3-Clause */
/* Adapters: open, close, query, memory. */
#include <stdlib.h>

#include "ndkpi/adapter.h"
#include "ndkpi/callback.h"
#include "ndkpi/connector.h"
#include "ndkpi/cq.h"
#include "ndkpi/endpoint.h"
#include "ndkpi/lam.h"
#include "ndkpi/listener.h"
#include "ndkpi/object.h"
#include "ndkpi/pd.h"
#include "ndkpi/status.h"

#define FLAGS_OF_ND                                                                                \
	(NDK_ADAPTER_FLAG_IN_ORDER_DMA_SUPPORTED |                                                 \
		NDK_ADAPTER_FLAG_CQ_INTERRUPT_MODERATION_SUPPORTED |                               \
		NDK_ADAPTER_FLAG_RDMA_READ_LOCAL_INVALIDATE_SUPPORTED |                            \
		NDK_ADAPTER_FLAG_CQ_RESIZE_SUPPORTED |                                             \
		NDK_ADAPTER_FLAG_LOOPBACK_CONNECTIONS_SUPPORTED)
#define TRANSFER_MAX 0x80000000u /* of RoCE */

const NDK_VERSION ndk_version = {.Major = 1, .Minor = 2};

void
ndk_adapter_hold(struct ndk_adapter *a)
{
	pthread_mutex_lock(&a->lock);
	a->holders++;
	pthread_mutex_unlock(&a->lock);
}

void
ndk_adapter_drop(struct ndk_adapter *a)
{
	pthread_mutex_lock(&a->lock);
	if (--a->holders == 0)
		pthread_cond_broadcast(&a->unused);
	pthread_mutex_unlock(&a->lock);
}

/* ---- query ------------------------------------------------------------------------------ */

static void
adapter_tell(const struct nd_adapter_info *from, NDK_ADAPTER_INFO *to)
{
	*to = (NDK_ADAPTER_INFO){
		.Version = ndk_version,
		.VendorId = from->vendor_id,
		.DeviceId = from->device_id,
		.MaxRegistrationSize = from->max_registration_bytes,
		.MaxWindowSize = from->max_window_bytes,
		.FRMRPageCount = from->max_fast_register_pages,
		.MaxInitiatorRequestSge = from->max_initiator_sge,
		.MaxReceiveRequestSge = from->max_receive_sge,
		.MaxReadRequestSge = from->max_read_sge,
		.MaxTransferLength = from->max_transfer_bytes < TRANSFER_MAX
					     ? (ULONG)from->max_transfer_bytes
					     : TRANSFER_MAX,
		.MaxInlineDataSize = from->max_inline_bytes,
		.MaxInboundReadLimit = from->max_inbound_reads,
		.MaxOutboundReadLimit = from->max_outbound_reads,
		.MaxReceiveQueueDepth = from->max_receive_depth,
		.MaxInitiatorQueueDepth = from->max_initiator_depth,
		.MaxSrqDepth = from->max_srq_depth,
		.MaxCqDepth = from->max_cq_depth,
		.LargeRequestThreshold = from->large_request_threshold,
		.MaxCallerData = from->max_caller_data,
		.MaxCalleeData = from->max_callee_data,
		.AdapterFlags =
			(from->flags & FLAGS_OF_ND) | NDK_ADAPTER_FLAG_RDMA_READ_SINK_NOT_REQUIRED,
	};
}

static NTSTATUS
adapter_query(NDK_ADAPTER *self, NDK_ADAPTER_INFO *info, ULONG *bytes)
{
	struct ndk_adapter *a = (struct ndk_adapter *)self;
	struct nd_adapter_info limits;
	ULONG room;
	nd_status st;

	if (bytes == NULL)
		return STATUS_INVALID_PARAMETER;
	room = info != NULL ? *bytes : 0;
	*bytes = sizeof(*info);
	if (room < sizeof(*info))
		return STATUS_BUFFER_TOO_SMALL;
	st = nd_adapter_query(a->nd, &limits);
	adapter_tell(&limits, info);
	return ndk_status(st);
}

static const NDK_ADAPTER_DISPATCH adapter_dispatch = {
	.NdkQueryExtension = ndk_query_extension,
	.NdkQueryAdapterInfo = adapter_query,
	.NdkCreateCq = ndk_create_cq,
	.NdkCreatePd = ndk_create_pd,
	.NdkCreateSharedEndpoint = ndk_create_shared_endpoint,
	.NdkCreateConnector = ndk_create_connector,
	.NdkCreateListener = ndk_create_listener,
	.NdkBuildLAM = ndk_build_lam,
	.NdkReleaseLAM = ndk_release_lam,
};

/* ---- open, close ------------------------------------------------------------------------ */

static struct ndk_adapter *
adapter_new(void)
{
	struct ndk_adapter *a = calloc(1, sizeof(*a));

	if (a == NULL)
		return NULL;
	a->face.Header.Version = ndk_version;
	a->face.Header.ObjectType = NdkObjectTypeAdapter;
	a->face.Dispatch = &adapter_dispatch;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->unused, NULL);
	ndk_blocks_init(&a->blocks);
	ndk_adopted_init(&a->adopted);
	return a;
}

static void
adapter_free(struct ndk_adapter *a)
{
	ndk_adopted_fini(&a->adopted);
	ndk_blocks_fini(&a->blocks);
	pthread_cond_destroy(&a->unused);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

NTSTATUS
NdkOpenAdapter(
	CONST SOCKADDR *pAddress, ULONG AddressLength, NDK_VERSION Version, NDK_ADAPTER **ppAdapter)
{
	const struct nd_open_options options = {.profile = ND_PROFILE_DOC};
	struct ndk_adapter *a;
	nd_status st;

	if (ppAdapter == NULL)
		return STATUS_INVALID_PARAMETER;
	*ppAdapter = NULL;
	if (Version.Major != ndk_version.Major || Version.Minor > ndk_version.Minor)
		return NDIS_STATUS_BAD_VERSION;
	a = adapter_new();
	if (a == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	st = nd_adapter_open(pAddress, AddressLength, &options, &a->nd);
	if (st == ND_SUCCESS && !ndk_worker_start(&a->worker)) {
		nd_adapter_close(a->nd);
		st = ND_INSUFFICIENT_RESOURCES;
	}
	if (st == ND_SUCCESS)
		*ppAdapter = &a->face;
	else
		adapter_free(a);
	return ndk_status(st);
}

NTSTATUS
NdkCloseAdapter(NDK_ADAPTER *pNdkAdapter)
{
	struct ndk_adapter *a = (struct ndk_adapter *)pNdkAdapter;

	if (a == NULL)
		return STATUS_SUCCESS;
	if (ndk_in_callback())
		return STATUS_INVALID_DEVICE_STATE;
	pthread_mutex_lock(&a->lock);
	while (a->holders != 0)
		pthread_cond_wait(&a->unused, &a->lock);
	pthread_mutex_unlock(&a->lock);
	ndk_worker_stop(&a->worker);
	nd_adapter_close(a->nd);
	adapter_free(a);
	return STATUS_SUCCESS;
}

/* ---- memory ----------------------------------------------------------------------------- */

PVOID
NdkAllocateMemory(NDK_ADAPTER *pNdkAdapter, SIZE_T Bytes)
{
	struct ndk_adapter *a = (struct ndk_adapter *)pNdkAdapter;
	SIZE_T whole = (Bytes + PAGE_SIZE - 1) / PAGE_SIZE * PAGE_SIZE;
	PVOID memory;

	if (whole < Bytes)
		return NULL;
	memory = nd_alloc(a->nd, whole);
	if (memory != NULL && !ndk_blocks_add(&a->blocks, memory, whole)) {
		nd_free(a->nd, memory);
		memory = NULL;
	}
	return memory;
}

VOID
NdkFreeMemory(NDK_ADAPTER *pNdkAdapter, PVOID Memory)
{
	struct ndk_adapter *a = (struct ndk_adapter *)pNdkAdapter;

	if (Memory == NULL)
		return;
	ndk_blocks_remove(&a->blocks, Memory);
	nd_free(a->nd, Memory);
}
