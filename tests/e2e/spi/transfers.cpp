/* SPDX-License-Identifier: BSD-3-Clause */
/* Data by each kind of request. */
#include "spi.hpp"

static int context[8]; /* addresses to tell requests by */

/* Data of a's buffer that nobody else has. */
static void
fill(const Side &s, char seed)
{
	for (ULONG i = 0; i < Side::bytes; i++)
		s.buffer[i] = (char)(seed + i * 7);
}

void
talk()
{
	Side a(place_a), b(place_b);
	IND2Listener *listener = meet(a, b);
	const UINT64 there = (UINT64)(uintptr_t)b.buffer;
	const UINT32 token = b.region->GetRemoteToken();
	ND2_SGE sge[2] = {a.sge(0, 100), a.sge(1000, 5000)}, into = b.sge(0, 8000);
	char priv[256];
	ULONG in = 0, out = 0, bytes = sizeof(priv);
	sockaddr_in at = {};
	OVERLAPPED ov = {}, gone = {}, bye = {};

	WANT(ND_SUCCESS, b.connector->GetReadLimits(&in, &out));
	CHECK(in >= 1 && in <= 4 && out >= 1 && out <= 4);
	WANT(ND_SUCCESS, a.connector->GetPrivateData(priv, &bytes));
	CHECK(memcmp(priv, "welcome", 8) == 0);
	bytes = 3;
	WANT(ND_BUFFER_OVERFLOW, b.connector->GetPrivateData(priv, &bytes));
	CHECK(memcmp(priv, "hel", 3) == 0 && bytes >= 6);
	bytes = 0;
	WANT(ND_BUFFER_OVERFLOW, a.connector->GetPeerAddress(nullptr, &bytes));
	CHECK(bytes == sizeof(at));
	WANT(ND_SUCCESS, a.connector->GetPeerAddress((sockaddr *)&at, &bytes));
	CHECK(at.sin_addr.s_addr == place_b.address.sin_addr.s_addr);
	WANT(ND_SUCCESS, b.connector->GetLocalAddress((sockaddr *)&at, &bytes));
	CHECK(at.sin_addr.s_addr == place_b.address.sin_addr.s_addr);

	fill(a, 1);
	WANT(ND_SUCCESS, b.qp->Receive(&context[0], &into, 1));
	WANT(ND_SUCCESS, a.qp->Send(&context[1], sge, 2, ND_OP_FLAG_SEND_AND_SOLICIT_EVENT));
	a.result(&context[1], Nd2RequestTypeSend);
	CHECK(b.result(&context[0], Nd2RequestTypeReceive).BytesTransferred == 5100);
	CHECK(memcmp(b.buffer, a.buffer, 100) == 0);
	CHECK(memcmp(b.buffer + 100, a.buffer + 1000, 5000) == 0);

	sge[0] = a.sge(0, Side::bytes);
	WANT(ND_SUCCESS, a.qp->Write(&context[2], sge, 1, there, token, 0));
	a.result(&context[2], Nd2RequestTypeWrite);
	CHECK(memcmp(a.buffer, b.buffer, Side::bytes) == 0);
	fill(b, 99);
	WANT(ND_SUCCESS, a.qp->Read(&context[3], sge, 1, there, token, 0));
	a.result(&context[3], Nd2RequestTypeRead);
	CHECK(memcmp(a.buffer, b.buffer, Side::bytes) == 0);

	WANT(ND_PENDING, b.connector->NotifyDisconnect(&gone));
	WANT(ND_SUCCESS, b.qp->Receive(&context[4], &into, 1));
	WANT(ND_SUCCESS, outcome(a.connector->Disconnect(&ov), a.connector, &ov));
	WANT(ND_SUCCESS, b.connector->GetOverlappedResult(&gone, TRUE));
	WANT(ND_SUCCESS, outcome(b.connector->Disconnect(&bye), b.connector, &bye));
	ND2_RESULT r;
	while (b.cq->GetResults(&r, 1) == 0)
		Sleep(1);
	CHECK(r.Status == ND_CANCELED && r.RequestContext == &context[4]);
	WANT(ND_CONNECTION_INVALID, a.qp->Send(nullptr, nullptr, 0, 0));
	CHECK(listener->Release() == 0);
}

/* checks R-OV-05, R-MR-06[1]: at once. Window: bind, the peer writes by its token, deregister is
 * refused, invalidate, flush. */
void
windows()
{
	Side a(place_a), b(place_b);
	IND2Listener *listener = meet(a, b);
	IND2MemoryWindow *window;
	ND2_SGE sge = a.sge(0, 64);
	OVERLAPPED ov = {};

	WANT(ND_SUCCESS, b.adapter->CreateMemoryWindow(IID_IND2MemoryWindow, (void **)&window));
	WANT(ND_SUCCESS, b.qp->Bind(&context[0], b.region, window, b.buffer + 64, 64,
				 ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE));
	b.result(&context[0], Nd2RequestTypeBind);
	fill(a, 5);
	WANT(ND_SUCCESS, a.qp->Write(&context[1], &sge, 1, (UINT64)(uintptr_t)(b.buffer + 64),
				 window->GetRemoteToken(), 0));
	a.result(&context[1], Nd2RequestTypeWrite);
	CHECK(memcmp(a.buffer, b.buffer + 64, 64) == 0);
	WANT(ND_DEVICE_BUSY, b.region->Deregister(&ov));
	WANT(ND_SUCCESS, b.qp->Invalidate(&context[2], window, 0));
	b.result(&context[2], Nd2RequestTypeInvalidate);
	WANT(ND_SUCCESS, outcome(b.region->Deregister(&ov), b.region, &ov));
	WANT(ND_SUCCESS, b.qp->Receive(&context[3], nullptr, 0));
	WANT(ND_SUCCESS, b.qp->Flush());
	ND2_RESULT r;
	while (b.cq->GetResults(&r, 1) == 0)
		Sleep(1);
	CHECK(r.Status == ND_CANCELED && r.RequestContext == &context[3]);
	CHECK(window->Release() == 0);
	CHECK(listener->Release() == 0);
}

/* A shared receive queue: its own limits, a notification, receives for its queue pair. */
void
shared()
{
	Side a(place_a), b(place_b);
	IND2SharedReceiveQueue *srq;
	ND2_SGE into = b.sge(0, 100), from = a.sge(0, 100);
	OVERLAPPED low = {};
	USHORT group;
	KAFFINITY mask;

	WANT(ND_SUCCESS, b.adapter->CreateSharedReceiveQueue(IID_IND2SharedReceiveQueue, b.file, 8, 1,
				 2, 0, 0, (void **)&srq));
	CHECK(b.qp->Release() == 0);
	WANT(ND_SUCCESS, b.adapter->CreateQueuePairWithSrq(IID_IND2QueuePair, b.cq, b.cq, srq, &b, 8,
				 2, 0, (void **)&b.qp));
	for (int i = 0; i < 3; i++)
		WANT(ND_SUCCESS, srq->Receive(&context[i], &into, 1));
	WANT(ND_INVALID_DEVICE_REQUEST, b.qp->Receive(nullptr, &into, 1));
	WANT(ND_PENDING, srq->Notify(&low));
	WANT(ND_PENDING, srq->GetOverlappedResult(&low, FALSE));
	IND2Listener *listener = meet(a, b);
	fill(a, 3);
	for (int i = 0; i < 2; i++) {
		WANT(ND_SUCCESS, a.qp->Send(nullptr, &from, 1, 0));
		a.result(nullptr, Nd2RequestTypeSend);
		CHECK(b.result(&context[i], Nd2RequestTypeReceive).BytesTransferred == 100);
	}
	WANT(ND_SUCCESS, srq->GetOverlappedResult(&low, TRUE));
	WANT(ND_INVALID_PARAMETER, srq->Modify(0, 100));
	WANT(ND_SUCCESS, srq->Modify(16, 0));
	HRESULT hr = srq->GetNotifyAffinity(&group, &mask);
	CHECK(hr == ND_NOT_SUPPORTED || (hr == ND_SUCCESS && mask != 0));
	hr = b.cq->GetNotifyAffinity(&group, &mask);
	CHECK(hr == ND_NOT_SUPPORTED || (hr == ND_SUCCESS && mask != 0));
	WANT(ND_SUCCESS, b.cq->Resize(256));
	CHECK(srq->Release() == 0);
	CHECK(listener->Release() == 0);
}
