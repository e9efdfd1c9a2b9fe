/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports that the kernel has as well. It keeps their addresses, routes and neighbours; here they are
 * read, followed, and handed to the little host.
 */
#ifndef NDD_KERNEL_PORT_H
#define NDD_KERNEL_PORT_H

#include "control/daemon.h"

/* Before the ports are opened: the interfaces of the shared ones as they are, and where news of
 * them come from. False: it was said why. */
bool ndd_kernel_ports_open(struct ndd *d);
void ndd_kernel_ports_close(struct ndd *d);
/* IP MTU that a shared port can have. */
uint32_t ndd_kernel_port_mtu(const struct ndd *d, uint32_t port);
/* Its link and addresses, for d->net; from now on they are followed. */
bool ndd_kernel_port_start(struct ndd *d, uint32_t port);
/* The address that the kernel would send to ip with, by a shared port; false: none has a way. */
bool ndd_kernel_ports_source(struct ndd *d, const struct net_ip *ip, struct net_ip *source);
/* Put to the kernel what the little host wants to know. */
void ndd_kernel_ports_ask(struct ndd *d, uint64_t now_ns);

#endif
