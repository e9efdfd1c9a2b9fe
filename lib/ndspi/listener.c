/* SPDX-License-Identifier: BSD-3-Clause */
/* IND2Listener. */
#include "ndspi/connector.h"
#include "ndspi/create.h"
#include "ndspi/request.h"

struct spi_listener {
	struct spi_object object;
	struct nd_listener *listener;
};

static struct spi_listener *
listener_of(IND2Listener *self)
{
	return (struct spi_listener *)self;
}

SPI_OVERLAPPED(IND2Listener, listener, struct spi_listener, listener, nd_listener_cancel)

static HRESULT STDMETHODCALLTYPE
listener_bind(IND2Listener *self, const struct sockaddr *address, ULONG bytes)
{
	return nd_listener_bind(listener_of(self)->listener, address, bytes);
}

static HRESULT STDMETHODCALLTYPE
listener_listen(IND2Listener *self, ULONG backlog)
{
	return nd_listener_listen(listener_of(self)->listener, NULL, 0, backlog);
}

static HRESULT STDMETHODCALLTYPE
listener_local(IND2Listener *self, struct sockaddr *address, ULONG *bytes)
{
	return nd_listener_local_address(listener_of(self)->listener, address, bytes);
}

static HRESULT STDMETHODCALLTYPE
listener_get_request(IND2Listener *self, IUnknown *connector, OVERLAPPED *ov)
{
	struct spi_listener *l = listener_of(self);
	const struct spi_connector *c =
		spi_object_of(connector, &spi_connector_class, l->object.adapter);

	if (c == NULL)
		return ND_INVALID_PARAMETER_1;
	return SPI_REQUEST(&l->object, ov, nd_listener_get_request(l->listener, c->connector, nd));
}

static const IND2ListenerVtbl listener_slots = {
	SPI_OVERLAPPED_SLOTS(listener),
	.Bind = listener_bind,
	.Listen = listener_listen,
	.GetLocalAddress = listener_local,
	.GetConnectionRequest = listener_get_request,
};

static void
listener_close(struct spi_object *o)
{
	nd_listener_close(((struct spi_listener *)o)->listener);
}

static const struct spi_class listener_class = {
	.iid = &IID_IND2Listener,
	.base = &IID_IND2Overlapped,
	.vtbl = &listener_slots,
	.close = listener_close,
};

HRESULT STDMETHODCALLTYPE
spi_create_listener(IND2Adapter *self, REFIID iid, HANDLE file, void **out)
{
	struct spi_listener *l;
	HRESULT hr = spi_create_begin(self, &listener_class, sizeof(*l), iid, &file, out, &l);

	if (hr != ND_SUCCESS)
		return hr;
	hr = nd_listener_create(l->object.adapter->adapter, &l->listener);
	return spi_create_end(&l->object, hr, iid, out);
}
