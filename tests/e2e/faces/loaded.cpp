/* SPDX-License-Identifier: BSD-3-Clause */
/* loadedtest FACE LIBRARY SOCKET ADDRESS: a program that closes the library while it has objects of it. It is
 * linked with none of them, or none would go. */
#include <arpa/inet.h>
#include <cstring>
#include <dlfcn.h>

#include <ndkpi.h>
#include <ndsupport.h>

#include "../want.h"

static void *library;
static sockaddr_in address;

template <class Thing>
static Thing *
named(const char *name)
{
	void *const at = dlsym(library, name);

	CHECK(at != nullptr);
	return (Thing *)at;
}
#define CALL(name) named<decltype(name)>(#name)
#define ID(name)   (*named<const IID>(#name))

/* From here on there are only the objects. */
static void
close_library()
{
	CHECK(dlclose(library) == 0);
}

/* The provider goes, and the library is closed; the adapter serves. */
static void
version2()
{
	const IID id = ID(IID_IND2CompletionQueue);
	IND2CompletionQueue *cq;
	IND2Provider *provider;
	IND2Adapter *adapter;
	OVERLAPPED told = {};
	UINT64 adapter_id;
	HANDLE file;

	WANT(S_OK, CALL(NdOpenProvider)(ID(IID_IND2Provider), (void **)&provider));
	WANT(S_OK, provider->ResolveAddress((sockaddr *)&address, sizeof(address), &adapter_id));
	WANT(S_OK, provider->OpenAdapter(ID(IID_IND2Adapter), adapter_id, (void **)&adapter));
	CHECK(provider->Release() == 0);
	close_library();
	WANT(S_OK, adapter->CreateOverlappedFile(&file));
	WANT(S_OK, adapter->CreateCompletionQueue(id, file, 16, 0, 0, (void **)&cq));
	WANT(ND_PENDING, cq->Notify(ND_CQ_NOTIFY_ANY, &told));
	WANT(S_OK, cq->CancelOverlappedRequests());
	WANT(ND_CANCELED, cq->GetOverlappedResult(&told, TRUE));
	CHECK(cq->Release() == 0 && adapter->Release() == 0);
}

static void
version1()
{
	INDCompletionQueue *cq;
	INDProvider *provider;
	INDAdapter *adapter;
	OVERLAPPED told = {};

	WANT(S_OK, CALL(NdOpenProvider)(ID(IID_INDProvider), (void **)&provider));
	WANT(S_OK, provider->OpenAdapter((sockaddr *)&address, sizeof(address), &adapter));
	CHECK(provider->Release() == 0);
	close_library();
	WANT(S_OK, adapter->CreateCompletionQueue(16, &cq));
	WANT(ND_PENDING, cq->Notify(ND_CQ_NOTIFY_ANY, &told));
	WANT(S_OK, cq->CancelOverlappedRequests());
	WANT(ND_CANCELED, cq->GetOverlappedResult(&told, nullptr, TRUE));
	CHECK(cq->Release() == 0 && adapter->Release() == 0);
}

/* NDK has no such rule, and its threads run on all the same. */
static void
tables()
{
	const auto close_adapter = CALL(NdkCloseAdapter);
	NDK_CONNECTOR *connector = nullptr;
	NDK_ADAPTER *adapter;

	WANT(STATUS_SUCCESS, CALL(NdkOpenAdapter)((sockaddr *)&address, sizeof(address),
				     NDK_VERSION{1, 2}, &adapter));
	close_library();
	const auto created = [](void *, NTSTATUS, NDK_OBJECT_HEADER *) {};
	WANT(STATUS_SUCCESS,
		adapter->Dispatch->NdkCreateConnector(adapter, created, nullptr, &connector));
	WANT(STATUS_PENDING,
		connector->Dispatch->NdkCloseConnector(&connector->Header, nullptr, nullptr));
	WANT(STATUS_SUCCESS, close_adapter(adapter));
}

int
main(int argc, char **argv)
{
	CHECK(argc == 5);
	library = dlopen(argv[2], RTLD_NOW);
	CHECK(library != nullptr);
	setenv("NDD_SOCKET", argv[3], 1);
	address.sin_family = AF_INET;
	CHECK(inet_pton(AF_INET, argv[4], &address.sin_addr) == 1);
	if (strcmp(argv[1], "spi") == 0)
		version2();
	else if (strcmp(argv[1], "spi1") == 0)
		version1();
	else
		tables();
	return 0;
}
