/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndkpi/adapter.h"
#include "ndkpi/address.h"
#include "ndkpi/callback.h"
#include "ndkpi/connector.h"
#include "ndkpi/listener.h"
#include "ndkpi/status.h"

static struct nd_listener *
listener_of(NDK_LISTENER *self)
{
	return ((struct ndk_object *)self)->nd;
}

static NTSTATUS
listener_local_address(NDK_LISTENER *self, PSOCKADDR address, ULONG *bytes)
{
	return ndk_status_of_size(nd_listener_local_address(listener_of(self), address, bytes));
}

static VOID
listener_control(NDK_LISTENER *self, BOOLEAN pause)
{
	if (pause)
		(void)nd_listener_pause(listener_of(self));
	else
		(void)nd_listener_resume(listener_of(self));
}

/* ---- listen ----------------------------------------------------------------------------- */

struct listen_request {
	struct ndk_request request;
	struct ndk_address local;
};

static nd_status
listen_begin(struct ndk_request *r)
{
	const struct listen_request *l = (struct listen_request *)r;

	return nd_listener_listen(r->object->nd, ndk_address_of(&l->local), l->local.bytes, 0);
}

static NTSTATUS
listener_listen(NDK_LISTENER *self, CONST SOCKADDR *address, ULONG bytes,
	NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
	struct ndk_address local;
	struct listen_request *r;

	if (completion == NULL)
		return STATUS_INVALID_PARAMETER;
	if (!ndk_address_keep(&local, address, bytes))
		return STATUS_INVALID_ADDRESS;
	r = ndk_request_new(self, sizeof(*r), listen_begin, completion, context);
	if (r == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	r->local = local;
	return ndk_request_start(&r->request);
}

static const NDK_LISTENER_DISPATCH listener_dispatch = {
	.NdkCloseListener = ndk_object_close,
	.NdkQueryExtension = ndk_query_extension,
	.NdkListen = listener_listen,
	.NdkGetLocalAddress = listener_local_address,
	.NdkControlConnectEvents = listener_control,
};

/* ---- create ----------------------------------------------------------------------------- */

/* In libndclient's thread of callbacks. The listener may be gone when its callback returns. */
static void
listener_asked(void *arg, struct nd_connector *nd)
{
	const struct ndk_listener *l = arg;
	struct ndk_connector *c = ndk_connector_of(l->object.adapter, nd);

	if (c == NULL) {
		nd_connector_close(nd); /* rejects it */
		return;
	}
	ndk_callback_enter();
	l->event(l->context, (NDK_CONNECTOR *)c);
	ndk_callback_leave();
}

static nd_status
create_begin(struct ndk_request *r)
{
	struct nd_listener *nd;
	nd_status st = nd_listener_create(r->object->adapter->nd, &nd);

	if (st != ND_SUCCESS)
		return st;
	st = nd_listener_set_callback(nd, listener_asked, r->object);
	if (st == ND_SUCCESS)
		r->object->nd = nd;
	else
		nd_listener_close(nd);
	return st;
}

NTSTATUS
ndk_create_listener(NDK_ADAPTER *self, NDK_FN_CONNECT_EVENT_CALLBACK event, PVOID event_context,
	NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_LISTENER **out)
{
	struct ndk_listener *l;
	struct ndk_request *r;

	if (event == NULL || completion == NULL || out == NULL)
		return STATUS_INVALID_PARAMETER;
	l = ndk_object_new(
		(struct ndk_adapter *)self, NdkObjectTypeListener, &listener_dispatch, sizeof(*l));
	r = ndk_create_new(l, sizeof(*r), create_begin, completion, context);
	if (r == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	l->event = event;
	l->context = event_context;
	return ndk_request_start(r);
}
