/* SPDX-License-Identifier: BSD-3-Clause */
/* The opcodes of the BTH, and what a packet of each is made of. */
#ifndef ROCE_OPCODE_H
#define ROCE_OPCODE_H

#include <stdint.h>

#define ROCE_CLASS_MASK 0xe0u /* the class is the upper three bits of the opcode */
#define ROCE_CLASS_UC	0x20u /* the lower bits are those of RC, up to WRITE_ONLY_IMM */

enum roce_opcode { /* the whole opcode byte of the BTH: class and operation */
	ROCE_SEND_FIRST = 0x00,
	ROCE_SEND_MIDDLE = 0x01,
	ROCE_SEND_LAST = 0x02,
	ROCE_SEND_LAST_IMM = 0x03,
	ROCE_SEND_ONLY = 0x04,
	ROCE_SEND_ONLY_IMM = 0x05,
	ROCE_WRITE_FIRST = 0x06,
	ROCE_WRITE_MIDDLE = 0x07,
	ROCE_WRITE_LAST = 0x08,
	ROCE_WRITE_LAST_IMM = 0x09,
	ROCE_WRITE_ONLY = 0x0a,
	ROCE_WRITE_ONLY_IMM = 0x0b,
	ROCE_READ_REQUEST = 0x0c,
	ROCE_READ_RESP_FIRST = 0x0d,
	ROCE_READ_RESP_MIDDLE = 0x0e,
	ROCE_READ_RESP_LAST = 0x0f,
	ROCE_READ_RESP_ONLY = 0x10,
	ROCE_ACK = 0x11,
	ROCE_ATOMIC_ACK = 0x12,
	ROCE_CMP_SWAP = 0x13,
	ROCE_FETCH_ADD = 0x14,
	ROCE_SEND_LAST_INV = 0x16,
	ROCE_SEND_ONLY_INV = 0x17,
	ROCE_FLUSH = 0x1c,
	ROCE_ATOMIC_WRITE = 0x1d,
	ROCE_UD_SEND_ONLY = 0x64,
	ROCE_UD_SEND_ONLY_IMM = 0x65,
	ROCE_CNP = 0x81,
};

/* What an opcode is made of; roce_opcode_info[] has one entry per opcode byte. REQUEST and RESPONSE
 * mean RC: frames of UC and UD parse, but have neither flag (W-PKT-10). */
enum {
	ROCE_OPF_VALID = 1u << 0,
	ROCE_OPF_REQUEST = 1u << 1,
	ROCE_OPF_RESPONSE = 1u << 2,
	ROCE_OPF_FIRST = 1u << 3, /* starts a message (FIRST or ONLY) */
	ROCE_OPF_LAST = 1u << 4,  /* ends a message (LAST or ONLY) */
	ROCE_OPF_RETH = 1u << 5,
	ROCE_OPF_AETH = 1u << 6,
	ROCE_OPF_ATOMIC = 1u << 7,
	ROCE_OPF_ATOMIC_ACK = 1u << 8,
	ROCE_OPF_IMM = 1u << 9,
	ROCE_OPF_IETH = 1u << 10,
	ROCE_OPF_DETH = 1u << 11,
	ROCE_OPF_FETH = 1u << 12,
	ROCE_OPF_PAYLOAD = 1u << 13, /* may carry payload */
	ROCE_OPF_SEND = 1u << 14,
	ROCE_OPF_WRITE = 1u << 15,
};
struct roce_opcode_desc {
	uint16_t flags;
	uint8_t hdr_bytes; /* BTH + extension headers */
	const char *name;  /* IBTA's name, e.g. "RC SEND First" */
};
extern const struct roce_opcode_desc roce_opcode_info[256];

#endif
