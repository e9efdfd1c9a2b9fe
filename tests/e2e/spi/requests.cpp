/* SPDX-License-Identifier: BSD-3-Clause */
/* Overlapped requests: arguments, cancel, release, events, ports. */
#include "spi.hpp"

static HANDLE
port_of(HANDLE file, ULONG_PTR key)
{
	HANDLE port = CreateIoCompletionPort(file, nullptr, key, 0);

	CHECK(port != nullptr);
	return port;
}

/* The next packet, which must be there: of a cancelled request. */
static void
expect_canceled(HANDLE port, const OVERLAPPED *wanted)
{
	ULONG_PTR key = 0;
	OVERLAPPED *ov;
	DWORD bytes;

	CHECK(!GetQueuedCompletionStatus(port, &bytes, &key, &ov, 0));
	CHECK(ov == wanted && key == 77);
	CHECK(GetLastError() == ERROR_OPERATION_ABORTED);
}

static void
expect_none(HANDLE port)
{
	ULONG_PTR key;
	OVERLAPPED *ov;
	DWORD bytes;

	CHECK(!GetQueuedCompletionStatus(port, &bytes, &key, &ov, 0));
	CHECK(ov == nullptr && GetLastError() == WAIT_TIMEOUT);
}

/* checks R-OV-02[1]: each call that takes an OVERLAPPED, and each that takes an interface. */
void
arguments()
{
	Side s(place_a), other(place_b);
	IND2Listener *listener = s.new_listener();
	IND2SharedReceiveQueue *srq;
	IND2MemoryWindow *window;
	IND2MemoryRegion *region = s.new_region();
	const sockaddr *to = (const sockaddr *)&place_b.address;
	OVERLAPPED ov = {};
	void *none;

	WANT(ND_SUCCESS, s.adapter->CreateMemoryWindow(IID_IND2MemoryWindow, (void **)&window));
	WANT(ND_SUCCESS, s.adapter->CreateSharedReceiveQueue(IID_IND2SharedReceiveQueue, s.file, 16, 1,
				 1, 0, 0, (void **)&srq));
	WANT(ND_INVALID_PARAMETER, s.cq->Notify(ND_CQ_NOTIFY_ANY, nullptr));
	WANT(ND_INVALID_PARAMETER, srq->Notify(nullptr));
	WANT(ND_INVALID_PARAMETER, region->Register(s.buffer, 4096, 0, nullptr));
	WANT(ND_INVALID_PARAMETER, s.region->Deregister(nullptr));
	WANT(ND_INVALID_PARAMETER,
		s.connector->Connect(s.qp, to, sizeof(sockaddr_in), 0, 0, nullptr, 0, nullptr));
	WANT(ND_INVALID_PARAMETER, s.connector->Accept(s.qp, 0, 0, nullptr, 0, nullptr));
	WANT(ND_INVALID_PARAMETER, s.connector->CompleteConnect(nullptr));
	WANT(ND_INVALID_PARAMETER, s.connector->NotifyDisconnect(nullptr));
	WANT(ND_INVALID_PARAMETER, s.connector->Disconnect(nullptr));
	WANT(ND_INVALID_PARAMETER, listener->GetConnectionRequest(s.connector, nullptr));
	WANT(ND_INVALID_PARAMETER, s.cq->GetOverlappedResult(nullptr, FALSE));

	for (IUnknown *wrong : {(IUnknown *)nullptr, (IUnknown *)s.cq, (IUnknown *)other.qp}) {
		WANT(ND_INVALID_PARAMETER_1,
			s.connector->Connect(
				wrong, to, sizeof(sockaddr_in), 0, 0, nullptr, 0, &ov));
		WANT(ND_INVALID_PARAMETER_1, s.connector->Accept(wrong, 0, 0, nullptr, 0, &ov));
		WANT(ND_INVALID_PARAMETER_1, listener->GetConnectionRequest(wrong, &ov));
		WANT(ND_INVALID_PARAMETER_2, s.qp->Bind(nullptr, wrong, window, s.buffer, 1, 0));
		WANT(ND_INVALID_PARAMETER_3, s.qp->Bind(nullptr, s.region, wrong, s.buffer, 1, 0));
		WANT(ND_INVALID_PARAMETER_2, s.qp->Invalidate(nullptr, wrong, 0));
	}
	WANT(ND_INVALID_PARAMETER_2, s.adapter->CreateQueuePair(IID_IND2QueuePair, s.qp, s.cq, nullptr,
					     1, 1, 1, 1, 0, &none));
	CHECK(none == nullptr);
	WANT(ND_INVALID_PARAMETER_3, s.adapter->CreateQueuePair(IID_IND2QueuePair, s.cq, other.cq,
					     nullptr, 1, 1, 1, 1, 0, &none));
	WANT(ND_INVALID_PARAMETER_5, s.adapter->CreateQueuePair(IID_IND2QueuePair, s.cq, s.cq, nullptr,
					     0, 1, 1, 1, 0, &none));
	WANT(ND_INVALID_PARAMETER_4, s.adapter->CreateQueuePairWithSrq(IID_IND2QueuePair, s.cq, s.cq,
					     s.cq, nullptr, 1, 1, 0, &none));
	WANT(ND_INVALID_PARAMETER_6, s.adapter->CreateQueuePairWithSrq(IID_IND2QueuePair, s.cq, s.cq,
					     srq, nullptr, 0, 1, 0, &none));
	WANT(ND_INVALID_PARAMETER_7, s.adapter->CreateQueuePairWithSrq(IID_IND2QueuePair, s.cq, s.cq,
					     srq, nullptr, 1, 10000, 0, &none));
	WANT(ND_INVALID_PARAMETER_8, s.adapter->CreateQueuePairWithSrq(IID_IND2QueuePair, s.cq, s.cq,
					     srq, nullptr, 1, 1, 1 << 30, &none));
	for (HANDLE wrong : {(HANDLE) nullptr, INVALID_HANDLE_VALUE, other.file}) {
		WANT(ND_INVALID_PARAMETER_2,
			s.adapter->CreateMemoryRegion(IID_IND2MemoryRegion, wrong, &none));
		CHECK(none == nullptr);
	}
	CHECK(region->Release() == 0);
	CHECK(srq->Release() == 0);
	CHECK(window->Release() == 0);
	CHECK(listener->Release() == 0);
}

/* checks R-OV-10[1-4], R-OV-11[1]: two queues in order and in reverse order, two of one queue. */
void
cancels()
{
	Side s(place_a);
	HANDLE port = port_of(s.file, 77);
	IND2CompletionQueue *second;
	OVERLAPPED ov[2];

	WANT(ND_SUCCESS, s.adapter->CreateCompletionQueue(
				 IID_IND2CompletionQueue, s.file, 4, 0, 0, (void **)&second));
	WANT(ND_SUCCESS, s.cq->CancelOverlappedRequests());
	expect_none(port);
	for (int round = 0; round < 3000; round++) {
		const int kind = round % 3;
		IND2CompletionQueue *of[2] = {s.cq, kind == 2 ? s.cq : second};

		memset(ov, 0, sizeof(ov));
		for (int i = 0; i < 2; i++)
			WANT(ND_PENDING, of[i]->Notify(ND_CQ_NOTIFY_ANY, &ov[i]));
		WANT(ND_PENDING, s.cq->GetOverlappedResult(&ov[0], FALSE));
		WANT(ND_SUCCESS, of[kind == 1]->CancelOverlappedRequests());
		expect_canceled(port, &ov[kind == 1]);
		if (kind != 2) {
			expect_none(port);
			WANT(ND_PENDING, s.cq->GetOverlappedResult(&ov[kind == 0], FALSE));
			WANT(ND_SUCCESS, of[kind == 0]->CancelOverlappedRequests());
		}
		expect_canceled(port, &ov[kind != 1]);
		for (int i = 0; i < 2; i++)
			WANT(ND_CANCELED, second->GetOverlappedResult(&ov[i], TRUE));
		expect_none(port);
	}
	CHECK(second->Release() == 0);
	CHECK(CloseHandle(port));
}

/* checks R-OV-13[1], R-CQ-33: of each kind of object that has requests. */
void
releases()
{
	Side a(place_a), b(place_b);
	IND2Listener *listener = meet(a, b), *quiet = a.new_listener();
	IND2Connector *c = a.new_connector(), *fresh = a.new_connector();
	IND2SharedReceiveQueue *srq;
	IND2CompletionQueue *cq;
	HANDLE port = port_of(a.file, 77);
	sockaddr_in any = place_a.address;
	OVERLAPPED ov[5] = {};

	WANT(ND_SUCCESS, a.adapter->CreateSharedReceiveQueue(IID_IND2SharedReceiveQueue, a.file, 16, 1,
				 1, 0, 0, (void **)&srq));
	WANT(ND_SUCCESS, srq->Receive(nullptr, nullptr, 0));
	WANT(ND_SUCCESS, a.adapter->CreateCompletionQueue(
				 IID_IND2CompletionQueue, a.file, 4, 0, 0, (void **)&cq));
	WANT(ND_SUCCESS, quiet->Bind((const sockaddr *)&any, sizeof(any)));
	WANT(ND_SUCCESS, quiet->Listen(1));
	for (OVERLAPPED &one : ov)
		one.hEvent = CreateEvent(nullptr, TRUE, TRUE, nullptr);
	WANT(ND_PENDING, cq->Notify(ND_CQ_NOTIFY_ANY, &ov[0]));
	WANT(ND_PENDING, srq->Notify(&ov[1]));
	WANT(ND_PENDING, quiet->GetConnectionRequest(fresh, &ov[2]));
	WANT(ND_PENDING, a.connector->NotifyDisconnect(&ov[3]));
	WANT(ND_PENDING, a.connector->NotifyDisconnect(&ov[4]));
	for (OVERLAPPED &one : ov)
		CHECK(WaitForSingleObject(one.hEvent, 0) == WAIT_TIMEOUT);
	CHECK(cq->Release() == 0);
	expect_canceled(port, &ov[0]);
	CHECK(srq->Release() == 0);
	expect_canceled(port, &ov[1]);
	CHECK(quiet->Release() == 0);
	expect_canceled(port, &ov[2]);
	expect_none(port);
	std::swap(c, a.connector);
	CHECK(c->Release() == 0);
	expect_canceled(port, &ov[3]);
	expect_canceled(port, &ov[4]);
	for (OVERLAPPED &one : ov) {
		CHECK(HasOverlappedIoCompleted(&one));
		CHECK(WaitForSingleObject(one.hEvent, 0) == WAIT_OBJECT_0);
		CHECK(CloseHandle(one.hEvent));
	}
	CHECK(fresh->Release() == 0);
	CHECK(listener->Release() == 0);
	CHECK(CloseHandle(port));
}

/* Programs start a second request on an OVERLAPPED that is in use: on Windows both complete. */
void
twice()
{
	Side s(place_a);
	HANDLE port = port_of(s.file, 77);
	OVERLAPPED ov = {};

	for (int i = 0; i < 100; i++) {
		WANT(ND_PENDING, s.cq->Notify(ND_CQ_NOTIFY_ANY, &ov));
		WANT(ND_PENDING, s.cq->Notify(ND_CQ_NOTIFY_ANY, &ov));
		/* One that is refused leaves those under way alone. */
		WANT(ND_INVALID_PARAMETER_1, s.cq->Notify(9, &ov));
		WANT(ND_PENDING, s.cq->GetOverlappedResult(&ov, FALSE));
		WANT(ND_SUCCESS, s.cq->CancelOverlappedRequests());
		expect_canceled(port, &ov);
		expect_canceled(port, &ov);
		expect_none(port);
		WANT(ND_CANCELED, s.cq->GetOverlappedResult(&ov, TRUE));
	}
	CHECK(CloseHandle(port));
}

static DWORD WINAPI
cancel_them(void *cq)
{
	WANT(ND_SUCCESS, ((IND2CompletionQueue *)cq)->CancelOverlappedRequests());
	return 0;
}

/*
 * checks R-OV-06[1-4]: marked events keep the packet out of the port; and as soon as the status is
 * known, another thread still completing or not, event and OVERLAPPED can be closed and freed.
 */
void
events()
{
	Side s(place_a);
	HANDLE port = port_of(s.file, 77);
	OVERLAPPED marked = {};

	marked.hEvent = (HANDLE)((ULONG_PTR)CreateEvent(nullptr, TRUE, FALSE, nullptr) | 1);
	WANT(ND_PENDING, s.cq->Notify(ND_CQ_NOTIFY_ANY, &marked));
	WANT(ND_SUCCESS, s.cq->CancelOverlappedRequests());
	CHECK(WaitForSingleObject(marked.hEvent, 0) == WAIT_OBJECT_0);
	expect_none(port);
	CHECK(CloseHandle(marked.hEvent));
	for (int i = 0; i < 300; i++) {
		auto ov = new OVERLAPPED();
		HANDLE thread;

		ov->hEvent = CreateEvent(nullptr, i % 2, FALSE, nullptr);
		WANT(ND_PENDING, s.cq->Notify(ND_CQ_NOTIFY_ANY, ov));
		thread = CreateThread(nullptr, 0, cancel_them, s.cq, 0, nullptr);
		if (i % 4 < 2)
			CHECK(WaitForSingleObject(ov->hEvent, 10000) == WAIT_OBJECT_0);
		while (i % 4 >= 2 && !HasOverlappedIoCompleted(ov))
			Sleep(0);
		WANT(ND_CANCELED, s.cq->GetOverlappedResult(ov, FALSE));
		CHECK(CloseHandle(ov->hEvent));
		expect_canceled(port, ov);
		memset(ov, 0xff, sizeof(*ov));
		delete ov;
		CHECK(WaitForSingleObject(thread, 10000) == WAIT_OBJECT_0);
		CHECK(CloseHandle(thread));
	}
	CHECK(CloseHandle(port));
}
