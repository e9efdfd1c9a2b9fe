/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the network side: one struct net. */
#ifndef NDD_NET_STATE_H
#define NDD_NET_STATE_H

#include "net/net.h"
#include "net/net_wire.h"

#define NET_TX_QUEUE	  64u		/* frames; a power of two */
#define NET_TX_ANSWERS	  48u		/* of these, for answers */
#define NET_TX_WAIT_NS	  (10 * NET_MS) /* until what found no room is tried again */
#define NET_ANNOUNCEMENTS 2u
#define NET_EVENTS	  16u /* a power of two; more at a time are not told */
#define NET_QUESTIONS	  64u /* a power of two; more at a time are asked later */
#define NET_ASKING_MAX	  32u /* neighbours of one owner that have not answered yet */
#define NET_OWNER_NOBODY  NET_OWNERS
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
 * An address is TENTATIVE while we ask whether another station has it, and TAKEN if one has. To the
 * outside neither is ours (RFC 5227, RFC 4862).
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
 *	INCOMPLETE  asked the whole link, no MAC known yet
 *	REACHABLE   confirmed within the last 30 s
 *	STALE	    a MAC is known (it was once right, or the neighbour announced it)
 *	PROBE	    in use, and being asked whether the MAC is still right
 *	FAILED	    no answer came; forgotten soon, so that a later use asks again
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
	struct net_ip
		hop; /* shared links: the neighbour with that MAC, as the kernel says; zero: none */
	uint64_t deadline_ns;
	uint64_t users;	  /* a bit for each owner that wanted it; 0: it made itself known */
	uint64_t used_ns; /* last use by us, if there are users */
	uint32_t next;	  /* in the hash chain or free list */
	uint32_t hop_next, hop_prev; /* in the chain of those with a hop; NET_NONE: none */
	uint8_t link, state, tries;
	uint8_t asker; /* INCOMPLETE: its owner */
	uint8_t mac[6];
};

/* A multicast group. What is due at UINT64_MAX is not pending. */
enum net_group_state { GROUP_FREE, GROUP_JOINED, GROUP_LEFT /* not yet reported often enough */ };
struct net_group {
	struct net_ip ip;
	uint8_t link, state;
	uint8_t changes;	       /* reports of coming or going that are left */
	bool reporter;		       /* ours was the last report of an older version */
	uint64_t change_ns, answer_ns; /* when the next of them, or an answer, is due */
};
/* The routers of a link, as to one family's groups. Zero: none was heard of. */
struct net_querier {
	uint8_t version; /* that is spoken with them */
	uint8_t robustness;
	bool answers; /* about all groups, at answer_ns */
	uint64_t answer_ns, interval_ns;
	uint64_t old_until_ns[2]; /* one of version 1, of version 2 counts as present until then */
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
	struct net_group group[NET_GROUPS_MAX];
	uint32_t groups;			      /* places in use so far */
	struct net_querier querier[NET_LINKS_MAX][2]; /* [..][is it IPv4?] */
	struct net_neigh *neigh;
	uint32_t *bucket, *hop_bucket; /* by ip; by hop, those that have one */
	uint32_t bucket_bits, free_neigh;
	uint32_t held[NET_OWNERS];   /* neighbours that each owner uses (net_owner.h) */
	uint32_t asking[NET_OWNERS]; /* and how many of its own are INCOMPLETE */
	uint32_t tx_head, tx_tail;   /* running */
	struct net_bare tx[NET_TX_QUEUE];
};

/* Something is due at ns: net_tick() must look at it. */
static inline void
net_deadline(struct net *n, uint64_t ns)
{
	if (ns < n->deadline_ns)
		n->deadline_ns = ns;
}

/* From least to most, both possible. */
uint64_t net_random(struct net *n, uint64_t least, uint64_t most);

#endif
