/* SPDX-License-Identifier: BSD-3-Clause */
#include "spi.hpp"

IND2Adapter *
Place::open() const
{
	IND2Adapter *adapter;

	setenv("NDD_SOCKET", socket.c_str(), 1);
	WANT(ND_SUCCESS, NdOpenAdapter(IID_IND2Adapter, (const sockaddr *)&address, sizeof(address),
				 (void **)&adapter));
	return adapter;
}

Side::Side(const Place &p) : place(&p), adapter(p.open()), buffer(new char[bytes]())
{
	OVERLAPPED ov = {};

	WANT(ND_SUCCESS, adapter->CreateOverlappedFile(&file));
	WANT(ND_SUCCESS, adapter->CreateCompletionQueue(
				 IID_IND2CompletionQueue, file, 2 * depth, 0, 0, (void **)&cq));
	WANT(ND_SUCCESS, adapter->CreateQueuePair(IID_IND2QueuePair, cq, cq, this, depth, depth, 2, 2,
				 0, (void **)&qp));
	connector = new_connector();
	region = new_region();
	WANT(ND_SUCCESS,
		outcome(region->Register(buffer, bytes,
				ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_ALLOW_REMOTE_READ |
					ND_MR_FLAG_ALLOW_REMOTE_WRITE,
				&ov),
			region, &ov));
}

Side::~Side()
{
	CHECK(connector->Release() == 0);
	CHECK(qp->Release() == 0);
	CHECK(region->Release() == 0);
	CHECK(cq->Release() == 0);
	CHECK(CloseHandle(file));
	CHECK(adapter->Release() == 0);
	delete[] buffer;
}

IND2Connector *
Side::new_connector() const
{
	IND2Connector *c;

	WANT(ND_SUCCESS, adapter->CreateConnector(IID_IND2Connector, file, (void **)&c));
	return c;
}

IND2Listener *
Side::new_listener() const
{
	IND2Listener *l;

	WANT(ND_SUCCESS, adapter->CreateListener(IID_IND2Listener, file, (void **)&l));
	return l;
}

IND2MemoryRegion *
Side::new_region() const
{
	IND2MemoryRegion *r;

	WANT(ND_SUCCESS, adapter->CreateMemoryRegion(IID_IND2MemoryRegion, file, (void **)&r));
	return r;
}

ND2_SGE
Side::sge(ULONG offset, ULONG length) const
{
	return {buffer + offset, length, region->GetLocalToken()};
}

ND2_RESULT
Side::result(void *context, ND2_REQUEST_TYPE type) const
{
	ND2_RESULT r;
	OVERLAPPED ov = {};

	while (cq->GetResults(&r, 1) == 0)
		WANT(ND_SUCCESS, outcome(cq->Notify(ND_CQ_NOTIFY_ANY, &ov), cq, &ov));
	WANT(ND_SUCCESS, r.Status);
	CHECK(r.RequestContext == context);
	CHECK(r.QueuePairContext == this);
	CHECK(r.RequestType == type);
	return r;
}

IND2Listener *
meet(Side &a, Side &b)
{
	OVERLAPPED get = {}, ask = {}, accept = {}, complete = {};
	IND2Listener *listener = b.new_listener();
	sockaddr_in at = b.place->address, from = a.place->address;
	ULONG bytes = sizeof(at);

	WANT(ND_SUCCESS, listener->Bind((const sockaddr *)&at, sizeof(at)));
	WANT(ND_SUCCESS, listener->Listen(0));
	WANT(ND_SUCCESS, listener->GetLocalAddress((sockaddr *)&at, &bytes));
	WANT(ND_PENDING, listener->GetConnectionRequest(b.connector, &get));
	WANT(ND_SUCCESS, a.connector->Bind((const sockaddr *)&from, sizeof(from)));
	WANT(ND_PENDING, a.connector->Connect(a.qp, (const sockaddr *)&at, sizeof(at), 4, 4, "hello", 6,
				 &ask));
	WANT(ND_SUCCESS, listener->GetOverlappedResult(&get, TRUE));
	WANT(ND_PENDING, b.connector->Accept(b.qp, 4, 4, "welcome", 8, &accept));
	WANT(ND_SUCCESS, a.connector->GetOverlappedResult(&ask, TRUE));
	WANT(ND_SUCCESS, outcome(a.connector->CompleteConnect(&complete), a.connector, &complete));
	WANT(ND_SUCCESS, b.connector->GetOverlappedResult(&accept, TRUE));
	return listener;
}
