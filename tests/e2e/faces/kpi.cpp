/* SPDX-License-Identifier: BSD-3-Clause */
/* NDK's dispatch tables, of the doc profile. What pends there is waited for where the others return. */
#include <condition_variable>
#include <cstring>
#include <mutex>

#include <ndkpi.h>

#include "face.hpp"

namespace {

/* Callbacks, as something that a thread can wait for. */
class Told {
	std::mutex lock;
	std::condition_variable changed;
	unsigned count = 0;
	NTSTATUS status = STATUS_SUCCESS;
	void *object = nullptr;

	void
	note(NTSTATUS st, void *of)
	{
		const std::lock_guard<std::mutex> held(lock);

		count++;
		status = st;
		object = of;
		changed.notify_all();
	}

      public:
	static void
	done(PVOID t, NTSTATUS st)
	{
		((Told *)t)->note(st, nullptr);
	}
	static void
	created(PVOID t, NTSTATUS st, NDK_OBJECT_HEADER *o)
	{
		((Told *)t)->note(st, o);
	}
	static void
	ended(PVOID t)
	{
		((Told *)t)->note(STATUS_SUCCESS, nullptr);
	}
	static void
	asked(PVOID t, NDK_CONNECTOR *c)
	{
		((Told *)t)->note(STATUS_SUCCESS, c);
	}

	unsigned
	so_far()
	{
		const std::lock_guard<std::mutex> held(lock);
		return count;
	}
	/* The status of the n-th; *of: its object. */
	NTSTATUS
	wait(unsigned n, void **of = nullptr)
	{
		std::unique_lock<std::mutex> held(lock);

		changed.wait(held, [&] { return count >= n; });
		if (of != nullptr)
			*of = object;
		return status;
	}
	/* What a create came to. */
	template <class Object>
	void
	create(NTSTATUS begun, Object **out)
	{
		void *of = *out;

		WANT(STATUS_SUCCESS, begun == STATUS_PENDING ? wait(1, &of) : begun);
		*out = (Object *)of;
	}
};

#define CREATE(out, ...)                                                                           \
	do {                                                                                       \
		Told t;                                                                            \
		t.create(__VA_ARGS__, out);                                                        \
	} while (0)
#define CLOSE(object, close)                                                                       \
	do {                                                                                       \
		Told t;                                                                            \
		WANT(STATUS_PENDING,                                                               \
			(object)->Dispatch->close(&(object)->Header, Told::ended, &t));            \
		t.wait(1);                                                                         \
	} while (0)

class Kpi : public End {
	sockaddr_in local;
	NDK_ADAPTER *adapter = nullptr;
	NDK_PD *pd = nullptr;
	NDK_CQ *cq = nullptr;
	NDK_QP *qp = nullptr;
	NDK_MR *mr = nullptr;
	NDK_MW *mw = nullptr;
	NDK_CONNECTOR *connector = nullptr;
	NDK_LISTENER *listener = nullptr;
	Told notified, asked, gone, requests[6];
	unsigned armed_at = 0;

	Told *
	of(Request which)
	{
		return &requests[(int)which];
	}
	NDK_SGE
	sge(uint32_t offset, uint32_t length) const
	{
		NDK_SGE s = {};

		s.VirtualAddress = buffer + offset;
		s.Length = length;
		s.MemoryRegionToken = mr->Dispatch->NdkGetLocalTokenFromMr(mr);
		return s;
	}
	static ULONG
	flags_of(uint32_t flags)
	{
		return (flags & ND_OP_FLAG_SILENT_SUCCESS ? NDK_OP_FLAG_SILENT_SUCCESS : 0) |
		       (flags & ND_OP_FLAG_SEND_AND_SOLICIT_EVENT
				       ? NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT
				       : 0) |
		       (flags & ND_OP_FLAG_ALLOW_READ ? NDK_OP_FLAG_ALLOW_REMOTE_READ : 0) |
		       (flags & ND_OP_FLAG_ALLOW_WRITE ? NDK_OP_FLAG_ALLOW_REMOTE_WRITE : 0);
	}

      public:
	explicit Kpi(const Place &place);
	~Kpi() override;

	int32_t
	receive(const void *context, uint32_t offset, uint32_t length) override
	{
		const NDK_SGE s = sge(offset, length);
		return qp->Dispatch->NdkReceive(qp, (void *)context, &s, 1);
	}
	int32_t
	send(const void *context, uint32_t offset, uint32_t length, uint32_t flags) override
	{
		const NDK_SGE s = sge(offset, length);
		return qp->Dispatch->NdkSend(qp, (void *)context, &s, 1, flags_of(flags));
	}
	int32_t
	write(const void *context, uint32_t offset, uint32_t length, const Far &to, uint64_t at,
		uint32_t flags) override
	{
		const NDK_SGE s = sge(offset, length);
		return qp->Dispatch->NdkWrite(
			qp, (void *)context, &s, 1, to.address + at, to.token, flags_of(flags));
	}
	int32_t
	read(const void *context, uint32_t offset, uint32_t length, const Far &from,
		uint64_t at) override
	{
		const NDK_SGE s = sge(offset, length);
		return qp->Dispatch->NdkRead(
			qp, (void *)context, &s, 1, from.address + at, from.token, 0);
	}
	int32_t
	bind(const void *context, uint32_t offset, uint32_t length, uint32_t flags,
		Far *told) override
	{
		const NTSTATUS st = qp->Dispatch->NdkBind(
			qp, (void *)context, mr, mw, buffer + offset, length, flags_of(flags));
		*told = {(uintptr_t)(buffer + offset), length,
			mw->Dispatch->NdkGetRemoteTokenFromMw(mw)};
		return st;
	}
	int32_t
	invalidate(const void *context) override
	{
		return qp->Dispatch->NdkInvalidate(qp, (void *)context, &mw->Header, 0);
	}
	int32_t
	send_and_invalidate(
		const void *context, uint32_t offset, uint32_t length, const Far &window) override
	{
		const NDK_SGE s = sge(offset, length);
		return qp->Dispatch->NdkSendAndInvalidate(
			qp, (void *)context, &s, 1, 0, window.token);
	}
	int32_t
	flush() override
	{
		qp->Dispatch->NdkFlush(qp);
		return STATUS_SUCCESS;
	}

	bool
	take(Result *result) override
	{
		NDK_RESULT r;

		if (cq->Dispatch->NdkGetCqResults(cq, &r, 1) != 1)
			return false;
		CHECK(r.QPContext == this);
		*result = {r.Status, r.BytesTransferred, r.RequestContext};
		return true;
	}
	int32_t
	arm(uint32_t type) override
	{
		armed_at = notified.so_far();
		cq->Dispatch->NdkArmCq(cq, type);
		return STATUS_SUCCESS;
	}
	bool
	armed() override
	{
		return notified.so_far() == armed_at;
	}
	void
	told() override
	{
		WANT(STATUS_SUCCESS, notified.wait(armed_at + 1));
	}

	sockaddr_in listen() override;
	int32_t
	get_request() override
	{
		return STATUS_PENDING;
	}
	int32_t
	connect(const sockaddr_in &to, const char *data) override
	{
		return connector->Dispatch->NdkConnect(connector, qp, (const SOCKADDR *)&local,
			sizeof(local), (const SOCKADDR *)&to, sizeof(to), 4, 4, data,
			(ULONG)strlen(data) + 1, Told::done, begin(Request::connect));
	}
	int32_t
	complete() override
	{
		return connector->Dispatch->NdkCompleteConnect(
			connector, Told::ended, &gone, Told::done, begin(Request::complete));
	}
	int32_t
	accept(const char *data) override
	{
		return connector->Dispatch->NdkAccept(connector, qp, 4, 4, data,
			(ULONG)strlen(data) + 1, Told::ended, &gone, Told::done,
			begin(Request::accept));
	}
	int32_t
	reject(const char *data) override
	{
		return connector->Dispatch->NdkReject(connector, data, (ULONG)strlen(data) + 1);
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
	int32_t ended(Request which, int32_t begun) override;
	std::string peer_data() override;
	bool
	flushes_at_goodbye() const override
	{
		return false;
	}

	int32_t
	word(int32_t status, bool of_receive) const override
	{
		switch (status) {
		case ND_DATA_ERROR:
		case ND_ACCESS_VIOLATION:
			return STATUS_REMOTE_RESOURCES;
		case ND_DATA_OVERRUN:
			return of_receive ? STATUS_BUFFER_OVERFLOW : status;
		case ND_CONNECTION_DISCONNECTED: /* nothing tells of an own one */
			return STATUS_NOT_SUPPORTED;
		default:
			return status;
		}
	}

      private:
	unsigned begun_at[6] = {};

	PVOID
	begin(Request which)
	{
		begun_at[(int)which] = of(which)->so_far();
		return of(which);
	}
};

sockaddr_in
Kpi::listen()
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

/* A listener brings a connector of its own. */
int32_t
Kpi::ended(Request which, int32_t begun)
{
	void *of_peer;

	if (which == Request::get) {
		asked.wait(1, &of_peer);
		CLOSE(connector, NdkCloseConnector);
		connector = (NDK_CONNECTOR *)of_peer;
		return STATUS_SUCCESS;
	}
	if (which == Request::notice)
		return gone.wait(1);
	return begun == STATUS_PENDING ? of(which)->wait(begun_at[(int)which] + 1) : begun;
}

std::string
Kpi::peer_data()
{
	char data[256];
	ULONG bytes_of = sizeof(data);

	WANT(STATUS_SUCCESS, connector->Dispatch->NdkGetConnectionData(
				     connector, nullptr, nullptr, data, &bytes_of));
	return data;
}

Kpi::Kpi(const Place &place) : local(place.address)
{
	Told registered;
	NTSTATUS st;
	MDL mdl;

	setenv("NDD_SOCKET", place.socket.c_str(), 1);
	WANT(STATUS_SUCCESS, NdkOpenAdapter((const SOCKADDR *)&local, sizeof(local),
				     NDK_VERSION{1, 2}, &adapter));
	CREATE(&pd, adapter->Dispatch->NdkCreatePd(adapter, Told::created, &t, &pd));
	CREATE(&cq, adapter->Dispatch->NdkCreateCq(adapter, 4 * depth, Told::done, &notified,
			    nullptr, Told::created, &t, &cq));
	CREATE(&qp, pd->Dispatch->NdkCreateQp(
			    pd, cq, cq, this, depth, depth, 1, 1, 0, Told::created, &t, &qp));
	CREATE(&mr, pd->Dispatch->NdkCreateMr(pd, FALSE, Told::created, &t, &mr));
	MmInitializeMdl(&mdl, buffer, bytes);
	st = mr->Dispatch->NdkRegisterMr(
		mr, &mdl, bytes, NDK_MR_FLAG_ALLOW_LOCAL_WRITE, Told::done, &registered);
	WANT(STATUS_SUCCESS, st == STATUS_PENDING ? registered.wait(1) : st);
	CREATE(&mw, pd->Dispatch->NdkCreateMw(pd, Told::created, &t, &mw));
	CREATE(&connector,
		adapter->Dispatch->NdkCreateConnector(adapter, Told::created, &t, &connector));
}

Kpi::~Kpi()
{
	CLOSE(connector, NdkCloseConnector);
	if (listener != nullptr) /* its close waits for that of the connector */
		CLOSE(listener, NdkCloseListener);
	CLOSE(qp, NdkCloseQp);
	CLOSE(mw, NdkCloseMw);
	CLOSE(mr, NdkCloseMr);
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
