/* SPDX-License-Identifier: BSD-3-Clause */
/* NetworkDirect's interfaces, version 1. */
#include <endian.h>

#include "com.hpp"

namespace {

/* A request is known by its result. */
struct Posted : ND_RESULT {
	const void *context;
	const End *of;
};

struct Version1 {
	using Queue = INDCompletionQueue;
	using Pair = INDEndpoint;
	using Window = INDMemoryWindow;
	using Connector = INDConnector;
	using Listener = INDListen;
};

class Spi1 : public Com<Version1> {
	Spi1 *const host;
	sockaddr_in local;
	INDAdapter *adapter = nullptr;
	ND_MR_HANDLE memory = nullptr, memory2 = nullptr;
	/* Without a handle it is inline. */
	std::vector<ND_SGE>
	list(const Piece *pieces, uint32_t n, uint32_t flags = 0) const
	{
		std::vector<ND_SGE> sges;

		for (uint32_t i = 0; i < n; i++)
			sges.push_back({start(pieces[i]), pieces[i].length,
				flags & ND_OP_FLAG_INLINE ? nullptr
				: pieces[i].second	  ? memory2
							  : memory});
		return sges;
	}
	int32_t create_pair();
	void create_memory();
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
		auto posted = std::make_unique<Posted>(Posted{{}, context, this});
		const HRESULT hr = call(posted.get());

		if (hr == ND_SUCCESS)
			posted.release();
		return hr;
	}
	template <class Call>
	static int32_t
	sized(uint32_t *room, Call &&call)
	{
		SIZE_T size = *room;
		const HRESULT hr = call(&size);

		*room = (uint32_t)size;
		return hr;
	}

      public:
	explicit Spi1(const Place &place);
	explicit Spi1(Spi1 &of, bool lean = false)
	    : Com(of.cq, lean), host(&of), local(of.local), adapter(of.adapter)
	{
	}
	~Spi1() override;
	std::unique_ptr<End>
	another(bool) override
	{
		auto end = std::make_unique<Spi1>(*this);

		WANT(ND_SUCCESS, end->create_pair());
		end->create_memory();
		return end;
	}
	std::unique_ptr<End>
	lean(int32_t *status) override
	{
		auto end = std::make_unique<Spi1>(*this, true);

		*status = end->create_pair();
		return *status == ND_SUCCESS ? std::move(end) : nullptr;
	}
	Limits
	limits() override
	{
		ND_ADAPTER_INFO i = {};
		SIZE_T bytes_of = sizeof(i);

		WANT(ND_SUCCESS, adapter->Query(1, &i, &bytes_of));
		return {(uint32_t)i.MaxOutboundSge, (uint32_t)i.MaxCallerData,
			(uint32_t)i.MaxCalleeData, (uint32_t)i.MaxInboundReadLimit,
			(uint32_t)i.MaxCqEntries, (uint32_t)i.MaxOutboundSge};
	}

	int32_t
	receive_list(const void *context, const Piece *pieces, uint32_t n) override
	{
		return post(context, [&](ND_RESULT *r) {
			return qp->Receive(r, list(pieces, n).data(), n);
		});
	}
	int32_t
	send_list(const void *context, const Piece *pieces, uint32_t n, uint32_t flags) override
	{
		return post(context, [&](ND_RESULT *r) {
			return qp->Send(r, list(pieces, n, flags).data(), n,
				flags & ~(uint32_t)ND_OP_FLAG_INLINE);
		});
	}
	int32_t
	write(const void *context, const Piece &piece, const Far &to, uint64_t at,
		uint32_t flags) override
	{
		const ND_MW_DESCRIPTOR d = descriptor(to);
		return post(context, [&](ND_RESULT *r) {
			return qp->Write(r, list(&piece, 1, flags).data(), 1, &d, at,
				flags & ~(uint32_t)ND_OP_FLAG_INLINE);
		});
	}
	int32_t
	read_list(const void *context, const Piece *pieces, uint32_t n, const Far &from,
		uint64_t at, uint32_t flags) override
	{
		const ND_MW_DESCRIPTOR d = descriptor(from);
		return post(context, [&](ND_RESULT *r) {
			return qp->Read(r, list(pieces, n).data(), n, &d, at, flags);
		});
	}
	int32_t
	bind(const void *context, const Piece &piece, uint32_t flags, Far *told) override
	{
		ND_MW_DESCRIPTOR d = {};
		const int32_t hr = post(context, [&](ND_RESULT *r) {
			return qp->Bind(r, piece.second ? memory2 : memory, window,
				start(piece), piece.length, flags, &d);
		});
		*told = {be64toh(d.Base), be64toh(d.Length), d.Token};
		return hr;
	}
	int32_t
	invalidate(const void *context, uint32_t flags) override
	{
		return post(context,
			[&](ND_RESULT *r) { return qp->Invalidate(r, window, flags); });
	}
	int32_t
	send_and_invalidate(const void *context, uint32_t offset, uint32_t length, const Far &far,
		uint32_t flags) override
	{
		const Piece piece = {offset, length};
		const ND_MW_DESCRIPTOR d = descriptor(far);
		return post(context, [&](ND_RESULT *r) {
			return qp->SendAndInvalidate(r, list(&piece, 1).data(), 1, &d, flags);
		});
	}
	int32_t
	enroll(const void *at, uint64_t length, uint32_t) override
	{
		OVERLAPPED ov = {};
		return waited(adapter->RegisterMemory(at, length, &ov, &memory2), adapter, &ov);
	}
	int32_t
	retire() override
	{
		OVERLAPPED ov = {};
		return waited(adapter->DeregisterMemory(memory2, &ov), adapter, &ov);
	}
	Far
	second() override
	{
		return {};
	}

	int32_t
	share(const void *, const Piece *, uint32_t) override
	{
		return ND_NOT_SUPPORTED;
	}
	int32_t
	resize_shared(uint32_t) override
	{
		return ND_NOT_SUPPORTED;
	}

	bool
	take(Result *result) override
	{
		ND_RESULT *r;

		if (cq->GetResults(&r, 1) != 1)
			return false;
		const std::unique_ptr<Posted> posted(static_cast<Posted *>(r));
		*result = {r->Status, r->BytesTransferred, posted->context, posted->of};
		return true;
	}
	sockaddr_in
	listen(uint32_t backlog) override
	{
		sockaddr_in at = local;

		WANT(ND_SUCCESS, adapter->Listen(backlog, IPPROTO_TCP, 0, &at.sin_port, &listener));
		return at;
	}
	int32_t
	connect(const sockaddr_in &to, const Words &words) override
	{
		return connector->Connect(qp, (const sockaddr *)&to, sizeof(to), IPPROTO_TCP,
			words.port, words.data.data(), words.data.size(), of(Request::connect));
	}
	int32_t
	accept(const Words &words) override
	{
		return connector->Accept(
			qp, words.data.data(), words.data.size(), of(Request::accept));
	}
	int32_t
	private_data(void *data, uint32_t *room) override
	{
		return sized(room, [&](SIZE_T *size) {
			return connector->GetConnectionData(nullptr, nullptr, data, size);
		});
	}
	int32_t
	read_limits(uint32_t *inbound, uint32_t *outbound) override
	{
		SIZE_T in = 0, out = 0;
		const HRESULT hr = connector->GetConnectionData(&in, &out, nullptr, nullptr);

		*inbound = (uint32_t)in;
		*outbound = (uint32_t)out;
		return hr;
	}
	int32_t
	local_address(sockaddr_in *address, uint32_t *room) override
	{
		return sized(room, [&](SIZE_T *size) {
			return connector->GetLocalAddress((sockaddr *)address, size);
		});
	}
	int32_t
	peer_address(sockaddr_in *address, uint32_t *room) override
	{
		return sized(room, [&](SIZE_T *size) {
			return connector->GetPeerAddress((sockaddr *)address, size);
		});
	}

	/* ndspi_v1.h */
	int32_t
	word(int32_t status, bool of_receive) const override
	{
		switch (status) {
		case ND_DATA_ERROR:
			return ND_REMOTE_ERROR;
		case ND_SHARING_VIOLATION:
			return ND_ADDRESS_ALREADY_EXISTS;
		case ND_IO_TIMEOUT:
			return ND_TIMEOUT;
		case ND_DATA_OVERRUN:
			return of_receive ? ND_BUFFER_OVERFLOW : status;
		case ND_CONNECTION_DISCONNECTED:
			return ND_CANCELED;
		default:
			return status;
		}
	}
};

Spi1::Spi1(const Place &place) : Com(nullptr, false), host(nullptr), local(place.address)
{
	setenv("NDD_SOCKET", place.socket.c_str(), 1);
	WANT(ND_SUCCESS, NdOpenV1Adapter((const sockaddr *)&local, sizeof(local), &adapter));
	WANT(ND_SUCCESS, adapter->CreateCompletionQueue(4 * depth, &cq));
	WANT(ND_SUCCESS, create_pair());
	create_memory();
}

int32_t
Spi1::create_pair()
{
	const HRESULT hr = adapter->CreateConnector(&connector);

	if (hr != ND_SUCCESS)
		return hr;
	return connector->CreateEndpoint(cq, cq, depth, depth, 2, 2, 4, 4, nullptr, &qp);
}

void
Spi1::create_memory()
{
	OVERLAPPED ov = {};

	WANT(ND_SUCCESS,
		waited(adapter->RegisterMemory(buffer, bytes, &ov, &memory), adapter, &ov));
	WANT(ND_SUCCESS, adapter->CreateMemoryWindow(nullptr, &window));
}

/* Results that are the application's memory are taken before their queue goes. */
Spi1::~Spi1()
{
	OVERLAPPED ov = {};
	Result left;

	release(&listener);
	release(&connector);
	release(&qp);
	while (take(&left))
		;
	release(&window);
	if (memory != nullptr)
		WANT(ND_SUCCESS, waited(adapter->DeregisterMemory(memory, &ov), adapter, &ov));
	if (host != nullptr)
		return;
	release(&cq);
	CHECK(adapter->Release() == 0);
}

} // namespace

std::unique_ptr<End>
new_spi1(const Place &place)
{
	return std::make_unique<Spi1>(place);
}
