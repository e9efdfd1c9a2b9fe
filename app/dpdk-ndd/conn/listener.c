/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners of connections, and of datagram services. */
#include <stdlib.h>
#include <string.h>

#include "cm/sidr.h"
#include "conn/endpoint.h"
#include "conn/listener.h"
#include "control/daemon.h"
#include "hostnet/address.h"
#include "platform/clock.h"
#include "session/class.h"
#include "session/session.h"

/* The port that has the address; -1: none, or not for this client. Any address is all of the
 * client's own port, unless its principal has some of them only. */
static int
listener_address(struct ndd_session *s, const struct ndsh_addr *from, struct roce_cm_addr *to)
{
	static const uint8_t any[16], any4[16] = {[10] = 0xff, [11] = 0xff};
	struct net_ip ip = ndd_ip(from->ip);

	if (memcmp(ip.b, any4, 16) == 0)
		memset(ip.b, 0, 16);
	if (memcmp(ip.b, any, 16) == 0 && ndd_account_has_addresses(&s->account))
		ip = ndd_ip(s->ip);
	memcpy(to->gid.raw, ip.b, 16);
	to->port = from->port;
	if (memcmp(ip.b, any, 16) == 0)
		return (int)s->port;
	if (!ndd_account_may_use_address(&s->account, ip.b))
		return -1;
	return net_local_port(s->daemon->net, &ip);
}

/* From here on it has its port, whether or not it ever listens. */
static enum ndsh_status
listener_bind(struct ndd_session *s, const struct ndsh_addr *from, bool datagrams,
	struct ndd_listener **out)
{
	struct ndd_ports *ports = datagrams ? &s->daemon->ud_ports : &s->daemon->ports;
	struct roce_cm_addr addr;
	struct ndd_listener *l;
	enum ndsh_status status;
	const int nic = listener_address(s, from, &addr);

	if (nic < 0)
		return NDSH_ERR_ADDRESS_NOT_LOCAL;
	l = calloc(1, sizeof(*l));
	if (l == NULL)
		return NDSH_ERR_NO_RESOURCES;
	l->session = s;
	l->datagrams = datagrams;
	l->id = ndd_slots_add(&s->listeners, l);
	if (l->id == NDD_SLOT_NONE) {
		free(l);
		return NDSH_ERR_NO_RESOURCES;
	}
	status = ndd_port_take(
		ports, &s->account, &l->port, NDD_PORT_LISTENER, (uint32_t)nic, &addr);
	if (status != NDSH_OK) {
		ndd_slots_remove(&s->listeners, l->id);
		free(l);
		return status;
	}
	*out = l;
	return NDSH_OK;
}

static enum ndsh_status
listener_listen(struct ndd_listener *l, uint32_t backlog)
{
	l->cm = (l->datagrams ? roce_cm_sidr_listen : roce_cm_listen)(
		l->session->daemon->cm, &l->port.addr, l->port.nic, backlog, l, NULL);
	if (l->cm == NULL)
		return NDSH_ERR_NO_RESOURCES;
	roce_cm_listener_of(l->cm, l->session->account.principal->number);
	return NDSH_OK;
}

static void
listener_free(struct ndd_session *s, void *object)
{
	struct ndd_listener *l = object;

	if (l->cm != NULL)
		roce_cm_unlisten(s->daemon->cm, ndd_now_ns(), l->cm);
	ndd_port_give(&l->port);
	ndd_slots_remove(&s->listeners, l->id);
	free(l);
}

static enum ndsh_status
listener_create_kind(struct ndd_session *s, const struct ndsh_listener_create *m,
	struct ndd_reply *r, bool datagrams)
{
	struct ndd_listener *l;
	enum ndsh_status status;

	status = listener_bind(s, &m->addr, datagrams, &l);
	if (status != NDSH_OK)
		return status;
	status = listener_listen(l, m->backlog);
	if (status != NDSH_OK) {
		listener_free(s, l);
		return status;
	}
	r->listener.listener = l->id;
	r->listener.addr.port = l->port.addr.port;
	memcpy(r->listener.addr.ip, l->port.addr.gid.raw, 16);
	return NDSH_OK;
}

static enum ndsh_status
listener_create(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	return listener_create_kind(s, msg, r, false);
}

enum ndsh_status
ndd_ud_listener_create(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	return listener_create_kind(s, msg, r, true);
}

static enum ndsh_status
listener_bind_kind(
	struct ndd_session *s, const struct ndsh_bind *m, struct ndd_reply *r, bool datagrams)
{
	struct ndd_listener *l;
	enum ndsh_status status = listener_bind(s, &m->addr, datagrams, &l);

	if (status != NDSH_OK)
		return status;
	r->bind.id = l->id;
	ndd_bind_reply_fill(&r->bind, &l->port.addr);
	return NDSH_OK;
}

enum ndsh_status
ndd_listener_bind(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	return listener_bind_kind(s, msg, r, false);
}

enum ndsh_status
ndd_cm_ud_bind(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	return listener_bind_kind(s, msg, r, true);
}

bool
ndd_listener_is_source(const struct ndd_listener *l)
{
	static const struct roce_gid any;

	return l->cm == NULL && !roce_gid_equal(&l->port.addr.gid, &any);
}

/* ND's requests for datagram services are UD_LISTENER_CREATE's alone. */
static enum ndsh_status
listen_bound(struct ndd_session *s, const struct ndsh_listener_listen *m, bool by_numbers,
	struct ndd_reply *r)
{
	struct ndd_listener *l = ndd_slots_get(&s->listeners, m->listener);

	if (l == NULL)
		return NDSH_ERR_INVALID_ID;
	r->id.id = l->id;
	if (l->cm != NULL)
		return NDSH_ERR_INVALID_STATE;
	if (l->datagrams && !by_numbers)
		return NDSH_ERR_INVALID_REQUEST;
	l->by_numbers = by_numbers;
	return listener_listen(l, m->backlog);
}

enum ndsh_status
ndd_listener_listen(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	return listen_bound(s, msg, false, r);
}

enum ndsh_status
ndd_cm_listen(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	return listen_bound(s, msg, true, r);
}

enum ndsh_status
ndd_listener_pause(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_listener_pause *m = msg;
	struct ndd_listener *l = ndd_slots_get(&s->listeners, m->listener);

	if (l == NULL)
		return NDSH_ERR_INVALID_ID;
	r->id.id = l->id;
	if (l->cm == NULL)
		return NDSH_ERR_INVALID_STATE;
	roce_cm_listener_pause(l->cm, m->pause != 0);
	return NDSH_OK;
}

static uint32_t
listeners_most(const struct config *cfg)
{
	return cfg->max_qps;
}

const struct ndd_class ndd_listener_class = {
	.name = "listeners",
	.table = offsetof(struct ndd_session, listeners),
	.share = CONFIG_SHARE_listeners,
	.most = listeners_most,
	.create = listener_create,
	.free = listener_free,
};
