/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses and ports of identifiers. A port is taken at once, from the device that has the
 * address; all of them at the wildcard address, which the daemon has for one device only.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ndclient/session/address.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/control.h"
#include "ndclient/ud/group.h"
#include "ndverbs/cm/cm.h"
#include "ndverbs/errors.h"

#define PORT_TRIES 16 /* one that is free at all devices */

/* ---- ports -------------------------------------------------------------------------------- */

static int
port_errno(nd_status st)
{
	switch (st) {
	case ND_SHARING_VIOLATION:
	case ND_ADDRESS_ALREADY_EXISTS:
		return EADDRINUSE;
	case ND_TOO_MANY_ADDRESSES:
	case ND_INVALID_ADDRESS:
		return EADDRNOTAVAIL;
	default:
		return ndv_errno(st);
	}
}

/* Each port space has numbers of its own. */
static int
ask_for_port(struct cm_port *p, const struct ndv_device *device, uint16_t *port)
{
	struct ndsh_bind m = {.h.type = NDSH_MSG_LISTENER_BIND};
	struct nd_adapter *a = p->session->adapter;
	struct ndsh_bind_reply reply;
	nd_status st;

	if (p->id->datagrams) {
		if (a->abi_minor < NDSH_MINOR_CM_SERVICES)
			return EOPNOTSUPP;
		m.h.type = NDSH_MSG_CM_UD_BIND;
	}
	(void)nd_address_from(
		&m.addr, (const struct sockaddr *)&device->address, sizeof(device->address));
	m.addr.port = *port;
	st = nd_control_call(a, &(struct nd_request){.h = &m.h, .reply = &reply});
	if (st != ND_SUCCESS)
		return port_errno(st);
	p->listener = reply.id;
	*port = reply.addr.port;
	return 0;
}

/* The device's address with that port; *port: which it is. */
static int
take_port(struct cm_id *id, struct ndv_device *device, uint16_t *port)
{
	struct cm_port *p;
	int err;

	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return ENOMEM;
	p->id = id;
	err = cm_session_get(device, &p->session);
	if (err == 0)
		err = ask_for_port(p, device, port);
	if (err != 0) {
		free(p);
		return err;
	}
	pthread_mutex_lock(&cm_lock);
	LIST_INSERT_HEAD(&id->ports, p, in_id);
	LIST_INSERT_HEAD(&p->session->ports, p, in_session);
	pthread_mutex_unlock(&cm_lock);
	return 0;
}

/* IPv6's wildcard is that of both families, if the program does not want one alone. */
static bool
is_wanted(const struct cm_id *id, const struct ndv_device *device)
{
	return device->address.ss_family == AF_INET ? id->v4_only || !id->family_only
						    : !id->v4_only;
}

/* The same port of each device; devices whose session can't be had are not there. Where there is
 * none of that family nothing is to be taken, as in the kernel: programs bind the wildcards of both
 * families, and want both to succeed. */
static int
take_everywhere(struct cm_id *id, uint16_t *port)
{
	bool others = false, wanted = false;
	int err = ENODEV;

	for (struct ndv_device *d = ndv_device_next(NULL); d != NULL; d = ndv_device_next(d)) {
		int e;

		if (!is_wanted(id, d)) {
			others = true;
			continue;
		}
		wanted = true;
		e = take_port(id, d, port);
		if (e == 0)
			err = 0;
		else if (e != ENODEV && e != EADDRNOTAVAIL)
			return e;
	}
	return others && !wanted && *port != 0 ? 0 : err;
}

static int
bind_everywhere(struct cm_id *id, uint16_t wanted)
{
	int err = EADDRINUSE;

	for (unsigned i = 0; i < PORT_TRIES && err == EADDRINUSE; i++) {
		uint16_t port = wanted;

		err = take_everywhere(id, &port);
		if (err == 0)
			id->local.port = port;
		else
			cm_id_release(id);
		if (wanted != 0)
			break;
	}
	return err;
}

static int
bind_device(struct cm_id *id, struct ndv_device *device, uint16_t port)
{
	int err = take_port(id, device, &port);

	if (err != 0)
		return err;
	(void)nd_address_from(
		&id->local, (const struct sockaddr *)&device->address, sizeof(device->address));
	id->local.port = port;
	id->device = device;
	id->any = false;
	return 0;
}

static struct ndv_device *
device_of(const struct ndsh_addr *at)
{
	struct sockaddr_storage address;

	(void)nd_address_to(&address, at);
	return ndv_device_at(&address);
}

static bool
is_loopback(const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 ==
		       IN_LOOPBACKNET;
	return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

/* As in the kernel, the loopback of the host stands for all devices. But where a device has such an
 * address, others of them are other hosts. */
static bool
is_wild(const struct ndsh_addr *at)
{
	const struct ndv_device *d = ndv_device_next(NULL);
	struct sockaddr_storage address;

	if (nd_address_is_any(at))
		return true;
	(void)nd_address_to(&address, at);
	if (!is_loopback(&address))
		return false;
	while (d != NULL && !is_loopback(&d->address))
		d = ndv_device_next(d);
	return d == NULL;
}

int
cm_bind(struct cm_id *id, const struct ndsh_addr *at)
{
	struct ndv_device *device;
	int err;

	if (cm_state(id) != CM_IDLE)
		return EINVAL;
	if (is_wild(at)) {
		id->any = true;
		id->v4_only = nd_address_is_v4(at);
		id->local = *at;
		err = bind_everywhere(id, at->port);
	} else {
		device = device_of(at);
		err = device != NULL ? bind_device(id, device, at->port) : EADDRNOTAVAIL;
	}
	if (err == 0)
		cm_set_state(id, CM_BOUND);
	return err;
}

/* ---- listen ------------------------------------------------------------------------------- */

static int
listen_at(const struct cm_port *p, uint32_t backlog)
{
	struct ndsh_listener_listen m = {
		.h.type = NDSH_MSG_CM_LISTEN, .listener = p->listener, .backlog = backlog};

	return ndv_errno(nd_control_call(p->session->adapter, &(struct nd_request){.h = &m.h}));
}

int
cm_listen(struct cm_id *id, int backlog)
{
	static const struct ndsh_addr any = {.ip = {[10] = 0xff, [11] = 0xff}};
	const struct cm_port *p;
	int err = 0;

	if (cm_state(id) == CM_IDLE)
		err = cm_bind(id, &any);
	if (err != 0)
		return err;
	if (cm_state(id) != CM_BOUND)
		return EINVAL;
	pthread_mutex_lock(&cm_lock);
	cm_set_state(id, CM_LISTENING); /* a request may come before the call returns */
	pthread_mutex_unlock(&cm_lock);
	LIST_FOREACH (p, &id->ports, in_id) {
		err = listen_at(p, backlog > 0 ? (uint32_t)backlog : 0);
		if (err != 0)
			break;
	}
	if (err != 0) { /* not at some devices, and not at others */
		cm_id_release(id);
		cm_set_state(id, CM_IDLE);
	}
	return err;
}

/* ---- resolve ------------------------------------------------------------------------------ */

/* One bound to all devices goes from the one that leads there. */
static int
bind_source(struct cm_id *id, const struct ndsh_addr *from)
{
	struct ndv_device *device = device_of(from);

	if (device == NULL)
		return EADDRNOTAVAIL;
	if (cm_state(id) != CM_IDLE)
		cm_id_release(id);
	return bind_device(id, device, cm_state(id) == CM_IDLE ? from->port : id->local.port);
}

static struct ndv_device *
first_of_family(int family)
{
	struct ndv_device *d = ndv_device_next(NULL);

	while (d != NULL && d->address.ss_family != family)
		d = ndv_device_next(d);
	return d;
}

/* Groups are on every link: where no route says which one is meant, it is the first device's. */
static int
find_source(const struct ndsh_addr *to, struct ndsh_addr *from)
{
	struct sockaddr_storage remote, local;
	const socklen_t bytes = nd_address_to(&remote, to);
	nd_status st = nd_resolve_address(NULL, (const struct sockaddr *)&remote, bytes, &local);
	const struct ndv_device *d = NULL;

	if (st == ND_NETWORK_UNREACHABLE && nd_is_group(to))
		d = first_of_family(remote.ss_family);
	if (d != NULL)
		local = d->address;
	else if (st != ND_SUCCESS)
		return ndv_errno(st);
	(void)nd_address_from(from, (const struct sockaddr *)&local, sizeof(local));
	return 0;
}

/* Where no host is named, this one is meant: the device that the identifier has, or the first one
 * of the family. */
static int
find_destination(const struct cm_id *id, const struct ndsh_addr *to, struct ndsh_addr *found)
{
	const struct ndv_device *d = id->device;

	*found = *to;
	if (!is_wild(to))
		return 0;
	if (d == NULL)
		d = first_of_family(nd_address_is_v4(to) ? AF_INET : AF_INET6);
	if (d == NULL)
		return ENODEV;
	(void)nd_address_from(found, (const struct sockaddr *)&d->address, sizeof(d->address));
	found->port = to->port;
	return 0;
}

/* What a source that is named can't be is said at once; that there is no way is an event. */
int
cm_resolve(struct cm_id *id, const struct ndsh_addr *from, const struct ndsh_addr *to)
{
	struct ndsh_addr source = {.port = 0}, remote;
	int err;

	if (cm_state(id) != CM_IDLE && cm_state(id) != CM_BOUND)
		return EINVAL;
	err = find_destination(id, to, &remote);
	if (err != 0)
		return err;
	if (from != NULL && cm_state(id) == CM_IDLE && !is_wild(from)) {
		err = bind_source(id, from);
		if (err != 0)
			return err;
	} else if (cm_state(id) == CM_IDLE || id->any) {
		err = find_source(&remote, &source);
		if (from != NULL)
			source.port = from->port;
		if (err == 0)
			err = bind_source(id, &source);
	}
	pthread_mutex_lock(&cm_lock);
	id->remote = remote;
	if (err == 0)
		cm_set_state(id, CM_ADDRESS);
	cm_event_raise(id, err == 0 ? CM_EV_ADDR_RESOLVED : CM_EV_ADDR_ERROR, -err, NULL);
	pthread_mutex_unlock(&cm_lock);
	return 0;
}
