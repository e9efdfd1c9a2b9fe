/* SPDX-License-Identifier: BSD-3-Clause */
/* From a struct roce_pkt to the headers of a frame. Those of the lower layers are prepared once. */
#ifndef ROCE_BUILD_H
#define ROCE_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/packet.h"
#include "wire/path.h"
#include "wire/protocol.h"

/* The lower headers of a path, prepared once, patched per packet. */
struct roce_hdr_tmpl {
	uint8_t bytes[ROCE_ETH_BYTES + ROCE_VLAN_TAG_BYTES + ROCE_IPV6_BYTES + ROCE_UDP_BYTES];
	uint8_t len;	/* used bytes */
	uint8_t l3_off; /* where the IP header starts */
	bool v6 : 1, class_priority : 1;
	uint8_t tos;
	uint16_t vlan; /* 0: none */
	uint32_t csum; /* IPv4: ones' complement sum of the constant words */
};
void roce_hdr_tmpl_init(struct roce_hdr_tmpl *tmpl, const struct roce_path *path);

/*
 * Write the headers of pkt (opcode, se, mig, ackreq, becn, fecn, qpn, psn, pkey,
 * payload_bytes and the extension fields of its opcode) to buf, with final
 * lengths. Returns their size: the payload goes to buf + size, afterwards: this
 * may write over all ROCE_HDR_MAX bytes. ip_id is the IPv4 identification,
 * ignored for IPv6.
 */
uint32_t roce_wire_build(
	uint8_t *buf, const struct roce_hdr_tmpl *tmpl, const struct roce_pkt *pkt, uint16_t ip_id);

/* Give the headers that roce_wire_build() wrote to buf another traffic class. */
void roce_wire_set_tos(uint8_t *buf, const struct roce_hdr_tmpl *tmpl, uint8_t tos);

/*
 * Write a congestion notification for the queue pair qpn at the other end (W-CC-02) to buf, as
 * roce_wire_build() does. Its priority in a VLAN is that of its class, unless the path has one for
 * all classes.
 */
uint32_t roce_wire_build_cnp(
	uint8_t *buf, const struct roce_hdr_tmpl *tmpl, uint32_t qpn, uint16_t ip_id);

#endif
