/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "conn/endpoint.h"
#include "control/daemon.h"
#include "hostnet/address.h"
#include "session/class.h"
#include "session/session.h"

static bool
is_unspecified(const uint8_t ip[16])
{
	static const uint8_t zero[16], v4[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(ip, zero, 16) == 0 ||
	       (memcmp(ip, v4, 12) == 0 && memcmp(ip + 12, zero, 4) == 0);
}

int
ndd_local_address(struct ndd_session *s, const struct ndsh_addr *from, struct roce_cm_addr *to)
{
	const struct net_ip ip = ndd_ip(is_unspecified(from->ip) ? s->ip : from->ip);

	memcpy(to->gid.raw, ip.b, 16);
	to->port = from->port;
	if (!ndd_account_may_use_address(&s->account, ip.b))
		return -1;
	return net_local_port(s->daemon->net, &ip);
}

bool
ndd_is_destination(const struct ndsh_addr *addr)
{
	return !is_unspecified(addr->ip);
}

void
ndd_bind_reply_fill(struct ndsh_bind_reply *r, const struct roce_cm_addr *addr)
{
	memcpy(r->addr.ip, addr->gid.raw, 16);
	r->addr.port = addr->port;
}

static enum ndsh_status
endpoint_create(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_bind *m = msg;
	struct roce_cm_addr addr;
	struct ndd_endpoint *e;
	enum ndsh_status status;
	const int nic = ndd_local_address(s, &m->addr, &addr);

	if (nic < 0)
		return NDSH_ERR_ADDRESS_NOT_LOCAL;
	e = calloc(1, sizeof(*e));
	if (e == NULL)
		return NDSH_ERR_NO_RESOURCES;
	status = ndd_port_take(
		&s->daemon->ports, &s->account, &e->port, NDD_PORT_ENDPOINT, (uint32_t)nic, &addr);
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
	ndd_bind_reply_fill(&r->bind, &e->port.addr);
	return NDSH_OK;
}

/* Its connectors keep the port. */
static void
endpoint_free(struct ndd_session *s, void *object)
{
	struct ndd_endpoint *e = object;

	ndd_port_give(&e->port);
	ndd_slots_remove(&s->endpoints, e->id);
	free(e);
}

static uint32_t
endpoints_most(const struct config *cfg)
{
	return cfg->max_qps;
}

const struct ndd_class ndd_endpoint_class = {
	.name = "endpoints",
	.table = offsetof(struct ndd_session, endpoints),
	.share = CONFIG_SHARE_COUNT,
	.most = endpoints_most,
	.create = endpoint_create,
	.free = endpoint_free,
};
