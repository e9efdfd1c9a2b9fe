/* SPDX-License-Identifier: BSD-3-Clause */
/* What clients may know before they open an adapter: adapters, their addresses, and routes. */
#include <string.h>

#include "control/daemon.h"
#include "hostnet/address.h"
#include "hostnet/kernel_port.h"
#include "session/adapter.h"
#include "session/addresses.h"
#include "session/session.h"

static void
address_put(struct ndsh_addr *to, const struct net_ip *ip, uint32_t port)
{
	memcpy(to->ip, ip->b, 16);
	if (net_ip_is_link_local(ip))
		to->scope_id = port + 1;
}

/* Which addresses: those of one port, or of all (-1), that the client's principal may use. */
#define ALL_PORTS (-1)

/* The i-th of all; false: there are no more. *mine: it is one of those. */
static bool
address_at(const struct ndd_session *s, int of, uint32_t i, struct ndsh_addr *addr, bool *mine)
{
	struct net_ip ip;
	uint8_t prefix_len;
	uint32_t port;

	if (i >= NET_ADDRESSES_MAX || !net_address_get(s->daemon->net, i, &ip, &prefix_len, &port))
		return false;
	*addr = (struct ndsh_addr){0};
	address_put(addr, &ip, port);
	*mine = (of == ALL_PORTS || port == (uint32_t)of) &&
		ndd_account_owns_address(&s->account, ip.b);
	return true;
}

/* From the first-th on. */
static enum ndsh_status
addresses_from(
	const struct ndd_session *s, int of, uint32_t first, struct ndsh_address_list_reply *r)
{
	struct ndsh_addr addr;
	uint32_t at = 0;
	bool mine;

	for (uint32_t i = 0; r->count < NDSH_ADDRESS_LIST_MAX && address_at(s, of, i, &addr, &mine);
		i++)
		if (mine && at++ >= first)
			r->addr[r->count++] = addr;
	return NDSH_OK;
}

enum ndsh_status
ndd_address_list(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	(void)msg;
	return addresses_from(s, ALL_PORTS, 0, &r->address_list);
}

enum ndsh_status
ndd_address_page(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_address_page *m = msg;
	const bool own = m->own != 0;

	if (own && s->state != NDSH_ST_OPEN)
		return NDSH_ERR_INVALID_STATE;
	return addresses_from(s, own ? (int)s->port : ALL_PORTS, m->first, &r->address_list);
}

/* ---- adapters ------------------------------------------------------------------------------ */

static bool
first_address(const struct ndd_session *s, int port, struct ndsh_addr *addr)
{
	struct ndsh_addr one; /* those of others don't get into the reply, though that fails */
	bool mine = false;

	for (uint32_t i = 0; !mine && address_at(s, port, i, &one, &mine); i++)
		;
	if (mine)
		*addr = one;
	return mine;
}

/* Its port; -1: no adapter has that address. */
static int
adapter_of_address(struct ndd_session *s, const struct ndsh_addr *named, struct ndsh_addr *addr)
{
	const struct net_ip ip = ndd_ip(named->ip);
	int port;

	if (!ndd_account_may_use_address(&s->account, ip.b))
		return -1;
	port = net_local_port(s->daemon->net, &ip);
	if (port >= 0)
		address_put(addr, &ip, (uint32_t)port);
	return port;
}

enum ndsh_status
ndd_adapter_find(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_adapter *m = msg;
	const struct ndd *d = s->daemon;
	struct ndsh_addr *addr = &r->adapter.addr;
	int port;

	if (m->adapter_id > d->plane.ports)
		return NDSH_ERR_INVALID_ID;
	port = m->adapter_id != 0 ? (int)m->adapter_id - 1 : adapter_of_address(s, &m->addr, addr);
	if (port < 0 || (m->adapter_id != 0 && !first_address(s, port, addr)))
		return NDSH_ERR_ADDRESS_NOT_LOCAL;
	r->adapter.adapter_id = ndd_adapter_id((uint32_t)port);
	r->adapter.max_window_bytes = d->cfg->max_memory_bytes; /* it lies in a region */
	r->adapter.vendor_id = d->plane.port[port].ids.vendor;
	r->adapter.device_id = d->plane.port[port].ids.device;
	return NDSH_OK;
}

/* ---- routes -------------------------------------------------------------------------------- */

/* A link-local destination is on the link that its scope names, as address_put() writes it. */
enum ndsh_status
ndd_address_route(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_addr *to = &((const struct ndsh_route *)msg)->addr;
	const struct net *net = s->daemon->net;
	const struct net_ip dst = ndd_ip(to->ip);
	struct net_ip source;
	int link = -1;

	if (net_ip_is_link_local(&dst) && to->scope_id != 0) {
		link = net_link_find(net, to->scope_id - 1, 0);
		if (link < 0)
			return NDSH_ERR_NETWORK_UNREACHABLE;
	}
	if (!net_source(net, link, &dst, &source) &&
		!ndd_kernel_ports_source(s->daemon, &dst, &source))
		return NDSH_ERR_NETWORK_UNREACHABLE;
	if (!ndd_account_may_use_address(&s->account, source.b))
		return NDSH_ERR_NETWORK_UNREACHABLE;
	address_put(&r->route.addr, &source, (uint32_t)net_local_port(net, &source));
	return NDSH_OK;
}
