/* SPDX-License-Identifier: BSD-3-Clause */
/* NDK's listeners and connectors. */
#include "kpi.hpp"

void
Kpi::came(PVOID kpi, NDK_CONNECTOR *c)
{
	Kpi *const k = (Kpi *)kpi;
	const std::lock_guard<std::mutex> held(k->coming);

	if (k->unwanted)
		c->Dispatch->NdkCloseConnector(&c->Header, nullptr, nullptr);
	else
		Told::asked(&k->asked, c);
}

/* Those that came and are nobody's are closed, and so are those that still come. */
void
Kpi::end_listening()
{
	const std::lock_guard<std::mutex> held(coming);
	void *stray;

	unwanted = true;
	while (claimed < asked.so_far()) {
		asked.wait(++claimed, &stray);
		NDK_CONNECTOR *const c = (NDK_CONNECTOR *)stray;
		c->Dispatch->NdkCloseConnector(&c->Header, nullptr, nullptr);
	}
}

sockaddr_in
Kpi::listen(uint32_t)
{
	sockaddr_in at = local;
	ULONG bytes_of = sizeof(at);
	Told listens;
	NTSTATUS st;

	unwanted = false;
	CREATE(&listener, adapter->Dispatch->NdkCreateListener(
				  adapter, came, this, Told::created, &t, &listener));
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
	end_listening();
	listener_closed = true;
	listener = nullptr;
}

int32_t
Kpi::get_request(End &into)
{
	Kpi &kpi = static_cast<Kpi &>(into);

	kpi.asker = this;
	kpi.claim = ++claimed;
	return STATUS_PENDING;
}

int32_t
Kpi::cancel_listening()
{
	return STATUS_NOT_SUPPORTED;
}

int32_t
Kpi::complete()
{
	return connector->Dispatch->NdkCompleteConnect(
		connector, Told::ended, &gone, Told::done, begin(Request::complete));
}

int32_t
Kpi::accept(const Words &words)
{
	return connector->Dispatch->NdkAccept(connector, qp, words.inbound, words.outbound,
		words.data.data(), (ULONG)words.data.size(), Told::ended, &gone, Told::done,
		begin(Request::accept));
}

int32_t
Kpi::reject(const Words &words)
{
	return connector->Dispatch->NdkReject(
		connector, words.data.data(), (ULONG)words.data.size());
}

int32_t
Kpi::notify_disconnect()
{
	return STATUS_PENDING;
}

int32_t
Kpi::disconnect()
{
	return connector->Dispatch->NdkDisconnect(
		connector, Told::done, begin(Request::disconnect));
}

int32_t
Kpi::cancel()
{
	return STATUS_NOT_SUPPORTED;
}

bool
Kpi::under_way(Request which)
{
	return of(which)->so_far() == begun_at[(int)which];
}

int32_t
Kpi::private_data(void *data, uint32_t *room)
{
	return connector->Dispatch->NdkGetConnectionData(
		connector, nullptr, nullptr, data, (ULONG *)room);
}

int32_t
Kpi::read_limits(uint32_t *inbound, uint32_t *outbound)
{
	ULONG no_data = 0;
	return connector->Dispatch->NdkGetConnectionData(
		connector, (ULONG *)inbound, (ULONG *)outbound, nullptr, &no_data);
}

int32_t
Kpi::local_address(sockaddr_in *address, uint32_t *room)
{
	return connector->Dispatch->NdkGetLocalAddress(
		connector, (SOCKADDR *)address, (ULONG *)room);
}

int32_t
Kpi::peer_address(sockaddr_in *address, uint32_t *room)
{
	return connector->Dispatch->NdkGetPeerAddress(
		connector, (SOCKADDR *)address, (ULONG *)room);
}
