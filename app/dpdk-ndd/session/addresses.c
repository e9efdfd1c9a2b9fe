/* SPDX-License-Identifier: BSD-3-Clause */
/* What clients may know of the network before they open an adapter: addresses and routes. */
#include <string.h>

#include "control/daemon.h"
#include "hostnet/address.h"
#include "hostnet/kernel_port.h"
#include "session/addresses.h"
#include "session/session.h"

static void
address_put(struct ndsh_addr *to, const struct net_ip *ip, uint32_t port)
{
	memcpy(to->ip, ip->b, 16);
	if (net_ip_is_link_local(ip))
		to->scope_id = port + 1;
}

/* Of those that the client's principal may use, from the first-th on. */
static enum ndsh_status
addresses_from(const struct ndd_session *s, uint32_t first, struct ndsh_address_list_reply *r)
{
	struct net_ip ip;
	uint8_t prefix_len;
	uint32_t port, at = 0;

	for (uint32_t i = 0; r->count < NDSH_ADDRESS_LIST_MAX && i < NET_ADDRESSES_MAX &&
			     net_address_get(s->daemon->net, i, &ip, &prefix_len, &port);
		i++)
		if (ndd_account_owns_address(&s->account, ip.b) && at++ >= first)
			address_put(&r->addr[r->count++], &ip, port);
	return NDSH_OK;
}

enum ndsh_status
ndd_address_list(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	(void)msg;
	return addresses_from(s, 0, &r->address_list);
}

enum ndsh_status
ndd_address_page(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	return addresses_from(s, ((const struct ndsh_address_page *)msg)->first, &r->address_list);
}

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
