/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndspi/v1/listen.h"
#include "ndspi/addresses.h"
#include "ndspi/create.h"
#include "ndspi/v1/adapter.h"
#include "ndspi/v1/connector.h"
#include "ndspi/v1/request.h"

struct spi1_listen {
	struct spi_object object;
	struct nd_listener *listener;
};

SPI1_OVERLAPPED(INDListen, listen, struct spi1_listen, listener, nd_listener_cancel)

static HRESULT STDMETHODCALLTYPE
listen_get_request(INDListen *self, INDConnector *connector, OVERLAPPED *ov)
{
	struct spi1_listen *l = (struct spi1_listen *)self;
	const struct spi1_connector *c =
		spi_object_of((IUnknown *)connector, &spi1_connector_class, l->object.adapter);

	if (c == NULL)
		return ND_INVALID_PARAMETER_1;
	return SPI_REQUEST(&l->object, ov, nd_listener_get_request(l->listener, c->connector, nd));
}

static const INDListenVtbl listen_slots = {
	SPI_OVERLAPPED_SLOTS(listen),
	.GetConnectionRequest = listen_get_request,
};

static void
listen_close(struct spi_object *o)
{
	nd_listener_close(((struct spi1_listen *)o)->listener);
}

static const struct spi_class listen_class = {
	.iid = &IID_INDListen,
	.base = &IID_INDOverlapped,
	.vtbl = &listen_slots,
	.close = listen_close,
};

/* Create, bind and listen in one. */
static HRESULT
listen_start(struct spi1_listen *l, SIZE_T backlog, USHORT port, USHORT *assigned)
{
	struct spi1_adapter *a = spi1_adapter_of(l);
	struct sockaddr_storage at = spi1_adapter_address(a, port);
	socklen_t bytes = (socklen_t)spi_address_bytes(&at);
	nd_status st = nd_listener_create(a->base.adapter, &l->listener);

	if (st == ND_SUCCESS)
		st = nd_listener_listen(
			l->listener, (struct sockaddr *)&at, bytes, spi1_narrow(backlog));
	if (st != ND_SUCCESS)
		return spi1_port_status(st);
	st = nd_listener_local_address(l->listener, (struct sockaddr *)&at, &bytes);
	if (st == ND_SUCCESS && assigned != NULL)
		*assigned = ((struct sockaddr_in *)&at)->sin_port;
	return st;
}

HRESULT STDMETHODCALLTYPE
spi1_listen(INDAdapter *self, SIZE_T backlog, INT protocol, USHORT port, USHORT *assigned,
	INDListen **out)
{
	struct spi1_listen *l;
	HRESULT hr = spi_create_begin(
		self, &listen_class, sizeof(*l), listen_class.iid, NULL, (void **)out, &l);

	if (hr != ND_SUCCESS)
		return hr;
	if (!spi1_is_protocol(protocol))
		hr = ND_INVALID_PARAMETER_2;
	else if (port == 0 && assigned == NULL)
		hr = ND_INVALID_PARAMETER_MIX;
	else
		hr = listen_start(l, backlog, port, assigned);
	return spi_create_end(&l->object, hr, listen_class.iid, (void **)out);
}
