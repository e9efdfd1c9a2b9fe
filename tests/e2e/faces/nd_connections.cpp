/* SPDX-License-Identifier: BSD-3-Clause */
/* libndclient's listeners and connectors. */
#include "nd.hpp"

sockaddr_in
Nd::listen(uint32_t backlog)
{
	sockaddr_in at;
	socklen_t bytes_of = sizeof(at);

	WANT(ND_SUCCESS, nd_listener_create(adapter, &listener));
	WANT(ND_SUCCESS,
		nd_listener_listen(listener, (const sockaddr *)&local, sizeof(local), backlog));
	WANT(ND_SUCCESS, nd_listener_local_address(listener, (sockaddr *)&at, &bytes_of));
	return at;
}

int32_t
Nd::connect(const sockaddr_in &to, const Words &words)
{
	sockaddr_in from = local;

	from.sin_port = words.port;
	if (words.port != 0) {
		const nd_status st =
			nd_connector_bind(connector, (const sockaddr *)&from, sizeof(from));
		if (st != ND_SUCCESS)
			return st;
	}
	return nd_connector_connect(connector, qp, (const sockaddr *)&to, sizeof(to), words.inbound,
		words.outbound, words.data.data(), (uint32_t)words.data.size(),
		of(Request::connect));
}

int32_t
Nd::get_request(End &into)
{
	Nd &nd = static_cast<Nd &>(into);
	return nd_listener_get_request(listener, nd.connector, nd.of(Request::get));
}

int32_t
Nd::cancel_listening()
{
	return nd_listener_cancel(listener);
}

int32_t
Nd::complete()
{
	return nd_connector_complete_connect(connector, of(Request::complete));
}

int32_t
Nd::accept(const Words &words)
{
	return nd_connector_accept(connector, qp, words.inbound, words.outbound,
		words.data.data(), (uint32_t)words.data.size(), of(Request::accept));
}

int32_t
Nd::reject(const Words &words)
{
	return nd_connector_reject(
		connector, words.data.data(), (uint32_t)words.data.size());
}

int32_t
Nd::notify_disconnect()
{
	return nd_connector_notify_disconnect(connector, of(Request::notice));
}

int32_t
Nd::disconnect()
{
	return nd_connector_disconnect(connector, of(Request::disconnect));
}

int32_t
Nd::cancel()
{
	return nd_connector_cancel(connector);
}

int32_t
Nd::ended(Request which, int32_t begun)
{
	return waited(begun, of(which));
}

bool
Nd::under_way(Request which)
{
	return nd_overlapped_status(of(which)) == ND_PENDING;
}

int32_t
Nd::private_data(void *data, uint32_t *room)
{
	return nd_connector_private_data(connector, data, room);
}

int32_t
Nd::read_limits(uint32_t *inbound, uint32_t *outbound)
{
	return nd_connector_read_limits(connector, inbound, outbound);
}

int32_t
Nd::local_address(sockaddr_in *address, uint32_t *room)
{
	return nd_connector_local_address(connector, (sockaddr *)address, room);
}

int32_t
Nd::peer_address(sockaddr_in *address, uint32_t *room)
{
	return nd_connector_peer_address(connector, (sockaddr *)address, room);
}
