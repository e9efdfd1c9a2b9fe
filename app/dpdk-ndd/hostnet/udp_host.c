/* SPDX-License-Identifier: BSD-3-Clause */
#include "hostnet/udp_host.h"

#include <string.h>

#include "control/daemon.h"
#include "hostnet/address.h"
#include "hostnet/rtnl.h"
#include "platform/log.h"

#define INTERFACES_MAX 64u
#define MTU_MAX	       9000u

/* Link-local addresses are of an interface each, which a socket would have to be told. */
bool
ndd_udp_takes(const struct ndd *d, uint32_t port, const struct net_ip *ip)
{
	const struct config_link *c = &d->cfg->port[port].untagged;

	for (uint32_t i = 0; i < c->addresses; i++)
		if (memcmp(c->address[i].ip, ip->b, 16) == 0)
			return true;
	return c->addresses == 0 && !net_ip_is_link_local(ip);
}

void
ndd_udp_add_listed(struct ndd *d, uint32_t port)
{
	const struct config_link *c = &d->cfg->port[port].untagged;
	const int link = net_link_find(d->net, port, 0);
	const char *why;

	for (uint32_t i = 0; i < c->addresses; i++) {
		const struct net_ip ip = ndd_ip(c->address[i].ip);

		if (net_ip_is_loopback(&ip) && !net_address_add(d->net, (uint32_t)link, &ip,
						       c->address[i].prefix_len, &why))
			ndd_error("ports[%u].addresses[%u]: %s", port, i, why);
	}
}

bool
ndd_udp_source(
	const struct ndd *d, struct ndd_rtnl *r, const struct net_ip *ip, struct net_ip *source)
{
	struct net_ip hop;
	uint8_t prefix_len;
	uint32_t port;

	for (unsigned i = 0; net_address_get(d->net, i, source, &prefix_len, &port); i++)
		if (d->cfg->port[port].udp && net_ip_is_v4(source) == net_ip_is_v4(ip) &&
			net_ip_is_loopback(source) == net_ip_is_loopback(ip) &&
			ndd_rtnl_route(r, 0, source, ip, &hop))
			return true;
	return false;
}

/* ---- MTU ---- */

/* Interfaces that have addresses of the port. */
struct interfaces {
	const struct ndd *d;
	uint32_t port, n, mtu;
	int interface[INTERFACES_MAX];
};

static void
interface_add(void *arg, const struct ndd_rtnl_address *a)
{
	struct interfaces *s = arg;

	if (!a->usable || net_ip_is_loopback(&a->ip) || !ndd_udp_takes(s->d, s->port, &a->ip))
		return;
	for (uint32_t i = 0; i < s->n; i++)
		if (s->interface[i] == a->interface)
			return;
	if (s->n < INTERFACES_MAX)
		s->interface[s->n++] = a->interface;
}

static void
interface_mtu(void *arg, const struct ndd_rtnl_link *l)
{
	struct interfaces *s = arg;

	if (!l->gone && l->mtu != 0 && l->mtu < s->mtu)
		s->mtu = l->mtu;
}

/* The smallest: a path is chosen by the port. Loopback takes more than any. */
uint32_t
ndd_udp_mtu(const struct ndd *d, struct ndd_rtnl *r, uint32_t port)
{
	struct interfaces s = {.d = d, .port = port, .mtu = MTU_MAX};
	const struct ndd_rtnl_callbacks addresses = {.address = interface_add, .arg = &s},
					links = {.link = interface_mtu, .arg = &s};

	if (d->cfg->port[port].has_mtu)
		return d->cfg->port[port].mtu;
	(void)ndd_rtnl_addresses(r, &addresses);
	for (uint32_t i = 0; i < s.n; i++)
		(void)ndd_rtnl_link(r, s.interface[i], &links);
	return s.mtu;
}
