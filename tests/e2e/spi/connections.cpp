/* SPDX-License-Identifier: BSD-3-Clause */
/* Rejects, listeners, and many connections. */
#include <chrono>

#include "spi.hpp"

/* checks R-LSN-01[1,7,8] */
void
listeners()
{
	Side s(place_a);
	IND2Listener *l = s.new_listener(), *second = s.new_listener();
	sockaddr_in at = place_a.address;
	ULONG bytes = sizeof(at);
	OVERLAPPED ov = {};

	WANT(ND_INVALID_DEVICE_STATE, l->GetLocalAddress((sockaddr *)&at, &bytes));
	WANT(ND_INVALID_DEVICE_STATE, l->GetConnectionRequest(s.connector, &ov));
	WANT(ND_INVALID_DEVICE_STATE, l->Listen(1));
	at.sin_port = htons(4321);
	WANT(ND_SUCCESS, l->Bind((const sockaddr *)&at, sizeof(at)));
	WANT(ND_ADDRESS_ALREADY_ASSOCIATED, l->Bind((const sockaddr *)&at, sizeof(at)));
	WANT(ND_SHARING_VIOLATION, second->Bind((const sockaddr *)&at, sizeof(at)));
	WANT(ND_INVALID_DEVICE_STATE, l->GetLocalAddress((sockaddr *)&at, &bytes));
	WANT(ND_SUCCESS, l->Listen(1));
	WANT(ND_INVALID_DEVICE_STATE, l->Listen(1));
	WANT(ND_SUCCESS, l->GetLocalAddress((sockaddr *)&at, &bytes));
	CHECK(at.sin_port == htons(4321));
	CHECK(second->Release() == 0);
	CHECK(l->Release() == 0);
}

void
rejects()
{
	Side a(place_a), b(place_b);
	IND2Listener *listener = b.new_listener();
	sockaddr_in at = place_b.address, from = place_a.address;
	ULONG bytes = sizeof(at);
	OVERLAPPED get = {}, ask = {};
	char priv[256];

	WANT(ND_SUCCESS, listener->Bind((const sockaddr *)&at, sizeof(at)));
	WANT(ND_SUCCESS, listener->Listen(0));
	WANT(ND_SUCCESS, listener->GetLocalAddress((sockaddr *)&at, &bytes));
	WANT(ND_PENDING, listener->GetConnectionRequest(b.connector, &get));
	WANT(ND_SUCCESS, a.connector->Bind((const sockaddr *)&from, sizeof(from)));
	WANT(ND_PENDING, a.connector->Connect(a.qp, (const sockaddr *)&at, sizeof(at), 0, 0, nullptr,
				 0, &ask));
	WANT(ND_SUCCESS, listener->GetOverlappedResult(&get, TRUE));
	WANT(ND_SUCCESS, b.connector->Reject("no", 3));
	WANT(ND_CONNECTION_REFUSED, a.connector->GetOverlappedResult(&ask, TRUE));
	bytes = sizeof(priv);
	WANT(ND_SUCCESS, a.connector->GetPrivateData(priv, &bytes));
	CHECK(memcmp(priv, "no", 3) == 0);
	CHECK(listener->Release() == 0);
}

/* One end of a connection of the storm, which begins anew when it has ended. */
struct Caller {
	IND2Connector *ours, *theirs;
	IND2QueuePair *qp[2];
};

static IND2QueuePair *
new_qp(const Side &s)
{
	IND2QueuePair *qp;

	WANT(ND_SUCCESS, s.adapter->CreateQueuePair(IID_IND2QueuePair, s.cq, s.cq, nullptr, 1, 1, 1, 1,
				 0, (void **)&qp));
	return qp;
}

/* Connections in waves of 64, each made and ended whole; tells how many a second. */
void
storm()
{
	constexpr int width = 64, waves = 16;
	Side a(place_a), b(place_b);
	IND2Listener *listener = b.new_listener();
	sockaddr_in at = place_b.address, from = place_a.address;
	ULONG bytes = sizeof(at);

	WANT(ND_SUCCESS, listener->Bind((const sockaddr *)&at, sizeof(at)));
	WANT(ND_SUCCESS, listener->Listen(0));
	WANT(ND_SUCCESS, listener->GetLocalAddress((sockaddr *)&at, &bytes));
	const auto begin = std::chrono::steady_clock::now();
	for (int wave = 0; wave < waves; wave++) {
		Caller callers[width];
		OVERLAPPED get[width] = {}, ask[width] = {}, accept[width] = {};
		OVERLAPPED complete[width] = {}, end[2][width] = {};

		for (int i = 0; i < width; i++) {
			Caller &c = callers[i];

			c = {a.new_connector(), b.new_connector(), {new_qp(a), new_qp(b)}};
			WANT(ND_PENDING, listener->GetConnectionRequest(c.theirs, &get[i]));
			WANT(ND_SUCCESS, c.ours->Bind((const sockaddr *)&from, sizeof(from)));
			WANT(ND_PENDING, c.ours->Connect(c.qp[0], (const sockaddr *)&at, sizeof(at), 1,
						 1, nullptr, 0, &ask[i]));
		}
		for (int i = 0; i < width; i++) {
			WANT(ND_SUCCESS, listener->GetOverlappedResult(&get[i], TRUE));
			WANT(ND_PENDING, callers[i].theirs->Accept(
						 callers[i].qp[1], 1, 1, nullptr, 0, &accept[i]));
		}
		for (int i = 0; i < width; i++) {
			Caller &c = callers[i];

			WANT(ND_SUCCESS, c.ours->GetOverlappedResult(&ask[i], TRUE));
			WANT(ND_SUCCESS,
				outcome(c.ours->CompleteConnect(&complete[i]), c.ours, &complete[i]));
		}
		for (int i = 0; i < width; i++) {
			WANT(ND_SUCCESS, callers[i].theirs->GetOverlappedResult(&accept[i], TRUE));
			WANT(ND_PENDING, callers[i].ours->Disconnect(&end[0][i]));
		}
		for (int i = 0; i < width; i++) {
			HRESULT hr = callers[i].theirs->Disconnect(&end[1][i]);

			WANT(ND_SUCCESS, outcome(hr, callers[i].theirs, &end[1][i]));
			WANT(ND_SUCCESS, callers[i].ours->GetOverlappedResult(&end[0][i], TRUE));
			for (IUnknown *done : {(IUnknown *)callers[i].ours,
				     (IUnknown *)callers[i].theirs, (IUnknown *)callers[i].qp[0],
				     (IUnknown *)callers[i].qp[1]})
				CHECK(done->Release() == 0);
		}
	}
	const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
	printf("%.0f connections and disconnections a second\n", width * waves / took.count());
	CHECK(listener->Release() == 0);
}
