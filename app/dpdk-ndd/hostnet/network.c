/* SPDX-License-Identifier: BSD-3-Clause */
#include "hostnet/network.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "control/daemon.h"
#include "hostnet/address.h"
#include "hostnet/kernel_port.h"
#include "platform/log.h"
#include "platform/numamem.h"
#include "session/async.h"

#define NEIGHBOURS 4096u /* of which each of NET_OWNERS has 32 to itself */

static const enum net_dad dad[] = {
	[CONFIG_DAD_OFF] = NET_DAD_OFF,
	[CONFIG_DAD_QUICK] = NET_DAD_QUICK,
	[CONFIG_DAD_FULL] = NET_DAD_FULL,
};

/* Those that are there stay as they are. */
static bool
add_addresses(struct net *n, uint32_t link, const struct config_link *c, const char **why)
{
	for (uint32_t i = 0; i < c->addresses; i++) {
		const struct net_ip ip = ndd_ip(c->address[i].ip);
		uint8_t len = c->address[i].prefix_len;

		if (!net_address_keep(n, link, &ip, len) &&
			!net_address_add(n, link, &ip, len, why))
			return false;
	}
	return true;
}

static bool
add_gateway(struct net *n, uint32_t link, const uint8_t gateway[16], bool v4, const char **why)
{
	static const struct net_ip anywhere, anywhere4 = {{[10] = 0xff, 0xff}};
	const struct net_ip via = ndd_ip(gateway);

	return net_route_add(n, link, v4 ? &anywhere4 : &anywhere, 0, &via, why);
}

static bool
add_routes(struct net *n, uint32_t link, const struct config_link *c, const char **why)
{
	for (uint32_t i = 0; i < c->routes; i++) {
		const struct net_ip to = ndd_ip(c->route[i].to.ip), via = ndd_ip(c->route[i].via);

		if (!net_route_add(n, link, &to, c->route[i].to.prefix_len, &via, why))
			return false;
	}
	return (!c->has_gateway4 || add_gateway(n, link, c->gateway4, true, why)) &&
	       (!c->has_gateway6 || add_gateway(n, link, c->gateway6, false, why));
}

static uint8_t
priority_of(const struct config_link *c)
{
	return c->has_priority ? c->priority : NET_PRIORITY_OF_DSCP;
}

/* The link's number, whether it is there or has to be made; -1: it can't be. */
static int
make_link(struct ndd *d, uint32_t port, const struct config_link *c)
{
	struct net_link link = {.port = port,
		.vlan = c->id,
		.priority = priority_of(c),
		.mtu = d->plane.port[port].mtu,
		.dad = dad[d->cfg->port[port].dad]};
	int number = net_link_find(d->net, port, c->id);

	memcpy(link.mac, d->plane.port[port].mac, sizeof(link.mac));
	if (number < 0)
		return net_link_add(d->net, &link);
	net_link_set_priority(d->net, (uint32_t)number, link.priority);
	return number;
}

static bool
set_link(struct ndd *d, uint32_t port, const struct config_link *c, const char **why)
{
	int number = make_link(d, port, c);

	*why = "another port has the same MAC";
	return number >= 0 && add_addresses(d->net, (uint32_t)number, c, why) &&
	       add_routes(d->net, (uint32_t)number, c, why);
}

static bool
set_port(struct ndd *d, uint32_t i)
{
	const struct config_port *c = &d->cfg->port[i];
	const char *why;
	bool good;

	if (c->kernel) /* the kernel's to say, at the start and later */
		return net_link_find(d->net, i, 0) >= 0 || ndd_kernel_port_start(d, i);
	good = set_link(d, i, &c->untagged, &why);
	for (uint32_t k = 0; good && k < c->vlans; k++)
		good = set_link(d, i, &c->vlan[k], &why);
	if (!good)
		ndd_error("ports[%u] %s: %s", i, c->device, why);
	return good;
}

bool
ndd_network_start(struct ndd *d)
{
	struct net_cfg cfg = {.max_neighbours = NEIGHBOURS};
	void *mem;

	if (getrandom(&cfg.seed, sizeof(cfg.seed), 0) != sizeof(cfg.seed) ||
		getrandom(cfg.secret, sizeof(cfg.secret), 0) != sizeof(cfg.secret)) {
		ndd_error("no randomness: %s", strerror(errno));
		return false;
	}
	d->net_bytes = net_bytes(&cfg);
	mem = ndd_numa_alloc(d->net_bytes, -1);
	d->net = mem == NULL ? NULL : net_init(mem, &cfg);
	if (d->net == NULL) {
		ndd_error("no memory for the network");
		return false;
	}
	for (uint32_t i = 0; i < d->plane.ports; i++)
		if (!set_port(d, i))
			return false;
	return true;
}

/* ---- a new configuration ---- */

static const struct config_link *
link_of(const struct config_port *c, uint16_t vlan)
{
	if (vlan == 0)
		return &c->untagged;
	for (uint32_t i = 0; i < c->vlans; i++)
		if (c->vlan[i].id == vlan)
			return &c->vlan[i];
	return NULL;
}

static bool
link_has_address(const struct config_link *c, const struct net_ip *ip)
{
	for (uint32_t i = 0; i < c->addresses; i++)
		if (memcmp(c->address[i].ip, ip->b, sizeof(ip->b)) == 0)
			return true;
	return false;
}

/* What the link had, and has not in its new configuration (NULL: it goes altogether). */
static void
drop_link(struct net *n, uint32_t port, uint16_t vlan, const struct config_link *c)
{
	int link = net_link_find(n, port, vlan);
	struct net_ip ip;
	unsigned i = 0;

	if (link < 0)
		return;
	if (c == NULL) {
		net_link_remove(n, (uint32_t)link);
		return;
	}
	while (net_link_address(n, (uint32_t)link, i, &ip)) {
		if (link_has_address(c, &ip))
			i++;
		else
			net_address_remove(n, (uint32_t)link, &ip);
	}
}

/* No configuration takes the kernel's addresses away. */
static bool
is_kernel_address(const struct ndd *d, const struct net_ip *ip)
{
	int port = net_local_port(d->net, ip);

	return port >= 0 && d->cfg->port[port].kernel;
}

bool
ndd_network_keeps(const struct ndd *d, const struct config *to, const uint8_t ip[16])
{
	const struct net_ip address = ndd_ip(ip);

	if (net_ip_is_link_local(&address))
		return true; /* link-local: the port's, as long as it has its MAC */
	if (is_kernel_address(d, &address))
		return true;
	for (uint32_t i = 0; i < d->cfg->ports; i++) {
		const struct config_port *c = &d->cfg->port[i], *other = &to->port[i];

		if (link_has_address(&c->untagged, &address))
			return link_has_address(&other->untagged, &address);
		for (uint32_t k = 0; k < c->vlans; k++) {
			const struct config_link *now = link_of(other, c->vlan[k].id);

			if (link_has_address(&c->vlan[k], &address))
				return now != NULL && link_has_address(now, &address);
		}
	}
	return false;
}

void
ndd_network_change(struct ndd *d, const struct config *to)
{
	net_routes_clear(d->net);
	for (uint32_t i = 0; i < d->cfg->ports; i++) {
		struct config_port *c = &d->cfg->port[i];
		const struct config_port *other = &to->port[i];

		if (c->kernel)
			continue;
		drop_link(d->net, i, 0, &other->untagged);
		for (uint32_t k = 0; k < c->vlans; k++)
			drop_link(d->net, i, c->vlan[k].id, link_of(other, c->vlan[k].id));
		c->untagged = other->untagged;
		memcpy(c->vlan, other->vlan, sizeof(c->vlan));
		c->vlans = other->vlans;
	}
	for (uint32_t i = 0; i < d->cfg->ports; i++)
		(void)set_port(d, i);
}

/* ---- what happens to addresses and links ---- */

#define VLAN_TEXT_BYTES 24

static void
on_event(const struct ndd *d, const struct net_event *ev)
{
	const char *device = d->plane.port[ev->port].device;
	char ip[INET6_ADDRSTRLEN], mac[18], vlan[VLAN_TEXT_BYTES] = "";

	ndd_ip_text(ev->ip.b, ip);
	snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", ev->mac[0], ev->mac[1],
		ev->mac[2], ev->mac[3], ev->mac[4], ev->mac[5]);
	if (ev->vlan != 0)
		snprintf(vlan, sizeof(vlan), ", VLAN %u", ev->vlan);
	if (ev->type == NET_EV_TAKEN)
		ndd_error("port %s%s: %s is the address of %s: it is not used here; SIGHUP tries "
			  "again",
			device, vlan, ip, mac);
	else
		ndd_warning("port %s%s: %s claims our address %s; it was told that it is ours",
			device, vlan, mac, ip);
}

void
ndd_network_events(struct ndd *d)
{
	struct net_event ev;
	uint32_t changed;

	while (net_event(d->net, &ev))
		on_event(d, &ev);
	changed = net_addresses_changed(d->net);
	for (uint32_t i = 0; i < d->plane.ports; i++)
		if (changed >> i & 1)
			ndd_async_addresses(d, i);
}
