/* SPDX-License-Identifier: BSD-3-Clause */
#include "v1.hpp"

INDAdapter *
open1(const Place &place)
{
	INDAdapter *adapter;

	setenv("NDD_SOCKET", place.socket.c_str(), 1);
	WANT(ND_SUCCESS, NdOpenV1Adapter((const sockaddr *)&place.address, sizeof(place.address),
				 &adapter));
	return adapter;
}

Side1::Side1(const Place &p) : place(&p), adapter(open1(p)), buffer(new char[bytes]())
{
	cq = new_cq(2 * depth);
	out_cq = new_cq(2 * depth);
	connector = new_connector();
	endpoint = new_endpoint(4);
	memory = new_memory(buffer, bytes);
}

Side1::~Side1()
{
	CHECK(connector->Release() == 0);
	CHECK(endpoint->Release() == 0);
	drop_memory(memory);
	CHECK(cq->Release() == 0);
	CHECK(out_cq->Release() == 0);
	CHECK(adapter->Release() == 0);
	delete[] buffer;
}

INDCompletionQueue *
Side1::new_cq(SIZE_T entries) const
{
	INDCompletionQueue *q;

	WANT(ND_SUCCESS, adapter->CreateCompletionQueue(entries, &q));
	return q;
}

INDConnector *
Side1::new_connector() const
{
	INDConnector *c;

	WANT(ND_SUCCESS, adapter->CreateConnector(&c));
	return c;
}

INDEndpoint *
Side1::new_endpoint(SIZE_T reads) const
{
	INDEndpoint *e;

	WANT(ND_SUCCESS, connector->CreateEndpoint(
				 cq, out_cq, depth, depth, 2, 2, reads, reads, nullptr, &e));
	return e;
}

INDMemoryWindow *
Side1::new_window(ND_RESULT *invalidated) const
{
	INDMemoryWindow *w;

	WANT(ND_SUCCESS, adapter->CreateMemoryWindow(invalidated, &w));
	return w;
}

INDListen *
Side1::new_listen(sockaddr_in *at) const
{
	INDListen *l;

	*at = place->address;
	WANT(ND_SUCCESS, adapter->Listen(0, IPPROTO_TCP, 0, &at->sin_port, &l));
	CHECK(at->sin_port != 0);
	return l;
}

ND_MR_HANDLE
Side1::new_memory(const void *at, SIZE_T length) const
{
	ND_MR_HANDLE handle = nullptr;
	OVERLAPPED ov = {};

	WANT(ND_PENDING, adapter->RegisterMemory(at, length, &ov, &handle));
	WANT(ND_SUCCESS, outcome1(ND_PENDING, adapter, &ov));
	CHECK(handle != nullptr);
	return handle;
}

void
Side1::drop_memory(ND_MR_HANDLE handle) const
{
	OVERLAPPED ov = {};

	WANT(ND_SUCCESS, outcome1(adapter->DeregisterMemory(handle, &ov), adapter, &ov));
}

ND_SGE
Side1::sge(SIZE_T offset, SIZE_T length) const
{
	return {buffer + offset, length, memory};
}

void
Side1::fill(char seed) const
{
	for (SIZE_T i = 0; i < bytes; i++)
		buffer[i] = (char)((SIZE_T)seed + i * 7);
}

void
Side1::result(INDCompletionQueue *of, const ND_RESULT *wanted) const
{
	ND_RESULT *r = nullptr;
	OVERLAPPED ov = {};

	while (of->GetResults(&r, 1) == 0)
		WANT(ND_SUCCESS, outcome1(of->Notify(ND_CQ_NOTIFY_ANY, &ov), of, &ov));
	CHECK(r == wanted);
}

void
Side1::bind(INDMemoryWindow *window, SIZE_T offset, SIZE_T length,
	ND_MW_DESCRIPTOR *descriptor) const
{
	ND_RESULT done = {ND_UNSUCCESSFUL, 1};

	WANT(ND_SUCCESS, endpoint->Bind(&done, memory, window, buffer + offset, length,
				 ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE, descriptor));
	sent(&done);
	WANT(ND_SUCCESS, done.Status);
}

INDListen *
meet1(Side1 &a, Side1 &b)
{
	OVERLAPPED get = {}, ask = {}, accept = {}, complete = {};
	sockaddr_in at;
	INDListen *listen = b.new_listen(&at);

	WANT(ND_PENDING, listen->GetConnectionRequest(b.connector, &get));
	WANT(ND_PENDING, a.connector->Connect(a.endpoint, (const sockaddr *)&at, sizeof(at),
				 IPPROTO_TCP, 0, "hello", 6, &ask));
	WANT(ND_SUCCESS, outcome1(ND_PENDING, listen, &get));
	WANT(ND_PENDING, b.connector->Accept(b.endpoint, "welcome", 8, &accept));
	WANT(ND_SUCCESS, outcome1(ND_PENDING, a.connector, &ask));
	WANT(ND_SUCCESS, outcome1(a.connector->CompleteConnect(&complete), a.connector, &complete));
	WANT(ND_SUCCESS, outcome1(ND_PENDING, b.connector, &accept));
	return listen;
}
