/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs of version 1 are compiled against: slots, ids, structures, and a C call. */
#include "slots.h"

Test(ndspi_layout_v1, slots_of_queues_and_memory)
{
	OVERLAPPED_SLOTS(INDOverlapped);
	SLOTS(INDOverlapped, 5);
	OVERLAPPED_SLOTS(INDCompletionQueue);
	SLOT(INDCompletionQueue, 5, Resize);
	SLOT(INDCompletionQueue, 6, Notify);
	SLOT(INDCompletionQueue, 7, GetResults);
	SLOTS(INDCompletionQueue, 8);
	UNKNOWN_SLOTS(INDMemoryWindow);
	SLOTS(INDMemoryWindow, 3);
}

Test(ndspi_layout_v1, slots_of_endpoints_and_connections)
{
	UNKNOWN_SLOTS(INDEndpoint);
	SLOT(INDEndpoint, 3, Flush);
	SLOT(INDEndpoint, 4, StartRequestBatch);
	SLOT(INDEndpoint, 5, SubmitRequestBatch);
	SLOT(INDEndpoint, 6, Send);
	SLOT(INDEndpoint, 7, SendAndInvalidate);
	SLOT(INDEndpoint, 8, Receive);
	SLOT(INDEndpoint, 9, Bind);
	SLOT(INDEndpoint, 10, Invalidate);
	SLOT(INDEndpoint, 11, Read);
	SLOT(INDEndpoint, 12, Write);
	SLOTS(INDEndpoint, 13);
	OVERLAPPED_SLOTS(INDConnector);
	SLOT(INDConnector, 5, CreateEndpoint);
	SLOT(INDConnector, 6, Connect);
	SLOT(INDConnector, 7, CompleteConnect);
	SLOT(INDConnector, 8, Accept);
	SLOT(INDConnector, 9, Reject);
	SLOT(INDConnector, 10, GetConnectionData);
	SLOT(INDConnector, 11, GetLocalAddress);
	SLOT(INDConnector, 12, GetPeerAddress);
	SLOT(INDConnector, 13, NotifyDisconnect);
	SLOT(INDConnector, 14, Disconnect);
	SLOTS(INDConnector, 15);
	OVERLAPPED_SLOTS(INDListen);
	SLOT(INDListen, 5, GetConnectionRequest);
	SLOTS(INDListen, 6);
}

Test(ndspi_layout_v1, slots_of_adapters_and_providers)
{
	OVERLAPPED_SLOTS(INDAdapter);
	SLOT(INDAdapter, 5, GetFileHandle);
	SLOT(INDAdapter, 6, Query);
	SLOT(INDAdapter, 7, Control);
	SLOT(INDAdapter, 8, CreateCompletionQueue);
	SLOT(INDAdapter, 9, RegisterMemory);
	SLOT(INDAdapter, 10, DeregisterMemory);
	SLOT(INDAdapter, 11, CreateMemoryWindow);
	SLOT(INDAdapter, 12, CreateConnector);
	SLOT(INDAdapter, 13, Listen);
	SLOTS(INDAdapter, 14);
	UNKNOWN_SLOTS(INDProvider);
	SLOT(INDProvider, 3, QueryAddressList);
	SLOT(INDProvider, 4, OpenAdapter);
	SLOTS(INDProvider, 5);
}

/* The members in NetworkDirect's order; the rest of their places is asserted by the header. */
Test(ndspi_layout_v1, members_of_adapter_info)
{
	static const size_t places[] = {
		offsetof(ND_ADAPTER_INFO, MaxInboundSge),
		offsetof(ND_ADAPTER_INFO, MaxInboundRequests),
		offsetof(ND_ADAPTER_INFO, MaxInboundLength),
		offsetof(ND_ADAPTER_INFO, MaxOutboundSge),
		offsetof(ND_ADAPTER_INFO, MaxOutboundRequests),
		offsetof(ND_ADAPTER_INFO, MaxOutboundLength),
		offsetof(ND_ADAPTER_INFO, MaxInlineData),
		offsetof(ND_ADAPTER_INFO, MaxInboundReadLimit),
		offsetof(ND_ADAPTER_INFO, MaxOutboundReadLimit),
		offsetof(ND_ADAPTER_INFO, MaxCqEntries),
		offsetof(ND_ADAPTER_INFO, MaxRegistrationSize),
		offsetof(ND_ADAPTER_INFO, MaxWindowSize),
		offsetof(ND_ADAPTER_INFO, LargeRequestThreshold),
		offsetof(ND_ADAPTER_INFO, MaxCallerData),
		offsetof(ND_ADAPTER_INFO, MaxCalleeData),
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		cr_expect(eq(sz, places[i], (i + 1) * 8), "member %zu", i);
	cr_expect(eq(sz, sizeof(ND_ADAPTER_INFO), 128));
	cr_expect(eq(sz, sizeof(ND_RESULT), 16));
	cr_expect(eq(sz, sizeof(ND_SGE), 24));
	cr_expect(eq(sz, sizeof(ND_MW_DESCRIPTOR), 20));
}

Test(ndspi_layout_v1, interface_ids)
{
	expect_id(&IID_INDOverlapped, "c859e15e-75e2-4fe3-8d6d-0dff36f02442");
	expect_id(&IID_INDCompletionQueue, "1245a633-2a32-473a-830c-e05d1f869d02");
	expect_id(&IID_INDMemoryWindow, "070fe1f5-0ab5-4361-88db-974ba704d4b9");
	expect_id(&IID_INDEndpoint, "dbd00eab-b679-44a9-bd65-e82f3de12d1a");
	expect_id(&IID_INDConnector, "1bcaf2d1-e274-4aeb-ac57-cd5d4376e0b7");
	expect_id(&IID_INDListen, "bb902588-ba3f-4441-9fe1-3b6795e4e668");
	expect_id(&IID_INDAdapter, "a023c5a0-5b73-43bc-8d20-33aa07e9510f");
	expect_id(&IID_INDProvider, "0c5dd316-5fdf-47e6-b2d0-2a6eda8d39dd");
}

/* checks R-LIFE-05[1,3]: version 1 from C, without a daemon. */
Test(ndspi_layout_v1, R_LIFE_05_a_provider_from_c)
{
	INDProvider *provider = NULL;
	IUnknown *unknown = NULL;
	INDAdapter *adapter;
	const struct sockaddr_in local = {.sin_family = AF_INET};
	void *none = &none;

	setenv("NDD_SOCKET", "/nonexistent/ndd.sock", 1);
	cr_assert(eq(i32, NdOpenProvider(&IID_INDProvider, (void **)&provider), S_OK));
	cr_expect(eq(i32,
		provider->lpVtbl->QueryInterface(provider, &IID_IUnknown, (void **)&unknown),
		S_OK));
	cr_expect(eq(ptr, unknown, provider));
	cr_expect(eq(u32, unknown->lpVtbl->Release(unknown), 1));
	cr_expect(eq(i32, provider->lpVtbl->QueryInterface(provider, &IID_IND2Provider, &none),
		E_NOINTERFACE));
	cr_expect(zero(ptr, none));
	adapter = (INDAdapter *)provider;
	cr_expect(eq(i32, provider->lpVtbl->OpenAdapter(provider, NULL, 0, &adapter),
		ND_INVALID_ADDRESS));
	cr_expect(zero(ptr, adapter));
	cr_expect(eq(i32,
		provider->lpVtbl->OpenAdapter(
			provider, (struct sockaddr *)&local, sizeof(local), &adapter),
		ND_DEVICE_NOT_READY));
	cr_expect(eq(u32, provider->lpVtbl->Release(provider), 0));
}
