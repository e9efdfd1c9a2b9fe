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

#define MS(n)		((uint64_t)(n)*1000000u)
#define CM_NET_LOG	128u
#define CM_NET_QUEUE	512u
#define CM_NET_SERVICE	7174u /* the port on which tests listen */
#define CM_NET_PORT	7u    /* the hosts' port with their address */
#define CM_NET_ATTRS	16u
#define CM_NET_A	0u /* the side that connects */
#define CM_NET_P	1u /* the side that listens */
#define CM_NET_DELAY_NS MS(1)
#define ATTR(a)		((a)-CM_ATTR_REQ)

struct cm_net_host {
	struct roce_cm *cm;
	void *mem;
	struct roce_cm_cfg cfg;
	struct roce_gid gid;
	/* What the host does with events: by default it accepts, completes and destroys. */
	bool hold_requests, hold_replies, keep_ended;
	uint16_t reject_reason; /* not 0: reject requests */
	struct roce_cm_event log[CM_NET_LOG];
	unsigned n_log;
	struct roce_cm_conn *conn; /* of the last REQUEST or connect */
	uint32_t qpn;		   /* of the next accept or connect */
	/* What the network does with MADs of this host, by ATTR(). */
	unsigned drop[CM_NET_ATTRS]; /* so many copies */
	unsigned duplicate[CM_NET_ATTRS];
	uint64_t delay_ns[CM_NET_ATTRS]; /* of the first copy */
	unsigned sent[CM_NET_ATTRS];
	uint64_t last_sent_ns[CM_NET_ATTRS];
	uint8_t last_tos[CM_NET_ATTRS];
	struct cm_mad last[CM_NET_ATTRS];
};

struct cm_net_frame {
	uint64_t at_ns;
	unsigned to;
	uint32_t bytes;
	uint8_t frame[ROCE_GSI_FRAME_MAX];
};

struct cm_net {
	struct cm_net_host host[2];
	struct cm_net_frame queue[CM_NET_QUEUE];
	unsigned n_queue;
	uint64_t now_ns;
	uint32_t psn;
	/* Judge each MAD before the network does; true: take it out. May be NULL. */
	bool (*tap)(struct cm_net *net, unsigned from, const struct cm_mad *mad);
	void *tap_arg;
};

/* v6: the hosts have IPv6 addresses. P listens on CM_NET_SERVICE. */
struct cm_net *cm_net_new(bool v6);
void cm_net_free(struct cm_net *net);
/* A new connection manager in the place of an old one, which is gone without a word. */
void cm_net_restart(struct cm_net *net, unsigned host);

/* A connects to P with this private data. */
struct roce_cm_conn *cm_net_connect(struct cm_net *net, const void *priv, uint32_t priv_bytes);
/* A connects, and the network hands its REQ to the test instead of to P. */
struct cm_mad cm_net_take_req(struct cm_net *net);
struct roce_cm_connect cm_net_connect_params(const struct cm_net *net);
void cm_net_accept(struct cm_net *net, struct roce_cm_conn *conn, const void *priv, uint32_t bytes);

/* A looks up the service at port, where P listens now: the request that P has. */
struct roce_cm_conn *cm_net_sidr_request(struct cm_net *net, uint16_t port);

/* The network loses whatever that host sends by itself. */
void cm_net_mute(struct cm_net *net, unsigned host);

/* The next message that cm wants to send, which goes nowhere: its attribute, 0 if there is none. */
uint32_t cm_net_next_attr(struct roce_cm *cm);
/* Let time pass, with all that it brings. */
void cm_net_run(struct cm_net *net, uint64_t ns);
/* Run until nothing is in flight and no timer is left; fails after a simulated quarter of an hour.
 */
void cm_net_settle(struct cm_net *net);
/* Send a MAD of the test's own making from one host to the other; it arrives at once. */
void cm_net_inject(struct cm_net *net, unsigned from, const struct cm_mad *mad);
void cm_net_inject_raw(struct cm_net *net, unsigned from, const uint8_t mad[ROCE_MAD_BYTES]);

/* The n-th event of this type that a host saw; NULL: there is none. */
const struct roce_cm_event *cm_net_event(
	const struct cm_net_host *h, enum roce_cm_event_type type, unsigned nth);
unsigned cm_net_events(const struct cm_net_host *h, enum roce_cm_event_type type);
/* The only one of this type. */
const struct roce_cm_event *cm_net_only_event(
	const struct cm_net_host *h, enum roce_cm_event_type type);
/* Both hosts hold nothing but P's listener. */
void cm_net_assert_empty(const struct cm_net *net);

#endif
