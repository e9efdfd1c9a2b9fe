/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The opcode table (IBTA volume 1, chapter 9; CNP: annex A17), the only place that knows which
 * headers an opcode has.
 *
 * REQUEST and RESPONSE are set for the RC class alone. Opcodes of UC and UD parse,
 * since their frames are well-formed, but nothing that dispatches on these two
 * flags can take them for RC by mistake (W-PKT-10). RD and XRC are unknown.
 */
#include "wire/opcode.h"

#include "wire/protocol.h"

#define EXT_BYTES(f)                                                                               \
	(((f)&ROCE_OPF_RETH ? ROCE_RETH_BYTES : 0u) + ((f)&ROCE_OPF_AETH ? ROCE_AETH_BYTES : 0u) + \
		((f)&ROCE_OPF_ATOMIC ? ROCE_ATOMIC_BYTES : 0u) +                                   \
		((f)&ROCE_OPF_ATOMIC_ACK ? ROCE_ATOMIC_ACK_BYTES : 0u) +                           \
		((f)&ROCE_OPF_IMM ? ROCE_IMM_BYTES : 0u) +                                         \
		((f)&ROCE_OPF_IETH ? ROCE_IETH_BYTES : 0u) +                                       \
		((f)&ROCE_OPF_DETH ? ROCE_DETH_BYTES : 0u) +                                       \
		((f)&ROCE_OPF_FETH ? ROCE_FETH_BYTES : 0u))
#define OP(f, ibta_name)                                                                           \
	{                                                                                          \
		.flags = (uint16_t)(ROCE_OPF_VALID | (f)),                                         \
		.hdr_bytes = (uint8_t)(ROCE_BTH_BYTES + EXT_BYTES(f)), .name = ibta_name           \
	}

#define S      ROCE_OPF_FIRST
#define E      ROCE_OPF_LAST
#define P      ROCE_OPF_PAYLOAD
#define SEND   (ROCE_OPF_SEND | P)
#define WRITE  (ROCE_OPF_WRITE | P)
#define REQ    ROCE_OPF_REQUEST
#define RSP    ROCE_OPF_RESPONSE
#define RETH   ROCE_OPF_RETH
#define AETH   ROCE_OPF_AETH
#define IMM    ROCE_OPF_IMM
#define IETH   ROCE_OPF_IETH
#define ATOMIC ROCE_OPF_ATOMIC
#define UC     ROCE_CLASS_UC

const struct roce_opcode_desc roce_opcode_info[256] = {
	[ROCE_SEND_FIRST] = OP(REQ | SEND | S, "RC SEND First"),
	[ROCE_SEND_MIDDLE] = OP(REQ | SEND, "RC SEND Middle"),
	[ROCE_SEND_LAST] = OP(REQ | SEND | E, "RC SEND Last"),
	[ROCE_SEND_LAST_IMM] = OP(REQ | SEND | E | IMM, "RC SEND Last with Immediate"),
	[ROCE_SEND_ONLY] = OP(REQ | SEND | S | E, "RC SEND Only"),
	[ROCE_SEND_ONLY_IMM] = OP(REQ | SEND | S | E | IMM, "RC SEND Only with Immediate"),
	[ROCE_WRITE_FIRST] = OP(REQ | WRITE | S | RETH, "RC RDMA WRITE First"),
	[ROCE_WRITE_MIDDLE] = OP(REQ | WRITE, "RC RDMA WRITE Middle"),
	[ROCE_WRITE_LAST] = OP(REQ | WRITE | E, "RC RDMA WRITE Last"),
	[ROCE_WRITE_LAST_IMM] = OP(REQ | WRITE | E | IMM, "RC RDMA WRITE Last with Immediate"),
	[ROCE_WRITE_ONLY] = OP(REQ | WRITE | S | E | RETH, "RC RDMA WRITE Only"),
	[ROCE_WRITE_ONLY_IMM] =
		OP(REQ | WRITE | S | E | RETH | IMM, "RC RDMA WRITE Only with Immediate"),
	[ROCE_READ_REQUEST] = OP(REQ | S | E | RETH, "RC RDMA READ Request"),
	[ROCE_READ_RESP_FIRST] = OP(RSP | S | AETH | P, "RC RDMA READ response First"),
	[ROCE_READ_RESP_MIDDLE] = OP(RSP | P, "RC RDMA READ response Middle"),
	[ROCE_READ_RESP_LAST] = OP(RSP | E | AETH | P, "RC RDMA READ response Last"),
	[ROCE_READ_RESP_ONLY] = OP(RSP | S | E | AETH | P, "RC RDMA READ response Only"),
	[ROCE_ACK] = OP(RSP | S | E | AETH, "RC Acknowledge"),
	[ROCE_ATOMIC_ACK] = OP(RSP | S | E | AETH | ROCE_OPF_ATOMIC_ACK, "RC ATOMIC Acknowledge"),
	[ROCE_CMP_SWAP] = OP(REQ | S | E | ATOMIC, "RC CmpSwap"),
	[ROCE_FETCH_ADD] = OP(REQ | S | E | ATOMIC, "RC FetchAdd"),
	[ROCE_SEND_LAST_INV] = OP(REQ | SEND | E | IETH, "RC SEND Last with Invalidate"),
	[ROCE_SEND_ONLY_INV] = OP(REQ | SEND | S | E | IETH, "RC SEND Only with Invalidate"),
	/* Reserved (0x15: RESYNC of RD). What they are made of is not known, but they are requests,
	 * for all numbers between are. */
	[0x15] = OP(REQ | S | E | P, "RC reserved 0x15"),
	[0x18] = OP(REQ | S | E | P, "RC reserved 0x18"),
	[0x19] = OP(REQ | S | E | P, "RC reserved 0x19"),
	[0x1a] = OP(REQ | S | E | P, "RC reserved 0x1a"),
	[0x1b] = OP(REQ | S | E | P, "RC reserved 0x1b"),
	[0x1e] = OP(REQ | S | E | P, "RC reserved 0x1e"),
	[0x1f] = OP(REQ | S | E | P, "RC reserved 0x1f"),
	[ROCE_FLUSH] = OP(REQ | S | E | ROCE_OPF_FETH | RETH, "RC FLUSH"),
	[ROCE_ATOMIC_WRITE] = OP(REQ | S | E | RETH | P, "RC ATOMIC WRITE"),

	[UC | ROCE_SEND_FIRST] = OP(SEND | S, "UC SEND First"),
	[UC | ROCE_SEND_MIDDLE] = OP(SEND, "UC SEND Middle"),
	[UC | ROCE_SEND_LAST] = OP(SEND | E, "UC SEND Last"),
	[UC | ROCE_SEND_LAST_IMM] = OP(SEND | E | IMM, "UC SEND Last with Immediate"),
	[UC | ROCE_SEND_ONLY] = OP(SEND | S | E, "UC SEND Only"),
	[UC | ROCE_SEND_ONLY_IMM] = OP(SEND | S | E | IMM, "UC SEND Only with Immediate"),
	[UC | ROCE_WRITE_FIRST] = OP(WRITE | S | RETH, "UC RDMA WRITE First"),
	[UC | ROCE_WRITE_MIDDLE] = OP(WRITE, "UC RDMA WRITE Middle"),
	[UC | ROCE_WRITE_LAST] = OP(WRITE | E, "UC RDMA WRITE Last"),
	[UC | ROCE_WRITE_LAST_IMM] = OP(WRITE | E | IMM, "UC RDMA WRITE Last with Immediate"),
	[UC | ROCE_WRITE_ONLY] = OP(WRITE | S | E | RETH, "UC RDMA WRITE Only"),
	[UC | ROCE_WRITE_ONLY_IMM] =
		OP(WRITE | S | E | RETH | IMM, "UC RDMA WRITE Only with Immediate"),

	[ROCE_UD_SEND_ONLY] = OP(SEND | S | E | ROCE_OPF_DETH, "UD SEND Only"),
	[ROCE_UD_SEND_ONLY_IMM] =
		OP(SEND | S | E | ROCE_OPF_DETH | IMM, "UD SEND Only with Immediate"),

	/* As a payload it has 16 zero bytes (W-CC-02), or whatever a peer puts there. */
	[ROCE_CNP] = OP(P, "CNP"),
};
