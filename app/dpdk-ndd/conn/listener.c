/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners of connections, and of datagram services. */
#include <stdlib.h>
#include <string.h>

#include "cm/sidr.h"
#include "conn/listener.h"
#include "control/daemon.h"
#include "hostnet/address.h"
#include "platform/clock.h"
#include "session/class.h"
#include "session/session.h"

static enum ndsh_status
listener_start(struct ndd *d, struct ndd_listener *l, uint32_t nic, const struct roce_cm_addr *addr,
	uint32_t backlog, bool datagrams)
{
	enum ndsh_status status = ndd_port_take(datagrams ? &d->ud_ports : &d->ports,
		&l->session->account, &l->port, NDD_PORT_LISTENER, nic, addr);

	if (status != NDSH_OK)
		return status;
	l->cm = (datagrams ? roce_cm_sidr_listen : roce_cm_listen)(
		d->cm, &l->port.addr, nic, backlog, l, NULL);
	if (l->cm == NULL) {
		ndd_port_give(&l->port);
		return NDSH_ERR_NO_RESOURCES;
	}
	roce_cm_listener_of(l->cm, l->session->account.principal->number);
	return NDSH_OK;
}

static enum ndsh_status
listener_create_kind(struct ndd_session *s, const struct ndsh_listener_create *m,
	struct ndd_reply *r, bool datagrams)
{
	static const uint8_t any[16], any4[16] = {[10] = 0xff, [11] = 0xff};
	struct roce_cm_addr addr = {.port = m->addr.port};
	struct ndd_listener *l;
	enum ndsh_status status;
	struct net_ip ip = ndd_ip(m->addr.ip);
	int nic;

	if (memcmp(ip.b, any4, 16) == 0)
		memset(ip.b, 0, 16);
	/* Any address is any of its own. */
	if (memcmp(ip.b, any, 16) == 0 && ndd_account_has_addresses(&s->account))
		ip = ndd_ip(s->ip);
	if (memcmp(ip.b, any, 16) != 0 && !ndd_account_may_use_address(&s->account, ip.b))
		return NDSH_ERR_ADDRESS_NOT_LOCAL;
	nic = memcmp(ip.b, any, 16) == 0 ? (int)s->port : net_local_port(s->daemon->net, &ip);
	if (nic < 0)
		return NDSH_ERR_ADDRESS_NOT_LOCAL;
	l = calloc(1, sizeof(*l));
	if (l == NULL)
		return NDSH_ERR_NO_RESOURCES;
	l->session = s;
	memcpy(addr.gid.raw, ip.b, 16);
	l->id = ndd_slots_add(&s->listeners, l);
	if (l->id == NDD_SLOT_NONE) {
		free(l);
		return NDSH_ERR_NO_RESOURCES;
	}
	status = listener_start(s->daemon, l, (uint32_t)nic, &addr, m->backlog, datagrams);
	if (status != NDSH_OK) {
		ndd_slots_remove(&s->listeners, l->id);
		free(l);
		return status;
	}
	r->listener.listener = l->id;
	r->listener.addr.port = l->port.addr.port;
	memcpy(r->listener.addr.ip, ip.b, 16);
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

enum ndsh_status
ndd_listener_pause(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_listener_pause *m = msg;
	struct ndd_listener *l = ndd_slots_get(&s->listeners, m->listener);

	if (l == NULL)
		return NDSH_ERR_INVALID_ID;
	r->id.id = l->id;
	roce_cm_listener_pause(l->cm, m->pause != 0);
	return NDSH_OK;
}

static void
listener_free(struct ndd_session *s, void *object)
{
	struct ndd_listener *l = object;

	roce_cm_unlisten(s->daemon->cm, ndd_now_ns(), l->cm);
	ndd_port_give(&l->port);
	ndd_slots_remove(&s->listeners, l->id);
	free(l);
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
