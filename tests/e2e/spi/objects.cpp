/* SPDX-License-Identifier: BSD-3-Clause */
/* Interfaces, reference counts, orders of release, sizes. */
#include <algorithm>
#include <functional>
#include <random>

#include "spi.hpp"

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
		answers(object, IID_IND2Overlapped);
	else
		WANT(E_NOINTERFACE, object->QueryInterface(IID_IND2Overlapped, &other));
	other = &other;
	WANT(E_NOINTERFACE, object->QueryInterface(nobodys, &other));
	CHECK(other == nullptr);
	WANT(E_POINTER, object->QueryInterface(IID_IUnknown, nullptr));
	CHECK(object->AddRef() == 2);
	CHECK(object->Release() == 1);
}

/* checks R-LIFE-05[1-3] */
void
objects()
{
	Side s(place_a);
	IND2MemoryWindow *window;
	IND2SharedReceiveQueue *srq;
	IND2Listener *listener = s.new_listener();
	IND2Provider *provider;
	void *none = &none;

	WANT(ND_SUCCESS, s.adapter->CreateMemoryWindow(IID_IND2MemoryWindow, (void **)&window));
	WANT(ND_SUCCESS, s.adapter->CreateSharedReceiveQueue(IID_IND2SharedReceiveQueue, s.file, 16, 1,
				 0, 0, 0, (void **)&srq));
	WANT(S_OK, NdOpenProvider(IID_IND2Provider, (void **)&provider));
	answers_as_it_should(s.adapter, false);
	answers_as_it_should(s.cq, true);
	answers_as_it_should(s.qp, false);
	answers_as_it_should(s.connector, true);
	answers_as_it_should(s.region, true);
	answers_as_it_should(window, false);
	answers_as_it_should(srq, true);
	answers_as_it_should(listener, true);
	answers_as_it_should(provider, false);

	WANT(E_NOINTERFACE, s.adapter->CreateMemoryWindow(IID_IND2QueuePair, &none));
	CHECK(none == nullptr);
	WANT(E_POINTER, s.adapter->CreateMemoryWindow(IID_IND2MemoryWindow, nullptr));
	WANT(E_NOINTERFACE, NdOpenProvider(IID_IND2Adapter, &none));
	CHECK(provider->Release() == 0);
	CHECK(listener->Release() == 0);
	CHECK(srq->Release() == 0);
	CHECK(window->Release() == 0);
}

/* checks R-LIFE-04[1,2]: what is held inside does not show, and the last release says 0. */
void
references()
{
	Side a(place_a), b(place_b);
	IND2Listener *listener = meet(a, b);
	OVERLAPPED notify = {};

	WANT(ND_PENDING, a.connector->NotifyDisconnect(&notify));
	for (IUnknown *held : {(IUnknown *)a.adapter, (IUnknown *)a.cq, (IUnknown *)a.qp,
		     (IUnknown *)a.connector, (IUnknown *)a.region}) {
		CHECK(held->AddRef() == 2);
		CHECK(held->Release() == 1);
	}
	CHECK(listener->Release() == 0);
}

/* checks R-LIFE-01, R-LIFE-03, R-MR-07[1]: in 30 random orders, of the objects of a connected
 * side. */
void
orders()
{
	std::mt19937 random(1);

	for (int round = 0; round < 30; round++) {
		Side *a = new Side(place_a), b(place_b);
		IND2Listener *listener = meet(*a, b);
		OVERLAPPED notify = {}, gone = {};
		IND2MemoryWindow *window;

		WANT(ND_SUCCESS, a->adapter->CreateMemoryWindow(
					 IID_IND2MemoryWindow, (void **)&window));
		WANT(ND_PENDING, a->cq->Notify(ND_CQ_NOTIFY_ERRORS, &notify));
		WANT(ND_PENDING, a->connector->NotifyDisconnect(&gone));
		std::vector<std::function<void()>> ends = {
			[&] { CHECK(a->adapter->Release() == 0); },
			[&] { CHECK(a->cq->Release() == 0); },
			[&] { CHECK(a->qp->Release() == 0); },
			[&] { CHECK(a->connector->Release() == 0); },
			[&] { CHECK(a->region->Release() == 0); },
			[&] { CHECK(window->Release() == 0); },
			[&] { CHECK(CloseHandle(a->file)); },
		};
		std::shuffle(ends.begin(), ends.end(), random);
		for (auto &end : ends)
			end();
		CHECK(HasOverlappedIoCompleted(&notify) && HasOverlappedIoCompleted(&gone));
		delete[] a->buffer;
		operator delete(a); /* its parts are gone */
		CHECK(listener->Release() == 0);
	}
}

/* checks R-ADP-01[3], R-ADP-03[1,2]: of all that tells sizes, and of the adapter's own addresses */
void
sizes()
{
	Side s(place_a);
	ND2_ADAPTER_INFO info[2] = {};
	sockaddr_in local;
	UINT64 id = 0;
	ULONG bytes = 0;
	SIZE_T room = sizeof(local);
	IND2Provider *provider;
	IND2Adapter *again;

	WANT(ND_BUFFER_OVERFLOW, s.adapter->Query(nullptr, &bytes));
	CHECK(bytes == sizeof(info[0]));
	bytes--;
	WANT(ND_BUFFER_OVERFLOW, s.adapter->Query(info, &bytes));
	CHECK(bytes == sizeof(info[0]) && info[0].MaxInitiatorSge == 0);
	for (ULONG version : {1u, (ULONG)ND_VERSION_2}) {
		info[0].InfoVersion = version;
		bytes = sizeof(info);
		WANT(ND_SUCCESS, s.adapter->Query(info, &bytes));
		CHECK(bytes == sizeof(info[0]) && info[0].InfoVersion == version);
	}
	info[1].InfoVersion = 3;
	WANT(ND_INVALID_PARAMETER_1, s.adapter->Query(&info[1], &bytes));
	CHECK(info[0].AdapterFlags & ND_ADAPTER_FLAG_IN_ORDER_DMA_SUPPORTED);
	CHECK(info[0].MaxReceiveQueueDepth == info[0].MaxInitiatorQueueDepth);
	CHECK(info[0].MaxReadSge <= info[0].MaxInitiatorSge);
	CHECK(info[0].InlineRequestThreshold <= info[0].MaxInlineDataSize);
	CHECK(info[0].MaxTransferLength >= 64u << 20 && info[0].MaxTransferLength <= 1u << 31);

	WANT(S_OK, NdOpenProvider(IID_IND2Provider, (void **)&provider));
	WANT(ND_SUCCESS, provider->ResolveAddress((const sockaddr *)&place_a.address,
				 sizeof(place_a.address), &id));
	CHECK(id == info[0].AdapterId);
	WANT(ND_SUCCESS, provider->OpenAdapter(IID_IND2Adapter, id, (void **)&again));
	CHECK(provider->Release() == 0);
	bytes = 0;
	WANT(ND_BUFFER_OVERFLOW, again->QueryAddressList(nullptr, &bytes));
	std::vector<char> block(bytes + 8);
	auto list = (SOCKET_ADDRESS_LIST *)block.data();
	ULONG less = bytes - 1;
	WANT(ND_BUFFER_OVERFLOW, again->QueryAddressList(list, &less));
	CHECK(less == bytes && list->iAddressCount == 0);
	less = (ULONG)block.size();
	WANT(ND_SUCCESS, again->QueryAddressList(list, &less));
	CHECK(less == bytes && list->iAddressCount >= 1);
	bool found = false;
	for (INT i = 0; i < list->iAddressCount; i++) {
		auto at = (const sockaddr_in *)list->Address[i].lpSockaddr;
		CHECK((char *)at >= block.data() && (char *)at < block.data() + bytes);
		found |= at->sin_family == AF_INET &&
			 at->sin_addr.s_addr == place_a.address.sin_addr.s_addr;
	}
	CHECK(found);
	CHECK(again->Release() == 0);

	room = 0;
	WANT(ND_BUFFER_OVERFLOW, NdQueryAddressList(0, nullptr, &room));
	CHECK(room > sizeof(SOCKET_ADDRESS));
	room = 0;
	WANT(ND_SUCCESS, NdQueryAddressList(ND_QUERY_EXCLUDE_NDv1_ADDRESSES |
						    ND_QUERY_EXCLUDE_NDv2_ADDRESSES,
				 nullptr, &room));
	CHECK(room == 0);
	WANT(ND_INVALID_PARAMETER_1, NdQueryAddressList(8, nullptr, &room));
	WANT(ND_SUCCESS,
		NdCheckAddress((const sockaddr *)&place_a.address, sizeof(place_a.address)));
	local = place_a.address;
	local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	WANT(ND_INVALID_ADDRESS, NdCheckAddress((const sockaddr *)&local, sizeof(local)));
	room = 1;
	WANT(ND_BUFFER_OVERFLOW, NdResolveAddress((const sockaddr *)&place_b.address,
					 sizeof(place_b.address), (sockaddr *)&local, &room));
	CHECK(room == sizeof(local));
	WANT(ND_SUCCESS, NdResolveAddress((const sockaddr *)&place_b.address,
				 sizeof(place_b.address), (sockaddr *)&local, &room));
	CHECK(local.sin_addr.s_addr == place_a.address.sin_addr.s_addr);
}
