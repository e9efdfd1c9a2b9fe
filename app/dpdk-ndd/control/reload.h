/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDD_RELOAD_H
#define NDD_RELOAD_H

#include <stdint.h>

struct ndd;

/* Read the configuration again; the network's part of it takes effect: addresses, VLANs, gateways
 * and routes. */
void ndd_reload(struct ndd *d);
/* A local address is about to be removed: everything that uses it ends; why is for the log. */
void ndd_end_address(struct ndd *d, const uint8_t ip[16], const char *why);

#endif
