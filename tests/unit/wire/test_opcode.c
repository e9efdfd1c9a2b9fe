/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>

#include "wire/opcode.h"

/* W-PKT-10: what is not RC can't be taken for a request or response. */
Test(opcode, W_PKT_10_only_rc_is_request_or_response)
{
	for (unsigned op = 0; op < 0x20; op++)
		cr_expect(roce_opcode_info[op].flags & ROCE_OPF_VALID, "opcode %#x", op);
	for (unsigned op = 0; op < 256; op++) {
		unsigned f = roce_opcode_info[op].flags;
		bool rc = (f & (ROCE_OPF_REQUEST | ROCE_OPF_RESPONSE)) != 0;

		cr_expect_eq(rc, op < 0x20 && (f & ROCE_OPF_VALID), "opcode %#x", op);
		cr_expect_eq(roce_opcode_info[op].name != NULL, (f & ROCE_OPF_VALID) != 0);
	}
}

/* The extension headers that IBTA volume 1 gives each opcode, behind 12 bytes of BTH. */
Test(opcode, sizes_of_headers)
{
	static const struct {
		uint8_t opcode, bytes;
	} of[] = {{ROCE_SEND_ONLY, 12}, {ROCE_SEND_ONLY_IMM, 12 + 4}, {ROCE_SEND_LAST_INV, 12 + 4},
		{ROCE_WRITE_FIRST, 12 + 16}, {ROCE_WRITE_MIDDLE, 12}, {ROCE_WRITE_LAST_IMM, 12 + 4},
		{ROCE_WRITE_ONLY_IMM, 12 + 16 + 4}, {ROCE_READ_REQUEST, 12 + 16},
		{ROCE_READ_RESP_FIRST, 12 + 4}, {ROCE_READ_RESP_MIDDLE, 12},
		{ROCE_READ_RESP_LAST, 12 + 4}, {ROCE_READ_RESP_ONLY, 12 + 4}, {ROCE_ACK, 12 + 4},
		{ROCE_ATOMIC_ACK, 12 + 4 + 8}, {ROCE_CMP_SWAP, 12 + 28}, {ROCE_FETCH_ADD, 12 + 28},
		{ROCE_FLUSH, 12 + 4 + 16}, {ROCE_ATOMIC_WRITE, 12 + 16},
		{ROCE_UD_SEND_ONLY, 12 + 8}, {ROCE_UD_SEND_ONLY_IMM, 12 + 8 + 4}, {ROCE_CNP, 12},
		{0x15, 12}, {0x1f, 12}};

	for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		cr_expect_eq(roce_opcode_info[of[i].opcode].hdr_bytes, of[i].bytes, "opcode %#x",
			of[i].opcode);
}
