/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses as messages and GIDs carry them (16 bytes), as the network has them, and as text. */
#ifndef NDD_ADDRESS_H
#define NDD_ADDRESS_H

#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

#include "net/net.h"

static inline struct net_ip
ndd_ip(const uint8_t ip[16])
{
	struct net_ip out;

	memcpy(out.b, ip, sizeof(out.b));
	return out;
}

/* The address as text, in buf. */
const char *ndd_ip_text(const uint8_t ip[16], char buf[INET6_ADDRSTRLEN]);

#endif
