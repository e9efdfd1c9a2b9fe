/* SPDX-License-Identifier: BSD-3-Clause */
/* IND2Adapter: what it is. What it makes is in create.c. */
#include <stdlib.h>

#include "ndspi/adapter.h"
#include "ndspi/addresses.h"
#include "ndspi/create.h"

#define TRANSFER_MAX 0x80000000u /* of RoCE */
#define FLAGS_OF_ND                                                                                \
	(ND_ADAPTER_FLAG_IN_ORDER_DMA_SUPPORTED |                                                  \
		ND_ADAPTER_FLAG_CQ_INTERRUPT_MODERATION_SUPPORTED |                                \
		ND_ADAPTER_FLAG_MULTI_ENGINE_SUPPORTED | ND_ADAPTER_FLAG_CQ_RESIZE_SUPPORTED |     \
		ND_ADAPTER_FLAG_LOOPBACK_CONNECTIONS_SUPPORTED)

void
spi_adapter_hold(struct spi_adapter *a)
{
	__atomic_fetch_add(&a->holders, 1, __ATOMIC_RELAXED);
}

void
spi_adapter_drop(struct spi_adapter *a)
{
	if (__atomic_fetch_sub(&a->holders, 1, __ATOMIC_ACQ_REL) != 1)
		return;
	nd_adapter_close(a->adapter);
	if (a->closed != NULL)
		a->closed(a);
	free(a);
}

HRESULT
spi_adapter_new(struct nd_adapter *adapter, size_t bytes, void *out)
{
	struct spi_adapter *a = calloc(1, bytes);
	nd_status st;

	if (a == NULL) {
		nd_adapter_close(adapter);
		return ND_NO_MEMORY;
	}
	a->adapter = adapter;
	a->holders = 1;
	st = nd_pd_create(adapter, &a->pd);
	if (st != ND_SUCCESS) {
		spi_adapter_drop(a);
		return st;
	}
	*(struct spi_adapter **)out = a;
	return ND_SUCCESS;
}

SPI_UNKNOWN(IND2Adapter, adapter)

static struct spi_adapter *
adapter_of(IND2Adapter *self)
{
	return ((struct spi_object *)self)->adapter;
}

static HRESULT STDMETHODCALLTYPE
adapter_create_file(IND2Adapter *self, HANDLE *out)
{
	if (out == NULL)
		return ND_INVALID_PARAMETER_1;
	*out = ndwin_file_create(adapter_of(self));
	return *out != NULL ? ND_SUCCESS : ND_NO_MEMORY;
}

static ULONG
at_most(uint64_t value, ULONG most)
{
	return value < most ? (ULONG)value : most;
}

static void
adapter_tell(const struct nd_adapter_info *from, ND2_ADAPTER_INFO *to)
{
	*to = (ND2_ADAPTER_INFO){
		.InfoVersion = to->InfoVersion,
		.VendorId = from->vendor_id,
		.DeviceId = from->device_id,
		.AdapterId = from->adapter_id,
		.MaxRegistrationSize = from->max_registration_bytes,
		.MaxWindowSize = from->max_window_bytes,
		.MaxInitiatorSge = from->max_initiator_sge,
		.MaxReceiveSge = from->max_receive_sge,
		.MaxReadSge = from->max_read_sge,
		.MaxTransferLength = at_most(from->max_transfer_bytes, TRANSFER_MAX),
		.MaxInlineDataSize = from->max_inline_bytes,
		.MaxInboundReadLimit = from->max_inbound_reads,
		.MaxOutboundReadLimit = from->max_outbound_reads,
		.MaxReceiveQueueDepth = from->max_receive_depth,
		.MaxInitiatorQueueDepth = from->max_initiator_depth,
		.MaxSharedReceiveQueueDepth = from->max_srq_depth,
		.MaxCompletionQueueDepth = from->max_cq_depth,
		.InlineRequestThreshold = from->inline_request_threshold,
		.LargeRequestThreshold = from->large_request_threshold,
		.MaxCallerData = from->max_caller_data,
		.MaxCalleeData = from->max_callee_data,
		.AdapterFlags = from->flags & FLAGS_OF_ND,
	};
}

static HRESULT STDMETHODCALLTYPE
adapter_query_info(IND2Adapter *self, ND2_ADAPTER_INFO *info, ULONG *bytes)
{
	struct nd_adapter_info ours;
	nd_status st;

	if (bytes == NULL)
		return ND_INVALID_PARAMETER_2;
	if (info == NULL || *bytes < sizeof(*info)) {
		*bytes = sizeof(*info);
		return ND_BUFFER_OVERFLOW;
	}
	if (info->InfoVersion != 1 && info->InfoVersion != ND_VERSION_2)
		return ND_INVALID_PARAMETER_1;
	st = nd_adapter_query(adapter_of(self)->adapter, &ours);
	if (st != ND_SUCCESS)
		return st;
	adapter_tell(&ours, info);
	*bytes = sizeof(*info);
	return ND_SUCCESS;
}

static nd_status
adapter_addresses(const void *adapter, struct sockaddr_storage *list, uint32_t *count)
{
	return nd_adapter_query_addresses((struct nd_adapter *)adapter, list, count);
}

static HRESULT STDMETHODCALLTYPE
adapter_query_addresses(IND2Adapter *self, SOCKET_ADDRESS_LIST *list, ULONG *bytes)
{
	return spi_addresses_method(adapter_addresses, adapter_of(self)->adapter, list, bytes);
}

static const IND2AdapterVtbl adapter_slots = {
	SPI_UNKNOWN_SLOTS(adapter),
	.CreateOverlappedFile = adapter_create_file,
	.Query = adapter_query_info,
	.QueryAddressList = adapter_query_addresses,
	.CreateCompletionQueue = spi_create_cq,
	.CreateMemoryRegion = spi_create_region,
	.CreateMemoryWindow = spi_create_window,
	.CreateSharedReceiveQueue = spi_create_srq,
	.CreateQueuePair = spi_create_qp,
	.CreateQueuePairWithSrq = spi_create_qp_with_srq,
	.CreateConnector = spi_create_connector,
	.CreateListener = spi_create_listener,
};

static const struct spi_class adapter_class = {
	.iid = &IID_IND2Adapter,
	.vtbl = &adapter_slots,
	.close = spi_object_no_close, /* by its last holder */
};

HRESULT
spi_adapter_give(struct nd_adapter *adapter, REFIID iid, void **out)
{
	struct spi_adapter *a;
	struct spi_object *o;
	HRESULT hr = spi_adapter_new(adapter, sizeof(*a), &a);

	if (hr != ND_SUCCESS)
		return hr;
	o = spi_object_new(&adapter_class, sizeof(*o), a, NULL);
	hr = o != NULL ? spi_object_give(o, iid, out) : ND_NO_MEMORY;
	spi_adapter_drop(a);
	return hr;
}
