/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs are compiled against: slots, ids, and a C call through them. */
#include "slots.h"

Test(ndspi_layout, slots_of_queues_and_memory)
{
	OVERLAPPED_SLOTS(IND2Overlapped);
	SLOTS(IND2Overlapped, 5);
	OVERLAPPED_SLOTS(IND2CompletionQueue);
	SLOT(IND2CompletionQueue, 5, GetNotifyAffinity);
	SLOT(IND2CompletionQueue, 6, Resize);
	SLOT(IND2CompletionQueue, 7, Notify);
	SLOT(IND2CompletionQueue, 8, GetResults);
	SLOTS(IND2CompletionQueue, 9);
	OVERLAPPED_SLOTS(IND2SharedReceiveQueue);
	SLOT(IND2SharedReceiveQueue, 5, GetNotifyAffinity);
	SLOT(IND2SharedReceiveQueue, 6, Modify);
	SLOT(IND2SharedReceiveQueue, 7, Notify);
	SLOT(IND2SharedReceiveQueue, 8, Receive);
	SLOTS(IND2SharedReceiveQueue, 9);
	OVERLAPPED_SLOTS(IND2MemoryRegion);
	SLOT(IND2MemoryRegion, 5, Register);
	SLOT(IND2MemoryRegion, 6, Deregister);
	SLOT(IND2MemoryRegion, 7, GetLocalToken);
	SLOT(IND2MemoryRegion, 8, GetRemoteToken);
	SLOTS(IND2MemoryRegion, 9);
	UNKNOWN_SLOTS(IND2MemoryWindow);
	SLOT(IND2MemoryWindow, 3, GetRemoteToken);
	SLOTS(IND2MemoryWindow, 4);
}

Test(ndspi_layout, slots_of_queue_pairs_and_connections)
{
	UNKNOWN_SLOTS(IND2QueuePair);
	SLOT(IND2QueuePair, 3, Flush);
	SLOT(IND2QueuePair, 4, Send);
	SLOT(IND2QueuePair, 5, Receive);
	SLOT(IND2QueuePair, 6, Bind);
	SLOT(IND2QueuePair, 7, Invalidate);
	SLOT(IND2QueuePair, 8, Read);
	SLOT(IND2QueuePair, 9, Write);
	SLOTS(IND2QueuePair, 10);
	OVERLAPPED_SLOTS(IND2Connector);
	SLOT(IND2Connector, 5, Bind);
	SLOT(IND2Connector, 6, Connect);
	SLOT(IND2Connector, 7, CompleteConnect);
	SLOT(IND2Connector, 8, Accept);
	SLOT(IND2Connector, 9, Reject);
	SLOT(IND2Connector, 10, GetReadLimits);
	SLOT(IND2Connector, 11, GetPrivateData);
	SLOT(IND2Connector, 12, GetLocalAddress);
	SLOT(IND2Connector, 13, GetPeerAddress);
	SLOT(IND2Connector, 14, NotifyDisconnect);
	SLOT(IND2Connector, 15, Disconnect);
	SLOTS(IND2Connector, 16);
	OVERLAPPED_SLOTS(IND2Listener);
	SLOT(IND2Listener, 5, Bind);
	SLOT(IND2Listener, 6, Listen);
	SLOT(IND2Listener, 7, GetLocalAddress);
	SLOT(IND2Listener, 8, GetConnectionRequest);
	SLOTS(IND2Listener, 9);
}

Test(ndspi_layout, slots_of_adapters_and_providers)
{
	UNKNOWN_SLOTS(IND2Adapter);
	SLOT(IND2Adapter, 3, CreateOverlappedFile);
	SLOT(IND2Adapter, 4, Query);
	SLOT(IND2Adapter, 5, QueryAddressList);
	SLOT(IND2Adapter, 6, CreateCompletionQueue);
	SLOT(IND2Adapter, 7, CreateMemoryRegion);
	SLOT(IND2Adapter, 8, CreateMemoryWindow);
	SLOT(IND2Adapter, 9, CreateSharedReceiveQueue);
	SLOT(IND2Adapter, 10, CreateQueuePair);
	SLOT(IND2Adapter, 11, CreateQueuePairWithSrq);
	SLOT(IND2Adapter, 12, CreateConnector);
	SLOT(IND2Adapter, 13, CreateListener);
	SLOTS(IND2Adapter, 14);
	UNKNOWN_SLOTS(IND2Provider);
	SLOT(IND2Provider, 3, QueryAddressList);
	SLOT(IND2Provider, 4, ResolveAddress);
	SLOT(IND2Provider, 5, OpenAdapter);
	SLOTS(IND2Provider, 6);
}

Test(ndspi_layout, interface_ids)
{
	expect_id(&IID_IUnknown, "00000000-0000-0000-c000-000000000046");
	expect_id(&IID_IND2Overlapped, "abf72719-b016-4a40-a6f7-622791a7044c");
	expect_id(&IID_IND2CompletionQueue, "20cc445e-64a0-4cbb-aa75-f6a7251fda9e");
	expect_id(&IID_IND2SharedReceiveQueue, "aabd67dc-459a-4db1-826b-56cfcc278883");
	expect_id(&IID_IND2MemoryRegion, "55dfea2f-bc56-4982-8a45-0301be46c413");
	expect_id(&IID_IND2MemoryWindow, "070fe1f5-0ab5-4361-88db-974ba704d4b9");
	expect_id(&IID_IND2QueuePair, "eef2f332-b75d-4063-bce3-3a0bad2d02ce");
	expect_id(&IID_IND2Connector, "7dd615c4-6b4c-4866-950c-f3b1d25a5302");
	expect_id(&IID_IND2Listener, "65d23d83-3a57-4e02-86a4-350165c2d130");
	expect_id(&IID_IND2Adapter, "d89c798c-4823-4d69-846c-dfdccff9e5f3");
	expect_id(&IID_IND2Provider, "49eae6c1-76c4-46d0-8003-5c2eaa2c9a8e");
}

/* checks R-LIFE-05[1,3]: from C, without a daemon. */
Test(ndspi_layout, R_LIFE_05_a_provider_from_c)
{
	IND2Provider *provider = NULL;
	IUnknown *unknown = NULL;
	void *none = &none;
	UINT64 id;

	cr_assert(eq(i32, NdOpenProvider(&IID_IND2Provider, (void **)&provider), S_OK));
	cr_expect(eq(i32,
		provider->lpVtbl->QueryInterface(provider, &IID_IUnknown, (void **)&unknown),
		S_OK));
	cr_expect(eq(ptr, unknown, provider));
	cr_expect(eq(u32, unknown->lpVtbl->Release(unknown), 1));
	cr_expect(eq(i32, provider->lpVtbl->QueryInterface(provider, &IID_IND2Adapter, &none),
		E_NOINTERFACE));
	cr_expect(zero(ptr, none));
	cr_expect(eq(i32, provider->lpVtbl->ResolveAddress(provider, NULL, 0, NULL),
		ND_INVALID_PARAMETER_3));
	cr_expect(lt(i32, provider->lpVtbl->ResolveAddress(provider, NULL, 0, &id), 0));
	cr_expect(eq(u32, provider->lpVtbl->Release(provider), 0));
}

/* Without a daemon there is no provider with an address, which is no failure. */
Test(ndspi_layout, no_daemon_has_no_addresses)
{
	SIZE_T bytes = 4711;

	setenv("NDD_SOCKET", "/nonexistent/ndd.sock", 1);
	cr_expect(eq(i32, NdQueryAddressList(0, NULL, &bytes), ND_SUCCESS));
	cr_expect(zero(sz, bytes));
	cr_expect(eq(i32, NdQueryAddressList(0, NULL, NULL), ND_INVALID_PARAMETER_3));
}
