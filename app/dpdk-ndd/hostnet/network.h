/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration's addresses, VLANs and routes in the IP stack of the daemon. */
#ifndef NDD_NETWORK_H
#define NDD_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

struct config;
struct ndd;

/* Links, addresses and routes of all ports, which are up. False after a log line. */
bool ndd_network_start(struct ndd *d);
/* Has this local address, in the configuration to, the link that it has now? */
bool ndd_network_keeps(const struct ndd *d, const struct config *to, const uint8_t ip[16]);
/* Addresses, VLANs, gateways and routes as of to, which has the same ports; what is in both goes on
 * undisturbed. d->cfg has it afterwards. */
void ndd_network_change(struct ndd *d, const struct config *to);
/* Log what became of addresses, and notify the clients. */
void ndd_network_events(struct ndd *d);

#endif
