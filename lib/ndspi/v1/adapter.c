/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndspi/v1/adapter.h"
#include "ndspi/provider.h"
#include "ndspi/v1/connector.h"
#include "ndspi/v1/cq.h"
#include "ndspi/v1/listen.h"
#include "ndspi/v1/request.h"

static nd_status
adapter_cancel_all(struct spi_adapter *a)
{
	return spi1_regions_cancel(&((struct spi1_adapter *)a)->regions);
}

SPI1_OVERLAPPED(INDAdapter, adapter, struct spi_object, adapter, adapter_cancel_all)

static HANDLE STDMETHODCALLTYPE
adapter_file(INDAdapter *self)
{
	return spi1_adapter_of(self)->handle;
}

struct sockaddr_storage
spi1_adapter_address(const struct spi1_adapter *a, USHORT port)
{
	struct sockaddr_storage address = a->local;

	_Static_assert(
		offsetof(struct sockaddr_in, sin_port) == offsetof(struct sockaddr_in6, sin6_port),
		"one port for both");
	((struct sockaddr_in *)&address)->sin_port = port;
	return address;
}

/* ---- what it is ---------------------------------------------------------------------- */

static void
adapter_tell(const struct nd_adapter_info *from, ND_ADAPTER_INFO *to)
{
	*to = (ND_ADAPTER_INFO){
		.VendorId = from->vendor_id,
		.DeviceId = from->device_id,
		.MaxInboundSge = from->max_receive_sge,
		.MaxInboundRequests = from->max_receive_depth,
		.MaxInboundLength = from->max_transfer_bytes,
		/* Reads may take fewer than the others, and count as they do. */
		.MaxOutboundSge = from->max_read_sge < from->max_initiator_sge
					  ? from->max_read_sge
					  : from->max_initiator_sge,
		.MaxOutboundRequests = from->max_initiator_depth,
		.MaxOutboundLength = from->max_transfer_bytes,
		.MaxInlineData = from->max_inline_bytes,
		.MaxInboundReadLimit = from->max_inbound_reads,
		.MaxOutboundReadLimit = from->max_outbound_reads,
		.MaxCqEntries = from->max_cq_depth,
		.MaxRegistrationSize = from->max_registration_bytes,
		.MaxWindowSize = from->max_window_bytes,
		.LargeRequestThreshold = from->large_request_threshold,
		.MaxCallerData = from->max_caller_data,
		.MaxCalleeData = from->max_callee_data,
	};
}

static HRESULT STDMETHODCALLTYPE
adapter_query_info(INDAdapter *self, DWORD version, ND_ADAPTER_INFO *info, SIZE_T *bytes)
{
	const SIZE_T room = bytes != NULL ? *bytes : sizeof(*info);
	struct nd_adapter_info ours;
	nd_status st;

	if (version != ND_VERSION_1)
		return ND_NOT_SUPPORTED;
	if (bytes != NULL)
		*bytes = sizeof(*info);
	if (info == NULL || room < sizeof(*info))
		return ND_BUFFER_OVERFLOW;
	st = nd_adapter_query(spi1_adapter_of(self)->base.adapter, &ours);
	if (st == ND_SUCCESS)
		adapter_tell(&ours, info);
	return st;
}

static HRESULT STDMETHODCALLTYPE
adapter_control(INDAdapter *self, DWORD code, const void *in, SIZE_T in_bytes, void *out,
	SIZE_T out_bytes, SIZE_T *returned, OVERLAPPED *ov)
{
	(void)self, (void)code, (void)in, (void)in_bytes, (void)out, (void)out_bytes, (void)ov;
	if (returned != NULL)
		*returned = 0;
	return ND_NOT_SUPPORTED;
}

static const INDAdapterVtbl adapter_slots = {
	SPI_OVERLAPPED_SLOTS(adapter),
	.GetFileHandle = adapter_file,
	.Query = adapter_query_info,
	.Control = adapter_control,
	.CreateCompletionQueue = spi1_create_cq,
	.RegisterMemory = spi1_register,
	.DeregisterMemory = spi1_deregister,
	.CreateMemoryWindow = spi1_create_window,
	.CreateConnector = spi1_create_connector,
	.Listen = spi1_listen,
};

/* Its requests end here (R-OV-13); what it has registered serves the other objects on. */
static void
adapter_close(struct spi_object *o)
{
	(void)adapter_cancel_all(o->adapter);
}

static const struct spi_class adapter_class = {
	.iid = &IID_INDAdapter,
	.base = &IID_INDOverlapped,
	.vtbl = &adapter_slots,
	.close = adapter_close,
};

/* ---- opening ------------------------------------------------------------------------- */

static void
adapter_closed(struct spi_adapter *base)
{
	struct spi1_adapter *a = (struct spi1_adapter *)base;

	CloseHandle(a->handle); /* which the application may have done: it can't name another */
	ndwin_file_put(a->base.file);
	pthread_mutex_destroy(&a->windows.lock);
	spi1_regions_end(&a->regions);
}

static HRESULT
adapter_begin(struct spi1_adapter *a, const struct sockaddr *address, SIZE_T bytes)
{
	memcpy(&a->local, address, bytes < sizeof(a->local) ? bytes : sizeof(a->local));
	a->local = spi1_adapter_address(a, 0);
	a->handle = ndwin_file_create(&a->base);
	if (a->handle == NULL)
		return ND_NO_MEMORY;
	a->base.file = ndwin_file_get(a->handle, &a->base);
	pthread_mutex_init(&a->windows.lock, NULL);
	spi1_regions_init(&a->regions);
	a->base.closed = adapter_closed;
	return ND_SUCCESS;
}

HRESULT
spi1_adapter_open(const struct sockaddr *address, SIZE_T bytes, INDAdapter **out)
{
	const struct nd_open_options options = spi_provider_options();
	struct nd_adapter *adapter;
	struct spi1_adapter *a;
	struct spi_object *o;
	HRESULT hr;

	if (out == NULL)
		return E_POINTER;
	*out = NULL;
	hr = nd_adapter_open(address, spi1_narrow(bytes), &options, &adapter);
	if (hr == ND_SUCCESS)
		hr = spi_adapter_new(adapter, sizeof(*a), &a);
	if (hr != ND_SUCCESS)
		return hr;
	hr = adapter_begin(a, address, bytes);
	if (hr == ND_SUCCESS) {
		o = spi_object_new(&adapter_class, sizeof(*o), &a->base, NULL);
		hr = o != NULL ? spi_object_give(o, adapter_class.iid, (void **)out) : ND_NO_MEMORY;
	}
	spi_adapter_drop(&a->base);
	return hr;
}
