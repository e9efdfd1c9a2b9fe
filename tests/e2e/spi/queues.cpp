/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues: what is told of them, taken from them by several, and left of them. */
#include <atomic>
#include <sys/socket.h>
#include <unistd.h>

#include "spi.hpp"

static int context[64];

/* A message from a takes the next receive of b. */
static void
message(Side &a, const void *none = nullptr)
{
	WANT(ND_SUCCESS, a.qp->Send((void *)none, nullptr, 0, 0));
	a.result((void *)none, Nd2RequestTypeSend);
}

/* checks R-SRQ-03[1,2,4]: the queue has three receives, and tells when there are less than two;
 * those who ask then are told at once. */
void
low_queues()
{
	Side a(place_a), b(place_b);
	IND2SharedReceiveQueue *srq;
	OVERLAPPED low[3] = {};

	WANT(ND_SUCCESS, b.adapter->CreateSharedReceiveQueue(
				 IID_IND2SharedReceiveQueue, b.file, 8, 1, 2, 0, 0, (void **)&srq));
	CHECK(b.qp->Release() == 0);
	WANT(ND_SUCCESS, b.adapter->CreateQueuePairWithSrq(
				 IID_IND2QueuePair, b.cq, b.cq, srq, &b, 8, 2, 0, (void **)&b.qp));
	for (int i = 0; i < 3; i++)
		WANT(ND_SUCCESS, srq->Receive(&context[i], nullptr, 0));
	WANT(ND_PENDING, srq->Notify(&low[0]));
	WANT(ND_PENDING, srq->Notify(&low[1]));
	IND2Listener *listener = meet(a, b);
	message(a);
	b.result(&context[0], Nd2RequestTypeReceive);
	for (int i = 0; i < 2; i++)
		WANT(ND_PENDING, srq->GetOverlappedResult(&low[i], FALSE));
	message(a);
	for (int i = 0; i < 2; i++)
		WANT(ND_SUCCESS, srq->GetOverlappedResult(&low[i], TRUE));
	WANT(ND_PENDING, srq->Notify(&low[2]));
	WANT(ND_SUCCESS, srq->GetOverlappedResult(&low[2], TRUE));
	CHECK(srq->Release() == 0);
	CHECK(listener->Release() == 0);
}

/* checks R-CQ-22, R-CQ-02[2]: what comes to one queue is not told by the other one. */
void
two_queues()
{
	Side s(place_a);
	IND2CompletionQueue *sends;
	IND2QueuePair *qp;
	OVERLAPPED told[2] = {};
	ND2_RESULT r;

	WANT(ND_SUCCESS, s.adapter->CreateCompletionQueue(
				 IID_IND2CompletionQueue, s.file, 4, 0, 0, (void **)&sends));
	WANT(ND_SUCCESS, s.adapter->CreateQueuePair(IID_IND2QueuePair, s.cq, sends, nullptr, 4, 4,
				 1, 1, 0, (void **)&qp));
	WANT(ND_PENDING, s.cq->Notify(ND_CQ_NOTIFY_ANY, &told[0]));
	WANT(ND_PENDING, sends->Notify(ND_CQ_NOTIFY_ANY, &told[1]));
	WANT(ND_SUCCESS, qp->Receive(&context[0], nullptr, 0));
	WANT(ND_SUCCESS, qp->Flush());
	WANT(ND_SUCCESS, s.cq->GetOverlappedResult(&told[0], TRUE));
	WANT(ND_PENDING, sends->GetOverlappedResult(&told[1], FALSE));
	CHECK(s.cq->GetResults(&r, 1) == 1 && sends->GetResults(&r, 1) == 0);
	CHECK(qp->Release() == 0);
	CHECK(sends->Release() == 0);
	WANT(ND_CANCELED, s.cq->GetOverlappedResult(&told[1], TRUE));
}

/* checks R-CQ-37[1-3], R-SRQ-09[1,2], R-SRQ-03[3]: wishes are taken, groups that there are not
 * are no wishes, and the CPUs that there are can be asked for. A threshold of 0 tells nothing. */
void
near_queues()
{
	Side s(place_a);
	IND2SharedReceiveQueue *srq;
	IND2CompletionQueue *cq;
	OVERLAPPED low = {};
	USHORT group = 99;
	KAFFINITY mask = 0;

	WANT(ND_INVALID_PARAMETER_4, s.adapter->CreateCompletionQueue(IID_IND2CompletionQueue,
					     s.file, 4, 1000, 1, (void **)&cq));
	WANT(ND_SUCCESS, s.adapter->CreateCompletionQueue(IID_IND2CompletionQueue, s.file, 4, 0,
				 ~(KAFFINITY)0, (void **)&cq));
	WANT(ND_SUCCESS, cq->GetNotifyAffinity(&group, &mask));
	CHECK(group < 99 && mask != 0 && (mask & (mask - 1)) == 0);
	CHECK(cq->Release() == 0);
	WANT(ND_INVALID_PARAMETER_6, s.adapter->CreateSharedReceiveQueue(IID_IND2SharedReceiveQueue,
					     s.file, 8, 1, 0, 1000, 1, (void **)&srq));
	WANT(ND_SUCCESS, s.adapter->CreateSharedReceiveQueue(
				 IID_IND2SharedReceiveQueue, s.file, 8, 1, 0, 0, 1, (void **)&srq));
	mask = 0;
	WANT(ND_SUCCESS, srq->GetNotifyAffinity(&group, &mask));
	CHECK(mask != 0);
	WANT(ND_PENDING, srq->Notify(&low));
	WANT(ND_SUCCESS, srq->Receive(nullptr, nullptr, 0));
	WANT(ND_PENDING, srq->GetOverlappedResult(&low, FALSE));
	CHECK(srq->Release() == 0);
	WANT(ND_CANCELED, s.cq->GetOverlappedResult(&low, TRUE));
}

/* checks R-CR-01[2,3], R-CR-02[1]: as many as there are, and as many as were asked for */
void
batches()
{
	Side s(place_a);
	ND2_RESULT r[8];

	for (int i = 0; i < 10; i++)
		WANT(ND_SUCCESS, s.qp->Receive(&context[i], nullptr, 0));
	WANT(ND_SUCCESS, s.qp->Flush());
	OVERLAPPED ov = {};
	WANT(ND_PENDING, s.cq->Notify(ND_CQ_NOTIFY_ANY, &ov));
	WANT(ND_SUCCESS, s.cq->GetOverlappedResult(&ov, TRUE));
	CHECK(s.cq->GetResults(r, 0) == 0);
	CHECK(s.cq->GetResults(r, 3) == 3 && r[2].RequestContext == &context[2]);
	CHECK(s.cq->GetResults(r, 8) == 7 && r[0].RequestContext == &context[3]);
	CHECK(r[6].RequestContext == &context[9] && s.cq->GetResults(r, 8) == 0);
}

/* checks R-OV-12[1-3], R-OV-03[1,2]: a taker of the port tells requests that failed, time that is
 * over, and packets of the program's own; a call that fails leaves nothing there. */
void
packets()
{
	Side s(place_a);
	HANDLE port = CreateIoCompletionPort(s.file, nullptr, 77, 0);
	OVERLAPPED ov = {}, own = {}, *taken = &own;
	ULONG_PTR key = 0;
	DWORD bytes;

	WANT(ND_INVALID_PARAMETER_1, s.cq->Notify(9, &ov));
	CHECK(!GetQueuedCompletionStatus(port, &bytes, &key, &taken, 0) && taken == nullptr);
	WANT(ND_PENDING, s.cq->Notify(ND_CQ_NOTIFY_ANY, &ov));
	WANT(ND_SUCCESS, s.cq->CancelOverlappedRequests());
	CHECK(!GetQueuedCompletionStatus(port, &bytes, &key, &taken, 0) && taken == &ov);
	CHECK(key == 77);
	CHECK(!GetQueuedCompletionStatus(port, &bytes, &key, &taken, 0) && taken == nullptr);
	for (OVERLAPPED *mine : {&own, (OVERLAPPED *)nullptr}) {
		CHECK(PostQueuedCompletionStatus(port, 5, 6, mine));
		CHECK(GetQueuedCompletionStatus(port, &bytes, &key, &taken, 0));
		CHECK(bytes == 5 && key == 6 && taken == mine);
	}
	CHECK(CloseHandle(port));
}

struct Taker {
	IND2CompletionQueue *cq;
	std::atomic<int> *left, *times;
};

static DWORD WINAPI
take_some(void *arg)
{
	const Taker *t = (Taker *)arg;
	ND2_RESULT r[3];

	while (*t->left > 0) {
		const ULONG n = t->cq->GetResults(r, 3);
		for (ULONG i = 0; i < n; i++)
			t->times[(int *)r[i].RequestContext - context]++;
		*t->left -= (int)n;
	}
	return 0;
}

/* checks R-CQ-30[2,3]: two take at a time, and each result once. */
void
two_takers()
{
	constexpr int rounds = 100, many = 64;
	std::atomic<int> left(rounds * many), times[many] = {};
	Side s(place_a);
	Taker t = {s.cq, &left, times};
	HANDLE threads[2];

	for (HANDLE &one : threads)
		one = CreateThread(nullptr, 0, take_some, &t, 0, nullptr);
	WANT(ND_SUCCESS, s.qp->Flush());
	for (int i = 0; i < rounds * many; i++) {
		HRESULT hr;
		while ((hr = s.qp->Receive(&context[i % many], nullptr, 0)) == ND_NO_MORE_ENTRIES)
			Sleep(0);
		WANT(ND_SUCCESS, hr);
		while (rounds * many - left < i - many) /* no more than the queue holds */
			Sleep(0);
	}
	for (HANDLE one : threads) {
		CHECK(WaitForSingleObject(one, 60000) == WAIT_OBJECT_0);
		CHECK(CloseHandle(one));
	}
	CHECK(left == 0);
	for (auto &n : times)
		CHECK(n == rounds);
}

/* checks R-LIFE-02[1]: the queue goes before what uses it; the other end notices nothing. */
void
closed_queue()
{
	Side a(place_a), b(place_b);
	IND2Listener *listener = meet(a, b);
	IND2CompletionQueue *cq = b.cq;

	for (int i = 0; i < 4; i++)
		WANT(ND_SUCCESS, b.qp->Receive(&context[i], nullptr, 0));
	CHECK(cq->AddRef() == 2 && cq->Release() == 1 && cq->Release() == 0);
	for (int i = 0; i < 4; i++)
		message(a, &context[i]);
	WANT(ND_SUCCESS, b.adapter->CreateCompletionQueue(
				 IID_IND2CompletionQueue, b.file, 4, 0, 0, (void **)&b.cq));
	ND2_RESULT r;
	CHECK(b.cq->GetResults(&r, 1) == 0);
	CHECK(listener->Release() == 0);
}

/* checks R-CONN-05[1,2]: what stands for all addresses is none to go to. */
void
nowhere()
{
	Side s(place_a);
	sockaddr_in any = {};
	sockaddr_in6 any6 = {};
	OVERLAPPED ov = {};

	any.sin_family = AF_INET;
	any.sin_port = htons(4711);
	WANT(ND_BAD_NETWORK_NAME, outcome(s.connector->Connect(s.qp, (const sockaddr *)&any,
						  sizeof(any), 0, 0, nullptr, 0, &ov),
					  s.connector, &ov));
	any6.sin6_family = AF_INET6;
	any6.sin6_port = htons(4711);
	WANT(ND_BAD_NETWORK_NAME, outcome(s.connector->Connect(s.qp, (const sockaddr *)&any6,
						  sizeof(any6), 0, 0, nullptr, 0, &ov),
					  s.connector, &ov));
}

/* checks R-LSN-02[1,2], R-CONN-16[1]: one port has one listener, of whichever of the adapter's
 * addresses, and whatever TCP has there. */
void
ports()
{
	Side s(place_a);
	IND2Listener *one = s.new_listener(), *two = s.new_listener();
	sockaddr_in at = {};
	const int tcp = socket(AF_INET, SOCK_STREAM, 0);

	at.sin_family = AF_INET;
	at.sin_port = htons(19999);
	CHECK(tcp >= 0);
	for (uint16_t port = 20000; bind(tcp, (const sockaddr *)&at, sizeof(at)) != 0; port++)
		at.sin_port = htons(port); /* none that the daemon would choose */
	CHECK(listen(tcp, 1) == 0);
	at.sin_addr = place_a.address.sin_addr;
	WANT(ND_SUCCESS, one->Bind((const sockaddr *)&at, sizeof(at)));
	WANT(ND_SUCCESS, one->Listen(1));
	WANT(ND_SHARING_VIOLATION, two->Bind((const sockaddr *)&at, sizeof(at)));
	at.sin_addr.s_addr = INADDR_ANY;
	WANT(ND_SHARING_VIOLATION, two->Bind((const sockaddr *)&at, sizeof(at)));
	CHECK(two->Release() == 0);
	CHECK(one->Release() == 0);
	CHECK(close(tcp) == 0);
}
