/* SPDX-License-Identifier: BSD-3-Clause */
/* ARP for IPv4 over Ethernet (RFC 826). */
#include <string.h>

#include "net/net_address.h"
#include "net/net_dad.h"
#include "net/net_frame.h"
#include "net/net_neigh.h"
#include "net/net_proto.h"
#include "net/net_state.h"

static const uint8_t mac_broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
static const uint8_t mac_none[6];
/* hardware 1 (Ethernet), protocol 0x0800, sizes 6 and 4 */
static const uint8_t ethernet_ipv4[6] = {0, 1, 8, 0, 6, 4};

static bool
send_arp(struct net *n, uint32_t link, const uint8_t dmac[6], unsigned op, const uint8_t spa[4],
	const uint8_t tha[6], const uint8_t tpa[4])
{
	uint8_t *frame = op == ARP_REPLY ? net_answer_frame(n, link, dmac, ETHERTYPE_ARP)
					 : net_frame(n, link, dmac, ETHERTYPE_ARP),
		*arp;

	if (frame == NULL)
		return false;
	arp = frame + ETH_HDR;
	memcpy(arp, ethernet_ipv4, sizeof(ethernet_ipv4));
	net_put_be16(arp + ARP_OP, op);
	memcpy(arp + ARP_SHA, n->link[link].mac, 6);
	memcpy(arp + ARP_SPA, spa, 4);
	memcpy(arp + ARP_THA, tha, 6);
	memcpy(arp + ARP_TPA, tpa, 4);
	net_frame_send(n, ETH_HDR + ARP_BYTES);
	return true;
}

bool
net_arp_request(struct net *n, uint32_t link, const struct net_ip *source, const struct net_ip *ip,
	const uint8_t *dmac)
{
	return send_arp(n, link, dmac != NULL ? dmac : mac_broadcast, ARP_REQUEST, source->b + 12,
		mac_none, ip->b + 12);
}

/* As RFC 5227 has it: a request for the own address, which no cache mistakes for an answer. */
bool
net_arp_announce(struct net *n, const struct net_address *a)
{
	return send_arp(
		n, a->link, mac_broadcast, ARP_REQUEST, a->ip.b + 12, mac_none, a->ip.b + 12);
}

/* The sender's address stays empty: no cache learns from a question whether we may. */
bool
net_arp_probe(struct net *n, const struct net_address *a)
{
	return send_arp(n, a->link, mac_broadcast, ARP_REQUEST, mac_none, mac_none, a->ip.b + 12);
}

static void
serve_request(struct net *n, uint64_t now_ns, uint32_t link, const uint8_t *arp,
	const struct net_ip *sender)
{
	const uint8_t *sha = arp + ARP_SHA;

	(void)send_arp(n, link, sha, ARP_REPLY, arp + ARP_TPA, sha, arp + ARP_SPA);
	net_neigh_asked(n, now_ns, link, sender, sha);
}

void
net_arp_rx(struct net *n, uint64_t now_ns, uint32_t link, const uint8_t *frame, size_t bytes)
{
	const uint8_t *arp = frame + ETH_HDR;
	struct net_ip sender, target;
	unsigned op;

	if (bytes < ETH_HDR + ARP_BYTES || !mac_is_unicast(arp + ARP_SHA) ||
		memcmp(arp, ethernet_ipv4, sizeof(ethernet_ipv4)) != 0) {
		n->counters.rx_malformed++;
		return;
	}
	n->counters.rx_arp++;
	op = net_get_be16(arp + ARP_OP);
	net_ip_from_v4(&sender, arp + ARP_SPA);
	net_ip_from_v4(&target, arp + ARP_TPA);
	if (net_conflict(n, now_ns, link, &sender, arp + ARP_SHA))
		return;
	if (op == ARP_REQUEST && memcmp(arp + ARP_SPA, mac_none, 4) == 0)
		net_rival(n, link, &target, arp + ARP_SHA);
	if (op == ARP_REQUEST && net_own_on(n, link, &target))
		serve_request(n, now_ns, link, arp, &sender);
	else if (op == ARP_REPLY && memcmp(frame, n->link[link].mac, 6) == 0)
		net_neigh_answer(n, now_ns, link, &sender, arp + ARP_SHA);
	else
		net_neigh_rumour(n, now_ns, link, &sender, arp + ARP_SHA);
}
