/* SPDX-License-Identifier: BSD-3-Clause */
/* Local addresses that connectors share (R-LSN-07). */
#include <stdlib.h>
#include <string.h>

#include "conn/conn.h"

static bool
is_unspecified(const uint8_t ip[16])
{
	static const uint8_t zero[16], v4[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(ip, zero, 16) == 0 ||
	       (memcmp(ip, v4, 12) == 0 && memcmp(ip + 12, zero, 4) == 0);
}

bool
ndd_local_address(
	const struct ndd_session *s, const struct ndsh_addr *from, struct roce_cm_addr *to)
{
	const struct net_ip ip = ndd_ip(is_unspecified(from->ip) ? s->ip : from->ip);

	memcpy(to->gid.raw, ip.b, 16);
	to->port = from->port;
	return net_local_port(s->daemon->net, &ip) >= 0;
}

bool
ndd_is_destination(const struct ndsh_addr *addr)
{
	return !is_unspecified(addr->ip);
}

void
ndd_local_told(const struct roce_cm_addr *addr, struct ndsh_bind_reply *r)
{
	memcpy(r->addr.ip, addr->gid.raw, 16);
	r->addr.port = addr->port;
}

enum ndsh_status
ndd_endpoint_create(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_bind *m = msg;
	struct roce_cm_addr addr;
	struct ndd_endpoint *e;
	enum ndsh_status status;

	if (!ndd_local_address(s, &m->addr, &addr))
		return NDSH_ERR_ADDRESS_NOT_LOCAL;
	e = calloc(1, sizeof(*e));
	if (e == NULL)
		return NDSH_ERR_NO_RESOURCES;
	status = ndd_port_take(&s->daemon->ports, &e->port, NDD_PORT_ENDPOINT, &addr);
	if (status == NDSH_OK) {
		e->id = ndd_slots_add(&s->endpoints, e);
		if (e->id == NDD_SLOT_NONE) {
			ndd_port_give(&e->port);
			status = NDSH_ERR_NO_RESOURCES;
		}
	}
	if (status != NDSH_OK) {
		free(e);
		return status;
	}
	r->bind.id = e->id;
	ndd_local_told(&e->port.addr, &r->bind);
	return NDSH_OK;
}

/* Its connectors keep the port. */
void
ndd_endpoint_free(struct ndd_session *s, struct ndd_endpoint *e)
{
	ndd_port_give(&e->port);
	ndd_slots_remove(&s->endpoints, e->id);
	free(e);
}

enum ndsh_status
ndd_endpoint_destroy(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	struct ndd_endpoint *e =
		ndd_slots_get(&s->endpoints, ((const struct ndsh_id_msg *)msg)->id);

	(void)r;
	if (e == NULL)
		return NDSH_ERR_INVALID_ID;
	ndd_endpoint_free(s, e);
	return NDSH_OK;
}
