/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links: ports and their VLANs. Inside, frames have no tag; they lose it when they come in and get
 * it when they go out, here.
 */
#include <string.h>

#include "net/net_frame.h"
#include "net/net_group.h"
#include "net/net_neigh.h"
#include "net/net_state.h"

#define TCI_PRIORITY_SHIFT 13u
#define TCI_VLAN_MASK	   0x0fffu
#define MACS		   12u /* bytes before the tag */

static uint32_t
find_link(const struct net *n, uint32_t port, uint32_t vlan)
{
	for (uint32_t i = 0; i < n->links; i++)
		if (n->link[i].port == port && n->link[i].vlan == vlan)
			return i;
	return NET_NONE;
}

int
net_link_add(struct net *n, const struct net_link *link)
{
	const uint8_t *mac = link->mac;
	/* Modified EUI-64 (RFC 4291, appendix A). */
	struct net_ip ll = {
		{0xfe, 0x80, [8] = mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]}};
	const char *why;
	uint32_t at = 0;

	if (link->port >= NET_PORTS_MAX || link->vlan > NET_VLAN_MAX ||
		link->priority > NET_PRIORITY_OF_DSCP || !mac_is_unicast(mac) ||
		find_link(n, link->port, link->vlan) != NET_NONE)
		return -1;
	while (at < n->links && n->link[at].port != NET_NONE)
		at++;
	if (at == NET_LINKS_MAX)
		return -1;
	n->link[at] = *link;
	if (at == n->links)
		n->links++;
	if (link->shared || net_address_add(n, at, &ll, 64, &why))
		return (int)at;
	n->link[at].port = NET_NONE; /* two ports with one MAC */
	return -1;
}

int
net_link_find(const struct net *n, uint32_t port, uint16_t vlan)
{
	return (int)find_link(n, port, vlan); /* NET_NONE is -1 */
}

void
net_link_remove(struct net *n, uint32_t link)
{
	for (uint32_t i = n->addresses; i-- > 0;)
		if (n->address[i].link == link)
			net_address_remove(n, link, &n->address[i].ip);
	for (uint32_t i = n->routes; i-- > 0;)
		if (n->route[i].link == link) {
			n->routes--;
			memmove(&n->route[i], &n->route[i + 1],
				(n->routes - i) * sizeof(n->route[0]));
		}
	net_neigh_forget(n, link, NULL);
	net_group_forget(n, link);
	n->link[link].port = NET_NONE;
	n->generation++;
}

void
net_link_change(struct net *n, uint32_t link, const uint8_t mac[6], uint32_t mtu)
{
	struct net_link *l = &n->link[link];

	if (l->mtu == mtu && memcmp(l->mac, mac, 6) == 0)
		return;
	memcpy(l->mac, mac, 6);
	l->mtu = mtu;
	n->generation++;
}

void
net_link_set_priority(struct net *n, uint32_t link, uint8_t priority)
{
	n->link[link].priority = priority;
}

uint16_t
net_tci(uint16_t vlan, uint8_t priority, uint8_t tclass)
{
	unsigned p = priority == NET_PRIORITY_OF_DSCP ? tclass >> 5 : priority;

	return (uint16_t)(p << TCI_PRIORITY_SHIFT | vlan);
}

/*
 * Tags in front of the type: their bytes; *vlan is the VLAN that they name, 0 if they only name a
 * priority. A frame that names two is in a VLAN inside another one's: in none of ours, else a
 * station in the outer one would reach into the inner.
 */
static size_t
read_tags(const uint8_t *frame, size_t bytes, uint32_t *vlan)
{
	size_t at = MACS;

	*vlan = 0;
	while (at + VLAN_TAG + 2 <= bytes && (net_get_be16(frame + at) == ETHERTYPE_VLAN ||
						     net_get_be16(frame + at) == ETHERTYPE_QINQ)) {
		uint32_t id = net_get_be16(frame + at + 2) & TCI_VLAN_MASK;

		if (id != 0)
			*vlan = *vlan == 0 ? id : NET_NONE;
		at += VLAN_TAG;
	}
	return at - MACS;
}

void
net_rx(struct net *n, uint64_t now_ns, uint32_t port, const uint8_t *frame, size_t bytes)
{
	uint8_t bare[NET_BARE_MAX];
	uint32_t link, vlan;
	size_t tags;

	if (find_link(n, port, 0) == NET_NONE) {
		n->counters.rx_dropped++;
		return;
	}
	if (bytes < ETH_HDR) {
		n->counters.rx_malformed++;
		return;
	}
	tags = read_tags(frame, bytes, &vlan);
	link = find_link(n, port, vlan);
	if (link == NET_NONE || tags > 2 * VLAN_TAG) {
		n->counters.rx_vlan++;
		return;
	}
	if (tags == 0) {
		net_link_rx(n, now_ns, link, frame, bytes);
		return;
	}
	if (bytes - tags > sizeof(bare)) {
		n->counters.rx_oversize++;
		return;
	}
	memcpy(bare, frame, MACS);
	memcpy(bare + MACS, frame + MACS + tags, bytes - tags - MACS);
	net_link_rx(n, now_ns, link, bare, bytes - tags);
}

/* The oldest frame that waits; those of links that were removed meanwhile are dropped. */
static const struct net_bare *
oldest_frame(struct net *n)
{
	for (; n->tx_head != n->tx_tail; n->tx_head++) {
		const struct net_bare *b = &n->tx[n->tx_head % NET_TX_QUEUE];

		if (n->link[b->link].port != NET_NONE)
			return b;
		n->counters.tx_dropped++;
	}
	return NULL;
}

bool
net_tx(struct net *n, struct net_tx *tx)
{
	const struct net_bare *from = oldest_frame(n);
	const struct net_link *l;
	size_t tag;

	if (from == NULL)
		return false;
	l = &n->link[from->link];
	tag = l->vlan != 0 ? VLAN_TAG : 0;
	memcpy(tx->frame, from->frame, MACS);
	if (tag != 0) {
		net_put_be16(tx->frame + MACS, ETHERTYPE_VLAN);
		net_put_be16(tx->frame + MACS + 2, net_tci(l->vlan, l->priority, 0));
	}
	memcpy(tx->frame + MACS + tag, from->frame + MACS, from->len - MACS);
	tx->port = l->port;
	tx->len = from->len + (uint32_t)tag;
	n->tx_head++;
	return true;
}
