/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 and IPv6 packets that are not RoCEv2: of these only echo requests, ND, IGMP and MLD are
 * served. */
#include <string.h>

#include "net/net_address.h"
#include "net/net_frame.h"
#include "net/net_group.h"
#include "net/net_proto.h"
#include "net/net_state.h"

#define ECHO_HOPS 64u

/*
 * The answer goes back to the MAC that the request came from, with its addresses
 * swapped: pinging us needs no neighbour entry and can't fill the table.
 */
static uint8_t *
echo_frame(struct net *n, uint32_t link, const uint8_t *frame, size_t bytes)
{
	uint8_t *reply;

	if (bytes > NET_BARE_MAX || bytes - ETH_HDR > n->link[link].mtu) {
		n->counters.rx_oversize++;
		return NULL;
	}
	n->counters.rx_icmp_echo++;
	reply = net_answer_frame(n, link, frame + 6, net_get_be16(frame + 12));
	if (reply != NULL)
		memcpy(reply + ETH_HDR, frame + ETH_HDR, bytes - ETH_HDR);
	return reply;
}

static void
reply_to_echo4(struct net *n, uint32_t link, const uint8_t *frame, size_t total)
{
	uint8_t *reply = echo_frame(n, link, frame, ETH_HDR + total), *ip, *icmp;

	if (reply == NULL)
		return;
	ip = reply + ETH_HDR;
	icmp = ip + V4_HDR;
	net_put_be16(ip + 4, 0);
	net_put_be16(ip + V4_FRAG, V4_DONT_FRAGMENT);
	ip[V4_TTL] = ECHO_HOPS;
	memcpy(ip + V4_SRC, frame + ETH_HDR + V4_DST, 4);
	memcpy(ip + V4_DST, frame + ETH_HDR + V4_SRC, 4);
	net_put_be16(ip + V4_SUM, 0);
	net_put_be16(ip + V4_SUM, sum_end(sum_add(0, ip, V4_HDR)));
	icmp[0] = ICMP_ECHO_REPLY;
	net_put_be16(icmp + ICMP_SUM, 0);
	net_put_be16(icmp + ICMP_SUM, sum_end(sum_add(0, icmp, total - V4_HDR)));
	net_frame_send(n, ETH_HDR + total);
}

/* Is this header complete and right, and where does the packet end? 0: no. */
static size_t
check_ip4(const uint8_t *ip, size_t bytes)
{
	size_t total;

	if (bytes < V4_HDR || ip[0] >> 4 != 4)
		return 0;
	total = net_get_be16(ip + V4_TOTAL);
	if ((ip[0] & 15) < 5 || total < (ip[0] & 15u) * 4 || total > bytes ||
		sum_end(sum_add(0, ip, V4_HDR + ((ip[0] & 15u) - 5) * 4)) != 0)
		return 0;
	return total;
}

void
net_ip4_rx(struct net *n, uint64_t now_ns, uint32_t link, const uint8_t *frame, size_t bytes)
{
	const uint8_t *ip = frame + ETH_HDR, *icmp = ip + V4_HDR;
	size_t total = check_ip4(ip, bytes - ETH_HDR);
	struct net_ip src, dst;

	if (total == 0) {
		n->counters.rx_malformed++;
		return;
	}
	if (ip[V4_PROTO] == PROTO_IGMP && (net_get_be16(ip + V4_FRAG) & V4_FRAG_MASK) == 0) {
		net_igmp_rx(n, now_ns, link, frame, total);
		return;
	}
	net_ip_from_v4(&src, ip + V4_SRC);
	net_ip_from_v4(&dst, ip + V4_DST);
	/* No options, no fragments; never an answer to a broadcast. */
	if (ip[0] != 0x45 || (net_get_be16(ip + V4_FRAG) & V4_FRAG_MASK) != 0 ||
		ip[V4_PROTO] != PROTO_ICMP || (frame[0] & 1) != 0 || !net_own_on(n, link, &dst) ||
		!net_ip_is_unicast(&src) || net_own(n, &src) != NULL) {
		n->counters.rx_dropped++;
		return;
	}
	if (total < V4_HDR + ICMP_HDR || sum_end(sum_add(0, icmp, total - V4_HDR)) != 0)
		n->counters.rx_malformed++;
	else if (icmp[0] == ICMP_ECHO && icmp[1] == 0)
		reply_to_echo4(n, link, frame, total);
	else
		n->counters.rx_dropped++;
}

static void
reply_to_echo6(struct net *n, uint32_t link, const uint8_t *frame, size_t icmp_bytes)
{
	uint8_t *reply = echo_frame(n, link, frame, ETH_HDR + V6_HDR + icmp_bytes), *ip, *icmp;

	if (reply == NULL)
		return;
	ip = reply + ETH_HDR;
	icmp = ip + V6_HDR;
	ip[V6_HOPS] = ECHO_HOPS;
	memcpy(ip + V6_SRC, frame + ETH_HDR + V6_DST, 16);
	memcpy(ip + V6_DST, frame + ETH_HDR + V6_SRC, 16);
	icmp[0] = ICMPV6_ECHO_REPLY;
	net_put_be16(icmp + ICMP_SUM, 0);
	net_put_be16(icmp + ICMP_SUM, sum_icmpv6(ip, icmp, icmp_bytes));
	net_frame_send(n, ETH_HDR + V6_HDR + icmp_bytes);
}

void
net_ip6_rx(struct net *n, uint64_t now_ns, uint32_t link, const uint8_t *frame, size_t bytes)
{
	const uint8_t *ip = frame + ETH_HDR, *icmp = ip + V6_HDR;
	struct net_ip src, dst;
	size_t icmp_bytes;

	bytes -= ETH_HDR;
	if (bytes < V6_HDR || ip[0] >> 4 != 6 || net_get_be16(ip + V6_PAYLOAD) > bytes - V6_HDR) {
		n->counters.rx_malformed++;
		return;
	}
	icmp_bytes = net_get_be16(ip + V6_PAYLOAD);
	if (ip[V6_NEXT] == PROTO_HOP_BY_HOP) {
		net_mld_rx(n, now_ns, link, frame, icmp_bytes);
		return;
	}
	if (ip[V6_NEXT] != PROTO_ICMPV6) {
		n->counters.rx_dropped++;
		return;
	}
	if (icmp_bytes < ICMP_HDR || sum_icmpv6(ip, icmp, icmp_bytes) != 0) {
		n->counters.rx_malformed++;
		return;
	}
	if (icmp[0] == ICMPV6_NS || icmp[0] == ICMPV6_NA) {
		net_nd_rx(n, now_ns, link, frame, icmp_bytes);
		return;
	}
	memcpy(src.b, ip + V6_SRC, 16);
	memcpy(dst.b, ip + V6_DST, 16);
	if (icmp[0] == ICMPV6_ECHO && icmp[1] == 0 && (frame[0] & 1) == 0 &&
		net_ip6_is_unicast(&dst) && net_own_on(n, link, &dst) && net_ip6_is_unicast(&src) &&
		net_own(n, &src) == NULL)
		reply_to_echo6(n, link, frame, icmp_bytes);
	else
		n->counters.rx_dropped++;
}
