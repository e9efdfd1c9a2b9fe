/* SPDX-License-Identifier: BSD-3-Clause */
/* NetworkDirect's interfaces, version 2. */
#include <cstring>

#include "face.hpp"

namespace {

class Spi : public End {
	sockaddr_in local;
	IND2Adapter *adapter = nullptr;
	HANDLE file = nullptr;
	IND2CompletionQueue *cq = nullptr;
	IND2QueuePair *qp = nullptr;
	IND2MemoryRegion *region = nullptr;
	IND2MemoryWindow *window = nullptr;
	IND2Connector *connector = nullptr;
	IND2Listener *listener = nullptr;
	OVERLAPPED requests[6] = {}, notify = {};

	OVERLAPPED *
	of(Request which)
	{
		return &requests[(int)which];
	}
	ND2_SGE
	sge(uint32_t offset, uint32_t length) const
	{
		return {buffer + offset, length, region->GetLocalToken()};
	}

      public:
	explicit Spi(const Place &place);
	~Spi() override
	{
		if (listener != nullptr)
			listener->Release();
		connector->Release();
		qp->Release();
		window->Release();
		region->Release();
		cq->Release();
		CloseHandle(file);
		CHECK(adapter->Release() == 0);
	}

	int32_t
	receive(const void *context, uint32_t offset, uint32_t length) override
	{
		const ND2_SGE s = sge(offset, length);
		return qp->Receive((void *)context, &s, 1);
	}
	int32_t
	send(const void *context, uint32_t offset, uint32_t length, uint32_t flags) override
	{
		const ND2_SGE s = sge(offset, length);
		return qp->Send((void *)context, &s, 1, flags);
	}
	int32_t
	write(const void *context, uint32_t offset, uint32_t length, const Far &to, uint64_t at,
		uint32_t flags) override
	{
		const ND2_SGE s = sge(offset, length);
		return qp->Write((void *)context, &s, 1, to.address + at, to.token, flags);
	}
	int32_t
	read(const void *context, uint32_t offset, uint32_t length, const Far &from,
		uint64_t at) override
	{
		const ND2_SGE s = sge(offset, length);
		return qp->Read((void *)context, &s, 1, from.address + at, from.token, 0);
	}
	int32_t
	bind(const void *context, uint32_t offset, uint32_t length, uint32_t flags,
		Far *told) override
	{
		const HRESULT hr =
			qp->Bind((void *)context, region, window, buffer + offset, length, flags);
		*told = {(uintptr_t)(buffer + offset), length, window->GetRemoteToken()};
		return hr;
	}
	int32_t
	invalidate(const void *context) override
	{
		return qp->Invalidate((void *)context, window, 0);
	}
	int32_t
	send_and_invalidate(const void *, uint32_t, uint32_t, const Far &) override
	{
		return ND_NOT_SUPPORTED;
	}
	int32_t
	flush() override
	{
		return qp->Flush();
	}

	bool
	take(Result *result) override
	{
		ND2_RESULT r;

		if (cq->GetResults(&r, 1) != 1)
			return false;
		CHECK(r.QueuePairContext == this);
		*result = {r.Status, r.BytesTransferred, r.RequestContext};
		return true;
	}
	int32_t
	arm(uint32_t type) override
	{
		const HRESULT hr = cq->Notify(type, &notify);
		return hr == ND_PENDING ? ND_SUCCESS : hr;
	}
	bool
	armed() override
	{
		return cq->GetOverlappedResult(&notify, FALSE) == ND_PENDING;
	}
	void
	told() override
	{
		WANT(ND_SUCCESS, cq->GetOverlappedResult(&notify, TRUE));
	}

	sockaddr_in
	listen() override
	{
		sockaddr_in at;
		ULONG bytes_of = sizeof(at);

		WANT(ND_SUCCESS,
			adapter->CreateListener(IID_IND2Listener, file, (void **)&listener));
		WANT(ND_SUCCESS, listener->Bind((const sockaddr *)&local, sizeof(local)));
		WANT(ND_SUCCESS, listener->Listen(0));
		WANT(ND_SUCCESS, listener->GetLocalAddress((sockaddr *)&at, &bytes_of));
		return at;
	}
	int32_t
	get_request() override
	{
		return listener->GetConnectionRequest(connector, of(Request::get));
	}
	int32_t
	connect(const sockaddr_in &to, const char *data) override
	{
		return connector->Connect(qp, (const sockaddr *)&to, sizeof(to), 4, 4, data,
			(ULONG)strlen(data) + 1, of(Request::connect));
	}
	int32_t
	complete() override
	{
		return connector->CompleteConnect(of(Request::complete));
	}
	int32_t
	accept(const char *data) override
	{
		return connector->Accept(
			qp, 4, 4, data, (ULONG)strlen(data) + 1, of(Request::accept));
	}
	int32_t
	reject(const char *data) override
	{
		return connector->Reject(data, (ULONG)strlen(data) + 1);
	}
	int32_t
	notify_disconnect() override
	{
		return connector->NotifyDisconnect(of(Request::notice));
	}
	int32_t
	disconnect() override
	{
		return connector->Disconnect(of(Request::disconnect));
	}
	int32_t
	ended(Request which, int32_t begun) override
	{
		IND2Overlapped *object = connector;

		if (which == Request::get)
			object = listener;
		return begun == ND_PENDING ? object->GetOverlappedResult(of(which), TRUE) : begun;
	}
	std::string
	peer_data() override
	{
		char data[256];
		ULONG bytes_of = sizeof(data);

		WANT(ND_SUCCESS, connector->GetPrivateData(data, &bytes_of));
		return data;
	}
};

Spi::Spi(const Place &place) : local(place.address)
{
	OVERLAPPED ov = {};
	HRESULT hr;

	setenv("NDD_SOCKET", place.socket.c_str(), 1);
	WANT(ND_SUCCESS, NdOpenAdapter(IID_IND2Adapter, (const sockaddr *)&local, sizeof(local),
				 (void **)&adapter));
	WANT(ND_SUCCESS, adapter->CreateOverlappedFile(&file));
	WANT(ND_SUCCESS, adapter->CreateCompletionQueue(
				 IID_IND2CompletionQueue, file, 4 * depth, 0, 0, (void **)&cq));
	WANT(ND_SUCCESS, adapter->CreateQueuePair(IID_IND2QueuePair, cq, cq, this, depth, depth, 1,
				 1, 0, (void **)&qp));
	WANT(ND_SUCCESS, adapter->CreateMemoryRegion(IID_IND2MemoryRegion, file, (void **)&region));
	hr = region->Register(buffer, bytes, ND_MR_FLAG_ALLOW_LOCAL_WRITE, &ov);
	WANT(ND_SUCCESS, hr == ND_PENDING ? region->GetOverlappedResult(&ov, TRUE) : hr);
	WANT(ND_SUCCESS, adapter->CreateMemoryWindow(IID_IND2MemoryWindow, (void **)&window));
	WANT(ND_SUCCESS, adapter->CreateConnector(IID_IND2Connector, file, (void **)&connector));
}

} // namespace

std::unique_ptr<End>
new_spi(const Place &place)
{
	return std::make_unique<Spi>(place);
}
