/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/net: the state, and what its files offer each other. */
#ifndef NDD_NET_PRIVATE_H
#define NDD_NET_PRIVATE_H

#include <string.h>

#include "net/net.h"
#include "net/net_wire.h"

#define NET_TX_QUEUE	  64u /* frames; a power of two */
#define NET_ANNOUNCEMENTS 2u
#define NET_EVENTS	  16u /* a power of two; more at a time are not told */
#define NET_QUESTIONS	  64u /* a power of two; more at a time are asked later */
#define NET_NONE	  UINT32_MAX
#define NET_MS		  1000000ull
#define NET_S		  1000000000ull

struct net_address {
	struct net_ip ip;
	uint8_t prefix_len; /* as given: 1..32 or 1..128 */
	uint8_t link;
	uint8_t state;	 /* enum net_address_state */
	uint8_t left;	 /* TENTATIVE: probes, VALID: announcements */
	bool begun;	 /* TENTATIVE: the delay before the first probe is known */
	bool defended;	 /* VALID: at defended_ns, the last time */
	uint64_t due_ns; /* of the next step */
	uint64_t defended_ns;
};

/*
 * An address is TENTATIVE while we ask whether somebody has it, TAKEN if somebody has: both are not
 * ours to the outside (RFC 5227, RFC 4862).
 */
enum net_address_state { ADDRESS_VALID, ADDRESS_TENTATIVE, ADDRESS_TAKEN };

/* A gateway is a route of no bits. */
struct net_route {
	struct net_ip to, via;
	uint8_t bits; /* of the prefix, in all 128 */
	uint8_t link;
};

/*
 * Neighbours. Resolved are REACHABLE, STALE and PROBE.
 *	INCOMPLETE  asked everybody, no MAC known yet
 *	REACHABLE   confirmed within the last 30 s
 *	STALE	    a MAC is known (it was once right, or the neighbour told it by itself)
 *	PROBE	    in use, and being asked whether the MAC is still right
 *	FAILED	    nobody answered; forgotten soon, so that a later use asks again
 */
enum net_neigh_state {
	NEIGH_FREE,
	NEIGH_INCOMPLETE,
	NEIGH_REACHABLE,
	NEIGH_STALE,
	NEIGH_PROBE,
	NEIGH_FAILED,
};
struct net_neigh {
	struct net_ip ip;
	struct net_ip source; /* our address that asks */
	struct net_ip hop;    /* shared links: who has the MAC, as the kernel says; zero: nobody */
	uint64_t deadline_ns;
	uint64_t used_ns; /* last use by us, if used */
	uint32_t next;	  /* in the hash chain or free list */
	uint8_t link, state, tries;
	bool used; /* we wanted it, as opposed to: it made itself known */
	uint8_t mac[6];
};

/* A frame on its way out, still without a tag. */
#define NET_BARE_MAX (NET_FRAME_MAX - VLAN_TAG)
struct net_bare {
	uint32_t link, len;
	uint8_t frame[NET_BARE_MAX];
};

struct net {
	struct net_cfg cfg;
	struct net_counters counters;
	uint64_t generation;
	uint64_t deadline_ns;		     /* no timer is due before */
	struct net_link link[NET_LINKS_MAX]; /* port NET_NONE: a removed one's place */
	uint32_t links;
	uint64_t random;
	uint32_t event_head, event_tail; /* running */
	struct net_event event[NET_EVENTS];
	uint32_t question_head, question_tail; /* running */
	struct net_question question[NET_QUESTIONS];
	struct net_address address[NET_ADDRESSES_MAX]; /* configured ones, then link-local ones */
	uint32_t addresses, link_locals;
	uint32_t changed_ports; /* net_addresses_changed() */
	struct net_route route[NET_ROUTES_MAX];
	uint32_t routes;
	struct net_neigh *neigh;
	uint32_t *bucket;
	uint32_t bucket_bits, free_neigh;
	uint32_t tx_head, tx_tail; /* running */
	struct net_bare tx[NET_TX_QUEUE];
};

/* ---- addresses (net_address.c) ---- */

bool net_ip_is_zero(const struct net_ip *ip);
bool net_ip_is_unicast(const struct net_ip *ip); /* of some host: no group, loopback, broadcast */
/* The same for an address out of an IPv6 header, where ::ffff:a.b.c.d is no address of anybody: on
 * the wire it would be an alias of our IPv4 ones. */
bool net_ip6_is_unicast(const struct net_ip *ip);
/* Do the first bits of all 128 agree? */
bool net_ip_agree(const struct net_ip *a, const struct net_ip *b, unsigned bits);
/* A prefix length in all 128 bits. */
unsigned net_prefix_bits(const struct net_ip *ip, unsigned prefix_len);
bool net_in_prefix(const struct net_address *a, const struct net_ip *ip);
/* The first or the last address of an IPv4 prefix: the network, or its broadcast. */
bool net_is_subnet_edge(const struct net_address *a, const struct net_ip *ip);
/* The address of ours with the longest prefix around ip, on link (NET_NONE: any); NULL: none. */
const struct net_address *net_connected(
	const struct net *n, uint32_t link, const struct net_ip *ip);
const struct net_address *net_own(const struct net *n, const struct net_ip *ip);
/* Is ip an address of this link? Others are none of its business. */
bool net_own_on(const struct net *n, uint32_t link, const struct net_ip *ip);

/* It is one from now on that clients see, or was until now. */
void net_address_changed(struct net *n, const struct net_address *a);
/* Any address of the link, whatever its state; NULL: none. */
struct net_address *net_address_find(struct net *n, uint32_t link, const struct net_ip *ip);
/* Is ip in the prefix of an address of the link, whatever its state? */
const struct net_address *net_prefix_of(
	const struct net *n, uint32_t link, const struct net_ip *ip);

/* ---- duplicate address detection (net_dad.c) ---- */

void net_dad_start(struct net *n, struct net_address *a);
void net_dad_tick(struct net *n, uint64_t now_ns, struct net_address *a);
/* Another station, at mac, has that address or wants it. True: it is ours, or was to be. */
bool net_conflict(struct net *n, uint64_t now_ns, uint32_t link, const struct net_ip *ip,
	const uint8_t mac[6]);
/* Another station asks whether it may have that address: only who asks for it himself minds. */
void net_rival(struct net *n, uint32_t link, const struct net_ip *ip, const uint8_t mac[6]);

/* ---- frames (net.c) ---- */

/* A frame without tags, at least an Ethernet header. */
void net_link_rx(struct net *n, uint64_t now_ns, uint32_t link, const uint8_t *frame, size_t bytes);

/* The next slot, with the Ethernet header written; NULL: queue full, counted. */
uint8_t *net_frame(struct net *n, uint32_t link, const uint8_t dmac[6], unsigned ethertype);
void net_frame_send(struct net *n, size_t bytes);

/* ---- neighbours (net_neigh.c) ---- */

void net_neigh_init(struct net *n);
struct net_neigh *net_neigh_find(const struct net *n, uint32_t link, const struct net_ip *ip);
/* We want to send to ip on link: the entry, made and asked for if there is none. */
struct net_neigh *net_neigh_use(struct net *n, uint64_t now_ns, uint32_t link,
	const struct net_ip *ip, const struct net_ip *source);
/* An answer to our question (ARP reply, solicited NA). */
void net_neigh_answer(
	struct net *n, uint64_t now_ns, uint32_t link, const struct net_ip *ip, const uint8_t *mac);
/* ip asked for us from mac: it will want an answer soon. */
void net_neigh_asked(struct net *n, uint64_t now_ns, uint32_t link, const struct net_ip *ip,
	const uint8_t mac[6]);
/* Somebody says without being asked that ip is at mac: a reason to ask, no knowledge. */
void net_neigh_rumour(struct net *n, uint64_t now_ns, uint32_t link, const struct net_ip *ip,
	const uint8_t mac[6]);
void net_neigh_tick(struct net *n, uint64_t now_ns);
/* Those of a link; source not NULL: that are asked from that address. */
void net_neigh_forget(struct net *n, uint32_t link, const struct net_ip *source);
/* Ask those of the link again, one after the other; who did not answer is forgotten. */
void net_neigh_doubt(struct net *n, uint64_t now_ns, uint32_t link);
/* An entry's MAC is this, for now. */
void net_neigh_learn(struct net *n, uint64_t now_ns, struct net_neigh *e, const uint8_t mac[6]);
/* It will not be had; holds for a second. */
void net_neigh_fail(struct net *n, uint64_t now_ns, struct net_neigh *e);
/* Is the MAC still right? */
void net_neigh_probe(struct net *n, uint64_t now_ns, struct net_neigh *e);

/* ---- links that the kernel has as well (net_shared.c) ---- */

void net_shared_ask(struct net *n, const struct net_neigh *e);

/* ---- protocols; bytes is the size of the whole frame, whose Ethernet header is good ---- */

void net_arp_rx(struct net *n, uint64_t now_ns, uint32_t link, const uint8_t *frame, size_t bytes);
/* Ask for ip: dmac NULL: everybody. */
void net_arp_request(struct net *n, uint32_t link, const struct net_ip *source,
	const struct net_ip *ip, const uint8_t *dmac);
void net_arp_announce(struct net *n, const struct net_address *a);
/* Has anybody this address? */
void net_arp_probe(struct net *n, const struct net_address *a);

/* An ICMPv6 message of icmp_bytes with good checksum in the IPv6 packet of frame. */
void net_nd_rx(
	struct net *n, uint64_t now_ns, uint32_t link, const uint8_t *frame, size_t icmp_bytes);
void net_nd_solicit(struct net *n, uint32_t link, const struct net_ip *source,
	const struct net_ip *ip, const uint8_t *dmac);
void net_nd_announce(struct net *n, const struct net_address *a);
void net_nd_probe(struct net *n, const struct net_address *a);

void net_ip4_rx(struct net *n, uint32_t link, const uint8_t *frame, size_t bytes);
void net_ip6_rx(struct net *n, uint64_t now_ns, uint32_t link, const uint8_t *frame, size_t bytes);

/* Something is due at ns: net_tick() must look at it. */
static inline void
net_deadline(struct net *n, uint64_t ns)
{
	if (ns < n->deadline_ns)
		n->deadline_ns = ns;
}

#endif
