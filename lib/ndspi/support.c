/* SPDX-License-Identifier: BSD-3-Clause */
/* The helper functions of ndsupport.h. */
#include "ndspi/adapter.h"
#include "ndspi/addresses.h"
#include "ndspi/ndsupport.h"
#include "ndspi/provider.h"
#include "ndspi/v1/adapter.h"

#define EXCLUDE_BOTH (ND_QUERY_EXCLUDE_NDv1_ADDRESSES | ND_QUERY_EXCLUDE_NDv2_ADDRESSES)
#define QUERY_FLAGS  (ND_QUERY_EXCLUDE_EMULATOR_ADDRESSES | EXCLUDE_BOTH)

HRESULT ND_HELPER_API
NdStartup(void)
{
	return ND_SUCCESS;
}

HRESULT ND_HELPER_API
NdCleanup(void)
{
	return ND_SUCCESS;
}

void ND_HELPER_API
NdFlushProviders(void)
{
}

HRESULT ND_HELPER_API
NdQueryAddressList(DWORD flags, SOCKET_ADDRESS_LIST *pAddressList, SIZE_T *pcbAddressList)
{
	HRESULT hr;

	if ((flags & ~QUERY_FLAGS) != 0)
		return ND_INVALID_PARAMETER_1;
	if (pcbAddressList == NULL)
		return ND_INVALID_PARAMETER_3;
	hr = (flags & EXCLUDE_BOTH) == EXCLUDE_BOTH
		     ? ND_DEVICE_NOT_READY
		     : spi_provider_addresses(pAddressList, pcbAddressList);
	if (hr != ND_DEVICE_NOT_READY)
		return hr;
	*pcbAddressList = 0; /* no provider has an address */
	return ND_SUCCESS;
}

HRESULT ND_HELPER_API
NdResolveAddress(const struct sockaddr *pRemoteAddress, SIZE_T cbRemoteAddress,
	struct sockaddr *pLocalAddress, SIZE_T *pcbLocalAddress)
{
	const struct nd_open_options options = spi_provider_options();
	struct sockaddr_storage local;
	SIZE_T bytes, room;
	nd_status st;

	if (pRemoteAddress == NULL)
		return ND_INVALID_PARAMETER_1;
	if (pcbLocalAddress == NULL)
		return ND_INVALID_PARAMETER_4;
	st = nd_resolve_address(&options, pRemoteAddress, (socklen_t)cbRemoteAddress, &local);
	if (st != ND_SUCCESS)
		return st;
	bytes = spi_address_bytes(&local);
	room = pLocalAddress != NULL ? *pcbLocalAddress : 0;
	*pcbLocalAddress = bytes;
	if (room < bytes)
		return ND_BUFFER_OVERFLOW;
	memcpy(pLocalAddress, &local, bytes);
	return ND_SUCCESS;
}

HRESULT ND_HELPER_API
NdCheckAddress(const struct sockaddr *pAddress, SIZE_T cbAddress)
{
	const struct nd_open_options options = spi_provider_options();
	uint64_t id;

	return nd_resolve_adapter(&options, pAddress, (socklen_t)cbAddress, &id);
}

HRESULT ND_HELPER_API
NdOpenV1Adapter(const struct sockaddr *pAddress, SIZE_T cbAddress, INDAdapter **ppIAdapter)
{
	return spi1_adapter_open(pAddress, cbAddress, ppIAdapter);
}

HRESULT ND_HELPER_API
NdOpenAdapter(REFIID iid, const struct sockaddr *pAddress, SIZE_T cbAddress, VOID **ppIAdapter)
{
	const struct nd_open_options options = spi_provider_options();
	struct nd_adapter *adapter;
	nd_status st;

	if (IsEqualIID(iid, &IID_INDAdapter))
		return NdOpenV1Adapter(pAddress, cbAddress, (INDAdapter **)ppIAdapter);
	if (ppIAdapter == NULL)
		return E_POINTER;
	*ppIAdapter = NULL;
	st = nd_adapter_open(pAddress, (socklen_t)cbAddress, &options, &adapter);
	return st == ND_SUCCESS ? spi_adapter_give(adapter, iid, ppIAdapter) : st;
}
