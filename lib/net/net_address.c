/* SPDX-License-Identifier: BSD-3-Clause */
/* Own addresses and their prefixes. */
#include <string.h>

#include "net/net_address.h"
#include "net/net_dad.h"
#include "net/net_neigh.h"
#include "net/net_state.h"

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
	const uint8_t *v4 = ip->b + 12;

	if (net_ip_is_loopback(ip))
		return false;
	if (net_ip_is_v4(ip))
		return v4[0] != 0 && v4[0] < 224;
	return ip->b[0] != 0xff && !net_ip_is_zero(ip);
}

bool
net_ip_is_loopback(const struct net_ip *ip)
{
	static const struct net_ip loopback = {{[15] = 1}};

	return net_ip_is_v4(ip) ? ip->b[12] == 127 : net_ip_equal(ip, &loopback);
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

unsigned
net_prefix_bits(const struct net_ip *ip, unsigned prefix_len)
{
	return net_ip_is_v4(ip) ? prefix_len + 96u : prefix_len;
}

bool
net_ip_agree(const struct net_ip *a, const struct net_ip *b, unsigned bits)
{
	unsigned whole = bits / 8, rest = bits % 8;

	if (memcmp(a->b, b->b, whole) != 0)
		return false;
	return rest == 0 || (a->b[whole] ^ b->b[whole]) >> (8 - rest) == 0;
}

bool
net_in_prefix(const struct net_address *a, const struct net_ip *ip)
{
	return net_ip_is_v4(&a->ip) == net_ip_is_v4(ip) &&
	       net_ip_agree(&a->ip, ip, net_prefix_bits(&a->ip, a->prefix_len));
}

bool
net_is_subnet_edge(const struct net_address *a, const struct net_ip *ip)
{
	uint32_t host = (uint32_t)net_get_be16(ip->b + 12) << 16 | net_get_be16(ip->b + 14);
	uint32_t mask;

	if (!net_ip_is_v4(&a->ip) || a->prefix_len >= 31)
		return false;
	mask = UINT32_MAX >> a->prefix_len;
	return (host & mask) == 0 || (host & mask) == mask;
}

static const struct net_address *
address_with_longest_prefix(
	const struct net *n, uint32_t link, const struct net_ip *ip, bool in_use)
{
	const struct net_address *best = NULL;

	for (uint32_t i = 0; i < n->addresses; i++) {
		const struct net_address *a = &n->address[i];

		if ((link == NET_NONE || link == a->link) && net_in_prefix(a, ip) &&
			(!in_use || a->state == ADDRESS_VALID) &&
			(best == NULL || a->prefix_len > best->prefix_len))
			best = a;
	}
	return best;
}

const struct net_address *
net_connected(const struct net *n, uint32_t link, const struct net_ip *ip)
{
	return address_with_longest_prefix(n, link, ip, true);
}

const struct net_address *
net_prefix_of(const struct net *n, uint32_t link, const struct net_ip *ip)
{
	return address_with_longest_prefix(n, link, ip, false);
}

const struct net_address *
net_own(const struct net *n, const struct net_ip *ip)
{
	for (uint32_t i = 0; i < n->addresses; i++)
		if (n->address[i].state == ADDRESS_VALID && net_ip_equal(&n->address[i].ip, ip))
			return &n->address[i];
	return NULL;
}

struct net_address *
net_address_find(struct net *n, uint32_t link, const struct net_ip *ip)
{
	for (uint32_t i = 0; i < n->addresses; i++)
		if (n->address[i].link == link && net_ip_equal(&n->address[i].ip, ip))
			return &n->address[i];
	return NULL;
}

bool
net_own_on(const struct net *n, uint32_t link, const struct net_ip *ip)
{
	const struct net_address *a = net_address_find((struct net *)n, link, ip);

	return a != NULL && a->state == ADDRESS_VALID;
}

int
net_local_port(const struct net *n, const struct net_ip *ip)
{
	const struct net_address *a = net_own(n, ip);

	return a != NULL ? (int)n->link[a->link].port : -1;
}

uint16_t
net_local_vlan(const struct net *n, const struct net_ip *ip)
{
	const struct net_address *a = net_own(n, ip);

	return a != NULL ? n->link[a->link].vlan : 0;
}

/* Two of our own on one port reach each other without its wire, and without a tag: net_resolve().
 */
static bool
stays_inside(const struct net *n, const struct net_address *a, const struct net_ip *src)
{
	const struct net_address *from = net_own(n, src);

	return from != NULL && n->link[from->link].port == n->link[a->link].port;
}

bool
net_takes(struct net *n, const struct net_ip *src, const struct net_ip *dst, uint16_t vlan)
{
	const struct net_address *a = net_own(n, dst);

	if (a == NULL)
		return false;
	if (vlan == n->link[a->link].vlan || (vlan == 0 && stays_inside(n, a, src)))
		return true;
	n->counters.rx_vlan++;
	return false;
}

/* Link-local addresses of VLANs serve their neighbours; outside they would be those of the port. */
static bool
is_for_clients(const struct net *n, const struct net_address *a)
{
	return n->link[a->link].vlan == 0 || !net_ip_is_link_local(&a->ip);
}

bool
net_address_get(
	const struct net *n, unsigned i, struct net_ip *ip, uint8_t *prefix_len, uint32_t *port)
{
	for (uint32_t k = 0; k < n->addresses; k++) {
		const struct net_address *a = &n->address[k];

		if (a->state != ADDRESS_VALID || !is_for_clients(n, a) || i-- > 0)
			continue;
		*ip = a->ip;
		*prefix_len = a->prefix_len;
		*port = n->link[a->link].port;
		return true;
	}
	return false;
}

void
net_address_changed(struct net *n, const struct net_address *a)
{
	if (is_for_clients(n, a))
		n->changed_ports |= 1u << n->link[a->link].port;
}

uint32_t
net_addresses_changed(struct net *n)
{
	uint32_t ports = n->changed_ports;

	n->changed_ports = 0;
	return ports;
}

/* A link-local address may be there on other VLANs of the port, too. */
static bool
is_taken(const struct net *n, uint32_t link, const struct net_ip *ip)
{
	const struct net_link *l = &n->link[link];

	for (uint32_t i = 0; i < n->addresses; i++) {
		const struct net_address *a = &n->address[i];

		if (net_ip_equal(&a->ip, ip) && (!net_ip_is_link_local(ip) || a->link == link ||
							n->link[a->link].port != l->port))
			return true;
	}
	return false;
}

static bool
prefix_fits(const struct net_ip *ip, uint8_t prefix_len)
{
	return prefix_len > 0 && prefix_len <= (net_ip_is_v4(ip) ? 32 : 128);
}

bool
net_address_add(
	struct net *n, uint32_t link, const struct net_ip *ip, uint8_t prefix_len, const char **why)
{
	uint32_t at = n->addresses;

	*why = NULL;
	if (link >= n->links || n->link[link].port == NET_NONE)
		*why = "no such link";
	else if (!net_ip_is_unicast(ip) && !(n->link[link].shared && net_ip_is_loopback(ip)))
		*why = "not the address of a host";
	else if (!prefix_fits(ip, prefix_len))
		*why = "bad prefix length";
	else if (is_taken(n, link, ip))
		*why = "duplicate address";
	else if (n->addresses == NET_ADDRESSES_MAX)
		*why = "too many addresses";
	if (*why != NULL)
		return false;

	/* Link-local ones stay behind the others: "the first address" of a link is a routable
	 * one. */
	if (net_ip_is_link_local(ip)) {
		n->link_locals++;
	} else {
		at -= n->link_locals;
		memmove(&n->address[at + 1], &n->address[at],
			n->link_locals * sizeof(n->address[0]));
	}
	n->address[at] = (struct net_address){.ip = *ip,
		.prefix_len = prefix_len,
		.link = (uint8_t)link,
		.state = ADDRESS_TENTATIVE};
	n->addresses++;
	net_dad_start(n, &n->address[at]);
	return true;
}

bool
net_address_keep(struct net *n, uint32_t link, const struct net_ip *ip, uint8_t prefix_len)
{
	struct net_address *a = net_address_find(n, link, ip);

	if (a == NULL || !prefix_fits(ip, prefix_len))
		return false;
	a->prefix_len = prefix_len;
	if (a->state == ADDRESS_TAKEN)
		net_dad_start(n, a);
	return true;
}

void
net_address_remove(struct net *n, uint32_t link, const struct net_ip *ip)
{
	struct net_address *a = net_address_find(n, link, ip);

	if (a == NULL)
		return;
	if (a->state == ADDRESS_VALID)
		net_address_changed(n, a);
	net_neigh_forget(n, link, ip);
	n->link_locals -= net_ip_is_link_local(ip);
	n->addresses--;
	memmove(a, a + 1, (size_t)(&n->address[n->addresses] - a) * sizeof(*a));
	n->generation++;
}

bool
net_link_address(const struct net *n, uint32_t link, unsigned i, struct net_ip *ip)
{
	for (uint32_t k = 0; k < n->addresses - n->link_locals; k++) {
		if (n->address[k].link != link || i-- > 0)
			continue;
		*ip = n->address[k].ip;
		return true;
	}
	return false;
}

uint32_t
net_probing(const struct net *n)
{
	uint32_t probing = 0;

	for (uint32_t i = 0; i < n->addresses; i++)
		probing += n->address[i].state == ADDRESS_TENTATIVE;
	return probing;
}
