/* SPDX-License-Identifier: BSD-3-Clause */
#include "hostnet/udp_host.h"

#include <errno.h>
#include <string.h>

#include "cm/cm.h"
#include "control/daemon.h"
#include "hostnet/address.h"
#include "hostnet/rtnl.h"
#include "lcore/call.h"
#include "platform/clock.h"
#include "platform/log.h"
#include "udp/udp.h"
#include "wire/gsi.h"

#define MTU_MAX	    9000u
#define SOURCES_MAX 16u /* that are tried for one destination: a configuration lists no more */

bool
ndd_udp_takes(const struct ndd *d, uint32_t port, const struct net_ip *ip)
{
	const struct config_link *c = &d->cfg->port[port].untagged;

	for (uint32_t i = 0; i < c->addresses; i++)
		if (memcmp(c->address[i].ip, ip->b, 16) == 0)
			return true;
	return c->addresses == 0;
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
	uint32_t port, tried = 0;

	static_assert(SOURCES_MAX >= CONFIG_ADDRESSES_MAX, "of a port, of which there is one");
	for (unsigned i = 0; net_address_get(d->net, i, source, &prefix_len, &port); i++) {
		if (!d->cfg->port[port].udp || net_ip_is_v4(source) != net_ip_is_v4(ip) ||
			net_ip_is_loopback(source) != net_ip_is_loopback(ip) ||
			net_ip_is_link_local(source) != net_ip_is_link_local(ip))
			continue;
		if (ndd_rtnl_route(r, 0, source, ip, &hop))
			return true;
		if (++tried == SOURCES_MAX)
			break;
	}
	return false;
}

/* ---- addresses and their interfaces ---- */

struct locals {
	const struct ndd *d;
	struct port *port;
	uint32_t port_index, n;
	struct udp_local local[UDP_LOCALS_MAX];
};

static void
local_add(void *arg, const struct ndd_rtnl_address *a)
{
	struct locals *l = arg;

	if (!a->usable || l->n == UDP_LOCALS_MAX || !ndd_udp_takes(l->d, l->port_index, &a->ip))
		return;
	memcpy(l->local[l->n].ip, a->ip.b, 16);
	l->local[l->n++].interface = (uint32_t)a->interface;
}

static void
on_shard_locals(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	const struct locals *l = arg;

	(void)shard;
	(void)now_ns;
	udp_locals_set(l->port, l->local, l->n);
}

void
ndd_udp_renew_locals(struct ndd *d, struct ndd_rtnl *r, uint32_t port)
{
	struct locals l = {.d = d, .port_index = port};
	const struct ndd_rtnl_callbacks callbacks = {.address = local_add, .arg = &l};

	static_assert(UDP_LOCALS_MAX == NET_ADDRESSES_MAX, "all that the host may have");
	if (!ndd_rtnl_addresses(r, &callbacks))
		ndd_error("the kernel's addresses can't be read: %s", strerror(errno));
	for (uint32_t i = 0; i < d->plane.shards; i++) {
		l.port = ndd_shard_port(d->plane.shard[i], port);
		if (l.port != NULL)
			ndd_shard_call(d->plane.shard[i], on_shard_locals, &l);
	}
}

/* ---- MTU and groups: interfaces that have addresses of the port ---- */

struct interfaces {
	uint32_t n;
	int interface[NDD_INTERFACES_MAX];
};

static void
interface_once(struct interfaces *s, int interface)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->interface[i] == interface)
			return;
	if (s->n < NDD_INTERFACES_MAX)
		s->interface[s->n++] = interface;
}

struct mtu_search {
	const struct ndd *d;
	uint32_t port, mtu;
	struct interfaces of;
};

static void
mtu_address(void *arg, const struct ndd_rtnl_address *a)
{
	struct mtu_search *s = arg;

	if (a->usable && !net_ip_is_loopback(&a->ip) && ndd_udp_takes(s->d, s->port, &a->ip))
		interface_once(&s->of, a->interface);
}

static void
mtu_link(void *arg, const struct ndd_rtnl_link *l)
{
	struct mtu_search *s = arg;

	if (!l->gone && l->mtu != 0 && l->mtu < s->mtu)
		s->mtu = l->mtu;
}

/* The smallest: a path is chosen by the port. Loopback takes more than any. The kernel is asked, as
 * the port, which has a list of these addresses later, is opened with the answer. */
uint32_t
ndd_udp_mtu(const struct ndd *d, struct ndd_rtnl *r, uint32_t port)
{
	struct mtu_search s = {.d = d, .port = port, .mtu = MTU_MAX};
	const struct ndd_rtnl_callbacks addresses = {.address = mtu_address, .arg = &s},
					links = {.link = mtu_link, .arg = &s};

	if (d->cfg->port[port].has_mtu)
		return d->cfg->port[port].mtu;
	if (!ndd_rtnl_addresses(r, &addresses))
		return 0;
	for (uint32_t i = 0; i < s.of.n; i++)
		if (!ndd_rtnl_link(r, s.of.interface[i], &links) && errno != ENODEV)
			return 0;
	return s.mtu;
}

/* The kernel is not asked: clients decide how often a group is joined. */
uint32_t
ndd_udp_interfaces(const struct port *p, const struct net_ip *like, int *interface)
{
	uint32_t n;
	const struct udp_local *local = udp_locals(p, &n);
	struct interfaces s = {0};

	for (uint32_t i = 0; i < n; i++) {
		const struct net_ip ip = ndd_ip(local[i].ip);

		if (!net_ip_is_loopback(&ip) && net_ip_is_v4(&ip) == net_ip_is_v4(like))
			interface_once(&s, (int)local[i].interface);
	}
	memcpy(interface, s.interface, s.n * sizeof(*interface));
	return s.n;
}

/* ---- what the network says of MADs ---- */

static void
mad_undelivered(void *arg, const struct udp_undelivered *u)
{
	const uint8_t *mad = roce_gsi_mad_of(u->payload, u->bytes);
	struct ndd *d = arg;

	if (mad != NULL)
		roce_cm_undelivered(d->cm, ndd_now_ns(), &u->to, mad,
			u->no_port ? ROCE_CM_NO_SERVICE : ROCE_CM_NO_WAY);
}

void
ndd_udp_hear_errors(struct ndd *d, uint32_t port)
{
	if (d->cfg->port[port].udp)
		udp_errors(&d->plane.port[port], mad_undelivered, d);
}
