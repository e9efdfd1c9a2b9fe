/* SPDX-License-Identifier: BSD-3-Clause */
/* From a datagram to a frame: headers as they stood on the wire, as far as the ICRC covers them. */
#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "udp/udp_own.h"
#include "wire/icrc.h"
#include "wire/protocol.h"

#define HEADERS_V4 (ROCE_ETH_BYTES + ROCE_IPV4_BYTES + ROCE_UDP_BYTES)
#define HEADERS_V6 (ROCE_ETH_BYTES + ROCE_IPV6_BYTES + ROCE_UDP_BYTES)

/* Returns where the frame begins. */
static uint8_t *
frame_begin(const struct udp_port *u, const struct port *p, struct rte_mbuf *m, uint32_t headers,
	uint32_t bytes)
{
	struct rte_ether_hdr *eth;

	m->data_off = (uint16_t)(UDP_PAYLOAD_AT - headers);
	m->data_len = (uint16_t)(headers + bytes);
	m->pkt_len = m->data_len;
	m->nb_segs = 1;
	m->next = NULL;
	eth = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);
	memcpy(eth->dst_addr.addr_bytes, p->mac, 6);
	memcpy(eth->src_addr.addr_bytes, u->gateway, 6);
	return (uint8_t *)(eth + 1);
}

static void
udp_header_put(struct rte_udp_hdr *h, const struct udp_origin *o, uint32_t bytes)
{
	h->src_port = rte_cpu_to_be_16(o->port);
	h->dst_port = rte_cpu_to_be_16(ROCE_UDP_PORT);
	h->dgram_len = rte_cpu_to_be_16((uint16_t)(ROCE_UDP_BYTES + bytes));
	h->dgram_cksum = 0; /* the kernel has checked it */
}

static void
ipid_put(struct rte_ipv4_hdr *ip, uint32_t value)
{
	ip->packet_id = rte_cpu_to_be_16((uint16_t)(value >> 1));
	ip->fragment_offset = rte_cpu_to_be_16((uint16_t)((value & 1) << 14));
	ip->hdr_checksum = 0;
	ip->hdr_checksum = rte_ipv4_cksum(ip);
}

/* The identification is found by the ICRC, which is right then. False: with none. */
static bool
ipid_find(struct udp_port *u, struct rte_ipv4_hdr *ip, uint32_t ip_bytes)
{
	struct roce_ipid_peer *peer = roce_ipid_peer(
		&u->peers, (const uint8_t *)&ip->src_addr, (const uint8_t *)&ip->dst_addr);
	uint32_t guess = roce_ipid_next(peer), value, difference;

	ipid_put(ip, guess);
	difference =
		roce_icrc_difference_at((const uint8_t *)ip, false, ip_bytes - ROCE_ICRC_BYTES);
	switch (roce_ipid_judge(u->ipid, peer, u->now_ms, ip_bytes, guess, difference, &value)) {
	case ROCE_IPID_GUESSED:
		u->count.rx_icrc_guessed++;
		return true;
	case ROCE_IPID_SOLVED:
		u->count.rx_icrc_solved++;
		ipid_put(ip, value);
		return true;
	case ROCE_IPID_FAR:
		u->count.rx_icrc_far++;
		return false;
	case ROCE_IPID_WRONG:
		break;
	}
	u->count.rx_icrc_wrong++;
	if (peer->broken == ROCE_IPID_BROKEN)
		memcpy(u->broken, peer->ip, sizeof(u->broken));
	return false;
}

static bool
frame_make_v4(struct udp_port *u, const struct port *p, struct rte_mbuf *m,
	const struct udp_origin *o, uint32_t bytes)
{
	uint8_t *at = frame_begin(u, p, m, HEADERS_V4, bytes);
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)at;
	const uint32_t ip_bytes = ROCE_IPV4_BYTES + ROCE_UDP_BYTES + bytes;

	memcpy(at - 2, "\x08\x00", 2);
	ip->version_ihl = 0x45;
	ip->type_of_service = o->tclass;
	ip->total_length = rte_cpu_to_be_16((uint16_t)ip_bytes);
	ip->time_to_live = o->hops;
	ip->next_proto_id = ROCE_PROTO_UDP;
	memcpy(&ip->src_addr, o->from, 4);
	memcpy(&ip->dst_addr, o->to, 4);
	udp_header_put((struct rte_udp_hdr *)(ip + 1), o, bytes);
	return ipid_find(u, ip, ip_bytes);
}

static void
frame_make_v6(const struct udp_port *u, const struct port *p, struct rte_mbuf *m,
	const struct udp_origin *o, uint32_t bytes)
{
	uint8_t *at = frame_begin(u, p, m, HEADERS_V6, bytes);
	struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)at;

	memcpy(at - 2, "\x86\xdd", 2);
	ip->vtc_flow = rte_cpu_to_be_32(6u << 28 | (uint32_t)o->tclass << 20);
	ip->payload_len = rte_cpu_to_be_16((uint16_t)(ROCE_UDP_BYTES + bytes));
	ip->proto = ROCE_PROTO_UDP;
	ip->hop_limits = o->hops;
	memcpy(ip->src_addr, o->from, 16);
	memcpy(ip->dst_addr, o->to, 16);
	udp_header_put((struct rte_udp_hdr *)(ip + 1), o, bytes);
}

bool
udp_frame_make(struct udp_port *u, const struct port *p, struct rte_mbuf *m,
	const struct udp_origin *o, uint32_t bytes)
{
	if (bytes < ROCE_BTH_BYTES + ROCE_ICRC_BYTES || UDP_PAYLOAD_AT + bytes > m->buf_len) {
		u->count.rx_not_roce++;
		return false;
	}
	if (!o->v6)
		return frame_make_v4(u, p, m, o, bytes);
	frame_make_v6(u, p, m, o, bytes);
	return true;
}
