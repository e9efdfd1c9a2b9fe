/* SPDX-License-Identifier: BSD-3-Clause */
/* A MAD as the wire hands it to the connection manager: a datagram to the GSI, over IPv4. */
#ifndef MAD_PKT_H
#define MAD_PKT_H

#include "wire/gid.h"
#include "wire/packet.h"
#include "wire/protocol.h"

/* l3 becomes its IP header, and both it and mad are part of the packet. */
struct roce_pkt mad_pkt(const uint8_t *mad, const struct roce_gid *src, const struct roce_gid *dst,
	uint8_t l3[ROCE_IPV4_BYTES]);

#endif
