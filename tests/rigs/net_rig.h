/* SPDX-License-Identifier: BSD-3-Clause */
/* One host under test, 10.77.0.1 and fd77::1 at 02:00:00:00:77:01, and frames written as hex. */
#ifndef NET_RIG_H
#define NET_RIG_H

#include "net/net.h"
#include "wire/gid.h"

#define MS 1000000ull
#define S  1000000000ull

#define ME    "020000007701"
#define PEER  "020000007702"
#define OTHER "020000007703"
#define ALL   "ffffffffffff"

struct net_rig {
	struct net *n;
	uint64_t now;
	struct net_tx tx; /* the last frame taken */
	struct net_nexthop hop;
};

/* A host with room for so many neighbours; its announcements were already sent. */
void net_rig_init(struct net_rig *r, uint32_t neighbours);
void net_rig_free(struct net_rig *r);
/* net_link_add() */
int net_rig_link(
	struct net_rig *r, uint32_t port, uint16_t vlan, const uint8_t mac[6], uint32_t mtu);
/* net_address_add(), which succeeds. */
void net_rig_address(struct net_rig *r, uint32_t link, const char *text, uint8_t prefix_len);
/* Link 1 is VLAN 100 of port 0, with 10.78.0.1/24 and fd78::1/64; nothing waits to be sent. */
void net_rig_add_vlan(struct net_rig *r);
/* A route to anywhere. */
bool net_rig_gateway(struct net_rig *r, uint32_t link, const char *via, const char **why);
/* "10.77.0.1" or "fd77::1" */
struct net_ip net_rig_ip(const char *text);
struct roce_gid net_rig_gid(const char *text);
/* A frame from the wire; blanks in hex are ignored. */
void net_rig_rx(struct net_rig *r, const char *hex);
/* The next frame to send is this one (padding beyond it must be zero). */
void net_rig_expect_tx(struct net_rig *r, const char *hex);
void net_rig_expect_silence(struct net_rig *r);
/* To the time, running every timer on the way when it is due. Frames that come out stay queued. */
void net_rig_run_until(struct net_rig *r, uint64_t now);
enum net_resolve net_rig_resolve(struct net_rig *r, const char *dst);
/* The peer is asked for and answers. */
void net_rig_meet_peer(struct net_rig *r);
/* The peer is resolved, and at this MAC. */
void net_rig_expect_mac(struct net_rig *r, const uint8_t mac[6]);
size_t net_rig_bytes(const char *hex, uint8_t *out, size_t room);

/* Each test of the suite has a host of its own, r. */
#define NET_RIG_SUITE(suite, neighbours)                                                           \
	static struct net_rig r;                                                                   \
	static void setup(void)                                                                    \
	{                                                                                          \
		net_rig_init(&r, neighbours);                                                      \
	}                                                                                          \
	static void teardown(void)                                                                 \
	{                                                                                          \
		net_rig_free(&r);                                                                  \
	}                                                                                          \
	TestSuite(suite, .init = setup, .fini = teardown)

/* The call returns false and says so. */
#define REFUSED(expr, text)                                                                        \
	do {                                                                                       \
		cr_assert_not(expr);                                                               \
		cr_assert_str_eq(why, text);                                                       \
	} while (0)

/* ARP frames between me and the peer. */
#define ARP(dmac, smac, op, sha, spa, tha, tpa)                                                    \
	dmac smac "0806"                                                                           \
		  "000108000604"                                                                   \
		  "0" op sha spa tha tpa
#define IP_ME		    "0a4d0001"
#define IP_PEER		    "0a4d0002"
#define NOBODY		    "000000000000"
#define ARP_ASK_PEER	    ARP(ALL, ME, "001", ME, IP_ME, NOBODY, IP_PEER)
#define ARP_ASK_PEER_DIRECT ARP(PEER, ME, "001", ME, IP_ME, NOBODY, IP_PEER)
#define ARP_PEER_ANSWERS    ARP(ME, PEER, "002", PEER, IP_PEER, ME, IP_ME)
#define ARP_PEER_ASKS	    ARP(ALL, PEER, "001", PEER, IP_PEER, NOBODY, IP_ME)
#define ARP_I_ANSWER	    ARP(PEER, ME, "002", ME, IP_ME, PEER, IP_PEER)

#endif
