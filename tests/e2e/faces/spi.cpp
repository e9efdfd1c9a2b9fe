/* SPDX-License-Identifier: BSD-3-Clause */
/* NetworkDirect's interfaces, version 2. */
#include "com.hpp"

namespace {

struct Version2 {
	using Queue = IND2CompletionQueue;
	using Pair = IND2QueuePair;
	using Window = IND2MemoryWindow;
	using Connector = IND2Connector;
	using Listener = IND2Listener;
};

class Spi : public Com<Version2> {
	Spi *const host;
	sockaddr_in local;
	IND2Adapter *adapter = nullptr;
	HANDLE file = nullptr;
	IND2SharedReceiveQueue *srq = nullptr;
	IND2MemoryRegion *region = nullptr, *region2 = nullptr;
	std::vector<ND2_SGE>
	list(const Piece *pieces, uint32_t n) const
	{
		std::vector<ND2_SGE> sges;

		for (uint32_t i = 0; i < n; i++)
			sges.push_back({start(pieces[i]), pieces[i].length,
				(pieces[i].second ? region2 : region)->GetLocalToken()});
		return sges;
	}
	IND2SharedReceiveQueue *the_srq();
	int32_t create_pair(bool shared);
	void create_memory();

      public:
	explicit Spi(const Place &place);
	explicit Spi(Spi &of, bool lean = false)
	    : Com(of.cq, lean), host(&of), local(of.local), adapter(of.adapter), file(of.file)
	{
	}
	~Spi() override;
	std::unique_ptr<End>
	another(bool shared) override
	{
		auto end = std::make_unique<Spi>(*this);

		WANT(ND_SUCCESS, end->create_pair(shared));
		end->create_memory();
		return end;
	}
	std::unique_ptr<End>
	lean(int32_t *status) override
	{
		auto end = std::make_unique<Spi>(*this, true);

		*status = end->create_pair(false);
		return *status == ND_SUCCESS ? std::move(end) : nullptr;
	}
	Limits
	limits() override
	{
		ND2_ADAPTER_INFO i = {};
		ULONG bytes_of = sizeof(i);

		i.InfoVersion = ND_VERSION_2;
		WANT(ND_SUCCESS, adapter->Query(&i, &bytes_of));
		return {i.MaxInitiatorSge, i.MaxCallerData, i.MaxCalleeData, i.MaxInboundReadLimit,
			i.MaxCompletionQueueDepth, i.MaxReadSge};
	}

	int32_t
	receive_list(const void *context, const Piece *pieces, uint32_t n) override
	{
		return qp->Receive((void *)context, list(pieces, n).data(), n);
	}
	int32_t
	send_list(const void *context, const Piece *pieces, uint32_t n, uint32_t flags) override
	{
		return qp->Send((void *)context, list(pieces, n).data(), n, flags);
	}
	int32_t
	write(const void *context, const Piece &piece, const Far &to, uint64_t at,
		uint32_t flags) override
	{
		return qp->Write((void *)context, list(&piece, 1).data(), 1, to.address + at,
			to.token, flags);
	}
	int32_t
	read_list(const void *context, const Piece *pieces, uint32_t n, const Far &from,
		uint64_t at, uint32_t flags) override
	{
		return qp->Read((void *)context, list(pieces, n).data(), n, from.address + at,
			from.token, flags);
	}
	int32_t
	bind(const void *context, const Piece &piece, uint32_t flags, Far *told) override
	{
		const HRESULT hr = qp->Bind((void *)context, piece.second ? region2 : region,
			window, start(piece), piece.length, flags);
		*told = {
			(uintptr_t)start(piece), piece.length, window->GetRemoteToken()};
		return hr;
	}
	int32_t
	invalidate(const void *context, uint32_t flags) override
	{
		return qp->Invalidate((void *)context, window, flags);
	}
	int32_t
	send_and_invalidate(const void *, uint32_t, uint32_t, const Far &, uint32_t) override
	{
		return ND_NOT_SUPPORTED;
	}
	int32_t
	enroll(const void *at, uint64_t length, uint32_t flags) override
	{
		OVERLAPPED ov = {};
		return waited(region2->Register(at, length, flags, &ov), region2, &ov);
	}
	int32_t
	retire() override
	{
		OVERLAPPED ov = {};
		return waited(region2->Deregister(&ov), region2, &ov);
	}
	Far
	second() override
	{
		return {(uintptr_t)buffer, bytes, region2->GetRemoteToken()};
	}

	int32_t
	share(const void *context, const Piece *pieces, uint32_t n) override
	{
		return the_srq()->Receive((void *)context, list(pieces, n).data(), n);
	}
	int32_t
	resize_shared(uint32_t receives) override
	{
		return the_srq()->Modify(receives, 0);
	}

	bool
	take(Result *result) override
	{
		ND2_RESULT r;

		if (cq->GetResults(&r, 1) != 1)
			return false;
		*result = {r.Status, r.BytesTransferred, r.RequestContext,
			static_cast<End *>(r.QueuePairContext)};
		return true;
	}
	sockaddr_in listen(uint32_t backlog) override;
	int32_t connect(const sockaddr_in &to, const Words &words) override;
	int32_t
	accept(const Words &words) override
	{
		return connector->Accept(qp, words.inbound, words.outbound, words.data.data(),
			(ULONG)words.data.size(), of(Request::accept));
	}
	int32_t
	private_data(void *data, uint32_t *room) override
	{
		return connector->GetPrivateData(data, (ULONG *)room);
	}
	int32_t
	read_limits(uint32_t *inbound, uint32_t *outbound) override
	{
		return connector->GetReadLimits((ULONG *)inbound, (ULONG *)outbound);
	}
	int32_t
	local_address(sockaddr_in *address, uint32_t *room) override
	{
		return connector->GetLocalAddress((sockaddr *)address, (ULONG *)room);
	}
	int32_t
	peer_address(sockaddr_in *address, uint32_t *room) override
	{
		return connector->GetPeerAddress((sockaddr *)address, (ULONG *)room);
	}
};

sockaddr_in
Spi::listen(uint32_t backlog)
{
	sockaddr_in at;
	ULONG bytes_of = sizeof(at);

	WANT(ND_SUCCESS, adapter->CreateListener(IID_IND2Listener, file, (void **)&listener));
	WANT(ND_SUCCESS, listener->Bind((const sockaddr *)&local, sizeof(local)));
	WANT(ND_SUCCESS, listener->Listen(backlog));
	WANT(ND_SUCCESS, listener->GetLocalAddress((sockaddr *)&at, &bytes_of));
	return at;
}

int32_t
Spi::connect(const sockaddr_in &to, const Words &words)
{
	sockaddr_in from = local;

	from.sin_port = words.port;
	if (words.port != 0) {
		const HRESULT hr = connector->Bind((const sockaddr *)&from, sizeof(from));
		if (hr != ND_SUCCESS)
			return hr;
	}
	return connector->Connect(qp, (const sockaddr *)&to, sizeof(to), words.inbound,
		words.outbound, words.data.data(), (ULONG)words.data.size(), of(Request::connect));
}

IND2SharedReceiveQueue *
Spi::the_srq()
{
	if (host != nullptr)
		return host->the_srq();
	if (srq == nullptr)
		WANT(ND_SUCCESS, adapter->CreateSharedReceiveQueue(IID_IND2SharedReceiveQueue, file,
					 depth, 1, 0, 0, 0, (void **)&srq));
	return srq;
}

Spi::Spi(const Place &place) : Com(nullptr, false), host(nullptr), local(place.address)
{
	setenv("NDD_SOCKET", place.socket.c_str(), 1);
	WANT(ND_SUCCESS, NdOpenAdapter(IID_IND2Adapter, (const sockaddr *)&local, sizeof(local),
				 (void **)&adapter));
	WANT(ND_SUCCESS, adapter->CreateOverlappedFile(&file));
	WANT(ND_SUCCESS, adapter->CreateCompletionQueue(
				 IID_IND2CompletionQueue, file, 4 * depth, 0, 0, (void **)&cq));
	WANT(ND_SUCCESS, create_pair(false));
	create_memory();
}

int32_t
Spi::create_pair(bool shared)
{
	void *const context = static_cast<End *>(this);
	HRESULT hr;

	if (shared)
		hr = adapter->CreateQueuePairWithSrq(IID_IND2QueuePair, cq, cq, the_srq(), context,
			depth, 2, inlined, (void **)&qp);
	else
		hr = adapter->CreateQueuePair(IID_IND2QueuePair, cq, cq, context, depth, depth, 2,
			2, inlined, (void **)&qp);
	if (hr != ND_SUCCESS)
		return hr;
	return adapter->CreateConnector(IID_IND2Connector, file, (void **)&connector);
}

void
Spi::create_memory()
{
	OVERLAPPED ov = {};

	WANT(ND_SUCCESS, adapter->CreateMemoryRegion(IID_IND2MemoryRegion, file, (void **)&region));
	WANT(ND_SUCCESS, waited(region->Register(buffer, bytes, ND_MR_FLAG_ALLOW_LOCAL_WRITE, &ov),
				 region, &ov));
	WANT(ND_SUCCESS,
		adapter->CreateMemoryRegion(IID_IND2MemoryRegion, file, (void **)&region2));
	WANT(ND_SUCCESS, adapter->CreateMemoryWindow(IID_IND2MemoryWindow, (void **)&window));
}

Spi::~Spi()
{
	release(&listener);
	release(&connector);
	release(&qp);
	release(&window);
	release(&region);
	release(&region2);
	release(&srq);
	if (host != nullptr)
		return;
	release(&cq);
	CloseHandle(file);
	CHECK(adapter->Release() == 0);
}

} // namespace

std::unique_ptr<End>
new_spi(const Place &place)
{
	return std::make_unique<Spi>(place);
}
