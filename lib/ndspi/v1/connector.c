/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndspi/v1/connector.h"
#include "ndspi/addresses.h"
#include "ndspi/create.h"
#include "ndspi/v1/adapter.h"
#include "ndspi/v1/endpoint.h"
#include "ndspi/v1/request.h"

static struct spi1_connector *
connector_of(INDConnector *self)
{
	return (struct spi1_connector *)self;
}

static struct spi1_endpoint *
endpoint_of(const struct spi1_connector *c, INDEndpoint *endpoint)
{
	return spi_object_of((IUnknown *)endpoint, &spi1_endpoint_class, c->object.adapter);
}

SPI1_OVERLAPPED(INDConnector, connector, struct spi1_connector, connector, nd_connector_cancel)

/* ---- connecting ---------------------------------------------------------------------- */

/* R-CONN-25: nobody answered. */
static void
connect_done(struct nd_overlapped *nd, nd_status st)
{
	spi_request_done(nd, st == ND_IO_TIMEOUT ? ND_TIMEOUT : st);
}

/* The port stays the connector's when an attempt has failed. */
static HRESULT
connector_take_port(struct spi1_connector *c, USHORT port)
{
	struct sockaddr_storage local;
	nd_status st;

	if (port == 0 || port == c->port)
		return ND_SUCCESS;
	local = spi1_adapter_address(spi1_adapter_of(c), port);
	st = nd_connector_bind(
		c->connector, (struct sockaddr *)&local, (socklen_t)spi_address_bytes(&local));
	if (st == ND_SUCCESS)
		c->port = port;
	return spi1_port_status(st);
}

static HRESULT STDMETHODCALLTYPE
connector_connect(INDConnector *self, INDEndpoint *endpoint, const struct sockaddr *to,
	SIZE_T to_bytes, INT protocol, USHORT port, const void *data, SIZE_T data_bytes,
	OVERLAPPED *ov)
{
	struct spi1_connector *c = connector_of(self);
	const struct spi1_endpoint *e = endpoint_of(c, endpoint);
	HRESULT taken;

	if (e == NULL)
		return ND_INVALID_PARAMETER_1;
	if (!spi1_is_protocol(protocol))
		return ND_INVALID_PARAMETER_4;
	taken = connector_take_port(c, port);
	if (taken != ND_SUCCESS)
		return taken;
	return SPI_REQUEST_WITH(&c->object, ov, connect_done,
		nd_connector_connect(c->connector, e->qp, to, spi1_narrow(to_bytes),
			e->inbound_reads, e->outbound_reads, data, spi1_narrow(data_bytes), nd));
}

static HRESULT STDMETHODCALLTYPE
connector_complete(INDConnector *self, OVERLAPPED *ov)
{
	struct spi1_connector *c = connector_of(self);

	return SPI_REQUEST(&c->object, ov, nd_connector_complete_connect(c->connector, nd));
}

static HRESULT STDMETHODCALLTYPE
connector_accept(INDConnector *self, INDEndpoint *endpoint, const void *data, SIZE_T data_bytes,
	OVERLAPPED *ov)
{
	struct spi1_connector *c = connector_of(self);
	const struct spi1_endpoint *e = endpoint_of(c, endpoint);

	if (e == NULL)
		return ND_INVALID_PARAMETER_1;
	return SPI_REQUEST(&c->object, ov,
		nd_connector_accept(c->connector, e->qp, e->inbound_reads, e->outbound_reads, data,
			spi1_narrow(data_bytes), nd));
}

static HRESULT STDMETHODCALLTYPE
connector_reject(INDConnector *self, const void *data, SIZE_T bytes)
{
	return nd_connector_reject(connector_of(self)->connector, data, spi1_narrow(bytes));
}

/* ---- what is known of the peer ------------------------------------------------------- */

/* A reject has data, and limits of 0. */
static HRESULT STDMETHODCALLTYPE
connector_data(
	INDConnector *self, SIZE_T *inbound, SIZE_T *outbound, void *data, SIZE_T *data_bytes)
{
	struct nd_connector *c = connector_of(self)->connector;
	uint32_t in = 0, out = 0, bytes;
	nd_status st = nd_connector_read_limits(c, &in, &out);

	if (data_bytes != NULL) {
		bytes = spi1_narrow(*data_bytes);
		st = nd_connector_private_data(c, data, &bytes);
		*data_bytes = bytes;
	}
	if (st != ND_SUCCESS && st != ND_BUFFER_OVERFLOW)
		return st;
	if (inbound != NULL)
		*inbound = in;
	if (outbound != NULL)
		*outbound = out;
	return st;
}

typedef nd_status (*address_fn)(struct nd_connector *c, struct sockaddr *address, socklen_t *bytes);

static HRESULT
connector_address(INDConnector *self, address_fn query, struct sockaddr *address, SIZE_T *bytes)
{
	socklen_t room;
	nd_status st;

	if (bytes == NULL)
		return ND_INVALID_PARAMETER_2;
	room = spi1_narrow(*bytes);
	st = query(connector_of(self)->connector, address, &room);
	*bytes = room;
	return st;
}

static HRESULT STDMETHODCALLTYPE
connector_local(INDConnector *self, struct sockaddr *address, SIZE_T *bytes)
{
	return connector_address(self, nd_connector_local_address, address, bytes);
}

static HRESULT STDMETHODCALLTYPE
connector_peer(INDConnector *self, struct sockaddr *address, SIZE_T *bytes)
{
	return connector_address(self, nd_connector_peer_address, address, bytes);
}

/* ---- the end ------------------------------------------------------------------------- */

/* R-DISC-06: this side has ended the connection. */
static void
notify_done(struct nd_overlapped *nd, nd_status st)
{
	spi_request_done(nd, st == ND_CONNECTION_DISCONNECTED ? ND_CANCELED : st);
}

static HRESULT STDMETHODCALLTYPE
connector_notify(INDConnector *self, OVERLAPPED *ov)
{
	struct spi1_connector *c = connector_of(self);

	return SPI_REQUEST_WITH(
		&c->object, ov, notify_done, nd_connector_notify_disconnect(c->connector, nd));
}

static HRESULT STDMETHODCALLTYPE
connector_disconnect(INDConnector *self, OVERLAPPED *ov)
{
	struct spi1_connector *c = connector_of(self);

	return SPI_REQUEST(&c->object, ov, nd_connector_disconnect(c->connector, nd));
}

/* ---- the object ---------------------------------------------------------------------- */

static const INDConnectorVtbl connector_slots = {
	SPI_OVERLAPPED_SLOTS(connector),
	.CreateEndpoint = spi1_create_endpoint,
	.Connect = connector_connect,
	.CompleteConnect = connector_complete,
	.Accept = connector_accept,
	.Reject = connector_reject,
	.GetConnectionData = connector_data,
	.GetLocalAddress = connector_local,
	.GetPeerAddress = connector_peer,
	.NotifyDisconnect = connector_notify,
	.Disconnect = connector_disconnect,
};

static void
connector_close(struct spi_object *o)
{
	nd_connector_close(((struct spi1_connector *)o)->connector);
}

const struct spi_class spi1_connector_class = {
	.iid = &IID_INDConnector,
	.base = &IID_INDOverlapped,
	.vtbl = &connector_slots,
	.close = connector_close,
};

HRESULT STDMETHODCALLTYPE
spi1_create_connector(INDAdapter *self, INDConnector **out)
{
	const IID *iid = spi1_connector_class.iid;
	struct spi1_connector *c;
	HRESULT hr = spi_create_begin(
		self, &spi1_connector_class, sizeof(*c), iid, NULL, (void **)out, &c);

	if (hr != ND_SUCCESS)
		return hr;
	hr = nd_connector_create(c->object.adapter->adapter, &c->connector);
	return spi_create_end(&c->object, hr, iid, (void **)out);
}
