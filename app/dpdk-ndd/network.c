/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration's addresses, VLANs and routes, as the little IP stack wants them. */
#include <string.h>

#include "log.h"
#include "network.h"
#include "numamem.h"

#define NEIGHBOURS 1024u

static struct net_ip
ip_of(const uint8_t ip[16])
{
	struct net_ip out;

	memcpy(out.b, ip, sizeof(out.b));
	return out;
}

static bool
add_addresses(struct net *n, uint32_t link, const struct config_link *c, const char **why)
{
	for (uint32_t i = 0; i < c->addresses; i++) {
		const struct net_ip ip = ip_of(c->address[i].ip);

		if (!net_address_add(n, link, &ip, c->address[i].prefix_len, why))
			return false;
	}
	return true;
}

static bool
add_gateway(struct net *n, uint32_t link, const uint8_t gateway[16], bool v4, const char **why)
{
	static const struct net_ip anywhere, anywhere4 = {{[10] = 0xff, 0xff}};
	const struct net_ip via = ip_of(gateway);

	return net_route_add(n, link, v4 ? &anywhere4 : &anywhere, 0, &via, why);
}

static bool
add_routes(struct net *n, uint32_t link, const struct config_link *c, const char **why)
{
	for (uint32_t i = 0; i < c->routes; i++) {
		const struct net_ip to = ip_of(c->route[i].to.ip), via = ip_of(c->route[i].via);

		if (!net_route_add(n, link, &to, c->route[i].to.prefix_len, &via, why))
			return false;
	}
	return (!c->has_gateway4 || add_gateway(n, link, c->gateway4, true, why)) &&
	       (!c->has_gateway6 || add_gateway(n, link, c->gateway6, false, why));
}

static bool
add_link(struct ndd *d, uint32_t port, const struct config_link *c, const char **why)
{
	struct net_link link = {.port = port,
		.vlan = c->id,
		.priority = c->has_priority ? c->priority : NET_PRIORITY_OF_DSCP,
		.mtu = d->cfg->port[port].mtu};
	int number;

	memcpy(link.mac, d->plane.port[port].mac, sizeof(link.mac));
	number = net_link_add(d->net, &link);
	*why = "another port has the same MAC";
	return number >= 0 && add_addresses(d->net, (uint32_t)number, c, why) &&
	       add_routes(d->net, (uint32_t)number, c, why);
}

static bool
add_port(struct ndd *d, uint32_t i)
{
	const struct config_port *c = &d->cfg->port[i];
	const char *why;
	bool good = add_link(d, i, &c->untagged, &why);

	for (uint32_t k = 0; good && k < c->vlans; k++)
		good = add_link(d, i, &c->vlan[k], &why);
	if (!good)
		ndd_error("ports[%u] %s: %s", i, c->device, why);
	return good;
}

bool
ndd_network_start(struct ndd *d)
{
	const struct net_cfg cfg = {.max_neighbours = NEIGHBOURS};
	void *mem;

	d->net_bytes = net_bytes(&cfg);
	mem = ndd_numa_alloc(d->net_bytes, -1);
	d->net = mem == NULL ? NULL : net_init(mem, &cfg);
	if (d->net == NULL) {
		ndd_error("no memory for the network");
		return false;
	}
	for (uint32_t i = 0; i < d->plane.ports; i++)
		if (!add_port(d, i))
			return false;
	return true;
}

void
ndd_path_hop(struct roce_path *path, const struct net_nexthop *hop)
{
	memcpy(path->smac, hop->smac, 6);
	memcpy(path->dmac, hop->dmac, 6);
	path->tagged = hop->vlan != 0;
	path->vlan_tci = net_tci(hop->vlan, hop->priority, path->tos);
}
