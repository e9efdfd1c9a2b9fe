/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses, VLANs, gateways and routes: do they fit each other? */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "config/config_table.h"

#define WHERE_BYTES 64

static bool
is_v4(const uint8_t ip[16])
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(ip, mapped, sizeof(mapped)) == 0;
}

static const char *
ip_text(const uint8_t ip[16], char buf[INET6_ADDRSTRLEN])
{
	const char *s = is_v4(ip) ? inet_ntop(AF_INET, ip + 12, buf, INET6_ADDRSTRLEN)
				  : inet_ntop(AF_INET6, ip, buf, INET6_ADDRSTRLEN);
	return s != NULL ? s : "?";
}

/* Prefix length in the 128 bits that are stored. */
static unsigned
prefix_bits(const struct config_address *a)
{
	return is_v4(a->ip) ? a->prefix_len + 96u : a->prefix_len;
}

static bool
in_prefix(const struct config_address *a, const uint8_t ip[16])
{
	unsigned bits = prefix_bits(a), whole = bits / 8, rest = bits % 8;

	if (memcmp(a->ip, ip, whole) != 0)
		return false;
	return rest == 0 || ((a->ip[whole] ^ ip[whole]) >> (8 - rest)) == 0;
}

/* All bits behind the prefix are the same as bit: network address or broadcast. */
static bool
host_part_is(const struct config_address *a, bool bit)
{
	for (unsigned i = prefix_bits(a); i < 128; i++)
		if ((a->ip[i / 8] >> (7 - i % 8) & 1) != bit)
			return false;
	return true;
}

static bool
is_loopback(const uint8_t ip[16])
{
	return is_v4(ip) ? ip[12] == 127 : memcmp(ip, &in6addr_loopback, 16) == 0;
}

/* Why an address can't be a station's own; NULL: it can. */
static const char *
not_a_host(const struct config_address *a, bool udp)
{
	const uint8_t *ip = a->ip, *v4 = a->ip + 12;

	if (udp && is_loopback(ip))
		return NULL; /* the kernel carries what is sent there, too */
	if (is_v4(ip)) {
		if (v4[0] == 0 || v4[0] == 127)
			return "not the address of a host on a network";
		if (v4[0] >= 224)
			return "a multicast or reserved address";
		if (a->prefix_len < 31 && host_part_is(a, false))
			return "the network itself, not a host in it";
		if (a->prefix_len < 31 && host_part_is(a, true))
			return "the network's broadcast address";
		return NULL;
	}
	if (ip[0] == 0xff)
		return "a multicast address";
	if (ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80)
		return udp ? "a link-local address: the kernel's are the port's if none is listed"
			   : "a link-local address: the port has one by itself, made from its MAC";
	if (memcmp(ip, &in6addr_loopback, 16) == 0 || memcmp(ip, &in6addr_any, 16) == 0)
		return "not the address of a host on a network";
	if (a->prefix_len < 127 && host_part_is(a, false))
		return "the subnet-router anycast address, not a host";
	return NULL;
}

static bool
is_link_local(const uint8_t ip[16])
{
	return ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80;
}

/* ---- all links, one after the other ---- */

static uint32_t
links_of(const struct config_port *port)
{
	return 1 + port->vlans;
}

static const struct config_link *
link_of(const struct config_port *port, uint32_t i)
{
	return i == 0 ? &port->untagged : &port->vlan[i - 1];
}

/* "ports[0]" or "ports[0].vlans[1]" */
static const char *
link_where(unsigned port, uint32_t link, char buf[WHERE_BYTES])
{
	if (link == 0)
		(void)snprintf(buf, WHERE_BYTES, "ports[%u]", port);
	else
		(void)snprintf(buf, WHERE_BYTES, "ports[%u].vlans[%u]", port, link - 1);
	return buf;
}

/* ---- addresses ---- */

/* Is ip also an address before the i-th one of that link? */
static void
check_unique(struct config_errors *e, const struct config *c, unsigned p, uint32_t l, unsigned i)
{
	const uint8_t *ip = link_of(&c->port[p], l)->address[i].ip;
	char text[INET6_ADDRSTRLEN], buf[WHERE_BYTES];

	for (unsigned q = 0; q <= p; q++) {
		for (uint32_t m = 0; m < links_of(&c->port[q]) && (q < p || m <= l); m++) {
			const struct config_link *other = link_of(&c->port[q], m);
			unsigned n = q == p && m == l ? i : other->addresses;

			for (unsigned j = 0; j < n; j++)
				if (memcmp(other->address[j].ip, ip, 16) == 0)
					config_error(e, "%s is also %s.addresses[%u]",
						ip_text(ip, text), link_where(q, m, buf), j);
		}
	}
}

static void
check_addresses(struct config_errors *e, const struct config *c, unsigned p, uint32_t l)
{
	const struct config_port *port = &c->port[p];
	const struct config_link *link = link_of(port, l);
	char text[INET6_ADDRSTRLEN], buf[WHERE_BYTES];

	for (unsigned i = 0; i < link->addresses; i++) {
		const uint8_t *ip = link->address[i].ip;
		const char *why = not_a_host(&link->address[i], port->udp);

		config_at(e, "%s.addresses[%u]", link_where(p, l, buf), i);
		if (why != NULL)
			config_error(e, "%s is %s", ip_text(ip, text), why);
		if (!is_v4(ip) && port->mtu != 0 && port->mtu < 1280)
			config_error(
				e, "IPv6 needs an MTU of 1280 or more; the port has %u", port->mtu);
		check_unique(e, c, p, l, i);
	}
}

/* ---- gateways and routes ---- */

static void
check_router(struct config_errors *e, const struct config_link *link, const uint8_t router[16])
{
	const char *owner = link->id != 0 ? "VLAN" : "port";
	char text[INET6_ADDRSTRLEN];
	bool connected = !is_v4(router) && is_link_local(router);

	for (unsigned i = 0; i < link->addresses; i++) {
		if (memcmp(link->address[i].ip, router, 16) == 0) {
			config_error(e, "%s is the %s's own address", ip_text(router, text), owner);
			return;
		}
		connected |= in_prefix(&link->address[i], router) ||
			     (prefix_bits(&link->address[i]) == 128 &&
				     is_v4(link->address[i].ip) == is_v4(router));
	}
	if (!connected)
		config_error(e, "%s is in none of the %s's prefixes", ip_text(router, text), owner);
}

static void
check_route(struct config_errors *e, const struct config_link *link, unsigned i, const char *at)
{
	const struct config_route *r = &link->route[i];
	char text[INET6_ADDRSTRLEN];

	config_at(e, "%s.routes[%u].to", at, i);
	if (!host_part_is(&r->to, false))
		config_error(e,
			"%s/%u has bits behind its prefix; the address of the network "
			"belongs there",
			ip_text(r->to.ip, text), r->to.prefix_len);
	for (unsigned j = 0; j < i; j++)
		if (memcmp(&link->route[j].to, &r->to, sizeof(r->to)) == 0)
			config_error(e, "%s/%u is also routes[%u].to", ip_text(r->to.ip, text),
				r->to.prefix_len, j);
	config_at(e, "%s.routes[%u].via", at, i);
	if (is_v4(r->to.ip) != is_v4(r->via))
		config_error(e, "%s is not of the destination's family", ip_text(r->via, text));
	else
		check_router(e, link, r->via);
}

static void
check_link(struct config_errors *e, const struct config *c, unsigned p, uint32_t l)
{
	const struct config_link *link = link_of(&c->port[p], l);
	char buf[WHERE_BYTES];
	const char *at = link_where(p, l, buf);

	check_addresses(e, c, p, l);
	config_at(e, "%s.gateway", at);
	if (link->has_gateway4)
		check_router(e, link, link->gateway4);
	config_at(e, "%s.gateway6", at);
	if (link->has_gateway6)
		check_router(e, link, link->gateway6);
	for (unsigned i = 0; i < link->routes; i++)
		check_route(e, link, i, at);
}

/* ---- ports ---- */

/* What a shared port has is the kernel's to give; of a UDP port's addresses some may be chosen. */
static void
check_kernels(struct config_errors *e, const struct config_port *port, unsigned p)
{
	const char *kind = port->udp ? "UDP" : "shared";
	const struct config_link *link = &port->untagged;
	const struct {
		const char *key;
		bool given;
	} kernels[] = {
		{"addresses", link->addresses != 0 && !port->udp},
		{"gateway", link->has_gateway4},
		{"gateway6", link->has_gateway6},
		{"routes", link->routes != 0},
		{"mac", port->has_mac},
	};

	for (unsigned i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		config_at(e, "ports[%u].%s", p, kernels[i].key);
		if (kernels[i].given)
			config_error(
				e, "a %s port has the kernel's; give it to the interface", kind);
	}
	config_at(e, "ports[%u].vlans", p);
	if (port->vlans != 0)
		config_error(e, "a VLAN of a %s port is an interface of the kernel's: %s", kind,
			port->udp ? "the port has that, too" : "share that one");
}

void
config_check_links(struct config_errors *e, const struct config *c)
{
	for (unsigned p = 0; p < c->ports; p++) {
		const struct config_port *port = &c->port[p];

		config_at(e, "ports[%u].require_udp_checksum", p);
		if (port->require_udp_checksum && !port->udp)
			config_error(e, "only a port with the device \"" CONFIG_UDP
					"\" looks at UDP checksums");
		if (port->kernel) {
			check_kernels(e, port, p);
			if (port->udp)
				check_addresses(e, c, p, 0);
			continue;
		}
		config_at(e, "ports[%u].addresses", p);
		if (port->untagged.addresses == 0 && port->vlans == 0)
			config_error(e, "the port has no address, and no VLAN with one");
		for (unsigned i = 0; i < port->vlans; i++) {
			config_at(e, "ports[%u].vlans[%u].id", p, i);
			for (unsigned j = 0; j < i; j++)
				if (port->vlan[i].id == port->vlan[j].id)
					config_error(e, "%u is also ports[%u].vlans[%u].id",
						port->vlan[i].id, p, j);
		}
		for (uint32_t l = 0; l < links_of(port); l++)
			check_link(e, c, p, l);
	}
}
