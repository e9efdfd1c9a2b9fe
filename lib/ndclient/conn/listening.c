/* SPDX-License-Identifier: BSD-3-Clause */
/* What listeners of connections and of datagram services have in common: they take an address and a
 * port of the daemon's, once. */
#include <string.h>

#include "ndclient/conn/listening.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/address.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"

/* In the control thread, so that the first request finds the listener. */
static nd_status
listen_hook(void *arg, nd_status st, const void *reply)
{
	const struct ndsh_listener_create_reply *r = reply;
	struct nd_listening *l = arg;

	l->busy = false;
	if (st != ND_SUCCESS)
		return st;
	l->on = true;
	l->id = r->listener;
	l->local.port = r->addr.port;
	return st;
}

nd_status
nd_listening_start(struct nd_adapter *a, struct nd_listening *l, enum ndsh_msg_type type,
	const struct sockaddr *addr, socklen_t bytes, uint32_t backlog)
{
	struct ndsh_listener_create m = {.h.type = (uint16_t)type, .backlog = backlog};
	bool busy;

	if (!nd_address_from(&m.addr, addr, bytes))
		return nd_fail(ND_INVALID_ADDRESS, "not an IPv4 or IPv6 address");
	pthread_mutex_lock(&a->lock);
	busy = l->busy || l->on;
	if (!busy) {
		l->busy = true;
		l->local = m.addr;
	}
	pthread_mutex_unlock(&a->lock);
	if (busy)
		return nd_fail(ND_INVALID_DEVICE_STATE, "it listens already"); /* R-LSN-01 */
	if (nd_address_is_any(&m.addr)) /* the ABI has one wildcard for both families */
		memset(m.addr.ip, 0, sizeof(m.addr.ip));
	return nd_control_call(a, &(struct nd_request){.h = &m.h, .hook = listen_hook, .arg = l});
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
