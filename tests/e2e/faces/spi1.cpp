/* SPDX-License-Identifier: BSD-3-Clause */
/* NetworkDirect's interfaces, version 1. */
#include <cstring>
#include <endian.h>

#include "face.hpp"

namespace {

/* A request is known by its result. */
struct Posted : ND_RESULT {
	const void *context;
};

class Spi1 : public End {
	sockaddr_in local;
	INDAdapter *adapter = nullptr;
	INDCompletionQueue *cq = nullptr;
	INDEndpoint *endpoint = nullptr;
	ND_MR_HANDLE memory = nullptr;
	INDMemoryWindow *window = nullptr;
	INDConnector *connector = nullptr;
	INDListen *listener = nullptr;
	OVERLAPPED requests[6] = {}, notify = {};

	OVERLAPPED *
	of(Request which)
	{
		return &requests[(int)which];
	}
	ND_SGE
	sge(uint32_t offset, uint32_t length) const
	{
		return {buffer + offset, length, memory};
	}
	static ND_MW_DESCRIPTOR
	descriptor(const Far &w)
	{
		return {htobe64(w.address), htobe64(w.length), w.token};
	}
	/* The result of a request that was refused is the caller's again. */
	template <class Post>
	int32_t
	post(const void *context, Post &&call)
	{
		auto posted = std::make_unique<Posted>(Posted{{}, context});
		const HRESULT hr = call(posted.get());

		if (hr == ND_SUCCESS)
			posted.release();
		return hr;
	}

      public:
	explicit Spi1(const Place &place);
	~Spi1() override;

	int32_t
	receive(const void *context, uint32_t offset, uint32_t length) override
	{
		const ND_SGE s = sge(offset, length);
		return post(context, [&](ND_RESULT *r) { return endpoint->Receive(r, &s, 1); });
	}
	int32_t
	send(const void *context, uint32_t offset, uint32_t length, uint32_t flags) override
	{
		const ND_SGE s = sge(offset, length);
		return post(context, [&](ND_RESULT *r) { return endpoint->Send(r, &s, 1, flags); });
	}
	int32_t
	write(const void *context, uint32_t offset, uint32_t length, const Far &to, uint64_t at,
		uint32_t flags) override
	{
		const ND_SGE s = sge(offset, length);
		const ND_MW_DESCRIPTOR d = descriptor(to);
		return post(context,
			[&](ND_RESULT *r) { return endpoint->Write(r, &s, 1, &d, at, flags); });
	}
	int32_t
	read(const void *context, uint32_t offset, uint32_t length, const Far &from,
		uint64_t at) override
	{
		const ND_SGE s = sge(offset, length);
		const ND_MW_DESCRIPTOR d = descriptor(from);
		return post(
			context, [&](ND_RESULT *r) { return endpoint->Read(r, &s, 1, &d, at, 0); });
	}
	int32_t
	bind(const void *context, uint32_t offset, uint32_t length, uint32_t flags,
		Far *told) override
	{
		ND_MW_DESCRIPTOR d = {};
		const int32_t hr = post(context, [&](ND_RESULT *r) {
			return endpoint->Bind(
				r, memory, window, buffer + offset, length, flags, &d);
		});
		*told = {be64toh(d.Base), be64toh(d.Length), d.Token};
		return hr;
	}
	int32_t
	invalidate(const void *context) override
	{
		return post(
			context, [&](ND_RESULT *r) { return endpoint->Invalidate(r, window, 0); });
	}
	int32_t
	send_and_invalidate(
		const void *context, uint32_t offset, uint32_t length, const Far &far) override
	{
		const ND_SGE s = sge(offset, length);
		const ND_MW_DESCRIPTOR d = descriptor(far);
		return post(context,
			[&](ND_RESULT *r) { return endpoint->SendAndInvalidate(r, &s, 1, &d, 0); });
	}
	int32_t
	flush() override
	{
		return endpoint->Flush();
	}

	bool
	take(Result *result) override
	{
		ND_RESULT *r;

		if (cq->GetResults(&r, 1) != 1)
			return false;
		const std::unique_ptr<Posted> posted(static_cast<Posted *>(r));
		*result = {r->Status, r->BytesTransferred, posted->context};
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
		return cq->GetOverlappedResult(&notify, nullptr, FALSE) == ND_PENDING;
	}
	void
	told() override
	{
		WANT(ND_SUCCESS, cq->GetOverlappedResult(&notify, nullptr, TRUE));
	}

	sockaddr_in
	listen() override
	{
		sockaddr_in at = local;

		WANT(ND_SUCCESS, adapter->Listen(0, IPPROTO_TCP, 0, &at.sin_port, &listener));
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
		return connector->Connect(endpoint, (const sockaddr *)&to, sizeof(to), IPPROTO_TCP,
			0, data, strlen(data) + 1, of(Request::connect));
	}
	int32_t
	complete() override
	{
		return connector->CompleteConnect(of(Request::complete));
	}
	int32_t
	accept(const char *data) override
	{
		return connector->Accept(endpoint, data, strlen(data) + 1, of(Request::accept));
	}
	int32_t
	reject(const char *data) override
	{
		return connector->Reject(data, strlen(data) + 1);
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
		INDOverlapped *object = connector;

		if (which == Request::get)
			object = listener;
		return begun == ND_PENDING ? object->GetOverlappedResult(of(which), nullptr, TRUE)
					   : begun;
	}
	std::string
	peer_data() override
	{
		char data[256];
		SIZE_T bytes_of = sizeof(data);

		WANT(ND_SUCCESS, connector->GetConnectionData(nullptr, nullptr, data, &bytes_of));
		return data;
	}

	/* ndspi_v1.h */
	int32_t
	word(int32_t status, bool of_receive) const override
	{
		switch (status) {
		case ND_DATA_ERROR:
			return ND_REMOTE_ERROR;
		case ND_DATA_OVERRUN:
			return of_receive ? ND_BUFFER_OVERFLOW : status;
		case ND_CONNECTION_DISCONNECTED:
			return ND_CANCELED;
		default:
			return status;
		}
	}
};

Spi1::Spi1(const Place &place) : local(place.address)
{
	OVERLAPPED ov = {};
	HRESULT hr;

	setenv("NDD_SOCKET", place.socket.c_str(), 1);
	WANT(ND_SUCCESS, NdOpenV1Adapter((const sockaddr *)&local, sizeof(local), &adapter));
	WANT(ND_SUCCESS, adapter->CreateCompletionQueue(4 * depth, &cq));
	WANT(ND_SUCCESS, adapter->CreateConnector(&connector));
	WANT(ND_SUCCESS,
		connector->CreateEndpoint(cq, cq, depth, depth, 1, 1, 4, 4, nullptr, &endpoint));
	hr = adapter->RegisterMemory(buffer, bytes, &ov, &memory);
	WANT(ND_SUCCESS, hr == ND_PENDING ? adapter->GetOverlappedResult(&ov, nullptr, TRUE) : hr);
	WANT(ND_SUCCESS, adapter->CreateMemoryWindow(nullptr, &window));
}

Spi1::~Spi1()
{
	Result left;

	if (listener != nullptr)
		listener->Release();
	connector->Release();
	endpoint->Release();
	while (take(&left))
		;
	window->Release();
	cq->Release();
	CHECK(adapter->Release() == 0);
}

} // namespace

std::unique_ptr<End>
new_spi1(const Place &place)
{
	return std::make_unique<Spi1>(place);
}
