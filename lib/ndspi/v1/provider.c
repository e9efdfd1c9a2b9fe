/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndspi/v1/provider.h"
#include "ndspi/provider.h"
#include "ndspi/v1/adapter.h"

SPI_UNKNOWN(INDProvider, provider)

static HRESULT STDMETHODCALLTYPE
provider_query_addresses(INDProvider *self, SOCKET_ADDRESS_LIST *list, SIZE_T *bytes)
{
	(void)self;
	return bytes != NULL ? spi_provider_addresses(list, bytes) : ND_INVALID_PARAMETER_2;
}

static HRESULT STDMETHODCALLTYPE
provider_open(INDProvider *self, const struct sockaddr *address, SIZE_T bytes, INDAdapter **out)
{
	(void)self;
	return spi1_adapter_open(address, bytes, out);
}

static const INDProviderVtbl provider_slots = {
	SPI_UNKNOWN_SLOTS(provider),
	.QueryAddressList = provider_query_addresses,
	.OpenAdapter = provider_open,
};

const struct spi_class spi1_provider_class = {
	.iid = &IID_INDProvider,
	.vtbl = &provider_slots,
	.close = spi_object_no_close,
};
