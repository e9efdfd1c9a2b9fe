/* SPDX-License-Identifier: BSD-3-Clause */
/* What an AETH says: acknowledgements and their refusals (IBTA volume 1, chapter 9). */
#ifndef ROCE_AETH_H
#define ROCE_AETH_H

#include <stdint.h>

/* Syndromes: the upper three bits are the kind, the lower five its value. */
enum {
	ROCE_SYN_ACK = 0x1f, /* ACK, no credit limit */
	ROCE_SYN_RNR = 0x20, /* | timer code */
	ROCE_SYN_NAK_SEQ = 0x60,
	ROCE_SYN_NAK_INV_REQ = 0x61,
	ROCE_SYN_NAK_REM_ACCESS = 0x62,
	ROCE_SYN_NAK_REM_OP = 0x63,
};

/* Wait that the timer code of an RNR NAK asks for, in ns: the low five bits of code, which may be
 * the syndrome itself. */
uint64_t roce_rnr_ns(uint8_t code);

#endif
