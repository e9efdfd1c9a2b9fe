/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue pair 1: management datagrams (MADs) as UD SEND Only frames (IBTA volume 1, chapters
 * 13 and 16).
 * No queue pair object stands for it: one MAD is one frame, unacknowledged.
 */
#ifndef ROCE_GSI_H
#define ROCE_GSI_H

#include "wire/packet.h"
#include "wire/path.h"
#include "wire/protocol.h"

#define ROCE_GSI_SPORT 0xc000u /* what adapters use when no flow label is given */
#define ROCE_GSI_FRAME_MAX                                                                         \
	(ROCE_ETH_BYTES + ROCE_VLAN_TAG_BYTES + ROCE_IPV6_BYTES + ROCE_UDP_BYTES +                 \
		ROCE_BTH_BYTES + ROCE_DETH_BYTES + ROCE_MAD_BYTES + ROCE_ICRC_BYTES)

/*
 * Build the whole frame that carries mad along path to QP 1 of the peer; path->udp_sport
 * and path->flow_label are not used. psn: one counter per port, receivers ignore it.
 * buf has room for ROCE_GSI_FRAME_MAX bytes. Returns the frame's size.
 */
uint32_t roce_gsi_build(uint8_t *buf, const struct roce_path *path, uint32_t psn,
	const uint8_t mad[ROCE_MAD_BYTES]);

/* True if a parsed packet is a MAD for QP 1: its payload is then ROCE_MAD_BYTES long. */
bool roce_gsi_is_mad(const struct roce_pkt *pkt);

/* The MAD in that many bytes of the payload of a UDP datagram, which roce_gsi_build() made; NULL:
 * there is none, or not all of it. */
const uint8_t *roce_gsi_mad_of(const uint8_t *datagram, uint32_t bytes);

#endif
