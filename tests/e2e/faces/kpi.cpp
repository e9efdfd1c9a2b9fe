/* SPDX-License-Identifier: BSD-3-Clause */
/* What an end of NDK's tables consists of. */
#include "kpi.hpp"

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
	WANT(STATUS_SUCCESS, create_pair(false));
	create_memory();
}

int32_t
Kpi::create_pair(bool shared)
{
	void *const context = static_cast<End *>(this);
	void *of = nullptr;
	NTSTATUS st;
	Told t;

	if (shared)
		st = pd->Dispatch->NdkCreateQpWithSrq(pd, cq, cq, the_srq(), context, depth, 2,
			inlined, Told::created, &t, &qp);
	else
		st = pd->Dispatch->NdkCreateQp(pd, cq, cq, context, depth, depth, 2, 2, inlined,
			Told::created, &t, &qp);
	if (st == STATUS_PENDING) {
		st = t.wait(1, &of);
		qp = (NDK_QP *)of;
	}
	if (st != STATUS_SUCCESS)
		return st;
	return adapter->Dispatch->NdkCreateConnector(adapter, Told::created, &t, &connector);
}

void
Kpi::create_memory()
{
	CREATE(&mr, pd->Dispatch->NdkCreateMr(pd, FALSE, Told::created, &t, &mr));
	WANT(STATUS_SUCCESS, enrolled(mr, buffer, bytes, NDK_MR_FLAG_ALLOW_LOCAL_WRITE));
	CREATE(&mr2, pd->Dispatch->NdkCreateMr(pd, FALSE, Told::created, &t, &mr2));
	CREATE(&mw, pd->Dispatch->NdkCreateMw(pd, Told::created, &t, &mw));
}

std::unique_ptr<End>
Kpi::another(bool shared)
{
	auto end = std::make_unique<Kpi>(*this);

	WANT(STATUS_SUCCESS, end->create_pair(shared));
	end->create_memory();
	return end;
}

std::unique_ptr<End>
Kpi::lean(int32_t *status)
{
	auto end = std::make_unique<Kpi>(*this, true);

	*status = end->create_pair(false);
	return *status == STATUS_SUCCESS ? std::move(end) : nullptr;
}

Kpi::~Kpi()
{
	CLOSE(connector, NdkCloseConnector);
	if (listener != nullptr)
		close_listener();
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

Limits
Kpi::limits()
{
	NDK_ADAPTER_INFO i = {};
	ULONG bytes_of = sizeof(i);

	WANT(STATUS_SUCCESS,
		adapter->Dispatch->NdkQueryAdapterInfo(adapter, &i, &bytes_of));
	return {i.MaxInitiatorRequestSge, i.MaxCallerData, i.MaxCalleeData,
		i.MaxInboundReadLimit, i.MaxCqDepth, i.MaxReadRequestSge};
}

int32_t
Kpi::word(int32_t status, bool of_receive) const
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

std::unique_ptr<End>
new_kpi(const Place &place)
{
	return std::make_unique<Kpi>(place);
}
