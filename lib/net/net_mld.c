/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of MLD: version 2 (RFC 3810) and 1 (RFC 2710). */
#include <string.h>

#include "net/net_address.h"
#include "net/net_frame.h"
#include "net/net_group.h"

#define HOP_BY_HOP 8u /* bytes of the options that are sent */

enum { MLD_QUERY = 130, MLD_REPORT1 = 131, MLD_DONE = 132, MLD_REPORT2 = 143 };
enum { MLD_CODE = 4, MLD_GROUP = 8, MLD_BYTES = 24 };
enum { QUERY_FLAGS = 24, QUERY_INTERVAL = 25, QUERY_SOURCES = 26, QUERY_BYTES = 28 };
enum { REPORT_COUNT = 6, REPORT_BYTES = 8, RECORD_GROUP = 4, RECORD_BYTES = 20 };
#define QUERY_ROBUSTNESS 7u

static const struct net_ip all_nodes = {{0xff, 2, [15] = 1}}, all_routers = {{0xff, 2, [15] = 2}},
			   all_mld2 = {{0xff, 2, [15] = 0x16}};

/* ---- sending ---- */

/* The link-local address; before the host has one it gives none (RFC 3590). */
static void
put_source(const struct net *n, uint32_t link, uint8_t *at)
{
	memset(at, 0, 16);
	for (uint32_t i = 0; i < n->addresses; i++) {
		const struct net_address *a = &n->address[i];

		if (a->link == link && a->state == ADDRESS_VALID && net_ip_is_link_local(&a->ip))
			memcpy(at, a->ip.b, 16);
	}
}

/* The frame around an ICMPv6 message of bytes; NULL: no room. */
static uint8_t *
begin_frame(struct net *n, uint32_t link, const struct net_ip *dst, unsigned type, size_t bytes)
{
	/* Router Alert (RFC 2711), for MLD, and padding. */
	static const uint8_t options[HOP_BY_HOP] = {PROTO_ICMPV6, 0, 5, 2, 0, 0, 1, 0};
	uint8_t mac[6], *frame, *ip;

	net_group_mac(dst, mac);
	frame = net_frame(n, link, mac, ETHERTYPE_V6);
	if (frame == NULL)
		return NULL;
	ip = frame + ETH_HDR;
	memset(ip, 0, V6_HDR + HOP_BY_HOP + bytes);
	ip[0] = 0x60;
	net_put_be16(ip + V6_PAYLOAD, (unsigned)(HOP_BY_HOP + bytes));
	ip[V6_NEXT] = PROTO_HOP_BY_HOP;
	ip[V6_HOPS] = 1;
	put_source(n, link, ip + V6_SRC);
	memcpy(ip + V6_DST, dst->b, 16);
	memcpy(ip + V6_HDR, options, sizeof(options));
	ip[V6_HDR + HOP_BY_HOP] = (uint8_t)type;
	return ip;
}

static void
end_frame(struct net *n, uint8_t *ip, size_t bytes)
{
	uint8_t *icmp = ip + V6_HDR + HOP_BY_HOP;

	net_put_be16(icmp + ICMP_SUM, sum_icmpv6(ip, icmp, bytes));
	n->counters.tx_group_report++;
	net_frame_send(n, ETH_HDR + V6_HDR + HOP_BY_HOP + bytes);
}

static void
send_short(struct net *n, uint32_t link, unsigned type, const struct net_ip *dst,
	const struct net_ip *group)
{
	uint8_t *ip = begin_frame(n, link, dst, type, MLD_BYTES);

	if (ip == NULL)
		return;
	memcpy(ip + V6_HDR + HOP_BY_HOP + MLD_GROUP, group->b, 16);
	end_frame(n, ip, MLD_BYTES);
}

void
net_mld_report(struct net *n, uint32_t link, const struct net_ip *group)
{
	send_short(n, link, MLD_REPORT1, group, group);
}

void
net_mld_done(struct net *n, uint32_t link, const struct net_ip *group)
{
	send_short(n, link, MLD_DONE, &all_routers, group);
}

unsigned
net_mld_records(const struct net_link *l)
{
	unsigned room = (l->mtu - V6_HDR - HOP_BY_HOP - REPORT_BYTES) / RECORD_BYTES;

	return room < NET_RECORDS_MAX ? room : NET_RECORDS_MAX;
}

void
net_mld_report3(struct net *n, uint32_t link, const struct net_record *record, unsigned count)
{
	const size_t bytes = REPORT_BYTES + (size_t)count * RECORD_BYTES;
	uint8_t *ip = begin_frame(n, link, &all_mld2, MLD_REPORT2, bytes), *icmp;

	if (ip == NULL)
		return;
	icmp = ip + V6_HDR + HOP_BY_HOP;
	net_put_be16(icmp + REPORT_COUNT, count);
	for (unsigned i = 0; i < count; i++) {
		uint8_t *at = icmp + REPORT_BYTES + (size_t)i * RECORD_BYTES;

		at[0] = (uint8_t)record[i].type;
		memcpy(at + RECORD_GROUP, record[i].group->b, 16);
	}
	end_frame(n, ip, bytes);
}

/* ---- receiving ---- */

#define OPTION_PAD1	    0u
#define OPTION_ROUTER_ALERT 5u

/* bytes of options, headers of their own included. */
static bool
has_router_alert(const uint8_t *options, size_t bytes)
{
	for (size_t at = 2; at < bytes;) {
		if (options[at] == OPTION_PAD1) {
			at++;
			continue;
		}
		if (bytes - at < 2)
			return false;
		if (options[at] == OPTION_ROUTER_ALERT)
			return options[at + 1] == 2 && bytes - at >= 4 &&
			       net_get_be16(options + at + 2) == 0;
		at += 2u + options[at + 1];
	}
	return false;
}

/* RFC 3810, sections 5.1.3 and 5.1.9: floating-point numbers with so many bits of mantissa. */
static uint64_t
code_value(unsigned code, unsigned mantissa_bits)
{
	const unsigned linear = 1u << (mantissa_bits + 3), one = 1u << mantissa_bits;

	return code < linear
		       ? code
		       : (uint64_t)((code & (one - 1)) | one) << ((code >> mantissa_bits & 7u) + 3);
}

/* Which version's, by its length (RFC 3810, section 8.1); false: none's. */
static bool
read_query(const uint8_t *icmp, size_t bytes, struct net_query *q)
{
	static const struct net_ip zero;
	const unsigned code = net_get_be16(icmp + MLD_CODE);

	*q = (struct net_query){.version = 2, .response_ns = code * NET_MS};
	if (bytes != MLD_BYTES) {
		if (bytes < QUERY_BYTES ||
			bytes - QUERY_BYTES < 16u * net_get_be16(icmp + QUERY_SOURCES))
			return false;
		*q = (struct net_query){.version = 3,
			.response_ns = code_value(code, 12) * NET_MS,
			.robustness = icmp[QUERY_FLAGS] & QUERY_ROBUSTNESS,
			.interval_ns = code_value(icmp[QUERY_INTERVAL], 4) * NET_S};
	}
	memcpy(q->group.b, icmp + MLD_GROUP, 16);
	return net_ip_equal(&q->group, &zero) ||
	       (net_ip_is_group(&q->group) && !net_ip_is_v4(&q->group));
}

static bool
query_is_for_us(const struct net *n, uint32_t link, const struct net_ip *dst)
{
	return net_ip_equal(dst, &all_nodes) || net_own_on(n, link, dst) ||
	       net_group_is_joined(n, link, dst);
}

/* From the link, that is what all three say (RFC 3810, section 6.2). */
static bool
is_of_the_link(const uint8_t *ip, size_t options_bytes)
{
	struct net_ip src;

	memcpy(src.b, ip + V6_SRC, 16);
	return net_ip_is_link_local(&src) && ip[V6_HOPS] == 1 &&
	       has_router_alert(ip + V6_HDR, options_bytes);
}

static void
rx_message(struct net *n, uint64_t now_ns, uint32_t link, const uint8_t *ip, const uint8_t *icmp,
	size_t bytes)
{
	struct net_ip dst, group;
	struct net_query q;

	memcpy(dst.b, ip + V6_DST, 16);
	if (icmp[0] == MLD_QUERY) {
		if (!read_query(icmp, bytes, &q)) {
			n->counters.rx_malformed++;
		} else if (!query_is_for_us(n, link, &dst)) {
			n->counters.rx_dropped++;
		} else {
			n->counters.rx_group_query++;
			net_group_asked(n, now_ns, link, false, &q);
		}
	} else if (icmp[0] == MLD_REPORT1) {
		memcpy(group.b, icmp + MLD_GROUP, 16);
		net_group_reported(n, link, &group);
	} else {
		n->counters.rx_dropped++; /* for routers */
	}
}

void
net_mld_rx(struct net *n, uint64_t now_ns, uint32_t link, const uint8_t *frame, size_t bytes)
{
	const uint8_t *ip = frame + ETH_HDR, *options = ip + V6_HDR;
	const size_t options_bytes = bytes < HOP_BY_HOP ? 0 : (options[1] + 1u) * 8u;
	const uint8_t *icmp = options + options_bytes;

	if (options_bytes == 0 || options_bytes > bytes) {
		n->counters.rx_malformed++;
		return;
	}
	if (options[0] != PROTO_ICMPV6) {
		n->counters.rx_dropped++;
		return;
	}
	bytes -= options_bytes;
	if (bytes < ICMP_HDR || sum_icmpv6(ip, icmp, bytes) != 0)
		n->counters.rx_malformed++;
	else if (bytes < MLD_BYTES || !is_of_the_link(ip, options_bytes))
		n->counters.rx_dropped++;
	else
		rx_message(n, now_ns, link, ip, icmp, bytes);
}
