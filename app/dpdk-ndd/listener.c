/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners, and the CM ports (RDMA_PS_TCP) that nobody asked for by number. */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "conn.h"

#define EPHEMERAL_FIRST 49152u /* R-CONN-15 */
#define EPHEMERAL_COUNT 16384u

uint16_t
ndd_ephemeral_take(struct ndd *d)
{
	for (uint32_t i = 0; i < EPHEMERAL_COUNT; i++) {
		uint32_t n = d->ephemeral_next++ % EPHEMERAL_COUNT;
		uint64_t bit = 1ull << (n % 64);

		if (d->ephemeral[n / 64] & bit)
			continue;
		d->ephemeral[n / 64] |= bit;
		return (uint16_t)(EPHEMERAL_FIRST + n);
	}
	return 0;
}

void
ndd_ephemeral_give(struct ndd *d, uint16_t port)
{
	uint32_t n = port - EPHEMERAL_FIRST;

	d->ephemeral[n / 64] &= ~(1ull << (n % 64));
}

/* A port of the dynamic range may be taken by number too: then the next one is tried. */
static nd_status
listen_at(struct ndd *d, struct ndd_listener *l, uint32_t backlog)
{
	struct roce_cm_usage usage;

	if (l->addr.port != 0) {
		l->cm = roce_cm_listen(d->cm, &l->addr, backlog, l, NULL);
		roce_cm_usage(d->cm, &usage);
		if (l->cm == NULL)
			return usage.listeners < NDD_LISTENERS_MAX ? ND_SHARING_VIOLATION
								   : ND_INSUFFICIENT_RESOURCES;
		return ND_SUCCESS;
	}
	for (uint32_t i = 0; i < EPHEMERAL_COUNT; i++) {
		l->addr.port = ndd_ephemeral_take(d);
		if (l->addr.port == 0)
			break;
		l->cm = roce_cm_listen(d->cm, &l->addr, backlog, l, NULL);
		l->ephemeral = l->cm != NULL;
		if (l->ephemeral)
			return ND_SUCCESS;
		ndd_ephemeral_give(d, l->addr.port);
	}
	return ND_TOO_MANY_ADDRESSES;
}

nd_status
ndd_listener_create(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_listener_create *m = msg;
	static const uint8_t any[16], any4[16] = {[10] = 0xff, [11] = 0xff};
	struct ndd_listener *l;
	nd_status status;
	struct net_ip ip;

	memcpy(ip.b, m->addr.ip, 16);
	if (memcmp(ip.b, any4, 16) == 0)
		memset(ip.b, 0, 16);
	if (memcmp(ip.b, any, 16) != 0 && net_local_port(s->daemon->net, &ip) < 0)
		return ND_INVALID_ADDRESS;
	l = calloc(1, sizeof(*l));
	if (l == NULL)
		return ND_INSUFFICIENT_RESOURCES;
	l->session = s;
	l->addr.port = m->addr.port;
	memcpy(l->addr.gid.raw, ip.b, 16);
	l->id = ndd_slots_add(&s->listeners, l);
	if (l->id == NDD_SLOT_NONE) {
		free(l);
		return ND_INSUFFICIENT_RESOURCES;
	}
	status = listen_at(s->daemon, l, m->backlog);
	if (status != ND_SUCCESS) {
		ndd_slots_remove(&s->listeners, l->id);
		free(l);
		return status;
	}
	r->listener.listener = l->id;
	r->listener.addr.port = l->addr.port;
	memcpy(r->listener.addr.ip, l->addr.gid.raw, 16);
	return ND_SUCCESS;
}

void
ndd_listener_free(struct ndd_session *s, struct ndd_listener *l)
{
	roce_cm_unlisten(s->daemon->cm, ndd_now_ns(), l->cm);
	if (l->ephemeral)
		ndd_ephemeral_give(s->daemon, l->addr.port);
	ndd_slots_remove(&s->listeners, l->id);
	free(l);
}

nd_status
ndd_listener_destroy(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	struct ndd_listener *l =
		ndd_slots_get(&s->listeners, ((const struct ndsh_id_msg *)msg)->id);

	(void)r;
	if (l == NULL)
		return ND_INVALID_HANDLE;
	ndd_listener_free(s, l);
	return ND_SUCCESS;
}
