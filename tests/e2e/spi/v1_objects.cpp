/* SPDX-License-Identifier: BSD-3-Clause */
/* Interfaces, reference counts, orders of release, sizes. */
#include <algorithm>
#include <functional>
#include <random>

#include "v1.hpp"

static const GUID nobodys = {0xdead, 0xbe, 0xef, {1, 2, 3, 4, 5, 6, 7, 8}};

/* Asks for an interface that the object must have: it is the same object, counted once more. */
template <class I>
static void
answers(I *object, REFIID iid)
{
	void *other = nullptr;

	WANT(S_OK, object->QueryInterface(iid, &other));
	CHECK(other == object);
	CHECK(object->Release() == 1);
}

template <class I>
static void
answers_as_it_should(I *object, bool overlapped)
{
	void *other = &other;

	answers(object, Id<I>::iid());
	answers(object, IID_IUnknown);
	if (overlapped)
		answers(object, IID_INDOverlapped);
	for (REFIID wrong : {IID_IND2Overlapped, IID_IND2Adapter, nobodys}) {
		other = &other;
		WANT(E_NOINTERFACE, object->QueryInterface(wrong, &other));
		CHECK(other == nullptr);
	}
	if (!overlapped)
		WANT(E_NOINTERFACE, object->QueryInterface(IID_INDOverlapped, &other));
	WANT(E_POINTER, object->QueryInterface(IID_IUnknown, nullptr));
	CHECK(object->AddRef() == 2);
	CHECK(object->Release() == 1);
}

/* checks R-LIFE-05[1-3]: of version 1. */
void
v1_objects()
{
	Side1 s(place_a);
	INDMemoryWindow *window = s.new_window(nullptr);
	INDListen *listen;
	INDProvider *provider;
	INDAdapter *again;
	sockaddr_in at;
	void *none = &none;

	listen = s.new_listen(&at);
	WANT(S_OK, NdOpenProvider(IID_INDProvider, (void **)&provider));
	answers_as_it_should(s.adapter, true);
	answers_as_it_should(s.cq, true);
	answers_as_it_should(s.endpoint, false);
	answers_as_it_should(s.connector, true);
	answers_as_it_should(window, false);
	answers_as_it_should(listen, true);
	answers_as_it_should(provider, false);
	/* The windows of both versions have one id. */
	answers(window, IID_IND2MemoryWindow);

	WANT(ND_SUCCESS, NdOpenAdapter(IID_INDAdapter, (const sockaddr *)&place_a.address,
				 sizeof(place_a.address), (void **)&again));
	answers_as_it_should(again, true);
	CHECK(again->Release() == 0);
	WANT(ND_SUCCESS, provider->OpenAdapter((const sockaddr *)&place_a.address,
				 sizeof(place_a.address), &again));
	CHECK(provider->Release() == 0);
	answers_as_it_should(again, true);
	CHECK(again->Release() == 0);
	WANT(E_NOINTERFACE, NdOpenProvider(IID_INDAdapter, &none));
	CHECK(none == nullptr);
	CHECK(listen->Release() == 0);
	CHECK(window->Release() == 0);
}

/* checks R-LIFE-04[1,2]: of version 1. */
void
v1_references()
{
	Side1 a(place_a), b(place_b);
	INDListen *listen = meet1(a, b);
	INDMemoryWindow *window = b.new_window(nullptr);
	ND_MW_DESCRIPTOR descriptor;
	OVERLAPPED notify = {};

	b.bind(window, 0, 64, &descriptor);
	WANT(ND_PENDING, b.connector->NotifyDisconnect(&notify));
	for (IUnknown *held : {(IUnknown *)b.adapter, (IUnknown *)b.cq, (IUnknown *)b.out_cq,
		     (IUnknown *)b.endpoint, (IUnknown *)b.connector, (IUnknown *)window,
		     (IUnknown *)listen}) {
		CHECK(held->AddRef() == 2);
		CHECK(held->Release() == 1);
	}
	CHECK(window->Release() == 0);
	CHECK(listen->Release() == 0);
}

/* checks R-LIFE-01: of version 1, in 40 random orders, with a window bound and requests under way. */
void
v1_orders()
{
	std::mt19937 random(1);

	for (int round = 0; round < 40; round++) {
		Side1 *b = new Side1(place_b), a(place_a);
		INDListen *listen = meet1(a, *b);
		OVERLAPPED notify = {}, gone = {}, late = {};
		ND_RESULT invalidated;
		INDMemoryWindow *window = b->new_window(&invalidated);
		INDConnector *waiting = b->new_connector();
		ND_MW_DESCRIPTOR descriptor;

		b->bind(window, 0, 64, &descriptor);
		WANT(ND_PENDING, b->cq->Notify(ND_CQ_NOTIFY_ERRORS, &notify));
		WANT(ND_PENDING, b->connector->NotifyDisconnect(&gone));
		WANT(ND_PENDING, listen->GetConnectionRequest(waiting, &late));
		std::vector<IUnknown *> ends = {b->adapter, b->cq, b->out_cq, b->endpoint,
			b->connector, window, listen, waiting};
		std::shuffle(ends.begin(), ends.end(), random);
		for (IUnknown *end : ends)
			CHECK(end->Release() == 0);
		for (const OVERLAPPED *ov : {&notify, &gone, &late})
			CHECK(HasOverlappedIoCompleted(ov));
		delete[] b->buffer;
		operator delete(b); /* its parts are gone */
	}
}

static void
addresses(INDProvider *provider)
{
	SIZE_T bytes = 0, less;

	WANT(ND_INVALID_PARAMETER_2, provider->QueryAddressList(nullptr, nullptr));
	WANT(ND_BUFFER_OVERFLOW, provider->QueryAddressList(nullptr, &bytes));
	CHECK(bytes > sizeof(SOCKET_ADDRESS));
	std::vector<char> block(bytes);
	auto list = (SOCKET_ADDRESS_LIST *)block.data();
	less = bytes - 1;
	WANT(ND_BUFFER_OVERFLOW, provider->QueryAddressList(list, &less));
	CHECK(less == bytes && list->iAddressCount == 0);
	WANT(ND_SUCCESS, provider->QueryAddressList(list, &bytes));
	CHECK(list->iAddressCount >= 1);
	/* An address serves both versions, so one flag leaves none out. */
	for (DWORD flags : {(DWORD)ND_QUERY_EXCLUDE_NDv1_ADDRESSES,
		     (DWORD)ND_QUERY_EXCLUDE_NDv2_ADDRESSES}) {
		less = 0;
		WANT(ND_BUFFER_OVERFLOW, NdQueryAddressList(flags, nullptr, &less));
		CHECK(less == bytes);
	}
	less = 0;
	WANT(ND_SUCCESS, NdQueryAddressList(ND_QUERY_EXCLUDE_NDv1_ADDRESSES |
						    ND_QUERY_EXCLUDE_NDv2_ADDRESSES,
				 nullptr, &less));
	CHECK(less == 0);
}

/* What is told of an adapter, and by what it is opened. */
void
v1_sizes()
{
	Side1 s(place_a);
	ND_ADAPTER_INFO info[2] = {};
	IND2Adapter *second = place_a.open();
	ND2_ADAPTER_INFO info2 = {};
	ULONG bytes2 = sizeof(info2);
	SIZE_T bytes = 0;
	INDProvider *provider;
	INDAdapter *none = s.adapter;
	sockaddr_in nowhere = place_a.address;
	OVERLAPPED ov = {};

	info2.InfoVersion = 1;
	WANT(ND_SUCCESS, second->Query(&info2, &bytes2));
	WANT(ND_NOT_SUPPORTED, s.adapter->Query(2, info, &bytes));
	WANT(ND_BUFFER_OVERFLOW, s.adapter->Query(1, nullptr, &bytes));
	CHECK(bytes == sizeof(info[0]));
	bytes--;
	WANT(ND_BUFFER_OVERFLOW, s.adapter->Query(1, info, &bytes));
	CHECK(bytes == sizeof(info[0]) && info[0].MaxOutboundSge == 0);
	bytes = sizeof(info);
	WANT(ND_SUCCESS, s.adapter->Query(1, info, &bytes));
	CHECK(bytes == sizeof(info[0]));
	WANT(ND_SUCCESS, s.adapter->Query(1, &info[1], nullptr));
	CHECK(memcmp(&info[0], &info[1], sizeof(info[0])) == 0);
	CHECK(info[0].VendorId == info2.VendorId && info[0].DeviceId == info2.DeviceId);
	CHECK(info[0].MaxInboundSge == info2.MaxReceiveSge);
	CHECK(info[0].MaxOutboundSge == info2.MaxReadSge);
	CHECK(info[0].MaxInboundRequests == info2.MaxReceiveQueueDepth);
	CHECK(info[0].MaxOutboundRequests == info2.MaxInitiatorQueueDepth);
	CHECK(info[0].MaxInboundLength == info2.MaxTransferLength);
	CHECK(info[0].MaxOutboundLength == info2.MaxTransferLength);
	CHECK(info[0].MaxInlineData == info2.MaxInlineDataSize);
	CHECK(info[0].MaxInboundReadLimit == info2.MaxInboundReadLimit);
	CHECK(info[0].MaxOutboundReadLimit == info2.MaxOutboundReadLimit);
	CHECK(info[0].MaxCqEntries == info2.MaxCompletionQueueDepth);
	CHECK(info[0].MaxRegistrationSize == info2.MaxRegistrationSize);
	CHECK(info[0].MaxWindowSize == info2.MaxWindowSize);
	CHECK(info[0].LargeRequestThreshold == info2.LargeRequestThreshold);
	CHECK(info[0].MaxCallerData == info2.MaxCallerData);
	CHECK(info[0].MaxCalleeData == info2.MaxCalleeData);
	CHECK(second->Release() == 0);

	CHECK(s.adapter->GetFileHandle() != nullptr);
	CHECK(s.adapter->GetFileHandle() == s.adapter->GetFileHandle());
	WANT(ND_NOT_SUPPORTED, s.adapter->Control(0, nullptr, 0, nullptr, 0, &bytes, &ov));
	CHECK(bytes == 0);

	WANT(S_OK, NdOpenProvider(IID_INDProvider, (void **)&provider));
	addresses(provider);
	nowhere.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	WANT(ND_INVALID_ADDRESS,
		provider->OpenAdapter((const sockaddr *)&nowhere, sizeof(nowhere), &none));
	CHECK(none == nullptr);
	WANT(E_POINTER,
		provider->OpenAdapter((const sockaddr *)&nowhere, sizeof(nowhere), nullptr));
	CHECK(provider->Release() == 0);
}
