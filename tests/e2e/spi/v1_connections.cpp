/* SPDX-License-Identifier: BSD-3-Clause */
/* Connecting, what the ends are told, and the end. */
#include <csignal>
#include <endian.h>

#include "../still.h"
#include "v1.hpp"

/* a asks b, which holds the request. */
struct Asked {
	INDListen *listen;
	sockaddr_in at;
	OVERLAPPED get = {}, ask = {};

	Asked(const Side1 &a, const Side1 &b, USHORT local_port) : listen(b.new_listen(&at))
	{
		WANT(ND_PENDING, listen->GetConnectionRequest(b.connector, &get));
		again(a, local_port);
		WANT(ND_SUCCESS, outcome1(ND_PENDING, listen, &get));
	}
	~Asked() { CHECK(listen->Release() == 0); }
	void again(const Side1 &a, USHORT local_port)
	{
		WANT(ND_PENDING, a.connector->Connect(a.endpoint, (const sockaddr *)&at, sizeof(at),
					 IPPROTO_UDP, local_port, "hello", 6, &ask));
	}
};

/* What GetConnectionData tells: those limits, and data that begins so. */
static void
expect_data(INDConnector *c, SIZE_T inbound, SIZE_T outbound, const char *data)
{
	SIZE_T in = 99, out = 99, bytes = 0;

	WANT(ND_BUFFER_OVERFLOW, c->GetConnectionData(&in, &out, nullptr, &bytes));
	CHECK(in == inbound && out == outbound && bytes > strlen(data));
	std::vector<char> all(bytes);
	SIZE_T some = 2;
	WANT(ND_BUFFER_OVERFLOW, c->GetConnectionData(nullptr, nullptr, all.data(), &some));
	CHECK(some == bytes && memcmp(all.data(), data, 2) == 0);
	WANT(ND_SUCCESS, c->GetConnectionData(nullptr, nullptr, all.data(), &some));
	CHECK(some == bytes && strcmp(all.data(), data) == 0);
	in = 99;
	WANT(ND_SUCCESS, c->GetConnectionData(&in, nullptr, nullptr, nullptr));
	CHECK(in == inbound);
}

static void
expect_address(INDConnector *c, bool local, const Place &place, USHORT port)
{
	const auto get = [&](sockaddr *to, SIZE_T *bytes) {
		return local ? c->GetLocalAddress(to, bytes) : c->GetPeerAddress(to, bytes);
	};
	sockaddr_in at = {};
	SIZE_T bytes = 0;

	WANT(ND_INVALID_PARAMETER_2, get((sockaddr *)&at, nullptr));
	WANT(ND_BUFFER_OVERFLOW, get(nullptr, &bytes));
	CHECK(bytes == sizeof(at));
	WANT(ND_SUCCESS, get((sockaddr *)&at, &bytes));
	CHECK(at.sin_addr.s_addr == place.address.sin_addr.s_addr);
	CHECK(port == 0 || at.sin_port == port);
}

/* Limits are those that the endpoints were made with, each end's word lowered by the other's. */
void
v1_connecting()
{
	Side1 a(place_a), b(place_b);
	INDEndpoint *fewer;
	OVERLAPPED accept = {}, complete = {};
	const USHORT port = htons(4711);
	SIZE_T none;

	WANT(ND_SUCCESS, b.connector->CreateEndpoint(b.cq, b.out_cq, 4, 4, 1, 1, 2, 1, nullptr,
				 &fewer));
	WANT(ND_CONNECTION_INVALID,
		a.connector->GetConnectionData(&none, nullptr, nullptr, nullptr));
	Asked asked(a, b, port);
	expect_data(b.connector, 4, 4, "hello");
	expect_address(b.connector, false, place_a, port);
	expect_address(b.connector, true, place_b, asked.at.sin_port);
	WANT(ND_CONNECTION_ACTIVE, a.connector->Accept(a.endpoint, nullptr, 0, &complete));
	WANT(ND_PENDING, b.connector->Accept(fewer, "welcome", 8, &accept));
	WANT(ND_SUCCESS, outcome1(ND_PENDING, a.connector, &asked.ask));
	expect_data(a.connector, 1, 2, "welcome");
	expect_address(a.connector, false, place_b, asked.at.sin_port);
	expect_address(a.connector, true, place_a, port);
	WANT(ND_SUCCESS, outcome1(a.connector->CompleteConnect(&complete), a.connector, &complete));
	WANT(ND_SUCCESS, outcome1(ND_PENDING, b.connector, &accept));
	CHECK(fewer->Release() == 0);
}

/* A refusal by either end; the connector may try again, from the same port only. */
void
v1_rejects()
{
	Side1 a(place_a), b(place_b);
	OVERLAPPED get = {}, accept = {};
	char data[256];
	SIZE_T bytes = sizeof(data);
	const USHORT port = htons(4712);
	Asked asked(a, b, port);
	INDConnector *second = b.new_connector(), *rival = a.new_connector();
	INDEndpoint *endpoint = a.new_endpoint(0);

	WANT(ND_SUCCESS, b.connector->Reject("no", 3));
	WANT(ND_CONNECTION_REFUSED, outcome1(ND_PENDING, a.connector, &asked.ask));
	WANT(ND_SUCCESS, a.connector->GetConnectionData(nullptr, nullptr, data, &bytes));
	CHECK(strcmp(data, "no") == 0);
	WANT(ND_ADDRESS_ALREADY_ASSOCIATED,
		a.connector->Connect(a.endpoint, (const sockaddr *)&asked.at, sizeof(asked.at), 6,
			htons(4713), nullptr, 0, &get));
	WANT(ND_ADDRESS_ALREADY_EXISTS,
		rival->Connect(endpoint, (const sockaddr *)&asked.at, sizeof(asked.at), 6, port,
			nullptr, 0, &get));
	WANT(ND_PENDING, asked.listen->GetConnectionRequest(second, &get));
	asked.again(a, port);
	WANT(ND_SUCCESS, outcome1(ND_PENDING, asked.listen, &get));
	WANT(ND_PENDING, second->Accept(b.endpoint, nullptr, 0, &accept));
	WANT(ND_SUCCESS, outcome1(ND_PENDING, a.connector, &asked.ask));
	WANT(ND_SUCCESS, a.connector->Reject("neither", 8));
	HRESULT hr = outcome1(ND_PENDING, second, &accept);
	CHECK(hr == ND_CONNECTION_REFUSED || hr == ND_CONNECTION_ABORTED);
	CHECK(endpoint->Release() == 0);
	CHECK(rival->Release() == 0);
	CHECK(second->Release() == 0);
}

/* checks R-DISC-06[1]: NotifyDisconnect of the end that disconnects is cancelled, of the other a
 * success; what is outstanding there is cancelled. */
void
v1_goodbyes()
{
	Side1 a(place_a), b(place_b);
	INDListen *listen = meet1(a, b);
	OVERLAPPED ours = {}, theirs = {}, ov = {}, bye = {};
	ND_SGE into = b.sge(0, 8);
	ND_RESULT received;

	WANT(ND_PENDING, a.connector->NotifyDisconnect(&ours));
	WANT(ND_PENDING, b.connector->NotifyDisconnect(&theirs));
	WANT(ND_SUCCESS, b.endpoint->Receive(&received, &into, 1));
	WANT(ND_SUCCESS, outcome1(a.connector->Disconnect(&ov), a.connector, &ov));
	WANT(ND_CANCELED, outcome1(ND_PENDING, a.connector, &ours));
	WANT(ND_SUCCESS, outcome1(ND_PENDING, b.connector, &theirs));
	WANT(ND_SUCCESS, outcome1(b.connector->Disconnect(&bye), b.connector, &bye));
	b.received(&received);
	WANT(ND_CANCELED, received.Status);
	WANT(ND_CONNECTION_INVALID, a.endpoint->Send(&received, nullptr, 0, 0));
	CHECK(listen->Release() == 0);
}

/* An end of version 1 connects to one of version 2. */
static IND2Listener *
meet_version_2(Side1 &a, Side &b)
{
	OVERLAPPED get = {}, ask = {}, accept = {}, complete = {};
	IND2Listener *listener = b.new_listener();
	sockaddr_in at = b.place->address;
	ULONG bytes = sizeof(at);

	WANT(ND_SUCCESS, listener->Bind((const sockaddr *)&at, sizeof(at)));
	WANT(ND_SUCCESS, listener->Listen(0));
	WANT(ND_SUCCESS, listener->GetLocalAddress((sockaddr *)&at, &bytes));
	WANT(ND_PENDING, listener->GetConnectionRequest(b.connector, &get));
	WANT(ND_PENDING, a.connector->Connect(a.endpoint, (const sockaddr *)&at, sizeof(at), 6, 0,
				 "hello", 6, &ask));
	WANT(ND_SUCCESS, listener->GetOverlappedResult(&get, TRUE));
	WANT(ND_PENDING, b.connector->Accept(b.qp, 4, 4, "welcome", 8, &accept));
	WANT(ND_SUCCESS, outcome1(ND_PENDING, a.connector, &ask));
	WANT(ND_SUCCESS, outcome1(a.connector->CompleteConnect(&complete), a.connector, &complete));
	WANT(ND_SUCCESS, b.connector->GetOverlappedResult(&accept, TRUE));
	return listener;
}

/* checks R-INV-14[1]: version 2 obeys version 1's SendAndInvalidate. */
void
v1_meets_v2()
{
	Side1 a(place_a);
	Side b(place_b);
	IND2Listener *listener = meet_version_2(a, b);
	IND2MemoryWindow *window;
	ND_SGE from = a.sge(0, 64);
	ND2_SGE into = b.sge(4096, 64);
	ND_RESULT sent;
	OVERLAPPED ov = {};
	int context;

	a.fill(3);
	WANT(ND_SUCCESS, b.adapter->CreateMemoryWindow(IID_IND2MemoryWindow, (void **)&window));
	WANT(ND_SUCCESS, b.qp->Bind(&context, b.region, window, b.buffer, 64,
				 ND_OP_FLAG_ALLOW_WRITE));
	b.result(&context, Nd2RequestTypeBind);
	const ND_MW_DESCRIPTOR there = {
		htobe64((uintptr_t)b.buffer), htobe64(64), window->GetRemoteToken()};
	WANT(ND_SUCCESS, a.endpoint->Write(&sent, &from, 1, &there, 0, 0));
	a.sent(&sent);
	WANT(ND_SUCCESS, sent.Status);
	CHECK(memcmp(a.buffer, b.buffer, 64) == 0);
	WANT(ND_DEVICE_BUSY, b.region->Deregister(&ov));
	WANT(ND_SUCCESS, b.qp->Receive(&context, &into, 1));
	WANT(ND_SUCCESS, a.endpoint->SendAndInvalidate(&sent, &from, 1, &there, 0));
	a.sent(&sent);
	CHECK(b.result(&context, Nd2RequestTypeReceive).BytesTransferred == 64);
	WANT(ND_SUCCESS, outcome(b.region->Deregister(&ov), b.region, &ov));
	CHECK(window->Release() == 0);
	CHECK(listener->Release() == 0);
}

/* checks R-CONN-25[2]: daemon b answers nothing for a while. */
void
v1_silent()
{
	Side1 a(place_a), b(place_b);
	sockaddr_in at;
	INDListen *listen = b.new_listen(&at);
	OVERLAPPED get = {}, ask = {}, accept = {}, complete = {};

	WANT(ND_PENDING, listen->GetConnectionRequest(b.connector, &get));
	CHECK(process_stop(daemon_b));
	WANT(ND_PENDING, a.connector->Connect(a.endpoint, (const sockaddr *)&at, sizeof(at), 6, 0,
				 nullptr, 0, &ask));
	HRESULT hr = outcome1(ND_PENDING, a.connector, &ask);
	CHECK(kill(daemon_b, SIGCONT) == 0);
	WANT(ND_TIMEOUT, hr);
	CHECK(SUCCEEDED(hr));
	/* What it asked then may have been kept for the daemon: that attempt has gone. */
	WANT(ND_PENDING, a.connector->Connect(a.endpoint, (const sockaddr *)&at, sizeof(at), 6, 0,
				 "again", 6, &ask));
	for (;;) {
		SIZE_T bytes = 6;
		char data[6] = {};

		WANT(ND_SUCCESS, outcome1(ND_PENDING, listen, &get));
		hr = b.connector->GetConnectionData(nullptr, nullptr, data, &bytes);
		if (hr == ND_BUFFER_OVERFLOW && strcmp(data, "again") == 0)
			break;
		CHECK(b.connector->Release() == 0);
		b.connector = b.new_connector();
		WANT(ND_PENDING, listen->GetConnectionRequest(b.connector, &get));
	}
	WANT(ND_PENDING, b.connector->Accept(b.endpoint, nullptr, 0, &accept));
	WANT(ND_SUCCESS, outcome1(ND_PENDING, a.connector, &ask));
	WANT(ND_SUCCESS, outcome1(a.connector->CompleteConnect(&complete), a.connector, &complete));
	WANT(ND_SUCCESS, outcome1(ND_PENDING, b.connector, &accept));
	CHECK(listen->Release() == 0);
}
