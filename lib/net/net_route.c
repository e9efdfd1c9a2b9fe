/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes, and the way from a destination to a next hop. */
#include <string.h>

#include "net/net_address.h"
#include "net/net_neigh.h"
#include "net/net_state.h"

/*
 * An address without a network around it, as clouds give them (10.128.0.5/32): the router that the
 * configuration names for it is on its cable.
 */
static const struct net_address *
alone_on(const struct net *n, uint32_t link, const struct net_ip *family)
{
	for (uint32_t i = 0; i < n->addresses; i++) {
		const struct net_address *a = &n->address[i];

		if (a->link == link && net_ip_is_v4(&a->ip) == net_ip_is_v4(family) &&
			net_prefix_bits(&a->ip, a->prefix_len) == 128)
			return a;
	}
	return NULL;
}

/* Addresses count that are still asked for. */
static const char *
why_no_gateway(const struct net *n, uint32_t link, const struct net_ip *via)
{
	const struct net_address *a = net_prefix_of(n, link, via);

	if (!net_ip_is_unicast(via) || net_own(n, via) != NULL ||
		(a != NULL && net_ip_equal(&a->ip, via)))
		return "the gateway is not another host";
	if (a == NULL && alone_on(n, link, via) != NULL)
		return NULL;
	if (a == NULL || net_is_subnet_edge(a, via))
		return "the gateway is on no connected prefix of the link";
	return NULL;
}

static const char *
why_no_route(const struct net *n, uint32_t link, const struct net_ip *to, uint8_t prefix_len,
	const struct net_ip *via)
{
	if (link >= n->links || n->link[link].port == NET_NONE)
		return "no such link";
	if (net_ip_is_v4(to) != net_ip_is_v4(via))
		return "destination and gateway are of different families";
	if (prefix_len > (net_ip_is_v4(to) ? 32 : 128))
		return "bad prefix length";
	if (n->routes == NET_ROUTES_MAX)
		return "too many routes";
	for (uint32_t i = 0; i < n->routes; i++) {
		const struct net_route *r = &n->route[i];

		if (r->link == link && r->bits == net_prefix_bits(to, prefix_len) &&
			net_ip_agree(&r->to, to, r->bits))
			return "the link has a route to that prefix already";
	}
	return why_no_gateway(n, link, via);
}

bool
net_route_add(struct net *n, uint32_t link, const struct net_ip *to, uint8_t prefix_len,
	const struct net_ip *via, const char **why)
{
	*why = why_no_route(n, link, to, prefix_len, via);
	if (*why != NULL)
		return false;
	n->route[n->routes++] = (struct net_route){.to = *to,
		.via = *via,
		.bits = (uint8_t)net_prefix_bits(to, prefix_len),
		.link = (uint8_t)link};
	n->generation++; /* callers that wait for a route may try again */
	return true;
}

struct way {
	uint32_t link;
	const struct net_ip *hop;
	const struct net_address *source;
};

void
net_routes_clear(struct net *n)
{
	n->routes = 0;
	n->generation++;
}

/* The address that packets to the world leave with: of the gateway's prefix if that is a real one.
 */
static const struct net_address *
gateway_source(const struct net *n, uint32_t link, const struct net_ip *gw)
{
	const struct net_address *a = net_connected(n, link, gw);

	if (!net_ip_is_link_local(gw)) {
		a = a != NULL ? a : alone_on(n, link, gw);
		return a != NULL && a->state == ADDRESS_VALID ? a : NULL;
	}
	for (uint32_t i = 0; i < n->addresses - n->link_locals; i++)
		if (n->address[i].link == link && n->address[i].state == ADDRESS_VALID &&
			!net_ip_is_v4(&n->address[i].ip))
			return &n->address[i];
	return NULL;
}

/* The route with the longest prefix around dst; of two as long the older one. */
static const struct net_route *
best_route(const struct net *n, uint32_t link, const struct net_ip *dst)
{
	const struct net_route *best = NULL;

	if (net_ip_is_link_local(dst))
		return NULL; /* no router forwards it */
	for (uint32_t i = 0; i < n->routes; i++) {
		const struct net_route *r = &n->route[i];

		if ((link == NET_NONE || link == r->link) &&
			net_ip_is_v4(&r->via) == net_ip_is_v4(dst) &&
			net_ip_agree(&r->to, dst, r->bits) &&
			(best == NULL || r->bits > best->bits))
			best = r;
	}
	return best;
}

/* Strong host model: a packet leaves by the link that owns its source address. */
static bool
find_way(const struct net *n, uint32_t link, const struct net_address *src,
	const struct net_ip *dst, struct way *w)
{
	const struct net_route *r;

	if (src != NULL && net_ip_is_v4(&src->ip) != net_ip_is_v4(dst))
		return false;
	if (src != NULL && n->link[src->link].shared &&
		(net_ip_is_unicast(dst) || net_ip_is_loopback(dst))) {
		*w = (struct way){.link = src->link, .hop = dst, .source = src};
		return true; /* the rest is the kernel's to say */
	}
	if (!net_ip_is_unicast(dst))
		return false;
	w->source = net_connected(n, link, dst);
	r = best_route(n, link, dst);
	if (w->source != NULL &&
		(r == NULL || r->bits <= net_prefix_bits(&w->source->ip, w->source->prefix_len))) {
		if (net_is_subnet_edge(w->source, dst))
			return false;
		w->link = w->source->link;
		w->hop = dst;
	} else if (r != NULL) {
		w->link = r->link;
		w->hop = &r->via;
		w->source = src != NULL ? src : gateway_source(n, r->link, &r->via);
	}
	if (src != NULL && w->source != NULL)
		w->source = src;
	return w->source != NULL;
}

bool
net_source(const struct net *n, int link, const struct net_ip *dst, struct net_ip *source)
{
	const struct net_address *own = net_own(n, dst);
	struct way w;

	if (own == NULL && !find_way(n, (uint32_t)link, NULL, dst, &w))
		return false;
	*source = own != NULL ? own->ip : w.source->ip;
	return true;
}

static void
fill_nexthop(
	const struct net *n, const struct way *w, const uint8_t dmac[6], struct net_nexthop *out)
{
	const struct net_link *l = &n->link[w->link];

	out->port = l->port;
	out->vlan = l->vlan;
	out->priority = l->priority;
	out->source = w->source->ip;
	out->mtu = l->mtu;
	memcpy(out->smac, l->mac, 6);
	memcpy(out->dmac, dmac, 6);
}

/* An address of our own. On the port of the source the frame does not leave: it gets no tag. */
static void
fill_own(const struct net *n, const struct net_address *from, const struct net_address *own,
	struct net_nexthop *out)
{
	const struct way w = {.link = from->link, .source = from};

	fill_nexthop(n, &w, n->link[own->link].mac, out);
	if (n->link[from->link].port == n->link[own->link].port)
		out->vlan = 0;
}

bool
net_group_hop(const struct net *n, const struct net_ip *src, const struct net_ip *group,
	struct net_nexthop *out)
{
	const struct net_address *from = net_own(n, src);
	const struct way w = {.link = from != NULL ? from->link : 0, .source = from};
	uint8_t mac[6];

	if (from == NULL || !net_ip_is_group(group) || net_ip_is_v4(src) != net_ip_is_v4(group))
		return false;
	net_group_mac(group, mac);
	fill_nexthop(n, &w, mac, out);
	return true;
}

enum net_resolve
net_resolve(struct net *n, uint64_t now_ns, uint32_t owner, const struct net_ip *src,
	const struct net_ip *dst, struct net_nexthop *out)
{
	const struct net_address *from = NULL, *own = net_own(n, dst);
	const struct net_neigh *neigh;
	struct way w;

	if (src != NULL && !net_ip_is_zero(src)) {
		from = net_own(n, src);
		if (from == NULL)
			return NET_NO_ROUTE;
	}
	if (own != NULL && (from == NULL || net_ip_is_v4(src) == net_ip_is_v4(dst))) {
		fill_own(n, from != NULL ? from : own, own, out);
		return NET_RESOLVED;
	}
	if (!find_way(n, from != NULL ? from->link : NET_NONE, from, dst, &w))
		return NET_NO_ROUTE;
	neigh = net_neigh_use(n, now_ns, owner, w.link, w.hop, &w.source->ip);
	if (neigh == NULL)
		return NET_PENDING;
	switch (neigh->state) {
	case NEIGH_INCOMPLETE:
		return NET_PENDING;
	case NEIGH_FAILED:
		return n->link[w.link].shared && net_ip_is_zero(&neigh->hop) ? NET_NO_ROUTE
									     : NET_UNREACHABLE;
	default:
		fill_nexthop(n, &w, neigh->mac, out);
		return NET_RESOLVED;
	}
}
