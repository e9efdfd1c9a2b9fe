/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndspi/connector.h"
#include "ndspi/create.h"
#include "ndspi/qp.h"
#include "ndspi/request.h"

static struct spi_connector *
connector_of(IND2Connector *self)
{
	return (struct spi_connector *)self;
}

SPI_OVERLAPPED(IND2Connector, connector, struct spi_connector, connector, nd_connector_cancel)

static HRESULT STDMETHODCALLTYPE
connector_bind(IND2Connector *self, const struct sockaddr *address, ULONG bytes)
{
	return nd_connector_bind(connector_of(self)->connector, address, bytes);
}

static HRESULT STDMETHODCALLTYPE
connector_connect(IND2Connector *self, IUnknown *queue_pair, const struct sockaddr *to,
	ULONG to_bytes, ULONG inbound, ULONG outbound, const void *data, ULONG data_bytes,
	OVERLAPPED *ov)
{
	struct spi_connector *c = connector_of(self);
	const struct spi_qp *qp = spi_object_of(queue_pair, &spi_qp_class, c->object.adapter);

	if (qp == NULL)
		return ND_INVALID_PARAMETER_1;
	return SPI_REQUEST(&c->object, ov,
		nd_connector_connect(c->connector, qp->qp, to, to_bytes, inbound, outbound, data,
			data_bytes, nd));
}

static HRESULT STDMETHODCALLTYPE
connector_complete(IND2Connector *self, OVERLAPPED *ov)
{
	struct spi_connector *c = connector_of(self);

	return SPI_REQUEST(&c->object, ov, nd_connector_complete_connect(c->connector, nd));
}

static HRESULT STDMETHODCALLTYPE
connector_accept(IND2Connector *self, IUnknown *queue_pair, ULONG inbound, ULONG outbound,
	const void *data, ULONG data_bytes, OVERLAPPED *ov)
{
	struct spi_connector *c = connector_of(self);
	const struct spi_qp *qp = spi_object_of(queue_pair, &spi_qp_class, c->object.adapter);

	if (qp == NULL)
		return ND_INVALID_PARAMETER_1;
	return SPI_REQUEST(&c->object, ov,
		nd_connector_accept(c->connector, qp->qp, inbound, outbound, data, data_bytes, nd));
}

static HRESULT STDMETHODCALLTYPE
connector_reject(IND2Connector *self, const void *data, ULONG bytes)
{
	return nd_connector_reject(connector_of(self)->connector, data, bytes);
}

static HRESULT STDMETHODCALLTYPE
connector_limits(IND2Connector *self, ULONG *inbound, ULONG *outbound)
{
	return nd_connector_read_limits(connector_of(self)->connector, inbound, outbound);
}

static HRESULT STDMETHODCALLTYPE
connector_private_data(IND2Connector *self, void *data, ULONG *bytes)
{
	return nd_connector_private_data(connector_of(self)->connector, data, bytes);
}

static HRESULT STDMETHODCALLTYPE
connector_local(IND2Connector *self, struct sockaddr *address, ULONG *bytes)
{
	return nd_connector_local_address(connector_of(self)->connector, address, bytes);
}

static HRESULT STDMETHODCALLTYPE
connector_peer(IND2Connector *self, struct sockaddr *address, ULONG *bytes)
{
	return nd_connector_peer_address(connector_of(self)->connector, address, bytes);
}

static HRESULT STDMETHODCALLTYPE
connector_notify(IND2Connector *self, OVERLAPPED *ov)
{
	struct spi_connector *c = connector_of(self);

	return SPI_REQUEST(&c->object, ov, nd_connector_notify_disconnect(c->connector, nd));
}

static HRESULT STDMETHODCALLTYPE
connector_disconnect(IND2Connector *self, OVERLAPPED *ov)
{
	struct spi_connector *c = connector_of(self);

	return SPI_REQUEST(&c->object, ov, nd_connector_disconnect(c->connector, nd));
}

static const IND2ConnectorVtbl connector_slots = {
	SPI_OVERLAPPED_SLOTS(connector),
	.Bind = connector_bind,
	.Connect = connector_connect,
	.CompleteConnect = connector_complete,
	.Accept = connector_accept,
	.Reject = connector_reject,
	.GetReadLimits = connector_limits,
	.GetPrivateData = connector_private_data,
	.GetLocalAddress = connector_local,
	.GetPeerAddress = connector_peer,
	.NotifyDisconnect = connector_notify,
	.Disconnect = connector_disconnect,
};

static void
connector_close(struct spi_object *o)
{
	nd_connector_close(((struct spi_connector *)o)->connector);
}

const struct spi_class spi_connector_class = {
	.iid = &IID_IND2Connector,
	.base = &IID_IND2Overlapped,
	.vtbl = &connector_slots,
	.close = connector_close,
};

HRESULT STDMETHODCALLTYPE
spi_create_connector(IND2Adapter *self, REFIID iid, HANDLE file, void **out)
{
	struct spi_connector *c;
	HRESULT hr = spi_create_begin(self, &spi_connector_class, sizeof(*c), iid, &file, out, &c);

	if (hr != ND_SUCCESS)
		return hr;
	hr = nd_connector_create(c->object.adapter->adapter, &c->connector);
	return spi_create_end(&c->object, hr, iid, out);
}
