/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernel knows of its interfaces, by rtnetlink. For the control thread: a request is
 * answered by the kernel before the system call returns; no other host is waited for.
 */
#ifndef NDD_RTNL_H
#define NDD_RTNL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libmnl/libmnl.h>

#include "net/net.h"

#define NDD_INTERFACES_MAX 64u /* of one port */

struct ndd_rtnl_link {
	int interface;
	bool gone;
	bool has_mac;
	uint8_t mac[6];
	uint32_t mtu;
};
struct ndd_rtnl_address {
	int interface;
	bool usable; /* false: it has gone, or is not yet known to be unique */
	struct net_ip ip;
	uint8_t prefix_len;
};
struct ndd_rtnl_neighbour {
	int interface;
	uint16_t state; /* NUD_* */
	struct net_ip ip;
	bool has_mac;
	uint8_t mac[6];
};
/* Callbacks for news, of all interfaces of the machine. */
struct ndd_rtnl_callbacks {
	void (*link)(void *arg, const struct ndd_rtnl_link *l);
	void (*address)(void *arg, const struct ndd_rtnl_address *a);
	void (*neighbour)(void *arg, const struct ndd_rtnl_neighbour *n);
	void (*routes)(void *arg); /* some route or rule has changed */
	void *arg;
};

struct ndd_rtnl {
	struct mnl_socket *events, *requests;
	uint32_t sequence;
};
/* False: errno. From now on changes are kept for ndd_rtnl_receive(); those of neighbours, which any
 * station can bring about, if they are wanted. */
bool ndd_rtnl_open(struct ndd_rtnl *r, bool neighbours);
void ndd_rtnl_close(struct ndd_rtnl *r);
int ndd_rtnl_fd(const struct ndd_rtnl *r);
/* What has changed since the last time, NDD_RTNL_NEWS changes at most: the rest keeps the file
 * readable. False: more than the kernel could keep, some is lost. */
#define NDD_RTNL_NEWS 64u
bool ndd_rtnl_receive(struct ndd_rtnl *r, const struct ndd_rtnl_callbacks *callbacks);

/* One interface as it is now; all addresses of all interfaces. False: errno. */
bool ndd_rtnl_link(struct ndd_rtnl *r, int interface, const struct ndd_rtnl_callbacks *callbacks);
bool ndd_rtnl_addresses(struct ndd_rtnl *r, const struct ndd_rtnl_callbacks *callbacks);
/* The neighbour that packets from source to ip are sent to by the interface (0: any, or
 * within this machine); false: they have no route. */
bool ndd_rtnl_route(struct ndd_rtnl *r, int interface, const struct net_ip *source,
	const struct net_ip *ip, struct net_ip *hop);
/* The address that packets to ip leave that interface with by default; false: they have no route.
 */
bool ndd_rtnl_source(
	struct ndd_rtnl *r, int interface, const struct net_ip *ip, struct net_ip *source);
/* What is known of a neighbour; false: nothing. */
bool ndd_rtnl_neighbour(
	struct ndd_rtnl *r, int interface, const struct net_ip *ip, struct ndd_rtnl_neighbour *n);
/* As if the kernel had a packet for that neighbour: it makes sure of its MAC. */
void ndd_rtnl_use(struct ndd_rtnl *r, int interface, const struct net_ip *ip);

#endif
