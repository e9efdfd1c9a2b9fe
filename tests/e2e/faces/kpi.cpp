/* SPDX-License-Identifier: BSD-3-Clause */
/* NDK's dispatch tables, of the doc profile. What pends there is waited for where the others
 * return. */
#include <vector>

#include "told.hpp"

namespace {

class Kpi : public End {
	Kpi *const host;
	sockaddr_in local;
	NDK_ADAPTER *adapter = nullptr;
	NDK_PD *pd = nullptr;
	NDK_CQ *cq = nullptr;
	NDK_SRQ *srq = nullptr;
	NDK_QP *qp = nullptr;
	NDK_MR *mr = nullptr, *mr2 = nullptr;
	NDK_MW *mw = nullptr;
	NDK_CONNECTOR *connector = nullptr;
	NDK_LISTENER *listener = nullptr;
	Told notified, asked, gone, requests[6];
	unsigned begun_at[6] = {}, armed_at = 0;
	/* Connectors that the listener has given: those that are somebody's, and whose this is. */
	unsigned claimed = 0, claim = 0;
	Kpi *asker = nullptr;

	Told *
	of(Request which)
	{
		return &requests[(int)which];
	}
	PVOID
	begin(Request which)
	{
		begun_at[(int)which] = of(which)->so_far();
		return of(which);
	}
	std::vector<NDK_SGE>
	list(const Piece *pieces, uint32_t n) const
	{
		std::vector<NDK_SGE> sges(n);

		for (uint32_t i = 0; i < n; i++) {
			NDK_MR *of = pieces[i].second ? mr2 : mr;

			sges[i].VirtualAddress = buffer + pieces[i].offset;
			sges[i].Length = pieces[i].length;
			sges[i].MemoryRegionToken = of->Dispatch->NdkGetLocalTokenFromMr(of);
		}
		return sges;
	}
	static int32_t
	enrolled(NDK_MR *of, const void *at, uint64_t length, uint32_t flags)
	{
		Told t;
		MDL mdl;

		MmInitializeMdl(&mdl, (void *)at, length);
		return t.outcome(
			of->Dispatch->NdkRegisterMr(of, &mdl, length, flags, Told::done, &t));
	}
	static ULONG
	flags_of(uint32_t flags)
	{
		return (flags & ~(uint32_t)0x3f) |
		       (flags & ND_OP_FLAG_SILENT_SUCCESS ? NDK_OP_FLAG_SILENT_SUCCESS : 0) |
		       (flags & ND_OP_FLAG_READ_FENCE ? NDK_OP_FLAG_READ_FENCE : 0) |
		       (flags & ND_OP_FLAG_INLINE ? NDK_OP_FLAG_INLINE : 0) |
		       (flags & ND_OP_FLAG_SEND_AND_SOLICIT_EVENT
				       ? NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT
				       : 0) |
		       (flags & ND_OP_FLAG_ALLOW_READ ? NDK_OP_FLAG_ALLOW_REMOTE_READ : 0) |
		       (flags & ND_OP_FLAG_ALLOW_WRITE ? NDK_OP_FLAG_ALLOW_REMOTE_WRITE : 0);
	}

      public:
	explicit Kpi(const Place &place);
	Kpi(Kpi &of, bool shared)
	    : host(&of), local(of.local), adapter(of.adapter), pd(of.pd), cq(of.cq)
	{
		create(shared);
	}
	~Kpi() override;
	std::unique_ptr<End>
	another(bool shared) override
	{
		return std::make_unique<Kpi>(*this, shared);
	}
	Limits
	limits() override
	{
		NDK_ADAPTER_INFO i = {};
		ULONG bytes_of = sizeof(i);

		WANT(STATUS_SUCCESS,
			adapter->Dispatch->NdkQueryAdapterInfo(adapter, &i, &bytes_of));
		return {i.MaxInitiatorRequestSge, i.MaxCallerData, i.MaxCalleeData,
			i.MaxInboundReadLimit, i.MaxCqDepth};
	}

	int32_t
	receive_list(const void *context, const Piece *pieces, uint32_t n) override
	{
		return qp->Dispatch->NdkReceive(qp, (void *)context, list(pieces, n).data(), n);
	}
	int32_t
	send_list(const void *context, const Piece *pieces, uint32_t n, uint32_t flags) override
	{
		return qp->Dispatch->NdkSend(
			qp, (void *)context, list(pieces, n).data(), n, flags_of(flags));
	}
	int32_t
	write(const void *context, const Piece &piece, const Far &to, uint64_t at,
		uint32_t flags) override
	{
		return qp->Dispatch->NdkWrite(qp, (void *)context, list(&piece, 1).data(), 1,
			to.address + at, to.token, flags_of(flags));
	}
	int32_t
	read(const void *context, const Piece &piece, const Far &from, uint64_t at,
		uint32_t flags) override
	{
		return qp->Dispatch->NdkRead(qp, (void *)context, list(&piece, 1).data(), 1,
			from.address + at, from.token, flags_of(flags));
	}
	int32_t
	bind(const void *context, const Piece &piece, uint32_t flags, Far *told) override
	{
		const NTSTATUS st =
			qp->Dispatch->NdkBind(qp, (void *)context, piece.second ? mr2 : mr, mw,
				buffer + piece.offset, piece.length, flags_of(flags));
		*told = {(uintptr_t)(buffer + piece.offset), piece.length,
			mw->Dispatch->NdkGetRemoteTokenFromMw(mw)};
		return st;
	}
	int32_t
	invalidate(const void *context, uint32_t flags) override
	{
		return qp->Dispatch->NdkInvalidate(
			qp, (void *)context, &mw->Header, flags_of(flags));
	}
	int32_t
	send_and_invalidate(const void *context, uint32_t offset, uint32_t length,
		const Far &window, uint32_t flags) override
	{
		const Piece piece = {offset, length};
		return qp->Dispatch->NdkSendAndInvalidate(qp, (void *)context,
			list(&piece, 1).data(), 1, flags_of(flags), window.token);
	}
	int32_t
	flush() override
	{
		qp->Dispatch->NdkFlush(qp);
		return STATUS_SUCCESS;
	}

	int32_t
	enroll(const void *at, uint64_t length, uint32_t flags) override
	{
		return enrolled(mr2, at, length, flags);
	}
	int32_t
	retire() override
	{
		Told t;
		return t.outcome(mr2->Dispatch->NdkDeregisterMr(mr2, Told::done, &t));
	}
	Far
	second() override
	{
		return {(uintptr_t)buffer, bytes, mr2->Dispatch->NdkGetRemoteTokenFromMr(mr2)};
	}

	int32_t
	share(const void *context, const Piece *pieces, uint32_t n) override
	{
		NDK_SRQ *q = the_srq();
		return q->Dispatch->NdkSrqReceive(q, (void *)context, list(pieces, n).data(), n);
	}
	int32_t
	resize_shared(uint32_t receives) override
	{
		NDK_SRQ *q = the_srq();
		Told t;
		return t.outcome(q->Dispatch->NdkModifySrq(q, receives, 0, Told::done, &t));
	}

	bool
	take(Result *result) override
	{
		NDK_RESULT r;

		if (cq->Dispatch->NdkGetCqResults(cq, &r, 1) != 1)
			return false;
		*result = {r.Status, r.BytesTransferred, r.RequestContext,
			static_cast<End *>(r.QPContext)};
		return true;
	}
	int32_t
	resize(uint32_t results) override
	{
		Told t;
		return t.outcome(cq->Dispatch->NdkResizeCq(cq, results, Told::done, &t));
	}
	/* Arms join: those that ask are told by one callback. */
	int32_t
	arm(uint32_t type, uint32_t) override
	{
		armed_at = notified.so_far();
		cq->Dispatch->NdkArmCq(cq, type);
		return STATUS_SUCCESS;
	}
	bool
	armed(uint32_t) override
	{
		return notified.so_far() == armed_at;
	}
	int32_t
	told(uint32_t) override
	{
		return notified.wait(armed_at + 1);
	}
	int32_t
	cancel_arms() override
	{
		return STATUS_NOT_SUPPORTED;
	}

	sockaddr_in listen(uint32_t backlog) override;
	int32_t
	get_request(End &into) override
	{
		Kpi &kpi = static_cast<Kpi &>(into);

		kpi.asker = this;
		kpi.claim = ++claimed;
		return STATUS_PENDING;
	}
	int32_t
	cancel_listening() override
	{
		return STATUS_NOT_SUPPORTED;
	}
	int32_t connect(const sockaddr_in &to, const Words &words) override;
	int32_t
	complete() override
	{
		return connector->Dispatch->NdkCompleteConnect(
			connector, Told::ended, &gone, Told::done, begin(Request::complete));
	}
	int32_t
	accept(const Words &words) override
	{
		return connector->Dispatch->NdkAccept(connector, qp, words.inbound, words.outbound,
			words.data.data(), (ULONG)words.data.size(), Told::ended, &gone, Told::done,
			begin(Request::accept));
	}
	int32_t
	reject(const Words &words) override
	{
		return connector->Dispatch->NdkReject(
			connector, words.data.data(), (ULONG)words.data.size());
	}
	int32_t
	notify_disconnect() override
	{
		return STATUS_PENDING;
	} /* always */
	int32_t
	disconnect() override
	{
		return connector->Dispatch->NdkDisconnect(
			connector, Told::done, begin(Request::disconnect));
	}
	int32_t
	cancel() override
	{
		return STATUS_NOT_SUPPORTED;
	}
	int32_t ended(Request which, int32_t begun) override;
	bool
	under_way(Request which) override
	{
		return of(which)->so_far() == begun_at[(int)which];
	}
	int32_t
	private_data(void *data, uint32_t *room) override
	{
		return connector->Dispatch->NdkGetConnectionData(
			connector, nullptr, nullptr, data, (ULONG *)room);
	}
	int32_t
	read_limits(uint32_t *inbound, uint32_t *outbound) override
	{
		ULONG no_data = 0;
		return connector->Dispatch->NdkGetConnectionData(
			connector, (ULONG *)inbound, (ULONG *)outbound, nullptr, &no_data);
	}
	int32_t
	local_address(sockaddr_in *address, uint32_t *room) override
	{
		return connector->Dispatch->NdkGetLocalAddress(
			connector, (SOCKADDR *)address, (ULONG *)room);
	}
	int32_t
	peer_address(sockaddr_in *address, uint32_t *room) override
	{
		return connector->Dispatch->NdkGetPeerAddress(
			connector, (SOCKADDR *)address, (ULONG *)room);
	}

	void
	close_pair() override
	{
		CLOSE(qp, NdkCloseQp);
	}
	void
	close_window() override
	{
		CLOSE(mw, NdkCloseMw);
	}
	void
	close_connector() override
	{
		CLOSE(connector, NdkCloseConnector);
	}
	void close_listener() override;
	bool
	by_the_pages() const override
	{
		return true;
	}

	int32_t
	word(int32_t status, bool of_receive) const override
	{
		switch (status) {
		case ND_DATA_ERROR:
		case ND_ACCESS_VIOLATION:
			return STATUS_REMOTE_RESOURCES;
		case ND_BUFFER_OVERFLOW: /* of what the peer has said */
			return STATUS_BUFFER_TOO_SMALL;
		case ND_DATA_OVERRUN:
			return of_receive ? STATUS_BUFFER_OVERFLOW : status;
		case ND_CONNECTION_DISCONNECTED: /* nothing tells of an own one */
			return STATUS_NOT_SUPPORTED;
		case ND_INVALID_PARAMETER_1: /* of NdkArmCq, which returns nothing */
			return STATUS_SUCCESS;
		case ND_INVALID_PARAMETER_3:
		case ND_INVALID_PARAMETER_4:
		case ND_INVALID_PARAMETER_6:
			return STATUS_INVALID_PARAMETER;
		default:
			return status;
		}
	}

      private:
	/* As it is told when it is gone, which may be later than its connectors. */
	Told listener_gone;
	bool listener_closed = false;
	NDK_SRQ *the_srq();
	void create(bool shared);
};

sockaddr_in
Kpi::listen(uint32_t)
{
	sockaddr_in at = local;
	ULONG bytes_of = sizeof(at);
	Told listens;
	NTSTATUS st;

	CREATE(&listener, adapter->Dispatch->NdkCreateListener(
				  adapter, Told::asked, &asked, Told::created, &t, &listener));
	st = listener->Dispatch->NdkListen(
		listener, (const SOCKADDR *)&at, sizeof(at), Told::done, &listens);
	WANT(STATUS_SUCCESS, st == STATUS_PENDING ? listens.wait(1) : st);
	WANT(STATUS_SUCCESS,
		listener->Dispatch->NdkGetLocalAddress(listener, (SOCKADDR *)&at, &bytes_of));
	return at;
}

int32_t
Kpi::connect(const sockaddr_in &to, const Words &words)
{
	sockaddr_in from = local;

	from.sin_port = words.port;
	return connector->Dispatch->NdkConnect(connector, qp, (const SOCKADDR *)&from, sizeof(from),
		(const SOCKADDR *)&to, sizeof(to), words.inbound, words.outbound, words.data.data(),
		(ULONG)words.data.size(), Told::done, begin(Request::connect));
}

/* A listener brings a connector of its own. */
int32_t
Kpi::ended(Request which, int32_t begun)
{
	void *of_peer;

	if (which == Request::get) {
		asker->asked.wait(claim, &of_peer);
		CLOSE(connector, NdkCloseConnector);
		connector = (NDK_CONNECTOR *)of_peer;
		return STATUS_SUCCESS;
	}
	if (which == Request::notice)
		return gone.wait(1);
	return begun == STATUS_PENDING ? of(which)->wait(begun_at[(int)which] + 1) : begun;
}

/* It ends with the last of its connectors. */
void
Kpi::close_listener()
{
	WANT(STATUS_PENDING, listener->Dispatch->NdkCloseListener(
				     &listener->Header, Told::ended, &listener_gone));
	listener_closed = true;
	listener = nullptr;
}

NDK_SRQ *
Kpi::the_srq()
{
	if (host != nullptr)
		return host->the_srq();
	if (srq == nullptr)
		CREATE(&srq, pd->Dispatch->NdkCreateSrq(pd, depth, 1, 0, nullptr, nullptr, nullptr,
				     Told::created, &t, &srq));
	return srq;
}

Kpi::Kpi(const Place &place) : host(nullptr), local(place.address)
{
	setenv("NDD_SOCKET", place.socket.c_str(), 1);
	WANT(STATUS_SUCCESS, NdkOpenAdapter((const SOCKADDR *)&local, sizeof(local),
				     NDK_VERSION{1, 2}, &adapter));
	CREATE(&pd, adapter->Dispatch->NdkCreatePd(adapter, Told::created, &t, &pd));
	CREATE(&cq, adapter->Dispatch->NdkCreateCq(adapter, 4 * depth, Told::done, &notified,
			    nullptr, Told::created, &t, &cq));
	create(false);
}

void
Kpi::create(bool shared)
{
	void *const context = static_cast<End *>(this);

	if (shared)
		CREATE(&qp, pd->Dispatch->NdkCreateQpWithSrq(pd, cq, cq, the_srq(), context, depth,
				    2, inlined, Told::created, &t, &qp));
	else
		CREATE(&qp, pd->Dispatch->NdkCreateQp(pd, cq, cq, context, depth, depth, 2, 2,
				    inlined, Told::created, &t, &qp));
	CREATE(&mr, pd->Dispatch->NdkCreateMr(pd, FALSE, Told::created, &t, &mr));
	WANT(STATUS_SUCCESS, enrolled(mr, buffer, bytes, NDK_MR_FLAG_ALLOW_LOCAL_WRITE));
	CREATE(&mr2, pd->Dispatch->NdkCreateMr(pd, FALSE, Told::created, &t, &mr2));
	CREATE(&mw, pd->Dispatch->NdkCreateMw(pd, Told::created, &t, &mw));
	CREATE(&connector,
		adapter->Dispatch->NdkCreateConnector(adapter, Told::created, &t, &connector));
}

Kpi::~Kpi()
{
	CLOSE(connector, NdkCloseConnector);
	CLOSE(listener, NdkCloseListener); /* waits for that of its connectors */
	if (listener_closed)
		listener_gone.wait(1);
	CLOSE(qp, NdkCloseQp);
	CLOSE(mw, NdkCloseMw);
	CLOSE(mr, NdkCloseMr);
	CLOSE(mr2, NdkCloseMr);
	CLOSE(srq, NdkCloseSrq);
	if (host != nullptr)
		return;
	CLOSE(cq, NdkCloseCq);
	CLOSE(pd, NdkClosePd);
	WANT(STATUS_SUCCESS, NdkCloseAdapter(adapter));
}

} // namespace

std::unique_ptr<End>
new_kpi(const Place &place)
{
	return std::make_unique<Kpi>(place);
}
