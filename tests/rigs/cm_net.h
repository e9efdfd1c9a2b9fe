/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two hosts with a connection manager each, and a network of real frames between them that
 * loses, doubles and delays what a test asks for. Time is the network's.
 */
#ifndef TEST_CM_NET_H
#define TEST_CM_NET_H

#include "cm/cm.h"
#include "cm/codec.h"
#include "wire/gsi.h"
#include "wire/icrc.h"
#include "wire/packet.h"

#define MS(n)	     ((uint64_t)(n)*1000000u)
#define NET_LOG	     128u
#define NET_QUEUE    512u
#define NET_SERVICE  7174u /* the port on which tests listen */
#define NET_ATTRS    16u
#define NET_A	     0u /* who connects */
#define NET_P	     1u /* who listens */
#define NET_DELAY_NS MS(1)
#define ATTR(a)	     ((a)-CM_ATTR_REQ)

struct net_host {
	struct roce_cm *cm;
	void *mem;
	struct roce_cm_cfg cfg;
	struct roce_gid gid;
	/* What the host does with events: by default it accepts, completes and destroys. */
	bool hold_requests, hold_replies, keep_ended;
	uint16_t reject_reason; /* not 0: reject requests */
	struct roce_cm_event log[NET_LOG];
	unsigned n_log;
	struct roce_cm_conn *conn; /* of the last REQUEST or connect */
	uint32_t qpn;		   /* of the next accept or connect */
	/* What the network does with MADs of this host, by ATTR(). */
	unsigned drop[NET_ATTRS]; /* so many copies */
	unsigned duplicate[NET_ATTRS];
	uint64_t delay_ns[NET_ATTRS]; /* of the first copy */
	unsigned sent[NET_ATTRS];
	uint64_t last_sent_ns[NET_ATTRS];
	uint8_t last_tos[NET_ATTRS];
	struct cm_mad last[NET_ATTRS];
};

struct net_frame {
	uint64_t at_ns;
	unsigned to;
	uint32_t bytes;
	uint8_t frame[ROCE_GSI_FRAME_MAX];
};

struct net {
	struct net_host host[2];
	struct net_frame queue[NET_QUEUE];
	unsigned n_queue;
	uint64_t now_ns;
	uint32_t psn;
	/* Judge each MAD before the network does; true: take it out. May be NULL. */
	bool (*tap)(struct net *net, unsigned from, const struct cm_mad *mad);
	void *tap_arg;
};

/* v6: the hosts have IPv6 addresses. P listens on NET_SERVICE. */
struct net *net_new(bool v6);
void net_free(struct net *net);
/* A new connection manager in the place of an old one, which is gone without a word. */
void net_restart(struct net *net, unsigned host);

/* A connects to P with this private data. */
struct roce_cm_conn *net_connect(struct net *net, const void *priv, uint32_t priv_bytes);
struct roce_cm_connect net_connect_params(const struct net *net);
void net_accept(struct net *net, struct roce_cm_conn *conn, const void *priv, uint32_t bytes);

/* Let time pass, with all that it brings. */
void net_run(struct net *net, uint64_t ns);
/* Run until nothing is in flight and no timer is left; fails after a simulated quarter of an hour.
 */
void net_settle(struct net *net);
/* Send a MAD of the test's own making from one host to the other; it arrives at once. */
void net_inject(struct net *net, unsigned from, const struct cm_mad *mad);
void net_inject_raw(struct net *net, unsigned from, const uint8_t mad[ROCE_MAD_BYTES]);

/* The n-th event of this type that a host saw; NULL: there is none. */
const struct roce_cm_event *net_event(
	const struct net_host *h, enum roce_cm_event_type type, unsigned nth);
unsigned net_events(const struct net_host *h, enum roce_cm_event_type type);
/* The only one of this type. */
const struct roce_cm_event *the_event(const struct net_host *h, enum roce_cm_event_type type);
/* Both hosts hold nothing but P's listener. */
void net_assert_empty(const struct net *net);

#endif
