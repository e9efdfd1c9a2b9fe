/* SPDX-License-Identifier: BSD-3-Clause */
/* Local addresses of connectors: their own, or that of an endpoint which several share. */
#include <stdlib.h>
#include <string.h>

#include "ndclient/conn/connector.h"
#include "ndclient/conn/endpoint.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/address.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"
#include "ndclient/session/object.h"

/* An address of this adapter; the wildcard stands for it. */
static nd_status
local_of(struct nd_adapter *a, struct ndsh_addr *to, const struct sockaddr *from, socklen_t bytes)
{
	if (!nd_address_from(to, from, bytes))
		return nd_fail(ND_INVALID_ADDRESS, "not an IPv4 or IPv6 address");
	if (nd_address_is_any(to))
		memcpy(to->ip, a->address.ip, sizeof(to->ip));
	return ND_SUCCESS;
}

/* ---- of a connector alone ------------------------------------------------------------ */

static nd_status
bind_hook(void *arg, nd_status st, const void *reply)
{
	const struct ndsh_bind_reply *r = reply;
	struct nd_connector *c = arg;

	if (st == ND_SUCCESS) {
		nd_conn_set_id(c, r->id);
		c->local = r->addr;
	} else if (c->state == ND_CONN_BOUND) {
		c->bound = false;
		c->state = ND_CONN_IDLE;
	}
	return st;
}

nd_status
nd_connector_bind(struct nd_connector *c, const struct sockaddr *addr, socklen_t bytes)
{
	struct nd_adapter *a = c->adapter;
	struct ndsh_bind m = {.h.type = NDSH_MSG_BIND};
	nd_status st;
	bool stale;

	st = local_of(a, &m.addr, addr, bytes);
	if (st != ND_SUCCESS)
		return st;
	pthread_mutex_lock(&a->lock);
	if (c->state != ND_CONN_IDLE)
		st = ND_ADDRESS_ALREADY_ASSOCIATED;
	else if (a->abi_minor < NDSH_MINOR_BIND)
		st = nd_fail(ND_NOT_SUPPORTED, "the daemon is too old for nd_connector_bind()");
	stale = c->has_id;
	if (st == ND_SUCCESS) {
		c->local = m.addr;
		c->bound = true;
		c->state = ND_CONN_BOUND;
	}
	pthread_mutex_unlock(&a->lock);
	if (st != ND_SUCCESS)
		return st;
	if (stale) /* of an attempt that failed */
		nd_conn_drop_id(c);
	return nd_control_call(a, &(struct nd_request){.h = &m.h, .hook = bind_hook, .arg = c});
}

/* ---- shared -------------------------------------------------------------------------- */

nd_status
nd_endpoint_create(struct nd_adapter *a, const struct sockaddr *addr, socklen_t bytes,
	struct nd_endpoint **endpoint)
{
	struct ndsh_bind m = {.h.type = NDSH_MSG_ENDPOINT_CREATE};
	struct ndsh_bind_reply reply;
	struct nd_endpoint *e;
	nd_status st;

	if (a == NULL || endpoint == NULL)
		return ND_INVALID_PARAMETER;
	*endpoint = NULL;
	st = local_of(a, &m.addr, addr, bytes);
	if (st != ND_SUCCESS)
		return st;
	if (a->abi_minor < NDSH_MINOR_ENDPOINTS)
		return nd_fail(ND_NOT_SUPPORTED, "the daemon is too old for shared endpoints");
	e = calloc(1, sizeof(*e));
	if (e == NULL)
		return ND_NO_MEMORY;
	st = nd_control_call(a, &(struct nd_request){.h = &m.h, .reply = &reply});
	if (st != ND_SUCCESS) {
		free(e);
		return st;
	}
	e->id = reply.id;
	e->local = reply.addr;
	nd_object_open(&e->obj, &nd_endpoint_class, a);
	*endpoint = e;
	return ND_SUCCESS;
}

nd_status
nd_endpoint_local_address(const struct nd_endpoint *e, struct sockaddr *addr, socklen_t *bytes)
{
	return nd_address_give(&e->local, addr, bytes);
}

nd_status
nd_connector_bind_shared(struct nd_connector *c, struct nd_endpoint *e)
{
	struct nd_adapter *a = c->adapter;
	bool idle, stale;

	if (e == NULL || e->obj.adapter != a)
		return ND_INVALID_PARAMETER;
	pthread_mutex_lock(&a->lock);
	idle = c->state == ND_CONN_IDLE;
	stale = c->has_id;
	if (idle) {
		nd_object_rest(&c->obj, &e->obj);
		c->endpoint = e;
		c->local = e->local;
		c->bound = true;
		c->state = ND_CONN_BOUND;
	}
	pthread_mutex_unlock(&a->lock);
	if (!idle)
		return ND_ADDRESS_ALREADY_ASSOCIATED;
	if (stale) /* of an attempt that failed */
		nd_conn_drop_id(c);
	return ND_SUCCESS;
}

/* The last connector is closed: only now may others have the port (R-LSN-07). */
static void
endpoint_destroy(struct nd_object *o)
{
	struct nd_endpoint *e = (struct nd_endpoint *)o;

	(void)nd_object_forget(o->adapter, NDSH_MSG_ENDPOINT_DESTROY, e->id);
	free(e);
}

const struct nd_class nd_endpoint_class = {.destroy = endpoint_destroy};

nd_status
nd_endpoint_close(struct nd_endpoint *e)
{
	return nd_close(e, NULL);
}
