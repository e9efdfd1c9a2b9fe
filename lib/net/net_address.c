/* SPDX-License-Identifier: BSD-3-Clause */
/* Own addresses, connected prefixes, gateways, and the way from a destination to a next hop. */
#include "net/net_private.h"

static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

bool
net_ip_is_v4(const struct net_ip *ip)
{
	return memcmp(ip->b, mapped, sizeof(mapped)) == 0;
}

void
net_ip_from_v4(struct net_ip *ip, const uint8_t v4[4])
{
	memcpy(ip->b, mapped, sizeof(mapped));
	memcpy(ip->b + 12, v4, 4);
}

bool
net_ip_equal(const struct net_ip *a, const struct net_ip *b)
{
	return memcmp(a->b, b->b, sizeof(a->b)) == 0;
}

bool
net_ip_is_zero(const struct net_ip *ip)
{
	static const struct net_ip zero;

	return net_ip_equal(ip, &zero);
}

bool
net_ip_is_unicast(const struct net_ip *ip)
{
	static const struct net_ip loopback = {{[15] = 1}};
	const uint8_t *v4 = ip->b + 12;

	if (net_ip_is_v4(ip))
		return v4[0] != 0 && v4[0] != 127 && v4[0] < 224;
	return ip->b[0] != 0xff && !net_ip_is_zero(ip) && !net_ip_equal(ip, &loopback);
}

bool
net_ip6_is_unicast(const struct net_ip *ip)
{
	return !net_ip_is_v4(ip) && net_ip_is_unicast(ip);
}

bool
net_ip_is_link_local(const struct net_ip *ip)
{
	return ip->b[0] == 0xfe && (ip->b[1] & 0xc0) == 0x80;
}

/* Length of the prefix in all 128 bits. */
static unsigned
prefix_bits(const struct net_address *a)
{
	return net_ip_is_v4(&a->ip) ? a->prefix_len + 96u : a->prefix_len;
}

bool
net_in_prefix(const struct net_address *a, const struct net_ip *ip)
{
	unsigned bits = prefix_bits(a), whole = bits / 8, rest = bits % 8;

	if (net_ip_is_v4(&a->ip) != net_ip_is_v4(ip) || memcmp(a->ip.b, ip->b, whole) != 0)
		return false;
	return rest == 0 || (a->ip.b[whole] ^ ip->b[whole]) >> (8 - rest) == 0;
}

/* The first or the last address of an IPv4 prefix: the network, or its broadcast. */
static bool
is_subnet_edge(const struct net_address *a, const struct net_ip *ip)
{
	uint32_t host = (uint32_t)be16(ip->b + 12) << 16 | be16(ip->b + 14);
	uint32_t mask;

	if (!net_ip_is_v4(&a->ip) || a->prefix_len >= 31)
		return false;
	mask = UINT32_MAX >> a->prefix_len;
	return (host & mask) == 0 || (host & mask) == mask;
}

const struct net_address *
net_connected(const struct net *n, uint32_t port, const struct net_ip *ip)
{
	const struct net_address *best = NULL;

	for (uint32_t i = 0; i < n->addresses; i++) {
		const struct net_address *a = &n->address[i];

		if ((port == NET_NONE || port == a->port) && net_in_prefix(a, ip) &&
			(best == NULL || a->prefix_len > best->prefix_len))
			best = a;
	}
	return best;
}

const struct net_address *
net_own(const struct net *n, const struct net_ip *ip)
{
	for (uint32_t i = 0; i < n->addresses; i++)
		if (net_ip_equal(&n->address[i].ip, ip))
			return &n->address[i];
	return NULL;
}

bool
net_own_on(const struct net *n, uint32_t port, const struct net_ip *ip)
{
	const struct net_address *a = net_own(n, ip);

	return a != NULL && a->port == port;
}

int
net_local_port(const struct net *n, const struct net_ip *ip)
{
	const struct net_address *a = net_own(n, ip);

	return a != NULL ? a->port : -1;
}

bool
net_address_get(const struct net *n, unsigned i, struct net_ip *ip, uint8_t *prefix_len, uint32_t *port)
{
	if (i >= n->addresses)
		return false;
	*ip = n->address[i].ip;
	*prefix_len = n->address[i].prefix_len;
	*port = n->address[i].port;
	return true;
}

bool
net_address_add(struct net *n, uint32_t port, const struct net_ip *ip, uint8_t prefix_len,
	const char **why)
{
	uint32_t at = n->addresses;

	*why = NULL;
	if (port >= NET_PORTS_MAX || !n->port[port].present)
		*why = "no such port";
	else if (!net_ip_is_unicast(ip))
		*why = "not the address of a host";
	else if (prefix_len == 0 || prefix_len > (net_ip_is_v4(ip) ? 32 : 128))
		*why = "bad prefix length";
	else if (net_own(n, ip) != NULL)
		*why = "duplicate address";
	else if (n->addresses == NET_ADDRESSES_MAX)
		*why = "too many addresses";
	if (*why != NULL)
		return false;

	/* Link-local ones stay behind: who asks for "the first address" means a real one. */
	if (net_ip_is_link_local(ip)) {
		n->link_locals++;
	} else {
		at -= n->link_locals;
		memmove(&n->address[at + 1], &n->address[at],
			n->link_locals * sizeof(n->address[0]));
	}
	n->address[at] = (struct net_address){.ip = *ip,
		.prefix_len = prefix_len,
		.port = (uint8_t)port,
		.announcements_left = NET_ANNOUNCEMENTS};
	n->addresses++;
	net_deadline(n, 0);
	return true;
}

bool
net_port_add(struct net *n, uint32_t port, const uint8_t mac[6], uint32_t mtu)
{
	/* Modified EUI-64 (RFC 4291, appendix A). */
	struct net_ip ll = {{0xfe, 0x80, [8] = mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3],
		mac[4], mac[5]}};
	const char *why;

	if (port >= NET_PORTS_MAX || n->port[port].present || !mac_is_unicast(mac))
		return false;
	n->port[port].present = true;
	n->port[port].mtu = mtu;
	memcpy(n->port[port].mac, mac, 6);
	if (net_address_add(n, port, &ll, 64, &why))
		return true;
	n->port[port].present = false; /* two ports with one MAC */
	return false;
}

bool
net_gateway_set(struct net *n, uint32_t port, const struct net_ip *gw, const char **why)
{
	const struct net_address *a;

	*why = NULL;
	if (port >= NET_PORTS_MAX || !n->port[port].present) {
		*why = "no such port";
		return false;
	}
	a = net_connected(n, port, gw);
	if (!net_ip_is_unicast(gw) || net_own(n, gw) != NULL)
		*why = "the gateway is not another host";
	else if (a == NULL || is_subnet_edge(a, gw))
		*why = "the gateway is on no connected prefix of the port";
	if (*why != NULL)
		return false;
	if (net_ip_is_v4(gw)) {
		n->port[port].gateway4 = *gw;
		n->port[port].has_gateway4 = true;
	} else {
		n->port[port].gateway6 = *gw;
		n->port[port].has_gateway6 = true;
	}
	return true;
}

/* ---- routes ------------------------------------------------------------------------------------- */

struct route {
	uint32_t port;
	const struct net_ip *hop;
	const struct net_address *source;
};

/* The address that packets to the world leave with: of the gateway's prefix if that is a real one. */
static const struct net_address *
gateway_source(const struct net *n, uint32_t port, const struct net_ip *gw)
{
	if (!net_ip_is_link_local(gw))
		return net_connected(n, port, gw);
	for (uint32_t i = 0; i < n->addresses - n->link_locals; i++)
		if (n->address[i].port == port && !net_ip_is_v4(&n->address[i].ip))
			return &n->address[i];
	return NULL;
}

static bool
route_by_gateway(const struct net *n, uint32_t port, const struct net_ip *dst, struct route *r)
{
	bool v4 = net_ip_is_v4(dst);

	if (net_ip_is_link_local(dst))
		return false; /* no router forwards it */
	for (uint32_t p = 0; p < NET_PORTS_MAX; p++) {
		const struct net_port *np = &n->port[p];

		if ((port != NET_NONE && port != p) || !(v4 ? np->has_gateway4 : np->has_gateway6))
			continue;
		r->hop = v4 ? &np->gateway4 : &np->gateway6;
		r->port = p;
		r->source = gateway_source(n, p, r->hop);
		return r->source != NULL;
	}
	return false;
}

/* Strong host model: a packet leaves by the port that owns its source address. */
static bool
route(const struct net *n, const struct net_address *src, const struct net_ip *dst, struct route *r)
{
	uint32_t port = src != NULL ? src->port : NET_NONE;

	if (!net_ip_is_unicast(dst) ||
		(src != NULL && net_ip_is_v4(&src->ip) != net_ip_is_v4(dst)))
		return false;
	r->source = net_connected(n, port, dst);
	if (r->source != NULL) {
		r->port = r->source->port;
		r->hop = dst;
		if (is_subnet_edge(r->source, dst))
			return false;
	} else if (!route_by_gateway(n, port, dst, r)) {
		return false;
	}
	if (src != NULL)
		r->source = src;
	return true;
}

static void
fill_nexthop(const struct net *n, const struct route *r, const uint8_t dmac[6], struct net_nexthop *out)
{
	out->port = r->port;
	out->source = r->source->ip;
	out->mtu = n->port[r->port].mtu;
	memcpy(out->smac, n->port[r->port].mac, 6);
	memcpy(out->dmac, dmac, 6);
}

enum net_resolve
net_resolve(struct net *n, uint64_t now_ns, const struct net_ip *src, const struct net_ip *dst,
	struct net_nexthop *out)
{
	const struct net_address *from = NULL, *own = net_own(n, dst);
	const struct net_neigh *neigh;
	struct route r;

	if (src != NULL && !net_ip_is_zero(src)) {
		from = net_own(n, src);
		if (from == NULL)
			return NET_NO_ROUTE;
	}
	if (own != NULL && (from == NULL || net_ip_is_v4(src) == net_ip_is_v4(dst))) {
		r.source = from != NULL ? from : own;
		r.port = r.source->port;
		fill_nexthop(n, &r, n->port[own->port].mac, out);
		return NET_RESOLVED;
	}
	if (!route(n, from, dst, &r))
		return NET_NO_ROUTE;
	neigh = net_neigh_use(n, now_ns, r.port, r.hop, &r.source->ip);
	switch (neigh->state) {
	case NEIGH_INCOMPLETE:
		return NET_PENDING;
	case NEIGH_FAILED:
		return NET_UNREACHABLE;
	default:
		fill_nexthop(n, &r, neigh->mac, out);
		return NET_RESOLVED;
	}
}
