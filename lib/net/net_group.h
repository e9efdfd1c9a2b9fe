/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Multicast groups, for both families. IGMP and MLD are twins (RFC 3810, section 1): one table and
 * one set of timers serve both, and net_igmp.c and net_mld.c only know the messages. Versions are
 * counted as IGMP's: MLDv1 is 2, MLDv2 is 3.
 */
#ifndef NDD_NET_GROUP_H
#define NDD_NET_GROUP_H

#include "net/net_state.h"

#define GROUP_VERSION_NEWEST 3u

/* Group records, all without sources: hosts of RoCEv2 have no source filters. */
enum net_record_type { RECORD_IS_EXCLUDE = 2, RECORD_TO_INCLUDE = 3, RECORD_TO_EXCLUDE = 4 };
#define NET_RECORDS_MAX 64u /* in one report */
struct net_record {
	enum net_record_type type;
	const struct net_ip *group;
};

struct net_query {
	uint8_t version;
	uint8_t robustness;   /* 0: the router does not say */
	uint64_t response_ns; /* answers come within */
	uint64_t interval_ns; /* 0: the router does not say */
	struct net_ip group;  /* zero: all groups */
};

void net_group_tick(struct net *n, uint64_t now_ns);
/* A router asks. */
void net_group_asked(
	struct net *n, uint64_t now_ns, uint32_t link, bool v4, const struct net_query *q);
/* Another member on the link has reported the group, in an older version than the newest. */
void net_group_reported(struct net *n, uint32_t link, const struct net_ip *group);
bool net_group_is_joined(const struct net *n, uint32_t link, const struct net_ip *group);
/* The port was plugged in: its switch may be another one. */
void net_group_port_up(struct net *n, uint32_t port);
/* The link goes. */
void net_group_forget(struct net *n, uint32_t link);
/* Is the group asked for, and reported? All stations are in the group of all stations, and groups
 * of a smaller scope than the link are no network's business. */
bool net_group_is_public(const struct net_ip *group);

/* ---- net_igmp.c ---- */

/* An IPv4 packet of IGMP, total bytes, whose header is good. */
void net_igmp_rx(struct net *n, uint64_t now_ns, uint32_t link, const uint8_t *frame, size_t total);
/* Reports of version 3 have records, those of 2 and 1 one group. */
void net_igmp_report3(
	struct net *n, uint32_t link, const struct net_record *record, unsigned count);
void net_igmp_report(struct net *n, uint32_t link, unsigned version, const struct net_ip *group);
void net_igmp_leave(struct net *n, uint32_t link, const struct net_ip *group);
unsigned net_igmp_records(const struct net_link *l); /* that a report has room for */

/* ---- net_mld.c ---- */

/* An IPv6 packet that begins with hop-by-hop options, which bytes holds after the IPv6 header. */
void net_mld_rx(struct net *n, uint64_t now_ns, uint32_t link, const uint8_t *frame, size_t bytes);
void net_mld_report3(struct net *n, uint32_t link, const struct net_record *record, unsigned count);
void net_mld_report(struct net *n, uint32_t link, const struct net_ip *group);
void net_mld_done(struct net *n, uint32_t link, const struct net_ip *group);
unsigned net_mld_records(const struct net_link *l);

#endif
