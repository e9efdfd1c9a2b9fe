/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The little host that a port needs to be reachable: addresses, routes, ARP,
 * neighbour discovery, ICMP echo. Pure like the engine; the control thread owns
 * it. Frames that are not RoCEv2 go in, frames to send come out.
 */
#ifndef NDD_NET_H
#define NDD_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NET_FRAME_MAX	     1522u /* with a VLAN tag */
#define NET_LINKS_MAX	     72u
#define NET_ADDRESSES_MAX    648u /* own ones, all links together, link-local ones included */
#define NET_ROUTES_MAX	     1296u
#define NET_VLAN_MAX	     4094u
#define NET_PRIORITY_OF_DSCP 8u
#define NET_PORTS_MAX	     32u
#define NET_OWNERS	     64u   /* that are told apart */
#define NET_OWNER_HOST	     0u	   /* the host itself */
#define NET_GROUPS_MAX	     1024u /* multicast groups, all links together */
struct net;

struct net_ip { /* IPv4 as ::ffff:a.b.c.d: the same 16 bytes as a RoCEv2 GID */
	uint8_t b[16];
};
bool net_ip_is_link_local(const struct net_ip *ip);
bool net_ip_is_loopback(const struct net_ip *ip); /* 127.0.0.0/8 and ::1 */
bool net_ip_is_v4(const struct net_ip *ip);
void net_ip_from_v4(struct net_ip *ip, const uint8_t v4[4]);
bool net_ip_equal(const struct net_ip *a, const struct net_ip *b);
struct net_cfg {
	uint32_t max_neighbours; /* all ports together */
	uint64_t seed;		 /* of random delays */
	uint64_t secret[2];	 /* without it no host can choose addresses that share a chain */
};
/* 64-byte aligned memory; 0 if cfg is out of range (1..65536 neighbours). */
size_t net_bytes(const struct net_cfg *cfg);
/* mem is zeroed, of net_bytes(cfg). */
struct net *net_init(void *mem, const struct net_cfg *cfg);

/*
 * How long an address is asked for before it is used (duplicate address detection): QUICK, three
 * probes a tenth of a second apart; FULL, as RFC 5227 and RFC 4862 have it, up to ten seconds.
 */
enum net_dad { NET_DAD_OFF, NET_DAD_QUICK, NET_DAD_FULL };
/*
 * A link is a port of the host, or one of its VLANs: what addresses, neighbours and routes belong
 * to. priority: of frames with a tag, 0..7, or NET_PRIORITY_OF_DSCP: the upper three bits of the
 * connection's traffic class, as class selectors have it. An IPv6 link-local address from the MAC
 * is added by itself. Returns the link's number; -1: table full, bad values, this VLAN of this port
 * or the MAC of another port is there. A port is added before its VLANs.
 */
struct net_link {
	uint32_t port; /* the host's number, below NET_PORTS_MAX */
	uint16_t vlan; /* 1..NET_VLAN_MAX; 0: frames without a tag */
	uint8_t priority;
	uint8_t mac[6];
	uint32_t mtu; /* of IP packets: a tag comes on top */
	enum net_dad dad;
	/* The kernel has this link as well: it answers there, and knows ways and neighbours
	 * (net_question()). All addresses are its own; nothing is sent from here. */
	bool shared;
};
int net_link_add(struct net *n, const struct net_link *link);
/* The link of a port's VLAN (0: without tags); -1: there is none. */
int net_link_find(const struct net *n, uint32_t port, uint16_t vlan);
/* With all that belongs to it. */
void net_link_remove(struct net *n, uint32_t link);
/* Of frames and connections to come; connections follow the MAC. */
void net_link_change(struct net *n, uint32_t link, const uint8_t mac[6], uint32_t mtu);
/* Of frames to come. */
void net_link_set_priority(struct net *n, uint32_t link, uint8_t priority);
/*
 * The port's cable was plugged in, perhaps into another switch: its addresses are announced, those
 * that another station had are asked for again, and so are neighbours, before they are believed.
 */
void net_port_up(struct net *n, uint64_t now_ns, uint32_t port);
/* Addresses with prefix length (1..32 or 1..128). With DAD they are ours when no other station
 * answered for them (net_probing(), net_event()); until then they are not served. False: *why says
 * why not. */
bool net_address_add(struct net *n, uint32_t link, const struct net_ip *ip, uint8_t prefix_len,
	const char **why);
/* The link has that address already: from now on with this prefix, and another try if another
 * station had it. False: it does not have it, or its family has no such prefix. */
bool net_address_keep(struct net *n, uint32_t link, const struct net_ip *ip, uint8_t prefix_len);
void net_address_remove(struct net *n, uint32_t link, const struct net_ip *ip);
/* The i-th address of the link that is no link-local one, whatever its state; false: no more. */
bool net_link_address(const struct net *n, uint32_t link, unsigned i, struct net_ip *ip);
/* How many addresses are still asked for. */
uint32_t net_probing(const struct net *n);
/* Packets to a prefix (0..32 or 0..128; 0: to anywhere) go to the router via, which is on a
 * connected prefix of the link, or on its cable if an address there is alone (/32, /128). The
 * longest prefix decides, a connected one before a route of its length. False: *why says why not.
 */
bool net_route_add(struct net *n, uint32_t link, const struct net_ip *to, uint8_t prefix_len,
	const struct net_ip *via, const char **why);

/* No routes, nor gateways, any more. */
void net_routes_clear(struct net *n);

/* Is ip one of ours? Returns its port, or -1. */
int net_local_port(const struct net *n, const struct net_ip *ip);
/* The VLAN that an address of ours is in; 0: none, or it is not ours. */
uint16_t net_local_vlan(const struct net *n, const struct net_ip *ip);
/* Is dst ours, and a frame of that VLAN (0: none) from src to it one that its link carries? Frames
 * of another VLAN are counted (W-PKT-02). */
bool net_takes(struct net *n, const struct net_ip *src, const struct net_ip *dst, uint16_t vlan);
/* The address of ours that packets to dst leave from unless the caller names one; with a link (-1:
 * any) it is one of that link. False: no route. */
bool net_source(const struct net *n, int link, const struct net_ip *dst, struct net_ip *source);
/* The i-th address of ours (all ports, in order of addition, link-local ones last); false: no more.
 */
bool net_address_get(
	const struct net *n, unsigned i, struct net_ip *ip, uint8_t *prefix_len, uint32_t *port);

/* The ports (1 << number) of which net_address_get() tells something else than when this was asked
 * last. */
uint32_t net_addresses_changed(struct net *n);

/* A received frame (no FCS) of a port that is not RoCEv2: ARP, ND and ICMP echo are served,
 * neighbours learned, the rest counted and dropped. No error is ever answered with an ICMP message.
 */
void net_rx(struct net *n, uint64_t now_ns, uint32_t port, const uint8_t *frame, size_t bytes);
/* A peer is alive at this MAC (a checked RoCEv2 packet came from it): refreshes, never creates. */
void net_confirm(struct net *n, uint64_t now_ns, const struct net_ip *ip, const uint8_t mac[6]);

struct net_tx {
	uint32_t port;
	uint32_t len;
	uint8_t frame[NET_FRAME_MAX];
};
/* Take the oldest frame to send (no FCS, at least 60 bytes); false: none. */
bool net_tx(struct net *n, struct net_tx *tx);

enum net_resolve {
	NET_RESOLVED,
	NET_PENDING,	 /* asked; look again after net_generation() changed, or at the deadline */
	NET_UNREACHABLE, /* no answer came; holds for a second, a later call asks again */
	NET_NO_ROUTE,	 /* no connected prefix and no route */
};
struct net_nexthop {
	uint32_t port;
	uint16_t vlan;	      /* of the tag that frames need; 0: none */
	uint8_t priority;     /* as of the link */
	struct net_ip source; /* our address to use, if src was NULL or unspecified */
	uint8_t smac[6], dmac[6];
	uint32_t mtu;
};
/* Route dst (optionally from our address src) and resolve the next hop; starts ARP or ND if needed.
 * owner: on whose behalf. An owner displaces no neighbours of another that has less, and only so
 * many of each wait for an answer; others stay PENDING until one of its own has got one.
 * *out is filled for NET_RESOLVED only. An address of our own resolves to the MAC of its port: smac
 * and dmac are equal if both ends are one port, and no wire would bring such a frame back. */
enum net_resolve net_resolve(struct net *n, uint64_t now_ns, uint32_t owner,
	const struct net_ip *src, const struct net_ip *dst, struct net_nexthop *out);

/* A multicast group beyond this host: 224.0.0.0/4, or ff00::/8 of at least a link's scope. */
bool net_ip_is_group(const struct net_ip *ip);
/* Its MAC address (RFC 1112, section 6.4; RFC 2464, section 7). */
void net_group_mac(const struct net_ip *group, uint8_t mac[6]);
/* The host is in a group on that link, and reports so by IGMP or MLD (W-MC-01), until it leaves.
 * What is joined is joined once, however often. False: NET_GROUPS_MAX groups are joined. Not of
 * shared links, whose groups the kernel reports. */
bool net_group_join(struct net *n, uint32_t link, const struct net_ip *group);
void net_group_leave(struct net *n, uint32_t link, const struct net_ip *group);
/* As net_resolve() for a group, from our address src: at once, by the link of src. False: src is no
 * address of ours, or of the other family. */
bool net_group_hop(const struct net *n, const struct net_ip *src, const struct net_ip *group,
	struct net_nexthop *out);
/* The tag control information of a frame with a traffic class. */
uint16_t net_tci(uint16_t vlan, uint8_t priority, uint8_t tclass);
/* Changes whenever a neighbour was resolved, changed or failed, or a route came. */
uint64_t net_generation(const struct net *n);

/* What is asked of the kernel about a shared link: where do packets from source to ip go? Take the
 * oldest question; false: none. The answers may come at any time, without a question, too. */
struct net_question {
	uint32_t port;
	struct net_ip source, ip;
};
bool net_question(struct net *n, struct net_question *q);
/* The kernel says that packets of a port to ip go to that neighbour; NULL: they have no way. */
void net_told_way(struct net *n, uint64_t now_ns, uint32_t port, const struct net_ip *ip,
	const struct net_ip *hop);
/* ... that a neighbour is at that MAC; NULL: that it does not answer, or is not looked for. */
void net_told_neighbour(struct net *n, uint64_t now_ns, uint32_t port, const struct net_ip *hop,
	const uint8_t mac[6]);
/* ... or that something about its ways has changed: all that is known is asked again. */
void net_told_changes(struct net *n, uint64_t now_ns, uint32_t port);

/* Retries and ageing of neighbours; own addresses are announced twice after they were added. */
void net_tick(struct net *n, uint64_t now_ns);
uint64_t net_next_deadline(const struct net *n); /* UINT64_MAX: none */

/* What people should know of; false: nothing. */
enum net_event_type {
	NET_EV_TAKEN,	/* another station has that address: it is not used here */
	NET_EV_CLAIMED, /* ... wants it while we use it: it was told so (at most every ten seconds)
			 */
};
struct net_event {
	enum net_event_type type;
	uint32_t port;
	uint16_t vlan;
	struct net_ip ip;
	uint8_t mac[6]; /* the other's */
};
bool net_event(struct net *n, struct net_event *ev);

/* clang-format off */
#define NET_COUNTERS(X)                                                                            \
	X(rx_arp) X(rx_nd) X(rx_icmp_echo) X(rx_dropped) X(rx_malformed) X(rx_vlan) X(rx_oversize) \
	X(tx_frames) X(tx_dropped) X(neighbours_resolved) X(neighbours_failed)                     \
	X(neighbours_evicted) X(neighbours_deferred) X(address_conflicts) X(rx_group_query)        \
	X(tx_group_report)
/* clang-format on */
struct net_counters {
#define NET_X(n) uint64_t n;
	NET_COUNTERS(NET_X)
#undef NET_X
};
const struct net_counters *net_counters(const struct net *n);

#endif
