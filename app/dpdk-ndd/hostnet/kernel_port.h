/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports that are shared with the kernel. It keeps their addresses, routes and neighbours; here they
 * are read, followed, and handed to the daemon's IP stack.
 */
#ifndef NDD_KERNEL_PORT_H
#define NDD_KERNEL_PORT_H

#include <stdbool.h>
#include <stdint.h>

struct ndd;
struct net_ip;

/* End what uses an address that the kernel has lost, while it is still served here; why is for the
 * log. */
typedef void ndd_address_lost(struct ndd *d, const uint8_t ip[16], const char *why);

/* Before the ports are opened: read the interfaces of the shared ones, and follow their changes.
 * False after a log line. */
bool ndd_kernel_ports_open(struct ndd *d, ndd_address_lost *on_address_lost);
void ndd_kernel_ports_close(struct ndd *d);
/* IP MTU that a shared port can have; 0: it can't be read. */
uint32_t ndd_kernel_port_mtu(const struct ndd *d, uint32_t port);
/* The kernel's numbers of the port's interfaces: the shared one, or those by which its sockets
 * reach addresses of that one's family. Returns how many, NDD_INTERFACES_MAX at most. */
uint32_t ndd_kernel_port_interfaces(
	const struct ndd *d, uint32_t port, const struct net_ip *like, int *interface);
/* Its link and addresses, for d->net; from now on they are followed. */
bool ndd_kernel_port_start(struct ndd *d, uint32_t port);
/* The address that the kernel would send to ip with, by a shared port; false: none has a route. */
bool ndd_kernel_ports_source(struct ndd *d, const struct net_ip *ip, struct net_ip *source);
/* In each turn: put the IP stack's questions about next hops to the kernel, and look at all anew if
 * news were lost and there was no time for that when it was noticed. */
void ndd_kernel_ports_tend(struct ndd *d, uint64_t now_ns);

#endif
