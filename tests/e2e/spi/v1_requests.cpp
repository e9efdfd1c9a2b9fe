/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of calls; requests: cancel, release, ports; registered memory. */
#include <csignal>

#include "../still.h"
#include "v1.hpp"

/* checks R-OV-02[1]: each call of version 1 that takes an OVERLAPPED, and interfaces that are none. */
void
v1_arguments()
{
	Side1 s(place_a), other(place_b);
	const sockaddr *to = (const sockaddr *)&place_b.address;
	ND_MR_HANDLE handle;
	OVERLAPPED ov = {};
	sockaddr_in at;
	INDListen *listen = s.new_listen(&at), *none = listen;
	SIZE_T bytes;

	WANT(ND_INVALID_PARAMETER, s.cq->Notify(ND_CQ_NOTIFY_ANY, nullptr));
	WANT(ND_INVALID_PARAMETER_1, s.cq->Notify(9, &ov));
	WANT(ND_INVALID_PARAMETER, s.adapter->RegisterMemory(s.buffer, 4096, nullptr, &handle));
	WANT(ND_INVALID_PARAMETER, s.adapter->DeregisterMemory(s.memory, nullptr));
	WANT(ND_INVALID_PARAMETER, s.connector->Connect(s.endpoint, to, sizeof(sockaddr_in), 6, 0,
					   nullptr, 0, nullptr));
	WANT(ND_INVALID_PARAMETER, s.connector->CompleteConnect(nullptr));
	WANT(ND_INVALID_PARAMETER, s.connector->Accept(s.endpoint, nullptr, 0, nullptr));
	WANT(ND_INVALID_PARAMETER, s.connector->NotifyDisconnect(nullptr));
	WANT(ND_INVALID_PARAMETER, s.connector->Disconnect(nullptr));
	WANT(ND_INVALID_PARAMETER, listen->GetConnectionRequest(s.connector, nullptr));
	WANT(ND_INVALID_PARAMETER, s.cq->GetOverlappedResult(nullptr, &bytes, FALSE));
	WANT(ND_INVALID_PARAMETER_4, s.adapter->RegisterMemory(s.buffer, 4096, &ov, nullptr));

	for (INDEndpoint *wrong : {(INDEndpoint *)nullptr, (INDEndpoint *)s.cq, other.endpoint}) {
		WANT(ND_INVALID_PARAMETER_1, s.connector->Connect(wrong, to, sizeof(sockaddr_in), 6,
						     0, nullptr, 0, &ov));
		WANT(ND_INVALID_PARAMETER_1, s.connector->Accept(wrong, nullptr, 0, &ov));
	}
	for (INDConnector *wrong : {(INDConnector *)nullptr, (INDConnector *)s.cq, other.connector})
		WANT(ND_INVALID_PARAMETER_1, listen->GetConnectionRequest(wrong, &ov));
	WANT(ND_INVALID_PARAMETER_4, s.connector->Connect(s.endpoint, to, sizeof(sockaddr_in), 256,
					     0, nullptr, 0, &ov));
	WANT(ND_INVALID_PARAMETER_2, s.adapter->Listen(0, -1, 0, &at.sin_port, &none));
	CHECK(none == nullptr);
	WANT(ND_INVALID_PARAMETER_MIX, s.adapter->Listen(0, 6, 0, nullptr, &none));
	WANT(ND_ADDRESS_ALREADY_EXISTS, s.adapter->Listen(0, 6, at.sin_port, nullptr, &none));
	WANT(E_POINTER, s.adapter->Listen(0, 6, 0, &at.sin_port, nullptr));
	CHECK(listen->Release() == 0);
}

/* What CreateCompletionQueue and CreateEndpoint refuse, by the parameter's number. */
static void
creations(const Side1 &s, const Side1 &other)
{
	constexpr SIZE_T much = (SIZE_T)1 << 33;
	INDCompletionQueue *q = s.cq;
	INDEndpoint *e = s.endpoint;
	SIZE_T max_inline = 0;
	const auto create = [&](INDCompletionQueue *in, INDCompletionQueue *out, SIZE_T in_depth,
				    SIZE_T out_depth, SIZE_T in_sge, SIZE_T out_sge) {
		return s.connector->CreateEndpoint(in, out, in_depth, out_depth, in_sge, out_sge, 0,
			0, &max_inline, &e);
	};

	for (SIZE_T wrong : {(SIZE_T)0, much})
		WANT(ND_INVALID_PARAMETER_1, s.adapter->CreateCompletionQueue(wrong, &q));
	CHECK(q == nullptr);
	WANT(E_POINTER, s.adapter->CreateCompletionQueue(1, nullptr));
	WANT(ND_INVALID_PARAMETER_1, create(nullptr, s.cq, 1, 1, 1, 1));
	WANT(ND_INVALID_PARAMETER_1, create(other.cq, s.cq, 1, 1, 1, 1));
	WANT(ND_INVALID_PARAMETER_2, create(s.cq, (INDCompletionQueue *)s.connector, 1, 1, 1, 1));
	WANT(ND_INVALID_PARAMETER_3, create(s.cq, s.cq, 0, 1, 1, 1));
	WANT(ND_INVALID_PARAMETER_3, create(s.cq, s.cq, much, 1, 1, 1));
	WANT(ND_INVALID_PARAMETER_4, create(s.cq, s.cq, 1, 0, 1, 1));
	WANT(ND_INVALID_PARAMETER_5, create(s.cq, s.cq, 1, 1, 33, 1));
	WANT(ND_INVALID_PARAMETER_6, create(s.cq, s.cq, 1, 1, 1, much));
	CHECK(e == nullptr && max_inline == 0);
	WANT(ND_SUCCESS, create(s.cq, s.cq, 1, 1, 1, 1));
	CHECK(max_inline >= 128);
	CHECK(e->Release() == 0);
}

/* checks R-POST-02[1], R-POST-05[1]: refusals of version 1's posts, each by its own number. */
void
v1_posts()
{
	Side1 a(place_a), b(place_b);
	INDMemoryWindow *window = a.new_window(nullptr), *theirs = b.new_window(nullptr);
	ND_SGE sge[3] = {a.sge(0, 8), a.sge(8, 8), a.sge(16, 8)}, huge = a.sge(0, 1ull << 32);
	ND_MW_DESCRIPTOR there = {}, here = {1, 2, 3};
	ND_RESULT r;

	creations(a, b);
	WANT(ND_CONNECTION_INVALID, a.endpoint->Send(&r, sge, 1, 0));
	WANT(ND_CONNECTION_INVALID, a.endpoint->Invalidate(&r, window, 0));
	INDListen *listen = meet1(a, b);
	INDEndpoint *const e = a.endpoint;
	WANT(ND_INVALID_PARAMETER_1, e->Send(nullptr, sge, 1, 0));
	WANT(ND_INVALID_PARAMETER_1, e->SendAndInvalidate(nullptr, sge, 1, &there, 0));
	WANT(ND_INVALID_PARAMETER_1, e->Receive(nullptr, sge, 1));
	WANT(ND_INVALID_PARAMETER_1, e->Read(nullptr, sge, 1, &there, 0, 0));
	WANT(ND_INVALID_PARAMETER_1, e->Write(nullptr, sge, 1, &there, 0, 0));
	WANT(ND_INVALID_PARAMETER_1, e->Bind(nullptr, a.memory, window, a.buffer, 1, 0, &here));
	WANT(ND_INVALID_PARAMETER_1, e->Invalidate(nullptr, window, 0));
	WANT(ND_INVALID_PARAMETER_2, e->Send(&r, nullptr, 1, 0));
	WANT(ND_DATA_OVERRUN, e->Send(&r, sge, 3, 0));
	WANT(ND_DATA_OVERRUN, e->Receive(&r, sge, 3));
	WANT(ND_BUFFER_OVERFLOW, e->Write(&r, &huge, 1, &there, 0, 0));
	WANT(ND_INVALID_PARAMETER_4, e->Send(&r, sge, 1, ND_OP_FLAG_INLINE));
	WANT(ND_INVALID_PARAMETER_4, e->SendAndInvalidate(&r, sge, 1, nullptr, 0));
	WANT(ND_INVALID_PARAMETER_5, e->SendAndInvalidate(&r, sge, 1, &there, ND_OP_FLAG_INLINE));
	WANT(ND_INVALID_PARAMETER_4, e->Read(&r, sge, 1, nullptr, 0, 0));
	WANT(ND_INVALID_PARAMETER_6, e->Read(&r, sge, 1, &there, 0, ND_OP_FLAG_ALLOW_READ));
	WANT(ND_INVALID_PARAMETER_4, e->Write(&r, sge, 1, nullptr, 0, 0));
	WANT(ND_INVALID_PARAMETER_6,
		e->Write(&r, sge, 1, &there, 0, ND_OP_FLAG_SEND_AND_SOLICIT_EVENT));
	WANT(ND_INVALID_PARAMETER_2, e->Bind(&r, nullptr, window, a.buffer, 1, 0, &here));
	WANT(ND_INVALID_PARAMETER_3, e->Bind(&r, a.memory, theirs, a.buffer, 1, 0, &here));
	WANT(ND_INVALID_PARAMETER_6, e->Bind(&r, a.memory, window, a.buffer, 1, 4, &here));
	WANT(ND_INVALID_PARAMETER_7, e->Bind(&r, a.memory, window, a.buffer, 1, 0, nullptr));
	WANT(ND_ACCESS_VIOLATION,
		e->Bind(&r, a.memory, window, a.buffer + 1, Side1::bytes, 0, &here));
	CHECK(here.Base == 1 && here.Length == 2 && here.Token == 3);
	WANT(ND_INVALID_PARAMETER_2, e->Invalidate(&r, theirs, 0));
	WANT(ND_INVALID_PARAMETER_3, e->Invalidate(&r, window, 4));
	CHECK(theirs->Release() == 0);
	CHECK(window->Release() == 0);
	CHECK(listen->Release() == 0);
}

/* ---- requests ------------------------------------------------------------------------ */

static void
expect_packet(HANDLE port, const OVERLAPPED *wanted, bool success)
{
	ULONG_PTR key = 0;
	OVERLAPPED *ov = nullptr;
	DWORD bytes;

	CHECK(!GetQueuedCompletionStatus(port, &bytes, &key, &ov, 30000) == !success);
	CHECK(ov == wanted && key == 77);
	CHECK(success || GetLastError() == ERROR_OPERATION_ABORTED);
}

static void
expect_none(HANDLE port)
{
	ULONG_PTR key;
	OVERLAPPED *ov;
	DWORD bytes;

	CHECK(!GetQueuedCompletionStatus(port, &bytes, &key, &ov, 0));
	CHECK(ov == nullptr && GetLastError() == WAIT_TIMEOUT);
}

static HANDLE
port_of(const Side1 &s)
{
	HANDLE port = CreateIoCompletionPort(s.adapter->GetFileHandle(), nullptr, 77, 0);

	CHECK(port != nullptr);
	return port;
}

/* checks R-OV-10[1,4], R-OV-13[1]: of each kind of object of version 1, cancelled and released. */
void
v1_cancels()
{
	for (int release = 0; release < 2; release++) {
		Side1 a(place_a), b(place_b);
		INDListen *listen = meet1(a, b), *quiet;
		INDConnector *fresh = a.new_connector(), *asking = a.new_connector();
		INDEndpoint *endpoint = a.new_endpoint(0);
		INDCompletionQueue *cq = a.new_cq(4);
		HANDLE port = port_of(a);
		OVERLAPPED ov[4] = {};
		sockaddr_in at;
		SIZE_T bytes = 4711;

		quiet = a.new_listen(&at);
		WANT(ND_PENDING, cq->Notify(ND_CQ_NOTIFY_ANY, &ov[0]));
		WANT(ND_PENDING, quiet->GetConnectionRequest(fresh, &ov[1]));
		WANT(ND_PENDING, a.connector->NotifyDisconnect(&ov[2]));
		/* There, nobody takes it. */
		sockaddr_in to;
		INDListen *deaf = b.new_listen(&to);
		WANT(ND_PENDING, asking->Connect(endpoint, (const sockaddr *)&to, sizeof(to), 6, 0,
					 nullptr, 0, &ov[3]));
		expect_none(port);
		for (INDOverlapped *object : {(INDOverlapped *)cq, (INDOverlapped *)quiet,
			     (INDOverlapped *)a.connector, (INDOverlapped *)asking})
			WANT(ND_PENDING, object->GetOverlappedResult(&ov[0], &bytes, FALSE));
		CHECK(bytes == 0);
		const struct {
			INDOverlapped *object;
			OVERLAPPED *ov;
		} rows[] = {{cq, &ov[0]}, {quiet, &ov[1]}, {a.connector, &ov[2]}, {asking, &ov[3]}};
		for (auto &row : rows) {
			if (release)
				CHECK(row.object->Release() == 0);
			else
				WANT(ND_SUCCESS, row.object->CancelOverlappedRequests());
			expect_packet(port, row.ov, false);
			expect_none(port);
			if (!release) {
				WANT(ND_CANCELED,
					row.object->GetOverlappedResult(row.ov, nullptr, FALSE));
				if (row.object != a.connector)
					CHECK(row.object->Release() == 0);
			}
		}
		if (release)
			a.connector = a.new_connector();
		CHECK(endpoint->Release() == 0);
		CHECK(fresh->Release() == 0);
		CHECK(deaf->Release() == 0);
		CHECK(listen->Release() == 0);
		CHECK(CloseHandle(port));
	}
}

/* checks R-LIFE-03: all objects of an adapter complete to its one file, which may be closed early. */
void
v1_port()
{
	Side1 s(place_a);
	HANDLE port = port_of(s);
	ND_MR_HANDLE memory;
	OVERLAPPED ov = {};

	CHECK(CreateIoCompletionPort(s.adapter->GetFileHandle(), nullptr, 0, 0) == nullptr);
	WANT(ND_PENDING, s.adapter->RegisterMemory(s.buffer, 4096, &ov, &memory));
	expect_packet(port, &ov, true);
	CHECK(CloseHandle(s.adapter->GetFileHandle()));
	WANT(ND_PENDING, s.cq->Notify(ND_CQ_NOTIFY_ANY, &ov));
	WANT(ND_SUCCESS, s.cq->CancelOverlappedRequests());
	expect_packet(port, &ov, false);
	WANT(ND_PENDING, s.adapter->DeregisterMemory(memory, &ov));
	expect_packet(port, &ov, true);
	CHECK(CloseHandle(port));
}

/* More than the daemon can be asked at a time. */
constexpr int many = 1024;
struct Registrations {
	OVERLAPPED ov[many];
	ND_MR_HANDLE memory[many];
};

static DWORD WINAPI
cancel_them(void *adapter)
{
	WANT(ND_SUCCESS, ((INDAdapter *)adapter)->CancelOverlappedRequests());
	return 0;
}

static DWORD WINAPI
release_it(void *adapter)
{
	CHECK(((INDAdapter *)adapter)->Release() == 0);
	return 0;
}

static void
register_all(INDAdapter *adapter, const Side1 &b, Registrations *of)
{
	for (int i = 0; i < many; i++)
		WANT(ND_PENDING,
			adapter->RegisterMemory(b.buffer + i, 64, &of->ov[i], &of->memory[i]));
}

/*
 * Ends what was asked of daemon b while it answers nothing. Some can be taken back at once, those
 * that were asked last among them; the daemon answers the others later.
 */
static void
end_all(INDAdapter *adapter, const Side1 &b, const Registrations *of, LPTHREAD_START_ROUTINE how)
{
	HANDLE thread = CreateThread(nullptr, 0, how, adapter, 0, nullptr);
	int canceled = 0;

	while (!HasOverlappedIoCompleted(&of->ov[many - 1]))
		Sleep(0);
	CHECK(kill(daemon_b, SIGCONT) == 0);
	CHECK(WaitForSingleObject(thread, 30000) == WAIT_OBJECT_0);
	CHECK(CloseHandle(thread));
	for (const OVERLAPPED &ov : of->ov) {
		HRESULT hr = b.adapter->GetOverlappedResult((OVERLAPPED *)&ov, nullptr, FALSE);

		CHECK(hr == ND_SUCCESS || hr == ND_CANCELED);
		canceled += hr == ND_CANCELED;
	}
	CHECK(canceled > 0);
}

static bool
is_canceled(const Side1 &b, OVERLAPPED *ov)
{
	return b.adapter->GetOverlappedResult(ov, nullptr, FALSE) == ND_CANCELED;
}

/* checks R-OV-10[1,2], R-OV-11[1,2]: of version 1's registrations and their ends. */
void
v1_registrations()
{
	Side1 b(place_b);
	auto of = new Registrations();

	CHECK(process_stop(daemon_b));
	register_all(b.adapter, b, of);
	end_all(b.adapter, b, of, cancel_them);
	for (int i = 0; i < many; i++)
		if (is_canceled(b, &of->ov[i]))
			of->memory[i] = b.new_memory(b.buffer + i, 64);
	CHECK(process_stop(daemon_b));
	for (int i = 0; i < many; i++)
		WANT(ND_PENDING, b.adapter->DeregisterMemory(of->memory[i], &of->ov[i]));
	end_all(b.adapter, b, of, cancel_them);
	for (int i = 0; i < many; i++)
		if (is_canceled(b, &of->ov[i]))
			b.drop_memory(of->memory[i]); /* it is as it was */
		else
			WANT(ND_INVALID_HANDLE,
				b.adapter->DeregisterMemory(of->memory[i], &of->ov[i]));
	/* All can be used again, each once. */
	register_all(b.adapter, b, of);
	for (int i = 0; i < many; i++)
		WANT(ND_SUCCESS, outcome1(ND_PENDING, b.adapter, &of->ov[i]));
	for (ND_MR_HANDLE one : of->memory)
		b.drop_memory(one);
	delete of;
}

/* checks R-OV-13[1]: an adapter's requests end with its last Release, although others hold it. */
void
v1_adapters()
{
	Side1 b(place_b);
	INDAdapter *adapter = open1(place_b);
	INDCompletionQueue *cq;
	auto of = new Registrations();

	WANT(ND_SUCCESS, adapter->CreateCompletionQueue(1, &cq));
	/* An adapter's first registration makes what all need. */
	WANT(ND_PENDING, adapter->RegisterMemory(b.buffer, 64, &of->ov[0], &of->memory[0]));
	WANT(ND_SUCCESS, outcome1(ND_PENDING, adapter, &of->ov[0]));
	CHECK(process_stop(daemon_b));
	register_all(adapter, b, of);
	end_all(adapter, b, of, release_it);
	CHECK(cq->Release() == 0);
	delete of;
}

/* Handles of memory that is registered differ, and those of memory that is not are told. */
void
v1_memory()
{
	constexpr int count = 64;
	Side1 s(place_a), other(place_b);
	ND_MR_HANDLE memory[count], none = s.memory;
	OVERLAPPED ov = {};

	WANT(ND_INVALID_PARAMETER, s.adapter->RegisterMemory(nullptr, 0, &ov, &none));
	CHECK(none == nullptr);
	WANT(ND_INVALID_BUFFER_SIZE, s.adapter->RegisterMemory(s.buffer, 0, &ov, &none));
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < count; i++) {
			memory[i] = s.new_memory(s.buffer + i * 4096, 4096);
			for (int k = 0; k < i; k++)
				CHECK(memory[k] != memory[i]);
		}
		for (ND_MR_HANDLE one : memory)
			s.drop_memory(one);
	}
	for (ND_MR_HANDLE wrong : {(ND_MR_HANDLE) nullptr, memory[0], other.memory})
		WANT(ND_INVALID_HANDLE, s.adapter->DeregisterMemory(wrong, &ov));
}
