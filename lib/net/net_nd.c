/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbour discovery (RFC 4861): solicitations and advertisements. Routers are not listened to. */
#include <string.h>

#include "net/net_address.h"
#include "net/net_dad.h"
#include "net/net_frame.h"
#include "net/net_neigh.h"
#include "net/net_proto.h"
#include "net/net_state.h"

static const struct net_ip all_nodes = {{0xff, 2, [15] = 1}};

/* ff02::1:ffXX:XXXX */
static void
solicited_node(const struct net_ip *ip, struct net_ip *group)
{
	*group = (struct net_ip){{0xff, 2, [11] = 1, 0xff, ip->b[13], ip->b[14], ip->b[15]}};
}

static void
group_mac(const struct net_ip *group, uint8_t mac[6])
{
	mac[0] = mac[1] = 0x33;
	memcpy(mac + 2, group->b + 12, 4);
}

/* ---- sending ---- */

enum nd_kind { ND_ASK, ND_ANSWER, ND_ANNOUNCE }; /* the last two are advertisements */

/* dmac NULL: dst is a group. */
static bool
send_nd(struct net *n, uint32_t link, const uint8_t *dmac, const struct net_ip *src,
	const struct net_ip *dst, enum nd_kind kind, uint8_t flags, const struct net_ip *target)
{
	/* Without an address of ours the message names no MAC (RFC 4861, section 4.3). */
	const unsigned bytes = net_ip_is_zero(src) ? ND_OPTIONS : ND_OPTIONS + ND_OPT_BYTES;
	uint8_t mac[6], *frame, *ip, *icmp;

	if (dmac == NULL) {
		group_mac(dst, mac);
		dmac = mac;
	}
	frame = kind == ND_ANSWER ? net_answer_frame(n, link, dmac, ETHERTYPE_V6)
				  : net_frame(n, link, dmac, ETHERTYPE_V6);
	if (frame == NULL)
		return false;
	ip = frame + ETH_HDR;
	memset(ip, 0, V6_HDR + bytes);
	ip[0] = 0x60;
	net_put_be16(ip + V6_PAYLOAD, bytes);
	ip[V6_NEXT] = PROTO_ICMPV6;
	ip[V6_HOPS] = ND_HOPS;
	memcpy(ip + V6_SRC, src->b, 16);
	memcpy(ip + V6_DST, dst->b, 16);
	icmp = ip + V6_HDR;
	icmp[0] = kind == ND_ASK ? ICMPV6_NS : ICMPV6_NA;
	icmp[ND_FLAGS] = flags;
	memcpy(icmp + ND_TARGET, target->b, 16);
	if (bytes > ND_OPTIONS) {
		icmp[ND_OPTIONS] = kind == ND_ASK ? ND_OPT_SLLA : ND_OPT_TLLA;
		icmp[ND_OPTIONS + 1] = 1; /* in units of 8 bytes */
		memcpy(icmp + ND_OPTIONS + 2, n->link[link].mac, 6);
	}
	net_put_be16(icmp + ICMP_SUM, sum_icmpv6(ip, icmp, bytes));
	net_frame_send(n, ETH_HDR + V6_HDR + bytes);
	return true;
}

bool
net_nd_solicit(struct net *n, uint32_t link, const struct net_ip *source, const struct net_ip *ip,
	const uint8_t *dmac)
{
	struct net_ip group;

	solicited_node(ip, &group);
	return send_nd(n, link, dmac, source, dmac != NULL ? ip : &group, ND_ASK, 0, ip);
}

bool
net_nd_announce(struct net *n, const struct net_address *a)
{
	return send_nd(n, a->link, NULL, &a->ip, &all_nodes, ND_ANNOUNCE, ND_NA_OVERRIDE, &a->ip);
}

bool
net_nd_probe(struct net *n, const struct net_address *a)
{
	static const struct net_ip unspecified;

	return net_nd_solicit(n, a->link, &unspecified, &a->ip, NULL);
}

/* ---- receiving ---- */

/* The link-layer address in the options: NULL if absent. False: the options are broken. */
static bool
find_mac(const uint8_t *icmp, size_t bytes, uint8_t type, const uint8_t **mac)
{
	*mac = NULL;
	for (size_t at = ND_OPTIONS; at < bytes;) {
		const uint8_t *opt = icmp + at;
		size_t len;

		if (bytes - at < 2)
			return false;
		len = (size_t)opt[1] * 8;
		if (len == 0 || len > bytes - at)
			return false;
		if (opt[0] == type)
			*mac = opt + 2;
		at += len;
	}
	return *mac == NULL || mac_is_unicast(*mac);
}

static bool
rx_solicitation(struct net *n, uint64_t now_ns, uint32_t link, const uint8_t *frame, size_t bytes)
{
	const uint8_t *ip = frame + ETH_HDR, *icmp = ip + V6_HDR, *mac;
	struct net_ip src, dst, target, group;

	memcpy(src.b, ip + V6_SRC, 16);
	memcpy(dst.b, ip + V6_DST, 16);
	memcpy(target.b, icmp + ND_TARGET, 16);
	solicited_node(&target, &group);
	if (!find_mac(icmp, bytes, ND_OPT_SLLA, &mac) || !net_ip6_is_unicast(&target))
		return false;
	if (net_ip_is_zero(
		    &src)) { /* duplicate address detection: all nodes hear that it is ours */
		if (mac != NULL || !net_ip_equal(&dst, &group))
			return false;
		net_rival(n, link, &target, frame + 6);
		if (net_own_on(n, link, &target))
			(void)send_nd(n, link, NULL, &target, &all_nodes, ND_ANSWER, ND_NA_OVERRIDE,
				&target);
		return true;
	}
	if (!net_own_on(n, link, &target) || !net_ip6_is_unicast(&src) ||
		(!net_ip_equal(&dst, &target) && !net_ip_equal(&dst, &group)))
		return true;
	if (net_conflict(n, now_ns, link, &src, mac != NULL ? mac : frame + 6))
		return true;
	(void)send_nd(n, link, mac != NULL ? mac : frame + 6, &target, &src, ND_ANSWER,
		ND_NA_SOLICITED | ND_NA_OVERRIDE, &target);
	if (mac != NULL)
		net_neigh_asked(n, now_ns, link, &src, mac);
	return true;
}

static bool
rx_advertisement(struct net *n, uint64_t now_ns, uint32_t link, const uint8_t *frame, size_t bytes)
{
	const uint8_t *ip = frame + ETH_HDR, *icmp = ip + V6_HDR, *mac;
	bool solicited = icmp[ND_FLAGS] & ND_NA_SOLICITED,
	     override = icmp[ND_FLAGS] & ND_NA_OVERRIDE;
	struct net_ip dst, target;
	const struct net_neigh *known;

	memcpy(dst.b, ip + V6_DST, 16);
	memcpy(target.b, icmp + ND_TARGET, 16);
	if (!find_mac(icmp, bytes, ND_OPT_TLLA, &mac) || !net_ip6_is_unicast(&target) ||
		(dst.b[0] == 0xff && solicited))
		return false;
	if (net_conflict(n, now_ns, link, &target, mac != NULL ? mac : frame + 6))
		return true;
	known = net_neigh_find(n, link, &target);
	if (known == NULL)
		return true;
	if (!solicited) {
		if (mac != NULL && override)
			net_neigh_rumour(n, now_ns, link, &target, mac);
		return true;
	}
	if (!net_own_on(n, link, &dst))
		return true;
	/* A station that was asked by its MAC may leave it out of its answer (RFC 4861, 7.2.4). */
	if (mac == NULL && known->state != NEIGH_INCOMPLETE)
		mac = known->mac;
	/* Without override (a proxy, an anycast address) a known MAC stands (RFC 4861, 7.2.5). */
	if (mac != NULL &&
		(known->state == NEIGH_INCOMPLETE || override || memcmp(mac, known->mac, 6) == 0))
		net_neigh_answer(n, now_ns, link, &target, mac);
	return true;
}

void
net_nd_rx(struct net *n, uint64_t now_ns, uint32_t link, const uint8_t *frame, size_t icmp_bytes)
{
	const uint8_t *ip = frame + ETH_HDR, *icmp = ip + V6_HDR;

	/* A hop limit below 255 has crossed a router: it is not from our link. */
	if (ip[V6_HOPS] != ND_HOPS || icmp[1] != 0 || icmp_bytes < ND_OPTIONS ||
		!(icmp[0] == ICMPV6_NS ? rx_solicitation(n, now_ns, link, frame, icmp_bytes)
				       : rx_advertisement(n, now_ns, link, frame, icmp_bytes)))
		n->counters.rx_malformed++;
	else
		n->counters.rx_nd++;
}
