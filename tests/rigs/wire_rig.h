/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames for the tests of the codecs: made, damaged, read from the vectors. */
#ifndef WIRE_RIG_H
#define WIRE_RIG_H

#include <jansson.h>

#include "wire/packet.h"
#include "wire/path.h"

#define WIRE_RIG_L3 14u /* offset of IP in an untagged frame */

extern const struct roce_path wire_rig_v4, wire_rig_v6;

/* A whole frame of this opcode along path, with a payload that differs from byte to byte. */
uint32_t wire_rig_make(
	uint8_t *buf, const struct roce_path *path, uint8_t opcode, uint32_t payload_bytes);
/* Parse a copy that ends with a page, so that no byte behind it can be read. icrc_ok, if not NULL:
 * the frame was accepted and its ICRC is right. */
enum roce_wire_err wire_rig_parse(const uint8_t *frame, size_t bytes, bool *icrc_ok);
void wire_rig_fix_checksum(uint8_t *ip);

unsigned wire_rig_be16(const uint8_t *p);
/* The UDP source port of a parsed packet, and the path along which it was sent. */
uint16_t wire_rig_sport(const struct roce_pkt *pkt);
struct roce_path wire_rig_path(const uint8_t *frame, const struct roce_pkt *pkt);

/* The published vectors; bytes from the hexadecimal digits in them. */
json_t *wire_rig_vectors(void);
unsigned wire_rig_hex(const char *hex, uint8_t *out);

#endif
