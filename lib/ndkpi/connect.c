/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of connectors. */
#include <stdlib.h>

#include "ndkpi/callback.h"
#include "ndkpi/connect.h"
#include "ndkpi/connector.h"
#include "ndkpi/status.h"

#define DATA_MAX 256u /* more than any field of the transport's */

/* ---- what comes with several of them ---------------------------------------------------- */

struct offer {
	struct nd_qp *qp;
	ULONG inbound, outbound;
	ULONG data_bytes;
	uint8_t data[DATA_MAX];
};

static NTSTATUS
offer_make(struct offer *o, NDK_CONNECTOR *self, NDK_QP *qp, const void *data, ULONG data_bytes)
{
	const struct ndk_object *q =
		ndk_object_of(qp, NdkObjectTypeQp, ((struct ndk_object *)self)->adapter);

	if (q == NULL || (data == NULL && data_bytes != 0))
		return STATUS_INVALID_PARAMETER;
	if (data_bytes > sizeof(o->data))
		return STATUS_INVALID_BUFFER_SIZE;
	o->qp = q->nd;
	if (data_bytes != 0)
		memcpy(o->data, data, data_bytes);
	o->data_bytes = data_bytes;
	return STATUS_SUCCESS;
}

/* ---- the peer's disconnect -------------------------------------------------------------- */

void
ndk_connector_ends(NDK_CONNECTOR *self)
{
	__atomic_store_n(&((struct ndk_connector *)self)->ending, true, __ATOMIC_RELAXED);
}

static nd_status
notify_begin(struct ndk_request *r)
{
	return nd_connector_notify_disconnect(r->object->nd, &r->ov);
}

/* The connector is not touched behind the callback, which may close it. */
static void
notify_end(struct ndk_request *r, nd_status st)
{
	const struct ndk_connector *c = (struct ndk_connector *)r->object;

	if (st != ND_SUCCESS || __atomic_load_n(&c->ending, __ATOMIC_RELAXED)) /* R-DISC-05 */
		return;
	ndk_callback_enter();
	c->event(c->event_context);
	ndk_callback_leave();
}

/* A request has made the connection: its event is asked for before the consumer is told, who may
 * close the connector, and comes behind that. */
static void
connector_made(struct ndk_connector *c, NDK_FN_DISCONNECT_EVENT_CALLBACK event, PVOID context)
{
	if (event == NULL)
		return;
	c->event = event;
	c->event_context = context;
	ndk_request_follow(&c->notify, c, notify_begin, notify_end);
}

/* ---- connect ---------------------------------------------------------------------------- */

struct connect_request {
	struct ndk_request request;
	struct ndk_address source, dest;
	struct nd_endpoint *endpoint; /* instead of source, or NULL */
	struct offer offer;
};

static bool
source_is_same(const struct ndk_connector *c, const struct connect_request *r)
{
	return r->endpoint != NULL
		       ? c->endpoint == r->endpoint
		       : c->endpoint == NULL && c->source.bytes == r->source.bytes &&
				 memcmp(&c->source.at, &r->source.at, r->source.bytes) == 0;
}

/* An attempt that failed leaves the connector bound. */
static nd_status
connector_bind(struct ndk_connector *c, const struct connect_request *r)
{
	nd_status st;

	if (c->bound)
		return source_is_same(c, r) ? ND_SUCCESS : ND_ADDRESS_ALREADY_ASSOCIATED;
	if (r->endpoint != NULL)
		st = nd_connector_bind_shared(c->object.nd, r->endpoint);
	else
		st = nd_connector_bind(c->object.nd, ndk_address_of(&r->source), r->source.bytes);
	/* Not by an attempt of its own: it came with a request, and connect says what it is. */
	if (st == ND_ADDRESS_ALREADY_ASSOCIATED)
		return ND_SUCCESS;
	if (st == ND_SUCCESS) {
		c->bound = true;
		c->source = r->source;
		c->endpoint = r->endpoint;
	}
	return st;
}

static nd_status
connect_begin(struct ndk_request *r)
{
	const struct connect_request *c = (struct connect_request *)r;
	nd_status st = connector_bind((struct ndk_connector *)r->object, c);

	return st != ND_SUCCESS
		       ? st
		       : nd_connector_connect(r->object->nd, c->offer.qp, ndk_address_of(&c->dest),
				 c->dest.bytes, c->offer.inbound, c->offer.outbound, c->offer.data,
				 c->offer.data_bytes, &r->ov);
}

/* All but where it connects from. */
static NTSTATUS
connect_new(NDK_CONNECTOR *self, const struct offer *offer, CONST SOCKADDR *dest, ULONG dest_bytes,
	NDK_FN_REQUEST_COMPLETION completion, PVOID context, struct connect_request **out)
{
	struct connect_request *r;

	if (completion == NULL)
		return STATUS_INVALID_PARAMETER;
	r = ndk_request_new(self, sizeof(*r), connect_begin, completion, context);
	if (r == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	if (!ndk_address_keep(&r->dest, dest, dest_bytes)) {
		free(r);
		return STATUS_INVALID_ADDRESS;
	}
	r->offer = *offer;
	*out = r;
	return STATUS_SUCCESS;
}

NTSTATUS
ndk_connect(NDK_CONNECTOR *self, NDK_QP *qp, CONST SOCKADDR *source, ULONG source_bytes,
	CONST SOCKADDR *dest, ULONG dest_bytes, ULONG inbound, ULONG outbound, CONST VOID *data,
	ULONG data_bytes, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
	struct offer offer = {.inbound = inbound, .outbound = outbound};
	struct ndk_address from;
	struct connect_request *r;
	NTSTATUS st = offer_make(&offer, self, qp, data, data_bytes);

	if (st == STATUS_SUCCESS && !ndk_address_keep(&from, source, source_bytes))
		st = STATUS_INVALID_ADDRESS;
	if (st == STATUS_SUCCESS)
		st = connect_new(self, &offer, dest, dest_bytes, completion, context, &r);
	if (st != STATUS_SUCCESS)
		return st;
	r->source = from;
	return ndk_request_start(&r->request);
}

NTSTATUS
ndk_connect_with_shared_endpoint(NDK_CONNECTOR *self, NDK_QP *qp, NDK_SHARED_ENDPOINT *endpoint,
	CONST SOCKADDR *dest, ULONG dest_bytes, ULONG inbound, ULONG outbound, CONST VOID *data,
	ULONG data_bytes, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
	const struct ndk_object *e = ndk_object_of(
		endpoint, NdkObjectTypeSharedEndpoint, ((struct ndk_object *)self)->adapter);
	struct offer offer = {.inbound = inbound, .outbound = outbound};
	struct connect_request *r;
	NTSTATUS st = offer_make(&offer, self, qp, data, data_bytes);

	if (e == NULL)
		return STATUS_INVALID_PARAMETER;
	if (st == STATUS_SUCCESS)
		st = connect_new(self, &offer, dest, dest_bytes, completion, context, &r);
	if (st != STATUS_SUCCESS)
		return st;
	r->endpoint = e->nd;
	return ndk_request_start(&r->request);
}

/* ---- complete, accept ------------------------------------------------------------------- */

struct answer_request {
	struct ndk_request request;
	NDK_FN_DISCONNECT_EVENT_CALLBACK event;
	PVOID event_context;
	struct offer offer; /* of accept */
};

static void
answer_end(struct ndk_request *r, nd_status st)
{
	const struct answer_request *a = (struct answer_request *)r;

	if (st == ND_SUCCESS)
		connector_made((struct ndk_connector *)r->object, a->event, a->event_context);
	ndk_request_tell(r, ndk_status(st));
}

static struct answer_request *
answer_new(NDK_CONNECTOR *self, ndk_begin begin, NDK_FN_DISCONNECT_EVENT_CALLBACK event,
	PVOID event_context, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
	struct answer_request *r = ndk_request_new(self, sizeof(*r), begin, completion, context);

	if (r == NULL)
		return NULL;
	r->request.end = answer_end;
	r->event = event;
	r->event_context = event_context;
	return r;
}

static nd_status
complete_begin(struct ndk_request *r)
{
	return nd_connector_complete_connect(r->object->nd, &r->ov);
}

NTSTATUS
ndk_complete_connect(NDK_CONNECTOR *self, NDK_FN_DISCONNECT_EVENT_CALLBACK event,
	PVOID event_context, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
	struct answer_request *r;

	if (completion == NULL)
		return STATUS_INVALID_PARAMETER;
	r = answer_new(self, complete_begin, event, event_context, completion, context);
	return r != NULL ? ndk_request_start(&r->request) : STATUS_INSUFFICIENT_RESOURCES;
}

static nd_status
accept_begin(struct ndk_request *r)
{
	const struct offer *o = &((struct answer_request *)r)->offer;

	return nd_connector_accept(
		r->object->nd, o->qp, o->inbound, o->outbound, o->data, o->data_bytes, &r->ov);
}

NTSTATUS
ndk_accept(NDK_CONNECTOR *self, NDK_QP *qp, ULONG inbound, ULONG outbound, CONST VOID *data,
	ULONG data_bytes, NDK_FN_DISCONNECT_EVENT_CALLBACK event, PVOID event_context,
	NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
	struct offer offer = {.inbound = inbound, .outbound = outbound};
	struct answer_request *r;
	NTSTATUS st = offer_make(&offer, self, qp, data, data_bytes);

	if (st != STATUS_SUCCESS)
		return st;
	if (completion == NULL)
		return STATUS_INVALID_PARAMETER;
	r = answer_new(self, accept_begin, event, event_context, completion, context);
	if (r == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	r->offer = offer;
	return ndk_request_start(&r->request);
}

/* ---- disconnect ------------------------------------------------------------------------- */

static nd_status
disconnect_begin(struct ndk_request *r)
{
	return nd_connector_disconnect(r->object->nd, &r->ov);
}

static void
disconnect_end(struct ndk_request *r, nd_status st)
{
	ndk_request_tell(r, ndk_status_of_disconnect(st));
}

NTSTATUS
ndk_disconnect(NDK_CONNECTOR *self, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
	struct ndk_request *r;

	if (completion == NULL)
		return STATUS_INVALID_PARAMETER;
	r = ndk_request_new(self, sizeof(*r), disconnect_begin, completion, context);
	if (r == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	r->end = disconnect_end;
	ndk_connector_ends(self);
	return ndk_request_start(r);
}
