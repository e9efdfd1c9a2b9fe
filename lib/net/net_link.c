/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links: ports and their VLANs. Inside, frames have no tag; they lose it when they come in and get
 * it when they go out, here.
 */
#include "net/net_private.h"

#define TCI_PRIORITY_SHIFT 13u
#define TCI_VLAN_MASK	   0x0fffu
#define MACS		   12u /* bytes before the tag */

int
net_link_add(struct net *n, const struct net_link *link)
{
	const uint8_t *mac = link->mac;
	/* Modified EUI-64 (RFC 4291, appendix A). */
	struct net_ip ll = {{0xfe, 0x80, [8] = mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3],
		mac[4], mac[5]}};
	const char *why;

	if (n->links == NET_LINKS_MAX || link->vlan > NET_VLAN_MAX ||
		link->priority > NET_PRIORITY_OF_DSCP || !mac_is_unicast(mac))
		return -1;
	for (uint32_t i = 0; i < n->links; i++)
		if (n->link[i].port == link->port && n->link[i].vlan == link->vlan)
			return -1;
	n->link[n->links++] = *link;
	if (net_address_add(n, n->links - 1, &ll, 64, &why))
		return (int)n->links - 1;
	n->links--; /* two ports with one MAC */
	return -1;
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
	while (at + VLAN_TAG + 2 <= bytes && (be16(frame + at) == ETHERTYPE_VLAN ||
						     be16(frame + at) == ETHERTYPE_QINQ)) {
		uint32_t id = be16(frame + at + 2) & TCI_VLAN_MASK;

		if (id != 0)
			*vlan = *vlan == 0 ? id : NET_NONE;
		at += VLAN_TAG;
	}
	return at - MACS;
}

static uint32_t
find_link(const struct net *n, uint32_t port, uint32_t vlan)
{
	for (uint32_t i = 0; i < n->links; i++)
		if (n->link[i].port == port && n->link[i].vlan == vlan)
			return i;
	return NET_NONE;
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

bool
net_tx(struct net *n, struct net_tx *tx)
{
	const struct net_bare *from = &n->tx[n->tx_head % NET_TX_QUEUE];
	const struct net_link *l = &n->link[from->link];
	size_t tag = l->vlan != 0 ? VLAN_TAG : 0;

	if (n->tx_head == n->tx_tail)
		return false;
	memcpy(tx->frame, from->frame, MACS);
	if (tag != 0) {
		put16(tx->frame + MACS, ETHERTYPE_VLAN);
		put16(tx->frame + MACS + 2, net_tci(l->vlan, l->priority, 0));
	}
	memcpy(tx->frame + MACS + tag, from->frame + MACS, from->len - MACS);
	tx->port = l->port;
	tx->len = from->len + (uint32_t)tag;
	n->tx_head++;
	return true;
}
