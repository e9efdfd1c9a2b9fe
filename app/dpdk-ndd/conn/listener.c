/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners. */
#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "conn/conn.h"
#include "cm/sidr.h"

static enum ndsh_status
listen_at(struct ndd *d, struct ndd_listener *l, const struct roce_cm_addr *addr, uint32_t backlog,
	bool datagrams)
{
	enum ndsh_status status = ndd_port_take(
		datagrams ? &d->ud_ports : &d->ports, &l->port, NDD_PORT_LISTENER, addr);

	if (status != NDSH_OK)
		return status;
	l->cm = (datagrams ? roce_cm_sidr_listen : roce_cm_listen)(
		d->cm, &l->port.addr, backlog, l, NULL);
	if (l->cm != NULL)
		return NDSH_OK;
	ndd_port_give(&l->port);
	return NDSH_ERR_NO_RESOURCES;
}

static enum ndsh_status
listener_create(struct ndd_session *s, const struct ndsh_listener_create *m, struct ndd_reply *r,
	bool datagrams)
{
	static const uint8_t any[16], any4[16] = {[10] = 0xff, [11] = 0xff};
	struct roce_cm_addr addr = {.port = m->addr.port};
	struct ndd_listener *l;
	enum ndsh_status status;
	struct net_ip ip = ndd_ip(m->addr.ip);

	if (memcmp(ip.b, any4, 16) == 0)
		memset(ip.b, 0, 16);
	if (memcmp(ip.b, any, 16) != 0 && net_local_port(s->daemon->net, &ip) < 0)
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
	status = listen_at(s->daemon, l, &addr, m->backlog, datagrams);
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

enum ndsh_status
ndd_listener_create(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	return listener_create(s, msg, r, false);
}

enum ndsh_status
ndd_ud_listener_create(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	return listener_create(s, msg, r, true);
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

void
ndd_listener_free(struct ndd_session *s, struct ndd_listener *l)
{
	roce_cm_unlisten(s->daemon->cm, ndd_now_ns(), l->cm);
	ndd_port_give(&l->port);
	ndd_slots_remove(&s->listeners, l->id);
	free(l);
}

enum ndsh_status
ndd_listener_destroy(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	struct ndd_listener *l =
		ndd_slots_get(&s->listeners, ((const struct ndsh_id_msg *)msg)->id);

	(void)r;
	if (l == NULL)
		return NDSH_ERR_INVALID_ID;
	ndd_listener_free(s, l);
	return NDSH_OK;
}
