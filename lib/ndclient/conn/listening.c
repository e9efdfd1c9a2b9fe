/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What listeners of connections and of datagram services have in common: they take an address and a
 * port of the daemon's, once, and listen there, at the same time or later.
 */
#include <string.h>

#include "ndclient/conn/listening.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/address.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"
#include "ndclient/session/object.h"

/* ---- calls that wait for the daemon ---- */

/* Bound or about to be: a second time is an error, whatever becomes of the first (R-LSN-01). */
static nd_status
listening_claim(struct nd_adapter *a, struct nd_listening *l, const struct ndsh_addr *at)
{
	nd_status st = ND_SUCCESS;

	pthread_mutex_lock(&a->lock);
	if (l->on)
		st = nd_fail(ND_INVALID_DEVICE_STATE, "it listens already");
	else if (l->busy || l->bound)
		st = nd_fail(ND_ADDRESS_ALREADY_ASSOCIATED, "it is bound already");
	if (st == ND_SUCCESS) {
		l->busy = true;
		l->local = *at;
	}
	pthread_mutex_unlock(&a->lock);
	return st;
}

/* The ABI has one wildcard for both families; the application's is kept in l->local. */
static void
address_for_daemon(struct ndsh_addr *at)
{
	if (nd_address_is_any(at))
		memset(at->ip, 0, sizeof(at->ip));
}

static void
set_bound(struct nd_listening *l, uint32_t id, uint16_t port)
{
	l->bound = true;
	l->id = id;
	l->local.port = port;
}

/* ---- bind ---- */

static nd_status
bind_hook(void *arg, nd_status st, const void *reply)
{
	const struct ndsh_bind_reply *r = reply;
	struct nd_listening *l = arg;

	l->busy = false;
	if (st == ND_SUCCESS)
		set_bound(l, r->id, r->addr.port);
	return st;
}

nd_status
nd_listening_bind(
	struct nd_adapter *a, struct nd_listening *l, const struct sockaddr *addr, socklen_t bytes)
{
	struct ndsh_bind m = {.h.type = NDSH_MSG_LISTENER_BIND};
	nd_status st;

	if (!nd_address_from(&m.addr, addr, bytes))
		return nd_fail(ND_INVALID_ADDRESS, "not an IPv4 or IPv6 address");
	if (a->abi_minor < NDSH_MINOR_LISTENER_BIND)
		return nd_fail(ND_NOT_SUPPORTED,
			"the daemon is too old to bind a listener before it listens");
	st = listening_claim(a, l, &m.addr);
	if (st == ND_INVALID_DEVICE_STATE)
		st = ND_ADDRESS_ALREADY_ASSOCIATED;
	if (st != ND_SUCCESS)
		return st;
	address_for_daemon(&m.addr);
	return nd_control_call(a, &(struct nd_request){.h = &m.h, .hook = bind_hook, .arg = l});
}

/* ---- listen ---- */

/* In the control thread, so that the first request finds the listener. */
static nd_status
listen_hook(void *arg, nd_status st, const void *reply)
{
	struct nd_listening *l = arg;

	(void)reply;
	l->busy = false;
	l->on = st == ND_SUCCESS;
	return st;
}

nd_status
nd_listening_listen(struct nd_adapter *a, struct nd_listening *l, uint32_t backlog)
{
	struct ndsh_listener_listen m = {.h.type = NDSH_MSG_LISTENER_LISTEN, .backlog = backlog};
	bool ready;

	pthread_mutex_lock(&a->lock);
	ready = l->bound && !l->on && !l->busy;
	if (ready)
		l->busy = true;
	m.listener = l->id;
	pthread_mutex_unlock(&a->lock);
	if (!ready)
		return nd_fail(ND_INVALID_DEVICE_STATE,
			"it is not bound, or it listens already"); /* R-LSN-01 */
	return nd_control_call(a, &(struct nd_request){.h = &m.h, .hook = listen_hook, .arg = l});
}

/* ---- both in one ---- */

static nd_status
start_hook(void *arg, nd_status st, const void *reply)
{
	const struct ndsh_listener_create_reply *r = reply;
	struct nd_listening *l = arg;

	if (st == ND_SUCCESS)
		set_bound(l, r->listener, r->addr.port);
	return listen_hook(arg, st, reply);
}

nd_status
nd_listening_start(struct nd_adapter *a, struct nd_listening *l, enum ndsh_msg_type type,
	const struct sockaddr *addr, socklen_t bytes, uint32_t backlog)
{
	struct ndsh_listener_create m = {.h.type = (uint16_t)type, .backlog = backlog};
	nd_status st;

	if (!nd_address_from(&m.addr, addr, bytes))
		return nd_fail(ND_INVALID_ADDRESS, "not an IPv4 or IPv6 address");
	st = listening_claim(a, l, &m.addr);
	if (st != ND_SUCCESS)
		return st;
	address_for_daemon(&m.addr);
	return nd_control_call(a, &(struct nd_request){.h = &m.h, .hook = start_hook, .arg = l});
}

void
nd_listening_stop(struct nd_adapter *a, const struct nd_listening *l)
{
	if (l->bound)
		(void)nd_object_forget(a, NDSH_MSG_LISTENER_DESTROY, l->id);
}

nd_status
nd_listening_address(
	struct nd_adapter *a, const struct nd_listening *l, struct sockaddr *addr, socklen_t *bytes)
{
	nd_status st = ND_INVALID_DEVICE_STATE;

	pthread_mutex_lock(&a->lock);
	if (l->on)
		st = nd_address_give(&l->local, addr, bytes);
	pthread_mutex_unlock(&a->lock);
	return st;
}
