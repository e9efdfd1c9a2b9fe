/* SPDX-License-Identifier: BSD-3-Clause */
/* The invariant CRC at the end of a packet, checked and written. */
#ifndef ROCE_ICRC_H
#define ROCE_ICRC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct roce_hdr_tmpl;
struct roce_pkt;

/* True if the ICRC behind the payload of a parsed packet is right (W-ICRC-05); if that is known
 * (roce_pkt.icrc_checked), it is not computed. */
bool roce_icrc_ok(const struct roce_pkt *pkt);
/* By which bits (exclusive or) it is wrong; 0: it is right. */
uint32_t roce_icrc_difference(const struct roce_pkt *pkt);
/* The same of a packet that is not parsed: so many bytes of it, from the IP header to the pad, are
 * in front of the ICRC; at least those up to the BTH's end. */
uint32_t roce_icrc_difference_at(const uint8_t *l3, bool v6, uint32_t bytes);

/*
 * Write pad and ICRC behind hdr_bytes of headers and payload_bytes of payload
 * at buf. Returns the frame's size. The CRC is taken over buf itself, so a
 * payload that its owner changes meanwhile can't make a wrong ICRC.
 */
uint32_t roce_wire_seal(
	uint8_t *buf, const struct roce_hdr_tmpl *tmpl, uint32_t hdr_bytes, uint32_t payload_bytes);

/* CRC-32 (IEEE 802.3, reflected), zlib's convention for crc; ISA-L computes it. */
uint32_t roce_crc32(uint32_t crc, const void *buf, size_t bytes);

#endif
