/* SPDX-License-Identifier: BSD-3-Clause */
/* IND2Provider. It has no state of its own, so adapters need not hold it. */
#include <stdlib.h>

#include "ndspi/adapter.h"
#include "ndspi/addresses.h"
#include "ndspi/ndsupport.h"
#include "ndspi/provider.h"
#include "ndspi/v1/provider.h"

struct nd_open_options
spi_provider_options(void)
{
	const char *profile = getenv("NDD_PROFILE");

	return (struct nd_open_options){.profile = profile != NULL && strcmp(profile, "doc") == 0
							   ? ND_PROFILE_DOC
							   : ND_PROFILE_TEST};
}

static nd_status
provider_addresses(const void *options, struct sockaddr_storage *list, uint32_t *count)
{
	return nd_query_addresses(options, list, count);
}

HRESULT
spi_provider_addresses(SOCKET_ADDRESS_LIST *list, SIZE_T *bytes)
{
	const struct nd_open_options options = spi_provider_options();

	return spi_addresses_list(provider_addresses, &options, list, bytes);
}

SPI_UNKNOWN(IND2Provider, provider)

static HRESULT STDMETHODCALLTYPE
provider_query_addresses(IND2Provider *self, SOCKET_ADDRESS_LIST *list, ULONG *bytes)
{
	const struct nd_open_options options = spi_provider_options();

	(void)self;
	return spi_addresses_method(provider_addresses, &options, list, bytes);
}

static HRESULT STDMETHODCALLTYPE
provider_resolve(
	IND2Provider *self, const struct sockaddr *address, ULONG bytes, UINT64 *adapter_id)
{
	const struct nd_open_options options = spi_provider_options();
	uint64_t id = 0;
	nd_status st;

	(void)self;
	if (adapter_id == NULL)
		return ND_INVALID_PARAMETER_3;
	st = nd_resolve_adapter(&options, address, bytes, &id);
	*adapter_id = id;
	return st;
}

static HRESULT STDMETHODCALLTYPE
provider_open(IND2Provider *self, REFIID iid, UINT64 adapter_id, void **out)
{
	const struct nd_open_options options = spi_provider_options();
	struct nd_adapter *adapter;
	nd_status st;

	(void)self;
	if (out == NULL)
		return E_POINTER;
	*out = NULL;
	st = nd_adapter_open_id(adapter_id, &options, &adapter);
	return st == ND_SUCCESS ? spi_adapter_give(adapter, iid, out) : st;
}

static const IND2ProviderVtbl provider_slots = {
	SPI_UNKNOWN_SLOTS(provider),
	.QueryAddressList = provider_query_addresses,
	.ResolveAddress = provider_resolve,
	.OpenAdapter = provider_open,
};

static const struct spi_class provider_class = {
	.iid = &IID_IND2Provider,
	.vtbl = &provider_slots,
	.close = spi_object_no_close,
};

HRESULT ND_HELPER_API
NdOpenProvider(REFIID iid, VOID **ppIProvider)
{
	const bool first = IsEqualIID(iid, &IID_INDProvider);
	struct spi_object *o;

	if (ppIProvider == NULL)
		return E_POINTER;
	*ppIProvider = NULL;
	o = spi_object_new(first ? &spi1_provider_class : &provider_class, sizeof(*o), NULL, NULL);
	return o != NULL ? spi_object_give(o, iid, ppIProvider) : ND_NO_MEMORY;
}
