/* SPDX-License-Identifier: BSD-3-Clause */
/* The port of the kernel's sockets as a host: which of the kernel's addresses are its own. */
#ifndef NDD_UDP_HOST_H
#define NDD_UDP_HOST_H

#include <stdbool.h>
#include <stdint.h>

struct ndd;
struct ndd_rtnl;
struct net_ip;
struct port;

/* Is this address of the kernel's one of the port's? Its link-local ones are, if it has all. */
bool ndd_udp_takes(const struct ndd *d, uint32_t port, const struct net_ip *ip);
/* Its addresses of loopback that the configuration has: the kernel lists few of those. */
void ndd_udp_add_listed(struct ndd *d, uint32_t port);
/* One of its addresses from which packets may go to ip, if the kernel's choice is not its own. Of
 * many the first few are tried: for a client's one request the kernel is asked about each. */
bool ndd_udp_source(
	const struct ndd *d, struct ndd_rtnl *r, const struct net_ip *ip, struct net_ip *source);
/* Tell the port of the interfaces that its addresses are of: after each change of these. */
void ndd_udp_renew_locals(struct ndd *d, struct ndd_rtnl *r, uint32_t port);
/* The interfaces, loopback apart, that have addresses of the port's and of that one's family, as
 * ndd_udp_renew_locals() saw them; returns how many, NDD_INTERFACES_MAX at most. */
uint32_t ndd_udp_interfaces(const struct port *p, const struct net_ip *like, int *interface);
/* The IP MTU that packets from all of its addresses can have, unless the configuration says it. 0:
 * the kernel does not say. */
uint32_t ndd_udp_mtu(const struct ndd *d, struct ndd_rtnl *r, uint32_t port);
/* Tell the connection manager what the network says of its messages, if it is a port of sockets. */
void ndd_udp_hear_errors(struct ndd *d, uint32_t port);

#endif
