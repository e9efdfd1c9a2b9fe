/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of IGMP: version 3 (RFC 3376), 2 (RFC 2236) and 1. */
#include <string.h>

#include "net/net_address.h"
#include "net/net_frame.h"
#include "net/net_group.h"

#define IP_HDR	     (V4_HDR + 4u) /* with the Router Alert option (RFC 2113) */
#define TOS_CONTROL  0xc0u
#define ROUTER_ALERT 0x94u
#define OPTION_END   0u
#define OPTION_NOP   1u
#define TENTH_NS     (NET_S / 10)

enum {
	IGMP_QUERY = 0x11,
	IGMP_REPORT1 = 0x12,
	IGMP_REPORT2 = 0x16,
	IGMP_LEAVE = 0x17,
	IGMP_REPORT3 = 0x22
};
enum { IGMP_CODE = 1, IGMP_SUM = 2, IGMP_GROUP = 4, IGMP_BYTES = 8 };
enum { QUERY_FLAGS = 8, QUERY_INTERVAL = 9, QUERY_SOURCES = 10, QUERY_BYTES = 12 };
enum { REPORT_COUNT = 6, RECORD_GROUP = 4, RECORD_BYTES = 8 };
#define QUERY_ROBUSTNESS 7u

static const uint8_t all_hosts[4] = {224, 0, 0, 1}, all_routers[4] = {224, 0, 0, 2},
		     all_igmp3[4] = {224, 0, 0, 22};

/* ---- sending ---- */

/* An address that routers know the link by; a host without one has none to give (RFC 3376,
 * section 4.2.13). */
static void
put_source(const struct net *n, uint32_t link, uint8_t *at)
{
	memset(at, 0, 4);
	for (uint32_t i = 0; i < n->addresses; i++) {
		const struct net_address *a = &n->address[i];

		if (a->link != link || a->state != ADDRESS_VALID || !net_ip_is_v4(&a->ip))
			continue;
		memcpy(at, a->ip.b + 12, 4);
		return;
	}
}

/* The frame around an IGMP message of bytes; NULL: no room. */
static uint8_t *
begin_frame(struct net *n, uint32_t link, const uint8_t dst[4], size_t bytes)
{
	struct net_ip group;
	uint8_t mac[6], *frame, *ip;

	net_ip_from_v4(&group, dst);
	net_group_mac(&group, mac);
	frame = net_frame(n, link, mac, ETHERTYPE_V4);
	if (frame == NULL)
		return NULL;
	ip = frame + ETH_HDR;
	memset(ip, 0, IP_HDR + bytes);
	ip[0] = 0x46;
	ip[1] = TOS_CONTROL;
	net_put_be16(ip + V4_TOTAL, (unsigned)(IP_HDR + bytes));
	net_put_be16(ip + V4_FRAG, V4_DONT_FRAGMENT);
	ip[V4_TTL] = 1;
	ip[V4_PROTO] = PROTO_IGMP;
	put_source(n, link, ip + V4_SRC);
	memcpy(ip + V4_DST, dst, 4);
	ip[V4_HDR] = ROUTER_ALERT;
	ip[V4_HDR + 1] = 4;
	net_put_be16(ip + V4_SUM, sum_end(sum_add(0, ip, IP_HDR)));
	return ip + IP_HDR;
}

static void
end_frame(struct net *n, uint8_t *igmp, size_t bytes)
{
	net_put_be16(igmp + IGMP_SUM, sum_end(sum_add(0, igmp, bytes)));
	n->counters.tx_group_report++;
	net_frame_send(n, ETH_HDR + IP_HDR + bytes);
}

static void
send_short(struct net *n, uint32_t link, unsigned type, const uint8_t dst[4],
	const struct net_ip *group)
{
	uint8_t *igmp = begin_frame(n, link, dst, IGMP_BYTES);

	if (igmp == NULL)
		return;
	igmp[0] = (uint8_t)type;
	memcpy(igmp + IGMP_GROUP, group->b + 12, 4);
	end_frame(n, igmp, IGMP_BYTES);
}

void
net_igmp_report(struct net *n, uint32_t link, unsigned version, const struct net_ip *group)
{
	send_short(n, link, version == 1 ? IGMP_REPORT1 : IGMP_REPORT2, group->b + 12, group);
}

void
net_igmp_leave(struct net *n, uint32_t link, const struct net_ip *group)
{
	send_short(n, link, IGMP_LEAVE, all_routers, group);
}

unsigned
net_igmp_records(const struct net_link *l)
{
	unsigned room = (l->mtu - IP_HDR - IGMP_BYTES) / RECORD_BYTES;

	return room < NET_RECORDS_MAX ? room : NET_RECORDS_MAX;
}

void
net_igmp_report3(struct net *n, uint32_t link, const struct net_record *record, unsigned count)
{
	const size_t bytes = IGMP_BYTES + (size_t)count * RECORD_BYTES;
	uint8_t *igmp = begin_frame(n, link, all_igmp3, bytes);

	if (igmp == NULL)
		return;
	igmp[0] = IGMP_REPORT3;
	net_put_be16(igmp + REPORT_COUNT, count);
	for (unsigned i = 0; i < count; i++) {
		uint8_t *at = igmp + IGMP_BYTES + (size_t)i * RECORD_BYTES;

		at[0] = (uint8_t)record[i].type;
		memcpy(at + RECORD_GROUP, record[i].group->b + 12, 4);
	}
	end_frame(n, igmp, bytes);
}

/* ---- receiving ---- */

/* RFC 3376, section 4.1.1 and 4.1.7: from 128 on a code is a floating-point number. */
static unsigned
code_value(uint8_t code)
{
	return code < 128 ? code : (unsigned)((code & 15u) | 16u) << ((code >> 4 & 7u) + 3);
}

static bool
has_router_alert(const uint8_t *ip)
{
	const unsigned end = (ip[0] & 15u) * 4;

	for (unsigned at = V4_HDR; at < end && ip[at] != OPTION_END;) {
		if (ip[at] == ROUTER_ALERT)
			return true;
		if (ip[at] == OPTION_NOP) {
			at++;
			continue;
		}
		if (end - at < 2 || ip[at + 1] < 2)
			return false;
		at += ip[at + 1];
	}
	return false;
}

/* Which version's, by its length and code (RFC 3376, section 7.1); false: none's. */
static bool
read_query(const uint8_t *igmp, size_t bytes, struct net_query *q)
{
	const uint8_t code = igmp[IGMP_CODE];

	*q = (struct net_query){.version = 3, .response_ns = code_value(code) * TENTH_NS};
	if (bytes == IGMP_BYTES) {
		q->version = code == 0 ? 1 : 2;
		q->response_ns = (code == 0 ? 100 : code) * TENTH_NS;
	} else if (bytes < QUERY_BYTES ||
		   bytes - QUERY_BYTES < 4u * net_get_be16(igmp + QUERY_SOURCES)) {
		return false;
	} else {
		q->robustness = igmp[QUERY_FLAGS] & QUERY_ROBUSTNESS;
		q->interval_ns = code_value(igmp[QUERY_INTERVAL]) * NET_S;
	}
	if (net_get_be16(igmp + IGMP_GROUP) != 0 || net_get_be16(igmp + IGMP_GROUP + 2) != 0) {
		net_ip_from_v4(&q->group, igmp + IGMP_GROUP);
		return net_ip_is_group(&q->group);
	}
	return true;
}

/* A query may come to each address that the link has (RFC 3376, section 4.1.12). */
static bool
query_is_for_us(const struct net *n, uint32_t link, const uint8_t *ip)
{
	struct net_ip dst;

	net_ip_from_v4(&dst, ip + V4_DST);
	return memcmp(ip + V4_DST, all_hosts, 4) == 0 || net_own_on(n, link, &dst) ||
	       net_group_is_joined(n, link, &dst);
}

static void
rx_query(struct net *n, uint64_t now_ns, uint32_t link, const uint8_t *ip, const uint8_t *igmp,
	size_t bytes)
{
	struct net_query q;

	if (!read_query(igmp, bytes, &q)) {
		n->counters.rx_malformed++;
	} else if (!query_is_for_us(n, link, ip) || (q.version > 1 && !has_router_alert(ip))) {
		n->counters.rx_dropped++; /* the latter is forged (RFC 3376, section 9.1) */
	} else {
		n->counters.rx_group_query++;
		net_group_asked(n, now_ns, link, true, &q);
	}
}

void
net_igmp_rx(struct net *n, uint64_t now_ns, uint32_t link, const uint8_t *frame, size_t total)
{
	const uint8_t *ip = frame + ETH_HDR, *igmp = ip + (ip[0] & 15u) * 4;
	const size_t bytes = total - (ip[0] & 15u) * 4;
	struct net_ip group;

	if (bytes < IGMP_BYTES || sum_end(sum_add(0, igmp, bytes)) != 0) {
		n->counters.rx_malformed++;
		return;
	}
	if (igmp[0] == IGMP_QUERY) {
		rx_query(n, now_ns, link, ip, igmp, bytes);
	} else if (igmp[0] == IGMP_REPORT1 || igmp[0] == IGMP_REPORT2) {
		net_ip_from_v4(&group, igmp + IGMP_GROUP);
		net_group_reported(n, link, &group);
	} else {
		n->counters.rx_dropped++; /* for routers */
	}
}
